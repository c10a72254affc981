/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image rm, tag, pin and unpin: names of images in the node store. */
#include "cmd/image_args.h"
#include "cmd/image_store.h"

enum { NAMES_MAX = 256 };

static struct image_store_args where;

static const struct cmd_opt opts[] = { IMAGE_STORE_OPT(where.store),
                                       IMAGE_STORE_WAIT_OPT(where.wait_ms),
                                       { .name = NULL } };

static const struct cmd_opt *image_names_opts(void)
{
    return opts;
}

static int change(enum store_job_kind kind, char **words, size_t n, const char *name)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct json *ignored;
    struct store_do j = { .opts = { .lock_ms = where.wait_ms, .must_exist = true },
                          .job = { .kind = kind,
                                   .images = arena_new_n(&a, struct str, n),
                                   .n_images = n,
                                   .name = str_of(name) } };
    for (size_t i = 0; i < n; i++)
        j.job.images[i] = str_of(words[i]);
    int r = image_store_do(where.store, &j, &a, &ignored, &err);
    arena_fini(&a);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

static int parse(const struct cmd *cmd, int argc, char **argv, size_t *ret_n)
{
    int r = cmd_parse(cmd, opts, argc, argv, NAMES_MAX, ret_n);
    if (r)
        return r;
    if (*ret_n == 0)
        return 1 + cmd_failf(CMD_USAGE, "no image is named; see 'dormouse %s --help'", cmd->name);
    return 0;
}

/* ---- rm ---- */

static int run_rm(int argc, char **argv)
{
    size_t n;
    int r = parse(&cmd_image_rm, argc, argv, &n);
    return r ? r - 1 : change(STORE_JOB_RM, argv, n, "");
}

const struct cmd cmd_image_rm = {
    .name = "image rm",
    .args = "IMAGE...",
    .doc = "remove names of images from the store",
    .help =
        "Layers stay until 'dormouse image gc'; containers and mounts can continue to use them.\n"
        "IMAGE is a name, or the beginning of a digest (12 digits or more).\n"
        "\n"
        "  dormouse image rm app:v1 && dormouse image gc\n",
    .run = run_rm,
    .opts = image_names_opts,
};

/* ---- tag ---- */

static int run_tag(int argc, char **argv)
{
    size_t n;
    int r = parse(&cmd_image_tag, argc, argv, &n);
    if (r)
        return r - 1;
    if (n != 2)
        return cmd_failf(CMD_USAGE, "an image and its new name are needed");
    return change(STORE_JOB_TAG, argv, 1, argv[1]);
}

const struct cmd cmd_image_tag = {
    .name = "image tag",
    .args = "IMAGE NAME",
    .doc = "give an image in the store another name",
    .help = "If another image has NAME, the name moves to this image.\n"
            "\n"
            "  dormouse image tag app:v1 app:stable\n",
    .run = run_tag,
    .opts = image_names_opts,
};

/* ---- pin, unpin ---- */

static int run_pin(int argc, char **argv)
{
    size_t n;
    int r = parse(&cmd_image_pin, argc, argv, &n);
    return r ? r - 1 : change(STORE_JOB_PIN, argv, n, "");
}

static int run_unpin(int argc, char **argv)
{
    size_t n;
    int r = parse(&cmd_image_unpin, argc, argv, &n);
    return r ? r - 1 : change(STORE_JOB_UNPIN, argv, n, "");
}

const struct cmd cmd_image_pin = {
    .name = "image pin",
    .args = "IMAGE...",
    .doc = "keep an image's layers, whatever the quota",
    .help =
        "Under a quota layers are evicted to make room for others; layers of pinned images are\n"
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
