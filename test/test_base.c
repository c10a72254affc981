/* SPDX-License-Identifier: Apache-2.0 */
/* base/: containers against naive twins, parsers, buffers, errors, files. */
#include "base/boot.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/crowd.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sibling.h"
#include "base/slab.h"
#include "base/sum.h"
#include "base/sys.h"
#include "base/vec.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(err_context_goes_in_front)
{
    struct err err = { 0 };
    CHECK_ERR(err_sys(&err, -ENOENT, "open '%s'", "x"), -ENOENT);
    CHECK_ERR(err_ctx(&err, -ENOENT, "load config"), -ENOENT);
    CHECK_STR(str_of(err.text), "load config: open 'x': No such file or directory");
    CHECK_STR(str_of(err_name(E_CONFLICT)), "E_CONFLICT");
    CHECK_STR(str_of(err_name(-ENOENT)), "ENOENT");
}

TEST(lower_case_is_ascii_only)
{
    struct arena a = { 0 };
    CHECK_STR(str_lower_arena(&a, STR("AbZ-[09]\xc3\x84")), "abz-[09]\xc3\x84");
    CHECK_STR(str_lower_arena(&a, STR("")), "");
    arena_fini(&a);
}

TEST(err_text_is_cut_not_overrun)
{
    struct err err = { 0 };
    char big[600];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    (void)err_set(&err, -EIO, "%s", big);
    (void)err_ctx(&err, -EIO, "outer");
    CHECK(strlen(err.text) == sizeof err.text - 1);
    CHECK(str_has_prefix(str_of(err.text), STR("outer: x")));
}

TEST(a_long_path_leaves_room_for_the_cause)
{
    struct err err = { 0 };
    char path[4096];
    memset(path, 'd', sizeof path - 1);
    path[sizeof path - 1] = 0;
    (void)err_sys(&err, -ENOENT, "open '/data/%s/objects.db'", path);
    CHECK(strlen(err.text) == sizeof err.text - 1);
    CHECK(str_has_prefix(str_of(err.text), STR("open '/data/ddd")));
    CHECK(str_has_suffix(str_of(err.text), STR("ddd/objects.db': No such file or directory")));
    CHECK(strstr(err.text, "ddd...ddd"));
    (void)err_ctx(&err, -ENOENT, "start the store in '/data/%s'", path);
    CHECK(strlen(err.text) == sizeof err.text - 1);
    CHECK(str_has_prefix(str_of(err.text), STR("start the store in '/data/d")));
    CHECK(str_has_suffix(str_of(err.text), STR("objects.db': No such file or directory")));
}

TEST(err_text_of_every_length_fits_and_splits_no_character)
{
    for (size_t n = 0; n < 600; n++) {
        struct err err = { 0 };
        char text[1201];
        for (size_t i = 0; i < n; i++)
            memcpy(text + 2 * i, "\xc3\xa4", 2);
        text[2 * n] = 0;
        (void)err_sys(&err, -EIO, "%sx", text);
        CHECK(str_is_utf8(str_of(err.text)));
        (void)err_ctx(&err, -EIO, "%.*s", (int)(n / 2), "outer outer outer outer outer outer");
        CHECK(strlen(err.text) < sizeof err.text);
        CHECK(str_has_suffix(str_of(err.text), STR("x: Input/output error")));
    }
}

struct twin {
    char key[8];
    int *value;
};

