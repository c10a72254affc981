/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that are written; see message.h. */
#include "dns/message_ldns.h"

#include <errno.h>

enum {
    PACKET_BYTES = 2048, /* of the buffer at first */
    SOA_REFRESH_S = 7200,
    SOA_RETRY_S = 1800,
    SOA_EXPIRE_S = 86400
};

/* ---------------------------------------------------------------- packets */

static ldns_rdf *name_field(struct str wire)
{
    return ldns_dname_new_frm_data((uint16_t)wire.n, wire.p);
}

ldns_pkt *dns_packet_new(struct str name, uint16_t type)
{
    ldns_pkt *pkt = ldns_pkt_new();
    ldns_rr *rr = ldns_rr_new();
    ldns_rr_set_question(rr, true);
    ldns_rr_set_owner(rr, name_field(name));
    ldns_rr_set_type(rr, (ldns_rr_type)type);
    ldns_rr_set_class(rr, LDNS_RR_CLASS_IN);
    (void)ldns_pkt_push_rr(pkt, LDNS_SECTION_QUESTION, rr);
    return pkt;
}

int dns_packet_write(const ldns_pkt *pkt, size_t max_bytes, struct buf *to)
{
    ldns_buffer *bytes = ldns_buffer_new(PACKET_BYTES);
    int r = -EMSGSIZE;
    if (ldns_pkt2buffer_wire(bytes, pkt) == LDNS_STATUS_OK &&
        ldns_buffer_position(bytes) <= max_bytes)
        r = buf_add(to, ldns_buffer_begin(bytes), ldns_buffer_position(bytes));
    ldns_buffer_free(bytes);
    return r;
}

/* ---------------------------------------------------------------- records of the zone */

static void push_u16(ldns_rr *rr, uint16_t v)
{
    (void)ldns_rr_push_rdf(rr, ldns_native2rdf_int16(LDNS_RDF_TYPE_INT16, v));
}

static void push_u32(ldns_rr *rr, ldns_rdf_type type, uint32_t v)
{
    (void)ldns_rr_push_rdf(rr, ldns_native2rdf_int32(type, v));
}

static void push_soa(ldns_rr *rr, const struct dns_record *r)
{
    (void)ldns_rr_push_rdf(rr, name_field(r->mailbox));
    push_u32(rr, LDNS_RDF_TYPE_INT32, r->serial);
    push_u32(rr, LDNS_RDF_TYPE_PERIOD, SOA_REFRESH_S);
    push_u32(rr, LDNS_RDF_TYPE_PERIOD, SOA_RETRY_S);
    push_u32(rr, LDNS_RDF_TYPE_PERIOD, SOA_EXPIRE_S);
    push_u32(rr, LDNS_RDF_TYPE_PERIOD, r->ttl_s);
}

static void push_text(ldns_rr *rr, struct str text)
{
    char bytes[256];
    size_t n = MIN(text.n, sizeof bytes - 1);
    bytes[0] = (char)n;
    memcpy(bytes + 1, text.p, n);
    (void)ldns_rr_push_rdf(rr, ldns_rdf_new_frm_data(LDNS_RDF_TYPE_STR, n + 1, bytes));
}

static void push_data(ldns_rr *rr, const struct dns_record *r)
{
    switch ((enum dns_type)r->type) {
    case DNS_A:
        (void)ldns_rr_push_rdf(rr, ldns_rdf_new_frm_data(LDNS_RDF_TYPE_A, 4, r->ip.bytes + 12));
        return;
    case DNS_AAAA:
        (void)ldns_rr_push_rdf(rr, ldns_rdf_new_frm_data(LDNS_RDF_TYPE_AAAA, 16, r->ip.bytes));
        return;
    case DNS_TXT:
        push_text(rr, r->target);
        return;
    case DNS_SRV:
        push_u16(rr, 0);
        push_u16(rr, r->weight);
        push_u16(rr, r->port);
        (void)ldns_rr_push_rdf(rr, name_field(r->target));
        return;
    case DNS_SOA:
        (void)ldns_rr_push_rdf(rr, name_field(r->target));
        push_soa(rr, r);
        return;
    case DNS_NS:
    case DNS_CNAME:
    case DNS_PTR:
        (void)ldns_rr_push_rdf(rr, name_field(r->target));
        return;
    case DNS_ANY:
        return;
    }
}

