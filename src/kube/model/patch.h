/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three patches of Kubernetes on JSON trees: RFC 6902, RFC 7386 and strategic merge.
 *
 * `doc` is changed in place where possible; *ret is the result (doc itself or a new root). After an
 * error the state of doc is undefined: patch a clone. Nodes come from `a`. Errors: E_PARSE (an
 * invalid patch), E_INVALID (does not apply), E_CONFLICT (a failed test), E_LIMIT; texts as
 * upstream words them. Each member passed in a search is a step of the arena's work, or of
 * BUDGET_MAX_STEPS where the arena has none.
 */
#pragma once

#include "kube/model/schema.h"

enum {
    PATCH_MAX_OPS = 10000,
    PATCH_MAX_NODES = 1000000,
    PATCH_MAX_MERGED_ITEMS = 4096 /* merging lists costs the square of their length */
};

static inline bool patch_spend(struct budget *w, uint64_t steps)
{
    return budget_spend(w, steps, "patching the object");
}

/* The result shares strings with the patch; copies that fill the arena are an E_LIMIT. */
int patch_json(struct arena *a, struct json *doc, const struct json *ops, struct json **ret,
               struct err *err);
/* null deletes a member. Fails with E_LIMIT only. The result shares strings with the patch. */
int patch_merge(struct arena *a, struct json *doc, const struct json *patch, struct json **ret,
                struct err *err);
/*
 * In `doc`, the result of `patch` (operations or a merge patch), sort the members of the objects
 * that upstream decodes to apply the patch, so that the text has upstream's order.
 */
void patch_sort_touched(struct arena *a, struct json *doc, const struct json *patch);
/* s: schema of doc; unknown parts merge as plain JSON (maps by key, lists replaced). */
int patch_strategic(struct arena *a, const struct schema *s, struct json *doc,
                    const struct json *patch, struct json **ret, struct err *err);
