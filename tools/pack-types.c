/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: pack-types OUT.c IN.txt...
 *
 * Makes tables (kube/model/builtin_tables.h) of the structure of the built-in kinds, which
 * tools/gen-kinds writes to src/kube/model/types/. The form of the texts is close to that of Go:
 *
 *     # a comment
 *     release v0.36.3                        of Kubernetes; the same in all files
 *     package io.k8s.api.apps.v1             what follows is of this package
 *     import corev1 io.k8s.api.core.v1       so that corev1.PodSpec is a type
 *     kind apps/v1 Deployment                a kind; " = Type" if its type has another name
 *     enum DeploymentStrategyType Recreate RollingUpdate
 *     type DeploymentSpec                    a struct; "atomic": +structType=atomic
 *       replicas  *int32 =1 omitempty        a field in the order of the struct
 *
 * A field has a type, a number in protobuf (=2.1: field 1 of the embedded message 2; none: it is
 * not in protobuf), and attributes: required, omitempty, omitzero, nullable, atomic, granular,
 * listType=map|set|atomic, listMapKey=a,b, patchStrategy=merge,retainKeys|replace, patchMergeKey=a,
 * and last default=JSON. Types are string, bool, int32, int64, float64, []byte, any, the names of
 * `scalars` below, an enum, a type, []T, map[string]T, *T (only at the front) and T|[], T|bool,
 * T|[]string.
 *
 * Types are numbered as the kinds reach them, in the order of the files. Whatever is wrong is
 * reported with its line, and nothing is written.
 */
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "codec/json.h"
#include "kube/model/builtin_tables.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    MAX_FILE = 1 << 20,
    MAX_TYPES = 2000,
    MAX_TYPE_FIELDS = 254, /* BUILTIN_NO_FIELD is 255 */
    MAX_NODES = 8000,
    MAX_KINDS = 1000,
    MAX_WORDS = 256, /* of a line */
    MAX_TEXT = 1 << 20,
    MAX_LISTS = 8000,
    MAX_NUMBER = 65535,
    MAX_OUTER_NUMBER = 255,
    MAX_DEPTH = 64, /* of types in types */
};

struct place {
    const char *file;
    unsigned line;
};

struct words {
    struct str p[MAX_WORDS];
    size_t n;
};

struct field_def {
    struct place at;
    struct str name, type, keys, patch_key, def;
    unsigned proto, outer, flags, node_flags, list_type;
    bool granular;
    unsigned node; /* once the type is numbered */
    struct field_def *next;
};

struct import {
    struct str alias, package;
    struct import *next;
};

struct package {
    struct str name;
    struct import *imports;
};

struct type_def {
    struct place at;
    struct str name, full;
    const struct package *package;
    bool is_enum, atomic;
    struct words *values;
    struct field_def *fields, **last;
    unsigned n_fields, first_field;
    int number; /* -1: no kind has reached it */
    struct type_def *next;
};

struct node {
    enum schema_type type;
    unsigned list_type, flags, ref;
    struct str keys, patch_key, def;
    const struct words *values;
    unsigned keys_at, values_at;
};

struct kind_def {
    struct place at;
    struct str group, version, kind;
    struct type_def *type;
    struct str type_name;
    const struct package *package;
};

static const struct {
    const char *name;
    enum schema_type type;
} scalars[] = {
    { "string", SCHEMA_STRING },
    { "bool", SCHEMA_BOOL },
    { "int32", SCHEMA_INT32 },
    { "int64", SCHEMA_INT64 },
    { "float64", SCHEMA_NUMBER },
    { "[]byte", SCHEMA_BYTES },
    { "any", SCHEMA_ANY },
    { "Time", SCHEMA_TIME },
    { "MicroTime", SCHEMA_MICRO_TIME },
    { "Duration", SCHEMA_DURATION },
    { "FieldsV1", SCHEMA_FIELDS },
    { "Quantity", SCHEMA_QUANTITY },
    { "IntOrString", SCHEMA_INT_OR_STRING },
    { "RawExtension", SCHEMA_RAW },
};

