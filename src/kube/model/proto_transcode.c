/* SPDX-License-Identifier: Apache-2.0 */
/* See proto_transcode.h. */
#include "kube/model/proto_transcode.h"

#include "base/clock.h"
#include "codec/json_scan.h"
#include "kube/model/proto_inner.h"
#include "kube/model/proto_memory.h"
#include "kube/model/proto_message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct proto_transcode_walk {
    struct json_scan in;
    struct proto_transcoder *t;
    struct str revision; /* still to be written; "" once it is */
    bool at_meta;        /* the next message is the object's metadata */
    unsigned depth;      /* messages that are open; the outermost is 1 */
    unsigned item;       /* index in the innermost list */
};

struct proto_transcode_entry {
    struct str key;
    size_t from, n;
};

static bool put_value(struct proto_transcode_walk *w, uint32_t number, const struct schema *s,
                      struct buf *to);
static bool put_message(struct proto_transcode_walk *w, uint32_t number, struct proto_plan *plan,
                        struct buf *to);

/* The next byte; 0 at the end. */
static inline char at(const struct proto_transcode_walk *w)
{
    return w->in.p < w->in.end ? *w->in.p : 0;
}

static inline bool take(struct proto_transcode_walk *w, char c)
{
    if (at(w) != c)
        return false;
    w->in.p++;
    return true;
}

static bool take_word(struct proto_transcode_walk *w, const char *word, size_t n)
{
    if ((size_t)(w->in.end - w->in.p) < n || memcmp(w->in.p, word, n) != 0)
        return false;
    w->in.p += n;
    return true;
}

static inline char *put_tag(char *to, const struct proto_plan_field *f)
{
    memcpy(to, f->tag, sizeof f->tag);
    return to + f->tag_n;
}

/* ------------------------------------------------------------------ values */

static bool take_tree(struct proto_transcode_walk *w, struct json **ret)
{
    struct str text;
    const char *from = w->in.p;
    return json_scan_value(&w->in, &text) && text.p == from &&
           json_parse(&w->t->arena, text, NULL, ret, NULL) >= 0;
}

/* Encode the value through a tree: it is null, rare, or of an unexpected type. */
static bool put_tree(struct proto_transcode_walk *w, uint32_t number, const struct schema *s,
                     struct buf *to)
{
    struct json *v;
    return take_tree(w, &v) && proto_encode_field(&w->t->arena, number, s, v, to) >= 0;
}

/* Likewise for a field that should be a map or list. */
static bool put_member_tree(struct proto_transcode_walk *w, const struct schema_field *f,
                            struct buf *to)
{
    struct json *v;
    if (!take_tree(w, &v))
        return false;
    proto_encode_member(&w->t->arena, f, v, to);
    return buf_ok(to);
}

/* A message with JSON text as its bytes; null has no text. */
static bool put_text(struct proto_transcode_walk *w, uint32_t number, struct buf *to)
{
    struct str text;
    char *o;
    if (!json_scan_value(&w->in, &text))
        return false;
    if (str_is(text, "null"))
        text.n = 0;
    size_t inner = text.n ? 1 + wire_size(text.n) + text.n : 0;
    if (!(o = wire_room(to, 2 * HEAD_MAX_BYTES + text.n)))
        return false;
    o = wire_varint(wire_tag(o, number, WIRE_BYTES), inner);
    if (text.n) {
        o = wire_varint(wire_tag(o, 1, WIRE_BYTES), text.n);
        memcpy(o, text.p, text.n);
    }
    wire_advance(to, o + text.n);
    return true;
}

static bool put_scalar(struct proto_transcode_walk *w, uint32_t number, const struct schema *s,
                       struct buf *to)
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

/* Consumes a string without escapes, if there is one. ret: the text inside its quotes, borrowed. */
static inline bool take_plain(struct proto_transcode_walk *w, struct str *ret)
{
    if (at(w) != '"')
        return false;
    const char *from = w->in.p + 1, *to = json_scan_text(from, w->in.end);
    if (to == w->in.end || *to != '"')
        return false;
    *ret = str_n(from, (size_t)(to - from));
    w->in.p = to + 1;
    return true;
}

static bool put_string(struct proto_transcode_walk *w, const struct proto_plan_field *f,
                       struct buf *to)
{
    struct str s;
    char *o;
    if (!take_plain(w, &s))
        return put_value(w, f->field->proto, f->value, to);
    if (!(o = wire_room(to, HEAD_MAX_BYTES + s.n)))
        return false;
    o = wire_varint(put_tag(o, f), s.n);
    wire_advance(to, wire_copy(o, s.p, s.n, w->in.end));
    return true;
}

