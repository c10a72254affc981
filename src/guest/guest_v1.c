/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of guests of ABI v1: parked calls, posted calls, results; see guest_impl.h.
 *
 * Activations of the command in flight stay on active->sent until their result has arrived, so the
 * first one on the list is the one that is running.
 */
#include "guest/guest_impl.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>

_Static_assert((int)GUEST_V1_BODY_MAX + (int)GUEST_V1_HEAD_MAX + (int)PROTO_NOTES_BYTES_MAX + 4096 <
                   (int)PROTO_BODY_MAX,
               "a call and what was posted before it fit into one message");

static uint64_t token_at(const struct active *a, const struct list *at)
{
    return at == &a->sent ? 0 : list_entry(at, struct delivery, node)->token;
}

/* ---- notes ---- */

int guest_check_notes(const struct guest *g, uint32_t n, struct rd notes, bool is_end,
                      struct err *err)
{
    const struct active *a = g->active;
    if (g->abi != GUEST_ABI_V1)
        return 0;
    const struct list *at = a->sent.next; /* activations end in the order of sending */
    bool starts = (a->sent_flags & RUN_START) != 0;
    int results = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct proto_note note;
        proto_next_note(&notes, &note);
        if (note.kind > NOTE_RESULT)
            return err_set(err, E_INVALID, "a note that its ABI lacks");
        /* Of the start, or a line printed between activations. */
        bool needs_none = note.kind == NOTE_LINE || (starts && note.kind != NOTE_RESULT);
        if (note.token != token_at(a, at) && !(needs_none && note.token == 0))
            return err_set(err, E_INVALID, "a note about another activation");
        if (note.kind != NOTE_RESULT)
            continue;
        if (at == &a->sent)
            return err_set(err, E_INVALID, "a result of nothing");
        if (note.value < -2 || note.value > INT64_C(1) << GUEST_V1_REQUEUE_MS_BITS ||
            note.head.n > GUEST_V1_MESSAGE_MAX)
            return err_set(err, E_INVALID, "a result that the ABI lacks");
        at = at->next;
        results++;
    }
    if (is_end && at != &a->sent)
        return err_set(err, E_INVALID, "results are missing");
    return results;
}

static void hand_out_result(struct guest *g, const struct proto_note *note)
{
    struct active *a = g->active;
    assert(token_at(a, a->sent.next) == note->token); /* guest_check_notes() */
    free(list_entry(list_pop_front(&a->sent), struct delivery, node));
    a->begun_ms = clock_mono_ms();
    if (g->ops->on_activated)
        g->ops->on_activated(g, note->token, g->incarnation, note->value, note->head, g->arg);
}

static void hand_out_post(struct guest *g, const struct proto_note *note)
{
    struct guest_post p = { .kind = (enum guest_post_kind)note->kind,
                            .incarnation = g->incarnation,
                            .token = note->token,
                            .number = note->number,
                            .head = note->head,
                            .body = note->body };
    memcpy(&p.value, &note->value, sizeof p.value);
    if (g->ops->on_post)
        g->ops->on_post(g, &p, g->arg);
}

/* Each callback may free or fail the guest; notes after a failure are discarded. */
void guest_hand_out_notes(struct guest *g, uint32_t n, struct rd notes)
{
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < n && !g->is_dead && !g->fail_wanted; i++) {
        struct proto_note note;
        proto_next_note(&notes, &note);
        bool is_line = note.kind == NOTE_LINE;
        if (note.kind == NOTE_RESULT)
            hand_out_result(g, &note);
        else if ((is_line || note.kind == GUEST_POST_LOG) && !guest_may_log(g))
            left_out++;
        else if (!is_line)
            hand_out_post(g, &note);
        else if (g->ops->on_log)
            g->ops->on_log(g, note.number == 1 ? 1 : 2, note.head, g->arg);
    }
    guest_say_left_out(g, left_out);
}

/* ---- calls ---- */

static int check_call(const struct guest *g, const struct proto_call *c, bool is_call,
                      struct err *err)
{
    const struct active *a = g->active;
    if (g->abi != GUEST_ABI_V1 || (is_call && c->kind >= (uint32_t)GUEST_CALL_V1_COUNT &&
                                   c->kind != (uint32_t)PROTO_CALL_SLICE))
        return err_set(err, E_INVALID, "a call that its ABI lacks");
    if (c->incarnation != g->incarnation || a->calling != GUEST_CALLING_NONE)
        return err_set(err, E_INVALID, "another incarnation, or a second call");
    if (c->clock_offset_ns < g->clock_offset_ns)
        return err_set(err, E_INVALID, "its clock goes back");
    int r = guest_check_notes(g, c->n_notes, c->notes, false, err);
    if (r < 0 || !is_call)
        return r;
    const struct list *at = a->sent.next;
    for (; r > 0; r--)
        at = at->next;
    bool is_start = c->kind == GUEST_CALL_DECLARE || (c->kind == PROTO_CALL_SLICE && c->token == 0);
    if (is_start ? c->token || !(a->sent_flags & RUN_START)
                 : c->token != token_at(a, at) || at == &a->sent)
        return err_set(err, E_INVALID, "a call of another activation");
    if (c->id != g->next_id)
        return err_set(err, E_INVALID, "call %llu where %llu is next", (unsigned long long)c->id,
                       (unsigned long long)g->next_id);
    return 0;
}

