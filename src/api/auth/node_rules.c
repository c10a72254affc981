/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for nodes; see node_rules.h. */
#include "api/auth/node_rules.h"

#include "base/buf.h"
#include "kube/model/field.h"
#include "kube/model/selector.h"

#define LEASES_IN "kube-node-lease"

struct node_rules_query {
    struct str node;
    struct rbac_rules fixed;
    const struct api_attributes *at;
    struct node_rules_question *ask;
    struct buf *reason;
};

void node_unrelated_text(struct buf *to, struct str node)
{
    (void)buf_printf(to, "no relationship found between node '" STR_FMT "' and this object",
                     STR_ARG(node));
}

static enum node_answer silent(const struct node_rules_query *q, const char *why)
{
    if (q->reason)
        (void)buf_add_cstr(q->reason, why);
    return NODE_SILENT;
}

static bool has_verb(const struct node_rules_query *q, const char *verbs)
{
    struct str left = str_of(verbs), one;
    while (left.n) {
        (void)str_cut(left, ' ', &one, &left);
        if (str_eq(one, q->at->verb))
            return true;
    }
    return false;
}

static enum node_answer relate(struct node_rules_query *q, enum node_thing what)
{
    if (q->at->name.n == 0)
        return silent(q, "No Object name found");
    *q->ask = (struct node_rules_question){
        .node = q->node, .what = what, .ns = q->at->ns, .name = q->at->name
    };
    return NODE_ASKS;
}

/* Whether a field selector restricts a list to this node. */
static bool selects_node(const struct node_rules_query *q, const char *field)
{
    struct arena a = { 0 };
    struct selector s;
    bool yes = false;
    if (q->at->field_selector.n && selector_parse_fields(&a, q->at->field_selector, &s, NULL) >= 0)
        for (size_t i = 0; i < s.n; i++) {
            const struct selector_req *r = &s.reqs[i];
            bool equals = r->op == SELECTOR_EQUALS || r->op == SELECTOR_DOUBLE_EQUALS;
            yes = yes || (equals && str_is(r->key, field) && r->n_values == 1 &&
                          str_eq(r->values[0], q->node));
        }
    arena_fini(&a);
    return yes;
}

/* ------------------------------------------------------------------ shapes of rules */

static enum node_answer get_one(struct node_rules_query *q, enum node_thing what)
{
    if (!has_verb(q, "get"))
        return silent(q, "can only get individual resources of this type");
    if (q->at->subresource.n)
        return silent(q, "cannot get subresource");
    return relate(q, what);
}

static enum node_answer read_one(struct node_rules_query *q, enum node_thing what)
{
    if (!has_verb(q, "get list watch"))
        return silent(q, "can only read resources of this type");
    if (q->at->subresource.n)
        return silent(q, "cannot read subresource");
    if (q->at->ns.n == 0)
        return silent(q, "can only read namespaced object of this type");
    return relate(q, what);
}

/* Objects with the node's name. A create has no name in its path; admission checks it. */
static enum node_answer own_object(const struct node_rules_query *q, const char *only,
                                   const char *other)
{
    if (!has_verb(q, "get create update patch delete"))
        return silent(q, only);
    if (!has_verb(q, "create") && !str_eq(q->at->name, q->node))
        return silent(q, other);
    return NODE_ALLOWS;
}

/* ------------------------------------------------------------------ resources */

/* The key of nodes that share images (node/cluster_key.h) is for all of them. */
static bool is_image_key(const struct api_attributes *at)
{
    return str_is(at->verb, "get") && at->subresource.n == 0 && str_is(at->ns, "kube-system") &&
           str_is(at->name, "dormouse-images");
}

static enum node_answer secrets(struct node_rules_query *q)
{
    if (is_image_key(q->at))
        return NODE_ALLOWS;
    return read_one(q, NODE_SECRET);
}

static enum node_answer config_maps(struct node_rules_query *q)
{
    return read_one(q, NODE_CONFIG_MAP);
}

static enum node_answer claims(struct node_rules_query *q)
{
    if (!str_is(q->at->subresource, "status"))
        return get_one(q, NODE_CLAIM);
    if (!has_verb(q, "update patch"))
        return silent(q, "can only get/update/patch this type");
    return relate(q, NODE_CLAIM);
}

static enum node_answer volumes(struct node_rules_query *q)
{
    return get_one(q, NODE_VOLUME);
}

static enum node_answer resource_claims(struct node_rules_query *q)
{
    return get_one(q, NODE_RESOURCE_CLAIM);
}

static enum node_answer attachments(struct node_rules_query *q)
{
    return get_one(q, NODE_ATTACHMENT);
}

static enum node_answer accounts(struct node_rules_query *q)
{
    if (has_verb(q, "get") && q->at->subresource.n == 0)
        return read_one(q, NODE_ACCOUNT);
    if (!has_verb(q, "create") || q->at->name.n == 0)
        return silent(q, "can only create tokens for individual service accounts");
    if (!str_is(q->at->subresource, "token"))
        return silent(q, "can only create token subresource of serviceaccount");
    return relate(q, NODE_ACCOUNT);
}

static enum node_answer leases(struct node_rules_query *q)
{
    static const char only[] = "can only get, create, update, patch, or delete a node lease";
    if (!has_verb(q, "get create update patch delete"))
        return silent(q, only);
    if (!str_is(q->at->ns, LEASES_IN))
        return silent(q, "can only access leases in the \"" LEASES_IN "\" system namespace");
    return own_object(q, only,
                      "can only access node lease with the same name as the requesting node");
}

