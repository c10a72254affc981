/* SPDX-License-Identifier: Apache-2.0 */
#include "image/transfer.h"

#include "base/backoff.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

/* ---- the plan ---- */

static void part_init(struct image_transfer_part *p, const struct image_transfer_piece *plan,
                      uint64_t at, uint64_t now_ms)
{
    *p = (struct image_transfer_part){ .plan = *plan, .at = at, .wait_until_ms = now_ms };
    p->is_done = at == plan->to;
}

static void add_all(struct image_transfer *t, uint32_t source)
{
    for (size_t i = 0; i < t->n_all; i++)
        if (t->all[i] == source)
            return;
    t->all[t->n_all++] = source;
}

/* For rounds of one source: the preferred ones first, registries last. */
static void list_all(struct image_transfer *t)
{
    for (unsigned registries = 0; registries < 2; registries++)
        for (uint32_t c = 0; c < IMAGE_TRANSFER_CHOICES_MAX; c++)
            for (size_t i = 0; i < t->n; i++) {
                const struct image_transfer_piece *p = &t->parts[i].plan;
                if (c < p->n_choices && t->is_registry[p->choices[c]] == (registries == 1))
                    add_all(t, p->choices[c]);
            }
}

static void settle(struct image_transfer *t)
{
    if (t->state != IMAGE_TRANSFER_RUNNING)
        return;
    for (size_t i = 0; i < t->n; i++)
        if (!t->parts[i].is_done)
            return;
    t->state = IMAGE_TRANSFER_RECEIVED;
}

static bool is_plan(const struct image_transfer_piece *pieces, size_t n, size_t n_sources,
                    uint64_t size)
{
    uint64_t at = 0;
    if (n == 0 || n > IMAGE_TRANSFER_PIECES_MAX || n_sources > IMAGE_TRANSFER_SOURCES_MAX)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct image_transfer_piece *p = &pieces[i];
        if (p->from != at || p->to < at || p->n_choices == 0 ||
            p->n_choices > IMAGE_TRANSFER_CHOICES_MAX ||
            (p->is_pushed && (p->n_choices < 2 || p->choices[0] != p->choices[1])))
            return false;
        for (uint32_t c = 0; c < p->n_choices; c++)
            if (p->choices[c] >= n_sources)
                return false;
        at = p->to;
    }
    return at == size;
}

bool image_transfer_init(struct image_transfer *t, const struct image_transfer_piece *pieces,
                         size_t n, const bool *is_registry, size_t n_sources, uint64_t size,
                         uint64_t offset, uint64_t seed, uint64_t now_ms)
{
    if (!is_plan(pieces, n, n_sources, size) || offset > size)
        return false;
    memset(t, 0, sizeof *t);
    t->n = n;
    t->size = size;
    t->began_ms = now_ms;
    t->n_sources = n_sources;
    t->rng.state = seed;
    t->has_old = offset > 0;
    memcpy(t->is_registry, is_registry, n_sources * sizeof *is_registry);
    for (size_t i = 0; i < n; i++)
        part_init(&t->parts[i], &pieces[i], MIN(MAX(pieces[i].from, offset), pieces[i].to), now_ms);
    list_all(t);
    settle(t);
    return true;
}

/* ---- giving up a source ---- */

static uint32_t source_of(const struct image_transfer_part *p)
{
    return p->plan.choices[p->choice];
}

/* The next choice that is not excluded; after all were tried: again if one was busy, else failure.
 */
static void next_choice(struct image_transfer *t, struct image_transfer_part *p, uint64_t now_ms)
{
    p->tries = 0;
    p->n_busy = 0;
    p->wait_until_ms = now_ms;
    p->choice++;
    while (p->choice < p->plan.n_choices && t->is_out[source_of(p)])
        p->choice++;
    if (p->choice < p->plan.n_choices)
        return;
    if (!p->was_busy) {
        t->state = IMAGE_TRANSFER_FAILED;
        return;
    }
    p->was_busy = false;
    p->choice = p->plan.is_pushed; /* it does not send by itself twice */
    p->wait_until_ms = now_ms + IMAGE_TRANSFER_BUSY_MS;
    while (p->choice < p->plan.n_choices && t->is_out[source_of(p)])
        p->choice++;
    if (p->choice == p->plan.n_choices)
        t->state = IMAGE_TRANSFER_FAILED;
}

