/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the writing verbs. */
#pragma once

#include "api/core.h"

enum {
    API_PARSE_MAX_BYTES = 24 << 20, /* for the tree of one body */
    WRITE_VALUE_MAX_BYTES =
        4 << 20 /* one stored object: the largest body and what the server adds */
};

enum patch_type { PATCH_NONE, PATCH_JSON, PATCH_MERGE, PATCH_STRATEGIC, PATCH_APPLY };

struct write_options {
    enum field_validation fv;
    bool dry_run;
    struct str manager; /* fieldManager, or from the User-Agent */
    bool force;         /* apply: take fields that other managers own */
};

/* Add the field error for bad values of dryRun, a list. */
void write_bad_dry_run(const struct json *given, struct field_errors *errs);
/* Parse the query options; NULL, or the Status to answer. */
struct json *write_parse_options(struct request *rq, struct write_options *ret);
/*
 * Parse the body by content type; NULL, or the Status to answer. schema: of the body, for protobuf.
 * warnings may be NULL.
 */
struct json *write_parse_body(struct request *rq, const struct schema *schema,
                              struct object_warnings *warnings, struct json **ret);
bool write_body_is_json(const struct request *rq);
/*
 * A POST of a body of another kind that changes the object, such as a Binding; the answer is a
 * Status.
 */
struct write_action {
    const char *type; /* OpenAPI name of the body's type */
    /* Set *ret to the changed object, made from the current one; NULL, or the Status to answer. */
    struct json *(*shape)(struct request *rq, const struct json *body, const struct json *old,
                          struct json **ret);
};
void write_action(struct request *rq, const struct write_action *action);

/*
 * The request's turn to write the key comes once no other request writes it; other writes wait
 * until the request is answered. A request holds one place in a line.
 *
 * LINE_RUN:  it has its turn; the caller continues, and run() is not called.
 * LINE_WAIT: run() is called from the loop, unless the request waits too long and is refused.
 * LINE_FULL: too many requests wait; the caller refuses.
 */
enum line_answer write_queue(struct request *rq, struct str key, void (*run)(void *arg), void *arg);
/* The same for a whole request: with LINE_FULL it was answered. */
enum line_answer write_in_turn(struct request *rq, struct str key, void (*run)(void *rq));

/* By content type; PATCH_NONE: not a patch, or a type that is not served. */
enum patch_type write_patch_type(const struct request *rq);
/* The answer to a patch of an unsupported type. */
struct json *write_unsupported_patch(struct request *rq);
/*
 * The body of a patch as a tree of the form that its type requires; NULL, or the Status to answer.
 */
struct json *write_parse_patch(struct request *rq, enum patch_type type, enum field_validation fv,
                               struct object_warnings *warnings, struct json **ret);
/* The answer when a patch (patch.h) failed with r. */
struct json *write_patch_status(struct arena *a, enum patch_type type, int r,
                                const struct err *err);
/* Whether no finalizer holds the object any more. */
bool write_is_finished(const struct kube_resource *res, const struct json *obj);
/* Answer with stored bytes. */
void write_reply_object(struct request *rq, int code, struct str value, uint64_t rev);
