/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validation of values against schemas, worded as upstream's OpenAPI validator and its list type
 * checks. Like upstream's, errors in combinations (oneOf and the like) have no field of their own;
 * their path is "<nil>".
 */
#include "kube/model/schema.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/sys.h"

#include <arpa/inet.h>
#include <math.h>

struct valid {
    struct field_errors *errs;
    struct arena *scratch; /* for data that no error refers to */
    struct budget *budget;
};

static bool spend(struct valid *v, uint64_t steps)
{
    return budget_spend(v->budget, steps, "validating the object");
}

/* The outcome is decided: further checks would not change it. */
static bool is_decided(const struct valid *v)
{
    return budget_is_over(v->budget) || field_errors_full(v->errs);
}

/* old: the value before an update, NULL where there was none or it cannot be matched. */
static void validate(struct valid *v, const struct schema *s, const struct json *value,
                     const struct json *old, const struct fpath *at);

static const char *where(struct valid *v, const struct fpath *at)
{
    if (v->errs->is_quiet)
        return "";
    return str_dup_arena(v->errs->a, fpath_text(v->errs->a, at));
}

/* "spec.a in body"; at the root upstream's name is empty. */
static const char *subject(struct valid *v, const struct fpath *at)
{
    if (v->errs->is_quiet)
        return "";
    return arena_printf(v->errs->a, "%s in body", where(v, at));
}

/* ---- types ---- */

static const char *json_type_name(const struct json *v)
{
    int64_t i;
    switch (v->type) {
    case JSON_NULL:
        return "null";
    case JSON_FALSE:
    case JSON_TRUE:
        return "boolean";
    case JSON_NUMBER:
        return json_int(v, &i) == 0 ? "integer" : "number";
    case JSON_STRING:
        return "string";
    case JSON_ARRAY:
        return "array";
    case JSON_OBJECT:
        return "object";
    }
    return "";
}

static bool type_fits(const struct schema *s, const struct json *v)
{
    int64_t i;
    switch ((enum schema_type)s->type) {
    case SCHEMA_ANY:
    case SCHEMA_RAW:
    case SCHEMA_FIELDS:
        return true;
    case SCHEMA_STRING:
    case SCHEMA_BYTES:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION:
        return v->type == JSON_STRING;
    case SCHEMA_BOOL:
        return json_is_bool(v);
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        return json_int(v, &i) == 0;
    case SCHEMA_NUMBER:
        return v->type == JSON_NUMBER;
    case SCHEMA_QUANTITY:
        return v->type == JSON_STRING || v->type == JSON_NUMBER;
    case SCHEMA_INT_OR_STRING:
        return v->type == JSON_STRING || json_int(v, &i) == 0;
    case SCHEMA_OBJECT:
    case SCHEMA_MAP:
        return v->type == JSON_OBJECT;
    case SCHEMA_ARRAY:
        return v->type == JSON_ARRAY;
    }
    return true;
}

static void report_type(struct valid *v, const struct schema *s, const struct json *value,
                        const struct fpath *at)
{
    const char *got = json_type_name(value);
    const char *want = s->type == SCHEMA_INT_OR_STRING ? "integer,string" : schema_type_name(s);
    field_error_str(v->errs, FIELD_TYPE_INVALID, at, str_of(got), "%s must be of type %s: \"%s\"",
                    subject(v, at), want, got);
}

/* ---- formats ---- */

static bool is_ip(struct str s, int family)
{
    char text[64];
    unsigned char out[16];
    if (s.n >= sizeof text || memchr(s.p, 0, s.n))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    return inet_pton(family, text, out) == 1;
}

static bool is_cidr(struct str s)
{
    struct str ip, bits;
    uint64_t n;
    if (!str_cut(s, '/', &ip, &bits))
        return false;
    if (is_ip(ip, AF_INET))
        return parse_u64(bits, 0, 32, &n) == 0;
    return is_ip(ip, AF_INET6) && parse_u64(bits, 0, 128, &n) == 0;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_uuid(struct str s)
{
    size_t digits = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '-')
            continue;
        if (!is_hex(s.p[i]))
            return false;
        digits++;
    }
    return digits == 32 && (s.n == 32 || (s.n == 36 && s.p[8] == '-' && s.p[13] == '-' &&
                                          s.p[18] == '-' && s.p[23] == '-'));
}

