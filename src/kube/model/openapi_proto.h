/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAPI documents in protobuf: the messages of gnostic's openapi.v2 and openapi.v3, made from the
 * same tree as the JSON form. Pure.
 */
#pragma once

#include "codec/json.h"

/* Append the Document. Members without a field in its messages are left out, except extensions. */
int openapi_proto_v2(const struct json *document, struct buf *to);
int openapi_proto_v3(const struct json *document, struct buf *to);
