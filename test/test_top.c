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
static void check_order(enum top_order order, bool reverse, const char *want)
{
    char got[8] = "";
    read_table();
    top_sort(&table, order, reverse);
    for (size_t i = 0; i < table.n; i++)
        got[i] = table.rows[i].name.p[1];
    CHECK_STR(str_of(got), want);
    arena_fini(&arena);
}

TEST(rows_are_sorted_by_what_was_asked_for)
{
    check_order(TOP_BY_STATE, false, "auws");  /* failed, running, awake, asleep */
    check_order(TOP_BY_MEMORY, false, "wusa"); /* resident, then swap */
    check_order(TOP_BY_WAKES, false, "uswa");
    check_order(TOP_BY_NAME, false, "ausw"); /* namespace first */
    check_order(TOP_BY_STATE, true, "swua");
}

TEST(totals_are_of_the_server_and_sums_of_the_rows)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    read_table();
    top_write_totals(&b, &table.totals);
    CHECK_STR(
        buf_str(&b),
        "dormouse 1.2.3, pid 7, up 1:02:05; 4 operators: 2 awake, 1 asleep, 1 failed; 1 runner; "
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
    struct top_cells cells;
    read_table();
    top_columns_head(top_columns, NULL, &head);
    top_sort(&table, TOP_BY_MEMORY, false);
    top_cells(&table.rows[0], &cells);
    top_columns_row(top_columns, NULL, &cells, &row);
    CHECK_INT(head.n, row.n);
    CHECK(str_has_prefix(buf_str(&row),
                         STR("b              awake                    g2  Awake         2048       "
                             "  0        5           8        2      120      999")));
    buf_reset(&row);
    top_cells(&table.rows[3], &cells);
    top_columns_row(top_columns, NULL, &cells, &row);
    CHECK(strstr(buf_cstr(&row), "bad?[2J"));
    buf_reset(&row);
    struct top_row r = { .name = STR("a name that is longer than its column by far") };
    top_cells(&r, &cells);
    top_columns_row(top_columns, NULL, &cells, &row);
    CHECK_INT(head.n, row.n);
    buf_reset(&row);
    top_columns_list(top_columns, &cells, &row); /* there it is whole */
    CHECK(
        strstr(buf_cstr(&row), "\nNAME           a name that is longer than its column by far\n"));
    arena_fini(&arena);
}

/* The titles of the columns that a line of this width has. */
static void check_head(size_t width, size_t skip, const char *want)
{
    scoped(buf_fini_scoped) struct buf head = BUF_INIT(4096), words = BUF_INIT(4096);
    bool keep[TOP_COLUMNS_MAX];
    (void)top_columns_fit(top_columns, width, skip, keep);
    top_columns_head(top_columns, keep, &head);
    if (head.n > width && skip == 0 && width >= 49)
        TEST_FAIL("%zu columns for %zu", head.n, width);
    for (struct str rest = buf_str(&head), word; rest.n;) {
        (void)str_cut(rest, ' ', &word, &rest);
        if (word.n)
            buf_printf(&words, "%s" STR_FMT, words.n ? " " : "", STR_ARG(word));
    }
    CHECK_STR(buf_str(&words), want);
}

TEST(a_narrow_line_has_the_columns_that_matter_most)
{
    check_head(80, 0, "NAMESPACE NAME STATE RES(KiB) SWAP(KiB) WAKES");
    check_head(60, 0, "NAMESPACE NAME STATE RES(KiB)");
    check_head(20, 0, "NAMESPACE NAME STATE"); /* the terminal cuts it */
    check_head(200, 0,
               "NAMESPACE NAME ABI STATE RES(KiB) SWAP(KiB) WAKES ACTIVATIONS RESTARTS P50(us) "
               "P99(us) LAST ERROR");
    check_head(80, 3, "NAMESPACE NAME STATE WAKES ACTIVATIONS RESTARTS"); /* to the right */
    check_head(80, 5, "NAMESPACE NAME STATE RESTARTS P50(us) P99(us)");
}

TEST(numbers_in_names_count_as_numbers)
{
    static const char *const in_order[] = { "",       "a",        "a1",        "a01",    "a2",
                                            "a2b",    "a10",      "a10b",      "b",      "ring-1",
                                            "ring-2", "ring-2-1", "ring-2-10", "ring-10" };
    for (size_t i = 0; i < ARRAY_LEN(in_order); i++)
        for (size_t k = 0; k < ARRAY_LEN(in_order); k++) {
            int c = top_compare_names(str_of(in_order[i]), str_of(in_order[k]));
            int want = (i > k) - (i < k);
            bool is_zero_case = (i == 2 && k == 3) || (i == 3 && k == 2); /* only a zero differs */
            if (is_zero_case ? c == 0 : (c > 0) - (c < 0) != want)
                TEST_FAIL("'%s', '%s': %d", in_order[i], in_order[k], c);
        }
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
    top_sort(&table, TOP_BY_STATE, false);
    CHECK_INT(table.n, 0);
    CHECK_ERR(top_read(&arena, STR("{}"), str_of(status), &table, NULL), E_PARSE);
    CHECK_ERR(top_read(&arena, STR("[]"), STR("[]"), &table, NULL), E_PARSE);
    CHECK_ERR(top_read(&arena, STR("["), str_of(status), &table, NULL), E_PARSE);
    arena_fini(&arena);
}

TEST_MAIN
