/* SPDX-License-Identifier: Apache-2.0 */
#include "container/user.h"

#include "base/buf.h"
#include "base/mem.h"
#include "container/root.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
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

static int add_groups(struct str group, struct str name, struct container_user *to, struct err *err)
{
    struct str f[FIELDS_MAX];
    uint32_t gid;
    while (next_line(&group, GROUP_FIELDS, f)) {
        if (!parse_id(f[2], &gid) || gid == to->gid || !has_member(f[3], name))
            continue;
        if (to->n_groups == CONTAINER_USER_GROUPS_MAX)
            return err_set(err, E_LIMIT, "the user has more than %d groups",
                           CONTAINER_USER_GROUPS_MAX);
        to->groups[to->n_groups++] = gid;
    }
    return 0;
}

static int unknown(const char *what, struct str name, struct err *err)
{
    struct str shown = str_slice(name, 0, SHOWN_MAX);
    return err_set(err, E_INVALID, "the image has no %s '" STR_FMT "'", what, STR_ARG(shown));
}

int container_user_resolve(struct str user, struct str passwd, struct str group,
                           struct container_user *ret, struct err *err)
{
    struct str name, wanted_group;
    struct container_user found = { 0 };
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
    scoped(fd_scoped) int fd = container_root_open(root_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fd == -ENOENT || fd == -ENOTDIR ? 0
                                               : err_sys(err, fd, "open '/%s' of the image", path);
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

int container_user_find(int root_fd, struct str user, struct container_user *ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf passwd = BUF_INIT(CONTAINER_USER_FILE_BYTES);
    scoped(buf_fini_scoped) struct buf group = BUF_INIT(CONTAINER_USER_FILE_BYTES);
    int r = read_below(root_fd, "etc/passwd", &passwd, err);
    r = r < 0 ? r : read_below(root_fd, "etc/group", &group, err);
    return r < 0 ? r : container_user_resolve(user, buf_str(&passwd), buf_str(&group), ret, err);
}
