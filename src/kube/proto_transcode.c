/* SPDX-License-Identifier: Apache-2.0 */
/* See proto_transcode.h. */
#include "kube/proto_transcode.h"

#include "codec/json_scan.h"
#include "kube/builtin.h"
#include "kube/proto_inner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct walk {
    struct json_scan in;
    struct proto_transcoder *t;
    struct str revision; /* still to be written; "" once it is */
    bool at_meta;        /* the next message is the object's metadata */
    unsigned depth;      /* messages that are open; the outermost is 1 */
};

/* Where the bytes of one field lie in a work buffer. */
struct piece {
    uint32_t from, n;
};

struct entry {
    struct str key;
    struct piece at;
};

static bool put_value(struct walk *w, uint32_t number, const struct schema *s, struct buf *to);

/* ------------------------------------------------------------------ values */

/* Convert the value through a tree. */
static bool put_tree(struct walk *w, uint32_t number, const struct schema *s, struct buf *to)
{
    struct str text;
    struct json *v;
    if (!json_scan_value(&w->in, &text) || json_parse(&w->t->arena, text, NULL, &v, NULL) < 0)
        return false;
    return proto_encode_field(&w->t->arena, number, s, v, to) >= 0;
}

/* A message that has JSON text as its bytes; null has none. */
static bool put_text(struct walk *w, uint32_t number, struct buf *to)
{
    struct str text;
    if (!json_scan_value(&w->in, &text))
        return false;
    size_t at = wire_begin(to, number);
    if (!str_is(text, "null"))
        wire_put_bytes(to, 1, text);
    wire_end(to, at);
    return buf_ok(to);
}

static bool put_scalar(struct walk *w, uint32_t number, const struct schema *s, struct buf *to)
{
    struct json v;
    if (!json_scan_scalar(&w->in, &w->t->arena, &v))
        return false;
    if (s->type == SCHEMA_STRING && v.type == JSON_STRING)
        wire_put_bytes(to, number, v.s);
    else
        (void)proto_encode_field(&w->t->arena, number, s, &v, to);
    return buf_ok(to);
}

/* ------------------------------------------------------------------ members */

/* Convert a member through a tree: null, or another type where a map or list is expected. */
static bool put_member_tree(struct walk *w, const struct schema_field *f, struct buf *to)
{
    struct str text;
    struct json *v;
    if (!json_scan_value(&w->in, &text) || json_parse(&w->t->arena, text, NULL, &v, NULL) < 0)
        return false;
    proto_encode_member(&w->t->arena, f, v, to);
    return buf_ok(to);
}

static bool put_entry(struct walk *w, const struct schema_field *f, struct str *ret_key,
                      struct buf *to)
{
    struct json key, null;
    if (json_scan_peek(&w->in) != '"' || !json_scan_scalar(&w->in, &w->t->arena, &key) ||
        !json_scan_take(&w->in, ':'))
        return false;
    size_t at = wire_begin(to, f->proto);
    wire_put_bytes(to, 1, key.s);
    bool is_nil = f->schema->items->type == SCHEMA_BYTES && json_scan_peek(&w->in) == 'n';
    if (is_nil ? !json_scan_scalar(&w->in, &w->t->arena, &null)
               : !put_value(w, 2, f->schema->items, to))
        return false;
    wire_end(to, at);
    *ret_key = key.s;
    return buf_ok(to);
}

static int by_key(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return str_cmp(x->key, y->key);
}

/* Upstream writes maps sorted by key; the text of these entries, which begin at `from`, is not. */
static bool sort_entries(struct walk *w, struct entry *entries, size_t n, size_t from,
                         struct buf *to)
{
    struct buf *copy = &w->t->work[w->depth & 1];
    size_t base = copy->n;
    qsort(entries, n, sizeof *entries, by_key);
    for (size_t i = 0; i < n; i++) {
        if (i && str_eq(entries[i - 1].key, entries[i].key))
            return false; /* a repeated key: a tree would keep the last entry only */
        (void)buf_add(copy, to->p + entries[i].at.from, entries[i].at.n);
    }
    if (!buf_ok(copy))
        return false;
    memcpy(to->p + from, copy->p + base, to->n - from);
    copy->n = base;
    return true;
}

