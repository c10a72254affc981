/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of nf_tables' netlink interface as networks of containers need: one table of family inet,
 * its sets, maps, chains and rules, changed in batches that take effect together or not at all.
 *
 *     struct nftables_batch b;
 *     nftables_begin(&b, "my_table");
 *     nftables_add_table(&b);
 *     nftables_add_base_chain(&b, "leaving", "nat", NF_INET_POST_ROUTING, 100);
 *     nftables_begin_rule(&b, "leaving");
 *         nftables_load_meta(&b, NFT_META_OIFNAME, NFT_REG_1);
 *         nftables_match(&b, NFT_REG_1, "eth0", 5);
 *         nftables_masquerade(&b);
 *     nftables_end_rule(&b);
 *     r = nftables_commit(&b, err);
 *
 * Not by libnftables: its licence, GPL 2 alone, does not fit this program's. Constants are those of
 * linux/netfilter/nf_tables.h. Any thread; blocks, but only on the kernel.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum {
    NFTABLES_BATCH_MAX = 16 << 20, /* bytes: E_LIMIT beyond */
    NFTABLES_KEY_MAX = 64          /* bytes of a key or of a value */
};

struct nftables_batch {
    struct buf bytes;
    const char *table; /* kept until nftables_commit() */
    uint32_t seq;
    size_t message, rule; /* where the current ones begin */
};

void nftables_begin(struct nftables_batch *b, const char *table);
/*
 * Make the changes, in the network namespace of the thread, and release the batch. Errors: E_LIMIT;
 * -EPERM and -EAFNOSUPPORT, -EPROTONOSUPPORT: this process may not, this kernel cannot; others for
 * the first change that the kernel refuses.
 */
int nftables_commit(struct nftables_batch *b, struct err *err);
/* Release the batch, and change nothing. */
void nftables_abort(struct nftables_batch *b);

/* Each of these is fine if the thing is there. A chain's rules are removed. */
void nftables_add_table(struct nftables_batch *b);
/* Empty, whatever is in it; the other tables of the machine stay. */
void nftables_renew_table(struct nftables_batch *b);
void nftables_add_chain(struct nftables_batch *b, const char *name);
/* It is there, and nothing refers to it when the batch ends. */
void nftables_remove_chain(struct nftables_batch *b, const char *name);
/* hook: enum nf_inet_hooks. */
void nftables_add_base_chain(struct nftables_batch *b, const char *name, const char *type,
                             uint32_t hook, int32_t priority);

/* The parts of a key or value, each of which takes a multiple of 4 bytes. */
enum nftables_type {
    NFTABLES_NONE,
    NFTABLES_IPV4,
    NFTABLES_IPV6,
    NFTABLES_PROTOCOL, /* IPPROTO_TCP */
    NFTABLES_PORT,     /* in network byte order */
    NFTABLES_NUMBER,   /* 32 bits in the byte order of the machine */
    NFTABLES_VERDICT   /* of a map: the only part of its values */
};
enum { NFTABLES_PARTS_MAX = 5 };
struct nftables_map {
    const char *name;
    enum nftables_type key[NFTABLES_PARTS_MAX + 1];   /* NFTABLES_NONE after the last part */
    enum nftables_type value[NFTABLES_PARTS_MAX + 1]; /* NFTABLES_NONE: a set */
    uint32_t size_max; /* not 0: rules add elements, at most as many, which expire */
};
void nftables_add_map(struct nftables_batch *b, const struct nftables_map *map);
/* Add: fine if it is there with the same value. Remove: it is there. value_n 0: of a set. */
void nftables_change_element(struct nftables_batch *b, bool adds, const char *map, const void *key,
                             size_t key_n, const void *value, size_t value_n);
/* The same in a map of verdicts; see nftables_verdict(). */
void nftables_change_verdict(struct nftables_batch *b, bool adds, const char *map, const void *key,
                             size_t key_n, int32_t verdict, const char *chain);

/* Between these, expressions: each one that does not match ends the rule. */
void nftables_begin_rule(struct nftables_batch *b, const char *chain);
void nftables_end_rule(struct nftables_batch *b);
void nftables_load_meta(struct nftables_batch *b, uint32_t key, uint32_t reg);
/* base: enum nft_payload_bases. */
void nftables_load_payload(struct nftables_batch *b, uint32_t base, uint32_t offset, uint32_t n,
                           uint32_t reg);
/* RTN_LOCAL and others, of the destination address. */
void nftables_load_destination_type(struct nftables_batch *b, uint32_t reg);
void nftables_mask(struct nftables_batch *b, uint32_t reg, const void *mask, size_t n);
/* The first n bytes are equal. */
void nftables_match(struct nftables_batch *b, uint32_t reg, const void *p, size_t n);
/* The key that begins at `reg` is in the map; its value is loaded to `to`; 0: of a set. */
void nftables_look_up(struct nftables_batch *b, const char *map, uint32_t reg, uint32_t to);
/* The same in a map of verdicts; the verdict that is found counts at once. */
void nftables_look_up_verdict(struct nftables_batch *b, const char *map, uint32_t reg);
void nftables_load_value(struct nftables_batch *b, uint32_t reg, const void *p, size_t n);
/* One of 0 to n - 1, evenly, for each packet: NFTABLES_NUMBER. */
void nftables_load_random(struct nftables_batch *b, uint32_t n, uint32_t reg);
/*
 * Add the key and value that begin at these registers to the map. A key that is there keeps its
 * value and lasts longer.
 */
void nftables_remember(struct nftables_batch *b, const char *map, uint32_t key_reg,
                       uint32_t value_reg, uint64_t timeout_ms);
/* Remove the key, if it is there. value_reg: any; the kernel wants one. */
void nftables_forget(struct nftables_batch *b, const char *map, uint32_t key_reg,
                     uint32_t value_reg);
/* Set bits of the packet's mark. NFT_REG_1 is overwritten. */
void nftables_add_mark(struct nftables_batch *b, uint32_t bits);
/* Answer that the port is not reachable: TCP by a reset, which the rule must have made sure of. */
void nftables_reject(struct nftables_batch *b, bool is_tcp);
/* NF_DROP, NFT_RETURN; NFT_JUMP, NFT_GOTO with the name of a chain, else NULL. */
void nftables_verdict(struct nftables_batch *b, int32_t verdict, const char *chain);
/* family: NFPROTO_IPV4 or NFPROTO_IPV6. */
void nftables_dnat(struct nftables_batch *b, uint32_t family, uint32_t address_reg,
                   uint32_t port_reg);
void nftables_masquerade(struct nftables_batch *b);
