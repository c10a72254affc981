/* SPDX-License-Identifier: Apache-2.0 */
/* The policies in force, and the evaluation of a write; see policies.h. */
#include "api/admit/policies.h"

#include "api/encode.h"
#include "api/filter.h"
#include "api/identity.h"
#include "api/part.h"
#include "api/scale.h"
#include "kube/cel/cel_policy.h"
#include "kube/model/selector.h"

#include <assert.h>
#include <errno.h>

#define GROUP "admissionregistration.k8s.io"

enum policy_kind { POLICY, BINDING, N_KINDS };

static const char *const prefixes[N_KINDS] = {
    [POLICY] = "/registry/" GROUP "/validatingadmissionpolicies/",
    [BINDING] = "/registry/" GROUP "/validatingadmissionpolicybindings/"
};

struct policies {
    struct api *api;
    struct map texts[N_KINDS]; /* name -> JSON */
    enum policy_kind at;       /* while loading */
    struct buf after;
    struct defer begin;
    bool loading; /* from the start until ready() */
    bool stopped;
    size_t n_damaged; /* policies that cannot be read, so that their rules are unknown */
    controller_ready_cb ready;
    void *ready_arg;
};

/* ------------------------------------------------------------------ policies in force */

static void keep(struct policies *p, enum policy_kind kind, struct str name, struct str text)
{
    free(map_del(&p->texts[kind], name));
    if (text.n)
        (void)map_put(&p->texts[kind], name, str_dup(text));
}

static bool is_kind(const struct kube_resource *res, enum policy_kind kind)
{
    static const char *const plurals[] = {
        [POLICY] = "validatingadmissionpolicies", [BINDING] = "validatingadmissionpolicybindings"
    };
    return str_is(res->group, GROUP) && str_is(res->plural, plurals[kind]);
}

void policies_written(struct policies *p, const struct written *w)
{
    for (int kind = 0; p && kind < N_KINDS; kind++)
        if (is_kind(w->res, (enum policy_kind)kind))
            keep(p, (enum policy_kind)kind, w->name, w->value);
}

void policies_lost(struct policies *p, const struct kube_resource *res, struct str name)
{
    for (int kind = 0; p && kind < N_KINDS; kind++) {
        if (!is_kind(res, (enum policy_kind)kind))
            continue;
        if (!map_has(&p->texts[kind], name) && p->n_damaged > 0)
            p->n_damaged--;
        keep(p, (enum policy_kind)kind, name, STR(""));
    }
}

static bool policies_wanted(void *self, const struct admission *ad)
{
    const struct admit *admit = self;
    const struct policies *p = admit->policies;
    return p && (p->texts[BINDING].n > 0 || p->n_damaged) && !is_kind(ad->rq->res, POLICY) &&
           !is_kind(ad->rq->res, BINDING);
}

/* ------------------------------------------------------------------ one request */

/* A binding that may match the request, and its policy. */
struct hook {
    const struct json *policy, *binding;
    bool failed; /* its parameters cannot be read: `why` */
    const char *why;
    struct json *params; /* array; NULL: the policy has no paramKind */
    struct hook *next;
};

struct policies_check {
    struct request *rq;
    struct admission *ad;
    const struct policies *policies;
    struct policy_request about;
    struct cel_authorizer authorizer;
    struct cel_access asked_for;    /* attributes of the request itself */
    struct hook *first, *last, *at; /* at: the hook whose parameters are being read */
    const struct hook *denier;      /* the first hook that refuses */
    struct str message, reason;
    const struct hook *asked; /* the hook being evaluated */
    struct json *no;          /* the result, if nothing had to be read */
};

static struct str name_in(const struct json *obj)
{
    return json_str(json_path(obj, "metadata", "name", NULL));
}

static bool has_action(const struct json *binding, const char *action)
{
    json_each (x, json_path(binding, "spec", "validationActions", NULL))
        if (str_is(json_str(x), action))
            return true;
    return false;
}

static void deny(struct policies_check *c, const struct hook *h, struct str message,
                 struct str reason)
{
    struct arena *a = &c->rq->arena;
    if (c->denier)
        return;
    c->denier = h;
    c->message = str_copy_arena(a, message);
    c->reason = str_copy_arena(a, reason);
}

