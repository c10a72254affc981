/* SPDX-License-Identifier: Apache-2.0 */
/* Documents for a table of every kind: what is read is written, and reads as the same again. */
#include "fuzz.h"

#include "bind_kit.h"

static int go_on(struct bind *b, const struct bind_problem *p)
{
    FUZZ_CHECK(p->code < 0 && p->text[0]);
    ++*(size_t *)b->arg;
    return 0;
}

static void same_again(struct arena *a, const struct kit *k)
{
    scoped(buf_fini_scoped) struct buf one = BUF_INIT(64 << 20);
    scoped(buf_fini_scoped) struct buf two = BUF_INIT(64 << 20);
    struct kit again = { 0 };
    struct bind b = { .arena = a, .mode = BIND_STRICT };
    struct json *v = bind_write(a, &kit_table, k);
    FUZZ_CHECK(bind_read(&b, &kit_table, v, &again) == 0);
    (void)json_write(&one, v);
    (void)json_write(&two, bind_write(a, &kit_table, &again));
    FUZZ_CHECK(buf_ok(&one) && str_eq(buf_str(&one), buf_str(&two)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct json *v;
    struct kit k = { 0 }, noted = { 0 };
    size_t n_problems = 0;
    if (json_parse(&a, str_n(data, n), NULL, &v, NULL) >= 0) {
        struct bind b = { .arena = &a, .err = &err, .mode = BIND_STRICT, .root = "kit" };
        int r = bind_read(&b, &kit_table, v, &k);
        FUZZ_CHECK(r <= 0 && r == err.code && !b.at);
        struct bind all = { .arena = &a, .mode = BIND_STRICT, .report = go_on, .arg = &n_problems };
        FUZZ_CHECK(bind_read(&all, &kit_table, v, &noted) == 0 && !all.at);
        FUZZ_CHECK((r < 0) == (n_problems > 0));
        if (r == 0)
            same_again(&a, &k);
    }
    arena_fini(&a);
    return 0;
}
