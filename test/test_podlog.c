/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/log/podlog_path.h"
#include "agent/log/podlog_reader.h"

#include "base/sys.h"
#include "codec/gzip.h"
#include "temp_dir.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------ lines */

TEST(a_line_is_read_as_it_was_written)
{
    struct buf b = BUF_INIT(1 << 20);
    struct podlog_stamp stamp = { 0 };
    struct podlog_line l;
    CHECK_OK(
        podlog_line_write(&b, &stamp, 1767323045000006, PODLOG_STDOUT, STR("hello  x"), false));
    CHECK_STR(buf_str(&b), "2026-01-02T03:04:05.000006000Z stdout F hello  x\n");
    buf_reset(&b);
    CHECK_OK(podlog_line_write(&b, &stamp, 1767323046999999, PODLOG_STDERR, STR(""), true));
    CHECK_STR(buf_str(&b), "2026-01-02T03:04:06.999999000Z stderr P \n");
    CHECK_OK(podlog_line_parse(str_slice(buf_str(&b), 0, b.n - 1), &l));
    CHECK(l.stream == PODLOG_STDERR && l.is_partial && l.text.n == 0);
    CHECK_STR(l.time, "2026-01-02T03:04:06.999999000Z");
    CHECK_OK(podlog_line_parse(STR("2016-10-06T00:17:09.669794202+02:00 stdout F:later a b"), &l));
    CHECK(!l.is_partial);
    CHECK_STR(l.text, "a b");
    buf_fini(&b);
}

TEST(what_is_no_line_is_refused)
{
    static const char *const bad[] = { "",
                                       "x",
                                       "2026-01-02T03:04:05.000006000Z stdout F",
                                       "2026-01-02T03:04:05.000006000Z stdin F x",
                                       "yesterday stdout F x",
                                       "2026 stdout F x" };
    struct podlog_line l;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK_ERR(podlog_line_parse(str_of(bad[i]), &l), E_PARSE);
}

/* ------------------------------------------------------------------ filters */

static const char sample[] = "2026-01-02T03:04:01.000000000Z stdout F one\n"
                             "2026-01-02T03:04:02.000000000Z stderr P tw\n"
                             "2026-01-02T03:04:02.500000000Z stderr F o\n"
                             "garbage\n"
                             "2026-01-02T03:04:03.000000000Z stdout F \n"
                             "2026-01-02T03:04:04.000000000Z stdout F last";

static void check_filter(struct podlog_query q, const char *want)
{
    struct str all = str_of(sample);
    for (size_t piece = 1; piece <= all.n; piece++) {
        struct podlog_filter f;
        struct buf held = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
        podlog_filter_init(&f, &q);
        for (size_t at = 0; at < all.n; at += piece) {
            (void)buf_add_str(&held, str_slice(all, at, at + piece));
            buf_consume(&held, podlog_filter_run(&f, buf_str(&held), at + piece >= all.n, &out));
        }
        CHECK_STR(buf_str(&out), want);
        buf_fini(&held);
        buf_fini(&out);
    }
}

TEST(lines_are_chosen_and_joined)
{
    check_filter((struct podlog_query){ 0 }, "one\ntwo\n\nlast\n");
    check_filter((struct podlog_query){ .no_stderr = true }, "one\n\nlast\n");
    check_filter((struct podlog_query){ .no_stdout = true }, "two\n");
    check_filter((struct podlog_query){ .timestamps = true },
                 "2026-01-02T03:04:01.000000000Z one\n2026-01-02T03:04:02.000000000Z two\n"
                 "2026-01-02T03:04:03.000000000Z \n2026-01-02T03:04:04.000000000Z last\n");
    check_filter((struct podlog_query){ .has_since = true, .since_us = 1767323043000000 },
                 "\nlast\n");
    check_filter((struct podlog_query){ .has_limit = true, .limit_bytes = 6 }, "one\ntw");
    check_filter((struct podlog_query){ .has_limit = true, .limit_bytes = 600 },
                 "one\ntwo\n\nlast\n");
}

