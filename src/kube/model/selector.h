/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label and field selectors: parsing with upstream's errors, matching, and a canonical form that is
 * equal for selectors with the same set of requirements.
 */
#pragma once

#include "kube/model/field.h"
#include "kube/model/schema.h"

enum selector_op {
    SELECTOR_IN,
    SELECTOR_NOT_IN,
    SELECTOR_EQUALS,
    SELECTOR_DOUBLE_EQUALS,
    SELECTOR_NOT_EQUALS,
    SELECTOR_EXISTS,
    SELECTOR_NOT_EXISTS,
    SELECTOR_GREATER,
    SELECTOR_LESS
};

struct selector_req {
    struct str key;
    enum selector_op op;
    struct str *values; /* sorted, unique */
    size_t n_values;
};

/* n == 0 and !nothing matches everything. Lives in the arena in which it was made. */
struct selector {
    struct selector_req *reqs; /* sorted by key */
    size_t n;
    bool nothing; /* matches no object (a null LabelSelector) */
};

enum { SELECTOR_MAX_BYTES = 64 * 1024, SELECTOR_MAX_REQS = 1024 };

/* "a=b,c!=d,e in (x,y),!f,g>1". Errors: E_INVALID with upstream's text. The text is copied. */
int selector_parse_labels(struct arena *a, struct str text, struct selector *ret, struct err *err);
/* metav1.LabelSelector {matchLabels, matchExpressions}; NULL or JSON null gives `nothing`. */
int selector_from_object(struct arena *a, const struct json *obj, struct selector *ret,
                         struct err *err);
/* "metadata.name=x,type!=y" with \ escapes. Errors: E_INVALID with upstream's text. */
int selector_parse_fields(struct arena *a, struct str text, struct selector *ret, struct err *err);

/* Checks one requirement; v NULL: the object has no such label. */
bool selector_req_matches(const struct selector_req *r, const struct str *v);
/* labels: the metadata.labels object or NULL. */
bool selector_matches_labels(const struct selector *s, const struct json *labels);
/* Likewise, spending steps for each requirement checked; false once `budget` is used up. */
bool selector_matches_labels_budget(const struct selector *s, const struct json *labels,
                                    struct budget *budget);
/*
 * Value of a field as field selectors see it: scalars as text, absent as "". schema: of the object,
 * may be NULL; fields that a built-in kind omits when zero read "false" or "0".
 */
struct str selector_field_value(struct arena *a, const struct schema *schema,
                                const struct json *obj, struct str field);
/* Spends from the work of `a`; false once it is used up. */
bool selector_matches_fields(struct arena *a, const struct selector *s, const struct schema *schema,
                             const struct json *obj);
/*
 * Every field must be metadata.name, metadata.namespace or one of these.
 * E_INVALID with upstream's text: `field label not supported: spec.x`, and another one for kinds
 * that have nothing but metadata (allowed NULL).
 */
int selector_check_fields(const struct selector *s, const struct str *allowed, size_t n,
                          struct err *err);
/* If the selector requires field == one value: that value (for lookups by name), else "". */
struct str selector_required_value(const struct selector *s, const char *field);
/* The canonical text; parses back to an equal selector. */
struct str selector_text(struct arena *a, const struct selector *s);
