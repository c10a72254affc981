/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse operator test: the tests of an operator's project, each against a cluster of its own
 * under a virtual clock. Each file runs in its own process, so that it cannot affect the next one.
 */
#include "lab/cmd/commands.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/lab.h"
#include "cmd/project.h"
#include "lab/cmd/operator_test_file.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WHY_MAX_BYTES = 1 << 20, FTW_FDS = 16 };

static const char *module = OPERATOR_MODULE, *sdk;
static bool update, no_build, verbose;

static const struct cmd_opt opts[] = {
    { "update", 'u', NULL, "record what the operator writes in FILE.recorded", CMD_FLAG, &update, 0,
      0 },
    { "no-build", 0, NULL, "take the module as it is", CMD_FLAG, &no_build, 0, 0 },
    { "module", 0, "FILE", "below DIR (" OPERATOR_MODULE ")", CMD_STRING, &module, 0, 0 },
    { "sdk", 0, "DIR", "as in 'operator build'", CMD_STRING, &sdk, 0, 0 },
    { "verbose", 'v', NULL, "show the server's log", CMD_FLAG, &verbose, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *operator_test_opts(void)
{
    return opts;
}

/* ---- one file ---- */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    return remove(path);
}

/* In the child process. Does not return. */
__attribute__((noreturn)) static void run_child(const struct test_project *project,
                                                const char *path, const char *data_dir)
{
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(WHY_MAX_BYTES);
    unsigned steps;
    uint64_t began = clock_mono_ms() - clock_skipped_ms();
    int r = operator_test_file_run(project, path, data_dir, &steps, &why);
    uint64_t took = clock_mono_ms() - clock_skipped_ms() - began;
    if (r == 0)
        (void)printf("ok   %s (%u steps, %llu ms)\n", path, steps, (unsigned long long)took);
    else
        (void)printf("FAIL %s: %s\n", path, buf_cstr(&why));
    (void)fflush(stdout);
    _exit(r == 0 ? 0 : 1);
}

static int run_file(const struct test_project *project, const char *path, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    scoped(free_scoped) char *data_dir =
        xasprintf("%s/dormouse-test-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    int status;
    if (!mkdtemp(data_dir))
        return err_sys(err, -errno, "make a directory '%s'", data_dir);
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        run_child(project, path, data_dir);
    if (pid < 0)
        return err_sys(err, -errno, "start a test");
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    (void)nftw(data_dir, remove_entry, FTW_FDS, FTW_DEPTH | FTW_PHYS);
    if (WIFEXITED(status) && WEXITSTATUS(status) <= 1)
        return WEXITSTATUS(status) == 0 ? 1 : 0;
    (void)printf("FAIL %s: the test ended with status %d, not by itself\n", path, status);
    return 0;
}

/* ---- all files ---- */

static int is_test(const struct dirent *e)
{
    struct str name = str_of(e->d_name);
    return name.p[0] != '.' && str_has_suffix(name, STR(".yaml"));
}

static int find_tests(const char *dir, char ***ret, size_t *ret_n, struct err *err)
{
    scoped(free_scoped) char *tests = xasprintf("%s/tests", dir);
    struct dirent **entries;
    int n = scandir(tests, &entries, is_test, alphasort);
    if (n < 0)
        return err_sys(err, -errno, "read '%s'", tests);
    *ret = xnew_n(char *, (size_t)n + 1);
    *ret_n = (size_t)n;
    for (int i = 0; i < n; i++) {
        (*ret)[i] = xasprintf("%s/%s", tests, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return n ? 0 : err_set(err, -ENOENT, "'%s' has no *.yaml", tests);
}

static int run_all(const char *dir, char *const *files, size_t n, struct err *err)
{
    struct test_project project = { .dir = dir, .module = module, .update = update };
    size_t passed = 0;
    for (size_t i = 0; i < n; i++) {
        int r = run_file(&project, files[i], err);
        if (r < 0)
            return r;
        passed += (size_t)r;
    }
    (void)printf("%zu passed, %zu failed\n", passed, n - passed);
    return passed == n ? 0 : 1;
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    int r = cmd_parse(&operator_test_command, opts, argc, argv, (size_t)argc, &n);
    if (r)
        return r - 1;
    log_setup(verbose ? LOG_INFO : LOG_ERROR, LOG_TEXT);
    scoped(free_scoped) char *dir = realpath(n ? argv[0] : ".", NULL);
    if (!dir)
        return cmd_failf(CMD_FAILED, "there is no directory '%s'", argv[0]);
    if (!no_build && project_build(&project_operator, dir, sdk, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    char **files = NULL;
    size_t n_files = n ? n - 1 : 0;
    if (n > 1)
        r = run_all(dir, argv + 1, n_files, &err);
    else if ((r = find_tests(dir, &files, &n_files, &err)) >= 0)
        r = run_all(dir, files, n_files, &err);
    for (size_t i = 0; files && i < n_files; i++)
        free(files[i]);
    free(files);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : r ? CMD_FAILED : CMD_OK;
}

const struct cmd operator_test_command = {
    LAB_OPERATOR_TEST,
    .help = "Builds the project and runs DIR/tests/*.yaml, or the files named. Each gets an API "
            "server of "
            "its own, with the project's crd.yaml, crds/, rbac.yaml and operator.yaml; time stands "
            "still until a step lets it pass. docs/operator-test.md says what steps there are.\n"
            "\n"
            "  dormouse operator test hello\n"
            "  dormouse operator test hello hello/tests/renews.yaml --update\n",
    .run = run,
    .opts = operator_test_opts,
};
