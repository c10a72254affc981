/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses and ports of Services. A Service holds addresses of 10.96.0.0/12 and ports of
 * 30000-32767, each of which belongs to one Service only. What it does not ask for by itself is
 * chosen at random; that nobody else has it shows when the Service is written, together with a
 * key for everything it holds (api/admit/claims.c). So there is no table of what is taken.
 */
#pragma once

#define SERVICES_CIDR "10.96.0.0/12"

#include "kube/model/field.h"

enum {
    SERVICE_NET = 10 << 24 | 96 << 16,
    SERVICE_NET_SIZE = 1 << 20,
    SERVICE_NET_FIXED = 256, /* the lower end is left to those who choose themselves */
    SERVICE_PORT_MIN = 30000,
    SERVICE_PORT_MAX = 32767,
    SERVICE_PORT_FIXED = 86, /* the same for ports */
    SERVICE_MAX_CLAIMS = 120
};

/* What an update leaves unsaid stays as it was; what the new type has no use for goes. */
void service_keep_allocated(struct arena *a, struct json *svc, const struct json *old);
/* clusterIP and clusterIPs say the same. old: NULL for a new Service. */
void service_normalize_ips(struct arena *a, struct json *svc, const struct json *old);

/*
 * Address families, then addresses and ports that the Service needs and does not have. Complaints
 * about what it asks for go to `errs`.
 */
void service_allocate(struct arena *a, struct json *svc, const struct json *old, uint64_t random,
                      struct field_errors *errs);

/* One thing that a Service holds. */
struct service_claim {
    struct str key; /* "ips/10.96.0.1", "ports/30001" */
    struct str ip;  /* or "" */
    int64_t port;   /* or 0 */
    size_t index;   /* of the port in spec.ports; of the health check's: SIZE_MAX */
};
/* At most SERVICE_MAX_CLAIMS, each once. Returns their number. */
size_t service_claims(struct arena *a, const struct json *svc, struct service_claim *ret);
/* The complaint about a claim that somebody else has already. */
void service_claim_taken(const struct service_claim *c, const struct json *svc,
                         struct field_errors *errs);
