/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.k8s.io; see usage_serve.h.
 *
 *     Nodes or Pods of the store, page by page -> agents of their nodes -> answer
 *
 * The selectors are those of the Nodes or Pods, whose labels the answer has. Pods that were not
 * measured yet, or not all of whose containers were, are left out; a get of one is 404.
 */
#include "api/usage/usage_serve.h"

#include "api/filter.h"
#include "api/negotiate.h"
#include "api/part.h"
#include "api/usage/usage_reader.h"
#include "base/clock.h"
#include "kube/model/duration.h"
#include "kube/model/quantity.h"

struct usage_object { /* a Node or Pod that the request is about */
    struct usage_object *next;
    struct str ns, name, node;
    const struct json *labels;
};

struct usage_list {
    struct request *rq;
    const struct kube_resource *core; /* nodes or pods */
    struct filter filter;
    struct str prefix, after;
    struct usage_object *first, **last;
    struct str *nodes; /* without duplicates */
    size_t n_nodes, cap_nodes;
    struct map seen; /* of `nodes` */
};

/* ------------------------------------------------------------------ one answer */

static bool is_pods(const struct usage_list *l)
{
    return l->core->namespaced;
}

static struct json *usage_json(struct arena *a, const struct usage_rate *rate)
{
    const struct quantity cpu = { .nano = rate->cpu_nano, .format = QUANTITY_DECIMAL_SI };
    const struct quantity memory = { .nano = (__int128)rate->memory_bytes * 1000000000,
                                     .format = QUANTITY_BINARY_SI };
    struct json *usage = json_new_object(a);
    json_set_str(a, usage, "cpu", quantity_text(a, cpu));
    json_set_str(a, usage, "memory", quantity_text(a, memory));
    return usage;
}

static void set_window(struct arena *a, struct json *to, const struct usage_rate *rate)
{
    scoped(buf_fini_scoped) struct buf window = BUF_INIT(64);
    char at[RFC3339_MAX];
    rfc3339_format(rate->at_ms / 1000, at);
    duration_print(&window, rate->window_ms * 1000000);
    json_set_str(a, to, "timestamp", str_of(at));
    json_set_str(a, to, "window", buf_str(&window));
}

/* The time of a pod is that of the container that was measured first. false: not all were. */
static bool add_containers(struct arena *a, const struct usage_pod *p, struct json *to)
{
    struct usage_rate first = { .at_ms = INT64_MAX };
    struct json *list = json_new_array(a);
    if (!p)
        return false;
    list_each (node, &p->containers) {
        const struct usage_container *c = list_entry(node, struct usage_container, node);
        struct json *item = json_new_object(a);
        struct usage_rate rate;
        if (!usage_rate_of(&c->counter, &rate))
            return false;
        json_set_str(a, item, "name", str_of(c->name));
        json_setc(a, item, "usage", usage_json(a, &rate));
        json_add(list, item);
        if (rate.at_ms < first.at_ms)
            first = rate;
    }
    set_window(a, to, &first);
    json_setc(a, to, "containers", list);
    return true;
}

/* As it would be stored (encode.h). false: it was not measured. */
static bool write_object(const struct usage_list *l, const struct usage_object *o, struct arena *a,
                         struct buf *to)
{
    const struct usage_node *u = usage_reader_get(l->rq->api->usage, o->node);
    struct json *v = json_new_object(a), *meta;
    struct usage_rate rate;
    char now[RFC3339_MAX];
    if (!u)
        return false;
    rfc3339_format(clock_wall_ms() / 1000, now);
    json_set_str(a, v, "apiVersion", kube_api_version(a, l->rq->res));
    json_set_str(a, v, "kind", l->rq->res->kind);
    meta = json_obj(a, v, "metadata");
    json_set_str(a, meta, "name", o->name);
    if (o->ns.n)
        json_set_str(a, meta, "namespace", o->ns);
    json_set_str(a, meta, "creationTimestamp", str_of(now));
    if (o->labels)
        json_setc(a, meta, "labels", json_clone(a, o->labels));
    if (is_pods(l) && !add_containers(a, usage_of_pod(u, o->ns, o->name), v))
        return false;
    if (!is_pods(l)) {
        if (!usage_of_node(u, &rate))
            return false;
        set_window(a, v, &rate);
        json_setc(a, v, "usage", usage_json(a, &rate));
    }
    return json_write(to, v) >= 0;
}

/* ------------------------------------------------------------------ the whole answer */