static bool put_quantity(struct proto_transcode_walk *w, const struct proto_plan_field *f,
                         struct buf *to)
{
    struct str s;
    char *o;
    if (!take_plain(w, &s))
        return put_value(w, f->field->proto, f->value, to);
    if (!(o = wire_room(to, 2 * HEAD_MAX_BYTES + s.n)))
        return false;
    o = wire_varint(put_tag(o, f), 1 + wire_size(s.n) + s.n);
    o = wire_varint(wire_tag(o, 1, WIRE_BYTES), s.n);
    wire_advance(to, wire_copy(o, s.p, s.n, w->in.end));
    return true;
}

static bool put_number(const struct proto_plan_field *f, uint64_t v, struct buf *to)
{
    char *o = wire_room(to, HEAD_MAX_BYTES);
    if (!o)
        return false;
    wire_advance(to, wire_varint(put_tag(o, f), v));
    return true;
}

static bool put_bool(struct proto_transcode_walk *w, const struct proto_plan_field *f,
                     struct buf *to)
{
    if (take_word(w, "true", 4))
        return put_number(f, 1, to);
    if (take_word(w, "false", 5))
        return put_number(f, 0, to);
    return put_value(w, f->field->proto, f->value, to);
}

/* Handles digits only, as nearly all integers are; other number texts go through a tree. */
static bool put_int(struct proto_transcode_walk *w, const struct proto_plan_field *f,
                    struct buf *to)
{
    enum { MAX_DIGITS = 18 };
    const char *from = w->in.p + (at(w) == '-'), *p = from;
    int64_t v = 0;
    for (; p < w->in.end && *p >= '0' && *p <= '9' && p - from < MAX_DIGITS; p++)
        v = v * 10 + (*p - '0');
    if (p == from || p == w->in.end || (*p != ',' && *p != '}' && *p != ']') ||
        (*from == '0' && p - from > 1))
        return put_value(w, f->field->proto, f->value, to);
    v = from == w->in.p ? v : -v;
    w->in.p = p;
    return put_number(f, (uint64_t)v, to);
}

static bool two_digits(const char *p, int64_t end, int64_t *ret)
{
    *ret = (p[0] - '0') * 10 + (p[1] - '0');
    return p[0] >= '0' && p[0] <= '9' && p[1] >= '0' && p[1] <= '9' && *ret < end;
}

/* "2026-01-02T03:04:05Z" in seconds; false for any other form. */
static bool read_time(struct proto_transcoder *t, struct str s, int64_t *ret_s)
{
    char day[] = "....-..-..T00:00:00Z";
    int64_t h, m, seconds, us;
    if (s.n != sizeof day - 1 || s.p[10] != 'T' || s.p[13] != ':' || s.p[16] != ':' ||
        s.p[19] != 'Z' || !two_digits(s.p + 11, 24, &h) || !two_digits(s.p + 14, 60, &m) ||
        !two_digits(s.p + 17, 60, &seconds))
        return false;
    if (memcmp(s.p, t->day, sizeof t->day) != 0) {
        memcpy(day, s.p, sizeof t->day);
        if (rfc3339_parse(str_of(day), &us) < 0)
            return false;
        memcpy(t->day, day, sizeof t->day);
        t->day_s = us / 1000000;
    }
    *ret_s = t->day_s + h * 3600 + m * 60 + seconds;
    return true;
}

static bool put_time(struct proto_transcode_walk *w, const struct proto_plan_field *f,
                     struct buf *to)
{
    struct str text;
    int64_t seconds;
    char *o;
    const char *from = w->in.p;
    if (!take_plain(w, &text) || !read_time(w->t, text, &seconds)) {
        w->in.p = from;
        return put_value(w, f->field->proto, f->value, to);
    }
    if (!(o = wire_room(to, 3 * HEAD_MAX_BYTES)))
        return false;
    char *length = put_tag(o, f), *end = wire_tag(length + 1, 1, WIRE_VARINT);
    end = wire_varint(end, (uint64_t)seconds);
    end = wire_varint(wire_tag(end, 2, WIRE_VARINT), 0); /* nanoseconds */
    *length = (char)(end - length - 1);
    wire_advance(to, end);
    return true;
}

