/* SPDX-License-Identifier: Apache-2.0 */
/* PSI triggers and limits of control groups; see pressure.h. */
#include "guest/pressure.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CGROUP_ROOT "/sys/fs/cgroup"

/* ---- groups ---- */

struct str pressure_own_path(struct str proc, bool is_v2)
{
    struct str line, rest, id, controllers, path;
    for (rest = proc; str_cut(rest, '\n', &line, &rest);) {
        if (!str_cut(line, ':', &id, &path) || !str_cut(path, ':', &controllers, &path))
            continue;
        struct str one;
        bool more = true;
        if (is_v2 && str_is(id, "0") && controllers.n == 0)
            return path;
        while (!is_v2 && more) {
            more = str_cut(controllers, ',', &one, &controllers);
            if (str_is(one, "memory"))
                return path;
        }
    }
    return STR_NULL;
}

static bool read_text(int dir_fd, const char *name, struct buf *b)
{
    buf_reset(b);
    return sys_read_file(dir_fd, name, b, NULL) >= 0;
}

/* UINT64_MAX: the value is "max", or cannot be read. */
static uint64_t read_number(int dir_fd, const char *name)
{
    uint64_t v;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(256);
    if (!read_text(dir_fd, name, &b) || parse_u64(str_trim(buf_str(&b)), 0, UINT64_MAX, &v) < 0)
        return UINT64_MAX;
    return v;
}

static uint64_t read_limit(int dir_fd, bool is_v2)
{
    if (is_v2)
        return MIN(read_number(dir_fd, "memory.high"), read_number(dir_fd, "memory.max"));
    uint64_t limit = read_number(dir_fd, "memory.limit_in_bytes");
    return limit > INT64_MAX / 2 ? UINT64_MAX : limit; /* v1: a large number means no limit */
}

/* Search from our group upwards: an ancestor may have the tighter limit. */
static void search(const char *root, struct str path, bool is_v2, struct pressure_group *best)
{
    char dir[512];
    for (int depth = 0; depth < PRESSURE_GROUP_DEPTH_MAX; depth++) {
        int n = snprintf(dir, sizeof dir, "%s" STR_FMT, root, STR_ARG(path));
        scoped(fd_scoped) int fd = n > 0 && (size_t)n < sizeof dir
                                       ? sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0)
                                       : -1;
        uint64_t limit = fd < 0 ? UINT64_MAX : read_limit(fd, is_v2);
        if (limit < best->limit_bytes) {
            pressure_group_fini(best);
            *best = (struct pressure_group){ take_fd(&fd), is_v2, limit };
        }
        if (path.n == 0)
            return;
        do
            path.n--;
        while (path.n && path.p[path.n] != '/');
    }
}

void pressure_group_find(const char *root, struct str proc, struct pressure_group *ret)
{
    char dir[256];
    struct pressure_group best = { .dir_fd = -1, .limit_bytes = UINT64_MAX };
    struct str v2 = pressure_own_path(proc, true), v1 = pressure_own_path(proc, false);
    if (v2.n) {
        search(root, v2, true, &best);
        (void)snprintf(dir, sizeof dir, "%s/unified", root);
        search(dir, v2, true, &best);
    }
    if (v1.n) {
        (void)snprintf(dir, sizeof dir, "%s/memory", root);
        search(dir, v1, false, &best);
    }
    *ret = best;
}

void pressure_group_fini(struct pressure_group *g)
{
    fd_scoped(&g->dir_fd);
    g->dir_fd = -1;
}

/*
 * The kernel reclaims files that were not used lately before any task waits, so they do not count.
 */
static uint64_t read_inactive_file(const struct pressure_group *g)
{
    struct str line, rest, name, value;
    uint64_t v = 0;
    const char *wanted = g->is_v2 ? "inactive_file" : "total_inactive_file";
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(32 << 10);
    if (!read_text(g->dir_fd, "memory.stat", &b))
        return 0;
    for (rest = buf_str(&b); str_cut(rest, '\n', &line, &rest);)
        if (str_cut(line, ' ', &name, &value) && str_is(name, wanted))
            return parse_u64(value, 0, UINT64_MAX, &v) < 0 ? 0 : v;
    return 0;
}

unsigned pressure_group_percent(const struct pressure_group *g)
{
    if (g->dir_fd < 0 || g->limit_bytes == 0)
        return 0;
    uint64_t used = read_number(g->dir_fd, g->is_v2 ? "memory.current" : "memory.usage_in_bytes");
    if (used == UINT64_MAX)
        return 0;
    used -= MIN(used, read_inactive_file(g));
    return (unsigned)MIN((uint64_t)((double)used * 100 / (double)g->limit_bytes), (uint64_t)100);
}

uint32_t pressure_times(struct pressure *p)
{
    uint64_t now = clock_mono_ms();
    if (p->group.dir_fd < 0)
        return 1;
    if (p->times && now - p->looked_ms < PRESSURE_LOOK_MS)
        return p->times;
    unsigned percent = pressure_group_percent(&p->group);
    p->looked_ms = now;
    p->times = percent >= PRESSURE_SHORT_PERCENT ? 16 : percent >= PRESSURE_TIGHT_PERCENT ? 4 : 1;
    return p->times;
}

/* ---- kernel notifications ---- */

