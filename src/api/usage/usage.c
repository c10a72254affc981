/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of a node; see usage.h. */
#include "api/usage/usage.h"

#include "base/mem.h"
#include "kube/model/quantity.h"

#include <assert.h>

enum { LABELS_MAX = 16 };

/* ------------------------------------------------------------------ one line */

enum usage_of { OF_CONTAINER, OF_NODE };

/* What a metric says about the point that is being taken. */
static void set_cpu(struct usage_counter *c, __int128 nano, int64_t at_ms)
{
    c->taken.at_ms = at_ms;
    c->taken.cpu_ns = (uint64_t)MIN(nano, (__int128)INT64_MAX);
}

static void set_memory(struct usage_counter *c, __int128 nano, int64_t at_ms)
{
    (void)at_ms;
    c->taken.memory_bytes = (uint64_t)(nano / 1000000000);
}

static void set_start(struct usage_counter *c, __int128 nano, int64_t at_ms)
{
    (void)at_ms;
    c->start_ms = (int64_t)(nano / 1000000);
}

static const struct usage_metric {
    const char *name;
    enum usage_of of;
    void (*set)(struct usage_counter *c, __int128 nano, int64_t at_ms);
} metrics[] = {
    { "container_cpu_usage_seconds_total", OF_CONTAINER, set_cpu },
    { "container_memory_working_set_bytes", OF_CONTAINER, set_memory },
    { "container_start_time_seconds", OF_CONTAINER, set_start },
    { "node_cpu_usage_seconds_total", OF_NODE, set_cpu },
    { "node_memory_working_set_bytes", OF_NODE, set_memory },
};

struct labels {
    struct str ns, pod, container;
};

/* `name="value",...}`; moves *rest behind the brace. Values with escapes are none of ours. */
static bool read_labels(struct str *rest, struct labels *ret)
{
    struct str name, value;
    for (unsigned n = 0; n < LABELS_MAX && rest->n; n++) {
        if (rest->p[0] == '}') {
            *rest = str_slice(*rest, 1, rest->n);
            return ret->ns.n && ret->pod.n && ret->container.n;
        }
        if (!str_cut(*rest, '=', &name, rest) || rest->n == 0 || rest->p[0] != '"' ||
            !str_cut(str_slice(*rest, 1, rest->n), '"', &value, rest) ||
            str_find_char(value, '\\') >= 0)
            return false;
        if (str_is(name, "namespace"))
            ret->ns = value;
        else if (str_is(name, "pod"))
            ret->pod = value;
        else if (str_is(name, "container"))
            ret->container = value;
        if (rest->n && rest->p[0] == ',')
            *rest = str_slice(*rest, 1, rest->n);
    }
    return false;
}

/* "VALUE" or "VALUE TIME". */
static bool read_value(struct str text, int64_t now_ms, __int128 *ret_nano, int64_t *ret_at_ms)
{
    struct str number, time;
    struct quantity q;
    *ret_at_ms = now_ms;
    bool has_time = str_cut(str_trim(text), ' ', &number, &time);
    if (quantity_parse(number, &q, NULL) < 0 || q.nano < 0 ||
        q.nano / 1000000000 > INT64_MAX / 1000)
        return false;
    *ret_nano = q.nano;
    return !has_time || parse_i64(str_trim(time), 1, INT64_MAX / 1000, ret_at_ms) == 0;
}

/* ------------------------------------------------------------------ containers */

static struct usage_container *find(const struct usage_pod *p, struct str name)
{
    list_each (node, &p->containers) {
        struct usage_container *c = list_entry(node, struct usage_container, node);
        if (str_is(name, c->name))
            return c;
    }
    return NULL;
}

static struct usage_pod *pod_of(struct usage_node *u, const struct labels *at)
{
    scoped(free_scoped) char *key =
        xasprintf(STR_FMT "/" STR_FMT, STR_ARG(at->ns), STR_ARG(at->pod));
    struct usage_pod *p = map_get(&u->pods, str_of(key));
    if (p)
        return p;
    p = xnew(struct usage_pod);
    list_init(&p->containers);
    (void)map_put(&u->pods, str_of(key), p);
    return p;
}

/* NULL: there are too many. */
static struct usage_counter *counter_of(struct usage_node *u, const struct labels *at)
{
    struct usage_pod *p = pod_of(u, at);
    struct usage_container *c = find(p, at->container);
    if (!c && u->n_containers < USAGE_CONTAINERS_MAX) {
        c = xalloc(sizeof *c + at->container.n + 1);
        *c = (struct usage_container){ 0 };
        memcpy(c->name, at->container.p, at->container.n);
        c->name[at->container.n] = '\0';
        list_push_back(&p->containers, &c->node);
        u->n_containers++;
    }
    return c ? &c->counter : NULL;
}

