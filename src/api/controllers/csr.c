/* SPDX-License-Identifier: Apache-2.0 */
/* CertificateSigningRequests; see csr.h. */
#include "api/controllers/csr.h"

#include "api/controllers/rescan.h"
#include "api/identity.h"
#include "api/inner.h"
#include "api/permission.h"
#include "base/clock.h"
#include "base/log.h"
#include "codec/base64.h"
#include "io/address.h"
#include "io/tls.h"

#include <assert.h>
#include <errno.h>

#define GROUP          "certificates.k8s.io"
#define PLURAL         "certificatesigningrequests"
#define SIGNER_CLIENT  "kubernetes.io/kube-apiserver-client"
#define SIGNER_SERVING CSR_SIGNER_SERVING

static bool is_csr(const struct kube_resource *res)
{
    return str_is(res->group, GROUP) && str_is(res->plural, PLURAL);
}

static bool has_condition(const struct json *obj, const char *type)
{
    json_each (c, json_path(obj, "status", "conditions", NULL))
        if (str_is(json_get_str(c, "type"), type))
            return true;
    return false;
}

/* ------------------------------------------------------------------ writes of clients */

/* As upstream, a right to the signer itself, or to all of its domain. */
static struct json *check_signer(struct request *rq, const struct json *obj, const char *verb)
{
    struct arena *a = &rq->arena;
    const struct api *api = rq->api;
    struct str signer = json_str(json_path(obj, "spec", "signerName", NULL)), domain, rest;
    (void)str_cut(signer, '/', &domain, &rest);
    struct api_attributes at = { .identity = &rq->identity,
                                 .is_resource = true,
                                 .verb = str_of(verb),
                                 .group = STR(GROUP),
                                 .version = STR("v1"),
                                 .resource = STR("signers"),
                                 .name = signer };
    if (permission_has(api, &at, NULL))
        return NULL;
    at.name = str_of(arena_printf(a, STR_FMT "/*", STR_ARG(domain)));
    if (permission_has(api, &at, NULL))
        return NULL;
    return status_forbidden(
        a, rq->route.group, rq->route.resource, meta_name(obj),
        str_of(arena_printf(a, "user not permitted to %s requests with signerName \"" STR_FMT "\"",
                            verb, STR_ARG(signer))));
}

bool csr_text(const struct json *obj, struct buf *to)
{
    return base64_decode(to, json_str(json_path(obj, "spec", "request", NULL)), BASE64_LENIENT) ==
           0;
}

static struct json *invalid(struct request *rq, const struct json *obj,
                            const struct field_errors *errs)
{
    return status_invalid(&rq->arena, STR(GROUP), STR("CertificateSigningRequest"), meta_name(obj),
                          errs);
}

/* The address without its port, IPv4 in its own form; "" if it is none. */
static struct str origin_of(const struct request *rq)
{
    const struct str mapped = STR("::ffff:");
    struct str host;
    if (str_is(rq->peer, CSR_IN_PROCESS))
        return rq->peer;
    if (!address_host(rq->peer, &host))
        return STR("");
    if (host.n > 2 && host.p[0] == '[')
        host = str_slice(host, 1, host.n - 1);
    if (str_has_prefix(host, mapped) && str_find_char(host, '.') >= 0)
        host = str_slice(host, mapped.n, host.n);
    return host;
}

/* No client can set where the request came from. */
static void set_origin(struct arena *a, struct json *obj, struct str origin)
{
    struct json *meta = json_obj(a, obj, "metadata"), *notes = json_getc(meta, "annotations");
    (void)json_del(notes, STR(CSR_ORIGIN));
    if (origin.n)
        json_set_str(a, json_obj(a, meta, "annotations"), CSR_ORIGIN, origin);
    else if (notes && notes->n == 0)
        (void)json_del(meta, STR("annotations"));
}

