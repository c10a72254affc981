/* SPDX-License-Identifier: Apache-2.0 */
/* What the store has of pending calls is read into lanes: page by page, and after a start. */
#include "fn/async/async_int.h"

#include "base/log.h"
#include "base/vec.h"
#include "codec/digest.h"

/* ------------------------------------------------------------------ pages of a lane */

struct page_read {
    struct async *a;
    char lane[ASYNC_LANE_MAX];
};

static bool is_running(void *arg, const struct async_id *id)
{
    struct async *a = arg;
    char text[ASYNC_ID_TEXT];
    async_id_text(id, text);
    return map_has(&a->runs, str_of(text));
}

static size_t take_page(struct async *a, struct lane *l, const struct store_kv *kv, size_t n,
                        bool more)
{
    struct due *dues = xnew_n(struct due, n ? n : 1);
    size_t n_dues = 0;
    for (size_t i = 0; i < n; i++) {
        struct str lane;
        struct due *d = &dues[n_dues];
        if (async_key_due_parse(kv[i].key, &lane, &d->wall_ms, &d->id))
            n_dues++;
        else
            log_error("row of a call cannot be decoded, ignoring", "key=" STR_FMT,
                      STR_ARG(kv[i].key));
    }
    size_t n_new = lane_page(&a->lanes, l, dues, n_dues, more, is_running, a);
    free(dues);
    return n_new;
}

static void try_pages_later(struct async *a)
{
    a->pages_failed = true;
    async_pump(a);
}

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct page_read *pr = arg;
    struct async *a = pr->a;
    struct lane *l = map_get(&a->lanes.by_key, str_of(pr->lane));
    free(pr);
    assert(l); /* a lane that is being read exists */
    if (r < 0) {
        lane_page_failed(l);
        if (r != -ECANCELED) {
            log_error("calls cannot be read, trying again", "err=\"%s\"", err_text(err));
            try_pages_later(a);
        }
        return;
    }
    (void)take_page(a, l, page->kv, page->n, page->more);
    async_pump(a);
}

void pages_read(struct async *a, struct lane *l)
{
    struct page_read *pr = xnew(struct page_read);
    struct async_key prefix, after = { .n = 0 };
    pr->a = a;
    assert(l->key.n < sizeof pr->lane);
    memcpy(pr->lane, l->key.p, l->key.n);
    prefix.n = (size_t)snprintf(prefix.p, sizeof prefix.p, "d/" STR_FMT "/", STR_ARG(l->key));
    if (l->has_edge)
        async_key_due(&after, l->key, l->edge.wall_ms, &l->edge.id);
    struct store_range range = { .prefix = async_key_str(&prefix),
                                 .after = async_key_str(&after),
                                 .limit = ASYNC_WINDOW,
                                 .keys_only = true };
    if (store_range(a->store, &range, on_page, pr, NULL) < 0) {
        free(pr);
        try_pages_later(a);
        return;
    }
    lane_reading(l);
}

/* ------------------------------------------------------------------ after a start */

/*
 * The rows at d/, lane by lane. Of a lane with many rows the first page is read and the others are
 * skipped, so that the cost depends on the number of lanes and not on the number of calls.
 */
struct async_pages_scan {
    struct async *a;
    struct buf after;
};
static void scan_next(struct async_pages_scan *s);

static void on_counted(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct page_read *pr = arg;
    struct lane *l = map_get(&pr->a->lanes.by_key, str_of(pr->lane));
    if (r >= 0 && l)
        lane_count(&pr->a->lanes, l, page->n + page->left);
    free(pr);
}

/* How many rows follow the window; the answer arrives later. */
static void count_rest(struct async *a, struct lane *l)
{
    struct page_read *pr = xnew(struct page_read);
    struct async_key prefix, after;
    pr->a = a;
    memcpy(pr->lane, l->key.p, l->key.n);
    prefix.n = (size_t)snprintf(prefix.p, sizeof prefix.p, "d/" STR_FMT "/", STR_ARG(l->key));
    async_key_due(&after, l->key, l->edge.wall_ms, &l->edge.id);
    struct store_range range = { .prefix = async_key_str(&prefix),
                                 .after = async_key_str(&after),
                                 .limit = 1,
                                 .keys_only = true,
                                 .count_left = true };
    if (store_range(a->store, &range, on_counted, pr, NULL) < 0)
        free(pr);
}

static bool is_ours(const struct async *a, struct str lane)
{
    uint8_t b[4];
    if (lane.n < 9 || !hex_parse(str_n(lane.p, 8), b, sizeof b))
        return false;
    uint32_t owner = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    return owner == a->owner || !a->is_mine || a->is_mine(a->is_mine_arg, owner);
}

