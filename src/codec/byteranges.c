/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/byteranges.h"

#include "base/mem.h"
#include "codec/media.h"

#include <inttypes.h>

int byteranges_init(struct byteranges *b, struct str content_type, uint64_t size,
                    const struct byteranges_ops *ops, void *arg, struct err *err)
{
    struct media_type type;
    struct byteranges made = { .ops = ops, .arg = arg, .size = size };
    if (media_parse(content_type, &type) < 0 || !media_is(&type, "multipart/byteranges"))
        return err_set(err, E_UNSUPPORTED, "not an answer with several ranges");
    struct str boundary = media_param(&type, "boundary");
    if (boundary.n == 0 || boundary.n > BYTERANGES_BOUNDARY_MAX)
        return err_set(err, E_UNSUPPORTED, "an answer with several ranges without a boundary");
    made.n_boundary = boundary.n + 2;
    memcpy(made.boundary, "--", 2);
    memcpy(made.boundary + 2, boundary.p, boundary.n);
    *b = made;
    return 0;
}

bool byteranges_content_range(struct str text, uint64_t size, uint64_t *ret_from, uint64_t *ret_to)
{
    struct str unit, range, all, first, last;
    uint64_t from, to, total = size;
    if (!str_cut(str_trim(text), ' ', &unit, &range) || !str_ieq(unit, STR("bytes")) ||
        !str_cut(range, '/', &range, &all) || !str_cut(range, '-', &first, &last) ||
        parse_u64(first, 0, INT64_MAX, &from) < 0 || parse_u64(last, from, INT64_MAX, &to) < 0 ||
        (!str_is(all, "*") && parse_u64(all, 0, INT64_MAX, &total) < 0) || total != size ||
        to >= size)
        return false;
    *ret_from = from;
    *ret_to = to + 1;
    return true;
}

static int bad(struct err *err, const char *what)
{
    return err_set(err, E_PARSE, "an answer with several ranges: %s", what);
}

/* The lines before a part; only the first boundary may follow empty lines and a preamble, which are
 * ignored. */
static int take_boundary(struct byteranges *b, struct str line, struct err *err)
{
    struct str rest = line;
    if (!str_has_prefix(line, str_n(b->boundary, b->n_boundary)))
        return line.n == 0 || b->to == 0 ? 0 : bad(err, "a part is not followed by the boundary");
    rest = str_trim(str_slice(line, b->n_boundary, line.n));
    if (str_is(rest, "--")) {
        b->at = BYTERANGES_END;
        return 0;
    }
    if (rest.n)
        return b->to == 0 ? 0 : bad(err, "a part is not followed by the boundary");
    b->at = BYTERANGES_FIELDS;
    b->n_lines = 0;
    b->has_range = false;
    return 0;
}

static int take_field(struct byteranges *b, struct str line, struct err *err)
{
    struct str name, value;
    if (line.n == 0) {
        if (!b->has_range)
            return bad(err, "a part does not say which bytes it has");
        b->at = BYTERANGES_DATA;
        b->left = b->to - b->from;
        return b->ops->part(b->arg, b->from, b->to, err);
    }
    if (!str_cut(line, ':', &name, &value))
        return bad(err, "a line of a part is no field");
    if (!str_ieq(name, STR("content-range")))
        return 0;
    if (b->has_range || !byteranges_content_range(value, b->size, &b->from, &b->to))
        return bad(err, "a part has a wrong Content-Range");
    b->has_range = true;
    return 0;
}

/* A line without its end. */
static int take_line(struct byteranges *b, struct str line, struct err *err)
{
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    if (++b->n_lines > BYTERANGES_LINES_MAX)
        return err_set(err, E_LIMIT, "an answer with several ranges: more than %d lines of fields",
                       BYTERANGES_LINES_MAX);
    return b->at == BYTERANGES_BOUNDARY ? take_boundary(b, line, err) : take_field(b, line, err);
}

/* Returns the number of bytes consumed, or a code. */
static ptrdiff_t take_text(struct byteranges *b, struct str bytes, struct err *err)
{
    ptrdiff_t end = str_find_char(bytes, '\n');
    size_t n = end < 0 ? bytes.n : (size_t)end;
    if (n > sizeof b->line - b->n_line)
        return err_set(err, E_LIMIT, "an answer with several ranges: a line is too long");
    memcpy(b->line + b->n_line, bytes.p, n);
    b->n_line += n;
    if (end < 0)
        return (ptrdiff_t)n;
    struct str line = str_n(b->line, b->n_line);
    b->n_line = 0;
    int r = take_line(b, line, err);
    return r < 0 ? r : end + 1;
}

static ptrdiff_t take_data(struct byteranges *b, struct str bytes, struct err *err)
{
    size_t n = (size_t)MIN(b->left, (uint64_t)bytes.n);
    int r = b->ops->data(b->arg, str_slice(bytes, 0, n), err);
    if (r < 0)
        return r;
    b->left -= n;
    if (b->left == 0) {
        b->at = BYTERANGES_BOUNDARY;
        b->n_lines = 0;
    }
    return (ptrdiff_t)n;
}

int byteranges_add(struct byteranges *b, struct str bytes, struct err *err)
{
    while (bytes.n && b->at != BYTERANGES_END) { /* bytes after the end are ignored */
        ptrdiff_t n =
            b->at == BYTERANGES_DATA ? take_data(b, bytes, err) : take_text(b, bytes, err);
        if (n < 0)
            return (int)n;
        bytes = str_slice(bytes, (size_t)n, bytes.n);
    }
    return 0;
}

/* The last line may lack its end. */
int byteranges_end(const struct byteranges *b, struct err *err)
{
    struct byteranges last = *b;
    if (last.at == BYTERANGES_BOUNDARY && last.n_line)
        (void)take_line(&last, str_n(last.line, last.n_line), NULL);
    return last.at == BYTERANGES_END ? 0 : bad(err, "it is cut short");
}

void byteranges_add_head(struct buf *b, const char *boundary, const char *media_type, uint64_t from,
                         uint64_t to, uint64_t size)
{
    (void)buf_printf(b,
                     "\r\n--%s\r\ncontent-type: %s\r\ncontent-range: bytes %" PRIu64 "-%" PRIu64
                     "/%" PRIu64 "\r\n\r\n",
                     boundary, media_type, from, to - 1, size);
}

void byteranges_add_end(struct buf *b, const char *boundary)
{
    (void)buf_printf(b, "\r\n--%s--\r\n", boundary);
}