static struct json *check_new(struct request *rq, struct json *obj)
{
    struct arena *a = &rq->arena;
    struct json *spec = json_obj(a, obj, "spec");
    struct x509_subject who;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf pem = BUF_INIT(CSR_TEXT_MAX_BYTES);
    struct json *me = identity_to_json(a, &rq->identity);
    bool is_serving = str_is(json_get_str(spec, "signerName"), SIGNER_SERVING);
    set_origin(a, obj, is_serving ? origin_of(rq) : STR(""));
    static const char *const members[] = { "username", "uid", "groups", "extra" };
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        struct json *v = json_getc(me, members[i]);
        (void)json_del(spec, str_of(members[i]));
        if (v)
            json_setc(a, spec, members[i], json_clone(a, v));
    }
    if (!csr_text(obj, &pem) || x509_read_request(buf_str(&pem), a, &who, &err) < 0)
        return status_bad_request(a, STR("the certificate request cannot be read"));
    if (str_is(json_get_str(spec, "signerName"), SIGNER_CLIENT))
        for (size_t i = 0; i < who.n_orgs; i++)
            if (str_is(who.orgs[i], "system:masters"))
                return status_forbidden(a, rq->route.group, rq->route.resource, meta_name(obj),
                                        STR("use of " SIGNER_CLIENT " signer with system:masters "
                                            "group is not allowed"));
    return NULL;
}

/* Conditions of these two types can be changed only through the approval subresource. */
static bool is_verdict(const struct json *condition)
{
    struct str type = json_get_str(condition, "type");
    return str_is(type, "Approved") || str_is(type, "Denied");
}

static struct json *conditions(struct arena *a, const struct json *verdicts,
                               const struct json *others)
{
    struct json *all = json_new_array(a);
    json_each (c, json_path(verdicts, "status", "conditions", NULL))
        if (is_verdict(c))
            json_add(all, json_clone(a, c));
    json_each (c, json_path(others, "status", "conditions", NULL))
        if (!is_verdict(c))
            json_add(all, json_clone(a, c));
    return all;
}

static void stamp(struct arena *a, struct json *list)
{
    char now[RFC3339_MAX];
    static const char *const members[] = { "lastUpdateTime", "lastTransitionTime" };
    rfc3339_format(clock_wall_ms() / 1000, now);
    json_each (c, list)
        for (size_t i = 0; i < ARRAY_LEN(members); i++)
            if (json_get_str(c, members[i]).n == 0)
                json_set_str(a, c, members[i], str_of(now));
}

static struct json *check_verdict(struct request *rq, const struct json *obj,
                                  const struct json *old)
{
    struct field_errors errs = field_errors_init(&rq->arena);
    struct fpath up = fpath_child(NULL, STR("status")), at = fpath_child(&up, STR("conditions"));
    static const char *const lasting[] = { "Approved", "Denied", "Failed" };
    for (size_t i = 0; i < ARRAY_LEN(lasting); i++)
        if (has_condition(old, lasting[i]) && !has_condition(obj, lasting[i]))
            field_error(&errs, FIELD_FORBIDDEN, &at, NULL,
                        "updates may not remove a condition of type \"%s\"", lasting[i]);
    if (has_condition(obj, "Approved") && has_condition(obj, "Denied"))
        field_error(&errs, FIELD_INVALID, &at, json_new_cstr(&rq->arena, "Denied"),
                    "Approved and Denied conditions are mutually exclusive");
    return errs.n ? invalid(rq, obj, &errs) : NULL;
}

static bool is_approval(const struct request *rq)
{
    return rq->sub && str_is(rq->sub->name, "approval");
}

static bool approval_wanted(void *self, const struct admission *ad)
{
    (void)self;
    return is_csr(ad->rq->res) && is_approval(ad->rq);
}

