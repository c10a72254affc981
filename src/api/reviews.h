/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds that are asked and never stored: SelfSubjectReview, TokenReview, the SubjectAccessReviews
 * and SelfSubjectRulesReview. Only create; the answer is the object with its status.
 */
#pragma once

#include "api/core.h"

/* Serve the create if it is one of these; false: it is not. */
bool reviews_serve(struct request *rq);
