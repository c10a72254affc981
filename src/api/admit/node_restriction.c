/* SPDX-License-Identifier: Apache-2.0 */
/* Restricts the writes of nodes; see node_restriction.h. */
#include "api/admit/node_restriction.h"

#include "api/admit/admit.h"
#include "api/identity.h"
#include "codec/base64.h"
#include "io/tls.h"
#include "kube/model/field.h"
#include "kube/rules/kinds/references.h"

#define LEASES_IN "kube-node-lease"
#define MIRROR    "kubernetes.io/config.mirror"

enum { CSR_MAX_BYTES = 64 << 10 };

enum node_restriction_operation { CREATE, UPDATE, DELETE };

struct node_restriction_attempt {
    struct request *rq;
    struct arena *a;
    struct str node; /* the writing node */
    enum node_restriction_operation op;
    struct str name, sub; /* of the object, "" until it is generated; the subresource, or "" */
    struct str shown;     /* the name in messages, or generateName */
    const struct json *obj, *old;
    const struct json *own; /* the user's Node, or NULL */
    struct json *not_found; /* answered instead of a refusal */
};

/* ------------------------------------------------------------------ messages */

/* fmt with the node's name, quoted, for its only %s. */
static const char *say(struct node_restriction_attempt *t, const char *fmt)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    const char *at = strstr(fmt, "%s");
    (void)buf_add_str(&text, str_slice(str_of(fmt), 0, (size_t)(at - fmt)));
    field_go_quote(&text, t->node);
    (void)buf_add_cstr(&text, at + 2);
    return str_dup_arena(t->a, buf_str(&text));
}

static const char *unexpected_operation(struct node_restriction_attempt *t)
{
    static const char *const names[] = { "CREATE", "UPDATE", "DELETE" };
    return arena_printf(t->a, "unexpected operation \"%s\"", names[t->op]);
}

/* ------------------------------------------------------------------ comparison */

/* Remove empty members, which upstream treats as absent. true: nothing is left. */
static bool prune(struct json *v)
{
    if (v->type < JSON_ARRAY)
        return v->type == JSON_NULL;
    bool is_object = v->type == JSON_OBJECT;
    for (struct json *child = json_take_children(v), *next; child; child = next) {
        next = child->next;
        bool empty = prune(child);
        if (is_object && !empty)
            json_add_member(v, child->key, child);
        else if (!is_object)
            json_add(v, child);
    }
    return v->n == 0;
}

static bool is_same(struct arena *a, const struct json *x, const struct json *y)
{
    struct json *p = x ? json_clone(a, x) : json_new_null(a);
    struct json *q = y ? json_clone(a, y) : json_new_null(a);
    bool no_p = prune(p), no_q = prune(q);
    return no_p || no_q ? no_p == no_q : json_equal(p, q);
}

static bool is_same_at(struct node_restriction_attempt *t, const char *up, const char *member)
{
    return is_same(t->a, json_path(t->obj, up, member, NULL), json_path(t->old, up, member, NULL));
}

static struct str node_of_pod(const struct json *pod)
{
    return json_str(json_path(pod, "spec", "nodeName", NULL));
}

/* ------------------------------------------------------------------ labels of a Node */

static struct str prefix_of(struct str label)
{
    struct str prefix, rest;
    return str_cut(label, '/', &prefix, &rest) ? prefix : STR("");
}

/* Whether the prefix is the domain or a subdomain. */
static bool is_in(struct str prefix, const char *domain)
{
    size_t n = strlen(domain);
    return str_is(prefix, domain) || (prefix.n > n && prefix.p[prefix.n - n - 1] == '.' &&
                                      str_is(str_slice(prefix, prefix.n - n, prefix.n), domain));
}

/* A label that a node may set on its own Node. */
static bool is_of_kubelet(struct str label)
{
    static const char *const known[] = {
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    };
    struct str prefix = prefix_of(label);
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(label, known[i]))
            return true;
    return is_in(prefix, "kubelet.kubernetes.io") || is_in(prefix, "node.kubernetes.io");
}

