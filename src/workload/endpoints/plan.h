/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a Service, its pods and its EndpointSlices to the slices that there should be. Pure; all in
 * the caller's arena.
 *
 * As upstream's EndpointSlice controller: one set of slices for each family and each list of port
 * numbers (a named target port may be another number in each pod), at most 100 endpoints in a
 * slice. An endpoint stays in its slice; new ones fill slices that change anyway, then those with
 * room, then new slices. A family without endpoints has one empty slice.
 */
#pragma once

#include "workload/frame/controller.h"

#define ENDPOINTS_SERVICE_LABEL "kubernetes.io/service-name"
#define ENDPOINTS_MANAGED_LABEL "endpointslice.kubernetes.io/managed-by"
#define ENDPOINTS_MANAGER       "endpointslice-controller.k8s.io"
#define ENDPOINTS_HEADLESS      "service.kubernetes.io/headless"

enum { ENDPOINTS_PER_SLICE = 100, ENDPOINTS_GROUPS_MAX = 64 /* lists of port numbers */ };

/* A slice that is to be written, or removed. */
struct endpoints_slice {
    struct json *is;     /* as it is; NULL: a new one */
    struct json *wanted; /* NULL: it is to be deleted */
};
struct endpoints_slices {
    struct endpoints_slice *at;
    size_t n;
};

/* The Service has endpoints that this controller makes: it has a selector and is no ExternalName.
 */
bool endpoints_are_managed(const struct json *service);
bool endpoints_slice_is_managed(const struct json *slice);
/*
 * pods: of the selector, with bodies. slices: of the Service, as they are; those that others
 * manage do not count. owner: the owner reference of new slices. Returns those that differ only.
 */
struct endpoints_slices endpoints_plan(struct arena *a, const struct json *service,
                                       const struct workload_claims *pods,
                                       struct json *const *slices, size_t n_slices,
                                       struct json *owner);