TEST(a_line_of_any_length_passes_in_bounded_memory)
{
    struct podlog_filter f;
    struct podlog_query q = { .timestamps = true };
    struct buf held = BUF_INIT(PODLOG_LINE_MAX_BYTES + 4096), out = BUF_INIT(8 << 20);
    podlog_filter_init(&f, &q);
    (void)buf_add_cstr(&held, "2026-01-02T03:04:01.000000000Z stdout F ");
    for (size_t n = 0; n < 1000; n++) {
        char piece[1024];
        memset(piece, 'a', sizeof piece);
        CHECK_OK(buf_add(&held, piece, sizeof piece));
        buf_consume(&held, podlog_filter_run(&f, buf_str(&held), false, &out));
    }
    (void)buf_add_cstr(&held, "b\n2026-01-02T03:04:01.000000000Z stdout F next\n");
    buf_consume(&held, podlog_filter_run(&f, buf_str(&held), true, &out));
    CHECK_INT(out.n, 31 + 1024000 + 2 + 36);
    CHECK(str_has_suffix(buf_str(&out), STR("ab\n2026-01-02T03:04:01.000000000Z next\n")));
    buf_fini(&held);
    buf_fini(&out);
}

/* ------------------------------------------------------------------ names */

TEST(names_are_those_of_a_kubelet)
{
    struct podlog_name n = { STR("ns"), STR("web-0"), STR("0-1-2"), STR("app"), 3 };
    char *file = podlog_path_file("/var/log", &n),
         *link = podlog_path_link("/var/log", &n, STR("id"));
    CHECK_STR(str_of(file), "/var/log/pods/ns_web-0_0-1-2/app/3.log");
    CHECK_STR(str_of(link), "/var/log/containers/web-0_ns_app-id.log");
    free(file);
    free(link);
    char pod[254];
    memset(pod, 'p', sizeof pod - 1);
    pod[sizeof pod - 1] = '\0';
    n.pod = str_of(pod);
    link = podlog_path_link("/var/log", &n, STR("id"));
    CHECK_INT(strlen(strrchr(link, '/') + 1), 255);
    free(link);
}

/* ------------------------------------------------------------------ files */

struct rig {
    struct loop loop;
    char dir[TEMP_DIR_BYTES];
    char *path;
    struct podlog_jobs *jobs;
    struct podlog_writer *w;
    bool is_full;
    unsigned n_full; /* how often it became so */
};

static void on_full(void *arg, bool is_full)
{
    struct rig *r = arg;
    CHECK(r->is_full != is_full);
    r->is_full = is_full;
    r->n_full += is_full;
}

static void rig_open(struct rig *r, uint64_t max_bytes)
{
    struct err err = { 0 };
    struct podlog_writer_opts opts = { .loop = &r->loop,
                                       .jobs = r->jobs,
                                       .path = r->path,
                                       .max_bytes = max_bytes,
                                       .max_files = 4,
                                       .on_full = on_full,
                                       .arg = r };
    CHECK_OK(podlog_writer_open(&opts, &r->w, &err));
}

static void rig_init(struct rig *r, uint64_t max_bytes)
{
    struct err err = { 0 };
    memset(r, 0, sizeof *r);
    CHECK_OK(loop_init(&r->loop, &err));
    CHECK(temp_dir_make("podlog", r->dir));
    struct podlog_name n = { STR("ns"), STR("p"), STR("u"), STR("c"), 0 };
    r->path = podlog_path_file(r->dir, &n);
    r->jobs = podlog_jobs_new(&r->loop);
    rig_open(r, max_bytes);
}

static void set_true(void *arg)
{
    *(bool *)arg = true;
}

/* Everything that was added is in the file. */
static void settle(struct rig *r)
{
    bool done = false;
    done = !podlog_writer_flush(r->w, set_true, &done);
    while (!done)
        (void)loop_turn(&r->loop, true);
}

static void rig_fini(struct rig *r)
{
    podlog_writer_close(r->w);
    podlog_jobs_close(r->jobs, NULL, NULL);
    loop_run(&r->loop); /* jobs */
    loop_fini(&r->loop);
    temp_dir_remove(r->dir);
    free(r->path);
}

struct client {
    struct buf got;
    size_t room; /* full beyond; 0: never */
    bool ended;
    int code;
    struct podlog_reader *r;
};

static bool on_data(void *arg, struct str bytes)
{
    struct client *c = arg;
    CHECK(bytes.n > 0);
    (void)buf_add_str(&c->got, bytes);
    return c->room == 0 || c->got.n < c->room;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct client *c = arg;
    CHECK(!c->ended);
    c->ended = true;
    c->code = r;
}

