/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAPI documents in protobuf: the messages of gnostic's openapi.v2 and openapi.v3, made from the
 * tree that the JSON form is made from. Pure.
 */
#pragma once

#include "codec/json.h"

/* Append the Document. What its messages have no field for is left out, except for extensions. */
int openapi_proto_v2(const struct json *document, struct buf *to);
int openapi_proto_v3(const struct json *document, struct buf *to);
