/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image mount and umount: the root file system of an image at a directory. */
#include "base/buf.h"
#include "base/sys.h"
#include "cmd/image_args.h"
#include "codec/digest.h"
#include "image/root.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UID_MAP_MAX = 4096 };

static struct image_args args;
static bool is_rootless, is_writable, has_suid, is_not_durable;
static const char *sink, *data_dir;
static uint64_t max_bytes;

static const struct cmd_opt opts[] = {
    IMAGE_ARGS_OPTS(args),
    { "rw", 0, NULL, "writable; what is written is lost by umount", CMD_FLAG, &is_writable, 0, 0 },
    { "suid", 0, NULL, "let set-user-ID files and devices of the image work", CMD_FLAG, &has_suid,
      0, 0 },
    { "sink", 0, "KIND",
      "tarfs (tars with an EROFS image of their directories; Linux 6.12), dirs (files), or auto "
      "(auto)",
      CMD_STRING, &sink, 0, 0 },
    { "rootless", 0, NULL,
      "every file belongs to you and is not set-user-ID, devices are left out; with dirs", CMD_FLAG,
      &is_rootless, 0, 0 },
    { "max-layer-size", 0, "SIZE",
      "of an unpacked layer (100 times the packed one, at least 256Mi)", CMD_SIZE, &max_bytes, 0,
      0 },
    { "no-sync", 0, NULL, "do not wait until everything is on the disk", CMD_FLAG, &is_not_durable,
      0, 0 },
    { "data-dir", 0, "DIR", "where the content lies " CMD_DATA_DIR_DEFAULT, CMD_STRING, &data_dir,
      0, 0 },
    { .name = NULL }
};
static const struct cmd_opt umount_opts[] = { { "data-dir", 0, "DIR",
                                                "as it was given to mount " CMD_DATA_DIR_DEFAULT,
                                                CMD_STRING, &data_dir, 0, 0 },
                                              { .name = NULL } };

static const struct cmd_opt *image_mount_opts(void)
{
    return opts;
}

static const struct cmd_opt *image_umount_opts(void)
{
    return umount_opts;
}

/* The state of the mount at `target`: a directory named after its path. Given, free(). */
static int state_of(const char *target, char **ret_target, char **ret_state, struct err *err)
{
    uint8_t hash[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    struct stat st;
    scoped(free_scoped) char *real = realpath(target, NULL), *dir = cmd_data_dir(data_dir);
    if (!real || stat(real, &st) < 0)
        return err_sys(err, -errno, "'%s'", target);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, -ENOTDIR, "'%s' is no directory", target);
    scoped(free_scoped) char *mounts = xasprintf("%s/mounts", dir);
    int r = sys_mkdir_all(mounts, 0700, err);
    if (r < 0)
        return r;
    sha256_of(str_of(real), hash);
    hex_format(hash, sizeof hash, hex);
    *ret_state = xasprintf("%s/%s", mounts, hex);
    *ret_target = take_ptr(&real);
    return 0;
}

/* In a user namespace that does not map every user. */
static bool is_in_user_namespace(void)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(UID_MAP_MAX);
    return sys_read_file(-1, "/proc/self/uid_map", &b, NULL) >= 0 &&
           str_find(buf_str(&b), STR("4294967295")) < 0;
}

static int choose_sink(enum root_sink *ret)
{
    static const char *const words[] = { "auto", "tarfs", "dirs" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(str_of(sink ? sink : "auto"), words[i])) {
            *ret = (enum root_sink)i;
            return 0;
        }
    return cmd_failf(CMD_USAGE, "--sink is auto, tarfs or dirs, not '%s'", sink);
}

static int mount_image(const char *reference, const char *dir, enum root_sink how,
                       enum root_sink *ret, struct err *err)
{
    const bool is_user = is_in_user_namespace();
    const struct root_opts with = {
        .unpack = { .dir = { .form = is_user ? LAYER_DIR_OVERLAY_USER : LAYER_DIR_MERGED,
                             .symlink_parent = args.parent,
                             .is_rootless = is_rootless },
                    .max_bytes = max_bytes,
                    .is_not_durable = is_not_durable },
        .sink = is_rootless && how == ROOT_SINK_BEST ? ROOT_SINK_DIRS : how,
        .is_writable = is_writable,
        .has_suid = has_suid,
    };
    scoped(image_opened_fini_scoped) struct image_opened o = { 0 };
    scoped(free_scoped) char *state = NULL, *target = NULL;
    int r = state_of(dir, &target, &state, err);
    r = r < 0 ? r : image_open(&args, reference, &o, err);
    if (r < 0)
        return r;
    const struct unpack_from from = { &o.image, o.source, o.store };
    r = root_mount(&from, state, target, &with, ret, err);
    return r < 0 ? err_ctx(err, r, "image '%s'", reference) : 0;
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    enum root_sink how, used;
    int r = cmd_parse(&cmd_image_mount, opts, argc, argv, 2, &n);
    if (r)
        return r - 1;
    if (n != 2)
        return cmd_failf(CMD_USAGE,
                         "an image and a directory: 'dormouse image mount --help' says more");
    if ((r = image_args_check(&args)) != 0 || (r = choose_sink(&how)) != 0)
        return r;
    if (geteuid() != 0)
        return cmd_failf(CMD_FAILED, "mounting takes root, or a user namespace (unshare -Urm); "
                                     "'dormouse image unpack' needs neither");
    if (mount_image(argv[0], argv[1], how, &used, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    if (args.is_json)
        (void)printf("{\"sink\": \"%s\"}\n", used == ROOT_SINK_TARFS ? "tarfs" : "dirs");
    else
        (void)printf("mounted at %s (%s)\n", argv[1], used == ROOT_SINK_TARFS ? "tarfs" : "dirs");
    return CMD_OK;
}

static int run_umount(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    scoped(free_scoped) char *state = NULL, *target = NULL;
    int r = cmd_parse(&cmd_image_umount, umount_opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    if (n != 1)
        return cmd_failf(CMD_USAGE, "which directory? 'dormouse image umount --help' says more");
    r = state_of(argv[0], &target, &state, &err);
    r = r < 0 ? r : root_umount(state, target, &err);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_image_mount = {
    .name = "image mount",
    .args = "IMAGE DIR",
    .doc = "mount the root file system of an image at a directory",
    .help = IMAGE_REFERENCE_HELP
    "The layers are unpacked below the data directory and stay there until umount. With tarfs\n"
    "they stay tars, and the kernel reads files out of them, which is faster and removed at\n"
    "once; older kernels get files. Without --rw the mount is read-only. Set-user-ID files and\n"
    "devices have no effect without --suid, since the image may come from a stranger.\n"
    "\n"
    "  dormouse image mount oci:layout:v1 /mnt\n"
    "  dormouse image mount docker-archive:app.tar /mnt --rw\n"
    "  dormouse image umount /mnt\n",
    .run = run,
    .opts = image_mount_opts,
};

const struct cmd cmd_image_umount = {
    .name = "image umount",
    .args = "DIR",
    .doc = "undo image mount, with everything that was written there",
    .help = "Fails while something uses the directory, and then changes nothing.\n"
            "\n"
            "  dormouse image umount /mnt\n",
    .run = run_umount,
    .opts = image_umount_opts,
};
