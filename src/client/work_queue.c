/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work queues; see work_queue.h.
 *
 * A key is one allocation. It is found in a table of pointers with linear probing, and is on at
 * most one list: of its priority while it is ready, of the running keys while it runs. A wait is an
 * entry of the queue's heap, ordered by the hard end; the queue's timer is armed for the first
 * entry.
 */
#include "client/work_queue.h"

#include "base/backoff.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "base/slab.h"
#include "base/token_bucket.h"

#include <assert.h>
#include <errno.h>

enum {
    TABLE_MIN = 8,
    WAITS_MIN = 3,
    BACKOFF_BASE_US = 5000,
    BACKOFF_MAX_US = 1000000000,
    RATE_PER_SECOND = 10,
    RATE_BURST = 100,
    FAILURES_MAX = UINT16_MAX
};

/* A namespace's name, shared by all keys in it. */
struct work_queue_space {
    struct str name; /* owned by the map */
    uint64_t hash;
    size_t n_refs;
};

struct work_queues {
    struct work_timers timers;
    struct map spaces; /* struct work_queue_space */
    size_t n_keys, n_queues;
};

struct work_item {
    struct list node;
    struct work_queue_space *space;
    uint64_t added_us; /* when it became ready, or was added while running */
    uint64_t began_us;
    uint32_t hash;
    uint32_t wait_at;      /* index in the heap; 0: not waiting */
    uint16_t reasons;      /* for the next run */
    uint16_t wait_reasons; /* added when its wait ends */
    uint16_t taken;        /* reasons of the current run */
    uint16_t failures;
    unsigned is_ready : 1, is_running : 1;
    unsigned is_again : 1;       /* added while running */
    unsigned is_result_wait : 1; /* the wait was set only by the result of an earlier run */
    unsigned priority : 2, wait_priority : 2, taken_priority : 2;
    unsigned n_name : 8;
    char name[];
};
_Static_assert(WORK_REASON_COUNT <= 16, "reasons are bits of uint16_t");
_Static_assert(WORK_NAME_MAX <= 255, "n_name has 8 bits");

struct wait {
    uint64_t soft_us, hard_us;
    struct work_item *item;
};

/* The parts of a queue that has keys. */
struct keys {
    struct work_queue *queue;
    struct work_timer timer;
    struct work_item **table; /* NULL: free; cap is a power of two */
    uint32_t n_keys, cap;
    VEC(struct wait) waits; /* a heap ordered by hard end */
    uint32_t n_ready[WORK_PRIORITY_COUNT], n_running, n_again;
    struct list ready[WORK_PRIORITY_COUNT], running;
};
static const struct keys no_keys;
#define AT_REST ((struct keys *)&no_keys) /* never written */

struct work_queue {
    struct work_queues *qs;
    struct keys *keys; /* AT_REST, or allocated */
    const char *name;
    void (*on_ready)(struct work_queue *q, void *arg);
    void *arg;
    uint64_t backoff_base_us, backoff_max_us, debounce_us;
    struct token_bucket rate;               /* rate of failures */
    uint64_t rate_period_us, rate_burst_us; /* time for one token, for the whole burst */
    uint32_t slack_percent, max_keys;
    uint32_t n_adds, n_retries, n_dropped;
};

const char *work_reason_name(enum work_reason reason)
{
    static const char *const names[] = {
#define WORK_REASON_NAME(name, text) [name] = text,
        WORK_REASONS(WORK_REASON_NAME)
#undef WORK_REASON_NAME
    };
    return names[reason];
}

const char *work_end_name(enum work_end end)
{
    static const char *const names[] = { [WORK_DONE] = "done",
                                         [WORK_AGAIN] = "again",
                                         [WORK_FAILED] = "failed",
                                         [WORK_REFUSED] = "refused",
                                         [WORK_BACK] = "back" };
    return names[end];
}

/* ---- all queues ---- */

struct work_queues *work_queues_new(void)
{
    return xnew(struct work_queues);
}

void work_queues_free(struct work_queues *qs)
{
    if (!qs)
        return;
    assert(qs->n_queues == 0 && qs->n_keys == 0 && qs->spaces.n == 0);
    work_timers_fini(&qs->timers);
    map_fini(&qs->spaces);
    free(qs);
}

struct work_timers *work_queues_timers(struct work_queues *qs)
{
    return &qs->timers;
}

size_t work_queues_n_keys(const struct work_queues *qs)
{
    return qs->n_keys;
}

