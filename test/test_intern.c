/* SPDX-License-Identifier: Apache-2.0 */
/* base/intern, beside a naive list. */
#include "base/intern.h"

#include "base/random.h"
#include "test.h"

TEST(equal_texts_are_one_word)
{
    scoped(intern_table_free_scoped) struct intern_table *w = intern_table_new();
    struct intern *a = intern_get(w, STR("zone")), *b = intern_get(w, STR("zone"));
    struct intern *c = intern_get(w, STR("zon"));
    CHECK(a == b && a != c);
    CHECK(str_eq(intern_str(a), STR("zone")) && str_is(intern_str(c), a->text) == false);
    CHECK_INT(a->text[a->n], 0);
    CHECK(intern_find(w, STR("zone")) == a);
    intern_unref(w, a);
    CHECK(intern_find(w, STR("zone")) == b);
    intern_unref(w, b);
    CHECK(intern_find(w, STR("zone")) == NULL);
    intern_unref(w, c);
    intern_unref(w, NULL);
    CHECK(str_is_empty(intern_str(NULL)));
}

TEST(an_empty_text_is_a_word_and_may_have_any_bytes)
{
    scoped(intern_table_free_scoped) struct intern_table *w = intern_table_new();
    struct intern *empty = intern_get(w, STR_NULL), *nul = intern_get(w, STR("a\0b"));
    CHECK(intern_get(w, STR("")) == empty);
    CHECK_INT(nul->n, 3);
    CHECK(intern_find(w, STR("a")) == NULL);
    intern_unref(w, empty);
    intern_unref(w, empty);
    intern_unref(w, nul);
}

TEST(a_number_is_used_again_after_its_word_has_gone)
{
    scoped(intern_table_free_scoped) struct intern_table *w = intern_table_new();
    struct intern *a = intern_get(w, STR("a")), *b = intern_get(w, STR("b"));
    CHECK_INT(a->id, 0);
    CHECK_INT(b->id, 1);
    CHECK_INT(intern_end(w), 2);
    intern_unref(w, a);
    struct intern *c = intern_get(w, STR("c"));
    CHECK_INT(c->id, 0);
    CHECK_INT(intern_end(w), 2);
    intern_unref(w, b);
    intern_unref(w, c);
}

enum { N_TEXTS = 3000, N_STEPS = 60000 };

TEST(words_are_as_a_list_under_random_use)
{
    scoped(intern_table_free_scoped) struct intern_table *w = intern_table_new();
    static struct intern *held[N_TEXTS];
    static uint32_t refs[N_TEXTS];
    struct rng rng = { test_random() };
    for (int step = 0; step < N_STEPS; step++) {
        uint32_t i = rng_below(&rng, N_TEXTS);
        char text[16];
        struct str s = str_n(text, (size_t)snprintf(text, sizeof text, "w%u", i));
        CHECK(intern_find(w, s) == held[i]);
        /* Grows in the first half, shrinks in the second. */
        if (rng_below(&rng, 10) < (step < N_STEPS / 2 ? 6 : 3)) {
            struct intern *got = intern_get(w, s);
            CHECK(!held[i] || got == held[i]);
            held[i] = got;
            refs[i]++;
            CHECK(got->id < intern_end(w) && got->refs == refs[i]);
        } else if (refs[i] > 0) {
            intern_unref(w, held[i]);
            if (--refs[i] == 0)
                held[i] = NULL;
        }
    }
    static bool seen[N_TEXTS];
    CHECK(intern_end(w) <= N_TEXTS);
    for (size_t i = 0; i < N_TEXTS; i++) {
        CHECK(!held[i] || !seen[held[i]->id]);
        if (held[i])
            seen[held[i]->id] = true;
        while (refs[i] > 0) {
            intern_unref(w, held[i]);
            refs[i]--;
        }
    }
}

TEST_MAIN
