/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Impersonation: Impersonate-User, -Group, -Uid and -Extra-KEY, as upstream reads them. Each name
 * requires the verb "impersonate" on it.
 */
#include "api/auth/authn.h"
#include "api/auth/authz.h"

#define EXTRA_PREFIX "impersonate-extra-"

/* ------------------------------------------------------------------ the request */

struct parsing {
    struct arena *a;
    struct impersonation im;
    struct str *groups;
    struct kube_extra *extra;
    size_t n_values;
};

static void add_group(struct parsing *p, struct str group)
{
    if (!p->groups)
        p->im.groups = p->groups = arena_new_n(p->a, struct str, AUTHN_GROUPS_MAX);
    if (p->im.n_groups == AUTHN_GROUPS_MAX)
        p->im.too_many = true;
    else
        p->groups[p->im.n_groups++] = str_copy_arena(p->a, group);
}

/* The key may be percent-encoded; an invalid encoding is taken literally. */
static struct str extra_key(struct arena *a, struct str name)
{
    struct str raw = str_slice(name, strlen(EXTRA_PREFIX), name.n), key;
    return str_copy_arena(a, url_decode(a, raw, false, &key) < 0 ? raw : key);
}

static void add_extra(struct parsing *p, struct str name, struct str value)
{
    struct str key = extra_key(p->a, name);
    if (p->n_values++ == AUTHN_EXTRAS_MAX) {
        p->im.too_many = true;
        return;
    }
    if (!p->extra)
        p->im.extra = p->extra = arena_new_n(p->a, struct kube_extra, AUTHN_EXTRAS_MAX);
    struct kube_extra *e = p->extra;
    while (e < p->extra + p->im.n_extra && !str_eq(e->key, key))
        e++;
    if (e == p->extra + p->im.n_extra) {
        *e = (struct kube_extra){ .key = key };
        p->im.n_extra++;
    }
    struct str *values = arena_new_n(p->a, struct str, e->n + 1);
    if (e->n)
        memcpy(values, e->values, e->n * sizeof *values);
    values[e->n++] = str_copy_arena(p->a, value);
    e->values = values;
}

static void take_field(struct parsing *p, struct str name, struct str value)
{
    if (value.n > AUTHN_NAME_MAX_BYTES) {
        p->im.too_many = true;
    } else if (str_is(name, "impersonate-user")) {
        if (!p->im.has_user)
            p->im.user = str_copy_arena(p->a, value);
        p->im.has_user = p->im.user.n > 0;
    } else if (str_is(name, "impersonate-uid")) {
        if (p->im.uid.n == 0)
            p->im.uid = str_copy_arena(p->a, value);
    } else if (str_is(name, "impersonate-group")) {
        add_group(p, value);
    } else if (str_has_prefix(name, STR(EXTRA_PREFIX))) {
        add_extra(p, name, value);
    }
}

const struct impersonation *impersonate_parse(struct arena *a, const struct headers *headers)
{
    struct parsing p = { .a = a };
    for (size_t i = 0; i < headers->n; i++) {
        struct str name = headers_name(headers, i);
        if (name.n > 12 && name.p[0] == 'i' && str_has_prefix(name, STR("impersonate-")))
            take_field(&p, name, headers_value(headers, i));
    }
    if (!p.im.has_user && !p.im.uid.n && !p.im.n_groups && !p.im.n_extra && !p.im.too_many)
        return NULL;
    struct impersonation *im = arena_new(a, struct impersonation);
    *im = p.im;
    return im;
}

/* ------------------------------------------------------------------ authorization */

static struct json *check(struct request *rq, const char *group, const char *version,
                          const char *resource, struct str sub, struct str ns, struct str name)
{
    const struct api *api = rq->api;
    const struct api_attributes at = { .identity = &rq->identity,
                                       .is_resource = true,
                                       .verb = STR("impersonate"),
                                       .group = str_of(group),
                                       .version = str_of(version),
                                       .resource = str_of(resource),
                                       .subresource = sub,
                                       .name = name,
                                       .ns = ns };
    if (!api->authorize || api->authorize(api->authorize_arg, &at, NULL))
        return NULL;
    scoped(buf_fini_scoped) struct buf reason = BUF_INIT(BUF_MAX_DEFAULT);
    (void)api->authorize(api->authorize_arg, &at, &reason);
    return permission_refuse(rq, &at, buf_str(&reason));
}