static void reply_encoded(struct request *rq, int r, const struct buf *out, const struct err *err)
{
    if (budget_is_over(&rq->budget))
        reply_status(rq, status_too_much_work(&rq->arena));
    else if (r < 0)
        reply_err(rq, r, err);
    else
        reply_bytes(rq, 200, negotiate_content_type(&rq->rep, false), buf_str(out));
}

/* As metrics-server: of a Pod that exists, the name has its namespace. */
static struct json *not_measured(const struct usage_list *l)
{
    struct arena *a = &l->rq->arena;
    const struct route *rt = &l->rq->route;
    struct str name =
        is_pods(l)
            ? str_of(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(rt->ns), STR_ARG(rt->name)))
            : rt->name;
    return l->first ? status_not_found(a, l->rq->res->group, l->core->plural, name)
                    : status_not_found(a, STR(""), l->core->plural, rt->name);
}

static void reply_one(struct usage_list *l)
{
    struct request *rq = l->rq;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT),
                                       out = BUF_INIT(BUF_MAX_DEFAULT);
    struct err err = { 0 };
    if (!l->first || !write_object(l, l->first, &rq->arena, &text)) {
        reply_status(rq, not_measured(l));
        return;
    }
    const struct encode_stored st = { .value = buf_str(&text), .is_current = true };
    int r = encode_object(&rq->arena, rq->res, &rq->rep, st, clock_wall_ms() / 1000, &out, &err);
    reply_encoded(rq, r, &out, &err);
}

static int encode_items(struct usage_list *l, struct arena *scratch, struct buf *to,
                        struct err *err)
{
    struct request *rq = l->rq;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    struct proto_transcoder t = PROTO_TRANSCODER_INIT;
    int64_t now_s = clock_wall_ms() / 1000;
    bool is_first = true;
    int r = 0;
    for (const struct usage_object *o = l->first; o && r >= 0; o = o->next) {
        buf_reset(&text);
        arena_reset(scratch);
        if (budget_is_over(&rq->budget) || !write_object(l, o, scratch, &text))
            continue;
        const struct encode_stored st = { .value = buf_str(&text), .is_current = true };
        r = encode_list_item(scratch, &t, rq->res, &rq->rep, st, now_s, is_first, to, err);
        is_first = false;
    }
    proto_transcoder_fini(&t);
    return r < 0 ? r : to->failed;
}

static void reply_list(struct usage_list *l)
{
    struct request *rq = l->rq;
    struct arena scratch = { .max_bytes = API_ARENA_MAX_BYTES, .budget = &rq->budget };
    scoped(buf_fini_scoped) struct buf items = BUF_INIT(BUF_MAX_DEFAULT),
                                       out = BUF_INIT(BUF_MAX_DEFAULT);
    const struct list_meta meta = { 0 };
    struct err err = { 0 };
    int r = encode_items(l, &scratch, &items, &err);
    arena_reset(&scratch);
    if (r >= 0)
        r = encode_list(&scratch, rq->res, &rq->rep, &meta, buf_str(&items), &out);
    arena_fini(&scratch);
    reply_encoded(rq, r, &out, &err);
}

static void on_measured(void *arg)
{
    struct usage_list *l = arg;
    if (request_idle(l->rq))
        return;
    if (l->rq->route.verb == KUBE_GET)
        reply_one(l);
    else
        reply_list(l);
}

/* ------------------------------------------------------------------ the objects */

static void add_node(struct usage_list *l, struct str node)
{
    struct arena *a = &l->rq->arena;
    if (map_has(&l->seen, node))
        return;
    if (l->n_nodes == l->cap_nodes) {
        struct str *more = arena_new_n(a, struct str, l->cap_nodes * 2 + 16);
        if (l->n_nodes)
            memcpy(more, l->nodes, l->n_nodes * sizeof *more);
        l->nodes = more;
        l->cap_nodes = l->cap_nodes * 2 + 16;
    }
    l->nodes[l->n_nodes++] = node;
    (void)map_put(&l->seen, node, l);
}

