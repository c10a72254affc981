/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live gateways, and which of them owns a function: the one with the highest weight of
 * (gateway, function), so that a gateway that joins or leaves moves only its own share (rendezvous
 * hashing: Thaler, Ravishankar 1998). Pure.
 *
 * A gateway forwards what it does not own, once. The forwarded request carries the secret of the
 * members, which the control plane generates and no client knows. A request that is marked as
 * forwarded is never forwarded again, so there are no loops.
 */
#pragma once

#include "base/str.h"

enum { MEMBERS_MAX = 64, MEMBERS_SECRET_MAX = 64 };

struct gateway_member {
    char *name, *address;
    uint64_t hash;
    bool is_leaving; /* owns nothing */
    bool is_doubted; /* known from the previous control plane, not yet named by the new one */
    uint64_t
        suspect_until_ms; /* it refused a connection: other gateways own its functions until then */
};

struct members {
    uint64_t epoch;
    struct gateway_member at[MEMBERS_MAX];
    size_t n;
    size_t self; /* SIZE_MAX: not among them */
    /* Hexadecimal. The former one stays valid: members do not all change at the same moment. */
    char secret[2 * MEMBERS_SECRET_MAX + 1], former[2 * MEMBERS_SECRET_MAX + 1];
};

/* Begin a new set; clears suspicions. */
void members_begin(struct members *m, uint64_t epoch, struct str secret);
/* Copied. false: more than MEMBERS_MAX. is_self: it is this gateway. */
bool members_add(struct members *m, struct str name, struct str address, bool is_self,
                 bool is_leaving);
/* Remove the doubted members. false: there were none. */
bool members_drop_doubted(struct members *m);
void members_fini(struct members *m);
/* key: of a function, "namespace/name". SIZE_MAX: no member can own it. */
size_t members_owner(const struct members *m, struct str key, uint64_t now_ms);
/* Did a member send this? */
bool members_knows(const struct members *m, struct str secret);
