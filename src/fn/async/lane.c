/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes; see lane.h. */
#include "fn/async/lane.h"

#include "base/heap.h"

void lanes_init(struct lanes *ls, size_t lane_running_max, size_t windows_max)
{
    *ls = (struct lanes){ .lane_running_max = lane_running_max, .windows_max = windows_max };
    list_init(&ls->ring);
}

static void lane_free(struct lane *l)
{
    free(l->window);
    free(l);
}

void lanes_fini(struct lanes *ls)
{
    map_each (e, &ls->by_key)
        lane_free(e->value);
    map_fini(&ls->by_key);
    vec_fini(&ls->waiting);
    *ls = (struct lanes){ .entries = 0 };
}

struct lane *lanes_get(struct lanes *ls, struct str key)
{
    struct lane *l = map_get(&ls->by_key, key);
    if (l)
        return l;
    l = xnew(struct lane);
    l->limit = ls->lane_running_max;
    (void)map_put(&ls->by_key, key, l);
    l->key = map_find(&ls->by_key, key)->key;
    return l;
}

/* ------------------------------------------------------------------ heap of times */

static uint64_t begins_ms(const struct lane *l)
{
    assert(l->n > 0);
    return MAX(l->window[l->first].wall_ms, l->held_wall_ms);
}

static bool lane_before(const void *a, const void *b, const void *arg)
{
    return begins_ms(*(struct lane *const *)a) < begins_ms(*(struct lane *const *)b);
}

static void lane_placed(void *entry, size_t place)
{
    (*(struct lane **)entry)->heap_at = place;
}

static const struct heap_kind by_time = { sizeof(struct lane *), lane_before, lane_placed };

/* Call it before its time changes: the order of the others does not depend on it. */
static void stop_waiting(struct lanes *ls, struct lane *l)
{
    if (l->heap_at)
        heap_remove(&by_time, NULL, &ls->waiting, l->heap_at);
}

/* Move it to its place after a change. In the ring it keeps its turn: lanes_next() checks again. */
static void place(struct lanes *ls, struct lane *l)
{
    assert(!l->heap_at);
    bool may_run = l->n > 0 && l->running < l->limit;
    if (!may_run)
        list_remove(&l->ready);
    else if (!list_is_linked(&l->ready))
        heap_push(&by_time, NULL, &ls->waiting, l);
}

/* ------------------------------------------------------------------ window */

static size_t window_max(const struct lanes *ls)
{
    return ls->entries < ls->windows_max ? ASYNC_WINDOW : ASYNC_WINDOW_SMALL;
}

static size_t window_find(const struct lane *l, const struct due *d, bool *ret_found)
{
    size_t low = 0, high = l->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int c = due_cmp(&l->window[l->first + mid], d);
        if (c == 0) {
            *ret_found = true;
            return mid;
        }
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *ret_found = false;
    return low;
}

static bool window_insert(struct lanes *ls, struct lane *l, const struct due *d)
{
    bool found;
    size_t at = window_find(l, d, &found);
    if (found)
        return false;
    if (l->first + l->n == l->cap && l->first > 0) {
        memmove(l->window, l->window + l->first, l->n * sizeof *l->window);
        l->first = 0;
    }
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 4;
        l->window = xrealloc(l->window, l->cap * sizeof *l->window);
    }
    struct due *slot = l->window + l->first + at;
    memmove(slot + 1, slot, (l->n - at) * sizeof *slot);
    *slot = *d;
    l->n++;
    assert(l->first + l->n <= l->cap);
    ls->entries++;
    return true;
}

/* Leave to the disk what is too much. Not while a page is read: its cursor is the edge. */
static void window_trim(struct lanes *ls, struct lane *l)
{
    size_t max = window_max(ls);
    if (l->reading || l->n <= max)
        return;
    assert(ls->entries >= l->n);
    ls->entries -= l->n - max;
    l->n = max;
    l->edge = l->window[l->first + l->n - 1];
    l->has_edge = l->more = true;
}

void lane_add(struct lanes *ls, struct lane *l, const struct due *d)
{
    stop_waiting(ls, l);
    l->pending++;
    ls->pending++;
    /* While a page is being read it is unknown whether this row is in it. */
    if (!l->more || l->reading || (l->has_edge && due_cmp(d, &l->edge) <= 0))
        (void)window_insert(ls, l, d);
    window_trim(ls, l);
    place(ls, l);
}

