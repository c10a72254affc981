/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image check and gc: what is damaged in the node store, and what nothing needs. */
#include "base/buf.h"
#include "cmd/image_args.h"
#include "cmd/image_store.h"
#include "codec/json.h"

#include <errno.h>

static struct image_store_args where;
static bool remove_damaged, dry_run;
static uint64_t rate;

/* ---- check ---- */

static const struct cmd_opt check_opts[] = {
    IMAGE_STORE_OPT(where.store),
    { "remove", 0, NULL, "remove damaged data, and make indexes again", CMD_FLAG, &remove_damaged,
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

static long long count_of(const struct json *v, const char *key)
{
    return (long long)json_int_or(json_getc(v, key), 0);
}

static void add_finding(struct findings *f, struct str kind, struct str what, struct str why)
{
    if (f->is_text) {
        scoped(buf_fini_scoped) struct buf line = BUF_INIT(8192);
        cmd_add_safe(&line, what);
        (void)buf_add_cstr(&line, ": ");
        cmd_add_safe(&line, why);
        (void)printf("%-10.*s  %s\n", STR_ARG(kind), buf_cstr(&line));
        return;
    }
    struct json *v = json_new_object(&f->a);
    json_set_str(&f->a, v, "kind", str_copy_arena(&f->a, kind));
    json_set_str(&f->a, v, "what", str_copy_arena(&f->a, what));
    json_set_str(&f->a, v, "why", str_copy_arena(&f->a, why));
    json_add(f->list, v);
}

static void on_event(void *arg, const struct json *v)
{
    const struct json *f = json_getc(v, "finding");
    if (f)
        add_finding(arg, json_get_str(f, "kind"), json_get_str(f, "what"), json_get_str(f, "why"));
}

static void print_check(struct findings *f, struct json *v)
{
    if (f->is_text) {
        (void)printf("%lld images, %lld layers, %lld documents, %s read: %lld damaged, %lld "
                     "removed, %lld made again, %lld images incomplete\n",
                     count_of(v, "images"), count_of(v, "layers"), count_of(v, "documents"),
                     image_size_text((uint64_t)count_of(v, "bytes")), count_of(v, "damaged"),
                     count_of(v, "removed"), count_of(v, "repaired"), count_of(v, "incomplete"));
        if (count_of(v, "unread"))
            (void)printf("%lld could not be read, and stay\n", count_of(v, "unread"));
        return;
    }
    (void)json_del(v, STR("unreadError"));
    json_setc(&f->a, v, "findings", f->list);
    image_store_print_json(v);
}

/* Nothing is changed: a process that has the store open does not matter. */
static int check_as_reader(const struct store_do *d, struct arena *a, struct json **ret,
                           struct err *err)
{
    const struct store_job_watch watch = { .on_event = d->on_event, .arg = d->arg };
    scoped(oci_store_close_scoped) struct oci_store *s = NULL;
    int r = image_store_open(where.store, (struct oci_store_opts){ .is_reader = true }, &s, err);
    return r < 0 ? r : store_job_run(s, &d->job, &watch, a, ret, err);
}

static int run_check(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    bool is_json;
    struct json *res;
    int r = cmd_parse(&cmd_image_check, check_opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    if ((r = image_text_output(where.output, &is_json)) != 0)
        return r;
    struct findings f = { .is_text = !is_json };
    f.list = json_new_array(&f.a);
    struct store_do d = {
        .opts = { .must_exist = true, .lock_ms = where.wait_ms },
        .job = { .kind = STORE_JOB_CHECK, .is_dry = !remove_damaged, .bytes_per_s = rate },
        .on_event = on_event,
        .arg = &f,
    };
    r = remove_damaged ? image_store_do(where.store, &d, &f.a, &res, &err)
                       : check_as_reader(&d, &f.a, &res, &err);
    bool is_damaged = r >= 0 && count_of(res, "damaged");
    const struct json *unread = r < 0 ? NULL : json_getc(res, "unreadError");
    if (unread)
        (void)err_set(&err, -EIO, STR_FMT, STR_ARG(json_get_str(unread, "text")));
    if (r >= 0)
        print_check(&f, res);
    bool has_failed = r < 0 || unread;
    arena_fini(&f.a);
    if (has_failed)
        return cmd_fail(CMD_FAILED, &err);
    return is_damaged && !remove_damaged ? CMD_FAILED : CMD_OK;
}

const struct cmd cmd_image_check = {
    .name = "image check",
    .doc = "read all images in the store and compare them with their digests",
    .help =
        "Reads every document, layer and blob, and compares the index of each layer with its tar.\n"
        "If layers share files ('pull --form cas'), it also reads every file, and the directories\n"
        "that mounts use (with --remove the next mount makes them again).\n"
        "\n"
        "With --remove damaged layers and documents are removed, also names without documents,\n"
        "and damaged indexes are made again; pull the images again afterwards. With a damaged\n"
        "file the layers that need it are removed. Files that cannot be read (an error of the\n"
        "disk) are printed, and stay. If a server has the store open, it removes for this\n"
        "command, except for what it holds.\n"
        "\n"
        "Exit status: 0 if nothing is damaged (any more), 1 if something is damaged or could not\n"
        "be read, or if there is no store.\n"
        "\n"
        "  dormouse image check\n"
        "  dormouse image check --remove --rate 5Mi\n",
    .run = run_check,
    .opts = image_check_opts,
};

/* ---- gc ---- */

static const struct cmd_opt gc_opts[] = {
    IMAGE_STORE_OPT(where.store),
    { "dry-run", 0, NULL, "print what would be removed, and remove nothing", CMD_FLAG, &dry_run, 0,
      0 },
    IMAGE_STORE_WAIT_OPT(where.wait_ms),
    IMAGE_TEXT_OUTPUT_OPT(where.output),
    { .name = NULL },
};

static const struct cmd_opt *image_gc_opts(void)
{
    return gc_opts;
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
        "Layers and documents that containers and mounts use stay. Root file systems that\n"
        "functions no longer use are removed; the next use writes them again. The command also\n"
        "prints what the cache of layers has recorded: how many layers were used once and often,\n"
        "and how many evicted layers it still knows ('dormouse image ls --layers'). If a server\n"
        "has the store open, it does this for the command, and keeps what it is pulling. A store\n"
        "that does not exist is an error, and none is made.\n"
        "\n"
        "  dormouse image gc --dry-run\n"
        "  dormouse image gc\n",
    .run = run_gc,
    .opts = image_gc_opts,
};
