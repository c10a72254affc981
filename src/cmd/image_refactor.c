/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image refactor: new layers for several images, so that what they share is stored once.
 */
#include "base/clock.h"
#include "cmd/image_args.h"
#include "cmd/text_table.h"
#include "codec/json.h"
#include "image/update.h"
#include "oci/layout.h"

#include <stdio.h>

enum { OUTPUT_MAX_BYTES = 16 << 20, SHOWN_NAMES_BYTES = 60 };

static struct image_args args;
static const char *to, *update, *mtime = "canonical", *link_how = "none", *mode = "side";
static struct cmd_list exact_globs, names;
static bool is_dry, is_forced;
static uint64_t layer_threshold = IMAGE_LAYER_THRESHOLD, gain_threshold = IMAGE_GAIN_AUTOMATIC;
static uint64_t max_layers = IMAGE_LAYERS_DEFAULT, cached, threads;

static const struct cmd_opt opts[] = {
    { "to", 0, "oci:DIR[:NAME]", "the image layout that gets the new images; NAME for a single one",
      CMD_STRING, &to, 0, 0 },
    { "dry-run", 0, NULL, "show what would be shared, write nothing", CMD_FLAG, &is_dry, 0, 0 },
    { "name", 0, "NAME", "of the first, second, ... new image (that of its source)", CMD_LIST,
      &names, 0, 0 },
    { "update", 0, "NAME",
      "IMAGE is a new version of this image of the layout: keep its layers, add one with what "
      "changed",
      CMD_STRING, &update, 0, 0 },
    { "mode", 0, "MODE",
      "where a NAME is taken: side (the new image is called sha256-DIGEST of its source) or "
      "replace "
      "(side)",
      CMD_STRING, &mode, 0, 0 },
    CMD_SECTION("Plan"),
    { "layer-threshold", 0, "SIZE", "the least size of a shared layer, compressed (1Mi)", CMD_SIZE,
      &layer_threshold, 0, 0 },
    { "gain-threshold", 0, "SIZE",
      "the least that has to be saved (64Mi, or a tenth of what is stored, if more)", CMD_SIZE,
      &gain_threshold, 0, 0 },
    { "max-layers", 0, "N", "layers of an image (16)", CMD_U64, &max_layers, 2, IMAGE_LAYERS_HARD },
    { "cached", 0, "SIZE", "bytes of the present layers that nodes hold and would fetch again (0)",
      CMD_SIZE, &cached, 0, 0 },
    { "force", 0, NULL, "also where it saves too little", CMD_FLAG, &is_forced, 0, 0 },
    CMD_SECTION("What counts as the same file"),
    { "mtime", 0, "HOW",
      "canonical: times need not be equal, shared files get the earliest; exact (canonical)",
      CMD_STRING, &mtime, 0, 0 },
    { "mtime-exact", 0, "GLOB", "paths whose times have to be equal; may be repeated", CMD_LIST,
      &exact_globs, 0, 0 },
    { "link", 0, "HOW",
      "symlink: share by content, with symbolic links in the place of files; none (none)",
      CMD_STRING, &link_how, 0, 0 },
    CMD_SECTION("Other"),
    { "threads", 0, "N", "(one for each processor)", CMD_U64, &threads, 1, IMAGE_THREADS_MAX },
    IMAGE_ARGS_OPTS(args),
    { .name = NULL },
};

static const struct cmd_opt *image_refactor_opts(void)
{
    return opts;
}

/* ---- the command line ---- */

static int one_of(const char *option, const char *value, const char *first, const char *second,
                  bool *ret_second)
{
    *ret_second = str_is(str_of(value), second);
    if (*ret_second || str_is(str_of(value), first))
        return 0;
    return cmd_failf(CMD_USAGE, "--%s is %s or %s, not '%s'", option, first, second, value);
}

