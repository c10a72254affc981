/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/challenge.h"

struct scanner {
    struct arena *arena;
    struct str rest;
};

static void skip(struct scanner *s, bool commas)
{
    while (s->rest.n &&
           (s->rest.p[0] == ' ' || s->rest.p[0] == '\t' || (commas && s->rest.p[0] == ',')))
        s->rest = str_slice(s->rest, 1, s->rest.n);
}

static struct str scan_token(struct scanner *s)
{
    size_t n = 0;
    while (n < s->rest.n && headers_is_token(str_slice(s->rest, n, n + 1)))
        n++;
    struct str word = str_slice(s->rest, 0, n);
    s->rest = str_slice(s->rest, n, s->rest.n);
    return word;
}

/* After the opening quote. false: it has no end, or is too long. */
static bool take_quoted(struct scanner *s, struct str *ret)
{
    char *to = NULL;
    for (unsigned pass = 0; pass < 2; pass++) {
        size_t i = 0, n = 0;
        for (; i < s->rest.n && s->rest.p[i] != '"'; i++, n++) {
            if (s->rest.p[i] == '\\' && i + 1 < s->rest.n)
                i++;
            if (to)
                to[n] = s->rest.p[i];
        }
        if (i == s->rest.n || n > OCI_CHALLENGE_PARAM_MAX)
            return false;
        if (to) {
            *ret = (struct str){ to, n };
            s->rest = str_slice(s->rest, i + 1, s->rest.n);
            return true;
        }
        to = arena_alloc(s->arena, n + 1);
    }
    return false;
}

static bool take_value(struct scanner *s, struct str *ret)
{
    if (s->rest.n && s->rest.p[0] == '"') {
        s->rest = str_slice(s->rest, 1, s->rest.n);
        return take_quoted(s, ret);
    }
    struct str word = scan_token(s);
    *ret = str_copy_arena(s->arena, word);
    return word.n > 0 && word.n <= OCI_CHALLENGE_PARAM_MAX;
}

static void set_param(struct oci_challenge *c, struct str name, struct str value)
{
    if (str_ieq(name, STR("realm")))
        c->realm = value;
    else if (str_ieq(name, STR("service")))
        c->service = value;
    else if (str_ieq(name, STR("scope")))
        c->scope = value;
}

static enum oci_challenge_scheme scheme_of(struct str name)
{
    if (str_ieq(name, STR("bearer")))
        return OCI_CHALLENGE_BEARER;
    return str_ieq(name, STR("basic")) ? OCI_CHALLENGE_BASIC : OCI_CHALLENGE_NONE;
}

static void consider(const struct oci_challenge *c, struct oci_challenge *best)
{
    if (c->scheme == OCI_CHALLENGE_BEARER && c->realm.n == 0)
        return;
    if (c->scheme > best->scheme)
        *best = *c;
}

/* `challenge = auth-scheme [ 1*SP ( token68 / #auth-param ) ]`, any number of them. A word that "="
 * does not follow is the scheme of the next one. */
static void parse_field(struct scanner *s, struct oci_challenge *best)
{
    struct oci_challenge now = { 0 };
    for (;;) {
        struct str value;
        skip(s, true);
        struct str word = scan_token(s);
        if (word.n == 0)
            break;
        skip(s, false);
        if (s->rest.n == 0 || s->rest.p[0] != '=') {
            consider(&now, best);
            now = (struct oci_challenge){ .scheme = scheme_of(word) };
            continue;
        }
        s->rest = str_slice(s->rest, 1, s->rest.n);
        skip(s, false);
        if (!take_value(s, &value))
            break;
        set_param(&now, word, value);
    }
    consider(&now, best);
}

void oci_challenge_parse(struct arena *a, const struct headers *headers, struct oci_challenge *ret)
{
    *ret = (struct oci_challenge){ 0 };
    for (size_t i = 0; i < headers->n; i++) {
        struct scanner s = { a, headers_value(headers, i) };
        if (str_is(headers_name(headers, i), "www-authenticate"))
            parse_field(&s, ret);
    }
}
