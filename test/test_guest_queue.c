/* SPDX-License-Identifier: Apache-2.0 */
/* wasm/guest_queue: deliveries in order per id, ids in turn. */
#include "test.h"

#include "guest/guest_queue.h"

static void add(struct guest_queue *q, uint64_t id, const char *text)
{
    CHECK_OK(guest_queue_add(q, id, 0, 0, str_of(text)));
}

static void check_pop(struct guest_queue *q, uint64_t id, const char *text)
{
    const struct delivery *next = guest_queue_peek(q);
    struct delivery *d = guest_queue_pop(q);
    CHECK(d && d == next);
    CHECK_INT(d->id, id);
    CHECK_STR(str_n(d->payload, d->n), text);
    free(d);
}

TEST(between_two_deliveries_to_one_id_come_those_of_others)
{
    struct guest_queue q;
    guest_queue_init(&q);
    CHECK(!guest_queue_peek(&q) && !guest_queue_pop(&q));
    add(&q, 1, "a");
    add(&q, 1, "b");
    add(&q, 1, "c");
    add(&q, 2, "d");
    add(&q, 3, "e");
    add(&q, 3, "f");
    CHECK_INT(q.n, 6);
    CHECK_INT(q.bytes, 6);
    check_pop(&q, 1, "a");
    check_pop(&q, 2, "d");
    check_pop(&q, 3, "e");
    check_pop(&q, 1, "b");
    check_pop(&q, 3, "f");
    check_pop(&q, 1, "c"); /* nobody else is left */
    CHECK_INT(q.n, 0);
    CHECK_INT(q.bytes, 0);
    guest_queue_fini(&q);
}

TEST(what_was_taken_can_be_put_back_in_its_order)
{
    struct guest_queue q;
    struct list taken;
    guest_queue_init(&q);
    list_init(&taken);
    add(&q, 1, "a");
    add(&q, 1, "b");
    add(&q, 2, "c");
    for (int i = 0; i < 3; i++)
        list_push_back(&taken, &guest_queue_pop(&q)->node);
    add(&q, 2, "d"); /* came meanwhile */
    guest_queue_put_back(&q, &taken);
    CHECK(list_is_empty(&taken));
    CHECK_INT(q.n, 4);
    check_pop(&q, 1, "a");
    check_pop(&q, 2, "c");
    check_pop(&q, 1, "b");
    check_pop(&q, 2, "d");
    guest_queue_fini(&q);
}

/* Against a plain array: FIFO per id holds, no id is served twice while another one waits. */
TEST(random_operations_keep_order_and_fairness)
{
    enum { IDS = 8, STEPS = 20000 };
    struct guest_queue q;
    uint64_t added[IDS] = { 0 }, popped[IDS] = { 0 }, last = IDS;
    guest_queue_init(&q);
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t id = test_random_below(IDS);
        if (test_random_below(2)) {
            uint64_t number = added[id]++;
            CHECK_OK(guest_queue_add(&q, id, 0, 0, str_n(&number, sizeof number)));
            continue;
        }
        struct delivery *d = guest_queue_pop(&q);
        if (!d) {
            for (unsigned i = 0; i < IDS; i++)
                CHECK(added[i] == popped[i]);
            last = IDS;
            continue;
        }
        uint64_t number;
        memcpy(&number, d->payload, sizeof number);
        CHECK_INT(number, popped[d->id]);
        popped[d->id]++;
        if (d->id == last)
            for (unsigned i = 0; i < IDS; i++)
                CHECK(i == last || added[i] == popped[i]);
        last = d->id;
        free(d);
    }
    guest_queue_fini(&q); /* frees what is left */
}

TEST_MAIN
