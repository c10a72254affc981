/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of CRDs. Kubernetes means Go's RE2; PCRE2 matches the same language for what RE2
 * accepts, so we refuse what RE2 refuses (look-around, back references, possessive and atomic
 * groups) and bound the matcher, which backtracks where RE2 does not (docs/decisions/regex.md).
 */
#include "kube/model/schema.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    REGEX_PATTERN_MAX_BYTES = 16 * 1024,
    REGEX_REPEAT_MAX = 1000, /* of one repetition, and of nested ones multiplied */
    REGEX_DEPTH_MAX = 256,   /* PCRE2 refuses deeper nesting */
    REGEX_FIRST_LIMIT = 500, /* first backtracking limit; then raised by */
    REGEX_LIMIT_FACTOR = 16,
    REGEX_HEAP_LIMIT_KIB = 4096
};

struct schema_regex {
    pcre2_code *code;
};

/* Escapes that RE2 supports; other letters and digits are Perl's. */
static bool is_foreign_escape(char c, bool in_class)
{
    bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '1' && c <= '9');
    return is_word && !strchr(in_class ? "dDsSwWpPafnrtvx" : "AbBdDsSwWpPQzafnrtvx", c);
}

/* Index of the bracket that ends the class opened at `i`; of the end if there is none. */
static size_t end_of_class(struct str p, size_t i, bool *ret_foreign)
{
    *ret_foreign = false;
    i++;
    if (i < p.n && p.p[i] == '^')
        i++;
    if (i < p.n && p.p[i] == ']') /* right after the opening bracket it is a member */
        i++;
    for (; i < p.n && p.p[i] != ']'; i++) {
        ptrdiff_t named = str_has_prefix(str_slice(p, i, p.n), STR("[:"))
                              ? str_find(str_slice(p, i, p.n), STR(":]"))
                              : -1;
        if (named >= 0) /* "[:alpha:]" */
            i += (size_t)named + 1;
        else if (p.p[i] == '\\' && ++i < p.n && is_foreign_escape(p.p[i], true))
            *ret_foreign = true;
    }
    return MIN(i, p.n);
}

/* Index of the last byte of a group's opening at `i`; false: RE2 has no such group. */
static bool open_group(struct str p, size_t i, size_t *ret_end)
{
    struct str rest = str_slice(p, i + 1, p.n);
    size_t n = 1;
    *ret_end = i;
    if (!str_has_prefix(rest, STR("?")))
        return !str_has_prefix(rest, STR("*"));
    if (str_has_prefix(rest, STR("?P<")) || str_has_prefix(rest, STR("?<"))) {
        *ret_end = i + (rest.p[1] == 'P' ? 3 : 2);
        return *ret_end + 1 < p.n && !strchr("=!", p.p[*ret_end + 1]);
    }
    while (n < rest.n && strchr("imsU", rest.p[n]))
        n++;
    if (n < rest.n && rest.p[n] == '-')
        for (n++; n < rest.n && strchr("imsU", rest.p[n]);)
            n++;
    *ret_end = i + n;
    return n < rest.n && strchr(":)", rest.p[n]) && rest.p[n - 1] != '-';
}

/*
 * Reads "{n}", "{n,}" or "{n,m}" at `i`: its count, larger ones as UINT64_MAX, and its end; false:
 * the brace is a literal.
 */
static bool repeat_at(struct str p, size_t i, uint64_t *ret, size_t *ret_end)
{
    uint64_t number[2] = { 0, 0 };
    bool has_digits = false;
    unsigned n = 0;
    for (i++; i < p.n && p.p[i] != '}'; i++) {
        if (p.p[i] == ',' && n == 0 && has_digits) {
            n = 1;
            continue;
        }
        if (p.p[i] < '0' || p.p[i] > '9')
            return false;
        has_digits = true;
        number[n] =
            number[n] > REGEX_REPEAT_MAX ? number[n] : number[n] * 10 + (uint64_t)(p.p[i] - '0');
    }
    *ret = MAX(number[0], number[1]);
    *ret_end = i;
    return i < p.n && has_digits;
}

