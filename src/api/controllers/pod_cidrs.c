/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives each Node its piece of the cluster's range of pod addresses: spec.podCIDRs, as
 * kube-controller-manager with --allocate-node-cidrs, and the ranges themselves, in an annotation.
 * A piece belongs to its Node until the Node is deleted.
 *
 *     idle -> reading all Nodes, page by page -> writing -> idle
 *
 * A round follows each write of a Node that lacks one of them, and, while there was none left, the
 * deletion of a Node. Nothing is kept between rounds but where the search for a free piece goes on,
 * so that a piece is not used again at once: routes to it may still exist.
 */
#include "api/controllers/controllers.h"
#include "api/inner.h"
#include "api/node_cidrs.h"
#include "base/log.h"
#include "base/sm.h"
#include "codec/url.h"

#include <assert.h>

#define NODES_PREFIX "/registry/nodes/"

enum {
    POD_CIDRS_PAGE_ROWS = 64,
    POD_CIDRS_NODES_MAX = 64 /* that get theirs in one round */
};

enum pod_cidrs_at { CIDRS_IDLE, CIDRS_READING, CIDRS_WRITING };

static const struct sm_state cidrs_table[] = {
    [CIDRS_IDLE] = { "idle", EDGE(CIDRS_READING) },
    [CIDRS_READING] = { "reading", EDGE(CIDRS_WRITING) | EDGE(CIDRS_IDLE) },
    [CIDRS_WRITING] = { "writing", EDGE(CIDRS_IDLE) },
};

struct pod_cidrs_node {
    struct str name;
    uint64_t rev;
    bool has_piece;
};

struct pod_cidrs {
    struct api *api;
    struct node_cidrs ranges;
    char text[NODE_CIDRS_RANGES_MAX * NODE_CIDRS_CHARS]; /* of the ranges */
    struct sm sm;
    struct arena arena;                   /* of one round */
    uint8_t *used[NODE_CIDRS_RANGES_MAX]; /* a bit for each piece */
    uint32_t next[NODE_CIDRS_RANGES_MAX]; /* where the search goes on */
    struct pod_cidrs_node waiting[POD_CIDRS_NODES_MAX];
    size_t n_waiting, n_calls;
    struct buf after;
    bool is_dirty, failed; /* a write since the round began; an operation of the round failed */
    bool is_full;          /* Nodes wait for a piece */
    bool was_freed;        /* a Node was deleted since the round began */
    bool is_stopped;
    struct retry retry;
    struct defer turn;
};

static void kick(struct pod_cidrs *c);

/* ------------------------------------------------------------------ reading */

static bool has_piece(const struct json *node)
{
    const struct json *spec = json_getc(node, "spec");
    return json_get_str(spec, "podCIDR").n > 0 || json_first(json_getc(spec, "podCIDRs"));
}

static bool lacks(const struct pod_cidrs *c, const struct json *node)
{
    struct str text =
        json_str(json_path(node, "metadata", "annotations", NODE_CIDRS_ANNOTATION, NULL));
    return !meta_is_deleting(node) && (!has_piece(node) || !str_is(text, c->text));
}

static void mark(struct pod_cidrs *c, struct str cidr)
{
    for (size_t i = 0; i < c->ranges.n; i++) {
        uint32_t first, last;
        if (!node_cidrs_find(&c->ranges.range[i], cidr, &first, &last))
            continue;
        for (uint32_t k = first; k <= last; k++)
            c->used[i][k / 8] |= (uint8_t)(1u << k % 8);
    }
}

static void take_node(struct pod_cidrs *c, const struct store_kv *kv, struct arena *scratch)
{
    struct json *node;
    if (json_parse(scratch, kv->value, NULL, &node, NULL) < 0)
        return;
    mark(c, json_str(json_path(node, "spec", "podCIDR", NULL)));
    json_each (cidr, json_path(node, "spec", "podCIDRs", NULL))
        mark(c, json_str(cidr));
    if (!lacks(c, node))
        return;
    if (c->n_waiting == POD_CIDRS_NODES_MAX) {
        c->is_dirty = true;
        return;
    }
    c->waiting[c->n_waiting++] =
        (struct pod_cidrs_node){ str_copy_arena(&c->arena, meta_name(node)), kv->mod_rev,
                                 has_piece(node) };
}

