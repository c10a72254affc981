/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML text -> tree; see yaml.h.
 *
 * libyaml produces events; one function per kind of node consumes the events of that node, from the
 * first, which is ps->event when the function is called, to the last. The builder's depth limit
 * bounds the recursion.
 */
#include "codec/yaml.h"

#include "base/vec.h"
#include "codec/base64.h"
#include "codec/json_builder.h"
#include "codec/yaml_scalar.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <yaml.h>

struct anchor {
    struct str name; /* in the arena */
    struct json *node;
    bool is_open; /* its node is not complete yet */
};

struct yaml_parser {
    struct json_builder builder;
    yaml_parser_t lib;
    yaml_event_t event;
    struct yaml_marks *marks;
    const struct yaml_opts *opts; /* or NULL */
    struct anchor anchors[YAML_MAX_ANCHORS];
    size_t n_anchors;
    unsigned n_copied;
    unsigned flow_depth; /* open collections in flow style */
    uint64_t flow_work;  /* sum of flow_depth over all events */
    struct err *err;
};

/* ---- positions ---- */

void yaml_marks_fini(struct yaml_marks *m)
{
    free(m->p);
    *m = (struct yaml_marks){ 0 };
}

const struct yaml_mark *yaml_find_mark(const struct yaml_marks *m, const struct json *node)
{
    for (size_t i = m ? m->n : 0; i > 0; i--)
        if (m->p[i - 1].node == node)
            return &m->p[i - 1];
    return NULL;
}

int yaml_err(struct err *err, int code, const struct yaml_marks *m, const struct json *node,
             const char *fmt, ...)
{
    char text[sizeof err->text];
    const struct yaml_mark *at = yaml_find_mark(m, node);
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!at)
        return err_set(err, code, "%s", text);
    return err_set(err, code, "line %u, column %u: %s", at->line, at->column, text);
}

static void mark(struct yaml_parser *ps, const struct json *node, yaml_mark_t at)
{
    if (ps->marks)
        vec_push(ps->marks, ((struct yaml_mark){ .node = node,
                                                 .line = (unsigned)at.line + 1,
                                                 .column = (unsigned)at.column + 1 }));
}

/* ---- failing ---- */

static int fail_at(struct yaml_parser *ps, int code, yaml_mark_t at, const char *what)
{
    return err_set(ps->err, code, "line %zu, column %zu: %s", at.line + 1, at.column + 1, what);
}

static int fail_here(struct yaml_parser *ps, int code, const char *what)
{
    return fail_at(ps, code, ps->event.start_mark, what);
}

static int fail_memory(struct yaml_parser *ps)
{
    return fail_here(ps, -EMSGSIZE, "YAML document too large");
}

/* ---- events ---- */

static int next_event(struct yaml_parser *ps)
{
    yaml_event_delete(&ps->event);
    if (yaml_parser_parse(&ps->lib, &ps->event)) {
        ps->flow_work += ps->flow_depth;
        if (ps->flow_work > YAML_MAX_FLOW_WORK)
            return fail_here(ps, E_LIMIT, "too long for how deeply it is nested in brackets");
        return 0;
    }
    const char *what = ps->lib.problem ? ps->lib.problem : "not YAML";
    switch (ps->lib.error) {
    case YAML_MEMORY_ERROR:
        return err_set(ps->err, -ENOMEM, "YAML parser is out of memory");
    case YAML_READER_ERROR:
        return err_set(ps->err, E_PARSE, "offset %zu: %s", ps->lib.problem_offset, what);
    default:
        return fail_at(ps, E_PARSE, ps->lib.problem_mark, what);
    }
}

static struct str view(const yaml_char_t *s)
{
    return str_of((const char *)s);
}

static int keep(struct yaml_parser *ps, struct str s, struct str *ret)
{
    char *copy = arena_try(ps->builder.arena, s.n);
    if (!copy)
        return fail_memory(ps);
    if (s.n)
        memcpy(copy, s.p, s.n);
    *ret = (struct str){ copy, s.n };
    return 0;
}

