/* SPDX-License-Identifier: Apache-2.0 */
#include "image/runtime_config.h"

#include "base/map.h"
#include "base/sys.h"
#include "codec/json.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PASSWD_FIELDS = 7, GROUP_FIELDS = 4, SHOWN_MAX = 80, FIELDS_MAX = PASSWD_FIELDS };

/* ---- users and groups (passwd(5), group(5)) ---- */

static bool parse_id(struct str s, uint32_t *ret)
{
    uint64_t n;
    if (parse_u64(s, 0, INT32_MAX, &n) < 0)
        return false;
    *ret = (uint32_t)n;
    return true;
}

/* The next line in fields; missing ones are empty. False: none. */
static bool next_line(struct str *text, size_t n_fields, struct str fields[FIELDS_MAX])
{
    struct str line;
    if (text->n == 0)
        return false;
    (void)str_cut(*text, '\n', &line, text);
    for (size_t i = 0; i < n_fields; i++)
        (void)str_cut(line, ':', &fields[i], &line);
    return true;
}

struct passwd_line {
    struct str name;
    uint32_t uid, gid;
};

/* By name, else by number: a name may look like a number. */
static bool find_passwd(struct str passwd, struct str user, struct passwd_line *ret)
{
    uint32_t wanted = 0;
    bool is_number = parse_id(user, &wanted), is_found = false;
    struct str f[FIELDS_MAX];
    while (next_line(&passwd, PASSWD_FIELDS, f)) {
        struct passwd_line line = { .name = f[0] };
        if (!f[0].n || !parse_id(f[2], &line.uid) || !parse_id(f[3], &line.gid))
            continue;
        bool is_named = str_eq(f[0], user);
        if (is_named || (!is_found && is_number && line.uid == wanted)) {
            *ret = line;
            is_found = true;
        }
        if (is_named)
            return true;
    }
    return is_found;
}

static bool find_group(struct str group, struct str wanted, uint32_t *ret)
{
    struct str f[FIELDS_MAX];
    while (next_line(&group, GROUP_FIELDS, f))
        if (f[0].n && str_eq(f[0], wanted) && parse_id(f[2], ret))
            return true;
    return parse_id(wanted, ret);
}

static bool has_member(struct str members, struct str name)
{
    struct str one;
    while (members.n) {
        (void)str_cut(members, ',', &one, &members);
        if (str_eq(one, name))
            return true;
    }
    return false;
}

static int add_groups(struct str group, struct str name, struct runtime_config_user *to,
                      struct err *err)
{
    struct str f[FIELDS_MAX];
    uint32_t gid;
    while (next_line(&group, GROUP_FIELDS, f)) {
        if (!parse_id(f[2], &gid) || gid == to->gid || !has_member(f[3], name))
            continue;
        if (to->n_groups == RUNTIME_CONFIG_GROUPS_MAX)
            return err_set(err, E_LIMIT, "the user has more than %d groups",
                           RUNTIME_CONFIG_GROUPS_MAX);
        to->groups[to->n_groups++] = gid;
    }
    return 0;
}

static int unknown(const char *what, struct str name, struct err *err)
{
    struct str shown = str_slice(name, 0, SHOWN_MAX);
    return err_set(err, E_INVALID, "the image has no %s '" STR_FMT "'", what, STR_ARG(shown));
}

int runtime_config_resolve_user(struct str user, struct str passwd, struct str group,
                                struct runtime_config_user *ret, struct err *err)
{
    struct str name, wanted_group;
    struct runtime_config_user found = { 0 };
    struct passwd_line line = { 0 };
    bool has_group = str_cut(user, ':', &name, &wanted_group) && wanted_group.n;
    if (name.n == 0)
        name = STR("0");
    bool is_known = find_passwd(passwd, name, &line);
    if (!is_known && !parse_id(name, &line.uid))
        return unknown("user", name, err);
    found.uid = line.uid;
    found.gid = line.gid;
    if (has_group && !find_group(group, wanted_group, &found.gid))
        return unknown("group", wanted_group, err);
    int r = is_known && !has_group ? add_groups(group, line.name, &found, err) : 0;
    if (r >= 0)
        *ret = found;
    return r;
}

