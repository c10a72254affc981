/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse image optimize: watches images in registries and refactors groups of them when that is
 * due. This process only watches: what reads images runs in children ('image groups', 'image
 * refactor'), so that at rest there is one timer and little memory.
 */
#include "base/clock.h"
#include "base/sum.h"
#include "base/sys.h"
#include "base/tree_remove.h"
#include "base/vec.h"
#include "cmd/child.h"
#include "cmd/image_args.h"
#include "cmd/image_optimize_news.h"
#include "cmd/image_refactor.h"
#include "codec/json.h"
#include "codec/yaml.h"
#include "image/bdm_send.h"
#include "image/lease.h"
#include "image/refactor.h"
#include "image/retries.h"
#include "image/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    ARGS_MAX = 1024,
    OUTPUT_MAX_BYTES = 64 << 20, /* of a child */
    CONFIG_MAX_BYTES = 1 << 20,
    WATCH_MIN_MS = 100,
    INDEX_UNUSED_S = 30 * 86400,
    LOOK_ATTEMPTS = 2, /* of a request: the next look is another one */
};

static struct image_args args;
static const char *config, *registry_host, *state_dir,
    *mode = "side", *mtime = "canonical", *link_how = "none", *proof = "auto", *redundancy = "auto";
static const char *layers_how; /* NULL: gzip */
static const char *layer_threshold, *gain_threshold, *max_layers, *threads;
static struct cmd_list exact_globs, news;
static const char *key_file;
static bool is_once, is_across;
static uint64_t period_ms = 6 * 3600000, watch_ms = 60000, lease_ms = 60000, group_size = 64;

static const struct cmd_opt opts[] = {
    { "config", 0, "FILE", "options and images in YAML; the command line has precedence",
      CMD_STRING, &config, 0, 0 },
    { "registry", 0, "HOST", "all repositories of this registry", CMD_STRING, &registry_host, 0,
      0 },
    { "across-namespaces", 0, NULL,
      "group images of different namespaces (a/x, b/y) of --registry as well", CMD_FLAG, &is_across,
      0, 0 },
    { "once", 0, NULL, "check once, do what is due, and end", CMD_FLAG, &is_once, 0, 0 },
    { "watch", 0, "DURATION", "time between two checks of the tags (1m)", CMD_DURATION, &watch_ms,
      0, 0 },
    { "period", 0, "DURATION",
      "how often to remove indexes that no run used for 30 days, and to retry images that could "
      "not be read; a group that failed is retried at the first check after 5s, then 10s, 20s and "
      "so on up to this time, or 5m if that is less (6h)",
      CMD_DURATION, &period_ms, 0, 0 },
    { "lease", 0, "DURATION", "after which another optimizer may take over (1m)", CMD_DURATION,
      &lease_ms, 0, 0 },
    { "state-dir", 0, "DIR", "state of the optimizer (optimizer/ in the data directory)",
      CMD_STRING, &state_dir, 0, 0 },
    { "news", 0, "WHERE",
      "where to report moved images and dead layers: a file, one JSON object in a line, the URL of "
      "an endpoint, or NAME=URL of a node ('dormouse image serve --node NAME'); may be repeated",
      CMD_LIST, &news, 0, 0 },
    { "cluster-key-file", 0, "FILE", "the key that these nodes share", CMD_STRING, &key_file, 0,
      0 },
    CMD_SECTION("Refactoring (as in 'dormouse image refactor')"),
    { "mode", 0, "MODE", "side: attach new images to their sources; replace: move the tags (side)",
      CMD_STRING, &mode, 0, 0 },
    { "redundancy-threshold", 0, "SIZE",
      "start a run when an image has this many redundant bytes; auto: 16Mi or a fifth, if more "
      "(auto)",
      CMD_STRING, &redundancy, 0, 0 },
    { "gain-threshold", 0, "SIZE", "the minimum saving", CMD_STRING, &gain_threshold, 0, 0 },
    { "layer-threshold", 0, "SIZE", "minimum size of a shared layer", CMD_STRING, &layer_threshold,
      0, 0 },
    { "max-layers", 0, "N", "maximum number of layers of an image", CMD_STRING, &max_layers, 0, 0 },
    { "group-size", 0, "N",
      "maximum number of images planned together; of more, those that share most (64)", CMD_U64,
      &group_size, 2, IMAGE_GROUP_MAX },
    { "mtime", 0, "HOW", "canonical or exact (canonical)", CMD_STRING, &mtime, 0, 0 },
    { "mtime-exact", 0, "GLOB", "paths whose times have to be equal; may be repeated", CMD_LIST,
      &exact_globs, 0, 0 },
    { "link", 0, "HOW", "none or symlink (none)", CMD_STRING, &link_how, 0, 0 },
    { "layers", 0, "HOW", "gzip, estargz or zstd-chunked (gzip)", CMD_STRING, &layers_how, 0, 0 },
    { "proof", 0, "HOW", "libarchive, auto or own (auto)", CMD_STRING, &proof, 0, 0 },
    CMD_SECTION("Other"),
    { "threads", 0, "N", "(one for each processor)", CMD_STRING, &threads, 0, 0 },
    IMAGE_ARGS_OPTS(args),
    { .name = NULL },
};