static int check_args(struct image_refactor_opts *o, size_t n)
{
    bool is_replace;
    int r = image_args_check(&args);
    r = r ? r : one_of("mtime", mtime, "canonical", "exact", &o->atoms.is_exact);
    r = r ? r : one_of("link", link_how, "none", "symlink", &o->atoms.is_linked);
    r = r ? r : one_of("mode", mode, "side", "replace", &is_replace);
    if (r)
        return r;
    if (!to && !is_dry)
        return cmd_failf(CMD_USAGE, "--to oci:DIR says where the new images go; --dry-run only "
                                    "shows what would be shared");
    if (to && !str_has_prefix(str_of(to), STR("oci:")))
        return cmd_failf(CMD_USAGE, "--to is oci:DIR[:NAME], not '%s'", to);
    if (update && (n != 1 || is_dry))
        return cmd_failf(CMD_USAGE, "--update takes one image, and no --dry-run");
    if (names.n > n)
        return cmd_failf(CMD_USAGE, "%zu names for %zu images", names.n, n);
    o->platform = &args.wanted;
    o->registry = &args.registry;
    o->symlink_parent = args.parent;
    o->n_threads = (unsigned)threads;
    o->max_layers = (unsigned)max_layers;
    o->layer_threshold = layer_threshold;
    o->gain_threshold = gain_threshold;
    o->cached = cached;
    o->is_forced = is_forced;
    o->atoms.exact_globs = exact_globs.at;
    o->atoms.n_exact_globs = exact_globs.n;
    o->is_beside = !is_replace;
    return 0;
}

/* "v1" of "oci:DIR:v1", else "app" of "docker-archive:/x/app.tar"; "app:v1" of "docker://x/app:v1"
 * and of the store. */
static const char *name_of(struct arena *a, const char *reference)
{
    struct str form, rest, path = str_of(reference), name;
    bool is_remote = str_has_prefix(path, STR("docker://"));
    if (!is_remote) {
        (void)str_cut(path, ':', &form, &rest);
        bool is_named = str_cut(rest, ':', &path, &name) && name.n;
        if (is_named && !str_is(form, "store"))
            return str_dup_arena(a, name);
        path = is_named ? name : path;
    }
    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    for (size_t at = path.n; at-- > 0;)
        if (path.p[at] == '/') {
            path = str_slice(path, at + 1, path.n);
            break;
        }
    if (!is_remote && str_has_suffix(path, STR(".tar")))
        path.n -= 4;
    return str_dup_arena(a, path);
}

static int name_all(struct arena *a, char **references, size_t n, struct str target_name,
                    const char **ret)
{
    if (target_name.n && n > 1)
        return cmd_failf(CMD_USAGE, "--to has one name, but there are %zu images; use --name", n);
    for (size_t i = 0; i < n; i++) {
        ret[i] = i < names.n ? names.at[i] : name_of(a, references[i]);
        if (target_name.n)
            ret[i] = str_dup_arena(a, target_name);
        for (size_t j = 0; j < i; j++)
            if (str_eq(str_of(ret[i]), str_of(ret[j])))
                return cmd_failf(CMD_USAGE,
                                 "two new images would be called '%s'; name them with "
                                 "--name, once for each image",
                                 ret[i]);
    }
    return 0;
}

/* ---- text ---- */

static void size_cell(struct text_table *t, uint64_t bytes)
{
    text_table_cell(t, str_of(image_size_text(bytes)));
}

static void number_cell(struct text_table *t, uint64_t n)
{
    text_table_cell(t, str_of(arena_printf(t->a, "%llu", (unsigned long long)n)));
}

static struct str sharers(struct arena *a, const struct image_refactoring *r, const uint64_t *set,
                          const char *const *image_names)
{
    struct buf text = BUF_INIT(1 << 16);
    if (image_set_count(set, r->plan.n_words) == r->group.n)
        return STR("all");
    image_set_each(i, set, r->group.n)
    {
        if (text.n > SHOWN_NAMES_BYTES) {
            (void)buf_add_cstr(&text, ", ...");
            break;
        }
        (void)buf_printf(&text, "%s%s", text.n ? ", " : "", image_names[i]);
    }
    struct str kept = str_copy_arena(a, buf_str(&text));
    buf_fini(&text);
    return kept;
}

