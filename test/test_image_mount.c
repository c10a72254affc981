/* SPDX-License-Identifier: Apache-2.0 */
/* The mounts of image/mount.h, in a mount namespace of this process. */
#include "image/mount.h"

#include "base/sys.h"
#include "base/tree_remove.h"
#include "image/erofs.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char CONTENT[EROFS_BLOCK_BYTES] = "what the file has";

struct place {
    char root[64];
    int fd;
};

/* false: this process cannot mount. */
static bool place_init(struct place *p)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return false;
    (void)snprintf(p->root, sizeof p->root, "/tmp/mount-XXXXXX");
    CHECK(mkdtemp(p->root));
    p->fd = open(p->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(p->fd >= 0);
    CHECK_INT(mkdirat(p->fd, "at", 0700), 0);
    CHECK_INT(mkdirat(p->fd, "probe", 0700), 0);
    return true;
}

static void place_fini(struct place *p)
{
    (void)close(p->fd);
    CHECK_OK(tree_remove(AT_FDCWD, p->root, NULL));
}

static int new_file(const struct place *p, const char *name, struct str content)
{
    int fd = sys_openat(p->fd, name, O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK(fd >= 0);
    CHECK_OK(sys_write_all(fd, content.p, content.n));
    return fd;
}

/* An image with the file "f", whose content is the device's. */
static int new_image(const struct place *p)
{
    struct oci_layer layer = { 0 };
    struct oci_entry file = { .path = STR("f"), .type = TAR_FILE, .size = 17, .mode = 0640 };
    const uint64_t bytes = sizeof CONTENT;
    const struct erofs_layer with = { .layer = &layer, .device = 1 };
    struct oci_tree tree;
    struct erofs_counts counts;
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(EROFS_IMAGE_MAX);
    vec_push(&layer.entries, file);
    oci_tree_init(&tree, OCI_SYMLINK_PARENT_REFUSE);
    CHECK_OK(oci_tree_apply(&tree, &layer, NULL));
    const struct erofs_image image = {
        .tree = &tree, .layers = &with, .n_layers = 1, .device_bytes = &bytes, .n_devices = 1
    };
    CHECK_OK(erofs_write(&image, &out, &counts, NULL));
    oci_tree_fini(&tree);
    vec_fini(&layer.entries);
    return new_file(p, "image", buf_str(&out));
}

TEST(an_erofs_image_is_mounted_over_loop_devices_that_end_with_it)
{
    struct place p;
    struct err err = { 0 };
    struct stat st;
    char text[32] = "";
    if (!place_init(&p))
        SKIP("no mounts here");
    scoped(fd_scoped) int image = new_image(&p);
    scoped(fd_scoped) int device = new_file(&p, "device", str_n(CONTENT, sizeof CONTENT));
    const struct mount_opts opts = { .is_read_only = true, .by_loop = true };
    scoped(free_scoped) char *at = xasprintf("%s/at", p.root);
    int r = mount_erofs(image, &device, 1, at, &opts, &err);
    if (r == E_UNSUPPORTED) {
        CHECK(strstr(err_text(&err), "loop devices") || strstr(err_text(&err), "EROFS"));
        place_fini(&p);
        SKIP("no EROFS images over loop devices here");
    }
    CHECK_OK(r);
    scoped(fd_scoped) int fd = sys_openat(p.fd, "at/f", O_RDONLY, 0);
    CHECK(fd >= 0);
    CHECK_INT(sys_pread_full(fd, text, sizeof text, 0), 17);
    CHECK_STR(str_n(text, 17), "what the file has");
    CHECK_INT(fstat(fd, &st), 0);
    CHECK_INT(st.st_mode, S_IFREG | 0640);
    (void)close(take_fd(&fd));
    CHECK_OK(mount_remove(at, NULL));
    CHECK(!mount_is_point(at));
    place_fini(&p);
}

static int new_dir(const struct place *p, const char *name)
{
    CHECK_INT(mkdirat(p->fd, name, 0755), 0);
    int fd = sys_openat(p->fd, name, O_RDONLY | O_DIRECTORY, 0);
    CHECK(fd >= 0);
    return fd;
}

static void check_content(const struct place *p, const char *name, const char *want)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(64);
    CHECK_OK(sys_read_file(p->fd, name, &b, NULL));
    CHECK_STR(buf_str(&b), want);
}

