/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host of guests without a network, for tests: module cache, real runner, and a service that
 * writes down what happens. A test completes operations by hand or lets `auto_delay` do it.
 */
#pragma once

#include "test.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/sys.h"
#include "base/vec.h"
#include "guest/guest.h"
#include "guest/runner_pool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

struct rig {
    struct loop loop;
    struct module_cache *cache;
    struct runner_pool *runners;
    struct guest_host *host;
    char dir[64];
    bool is_closed;
};

struct rig_op {
    struct guest_op op;
    char *payload;
    bool is_completed;
};

/* One guest and everything that was heard of it. */
struct actor {
    struct rig *rig;
    struct guest *guest;
    VEC(struct rig_op) ops;
    struct buf log; /* lines, each with "1 " or "2 " in front */
    unsigned lines, states[5], rooms;
    struct err why;  /* of the last FAILED */
    int kept_awake;  /* as it was told last */
    bool auto_delay; /* complete every DELAY at once */
    void (*on_op)(struct actor *a, const struct guest_op *op);

    /* V1: what was told, a line each: "call KIND TOKEN HEAD|BODY", "post KIND TOKEN NUMBER
     * HEAD|BODY", "done TOKEN RESULT MESSAGE". Calls are answered at once with the head, unless
     * held. */
    struct buf reported;
    struct guest_call call; /* the last one; without its strings */
    unsigned calls, posts, dones;
    bool holds_calls, holds_declare;
    int64_t declare_value;
};

/* Turn the loop until it holds. The test's own timeout ends a wait in vain. */
#define WAIT(rig, cond)                                                                            \
    do {                                                                                           \
        while (!(cond))                                                                            \
            (void)loop_turn(&(rig)->loop, true);                                                   \
    } while (0)

/* Not 0: what reading the boot of the machine gives to hosts, which open nothing before it. */
static int rig_boot_code;

/* Not NULL: the program of the runners of the next rig. */
static const char *rig_runner;

static inline void rig_open(struct rig *r, struct guest_host_opts opts)
{
    struct err err = { 0 };
    *r = (struct rig){ 0 };
    (void)snprintf(r->dir, sizeof r->dir, "/tmp/dormouse-test-XXXXXX");
    CHECK(mkdtemp(r->dir));
    CHECK_OK(loop_init(&r->loop, NULL));
    const char *cache_dir = getenv("TEST_CACHE_DIR");
    struct module_cache_config config = { .dir = cache_dir ? cache_dir : r->dir };
    if (module_cache_new(&r->loop, &config, &r->cache, &err) < 0)
        TEST_FAIL("%s", err.text);
    char swap[96];
    (void)snprintf(swap, sizeof swap, "%s/swap", r->dir);
    if (!opts.swap_dir)
        opts.swap_dir = swap;
    r->runners = pool_new(&r->loop, rig_runner);
    rig_runner = NULL;
    opts.runners = r->runners;
    if (rig_boot_code)
        sys_fail_nth(SYS_OPENAT, 1, rig_boot_code);
    if (guest_host_new(&r->loop, &opts, &r->host, &err) < 0)
        TEST_FAIL("%s", err.text);
    if (rig_boot_code)
        sys_fail_nth(SYS_OPENAT, 0, 0);
}

static inline void rig_on_closed(void *arg)
{
    *(bool *)arg = true;
}

static inline void rig_remove_dir(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.' && unlinkat(dirfd(dir), e->d_name, 0) < 0 && errno == EISDIR) {
            char sub[512];
            (void)snprintf(sub, sizeof sub, "%s/%s", path, e->d_name);
            rig_remove_dir(sub);
        }
    (void)closedir(dir);
    (void)rmdir(path);
}

static inline void rig_close(struct rig *r)
{
    bool host_closed = false, cache_closed = false;
    guest_host_close(r->host, rig_on_closed, &host_closed);
    WAIT(r, host_closed);
    pool_free(r->runners);
    module_cache_close(r->cache, rig_on_closed, &cache_closed);
    WAIT(r, cache_closed);
    loop_run(&r->loop);
    loop_fini(&r->loop);
    rig_remove_dir(r->dir);
}

