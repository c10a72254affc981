/* SPDX-License-Identifier: Apache-2.0 */
/* Spots, complaints and the checks that many kinds use; see check.h. */
#include "kube/rules/validate/check.h"

#include "codec/json_sort.h"
#include "kube/rules/validate/validate.h"

#include <inttypes.h>

/* ---- spots ---- */

static const struct json *unless_null(const struct json *v)
{
    return v && v->type != JSON_NULL ? v : NULL;
}

struct spot spot_root(const struct json *obj, struct field_errors *errs)
{
    return (struct spot){ .is_root = true, .v = unless_null(obj), .errs = errs };
}

struct spot spot_named(const struct spot *up, const char *name, const struct json *v)
{
    return (struct spot){ .at = fpath_child(spot_path(up), str_of(name)),
                          .v = unless_null(v),
                          .errs = up->errs };
}

struct spot spot_member(const struct spot *up, const char *name)
{
    return spot_named(up, name, json_getc(up->v, name));
}

struct spot spot_key(const struct spot *up, const struct json *member)
{
    return (struct spot){ .at = fpath_key(spot_path(up), member->key),
                          .v = unless_null(member),
                          .errs = up->errs };
}

struct spot spot_item(const struct spot *up, const struct json *item, size_t index)
{
    return (struct spot){ .at = fpath_index(spot_path(up), index),
                          .v = unless_null(item),
                          .errs = up->errs };
}

/* ---- values ---- */

struct str spot_text(const struct spot *s)
{
    return json_str(s->v);
}

int64_t spot_number(const struct spot *s)
{
    return json_int_or(s->v, 0);
}

size_t spot_count(const struct spot *s)
{
    return s->v && s->v->type >= JSON_ARRAY ? s->v->n : 0;
}

bool spot_is(const struct spot *s, const char *text)
{
    return str_is(spot_text(s), text);
}

struct str member_text(const struct spot *s, const char *name)
{
    return json_get_str(s->v, name);
}

int64_t member_number(const struct spot *s, const char *name)
{
    return json_int_or(json_getc(s->v, name), 0);
}

bool member_true(const struct spot *s, const char *name)
{
    return json_bool(json_getc(s->v, name));
}

bool member_set(const struct spot *s, const char *name)
{
    return unless_null(json_getc(s->v, name)) != NULL;
}

bool spot_quantity(const struct spot *s, struct quantity *ret)
{
    return s->v && quantity_parse(spot_text(s), ret, NULL) == 0;
}

bool json_same(const struct json *a, const struct json *b)
{
    a = unless_null(a);
    b = unless_null(b);
    return (!a && !b) || (a && b && json_equal(a, b));
}

size_t errors_of(const struct field_errors *errs)
{
    return errs->n + errs->n_dropped;
}

struct json *sorted_map(struct arena *a, const struct json *map)
{
    if (!unless_null(map))
        return json_new_null(a);
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    struct json *v = NULL;
    if (json_write_sorted(&b, map) < 0 ||
        json_parse(a, str_copy_arena(a, buf_str(&b)), NULL, &v, NULL) < 0)
        v = json_clone(a, map);
    buf_fini(&b);
    return v;
}

struct json *go_struct(struct arena *a, const struct json *v, const char *layout)
{
    struct json *shown = json_new_object(a), *zero;
    struct str rest = str_of(layout), field, name, key, absent;
    while (rest.n) {
        (void)str_cut(rest, ' ', &field, &rest);
        (void)str_cut(field, '=', &name, &field);
        (void)str_cut(field, '/', &key, &absent);
        const struct json *m = unless_null(json_get(v, key));
        if (m)
            json_set(a, shown, name, json_clone(a, m));
        else if (json_parse(a, absent, NULL, &zero, NULL) == 0)
            json_set(a, shown, name, zero);
    }
    return shown;
}

/* ---- complaints ---- */

void say_required(const struct spot *s, const char *detail)
{
    field_error(s->errs, FIELD_REQUIRED, spot_path(s), NULL, "%s", detail);
}

