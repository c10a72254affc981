/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image rm, tag, pin and unpin: names of images in the node store. */
#include "cmd/image_args.h"
#include "cmd/image_store.h"

#include <errno.h>

enum { NAMES_MAX = 256 };

static struct image_store_args where;

static const struct cmd_opt opts[] = { IMAGE_STORE_OPT(where.store),
                                       IMAGE_STORE_WAIT_OPT(where.wait_ms),
                                       { .name = NULL } };

static const struct cmd_opt *image_names_opts(void)
{
    return opts;
}

typedef int (*each_image)(struct oci_store *s, const struct oci_store_image *image, void *arg,
                          struct err *err);

/* Do it for each image that is named; every name is found before the first is changed. */
static int for_each(char **words, size_t n, each_image each, void *arg)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    scoped(image_store_close_scoped) struct oci_store *s = NULL;
    struct oci_store_image *images = xnew_n(struct oci_store_image, n);
    const struct oci_store_opts how = { .lock_ms = where.wait_ms, .must_exist = true };
    int r = image_store_open(where.store, how, &s, &err);
    for (size_t i = 0; i < n && r >= 0; i++)
        r = oci_store_image_find(s, str_of(words[i]), &a, &images[i], &err);
    for (size_t i = 0; i < n && r >= 0; i++)
        r = each(s, &images[i], arg, &err);
    free(images);
    arena_fini(&a);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

static int parse(const struct cmd *cmd, int argc, char **argv, size_t *ret_n)
{
    int r = cmd_parse(cmd, opts, argc, argv, NAMES_MAX, ret_n);
    if (r)
        return r;
    if (*ret_n == 0)
        return 1 + cmd_failf(CMD_USAGE, "which image? 'dormouse %s --help' says more", cmd->name);
    return 0;
}

/* ---- rm ---- */

static int remove_image(struct oci_store *s, const struct oci_store_image *image, void *arg,
                        struct err *err)
{
    (void)arg;
    int r = oci_store_image_remove(s, image->name, err);
    return r == -ENOENT ? 0 : r; /* named twice */
}

static int run_rm(int argc, char **argv)
{
    size_t n;
    int r = parse(&cmd_image_rm, argc, argv, &n);
    return r ? r - 1 : for_each(argv, n, remove_image, NULL);
}

const struct cmd cmd_image_rm = {
    .name = "image rm",
    .args = "IMAGE...",
    .doc = "remove names of images from the store",
    .help = "Layers stay until 'dormouse image gc'; containers and mounts that use them go on.\n"
            "IMAGE is a name, or the beginning of a digest (12 digits or more).\n"
            "\n"
            "  dormouse image rm app:v1 && dormouse image gc\n",
    .run = run_rm,
    .opts = image_names_opts,
};

/* ---- tag ---- */

static int tag_image(struct oci_store *s, const struct oci_store_image *image, void *arg,
                     struct err *err)
{
    struct oci_store_image as = *image;
    as.name = str_of(arg);
    as.is_pinned = false;
    return oci_store_image_put(s, &as, err);
}

static int run_tag(int argc, char **argv)
{
    size_t n;
    int r = parse(&cmd_image_tag, argc, argv, &n);
    if (r)
        return r - 1;
    if (n != 2)
        return cmd_failf(CMD_USAGE, "an image and its new name are needed");
    return for_each(argv, 1, tag_image, argv[1]);
}

const struct cmd cmd_image_tag = {
    .name = "image tag",
    .args = "IMAGE NAME",
    .doc = "give an image in the store another name",
    .help = "NAME is moved when another image has it.\n"
            "\n"
            "  dormouse image tag app:v1 app:stable\n",
    .run = run_tag,
    .opts = image_names_opts,
};

/* ---- pin, unpin ---- */

static int pin_image(struct oci_store *s, const struct oci_store_image *image, void *arg,
                     struct err *err)
{
    struct oci_store_image as = *image;
    as.is_pinned = arg != NULL;
    return oci_store_image_put(s, &as, err);
}

static int run_pin(int argc, char **argv)
{
    size_t n;
    int r = parse(&cmd_image_pin, argc, argv, &n);
    return r ? r - 1 : for_each(argv, n, pin_image, argv);
}

static int run_unpin(int argc, char **argv)
{
    size_t n;
    int r = parse(&cmd_image_unpin, argc, argv, &n);
    return r ? r - 1 : for_each(argv, n, pin_image, NULL);
}

const struct cmd cmd_image_pin = {
    .name = "image pin",
    .args = "IMAGE...",
    .doc = "keep an image's layers, whatever the quota",
    .help = "Under a quota layers are evicted to make room for others; those of pinned images are\n"
            "not.\n"
            "\n"
            "  dormouse image pin app:v1\n",
    .run = run_pin,
    .opts = image_names_opts,
};

const struct cmd cmd_image_unpin = {
    .name = "image unpin",
    .args = "IMAGE...",
    .doc = "let a quota evict an image's layers again",
    .help = "  dormouse image unpin app:v1\n",
    .run = run_unpin,
    .opts = image_names_opts,
};
