/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image ls: what the node store holds. */
#include "base/clock.h"
#include "base/map.h"
#include "cmd/image_args.h"
#include "cmd/image_store.h"
#include "cmd/text_table.h"
#include "codec/json.h"
#include "image/lazy_status.h"

#include <errno.h>

static struct image_store_args where;
static bool layers;
static const char *policy_word;
static enum image_cache_policy policy;

static const struct cmd_opt opts[] = {
    { "layers", 0, NULL, "list layers instead, in the order in which a quota would evict them",
      CMD_FLAG, &layers, 0, 0 },
    { "policy", 0, "NAME", "the policy for this order: arc, lru or lfu (arc)", CMD_STRING,
      &policy_word, 0, 0 },
    IMAGE_STORE_OPT(where.store),
    IMAGE_STORE_OUTPUT_OPT(where.output),
    { .name = NULL },
};

static const struct cmd_opt *image_ls_opts(void)
{
    return opts;
}

/* An image with what was found of it. */
struct image_ls_row {
    const struct oci_store_image *image;
    size_t n_layers, n_missing;
    uint64_t n_bytes; /* on disk, of its layers that are there */
    bool is_damaged;
};

struct image_ls_listing {
    struct arena a;
    struct oci_store_image *images;
    struct oci_store_layer *layers;
    struct image_ls_row *rows;
    struct lazy_status_row *starts; /* lazy ones of images that are not here */
    size_t n, n_damaged, n_layers, n_starts;
    struct map by_diff_id; /* -> struct oci_store_layer */
};

static void fill(struct image_ls_listing *l, struct oci_store *s, struct image_ls_row *row)
{
    struct arena a = { 0 };
    struct map seen = { 0 };
    struct oci_manifest m;
    struct oci_config c;
    row->is_damaged = oci_store_image_load(s, &row->image->manifest, &a, &m, &c, NULL) < 0;
    row->n_layers = row->is_damaged ? 0 : c.n_diff_ids;
    for (size_t i = 0; i < row->n_layers; i++) {
        struct str key = str_n(c.diff_ids[i].bytes, SHA256_BYTES);
        const struct oci_store_layer *layer = map_get(&l->by_diff_id, key);
        row->n_missing += !layer;
        if (layer && !map_put(&seen, key, row))
            row->n_bytes += layer->n_bytes;
    }
    map_fini(&seen);
    arena_fini(&a);
}

static int load(struct image_ls_listing *l, struct oci_store *s, struct err *err)
{
    struct err why = { 0 };
    int r = oci_store_images(s, &l->a, &l->images, &l->n, &l->n_damaged, err);
    if (r < 0)
        return r;
    /* With damaged names layers cannot be listed; images that read back still can. */
    if (oci_store_layers(s, &l->layers, &l->n_layers, &why) < 0)
        (void)fprintf(stderr, "warning: %s\n", err_text(&why));
    for (size_t i = 0; i < l->n_layers; i++)
        (void)map_put(&l->by_diff_id, str_n(l->layers[i].diff_id.bytes, SHA256_BYTES),
                      &l->layers[i]);
    if (lazy_status_list(s, &l->a, &l->starts, &l->n_starts, &why) < 0)
        (void)fprintf(stderr, "warning: %s\n", err_text(&why));
    l->rows = arena_new_n(&l->a, struct image_ls_row, l->n + 1);
    for (size_t i = 0; i < l->n; i++) {
        l->rows[i].image = &l->images[i];
        fill(l, s, &l->rows[i]);
    }
    return 0;
}

static const char *status_of(struct arena *a, const struct image_ls_row *row)
{
    if (row->is_damaged)
        return "damaged";
    if (row->n_missing)
        return arena_printf(a, "%zu layers missing", row->n_missing);
    return row->image->is_pinned ? "pinned" : "complete";
}

