/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled roles and bindings; see rbac.h.
 *
 *     roles     "ns/name"   -> struct role      ("/name" for ClusterRoles)
 *     bindings  "ns/name"   -> struct binding
 *     subjects  "ns/Ukind"  -> struct grant     a chain: one for each binding that names the
 *                                               subject
 *
 * A ServiceAccount is found by its user name, the form in which requests carry it.
 */
#include "api/auth/rbac.h"

#include "base/map.h"
#include "kube/model/field.h"

#include <assert.h>

struct role {
    uint32_t n;
    uint8_t rules[];
};

struct binding;

struct grant {
    struct grant *next; /* next grant of the same subject */
    struct binding *of; /* NULL: an earlier grant of the binding has this subject */
    uint32_t at, n;     /* its key in the binding's text, namespace included */
};

struct binding {
    uint64_t mark; /* the last walk that has visited it */
    bool in_cluster, to_cluster_role;
    uint32_t ns_n, name_n, role_n;
    uint32_t n_grants;
    uint32_t size;
    char *text; /* namespace, name, role, then the keys of the grants; stored after the grants */
    struct grant grants[];
};

struct rbac {
    struct map roles, bindings, subjects;
    struct buf key; /* scratch */
    uint64_t mark;
    size_t bytes;
};

enum {
    KEY_MAX_BYTES = 1 << 20, /* the length of a subject's name is limited by its object */
    ROLE_MAX_BYTES = 8 << 20
};

#define SA_PREFIX "system:serviceaccount:"

struct rbac *rbac_new(void)
{
    struct rbac *r = xnew(struct rbac);
    r->key = BUF_INIT(KEY_MAX_BYTES);
    return r;
}

void rbac_free(struct rbac *r)
{
    if (!r)
        return;
    map_each (e, &r->roles)
        free(e->value);
    map_each (e, &r->bindings)
        free(e->value);
    map_fini(&r->roles);
    map_fini(&r->bindings);
    map_fini(&r->subjects);
    buf_fini(&r->key);
    free(r);
}

/* "ns/" followed by up to two parts, in the scratch buffer; "" if it does not fit. */
static struct str make_key(struct rbac *r, struct str ns, struct str a, struct str b)
{
    buf_reset(&r->key);
    (void)buf_add_str(&r->key, ns);
    (void)buf_add_char(&r->key, '/');
    (void)buf_add_str(&r->key, a);
    (void)buf_add_str(&r->key, b);
    return buf_ok(&r->key) ? buf_str(&r->key) : STR("");
}

/* ------------------------------------------------------------------ roles */

static void put_role(struct rbac *r, struct str ns, struct str name, const struct json *obj)
{
    struct str key = make_key(r, ns, name, STR(""));
    struct role *old = obj ? NULL : map_del(&r->roles, key);
    if (obj) {
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(ROLE_MAX_BYTES);
        if (rbac_rules_compile(&b, json_getc(obj, "rules")) < 0)
            buf_reset(&b); /* rules that do not fit grant nothing */
        struct role *role = xalloc(sizeof *role + b.n);
        role->n = (uint32_t)b.n;
        if (b.n)
            memcpy(role->rules, b.p, b.n);
        r->bytes += sizeof *role + b.n;
        old = map_put(&r->roles, key, role);
    }
    if (old) {
        assert(r->bytes >= sizeof *old + old->n);
        r->bytes -= sizeof *old + old->n;
    }
    free(old);
}

bool rbac_role_rules(const struct rbac *r, struct str ns, struct str name, struct rbac_rules *ret)
{
    const struct role *role = map_get(&r->roles, make_key((struct rbac *)r, ns, name, STR("")));
    if (!role)
        return false;
    *ret = (struct rbac_rules){ role->rules, role->n };
    return true;
}

/* ------------------------------------------------------------------ bindings */

