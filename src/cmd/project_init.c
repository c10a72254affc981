/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new project from an SDK's template, with a copy of the SDK in it; see project.h. It is put
 * together under a temporary name.
 */
#include "cmd/project.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    INIT_FILE_MAX_BYTES = 4 << 20, /* of an SDK or a template */
    INIT_DEPTH_MAX = 16,
    INIT_NAME_MAX = 63, /* it becomes the name of an object */
};

/* ---- copying ---- */

/* What of an SDK a project does not need: how it is tested, built natively, and what tools leave
 * behind. */
static bool is_left_out(const char *name)
{
    static const char *const names[] = {
        "template", "template-function", "template-scheduler", "native",
        "tests",    "testdata",          "examples",           "target",
        ".git",     "meson.build"
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Appends `text` with every @NAME@ replaced. */
static void expand(struct buf *b, struct str text, const char *name)
{
    static const char mark[] = "@NAME@";
    while (text.n) {
        const char *at = memmem(text.p, text.n, mark, sizeof(mark) - 1);
        size_t n = at ? (size_t)(at - text.p) : text.n;
        (void)buf_add(b, text.p, n);
        if (at) {
            (void)buf_add_cstr(b, name);
            n += sizeof(mark) - 1;
        }
        text = str_slice(text, n, text.n);
    }
}

/* name: replaces @NAME@; NULL: the bytes as they are. */
static int copy_file(const char *from, const char *to, mode_t mode, const char *name,
                     struct err *err)
{
    scoped(buf_fini_scoped) struct buf content = BUF_INIT(INIT_FILE_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf expanded = BUF_INIT(INIT_FILE_MAX_BYTES);
    int r = sys_read_file(AT_FDCWD, from, &content, err);
    if (r < 0)
        return r;
    if (name)
        expand(&expanded, buf_str(&content), name);
    if (!buf_ok(&expanded))
        return err_set(err, -EMSGSIZE, "'%s' is too large", from);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, to, O_WRONLY | O_CREAT | O_EXCL, mode & 0777);
    if (fd < 0)
        return err_sys(err, fd, "create '%s'", to);
    struct str bytes = name ? buf_str(&expanded) : buf_str(&content);
    r = sys_write_all(fd, bytes.p, bytes.n);
    return r < 0 ? err_sys(err, r, "write '%s'", to) : 0;
}

static int copy_tree(const char *from, const char *to, const char *name, unsigned depth,
                     struct err *err);

static int copy_entry(const char *from, const char *to, const char *name, unsigned depth,
                      struct err *err)
{
    struct stat st;
    if (stat(from, &st) < 0)
        return err_sys(err, -errno, "open '%s'", from);
    if (S_ISDIR(st.st_mode))
        return copy_tree(from, to, name, depth + 1, err);
    return copy_file(from, to, st.st_mode | S_IWUSR, name, err);
}

static void closedir_scoped(DIR **d)
{
    if (*d)
        (void)closedir(*d);
}

/* name: the source is a template; NULL: it is an SDK, which is not copied whole. */
static int copy_tree(const char *from, const char *to, const char *name, unsigned depth,
                     struct err *err)
{
    if (depth > INIT_DEPTH_MAX)
        return err_set(err, -ELOOP, "'%s' is nested too deeply", from);
    scoped(closedir_scoped) DIR *d = opendir(from);
    if (!d)
        return err_sys(err, -errno, "open '%s'", from);
    if (mkdir(to, 0777) < 0)
        return err_sys(err, -errno, "create '%s'", to);
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            (!name && is_left_out(e->d_name)))
            continue;
        scoped(free_scoped) char *source = xasprintf("%s/%s", from, e->d_name);
        scoped(free_scoped) char *target = xasprintf("%s/%s", to, e->d_name);
        int r = copy_entry(source, target, name, depth, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    return remove(path);
}

/* ---- the project ---- */

/* A DNS label: it becomes the name of an object, of a Cargo package, of a Go module. */
static bool is_name(const char *s)
{
    size_t n = strlen(s);
    return n > 0 && n <= INIT_NAME_MAX && s[0] >= 'a' && s[0] <= 'z' && s[n - 1] != '-' &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

static int fill(const struct project_kind *kind, const char *project, const char *from,
                const char *name, struct err *err)
{
    scoped(free_scoped) char *template = xasprintf("%s/%s", from, kind->template);
    scoped(free_scoped) char *copy = xasprintf("%s/sdk", project);
    int r = copy_tree(template, project, name, 0, err);
    return r < 0 ? r : copy_tree(from, copy, NULL, 0, err);
}

int project_create(const struct project_kind *kind, const char *name, const char *language,
                   const char *chosen, struct err *err)
{
    if (access(name, F_OK) == 0)
        return err_set(err, -EEXIST, "'%s' exists", name);
    scoped(free_scoped) char *from = project_sdk_find(chosen, language, err);
    if (!from)
        return -ENOENT;
    scoped(free_scoped) char *part = xasprintf(".%s.%d.part", name, (int)getpid());
    int r = fill(kind, part, from, name, err);
    if (r == 0 && rename(part, name) < 0)
        r = err_sys(err, -errno, "rename '%s'", part);
    if (r < 0)
        (void)nftw(part, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return r;
}

int project_init_run(const struct cmd *cmd, const struct cmd_opt *opts,
                     const struct project_kind *kind, const char *const *language,
                     const char *const *sdk, int argc, char **argv)
{
    static const char *const languages[] = { "c", "rust", "go" };
    size_t n;
    struct err err = { 0 };
    int r = cmd_parse(cmd, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    if (n != 1)
        return cmd_failf(CMD_USAGE, "what is it called? 'dormouse %s --lang c NAME'", cmd->name);
    if (!is_name(argv[0]))
        return cmd_failf(CMD_USAGE,
                         "'%s': a name has lower case letters, digits and '-', and begins "
                         "with a letter",
                         argv[0]);
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(languages); i++)
        known |= *language && strcmp(*language, languages[i]) == 0;
    if (!known)
        return *language ? cmd_failf(CMD_USAGE, "--lang is c, rust or go, not '%s'", *language)
                         : cmd_failf(CMD_USAGE, "which language? --lang c, rust or go");
    if (project_create(kind, argv[0], *language, *sdk, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    (void)printf("%s: next, 'dormouse %s build %s'; %s/README.md says more\n", argv[0],
                 kind->command, argv[0], argv[0]);
    return CMD_OK;
}
