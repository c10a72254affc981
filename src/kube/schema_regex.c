/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of CRDs. Kubernetes means Go's RE2; PCRE2 matches the same language for what RE2
 * accepts, so we refuse what RE2 refuses (look-around, back references, possessive and atomic
 * groups) and bound the matcher, which backtracks where RE2 does not (docs/decisions/regex.md).
 */
#include "kube/schema.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    REGEX_PATTERN_MAX_BYTES = 16 * 1024,
    REGEX_MATCH_LIMIT = 200000, /* steps: a few milliseconds */
    REGEX_HEAP_LIMIT_KIB = 4096
};

struct schema_regex {
    pcre2_code *code;
};

/* The construct that RE2 does not have, NULL if there is none. */
static const char *foreign_construct(struct str p)
{
    bool in_class = false;
    for (size_t i = 0; i < p.n; i++) {
        struct str rest = str_slice(p, i, p.n);
        char c = p.p[i];
        if (c == '\\') {
            char e = i + 1 < p.n ? p.p[i + 1] : 0;
            if (!in_class && ((e >= '1' && e <= '9') || strchr("kgGKRXNhHVu", e ? e : ' ')))
                return "invalid escape sequence";
            i++;
        } else if (in_class) {
            in_class = c != ']';
        } else if (c == '[') {
            in_class = true;
            /* A bracket right behind the opening one is a member. */
            if (i + 1 < p.n && p.p[i + 1] == '^')
                i++;
            if (i + 1 < p.n && p.p[i + 1] == ']')
                i++;
        } else if (str_has_prefix(rest, STR("(?=")) || str_has_prefix(rest, STR("(?!")) ||
                   str_has_prefix(rest, STR("(?<=")) || str_has_prefix(rest, STR("(?<!")) ||
                   str_has_prefix(rest, STR("(?>")) || str_has_prefix(rest, STR("(?(")) ||
                   str_has_prefix(rest, STR("(?R")) || str_has_prefix(rest, STR("(?#")) ||
                   str_has_prefix(rest, STR("(?|")) || str_has_prefix(rest, STR("(*"))) {
            return "invalid or unsupported Perl syntax";
        } else if (i > 0 && c == '+' &&
                   (p.p[i - 1] == '*' || p.p[i - 1] == '+' || p.p[i - 1] == '?') &&
                   !(i > 1 && p.p[i - 2] == '\\')) {
            return "invalid nested repetition operator";
        }
    }
    return NULL;
}

/* RE2's words for what PCRE2 found; its own where RE2 has none. */
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

int schema_regex_new(struct str pattern, struct schema_regex **ret, struct err *err)
{
    if (pattern.n > REGEX_PATTERN_MAX_BYTES)
        return err_set(err, E_LIMIT, "error parsing regexp: expression too long");
    const char *foreign = foreign_construct(pattern);
    if (foreign)
        return err_set(err, E_INVALID, "error parsing regexp: %s: `" STR_FMT "`", foreign,
                       STR_ARG(pattern));
    int code;
    PCRE2_SIZE offset;
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

bool schema_regex_match(const struct schema_regex *re, struct str s)
{
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    bool ok = false;
    if (limits && data) {
        (void)pcre2_set_match_limit(limits, REGEX_MATCH_LIMIT);
        (void)pcre2_set_heap_limit(limits, REGEX_HEAP_LIMIT_KIB);
        int r = pcre2_match(re->code, (PCRE2_SPTR)(s.p ? s.p : ""), s.n, 0, 0, data, limits);
        ok = r >= 0; /* no match, a limit hit and bad UTF-8 are all "no" */
    }
    pcre2_match_data_free(data);
    pcre2_match_context_free(limits);
    return ok;
}
