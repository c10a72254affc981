/* SPDX-License-Identifier: Apache-2.0 */
/* Which source sends which part, in virtual time: sources that die, stall, lie, are slow, late or
 * busy. */
#include "image/transfer.h"

#include "base/mem.h"
#include "test.h"

#define MIB ((uint64_t)1 << 20)

enum habit { HONEST, DIES, STALLS, LIES, CRAWLS, GONE, BUSY, LATE, AWAY, MUTE, HABITS };

struct source {
    enum habit habit;
    bool is_registry;
    uint64_t rate;     /* bytes per ms */
    uint64_t after;    /* bytes: dies or stalls then */
    uint64_t until_ms; /* busy; late: does not have it before; lies: only before, 0: for ever */
};

struct run {
    bool is_running, is_pushed;
    uint32_t source;
    uint64_t at, to, since_ms;
    uint64_t sent;
};

struct world {
    struct source sources[8];
    uint32_t n;
    struct image_transfer t;
    struct run runs[IMAGE_TRANSFER_PIECES_MAX];
    uint64_t now, size, wrong; /* bytes of liars in this round */
    unsigned n_starts[8], n_pushes, n_liars;
    uint32_t liar;
    uint64_t fetched; /* bytes, all rounds */
};

enum { STEP_MS = 10, LATENCY_MS = 20 };

static void order(struct world *w, const struct image_transfer_order *o)
{
    struct run *r = &w->runs[o->piece];
    if (o->kind == IMAGE_TRANSFER_CANCEL) {
        CHECK(r->is_running && r->source == o->source);
        r->is_running = false;
        return;
    }
    CHECK(!r->is_running && o->from < o->to && o->to <= w->size);
    *r = (struct run){ true, o->is_pushed, o->source, o->from, o->to, w->now, 0 };
    w->n_starts[o->source]++;
    w->n_pushes += o->is_pushed;
}

static void end(struct world *w, uint32_t piece, enum image_transfer_end how)
{
    w->runs[piece].is_running = false;
    image_transfer_ended(&w->t, piece, how, w->now);
}

/* What a source does in one step. */
static void move(struct world *w, uint32_t piece)
{
    struct run *r = &w->runs[piece];
    const struct source *s = &w->sources[r->source];
    if (w->now - r->since_ms < LATENCY_MS)
        return;
    if (s->habit == GONE || (s->habit == LATE && w->now < s->until_ms)) {
        end(w, piece, IMAGE_TRANSFER_GONE);
        return;
    }
    if (s->habit == BUSY && w->now < s->until_ms) {
        end(w, piece, IMAGE_TRANSFER_BUSY);
        return;
    }
    if (s->habit == AWAY || (s->habit == DIES && r->sent >= s->after)) {
        end(w, piece, IMAGE_TRANSFER_BROKEN);
        return;
    }
    if ((s->habit == STALLS && r->sent >= s->after) || (s->habit == MUTE && r->is_pushed))
        return;
    uint64_t n = (s->habit == CRAWLS ? 1 : s->rate) * STEP_MS;
    n = MIN(n, r->to - r->at);
    if (s->habit == LIES && (!s->until_ms || r->since_ms < s->until_ms))
        w->wrong += n;
    r->at += n;
    r->sent += n;
    w->fetched += n;
    image_transfer_data(&w->t, piece, n, w->now);
    if (r->at == r->to)
        end(w, piece, IMAGE_TRANSFER_COMPLETE);
}

static void follow(struct world *w)
{
    struct image_transfer_order o;
    while (image_transfer_next(&w->t, w->now, &o))
        order(w, &o);
}