static void take_line(struct usage_node *u, struct str line, int64_t now_ms)
{
    for (size_t i = 0; i < ARRAY_LEN(metrics); i++) {
        const struct usage_metric *m = &metrics[i];
        struct labels at = { 0 };
        __int128 nano;
        int64_t at_ms;
        size_t n = strlen(m->name);
        char end = m->of == OF_NODE ? ' ' : '{';
        if (!str_has_prefix(line, str_of(m->name)) || line.n == n || line.p[n] != end)
            continue;
        struct str rest = str_slice(line, n + 1, line.n);
        if ((m->of == OF_CONTAINER && !read_labels(&rest, &at)) ||
            !read_value(rest, now_ms, &nano, &at_ms))
            return;
        struct usage_counter *c = m->of == OF_NODE ? &u->self : counter_of(u, &at);
        if (c)
            m->set(c, nano, at_ms);
        return;
    }
}

/* ------------------------------------------------------------------ the end of a reading */

/* A container that was started lately is compared with its start. */
static struct usage_point start_of(const struct usage_counter *c)
{
    int64_t age_ms = c->taken.at_ms - c->start_ms;
    bool is_new = c->start_ms > 0 && age_ms >= USAGE_WINDOW_MIN_MS && age_ms <= USAGE_WINDOW_MAX_MS;
    return (struct usage_point){ .at_ms = is_new ? c->start_ms : 0 };
}

/*
 * The reading becomes the newest one. Agents that measure now and then give the same point more
 * than once: it stays the newest one.
 */
static void settle(struct usage_counter *c)
{
    const struct usage_point taken = c->taken;
    int64_t since_ms = taken.at_ms - c->now.at_ms;
    bool is_first = c->now.at_ms == 0 || since_ms > USAGE_WINDOW_MAX_MS ||
                    taken.cpu_ns < c->now.cpu_ns || c->start_ms > c->now.at_ms;
    if (taken.at_ms == 0) {
        *c = (struct usage_counter){ 0 };
        return;
    }
    if (is_first || since_ms >= USAGE_WINDOW_MIN_MS) {
        c->before = is_first ? start_of(c) : c->now;
        c->now = taken;
    }
    c->now.memory_bytes = taken.memory_bytes;
    c->taken = (struct usage_point){ 0 };
}

/* false: none of the pod's containers is left. */
static bool settle_pod(struct usage_node *u, struct usage_pod *p)
{
    list_each_safe (node, &p->containers) {
        struct usage_container *c = list_entry(node, struct usage_container, node);
        bool seen = c->counter.taken.at_ms != 0;
        settle(&c->counter);
        if (seen)
            continue;
        list_remove(&c->node);
        free(c);
        u->n_containers--;
    }
    return !list_is_empty(&p->containers);
}

static void settle_pods(struct usage_node *u)
{
    struct map left = { 0 };
    map_each (e, &u->pods) {
        struct usage_pod *p = e->value;
        if (settle_pod(u, p))
            (void)map_put(&left, e->key, p);
        else
            free(p);
    }
    map_fini(&u->pods);
    u->pods = left;
}

void usage_take(struct usage_node *u, struct str text, int64_t now_ms)
{
    for (struct str line; text.n;) {
        (void)str_cut(text, '\n', &line, &text);
        if (line.n && line.p[0] != '#')
            take_line(u, line, now_ms);
    }
    settle(&u->self);
    settle_pods(u);
}

/* ------------------------------------------------------------------ answers */

bool usage_rate_of(const struct usage_counter *c, struct usage_rate *ret)
{
    const struct usage_point *from = &c->before, *to = &c->now;
    if (from->at_ms == 0 || to->memory_bytes == 0)
        return false;
    int64_t window_ms = to->at_ms - from->at_ms;
    assert(window_ms >= USAGE_WINDOW_MIN_MS && to->cpu_ns >= from->cpu_ns);
    *ret = (struct usage_rate){
        .at_ms = to->at_ms,
        .window_ms = window_ms,
        .cpu_nano = (uint64_t)((unsigned __int128)(to->cpu_ns - from->cpu_ns) * 1000 /
                               (unsigned __int128)window_ms),
        .memory_bytes = to->memory_bytes,
    };
    return true;
}

bool usage_is_complete(const struct usage_node *u)
{
    map_each (e, &u->pods) {
        const struct usage_pod *p = e->value;
        list_each (node, &p->containers)
            if (list_entry(node, struct usage_container, node)->counter.before.at_ms == 0)
                return false;
    }
    return u->self.before.at_ms != 0;
}

bool usage_of_node(const struct usage_node *u, struct usage_rate *ret)
{
    return usage_rate_of(&u->self, ret);
}

const struct usage_pod *usage_of_pod(const struct usage_node *u, struct str ns, struct str name)
{
    scoped(free_scoped) char *key = xasprintf(STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
    return map_get(&u->pods, str_of(key));
}

struct usage_node *usage_new(void)
{
    return xnew(struct usage_node);
}

void usage_free(struct usage_node *u)
{
    if (!u)
        return;
    map_each (e, &u->pods) {
        struct usage_pod *p = e->value;
        while (!list_is_empty(&p->containers)) {
            struct list *first = list_pop_front(&p->containers);
            free(list_entry(first, struct usage_container, node));
        }
        free(p);
    }
    map_fini(&u->pods);
    free(u);
}