static struct {
    struct arena a;
    struct place at;
    unsigned errors;
    struct str release;
    struct package *package; /* of what is being read */
    struct type_def *type;   /* that fields belong to, or NULL */
    struct map types;        /* full name -> struct type_def */
    struct type_def *all, **last;
    struct kind_def kinds[MAX_KINDS];
    size_t n_kinds;
    struct type_def *numbered[MAX_TYPES];
    size_t n_types, n_fields;
    struct node nodes[MAX_NODES];
    size_t n_nodes;
    struct map strings; /* text -> 1 + offset */
    struct buf text;    /* literals, a line each */
    size_t n_text;
    struct map lists; /* words -> 1 + index */
    size_t n_lists;
} g;

__attribute__((format(printf, 2, 3))) static void complain(struct place at, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    if (at.line)
        (void)fprintf(stderr, "%s:%u: ", at.file, at.line);
    (void)vfprintf(stderr, format, ap);
    (void)fputc('\n', stderr);
    va_end(ap);
    g.errors++;
}

/* ---- words ---- */

/* A word ends at a blank; one in quotes is a JSON string. */
static bool next_word(struct str *rest, struct str *ret)
{
    struct json *v;
    size_t n = 0;
    while (rest->n && rest->p[0] == ' ')
        *rest = str_slice(*rest, 1, rest->n);
    if (rest->n == 0)
        return false;
    bool quoted = rest->p[0] == '"';
    for (n = quoted; n < rest->n && rest->p[n] != (quoted ? '"' : ' '); n++)
        n += quoted && rest->p[n] == '\\';
    n = MIN(n + quoted, rest->n);
    *ret = str_slice(*rest, 0, n);
    *rest = str_slice(*rest, n, rest->n);
    if (!quoted)
        return true;
    if (json_parse(&g.a, *ret, NULL, &v, NULL) < 0)
        complain(g.at, "'" STR_FMT "' is no string", STR_ARG(*ret));
    else
        *ret = json_str(v);
    return true;
}

static void split(struct str line, struct words *ret)
{
    struct str word;
    ret->n = 0;
    while (next_word(&line, &word)) {
        if (ret->n == MAX_WORDS) {
            complain(g.at, "more than %d words", MAX_WORDS);
            return;
        }
        ret->p[ret->n++] = word;
    }
}

static bool is_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '$' &&
            !(i && str_find_char(STR("-_."), s.p[i]) >= 0))
            return false;
    return s.n > 0;
}

static bool want_name(struct str s, const char *what)
{
    if (is_name(s))
        return true;
    complain(g.at, "'" STR_FMT "' is no name of %s", STR_ARG(s), what);
    return false;
}

static struct str joined(struct str package, struct str name)
{
    return str_of(arena_printf(&g.a, STR_FMT "." STR_FMT, STR_ARG(package), STR_ARG(name)));
}

/* ---- reading ---- */

static void read_release(const struct words *w)
{
    if (w->n != 2)
        complain(g.at, "not 'release VERSION'");
    else if (g.release.n && !str_eq(g.release, w->p[1]))
        complain(g.at, "release " STR_FMT ", but " STR_FMT " before", STR_ARG(w->p[1]),
                 STR_ARG(g.release));
    else
        g.release = w->p[1];
}

static void read_package(const struct words *w)
{
    g.type = NULL;
    if (w->n != 2 || str_find_char(w->p[1], '.') < 0) {
        complain(g.at, "not 'package NAME'");
        return;
    }
    g.package = arena_new(&g.a, struct package);
    g.package->name = w->p[1];
}

static const struct import *find_import(const struct package *package, struct str alias)
{
    const struct import *i = package->imports;
    while (i && !str_eq(i->alias, alias))
        i = i->next;
    return i;
}

static void read_import(const struct words *w)
{
    if (w->n != 3) {
        complain(g.at, "not 'import ALIAS PACKAGE'");
        return;
    }
    if (find_import(g.package, w->p[1]))
        complain(g.at, "a second import '" STR_FMT "'", STR_ARG(w->p[1]));
    struct import *i = arena_new(&g.a, struct import);
    *i = (struct import){ .alias = w->p[1], .package = w->p[2], .next = g.package->imports };
    g.package->imports = i;
}

