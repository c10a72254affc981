/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic, conversions, times, and the functions of strings and lists. */
#include "kube/cel/cel_int.h"

#include "base/buf.h"
#include "base/clock.h"
#include "codec/json.h"
#include "codec/utf8.h"
#include "kube/model/duration.h"

#include <math.h>
#include <stdio.h>

enum { SECOND_NS = 1000000000, TEXT_MAX_BYTES = 4 << 20 };

/* ------------------------------------------------------------------ arithmetic */

static int overflow(struct cel_run *run, const char *what)
{
    return cel_error(run, "%s overflow", what);
}

static int int_arithmetic(struct cel_run *run, enum cel_op op, int64_t x, int64_t y, int64_t *ret)
{
    if ((op == CEL_OP_DIV || op == CEL_OP_MOD) && y == 0)
        return cel_error(run, op == CEL_OP_DIV ? "division by zero" : "modulus by zero");
    if ((op == CEL_OP_DIV || op == CEL_OP_MOD) && x == INT64_MIN && y == -1)
        return overflow(run, "integer");
    bool over = op == CEL_OP_ADD   ? __builtin_add_overflow(x, y, ret)
                : op == CEL_OP_SUB ? __builtin_sub_overflow(x, y, ret)
                : op == CEL_OP_MUL ? __builtin_mul_overflow(x, y, ret)
                                   : false;
    if (op == CEL_OP_DIV)
        *ret = x / y;
    if (op == CEL_OP_MOD)
        *ret = x % y;
    return over ? overflow(run, "integer") : 0;
}

static int uint_arithmetic(struct cel_run *run, enum cel_op op, uint64_t x, uint64_t y,
                           uint64_t *ret)
{
    if ((op == CEL_OP_DIV || op == CEL_OP_MOD) && y == 0)
        return cel_error(run, op == CEL_OP_DIV ? "division by zero" : "modulus by zero");
    bool over = op == CEL_OP_ADD   ? __builtin_add_overflow(x, y, ret)
                : op == CEL_OP_SUB ? __builtin_sub_overflow(x, y, ret)
                : op == CEL_OP_MUL ? __builtin_mul_overflow(x, y, ret)
                                   : false;
    if (op == CEL_OP_DIV)
        *ret = x / y;
    if (op == CEL_OP_MOD)
        *ret = x % y;
    return over ? overflow(run, "unsigned integer") : 0;
}

static int double_arithmetic(struct cel_run *run, enum cel_op op, double x, double y, double *ret)
{
    switch (op) {
    case CEL_OP_ADD:
        *ret = x + y;
        return 0;
    case CEL_OP_SUB:
        *ret = x - y;
        return 0;
    case CEL_OP_MUL:
        *ret = x * y;
        return 0;
    case CEL_OP_DIV:
        *ret = x / y;
        return 0;
    default:
        return cel_no_overload(run);
    }
}

static int concat_strings(struct cel_run *run, struct cel_value x, struct cel_value y,
                          struct cel_value *ret)
{
    int r = cel_spend(run, (x.s.n + y.s.n) / 10);
    if (r < 0)
        return r;
    char *p;
    r = cel_take(run, x.s.n + y.s.n + 1, 1, (void **)&p);
    if (r < 0)
        return r;
    memcpy(p, x.s.p, x.s.n);
    memcpy(p + x.s.n, y.s.p, y.s.n);
    *ret = x;
    ret->s = (struct str){ p, x.s.n + y.s.n };
    return 0;
}

static bool contains(struct cel_run *run, const struct cel_value *in, size_t n, struct cel_value v)
{
    for (size_t i = 0; i < n && !cel_is_spent(run); i++)
        if (cel_equal(run, in[i], v))
            return true;
    return false;
}

/* The keys of two items of a list map are equal. */
static bool same_key(struct cel_run *run, const struct schema *s, struct cel_value x,
                     struct cel_value y)
{
    x = cel_resolve(run, x);
    y = cel_resolve(run, y);
    for (size_t i = 0; i < s->n_list_keys; i++) {
        const struct cel_value *p = cel_find(run, x, cel_string(s->list_keys[i]));
        const struct cel_value *q = cel_find(run, y, cel_string(s->list_keys[i]));
        if (!p != !q || (p && !cel_equal(run, *p, *q)))
            return false;
    }
    return true;
}

/*
 * Lists are concatenated. Sets: the elements of y that x lacks are added. List maps: items of y
 * with a key in x replace that item in place, others are added.
 */
static int concat_lists(struct cel_run *run, struct cel_value x, struct cel_value y,
                        struct cel_value *ret)
{
    int r = cel_spend(run, (x.n + y.n) / 2);
    if (r < 0)
        return r;
    struct cel_value *all;
    r = cel_take(run, (size_t)x.n + y.n + 1, sizeof *all, (void **)&all);
    if (r < 0)
        return r;
    size_t n = x.n;
    if (x.n)
        memcpy(all, x.list, x.n * sizeof *all);
    for (size_t i = 0; i < y.n && !cel_is_spent(run); i++) {
        size_t at = n;
        if (x.list_type == SCHEMA_LIST_SET && contains(run, all, n, y.list[i]))
            continue;
        for (size_t k = 0;
             x.list_type == SCHEMA_LIST_MAP && x.schema && k < x.n && at == n && !cel_is_spent(run);
             k++)
            if (same_key(run, x.schema, all[k], y.list[i]))
                at = k;
        all[at] = y.list[i];
        n += at == n;
    }
    *ret = x;
    ret->n = (uint32_t)n;
    ret->list = all;
    return cel_spend(run, 0);
}