static bool is_date(struct str s)
{
    char text[32];
    int64_t us;
    if (s.n != 10)
        return false;
    (void)snprintf(text, sizeof text, STR_FMT "T00:00:00Z", STR_ARG(s));
    return rfc3339_parse(str_of(text), &us) == 0;
}

static bool is_mac(struct str s)
{
    if (s.n != 17)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (i % 3 == 2 ? (s.p[i] != ':' && s.p[i] != '-') : !is_hex(s.p[i]))
            return false;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* One label, or several of which the last has at least two letters. */
static bool is_hostname(struct str s)
{
    if (s.n == 0 || s.n > 255)
        return false;
    size_t top = s.n;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!(c >= '0' && c <= '9') && !is_letter(c) && c != '-' && c != '.')
            return false;
        if (c == '.')
            top = i + 1;
    }
    bool fine = s.p[0] != '-' && s.p[0] != '.' && s.p[s.n - 1] != '-';
    for (size_t i = top; i < s.n; i++)
        fine = fine && is_letter(s.p[i]);
    return fine && (top == s.n || s.n - top >= 2);
}

static bool is_email(struct str s)
{
    struct str user, host;
    bool fine = str_cut(s, '@', &user, &host) && user.n > 0 && host.n > 0;
    for (size_t i = 0; fine && i < s.n; i++)
        fine = (unsigned char)s.p[i] > ' ' && !strchr("<>()[],;:\\\"", s.p[i]);
    return fine && str_find_char(host, '@') < 0;
}

static bool is_uri(struct str s)
{
    ptrdiff_t colon = str_find_char(s, ':');
    return colon > 0 || (s.n > 0 && s.p[0] == '/');
}

/* "1h30m", "-2.5s" and, as upstream also accepts them, "3 days". */
static bool is_duration(struct str s)
{
    static const char *const units[] = { "ns",      "us",     "ms",   "min",  "hours", "hour",
                                         "hrs",     "hr",     "h",    "days", "day",   "d",
                                         "weeks",   "week",   "wks",  "wk",   "w",     "m",
                                         "seconds", "second", "secs", "sec",  "s" };
    size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');
    if (str_is(str_slice(s, i, s.n), "0"))
        return true;
    if (i == s.n)
        return false;
    while (i < s.n) {
        size_t from = i;
        while (i < s.n && ((s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '.'))
            i++;
        if (i == from)
            return false;
        while (i < s.n && s.p[i] == ' ')
            i++;
        size_t u = 0;
        while (u < ARRAY_LEN(units) && !str_has_prefix(str_slice(s, i, s.n), str_of(units[u])))
            u++;
        if (u == ARRAY_LEN(units))
            return false;
        i += strlen(units[u]);
    }
    return true;
}

static bool is_date_time(struct str s)
{
    int64_t us;
    return rfc3339_parse(s, &us) == 0;
}

static bool is_ipv4(struct str s)
{
    return is_ip(s, AF_INET);
}

static bool is_ipv6(struct str s)
{
    return is_ip(s, AF_INET6);
}

static bool is_base64(struct str s)
{
    size_t pad = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     c == '+' || c == '/';
        if (c == '=')
            pad++;
        else if (pad || !digit)
            return false;
    }
    return s.n % 4 == 0 && pad <= 2;
}

/* Formats that are checked; others are only documentation. */
static const struct {
    const char *name;
    bool (*check)(struct str s);
} formats[] = {
    { "date-time", is_date_time },
    { "date", is_date },
    { "duration", is_duration },
    { "ipv4", is_ipv4 },
    { "ipv6", is_ipv6 },
    { "cidr", is_cidr },
    { "mac", is_mac },
    { "uuid", is_uuid },
    { "uuid3", is_uuid },
    { "uuid4", is_uuid },
    { "uuid5", is_uuid },
    { "byte", is_base64 },
    { "hostname", is_hostname },
    { "email", is_email },
    { "uri", is_uri },
};

