/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions without connections: limits, windows, back-pressure, deadlines. test_agent_server.py has
 * real clients. */
#include "agent/stream/dial.h"
#include "agent/stream/link.h"
#include "agent/stream/remote.h"

#include "codec/url.h"
#include "fake_exchange.h"
#include "spdy_client.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* ------------------------------------------------------------------ a program */

struct program {
    struct stream_remote *remote;
    struct buf in;
    size_t room; /* write() reports full beyond */
    unsigned n_starts, n_resumes, n_closes, width;
    bool in_ended;
    int refuse;
};

static int on_start(void *arg, struct stream_remote *remote, void **ret, struct err *err)
{
    struct program *p = arg;
    p->n_starts++;
    if (p->refuse)
        return err_set(err, p->refuse, "no such program");
    p->remote = remote;
    *ret = p;
    return 0;
}

static bool on_write(void *program, struct str bytes)
{
    struct program *p = program;
    (void)buf_add_str(&p->in, bytes);
    return p->in.n < p->room;
}

static void on_end_input(void *program)
{
    ((struct program *)program)->in_ended = true;
}

static void on_resume(void *program, enum stream_output which)
{
    ((struct program *)program)->n_resumes++;
}

static void on_resize(void *program, uint16_t columns, uint16_t rows)
{
    ((struct program *)program)->width = columns * 1000u + rows;
}

static void on_close(void *program, void *arg)
{
    struct program *p = arg;
    CHECK(program == NULL || program == p);
    p->n_closes++;
    p->remote = NULL;
}

static const struct stream_program_ops program_ops = { .start = on_start,
                                                       .write = on_write,
                                                       .end_input = on_end_input,
                                                       .resume = on_resume,
                                                       .resize = on_resize,
                                                       .close = on_close };

/* ------------------------------------------------------------------ the rig */

struct rig {
    struct loop loop;
    struct fake_exchange fake;
    struct spdy_client client;
    struct program program;
    size_t count;
};

static void rig_init(struct rig *r)
{
    struct err err = { 0 };
    memset(r, 0, sizeof *r);
    CHECK_OK(loop_init(&r->loop, &err));
    fake_exchange_init(&r->fake);
    spdy_client_init(&r->client);
    r->program = (struct program){ .in = BUF_INIT(BUF_MAX_DEFAULT), .room = SIZE_MAX };
}

static void turn(struct rig *r)
{
    for (int i = 0; i < 3; i++)
        (void)loop_turn(&r->loop, false);
}

static void rig_fini(struct rig *r)
{
    if (!r->fake.is_gone)
        fake_exchange_gone(&r->fake, 0);
    turn(r);
    CHECK_INT(r->count, 0);
    CHECK(loop_next_timer_ms(&r->loop) == UINT64_MAX);
    fake_exchange_fini(&r->fake);
    spdy_client_fini(&r->client);
    buf_fini(&r->program.in);
    loop_fini(&r->loop);
}

static void feed(struct rig *r)
{
    fake_exchange_feed(&r->fake, buf_str(&r->client.out));
    buf_reset(&r->client.out);
    turn(r);
}

static void serve(struct rig *r, enum stream_carrier carrier, unsigned version,
                  struct stream_remote_wish wish)
{
    const struct stream_choice choice = { .carrier = carrier, .version = version, .protocol = "" };
    stream_remote_serve(&(struct stream_remote_opts){ .loop = &r->loop,
                                                      .x = &r->fake.x,
                                                      .choice = &choice,
                                                      .wish = wish,
                                                      .count = &r->count,
                                                      .ops = &program_ops,
                                                      .arg = &r->program });
}

enum { ERROR_ID = 1, IN_ID = 3, OUT_ID = 5 };

static void open_role(struct rig *r, uint32_t id, const char *role)
{
    const char *pairs[] = { "streamtype", role, NULL };
    spdy_client_open(&r->client, id, 0, pairs);
}

/* A command with stdin and stdout that runs. */
static void start_command(struct rig *r)
{
    serve(r, STREAM_SPDY, 4, (struct stream_remote_wish){ .has_stdin = true, .has_stdout = true });
    CHECK_INT(r->count, 1);
    open_role(r, ERROR_ID, "error");
    open_role(r, IN_ID, "stdin");
    CHECK_INT(r->program.n_starts, 0);
    open_role(r, OUT_ID, "stdout");
    feed(r);
    CHECK_INT(r->program.n_starts, 1);
    buf_reset(&r->fake.sent);
}