static const struct cmd_opt *image_optimize_opts(void)
{
    return opts;
}

struct optimizer {
    struct arena memory;
    struct image_watch *watch;
    int stop_fd, look_fd, lock_fd;     /* signals to end, and to look at once */
    const char *dir, *indexes, *times; /* paths */
    struct image_retries retries;      /* of groups and realms, by their keys */
    bool has_failed;
    struct err err;
};

/* ---- the configuration ---- */

/* "layerThreshold" is "--layer-threshold". */
static const char *option_of(struct arena *a, struct str key)
{
    scoped(buf_fini_scoped) struct buf to = BUF_INIT(4096);
    (void)buf_add_cstr(&to, "--");
    for (size_t i = 0; i < key.n; i++) {
        bool is_upper = key.p[i] >= 'A' && key.p[i] <= 'Z';
        char c = (char)(is_upper ? key.p[i] + ('a' - 'A') : key.p[i]);
        if (is_upper)
            (void)buf_add_cstr(&to, "-");
        (void)buf_add(&to, &c, 1);
    }
    return str_dup_arena(a, buf_str(&to));
}

struct child_args {
    char *at[ARGS_MAX + 1];
    size_t n;
};

static int add_arg(struct child_args *w, const char *word)
{
    if (w->n >= ARGS_MAX)
        return cmd_failf(CMD_USAGE, "more than %d arguments", ARGS_MAX);
    w->at[w->n++] = (char *)word;
    return 0;
}

static int add_value(struct arena *a, struct child_args *w, struct str key, const struct json *v)
{
    if (json_is_bool(v) && !json_bool(v) && !str_is(key, "images"))
        return 0;
    int r = str_is(key, "images") ? 0 : add_arg(w, option_of(a, key));
    if (r || (json_is_bool(v) && !str_is(key, "images")))
        return r;
    if (str_is(key, "images") && !json_is(v, JSON_STRING))
        return cmd_failf(CMD_USAGE, "'%s': images must be a text or a list of texts", config);
    struct str text = json_is(v, JSON_NUMBER) ? v->s : json_str(v);
    return text.n ? add_arg(w, str_dup_arena(a, text))
                  : cmd_failf(CMD_USAGE, "'%s': " STR_FMT " is a text, a number or a list of them",
                              config, STR_ARG(key));
}

/* The members of the file, or of its "spec" if it is an object of Kubernetes, as options. */
static int add_config(struct arena *a, struct child_args *w)
{
    struct err err = { 0 };
    struct buf text = BUF_INIT(CONFIG_MAX_BYTES);
    struct json *doc = NULL;
    int r = sys_read_file(AT_FDCWD, config, &text, &err);
    struct str kept = str_copy_arena(a, buf_str(&text));
    buf_fini(&text);
    r = r < 0 ? r : yaml_parse(a, kept, NULL, &doc, &err);
    if (r < 0) {
        (void)err_ctx(&err, r, "'%s'", config);
        return cmd_fail(CMD_USAGE, &err);
    }
    r = 0;
    json_each (v, json_getc(doc, "kind") ? json_getc(doc, "spec") : doc)
        if (json_is(v, JSON_ARRAY))
            json_each (e, v)
                r = r ? r : add_value(a, w, v->key, e);
        else
            r = r ? r : add_value(a, w, v->key, v);
    return r;
}

/* The words of the file before those of the command line: later ones win. */
static int with_config(struct arena *a, int argc, char **argv, struct child_args *ret)
{
    int r = 0;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--config") == 0 && i + 1 < argc)
            config = argv[i + 1];
        else if (strncmp(argv[i], "--config=", 9) == 0)
            config = argv[i] + 9;
    }
    if (config)
        r = add_config(a, ret);
    for (int i = 0; r == 0 && i < argc; i++)
        r = add_arg(ret, argv[i]);
    return r;
}

/* ---- groups ---- */

/* The images are copies of those of the watch, with the digests that a run gave them. */
struct image_optimize_group {
    struct image_watched **images;
    size_t n;
    char key[SHA256_HEX_SIZE]; /* of the images as they are, and how they would be refactored */
};

static int by_name(const void *name, const void *image)
{
    return strcmp(name, (*(struct image_watched *const *)image)->name);
}

/* Of images sorted by name; NULL: none. */
static struct image_watched *find(const struct image_optimize_group *from, struct str name)
{
    scoped(free_scoped) char *key = str_dup(name);
    struct image_watched **at =
        bsearch(key, from->images, from->n, sizeof(struct image_watched *), by_name);
    return at ? *at : NULL;
}

