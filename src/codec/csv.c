/* SPDX-License-Identifier: Apache-2.0 */
/* Comma separated values; see csv.h. */
#include "codec/csv.h"

#include "base/err.h"

struct csv csv_open(struct str text)
{
    static const struct str mark = { "\xef\xbb\xbf", 3 };
    if (str_has_prefix(text, mark))
        text = str_slice(text, mark.n, text.n);
    return (struct csv){ .rest = text };
}

/* Stops before ',', a line feed or the end. */
static int quoted(struct str *rest, struct str *ret)
{
    size_t i = 1;
    while (i < rest->n && (rest->p[i] != '"' || (i + 1 < rest->n && rest->p[i + 1] == '"')))
        i += rest->p[i] == '"' ? 2 : 1;
    if (i >= rest->n)
        return E_PARSE;
    *ret = str_slice(*rest, 1, i);
    *rest = str_slice(*rest, i + 1, rest->n);
    if (rest->n && rest->p[0] == '\r')
        *rest = str_slice(*rest, 1, rest->n);
    return rest->n && rest->p[0] != ',' && rest->p[0] != '\n' ? E_PARSE : 0;
}

static void plain(struct str *rest, struct str *ret)
{
    size_t i = 0;
    while (i < rest->n && rest->p[i] != ',' && rest->p[i] != '\n')
        i++;
    *ret = str_trim(str_slice(*rest, 0, i));
    *rest = str_slice(*rest, i, rest->n);
}

int csv_row(struct csv *c, struct str *ret, size_t max)
{
    int n = 0;
    c->line++;
    while (c->rest.n && (c->rest.p[0] == '\n' || c->rest.p[0] == '\r')) {
        c->line += c->rest.p[0] == '\n';
        c->rest = str_slice(c->rest, 1, c->rest.n);
    }
    if (c->rest.n == 0)
        return 0;
    for (;;) {
        if ((size_t)n == max)
            return E_LIMIT;
        if (c->rest.n && c->rest.p[0] == '"') {
            if (quoted(&c->rest, &ret[n]) < 0)
                return E_PARSE;
        } else {
            plain(&c->rest, &ret[n]);
        }
        n++;
        bool more = c->rest.n && c->rest.p[0] == ',';
        if (c->rest.n)
            c->rest = str_slice(c->rest, 1, c->rest.n);
        if (!more)
            return n;
    }
}