/* Until it is over, or failed; not longer than `most_ms`. */
static enum image_transfer_state run(struct world *w, uint64_t most_ms)
{
    uint32_t liar;
    for (uint64_t end_ms = w->now + most_ms; w->now < end_ms; w->now += STEP_MS) {
        follow(w);
        if (w->t.state == IMAGE_TRANSFER_RECEIVED) {
            bool is_right = w->wrong == 0;
            image_transfer_verdict(&w->t, is_right, w->now, &liar);
            w->wrong = 0;
            if (liar != UINT32_MAX) {
                CHECK_INT(w->sources[liar].habit, LIES);
                w->n_liars++;
                w->liar = liar;
            }
            follow(w);
        }
        if (w->t.state == IMAGE_TRANSFER_OVER || w->t.state == IMAGE_TRANSFER_FAILED)
            return w->t.state;
        bool is_running = false;
        for (uint32_t i = 0; i < IMAGE_TRANSFER_PIECES_MAX; i++)
            if (w->runs[i].is_running) {
                is_running = true;
                move(w, i);
            }
        CHECK(is_running || image_transfer_due(&w->t, w->now) != UINT64_MAX);
    }
    return w->t.state;
}

static struct world world(uint64_t size)
{
    return (struct world){ .size = size, .now = 1000 };
}

static void add(struct world *w, enum habit habit, uint64_t after, uint64_t until_ms)
{
    w->sources[w->n++] = (struct source){ habit, false, 1000, after, until_ms };
}

/* One piece, from the sources in their order. */
static void begin(struct world *w, uint64_t expect_ms, bool is_after)
{
    bool is_registry[8];
    struct image_transfer_piece p = {
        .to = w->size, .n_choices = w->n, .expect_ms = expect_ms, .is_after = is_after
    };
    for (uint32_t i = 0; i < w->n; i++) {
        p.choices[i] = i;
        is_registry[i] = w->sources[i].is_registry;
    }
    CHECK(image_transfer_init(&w->t, &p, 1, is_registry, w->n, w->size, 0, 7, w->now));
}

TEST(what_one_source_has_comes_from_it)
{
    struct world w = world(10 * MIB);
    add(&w, HONEST, 0, 0);
    add(&w, HONEST, 0, 0);
    begin(&w, 0, false);
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
    CHECK_INT(w.n_starts[0], 1);
    CHECK_INT(w.n_starts[1], 0);
    CHECK_INT(w.fetched, 10 * MIB);
}

TEST(a_source_that_dies_is_tried_twice_and_the_next_goes_on_where_it_stopped)
{
    struct world w = world(10 * MIB);
    add(&w, DIES, 30000, 0);
    add(&w, HONEST, 0, 0);
    begin(&w, 0, false);
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
    CHECK_INT(w.n_starts[0], 2);
    CHECK_INT(w.n_starts[1], 1);
    CHECK_INT(w.fetched, 10 * MIB); /* nothing twice */
}

TEST(progress_counts_tries_from_the_start_again)
{
    struct world w = world(4 * MIB);
    add(&w, DIES, MIB, 0);
    begin(&w, 0, false);
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
    CHECK(w.n_starts[0] >= 3);
    CHECK_INT(w.fetched, 4 * MIB);
}

TEST(silence_is_noticed_soon)
{
    struct world w = world(10 * MIB);
    add(&w, STALLS, MIB, 0);
    add(&w, HONEST, 0, 0);
    begin(&w, 0, false);
    uint64_t from = w.now;
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
    /* 1 s and 10 s of bytes, silences of 540 ms each, back-off. */
    CHECK(w.now - from < 16000);
    struct world never = world(MIB);
    add(&never, STALLS, 0, 0);
    add(&never, HONEST, 0, 0);
    begin(&never, 0, false);
    from = never.now;
    CHECK_INT(run(&never, 60000), IMAGE_TRANSFER_OVER);
    CHECK(never.now - from < 2 * IMAGE_TRANSFER_FIRST_MS + 3000);
}

