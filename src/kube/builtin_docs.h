/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of built-in types and fields, for OpenAPI and `kubectl explain`. */
#pragma once

#include "base/str.h"

/* type: Go's name ("v1.ConfigMap"); field "" asks for the type itself. "" where there is none. */
struct str builtin_doc(struct str type, struct str field);

/* More of them (builtin_docs_groups.c): "TYPE.FIELD\0text\0", TYPE '*' for all. */
extern const char builtin_docs_groups[];
extern const size_t builtin_docs_groups_n;