static void print_table(struct image_ls_listing *l)
{
    static const char *const head[] = { "NAME", "DIGEST", "PLATFORM", "LAYERS",
                                        "SIZE", "STATUS", "PULLED" };
    struct text_table t = { .a = &l->a, .n_columns = ARRAY_LEN(head) };
    text_table_head(&t, head);
    for (size_t i = 0; i < l->n; i++) {
        const struct image_ls_row *row = &l->rows[i];
        char hex[SHA256_HEX_SIZE], when[RFC3339_MAX];
        hex_format(row->image->manifest.bytes, SHA256_BYTES, hex);
        rfc3339_format(row->image->pulled_wall_s, when);
        text_table_cell(&t, row->image->name);
        text_table_cell(&t, str_of(arena_printf(&l->a, "%.12s", hex)));
        text_table_cell(&t, row->image->platform);
        text_table_cell(&t, str_of(arena_printf(&l->a, "%zu", row->n_layers)));
        text_table_cell(&t, str_of(arena_printf(&l->a, "%s", image_size_text(row->n_bytes))));
        text_table_cell(&t, str_of(status_of(&l->a, row)));
        text_table_cell(&t, str_of(arena_printf(&l->a, "%s", when)));
    }
    for (size_t i = 0; i < l->n_starts; i++) {
        const struct lazy_status_row *row = &l->starts[i];
        char hex[SHA256_HEX_SIZE];
        hex_format(row->manifest.bytes, SHA256_BYTES, hex);
        text_table_cell(&t, row->reference);
        text_table_cell(&t, str_of(arena_printf(&l->a, "%.12s", hex)));
        text_table_cell(&t, STR("-"));
        text_table_cell(&t, STR("-"));
        text_table_cell(&t, str_of(arena_printf(&l->a, "%s", image_size_text(row->done_bytes))));
        text_table_cell(&t, str_of(lazy_status_text(row, &l->a)));
        text_table_cell(&t, STR("-"));
    }
    text_table_print(&t, stdout);
    if (l->n_damaged)
        (void)fprintf(stderr, "warning: %zu more are damaged; see 'dormouse image check'\n",
                      l->n_damaged);
}

static void print_json(struct image_ls_listing *l)
{
    struct arena *a = &l->a;
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < l->n; i++) {
        const struct image_ls_row *row = &l->rows[i];
        char text[OCI_DIGEST_TEXT_SIZE], when[RFC3339_MAX];
        struct json *v = json_new_object(a);
        oci_digest_format(&row->image->manifest, text);
        rfc3339_format(row->image->pulled_wall_s, when);
        json_set_str(a, v, "name", row->image->name);
        json_set_str(a, v, "digest", str_of(text));
        json_set_str(a, v, "platform", row->image->platform);
        json_set_int(a, v, "layers", (int64_t)row->n_layers);
        json_set_int(a, v, "layersMissing", (int64_t)row->n_missing);
        json_set_int(a, v, "diskBytes", (int64_t)row->n_bytes);
        json_set_bool(a, v, "damaged", row->is_damaged);
        json_set_bool(a, v, "pinned", row->image->is_pinned);
        json_set_str(a, v, "pulledAt", str_of(when));
        json_add(list, v);
    }
    for (size_t i = 0; i < l->n_starts; i++) {
        const struct lazy_status_row *row = &l->starts[i];
        char text[OCI_DIGEST_TEXT_SIZE];
        struct json *v = json_new_object(a);
        oci_digest_format(&row->manifest, text);
        json_set_str(a, v, "name", row->reference);
        json_set_str(a, v, "digest", str_of(text));
        json_set_str(a, v, "state", str_of(lazy_status_text(row, a)));
        json_set_int(a, v, "doneBytes", (int64_t)row->done_bytes);
        json_set_int(a, v, "allBytes", (int64_t)row->all_bytes);
        json_add(list, v);
    }
    image_store_print_json(list);
}

static void print(struct image_ls_listing *l, enum image_store_output output)
{
    if (output == IMAGE_STORE_TABLE)
        print_table(l);
    else if (output == IMAGE_STORE_JSON)
        print_json(l);
    else
        for (size_t i = 0; i < l->n; i++)
            image_store_print_name(l->images[i].name);
}

/* ---- layers ---- */

static const char *use_of(const struct layer_cache_row *row)
{
    return row->list == IMAGE_CACHE_T2 ? "often" : row->list == IMAGE_CACHE_T1 ? "once" : "none";
}