static void client_start(struct client *c, struct rig *r, struct podlog_query q)
{
    static const struct podlog_reader_events events = { .on_data = on_data, .on_end = on_end };
    *c = (struct client){ .got = BUF_INIT(BUF_MAX_DEFAULT) };
    c->r = podlog_reader_start(&r->loop, r->path, r->w, &q, &events, c);
}

static void turn_until(struct rig *r, const bool *done)
{
    while (!*done)
        (void)loop_turn(&r->loop, true);
}

static void check_read(struct rig *r, struct podlog_query q, const char *want)
{
    struct client c;
    client_start(&c, r, q);
    turn_until(r, &c.ended);
    CHECK_OK(c.code);
    CHECK_STR(buf_str(&c.got), want);
    buf_fini(&c.got);
}

TEST(the_last_lines_are_found)
{
    struct rig r;
    rig_init(&r, 0);
    for (int i = 0; i < 5; i++)
        podlog_writer_add(r.w, PODLOG_STDOUT, str_n(&"abcde"[i], 1), false);
    settle(&r);
    check_read(&r, (struct podlog_query){ 0 }, "a\nb\nc\nd\ne\n");
    check_read(&r, (struct podlog_query){ .has_tail = true, .tail_lines = 2 }, "d\ne\n");
    check_read(&r, (struct podlog_query){ .has_tail = true, .tail_lines = 5 }, "a\nb\nc\nd\ne\n");
    check_read(&r, (struct podlog_query){ .has_tail = true, .tail_lines = 99 }, "a\nb\nc\nd\ne\n");
    check_read(&r, (struct podlog_query){ .has_tail = true, .tail_lines = 0 }, "");
    check_read(&r,
               (struct podlog_query){
                   .has_tail = true, .tail_lines = 4, .has_limit = true, .limit_bytes = 3 },
               "b\nc");
    rig_fini(&r);
}

/* Lines across many pieces: each has its number. */
static void write_lines(struct rig *r, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        char text[128];
        int n = snprintf(
            text, sizeof text, "line %u %.*s", i, (int)(i % 80),
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        podlog_writer_add(r->w, i % 3 ? PODLOG_STDOUT : PODLOG_STDERR, str_n(text, (size_t)n),
                          false);
    }
    settle(r);
}

static void check_lines(struct str got, unsigned from, unsigned to)
{
    struct str line;
    for (unsigned i = from; i < to; i++) {
        char want[32];
        int n = snprintf(want, sizeof want, "line %u ", i);
        CHECK(str_cut(got, '\n', &line, &got));
        if (!str_has_prefix(line, str_n(want, (size_t)n)))
            TEST_FAIL("line %u is '" STR_FMT "'", i, STR_ARG(line));
    }
    CHECK_INT(got.n, 0);
}

TEST(a_long_log_is_read_in_pieces_and_from_its_end)
{
    struct rig r;
    struct client c;
    rig_init(&r, 1 << 30);
    write_lines(&r, 0, 20000);
    client_start(&c, &r, (struct podlog_query){ 0 });
    turn_until(&r, &c.ended);
    check_lines(buf_str(&c.got), 0, 20000);
    buf_fini(&c.got);
    client_start(&c, &r, (struct podlog_query){ .has_tail = true, .tail_lines = 7777 });
    turn_until(&r, &c.ended);
    check_lines(buf_str(&c.got), 20000 - 7777, 20000);
    buf_fini(&c.got);
    rig_fini(&r);
}

/* How many of the lines of add_line() there are, all in order. */
static unsigned count_in_order(struct str got)
{
    struct str line;
    unsigned n = 0;
    while (str_cut(got, '\n', &line, &got)) {
        char want[32];
        int k = snprintf(want, sizeof want, "line %u ", n++);
        CHECK(str_has_prefix(line, str_n(want, (size_t)k)));
    }
    return n;
}

static uint64_t count_lines(struct str got)
{
    uint64_t n = 0;
    for (size_t i = 0; i < got.n; i++)
        n += got.p[i] == '\n';
    return n;
}

static unsigned count_files(const struct rig *r, const char *suffix)
{
    char *dir = xstrndup(r->path, (size_t)(strrchr(r->path, '/') - r->path));
    DIR *d = opendir(dir);
    unsigned n = 0;
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.' && str_has_suffix(str_of(e->d_name), str_of(suffix));
    (void)closedir(d);
    free(dir);
    return n;
}

