/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime of Wasm functions without a worker around it, for tests and benchmarks: module cache,
 * real runners, one revision of each module asked for, and requests that write down their answers.
 */
#pragma once

#include "test.h"

#include "base/buf.h"
#include "base/clock.h"
#include "fn/worker/wasm_runtime.h"
#include "guest/runner_pool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

struct fn_rig {
    struct loop loop;
    struct module_cache *cache;
    struct runner_pool *runners;
    struct module_sources *sources;
    struct guest_logs *logs;
    struct runtime *runtime;
    char dir[64];
    unsigned created, destroyed;
    int create_status; /* of the last on_created */
    struct err create_err;
    bool is_closed;
    unsigned templates_max; /* before opening */
    uint64_t compiling_ms;  /* the same; with a module cache of its own then */
    unsigned compiling;
};

/* One revision with one sandbox. */
struct fn_under_test {
    struct fn_rig *rig;
    struct fn_template t;
    struct runtime_revision r;
    uint64_t sandbox;
};

struct fn_call {
    struct exchange *x;
    int status; /* 0: no head yet */
    struct headers headers, trailers;
    struct buf body;
    bool is_over;
    int end;
    char reason[40];
    struct err err;
    unsigned writables, pieces;
    size_t pause_after; /* bytes; 0: never */
    bool is_paused;
};

#define FN_WAIT(rig, cond)                                                                         \
    do {                                                                                           \
        while (!(cond))                                                                            \
            (void)loop_turn(&(rig)->loop, true);                                                   \
    } while (0)

static void fn_on_created(void *arg, uint64_t sandbox, int r, const char *address,
                          const Dormouse__Fn__V1__Breakdown *breakdown, const struct err *err)
{
    struct fn_rig *rig = arg;
    rig->created++;
    rig->create_status = r;
    rig->create_err = *err;
}

static void fn_on_compiling(void *arg, uint64_t sandbox)
{
    struct fn_rig *rig = arg;
    rig->compiling++;
}

static void fn_on_gone(void *arg, uint64_t sandbox, const char *reason)
{
    TEST_FAIL("sandbox gone: %s", reason);
}

static void fn_on_destroyed(void *arg, uint64_t sandbox)
{
    ((struct fn_rig *)arg)->destroyed++;
}

static inline void fn_rig_open_with(struct fn_rig *rig, unsigned max_runners, const char *runner)
{
    static const struct runtime_events events = { .on_created = fn_on_created,
                                                  .on_compiling = fn_on_compiling,
                                                  .on_gone = fn_on_gone,
                                                  .on_destroyed = fn_on_destroyed };
    struct err err = { 0 };
    *rig =
        (struct fn_rig){ .templates_max = rig->templates_max, .compiling_ms = rig->compiling_ms };
    (void)snprintf(rig->dir, sizeof rig->dir, "/tmp/dormouse-test-XXXXXX");
    CHECK(mkdtemp(rig->dir));
    CHECK_OK(loop_init(&rig->loop, NULL));
    const char *cache_dir = getenv("TEST_CACHE_DIR");
    bool is_own = !cache_dir || rig->compiling_ms;
    struct module_cache_config config = { .dir = is_own ? rig->dir : cache_dir };
    if (module_cache_new(&rig->loop, &config, &rig->cache, &err) < 0)
        TEST_FAIL("%s", err.text);
    const struct module_sources_opts sources = { .loop = &rig->loop, .dir = rig->dir };
    CHECK_OK(module_sources_new(&sources, &rig->sources, NULL));
    char logs[96];
    (void)snprintf(logs, sizeof logs, "%s/logs", rig->dir);
    rig->logs = guest_logs_new(logs);
    const char *guests = getenv("TEST_GUESTS_DIR");
    scoped(free_scoped) char *real = realpath(guests ? guests : ".", NULL);
    const char *examples = getenv("TEST_EXAMPLES_DIR");
    scoped(free_scoped) char *real_examples = realpath(examples ? examples : ".", NULL);
    const char *dirs[] = { real, rig->dir, real_examples };
    rig->runners = pool_new(&rig->loop, runner);
    const struct wasm_runtime_opts opts = { .loop = &rig->loop,
                                            .modules = rig->cache,
                                            .sources = rig->sources,
                                            .logs = rig->logs,
                                            .module_dirs = dirs,
                                            .n_module_dirs = 3,
                                            .runners = rig->runners,
                                            .max_runners = max_runners,
                                            .templates_max = rig->templates_max,
                                            .compiling_ms = rig->compiling_ms };
    if (wasm_runtime_new(&opts, &rig->runtime, &err) < 0)
        TEST_FAIL("%s", err.text);
    rig->runtime->events = &events;
    rig->runtime->events_arg = rig;
}

static inline void fn_rig_open(struct fn_rig *rig, unsigned max_runners)
{
    fn_rig_open_with(rig, max_runners, NULL);
}

static void fn_on_closed(void *arg)
{
    *(bool *)arg = true;
}

static inline void fn_remove_dir(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *e; (e = readdir(dir));) {
        char sub[512];
        (void)snprintf(sub, sizeof sub, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && unlink(sub) < 0 && errno == EISDIR)
            fn_remove_dir(sub);
    }
    (void)closedir(dir);
    (void)rmdir(path);
}

