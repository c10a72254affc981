/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image unpack: an image as a root file system in a directory. */
#include "cmd/image_args.h"
#include "image/unpack.h"

#include <stdio.h>

static struct image_args args;
static bool is_rootless, is_not_durable, has_layers;
static uint64_t max_bytes;

static const struct cmd_opt opts[] = {
    IMAGE_ARGS_OPTS(args),
    { "rootless", 0, NULL, "every file belongs to you and is not set-user-ID, devices are left out",
      CMD_FLAG, &is_rootless, 0, 0 },
    { "layers", 0, NULL,
      "each layer in a directory of its own, as overlayfs expects it: DIR/0 is the lowest",
      CMD_FLAG, &has_layers, 0, 0 },
    { "max-layer-size", 0, "SIZE",
      "maximum size of an uncompressed layer (100 times the compressed size, at least 256Mi)",
      CMD_SIZE, &max_bytes, 0, 0 },
    { "no-sync", 0, NULL, "do not wait until everything is on the disk", CMD_FLAG, &is_not_durable,
      0, 0 },
    { .name = NULL }
};

static const struct cmd_opt *image_unpack_opts(void)
{
    return opts;
}

static int unpack(const char *reference, const char *dir, struct layer_dir_counts *ret,
                  struct err *err)
{
    const struct unpack_opts how = {
        .dir = { .form = has_layers ? LAYER_DIR_OVERLAY : LAYER_DIR_MERGED,
                 .symlink_parent = args.parent,
                 .is_rootless = is_rootless },
        .max_bytes = max_bytes,
        .is_not_durable = is_not_durable,
    };
    scoped(image_opened_fini_scoped) struct image_opened o = { 0 };
    int r = image_open(&args, reference, &o, err);
    if (r < 0)
        return r;
    const struct unpack_from from = { &o.image, o.source, o.store };
    r = (has_layers ? unpack_layers : unpack_image)(&from, dir, &how, ret, err);
    return r < 0 ? err_ctx(err, r, "image '%s'", reference) : 0;
}

static void print(const char *dir, const struct layer_dir_counts *n)
{
    if (n->devices)
        (void)fprintf(stderr, "warning: %llu devices were left out\n",
                      (unsigned long long)n->devices);
    if (n->xattrs)
        (void)fprintf(stderr, "warning: %llu attributes that '%s' cannot hold were left out\n",
                      (unsigned long long)n->xattrs, dir);
    if (args.is_json)
        (void)printf("{\"entries\": %llu, \"bytes\": %llu, \"devicesLeftOut\": %llu, "
                     "\"xattrsLeftOut\": %llu}\n",
                     (unsigned long long)n->entries, (unsigned long long)n->bytes,
                     (unsigned long long)n->devices, (unsigned long long)n->xattrs);
    else
        (void)printf("%llu entries, %s in %s\n", (unsigned long long)n->entries,
                     image_size_text(n->bytes), dir);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct layer_dir_counts counts;
    int r = cmd_parse(&cmd_image_unpack, opts, argc, argv, 2, &n);
    if (r)
        return r - 1;
    if (n != 2)
        return cmd_failf(CMD_USAGE,
                         "an image and a directory are needed; see 'dormouse image unpack --help'");
    if ((r = image_args_check(&args)) != 0)
        return r;
    if (unpack(argv[0], argv[1], &counts, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    print(argv[1], &counts);
    return CMD_OK;
}

const struct cmd cmd_image_unpack = {
    .name = "image unpack",
    .args = "IMAGE DIR",
    .doc = "write the root file system of an image into a new directory",
    .help = IMAGE_REFERENCE_HELP
    "DIR must not exist, or must be empty. It appears when everything is written and every\n"
    "digest was correct; an error or a kill leaves nothing of it. Owners and devices need\n"
    "root; --rootless does without them. No entry of a hostile image reaches a file outside\n"
    "of DIR, and a confined process without files and network parses its layers.\n"
    "\n"
    "  dormouse image unpack oci:layout:v1 rootfs\n"
    "  dormouse image unpack docker-archive:app.tar /srv/app --platform linux/arm64\n",
    .run = run,
    .opts = image_unpack_opts,
};