static void read_kind(const struct words *w)
{
    bool renamed = w->n == 5 && str_is(w->p[3], "=");
    struct str group = STR(""), version;
    g.type = NULL;
    if (w->n != 3 && !renamed) {
        complain(g.at, "not 'kind GROUP/VERSION KIND'");
        return;
    }
    if (!str_cut(w->p[1], '/', &group, &version)) {
        version = group;
        group = STR("");
    }
    if (!want_name(version, "a version") || !want_name(w->p[2], "a kind"))
        return;
    for (size_t i = 0; i < g.n_kinds; i++)
        if (str_eq(g.kinds[i].group, group) && str_eq(g.kinds[i].version, version) &&
            str_eq(g.kinds[i].kind, w->p[2])) {
            complain(g.at, "a second kind '" STR_FMT "'", STR_ARG(w->p[2]));
            return;
        }
    if (g.n_kinds == MAX_KINDS) {
        complain(g.at, "more than %d kinds", MAX_KINDS);
        return;
    }
    g.kinds[g.n_kinds++] = (struct kind_def){ .at = g.at,
                                              .group = group,
                                              .version = version,
                                              .kind = w->p[2],
                                              .type_name = renamed ? w->p[4] : w->p[2],
                                              .package = g.package };
}

static struct type_def *define(struct str name)
{
    struct str full = joined(g.package->name, name);
    if (!want_name(name, "a type"))
        return NULL;
    if (map_has(&g.types, full)) {
        complain(g.at, "a second type '" STR_FMT "'", STR_ARG(name));
        return NULL;
    }
    struct type_def *t = arena_new(&g.a, struct type_def);
    *t = (struct type_def){
        .at = g.at, .name = name, .full = full, .package = g.package, .number = -1
    };
    t->last = &t->fields;
    (void)map_put(&g.types, full, t);
    *g.last = t;
    g.last = &t->next;
    return t;
}

static void read_enum(const struct words *w)
{
    struct type_def *t = w->n >= 3 ? define(w->p[1]) : NULL;
    struct words *values = arena_new(&g.a, struct words);
    g.type = NULL;
    if (w->n < 3)
        complain(g.at, "not 'enum NAME VALUE...'");
    for (size_t i = 2; i < w->n; i++) {
        for (size_t k = 2; k < i; k++)
            if (str_eq(w->p[i], w->p[k]))
                complain(g.at, "'" STR_FMT "' stands twice", STR_ARG(w->p[i]));
        values->p[values->n++] = w->p[i];
    }
    if (t) {
        t->is_enum = true;
        t->values = values;
    }
}

static void read_type(const struct words *w)
{
    bool atomic = w->n == 3 && str_is(w->p[2], "atomic");
    g.type = NULL;
    if (w->n != 2 && !atomic) {
        complain(g.at, "not 'type NAME' or 'type NAME atomic'");
        return;
    }
    g.type = define(w->p[1]);
    if (g.type)
        g.type->atomic = atomic;
}

/* "=1", "=2.1", "=2.3.1": numbers of embedded messages, then the field's. */
static void read_number(struct field_def *f, struct str text)
{
    struct str part, rest = text;
    unsigned shift = 0;
    for (bool more = true; more;) {
        uint64_t n;
        more = str_cut(rest, '.', &part, &rest);
        if (shift > 16 || parse_u64(part, 0, more ? MAX_OUTER_NUMBER : MAX_NUMBER, &n) < 0 ||
            (more && (n == 0 || shift > 8))) {
            complain(g.at, "'=" STR_FMT "' is no number in protobuf", STR_ARG(text));
            return;
        }
        if (more)
            f->outer |= (unsigned)n << shift;
        else
            f->proto = (unsigned)n;
        shift += 8;
    }
}