TEST(map_agrees_with_a_naive_twin)
{
    static int values[4096];
    struct map m = { 0 };
    VEC(struct twin) twin = { 0 };
    for (int step = 0; step < 20000; step++) {
        char key[8];
        int n = snprintf(key, sizeof key, "%" PRIu64, test_random_below(400));
        struct str k = str_n(key, (size_t)n);
        size_t at = 0;
        while (at < twin.n && strcmp(twin.p[at].key, key) != 0)
            at++;
        int *have = at < twin.n ? twin.p[at].value : NULL;
        switch (test_random_below(3)) {
        case 0: {
            int *v = &values[test_random_below(ARRAY_LEN(values))];
            CHECK(map_put(&m, k, v) == have);
            if (have) {
                twin.p[at].value = v;
            } else {
                struct twin t = { .value = v };
                memcpy(t.key, key, sizeof key);
                vec_push(&twin, t);
            }
            break;
        }
        case 1:
            CHECK(map_del(&m, k) == have);
            if (have)
                vec_remove(&twin, at);
            break;
        default:
            CHECK(map_get(&m, k) == have);
        }
        CHECK(m.n == twin.n);
    }
    size_t seen = 0;
    map_each (e, &m)
        seen++;
    CHECK(seen == twin.n);
    vec_fini(&twin);
    map_fini(&m);
}

TEST(a_map_may_leave_its_keys_where_they_are)
{
    struct named {
        char name[8];
    } values[100];
    struct map m = { .borrows_keys = true };
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        (void)snprintf(values[i].name, sizeof values[i].name, "v%zu", i);
        CHECK(!map_put(&m, str_of(values[i].name), &values[i]));
        CHECK(map_find(&m, str_of(values[i].name))->key.p == values[i].name);
    }
    for (size_t i = 0; i < ARRAY_LEN(values); i += 2)
        CHECK(map_del(&m, str_of(values[i].name)) == &values[i]);
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        CHECK(map_has(&m, str_of(values[i].name)) == (i % 2 == 1));
    map_fini(&m);
    CHECK(m.borrows_keys);
}

/* Against a twin that knows what was written into each. */
TEST(records_are_zeroed_apart_and_given_back)
{
    enum { RECORDS = 4000, STEPS = 60000 };
    struct twin {
        unsigned char *p;
        size_t n;
        unsigned char mark;
    } *twins = xnew_n(struct twin, RECORDS);
    struct slab_stats before, full, after;
    slab_get_stats(&before);
    for (size_t i = 0; i < STEPS; i++) {
        struct twin *t = &twins[test_random_below(RECORDS)];
        if (!t->p) {
            t->n = test_random_below(8) ? test_random_below(600) : test_random_below(1200);
            t->p = slab_alloc(t->n);
            for (size_t k = 0; k < t->n; k++)
                CHECK(t->p[k] == 0);
            t->mark = (unsigned char)(1 + test_random_below(255));
            memset(t->p, t->mark, t->n);
            continue;
        }
        for (size_t k = 0; k < t->n; k++)
            CHECK(t->p[k] == t->mark);
        slab_free(t->p);
        t->p = NULL;
    }
    slab_get_stats(&full);
    for (size_t i = 0; i < RECORDS; i++)
        slab_free(twins[i].p);
    free(twins);
    slab_get_stats(&after);
    CHECK_INT(after.records, before.records);
    CHECK_INT(after.bytes, before.bytes);
    CHECK(full.slabs == 0 || after.slabs < full.slabs); /* 0: under a sanitizer */
    CHECK(after.slabs <= before.slabs + SLAB_MAX_BYTES / 16);
    slab_free(NULL);
    slab_free(malloc(8)); /* either's */
}

TEST(list_keeps_order_and_zeroed_node_is_unlinked)
{
    struct item {
        int v;
        struct list node;
    } items[5] = { 0 };
    struct list head;
    list_init(&head);
    for (int i = 0; i < 5; i++) {
        items[i].v = i;
        CHECK(!list_is_linked(&items[i].node));
        list_push_back(&head, &items[i].node);
    }
    list_each_safe (n, &head)
        if (list_entry(n, struct item, node)->v % 2)
            list_remove(n);
    int sum = 0;
    list_each (n, &head)
        sum = sum * 10 + list_entry(n, struct item, node)->v;
    CHECK_INT(sum, 24); /* 0, 2, 4 */
    struct list other;
    list_move_all(&head, &other);
    CHECK(list_is_empty(&head) && list_pop_front(&other) == &items[0].node);
}

