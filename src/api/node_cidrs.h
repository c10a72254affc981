/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of addresses for the pods of a cluster, cut into one piece for each node: /24 of IPv4, /64
 * of IPv6, as kube-controller-manager does. Pure, any thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    NODE_CIDRS_RANGES_MAX = 2, /* one for each family */
    NODE_CIDRS_V4_BITS = 24,
    NODE_CIDRS_V6_BITS = 64,
    NODE_CIDRS_PIECES_MAX = 1 << 16, /* of a range */
    NODE_CIDRS_CHARS = 50
};

struct node_cidr_range {
    bool is_v6;
    uint8_t base[16];
    unsigned bits, node_bits; /* of the range, of a piece */
    uint32_t n_pieces;
};
struct node_cidrs {
    struct node_cidr_range range[NODE_CIDRS_RANGES_MAX];
    size_t n;
};

/* "10.244.0.0/16" or "10.244.0.0/16,fd00:10:244::/56". Errors: E_INVALID with what is wrong. */
int node_cidrs_parse(struct str text, struct node_cidrs *ret, struct err *err);
/*
 * Of each Node: all ranges of the cluster, as node_cidrs_text() writes them, since an agent has to
 * know which addresses are pods of other nodes.
 */
#define NODE_CIDRS_ANNOTATION "dormouse.dev/pod-networks"

/* "10.244.0.0/16,fd00:10:244::/56" */
void node_cidrs_text(const struct node_cidrs *all,
                     char ret[NODE_CIDRS_RANGES_MAX * NODE_CIDRS_CHARS]);
/* "10.244.3.0/24" */
void node_cidrs_piece(const struct node_cidr_range *r, uint32_t i, char ret[NODE_CIDRS_CHARS]);
/* The pieces that a CIDR overlaps, of any size. false: none, or it cannot be read. */
bool node_cidrs_find(const struct node_cidr_range *r, struct str cidr, uint32_t *ret_first,
                     uint32_t *ret_last);