TEST(a_crawling_source_is_left_for_a_faster_one_but_not_for_none)
{
    struct world w = world(10 * MIB);
    add(&w, CRAWLS, 0, 0);
    add(&w, HONEST, 0, 0);
    begin(&w, 10000, false);
    uint64_t from = w.now;
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
    CHECK(w.now - from < IMAGE_TRANSFER_SLOW_MS + 11000);
    struct world alone = world(10000);
    add(&alone, CRAWLS, 0, 0);
    begin(&alone, 10, false);
    CHECK_INT(run(&alone, 60000), IMAGE_TRANSFER_OVER);
    CHECK_INT(alone.n_starts[0], 1);
}

TEST(who_lies_is_blamed_and_not_asked_again)
{
    struct world w = world(MIB);
    add(&w, LIES, 0, 0);
    add(&w, HONEST, 0, 0);
    begin(&w, 0, false);
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
    CHECK_INT(w.n_liars, 1);
    CHECK_INT(w.liar, 0);
    CHECK_INT(w.n_starts[0], 1);
    struct world all = world(MIB);
    add(&all, LIES, 0, 0);
    add(&all, LIES, 0, 0);
    begin(&all, 0, false);
    CHECK_INT(run(&all, 60000), IMAGE_TRANSFER_FAILED);
    CHECK_INT(all.n_liars, 2);
}

TEST(a_registry_that_sent_wrong_bytes_is_asked_once_more_when_no_other_is_left)
{
    struct world w = world(MIB);
    add(&w, LIES, 0, 0);
    add(&w, LIES, 0, 0);
    w.sources[1].is_registry = true;
    begin(&w, 0, false);
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_FAILED);
    CHECK_INT(w.n_liars, 3);
    CHECK_INT(w.n_starts[0], 1);
    CHECK_INT(w.n_starts[1], 2);
    struct world once = world(MIB);
    add(&once, LIES, 0, 1001);
    once.sources[0].is_registry = true;
    begin(&once, 0, false);
    CHECK_INT(run(&once, 60000), IMAGE_TRANSFER_OVER);
    CHECK_INT(once.n_starts[0], 2);
}

TEST(of_several_that_sent_a_wrong_blob_the_liar_is_found_by_asking_one_after_the_other)
{
    bool is_registry[3] = { false, false, true };
    struct world w = world(8 * MIB);
    add(&w, HONEST, 0, 0);
    add(&w, LIES, 0, 0);
    add(&w, HONEST, 0, 0);
    w.sources[2].is_registry = true;
    struct image_transfer_piece p[2] = {
        { .to = 4 * MIB, .choices = { 1, 2 }, .n_choices = 2 },
        { .from = 4 * MIB, .to = 8 * MIB, .choices = { 0, 2 }, .n_choices = 2 }
    };
    CHECK(image_transfer_init(&w.t, p, 2, is_registry, 3, w.size, 0, 7, w.now));
    CHECK_INT(run(&w, 120000), IMAGE_TRANSFER_OVER);
    CHECK_INT(w.n_liars, 1);
    CHECK_INT(w.liar, 1);
    CHECK_INT(w.n_starts[2], 0); /* peers first */
}

TEST(old_bytes_at_the_front_are_no_one_s_fault)
{
    bool is_registry[1] = { false };
    struct world w = world(MIB);
    add(&w, HONEST, 0, 0);
    struct image_transfer_piece p = { .to = MIB, .n_choices = 1 };
    CHECK(image_transfer_init(&w.t, &p, 1, is_registry, 1, MIB, 1000, 7, w.now));
    w.wrong = 1000;
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
    CHECK_INT(w.n_liars, 0);
    CHECK_INT(w.fetched, 2 * MIB - 1000);
}

TEST(busy_and_absent_sources_are_passed_over_at_once)
{
    struct world w = world(MIB);
    add(&w, GONE, 0, 0);
    add(&w, BUSY, 0, 1000000);
    add(&w, HONEST, 0, 0);
    begin(&w, 0, false);
    uint64_t from = w.now;
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
    CHECK(w.now - from < 1500);
    struct world waits = world(MIB);
    add(&waits, BUSY, 0, 6000);
    add(&waits, AWAY, 0, 0);
    begin(&waits, 0, false);
    CHECK_INT(run(&waits, 60000), IMAGE_TRANSFER_OVER);
}