static void on_denied(void *arg, struct str message, struct str reason)
{
    struct policies_check *c = arg;
    const struct hook *h = c->asked;
    if (has_action(h->binding, "Deny"))
        deny(c, h, message, reason);
    if (has_action(h->binding, "Warn"))
        reply_warn(c->rq,
                   str_of(arena_printf(&c->rq->arena,
                                       "Validation failed for ValidatingAdmissionPolicy '" STR_FMT
                                       "' with binding '" STR_FMT "': " STR_FMT,
                                       STR_ARG(name_in(h->policy)), STR_ARG(name_in(h->binding)),
                                       STR_ARG(message))));
}

static struct json *refusal(struct policies_check *c)
{
    static const struct {
        const char *reason;
        int code;
    } codes[] = { { "Forbidden", 403 }, { "Unauthorized", 401 }, { "RequestEntityTooLarge", 413 } };
    struct request *rq = c->rq;
    struct arena *a = &rq->arena;
    struct str text =
        str_of(arena_printf(a,
                            "ValidatingAdmissionPolicy '" STR_FMT "' with binding '" STR_FMT
                            "' denied request: " STR_FMT,
                            STR_ARG(name_in(c->denier->policy)),
                            STR_ARG(name_in(c->denier->binding)), STR_ARG(c->message)));
    struct str reason = c->reason.n ? c->reason : STR("Invalid");
    struct json *status = status_forbidden(a, rq->res->group, rq->res->plural, c->about.name, text);
    struct json *cause = json_new_object(a), *causes = json_new_array(a);
    int code = 422;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (str_is(reason, codes[i].reason))
            code = codes[i].code;
    json_set_str(a, cause, "message", text);
    json_add(causes, cause);
    json_set_str(a, status, "reason", reason);
    json_set_int(a, status, "code", code);
    json_setc(a, json_obj(a, status, "details"), "causes", causes);
    return status;
}

static void evaluate(struct policies_check *c, struct hook *h)
{
    struct arena a = { .budget = c->rq->arena.budget };
    const struct json *spec = json_getc(h->binding, "spec");
    c->asked = h;
    if (!cel_policy_matches(&a, json_path(h->policy, "spec", "matchConstraints", NULL),
                            &c->about) ||
        !cel_policy_matches(&a, json_getc(spec, "matchResources"), &c->about)) {
        arena_fini(&a);
        return;
    }
    if (h->failed && cel_policy_fails_closed(h->policy))
        deny(c, h, str_of(h->why), STR(""));
    else if (!h->failed && !h->params)
        cel_policy_evaluate(&a, h->policy, &c->about, NULL, on_denied, c);
    json_each (params, h->params)
        if (!h->failed)
            cel_policy_evaluate(&a, h->policy, &c->about, params, on_denied, c);
    arena_fini(&a);
}

static void end(struct policies_check *c, struct json *no)
{
    if (c->ad->waiting)
        admission_continue(c->ad, no);
    else
        c->no = no;
}

static void finish(struct policies_check *c)
{
    for (struct hook *h = c->first; h; h = h->next)
        evaluate(c, h);
    end(c, c->denier ? refusal(c) : NULL);
}

/* ---- parameters ---- */

static void read_params(struct policies_check *c);

static void no_params(struct hook *h, const char *why)
{
    h->failed = true;
    h->why = why;
}

/* All parameter objects were read; there may be none. */
static void params_found(struct policies_check *c)
{
    struct hook *h = c->at;
    const struct json *ref = json_path(h->binding, "spec", "paramRef", NULL);
    bool allow = str_is(json_get_str(ref, "parameterNotFoundAction"), "Allow");
    if (h->params->n == 0 && !allow)
        no_params(h, "failed to configure binding: no params found for policy binding with `Deny` "
                     "parameterNotFoundAction");
    c->at = h->next;
    read_params(c);
}

static struct json *param_of(struct policies_check *c, const struct kube_resource *res,
                             const struct store_kv *kv)
{
    struct arena *a = &c->rq->arena;
    struct encode_stored st = filter_stored(c->rq->api, res, kv);
    struct json *v;
    st.value = str_copy_arena(a, kv->value);
    return encode_read_stored(a, res, st, &v, NULL) < 0 ? NULL : v;
}

