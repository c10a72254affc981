/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image diff: what images have in common, and what changed between two of them. */
#include "cmd/image_args.h"
#include "cmd/text_table.h"
#include "codec/json.h"
#include "image/changes.h"
#include "image/share.h"

#include <stdio.h>

enum { IMAGES_MAX = 64, ROWS_DEFAULT = 20, OUTPUT_MAX_BYTES = 256 << 20 };

static struct image_args args;
static uint64_t rows = ROWS_DEFAULT;

static const struct cmd_opt opts[] = {
    IMAGE_ARGS_OPTS(args),
    { "rows", 0, "N", "changed paths to show, the largest first (20); 0: all, sorted by path",
      CMD_U64, &rows, 0, INT32_MAX },
    { .name = NULL },
};

static const struct cmd_opt *image_diff_opts(void)
{
    return opts;
}

struct image_diff_comparison {
    struct image_loaded images[IMAGES_MAX];
    size_t n;
    struct image_share share;
    uint64_t layer_bytes, distinct_layer_bytes; /* compressed */
    uint64_t layer_content, distinct_layer_content;
    size_t n_layers, n_distinct_layers;
};

static const struct {
    const char *json, *text;
} keys[IMAGE_KEYS] = {
    [IMAGE_KEY_CONTENT] = { "content", "content" },
    [IMAGE_KEY_PATH] = { "path", "content and path" },
    [IMAGE_KEY_ATTRIBUTES] = { "attributes", "content, path, mode, owner, xattrs" },
    [IMAGE_KEY_MODIFICATION] = { "modification", "the same and modification time" },
};

static void add_layers(struct image_diff_comparison *c, const struct image_loaded *l,
                       struct map *seen)
{
    for (size_t i = 0; i < l->image.manifest.n_layers; i++) {
        const struct oci_layer *layer = l->layers[i];
        struct str id = str_n(layer->diff_id, sizeof layer->diff_id);
        uint64_t size = l->image.manifest.layers[i].size, content = 0;
        for (size_t j = 0; j < layer->entries.n; j++)
            content += layer->entries.p[j].size;
        c->n_layers++;
        c->layer_bytes += size;
        c->layer_content += content;
        if (map_put(seen, id, (void *)layer))
            continue;
        c->n_distinct_layers++;
        c->distinct_layer_bytes += size;
        c->distinct_layer_content += content;
    }
}

static int load_all(struct image_diff_comparison *c, char **references, size_t n, struct err *err)
{
    struct map seen = { 0 };
    int r = 0;
    for (size_t i = 0; i < n && r >= 0; i++) {
        r = image_load(&args, references[i], &c->images[i], err);
        if (r < 0)
            break;
        c->n++;
        add_layers(c, &c->images[i], &seen);
        image_share_add(&c->share, &c->images[i].tree);
    }
    map_fini(&seen);
    return r;
}

static void comparison_fini(struct image_diff_comparison *c)
{
    for (size_t i = 0; i < c->n; i++)
        image_loaded_fini(&c->images[i]);
    image_share_fini(&c->share);
}

/* ---- text ---- */

static void share_row(struct text_table *t, struct arena *a, const char *what, uint64_t bytes,
                      uint64_t of)
{
    text_table_cell(t, str_of(what));
    text_table_cell(t, str_of(image_size_text(bytes)));
    text_table_cell(t,
                    bytes ? str_of(arena_printf(a, "%.2f", (double)of / (double)bytes)) : STR("-"));
}

static void print_share(const struct image_diff_comparison *c, struct arena *a)
{
    static const char *const head[] = { "WHAT IS STORED ONCE", "BYTES", "RATIO" };
    struct text_table t = { .a = a, .n_columns = ARRAY_LEN(head) };
    uint64_t merged = c->share.merged.bytes;
    (void)printf("%zu images, %llu files, %s; %zu layers, %zu of them distinct (%s compressed)\n\n",
                 c->n, (unsigned long long)c->share.merged.files, image_size_text(merged),
                 c->n_layers, c->n_distinct_layers, image_size_text(c->distinct_layer_bytes));
    text_table_head(&t, head);
    share_row(&t, a, "identical layers", c->distinct_layer_content, merged);
    for (size_t i = 0; i < IMAGE_KEYS; i++)
        share_row(&t, a, arena_printf(a, "files: %s", keys[i].text), c->share.distinct[i].bytes,
                  merged);
    text_table_print(&t, stdout);
}

static uint64_t weight(const struct image_change *c)
{
    return MAX(image_node_bytes(c->from), image_node_bytes(c->to));
}

static struct str path_of(const struct image_change *c)
{
    return c->to ? c->to->path : c->from->path;
}

static int by_weight(const void *a, const void *b)
{
    const struct image_change *x = a, *y = b;
    uint64_t m = weight(x), n = weight(y);
    return m != n ? (m < n) - (m > n) : str_cmp(path_of(x), path_of(y));
}

static void print_counts(const struct image_changes *changes)
{
    uint64_t n[IMAGE_CHANGE_TIME + 1] = { 0 }, bytes[IMAGE_CHANGE_TIME + 1] = { 0 };
    for (size_t i = 0; i < changes->all.n; i++) {
        const struct image_change *c = &changes->all.p[i];
        n[c->kind]++;
        bytes[c->kind] += weight(c);
    }
    (void)printf("\n%-10s  %llu paths, %s\n", "same", (unsigned long long)changes->same,
                 image_size_text(changes->same_bytes));
    for (size_t i = 0; i <= IMAGE_CHANGE_TIME; i++)
        (void)printf("%-10s  %llu paths, %s\n", image_change_name((enum image_change_kind)i),
                     (unsigned long long)n[i], image_size_text(bytes[i]));
}

