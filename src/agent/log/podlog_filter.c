/* SPDX-License-Identifier: Apache-2.0 */
/* What a client of a log sees; see podlog_filter.h. */
#include "agent/log/podlog_filter.h"

#include "base/mem.h"

void podlog_filter_init(struct podlog_filter *f, const struct podlog_query *q)
{
    *f = (struct podlog_filter){ .query = *q, .left = q->has_limit ? q->limit_bytes : UINT64_MAX };
}

bool podlog_filter_is_done(const struct podlog_filter *f)
{
    return f->left == 0;
}

static void put(struct podlog_filter *f, struct str s, struct buf *to)
{
    s = str_slice(s, 0, (size_t)MIN((uint64_t)s.n, f->left));
    (void)buf_add_str(to, s);
    if (f->left != UINT64_MAX)
        f->left -= s.n;
}

static bool is_wanted(const struct podlog_filter *f, const struct podlog_line *l)
{
    int64_t wall_us;
    if (f->query.has_since && (rfc3339_parse(l->time, &wall_us) < 0 || wall_us < f->query.since_us))
        return false;
    return !(l->stream == PODLOG_STDERR ? f->query.no_stderr : f->query.no_stdout);
}

/* The parts of a line in front of its end. false: it is not shown. */
static bool put_line(struct podlog_filter *f, struct str line, struct buf *to, bool *ret_partial)
{
    struct podlog_line l;
    bool continues = f->continues;
    if (podlog_line_parse(line, &l) < 0)
        return false;
    *ret_partial = f->continues = l.is_partial;
    if (!is_wanted(f, &l))
        return false;
    if (f->query.timestamps && !continues) {
        put(f, l.time, to);
        put(f, STR(" "), to);
    }
    put(f, l.text, to);
    return true;
}

static void take_line(struct podlog_filter *f, struct str line, struct buf *to)
{
    bool is_partial = false;
    if (f->in_long) {
        f->in_long = false;
        if (f->is_shown)
            put(f, line, to);
        if (f->is_shown && !f->long_is_partial)
            put(f, STR("\n"), to);
    } else if (put_line(f, line, to, &is_partial) && !is_partial) {
        put(f, STR("\n"), to);
    }
}

/* Bytes that are as many as a line may have, and have no end. */
static void take_long(struct podlog_filter *f, struct str bytes, struct buf *to)
{
    if (f->in_long && f->is_shown)
        put(f, bytes, to);
    else if (!f->in_long)
        f->is_shown = put_line(f, bytes, to, &f->long_is_partial);
    f->in_long = true;
}

size_t podlog_filter_run(struct podlog_filter *f, struct str bytes, bool is_end, struct buf *to)
{
    struct str line, rest = bytes, next;
    while (f->left > 0 && str_cut(rest, '\n', &line, &next)) {
        take_line(f, line, to);
        rest = next;
    }
    if (f->left == 0)
        return bytes.n;
    if (rest.n && is_end)
        take_line(f, rest, to);
    else if (rest.n >= PODLOG_LINE_MAX_BYTES)
        take_long(f, rest, to);
    else
        return bytes.n - rest.n;
    return bytes.n;
}