static struct work_queue_space *space_ref(struct work_queues *qs, struct str name)
{
    struct work_queue_space *s = map_get(&qs->spaces, name);
    if (!s) {
        s = xnew(struct work_queue_space);
        (void)map_put(&qs->spaces, name, s);
        const struct map_entry *e = map_find(&qs->spaces, name);
        s->name = e->key;
        s->hash = e->hash;
    }
    s->n_refs++;
    return s;
}

static void space_unref(struct work_queues *qs, struct work_queue_space *s)
{
    assert(s->n_refs > 0);
    if (--s->n_refs > 0)
        return;
    (void)map_del(&qs->spaces, s->name);
    free(s);
    if (qs->spaces.n == 0)
        map_fini(&qs->spaces);
}

/* ---- the table ---- */

static uint32_t key_hash(const struct work_queue_space *s, struct str name)
{
    uint64_t h = str_hash(name, s->hash);
    return (uint32_t)(h ^ h >> 32);
}

static void table_put(struct keys *k, struct work_item *item)
{
    uint32_t at = item->hash & (k->cap - 1);
    while (k->table[at])
        at = (at + 1) & (k->cap - 1);
    k->table[at] = item;
}

static void table_resize(struct keys *k, uint32_t cap)
{
    struct work_item **old = k->table;
    uint32_t old_cap = k->cap;
    k->table = xnew_n(struct work_item *, cap);
    k->cap = cap;
    for (uint32_t i = 0; i < old_cap; i++) {
        if (old[i])
            table_put(k, old[i]);
    }
    free(old);
}

static struct work_item *table_find(const struct keys *k, const struct work_queue_space *s,
                                    struct str name, uint32_t hash)
{
    if (k->n_keys == 0)
        return NULL;
    for (uint32_t at = hash & (k->cap - 1); k->table[at]; at = (at + 1) & (k->cap - 1)) {
        struct work_item *item = k->table[at];
        if (item->hash == hash && item->space == s && str_eq(str_n(item->name, item->n_name), name))
            return item;
    }
    return NULL;
}

static void table_add(struct keys *k, struct work_item *item)
{
    if (k->n_keys * 4 >= k->cap * 3)
        table_resize(k, k->cap ? k->cap * 2 : TABLE_MIN);
    table_put(k, item);
    k->n_keys++;
    assert(k->n_keys < k->cap); /* a search ends at a free slot */
}

/* Backward-shift deletion, as in base/map. */
static void table_del(struct keys *k, const struct work_item *item)
{
    uint32_t mask = k->cap - 1, hole = item->hash & mask;
    assert(k->n_keys > 0);
    while (k->table[hole] != item) {
        assert(k->table[hole]);
        hole = (hole + 1) & mask;
    }
    for (uint32_t at = (hole + 1) & mask; k->table[at]; at = (at + 1) & mask) {
        uint32_t home = k->table[at]->hash & mask;
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        k->table[hole] = k->table[at];
        hole = at;
    }
    k->table[hole] = NULL;
    k->n_keys--;
    if (k->n_keys > 0 && k->cap > TABLE_MIN && k->n_keys * 8 <= k->cap)
        table_resize(k, k->cap / 2);
}

/* ---- waits ---- */

static bool wait_before(const void *a, const void *b, const void *arg)
{
    return ((const struct wait *)a)->hard_us < ((const struct wait *)b)->hard_us;
}

static void wait_placed(void *entry, size_t place)
{
    ((struct wait *)entry)->item->wait_at = (uint32_t)place;
}

static const struct heap_kind by_hard_end = { sizeof(struct wait), wait_before, wait_placed };

/* Arm the queue's timer for the first entry of its heap. */
static void wait_arm(struct work_queue *q)
{
    struct keys *k = q->keys;
    const struct wait *first = k->waits.p;
    if (k->waits.n == 0)
        work_timers_clear(&q->qs->timers, &k->timer);
    else if (k->timer.heap_at == 0 || k->timer.hard_us != first->hard_us ||
             k->timer.soft_us != first->soft_us)
        work_timers_set(&q->qs->timers, &k->timer, first->soft_us, first->hard_us);
}

