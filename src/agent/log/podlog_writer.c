/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of containers; see podlog_writer.h. */
#include "agent/log/podlog_writer.h"

#include "agent/log/podlog_path.h"
#include "base/log.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DIR_MODE = 0755, FILE_MODE = 0640, STAMP_SIZE = 16, WARN_EVERY_MS = 10000 };

struct podlog_writer {
    struct loop *loop;
    char *path;
    uint64_t max_bytes;
    unsigned max_files;
    int fd;
    uint64_t size; /* of the file, as far as it holds whole lines */
    struct buf batch;
    uint32_t n_batch;   /* lines in it */
    int64_t batch_us;   /* when the first of them came; all have this time */
    struct defer flush; /* at the end of the turn */
    struct podlog_stamp stamp;
    uint64_t n_dropped, n_told; /* lines that were dropped; those that the log tells of */
    uint64_t retry_ms;          /* no write before; 0: writing works */
    struct log_rate warned;
    uint64_t generation;
    int64_t last_rotation_s; /* names of rotated files are unique and in order */
    struct list followers;
    struct podlog_tidy *tidy; /* a job is under way */
    bool tidy_again;
};

/* Outlives the writer. */
struct podlog_tidy {
    struct job job;
    struct podlog_writer *w; /* NULL: closed meanwhile */
    char *path;
    unsigned keep;
    struct err err;
};

/* ------------------------------------------------------------------ tidying */

static void start_tidy(struct podlog_writer *w);

static void on_tidy(struct job *j)
{
    struct podlog_tidy *t = container_of(j, struct podlog_tidy, job);
    (void)podlog_path_tidy(t->path, t->keep, &t->err);
}

static void on_tidied(struct job *j, int r)
{
    struct podlog_tidy *t = container_of(j, struct podlog_tidy, job);
    struct podlog_writer *w = t->w;
    if (t->err.code)
        log_warn("rotated logs not tidied", "path=%s reason=\"%s\"", t->path, err_text(&t->err));
    if (w)
        w->tidy = NULL;
    free(t->path);
    free(t);
    if (w && w->tidy_again)
        start_tidy(w);
}

static void start_tidy(struct podlog_writer *w)
{
    w->tidy_again = w->tidy != NULL;
    if (w->tidy)
        return;
    struct podlog_tidy *t = xnew(struct podlog_tidy);
    *t = (struct podlog_tidy){ .job = { .work = on_tidy, .done = on_tidied },
                               .w = w,
                               .path = xstrdup(w->path),
                               .keep = w->max_files - 1 };
    w->tidy = t;
    if (job_start(w->loop, &t->job) < 0)
        on_tidied(&t->job, -ECANCELED);
}

/* ------------------------------------------------------------------ files */

static void tell_followers(struct podlog_writer *w)
{
    list_each_safe (node, &w->followers) {
        struct podlog_follower *f = list_entry(node, struct podlog_follower, node);
        f->run(f);
    }
}

/* A file that ends within a line, after a crash: the line ends there. */
static int open_file(struct podlog_writer *w, struct err *err)
{
    struct stat st;
    char last = '\n';
    int fd = sys_openat(AT_FDCWD, w->path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, FILE_MODE);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", w->path);
    if (fstat(fd, &st) < 0) {
        (void)close(fd);
        return err_sys(err, -errno, "stat '%s'", w->path);
    }
    w->fd = fd;
    w->size = (uint64_t)st.st_size;
    if (w->size && sys_pread_full(fd, &last, 1, w->size - 1) == 1 && last != '\n' &&
        sys_write_all(fd, "\n", 1) >= 0)
        w->size++;
    return 0;
}

static void rotated_name(struct podlog_writer *w, char stamp[STAMP_SIZE])
{
    struct tm tm;
    time_t now = (time_t)MAX(clock_wall_us() / 1000000, w->last_rotation_s + 1);
    w->last_rotation_s = now;
    (void)gmtime_r(&now, &tm);
    (void)strftime(stamp, STAMP_SIZE, "%Y%m%d-%H%M%S", &tm);
}

/* On failure the file goes on growing, and the next batch tries again. */
static void rotate(struct podlog_writer *w)
{
    char stamp[STAMP_SIZE];
    struct err err = { 0 };
    uint64_t skipped;
    rotated_name(w, stamp);
    char *to = xasprintf("%s.%s", w->path, stamp);
    int r = sys_renameat(AT_FDCWD, w->path, AT_FDCWD, to), old = w->fd;
    if (r >= 0) {
        r = open_file(w, &err);
        if (r < 0)
            (void)sys_renameat(AT_FDCWD, to, AT_FDCWD, w->path);
    }
    if (r < 0) {
        if (log_rate_ok(&w->warned, WARN_EVERY_MS, &skipped))
            log_warn("container log not rotated", "path=%s reason=\"%s\"", w->path,
                     err.code ? err_text(&err) : err_strerror(r));
        free(to);
        return;
    }
    (void)close(old);
    free(to);
    w->generation++;
    start_tidy(w);
}

/* ------------------------------------------------------------------ writing */

static void drop_batch(struct podlog_writer *w, int r)
{
    uint64_t skipped;
    w->n_dropped += w->n_batch;
    w->retry_ms = loop_now_ms(w->loop) + PODLOG_RETRY_MS;
    /* What was written of the batch may end within a line. */
    (void)sys_ftruncate(w->fd, w->size);
    if (log_rate_ok(&w->warned, WARN_EVERY_MS, &skipped))
        log_warn("container log not written", "path=%s dropped=%llu reason=\"%s\"", w->path,
                 (unsigned long long)w->n_dropped, err_strerror(r));
}