static bool put_step(struct proto_transcode_walk *w, struct proto_plan_field *f, struct buf *to)
{
    switch ((enum proto_step)f->step) {
    case PROTO_STEP_STRING:
        return put_string(w, f, to);
    case PROTO_STEP_BOOL:
        return put_bool(w, f, to);
    case PROTO_STEP_INT:
        return put_int(w, f, to);
    case PROTO_STEP_TIME:
        return put_time(w, f, to);
    case PROTO_STEP_QUANTITY:
        return put_quantity(w, f, to);
    case PROTO_STEP_MESSAGE:
        if (at(w) == '{')
            return put_message(w, f->field->proto, proto_plan_of_value(f), to);
        break;
    case PROTO_STEP_TEXT:
        return put_text(w, f->field->proto, to);
    case PROTO_STEP_OTHER:
        break;
    }
    return put_value(w, f->field->proto, f->value, to);
}

/* ------------------------------------------------------------------ maps and lists */

/*
 * An entry of two strings without escapes; false: another kind of entry, and nothing is consumed.
 */
static bool put_plain_entry(struct proto_transcode_walk *w, const struct proto_plan_field *f,
                            struct str *ret_key, struct buf *to)
{
    struct str key, value;
    const char *from = w->in.p;
    char *o;
    if (f->step != PROTO_STEP_STRING || !take_plain(w, &key) || !take(w, ':') ||
        !take_plain(w, &value) || !(o = wire_room(to, 3 * HEAD_MAX_BYTES + key.n + value.n))) {
        w->in.p = from;
        return false;
    }
    o = wire_varint(wire_tag(o, f->field->proto, WIRE_BYTES),
                    2 + wire_size(key.n) + key.n + wire_size(value.n) + value.n);
    o = wire_copy(wire_varint(wire_tag(o, 1, WIRE_BYTES), key.n), key.p, key.n, w->in.end);
    o = wire_copy(wire_varint(wire_tag(o, 2, WIRE_BYTES), value.n), value.p, value.n, w->in.end);
    wire_advance(to, o);
    *ret_key = key;
    return true;
}

static bool put_entry(struct proto_transcode_walk *w, const struct proto_plan_field *f,
                      struct str *ret_key, struct buf *to)
{
    struct json key, null;
    if (json_scan_peek(&w->in) != '"' || !json_scan_scalar(&w->in, &w->t->arena, &key) ||
        !json_scan_take(&w->in, ':'))
        return false;
    size_t from = wire_begin(to, f->field->proto);
    wire_put_bytes(to, 1, key.s);
    bool is_nil = f->value->type == SCHEMA_BYTES && json_scan_peek(&w->in) == 'n';
    if (is_nil ? !json_scan_scalar(&w->in, &w->t->arena, &null) : !put_value(w, 2, f->value, to))
        return false;
    wire_end(to, from);
    *ret_key = key.s;
    return buf_ok(to);
}

static int by_key(const void *a, const void *b)
{
    const struct proto_transcode_entry *x = a, *y = b;
    return str_cmp(x->key, y->key);
}

/*
 * Upstream writes maps sorted by key; the text of these entries, which begin at `from`, is
 * unsorted.
 */
static bool sort_entries(struct proto_transcode_walk *w, struct proto_transcode_entry *entries,
                         size_t n, size_t from, struct buf *to)
{
    struct buf *work = &w->t->work;
    buf_reset(work);
    qsort(entries, n, sizeof *entries, by_key);
    for (size_t i = 0; i < n; i++) {
        if (i && str_eq(entries[i - 1].key, entries[i].key))
            return false; /* a repeated key: a tree would keep the last entry only */
        (void)buf_add(work, to->p + entries[i].from, entries[i].n);
    }
    if (!buf_ok(work))
        return false;
    memcpy(to->p + from, work->p, to->n - from);
    return true;
}

static bool put_map(struct proto_transcode_walk *w, const struct proto_plan_field *f,
                    struct buf *to)
{
    struct str key, last = STR("");
    size_t start = to->n, n = 0, cap = 0;
    bool ok, is_sorted = true;
    struct proto_transcode_entry *entries = NULL;
    if (!take(w, '{'))
        return put_member_tree(w, f->field, to);
    for (; json_scan_next(&w->in, '}', n == 0, &ok); last = key, n++) {
        size_t from = to->n;
        if (!put_plain_entry(w, f, &key, to) && !put_entry(w, f, &key, to))
            return false;
        is_sorted = is_sorted && (n == 0 || str_cmp(last, key) < 0);
        if (n == cap) {
            struct proto_transcode_entry *more =
                arena_new_n(&w->t->arena, struct proto_transcode_entry, cap = cap ? cap * 4 : 16);
            if (n)
                memcpy(more, entries, n * sizeof *more);
            entries = more;
        }
        entries[n] = (struct proto_transcode_entry){ key, from, to->n - from };
    }
    return ok && (is_sorted || sort_entries(w, entries, n, start, to));
}

