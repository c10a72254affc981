/* SPDX-License-Identifier: Apache-2.0 */
/* Report field errors as upstream's field package does: Required, Invalid, Forbidden... */
#pragma once

#include "kube/model/meta.h"
#include "kube/rules/validate/value.h"

/* The values of an enum, in the order in which upstream lists them. */
struct validate_enum {
    const struct str *p;
    size_t n;
};

size_t report_count(const struct field_errors *errs); /* reported so far */
void report_required(const struct validate_value *s, const char *detail);
void report_forbidden(const struct validate_value *s, const char *detail);
void report_invalid(const struct validate_value *s,
                    const char *detail); /* shows the value, null if absent */
void report_invalid_text(const struct validate_value *s,
                         const char *detail); /* a string, "" if absent */
void report_invalid_number(const struct validate_value *s, const char *detail); /* 0 if absent */
void report_invalid_value(const struct validate_value *s, const struct json *shown,
                          const char *detail);
void report_invalid_str(const struct validate_value *s, struct str shown, const char *detail);
void report_duplicate(const struct validate_value *s);
void report_duplicate_str(const struct validate_value *s, struct str shown);
void report_not_found(const struct validate_value *s);
void report_too_long(const struct validate_value *s, int max_bytes);
void report_too_many(const struct validate_value *s, int max);
void report_problems(const struct validate_value *s, struct str shown, struct meta_problems p);
/* printf into the arena of the list. */
#define report_text(s, ...) arena_printf((s)->errs->a, __VA_ARGS__)
void report_not_supported(const struct validate_value *s, const struct validate_enum *w);
