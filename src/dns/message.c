/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that are read; see message.h. */
#include "dns/message.h"

#include "dns/message_ldns.h"

#include <errno.h>

/* ---------------------------------------------------------------- packets */

bool dns_header_read(struct str message, struct dns_header *ret)
{
    const uint8_t *p = (const uint8_t *)message.p;
    uint16_t words[DNS_HEADER / 2];
    if (message.n < DNS_HEADER)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        words[i] = (uint16_t)(p[2 * i] << 8 | p[2 * i + 1]);
    *ret = (struct dns_header){ words[0], words[1], words[2], words[3], words[4], words[5] };
    return true;
}

bool dns_packet_question(const ldns_pkt *pkt, struct str *ret_name, uint16_t *ret_type,
                         uint16_t *ret_class)
{
    ldns_rr_list *list = ldns_pkt_question(pkt);
    if (!list || ldns_rr_list_rr_count(list) != 1)
        return false;
    ldns_rr *rr = ldns_rr_list_rr(list, 0);
    ldns_rdf *owner = ldns_rr_owner(rr);
    *ret_name = str_n(ldns_rdf_data(owner), ldns_rdf_size(owner));
    *ret_type = (uint16_t)ldns_rr_get_type(rr);
    *ret_class = (uint16_t)ldns_rr_get_class(rr);
    return ret_name->n <= DNS_NAME_MAX;
}

static ldns_pkt *parse(struct str message)
{
    ldns_pkt *pkt = NULL;
    if (ldns_wire2pkt(&pkt, (const uint8_t *)message.p, message.n) != LDNS_STATUS_OK)
        return NULL;
    return pkt;
}

void dns_packet_free(ldns_pkt *pkt)
{
    if (pkt)
        ldns_pkt_free(pkt);
}

/* ---------------------------------------------------------------- clients */

static bool read_question(const ldns_pkt *pkt, struct dns_query *to)
{
    struct str name;
    uint16_t class;
    if (!dns_packet_question(pkt, &name, &to->type, &class) || !dns_name_read(name, &to->name))
        return false;
    memcpy(to->asked, name.p, name.n);
    to->has_question = true;
    /* RFC 8482 lets a server refuse questions for everything; 251 to 254: transfers and mail. */
    if (class != DNS_CLASS_IN || (to->type >= 251 && to->type < DNS_ANY))
        to->refusal = DNS_REFUSED;
    else if (to->type == DNS_ANY)
        to->refusal = DNS_NOTIMP;
    return true;
}

static void read_edns(const ldns_pkt *pkt, struct dns_query *to)
{
    to->has_edns = ldns_pkt_edns(pkt);
    if (!to->has_edns)
        return;
    to->udp_max = (uint16_t)MIN(MAX(ldns_pkt_edns_udp_size(pkt), DNS_UDP_MIN), DNS_UDP_MAX);
    if (ldns_pkt_edns_version(pkt) != 0)
        to->refusal = DNS_BADVERS;
}

bool dns_query_read(struct str message, struct dns_query *ret)
{
    struct dns_header h;
    if (!dns_header_read(message, &h) || h.flags & DNS_FLAG_ANSWER)
        return false;
    ret->id = h.id;
    ret->opcode = h.flags >> 11 & 15;
    ret->type = 0;
    ret->udp_max = DNS_UDP_MIN;
    ret->wants_recursion = h.flags & DNS_FLAG_RECURSION;
    ret->has_edns = ret->has_question = false;
    ret->refusal = ret->opcode ? DNS_NOTIMP : DNS_FORMERR;
    /* Two more records: EDNS, and a signature (RFC 8945), which is ignored. */
    if (ret->opcode || message.n > DNS_QUERY_MAX || h.n_questions != 1 || h.n_answers ||
        h.n_authority || h.n_extra > 2)
        return true;
    scoped(dns_packet_scoped) ldns_pkt *pkt = parse(message);
    if (!pkt)
        return true;
    ret->refusal = DNS_NOERROR;
    if (read_question(pkt, ret))
        read_edns(pkt, ret);
    else
        ret->refusal = DNS_FORMERR;
    return true;
}

/* ---------------------------------------------------------------- other servers */

static bool is_same_question(const ldns_pkt *pkt, const struct dns_question *q)
{
    struct str name;
    struct dns_name lower;
    uint16_t type, class;
    return dns_packet_question(pkt, &name, &type, &class) && type == q->type &&
           class == DNS_CLASS_IN && dns_name_read(name, &lower) &&
           str_eq(dns_name_from(&lower, 0), q->name);
}

