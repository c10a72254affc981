/* SPDX-License-Identifier: Apache-2.0 */
/* src/container: what containers print, and the filter of system calls. Nothing needs root. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "container/output.h"
#include "container/syscalls.h"
#include "test.h"

#include <fcntl.h>
#include <unistd.h>

static void drain(struct loop *loop)
{
    while (loop_turn(loop, false))
        ;
    loop_fini(loop);
}

/* ---------------------------------------------------------------- what is printed */

struct lines {
    struct container_output_reader reader;
    unsigned n, n_more;
    size_t longest;
    struct buf all;
};

static void on_line(void *arg, struct str line, bool has_more)
{
    struct lines *l = arg;
    l->n++;
    l->n_more += has_more;
    l->longest = l->longest > line.n ? l->longest : line.n;
    (void)buf_add_str(&l->all, str_slice(line, 0, 8));
    (void)buf_add_char(&l->all, '|');
}

TEST(what_is_printed_comes_as_lines_also_the_last_one)
{
    struct loop loop;
    struct lines l = { .all = BUF_INIT(1 << 20) };
    struct container_output *o;
    int ends[2];
    CHECK_OK(loop_init(&loop, NULL));
    CHECK_OK(pipe2(ends, O_CLOEXEC | O_NONBLOCK));
    container_output_reader_init(&l.reader, &loop);
    CHECK_OK(container_output_start(&l.reader, ends[0], 0, on_line, &l, &o, NULL));
    CHECK_OK(sys_write_all(ends[1], "one\r\n\ntw", 8));
    (void)loop_turn(&loop, true);
    CHECK_STR(buf_str(&l.all), "one\r||"); /* every byte, and empty lines */
    CHECK_STR(str_of(container_output_last(o)), "one");
    CHECK_OK(sys_write_all(ends[1], "o\nthree", 7));
    container_output_drain(o);
    CHECK_STR(buf_str(&l.all), "one\r||two|");
    container_output_close(o);
    CHECK_STR(buf_str(&l.all), "one\r||two|three|");
    CHECK_INT(l.n_more, 0);
    (void)close(ends[1]);
    container_output_reader_fini(&l.reader);
    drain(&loop);
    buf_fini(&l.all);
}

TEST(a_line_without_end_is_told_in_pieces)
{
    struct loop loop;
    struct lines l = { .all = BUF_INIT(1 << 20) };
    struct container_output *o;
    static char much[60000]; /* three pieces of 16 KiB and a rest */
    int ends[2];
    memset(much, 'x', sizeof much);
    CHECK_OK(loop_init(&loop, NULL));
    CHECK_OK(pipe2(ends, O_CLOEXEC | O_NONBLOCK));
    container_output_reader_init(&l.reader, &loop);
    CHECK_OK(container_output_start(&l.reader, ends[0], 0, on_line, &l, &o, NULL));
    CHECK_OK(sys_write_all(ends[1], much, sizeof much));
    while (l.n < 3)
        (void)loop_turn(&loop, true);
    container_output_drain(o);
    CHECK_INT(l.n, 3);
    CHECK_INT(l.n_more, 3);
    CHECK_OK(sys_write_all(ends[1], "y\n", 2));
    container_output_drain(o);
    CHECK_INT(l.n, 4);
    CHECK_INT(l.n_more, 3);
    CHECK_INT(l.longest, CONTAINER_OUTPUT_LINE_MAX);
    much[sizeof much - 1] = '\n';
    CHECK_OK(sys_write_all(ends[1], much, sizeof much)); /* the same, with its end in one read */
    container_output_drain(o);
    CHECK_INT(l.n, 8);
    CHECK_INT(l.n_more, 6);
    container_output_close(o);
    CHECK_INT(l.n, 8);
    (void)close(ends[1]);
    container_output_reader_fini(&l.reader);
    drain(&loop);
    buf_fini(&l.all);
}

/* Offers far more lines of so many bytes than are read, and says how much was taken. */
static size_t print_much(struct loop *loop, int fd, size_t line)
{
    static char much[64 << 10];
    size_t written = 0;
    memset(much, 'x', sizeof much);
    for (size_t i = line; i <= sizeof much; i += line)
        much[i - 1] = '\n';
    for (int i = 0; i < 200; i++) {
        ssize_t n = write(fd, much, sizeof much);
        written += n > 0 ? (size_t)n : 0;
        (void)loop_turn(loop, false);
    }
    return written;
}