static bool put_map(struct walk *w, const struct schema_field *f, struct buf *to)
{
    struct str key, last = STR("");
    size_t start = to->n, n = 0, cap = 0;
    bool ok, is_sorted = true;
    struct entry *entries = NULL;
    if (!json_scan_take(&w->in, '{'))
        return put_member_tree(w, f, to);
    for (; json_scan_next(&w->in, '}', n == 0, &ok); last = key, n++) {
        size_t from = to->n;
        if (!put_entry(w, f, &key, to) || to->n > UINT32_MAX)
            return false;
        is_sorted = is_sorted && (n == 0 || str_cmp(last, key) < 0);
        if (n == cap) {
            struct entry *more = arena_new_n(&w->t->arena, struct entry, cap = cap ? cap * 4 : 16);
            if (n)
                memcpy(more, entries, n * sizeof *more);
            entries = more;
        }
        entries[n] = (struct entry){ key, { (uint32_t)from, (uint32_t)(to->n - from) } };
    }
    return ok && (is_sorted || sort_entries(w, entries, n, start, to));
}

static bool put_array(struct walk *w, const struct schema_field *f, struct buf *to)
{
    bool ok;
    if (!json_scan_take(&w->in, '['))
        return put_member_tree(w, f, to);
    for (bool first = true; json_scan_next(&w->in, ']', first, &ok); first = false)
        if (!put_value(w, f->proto, f->schema->items, to))
            return false;
    return ok;
}

static bool put_member(struct walk *w, const struct schema_field *f, struct buf *to)
{
    if (f->schema->type == SCHEMA_MAP)
        return put_map(w, f, to);
    if (f->schema->type == SCHEMA_ARRAY)
        return put_array(w, f, to);
    if (json_scan_peek(&w->in) == 'n')
        return put_member_tree(w, f, to);
    return put_value(w, f->proto, f->schema, to);
}

/* ------------------------------------------------------------------ messages */

/*
 * The field of this name, n if there is none. The text is mostly in the order of the fields, so the
 * search begins after the previous one.
 */
static size_t find_field(const struct schema_field *fields, size_t n, size_t from, struct str name)
{
    for (size_t left = n, i = from; left; left--, i++) {
        if (i >= n)
            i = 0;
        if (str_eq(fields[i].name, name))
            return i;
    }
    return n;
}

/* Convert every member of the object that begins here into `work`. */
static bool put_members(struct walk *w, const struct schema_field *fields, size_t n,
                        struct piece *pieces, struct buf *work)
{
    struct str key, skipped;
    bool ok, escaped;
    size_t at = 0;
    if (!json_scan_take(&w->in, '{'))
        return false;
    for (bool first = true; json_scan_next(&w->in, '}', first, &ok); first = false) {
        if (!json_scan_string(&w->in, &key, &escaped) || escaped || !json_scan_take(&w->in, ':'))
            return false;
        size_t i = find_field(fields, n, at, key);
        w->at_meta = w->depth == 1 && str_is(key, "metadata");
        if (i == n || !fields[i].proto) {
            if (!json_scan_value(&w->in, &skipped))
                return false;
            continue;
        }
        size_t from = work->n;
        if (!put_member(w, &fields[i], work))
            return false;
        pieces[i] = (struct piece){ (uint32_t)from, (uint32_t)(work->n - from) };
        at = i + 1;
    }
    return ok;
}

static void put_revision(struct walk *w, const struct schema_field *fields, size_t n,
                         struct piece *pieces, struct buf *work)
{
    size_t i = find_field(fields, n, 0, STR("resourceVersion")), from = work->n;
    if (i == n)
        return;
    wire_put_bytes(work, fields[i].proto, w->revision);
    pieces[i] = (struct piece){ (uint32_t)from, (uint32_t)(work->n - from) };
    w->revision = STR("");
}

/*
 * Add zero values of fields that are always written. Returns the size of the message; 0: unknown,
 * because messages of embedded structs add to it.
 */
static size_t put_zeroes(struct walk *w, const struct schema_field *fields, const uint8_t *order,
                         size_t n, struct piece *pieces, struct buf *work)
{
    size_t total = 0;
    bool has_embedded = false;
    for (size_t k = 0; k < n && order[k] != BUILTIN_NO_FIELD; k++) {
        const struct schema_field *f = &fields[order[k]];
        struct piece *p = &pieces[order[k]];
        if (p->n == 0 && !proto_may_lack(f)) {
            size_t from = work->n;
            proto_encode_member(&w->t->arena, f, NULL, work);
            *p = (struct piece){ (uint32_t)from, (uint32_t)(work->n - from) };
        }
        total += p->n;
        has_embedded = has_embedded || f->proto_outer;
    }
    return has_embedded ? 0 : total;
}

static void copy_run(const struct buf *work, struct piece run, struct buf *to)
{
    if (run.n)
        (void)buf_add(to, work->p + run.from, run.n);
}

