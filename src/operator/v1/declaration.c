/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations; see declaration.h.
 *
 * Each kind of object is a table of members: name, reader, where the value goes. What no table
 * names is refused with its path. Order: readers, tables from the leaves up, checks across
 * objects.
 */
#include "operator/v1/declaration.h"

#include "base/record.h"
#include "codec/digest.h"
#include "kube/model/meta.h"

#include <assert.h>
#include <math.h>

enum { PATH_MAX_BYTES = 200 };

struct reader {
    struct declaration *d;
    struct arena *a; /* d->arena */
    char path[PATH_MAX_BYTES];
    size_t n_path;
    struct err *err;
    /* while a WATCH is read */
    enum watch_role role;
    uint8_t controller;
    unsigned n_predicates;
};

struct member {
    const char *name;
    int (*read)(struct reader *rd, const struct json *v, void *at, const struct member *m);
    size_t offset; /* in the struct that is filled */
    bool required;
    uint64_t min, max; /* of numbers; strings: of bytes */
};

/* ---------------------------------------------------------------- where we are */

static void path_cut(struct reader *rd, size_t n)
{
    rd->n_path = n;
    rd->path[n] = 0;
}

static void path_add(struct reader *rd, const char *sep, struct str name, const char *end)
{
    size_t room = sizeof rd->path - rd->n_path;
    char text[PATH_MAX_BYTES];
    size_t n = 0;
    for (const char *p = sep; *p && n + 1 < sizeof text; p++)
        text[n++] = *p;
    for (size_t i = 0; i < name.n && i < 80 && n + 1 < sizeof text; i++)
        text[n++] = (unsigned char)name.p[i] < ' ' || name.p[i] == 0x7f ? '?' : name.p[i];
    for (const char *p = end; *p && n + 1 < sizeof text; p++)
        text[n++] = *p;
    n = MIN(n, room - 1);
    memcpy(rd->path + rd->n_path, text, n);
    path_cut(rd, rd->n_path + n);
}

static size_t path_enter(struct reader *rd, struct str name)
{
    size_t before = rd->n_path;
    path_add(rd, before ? "." : "", name, "");
    return before;
}

static size_t path_enter_at(struct reader *rd, size_t i)
{
    size_t before = rd->n_path;
    char digits[24], *p = digits + sizeof digits;
    do
        *--p = (char)('0' + i % 10);
    while (i /= 10);
    path_add(rd, "[", str_n(p, (size_t)(digits + sizeof digits - p)), "]");
    return before;
}

#define FAIL(rd, ...) fail((rd), E_INVALID, __VA_ARGS__)
static int fail(struct reader *rd, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(struct reader *rd, int code, const char *fmt, ...)
{
    va_list ap;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1024);
    va_start(ap, fmt);
    (void)buf_vprintf(&text, fmt, ap);
    va_end(ap);
    return err_set(rd->err, code, "%s: %s", rd->n_path ? rd->path : "declaration", buf_cstr(&text));
}

/* ---------------------------------------------------------------- readers */

static int wants(struct reader *rd, const struct json *v, enum json_type type, const char *what)
{
    return json_is(v, type) ? 0 : FAIL(rd, "must be %s", what);
}

static int read_object(struct reader *rd, const struct json *v, const struct member *members,
                       size_t n, void *to)
{
    int r = wants(rd, v, JSON_OBJECT, "an object");
    if (r < 0)
        return r;
    json_each (child, v) {
        const struct member *m = NULL;
        for (size_t i = 0; i < n && !m; i++)
            if (str_is(child->key, members[i].name))
                m = &members[i];
        size_t before = path_enter(rd, child->key);
        r = m ? m->read(rd, child, (char *)to + m->offset, m) : FAIL(rd, "there is no such member");
        if (r < 0)
            return r;
        path_cut(rd, before);
    }
    for (size_t i = 0; i < n; i++)
        if (members[i].required && !json_getc(v, members[i].name)) {
            (void)path_enter(rd, str_of(members[i].name));
            return FAIL(rd, "is missing");
        }
    return 0;
}
#define READ_OBJECT(rd, v, table, to) read_object((rd), (v), (table), ARRAY_LEN(table), (to))

/*
 * Elements of an array into a new array of `size` bytes each, which grows under the eyes of `read`:
 * it compares an element with those before it.
 */
static int read_array(struct reader *rd, const struct json *v, size_t max, size_t size,
                      int (*read)(struct reader *rd, const struct json *v, void *at), void **ret,
                      size_t *ret_n)
{
    int r = wants(rd, v, JSON_ARRAY, "an array");
    if (r < 0)
        return r;
    if (v->n > max)
        return fail(rd, E_LIMIT, "has more than %zu entries", max);
    char *p = *ret = arena_alloc_n(rd->a, size, v->n ? v->n : 1);
    *ret_n = 0;
    json_each (child, v) {
        size_t before = path_enter_at(rd, *ret_n);
        r = read(rd, child, p + *ret_n * size);
        if (r < 0)
            return r;
        path_cut(rd, before);
        ++*ret_n;
    }
    return 0;
}

static int read_bool(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    if (!json_is_bool(v))
        return FAIL(rd, "must be true or false");
    *(bool *)at = json_bool(v);
    return 0;
}

static int read_text(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    int r = wants(rd, v, JSON_STRING, "a string");
    if (r < 0)
        return r;
    struct str s = json_str(v);
    if (s.n < m->min)
        return FAIL(rd, "must not be empty");
    if (m->max && s.n > m->max)
        return fail(rd, E_LIMIT, "is longer than %llu bytes", (unsigned long long)m->max);
    if (memchr(s.p, 0, s.n))
        return FAIL(rd, "contains a NUL");
    *(struct str *)at = str_copy_arena(rd->a, s);
    return 0;
}