static void wait_set(struct work_queue *q, struct work_item *item, uint64_t soft_us,
                     uint64_t hard_us)
{
    struct keys *k = q->keys;
    struct wait w = { soft_us, hard_us, item };
    assert(soft_us <= hard_us);
    if (item->wait_at) {
        assert(k->waits.p[item->wait_at - 1].item == item);
        k->waits.p[item->wait_at - 1] = w;
        heap_fix(&by_hard_end, NULL, &k->waits, item->wait_at);
    } else {
        if (k->waits.cap == 0) { /* most queues have one key */
            k->waits.cap = WAITS_MIN;
            k->waits.p = xnew_n(struct wait, WAITS_MIN);
        }
        heap_push(&by_hard_end, NULL, &k->waits, w);
    }
    wait_arm(q);
}

/* The caller must call wait_arm() afterwards. */
static void wait_remove(struct work_queue *q, struct work_item *item)
{
    struct keys *k = q->keys;
    if (item->wait_at == 0)
        return;
    assert(item->wait_at <= k->waits.n && k->waits.p[item->wait_at - 1].item == item);
    item->wait_reasons = 0;
    item->is_result_wait = false;
    heap_remove(&by_hard_end, NULL, &k->waits, item->wait_at);
    if (k->waits.n == 0)
        vec_fini(&k->waits);
}

/* ---- keys ---- */

static int key_check(const struct work_queue *q, struct work_key key, struct err *err)
{
    if (key.name.n == 0 || key.name.n > WORK_NAME_MAX || key.namespace.n > WORK_NAME_MAX)
        return err_set(err, -EINVAL, "queue '%s': a name of %zu bytes in a namespace of %zu",
                       q->name, key.name.n, key.namespace.n);
    return 0;
}

static void on_timer(struct work_timer *t, uint64_t now_us);

static struct keys *keys_new(struct work_queue *q)
{
    struct keys *k = xnew(struct keys);
    k->queue = q;
    k->timer.run = on_timer;
    for (size_t i = 0; i < WORK_PRIORITY_COUNT; i++)
        list_init(&k->ready[i]);
    list_init(&k->running);
    return k;
}

static void keys_drop(struct work_queue *q)
{
    assert(!q->keys->waits.p && q->keys->timer.heap_at == 0 && q->keys->n_keys == 0);
    free(q->keys->table);
    free(q->keys);
    q->keys = AT_REST;
}

/* Find or create the item of a key. A new one has no state: the caller sets it. */
static int item_of(struct work_queue *q, struct work_key key, enum work_reason reason,
                   struct work_item **ret, struct err *err)
{
    int r = key_check(q, key, err);
    if (r < 0)
        return r;
    struct work_queue_space *s = space_ref(q->qs, key.namespace);
    uint32_t hash = key_hash(s, key.name);
    struct work_item *item = table_find(q->keys, s, key.name, hash);
    if (item) {
        space_unref(q->qs, s);
        *ret = item;
        return 0;
    }
    size_t more = reason == WORK_DELETE ? (size_t)WORK_QUEUE_MAX_DELETED : 0;
    if (q->keys->n_keys >= q->max_keys + more || q->qs->n_keys >= WORK_QUEUES_MAX_KEYS + more) {
        space_unref(q->qs, s);
        q->n_dropped++;
        return err_set(err, E_LIMIT, "queue '%s' is full: %u keys, %zu in all queues", q->name,
                       q->keys->n_keys, q->qs->n_keys);
    }
    item = xalloc(offsetof(struct work_item, name) + key.name.n);
    item->space = s;
    item->hash = hash;
    item->n_name = (unsigned)key.name.n & 0xff;
    memcpy(item->name, key.name.p, key.name.n);
    if (q->keys == AT_REST)
        q->keys = keys_new(q);
    table_add(q->keys, item);
    q->qs->n_keys++;
    *ret = item;
    return 0;
}

/*
 * A key has one of three reasons to exist, and is on at most one list: it is ready, it runs, or it
 * waits. A wait may go on beside the other two.
 */
static void item_assert(const struct work_item *item)
{
    assert(item->is_ready || item->is_running || item->wait_at > 0);
    assert(!(item->is_ready && item->is_running));
    assert(!item->is_again || item->is_running);
    assert(list_is_linked(&item->node) == (item->is_ready || item->is_running));
}

static void item_free(struct work_queue *q, struct work_item *item)
{
    assert(!item->is_ready && q->qs->n_keys > 0);
    wait_remove(q, item);
    list_remove(&item->node);
    table_del(q->keys, item);
    q->qs->n_keys--;
    space_unref(q->qs, item->space);
    free(item);
    wait_arm(q);
    if (q->keys->n_keys == 0)
        keys_drop(q);
}

