/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ClusterRole with an aggregationRule has the rules of all ClusterRoles that its selectors match.
 * After any change of a ClusterRole, and at start, one round compares them all:
 *
 *     idle -> finding -> gathering -> writing -> idle
 *
 *     finding     read all roles for those with an aggregationRule
 *     gathering   read all again for their rules; not if none was found
 *     writing     patch the roles whose rules differ
 *
 * Only the collected rules are kept, and only during a round.
 */
#include "api/controllers/controllers.h"
#include "api/controllers/retry.h"
#include "api/inner.h"
#include "base/log.h"
#include "base/sm.h"
#include "codec/url.h"
#include "kube/model/selector.h"

#include <assert.h>
#include <errno.h>

enum {
    AGGREGATE_PAGE_ROWS = 64,
    AGGREGATE_MAX_ROLES = 256,     /* with an aggregationRule */
    AGGREGATE_MAX_BYTES = 32 << 20 /* of rules in one round */
};

#define ROLES_PREFIX "/registry/rbac.authorization.k8s.io/clusterroles/"
#define ROLES_PATH   "/apis/rbac.authorization.k8s.io/v1/clusterroles/"

/* The rules of the roles that one selector of one role matches, in the order of names. */
struct aggregate_source {
    struct selector selector;
    struct json *rules;
};

struct aggregate_target {
    struct str name, uid;
    uint64_t rev;
    const struct json *rules; /* the stored rules */
    struct aggregate_source *sources;
    size_t n_sources;
};

enum aggregate_at { AGGREGATE_IDLE, AGGREGATE_FINDING, AGGREGATE_GATHERING, AGGREGATE_WRITING };

static const struct sm_state aggregate_table[] = {
    [AGGREGATE_IDLE] = { "idle", EDGE(AGGREGATE_FINDING) },
    [AGGREGATE_FINDING] = { "finding", EDGE(AGGREGATE_GATHERING) | EDGE(AGGREGATE_WRITING) |
                                           EDGE(AGGREGATE_IDLE) },
    [AGGREGATE_GATHERING] = { "gathering", EDGE(AGGREGATE_WRITING) | EDGE(AGGREGATE_IDLE) },
    [AGGREGATE_WRITING] = { "writing", EDGE(AGGREGATE_IDLE) },
};

struct aggregate {
    struct api *api;
    struct sm sm;
    struct arena arena; /* of one round */
    struct aggregate_target *targets[AGGREGATE_MAX_ROLES];
    size_t n_targets;
    struct buf after;
    bool dirty;     /* a role has changed since the round began */
    bool failed;    /* in this round */
    bool too_large; /* the cause of the failure; a retry would not help */
    bool stopped;
    size_t n_calls;
    struct retry retry;
    struct defer turn;
    controller_ready_cb ready; /* NULL once it was called */
    void *ready_arg;
};

static void kick(struct aggregate *g);

/* ---- the two reads ---- */

static void find_target(struct aggregate *g, const struct store_kv *kv)
{
    struct arena *a = &g->arena;
    struct json *role;
    if (str_find(kv->value, STR("\"aggregationRule\"")) < 0 ||
        json_parse(a, str_copy_arena(a, kv->value), NULL, &role, NULL) < 0)
        return;
    const struct json *selectors = json_path(role, "aggregationRule", "clusterRoleSelectors", NULL);
    if (!json_getc(role, "aggregationRule") || meta_is_deleting(role) ||
        g->n_targets == AGGREGATE_MAX_ROLES)
        return;
    struct aggregate_target *t = arena_new(a, struct aggregate_target);
    *t = (struct aggregate_target){ .name = meta_name(role),
                                    .uid = meta_uid(role),
                                    .rev = kv->mod_rev,
                                    .rules = json_getc(role, "rules"),
                                    .sources = arena_new_n(a, struct aggregate_source,
                                                           (selectors ? selectors->n : 0) + 1) };
    json_each (s, selectors) {
        struct aggregate_source *source = &t->sources[t->n_sources];
        if (selector_from_object(a, s, &source->selector, NULL) < 0)
            continue;
        source->rules = json_new_array(a);
        t->n_sources++;
    }
    g->targets[g->n_targets++] = t;
}