static void read_strategy(struct field_def *f, struct str text)
{
    struct str part;
    for (bool more = true; more;) {
        more = str_cut(text, ',', &part, &text);
        if (str_is(part, "merge"))
            f->node_flags |= SCHEMA_PATCH_MERGE;
        else if (str_is(part, "retainKeys"))
            f->node_flags |= SCHEMA_PATCH_RETAIN_KEYS;
        else if (str_is(part, "replace"))
            f->node_flags |= SCHEMA_PATCH_REPLACE;
        else
            complain(g.at, "no patch strategy '" STR_FMT "'", STR_ARG(part));
    }
}

static void read_list_type(struct field_def *f, struct str text)
{
    if (str_is(text, "map"))
        f->list_type = SCHEMA_LIST_MAP;
    else if (str_is(text, "set"))
        f->list_type = SCHEMA_LIST_SET;
    else if (str_is(text, "atomic"))
        f->node_flags |= SCHEMA_ATOMIC_LIST;
    else
        complain(g.at, "no list type '" STR_FMT "'", STR_ARG(text));
}

static bool read_flag(struct field_def *f, struct str word)
{
    static const struct {
        const char *name;
        unsigned flag, node_flag;
    } flags[] = { { "required", FIELD_IS_REQUIRED, 0 },
                  { "omitempty", FIELD_OMIT_EMPTY, 0 },
                  { "omitzero", FIELD_OMIT_ZERO, 0 },
                  { "nullable", 0, SCHEMA_NULLABLE },
                  { "atomic", 0, SCHEMA_ATOMIC_MAP } };
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (str_is(word, flags[i].name)) {
            if ((f->flags & flags[i].flag) || (f->node_flags & flags[i].node_flag))
                complain(g.at, "a second '%s'", flags[i].name);
            f->flags |= flags[i].flag;
            f->node_flags |= flags[i].node_flag;
            return true;
        }
    return false;
}

static void read_attribute(struct field_def *f, struct str word)
{
    struct str name, value;
    bool has_value = str_cut(word, '=', &name, &value);
    if (has_value && value.n == 0)
        complain(g.at, "'" STR_FMT "' has no value", STR_ARG(word));
    else if (has_value && name.n == 0)
        read_number(f, value);
    else if (has_value && str_is(name, "listType"))
        read_list_type(f, value);
    else if (has_value && str_is(name, "listMapKey"))
        f->keys = value;
    else if (has_value && str_is(name, "patchStrategy"))
        read_strategy(f, value);
    else if (has_value && str_is(name, "patchMergeKey"))
        f->patch_key = value;
    else if (str_is(word, "granular"))
        f->granular = true;
    else if (!read_flag(f, word))
        complain(g.at, "no attribute '" STR_FMT "'", STR_ARG(word));
}

static void check_field(const struct field_def *f)
{
    struct json *v;
    for (const struct field_def *o = g.type->fields; o; o = o->next)
        if (str_eq(o->name, f->name))
            complain(g.at, "a second field '" STR_FMT "'", STR_ARG(f->name));
    if ((f->list_type == SCHEMA_LIST_MAP) != (f->keys.n > 0))
        complain(g.at, "listType=map and listMapKey go together");
    if ((f->list_type || f->node_flags & SCHEMA_ATOMIC_LIST) && !str_has_prefix(f->type, STR("[]")))
        complain(g.at, "a list type of something else than a list");
    if (f->def.n && json_parse(&g.a, f->def, NULL, &v, NULL) < 0)
        complain(g.at, "the default '" STR_FMT "' is no JSON", STR_ARG(f->def));
    if (g.type->n_fields == MAX_TYPE_FIELDS)
        complain(g.at, "more than %d fields", MAX_TYPE_FIELDS);
}

