/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/job/indexes.h"

#include <string.h>

/* The first range that ends at or after `index`. */
static size_t range_at(const struct job_indexes *s, int32_t index)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->p[middle].last < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool job_indexes_has(const struct job_indexes *s, int32_t index)
{
    size_t i = range_at(s, index);
    return i < s->n && s->p[i].first <= index;
}

static void insert_range(struct job_indexes *s, size_t at, struct job_range range)
{
    if (s->n == s->cap) {
        struct job_range *grown = arena_new_n(s->arena, struct job_range, 2 * s->cap + 4);
        for (size_t i = 0; i < s->n; i++)
            grown[i] = s->p[i];
        s->p = grown;
        s->cap = 2 * s->cap + 4;
    }
    memmove(s->p + at + 1, s->p + at, (s->n - at) * sizeof range);
    s->p[at] = range;
    s->n++;
}

static void remove_range(struct job_indexes *s, size_t at)
{
    s->n--;
    memmove(s->p + at, s->p + at + 1, (s->n - at) * sizeof *s->p);
}

static void add_range(struct job_indexes *s, struct job_range range)
{
    size_t at = range_at(s, range.first > 0 ? range.first - 1 : 0);
    while (at < s->n && (int64_t)s->p[at].first <= (int64_t)range.last + 1) {
        range.first = MIN(range.first, s->p[at].first);
        range.last = MAX(range.last, s->p[at].last);
        remove_range(s, at);
    }
    insert_range(s, at, range);
}

void job_indexes_add(struct job_indexes *s, int32_t index)
{
    if (!job_indexes_has(s, index))
        add_range(s, (struct job_range){ index, index });
}

void job_indexes_parse(struct job_indexes *s, struct str text, int32_t limit)
{
    struct str part, rest = text, from, to;
    while (rest.n && limit > 0) {
        int64_t first, last;
        (void)str_cut(rest, ',', &part, &rest);
        bool is_range = str_cut(part, '-', &from, &to);
        if (parse_i64(from, 0, limit - 1, &first) < 0)
            continue;
        last = first;
        if (is_range && parse_i64(to, first, INT32_MAX, &last) < 0)
            continue;
        add_range(s, (struct job_range){ (int32_t)first, (int32_t)MIN(last, limit - 1) });
    }
}

int64_t job_indexes_count(const struct job_indexes *s)
{
    int64_t n = 0;
    for (const struct job_range *r = s->p; r < s->p + s->n; r++)
        n += (int64_t)r->last - r->first + 1;
    return n;
}

void job_indexes_write(const struct job_indexes *s, struct buf *to)
{
    for (const struct job_range *r = s->p; r < s->p + s->n; r++) {
        (void)buf_printf(to, "%s%d", r == s->p ? "" : ",", r->first);
        if (r->last > r->first)
            (void)buf_printf(to, "%c%d", r->last == r->first + 1 ? ',' : '-', r->last);
    }
}