static void make_ready(struct work_queue *q, struct work_item *item, bool at_front)
{
    assert(!item->is_ready && !item->is_running && !list_is_linked(&item->node));
    item->is_ready = true;
    q->keys->n_ready[item->priority]++;
    if (at_front)
        list_push_front(&q->keys->ready[item->priority], &item->node);
    else
        list_push_back(&q->keys->ready[item->priority], &item->node);
    if (q->on_ready)
        q->on_ready(q, q->arg);
}

static void leave_ready(struct work_queue *q, struct work_item *item)
{
    assert(item->is_ready && q->keys->n_ready[item->priority] > 0);
    item->is_ready = false;
    q->keys->n_ready[item->priority]--;
    list_remove(&item->node);
}

/* Make the item ready, or mark it if it is running. */
static void item_add(struct work_queue *q, struct work_item *item, uint32_t reasons,
                     enum work_priority priority, uint64_t now_us)
{
    item->reasons |= (uint16_t)reasons;
    if (item->is_ready) {
        if (priority > item->priority) {
            leave_ready(q, item);
            item->priority = priority;
            make_ready(q, item, false);
        }
        return;
    }
    if (item->is_again) {
        if (priority > item->priority)
            item->priority = priority;
        return;
    }
    item->priority = priority;
    item->added_us = now_us;
    q->n_adds++;
    if (item->is_running) {
        item->is_again = true;
        q->keys->n_again++;
        assert(q->keys->n_again <= q->keys->n_running);
        return;
    }
    make_ready(q, item, false);
}

/* The earlier of two waits is kept. A wait that only a result has set passes no reasons on. */
static void item_wait(struct work_queue *q, struct work_item *item, uint32_t reasons,
                      enum work_priority priority, uint64_t soft_us, uint64_t hard_us,
                      bool is_result)
{
    if (item->wait_at == 0) {
        item->wait_reasons = (uint16_t)reasons;
        item->wait_priority = priority;
        item->is_result_wait = is_result;
        wait_set(q, item, soft_us, hard_us);
        return;
    }
    const struct wait *old = &q->keys->waits.p[item->wait_at - 1];
    bool is_earlier = soft_us < old->soft_us;
    if (item->is_result_wait && is_earlier)
        item->wait_reasons = 0;
    item->wait_reasons |= (uint16_t)reasons;
    if (priority > item->wait_priority)
        item->wait_priority = priority;
    item->is_result_wait = item->is_result_wait && is_result;
    if (is_earlier)
        wait_set(q, item, soft_us, MIN(hard_us, old->hard_us));
}

static void on_timer(struct work_timer *t, uint64_t now_us)
{
    struct work_queue *q = container_of(t, struct keys, timer)->queue;
    while (q->keys->waits.n > 0 && q->keys->waits.p[0].soft_us <= now_us) {
        struct work_item *item = q->keys->waits.p[0].item;
        uint32_t reasons = item->wait_reasons;
        enum work_priority priority = item->wait_priority;
        assert(item->wait_at == 1);
        wait_remove(q, item);
        item_add(q, item, reasons, priority, now_us);
    }
    wait_arm(q);
}

void work_queue_set(struct work_queue *q, const struct work_queue_opts *opts)
{
    double rate = opts->rate_per_second > 0 ? opts->rate_per_second : RATE_PER_SECOND;
    /* Between one token a day and one token a microsecond. */
    double period_us = MAX(MIN(1e6 / rate, 86400e6), 1);
    q->name = opts->name;
    q->on_ready = opts->on_ready;
    q->arg = opts->arg;
    q->backoff_base_us = opts->backoff_base_us ? opts->backoff_base_us : BACKOFF_BASE_US;
    q->backoff_max_us = opts->backoff_max_us ? opts->backoff_max_us : BACKOFF_MAX_US;
    q->debounce_us = opts->debounce_us;
    q->rate_period_us = (uint64_t)period_us;
    q->rate_burst_us = q->rate_period_us * (opts->rate_burst ? opts->rate_burst : RATE_BURST);
    q->slack_percent = MIN(opts->slack_percent, 100);
    q->max_keys = (uint32_t)MIN(opts->max_keys ? opts->max_keys : WORK_QUEUE_MAX_KEYS, UINT32_MAX);
}

struct work_queue *work_queue_new(struct work_queues *qs, const struct work_queue_opts *opts)
{
    struct work_queue *q = slab_new(struct work_queue);
    q->qs = qs;
    q->keys = AT_REST;
    work_queue_set(q, opts);
    qs->n_queues++;
    return q;
}

