/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cgroup.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 4096, NAME_SIZE = 48 };

static int write_text(int dir_fd, const char *name, const char *text)
{
    scoped(fd_scoped) int fd = sys_openat(dir_fd, name, O_WRONLY, 0);
    return fd < 0 ? fd : sys_write_all(fd, text, strlen(text));
}

static bool has(struct str text, struct str wanted)
{
    struct str word, rest = text;
    while (rest.n) {
        (void)str_cut(rest, ' ', &word, &rest);
        if (str_eq(word, wanted))
            return true;
    }
    return false;
}

bool cgroup_has_word(int group_fd, const char *file, const char *word)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(FILE_MAX);
    return sys_read_file(group_fd, file, &text, NULL) >= 0 &&
           has(str_trim(buf_str(&text)), str_of(word));
}

static bool has_given(int group_fd, const char *controllers)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(FILE_MAX);
    struct str word, rest;
    if (sys_read_file(group_fd, "cgroup.subtree_control", &text, NULL) < 0)
        return false;
    for (rest = str_of(controllers); rest.n;) {
        (void)str_cut(rest, ' ', &word, &rest);
        if (!has(str_trim(buf_str(&text)), str_slice(word, 1, word.n)))
            return false;
    }
    return true;
}

static void own_name(char to[NAME_SIZE])
{
    (void)snprintf(to, NAME_SIZE, "dormouse-main-%d", (int)getpid());
}

struct str cgroup_without_own(struct str path)
{
    char name[NAME_SIZE + 1] = "/";
    own_name(name + 1);
    if (!str_has_suffix(path, str_of(name)))
        return path;
    size_t n = path.n - strlen(name);
    return str_slice(path, 0, n ? n : 1);
}

int cgroup_give(int group_fd, const char *controllers)
{
    char name[NAME_SIZE], procs[NAME_SIZE + 16];
    if (has_given(group_fd, controllers))
        return 0;
    int r = write_text(group_fd, "cgroup.subtree_control", controllers);
    if (r != -EBUSY)
        return r < 0 ? r : 0;
    own_name(name);
    (void)snprintf(procs, sizeof procs, "%s/cgroup.procs", name);
    if (mkdirat(group_fd, name, 0755) < 0 && errno != EEXIST)
        return -errno;
    r = write_text(group_fd, procs, "0");
    r = r < 0 ? r : write_text(group_fd, "cgroup.subtree_control", controllers);
    if (r < 0) {
        cgroup_move_back(group_fd);
        return r;
    }
    return 1;
}

void cgroup_move_back(int group_fd)
{
    char name[NAME_SIZE];
    own_name(name);
    (void)write_text(group_fd, "cgroup.procs", "0");
    (void)unlinkat(group_fd, name, AT_REMOVEDIR);
}