static int check_rule(struct reader *rd, struct str s, meta_rule rule)
{
    struct meta_problems problems = rule(s);
    return problems.n == 0
               ? 0
               : FAIL(rd, "'" STR_FMT "': %s", STR_ARG(str_slice(s, 0, 80)), problems.text[0]);
}

/* A name of the guest's own: it stands in labels of metrics, log lines and file names. */
static int read_name(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    struct member bounds = { .min = 1, .max = DECLARATION_MAX_NAME_BYTES };
    int r = read_text(rd, v, at, &bounds);
    if (r < 0)
        return r;
    struct str s = *(struct str *)at;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '_' || c == '.'))
            return FAIL(rd, "a name consists of letters, digits, '-', '_' and '.'");
    }
    return 0;
}

static int read_subdomain(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    struct member bounds = { .min = 1, .max = 253 };
    int r = read_text(rd, v, at, &bounds);
    return r < 0 ? r : check_rule(rd, *(struct str *)at, meta_check_dns1123_subdomain);
}

/* Of an object: some kinds (RBAC) take more than a DNS name. */
static int read_object_name(struct reader *rd, const struct json *v, void *at,
                            const struct member *m)
{
    struct member bounds = { .min = 1, .max = 253 };
    int r = read_text(rd, v, at, &bounds);
    return r < 0 ? r : check_rule(rd, *(struct str *)at, meta_check_path_segment);
}

static int read_namespace(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    struct member bounds = { .min = 1, .max = 63 };
    int r = read_text(rd, v, at, &bounds);
    return r < 0 ? r : check_rule(rd, *(struct str *)at, meta_check_dns1123_label);
}

static int read_label_key(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    struct member bounds = { .min = 1, .max = 317 };
    int r = read_text(rd, v, at, &bounds);
    return r < 0 ? r : check_rule(rd, *(struct str *)at, meta_check_qualified_name);
}

static int read_integer(struct reader *rd, const struct json *v, const struct member *m,
                        uint64_t *ret)
{
    int64_t n = 0;
    if (!json_is(v, JSON_NUMBER) || json_int(v, &n) < 0)
        return FAIL(rd, "must be an integer");
    if (n < 0 || (uint64_t)n < m->min || (uint64_t)n > m->max)
        return FAIL(rd, "must be from %llu to %llu", (unsigned long long)m->min,
                    (unsigned long long)m->max);
    *ret = (uint64_t)n;
    return 0;
}

static int read_u64(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    return read_integer(rd, v, m, at);
}

static int read_u32(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    uint64_t n = 0;
    int r = read_integer(rd, v, m, &n);
    if (r >= 0)
        *(uint32_t *)at = (uint32_t)n;
    return r;
}

static int read_seconds(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    uint64_t n = 0;
    int r = read_integer(rd, v, m, &n);
    if (r >= 0)
        *(uint64_t *)at = n * 1000;
    return r;
}