/* Images of one registry, and of one namespace of a registry that is watched as a whole. */
static const char *realm_of(struct arena *a, const struct image_watched *i)
{
    struct str host, rest, name;
    (void)str_cut(str_of(i->family), '/', &host, &rest);
    bool is_split = registry_host && !is_across && str_cut(rest, '/', &name, &rest);
    return is_split ? arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(host), STR_ARG(name))
                    : str_dup_arena(a, host);
}

static void add_text(struct sha256 *h, const char *text)
{
    sha256_add(h, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void set_key(struct image_optimize_group *g)
{
    uint8_t digest[SHA256_BYTES];
    const char *const how[] = {
        mode,  mtime,      link_how,        redundancy,    gain_threshold,
        proof, max_layers, layer_threshold, args.platform, args.symlink_parent
    };
    scoped(sha256_free_scoped) struct sha256 *h = sha256_new();
    for (size_t i = 0; i < g->n; i++) {
        add_text(h, g->images[i]->name);
        sha256_add(h, g->images[i]->digest.bytes, SHA256_BYTES);
    }
    for (size_t i = 0; i < ARRAY_LEN(how); i++)
        add_text(h, how[i]);
    if (layers_how)
        add_text(h, layers_how);
    for (size_t i = 0; i < exact_globs.n; i++)
        add_text(h, exact_globs.at[i]);
    sha256_add(h, &group_size, sizeof group_size); /* how a realm was split */
    sha256_end(h, digest);
    hex_format(digest, sizeof digest, g->key);
}

/* ---- children ---- */

struct arg_list {
    VEC(const char *) all;
};

static void add_option(struct arg_list *w, const char *name, const char *value)
{
    if (!value)
        return;
    vec_push(&w->all, name);
    vec_push(&w->all, value);
}

static void add_reading(struct optimizer *o, struct arg_list *w)
{
    add_option(w, "--index-dir", o->indexes);
    add_option(w, "--platform", args.platform);
    add_option(w, "--symlink-parent", args.symlink_parent);
    add_option(w, "--ca-file", args.registry.ca_file);
    add_option(w, "--threads", threads);
    add_option(w, "--output", "json");
    if (args.registry.plain_http)
        vec_push(&w->all, "--plain-http");
    if (args.registry.allows_private)
        vec_push(&w->all, "--allow-private");
    vec_push(&w->all, "--skip");
    if (args.registry.stall_ms)
        add_option(w, "--timeout",
                   arena_printf(&o->memory, "%llums", (unsigned long long)args.registry.stall_ms));
}

static int renew(void *arg, struct err *err)
{
    return image_lease_renew(arg, err);
}

static int run_child(struct optimizer *o, struct arg_list *w, struct image_lease *lease,
                     struct json **ret, struct err *err)
{
    struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    vec_push(&w->all, NULL);
    const struct child_opts c = {
        .words = w->all.p,
        .stop_fd = o->stop_fd,
        .tick_ms = lease ? lease_ms / 3 : 0,
        .tick = renew,
        .arg = lease,
    };
    int r = child_run(&c, &out, err);
    if (r > 0)
        r = err_set(err, -EIO, "'dormouse %s %s' failed (%d); its message is above", w->all.p[0],
                    w->all.p[1], r);
    struct str text = str_copy_arena(&o->memory, buf_str(&out));
    r = r < 0 ? r : json_parse(&o->memory, text, NULL, ret, err);
    buf_fini(&out);
    vec_fini(&w->all);
    return r;
}

/* A file for each group, identified by its first image: a change in one does not affect another. */
static const char *changes_file(struct optimizer *o, const struct image_optimize_group *g)
{
    return arena_printf(&o->memory, "%s/changes-%016llx", o->dir,
                        (unsigned long long)sum64(str_of(g->images[0]->name), 0));
}

static void add_refactoring(struct optimizer *o, struct arg_list *w)
{
    add_reading(o, w);
    add_option(w, "--to", "source");
    add_option(w, "--mode", mode);
    add_option(w, "--mtime", mtime);
    add_option(w, "--link", link_how);
    add_option(w, "--layers", layers_how);
    add_option(w, "--proof", proof);
    add_option(w, "--times", o->times);
    add_option(w, "--redundancy-threshold", redundancy);
    add_option(w, "--gain-threshold", gain_threshold);
    add_option(w, "--layer-threshold", layer_threshold);
    add_option(w, "--max-layers", max_layers);
    for (size_t i = 0; i < exact_globs.n; i++)
        add_option(w, "--mtime-exact", exact_globs.at[i]);
}

static int refactor_group(struct optimizer *o, const struct image_optimize_group *g,
                          struct image_lease *lease, struct json **ret, struct err *err)
{
    struct arg_list w = { 0 };
    vec_push(&w.all, "image");
    vec_push(&w.all, "refactor");
    for (size_t i = 0; i < g->n; i++)
        vec_push(&w.all, g->images[i]->name);
    add_refactoring(o, &w);
    add_option(&w, "--changes", changes_file(o, g));
    return run_child(o, &w, lease, ret, err);
}

static int split(struct optimizer *o, const struct image_optimize_group *images, struct json **ret,
                 struct err *err)
{
    struct arg_list w = { 0 };
    vec_push(&w.all, "image");
    vec_push(&w.all, "groups");
    for (size_t i = 0; i < images->n; i++)
        vec_push(&w.all, images->images[i]->name);
    add_reading(o, &w);
    add_option(&w, "--group-size",
               arena_printf(&o->memory, "%llu", (unsigned long long)group_size));
    return run_child(o, &w, NULL, ret, err);
}

/* ---- what failed ---- */

static const char UNREADABLE[] = "unreadable"; /* a key of retries: those that are tried again */

/* The others need not wait for it, nor it for them. */
static void note_failure(struct optimizer *o, const char *key, const char *what, int r,
                         const struct err *err)
{
    if (r == -ECANCELED)
        return;
    uint64_t ms = image_retries_failed(&o->retries, key, clock_mono_ms());
    if (!is_once)
        image_optimize_event("failed", "what=\"%s\" again_ms=%llu error=\"%s\"", what,
                             (unsigned long long)ms, err_text(err));
}

/* ---- images that cannot be read ---- */

static int64_t now_wall_s(void)
{
    return (int64_t)(clock_wall_ms() / 1000);
}

/* It could not be read, and that is long ago, or the clock was set back. */
static bool is_due(const struct image_watched *i)
{
    int64_t waited = now_wall_s() - i->unreadable_wall_s;
    return i->unreadable_wall_s && (waited < 0 || (uint64_t)waited >= period_ms / 1000);
}

static void drop_left_out(struct image_optimize_group *g)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->n; i++)
        if (!g->images[i]->unreadable_wall_s)
            g->images[kept++] = g->images[i];
    g->n = kept;
}

