/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of containers' logs; see podlog_reader.h. */
#include "agent/log/podlog_reader.h"

#include "base/sm.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { HELD_MAX_BYTES = PODLOG_LINE_MAX_BYTES + PODLOG_PIECE_BYTES };

enum reader_at { READER_OPENING, READER_READING, READER_PAUSED, READER_WAITING, READER_ENDED };

static const struct sm_state reader_table[] = {
    [READER_OPENING] = { "opening", EDGE(READER_READING) | EDGE(READER_ENDED) },
    [READER_READING] = { "reading",
                         EDGE(READER_PAUSED) | EDGE(READER_WAITING) | EDGE(READER_ENDED) },
    [READER_PAUSED] = { "paused", EDGE(READER_READING) | EDGE(READER_ENDED) },
    [READER_WAITING] = { "waiting", EDGE(READER_READING) | EDGE(READER_ENDED) },
    [READER_ENDED] = { "ended", 0 },
};

/* What a pool thread does for a reader; owned by it until done. */
struct reader_job {
    struct job job;
    const char *path; /* of the reader; NULL: read */
    bool has_tail;
    uint64_t tail_lines;
    int fd;
    uint64_t at, size;
    char *room;
    ssize_t n; /* read, or an error */
};

struct podlog_reader {
    struct loop *loop;
    struct sm sm;
    char *path;
    struct podlog_filter filter;
    struct podlog_writer *writer; /* NULL: the log does not grow any more */
    struct podlog_follower follower;
    uint64_t generation;
    int fds[PODLOG_READER_FILES_MAX]; /* to be read after this file */
    size_t n_fds;
    int fd;
    uint64_t at, end; /* to be read next; the size, unless it is followed */
    struct buf held;  /* an incomplete line, and the piece that is read */
    struct reader_job job;
    bool job_runs;
    struct defer step;
    const struct podlog_reader_events *events; /* NULL: cancelled */
    void *arg;
};

/* ------------------------------------------------------------------ on a pool thread */

/*
 * Where the last n lines begin. Reads backwards; a last line without '\n' counts.
 */
static int find_tail(int fd, uint64_t size, uint64_t n, char *room, uint64_t *ret)
{
    uint64_t left = n, end = size;
    if (n == 0) {
        *ret = size;
        return 0;
    }
    while (end > 0) {
        size_t piece = (size_t)MIN(end, (uint64_t)PODLOG_PIECE_BYTES);
        ssize_t got = sys_pread_full(fd, room, piece, end - piece);
        if (got < 0 || (size_t)got < piece)
            return got < 0 ? (int)got : -EIO;
        for (size_t i = piece; i > 0; i--) {
            uint64_t after = end - piece + i; /* the line behind this '\n' begins here */
            if (room[i - 1] == '\n' && after < size && --left == 0) {
                *ret = after;
                return 0;
            }
        }
        end -= piece;
    }
    *ret = 0;
    return 0;
}

static void open_on_thread(struct reader_job *j)
{
    struct stat st;
    /* A followed file is open already, so that it is that of the writer. */
    int fd = j->fd >= 0 ? j->fd
                        : sys_openat(AT_FDCWD, j->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0),
        r = 0;
    if (fd < 0) {
        j->n = fd;
        return;
    }
    if (fstat(fd, &st) < 0)
        r = -errno;
    else if (!S_ISREG(st.st_mode))
        r = -EINVAL;
    j->size = r < 0 ? 0 : (uint64_t)st.st_size;
    if (r >= 0 && j->has_tail)
        r = find_tail(fd, j->size, j->tail_lines, j->room, &j->at);
    if (r < 0)
        (void)close(fd);
    else
        j->fd = fd;
    j->n = r;
}

static void on_work(struct job *job)
{
    struct reader_job *j = container_of(job, struct reader_job, job);
    if (j->path)
        open_on_thread(j);
    else
        j->n = sys_pread_full(j->fd, j->room, PODLOG_PIECE_BYTES, j->at);
}

/* ------------------------------------------------------------------ life */

static void on_step(struct defer *d);

static void go(struct podlog_reader *r)
{
    defer_start(r->loop, &r->step, on_step);
}