/* Before validation of an update: an approval does not change the certificate. */
static struct json *approval_apply(void *self, struct admission *ad, void *state)
{
    struct arena *a = &ad->rq->arena;
    struct json *status = json_obj(a, ad->obj, "status");
    const struct json *before = json_path(ad->old, "status", "certificate", NULL);
    (void)self;
    (void)state;
    (void)json_del(status, STR("certificate"));
    if (before)
        json_setc(a, status, "certificate", json_clone(a, before));
    return NULL;
}

static struct json *check_update(struct request *rq, struct json *obj, const struct json *old)
{
    struct arena *a = &rq->arena;
    bool approval = is_approval(rq);
    const struct json *before = json_path(old, "status", "certificate", NULL);
    struct json *status = json_obj(a, obj, "status");
    struct json *all = approval ? json_getc(status, "conditions") : conditions(a, old, obj);
    all = json_is(all, JSON_ARRAY) ? json_clone(a, all) : json_new_array(a);
    struct json *no = NULL;
    stamp(a, all);
    (void)json_del(status, STR("conditions"));
    if (all->n)
        json_setc(a, status, "conditions", all);
    if (approval) {
        no = check_verdict(rq, obj, old);
        return no ? no : check_signer(rq, old, "approve");
    }
    const struct json *after = json_getc(status, "certificate");
    bool same = (!before && !after) || (before && after && json_equal(before, after));
    return same ? NULL : check_signer(rq, old, "sign");
}

static bool csr_wanted(void *self, const struct admission *ad)
{
    (void)self;
    return is_csr(ad->rq->res);
}

static struct json *csr_apply(void *self, struct admission *ad, void *state)
{
    (void)self;
    (void)state;
    if (ad->op == ADMISSION_CREATE)
        return check_new(ad->rq, ad->obj);
    set_origin(&ad->rq->arena, ad->obj,
               json_get_str(json_path(ad->old, "metadata", "annotations", NULL), CSR_ORIGIN));
    return ad->rq->sub ? check_update(ad->rq, ad->obj, ad->old) : NULL;
}

static const struct admission_stage approval = { .name = "CertificateApproval",
                                                 .point = ADMISSION_PREPARED,
                                                 .ops = ADMISSION_ON(ADMISSION_UPDATE),
                                                 .wanted = approval_wanted,
                                                 .apply = approval_apply };

static const struct admission_stage subject = {
    .name = "CertificateSubjectRestriction, CertificateSigning",
    .point = ADMISSION_VALIDATED,
    .ops = ADMISSION_ON(ADMISSION_CREATE) | ADMISSION_ON(ADMISSION_UPDATE),
    .wanted = csr_wanted,
    .apply = csr_apply
};

void csr_register(struct admission_chain *c)
{
    admission_register(c, &approval, NULL);
    admission_register(c, &subject, NULL);
}

/* ------------------------------------------------------------------ signing */

/* The signers of this server, and what they require (Kubernetes documentation, "Kubernetes
 * signers"). */
static const struct signer {
    const char *name;
    enum x509_use use;
    const char *usage, *usages; /* required; as a text */
    bool is_of_node;            /* the subject is a node */
} signers[] = {
    { SIGNER_CLIENT, X509_USE_CLIENT, "client auth",
      "usages may be client auth, digital signature and key encipherment", false },
    { CSR_SIGNER_KUBELET, X509_USE_CLIENT, "client auth",
      "usages may be client auth, digital signature and key encipherment", true },
    { SIGNER_SERVING, X509_USE_SERVER, "server auth",
      "usages may be server auth, digital signature and key encipherment", true },
};

static const struct signer *signer_of(const struct json *obj)
{
    struct str name = json_str(json_path(obj, "spec", "signerName", NULL));
    for (size_t i = 0; i < ARRAY_LEN(signers); i++)
        if (str_is(name, signers[i].name))
            return &signers[i];
    return NULL;
}

