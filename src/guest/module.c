/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module cache: requests, builds, and the modules in use.
 *
 * A request (struct module_get) goes through the states below. HASH and CHECK are jobs on a worker
 * thread. The same module may be requested many times at once: a request whose module is found in
 * use is done, and all other requests with one key wait for one build.
 *
 *   QUEUED -> HASH ----> CHECK -----> WAIT
 *               | in use   | on disk    | the build has ended
 *               `----------`------------`--------> DONE (the callback runs from a deferred call)
 *
 * A build makes code for one key, first the quick code if the module is large, then the optimized:
 *
 *   QUEUED -> PREPARE -> COMPILE -> STORE -> DONE
 *     ^          (jobs, not COMPILE)  |
 *     `-------------------------------'  quick code exists, or the quick compiler crashed
 *
 * A build is in the foreground while a request waits for it: as many run as there are slots, and
 * the one with the smallest tag is next (module_tenant.h). In the background one build runs at a
 * time, also in the order of tags. It is paused while there is a build in the foreground, for at
 * most MODULE_BACKGROUND_AGE_MS; then it has a slot until it ends. A build that crashes in the
 * foreground, or exceeds the time limit of a slot, is tried once more in the background.
 */
#include "guest/module.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/sibling.h"
#include "base/slab.h"
#include "base/sm.h"
#include "base/sys.h"
#include "guest/memory_group.h"
#include "guest/module_compile.h"
#include "guest/module_store.h"
#include "guest/module_tenant.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the four threads of libuv's pool, which DNS and file operations share. */
#define LOOKS_MAX 2u

#define TOUCH_MS         3600000u /* least time between two marks of an entry as used */
#define BACKGROUND_TIMES 6u       /* factor of the time limit in the background */
#define SLOW_MS          1000u

enum get_state { GET_QUEUED, GET_HASH, GET_CHECK, GET_WAIT, GET_DONE };

static const struct sm_state get_table[] = {
    [GET_QUEUED] = { "queued", EDGE(GET_HASH) | EDGE(GET_DONE) },
    [GET_HASH] = { "hash", EDGE(GET_CHECK) | EDGE(GET_DONE) },
    [GET_CHECK] = { "check", EDGE(GET_WAIT) | EDGE(GET_DONE) },
    [GET_WAIT] = { "wait", EDGE(GET_DONE) },
    [GET_DONE] = { "done", 0 },
};

enum build_state { BUILD_QUEUED, BUILD_PREPARE, BUILD_COMPILE, BUILD_STORE };

static const struct sm_state build_table[] = {
    [BUILD_QUEUED] = { "queued", EDGE(BUILD_PREPARE) },
    [BUILD_PREPARE] = { "prepare", EDGE(BUILD_COMPILE) | EDGE(BUILD_QUEUED) },
    [BUILD_COMPILE] = { "compile", EDGE(BUILD_STORE) | EDGE(BUILD_QUEUED) },
    [BUILD_STORE] = { "store", EDGE(BUILD_QUEUED) },
};

struct module_build {
    struct module_cache *cache;
    struct list node; /* in cache->foreground, ->background or ->running */
    struct sm sm;
    struct job job; /* PREPARE, STORE; while it runs, it owns the members below */
    struct err err;
    int status;
    struct module_key key;
    int fd;                                /* of the first request; -1 once it was copied */
    int wasm_fd, code_fd, info_fd;         /* of a compilation; otherwise -1 */
    char temp_name[MODULE_TEMP_NAME_SIZE]; /* empty: no temporary file */
    struct module_entry entry;
    struct module_compile *compile;
    struct list waiters; /* requests in GET_WAIT */
    struct module_tenant *tenant;
    uint64_t tag, asked_ms, started_ms; /* tag: in its current queue */
    struct timer slow;
    bool is_quick; /* the current attempt makes quick code */
    bool is_background;
    bool has_quick;   /* quick code exists */
    bool is_unwanted; /* it should end as soon as it can */
    bool is_retry;    /* retried after making room on the disk */
};

struct module_get {
    struct module_cache *cache;
    struct list node; /* in a queue of the cache or of a build */
    struct sm sm;
    struct job job; /* HASH, CHECK; while it runs, it owns the members below */
    struct err err;
    int status;
    int fd; /* the caller's file */
    unsigned flags;
    struct module_key key;
    struct module_entry entry;
    bool is_quick_entry;
    struct module_build *build; /* WAIT */
    uint64_t asked_ms;
    bool is_cancelled;
    struct module *module; /* the result */
    struct defer done;
    module_get_cb cb;
    void *arg;
    struct module_tenant *tenant;
    uint64_t tag;
};

/*
 * Modules that differ only in their code, as those of many operators built from one source, share
 * their description.
 */
struct description {
    unsigned refs;
    uint8_t sha256[SHA256_BYTES]; /* of its encoded form; its key in cache->descriptions */
    struct module_info *info;
};

struct live {
    struct module pub;
    struct list node;           /* in cache->modules */
    struct module_cache *cache; /* NULL: the cache was closed */
    unsigned refs;
    uint8_t flags;
    struct module_file_id code;
    uint64_t touched_ms; /* when the entry was last marked as used */
    struct description *description;
};

/* The flags of a request that are part of the key of the store's entry and of the struct live. */
static unsigned id_flags(unsigned get_flags)
{
    return get_flags & MODULE_KEEP_NAMES ? MODULE_ID_NAMES : 0;
}