/* One of the words of a list that ends with NULL; its place goes to an enum. */
static int read_word(struct reader *rd, const struct json *v, const char *const *words, int *ret)
{
    scoped(buf_fini_scoped) struct buf all = BUF_INIT(512);
    for (int i = 0; words[i]; i++) {
        if (json_is(v, JSON_STRING) && str_is(json_str(v), words[i])) {
            *ret = i;
            return 0;
        }
        (void)buf_printf(&all, "%s'%s'", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
    }
    return FAIL(rd, "must be %s", buf_cstr(&all));
}

static int read_field(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    struct declaration_field *f = at;
    struct member bounds = { .min = 1, .max = FIELD_PATH_MAX_BYTES };
    struct err err = { 0 };
    int r = read_text(rd, v, &f->text, &bounds);
    if (r < 0)
        return r;
    if (field_path_parse(rd->a, f->text, &f->path, &err) < 0)
        return FAIL(rd, "%s", err_text(&err));
    return 0;
}

/* ---------------------------------------------------------------- predicates */

static int read_predicate(struct reader *rd, const struct json *v, unsigned depth,
                          struct predicate **ret);

static int read_changed(struct reader *rd, const struct json *v, struct predicate *p)
{
    static const char *const words[] = { "generation", "labels", "annotations", "resourceVersion",
                                         NULL };
    static const enum predicate_kind kinds[] = { PREDICATE_GENERATION, PREDICATE_LABELS,
                                                 PREDICATE_ANNOTATIONS,
                                                 PREDICATE_RESOURCE_VERSION };
    int i = 0;
    int r = read_word(rd, v, words, &i);
    if (r >= 0)
        p->kind = kinds[i];
    return r;
}

static int read_on(struct reader *rd, const struct json *v, struct predicate *p)
{
    static const char *const words[] = { "create", "update", "delete", NULL };
    static const enum object_event types[] = { OBJECT_ADDED, OBJECT_UPDATED, OBJECT_DELETED };
    p->kind = PREDICATE_ON;
    int r = wants(rd, v, JSON_ARRAY, "an array");
    if (r < 0)
        return r;
    json_each (child, v) {
        int i = 0;
        r = read_word(rd, child, words, &i);
        if (r < 0)
            return r;
        p->types |= 1u << types[i];
    }
    return p->types ? 0 : FAIL(rd, "must not be empty");
}

static int read_labels(struct reader *rd, const struct json *v, struct predicate *p)
{
    struct err err = { 0 };
    p->kind = PREDICATE_MATCHES;
    int r = wants(rd, v, JSON_STRING, "a label selector");
    if (r < 0)
        return r;
    if (selector_parse_labels(rd->a, json_str(v), &p->selector, &err) < 0)
        return FAIL(rd, "%s", err_text(&err));
    return 0;
}

static int read_children(struct reader *rd, const struct json *v, struct predicate *p,
                         unsigned depth)
{
    int r = wants(rd, v, JSON_ARRAY, "an array");
    if (r < 0)
        return r;
    if (v->n == 0)
        return FAIL(rd, "must not be empty");
    const struct predicate **last = &p->first;
    size_t i = 0;
    json_each (child, v) {
        struct predicate *made = NULL;
        size_t before = path_enter_at(rd, i++);
        r = read_predicate(rd, child, depth + 1, &made);
        if (r < 0)
            return r;
        path_cut(rd, before);
        *last = made;
        last = &made->next;
    }
    return 0;
}

static int read_predicate(struct reader *rd, const struct json *v, unsigned depth,
                          struct predicate **ret)
{
    struct predicate *p = arena_new(rd->a, struct predicate), *child = NULL;
    int r = wants(rd, v, JSON_OBJECT, "an object");
    if (r < 0)
        return r;
    if (depth > PREDICATE_MAX_DEPTH)
        return fail(rd, E_LIMIT, "predicates are nested more than %d deep", PREDICATE_MAX_DEPTH);
    if (++rd->n_predicates > PREDICATE_MAX_NODES)
        return fail(rd, E_LIMIT, "a watch has more than %d predicates", PREDICATE_MAX_NODES);
    if (v->n != 1)
        return FAIL(rd, "must have exactly one of 'changed', 'on', 'labels', 'and', 'or', 'not'");
    const struct json *only = v->first;
    size_t before = path_enter(rd, only->key);
    if (str_is(only->key, "changed")) {
        r = read_changed(rd, only, p);
    } else if (str_is(only->key, "on")) {
        r = read_on(rd, only, p);
    } else if (str_is(only->key, "labels")) {
        r = read_labels(rd, only, p);
    } else if (str_is(only->key, "and") || str_is(only->key, "or")) {
        p->kind = str_is(only->key, "and") ? PREDICATE_AND : PREDICATE_OR;
        r = read_children(rd, only, p, depth);
    } else if (str_is(only->key, "not")) {
        p->kind = PREDICATE_NOT;
        r = read_predicate(rd, only, depth + 1, &child);
        p->first = child;
    } else {
        r = FAIL(rd, "there is no such predicate");
    }
    if (r < 0)
        return r;
    path_cut(rd, before);
    *ret = p;
    return 0;
}

static int read_predicate_member(struct reader *rd, const struct json *v, void *at,
                                 const struct member *m)
{
    struct predicate *p = NULL;
    if (rd->role == WATCH_CACHE)
        return FAIL(rd, "a cache wakes nobody, so it has no predicate");
    rd->n_predicates = 0;
    int r = read_predicate(rd, v, 1, &p);
    if (r >= 0)
        *(const struct predicate **)at = p;
    return r;
}

/* ---------------------------------------------------------------- mappings */

static int must_be_true(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    return json_bool(v) ? 0 : FAIL(rd, "can only be true");
}

static int read_map_value(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    static const char *const words[] = { "name", "namespacedName", "uid", NULL };
    struct declaration_map *map = at;
    int i = 0;
    int r = read_word(rd, v, words, &i);
    if (r >= 0)
        map->value = i == 0 ? MAP_VALUE_NAME : i == 1 ? MAP_VALUE_NAMESPACED_NAME : MAP_VALUE_UID;
    return r;
}

static int read_map_key(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    static const struct member members[] = {
        { .name = "namespace",
          .read = read_namespace,
          .offset = offsetof(struct declaration_map, namespace) },
        { .name = "name",
          .read = read_object_name,
          .offset = offsetof(struct declaration_map, name),
          .required = true },
    };
    return READ_OBJECT(rd, v, members, at);
}

static int read_map(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    static const struct member by_owner[] = { { .name = "owner", .read = must_be_true } };
    static const struct member by_field[] = {
        { .name = "field", .read = read_field, .offset = offsetof(struct declaration_map, field) },
        { .name = "namespaceField",
          .read = read_field,
          .offset = offsetof(struct declaration_map, namespace_field) },
    };
    static const struct member by_label[] = {
        { .name = "label",
          .read = read_label_key,
          .offset = offsetof(struct declaration_map, text) },
    };
    static const struct member by_annotation[] = {
        { .name = "annotation",
          .read = read_label_key,
          .offset = offsetof(struct declaration_map, text) },
    };
    static const struct member by_index[] = {
        { .name = "index", .read = read_name, .offset = offsetof(struct declaration_map, text) },
        { .name = "value", .read = read_map_value, .required = true },
    };
    static const struct member by_all[] = {
        { .name = "all", .read = must_be_true },
        { .name = "sameNamespace",
          .read = read_bool,
          .offset = offsetof(struct declaration_map, same_namespace) },
    };
    static const struct member by_key[] = { { .name = "key", .read = read_map_key } };
    if (rd->role != WATCH_MAPPED)
        return FAIL(rd, "only entries of 'watches' have a map");
    int r = wants(rd, v, JSON_OBJECT, "an object");
    if (r < 0)
        return r;
    struct declaration_map *map = arena_new(rd->a, struct declaration_map);
    *(struct declaration_map **)at = map;
#define BY(word, KIND, table)                                                                      \
    if (json_getc(v, word)) {                                                                      \
        map->kind = KIND;                                                                          \
        return READ_OBJECT(rd, v, table, map);                                                     \
    }
    BY("owner", MAP_OWNER, by_owner)
    BY("field", MAP_FIELD, by_field)
    BY("label", MAP_LABEL, by_label)
    BY("annotation", MAP_ANNOTATION, by_annotation)
    BY("index", MAP_INDEX, by_index)
    BY("all", MAP_ALL, by_all)
    BY("key", MAP_KEY, by_key)
#undef BY
    return FAIL(rd, "must have one of 'owner', 'field', 'label', 'annotation', 'index', 'all', "
                    "'key'");
}

/* ---------------------------------------------------------------- watches */

static int read_index(struct reader *rd, const struct json *v, void *at)
{
    static const struct member members[] = {
        { .name = "name",
          .read = read_name,
          .offset = offsetof(struct declaration_index, name),
          .required = true },
        { .name = "field",
          .read = read_field,
          .offset = offsetof(struct declaration_index, field) },
        { .name = "label",
          .read = read_label_key,
          .offset = offsetof(struct declaration_index, label) },
        { .name = "owner", .read = must_be_true },
    };
    struct declaration_index *index = at;
    int r = READ_OBJECT(rd, v, members, index);
    if (r < 0)
        return r;
    if (v->n != 2)
        return FAIL(rd, "must have exactly one of 'field', 'label', 'owner'");
    index->kind = index->field.path ? INDEX_FIELD : index->label.n ? INDEX_LABEL : INDEX_OWNER;
    return 0;
}

static int read_indexes(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    struct declaration_watch *w = at;
    int r = read_array(rd, v, DECLARATION_MAX_INDEXES, sizeof *w->indexes, read_index,
                       (void **)&w->indexes, &w->n_indexes);
    for (size_t i = 0; r >= 0 && i < w->n_indexes; i++)
        for (size_t j = 0; j < i; j++)
            if (str_eq(w->indexes[i].name, w->indexes[j].name))
                return FAIL(rd, "two indexes are named '" STR_FMT "'", STR_ARG(w->indexes[i].name));
    return r;
}

static int read_strip_path(struct reader *rd, const struct json *v, void *at)
{
    struct declaration_field f = { 0 };
    int r = read_field(rd, v, &f, NULL);
    if (r < 0)
        return r;
    if (f.path->steps[0].p &&
        (str_is(f.path->steps[0], "apiVersion") || str_is(f.path->steps[0], "kind")))
        return FAIL(rd, "cannot be stripped");
    if (f.path->steps[0].p && str_is(f.path->steps[0], "metadata")) {
        static const char *const kept[] = { "name",   "namespace",       "uid",
                                            "labels", "resourceVersion", "ownerReferences" };
        bool hits = f.path->n == 1;
        for (size_t i = 0; i < ARRAY_LEN(kept) && f.path->n > 1; i++)
            hits |= str_is(f.path->steps[1], kept[i]);
        if (hits)
            return FAIL(rd, "cannot be stripped");
    }
    *(struct str *)at = f.text;
    return 0;
}

static int read_strip(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    struct declaration_watch *w = at;
    return read_array(rd, v, DECLARATION_MAX_STRIP, sizeof *w->strip, read_strip_path,
                      (void **)&w->strip, &w->n_strip);
}

static int read_one_namespace(struct reader *rd, const struct json *v, void *at)
{
    return read_namespace(rd, v, at, NULL);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int read_namespaces(struct reader *rd, const struct json *v, void *at,
                           const struct member *m)
{
    struct declaration_watch *w = at;
    int r = read_array(rd, v, DECLARATION_MAX_NAMESPACES, sizeof *w->namespaces, read_one_namespace,
                       (void **)&w->namespaces, &w->n_namespaces);
    if (r < 0)
        return r;
    if (w->n_namespaces == 0)
        return FAIL(rd, "must not be empty; without it, all namespaces are watched");
    qsort(w->namespaces, w->n_namespaces, sizeof *w->namespaces, by_name);
    for (size_t i = 1; i < w->n_namespaces; i++)
        if (str_eq(w->namespaces[i], w->namespaces[i - 1]))
            return FAIL(rd, "'" STR_FMT "' is there twice", STR_ARG(w->namespaces[i]));
    return 0;
}

static int read_selector(struct reader *rd, const struct json *v, void *at,
                         int (*parse)(struct arena *a, struct str text, struct selector *ret,
                                      struct err *err))
{
    struct member bounds = { .max = 2048 }; /* what a shared watch takes (watch_hub.h) */
    struct selector ignored;
    struct err err = { 0 };
    int r = read_text(rd, v, at, &bounds);
    if (r < 0)
        return r;
    struct arena scratch = { 0 };
    r = parse(&scratch, *(struct str *)at, &ignored, &err);
    arena_fini(&scratch);
    return r < 0 ? FAIL(rd, "%s", err_text(&err)) : 0;
}

static int read_label_selector(struct reader *rd, const struct json *v, void *at,
                               const struct member *m)
{
    return read_selector(rd, v, at, selector_parse_labels);
}

static int read_field_selector(struct reader *rd, const struct json *v, void *at,
                               const struct member *m)
{
    return read_selector(rd, v, at, selector_parse_fields);
}

/* "v1", "group/v1" */
static int read_api_version(struct reader *rd, const struct json *v, void *at,
                            const struct member *m)
{
    struct member bounds = { .min = 1, .max = 317 };
    struct str group, version;
    int r = read_text(rd, v, at, &bounds);
    if (r < 0)
        return r;
    struct str s = *(struct str *)at;
    if (!str_cut(s, '/', &group, &version))
        return check_rule(rd, s, meta_check_dns1035_label);
    r = check_rule(rd, group, meta_check_dns1123_subdomain);
    return r < 0 ? r : check_rule(rd, version, meta_check_dns1035_label);
}

static int read_kind(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    struct member bounds = { .min = 1, .max = 63 };
    int r = read_text(rd, v, at, &bounds);
    if (r < 0)
        return r;
    struct str s = *(struct str *)at;
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
              (i && s.p[i] >= '0' && s.p[i] <= '9')))
            return FAIL(rd, "a kind consists of letters and digits");
    return 0;
}