static int add_time(struct cel_run *run, struct cel_value t, int64_t by_ns, struct cel_value *ret)
{
    __int128 ns = (__int128)t.time.at_s * SECOND_NS + t.time.nano + by_ns;
    __int128 s = ns / SECOND_NS - (ns % SECOND_NS < 0);
    if (s < -62135596800 || s > 253402300799)
        return overflow(run, "timestamp");
    *ret = t;
    ret->time.at_s = (int64_t)s;
    ret->time.nano = (uint32_t)(ns - s * SECOND_NS);
    return 0;
}

static int time_arithmetic(struct cel_run *run, enum cel_op op, struct cel_value x,
                           struct cel_value y, struct cel_value *ret)
{
    bool add = op == CEL_OP_ADD;
    if (x.type == CEL_TIMESTAMP && y.type == CEL_DURATION && y.i != INT64_MIN)
        return add_time(run, x, add ? y.i : -y.i, ret);
    if (x.type == CEL_DURATION && y.type == CEL_TIMESTAMP && add)
        return add_time(run, y, x.i, ret);
    if (x.type == CEL_TIMESTAMP && y.type == CEL_TIMESTAMP && !add) {
        __int128 ns = ((__int128)x.time.at_s - y.time.at_s) * SECOND_NS + x.time.nano - y.time.nano;
        if (ns > INT64_MAX || ns < INT64_MIN)
            return overflow(run, "duration");
        *ret = (struct cel_value){ .type = CEL_DURATION, .i = (int64_t)ns };
        return 0;
    }
    if (x.type != CEL_DURATION || y.type != CEL_DURATION)
        return cel_no_overload(run);
    *ret = x;
    return int_arithmetic(run, op, x.i, y.i, &ret->i);
}

int cel_arithmetic(struct cel_run *run, enum cel_op op, struct cel_value x, struct cel_value y,
                   struct cel_value *ret)
{
    bool same = x.type == y.type, sum = op == CEL_OP_ADD || op == CEL_OP_SUB;
    *ret = x;
    if (same && x.type == CEL_INT)
        return int_arithmetic(run, op, x.i, y.i, &ret->i);
    if (same && x.type == CEL_UINT)
        return uint_arithmetic(run, op, x.u, y.u, &ret->u);
    if (same && x.type == CEL_DOUBLE)
        return double_arithmetic(run, op, x.d, y.d, &ret->d);
    if (same && op == CEL_OP_ADD && (x.type == CEL_STRING || x.type == CEL_BYTES))
        return concat_strings(run, x, y, ret);
    if (same && op == CEL_OP_ADD && x.type == CEL_LIST)
        return concat_lists(run, x, y, ret);
    bool time = (x.type == CEL_TIMESTAMP || x.type == CEL_DURATION) &&
                (y.type == CEL_TIMESTAMP || y.type == CEL_DURATION);
    return time && sum ? time_arithmetic(run, op, x, y, ret) : cel_no_overload(run);
}

/* ------------------------------------------------------------------ conversions */

static int fn_size(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    if (v->type == CEL_STRING)
        *ret = cel_int((int64_t)cel_runes(v->s));
    else if (v->type == CEL_BYTES)
        *ret = cel_int((int64_t)v->s.n);
    else if (v->type == CEL_LIST || v->type == CEL_MAP)
        *ret = cel_int((int64_t)v->n);
    else
        return cel_no_overload(run);
    return v->type == CEL_STRING ? cel_spend(run, v->s.n / 10) : 0;
}

static int fn_int(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    int64_t i = 0;
    if (v->type == CEL_INT)
        i = v->i;
    else if (v->type == CEL_UINT && v->u <= INT64_MAX)
        i = (int64_t)v->u;
    else if (v->type == CEL_DOUBLE && v->d > -9223372036854775808.0 && v->d < 9223372036854775808.0)
        i = (int64_t)v->d;
    else if (v->type == CEL_UINT || v->type == CEL_DOUBLE)
        return overflow(run, "integer");
    else if (v->type == CEL_TIMESTAMP)
        i = v->time.at_s;
    else if (v->type == CEL_DURATION)
        i = v->i;
    else if (v->type != CEL_STRING)
        return cel_no_overload(run);
    else if (parse_i64(v->s, INT64_MIN, INT64_MAX, &i) < 0)
        return cel_error(run, "strconv.ParseInt: parsing \"" STR_FMT "\": invalid syntax",
                         STR_ARG(v->s));
    *ret = cel_int(i);
    return 0;
}

static int fn_uint(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    uint64_t u = 0;
    if (v->type == CEL_UINT)
        u = v->u;
    else if (v->type == CEL_INT && v->i >= 0)
        u = (uint64_t)v->i;
    else if (v->type == CEL_DOUBLE && v->d >= 0 && v->d < 18446744073709551616.0)
        u = (uint64_t)v->d;
    else if (v->type == CEL_INT || v->type == CEL_DOUBLE)
        return overflow(run, "unsigned integer");
    else if (v->type != CEL_STRING)
        return cel_no_overload(run);
    else if (parse_u64(v->s, 0, UINT64_MAX, &u) < 0)
        return cel_error(run, "strconv.ParseUint: parsing \"" STR_FMT "\": invalid syntax",
                         STR_ARG(v->s));
    *ret = (struct cel_value){ .type = CEL_UINT, .u = u };
    return 0;
}

static int fn_double(struct cel_run *run, const struct cel_value *v, size_t n,
                     struct cel_value *ret)
{
    double d = 0;
    struct arena a = { 0 };
    struct json *number;
    if (v->type == CEL_DOUBLE)
        d = v->d;
    else if (v->type == CEL_INT)
        d = (double)v->i;
    else if (v->type == CEL_UINT)
        d = (double)v->u;
    else if (v->type != CEL_STRING)
        return cel_no_overload(run);
    else if (json_parse(&a, v->s, NULL, &number, NULL) < 0 || json_float(number, &d) < 0) {
        arena_fini(&a);
        return cel_error(run, "strconv.ParseFloat: parsing \"" STR_FMT "\": invalid syntax",
                         STR_ARG(v->s));
    }
    arena_fini(&a);
    *ret = cel_double(d);
    return 0;
}