struct module_cache {
    struct loop *loop;
    struct module_store store;
    char *compile_path;
    bool shares_processes;
    uint64_t max_bytes, timeout_ms;
    struct list modules; /* every struct live */
    struct map live;     /* those that new requests find, by struct module_id */
    struct map descriptions;
    struct list queued; /* GET_QUEUED */
    struct list busy;   /* requests in other states, except WAIT */
    unsigned n_gets, n_looks, n_waiting;
    struct map builds; /* by struct module_id */
    struct module_tenants tenants;
    struct list foreground, background, running;  /* builds: BUILD_QUEUED, and all others */
    unsigned n_slots, n_running, n_running_large; /* in the foreground */
    struct module_build *running_background;
    unsigned n_background; /* in either state */
    uint64_t background_bytes;
    uint64_t starved_ms; /* since when the background has been paused; 0: it is not */
    bool has_quick, no_background;
    struct job sweep;
    struct module_files files; /* owned by the sweep while it runs */
    bool is_sweeping, is_making_room;
    struct module_cache_stats stats;
    bool is_closing;
    struct defer closed;
    void (*closed_cb)(void *arg);
    void *closed_arg;
};

static void advance(struct module_cache *cache);
static void sweep_start(struct module_cache *cache);

/* ---- modules in use ---- */

static struct live *live_of(struct module *m)
{
    return container_of(m, struct live, pub);
}

static struct module_id id_of(const struct live *live)
{
    struct module_id id = { .flags = live->flags };
    memcpy(id.sha256, live->pub.sha256, sizeof id.sha256);
    return id;
}

static struct live *find_live(const struct module_cache *cache, const struct module_id *id)
{
    return map_get(&cache->live, str_n(id, sizeof *id));
}

/* Takes `info`. */
static struct description *description_get(struct module_cache *cache, struct module_info *info)
{
    uint8_t sum[SHA256_BYTES];
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    bool is_whole = module_info_encode(info, &text) == 0;
    sha256_of(buf_str(&text), sum);
    struct description *d = is_whole ? map_get(&cache->descriptions, str_n(sum, sizeof sum)) : NULL;
    if (d) {
        module_info_free(info);
        d->refs++;
        return d;
    }
    d = xnew(struct description);
    d->refs = 1;
    d->info = info;
    memcpy(d->sha256, sum, sizeof sum);
    if (is_whole)
        (void)map_put(&cache->descriptions, str_n(sum, sizeof sum), d);
    return d;
}

/* cache: NULL after it was closed. */
static void description_put(struct module_cache *cache, struct description *d)
{
    if (--d->refs > 0)
        return;
    struct str key = str_n(d->sha256, sizeof d->sha256);
    if (cache && map_get(&cache->descriptions, key) == d)
        (void)map_del(&cache->descriptions, key);
    module_info_free(d->info);
    free(d);
}

/* Requests no longer find it; holders of a reference keep it. */
static void live_forget(struct live *live)
{
    struct module_id id = id_of(live);
    if (find_live(live->cache, &id) == live)
        (void)map_del(&live->cache->live, str_n(&id, sizeof id));
}

struct module *module_ref(struct module *m)
{
    live_of(m)->refs++;
    return m;
}

void module_unref(struct module *m)
{
    if (!m)
        return;
    struct live *live = live_of(m);
    assert(live->refs > 0);
    if (--live->refs > 0)
        return;
    if (live->cache)
        live_forget(live);
    list_remove(&live->node);
    description_put(live->cache, live->description);
    slab_free(live);
}

static struct live *live_new(struct module_cache *cache, const struct module_key *key,
                             struct module_entry *entry)
{
    struct live *live = slab_new(struct live);
    live->cache = cache;
    live->refs = 1;
    live->code = entry->code;
    live->description = description_get(cache, take_ptr(&entry->info));
    live->flags = key->id.flags;
    live->pub.wasm_bytes = key->wasm_bytes;
    live->pub.info = live->description->info;
    memcpy(live->pub.sha256, key->id.sha256, sizeof live->pub.sha256);
    hex_format(key->id.sha256, sizeof key->id.sha256, live->pub.hash);
    (void)map_put(&cache->live, str_n(&key->id, sizeof key->id), live);
    list_push_back(&cache->modules, &live->node);
    live->touched_ms = loop_now_ms(cache->loop);
    return live;
}

/* The module of `entry`; takes entry->info. The caller owns the reference. */
static struct module *live_get(struct module_cache *cache, const struct module_key *key,
                               struct module_entry *entry, bool is_quick)
{
    /*
     * Another request may find the new file on disk before the build that made it has finished
     * here.
     */
    struct live *live = find_live(cache, &key->id);
    bool is_better = live && (live->pub.is_lost || (live->pub.is_quick && !is_quick));
    if (live && !is_better && (is_quick || module_file_id_eq(&live->code, &entry->code)))
        return module_ref(&live->pub);
    if (is_better) {
        live->code = entry->code;
        live->pub.is_lost = false;
        live->pub.generation++;
        (void)module_ref(&live->pub);
    } else {
        if (live)
            live_forget(live);
        live = live_new(cache, key, entry);
    }
    live->pub.is_quick = is_quick;
    live->pub.code_bytes = (uint64_t)live->code.bytes;
    return &live->pub;
}

int module_open(struct module *m, struct err *err)
{
    struct live *live = live_of(m);
    if (!live->cache)
        return err_set(err, -ECANCELED, "the module cache is closed");
    struct module_id id = id_of(live);
    id.flags |= m->is_quick ? MODULE_ID_QUICK : 0;
    int r = module_store_open_code(&live->cache->store, &id, &live->code, err);
    m->is_lost |= r == E_EXPIRED;
    uint64_t now = loop_now_ms(live->cache->loop);
    if (r >= 0 && now - live->touched_ms >= TOUCH_MS) {
        module_store_touch(&live->cache->store, &id);
        live->touched_ms = now;
    }
    return r;
}