TEST(a_source_that_gets_the_layer_later_is_waited_for)
{
    struct world w = world(MIB);
    add(&w, LATE, 0, 5000);
    begin(&w, 1000, true);
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
    struct world too_late = world(MIB);
    add(&too_late, LATE, 0, 1000000);
    begin(&too_late, 1000, true);
    CHECK_INT(run(&too_late, 60000), IMAGE_TRANSFER_FAILED);
}

/* Likewise, and the first one pushes. */
static void begin_pushed(struct world *w, uint64_t expect_ms)
{
    bool is_registry[8] = { false };
    struct image_transfer_piece p = {
        .to = w->size, .n_choices = w->n + 1, .expect_ms = expect_ms, .is_pushed = true
    };
    for (uint32_t i = 0; i < w->n; i++)
        p.choices[i + 1] = i;
    CHECK(image_transfer_init(&w->t, &p, 1, is_registry, w->n, w->size, 0, 7, w->now));
}

TEST(who_pushes_is_not_asked)
{
    struct world w = world(10 * MIB);
    add(&w, HONEST, 0, 0);
    add(&w, HONEST, 0, 0);
    begin_pushed(&w, 0);
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
    CHECK_INT(w.n_starts[0], 1);
    CHECK_INT(w.n_pushes, 1);
    CHECK_INT(w.n_starts[1], 0);
}

TEST(who_pushes_nothing_is_asked_after_the_limit_of_a_first_byte)
{
    struct world w = world(MIB);
    add(&w, MUTE, 0, 0);
    add(&w, HONEST, 0, 0);
    begin_pushed(&w, 0);
    uint64_t from = w.now;
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
    CHECK(w.now - from >= IMAGE_TRANSFER_FIRST_MS && w.now - from < IMAGE_TRANSFER_FIRST_MS + 2000);
    CHECK_INT(w.n_pushes, 1);
    CHECK_INT(w.n_starts[0], 2);
    CHECK_INT(w.n_starts[1], 0);
    CHECK_INT(w.fetched, MIB);
}

TEST(who_fails_at_pushing_is_left_as_if_it_had_been_asked)
{
    static const enum habit t[] = { STALLS, DIES, CRAWLS };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct world w = world(10 * MIB);
        add(&w, t[i], 60000, 0); /* fewer than count as progress */
        add(&w, HONEST, 0, 0);
        begin_pushed(&w, 10000);
        CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
        CHECK_INT(w.n_starts[0], w.n_pushes); /* and never asked */
        CHECK_INT(w.n_pushes, t[i] == CRAWLS ? 1 : 2);
        CHECK_INT(w.n_starts[1], 1);
        CHECK_INT(w.fetched, 10 * MIB);
    }
}

/* It pushed, broke off, and does not come again; asked, it is away. */
TEST(who_does_not_go_on_pushing_is_waited_for_less_long)
{
    struct world w = world(10 * MIB);
    add(&w, HONEST, 0, 0);
    add(&w, HONEST, 0, 0);
    begin_pushed(&w, 0);
    uint64_t from = w.now;
    (void)run(&w, 2000);
    CHECK(w.runs[0].is_running && w.fetched > MIB);
    w.sources[0].habit = MUTE;
    end(&w, 0, IMAGE_TRANSFER_BROKEN);
    (void)run(&w, IMAGE_TRANSFER_RESUME_MS + 300);
    CHECK_INT(w.n_pushes, 2);
    CHECK_INT(w.n_starts[0], 3); /* asked */
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
    CHECK(w.now - from < 15000);
    CHECK_INT(w.fetched, 10 * MIB);
}

