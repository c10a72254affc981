/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line diff of two texts, by the algorithm of difflib: finds the longest run of common lines,
 * then likewise before and after it. Texts with very many lines become one change from the first to
 * the last line that differs.
 */
#include "kube/rules/validate/check.h"

enum { EXACT_MAX_LINES = 3000, POPULAR_FROM_LINES = 200, CONTEXT = 3, DEPTH_MAX = 200 };

struct unified_run { /* common lines */
    size_t a, b, n;
};

struct side {
    struct str *lines;
    uint32_t *ids; /* equal lines have equal ids */
    size_t n;
};

struct differ {
    struct arena *arena;
    struct side a, b;
    /* For the lines of b, from 1: the first line with an id, and the next line with the same id. */
    uint32_t *first, *next;
    uint32_t *lengths, *lengths_before; /* of common runs that end at each line of b */
    struct unified_run *runs;
    size_t n_runs, max_runs;
};

static struct side split(struct arena *arena, struct str text, struct map *numbers)
{
    struct side s = { 0 };
    struct str line, rest = text;
    for (size_t i = 0; i < text.n; i++)
        s.n += text.p[i] == '\n';
    s.n++;
    s.lines = arena_new_n(arena, struct str, s.n);
    s.ids = arena_new_n(arena, uint32_t, s.n);
    for (size_t i = 0; i < s.n; i++) {
        (void)str_cut(rest, '\n', &line, &rest);
        uintptr_t id = (uintptr_t)map_get(numbers, line);
        if (id == 0) {
            id = numbers->n + 1;
            (void)map_put(numbers, line, (void *)id);
        }
        s.lines[i] = line;
        s.ids[i] = (uint32_t)id;
    }
    return s;
}

/* Lines that are too frequent do not start a run. */
static void index_lines(struct differ *d, size_t n_numbers)
{
    uint32_t *count = arena_new_n(d->arena, uint32_t, n_numbers + 1);
    d->first = arena_new_n(d->arena, uint32_t, n_numbers + 1);
    d->next = arena_new_n(d->arena, uint32_t, d->b.n + 1);
    for (size_t j = 0; j < d->b.n; j++)
        count[d->b.ids[j]]++;
    for (size_t j = d->b.n; j-- > 0;) {
        uint32_t id = d->b.ids[j];
        if (d->b.n >= POPULAR_FROM_LINES && count[id] > d->b.n / 100 + 1)
            continue;
        d->next[j + 1] = d->first[id];
        d->first[id] = (uint32_t)j + 1;
    }
}

static bool same_line(const struct differ *d, size_t i, size_t j)
{
    return d->a.ids[i] == d->b.ids[j];
}

static struct unified_run longest(struct differ *d, size_t alo, size_t ahi, size_t blo, size_t bhi)
{
    struct unified_run best = { alo, blo, 0 };
    memset(d->lengths + blo, 0, (bhi - blo + 1) * sizeof *d->lengths);
    for (size_t i = alo; i < ahi; i++) {
        uint32_t *now = d->lengths_before;
        d->lengths_before = d->lengths;
        d->lengths = now;
        memset(now + blo, 0, (bhi - blo + 1) * sizeof *now);
        for (size_t j1 = d->first[d->a.ids[i]]; j1; j1 = d->next[j1]) {
            size_t j = j1 - 1;
            if (j < blo || j >= bhi)
                continue;
            uint32_t n = d->lengths_before[j] + 1; /* extends the run that ended one line before */
            now[j1] = n;
            if (n > best.n)
                best = (struct unified_run){ i + 1 - n, j + 1 - n, n };
        }
    }
    while (best.a > alo && best.b > blo && same_line(d, best.a - 1, best.b - 1)) {
        best.a--;
        best.b--;
        best.n++;
    }
    while (best.a + best.n < ahi && best.b + best.n < bhi &&
           same_line(d, best.a + best.n, best.b + best.n))
        best.n++;
    return best;
}