static int read_any_owner(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    if (rd->role != WATCH_OWNS)
        return FAIL(rd, "only entries of 'owns' have it");
    return read_bool(rd, v, at, m);
}

static const struct member watch_members[] = {
    { .name = "id",
      .read = read_name,
      .offset = offsetof(struct declaration_watch, id),
      .required = true },
    { .name = "apiVersion",
      .read = read_api_version,
      .offset = offsetof(struct declaration_watch, api_version),
      .required = true },
    { .name = "kind",
      .read = read_kind,
      .offset = offsetof(struct declaration_watch, kind),
      .required = true },
    { .name = "namespaces", .read = read_namespaces },
    { .name = "name",
      .read = read_object_name,
      .offset = offsetof(struct declaration_watch, name) },
    { .name = "labelSelector",
      .read = read_label_selector,
      .offset = offsetof(struct declaration_watch, label_selector) },
    { .name = "fieldSelector",
      .read = read_field_selector,
      .offset = offsetof(struct declaration_watch, field_selector) },
    { .name = "metadataOnly",
      .read = read_bool,
      .offset = offsetof(struct declaration_watch, metadata_only) },
    { .name = "anyOwner",
      .read = read_any_owner,
      .offset = offsetof(struct declaration_watch, any_owner) },
    { .name = "strip", .read = read_strip },
    { .name = "indexes", .read = read_indexes },
    { .name = "predicate",
      .read = read_predicate_member,
      .offset = offsetof(struct declaration_watch, predicate) },
    { .name = "map", .read = read_map, .offset = offsetof(struct declaration_watch, map) },
};

