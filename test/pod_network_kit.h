/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of pod networks: this process gets a network and a mount namespace of its own, so that
 * nothing of the machine changes. Included by one file of a test.
 */
#pragma once

#include "agent/network/network.h"
#include "base/mem.h"
#include "base/sys.h"
#include "container/netlink.h"
#include "temp_dir.h"
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>

enum { KIT_WAIT_S = 5 };

struct kit_pod {
    struct pod_network *n;
    int ready, stopped; /* how often */
    int r, stop_r;
    struct err err;
};

static struct loop kit_loop;
static char kit_dir[TEMP_DIR_BYTES];

/* false: not here. Before the first thread. */
static inline bool kit_isolate(void)
{
    if (geteuid() != 0 || unshare(CLONE_NEWNET | CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return false;
    int fd = netlink_open(NULL);
    CHECK_OK(fd);
    CHECK_OK(netlink_set_up(fd, 1, NULL));
    (void)close(fd);
    return true;
}

static inline void kit_on_ready(void *arg, int r, const struct err *err)
{
    struct kit_pod *pod = arg;
    pod->ready++;
    pod->r = r;
    if (err)
        pod->err = *err;
}

static inline void kit_on_stopped(void *arg, int r, const struct err *err)
{
    struct kit_pod *pod = arg;
    pod->stopped++;
    pod->stop_r = r;
    if (r < 0)
        pod->err = *err;
}

static inline void kit_start(struct pod_networks *p, const char *id, struct kit_pod *pod,
                             const struct pod_network_port *ports, size_t n_ports)
{
    struct err err = { 0 };
    *pod = (struct kit_pod){ 0 };
    struct pod_network_opts o = { .id = str_of(id),
                                  .namespace = STR("default"),
                                  .name = str_of(id),
                                  .uid = str_of(id),
                                  .ports = ports,
                                  .n_ports = n_ports,
                                  .on_ready = kit_on_ready,
                                  .arg = pod };
    if (pod_network_start(p, &o, &pod->n, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    CHECK_INT(pod->ready, 0);
}

static inline void kit_wait_ready(struct kit_pod *pod)
{
    while (!pod->ready)
        (void)loop_turn(&kit_loop, true);
}

static inline void kit_must_be_ready(struct kit_pod *pod)
{
    kit_wait_ready(pod);
    if (pod->r < 0)
        TEST_FAIL("%s", err_text(&pod->err));
}

static inline void kit_stop(struct kit_pod *pod)
{
    pod_network_stop(pod->n, kit_on_stopped, pod);
    CHECK_INT(pod->stopped, 0);
    while (!pod->stopped)
        (void)loop_turn(&kit_loop, true);
    if (pod->stop_r < 0)
        TEST_FAIL("%s", err_text(&pod->err));
}

static inline void kit_set(void *arg)
{
    *(bool *)arg = true;
}

static inline void kit_close(struct pod_networks *p)
{
    bool is_closed = false;
    pod_networks_close(p, kit_set, &is_closed);
    while (!is_closed)
        (void)loop_turn(&kit_loop, true);
}

static inline void kit_collect(struct pod_networks *p)
{
    bool is_done = false;
    pod_networks_collect(p, kit_set, &is_done);
    CHECK(!is_done);
    while (!is_done)
        (void)loop_turn(&kit_loop, true);
}

static inline const char *kit_ip(const struct kit_pod *pod, size_t i)
{
    size_t n;
    const char *const *ips = pod_network_ips(pod->n, &n);
    CHECK(i < n);
    return ips[i];
}

/* Runs in the namespace at path; NULL: here. */
static inline int kit_enter(const char *path)
{
    int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    CHECK_OK(own);
    if (path) {
        int ns = open(path, O_RDONLY | O_CLOEXEC);
        CHECK_OK(ns);
        CHECK_OK(setns(ns, CLONE_NEWNET));
        (void)close(ns);
    }
    return own;
}

static inline void kit_leave(int own)
{
    CHECK_OK(setns(own, CLONE_NEWNET));
    (void)close(own);
}

static inline socklen_t kit_address(const char *ip, uint16_t port, struct sockaddr_storage *ret)
{
    struct sockaddr_in *v4 = (void *)ret;
    struct sockaddr_in6 *v6 = (void *)ret;
    memset(ret, 0, sizeof *ret);
    if (strchr(ip, ':')) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        CHECK_INT(inet_pton(AF_INET6, ip, &v6->sin6_addr), 1);
        return sizeof *v6;
    }
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    CHECK_INT(inet_pton(AF_INET, ip, &v4->sin_addr), 1);
    return sizeof *v4;
}

/* 0, or -ECONNREFUSED: reached, but nobody listens. */
static inline int kit_reach_within(const char *from, const char *ip, uint16_t port,
                                   struct timeval limit)
{
    struct sockaddr_storage to;
    socklen_t n = kit_address(ip, port, &to);
    int own = kit_enter(from);
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_OK(fd);
    CHECK_OK(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
    int r = connect(fd, (struct sockaddr *)&to, n) < 0 ? -errno : 0;
    (void)close(fd);
    kit_leave(own);
    return r;
}

static inline int kit_reach(const char *from, const char *ip, uint16_t port)
{
    return kit_reach_within(from, ip, port, (struct timeval){ .tv_sec = KIT_WAIT_S });
}

/* A listening socket in the namespace. */
static inline int kit_listen(const char *at, const char *ip, uint16_t port)
{
    struct sockaddr_storage addr;
    socklen_t n = kit_address(ip, port, &addr);
    int own = kit_enter(at);
    int fd = socket(addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_OK(fd);
    CHECK_OK(bind(fd, (struct sockaddr *)&addr, n) < 0 ? -errno : 0);
    CHECK_OK(listen(fd, 8));
    kit_leave(own);
    return fd;
}

/* The text of the address from which the next connection comes. */
static inline void kit_accept(int fd, char ret[INET6_ADDRSTRLEN])
{
    struct sockaddr_storage from;
    socklen_t n = sizeof from;
    int c = accept(fd, (struct sockaddr *)&from, &n);
    CHECK_OK(c);
    const void *ip = from.ss_family == AF_INET6
                         ? (const void *)&((struct sockaddr_in6 *)&from)->sin6_addr
                         : (const void *)&((struct sockaddr_in *)&from)->sin_addr;
    CHECK(inet_ntop(from.ss_family, ip, ret, INET6_ADDRSTRLEN));
    (void)close(c);
}

static inline bool kit_exists(const char *format, const char *id)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s/%s", kit_dir, format, id);
    return access(path, F_OK) == 0;
}