static void push_record(ldns_pkt *pkt, ldns_pkt_section section, const struct dns_query *q,
                        const struct dns_record *r)
{
    ldns_rr *rr = ldns_rr_new();
    /* The name that was asked for is written as it was asked for. */
    bool is_asked = str_eq(r->owner, dns_name_from(&q->name, 0));
    ldns_rr_set_owner(rr, name_field(is_asked ? str_n(q->asked, q->name.n) : r->owner));
    ldns_rr_set_type(rr, (ldns_rr_type)r->type);
    ldns_rr_set_class(rr, LDNS_RR_CLASS_IN);
    ldns_rr_set_ttl(rr, r->ttl_s);
    push_data(rr, r);
    (void)ldns_pkt_push_rr(pkt, section, rr);
}

static void push_zone(ldns_pkt *pkt, const struct dns_query *q, const struct dns_answer *a,
                      bool with_extra)
{
    for (size_t i = 0; i < a->n_records; i++)
        push_record(pkt, LDNS_SECTION_ANSWER, q, &a->records[i]);
    if (a->has_soa)
        push_record(pkt, LDNS_SECTION_AUTHORITY, q, &a->soa);
    for (size_t i = 0; with_extra && i < a->n_extra; i++)
        push_record(pkt, LDNS_SECTION_ADDITIONAL, q, &a->extra[i]);
}

/* ---------------------------------------------------------------- records of another server */

static void age_list(const ldns_rr_list *list, uint32_t age_s)
{
    for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++) {
        ldns_rr *rr = ldns_rr_list_rr(list, i);
        ldns_rr_set_ttl(rr, ldns_rr_ttl(rr) > age_s ? ldns_rr_ttl(rr) - age_s : 0);
    }
}

/* Move the records of one section. */
static void take_list(ldns_pkt *to, ldns_pkt_section section, ldns_rr_list *from)
{
    (void)ldns_pkt_push_rr_list(to, section, from);
    ldns_rr_list_set_rr_count(from, 0);
}

/* The first record of the answer, if it is of the name that was asked for, gets its letters. */
static void set_asked(ldns_pkt *pkt, const struct dns_query *q)
{
    ldns_rr_list *list = ldns_pkt_answer(pkt);
    for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++) {
        ldns_rr *rr = ldns_rr_list_rr(list, i);
        ldns_rdf *owner = ldns_rr_owner(rr);
        if (str_ieq(str_n(ldns_rdf_data(owner), ldns_rdf_size(owner)), dns_name_from(&q->name, 0)))
            memcpy(ldns_rdf_data(owner), q->asked, q->name.n);
    }
}

static void push_upstream(ldns_pkt *pkt, const struct dns_query *q, const struct dns_reply *reply,
                          bool with_extra)
{
    ldns_pkt *from = NULL;
    if (!reply->upstream.n || ldns_wire2pkt(&from, (const uint8_t *)reply->upstream.p,
                                            reply->upstream.n) != LDNS_STATUS_OK)
        return;
    age_list(ldns_pkt_answer(from), reply->age_s);
    age_list(ldns_pkt_authority(from), reply->age_s);
    age_list(ldns_pkt_additional(from), reply->age_s);
    take_list(pkt, LDNS_SECTION_ANSWER, ldns_pkt_answer(from));
    take_list(pkt, LDNS_SECTION_AUTHORITY, ldns_pkt_authority(from));
    if (with_extra)
        take_list(pkt, LDNS_SECTION_ADDITIONAL, ldns_pkt_additional(from));
    set_asked(pkt, q);
    ldns_pkt_free(from);
}

/* ---------------------------------------------------------------- order */

static bool is_address(const ldns_rr *rr)
{
    ldns_rr_type type = ldns_rr_get_type(rr);
    return type == LDNS_RR_TYPE_A || type == LDNS_RR_TYPE_AAAA;
}

/* Addresses in random order, so that clients, which take the first one, spread. They are the end of
 * an answer; aliases in front of them stay. */
static void shuffle(ldns_rr_list *list, struct rng *rng)
{
    size_t n = ldns_rr_list_rr_count(list), first = 0;
    while (first < n && !is_address(ldns_rr_list_rr(list, first)))
        first++;
    for (size_t i = first; i < n; i++) {
        if (!is_address(ldns_rr_list_rr(list, i)))
            return;
    }
    for (size_t left = n - first; left > 1; left--) {
        size_t a = first + left - 1, b = first + rng_below(rng, (uint32_t)left);
        ldns_rr *last = ldns_rr_list_rr(list, a);
        (void)ldns_rr_list_set_rr(list, ldns_rr_list_rr(list, b), a);
        (void)ldns_rr_list_set_rr(list, last, b);
    }
}