static void print_layers(const struct image_refactoring *r, const char *const *image_names,
                         struct arena *a)
{
    static const char *const head[] = { "SHARED LAYER", "SIZE", "UNPACKED", "ATOMS", "IMAGES", "" };
    struct text_table t = { .a = a, .n_columns = ARRAY_LEN(head) };
    text_table_head(&t, head);
    for (size_t i = 0; i < r->plan.n_layers; i++) {
        const struct image_plan_layer *l = &r->plan.layers[i];
        number_cell(&t, i + 1);
        size_cell(&t, r->layers ? r->layers[i].size : l->size);
        size_cell(&t, r->layers ? r->layers[i].tar_size : l->raw);
        number_cell(&t, l->n_atoms);
        number_cell(&t, l->n_sharers);
        text_table_cell(&t, sharers(a, r, l->set, image_names));
    }
    text_table_print(&t, stdout);
}

static uint64_t source_size(const struct image_refactoring *r, size_t image)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->group.members[image].image.manifest.n_layers; i++)
        n += r->group.members[image].layer_sizes[i];
    return n;
}

static uint64_t shared_size(const struct image_refactoring *r, size_t image)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->plan.n_layers; i++)
        if (image_set_has(r->plan.layers[i].set, image))
            n += r->layers ? r->layers[i].size : r->plan.layers[i].size;
    return n;
}

static uint64_t top_size(const struct image_refactoring *r, size_t image)
{
    if (r->plan.images[image].n_shared == 0)
        return source_size(r, image);
    return r->images ? r->images[image].top.size : r->plan.images[image].top_size;
}

static void print_images(const struct image_refactoring *r, const char *const *image_names,
                         struct arena *a)
{
    static const char *const head[] = { "IMAGE", "LAYERS", "SIZE", "NEW LAYERS", "SHARED", "OWN" };
    struct text_table t = { .a = a, .n_columns = ARRAY_LEN(head) };
    (void)printf("\n");
    text_table_head(&t, head);
    for (size_t i = 0; i < r->group.n; i++) {
        bool is_kept = r->plan.images[i].n_shared == 0;
        text_table_cell(&t, str_of(image_names[i]));
        number_cell(&t, r->group.members[i].image.manifest.n_layers);
        size_cell(&t, source_size(r, i));
        text_table_cell(&t, is_kept
                                ? STR("unchanged")
                                : str_of(arena_printf(a, "%u + 1", r->plan.images[i].n_shared)));
        size_cell(&t, shared_size(r, i));
        size_cell(&t, top_size(r, i));
    }
    text_table_print(&t, stdout);
}

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

static uint64_t redundant(uint64_t stored, const struct image_refactor_figures *f)
{
    return stored > f->distinct ? stored - f->distinct : 0;
}

static void print_summary(const struct image_refactoring *r)
{
    const struct image_refactor_figures *f = &r->figures;
    uint64_t after = r->stored ? r->stored : r->plan.stored_after;
    (void)printf("\nstored   %s in %llu layers, afterwards %s%s: %s%s less\n",
                 image_size_text(r->plan.stored_before), (unsigned long long)f->n_source_layers,
                 image_size_text(after), r->stored ? "" : " (estimated)",
                 after > r->plan.stored_before ? "-" : "",
                 image_size_text(after > r->plan.stored_before ? after - r->plan.stored_before
                                                               : r->plan.stored_before - after));
    (void)printf("files    %s in the images, %s in their layers, afterwards %s; %s at least\n",
                 image_size_text(f->merged), image_size_text(f->layers),
                 image_size_text(f->planned), image_size_text(f->distinct));
    (void)printf("ratios   images to stored %.2f, layers before to after %.2f, redundant before to "
                 "after %.2f\n",
                 ratio(f->merged, f->planned), ratio(f->layers, f->planned),
                 ratio(redundant(f->layers, f), redundant(f->planned, f)));
    (void)printf("sharing  %s by digest, %s by prefix of layers (what engines without a common "
                 "content store gain)\n",
                 image_size_text(r->plan.digest_shared), image_size_text(r->plan.prefix_shared));
    if (r->n_changed_times)
        (void)printf("times    %llu names have the time of a shared file\n",
                     (unsigned long long)r->n_changed_times);
}

