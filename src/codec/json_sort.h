/* SPDX-License-Identifier: Apache-2.0 */
/* Members of an object in the order of their keys, for comparing and for canonical text. */
#pragma once

#include "codec/json.h"

/* Returns obj->n pointers, given (free()); aborts when the system has no memory. */
const struct json **json_sorted_members(const struct json *obj);