/* Of the frames that were sent: bytes of data on a stream, and how it ended. */
struct seen {
    struct buf data;
    bool ended, reset, goaway;
    unsigned n_windows;
};

static struct seen look(struct rig *r, uint32_t id)
{
    struct seen s = { .data = BUF_INIT(BUF_MAX_DEFAULT) };
    struct spdy_reader reader;
    struct spdy_event ev;
    struct str in = buf_str(&r->fake.sent);
    spdy_reader_init(&reader);
    while (spdy_read(&reader, &in, &ev, NULL) > 0) {
        if (ev.kind == SPDY_DATA && ev.stream == id) {
            (void)buf_add_str(&s.data, ev.data);
            s.ended = s.ended || ev.is_last;
        }
        s.reset = s.reset || (ev.kind == SPDY_RESET && ev.stream == id);
        s.n_windows += ev.kind == SPDY_WINDOW && ev.stream == id;
        s.goaway = s.goaway || ev.kind == SPDY_GOAWAY;
    }
    CHECK_INT(in.n, 0);
    spdy_reader_fini(&reader);
    return s;
}

static size_t sent_on(struct rig *r, uint32_t id)
{
    struct seen s = look(r, id);
    size_t n = s.data.n;
    buf_fini(&s.data);
    return n;
}

static struct str zeroes(size_t n)
{
    static char bytes[1 << 20];
    CHECK(n <= sizeof bytes);
    return str_n(bytes, n);
}

/* ------------------------------------------------------------------ remote commands */

TEST(a_command_ends_with_its_status_and_a_goodbye)
{
    struct rig r;
    rig_init(&r);
    start_command(&r);
    CHECK(stream_remote_output(r.program.remote, STREAM_STDOUT, STR("out")));
    CHECK(stream_remote_output(r.program.remote, STREAM_STDERR, STR("not wanted")));
    stream_remote_exited(r.program.remote, 3);
    struct seen out = look(&r, OUT_ID), status = look(&r, ERROR_ID);
    CHECK_STR(buf_str(&out.data), "out");
    CHECK_STR(
        buf_str(&status.data),
        "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command terminated with non-zero "
        "exit "
        "code: exit status 3\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{\"reason\":"
        "\"ExitCode\",\"message\":\"3\"}]}}");
    CHECK(out.ended && status.ended && status.goaway && r.fake.has_ended);
    CHECK_INT(r.program.n_closes, 0);
    buf_fini(&out.data);
    buf_fini(&status.data);
    rig_fini(&r);
    CHECK_INT(r.program.n_closes, 0);
}

TEST(a_program_that_cannot_start_is_an_internal_error)
{
    struct rig r;
    rig_init(&r);
    r.program.refuse = -ENOENT;
    start_command(&r);
    rig_fini(&r);
    CHECK_INT(r.program.n_closes, 0);

    rig_init(&r);
    r.program.refuse = -ENOENT;
    serve(&r, STREAM_CHANNELS, 4, (struct stream_remote_wish){ .has_stdout = true });
    turn(&r);
    CHECK(str_find(buf_str(&r.fake.sent),
                   STR("Internal error occurred: error executing command in container: no such "
                       "program")) > 0);
    rig_fini(&r);
}

TEST(a_client_that_leaves_ends_its_program)
{
    struct rig r;
    rig_init(&r);
    start_command(&r);
    fake_exchange_gone(&r.fake, -ECONNRESET);
    CHECK_INT(r.program.n_closes, 1);
    rig_fini(&r);

    rig_init(&r); /* before it has made all streams */
    serve(&r, STREAM_SPDY, 4, (struct stream_remote_wish){ .has_stdout = true });
    open_role(&r, ERROR_ID, "error");
    feed(&r);
    fake_exchange_gone(&r.fake, 0);
    CHECK_INT(r.program.n_starts, 0);
    CHECK_INT(r.program.n_closes, 1);
    rig_fini(&r);
}

