/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/top_table: what `dormouse top` shows. */
#include "cmd/top_table.h"

#include "test.h"

static struct arena arena;
static struct top_table table;

static const char status[] =
    "{\"version\":\"1.2.3\",\"pid\":7,\"uptimeSeconds\":3725,\"operators\":4,\"guests\":4,"
    "\"awake\":2,"
    "\"asleep\":1,\"failed\":1,\"runners\":1,\"wakes\":100,\"activations\":1000}";
static const char guests[] =
    "[{\"namespace\":\"b\",\"name\":\"asleep\",\"abi\":\"g1\",\"state\":\"Asleep\","
    "\"residentBytes\":0,\"swapBytes\":1048576,\"wakes\":9},"
    "{\"namespace\":\"b\",\"name\":\"awake\",\"abi\":\"g2\",\"state\":\"Awake\",\"residentBytes\":"
    "2097152,\"wakes\":5,\"activations\":8,"
    "\"restarts\":2,\"wakeMicroseconds\":{\"p50\":120,\"p99\":999}},"
    "{\"namespace\":\"a\",\"name\":\"busy\",\"abi\":\"g2\",\"state\":\"Running\",\"residentBytes\":"
    "4096,\"wakes\":70},"
    "{\"namespace\":\"a\",\"name\":\"bad\\u001b[2J\",\"abi\":\"g2\",\"state\":\"Failed\"}]";

static void read_table(void)
{
    arena_fini(&arena);
    CHECK_OK(top_read(&arena, str_of(guests), str_of(status), &table, NULL));
}

/* The first letters of the states, in order. */
static void check_order(enum top_order order, const char *want)
{
    char got[8] = "";
    read_table();
    top_sort(&table, order);
    for (size_t i = 0; i < table.n; i++)
        got[i] = table.rows[i].name.p[1];
    CHECK_STR(str_of(got), want);
    arena_fini(&arena);
}

TEST(rows_are_sorted_by_what_was_asked_for)
{
    check_order(TOP_BY_STATE, "auws");  /* failed, running, awake, asleep */
    check_order(TOP_BY_MEMORY, "wusa"); /* resident, then swap */
    check_order(TOP_BY_WAKES, "uswa");
    check_order(TOP_BY_NAME, "ausw"); /* namespace first */
}

TEST(totals_are_of_the_server_and_sums_of_the_rows)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    read_table();
    top_write_totals(&b, &table.totals);
    CHECK_STR(
        buf_str(&b),
        "dormouse 1.2.3, pid 7, up 1:02:05; 4 operators: 2 awake, 1 asleep, 1 failed; 1 runners; "
        "resident 2.0 MiB, swap 1.0 MiB");
    buf_reset(&b);
    struct top_totals before = table.totals;
    before.wakes = 50;
    before.activations = 0;
    top_write_rates(&b, &table.totals, &before, 500);
    CHECK_STR(buf_str(&b), "1000 activations (2000/s), 100 wakes (100/s)");
    buf_reset(&b);
    top_write_rates(&b, &table.totals, &table.totals, 0);
    CHECK_STR(buf_str(&b), "1000 activations (0/s), 100 wakes (0/s)");
    arena_fini(&arena);
}

TEST(columns_stand_under_their_heads_and_control_characters_are_no_commands)
{
    scoped(buf_fini_scoped) struct buf head = BUF_INIT(4096), row = BUF_INIT(4096);
    read_table();
    top_write_head(&head);
    top_sort(&table, TOP_BY_MEMORY);
    top_write_row(&row, &table.rows[0]);
    CHECK_INT(head.n, row.n);
    CHECK_STR(buf_str(&row), "b              awake                    g2  Awake         2048       "
                             "  0        5           8        2"
                             "      120      999");
    buf_reset(&row);
    top_write_row(&row, &table.rows[3]);
    CHECK(strstr(buf_cstr(&row), "bad?[2J"));
    buf_reset(&row);
    struct top_row r = { .name = STR("a name that is longer than its column by far") };
    top_write_row(&row, &r);
    CHECK_INT(head.n, row.n);
    arena_fini(&arena);
}

TEST(keys_and_words_name_orders)
{
    CHECK_INT(top_order_of_key('m'), TOP_BY_MEMORY);
    CHECK_INT(top_order_of_key('x'), TOP_ORDER_COUNT);
    CHECK_INT(top_order_of("wakes"), TOP_BY_WAKES);
    CHECK_INT(top_order_of("colour"), TOP_ORDER_COUNT);
    for (unsigned i = 0; i < TOP_ORDER_COUNT; i++)
        CHECK_INT(top_order_of(top_order_name((enum top_order)i)), i);
}

TEST(an_empty_server_and_nonsense)
{
    CHECK_OK(top_read(&arena, STR("[]"), str_of(status), &table, NULL));
    top_sort(&table, TOP_BY_STATE);
    CHECK_INT(table.n, 0);
    CHECK_ERR(top_read(&arena, STR("{}"), str_of(status), &table, NULL), E_PARSE);
    CHECK_ERR(top_read(&arena, STR("[]"), STR("[]"), &table, NULL), E_PARSE);
    CHECK_ERR(top_read(&arena, STR("["), str_of(status), &table, NULL), E_PARSE);
    arena_fini(&arena);
}

TEST_MAIN