static void check_format(struct valid *v, const struct schema_rules *r, const struct json *value,
                         const struct fpath *at)
{
    for (size_t i = 0; r->format.n && i < ARRAY_LEN(formats); i++) {
        if (!str_is(r->format, formats[i].name) || formats[i].check(value->s))
            continue;
        struct buf quoted = BUF_INIT(64 * 1024);
        field_go_quote(&quoted, value->s);
        field_error(v->errs, FIELD_TYPE_INVALID, at, value, "%s must be of type " STR_FMT ": %s",
                    subject(v, at), STR_ARG(r->format), buf_cstr(&quoted));
        buf_fini(&quoted);
    }
}

/* ---- value rules ---- */

static size_t count_runes(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

/* Returns 1, 0 or E_LIMIT. */
static int matches_pattern(struct valid *v, const struct schema_regex *re, struct str s)
{
    size_t at, end;
    unsigned steps = 0;
    int found = schema_regex_find(re, s, 0, &at, &end, &steps);
    (void)spend(v, steps * UINT64_C(2) + s.n / 8); /* a step of the matcher takes some 20 ns */
    return found;
}

static void check_string(struct valid *v, const struct schema_rules *r, const struct json *value,
                         const struct fpath *at)
{
    if (is_decided(v))
        return;
    int64_t n = (int64_t)count_runes(value->s);
    if (r->max_length >= 0 && n > r->max_length)
        field_error(v->errs, FIELD_TOO_LONG, at, NULL, "may not be more than %lld %s",
                    (long long)r->max_length, r->max_length == 1 ? "byte" : "bytes");
    if (r->min_length >= 0 && n < r->min_length)
        field_error(v->errs, FIELD_INVALID, at, value, "%s should be at least %lld chars long",
                    subject(v, at), (long long)r->min_length);
    int found = r->regex ? matches_pattern(v, r->regex, value->s) : r->pattern.n == 0;
    if (found == 0)
        field_error(v->errs, FIELD_INVALID, at, value, "%s should match '" STR_FMT "'",
                    subject(v, at), STR_ARG(r->pattern));
    else if (found < 0)
        field_error(v->errs, FIELD_INVALID, at, value,
                    "%s cannot be compared with '" STR_FMT "' in %d steps", subject(v, at),
                    STR_ARG(r->pattern), REGEX_STEPS_MAX);
    check_format(v, r, value, at);
}

/* As Go prints a float64 with %v: short, with an exponent from 1e21 on. */
static const char *number_text(struct valid *v, double d)
{
    if (v->errs->is_quiet)
        return "";
    struct json *j = json_new_float(v->errs->a, d);
    struct buf b = BUF_INIT(64);
    (void)json_write(&b, j);
    char *text = str_dup_arena(v->errs->a, buf_str(&b));
    buf_fini(&b);
    return text;
}

static bool is_multiple(double value, double of)
{
    if (of <= 0)
        return true;
    double q = value / of;
    return fabs(q - round(q)) < 1e-9;
}

static void check_number(struct valid *v, const struct schema_rules *r, const struct json *value,
                         const struct fpath *at)
{
    double d;
    if (json_float(value, &d) < 0)
        return;
    if (r->has_multiple_of && !is_multiple(d, r->multiple_of))
        field_error(v->errs, FIELD_INVALID, at, value, "%s should be a multiple of %s",
                    subject(v, at), number_text(v, r->multiple_of));
    if (r->has_maximum && (d > r->maximum || (r->exclusive_maximum && d >= r->maximum)))
        field_error(v->errs, FIELD_INVALID, at, value, "%s should be less than %s%s",
                    subject(v, at), r->exclusive_maximum ? "" : "or equal to ",
                    number_text(v, r->maximum));
    if (r->has_minimum && (d < r->minimum || (r->exclusive_minimum && d <= r->minimum)))
        field_error(v->errs, FIELD_INVALID, at, value, "%s should be greater than %s%s",
                    subject(v, at), r->exclusive_minimum ? "" : "or equal to ",
                    number_text(v, r->minimum));
}

static void report_too_many(struct valid *v, const struct fpath *at, size_t n, int64_t max)
{
    struct json *count = json_new_int(v->scratch, (int64_t)n);
    field_error(v->errs, FIELD_TOO_MANY, at, count, "must have at most %lld item%s", (long long)max,
                max == 1 ? "" : "s");
}

static void report_too_few(struct valid *v, const struct fpath *at, size_t n, int64_t min,
                           const char *what)
{
    struct json *count = json_new_int(v->scratch, (int64_t)n);
    field_error(v->errs, FIELD_INVALID, at, count, "%s should have at least %lld %s",
                subject(v, at), (long long)min, what);
}

/*
 * An element, identified by a hash: the texts of some hundred thousand would take too much memory.
 */
struct schema_validate_mark {
    uint64_t hash;
    const struct json *item;
    uint32_t index;
};

static int cmp_mark(const void *x, const void *y)
{
    const struct schema_validate_mark *a = x, *b = y;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static int cmp_index(const void *x, const void *y)
{
    const struct schema_validate_mark *a = x, *b = y;
    return (a->index > b->index) - (a->index < b->index);
}

/* Hash of an element's identity: its keys in a list map, else itself. */
static uint64_t hash_of(struct buf *scratch, const struct schema *s, const struct json *item,
                        uint64_t seed)
{
    buf_reset(scratch);
    if (s->list_type != SCHEMA_LIST_MAP)
        (void)json_write_sorted(scratch, item);
    for (uint16_t i = 0; i < s->n_list_keys && s->list_type == SCHEMA_LIST_MAP; i++) {
        const struct json *k = json_get(item, s->list_keys[i]);
        if (k)
            (void)json_write_sorted(scratch, k);
        (void)buf_add_char(scratch, ',');
    }
    return str_hash(buf_str(scratch), seed);
}

static bool is_same(const struct schema *s, const struct json *a, const struct json *b)
{
    if (s->list_type != SCHEMA_LIST_MAP)
        return json_equal(a, b);
    for (uint16_t i = 0; i < s->n_list_keys; i++)
        if (!json_equal(json_get(a, s->list_keys[i]), json_get(b, s->list_keys[i])))
            return false;
    return true;
}

/*
 * Moves the second occurrence of each repeated element to the front, in order. Returns their
 * number.
 */
static size_t keep_repeated(const struct schema *s, struct schema_validate_mark *m, size_t n)
{
    size_t n_found = 0;
    qsort(m, n, sizeof *m, cmp_mark);
    for (size_t first = 0, i = 1; i < n; i++) {
        if (m[i].hash != m[first].hash)
            first = i;
        else if (i == first + 1 && is_same(s, m[i].item, m[first].item))
            m[n_found++] = m[i];
    }
    qsort(m, n_found, sizeof *m, cmp_index);
    return n_found;
}

static bool has_duplicates(const struct json *list)
{
    static const struct schema set = { .list_type = SCHEMA_LIST_SET };
    if (list->n < 2)
        return false;
    scoped(free_scoped) struct schema_validate_mark *m =
        xnew_n(struct schema_validate_mark, list->n);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    uint64_t seed = sys_random_u64();
    size_t n = 0;
    json_each (item, list) {
        m[n] = (struct schema_validate_mark){ hash_of(&text, &set, item, seed), item, (uint32_t)n };
        n++;
    }
    return keep_repeated(&set, m, n) > 0;
}

static void check_array(struct valid *v, const struct schema_rules *r, const struct json *value,
                        const struct fpath *at)
{
    if (r->min_items >= 0 && value->n < r->min_items)
        report_too_few(v, at, value->n, r->min_items, "items");
    if (r->max_items >= 0 && value->n > r->max_items)
        report_too_many(v, at, value->n, r->max_items);
    if (r->unique_items && has_duplicates(value))
        field_error(v->errs, FIELD_INVALID, at, value, "%s shouldn't contain duplicates",
                    subject(v, at));
}

static void check_object(struct valid *v, const struct schema_rules *r, const struct json *value,
                         const struct fpath *at)
{
    if (r->min_properties >= 0 && value->n < r->min_properties)
        report_too_few(v, at, value->n, r->min_properties, "properties");
    if (r->max_properties >= 0 && value->n > r->max_properties)
        report_too_many(v, at, value->n, r->max_properties);
    json_each (name, r->required) {
        struct fpath child = fpath_child(at, json_str(name));
        if (!json_get(value, json_str(name)))
            field_error(v->errs, FIELD_REQUIRED, &child, NULL, "%s", "");
    }
}

/* Reports a value that is not in the enum. */
static void report_enum(struct valid *v, const struct json *values, const struct json *value,
                        const struct fpath *at)
{
    if (field_errors_full(v->errs)) {
        v->errs->n_dropped++;
        return;
    }
    scoped(free_scoped) struct str *names = xnew_n(struct str, MAX(values->n, 1));
    size_t n = 0;
    json_each (e, values) {
        if (e->type == JSON_STRING) {
            names[n++] = e->s;
            continue;
        }
        struct buf b = BUF_INIT(64 * 1024);
        (void)json_write(&b, e);
        names[n++] = str_copy_arena(v->scratch, buf_str(&b));
        buf_fini(&b);
    }
    field_error_enum(v->errs, at, value, names, n);
}

static void check_enum(struct valid *v, const struct schema_rules *r, const struct json *value,
                       const struct fpath *at)
{
    if (!r->enum_values || is_decided(v))
        return;
    json_each (e, r->enum_values) {
        bool same = json_equal_work(e, value, &v->budget->steps);
        if (!spend(v, 0) || same)
            return;
    }
    if (v->errs->is_quiet)
        v->errs->n++;
    else
        report_enum(v, r->enum_values, value, at);
}

/* ---- combinations ---- */

/* Some of upstream's errors have no field; their path prints as this. */
static const struct fpath nil_path = { .kind = FPATH_CHILD, .name = { "<nil>", 5 } };

static void report_combination(struct valid *v, const struct fpath *at, const char *rest)
{
    field_error_str(v->errs, FIELD_INVALID, &nil_path, STR(""), "\"%s\" must %s", where(v, at),
                    rest);
}

/* Whether the value would pass; reports no errors. */
static bool passes(struct valid *v, const struct schema *s, const struct json *value,
                   const struct fpath *at)
{
    struct field_errors own = { .a = v->scratch, .is_quiet = true };
    struct valid inner = { .errs = &own, .scratch = v->scratch, .budget = v->budget };
    validate(&inner, s, value, NULL, at);
    return own.n == 0;
}

/* When no alternative passes, report the errors of the first one. */
static void check_any_of(struct valid *v, const struct schema_rules *r, const struct json *value,
                         const struct fpath *at)
{
    for (size_t i = 0; i < r->n_any_of; i++)
        if (passes(v, r->any_of[i], value, at) || is_decided(v))
            return;
    if (r->n_any_of == 0)
        return;
    report_combination(v, at, "validate at least one schema (anyOf)");
    validate(v, r->any_of[0], value, NULL, at);
}

static void check_one_of(struct valid *v, const struct schema_rules *r, const struct json *value,
                         const struct fpath *at)
{
    size_t n_valid = 0;
    for (size_t i = 0; i < r->n_one_of && !is_decided(v); i++)
        n_valid += passes(v, r->one_of[i], value, at);
    if (r->n_one_of == 0 || n_valid == 1 || is_decided(v))
        return;
    const char *found = n_valid == 0
                            ? "Found none valid"
                            : arena_printf(v->scratch, "Found %zu valid alternatives", n_valid);
    report_combination(
        v, at, arena_printf(v->scratch, "validate one and only one schema (oneOf). %s", found));
    if (n_valid == 0)
        validate(v, r->one_of[0], value, NULL, at);
}

static void check_all_of(struct valid *v, const struct schema_rules *r, const struct json *value,
                         const struct fpath *at)
{
    size_t n_valid = 0;
    for (size_t i = 0; i < r->n_all_of && !is_decided(v); i++) {
        size_t before = v->errs->n;
        validate(v, r->all_of[i], value, NULL, at);
        n_valid += v->errs->n == before;
    }
    if (n_valid < r->n_all_of && !is_decided(v))
        report_combination(v, at,
                           n_valid ? "validate all the schemas (allOf)"
                                   : "validate all the schemas (allOf). None validated");
}

static void check_combinations(struct valid *v, const struct schema_rules *r,
                               const struct json *value, const struct fpath *at)
{
    check_any_of(v, r, value, at);
    check_one_of(v, r, value, at);
    check_all_of(v, r, value, at);
    if (r->not_schema && !is_decided(v) && passes(v, r->not_schema, value, at))
        report_combination(v, at, "not validate the schema (not)");
}

/* ---- list types ---- */

/* The part of an element that must be unique: itself in a set, its keys in a map. */
static const struct json *identity(struct valid *v, const struct schema *s, const struct json *item)
{
    if (s->list_type == SCHEMA_LIST_SET)
        return item;
    struct json *keys = json_new_object(v->scratch);
    for (uint16_t i = 0; i < s->n_list_keys; i++) {
        const struct json *k = json_get(item, s->list_keys[i]);
        if (k)
            json_set(v->scratch, keys, s->list_keys[i], json_clone(v->scratch, k));
    }
    return keys;
}

static void check_list_type(struct valid *v, const struct schema *s, const struct json *value,
                            const struct fpath *at)
{
    if (s->list_type == SCHEMA_LIST_ATOMIC || value->n == 0)
        return;
    scoped(free_scoped) struct schema_validate_mark *m =
        xnew_n(struct schema_validate_mark, value->n);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    uint64_t seed = sys_random_u64();
    size_t n = 0;
    json_each (item, value) {
        struct fpath child = fpath_index(at, n);
        if (s->list_type == SCHEMA_LIST_MAP && item->type != JSON_OBJECT &&
            item->type != JSON_NULL) {
            field_error(v->errs, FIELD_INVALID, &child, item,
                        "must be an object for an array of list-type map");
            return;
        }
        m[n] = (struct schema_validate_mark){ hash_of(&text, s, item, seed), item, (uint32_t)n };
        n++;
    }
    n = keep_repeated(s, m, n);
    for (size_t i = 0; i < n && !field_errors_full(v->errs); i++) { /* report each value once */
        struct fpath child = fpath_index(at, m[i].index);
        field_error(v->errs, FIELD_DUPLICATE, &child, identity(v, s, m[i].item), "%s", "");
    }
}

/* ---- the walk ---- */

static void validate_members(struct valid *v, const struct schema *s, const struct json *value,
                             const struct json *old, const struct fpath *at)
{
    json_each (m, value) {
        const struct schema *sub = schema_child(s, m->key);
        if (!sub)
            continue;
        struct fpath child = fpath_child(at, m->key);
        validate(v, sub, m, json_get(old, m->key), &child);
    }
}

/*
 * Elements of a list map are matched with old ones by their keys; those of other lists cannot be.
 */
static void index_items(struct valid *v, const struct schema *s, const struct json *old,
                        struct map *to)
{
    if (s->type != SCHEMA_ARRAY || s->list_type != SCHEMA_LIST_MAP || !json_is(old, JSON_ARRAY))
        return;
    json_each (item, old)
        (void)map_put(to, schema_list_key(v->scratch, s, item), item);
}

static void validate_items(struct valid *v, const struct schema *s, const struct json *value,
                           const struct json *old, const struct fpath *at)
{
    struct map before = { .borrows_keys = true };
    size_t i = 0;
    if (!s->items)
        return;
    index_items(v, s, old, &before);
    json_each (item, value) {
        if (is_decided(v))
            break;
        struct fpath child = fpath_index(at, i++);
        const struct json *was =
            before.n ? map_get(&before, schema_list_key(v->scratch, s, item)) : NULL;
        validate(v, s->items, item, was, &child);
    }
    map_fini(&before);
}

/* Reports a number that is not an integer, or exceeds its format, where an integer is required. */
static void check_integer(struct valid *v, const struct schema *s, const struct json *value,
                          const struct fpath *at)
{
    int64_t i;
    bool wide = s->type == SCHEMA_INT64;
    if ((!wide && s->type != SCHEMA_INT32) || s->flags & SCHEMA_BUILTIN ||
        value->type != JSON_NUMBER)
        return;
    if (json_int(value, &i) == 0 && (wide || (i >= INT32_MIN && i <= INT32_MAX)))
        return;
    struct str format = s->rules ? s->rules->format : STR("");
    const char *kind = format.n ? arena_printf(v->scratch, "with format " STR_FMT, STR_ARG(format))
                                : "(default format)";
    field_error_str(v->errs, FIELD_INVALID, &nil_path, STR(""),
                    "Checked value must be of type integer %s in %s", kind, where(v, at));
}

static void check_rules(struct valid *v, const struct schema_rules *r, const struct json *value,
                        const struct fpath *at)
{
    switch (value->type) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
        break;
    case JSON_NUMBER:
        check_number(v, r, value, at);
        break;
    case JSON_STRING:
        check_string(v, r, value, at);
        break;
    case JSON_ARRAY: /* checked after its items */
        break;
    case JSON_OBJECT:
        check_object(v, r, value, at);
        break;
    }
    check_enum(v, r, value, at);
    check_combinations(v, r, value, at);
}

/* Objects above a reordered list map are validated again, which adds no other errors. */
static bool is_as_before(struct valid *v, const struct schema *s, const struct json *value,
                         const struct json *old)
{
    return json_equal_work(value, old, &v->budget->steps) ||
           (value->type == JSON_ARRAY && s->list_type == SCHEMA_LIST_MAP &&
            schema_same(v->scratch, s, value, old, v->budget));
}

static void validate(struct valid *v, const struct schema *s, const struct json *value,
                     const struct json *old, const struct fpath *at)
{
    (void)spend(v, 8);
    if (is_decided(v))
        return;
    if (old && is_as_before(v, s, value, old))
        return; /* it was accepted before: a stricter schema does not block other changes */
    if (value->type == JSON_NULL) {
        if (s->flags & (SCHEMA_NULLABLE | SCHEMA_BUILTIN) || s->type == SCHEMA_ANY)
            return;
        report_type(v, s, value, at);
        return;
    }
    if (!type_fits(s, value))
        report_type(v, s, value, at);
    check_integer(v, s, value, at);
    if (s->rules)
        check_rules(v, s->rules, value, at);
    if (value->type == JSON_OBJECT)
        validate_members(v, s, value, old, at);
    else if (value->type == JSON_ARRAY)
        validate_items(v, s, value, old, at);
    if (value->type == JSON_ARRAY && s->rules && !is_decided(v))
        check_array(v, s->rules, value, at);
    if (value->type == JSON_ARRAY && s->type == SCHEMA_ARRAY && !is_decided(v))
        check_list_type(v, s, value, at);
}

int schema_validate(const struct schema *s, const struct json *v, const struct json *old,
                    const struct fpath *at, struct field_errors *errs)
{
    struct budget own = BUDGET_INIT;
    struct arena scratch = { 0 };
    struct valid valid = { .errs = errs,
                           .scratch = &scratch,
                           .budget = errs->a->budget ? errs->a->budget : &own };
    validate(&valid, s, v, old, at);
    arena_fini(&scratch);
    return budget_is_over(valid.budget) ? E_LIMIT : 0;
}