/* ---- scalars ---- */

#define TAG_PREFIX "tag:yaml.org,2002:"

static int set_number(struct yaml_parser *ps, struct json *node, const struct yaml_scalar *v)
{
    node->type = JSON_NUMBER;
    return keep(ps, str_n(v->text, v->n), &node->s);
}

static int set_resolved(struct yaml_parser *ps, struct json *node, struct str text,
                        const struct yaml_scalar *v)
{
    switch (v->kind) {
    case YAML_NULL:
        node->type = JSON_NULL;
        return 0;
    case YAML_FALSE:
        node->type = JSON_FALSE;
        return 0;
    case YAML_TRUE:
        node->type = JSON_TRUE;
        return 0;
    case YAML_INT:
    case YAML_FLOAT:
        return set_number(ps, node, v);
    case YAML_NO_JSON:
        return fail_here(ps, E_PARSE, "infinity and not-a-number have no form in JSON");
    case YAML_STR:
        node->type = JSON_STRING;
        return keep(ps, text, &node->s);
    }
    return 0;
}

static int set_binary(struct yaml_parser *ps, struct json *node, struct str text)
{
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(text.n);
    if (base64_decode(&bytes, text, BASE64_LENIENT) < 0 || !str_is_utf8(buf_str(&bytes)))
        return fail_here(ps, E_PARSE, "!!binary is not the base64 form of UTF-8 text");
    node->type = JSON_STRING;
    return keep(ps, buf_str(&bytes), &node->s);
}

/* An explicit tag says what the text must resolve to; tags other than YAML's own are ignored. */
static int set_tagged(struct yaml_parser *ps, struct json *node, struct str tag, struct str text)
{
    static const struct {
        const char *tag;
        unsigned kinds; /* bits of enum yaml_kind */
    } tags[] = {
        { TAG_PREFIX "null", 1u << YAML_NULL },
        { TAG_PREFIX "bool", 1u << YAML_FALSE | 1u << YAML_TRUE },
        { TAG_PREFIX "int", 1u << YAML_INT },
        { TAG_PREFIX "float", 1u << YAML_INT | 1u << YAML_FLOAT | 1u << YAML_NO_JSON },
    };
    if (str_is(tag, TAG_PREFIX "binary"))
        return set_binary(ps, node, text);
    for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
        if (!str_is(tag, tags[i].tag))
            continue;
        struct yaml_scalar v = yaml_resolve(text);
        if (!(tags[i].kinds & 1u << v.kind))
            return fail_here(ps, E_PARSE, "the value is not what its tag says");
        return set_resolved(ps, node, text, &v);
    }
    return set_resolved(ps, node, text, &(struct yaml_scalar){ .kind = YAML_STR });
}

static int parse_scalar(struct yaml_parser *ps, struct json *node)
{
    struct str text = str_n(ps->event.data.scalar.value, ps->event.data.scalar.length);
    if (ps->event.data.scalar.tag)
        return set_tagged(ps, node, view(ps->event.data.scalar.tag), text);
    struct yaml_scalar v = { .kind = YAML_STR };
    if (ps->event.data.scalar.plain_implicit)
        v = yaml_resolve(text);
    return set_resolved(ps, node, text, &v);
}

/* ---- anchors and copies ---- */

/* Register the anchor of the current event, if it has one; *ret: its index or YAML_MAX_ANCHORS. */
static int open_anchor(struct yaml_parser *ps, const yaml_char_t *name, struct json *node,
                       size_t *ret)
{
    *ret = YAML_MAX_ANCHORS;
    if (!name)
        return 0;
    if (ps->n_anchors == YAML_MAX_ANCHORS)
        return fail_here(ps, E_LIMIT, "too many anchors");
    struct anchor a = { .node = node, .is_open = true };
    int r = keep(ps, view(name), &a.name);
    if (r < 0)
        return r;
    *ret = ps->n_anchors;
    ps->anchors[ps->n_anchors++] = a;
    return 0;
}

