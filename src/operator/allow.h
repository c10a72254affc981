/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator may ask of the API: a list of rules, each some verbs on some paths. An empty
 * list allows everything that its account may do; a list that is not empty denies what no rule
 * allows.
 *
 *     verbs: [get, list, watch]   paths: ["/api/v1/namespaces/{any}/configmaps",
 * "/apis/example.org/..."]
 *
 * A path is compared segment by segment: "{any}" stands for one segment, a last segment "..." for
 * the rest, whatever it is. Verbs are Kubernetes' request verbs, "*" is all of them.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "operator/target.h"

enum { ALLOW_MAX_RULES = 64, ALLOW_MAX_WORDS = 32, ALLOW_MAX_BYTES = 16 << 10 };

struct allow;

/* Takes copies. -E2BIG over the limits, E_INVALID for an unknown verb or a path without leading
 * '/'. */
int allow_add(struct allow **list, const struct str *verbs, size_t n_verbs, const struct str *paths,
              size_t n_paths, struct err *err);
void allow_free(struct allow *list);
/* list NULL: everything is allowed. */
bool allow_check(const struct allow *list, enum kube_verb verb, struct str path);
