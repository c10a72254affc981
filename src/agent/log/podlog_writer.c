/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of containers; see podlog_writer.h. */
#include "agent/log/podlog_writer.h"

#include "agent/log/podlog_file.h"
#include "agent/log/podlog_path.h"
#include "base/log.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { DIR_MODE = 0755, WARN_EVERY_MS = 10000 };

/* What a job writes; its own while it runs. */
struct writing {
    struct podlog_job job;
    struct podlog_file file;
    struct podlog_lines lines;
    size_t at; /* the first that is not written */
    uint64_t missing;
    struct podlog_result result;
};

struct podlog_writer {
    struct loop *loop;
    struct podlog_jobs *jobs;
    char *path;
    unsigned max_files;
    int fd; /* of the current file; no job closes it */
    struct podlog_lines held;
    int64_t turn_us;    /* all lines of a turn have this time */
    struct defer flush; /* at the end of the turn */
    struct timer pause;
    uint64_t next_ms; /* no job before, unless there is much to write */
    struct writing writing;
    bool is_writing, is_full, is_closed;
    uint64_t n_dropped, n_told; /* lines that were dropped; those that the log tells of */
    uint64_t retry_ms;          /* no write before; 0: writing works */
    struct log_rate warned;
    uint64_t generation;
    struct list followers;
    struct podlog_tidy *tidy; /* a job is under way */
    bool tidy_again;
    struct timer compress; /* armed: rotated files are not compressed yet */
    uint64_t rotated_ms;
    void (*on_full)(void *arg, bool is_full);
    void *arg;
    void (*on_flushed)(void *arg); /* NULL: nothing waits for it */
    void *flushed_arg;
};

/* Outlives the writer. */
struct podlog_tidy {
    struct podlog_job job;
    struct podlog_writer *w; /* NULL: closed meanwhile */
    char *path;
    unsigned keep;
    bool compresses;
    struct err err;
};

/* ------------------------------------------------------------------ tidying */

static void start_tidy(struct podlog_writer *w);

static void on_tidy(struct podlog_job *j)
{
    struct podlog_tidy *t = container_of(j, struct podlog_tidy, job);
    (void)podlog_path_tidy(t->path, t->keep, t->compresses, &t->err);
}

static void on_tidied(struct podlog_job *j)
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

/* Without compression while the timer for that runs. */
static void start_tidy(struct podlog_writer *w)
{
    w->tidy_again = w->tidy != NULL;
    if (w->tidy)
        return;
    struct podlog_tidy *t = xnew(struct podlog_tidy);
    *t = (struct podlog_tidy){
        .job = { .kind = PODLOG_JOB_TIDY, .work = on_tidy, .done = on_tidied },
        .w = w,
        .path = xstrdup(w->path),
        .keep = w->max_files - 1,
        .compresses = !timer_is_armed(&w->compress),
    };
    w->tidy = t;
    podlog_jobs_start(w->jobs, &t->job);
}

static void on_compress(struct timer *t)
{
    start_tidy(container_of(t, struct podlog_writer, compress));
}

/* ------------------------------------------------------------------ what a job has done */

static void tell_followers(struct podlog_writer *w)
{
    list_each_safe (node, &w->followers) {
        struct podlog_follower *f = list_entry(node, struct podlog_follower, node);
        f->run(f);
    }
}

static void note_rotation(struct podlog_writer *w, int next_fd)
{
    uint64_t now = loop_now_ms(w->loop);
    (void)close(w->fd);
    w->fd = w->writing.file.fd = next_fd;
    w->generation++;
    if (w->rotated_ms && now - w->rotated_ms < PODLOG_COMPRESS_MS)
        timer_start(w->loop, &w->compress, PODLOG_COMPRESS_MS, on_compress);
    w->rotated_ms = now;
    start_tidy(w);
}

static void note_failure(struct podlog_writer *w, const struct podlog_result *r)
{
    uint64_t skipped;
    w->n_dropped += r->n_lost;
    w->retry_ms = loop_now_ms(w->loop) + PODLOG_RETRY_MS;
    if (log_rate_ok(&w->warned, WARN_EVERY_MS, &skipped))
        log_warn("container log not written", "path=%s dropped=%llu reason=\"%s\"", w->path,
                 (unsigned long long)w->n_dropped, err_strerror(r->code));
}

static void note_result(struct podlog_writer *w, const struct podlog_result *r)
{
    uint64_t skipped;
    w->writing.at = r->used;
    w->n_told += r->n_told;
    w->retry_ms = 0;
    if (r->code < 0)
        note_failure(w, r);
    if (r->next_fd >= 0)
        note_rotation(w, r->next_fd);
    else if (r->unrotated.code && log_rate_ok(&w->warned, WARN_EVERY_MS, &skipped))
        log_warn("container log not rotated", "path=%s reason=\"%s\"", w->path,
                 err_text(&r->unrotated));
}

/* ------------------------------------------------------------------ writing */

static void look(struct podlog_writer *w);

static void on_write(struct podlog_job *j)
{
    struct writing *o = container_of(j, struct writing, job);
    podlog_file_write(&o->file, &o->lines, o->at, o->missing, &o->result);
}

static void start_job(struct podlog_writer *w)
{
    w->is_writing = true;
    w->writing.missing = w->n_dropped - w->n_told;
    podlog_jobs_start(w->jobs, &w->writing.job);
}

