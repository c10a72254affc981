/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image check and gc: what is damaged in the node store, and what nothing needs. */
#include "base/buf.h"
#include "cmd/image_args.h"
#include "cmd/image_store.h"
#include "codec/json.h"
#include "image/erofs_file.h"
#include "image/layer_child.h"
#include "image/linked_dir.h"
#include "image/provide.h"

static struct image_store_args where;
static bool remove_damaged, dry_run;
static uint64_t rate;

/* ---- check ---- */

static const struct cmd_opt check_opts[] = {
    IMAGE_STORE_OPT(where.store),
    { "remove", 0, NULL, "drop what is damaged, and make indexes again", CMD_FLAG, &remove_damaged,
      0, 0 },
    { "rate", 0, "SIZE", "bytes to read in a second (no limit)", CMD_SIZE, &rate, 0, 0 },
    IMAGE_STORE_WAIT_OPT(where.wait_ms),
    IMAGE_TEXT_OUTPUT_OPT(where.output),
    { .name = NULL },
};

static const struct cmd_opt *image_check_opts(void)
{
    return check_opts;
}

struct findings {
    struct arena a;
    struct json *list;
    bool is_text;
};

static void add_finding(struct findings *f, const char *kind, const char *what, const char *why)
{
    if (f->is_text) {
        scoped(buf_fini_scoped) struct buf line = BUF_INIT(8192);
        cmd_add_safe(&line, str_of(what));
        (void)buf_add_cstr(&line, ": ");
        cmd_add_safe(&line, str_of(why));
        (void)printf("%-10s  %s\n", kind, buf_cstr(&line));
        return;
    }
    struct json *v = json_new_object(&f->a);
    json_set_str(&f->a, v, "kind", str_of(kind));
    json_set_str(&f->a, v, "what", str_of(what));
    json_set_str(&f->a, v, "why", str_of(why));
    json_add(f->list, v);
}

static void on_directories_damage(void *arg, const char *path, const char *why)
{
    add_finding(arg, "mount", path, why);
}

static void on_damage(void *arg, enum oci_store_damage_kind kind, const char *what, const char *why)
{
    add_finding(arg, oci_store_damage_word(kind), what, why);
}

static void on_unread(void *arg, enum oci_store_damage_kind kind, const char *what, const char *why)
{
    scoped(free_scoped) char *which = xasprintf("%s %s", oci_store_damage_word(kind), what);
    add_finding(arg, "unread", which, why);
}

static void print_check(struct findings *f, const struct oci_store_check_result *res)
{
    if (f->is_text) {
        (void)printf(
            "%zu images, %zu layers, %zu documents, %s read: %zu damaged, %zu removed, %zu "
            "made again, %zu images incomplete\n",
            res->n_images, res->n_layers, res->n_documents, image_size_text(res->n_bytes),
            res->n_damaged, res->n_removed, res->n_repaired, res->n_incomplete);
        if (res->n_unread)
            (void)printf("%zu could not be read, and stay\n", res->n_unread);
        return;
    }
    struct json *v = json_new_object(&f->a);
    json_set_int(&f->a, v, "images", (int64_t)res->n_images);
    json_set_int(&f->a, v, "layers", (int64_t)res->n_layers);
    json_set_int(&f->a, v, "documents", (int64_t)res->n_documents);
    json_set_int(&f->a, v, "files", (int64_t)res->n_objects);
    json_set_int(&f->a, v, "bytes", (int64_t)res->n_bytes);
    json_set_int(&f->a, v, "damaged", (int64_t)res->n_damaged);
    json_set_int(&f->a, v, "removed", (int64_t)res->n_removed);
    json_set_int(&f->a, v, "repaired", (int64_t)res->n_repaired);
    json_set_int(&f->a, v, "incomplete", (int64_t)res->n_incomplete);
    json_set_int(&f->a, v, "unread", (int64_t)res->n_unread);
    json_setc(&f->a, v, "findings", f->list);
    image_store_print_json(v);
}