/* ------------------------------------------------------------------ writing */

static void on_retry(struct timer *t)
{
    struct pod_cidrs *c = container_of(t, struct pod_cidrs, retry.timer);
    c->is_dirty = true;
    kick(c);
}

static void round_end(struct pod_cidrs *c)
{
    assert(c->n_calls == 0);
    sm_move(&c->sm, CIDRS_IDLE);
    c->n_waiting = 0;
    buf_reset(&c->after);
    arena_fini(&c->arena);
    if (!c->failed)
        retry_settle(&c->retry);
    else if (!c->is_stopped)
        retry_arm(c->api->loop, &c->retry, on_retry);
    if (c->is_dirty && !c->is_stopped)
        kick(c);
    api_part_idle(c->api);
}

static void on_patched(void *arg, int r, struct str body)
{
    struct pod_cidrs *c = arg;
    (void)body;
    assert(c->n_calls > 0);
    if (r == 409 || r == 422) /* written meanwhile, maybe by another controller */
        c->is_dirty = true;
    else
        c->failed = c->failed || !(r == 200 || r == 404);
    if (--c->n_calls == 0)
        round_end(c);
}

/* A free piece of range i, marked. false: there is none. */
static bool take_piece(struct pod_cidrs *c, size_t i, char ret[NODE_CIDRS_CHARS])
{
    const struct node_cidr_range *range = &c->ranges.range[i];
    for (uint32_t k = 0; k < range->n_pieces; k++) {
        uint32_t at = (c->next[i] + k) % range->n_pieces;
        if (c->used[i][at / 8] >> at % 8 & 1)
            continue;
        c->used[i][at / 8] |= (uint8_t)(1u << at % 8);
        c->next[i] = (at + 1) % range->n_pieces;
        node_cidrs_piece(range, at, ret);
        return true;
    }
    return false;
}

/* cidrs: NULL if the Node has its piece. */
static void patch(struct pod_cidrs *c, const struct pod_cidrs_node *node, const struct json *cidrs)
{
    struct arena *a = &c->arena;
    struct json *body = json_new_object(a), *meta = json_obj(a, body, "metadata");
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096), path = BUF_INIT(4096);
    meta_set_resource_version(a, body, node->rev);
    json_set_str(a, json_obj(a, meta, "annotations"), NODE_CIDRS_ANNOTATION, str_of(c->text));
    if (cidrs) {
        struct json *spec = json_obj(a, body, "spec");
        json_set_str(a, spec, "podCIDR", json_str(json_first(cidrs)));
        json_setc(a, spec, "podCIDRs", json_clone(a, cidrs));
    }
    (void)json_write(&text, body);
    (void)buf_add_cstr(&path, "/api/v1/nodes/");
    (void)url_encode(&path, node->name);
    const struct inner_request req = { .method = "PATCH",
                                       .target = buf_str(&path),
                                       .content_type = "application/merge-patch+json",
                                       .body = buf_str(&text),
                                       .only_status = true };
    if (inner_call(c->api, &req, on_patched, c) >= 0)
        c->n_calls++;
    else
        c->failed = true;
}

/* false: there is no free piece. */
static bool give(struct pod_cidrs *c, const struct pod_cidrs_node *node)
{
    struct json *cidrs = node->has_piece ? NULL : json_new_array(&c->arena);
    for (size_t i = 0; cidrs && i < c->ranges.n; i++) {
        char text[NODE_CIDRS_CHARS];
        if (!take_piece(c, i, text))
            return false;
        json_add(cidrs, json_new_cstr(&c->arena, text));
    }
    patch(c, node, cidrs);
    return true;
}