/* The last field of an SOA record: for how long it may be remembered that something is not there
 * (RFC 2308, section 5). */
static uint32_t minimum_of(const ldns_rr *soa)
{
    ldns_rdf *field = ldns_rr_rd_count(soa) == 7 ? ldns_rr_rdf(soa, 6) : NULL;
    return field && ldns_rdf_size(field) == 4 ? ldns_rdf2native_int32(field) : 0;
}

static bool is_negative(const ldns_pkt *pkt, uint16_t type)
{
    ldns_rr_list *list = ldns_pkt_answer(pkt);
    for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++) {
        if (ldns_rr_get_type(ldns_rr_list_rr(list, i)) == (ldns_rr_type)type)
            return false;
    }
    return true;
}

static uint32_t ttl_of_list(const ldns_rr_list *list, uint32_t ttl_s)
{
    for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++)
        ttl_s = MIN(ttl_s, ldns_rr_ttl(ldns_rr_list_rr(list, i)));
    return ttl_s;
}

static uint32_t ttl_of(const ldns_pkt *pkt, uint16_t type)
{
    ldns_rr_list *authority = ldns_pkt_authority(pkt);
    uint32_t ttl_s = ttl_of_list(ldns_pkt_answer(pkt), DNS_UPSTREAM_TTL_MAX_S);
    ttl_s = ttl_of_list(authority, ttl_s);
    if (ldns_pkt_get_rcode(pkt) != LDNS_RCODE_NXDOMAIN && !is_negative(pkt, type))
        return ttl_s;
    for (size_t i = 0; i < ldns_rr_list_rr_count(authority); i++) {
        const ldns_rr *rr = ldns_rr_list_rr(authority, i);
        if (ldns_rr_get_type(rr) == LDNS_RR_TYPE_SOA)
            return MIN(MIN(ttl_s, minimum_of(rr)), (uint32_t)DNS_UPSTREAM_NEGATIVE_MAX_S);
    }
    return 0;
}

/* Its records in a packet with our question and without the other server's EDNS. */
static int normalize(ldns_pkt *from, const struct dns_question *q, struct buf *to)
{
    scoped(dns_packet_scoped) ldns_pkt *pkt = dns_packet_new(q->name, q->type);
    ldns_pkt_set_qr(pkt, true);
    ldns_pkt_set_rcode(pkt, (uint8_t)ldns_pkt_get_rcode(from));
    (void)ldns_pkt_push_rr_list(pkt, LDNS_SECTION_ANSWER, ldns_pkt_answer(from));
    (void)ldns_pkt_push_rr_list(pkt, LDNS_SECTION_AUTHORITY, ldns_pkt_authority(from));
    (void)ldns_pkt_push_rr_list(pkt, LDNS_SECTION_ADDITIONAL, ldns_pkt_additional(from));
    int r = dns_packet_write(pkt, DNS_TCP_MAX, to);
    /* They still belong to `from`. */
    ldns_rr_list_set_rr_count(ldns_pkt_answer(pkt), 0);
    ldns_rr_list_set_rr_count(ldns_pkt_authority(pkt), 0);
    ldns_rr_list_set_rr_count(ldns_pkt_additional(pkt), 0);
    return r < 0 ? E_LIMIT : 0;
}

int dns_upstream_read(struct str message, const struct dns_question *q, uint16_t id, struct buf *to,
                      struct dns_upstream_answer *ret)
{
    struct dns_header h;
    if (!dns_header_read(message, &h) || h.id != id || !(h.flags & DNS_FLAG_ANSWER) ||
        h.n_questions != 1)
        return E_PARSE;
    if (message.n > DNS_UPSTREAM_MAX ||
        h.n_answers + h.n_authority + h.n_extra > DNS_UPSTREAM_RECORDS_MAX)
        return E_LIMIT;
    scoped(dns_packet_scoped) ldns_pkt *pkt = parse(message);
    if (!pkt || !is_same_question(pkt, q) || ldns_pkt_get_opcode(pkt) != LDNS_PACKET_QUERY)
        return E_PARSE;
    int r = normalize(pkt, q, to);
    if (r < 0)
        return r;
    ret->rcode = (enum dns_rcode)ldns_pkt_get_rcode(pkt);
    ret->is_truncated = h.flags & DNS_FLAG_TRUNCATED;
    bool is_kept = (ret->rcode == DNS_NOERROR || ret->rcode == DNS_NXDOMAIN) && !ret->is_truncated;
    ret->ttl_s = is_kept ? ttl_of(pkt, q->type) : 0;
    return 0;
}
