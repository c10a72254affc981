/* SPDX-License-Identifier: Apache-2.0 */
/* A PSI trigger; see pressure.h. */
#include "wasm/pressure.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* "0::/path" is our group in the unified hierarchy; empty: none. */
static struct str own_group(struct buf *b)
{
    struct str rest, line;
    if (sys_read_file(AT_FDCWD, "/proc/self/cgroup", b, NULL) < 0)
        return STR_NULL;
    for (rest = buf_str(b); str_cut(rest, '\n', &line, &rest);)
        if (str_has_prefix(line, STR("0::")))
            return str_slice(line, 3, line.n);
    return STR_NULL;
}

/* A descriptor that polls as urgent under pressure, or -1. */
static int open_trigger(const char *path)
{
    char text[64];
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDWR | O_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    int n = snprintf(text, sizeof text, "some %d %d", PRESSURE_STALL_MS * 1000,
                     PRESSURE_WINDOW_MS * 1000);
    if (write(fd, text, (size_t)n + 1) < 0)
        return -1;
    return take_fd(&fd);
}

static int open_any(void)
{
    char path[512];
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    struct str group = own_group(&b);
    if (group.n && group.n < 400) {
        (void)snprintf(path, sizeof path, "/sys/fs/cgroup" STR_FMT "/memory.pressure",
                       STR_ARG(group));
        int fd = open_trigger(path);
        if (fd >= 0)
            return fd;
    }
    return open_trigger("/proc/pressure/memory");
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct pressure *p = poll->data;
    if (status < 0) /* the group is gone */
        (void)uv_poll_stop(poll);
    else
        p->on_pressure(p->arg);
}

void pressure_start(struct pressure *p, struct loop *loop, void (*on_pressure)(void *arg),
                    void *arg)
{
    *p = (struct pressure){ .on_pressure = on_pressure, .arg = arg, .fd = open_any() };
    p->poll.data = p;
    if (p->fd < 0) {
        log_debug("the kernel does not report memory pressure", "window_ms=%d", PRESSURE_WINDOW_MS);
        return;
    }
    if (uv_poll_init(&loop->uv, &p->poll, p->fd) < 0) {
        (void)close(p->fd);
        p->fd = -1;
        return;
    }
    (void)uv_poll_start(&p->poll, UV_PRIORITIZED, on_poll);
    uv_unref((uv_handle_t *)&p->poll); /* does not keep the loop going */
}

static void on_closed(uv_handle_t *handle)
{
    struct pressure *p = handle->data;
    (void)close(p->fd);
    p->on_closed(p->arg);
}

void pressure_close(struct pressure *p, void (*cb)(void *arg))
{
    p->on_closed = cb;
    if (p->fd < 0)
        cb(p->arg);
    else
        uv_close((uv_handle_t *)&p->poll, on_closed);
}