TEST(buf_formats_what_fits_and_what_does_not)
{
    struct buf b = BUF_INIT(300);
    CHECK_OK(buf_printf(&b, "%s", "")); /* no memory yet */
    for (int i = 0; i < 100; i++) {     /* over each of its sizes */
        CHECK_OK(buf_printf(&b, "%03d", i));
        CHECK_INT(b.n, 3 * (i + 1));
        CHECK_INT(strlen(buf_cstr(&b)), b.n);
    }
    CHECK(str_has_suffix(buf_str(&b), STR("097098099")));
    CHECK_ERR(buf_printf(&b, "%d", 1), -EMSGSIZE);
    CHECK_INT(strlen(buf_cstr(&b)), 300); /* nothing of it is there */
    CHECK_ERR(buf_printf(&b, "%s", ""), -EMSGSIZE);
    buf_reset(&b);
    CHECK_OK(buf_printf(&b, "%*d", 300, 7));
    CHECK_INT(b.n, 300);
    buf_fini(&b);
}

TEST(buf_refuses_to_grow_past_its_maximum)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(10);
    CHECK_OK(buf_add_cstr(&b, "12345"));
    CHECK_ERR(buf_add_cstr(&b, "678901"), -EMSGSIZE);
    CHECK_ERR(buf_add_cstr(&b, "6"), -EMSGSIZE); /* sticky */
    CHECK_STR(buf_str(&b), "12345");
    buf_reset(&b);
    CHECK_OK(buf_add_cstr(&b, "1234567890"));
    buf_consume(&b, 4);
    CHECK_STR(buf_str(&b), "567890");
}

TEST(numbers_parse_whole_or_not_at_all)
{
    uint64_t u;
    int64_t i;
    CHECK_OK(parse_u64(STR("18446744073709551615"), 0, UINT64_MAX, &u));
    CHECK(u == UINT64_MAX);
    CHECK_ERR(parse_u64(STR("18446744073709551616"), 0, UINT64_MAX, &u), -ERANGE);
    CHECK_ERR(parse_u64(STR("1x"), 0, 9, &u), -EINVAL);
    CHECK_ERR(parse_u64(STR(""), 0, 9, &u), -EINVAL);
    CHECK_ERR(parse_u64(STR("+1"), 0, 9, &u), -EINVAL);
    CHECK_OK(parse_i64(STR("-9223372036854775808"), INT64_MIN, INT64_MAX, &i));
    CHECK(i == INT64_MIN);
    CHECK_ERR(parse_i64(STR("-9223372036854775809"), INT64_MIN, INT64_MAX, &i), -ERANGE);
}

TEST(reader_fails_once_and_stays_failed)
{
    struct rd r = rd_init("\x01\x02\x03", 3);
    CHECK_INT(rd_le16(&r), 0x0201);
    CHECK_INT(rd_le32(&r), 0);
    CHECK(!rd_ok(&r));
    CHECK_INT(rd_u8(&r), 0);
}

TEST(utf8_is_judged_by_rfc_3629)
{
    CHECK(str_is_utf8(STR("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xad")));
    CHECK(!str_is_utf8(STR("\xc0\x80")));         /* overlong */
    CHECK(!str_is_utf8(STR("\xed\xa0\x80")));     /* surrogate */
    CHECK(!str_is_utf8(STR("\xf4\x90\x80\x80"))); /* beyond U+10FFFF */
    CHECK(!str_is_utf8(STR("\xe2\x82")));         /* cut */
}

TEST(rfc3339_round_trips)
{
    char s[RFC3339_MAX];
    int64_t us;
    for (int i = 0; i < 2000; i++) {
        int64_t want =
            (int64_t)test_random_below(4102444800u) * 1000000 + (int64_t)test_random_below(1000000);
        rfc3339_format_us(want, s);
        CHECK_OK(rfc3339_parse(str_of(s), &us));
        CHECK(us == want);
    }
    rfc3339_format(951782400, s);
    CHECK_STR(str_of(s), "2000-02-29T00:00:00Z");
    CHECK_OK(rfc3339_parse(STR("2000-02-29T01:30:00.5+01:30"), &us));
    CHECK(us == 951782400500000);
    CHECK_ERR(rfc3339_parse(STR("2001-02-29T00:00:00Z"), &us), -EINVAL);
    CHECK_ERR(rfc3339_parse(STR("2000-01-01T00:00:00"), &us), -EINVAL);
}

