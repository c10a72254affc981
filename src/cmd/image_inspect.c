/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image inspect: what an image consists of. */
#include "cmd/image_args.h"
#include "cmd/text_table.h"
#include "codec/json.h"
#include "image/share.h"

enum { OUTPUT_MAX_BYTES = 256 << 20 };

static struct image_args args;

static bool referrers;

static const struct cmd_opt opts[] = {
    IMAGE_ARGS_OPTS(args),
    { "referrers", 0, NULL,
      "instead: manifests that refer to an image of a registry, such as signatures", CMD_FLAG,
      &referrers, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *image_inspect_opts(void)
{
    return opts;
}

static uint64_t content_bytes(const struct oci_layer *layer)
{
    uint64_t n = 0;
    for (size_t i = 0; i < layer->entries.n; i++)
        n += layer->entries.p[i].size;
    return n;
}

/* Files and their bytes in the merged view. */
static struct image_share_total merged_of(const struct image_loaded *l)
{
    struct image_share share = { 0 };
    image_share_add(&share, &l->tree);
    struct image_share_total merged = share.merged;
    image_share_fini(&share);
    return merged;
}

static void print_layers(const struct image_loaded *l, struct arena *a)
{
    static const char *const head[] = { "LAYER",   "SIZE",      "UNPACKED", "ENTRIES",
                                        "REMOVES", "MEDIATYPE", "DIFFID" };
    struct text_table t = { .a = a, .n_columns = ARRAY_LEN(head) };
    text_table_head(&t, head);
    for (size_t i = 0; i < l->image.manifest.n_layers; i++) {
        const struct oci_descriptor *d = &l->image.manifest.layers[i];
        const struct oci_layer *layer = l->layers[i];
        char diff_id[OCI_DIGEST_TEXT_SIZE];
        oci_digest_format(&l->image.config.diff_ids[i], diff_id);
        text_table_cell(&t, str_of(arena_printf(a, "%zu", i)));
        text_table_cell(&t, str_of(image_size_text(d->size)));
        text_table_cell(&t, str_of(image_size_text(content_bytes(layer))));
        text_table_cell(&t, str_of(arena_printf(a, "%zu", layer->entries.n)));
        text_table_cell(&t, str_of(arena_printf(a, "%zu", layer->whiteouts.n)));
        text_table_cell(&t, d->media_type);
        text_table_cell(&t, str_of(diff_id));
    }
    text_table_print(&t, stdout);
}

static void print_fact(const char *name, struct str value)
{
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(OCI_DOCUMENT_MAX);
    cmd_add_safe(&safe, value);
    (void)printf("%-10s " STR_FMT "\n", name, STR_ARG(buf_str(&safe)));
}

static struct str platform_text(struct arena *a, const struct oci_platform *p)
{
    return str_of(arena_printf(a, STR_FMT "/" STR_FMT "%s" STR_FMT, STR_ARG(p->os),
                               STR_ARG(p->architecture), p->variant.n ? "/" : "",
                               STR_ARG(p->variant)));
}

static void print_text(const struct image_loaded *l, struct arena *a)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    struct image_share_total merged = merged_of(l);
    oci_digest_format(&l->image.digest, digest);
    print_fact("digest", str_of(digest));
    print_fact("platform", platform_text(a, &l->image.config.platform));
    if (l->image.config.created.n)
        print_fact("created", l->image.config.created);
    print_fact("merged", str_of(arena_printf(a, "%llu files, %s in %zu paths",
                                             (unsigned long long)merged.files,
                                             image_size_text(merged.bytes), l->tree.nodes.n)));
    (void)printf("\n");
    print_layers(l, a);
}

static struct json *layer_json(const struct image_loaded *l, size_t i, struct arena *a)
{
    const struct oci_descriptor *d = &l->image.manifest.layers[i];
    const struct oci_layer *layer = l->layers[i];
    char text[OCI_DIGEST_TEXT_SIZE];
    struct json *v = json_new_object(a);
    oci_digest_format(&d->digest, text);
    json_set_str(a, v, "digest", str_of(text));
    oci_digest_format(&l->image.config.diff_ids[i], text);
    json_set_str(a, v, "diffID", str_of(text));
    json_set_str(a, v, "mediaType", d->media_type);
    json_set_int(a, v, "size", (int64_t)d->size);
    json_set_int(a, v, "tarSize", (int64_t)layer->n_bytes);
    json_set_int(a, v, "contentSize", (int64_t)content_bytes(layer));
    json_set_int(a, v, "entries", (int64_t)layer->entries.n);
    json_set_int(a, v, "whiteouts", (int64_t)layer->whiteouts.n);
    json_set_int(a, v, "dropped", (int64_t)layer->n_dropped);
    return v;
}

static void print_json(const struct image_loaded *l, struct arena *a)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    struct image_share_total merged = merged_of(l);
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    struct json *v = json_new_object(a), *layers = json_new_array(a);
    oci_digest_format(&l->image.digest, digest);
    json_set_str(a, v, "digest", str_of(digest));
    json_set_str(a, v, "platform", platform_text(a, &l->image.config.platform));
    json_set_str(a, v, "created", l->image.config.created);
    json_set_int(a, v, "files", (int64_t)merged.files);
    json_set_int(a, v, "contentSize", (int64_t)merged.bytes);
    json_set_int(a, v, "paths", (int64_t)l->tree.nodes.n);
    for (size_t i = 0; i < l->image.manifest.n_layers; i++)
        json_add(layers, layer_json(l, i, a));
    json_setc(a, v, "layers", layers);
    (void)json_write_pretty(&out, v, 2);
    (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
}

/* ---- what refers to it ---- */

static int load_referrers(struct str reference, struct arena *a, struct json **ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf manifest = BUF_INIT(OCI_DOCUMENT_MAX);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_DOCUMENT_MAX);
    scoped(oci_remote_free_scoped) struct oci_remote *m = NULL;
    struct oci_reference ref;
    struct oci_digest digest;
    int r = oci_reference_parse(reference, &ref, err);
    r = r < 0 ? r : oci_remote_open(&ref, &args.registry, &m, err);
    r = r < 0 ? r : oci_remote_manifest(m, NULL, &manifest, &digest, err);
    r = r < 0 ? r : oci_remote_referrers(m, &digest, &text, err);
    return r < 0 ? r : json_parse(a, str_copy_arena(a, buf_str(&text)), NULL, ret, err);
}