void say_forbidden(const struct spot *s, const char *detail)
{
    field_error(s->errs, FIELD_FORBIDDEN, spot_path(s), NULL, "%s", detail);
}

void say_invalid_value(const struct spot *s, const struct json *shown, const char *detail)
{
    static const struct json none = { .type = JSON_NULL };
    field_error(s->errs, FIELD_INVALID, spot_path(s), shown ? shown : &none, "%s", detail);
}

void say_invalid(const struct spot *s, const char *detail)
{
    say_invalid_value(s, s->v, detail);
}

void say_invalid_str(const struct spot *s, struct str shown, const char *detail)
{
    field_error_str(s->errs, FIELD_INVALID, spot_path(s), shown, "%s", detail);
}

void say_invalid_text(const struct spot *s, const char *detail)
{
    say_invalid_str(s, spot_text(s), detail);
}

void say_invalid_number(const struct spot *s, const char *detail)
{
    say_invalid_value(s, s->v ? s->v : json_new_int(s->errs->a, 0), detail);
}

void say_duplicate(const struct spot *s)
{
    field_error(s->errs, FIELD_DUPLICATE, spot_path(s), s->v, "%s", "");
}

void say_duplicate_str(const struct spot *s, struct str shown)
{
    field_error_str(s->errs, FIELD_DUPLICATE, spot_path(s), shown, "%s", "");
}

void say_not_found(const struct spot *s)
{
    field_error_str(s->errs, FIELD_NOT_FOUND, spot_path(s), spot_text(s), "%s", "");
}

void say_too_long(const struct spot *s, int max_bytes)
{
    field_error(s->errs, FIELD_TOO_LONG, spot_path(s), NULL, "may not be more than %d bytes",
                max_bytes);
}

void say_too_many(const struct spot *s, int max)
{
    field_error(s->errs, FIELD_TOO_MANY, spot_path(s),
                json_new_int(s->errs->a, (int64_t)spot_count(s)), "must have at most %d items",
                max);
}

void say_problems(const struct spot *s, struct str shown, struct meta_problems p)
{
    for (size_t i = 0; i < p.n; i++)
        say_invalid_str(s, shown, p.text[i]);
}

/* ---- checks ---- */

void check_members(const struct spot *s, const struct member_check *checks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        MEMBER(m, s, checks[i].name);
        checks[i].check(&m, checks[i].arg);
    }
}

bool words_has(const struct words *w, struct str s)
{
    for (size_t i = 0; i < w->n; i++)
        if (str_eq(w->p[i], s))
            return true;
    return false;
}

void say_unsupported(const struct spot *s, const struct words *w)
{
    field_error_enum(s->errs, spot_path(s), s->v, w->p, w->n);
}

static bool is_empty(const struct spot *s)
{
    return !s->v || (s->v->type >= JSON_ARRAY ? s->v->n == 0 : spot_text(s).n == 0);
}

void need(const struct spot *s, const void *detail)
{
    if (is_empty(s))
        say_required(s, detail ? detail : "");
}

void one_of(const struct spot *s, const void *words)
{
    if (is_empty(s))
        say_required(s, "");
    else
        one_of_strictly(s, words);
}

void one_of_strictly(const struct spot *s, const void *words)
{
    if (!words_has(words, spot_text(s)))
        say_unsupported(s, words);
}

void one_of_or_none(const struct spot *s, const void *words)
{
    if (s->v)
        one_of_strictly(s, words);
}

void not_negative(const struct spot *s, const void *unused)
{
    if (spot_number(s) < 0)
        say_invalid(s, "must be greater than or equal to 0");
}

void in_range(const struct spot *s, const void *range)
{
    const struct range *r = range;
    int64_t n = spot_number(s);
    if (n < r->min || n > r->max)
        say_invalid_number(s, say_text(s, "must be between %" PRId64 " and %" PRId64 ", inclusive",
                                       r->min, r->max));
}

