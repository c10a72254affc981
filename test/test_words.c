/* SPDX-License-Identifier: Apache-2.0 */
/* Interned words, beside a naive list. */
#include "base/words.h"

#include "base/random.h"
#include "test.h"

TEST(equal_texts_are_one_word)
{
    scoped(words_free_scoped) struct words *w = words_new();
    struct word *a = words_get(w, STR("zone")), *b = words_get(w, STR("zone"));
    struct word *c = words_get(w, STR("zon"));
    CHECK(a == b && a != c);
    CHECK(str_eq(word_str(a), STR("zone")) && str_is(word_str(c), a->text) == false);
    CHECK_INT(a->text[a->n], 0);
    CHECK(words_find(w, STR("zone")) == a);
    word_unref(w, a);
    CHECK(words_find(w, STR("zone")) == b);
    word_unref(w, b);
    CHECK(words_find(w, STR("zone")) == NULL);
    word_unref(w, c);
    word_unref(w, NULL);
    CHECK(str_is_empty(word_str(NULL)));
}

TEST(an_empty_text_is_a_word_and_may_have_any_bytes)
{
    scoped(words_free_scoped) struct words *w = words_new();
    struct word *empty = words_get(w, STR_NULL), *nul = words_get(w, STR("a\0b"));
    CHECK(words_get(w, STR("")) == empty);
    CHECK_INT(nul->n, 3);
    CHECK(words_find(w, STR("a")) == NULL);
    word_unref(w, empty);
    word_unref(w, empty);
    word_unref(w, nul);
}

TEST(a_number_is_used_again_after_its_word_has_gone)
{
    scoped(words_free_scoped) struct words *w = words_new();
    struct word *a = words_get(w, STR("a")), *b = words_get(w, STR("b"));
    CHECK_INT(a->id, 0);
    CHECK_INT(b->id, 1);
    CHECK_INT(words_end(w), 2);
    word_unref(w, a);
    struct word *c = words_get(w, STR("c"));
    CHECK_INT(c->id, 0);
    CHECK_INT(words_end(w), 2);
    word_unref(w, b);
    word_unref(w, c);
}

enum { N_TEXTS = 3000, N_STEPS = 60000 };

TEST(words_are_as_a_list_under_random_use)
{
    scoped(words_free_scoped) struct words *w = words_new();
    static struct word *held[N_TEXTS];
    static uint32_t refs[N_TEXTS];
    struct rng rng = { test_random() };
    for (int step = 0; step < N_STEPS; step++) {
        uint32_t i = rng_below(&rng, N_TEXTS);
        char text[16];
        struct str s = str_n(text, (size_t)snprintf(text, sizeof text, "w%u", i));
        CHECK(words_find(w, s) == held[i]);
        /* Grows in the first half, shrinks in the second. */
        if (rng_below(&rng, 10) < (step < N_STEPS / 2 ? 6 : 3)) {
            struct word *got = words_get(w, s);
            CHECK(!held[i] || got == held[i]);
            held[i] = got;
            refs[i]++;
            CHECK(got->id < words_end(w) && got->refs == refs[i]);
        } else if (refs[i] > 0) {
            word_unref(w, held[i]);
            if (--refs[i] == 0)
                held[i] = NULL;
        }
    }
    static bool seen[N_TEXTS];
    CHECK(words_end(w) <= N_TEXTS);
    for (size_t i = 0; i < N_TEXTS; i++) {
        CHECK(!held[i] || !seen[held[i]->id]);
        if (held[i])
            seen[held[i]->id] = true;
        while (refs[i] > 0) {
            word_unref(w, held[i]);
            refs[i]--;
        }
    }
}

TEST_MAIN