static bool is_forbidden_label(struct str label)
{
    struct str prefix = prefix_of(label);
    if (is_in(prefix, "node-restriction.kubernetes.io"))
        return true;
    return (is_in(prefix, "kubernetes.io") || is_in(prefix, "k8s.io")) && !is_of_kubelet(label);
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Add the forbidden labels in `labels` that `others` lacks, or (values) has with another value. */
static size_t add_changed(struct str *to, size_t n, const struct json *labels,
                          const struct json *others, bool values)
{
    json_each (label, labels) {
        if (!is_forbidden_label(label->key))
            continue;
        const struct json *other = json_get(others, label->key);
        if (!other || (values && !json_equal(label, other)))
            to[n++] = label->key;
    }
    return n;
}

/* The forbidden labels that the write changes, separated by commas; NULL: none. */
static const char *changed_labels(struct node_restriction_attempt *t)
{
    struct json *labels = json_path(t->obj, "metadata", "labels", NULL);
    struct json *before = json_path(t->old, "metadata", "labels", NULL);
    size_t max = (json_is(labels, JSON_OBJECT) ? labels->n : 0) +
                 (json_is(before, JSON_OBJECT) ? before->n : 0);
    struct str *list = arena_new_n(t->a, struct str, max + 1);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    if (json_is(labels, JSON_OBJECT))
        json_index(t->a, labels);
    if (json_is(before, JSON_OBJECT))
        json_index(t->a, before);
    size_t n = add_changed(list, 0, labels, before, true);
    n = add_changed(list, n, before, labels, false);
    qsort(list, n, sizeof *list, by_text);
    for (size_t i = 0; i < n; i++)
        (void)buf_printf(&text, "%s" STR_FMT, i ? ", " : "", STR_ARG(list[i]));
    return n ? str_dup_arena(t->a, buf_str(&text)) : NULL;
}

/* ------------------------------------------------------------------ kinds */

static const char *judge_node(struct node_restriction_attempt *t)
{
    const struct json *source = json_path(t->obj, "spec", "configSource", NULL);
    if (!str_eq(t->name, t->node)) {
        scoped(buf_fini_scoped) struct buf other = BUF_INIT(BUF_MAX_DEFAULT);
        field_go_quote(&other, t->name);
        return say(t, arena_printf(t->a, "node %%s is not allowed to modify node " STR_FMT,
                                   STR_ARG(buf_str(&other))));
    }
    if (t->op == DELETE)
        return NULL;
    const char *labels = changed_labels(t);
    bool has_source = source && source->type != JSON_NULL;
    if (t->op == CREATE) {
        if (has_source)
            return say(t, "node %s is not allowed to create pods with a non-nil configSource");
        return labels ? say(t, arena_printf(t->a,
                                            "node %%s is not allowed to set the following labels: "
                                            "%s",
                                            labels))
                      : NULL;
    }
    if (has_source && !is_same_at(t, "spec", "configSource"))
        return say(t, "node %s is not allowed to update configSource to a new non-nil "
                      "configSource");
    if (!is_same_at(t, "spec", "taints"))
        return say(t, "node %s is not allowed to modify taints");
    if (!is_same_at(t, "metadata", "ownerReferences"))
        return say(t, "node %s is not allowed to modify ownerReferences");
    return labels ? arena_printf(t->a, "is not allowed to modify labels: %s", labels) : NULL;
}

static const char *judge_owner(struct node_restriction_attempt *t, const struct json *owner)
{
    const struct json *controller = json_getc(owner, "controller");
    struct str uid = json_get_str(owner, "uid");
    if (!str_is(json_get_str(owner, "apiVersion"), "v1") ||
        !str_is(json_get_str(owner, "kind"), "Node") ||
        !str_eq(json_get_str(owner, "name"), t->node))
        return say(t, "node %s can only create pods with an owner reference set to itself");
    if (!json_bool(controller))
        return say(t, "node %s can only create pods with a controller owner reference set to "
                      "itself");
    if (json_bool(json_getc(owner, "blockOwnerDeletion")))
        return say(t, "node %s must not set blockOwnerDeletion on an owner reference");
    if (!t->own) {
        t->not_found = status_not_found(t->a, STR(""), STR("node"), t->node);
        return NULL;
    }
    if (!str_eq(uid, meta_uid(t->own)))
        return arena_printf(t->a,
                            "node " STR_FMT " UID mismatch: expected " STR_FMT " got " STR_FMT,
                            STR_ARG(t->node), STR_ARG(uid), STR_ARG(meta_uid(t->own)));
    return NULL;
}

static const char *judge_new_pod(struct node_restriction_attempt *t)
{
    const struct json *owners = json_path(t->obj, "metadata", "ownerReferences", NULL);
    const char *unknown;
    size_t n = json_is(owners, JSON_ARRAY) ? owners->n : 0;
    if (!kind_pod_is_mirror(t->obj))
        return say(t, "pod does not have \"" MIRROR "\" annotation, node %s can only create mirror "
                      "pods");
    if (!str_eq(node_of_pod(t->obj), t->node))
        return say(t, "node %s can only create pods with spec.nodeName set to itself");
    if (n > 1)
        return say(t, "node %s can only create pods with a single owner reference set to itself");
    if (n == 0)
        return say(t, "node %s can only create pods with an owner reference set to itself");
    const char *why = judge_owner(t, json_first(owners));
    if (why || t->not_found)
        return why;
    const char *needs = kind_pod_api_reference(t->a, t->obj, &unknown);
    if (unknown)
        return arena_printf(t->a, "error checking mirror pod for API references: %s", unknown);
    return needs
               ? say(t, arena_printf(t->a, "node %%s can not create pods that reference %s", needs))
               : NULL;
}

static const char *judge_pod_status(struct node_restriction_attempt *t)
{
    if (t->op != UPDATE)
        return unexpected_operation(t);
    if (!str_eq(node_of_pod(t->old), t->node))
        return say(t, "node %s can only update pod status for pods with spec.nodeName set to "
                      "itself");
    if (!is_same_at(t, "metadata", "labels"))
        return say(t, "node %s cannot update labels through pod status");
    if (!is_same_at(t, "status", "resourceClaimStatuses"))
        return say(t, "node %s cannot update resource claim statues");
    if (!is_same_at(t, "status", "extendedResourceClaimStatus"))
        return say(t, "node %s cannot update extended resource claim status");
    return NULL;
}

static const char *judge_pod(struct node_restriction_attempt *t)
{
    if (str_is(t->sub, "status"))
        return judge_pod_status(t);
    if (t->sub.n)
        return arena_printf(t->a,
                            "unexpected pod subresource \"" STR_FMT
                            "\", only 'status' and 'eviction' are allowed",
                            STR_ARG(t->sub));
    if (t->op == CREATE)
        return judge_new_pod(t);
    if (t->op == UPDATE)
        return say(t, "unexpected operation \"UPDATE\", node %s can only create and delete mirror "
                      "pods");
    if (!str_eq(node_of_pod(t->old), t->node))
        return say(t, "node %s can only delete pods with spec.nodeName set to itself");
    return NULL;
}

/* The claim without the fields that a node reports and those that clients may omit. */
static struct json *claim_core(struct arena *a, const struct json *claim)
{
    static const char *const reported[] = { "allocatedResourceStatuses", "allocatedResources",
                                            "capacity", "conditions" };
    struct json *v = json_clone(a, claim);
    (void)json_del(v, STR("apiVersion"));
    (void)json_del(v, STR("kind"));
    (void)json_del(json_getc(v, "metadata"), STR("managedFields"));
    (void)json_del(json_getc(v, "metadata"), STR("resourceVersion"));
    for (size_t i = 0; i < ARRAY_LEN(reported); i++)
        (void)json_del(json_getc(v, "status"), str_of(reported[i]));
    return v;
}

static const char *judge_claim(struct node_restriction_attempt *t)
{
    if (!str_is(t->sub, "status"))
        return "may only update PVC status";
    if (t->op != UPDATE)
        return unexpected_operation(t);
    if (!is_same(t->a, claim_core(t->a, t->obj), claim_core(t->a, t->old)))
        return say(t, "node %s is not allowed to update fields other than status.quantity and "
                      "status.conditions");
    return NULL;
}

static const char *judge_lease(struct node_restriction_attempt *t)
{
    if (!str_is(t->rq->route.ns, LEASES_IN))
        return "can only access leases in the \"" LEASES_IN "\" system namespace";
    if (!str_eq(t->name, t->node))
        return "can only access node lease with the same name as the requesting node";
    return NULL;
}

static const char *judge_csi_node(struct node_restriction_attempt *t)
{
    if (!str_eq(t->name, t->node))
        return "can only access CSINode with the same name as the requesting node";
    return NULL;
}

static const char *judge_slice(struct node_restriction_attempt *t)
{
    if (t->op == CREATE && !str_eq(node_of_pod(t->obj), t->node))
        return "can only create ResourceSlice with the same NodeName as the requesting node";
    if (t->op == DELETE && !str_eq(node_of_pod(t->old), t->node))
        return "can only delete ResourceSlice with the same NodeName as the requesting node";
    return NULL;
}

static const struct {
    const char *group, *resource;
    const char *(*judge)(struct node_restriction_attempt *t);
} kinds[] = {
    { "", "nodes", judge_node },
    { "", "persistentvolumeclaims", judge_claim },
    { "", "pods", judge_pod },
    { "coordination.k8s.io", "leases", judge_lease },
    { "resource.k8s.io", "resourceslices", judge_slice },
    { "storage.k8s.io", "csinodes", judge_csi_node },
};

/* ------------------------------------------------------------------ interface */

bool node_restricts(const struct request *rq, struct str *ret_node)
{
    return rq->api->with_rbac && identity_is_node(&rq->identity, ret_node);
}

static struct json *forbid(struct node_restriction_attempt *t, const char *why)
{
    return status_forbidden(t->a, t->rq->route.group, t->rq->route.resource,
                            t->shown.n ? t->shown : STR("Unknown"), str_of(why));
}

static struct json *forbid_nameless(struct node_restriction_attempt *t)
{
    scoped(buf_fini_scoped) struct buf user = BUF_INIT(BUF_MAX_DEFAULT);
    field_go_quote(&user, t->rq->identity.user);
    return forbid(t, arena_printf(t->a, "could not determine node from user " STR_FMT,
                                  STR_ARG(buf_str(&user))));
}

static struct json *judge(struct request *rq, enum node_restriction_operation op, struct str name,
                          const struct json *obj, const struct json *old, const struct json *own)
{
    struct node_restriction_attempt t = {
        .rq = rq,
        .a = &rq->arena,
        .op = op,
        .name = name,
        .shown = name.n ? name : json_str(json_path(obj, "metadata", "generateName", NULL)),
        .sub = rq->sub ? rq->sub->name : STR(""),
        .obj = obj,
        .old = old,
        .own = own
    };
    if (!node_restricts(rq, &t.node))
        return NULL;
    if (t.node.n == 0)
        return forbid_nameless(&t);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_is(rq->res->group, kinds[i].group) || !str_is(rq->res->plural, kinds[i].resource))
            continue;
        const char *why = kinds[i].judge(&t);
        return why ? forbid(&t, why) : t.not_found;
    }
    return NULL;
}