TEST(who_pushes_wrong_bytes_is_blamed_and_not_asked)
{
    struct world w = world(2 * MIB);
    add(&w, LIES, 0, 0);
    add(&w, HONEST, 0, 0);
    begin_pushed(&w, 0);
    CHECK_INT(run(&w, 60000), IMAGE_TRANSFER_OVER);
    CHECK_INT(w.n_liars, 1);
    CHECK_INT(w.liar, 0);
    CHECK_INT(w.n_starts[0], 1);
}

TEST(who_pushes_is_also_the_one_that_is_asked)
{
    struct image_transfer t;
    const bool is_registry[2] = { false };
    struct image_transfer_piece p = { .to = 5, .choices = { 0, 1 }, .n_choices = 2 };
    CHECK(image_transfer_init(&t, &p, 1, is_registry, 2, 5, 0, 7, 0));
    p.is_pushed = true;
    CHECK(!image_transfer_init(&t, &p, 1, is_registry, 2, 5, 0, 7, 0));
    p.choices[1] = 0;
    CHECK(image_transfer_init(&t, &p, 1, is_registry, 2, 5, 0, 7, 0));
    p.n_choices = 1;
    CHECK(!image_transfer_init(&t, &p, 1, is_registry, 2, 5, 0, 7, 0));
}

TEST(plans_that_do_not_cover_the_blob_are_refused)
{
    struct image_transfer t;
    bool is_registry[1] = { false };
    struct image_transfer_piece gap[2] = { { .to = 10, .n_choices = 1 },
                                           { .from = 11, .to = 20, .n_choices = 1 } };
    CHECK(!image_transfer_init(&t, gap, 2, is_registry, 1, 20, 0, 1, 0));
    gap[1].from = 10;
    CHECK(image_transfer_init(&t, gap, 2, is_registry, 1, 20, 0, 1, 0));
    CHECK(!image_transfer_init(&t, gap, 2, is_registry, 1, 21, 0, 1, 0));
    CHECK(!image_transfer_init(&t, gap, 2, is_registry, 1, 20, 21, 1, 0));
    gap[1].choices[0] = 1;
    CHECK(!image_transfer_init(&t, gap, 2, is_registry, 1, 20, 0, 1, 0));
}

/* ---- any mixture, as long as the last choice of each piece is honest ---- */

static void draw(struct world *w, struct rng *r)
{
    *w = world(1 + rng_below(r, 4 << 20));
    for (uint32_t i = 0; i < 6; i++) {
        add(w, (enum habit)rng_below(r, HABITS), rng_below(r, 1 << 20), 1000 + rng_below(r, 9000));
        w->sources[i].rate = 100 + rng_below(r, 2000);
    }
    add(w, HONEST, 0, 0);
    w->sources[6].is_registry = true;
}

TEST(with_an_honest_source_at_the_end_every_blob_comes)
{
    struct rng r = { 42 };
    for (unsigned round = 0; round < 3000; round++) {
        struct world w;
        bool is_registry[8] = { [6] = true };
        struct image_transfer_piece p[3] = { 0 };
        draw(&w, &r);
        size_t n = 1 + rng_below(&r, 3);
        for (size_t i = 0; i < n; i++) {
            p[i].from = w.size * i / n;
            p[i].to = w.size * (i + 1) / n;
            p[i].expect_ms = rng_below(&r, 2) ? 1 + rng_below(&r, 3000) : 0;
            p[i].is_after = rng_below(&r, 4) == 0;
            p[i].n_choices = 1 + rng_below(&r, 4);
            for (uint32_t c = 0; c + 1 < p[i].n_choices; c++)
                p[i].choices[c] = rng_below(&r, 6);
            p[i].choices[p[i].n_choices - 1] = 6;
        }
        CHECK(image_transfer_init(&w.t, p, n, is_registry, w.n, w.size, 0, round, w.now));
        if (run(&w, 3600000) != IMAGE_TRANSFER_OVER)
            TEST_FAIL("round %u", round);
        CHECK(w.wrong == 0);
    }
}