static void read_field(struct str line)
{
    struct words w;
    ptrdiff_t at = str_find(line, STR(" default="));
    if (!g.type) {
        complain(g.at, "a field, but no type before it");
        return;
    }
    struct field_def *f = arena_new(&g.a, struct field_def);
    f->at = g.at;
    if (at >= 0) {
        f->def = str_trim(str_slice(line, (size_t)at + 9, line.n));
        line = str_slice(line, 0, (size_t)at);
        if (f->def.n == 0)
            complain(g.at, "'default=' has no value");
    }
    split(line, &w);
    if (w.n < 2) {
        complain(g.at, "not 'FIELD TYPE ATTRIBUTE...'");
        return;
    }
    f->name = w.p[0];
    f->type = w.p[1];
    (void)want_name(f->name, "a field");
    if (str_has_prefix(f->type, STR("*"))) {
        f->type = str_slice(f->type, 1, f->type.n);
        f->flags |= FIELD_POINTER;
    }
    for (size_t i = 2; i < w.n; i++)
        read_attribute(f, w.p[i]);
    check_field(f);
    *g.type->last = f;
    g.type->last = &f->next;
    g.type->n_fields++;
}

static void read_line(struct str line)
{
    static const struct {
        const char *word;
        void (*read)(const struct words *w);
        bool in_package;
    } lines[] = { { "release", read_release, false }, { "package", read_package, false },
                  { "import", read_import, true },    { "kind", read_kind, true },
                  { "enum", read_enum, true },        { "type", read_type, true } };
    struct words w;
    if (str_trim(line).n == 0 || line.p[0] == '#')
        return;
    if (str_has_prefix(line, STR("  "))) {
        read_field(str_trim(line));
        return;
    }
    split(line, &w);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        if (!str_is(w.p[0], lines[i].word))
            continue;
        if (lines[i].in_package && !g.package)
            complain(g.at, "'%s' before a package", lines[i].word);
        else
            lines[i].read(&w);
        return;
    }
    complain(g.at, "'" STR_FMT "' begins no line", STR_ARG(w.p[0]));
}

static void read_file(const char *path)
{
    char *text = arena_alloc(&g.a, MAX_FILE);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, MAX_FILE, f) : 0;
    g.at = (struct place){ .file = path };
    if (!f || ferror(f) || n == MAX_FILE)
        complain(g.at, "cannot read %s", path);
    if (f)
        (void)fclose(f);
    struct str line, rest = str_n(text, n);
    g.package = NULL;
    g.type = NULL;
    while (rest.n) {
        g.at.line++;
        (void)str_cut(rest, '\n', &line, &rest);
        read_line(line);
    }
}

/* ---- numbering ---- */

static unsigned number_type(struct type_def *t, unsigned depth);

static bool same_words(const struct words *a, const struct words *b)
{
    if (!a || !b || a->n != b->n)
        return a == b;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(a->p[i], b->p[i]))
            return false;
    return true;
}

/* The same node has one number. */
static unsigned add_node(const struct node *n)
{
    for (size_t i = 0; i < g.n_nodes; i++) {
        const struct node *o = &g.nodes[i];
        if (o->type == n->type && o->list_type == n->list_type && o->flags == n->flags &&
            o->ref == n->ref && str_eq(o->keys, n->keys) && str_eq(o->patch_key, n->patch_key) &&
            str_eq(o->def, n->def) && same_words(o->values, n->values))
            return (unsigned)i;
    }
    if (g.n_nodes == MAX_NODES) {
        complain((struct place){ 0 }, "more than %d nodes", MAX_NODES);
        return 0;
    }
    g.nodes[g.n_nodes] = *n;
    return (unsigned)g.n_nodes++;
}

static struct type_def *find_type(const struct field_def *f, const struct package *package,
                                  struct str text)
{
    struct str alias, name = text, in = package->name;
    if (str_cut(text, '.', &alias, &name)) {
        const struct import *i = find_import(package, alias);
        if (!i) {
            complain(f->at, "no import '" STR_FMT "'", STR_ARG(alias));
            return NULL;
        }
        in = i->package;
    } else {
        name = text;
    }
    struct type_def *t = map_get(&g.types, joined(in, name));
    if (!t)
        complain(f->at, "no type '" STR_FMT "'", STR_ARG(text));
    return t;
}

static struct node describe(const struct field_def *f, const struct package *package,
                            struct str text, unsigned depth);

