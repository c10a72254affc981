/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module cache: requests, and the modules that are in use.
 *
 * A request (struct module_get) goes through the states below. Three of them wait for a job on a
 * worker thread, one for the compiler; two are queues. The same module may be asked for many times
 * at once: whoever learns its key when it is already in use is done, and when a compilation ends,
 * all that wait for the same key get its result.
 *
 *   QUEUED -> HASH ----> CHECK -----> WAIT ----> PREPARE -> COMPILE -> STORE
 *               | in use   | on disk    | the same     |        |        |
 *               |          |            | module came  | failed | failed |
 *               `----------`------------`--------------`--------`--------`--> DONE
 *
 * QUEUED to CHECK: at most LOOKS_MAX requests are in HASH or CHECK. WAIT to STORE: one at a time.
 * DONE: the callback runs from a deferred call.
 */
#include "wasm/module.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/record.h"
#include "base/sm.h"
#include "base/sys.h"
#include "wasm/module_compile.h"
#include "wasm/module_store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of libuv's four worker threads, which DNS and files share. */
#define LOOKS_MAX 2u

enum get_state {
    GET_QUEUED,
    GET_HASH,
    GET_CHECK,
    GET_WAIT,
    GET_PREPARE,
    GET_COMPILE,
    GET_STORE,
    GET_DONE,
};

static const struct sm_state get_table[] = {
    [GET_QUEUED] = { "queued", EDGE(GET_HASH) | EDGE(GET_DONE) },
    [GET_HASH] = { "hash", EDGE(GET_CHECK) | EDGE(GET_DONE) },
    [GET_CHECK] = { "check", EDGE(GET_WAIT) | EDGE(GET_DONE) },
    [GET_WAIT] = { "wait", EDGE(GET_PREPARE) | EDGE(GET_DONE) },
    [GET_PREPARE] = { "prepare", EDGE(GET_COMPILE) | EDGE(GET_DONE) },
    [GET_COMPILE] = { "compile", EDGE(GET_STORE) | EDGE(GET_DONE) },
    [GET_STORE] = { "store", EDGE(GET_DONE) },
    [GET_DONE] = { "done", 0 },
};

struct module_get {
    struct module_cache *cache;
    struct list node; /* in a queue of the cache, or in `busy` */
    struct sm sm;
    struct job job; /* HASH, CHECK, PREPARE, STORE; it owns what follows while it runs */
    struct err err;
    int status;
    int fd; /* the caller's file */
    unsigned flags;
    struct module_key key;
    struct module_entry entry;
    int wasm_fd, code_fd, info_fd;         /* of a compilation, else -1 */
    char temp_name[MODULE_TEMP_NAME_SIZE]; /* empty: there is no temporary file */
    struct module_compile *compile;
    uint64_t started_ms;
    bool is_cancelled;
    struct module *module; /* the result */
    struct defer done;
    module_get_cb cb;
    void *arg;
};

/* Modules that differ in their code only, as those of many operators built from one source do,
 * share their description. */
struct description {
    unsigned refs;
    uint8_t sha256[SHA256_BYTES]; /* of its file form; its key in cache->descriptions */
    struct module_info *info;
};

struct live {
    struct module pub;
    struct list node;           /* in cache->modules */
    struct module_cache *cache; /* NULL: it was closed */
    unsigned refs;
    uint8_t flags;
    struct file_id code;
    struct description *description;
};

struct module_cache {
    struct loop *loop;
    struct module_store store;
    char *compile_path;
    uint64_t max_bytes, timeout_ms;
    struct list modules; /* every struct live */
    struct map live;     /* those that requests find, by struct module_id */
    struct map descriptions;
    struct list queued;  /* GET_QUEUED */
    struct list waiting; /* GET_WAIT */
    struct list busy;    /* all others */
    unsigned n_gets, n_looks, n_waiting;
    struct module_get *compiling; /* in PREPARE, COMPILE or STORE */
    struct job sweep;
    struct module_files files; /* owned by the sweep while it runs */
    bool is_sweeping;
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

/* cache: NULL when it is gone. */
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

/* Requests no longer find it; who has it, keeps it. */
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
    record_free(live);
}

/* What `entry` is; takes entry->info. The reference is the caller's. */
static struct module *live_get(struct module_cache *cache, const struct module_key *key,
                               struct module_entry *entry)
{
    /* Another request may have found the file on disk before the one that made it was told. */
    struct live *live = find_live(cache, &key->id);
    if (live && file_id_eq(&live->code, &entry->code))
        return module_ref(&live->pub);
    if (live)
        live_forget(live);
    live = record_new(struct live);
    live->cache = cache;
    live->refs = 1;
    live->code = entry->code;
    live->description = description_get(cache, take_ptr(&entry->info));
    live->flags = key->id.flags;
    live->pub.wasm_bytes = key->wasm_bytes;
    live->pub.code_bytes = (uint64_t)live->code.bytes;
    live->pub.info = live->description->info;
    memcpy(live->pub.sha256, key->id.sha256, sizeof live->pub.sha256);
    hex_format(key->id.sha256, sizeof key->id.sha256, live->pub.hash);
    (void)map_put(&cache->live, str_n(&key->id, sizeof key->id), live);
    list_push_back(&cache->modules, &live->node);
    return &live->pub;
}

