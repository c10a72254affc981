/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counted, interned strings: while somebody holds it there is one `struct word` for a text, so that
 * words are equal if and only if their pointers are. For texts that occur over and over: label keys
 * and values, namespaces, names of resources and images.
 *
 * Each word has a small number, which is used again after it has gone: an index into arrays that
 * count something for each value (a topology domain, an image).
 *
 * Not for use by two threads at once.
 */
#pragma once

#include "base/mem.h"
#include "base/str.h"

struct word {
    uint32_t refs, id; /* id < words_end() */
    uint32_t n;
    uint64_t hash;
    char text[]; /* NUL-terminated */
};

struct words;
struct words *words_new(void);
/* All words have been given back. */
void words_free(struct words *w);
DEFINE_SCOPED(words, words_free)

/* A reference: given, word_unref(). */
struct word *words_get(struct words *w, struct str text);
/* Borrowed; NULL: nobody holds such a word, so nothing can be equal to it. */
struct word *words_find(const struct words *w, struct str text);
static inline struct word *word_ref(struct word *word)
{
    word->refs++;
    return word;
}
/* NULL is fine. */
void word_unref(struct words *w, struct word *word);
/* All ids in use are below it. */
uint32_t words_end(const struct words *w);
static inline struct str word_str(const struct word *word) /* NULL: "" */
{
    return word ? (struct str){ word->text, word->n } : (struct str){ "", 0 };
}