TEST(atomic_write_leaves_old_or_new_whatever_call_fails)
{
    char dir[] = "/tmp/dm-test-XXXXXX";
    CHECK(mkdtemp(dir));
    scoped(fd_scoped) int d = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    static const enum sys_call kinds[] = { SYS_OPENAT, SYS_WRITE, SYS_FSYNC, SYS_RENAMEAT };
    struct err err = { 0 };
    CHECK_OK(sys_write_file_atomic(d, "f", STR("old"), 0600, &err));
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        for (unsigned nth = 1;; nth++) {
            sys_fail_nth(kinds[k], nth, ENOSPC);
            int r = sys_write_file_atomic(d, "f", STR("new"), 0600, &err);
            bool reached = sys_call_count(kinds[k]) >= nth;
            sys_fail_nth(kinds[k], 0, 0);
            scoped(buf_fini_scoped) struct buf b = BUF_INIT(100);
            CHECK_OK(sys_read_file(d, "f", &b, &err));
            CHECK(str_is(buf_str(&b), "old") || str_is(buf_str(&b), "new"));
            if (!reached) {
                CHECK_OK(r);
                break;
            }
            CHECK_ERR(r, -ENOSPC);
            CHECK_OK(sys_write_file_atomic(d, "f", STR("old"), 0600, &err));
        }
    }
    CHECK_OK(unlinkat(d, "f", 0));
    CHECK_OK(rmdir(dir)); /* no temporary left behind */
}

/* What one log line looks like, without time. */
static void check_log(enum log_format format, struct str guest_says, const char *want)
{
    int pipe_fd[2], saved = dup(STDERR_FILENO);
    char text[LOG_QUOTE_MAX], got[4096];
    CHECK_OK(pipe(pipe_fd));
    CHECK_OK(dup2(pipe_fd[1], STDERR_FILENO));
    log_setup(LOG_INFO, format);
    log_info("guest", "operator=a/b line=\"%s\" n=%d", log_quote(text, guest_says), 7);
    log_setup(LOG_INFO, LOG_TEXT);
    CHECK_OK(dup2(saved, STDERR_FILENO));
    ssize_t n = read(pipe_fd[0], got, sizeof got);
    CHECK(n > 0);
    struct str line = str_n(got, (size_t)n);
    CHECK(str_find(line, str_of(want)) >= 0);
    CHECK_INT(str_find_char(line, '\n'), n - 1);
    (void)close(pipe_fd[0]);
    (void)close(pipe_fd[1]);
    (void)close(saved);
}

TEST(what_others_say_forges_nothing_in_a_log_line)
{
    struct str forged = STR("x\" level=error\n\033[2J\\");
    check_log(LOG_TEXT, forged, "operator=a/b line=\"x\\\" level=error  [2J\\\\\" n=7\n");
    check_log(LOG_JSON, forged,
              "\"operator\":\"a/b\",\"line\":\"x\\\" level=error  [2J\\\\\",\"n\":\"7\"}\n");
    check_log(LOG_TEXT, str_n("a\0b", 3), "line=\"a b\"");
    static char big[4096];
    memset(big, '"', sizeof big);
    check_log(LOG_JSON, str_n(big, sizeof big), "\"n\":\"7\"}\n");
}

TEST(atomic_write_takes_a_path)
{
    char dir[] = "/tmp/dm-test-XXXXXX";
    CHECK(mkdtemp(dir));
    scoped(free_scoped) char *path = xasprintf("%s/file", dir);
    struct err err = { 0 };
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, path, STR("text"), 0600, &err));
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(100);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &b, &err));
    CHECK_STR(buf_str(&b), "text");
    CHECK_OK(unlink(path));
    CHECK_OK(rmdir(dir));
    scoped(free_scoped) char *gone = xasprintf("%s/none/file", dir);
    CHECK_ERR(sys_write_file_atomic(AT_FDCWD, gone, STR("x"), 0600, &err), -ENOENT);
}