static void close_anchor(struct yaml_parser *ps, size_t i)
{
    if (i < YAML_MAX_ANCHORS)
        ps->anchors[i].is_open = false;
}

/* Copy the value of src into dst, which keeps its key; dst lies `depth` containers below the
 * root. */
static int copy_value(struct yaml_parser *ps, struct json *dst, const struct json *src,
                      unsigned depth)
{
    if (++ps->n_copied > YAML_MAX_COPIED_NODES)
        return fail_here(ps, E_LIMIT, "aliases copy too much");
    if (src->type >= JSON_ARRAY && depth == ps->builder.max_depth)
        return fail_here(ps, E_PARSE, "nested too deeply");
    dst->type = src->type;
    if (src->type < JSON_ARRAY) {
        dst->s = src->s; /* strings are shared: nothing changes their bytes */
        return 0;
    }
    struct json_level level = { .node = dst };
    json_each (c, src) {
        struct json *child = json_builder_node(&ps->builder);
        if (!child)
            return fail_memory(ps);
        child->key = c->key;
        mark(ps, child, ps->event.start_mark);
        json_builder_add(&level, child);
        int r = copy_value(ps, child, c, depth + 1);
        if (r < 0)
            return r;
    }
    json_index(ps->builder.arena, dst);
    return 0;
}

static int parse_alias(struct yaml_parser *ps, struct json *node)
{
    struct str name = view(ps->event.data.alias.anchor);
    for (size_t i = ps->n_anchors; i > 0; i--) {
        const struct anchor *a = &ps->anchors[i - 1];
        if (!str_eq(a->name, name))
            continue;
        if (a->is_open)
            return fail_here(ps, E_PARSE, "an anchor contains itself");
        return copy_value(ps, node, a->node, ps->builder.depth);
    }
    return fail_here(ps, E_PARSE, "unknown anchor");
}

/* ---- collections ---- */

static int parse_node(struct yaml_parser *ps, struct json *node);

/* A new node, for the value that begins at the current event. */
static int new_child(struct yaml_parser *ps, struct json **ret)
{
    *ret = json_builder_node(&ps->builder);
    if (!*ret)
        return fail_memory(ps);
    mark(ps, *ret, ps->event.start_mark);
    return 0;
}

static int open_collection(struct yaml_parser *ps, struct json *node, bool is_flow)
{
    if (!json_builder_open(&ps->builder, node))
        return fail_here(ps, E_PARSE, "nested too deeply");
    ps->flow_depth += is_flow;
    return 0;
}

static int close_collection(struct yaml_parser *ps, bool is_flow)
{
    ps->flow_depth -= is_flow;
    return json_builder_close(&ps->builder) < 0 ? fail_memory(ps) : 0;
}

static int parse_sequence(struct yaml_parser *ps, struct json *node)
{
    bool is_flow = ps->event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    node->type = JSON_ARRAY;
    int r = open_collection(ps, node, is_flow);
    if (r < 0)
        return r;
    for (;;) {
        struct json *child;
        r = next_event(ps);
        if (r < 0)
            return r;
        if (ps->event.type == YAML_SEQUENCE_END_EVENT)
            return close_collection(ps, is_flow);
        r = new_child(ps, &child);
        if (r < 0)
            return r;
        json_builder_add(json_builder_top(&ps->builder), child);
        r = parse_node(ps, child);
        if (r < 0)
            return r;
    }
}