static enum node_answer csi_nodes(struct node_rules_query *q)
{
    static const char only[] = "can only get, create, update, patch, or delete a CSINode";
    if (!has_verb(q, "get create update patch delete"))
        return silent(q, only);
    if (q->at->subresource.n)
        return silent(q, "cannot authorize CSINode subresources");
    return own_object(q, only, "can only access CSINode with the same name as the requesting node");
}

/* Created by server-side apply, which has the name in the path. */
static enum node_answer image_states(struct node_rules_query *q)
{
    if (q->at->subresource.n || !has_verb(q, "get create update patch delete") ||
        !str_eq(q->at->name, q->node))
        return silent(q, "can only get, create, update, patch, or delete the NodeImageState with "
                         "the same name as the requesting node");
    return NODE_ALLOWS;
}

static enum node_answer slices(struct node_rules_query *q)
{
    if (q->at->subresource.n)
        return silent(q, "cannot authorize ResourceSlice subresources");
    if (has_verb(q, "create")) /* admission checks its node */
        return NODE_ALLOWS;
    if (has_verb(q, "get update patch delete"))
        return relate(q, NODE_SLICE);
    if (!has_verb(q, "watch list deletecollection"))
        return silent(q, "only the following verbs are allowed for a ResourceSlice: get, watch, "
                         "list, create, update, patch, delete, deletecollection");
    if (selects_node(q, "spec.nodeName"))
        return NODE_ALLOWS;
    return silent(q, "can only list/watch/deletecollection resourceslices with nodeName field "
                     "selector");
}

static enum node_answer nodes(struct node_rules_query *q)
{
    const struct api_attributes *at = q->at;
    if (str_is(at->subresource, "status"))
        return has_verb(q, "update patch") ? NODE_ALLOWS : NODE_SILENT;
    if (at->subresource.n)
        return NODE_SILENT;
    if (has_verb(q, "create update patch")) /* admission restricts it to its own Node */
        return NODE_ALLOWS;
    if (!has_verb(q, "get list watch"))
        return NODE_SILENT;
    if (str_eq(at->name, q->node))
        return NODE_ALLOWS;
    if (q->reason && at->name.n)
        (void)buf_printf(q->reason,
                         "node '" STR_FMT "' cannot read '" STR_FMT "', only its own Node object",
                         STR_ARG(q->node), STR_ARG(at->name));
    else if (q->reason)
        (void)buf_printf(q->reason,
                         "node '" STR_FMT "' cannot read all nodes, only its own Node object",
                         STR_ARG(q->node));
    return NODE_SILENT;
}

/* Admission restricts writes of pods to those of the node. */
static enum node_answer pods(struct node_rules_query *q)
{
    const struct api_attributes *at = q->at;
    if (str_is(at->subresource, "status"))
        return has_verb(q, "update patch") ? NODE_ALLOWS : NODE_SILENT;
    if (str_is(at->subresource, "eviction"))
        return has_verb(q, "create") ? NODE_ALLOWS : NODE_SILENT;
    if (at->subresource.n)
        return NODE_SILENT;
    if (has_verb(q, "get"))
        return get_one(q, NODE_POD);
    if (has_verb(q, "list watch")) {
        if (selects_node(q, "spec.nodeName"))
            return NODE_ALLOWS;
        if (at->name.n)
            return relate(q, NODE_POD);
        return silent(q, "can only list/watch pods with spec.nodeName field selector");
    }
    return has_verb(q, "create delete") ? NODE_ALLOWS : NODE_SILENT;
}

static const struct {
    const char *group, *resource;
    enum node_answer (*rule)(struct node_rules_query *q);
} rules[] = {
    { "", "configmaps", config_maps },
    { "", "nodes", nodes },
    { "", "persistentvolumeclaims", claims },
    { "", "persistentvolumes", volumes },
    { "", "pods", pods },
    { "", "secrets", secrets },
    { "", "serviceaccounts", accounts },
    { "coordination.k8s.io", "leases", leases },
    { "dormouse.dev", "nodeimagestates", image_states },
    { "resource.k8s.io", "resourceclaims", resource_claims },
    { "resource.k8s.io", "resourceslices", slices },
    { "storage.k8s.io", "csinodes", csi_nodes },
    { "storage.k8s.io", "volumeattachments", attachments },
};

static bool is_fixed(const struct node_rules_query *q)
{
    const struct api_attributes *at = q->at;
    struct rbac_rules left = q->fixed;
    struct rbac_rule rule;
    const struct rbac_rule_request wanted = { .verb = at->verb,
                                              .group = at->group,
                                              .resource = at->resource,
                                              .subresource = at->subresource,
                                              .name = at->name,
                                              .path = at->path,
                                              .is_path = !at->is_resource };
    while (rbac_rule_next(&left, &rule))
        if (rbac_rule_allows(&rule, &wanted))
            return true;
    return false;
}

enum node_answer node_decide(struct str node, struct rbac_rules fixed,
                             const struct api_attributes *at, struct node_rules_question *ret,
                             struct buf *reason)
{
    struct node_rules_query q = {
        .node = node, .fixed = fixed, .at = at, .ask = ret, .reason = reason
    };
    if (node.n == 0) {
        if (reason) {
            (void)buf_add_cstr(reason, "unknown node for user ");
            field_go_quote(reason, at->identity->user);
        }
        return NODE_SILENT;
    }
    for (size_t i = 0; at->is_resource && i < ARRAY_LEN(rules); i++)
        if (str_is(at->group, rules[i].group) && str_is(at->resource, rules[i].resource))
            return rules[i].rule(&q);
    return is_fixed(&q) ? NODE_ALLOWS : NODE_SILENT;
}
