/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: pack-descriptions OUT.c IN.txt...
 *
 * Packs the descriptions of built-in types and fields (src/kube/model/descriptions/) for
 * kube/model/builtin_docs.c. The form of the texts:
 *
 *     # a comment
 *     package io.k8s.api.core.v1      what follows is of this package
 *     ConfigMap: One sentence.        a type
 *       immutable: One sentence.      a field of it
 *       = OtherType                   fields that are not written here read as OtherType's
 *     @name: One sentence.            shared; "  reason: @name" refers to it
 *
 * Kinds get @object.apiVersion, @object.kind and @object.metadata, lists of them @list (with the
 * kind for '%'), @list.metadata and @list.items where they have no words of their own. Whatever is
 * wrong is reported with its line, and nothing is written: names that the tables do not have, a
 * text that is empty, repeats the name or does not end with a full stop, a second text, a shared
 * text that is not used.
 */
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "kube/model/builtin_docs.h"
#include "kube/model/builtin_tables.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <zstd.h>

enum { MAX_TEXT = 400, MAX_FILE = 1 << 20, MAX_TYPES = 2048, MAX_FIELDS = 16384 };

struct shared {
    struct str name, text;
    bool used;
    struct shared *next;
};

static struct {
    struct arena a;
    const char *file;
    unsigned line, errors;
    struct str package;
    int type; /* that fields belong to; -1: none */
    struct str type_text[MAX_TYPES], field_text[MAX_FIELDS], leaf_text[BUILTIN_DOCS_TAIL];
    struct str like[MAX_TYPES];
    struct map types;  /* OpenAPI name -> 1 + number */
    struct map leaves; /* OpenAPI name -> 1 + enum schema_type */
    struct map shared;
    struct shared *all_shared;
} g;

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    if (g.line)
        (void)fprintf(stderr, "%s:%u: ", g.file, g.line);
    (void)vfprintf(stderr, format, ap);
    (void)fputc('\n', stderr);
    va_end(ap);
    g.errors++;
}

/* ---- words ---- */

/* Only letters, in lower case, and without articles: what a text says beyond a name. */
static struct str essence(struct str s)
{
    struct str word, rest = s;
    char *out = arena_alloc(&g.a, s.n + 1);
    size_t n = 0;
    while (rest.n) {
        (void)str_cut(rest, ' ', &word, &rest);
        if (str_ieq(word, STR("the")) || str_ieq(word, STR("a")) || str_ieq(word, STR("of")))
            continue;
        for (size_t i = 0; i < word.n; i++)
            if (isalpha((unsigned char)word.p[i]))
                out[n++] = (char)tolower((unsigned char)word.p[i]);
    }
    return str_n(out, n);
}

static void check_text(struct str name, struct str text)
{
    if (text.n == 0)
        complain("'" STR_FMT "' has no text", STR_ARG(name));
    else if (text.n > MAX_TEXT)
        complain("the text of '" STR_FMT "' is longer than %d bytes", STR_ARG(name), MAX_TEXT);
    else if (text.p[text.n - 1] != '.')
        complain("the text of '" STR_FMT "' does not end with a full stop", STR_ARG(name));
    else if (str_eq(essence(name), essence(text)))
        complain("the text of '" STR_FMT "' repeats the name", STR_ARG(name));
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < ' ' || text.p[i] > '~')
            complain("the text of '" STR_FMT "' is not plain ASCII", STR_ARG(name));
        if (i && text.p[i] == ' ' && text.p[i - 1] == ' ')
            complain("the text of '" STR_FMT "' has two blanks in a row", STR_ARG(name));
    }
}

static void define_shared(struct str name, struct str text)
{
    check_text(name, text);
    if (map_has(&g.shared, name)) {
        complain("a second text for '@" STR_FMT "'", STR_ARG(name));
        return;
    }
    struct shared *s = arena_new(&g.a, struct shared);
    *s = (struct shared){ .name = name, .text = text, .next = g.all_shared };
    g.all_shared = s;
    (void)map_put(&g.shared, name, s);
}

/* What "@name" stands for; other texts stand for themselves. */
static struct str resolve(struct str text)
{
    if (text.n == 0 || text.p[0] != '@')
        return text;
    struct shared *s = map_get(&g.shared, str_slice(text, 1, text.n));
    if (!s) {
        complain("no shared text '" STR_FMT "'", STR_ARG(text));
        return STR("");
    }
    s->used = true;
    return s->text;
}