static const char *check_usages(const struct json *obj, const struct signer *signer)
{
    bool has = false;
    json_each (v, json_path(obj, "spec", "usages", NULL)) {
        struct str s = json_str(v);
        has = has || str_is(s, signer->usage);
        if (!str_is(s, signer->usage) && !str_is(s, "digital signature") &&
            !str_is(s, "key encipherment"))
            return signer->usages;
    }
    if (has)
        return NULL;
    return signer->use == X509_USE_SERVER ? "usages must hold server auth"
                                          : "usages must hold client auth";
}

static const char *check_subject(const struct x509_subject *who, const struct signer *signer)
{
    if (who->common_name.n == 0)
        return "the subject has no common name";
    if (!signer->is_of_node)
        return NULL;
    if (who->n_orgs != 1 || !str_is(who->orgs[0], "system:nodes"))
        return "the organization must be system:nodes";
    if (!str_has_prefix(who->common_name, STR("system:node:")))
        return "the common name must begin with system:node:";
    if (who->n_other_names)
        return "alternative names may be DNS names and IP addresses only";
    if (signer->use == X509_USE_CLIENT && who->n_host_names)
        return "a client certificate of a node has no alternative names";
    if (signer->use == X509_USE_SERVER && !who->n_host_names)
        return "a DNS name or an IP address is required";
    return NULL;
}

const char *csr_check(const struct json *obj, struct arena *a, struct x509_subject *ret_subject)
{
    struct err err = { 0 };
    const struct signer *signer = signer_of(obj);
    scoped(buf_fini_scoped) struct buf pem = BUF_INIT(CSR_TEXT_MAX_BYTES);
    if (!signer)
        return "the signer is not of this server";
    if (!csr_text(obj, &pem) || x509_read_request(buf_str(&pem), a, ret_subject, &err) < 0)
        return "the request cannot be read";
    const char *why = check_usages(obj, signer);
    return why ? why : check_subject(ret_subject, signer);
}

/* Sets *ret_pem to the certificate, or returns why it cannot be signed. */
static const char *sign(const struct controllers *c, struct arena *a, const struct json *obj,
                        struct buf *ret_pem)
{
    struct err err = { 0 };
    struct x509_subject who;
    scoped(buf_fini_scoped) struct buf pem = BUF_INIT(CSR_TEXT_MAX_BYTES);
    int64_t valid_s = json_int_or(json_path(obj, "spec", "expirationSeconds", NULL), CSR_MAX_S);
    const char *why = csr_check(obj, a, &who);
    if (why)
        return why;
    (void)csr_text(obj, &pem);
    valid_s = MIN(MAX(valid_s, (int64_t)CSR_MIN_S), (int64_t)CSR_MAX_S);
    if (x509_sign_request(buf_str(&c->api->ca_cert), buf_str(&c->api->ca_key), buf_str(&pem),
                          signer_of(obj)->use, (uint64_t)valid_s, ret_pem, &err) < 0) {
        log_error("a certificate was not signed", "error=\"%s\"", err_text(&err));
        return "the authority cannot sign";
    }
    return NULL;
}

static void add_condition(struct arena *a, struct json *status, const char *type,
                          const char *reason, const char *message)
{
    struct json *c = json_new_object(a), *list = json_getc(status, "conditions");
    json_set_str(a, c, "type", str_of(type));
    json_set_str(a, c, "status", STR("True"));
    json_set_str(a, c, "reason", str_of(reason));
    json_set_str(a, c, "message", str_of(message));
    if (!json_is(list, JSON_ARRAY)) {
        list = json_new_array(a);
        json_setc(a, status, "conditions", list);
    }
    json_add(list, c);
}

static void on_retry(struct timer *t)
{
    csr_start(container_of(t, struct controllers, csr_retry.timer));
}

static void retry(struct controllers *c)
{
    if (!c->api->closing)
        retry_arm(c->api->loop, &c->csr_retry, on_retry);
}