/* "JSONSchemaProps|bool" */
static struct node describe_union(const struct field_def *f, const struct package *package,
                                  struct str text, unsigned depth)
{
    struct str props, other;
    (void)str_cut(text, '|', &props, &other);
    struct node object = describe(f, package, props, depth), n = { .type = SCHEMA_ANY };
    n.ref = 1 + add_node(&object);
    n.flags = str_is(other, "[]")         ? SCHEMA_OR_ARRAY
              : str_is(other, "bool")     ? SCHEMA_OR_BOOL
              : str_is(other, "[]string") ? SCHEMA_OR_STRINGS
                                          : 0;
    if (n.flags == 0 || object.type != SCHEMA_OBJECT)
        complain(f->at, "no union '" STR_FMT "'", STR_ARG(text));
    return n;
}

static struct node describe(const struct field_def *f, const struct package *package,
                            struct str text, unsigned depth)
{
    struct node n = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
        if (str_is(text, scalars[i].name)) {
            n.type = scalars[i].type;
            return n;
        }
    if (depth > MAX_DEPTH) {
        complain(f->at, "types in types, more than %d deep", MAX_DEPTH);
        return n;
    }
    struct str list = STR("[]"), map = STR("map[string]");
    bool is_list = str_has_prefix(text, list);
    if (is_list || str_has_prefix(text, map)) {
        text = str_slice(text, is_list ? list.n : map.n, text.n);
        struct node item = describe(f, package, text, depth + 1);
        n.type = is_list ? SCHEMA_ARRAY : SCHEMA_MAP;
        n.ref = 1 + add_node(&item);
        return n;
    }
    if (str_find_char(text, '|') >= 0)
        return describe_union(f, package, text, depth);
    struct type_def *t = find_type(f, package, text);
    if (!t)
        return n;
    n.type = t->is_enum ? SCHEMA_STRING : SCHEMA_OBJECT;
    n.values = t->values;
    if (t->is_enum)
        t->number = 0; /* used */
    else
        n.ref = 1 + number_type(t, depth + 1);
    n.flags = t->atomic ? SCHEMA_ATOMIC_MAP : 0;
    return n;
}

static unsigned number_type(struct type_def *t, unsigned depth)
{
    if (t->number >= 0)
        return (unsigned)t->number;
    if (g.n_types == MAX_TYPES) {
        complain(t->at, "more than %d types", MAX_TYPES);
        return 0;
    }
    t->number = (int)g.n_types;
    g.numbered[g.n_types++] = t;
    for (struct field_def *f = t->fields; f; f = f->next) {
        struct node n = describe(f, t->package, f->type, depth);
        if (f->granular)
            n.flags &= ~(unsigned)SCHEMA_ATOMIC_MAP;
        n.flags |= f->node_flags;
        n.list_type = f->list_type;
        n.keys = f->keys;
        n.patch_key = f->patch_key;
        n.def = f->def;
        f->node = add_node(&n);
    }
    return (unsigned)t->number;
}

static void number_all(void)
{
    for (size_t i = 0; i < g.n_kinds; i++) {
        struct kind_def *k = &g.kinds[i];
        k->type = map_get(&g.types, joined(k->package->name, k->type_name));
        if (!k->type || k->type->is_enum)
            complain(k->at, "no type '" STR_FMT "'", STR_ARG(k->type_name));
        else
            (void)number_type(k->type, 0);
    }
    for (const struct type_def *t = g.all; t && g.errors == 0; t = t->next)
        if (t->number < 0)
            complain(t->at, "no kind has anything of type '" STR_FMT "'", STR_ARG(t->name));
}

/* ---- writing ---- */

/* Offset of a text, which is laid down once. */
static size_t string(struct str s)
{
    uintptr_t at = (uintptr_t)map_get(&g.strings, s);
    if (at)
        return at - 1;
    at = g.n_text;
    (void)map_put(&g.strings, s, (void *)(at + 1));
    g.n_text += s.n + 1;
    (void)buf_add_cstr(&g.text, "    \"");
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '"' || c == '\\')
            (void)buf_printf(&g.text, "\\%c", c);
        else if (c < ' ' || c > '~')
            (void)buf_printf(&g.text, "\\%03o", c);
        else
            (void)buf_add_char(&g.text, (char)c);
    }
    (void)buf_add_cstr(&g.text, "\\0\"\n");
    return at;
}