static bool has_rule(const struct json *rules, const struct json *rule)
{
    json_each (r, rules) {
        if (json_equal(r, rule))
            return true;
    }
    return false;
}

static void add_rules(struct aggregate *g, struct json *to, const struct json *rules)
{
    json_each (rule, rules) {
        if (g->arena.total_bytes > AGGREGATE_MAX_BYTES)
            g->failed = g->too_large = true;
        else if (!has_rule(to, rule))
            json_add(to, json_clone(&g->arena, rule));
    }
}

static void gather(struct aggregate *g, struct arena *scratch, const struct store_kv *kv)
{
    struct json *role;
    arena_reset(scratch);
    if (json_parse(scratch, kv->value, NULL, &role, NULL) < 0)
        return;
    const struct json *labels = json_path(role, "metadata", "labels", NULL);
    for (size_t i = 0; i < g->n_targets; i++) {
        struct aggregate_target *t = g->targets[i];
        if (str_eq(meta_name(role), t->name))
            continue;
        for (size_t k = 0; k < t->n_sources; k++)
            if (selector_matches_labels(&t->sources[k].selector, labels))
                add_rules(g, t->sources[k].rules, json_getc(role, "rules"));
    }
}

/* ---- writes ---- */

static void round_end(struct aggregate *g);

static void on_patched(void *arg, int r, struct str body)
{
    struct aggregate *g = arg;
    (void)body;
    assert(g->sm.at == AGGREGATE_WRITING && g->n_calls > 0);
    if (r == 409)
        g->dirty = true;
    else
        g->failed = g->failed || !(r == 200 || r == 404);
    if (--g->n_calls == 0)
        round_end(g);
}

static void write_target(struct aggregate *g, const struct aggregate_target *t)
{
    struct arena *a = &g->arena;
    struct json *rules = json_new_array(a), *patch = json_new_object(a);
    for (size_t i = 0; i < t->n_sources; i++)
        add_rules(g, rules, t->sources[i].rules);
    if (g->failed) /* do not write an incomplete list */
        return;
    bool same = rules->n == 0 ? !json_first(t->rules) : t->rules && json_equal(rules, t->rules);
    if (same)
        return;
    struct json *meta = json_obj(a, patch, "metadata");
    json_set_str(a, meta, "uid", t->uid);
    meta_set_resource_version(a, patch, t->rev);
    json_setc(a, patch, "rules", rules);
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(API_BODY_MAX_BYTES), path = BUF_INIT(4096);
    (void)json_write(&body, patch);
    (void)buf_add_cstr(&path, ROLES_PATH);
    (void)url_encode(&path, t->name);
    const struct inner_request req = { .method = "PATCH",
                                       .target = buf_str(&path),
                                       .content_type = "application/merge-patch+json",
                                       .body = buf_str(&body) };
    if (inner_call(g->api, &req, on_patched, g) >= 0)
        g->n_calls++;
    else
        g->failed = true;
}

/* ---- a round ---- */

static void on_retry(struct timer *t)
{
    struct aggregate *g = container_of(t, struct aggregate, retry.timer);
    g->dirty = true;
    kick(g);
}

static void tell_ready(struct aggregate *g, int r)
{
    controller_ready_cb ready = g->ready;
    g->ready = NULL;
    if (ready)
        ready(g->ready_arg, r, NULL);
}

static void round_end(struct aggregate *g)
{
    assert(g->n_calls == 0);
    sm_move(&g->sm, AGGREGATE_IDLE);
    g->n_targets = 0;
    arena_fini(&g->arena);
    if (!g->failed)
        retry_settle(&g->retry);
    else if (!g->stopped && !g->too_large)
        retry_arm(g->api->loop, &g->retry, on_retry);
    if (g->dirty && !g->stopped)
        kick(g);
    else
        tell_ready(g, g->stopped ? -ECANCELED : 0);
    api_part_idle(g->api);
}