/* Those that a child left out do not belong to the group until they are tried again: what was done
 * was done without them. */
static int leave_out(struct optimizer *o, struct image_optimize_group *g, const struct json *doc,
                     struct err *err)
{
    const struct json *list = json_getc(doc, "leftOut");
    const char **names = arena_new_n(&o->memory, const char *, list ? list->n : 0);
    int64_t now = now_wall_s();
    size_t n = 0;
    json_each (v, list) {
        struct image_watched *i = find(g, json_str(v));
        if (!i)
            continue;
        if (!i->unreadable_wall_s)
            image_optimize_event("unreadable", "name=%s", i->name);
        i->unreadable_wall_s = now;
        names[n++] = i->name;
    }
    drop_left_out(g);
    return image_watch_set_unreadable(o->watch, names, n, now, err);
}

/* Try those again whose time has come, one by one: a group is not planned again because of images
 * that still cannot be read. */
static int try_unreadable(struct optimizer *o, struct err *err)
{
    size_t n_watched, n = 0;
    const struct image_watched *watched = image_watch_images(o->watch, &n_watched);
    struct image_watched *all = arena_new_n(&o->memory, struct image_watched, n_watched);
    struct image_optimize_group due = { arena_new_n(&o->memory, struct image_watched *, n_watched),
                                        0, "" };
    for (size_t i = 0; i < n_watched; i++) {
        if (!is_due(&watched[i]))
            continue;
        all[n] = watched[i];
        due.images[due.n++] = &all[n++];
    }
    if (n == 0 || !image_retries_is_due(&o->retries, UNREADABLE, clock_mono_ms()))
        return 0;
    struct json *doc;
    const char **names = arena_new_n(&o->memory, const char *, n);
    int r = split(o, &due, &doc, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        names[i] = all[i].name;
    r = image_watch_set_unreadable(o->watch, names, n, 0, err);
    r = r < 0 ? r : leave_out(o, &due, doc, err);
    if (r >= 0)
        image_retries_done(&o->retries, UNREADABLE);
    return r;
}

static int try_again(struct optimizer *o, struct err *err)
{
    int r = try_unreadable(o, err);
    if (r < 0)
        note_failure(o, UNREADABLE, "unreadable images", r, err);
    return r;
}

/* ---- one group ---- */

static bool must_stop(const struct optimizer *o, uint64_t wait_ms)
{
    struct pollfd fd = { .fd = o->stop_fd, .events = POLLIN };
    return poll(&fd, 1, (int)MIN(wait_ms, (uint64_t)INT32_MAX)) > 0;
}

/* Wait until no other optimizer works on the group. */
static int take_lease(struct optimizer *o, const struct image_optimize_group *g,
                      struct image_lease **ret, struct err *err)
{
    struct oci_reference ref;
    uint64_t wait_ms = 0;
    bool was_logged = false;
    const char *name = g->images[0]->name + strlen("docker://");
    int r = oci_reference_parse(str_of(name), &ref, err);
    r = r < 0 ? r : image_lease_open(&ref, &args.registry, lease_ms, ret, err);
    while (r >= 0 && (r = image_lease_acquire(*ret, &wait_ms, err)) == 0) {
        bool is_other = image_lease_holder(*ret)[0];
        if (is_other && !was_logged)
            image_optimize_event("waiting", "images=%zu holder=%s", g->n, image_lease_holder(*ret));
        was_logged = was_logged || is_other;
        if (must_stop(o, wait_ms))
            return err_set(err, -ECANCELED, "ended by a signal");
    }
    return r;
}

static int64_t number(const struct json *doc, const char *key)
{
    return json_int_or(json_getc(doc, key), 0);
}

static void print_result(const struct image_optimize_group *g, const struct json *doc)
{
    if (!json_bool(json_getc(doc, "written"))) {
        image_optimize_event("skipped", "images=%zu reason=\"" STR_FMT "\"", g->n,
                             STR_ARG(json_get_str(doc, "reason")));
        return;
    }
    image_optimize_event("refactored", "images=%zu before=%lld after=%lld uploaded=%lld", g->n,
                         (long long)number(doc, "storedBefore"), (long long)number(doc, "stored"),
                         (long long)number(json_getc(doc, "blobs"), "bytes"));
    json_each (i, json_getc(doc, "images"))
        if (!json_bool(json_getc(i, "unchanged")))
            image_optimize_event(
                "attached", "repository=" STR_FMT " source=" STR_FMT " digest=" STR_FMT,
                STR_ARG(json_get_str(i, "repository")), STR_ARG(json_get_str(i, "source")),
                STR_ARG(json_get_str(i, "digest")));
}

/* Tags that the run moved: the group as it is now is not to be planned again. What moved otherwise
 * meanwhile has another digest than these when it is looked at, and so is. */
static void take_digests(struct image_optimize_group *g, const struct json *doc)
{
    json_each (v, json_getc(doc, "images")) {
        scoped(free_scoped) char *moved =
            xasprintf("docker://" STR_FMT ":" STR_FMT, STR_ARG(json_get_str(v, "repository")),
                      STR_ARG(json_get_str(v, "tag")));
        struct image_watched *i = find(g, str_of(moved));
        if (i)
            (void)oci_digest_parse(json_get_str(v, "digest"), &i->digest, NULL);
    }
}

static int work_on(struct optimizer *o, struct image_optimize_group *g, struct err *err)
{
    scoped(image_lease_free_scoped) struct image_lease *lease = NULL;
    struct json *doc = NULL;
    image_optimize_event("working", "images=%zu first=%s", g->n, g->images[0]->name);
    int r = take_lease(o, g, &lease, err);
    r = r < 0 ? r : refactor_group(o, g, lease, &doc, err);
    if (r < 0)
        return r;
    print_result(g, doc);
    bool is_written = json_bool(json_getc(doc, "written"));
    take_digests(g, doc);
    r = leave_out(o, g, doc, err);
    set_key(g);
    r = r < 0 ? r : image_watch_set_note(o->watch, g->key, is_written ? "done" : "skipped", err);
    return r < 0 ? r : is_written;
}

/* *ret_waits: it failed before, and is tried again later. */
static int do_group(struct optimizer *o, struct image_optimize_group *g, bool *ret_waits,
                    struct err *err)
{
    char key[SHA256_HEX_SIZE];
    set_key(g);
    if (g->n < 2 || image_watch_note(o->watch, g->key)[0])
        return 0;
    *ret_waits = !image_retries_is_due(&o->retries, g->key, clock_mono_ms());
    if (*ret_waits)
        return 0;
    memcpy(key, g->key, sizeof key);
    const char *first = g->images[0]->name; /* it may be left out */
    int r = work_on(o, g, err);
    if (r < 0)
        note_failure(o, key, first, r, err);
    else
        image_retries_done(&o->retries, key);
    return r;
}

/* ---- all groups ---- */

/* What many groups gave. */
struct image_optimize_sum {
    int n_done, failed;
    struct err err; /* the last failure */
};

/* The other groups need not wait for one that fails. false: to be ended. */
static bool add_result(struct image_optimize_sum *sum, int r, const struct err *err)
{
    sum->n_done += r > 0;
    if (r < 0) {
        sum->failed = r;
        sum->err = *err;
    }
    return r != -ECANCELED;
}

/* A realm that is too large for one group: those that share most. */
static bool do_split(struct optimizer *o, struct image_optimize_group *realm,
                     struct image_optimize_sum *sum)
{
    struct json *doc = NULL;
    struct err err = { 0 };
    char key[SHA256_HEX_SIZE];
    bool is_whole = true;
    set_key(realm);
    if (image_watch_note(o->watch, realm->key)[0] ||
        !image_retries_is_due(&o->retries, realm->key, clock_mono_ms()))
        return true;
    memcpy(key, realm->key, sizeof key);
    const char *first = realm->images[0]->name;
    int r = split(o, realm, &doc, &err);
    r = r < 0 ? r : leave_out(o, realm, doc, &err);
    if (r < 0) {
        note_failure(o, key, first, r, &err);
        return add_result(sum, r, &err);
    }
    json_each (list, json_getc(doc, "groups")) {
        struct image_optimize_group g = { arena_new_n(&o->memory, struct image_watched *, list->n),
                                          0, "" };
        bool waits = false;
        err = (struct err){ 0 };
        json_each (name, list) {
            struct image_watched *i = find(realm, json_str(name));
            if (i)
                g.images[g.n++] = i;
        }
        r = do_group(o, &g, &waits, &err);
        is_whole = is_whole && r >= 0 && !waits;
        if (!add_result(sum, r, &err))
            return false;
    }
    if (!is_whole) { /* split it again when the group that failed is tried again */
        (void)image_retries_failed(&o->retries, key, clock_mono_ms());
        return true;
    }
    image_retries_done(&o->retries, key);
    drop_left_out(realm);
    set_key(realm);
    r = image_watch_set_note(o->watch, realm->key, "split", &err);
    return r < 0 ? add_result(sum, r, &err) : true;
}

struct placed {
    const char *realm;
    struct image_watched *image;
};

static int by_realm(const void *x, const void *y)
{
    const struct placed *a = x, *b = y;
    int c = strcmp(a->realm, b->realm);
    return c ? c : strcmp(a->image->name, b->image->name);
}

/* Images that can be read by realm, each realm sorted by name. */
static struct placed *place_all(struct optimizer *o, size_t *ret_n)
{
    size_t n_watched, n = 0;
    const struct image_watched *watched = image_watch_images(o->watch, &n_watched);
    struct image_watched *all = arena_new_n(&o->memory, struct image_watched, n_watched);
    struct placed *placed = arena_new_n(&o->memory, struct placed, n_watched);
    for (size_t i = 0; i < n_watched; i++) {
        if (watched[i].n_layers == 0 || watched[i].unreadable_wall_s)
            continue;
        all[n] = watched[i];
        placed[n] = (struct placed){ realm_of(&o->memory, &watched[i]), &all[n] };
        n++;
    }
    if (n)
        qsort(placed, n, sizeof *placed, by_realm);
    *ret_n = n;
    return placed;
}

static void do_all(struct optimizer *o, struct image_optimize_sum *sum)
{
    size_t n, to;
    const struct placed *placed = place_all(o, &n);
    struct image_watched **images = arena_new_n(&o->memory, struct image_watched *, n);
    for (size_t i = 0; i < n; i++)
        images[i] = placed[i].image;
    for (size_t from = 0; from < n; from = to) {
        struct err err = { 0 };
        for (to = from + 1; to < n && strcmp(placed[to].realm, placed[from].realm) == 0;)
            to++;
        struct image_optimize_group realm = { images + from, to - from, "" };
        bool waits = false;
        if (realm.n > group_size ? !do_split(o, &realm, sum)
                                 : !add_result(sum, do_group(o, &realm, &waits, &err), &err))
            return;
    }
}

/* ---- looking ---- */

static void on_trouble(void *arg, const char *name, const struct err *err)
{
    struct optimizer *o = arg;
    o->has_failed = true;
    o->err = *err;
    image_optimize_event("trouble", "name=%s error=\"%s\"", name, err_text(err));
}

static void on_ignored(void *arg, const char *name, const struct err *err)
{
    (void)arg;
    image_optimize_event("ignored", "name=%s reason=\"%s\"", name, err_text(err));
}

static bool on_must_stop(void *arg)
{
    return must_stop(arg, 0);
}

static int look(struct optimizer *o, struct err *err)
{
    int r = image_watch_look(o->watch, err);
    if (r < 0 && r != -ECANCELED && !is_once)
        image_optimize_event("failed", "what=look again_ms=%llu error=\"%s\"",
                             (unsigned long long)watch_ms, err_text(err));
    image_optimize_screen(o->watch);
    return r;
}

static int pass(struct optimizer *o, struct err *err)
{
    struct image_optimize_sum sum = { 0 };
    o->has_failed = false;
    int r = look(o, err);
    if (r >= 0 && add_result(&sum, try_again(o, err), err))
        do_all(o, &sum);
    if (sum.failed < 0) {
        *err = sum.err;
        r = sum.failed;
    }
    if (r != -ECANCELED && sum.n_done && strcmp(mode, "replace") == 0) { /* report moved images */
        struct err why = { 0 };
        int status = look(o, &why);
        if (status < 0 && r >= 0) {
            *err = why;
            r = status;
        }
    }
    image_optimize_screen(o->watch);
    arena_fini(&o->memory);
    o->memory = (struct arena){ 0 };
    return r;
}

/* Indexes that no run has used for long. */
static void tidy(const struct optimizer *o)
{
    struct stat st;
    DIR *dir = opendir(o->indexes);
    if (!dir)
        return;
    for (struct dirent *e; (e = readdir(dir));)
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
            st.st_mtime + INDEX_UNUSED_S < time(NULL))
            (void)unlinkat(dirfd(dir), e->d_name, 0);
    (void)closedir(dir);
}

