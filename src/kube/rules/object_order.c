/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the text to find the positions of the reported fields; see object_order.h. */
#include "kube/rules/object_order.h"

#include "base/buf.h"

enum { UNPLACED = OBJECT_MAX_WARNINGS, PATH_MAX_BYTES = 64 * 1024 };

struct complaint {
    struct str text, path;
    bool unknown; /* else repeated */
    unsigned n_met;
    unsigned rank;
};

struct object_order_walk {
    const char *p, *end;
    struct buf path;
    struct complaint all[OBJECT_MAX_WARNINGS];
    size_t n;
    unsigned next_rank;
};

/* `unknown field "spec.a"` */
static struct complaint complaint_of(struct str text)
{
    struct complaint c = { .text = text, .rank = UNPLACED };
    struct str head, tail;
    c.unknown = str_has_prefix(text, STR("unknown "));
    if (str_cut(text, '"', &head, &tail) && tail.n)
        c.path = str_slice(tail, 0, tail.n - 1);
    return c;
}

/* The walk is at field w->path. The position of a repetition is its second occurrence. */
static void meet(struct object_order_walk *w)
{
    struct str path = buf_str(&w->path);
    for (size_t i = 0; i < w->n; i++) {
        struct complaint *c = &w->all[i];
        if (!str_eq(c->path, path))
            continue;
        c->n_met++;
        if (c->rank == UNPLACED && (c->unknown || c->n_met == 2))
            c->rank = w->next_rank++;
    }
}

static void skip_blanks(struct object_order_walk *w)
{
    while (w->p < w->end && (*w->p == ' ' || *w->p == '\t' || *w->p == '\n' || *w->p == '\r'))
        w->p++;
}

/* The raw text between the quotes. */
static struct str skip_string(struct object_order_walk *w)
{
    const char *from = ++w->p;
    while (w->p < w->end && *w->p != '"')
        w->p += *w->p == '\\' && w->p + 1 < w->end ? 2 : 1;
    struct str s = { from, (size_t)(MIN(w->p, w->end) - from) };
    w->p++;
    return s;
}

static void walk_value(struct object_order_walk *w);

static void cut_path(struct object_order_walk *w, size_t n)
{
    w->path.n = MIN(w->path.n, n);
}

static void walk_object(struct object_order_walk *w)
{
    size_t n = w->path.n;
    for (w->p++; w->p < w->end && *w->p != '}'; skip_blanks(w)) {
        if (*w->p != '"') { /* a comma, or a blank after the brace */
            w->p++;
            continue;
        }
        struct str key = skip_string(w);
        if (n)
            (void)buf_add_char(&w->path, '.');
        (void)buf_add_str(&w->path, key);
        meet(w);
        skip_blanks(w);
        w->p++; /* the colon */
        walk_value(w);
        cut_path(w, n);
    }
    w->p++;
}

static void walk_array(struct object_order_walk *w)
{
    size_t n = w->path.n;
    unsigned at = 0;
    w->p++;
    for (skip_blanks(w); w->p < w->end && *w->p != ']'; skip_blanks(w)) {
        if (*w->p == ',') {
            w->p++;
            continue;
        }
        (void)buf_printf(&w->path, "[%u]", at++);
        walk_value(w);
        cut_path(w, n);
    }
    w->p++;
}

static void walk_value(struct object_order_walk *w)
{
    skip_blanks(w);
    if (w->p >= w->end)
        return;
    switch (*w->p) {
    case '{':
        walk_object(w);
        return;
    case '[':
        walk_array(w);
        return;
    case '"':
        (void)skip_string(w);
        return;
    default:
        while (w->p < w->end && *w->p != ',' && *w->p != '}' && *w->p != ']')
            w->p++;
        return;
    }
}

static bool is_below(struct str path, struct str top)
{
    return str_has_prefix(path, top) &&
           (path.n == top.n || path.p[top.n] == '.' || path.p[top.n] == '[');
}

static bool is_hidden(const struct object_order_walk *w, const struct complaint *c)
{
    for (size_t i = 0; !c->unknown && i < w->n; i++)
        if (w->all[i].unknown && is_below(c->path, w->all[i].path))
            return true;
    return false;
}

void object_order_warnings(struct object_warnings *ws, struct str json)
{
    bool unknown = false, repeated = false;
    struct object_order_walk *w = arena_new(ws->a, struct object_order_walk);
    *w = (struct object_order_walk){ .p = json.p,
                                     .end = json.p + json.n,
                                     .path = BUF_INIT(PATH_MAX_BYTES) };
    for (size_t i = 0; i < ws->n; i++) {
        struct complaint c = complaint_of(ws->text[i]);
        w->all[w->n++] = c;
        unknown = unknown || c.unknown;
        repeated = repeated || !c.unknown;
    }
    if (!unknown || !repeated) /* one kind only: the order is right already */
        return;
    walk_value(w);
    buf_fini(&w->path);
    ws->n = 0;
    for (unsigned rank = 0; rank <= UNPLACED; rank++)
        for (size_t i = 0; i < w->n; i++)
            if (w->all[i].rank == rank && !is_hidden(w, &w->all[i]))
                ws->text[ws->n++] = w->all[i].text;
}
