/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of guests for services; see guest.h and guest_impl.h. */
#include "guest/guest_impl.h"

#include "base/clock.h"
#include "base/slab.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

static uint64_t memory_bytes(const struct guest *g)
{
    return (uint64_t)g->memory_pages * MODULE_PAGE_BYTES;
}

static int set_names(struct guest *g, const struct guest_spec *spec)
{
    const char *uid = spec->uid ? spec->uid : "";
    size_t ns = strlen(spec->namespace) + 1, name = strlen(spec->name) + 1, id = strlen(uid) + 1;
    if (ns + name + id > UINT16_MAX)
        return -ENAMETOOLONG;
    g->name = slab_alloc(ns + name + id);
    g->name_at = (uint16_t)ns;
    g->uid_at = (uint16_t)(ns + name);
    memcpy(g->name, spec->namespace, ns);
    memcpy(g->name + g->name_at, spec->name, name);
    memcpy(g->name + g->uid_at, uid, id);
    return 0;
}

static int set_setup(struct guest *g, const struct guest_spec *spec, struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(PROTO_SETUP_MAX + 64);
    if (spec->n_args + spec->n_env == 0)
        return 0;
    int r = proto_add_setup(&b, spec->args, spec->n_args, spec->env, spec->n_env);
    if (r < 0)
        return err_sys(err, r, "arguments and environment of '%s'", spec->name);
    g->setup = slab_strndup(b.p, b.n);
    g->setup_n = (uint32_t)b.n;
    return 0;
}

DEFINE_SCOPED(guest, guest_destroy)

int guest_new(struct guest_host *h, const struct guest_spec *spec, const struct guest_ops *ops,
              void *arg, struct guest **ret, struct err *err)
{
    const struct module_info *info = spec->module->info;
    int r = abi_check(info, spec->abi, err);
    if (r < 0)
        return r;
    assert(spec->abi != GUEST_ABI_V1 || (ops->on_call && ops->on_activated));
    scoped(guest_destroy_scoped) struct guest *g = slab_new(struct guest);
    g->host = h;
    g->ops = ops;
    g->arg = arg;
    g->abi = (uint8_t)spec->abi;
    g->generation = spec->generation;
    g->memory_max = spec->memory_max_bytes ? spec->memory_max_bytes : GUEST_MEMORY_MAX_DEFAULT;
    g->memory_max = MIN(g->memory_max, (uint64_t)MODULE_PAGES_MAX * MODULE_PAGE_BYTES) &
                    ~(uint64_t)(MODULE_PAGE_BYTES - 1);
    g->activation_ms = (uint32_t)MIN(spec->activation_ms ? spec->activation_ms
                                                         : (uint64_t)GUEST_ACTIVATION_MS_DEFAULT,
                                     (uint64_t)GUEST_ACTIVATION_MS_MAX);
    g->idle_ms = (uint32_t)MIN(spec->idle_ms, (uint64_t)UINT32_MAX);
    g->swap_max = spec->swap_max_bytes;
    g->log_per_s = (uint16_t)MIN(spec->log_lines_per_s, (uint32_t)LOG_LINES_MAX_PER_S);
    g->log_tokens = g->log_per_s ? (uint16_t)(2 * g->log_per_s) : LOG_LINES_BURST;
    g->log_debug = spec->log_debug;
    if ((uint64_t)info->memory_min_pages * MODULE_PAGE_BYTES > g->memory_max)
        return err_set(err, E_LIMIT, "the module needs %llu bytes of memory, %llu are allowed",
                       (unsigned long long)info->memory_min_pages * MODULE_PAGE_BYTES,
                       (unsigned long long)g->memory_max);
    r = set_names(g, spec);
    if (r < 0)
        return err_sys(err, r, "name of the guest");
    r = set_setup(g, spec, err);
    if (r < 0)
        return r;
    g->module = module_ref(spec->module);
    g->serial = ++h->serial;
    list_push_back(&h->guests, &g->node);
    *ret = take_ptr(&g);
    return 0;
}

int guest_new_instance(const struct guest *of, unsigned number, const struct guest_ops *ops,
                       void *arg, struct guest **ret, struct err *err)
{
    const char *name = of->name + of->name_at, *uid = name + strlen(name) + 1;
    scoped(free_scoped) char *own_uid = xasprintf("%s-%u", uid[0] ? uid : name, number);
    struct guest_spec spec = { .namespace = of->name,
                               .name = name,
                               .uid = own_uid,
                               .generation = of->generation,
                               .abi = (enum guest_abi)of->abi,
                               .module = of->module,
                               .memory_max_bytes = of->memory_max,
                               .activation_ms = of->activation_ms,
                               .idle_ms = of->idle_ms,
                               .log_debug = of->log_debug };
    struct guest *g = NULL;
    int r = guest_new(of->host, &spec, ops, arg, &g, err);
    if (r < 0)
        return r;
    if (of->setup) {
        g->setup_n = of->setup_n;
        g->setup = slab_strndup(of->setup, of->setup_n);
    }
    *ret = g;
    return 0;
}