int module_open(struct module *m, struct err *err)
{
    struct live *live = live_of(m);
    if (!live->cache)
        return err_set(err, -ECANCELED, "the module cache is closed");
    struct module_id id = id_of(live);
    int r = module_store_open_code(&live->cache->store, &id, &live->code, err);
    if (r == E_EXPIRED)
        live_forget(live);
    return r;
}

/* ---- the end of a request ---- */

static void maybe_closed(struct module_cache *cache)
{
    if (cache->is_closing && cache->n_gets == 0 && !cache->is_sweeping)
        defer_start(cache->loop, &cache->closed, cache->closed.run);
}

static void close_fds(struct module_get *get)
{
    int *fds[] = { &get->wasm_fd, &get->code_fd, &get->info_fd };
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fd_scoped(fds[i]);
        *fds[i] = -1;
    }
    if (get->temp_name[0])
        module_store_drop_temp(&get->cache->store, get->temp_name);
    get->temp_name[0] = 0;
}

static void on_done(struct defer *d)
{
    struct module_get *get = container_of(d, struct module_get, done);
    struct module_cache *cache = get->cache;
    list_remove(&get->node);
    cache->n_gets--;
    struct module *module = get->module;
    if (get->status < 0) {
        module_unref(module);
        module = NULL;
    }
    get->cb(module, get->status, &get->err, get->arg);
    free(get);
    maybe_closed(cache);
}

