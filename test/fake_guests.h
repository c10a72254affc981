/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest host and a module cache that a test plays by hand, for code that stands on guest/guest.h
 * and guest/module.h: guests only record what was made of them, modules compile when the test says
 * so.
 *
 *     code under test calls module_get()  ->  fake_compile(&fake_gets.at[0], &module)
 *     code under test calls guest_new()   ->  fake_state(fake_guests.at[0], GUEST_RUNNING, NULL)
 *
 * They replace the real functions when the test is linked.
 */
#pragma once

#include "base/mem.h"
#include "guest/guest.h"
#include "guest/module.h"
#include "test.h"

#include <errno.h>
#include <unistd.h>

struct guest {
    const struct guest_ops *ops;
    void *arg;
    struct module *module;
    char *name, *uid;
    uint64_t generation, memory_max_bytes;
    enum guest_abi abi;
    size_t n_env, n_args;
    enum guest_state state;
    bool started, freed;
};

static struct {
    struct guest *at[64];
    size_t n;
    int refuse;       /* a negative code: the next guest_new() fails with it */
    int refuse_start; /* the same for guest_start() */
} fake_guests;

int guest_new(struct guest_host *h, const struct guest_spec *spec, const struct guest_ops *ops,
              void *arg, struct guest **ret, struct err *err)
{
    int r = fake_guests.refuse;
    fake_guests.refuse = 0;
    if (r < 0)
        return err_set(err, r, "the fake refuses");
    CHECK(fake_guests.n < ARRAY_LEN(fake_guests.at));
    struct guest *g = xnew(struct guest);
    *g = (struct guest){ .ops = ops,
                         .arg = arg,
                         .module = module_ref(spec->module),
                         .name = xstrdup(spec->name),
                         .uid = xstrdup(spec->uid),
                         .generation = spec->generation,
                         .memory_max_bytes = spec->memory_max_bytes,
                         .abi = spec->abi,
                         .n_env = spec->n_env,
                         .n_args = spec->n_args };
    fake_guests.at[fake_guests.n++] = g;
    *ret = g;
    return 0;
}

int guest_new_instance(const struct guest *of, unsigned number, const struct guest_ops *ops,
                       void *arg, struct guest **ret, struct err *err)
{
    return err_set(err, E_UNSUPPORTED, "the fake has one instance");
}

int guest_activate(struct guest *g, uint64_t token, struct str payload, struct err *err)
{
    return err_set(err, -EBUSY, "the fake does not run");
}

uint64_t guest_cpu_us(const struct guest *g)
{
    return 0;
}

int guest_reply(struct guest *g, uint64_t call_id, uint32_t incarnation, int64_t value,
                struct str bytes, struct err *err)
{
    return err_set(err, -ESTALE, "the fake does not wait");
}

void guest_set_stateless(struct guest *g, bool is_stateless)
{
}

/* Kept until fake_guests_fini(), so that a use after the end is seen. */
void guest_free(struct guest *g)
{
    CHECK(!g->freed);
    g->freed = true;
}

int guest_start(struct guest *g, struct err *err)
{
    int r = fake_guests.refuse_start;
    fake_guests.refuse_start = 0;
    CHECK(!g->freed && !g->started);
    g->started = true;
    return r < 0 ? err_set(err, r, "the fake does not start") : 0;
}

const char *guest_state_name(enum guest_state state)
{
    return state == GUEST_ASLEEP ? "Asleep" : "Awake";
}

enum guest_state guest_state(const struct guest *g)
{
    CHECK(!g->freed);
    return g->state;
}

static struct guest_stats fake_stats; /* of every guest */

void guest_get_stats(const struct guest *g, struct guest_stats *ret)
{
    CHECK(!g->freed);
    *ret = fake_stats;
}

int guest_deliver(struct guest *g, const struct guest_delivery *d, struct err *err)
{
    CHECK(!g->freed);
    return 0;
}

void guest_expect(struct guest *g, uint64_t loop_ms)
{
}

void guest_set_log_debug(struct guest *g, bool wanted)
{
}

void guest_fail(struct guest *g, const struct err *why)
{
    CHECK(!g->freed);
}

