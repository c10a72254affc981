/* SPDX-License-Identifier: Apache-2.0 */
/* fn/control/table against a naive twin: a map of the same sandboxes. */
#include "fn/control/table.h"
#include "test.h"

enum { STEPS = 200000, LIVE_MAX = 3000 };

static struct {
    uint64_t id;
    uint32_t slot, function;
} live[LIVE_MAX];

TEST(it_holds_what_was_put_into_it)
{
    struct sandbox_table t;
    uint64_t next = UINT64_C(3) << 32 | 1, seed = test_random();
    size_t n = 0;
    table_init(&t);
    CHECK_INT(sizeof(struct plane_sandbox), 40);
    for (int i = 0; i < STEPS; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint32_t draw = (uint32_t)(seed >> 33);
        if (n < LIVE_MAX && draw % 5 < 3) {
            live[n].id = draw % 11 ? next++ : (UINT64_C(2) << 32 | (uint32_t)next++);
            live[n].slot = table_add(&t, live[n].id);
            live[n].function = draw;
            t.at[live[n].slot].function = draw;
            if (draw % 7 == 0)
                table_set_address(&t, live[n].slot, "unix:/x");
            n++;
        } else if (n) {
            size_t at = draw % n;
            table_del(&t, live[at].slot);
            CHECK_INT(table_find(&t, live[at].id), TABLE_NONE);
            live[at] = live[--n];
        }
        CHECK_INT(t.n_used, n);
        if (i % 1000 == 0)
            for (size_t k = 0; k < n; k++) {
                CHECK_INT(table_find(&t, live[k].id), live[k].slot);
                CHECK_INT(t.at[live[k].slot].function, live[k].function);
                CHECK((table_address(&t, live[k].slot) != NULL) == (live[k].function % 7 == 0));
            }
    }
    table_fini(&t);
}

TEST_MAIN
