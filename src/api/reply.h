/* SPDX-License-Identifier: Apache-2.0 */
/* Answers: at most one per request; a no-op once the client is gone. Internal to src/api. */
#pragma once

#include "api/request.h"

void reply_bytes(struct request *rq, int status, const char *content_type, struct str body);
/* The tree as it is, in the negotiated format. */
void reply_json(struct request *rq, int status, const struct json *v);
/* A Status object (status.h); its code is the HTTP status. */
void reply_status(struct request *rq, const struct json *status);
/* A negative code: it becomes a Status; internal errors are logged. */
void reply_err(struct request *rq, int r, const struct err *err);
void reply_store_err(struct request *rq, int r, uint64_t wanted_rev, const struct err *err);
/* The head only. content_type: NULL for none. */
void reply_head(struct request *rq, int status, const char *content_type, uint64_t body_n);
/* 101: the answer is another protocol, for a request with `protocol`. */
void reply_upgrade(struct request *rq, const struct headers *headers);
/*
 * Add a Warning header "299 - \"text\"" to the answer, each text once. As upstream: if all texts
 * together exceed 4 Ki characters, each is cut to 256 characters, and no more are added once the
 * cut ones reach 4 Ki.
 */
void reply_warn(struct request *rq, struct str text);
/* Set the ETag. true: the client has this version, and 304 was answered. */
bool reply_unchanged(struct request *rq, const char *tag);
/* The 404 Status for the object that the request names. */
struct json *reply_not_found(struct request *rq);
/*
 * The Status that reply_err() and reply_store_err() answer for a failed read of the newest
 * revision; logs as they do.
 */
struct json *api_error(struct request *rq, int r, const struct err *err);