/* End of the escape at `i`: "\\Q...\\E" is literal, "\\p{..}" and "\\x{..}" have braces. */
static size_t end_of_escape(struct str p, size_t i)
{
    char c = i + 1 < p.n ? p.p[i + 1] : 0;
    i++;
    if (c == 'Q') {
        ptrdiff_t end = str_find(str_slice(p, i, p.n), STR("\\E"));
        return end < 0 ? p.n : i + (size_t)end + 1;
    }
    if (c && strchr("pPx", c) && i + 1 < p.n && p.p[i + 1] == '{')
        while (i < p.n && p.p[i] != '}')
            i++;
    return i;
}

/* There is a repetition operator at `i`; *ret_end: its last byte. */
static bool is_repetition(struct str p, size_t i, size_t *ret_end)
{
    uint64_t count;
    *ret_end = i;
    return p.p[i] == '*' || p.p[i] == '+' || p.p[i] == '?' ||
           (p.p[i] == '{' && repeat_at(p, i, &count, ret_end));
}

/*
 * A construct that RE2 lacks, in RE2's words; NULL if there is none. RE2 allows one repetition
 * operator with at most "?" after it; in PCRE2 "a{2}+" is possessive.
 */
static const char *foreign_construct(struct str p)
{
    enum { NOT_REPEATED, REPEATED, LAZY } last = NOT_REPEATED;
    bool foreign = false;
    for (size_t i = 0, end; i < p.n; i++) {
        if (is_repetition(p, i, &end)) {
            if (last == LAZY || (last == REPEATED && p.p[i] != '?'))
                return "invalid nested repetition operator";
            last = last == REPEATED ? LAZY : REPEATED;
            i = end;
            continue;
        }
        last = NOT_REPEATED;
        if (p.p[i] == '(' && !open_group(p, i, &i))
            return "invalid or unsupported Perl syntax";
        if (p.p[i] == '[')
            i = end_of_class(p, i, &foreign);
        else if (p.p[i] == '\\' && i + 1 < p.n)
            foreign = is_foreign_escape(p.p[i + 1], false);
        if (foreign)
            return "invalid escape sequence";
        if (i < p.n && p.p[i] == '\\')
            i = end_of_escape(p, i);
    }
    return NULL;
}

/* RE2's limit on the total repetition of a pattern: "(a{10}){200}" counts as 2,000. */
static bool repeats_too_often(struct str p)
{
    uint64_t inside[REGEX_DEPTH_MAX] = { 1 }, last = 1, count;
    size_t depth = 0;
    bool foreign;
    for (size_t i = 0; i < p.n; i++) {
        switch (p.p[i]) {
        case '*':
        case '+':
        case '?':
            continue;
        case '(':
            if (++depth == REGEX_DEPTH_MAX)
                return false;
            inside[depth] = last = 1;
            continue;
        case ')':
            last = inside[depth];
            depth -= depth > 0;
            break;
        case '{':
            if (!repeat_at(p, i, &count, &i)) {
                last = 1;
                continue;
            }
            last *= MAX(count, 1);
            if (last > REGEX_REPEAT_MAX)
                return true;
            break;
        case '\\':
            i = end_of_escape(p, i);
            last = 1;
            break;
        case '[':
            i = end_of_class(p, i, &foreign);
            last = 1;
            break;
        default:
            last = 1;
        }
        inside[depth] = MAX(inside[depth], last);
    }
    return false;
}