static inline void fake_state(struct guest *g, enum guest_state state, const char *why)
{
    struct err err = { 0 };
    CHECK(!g->freed);
    if (why)
        (void)err_set(&err, E_TRAP, "%s", why);
    g->state = state;
    g->ops->on_state(g, state, why ? &err : NULL, g->arg);
}

/* ---------------------------------------------------------------- modules */

struct module_get {
    module_get_cb cb;
    void *arg;
    bool cancelled, ended;
};

static struct {
    struct module_get at[64];
    size_t n;
    bool full; /* module_get() says E_LIMIT */
} fake_gets;

static int fake_module_refs;

struct module *module_ref(struct module *m)
{
    fake_module_refs++;
    return m;
}

void module_unref(struct module *m)
{
    if (m)
        fake_module_refs--;
}

int module_get(struct module_cache *cache, int fd, const struct module_want *want, module_get_cb cb,
               void *arg, struct module_get **ret, struct err *err)
{
    CHECK(fd >= 0);
    if (fake_gets.full)
        return err_set(err, E_LIMIT, "too many");
    CHECK(fake_gets.n < ARRAY_LEN(fake_gets.at));
    struct module_get *get = &fake_gets.at[fake_gets.n++];
    *get = (struct module_get){ .cb = cb, .arg = arg };
    if (ret)
        *ret = get;
    return 0;
}

void module_get_cancel(struct module_get *get)
{
    CHECK(!get->ended);
    get->cancelled = true;
}

static inline void fake_compile(struct module_get *get, struct module *m)
{
    get->ended = true;
    get->cb(module_ref(m), 0, NULL, get->arg);
}

static inline void fake_compile_fails(struct module_get *get, int r, const char *why)
{
    struct err err = { 0 };
    (void)err_set(&err, r, "%s", why);
    get->ended = true;
    get->cb(NULL, r, &err, get->arg);
}

/* End what was cancelled. */
static inline void fake_gets_settle(void)
{
    for (size_t i = 0; i < fake_gets.n; i++)
        if (fake_gets.at[i].cancelled && !fake_gets.at[i].ended)
            fake_compile_fails(&fake_gets.at[i], -ECANCELED, "cancelled");
}

/* Everything was given back; ready for the next test. */
static inline void fake_guests_fini(void)
{
    for (size_t i = 0; i < fake_guests.n; i++) {
        struct guest *g = fake_guests.at[i];
        CHECK(g->freed);
        module_unref(g->module);
        free(g->name);
        free(g->uid);
        free(g);
    }
    for (size_t i = 0; i < fake_gets.n; i++)
        CHECK(fake_gets.at[i].ended);
    CHECK_INT(fake_module_refs, 0);
    memset(&fake_guests, 0, sizeof fake_guests);
    memset(&fake_gets, 0, sizeof fake_gets);
}

/* ---------------------------------------------------------------- descriptions of modules */

#define FAKE_FUNC(n, s)                                                                            \
    {                                                                                              \
        .kind = MODULE_FUNC, .name = { n, sizeof(n) - 1 }, .sig = { s, sizeof(s) - 1 }             \
    }
#define FAKE_MEMORY                                                                                \
    {                                                                                              \
        .kind = MODULE_MEMORY, .name = { "memory", 6 }                                             \
    }
#define FAKE_INFO(list)                                                                            \
    {                                                                                              \
        .has_memory = true, .n_exports = ARRAY_LEN(list), .exports = (list)                        \
    }

static const struct module_extern fake_g1_exports[] = {
    FAKE_FUNC("run", ":"), FAKE_FUNC("allocate", "i:i"), FAKE_FUNC("wakeup_future", "Iii:"),
    FAKE_FUNC("wakeup_stream", "Iii:"), FAKE_MEMORY
};
static const struct module_extern fake_g2_exports[] = { FAKE_FUNC("_start", ":"),
                                                        FAKE_FUNC("allocate", "i:i"),
                                                        FAKE_FUNC("wakeup", "Iiii:"), FAKE_MEMORY };
static const struct module_info fake_g1_info = FAKE_INFO(fake_g1_exports),
                                fake_g2_info = FAKE_INFO(fake_g2_exports);
static struct module fake_g1 __attribute__((unused)) = { .info = &fake_g1_info },
                             fake_g2 __attribute__((unused)) = { .info = &fake_g2_info };