/* ---- the end of a request ---- */

static void maybe_closed(struct module_cache *cache)
{
    if (cache->is_closing && cache->n_gets == 0 && cache->builds.n == 0 && !cache->is_sweeping)
        defer_start(cache->loop, &cache->closed, cache->closed.run);
}

static void on_done(struct defer *d)
{
    struct module_get *get = container_of(d, struct module_get, done);
    struct module_cache *cache = get->cache;
    list_remove(&get->node);
    cache->n_gets--;
    get->tenant->n_gets--;
    module_tenant_unref(&cache->tenants, get->tenant);
    struct module *module = get->module;
    if (get->status < 0) {
        module_unref(module);
        module = NULL;
    }
    get->cb(module, get->status, &get->err, get->arg);
    free(get);
    maybe_closed(cache);
}

/*
 * The only way to finish a request. `module` is NULL on failure, else this request's own reference.
 */
static void finish(struct module_get *get, struct module *module, int status)
{
    struct module_cache *cache = get->cache;
    if (get->sm.at == GET_WAIT)
        cache->n_waiting--;
    sm_move(&get->sm, GET_DONE);
    fd_scoped(&get->fd);
    module_info_free(get->entry.info);
    get->build = NULL;
    get->module = module;
    get->status = status;
    list_remove(&get->node);
    list_push_back(&cache->busy, &get->node);
    defer_start(cache->loop, &get->done, on_done);
}

static void fail(struct module_get *get, int status)
{
    assert(status < 0);
    if (get->is_cancelled && status != -ECANCELED) {
        get->err = (struct err){ 0 };
        status = err_sys(&get->err, -ECANCELED, "get the module");
    }
    finish(get, NULL, status);
}

static void fail_cancelled(struct module_get *get)
{
    fail(get, err_sys(&get->err, -ECANCELED, "get the module"));
}

/* If the module is already in use, finish the request and return true. */
static bool finish_live(struct module_get *get)
{
    struct live *live = find_live(get->cache, &get->key.id);
    if (!live || live->pub.is_lost || (live->pub.is_quick && get->flags & MODULE_OPTIMIZED))
        return false;
    get->cache->stats.hits++;
    finish(get, module_ref(&live->pub), 0);
    return true;
}

/* ---- jobs of requests ---- */

/* `done` also runs if the job could not be started: libuv only fails here for a wrong argument. */
static void start_job(struct module_cache *cache, struct job *job, void (*work)(struct job *),
                      void (*done)(struct job *, int))
{
    job->work = work;
    job->done = done;
    int r = job_start(cache->loop, job);
    assert(r == 0);
    (void)r;
}

static void hash_work(struct job *j)
{
    struct module_get *get = container_of(j, struct module_get, job);
    get->status = module_key_of(get->fd, id_flags(get->flags), &get->key, &get->err);
}

static struct module_key quick_key(const struct module_key *key)
{
    struct module_key quick = *key;
    quick.id.flags |= MODULE_ID_QUICK;
    return quick;
}

static bool may_be_quick(const struct module_get *get)
{
    return get->cache->has_quick && !(get->flags & MODULE_OPTIMIZED) &&
           get->key.wasm_bytes >= MODULE_QUICK_FROM_BYTES;
}

static void check_work(struct job *j)
{
    struct module_get *get = container_of(j, struct module_get, job);
    const struct module_store *store = &get->cache->store;
    get->status = module_store_load(store, &get->key, &get->entry, &get->err);
    if (get->status != -ENOENT || !may_be_quick(get))
        return;
    struct module_key quick = quick_key(&get->key);
    get->status = module_store_load(store, &quick, &get->entry, &get->err);
    get->is_quick_entry = get->status == 0;
}

/* Enough of the hash to find the module in logs. */
struct short_hash {
    char text[13];
};

static struct short_hash short_hash(const struct module_key *key)
{
    struct short_hash s;
    hex_format(key->id.sha256, 6, s.text);
    return s;
}

/* ---- builds ---- */

static struct module_build *find_build(const struct module_cache *cache,
                                       const struct module_key *key)
{
    return map_get(&cache->builds, str_n(&key->id, sizeof key->id));
}

static bool is_small(const struct module_build *b)
{
    return b->key.wasm_bytes <= MODULE_SMALL_BYTES;
}

/* Put the build at the end of its tenant's share of this queue. */
static void set_tag(struct module_build *b, enum module_queue queue)
{
    b->tag = module_tenant_tag(&b->cache->tenants, b->tenant, queue, b->key.wasm_bytes);
}

static void on_slow(struct timer *timer)
{
    const struct module_build *b = container_of(timer, struct module_build, slow);
    if (list_is_empty(&b->waiters))
        return;
    log_info("a module is being compiled", "module=%s wasm_bytes=%ju state=%s tier=%s waiting=%u",
             short_hash(&b->key).text, (uintmax_t)b->key.wasm_bytes, sm_name(&b->sm),
             b->is_quick ? "quick" : "optimized", b->cache->n_waiting);
}

/* Create a build for the first request of its key; takes the request's descriptor. */
static struct module_build *build_new(struct module_get *get)
{
    struct module_cache *cache = get->cache;
    struct module_build *b = xnew(struct module_build);
    b->cache = cache;
    b->key = get->key;
    b->fd = take_fd(&get->fd);
    b->asked_ms = get->asked_ms;
    b->tenant = get->tenant;
    b->tenant->refs++;
    b->wasm_fd = b->code_fd = b->info_fd = -1;
    list_init(&b->waiters);
    sm_init(&b->sm, build_table, BUILD_QUEUED);
    (void)map_put(&cache->builds, str_n(&b->key.id, sizeof b->key.id), b);
    return b;
}

