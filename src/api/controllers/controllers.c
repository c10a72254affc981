/* SPDX-License-Identifier: Apache-2.0 */
/* The controllers of one server, together; see controllers.h. */
#include "api/controllers/controllers.h"

#include "api/admit/policies.h"
#include "api/auth/authz.h"
#include "api/auth/tokens.h"
#include "api/controllers/csr.h"
#include "api/controllers/policy_types.h"

#include <errno.h>

static void on_policies_ready(void *arg, int r, const struct err *err)
{
    struct api *api = arg;
    api->controllers_ready(api->controllers_ready_arg, r, err);
}

static void on_defaults_ready(void *arg, int r, const struct err *err)
{
    struct api *api = arg;
    if (r >= 0) {
        api->expiry = expiry_start(api, api->event_ttl_ms);
        api->quotas = quotas_start(api);
        api->account_secrets = account_secrets_start(api);
        csr_start(api);
        policy_types_start(api);
        api->policies = policies_start(api, on_policies_ready, api);
    } else {
        on_policies_ready(api, r, err);
    }
}

static void on_aggregate_ready(void *arg, int r, const struct err *err)
{
    struct api *api = arg;
    if (r < 0 || api->closing)
        on_defaults_ready(api, r < 0 ? r : -ECANCELED, err);
    else
        api->defaults = defaults_start(api, on_defaults_ready, api);
}

static void on_accounts_ready(void *arg, int r, const struct err *err)
{
    struct api *api = arg;
    if (r < 0 || api->closing)
        on_aggregate_ready(api, r < 0 ? r : -ECANCELED, err);
    else
        api->aggregate = aggregate_start(api, on_aggregate_ready, api);
}

static void on_gc_ready(void *arg, int r, const struct err *err)
{
    struct api *api = arg;
    if (r < 0 || api->closing)
        on_aggregate_ready(api, r < 0 ? r : -ECANCELED, err);
    else
        api->accounts = accounts_start(api, on_accounts_ready, api);
}

void controllers_start(struct api *api, controller_ready_cb ready, void *arg)
{
    api->controllers_ready = ready;
    api->controllers_ready_arg = arg;
    api->gc = gc_start(api, on_gc_ready, api);
}

void controllers_stop(struct api *api)
{
    csr_stop(api);
    policy_types_stop(api);
    policies_stop(api->policies);
    account_secrets_stop(api->account_secrets);
    quotas_stop(api->quotas);
    expiry_stop(api->expiry);
    defaults_stop(api->defaults);
    aggregate_stop(api->aggregate);
    accounts_stop(api->accounts);
    gc_stop(api->gc);
    authz_stop(api->authz);
    namespaces_stop(api->namespaces);
    crds_stop(api->crds);
}

void controllers_free(struct api *api)
{
    policies_free(api->policies);
    account_secrets_free(api->account_secrets);
    quotas_free(api->quotas);
    expiry_free(api->expiry);
    defaults_free(api->defaults);
    aggregate_free(api->aggregate);
    accounts_free(api->accounts);
    gc_free(api->gc);
    authz_free(api->authz);
    namespaces_free(api->namespaces);
    crds_free(api->crds);
}

bool controllers_busy(const struct api *api)
{
    return crds_is_busy(api->crds) || namespaces_is_busy(api->namespaces) ||
           authz_is_busy(api->authz) || gc_is_busy(api->gc) || accounts_is_busy(api->accounts) ||
           aggregate_is_busy(api->aggregate) || defaults_is_busy(api->defaults) ||
           expiry_is_busy(api->expiry) || quotas_is_busy(api->quotas) ||
           account_secrets_is_busy(api->account_secrets) || policies_is_busy(api->policies) ||
           api->csrs_in_flight > 0 || api->policy_types_in_flight > 0;
}

static bool is_crd(const struct kube_resource *res)
{
    return str_is(res->group, "apiextensions.k8s.io") &&
           str_is(res->plural, "customresourcedefinitions");
}

/* Keep the table of Namespaces that take new objects (namespace_table.h) current. */
static void note_namespace(struct api *api, const struct written *w)
{
    if (w->res->group.n || !str_is(w->res->plural, "namespaces"))
        return;
    if (w->obj && !meta_is_deleting(w->obj))
        namespace_table_put(&api->namespace_table, w->name, w->rev);
    else
        namespace_table_forget(&api->namespace_table, w->name);
}

void controllers_lost(struct api *api, const struct kube_resource *res, struct str ns,
                      struct str name, struct str key, uint64_t rev)
{
    struct arena a = { 0 };
    struct json *old = json_new_object(&a), *meta = json_obj(&a, old, "metadata");
    json_set_str(&a, meta, "name", name);
    json_set_str(&a, meta, "namespace", ns);
    const struct written w = {
        .res = res, .key = key, .name = name, .old = old, .value = STR(""), .rev = rev
    };
    if (is_crd(res))
        crds_written(api->crds, name, w.value, rev);
    note_namespace(api, &w);
    accounts_written(api->accounts, &w);
    aggregate_written(api->aggregate, &w);
    quotas_written(api->quotas, &w);
    defaults_written(api->defaults, &w);
    policies_lost(api->policies, res, name);
    tokens_written(api->tokens, &w);
    watch_note_write(api);
    arena_fini(&a);
}

void controllers_written(struct api *api, const struct written *w)
{
    if (is_crd(w->res)) {
        crds_written(api->crds, w->name, w->value, w->rev);
        gc_kinds_changed(api->gc);
    }
    note_namespace(api, w);
    gc_written(api->gc, w);
    accounts_written(api->accounts, w);
    aggregate_written(api->aggregate, w);
    expiry_written(api->expiry, w);
    quotas_written(api->quotas, w);
    account_secrets_written(api->account_secrets, w);
    defaults_written(api->defaults, w);
    csr_written(api, w);
    policy_types_written(api, w);
    policies_written(api->policies, w);
    tokens_written(api->tokens, w);
    watch_note_write(api);
}