TEST(streams_have_a_deadline)
{
    struct rig r;
    rig_init(&r);
    serve(&r, STREAM_SPDY, 4, (struct stream_remote_wish){ .has_stdout = true });
    open_role(&r, ERROR_ID, "error");
    feed(&r);
    loop_skip(&r.loop, STREAM_REMOTE_CREATION_MS / 2);
    turn(&r);
    CHECK(!r.fake.was_aborted);
    loop_skip(&r.loop, STREAM_REMOTE_CREATION_MS / 2);
    turn(&r);
    CHECK(r.fake.was_aborted);
    rig_fini(&r);
    CHECK_INT(r.program.n_closes, 1);
}

TEST(a_silent_connection_is_cut_after_hours)
{
    struct rig r;
    rig_init(&r);
    start_command(&r);
    loop_skip(&r.loop, STREAM_LINK_IDLE_MS / 2);
    spdy_client_data(&r.client, IN_ID, STR("x"), false);
    feed(&r);
    loop_skip(&r.loop, STREAM_LINK_IDLE_MS / 2);
    turn(&r);
    CHECK(!r.fake.was_aborted);
    loop_skip(&r.loop, STREAM_LINK_IDLE_MS / 2);
    turn(&r);
    CHECK(r.fake.was_aborted);
    rig_fini(&r);
}

TEST(a_client_that_does_not_read_holds_the_program_back)
{
    struct rig r;
    rig_init(&r);
    start_command(&r);
    r.fake.full = 1000;
    CHECK(stream_remote_output(r.program.remote, STREAM_STDOUT, zeroes(500)));
    CHECK(!stream_remote_output(r.program.remote, STREAM_STDOUT, zeroes(1000)));
    CHECK_INT(r.program.n_resumes, 0);
    fake_exchange_take(&r.fake);
    CHECK_INT(r.program.n_resumes, 1);
    CHECK(stream_remote_output(r.program.remote, STREAM_STDOUT, zeroes(10)));
    rig_fini(&r);
}

TEST(windows_count_only_if_the_client_has_them)
{
    struct rig r;
    rig_init(&r);
    start_command(&r);
    CHECK(stream_remote_output(r.program.remote, STREAM_STDOUT, zeroes(1 << 20)));
    CHECK_INT(sent_on(&r, OUT_ID), 1 << 20);
    rig_fini(&r);

    rig_init(&r);
    start_command(&r);
    spdy_client_add_control(&r.client.out, 4, 0, str_n("\0\0\0\1\0\0\0\7\0\0\0\x64", 12)); /* 100 */
    feed(&r);
    CHECK(!stream_remote_output(r.program.remote, STREAM_STDOUT, zeroes(250)));
    CHECK_INT(sent_on(&r, OUT_ID), 100);
    CHECK(!stream_remote_output(r.program.remote, STREAM_STDOUT, zeroes(50)));
    CHECK_INT(sent_on(&r, OUT_ID), 100);
    spdy_client_add_control(&r.client.out, 9, 0, str_n("\0\0\0\5\0\0\0\xc8", 8)); /* 200 more */
    feed(&r);
    CHECK_INT(sent_on(&r, OUT_ID), 300);
    CHECK_INT(r.program.n_resumes, 1);
    stream_remote_exited(r.program.remote, 0);
    struct seen out = look(&r, OUT_ID);
    CHECK(out.ended);
    buf_fini(&out.data);
    rig_fini(&r);
}

TEST(a_program_that_does_not_read_stops_the_connection)
{
    struct rig r;
    rig_init(&r);
    start_command(&r);
    r.program.room = 1;
    spdy_client_data(&r.client, IN_ID, zeroes(1000), false);
    feed(&r);
    CHECK_INT(r.program.in.n, 1000);
    spdy_client_data(&r.client, IN_ID, zeroes(STREAM_LINK_HELD_MAX_BYTES), false);
    feed(&r);
    CHECK(!r.fake.is_paused && r.program.in.n == 1000);
    spdy_client_data(&r.client, IN_ID, zeroes(1), true);
    feed(&r);
    CHECK(r.fake.is_paused && !r.program.in_ended);
    buf_reset(&r.fake.sent); /* meanwhile the client is asked whether it is there */
    loop_skip(&r.loop, STREAM_LINK_PING_MS);
    turn(&r);
    CHECK(str_eq(buf_str(&r.fake.sent), str_n("\x80\x03\0\x06\0\0\0\x04\0\0\0\x02", 12)));
    buf_reset(&r.fake.sent);
    r.program.room = SIZE_MAX;
    stream_remote_wants_input(r.program.remote);
    turn(&r);
    CHECK_INT(r.program.in.n, 1001 + STREAM_LINK_HELD_MAX_BYTES);
    CHECK(!r.fake.is_paused && r.program.in_ended);
    rig_fini(&r);
}

