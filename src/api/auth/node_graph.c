/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines whether an object concerns a node; see node_graph.h. A state is what is being read:
 *
 *     ENTRIES                           references of pods in the object's namespace
 *     ENTRIES -> CLAIMS -> CLAIM <-> CLAIM_VOLUME      a Secret, if no pod refers to it
 *     POD, OWNED                        one entry; an object that names its node itself
 *     VOLUME -> ENTRIES                 a volume: its claim leads to the pods
 */
#include "api/auth/node_graph.h"

#include "api/placed.h"

enum { STEPS_PER_READ = 256 }; /* steps of the CPU budget for one read, or one row of a page */

enum { AT_ENTRIES, AT_CLAIMS, AT_CLAIM, AT_CLAIM_VOLUME, AT_POD, AT_OWNED, AT_VOLUME };

struct node_claim {
    struct str ns, name;
};

static const char references[] = { [NODE_SECRET] = POD_SECRET,
                                   [NODE_CONFIG_MAP] = POD_CONFIG_MAP,
                                   [NODE_ACCOUNT] = POD_ACCOUNT,
                                   [NODE_RESOURCE_CLAIM] = POD_RESOURCE_CLAIM,
                                   [NODE_CLAIM] = POD_CLAIM };

static void end(struct node_lookup *l, bool related)
{
    l->related = related;
    l->done(l);
}

static void fail(struct node_lookup *l, int r, const struct err *err)
{
    l->r = r;
    if (err)
        l->err = *err;
    end(l, false);
}

static void on_object(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err);
static void on_entries(void *arg, int r, const struct store_page *page, const struct err *err);

static int read_key(struct node_lookup *l, struct str key)
{
    return store_get(l->api->store, key, 0, on_object, l, &l->err);
}

static int read_object(struct node_lookup *l, const char *group, const char *plural, struct str ns,
                       struct str name)
{
    const struct kube_resource *res =
        kube_registry_find(&l->api->reg, str_of(group), STR("v1"), str_of(plural));
    return read_key(l, key_object(l->a, res, ns, name));
}

static int read_entries(struct node_lookup *l)
{
    const struct store_range range = { .prefix = l->prefix, .after = l->after };
    return store_range(l->api->store, &range, on_entries, l, &l->err);
}

static int begin_entries(struct node_lookup *l, uint8_t at, struct str ns)
{
    l->at = at;
    l->after = STR("");
    l->prefix = placed_prefix(l->a, l->ask.node, ns);
    return read_entries(l);
}

static void started(struct node_lookup *l, int r)
{
    if (r < 0)
        fail(l, r, NULL);
}

/* ------------------------------------------------------------------ Secrets of volumes */

static void read_next_claim(struct node_lookup *l)
{
    if (l->next_claim == l->n_claims) {
        end(l, false);
        return;
    }
    const struct node_claim *c = &l->claims[l->next_claim++];
    l->at = AT_CLAIM;
    started(l, read_object(l, "", "persistentvolumeclaims", c->ns, c->name));
}

struct node_graph_collecting {
    struct node_lookup *lookup;
    struct str ns;
};

static void collect_claim(void *arg, enum pod_reference what, struct str name)
{
    struct node_graph_collecting *c = arg;
    struct node_lookup *l = c->lookup;
    if (what != POD_CLAIM || l->n_claims == NODE_CLAIMS_MAX)
        return;
    if (!l->claims)
        l->claims = arena_new_n(l->a, struct node_claim, NODE_CLAIMS_MAX);
    l->claims[l->n_claims++] =
        (struct node_claim){ str_copy_arena(l->a, c->ns), str_copy_arena(l->a, name) };
}

struct node_graph_sought {
    const struct node_rules_question *ask;
    bool found;
};

static void compare_secret(void *arg, struct str ns, struct str name)
{
    struct node_graph_sought *s = arg;
    s->found = s->found || (str_eq(ns, s->ask->ns) && str_eq(name, s->ask->name));
}

static bool is_bound_to(const struct json *volume, const struct node_claim *claim)
{
    const struct json *ref = json_path(volume, "spec", "claimRef", NULL);
    return str_eq(json_get_str(ref, "namespace"), claim->ns) &&
           str_eq(json_get_str(ref, "name"), claim->name);
}

/* Whether the volume is bound to the current claim of the node's pods and uses the Secret. */
static bool holds_secret(const struct node_lookup *l, const struct json *volume)
{
    struct node_graph_sought s = { .ask = &l->ask };
    if (is_bound_to(volume, &l->claims[l->next_claim - 1]))
        kind_volume_secrets(volume, compare_secret, &s);
    return s.found;
}

/* ------------------------------------------------------------------ results of reads */

/* A node may have many claims, and each may be large: reads count against the request's budget. */
static bool spend(struct node_lookup *l, size_t n_rows, size_t n_bytes)
{
    if (arena_spend(l->a, n_rows * STEPS_PER_READ + n_bytes, "looking for what concerns the node"))
        return true;
    (void)err_set(&l->err, E_LIMIT, "looking for what concerns the node takes too much time");
    fail(l, E_LIMIT, NULL);
    return false;
}

