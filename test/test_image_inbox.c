/* SPDX-License-Identifier: Apache-2.0 */
/* image/inbox: what is taken from whom, piece by piece, and how either end breaks off. */
#include "image/inbox.h"

#include "base/buf.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>

enum { FROM = 100, TO = 200, PIECES = 3000, PIECE_BYTES = 1000 };

static const struct oci_digest blob = { .bytes = { 1 } }, other = { .bytes = { 2 } };

/* Both ends, each with its loop. */
struct ends {
    struct image_inbox *b;
    struct loop here, there; /* of the receiver; of the sender */
    struct image_inbox_flow *flow;
    struct buf got;
    unsigned n_taken, n_cut, n_end;
    bool is_whole;
};

static void on_bytes(void *arg, struct str bytes)
{
    struct ends *e = arg;
    CHECK_OK(buf_add_str(&e->got, bytes));
}

static void on_end(void *arg, bool is_whole)
{
    struct ends *e = arg;
    e->n_end++;
    e->is_whole = is_whole;
}

static void on_taken(void *arg)
{
    ((struct ends *)arg)->n_taken++;
}

static void on_cut(void *arg)
{
    ((struct ends *)arg)->n_cut++;
}

static void begin(struct ends *e)
{
    const struct image_inbox_slot slots[] = {
        { .blob = blob, .source = STR("n2"), .from = 0, .to = FROM },
        { .blob = blob, .source = STR("n3"), .from = FROM, .to = TO },
    };
    *e = (struct ends){ .b = image_inbox_new(slots, ARRAY_LEN(slots)), .got = BUF_INIT(1 << 20) };
    CHECK_OK(loop_init(&e->here, NULL));
    CHECK_OK(loop_init(&e->there, NULL));
}

/* All that was posted has run, and neither loop is held any more. */
static void finish(struct ends *e)
{
    loop_run(&e->here);
    loop_run(&e->there);
    loop_fini(&e->here);
    loop_fini(&e->there);
    image_inbox_unref(e->b);
    buf_fini(&e->got);
}

static bool open_at(struct ends *e, uint64_t at)
{
    const struct image_inbox_receiver r = {
        .loop = &e->here, .on_bytes = on_bytes, .on_end = on_end, .arg = e
    };
    return image_inbox_open(e->b, &blob, FROM, at, &r);
}

static enum image_inbox_answer offer(struct ends *e, const char *source, uint64_t at, uint64_t n,
                                     uint64_t *have)
{
    const struct image_inbox_sender s = {
        .loop = &e->there, .on_taken = on_taken, .on_cut = on_cut, .arg = e
    };
    return image_inbox_offer(e->b, str_of(source), &blob, at, n, &s, &e->flow, have);
}

static void turn(struct ends *e)
{
    for (unsigned i = 0; i < 4; i++) {
        (void)loop_turn(&e->here, false);
        (void)loop_turn(&e->there, false);
    }
}

TEST(only_what_is_waited_for_is_taken_and_only_from_its_source)
{
    struct ends e;
    uint64_t have = 0;
    begin(&e);
    CHECK_INT(offer(&e, "n3", FROM, TO - FROM, &have), IMAGE_INBOX_LATER);
    CHECK(open_at(&e, 130));
    CHECK(!open_at(&e, 130));
    CHECK_INT(offer(&e, "n2", 130, 70, &have), IMAGE_INBOX_OVER); /* the other's */
    CHECK_INT(offer(&e, "n4", 130, 70, &have), IMAGE_INBOX_OVER);
    CHECK_INT(offer(&e, "n3", TO, 1, &have), IMAGE_INBOX_OVER);
    CHECK_INT(offer(&e, "n3", FROM, 100, &have), IMAGE_INBOX_ELSEWHERE);
    CHECK_INT(have, 130);
    CHECK_INT(offer(&e, "n3", 130, 71, &have), IMAGE_INBOX_ELSEWHERE);
    CHECK_INT(offer(&e, "n3", 130, 69, &have), IMAGE_INBOX_ELSEWHERE);
    CHECK_INT(offer(&e, "n3", 130, 70, &have), IMAGE_INBOX_TAKEN);
    struct image_inbox_flow *first = e.flow;
    CHECK_INT(offer(&e, "n3", 130, 70, &have), IMAGE_INBOX_LATER); /* one at a time */
    image_inbox_leave(first, false);
    turn(&e);
    image_inbox_close(e.b, &blob, FROM, false);
    CHECK_INT(offer(&e, "n3", 130, 70, &have), IMAGE_INBOX_OVER);
    CHECK(!open_at(&e, 130));
    CHECK_INT(offer(&e, "n2", 0, FROM, &have), IMAGE_INBOX_LATER);
    image_inbox_over(e.b, &other, 0, UINT64_MAX);
    CHECK_INT(offer(&e, "n2", 0, FROM, &have), IMAGE_INBOX_LATER);
    image_inbox_over(e.b, &blob, 0, FROM);
    CHECK_INT(offer(&e, "n2", 0, FROM, &have), IMAGE_INBOX_OVER);
    finish(&e);
}