/* Given, free(). */
static char *find_first(const struct rig *r, const char *suffix)
{
    char *dir = xstrndup(r->path, (size_t)(strrchr(r->path, '/') - r->path)), *found = NULL;
    DIR *d = opendir(dir);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char *path = xasprintf("%s/%s", dir, e->d_name);
        bool is_better =
            str_has_suffix(str_of(path), str_of(suffix)) && (!found || strcmp(path, found) < 0);
        free(is_better ? found : path);
        found = is_better ? path : found;
    }
    (void)closedir(d);
    free(dir);
    return found;
}

TEST(files_are_rotated_compressed_and_removed)
{
    struct rig r;
    rig_init(&r, 20000);
    for (unsigned i = 0; i < 10; i++) {
        write_lines(&r, i * 300, i * 300 + 300);
    }
    loop_skip(&r.loop, PODLOG_COMPRESS_MS);
    loop_run(&r.loop);
    CHECK(podlog_writer_generation(r.w) >= 9);
    CHECK_INT(count_files(&r, ""), 4);
    CHECK_INT(count_files(&r, ".gz"), 2);
    CHECK_INT(count_files(&r, ".tmp"), 0);
    rig_fini(&r);
}

TEST(a_compressed_file_has_all_lines)
{
    struct rig r;
    struct buf gz = BUF_INIT(1 << 20), text = BUF_INIT(8 << 20);
    struct err err = { 0 };
    rig_init(&r, 20000);
    write_lines(&r, 0, 300);
    write_lines(&r, 300, 600);
    loop_skip(&r.loop, PODLOG_COMPRESS_MS);
    loop_run(&r.loop);
    char *first = find_first(&r, ".gz");
    CHECK_OK(sys_read_file(AT_FDCWD, first, &gz, &err));
    CHECK_OK(gunzip(buf_str(&gz), &text));
    CHECK(str_find(buf_str(&text), STR("F line 0 ")) > 0);
    CHECK(str_has_suffix(buf_str(&text), STR("x\n")));
    free(first);
    buf_fini(&gz);
    buf_fini(&text);
    rig_fini(&r);
}

TEST(a_log_is_followed_through_rotations_until_its_container_ends)
{
    struct rig r;
    struct client c;
    rig_init(&r, 50000);
    write_lines(&r, 0, 100);
    client_start(&c, &r, (struct podlog_query){ .follow = true });
    unsigned n = 100;
    while (podlog_writer_generation(r.w) < 5) {
        write_lines(&r, n, n + 50);
        n += 50;
        for (int i = 0; i < 4; i++)
            (void)loop_turn(&r.loop, false);
    }
    CHECK(!c.ended);
    podlog_writer_close(take_ptr(&r.w));
    turn_until(&r, &c.ended);
    CHECK_OK(c.code);
    check_lines(buf_str(&c.got), 0, n);
    buf_fini(&c.got);
    rig_fini(&r);
}

TEST(a_client_that_does_not_read_holds_a_reader_back)
{
    struct rig r;
    struct client c;
    rig_init(&r, 1 << 30);
    write_lines(&r, 0, 20000);
    client_start(&c, &r, (struct podlog_query){ 0 });
    c.room = 1;
    for (int i = 0; i < 100 && c.got.n == 0; i++)
        (void)loop_turn(&r.loop, true);
    loop_run(&r.loop);
    CHECK(!c.ended && c.got.n > 0 && c.got.n <= 2 * PODLOG_PIECE_BYTES);
    c.room = 0;
    podlog_reader_resume(c.r);
    turn_until(&r, &c.ended);
    check_lines(buf_str(&c.got), 0, 20000);
    buf_fini(&c.got);
    rig_fini(&r);
}

TEST(a_reader_is_cancelled_in_each_state)
{
    struct rig r;
    rig_init(&r, 1 << 30);
    write_lines(&r, 0, 20000);
    for (int turns = 0; turns < 12; turns++) {
        struct client c;
        client_start(&c, &r, (struct podlog_query){ .follow = true });
        c.room = turns % 2 ? 1 : 0;
        for (int i = 0; i < turns; i++)
            (void)loop_turn(&r.loop, i == 0);
        podlog_reader_cancel(c.r);
        loop_run(&r.loop);
        CHECK(!c.ended);
        buf_fini(&c.got);
    }
    rig_fini(&r);
}