static void scan_failed(struct async *a)
{
    assert(async_is_scanning(a));
    a->scan = a->scan == ASYNC_SCAN_FIRST ? ASYNC_SCAN_NEVER : ASYNC_SCAN_DONE;
}

static void scan_end(struct async_pages_scan *s)
{
    struct async *a = s->a;
    assert(async_is_scanning(a));
    buf_fini(&s->after);
    free(s);
    a->scan = ASYNC_SCAN_DONE;
    if (a->wants_scan && !async_is_closing(a))
        async_rescan(a);
    async_sweep(a);
    async_pump(a);
}

/* Where the rows of the lane of row i end; *ret_lane stays empty if row i is not one of ours. */
static size_t group_end(const struct store_page *page, size_t i, struct str *ret_lane)
{
    struct str other;
    struct due d;
    size_t end = i + 1;
    if (!async_key_due_parse(page->kv[i].key, ret_lane, &d.wall_ms, &d.id))
        return end;
    while (end < page->n && async_key_due_parse(page->kv[end].key, &other, &d.wall_ms, &d.id) &&
           str_eq(*ret_lane, other))
        end++;
    return end;
}

static void take_group(struct async *a, struct str lane, const struct store_kv *kv, size_t n,
                       bool more)
{
    struct lane *l = map_get(&a->lanes.by_key, lane);
    /* A lane that was made by new calls before the first scan does not know older calls. */
    if (!is_ours(a, lane) || (l && (a->scan >= ASYNC_SCAN_DONE || l->is_read || l->reading)))
        return;
    l = lanes_get(&a->lanes, lane);
    lane_reading(l);
    lane_count(&a->lanes, l, take_page(a, l, kv, n, more));
    if (l->more)
        count_rest(a, l);
}

static void on_scan(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct async_pages_scan *s = arg;
    struct async *a = s->a;
    if (r < 0) {
        if (r != -ECANCELED) {
            log_error("calls cannot be read, trying again", "err=\"%s\"", err_text(err));
            a->wants_scan = true; /* by the timer of failed pages */
            a->pages_failed = true;
        }
        buf_fini(&s->after);
        free(s);
        scan_failed(a);
        async_pump(a);
        return;
    }
    bool jumped = false;
    for (size_t i = 0, end; i < page->n; i = end) {
        struct str lane = { 0 };
        end = group_end(page, i, &lane);
        bool more = end == page->n && page->more;
        if (lane.n)
            take_group(a, lane, page->kv + i, end - i, more);
        if (lane.n && more) { /* after all rows "d/LANE/": '0' follows '/' */
            buf_reset(&s->after);
            (void)buf_printf(&s->after, "d/" STR_FMT "0", STR_ARG(lane));
            jumped = true;
        }
    }
    if (!page->more) {
        scan_end(s);
        return;
    }
    if (!jumped) {
        buf_reset(&s->after);
        (void)buf_add_str(&s->after, page->kv[page->n - 1].key);
    }
    async_pump(a);
    scan_next(s);
}

static void scan_next(struct async_pages_scan *s)
{
    struct store_range range = {
        .prefix = STR("d/"), .after = buf_str(&s->after), .limit = ASYNC_WINDOW, .keys_only = true
    };
    if (async_is_closing(s->a) || store_range(s->a->store, &range, on_scan, s, NULL) < 0) {
        s->a->wants_scan = true;
        scan_failed(s->a);
        buf_fini(&s->after);
        try_pages_later(s->a);
        free(s);
    }
}

void async_rescan(struct async *a)
{
    if (!a->functions.ops || async_is_closing(a) || !a->store)
        return;
    a->wants_scan = async_is_scanning(a);
    if (a->wants_scan)
        return;
    a->scan = a->scan == ASYNC_SCAN_NEVER ? ASYNC_SCAN_FIRST : ASYNC_SCAN_AGAIN;
    struct async_pages_scan *s = xnew(struct async_pages_scan);
    s->a = a;
    buf_init(&s->after, STORE_KEY_MAX_BYTES);
    scan_next(s);
}

/* ------------------------------------------------------------------ retry */

void pages_retry(struct async *a)
{
    VEC(struct lane *) wanting = { 0 };
    a->pages_failed = false;
    if (a->wants_scan)
        async_rescan(a);
    map_each (e, &a->lanes.by_key)
        if (lane_wants_page(&a->lanes, e->value))
            vec_push(&wanting, (struct lane *)e->value);
    vec_each (l, &wanting)
        pages_read(a, *l);
    vec_fini(&wanting);
}
