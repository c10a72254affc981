/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that many kinds use; see check.h. */
#include "kube/rules/validate/check.h"

#include "kube/rules/validate/validate.h"

#include <inttypes.h>

/* Generated from text/check.txt. */
#include "kube/rules/check_rules.h"

/* ---- checks ---- */

void validate_members(const struct validate_value *s, const struct validate_member *checks,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        MEMBER(m, s, checks[i].name);
        checks[i].check(&m, checks[i].arg);
    }
}

bool validate_enum_has(const struct validate_enum *w, struct str s)
{
    for (size_t i = 0; i < w->n; i++)
        if (str_eq(w->p[i], s))
            return true;
    return false;
}

static bool is_empty(const struct validate_value *s)
{
    return !s->v || (s->v->type >= JSON_ARRAY ? s->v->n == 0 : value_text(s).n == 0);
}

void validate_required(const struct validate_value *s, const void *detail)
{
    if (is_empty(s))
        report_required(s, detail ? detail : "");
}

void validate_enum(const struct validate_value *s, const void *words)
{
    if (is_empty(s))
        report_required(s, "");
    else
        validate_enum_strict(s, words);
}

void validate_enum_strict(const struct validate_value *s, const void *words)
{
    if (!validate_enum_has(words, value_text(s)))
        report_not_supported(s, words);
}

void validate_enum_if_set(const struct validate_value *s, const void *words)
{
    if (s->v)
        validate_enum_strict(s, words);
}

void validate_nonnegative(const struct validate_value *s, const void *unused)
{
    if (value_number(s) < 0)
        report_invalid(s, "must be greater than or equal to 0");
}

void validate_range(const struct validate_value *s, const void *range)
{
    const struct validate_range *r = range;
    int64_t n = value_number(s);
    if (n < r->min || n > r->max)
        report_invalid_number(
            s, report_text(s, "must be between %" PRId64 " and %" PRId64 ", inclusive", r->min,
                           r->max));
}

void validate_range_if_set(const struct validate_value *s, const void *range)
{
    if (s->v)
        validate_range(s, range);
}

static const struct validate_range ports = { 1, 65535 };

void validate_port(const struct validate_value *s, const void *unused)
{
    validate_range(s, &ports);
}

void validate_port_or_name(const struct validate_value *s, const void *unused)
{
    if (json_is(s->v, JSON_STRING))
        report_problems(s, value_text(s), names_check_port(value_text(s)));
    else
        validate_port(s, NULL);
}

void validate_file_mode(const struct validate_value *s, const void *unused)
{
    if (value_number(s) < 0 || value_number(s) > 0777)
        report_invalid(s, "must be a number between 0 and 0777 (octal), both inclusive");
}

static void by_rule(const struct validate_value *s, meta_rule rule)
{
    report_problems(s, value_text(s), rule(value_text(s)));
}

void validate_label(const struct validate_value *s, const void *unused)
{
    by_rule(s, meta_check_dns1123_label);
}

void validate_subdomain(const struct validate_value *s, const void *unused)
{
    by_rule(s, meta_check_dns1123_subdomain);
}

void validate_qualified_name(const struct validate_value *s, const void *unused)
{
    by_rule(s, meta_check_qualified_name);
}

void validate_label_if_set(const struct validate_value *s, const void *unused)
{
    if (!is_empty(s))
        validate_label(s, NULL);
}

void validate_subdomain_if_set(const struct validate_value *s, const void *unused)
{
    if (!is_empty(s))
        validate_subdomain(s, NULL);
}

void validate_qualified_name_if_set(const struct validate_value *s, const void *unused)
{
    if (!is_empty(s))
        validate_qualified_name(s, NULL);
}

void validate_required_label(const struct validate_value *s, const void *unused)
{
    validate_required(s, NULL);
    validate_label_if_set(s, NULL);
}

void validate_required_subdomain(const struct validate_value *s, const void *unused)
{
    validate_required(s, NULL);
    validate_subdomain_if_set(s, NULL);
}

void validate_required_path_segment(const struct validate_value *s, const void *unused)
{
    validate_required(s, NULL);
    if (!is_empty(s))
        by_rule(s, meta_check_path_segment);
}

void validate_labels(const struct validate_value *s, const void *unused)
{
    meta_validate_labels(s->v, value_path(s), s->errs);
}

void validate_each(const struct validate_value *s, const void *arg)
{
    const struct validate_each *e = arg;
    value_each (item, i, s)
        e->check(&item, e->arg);
}

void validate_finalizers(struct str group, const struct json *obj, struct field_errors *errs)
{
    /* The metadata of these kinds only follows the rules of API extensions. */
    struct validate_value root = value_root(obj, errs);
    MEMBER(metadata, &root, "metadata");
    MEMBER(finalizers, &metadata, "finalizers");
    if (validate_enum_has(&enum_finalizers_others, group))
        return;
    value_each (f, i, &finalizers)
        if (str_find_char(value_text(&f), '/') < 0 &&
            !validate_enum_has(&enum_finalizers_standard, value_text(&f)))
            report_invalid_text(
                &f, "name is neither a standard finalizer name nor is it fully qualified");
}

void validate_immutable(const struct validate_value *now, const struct json *old)
{
    if (!value_same(now->v, old))
        report_invalid(now, "field is immutable");
}

void validate_status_counters(const struct validate_value *status, const char *const *names,
                              size_t n)
{
    for (size_t i = 0; i < n; i++) {
        MEMBER(m, status, names[i]);
        validate_nonnegative(&m, NULL);
    }
}

void validate_not_above(const struct validate_value *status, const char *name, const char *limit,
                        const char *detail)
{
    MEMBER(m, status, name);
    if (value_number(&m) > value_member_number(status, limit))
        report_invalid(&m, detail);
}

void validate_not_decremented(const struct validate_value *status, const struct json *old,
                              const char *name)
{
    MEMBER(m, status, name);
    const struct json *before = value_unless_null(json_getc(old, name));
    if (before && (!m.v || value_number(&m) < json_int_or(before, 0)))
        report_invalid_number(&m, "cannot be decremented");
}
