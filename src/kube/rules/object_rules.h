/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the body of a request into an object that can be stored: one function per step of the
 * request path. The same steps serve built-in kinds and custom resources.
 *
 *     decode -> prepare (create or update) -> default -> validate -> store
 *
 * Everything lives in the request's arena. When a step fails because of the client, it sets the
 * Status (status.h) to send and returns its negative code.
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
    struct str json; /* the text whose order they are reported in; "": as they were found */
};

/*
 * Decodes JSON bytes into an object of `res`: parses, checks kind and apiVersion (filled in when
 * absent), types, unknown and repeated fields, sets Go's zero values, prunes, applies defaults.
 * body must outlive the arena's tree. The parser limits nesting and size.
 */
int object_decode(struct arena *a, const struct kube_resource *res, struct str body,
                  enum field_validation fv, struct object_warnings *warnings, struct json **ret,
                  struct json **ret_status);
/* Likewise from a tree (a YAML body, the result of a patch); `obj` is changed in place. */
int object_decode_tree(struct arena *a, const struct kube_resource *res, struct json *obj,
                       enum field_validation fv, struct object_warnings *warnings,
                       struct json **ret_status);
/*
 * Decodes the result of an apply patch: validation refuses fields that were applied as null and
 * cannot be null.
 */
int object_decode_applied(struct arena *a, const struct kube_resource *res, struct json *obj,
                          struct json **ret_status);
/*
 * Decodes the result of a patch: errors are about "patch", whose text `show` gives; it is called
 * only for an error. Errors in the result of a strategic merge are worded differently: upstream
 * does not go through JSON there.
 */
int object_decode_patched(struct arena *a, const struct kube_resource *res, struct json *obj,
                          enum field_validation fv, struct object_warnings *warnings,
                          struct str (*show)(void *arg), void *arg, bool strategic,
                          struct json **ret_status);
/* Collects duplicates: json_parse_opts.on_duplicate with a struct object_warnings * as arg. */
void object_on_duplicate(void *warnings, struct str path);
/*
 * With FIELD_VALIDATION_STRICT and warnings present: the Status that upstream answers, else NULL.
 */
struct json *object_strict_status(struct arena *a, const struct kube_resource *res,
                                  const struct object_warnings *warnings);

/* Inputs that are not in the object. */
struct object_env {
    int64_t now_s;        /* wall clock */
    struct str uid;       /* a fresh UUID, used by create */
    uint64_t random;      /* for generateName */
    struct str namespace; /* of the request, "" for cluster scope */
};

/*
 * Create: remove the fields that only the server sets, so that the client neither sets nor owns
 * them.
 */
void object_wipe_system_fields(struct json *obj);
/*
 * Create: sets name and namespace (generateName; a mismatch with the path is an error), uid,
 * creationTimestamp, generation, fields that the server owns; runs the kind's own preparation.
 */
int object_prepare_create(struct arena *a, const struct kube_resource *res, struct json *obj,
                          const struct object_env *env, struct json **ret_status);
/*
 * Update of an existing object: metadata that the client may not change (uid, creationTimestamp,
 * deletionTimestamp, ...) and the part that is not written are taken from `old`; generation
 * increases where the kind counts the change. name: from the path. A missing or different name is
 * an error. resourceVersion is left alone, and so is a different uid: the caller compares them.
 */
int object_prepare_update(struct arena *a, const struct kube_resource *res, enum object_part part,
                          struct json *obj, const struct json *old, const struct object_env *env,
                          struct str name, struct json **ret_status);
/* Whole validation. old: NULL for create. E_INVALID with the Status of reason Invalid. */
int object_validate(struct arena *a, const struct kube_resource *res, enum object_part part,
                    const struct json *obj, const struct json *old, struct json **ret_status);
/*
 * Likewise for an update. A violated rule whose value did not change is a warning, as upstream
 * gives it.
 */
int object_validate_update(struct arena *a, const struct kube_resource *res, enum object_part part,
                           const struct json *obj, const struct json *old,
                           struct object_warnings *warnings, struct json **ret_status);
/* Apply the schema's defaults, e.g. to an object read from the store under a newer schema. */
void object_default(struct arena *a, const struct kube_resource *res, struct json *obj);
