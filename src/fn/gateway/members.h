/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateways that are alive, and which of them owns a function: the one with the highest weight
 * of (gateway, function), so that a gateway that comes or goes moves only its own share
 * (rendezvous hashing: Thaler, Ravishankar 1998). Pure.
 *
 * A gateway forwards what it does not own, once: the request then carries the secret of the
 * members, which the control plane draws and no client knows. A request that says it was forwarded
 * is never forwarded again, so there are no loops.
 */
#pragma once

#include "base/str.h"

enum { MEMBERS_MAX = 64, MEMBERS_SECRET_MAX = 64 };

struct gateway_member {
    char *name, *address;
    uint64_t hash;
    bool is_leaving;           /* owns nothing */
    bool is_doubted;           /* known from a former control plane, not named by the new one yet */
    uint64_t suspect_until_ms; /* it refused a connection: others stand in for it until then */
};

struct members {
    uint64_t epoch;
    struct gateway_member at[MEMBERS_MAX];
    size_t n;
    size_t self; /* SIZE_MAX: not among them */
    /* Hexadecimal; the former one is still good: members do not all change in one moment. */
    char secret[2 * MEMBERS_SECRET_MAX + 1], former[2 * MEMBERS_SECRET_MAX + 1];
};

/* Begin a new set; suspicions are forgotten. */
void members_begin(struct members *m, uint64_t epoch, struct str secret);
/* Copied. false: more than MEMBERS_MAX. is_self: it is this gateway. */
bool members_add(struct members *m, struct str name, struct str address, bool is_self,
                 bool is_leaving);
/* Without those that are doubted. false: there were none. */
bool members_drop_doubted(struct members *m);
void members_fini(struct members *m);
/* Of a function's key, "namespace/name". SIZE_MAX: nobody can. */
size_t members_owner(const struct members *m, struct str key, uint64_t now_ms);
/* Did a member send this? */
bool members_knows(const struct members *m, struct str secret);
