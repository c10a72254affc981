/* SPDX-License-Identifier: Apache-2.0 */
#include "image/inbox.h"

#include "base/mem.h"
#include "base/sm.h"

#include <pthread.h>
#include <stdatomic.h>

enum slot_state { SLOT_LATER, SLOT_OPEN, SLOT_FILLING, SLOT_OVER };

static const struct sm_state slot_table[] = {
    [SLOT_LATER] = { "later", EDGE(SLOT_OPEN) | EDGE(SLOT_OVER) },
    [SLOT_OPEN] = { "open", EDGE(SLOT_FILLING) | EDGE(SLOT_LATER) | EDGE(SLOT_OVER) },
    [SLOT_FILLING] = { "filling", EDGE(SLOT_LATER) | EDGE(SLOT_OVER) },
    [SLOT_OVER] = { "over", EDGE(SLOT_OVER) },
};

/* The receiver's end of a flow; changed on its thread only. */
enum receiver_state { RECEIVER_OPEN, RECEIVER_ENDED, RECEIVER_CLOSED };

static const struct sm_state receiver_table[] = {
    [RECEIVER_OPEN] = { "open", EDGE(RECEIVER_ENDED) | EDGE(RECEIVER_CLOSED) },
    [RECEIVER_ENDED] = { "ended", EDGE(RECEIVER_CLOSED) }, /* on_end() was called */
    [RECEIVER_CLOSED] = { "closed", 0 },
};

/* The sender's end of a flow; changed on its thread only. */
enum sender_state { SENDER_NONE, SENDER_SENDING, SENDER_CUT, SENDER_LEFT };

static const struct sm_state sender_table[] = {
    [SENDER_NONE] = { "none", EDGE(SENDER_SENDING) },
    [SENDER_SENDING] = { "sending", EDGE(SENDER_CUT) | EDGE(SENDER_LEFT) },
    [SENDER_CUT] = { "cut", EDGE(SENDER_LEFT) }, /* on_cut() was called */
    [SENDER_LEFT] = { "left", 0 },
};

struct inbox_slot {
    struct image_inbox_slot of;
    struct sm sm;                  /* enum slot_state */
    uint64_t at;                   /* of an open one: the next byte */
    struct image_inbox_flow *flow; /* of one that is open or filling */
};

struct image_inbox {
    atomic_uint refs;
    pthread_mutex_t mutex; /* of all that follows, and of the flows */
    size_t n;
    struct inbox_slot slots[];
};

/*
 * From the opening of a slot until both ends are done with it. An end holds its loop as long as a
 * post to it may come: until it has left, and no post is under way.
 */
struct image_inbox_flow {
    struct image_inbox *inbox;
    struct image_inbox_receiver receiver;
    struct image_inbox_sender sender;
    struct sm at_receiver, at_sender;
    bool is_whole; /* the sender has sent everything; set when it leaves */
    bool is_taken; /* on_taken() is due */
    struct post to_receiver, to_sender;
    bool to_receiver_waits, to_sender_waits; /* they were posted, and have not run */
    char *bytes;
    size_t n, cap;
};

/* ---- the inbox ---- */

struct image_inbox *image_inbox_new(const struct image_inbox_slot *slots, size_t n)
{
    struct image_inbox *b = xalloc(sizeof *b + n * sizeof b->slots[0]);
    memset(b, 0, sizeof *b + n * sizeof b->slots[0]);
    atomic_init(&b->refs, 1);
    (void)pthread_mutex_init(&b->mutex, NULL);
    b->n = n;
    for (size_t i = 0; i < n; i++)
        b->slots[i].of = slots[i];
    for (size_t i = 0; i < n; i++)
        sm_init(&b->slots[i].sm, slot_table, SLOT_LATER);
    return b;
}

struct image_inbox *image_inbox_ref(struct image_inbox *b)
{
    atomic_fetch_add(&b->refs, 1);
    return b;
}

void image_inbox_unref(struct image_inbox *b)
{
    if (!b || atomic_fetch_sub(&b->refs, 1) > 1)
        return;
    (void)pthread_mutex_destroy(&b->mutex);
    free(b);
}

static void lock(struct image_inbox *b)
{
    (void)pthread_mutex_lock(&b->mutex);
}

static void unlock(struct image_inbox *b)
{
    (void)pthread_mutex_unlock(&b->mutex);
}

static struct inbox_slot *slot_from(struct image_inbox *b, const struct oci_digest *blob,
                                    uint64_t from)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->slots[i].of.from == from && oci_digest_equal(&b->slots[i].of.blob, blob))
            return &b->slots[i];
    return NULL;
}