TEST(a_client_with_windows_gets_them_back_when_the_program_has_read)
{
    struct rig r;
    rig_init(&r);
    start_command(&r);
    for (int i = 0; i < 4; i++)
        spdy_client_data(&r.client, IN_ID, zeroes(SPDY_WINDOW_BYTES / 4), false);
    feed(&r);
    struct seen in = look(&r, IN_ID), session = look(&r, 0);
    CHECK_INT(in.n_windows, 2);
    CHECK_INT(session.n_windows, 2);
    rig_fini(&r);
}

TEST(streams_that_nobody_wants_are_refused)
{
    struct rig r;
    rig_init(&r);
    start_command(&r);
    open_role(&r, 7, "stderr");
    open_role(&r, 9, "stdout");
    open_role(&r, 11, "nonsense");
    feed(&r);
    for (uint32_t id = 7; id <= 11; id += 2)
        CHECK(look(&r, id).reset);
    CHECK(!look(&r, OUT_ID).reset && !r.fake.has_ended);
    open_role(&r, 5, "stdin"); /* numbers rise */
    feed(&r);
    CHECK(r.fake.has_ended && r.program.n_closes == 1);
    rig_fini(&r);
}

TEST(a_terminal_is_sized)
{
    struct rig r;
    rig_init(&r);
    serve(&r, STREAM_SPDY, 3, (struct stream_remote_wish){ .has_stdout = true, .is_tty = true });
    open_role(&r, ERROR_ID, "error");
    open_role(&r, IN_ID, "resize");
    open_role(&r, OUT_ID, "stdout");
    spdy_client_data(&r.client, IN_ID, STR("{\"Width\":80,\"Hei"), false);
    feed(&r);
    CHECK_INT(r.program.width, 0);
    spdy_client_data(&r.client, IN_ID, STR("ght\":24}\n{\"Width\":1000000,\"Height\":1}{}"), false);
    feed(&r);
    CHECK_INT(r.program.width, 80024);
    spdy_client_data(&r.client, IN_ID, zeroes(100000), false);
    spdy_client_data(&r.client, IN_ID, STR("} {\"Height\":5,\"Width\":7}"), false);
    feed(&r);
    CHECK_INT(r.program.width, 7005);
    rig_fini(&r);
}

/* ------------------------------------------------------------------ port forwarding */

struct dialed {
    stream_dialed_cb done;
    void *dial;
    unsigned n, n_closes;
};

static int on_dial(void *arg, uint16_t port, stream_dialed_cb done, void *dial, struct err *err)
{
    struct dialed *d = arg;
    d->done = done;
    d->dial = dial;
    d->n++;
    return 0;
}

static void on_ports_close(void *arg)
{
    ((struct dialed *)arg)->n_closes++;
}

static const struct stream_port_ops port_ops = { .dial = on_dial, .close = on_ports_close };

static void forward(struct rig *r, struct dialed *d)
{
    static const struct stream_choice choice = { .carrier = STREAM_SPDY, .protocol = "" };
    stream_forward_serve(&(struct stream_forward_opts){ .loop = &r->loop,
                                                        .x = &r->fake.x,
                                                        .choice = &choice,
                                                        .pod = STR("p"),
                                                        .uid = STR("u"),
                                                        .count = &r->count,
                                                        .ops = &port_ops,
                                                        .arg = d });
}

static void open_port(struct rig *r, uint32_t id, const char *type, const char *request)
{
    const char *pairs[] = { "streamtype", type, "port", "80", "requestid", request, NULL };
    spdy_client_open(&r->client, id, 0, pairs);
}

TEST(a_dial_outlives_its_client)
{
    struct rig r;
    struct dialed d = { 0 };
    struct err err = { 0 };
    rig_init(&r);
    forward(&r, &d);
    open_port(&r, 1, "error", "a");
    open_port(&r, 3, "data", "a");
    feed(&r);
    CHECK_INT(d.n, 1);
    fake_exchange_gone(&r.fake, 0);
    CHECK_INT(d.n_closes, 0);
    (void)err_set(&err, -ETIMEDOUT, "timed out");
    d.done(d.dial, -ETIMEDOUT, &err);
    CHECK_INT(d.n_closes, 1);
    rig_fini(&r);
}