/* Release the resources of one compilation. */
static void end_attempt(struct module_build *b)
{
    struct module_cache *cache = b->cache;
    if (cache->running_background == b) {
        cache->running_background = NULL;
        cache->starved_ms = 0;
    } else if (b->sm.at != BUILD_QUEUED) {
        cache->n_running--;
        cache->n_running_large -= !is_small(b);
    }
    fd_scoped(&b->code_fd);
    fd_scoped(&b->info_fd);
    b->code_fd = b->info_fd = -1;
    if (b->temp_name[0])
        module_store_drop_temp(&cache->store, b->temp_name);
    b->temp_name[0] = 0;
    module_info_free(take_ptr(&b->entry.info));
    list_remove(&b->node);
}

static void leave_background(struct module_build *b)
{
    if (!b->is_background)
        return;
    b->is_background = false;
    b->tenant->n_background--;
    b->cache->n_background--;
    b->cache->background_bytes -= b->key.wasm_bytes;
}

static void build_free(struct module_build *b)
{
    struct module_cache *cache = b->cache;
    assert(list_is_empty(&b->waiters));
    end_attempt(b);
    leave_background(b);
    module_tenant_unref(&cache->tenants, b->tenant);
    timer_stop(cache->loop, &b->slow);
    fd_scoped(&b->fd);
    fd_scoped(&b->wasm_fd);
    (void)map_del(&cache->builds, str_n(&b->key.id, sizeof b->key.id));
    free(b);
    maybe_closed(cache);
}

/*
 * Among builds that no request waits for and that have not begun: the last one of the tenant with
 * most background builds.
 */
static struct module_build *last_of_most(struct module_cache *cache)
{
    struct module_build *found = NULL;
    list_each (node, &cache->background) {
        struct module_build *b = list_entry(node, struct module_build, node);
        bool is_more = !found || b->tenant->n_background > found->tenant->n_background;
        if (list_is_empty(&b->waiters) && (is_more || b->tenant == found->tenant))
            found = b;
    }
    return found;
}

/* When the background is full, a tenant with fewer builds there displaces one with more. */
static bool has_background_room(struct module_build *b)
{
    struct module_cache *cache = b->cache;
    uint64_t bytes = b->key.wasm_bytes;
    while (cache->n_background >= MODULE_BACKGROUND_MAX ||
           cache->background_bytes + bytes > MODULE_BACKGROUND_BYTES_MAX) {
        struct module_build *other = last_of_most(cache);
        if (!other || other->tenant->n_background <= b->tenant->n_background + 1)
            return false;
        build_free(other);
    }
    return true;
}

static void put_in_background(struct module_build *b)
{
    struct module_cache *cache = b->cache;
    if (list_is_empty(&b->waiters) &&
        (cache->no_background || cache->is_closing || !has_background_room(b))) {
        build_free(b);
        return;
    }
    b->is_background = true;
    set_tag(b, MODULE_BACKGROUND);
    b->tenant->n_background++;
    cache->n_background++;
    cache->background_bytes += b->key.wasm_bytes;
    list_push_back(&cache->background, &b->node);
}

static void put_in_foreground(struct module_build *b)
{
    set_tag(b, MODULE_FOREGROUND);
    list_push_back(&b->cache->foreground, &b->node);
}

/* Let the request wait for the build of its key, which is created if necessary. */
static void join_build(struct module_get *get)
{
    struct module_cache *cache = get->cache;
    struct module_build *b = find_build(cache, &get->key);
    if (!b) {
        b = build_new(get);
        b->is_quick = may_be_quick(get);
        timer_start(cache->loop, &b->slow, SLOW_MS, on_slow);
        put_in_foreground(b);
    } else if (b->is_background && b->sm.at == BUILD_QUEUED && b->has_quick) {
        list_remove(&b->node);
        leave_background(b);
        module_tenant_unref(&cache->tenants, b->tenant);
        b->tenant = get->tenant;
        b->tenant->refs++;
        put_in_foreground(b);
    }
    b->is_unwanted = false;
    sm_move(&get->sm, GET_WAIT);
    list_remove(&get->node);
    list_push_back(&b->waiters, &get->node);
    get->build = b;
    cache->n_waiting++;
    fd_scoped(&get->fd);
    get->fd = -1;
}

/* Quick code was found on disk that no earlier process has optimized. */
static void optimize_later(struct module_get *get)
{
    struct module_cache *cache = get->cache;
    if (get->entry.is_final || cache->no_background || find_build(cache, &get->key))
        return;
    struct module_build *b = build_new(get);
    b->has_quick = true;
    put_in_background(b);
}

static void on_checked(struct job *j, int r)
{
    struct module_get *get = container_of(j, struct module_get, job);
    struct module_cache *cache = get->cache;
    cache->n_looks--;
    if (r < 0 || get->is_cancelled) {
        fail_cancelled(get);
    } else if (finish_live(get)) {
        /* Another request was faster. */
    } else if (get->status == 0) {
        cache->stats.hits++;
        if (get->is_quick_entry)
            optimize_later(get);
        finish(get, live_get(cache, &get->key, &get->entry, get->is_quick_entry), 0);
    } else {
        if (get->status != -ENOENT) {
            cache->stats.damaged++;
            log_warn("compiling a module again", "module=%s reason=\"%s\"",
                     short_hash(&get->key).text, err_text(&get->err));
        }
        get->err = (struct err){ 0 };
        get->status = 0;
        join_build(get);
    }
    advance(cache);
}