static bool is_finished(const struct json *pod)
{
    struct str phase = json_str(json_path(pod, "status", "phase", NULL));
    return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

static void add_object(struct usage_list *l, const struct json *obj)
{
    struct arena *a = &l->rq->arena;
    struct str name = meta_name(obj);
    struct str node = is_pods(l) ? json_str(json_path(obj, "spec", "nodeName", NULL)) : name;
    const struct json *labels = json_path(obj, "metadata", "labels", NULL);
    if (l->rq->route.verb == KUBE_LIST && (node.n == 0 || is_finished(obj)))
        return;
    struct usage_object *o = arena_new(a, struct usage_object);
    *o = (struct usage_object){ .ns = str_copy_arena(a, meta_namespace(obj)),
                                .name = str_copy_arena(a, name),
                                .node = str_copy_arena(a, node),
                                .labels = labels ? json_clone(a, labels) : NULL };
    *l->last = o;
    l->last = &o->next;
    if (o->node.n)
        add_node(l, o->node);
}

static void add_page(struct usage_list *l, const struct store_page *page)
{
    struct request *rq = l->rq;
    struct arena scratch = { .max_bytes = API_ARENA_MAX_BYTES, .budget = &rq->budget };
    request_allow_page(rq, page);
    for (size_t i = 0; i < page->n && !budget_is_over(&rq->budget); i++) {
        struct json *obj;
        arena_reset(&scratch);
        if (filter_matches_key(&l->filter, page->kv[i].key) &&
            encode_read_stored(&scratch, l->core, filter_stored(rq->api, l->core, &page->kv[i]),
                               &obj, NULL) >= 0 &&
            filter_matches_object(&l->filter, &scratch, obj))
            add_object(l, obj);
    }
    arena_fini(&scratch);
}

static void read_page(struct usage_list *l);

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct usage_list *l = arg;
    struct request *rq = l->rq;
    if (request_idle(rq))
        return;
    if (r < 0) {
        reply_store_err(rq, r, 0, err);
        return;
    }
    add_page(l, page);
    if (budget_is_over(&rq->budget)) {
        reply_status(rq, status_too_much_work(&rq->arena));
        return;
    }
    if (page->more) {
        l->after = str_copy_arena(&rq->arena, page->kv[page->n - 1].key);
        read_page(l);
        return;
    }
    request_busy(rq);
    usage_reader_ask(rq->api->usage, l->nodes, l->n_nodes, on_measured, l);
}

static void read_page(struct usage_list *l)
{
    struct request *rq = l->rq;
    const struct store_range range = { .prefix = l->prefix,
                                       .after = l->after,
                                       .skip_damaged = true };
    struct err err = { 0 };
    request_busy(rq);
    int r = store_range(rq->api->store, &range, on_page, l, &err);
    if (r < 0 && !request_idle(rq))
        reply_store_err(rq, r, 0, &err);
}

/* ------------------------------------------------------------------ start */

static void on_gone(struct request *rq)
{
    struct usage_list *l = rq->work;
    map_fini(&l->seen);
}

/* Path and query select core objects, whose resource the request has for this moment. */
static struct json *parse_filter(struct usage_list *l)
{
    struct request *rq = l->rq;
    const struct kube_resource *own = rq->res;
    rq->res = l->core;
    struct json *no = filter_parse(rq, &l->filter);
    rq->res = own;
    return no;
}

void usage_serve(struct request *rq)
{
    struct usage_list *l = arena_new(&rq->arena, struct usage_list);
    *l = (struct usage_list){
        .rq = rq, .core = kube_registry_find(&rq->api->reg, STR(""), STR("v1"), rq->res->plural)
    };
    l->last = &l->first;
    rq->work = l;
    rq->on_gone = on_gone;
    const struct json *no = parse_filter(l);
    if (no) {
        reply_status(rq, no);
        return;
    }
    bool is_one = l->filter.name.n && (l->filter.ns.n || !l->core->namespaced);
    l->prefix = is_one ? key_object(&rq->arena, l->core, l->filter.ns, l->filter.name)
                       : key_prefix_ns(&rq->arena, l->core, l->filter.ns);
    read_page(l);
}

/* ------------------------------------------------------------------ the part */

static void part_stop(void *self)
{
    struct api *api = self;
    usage_reader_stop(api->usage);
}

static void part_free(void *self)
{
    struct api *api = self;
    usage_reader_free(take_ptr(&api->usage));
}

static bool part_is_busy(const void *self)
{
    const struct api *api = self;
    return usage_reader_is_busy(api->usage);
}

static const struct api_part_ops part = {
    .name = "usage", .stop = part_stop, .free = part_free, .is_busy = part_is_busy
};

void usage_add_part(struct api *api)
{
    api->usage = usage_reader_new(api);
    api_add_part(api, &part, api);
}
