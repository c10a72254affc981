/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of container logs; see podlog_line.h. */
#include "agent/log/podlog_line.h"

#include "base/err.h"
#include "base/mem.h"

#include <assert.h>

enum { SECONDS_CHARS = 19, TIME_MIN_CHARS = SECONDS_CHARS + 1, US_PER_S = 1000000 };

static bool has_time(struct str s)
{
    return s.n >= TIME_MIN_CHARS && s.n < RFC3339_MAX && s.p[4] == '-' && s.p[10] == 'T' &&
           s.p[13] == ':';
}

int podlog_line_parse(struct str line, struct podlog_line *ret)
{
    struct podlog_line l = { 0 };
    struct str stream, tags, first, more;
    if (!str_cut(line, ' ', &l.time, &line) || !str_cut(line, ' ', &stream, &line) ||
        !str_cut(line, ' ', &tags, &line) || !has_time(l.time))
        return E_PARSE;
    bool is_stderr = str_is(stream, "stderr");
    if (!is_stderr && !str_is(stream, "stdout"))
        return E_PARSE;
    (void)str_cut(tags, ':', &first, &more); /* further tags are for later versions */
    l.stream = is_stderr ? PODLOG_STDERR : PODLOG_STDOUT;
    l.is_partial = str_is(first, "P");
    l.text = line;
    *ret = l;
    return 0;
}

static void set_seconds(struct podlog_stamp *stamp, int64_t wall_s)
{
    rfc3339_format(wall_s, stamp->text);
    stamp->text[SECONDS_CHARS] = '\0';
    stamp->wall_s = wall_s;
}

int podlog_line_write(struct buf *to, struct podlog_stamp *stamp, int64_t wall_us,
                      enum podlog_stream stream, struct str text, bool is_partial)
{
    char *at;
    int64_t wall_s = wall_us / US_PER_S, us = wall_us % US_PER_S;
    assert(wall_us >= 0);
    int r = buf_reserve(to, PODLOG_HEAD_MAX_BYTES + text.n + 1, &at);
    if (r < 0)
        return r;
    if (!stamp->text[0] || stamp->wall_s != wall_s)
        set_seconds(stamp, wall_s);
    memcpy(at, stamp->text, SECONDS_CHARS);
    char *p = at + SECONDS_CHARS;
    *p = '.';
    for (int i = 6; i > 0; i--, us /= 10)
        p[i] = (char)('0' + us % 10);
    memcpy(p + 7, "000Z std", 8);
    p += 15;
    memcpy(p, stream == PODLOG_STDERR ? "err " : "out ", 4);
    memcpy(p + 4, is_partial ? "P " : "F ", 2);
    p += 6;
    memcpy(p, text.p, text.n);
    p[text.n] = '\n';
    buf_advance(to, (size_t)(p - at) + text.n + 1);
    return 0;
}
