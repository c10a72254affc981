/* SPDX-License-Identifier: Apache-2.0 */
/* The controllers of one server, together; see controllers.h. */
#include "api/controllers.h"

#include "api/authz.h"

void controllers_start(struct api *api, controller_ready_cb ready, void *arg)
{
    api->gc = gc_start(api, ready, arg);
}

void controllers_stop(struct api *api)
{
    gc_stop(api->gc);
    authz_stop(api->authz);
    namespaces_stop(api->namespaces);
    crds_stop(api->crds);
}

void controllers_free(struct api *api)
{
    gc_free(api->gc);
    authz_free(api->authz);
    namespaces_free(api->namespaces);
    crds_free(api->crds);
}

bool controllers_busy(const struct api *api)
{
    return crds_is_busy(api->crds) || namespaces_is_busy(api->namespaces) ||
           authz_is_busy(api->authz) || gc_is_busy(api->gc);
}

static bool is_crd(const struct kube_resource *res)
{
    return str_is(res->group, "apiextensions.k8s.io") &&
           str_is(res->plural, "customresourcedefinitions");
}

void controllers_written(struct api *api, const struct written *w)
{
    if (is_crd(w->res)) {
        crds_written(api->crds, w->name, w->value, w->rev);
        gc_kinds_changed(api->gc);
    }
    gc_written(api->gc, w);
    watch_note_write(api);
}
