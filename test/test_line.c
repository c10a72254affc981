/* SPDX-License-Identifier: Apache-2.0 */
/* Writes of one key wait for each other, in order, within bounds; other keys do not wait. */
#include "api/line.h"
#include "test.h"

enum { PLACES = LINE_QUEUE_MAX + 8 };

static struct loop loop;
static struct lines lines;
static struct asked {
    struct line_place p;
    unsigned runs, refusals;
} asked[PLACES];
static struct asked *last_run;

static void on_run(struct line_place *p)
{
    last_run = container_of(p, struct asked, p);
    last_run->runs++;
}

static void on_refuse(struct line_place *p)
{
    container_of(p, struct asked, p)->refusals++;
}

static void begin(void)
{
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    lines_init(&lines, &loop);
    memset(asked, 0, sizeof asked);
    last_run = NULL;
}

static void end(void)
{
    for (size_t i = 0; i < PLACES; i++)
        line_leave(&lines, &asked[i].p);
    while (loop_turn(&loop, false))
        for (size_t i = 0; i < PLACES; i++)
            line_leave(&lines, &asked[i].p);
    CHECK_INT(lines.known.n, 0);
    lines_fini(&lines);
    loop_run(&loop);
    loop_fini(&loop);
}

static enum line_answer enter(size_t i, const char *key)
{
    asked[i].p.run = on_run;
    asked[i].p.refuse = on_refuse;
    return line_enter(&lines, &asked[i].p, str_of(key));
}

TEST(a_line_goes_on_in_order)
{
    begin();
    CHECK_INT(enter(0, "/a"), LINE_RUN);
    CHECK_INT(enter(1, "/b"), LINE_RUN);
    for (size_t i = 2; i < 6; i++)
        CHECK_INT(enter(i, "/a"), LINE_WAIT);
    line_leave(&lines, &asked[3].p); /* gone while it waits */
    static const size_t order[] = { 2, 4, 5 };
    size_t before = 0;
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        line_leave(&lines, &asked[before].p);
        CHECK(last_run != &asked[order[i]]); /* not from within the call */
        (void)loop_turn(&loop, false);
        CHECK(last_run == &asked[order[i]]);
        before = order[i];
    }
    line_leave(&lines, &asked[before].p);
    line_leave(&lines, &asked[before].p);
    CHECK_INT(lines.known.n, 1);
    CHECK_INT(asked[3].runs, 0);
    end();
}

TEST(who_is_called_and_gone_passes_it_on)
{
    begin();
    CHECK_INT(enter(0, "/a"), LINE_RUN);
    CHECK_INT(enter(1, "/a"), LINE_WAIT);
    CHECK_INT(enter(2, "/a"), LINE_WAIT);
    line_leave(&lines, &asked[0].p);
    line_leave(&lines, &asked[1].p); /* called, before its run() */
    (void)loop_turn(&loop, false);
    CHECK_INT(asked[1].runs, 0);
    CHECK_INT(asked[2].runs, 1);
    end();
}

TEST(keys_differ_after_a_nul)
{
    begin();
    for (size_t i = 0; i < 3; i++) {
        asked[i].p.run = on_run;
        asked[i].p.refuse = on_refuse;
    }
    struct str b = str_n("/a\0b", 4), c = str_n("/a\0c", 4);
    CHECK_INT(line_enter(&lines, &asked[0].p, b), LINE_RUN);
    CHECK_INT(line_enter(&lines, &asked[1].p, c), LINE_RUN);
    CHECK_INT(line_enter(&lines, &asked[2].p, b), LINE_WAIT);
    line_leave(&lines, &asked[2].p);
    line_leave(&lines, &asked[0].p);
    CHECK_INT(lines.known.n, 1);
    line_leave(&lines, &asked[1].p);
    CHECK_INT(lines.known.n, 0);
    end();
}

TEST(a_line_has_an_end)
{
    begin();
    CHECK_INT(enter(0, "/a"), LINE_RUN);
    for (size_t i = 1; i <= LINE_QUEUE_MAX; i++)
        CHECK_INT(enter(i, "/a"), LINE_WAIT);
    CHECK_INT(enter(LINE_QUEUE_MAX + 1, "/a"), LINE_FULL);
    CHECK_INT(enter(LINE_QUEUE_MAX + 2, "/b"), LINE_RUN);
    end();
}

TEST(nobody_waits_for_ever)
{
    begin();
    CHECK_INT(enter(0, "/a"), LINE_RUN);
    CHECK_INT(enter(1, "/a"), LINE_WAIT);
    loop_skip(&loop, LINE_WAIT_MAX_MS / 2);
    CHECK_INT(enter(2, "/a"), LINE_WAIT);
    loop_skip(&loop, LINE_WAIT_MAX_MS / 2);
    (void)loop_turn(&loop, false);
    CHECK_INT(asked[1].refusals, 1);
    CHECK_INT(asked[2].refusals, 0);
    line_leave(&lines, &asked[0].p);
    (void)loop_turn(&loop, false);
    CHECK_INT(asked[1].runs, 0);
    CHECK_INT(asked[2].runs, 1);
    end();
}

TEST_MAIN