/* ---- reading ---- */

static struct str in_package(struct str name)
{
    return str_of(arena_printf(&g.a, STR_FMT "." STR_FMT, STR_ARG(g.package), STR_ARG(name)));
}

static void keep(struct str *to, struct str name, struct str text)
{
    if (text.n == 0 || text.p[0] != '@')
        check_text(name, text);
    if (to->n)
        complain("a second text for '" STR_FMT "'", STR_ARG(name));
    *to = text;
}

static void read_type(struct str name, struct str text)
{
    struct str full = in_package(name);
    uintptr_t type = (uintptr_t)map_get(&g.types, full), leaf = (uintptr_t)map_get(&g.leaves, full);
    g.type = (int)type - 1;
    if (type)
        keep(&g.type_text[type - 1], name, text);
    else if (leaf)
        keep(&g.leaf_text[leaf - 1], name, text);
    else
        complain("no type '" STR_FMT "'", STR_ARG(full));
}

static int find_field(int type, struct str name)
{
    const struct builtin_type_row *t = &builtin_types[type];
    for (int i = t->first_field; i < t->first_field + t->n_fields; i++)
        if (str_is(name, builtin_strings + builtin_fields[i].name))
            return i;
    return -1;
}

static void read_field(struct str name, struct str text)
{
    int field = g.type < 0 ? -1 : find_field(g.type, name);
    if (field < 0)
        complain("no field '" STR_FMT "' in this type", STR_ARG(name));
    else
        keep(&g.field_text[field], name, text);
}

static void read_line(struct str line)
{
    struct str name, text;
    bool indented = str_has_prefix(line, STR("  "));
    line = str_trim(line);
    if (line.n == 0 || line.p[0] == '#')
        return;
    if (str_has_prefix(line, STR("package "))) {
        g.package = str_slice(line, 8, line.n);
        g.type = -1;
        return;
    }
    if (indented && str_has_prefix(line, STR("= "))) {
        if (g.type < 0)
            complain("no type before '='");
        else
            g.like[g.type] = in_package(str_slice(line, 2, line.n));
        return;
    }
    if (!str_cut(line, ':', &name, &text)) {
        complain("neither a comment nor 'name: text'");
        return;
    }
    text = str_trim(text);
    if (indented)
        read_field(name, text);
    else if (name.n && name.p[0] == '@')
        define_shared(str_slice(name, 1, name.n), text);
    else
        read_type(name, text);
}

static void read_file(const char *path)
{
    char *text = arena_alloc(&g.a, MAX_FILE);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, MAX_FILE, f) : 0;
    g.line = 0;
    if (!f || ferror(f) || n == MAX_FILE)
        complain("cannot read %s", path);
    if (f)
        (void)fclose(f);
    struct str line, rest = str_n(text, n);
    g.file = path;
    g.type = -1;
    while (rest.n) {
        g.line++;
        (void)str_cut(rest, '\n', &line, &rest);
        read_line(line);
    }
    g.line = 0;
}

/* ---- what is not written in full ---- */

static void fill_alike(int type)
{
    if (g.like[type].n == 0)
        return;
    int other = (int)(uintptr_t)map_get(&g.types, g.like[type]) - 1;
    if (other < 0) {
        complain("no type '" STR_FMT "' to be like", STR_ARG(g.like[type]));
        return;
    }
    const struct builtin_type_row *t = &builtin_types[type];
    for (int i = t->first_field; i < t->first_field + t->n_fields; i++) {
        int from = find_field(other, str_of(builtin_strings + builtin_fields[i].name));
        if (g.field_text[i].n == 0 && from >= 0)
            g.field_text[i] = g.field_text[from];
    }
}

static void fill_list(const struct builtin_kind_row *k)
{
    struct str kind = str_of(builtin_strings + k->kind), before, after;
    struct str text = resolve(STR("@list"));
    (void)str_cut(text, '%', &before, &after);
    if (g.type_text[k->type].n == 0)
        g.type_text[k->type] =
            str_of(arena_printf(&g.a, STR_FMT STR_FMT STR_FMT, STR_ARG(before),
                                STR_ARG(str_slice(kind, 0, kind.n - 4)), STR_ARG(after)));
}

