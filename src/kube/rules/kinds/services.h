/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses and ports of Services. A Service holds addresses of 10.96.0.0/12 and ports of
 * 30000-32767, each of which belongs to one Service only. Those that it does not specify are chosen
 * at random. Conflicts are detected when the Service is written, together with a key for everything
 * it holds (api/admit/claims.c), so no table of allocations is kept.
 */
#pragma once

#define SERVICES_CIDR "10.96.0.0/12"

#include "kube/model/field.h"

enum {
    SERVICE_NET = 10 << 24 | 96 << 16,
    SERVICE_NET_SIZE = 1 << 20,
    SERVICE_NET_FIXED = 256, /* the lower end is left for addresses that Services specify */
    SERVICE_PORT_MIN = 30000,
    SERVICE_PORT_MAX = 32767,
    SERVICE_PORT_FIXED = 86, /* likewise for ports */
    SERVICE_MAX_CLAIMS = 120
};

/*
 * Fields absent in an update keep their old values; fields that the new type does not use are
 * removed.
 */
void service_keep_allocated(struct arena *a, struct json *svc, const struct json *old);
/* Makes clusterIP and clusterIPs agree. old: NULL for a new Service. */
void service_normalize_ips(struct arena *a, struct json *svc, const struct json *old);

/*
 * Chooses address families, then the addresses and ports that the Service needs and lacks. Invalid
 * requests are reported to `errs`.
 */
void service_allocate(struct arena *a, struct json *svc, const struct json *old, uint64_t random,
                      struct field_errors *errs);

/* An address or port that a Service holds. */
struct service_claim {
    struct str key; /* "ips/10.96.0.1", "ports/30001" */
    struct str ip;  /* or "" */
    int64_t port;   /* or 0 */
    size_t index;   /* of the port in spec.ports; SIZE_MAX: the health check's */
};
/* At most SERVICE_MAX_CLAIMS, without duplicates. Returns their number. */
size_t service_claims(struct arena *a, const struct json *svc, struct service_claim *ret);
/* Reports a claim that another Service holds. */
void service_claim_taken(const struct service_claim *c, const struct json *svc,
                         struct field_errors *errs);