static int fn_bool(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    static const char *const yes[] = { "1", "t", "true", "TRUE", "True", "T" }, *const no[] = {
        "0", "f", "false", "FALSE", "False", "F"
    };
    *ret = *v;
    if (v->type == CEL_BOOL)
        return 0;
    if (v->type != CEL_STRING)
        return cel_no_overload(run);
    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        *ret = cel_bool(str_is(v->s, yes[i]));
        if (ret->b || str_is(v->s, no[i]))
            return 0;
    }
    return cel_error(run, "strconv.ParseBool: parsing \"" STR_FMT "\": invalid syntax",
                     STR_ARG(v->s));
}

/* Seconds with their fraction, without trailing zeros. */
static void print_seconds(struct buf *to, __int128 ns)
{
    bool minus = ns < 0;
    uint64_t s = (uint64_t)((minus ? -ns : ns) / SECOND_NS);
    uint64_t part = (uint64_t)((minus ? -ns : ns) % SECOND_NS);
    char digits[16];
    (void)buf_printf(to, "%s%llu", minus ? "-" : "", (unsigned long long)s);
    if (!part)
        return;
    int n = snprintf(digits, sizeof digits, "%09llu", (unsigned long long)part);
    while (n > 0 && digits[n - 1] == '0')
        n--;
    (void)buf_printf(to, ".%.*s", n, digits);
}

static void print_time(struct buf *to, const struct cel_value *v)
{
    char text[RFC3339_MAX];
    rfc3339_format(v->time.at_s, text);
    struct buf part = BUF_INIT(64);
    if (v->time.nano)
        print_seconds(&part, v->time.nano);
    (void)buf_printf(to, "%.*s%sZ", (int)strlen(text) - 1, text, part.n ? buf_cstr(&part) + 1 : "");
    buf_fini(&part);
}

/* The shortest text that parses to the same number. */
static void print_double(struct buf *to, double d)
{
    if (isnan(d) || isinf(d)) {
        (void)buf_add_cstr(to, isnan(d) ? "NaN" : d < 0 ? "-Inf" : "+Inf");
        return;
    }
    char text[512];
    for (int digits = 0; digits <= 340; digits++) {
        double again;
        (void)snprintf(text, sizeof text, "%.*f", digits, d);
        struct json number = { .type = JSON_NUMBER, .s = str_of(text) };
        if (json_float(&number, &again) == 0 && again == d)
            break;
    }
    (void)buf_add_cstr(to, text);
}

/* As string() and %s print it. false: the value has no text. */
static bool print_value(struct cel_run *run, struct buf *to, struct cel_value v, bool nested)
{
    v = cel_resolve(run, v);
    bool ok = true;
    switch ((enum cel_type)v.type) {
    case CEL_NULL:
        (void)buf_add_cstr(to, "null");
        return nested;
    case CEL_BOOL:
        (void)buf_add_cstr(to, v.b ? "true" : "false");
        return true;
    case CEL_INT:
        (void)buf_printf(to, "%lld", (long long)v.i);
        return true;
    case CEL_UINT:
        (void)buf_printf(to, "%llu", (unsigned long long)v.u);
        return true;
    case CEL_DOUBLE:
        print_double(to, v.d);
        return true;
    case CEL_STRING:
    case CEL_BYTES:
    case CEL_URL:
        (void)buf_add_str(to, v.s);
        return true;
    case CEL_DURATION:
        print_seconds(to, v.i);
        (void)buf_add_char(to, 's');
        return true;
    case CEL_TIMESTAMP:
        print_time(to, &v);
        return true;
    case CEL_TYPE:
        (void)buf_add_cstr(to, cel_type_name((enum cel_type)v.i));
        return true;
    case CEL_QUANTITY:
        (void)buf_add_str(to, quantity_text(run->a, *v.quantity));
        return true;
    case CEL_LIST:
        (void)buf_add_char(to, '[');
        for (size_t i = 0; i < v.n && ok; i++) {
            (void)buf_add_cstr(to, i ? ", " : "");
            ok = print_value(run, to, v.list[i], true);
        }
        (void)buf_add_char(to, ']');
        return nested && ok && ++run->cost <= run->cost_max;
    case CEL_MAP:
        (void)buf_add_char(to, '{');
        for (size_t i = 0; i < v.n && ok; i++) {
            (void)buf_add_cstr(to, i ? ", " : "");
            ok = print_value(run, to, v.pairs[i].key, true);
            (void)buf_add_cstr(to, ": ");
            ok = ok && print_value(run, to, v.pairs[i].value, true);
        }
        (void)buf_add_char(to, '}');
        return nested && ok && ++run->cost <= run->cost_max;
    case CEL_OPTIONAL:
    case CEL_IP:
    case CEL_CIDR:
    case CEL_FORMAT:
    case CEL_SEMVER:
    case CEL_ACCESS:
    case CEL_JSON:
        break;
    }
    return false;
}

/* Moves the text of a buffer into the arena. */
static int take_text(struct cel_run *run, struct buf *b, struct cel_value *ret)
{
    int r = buf_ok(b) ? cel_spend(run, b->n / 10) : E_LIMIT;
    if (r >= 0)
        *ret = cel_string(str_copy_arena(run->a, buf_str(b)));
    buf_fini(b);
    return r;
}

static int fn_string(struct cel_run *run, const struct cel_value *v, size_t n,
                     struct cel_value *ret)
{
    struct buf b = BUF_INIT(TEXT_MAX_BYTES);
    bool known = v->type == CEL_IP || v->type == CEL_CIDR ? cel_print_address(&b, v)
                                                          : print_value(run, &b, *v, false);
    if (known)
        return take_text(run, &b, ret);
    buf_fini(&b);
    return cel_no_overload(run);
}