TEST(a_piece_is_taken_before_the_next_comes)
{
    struct ends e;
    uint64_t have;
    begin(&e);
    CHECK(open_at(&e, FROM));
    CHECK_INT(offer(&e, "n3", FROM, 100, &have), IMAGE_INBOX_TAKEN);
    image_inbox_put(e.flow, STR("one "));
    (void)loop_turn(&e.there, false);
    CHECK_INT(e.n_taken, 0); /* the receiver has not run */
    turn(&e);
    CHECK_INT(e.n_taken, 1);
    image_inbox_put(e.flow, STR("and two"));
    turn(&e);
    CHECK_INT(e.n_taken, 2);
    CHECK_STR(buf_str(&e.got), "one and two");
    image_inbox_leave(e.flow, true);
    turn(&e);
    CHECK_INT(e.n_end, 1);
    CHECK(e.is_whole);
    image_inbox_close(e.b, &blob, FROM, false);
    CHECK_INT(e.n_cut, 0);
    finish(&e);
}

TEST(a_sender_that_breaks_off_leaves_what_it_brought)
{
    struct ends e;
    uint64_t have;
    begin(&e);
    CHECK(open_at(&e, FROM));
    CHECK_INT(offer(&e, "n3", FROM, 100, &have), IMAGE_INBOX_TAKEN);
    image_inbox_put(e.flow, STR("one"));
    image_inbox_leave(e.flow, false);
    turn(&e);
    CHECK_STR(buf_str(&e.got), "one");
    CHECK(e.n_end == 1 && !e.is_whole && e.n_taken == 0);
    image_inbox_close(e.b, &blob, FROM, true);
    CHECK_INT(offer(&e, "n3", FROM + 3, 97, &have), IMAGE_INBOX_LATER);
    CHECK(open_at(&e, FROM + 3));
    CHECK_INT(offer(&e, "n3", FROM + 3, 97, &have), IMAGE_INBOX_TAKEN);
    image_inbox_leave(e.flow, false);
    image_inbox_close(e.b, &blob, FROM, true); /* before it has heard of that */
    turn(&e);
    CHECK_INT(e.n_end, 1);
    finish(&e);
}

TEST(a_receiver_that_closes_cuts_the_sender_and_hears_nothing_more)
{
    struct ends e;
    uint64_t have;
    begin(&e);
    CHECK(open_at(&e, FROM));
    CHECK_INT(offer(&e, "n3", FROM, 100, &have), IMAGE_INBOX_TAKEN);
    image_inbox_put(e.flow, STR("one"));
    image_inbox_close(e.b, &blob, FROM, true);
    turn(&e);
    CHECK_INT(e.n_cut, 1);
    CHECK_INT(e.got.n, 0);
    image_inbox_leave(e.flow, false);
    turn(&e);
    CHECK_INT(e.n_end, 0);
    CHECK_INT(e.n_cut, 1);
    finish(&e);
}

/* ---- with a thread ---- */

struct stream {
    struct ends e;
    pthread_t thread;
    unsigned n_put;
    uint64_t n_got;
};

static void on_stream_bytes(void *arg, struct str bytes)
{
    struct stream *s = arg;
    for (size_t i = 0; i < bytes.n; i++)
        CHECK_INT((uint8_t)bytes.p[i], (uint8_t)(s->n_got / PIECE_BYTES));
    s->n_got += bytes.n;
}

static void on_stream_end(void *arg, bool is_whole)
{
    struct stream *s = arg;
    CHECK(is_whole);
    image_inbox_close(s->e.b, &blob, FROM, false);
}

static void *receive(void *arg)
{
    struct stream *s = arg;
    loop_run(&s->e.here); /* held until the slot is closed */
    return NULL;
}

static void put_next(void *arg)
{
    struct stream *s = arg;
    char piece[PIECE_BYTES];
    if (s->n_put == PIECES) {
        image_inbox_leave(s->e.flow, true);
        return;
    }
    memset(piece, (int)(s->n_put++ & 0xff), sizeof piece);
    image_inbox_put(s->e.flow, str_n(piece, sizeof piece));
}

/* The slot is closed after the end: whoever has left hears nothing of it. */
static void on_stream_cut(void *arg)
{
    (void)arg;
    TEST_FAIL("%s", "cut");
}

