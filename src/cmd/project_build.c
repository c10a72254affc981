/* SPDX-License-Identifier: Apache-2.0 */
/* Finding SDKs and building projects; see project.h. */
#include "cmd/project.h"

#include "base/mem.h"
#include "base/sibling.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUILD_LACKS_TOOL = 3 }; /* exit status of a build program */

extern char **environ;

const struct project_kind project_operator = { "operator", "template", OPERATOR_MODULE };
const struct project_kind project_function = { "fn", "template-function", FUNCTION_MODULE };
const struct project_kind project_scheduler = { "scheduler", "template-scheduler", PLUGIN_MODULE };

/* Given; NULL when it is not an SDK. */
static char *sdk_in(const char *base, const char *below, const char *language)
{
    scoped(free_scoped) char *dir = xasprintf("%s%s/%s", base, below, language);
    scoped(free_scoped) char *build = xasprintf("%s/build", dir);
    return access(build, X_OK) == 0 ? take_ptr(&dir) : NULL;
}

char *project_sdk_find(const char *chosen, const char *language, struct err *err)
{
    static const char *const places[] = { "/sdk", "/../sdk", "/../share/dormouse/sdk" };
    const char *env = getenv("DORMOUSE_SDK");
    if (!chosen && env && *env)
        chosen = env;
    if (chosen) {
        char *dir = sdk_in(chosen, "", language);
        if (!dir)
            (void)err_set(err, -ENOENT, "no '%s/build' in '%s'", language, chosen);
        return dir;
    }
    scoped(free_scoped) char *self = sibling_dir();
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        char *dir = sdk_in(self, places[i], language);
        if (dir)
            return dir;
    }
    (void)err_set(err, -ENOENT, "no SDK for '%s' beside '%s'; name its directory with --sdk",
                  language, self);
    return NULL;
}

/* By the file that every project in the language has; NULL: none of them. */
static const char *language_of(const char *dir)
{
    static const struct {
        const char *pattern, *language;
    } rows[] = { { "Cargo.toml", "rust" }, { "go.mod", "go" }, { "*.c", "c" } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        DIR *d = opendir(dir);
        bool found = false;
        for (struct dirent *e; d && !found && (e = readdir(d));)
            found = fnmatch(rows[i].pattern, e->d_name, FNM_PERIOD) == 0;
        if (d)
            (void)closedir(d);
        if (found)
            return rows[i].language;
    }
    return NULL;
}

/* The program that builds the project. Given; NULL and err. */
static char *find_builder(const char *dir, const char *chosen, struct err *err)
{
    scoped(free_scoped) char *own = xasprintf("%s/sdk/build", dir);
    if (!chosen && access(own, X_OK) == 0)
        return take_ptr(&own);
    const char *language = language_of(dir);
    if (!language) {
        (void)err_set(err, -ENOENT, "'%s' has no Cargo.toml, go.mod or *.c", dir);
        return NULL;
    }
    scoped(free_scoped) char *sdk = project_sdk_find(chosen, language, err);
    return sdk ? xasprintf("%s/build", sdk) : NULL;
}

/* Exit status of `program DIR OUT`, or a negative code. Its stdout is our stderr. */
static int run_builder(char *program, char *dir, char *out, struct err *err)
{
    char *argv[] = { program, dir, out, NULL };
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status, r = posix_spawn_file_actions_init(&actions);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    if (r == 0)
        r = posix_spawn(&pid, program, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (r)
        return err_sys(err, -r, "start '%s'", program);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_sys(err, -errno, "wait for '%s'", program);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int project_build(const struct project_kind *kind, const char *dir, const char *chosen,
                  struct err *err)
{
    scoped(free_scoped) char *full = realpath(dir, NULL);
    if (!full)
        return err_sys(err, -errno, "open '%s'", dir);
    scoped(free_scoped) char *builder = find_builder(full, chosen, err);
    if (!builder)
        return -ENOENT;
    scoped(free_scoped) char *part = xasprintf("%s/.%s.part", full, kind->module);
    scoped(free_scoped) char *module = xasprintf("%s/%s", full, kind->module);
    int r = run_builder(builder, full, part, err);
    if (r == 0 && rename(part, module) < 0)
        r = err_sys(err, -errno, "rename '%s'", part);
    if (r != 0)
        (void)unlink(part);
    if (r == BUILD_LACKS_TOOL)
        return err_set(err, -ENOPKG, "build '%s': a tool is missing, see above", dir);
    return r > 0 ? err_set(err, E_INVALID, "build '%s': failed, see above", dir) : r;
}

int project_build_run(const struct cmd *cmd, const struct cmd_opt *opts,
                      const struct project_kind *kind, const char *const *sdk, int argc,
                      char **argv)
{
    size_t n;
    struct err err = { 0 };
    int r = cmd_parse(cmd, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    const char *dir = n ? argv[0] : ".";
    if (project_build(kind, dir, *sdk, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    scoped(free_scoped) char *path = xasprintf("%s/%s", dir, kind->module);
    struct stat st;
    if (stat(path, &st) == 0)
        (void)printf("%s: %lld bytes\n", path, (long long)st.st_size);
    return CMD_OK;
}