static void print_layer_table(struct arena *a, const struct layer_cache_row *rows, size_t n)
{
    static const char *const head[] = { "LAYER", "SIZE", "IMAGES", "USED", "STATUS" };
    struct text_table t = { .a = a, .n_columns = ARRAY_LEN(head) };
    text_table_head(&t, head);
    for (size_t i = 0; i < n; i++) {
        char hex[SHA256_HEX_SIZE];
        hex_format(rows[i].diff_id.bytes, SHA256_BYTES, hex);
        text_table_cell(&t, str_of(arena_printf(a, "%.12s", hex)));
        text_table_cell(&t, str_of(arena_printf(a, "%s", image_size_text(rows[i].n_bytes))));
        text_table_cell(&t, str_of(arena_printf(a, "%u", rows[i].n_images)));
        text_table_cell(&t, str_of(use_of(&rows[i])));
        text_table_cell(&t, rows[i].is_pinned ? STR("in use") : STR("may leave"));
    }
    text_table_print(&t, stdout);
}

static void print_layer_json(struct arena *a, const struct layer_cache_row *rows, size_t n)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < n; i++) {
        char text[OCI_DIGEST_TEXT_SIZE];
        struct json *v = json_new_object(a);
        oci_digest_format(&rows[i].diff_id, text);
        json_set_str(a, v, "diffID", str_of(text));
        json_set_int(a, v, "diskBytes", (int64_t)rows[i].n_bytes);
        json_set_int(a, v, "images", rows[i].n_images);
        json_set_str(a, v, "used", str_of(use_of(&rows[i])));
        json_set_bool(a, v, "mayLeave", !rows[i].is_pinned);
        json_add(list, v);
    }
    image_store_print_json(list);
}

static int print_layers(struct oci_store *s, enum image_store_output output, struct err *err)
{
    struct arena a = { 0 };
    scoped(free_scoped) struct layer_cache_row *rows = NULL;
    size_t n = 0;
    int r = s ? layer_cache_list(s, policy, &rows, &n, err) : 0;
    if (r >= 0 && output == IMAGE_STORE_TABLE)
        print_layer_table(&a, rows, n);
    else if (r >= 0 && output == IMAGE_STORE_JSON)
        print_layer_json(&a, rows, n);
    for (size_t i = 0; r >= 0 && output == IMAGE_STORE_NAME && i < n; i++) {
        char text[OCI_DIGEST_TEXT_SIZE];
        oci_digest_format(&rows[i].diff_id, text);
        image_store_print_name(str_of(text));
    }
    arena_fini(&a);
    return r;
}

static int print_images(struct oci_store *s, enum image_store_output output, struct err *err)
{
    struct image_ls_listing l = { 0 };
    int r = s ? load(&l, s, err) : 0;
    if (r >= 0)
        print(&l, output);
    map_fini(&l.by_diff_id);
    free(l.layers);
    arena_fini(&l.a);
    return r;
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    enum image_store_output output;
    int r = cmd_parse(&cmd_image_ls, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    if ((r = image_store_output(where.output, &output)) != 0 ||
        (r = image_store_policy(policy_word, &policy)) != 0)
        return r;
    if (policy_word && !layers)
        return cmd_failf(CMD_USAGE, "--policy needs --layers");
    scoped(oci_store_close_scoped) struct oci_store *s = NULL;
    r = image_store_open(where.store, (struct oci_store_opts){ .is_reader = true }, &s, &err);
    if (r == -ENOENT) /* no store yet */
        r = 0;
    if (r >= 0)
        r = layers ? print_layers(s, output, &err) : print_images(s, output, &err);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_image_ls = {
    .name = "image ls",
    .doc = "list the images in the store of this machine",
    .help =
        "SIZE is the size of an image's layers on disk; images share layers. Containers that were\n"
        "started lazily ('image run --lazy') are listed last, with the part of their image that\n"
        "is available.\n"
        "\n"
        "With --layers the layers are listed in the order in which a quota would evict them,\n"
        "first those that belong to no image. USED counts pulls, deployments and mounts: a layer\n"
        "that was used often stays longer than many that were used once. Layers in use (of pinned\n"
        "images, mounts and containers) are listed last and are not evicted.\n"
        "\n"
        "  dormouse image ls\n"
        "  dormouse image ls -o name\n"
        "  dormouse image ls --layers\n",
    .run = run,
    .opts = image_ls_opts,
};
