/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image check and gc: what is damaged in the node store, and what nothing needs. */
#include "base/buf.h"
#include "cmd/image_args.h"
#include "cmd/image_store.h"
#include "codec/json.h"
#include "image/erofs_file.h"
#include "image/layer_child.h"

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

static bool is_store(void)
{
    scoped(oci_store_close_scoped) struct oci_store *s = NULL;
    return image_store_open(where.store, (struct oci_store_opts){ .is_reader = true }, &s, NULL) >=
           0;
}

static long long count_of(const struct json *v, const char *key)
{
    return (long long)json_int_or(json_getc(v, key), 0);
}

static void print_gc(const struct json *v)
{
    const struct json *cache = json_getc(v, "cache"), *once = json_getc(cache, "once"),
                      *often = json_getc(cache, "often");
    const char *verb = dry_run ? "would remove" : "removed";
    (void)printf("%s %lld layers, %lld blobs, %lld indexes, %lld documents, %lld files: %s\n", verb,
                 count_of(v, "layers"), count_of(v, "blobs"), count_of(v, "indexes"),
                 count_of(v, "documents"), count_of(v, "files"),
                 image_size_text((uint64_t)count_of(v, "bytes")));
    if (count_of(v, "rootFileSystems"))
        (void)printf("%s %lld root file systems of functions that no container uses\n", verb,
                     count_of(v, "rootFileSystems"));
    (void)printf("layers used once: %lld (%s), often: %lld (%s); evicted and remembered: %lld\n",
                 count_of(once, "layers"), image_size_text((uint64_t)count_of(once, "bytes")),
                 count_of(often, "layers"), image_size_text((uint64_t)count_of(often, "bytes")),
                 count_of(json_getc(cache, "evictedOnce"), "layers") +
                     count_of(json_getc(cache, "evictedOften"), "layers"));
}

static int run_gc(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    bool is_json;
    struct arena a = { 0 };
    struct json *result;
    int r = cmd_parse(&cmd_image_gc, gc_opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    if ((r = image_text_output(where.output, &is_json)) != 0)
        return r;
    struct store_do j = { .opts = { .lock_ms = where.wait_ms, .must_exist = true },
                          .job = { .kind = STORE_JOB_GC, .is_dry = dry_run } };
    r = image_store_do(where.store, &j, &a, &result, &err);
    if (r == -ENOENT && !is_store()) { /* and none is made */
        r = 0;
        result = store_job_gc_none(dry_run, &a);
    }
    if (r >= 0 && is_json)
        image_store_print_json(result);
    else if (r >= 0)
        print_gc(result);
    arena_fini(&a);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_image_gc = {
    .name = "image gc",
    .doc = "remove layers and documents that no image in the store needs",
    .help =
        "What containers and mounts use stays. Root file systems that functions have left are\n"
        "removed; the next use writes them again. Also says what the cache of layers knows: how\n"
        "many layers were used once and often, and how many a quota evicted that it remembers\n"
        "('dormouse image ls --layers'). A server that has the store open does it for this "
        "command, "
        "and\n"
        "leaves what it is pulling.\n"
        "\n"
        "  dormouse image gc --dry-run\n"
        "  dormouse image gc\n",
    .run = run_gc,
    .opts = image_gc_opts,
};
