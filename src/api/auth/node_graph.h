/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an object concerns a node, read from the store at the time of the question; nothing is
 * kept. What pods refer to is in the index of placed pods (placed.h), so a question reads the
 * entries of that node in one namespace. A Secret that no pod names may be that of a volume: then
 * the claims of all the node's pods and their volumes are read, too.
 */
#pragma once

#include "api/auth/node_rules.h"
#include "api/core.h"

enum { NODE_CLAIMS_MAX = 1024 }; /* of a node, that are read for the Secrets of their volumes */

struct node_claim;
struct node_lookup {
    /* set by the caller; all of it outlives the call */
    struct api *api;
    struct arena *a;
    struct node_rules_question ask;
    void (*done)(struct node_lookup *l); /* once, from the loop */

    bool related; /* the answer, false after a failure */
    int r;        /* how reading failed, else 0 */
    struct err err;

    /* private */
    uint8_t at;
    struct str prefix, after;
    struct str claim_ns, claim_name; /* that of the volume in question */
    struct node_claim *claims;
    size_t n_claims, next_claim;
};

/* Whether reading can find a relation: false for names that no object has. */
bool node_may_relate(const struct node_rules_question *q);
/* Of a question that may relate. Errors, without a callback: those of store_get(). */
int node_look_up(struct node_lookup *l);