static bool is_pushed_now(const struct image_transfer_part *p)
{
    return p->plan.is_pushed && p->choice == 0;
}

/* A source that failed at sending by itself fails at being asked, too, unless it never began. */
static void leave_source(struct image_transfer *t, struct image_transfer_part *p, uint64_t now_ms)
{
    if (is_pushed_now(p) && p->has_pushed)
        p->choice++;
    next_choice(t, p, now_ms);
}

static bool has_other(const struct image_transfer *t, const struct image_transfer_part *p)
{
    for (uint32_t c = p->choice + 1; c < p->plan.n_choices; c++)
        if (!t->is_out[p->plan.choices[c]] && p->plan.choices[c] != source_of(p))
            return true;
    return false;
}

/* Silence costs time, so that progress before it does not excuse it. */
static void on_broken(struct image_transfer *t, struct image_transfer_part *p, bool was_silent,
                      uint64_t now_ms)
{
    unsigned most =
        t->is_registry[source_of(p)] ? IMAGE_TRANSFER_REGISTRY_TRIES : IMAGE_TRANSFER_TRIES;
    if (!was_silent && p->at - p->at_start >= IMAGE_TRANSFER_PROGRESS_BYTES)
        p->tries = 0;
    if (is_pushed_now(p) && was_silent &&
        !p->first_byte_ms) { /* it may have the bytes all the same */
        next_choice(t, p, now_ms);
        return;
    }
    if (++p->tries >= most) {
        leave_source(t, p, now_ms);
        return;
    }
    uint64_t ms =
        backoff_wait(IMAGE_TRANSFER_BACKOFF_MS, IMAGE_TRANSFER_BACKOFF_MAX_MS, p->tries - 1);
    p->wait_until_ms = now_ms + backoff_upper_half(&t->rng, ms);
}

static void on_busy(struct image_transfer *t, struct image_transfer_part *p, uint64_t now_ms)
{
    p->was_busy = ++p->n_busy < IMAGE_TRANSFER_BUSY_TRIES;
    if (has_other(t, p) || !p->was_busy)
        next_choice(t, p, now_ms);
    else
        p->wait_until_ms = now_ms + IMAGE_TRANSFER_BUSY_MS;
}

/* The piece's other sources first; else it waits for this one. */
void image_transfer_put_off(struct image_transfer *t, uint32_t piece, uint64_t after_ms,
                            uint64_t now_ms)
{
    struct image_transfer_part *p = &t->parts[piece];
    assert(piece < t->n && p->is_running);
    uint64_t unsaid_ms =
        backoff_wait(IMAGE_TRANSFER_BUSY_MS, IMAGE_TRANSFER_PUT_OFF_MAX_MS, p->n_busy);
    uint64_t until_ms = now_ms + (after_ms ? after_ms : unsaid_ms);
    t->not_before_ms[p->source] = MAX(t->not_before_ms[p->source], until_ms);
    image_transfer_ended(t, piece, IMAGE_TRANSFER_BUSY, now_ms);
}

/* The first choice may not have it yet. */
static bool may_come(const struct image_transfer *t, const struct image_transfer_part *p,
                     uint64_t now_ms)
{
    uint64_t patience = MAX(3 * p->plan.expect_ms, (uint64_t)IMAGE_TRANSFER_AFTER_MS);
    return p->plan.is_after && p->choice == 0 && now_ms - t->began_ms < patience;
}

static void on_gone(struct image_transfer *t, struct image_transfer_part *p, uint64_t now_ms)
{
    if (may_come(t, p, now_ms))
        p->wait_until_ms = now_ms + IMAGE_TRANSFER_BUSY_MS;
    else
        next_choice(t, p, now_ms);
}

void image_transfer_ended(struct image_transfer *t, uint32_t piece, enum image_transfer_end how,
                          uint64_t now_ms)
{
    struct image_transfer_part *p = &t->parts[piece];
    assert(piece < t->n && p->is_running);
    p->is_running = false;
    p->wait_until_ms = now_ms;
    if (t->state != IMAGE_TRANSFER_RUNNING || p->is_done)
        return;
    switch (how) {
    case IMAGE_TRANSFER_COMPLETE: /* and yet bytes are missing */
    case IMAGE_TRANSFER_BROKEN:
        on_broken(t, p, false, now_ms);
        break;
    case IMAGE_TRANSFER_GONE:
        on_gone(t, p, now_ms);
        break;
    case IMAGE_TRANSFER_BUSY:
        on_busy(t, p, now_ms);
        break;
    }
}

