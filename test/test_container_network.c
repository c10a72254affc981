/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container/network: which addresses containers can reach, in a network namespace of this test
 * that forwards packets. Skipped where namespaces may not be made.
 */
#include "container/network.h"

#include "base/mem.h"
#include "base/sys.h"
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#define SUBNET "10.213.0.0/16"
enum { GATEWAY = 0x0ad50001, PORT = 9, WAIT_S = 3 };

static struct loop loop;

struct taken {
    struct container_network_wait wait;
    struct container_network *n;
};

static void on_network(struct container_network_wait *w, struct container_network *n,
                       const struct err *err)
{
    if (!n)
        TEST_FAIL("%s", err_text(err));
    container_of(w, struct taken, wait)->n = n;
}

static struct container_network *take(struct container_networks *p)
{
    struct taken t = { .wait = { .run = on_network } };
    container_network_wait(p, &t.wait);
    while (!t.n)
        CHECK(loop_turn(&loop, true) || true);
    return t.n;
}

/* Connect from the namespace; nothing listens anywhere: ECONNREFUSED says that it was reached. */
static int reach(int ns, uint32_t address)
{
    scoped(fd_scoped) int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(PORT),
                              .sin_addr = { htonl(address) } };
    struct timeval limit = { .tv_sec = WAIT_S };
    CHECK_OK(own);
    if (ns >= 0)
        CHECK_OK(setns(ns, CLONE_NEWNET));
    scoped(fd_scoped) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_OK(fd);
    CHECK_OK(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
    int r = connect(fd, (struct sockaddr *)&to, sizeof to) < 0 ? -errno : 0;
    CHECK_OK(setns(own, CLONE_NEWNET));
    return r;
}

static void forward(void)
{
    scoped(fd_scoped) int fd = open("/proc/sys/net/ipv4/ip_forward", O_WRONLY | O_CLOEXEC);
    CHECK_OK(fd);
    CHECK_OK(sys_write_all(fd, "1", 1));
}

static void on_closed(void *arg)
{
    *(bool *)arg = true;
}

static void close_all(struct container_networks *p)
{
    bool closed = false;
    container_networks_close(p, on_closed, &closed);
    while (!closed)
        CHECK(loop_turn(&loop, true) || true);
}

static size_t count_rules(void)
{
    size_t n = 0;
    FILE *f = popen("ip -4 rule show 2>/dev/null", "r");
    char line[256];
    CHECK(f);
    while (fgets(line, sizeof line, f))
        n += strstr(line, "10.213.0.0/16") != NULL;
    (void)pclose(f);
    return n;
}

TEST(containers_reach_the_gateway_and_not_each_other)
{
    struct err err = { 0 };
    struct container_networks *p = NULL, *second = NULL;
    if (unshare(CLONE_NEWNET) < 0) {
        test_skipped = "network namespaces may not be made here";
        return;
    }
    CHECK_OK(loop_init(&loop, NULL));
    int r = container_networks_new(&loop, SUBNET, 2, &p, &err);
    if (r < 0) {
        loop_fini(&loop);
        test_skipped = "networks of containers cannot be made here";
        return;
    }
    forward();
    struct container_network *a = take(p), *b = take(p);
    CHECK_INT(reach(-1, a->address), -ECONNREFUSED); /* from the machine */
    CHECK_INT(reach(a->ns_fd, a->address), -ECONNREFUSED);
    CHECK_INT(reach(a->ns_fd, GATEWAY), -ECONNREFUSED);
    CHECK_INT(reach(b->ns_fd, GATEWAY), -ECONNREFUSED);
    CHECK_INT(reach(a->ns_fd, b->address), -EHOSTUNREACH); /* refused at once, not lost */
    CHECK_INT(reach(b->ns_fd, a->address), -EHOSTUNREACH);
    CHECK_OK(
        container_networks_new(&loop, SUBNET, 1, &second, &err)); /* another worker runs and ends */
    close_all(second);
    CHECK_INT(reach(a->ns_fd, b->address), -EHOSTUNREACH);
    CHECK_INT(reach(-1, b->address), -ECONNREFUSED);
    container_network_put(p, a);
    container_network_put(p, b);
    close_all(p);
    if (access("/sbin/ip", X_OK) == 0 || access("/usr/sbin/ip", X_OK) == 0)
        CHECK(count_rules() == 0 || count_rules() == 2); /* devices go a little later */
    loop_fini(&loop);
}

TEST_MAIN
