/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of pods' addresses; see node_cidrs.h. */
#include "api/node_cidrs.h"

#include "base/mem.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>

struct node_cidr {
    bool is_v6;
    uint8_t base[16];
    unsigned bits;
};

static bool parse(struct str text, struct node_cidr *ret)
{
    char address[INET6_ADDRSTRLEN];
    struct str host, length;
    uint64_t bits;
    *ret = (struct node_cidr){ 0 };
    if (!str_cut(text, '/', &host, &length) || host.n == 0 || host.n >= sizeof address)
        return false;
    (void)snprintf(address, sizeof address, STR_FMT, STR_ARG(host));
    ret->is_v6 = str_find_char(host, ':') >= 0;
    if (inet_pton(ret->is_v6 ? AF_INET6 : AF_INET, address, ret->base) != 1 ||
        parse_u64(length, 0, ret->is_v6 ? 128 : 32, &bits) < 0)
        return false;
    ret->bits = (unsigned)bits;
    return true;
}

static bool bit_at(const uint8_t *base, unsigned i)
{
    return (base[i / 8] >> (7 - i % 8)) & 1;
}

static bool has_host_bits(const struct node_cidr *c)
{
    for (unsigned i = c->bits; i < (c->is_v6 ? 128u : 32u); i++)
        if (bit_at(c->base, i))
            return true;
    return false;
}

static int take(struct str text, struct node_cidr_range *ret, struct err *err)
{
    struct node_cidr c;
    if (!parse(text, &c))
        return err_set(err, E_INVALID, "'" STR_FMT "' is not ADDRESS/BITS", STR_ARG(text));
    unsigned piece = c.is_v6 ? NODE_CIDRS_V6_BITS : NODE_CIDRS_V4_BITS;
    if (has_host_bits(&c))
        return err_set(err, E_INVALID, "'" STR_FMT "' has bits set beyond its length",
                       STR_ARG(text));
    if (c.bits > piece || piece - c.bits > 16)
        return err_set(err, E_INVALID, "'" STR_FMT "' is not between /%u and /%u", STR_ARG(text),
                       piece - 16, piece);
    *ret = (struct node_cidr_range){ .is_v6 = c.is_v6,
                                     .bits = c.bits,
                                     .node_bits = piece,
                                     .n_pieces = UINT32_C(1) << (piece - c.bits) };
    memcpy(ret->base, c.base, sizeof ret->base);
    assert(ret->n_pieces <= NODE_CIDRS_PIECES_MAX);
    return 0;
}

int node_cidrs_parse(struct str text, struct node_cidrs *ret, struct err *err)
{
    struct node_cidrs all = { 0 };
    bool more = true;
    for (struct str rest = text, one; more;) {
        more = str_cut(rest, ',', &one, &rest);
        if (all.n == NODE_CIDRS_RANGES_MAX)
            return err_set(err, E_INVALID, "more than one range of each family");
        int r = take(one, &all.range[all.n++], err);
        if (r < 0)
            return r;
    }
    if (all.n == 2 && all.range[0].is_v6 == all.range[1].is_v6)
        return err_set(err, E_INVALID, "more than one range of each family");
    *ret = all;
    return 0;
}

void node_cidrs_piece(const struct node_cidr_range *r, uint32_t i, char ret[NODE_CIDRS_CHARS])
{
    uint8_t at[16];
    char text[INET6_ADDRSTRLEN];
    assert(i < r->n_pieces);
    memcpy(at, r->base, sizeof at);
    for (unsigned k = 0; k < r->node_bits - r->bits; k++) {
        unsigned bit = r->node_bits - 1 - k;
        if (i >> k & 1)
            at[bit / 8] |= (uint8_t)(1u << (7 - bit % 8));
    }
    const char *s = inet_ntop(r->is_v6 ? AF_INET6 : AF_INET, at, text, sizeof text);
    assert(s);
    (void)snprintf(ret, NODE_CIDRS_CHARS, "%s/%u", s, r->node_bits);
}

void node_cidrs_text(const struct node_cidrs *all,
                     char ret[NODE_CIDRS_RANGES_MAX * NODE_CIDRS_CHARS])
{
    size_t n = 0;
    *ret = '\0';
    for (size_t i = 0; i < all->n; i++) {
        const struct node_cidr_range *r = &all->range[i];
        char text[INET6_ADDRSTRLEN];
        const char *s = inet_ntop(r->is_v6 ? AF_INET6 : AF_INET, r->base, text, sizeof text);
        assert(s);
        n += (size_t)snprintf(ret + n, NODE_CIDRS_CHARS, "%s%s/%u", i ? "," : "", s, r->bits);
    }
}

bool node_cidrs_find(const struct node_cidr_range *r, struct str cidr, uint32_t *ret_first,
                     uint32_t *ret_last)
{
    struct node_cidr c;
    uint32_t first = 0;
    if (!parse(cidr, &c) || c.is_v6 != r->is_v6)
        return false;
    for (unsigned i = 0; i < MIN(c.bits, r->bits); i++)
        if (bit_at(c.base, i) != bit_at(r->base, i))
            return false;
    unsigned known = MIN(MAX(c.bits, r->bits), r->node_bits); /* bits that say which pieces */
    for (unsigned i = r->bits; i < known; i++)
        first = first << 1 | bit_at(c.base, i);
    first <<= r->node_bits - known;
    *ret_first = first;
    *ret_last = first + (UINT32_C(1) << (r->node_bits - known)) - 1;
    return true;
}
