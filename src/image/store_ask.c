/* SPDX-License-Identifier: Apache-2.0 */
#include "image/store_ask.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/sys.h"
#include "codec/json.h"
#include "image/store_control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    READ_BYTES = 16 << 10,
    STOP_MS = 100,      /* between two checks of *stop */
    LOCK_TURN_MS = 100, /* to wait for the lock, before the process that has it is asked again */
    ENDS_MAX = 4,       /* processes that end with the job; after each the limit begins again */
};

struct store_ask_asking {
    int fd;
    bool is_taken;
    bool is_late; /* it was not taken by then: the connection is shut down */
    uint64_t taken_by_ms;
    struct buf in;
    void (*on_event)(void *arg, const struct json *v);
    void *arg;
    const atomic_bool *stop; /* NULL: nothing does */
};

static bool is_stopped(const struct store_ask_asking *q)
{
    return q->stop && atomic_load(q->stop);
}

/* A connection waits for its place in the queue, and a job for room, until then. */
static void limit_sending(int fd, uint64_t until_ms)
{
    uint64_t now = clock_mono_ms(), ms = until_ms > now ? until_ms - now : 1;
    const struct timeval time = { .tv_sec = (time_t)MIN(ms / 1000, (uint64_t)INT_MAX),
                                  .tv_usec = (suseconds_t)(ms % 1000 * 1000) };
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

/* The socket, or STORE_ASKED_NO_PROCESS as -ENOENT, STORE_ASKED_LATE as -ETIMEDOUT. */
static int connect_to(const char *root, uint64_t until_ms, struct err *err)
{
    struct ucred peer;
    socklen_t n = sizeof peer;
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, root, O_PATH | O_DIRECTORY, 0);
    scoped(fd_scoped) int fd = dir < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -ENOENT;
    (void)snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/" STORE_CONTROL_NAME, dir);
    limit_sending(fd, until_ms);
    if (connect(fd, (const struct sockaddr *)&at, sizeof at) < 0)
        return errno == EAGAIN                     ? -ETIMEDOUT
               : errno == EACCES || errno == EPERM ? err_sys(err, -errno, "ask '%s/control'", root)
                                                   : -ENOENT;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 ||
        (peer.uid != 0 && peer.uid != geteuid()))
        return err_set(err, E_DENIED, "'%s/control' is of another user", root);
    return take_fd(&fd);
}

/* 1: sent. 0: the process has ended, or does not read. */
static int send_job(struct store_ask_asking *q, const struct store_job *job, struct err *err)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(STORE_CONTROL_LINE_MAX);
    (void)json_write(&line, store_job_write(job, &a));
    (void)buf_add_char(&line, '\n');
    arena_fini(&a);
    if (!buf_ok(&line))
        return err_set(err, E_LIMIT, "the job is longer than %d bytes", STORE_CONTROL_LINE_MAX);
    for (size_t at = 0; at < line.n;) {
        limit_sending(q->fd, q->taken_by_ms);
        ssize_t n = send(q->fd, line.p + at, line.n - at, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            q->is_late = errno == EAGAIN;
            return 0;
        }
        at += n < 0 ? 0 : (size_t)n;
    }
    return 1;
}

/* Something is there to be read, or never will be. */
static void wait_for_it(struct store_ask_asking *q)
{
    for (;;) {
        struct pollfd p = { .fd = q->fd, .events = POLLIN };
        uint64_t now = clock_mono_ms();
        bool has_deadline = !q->is_taken && !q->is_late;
        if (has_deadline && now >= q->taken_by_ms) {
            /* From now on the process cannot send "taken"; one that it has sent is read yet. */
            q->is_late = true;
            (void)shutdown(q->fd, SHUT_RDWR);
            return;
        }
        int ms = has_deadline ? (int)MIN(q->taken_by_ms - now, (uint64_t)INT_MAX) : -1;
        if (q->stop)
            ms = ms < 0 ? STOP_MS : MIN(ms, (int)STOP_MS);
        int n = poll(&p, 1, ms);
        if (n > 0 || is_stopped(q))
            return;
        if (n < 0 && errno != EINTR)
            (void)usleep(STOP_MS * 1000);
    }
}

