/* SPDX-License-Identifier: Apache-2.0 */
/* fn/worker: what containers are watched with. None of it needs a container, or root. */
#include "base/buf.h"
#include "base/sys.h"
#include "fn/worker/oci_config.h"
#include "fn/worker/oci_output.h"
#include "fn/worker/probe.h"
#include "fn/worker/process.h"
#include "io/http.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#define LOOPBACK 0x7f000001u

/* ---------------------------------------------------------------- probes */

struct probed {
    int done, r;
    char text[200];
};

static void on_probed(void *arg, int r, const struct err *err)
{
    struct probed *p = arg;
    p->done++;
    p->r = r;
    (void)snprintf(p->text, sizeof p->text, "%s", err_text(err));
}

static struct probe *start_probe(struct loop *loop, uint16_t port, const char *path,
                                 uint64_t limit_ms, struct probed *p)
{
    struct probe *probe;
    struct probe_opts o = { .address = LOOPBACK,
                            .port = port,
                            .path = str_of(path),
                            .limit_ms = limit_ms,
                            .done = on_probed,
                            .arg = p };
    *p = (struct probed){ 0 };
    CHECK_OK(probe_start(loop, &o, &probe, NULL));
    CHECK_INT(p->done, 0);
    return probe;
}

static void drain(struct loop *loop)
{
    while (loop_turn(loop, false))
        ;
    loop_fini(loop);
}

/* A port that nobody listens on (yet). */
static int bind_any(uint16_t *ret_port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(LOOPBACK) };
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_OK(fd);
    CHECK_OK(bind(fd, (struct sockaddr *)&at, sizeof at));
    CHECK_OK(getsockname(fd, (struct sockaddr *)&at, &n));
    *ret_port = ntohs(at.sin_port);
    return fd;
}

TEST(a_probe_waits_until_the_port_accepts)
{
    struct loop loop;
    struct probed p;
    uint16_t port;
    CHECK_OK(loop_init(&loop, NULL));
    int fd = bind_any(&port);
    (void)start_probe(&loop, port, "", 30000, &p);
    for (int i = 0; i < 5; i++)
        (void)loop_turn(&loop, true);
    CHECK_INT(p.done, 0);
    CHECK_OK(listen(fd, 8));
    while (!p.done)
        (void)loop_turn(&loop, true);
    CHECK_INT(p.r, 0);
    (void)close(fd);
    drain(&loop);
}

TEST(a_probe_gives_up_and_says_what_it_last_saw)
{
    struct loop loop;
    struct probed p;
    uint16_t port;
    CHECK_OK(loop_init(&loop, NULL));
    int fd = bind_any(&port);
    (void)start_probe(&loop, port, "", 20, &p);
    while (!p.done)
        (void)loop_turn(&loop, true);
    CHECK_INT(p.r, -ETIMEDOUT);
    CHECK(strstr(p.text, "within 20 ms") && strstr(p.text, "refused"));
    (void)close(fd);
    drain(&loop);
}

TEST(a_probe_that_was_stopped_says_nothing)
{
    struct loop loop;
    struct probed p;
    uint16_t port;
    CHECK_OK(loop_init(&loop, NULL));
    int fd = bind_any(&port);
    probe_stop(start_probe(&loop, port, "", 20, &p));
    struct probe *other = start_probe(&loop, port, "", 30000, &p);
    (void)loop_turn(&loop, true);
    (void)loop_turn(&loop, true);
    probe_stop(other);
    probe_stop(NULL);
    (void)close(fd);
    drain(&loop);
    CHECK_INT(p.done, 0);
}

static int statuses[] = { 503, 404, 204 };
static int n_asked;

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    CHECK_STR(req->target, "/ready?x");
    int at = n_asked < 2 ? n_asked : 2;
    n_asked++;
    http_reply(x, statuses[at], NULL, STR(""));
}

static void on_closed(void *arg)
{
    *(bool *)arg = true;
}