/* Copy the pieces in the order of their numbers, adjacent ones in one copy. */
static void gather(const struct schema_field *fields, const uint8_t *order, size_t n,
                   const struct piece *pieces, const struct buf *work, struct buf *to)
{
    struct proto_embedded e = { 0 };
    struct piece run = { 0 };
    for (size_t k = 0; k < n && order[k] != BUILTIN_NO_FIELD; k++) {
        const struct piece p = pieces[order[k]];
        uint16_t outer = fields[order[k]].proto_outer;
        if (p.n == 0 && outer == e.outer)
            continue;
        if (p.from != run.from + run.n || outer != e.outer) {
            copy_run(work, run, to);
            run = (struct piece){ p.from, 0 };
        }
        if (outer != e.outer)
            proto_enter(&e, outer, to);
        run.n += p.n;
    }
    copy_run(work, run, to);
    proto_enter(&e, 0, to);
}

static bool put_message(struct walk *w, uint32_t number, const struct schema *s, struct buf *to)
{
    size_t n;
    const struct schema_field *fields = schema_fields(s, &n);
    const uint8_t *order = builtin_field_order(s);
    struct piece pieces[BUILTIN_NO_FIELD];
    struct buf *work = &w->t->work[w->depth & 1];
    size_t base = work->n;
    assert(order && n < BUILTIN_NO_FIELD && work != to);
    if (++w->depth > PROTO_MAX_DEPTH)
        return false;
    memset(pieces, 0, n * sizeof *pieces);
    bool is_meta = w->at_meta;
    w->at_meta = false;
    if (!put_members(w, fields, n, pieces, work))
        return false;
    if (is_meta && w->revision.n)
        put_revision(w, fields, n, pieces, work);
    size_t total = put_zeroes(w, fields, order, n, pieces, work), at = 0;
    if (!buf_ok(work) || work->n > UINT32_MAX)
        return false;
    if (total)
        wire_put_head(to, number, total);
    else
        at = wire_begin(to, number);
    gather(fields, order, n, pieces, work, to);
    if (!total)
        wire_end(to, at);
    work->n = base;
    w->depth--;
    return buf_ok(to);
}

static bool put_value(struct walk *w, uint32_t number, const struct schema *s, struct buf *to)
{
    char c = json_scan_peek(&w->in);
    switch ((enum schema_type)s->type) {
    case SCHEMA_OBJECT:
        return c == '{' ? put_message(w, number, s, to) : put_tree(w, number, s, to);
    case SCHEMA_RAW:
    case SCHEMA_FIELDS:
        return put_text(w, number, to);
    case SCHEMA_MAP:
    case SCHEMA_ARRAY:
        return put_tree(w, number, s, to);
    case SCHEMA_ANY:
        if (s->flags & (SCHEMA_OR_ARRAY | SCHEMA_OR_BOOL | SCHEMA_OR_STRINGS))
            return put_tree(w, number, s, to);
        return put_text(w, number, to);
    case SCHEMA_STRING:
    case SCHEMA_BOOL:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
    case SCHEMA_BYTES:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION:
    case SCHEMA_QUANTITY:
    case SCHEMA_INT_OR_STRING:
        break;
    }
    return c == '{' || c == '[' ? put_tree(w, number, s, to) : put_scalar(w, number, s, to);
}

/* ------------------------------------------------------------------ whole objects */

void proto_transcoder_fini(struct proto_transcoder *t)
{
    buf_fini(&t->work[0]);
    buf_fini(&t->work[1]);
    arena_fini(&t->arena);
}

int proto_transcode_field(struct proto_transcoder *t, uint32_t number,
                          const struct proto_source *from, struct buf *to)
{
    struct walk w = { .in = json_scan_init(from->text), .t = t, .revision = from->revision };
    size_t n = to->n;
    arena_reset(&t->arena);
    buf_reset(&t->work[0]);
    buf_reset(&t->work[1]);
    if (put_message(&w, number, from->schema, to) && json_scan_peek(&w.in) == 0 &&
        w.revision.n == 0)
        return 0;
    if (to->failed)
        return to->failed;
    to->n = n;
    return E_UNSUPPORTED;
}

int proto_transcode_object(struct proto_transcoder *t, struct str api_version, struct str kind,
                           const struct proto_source *from, struct buf *to)
{
    size_t n = to->n;
    proto_put_type(api_version, kind, to);
    int r = proto_transcode_field(t, 2, from, to);
    if (r == E_UNSUPPORTED)
        to->n = n;
    return r < 0 ? r : proto_end_envelope(to);
}

int proto_transcode_event(struct proto_transcoder *t, const char *type, struct str api_version,
                          struct str kind, const struct proto_source *from, struct buf *to)
{
    size_t n = to->n;
    struct proto_frame f = proto_begin_event(type, to);
    int r = proto_transcode_object(t, api_version, kind, from, to);
    if (r == E_UNSUPPORTED)
        to->n = n;
    return r < 0 ? r : proto_end_event(f, to);
}