/* The memory is freed on the next turn, since callbacks of this guest may be on the stack. */
void guest_free(struct guest *g)
{
    if (!g)
        return;
    struct guest_host *h = g->host;
    assert(!g->is_dead);
    g->is_dead = true;
    if (g->active)
        pool_drop(&g->active->tenant);
    guest_deactivate(g);
    if (!h->keeps || g->state != GUEST_ASLEEP || !guest_has_record(g))
        guest_remove_swap(g);
    h->n_awake -= (unsigned)guest_is_awake(g->state);
    list_remove(&g->node);
    list_push_back(&h->dead, &g->node);
    defer_start(h->loop, &h->pump, guest_host_pump);
}

int guest_start(struct guest *g, struct err *err)
{
    if (g->state != GUEST_COLD || g->start_wanted)
        return err_set(err, -EALREADY, "guest '%s' was started before", g->name + g->name_at);
    if (g->host->is_closing)
        return err_set(err, -ESHUTDOWN, "shutting down");
    g->start_wanted = true;
    guest_make_ready(g);
    return 0;
}

/* Allocates the guest's struct active if it has none. */
static int has_room(struct guest *g, size_t n, struct err *err)
{
    struct active *a = guest_get_active(g);
    if (a->queue.n < GUEST_QUEUE_MAX_EVENTS &&
        (a->queue.n == 0 || a->queue.bytes + n <= GUEST_QUEUE_MAX_BYTES))
        return 0;
    a->room_wanted = true;
    return err_set(err, -EBUSY, "the queue of '%s' is full", g->name + g->name_at);
}

int guest_activate(struct guest *g, uint64_t token, struct str payload, struct err *err)
{
    assert(g->abi == GUEST_ABI_V1 && token);
    if (payload.n > GUEST_PAYLOAD_MAX_BYTES)
        return err_set(err, -EMSGSIZE, "payload of %zu bytes is over the limit", payload.n);
    int r = has_room(g, payload.n, err);
    if (r == 0)
        r = guest_queue_add(&g->active->queue, 0, token, DELIVERY_ACTIVATE, payload);
    if (r == 0)
        guest_make_ready(g);
    return r == -ENOMEM ? err_sys(err, r, "queue an activation") : r;
}

int guest_deliver(struct guest *g, const struct guest_delivery *d, struct err *err)
{
    uint32_t at, *found = guest_find_op(g, d->id, &at);
    if (d->incarnation != g->incarnation || !found)
        return err_set(err, -ESTALE, "operation %llu of incarnation %u is not outstanding",
                       (unsigned long long)d->id, d->incarnation);
    if (d->payload.n > GUEST_PAYLOAD_MAX_BYTES)
        return err_set(err, -EMSGSIZE, "payload of %zu bytes is over the limit", d->payload.n);
    int r = has_room(g, d->payload.n, err);
    if (r < 0)
        return r;
    uint32_t flags = (d->finished ? DELIVERY_FINISHED : 0) | (d->null ? DELIVERY_NULL : 0) |
                     (g->outstanding[at] & 1 ? DELIVERY_STREAM : 0);
    r = guest_queue_add(&g->active->queue, d->id, 0, flags, d->null ? STR_NULL : d->payload);
    if (r < 0)
        return err_sys(err, r, "queue a delivery");
    if (d->last)
        guest_remove_op(g, at);
    guest_make_ready(g);
    return 0;
}

int guest_sleep(struct guest *g)
{
    struct active *a = g->active;
    if (g->state != GUEST_AWAKE || a->tenant.sent || a->queue.n)
        return -EBUSY;
    a->sleep_wanted = true;
    a->no_sleep_until_ms = 0;
    guest_make_ready(g);
    return 0;
}

void guest_fail(struct guest *g, const struct err *why)
{
    if (g->state == GUEST_FAILED || (g->state == GUEST_COLD && !g->start_wanted))
        return;
    guest_set_error(g, why);
    g->fail_wanted = true;
    guest_make_ready(g);
}

uint64_t guest_cpu_us(const struct guest *g)
{
    return g->cpu_us;
}

void guest_get_stats(const struct guest *g, struct guest_stats *ret)
{
    const struct active *a = g->active;
    *ret = (struct guest_stats){
        .namespace = g->name,
        .name = g->name + g->name_at,
        .abi = (enum guest_abi)g->abi,
        .state = (enum guest_state)g->state,
        .incarnation = g->incarnation,
        .memory_bytes = memory_bytes(g),
        .resident_bytes = guest_resident_bytes(g),
        .swap_bytes = g->swap_bytes,
        .activations = g->activations,
        .wakes = g->wakes,
        .wakes_ahead = g->wakes_ahead,
        .suspends = g->suspends,
        .restarts = g->restarts,
        .wake_us_last = g->wake_us_last,
        .wake_us_p50 = latency_percentile(g->latency, 50),
        .wake_us_p99 = latency_percentile(g->latency, 99),
        .queued = a ? a->queue.n : 0,
        .outstanding = g->n_outstanding,
        .cpu_us = g->cpu_us,
        .is_parked = a && (a->calling == GUEST_CALLING_PARKED || a->calling == GUEST_CALLING_ADOPT),
        .is_slow = g->slow > 0,
        .dissolvable = g->module->info->is_dissolvable,
    };
    if (g->last_error)
        (void)snprintf(ret->last_error, sizeof ret->last_error, "%s", g->last_error);
}