/* What it could print in one second, after its burst, in lines of so many bytes. */
static size_t print_for_a_second(uint32_t rate, size_t line)
{
    struct loop loop;
    struct lines l = { .all = BUF_INIT((size_t)32 << 20) };
    struct container_output *o;
    int ends[2];
    CHECK_OK(loop_init(&loop, NULL));
    CHECK_OK(pipe2(ends, O_CLOEXEC | O_NONBLOCK));
    container_output_reader_init(&l.reader, &loop);
    CHECK_OK(container_output_start(&l.reader, ends[0], rate, on_line, &l, &o, NULL));
    size_t burst = print_much(&loop, ends[1], line);
    CHECK(line < 1024 || burst >= CONTAINER_OUTPUT_BURST);
    CHECK(burst < 2 * CONTAINER_OUTPUT_BURST); /* 12 MiB were offered */
    loop_skip(&loop, 1000);
    size_t written = print_much(&loop, ends[1], line);
    container_output_close(o);
    (void)close(ends[1]);
    container_output_reader_fini(&l.reader);
    drain(&loop);
    buf_fini(&l.all);
    return written;
}

TEST(a_container_that_prints_too_much_waits)
{
    enum { READ = 64 << 10 }; /* what one read takes: it may be too much once */
    CHECK(print_for_a_second(1, 4096) <= READ);
    CHECK(print_for_a_second(0, 4096) > READ);
}

TEST(short_lines_cost_more_than_their_bytes)
{
    enum { PIPE = 64 << 10 }; /* is filled without being read */
    CHECK(print_for_a_second(CONTAINER_OUTPUT_BURST, 4096) > 800 << 10);
    CHECK(print_for_a_second(CONTAINER_OUTPUT_BURST, 1) < PIPE + (64 << 10));
}

enum { PIPES = 16 };

/* A pipe that is always full. */
struct flood {
    struct container_output *o;
    int fd;
    size_t n_read;
};

static void on_flood(void *arg, struct str line, bool has_more)
{
    struct flood *f = arg;
    f->n_read += line.n;
}

static size_t read_by_a_turn(struct loop *loop, struct flood *floods)
{
    static const char much[4096];
    size_t before = 0, after = 0;
    for (size_t i = 0; i < PIPES; i++) {
        before += floods[i].n_read;
        while (write(floods[i].fd, much, sizeof much) > 0)
            ;
    }
    (void)loop_turn(loop, true);
    for (size_t i = 0; i < PIPES; i++)
        after += floods[i].n_read;
    return after - before;
}

TEST(pipes_that_are_always_full_share_turns_that_are_bounded)
{
    struct loop loop;
    struct container_output_reader reader;
    struct flood floods[PIPES] = { 0 };
    size_t least = SIZE_MAX, most = 0;
    CHECK_OK(loop_init(&loop, NULL));
    container_output_reader_init(&reader, &loop);
    for (size_t i = 0; i < PIPES; i++) {
        int ends[2];
        CHECK_OK(pipe2(ends, O_CLOEXEC | O_NONBLOCK));
        floods[i].fd = ends[1];
        CHECK_OK(container_output_start(&reader, ends[0], CONTAINER_OUTPUT_ALL, on_flood,
                                        &floods[i], &floods[i].o, NULL));
    }
    for (int turn = 0; turn < 100; turn++)
        CHECK(read_by_a_turn(&loop, floods) <= CONTAINER_OUTPUT_TURN + LOOP_SCRATCH_BYTES);
    for (size_t i = 0; i < PIPES; i++) {
        least = MIN(least, floods[i].n_read);
        most = MAX(most, floods[i].n_read);
        container_output_release(floods[i].o);
        (void)close(floods[i].fd);
    }
    CHECK(least > 0);
    CHECK(most - least <= 2 * LOOP_SCRATCH_BYTES);
    container_output_reader_fini(&reader);
    drain(&loop);
}

TEST(a_pipe_that_is_paused_while_it_waits_for_its_turn_is_not_read)
{
    struct loop loop;
    struct container_output_reader reader;
    struct flood f = { 0 };
    int ends[2];
    CHECK_OK(loop_init(&loop, NULL));
    container_output_reader_init(&reader, &loop);
    CHECK_OK(pipe2(ends, O_CLOEXEC | O_NONBLOCK));
    CHECK_OK(container_output_start(&reader, ends[0], 0, on_flood, &f, &f.o, NULL));
    CHECK_OK(sys_write_all(ends[1], "one\n", 4));
    reader.turn_left = 0; /* others have used it up */
    (void)loop_turn(&loop, true);
    CHECK(!list_is_empty(&reader.queue));
    container_output_pause(f.o, true);
    while (loop_turn(&loop, false))
        ;
    CHECK_INT(f.n_read, 0);
    container_output_pause(f.o, false);
    while (f.n_read == 0)
        (void)loop_turn(&loop, true);
    CHECK_INT(f.n_read, 3);
    (void)close(ends[1]);
    container_output_close(f.o);
    container_output_reader_fini(&reader);
    drain(&loop);
}

/* ---------------------------------------------------------------- the filter */

TEST(the_filter_of_system_calls_compiles)
{
    scoped(free_scoped) char *text = NULL;
    CHECK_OK(container_syscalls_compile(&text, NULL));
    CHECK(strlen(text) > 1000 && strlen(text) % 4 == 0);
}

TEST_MAIN
