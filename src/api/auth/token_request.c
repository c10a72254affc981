/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TokenRequest; see token_request.h.
 *
 *     body -> admission -> ACCOUNT -> [POD | SECRET | NODE] -> [the pod's NODE] -> token
 *
 * Names in capitals are read from the store; an absent object is a 404.
 */
#include "api/auth/token_request.h"

#include "api/admission.h"
#include "api/auth/auth.h"
#include "api/auth/reviews.h"
#include "api/auth/tokens.h"
#include "base/clock.h"
#include "kube/model/builtin.h"

_Static_assert(TOKEN_AUDIENCES_MAX == 64, "a message says so");

enum issue_at { ISSUE_ACCOUNT, ISSUE_BOUND, ISSUE_POD_NODE, ISSUE_DONE };

struct issue {
    struct request *rq;
    struct json *obj; /* the TokenRequest */
    struct admission ad;
    unsigned at;
    struct token_request token;
    int64_t shown_s; /* expiry in the answer */
};

static struct kube_resource token_requests = { .group = { "authentication.k8s.io", 21 },
                                               .version = { "v1", 2 },
                                               .kind = { "TokenRequest", 12 } };

/* ------------------------------------------------------------------ the body */

static void set_defaults(struct arena *a, struct json *obj)
{
    struct json *spec = json_obj(a, obj, "spec");
    const struct json *expires = json_getc(spec, "expirationSeconds");
    if (!expires || expires->type == JSON_NULL)
        json_set_int(a, spec, "expirationSeconds", TOKEN_DEFAULT_S);
}

static void check_name(struct str given, struct str want, const char *member,
                       struct field_errors *errs)
{
    struct fpath meta = fpath_child(NULL, STR("metadata")), at = fpath_child(&meta, str_of(member));
    if (given.n && !str_eq(given, want))
        field_error_str(errs, FIELD_INVALID, &at, given,
                        "must match the service account %s if specified", member);
}

static struct json *check_request(struct issue *is)
{
    struct request *rq = is->rq;
    struct arena *a = &rq->arena;
    struct field_errors errs = field_errors_init(a);
    struct json *spec = json_obj(a, is->obj, "spec");
    struct fpath up = fpath_child(NULL, STR("spec")),
                 at = fpath_child(&up, STR("expirationSeconds"));
    const struct json *expires = json_getc(spec, "expirationSeconds");
    int64_t valid_s = json_int_or(expires, 0);
    if (valid_s < TOKEN_MIN_S)
        field_error(&errs, FIELD_INVALID, &at, expires,
                    "may not specify a duration less than 10 minutes");
    if (valid_s > INT64_C(1) << 32)
        field_error(&errs, FIELD_INVALID, &at, expires,
                    "may not specify a duration larger than 2^32 seconds");
    const struct json *audiences = json_getc(spec, "audiences");
    if (json_is(audiences, JSON_ARRAY) && audiences->n > TOKEN_AUDIENCES_MAX)
        return status_bad_request(a, STR("a token is for at most 64 audiences"));
    check_name(meta_name(is->obj), rq->route.name, "name", &errs);
    check_name(meta_namespace(is->obj), rq->route.ns, "namespace", &errs);
    is->token.valid_s = is->shown_s = valid_s;
    if (errs.n)
        return status_invalid(a, token_requests.group, token_requests.kind, STR(""), &errs);
    return NULL;
}

static void take_audiences(struct issue *is)
{
    struct arena *a = &is->rq->arena;
    struct json *spec = json_getc(is->obj, "spec"), *list = json_getc(spec, "audiences");
    if (!json_is(list, JSON_ARRAY) || list->n == 0) {
        list = json_new_array(a);
        json_add(list, json_new_str(a, tokens_issuer(is->rq->api->auth->tokens)));
        json_setc(a, spec, "audiences", list);
    }
    struct str *all = arena_new_n(a, struct str, TOKEN_AUDIENCES_MAX);
    json_each (v, list)
        if (is->token.n_audiences < TOKEN_AUDIENCES_MAX)
            all[is->token.n_audiences++] = json_str(v);
    is->token.audiences = all;
}

/* ------------------------------------------------------------------ the answer */

/*
 * Kubelets request an hour and renew; a token for this server is valid longer, for pods that do not
 * reload it.
 */
static void extend(struct issue *is)
{
    struct token_request *t = &is->token;
    bool ours =
        t->n_audiences == 1 && str_eq(t->audiences[0], tokens_issuer(is->rq->api->auth->tokens));
    if (t->pod.n == 0 || t->valid_s != TOKEN_POD_S || !ours)
        return;
    t->warn_after_s = t->valid_s;
    t->valid_s = TOKEN_POD_EXTENDED_S;
}

static void answer(struct issue *is)
{
    struct request *rq = is->rq;
    struct arena *a = &rq->arena;
    struct err err = { 0 };
    char text[RFC3339_MAX];
    scoped(buf_fini_scoped) struct buf token = BUF_INIT(16 << 10);
    is->token.now_s = clock_wall_ms() / 1000;
    extend(is);
    int r = token_issue(rq->api->auth->tokens, &is->token, &token, &err);
    if (r < 0) {
        reply_err(rq, r, &err);
        return;
    }
    struct json *meta = json_obj(a, is->obj, "metadata"), *status = json_new_object(a);
    json_set_str(a, meta, "name", rq->route.name);
    json_set_str(a, meta, "namespace", rq->route.ns);
    json_set_str(a, meta, "uid", is->token.account_uid);
    rfc3339_format(is->token.now_s, text);
    json_set_str(a, meta, "creationTimestamp", str_of(text));
    rfc3339_format(is->token.now_s + is->shown_s, text);
    json_set_str(a, status, "token", buf_str(&token));
    json_set_str(a, status, "expirationTimestamp", str_of(text));
    json_setc(a, is->obj, "status", status);
    reply_json(rq, 201, is->obj);
}

/* ------------------------------------------------------------------ bound objects */

static void read_next(struct issue *is);

static const struct json *bound_ref(const struct issue *is)
{
    const struct json *ref = json_path(is->obj, "spec", "boundObjectRef", NULL);
    return json_is(ref, JSON_OBJECT) ? ref : NULL;
}

static const char *bound_plural(const struct issue *is)
{
    static const char *const known[][2] = { { "Pod", "pods" },
                                            { "Secret", "secrets" },
                                            { "Node", "nodes" } };
    const struct json *ref = bound_ref(is);
    struct str version = json_get_str(ref, "apiVersion");
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_find_char(version, '/') < 0 && str_is(json_get_str(ref, "kind"), known[i][0]))
            return known[i][1];
    return NULL;
}