static void print_referrers(const struct json *index, struct arena *a)
{
    static const char *const head[] = { "TYPE", "SIZE", "DIGEST" };
    struct text_table t = { .a = a, .n_columns = ARRAY_LEN(head) };
    text_table_head(&t, head);
    json_each (m, json_getc(index, "manifests")) {
        text_table_cell(&t, json_get_str(m, "artifactType"));
        int64_t size = json_int_or(json_getc(m, "size"), 0);
        text_table_cell(&t, str_of(image_size_text((uint64_t)MAX(size, (int64_t)0))));
        text_table_cell(&t, json_get_str(m, "digest"));
    }
    text_table_print(&t, stdout);
}

static int run_referrers(const char *word)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct json *index;
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    struct str reference = str_of(word);
    if (!str_has_prefix(reference, STR("docker://")))
        return cmd_failf(CMD_USAGE, "--referrers is for docker://REFERENCE");
    reference = str_slice(reference, strlen("docker://"), reference.n);
    int r = load_referrers(reference, &a, &index, &err);
    if (r >= 0 && args.is_json) {
        (void)json_write_pretty(&out, index, 2);
        (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
    } else if (r >= 0) {
        print_referrers(index, &a);
    }
    arena_fini(&a);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct arena a = { 0 };
    struct image_loaded l;
    int r = cmd_parse(&cmd_image_inspect, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    if (n != 1)
        return cmd_failf(CMD_USAGE, "no image is named; see 'dormouse image inspect --help'");
    if ((r = image_args_check(&args)) != 0)
        return r;
    if (referrers)
        return run_referrers(argv[0]);
    if (image_load(&args, argv[0], &l, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    (args.is_json ? print_json : print_text)(&l, &a);
    image_loaded_fini(&l);
    arena_fini(&a);
    return CMD_OK;
}

const struct cmd cmd_image_inspect = {
    .name = "image inspect",
    .args = "IMAGE",
    .doc = "layers and merged size of an image",
    .help = IMAGE_REFERENCE_HELP
    "For an image outside of the store every layer is read, and its digest and DiffID are\n"
    "compared with those in the image. For an image of the store the indexes are read\n"
    "('dormouse image check' compares the layers).\n"
    "\n"
    "  dormouse image inspect docker-archive:app.tar\n"
    "  dormouse image inspect docker://localhost:5000/app:v1\n"
    "  dormouse image inspect oci:layout:v1 --platform linux/arm64 -o json\n",
    .run = run,
    .opts = image_inspect_opts,
};
