/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of names; see field_path.h. */
#include "kube/model/field_path.h"

static bool is_name_char(char c)
{
    return c != '.' && c != '[' && c != ']' && c != '\'' && c != '"' && (unsigned char)c > ' ';
}

static int take_name(struct str *at, struct str *ret, struct err *err)
{
    size_t n = 0;
    while (n < at->n && is_name_char(at->p[n]))
        n++;
    if (n == 0)
        return err_set(err, E_INVALID, "a name is missing after '.'");
    *ret = str_slice(*at, 0, n);
    *at = str_slice(*at, n, at->n);
    return 0;
}

/* After '[': '*]' or a quoted name and ']'. */
static int take_bracket(struct str *at, struct str *ret, struct err *err)
{
    if (str_has_prefix(*at, STR("*]"))) {
        *ret = (struct str){ 0 };
        *at = str_slice(*at, 2, at->n);
        return 0;
    }
    char quote = at->n ? at->p[0] : 0;
    if (quote != '\'' && quote != '"')
        return err_set(err, E_INVALID, "'[' is followed by neither '*' nor a quoted name");
    struct str rest = str_slice(*at, 1, at->n);
    ptrdiff_t end = str_find_char(rest, quote);
    if (end <= 0)
        return err_set(err, E_INVALID, "a quoted name is empty or not closed");
    *ret = str_slice(rest, 0, (size_t)end);
    *at = str_slice(rest, (size_t)end + 1, rest.n);
    if (!str_has_prefix(*at, STR("]")))
        return err_set(err, E_INVALID, "']' is missing");
    *at = str_slice(*at, 1, at->n);
    return 0;
}

int field_path_parse(struct arena *a, struct str text, const struct field_path **ret,
                     struct err *err)
{
    struct str steps[FIELD_PATH_MAX_STEPS];
    size_t n = 0;
    if (text.n > FIELD_PATH_MAX_BYTES)
        return err_set(err, E_INVALID, "a field path is longer than %d bytes",
                       FIELD_PATH_MAX_BYTES);
    if (text.n == 0 || (text.p[0] != '.' && text.p[0] != '['))
        return err_set(err, E_INVALID, "a field path begins with '.'");
    for (struct str at = text; at.n;) {
        char c = at.p[0];
        if (n == FIELD_PATH_MAX_STEPS)
            return err_set(err, E_INVALID, "a field path has more than %d steps",
                           FIELD_PATH_MAX_STEPS);
        at = str_slice(at, 1, at.n);
        int r = c == '.'   ? take_name(&at, &steps[n++], err)
                : c == '[' ? take_bracket(&at, &steps[n++], err)
                           : err_set(err, E_INVALID, "unexpected '%c' in a field path", c);
        if (r < 0)
            return r;
    }
    struct field_path *p = arena_alloc(a, sizeof *p + n * sizeof p->steps[0]);
    p->n = n;
    for (size_t i = 0; i < n; i++)
        p->steps[i] = steps[i].p ? str_copy_arena(a, steps[i]) : (struct str){ 0 };
    *ret = p;
    return 0;
}