/* The text of a key in JSON. */
static int key_text(struct yaml_parser *ps, const struct json *key, struct str *ret)
{
    switch (key->type) {
    case JSON_STRING:
    case JSON_NUMBER:
        *ret = key->s;
        return 0;
    case JSON_FALSE:
        *ret = STR("false");
        return 0;
    case JSON_TRUE:
        *ret = STR("true");
        return 0;
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return fail_here(ps, E_PARSE, "a key must be a string, a number or a bool");
}

static bool is_merge_key(const yaml_event_t *event)
{
    if (event->type != YAML_SCALAR_EVENT ||
        !str_eq(str_n(event->data.scalar.value, event->data.scalar.length), STR("<<")))
        return false;
    const yaml_char_t *tag = event->data.scalar.tag;
    return tag ? str_is(view(tag), TAG_PREFIX "merge") : event->data.scalar.plain_implicit != 0;
}

/* Add copies of the members of `from` to the innermost open object. */
static int merge_members(struct yaml_parser *ps, const struct json *from)
{
    if (from->type != JSON_OBJECT)
        return fail_here(ps, E_PARSE, "only a mapping or a list of mappings can be merged");
    struct json_level *top = json_builder_top(&ps->builder);
    json_each (c, from) {
        struct json *child;
        int r = new_child(ps, &child);
        if (r < 0)
            return r;
        child->key = c->key;
        json_builder_key(top, child->key);
        json_builder_add(top, child);
        r = copy_value(ps, child, c, ps->builder.depth);
        if (r < 0)
            return r;
    }
    return 0;
}

/* In a list earlier mappings win, so the last one is merged first. */
static int merge_list(struct yaml_parser *ps, const struct json *list)
{
    scoped(free_scoped) const struct json **items = xnew_n(const struct json *, list->n + 1);
    size_t n = 0;
    json_each (c, list)
        items[n++] = c;
    while (n > 0) {
        int r = merge_members(ps, items[--n]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int parse_merge(struct yaml_parser *ps)
{
    struct json *from;
    int r = new_child(ps, &from);
    if (r < 0)
        return r;
    from->key = STR("<<");
    r = next_event(ps);
    if (r >= 0)
        r = parse_node(ps, from);
    if (r < 0)
        return r;
    return from->type == JSON_ARRAY ? merge_list(ps, from) : merge_members(ps, from);
}

static int parse_member(struct yaml_parser *ps)
{
    struct json_level *top = json_builder_top(&ps->builder);
    struct json *member, key = { 0 };
    int r = new_child(ps, &member);
    if (r < 0)
        return r;
    if (ps->event.type != YAML_SCALAR_EVENT && ps->event.type != YAML_ALIAS_EVENT)
        return fail_here(ps, E_PARSE, "a key must be a string, a number or a bool");
    const yaml_char_t *anchor =
        ps->event.type == YAML_SCALAR_EVENT ? ps->event.data.scalar.anchor : NULL;
    struct json *key_node = anchor ? json_builder_node(&ps->builder) : &key;
    if (!key_node)
        return fail_memory(ps);
    r = parse_node(ps, key_node);
    if (r >= 0)
        r = key_text(ps, key_node, &member->key);
    if (r < 0)
        return r;
    json_builder_key(top, member->key);
    json_builder_add(top, member);
    r = next_event(ps);
    return r < 0 ? r : parse_node(ps, member);
}

static int parse_mapping(struct yaml_parser *ps, struct json *node)
{
    bool is_flow = ps->event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    node->type = JSON_OBJECT;
    int r = open_collection(ps, node, is_flow);
    while (r >= 0) {
        r = next_event(ps);
        if (r < 0)
            return r;
        if (ps->event.type == YAML_MAPPING_END_EVENT)
            return close_collection(ps, is_flow);
        r = is_merge_key(&ps->event) ? parse_merge(ps) : parse_member(ps);
    }
    return r;
}

static int parse_node(struct yaml_parser *ps, struct json *node)
{
    size_t anchor = YAML_MAX_ANCHORS;
    int r;
    switch (ps->event.type) {
    case YAML_ALIAS_EVENT:
        return parse_alias(ps, node);
    case YAML_SCALAR_EVENT:
        r = open_anchor(ps, ps->event.data.scalar.anchor, node, &anchor);
        r = r < 0 ? r : parse_scalar(ps, node);
        break;
    case YAML_SEQUENCE_START_EVENT:
        r = open_anchor(ps, ps->event.data.sequence_start.anchor, node, &anchor);
        r = r < 0 ? r : parse_sequence(ps, node);
        break;
    case YAML_MAPPING_START_EVENT:
        r = open_anchor(ps, ps->event.data.mapping_start.anchor, node, &anchor);
        r = r < 0 ? r : parse_mapping(ps, node);
        break;
    default:
        return fail_here(ps, E_PARSE, "a value is missing");
    }
    close_anchor(ps, anchor);
    return r;
}

/* ---- documents ---- */

static int parse_document(struct yaml_parser *ps, struct json_level *docs)
{
    struct json *root;
    if (docs->node->n == YAML_MAX_DOCUMENTS)
        return fail_here(ps, E_LIMIT, "too many documents");
    ps->n_anchors = 0;
    int r = next_event(ps);
    if (r >= 0)
        r = new_child(ps, &root);
    if (r < 0)
        return r;
    json_builder_add(docs, root);
    r = parse_node(ps, root);
    return r < 0 ? r : next_event(ps); /* its end */
}

static int parse_stream(struct yaml_parser *ps, struct json_level *docs)
{
    int r = next_event(ps); /* the start of the stream */
    while (r >= 0) {
        r = next_event(ps);
        if (r < 0 || ps->event.type == YAML_STREAM_END_EVENT)
            return r;
        r = parse_document(ps, docs);
    }
    return r;
}

static void on_repeated(void *arg, struct str path)
{
    const struct yaml_parser *ps = arg;
    const struct json *again = ps->builder.repeated;
    const struct yaml_mark *at = yaml_find_mark(ps->marks, again);
    (void)path;
    ps->opts->on_repeated(ps->opts->arg, again->key, at ? at->line : 1);
}

int yaml_parse_all(struct arena *a, struct str text, const struct yaml_opts *opts,
                   struct json **ret, struct err *err)
{
    if (text.n > YAML_MAX_BYTES)
        return err_set(err, -EMSGSIZE, "YAML text over %d bytes", YAML_MAX_BYTES);
    (void)arena_spend(a, text.n * 2, "decoding YAML");
    struct json *docs = arena_try(a, sizeof *docs);
    if (!docs)
        return err_set(err, -EMSGSIZE, "YAML document too large");
    docs->type = JSON_ARRAY;

    struct yaml_parser *ps = xnew(struct yaml_parser);
    json_builder_init(&ps->builder, a, opts ? opts->max_depth : 0, text.n / 16);
    if (opts) {
        ps->builder.on_duplicate = opts->on_duplicate;
        ps->builder.arg = opts->arg;
        ps->marks = opts->marks;
        ps->opts = opts;
        if (opts->on_repeated && opts->marks) {
            ps->builder.on_duplicate = on_repeated;
            ps->builder.arg = ps;
        }
    }
    ps->err = err;
    int r = -ENOMEM;
    if (yaml_parser_initialize(&ps->lib)) {
        yaml_parser_set_encoding(&ps->lib, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&ps->lib, (const unsigned char *)(text.p ? text.p : ""),
                                     text.n);
        r = parse_stream(ps, &(struct json_level){ .node = docs });
        yaml_event_delete(&ps->event);
        yaml_parser_delete(&ps->lib);
    }
    free(ps);
    if (r < 0)
        return r;
    *ret = docs;
    return 0;
}

int yaml_parse(struct arena *a, struct str text, const struct yaml_opts *opts, struct json **ret,
               struct err *err)
{
    struct json *docs;
    int r = yaml_parse_all(a, text, opts, &docs, err);
    if (r < 0)
        return r;
    if (docs->n > 1 && !(opts && opts->first_only))
        return err_set(err, E_PARSE, "%u documents where one is expected", docs->n);
    if (docs->n == 0) {
        docs->type = JSON_NULL;
        *ret = docs;
        return 0;
    }
    *ret = docs->first;
    return 0;
}