static void drop_ready(struct work_queue *q, struct work_item *item)
{
    if (item->is_ready)
        leave_ready(q, item);
    item_free(q, item);
}

void work_queue_clear(struct work_queue *q)
{
    for (size_t i = 0; i < WORK_PRIORITY_COUNT; i++) {
        while (!list_is_empty(&q->keys->ready[i]))
            drop_ready(q, list_first(&q->keys->ready[i], struct work_item, node));
    }
    while (q->keys->waits.n > 0) {
        struct work_item *item = q->keys->waits.p[q->keys->waits.n - 1].item;
        if (item->is_running)
            wait_remove(q, item);
        else
            item_free(q, item);
    }
    if (q->keys == AT_REST)
        return;
    wait_arm(q);
    q->keys->n_again = 0;
    list_each (node, &q->keys->running) {
        struct work_item *item = list_entry(node, struct work_item, node);
        item->is_again = false;
        item->reasons = 0;
    }
}

void work_queue_free(struct work_queue *q)
{
    if (!q)
        return;
    work_queue_clear(q);
    while (!list_is_empty(&q->keys->running))
        item_free(q, list_first(&q->keys->running, struct work_item, node));
    assert(q->keys == AT_REST);
    q->qs->n_queues--;
    slab_free(q);
}

int work_queue_add(struct work_queue *q, struct work_key key, enum work_reason reason,
                   enum work_priority priority, uint64_t now_us, struct err *err)
{
    struct work_item *item;
    int r = item_of(q, key, reason, &item, err);
    if (r < 0)
        return r;
    bool is_held =
        q->debounce_us > 0 && priority != WORK_HIGH && !item->is_ready && !item->is_running;
    if (!is_held) {
        item_add(q, item, 1u << reason, priority, now_us);
        return 0;
    }
    uint64_t due_us = now_us + q->debounce_us;
    item_wait(q, item, 1u << reason, priority, due_us, due_us, false);
    return 0;
}

static void wait_for(struct work_queue *q, struct work_item *item, enum work_reason reason,
                     enum work_priority priority, uint64_t delay_us, uint64_t now_us,
                     uint32_t slack_percent, bool is_result)
{
    const uint64_t max_us = (UINT64_C(1) << WORK_DELAY_MAX_MS_LOG2) * 1000;
    delay_us = MIN(delay_us, max_us);
    uint64_t soft_us = now_us + delay_us;
    q->n_retries++;
    item_wait(q, item, 1u << reason, priority, soft_us,
              soft_us + MIN(delay_us / 100 * slack_percent, (uint64_t)WORK_SLACK_MAX_MS * 1000),
              is_result);
}

int work_queue_add_after(struct work_queue *q, struct work_key key, enum work_reason reason,
                         enum work_priority priority, uint64_t delay_us, uint64_t now_us,
                         struct err *err)
{
    struct work_item *item;
    int r = item_of(q, key, reason, &item, err);
    if (r < 0)
        return r;
    if (delay_us == 0)
        item_add(q, item, 1u << reason, priority, now_us);
    else
        wait_for(q, item, reason, priority, delay_us, now_us, q->slack_percent, false);
    return 0;
}

struct work_item *work_queue_take(struct work_queue *q, uint64_t now_us, uint64_t *ret_waited_us)
{
    size_t p = WORK_PRIORITY_COUNT;
    while (p > 0 && q->keys->n_ready[p - 1] == 0)
        p--;
    if (p == 0)
        return NULL;
    struct work_item *item = list_first(&q->keys->ready[p - 1], struct work_item, node);
    item_assert(item);
    assert(item->priority == p - 1 && !item->is_again);
    leave_ready(q, item);
    if (item->is_result_wait) {
        wait_remove(q, item);
        wait_arm(q);
    }
    item->is_running = true;
    item->taken = item->reasons;
    item->taken_priority = item->priority;
    item->reasons = 0;
    item->began_us = now_us;
    list_push_back(&q->keys->running, &item->node);
    q->keys->n_running++;
    assert(q->keys->n_running <= q->keys->n_keys);
    if (ret_waited_us)
        *ret_waited_us = now_us > item->added_us ? now_us - item->added_us : 0;
    return item;
}