static int run_check(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    bool is_json;
    struct oci_store_check_result res = { 0 };
    struct erofs_file_found mounts = { 0 };
    int r = cmd_parse(&cmd_image_check, check_opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    if ((r = image_text_output(where.output, &is_json)) != 0)
        return r;
    struct findings f = { .is_text = !is_json };
    f.list = json_new_array(&f.a);
    struct oci_store_opts how = { .is_reader = !remove_damaged,
                                  .must_exist = true,
                                  .lock_ms = where.wait_ms };
    struct oci_store_check_opts check = { .remove = remove_damaged,
                                          .bytes_per_s = rate,
                                          .on_damage = on_damage,
                                          .on_unread = on_unread,
                                          .arg = &f,
                                          .reading = &layer_child_reading };
    scoped(oci_store_close_scoped) struct oci_store *s = NULL;
    r = image_store_open(where.store, how, &s, &err);
    r = r < 0 ? r : oci_store_check(s, &check, &res, &err);
    if (r >= 0)
        r = erofs_file_check_all(s, remove_damaged, on_directories_damage, &f, &mounts, &err);
    res.n_damaged += mounts.n_damaged;
    if (r >= 0 || res.n_unread)
        print_check(&f, &res);
    if (r >= 0 && remove_damaged)
        r = oci_store_sweep(s, SIZE_MAX, &err);
    arena_fini(&f.a);
    if (r < 0)
        return cmd_fail(CMD_FAILED, &err);
    return res.n_damaged && !remove_damaged ? CMD_FAILED : CMD_OK;
}

const struct cmd cmd_image_check = {
    .name = "image check",
    .doc = "read all images in the store and compare them with their digests",
    .help =
        "Reads every document, layer and blob, and compares each layer's index with its tar;\n"
        "where layers share files ('pull --form cas'), every file as well, and the directories\n"
        "that mounts use (with --remove the next mount makes them again).\n"
        "With --remove damaged layers and documents are dropped, names whose documents are\n"
        "lost too, and damaged indexes are made again; pull the images once more then. A\n"
        "damaged file takes along the layers that need it. What cannot be read (an error of\n"
        "the disk) is named, and stays.\n"
        "Exit status: 0 nothing is damaged any more, 1 something is, or could not be read.\n"
        "\n"
        "  dormouse image check\n"
        "  dormouse image check --remove --rate 5Mi\n",
    .run = run_check,
    .opts = image_check_opts,
};

/* ---- gc ---- */

static const struct cmd_opt gc_opts[] = {
    IMAGE_STORE_OPT(where.store),
    { "dry-run", 0, NULL, "say what would go, and remove nothing", CMD_FLAG, &dry_run, 0, 0 },
    IMAGE_STORE_WAIT_OPT(where.wait_ms),
    IMAGE_TEXT_OUTPUT_OPT(where.output),
    { .name = NULL },
};

static const struct cmd_opt *image_gc_opts(void)
{
    return gc_opts;
}

/* What the layer cache knows of the layers that are left. */
static void cache_json(struct arena *a, struct json *to, const struct layer_cache_summary *c)
{
    static const struct {
        const char *name;
        enum image_cache_list list;
    } rows[] = { { "once", IMAGE_CACHE_T1 },
                 { "often", IMAGE_CACHE_T2 },
                 { "unused", IMAGE_CACHE_DEAD },
                 { "evictedOnce", IMAGE_CACHE_B1 },
                 { "evictedOften", IMAGE_CACHE_B2 } };
    struct json *v = json_obj(a, to, "cache");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct json *l = json_obj(a, v, rows[i].name);
        json_set_int(a, l, "layers", (int64_t)c->lists[rows[i].list].n);
        json_set_int(a, l, "bytes", (int64_t)c->lists[rows[i].list].bytes);
    }
}