void in_range_if_set(const struct spot *s, const void *range)
{
    if (s->v)
        in_range(s, range);
}

static const struct range ports = { 1, 65535 };

void a_port(const struct spot *s, const void *unused)
{
    in_range(s, &ports);
}

void a_port_or_name(const struct spot *s, const void *unused)
{
    if (json_is(s->v, JSON_STRING))
        say_problems(s, spot_text(s), check_port_name(spot_text(s)));
    else
        a_port(s, NULL);
}

void a_file_mode(const struct spot *s, const void *unused)
{
    if (spot_number(s) < 0 || spot_number(s) > 0777)
        say_invalid(s, "must be a number between 0 and 0777 (octal), both inclusive");
}

static void by_rule(const struct spot *s, meta_rule rule)
{
    say_problems(s, spot_text(s), rule(spot_text(s)));
}

void must_label(const struct spot *s, const void *unused)
{
    by_rule(s, meta_check_dns1123_label);
}

void must_subdomain(const struct spot *s, const void *unused)
{
    by_rule(s, meta_check_dns1123_subdomain);
}

void must_qualified_name(const struct spot *s, const void *unused)
{
    by_rule(s, meta_check_qualified_name);
}

void a_label(const struct spot *s, const void *unused)
{
    if (!is_empty(s))
        must_label(s, NULL);
}

void a_subdomain(const struct spot *s, const void *unused)
{
    if (!is_empty(s))
        must_subdomain(s, NULL);
}

void a_qualified_name(const struct spot *s, const void *unused)
{
    if (!is_empty(s))
        must_qualified_name(s, NULL);
}

void need_label(const struct spot *s, const void *unused)
{
    need(s, NULL);
    a_label(s, NULL);
}

void need_subdomain(const struct spot *s, const void *unused)
{
    need(s, NULL);
    a_subdomain(s, NULL);
}

void need_path_segment(const struct spot *s, const void *unused)
{
    need(s, NULL);
    if (!is_empty(s))
        by_rule(s, meta_check_path_segment);
}

void labels(const struct spot *s, const void *unused)
{
    meta_validate_labels(s->v, spot_path(s), s->errs);
}

void each(const struct spot *s, const void *arg)
{
    const struct each *e = arg;
    spot_each (item, i, s)
        e->check(&item, e->arg);
}

void validate_finalizers(struct str group, const struct json *obj, struct field_errors *errs)
{
    /* Their metadata follows the rules of extensions alone. */
    WORDS(others, WORD("admissionregistration.k8s.io"), WORD("apiextensions.k8s.io"),
          WORD("apiregistration.k8s.io"), WORD("coordination.k8s.io"), WORD("events.k8s.io"));
    WORDS(standard, WORD("kubernetes"), WORD("orphan"), WORD("foregroundDeletion"));
    struct spot root = spot_root(obj, errs);
    MEMBER(metadata, &root, "metadata");
    MEMBER(finalizers, &metadata, "finalizers");
    if (words_has(&others, group))
        return;
    spot_each (f, i, &finalizers)
        if (str_find_char(spot_text(&f), '/') < 0 && !words_has(&standard, spot_text(&f)))
            say_invalid_text(&f,
                             "name is neither a standard finalizer name nor is it fully qualified");
}

void immutable(const struct spot *now, const struct json *old)
{
    if (!json_same(now->v, old))
        say_invalid(now, "field is immutable");
}

void status_counters(const struct spot *status, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        MEMBER(m, status, names[i]);
        not_negative(&m, NULL);
    }
}

void not_above(const struct spot *status, const char *name, const char *limit, const char *detail)
{
    MEMBER(m, status, name);
    if (spot_number(&m) > member_number(status, limit))
        say_invalid(&m, detail);
}

void not_decremented(const struct spot *status, const struct json *old, const char *name)
{
    MEMBER(m, status, name);
    const struct json *before = unless_null(json_getc(old, name));
    if (before && (!m.v || spot_number(&m) < json_int_or(before, 0)))
        say_invalid_number(&m, "cannot be decremented");
}