/* ---------------------------------------------------------------- answers */

/* Of an address, its name compressed. */
enum { RECORD_MIN_BYTES = 16 };

enum reply_parts { REPLY_ALL, REPLY_WITHOUT_EXTRA, REPLY_TRUNCATED };

/* The first records of the answer, as many as are left. */
static void cut_answer(ldns_pkt *pkt, size_t n)
{
    ldns_rr_list *list = ldns_pkt_answer(pkt);
    while (ldns_rr_list_rr_count(list) > n)
        ldns_rr_free(ldns_rr_list_pop_rr(list));
    ldns_pkt_set_ancount(pkt, (uint16_t)ldns_rr_list_rr_count(list));
}

/* About as many records of the answer as fit: some programs take them, and never ask by TCP. */
static int write_some(ldns_pkt *pkt, size_t max_bytes, struct buf *to)
{
    ldns_rr_list *authority = ldns_pkt_authority(pkt);
    while (ldns_rr_list_rr_count(authority) > 0)
        ldns_rr_free(ldns_rr_list_pop_rr(authority));
    ldns_pkt_set_nscount(pkt, 0);
    cut_answer(pkt, max_bytes / RECORD_MIN_BYTES);
    int r = dns_packet_write(pkt, max_bytes, to);
    while (r == -EMSGSIZE && ldns_rr_list_rr_count(ldns_pkt_answer(pkt)) > 0) {
        cut_answer(pkt, ldns_rr_list_rr_count(ldns_pkt_answer(pkt)) * 3 / 4);
        r = dns_packet_write(pkt, max_bytes, to);
    }
    return r;
}

static int write_parts(const struct dns_query *q, const struct dns_reply *reply,
                       enum reply_parts parts, size_t max_bytes, struct buf *to)
{
    scoped(dns_packet_scoped) ldns_pkt *pkt =
        q->has_question ? dns_packet_new(str_n(q->asked, q->name.n), q->type) : ldns_pkt_new();
    ldns_pkt_set_id(pkt, q->id);
    ldns_pkt_set_qr(pkt, true);
    ldns_pkt_set_opcode(pkt, (ldns_pkt_opcode)q->opcode);
    ldns_pkt_set_rd(pkt, q->wants_recursion);
    ldns_pkt_set_ra(pkt, true);
    ldns_pkt_set_aa(pkt, reply->zone && !reply->upstream.n);
    ldns_pkt_set_rcode(pkt, (uint8_t)(reply->rcode & 15));
    /* By TCP there is no more to be had. */
    ldns_pkt_set_tc(pkt, parts == REPLY_TRUNCATED && max_bytes <= DNS_UDP_MAX);
    if (q->has_edns) {
        ldns_pkt_set_edns_udp_size(pkt, DNS_UDP_MAX);
        ldns_pkt_set_edns_extended_rcode(pkt, (uint8_t)(reply->rcode >> 4));
    }
    if (reply->zone)
        push_zone(pkt, q, reply->zone, parts == REPLY_ALL);
    push_upstream(pkt, q, reply, parts == REPLY_ALL);
    if (reply->order)
        shuffle(ldns_pkt_answer(pkt), reply->order);
    return parts == REPLY_TRUNCATED ? write_some(pkt, max_bytes, to)
                                    : dns_packet_write(pkt, max_bytes, to);
}

int dns_reply_write(const struct dns_query *q, const struct dns_reply *reply, size_t max_bytes,
                    struct buf *to)
{
    bool may_fit = !reply->zone || reply->zone->n_records <= max_bytes / RECORD_MIN_BYTES;
    int r = may_fit ? write_parts(q, reply, REPLY_ALL, max_bytes, to) : -EMSGSIZE;
    if (r == -EMSGSIZE && may_fit)
        r = write_parts(q, reply, REPLY_WITHOUT_EXTRA, max_bytes, to);
    return r == -EMSGSIZE ? write_parts(q, reply, REPLY_TRUNCATED, max_bytes, to) : r;
}

int dns_upstream_ask(const struct dns_question *q, uint16_t id, struct buf *to)
{
    scoped(dns_packet_scoped) ldns_pkt *pkt = dns_packet_new(q->name, q->type);
    ldns_pkt_set_id(pkt, id);
    ldns_pkt_set_rd(pkt, true);
    ldns_pkt_set_edns_udp_size(pkt, DNS_UDP_MAX);
    return dns_packet_write(pkt, DNS_UDP_MIN, to);
}