TEST(threads_pass_each_piece_on_once_and_in_order)
{
    struct stream s = { .n_put = 0 };
    uint64_t have;
    begin(&s.e);
    const struct image_inbox_receiver r = {
        .loop = &s.e.here, .on_bytes = on_stream_bytes, .on_end = on_stream_end, .arg = &s
    };
    const struct image_inbox_sender sender = {
        .loop = &s.e.there, .on_taken = put_next, .on_cut = on_stream_cut, .arg = &s
    };
    CHECK(image_inbox_open(s.e.b, &blob, FROM, FROM, &r));
    CHECK_INT(
        image_inbox_offer(s.e.b, STR("n3"), &blob, FROM, TO - FROM, &sender, &s.e.flow, &have),
        IMAGE_INBOX_TAKEN);
    CHECK_INT(pthread_create(&s.thread, NULL, receive, &s), 0);
    put_next(&s);
    loop_run(&s.e.there); /* held until the sender has left */
    CHECK_INT(pthread_join(s.thread, NULL), 0);
    CHECK_INT(s.n_put, PIECES);
    CHECK_INT(s.n_got, (uint64_t)PIECES * PIECE_BYTES);
    finish(&s.e);
}

/* ---- either end breaks off at any time ---- */

enum { ROUNDS = 400, MOST_PIECES = 12 };

struct round {
    struct ends e;
    unsigned n_pieces, n_close, n_leave; /* pieces in all; after which an end breaks off */
    unsigned n_put, n_got, n_cut, n_end;
    bool is_closed, has_left;
};

static void round_close(struct round *d, bool again)
{
    image_inbox_close(d->e.b, &blob, FROM, again);
    d->is_closed = true;
}

static void on_round_bytes(void *arg, struct str bytes)
{
    struct round *d = arg;
    CHECK(!d->is_closed && bytes.n == 1 && bytes.p[0] == (char)d->n_got);
    if (++d->n_got == d->n_close)
        round_close(d, true);
}

static void on_round_end(void *arg, bool is_whole)
{
    struct round *d = arg;
    CHECK(!d->is_closed);
    CHECK(!is_whole || d->n_got == d->n_pieces);
    d->n_end++;
    round_close(d, !is_whole);
}

static void *round_receive(void *arg)
{
    struct round *d = arg;
    loop_run(&d->e.here);
    return NULL;
}

static void round_put(void *arg)
{
    struct round *d = arg;
    char c = (char)d->n_put;
    CHECK(!d->has_left);
    if (d->n_put == d->n_pieces || d->n_put == d->n_leave) {
        d->has_left = true;
        image_inbox_leave(d->e.flow, d->n_put == d->n_pieces);
        return;
    }
    d->n_put++;
    image_inbox_put(d->e.flow, str_n(&c, 1));
    if (d->n_put == d->n_leave && test_random_below(2)) { /* before it is taken */
        d->has_left = true;
        image_inbox_leave(d->e.flow, false);
    }
}

static void on_round_cut(void *arg)
{
    struct round *d = arg;
    CHECK(!d->has_left && d->n_cut++ == 0);
    d->has_left = true;
    image_inbox_leave(d->e.flow, false);
}

TEST(either_end_breaks_off_at_any_time_and_both_loops_end)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct round d = { .n_pieces = 1 + (unsigned)test_random_below(MOST_PIECES),
                           .n_close = (unsigned)test_random_below(2 * MOST_PIECES),
                           .n_leave = (unsigned)test_random_below(2 * MOST_PIECES) };
        uint64_t have;
        pthread_t thread;
        begin(&d.e);
        const struct image_inbox_receiver r = {
            .loop = &d.e.here, .on_bytes = on_round_bytes, .on_end = on_round_end, .arg = &d
        };
        const struct image_inbox_sender sender = {
            .loop = &d.e.there, .on_taken = round_put, .on_cut = on_round_cut, .arg = &d
        };
        CHECK(image_inbox_open(d.e.b, &blob, FROM, FROM, &r));
        CHECK_INT(
            image_inbox_offer(d.e.b, STR("n3"), &blob, FROM, TO - FROM, &sender, &d.e.flow, &have),
            IMAGE_INBOX_TAKEN);
        CHECK_INT(pthread_create(&thread, NULL, round_receive, &d), 0);
        round_put(&d);
        loop_run(&d.e.there);
        CHECK_INT(pthread_join(thread, NULL), 0);
        CHECK(d.is_closed && d.has_left && d.n_end <= 1 && d.n_got <= d.n_put);
        finish(&d.e);
    }
}

TEST_MAIN