/* The user's own Node, which the rules for pods need. */
struct restriction {
    struct json *node;
};

static bool is_by_node(void *self, const struct admission *ad)
{
    struct str node;
    (void)self;
    return node_restricts(ad->rq, &node);
}

static struct json *restriction_read(void *self, struct admission *ad, void *state)
{
    struct restriction *re = state;
    struct request *rq = ad->rq;
    struct str node;
    (void)self;
    (void)node_restricts(rq, &node);
    if (ad->op != ADMISSION_CREATE || !admission_is_core(ad, "pods") || node.n == 0)
        return NULL;
    const struct kube_resource *res =
        kube_registry_find(&rq->api->reg, STR(""), STR("v1"), STR("nodes"));
    return admission_get(ad, key_object(&rq->arena, res, STR(""), node), &re->node);
}

static struct json *restriction_apply(void *self, struct admission *ad, void *state)
{
    const struct restriction *re = state;
    struct request *rq = ad->rq;
    (void)self;
    if (ad->op == ADMISSION_DELETE)
        return judge(rq, DELETE, ad->name, NULL, ad->old, NULL);
    if (ad->op == ADMISSION_CREATE)
        return judge(rq, CREATE, meta_name(ad->obj), ad->obj, NULL, re->node);
    return judge(rq, UPDATE, rq->route.name, ad->obj, ad->old, NULL);
}