/* Wait. SIGHUP ends the wait, also one that came during a run, to look now; any other signal ends
 * the program: true. */
static bool is_ended(const struct optimizer *o, uint64_t wait_ms)
{
    struct signalfd_siginfo info;
    struct pollfd fds[2] = { { .fd = o->stop_fd, .events = POLLIN },
                             { .fd = o->look_fd, .events = POLLIN } };
    if (poll(fds, 2, (int)MIN(wait_ms, (uint64_t)INT32_MAX)) <= 0)
        return false;
    if (fds[1].revents)
        (void)!read(o->look_fd, &info, sizeof info);
    return fds[0].revents;
}

static int run_passes(struct optimizer *o, struct err *err)
{
    uint64_t tidied = 0;
    for (;;) {
        *err = (struct err){ 0 };
        int r = pass(o, err);
        if (r == -ECANCELED)
            return r;
        if (is_once && r >= 0 && o->has_failed)
            r = err_set(err, o->err.code, "%s", err_text(&o->err));
        if (is_once)
            return r < 0 ? r : 0;
        if (clock_mono_ms() >= tidied) {
            tidied = clock_mono_ms() + period_ms;
            tidy(o);
        }
        if (is_ended(o, watch_ms))
            return 0;
    }
}

/* ---- beginning ---- */