TEST(a_connection_needs_both_streams_in_time)
{
    struct rig r;
    struct dialed d = { 0 };
    rig_init(&r);
    forward(&r, &d);
    open_port(&r, 1, "error", "a");
    open_port(&r, 3, "error", "a"); /* twice the same */
    open_port(&r, 5, "data", "b");
    feed(&r);
    CHECK(look(&r, 3).reset && !look(&r, 1).reset && d.n == 0);
    loop_skip(&r.loop, STREAM_FORWARD_CREATION_MS);
    turn(&r);
    struct seen error = look(&r, 1), data = look(&r, 5);
    CHECK(error.ended && data.reset && d.n == 0);
    CHECK_STR(buf_str(&error.data),
              "error forwarding port 80 to pod p, uid u: timed out waiting for streams");
    buf_fini(&error.data);
    rig_fini(&r);
    CHECK_INT(d.n_closes, 1);
}

TEST(streams_of_one_connection_are_bounded)
{
    struct rig r;
    struct dialed d = { 0 };
    rig_init(&r);
    forward(&r, &d);
    for (uint32_t i = 0; i <= STREAM_LINK_STREAMS_MAX; i++) {
        char request[16];
        (void)snprintf(request, sizeof request, "%u", i);
        open_port(&r, 2 * i + 1, "error", request);
    }
    feed(&r);
    CHECK(!look(&r, 2 * STREAM_LINK_STREAMS_MAX - 1).reset);
    CHECK(look(&r, 2 * STREAM_LINK_STREAMS_MAX + 1).reset);
    rig_fini(&r);
}

struct reached {
    bool is_done;
    int fd;
    char why[200];
};

static void on_reached(void *dial, int fd, const struct err *err)
{
    struct reached *r = dial;
    r->is_done = true;
    r->fd = fd;
    (void)snprintf(r->why, sizeof r->why, "%s", fd < 0 ? err_text(err) : "");
}

static struct reached reach(struct loop *loop, const char *netns, uint16_t port)
{
    struct reached r = { 0 };
    stream_dial_start(loop, netns, port, on_reached, &r);
    CHECK(!r.is_done);
    while (!r.is_done)
        (void)loop_turn(loop, true);
    return r;
}

/* Listens on a free port of this family. */
static int listen_on(int family, uint16_t *ret_port)
{
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    bool is_v4 = family == AF_INET;
    struct sockaddr *at = is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    socklen_t n = is_v4 ? sizeof v4 : sizeof v6;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, at, n) < 0 || listen(fd, 4) < 0 || getsockname(fd, at, &n) < 0) {
        if (fd >= 0)
            (void)close(fd);
        return -1;
    }
    *ret_port = ntohs(is_v4 ? v4.sin_port : v6.sin6_port);
    return fd;
}

TEST(a_port_is_reached_on_either_loopback_address)
{
    static const int families[] = { AF_INET, AF_INET6 };
    struct loop loop;
    struct err err = { 0 };
    uint16_t port = 0;
    CHECK_OK(loop_init(&loop, &err));
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        int fd = listen_on(families[i], &port);
        if (fd < 0)
            continue; /* no IPv6 here */
        struct reached r = reach(&loop, NULL, port);
        CHECK_OK(r.fd);
        (void)close(r.fd);
        (void)close(fd);
        r = reach(&loop, NULL, port);
        CHECK_ERR(r.fd, -ECONNREFUSED);
        CHECK(str_has_prefix(str_of(r.why), STR("failed to connect to localhost:")));
    }
    struct reached r = reach(&loop, "/proc/self/ns/none", 80);
    CHECK_ERR(r.fd, -ENOENT);
    loop_run(&loop);
    loop_fini(&loop);
}

