/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of a cluster: an index of Services and EndpointSlices, and the answers to questions
 * about them, after the Kubernetes DNS-Based Service Discovery specification 1.1.0
 * (docs/internals/dns.md has the names and where this differs from other implementations).
 *
 * It keeps facts of the objects and not the objects. Pure; nothing here knows messages.
 */
#pragma once

#include "base/err.h"
#include "codec/json.h"
#include "dns/name.h"
#include "io/address.h"

#define DNS_ZONE_VERSION "1.1.0" /* of the specification */

enum {
    DNS_ZONE_SERVICES_MAX = 65536, /* further ones are left out, with one warning; so is what is
                                      beyond the next limits */
    DNS_ZONE_SLICES_MAX = 65536,
    DNS_ZONE_ENDPOINTS_MAX = 262144,
    DNS_ZONE_PORTS_MAX = 256,            /* of an object */
    DNS_ZONE_SLICE_ENDPOINTS_MAX = 1000, /* as the API has it */
    DNS_ZONE_RECORDS_MAX = 1000,         /* of an answer */
    DNS_ZONE_EXTRA_MAX = 32,             /* addresses of targets that are added to an answer */
    DNS_ZONE_ALIASES_MAX = 8,            /* ExternalNames that follow each other */
    DNS_ZONE_TTL_S = 5,                  /* of records, and of the fact that there are none */
    DNS_ZONE_SERVERS_MAX = 4
};

enum dns_type {
    DNS_A = 1,
    DNS_NS = 2,
    DNS_CNAME = 5,
    DNS_SOA = 6,
    DNS_PTR = 12,
    DNS_TXT = 16,
    DNS_AAAA = 28,
    DNS_SRV = 33,
    DNS_ANY = 255
};

/* Names are in the form of messages (dns/name.h). */
struct dns_record {
    struct str owner;
    uint16_t type; /* enum dns_type; tells which of the following are set */
    uint16_t port, weight;
    uint32_t ttl_s, serial;
    struct str target; /* of CNAME, NS, PTR, SRV, SOA; text of TXT */
    struct str mailbox;
    struct address ip;
};

enum dns_zone_found {
    DNS_ZONE_FOUND,     /* also without records: the name exists and has none of this type */
    DNS_ZONE_NO_NAME,   /* NXDOMAIN */
    DNS_ZONE_ELSEWHERE, /* not a name of this zone, or an address of none of its objects */
    DNS_ZONE_NOT_KNOWN  /* not all of the objects that decide are known yet */
};

/* All in the arena of the call, or borrowed from its name. */
struct dns_answer {
    enum dns_zone_found found;
    struct dns_record *records, *extra; /* extra: addresses of targets */
    size_t n_records, n_extra;
    /* The records end with an alias for this name, which is not of this zone: its records belong
     * behind them. "": no. */
    struct str follow;
    bool has_soa; /* soa belongs to the answer, as the authority that says what there is not */
    struct dns_record soa;
};

struct dns_zone;

/* domain: "cluster.local". Errors: E_INVALID. */
int dns_zone_new(struct str domain, struct dns_zone **ret, struct err *err);
void dns_zone_free(struct dns_zone *z);
const struct dns_name *dns_zone_name(const struct dns_zone *z);
/* The addresses of ns.dns.ZONE, which is the zone's name server. */
void dns_zone_set_servers(struct dns_zone *z, const struct address *ips, size_t n);

/* An object is added or has changed. One that has no valid name is ignored. */
void dns_zone_put_service(struct dns_zone *z, const struct json *object);
void dns_zone_put_slice(struct dns_zone *z, const struct json *object);
void dns_zone_delete_service(struct dns_zone *z, struct str namespace, struct str name);
void dns_zone_delete_slice(struct dns_zone *z, struct str namespace, struct str name);
/* All Services, or all EndpointSlices, are known. */
void dns_zone_services_synced(struct dns_zone *z);
void dns_zone_slices_synced(struct dns_zone *z);

void dns_zone_answer(const struct dns_zone *z, const struct dns_name *name, uint16_t type,
                     struct arena *a, struct dns_answer *ret);