static int fn_bytes(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    *ret = *v;
    ret->type = CEL_BYTES;
    return v->type == CEL_STRING || v->type == CEL_BYTES ? 0 : cel_no_overload(run);
}

static int fn_type(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    *ret = (struct cel_value){ .type = CEL_TYPE, .i = v->type };
    return 0;
}

static int fn_dyn(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    *ret = *v;
    return 0;
}

/* ------------------------------------------------------------------ times */

static int fn_duration(struct cel_run *run, const struct cel_value *v, size_t n,
                       struct cel_value *ret)
{
    *ret = *v;
    if (v->type == CEL_DURATION)
        return 0;
    if (v->type != CEL_STRING)
        return cel_no_overload(run);
    *ret = (struct cel_value){ .type = CEL_DURATION };
    if (!duration_parse(v->s, &ret->i))
        return cel_error(run, "time: invalid duration \"" STR_FMT "\"", STR_ARG(v->s));
    return 0;
}

static int fn_timestamp(struct cel_run *run, const struct cel_value *v, size_t n,
                        struct cel_value *ret)
{
    int64_t us;
    *ret = *v;
    if (v->type == CEL_TIMESTAMP)
        return 0;
    *ret = (struct cel_value){ .type = CEL_TIMESTAMP };
    if (v->type == CEL_INT) {
        ret->time.at_s = v->i;
        return v->i < -62135596800 || v->i > 253402300799 ? overflow(run, "timestamp") : 0;
    }
    if (v->type != CEL_STRING)
        return cel_no_overload(run);
    if (rfc3339_parse(v->s, &us) < 0)
        return cel_error(run, "parsing time \"" STR_FMT "\" as \"2006-01-02T15:04:05Z07:00\"",
                         STR_ARG(v->s));
    ret->time.at_s = us / 1000000 - (us % 1000000 < 0);
    ret->time.nano = (uint32_t)(us - ret->time.at_s * 1000000) * 1000;
    return 0;
}

/* "+05:30", "-08:00", "UTC". Names of time zones are not supported. */
static bool parse_zone(struct str s, int64_t *ret_s)
{
    uint64_t hours, minutes;
    struct str h, m;
    bool minus = s.n && s.p[0] == '-';
    *ret_s = 0;
    if (str_is(s, "UTC") || s.n == 0)
        return true;
    if (s.p[0] == '-' || s.p[0] == '+')
        s = str_slice(s, 1, s.n);
    if (!str_cut(s, ':', &h, &m) || parse_u64(h, 0, 23, &hours) < 0 ||
        parse_u64(m, 0, 59, &minutes) < 0)
        return false;
    *ret_s = (int64_t)(hours * 3600 + minutes * 60) * (minus ? -1 : 1);
    return true;
}

struct date {
    int64_t year, month, day, day_of_year; /* from 0, except the year */
};

static struct date date_of(int64_t days)
{
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    struct date d = { .year = yoe + era * 400, .day = doy - (153 * mp + 2) / 5 };
    d.month = mp < 10 ? mp + 2 : mp - 10;
    d.year += d.month < 2;
    bool leap = (d.year % 4 == 0 && d.year % 100 != 0) || d.year % 400 == 0;
    d.day_of_year = d.month < 2 ? doy - 306 : doy + 59 + leap;
    return d;
}

enum time_part { YEAR, MONTH, DAY, DATE, WEEK_DAY, YEAR_DAY, HOURS, MINUTES, SECONDS, MILLIS };

static int part_of_time(struct cel_run *run, const struct cel_value *v, size_t n,
                        enum time_part part, struct cel_value *ret)
{
    int64_t zone_s = 0;
    if (v->type == CEL_DURATION && n == 1 && part >= HOURS) {
        static const int64_t units[] = { 3600ll * SECOND_NS, 60ll * SECOND_NS, SECOND_NS, 1000000 };
        *ret = cel_int(v->i / units[part - HOURS]);
        return 0;
    }
    if (v->type != CEL_TIMESTAMP || (n == 2 && v[1].type != CEL_STRING))
        return cel_no_overload(run);
    if (n == 2 && !parse_zone(v[1].s, &zone_s))
        return cel_error(run, "unknown time zone " STR_FMT, STR_ARG(v[1].s));
    int64_t at_s = v->time.at_s + zone_s, day = at_s / 86400 - (at_s % 86400 < 0);
    int64_t second = at_s - day * 86400;
    struct date d = date_of(day);
    const int64_t parts[] = { [YEAR] = d.year,
                              [MONTH] = d.month,
                              [DAY] = d.day,
                              [DATE] = d.day + 1,
                              [WEEK_DAY] = ((day + 4) % 7 + 7) % 7,
                              [YEAR_DAY] = d.day_of_year,
                              [HOURS] = second / 3600,
                              [MINUTES] = second / 60 % 60,
                              [SECONDS] = second % 60,
                              [MILLIS] = v->time.nano / 1000000 };
    *ret = cel_int(parts[part]);
    return 0;
}

#define TIME_PARTS(X)                                                                              \
    X(YEAR, "getFullYear", fn_year)                                                                \
    X(MONTH, "getMonth", fn_month)                                                                 \
    X(DAY, "getDayOfMonth", fn_day)                                                                \
    X(DATE, "getDate", fn_date)                                                                    \
    X(WEEK_DAY, "getDayOfWeek", fn_week_day)                                                       \
    X(YEAR_DAY, "getDayOfYear", fn_year_day)                                                       \
    X(HOURS, "getHours", fn_hours)                                                                 \
    X(MINUTES, "getMinutes", fn_minutes)                                                           \
    X(SECONDS, "getSeconds", fn_seconds)                                                           \
    X(MILLIS, "getMilliseconds", fn_millis)
#define TIME_FUNCTION(part, name, fn)                                                              \
    static int fn(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret) \
    {                                                                                              \
        return part_of_time(run, v, n, part, ret);                                                 \
    }