static const struct kube_resource *param_kind(const struct policies_check *c, const struct hook *h)
{
    const struct json *kind = json_path(h->policy, "spec", "paramKind", NULL);
    struct str group, version, api_version = json_get_str(kind, "apiVersion");
    if (!str_cut(api_version, '/', &group, &version)) {
        group = STR("");
        version = api_version;
    }
    return kube_registry_find_kind(&c->rq->api->reg, group, version, json_get_str(kind, "kind"));
}

static void on_param(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                     const struct err *err)
{
    struct policies_check *c = arg;
    (void)rev;
    if (request_idle(c->rq))
        return;
    if (r < 0) {
        no_params(c->at,
                  arena_printf(&c->rq->arena, "failed to configure binding: %s", err_text(err)));
    } else if (kv) {
        struct json *v = param_of(c, param_kind(c, c->at), kv);
        if (v)
            json_add(c->at->params, v);
    }
    params_found(c);
}

static void on_params(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct policies_check *c = arg;
    struct arena *a = &c->rq->arena;
    struct hook *h = c->at;
    struct selector s;
    if (request_idle(c->rq))
        return;
    const struct json *selector = json_path(h->binding, "spec", "paramRef", "selector", NULL);
    if (r >= 0)
        r = selector_from_object(a, selector, &s, NULL);
    if (r < 0 || page->more) {
        no_params(h, arena_printf(a, "failed to configure binding: %s",
                                  r < 0 && err ? err_text(err) : "too many params"));
        params_found(c);
        return;
    }
    for (size_t i = 0; i < page->n; i++) {
        struct json *v = param_of(c, param_kind(c, h), &page->kv[i]);
        if (v && selector_matches_labels(&s, json_path(v, "metadata", "labels", NULL)))
            json_add(h->params, v);
    }
    params_found(c);
}

/* Start reading the parameters; false: the error was recorded. */
static bool begin_params(struct policies_check *c, struct hook *h)
{
    struct request *rq = c->rq;
    struct arena *a = &rq->arena;
    const struct json *ref = json_path(h->binding, "spec", "paramRef", NULL);
    const struct kube_resource *res = param_kind(c, h);
    struct str name = json_get_str(ref, "name"), ns = json_get_str(ref, "namespace");
    h->params = json_new_array(a);
    if (!res || !ref) {
        no_params(h, "failed to configure policy: failed to find resource referenced by paramKind");
        return false;
    }
    if (!res->namespaced)
        ns = STR("");
    else if (ns.n == 0)
        ns = c->about.ns;
    if (res->namespaced && ns.n == 0) {
        no_params(h, "failed to configure binding: cannot use namespaced paramRef in policy "
                     "binding that matches cluster-scoped resources");
        return false;
    }
    const struct store_range range = { .prefix = key_prefix_ns(a, res, ns),
                                       .limit = POLICIES_MAX_PARAMS };
    int r = name.n ? store_get(rq->api->store, key_object(a, res, ns, name), 0, on_param, c, NULL)
                   : store_range(rq->api->store, &range, on_params, c, NULL);
    if (r < 0) {
        no_params(h, "failed to configure binding: the store cannot be read");
        return false;
    }
    request_busy(rq);
    admission_wait(c->ad);
    return true;
}

static void read_params(struct policies_check *c)
{
    for (; c->at; c->at = c->at->next) {
        bool wanted = json_is(json_path(c->at->policy, "spec", "paramKind", NULL), JSON_OBJECT);
        if (wanted && begin_params(c, c->at))
            return;
    }
    finish(c);
}

/* ---- the namespace ---- */

static void on_space(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                     const struct err *err)
{
    struct policies_check *c = arg;
    struct json *space = NULL;
    (void)rev;
    (void)err;
    if (request_idle(c->rq))
        return;
    if (r < 0) {
        end(c, status_from_err(&c->rq->arena, r, err));
        return;
    }
    if (kv)
        (void)json_parse(&c->rq->arena, str_copy_arena(&c->rq->arena, kv->value), NULL, &space,
                         NULL);
    c->about.space = space;
    read_params(c);
}

