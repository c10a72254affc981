/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the body of a request to an object that can be stored: one function per step of the request
 * path. The same steps serve built-in kinds and custom resources.
 *
 *     decode -> prepare (create or update) -> default -> validate -> store
 *
 * Everything lives in the request's arena. A step that the client caused to fail gives a Status
 * (status.h) to send and returns its negative code.
 */
#pragma once

#include "kube/model/object.h"

enum field_validation { FIELD_VALIDATION_IGNORE, FIELD_VALIDATION_WARN, FIELD_VALIDATION_STRICT };
/* "Strict", "Warn", "Ignore", "" (Warn). -EINVAL. */
int object_field_validation_parse(struct str s, enum field_validation *ret);

enum { OBJECT_MAX_WARNINGS = 64 };

/* Unknown and repeated fields, found while decoding. */
struct object_warnings {
    struct arena *a;
    struct str text[OBJECT_MAX_WARNINGS]; /* `unknown field "spec.a"` */
    size_t n;
    struct str json; /* the text in whose order they are told; "": as they were found */
};

/*
 * JSON bytes to an object of `res`: parse, check kind and apiVersion (filled in when absent),
 * types, unknown and repeated fields, Go's zero values, pruning; defaults are applied as well. body
 * must outlive the arena's tree. limit: nesting and size are bounded by the parser.
 */
int object_decode(struct arena *a, const struct kube_resource *res, struct str body,
                  enum field_validation fv, struct object_warnings *warnings, struct json **ret,
                  struct json **ret_status);
/* The same from a tree (a YAML body, the result of a patch); `obj` is changed in place. */
int object_decode_tree(struct arena *a, const struct kube_resource *res, struct json *obj,
                       enum field_validation fv, struct object_warnings *warnings,
                       struct json **ret_status);
/* The result of an apply patch: fields that cannot hold null and were applied as null are refused
 * by validation. */
int object_decode_applied(struct arena *a, const struct kube_resource *res, struct json *obj,
                          struct json **ret_status);
/*
 * The result of a patch: complaints are about "patch", shown by `show`, which is asked only then.
 * Those about the result of a strategic merge are worded otherwise: upstream does not go through
 * JSON there.
 */
int object_decode_patched(struct arena *a, const struct kube_resource *res, struct json *obj,
                          enum field_validation fv, struct object_warnings *warnings,
                          struct str (*show)(void *arg), void *arg, bool strategic,
                          struct json **ret_status);
/* Collects duplicates: json_parse_opts.on_duplicate with a struct object_warnings * as arg. */
void object_on_duplicate(void *warnings, struct str path);
/*
 * With FIELD_VALIDATION_STRICT and warnings present: the Status upstream answers, else NULL.
 */
struct json *object_strict_status(struct arena *a, const struct kube_resource *res,
                                  const struct object_warnings *warnings);

/* Facts that are not in the object. */
struct object_env {
    int64_t now_s;        /* wall clock */
    struct str uid;       /* a fresh UUID, used by create */
    uint64_t random;      /* for generateName */
    struct str namespace; /* of the request, "" for cluster scope */
};

/* A create: what only the server sets is not the client's to send, nor to own. */
void object_wipe_system_fields(struct json *obj);
/*
 * Create: name and namespace (generateName, mismatch with the path is an error), uid,
 * creationTimestamp, generation, fields that the server owns; the kind's own preparation.
 */
int object_prepare_create(struct arena *a, const struct kube_resource *res, struct json *obj,
                          const struct object_env *env, struct json **ret_status);
/*
 * Update of an existing object: metadata the client may not change is taken from `old` (uid,
 * creationTimestamp, deletionTimestamp, ...), the part that is not being written as well;
 * generation moves where the kind counts it. name: from the path. A missing or different name is
 * an error. resourceVersion is left alone, and so is another uid: the caller compares them.
 */
int object_prepare_update(struct arena *a, const struct kube_resource *res, enum object_part part,
                          struct json *obj, const struct json *old, const struct object_env *env,
                          struct str name, struct json **ret_status);
/* Whole validation. old: NULL for create. E_INVALID with the Status of reason Invalid. */
int object_validate(struct arena *a, const struct kube_resource *res, enum object_part part,
                    const struct json *obj, const struct json *old, struct json **ret_status);
/*
 * The same for an update. A rule that does not hold for what was so before is a warning, as
 * upstream gives it.
 */
int object_validate_update(struct arena *a, const struct kube_resource *res, enum object_part part,
                           const struct json *obj, const struct json *old,
                           struct object_warnings *warnings, struct json **ret_status);
/* Apply the schema's defaults, e.g. to an object read from the store under a newer schema. */
void object_default(struct arena *a, const struct kube_resource *res, struct json *obj);
