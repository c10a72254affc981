/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_root.h"

#include "base/sys.h"

#include <fcntl.h>
#include <unistd.h>

/* In the directory, which is there. */
static int fill_state(const char *state, struct err *err)
{
    static const char *const dirs[] = { "lower", "data" };
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, state, O_RDONLY | O_DIRECTORY, 0);
    if (dir < 0)
        return err_sys(err, dir, "open '%s'", state);
    if (!mount_can_objects(dir))
        return err_set(err, E_UNSUPPORTED,
                       "this kernel mounts no directories apart from the contents of files");
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        int r = sys_mkdirat(dir, dirs[i], 0700);
        if (r < 0)
            return err_sys(err, r, "make '%s'", dirs[i]);
    }
    return 0;
}

static int mount_lower(const struct lazy_view *view, const char *state, struct err *err)
{
    const struct mount_opts how = { .is_read_only = true };
    scoped(free_scoped) char *file = xasprintf("%s/meta.erofs", state);
    scoped(free_scoped) char *at = xasprintf("%s/lower", state);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, file, O_RDWR | O_CREAT | O_EXCL, 0600);
    int r = fd < 0 ? fd : sys_write_all(fd, view->erofs.p, view->erofs.n);
    return r < 0 ? err_sys(err, r, "write '%s'", file) : mount_erofs(fd, NULL, 0, at, &how, err);
}

static int mount_all(const struct lazy_view *view, const char *state, const char *target,
                     const struct root_opts *opts, struct err *err)
{
    scoped(free_scoped) char *lower = xasprintf("%s/lower", state);
    scoped(free_scoped) char *data = xasprintf("%s/data", state);
    int r = mount_lower(view, state, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int lower_fd = sys_openat(AT_FDCWD, lower, O_RDONLY | O_DIRECTORY, 0);
    scoped(fd_scoped) int data_fd = sys_openat(AT_FDCWD, data, O_PATH | O_DIRECTORY, 0);
    if (lower_fd < 0 || data_fd < 0)
        return err_sys(err, lower_fd < 0 ? lower_fd : data_fd, "open '%s'", state);
    return root_mount_over(state, lower_fd, data_fd, target, opts, err);
}

int lazy_root_mount(const struct lazy_view *view, const char *state, const char *target,
                    const struct root_opts *opts, const struct lazy_guard_opts *guard,
                    struct lazy_guard **ret, struct err *err)
{
    scoped(free_scoped) char *data = xasprintf("%s/data", state);
    struct lazy_guard_opts own = *guard;
    struct lazy_guard *g = NULL;
    own.target = data;
    int r = sys_mkdirat(AT_FDCWD, state, 0700);
    if (r < 0) /* it may be the state of another mount */
        return err_sys(err, r, "make '%s'", state);
    r = fill_state(state, err);
    r = r < 0 ? r : lazy_guard_start(view, &own, &g, err);
    r = r < 0 ? r : mount_all(view, state, target, opts, err);
    if (r < 0) {
        (void)root_umount(state, target, 0, NULL);
        lazy_guard_free(g);
        return r;
    }
    *ret = g;
    return 0;
}