static void unlink_grants(struct rbac *r, struct binding *b)
{
    for (uint32_t i = 0; i < b->n_grants; i++) {
        struct grant *g = &b->grants[i];
        if (!g->of)
            continue;
        struct str key = str_n(b->text + g->at, g->n);
        struct map_entry *e = map_find(&r->subjects, key);
        assert(g->of == b && e); /* a linked grant is in the chain of its subject */
        struct grant *first = e->value;
        if (first == g && !g->next) {
            (void)map_del(&r->subjects, key);
        } else if (first == g) {
            e->value = g->next;
        } else {
            while (first->next != g) {
                assert(first->next);
                first = first->next;
            }
            first->next = g->next;
        }
    }
}

static void link_grants(struct rbac *r, struct binding *b)
{
    for (uint32_t i = 0; i < b->n_grants; i++) {
        struct grant *g = &b->grants[i];
        struct str key = str_n(b->text + g->at, g->n);
        struct grant *first = map_get(&r->subjects, key);
        if (first && first->of == b) /* named again: a chain has one grant per binding */
            continue;
        assert(!g->of && !g->next && !(first && !first->of));
        g->of = b;
        g->next = first;
        (void)map_put(&r->subjects, key, g);
    }
}

/* Append the key of a subject; nothing for a subject that no user can be. */
static bool add_subject_key(struct buf *to, struct str ns, const struct json *subject)
{
    struct str kind = json_get_str(subject, "kind"), name = json_get_str(subject, "name");
    struct str sa_ns = json_get_str(subject, "namespace");
    (void)buf_add_str(to, ns);
    (void)buf_add_char(to, '/');
    if (str_is(kind, "User")) {
        (void)buf_add_char(to, 'U');
    } else if (str_is(kind, "Group")) {
        (void)buf_add_char(to, 'G');
    } else if (str_is(kind, "ServiceAccount") && (sa_ns.n || ns.n)) {
        (void)buf_add_cstr(to, "U" SA_PREFIX);
        (void)buf_add_str(to, sa_ns.n ? sa_ns : ns);
        (void)buf_add_char(to, ':');
    } else {
        return false;
    }
    (void)buf_add_str(to, name);
    return true;
}

static struct binding *make_binding(struct str ns, struct str name, bool in_cluster,
                                    const struct json *obj)
{
    const struct json *ref = json_getc(obj, "roleRef"), *subjects = json_getc(obj, "subjects");
    struct str role = json_get_str(ref, "name");
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(ROLE_MAX_BYTES);
    if (!json_is(subjects, JSON_ARRAY))
        subjects = NULL;
    size_t max = subjects ? subjects->n : 0;
    scoped(free_scoped) struct grant *grants = xnew_n(struct grant, max + 1);
    uint32_t n = 0;
    (void)buf_add_str(&text, ns);
    (void)buf_add_str(&text, name);
    (void)buf_add_str(&text, role);
    json_each (subject, subjects) {
        size_t at = text.n;
        if (add_subject_key(&text, ns, subject))
            grants[n++] = (struct grant){ .at = (uint32_t)at, .n = (uint32_t)(text.n - at) };
        else
            text.n = at;
    }
    if (!buf_ok(&text))
        return NULL; /* a binding that does not fit grants nothing */
    assert(n <= max && text.n >= ns.n + name.n + role.n);
    size_t size = sizeof(struct binding) + n * sizeof *grants + text.n;
    struct binding *b = xalloc(size);
    *b = (struct binding){ .in_cluster = in_cluster,
                           .to_cluster_role = str_is(json_get_str(ref, "kind"), "ClusterRole"),
                           .ns_n = (uint32_t)ns.n,
                           .name_n = (uint32_t)name.n,
                           .role_n = (uint32_t)role.n,
                           .n_grants = n,
                           .size = (uint32_t)size,
                           .text = (char *)(b->grants + n) };
    if (n)
        memcpy(b->grants, grants, n * sizeof *grants);
    memcpy(b->text, text.p, text.n);
    return b;
}

static void put_binding(struct rbac *r, struct str ns, struct str name, bool in_cluster,
                        const struct json *obj)
{
    struct str key = make_key(r, ns, name, STR(""));
    struct binding *old = map_del(&r->bindings, key);
    if (old) {
        unlink_grants(r, old);
        assert(r->bytes >= old->size);
        r->bytes -= old->size;
        free(old);
    }
    struct binding *b = obj ? make_binding(ns, name, in_cluster, obj) : NULL;
    if (!b)
        return;
    r->bytes += b->size;
    (void)map_put(&r->bindings, key, b);
    link_grants(r, b);
}

