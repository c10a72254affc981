/* SPDX-License-Identifier: Apache-2.0 */
/* What the files around ldns share. */
#pragma once

#include "dns/message.h"

#include <ldns/ldns.h>

struct dns_header {
    uint16_t id, flags, n_questions, n_answers, n_authority, n_extra;
};

/* Flags of a header. */
enum { DNS_FLAG_ANSWER = 0x8000, DNS_FLAG_TRUNCATED = 0x0200, DNS_FLAG_RECURSION = 0x0100 };

/* false: shorter than a header. */
bool dns_header_read(struct str message, struct dns_header *ret);
/* The question of a packet that has one. false: its name is not valid. */
bool dns_packet_question(const ldns_pkt *pkt, struct str *ret_name, uint16_t *ret_type,
                         uint16_t *ret_class);
/* A packet with this question; given. */
ldns_pkt *dns_packet_new(struct str name, uint16_t type);
/* Append its bytes. -EMSGSIZE: more than max_bytes. */
int dns_packet_write(const ldns_pkt *pkt, size_t max_bytes, struct buf *to);
void dns_packet_free(ldns_pkt *pkt); /* NULL is fine */
static inline void dns_packet_scoped(ldns_pkt **pkt)
{
    dns_packet_free(*pkt);
}
