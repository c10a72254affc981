/* SPDX-License-Identifier: Apache-2.0 */
/* What reading verbs share. */
#pragma once

#include "api/core.h"

/* The resourceVersion parameter; NULL, or the Status to answer. */
struct json *read_parse_rev(struct request *rq, uint64_t *ret, bool *ret_set);