static struct json *take_account(struct issue *is, const struct json *obj)
{
    is->token.ns = is->rq->route.ns;
    is->token.account = is->rq->route.name;
    is->token.account_uid = meta_uid(obj);
    return NULL;
}

static struct json *take_bound(struct issue *is, const struct json *obj)
{
    struct arena *a = &is->rq->arena;
    const struct json *ref = bound_ref(is);
    struct str kind = json_get_str(ref, "kind"), want = json_get_str(ref, "uid");
    struct str name = meta_name(obj), uid = meta_uid(obj);
    struct token_request *t = &is->token;
    if (str_is(kind, "Pod")) {
        struct str account = json_str(json_path(obj, "spec", "serviceAccountName", NULL));
        if (!str_eq(account, t->account))
            return status_bad_request(
                a, str_of(arena_printf(a,
                                       "cannot bind token for serviceaccount \"" STR_FMT
                                       "\" to pod running with different serviceaccount name.",
                                       STR_ARG(t->account))));
        t->pod = name;
        t->pod_uid = uid;
        t->node = json_str(json_path(obj, "spec", "nodeName", NULL));
    } else if (str_is(kind, "Secret")) {
        t->secret = name;
        t->secret_uid = uid;
    } else {
        t->node = name;
        t->node_uid = uid;
    }
    if (want.n && !str_eq(want, uid))
        return status_conflict(
            a, STR(""), kind, name,
            arena_printf(a,
                         "the UID in the bound object reference (" STR_FMT
                         ") does not match the UID in record. The object might have been deleted "
                         "and then recreated",
                         STR_ARG(want)));
    return NULL;
}

/* The pod's Node may not exist yet: then the token names no node. */
static void take_pod_node(struct issue *is, const struct json *obj)
{
    if (obj)
        is->token.node_uid = meta_uid(obj);
    else
        is->token.node = STR("");
}