static void reset_batch(struct podlog_writer *w)
{
    w->n_batch = 0;
    buf_fini(&w->batch); /* a quiet container holds no memory */
}

static void write_batch(struct podlog_writer *w)
{
    int r = sys_write_all(w->fd, w->batch.p, w->batch.n);
    if (r < 0) {
        drop_batch(w, r);
        return;
    }
    w->size += w->batch.n;
    w->retry_ms = 0;
}

/* After lines were dropped and writing works again, the log tells how many. */
static void tell_dropped(struct podlog_writer *w)
{
    char text[96];
    if (w->n_told == w->n_dropped)
        return;
    int n = snprintf(text, sizeof text, "[%llu lines could not be written here]",
                     (unsigned long long)(w->n_dropped - w->n_told));
    struct buf line = BUF_INIT(sizeof text + PODLOG_HEAD_MAX_BYTES + 1);
    (void)podlog_line_write(&line, &w->stamp, clock_wall_us(), PODLOG_STDERR,
                            str_n(text, (size_t)n), false);
    if (sys_write_all(w->fd, line.p, line.n) >= 0) {
        w->size += line.n;
        w->n_told = w->n_dropped;
    } else {
        (void)sys_ftruncate(w->fd, w->size);
    }
    buf_fini(&line);
}

void podlog_writer_flush(struct podlog_writer *w)
{
    defer_cancel(&w->flush);
    if (w->n_batch == 0)
        return;
    if (loop_now_ms(w->loop) < w->retry_ms) {
        w->n_dropped += w->n_batch;
        reset_batch(w);
        return;
    }
    tell_dropped(w);
    write_batch(w);
    reset_batch(w);
    if (w->size >= w->max_bytes)
        rotate(w);
    tell_followers(w);
}

static void on_flush(struct defer *d)
{
    podlog_writer_flush(container_of(d, struct podlog_writer, flush));
}

static void add_piece(struct podlog_writer *w, enum podlog_stream stream, struct str text,
                      bool has_more)
{
    if (w->batch.n + text.n + PODLOG_HEAD_MAX_BYTES > PODLOG_BATCH_BYTES)
        podlog_writer_flush(w);
    if (w->n_batch == 0)
        w->batch_us = MAX(clock_wall_us(), 0);
    (void)podlog_line_write(&w->batch, &w->stamp, w->batch_us, stream, text, has_more);
    w->n_batch++;
    defer_start(w->loop, &w->flush, on_flush);
}

void podlog_writer_add(struct podlog_writer *w, enum podlog_stream stream, struct str text,
                       bool has_more)
{
    while (text.n > PODLOG_TEXT_MAX_BYTES) {
        add_piece(w, stream, str_slice(text, 0, PODLOG_TEXT_MAX_BYTES), true);
        text = str_slice(text, PODLOG_TEXT_MAX_BYTES, text.n);
    }
    add_piece(w, stream, text, has_more);
}

/* ------------------------------------------------------------------ life */

int podlog_writer_open(const struct podlog_writer_opts *opts, struct podlog_writer **ret,
                       struct err *err)
{
    const char *slash = strrchr(opts->path, '/');
    assert(slash && (opts->max_files == 0 || opts->max_files >= 2));
    scoped(free_scoped) char *dir = xstrndup(opts->path, (size_t)(slash - opts->path));
    int r = sys_mkdir_all(dir, DIR_MODE, err);
    if (r < 0)
        return r;
    struct podlog_writer *w = xnew(struct podlog_writer);
    *w = (struct podlog_writer){ .loop = opts->loop,
                                 .path = xstrdup(opts->path),
                                 .max_bytes = opts->max_bytes ? opts->max_bytes : PODLOG_MAX_BYTES,
                                 .max_files = opts->max_files ? opts->max_files : PODLOG_MAX_FILES,
                                 .batch = BUF_INIT(2 * PODLOG_BATCH_BYTES) };
    list_init(&w->followers);
    r = open_file(w, err);
    if (r < 0) {
        free(w->path);
        free(w);
        return r;
    }
    *ret = w;
    return 0;
}

uint64_t podlog_writer_dropped(const struct podlog_writer *w)
{
    return w->n_dropped;
}

const char *podlog_writer_path(const struct podlog_writer *w)
{
    return w->path;
}

void podlog_writer_close(struct podlog_writer *w)
{
    if (!w)
        return;
    podlog_writer_flush(w);
    while (!list_is_empty(&w->followers)) {
        struct podlog_follower *f = list_first(&w->followers, struct podlog_follower, node);
        podlog_writer_unfollow(f);
        f->is_over = true;
        f->run(f);
    }
    if (w->tidy)
        w->tidy->w = NULL;
    (void)close(w->fd);
    buf_fini(&w->batch);
    free(w->path);
    free(w);
}

/* ------------------------------------------------------------------ followers */

void podlog_writer_follow(struct podlog_writer *w, struct podlog_follower *f,
                          void (*run)(struct podlog_follower *f))
{
    f->run = run;
    list_push_back(&w->followers, &f->node);
}

void podlog_writer_unfollow(struct podlog_follower *f)
{
    list_remove(&f->node);
}

uint64_t podlog_writer_generation(const struct podlog_writer *w)
{
    return w->generation;
}

int podlog_writer_dup(const struct podlog_writer *w)
{
    int fd = fcntl(w->fd, F_DUPFD_CLOEXEC, 0);
    return fd < 0 ? -errno : fd;
}