void lane_count(struct lanes *ls, struct lane *l, uint64_t n)
{
    l->pending += n;
    ls->pending += n;
}

bool lane_wants_page(const struct lanes *ls, const struct lane *l)
{
    return l->more && !l->reading && l->n <= window_max(ls) / 4;
}

void lane_reading(struct lane *l)
{
    assert(!l->reading);
    l->reading = true;
}

size_t lane_page(struct lanes *ls, struct lane *l, const struct due *d, size_t n, bool more,
                 bool (*is_known)(void *arg, const struct async_id *id), void *arg)
{
    size_t n_new = 0;
    assert(l->reading);
    stop_waiting(ls, l);
    l->reading = false;
    l->is_read = true;
    for (size_t i = 0; i < n; i++)
        if (!is_known(arg, &d[i].id))
            n_new += window_insert(ls, l, &d[i]);
    l->more = more;
    if (n > 0) {
        l->edge = d[n - 1];
        l->has_edge = true;
    }
    if (more &&
        l->has_edge) { /* calls that were added after the page's end come with the next page */
        while (l->n > 0 && due_cmp(&l->window[l->first + l->n - 1], &l->edge) > 0) {
            assert(ls->entries > 0);
            l->n--;
            ls->entries--;
        }
    }
    window_trim(ls, l);
    place(ls, l);
    return n_new;
}

void lane_page_failed(struct lane *l)
{
    assert(l->reading);
    l->reading = false;
}

/* ------------------------------------------------------------------ choice of the next call */

struct lane *lanes_next(struct lanes *ls, uint64_t wall_now_ms, struct due *ret)
{
    while (ls->waiting.n > 0 && begins_ms(ls->waiting.p[0]) <= wall_now_ms) {
        struct lane *l = ls->waiting.p[0];
        assert(!list_is_linked(&l->ready));
        stop_waiting(ls, l);
        list_push_back(&ls->ring, &l->ready);
    }
    for (struct list *node; (node = list_pop_front(&ls->ring));) {
        struct lane *l = list_entry(node, struct lane, ready);
        if (begins_ms(l) > wall_now_ms) { /* held since, or an earlier call was removed */
            place(ls, l);
            continue;
        }
        assert(l->running < l->limit && ls->entries > 0 && !l->heap_at);
        *ret = l->window[l->first++];
        l->n--;
        ls->entries--;
        if (l->n == 0)
            l->first = 0;
        l->running++;
        ls->running++;
        if (l->n > 0 && l->running < l->limit && begins_ms(l) <= wall_now_ms)
            list_push_back(&ls->ring, &l->ready);
        else
            place(ls, l);
        return l;
    }
    return NULL;
}

void lane_done(struct lanes *ls, struct lane *l)
{
    assert(l->running > 0 && ls->running > 0);
    stop_waiting(ls, l);
    l->running--;
    ls->running--;
    assert(ls->pending >= l->pending);
    if (l->pending > 0) { /* after a restart the count may lag: it is made while calls run */
        l->pending--;
        ls->pending--;
    }
    place(ls, l);
    if (l->n > 0 || l->more || l->reading || l->running > 0)
        return;
    assert(l->n == 0 && l->running == 0);
    ls->pending -= l->pending;
    stop_waiting(ls, l);
    list_remove(&l->ready);
    (void)map_del(&ls->by_key, l->key);
    lane_free(l);
}

void lane_full(struct lanes *ls, struct lane *l)
{
    assert(l->running > 1);
    l->limit = l->running - 1;
    l->good = 0;
}

void lane_late(struct lanes *ls, struct lane *l)
{
    stop_waiting(ls, l);
    l->limit = MAX(l->limit / 2, (size_t)1);
    l->good = 0;
    place(ls, l);
}

void lane_good(struct lanes *ls, struct lane *l)
{
    if (l->limit < ls->lane_running_max && ++l->good >= l->limit) {
        l->limit++;
        l->good = 0;
    }
}

void lane_hold(struct lanes *ls, struct lane *l, uint64_t wall_ms)
{
    stop_waiting(ls, l);
    l->held_wall_ms = MAX(l->held_wall_ms, wall_ms);
    list_remove(&l->ready);
    place(ls, l);
}

uint64_t lanes_next_ms(const struct lanes *ls)
{
    if (!list_is_empty(&ls->ring))
        return 0;
    return ls->waiting.n > 0 ? begins_ms(ls->waiting.p[0]) : UINT64_MAX;
}