/* A line without its end, in q->in. 1; 0: there is none any more. */
static int read_line(struct store_ask_asking *q, struct str *ret, struct err *err)
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
        wait_for_it(q);
        if (is_stopped(q))
            return err_set(err, -ECANCELED, "it was canceled");
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
static int take_line(struct store_ask_asking *q, struct str line, struct arena *a,
                     struct json **ret, struct err *err)
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

/* Without a result. */
static enum store_asked asked_in_vain(const struct store_ask_asking *q)
{
    return q->is_taken ? STORE_ASKED_LOST : q->is_late ? STORE_ASKED_LATE : STORE_ASKED_ENDED;
}

static int take_answers(struct store_ask_asking *q, struct arena *a, struct json **ret,
                        struct err *err)
{
    for (;;) {
        struct str line;
        int r = read_line(q, &line, err);
        if (r < 0)
            return r;
        if (r == 0)
            return asked_in_vain(q);
        struct arena passing = { 0 };
        struct json *result;
        r = take_line(q, line, &passing, &result, err);
        arena_fini(&passing);
        if (r == 1) /* parse it again, into the arena of the caller */
            r = take_line(q, line, a, ret, err);
        if (r != 0)
            return r < 0 ? r : STORE_ASKED_DONE;
        buf_consume(&q->in, line.n + 1);
    }
}

/* q: how to report events, and the time limit. */
static int ask(const char *root, const struct store_job *job, uint64_t taken_ms,
               struct store_ask_asking *q, struct arena *a, struct json **ret, struct err *err)
{
    uint64_t now = clock_mono_ms(), taken_by_ms = now + MIN(taken_ms, UINT64_MAX - now);
    scoped(fd_scoped) int fd = connect_to(root, taken_by_ms, err);
    if (fd < 0)
        return fd == -ENOENT ? STORE_ASKED_NO_PROCESS : fd == -ETIMEDOUT ? STORE_ASKED_LATE : fd;
    q->fd = fd;
    q->taken_by_ms = taken_by_ms;
    q->in = BUF_INIT(STORE_CONTROL_LINE_MAX + READ_BYTES);
    int r = send_job(q, job, err);
    if (r >= 0)
        r = r == 0 ? (int)asked_in_vain(q) : take_answers(q, a, ret, err);
    buf_fini(&q->in);
    return r;
}

int store_ask(const char *root, const struct store_job *job, uint64_t taken_ms,
              void (*on_event)(void *arg, const struct json *v), void *arg, struct arena *a,
              struct json **ret, struct err *err)
{
    struct store_ask_asking q = { .on_event = on_event, .arg = arg };
    return ask(root, job, taken_ms, &q, a, ret, err);
}

int store_ask_until(const char *root, const struct store_job *job, uint64_t taken_ms,
                    const atomic_bool *stop, struct arena *a, struct json **ret, struct err *err)
{
    struct store_ask_asking q = { .stop = stop };
    return ask(root, job, taken_ms, &q, a, ret, err);
}

int store_ask_repeat(const struct store_ask_attempts *t, struct err *err)
{
    uint64_t since = clock_mono_ms();
    unsigned n_ends = 0;
    for (uint64_t lock_ms = 0;;) {
        int r = t->attempt(t->arg, lock_ms, err);
        if (r < 0 || r == STORE_ASKED_DONE || r == STORE_ASKED_LATE)
            return r;
        if (r != STORE_ASKED_NO_PROCESS && n_ends++ < ENDS_MAX)
            since = clock_mono_ms(); /* before that the process may have worked for long */
        uint64_t passed = clock_mono_ms() - since, limit = t->limit_ms(t->arg);
        if (passed >= limit)
            return r;
        lock_ms = MIN(limit - passed, (uint64_t)LOCK_TURN_MS);
    }
}