static void write_fields(struct buf *b)
{
    (void)buf_add_cstr(b, "const struct builtin_field_row builtin_fields[] = {\n");
    for (size_t i = 0; i < g.n_types; i++) {
        struct type_def *t = g.numbered[i];
        t->first_field = (unsigned)g.n_fields;
        for (const struct field_def *f = t->fields; f; f = f->next)
            (void)buf_printf(b, "    { %zu, %u, %u, %u, %u },\n", string(f->name), f->node,
                             f->proto, f->outer, f->flags);
        g.n_fields += t->n_fields;
    }
    (void)buf_add_cstr(b, "};\n\n");
    if (g.n_fields > MAX_NUMBER)
        complain((struct place){ 0 }, "more than %d fields", MAX_NUMBER);
}

static void write_types(struct buf *b)
{
    (void)buf_add_cstr(b, "const struct builtin_type_row builtin_types[] = {\n");
    for (size_t i = 0; i < g.n_types; i++) {
        const struct type_def *t = g.numbered[i];
        struct str package = t->package->name, head;
        while (str_cut(package, '.', &head, &package) && str_find_char(package, '.') >= 0)
            continue;
        size_t name = string(t->full), go_name = string(joined(package, t->name));
        (void)buf_printf(b, "    { %zu, %zu, %u, %u },\n", name, go_name, t->first_field,
                         t->n_fields);
    }
    (void)buf_printf(b, "};\nconst uint16_t builtin_n_types = %zu;\n\n", g.n_types);
}

/* Where a field is on the wire, as one number: at most two messages around it. */
static uint64_t wire_place(const struct field_def *f)
{
    uint64_t first = f->outer ? f->outer & 0xff : f->proto;
    uint64_t second = f->outer >> 8 ? f->outer >> 8 : f->outer ? f->proto : 0;
    return first << 32 | second << 16 | (f->outer >> 8 ? f->proto : 0);
}

static void write_order(struct buf *b, const struct type_def *t)
{
    const struct field_def *fields[MAX_TYPE_FIELDS];
    unsigned order[MAX_TYPE_FIELDS], n = 0, i = 0;
    for (const struct field_def *f = t->fields; f; f = f->next, i++) {
        unsigned to = n;
        fields[i] = f;
        if (f->proto == 0)
            continue;
        for (; to > 0 && wire_place(fields[order[to - 1]]) > wire_place(f); to--)
            order[to] = order[to - 1];
        order[to] = i;
        n++;
    }
    for (i = 0; i < t->n_fields; i++)
        (void)buf_printf(b, "%s%u,", i ? " " : "    ", i < n ? order[i] : 255);
    (void)buf_add_cstr(b, t->n_fields ? "\n" : "");
}

static void write_orders(struct buf *b)
{
    (void)buf_add_cstr(b, "const uint8_t builtin_proto_order[] = {\n");
    for (size_t i = 0; i < g.n_types; i++)
        write_order(b, g.numbered[i]);
    (void)buf_add_cstr(b, "};\n\n");
}

/* Index of a list: a count, then the offsets of its texts. */
static unsigned list(struct buf *b, const struct words *w)
{
    struct buf id = BUF_INIT(MAX_TEXT);
    for (size_t i = 0; w && i < w->n; i++)
        (void)buf_printf(&id, STR_FMT "%c", STR_ARG(w->p[i]), 0);
    uintptr_t at = id.n ? (uintptr_t)map_get(&g.lists, buf_str(&id)) : 1;
    if (!at) {
        at = g.n_lists + 1;
        (void)map_put(&g.lists, str_copy_arena(&g.a, buf_str(&id)), (void *)at);
        (void)buf_printf(b, "    %zu,", w->n);
        for (size_t i = 0; i < w->n; i++)
            (void)buf_printf(b, " %zu,", string(w->p[i]));
        (void)buf_add_char(b, '\n');
        g.n_lists += 1 + w->n;
    }
    buf_fini(&id);
    return (unsigned)(at - 1);
}

