/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of ABI v1 without an API: dispatcher, real guests in real runners, and calls that are
 * answered at once or when the test says so. A key's name is what its activation is to do, in the
 * words of test/guests/v1.c joined by '+'.
 */
#pragma once

#include "guest_rig.h"
#include "operator/v1/dispatch.h"

enum { CREW_MAX = 4 };

struct hand {
    struct crew *crew;
    struct guest *guest; /* NULL: this instance is not there */
    struct guest_call call;
    uint32_t incarnation;
};

/* An operator with its instances. */
struct crew {
    struct rig *rig;
    struct module *module;
    struct dispatch_operator *o;
    const char *name;
    struct hand hands[CREW_MAX];
    struct guest_spec spec;
    bool holds_calls; /* API requests park until crew_reply() */
    unsigned n_results, n_calls, n_started, n_ended, n_trapped, most_active;
    struct dispatch_result last;
    char last_name[256], last_message[256];
    void (*on_result)(struct crew *c, const struct dispatch_result *result);
    void *arg;
};

static inline void crew_reply(struct hand *h)
{
    dispatch_parked(h->crew->o, (unsigned)(h - h->crew->hands), false);
    CHECK_OK(guest_reply(h->guest, h->call.id, h->call.incarnation, 0, STR(""), NULL));
}

static inline void crew_on_call(struct guest *g, const struct guest_call *c, void *arg)
{
    struct hand *h = arg;
    if (c->kind == GUEST_CALL_DECLARE) {
        CHECK_OK(guest_reply(g, c->id, c->incarnation, 0, STR(""), NULL));
        return;
    }
    h->call = *c;
    h->crew->n_calls++;
    dispatch_parked(h->crew->o, (unsigned)(h - h->crew->hands), true);
    if (!h->crew->holds_calls)
        crew_reply(h);
}

static inline void crew_on_state(struct guest *g, enum guest_state state, const struct err *why,
                                 void *arg)
{
    struct hand *h = arg;
    unsigned instance = (unsigned)(h - h->crew->hands);
    struct guest_stats s;
    struct err lost = { 0 };
    guest_get_stats(g, &s);
    if (s.incarnation != h->incarnation) {
        h->incarnation = s.incarnation;
        (void)err_set(&lost, E_EOF, "it started anew");
        dispatch_instance_gone(h->crew->o, instance, why ? why : &lost);
    }
    if (state == GUEST_AWAKE || state == GUEST_ASLEEP)
        dispatch_instance_ready(h->crew->o, instance);
}

static inline void crew_on_activated(struct guest *g, uint64_t token, uint32_t incarnation,
                                     int64_t result, struct str message, void *arg)
{
    struct hand *h = arg;
    dispatch_activated(h->crew->o, (unsigned)(h - h->crew->hands), token, result, message);
}

static inline void crew_on_post(struct guest *g, const struct guest_post *p, void *arg)
{
}

static inline void crew_on_log(struct guest *g, int fd, struct str line, void *arg)
{
}

static inline void crew_on_room(struct guest *g, void *arg)
{
}

static const struct guest_ops crew_guest_ops = {
    .on_call = crew_on_call,
    .on_state = crew_on_state,
    .on_activated = crew_on_activated,
    .on_post = crew_on_post,
    .on_log = crew_on_log,
    .on_room = crew_on_room,
};

static inline int crew_start(void *arg, unsigned instance, struct err *err)
{
    struct crew *c = arg;
    struct hand *h = &c->hands[instance];
    static unsigned serial;
    char uid[32];
    (void)snprintf(uid, sizeof uid, "crew-%u", ++serial);
    struct guest_spec spec = c->spec;
    spec.namespace = "test";
    spec.name = c->name;
    spec.uid = uid;
    spec.abi = GUEST_ABI_V1;
    spec.module = c->module;
    *h = (struct hand){ .crew = c };
    int r = guest_new(c->rig->host, &spec, &crew_guest_ops, h, &h->guest, err);
    if (r >= 0)
        r = guest_start(h->guest, err);
    c->n_started++;
    return r;
}

static inline void crew_end(void *arg, unsigned instance)
{
    struct crew *c = arg;
    guest_free(c->hands[instance].guest);
    c->hands[instance].guest = NULL;
    c->n_ended++;
}

static inline int crew_object(void *arg, unsigned controller, struct work_key key, struct buf *to)
{
    (void)buf_add_str(to, STR("{\"do\": "));
    for (size_t i = 0; i < key.name.n; i++)
        (void)buf_add_char(to, key.name.p[i] == '+' ? ' ' : key.name.p[i]);
    return buf_add_str(to, STR(" }"));
}

static inline int crew_activate(void *arg, unsigned instance, uint64_t token, struct str payload,
                                bool lacks_object, struct err *err)
{
    struct crew *c = arg;
    struct dispatch_view view;
    dispatch_get_view(c->o, &view);
    c->most_active = MAX(c->most_active, view.active);
    return guest_activate(c->hands[instance].guest, token, payload, err);
}

static inline void crew_on_result(void *arg, const struct dispatch_result *result)
{
    struct crew *c = arg;
    c->last = *result;
    (void)snprintf(c->last_name, sizeof c->last_name, STR_FMT, STR_ARG(result->task.key.name));
    (void)snprintf(c->last_message, sizeof c->last_message, STR_FMT, STR_ARG(result->message));
    c->n_results++;
    c->n_trapped += result->trapped;
    if (c->on_result)
        c->on_result(c, result);
}

static inline uint64_t crew_cpu(void *arg, unsigned instance)
{
    return guest_cpu_us(((struct crew *)arg)->hands[instance].guest);
}

static const struct dispatch_ops crew_ops = {
    .object = crew_object,
    .activate = crew_activate,
    .instance_start = crew_start,
    .instance_end = crew_end,
    .cpu_us = crew_cpu,
    .on_result = crew_on_result,
};

/* A controller "c" with as many workers as instances; c->name, module, spec and hooks are set. */
static inline void crew_open(struct crew *c, struct rig *r, struct dispatch *d, unsigned instances)
{
    struct err err = { 0 };
    const struct dispatch_controller_opts opts = { .name = "c", .concurrency = instances };
    c->rig = r;
    c->o = dispatch_operator_new(d, c->name, &crew_ops, c);
    CHECK_OK(dispatch_declare(c->o, &opts, 1, instances, NULL));
    if (crew_start(c, 0, &err) < 0)
        TEST_FAIL("%s", err.text);
    dispatch_release(c->o, DISPATCH_HOLD_START);
}

static inline void crew_close(struct crew *c)
{
    dispatch_operator_free(c->o);
    for (unsigned i = 0; i < CREW_MAX; i++)
        guest_free(c->hands[i].guest);
}

static inline void crew_add(struct crew *c, const char *name)
{
    CHECK_OK(dispatch_add(c->o, 0, (struct work_key){ STR("ns"), str_of(name) }, WORK_UPDATE,
                          WORK_NORMAL, NULL));
}