/* ---- time ---- */

static uint64_t start_at(const struct image_transfer *t, const struct image_transfer_part *p)
{
    return MAX(p->wait_until_ms, t->not_before_ms[source_of(p)]);
}

static uint64_t silent_at(const struct image_transfer *t, const struct image_transfer_part *p)
{
    if (t->is_registry[p->source])
        return (p->first_byte_ms ? p->last_byte_ms : p->since_ms) + IMAGE_TRANSFER_REGISTRY_MS;
    if (!p->first_byte_ms && is_pushed_now(p) && p->has_pushed)
        return p->since_ms + IMAGE_TRANSFER_RESUME_MS;
    if (!p->first_byte_ms)
        return p->since_ms + IMAGE_TRANSFER_FIRST_MS;
    return p->last_byte_ms + 2 * p->first_byte_ms + IMAGE_TRANSFER_SILENT_MS;
}

/* UINT64_MAX: nothing else is left. */
static uint64_t judged_at(const struct image_transfer *t, const struct image_transfer_part *p)
{
    return p->first_byte_ms && has_other(t, p) ? p->window_ms + IMAGE_TRANSFER_SLOW_MS : UINT64_MAX;
}

static bool is_slow(const struct image_transfer_part *p, uint64_t now_ms)
{
    double expected = IMAGE_TRANSFER_RATE_MIN;
    if (p->plan.expect_ms)
        expected = (double)(p->plan.to - p->plan.from) / (double)p->plan.expect_ms;
    double rate = (double)(p->at - p->window_at) / (double)(now_ms - p->window_ms);
    return rate * 100 < expected * IMAGE_TRANSFER_SLOW_PERCENT;
}

static void start(struct image_transfer_part *p, uint32_t i, uint64_t now_ms,
                  struct image_transfer_order *ret)
{
    p->is_running = true;
    p->source = source_of(p);
    p->since_ms = p->window_ms = now_ms;
    p->at_start = p->window_at = p->at;
    p->first_byte_ms = 0;
    *ret = (struct image_transfer_order){ IMAGE_TRANSFER_START, i, p->source, p->at, p->plan.to,
                                          is_pushed_now(p) };
}

static void cancel(struct image_transfer_part *p, uint32_t i, struct image_transfer_order *ret)
{
    p->is_running = false;
    *ret = (struct image_transfer_order){ .kind = IMAGE_TRANSFER_CANCEL,
                                          .piece = i,
                                          .source = p->source };
}

bool image_transfer_next(struct image_transfer *t, uint64_t now_ms,
                         struct image_transfer_order *ret)
{
    for (uint32_t i = 0; i < t->n; i++) {
        struct image_transfer_part *p = &t->parts[i];
        if (t->state != IMAGE_TRANSFER_RUNNING) {
            if (!p->is_running)
                continue;
            cancel(p, i, ret);
            return true;
        }
        if (p->is_done)
            continue;
        if (!p->is_running && now_ms >= start_at(t, p)) {
            start(p, i, now_ms, ret);
            return true;
        }
        if (!p->is_running)
            continue;
        if (now_ms >= silent_at(t, p)) {
            cancel(p, i, ret);
            on_broken(t, p, true, now_ms);
            return true;
        }
        if (now_ms >= judged_at(t, p)) {
            if (is_slow(p, now_ms)) {
                cancel(p, i, ret);
                leave_source(t, p, now_ms);
                return true;
            }
            p->window_ms = now_ms;
            p->window_at = p->at;
        }
    }
    return false;
}

void image_transfer_asked(struct image_transfer *t, uint32_t piece, uint64_t now_ms)
{
    struct image_transfer_part *p = &t->parts[piece];
    assert(piece < t->n && p->is_running);
    p->since_ms = p->window_ms = now_ms;
}