/* The only way to the end. `module` is NULL on failure, else this request's own reference. */
static void finish(struct module_get *get, struct module *module, int status)
{
    struct module_cache *cache = get->cache;
    sm_move(&get->sm, GET_DONE);
    if (cache->compiling == get)
        cache->compiling = NULL;
    close_fds(get);
    fd_scoped(&get->fd);
    module_info_free(get->entry.info);
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

/* true: the module is in use already, and the request is done. */
static bool finish_live(struct module_get *get)
{
    struct live *live = find_live(get->cache, &get->key.id);
    if (!live)
        return false;
    get->cache->stats.hits++;
    finish(get, module_ref(&live->pub), 0);
    return true;
}

/* ---- jobs ---- */

/* Runs `work` for `get`; `done` comes even if the job could not be started, since libuv cannot fail
 * here for another reason than a wrong argument. */
static void start_job(struct module_get *get, void (*work)(struct job *),
                      void (*done)(struct job *, int))
{
    get->job.work = work;
    get->job.done = done;
    get->err = (struct err){ 0 };
    get->status = 0;
    int r = job_start(get->cache->loop, &get->job);
    assert(r == 0);
    (void)r;
}

static void hash_work(struct job *j)
{
    struct module_get *get = container_of(j, struct module_get, job);
    get->status = module_key_of(get->fd, get->flags, &get->key, &get->err);
}

static void check_work(struct job *j)
{
    struct module_get *get = container_of(j, struct module_get, job);
    get->status = module_store_load(&get->cache->store, &get->key, &get->entry, &get->err);
}

static void prepare_work(struct job *j)
{
    struct module_get *get = container_of(j, struct module_get, job);
    get->wasm_fd = get->status = module_copy_wasm(get->fd, &get->key, &get->err);
    if (get->status < 0)
        return;
    get->code_fd = get->status = module_store_temp(&get->cache->store, get->temp_name, &get->err);
    if (get->status < 0)
        return;
    get->info_fd = get->status = sys_memfd("dormouse-info");
    if (get->status < 0)
        (void)err_sys(&get->err, get->status, "create a memory file");
}

static void store_work(struct job *j)
{
    struct module_get *get = container_of(j, struct module_get, job);
    get->status = module_store_add(&get->cache->store, &get->key, get->code_fd, get->temp_name,
                                   get->info_fd, &get->entry, &get->err);
    get->temp_name[0] = 0;
}

/* Enough of the hash to find it in logs. */
struct short_hash {
    char text[13];
};

static struct short_hash short_hash(const struct module_get *get)
{
    struct short_hash s;
    hex_format(get->key.id.sha256, 6, s.text);
    return s;
}

static void on_checked(struct job *j, int r)
{
    struct module_get *get = container_of(j, struct module_get, job);
    struct module_cache *cache = get->cache;
    cache->n_looks--;
    if (r < 0 || get->is_cancelled) {
        fail_cancelled(get);
    } else if (finish_live(get)) {
        /* Somebody else's request was faster. */
    } else if (get->status == 0) {
        cache->stats.hits++;
        finish(get, live_get(cache, &get->key, &get->entry), 0);
    } else {
        if (get->status != -ENOENT) {
            cache->stats.damaged++;
            log_warn("compiling a module again", "module=%s reason=\"%s\"", short_hash(get).text,
                     err_text(&get->err));
        }
        sm_move(&get->sm, GET_WAIT);
        list_remove(&get->node);
        list_push_back(&cache->waiting, &get->node);
        cache->n_waiting++;
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
            start_job(get, check_work, on_checked);
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

/* What a compilation came to also holds for those that wait for the same module; a cancelled one
 * came to nothing. */
static void settle(struct module_get *get, int status)
{
    struct module_cache *cache = get->cache;
    struct module *module = NULL;
    if (status == 0)
        module = live_get(cache, &get->key, &get->entry);
    list_each_safe (node, &cache->waiting) {
        struct module_get *other = list_entry(node, struct module_get, node);
        if (status == -ECANCELED || memcmp(&other->key.id, &get->key.id, sizeof get->key.id) != 0)
            continue;
        cache->n_waiting--;
        other->err = get->err;
        if (module)
            finish(other, module_ref(module), 0);
        else
            finish(other, NULL, status);
    }
    if (module)
        finish(get, module, 0);
    else
        fail(get, status);
    advance(cache);
}

static void on_stored(struct job *j, int r)
{
    struct module_get *get = container_of(j, struct module_get, job);
    struct module_cache *cache = get->cache;
    if (r < 0) {
        fail_cancelled(get);
        advance(cache);
        return;
    }
    if (get->status < 0) {
        settle(get, get->status);
        return;
    }
    cache->stats.compiled++;
    cache->stats.bytes += (uint64_t)get->entry.code.bytes;
    log_info("module compiled", "module=%s wasm_bytes=%ju code_bytes=%ju ms=%ju",
             short_hash(get).text, (uintmax_t)get->key.wasm_bytes, (uintmax_t)get->entry.code.bytes,
             (uintmax_t)(clock_mono_ms() - get->started_ms));
    settle(get, 0);
    if (cache->stats.bytes > cache->max_bytes)
        sweep_start(cache);
}

static void on_compiled(int status, const struct err *err, void *arg)
{
    struct module_get *get = arg;
    get->compile = NULL;
    if (status < 0) {
        get->err = *err;
        if (status != -ECANCELED)
            get->cache->stats.refused++;
        settle(get, status);
        return;
    }
    sm_move(&get->sm, GET_STORE);
    start_job(get, store_work, on_stored);
}

static void on_prepared(struct job *j, int r)
{
    struct module_get *get = container_of(j, struct module_get, job);
    struct module_cache *cache = get->cache;
    if (r < 0 || get->is_cancelled) {
        fail_cancelled(get);
        advance(cache);
        return;
    }
    if (get->status >= 0)
        get->status =
            module_compile_start(cache->loop, cache->compile_path, get->wasm_fd, get->code_fd,
                                 get->info_fd, get->flags & MODULE_KEEP_NAMES, cache->timeout_ms,
                                 on_compiled, get, &get->compile, &get->err);
    if (get->status < 0) {
        /* Not the module's fault, and it would fail the same way for the others: let each try. */
        fail(get, get->status);
        advance(cache);
        return;
    }
    sm_move(&get->sm, GET_COMPILE);
}

/* ---- the queues ---- */

static void start_look(struct module_cache *cache)
{
    struct module_get *get = list_first(&cache->queued, struct module_get, node);
    list_remove(&get->node);
    list_push_back(&cache->busy, &get->node);
    cache->n_looks++;
    sm_move(&get->sm, GET_HASH);
    start_job(get, hash_work, on_hashed);
}

static void start_compile(struct module_cache *cache)
{
    struct module_get *get = list_first(&cache->waiting, struct module_get, node);
    list_remove(&get->node);
    list_push_back(&cache->busy, &get->node);
    cache->n_waiting--;
    /* It may have come into use while this request was on its way to the queue. */
    if (finish_live(get))
        return;
    cache->compiling = get;
    get->started_ms = clock_mono_ms();
    sm_move(&get->sm, GET_PREPARE);
    start_job(get, prepare_work, on_prepared);
}

/* Start what can be started. Nothing else takes requests from the queues, but their end. */
static void advance(struct module_cache *cache)
{
    while (cache->n_looks < LOOKS_MAX && !list_is_empty(&cache->queued))
        start_look(cache);
    while (!cache->compiling && !list_is_empty(&cache->waiting))
        start_compile(cache);
}

/* ---- requests ---- */

static int take_request(struct module_cache *cache, int *fd, unsigned flags, module_get_cb cb,
                        void *arg, struct module_get **ret)
{
    struct module_get *get = xnew(struct module_get);
    get->cache = cache;
    get->fd = take_fd(fd);
    get->flags = flags;
    get->wasm_fd = get->code_fd = get->info_fd = -1;
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

static int check_request(const struct module_cache *cache, struct err *err)
{
    if (cache->is_closing)
        return err_sys(err, -ECANCELED, "get a module");
    if (cache->n_gets >= MODULE_GETS_MAX)
        return err_set(err, E_LIMIT, "%u modules are being compiled or looked up", cache->n_gets);
    return 0;
}

int module_get(struct module_cache *cache, int fd, unsigned flags, module_get_cb cb, void *arg,
               struct module_get **ret, struct err *err)
{
    int r = check_request(cache, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return err_sys(err, -errno, "duplicate the module's descriptor");
    return take_request(cache, &own, flags, cb, arg, ret);
}

int module_get_bytes(struct module_cache *cache, struct str wasm, unsigned flags, module_get_cb cb,
                     void *arg, struct module_get **ret, struct err *err)
{
    int r = check_request(cache, err);
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
    return take_request(cache, &own, flags, cb, arg, ret);
}

void module_get_cancel(struct module_get *get)
{
    if (get->is_cancelled)
        return;
    get->is_cancelled = true;
    switch ((enum get_state)get->sm.at) {
    case GET_QUEUED:
        fail_cancelled(get);
        break;
    case GET_WAIT:
        get->cache->n_waiting--;
        fail_cancelled(get);
        break;
    case GET_HASH:
    case GET_CHECK:
    case GET_PREPARE:
        job_cancel(&get->job);
        break;
    case GET_COMPILE:
        module_compile_kill(get->compile);
        break;
    case GET_STORE: /* nearly done */
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

static void on_swept(struct job *j, int r)
{
    struct module_cache *cache = container_of(j, struct module_cache, sweep);
    struct module_files files = cache->files;
    uint64_t bytes = 0;
    cache->files = (struct module_files){ 0 };
    cache->is_sweeping = false;
    vec_each (file, &files)
        bytes += file->bytes;
    vec_each (file, &files) {
        if (cache->is_closing || bytes <= cache->max_bytes)
            break;
        if (find_live(cache, &file->id))
            continue;
        module_store_remove(&cache->store, &file->id);
        bytes -= file->bytes;
        cache->stats.evicted++;
    }
    vec_fini(&files);
    cache->stats.bytes = bytes;
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

/* Beside this program, unless the configuration or the environment says otherwise. */
static char *find_compiler(const char *configured)
{
    const char *env = getenv("DORMOUSE_COMPILE");
    if (configured)
        return xstrdup(configured);
    if (env && *env)
        return xstrdup(env);
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return xstrdup("dormouse-compile");
    self[n] = 0;
    char *slash = strrchr(self, '/');
    return xasprintf("%.*s/dormouse-compile", (int)(slash ? slash - self : 0), self);
}

int module_cache_new(struct loop *loop, const struct module_cache_config *config,
                     struct module_cache **ret, struct err *err)
{
    struct module_store store;
    int r = module_store_open(&store, config->dir, err);
    if (r < 0)
        return r;
    struct module_cache *cache = xnew(struct module_cache);
    cache->loop = loop;
    cache->store = store;
    cache->compile_path = find_compiler(config->compile_path);
    cache->max_bytes = config->max_bytes ? config->max_bytes : MODULE_CACHE_BYTES;
    cache->timeout_ms = config->timeout_ms ? config->timeout_ms : MODULE_COMPILE_TIMEOUT_MS;
    list_init(&cache->modules);
    list_init(&cache->queued);
    list_init(&cache->waiting);
    list_init(&cache->busy);
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
    map_fini(&cache->descriptions); /* modules that are still in use own what it lists */
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

void module_cache_close(struct module_cache *cache, void (*cb)(void *arg), void *arg)
{
    assert(!cache->is_closing);
    cache->is_closing = true;
    cache->closed_cb = cb;
    cache->closed_arg = arg;
    cache->closed.run = on_closed;
    cancel_all(&cache->busy);
    cancel_all(&cache->queued);
    cancel_all(&cache->waiting);
    maybe_closed(cache);
}

void module_cache_stats(const struct module_cache *cache, struct module_cache_stats *ret)
{
    *ret = cache->stats;
    ret->waiting = cache->n_waiting;
    ret->compiling = cache->compiling != NULL;
}