/* The service has its own deadline; this one covers a service that never replies. */
static void on_parked_late(struct timer *timer)
{
    struct active *a = container_of(timer, struct active, parked);
    struct guest *g = a->guest;
    struct err err = { 0 };
    if (clock_mono_ms() - a->begun_ms < GUEST_ACTIVATION_WALL_MS_MAX) {
        (void)guest_reply(g, a->call_id, g->incarnation, GUEST_E_TIMEOUT,
                          STR("no answer within the time that a call may take"), &err);
        return;
    }
    (void)err_set(&err, -ETIMEDOUT, "the activation ran and waited for longer than %d minutes",
                  GUEST_ACTIVATION_WALL_MS_MAX / 60000);
    guest_end(g, &err, true);
}

static void park(struct guest *g, const struct proto_call *c)
{
    struct active *a = g->active;
    assert(a->calling == GUEST_CALLING_PARKED && pool_is_parked(&a->tenant));
    uint64_t gone = clock_mono_ms() - a->begun_ms;
    uint64_t left = gone < GUEST_ACTIVATION_WALL_MS_MAX ? GUEST_ACTIVATION_WALL_MS_MAX - gone : 0;
    timer_start(g->host->loop, &a->parked, MIN(left, (uint64_t)GUEST_CALL_MS_MAX), on_parked_late);
    g->ops->on_call(g,
                    &(struct guest_call){ .id = c->id,
                                          .incarnation = g->incarnation,
                                          .token = c->token,
                                          .kind = (enum guest_call_kind)c->kind,
                                          .head = c->head,
                                          .body = c->body },
                    g->arg);
}

int guest_on_call(struct tenant *t, const struct proto_call *c, bool is_call, struct err *err)
{
    struct guest *g = container_of(t, struct active, tenant)->guest;
    int r = check_call(g, c, is_call, err);
    if (r < 0)
        return r;
    guest_note_wake(g);
    guest_note_cost(g, c->cpu_us, 0);
    g->clock_offset_ns = c->clock_offset_ns;
    if (is_call) {
        g->next_id = c->id + 1;
        g->active->calling = GUEST_CALLING_PARKED;
        g->active->call_id = c->id;
    }
    guest_hand_out_notes(g, c->n_notes, c->notes);
    guest_say_left_out(g, c->logs_left_out);
    if (!is_call || g->is_dead || g->fail_wanted)
        return 0;
    if (c->kind == PROTO_CALL_SLICE)
        guest_on_slice(g, c->token == 0);
    else
        park(g, c);
    return 0;
}

int guest_reply(struct guest *g, uint64_t call_id, uint32_t incarnation, int64_t value,
                struct str bytes, struct err *err)
{
    struct active *a = g->active;
    bool is_open = a && (a->calling == GUEST_CALLING_PARKED || a->calling == GUEST_CALLING_ADOPT);
    if (incarnation != g->incarnation || !is_open || a->call_id != call_id)
        return err_set(err, -ESTALE, "call %llu of incarnation %u is not outstanding",
                       (unsigned long long)call_id, incarnation);
    if (bytes.n > GUEST_PAYLOAD_MAX_BYTES)
        return err_set(err, -EMSGSIZE, "answer of %zu bytes is over the limit", bytes.n);
    if (a->calling == GUEST_CALLING_ADOPT) {
        guest_adopted(g, value == 0);
        return 0;
    }
    a->calling = GUEST_CALLING_NONE;
    timer_stop(g->host->loop, &a->parked);
    pool_reply(&a->tenant, call_id, value, bytes);
    return 0;
}

/* ---- sleep without memory ---- */

void guest_dissolve(struct guest *g)
{
    pool_drop(&g->active->tenant);
    list_remove(&g->active->idle);
    assert(g->active->command == GUEST_COMMAND_NONE);
    assert(g->is_stateless && g->rest == GUEST_REST_NONE);
    g->rest = GUEST_REST_NOWHERE;
    g->suspends++;
    g->host->suspends++;
    g->memory_pages = 0;
    guest_remove_swap(g);
    guest_move(g, GUEST_ASLEEP, NULL);
    if (!g->is_dead && g->active && g->active->queue.n == 0 && !g->fail_wanted)
        guest_deactivate(g);
}

void guest_set_stateless(struct guest *g, bool is_stateless)
{
    g->is_stateless = is_stateless;
}

void guest_set_log_debug(struct guest *g, bool wanted)
{
    g->log_debug = wanted;
}