/* obj: NULL if absent. */
static void take_object(struct node_lookup *l, const struct json *obj)
{
    const struct json *claim;
    struct str volume;
    switch (l->at) {
    case AT_OWNED:
        end(l, str_eq(json_str(json_path(obj, "spec", "nodeName", NULL)), l->ask.node));
        return;
    case AT_VOLUME:
        claim = json_path(obj, "spec", "claimRef", NULL);
        l->claim_ns = str_copy_arena(l->a, json_get_str(claim, "namespace"));
        l->claim_name = str_copy_arena(l->a, json_get_str(claim, "name"));
        if (l->claim_ns.n == 0 || l->claim_name.n == 0)
            end(l, false);
        else
            started(l, begin_entries(l, AT_ENTRIES, l->claim_ns));
        return;
    case AT_CLAIM:
        volume = json_str(json_path(obj, "spec", "volumeName", NULL));
        if (volume.n == 0) {
            read_next_claim(l);
            return;
        }
        l->at = AT_CLAIM_VOLUME;
        started(l, read_object(l, "", "persistentvolumes", STR(""), volume));
        return;
    case AT_CLAIM_VOLUME:
        if (holds_secret(l, obj))
            end(l, true);
        else
            read_next_claim(l);
        return;
    default:
        end(l, false);
        return;
    }
}

static void on_object(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    struct node_lookup *l = arg;
    struct arena a = { 0 };
    struct json *obj = NULL;
    (void)rev;
    if (r < 0) {
        fail(l, r, err);
        return;
    }
    if (l->at == AT_POD) {
        end(l, kv);
        return;
    }
    if (!spend(l, 1, kv ? kv->value.n : 0))
        return;
    if (kv && json_parse(&a, kv->value, NULL, &obj, NULL) < 0)
        obj = NULL;
    take_object(l, obj); /* l may be freed */
    arena_fini(&a);
}

/* Whether a pod of the page refers to the object. */
static bool is_referred_to(const struct node_lookup *l, const struct store_page *page)
{
    bool by_claim = l->ask.what == NODE_VOLUME;
    enum pod_reference what = by_claim ? POD_CLAIM : (enum pod_reference)references[l->ask.what];
    for (size_t i = 0; i < page->n; i++)
        if (placed_refers(page->kv[i].value, what, by_claim ? l->claim_name : l->ask.name))
            return true;
    return false;
}

static void on_entries(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct node_lookup *l = arg;
    if (r < 0) {
        fail(l, r, err);
        return;
    }
    size_t n_bytes = 0;
    for (size_t i = 0; i < page->n; i++)
        n_bytes += page->kv[i].value.n;
    if (!spend(l, page->n + 1, n_bytes))
        return;
    if (l->at == AT_ENTRIES && is_referred_to(l, page)) {
        end(l, true);
        return;
    }
    for (size_t i = 0; l->at == AT_CLAIMS && i < page->n; i++) {
        struct node_graph_collecting c = { l, placed_namespace(page->kv[i].key, l->ask.node) };
        placed_each(page->kv[i].value, collect_claim, &c);
    }
    if (page->more) {
        l->after = str_copy_arena(l->a, page->kv[page->n - 1].key);
        started(l, read_entries(l));
    } else if (l->at == AT_CLAIMS) {
        read_next_claim(l);
    } else if (l->ask.what == NODE_SECRET) {
        started(l, begin_entries(l, AT_CLAIMS, STR("")));
    } else {
        end(l, false);
    }
}

bool node_may_relate(const struct node_rules_question *q)
{
    bool of_cluster = q->what == NODE_VOLUME || q->what == NODE_ATTACHMENT || q->what == NODE_SLICE;
    return placed_is_node(q->node) && str_find_char(q->name, '/') < 0 &&
           str_find_char(q->ns, '/') < 0 && (of_cluster || q->ns.n > 0);
}

int node_look_up(struct node_lookup *l)
{
    const struct node_rules_question *q = &l->ask;
    int r = 0;
    l->related = false;
    l->r = 0;
    switch (q->what) {
    case NODE_POD:
        l->at = AT_POD;
        r = read_key(l, str_of(arena_printf(l->a, STR_FMT STR_FMT,
                                            STR_ARG(placed_prefix(l->a, q->node, q->ns)),
                                            STR_ARG(q->name))));
        break;
    case NODE_SECRET:
    case NODE_CONFIG_MAP:
    case NODE_ACCOUNT:
    case NODE_RESOURCE_CLAIM:
    case NODE_CLAIM:
        r = begin_entries(l, AT_ENTRIES, q->ns);
        break;
    case NODE_VOLUME:
        l->at = AT_VOLUME;
        r = read_object(l, "", "persistentvolumes", STR(""), q->name);
        break;
    case NODE_ATTACHMENT:
        l->at = AT_OWNED;
        r = read_object(l, "storage.k8s.io", "volumeattachments", STR(""), q->name);
        break;
    case NODE_SLICE:
        l->at = AT_OWNED;
        r = read_object(l, "resource.k8s.io", "resourceslices", STR(""), q->name);
        break;
    }
    return r;
}
