/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines whether an object concerns a node, by reading the store at the time of the query;
 * keeps no state. The references of pods are in the index of placed pods (placed.h), so a query
 * reads the entries of that node in one namespace. A Secret that no pod names may be the secret of
 * a volume: then the claims of all pods of the node and their volumes are read, too.
 */
#pragma once

#include "api/auth/node_rules.h"
#include "api/core.h"

enum { NODE_CLAIMS_MAX = 1024 }; /* claims of one node, read for the Secrets of their volumes */

struct node_claim;
struct node_lookup {
    /* set by the caller; all of it outlives the call */
    struct api *api;
    struct arena *a;
    struct node_rules_question ask;
    void (*done)(struct node_lookup *l); /* once, from the loop */

    bool related; /* the result; false after a failure */
    int r;        /* the error of a failed read, else 0 */
    struct err err;

    /* private */
    uint8_t at;
    struct str prefix, after;
    struct str claim_ns, claim_name; /* of the volume in question */
    struct node_claim *claims;
    size_t n_claims, next_claim;
};

/* Whether a lookup can find a relation: false for names that no object has. */
bool node_may_relate(const struct node_rules_question *q);
/*
 * For a query for which node_may_relate() holds. Errors, without a callback: those of store_get().
 */
int node_look_up(struct node_lookup *l);