static void read_space(struct policies_check *c)
{
    struct request *rq = c->rq;
    struct str key =
        str_of(arena_printf(&rq->arena, "/registry/namespaces/" STR_FMT, STR_ARG(c->about.ns)));
    struct err err = { 0 };
    int r = store_get(rq->api->store, key, 0, on_space, c, &err);
    if (r < 0) {
        end(c, status_from_err(&rq->arena, r, &err));
        return;
    }
    request_busy(rq);
    admission_wait(c->ad);
}

/* ---- authorization checks ---- */

static bool allows(void *arg, const struct cel_access *x, bool is_path, struct str verb)
{
    const struct policies_check *c = arg;
    const struct api *api = c->rq->api;
    struct arena a = { 0 };
    struct str groups[3] = { STR("system:serviceaccounts"), STR(""), STR("system:authenticated") };
    struct kube_identity account = { .groups = groups, .n_groups = ARRAY_LEN(groups) };
    if (x->account.n) {
        groups[1] =
            str_of(arena_printf(&a, "system:serviceaccounts:" STR_FMT, STR_ARG(x->account_ns)));
        account.user = str_of(arena_printf(&a, "system:serviceaccount:" STR_FMT ":" STR_FMT,
                                           STR_ARG(x->account_ns), STR_ARG(x->account)));
    }
    const struct api_attributes at = { .identity = x->account.n ? &account : &c->rq->identity,
                                       .verb = verb,
                                       .is_resource = !is_path,
                                       .group = x->group,
                                       .version = STR("*"),
                                       .resource = x->resource,
                                       .subresource = x->subresource,
                                       .name = x->name,
                                       .ns = x->ns,
                                       .path = x->path };
    bool yes = !api->authorize || api->authorize(api->authorize_arg, &at, NULL);
    arena_fini(&a);
    return yes;
}

/* ---- matching ---- */

/* Matches everything except namespace selectors. */
static bool may_match(struct policies_check *c, const struct json *policy,
                      const struct json *binding)
{
    struct arena a = { 0 };
    bool match =
        cel_policy_matches(&a, json_path(policy, "spec", "matchConstraints", NULL), &c->about) &&
        cel_policy_matches(&a, json_path(binding, "spec", "matchResources", NULL), &c->about);
    arena_fini(&a);
    return match;
}

static void find_hooks(struct policies_check *c)
{
    struct arena *a = &c->rq->arena;
    const struct policies *p = c->policies;
    map_each (m, &p->texts[BINDING]) {
        struct json *binding, *policy;
        const char *text = m->value;
        if (json_parse(a, str_of(str_dup_arena(a, str_of(text))), NULL, &binding, NULL) < 0)
            continue;
        text = map_get(&p->texts[POLICY], json_str(json_path(binding, "spec", "policyName", NULL)));
        if (!text || json_parse(a, str_of(str_dup_arena(a, str_of(text))), NULL, &policy, NULL) < 0)
            continue; /* its policy does not exist */
        if (!may_match(c, policy, binding))
            continue;
        struct hook *h = arena_new(a, struct hook);
        *h = (struct hook){ .policy = policy, .binding = binding };
        if (c->last)
            c->last->next = h;
        else
            c->first = h;
        c->last = h;
    }
}

static bool is_namespaces(const struct kube_resource *res)
{
    return res->group.n == 0 && str_is(res->plural, "namespaces");
}

static const char *operation(const struct admission *ad)
{
    return ad->op == ADMISSION_CREATE ? "CREATE" : ad->op == ADMISSION_DELETE ? "DELETE" : "UPDATE";
}