static struct inbox_slot *slot_with(struct image_inbox *b, const struct oci_digest *blob,
                                    uint64_t at)
{
    for (size_t i = 0; i < b->n; i++) {
        struct inbox_slot *s = &b->slots[i];
        if (s->of.from <= at && at < s->of.to && oci_digest_equal(&s->of.blob, blob))
            return s;
    }
    return NULL;
}

/* ---- flows ---- */

static bool is_closed(const struct image_inbox_flow *f)
{
    return f->at_receiver.at == RECEIVER_CLOSED;
}

static bool has_left(const struct image_inbox_flow *f)
{
    return f->at_sender.at == SENDER_LEFT;
}

/* on_end() is due. */
static bool needs_end(const struct image_inbox_flow *f)
{
    return f->at_receiver.at == RECEIVER_OPEN && has_left(f);
}

/* on_cut() is due. */
static bool needs_cut(const struct image_inbox_flow *f)
{
    return f->at_sender.at == SENDER_SENDING && is_closed(f);
}

/* With the mutex. Frees the flow if both ends have finished with it and no post is due; whether it
 * was freed. */
static bool flow_settle(struct image_inbox_flow *f)
{
    bool is_in_use = !is_closed(f) || (f->at_sender.at != SENDER_NONE && !has_left(f));
    if (is_in_use || f->to_receiver_waits || f->to_sender_waits)
        return false;
    free(f->bytes);
    free(f);
    return true;
}

static void run_receiver(struct post *p);
static void run_sender(struct post *p);

/* With the mutex. */
static void wake_receiver(struct image_inbox_flow *f)
{
    if (is_closed(f) || f->to_receiver_waits)
        return;
    f->to_receiver_waits = true;
    f->to_receiver.run = run_receiver;
    loop_post(f->receiver.loop, &f->to_receiver);
}

/* With the mutex. */
static void wake_sender(struct image_inbox_flow *f)
{
    if (f->at_sender.at == SENDER_NONE || has_left(f) || f->to_sender_waits)
        return;
    f->to_sender_waits = true;
    f->to_sender.run = run_sender;
    loop_post(f->sender.loop, &f->to_sender);
}

/* Bytes, or the end, for the receiver, unless it has closed the slot. */
static void run_receiver(struct post *p)
{
    struct image_inbox_flow *f = container_of(p, struct image_inbox_flow, to_receiver);
    struct image_inbox *b = f->inbox;
    struct loop *loop = f->receiver.loop;
    lock(b);
    assert(f->to_receiver_waits);
    size_t n = is_closed(f) ? 0 : f->n;
    unlock(b);
    if (n) /* the sender does not touch them before on_taken() */
        f->receiver.on_bytes(f->receiver.arg, str_n(f->bytes, n));
    lock(b);
    if (n || is_closed(f)) /* else the bytes were put after the check above */
        f->n = 0;
    if (n) {
        f->is_taken = true;
        wake_sender(f);
    }
    bool is_end = needs_end(f), is_whole = f->is_whole;
    if (is_end)
        sm_move(&f->at_receiver, RECEIVER_ENDED);
    unlock(b);
    if (is_end)
        f->receiver.on_end(f->receiver.arg, is_whole);
    lock(b);
    f->to_receiver_waits = false;
    if (f->n || needs_end(f)) /* since the checks above */
        wake_receiver(f);
    bool is_done = is_closed(f), is_freed = flow_settle(f);
    unlock(b);
    if (is_done)
        loop_release(loop);
    if (is_freed)
        image_inbox_unref(b);
}

/* Call on_taken() and on_cut(), unless the sender has left. */
static void run_sender(struct post *p)
{
    struct image_inbox_flow *f = container_of(p, struct image_inbox_flow, to_sender);
    struct image_inbox *b = f->inbox;
    struct loop *loop = f->sender.loop;
    lock(b);
    assert(f->to_sender_waits);
    bool is_taken = !has_left(f) && f->is_taken, is_cut = needs_cut(f);
    f->is_taken = false;
    if (is_cut)
        sm_move(&f->at_sender, SENDER_CUT);
    unlock(b);
    if (is_taken)
        f->sender.on_taken(f->sender.arg);
    if (is_cut && !has_left(f)) /* on_taken() may have left; only this thread does */
        f->sender.on_cut(f->sender.arg);
    lock(b);
    f->to_sender_waits = false;
    if (!has_left(f) && (f->is_taken || needs_cut(f)))
        wake_sender(f);
    bool is_done = has_left(f), is_freed = flow_settle(f);
    unlock(b);
    if (is_done)
        loop_release(loop);
    if (is_freed)
        image_inbox_unref(b);
}

/* ---- the receiver ---- */