static int open_signals(struct optimizer *o, struct err *err)
{
    sigset_t end, look_now;
    (void)sigemptyset(&end);
    (void)sigaddset(&end, SIGTERM);
    (void)sigaddset(&end, SIGINT);
    (void)sigemptyset(&look_now);
    (void)sigaddset(&look_now, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &end, NULL) < 0 || sigprocmask(SIG_BLOCK, &look_now, NULL) < 0)
        return err_sys(err, -errno, "signals");
    o->stop_fd = signalfd(-1, &end, SFD_CLOEXEC | SFD_NONBLOCK);
    o->look_fd = signalfd(-1, &look_now, SFD_CLOEXEC | SFD_NONBLOCK);
    return o->stop_fd < 0 || o->look_fd < 0 ? err_sys(err, -errno, "signals") : 0;
}

/* One optimizer uses a state at a time; the lock ends with its process. */
static int lock_state(struct optimizer *o, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/lock", o->dir);
    bool was_logged = false;
    o->lock_fd = sys_openat(AT_FDCWD, path, O_RDWR | O_CREAT, 0600);
    if (o->lock_fd < 0)
        return err_sys(err, o->lock_fd, "open '%s'", path);
    while (flock(o->lock_fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_sys(err, -errno, "lock '%s'", path);
        if (!was_logged)
            image_optimize_event("waiting", "state=%s reason=\"another optimizer uses it\"",
                                 o->dir);
        was_logged = true;
        if (must_stop(o, 200))
            return err_set(err, -ECANCELED, "ended by a signal");
    }
    return 0;
}

/* Files that a killed run had not finished (sys_write_file_atomic()). With the state locked. */
static void remove_unfinished(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] == '.' && str_has_suffix(str_of(e->d_name), STR(".tmp")))
            (void)unlinkat(dirfd(dir), e->d_name, 0);
    (void)closedir(dir);
}