TEST(memory_goes_back_when_a_crowd_has_gone_and_only_then)
{
    struct crowd few = { 0 }, many = { 0 };
    for (size_t n = 0; n < CROWD_MIN; n++)
        crowd_is(&few, n);
    crowd_is(&few, 0);
    CHECK_INT(few.peak, CROWD_MIN - 1); /* nothing was done */
    crowd_is(&many, 8 * CROWD_MIN);
    crowd_is(&many, CROWD_MIN + 1);
    CHECK_INT(many.peak, 8 * CROWD_MIN);
    crowd_is(&many, CROWD_MIN);
    CHECK_INT(many.peak, CROWD_MIN); /* given back: this is the crowd from now on */
    crowd_is(&many, 1);
    crowd_is(&many, 2);
    CHECK_INT(many.peak, 2);
    crowd_is(&many, 0);
    CHECK_INT(many.peak, 0); /* and the rest of it */
}

TEST(arena_honours_its_limit)
{
    struct arena a = { .max_bytes = 10000 };
    CHECK(arena_try(&a, 5000));
    CHECK(!arena_try(&a, 6000));
    char *p = arena_strndup(&a, "abc", 3);
    CHECK_STR(str_of(p), "abc");
    arena_reset(&a);
    CHECK(arena_try(&a, 9000));
    CHECK(arena_alloc(&a, 6000)); /* for what cannot fail */
    CHECK(!arena_try(&a, 1));
    arena_fini(&a);
}

/* ------------------------------------------------------------------ checksums */

/* They lie on disks: another value for the same bytes would be damage. */
TEST(checksums_are_the_same_for_ever)
{
    char text[100];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)i;
    CHECK(sum64(STR(""), 0) == UINT64_C(0xa541916e1bea43bc));
    CHECK(sum64(str_n(text, 31), 0) == UINT64_C(0x79103a3e08c17b19));
    CHECK(sum64(str_n(text, 32), 0) == UINT64_C(0x5fb28d0ae0795b52));
    CHECK(sum64(str_n(text, 100), 7) == UINT64_C(0x40499b4551536849));
    CHECK(sum64_u64(1, 2) == UINT64_C(0x440ede935632c1b9));
}

TEST(every_flipped_bit_changes_a_checksum)
{
    char text[131];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)test_random_below(256);
    for (size_t n = 0; n < sizeof text; n++) {
        uint64_t sum = sum64(str_n(text, n), n);
        CHECK(sum != sum64(str_n(text, n + 1), n));
        CHECK(sum != sum64(str_n(text, n), n + 1));
        for (size_t bit = 0; bit < n * 8; bit++) {
            text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
            CHECK(sum != sum64(str_n(text, n), n));
            text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        }
    }
}

TEST(a_budget_names_what_used_it_up)
{
    struct budget b = { .max_steps = 10 };
    CHECK(budget_spend(&b, 10, "reading"));
    CHECK(!budget_is_over(&b));
    CHECK(!budget_spend(&b, 1, "matching"));
    CHECK(!budget_spend(&b, 0, "writing")); /* it stays over */
    CHECK(budget_is_over(&b));
    CHECK_STR(str_of(b.over), "matching");
    CHECK(budget_spend(NULL, UINT64_MAX, "anything"));
    CHECK(!budget_is_over(NULL));
    struct budget page = { .max_steps = 10 };
    budget_allow(&page, 5);
    CHECK(budget_spend(&page, 15, "reading"));
}