static void on_put(void *arg, int r, struct str body)
{
    struct controllers *c = arg;
    (void)body;
    if (r < 0 || r == 429 || r >= 500) {
        log_warn("a certificate request was not written, trying again", "answer=%d", r);
        retry(c);
    } else {
        retry_settle(&c->csr_retry);
    }
    assert(c->csrs_in_flight > 0);
    c->csrs_in_flight--;
    api_part_idle(c->api);
}

/* Write the changed object, unless it has been written since. */
static void put(struct controllers *c, struct arena *a, const struct written *w, struct json *obj,
                const char *sub)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(API_BODY_MAX_BYTES);
    meta_set_resource_version(a, obj, w->rev);
    (void)json_write(&text, obj);
    const struct inner_request req = {
        .method = "PUT",
        .target =
            str_of(arena_printf(a, "/apis/" GROUP "/v1/certificatesigningrequests/" STR_FMT "/%s",
                                STR_ARG(w->name), sub)),
        .content_type = "application/json",
        .body = buf_str(&text)
    };
    if (inner_call(c->api, &req, on_put, c) >= 0)
        c->csrs_in_flight++;
}

static void approve(struct controllers *c, struct arena *a, const struct written *w)
{
    const char *message = csr_auto_approval(c, w->obj, a);
    if (!message) {
        c->csrs_wait = true;
        return;
    }
    struct json *obj = json_clone(a, w->obj);
    add_condition(a, json_obj(a, obj, "status"), "Approved", "AutoApproved", message);
    put(c, a, w, obj, "approval");
}

static void issue(struct controllers *c, struct arena *a, const struct written *w)
{
    scoped(buf_fini_scoped) struct buf pem = BUF_INIT(CSR_TEXT_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(API_BODY_MAX_BYTES);
    struct json *obj = json_clone(a, w->obj), *status = json_obj(a, obj, "status");
    const char *why = sign(c, a, obj, &pem);
    if (why) {
        add_condition(a, status, "Failed", "SignerValidationFailure", why);
    } else {
        (void)base64_encode(&text, buf_str(&pem), BASE64_STD);
        json_set_str(a, status, "certificate", buf_str(&text));
    }
    put(c, a, w, obj, "status");
}

/* Whether a server that could not approve a request before may do so now. */
static bool changes_rights(const struct kube_resource *res)
{
    return str_is(res->group, "rbac.authorization.k8s.io") && !res->namespaced;
}

void csr_written(struct controllers *c, const struct written *w)
{
    struct arena arena = { 0 };
    if (c->csrs_wait && changes_rights(w->res)) {
        c->csrs_wait = false;
        csr_start(c);
    }
    if (!w->obj || c->api->ca_key.n == 0 || !is_csr(w->res) || !signer_of(w->obj) ||
        has_condition(w->obj, "Denied") || has_condition(w->obj, "Failed") ||
        json_str(json_path(w->obj, "status", "certificate", NULL)).n)
        return;
    (has_condition(w->obj, "Approved") ? issue : approve)(c, &arena, w);
    arena_fini(&arena);
}

/* ------------------------------------------------------------------ rescan */

static void on_rescan_done(struct controllers *c, int r)
{
    if (r < 0)
        retry(c);
    assert(c->csrs_in_flight > 0);
    c->csrs_in_flight--;
    api_part_idle(c->api);
}

static const struct rescan_opts rescan = { .group = { GROUP, sizeof GROUP - 1 },
                                           .plural = { PLURAL, sizeof PLURAL - 1 },
                                           .written = csr_written,
                                           .done = on_rescan_done };

void csr_start(struct controllers *c)
{
    if (c->api->ca_key.n == 0)
        return;
    c->csrs_in_flight++;
    int r = rescan_start(c, &rescan);
    if (r < 0)
        on_rescan_done(c, r);
}

void csr_stop(struct controllers *c)
{
    timer_stop(c->api->loop, &c->csr_retry.timer);
}