static void read_page(struct aggregate *g);

/* All roles were read. */
static void reading_end(struct aggregate *g)
{
    buf_reset(&g->after);
    if (g->sm.at == AGGREGATE_FINDING && g->n_targets > 0) {
        sm_move(&g->sm, AGGREGATE_GATHERING);
        read_page(g);
        return;
    }
    sm_move(&g->sm, AGGREGATE_WRITING);
    for (size_t i = 0; i < g->n_targets; i++)
        write_target(g, g->targets[i]);
    if (g->n_calls == 0)
        round_end(g);
}

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct aggregate *g = arg;
    struct arena scratch = { 0 };
    assert(g->sm.at == AGGREGATE_FINDING || g->sm.at == AGGREGATE_GATHERING);
    if (r < 0 || g->stopped) {
        if (r < 0 && !g->stopped)
            log_warn("cannot aggregate ClusterRoles", "error=\"%s\"", err_text(err));
        g->failed = r < 0;
        round_end(g);
        return;
    }
    for (size_t i = 0; i < page->n; i++) {
        if (g->sm.at == AGGREGATE_GATHERING)
            gather(g, &scratch, &page->kv[i]);
        else
            find_target(g, &page->kv[i]);
    }
    arena_fini(&scratch);
    if (!page->more) {
        reading_end(g);
        return;
    }
    buf_reset(&g->after);
    (void)buf_add_str(&g->after, page->kv[page->n - 1].key);
    read_page(g);
}

static void read_page(struct aggregate *g)
{
    const struct store_range range = { .prefix = STR(ROLES_PREFIX),
                                       .after = buf_str(&g->after),
                                       .limit = AGGREGATE_PAGE_ROWS,
                                       .skip_damaged = true };
    if (store_range(g->api->store, &range, on_page, g, NULL) >= 0)
        return;
    g->failed = true;
    round_end(g);
}

static void on_turn(struct defer *d)
{
    struct aggregate *g = container_of(d, struct aggregate, turn);
    if (g->stopped) {
        tell_ready(g, -ECANCELED);
        api_part_idle(g->api);
        return;
    }
    if (g->sm.at != AGGREGATE_IDLE || !g->dirty)
        return;
    assert(g->n_targets == 0 && g->n_calls == 0);
    sm_move(&g->sm, AGGREGATE_FINDING);
    g->dirty = g->failed = g->too_large = false;
    buf_reset(&g->after);
    read_page(g);
}

static void kick(struct aggregate *g)
{
    defer_start(g->api->loop, &g->turn, on_turn);
}

/* ---- lifecycle ---- */

void aggregate_written(struct aggregate *g, const struct written *w)
{
    if (!g || g->stopped || !str_is(w->res->plural, "clusterroles") ||
        !str_is(w->res->group, "rbac.authorization.k8s.io"))
        return;
    g->dirty = true;
    kick(g);
}

struct aggregate *aggregate_start(struct api *api, controller_ready_cb ready, void *arg)
{
    struct aggregate *g = xnew(struct aggregate);
    *g = (struct aggregate){ .api = api,
                             .after = BUF_INIT(STORE_KEY_MAX_BYTES),
                             .dirty = true,
                             .ready = ready,
                             .ready_arg = arg };
    sm_init(&g->sm, aggregate_table, AGGREGATE_IDLE);
    kick(g);
    return g;
}

void aggregate_stop(struct aggregate *g)
{
    if (!g)
        return;
    g->stopped = true;
    timer_stop(g->api->loop, &g->retry.timer);
    kick(g);
}

bool aggregate_is_busy(const struct aggregate *g)
{
    return g && (g->sm.at != AGGREGATE_IDLE || g->ready || (g->dirty && !g->stopped));
}

void aggregate_free(struct aggregate *g)
{
    if (!g)
        return;
    assert(!aggregate_is_busy(g));
    defer_cancel(&g->turn);
    buf_fini(&g->after);
    arena_fini(&g->arena);
    free(g);
}
