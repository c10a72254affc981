/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the answers of extenders as Go's encoding/json reads them into the types of extender/v1:
 * field names in any case, null as absent, wrong types as errors with Go's text. Pure.
 */
#pragma once

#include "codec/json.h"

struct extender_failed {
    struct str node, message;
};
struct extender_filtered {
    bool has_nodes; /* in the requested form */
    struct str *nodes;
    size_t n_nodes;
    struct extender_failed *failed, *unresolvable;
    size_t n_failed, n_unresolvable;
    struct str error;
};
struct extender_score {
    struct str node;
    int64_t score;
};
struct extender_victims {
    struct str node;
    struct str *uids;
    size_t n_uids;
    int64_t n_violations;
};
/* Everything lives in the arena and in `text`. Errors: E_PARSE, -EMSGSIZE. */
int extender_read_filtered(struct arena *a, struct str text, bool by_name,
                           struct extender_filtered *ret, struct err *err);
int extender_read_scores(struct arena *a, struct str text, struct extender_score **ret,
                         size_t *ret_n, struct err *err);
int extender_read_victims(struct arena *a, struct str text, struct extender_victims **ret,
                          size_t *ret_n, struct err *err);
int extender_read_bound(struct arena *a, struct str text, struct str *ret_error, struct err *err);
