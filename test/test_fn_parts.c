/* SPDX-License-Identifier: Apache-2.0 */
/* fn/worker: what containers are watched with. None of it needs a container, or root. */
#include "base/buf.h"
#include "base/sys.h"
#include "fn/worker/probe.h"
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

TEST_MAIN