/* metadataOnly leaves nothing else to be found. */
static int check_metadata_fields(struct reader *rd, const struct declaration_watch *w)
{
    for (size_t i = 0; w->metadata_only && i < w->n_indexes; i++) {
        const struct declaration_index *index = &w->indexes[i];
        if (index->kind != INDEX_FIELD)
            continue;
        struct str first = index->field.path->steps[0];
        if (!first.p || !str_is(first, "metadata"))
            return FAIL(rd, "index '" STR_FMT "' is of a field that metadataOnly leaves out",
                        STR_ARG(index->name));
    }
    return 0;
}

/* Append to the table of watches, whose room was made beforehand. */
static int read_watch(struct reader *rd, const struct json *v)
{
    struct declaration *d = rd->d;
    if (d->n_watches == DECLARATION_MAX_WATCHES)
        return fail(rd, E_LIMIT, "there are more than %d watches", DECLARATION_MAX_WATCHES);
    struct declaration_watch *w = &d->watches[d->n_watches];
    w->role = rd->role;
    w->controller = rd->controller;
    int r = READ_OBJECT(rd, v, watch_members, w);
    if (r < 0)
        return r;
    if (w->role == WATCH_MAPPED && !json_getc(v, "map"))
        return FAIL(rd, "has no 'map', which says whose keys its events concern");
    for (size_t i = 0; i < d->n_watches; i++)
        if (str_eq(d->watches[i].id, w->id))
            return FAIL(rd, "R-id: '" STR_FMT "' is the id of another watch", STR_ARG(w->id));
    d->n_watches++;
    return check_metadata_fields(rd, w);
}

static int read_watches(struct reader *rd, const struct json *v, enum watch_role role)
{
    int r = wants(rd, v, JSON_ARRAY, "an array");
    size_t i = 0;
    rd->role = role;
    json_each (child, v) {
        if (r < 0)
            return r;
        size_t before = path_enter_at(rd, i++);
        r = read_watch(rd, child);
        if (r >= 0)
            path_cut(rd, before);
    }
    return r;
}

/* ---------------------------------------------------------------- controllers */

static int skip(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    return 0; /* read in an order of its own */
}

static int read_backoff(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    static const struct member members[] = {
        { .name = "baseMs",
          .read = read_u64,
          .offset = offsetof(struct declaration_controller, backoff_base_ms),
          .min = 1,
          .max = 86400000 },
        { .name = "maxMs",
          .read = read_u64,
          .offset = offsetof(struct declaration_controller, backoff_max_ms),
          .min = 1,
          .max = 86400000 },
    };
    struct declaration_controller *c = at;
    int r = READ_OBJECT(rd, v, members, c);
    if (r < 0)
        return r;
    return c->backoff_base_ms <= c->backoff_max_ms ? 0 : FAIL(rd, "baseMs is larger than maxMs");
}

static int read_per_second(struct reader *rd, const struct json *v, void *at,
                           const struct member *m)
{
    double value = 0;
    if (!json_is(v, JSON_NUMBER) || json_float(v, &value) < 0 || !(value >= 0.001 && value <= 1e6))
        return FAIL(rd, "must be a number from 0.001 to 1000000");
    *(double *)at = value;
    return 0;
}

static int read_rate(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    static const struct member members[] = {
        { .name = "perSecond",
          .read = read_per_second,
          .offset = offsetof(struct declaration_controller, rate_per_s) },
        { .name = "burst",
          .read = read_u32,
          .offset = offsetof(struct declaration_controller, rate_burst),
          .min = 1,
          .max = 1000000 },
    };
    return READ_OBJECT(rd, v, members, at);
}

