/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds that only answer a question and are never stored: SelfSubjectReview, TokenReview, the
 * SubjectAccessReviews and SelfSubjectRulesReview. They support only create; the answer is the
 * object with its status.
 */
#pragma once

#include "api/core.h"

/* Serve the create if it is for one of these kinds; false: it is not. */
bool reviews_serve(struct request *rq);

/*
 * Read and decode a body of this kind: options, format, unknown fields. NULL, or the Status to
 * answer.
 */
struct json *review_read_body(struct request *rq, const struct kube_resource *res,
                              struct json **ret);
