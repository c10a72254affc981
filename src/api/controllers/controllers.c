/* SPDX-License-Identifier: Apache-2.0 */
/* The controllers of one server; see controllers.h. */
#include "api/controllers/controllers.h"

#include "api/controllers/csr.h"
#include "api/controllers/policy_types.h"

#include <assert.h>
#include <errno.h>

/* ------------------------------------------------------------------ definitions, namespaces */

static void on_crds_ready(void *arg, int r, const struct err *err)
{
    struct controllers *c = arg;
    if (r < 0 || c->api->closing)
        c->ready(c->ready_arg, r < 0 ? r : -ECANCELED, err);
    else
        c->namespaces = namespaces_start(c->api, c->ready, c->ready_arg);
}

static void first_start(void *self, controller_ready_cb ready, void *arg)
{
    struct controllers *c = self;
    assert(!c->crds && !c->namespaces);
    c->ready = ready;
    c->ready_arg = arg;
    c->crds = crds_start(c->api, on_crds_ready, c);
}

static void first_stop(void *self)
{
    const struct controllers *c = self;
    namespaces_stop(c->namespaces);
    crds_stop(c->crds);
}

static void first_free(void *self)
{
    struct controllers *c = self;
    namespaces_free(c->namespaces);
    crds_free(c->crds);
    free(c);
}

static bool first_is_busy(const void *self)
{
    const struct controllers *c = self;
    return crds_is_busy(c->crds) || namespaces_is_busy(c->namespaces);
}

static void first_written(void *self, const struct written *w)
{
    const struct controllers *c = self;
    if (api_is_definition(w->res))
        crds_written(c->crds, w->name, w->value, w->rev);
}

static const struct api_part_ops first = { .name = "definitions and namespaces",
                                           .start = first_start,
                                           .stop = first_stop,
                                           .free = first_free,
                                           .is_busy = first_is_busy,
                                           .written = first_written,
                                           .lost = first_written };

/* ------------------------------------------------------------------ the others */

static void on_defaults_ready(void *arg, int r, const struct err *err)
{
    struct controllers *c = arg;
    struct api *api = c->api;
    if (r >= 0) {
        assert(c->gc && c->accounts && c->aggregate && c->defaults && !c->event_expiry);
        c->event_expiry = expiry_start_events(api, c->event_ttl_ms);
        c->token_expiry = expiry_start_tokens(api);
        c->request_expiry = expiry_start_requests(api);
        c->quotas = quotas_start(api);
        c->account_secrets = account_secrets_start(api);
        c->cluster_info = cluster_info_start(api);
        c->pod_cidrs = pod_cidrs_start(api, &c->node_cidrs);
        csr_start(c);
        policy_types_start(c);
    }
    c->ready(c->ready_arg, r, err);
}

static void on_aggregate_ready(void *arg, int r, const struct err *err)
{
    struct controllers *c = arg;
    if (r < 0 || c->api->closing)
        on_defaults_ready(c, r < 0 ? r : -ECANCELED, err);
    else
        c->defaults = defaults_start(c->api, on_defaults_ready, c);
}

static void on_accounts_ready(void *arg, int r, const struct err *err)
{
    struct controllers *c = arg;
    if (r < 0 || c->api->closing)
        on_aggregate_ready(c, r < 0 ? r : -ECANCELED, err);
    else
        c->aggregate = aggregate_start(c->api, on_aggregate_ready, c);
}

static void on_gc_ready(void *arg, int r, const struct err *err)
{
    struct controllers *c = arg;
    if (r < 0 || c->api->closing)
        on_aggregate_ready(c, r < 0 ? r : -ECANCELED, err);
    else
        c->accounts = accounts_start(c->api, on_accounts_ready, c);
}

static void rest_start(void *self, controller_ready_cb ready, void *arg)
{
    struct controllers *c = self;
    assert(c->crds && c->namespaces && !c->gc);
    c->ready = ready;
    c->ready_arg = arg;
    c->gc = gc_start(c->api, on_gc_ready, c);
}

static void rest_stop(void *self)
{
    struct controllers *c = self;
    csr_stop(c);
    policy_types_stop(c);
    pod_cidrs_stop(c->pod_cidrs);
    cluster_info_stop(c->cluster_info);
    account_secrets_stop(c->account_secrets);
    quotas_stop(c->quotas);
    expiry_stop(c->event_expiry);
    expiry_stop(c->token_expiry);
    expiry_stop(c->request_expiry);
    defaults_stop(c->defaults);
    aggregate_stop(c->aggregate);
    accounts_stop(c->accounts);
    gc_stop(c->gc);
}