/* RE2's words for PCRE2's error; PCRE2's own where RE2 has none. */
static const char *reason(int code, char *own, size_t size)
{
    static const struct {
        int code;
        const char *text;
    } words[] = { { PCRE2_ERROR_MISSING_CLOSING_PARENTHESIS, "missing closing )" },
                  { PCRE2_ERROR_UNMATCHED_CLOSING_PARENTHESIS, "unexpected )" },
                  { PCRE2_ERROR_MISSING_SQUARE_BRACKET, "missing closing ]" },
                  { PCRE2_ERROR_QUANTIFIER_INVALID, "missing argument to repetition operator" },
                  { PCRE2_ERROR_QUANTIFIER_OUT_OF_ORDER, "invalid repeat count" },
                  { PCRE2_ERROR_QUANTIFIER_TOO_BIG, "invalid repeat count" },
                  { PCRE2_ERROR_CLASS_RANGE_ORDER, "invalid character class range" },
                  { PCRE2_ERROR_END_BACKSLASH, "trailing backslash at end of expression" } };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (words[i].code == code)
            return words[i].text;
    (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)own, size);
    return own;
}

static int too_long(struct err *err)
{
    return err_set(err, E_LIMIT, "error parsing regexp: expression too long");
}

int schema_regex_new(struct str pattern, struct schema_regex **ret, struct err *err)
{
    if (pattern.n > REGEX_PATTERN_MAX_BYTES)
        return too_long(err);
    const char *foreign = foreign_construct(pattern);
    if (foreign)
        return err_set(err, E_INVALID, "error parsing regexp: %s: `" STR_FMT "`", foreign,
                       STR_ARG(pattern));
    if (repeats_too_often(pattern))
        return err_set(err, E_INVALID, "error parsing regexp: invalid repeat count: `" STR_FMT "`",
                       STR_ARG(pattern));
    return schema_regex_new_stored(pattern, ret, err);
}

int schema_regex_new_stored(struct str pattern, struct schema_regex **ret, struct err *err)
{
    int code;
    PCRE2_SIZE offset;
    if (pattern.n > REGEX_PATTERN_MAX_BYTES)
        return too_long(err);
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n,
                                         PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C,
                                         &code, &offset, NULL);
    if (!compiled) {
        char text[128];
        return err_set(err, E_INVALID, "error parsing regexp: %s: `" STR_FMT "`",
                       reason(code, text, sizeof text), STR_ARG(pattern));
    }
    struct schema_regex *re = xnew(struct schema_regex);
    re->code = compiled;
    *ret = re;
    return 0;
}

void schema_regex_free(struct schema_regex *re)
{
    if (!re)
        return;
    pcre2_code_free(re->code);
    free(re);
}

static bool is_over_limit(int code)
{
    return code == PCRE2_ERROR_MATCHLIMIT || code == PCRE2_ERROR_DEPTHLIMIT ||
           code == PCRE2_ERROR_HEAPLIMIT || code == PCRE2_ERROR_NOMEMORY;
}

int schema_regex_find(const struct schema_regex *re, struct str s, size_t from, size_t *ret_at,
                      size_t *ret_end, unsigned *ret_steps)
{
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    /*
     * The first call checks the UTF-8; checking again for each of many matches would be quadratic.
     */
    uint32_t options = from ? PCRE2_NO_UTF_CHECK : 0;
    int r = PCRE2_ERROR_MATCHLIMIT;
    unsigned limit = 0;
    while (limits && data && r == PCRE2_ERROR_MATCHLIMIT && limit < REGEX_STEPS_MAX) {
        limit = limit ? MIN(limit * REGEX_LIMIT_FACTOR, REGEX_STEPS_MAX) : REGEX_FIRST_LIMIT;
        (void)pcre2_set_match_limit(limits, limit);
        (void)pcre2_set_heap_limit(limits, REGEX_HEAP_LIMIT_KIB);
        r = pcre2_match(re->code, (PCRE2_SPTR)(s.p ? s.p : ""), s.n, from, options, data, limits);
    }
    if (r >= 0) {
        *ret_at = pcre2_get_ovector_pointer(data)[0];
        *ret_end = pcre2_get_ovector_pointer(data)[1];
    }
    *ret_steps = limit > REGEX_FIRST_LIMIT ? limit : 0;
    pcre2_match_data_free(data);
    pcre2_match_context_free(limits);
    if (is_over_limit(r))
        return E_LIMIT;
    return r >= 0; /* invalid UTF-8 matches nothing */
}
