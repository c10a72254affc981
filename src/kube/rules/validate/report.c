/* SPDX-License-Identifier: Apache-2.0 */
/* See report.h. */
#include "kube/rules/validate/report.h"

size_t report_count(const struct field_errors *errs)
{
    return errs->n + errs->n_dropped;
}

void report_required(const struct validate_value *s, const char *detail)
{
    field_error(s->errs, FIELD_REQUIRED, value_path(s), NULL, "%s", detail);
}

void report_forbidden(const struct validate_value *s, const char *detail)
{
    field_error(s->errs, FIELD_FORBIDDEN, value_path(s), NULL, "%s", detail);
}

void report_invalid_value(const struct validate_value *s, const struct json *shown,
                          const char *detail)
{
    static const struct json none = { .type = JSON_NULL };
    field_error(s->errs, FIELD_INVALID, value_path(s), shown ? shown : &none, "%s", detail);
}

void report_invalid(const struct validate_value *s, const char *detail)
{
    report_invalid_value(s, s->v, detail);
}

void report_invalid_str(const struct validate_value *s, struct str shown, const char *detail)
{
    field_error_str(s->errs, FIELD_INVALID, value_path(s), shown, "%s", detail);
}

void report_invalid_text(const struct validate_value *s, const char *detail)
{
    report_invalid_str(s, value_text(s), detail);
}

void report_invalid_number(const struct validate_value *s, const char *detail)
{
    report_invalid_value(s, s->v ? s->v : json_new_int(s->errs->a, 0), detail);
}

void report_duplicate(const struct validate_value *s)
{
    field_error(s->errs, FIELD_DUPLICATE, value_path(s), s->v, "%s", "");
}

void report_duplicate_str(const struct validate_value *s, struct str shown)
{
    field_error_str(s->errs, FIELD_DUPLICATE, value_path(s), shown, "%s", "");
}

void report_not_found(const struct validate_value *s)
{
    field_error_str(s->errs, FIELD_NOT_FOUND, value_path(s), value_text(s), "%s", "");
}

void report_too_long(const struct validate_value *s, int max_bytes)
{
    field_error(s->errs, FIELD_TOO_LONG, value_path(s), NULL, "may not be more than %d bytes",
                max_bytes);
}

void report_too_many(const struct validate_value *s, int max)
{
    field_error(s->errs, FIELD_TOO_MANY, value_path(s),
                json_new_int(s->errs->a, (int64_t)value_count(s)), "must have at most %d items",
                max);
}

void report_problems(const struct validate_value *s, struct str shown, struct meta_problems p)
{
    for (size_t i = 0; i < p.n; i++)
        report_invalid_str(s, shown, p.text[i]);
}

void report_not_supported(const struct validate_value *s, const struct validate_enum *w)
{
    field_error_enum(s->errs, value_path(s), s->v, w->p, w->n);
}
