/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API access of an operator: a list of rules, each with verbs and paths. An empty list allows
 * everything that its account may do; otherwise only what a rule allows.
 *
 *     verbs: [get, list, watch]   paths: ["/api/v1/namespaces/{any}/configmaps",
 *                                         "/apis/example.org/..."]
 *
 * Paths are compared segment by segment: "{any}" matches one segment, and a last segment "..."
 * matches any rest. Verbs are Kubernetes' request verbs; "*" matches all of them.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "operator/target.h"

enum { ALLOW_MAX_RULES = 64, ALLOW_MAX_WORDS = 32, ALLOW_MAX_BYTES = 16 << 10 };

struct allow;

/*
 * Copies its inputs. Errors: -E2BIG over the limits, E_INVALID for an unknown verb or a path
 * without leading '/'.
 */
int allow_add(struct allow **list, const struct str *verbs, size_t n_verbs, const struct str *paths,
              size_t n_paths, struct err *err);
void allow_free(struct allow *list);
/* list NULL: everything is allowed. */
bool allow_check(const struct allow *list, enum kube_verb verb, struct str path);