TIME_PARTS(TIME_FUNCTION)

/* ------------------------------------------------------------------ strings */

static bool all_are(const struct cel_value *v, size_t n, enum cel_type type)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].type != type)
            return false;
    return true;
}

static int fn_contains(struct cel_run *run, const struct cel_value *v, size_t n,
                       struct cel_value *ret)
{
    if (v->type == CEL_CIDR)
        return E_UNSUPPORTED;
    if (!all_are(v, n, CEL_STRING))
        return cel_no_overload(run);
    *ret = cel_bool(str_find(v[0].s, v[1].s) >= 0);
    return cel_spend(run, v[0].s.n / 10);
}

static int fn_starts(struct cel_run *run, const struct cel_value *v, size_t n,
                     struct cel_value *ret)
{
    if (!all_are(v, n, CEL_STRING))
        return cel_no_overload(run);
    *ret = cel_bool(str_has_prefix(v[0].s, v[1].s));
    return 0;
}

static int fn_ends(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    if (!all_are(v, n, CEL_STRING))
        return cel_no_overload(run);
    *ret = cel_bool(str_has_suffix(v[0].s, v[1].s));
    return 0;
}

static int compile_regex(struct cel_run *run, const struct cel_value *v, struct schema_regex **ret)
{
    struct err err = { 0 };
    if (!all_are(v, 2, CEL_STRING))
        return cel_no_overload(run);
    if (schema_regex_new(v[1].s, ret, &err) < 0)
        return cel_error(run, "%s", err_text(&err));
    return cel_spend(run, (v[0].s.n / 10 + 1) * (v[1].s.n / 4 + 1));
}

/*
 * Backtracking is part of the cost: otherwise a short pattern with much of it would be almost free.
 */
static int find_regex(struct cel_run *run, const struct schema_regex *re, struct str s, size_t from,
                      size_t *ret_at, size_t *ret_end, bool *ret_found)
{
    enum { STEPS_PER_COST = 10 };
    unsigned steps = 0;
    int found = schema_regex_find(re, s, from, ret_at, ret_end, &steps);
    int r = cel_spend(run, steps / STEPS_PER_COST);
    /* An error, neither true nor false: a policy must not decide by a guess. */
    if (r >= 0 && found < 0)
        return cel_error(run, "the regular expression needs more than %d steps", REGEX_STEPS_MAX);
    *ret_found = found > 0;
    return r;
}

static int fn_matches(struct cel_run *run, const struct cel_value *v, size_t n,
                      struct cel_value *ret)
{
    struct schema_regex *re = NULL;
    size_t at, end;
    bool found = false;
    int r = compile_regex(run, v, &re);
    if (r >= 0)
        r = find_regex(run, re, v[0].s, 0, &at, &end, &found);
    if (r >= 0)
        *ret = cel_bool(found);
    schema_regex_free(re);
    return r;
}

static int fn_find(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    struct schema_regex *re = NULL;
    size_t at = 0, end = 0;
    bool found = false;
    int r = compile_regex(run, v, &re);
    if (r >= 0)
        r = find_regex(run, re, v[0].s, 0, &at, &end, &found);
    if (r >= 0)
        *ret = cel_string(found ? str_slice(v[0].s, at, end) : STR(""));
    schema_regex_free(re);
    return r;
}

static int fn_find_all(struct cel_run *run, const struct cel_value *v, size_t n,
                       struct cel_value *ret)
{
    struct schema_regex *re = NULL;
    size_t from = 0, at, end, before = SIZE_MAX; /* before: end of the previous match */
    if (n == 3 && v[2].type != CEL_INT)
        return cel_no_overload(run);
    int64_t most = n == 3 ? v[2].i : -1;
    int r = compile_regex(run, v, &re);
    struct cel_items all = { 0 };
    while (r >= 0 && from <= v[0].s.n && (most < 0 || (int64_t)all.n < most)) {
        bool found = false;
        r = find_regex(run, re, v[0].s, from, &at, &end, &found);
        if (r < 0 || !found)
            break;
        if (at < end || at != before) /* an empty match right after another match does not count */
            r = cel_push(run, &all, cel_string(str_slice(v[0].s, at, end)));
        before = end;
        from = end > at ? end : end + 1;
        while (from < v[0].s.n && ((unsigned char)v[0].s.p[from] & 0xc0) == 0x80)
            from++;
        if (r >= 0)
            r = cel_spend(run, 1);
    }
    if (r >= 0)
        *ret = cel_list(all.p, all.n);
    schema_regex_free(re);
    return r;
}

/* The byte offset of a character; the number may be one past the last. */
static bool rune_at(struct str s, int64_t number, size_t *ret)
{
    size_t at = 0;
    for (int64_t i = 0; i < number; i++) {
        if (at >= s.n)
            return false;
        for (at++; at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80;)
            at++;
    }
    *ret = at;
    return number >= 0;
}

static int fn_char_at(struct cel_run *run, const struct cel_value *v, size_t n,
                      struct cel_value *ret)
{
    size_t at, end;
    if (v[0].type != CEL_STRING || v[1].type != CEL_INT)
        return cel_no_overload(run);
    if (!rune_at(v[0].s, v[1].i, &at))
        return cel_error(run, "index out of range: %lld", (long long)v[1].i);
    end = at;
    (void)rune_at(str_slice(v[0].s, at, v[0].s.n), 1, &end);
    *ret = cel_string(str_slice(v[0].s, at, at < v[0].s.n ? at + end : at));
    return cel_spend(run, v[0].s.n / 10);
}

static int index_in_list(struct cel_run *run, const struct cel_value *v, bool last,
                         struct cel_value *ret)
{
    *ret = cel_int(-1);
    for (size_t i = 0; i < v[0].n && (last || ret->i < 0); i++)
        if (cel_equal(run, v[0].list[i], v[1]))
            ret->i = (int64_t)i;
    return cel_spend(run, 0);
}