/* A descriptor that polls as urgent under pressure, or -1. */
static int open_trigger(int dir_fd, const char *path)
{
    char text[64];
    scoped(fd_scoped) int fd = sys_openat(dir_fd, path, O_RDWR | O_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    int n = snprintf(text, sizeof text, "some %d %d", PRESSURE_STALL_MS * 1000,
                     PRESSURE_WINDOW_MS * 1000);
    if (write(fd, text, (size_t)n + 1) < 0)
        return -1;
    return take_fd(&fd);
}

static int open_stall(struct str proc)
{
    char path[512];
    struct str group = pressure_own_path(proc, true);
    if (group.n && group.n < 400) {
        (void)snprintf(path, sizeof path, CGROUP_ROOT STR_FMT "/memory.pressure", STR_ARG(group));
        int fd = open_trigger(AT_FDCWD, path);
        if (fd >= 0)
            return fd;
    }
    return open_trigger(AT_FDCWD, "/proc/pressure/memory");
}

/* v1: an eventfd that counts each crossing of the threshold. *ret_usage must stay open. */
static int open_threshold(const struct pressure_group *g, int *ret_usage)
{
    char text[96];
    scoped(fd_scoped) int usage = sys_openat(g->dir_fd, "memory.usage_in_bytes", O_RDONLY, 0);
    scoped(fd_scoped) int control = sys_openat(g->dir_fd, "cgroup.event_control", O_WRONLY, 0);
    scoped(fd_scoped) int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (usage < 0 || control < 0 || event < 0)
        return -1;
    int n = snprintf(text, sizeof text, "%d %d %llu", event, usage,
                     (unsigned long long)(g->limit_bytes / 100 * PRESSURE_SHORT_PERCENT));
    if (write(control, text, (size_t)n) < 0)
        return -1;
    *ret_usage = take_fd(&usage);
    return take_fd(&event);
}

static int open_limit(struct pressure *p)
{
    if (p->group.dir_fd < 0)
        return -1;
    if (!p->group.is_v2)
        return open_threshold(&p->group, &p->threshold_fd);
    return sys_openat(p->group.dir_fd, "memory.events", O_RDONLY | O_NONBLOCK, 0);
}

static void on_stall(uv_poll_t *poll, int status, int events)
{
    struct pressure_source *s = poll->data;
    if (status < 0) /* the group was removed */
        (void)uv_poll_stop(poll);
    else
        s->owner->on_pressure(s->owner->arg);
}

/* Usage includes files, and a limit may be hit briefly: check before acting. */
static void on_limit(uv_poll_t *poll, int status, int events)
{
    struct pressure_source *s = poll->data;
    struct pressure *p = s->owner;
    char text[512];
    if (status < 0) {
        (void)uv_poll_stop(poll);
        return;
    }
    (void)!pread(s->fd, text, sizeof text, 0); /* v2: acknowledges the event */
    (void)!read(s->fd, text, sizeof text);     /* v1: resets the counter */
    p->times = 0;
    if (pressure_times(p) > 1)
        p->on_pressure(p->arg);
}

static void start_source(struct pressure *p, struct pressure_source *s, struct loop *loop, int fd,
                         int events, uv_poll_cb cb)
{
    *s = (struct pressure_source){ .owner = p, .fd = fd };
    if (fd < 0)
        return;
    s->poll.data = s;
    if (uv_poll_init(&loop->uv, &s->poll, fd) < 0) {
        (void)close(fd);
        s->fd = -1;
        return;
    }
    p->n_open++;
    (void)uv_poll_start(&s->poll, events, cb);
    uv_unref((uv_handle_t *)&s->poll); /* does not keep the loop alive */
}

void pressure_start(struct pressure *p, struct loop *loop, void (*on_pressure)(void *arg),
                    void *arg)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(16 << 10);
    *p = (struct pressure){
        .loop = loop, .on_pressure = on_pressure, .arg = arg, .threshold_fd = -1
    };
    (void)sys_read_file(AT_FDCWD, "/proc/self/cgroup", &b, NULL);
    pressure_group_find(CGROUP_ROOT, buf_str(&b), &p->group);
    start_source(p, &p->stall, loop, open_stall(buf_str(&b)), UV_PRIORITIZED, on_stall);
    start_source(p, &p->limit, loop, open_limit(p), p->group.is_v2 ? UV_PRIORITIZED : UV_READABLE,
                 on_limit);
    if (p->stall.fd < 0)
        log_debug("the kernel does not report memory pressure", "window_ms=%d", PRESSURE_WINDOW_MS);
    if (p->group.dir_fd >= 0)
        log_debug("memory is limited", "bytes=%llu cgroup=v%d",
                  (unsigned long long)p->group.limit_bytes, p->group.is_v2 ? 2 : 1);
}

static void on_closed(uv_handle_t *handle)
{
    struct pressure_source *s = handle->data;
    struct pressure *p = s->owner;
    assert(p->on_closed && p->n_open > 0 && s->fd >= 0);
    (void)close(s->fd);
    if (--p->n_open == 0)
        p->on_closed(p->arg);
}

static void on_nothing_to_close(struct defer *d)
{
    struct pressure *p = container_of(d, struct pressure, closing);
    assert(p->n_open == 0);
    p->on_closed(p->arg);
}

void pressure_close(struct pressure *p, void (*cb)(void *arg))
{
    assert(cb && !p->on_closed);
    assert(p->n_open == (unsigned)(p->stall.fd >= 0) + (unsigned)(p->limit.fd >= 0));
    p->on_closed = cb;
    pressure_group_fini(&p->group);
    fd_scoped(&p->threshold_fd);
    if (p->n_open == 0)
        defer_start(p->loop, &p->closing, on_nothing_to_close);
    if (p->stall.fd >= 0)
        uv_close((uv_handle_t *)&p->stall.poll, on_closed);
    if (p->limit.fd >= 0)
        uv_close((uv_handle_t *)&p->limit.poll, on_closed);
}
