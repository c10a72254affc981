/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned strings: one `struct intern` per distinct text, as long as it is referenced. Interned
 * strings of one table are equal if and only if their pointers are. For texts that occur often:
 * label keys and values, namespaces, names of resources and images.
 *
 * Each has a small id, which is reused after the string was freed: an index into arrays that count
 * something per value (a topology domain, an image).
 *
 * Not thread-safe.
 */
#pragma once

#include "base/mem.h"
#include "base/str.h"

struct intern {
    uint32_t refs, id; /* id < intern_end() */
    uint32_t n;
    uint64_t hash;
    char text[]; /* NUL-terminated */
};

struct intern_table;
struct intern_table *intern_table_new(void);
/* All references must have been released. */
void intern_table_free(struct intern_table *t);
DEFINE_SCOPED(intern_table, intern_table_free)

/* A reference: given, intern_unref(). */
struct intern *intern_get(struct intern_table *t, struct str text);
/* Borrowed; NULL: no such string is interned, so no interned string can be equal to it. */
struct intern *intern_find(const struct intern_table *t, struct str text);
static inline struct intern *intern_ref(struct intern *s)
{
    s->refs++;
    return s;
}
/* NULL is fine. */
void intern_unref(struct intern_table *t, struct intern *s);
/* Above all ids in use. */
uint32_t intern_end(const struct intern_table *t);
static inline struct str intern_str(const struct intern *s) /* NULL: "" */
{
    return s ? (struct str){ s->text, s->n } : (struct str){ "", 0 };
}
