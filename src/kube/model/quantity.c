/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities; see quantity.h. */
#include "kube/model/quantity.h"

#include <errno.h>

#define NANO ((__int128)1000000000)

static const char bad_form[] =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/* suffix, power of ten or of 1024 */
static const struct {
    const char *text;
    int power;
    bool binary;
} suffixes[] = {
    { "n", -9, false }, { "u", -6, false }, { "m", -3, false }, { "", 0, false },
    { "k", 3, false },  { "M", 6, false },  { "G", 9, false },  { "T", 12, false },
    { "P", 15, false }, { "E", 18, false }, { "Ki", 1, true },  { "Mi", 2, true },
    { "Gi", 3, true },  { "Ti", 4, true },  { "Pi", 5, true },  { "Ei", 6, true },
};

/* Upstream caps at 2^63-1, in any unit: larger magnitudes become that. */
static __int128 max_nano(void)
{
    return (__int128)INT64_MAX * NANO;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Multiplies, capped; the values are non-negative. */
static __int128 times(__int128 v, int64_t by)
{
    return v > max_nano() / by ? max_nano() : v * by;
}

static int parse_suffix(struct str s, int *ret_power, bool *ret_binary,
                        enum quantity_format *ret_format)
{
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (str_is(s, suffixes[i].text)) {
            *ret_power = suffixes[i].power;
            *ret_binary = suffixes[i].binary;
            *ret_format = suffixes[i].binary ? QUANTITY_BINARY_SI : QUANTITY_DECIMAL_SI;
            return 0;
        }
    int64_t exponent;
    if (s.n < 2 || (s.p[0] != 'e' && s.p[0] != 'E'))
        return -EINVAL;
    struct str digits = str_slice(s, 1, s.n);
    if (digits.p[0] == '+')
        digits = str_slice(digits, 1, digits.n);
    if (parse_i64(digits, -100, 100, &exponent) < 0)
        return -EINVAL;
    *ret_power = (int)exponent;
    *ret_binary = false;
    *ret_format = QUANTITY_DECIMAL_EXPONENT;
    return 0;
}

/*
 * digits * 10^power (or 1024^power) in nano units, rounded up. Of digits beyond the precision only
 * whether one is non-zero is kept, which rounds up.
 */
static __int128 scale(struct str whole, struct str fraction, int power, bool binary)
{
    __int128 v = 0;
    bool trace = false;
    for (size_t i = 0; i < whole.n; i++)
        v = MIN(v * 10 + (whole.p[i] - '0'), max_nano());
    int exponent = 0;
    for (size_t i = 0; i < fraction.n; i++) {
        if (exponent < 18 && v < max_nano() / 10) {
            v = v * 10 + (fraction.p[i] - '0');
            exponent++;
        } else {
            trace = trace || fraction.p[i] != '0';
        }
    }
    if (binary)
        for (int i = 0; i < power; i++)
            v = times(v, 1024);
    int shift = 9 - exponent + (binary ? 0 : power);
    for (; shift > 0; shift--)
        v = times(v, 10);
    for (; shift < 0 && v > 0; shift++) {
        trace = trace || v % 10 != 0;
        v /= 10;
    }
    return MIN(v + (trace ? 1 : 0), max_nano());
}

int quantity_parse(struct str s, struct quantity *ret, struct err *err)
{
    size_t i = 0;
    bool negative = s.n > 0 && s.p[0] == '-';
    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'))
        i++;
    size_t from = i;
    while (i < s.n && is_digit(s.p[i]))
        i++;
    struct str whole = str_slice(s, from, i), fraction = STR("");
    if (i < s.n && s.p[i] == '.') {
        size_t dot = ++i;
        while (i < s.n && is_digit(s.p[i]))
            i++;
        fraction = str_slice(s, dot, i);
    }
    int power;
    bool binary;
    enum quantity_format format;
    if (whole.n + fraction.n == 0 || whole.n + fraction.n > 4096)
        return err_set(err, E_INVALID, "%s", bad_form);
    struct str suffix = str_slice(s, i, s.n);
    if (parse_suffix(suffix, &power, &binary, &format) < 0) {
        bool spelled = true;
        for (size_t k = 0; k < suffix.n; k++)
            spelled = spelled && strchr("eEinumkKMGTP+-0123456789", suffix.p[k]);
        return err_set(err, E_INVALID, "%s",
                       spelled ? "unable to parse quantity's suffix" : bad_form);
    }
    __int128 v = scale(whole, fraction, power, binary);
    *ret = (struct quantity){ .nano = negative ? -v : v, .format = format };
    return 0;
}

static struct str format_scaled(struct arena *a, bool negative, __int128 v, const char *suffix)
{
    char digits[48];
    size_t n = sizeof digits;
    do {
        digits[--n] = (char)('0' + (int)(v % 10));
        v /= 10;
    } while (v > 0);
    return str_of(arena_printf(a, "%s%.*s%s", negative && !(digits[n] == '0') ? "-" : "",
                               (int)(sizeof digits - n), digits + n, suffix));
}

static struct str text_binary(struct arena *a, bool negative, __int128 nano)
{
    static const char *const names[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
    __int128 v = nano / NANO;
    size_t i = 0;
    while (v > 0 && v % 1024 == 0 && i + 1 < ARRAY_LEN(names)) {
        v /= 1024;
        i++;
    }
    return format_scaled(a, negative, v, names[i]);
}

struct str quantity_text(struct arena *a, struct quantity q)
{
    static const char *const names[] = { "n", "u", "m", "", "k", "M", "G", "T", "P", "E" };
    static const char *const exponents[] = { "e-9", "e-6", "e-3", "",    "e3",
                                             "e6",  "e9",  "e12", "e15", "e18" };
    bool negative = q.nano < 0;
    __int128 v = negative ? -q.nano : q.nano;
    if (v == 0)
        return STR("0");
    /* Fractions, and values below 1024, are written in decimal. */
    if (q.format == QUANTITY_BINARY_SI && v % NANO == 0 && v >= 1024 * NANO)
        return text_binary(a, negative, v);
    size_t i = 0;
    while (v % 1000 == 0 && i + 1 < ARRAY_LEN(names)) {
        v /= 1000;
        i++;
    }
    return format_scaled(a, negative, v,
                         q.format == QUANTITY_DECIMAL_EXPONENT ? exponents[i] : names[i]);
}

int quantity_cmp(struct quantity a, struct quantity b)
{
    return a.nano < b.nano ? -1 : a.nano > b.nano;
}

static int64_t rounded_up(__int128 v, __int128 unit)
{
    __int128 r = v / unit + (v > 0 && v % unit != 0 ? 1 : 0);
    return r > INT64_MAX ? INT64_MAX : r < INT64_MIN ? INT64_MIN : (int64_t)r;
}

int64_t quantity_value(struct quantity q)
{
    return rounded_up(q.nano, NANO);
}

int64_t quantity_milli(struct quantity q)
{
    return rounded_up(q.nano, NANO / 1000);
}

/* ---- in tables ---- */

static int bind_units(struct bind *b, const struct bind_field *f, const struct json *v,
                      int64_t (*units)(struct quantity q), const char *words, uint64_t *to)
{
    struct quantity q;
    struct err why = { 0 };
    struct str text = v->type == JSON_STRING || v->type == JSON_NUMBER ? v->s : STR("");
    if (quantity_parse(text, &q, &why) < 0)
        return BIND_FAIL(b, "%s", err_text(&why));
    int64_t n = units(q);
    if (n < f->min || n > f->max)
        return BIND_FAIL(b, "must be between %lld and %lld%s", (long long)f->min, (long long)f->max,
                         words);
    *to = (uint64_t)n;
    return 0;
}

int quantity_bind(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    return bind_units(b, f, v, quantity_value, "", to);
}

int quantity_bind_milli(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    return bind_units(b, f, v, quantity_milli, " thousandths", to);
}