/* ---- JSON ---- */

static struct json *layers_json(const struct image_refactoring *r, const char *const *image_names,
                                struct arena *a)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < r->plan.n_layers; i++) {
        const struct image_plan_layer *l = &r->plan.layers[i];
        struct json *v = json_new_object(a), *sharing = json_new_array(a);
        json_set_int(a, v, "size", (int64_t)(r->layers ? r->layers[i].size : l->size));
        json_set_int(a, v, "tarSize", (int64_t)(r->layers ? r->layers[i].tar_size : l->raw));
        if (r->layers) {
            char text[OCI_DIGEST_TEXT_SIZE];
            oci_digest_format(&r->layers[i].digest, text);
            json_set_str(a, v, "digest", str_of(text));
            oci_digest_format(&r->layers[i].diff_id, text);
            json_set_str(a, v, "diffID", str_of(text));
        }
        image_set_each(k, l->set, r->group.n) json_add(sharing, json_new_cstr(a, image_names[k]));
        json_setc(a, v, "images", sharing);
        json_add(list, v);
    }
    return list;
}

static struct json *images_json(const struct image_refactoring *r, const char *const *image_names,
                                struct arena *a)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < r->group.n; i++) {
        struct json *v = json_new_object(a);
        char text[OCI_DIGEST_TEXT_SIZE];
        json_set_str(a, v, "name", str_of(image_names[i]));
        oci_digest_format(&r->group.members[i].image.digest, text);
        json_set_str(a, v, "source", str_of(text));
        if (r->images) {
            oci_digest_format(&r->images[i].digest, text);
            json_set_str(a, v, "digest", str_of(text));
        }
        json_set_bool(a, v, "unchanged", r->plan.images[i].n_shared == 0);
        json_set_int(a, v, "sharedLayers", r->plan.images[i].n_shared);
        json_set_int(a, v, "sizeBefore", (int64_t)source_size(r, i));
        json_set_int(a, v, "sharedSize", (int64_t)shared_size(r, i));
        json_set_int(a, v, "ownSize", (int64_t)top_size(r, i));
        json_add(list, v);
    }
    return list;
}