/* In a namespace of its own a process has no ports, and its loopback device is down. */
TEST(a_port_is_looked_for_in_the_other_namespace)
{
    struct loop loop;
    struct err err = { 0 };
    uint16_t port = 0;
    int ready[2], fd = listen_on(AF_INET, &port);
    CHECK(fd >= 0 && pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
        char ok = unshare(CLONE_NEWNET) == 0;
        (void)!write(ready[1], &ok, 1);
        (void)pause();
        _exit(0);
    }
    char ok = 0;
    CHECK_INT(read(ready[0], &ok, 1), 1);
    CHECK_OK(loop_init(&loop, &err));
    char *path = xasprintf("/proc/%d/ns/net", child);
    if (ok) {
        struct reached r = reach(&loop, path, port);
        CHECK(r.fd < 0);
        r = reach(&loop, NULL, port); /* the thread is back in ours */
        CHECK_OK(r.fd);
        (void)close(r.fd);
    }
    free(path);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    (void)close(ready[0]);
    (void)close(ready[1]);
    (void)close(fd);
    loop_run(&loop);
    loop_fini(&loop);
    if (!ok)
        SKIP("network namespaces cannot be made here");
}

TEST(ports_of_a_query_are_read)
{
    static const struct {
        const char *query;
        int n;
    } want[] = { { "port=80", 1 },          { "port=80,443&x=1&port=8080", 3 },
                 { "", E_INVALID },         { "port=", E_INVALID },
                 { "port=0", E_INVALID },   { "port=65536", E_INVALID },
                 { "port=1,,2", E_INVALID } };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        struct arena a = { 0 };
        struct url_target url;
        uint16_t ports[STREAM_FORWARD_PORTS_MAX];
        size_t n = 0;
        CHECK_OK(url_parse(&a, str_of(arena_printf(&a, "/?%s", want[i].query)), &url, NULL));
        int r = stream_forward_ports(&url, ports, &n, NULL);
        CHECK_INT(r < 0 ? r : (int)n, want[i].n);
        arena_fini(&a);
    }
}

/* ------------------------------------------------------------------ the choice */

static int choose(enum stream_purpose purpose, const char *upgrade, const char *field,
                  const char *protocols, struct stream_choice *c, struct stream_refusal *no)
{
    struct headers h = { 0 };
    (void)headers_addc(&h, "upgrade", upgrade);
    (void)headers_addc(&h, "sec-websocket-version", "13");
    (void)headers_addc(&h, "sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    if (protocols[0])
        (void)headers_addc(&h, field, protocols);
    int r = stream_choose(purpose, &h, c, no);
    headers_fini(&h);
    return r;
}

TEST(the_first_protocol_that_is_spoken_is_chosen)
{
    static const struct {
        enum stream_purpose purpose;
        const char *upgrade, *protocols;
        int version, status; /* of the protocol, or of the refusal */
    } want[] = {
        { STREAM_REMOTE_COMMAND, "SPDY/3.1",
          "v9.channel.k8s.io, v3.channel.k8s.io,v4.channel.k8s.io", 3, 0 },
        { STREAM_REMOTE_COMMAND, "SPDY/3.1", "", 1, 0 },
        { STREAM_REMOTE_COMMAND, "SPDY/3.1", "v9.channel.k8s.io", 0, 403 },
        { STREAM_REMOTE_COMMAND, "h2c", "", 0, 400 },
        { STREAM_REMOTE_COMMAND, "websocket", "v5.channel.k8s.io", 5, 0 },
        { STREAM_REMOTE_COMMAND, "WebSocket", "", 1, 0 },
        { STREAM_REMOTE_COMMAND, "websocket", "SPDY/3.1+portforward.k8s.io", 0, 403 },
        { STREAM_PORT_FORWARD, "websocket", "SPDY/3.1+portforward.k8s.io", 0, 0 },
        { STREAM_PORT_FORWARD, "SPDY/3.1", "portforward.k8s.io", 0, 0 },
        { STREAM_PORT_FORWARD, "SPDY/3.1", "v4.channel.k8s.io", 0, 403 },
    };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        struct stream_choice c = { 0 };
        struct stream_refusal no = { 0 };
        bool is_spdy = want[i].upgrade[0] == 'S';
        int r = choose(want[i].purpose, want[i].upgrade,
                       is_spdy ? "x-stream-protocol-version" : "sec-websocket-protocol",
                       want[i].protocols, &c, &no);
        CHECK_INT(r < 0, want[i].status != 0);
        CHECK_INT(no.status, want[i].status);
        CHECK_INT(c.version, want[i].version);
    }
}

TEST_MAIN