static bool put_array(struct proto_transcode_walk *w, struct proto_plan_field *f, struct buf *to)
{
    bool ok;
    unsigned outer = w->item;
    if (!take(w, '['))
        return put_member_tree(w, f->field, to);
    for (w->item = 0; json_scan_next(&w->in, ']', w->item == 0, &ok); w->item++)
        if (!put_step(w, f, to))
            return false;
    w->item = outer;
    return ok;
}

static bool put_field(struct proto_transcode_walk *w, struct proto_plan_field *f, struct buf *to)
{
    switch (f->shape) {
    case SCHEMA_ARRAY:
        return put_array(w, f, to);
    case SCHEMA_MAP:
        return put_map(w, f, to);
    default:
        return put_step(w, f, to);
    }
}

/* Whole members of the object mostly differ, and deep inside there is little left to gain. */
static bool is_remembered(const struct proto_transcode_walk *w)
{
    enum { FIRST_DEPTH = 2, LAST_DEPTH = 4 };
    return w->t->memory && w->depth >= FIRST_DEPTH && w->depth <= LAST_DEPTH &&
           (at(w) == '{' || at(w) == '[');
}

/* Like put_field(), from the cache where possible. */
static bool put_remembered(struct proto_transcode_walk *w, struct proto_plan_field *f,
                           struct buf *to)
{
    const struct proto_place place = { f, w->item };
    const char *begin = w->in.p;
    size_t from = to->n, n;
    struct str bytes;
    if (proto_memory_find(w->t->memory, place, str_n(begin, (size_t)(w->in.end - begin)), &n,
                          &bytes)) {
        w->in.p += n;
        return wire_put_copy(to, bytes.p, bytes.n, bytes.p + bytes.n);
    }
    if (!put_field(w, f, to) || !buf_ok(to))
        return false;
    proto_memory_keep(w->t->memory, place, str_n(begin, (size_t)(w->in.p - begin)),
                      str_n(to->p + from, to->n - from));
    return true;
}

/* ------------------------------------------------------------------ members */

static bool put_revision(struct proto_transcode_walk *w, struct proto_message *m, struct buf *to)
{
    size_t from = to->n;
    uint8_t rank = m->plan->revision;
    wire_put_bytes(to, m->plan->fields[m->plan->field_of_rank[rank]].field->proto, w->revision);
    w->revision = STR("");
    return proto_message_add(m, rank, from, to);
}

/* Writes the fields between the last piece and rank `before`. */
static bool put_gap(struct proto_transcode_walk *w, struct proto_message *m, uint8_t before,
                    struct buf *to)
{
    uint8_t revision = m->plan->revision;
    if (m->is_meta && w->revision.n && m->next <= revision && revision < before)
        if (!proto_put_zeroes(m->plan, m->next, revision, to) || !put_revision(w, m, to))
            return false;
    return proto_put_zeroes(m->plan, m->next, before, to);
}

/* Null counts as a missing member. */
static bool put_null(struct proto_transcode_walk *w, struct proto_message *m,
                     const struct proto_plan_field *f, struct buf *to)
{
    size_t from = to->n;
    if (!take_word(w, "null", 4))
        return false;
    if (!m->is_mixed && f->rank >= m->next)
        return true;
    m->is_mixed = true;
    return proto_put_zeroes(m->plan, f->rank, (uint8_t)(f->rank + 1), to) &&
           proto_message_add(m, f->rank, from, to);
}

static bool put_member(struct proto_transcode_walk *w, struct proto_message *m,
                       struct proto_plan_field *f, struct buf *to)
{
    struct str skipped;
    if (f->rank == PROTO_NO_FIELD)
        return json_scan_value(&w->in, &skipped);
    if (at(w) == 'n')
        return put_null(w, m, f, to);
    m->is_mixed |= f->rank < m->next;
    if (!m->is_mixed && f->rank > m->next && !put_gap(w, m, f->rank, to))
        return false;
    size_t from = to->n;
    w->at_meta = w->depth == 1 && str_is(f->field->name, "metadata");
    if (!(is_remembered(w) ? put_remembered(w, f, to) : put_field(w, f, to)))
        return false;
    return proto_message_add(m, f->rank, from, to);
}