static struct json *policies_apply(void *self, struct admission *ad, void *state)
{
    const struct admit *admit = self;
    struct request *rq = ad->rq;
    struct arena *a = &rq->arena;
    (void)state;
    if (admit->policies->n_damaged)
        return status_internal(a, STR("a stored admission policy or binding is damaged, and what "
                                      "it forbids is not known: 'dormouse store check' shows it "
                                      "and, with --remove, deletes it"));
    if (rq->route.verb == KUBE_DELETECOLLECTION && ad->attempt == 0)
        budget_allow(&rq->budget, API_WORK_OF_POLICIES);
    struct policies_check *c = arena_new(a, struct policies_check);
    bool scale = rq->sub && str_is(rq->sub->name, "scale");
    const struct json *object = ad->obj, *old = ad->old;
    *c = (struct policies_check){
        .rq = rq,
        .ad = ad,
        .policies = admit->policies,
        .about = { .res = rq->res,
                   .subresource = rq->sub ? rq->sub->name : STR(""),
                   .name = ad->name,
                   .ns = is_namespaces(rq->res) ? ad->name : rq->route.ns,
                   .operation = operation(ad),
                   .object = scale && object ? scale_of(a, rq->res, object) : object,
                   .old = scale && old ? scale_of(a, rq->res, old) : old,
                   .user = identity_to_json(a, &rq->identity),
                   .dry_run = ad->dry_run }
    };
    c->asked_for = (struct cel_access){ .kind = ACCESS_RESOURCE,
                                        .by = &c->authorizer,
                                        .group = rq->res->group,
                                        .resource = rq->res->plural,
                                        .subresource = c->about.subresource,
                                        .ns = rq->res->namespaced ? c->about.ns : STR(""),
                                        .name = ad->name };
    c->authorizer = (struct cel_authorizer){ .allows = allows, .arg = c, .request = &c->asked_for };
    c->about.authorizer = &c->authorizer;
    find_hooks(c);
    c->at = c->first;
    if (c->first && rq->res->namespaced)
        read_space(c);
    else
        read_params(c);
    return c->no;
}

static const struct admission_stage validating = { .name = "ValidatingAdmissionPolicy",
                                                   .point = ADMISSION_SHAPED,
                                                   .ops = ADMISSION_ON(ADMISSION_CREATE) |
                                                          ADMISSION_ON(ADMISSION_UPDATE) |
                                                          ADMISSION_ON(ADMISSION_DELETE),
                                                   .wanted = policies_wanted,
                                                   .apply = policies_apply };

void policies_register(struct admit *ad, struct admission_chain *c)
{
    admission_register(c, &validating, ad);
}

/* ------------------------------------------------------------------ lifecycle */

static void load(struct policies *p);

static void loaded(struct policies *p, int r, const struct err *err)
{
    struct api *api = p->api;
    assert(p->loading);
    p->loading = false;
    p->ready(p->ready_arg, p->stopped ? -ECANCELED : r, err);
    api_part_idle(api);
}

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct policies *p = arg;
    p->n_damaged += r >= 0 ? page->left_out : 0;
    for (size_t i = 0; r >= 0 && !p->stopped && i < page->n; i++) {
        const struct store_kv *kv = &page->kv[i];
        struct str name = str_slice(kv->key, strlen(prefixes[p->at]), kv->key.n);
        if (!map_has(&p->texts[p->at], name)) /* else it was written meanwhile */
            keep(p, p->at, name, kv->value);
    }
    bool more = r >= 0 && page->more;
    buf_reset(&p->after);
    if (more)
        (void)buf_add_str(&p->after, page->kv[page->n - 1].key);
    else
        p->at++;
    if (r >= 0 && p->at < N_KINDS && !p->stopped)
        load(p);
    else
        loaded(p, r, err);
}

static void load(struct policies *p)
{
    struct err err = { 0 };
    const struct store_range range = { .prefix = str_of(prefixes[p->at]),
                                       .after = buf_str(&p->after),
                                       .skip_damaged = true };
    int r = store_range(p->api->store, &range, on_page, p, &err);
    if (r < 0)
        loaded(p, r, &err);
}

static void on_begin(struct defer *d)
{
    load(container_of(d, struct policies, begin));
}

struct policies *policies_start(struct api *api, controller_ready_cb ready, void *arg)
{
    struct policies *p = xnew(struct policies);
    *p = (struct policies){
        .api = api, .ready = ready, .ready_arg = arg, .after = BUF_INIT(STORE_KEY_MAX_BYTES)
    };
    p->loading = true;
    defer_start(api->loop, &p->begin, on_begin);
    return p;
}

void policies_stop(struct policies *p)
{
    if (p)
        p->stopped = true;
}

bool policies_is_busy(const struct policies *p)
{
    return p && p->loading;
}

void policies_free(struct policies *p)
{
    if (!p)
        return;
    assert(!policies_is_busy(p));
    for (int kind = 0; kind < N_KINDS; kind++) {
        map_each (m, &p->texts[kind])
            free(m->value);
        map_fini(&p->texts[kind]);
    }
    buf_fini(&p->after);
    free(p);
}