static inline void fn_rig_close(struct fn_rig *rig)
{
    bool runtime = false, cache = false;
    rig->runtime->ops->close(rig->runtime, fn_on_closed, &runtime);
    FN_WAIT(rig, runtime);
    module_sources_close(rig->sources);
    pool_free(rig->runners);
    module_cache_close(rig->cache, fn_on_closed, &cache);
    FN_WAIT(rig, cache);
    guest_logs_free(rig->logs);
    loop_run(&rig->loop);
    loop_fini(&rig->loop);
    fn_remove_dir(rig->dir);
}

/* file: below TEST_GUESTS_DIR. Returns what on_created says. */
static inline int fn_try_open(struct fn_rig *rig, struct fn_under_test *f, const char *file)
{
    static uint64_t last;
    f->rig = rig;
    f->t.file = str_of(file);
    if (!f->t.memory)
        f->t.memory = FN_MEMORY_DEFAULT;
    if (!f->r.namespace)
        f->r.namespace = "default";
    f->r.function = "tested";
    if (!f->r.uid)
        f->r.uid = "11111111-2222-3333-4444-555555555555";
    if (!f->r.revision)
        f->r.revision = (uint32_t)++last;
    f->r.t = &f->t;
    f->sandbox = ++last + 1000;
    unsigned before = rig->created;
    rig->runtime->ops->prepare(rig->runtime, &f->r);
    rig->runtime->ops->create(rig->runtime, f->sandbox, &f->r);
    CHECK(rig->created == before); /* never inside the call */
    FN_WAIT(rig, rig->created > before);
    return rig->create_status;
}

static inline void fn_open(struct fn_rig *rig, struct fn_under_test *f, const char *file)
{
    if (fn_try_open(rig, f, file) < 0)
        TEST_FAIL("%s: %s", file, err_text(&rig->create_err));
}

static inline void fn_close(struct fn_under_test *f)
{
    struct fn_rig *rig = f->rig;
    unsigned before = rig->destroyed;
    rig->runtime->ops->destroy(rig->runtime, f->sandbox, 0);
    CHECK(rig->destroyed == before);
    FN_WAIT(rig, rig->destroyed > before);
    rig->runtime->ops->forget(rig->runtime, &f->r);
}

/* ---- requests ---- */

static void fn_on_head(void *arg, int status, const struct headers *headers)
{
    struct fn_call *c = arg;
    CHECK(!c->status && !c->is_over);
    c->status = status;
    CHECK_OK(headers_copy(&c->headers, headers));
}

static void fn_on_data(void *arg, struct str chunk)
{
    struct fn_call *c = arg;
    CHECK(c->status && !c->is_over && !c->is_paused);
    CHECK_OK(buf_add_str(&c->body, chunk));
    c->pieces++;
    if (c->pause_after && c->body.n >= c->pause_after) {
        c->is_paused = true;
        exchange_pause(c->x);
    }
}

static void fn_on_trailers(void *arg, const struct headers *trailers)
{
    struct fn_call *c = arg;
    CHECK_OK(headers_copy(&c->trailers, trailers));
}

static void fn_on_writable(void *arg)
{
    ((struct fn_call *)arg)->writables++;
}

static void fn_on_end(void *arg, int r, const struct err *err)
{
    struct fn_call *c = arg;
    CHECK(!c->is_over);
    c->is_over = true;
    c->end = r;
    (void)snprintf(c->reason, sizeof c->reason, "%s", exchange_reason(c->x));
    c->err = *err;
}

static const struct exchange_events fn_call_events = { .on_head = fn_on_head,
                                                       .on_data = fn_on_data,
                                                       .on_trailers = fn_on_trailers,
                                                       .on_writable = fn_on_writable,
                                                       .on_end = fn_on_end };

static inline struct invoke_request fn_request(const struct fn_under_test *f, const char *target)
{
    static const struct headers none;
    return (struct invoke_request){ .sandbox = f->sandbox,
                                    .method = STR("GET"),
                                    .target = str_of(target),
                                    .authority = STR("tested.default:8080"),
                                    .headers = &none,
                                    .peer = STR("10.1.2.3:4567"),
                                    .call_id = STR("call-1") };
}

static inline void fn_start(struct fn_under_test *f, struct fn_call *c,
                            const struct invoke_request *q)
{
    struct err err = { 0 };
    c->body = BUF_INIT((size_t)256 << 20);
    if (invoke_start(f->rig->runtime->invoker, q, &fn_call_events, c, &c->x, &err) < 0)
        TEST_FAIL("%s", err.text);
    CHECK(!c->status && !c->is_over);
}

static inline void fn_call_fini(struct fn_call *c)
{
    headers_fini(&c->headers);
    headers_fini(&c->trailers);
    buf_fini(&c->body);
    *c = (struct fn_call){ 0 };
}

/* A whole request with this body, if it is not NULL. */
static inline void fn_do(struct fn_under_test *f, struct fn_call *c, const char *target,
                         const char *body)
{
    struct invoke_request q = fn_request(f, target);
    if (body) {
        q.method = STR("POST");
        q.has_body = q.body_is_whole = true;
        q.body = str_of(body);
        q.body_bytes = q.body.n;
    }
    fn_call_fini(c);
    fn_start(f, c, &q);
    FN_WAIT(f->rig, c->is_over);
}
