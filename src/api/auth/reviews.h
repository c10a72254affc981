/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds that are asked and never stored: SelfSubjectReview, TokenReview, the SubjectAccessReviews
 * and SelfSubjectRulesReview. Only create; the answer is the object with its status.
 */
#pragma once

#include "api/core.h"

/* Serve the create if it is one of these; false: it is not. */
bool reviews_serve(struct request *rq);

/* A body of this kind, decoded: options, format, unknown fields. NULL, or the Status to answer. */
struct json *review_read_body(struct request *rq, const struct kube_resource *res,
                              struct json **ret);
