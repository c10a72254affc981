/* SPDX-License-Identifier: Apache-2.0 */
#include "image/registry_probe.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>

struct registry_probe {
    struct registry_probe_opts opts;
    struct oci_registry *reg;
    struct oci_request *request; /* under way */
    unsigned n_answers;
    uint64_t began_ns, rtt_us;
    int r;
    bool is_cancelled;
    struct timer limit;
    struct defer turn; /* the next request, or the end: no registry is closed in its own callback */
};

static void free_probe(struct registry_probe *p)
{
    timer_stop(p->opts.loop, &p->limit);
    defer_cancel(&p->turn);
    if (p->reg)
        oci_registry_close(p->reg);
    free(p);
}

static void on_turn(struct defer *d);

static void on_answer(void *arg, int r, const struct oci_answer *answer, const struct err *err)
{
    struct registry_probe *p = arg;
    (void)answer;
    (void)err;
    p->request = NULL;
    if (p->is_cancelled) {
        free_probe(p); /* its registry is closed already */
        return;
    }
    p->r = r;
    p->n_answers++;
    p->rtt_us = MAX((clock_mono_ns() - p->began_ns) / 1000, UINT64_C(1));
    defer_start(p->opts.loop, &p->turn, on_turn);
}

static int ask(struct registry_probe *p)
{
    const struct oci_request_opts o = { .method = "GET",
                                        .target = "/v2/",
                                        .once = true,
                                        .passes = { 401, 403, 404, 405 },
                                        .cb = on_answer,
                                        .arg = p };
    p->began_ns = clock_mono_ns();
    return oci_request_start(p->reg, &o, &p->request, NULL);
}

static void on_turn(struct defer *d)
{
    struct registry_probe *p = container_of(d, struct registry_probe, turn);
    if (p->r >= 0 && p->n_answers < 2) {
        p->r = ask(p);
        if (p->r >= 0)
            return;
    }
    struct registry_probe_opts o = p->opts;
    uint64_t rtt_us = p->rtt_us;
    int r = p->r;
    free_probe(p);
    o.on_done(o.arg, r, rtt_us);
}

static void on_limit(struct timer *t)
{
    struct registry_probe *p = container_of(t, struct registry_probe, limit);
    if (p->request)
        oci_request_cancel(p->request);
}

int registry_probe_start(const struct registry_probe_opts *opts, struct registry_probe **ret,
                         struct err *err)
{
    static const struct oci_login anonymous;
    struct oci_remote_opts remote = *opts->remote;
    struct oci_reference ref;
    scoped(free_scoped) char *text = xasprintf("%s/x", opts->host);
    int r = oci_reference_parse(str_of(text), &ref, err);
    if (r < 0)
        return r;
    struct registry_probe *p = xnew(struct registry_probe);
    p->opts = *opts;
    remote.login = &anonymous; /* finding one may ask a helper and wait */
    remote.attempts = 1;
    remote.stall_ms = REGISTRY_PROBE_MS;
    remote.note = NULL;
    r = oci_remote_registry(&ref, &remote, opts->loop, &p->reg, err);
    if (r < 0) {
        free_probe(p);
        return r;
    }
    timer_start(opts->loop, &p->limit, REGISTRY_PROBE_MS, on_limit);
    defer_start(opts->loop, &p->turn, on_turn);
    *ret = p;
    return 0;
}

void registry_probe_cancel(struct registry_probe *p)
{
    if (!p)
        return;
    bool is_asking = p->request != NULL;
    p->is_cancelled = true;
    timer_stop(p->opts.loop, &p->limit);
    defer_cancel(&p->turn);
    oci_registry_close(take_ptr(&p->reg));
    if (!is_asking)
        free_probe(p); /* else the end of the request does */
}
