/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image groups: which of many images share so much that they should be refactored
 * together. */
#include "cmd/image_args.h"
#include "cmd/text_table.h"
#include "codec/json.h"
#include "image/group.h"
#include "image/layer_child.h"
#include "image/minhash.h"

#include <stdio.h>

enum { IMAGES_MAX = 4096, OUTPUT_MAX_BYTES = 16 << 20 };

static struct image_args args;
static const char *index_dir;
static bool is_skipping;
static uint64_t overlap = IMAGE_OVERLAP_PERCENT_DEFAULT, group_size = IMAGE_GROUP_DEFAULT, threads;

static const struct cmd_opt opts[] = {
    { "overlap", 0, "PERCENT",
      "the least share of their content that two images of a group have in common (10)", CMD_U64,
      &overlap, 1, 100 },
    { "group-size", 0, "N", "maximum number of images of a group (64)", CMD_U64, &group_size, 2,
      IMAGE_GROUP_MAX },
    { "index-dir", 0, "DIR", "keep indexes of layers, so that no layer is read twice", CMD_STRING,
      &index_dir, 0, 0 },
    { "skip", 0, NULL, "treat images that cannot be read as sharing nothing, instead of an error",
      CMD_FLAG, &is_skipping, 0, 0 },
    { "threads", 0, "N", "(one for each processor)", CMD_U64, &threads, 1, IMAGE_THREADS_MAX },
    IMAGE_ARGS_OPTS(args),
    { .name = NULL },
};

static const struct cmd_opt *image_groups_opts(void)
{
    return opts;
}

struct grouping {
    const char **references, **families;
    struct image_minhash *signatures;
    uint32_t *groups;
    bool *is_left_out;
    size_t n, n_groups;
    struct arena memory;
};

/* One image at a time: memory does not follow their number. */
static int read_signature(const char *const *reference, struct image_minhash *ret,
                          bool *ret_is_left_out, struct err *err)
{
    struct image_group group;
    struct err unreadable = { 0 };
    const struct image_group_opts o = { .platform = &args.wanted,
                                        .registry = &args.registry,
                                        .symlink_parent = args.parent,
                                        .reading = &layer_child_reading,
                                        .n_threads = (unsigned)threads,
                                        .index_directory = index_dir,
                                        .unreadable = is_skipping ? &unreadable : NULL };
    int r = image_group_read(reference, 1, &o, &group, err);
    if (r >= 0)
        image_minhash_of(&group.members[0].tree, ret);
    *ret_is_left_out = unreadable.code < 0;
    if (*ret_is_left_out) {
        (void)fprintf(stderr, "image '%s' is left out: %s\n", *reference, err_text(&unreadable));
        memset(ret->least, 0xff, sizeof ret->least); /* shares nothing */
        r = 0;
    }
    image_group_fini(&group);
    return r;
}

/* "docker://host/repository" of "docker://host/repository:tag". */
static const char *family_of(struct arena *a, const char *reference)
{
    struct str s = str_of(reference);
    size_t at = s.n;
    while (at && s.p[at - 1] != ':' && s.p[at - 1] != '/')
        at--;
    return str_dup_arena(a, at && s.p[at - 1] == ':' ? str_slice(s, 0, at - 1) : s);
}

static int group_all(struct grouping *g, struct err *err)
{
    g->signatures = arena_new_n(&g->memory, struct image_minhash, g->n);
    g->families = arena_new_n(&g->memory, const char *, g->n);
    g->groups = arena_new_n(&g->memory, uint32_t, g->n);
    g->is_left_out = arena_new_n(&g->memory, bool, g->n);
    for (size_t i = 0; i < g->n; i++) {
        int r = read_signature(&g->references[i], &g->signatures[i], &g->is_left_out[i], err);
        if (r < 0)
            return r;
        g->families[i] = family_of(&g->memory, g->references[i]);
    }
    g->n_groups = image_minhash_group(g->signatures, g->families, g->n, (unsigned)overlap,
                                      (size_t)group_size, g->groups);
    return 0;
}

/* The image of the same group, or of all, that shares most; n: none. */
static size_t nearest(const struct grouping *g, size_t image, unsigned *ret_percent)
{
    size_t best = g->n;
    *ret_percent = 0;
    for (size_t i = 0; i < g->n; i++) {
        unsigned p = image_minhash_overlap(&g->signatures[i], &g->signatures[image]);
        if (i != image && p > *ret_percent) {
            *ret_percent = p;
            best = i;
        }
    }
    return best;
}

static void print_table(struct grouping *g)
{
    static const char *const head[] = { "GROUP", "IMAGE", "SHARES", "WITH" };
    struct text_table t = { .a = &g->memory, .n_columns = ARRAY_LEN(head) };
    text_table_head(&t, head);
    for (uint32_t group = 0; group < g->n_groups; group++)
        for (size_t i = 0; i < g->n; i++) {
            unsigned percent;
            if (g->groups[i] != group)
                continue;
            size_t other = nearest(g, i, &percent);
            text_table_cell(&t, str_of(arena_printf(&g->memory, "%u", group + 1)));
            text_table_cell(&t, str_of(g->references[i]));
            text_table_cell(&t, str_of(arena_printf(&g->memory, "%u %%", percent)));
            text_table_cell(&t, other < g->n ? str_of(g->references[other]) : STR("-"));
        }
    text_table_print(&t, stdout);
}

static void print_json(struct grouping *g)
{
    struct arena *a = &g->memory;
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    struct json *v = json_new_object(a), *groups = json_new_array(a), *left = json_new_array(a);
    for (uint32_t group = 0; group < g->n_groups; group++) {
        struct json *images = json_new_array(a);
        for (size_t i = 0; i < g->n; i++)
            if (g->groups[i] == group)
                json_add(images, json_new_cstr(a, g->references[i]));
        json_add(groups, images);
    }
    for (size_t i = 0; i < g->n; i++)
        if (g->is_left_out[i])
            json_add(left, json_new_cstr(a, g->references[i]));
    json_setc(a, v, "groups", groups);
    json_setc(a, v, "leftOut", left);
    (void)json_write_pretty(&out, v, 2);
    (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
}

static int run(int argc, char **argv)
{
    struct err err = { 0 };
    struct grouping g = { 0 };
    int r = cmd_parse(&cmd_image_groups, opts, argc, argv, IMAGES_MAX, &g.n);
    if (r)
        return r - 1;
    if (g.n == 0)
        return cmd_failf(CMD_USAGE, "no image is named; see 'dormouse image groups --help'");
    if ((r = image_args_check(&args)) != 0)
        return r;
    g.references = arena_new_n(&g.memory, const char *, g.n);
    for (size_t i = 0; i < g.n; i++) {
        scoped(free_scoped) char *full = image_reference(args.store, argv[i]);
        g.references[i] = str_dup_arena(&g.memory, str_of(full));
    }
    r = group_all(&g, &err);
    if (r >= 0)
        (args.is_json ? print_json : print_table)(&g);
    arena_fini(&g.memory);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_image_groups = {
    .name = "image groups",
    .args = "IMAGE...",
    .doc = "find the images that share enough content to be refactored together",
    .help =
        "Reads the images one after the other and estimates how much of their content each two of\n"
        "them share (MinHash, with an error of about 6 percent). Images that share a tenth are in\n"
        "one group, and so are images that a chain of others connects.\n"
        "\n"
        "  dormouse image groups docker://registry.example/a:1 docker://registry.example/b:1\n"
        "\n" IMAGE_REFERENCE_HELP,
    .run = run,
    .opts = image_groups_opts,
};