/* client-go's MaxOf: the longer of the key's own back-off and the wait for a token. */
static uint64_t failure_delay_us(struct work_queue *q, struct work_item *item, uint64_t now_us)
{
    uint64_t own_us = backoff_wait(q->backoff_base_us, q->backoff_max_us, item->failures);
    if (item->failures < FAILURES_MAX)
        item->failures++;
    uint64_t shared_us =
        token_bucket_reserve(&q->rate, q->rate_burst_us, q->rate_period_us, now_us);
    return MAX(own_us, shared_us);
}

/* The item was added while it ran: make it ready, or delay it so that other events are merged. */
static void run_again(struct work_queue *q, struct work_item *item, bool at_front, uint64_t now_us)
{
    assert(item->is_again && q->keys->n_again > 0);
    item->is_again = false;
    q->keys->n_again--;
    uint64_t due_us = item->added_us + q->debounce_us;
    if (at_front || item->priority == WORK_HIGH || due_us <= now_us) {
        make_ready(q, item, at_front);
        return;
    }
    uint32_t reasons = item->reasons;
    item->reasons = 0;
    item_wait(q, item, reasons, item->priority, due_us, due_us, false);
}

uint64_t work_queue_finish(struct work_queue *q, struct work_item *item, enum work_end end,
                           uint64_t delay_us, uint64_t now_us)
{
    item_assert(item);
    assert(item->is_running && q->keys->n_running > 0);
    item->is_running = false;
    list_remove(&item->node);
    q->keys->n_running--;
    switch (end) {
    case WORK_DONE:
    case WORK_REFUSED:
        item->failures = 0;
        delay_us = 0;
        break;
    case WORK_AGAIN:
        item->failures = 0;
        wait_for(q, item, WORK_REQUEUE, item->taken_priority, delay_us, now_us, q->slack_percent,
                 true);
        break;
    case WORK_FAILED:
        delay_us = failure_delay_us(q, item, now_us);
        wait_for(q, item, WORK_RETRY, item->taken_priority, delay_us, now_us, 0, true);
        break;
    case WORK_BACK:
        item->reasons |= item->taken;
        item->priority =
            item->is_again ? MAX(item->priority, item->taken_priority) : item->taken_priority;
        if (!item->is_again) {
            item->is_again = true;
            item->added_us = item->began_us;
            q->keys->n_again++;
        }
        delay_us = 0;
        break;
    }
    item->taken = 0;
    if (item->is_again)
        run_again(q, item, end == WORK_BACK, now_us);
    else if (item->wait_at == 0)
        item_free(q, item);
    return delay_us;
}

void work_item_get(const struct work_item *item, struct work_task *ret)
{
    *ret = (struct work_task){
        .key = { item->space->name, str_n(item->name, item->n_name) },
        .reasons = item->taken,
        .attempt = item->failures,
    };
}

size_t work_queue_depth_of(const struct work_queue *q, enum work_priority least)
{
    size_t n = 0;
    for (size_t p = least; p < WORK_PRIORITY_COUNT; p++)
        n += q->keys->n_ready[p];
    return n;
}

size_t work_queue_depth(const struct work_queue *q)
{
    return work_queue_depth_of(q, WORK_LOW);
}

size_t work_queue_waiting(const struct work_queue *q)
{
    return q->keys->waits.n;
}

size_t work_queue_running(const struct work_queue *q)
{
    return q->keys->n_running;
}

bool work_queue_has(const struct work_queue *q, struct work_key key)
{
    struct work_queue_space *s = map_get(&q->qs->spaces, key.namespace);
    return s && table_find(q->keys, s, key.name, key_hash(s, key.name)) != NULL;
}

uint64_t work_queue_next_due_us(const struct work_queue *q)
{
    return q->keys->waits.n ? q->keys->waits.p[0].soft_us : WORK_NEVER;
}

void work_queue_get_stats(const struct work_queue *q, uint64_t now_us, struct work_queue_stats *ret)
{
    *ret = (struct work_queue_stats){
        .adds = q->n_adds,
        .retries = q->n_retries,
        .dropped = q->n_dropped,
        .depth = work_queue_depth(q) + q->keys->n_again,
        .waiting = q->keys->waits.n,
        .running = q->keys->n_running,
    };
    if (ret->running == 0)
        return;
    list_each (node, &q->keys->running) {
        const struct work_item *item = list_entry(node, struct work_item, node);
        uint64_t us = now_us > item->began_us ? now_us - item->began_us : 0;
        ret->unfinished_us += us;
        ret->longest_running_us = MAX(ret->longest_running_us, us);
    }
}