static void on_hashed(struct job *j, int r)
{
    struct module_get *get = container_of(j, struct module_get, job);
    struct module_cache *cache = get->cache;
    if (r == 0 && !get->is_cancelled && get->status == 0) {
        if (!finish_live(get)) {
            sm_move(&get->sm, GET_CHECK);
            start_job(cache, &get->job, check_work, on_checked);
            return;
        }
    } else if (r < 0 || get->is_cancelled) {
        fail_cancelled(get);
    } else {
        fail(get, get->status);
    }
    cache->n_looks--;
    advance(cache);
}

/* ---- compiling ---- */

/* Finish all waiting requests; if this is quick code, except those that want optimized code. */
static void settle(struct module_build *b, struct module *module)
{
    list_each_safe (node, &b->waiters) {
        struct module_get *get = list_entry(node, struct module_get, node);
        if (!module->is_quick || !(get->flags & MODULE_OPTIMIZED))
            finish(get, module_ref(module), 0);
    }
}

static void refuse(struct module_build *b, int status)
{
    list_each_safe (node, &b->waiters) {
        struct module_get *get = list_entry(node, struct module_get, node);
        get->err = b->err;
        fail(get, status);
    }
    build_free(b);
}

/* Start the next attempt of the same build. */
static void requeue(struct module_build *b, bool is_quick, bool in_background)
{
    struct module_cache *cache = b->cache;
    end_attempt(b);
    leave_background(b);
    sm_move(&b->sm, BUILD_QUEUED);
    b->err = (struct err){ 0 };
    b->is_quick = is_quick;
    if (in_background)
        put_in_background(b);
    else
        list_push_back(&cache->foreground, &b->node);
}

/* An attempt was cancelled. Meanwhile another request may be waiting for the build. */
static void cancelled(struct module_build *b)
{
    if (list_is_empty(&b->waiters))
        build_free(b);
    else
        requeue(b, b->is_quick, b->is_background);
}

/*
 * If the disk is full, remove entries that are not in use and return true: the attempt is repeated.
 */
static bool make_room(struct module_build *b, int status)
{
    struct module_cache *cache = b->cache;
    if (b->is_retry || cache->is_closing || (status != -ENOSPC && status != -EDQUOT))
        return false;
    log_warn("making room for compiled modules", "module=%s reason=\"%s\"",
             short_hash(&b->key).text, err_text(&b->err));
    b->is_retry = true;
    requeue(b, b->is_quick, b->is_background);
    cache->is_making_room = true;
    sweep_start(cache);
    return true;
}

static void after_quick(struct module_build *b)
{
    struct module_cache *cache = b->cache;
    scoped(module_unref_scoped) struct module *module = live_get(cache, &b->key, &b->entry, true);
    cache->stats.quick++;
    b->has_quick = true;
    settle(b, module);
    requeue(b, false, list_is_empty(&b->waiters));
}

static void after_optimized(struct module_build *b)
{
    struct module_cache *cache = b->cache;
    bool has_users = find_live(cache, &b->key.id) || !list_is_empty(&b->waiters);
    cache->stats.compiled++;
    if (has_users) {
        scoped(module_unref_scoped) struct module *module =
            live_get(cache, &b->key, &b->entry, false);
        settle(b, module);
    }
    build_free(b);
}

static void on_stored(struct job *j, int r)
{
    struct module_build *b = container_of(j, struct module_build, job);
    struct module_cache *cache = b->cache;
    b->temp_name[0] = 0;
    if (r < 0 || b->is_unwanted) {
        cancelled(b);
    } else if (b->status < 0) {
        if (!make_room(b, b->status))
            refuse(b, b->status);
    } else {
        cache->stats.bytes += (uint64_t)b->entry.code.bytes;
        log_info("module compiled",
                 "module=%s tier=%s wasm_bytes=%ju code_bytes=%ju ms=%ju waited_ms=%ju",
                 short_hash(&b->key).text, b->is_quick ? "quick" : "optimized",
                 (uintmax_t)b->key.wasm_bytes, (uintmax_t)b->entry.code.bytes,
                 (uintmax_t)(clock_mono_ms() - b->started_ms),
                 (uintmax_t)(clock_mono_ms() - b->asked_ms));
        if (b->is_quick)
            after_quick(b);
        else
            after_optimized(b);
        if (cache->stats.bytes > cache->max_bytes)
            sweep_start(cache);
    }
    advance(cache);
}

static void store_work(struct job *j)
{
    struct module_build *b = container_of(j, struct module_build, job);
    struct module_key quick = quick_key(&b->key);
    b->status = module_store_add(&b->cache->store, b->is_quick ? &quick : &b->key, b->code_fd,
                                 b->temp_name, b->info_fd, &b->entry, &b->err);
}

/* Optimizing failed: the quick code, which is in use, is kept. */
static void give_up_optimizing(struct module_build *b, int status, const struct err *err,
                               bool crashed)
{
    struct module_cache *cache = b->cache;
    struct module_key quick = quick_key(&b->key);
    struct err why = { 0 };
    cache->stats.unoptimized++;
    log_warn("a module stays unoptimized", "module=%s reason=\"%s\"", short_hash(&b->key).text,
             err_text(err));
    /* -ENOMEM concerns the machine: a later attempt may have enough memory. */
    bool is_verdict = (crashed && status != -ENOMEM) || status == E_INVALID || status == E_LIMIT;
    if (is_verdict && module_store_keep_quick(&cache->store, &quick, &why) < 0)
        log_warn("that a module stays unoptimized will be forgotten", "module=%s reason=\"%s\"",
                 short_hash(&b->key).text, err_text(&why));
    build_free(b);
}