static const struct member controller_members[] = {
    { .name = "name",
      .read = read_name,
      .offset = offsetof(struct declaration_controller, name),
      .required = true },
    { .name = "for", .read = skip, .required = true },
    { .name = "owns", .read = skip },
    { .name = "watches", .read = skip },
    { .name = "concurrency",
      .read = read_u32,
      .offset = offsetof(struct declaration_controller, concurrency),
      .min = 1,
      .max = DECLARATION_MAX_INSTANCES },
    { .name = "resyncSeconds",
      .read = read_seconds,
      .offset = offsetof(struct declaration_controller, resync_ms),
      .min = 0,
      .max = 31536000 },
    { .name = "backoff", .read = read_backoff },
    { .name = "rate", .read = read_rate },
    { .name = "slackPercent",
      .read = read_u32,
      .offset = offsetof(struct declaration_controller, slack_percent),
      .min = 0,
      .max = 100 },
    { .name = "debounceMs",
      .read = read_u32,
      .offset = offsetof(struct declaration_controller, debounce_ms),
      .min = 0,
      .max = 60000 },
};

/* Its watches, the primary first whatever the order in the text. */
static int read_controller_watches(struct reader *rd, const struct json *v)
{
    static const struct {
        const char *name;
        enum watch_role role;
    } lists[] = { { "owns", WATCH_OWNS }, { "watches", WATCH_MAPPED } };
    rd->role = WATCH_FOR;
    size_t before = path_enter(rd, STR("for"));
    int r = read_watch(rd, json_getc(v, "for"));
    if (r < 0)
        return r;
    path_cut(rd, before);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct json *list = json_getc(v, lists[i].name);
        if (!list)
            continue;
        before = path_enter(rd, str_of(lists[i].name));
        r = read_watches(rd, list, lists[i].role);
        if (r < 0)
            return r;
        path_cut(rd, before);
    }
    return 0;
}

/* A map by index needs that index at the primary. */
static int resolve_maps(struct reader *rd, const struct declaration_controller *c)
{
    struct declaration_watch *primary = &rd->d->watches[c->first_watch];
    for (uint32_t i = 1; i < c->n_watches; i++) {
        struct declaration_watch *w = primary + i;
        if (w->role != WATCH_MAPPED || w->map->kind != MAP_INDEX)
            continue;
        bool found = false;
        for (size_t at = 0; at < primary->n_indexes && !found; at++) {
            found = str_eq(primary->indexes[at].name, w->map->text);
            if (found)
                w->map->index = (uint32_t)at;
        }
        if (!found)
            return FAIL(rd, "watch '" STR_FMT "' maps by index '" STR_FMT "', which 'for' lacks",
                        STR_ARG(w->id), STR_ARG(w->map->text));
    }
    return 0;
}

static int read_controller(struct reader *rd, const struct json *v, void *at)
{
    struct declaration_controller *c = at;
    *c = (struct declaration_controller){ .first_watch = (uint32_t)rd->d->n_watches,
                                          .concurrency = 1,
                                          .resync_ms = 36000ull * 1000,
                                          .backoff_base_ms = 5,
                                          .backoff_max_ms = 1000000,
                                          .rate_per_s = 10,
                                          .rate_burst = 100,
                                          .slack_percent = 5 };
    int r = READ_OBJECT(rd, v, controller_members, c);
    if (r < 0)
        return r;
    rd->controller = (uint8_t)(c - rd->d->controllers);
    r = read_controller_watches(rd, v);
    if (r < 0)
        return r;
    c->n_watches = (uint32_t)rd->d->n_watches - c->first_watch;
    if (c->concurrency > rd->d->instances)
        return FAIL(rd, "concurrency %u is more than the declared 'instances', %u", c->concurrency,
                    rd->d->instances);
    for (const struct declaration_controller *other = rd->d->controllers; other < c; other++)
        if (str_eq(other->name, c->name))
            return FAIL(rd, "another controller is named '" STR_FMT "'", STR_ARG(c->name));
    return resolve_maps(rd, c);
}

/* ---------------------------------------------------------------- configurations */

static int read_on_change(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    static const char *const words[] = { "none", "activate", "reconcile", NULL };
    struct declaration_config *c = at;
    int i = 0;
    int r = read_word(rd, v, words, &i);
    if (r >= 0)
        c->on_change = i == 0   ? CONFIG_CHANGE_NONE
                       : i == 1 ? CONFIG_CHANGE_ACTIVATE
                                : CONFIG_CHANGE_RECONCILE;
    return r;
}

static int read_config(struct reader *rd, const struct json *v, void *at)
{
    static const struct member members[] = {
        { .name = "name",
          .read = read_name,
          .offset = offsetof(struct declaration_config, name),
          .required = true },
        { .name = "configMap",
          .read = read_subdomain,
          .offset = offsetof(struct declaration_config, object) },
        { .name = "secret",
          .read = read_subdomain,
          .offset = offsetof(struct declaration_config, object) },
        { .name = "namespace",
          .read = read_namespace,
          .offset = offsetof(struct declaration_config, namespace) },
        { .name = "optional",
          .read = read_bool,
          .offset = offsetof(struct declaration_config, optional) },
        { .name = "onChange", .read = read_on_change },
    };
    struct declaration_config *c = at;
    int r = READ_OBJECT(rd, v, members, c);
    if (r < 0)
        return r;
    c->secret = json_getc(v, "secret") != NULL;
    if (c->secret == (json_getc(v, "configMap") != NULL))
        return FAIL(rd, "must have exactly one of 'configMap', 'secret'");
    for (const struct declaration_config *other = rd->d->configs; other < c; other++)
        if (str_eq(other->name, c->name))
            return FAIL(rd, "another configuration is named '" STR_FMT "'", STR_ARG(c->name));
    return 0;
}

/* ---------------------------------------------------------------- metrics */

/* [a-zA-Z_][a-zA-Z0-9_]*, and ':' in names of metrics. */
static bool is_prometheus_name(struct str s, bool colon)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
              (i && c >= '0' && c <= '9') || (colon && c == ':')))
            return false;
    }
    return s.n > 0;
}