TEST(a_path_is_asked_until_it_is_well)
{
    struct loop loop;
    struct probed p;
    struct http_server *server;
    bool closed = false;
    CHECK_OK(loop_init(&loop, NULL));
    struct http_server_opts o = { .host = "127.0.0.1", .on_request = on_request };
    CHECK_OK(http_server_start(&loop, &o, &server, NULL));
    n_asked = 0;
    (void)start_probe(&loop, http_server_port(server), "/ready?x", 30000, &p);
    while (!p.done)
        (void)loop_turn(&loop, true);
    CHECK_INT(p.r, 0);
    CHECK_INT(n_asked, 3);
    http_server_close(server, 0, on_closed, &closed);
    while (!closed)
        (void)loop_turn(&loop, true);
    drain(&loop);
}

TEST(what_speaks_no_http_or_nothing_at_all_is_not_ready)
{
    struct loop loop;
    struct probed p;
    uint16_t port;
    CHECK_OK(loop_init(&loop, NULL));
    int fd = bind_any(&port);
    CHECK_OK(listen(fd, 64)); /* the kernel accepts, nobody answers */
    (void)start_probe(&loop, port, "/", 60, &p);
    while (!p.done)
        (void)loop_turn(&loop, true);
    CHECK_INT(p.r, -ETIMEDOUT);
    CHECK(strstr(p.text, "no answer"));
    (void)close(fd);
    drain(&loop);
}

/* ---------------------------------------------------------------- processes */

struct ended {
    int n, status;
};

static void on_exit_of(struct process *p, int status, void *arg)
{
    struct ended *e = arg;
    e->n++;
    e->status = status;
}

static struct process *spawn(struct loop *loop, const char *script, int out, struct ended *e)
{
    const char *const argv[] = { "/bin/sh", "-c", script, NULL }, *const env[] = { "A=b", NULL };
    struct process *p;
    struct process_opts o = { .argv = argv,
                              .env = env,
                              .mount_ns = -1,
                              .in = out,
                              .out = out,
                              .err_out = out,
                              .on_exit = on_exit_of,
                              .arg = e };
    *e = (struct ended){ 0 };
    CHECK_OK(process_spawn(loop, &o, &p, NULL));
    return p;
}

TEST(a_process_is_told_how_it_ended)
{
    struct loop loop;
    struct ended e;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    CHECK_OK(loop_init(&loop, NULL));
    (void)spawn(&loop, "exit 7", null, &e);
    while (!e.n)
        (void)loop_turn(&loop, true);
    CHECK_INT(e.status, 7);
    struct process *p = spawn(&loop, "while :; do :; done", null, &e);
    process_signal(p, SIGTERM);
    while (!e.n)
        (void)loop_turn(&loop, true);
    CHECK_INT(e.status, -SIGTERM);
    (void)close(null);
    drain(&loop);
}

TEST(a_process_gets_its_environment_and_three_descriptors)
{
    struct loop loop;
    struct ended e;
    char text[200];
    int ends[2], stray = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */
    CHECK_OK(loop_init(&loop, NULL));
    CHECK_OK(pipe2(ends, O_CLOEXEC));
    (void)spawn(&loop, "echo $A; for f in /proc/self/fd/*; do [ -e $f ] && echo ${f##*/}; done",
                ends[1], &e);
    while (!e.n)
        (void)loop_turn(&loop, true);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    CHECK(n > 0);
    text[n] = '\0';
    CHECK_STR(str_of(text), "b\n0\n1\n2\n");
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)close(stray);
    drain(&loop);
}

TEST(a_program_that_is_not_there_is_an_error_at_once)
{
    struct loop loop;
    struct process *p;
    struct err err = { 0 };
    const char *const argv[] = { "/no/such/program", NULL };
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    CHECK_OK(loop_init(&loop, NULL));
    struct process_opts o = { .argv = argv, .env = argv + 1, .mount_ns = -1 };
    o.in = o.out = o.err_out = null;
    CHECK_ERR(process_spawn(&loop, &o, &p, &err), -ENOENT);
    CHECK(strstr(err.text, "/no/such/program"));
    (void)close(null);
    drain(&loop);
}