static const struct admission_stage restriction = { .name = "NodeRestriction",
                                                    .point = ADMISSION_TAKEN,
                                                    .ops = ADMISSION_ON(ADMISSION_CREATE) |
                                                           ADMISSION_ON(ADMISSION_UPDATE) |
                                                           ADMISSION_ON(ADMISSION_ACTION) |
                                                           ADMISSION_ON(ADMISSION_DELETE),
                                                    .state_bytes = sizeof(struct restriction),
                                                    .wanted = is_by_node,
                                                    .read = restriction_read,
                                                    .apply = restriction_apply };

/* ---- subresources without an object of their own ---- */

static struct json *eviction_apply(void *self, struct admission *ad, void *state)
{
    struct node_restriction_attempt t = { .rq = ad->rq,
                                          .a = &ad->rq->arena,
                                          .shown = ad->rq->route.name };
    (void)self;
    (void)state;
    (void)node_restricts(ad->rq, &t.node);
    if (t.node.n == 0)
        return forbid_nameless(&t);
    if (str_eq(node_of_pod(ad->old), t.node))
        return NULL;
    return forbid(&t, arena_printf(t.a,
                                   "node " STR_FMT
                                   " can only evict pods with spec.nodeName set to itself",
                                   STR_ARG(t.node)));
}

