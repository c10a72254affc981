/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of service accounts: asked for when a volume needs them, renewed at 80 % of their life. */
#include "agent/volume/volume_impl.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <errno.h>

enum {
    AGE_MAX_MS = 24 * 3600 * 1000, /* a token is renewed after a day even if it lives longer */
    TOKEN_BYTES_MAX = 1 << 20,
    RENEW_MIN_MS = 1000
};

static struct volume_ticket *ticket_new(struct volume_pod *p, const struct pod_projected *source,
                                        size_t i)
{
    struct volume_ticket *t = xnew(struct volume_ticket);
    struct arena *a = &t->arena;
    t->host = p->host;
    t->pod = p;
    t->source = i;
    t->token.namespace = str_copy_arena(a, p->spec->namespace);
    t->token.service_account =
        p->spec->service_account.n ? str_copy_arena(a, p->spec->service_account) : STR("default");
    t->token.pod_name = str_copy_arena(a, p->spec->name);
    t->token.pod_uid = str_copy_arena(a, p->spec->uid);
    t->token.audience = str_copy_arena(a, source->audience);
    t->token.expiration_s = source->expiration_s;
    return t;
}

static void ticket_forget(struct volume_ticket *t)
{
    if (t->text)
        explicit_bzero(t->text, t->text_n);
    free(t->text);
    t->text = NULL;
}

static void ticket_free(struct volume_ticket *t)
{
    ticket_forget(t);
    arena_fini(&t->arena);
    free(t);
}

void volume_tickets_init(struct volume_pod *p, struct volume_slot *s)
{
    if (s->v->kind != POD_VOLUME_PROJECTED)
        return;
    s->tickets = xnew_n(struct volume_ticket *, s->v->n_sources + 1);
    for (size_t i = 0; i < s->v->n_sources; i++) {
        if (s->v->sources[i].kind == POD_PROJECTED_TOKEN)
            s->tickets[s->n_tickets++] = ticket_new(p, &s->v->sources[i], i);
    }
}

/* One that is being asked for is freed by its answer. */
void volume_tickets_free(struct volume_slot *s)
{
    for (size_t i = 0; i < s->n_tickets; i++) {
        struct volume_ticket *t = s->tickets[i];
        t->pod = NULL;
        if (!t->is_asking)
            ticket_free(t);
    }
    free(s->tickets);
    s->tickets = NULL;
    s->n_tickets = 0;
}

/* ---------------------------------------------------------------- asking */

static void note_failure(struct volume_ticket *t, int r, const struct err *err)
{
    uint64_t wait = backoff_wait(VOLUME_RETRY_MIN_MS, VOLUME_RETRY_MAX_MS, t->failures++);
    (void)err_set(&t->problem, r, "failed to fetch token: %s",
                  err && err->text[0] ? err->text : err_strerror(r));
    t->due_ms = loop_now_ms(t->host->loop) + wait;
    if (t->text)
        log_warn("token cannot be renewed, trying again",
                 "namespace=" STR_FMT " pod=" STR_FMT " reason=\"%s\"", STR_ARG(t->token.namespace),
                 STR_ARG(t->token.pod_name), t->problem.text);
}

static void ask(struct volume_ticket *t)
{
    const struct volume_supply *supply = t->host->supply;
    struct err err = { 0 };
    t->is_asking = true;
    t->host->n_operations++;
    int r = supply && supply->token ? supply->token(t->host->supply_arg, &t->token, &err)
                                    : err_set(&err, E_UNSUPPORTED, "no supplier of tokens");
    if (r >= 0)
        return;
    t->is_asking = false;
    t->host->n_operations--;
    note_failure(t, r, &err);
}

void volume_tickets_run(struct volume_pod *p, struct volume_slot *s)
{
    uint64_t now = loop_now_ms(p->host->loop);
    for (size_t i = 0; i < s->n_tickets; i++) {
        if (!s->tickets[i]->is_asking && now >= s->tickets[i]->due_ms)
            ask(s->tickets[i]);
    }
}

/* ---------------------------------------------------------------- the answer */

static void keep(struct volume_ticket *t, struct str token, int64_t expires_wall_ms)
{
    int64_t life_ms = MAX(expires_wall_ms - clock_wall_ms(), 0);
    uint64_t renew_ms = (uint64_t)(life_ms / 5 * 4);
    ticket_forget(t);
    t->text = str_dup(token);
    t->text_n = token.n;
    t->expires_wall_ms = expires_wall_ms;
    t->failures = 0;
    t->problem = (struct err){ 0 };
    t->due_ms = loop_now_ms(t->host->loop) +
                MIN(MAX(renew_ms, (uint64_t)RENEW_MIN_MS), (uint64_t)AGE_MAX_MS);
}

void volume_token_done(struct volume_token *token, int r, struct str text, int64_t expires_wall_ms,
                       const struct err *err)
{
    struct volume_ticket *t = container_of(token, struct volume_ticket, token);
    const struct err bad = { .code = E_INVALID, .text = "the token is empty or too long" };
    assert(t->is_asking);
    t->is_asking = false;
    t->host->n_operations--;
    if (!t->pod) {
        ticket_free(t);
        return;
    }
    if (r >= 0 && (text.n == 0 || text.n > TOKEN_BYTES_MAX)) {
        r = bad.code;
        err = &bad;
    }
    if (r < 0)
        note_failure(t, r, err);
    else
        keep(t, text, expires_wall_ms);
    t->pod->is_dirty = true;
    volume_pod_step_soon(t->pod);
}

/* ---------------------------------------------------------------- what the volume sees */

struct str volume_ticket_text(const struct volume_slot *s, size_t source)
{
    for (size_t i = 0; i < s->n_tickets; i++) {
        if (s->tickets[i]->source == source && s->tickets[i]->text)
            return str_n(s->tickets[i]->text, s->tickets[i]->text_n);
    }
    return STR_NULL;
}

const struct err *volume_tickets_problem(const struct volume_slot *s)
{
    for (size_t i = 0; i < s->n_tickets; i++) {
        const struct volume_ticket *t = s->tickets[i];
        if (t->problem.code && (!t->text || t->expires_wall_ms <= clock_wall_ms()))
            return &t->problem;
    }
    return NULL;
}

uint64_t volume_tickets_due_ms(const struct volume_slot *s)
{
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; i < s->n_tickets; i++) {
        if (!s->tickets[i]->is_asking)
            due = MIN(due, s->tickets[i]->due_ms);
    }
    return due;
}