/* Compares the part of the name that does not fit into `head`, and the two bytes after it. */
static inline bool has_rest(const char *p, size_t left, struct str name)
{
    enum { IN_HEAD = 7 };
    if (left < name.n + 3 || p[name.n + 1] != '"' || p[name.n + 2] != ':')
        return false;
    if (name.n < IN_HEAD + 1)
        return true;
    if (swar_load(p + 1 + name.n - 8) != swar_load(name.p + name.n - 8))
        return false;
    return name.n <= IN_HEAD + 8 || memcmp(p + 8, name.p + IN_HEAD, name.n - IN_HEAD) == 0;
}

/* The field whose `"name":` is next, searched from `guess` on; NULL: none. */
static struct proto_plan_field *find_field(const struct proto_transcode_walk *w,
                                           struct proto_plan *plan, uint8_t guess)
{
    const char *p = w->in.p;
    size_t left = (size_t)(w->in.end - p), i = guess;
    uint64_t head = 0;
    if (left >= sizeof head)
        head = swar_load(p);
    else
        memcpy(&head, p, left);
    for (size_t n = plan->n_fields; n; n--, i++) {
        if (i >= plan->n_fields)
            i = 0;
        struct proto_plan_field *f = &plan->fields[i];
        if ((head & f->mask) == f->head &&
            ((uint8_t)(f->mask >> 56) == 0 || has_rest(p, left, f->field->name)))
            return f;
    }
    return NULL;
}

static bool skip_member(struct proto_transcode_walk *w)
{
    struct str skipped;
    bool escaped;
    return at(w) == '"' && json_scan_string(&w->in, &skipped, &escaped) && !escaped &&
           take(w, ':') && json_scan_value(&w->in, &skipped);
}

static bool put_members(struct proto_transcode_walk *w, struct proto_plan *plan,
                        struct proto_message *m, struct buf *to)
{
    uint8_t *guess = &plan->first;
    if (!take(w, '{'))
        return false;
    if (take(w, '}'))
        return true;
    do {
        struct proto_plan_field *f = find_field(w, plan, *guess);
        if (!f) {
            if (!skip_member(w))
                return false;
            continue;
        }
        w->in.p += f->field->name.n + 3;
        *guess = (uint8_t)(f - plan->fields);
        guess = &f->follower;
        if (!put_member(w, m, f, to))
            return false;
    } while (take(w, ','));
    return take(w, '}');
}

/* ------------------------------------------------------------------ messages */

/* Writes the fields after the last piece, or puts all in order. */
static bool put_rest(struct proto_transcode_walk *w, struct proto_message *m, struct buf *to)
{
    bool has_revision = m->is_meta && w->revision.n;
    if (has_revision && m->next > m->plan->revision)
        m->is_mixed = true;
    if (!m->is_mixed)
        return put_gap(w, m, m->plan->n_ranks, to);
    if (has_revision && !put_revision(w, m, to))
        return false;
    return proto_message_order(m, &w->t->work, to);
}

static bool put_message(struct proto_transcode_walk *w, uint32_t number, struct proto_plan *plan,
                        struct buf *to)
{
    struct proto_message m;
    if (++w->depth > PROTO_MAX_DEPTH || !proto_message_begin(&m, number, plan, to))
        return false;
    m.is_meta = w->at_meta && plan->revision != PROTO_NO_FIELD;
    w->at_meta = false;
    if (!put_members(w, plan, &m, to) || !put_rest(w, &m, to))
        return false;
    w->depth--;
    return proto_message_end(&m, plan, to);
}

/* Any value, also of an unexpected type. */
static bool put_value(struct proto_transcode_walk *w, uint32_t number, const struct schema *s,
                      struct buf *to)
{
    char c = at(w);
    struct proto_plan *plan;
    switch ((enum schema_type)s->type) {
    case SCHEMA_OBJECT:
        plan = c == '{' ? proto_plan_of(s) : NULL;
        return plan ? put_message(w, number, plan, to) : put_tree(w, number, s, to);
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
    buf_fini(&t->work);
    proto_memory_free(t->memory);
    t->memory = NULL;
    arena_fini(&t->arena);
}

int proto_transcode_field(struct proto_transcoder *t, uint32_t number,
                          const struct proto_source *from, struct buf *to)
{
    struct proto_transcode_walk w = { .in = json_scan_init(from->text),
                                      .t = t,
                                      .revision = from->revision };
    struct proto_plan *plan = proto_plan_of(from->schema);
    size_t n = to->n;
    assert(plan);
    arena_reset(&t->arena);
    if (t->remembers && !t->memory)
        t->memory = proto_memory_new();
    bool ok = put_message(&w, number, plan, to) && json_scan_peek(&w.in) == 0 && w.revision.n == 0;
    if (ok)
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
