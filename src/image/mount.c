/* SPDX-License-Identifier: Apache-2.0 */
#include "image/mount.h"

#include "base/sys.h"
#include "image/erofs.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FD_PATH_SIZE = 32,
    OPTIONS_MAX = 4095, /* a page, for mount(2) */
    LOOP_TURNS_MAX = 64,
};

static void fd_path(int fd, char ret[FD_PATH_SIZE])
{
    (void)snprintf(ret, FD_PATH_SIZE, "/proc/self/fd/%d", fd);
}

static int failed(int code, const char *what, struct err *err)
{
    return err_sys(err, code, "mount %s%s", what,
                   code == -EPERM || code == -EACCES
                       ? " (mounting needs root or a user namespace of its own: unshare -Urm)"
                       : "");
}

static unsigned attributes(const struct mount_opts *opts)
{
    return (opts->is_read_only ? MOUNT_ATTR_RDONLY : 0u) |
           (opts->has_suid ? 0u : MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

static int set_fd(int fs, const char *key, int fd)
{
    char path[FD_PATH_SIZE];
    fd_path(fd, path);
    return fsconfig(fs, FSCONFIG_SET_STRING, key, path, 0) < 0 ? -errno : 0;
}

static int set_string(int fs, const char *key, const char *value)
{
    return fsconfig(fs, FSCONFIG_SET_STRING, key, value, 0) < 0 ? -errno : 0;
}

/* Create what `fs` describes and put it at the target. */
static int attach(int fs, const char *target, const struct mount_opts *opts)
{
    if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return -errno;
    scoped(fd_scoped) int mnt = fsmount(fs, FSMOUNT_CLOEXEC, attributes(opts));
    if (mnt < 0)
        return -errno;
    return move_mount(mnt, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) < 0 ? -errno : 0;
}

/* ---- EROFS ---- */

/* fds: the image, then its devices. -ENODEV: no EROFS; -ENOTBLK: not in files. */
static int mount_erofs_fds(const int *fds, size_t n, const char *target,
                           const struct mount_opts *opts)
{
    struct mount_opts read_only = *opts;
    scoped(fd_scoped) int fs = fsopen("erofs", FSOPEN_CLOEXEC);
    if (fs < 0)
        return -errno;
    read_only.is_read_only = true;
    int r = 0;
    for (size_t i = 0; i < n && r >= 0; i++)
        r = set_fd(fs, i ? "device" : "source", fds[i]);
    if (r >= 0)
        r = fsconfig(fs, FSCONFIG_SET_FLAG, "ro", NULL, 0) < 0 ? -errno : 0;
    return r < 0 ? r : attach(fs, target, &read_only);
}

/* A read-only loop device over a file, which ends with its last user. */
static int make_loop(int control, int fd)
{
    const struct loop_config config = {
        .fd = (uint32_t)fd,
        .block_size = EROFS_BLOCK_BYTES,
        .info.lo_flags = LO_FLAGS_READ_ONLY | LO_FLAGS_AUTOCLEAR,
    };
    for (unsigned turn = 0; turn < LOOP_TURNS_MAX; turn++) {
        char path[FD_PATH_SIZE];
        int i = ioctl(control, LOOP_CTL_GET_FREE);
        if (i < 0)
            return -errno;
        (void)snprintf(path, sizeof path, "/dev/loop%d", i);
        scoped(fd_scoped) int loop = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
        if (loop < 0)
            return loop;
        if (ioctl(loop, LOOP_CONFIGURE, &config) == 0)
            return take_fd(&loop);
        if (errno != EBUSY) /* another process was faster */
            return -errno;
    }
    return -EBUSY;
}

static int mount_erofs_loops(const int *fds, size_t n, const char *target,
                             const struct mount_opts *opts)
{
    scoped(free_scoped) int *loops = xnew_n(int, n);
    scoped(fd_scoped) int control = sys_openat(AT_FDCWD, "/dev/loop-control", O_RDWR, 0);
    size_t n_loops = 0;
    int r = control < 0 ? control : 0;
    while (r >= 0 && n_loops < n) {
        r = make_loop(control, fds[n_loops]);
        if (r >= 0)
            loops[n_loops++] = r;
    }
    r = r < 0 ? r : mount_erofs_fds(loops, n, target, opts);
    for (size_t i = 0; i < n_loops; i++)
        (void)close(loops[i]);
    return r;
}

int mount_erofs(int image_fd, const int *device_fds, size_t n_devices, const char *target,
                const struct mount_opts *opts, struct err *err)
{
    scoped(free_scoped) int *fds = xnew_n(int, n_devices + 1);
    fds[0] = image_fd;
    for (size_t i = 0; i < n_devices; i++)
        fds[i + 1] = device_fds[i];
    int r = opts->by_loop ? -ENOTBLK : mount_erofs_fds(fds, n_devices + 1, target, opts);
    if (r == -ENODEV)
        return err_set(err, E_UNSUPPORTED, "this kernel has no EROFS");
    if (r != -ENOTBLK)
        return r < 0 ? failed(r, "an EROFS image", err) : 0;
    r = mount_erofs_loops(fds, n_devices + 1, target, opts);
    return r < 0
               ? err_sys(err, E_UNSUPPORTED,
                         "this kernel mounts no EROFS image in a file, nor over loop devices (%s)",
                         err_strerror(r))
               : 0;
}

/* ---- overlay ---- */

static const char *const overlay_options[][2] = {
    { "index", "off" },
    { "xino", "off" },
    { "metacopy", "off" },
    { "redirect_dir", "off" },
};
/* What finds content in data directories. */
static const char *const data_options[][2] = {
    { "index", "off" },
    { "xino", "off" },
    { "metacopy", "on" },
    { "redirect_dir", "on" },
};

static const char *const *option(const struct mount_overlay *o, size_t i)
{
    return o->n_data && !o->is_user ? data_options[i] : overlay_options[i];
}

/* With "userxattr" the kernel rejects the last option, which is implied, and with data layers the
 * one before. */
static size_t n_options(const struct mount_overlay *o)
{
    return ARRAY_LEN(overlay_options) - o->is_user - (o->is_user && o->n_data);
}

static int set_overlay(int fs, const struct mount_overlay *o)
{
    int r = 0;
    for (size_t i = 0; i < o->n_lowers && r >= 0; i++)
        r = set_fd(fs, "lowerdir+", o->lower_fds[i]);
    for (size_t i = 0; i < o->n_data && r >= 0; i++)
        r = set_fd(fs, "datadir+", o->data_fds[i]);
    for (size_t i = 0; i < n_options(o) && r >= 0; i++)
        r = set_string(fs, option(o, i)[0], option(o, i)[1]);
    if (r >= 0 && o->upper_fd >= 0) {
        r = set_fd(fs, "upperdir", o->upper_fd);
        r = r < 0 ? r : set_fd(fs, "workdir", o->work_fd);
    }
    if (r >= 0 && o->is_volatile && fsconfig(fs, FSCONFIG_SET_FLAG, "volatile", NULL, 0) < 0)
        r = -errno;
    if (r >= 0 && o->is_user && fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) < 0)
        r = -errno;
    return r;
}

/* For kernels before 6.8, which have no lowerdir+: those before 6.5 say so when they mount. */
static int mount_by_text(const struct mount_overlay *o, const char *target,
                         const struct mount_opts *opts, struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OPTIONS_MAX);
    char path[FD_PATH_SIZE];
    for (size_t i = 0; i < o->n_lowers; i++) {
        fd_path(o->lower_fds[i], path);
        (void)buf_printf(&b, "%s%s", i ? ":" : "lowerdir=", path);
    }
    for (size_t i = 0; i < o->n_data; i++) {
        fd_path(o->data_fds[i], path);
        (void)buf_printf(&b, "::%s", path);
    }
    for (size_t i = 0; i < n_options(o); i++)
        (void)buf_printf(&b, ",%s=%s", option(o, i)[0], option(o, i)[1]);
    if (o->upper_fd >= 0) {
        fd_path(o->upper_fd, path);
        (void)buf_printf(&b, ",upperdir=%s", path);
        fd_path(o->work_fd, path);
        (void)buf_printf(&b, ",workdir=%s", path);
    }
    (void)buf_printf(&b, "%s%s", o->is_volatile ? ",volatile" : "", o->is_user ? ",userxattr" : "");
    if (!buf_ok(&b))
        return err_set(err, E_LIMIT, "this kernel takes fewer than %zu layers", o->n_lowers);
    unsigned long flags = (opts->is_read_only ? MS_RDONLY : 0ul) |
                          (opts->has_suid ? 0ul : (unsigned long)(MS_NOSUID | MS_NODEV));
    return mount("overlay", target, "overlay", flags, buf_cstr(&b)) < 0
               ? failed(-errno, "an overlay", err)
               : 0;
}

