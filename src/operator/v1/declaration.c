/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations; see declaration.h.
 *
 * Each kind of JSON object has a table for codec/bind. Order: strings, then tables from the leaves
 * up, with the checks across objects.
 */
#include "operator/v1/declaration.h"

#include "base/slab.h"
#include "codec/bind.h"
#include "codec/digest.h"
#include "kube/model/meta.h"

#include <assert.h>

struct declaration_reader {
    struct bind b;
    struct declaration *d;
    enum watch_role role;  /* of the current watch */
    uint8_t controller;    /* of the current watch */
    unsigned n_predicates; /* of the current watch */
    unsigned depth;        /* of the current predicate */
};

static struct declaration_reader *reader_of(struct bind *b)
{
    return container_of(b, struct declaration_reader, b);
}

/* ---------------------------------------------------------------- strings */

static int check_rule(struct bind *b, struct str s, meta_rule rule)
{
    struct meta_problems problems = rule(s);
    return problems.n == 0
               ? 0
               : BIND_FAIL(b, "'" STR_FMT "': %s", STR_ARG(str_slice(s, 0, 80)), problems.text[0]);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Names chosen by the guest: they appear in labels of metrics, log lines and file names. */
static int check_name(struct bind *b, const struct json *v, void *at)
{
    struct str s = *(struct str *)at;
    for (size_t i = 0; i < s.n; i++)
        if (!is_letter(s.p[i]) && !is_digit(s.p[i]) && !strchr("-_.", s.p[i]))
            return BIND_FAIL(b, "a name consists of letters, digits, '-', '_' and '.'");
    return 0;
}

static int check_subdomain(struct bind *b, const struct json *v, void *at)
{
    return check_rule(b, *(struct str *)at, meta_check_dns1123_subdomain);
}

/* A name of an object: some kinds (RBAC) allow more than a DNS name. */
static int check_object_name(struct bind *b, const struct json *v, void *at)
{
    return check_rule(b, *(struct str *)at, meta_check_path_segment);
}

static int check_namespace(struct bind *b, const struct json *v, void *at)
{
    return check_rule(b, *(struct str *)at, meta_check_dns1123_label);
}

static int check_label_key(struct bind *b, const struct json *v, void *at)
{
    return check_rule(b, *(struct str *)at, meta_check_qualified_name);
}

/* The text of a struct declaration_field. */
static int check_field(struct bind *b, const struct json *v, void *at)
{
    struct declaration_field *f = container_of(at, struct declaration_field, text);
    struct err err = { 0 };
    if (field_path_parse(b->arena, f->text, &f->path, &err) < 0)
        return BIND_FAIL(b, "%s", err_text(&err));
    return 0;
}

#define NAME        .min = 1, .max = DECLARATION_MAX_NAME_BYTES, .check = check_name
#define SUBDOMAIN   .min = 1, .max = 253, .check = check_subdomain
#define OBJECT_NAME .min = 1, .max = 253, .check = check_object_name
#define NAMESPACE   .min = 1, .max = 63, .check = check_namespace
#define LABEL_KEY   .min = 1, .max = 317, .check = check_label_key
#define FIELD       .min = 1, .max = FIELD_PATH_MAX_BYTES, .check = check_field

/* Lists are short, so pairs are compared. Returns an element that occurs twice; NULL: none. */
static const struct str *repeated(const void *list, size_t n, size_t stride, size_t name_at)
{
    const char *names = (const char *)list + name_at;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (str_eq(*(const struct str *)(names + i * stride),
                       *(const struct str *)(names + j * stride)))
                return (const struct str *)(names + i * stride);
    return NULL;
}

/* ---------------------------------------------------------------- predicates */

static const struct bind_table predicate_table;

static int read_on(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    static const char *const names[] = {
        [OBJECT_ADDED] = "create", [OBJECT_UPDATED] = "update", [OBJECT_DELETED] = "delete"
    };
    static const struct bind_field event = { .kind = BIND_KIND_ENUM,
                                             .size = sizeof(unsigned),
                                             .names = names,
                                             .n_names = ARRAY_LEN(names) };
    struct predicate *p = to;
    p->kind = PREDICATE_ON;
    if (!json_is(v, JSON_ARRAY))
        return BIND_FAIL(b, "must be an array");
    json_each (child, v) {
        unsigned i = 0;
        int r = bind_read_value(b, &event, child, &i);
        if (r < 0)
            return r;
        p->types |= 1u << i;
    }
    return p->types ? 0 : BIND_FAIL(b, "must not be empty");
}

static int read_labels(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    struct predicate *p = to;
    struct err err = { 0 };
    p->kind = PREDICATE_MATCHES;
    if (!json_is(v, JSON_STRING))
        return BIND_FAIL(b, "must be a label selector");
    if (selector_parse_labels(b->arena, json_str(v), &p->selector, &err) < 0)
        return BIND_FAIL(b, "%s", err_text(&err));
    return 0;
}

static int read_predicate(struct bind *b, const struct json *v, struct predicate **ret)
{
    struct declaration_reader *rd = reader_of(b);
    struct predicate *p = *ret = arena_new(b->arena, struct predicate);
    if (rd->depth == PREDICATE_MAX_DEPTH)
        return bind_fail(b, E_LIMIT, "predicates are nested more than %d deep",
                         PREDICATE_MAX_DEPTH);
    if (++rd->n_predicates > PREDICATE_MAX_NODES)
        return bind_fail(b, E_LIMIT, "a watch has more than %d predicates", PREDICATE_MAX_NODES);
    if (json_is(v, JSON_OBJECT) && v->n != 1)
        return BIND_FAIL(b,
                         "must have exactly one of 'changed', 'on', 'labels', 'and', 'or', 'not'");
    rd->depth++;
    int r = bind_read(b, &predicate_table, v, p);
    rd->depth--;
    return r;
}

static int read_children(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    struct predicate *p = to, *child;
    const struct predicate **last = &p->first;
    const struct fpath *here = b->at;
    size_t i = 0;
    p->kind = str_is(f->name, "and") ? PREDICATE_AND : PREDICATE_OR;
    if (!json_is(v, JSON_ARRAY))
        return BIND_FAIL(b, "must be an array");
    if (v->n == 0)
        return BIND_FAIL(b, "must not be empty");
    json_each (item, v) {
        struct fpath at = fpath_index(here, i++);
        b->at = &at;
        int r = read_predicate(b, item, &child);
        b->at = here;
        if (r < 0)
            return r;
        *last = child;
        last = &child->next;
    }
    return 0;
}

static int read_not(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    struct predicate *p = to, *child;
    p->kind = PREDICATE_NOT;
    int r = read_predicate(b, v, &child);
    p->first = child;
    return r;
}

static const char *const changes[] = { [PREDICATE_GENERATION] = "generation",
                                       [PREDICATE_LABELS] = "labels",
                                       [PREDICATE_ANNOTATIONS] = "annotations",
                                       [PREDICATE_RESOURCE_VERSION] = "resourceVersion" };
static const struct bind_field predicate_fields[] = {
    BIND_ENUM("changed", struct predicate, kind, changes),
    BIND_WHOLE("on", read_on),
    BIND_WHOLE("labels", read_labels),
    BIND_WHOLE("and", read_children),
    BIND_WHOLE("or", read_children),
    BIND_WHOLE("not", read_not),
};
static const struct bind_table predicate_table = BIND_TABLE(predicate_fields);

static int read_watch_predicate(struct bind *b, const struct bind_field *f, const struct json *v,
                                void *to)
{
    struct predicate *p = NULL;
    if (reader_of(b)->role == WATCH_CACHE)
        return BIND_FAIL(b, "a cache wakes no controller, so it has no predicate");
    reader_of(b)->n_predicates = 0;
    int r = read_predicate(b, v, &p);
    if (r >= 0)
        *(const struct predicate **)to = p;
    return r;
}

/* ---------------------------------------------------------------- mappings */

static int must_be_true(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    return json_bool(v) ? 0 : BIND_FAIL(b, "can only be true");
}

static const char *const map_values[] = { [MAP_VALUE_NAME] = "name",
                                          [MAP_VALUE_NAMESPACED_NAME] = "namespacedName",
                                          [MAP_VALUE_UID] = "uid" };
static const struct bind_field map_key_fields[] = {
    BIND_STR("namespace", struct declaration_map, namespace, NAMESPACE),
    BIND_STR("name", struct declaration_map, name, OBJECT_NAME, .flags = BIND_REQUIRED),
};
static const struct bind_table map_key = BIND_TABLE(map_key_fields);

static const struct bind_field by_owner[] = { BIND_WHOLE("owner", must_be_true) };
static const struct bind_field by_field[] = {
    BIND_STR("field", struct declaration_map, field.text, FIELD),
    BIND_STR("namespaceField", struct declaration_map, namespace_field.text, FIELD),
};
static const struct bind_field by_label[] = {
    BIND_STR("label", struct declaration_map, text, LABEL_KEY),
};
static const struct bind_field by_annotation[] = {
    BIND_STR("annotation", struct declaration_map, text, LABEL_KEY),
};
static const struct bind_field by_index[] = {
    BIND_STR("index", struct declaration_map, text, NAME),
    BIND_ENUM("value", struct declaration_map, value, map_values, .flags = BIND_REQUIRED),
};
static const struct bind_field by_all[] = {
    BIND_WHOLE("all", must_be_true),
    BIND_BOOL("sameNamespace", struct declaration_map, same_namespace),
};
static const struct bind_field by_key[] = { BIND_INLINE("key", &map_key) };

/* The member of its first field selects the table. */
static const struct bind_table maps[] = {
    [MAP_OWNER] = BIND_TABLE(by_owner), [MAP_FIELD] = BIND_TABLE(by_field),
    [MAP_LABEL] = BIND_TABLE(by_label), [MAP_ANNOTATION] = BIND_TABLE(by_annotation),
    [MAP_INDEX] = BIND_TABLE(by_index), [MAP_ALL] = BIND_TABLE(by_all),
    [MAP_KEY] = BIND_TABLE(by_key),
};

static int read_map(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    if (reader_of(b)->role != WATCH_MAPPED)
        return BIND_FAIL(b, "only entries of 'watches' have a map");
    if (!json_is(v, JSON_OBJECT))
        return BIND_FAIL(b, "must be an object");
    struct declaration_map *map = arena_new(b->arena, struct declaration_map);
    *(struct declaration_map **)to = map;
    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        if (json_get(v, maps[i].fields[0].name)) {
            map->kind = (unsigned)i;
            return bind_read(b, &maps[i], v, map);
        }
    return BIND_FAIL(b, "must have one of 'owner', 'field', 'label', 'annotation', 'index', 'all', "
                        "'key'");
}

/* ---------------------------------------------------------------- watches */

static int check_index(struct bind *b, const struct json *v, void *at)
{
    struct declaration_index *index = at;
    if (v->n != 2)
        return BIND_FAIL(b, "must have exactly one of 'field', 'label', 'owner'");
    index->kind = index->field.path ? INDEX_FIELD : index->label.n ? INDEX_LABEL : INDEX_OWNER;
    return 0;
}

static const struct bind_field index_fields[] = {
    BIND_STR("name", struct declaration_index, name, NAME, .flags = BIND_REQUIRED),
    BIND_STR("field", struct declaration_index, field.text, FIELD),
    BIND_STR("label", struct declaration_index, label, LABEL_KEY),
    BIND_WHOLE("owner", must_be_true),
};
static const struct bind_table index_table = BIND_TABLE(index_fields, .check = check_index);

static int check_indexes(struct bind *b, const struct json *v, void *at)
{
    const struct declaration_watch *w = container_of(at, struct declaration_watch, indexes);
    const struct str *twice = repeated(w->indexes, w->n_indexes, sizeof *w->indexes,
                                       offsetof(struct declaration_index, name));
    return twice ? BIND_FAIL(b, "two indexes are named '" STR_FMT "'", STR_ARG(*twice)) : 0;
}

static int check_strip(struct bind *b, const struct json *v, void *at)
{
    static const char *const kept[] = { "name",   "namespace",       "uid",
                                        "labels", "resourceVersion", "ownerReferences" };
    const struct field_path *path;
    struct err err = { 0 };
    if (field_path_parse(b->arena, *(struct str *)at, &path, &err) < 0)
        return BIND_FAIL(b, "%s", err_text(&err));
    struct str first = path->steps[0].p ? path->steps[0] : STR("");
    bool hits = str_is(first, "apiVersion") || str_is(first, "kind");
    if (str_is(first, "metadata")) {
        hits = path->n == 1;
        for (size_t i = 0; i < ARRAY_LEN(kept) && path->n > 1; i++)
            hits |= str_is(path->steps[1], kept[i]);
    }
    return hits ? BIND_FAIL(b, "cannot be stripped") : 0;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int check_namespaces(struct bind *b, const struct json *v, void *at)
{
    struct declaration_watch *w = container_of(at, struct declaration_watch, namespaces);
    if (w->n_namespaces == 0)
        return BIND_FAIL(b, "must not be empty; without it, all namespaces are watched");
    qsort(w->namespaces, w->n_namespaces, sizeof *w->namespaces, by_name);
    const struct str *twice = repeated(w->namespaces, w->n_namespaces, sizeof(struct str), 0);
    return twice ? BIND_FAIL(b, "'" STR_FMT "' is there twice", STR_ARG(*twice)) : 0;
}

static int check_selector(struct bind *b, const void *at,
                          int (*parse)(struct arena *a, struct str text, struct selector *ret,
                                       struct err *err))
{
    struct selector ignored;
    struct err err = { 0 };
    struct arena scratch = { 0 };
    int r = parse(&scratch, *(const struct str *)at, &ignored, &err);
    arena_fini(&scratch);
    return r < 0 ? BIND_FAIL(b, "%s", err_text(&err)) : 0;
}

static int check_label_selector(struct bind *b, const struct json *v, void *at)
{
    return check_selector(b, at, selector_parse_labels);
}

static int check_field_selector(struct bind *b, const struct json *v, void *at)
{
    return check_selector(b, at, selector_parse_fields);
}

/* "v1", "group/v1" */
static int check_api_version(struct bind *b, const struct json *v, void *at)
{
    struct str s = *(struct str *)at, group, version;
    if (!str_cut(s, '/', &group, &version))
        return check_rule(b, s, meta_check_dns1035_label);
    int r = check_rule(b, group, meta_check_dns1123_subdomain);
    return r < 0 ? r : check_rule(b, version, meta_check_dns1035_label);
}

static int check_kind(struct bind *b, const struct json *v, void *at)
{
    struct str s = *(struct str *)at;
    for (size_t i = 0; i < s.n; i++)
        if (!is_letter(s.p[i]) && (i == 0 || !is_digit(s.p[i])))
            return BIND_FAIL(b, "a kind consists of letters and digits");
    return 0;
}

static int check_any_owner(struct bind *b, const struct json *v, void *at)
{
    return reader_of(b)->role == WATCH_OWNS ? 0 : BIND_FAIL(b, "only entries of 'owns' have it");
}

/* With metadataOnly only metadata fields are available. */
static int check_metadata_fields(struct bind *b, const struct declaration_watch *w)
{
    for (size_t i = 0; w->metadata_only && i < w->n_indexes; i++) {
        const struct declaration_index *index = &w->indexes[i];
        if (index->kind != INDEX_FIELD)
            continue;
        struct str first = index->field.path->steps[0];
        if (!first.p || !str_is(first, "metadata"))
            return BIND_FAIL(b, "index '" STR_FMT "' is of a field that metadataOnly leaves out",
                             STR_ARG(index->name));
    }
    return 0;
}

static int check_watch(struct bind *b, const struct json *v, void *at)
{
    struct declaration *d = reader_of(b)->d;
    struct declaration_watch *w = at;
    if (w->role == WATCH_MAPPED && !w->map)
        return BIND_FAIL(b, "has no 'map', which says whose keys its events concern");
    for (size_t i = 0; i < d->n_watches; i++)
        if (str_eq(d->watches[i].id, w->id))
            return BIND_FAIL(b, "R-id: '" STR_FMT "' is the id of another watch", STR_ARG(w->id));
    return check_metadata_fields(b, w);
}

enum { WATCH_SELECTOR_MAX_BYTES = 2048 }; /* the limit of a shared watch (client/watch_hub.h) */

static const struct bind_field one_namespace = { .kind = BIND_KIND_STR, NAMESPACE };
static const struct bind_field one_strip = {
    .kind = BIND_KIND_STR, .min = 1, .max = FIELD_PATH_MAX_BYTES, .check = check_strip
};
#define WATCH struct declaration_watch
static const struct bind_field watch_fields[] = {
    BIND_STR("id", WATCH, id, NAME, .flags = BIND_REQUIRED),
    BIND_STR("apiVersion", WATCH, api_version, .min = 1, .max = 317, .check = check_api_version,
             .flags = BIND_REQUIRED),
    BIND_STR("kind", WATCH, kind, .min = 1, .max = 63, .check = check_kind, .flags = BIND_REQUIRED),
    BIND_ARRAY("namespaces", WATCH, namespaces, n_namespaces, &one_namespace,
               DECLARATION_MAX_NAMESPACES, .check = check_namespaces),
    BIND_STR("name", WATCH, name, OBJECT_NAME),
    BIND_STR("labelSelector", WATCH, label_selector, .max = WATCH_SELECTOR_MAX_BYTES,
             .check = check_label_selector),
    BIND_STR("fieldSelector", WATCH, field_selector, .max = WATCH_SELECTOR_MAX_BYTES,
             .check = check_field_selector),
    BIND_BOOL("metadataOnly", WATCH, metadata_only),
    BIND_BOOL("anyOwner", WATCH, any_owner, .check = check_any_owner),
    BIND_ARRAY("strip", WATCH, strip, n_strip, &one_strip, DECLARATION_MAX_STRIP),
    BIND_OBJECTS("indexes", WATCH, indexes, n_indexes, &index_table, DECLARATION_MAX_INDEXES,
                 .check = check_indexes),
    BIND_CUSTOM("predicate", WATCH, predicate, read_watch_predicate),
    BIND_CUSTOM("map", WATCH, map, read_map),
};
static const struct bind_table watch_table = BIND_TABLE(watch_fields, .check = check_watch);

/* Append to the table of watches, which was allocated with enough room. */
static int read_watch(struct bind *b, const struct json *v, enum watch_role role)
{
    struct declaration_reader *rd = reader_of(b);
    struct declaration *d = rd->d;
    if (d->n_watches == DECLARATION_MAX_WATCHES)
        return bind_fail(b, E_LIMIT, "there are more than %d watches", DECLARATION_MAX_WATCHES);
    struct declaration_watch *w = &d->watches[d->n_watches];
    w->role = rd->role = role;
    w->controller = rd->controller;
    int r = bind_read(b, &watch_table, v, w);
    if (r >= 0)
        d->n_watches++;
    return r;
}

static int read_watches(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    enum watch_role role = str_is(f->name, "owns")      ? WATCH_OWNS
                           : str_is(f->name, "watches") ? WATCH_MAPPED
                                                        : WATCH_CACHE;
    const struct fpath *here = b->at;
    size_t i = 0;
    int r = 0;
    if (!json_is(v, JSON_ARRAY))
        return BIND_FAIL(b, "must be an array");
    json_each (item, v) {
        struct fpath at = fpath_index(here, i++);
        b->at = &at;
        r = read_watch(b, item, role);
        b->at = here;
        if (r < 0)
            return r;
    }
    return r;
}

/* ---------------------------------------------------------------- controllers */

/* The first of the controller's watches, regardless of its position in the text. */
static int read_for(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    struct declaration_reader *rd = reader_of(b);
    struct declaration_controller *c = to;
    rd->controller = (uint8_t)(c - rd->d->controllers);
    c->first_watch = (uint32_t)rd->d->n_watches;
    return read_watch(b, v, WATCH_FOR);
}

static int check_backoff(struct bind *b, const struct json *v, void *at)
{
    const struct declaration_controller *c = at;
    return c->backoff_base_ms <= c->backoff_max_ms ? 0
                                                   : BIND_FAIL(b, "baseMs is larger than maxMs");
}

static int read_rate(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    double rate = 0;
    if (json_float(v, &rate) < 0 || !(rate >= 0.001 && rate <= 1e6))
        return BIND_FAIL(b, "must be a number from 0.001 to 1000000");
    *(double *)to = rate;
    return 0;
}

/* In seconds. */
static int check_resync(struct bind *b, const struct json *v, void *at)
{
    *(uint64_t *)at *= 1000;
    return 0;
}

#define CONTROLLER struct declaration_controller
static const struct bind_field backoff_fields[] = {
    BIND_UINT("baseMs", CONTROLLER, backoff_base_ms, .min = 1, .max = 86400000),
    BIND_UINT("maxMs", CONTROLLER, backoff_max_ms, .min = 1, .max = 86400000),
};
static const struct bind_table backoff_table = BIND_TABLE(backoff_fields, .check = check_backoff);
static const struct bind_field rate_fields[] = {
    BIND_CUSTOM("perSecond", CONTROLLER, rate_per_s, read_rate),
    BIND_UINT("burst", CONTROLLER, rate_burst, .min = 1, .max = 1000000),
};
static const struct bind_table rate_table = BIND_TABLE(rate_fields);

/* A map by index requires that index on the primary. */
static int resolve_maps(struct bind *b, const struct declaration_controller *c)
{
    struct declaration_watch *primary = &reader_of(b)->d->watches[c->first_watch];
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
            return BIND_FAIL(b,
                             "watch '" STR_FMT "' maps by index '" STR_FMT "', which 'for' lacks",
                             STR_ARG(w->id), STR_ARG(w->map->text));
    }
    return 0;
}

static int check_controller(struct bind *b, const struct json *v, void *at)
{
    const struct declaration *d = reader_of(b)->d;
    struct declaration_controller *c = at;
    c->n_watches = (uint32_t)d->n_watches - c->first_watch;
    if (c->concurrency > d->instances)
        return BIND_FAIL(b, "concurrency %u is more than the declared 'instances', %u",
                         c->concurrency, d->instances);
    for (const struct declaration_controller *other = d->controllers; other < c; other++)
        if (str_eq(other->name, c->name))
            return BIND_FAIL(b, "another controller is named '" STR_FMT "'", STR_ARG(c->name));
    return resolve_maps(b, c);
}

static const struct bind_field controller_fields[] = {
    BIND_STR("name", CONTROLLER, name, NAME, .flags = BIND_REQUIRED),
    BIND_WHOLE("for", read_for, .flags = BIND_REQUIRED | BIND_LATER),
    BIND_WHOLE("owns", read_watches, .flags = BIND_LATER),
    BIND_WHOLE("watches", read_watches, .flags = BIND_LATER),
    BIND_UINT("concurrency", CONTROLLER, concurrency, .min = 1, .max = DECLARATION_MAX_INSTANCES),
    BIND_UINT("resyncSeconds", CONTROLLER, resync_ms, .max = 31536000, .check = check_resync),
    BIND_INLINE("backoff", &backoff_table),
    BIND_INLINE("rate", &rate_table),
    BIND_UINT("slackPercent", CONTROLLER, slack_percent, .max = 100),
    BIND_UINT("debounceMs", CONTROLLER, debounce_ms, .max = 60000),
};
static const struct declaration_controller controller_preset = { .concurrency = 1,
                                                                 .resync_ms = 36000ull * 1000,
                                                                 .backoff_base_ms = 5,
                                                                 .backoff_max_ms = 1000000,
                                                                 .rate_per_s = 10,
                                                                 .rate_burst = 100,
                                                                 .slack_percent = 5 };
static const struct bind_table controller_table =
    BIND_TABLE(controller_fields, .size = sizeof(CONTROLLER), .preset = &controller_preset,
               .check = check_controller);

/* ---------------------------------------------------------------- configurations */

static int check_config(struct bind *b, const struct json *v, void *at)
{
    struct declaration_config *c = at;
    c->secret = json_getc(v, "secret") != NULL;
    if (c->secret == (json_getc(v, "configMap") != NULL))
        return BIND_FAIL(b, "must have exactly one of 'configMap', 'secret'");
    for (const struct declaration_config *other = reader_of(b)->d->configs; other < c; other++)
        if (str_eq(other->name, c->name))
            return BIND_FAIL(b, "another configuration is named '" STR_FMT "'", STR_ARG(c->name));
    return 0;
}

#define CONFIG struct declaration_config
static const char *const on_changes[] = { [CONFIG_CHANGE_NONE] = "none",
                                          [CONFIG_CHANGE_ACTIVATE] = "activate",
                                          [CONFIG_CHANGE_RECONCILE] = "reconcile" };
static const struct bind_field config_fields[] = {
    BIND_STR("name", CONFIG, name, NAME, .flags = BIND_REQUIRED),
    BIND_STR("configMap", CONFIG, object, SUBDOMAIN),
    BIND_STR("secret", CONFIG, object, SUBDOMAIN),
    BIND_STR("namespace", CONFIG, namespace, NAMESPACE),
    BIND_BOOL("optional", CONFIG, optional),
    BIND_ENUM("onChange", CONFIG, on_change, on_changes),
};
static const struct bind_table config_table =
    BIND_TABLE(config_fields, .size = sizeof(CONFIG), .check = check_config);

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

static int check_label_name(struct bind *b, const struct json *v, void *at)
{
    struct str s = *(struct str *)at;
    if (!is_prometheus_name(s, false) || str_has_prefix(s, STR("__")))
        return BIND_FAIL(b, "'" STR_FMT "' is no name of a Prometheus label", STR_ARG(s));
    if (str_is(s, "operator") || str_is(s, "le"))
        return BIND_FAIL(b, "the label '" STR_FMT "' is the host's", STR_ARG(s));
    return 0;
}

static int check_labels(struct bind *b, const struct json *v, void *at)
{
    const struct declaration_metric *m = container_of(at, struct declaration_metric, labels);
    const struct str *twice = repeated(m->labels, m->n_labels, sizeof(struct str), 0);
    return twice ? BIND_FAIL(b, "'" STR_FMT "' is there twice", STR_ARG(*twice)) : 0;
}

static int check_buckets(struct bind *b, const struct json *v, void *at)
{
    const struct declaration_metric *m = container_of(at, struct declaration_metric, buckets);
    if (m->n_buckets == 0)
        return BIND_FAIL(b, "must not be empty");
    for (size_t i = 1; i < m->n_buckets; i++)
        if (m->buckets[i] <= m->buckets[i - 1])
            return BIND_FAIL(b, "bounds must rise");
    return 0;
}

static int check_metric_name(struct bind *b, const struct json *v, void *at)
{
    struct str s = *(struct str *)at;
    if (!is_prometheus_name(s, true))
        return BIND_FAIL(b, "'" STR_FMT "' is no name of a Prometheus metric", STR_ARG(s));
    if (str_has_prefix(s, STR("dormouse_")) || str_has_prefix(s, STR("controller_runtime_")) ||
        str_has_prefix(s, STR("workqueue_")))
        return BIND_FAIL(b, "names of this prefix are the host's");
    return 0;
}

/* Prometheus' defaults. */
static const double default_buckets[] = { .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10 };

static int check_metric(struct bind *b, const struct json *v, void *at)
{
    struct declaration_metric *m = at;
    if (m->n_buckets && m->type != METRIC_HISTOGRAM)
        return BIND_FAIL(b, "only a histogram has buckets");
    if (m->type == METRIC_HISTOGRAM && !m->n_buckets) {
        m->n_buckets = ARRAY_LEN(default_buckets);
        m->buckets = arena_new_n(b->arena, double, m->n_buckets);
        memcpy(m->buckets, default_buckets, sizeof default_buckets);
    }
    for (const struct declaration_metric *other = reader_of(b)->d->metrics; other < m; other++)
        if (str_eq(other->name, m->name))
            return BIND_FAIL(b, "another metric is named '" STR_FMT "'", STR_ARG(m->name));
    return 0;
}

#define METRIC struct declaration_metric
static const char *const metric_types[] = {
    [METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge", [METRIC_HISTOGRAM] = "histogram"
};
static const struct bind_field label_name = {
    .kind = BIND_KIND_STR, .min = 1, .max = 128, .check = check_label_name
};
static const struct bind_field bound = { .kind = BIND_KIND_FLOAT };
static const struct bind_field metric_fields[] = {
    BIND_STR("name", METRIC, name, .min = 1, .max = 128, .check = check_metric_name,
             .flags = BIND_REQUIRED),
    BIND_ENUM("type", METRIC, type, metric_types, .flags = BIND_REQUIRED),
    BIND_STR("help", METRIC, help, .max = 1024),
    BIND_ARRAY("labels", METRIC, labels, n_labels, &label_name, DECLARATION_MAX_LABELS,
               .check = check_labels),
    BIND_ARRAY("buckets", METRIC, buckets, n_buckets, &bound, DECLARATION_MAX_BUCKETS,
               .check = check_buckets),
};
static const struct bind_table metric_table =
    BIND_TABLE(metric_fields, .size = sizeof(METRIC), .check = check_metric);

/* ---------------------------------------------------------------- the declaration */

static int read_version(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    return json_int_or(v, 0) == 1 ? 0 : BIND_FAIL(b, "must be 1");
}

#define ALL struct declaration
static const struct bind_field declaration_fields[] = {
    BIND_WHOLE("abi", read_version),
    BIND_STR("name", ALL, name, .max = 253),
    BIND_STR("version", ALL, version, .max = 253),
    BIND_BOOL("stateless", ALL, stateless),
    BIND_UINT("instances", ALL, instances, .min = 1, .max = DECLARATION_MAX_INSTANCES),
    BIND_OBJECTS("controllers", ALL, controllers, n_controllers, &controller_table,
                 DECLARATION_MAX_CONTROLLERS, .flags = BIND_REQUIRED | BIND_LATER),
    BIND_WHOLE("caches", read_watches, .flags = BIND_LATER),
    BIND_OBJECTS("config", ALL, configs, n_configs, &config_table, DECLARATION_MAX_CONFIGS,
                 .flags = BIND_LATER),
    BIND_OBJECTS("metrics", ALL, metrics, n_metrics, &metric_table, DECLARATION_MAX_METRICS,
                 .flags = BIND_LATER),
};
static const struct bind_table declaration_table = BIND_TABLE(declaration_fields);

/* Allocate room for all watches, so that the table does not move while it grows. */
static void make_watches(struct declaration *d, const struct json *v)
{
    size_t n = json_getc(v, "caches") ? json_getc(v, "caches")->n : 0;
    json_each (c, json_getc(v, "controllers")) {
        const struct json *owns = json_getc(c, "owns"), *watches = json_getc(c, "watches");
        n += 1 + (json_is(owns, JSON_ARRAY) ? owns->n : 0) +
             (json_is(watches, JSON_ARRAY) ? watches->n : 0);
    }
    n = MIN(n, (size_t)DECLARATION_MAX_WATCHES);
    d->watches = arena_new_n(&d->arena, struct declaration_watch, n ? n : 1);
}

static int parse(struct declaration *d, struct str bytes, struct err *err)
{
    struct arena scratch = { .max_bytes = (size_t)DECLARATION_MAX_BYTES * 64 };
    struct json_parse_opts opts = { .max_depth = DECLARATION_MAX_DEPTH };
    struct json *v = NULL;
    struct declaration_reader rd = { .b = { .arena = &d->arena,
                                            .err = err,
                                            .mode = BIND_STRICT | BIND_COPIES,
                                            .root = "declaration" },
                                     .d = d };
    d->instances = 1;
    int r = json_parse(&scratch, bytes, &opts, &v, err);
    if (r < 0) {
        r = err_ctx(err, r, "declaration");
    } else {
        make_watches(d, v);
        r = bind_read(&rd.b, &declaration_table, v, d);
    }
    arena_fini(&scratch);
    return r;
}

static void free_declaration(struct declaration *d)
{
    arena_fini(&d->arena);
    slab_free(d);
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
    scoped(free_declaration_scoped) struct declaration *d = slab_new(struct declaration);
    d->arena.block_bytes = size; /* everything in one block */
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
