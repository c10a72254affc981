/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions; see builtin_docs.h. */
#include "kube/model/builtin_docs.h"

#include "kube/model/builtin_tables.h"

#include <assert.h>
#include <zstd.h>

struct builtin_docs {
    const char *text;
    uint32_t *at; /* start of each line, and the end of the last */
};

/* Number of the first line of type `type`; each earlier type and each of its fields has a line. */
static size_t line_of(uint16_t type)
{
    return (size_t)builtin_types[type].first_field + type;
}

static size_t leaf_line(void)
{
    uint16_t last = (uint16_t)(builtin_n_types - 1);
    return line_of(last) + 1 + builtin_types[last].n_fields;
}

const struct builtin_docs *builtin_docs_new(struct arena *a)
{
    size_t n_lines = leaf_line() + BUILTIN_DOCS_TAIL;
    struct builtin_docs *docs = arena_new(a, struct builtin_docs);
    char *text = arena_alloc(a, builtin_docs_bytes);
    size_t n =
        ZSTD_decompress(text, builtin_docs_bytes, builtin_docs_packed, builtin_docs_packed_bytes);
    assert(n == builtin_docs_bytes); /* on failure n is an error code, which is larger */
    docs->text = text;
    docs->at = arena_new_n(a, uint32_t, n_lines + 1);
    size_t line = 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\n' && line < n_lines)
            docs->at[++line] = (uint32_t)i + 1;
    assert(line == n_lines); /* the generator writes exactly as many */
    return docs;
}

static struct str line_at(const struct builtin_docs *docs, size_t line)
{
    return str_n(docs->text + docs->at[line], docs->at[line + 1] - docs->at[line] - 1);
}

struct str builtin_doc_type(const struct builtin_docs *docs, const struct schema *s)
{
    return s->builtin ? line_at(docs, line_of((uint16_t)(s->builtin - 1))) : STR("");
}

struct str builtin_doc_field(const struct builtin_docs *docs, const struct schema *s, size_t field)
{
    if (!s->builtin)
        return STR("");
    uint16_t type = (uint16_t)(s->builtin - 1);
    assert(field < builtin_types[type].n_fields);
    return line_at(docs, line_of(type) + 1 + field);
}

struct str builtin_doc_leaf(const struct builtin_docs *docs, enum schema_type type)
{
    return line_at(docs, leaf_line() + type);
}

/* The checksum that ends a zstd frame. */
struct str builtin_docs_tag(void)
{
    enum { CHECKSUM_BYTES = 4 };
    return str_n(builtin_docs_packed + builtin_docs_packed_bytes - CHECKSUM_BYTES, CHECKSUM_BYTES);
}