static void on_written(struct podlog_job *j)
{
    struct podlog_writer *w = container_of(j, struct podlog_writer, writing.job);
    w->is_writing = false;
    note_result(w, &w->writing.result);
    tell_followers(w);
    if (w->writing.at < w->writing.lines.bytes.n) {
        start_job(w); /* the rest, into the next file */
        return;
    }
    podlog_lines_fini(&w->writing.lines); /* a quiet container holds no memory */
    look(w);
}

static void set_full(struct podlog_writer *w, bool is_full)
{
    if (w->is_full == is_full)
        return;
    w->is_full = is_full;
    if (w->on_full)
        w->on_full(w->arg, is_full);
}

static void drop_held(struct podlog_writer *w)
{
    w->n_dropped += w->held.n;
    podlog_lines_fini(&w->held);
}

/* What is held goes to a job. */
static void send_held(struct podlog_writer *w)
{
    struct podlog_lines none = w->writing.lines;
    timer_stop(w->loop, &w->pause);
    w->next_ms = loop_now_ms(w->loop) + PODLOG_PAUSE_MS;
    w->writing.lines = w->held;
    w->writing.at = 0;
    w->held = none;
    start_job(w);
}

static void end(struct podlog_writer *w)
{
    while (!list_is_empty(&w->followers)) {
        struct podlog_follower *f = list_first(&w->followers, struct podlog_follower, node);
        podlog_writer_unfollow(f);
        f->is_over = true;
        f->run(f);
    }
    if (timer_is_armed(&w->compress)) {
        timer_stop(w->loop, &w->compress);
        start_tidy(w);
    }
    if (w->tidy)
        w->tidy->w = NULL;
    (void)close(w->fd);
    free(w->path);
    free(w);
}

/* All that was added is written or dropped. May free w. */
static void written(struct podlog_writer *w)
{
    void (*on_flushed)(void *arg) = w->on_flushed;
    timer_stop(w->loop, &w->pause);
    if (w->is_closed) {
        end(w);
        return;
    }
    w->on_flushed = NULL;
    if (on_flushed)
        on_flushed(w->flushed_arg);
}

static void on_pause(struct timer *t)
{
    look(container_of(t, struct podlog_writer, pause));
}

/* What to do next, unless a job runs. May free w. */
static void look(struct podlog_writer *w)
{
    uint64_t now = loop_now_ms(w->loop);
    if (w->is_writing)
        return;
    if (now < w->retry_ms)
        drop_held(w);
    bool is_urgent = w->is_closed || w->on_flushed || w->held.bytes.n >= PODLOG_WRITE_BYTES;
    if (w->held.n > 0 && (is_urgent || now >= w->next_ms))
        send_held(w);
    else if (w->held.n > 0 && !timer_is_armed(&w->pause))
        timer_start(w->loop, &w->pause, w->next_ms - now, on_pause);
    if (w->held.bytes.n < PODLOG_FULL_BYTES)
        set_full(w, false);
    if (!w->is_writing && w->held.n == 0)
        written(w);
}

static void on_flush(struct defer *d)
{
    look(container_of(d, struct podlog_writer, flush));
}

static void add_piece(struct podlog_writer *w, enum podlog_stream stream, struct str text,
                      bool has_more)
{
    if (!list_is_linked(&w->flush.node)) {
        w->turn_us = MAX(clock_wall_us(), 0);
        defer_start(w->loop, &w->flush, on_flush);
    }
    if (podlog_lines_add(&w->held, w->turn_us, stream, text, has_more) < 0)
        w->n_dropped++;
}

void podlog_writer_add(struct podlog_writer *w, enum podlog_stream stream, struct str text,
                       bool has_more)
{
    while (text.n > PODLOG_TEXT_MAX_BYTES) {
        add_piece(w, stream, str_slice(text, 0, PODLOG_TEXT_MAX_BYTES), true);
        text = str_slice(text, PODLOG_TEXT_MAX_BYTES, text.n);
    }
    add_piece(w, stream, text, has_more);
    if (w->held.bytes.n >= PODLOG_FULL_BYTES)
        set_full(w, true);
}

bool podlog_writer_flush(struct podlog_writer *w, void (*done)(void *arg), void *arg)
{
    assert(!w->on_flushed);
    if (loop_now_ms(w->loop) < w->retry_ms)
        drop_held(w);
    if (!w->is_writing && w->held.n == 0)
        return false;
    w->on_flushed = done;
    w->flushed_arg = arg;
    w->next_ms = 0;
    look(w);
    return true;
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
                                 .jobs = opts->jobs,
                                 .path = xstrdup(opts->path),
                                 .max_files = opts->max_files ? opts->max_files : PODLOG_MAX_FILES,
                                 .held.bytes = BUF_INIT(PODLOG_HELD_BYTES),
                                 .on_full = opts->on_full,
                                 .arg = opts->arg };
    w->writing =
        (struct writing){ .job = { .kind = PODLOG_JOB_WRITE, .work = on_write, .done = on_written },
                          .file = { .path = w->path,
                                    .max_bytes =
                                        opts->max_bytes ? opts->max_bytes : PODLOG_MAX_BYTES },
                          .lines.bytes = BUF_INIT(PODLOG_HELD_BYTES) };
    list_init(&w->followers);
    r = podlog_file_open(&w->writing.file, err);
    if (r < 0) {
        free(w->path);
        free(w);
        return r;
    }
    w->fd = w->writing.file.fd;
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
    defer_cancel(&w->flush);
    w->on_full = NULL;
    w->on_flushed = NULL;
    w->is_closed = true;
    look(w);
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