static void fill_kind(const struct builtin_kind_row *k)
{
    static const char *const names[] = { "apiVersion", "kind", "metadata", "items" };
    struct str kind = str_of(builtin_strings + k->kind);
    bool list = str_has_suffix(kind, STR("List")) && find_field(k->type, STR("items")) >= 0;
    for (size_t i = 0; i < ARRAY_LEN(names) - !list; i++) {
        int field = find_field(k->type, str_of(names[i]));
        if (field >= 0 && g.field_text[field].n == 0)
            g.field_text[field] =
                str_of(arena_printf(&g.a, "@%s.%s", list && i >= 2 ? "list" : "object", names[i]));
    }
    if (list)
        fill_list(k);
}

/* ---- writing ---- */

static void add_line(struct buf *b, struct str text)
{
    (void)buf_add_str(b, resolve(text));
    (void)buf_add_char(b, '\n');
}

static void write_c(const char *path, struct str text)
{
    size_t room = ZSTD_compressBound(text.n);
    unsigned char *packed = arena_alloc(&g.a, room);
    ZSTD_CCtx *z = ZSTD_createCCtx();
    (void)ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, ZSTD_maxCLevel());
    (void)ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    size_t n = ZSTD_compress2(z, packed, room, text.p, text.n);
    (void)ZSTD_freeCCtx(z);
    FILE *f = ZSTD_isError(n) ? NULL : fopen(path, "we");
    if (!f) {
        complain("cannot write %s", path);
        return;
    }
    (void)fprintf(f, "#include \"kube/model/builtin_docs.h\"\n\n");
    (void)fprintf(f, "const uint32_t builtin_docs_bytes = %zu, builtin_docs_packed_bytes = %zu;\n",
                  text.n, n);
    (void)fprintf(f, "const unsigned char builtin_docs_packed[] = {");
    for (size_t i = 0; i < n; i++)
        (void)fprintf(f, "%s%u,", i % 24 ? " " : "\n    ", packed[i]);
    (void)fprintf(f, "\n};\n");
    if (fclose(f) != 0)
        complain("cannot write %s", path);
}

static void index_names(void)
{
#define LEAF(type, name) (void)map_put(&g.leaves, STR(name), (void *)(uintptr_t)((type) + 1));
    BUILTIN_LEAVES(LEAF)
#undef LEAF
    for (uint16_t i = 0; i < builtin_n_types; i++) {
        const struct builtin_type_row *t = &builtin_types[i];
        (void)map_put(&g.types, str_of(builtin_strings + t->name), (void *)(uintptr_t)(i + 1));
        if (i >= MAX_TYPES || t->first_field + t->n_fields > MAX_FIELDS)
            complain("the tables are too large for this program");
    }
}

static void release(void)
{
    map_fini(&g.types);
    map_fini(&g.leaves);
    map_fini(&g.shared);
    arena_fini(&g.a);
}

static void pack(const char *path)
{
    for (uint16_t i = 0; i < builtin_n_types; i++)
        fill_alike(i);
    for (uint16_t i = 0; i < builtin_n_kinds; i++)
        fill_kind(&builtin_kinds[i]);
    struct buf b = BUF_INIT(MAX_FILE);
    for (uint16_t i = 0; i < builtin_n_types; i++) {
        add_line(&b, g.type_text[i]);
        for (uint16_t j = 0; j < builtin_types[i].n_fields; j++)
            add_line(&b, g.field_text[builtin_types[i].first_field + j]);
    }
    for (size_t i = 0; i < BUILTIN_DOCS_TAIL; i++)
        add_line(&b, g.leaf_text[i]);
    for (const struct shared *s = g.all_shared; s; s = s->next)
        if (!s->used)
            complain("nothing refers to '@" STR_FMT "'", STR_ARG(s->name));
    if (!buf_ok(&b))
        complain("the texts are longer than %d bytes", MAX_FILE);
    if (g.errors == 0)
        write_c(path, buf_str(&b));
    buf_fini(&b);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        (void)fprintf(stderr, "usage: pack-descriptions OUT.c IN.txt...\n");
        return 2;
    }
    index_names();
    for (int i = 2; i < argc; i++)
        read_file(argv[i]);
    if (g.errors == 0)
        pack(argv[1]);
    release();
    return g.errors ? 1 : 0;
}