void rbac_put(struct rbac *r, enum rbac_kind kind, struct str ns, struct str name,
              const struct json *obj)
{
    switch (kind) {
    case RBAC_ROLE:
    case RBAC_CLUSTER_ROLE:
        put_role(r, ns, name, obj);
        return;
    case RBAC_ROLE_BINDING:
    case RBAC_CLUSTER_ROLE_BINDING:
        put_binding(r, ns, name, kind == RBAC_CLUSTER_ROLE_BINDING, obj);
        return;
    }
}

/* ------------------------------------------------------------------ walking a user's bindings */

/* Either may be NULL. rule: false ends the walk. */
struct rbac_walk {
    bool (*rule)(struct rbac_walk *w, const struct grant *g, const struct rbac_rule *rule);
    void (*missing)(struct rbac_walk *w, const struct binding *b);
};

static struct str binding_ns(const struct binding *b)
{
    return str_n(b->text, b->ns_n);
}

static struct str binding_name(const struct binding *b)
{
    return str_n(b->text + b->ns_n, b->name_n);
}

static struct str binding_role(const struct binding *b)
{
    return str_n(b->text + b->ns_n + b->name_n, b->role_n);
}

static bool walk_grant(struct rbac *r, const struct grant *g, struct rbac_walk *w)
{
    const struct binding *b = g->of;
    struct rbac_rules rules;
    struct rbac_rule rule;
    if (!rbac_role_rules(r, b->to_cluster_role ? STR("") : binding_ns(b), binding_role(b),
                         &rules)) {
        if (w->missing)
            w->missing(w, b);
        return true;
    }
    while (rbac_rule_next(&rules, &rule))
        if (!w->rule(w, g, &rule))
            return false;
    return true;
}

static bool walk_subject(struct rbac *r, struct str ns, const char *kind, struct str name,
                         struct rbac_walk *w)
{
    const struct grant *g = map_get(&r->subjects, make_key(r, ns, str_n(kind, 1), name));
    for (; g; g = g->next) {
        if (g->of->mark == r->mark)
            continue;
        g->of->mark = r->mark;
        if (!walk_grant(r, g, w))
            return false;
    }
    return true;
}

static bool walk_place(struct rbac *r, const struct kube_identity *who, struct str ns,
                       struct rbac_walk *w)
{
    if (!walk_subject(r, ns, "U", who->user, w))
        return false;
    for (size_t i = 0; i < who->n_groups; i++)
        if (!walk_subject(r, ns, "G", who->groups[i], w))
            return false;
    return true;
}

static void walk(struct rbac *r, const struct kube_identity *who, struct str ns,
                 struct rbac_walk *w)
{
    r->mark++;
    if (walk_place(r, who, STR(""), w) && ns.n)
        (void)walk_place(r, who, ns, w);
}

bool rbac_is_master(const struct kube_identity *who)
{
    for (size_t i = 0; i < who->n_groups; i++)
        if (str_is(who->groups[i], "system:masters"))
            return true;
    return false;
}

/* ------------------------------------------------------------------ deciding */

struct decide {
    struct rbac_walk walk;
    struct rbac_rule_request rq;
    struct buf *reason;
    size_t n_missing;
    bool allowed;
};

void rbac_role_missing_text(struct buf *to, bool is_cluster_role, struct str name)
{
    (void)buf_printf(to, "%srole.rbac.authorization.k8s.io ", is_cluster_role ? "cluster" : "");
    field_go_quote(to, name);
    (void)buf_add_cstr(to, " not found");
}

static void describe_subject(struct buf *to, const struct grant *g)
{
    struct str key = str_n(g->of->text + g->at, g->n), ns, name;
    (void)str_cut(key, '/', &ns, &name);
    bool is_group = name.p[0] == 'G';
    name = str_slice(name, 1, name.n);
    if (!is_group && str_has_prefix(name, STR(SA_PREFIX)) &&
        str_cut(str_slice(name, strlen(SA_PREFIX), name.n), ':', &ns, &name)) {
        (void)buf_printf(to, "ServiceAccount \"" STR_FMT "/" STR_FMT "\"", STR_ARG(name),
                         STR_ARG(ns));
        return;
    }
    (void)buf_add_cstr(to, is_group ? "Group " : "User ");
    field_go_quote(to, name);
}

