/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which call runs next. Pure: no store, no loop; times are wall clock ms.
 *
 * A lane is the queue of one function, or of one host that receives callbacks. Its calls are on
 * disk in the order of their time; the first few of them are in memory, the window:
 *
 *     on disk   d1 d2 d3 d4 d5 | d6 d7 d8 ...
 *     window    d1 d2 d3 d4 d5 |            everything up to `edge` is in the window or running
 *                              edge         `more`: there may be calls after it
 *
 * Lanes whose first call is due form a ring and give one call each in turn, so that a function with
 * a million calls does not delay another one; the other lanes are in a heap.
 */
#pragma once

#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "fn/async/record.h"

struct due {
    uint64_t wall_ms;
    struct async_id id;
};
static inline int due_cmp(const struct due *a, const struct due *b)
{
    if (a->wall_ms != b->wall_ms)
        return a->wall_ms < b->wall_ms ? -1 : 1;
    return memcmp(a->id.b, b->id.b, sizeof a->id.b);
}

struct lane {
    struct str key;     /* of the map */
    struct due *window; /* [first, first + n), ascending */
    size_t first, n, cap;
    struct due edge; /* has_edge: as above; else no page has been read yet */
    bool has_edge, more;
    bool is_read; /* a page has been read; else only calls added since the start may be known */
    bool reading; /* a page is being read: a call that is added now may or may not be in it */
    size_t running;
    size_t limit;          /* of running: what the function has had room for lately */
    size_t good;           /* calls that ended since the limit was moved */
    uint64_t pending;      /* all calls, on disk too */
    uint64_t held_wall_ms; /* no call begins before this time */
    struct list ready;     /* in lanes.ring */
    size_t heap_at;        /* in lanes.waiting; 0: not */
};

struct lanes {
    struct map by_key; /* struct lane */
    struct list ring;
    VEC(struct lane *) waiting; /* a heap by the time of their first calls */
    size_t entries;             /* of all windows */
    size_t running;
    uint64_t pending;
    size_t lane_running_max, windows_max;
};

void lanes_init(struct lanes *ls, size_t lane_running_max, size_t windows_max);
void lanes_fini(struct lanes *ls);
/* Created if it does not exist. */
struct lane *lanes_get(struct lanes *ls, struct str key);
/* A call that has been written to disk. */
void lane_add(struct lanes *ls, struct lane *l, const struct due *d);
/* Calls counted on disk that were not added one by one. */
void lane_count(struct lanes *ls, struct lane *l, uint64_t n);
/* The next page, after `edge`, should be read; sets `reading`. */
bool lane_wants_page(const struct lanes *ls, const struct lane *l);
void lane_reading(struct lane *l);
/*
 * The page: in order; more: it was not the last. is_known: the call is running, so it is left out.
 * Returns how many calls of the page are new.
 */
size_t lane_page(struct lanes *ls, struct lane *l, const struct due *d, size_t n, bool more,
                 bool (*is_known)(void *arg, const struct async_id *id), void *arg);
/* Reading failed: the page is needed again. */
void lane_page_failed(struct lane *l);
/* The next call to run, which counts as running from now on; NULL: none is due. */
struct lane *lanes_next(struct lanes *ls, uint64_t wall_now_ms, struct due *ret);
/*
 * The call no longer runs; if it is to run again, lane_add() has added it before. Frees the lane
 * when it is empty.
 */
void lane_done(struct lanes *ls, struct lane *l);
/*
 * The function had no room for the call of lane_next(), while others of the lane run: run no more
 * than these at a time, until as many have ended; then allow one more.
 */
void lane_full(struct lanes *ls, struct lane *l);
/*
 * A call exceeded its time limit: halve the number that may run, so that the calls of a function
 * that hangs soon run one at a time; the number grows again as above.
 */
void lane_late(struct lanes *ls, struct lane *l);
/* One has ended as it should. */
void lane_good(struct lanes *ls, struct lane *l);
/* No call begins before wall_ms. */
void lane_hold(struct lanes *ls, struct lane *l, uint64_t wall_ms);
/* When lanes_next() may have one; UINT64_MAX: never by itself. */
uint64_t lanes_next_ms(const struct lanes *ls);