uint64_t image_transfer_due(const struct image_transfer *t, uint64_t now_ms)
{
    uint64_t due = UINT64_MAX;
    (void)now_ms;
    for (size_t i = 0; i < t->n && t->state == IMAGE_TRANSFER_RUNNING; i++) {
        const struct image_transfer_part *p = &t->parts[i];
        if (p->is_done)
            continue;
        if (p->is_running)
            due = MIN(due, MIN(silent_at(t, p), judged_at(t, p)));
        else
            due = MIN(due, start_at(t, p));
    }
    return due;
}

void image_transfer_data(struct image_transfer *t, uint32_t piece, uint64_t n, uint64_t now_ms)
{
    struct image_transfer_part *p = &t->parts[piece];
    assert(piece < t->n && p->is_running && n <= p->plan.to - p->at);
    p->at += n;
    p->last_byte_ms = now_ms;
    t->sent[p->source] += n;
    p->has_pushed |= is_pushed_now(p);
    if (!p->first_byte_ms)
        p->first_byte_ms = MAX(now_ms - p->since_ms, UINT64_C(1));
    if (p->at == p->plan.to) {
        p->is_done = true;
        settle(t);
    }
}

/* ---- the digest ---- */

void image_transfer_mark_received(struct image_transfer *t)
{
    for (size_t i = 0; i < t->n; i++)
        t->parts[i].is_running = false;
    t->state = IMAGE_TRANSFER_RECEIVED;
}

static uint32_t only_sender(const struct image_transfer *t)
{
    uint32_t found = UINT32_MAX;
    if (t->has_old)
        return found;
    for (uint32_t i = 0; i < t->n_sources; i++) {
        if (t->sent[i] == 0)
            continue;
        if (found != UINT32_MAX)
            return UINT32_MAX;
        found = i;
    }
    return found;
}

/* A registry that sent wrong bytes once: an intermediate cache may have caused it, and other
 * servers of its name may have the right bytes. false: there is none. */
static bool registry_again(struct image_transfer *t, uint64_t now_ms)
{
    struct image_transfer_piece whole = { .to = t->size, .n_choices = 1 };
    for (size_t i = 0; i < t->n_all; i++) {
        uint32_t source = t->all[i];
        if (!t->is_registry[source] || !t->is_out[source] || t->n_wrong[source] > 1)
            continue;
        t->is_out[source] = false;
        whole.choices[0] = source;
        t->n = 1;
        part_init(&t->parts[0], &whole, 0, now_ms);
        return true;
    }
    return false;
}

/* The whole from the next source that is not out. */
static void next_single(struct image_transfer *t, uint64_t now_ms)
{
    while (t->next_all < t->n_all && t->is_out[t->all[t->next_all]])
        t->next_all++;
    if (t->next_all == t->n_all) {
        if (!registry_again(t, now_ms))
            t->state = IMAGE_TRANSFER_FAILED;
        return;
    }
    struct image_transfer_piece whole = { .to = t->size };
    whole.choices[whole.n_choices++] = t->all[t->next_all++];
    /* If that one is excluded: those after it, and the last resort of all in any case. */
    for (size_t i = t->next_all; i < t->n_all && whole.n_choices < IMAGE_TRANSFER_CHOICES_MAX; i++)
        if (!t->is_out[t->all[i]])
            whole.choices[whole.n_choices++] = t->all[i];
    if (whole.n_choices == IMAGE_TRANSFER_CHOICES_MAX && !t->is_out[t->all[t->n_all - 1]])
        whole.choices[whole.n_choices - 1] = t->all[t->n_all - 1];
    t->n = 1;
    part_init(&t->parts[0], &whole, 0, now_ms);
}

void image_transfer_verdict(struct image_transfer *t, bool is_right, uint64_t now_ms,
                            uint32_t *ret_bad_source)
{
    assert(t->state == IMAGE_TRANSFER_RECEIVED);
    *ret_bad_source = UINT32_MAX;
    t->state = IMAGE_TRANSFER_OVER;
    if (is_right)
        return;
    *ret_bad_source = only_sender(t);
    if (*ret_bad_source != UINT32_MAX) {
        t->is_out[*ret_bad_source] = true;
        t->n_wrong[*ret_bad_source]++;
    }
    memset(t->sent, 0, sizeof t->sent);
    t->has_old = false;
    if (!t->is_single)
        t->next_all = 0;
    t->is_single = true;
    t->state = IMAGE_TRANSFER_RUNNING;
    t->began_ms = now_ms;
    next_single(t, now_ms);
}
