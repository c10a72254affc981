/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of field errors: what is invalid in an object, and where (codec/fpath.h). The messages are
 * worded like upstream's, because clients and people read them. Errors live in the arena of their
 * list.
 */
#pragma once

#include "codec/fpath.h"
#include "codec/json.h"

/* name, the cause's reason in a Status, the words that begin the message */
#define FIELD_ERROR_TYPES(X)                                                                       \
    X(FIELD_REQUIRED, "FieldValueRequired", "Required value")                                      \
    X(FIELD_INVALID, "FieldValueInvalid", "Invalid value")                                         \
    X(FIELD_TYPE_INVALID, "FieldValueTypeInvalid", "Invalid value")                                \
    X(FIELD_NOT_SUPPORTED, "FieldValueNotSupported", "Unsupported value")                          \
    X(FIELD_DUPLICATE, "FieldValueDuplicate", "Duplicate value")                                   \
    X(FIELD_NOT_FOUND, "FieldValueNotFound", "Not found")                                          \
    X(FIELD_FORBIDDEN, "FieldValueForbidden", "Forbidden")                                         \
    X(FIELD_TOO_LONG, "FieldValueTooLong", "Too long")                                             \
    X(FIELD_TOO_MANY, "FieldValueTooMany", "Too many")                                             \
    X(FIELD_INTERNAL, "InternalError", "Internal error")

enum field_error_type {
#define FIELD_ERROR_ENUM(name, reason, words) name,
    FIELD_ERROR_TYPES(FIELD_ERROR_ENUM)
#undef FIELD_ERROR_ENUM
};

struct field_error {
    enum field_error_type type;
    struct str field;
    struct str body; /* the message without the field: "Invalid value: \"A\": must be ..." */
    struct field_error *next;
};

enum { /* further errors are only counted in n_dropped */
       FIELD_ERRORS_MAX = 512,
       FIELD_ERRORS_MAX_BYTES = 1 << 20 /* each may show the whole value */
};

struct field_errors {
    struct arena *a;
    struct field_error *first, *last;
    size_t n, n_dropped, n_bytes; /* bytes: of all bodies */
    struct field_errors *excused; /* violations of rules in unchanged parts; NULL: not kept */
    bool is_quiet;                /* only the number of errors matters: make no text */
};

static inline struct field_errors field_errors_init(struct arena *a)
{
    return (struct field_errors){ .a = a };
}
/* Further errors would not be kept. */
static inline bool field_errors_full(const struct field_errors *errs)
{
    return errs->n >= (errs->is_quiet ? 1 : FIELD_ERRORS_MAX) ||
           errs->n_bytes >= FIELD_ERRORS_MAX_BYTES;
}
const char *field_error_reason(enum field_error_type type);

/*
 * Adds an error. value: the offending value, rendered as upstream does (strings quoted, objects as
 * JSON); NULL for types that show none (required, forbidden, too long). The format makes the
 * detail; "" leaves it out.
 */
void field_error(struct field_errors *errs, enum field_error_type type, const struct fpath *at,
                 const struct json *value, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Likewise with a plain string as value. */
void field_error_str(struct field_errors *errs, enum field_error_type type, const struct fpath *at,
                     struct str value, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Unsupported value, with the supported ones: `"x": supported values: "a", "b"`. */
void field_error_enum(struct field_errors *errs, const struct fpath *at, const struct json *value,
                      const struct str *supported, size_t n);
/* Adds the same error at another path. */
void field_error_again(struct field_errors *errs, const struct field_error *e,
                       const struct fpath *at);
/* "field: body" of one, or "[a, b]" of several, without repetitions; the text for a Status. */
struct str field_errors_text(const struct field_errors *errs);
/* As Go's %q prints it. */
void field_go_quote(struct buf *to, struct str s);
/* encoding/json's name for the type of v: "number", "object", ... */
const char *field_go_kind(const struct json *v);
/* As Go's %v, or %#v (sharp), prints a decoded value. */
void field_go_print(struct buf *to, const struct json *v, bool sharp);