static int bind(int fd, const char *target, const struct mount_opts *opts, struct err *err)
{
    struct mount_attr attr = { .attr_set = attributes(opts) };
    scoped(fd_scoped) int mnt =
        open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
    if (mnt < 0 || mount_setattr(mnt, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0 ||
        move_mount(mnt, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return failed(-errno, "a directory", err);
    return 0;
}

int mount_overlay(const struct mount_overlay *o, const char *target, const struct mount_opts *opts,
                  struct err *err)
{
    struct mount_opts own = *opts;
    assert(o->n_lowers && (o->upper_fd < 0) == (o->work_fd < 0));
    own.is_read_only = opts->is_read_only || o->upper_fd < 0;
    if (o->n_lowers == 1 && o->upper_fd < 0 && o->n_data == 0)
        return bind(o->lower_fds[0], target, &own, err);
    scoped(fd_scoped) int fs = fsopen("overlay", FSOPEN_CLOEXEC);
    if (fs < 0)
        return failed(-errno, "an overlay", err);
    int r = own.by_text ? -EINVAL : set_overlay(fs, o);
    r = r < 0 ? r : attach(fs, target, &own);
    if (r == -EINVAL)
        return mount_by_text(o, target, &own, err);
    return r < 0 ? failed(r, "an overlay", err) : 0;
}

/* ---- FUSE ---- */

int mount_fuse(int fuse_fd, const char *target, unsigned max_read, struct err *err)
{
    const struct mount_opts opts = { .is_read_only = true };
    char fd[16], user[16], group[16], most[16];
    (void)snprintf(fd, sizeof fd, "%d", fuse_fd);
    (void)snprintf(user, sizeof user, "%u", geteuid());
    (void)snprintf(group, sizeof group, "%u", getegid());
    (void)snprintf(most, sizeof most, "%u", max_read);
    const char *const pairs[][2] = { { "source", "dormouse" }, { "fd", fd },
                                     { "rootmode", "40000" },  { "user_id", user },
                                     { "group_id", group },    { "max_read", most } };
    scoped(fd_scoped) int fs = fsopen("fuse", FSOPEN_CLOEXEC);
    int r = fs < 0 ? -errno : 0;
    for (size_t i = 0; i < ARRAY_LEN(pairs) && r >= 0; i++)
        r = set_string(fs, pairs[i][0], pairs[i][1]);
    if (r >= 0 && fsconfig(fs, FSCONFIG_SET_FLAG, "default_permissions", NULL, 0) < 0)
        r = -errno;
    if (r >= 0 && fsconfig(fs, FSCONFIG_SET_FLAG, "ro", NULL, 0) < 0)
        r = -errno;
    r = r < 0 ? r : attach(fs, target, &opts);
    if (r == -ENODEV)
        return err_set(err, E_UNSUPPORTED, "this kernel has no FUSE");
    return r < 0 ? failed(r, "files that are fetched when they are opened", err) : 0;
}

/* ---- what this kernel can ---- */

static const char PROBE[EROFS_BLOCK_BYTES] = "yes";

/* An image with one file, whose first bytes are the PROBE's: of a device, or of an object. */
static int write_probe(int image_fd, bool has_objects, struct err *err)
{
    const uint64_t bytes = sizeof PROBE;
    struct oci_layer *layer = xnew(struct oci_layer);
    struct oci_entry file = { .path = STR("f"), .type = TAR_FILE, .size = 3, .mode = 0400 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(EROFS_IMAGE_MAX);
    struct erofs_counts counts;
    struct oci_tree tree;
    sha256_of(str_n(PROBE, 3), file.digest);
    vec_push(&layer->entries, file);
    oci_tree_init(&tree, OCI_SYMLINK_PARENT_REFUSE);
    int r = oci_tree_apply(&tree, layer, err);
    const struct erofs_layer with = { .layer = layer,
                                      .device = !has_objects,
                                      .has_objects = has_objects };
    const struct erofs_image image = {
        .tree = &tree,
        .layers = &with,
        .n_layers = 1,
        .device_bytes = &bytes,
        .n_devices = !has_objects,
    };
    r = r < 0 ? r : erofs_write(&image, &out, &counts, err);
    r = r < 0 ? r : sys_write_all(image_fd, out.p, out.n);
    oci_tree_fini(&tree);
    oci_layer_free(layer);
    return r;
}

static bool reads_probe(int dir_fd)
{
    char text[4] = "";
    scoped(fd_scoped) int fd = sys_openat(dir_fd, "mnt/f", O_RDONLY, 0);
    return fd >= 0 && sys_pread_full(fd, text, 3, 0) == 3 && strcmp(text, "yes") == 0;
}

/* Mount the image at "mnt", which holds its file. */
static int mount_probe(int dir_fd, const char *path, bool has_objects)
{
    const struct mount_opts opts = { .is_read_only = true };
    scoped(fd_scoped) int image = sys_openat(dir_fd, "image", O_RDWR | O_CREAT | O_EXCL, 0600);
    scoped(fd_scoped) int device = sys_openat(dir_fd, "device", O_RDWR | O_CREAT | O_EXCL, 0600);
    int r = image < 0 ? image : device < 0 ? device : write_probe(image, has_objects, NULL);
    r = r < 0 ? r : sys_write_all(device, PROBE, sizeof PROBE);
    return r < 0 ? r : mount_erofs(image, &device, !has_objects, path, &opts, NULL);
}

/* "ab/<hex>" of the file. */
static int write_probe_object(int dir_fd, bool is_there)
{
    uint8_t digest[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE], dir[3] = "", path[sizeof dir + sizeof hex];
    sha256_of(str_n(PROBE, 3), digest);
    hex_format(digest, sizeof digest, hex);
    memcpy(dir, hex, 2);
    (void)snprintf(path, sizeof path, "%s/%s", dir, hex);
    if (is_there) {
        (void)unlinkat(dir_fd, path, 0);
        return unlinkat(dir_fd, dir, AT_REMOVEDIR) < 0 ? -errno : 0;
    }
    if (mkdirat(dir_fd, dir, 0700) < 0)
        return -errno;
    scoped(fd_scoped) int fd = sys_openat(dir_fd, path, O_WRONLY | O_CREAT | O_EXCL, 0400);
    return fd < 0 ? fd : sys_write_all(fd, PROBE, 3);
}

/* The overlay of "mnt" and the objects, there too. */
static bool overlay_probe(int dir_fd, const char *path)
{
    const struct mount_opts opts = { .is_read_only = true };
    scoped(fd_scoped) int lower = sys_openat(dir_fd, "mnt", O_RDONLY | O_DIRECTORY, 0);
    const struct mount_overlay o = { .lower_fds = &lower,
                                     .n_lowers = 1,
                                     .data_fds = &dir_fd,
                                     .n_data = 1,
                                     .upper_fd = -1,
                                     .work_fd = -1 };
    if (lower < 0 || write_probe_object(dir_fd, false) < 0 ||
        mount_overlay(&o, path, &opts, NULL) < 0)
        return false;
    bool can = reads_probe(dir_fd);
    (void)umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
    return can;
}

static bool can_mount(int dir_fd, bool has_objects)
{
    bool can = false;
    char path[FD_PATH_SIZE + 8];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d/mnt", dir_fd);
    if (mkdirat(dir_fd, "mnt", 0700) == 0 && mount_probe(dir_fd, path, has_objects) >= 0) {
        can = has_objects ? overlay_probe(dir_fd, path) : reads_probe(dir_fd);
        (void)umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
    }
    if (has_objects)
        (void)write_probe_object(dir_fd, true);
    (void)unlinkat(dir_fd, "mnt", AT_REMOVEDIR);
    (void)unlinkat(dir_fd, "image", 0);
    (void)unlinkat(dir_fd, "device", 0);
    return can;
}

bool mount_can_erofs(int dir_fd)
{
    return can_mount(dir_fd, false);
}

bool mount_can_objects(int dir_fd)
{
    return can_mount(dir_fd, true);
}

int mount_remove(const char *target, struct err *err)
{
    return umount2(target, UMOUNT_NOFOLLOW) < 0 ? err_sys(err, -errno, "unmount '%s'", target) : 0;
}

bool mount_is_point(const char *target)
{
    struct statx x;
    /* A file system whose process has ended does not answer. */
    return statx(AT_FDCWD, target, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, 0,
                 &x) == 0 &&
           (x.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}
