/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/volume/host_path.h"

#include "base/mem.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct host_type {
    const char *name;
    mode_t kind;
    bool is_made;
    const char *what;
} types[] = {
    { "DirectoryOrCreate", S_IFDIR, true, "a directory" },
    { "Directory", S_IFDIR, false, "a directory" },
    { "FileOrCreate", S_IFREG, true, "a file" },
    { "File", S_IFREG, false, "a file" },
    { "Socket", S_IFSOCK, false, "a socket file" },
    { "CharDevice", S_IFCHR, false, "a character device" },
    { "BlockDevice", S_IFBLK, false, "a block device" },
};

static int make(const char *path, const struct host_type *t, struct err *err)
{
    if (t->kind == S_IFDIR)
        return sys_mkdir_all(path, 0755, err);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    return fd < 0 && fd != -EEXIST ? err_sys(err, fd, "make '%s'", path) : 0;
}

static int check(const char *path, const struct host_type *t, struct err *err)
{
    struct stat st;
    int r = stat(path, &st) < 0 ? -errno : 0;
    if (r == -ENOENT && t->is_made) {
        r = make(path, t, err);
        if (r < 0)
            return r;
        r = stat(path, &st) < 0 ? -errno : 0;
    }
    if (r < 0 || (st.st_mode & S_IFMT) != t->kind)
        return err_set(err, r < 0 ? r : E_INVALID, "hostPath type check failed: %s is not %s", path,
                       t->what);
    return 0;
}

int volume_host_path_check(const char *path, struct str type, struct err *err)
{
    if (path[0] != '/')
        return err_set(err, E_INVALID, "hostPath '%s' is not an absolute path", path);
    if (!type.n)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (str_is(type, types[i].name))
            return check(path, &types[i], err);
    }
    return err_set(err, E_INVALID, STR_FMT " is an invalid volume type", STR_ARG(type));
}