static bool is_eviction(void *self, const struct admission *ad)
{
    return str_is(ad->rq->route.subresource, "eviction") && is_by_node(self, ad);
}

static const struct admission_stage eviction = { .name = "NodeRestriction (eviction)",
                                                 .point = ADMISSION_TAKEN,
                                                 .ops = ADMISSION_ON(ADMISSION_ASK),
                                                 .wanted = is_eviction,
                                                 .apply = eviction_apply };

static bool is_token(void *self, const struct admission *ad)
{
    return str_is(ad->rq->route.subresource, "token") && is_by_node(self, ad);
}

static const struct admission_stage token = { .name = "NodeRestriction (tokens)",
                                              .point = ADMISSION_TAKEN,
                                              .ops = ADMISSION_ON(ADMISSION_ASK),
                                              .wanted = is_token,
                                              .apply = node_token_apply };

/* ---- certificate requests ---- */

static bool is_certificate(void *self, const struct admission *ad)
{
    const struct kube_resource *res = ad->rq->res;
    return str_is(res->group, "certificates.k8s.io") &&
           str_is(res->plural, "certificatesigningrequests") && is_by_node(self, ad);
}

/*
 * Restrict requests to the signers of nodes to the node's own name. A request that cannot be parsed
 * is refused by a later stage.
 */
static struct json *certificate_apply(void *self, struct admission *ad, void *state)
{
    struct request *rq = ad->rq;
    const struct json *spec = json_getc(ad->obj, "spec");
    struct str signer = json_get_str(spec, "signerName"), node;
    struct x509_subject who;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf pem = BUF_INIT(CSR_MAX_BYTES);
    (void)self;
    (void)state;
    if (!str_is(signer, "kubernetes.io/kubelet-serving") &&
        !str_is(signer, "kubernetes.io/kube-apiserver-client-kubelet"))
        return NULL;
    if (base64_decode(&pem, json_get_str(spec, "request"), BASE64_LENIENT) < 0 ||
        x509_read_request(buf_str(&pem), &rq->arena, &who, &err) < 0 ||
        str_eq(who.common_name, rq->identity.user))
        return NULL;
    (void)node_restricts(rq, &node);
    return admission_forbid(
        ad, arena_printf(&rq->arena, "can only create a node CSR with CN=system:node:" STR_FMT,
                         STR_ARG(node)));
}

static const struct admission_stage certificate = { .name = "NodeRestriction (certificates)",
                                                    .point = ADMISSION_VALIDATED,
                                                    .ops = ADMISSION_ON(ADMISSION_CREATE),
                                                    .wanted = is_certificate,
                                                    .apply = certificate_apply };

void node_restriction_register(struct admit *ad, struct admission_chain *c)
{
    admission_register(c, &restriction, ad);
    admission_register(c, &eviction, ad);
    admission_register(c, &token, ad);
    admission_register(c, &certificate, ad);
}