static void find_runs(struct differ *d, size_t alo, size_t ahi, size_t blo, size_t bhi, int depth)
{
    struct unified_run m = { 0 };
    if (alo < ahi && blo < bhi && depth < DEPTH_MAX)
        m = longest(d, alo, ahi, blo, bhi);
    if (m.n == 0)
        return;
    find_runs(d, alo, m.a, blo, m.b, depth + 1);
    struct unified_run *last = d->n_runs ? &d->runs[d->n_runs - 1] : NULL;
    if (last && last->a + last->n == m.a && last->b + last->n == m.b)
        last->n += m.n;
    else if (d->n_runs < d->max_runs)
        d->runs[d->n_runs++] = m;
    find_runs(d, m.a + m.n, ahi, m.b + m.n, bhi, depth + 1);
}

static void whole_change(struct differ *d)
{
    size_t head = 0, tail = 0, least = MIN(d->a.n, d->b.n);
    while (head < least && same_line(d, head, head))
        head++;
    while (head + tail < least && same_line(d, d->a.n - tail - 1, d->b.n - tail - 1))
        tail++;
    if (head)
        d->runs[d->n_runs++] = (struct unified_run){ 0, 0, head };
    if (tail)
        d->runs[d->n_runs++] = (struct unified_run){ d->a.n - tail, d->b.n - tail, tail };
}

static void put_range(struct buf *to, char sign, size_t from, size_t n)
{
    if (n == 1)
        (void)buf_printf(to, "%c%zu", sign, from + 1);
    else
        (void)buf_printf(to, "%c%zu,%zu", sign, n ? from + 1 : from, n);
}

static void put_lines(struct buf *to, char sign, const struct side *s, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        (void)buf_printf(to, "%c" STR_FMT "\n", sign, STR_ARG(s->lines[i]));
}

/* One hunk: the changes between the runs `from` to `end`, with context lines. */
static void put_hunk(struct buf *to, const struct differ *d, size_t from, size_t end)
{
    const struct unified_run *head = &d->runs[from], *tail = &d->runs[end];
    size_t before = MIN(head->n, (size_t)CONTEXT), after = MIN(tail->n, (size_t)CONTEXT);
    size_t a = head->a + head->n - before, b = head->b + head->n - before;
    (void)buf_add_cstr(to, "@@ ");
    put_range(to, '-', a, tail->a + after - a);
    (void)buf_add_char(to, ' ');
    put_range(to, '+', b, tail->b + after - b);
    (void)buf_add_cstr(to, " @@\n");
    put_lines(to, ' ', &d->a, a, a + before);
    for (size_t i = from; i < end; i++) {
        const struct unified_run *r = &d->runs[i], *next = &d->runs[i + 1];
        put_lines(to, '-', &d->a, r->a + r->n, next->a);
        put_lines(to, '+', &d->b, r->b + r->n, next->b);
        put_lines(to, ' ', &d->a, next->a, next->a + (i + 1 == end ? after : next->n));
    }
}

const char *unified_diff(struct arena *arena, struct str old, struct str now)
{
    struct map numbers = { 0 };
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    struct differ d = { .arena = arena,
                        .a = split(arena, old, &numbers),
                        .b = split(arena, now, &numbers) };
    d.max_runs = MIN(d.a.n, d.b.n) + 1;
    d.runs = arena_new_n(arena, struct unified_run, d.max_runs + 2);
    d.n_runs = 1; /* an empty run at the start, for changes from the first line on */
    if (d.a.n > EXACT_MAX_LINES || d.b.n > EXACT_MAX_LINES) {
        whole_change(&d);
    } else {
        d.lengths = arena_new_n(arena, uint32_t, d.b.n + 1);
        d.lengths_before = arena_new_n(arena, uint32_t, d.b.n + 1);
        index_lines(&d, numbers.n);
        find_runs(&d, 0, d.a.n, 0, d.b.n, 0);
    }
    map_fini(&numbers);
    d.runs[d.n_runs++] = (struct unified_run){ d.a.n, d.b.n, 0 };
    size_t from = 0, last = d.n_runs - 1;
    if (d.runs[last - 1].a + d.runs[last - 1].n == d.a.n &&
        d.runs[last - 1].b + d.runs[last - 1].n == d.b.n)
        last--; /* no change after the last run */
    for (size_t i = 1; i <= last; i++) {
        bool is_gap = d.runs[i].n > 2 * CONTEXT;
        if (i == last || is_gap) {
            bool changes = from < i;
            if (changes)
                put_hunk(&b, &d, from, i);
            from = i;
        }
    }
    char *text = str_dup_arena(arena, buf_str(&b));
    buf_fini(&b);
    return text;
}