static void print_json(const struct image_refactoring *r, const char *const *image_names,
                       struct arena *a)
{
    const struct image_refactor_figures *f = &r->figures;
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    struct json *v = json_new_object(a), *files = json_obj(a, v, "fileBytes");
    json_set_bool(a, v, "written", r->stored > 0);
    json_set_bool(a, v, "accepted", r->plan.is_accepted);
    if (r->plan.why)
        json_set_str(a, v, "reason", str_of(r->plan.why));
    json_set_int(a, v, "storedBefore", (int64_t)r->plan.stored_before);
    json_set_int(a, v, "storedEstimate", (int64_t)r->plan.stored_after);
    if (r->stored)
        json_set_int(a, v, "stored", (int64_t)r->stored);
    json_set_int(a, v, "digestShared", (int64_t)r->plan.digest_shared);
    json_set_int(a, v, "prefixShared", (int64_t)r->plan.prefix_shared);
    json_set_int(a, v, "changedTimes", (int64_t)r->n_changed_times);
    json_set_int(a, files, "merged", (int64_t)f->merged);
    json_set_int(a, files, "layersBefore", (int64_t)f->layers);
    json_set_int(a, files, "layersAfter", (int64_t)f->planned);
    json_set_int(a, files, "distinct", (int64_t)f->distinct);
    json_setc(a, v, "layers", layers_json(r, image_names, a));
    json_setc(a, v, "images", images_json(r, image_names, a));
    (void)json_write_pretty(&out, v, 2);
    (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
}

static void print(const struct image_refactoring *r, const char *const *image_names)
{
    struct arena a = { 0 };
    if (args.is_json) {
        print_json(r, image_names, &a);
    } else {
        if (r->plan.n_layers)
            print_layers(r, image_names, &a);
        print_images(r, image_names, &a);
        print_summary(r);
    }
    (void)fflush(stdout);
    arena_fini(&a);
}

/* ---- doing it ---- */

static int refactor(const char *const *references, size_t n, const struct image_refactor_opts *o,
                    struct str directory, const char *const *image_names, struct err *err)
{
    scoped(free_scoped) char *path = str_dup(directory);
    scoped(oci_layout_end_scoped) struct oci_layout *layout = NULL;
    scoped(image_spool_free_scoped) struct image_spool *spool = NULL;
    struct image_refactoring refactoring = { 0 };
    int r = is_dry ? 0 : oci_layout_begin(path, &layout, err);
    r = r < 0 || is_dry ? r : image_spool_new(oci_layout_staging(layout), &spool, err);
    r = r < 0 ? r : image_refactor_plan(references, n, o, spool, &refactoring, err);
    if (r >= 0 && !is_dry && !refactoring.plan.is_accepted)
        r = err_set(err, E_DENIED, "nothing is written: %s (saves %s; --dry-run shows the plan)",
                    refactoring.plan.why,
                    image_size_text((uint64_t)MAX(refactoring.plan.saved, (int64_t)0)));
    if (r >= 0 && !is_dry)
        r = image_refactor_write(&refactoring, spool, layout, image_names, err);
    if (r >= 0)
        print(&refactoring, image_names);
    if (r >= 0 && is_dry && refactoring.plan.why && !args.is_json)
        (void)printf("\nIt would not be carried out: %s.\n", refactoring.plan.why);
    image_refactoring_fini(&refactoring);
    return r;
}

/* ---- new versions ---- */

static int64_t percent(uint64_t part, uint64_t of)
{
    return of ? (int64_t)(part * 100 / of) : 0;
}

static void print_update(const struct image_update *u, const char *name)
{
    struct arena a = { 0 };
    char digest[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&u->digest, digest);
    if (args.is_json) {
        scoped(buf_fini_scoped) struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
        struct json *v = json_new_object(&a);
        json_set_str(&a, v, "name", str_of(name));
        json_set_str(&a, v, "digest", str_of(digest));
        json_set_int(&a, v, "deltaSize", (int64_t)u->delta.size);
        json_set_int(&a, v, "deltas", u->n_deltas + 1);
        json_set_int(&a, v, "addedFileBytes", (int64_t)u->added);
        json_set_int(&a, v, "hiddenFileBytes", (int64_t)u->dead);
        json_set_int(&a, v, "fileBytes", (int64_t)u->total);
        json_set_int(&a, v, "whiteouts", (int64_t)u->n_gone);
        json_set_int(&a, v, "changedTimes", (int64_t)u->pair.n_changed_times);
        (void)json_write_pretty(&out, v, 2);
        (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
    } else {
        (void)printf("%s  %s\n", name, digest);
        (void)printf("new      %s in one layer (%s of files, %lld %% of the image)\n",
                     image_size_text(u->delta.size), image_size_text(u->added),
                     (long long)percent(u->added, u->total));
        (void)printf("hidden   %s of files in the layers below (%lld %%), %llu names removed\n",
                     image_size_text(u->dead), (long long)percent(u->dead, u->total),
                     (unsigned long long)u->n_gone);
    }
    (void)fflush(stdout);
    arena_fini(&a);
}

static int check_name(const struct oci_layout *layout, const char *name, bool is_replace,
                      struct err *err)
{
    const struct oci_index *index = oci_layout_index(layout);
    for (size_t i = 0; i < index->n && !is_replace; i++)
        if (str_eq(index->manifests[i].ref_name, str_of(name)))
            return err_set(err, E_CONFLICT,
                           "the layout has an image '%s'; --mode replace moves the name", name);
    return 0;
}

static int update_image(const char *reference, const struct image_refactor_opts *o,
                        struct str directory, const char *name, struct err *err)
{
    scoped(free_scoped) char *path = str_dup(directory);
    scoped(free_scoped) char *old = xasprintf("oci:%s:%s", path, update);
    const char *references[] = { old, reference };
    scoped(oci_layout_end_scoped) struct oci_layout *layout = NULL;
    scoped(image_spool_free_scoped) struct image_spool *spool = NULL;
    struct image_update u = { 0 };
    int r = oci_layout_begin(path, &layout, err);
    r = r < 0 ? r : check_name(layout, name, !o->is_beside, err);
    r = r < 0 ? r : image_spool_new(oci_layout_staging(layout), &spool, err);
    r = r < 0 ? r : image_update_plan(references, o, spool, &u, err);
    if (r >= 0 && u.why)
        r = err_set(err, E_DENIED,
                    "no delta is written: %s; refactor all images of the group again, with the new "
                    "version",
                    u.why);
    r = r < 0 ? r : image_update_write(&u, spool, layout, name, err);
    if (r >= 0)
        print_update(&u, name);
    image_update_fini(&u);
    return r;
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct image_refactor_opts o = { 0 };
    struct arena a = { 0 };
    struct str directory = STR_NULL, target_name = STR_NULL;
    int r = cmd_parse(&cmd_image_refactor, opts, argc, argv, IMAGE_GROUP_MAX, &n);
    if (r)
        return r - 1;
    if (n == 0)
        return cmd_failf(CMD_USAGE, "no image; 'dormouse image refactor --help' says how they are "
                                    "named");
    if ((r = check_args(&o, n)) != 0)
        return r;
    if (to)
        (void)str_cut(str_of(to + 4), ':', &directory, &target_name);
    const char **image_names = arena_new_n(&a, const char *, n);
    for (size_t i = 0; i < n; i++) {
        scoped(free_scoped) char *full = image_reference(args.store, argv[i]);
        argv[i] = arena_strndup(&a, full, strlen(full));
    }
    r = name_all(&a, argv, n, target_name, image_names);
    if (r == 0)
        r = update ? update_image(argv[0], &o, directory, image_names[0], &err)
                   : refactor((const char *const *)argv, n, &o, directory, image_names, &err);
    if (r < 0)
        r = cmd_fail(CMD_FAILED, &err);
    arena_fini(&a);
    return r;
}

const struct cmd cmd_image_refactor = {
    .name = "image refactor",
    .args = "IMAGE...",
    .doc = "give images new layers, so that what they share is stored once",
    .help =
        "Reads the images, finds which files they have in common (path, content, mode, owner and\n"
        "extended attributes), and writes images with the same content into an image layout: "
        "layers\n"
        "that several images share below, one layer of its own on top. Before anything becomes\n"
        "visible, what was written is read back and compared with the sources.\n"
        "\n"
        "Shared files get the earliest of their modification times, except Python sources whose\n"
        "compiled files record the time; --mtime exact shares files with equal times only.\n"
        "\n"
        "With --update a new version keeps the layers of the old one and gets a layer with the\n"
        "difference. What it replaces or removes stays in the layers below: hidden, not gone.\n"
        "After four deltas, or where too much changed, refactor the group again.\n"
        "\n" IMAGE_REFERENCE_HELP "\n"
        "  dormouse image refactor --dry-run oci:app:v1 oci:app:v2 docker-archive:db.tar\n"
        "  dormouse image refactor app:v1 app:v2 --to oci:shared\n"
        "  dormouse image refactor oci:app:v3 --update v2 --to oci:shared\n"
        "  skopeo copy oci:shared:v2 docker://registry.example/app:v2\n",
    .run = run,
    .opts = image_refactor_opts,
};