bool image_inbox_open(struct image_inbox *b, const struct oci_digest *blob, uint64_t from,
                      uint64_t at, const struct image_inbox_receiver *r)
{
    lock(b);
    struct inbox_slot *s = slot_from(b, blob, from);
    bool may = s && s->sm.at == SLOT_LATER;
    if (may) {
        struct image_inbox_flow *f = xnew(struct image_inbox_flow);
        f->inbox = image_inbox_ref(b);
        f->receiver = *r;
        sm_init(&f->at_receiver, receiver_table, RECEIVER_OPEN);
        sm_init(&f->at_sender, sender_table, SENDER_NONE);
        assert(!s->flow);
        s->flow = f;
        s->at = at;
        sm_move(&s->sm, SLOT_OPEN);
        loop_hold(r->loop);
    }
    unlock(b);
    return may;
}

/* With the mutex; whether the caller must drop the reference of a flow. */
static bool slot_close(struct inbox_slot *s, enum slot_state next)
{
    struct image_inbox_flow *f = s->flow;
    s->flow = NULL;
    sm_move(&s->sm, next);
    if (!f)
        return false;
    sm_move(&f->at_receiver, RECEIVER_CLOSED);
    wake_sender(f);
    if (!f->to_receiver_waits) /* else the post does it */
        loop_release(f->receiver.loop);
    return flow_settle(f);
}

void image_inbox_close(struct image_inbox *b, const struct oci_digest *blob, uint64_t from,
                       bool again)
{
    lock(b);
    struct inbox_slot *s = slot_from(b, blob, from);
    bool is_freed = s && s->flow && slot_close(s, again ? SLOT_LATER : SLOT_OVER);
    unlock(b);
    if (is_freed)
        image_inbox_unref(b);
}

void image_inbox_over(struct image_inbox *b, const struct oci_digest *blob, uint64_t from,
                      uint64_t to)
{
    for (size_t i = 0; i < b->n; i++) {
        struct inbox_slot *s = &b->slots[i];
        if (s->of.from < from || s->of.from >= to || !oci_digest_equal(&s->of.blob, blob))
            continue;
        lock(b);
        bool is_freed = slot_close(s, SLOT_OVER);
        unlock(b);
        if (is_freed)
            image_inbox_unref(b);
    }
}

/* ---- the sender ---- */

static enum image_inbox_answer answer_of(const struct inbox_slot *s, struct str source, uint64_t at,
                                         uint64_t n)
{
    if (!s || !str_eq(s->of.source, source) || s->sm.at == SLOT_OVER)
        return IMAGE_INBOX_OVER;
    if (s->sm.at != SLOT_OPEN)
        return IMAGE_INBOX_LATER;
    return at == s->at && n == s->of.to - at ? IMAGE_INBOX_TAKEN : IMAGE_INBOX_ELSEWHERE;
}

enum image_inbox_answer image_inbox_offer(struct image_inbox *b, struct str source,
                                          const struct oci_digest *blob, uint64_t at, uint64_t n,
                                          const struct image_inbox_sender *sender,
                                          struct image_inbox_flow **ret, uint64_t *ret_have)
{
    lock(b);
    struct inbox_slot *s = slot_with(b, blob, at);
    enum image_inbox_answer answer = answer_of(s, source, at, n);
    if (answer == IMAGE_INBOX_TAKEN) {
        sm_move(&s->sm, SLOT_FILLING);
        s->flow->sender = *sender;
        sm_move(&s->flow->at_sender, SENDER_SENDING);
        loop_hold(sender->loop);
        *ret = s->flow;
    } else if (answer == IMAGE_INBOX_ELSEWHERE) {
        *ret_have = s->at;
    }
    unlock(b);
    return answer;
}

void image_inbox_put(struct image_inbox_flow *f, struct str bytes)
{
    lock(f->inbox);
    assert(!has_left(f) && f->n == 0);
    if (!is_closed(f)) {
        if (bytes.n > f->cap) {
            free(f->bytes);
            f->bytes = xalloc(bytes.n);
            f->cap = bytes.n;
        }
        memcpy(f->bytes, bytes.p, bytes.n);
        f->n = bytes.n;
        wake_receiver(f);
    }
    unlock(f->inbox);
}

void image_inbox_leave(struct image_inbox_flow *f, bool is_whole)
{
    struct image_inbox *b = f->inbox;
    struct loop *loop = f->sender.loop;
    lock(b);
    sm_move(&f->at_sender, SENDER_LEFT);
    f->is_whole = is_whole;
    wake_receiver(f);
    bool has_post = f->to_sender_waits, is_freed = flow_settle(f);
    unlock(b);
    if (!has_post) /* else the post does it */
        loop_release(loop);
    if (is_freed)
        image_inbox_unref(b);
}
