/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image mount and umount: the root file system of an image at a directory. */
#include "base/buf.h"
#include "base/sys.h"
#include "cmd/image_mounting.h"
#include "codec/digest.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAIT_MS = 60 * 1000 };

static struct image_args args;
static bool is_rootless, is_writable, has_suid, is_not_durable, wants_original;
static const char *sink, *data_dir;
static uint64_t max_bytes, wait_ms = WAIT_MS;

#define WAIT_OPT                                                                                   \
    {                                                                                              \
        "wait", 0, "DURATION", "how long to wait for another process that writes the store (1m)",  \
            CMD_DURATION, &wait_ms, 0, 0                                                           \
    }

static const struct cmd_opt opts[] = {
    IMAGE_ARGS_OPTS(args),
    IMAGE_ORIGINAL_OPT(wants_original),
    { "rw", 0, NULL, "writable; umount discards what was written", CMD_FLAG, &is_writable, 0, 0 },
    { "suid", 0, NULL, "allow set-user-ID files and devices of the image", CMD_FLAG, &has_suid, 0,
      0 },
    { "sink", 0, "KIND",
      "tarfs (tars with an EROFS image of their directories; Linux 6.12, or 6.4 with loop "
      "devices), "
      "layers (the same, each layer mounted once for all images), cas (each file once for all; "
      "Linux 6.5), dirs (files), or auto (auto)",
      CMD_STRING, &sink, 0, 0 },
    { "rootless", 0, NULL,
      "every file belongs to you and is not set-user-ID, devices are left out; with dirs", CMD_FLAG,
      &is_rootless, 0, 0 },
    { "max-layer-size", 0, "SIZE",
      "maximum size of an uncompressed layer (100 times the compressed size, at least 256Mi)",
      CMD_SIZE, &max_bytes, 0, 0 },
    { "no-sync", 0, NULL, "do not wait until everything is on the disk", CMD_FLAG, &is_not_durable,
      0, 0 },
    { "data-dir", 0, "DIR", "where the content lies " CMD_DATA_DIR_DEFAULT, CMD_STRING, &data_dir,
      0, 0 },
    WAIT_OPT,
    { .name = NULL }
};
static const struct cmd_opt umount_opts[] = { { "data-dir", 0, "DIR",
                                                "as it was given to mount " CMD_DATA_DIR_DEFAULT,
                                                CMD_STRING, &data_dir, 0, 0 },
                                              WAIT_OPT,
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
        return err_set(err, -ENOTDIR, "'%s' is not a directory", target);
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

static const char *const sinks[] = {
    [ROOT_SINK_BEST] = "auto",     [ROOT_SINK_TARFS] = "tarfs", [ROOT_SINK_DIRS] = "dirs",
    [ROOT_SINK_LAYERS] = "layers", [ROOT_SINK_CAS] = "cas",
};

static int choose_sink(enum root_sink *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(sinks); i++)
        if (str_is(str_of(sink ? sink : "auto"), sinks[i])) {
            *ret = (enum root_sink)i;
            return 0;
        }
    return cmd_failf(CMD_USAGE, "--sink is auto, tarfs, layers, cas or dirs, not '%s'", sink);
}

static int mount_at(const char *dir, struct image_mounting *m, struct err *err)
{
    scoped(free_scoped) char *target = NULL, *state = NULL;
    int r = state_of(dir, &target, &state, err);
    m->target = target;
    m->state = state;
    r = r < 0 ? r : root_clear(state, target, wait_ms, err);
    return r < 0 ? r : image_mounting_mount(m, err);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    enum root_sink how;
    int r = cmd_parse(&cmd_image_mount, opts, argc, argv, 2, &n);
    if (r)
        return r - 1;
    if (n != 2)
        return cmd_failf(CMD_USAGE,
                         "an image and a directory are needed; see 'dormouse image mount --help'");
    if ((r = image_args_check(&args)) != 0 || (r = choose_sink(&how)) != 0)
        return r;
    if (geteuid() != 0)
        return cmd_failf(CMD_FAILED, "mounting needs root or a user namespace (unshare -Urm); "
                                     "'dormouse image unpack' needs neither");
    scoped(free_scoped) char *store = image_mounting_store(args.store, data_dir);
    args.store = store;
    scoped(image_mounting_fini_scoped) struct image_mounting m = {
        .args = &args,
        .reference = argv[0],
        .sink = how,
        .max_bytes = max_bytes,
        .wait_ms = wait_ms,
        .is_rootless = is_rootless,
        .is_writable = is_writable,
        .has_suid = has_suid,
        .wants_original = wants_original,
        .is_not_durable = is_not_durable,
    };
    if (mount_at(argv[1], &m, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    const char *sink_word = sinks[m.used];
    if (how == ROOT_SINK_TARFS && m.used == ROOT_SINK_CAS)
        (void)fprintf(stderr, "warning: the store keeps files of this image and no tars: mounted "
                              "as by --sink cas; 'dormouse image pull --form raw' keeps tars\n");
    if (args.is_json)
        (void)printf("{\"sink\": \"%s\", \"fromStore\": %s}\n", sink_word,
                     m.is_stored ? "true" : "false");
    else
        (void)printf("mounted at %s (%s%s)\n", argv[1], sink_word,
                     m.is_stored ? ", from the store" : "");
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
        return cmd_failf(CMD_USAGE, "no directory is named; see 'dormouse image umount --help'");
    r = state_of(argv[0], &target, &state, &err);
    r = r < 0 ? r : root_umount(state, target, wait_ms, &err);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_image_mount = {
    .name = "image mount",
    .args = "IMAGE DIR",
    .doc = "mount the root file system of an image at a directory",
    .help = IMAGE_REFERENCE_HELP
    "With tarfs the kernel reads files from the tars in the store. An image that is not in\n"
    "the store is pulled first, without a name ('image pull' gives one), and a second mount\n"
    "takes milliseconds. Until umount, or the next start of the machine, neither 'image gc'\n"
    "nor a quota removes its layers. Layers of which the store keeps only the compressed\n"
    "blob, tars that end within a block, and sparse files need a copy, which umount removes.\n"
    "Older kernels use files (dirs); files of an image in the store are hard links to those\n"
    "of other mounts.\n"
    "\n"
    "With --sink cas the store keeps each file once, for all images and layers that have it,\n"
    "and mounts share memory for it. Layers that were kept as tars become such files; 'image\n"
    "pull --form cas' keeps them in this form from the start. --sink tarfs mounts an image of\n"
    "this form in the same way, and 'image run --record' refuses it until 'image pull --form\n"
    "raw'.\n"
    "\n"
    "Without --rw the mount is read-only. Set-user-ID files and devices have no effect\n"
    "without --suid, because the image may come from a stranger. If a server has the store\n"
    "open, it pulls the image, protects it for the mount, and writes what the kernel needs.\n"
    "In this case --sink dirs makes a copy, as it does after --wait while another process\n"
    "writes the store. --sink layers is only possible when no other process writes the store.\n"
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
    .help = "Fails without a change while a process uses the directory.\n"
            "\n"
            "  dormouse image umount /mnt\n",
    .run = run_umount,
    .opts = image_umount_opts,
};