static void reader_free(struct podlog_reader *r)
{
    podlog_writer_unfollow(&r->follower);
    defer_cancel(&r->step);
    if (r->fd >= 0)
        (void)close(r->fd);
    for (size_t i = 0; i < r->n_fds; i++)
        (void)close(r->fds[i]);
    buf_fini(&r->held);
    free(r->path);
    free(r);
}

static void finish(struct podlog_reader *r, int code)
{
    struct err err = { 0 };
    const struct podlog_reader_events *events = r->events;
    void *arg = r->arg;
    sm_move(&r->sm, READER_ENDED);
    if (code < 0)
        (void)err_sys(&err, code, "failed to open log file '%s'", r->path);
    reader_free(r);
    events->on_end(arg, code, &err);
}

/* Before it is removed. */
static void keep_file(struct podlog_reader *r)
{
    int fd = podlog_writer_dup(r->writer);
    r->generation = podlog_writer_generation(r->writer);
    if (fd < 0) {
        log_warn("part of a log is not shown", "path=%s reason=\"%s\"", r->path, err_strerror(fd));
        return;
    }
    if (r->n_fds == PODLOG_READER_FILES_MAX) {
        (void)close(r->fds[0]);
        memmove(r->fds, r->fds + 1, --r->n_fds * sizeof r->fds[0]);
    }
    r->fds[r->n_fds++] = fd;
}

/* Only notes what has happened. */
static void on_grown(struct podlog_follower *f)
{
    struct podlog_reader *r = container_of(f, struct podlog_reader, follower);
    if (podlog_writer_generation(r->writer) != r->generation)
        keep_file(r);
    if (f->is_over)
        r->writer = NULL;
    if (r->sm.at == READER_WAITING) {
        sm_move(&r->sm, READER_READING);
        go(r);
    }
}

/* ------------------------------------------------------------------ reading */

static void on_done(struct job *job, int code);

static void start_job(struct podlog_reader *r)
{
    bool opens = r->sm.at == READER_OPENING;
    struct reader_job *j = &r->job;
    char *room = NULL;
    int got = buf_reserve(&r->held, PODLOG_PIECE_BYTES, &room);
    assert(got >= 0); /* bounded by `consume` */
    *j = (struct reader_job){ .job = { .work = on_work, .done = on_done },
                              .path = opens ? r->path : NULL,
                              .has_tail = opens && r->filter.query.has_tail,
                              .tail_lines = r->filter.query.tail_lines,
                              .fd = r->fd,
                              .at = r->at,
                              .room = room };
    r->job_runs = true;
    got = job_start(r->loop, &j->job);
    assert(got >= 0); /* it would be a job without work */
}

static bool is_followed(const struct podlog_reader *r)
{
    return r->writer && r->filter.query.follow;
}

/* Put out what is there. is_end: no more comes. Returns whether to go on. */
static void consume(struct podlog_reader *r, bool is_end)
{
    struct buf out = BUF_INIT(4 * HELD_MAX_BYTES);
    size_t used = podlog_filter_run(&r->filter, buf_str(&r->held), is_end, &out);
    bool more = true;
    buf_consume(&r->held, used);
    if (out.n)
        more = r->events->on_data(r->arg, buf_str(&out));
    buf_fini(&out);
    if (!r->events) /* cancelled in on_data() */
        return;
    if (!more)
        sm_move(&r->sm, READER_PAUSED);
}

/* The next file, if there is one by now. false: there is none. */
static bool open_next(struct podlog_reader *r)
{
    if (r->n_fds == 0)
        return false;
    (void)close(r->fd);
    r->fd = r->fds[0];
    memmove(r->fds, r->fds + 1, --r->n_fds * sizeof r->fds[0]);
    r->at = 0;
    buf_reset(&r->held);
    return true;
}

static void at_end(struct podlog_reader *r)
{
    if (open_next(r)) {
        go(r);
        return;
    }
    if (is_followed(r)) {
        sm_move(&r->sm, READER_WAITING);
        if (r->held.n == 0)
            buf_fini(&r->held); /* one that waits holds no memory */
        return;
    }
    consume(r, true);
    if (!r->events)
        reader_free(r);
    else
        finish(r, 0);
}