static void print_gc(const struct oci_store_gc *res, size_t n_roots,
                     const struct layer_cache_summary *cache, bool is_json)
{
    const struct image_cache_count *l = cache->lists;
    struct arena a = { 0 };
    if (is_json) {
        struct json *v = json_new_object(&a);
        json_set_int(&a, v, "layers", (int64_t)res->n_layers);
        json_set_int(&a, v, "blobs", (int64_t)res->n_blobs);
        json_set_int(&a, v, "indexes", (int64_t)res->n_indexes);
        json_set_int(&a, v, "documents", (int64_t)res->n_documents);
        json_set_int(&a, v, "files", (int64_t)res->n_objects);
        json_set_int(&a, v, "bytes", (int64_t)res->n_bytes);
        json_set_int(&a, v, "rootFileSystems", (int64_t)n_roots);
        json_set_bool(&a, v, "dryRun", dry_run);
        cache_json(&a, v, cache);
        image_store_print_json(v);
    } else {
        (void)printf("%s %zu layers, %zu blobs, %zu indexes, %zu documents, %zu files: %s\n",
                     dry_run ? "would remove" : "removed", res->n_layers, res->n_blobs,
                     res->n_indexes, res->n_documents, res->n_objects,
                     image_size_text(res->n_bytes));
        if (n_roots)
            (void)printf("%s %zu root file systems of functions that no container uses\n",
                         dry_run ? "would remove" : "removed", n_roots);
        (void)printf(
            "layers used once: %llu (%s), often: %llu (%s); evicted and remembered: %llu\n",
            (unsigned long long)l[IMAGE_CACHE_T1].n, image_size_text(l[IMAGE_CACHE_T1].bytes),
            (unsigned long long)l[IMAGE_CACHE_T2].n, image_size_text(l[IMAGE_CACHE_T2].bytes),
            (unsigned long long)(l[IMAGE_CACHE_B1].n + l[IMAGE_CACHE_B2].n));
    }
    arena_fini(&a);
}

static int run_gc(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    bool is_json;
    struct oci_store_gc res = { 0 };
    size_t n_roots = 0;
    struct layer_cache_summary cache = { 0 };
    size_t n_links = 0;
    uint64_t link_bytes = 0;
    int r = cmd_parse(&cmd_image_gc, gc_opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    if ((r = image_text_output(where.output, &is_json)) != 0)
        return r;
    const struct oci_store_opts how = { .lock_ms = where.wait_ms, .must_exist = true };
    scoped(oci_store_close_scoped) struct oci_store *s = NULL;
    r = image_store_open(where.store, how, &s, &err);
    bool is_none = r == -ENOENT; /* no store yet, and none is made */
    r = r < 0 ? r : provide_sweep(s, 0, dry_run, &n_roots, &err);
    r = r < 0 ? r : oci_store_gc(s, dry_run, &res, &err);
    r = r < 0 ? r : oci_store_sweep(s, SIZE_MAX, &err);
    r = r < 0 ? r : linked_dir_sweep(s, dry_run, &n_links, &link_bytes, &err);
    r = r < 0 ? r : layer_cache_settle(s, &err);
    if (r < 0 && !is_none)
        return cmd_fail(CMD_FAILED, &err);
    res.n_objects += n_links;
    res.n_bytes += link_bytes;
    if (s)
        (void)layer_cache_summary(s, &cache);
    print_gc(&res, n_roots, &cache, is_json);
    return CMD_OK;
}

const struct cmd cmd_image_gc = {
    .name = "image gc",
    .doc = "remove layers and documents that no image in the store needs",
    .help =
        "What containers and mounts use stays. Root file systems that functions have left are\n"
        "removed; the next use writes them again. Also says what the cache of layers knows: how\n"
        "many layers were used once and often, and how many a quota evicted that it remembers\n"
        "('dormouse image ls --layers').\n"
        "\n"
        "  dormouse image gc --dry-run\n"
        "  dormouse image gc\n",
    .run = run_gc,
    .opts = image_gc_opts,
};