static struct json *take_object(struct issue *is, const struct store_kv *kv)
{
    struct request *rq = is->rq;
    struct arena *a = &rq->arena;
    struct json *obj = NULL;
    bool there = kv && json_parse(a, str_copy_arena(a, kv->value), NULL, &obj, NULL) >= 0;
    switch ((enum issue_at)is->at) {
    case ISSUE_ACCOUNT:
        return there ? take_account(is, obj) : reply_not_found(rq);
    case ISSUE_BOUND:
        return there ? take_bound(is, obj)
                     : status_not_found(a, STR(""), str_of(bound_plural(is)),
                                        json_get_str(bound_ref(is), "name"));
    case ISSUE_POD_NODE:
        take_pod_node(is, there ? obj : NULL);
        return NULL;
    case ISSUE_DONE:
        break;
    }
    return NULL;
}

static void on_object(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    struct issue *is = arg;
    struct request *rq = is->rq;
    (void)rev;
    if (request_idle(rq))
        return;
    if (r < 0) {
        reply_store_err(rq, r, 0, err);
        return;
    }
    const struct json *no = take_object(is, kv);
    is->at++;
    if (no)
        reply_status(rq, no);
    else
        read_next(is);
}

/* The key to read in this state; "" if there is nothing to read. */
static struct str next_key(struct issue *is)
{
    struct arena *a = &is->rq->arena;
    struct str ns = is->rq->route.ns;
    const char *plural = bound_plural(is);
    switch ((enum issue_at)is->at) {
    case ISSUE_ACCOUNT:
        return token_object_key(a, "serviceaccounts", ns, is->rq->route.name);
    case ISSUE_BOUND:
        if (!plural)
            return STR("");
        return token_object_key(a, plural, strcmp(plural, "nodes") == 0 ? STR("") : ns,
                                json_get_str(bound_ref(is), "name"));
    case ISSUE_POD_NODE:
        return is->token.pod.n && is->token.node.n
                   ? token_object_key(a, "nodes", STR(""), is->token.node)
                   : STR("");
    case ISSUE_DONE:
        break;
    }
    return STR("");
}

static void read_next(struct issue *is)
{
    struct request *rq = is->rq;
    struct err err = { 0 };
    struct str key = STR("");
    while (is->at < ISSUE_DONE && (key = next_key(is)).n == 0)
        is->at++;
    if (is->at == ISSUE_DONE) {
        answer(is);
        return;
    }
    request_busy(rq);
    int r = store_get(rq->api->store, key, 0, on_object, is, &err);
    if (r < 0 && !request_idle(rq))
        reply_store_err(rq, r, 0, &err);
}

static struct json *check_ref(struct issue *is)
{
    struct arena *a = &is->rq->arena;
    const struct json *ref = bound_ref(is);
    if (!ref || bound_plural(is))
        return NULL;
    struct str version = json_get_str(ref, "apiVersion"), group, rest;
    if (!str_cut(version, '/', &group, &rest)) {
        group = STR("");
        rest = version;
    }
    return status_bad_request(
        a, str_of(arena_printf(
               a, "cannot bind token to object of type " STR_FMT "/" STR_FMT ", Kind=" STR_FMT,
               STR_ARG(group), STR_ARG(rest), STR_ARG(json_get_str(ref, "kind")))));
}

static void issue(struct issue *is)
{
    const struct json *no = check_request(is);
    if (!no)
        no = check_ref(is);
    if (no) {
        reply_status(is->rq, no);
        return;
    }
    take_audiences(is);
    read_next(is);
}

static void on_admitted(struct admission *ad, struct json *no)
{
    struct issue *is = container_of(ad, struct issue, ad);
    if (no)
        reply_status(is->rq, no);
    else
        issue(is);
}

static void admit(struct issue *is)
{
    struct json *no = NULL;
    is->ad = (struct admission){
        .rq = is->rq, .op = ADMISSION_ASK, .input = is->obj, .obj = is->obj, .done = on_admitted
    };
    admission_begin(&is->ad);
    if (admission_run(&is->ad, ADMISSION_SHAPED, &no))
        on_admitted(&is->ad, no);
}

bool token_request_serve(struct request *rq)
{
    static const struct kube_strategy strategy = { .set_defaults = set_defaults };
    if (!rq->sub || !str_is(rq->sub->kind, "TokenRequest"))
        return false;
    struct issue *is = arena_new(&rq->arena, struct issue);
    is->rq = rq;
    token_requests.strategy = &strategy;
    token_requests.schema =
        builtin_schema(token_requests.group, token_requests.version, token_requests.kind);
    const struct json *no = tokens_can_issue(rq->api->auth->tokens)
                                ? review_read_body(rq, &token_requests, &is->obj)
                                : status_no_resource(&rq->arena);
    if (no)
        reply_status(rq, no);
    else
        admit(is);
    return true;
}