struct rig_get {
    struct module *module;
    bool done;
};

static inline void rig_on_module(struct module *m, int status, const struct err *err, void *arg)
{
    struct rig_get *get = arg;
    if (status < 0)
        TEST_FAIL("%s", err->text);
    get->module = m;
    get->done = true;
}

/* false: this machine could not build it. */
static inline bool rig_has_module(const char *name)
{
    char path[512];
    const char *dir = getenv("TEST_GUESTS_DIR");
    (void)snprintf(path, sizeof path, "%s/%s.wasm", dir ? dir : ".", name);
    return access(path, R_OK) == 0;
}

static inline struct module *rig_module(struct rig *r, const char *name)
{
    char path[512];
    struct rig_get get = { 0 };
    const char *dir = getenv("TEST_GUESTS_DIR");
    (void)snprintf(path, sizeof path, "%s/%s.wasm", dir ? dir : ".", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        TEST_FAIL("cannot open %s", path);
    CHECK_OK(module_get(r->cache, fd, NULL, rig_on_module, &get, NULL, NULL));
    (void)close(fd);
    WAIT(r, get.done);
    return get.module;
}

/* ---- the service ---- */

static inline void actor_complete(struct actor *a, uint64_t id, uint32_t incarnation)
{
    struct guest_delivery d = {
        .id = id, .incarnation = incarnation, .finished = true, .last = true, .null = true
    };
    CHECK_OK(guest_deliver(a->guest, &d, NULL));
}

static inline struct guest_stats actor_stats_of(const struct guest *g)
{
    struct guest_stats s;
    guest_get_stats(g, &s);
    return s;
}

static inline void actor_on_op(struct guest *g, const struct guest_op *op, void *arg)
{
    struct actor *a = arg;
    struct rig_op copy = { .op = *op, .payload = str_dup(op->payload) };
    copy.op.payload.p = copy.payload;
    vec_push(&a->ops, copy);
    if (a->on_op)
        a->on_op(a, op);
    if (a->auto_delay && op->kind == GUEST_OP_DELAY)
        actor_complete(a, op->id, op->incarnation);
}

static inline void actor_on_room(struct guest *g, void *arg)
{
    ((struct actor *)arg)->rooms++;
}

static inline void actor_on_state(struct guest *g, enum guest_state state, const struct err *why,
                                  void *arg)
{
    struct actor *a = arg;
    a->states[state]++;
    if (why)
        a->why = *why;
}

static inline void actor_on_kept_awake(struct guest *g, const struct err *why, void *arg)
{
    struct actor *a = arg;
    CHECK(a->kept_awake != (why ? why->code : 0)); /* told once */
    a->kept_awake = why ? why->code : 0;
}

static inline void actor_on_log(struct guest *g, int fd, struct str line, void *arg)
{
    struct actor *a = arg;
    (void)buf_printf(&a->log, "%d " STR_FMT "\n", fd, STR_ARG(line));
    a->lines++;
}

static inline void actor_on_call(struct guest *g, const struct guest_call *c, void *arg)
{
    static const char *const kinds[] = { "declare", "api", "get", "list", "config" };
    struct actor *a = arg;
    (void)buf_printf(&a->reported, "call %s %llu " STR_FMT "|" STR_FMT "\n", kinds[c->kind],
                     (unsigned long long)c->token, STR_ARG(c->head), STR_ARG(c->body));
    a->call = *c;
    a->calls++;
    bool is_declare = c->kind == GUEST_CALL_DECLARE;
    if (is_declare ? !a->holds_declare : !a->holds_calls)
        CHECK_OK(guest_reply(g, c->id, c->incarnation,
                             is_declare ? a->declare_value : (int64_t)c->head.n, c->head, NULL));
}

static inline void actor_on_post(struct guest *g, const struct guest_post *p, void *arg)
{
    static const char *const kinds[] = { "log", "enqueue", "event", "metric" };
    struct actor *a = arg;
    (void)buf_printf(&a->reported, "post %s %llu %u " STR_FMT "|" STR_FMT, kinds[p->kind],
                     (unsigned long long)p->token, p->number, STR_ARG(p->head), STR_ARG(p->body));
    if (p->kind == GUEST_POST_METRIC)
        (void)buf_printf(&a->reported, "%.3f", p->value);
    (void)buf_add_char(&a->reported, '\n');
    a->posts++;
}

static inline void actor_on_activated(struct guest *g, uint64_t token, uint32_t incarnation,
                                      int64_t result, struct str message, void *arg)
{
    struct actor *a = arg;
    CHECK_INT(incarnation, actor_stats_of(g).incarnation);
    (void)buf_printf(&a->reported, "done %llu %lld " STR_FMT "\n", (unsigned long long)token,
                     (long long)result, STR_ARG(message));
    a->dones++;
}

static const struct guest_ops actor_ops = { .on_op = actor_on_op,
                                            .on_room = actor_on_room,
                                            .on_state = actor_on_state,
                                            .on_log = actor_on_log,
                                            .on_kept_awake = actor_on_kept_awake,
                                            .on_call = actor_on_call,
                                            .on_post = actor_on_post,
                                            .on_activated = actor_on_activated };

/* spec.name, abi, module and limits as the test wants them; the rest is filled in. */
static inline int actor_try_open(struct actor *a, struct rig *r, struct guest_spec spec,
                                 struct err *err)
{
    static unsigned serial;
    char uid[32];
    (void)snprintf(uid, sizeof uid, "uid-%u", ++serial);
    spec.namespace = "test";
    spec.name = spec.name ? spec.name : "guest";
    spec.uid = uid;
    a->rig = r;
    if (!a->log.max)
        buf_init(&a->log, (size_t)64 << 20);
    if (!a->reported.max)
        buf_init(&a->reported, (size_t)64 << 20);
    return guest_new(r->host, &spec, &actor_ops, a, &a->guest, err);
}

static inline void actor_open(struct actor *a, struct rig *r, struct guest_spec spec)
{
    struct err err = { 0 };
    if (actor_try_open(a, r, spec, &err) < 0)
        TEST_FAIL("%s", err.text);
    CHECK_OK(guest_start(a->guest, NULL));
}

static inline void actor_close(struct actor *a)
{
    guest_free(a->guest);
    vec_each (op, &a->ops)
        free(op->payload);
    vec_fini(&a->ops);
    buf_fini(&a->log);
    buf_fini(&a->reported);
    *a = (struct actor){ 0 };
}

static inline struct guest_stats actor_stats(const struct actor *a)
{
    struct guest_stats s;
    guest_get_stats(a->guest, &s);
    return s;
}

static inline enum guest_state actor_state(const struct actor *a)
{
    return guest_state(a->guest);
}

static inline bool actor_is_idle(const struct actor *a)
{
    struct guest_stats s = actor_stats(a);
    return s.queued == 0 && (s.state == GUEST_AWAKE || s.state == GUEST_ASLEEP);
}

static inline void actor_sleep(struct actor *a)
{
    WAIT(a->rig, actor_is_idle(a));
    if (actor_state(a) == GUEST_ASLEEP)
        return;
    CHECK_OK(guest_sleep(a->guest));
    WAIT(a->rig, actor_state(a) != GUEST_AWAKE);
    CHECK_INT(actor_state(a), GUEST_ASLEEP);
}

static inline bool actor_logged(const struct actor *a, const char *text)
{
    return str_find(buf_str(&a->log), str_of(text)) >= 0;
}

/* ---- V1 ---- */

static inline bool actor_reported(const struct actor *a, const char *text)
{
    return str_find(buf_str(&a->reported), str_of(text)) >= 0;
}

static inline void actor_activate(struct actor *a, uint64_t token, const char *words)
{
    CHECK_OK(guest_activate(a->guest, token, str_of(words), NULL));
}

/* One activation, to its end. */
static inline void actor_do(struct actor *a, uint64_t token, const char *words)
{
    unsigned dones = a->dones;
    actor_activate(a, token, words);
    WAIT(a->rig, a->dones > dones && actor_is_idle(a));
}