static void rest_free(void *self)
{
    struct controllers *c = self;
    pod_cidrs_free(c->pod_cidrs);
    cluster_info_free(c->cluster_info);
    account_secrets_free(c->account_secrets);
    quotas_free(c->quotas);
    expiry_free(c->event_expiry);
    expiry_free(c->token_expiry);
    expiry_free(c->request_expiry);
    defaults_free(c->defaults);
    aggregate_free(c->aggregate);
    accounts_free(c->accounts);
    gc_free(c->gc);
}

static bool rest_is_busy(const void *self)
{
    const struct controllers *c = self;
    return gc_is_busy(c->gc) || accounts_is_busy(c->accounts) || aggregate_is_busy(c->aggregate) ||
           defaults_is_busy(c->defaults) || expiry_is_busy(c->event_expiry) ||
           expiry_is_busy(c->token_expiry) || expiry_is_busy(c->request_expiry) ||
           quotas_is_busy(c->quotas) || account_secrets_is_busy(c->account_secrets) ||
           cluster_info_is_busy(c->cluster_info) || pod_cidrs_is_busy(c->pod_cidrs) ||
           c->csrs_in_flight > 0 || c->policy_types_in_flight > 0;
}

/* Notify only the controllers that need nothing but the name. */
static void rest_lost(void *self, const struct written *w)
{
    const struct controllers *c = self;
    accounts_written(c->accounts, w);
    aggregate_written(c->aggregate, w);
    quotas_written(c->quotas, w);
    defaults_written(c->defaults, w);
    cluster_info_written(c->cluster_info, w);
    pod_cidrs_written(c->pod_cidrs, w);
}

static void rest_written(void *self, const struct written *w)
{
    struct controllers *c = self;
    if (api_is_definition(w->res))
        gc_kinds_changed(c->gc);
    gc_written(c->gc, w);
    accounts_written(c->accounts, w);
    aggregate_written(c->aggregate, w);
    expiry_written(c->event_expiry, w);
    expiry_written(c->token_expiry, w);
    expiry_written(c->request_expiry, w);
    quotas_written(c->quotas, w);
    account_secrets_written(c->account_secrets, w);
    cluster_info_written(c->cluster_info, w);
    pod_cidrs_written(c->pod_cidrs, w);
    defaults_written(c->defaults, w);
    csr_written(c, w);
    policy_types_written(c, w);
}

static const struct api_part_ops rest = { .name = "controllers",
                                          .start = rest_start,
                                          .stop = rest_stop,
                                          .free = rest_free,
                                          .is_busy = rest_is_busy,
                                          .written = rest_written,
                                          .lost = rest_lost };

/* ------------------------------------------------------------------ interface */

void controllers_init(struct api *api, const struct api_opts *opts)
{
    struct controllers *c = xnew(struct controllers);
    *c = (struct controllers){ .api = api,
                               .node_cidrs = opts->node_cidrs,
                               .event_ttl_ms = opts->event_ttl_ms ? opts->event_ttl_ms : 3600000 };
    api->controllers = c;
}

void controllers_add_first(struct controllers *c)
{
    api_add_part(c->api, &first, c);
}

void controllers_add_rest(struct controllers *c)
{
    api_add_part(c->api, &rest, c);
}

void controllers_register_first(struct admission_chain *c)
{
    crds_register(c);
}

void controllers_register_last(struct admission_chain *c)
{
    csr_register(c);
}

uint64_t controllers_schema_revision(const struct api *api, const struct kube_resource *res)
{
    return crds_revision(api->controllers->crds, res);
}

const struct kube_resource *controllers_find_stored(const struct api *api, struct str group,
                                                    struct str version, struct str plural)
{
    return crds_find_stored(api->controllers->crds, group, version, plural);
}

bool controllers_have_indices(const struct api *api, uint64_t at_rev)
{
    return gc_has_indices(api->controllers->gc, at_rev);
}

bool controllers_have_quota(void *arg, struct str ns)
{
    const struct api *api = arg;
    return quotas_in(api->controllers->quotas, ns);
}

void api_publish_cluster(struct api *api, struct str kubeconfig)
{
    cluster_info_set(api->controllers->cluster_info, kubeconfig);
}