TEST(an_arena_goes_back_to_a_mark)
{
    enum { MARKS = 12, ROUNDS = 300 };
    struct arena a = { 0 };
    struct {
        struct arena_mark mark;
        char *last; /* taken before the mark */
        size_t n;
    } marks[MARKS];
    size_t n = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (n < MARKS && test_random() % 3) {
            size_t size = 1 + test_random() % (test_random() % 4 ? 500 : 9000);
            marks[n].last = arena_alloc(&a, size);
            memset(marks[n].last, (int)n + 1, size);
            marks[n].n = size;
            marks[n].mark = arena_mark(&a);
            n++;
        } else if (n) {
            n = test_random() % n + 1;
            arena_rewind(&a, &marks[n - 1].mark);
            CHECK_INT(a.total_bytes, marks[n - 1].mark.total_bytes);
        }
        for (size_t k = 0; k < n; k++)
            CHECK_INT(marks[k].last[marks[k].n - 1], (int)k + 1);
    }
    const struct arena_mark nothing = { 0 };
    arena_rewind(&a, &nothing);
    CHECK_INT(a.total_bytes, 0);
    arena_fini(&a);
}

TEST(an_arena_spends_what_it_takes_and_is_full_without_a_budget)
{
    struct budget b = { .max_steps = 1000 };
    struct arena a = { .budget = &b };
    (void)arena_alloc(&a, 8000);
    CHECK(b.steps >= 500 && !arena_is_full(&a));
    (void)arena_alloc(&a, 16000); /* what has to be said still finds room */
    CHECK(arena_is_full(&a));
    arena_fini(&a);
    CHECK(a.budget == &b);
}

TEST(a_boot_that_cannot_be_read_is_told_from_one_that_is_not_there)
{
    char boot[BOOT_ID_BYTES], again[BOOT_ID_BYTES];
    struct err err = { 0 };
    CHECK_OK(boot_id_read(boot, NULL));
    CHECK_INT(strlen(boot), BOOT_ID_BYTES - 1);
    static const struct {
        int code, reported;
    } cases[] = {
        { EMFILE, -EMFILE }, { ENOMEM, -ENOMEM }, { ENOENT, -ENOENT }, { EACCES, -ENOENT }
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        memset(again, 'x', sizeof again);
        err = (struct err){ 0 };
        sys_fail_nth(SYS_OPENAT, 1, cases[i].code);
        CHECK_ERR(boot_id_read(again, &err), cases[i].reported);
        sys_fail_nth(SYS_OPENAT, 0, 0);
        CHECK(strstr(err_text(&err), "boot_id"));
        CHECK_INT(again[0], 'x');
    }
    CHECK_OK(boot_id_read(again, NULL));
    CHECK(strcmp(boot, again) == 0);
}

TEST(a_program_is_found_beside_this_one_unless_the_environment_names_it)
{
    CHECK_INT(unsetenv("TEST_PROGRAM"), 0);
    scoped(free_scoped) char *dir = sibling_dir();
    scoped(free_scoped) char *here = sibling_find("test_base", "TEST_PROGRAM");
    CHECK(access(here, X_OK) == 0);
    CHECK(str_has_prefix(str_of(here), str_of(dir)) && here[strlen(dir)] == '/');
    CHECK_INT(setenv("TEST_PROGRAM", "", 1), 0);
    scoped(free_scoped) char *empty = sibling_find("x", "TEST_PROGRAM");
    CHECK(str_has_prefix(str_of(empty), str_of(dir)));
    CHECK_INT(setenv("TEST_PROGRAM", "/a/b", 1), 0);
    scoped(free_scoped) char *named = sibling_find("x", "TEST_PROGRAM");
    CHECK_STR(str_of(named), "/a/b");
    CHECK_INT(unsetenv("TEST_PROGRAM"), 0);
}

static uint64_t ms_of(struct timespec ts)
{
    CHECK(ts.tv_nsec >= 0 && ts.tv_nsec < 1000000000);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

TEST(a_time_to_wait_until_carries_into_the_seconds)
{
    for (uint64_t ms = 0; ms < 5000; ms += 333) {
        struct timespec now;
        CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
        uint64_t until = ms_of(clock_mono_in(ms));
        CHECK(until >= ms_of(now) + ms && until <= ms_of(clock_mono_in(ms)));
    }
}

TEST_MAIN