static void on_compiled(int status, const struct err *err, void *arg)
{
    struct module_build *b = arg;
    struct module_cache *cache = b->cache;
    bool crashed = status < 0 && module_compile_has_crashed(b->compile);
    b->compile = NULL;
    if (status == 0) {
        sm_move(&b->sm, BUILD_STORE);
        b->status = 0;
        start_job(cache, &b->job, store_work, on_stored);
        return;
    }
    b->err = *err;
    if (b->is_unwanted || status == -ECANCELED) {
        cancelled(b);
    } else if (crashed && !b->is_background) {
        log_warn("compiling a module is tried again in the background",
                 "module=%s tier=%s reason=\"%s\"", short_hash(&b->key).text,
                 b->is_quick ? "quick" : "optimized", err_text(err));
        requeue(b, false, true);
    } else if (make_room(b, status)) {
        /* The attempt is repeated. */
    } else if (b->has_quick && list_is_empty(&b->waiters)) {
        give_up_optimizing(b, status, err, crashed);
    } else {
        cache->stats.refused++;
        refuse(b, status);
    }
    advance(cache);
}

static void on_prepared(struct job *j, int r)
{
    struct module_build *b = container_of(j, struct module_build, job);
    struct module_cache *cache = b->cache;
    if (b->wasm_fd >= 0) {
        fd_scoped(&b->fd);
        b->fd = -1;
    }
    if (r < 0 || b->is_unwanted) {
        cancelled(b);
        advance(cache);
        return;
    }
    struct module_compile_opts opts = { .path = cache->compile_path,
                                        .wasm_fd = b->wasm_fd,
                                        .code_fd = b->code_fd,
                                        .info_fd = b->info_fd,
                                        .keep_names = b->key.id.flags & MODULE_ID_NAMES,
                                        .is_quick = b->is_quick,
                                        .is_background = b->is_background,
                                        .shares_processes = cache->shares_processes,
                                        .timeout_ms = cache->timeout_ms };
    if (b->is_background)
        opts.timeout_ms *= BACKGROUND_TIMES;
    if (b->status >= 0)
        b->status = module_compile_start(cache->loop, &opts, on_compiled, b, &b->compile, &b->err);
    if (b->status >= 0)
        sm_move(&b->sm, BUILD_COMPILE);
    else if (!make_room(b, b->status))
        refuse(b, b->status);
    advance(cache);
}

static void prepare_work(struct job *j)
{
    struct module_build *b = container_of(j, struct module_build, job);
    const struct module_store *store = &b->cache->store;
    if (b->wasm_fd < 0)
        b->wasm_fd = b->status = module_copy_wasm(store, b->fd, &b->key, &b->err);
    if (b->wasm_fd < 0)
        return;
    b->code_fd = b->status = module_store_temp(store, b->temp_name, &b->err);
    if (b->status < 0)
        return;
    b->info_fd = b->status = sys_memfd("dormouse-info");
    if (b->status < 0)
        (void)err_sys(&b->err, b->status, "create a memory file");
}

/* ---- the queues ---- */

static void start_look(struct module_cache *cache)
{
    struct module_get *get = list_first(&cache->queued, struct module_get, node);
    list_each (node, &cache->queued) {
        struct module_get *other = list_entry(node, struct module_get, node);
        get = other->tag < get->tag ? other : get;
    }
    module_tenants_serve(&cache->tenants, MODULE_LOOKS, get->tag);
    list_remove(&get->node);
    list_push_back(&cache->busy, &get->node);
    cache->n_looks++;
    sm_move(&get->sm, GET_HASH);
    start_job(cache, &get->job, hash_work, on_hashed);
}

static void start_build(struct module_build *b)
{
    struct module_cache *cache = b->cache;
    list_remove(&b->node);
    list_push_back(&cache->running, &b->node);
    module_tenants_serve(&cache->tenants, b->is_background ? MODULE_BACKGROUND : MODULE_FOREGROUND,
                         b->tag);
    if (b->is_background) {
        cache->running_background = b;
    } else {
        cache->n_running++;
        cache->n_running_large += !is_small(b);
    }
    b->started_ms = clock_mono_ms();
    b->status = 0;
    sm_move(&b->sm, BUILD_PREPARE);
    start_job(cache, &b->job, prepare_work, on_prepared);
}

/* The module may have come into use before its requests joined the queue. false: build it. */
static bool is_settled(struct module_build *b)
{
    list_each_safe (node, &b->waiters)
        (void)finish_live(list_entry(node, struct module_get, node));
    if (!list_is_empty(&b->waiters))
        return false;
    build_free(b);
    return true;
}

static uint64_t now_ms(const struct module_cache *cache)
{
    return loop_now_ms(cache->loop);
}

/* Background work was paused for so long that it gets a slot until one of its builds has ended. */
static bool is_starved(const struct module_cache *cache)
{
    return cache->starved_ms && now_ms(cache) - cache->starved_ms >= MODULE_BACKGROUND_AGE_MS;
}

static struct module_build *smallest_tag(const struct list *list, bool only_small)
{
    struct module_build *best = NULL;
    list_each (node, list) {
        struct module_build *b = list_entry(node, struct module_build, node);
        if ((!only_small || is_small(b)) && (!best || b->tag < best->tag))
            best = b;
    }
    return best;
}

