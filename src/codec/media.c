/* SPDX-License-Identifier: Apache-2.0 */
/* Media types; see media.h. */
#include "codec/media.h"

#include "base/err.h"
#include "codec/headers.h"

#include <assert.h>

/*
 * The part of *rest before the next `sep` outside quotes, trimmed; *rest becomes the text after
 * `sep`. false at the end.
 */
static bool next_item(struct str *rest, char sep, struct str *ret)
{
    if (!rest->p)
        return false;
    bool quoted = false;
    size_t i = 0;
    for (; i < rest->n && (quoted || rest->p[i] != sep); i++) {
        if (quoted && rest->p[i] == '\\')
            i += i + 1 < rest->n;
        else if (rest->p[i] == '"')
            quoted = !quoted;
    }
    *ret = str_trim(str_slice(*rest, 0, i));
    *rest = i < rest->n ? str_slice(*rest, i + 1, rest->n) : STR_NULL;
    return true;
}

static int unquote(struct str s, struct str *ret)
{
    bool quoted = s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"';
    if (quoted)
        s = str_slice(s, 1, s.n - 1);
    else if (!headers_is_token(s))
        return E_PARSE;
    if (str_find_char(s, '"') >= 0 || str_find_char(s, '\\') >= 0)
        return E_PARSE;
    *ret = s;
    return 0;
}

/* "0.8" -> 800; digits after the third are ignored; 1000 when malformed or more than that. */
static unsigned parse_q(struct str s)
{
    struct str whole, fraction;
    if (s.n == 0)
        return 1000;
    (void)str_cut(s, '.', &whole, &fraction);
    if (whole.n && !str_eq(whole, STR("0")))
        return 1000;
    unsigned v = 0, scale = 100;
    for (size_t i = 0; i < fraction.n; i++, scale /= 10) {
        if (fraction.p[i] < '0' || fraction.p[i] > '9')
            return 1000;
        v += scale * (unsigned)(fraction.p[i] - '0');
    }
    return v;
}

static int add_param(struct media_type *m, struct str text)
{
    struct media_param p;
    if (!str_cut(text, '=', &p.name, &p.value))
        return E_PARSE;
    p.name = str_trim(p.name);
    if (!headers_is_token(p.name) || unquote(str_trim(p.value), &p.value) < 0)
        return E_PARSE;
    if (str_ieq(p.name, STR("q"))) {
        m->q_milli = parse_q(p.value);
        return 0;
    }
    if (m->n_params == MEDIA_MAX_PARAMS)
        return E_LIMIT;
    m->params[m->n_params++] = p;
    return 0;
}

int media_parse(struct str text, struct media_type *ret)
{
    struct media_type m = { .q_milli = 1000 };
    struct str rest = text.p ? text : STR(""), item;
    (void)next_item(&rest, ';', &item);
    if (!str_cut(item, '/', &m.type, &m.subtype) || !headers_is_token(m.type) ||
        !headers_is_token(m.subtype))
        return E_PARSE;
    while (next_item(&rest, ';', &item)) {
        int r = item.n ? add_param(&m, item) : 0; /* "a/b;" is common */
        if (r < 0)
            return r;
    }
    *ret = m;
    return 0;
}

struct str media_param(const struct media_type *m, const char *name)
{
    for (size_t i = 0; i < m->n_params; i++)
        if (str_ieq(m->params[i].name, str_of(name)))
            return m->params[i].value;
    return STR_NULL;
}

static bool is_any(struct str s)
{
    return str_eq(s, STR("*"));
}

bool media_matches(const struct media_type *range, const char *type, const char *subtype)
{
    return (is_any(range->type) || str_ieq(range->type, str_of(type))) &&
           (is_any(range->subtype) || str_ieq(range->subtype, str_of(subtype)));
}

bool media_is(const struct media_type *m, const char *type_and_subtype)
{
    struct str type, subtype;
    (void)str_cut(str_of(type_and_subtype), '/', &type, &subtype);
    return str_ieq(m->type, type) && str_ieq(m->subtype, subtype);
}

static int specificity(const struct media_type *m)
{
    return is_any(m->type) ? 0 : is_any(m->subtype) ? 1 : 2;
}

static bool is_before(const struct media_type *a, const struct media_type *b)
{
    if (a->q_milli != b->q_milli)
        return a->q_milli > b->q_milli;
    return specificity(a) > specificity(b);
}

int media_parse_accept(struct str text, struct media_accept *ret)
{
    struct str rest = text.p ? text : STR(""), item;
    ret->n = 0;
    while (next_item(&rest, ',', &item)) {
        struct media_type m;
        int r = media_parse(str_eq(item, STR("*")) ? STR("*/*") : item, &m);
        if (r == E_LIMIT || (r == 0 && ret->n == MEDIA_MAX_RANGES))
            return E_LIMIT;
        if (r < 0)
            continue;
        size_t i = ret->n++;
        for (; i > 0 && is_before(&m, &ret->at[i - 1]); i--)
            ret->at[i] = ret->at[i - 1];
        ret->at[i] = m;
    }
    return 0;
}

/* The most specific range that matches; accept->n: none. */
static size_t range_for(const struct media_accept *accept, const char *offer)
{
    struct media_type m;
    size_t best = accept->n;
    int r = media_parse(str_of(offer), &m);
    assert(r == 0);
    for (size_t i = 0; i < accept->n; i++) {
        const struct media_type *range = &accept->at[i];
        if ((!is_any(range->type) && !str_ieq(range->type, m.type)) ||
            (!is_any(range->subtype) && !str_ieq(range->subtype, m.subtype)))
            continue;
        if (best == accept->n || specificity(range) > specificity(&accept->at[best]))
            best = i;
    }
    return best;
}

int media_choose(const struct media_accept *accept, const char *const *offers, size_t n)
{
    if (accept->n == 0)
        return n ? 0 : -1;
    int chosen = -1;
    size_t chosen_range = accept->n; /* ranges are sorted: an earlier one has no smaller q */
    for (size_t i = 0; i < n; i++) {
        size_t range = range_for(accept, offers[i]);
        if (range >= chosen_range || accept->at[range].q_milli == 0)
            continue;
        chosen = (int)i;
        chosen_range = range;
    }
    return chosen;
}
