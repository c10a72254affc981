/* SPDX-License-Identifier: Apache-2.0 */
#include "image/store_ask.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/sys.h"
#include "codec/json.h"
#include "image/store_control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { READ_BYTES = 16 << 10 };

struct asking {
    int fd;
    bool is_taken;
    uint64_t taken_by_ms;
    struct buf in;
    void (*on_event)(void *arg, const struct json *v);
    void *arg;
};

/* The socket, or STORE_ASKED_NO_ONE as -ENOENT. */
static int connect_to(const char *root, struct err *err)
{
    struct ucred peer;
    socklen_t n = sizeof peer;
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, root, O_PATH | O_DIRECTORY, 0);
    scoped(fd_scoped) int fd = dir < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -ENOENT;
    (void)snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/" STORE_CONTROL_NAME, dir);
    if (connect(fd, (const struct sockaddr *)&at, sizeof at) < 0)
        return errno == EACCES || errno == EPERM ? err_sys(err, -errno, "ask '%s/control'", root)
                                                 : -ENOENT;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 ||
        (peer.uid != 0 && peer.uid != geteuid()))
        return err_set(err, E_DENIED, "'%s/control' is of another user", root);
    return take_fd(&fd);
}

/* 1: sent. 0: the process is gone. */
static int send_job(int fd, const struct store_job *job, struct err *err)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(STORE_CONTROL_LINE_MAX);
    (void)json_write(&line, store_job_write(job, &a));
    (void)buf_add_char(&line, '\n');
    arena_fini(&a);
    if (!buf_ok(&line))
        return err_set(err, E_LIMIT, "the names are longer than %d bytes", STORE_CONTROL_LINE_MAX);
    for (size_t at = 0; at < line.n;) {
        ssize_t n = send(fd, line.p + at, line.n - at, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return 0;
        at += n < 0 ? 0 : (size_t)n;
    }
    return 1;
}

/* 1: something is there to be read. */
static int wait_for_it(const struct asking *q, struct err *err)
{
    for (;;) {
        struct pollfd p = { .fd = q->fd, .events = POLLIN };
        uint64_t now = clock_mono_ms();
        if (!q->is_taken && now >= q->taken_by_ms)
            return err_set(err, -ETIMEDOUT, "the process that has the store open does not answer");
        if (poll(&p, 1, q->is_taken ? -1 : (int)(q->taken_by_ms - now)) > 0)
            return 1;
    }
}

/* A line without its end, in q->in. 1; 0: there is none any more. */
static int read_line(struct asking *q, struct str *ret, struct err *err)
{
    for (;;) {
        char *at;
        ptrdiff_t end = str_find_char(buf_str(&q->in), '\n');
        if (end >= 0) {
            *ret = str_slice(buf_str(&q->in), 0, (size_t)end);
            return 1;
        }
        if (buf_reserve(&q->in, READ_BYTES, &at) < 0)
            return err_set(err, E_PARSE, "an answer has more than %d bytes",
                           STORE_CONTROL_LINE_MAX);
        int r = wait_for_it(q, err);
        if (r < 0)
            return r;
        ssize_t n = recv(q->fd, at, READ_BYTES, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        buf_advance(&q->in, (size_t)n);
    }
}

static int take_error(const struct json *v, struct err *err)
{
    int64_t code = json_int_or(json_getc(v, "code"), -EIO);
    return err_set(err, code < 0 && code > INT32_MIN ? (int)code : -EIO, STR_FMT,
                   STR_ARG(json_get_str(v, "text")));
}

/* 1: it is the result. 0: more will come. The error of the job. */
static int take_line(struct asking *q, struct str line, struct arena *a, struct json **ret,
                     struct err *err)
{
    struct json *v;
    int r = json_parse(a, str_copy_arena(a, line), NULL, &v, NULL);
    if (r < 0)
        return err_set(err, E_PARSE, "the process that has the store open answers nonsense");
    *ret = json_getc(v, "result");
    if (*ret)
        return 1;
    if (json_getc(v, "error"))
        return take_error(json_getc(v, "error"), err);
    q->is_taken |= json_bool(json_getc(v, "taken"));
    if (json_getc(v, "event") && q->on_event)
        q->on_event(q->arg, json_getc(v, "event"));
    return 0;
}

static int take_answers(struct asking *q, struct arena *a, struct json **ret, struct err *err)
{
    for (;;) {
        struct str line;
        int r = read_line(q, &line, err);
        if (r < 0)
            return r;
        if (r == 0)
            return q->is_taken ? STORE_ASKED_LOST : STORE_ASKED_NO_ONE;
        struct arena passing = { 0 };
        struct json *result;
        r = take_line(q, line, &passing, &result, err);
        arena_fini(&passing);
        if (r == 1) /* once more, to be kept */
            r = take_line(q, line, a, ret, err);
        if (r != 0)
            return r < 0 ? r : STORE_ASKED_DONE;
        buf_consume(&q->in, line.n + 1);
    }
}

int store_ask(const char *root, const struct store_job *job,
              void (*on_event)(void *arg, const struct json *v), void *arg, struct arena *a,
              struct json **ret, struct err *err)
{
    scoped(fd_scoped) int fd = connect_to(root, err);
    if (fd < 0)
        return fd == -ENOENT ? STORE_ASKED_NO_ONE : fd;
    struct asking q = { .fd = fd,
                        .taken_by_ms = clock_mono_ms() + STORE_ASK_TAKEN_MS,
                        .in = BUF_INIT(STORE_CONTROL_LINE_MAX + READ_BYTES),
                        .on_event = on_event,
                        .arg = arg };
    int r = send_job(fd, job, err);
    r = r <= 0 ? r : take_answers(&q, a, ret, err);
    buf_fini(&q.in);
    return r;
}
