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
int openapi_v3_index(const struct kube_registry *reg, struct buf *to);
enum openapi_form { OPENAPI_JSON, OPENAPI_PROTOBUF };
/* /openapi/v3/api/v1, /openapi/v3/apis/<group>/<version>. -ENOENT if it does not exist. */
int openapi_v3(const struct kube_registry *reg, struct str group, struct str version,
               enum openapi_form form, struct buf *to);
/* /openapi/v2 */
int openapi_v2(const struct kube_registry *reg, enum openapi_form form, struct buf *to);
/*
 * The cost of making a document, beyond the constant part for built-in kinds, in steps
 * (base/budget.h). group.p NULL: version 2, of everything.
 */
uint64_t openapi_cost(const struct kube_registry *reg, struct str group, struct str version);
/*
 * ETags: hashes of the inputs of the documents, much cheaper than making the documents. That of
 * version 3 is also in the index. -ENOENT.
 */
enum { OPENAPI_HASH_MAX = 72 };
void openapi_v2_hash(const struct kube_registry *reg, char out[OPENAPI_HASH_MAX]);
int openapi_v3_hash(const struct kube_registry *reg, struct str group, struct str version,
                    char out[OPENAPI_HASH_MAX]);