TEST(who_a_process_is_can_be_told_for_ever)
{
    struct process_facts me, again;
    CHECK_OK(process_facts(getpid(), &me));
    CHECK_INT(me.parent, getppid());
    CHECK_INT(me.session, getsid(0));
    CHECK(me.state == 'R' || me.state == 'S');
    CHECK_OK(process_facts(getpid(), &again));
    CHECK(me.start_ticks && me.start_ticks == again.start_ticks);
    CHECK_ERR(process_facts(0x3ffffffe, &me), -ESRCH);
    CHECK(!process_reap_stray(getpid()));
}

/* ---------------------------------------------------------------- what is printed */

struct lines {
    unsigned n;
    size_t longest;
    struct buf all;
};

static void on_line(void *arg, struct str line)
{
    struct lines *l = arg;
    l->n++;
    l->longest = l->longest > line.n ? l->longest : line.n;
    (void)buf_add_str(&l->all, str_slice(line, 0, 8));
    (void)buf_add_char(&l->all, '|');
}

TEST(what_is_printed_comes_as_lines_also_the_last_one)
{
    struct loop loop;
    struct lines l = { .all = BUF_INIT(1 << 20) };
    struct oci_output *o;
    int ends[2];
    CHECK_OK(loop_init(&loop, NULL));
    CHECK_OK(pipe2(ends, O_CLOEXEC | O_NONBLOCK));
    CHECK_OK(oci_output_start(&loop, ends[0], on_line, &l, &o, NULL));
    CHECK_OK(sys_write_all(ends[1], "one\r\n\ntw", 8));
    (void)loop_turn(&loop, true);
    CHECK_STR(buf_str(&l.all), "one|");
    CHECK_OK(sys_write_all(ends[1], "o\nthree", 7));
    oci_output_drain(o);
    CHECK_STR(buf_str(&l.all), "one|two|");
    oci_output_close(o);
    CHECK_STR(buf_str(&l.all), "one|two|three|");
    (void)close(ends[1]);
    drain(&loop);
    buf_fini(&l.all);
}

TEST(a_line_without_end_is_told_in_pieces)
{
    struct loop loop;
    struct lines l = { .all = BUF_INIT(1 << 20) };
    struct oci_output *o;
    static char much[60000];
    int ends[2];
    memset(much, 'x', sizeof much);
    CHECK_OK(loop_init(&loop, NULL));
    CHECK_OK(pipe2(ends, O_CLOEXEC | O_NONBLOCK));
    CHECK_OK(oci_output_start(&loop, ends[0], on_line, &l, &o, NULL));
    CHECK_OK(sys_write_all(ends[1], much, sizeof much));
    (void)loop_turn(&loop, true);
    oci_output_close(o);
    CHECK_INT(l.n, (sizeof much + OCI_OUTPUT_LINE_MAX - 1) / OCI_OUTPUT_LINE_MAX);
    CHECK_INT(l.longest, OCI_OUTPUT_LINE_MAX);
    (void)close(ends[1]);
    drain(&loop);
    buf_fini(&l.all);
}

TEST(who_prints_too_much_waits)
{
    struct loop loop;
    struct lines l = { .all = BUF_INIT((size_t)16 << 20) };
    struct oci_output *o;
    static char much[64 << 10];
    int ends[2];
    size_t written = 0;
    memset(much, '\n', sizeof much);
    CHECK_OK(loop_init(&loop, NULL));
    CHECK_OK(pipe2(ends, O_CLOEXEC | O_NONBLOCK));
    CHECK_OK(oci_output_start(&loop, ends[0], on_line, &l, &o, NULL));
    for (int i = 0; i < 200; i++) {
        ssize_t n = write(ends[1], much, sizeof much);
        written += n > 0 ? (size_t)n : 0;
        (void)loop_turn(&loop, false);
    }
    CHECK(written >= OCI_OUTPUT_BURST);
    CHECK(written < 2 * OCI_OUTPUT_BURST); /* 12 MiB were offered */
    oci_output_close(o);
    (void)close(ends[1]);
    drain(&loop);
    buf_fini(&l.all);
}

/* ---------------------------------------------------------------- the filter */

TEST(the_filter_of_system_calls_compiles)
{
    scoped(free_scoped) char *text = NULL;
    CHECK_OK(oci_filter_make(&text, NULL));
    CHECK(strlen(text) > 1000 && strlen(text) % 4 == 0);
}

TEST_MAIN