static int read_label_name(struct reader *rd, const struct json *v, void *at)
{
    struct member bounds = { .min = 1, .max = 128 };
    int r = read_text(rd, v, at, &bounds);
    if (r < 0)
        return r;
    struct str s = *(struct str *)at;
    if (!is_prometheus_name(s, false) || str_has_prefix(s, STR("__")))
        return FAIL(rd, "'" STR_FMT "' is no name of a Prometheus label", STR_ARG(s));
    if (str_is(s, "operator") || str_is(s, "le"))
        return FAIL(rd, "the label '" STR_FMT "' is the host's", STR_ARG(s));
    return 0;
}

static int read_metric_labels(struct reader *rd, const struct json *v, void *at,
                              const struct member *m)
{
    struct declaration_metric *metric = at;
    int r = read_array(rd, v, DECLARATION_MAX_LABELS, sizeof *metric->labels, read_label_name,
                       (void **)&metric->labels, &metric->n_labels);
    for (size_t i = 0; r >= 0 && i < metric->n_labels; i++)
        for (size_t j = 0; j < i; j++)
            if (str_eq(metric->labels[i], metric->labels[j]))
                return FAIL(rd, "'" STR_FMT "' is there twice", STR_ARG(metric->labels[i]));
    return r;
}

static int read_bound(struct reader *rd, const struct json *v, void *at)
{
    if (!json_is(v, JSON_NUMBER) || json_float(v, at) < 0 || !isfinite(*(double *)at))
        return FAIL(rd, "must be a number");
    return 0;
}

static int read_buckets(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    struct declaration_metric *metric = at;
    int r = read_array(rd, v, DECLARATION_MAX_BUCKETS, sizeof *metric->buckets, read_bound,
                       (void **)&metric->buckets, &metric->n_buckets);
    if (r < 0)
        return r;
    if (metric->n_buckets == 0)
        return FAIL(rd, "must not be empty");
    for (size_t i = 1; i < metric->n_buckets; i++)
        if (metric->buckets[i] <= metric->buckets[i - 1])
            return FAIL(rd, "bounds must rise");
    return 0;
}

static int read_metric_type(struct reader *rd, const struct json *v, void *at,
                            const struct member *m)
{
    static const char *const words[] = { "counter", "gauge", "histogram", NULL };
    struct declaration_metric *metric = at;
    int i = 0;
    int r = read_word(rd, v, words, &i);
    if (r >= 0)
        metric->type = i == 0 ? METRIC_COUNTER : i == 1 ? METRIC_GAUGE : METRIC_HISTOGRAM;
    return r;
}

static int read_metric_name(struct reader *rd, const struct json *v, void *at,
                            const struct member *m)
{
    struct member bounds = { .min = 1, .max = 128 };
    int r = read_text(rd, v, at, &bounds);
    if (r < 0)
        return r;
    struct str s = *(struct str *)at;
    if (!is_prometheus_name(s, true))
        return FAIL(rd, "'" STR_FMT "' is no name of a Prometheus metric", STR_ARG(s));
    if (str_has_prefix(s, STR("dormouse_")) || str_has_prefix(s, STR("controller_runtime_")) ||
        str_has_prefix(s, STR("workqueue_")))
        return FAIL(rd, "names of this prefix are the host's");
    return 0;
}

/* Prometheus' own. */
static const double default_buckets[] = { .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10 };

static int read_metric(struct reader *rd, const struct json *v, void *at)
{
    static const struct member members[] = {
        { .name = "name",
          .read = read_metric_name,
          .offset = offsetof(struct declaration_metric, name),
          .required = true },
        { .name = "type", .read = read_metric_type, .required = true },
        { .name = "help",
          .read = read_text,
          .offset = offsetof(struct declaration_metric, help),
          .max = 1024 },
        { .name = "labels", .read = read_metric_labels },
        { .name = "buckets", .read = read_buckets },
    };
    struct declaration_metric *metric = at;
    int r = READ_OBJECT(rd, v, members, metric);
    if (r < 0)
        return r;
    if (metric->n_buckets && metric->type != METRIC_HISTOGRAM)
        return FAIL(rd, "only a histogram has buckets");
    if (metric->type == METRIC_HISTOGRAM && !metric->n_buckets) {
        metric->n_buckets = ARRAY_LEN(default_buckets);
        metric->buckets = arena_new_n(rd->a, double, metric->n_buckets);
        memcpy(metric->buckets, default_buckets, sizeof default_buckets);
    }
    for (const struct declaration_metric *other = rd->d->metrics; other < metric; other++)
        if (str_eq(other->name, metric->name))
            return FAIL(rd, "another metric is named '" STR_FMT "'", STR_ARG(metric->name));
    return 0;
}

/* ---------------------------------------------------------------- the whole */

static int read_version(struct reader *rd, const struct json *v, void *at, const struct member *m)
{
    int64_t n = 0;
    if (!json_is(v, JSON_NUMBER) || json_int(v, &n) < 0 || n != 1)
        return FAIL(rd, "must be 1");
    return 0;
}

static const struct member members_of_all[] = {
    { .name = "abi", .read = read_version },
    { .name = "name", .read = read_text, .offset = offsetof(struct declaration, name), .max = 253 },
    { .name = "version",
      .read = read_text,
      .offset = offsetof(struct declaration, version),
      .max = 253 },
    { .name = "stateless", .read = read_bool, .offset = offsetof(struct declaration, stateless) },
    { .name = "instances",
      .read = read_u32,
      .offset = offsetof(struct declaration, instances),
      .min = 1,
      .max = DECLARATION_MAX_INSTANCES },
    { .name = "controllers", .read = skip, .required = true },
    { .name = "caches", .read = skip },
    { .name = "config", .read = skip },
    { .name = "metrics", .read = skip },
};

