/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves plain YAML scalars as go-yaml v2 does. */
#pragma once

#include "codec/json_number.h"

enum yaml_kind { YAML_NULL, YAML_FALSE, YAML_TRUE, YAML_INT, YAML_FLOAT, YAML_NO_JSON, YAML_STR };

struct yaml_scalar {
    enum yaml_kind kind;         /* YAML_NO_JSON: an infinity or not a number */
    char text[NUMBER_FLOAT_MAX]; /* of YAML_INT, YAML_FLOAT: as JSON */
    size_t n;
};

struct yaml_scalar yaml_resolve(struct str s);
