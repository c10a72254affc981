/* SPDX-License-Identifier: Apache-2.0 */
/* Serializes the writes of one object; see line.h. */
#include "api/line.h"

struct line {
    struct list queue; /* struct line_place.node: waiting places */
    unsigned n_queue;
    size_t key_n;
    char key[]; /* may contain NUL */
};

static struct line *line_new(struct lines *ls, struct str key)
{
    struct line *line = xalloc(sizeof *line + key.n);
    *line = (struct line){ .key_n = key.n };
    memcpy(line->key, key.p, key.n);
    list_init(&line->queue);
    (void)map_put(&ls->known, key, line);
    return line;
}

static void stop_waiting(struct lines *ls, struct line_place *p)
{
    assert(p->waiting && p->line->n_queue > 0);
    assert(list_is_linked(&p->node) && list_is_linked(&p->age));
    list_remove(&p->node);
    list_remove(&p->age);
    p->waiting = false;
    p->line->n_queue--;
    assert((p->line->n_queue == 0) == list_is_empty(&p->line->queue));
    if (list_is_empty(&ls->waiting))
        timer_stop(ls->loop, &ls->timer);
}

/* ------------------------------------------------------------------ waiting */

static void on_line_timer(struct timer *timer);

static void arm_timer(struct lines *ls)
{
    if (list_is_empty(&ls->waiting) || timer_is_armed(&ls->timer))
        return;
    uint64_t due = list_first(&ls->waiting, struct line_place, age)->since_ms + LINE_WAIT_MAX_MS;
    uint64_t now = loop_now_ms(ls->loop);
    timer_start(ls->loop, &ls->timer, due > now ? due - now : 0, on_line_timer);
}

static void on_line_timer(struct timer *timer)
{
    struct lines *ls = container_of(timer, struct lines, timer);
    uint64_t now = loop_now_ms(ls->loop);
    while (!list_is_empty(&ls->waiting)) {
        struct line_place *p = list_first(&ls->waiting, struct line_place, age);
        if (p->since_ms + LINE_WAIT_MAX_MS > now)
            break;
        stop_waiting(ls, p); /* the line stays: another place writes */
        p->line = NULL;
        p->refuse(p);
    }
    arm_timer(ls);
}

static void on_line_turn(struct defer *d)
{
    struct lines *ls = container_of(d, struct lines, turn);
    for (unsigned n = 0; n < LOOP_DEFER_PER_TURN && !list_is_empty(&ls->called); n++) {
        struct line_place *p = list_first(&ls->called, struct line_place, node);
        assert(p->line && !p->waiting);
        list_remove(&p->node);
        p->run(p);
    }
    if (!list_is_empty(&ls->called))
        defer_start(ls->loop, &ls->turn, on_line_turn);
}

/* ------------------------------------------------------------------ interface */

void lines_init(struct lines *ls, struct loop *loop)
{
    *ls = (struct lines){ .loop = loop };
    list_init(&ls->waiting);
    list_init(&ls->called);
}

void lines_fini(struct lines *ls)
{
    assert(ls->known.n == 0 && list_is_empty(&ls->called) && list_is_empty(&ls->waiting));
    timer_stop(ls->loop, &ls->timer);
    defer_cancel(&ls->turn);
    map_fini(&ls->known);
}

enum line_answer line_enter(struct lines *ls, struct line_place *p, struct str key)
{
    assert(!p->line && !p->waiting && p->run && p->refuse);
    assert(!list_is_linked(&p->node) && !list_is_linked(&p->age));
    struct line *line = map_get(&ls->known, key);
    if (!line) {
        p->line = line_new(ls, key);
        return LINE_RUN;
    }
    if (line->n_queue >= LINE_QUEUE_MAX)
        return LINE_FULL;
    p->line = line;
    p->waiting = true;
    p->since_ms = loop_now_ms(ls->loop);
    line->n_queue++;
    list_push_back(&line->queue, &p->node);
    list_push_back(&ls->waiting, &p->age);
    arm_timer(ls);
    return LINE_WAIT;
}

void line_leave(struct lines *ls, struct line_place *p)
{
    struct line *line = p->line;
    if (!line)
        return;
    if (p->waiting) {
        stop_waiting(ls, p);
        p->line = NULL;
        return;
    }
    p->line = NULL;
    list_remove(&p->node); /* it may leave after it was called and before run() */
    if (line->n_queue == 0) {
        const struct line *was = map_del(&ls->known, str_n(line->key, line->key_n));
        assert(was == line);
        free(line);
        return;
    }
    struct line_place *next = list_first(&line->queue, struct line_place, node);
    stop_waiting(ls, next);
    list_push_back(&ls->called, &next->node);
    defer_start(ls->loop, &ls->turn, on_line_turn);
}