static struct json *check_all(struct request *rq, const struct impersonation *im)
{
    static const char group[] = "authentication.k8s.io";
    struct str none = STR(""), ns, name;
    struct json *no = identity_split_account(im->user, &ns, &name)
                          ? check(rq, "", "", "serviceaccounts", none, ns, name)
                          : check(rq, "", "", "users", none, none, im->user);
    for (size_t i = 0; !no && i < im->n_groups; i++)
        no = check(rq, "", "", "groups", none, none, im->groups[i]);
    for (size_t i = 0; i < im->n_extra; i++)
        for (size_t k = 0; !no && k < im->extra[i].n; k++)
            no = check(rq, group, "v1", "userextras", im->extra[i].key, none,
                       im->extra[i].values[k]);
    if (!no && im->uid.n)
        no = check(rq, group, "v1", "uids", none, none, im->uid);
    return no;
}

/* Add the groups that follow from the user name if none were given, and system:authenticated. */
static void complete_groups(struct arena *a, struct kube_identity *id)
{
    struct str ns, name;
    struct str *all = arena_new_n(a, struct str, id->n_groups + 4);
    size_t n = id->n_groups;
    if (n)
        memcpy(all, id->groups, n * sizeof *all);
    if (n == 0 && identity_split_account(id->user, &ns, &name)) {
        all[n++] = STR("system:serviceaccounts");
        all[n++] = str_of(arena_printf(a, "system:serviceaccounts:" STR_FMT, STR_ARG(ns)));
    }
    bool anonymous = str_is(id->user, "system:anonymous");
    if (!identity_has_group(id, "system:unauthenticated") &&
        (anonymous || !identity_has_group(id, "system:authenticated")))
        all[n++] = anonymous ? STR("system:unauthenticated") : STR("system:authenticated");
    id->groups = all;
    id->n_groups = n;
}

static void add_strings(struct buf *to, const struct str *list, size_t n)
{
    (void)buf_add_cstr(to, n ? "[]string{" : "[]string(nil)");
    for (size_t i = 0; i < n; i++) {
        (void)buf_add_cstr(to, i ? ", " : "");
        field_go_quote(to, list[i]);
    }
    (void)buf_add_cstr(to, n ? "}" : "");
}

/* The error for a request without a user name, in upstream's form. */
static struct json *no_user(struct request *rq, const struct impersonation *im)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)buf_add_cstr(&b, "requested &user.DefaultInfo{Name:\"\", UID:");
    field_go_quote(&b, im->uid);
    (void)buf_add_cstr(&b, ", Groups:");
    add_strings(&b, im->groups, im->n_groups);
    (void)buf_add_cstr(&b, ", Extra:map[string][]string");
    (void)buf_add_cstr(&b, im->n_extra ? "{" : "(nil)");
    for (size_t i = 0; i < im->n_extra; i++) {
        (void)buf_add_cstr(&b, i ? ", " : "");
        field_go_quote(&b, im->extra[i].key);
        (void)buf_add_char(&b, ':');
        add_strings(&b, im->extra[i].values, im->extra[i].n);
    }
    (void)buf_add_cstr(&b, im->n_extra ? "}}" : "}");
    (void)buf_add_cstr(&b, " without impersonating a user name");
    (void)headers_addc(&rq->extra, "x-content-type-options", "nosniff");
    return status_bad_request(&rq->arena, str_copy_arena(&rq->arena, buf_str(&b)));
}

struct json *impersonate_step(struct request *rq)
{
    const struct impersonation *im = rq->wants_to_be;
    if (!im)
        return NULL;
    if (im->too_many)
        return status_bad_request(&rq->arena, STR("too many or too long values of impersonation"));
    if (!im->has_user)
        return no_user(rq, im);
    struct json *no = check_all(rq, im);
    if (no)
        return no;
    rq->identity = (struct kube_identity){ .user = im->user,
                                           .groups = im->groups,
                                           .n_groups = im->n_groups,
                                           .uid = im->uid,
                                           .extra = im->extra,
                                           .n_extra = im->n_extra };
    complete_groups(&rq->arena, &rq->identity);
    return NULL;
}