static int open_state(struct optimizer *o, const struct image_watch_opts *w, struct err *err)
{
    int r = sys_mkdir_all(o->indexes, 0700, err);
    r = r < 0 ? r : open_signals(o, err);
    r = r < 0 ? r : lock_state(o, err);
    if (r >= 0) {
        remove_unfinished(o->dir);
        remove_unfinished(o->indexes);
    }
    return r < 0 ? r : image_watch_open(w, &o->watch, err);
}

static int optimize(const char *const *words, size_t n, struct err *err)
{
    struct optimizer o = { .stop_fd = -1, .look_fd = -1, .lock_fd = -1 };
    scoped(free_scoped) char *data = state_dir ? NULL : cmd_data_dir(NULL);
    scoped(free_scoped) char *dir =
        state_dir ? xstrdup(state_dir) : xasprintf("%s/optimizer", data);
    scoped(free_scoped) char *indexes = xasprintf("%s/indexes", dir);
    scoped(free_scoped) char *times = xasprintf("%s/times", dir);
    scoped(free_scoped) char *file = xasprintf("%s/state.json", dir);
    struct oci_remote_opts looking = args.registry;
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(IMAGE_BDM_KEY_MAX_BYTES);
    int k = key_file ? image_bdm_key_read(key_file, &key, err) : 0;
    if (k < 0)
        return k;
    const struct optimize_news to = { .where = &news, .key = buf_str(&key), .registry = &looking };
    const struct image_watch_opts w = {
        .names = words,
        .n_names = n,
        .registry_host = registry_host,
        .registry = &looking,
        .platform = &args.wanted,
        .state_file = file,
        .news = image_optimize_print,
        .news_arg = (void *)&to,
        .trouble = on_trouble,
        .ignored = on_ignored,
        .must_stop = on_must_stop,
        .arg = &o,
    };
    looking.attempts = LOOK_ATTEMPTS;
    o.retries.max_ms = period_ms;
    o.dir = dir;
    o.indexes = indexes;
    o.times = times;
    int r = open_state(&o, &w, err);
    r = r < 0 ? r : run_passes(&o, err);
    image_watch_close(o.watch);
    image_retries_fini(&o.retries);
    arena_fini(&o.memory);
    fd_scoped(&o.stop_fd);
    fd_scoped(&o.look_fd);
    fd_scoped(&o.lock_fd);
    return r == -ECANCELED && !is_once ? 0 : r; /* what was to be done once is not done */
}

