/* SPDX-License-Identifier: Apache-2.0 */
#include "container/console.h"

#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int bind_at(int fd, int dir_fd, const char *name)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int n = snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/%s", dir_fd, name);
    if (n < 0 || (size_t)n >= sizeof a.sun_path)
        return -ENAMETOOLONG;
    return bind(fd, (const struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 1) < 0 ? -errno : 0;
}

int container_console_listen(struct container_console *c, const char *base, struct err *err)
{
    const char *slash = strrchr(base, '/');
    scoped(free_scoped) char *dir = str_dup(str_n(base, (size_t)(slash - base)));
    scoped(free_scoped) char *name = xasprintf("%s.tty", slash + 1);
    scoped(fd_scoped) int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return err_sys(err, -errno, "open '%s'", dir);
    scoped(fd_scoped) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int r = fd < 0 ? -errno : bind_at(fd, dir_fd, name);
    if (r < 0)
        return err_sys(err, r, "listen for a terminal");
    (void)snprintf(c->path, sizeof c->path, "/proc/%d/fd/%d/%s", (int)getpid(), dir_fd, name);
    c->fd = take_fd(&fd);
    c->dir_fd = take_fd(&dir_fd);
    return 0;
}

const char *container_console_path(const struct container_console *c)
{
    return c->path;
}

/* The first descriptor; further ones are closed. */
static int first_of(struct msghdr *m)
{
    int found = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int one;
            memcpy(&one, CMSG_DATA(c) + i * sizeof one, sizeof one);
            if (found < 0)
                found = one;
            else
                (void)close(one);
        }
    }
    return found;
}

int container_console_receive(int fd, void *to, size_t n, int *ret_fd)
{
    enum { FDS_MAX = 4 };
    union {
        char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = { to, n };
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0)
        return -errno;
    *ret_fd = first_of(&m);
    return (int)got;
}

int container_console_take(struct container_console *c, struct err *err)
{
    char text[4096]; /* a name */
    int found = -1;
    scoped(fd_scoped) int peer = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC);
    int r = peer < 0 ? -errno : container_console_receive(peer, text, sizeof text, &found);
    if (r < 0)
        return err_sys(err, r, "get the terminal from the runtime");
    scoped(fd_scoped) int fd = found;
    r = fd < 0 ? -ENOTTY : container_console_check(fd);
    return r < 0 ? err_sys(err, r, "the runtime gave something that is no terminal") : take_fd(&fd);
}

int container_console_check(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (!isatty(fd))
        return -ENOTTY;
    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

void container_console_close(struct container_console *c)
{
    if (c->fd >= 0)
        (void)close(take_fd(&c->fd));
    if (c->dir_fd >= 0)
        (void)close(take_fd(&c->dir_fd));
}

void container_console_resize(int fd, uint16_t columns, uint16_t rows)
{
    const struct winsize size = { .ws_col = columns, .ws_row = rows };
    (void)ioctl(fd, TIOCSWINSZ, &size);
}
