/* SPDX-License-Identifier: Apache-2.0 */
/* Plain scalars; see yaml_scalar.h. */
#include "codec/yaml_scalar.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>

enum { NUMBER_TEXT_MAX = 4096 }; /* digits of a number; a longer scalar is a string */

static const struct {
    const char *word;
    enum yaml_kind kind;
} words[] = {
    { "", YAML_NULL },        { "~", YAML_NULL },       { "null", YAML_NULL },
    { "Null", YAML_NULL },    { "NULL", YAML_NULL },    { "true", YAML_TRUE },
    { "True", YAML_TRUE },    { "TRUE", YAML_TRUE },    { "y", YAML_TRUE },
    { "Y", YAML_TRUE },       { "yes", YAML_TRUE },     { "Yes", YAML_TRUE },
    { "YES", YAML_TRUE },     { "on", YAML_TRUE },      { "On", YAML_TRUE },
    { "ON", YAML_TRUE },      { "false", YAML_FALSE },  { "False", YAML_FALSE },
    { "FALSE", YAML_FALSE },  { "n", YAML_FALSE },      { "N", YAML_FALSE },
    { "no", YAML_FALSE },     { "No", YAML_FALSE },     { "NO", YAML_FALSE },
    { "off", YAML_FALSE },    { "Off", YAML_FALSE },    { "OFF", YAML_FALSE },
    { ".nan", YAML_NO_JSON }, { ".NaN", YAML_NO_JSON }, { ".NAN", YAML_NO_JSON },
    { ".inf", YAML_NO_JSON }, { ".Inf", YAML_NO_JSON }, { ".INF", YAML_NO_JSON },
};

static bool find_word(struct str s, enum yaml_kind *ret)
{
    if (s.n > 5)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!str_is(s, words[i].word))
            continue;
        *ret = words[i].kind;
        return true;
    }
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits of s in this base; false when there is none, another character or no room. */
static bool read_digits(struct str s, unsigned base, uint64_t *ret)
{
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i], low = (char)(c | 0x20);
        unsigned d = is_digit(c)                ? (unsigned)(c - '0')
                     : low >= 'a' && low <= 'f' ? (unsigned)(low - 'a' + 10)
                                                : 99;
        if (d >= base || __builtin_mul_overflow(v, (uint64_t)base, &v) ||
            __builtin_add_overflow(v, (uint64_t)d, &v))
            return false;
    }
    *ret = v;
    return s.n > 0;
}

/* Go's strconv.ParseInt(s, 0, 64) and, without a sign, ParseUint(). */
static bool read_int(struct str s, struct yaml_scalar *ret)
{
    bool negative = s.n && s.p[0] == '-', has_sign = negative || (s.n && s.p[0] == '+');
    unsigned base = 10;
    uint64_t v;
    s = str_slice(s, has_sign, s.n);
    if (s.n > 1 && s.p[0] == '0') {
        char c = (char)(s.p[1] | 0x20);
        base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
        s = str_slice(s, c == 'x' || c == 'b' || c == 'o' ? 2 : 1, s.n);
    }
    if (!read_digits(s, base, &v) || (has_sign && v > (uint64_t)INT64_MAX + negative))
        return false;
    ret->kind = YAML_INT;
    ret->n = (size_t)snprintf(ret->text, sizeof ret->text, "%s%llu", negative && v ? "-" : "",
                              (unsigned long long)v);
    return true;
}

static size_t skip_digits(struct str s, size_t i)
{
    while (i < s.n && is_digit(s.p[i]))
        i++;
    return i;
}

/* [-+]? ( .digits | digits [. digits?] ) ( [eE] [-+]? digits )? */
static bool is_float(struct str s)
{
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+'), start = i;
    i = skip_digits(s, i);
    bool has_digits = i > start;
    if (i < s.n && s.p[i] == '.') {
        start = ++i;
        i = skip_digits(s, i);
        has_digits = has_digits || i > start;
    }
    if (has_digits && i < s.n && (s.p[i] | 0x20) == 'e') {
        i++;
        if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
            i++;
        start = i;
        i = skip_digits(s, i);
        has_digits = i > start;
    }
    return has_digits && i == s.n;
}

static bool read_float(struct str s, struct yaml_scalar *ret)
{
    double v;
    if (!is_float(s) || json_number_to_float(str_slice(s, s.p[0] == '+', s.n), &v) < 0)
        return false;
    ret->kind = YAML_FLOAT;
    ret->n = json_number_from_float(v, ret->text);
    return true;
}

/*
 * Underscores group digits and are dropped. In a fraction without digits before its point they must
 * be between two digits.
 */
static bool drop_underscores(struct str s, char *out, size_t *ret_n)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '_')
            out[n++] = s.p[i];
        else if (s.p[0] == '.' && (i + 1 == s.n || !is_digit(s.p[i - 1]) || !is_digit(s.p[i + 1])))
            return false;
    }
    *ret_n = n;
    return true;
}

/* "+.inf" and "-.inf" in three spellings each; ".inf" without a sign is in the table of words. */
static bool is_signed_infinity(struct str s)
{
    struct str rest = str_slice(s, 1, s.n);
    return (s.p[0] == '+' || s.p[0] == '-') &&
           (str_is(rest, ".inf") || str_is(rest, ".Inf") || str_is(rest, ".INF"));
}

static void read_number(struct str s, struct yaml_scalar *ret)
{
    char plain[NUMBER_TEXT_MAX];
    size_t n;
    if (is_signed_infinity(s)) {
        ret->kind = YAML_NO_JSON;
        return;
    }
    if (s.n > sizeof plain || !drop_underscores(s, plain, &n))
        return;
    if (!read_int(str_n(plain, n), ret))
        (void)read_float(str_n(plain, n), ret);
}

struct yaml_scalar yaml_resolve(struct str s)
{
    struct yaml_scalar v = { .kind = YAML_STR };
    if (find_word(s, &v.kind))
        return v;
    if (is_digit(s.p[0]) || s.p[0] == '-' || s.p[0] == '+' || s.p[0] == '.')
        read_number(s, &v);
    return v;
}