static int fn_index_of(struct cel_run *run, const struct cel_value *v, size_t n,
                       struct cel_value *ret)
{
    size_t from = 0;
    if (v->type == CEL_LIST && n == 2)
        return index_in_list(run, v, false, ret);
    if (!all_are(v, 2, CEL_STRING) || (n == 3 && v[2].type != CEL_INT))
        return cel_no_overload(run);
    if (n == 3 && !rune_at(v[0].s, v[2].i, &from))
        return cel_error(run, "index out of range: %lld", (long long)v[2].i);
    ptrdiff_t at = str_find(str_slice(v[0].s, from, v[0].s.n), v[1].s);
    *ret = cel_int(at < 0 ? -1 : (int64_t)cel_runes(str_slice(v[0].s, 0, from + (size_t)at)));
    return cel_spend(run, v[0].s.n / 10);
}

static int fn_last_index_of(struct cel_run *run, const struct cel_value *v, size_t n,
                            struct cel_value *ret)
{
    size_t until = v->type == CEL_STRING ? v->s.n : 0;
    if (v->type == CEL_LIST && n == 2)
        return index_in_list(run, v, true, ret);
    if (!all_are(v, 2, CEL_STRING) || (n == 3 && v[2].type != CEL_INT))
        return cel_no_overload(run);
    if (n == 3 && !rune_at(v[0].s, v[2].i, &until))
        return cel_error(run, "index out of range: %lld", (long long)v[2].i);
    *ret = cel_int(-1);
    for (size_t at = until + 1; at-- > 0 && ret->i < 0;)
        if (at + v[1].s.n <= v[0].s.n && str_has_prefix(str_slice(v[0].s, at, v[0].s.n), v[1].s))
            ret->i = (int64_t)cel_runes(str_slice(v[0].s, 0, at));
    return cel_spend(run, v[0].s.n / 10);
}

static int change_case(struct cel_run *run, const struct cel_value *v, char first, char last,
                       struct cel_value *ret)
{
    if (v->type != CEL_STRING)
        return cel_no_overload(run);
    char *p = arena_strndup(run->a, v->s.p, v->s.n);
    for (size_t i = 0; i < v->s.n; i++)
        if (p[i] >= first && p[i] <= last)
            p[i] = (char)(p[i] ^ 0x20);
    *ret = cel_string((struct str){ p, v->s.n });
    return cel_spend(run, v->s.n / 10);
}

static int fn_lower(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    return change_case(run, v, 'A', 'Z', ret);
}

static int fn_upper(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    return change_case(run, v, 'a', 'z', ret);
}

static int fn_replace(struct cel_run *run, const struct cel_value *v, size_t n,
                      struct cel_value *ret)
{
    if (!all_are(v, 3, CEL_STRING) || (n == 4 && v[3].type != CEL_INT))
        return cel_no_overload(run);
    int64_t left = n == 4 ? v[3].i : -1;
    struct buf b = BUF_INIT(TEXT_MAX_BYTES);
    struct str s = v[0].s, what = v[1].s;
    size_t at = 0;
    while (left != 0 && at <= s.n) {
        ptrdiff_t next = str_find(str_slice(s, at, s.n), what);
        if (next < 0)
            break;
        (void)buf_add(&b, s.p + at, (size_t)next);
        (void)buf_add_str(&b, v[2].s);
        at += (size_t)next + what.n;
        if (what.n == 0) { /* before each character, and at the end */
            size_t one = 0;
            if (at >= s.n || !rune_at(str_slice(s, at, s.n), 1, &one)) {
                at = s.n + 1;
                break;
            }
            (void)buf_add(&b, s.p + at, one);
            at += one;
        }
        left -= left > 0;
    }
    if (at < s.n)
        (void)buf_add(&b, s.p + at, s.n - at);
    return take_text(run, &b, ret);
}

static int fn_split(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    if (!all_are(v, 2, CEL_STRING) || (n == 3 && v[2].type != CEL_INT))
        return cel_no_overload(run);
    int64_t most = n == 3 ? v[2].i : -1;
    struct str rest = v[0].s, by = v[1].s;
    struct cel_items all = { 0 };
    int r = cel_spend(run, rest.n / 10);
    while (r >= 0 && most != 0 && (most < 0 || (int64_t)all.n + 1 < most)) {
        size_t one = 0;
        ptrdiff_t at = by.n ? str_find(rest, by) : -1;
        if (by.n == 0 && rest.n && rune_at(rest, 1, &one) && one < rest.n)
            at = (ptrdiff_t)one;
        if (at < 0)
            break;
        r = cel_push(run, &all, cel_string(str_slice(rest, 0, (size_t)at)));
        rest = str_slice(rest, (size_t)at + by.n, rest.n);
        if (r >= 0)
            r = cel_spend(run, 1);
    }
    if (r >= 0 && most != 0 && (by.n || rest.n))
        r = cel_push(run, &all, cel_string(rest));
    *ret = cel_list(all.p, all.n);
    return r;
}

static int fn_substring(struct cel_run *run, const struct cel_value *v, size_t n,
                        struct cel_value *ret)
{
    size_t from, to = v->type == CEL_STRING ? v->s.n : 0;
    if (v[0].type != CEL_STRING || !all_are(v + 1, n - 1, CEL_INT))
        return cel_no_overload(run);
    if (!rune_at(v[0].s, v[1].i, &from))
        return cel_error(run, "index out of range: %lld", (long long)v[1].i);
    if (n == 3 && !rune_at(v[0].s, v[2].i, &to))
        return cel_error(run, "index out of range: %lld", (long long)v[2].i);
    if (from > to)
        return cel_error(run, "invalid substring range. start: %lld, end: %lld", (long long)v[1].i,
                         (long long)v[2].i);
    *ret = cel_string(str_slice(v[0].s, from, to));
    return cel_spend(run, v[0].s.n / 10);
}