/* Two directories, the first above the second; writable over the two others. */
static void check_overlay(const struct mount_opts *opts)
{
    struct place p;
    struct err err = { 0 };
    if (!place_init(&p))
        SKIP("no mounts here");
    scoped(fd_scoped) int top = new_dir(&p, "top"), bottom = new_dir(&p, "bottom");
    scoped(fd_scoped) int upper = new_dir(&p, "upper"), work = new_dir(&p, "work");
    (void)close(new_file(&p, "top/f", STR("top")));
    (void)close(new_file(&p, "bottom/f", STR("bottom")));
    (void)close(new_file(&p, "bottom/g", STR("below")));
    const int lowers[] = { top, bottom };
    scoped(free_scoped) char *at = xasprintf("%s/at", p.root);
    for (int is_writable = 0; is_writable < 2; is_writable++) {
        const struct mount_overlay o = {
            .lower_fds = lowers,
            .n_lowers = 2,
            .upper_fd = is_writable ? upper : -1,
            .work_fd = is_writable ? work : -1,
            .is_volatile = is_writable,
        };
        CHECK_OK(mount_overlay(&o, at, opts, &err));
        check_content(&p, "at/f", "top");
        check_content(&p, "at/g", "below");
        int fd = sys_openat(p.fd, "at/new", O_WRONLY | O_CREAT, 0600);
        CHECK_INT(fd >= 0 ? 0 : fd, is_writable ? 0 : -EROFS);
        if (fd >= 0)
            (void)close(fd);
        CHECK_OK(mount_remove(at, &err));
    }
    CHECK_INT(faccessat(p.fd, "upper/new", F_OK, 0), 0);
    place_fini(&p);
}

TEST(directories_are_stacked)
{
    check_overlay(&(struct mount_opts){ .is_read_only = false });
}

TEST(directories_are_stacked_by_kernels_that_take_them_as_text)
{
    check_overlay(&(struct mount_opts){ .by_text = true });
}

TEST(more_directories_than_fit_into_the_text_are_refused)
{
    enum { MANY = 400 };
    struct place p;
    struct err err = { 0 };
    int lowers[MANY];
    if (!place_init(&p))
        SKIP("no mounts here");
    scoped(fd_scoped) int dir = new_dir(&p, "dir");
    for (size_t i = 0; i < MANY; i++)
        lowers[i] = dir;
    const struct mount_overlay o = {
        .lower_fds = lowers, .n_lowers = MANY, .upper_fd = -1, .work_fd = -1
    };
    scoped(free_scoped) char *at = xasprintf("%s/at", p.root);
    CHECK_ERR(mount_overlay(&o, at, &(struct mount_opts){ .by_text = true }, &err), E_LIMIT);
    CHECK_STR(str_of(err_text(&err)), "this kernel takes fewer than 400 layers");
    CHECK(!mount_is_point(at));
    place_fini(&p);
}

TEST(the_probes_leave_nothing_behind)
{
    struct place p;
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    if (!place_init(&p))
        SKIP("no mounts here");
    scoped(fd_scoped) int dir = sys_openat(p.fd, "probe", O_RDONLY | O_DIRECTORY, 0);
    bool can = mount_can_erofs(dir), can_objects = mount_can_objects(dir);
    CHECK(can || !can_objects);
    CHECK_INT(mount_can_objects(dir), can_objects);
    CHECK_OK(tree_names_read(dir, &names, NULL));
    CHECK_INT(names.all.n, 0);
    place_fini(&p);
}

TEST_MAIN
