/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authentication.k8s.io and authorization.k8s.io: kinds that are created as questions and never
 * stored. The server makes the answers (src/api/auth/reviews.c).
 */
#include "kube/rules/kinds/kinds.h"

static const struct kube_strategy review_strategy = { .is_review = true };

#define REVIEW(of, name, path)                                                                     \
    .group = S(of), .version = S("v1"), .kind = S(name), .list_kind = S(name "List"),              \
    .plural = S(path "s"), .singular = S(path), .verbs = KUBE_CREATE, .strategy = &review_strategy

static struct kube_resource rows[] = {
    { REVIEW("authentication.k8s.io", "SelfSubjectReview", "selfsubjectreview") },
    { REVIEW("authentication.k8s.io", "TokenReview", "tokenreview") },
    { REVIEW("authorization.k8s.io", "LocalSubjectAccessReview", "localsubjectaccessreview"),
      .namespaced = true },
    { REVIEW("authorization.k8s.io", "SelfSubjectAccessReview", "selfsubjectaccessreview") },
    { REVIEW("authorization.k8s.io", "SelfSubjectRulesReview", "selfsubjectrulesreview") },
    { REVIEW("authorization.k8s.io", "SubjectAccessReview", "subjectaccessreview") },
};

const struct kind_list kinds_reviews = { rows, ARRAY_LEN(rows) };