/* Unicode white space. */
static bool is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

static int fn_trim(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    if (v->type != CEL_STRING)
        return cel_no_overload(run);
    struct str s = v->s;
    size_t begin = s.n, end = 0, len;
    for (size_t at = 0; at < s.n; at += len) {
        uint32_t c = 0;
        len = utf8_decode(s.p + at, s.n - at, &c);
        len = len ? len : 1;
        if (is_space(c))
            continue;
        begin = MIN(begin, at);
        end = at + len;
    }
    *ret = cel_string(begin < end ? str_slice(s, begin, end) : STR(""));
    return cel_spend(run, s.n / 10);
}

static int fn_join(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    if (v->type != CEL_LIST || (n == 2 && v[1].type != CEL_STRING))
        return cel_no_overload(run);
    struct buf b = BUF_INIT(TEXT_MAX_BYTES);
    for (size_t i = 0; i < v->n; i++) {
        struct cel_value x = cel_resolve(run, v->list[i]);
        if (x.type != CEL_STRING) {
            buf_fini(&b);
            return cel_no_overload(run);
        }
        if (i && n == 2)
            (void)buf_add_str(&b, v[1].s);
        (void)buf_add_str(&b, x.s);
    }
    return take_text(run, &b, ret);
}

static int fn_reverse(struct cel_run *run, const struct cel_value *v, size_t n,
                      struct cel_value *ret)
{
    if (v->type == CEL_LIST)
        return cel_reverse_list(run, v, ret);
    if (v->type != CEL_STRING)
        return cel_no_overload(run);
    struct buf b = BUF_INIT(TEXT_MAX_BYTES);
    for (size_t end = v->s.n, at; end > 0; end = at) {
        for (at = end - 1; at > 0 && ((unsigned char)v->s.p[at] & 0xc0) == 0x80;)
            at--;
        (void)buf_add(&b, v->s.p + at, end - at);
    }
    return take_text(run, &b, ret);
}

static int fn_quote(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    static const char pairs[] = "\aa\bb\ff\nn\rr\tt\vv\\\\\"\"";
    if (v->type != CEL_STRING)
        return cel_no_overload(run);
    struct buf b = BUF_INIT(TEXT_MAX_BYTES);
    (void)buf_add_char(&b, '"');
    for (size_t i = 0; i < v->s.n; i++) {
        char escape = 0;
        for (size_t k = 0; pairs[k]; k += 2)
            if (v->s.p[i] == pairs[k])
                escape = pairs[k + 1];
        if (escape)
            (void)buf_add_char(&b, '\\');
        (void)buf_add_char(&b, escape ? escape : v->s.p[i]);
    }
    (void)buf_add_char(&b, '"');
    return take_text(run, &b, ret);
}

/* ---- format ---- */

static int print_radix(struct buf *to, struct cel_value v, unsigned base, bool upper)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    char text[72];
    size_t at = sizeof text;
    uint64_t u = v.type == CEL_INT    ? (v.i < 0 ? 0 - (uint64_t)v.i : (uint64_t)v.i)
                 : v.type == CEL_BOOL ? v.b
                                      : v.u;
    do
        text[--at] = digits[u % base];
    while (u /= base);
    if (v.type == CEL_INT && v.i < 0)
        text[--at] = '-';
    return buf_add(to, text + at, sizeof text - at);
}

static bool print_hex(struct buf *to, struct cel_value v, bool upper)
{
    if (v.type == CEL_INT || v.type == CEL_UINT)
        return print_radix(to, v, 16, upper) >= 0;
    if (v.type != CEL_STRING && v.type != CEL_BYTES)
        return false;
    for (size_t i = 0; i < v.s.n; i++)
        (void)buf_printf(to, upper ? "%02X" : "%02x", (unsigned char)v.s.p[i]);
    return true;
}

static bool print_clause(struct cel_run *run, struct buf *to, char clause, int precision,
                         struct cel_value v)
{
    bool whole = v.type == CEL_INT || v.type == CEL_UINT;
    double d = v.type == CEL_DOUBLE ? v.d : v.type == CEL_INT ? (double)v.i : (double)v.u;
    switch (clause) {
    case 's':
        return print_value(run, to, v, true);
    case 'd':
        return (whole || v.type == CEL_DOUBLE) && print_value(run, to, v, true);
    case 'f':
    case 'e':
        if (!whole && v.type != CEL_DOUBLE)
            return false;
        return buf_printf(to, clause == 'f' ? "%.*f" : "%.*e", precision, d) >= 0;
    case 'x':
    case 'X':
        return print_hex(to, v, clause == 'X');
    case 'o':
        return whole && print_radix(to, v, 8, false) >= 0;
    case 'b':
        return (whole || v.type == CEL_BOOL) && print_radix(to, v, 2, false) >= 0;
    default:
        return false;
    }
}

static int fn_format(struct cel_run *run, const struct cel_value *v, size_t n,
                     struct cel_value *ret)
{
    if (v[0].type != CEL_STRING || v[1].type != CEL_LIST)
        return cel_no_overload(run);
    struct buf b = BUF_INIT(TEXT_MAX_BYTES);
    struct str f = v[0].s;
    size_t used = 0;
    const char *wrong = NULL;
    for (size_t i = 0; i < f.n && !wrong; i++) {
        int precision = 6;
        if (f.p[i] != '%' || (i + 1 < f.n && f.p[i + 1] == '%')) {
            (void)buf_add_char(&b, f.p[i]);
            i += f.p[i] == '%';
            continue;
        }
        i++;
        if (i < f.n && f.p[i] == '.') {
            for (precision = 0, i++; i < f.n && f.p[i] >= '0' && f.p[i] <= '9'; i++)
                precision = MIN(precision * 10 + (f.p[i] - '0'), 100);
        }
        if (i >= f.n)
            wrong = "unexpected end of format string";
        else if (used >= v[1].n)
            wrong = "index out of range of the format's arguments";
        else if (!print_clause(run, &b, f.p[i], precision, cel_resolve(run, v[1].list[used++])))
            wrong = "could not parse formatting clause";
    }
    if (!wrong)
        return take_text(run, &b, ret);
    buf_fini(&b);
    return cel_error(run, "%s", wrong);
}