/* ---- a registry that says when to come again ---- */

static struct image_transfer_order next_order(struct image_transfer *t, uint64_t now)
{
    struct image_transfer_order o;
    CHECK(image_transfer_next(t, now, &o));
    return o;
}

TEST(a_registry_that_puts_off_is_asked_again_when_it_said_however_often)
{
    enum { TIMES = 20, AFTER_MS = 30000 };
    struct image_transfer t;
    struct image_transfer_order o;
    bool is_registry[1] = { true };
    struct image_transfer_piece p = { .to = MIB, .n_choices = 1 };
    uint64_t now = 1000;
    CHECK(image_transfer_init(&t, &p, 1, is_registry, 1, MIB, 0, 7, now));
    for (int i = 0; i < TIMES; i++) {
        CHECK_INT(next_order(&t, now).kind, IMAGE_TRANSFER_START);
        image_transfer_put_off(&t, 0, AFTER_MS, now);
        CHECK_INT(t.state, IMAGE_TRANSFER_RUNNING);
        CHECK_INT(image_transfer_due(&t, now), now + AFTER_MS);
        CHECK(!image_transfer_next(&t, now + AFTER_MS - 1, &o));
        now += AFTER_MS;
    }
    CHECK_INT(next_order(&t, now).kind, IMAGE_TRANSFER_START);
    image_transfer_data(&t, 0, MIB, now);
    CHECK_INT(t.state, IMAGE_TRANSFER_RECEIVED);
}

TEST(what_a_source_says_of_one_piece_holds_for_all_that_want_it)
{
    struct image_transfer t;
    struct image_transfer_order o;
    bool is_registry[2] = { true, false };
    struct image_transfer_piece p[2] = { { .to = 10, .n_choices = 2, .choices = { 0, 1 } },
                                         { .from = 10, .to = 20, .n_choices = 1 } };
    CHECK(image_transfer_init(&t, p, 2, is_registry, 2, 20, 0, 7, 0));
    CHECK_INT(next_order(&t, 0).piece, 0);
    CHECK_INT(next_order(&t, 0).piece, 1);
    image_transfer_put_off(&t, 0, 5000, 100);
    o = next_order(&t, 100); /* the first has another source */
    CHECK_INT(o.piece, 0);
    CHECK_INT(o.source, 1);
    image_transfer_ended(&t, 1, IMAGE_TRANSFER_BROKEN, 200);
    CHECK(!image_transfer_next(&t, 2900, &o) || o.kind == IMAGE_TRANSFER_CANCEL);
    image_transfer_data(&t, 0, 10, 2900);
    CHECK(!image_transfer_next(&t, 5099, &o));
    o = next_order(&t, 5100);
    CHECK_INT(o.piece, 1);
    CHECK_INT(o.source, 0);
}

TEST(a_source_that_does_not_say_when_is_asked_less_and_less_often)
{
    struct image_transfer t;
    bool is_registry[1] = { true };
    struct image_transfer_piece p = { .to = MIB, .n_choices = 1 };
    uint64_t now = 0, before = 0;
    CHECK(image_transfer_init(&t, &p, 1, is_registry, 1, MIB, 0, 7, now));
    for (int i = 0; i < 10; i++) {
        (void)next_order(&t, now);
        image_transfer_put_off(&t, 0, 0, now);
        uint64_t wait = image_transfer_due(&t, now) - now;
        CHECK(wait >= before && wait <= IMAGE_TRANSFER_PUT_OFF_MAX_MS);
        CHECK(i > 0 || wait == IMAGE_TRANSFER_BUSY_MS);
        before = wait;
        now += wait;
    }
    CHECK_INT(before, IMAGE_TRANSFER_PUT_OFF_MAX_MS);
}

TEST_MAIN
