/* SPDX-License-Identifier: Apache-2.0 */
#include "container/keeper.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "container/console.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KEEPER_TERMINAL = 12 /* its descriptor: keeper_program.c */ };

#ifdef HAVE_CONTAINER_KEEPER
extern const struct str container_keeper_program; /* made by the build */

int container_keeper_program_open(struct err *err)
{
    scoped(fd_scoped) int fd = sys_memfd("dormouse-keeper");
    int r = fd < 0 ? fd : sys_write_all(fd, container_keeper_program.p, container_keeper_program.n);
    if (r >= 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
        r = -errno;
    return r < 0 ? err_sys(err, r, "put the keeper of containers into memory") : take_fd(&fd);
}
#else
int container_keeper_program_open(struct err *err)
{
    return err_set(err, E_UNSUPPORTED, "containers have no keepers on this architecture");
}
#endif

struct container_keeper {
    uv_poll_t poll;
    int fd;
    container_keeper_cb on_runtime;
    void *arg;
    bool is_closed;
};

static void on_keeper_message(uv_poll_t *h, int status, int events)
{
    struct container_keeper *k = h->data;
    int runtime = 0, terminal = -1;
    (void)uv_poll_stop(h);
    if (container_console_receive(k->fd, &runtime, sizeof runtime, &terminal) == sizeof runtime)
        k->on_runtime(k->arg, runtime, terminal); /* else it has ended: its owner sees that */
}

int container_keeper_listen(struct loop *loop, container_keeper_cb on_runtime, void *arg,
                            struct container_keeper **ret, int *ret_theirs, struct err *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_sys(err, -errno, "socketpair");
    struct container_keeper *k = xnew(struct container_keeper);
    int theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, 3), r = theirs < 0 ? -errno : 0;
    (void)close(ends[1]);
    if (r >= 0)
        r = uv_poll_init(&loop->uv, &k->poll, ends[0]);
    if (r < 0) {
        (void)close(ends[0]);
        if (theirs >= 0)
            (void)close(theirs);
        free(k);
        return err_sys(err, r, "watch the keeper of a container");
    }
    k->fd = ends[0];
    k->on_runtime = on_runtime;
    k->arg = arg;
    k->poll.data = k;
    (void)uv_poll_start(&k->poll, UV_READABLE, on_keeper_message);
    *ret = k;
    *ret_theirs = theirs;
    return 0;
}

static void on_keeper_closed(uv_handle_t *h)
{
    struct container_keeper *k = h->data;
    (void)close(k->fd);
    free(k);
}

void container_keeper_close(struct container_keeper *k)
{
    if (!k || k->is_closed)
        return;
    k->is_closed = true;
    uv_close((uv_handle_t *)&k->poll, on_keeper_closed);
}

int container_keeper_read_exit(const char *path, int *ret_status, uint64_t *ret_wall_ms)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(256);
    struct str status, ms;
    uint64_t n;
    int r = sys_read_file(AT_FDCWD, path, &text, NULL);
    if (r < 0)
        return r;
    (void)str_cut(str_trim(buf_str(&text)), ' ', &status, &ms);
    bool is_signal = status.n && status.p[0] == '-';
    if (parse_u64(str_slice(status, is_signal, status.n), 0, 255, &n) < 0 ||
        parse_u64(ms, 0, INT64_MAX, ret_wall_ms) < 0)
        return -ENOENT;
    *ret_status = is_signal ? -(int)n : (int)n;
    return 0;
}

int container_keeper_terminal(int pid, struct err *err)
{
    scoped(fd_scoped) int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    int fd = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, KEEPER_TERMINAL, 0);
    return fd < 0 ? err_sys(err, -errno, "get the terminal of a container again") : fd;
}