/* ------------------------------------------------------------------ lists */

static int fn_is_sorted(struct cel_run *run, const struct cel_value *v, size_t n,
                        struct cel_value *ret)
{
    int order;
    if (v->type != CEL_LIST)
        return cel_no_overload(run);
    *ret = cel_bool(true);
    for (size_t i = 1; i < v->n && ret->b; i++) {
        if (!cel_compare(run, v->list[i - 1], v->list[i], &order))
            return cel_no_overload(run);
        ret->b = order <= 0;
    }
    return cel_spend(run, v->n / 10);
}

static int extreme(struct cel_run *run, const struct cel_value *v, int sign, struct cel_value *ret)
{
    int order;
    if (v->type != CEL_LIST)
        return cel_no_overload(run);
    if (v->n == 0)
        return cel_error(run, "%s called on empty list", sign < 0 ? "min" : "max");
    *ret = cel_resolve(run, v->list[0]);
    for (size_t i = 1; i < v->n; i++) {
        if (!cel_compare(run, v->list[i], *ret, &order))
            return cel_no_overload(run);
        if (order * sign > 0)
            *ret = cel_resolve(run, v->list[i]);
    }
    return cel_spend(run, v->n / 10);
}

static int fn_min(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    return extreme(run, v, -1, ret);
}

static int fn_max(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    return extreme(run, v, 1, ret);
}

static int fn_sum(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    int r = 0;
    if (v->type != CEL_LIST)
        return cel_no_overload(run);
    *ret = v->n ? cel_resolve(run, v->list[0]) : cel_int(0);
    if (ret->type != CEL_INT && ret->type != CEL_UINT && ret->type != CEL_DOUBLE &&
        ret->type != CEL_DURATION)
        return cel_no_overload(run);
    for (size_t i = 1; i < v->n && r >= 0; i++)
        r = cel_arithmetic(run, CEL_OP_ADD, *ret, cel_resolve(run, v->list[i]), ret);
    return r < 0 ? r : cel_spend(run, v->n / 10);
}

/* ------------------------------------------------------------------ table of functions */

enum { FUNCTION = CEL_FUNCTION, METHOD = CEL_METHOD };

static const struct cel_function functions[] = {
    { "size", FUNCTION | METHOD, 1, 1, fn_size },
    { "int", FUNCTION, 1, 1, fn_int },
    { "uint", FUNCTION, 1, 1, fn_uint },
    { "double", FUNCTION, 1, 1, fn_double },
    { "string", FUNCTION, 1, 1, fn_string },
    { "bool", FUNCTION, 1, 1, fn_bool },
    { "bytes", FUNCTION, 1, 1, fn_bytes },
    { "type", FUNCTION, 1, 1, fn_type },
    { "dyn", FUNCTION, 1, 1, fn_dyn },
    { "duration", FUNCTION, 1, 1, fn_duration },
    { "timestamp", FUNCTION, 1, 1, fn_timestamp },
#define TIME_ROW(part, name, fn) { name, METHOD, 1, 2, fn },
    TIME_PARTS(TIME_ROW)
#undef TIME_ROW
        { "contains", METHOD, 2, 2, fn_contains },
    { "startsWith", METHOD, 2, 2, fn_starts },
    { "endsWith", METHOD, 2, 2, fn_ends },
    { "matches", FUNCTION | METHOD, 2, 2, fn_matches },
    { "find", METHOD, 2, 2, fn_find },
    { "findAll", METHOD, 2, 3, fn_find_all },
    { "charAt", METHOD, 2, 2, fn_char_at },
    { "indexOf", METHOD, 2, 3, fn_index_of },
    { "lastIndexOf", METHOD, 2, 3, fn_last_index_of },
    { "lowerAscii", METHOD, 1, 1, fn_lower },
    { "upperAscii", METHOD, 1, 1, fn_upper },
    { "replace", METHOD, 3, 4, fn_replace },
    { "split", METHOD, 2, 3, fn_split },
    { "substring", METHOD, 2, 3, fn_substring },
    { "trim", METHOD, 1, 1, fn_trim },
    { "join", METHOD, 1, 2, fn_join },
    { "reverse", METHOD, 1, 1, fn_reverse },
    { "format", METHOD, 2, 2, fn_format },
    { "strings.quote", FUNCTION, 1, 1, fn_quote },
    { "isSorted", METHOD, 1, 1, fn_is_sorted },
    { "min", METHOD, 1, 1, fn_min },
    { "max", METHOD, 1, 1, fn_max },
    { "sum", METHOD, 1, 1, fn_sum },
};

int cel_call_of(const struct cel_function *rows, size_t n_rows, struct cel_run *run,
                struct str name, bool method, const struct cel_value *args, size_t n,
                struct cel_value *ret)
{
    for (size_t i = 0; i < n_rows; i++) {
        const struct cel_function *f = &rows[i];
        if ((f->how & (method ? CEL_METHOD : CEL_FUNCTION)) && str_is(name, f->name) &&
            n >= f->n_min && n <= f->n_max)
            return f->fn(run, args, n, ret);
    }
    return E_UNSUPPORTED;
}

int cel_call(struct cel_run *run, struct str name, bool method, const struct cel_value *args,
             size_t n, struct cel_value *ret)
{
    return cel_call_of(functions, ARRAY_LEN(functions), run, name, method, args, n, ret);
}
