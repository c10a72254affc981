/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a table; see top_columns.h. */
#include "cmd/top_columns.h"

#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

void top_cell_number(struct top_cells *cells, size_t i, int64_t n)
{
    (void)snprintf(cells->room[i], TOP_CELL_MAX, "%" PRId64, n);
    cells->at[i] = str_of(cells->room[i]);
}

/* ---------------------------------------------------------------- what fits */

static bool take(const struct top_column *c, size_t width, size_t *used)
{
    if (*used + c->width + 1 > width + 1) /* no blank after the last one */
        return false;
    *used += c->width + 1;
    return true;
}

size_t top_columns_fit(struct top_columns columns, size_t width, size_t skip,
                       bool ret[TOP_COLUMNS_MAX])
{
    size_t used = 0, optional = 0;
    unsigned last = 0;
    assert(columns.n <= TOP_COLUMNS_MAX);
    for (size_t i = 0; i < columns.n; i++) {
        const struct top_column *c = &columns.at[i];
        ret[i] = c->priority == 0;
        used += ret[i] ? c->width + 1 : 0;
        optional += c->priority > 0;
        last = MAX(last, c->priority);
    }
    size_t passed = 0;
    bool is_full = false;
    for (size_t i = 0; skip && i < columns.n; i++)
        if (columns.at[i].priority && passed++ >= skip && !is_full)
            is_full = !(ret[i] = take(&columns.at[i], width, &used));
    for (unsigned p = 1; !skip && p <= last; p++)
        for (size_t i = 0; i < columns.n; i++)
            if (columns.at[i].priority == p && !is_full)
                is_full = !(ret[i] = take(&columns.at[i], width, &used));
    return optional;
}

/* ---------------------------------------------------------------- text */

static void add_safe(struct buf *to, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        (void)buf_add_char(to, c < 0x20 || c == 0x7f ? '?' : (char)c);
    }
}

static void add_cell(const struct top_column *c, struct str s, bool is_first, struct buf *to)
{
    s = str_slice(s, 0, MIN(s.n, (size_t)c->width));
    size_t pad = c->width - s.n;
    if (!is_first)
        (void)buf_add_char(to, ' ');
    for (size_t i = 0; !c->is_text && i < pad; i++)
        (void)buf_add_char(to, ' ');
    add_safe(to, s);
    for (size_t i = 0; c->is_text && i < pad; i++)
        (void)buf_add_char(to, ' ');
}

void top_columns_head(struct top_columns columns, const bool *keep, struct buf *to)
{
    bool is_first = true;
    for (size_t i = 0; i < columns.n; i++) {
        if (keep && !keep[i])
            continue;
        add_cell(&columns.at[i], str_of(columns.at[i].title), is_first, to);
        is_first = false;
    }
}

void top_columns_row(struct top_columns columns, const bool *keep, const struct top_cells *cells,
                     struct buf *to)
{
    bool is_first = true;
    for (size_t i = 0; i < columns.n; i++) {
        if (keep && !keep[i])
            continue;
        add_cell(&columns.at[i], cells->at[i], is_first, to);
        is_first = false;
    }
}

void top_columns_list(struct top_columns columns, const struct top_cells *cells, struct buf *to)
{
    for (size_t i = 0; i < columns.n; i++) {
        (void)buf_printf(to, "%-14s ", columns.at[i].title);
        add_safe(to, cells->at[i]);
        (void)buf_add_char(to, '\n');
    }
}

/* ---------------------------------------------------------------- order */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The run of digits at *i, without leading zeros; moves *i past it. */
static struct str digits(struct str s, size_t *i)
{
    while (*i < s.n && s.p[*i] == '0')
        (*i)++;
    size_t from = *i;
    while (*i < s.n && is_digit(s.p[*i]))
        (*i)++;
    return str_slice(s, from, *i);
}

int top_compare_names(struct str a, struct str b)
{
    size_t i = 0, k = 0;
    while (i < a.n && k < b.n) {
        if (is_digit(a.p[i]) && is_digit(b.p[k])) {
            struct str x = digits(a, &i), y = digits(b, &k);
            int c = x.n != y.n ? (x.n > y.n) - (x.n < y.n) : str_cmp(x, y);
            if (c)
                return c;
        } else if (a.p[i] != b.p[k]) {
            return (unsigned char)a.p[i] < (unsigned char)b.p[k] ? -1 : 1;
        } else {
            i++;
            k++;
        }
    }
    if (i < a.n || k < b.n)
        return i < a.n ? 1 : -1;
    return str_cmp(a, b); /* "a1" and "a01" */
}