static void took(struct podlog_reader *r, ssize_t n)
{
    if (n < 0) {
        finish(r, (int)n);
        return;
    }
    if (n == 0) {
        at_end(r);
        return;
    }
    n = (ssize_t)MIN((uint64_t)n, r->end - r->at);
    buf_advance(&r->held, (size_t)n);
    r->at += (uint64_t)n;
    consume(r, false);
    if (!r->events)
        reader_free(r);
    else if (podlog_filter_is_done(&r->filter))
        finish(r, 0);
    else if (r->sm.at == READER_READING)
        go(r);
}

/* From the page cache, if it is there. */
static bool read_now(struct podlog_reader *r, ssize_t *ret)
{
    char *room = NULL;
    int got = buf_reserve(&r->held, PODLOG_PIECE_BYTES, &room);
    assert(got >= 0);
    struct iovec iov = { room, PODLOG_PIECE_BYTES };
    ssize_t n = preadv2(r->fd, &iov, 1, (off_t)r->at, RWF_NOWAIT);
    if (n < 0)
        return false; /* EAGAIN, or a file system without it: a thread finds out */
    *ret = n;
    return true;
}

static void on_step(struct defer *d)
{
    struct podlog_reader *r = container_of(d, struct podlog_reader, step);
    ssize_t n = 0;
    if (r->job_runs)
        return;
    if (!r->events) {
        reader_free(r);
        return;
    }
    if (r->sm.at != READER_READING)
        return;
    if (r->at >= r->end)
        at_end(r);
    else if (read_now(r, &n))
        took(r, n);
    else
        start_job(r);
}

static void opened(struct podlog_reader *r)
{
    struct reader_job *j = &r->job;
    if (j->n < 0) {
        finish(r, (int)j->n);
        return;
    }
    r->at = j->at;
    r->end = r->filter.query.follow ? UINT64_MAX : j->size;
    sm_move(&r->sm, READER_READING);
    if (r->events->on_open)
        r->events->on_open(r->arg);
    if (podlog_filter_is_done(&r->filter))
        finish(r, 0);
    else
        go(r);
}

static void on_done(struct job *job, int code)
{
    struct reader_job *j = container_of(job, struct reader_job, job);
    struct podlog_reader *r = container_of(j, struct podlog_reader, job);
    bool was_open = j->path != NULL;
    r->job_runs = false;
    if (was_open)
        r->fd = j->n < 0 ? -1 : j->fd;
    if (!r->events) {
        reader_free(r);
    } else if (was_open) {
        opened(r);
    } else {
        took(r, j->n);
    }
}

struct podlog_reader *podlog_reader_start(struct loop *loop, const char *path,
                                          struct podlog_writer *writer,
                                          const struct podlog_query *query,
                                          const struct podlog_reader_events *events, void *arg)
{
    struct podlog_reader *r = xnew(struct podlog_reader);
    *r = (struct podlog_reader){ .loop = loop,
                                 .path = xstrdup(path),
                                 .fd = -1,
                                 .held = BUF_INIT(HELD_MAX_BYTES + 1),
                                 .events = events,
                                 .arg = arg };
    sm_init(&r->sm, reader_table, READER_OPENING);
    podlog_filter_init(&r->filter, query);
    if (writer && query->follow) {
        r->writer = writer;
        r->fd = MAX(podlog_writer_dup(writer), -1); /* else by its path */
        r->generation = podlog_writer_generation(writer);
        podlog_writer_follow(writer, &r->follower, on_grown);
    }
    start_job(r);
    return r;
}

void podlog_reader_resume(struct podlog_reader *r)
{
    if (r->sm.at != READER_PAUSED)
        return;
    sm_move(&r->sm, READER_READING);
    go(r);
}

void podlog_reader_cancel(struct podlog_reader *r)
{
    r->events = NULL;
    podlog_writer_unfollow(&r->follower);
    if (!r->job_runs && r->sm.at != READER_READING)
        reader_free(r);
    else
        go(r);
}