static void give_all(struct pod_cidrs *c)
{
    bool was_full = c->is_full;
    sm_move(&c->sm, CIDRS_WRITING);
    c->is_full = false;
    for (size_t i = 0; i < c->n_waiting; i++)
        if (!c->is_full || c->waiting[i].has_piece)
            c->is_full = !give(c, &c->waiting[i]) || c->is_full;
    if (c->is_full && !was_full)
        log_warn("the range of pod addresses is used up; further nodes get none", "pieces=%u",
                 c->ranges.range[0].n_pieces);
    if (c->is_full)
        c->is_dirty = c->was_freed; /* else until a Node is deleted */
    if (c->n_calls == 0)
        round_end(c);
}

/* ------------------------------------------------------------------ a round */

static void read_page(struct pod_cidrs *c);

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct pod_cidrs *c = arg;
    struct arena scratch = { 0 };
    if (r < 0 || c->is_stopped) {
        c->failed = r < 0;
        round_end(c);
        return;
    }
    for (size_t i = 0; i < page->n; i++) {
        arena_reset(&scratch);
        take_node(c, &page->kv[i], &scratch);
    }
    arena_fini(&scratch);
    if (!page->more) {
        give_all(c);
        return;
    }
    buf_reset(&c->after);
    (void)buf_add_str(&c->after, page->kv[page->n - 1].key);
    read_page(c);
}

static void read_page(struct pod_cidrs *c)
{
    const struct store_range range = { .prefix = STR(NODES_PREFIX),
                                       .after = buf_str(&c->after),
                                       .limit = POD_CIDRS_PAGE_ROWS,
                                       .skip_damaged = true };
    if (store_range(c->api->store, &range, on_page, c, NULL) >= 0)
        return;
    c->failed = true;
    round_end(c);
}

static void on_turn(struct defer *d)
{
    struct pod_cidrs *c = container_of(d, struct pod_cidrs, turn);
    if (c->is_stopped) {
        api_part_idle(c->api);
        return;
    }
    if (c->sm.at != CIDRS_IDLE || !c->is_dirty)
        return;
    c->is_dirty = c->failed = c->was_freed = false;
    sm_move(&c->sm, CIDRS_READING);
    for (size_t i = 0; i < c->ranges.n; i++)
        c->used[i] = arena_alloc(&c->arena, c->ranges.range[i].n_pieces / 8 + 1);
    read_page(c);
}

static void kick(struct pod_cidrs *c)
{
    defer_start(c->api->loop, &c->turn, on_turn);
}

/* ------------------------------------------------------------------ lifecycle */

void pod_cidrs_written(struct pod_cidrs *c, const struct written *w)
{
    if (!c || c->is_stopped || w->res->group.n || !str_is(w->res->plural, "nodes"))
        return;
    if (!w->obj)
        c->was_freed = true;
    if (w->obj ? !lacks(c, w->obj) || (c->is_full && !has_piece(w->obj)) : !c->is_full)
        return;
    c->is_dirty = true;
    kick(c);
}

struct pod_cidrs *pod_cidrs_start(struct api *api, const struct node_cidrs *ranges)
{
    if (ranges->n == 0)
        return NULL;
    struct pod_cidrs *c = xnew(struct pod_cidrs);
    *c = (struct pod_cidrs){
        .api = api, .ranges = *ranges, .after = BUF_INIT(STORE_KEY_MAX_BYTES), .is_dirty = true
    };
    node_cidrs_text(ranges, c->text);
    sm_init(&c->sm, cidrs_table, CIDRS_IDLE);
    kick(c);
    return c;
}

void pod_cidrs_stop(struct pod_cidrs *c)
{
    if (!c)
        return;
    c->is_stopped = true;
    timer_stop(c->api->loop, &c->retry.timer);
    kick(c);
}

bool pod_cidrs_is_busy(const struct pod_cidrs *c)
{
    return c && c->sm.at != CIDRS_IDLE;
}

void pod_cidrs_free(struct pod_cidrs *c)
{
    if (!c)
        return;
    assert(!pod_cidrs_is_busy(c));
    defer_cancel(&c->turn);
    buf_fini(&c->after);
    arena_fini(&c->arena);
    free(c);
}
