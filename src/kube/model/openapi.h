/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAPI documents from schemas: version 3 per group version with an index of hashes, version 2
 * for older clients. Documents are large and rarely requested; the caller decides whether and how
 * long to keep them.
 */
#pragma once

#include "kube/model/resource.h"

enum { OPENAPI_MAX_BYTES = 32 << 20 };

/* /openapi/v3: {"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=..."}}} */
int openapi_v3_index(const struct registry *reg, struct buf *to);
enum openapi_form { OPENAPI_JSON, OPENAPI_PROTOBUF };
/* /openapi/v3/api/v1, /openapi/v3/apis/<group>/<version>. -ENOENT if there is none. */
int openapi_v3(const struct registry *reg, struct str group, struct str version,
               enum openapi_form form, struct buf *to);
/* /openapi/v2 */
int openapi_v2(const struct registry *reg, enum openapi_form form, struct buf *to);
/*
 * What making a document costs beyond the built-in kinds, which are always the same, in steps
 * (base/budget.h). group.p NULL: version 2, of everything.
 */
uint64_t openapi_cost(const struct registry *reg, struct str group, struct str version);
/*
 * Hashes of what the documents are made from, much less work than making them: the ETags. That of
 * version 3 also stands in the index. -ENOENT.
 */
enum { OPENAPI_HASH_MAX = 72 };
void openapi_v2_hash(const struct registry *reg, char out[OPENAPI_HASH_MAX]);
int openapi_v3_hash(const struct registry *reg, struct str group, struct str version,
                    char out[OPENAPI_HASH_MAX]);