static void describe(struct buf *to, const struct grant *g)
{
    const struct binding *b = g->of;
    (void)buf_printf(to, "RBAC: allowed by %s \"" STR_FMT,
                     b->in_cluster ? "ClusterRoleBinding" : "RoleBinding",
                     STR_ARG(binding_name(b)));
    if (!b->in_cluster)
        (void)buf_printf(to, "/" STR_FMT, STR_ARG(binding_ns(b)));
    (void)buf_printf(to, "\" of %s ", b->to_cluster_role ? "ClusterRole" : "Role");
    field_go_quote(to, binding_role(b));
    (void)buf_add_cstr(to, " to ");
    describe_subject(to, g);
}

static bool decide_rule(struct rbac_walk *w, const struct grant *g, const struct rbac_rule *rule)
{
    struct decide *d = container_of(w, struct decide, walk);
    if (!rbac_rule_allows(rule, &d->rq))
        return true;
    d->allowed = true;
    if (d->reason) {
        buf_reset(d->reason);
        describe(d->reason, g);
    }
    return false;
}

static void decide_missing(struct rbac_walk *w, const struct binding *b)
{
    struct decide *d = container_of(w, struct decide, walk);
    if (!d->reason)
        return;
    (void)buf_add_cstr(d->reason, d->n_missing++ == 0 ? "RBAC: " : ", ");
    rbac_role_missing_text(d->reason, b->to_cluster_role, binding_role(b));
}

bool rbac_authorize(void *rbac, const struct api_attributes *at, struct buf *reason)
{
    struct decide d = { .walk = { .rule = decide_rule, .missing = decide_missing },
                        .rq = { .verb = at->verb,
                                .group = at->group,
                                .resource = at->resource,
                                .subresource = at->subresource,
                                .name = at->name,
                                .path = at->path,
                                .is_path = !at->is_resource },
                        .reason = reason };
    if (rbac_is_master(at->identity))
        return true;
    walk(rbac, at->identity, at->ns, &d.walk);
    if (d.n_missing > 1 && !d.allowed) { /* upstream puts several into brackets */
        static const char before[] = "RBAC: ";
        assert(reason); /* missing roles are counted only for a reason */
        scoped(buf_fini_scoped) struct buf all = BUF_INIT(reason->max);
        (void)buf_add_str(&all, str_slice(buf_str(reason), strlen(before), reason->n));
        buf_reset(reason);
        (void)buf_printf(reason, "%s[" STR_FMT "]", before, STR_ARG(buf_str(&all)));
    }
    return d.allowed;
}

struct rbac_each {
    struct rbac_walk walk;
    rbac_rule_fn fn;
    void *arg;
};

static bool each_rule(struct rbac_walk *w, const struct grant *g, const struct rbac_rule *rule)
{
    struct rbac_each *e = container_of(w, struct rbac_each, walk);
    (void)g;
    e->fn(e->arg, rule);
    return true;
}

void rbac_each_rule(struct rbac *r, const struct kube_identity *who, struct str ns, rbac_rule_fn fn,
                    void *arg)
{
    struct rbac_each e = { .walk = { .rule = each_rule }, .fn = fn, .arg = arg };
    walk(r, who, ns, &e.walk);
}

void rbac_stats(const struct rbac *r, struct rbac_stats *ret)
{
    size_t slots = r->roles.cap + r->bindings.cap + r->subjects.cap, keys = 0;
    map_each (e, &r->roles)
        keys += e->key.n + 1;
    map_each (e, &r->bindings)
        keys += e->key.n + 1;
    map_each (e, &r->subjects)
        keys += e->key.n + 1;
    *ret = (struct rbac_stats){ .roles = r->roles.n,
                                .bindings = r->bindings.n,
                                .subjects = r->subjects.n,
                                .bytes = r->bytes + keys + slots * sizeof(struct map_entry) };
}