static unsigned list_of_keys(struct buf *b, struct str keys)
{
    struct words w = { 0 };
    for (bool more = keys.n > 0; more && w.n < MAX_WORDS;)
        more = str_cut(keys, ',', &w.p[w.n++], &keys);
    return list(b, &w);
}

static void write_lists(struct buf *b)
{
    (void)buf_add_cstr(b, "const uint32_t builtin_lists[] = {\n    0,\n");
    g.n_lists = 1;
    for (size_t i = 0; i < g.n_nodes; i++) {
        g.nodes[i].keys_at = list_of_keys(b, g.nodes[i].keys);
        g.nodes[i].values_at = list(b, g.nodes[i].values);
    }
    (void)buf_add_cstr(b, "};\n\n");
    if (g.n_lists > MAX_LISTS)
        complain((struct place){ 0 }, "the lists are too long");
}

static void write_nodes(struct buf *b)
{
    (void)buf_add_cstr(b, "const struct builtin_node_row builtin_nodes[] = {\n");
    for (size_t i = 0; i < g.n_nodes; i++) {
        const struct node *n = &g.nodes[i];
        size_t patch_key = string(n->patch_key), def = string(n->def);
        (void)buf_printf(b, "    { %u, %u, %u, %u, %u, %u, %zu, %zu },\n", n->type, n->list_type,
                         n->flags, n->ref, n->keys_at, n->values_at, patch_key, def);
    }
    (void)buf_printf(b, "};\nconst uint16_t builtin_n_nodes = %zu;\n\n", g.n_nodes);
}

static void write_kinds(struct buf *b)
{
    (void)buf_add_cstr(b, "const struct builtin_kind_row builtin_kinds[] = {\n");
    for (size_t i = 0; i < g.n_kinds; i++) {
        const struct kind_def *k = &g.kinds[i];
        size_t group = string(k->group), version = string(k->version), kind = string(k->kind);
        (void)buf_printf(b, "    { %zu, %zu, %zu, %d },\n", group, version, kind, k->type->number);
    }
    (void)buf_printf(b, "};\nconst uint16_t builtin_n_kinds = %zu;\n\n", g.n_kinds);
}

static void write_tables(struct buf *b)
{
    (void)string(STR("")); /* offset 0 */
    (void)buf_printf(b,
                     "#include \"kube/model/builtin_tables.h\"\n\n"
                     "const char builtin_api_version[] = \"" STR_FMT "\";\n\n",
                     STR_ARG(g.release));
    write_fields(b);
    write_types(b);
    write_orders(b);
    write_lists(b);
    write_nodes(b);
    write_kinds(b);
    (void)buf_printf(b, "const char builtin_strings[] =\n%s    ;\n", buf_cstr(&g.text));
}

static void write_file(const char *path, struct str text)
{
    FILE *f = fopen(path, "we");
    bool written = f && fwrite(text.p, 1, text.n, f) == text.n;
    if (!f || fclose(f) != 0 || !written)
        complain((struct place){ 0 }, "cannot write %s", path);
}

static void pack(const char *path)
{
    struct buf b = BUF_INIT(MAX_TEXT);
    g.text = (struct buf)BUF_INIT(MAX_TEXT);
    number_all();
    if (g.release.n == 0)
        complain((struct place){ 0 }, "no release");
    if (g.errors == 0)
        write_tables(&b);
    if (!buf_ok(&b) || !buf_ok(&g.text))
        complain((struct place){ 0 }, "the tables are longer than %d bytes", MAX_TEXT);
    if (g.errors == 0)
        write_file(path, buf_str(&b));
    buf_fini(&b);
    buf_fini(&g.text);
}

static void release(void)
{
    map_fini(&g.types);
    map_fini(&g.strings);
    map_fini(&g.lists);
    arena_fini(&g.a);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        (void)fprintf(stderr, "usage: pack-types OUT.c IN.txt...\n");
        return 2;
    }
    g.last = &g.all;
    for (int i = 2; i < argc; i++)
        read_file(argv[i]);
    if (g.errors == 0)
        pack(argv[1]);
    release();
    return g.errors ? 1 : 0;
}
