/* SPDX-License-Identifier: Apache-2.0 */
#include "node/plan_book.h"

#include "base/mem.h"
#include "test.h"

#include <stdio.h>

static void check_plans(const struct plan_book *b, const char *namespace, const char *pod,
                        const char *plans)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    plan_book_write(b, str_of(namespace), str_of(pod), &text);
    CHECK_STR(buf_str(&text), plans);
}

TEST(a_pod_has_its_plans_and_no_others)
{
    struct plan_book *b = plan_book_new();
    check_plans(b, "ns", "a", "[]");
    plan_book_add(b, STR("ns"), STR("a"), STR("1"));
    plan_book_add(b, STR("ns"), STR("b"), STR("2"));
    plan_book_add(b, STR("n"), STR("a"), STR("3"));
    plan_book_add(b, STR("ns"), STR("a"), STR("4"));
    check_plans(b, "ns", "a", "[1,4]");
    check_plans(b, "n", "a", "[3]");
    check_plans(b, "ns", "", "[]");
    plan_book_free(b);
}

TEST(the_oldest_plans_are_forgotten)
{
    struct plan_book *b = plan_book_new();
    for (int i = 0; i < PLAN_BOOK_MAX + 2; i++) {
        char pod[16];
        (void)snprintf(pod, sizeof pod, "p%d", i);
        plan_book_add(b, STR("ns"), str_of(pod), STR("{}"));
    }
    check_plans(b, "ns", "p1", "[]");
    check_plans(b, "ns", "p2", "[{}]");
    plan_book_free(b);
}
TEST_MAIN
