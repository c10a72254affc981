/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image delta: what a version update needs, made in advance and kept in the registry. */
#include "cmd/image_args.h"
#include "cmd/image_store.h"
#include "codec/json.h"
#include "image/delta.h"

#include <errno.h>
#include <stdio.h>

#define DOCKER "docker://"

static struct image_store_args where;
static struct oci_remote_opts registry;
static const char *from, *platform;

static const struct cmd_opt opts[] = {
    { "from", 0, "IMAGE", "the older version, in the store", CMD_STRING, &from, 0, 0 },
    { "platform", 0, "OS/ARCH", "of an image for several platforms (this machine's)", CMD_STRING,
      &platform, 0, 0 },
    IMAGE_STORE_OPT(where.store),
    IMAGE_TEXT_OUTPUT_OPT(where.output),
    IMAGE_REGISTRY_OPTS(registry),
    IMAGE_STORE_WAIT_OPT(where.wait_ms),
    { .name = NULL },
};

static const struct cmd_opt *image_delta_opts(void)
{
    return opts;
}

static int load_older(struct oci_store *s, struct arena *a, struct oci_config *ret, struct err *err)
{
    struct oci_store_image image;
    struct oci_manifest manifest;
    int r = oci_store_image_find(s, str_of(from), a, &image, err);
    return r < 0 ? r : oci_store_image_load(s, &image.manifest, a, &manifest, ret, err);
}

/* It is only read, but what is not leased stays for certain while no other process writes it. */
static int open_store(struct oci_store **ret, struct err *err)
{
    struct err why = { 0 };
    const struct oci_store_opts alone = { .lock_ms = where.wait_ms,
                                          .is_hasty = true,
                                          .must_exist = true };
    int r = image_store_open(where.store, alone, ret, &why);
    if (r == -EBUSY)
        return image_store_open(where.store, (struct oci_store_opts){ .is_reader = true }, ret,
                                err);
    return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
}

static int push(const char *reference, const struct oci_platform *wanted,
                struct image_deltas_result *ret, struct err *err)
{
    struct arena a = { 0 };
    struct oci_image image;
    struct oci_config older;
    struct oci_reference ref;
    scoped(oci_source_free_scoped) struct oci_source *source = NULL;
    scoped(image_store_close_scoped) struct oci_store *s = NULL;
    scoped(oci_remote_free_scoped) struct oci_remote *to = NULL;
    struct str target = str_of(reference + strlen(DOCKER));
    int r = oci_reference_parse(target, &ref, err);
    r = r < 0 ? r : open_store(&s, err);
    r = r < 0 ? r : load_older(s, &a, &older, err);
    r = r < 0 ? r : oci_source_open_with(str_of(reference), &registry, &source, err);
    r = r < 0 ? r : oci_source_image(source, wanted, &image, err);
    r = r < 0 ? r : oci_remote_open(&ref, &registry, &to, err);
    const struct image_deltas_opts how = {
        .store = s, .image = &image, .from = older.diff_ids, .n_from = older.n_diff_ids
    };
    r = r < 0 ? r : image_deltas_push(&how, to, ret, err);
    arena_fini(&a);
    return r;
}

static void print(const struct image_deltas_result *res, bool is_json)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    struct arena a = { 0 };
    oci_digest_format(&res->manifest, digest);
    if (is_json) {
        struct json *v = json_new_object(&a);
        json_set_str(&a, v, "digest", str_of(digest));
        json_set_int(&a, v, "layers", (int64_t)res->n_layers);
        json_set_int(&a, v, "layersCommon", (int64_t)res->n_common);
        json_set_int(&a, v, "layersLeft", (int64_t)res->n_left);
        json_set_int(&a, v, "bytes", (int64_t)res->n_bytes);
        json_set_int(&a, v, "blobBytes", (int64_t)res->n_blob_bytes);
        image_store_print_json(v);
    } else {
        (void)printf(
            "%s\n%zu layers, %s instead of %s; %zu in both versions, %zu without a delta\n", digest,
            res->n_layers, image_size_text(res->n_bytes), image_size_text(res->n_blob_bytes),
            res->n_common, res->n_left);
    }
    arena_fini(&a);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct image_deltas_result res;
    struct oci_platform wanted = oci_platform_here();
    int r = cmd_parse(&cmd_image_delta, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    if (n != 1 || !from || !str_has_prefix(str_of(argv[0]), STR(DOCKER)))
        return cmd_failf(
            CMD_USAGE,
            "docker://REFERENCE and --from IMAGE are needed; see 'dormouse image delta --help'");
    bool is_json;
    if ((r = image_text_output(where.output, &is_json)) != 0)
        return r;
    if (platform && oci_platform_parse(str_of(platform), &wanted, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    if (push(argv[0], &wanted, &res, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    print(&res, is_json);
    return CMD_OK;
}

const struct cmd cmd_image_delta = {
    .name = "image delta",
    .args = "docker://REFERENCE --from IMAGE",
    .doc = "attach to an image the data for an update from an older version",
    .help =
        "The store has to have the layers of both versions as tars ('dormouse image pull', form\n"
        "raw or both). For each layer that the older version lacks, the missing files, compressed\n"
        "by zstd against their older versions, become a blob in the repository of REFERENCE. A\n"
        "manifest whose subject is the image lists these blobs. 'dormouse image pull' on a node\n"
        "that has the older version fetches them instead of the layers, from any registry, and\n"
        "compares the results with the DiffIDs. A delta of more than half of its blob is left\n"
        "out. The image and its tag do not change. The command only reads the store, also beside\n"
        "a process that has it open; if a layer is removed meanwhile, run it again.\n"
        "\n"
        "  dormouse image pull docker://localhost:5000/app:v1\n"
        "  dormouse image pull docker://localhost:5000/app:v2\n"
        "  dormouse image delta docker://localhost:5000/app:v2 --from localhost:5000/app:v1\n",
    .run = run,
    .opts = image_delta_opts,
};