/* NULL: none may be started. The last slot is reserved for small modules. */
static struct module_build *next_build(const struct module_cache *cache)
{
    unsigned n_slots = cache->n_slots - is_starved(cache);
    if (cache->n_running >= n_slots || cache->is_making_room)
        return NULL;
    return smallest_tag(&cache->foreground, cache->n_running_large + 1 >= cache->n_slots);
}

static void advance_background(struct module_cache *cache)
{
    struct module_build *b = cache->running_background;
    bool has_work = b || !list_is_empty(&cache->background);
    bool is_quiet = cache->n_running == 0 && list_is_empty(&cache->foreground);
    if (!has_work || is_quiet)
        cache->starved_ms = 0;
    else if (!cache->starved_ms)
        cache->starved_ms = MAX(now_ms(cache), (uint64_t)1);
    bool may_run = is_quiet || is_starved(cache);
    if (b && b->compile)
        module_compile_pause(b->compile, !may_run);
    else if (!b && may_run && has_work && !cache->is_making_room)
        start_build(smallest_tag(&cache->background, false));
}

/*
 * Start everything that may start. Only this function takes requests from the queues, except when
 * they end.
 */
static void advance(struct module_cache *cache)
{
    while (cache->n_looks < LOOKS_MAX && !list_is_empty(&cache->queued))
        start_look(cache);
    for (struct module_build *b; !cache->is_closing && (b = next_build(cache));)
        if (!is_settled(b))
            start_build(b);
    if (!cache->is_closing)
        advance_background(cache);
}

/* ---- requests ---- */

static int take_request(struct module_cache *cache, int *fd, const struct module_want *want,
                        module_get_cb cb, void *arg, struct module_get **ret)
{
    struct stat st;
    struct module_get *get = xnew(struct module_get);
    get->cache = cache;
    get->tenant = module_tenant_ref(&cache->tenants, want ? want->tenant : STR(""));
    get->tenant->n_gets++;
    uint64_t bytes = fstat(*fd, &st) == 0 ? (uint64_t)MAX(st.st_size, (off_t)0) : 0;
    get->tag = module_tenant_tag(&cache->tenants, get->tenant, MODULE_LOOKS,
                                 MIN(bytes, (uint64_t)MODULE_WASM_BYTES_MAX));
    get->fd = take_fd(fd);
    get->flags = want ? want->flags : 0;
    get->asked_ms = clock_mono_ms();
    get->cb = cb;
    get->arg = arg;
    sm_init(&get->sm, get_table, GET_QUEUED);
    list_push_back(&cache->queued, &get->node);
    cache->n_gets++;
    advance(cache);
    if (ret)
        *ret = get;
    return 0;
}

static int check_request(struct module_cache *cache, const struct module_want *want,
                         struct err *err)
{
    if (cache->is_closing)
        return err_sys(err, -ECANCELED, "get a module");
    struct module_tenant *t = module_tenant_ref(&cache->tenants, want ? want->tenant : STR(""));
    bool has_room = module_tenant_has_room(t, cache->n_gets, MODULE_GETS_MAX);
    unsigned n = t->n_gets;
    module_tenant_unref(&cache->tenants, t);
    if (!has_room)
        return err_set(err, E_LIMIT,
                       "%u modules are being compiled or looked up, %u of them for this namespace",
                       cache->n_gets, n);
    return 0;
}