TEST(a_log_that_is_not_there_is_an_error)
{
    struct rig r;
    struct client c;
    rig_init(&r, 0);
    CHECK(unlink(r.path) == 0);
    client_start(&c, &r, (struct podlog_query){ 0 });
    turn_until(&r, &c.ended);
    CHECK_ERR(c.code, -ENOENT);
    buf_fini(&c.got);
    rig_fini(&r);
}

/* As of something that a program has put in the place of its log. */
static int code_of_reading(struct rig *r)
{
    struct client c;
    client_start(&c, r, (struct podlog_query){ 0 });
    turn_until(r, &c.ended);
    buf_fini(&c.got);
    return c.code;
}

TEST(a_link_or_a_pipe_is_no_log)
{
    struct rig r;
    rig_init(&r, 0);
    CHECK(unlink(r.path) == 0 && symlink("/proc/version", r.path) == 0);
    CHECK_ERR(code_of_reading(&r), -ELOOP);
    CHECK(unlink(r.path) == 0 && mkfifo(r.path, 0600) == 0);
    CHECK_ERR(code_of_reading(&r), -EINVAL); /* without waiting for a writer */
    rig_fini(&r);
}

/* ------------------------------------------------------------------ a disk that does not answer */

/* A pipe in the place of the file: a write() waits until somebody reads it. */
static int rig_init_stuck(struct rig *r)
{
    rig_init(r, 1 << 30);
    podlog_writer_close(r->w);
    CHECK(unlink(r->path) == 0 && mkfifo(r->path, 0600) == 0);
    int fd = open(r->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    CHECK(fd >= 0);
    rig_open(r, 1 << 30);
    return fd;
}

static void add_line(struct rig *r, unsigned i)
{
    char text[64];
    int n = snprintf(text, sizeof text, "line %u %040u", i, i);
    podlog_writer_add(r->w, PODLOG_STDOUT, str_n(text, (size_t)n), false);
}

static void on_timer(struct timer *t)
{
}

static void turn_for_a_while(struct rig *r)
{
    struct timer t = { 0 };
    timer_start(&r->loop, &t, 50, on_timer);
    while (timer_is_armed(&t))
        (void)loop_turn(&r->loop, true);
}

static void read_rest(int fd, struct buf *to)
{
    char piece[4096];
    for (ssize_t n; (n = read(fd, piece, sizeof piece)) > 0;)
        (void)buf_add(to, piece, (size_t)n);
}

static void read_until(struct rig *r, int fd, struct buf *to,
                       bool (*is_enough)(const struct rig *r))
{
    while (!is_enough(r)) {
        read_rest(fd, to);
        (void)loop_turn(&r->loop, false);
    }
}

static bool has_room(const struct rig *r)
{
    return !r->is_full;
}

static void check_text(struct str text, unsigned to)
{
    struct str line;
    struct podlog_line l;
    for (unsigned i = 0; i < to; i++) {
        char want[64];
        (void)snprintf(want, sizeof want, "line %u %040u", i, i);
        CHECK(str_cut(text, '\n', &line, &text));
        CHECK_OK(podlog_line_parse(line, &l));
        CHECK_STR(l.text, want);
    }
    CHECK_INT(text.n, 0);
}

static bool all_written;

static void on_all_written(void *arg)
{
    all_written = true;
}

static bool is_all_written(const struct rig *r)
{
    return all_written;
}

TEST(a_writer_whose_disk_does_not_answer_holds_the_container_and_loses_nothing)
{
    struct rig r;
    struct buf got = BUF_INIT(8 << 20);
    unsigned n = 0;
    int fd = rig_init_stuck(&r);
    do {
        for (; !r.is_full; n++) {
            add_line(&r, n);
            (void)loop_turn(&r.loop, false); /* the loop goes on */
            CHECK(n < 100000);
        }
        turn_for_a_while(&r);
    } while (!r.is_full); /* a job that began late has taken what was held */
    unsigned n_held = n;
    for (; n < n_held + 1000; n++) /* what its pipe still holds */
        add_line(&r, n);
    read_until(&r, fd, &got, has_room);
    CHECK(r.n_full >= 1);
    all_written = false;
    CHECK(podlog_writer_flush(r.w, on_all_written, NULL));
    read_until(&r, fd, &got, is_all_written);
    read_rest(fd, &got);
    CHECK_INT(podlog_writer_dropped(r.w), 0);
    check_text(buf_str(&got), n);
    buf_fini(&got);
    rig_fini(&r);
    (void)close(fd);
}

TEST(what_is_held_when_a_writer_is_closed_is_written)
{
    struct rig r;
    struct buf got = BUF_INIT(8 << 20);
    int fd = rig_init_stuck(&r);
    for (unsigned i = 0; i < 3000; i++) {
        add_line(&r, i);
        (void)loop_turn(&r.loop, false);
    }
    podlog_writer_close(take_ptr(&r.w));
    while (loop_turn(&r.loop, false))
        read_rest(fd, &got);
    read_rest(fd, &got);
    check_text(buf_str(&got), 3000);
    buf_fini(&got);
    rig_fini(&r);
    (void)close(fd);
}

static void on_other_work(struct job *j)
{
}

static bool other_done;

static void on_other_done(struct job *j, int code)
{
    other_done = true;
}

TEST(disks_that_do_not_answer_leave_threads_for_others)
{
    enum { LOGS = 4 }; /* as many as libuv's pool has threads */
    struct rig r, logs[LOGS];
    struct job other = { .work = on_other_work, .done = on_other_done };
    int fds[LOGS];
    rig_init(&r, 0);
    for (size_t i = 0; i < LOGS; i++) {
        scoped(free_scoped) char *path = xasprintf("%s/stuck-%zu", r.dir, i);
        struct podlog_writer_opts opts = { .loop = &r.loop, .jobs = r.jobs, .path = path };
        CHECK(mkfifo(path, 0600) == 0);
        fds[i] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        CHECK_OK(podlog_writer_open(&opts, &logs[i].w, NULL));
        for (unsigned k = 0; k < 3000; k++)
            add_line(&logs[i], k);
    }
    (void)loop_turn(&r.loop, false);
    other_done = false;
    CHECK_OK(job_start(&r.loop, &other));
    while (!other_done)
        (void)loop_turn(&r.loop, true);
    for (size_t i = 0; i < LOGS; i++)
        podlog_writer_close(logs[i].w);
    while (loop_turn(&r.loop, false)) {
        char piece[4096];
        for (size_t i = 0; i < LOGS; i++)
            (void)!read(fds[i], piece, sizeof piece);
    }
    for (size_t i = 0; i < LOGS; i++)
        (void)close(fds[i]);
    rig_fini(&r);
}

/* ------------------------------------------------------------------ rotation, a full disk */

TEST(lines_of_one_job_go_into_several_files_in_order)
{
    struct rig r;
    struct client c;
    rig_init(&r, 20000);
    client_start(&c, &r, (struct podlog_query){ .follow = true });
    for (unsigned i = 0; i < 1000; i++)
        add_line(&r, i); /* one turn: one job */
    settle(&r);
    CHECK(podlog_writer_generation(r.w) >= 3);
    podlog_writer_close(take_ptr(&r.w));
    turn_until(&r, &c.ended);
    CHECK_INT(count_in_order(buf_str(&c.got)), 1000);
    buf_fini(&c.got);
    rig_fini(&r);
}

TEST(rotated_files_are_in_order_after_a_restart)
{
    struct rig r;
    rig_init(&r, 5000);
    for (unsigned i = 0; i < 400; i++)
        add_line(&r, i); /* more rotations than seconds have passed: names ahead of the clock */
    settle(&r);
    podlog_writer_close(r.w);
    loop_run(&r.loop);
    int64_t before_s = podlog_path_last_rotation(r.path);
    rig_open(&r, 5000);
    for (unsigned i = 0; i < 100; i++)
        add_line(&r, i);
    settle(&r);
    CHECK(podlog_writer_generation(r.w) > 0);
    CHECK(podlog_path_last_rotation(r.path) > before_s);
    rig_fini(&r);
}

TEST(lines_of_a_job_after_the_one_that_failed_are_dropped)
{
    struct rig r;
    rig_init(&r, 0);
    podlog_writer_add(r.w, PODLOG_STDOUT, STR("before"), false);
    settle(&r);
    sys_fail_nth(SYS_WRITE, 2, ENOSPC); /* of the chunks of one job */
    for (unsigned i = 0; i < 2000; i++)
        add_line(&r, i);
    settle(&r);
    sys_fail_nth(SYS_WRITE, 0, 0);
    uint64_t n_dropped = podlog_writer_dropped(r.w);
    CHECK(n_dropped > 500 && n_dropped < 2000);
    loop_skip(&r.loop, PODLOG_RETRY_MS);
    podlog_writer_add(r.w, PODLOG_STDOUT, STR("after"), false);
    settle(&r);
    struct client c;
    client_start(&c, &r, (struct podlog_query){ 0 });
    turn_until(&r, &c.ended);
    char want[96];
    (void)snprintf(want, sizeof want, "\n[%llu lines could not be written here]\nafter\n",
                   (unsigned long long)n_dropped);
    CHECK(str_has_suffix(buf_str(&c.got), str_of(want)));
    CHECK_INT(count_lines(buf_str(&c.got)), 1 + 2000 - n_dropped + 2);
    buf_fini(&c.got);
    rig_fini(&r);
}

TEST(lines_are_dropped_and_counted_while_the_disk_is_full)
{
    struct rig r;
    rig_init(&r, 0);
    podlog_writer_add(r.w, PODLOG_STDOUT, STR("before"), false);
    settle(&r);
    sys_fail_nth(SYS_WRITE, 1, ENOSPC);
    podlog_writer_add(r.w, PODLOG_STDOUT, STR("lost 1"), false);
    podlog_writer_add(r.w, PODLOG_STDOUT, STR("lost 2"), false);
    settle(&r);
    sys_fail_nth(SYS_WRITE, 0, 0);
    podlog_writer_add(r.w, PODLOG_STDOUT, STR("too early"), false);
    settle(&r);
    CHECK_INT(podlog_writer_dropped(r.w), 3);
    loop_skip(&r.loop, PODLOG_RETRY_MS);
    podlog_writer_add(r.w, PODLOG_STDOUT, STR("after"), false);
    settle(&r);
    check_read(&r, (struct podlog_query){ 0 },
               "before\n[3 lines could not be written here]\nafter\n");
    rig_fini(&r);
}

TEST(a_file_that_ends_within_a_line_is_continued_with_a_new_one)
{
    struct rig r;
    rig_init(&r, 0);
    podlog_writer_add(r.w, PODLOG_STDOUT, STR("whole"), false);
    podlog_writer_close(r.w);
    loop_run(&r.loop);
    int fd = open(r.path, O_WRONLY | O_APPEND | O_CLOEXEC);
    CHECK_OK(sys_write_all(fd, "2026-01-02T03:04:05.0", 21));
    (void)close(fd);
    rig_open(&r, 0);
    podlog_writer_add(r.w, PODLOG_STDOUT, STR("next"), false);
    settle(&r);
    check_read(&r, (struct podlog_query){ 0 }, "whole\nnext\n");
    rig_fini(&r);
}

TEST(a_line_longer_than_the_format_allows_is_split)
{
    struct rig r;
    char *text = xalloc(40000);
    struct client c;
    memset(text, 'z', 40000);
    rig_init(&r, 0);
    podlog_writer_add(r.w, PODLOG_STDOUT, str_n(text, 40000), false);
    settle(&r);
    client_start(&c, &r, (struct podlog_query){ .timestamps = true });
    turn_until(&r, &c.ended);
    CHECK_INT(c.got.n, 31 + 40000 + 1);
    buf_fini(&c.got);
    free(text);
    rig_fini(&r);
}

TEST(links_lead_to_the_log_and_go_with_it)
{
    struct rig r;
    struct err err = { 0 };
    struct podlog_name n = { STR("ns"), STR("p"), STR("u"), STR("c"), 0 };
    rig_init(&r, 0);
    char *link = podlog_path_link(r.dir, &n, STR("id"));
    CHECK_OK(podlog_path_make_link(r.dir, &n, STR("id"), &err));
    CHECK_OK(podlog_path_make_link(r.dir, &n, STR("id"), &err));
    CHECK(access(link, R_OK) == 0);
    CHECK_INT(podlog_path_sweep_links(r.dir, &err), 0);
    CHECK_OK(podlog_path_remove(r.path, &err));
    CHECK_OK(podlog_path_remove(r.path, &err));
    CHECK_INT(podlog_path_sweep_links(r.dir, &err), 1);
    CHECK(access(link, F_OK) < 0);
    free(link);
    rig_fini(&r);
}

TEST_MAIN