/* Room for all watches, so that the table does not move while it grows. */
static void make_watches(struct reader *rd, const struct json *v)
{
    size_t n = json_getc(v, "caches") ? json_getc(v, "caches")->n : 0;
    json_each (c, json_getc(v, "controllers")) {
        const struct json *owns = json_getc(c, "owns"), *watches = json_getc(c, "watches");
        n += 1 + (json_is(owns, JSON_ARRAY) ? owns->n : 0) +
             (json_is(watches, JSON_ARRAY) ? watches->n : 0);
    }
    n = MIN(n, (size_t)DECLARATION_MAX_WATCHES);
    rd->d->watches = arena_new_n(rd->a, struct declaration_watch, n ? n : 1);
}

/* One of the arrays of the whole; nothing if it is not there. */
static int read_list(struct reader *rd, const struct json *all, const char *name, size_t max,
                     size_t size, int (*read)(struct reader *rd, const struct json *v, void *at),
                     void **ret, size_t *ret_n)
{
    const struct json *list = json_getc(all, name);
    if (!list)
        return 0;
    size_t before = path_enter(rd, str_of(name));
    int r = read_array(rd, list, max, size, read, ret, ret_n);
    if (r >= 0)
        path_cut(rd, before);
    return r;
}

static int read_lists(struct reader *rd, const struct json *v)
{
    struct declaration *d = rd->d;
    make_watches(rd, v);
    int r = read_list(rd, v, "controllers", DECLARATION_MAX_CONTROLLERS, sizeof *d->controllers,
                      read_controller, (void **)&d->controllers, &d->n_controllers);
    const struct json *caches = json_getc(v, "caches");
    if (r >= 0 && caches) {
        size_t before = path_enter(rd, STR("caches"));
        r = read_watches(rd, caches, WATCH_CACHE);
        if (r >= 0)
            path_cut(rd, before);
    }
    if (r >= 0)
        r = read_list(rd, v, "config", DECLARATION_MAX_CONFIGS, sizeof *d->configs, read_config,
                      (void **)&d->configs, &d->n_configs);
    if (r >= 0)
        r = read_list(rd, v, "metrics", DECLARATION_MAX_METRICS, sizeof *d->metrics, read_metric,
                      (void **)&d->metrics, &d->n_metrics);
    return r;
}

static int parse(struct declaration *d, struct str bytes, struct err *err)
{
    struct arena scratch = { .max_bytes = (size_t)DECLARATION_MAX_BYTES * 64 };
    struct json_parse_opts opts = { .max_depth = DECLARATION_MAX_DEPTH };
    struct json *v = NULL;
    struct reader rd = { .d = d, .a = &d->arena, .err = err };
    d->instances = 1;
    int r = json_parse(&scratch, bytes, &opts, &v, err);
    if (r < 0)
        r = err_ctx(err, r, "declaration");
    else
        r = READ_OBJECT(&rd, v, members_of_all, d);
    if (r >= 0)
        r = read_lists(&rd, v);
    arena_fini(&scratch);
    return r;
}

static void free_declaration(struct declaration *d)
{
    arena_fini(&d->arena);
    record_free(d);
}
DEFINE_SCOPED(declaration, free_declaration)

void declarations_init(struct declarations *ds)
{
    *ds = (struct declarations){ .map.borrows_keys = true };
}

void declarations_fini(struct declarations *ds)
{
    assert(ds->map.n == 0);
    map_fini(&ds->map);
}

int declaration_get(struct declarations *ds, struct str bytes, struct declaration **ret,
                    struct err *err)
{
    if (bytes.n > DECLARATION_MAX_BYTES)
        return err_set(err, E_LIMIT, "a declaration is larger than %d bytes",
                       DECLARATION_MAX_BYTES);
    uint8_t digest[SHA256_BYTES];
    sha256_of(bytes, digest);
    struct str key = str_n((const char *)digest, sizeof digest);
    struct declaration *found = map_get(&ds->map, key);
    if (found) {
        found->refs++;
        *ret = found;
        return 0;
    }
    struct declaration measured = { 0 };
    int r = parse(&measured, bytes, err);
    size_t size = measured.arena.total_bytes;
    arena_fini(&measured.arena);
    if (r < 0)
        return r;
    scoped(free_declaration_scoped) struct declaration *d = record_new(struct declaration);
    d->arena.block_bytes = size; /* all of it in one block */
    r = parse(d, bytes, err);
    assert(r >= 0 && d->arena.total_bytes == size);
    memcpy(d->digest, digest, sizeof digest);
    d->refs = 1;
    d->owner = ds;
    (void)map_put(&ds->map, str_n((const char *)d->digest, sizeof d->digest), d);
    *ret = take_ptr(&d);
    return 0;
}

void declaration_unref(struct declaration *d)
{
    if (!d || --d->refs > 0)
        return;
    (void)map_del(&d->owner->map, str_n((const char *)d->digest, sizeof d->digest));
    free_declaration(d);
}

const struct declaration_watch *declaration_watch(const struct declaration *d, struct str id)
{
    for (size_t i = 0; i < d->n_watches; i++)
        if (str_eq(d->watches[i].id, id))
            return &d->watches[i];
    return NULL;
}

const struct declaration_controller *declaration_controller(const struct declaration *d,
                                                            struct str name)
{
    for (size_t i = 0; i < d->n_controllers; i++)
        if (str_eq(d->controllers[i].name, name))
            return &d->controllers[i];
    return NULL;
}

const struct declaration_config *declaration_config(const struct declaration *d, struct str name)
{
    for (size_t i = 0; i < d->n_configs; i++)
        if (str_eq(d->configs[i].name, name))
            return &d->configs[i];
    return NULL;
}