static int read_below(int root_fd, const char *path, struct buf *to, struct err *err)
{
    struct stat st;
    const struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                                  .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
    scoped(fd_scoped) int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? 0
                   : err_sys(err, -errno, "open '/%s' of the image", path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return err_set(err, E_INVALID, "'/%s' of the image is no regular file", path);
    for (;;) {
        char *room;
        int r = buf_reserve(to, 4096, &room);
        if (r < 0)
            return err_set(err, r, "'/%s' of the image is too large", path);
        ssize_t n = read(fd, room, 4096);
        if (n < 0 && errno != EINTR)
            return err_sys(err, -errno, "read '/%s' of the image", path);
        if (n == 0)
            return 0;
        buf_advance(to, n > 0 ? (size_t)n : 0);
    }
}

int runtime_config_find_user(int root_fd, struct str user, struct runtime_config_user *ret,
                             struct err *err)
{
    scoped(buf_fini_scoped) struct buf passwd = BUF_INIT(RUNTIME_CONFIG_USERS_BYTES);
    scoped(buf_fini_scoped) struct buf group = BUF_INIT(RUNTIME_CONFIG_USERS_BYTES);
    int r = read_below(root_fd, "etc/passwd", &passwd, err);
    r = r < 0 ? r : read_below(root_fd, "etc/group", &group, err);
    return r < 0 ? r
                 : runtime_config_resolve_user(user, buf_str(&passwd), buf_str(&group), ret, err);
}

/* ---- the section ---- */

static int check(struct str s, const char *what, struct err *err)
{
    return s.n && memchr(s.p, 0, s.n) ? err_set(err, E_INVALID, "%s contains a NUL", what) : 0;
}

static int add_strings(struct oci_strings list, bool *is_first, struct buf *to, struct err *err)
{
    for (size_t i = 0; i < list.n; i++) {
        int r = check(list.p[i], "an argument", err);
        if (r < 0)
            return r;
        (void)buf_add_cstr(to, *is_first ? "" : ",");
        (void)json_write_str(to, list.p[i]);
        *is_first = false;
    }
    return 0;
}

static int add_args(const struct oci_run *run, const struct runtime_config_opts *o, struct buf *to,
                    struct err *err)
{
    bool is_first = true;
    struct oci_strings program = o->entrypoint.n ? o->entrypoint : run->entrypoint;
    struct oci_strings rest = o->args.n         ? o->args
                              : o->entrypoint.n ? (struct oci_strings){ NULL, 0 }
                                                : run->command;
    struct str first = program.n ? program.p[0] : rest.n ? rest.p[0] : STR_NULL;
    if (first.n == 0)
        return err_set(err, E_INVALID, "the image names no program, and no arguments were given");
    (void)buf_add_cstr(to, ",\"args\":[");
    int r = add_strings(program, &is_first, to, err);
    r = r < 0 ? r : add_strings(rest, &is_first, to, err);
    (void)buf_add_char(to, ']');
    return r;
}

/* The name of NAME=VALUE; empty: it is no variable. */
static struct str name_of(struct str variable)
{
    struct str name, value;
    return str_cut(variable, '=', &name, &value) ? name : STR("");
}

/* Note where the last variable of each name is. */
static int note_variables(struct oci_strings list, struct map *last, struct err *err)
{
    for (size_t i = 0; i < list.n; i++) {
        struct str name = name_of(list.p[i]), shown = str_slice(list.p[i], 0, SHOWN_MAX);
        int r = check(list.p[i], "a variable of the environment", err);
        if (r < 0)
            return r;
        if (name.n == 0)
            return err_set(err, E_INVALID, "'" STR_FMT "' is no variable (NAME=VALUE)",
                           STR_ARG(shown));
        (void)map_put(last, name, (void *)&list.p[i]);
    }
    return 0;
}

static int add_env(struct oci_strings image, struct oci_strings own, struct buf *to,
                   struct err *err)
{
    const struct str path =
        STR("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    const struct oci_strings lists[] = { { &path, 1 }, image, own };
    struct map last = { .borrows_keys = true };
    bool is_first = true;
    int r = 0;
    for (size_t l = 0; l < ARRAY_LEN(lists) && r >= 0; l++)
        r = note_variables(lists[l], &last, err);
    (void)buf_add_cstr(to, ",\"env\":[");
    for (size_t l = 0; l < ARRAY_LEN(lists) && r >= 0; l++)
        for (size_t i = 0; i < lists[l].n; i++) {
            if (map_get(&last, name_of(lists[l].p[i])) != &lists[l].p[i])
                continue;
            (void)buf_add_cstr(to, is_first ? "" : ",");
            (void)json_write_str(to, lists[l].p[i]);
            is_first = false;
        }
    (void)buf_add_char(to, ']');
    map_fini(&last);
    return r;
}

static void add_user(const struct runtime_config_user *u, struct buf *to)
{
    (void)buf_printf(to, "\"user\":{\"uid\":%u,\"gid\":%u,\"additionalGids\":[", u->uid, u->gid);
    for (size_t i = 0; i < u->n_groups; i++)
        (void)buf_printf(to, "%s%u", i ? "," : "", u->groups[i]);
    (void)buf_add_cstr(to, "]}");
}

static int add_cwd(struct str cwd, struct buf *to, struct err *err)
{
    if (cwd.n == 0)
        cwd = STR("/");
    int r = check(cwd, "the working directory", err);
    if (r < 0)
        return r;
    struct str shown = str_slice(cwd, 0, SHOWN_MAX);
    if (cwd.p[0] != '/')
        return err_set(err, E_INVALID, "the working directory '" STR_FMT "' is not absolute",
                       STR_ARG(shown));
    (void)buf_add_cstr(to, ",\"cwd\":");
    return json_write_str(to, cwd);
}

/* A program that is not root gets the bounding set alone, as after execve() of root's. */
static void add_capabilities(const char *const *names, bool is_root, struct buf *to)
{
    static const struct {
        const char *set;
        bool for_all;
    } sets[] = { { "bounding", true }, { "effective", false }, { "permitted", false } };
    (void)buf_add_cstr(to, ",\"capabilities\":{\"inheritable\":[],\"ambient\":[]");
    for (size_t s = 0; s < ARRAY_LEN(sets); s++) {
        (void)buf_printf(to, ",\"%s\":[", sets[s].set);
        for (size_t i = 0; names && names[i] && (sets[s].for_all || is_root); i++)
            (void)buf_printf(to, "%s\"%s\"", i ? "," : "", names[i]);
        (void)buf_add_char(to, ']');
    }
    (void)buf_add_char(to, '}');
}

int runtime_config_process(const struct oci_run *run, const struct runtime_config_opts *o,
                           const struct runtime_config_user *user, struct buf *to, struct err *err)
{
    unsigned long long n_files = o->n_files ? o->n_files : RUNTIME_CONFIG_FILES_DEFAULT;
    (void)buf_printf(to, "{\"terminal\":%s,\"noNewPrivileges\":%s,",
                     o->has_terminal ? "true" : "false", o->gains_privileges ? "false" : "true");
    add_user(user, to);
    int r = add_args(run, o, to, err);
    r = r < 0 ? r : add_env(run->env, o->env, to, err);
    r = r < 0 ? r : add_cwd(o->cwd.n ? o->cwd : run->cwd, to, err);
    if (r < 0)
        return r;
    add_capabilities(o->capabilities, user->uid == 0, to);
    (void)buf_printf(to,
                     ",\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"hard\":%llu,\"soft\":%llu},"
                     "{\"type\":\"RLIMIT_CORE\",\"hard\":0,\"soft\":0}]}",
                     n_files, n_files);
    return buf_ok(to) ? 0 : err_set(err, -EMSGSIZE, "the section 'process' is too large");
}