static void print_changes(struct image_changes *changes, struct arena *a)
{
    static const char *const head[] = { "CHANGE", "BEFORE", "AFTER", "PATH" };
    struct text_table t = { .a = a, .n_columns = ARRAY_LEN(head) };
    size_t n = rows ? MIN((size_t)rows, changes->all.n) : changes->all.n;
    print_counts(changes);
    if (n == 0)
        return;
    if (rows)
        qsort(changes->all.p, changes->all.n, sizeof *changes->all.p, by_weight);
    (void)printf("\n");
    text_table_head(&t, head);
    for (size_t i = 0; i < n; i++) {
        const struct image_change *c = &changes->all.p[i];
        text_table_cell(&t, str_of(image_change_name(c->kind)));
        text_table_cell(&t, str_of(c->from ? image_size_text(image_node_bytes(c->from)) : "-"));
        text_table_cell(&t, str_of(c->to ? image_size_text(image_node_bytes(c->to)) : "-"));
        text_table_cell(&t, str_of(arena_printf(a, "/" STR_FMT, STR_ARG(path_of(c)))));
    }
    text_table_print(&t, stdout);
    if (n < changes->all.n)
        (void)printf("(%zu more: --rows 0 shows all)\n", changes->all.n - n);
}

/* ---- JSON ---- */

static struct json *share_json(const struct image_diff_comparison *c, struct arena *a)
{
    struct json *v = json_new_object(a), *distinct = json_obj(a, v, "distinctFileBytes");
    json_set_int(a, v, "images", (int64_t)c->n);
    json_set_int(a, v, "layers", (int64_t)c->n_layers);
    json_set_int(a, v, "distinctLayers", (int64_t)c->n_distinct_layers);
    json_set_int(a, v, "layerBytes", (int64_t)c->layer_bytes);
    json_set_int(a, v, "distinctLayerBytes", (int64_t)c->distinct_layer_bytes);
    json_set_int(a, v, "distinctLayerFileBytes", (int64_t)c->distinct_layer_content);
    json_set_int(a, v, "files", (int64_t)c->share.merged.files);
    json_set_int(a, v, "fileBytes", (int64_t)c->share.merged.bytes);
    for (size_t i = 0; i < IMAGE_KEYS; i++)
        json_set_int(a, distinct, keys[i].json, (int64_t)c->share.distinct[i].bytes);
    return v;
}

static struct json *changes_json(const struct image_changes *changes, struct arena *a)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < changes->all.n; i++) {
        const struct image_change *c = &changes->all.p[i];
        struct json *v = json_new_object(a);
        json_set_str(a, v, "change", str_of(image_change_name(c->kind)));
        json_set_str(a, v, "path", str_of(arena_printf(a, "/" STR_FMT, STR_ARG(path_of(c)))));
        if (c->from)
            json_set_int(a, v, "bytesBefore", (int64_t)image_node_bytes(c->from));
        if (c->to)
            json_set_int(a, v, "bytesAfter", (int64_t)image_node_bytes(c->to));
        json_add(list, v);
    }
    return list;
}

static void print(const struct image_diff_comparison *c)
{
    struct arena a = { 0 };
    struct image_changes changes = { 0 };
    bool is_pair = c->n == 2;
    if (is_pair)
        image_changes_find(&c->images[0].tree, &c->images[1].tree, &changes);
    if (args.is_json) {
        scoped(buf_fini_scoped) struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
        struct json *v = share_json(c, &a);
        if (is_pair)
            json_setc(&a, v, "changes", changes_json(&changes, &a));
        (void)json_write_pretty(&out, v, 2);
        (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
    } else {
        print_share(c, &a);
        if (is_pair)
            print_changes(&changes, &a);
    }
    image_changes_fini(&changes);
    arena_fini(&a);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    int r = cmd_parse(&cmd_image_diff, opts, argc, argv, IMAGES_MAX, &n);
    if (r)
        return r - 1;
    if (n < 2)
        return cmd_failf(CMD_USAGE,
                         "two or more images are needed; see 'dormouse image diff --help'");
    if ((r = image_args_check(&args)) != 0)
        return r;
    struct image_diff_comparison *c = xnew(struct image_diff_comparison);
    r = load_all(c, argv, n, &err);
    if (r >= 0)
        print(c);
    comparison_fini(c);
    free(c);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_image_diff = {
    .name = "image diff",
    .args = "IMAGE IMAGE...",
    .doc = "compare images: shared content, and changes between two",
    .help = IMAGE_REFERENCE_HELP
    "The table shows how many bytes remain if equal content is stored once, for several\n"
    "meanings of equal: identical layers, as registries use it; or files, by content alone or\n"
    "with the attributes that a shared layer has to preserve. RATIO is the sum of the images\n"
    "divided by these bytes. For two images the changed paths follow; the first image is the\n"
    "older one.\n"
    "\n"
    "  dormouse image diff oci:app:v1 oci:app:v2\n"
    "  dormouse image diff docker-archive:a.tar docker-archive:b.tar --rows 0\n",
    .run = run,
    .opts = image_diff_opts,
};