int module_get(struct module_cache *cache, int fd, const struct module_want *want, module_get_cb cb,
               void *arg, struct module_get **ret, struct err *err)
{
    int r = check_request(cache, want, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return err_sys(err, -errno, "duplicate the module's descriptor");
    return take_request(cache, &own, want, cb, arg, ret);
}

int module_get_bytes(struct module_cache *cache, struct str wasm, const struct module_want *want,
                     module_get_cb cb, void *arg, struct module_get **ret, struct err *err)
{
    int r = check_request(cache, want, err);
    if (r < 0)
        return r;
    if (wasm.n > MODULE_WASM_BYTES_MAX)
        return err_set(err, E_LIMIT, "the module has %zu bytes; at most %ju are accepted", wasm.n,
                       (uintmax_t)MODULE_WASM_BYTES_MAX);
    scoped(fd_scoped) int own = sys_memfd("dormouse-wasm");
    if (own < 0)
        return err_sys(err, own, "create a memory file for the module");
    r = sys_write_all(own, wasm.p, wasm.n);
    if (r < 0)
        return err_sys(err, r, "copy the module");
    return take_request(cache, &own, want, cb, arg, ret);
}

/* No request waits for the build any longer and it has no result yet, or the cache is closing. */
static void build_cancel(struct module_build *b)
{
    b->is_unwanted = true;
    switch ((enum build_state)b->sm.at) {
    case BUILD_QUEUED:
        build_free(b);
        break;
    case BUILD_PREPARE:
        job_cancel(&b->job);
        break;
    case BUILD_COMPILE:
        module_compile_kill(b->compile);
        break;
    case BUILD_STORE: /* nearly done */
        break;
    }
}

void module_get_cancel(struct module_get *get)
{
    struct module_build *b = get->build;
    if (get->is_cancelled)
        return;
    get->is_cancelled = true;
    switch ((enum get_state)get->sm.at) {
    case GET_QUEUED:
        fail_cancelled(get);
        break;
    case GET_WAIT:
        fail_cancelled(get);
        if (list_is_empty(&b->waiters) && !b->has_quick)
            build_cancel(b);
        break;
    case GET_HASH:
    case GET_CHECK:
        job_cancel(&get->job);
        break;
    case GET_DONE:
        break;
    }
}

/* ---- the size limit ---- */

static void sweep_work(struct job *j)
{
    struct module_cache *cache = container_of(j, struct module_cache, sweep);
    struct err err = { 0 };
    if (module_store_sweep(&cache->store, &cache->files, &err) < 0)
        log_warn("module cache cannot be cleaned", "reason=\"%s\"", err_text(&err));
}

static bool is_in_use(const struct module_cache *cache, const struct module_id *file)
{
    struct module_id id = *file;
    bool is_quick = id.flags & MODULE_ID_QUICK;
    id.flags &= (uint8_t)~MODULE_ID_QUICK;
    const struct live *live = find_live(cache, &id);
    return live && live->pub.is_quick == is_quick;
}

static void on_swept(struct job *j, int r)
{
    struct module_cache *cache = container_of(j, struct module_cache, sweep);
    struct module_files files = cache->files;
    uint64_t bytes = 0;
    cache->files = (struct module_files){ 0 };
    uint64_t max_bytes = cache->is_making_room ? 0 : cache->max_bytes;
    cache->is_sweeping = cache->is_making_room = false;
    vec_each (file, &files)
        bytes += file->bytes;
    vec_each (file, &files) {
        if (cache->is_closing || bytes <= max_bytes)
            break;
        if (is_in_use(cache, &file->id))
            continue;
        module_store_remove(&cache->store, &file->id);
        bytes -= file->bytes;
        cache->stats.evicted++;
    }
    vec_fini(&files);
    cache->stats.bytes = bytes;
    advance(cache);
    maybe_closed(cache);
}

static void sweep_start(struct module_cache *cache)
{
    if (cache->is_sweeping || cache->is_closing)
        return;
    cache->sweep.work = sweep_work;
    cache->sweep.done = on_swept;
    cache->is_sweeping = job_start(cache->loop, &cache->sweep) == 0;
}

/* ---- the cache ---- */

/* In the directory of this program, unless the configuration or the environment names another. */
static char *find_compiler(const char *configured)
{
    return configured ? xstrdup(configured) : sibling_find("dormouse-compile", "DORMOUSE_COMPILE");
}

static unsigned count_slots(void)
{
    cpu_set_t set;
    unsigned n = sched_getaffinity(0, sizeof set, &set) < 0 ? 1 : (unsigned)CPU_COUNT(&set);
    return MIN(MAX(n, MODULE_SLOTS_MIN), MODULE_SLOTS_MAX);
}

/* An administrator can disable the quick compiler, since it also processes hostile modules. */
static bool wants_quick(void)
{
    const char *env = getenv("DORMOUSE_QUICK_CODE");
    return !env || strcmp(env, "off") != 0;
}

int module_cache_new(struct loop *loop, const struct module_cache_config *config,
                     struct module_cache **ret, struct err *err)
{
    struct module_store store;
    int r = module_store_open(&store, config->dir, err);
    if (r < 0)
        return r;
    struct module_cache *cache = xnew(struct module_cache);
    memory_group_ref();
    cache->loop = loop;
    cache->store = store;
    cache->compile_path = find_compiler(config->compile_path);
    cache->shares_processes = config->shares_processes;
    cache->max_bytes = config->max_bytes ? config->max_bytes : MODULE_CACHE_BYTES;
    cache->timeout_ms = config->timeout_ms ? config->timeout_ms : MODULE_COMPILE_TIMEOUT_MS;
    list_init(&cache->modules);
    list_init(&cache->queued);
    list_init(&cache->busy);
    list_init(&cache->foreground);
    list_init(&cache->background);
    list_init(&cache->running);
    cache->n_slots = count_slots();
    cache->no_background = config->no_background;
    cache->has_quick = wants_quick();
    sweep_start(cache);
    *ret = cache;
    return 0;
}

static void on_closed(struct defer *d)
{
    struct module_cache *cache = container_of(d, struct module_cache, closed);
    for (struct list *node; (node = list_pop_front(&cache->modules));)
        list_entry(node, struct live, node)->cache = NULL;
    map_fini(&cache->live);
    map_fini(&cache->builds);
    module_tenants_fini(&cache->tenants);
    map_fini(&cache->descriptions); /* the modules still in use own the descriptions in it */
    memory_group_unref();
    module_store_fini(&cache->store);
    free(cache->compile_path);
    void (*cb)(void *arg) = cache->closed_cb;
    void *arg = cache->closed_arg;
    free(cache);
    if (cb)
        cb(arg);
}

static void cancel_all(struct list *list)
{
    list_each_safe (node, list)
        module_get_cancel(list_entry(node, struct module_get, node));
}

static void cancel_builds(struct list *list)
{
    list_each_safe (node, list) {
        struct module_build *b = list_entry(node, struct module_build, node);
        while (!list_is_empty(&b->waiters)) {
            struct module_get *get = list_first(&b->waiters, struct module_get, node);
            get->is_cancelled = true;
            fail_cancelled(get);
        }
        build_cancel(b);
    }
}

void module_cache_close(struct module_cache *cache, void (*cb)(void *arg), void *arg)
{
    assert(!cache->is_closing);
    cache->is_closing = true;
    cache->closed_cb = cb;
    cache->closed_arg = arg;
    cache->closed.run = on_closed;
    cancel_all(&cache->busy);
    cancel_all(&cache->queued);
    cancel_builds(&cache->foreground);
    cancel_builds(&cache->background);
    cancel_builds(&cache->running);
    maybe_closed(cache);
}

void module_cache_stats(const struct module_cache *cache, struct module_cache_stats *ret)
{
    *ret = cache->stats;
    ret->waiting = cache->n_waiting;
    ret->compiling = cache->n_running;
    ret->background = cache->n_background;
}