/* The words for `image refactor` are right, and so is what the optimizer itself is given. */
static int check_refactoring(void)
{
    struct optimizer o = { .indexes = "indexes", .times = "times" };
    struct arg_list w = { 0 };
    vec_push(&w.all, "docker://registry.example/any");
    add_refactoring(&o, &w);
    vec_push(&w.all, NULL);
    int r = image_refactor_check_args((int)w.all.n - 1, (char **)w.all.p);
    vec_fini(&w.all);
    arena_fini(&o.memory);
    return r;
}

static int check_args(const char *const *words, size_t n)
{
    struct err err = { 0 };
    if (n == 0 && !registry_host)
        return cmd_failf(CMD_USAGE, "no image is named; see 'dormouse image optimize --help'");
    if (lease_ms < 3 * IMAGE_LEASE_SETTLE_MS || lease_ms > IMAGE_LEASE_MAX_MS)
        return cmd_failf(CMD_USAGE, "--lease must be from %d ms to %d min",
                         3 * IMAGE_LEASE_SETTLE_MS, IMAGE_LEASE_MAX_MS / 60000);
    if (watch_ms < WATCH_MIN_MS)
        return cmd_failf(CMD_USAGE, "--watch is %d ms or more", WATCH_MIN_MS);
    if (image_watch_check_names(words, n, registry_host, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    for (size_t i = 0; i < news.n; i++)
        if (image_optimize_check(news.at[i], key_file != NULL, &err) < 0)
            return cmd_fail(CMD_USAGE, &err);
    return check_refactoring();
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct arena a = { 0 };
    struct child_args *w = arena_new(&a, struct child_args);
    int r = with_config(&a, argc, argv, w);
    if (r == 0 && (r = cmd_parse(&cmd_image_optimize, opts, (int)w->n, w->at, ARGS_MAX, &n)) != 0)
        r = r == 1 ? -1 : r - 1;
    r = r ? r : image_args_check(&args);
    r = r ? r : check_args((const char *const *)w->at, n);
    if (r == 0) {
        image_optimize_output(args.is_json);
        r = optimize((const char *const *)w->at, n, &err) < 0 ? cmd_fail(CMD_FAILED, &err) : 0;
    }
    arena_fini(&a);
    return MAX(r, 0);
}

const struct cmd cmd_image_optimize = {
    .name = "image optimize",
    .args = "[REPOSITORY[:TAG]...]",
    .doc = "watch images in registries and refactor them when this saves space",
    .help =
        "Checks the tags at intervals. When images appear or move, it plans groups of them; if it\n"
        "saves enough, they get new layers as by 'dormouse image refactor --to source'. A\n"
        "repository without a tag means all of its tags. The images of a group are of one\n"
        "registry, and of one namespace if the registry is watched as a whole. A group whose\n"
        "images have not changed is not planned again.\n"
        "\n"
        "Several optimizers may run: a lease in the registry (tag " IMAGE_LEASE_TAG ") lets one\n"
        "of them work on a group. SIGHUP starts a check. Each event is a line; on a terminal\n"
        "there is a table.\n"
        "\n"
        "Tags of other things (a chart, a signature), and of images for other platforms, are\n"
        "ignored. An image that cannot be read is left out of its group. With --mode replace a\n"
        "tag that names an index for several platforms stays: its image is attached as with side.\n"
        "\n"
        "The file of --config has the options in YAML, with names like layerThreshold, and\n"
        "images, a list; or an object with them as its spec.\n"
        "\n"
        "  dormouse image optimize registry.example/shop/api registry.example/shop/web:stable\n"
        "  dormouse image optimize --registry registry.example --mode replace --once\n"
        "  dormouse image optimize --config optimizer.yaml --news "
        "http://deployer.example/images/moved\n",
    .run = run,
    .opts = image_optimize_opts,
};
