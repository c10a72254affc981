/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status objects (metav1.Status) with upstream's codes, reasons and texts. All in the arena.
 *
 * group, resource: as in the path ("coordination.k8s.io", "leases"); resource "" where it is
 * unknown.
 */
#pragma once

#include "kube/model/field.h"

/* HTTP status of a Status object. */
int status_code(const struct json *status);
struct str status_message(const struct json *status);
struct str status_reason(const struct json *status);

struct json *status_new(struct arena *a, int code, const char *reason, struct str message);
/* {status: Success} for a delete: details have name, group, kind (the resource), uid. */
struct json *status_deleted(struct arena *a, struct str group, struct str resource, struct str name,
                            struct str uid);
struct json *status_not_found(struct arena *a, struct str group, struct str resource,
                              struct str name);
/* The path is not served: "the server could not find the requested resource". */
struct json *status_no_resource(struct arena *a);
struct json *status_already_exists(struct arena *a, struct str group, struct str resource,
                                   struct str name);
struct json *status_generate_name_conflict(struct arena *a, struct str group, struct str resource,
                                           struct str name);
/* Operation cannot be fulfilled on configmaps "x": <why> */
struct json *status_conflict(struct arena *a, struct str group, struct str resource,
                             struct str name, const char *why);
/* As above: "the object has been modified; please apply your changes to the latest version and try
 * again" */
struct json *status_modified(struct arena *a, struct str group, struct str resource,
                             struct str name);
/* why "" leaves out the text after the name. Takes `kind`, not the resource. */
struct json *status_invalid(struct arena *a, struct str group, struct str kind, struct str name,
                            const struct field_errors *errs);
struct json *status_bad_request(struct arena *a, struct str message);
struct json *status_unauthorized(struct arena *a);
struct json *status_forbidden(struct arena *a, struct str group, struct str resource,
                              struct str name, struct str why);
/* "too old resource version: 1 (5)" and the like; reason Expired. */
struct json *status_expired(struct arena *a, struct str message);
struct json *status_too_old(struct arena *a, uint64_t wanted, uint64_t oldest);
/* Timeout: Too large resource version: <wanted>, current: <current>; retry after one second. */
struct json *status_future(struct arena *a, uint64_t wanted, uint64_t current);
struct json *status_too_large(struct arena *a, size_t limit_bytes);
/* Processing the object would take more CPU time or memory than one request may use. */
struct json *status_too_much_work(struct arena *a);
struct json *status_no_method(struct arena *a); /* for a path */
/* for custom resources, whose path upstream knows only by its resource */
struct json *status_method_not_allowed(struct arena *a, struct str group, struct str resource,
                                       const char *verb);
struct json *status_not_acceptable(struct arena *a, const char *accepted); /* media types */
/* Likewise when no range in Accept names a media type at all. */
struct json *status_no_representation(struct arena *a, const char *accepted);
struct json *status_unsupported_media_type(struct arena *a, const char *accepted);
struct json *status_internal(struct arena *a, struct str text);
struct json *status_timeout(struct arena *a, struct str text);
struct json *status_too_many_requests(struct arena *a, int retry_after_s);
struct json *status_unavailable(struct arena *a, struct str text);
/*
 * The Status for one of our error codes. Only E_PARSE, E_INVALID and E_LIMIT show err's text: they
 * are the client's own mistakes. Others become an internal error; the caller logs the text.
 */
struct json *status_from_err(struct arena *a, int code, const struct err *err);
