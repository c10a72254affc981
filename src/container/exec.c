/* SPDX-License-Identifier: Apache-2.0 */
/* Further programs in a container; see exec.h. */
#include "container/exec.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "container/console.h"
#include "container/container_impl.h"
#include "container/raw.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum {
    PROCESS_MAX = 1 << 20, /* bytes of a process, as JSON */
    LOG_MAX = 64 << 10,
    LEFT_LOOKS = 100, /* at what a crun that was killed has left, */
    LEFT_PAUSE_MS = 10
};

/*
 *     QUEUED -> STARTING -> RUNNING -> ENDED
 *        |         `-> LEFT -> (ends) ^
 *        `-> (ends)
 *
 * STARTING waits for crun exec, RUNNING for the program, ENDED for what it has printed. LEFT: crun
 * was killed, and may have left the program.
 */
enum exec_at { EXEC_QUEUED, EXEC_STARTING, EXEC_LEFT, EXEC_RUNNING, EXEC_ENDED };
static const struct sm_state exec_table[] = {
    [EXEC_QUEUED] = { "queued", EDGE(EXEC_STARTING) | EDGE(EXEC_ENDED) },
    [EXEC_STARTING] = { "starting", EDGE(EXEC_LEFT) | EDGE(EXEC_RUNNING) | EDGE(EXEC_ENDED) },
    [EXEC_LEFT] = { "left", EDGE(EXEC_ENDED) },
    [EXEC_RUNNING] = { "running", EDGE(EXEC_ENDED) },
    [EXEC_ENDED] = { "ended", 0 },
};

struct container_exec {
    struct list node;   /* in container.execs */
    struct list queued; /* in host.exec_queue */
    struct container *c;
    struct sm sm;
    const struct container_exec_events *events;
    void *arg;
    char *path; /* of its files, without their ending */
    struct container_console console;
    bool has_terminal, has_input, is_stopped;
    bool wants_room; /* container_exec_write() before it ran */
    uint16_t columns, rows;
    int ends[3]; /* of crun: standard input, output, error; -1: closed */
    int ours[3]; /* until it runs */
    struct process *crun, *program;
    struct timer late; /* of crun; pauses, too */
    struct defer turn;
    struct container_feed *in;
    struct container_raw *out[2]; /* by enum container_stream */
    unsigned n_open;              /* of `out` */
    size_t n_left;                /* processes of a crun that was killed, which are ending */
    int crun_pid;
    unsigned left_looks;
    bool was_none; /* the last look has found nothing */
    int r, status;
    char text[CONTAINER_TEXT_MAX];
};

/* ---- files ---- */

static char *file_of(const struct container_exec *e, const char *ending)
{
    return xasprintf("%s.%s", e->path, ending);
}

static void remove_files(const struct container_exec *e)
{
    static const char *const endings[] = { "json", "pid", "log", "tty" };
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        scoped(free_scoped) char *path = file_of(e, endings[i]);
        (void)unlink(path);
    }
}

static int write_process(const struct container_exec *e, const struct container_process *p,
                         struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(PROCESS_MAX);
    scoped(free_scoped) char *path = file_of(e, "json");
    int r = container_spec_write_process(p, &text, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    r = fd < 0 ? fd : sys_write_all(fd, text.p, text.n);
    return r < 0 ? err_sys(err, r, "write '%s'", path) : 0;
}

static struct str read_log(const struct container_exec *e, struct buf *to)
{
    scoped(free_scoped) char *path = file_of(e, "log");
    (void)sys_read_file(AT_FDCWD, path, to, NULL);
    return container_crun_last_line(buf_str(to));
}

/* ---- its end ---- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(take_fd(fd));
}

static void close_all(struct container_exec *e)
{
    container_console_close(&e->console);
    container_feed_close(take_ptr(&e->in));
    for (size_t i = 0; i < ARRAY_LEN(e->out); i++)
        container_raw_close(take_ptr(&e->out[i]));
    for (size_t i = 0; i < ARRAY_LEN(e->ends); i++) {
        close_fd(&e->ends[i]);
        close_fd(&e->ours[i]);
    }
}

static void exec_free(struct container_exec *e)
{
    close_all(e);
    remove_files(e);
    timer_stop(e->c->h->loop, &e->late);
    defer_cancel(&e->turn);
    list_remove(&e->node);
    list_remove(&e->queued);
    e->c->n_execs--;
    free(e->path);
    free(e);
}

/* All that there was has been delivered. */
static void finish(struct container_exec *e)
{
    struct container *c = e->c;
    const struct container_exec_events *events = e->events;
    void *arg = e->arg;
    char text[CONTAINER_TEXT_MAX];
    struct container_exec_end end = { .r = e->r, .status = e->status, .text = text };
    assert(!e->crun && !e->program && e->n_left == 0);
    memcpy(text, e->text, sizeof text);
    exec_free(e);
    if (events && events->on_ended)
        events->on_ended(arg, &end);
    container_changed(c);
}

static void fail(struct container_exec *e, int r, const char *text)
{
    e->r = r;
    (void)snprintf(e->text, sizeof e->text, "%s", text);
    sm_move(&e->sm, EXEC_ENDED);
    finish(e);
}

static void on_fail_turn(struct defer *d)
{
    struct container_exec *e = container_of(d, struct container_exec, turn);
    fail(e, -ECANCELED, "it was stopped before it ran");
}

static void on_finish_turn(struct defer *d)
{
    finish(container_of(d, struct container_exec, turn));
}

static void on_exec_output_end(struct container_exec *e, enum container_stream stream)
{
    container_raw_close(take_ptr(&e->out[stream]));
    assert(e->n_open > 0);
    e->n_open--;
    if (e->n_open == 0 && e->sm.at == EXEC_ENDED)
        finish(e);
}

static void on_exec_out_end(void *arg)
{
    on_exec_output_end(arg, CONTAINER_STDOUT);
}

static void on_exec_err_end(void *arg)
{
    on_exec_output_end(arg, CONTAINER_STDERR);
}

static void on_exec_bytes(struct container_exec *e, enum container_stream stream, struct str bytes)
{
    if (e->events && e->events->on_output)
        e->events->on_output(e->arg, stream, bytes);
}

static void on_exec_out(void *arg, struct str bytes)
{
    on_exec_bytes(arg, CONTAINER_STDOUT, bytes);
}

static void on_exec_err(void *arg, struct str bytes)
{
    on_exec_bytes(arg, CONTAINER_STDERR, bytes);
}

static const struct container_raw_events out_events = { on_exec_out, on_exec_out_end },
                                         err_events = { on_exec_err, on_exec_err_end };

/* Drop what was printed and not delivered yet. */
static void close_output(struct container_exec *e)
{
    for (size_t i = 0; i < ARRAY_LEN(e->out); i++)
        if (e->out[i]) {
            container_raw_close(take_ptr(&e->out[i]));
            e->n_open--;
        }
}

static void on_program_exit(struct process *p, int status, void *arg)
{
    struct container_exec *e = arg;
    scoped(buf_fini_scoped) struct buf log = BUF_INIT(LOG_MAX);
    e->program = NULL;
    e->status = status;
    container_feed_close(take_ptr(&e->in));
    struct str line = read_log(e, &log);
    if (status == 1 && str_has_prefix(line, STR("exec"))) { /* execve() failed after crun's end */
        e->r = container_crun_error_code(line);
        (void)snprintf(e->text, sizeof e->text, STR_FMT, STR_ARG(str_slice(line, 0, 200)));
    }
    sm_move(&e->sm, EXEC_ENDED);
    for (size_t i = 0; i < ARRAY_LEN(e->out); i++)
        if (e->out[i])
            container_raw_finish(e->out[i]);
    if (e->n_open == 0)
        finish(e);
}

/* ---- starting ---- */

static void start(struct container_exec *e);

static void next_start(struct container_host *h)
{
    while (h->n_exec_starting < CONTAINER_EXEC_STARTS_MAX && h->n_exec_left == 0 &&
           !list_is_empty(&h->exec_queue))
        start(list_entry(list_pop_front(&h->exec_queue), struct container_exec, queued));
}

static void on_exec_room(void *arg)
{
    struct container_exec *e = arg;
    if (e->events && e->events->on_room)
        e->events->on_room(e->arg);
}

static int read_end(struct container_exec *e, enum container_stream stream, int *fd,
                    struct err *err)
{
    int r = container_raw_start(e->c->h->loop, *fd,
                                stream == CONTAINER_STDOUT ? &out_events : &err_events, e,
                                &e->out[stream], err);
    if (r < 0)
        return r;
    (void)take_fd(fd);
    e->n_open++;
    return 0;
}

static int feed_end(struct container_exec *e, int *fd, struct err *err)
{
    int r = container_feed_start(e->c->h->loop, *fd, on_exec_room, e, &e->in, err);
    if (r >= 0)
        (void)take_fd(fd);
    return r;
}

/* The terminal is there for both directions. */
static int open_terminal(struct container_exec *e, struct err *err)
{
    scoped(fd_scoped) int master = container_console_take(&e->console, err);
    if (master < 0)
        return master;
    if (e->columns && e->rows)
        container_console_resize(master, e->columns, e->rows);
    e->ours[0] = fcntl(master, F_DUPFD_CLOEXEC, 3);
    if (e->ours[0] < 0)
        return err_sys(err, -errno, "dup");
    close_fd(&e->ours[1]);
    e->ours[1] = take_fd(&master);
    return 0;
}

static int open_streams(struct container_exec *e, struct err *err)
{
    int r = e->has_terminal ? open_terminal(e, err) : 0;
    if (r >= 0 && e->ours[0] >= 0)
        r = feed_end(e, &e->ours[0], err);
    if (r >= 0)
        r = read_end(e, CONTAINER_STDOUT, &e->ours[1], err);
    if (r >= 0 && e->ours[2] >= 0)
        r = read_end(e, CONTAINER_STDERR, &e->ours[2], err);
    return r;
}

static void report_started(struct container_exec *e)
{
    if (e->events && e->events->on_started)
        e->events->on_started(e->arg);
}

static void on_room_turn(struct defer *d)
{
    struct container_exec *e = container_of(d, struct container_exec, turn);
    on_exec_room(e);
}

static void run(struct container_exec *e)
{
    struct err err = { 0 };
    if (open_streams(e, &err) < 0) {
        log_warn("program in a container cannot be heard", "name=%s error=\"%s\"", e->c->name,
                 err_text(&err));
        e->is_stopped = true;
    }
    container_console_close(&e->console);
    for (size_t i = 0; i < ARRAY_LEN(e->ends); i++)
        close_fd(&e->ends[i]); /* so that the end of the pipes is seen */
    sm_move(&e->sm, EXEC_RUNNING);
    if (e->is_stopped) {
        close_output(e);
        process_signal(e->program, SIGKILL);
        return;
    }
    if (e->wants_room)
        defer_start(e->c->h->loop, &e->turn, on_room_turn);
    report_started(e);
}

static void end_left(struct container_exec *e);

static void on_exec_left_exit(struct process *p, int status, void *arg)
{
    struct container_exec *e = arg;
    if (--e->n_left == 0)
        end_left(e);
}

static void on_left_pause(struct timer *t)
{
    end_left(container_of(t, struct container_exec, late));
}

static void look_again(struct container_exec *e)
{
    timer_start(e->c->h->loop, &e->late, LEFT_PAUSE_MS, on_left_pause);
}

/* crun was killed: what it had forked has the pipes of this program, or is not known. */
static void end_left(struct container_exec *e)
{
    struct container_host *h = e->c->h;
    const int pipe = e->has_terminal ? e->ends[1] : e->ours[1];
    bool is_last = ++e->left_looks == LEFT_LOOKS;
    if (!is_last && (h->n_exec_starting || h->n_starting)) {
        look_again(e);
        return;
    }
    bool is_none = !container_crun_reap_child(h, e->crun_pid);
    is_none &= container_crun_end_holders(e->c, pipe, on_exec_left_exit, e, &e->n_left);
    bool is_certain = is_none && e->was_none; /* the list of processes is not read at once */
    e->was_none = is_none;
    if (e->n_left > 0)
        return;
    if (!is_certain && !is_last) {
        look_again(e);
        return;
    }
    h->n_exec_left--;
    sm_move(&e->sm, EXEC_ENDED);
    finish(e);
    next_start(h);
}

static void on_crun_exec(struct process *p, int status, void *arg)
{
    struct container_exec *e = arg;
    struct container_host *h = e->c->h;
    scoped(buf_fini_scoped) struct buf log = BUF_INIT(LOG_MAX);
    int r = 0;
    e->crun = NULL;
    e->crun_pid = process_pid(p);
    timer_stop(h->loop, &e->late);
    assert(h->n_exec_starting > 0);
    h->n_exec_starting--;
    scoped(free_scoped) char *pid_file = file_of(e, "pid");
    int pid = status == 0 ? container_files_read_pid(pid_file) : -ESRCH;
    if (pid > 0)
        r = process_watch(h->loop, pid, 0, true, on_program_exit, e, &e->program, NULL);
    if (status != 0) {
        (void)container_crun_reap_child(h, e->crun_pid);
        container_crun_reap_later(h);
    }
    if (pid > 0 && r >= 0) {
        run(e);
    } else if (status < 0) {
        e->r = -EIO;
        (void)snprintf(e->text, sizeof e->text, "crun was killed by signal %d", -status);
        sm_move(&e->sm, EXEC_LEFT);
        h->n_exec_left++;
        container_console_close(&e->console); /* hangs up a terminal */
        end_left(e);
    } else {
        struct str line = read_log(e, &log);
        char text[CONTAINER_TEXT_MAX];
        (void)snprintf(text, sizeof text, STR_FMT, STR_ARG(str_slice(line, 0, 200)));
        if (!line.n)
            (void)snprintf(text, sizeof text, "crun has ended with status %d", status);
        fail(e, container_pid(e->c) ? container_crun_error_code(line) : -ESRCH, text);
    }
    next_start(h);
}

static void on_exec_late(struct timer *t)
{
    struct container_exec *e = container_of(t, struct container_exec, late);
    log_warn("crun does not come to an end", "name=%s", e->c->name);
    process_signal(e->crun, SIGKILL);
}

static int spawn(struct container_exec *e, struct err *err)
{
    struct container_host *h = e->c->h;
    scoped(free_scoped) char *process = file_of(e, "json"), *pid = file_of(e, "pid"),
                             *log = file_of(e, "log");
    const char *words[12] = { "exec", "--detach", "--process", process, "--pid-file", pid };
    size_t n = 6;
    if (e->has_terminal) {
        words[n++] = "--console-socket";
        words[n++] = container_console_path(&e->console);
    }
    words[n++] = e->c->name;
    const struct container_crun_opts o = { .words = words,
                                           .log = log,
                                           .in = e->ends[0] >= 0 ? e->ends[0] : h->empty_fd,
                                           .out = e->ends[1],
                                           .err_out = e->ends[2] >= 0 ? e->ends[2] : e->ends[1],
                                           .on_exit = on_crun_exec,
                                           .arg = e };
    return container_crun_start(h, &o, &e->crun, err);
}

static void start(struct container_exec *e)
{
    struct err err = { 0 };
    struct container_host *h = e->c->h;
    sm_move(&e->sm, EXEC_STARTING);
    int r = container_pid(e->c) ? spawn(e, &err) : err_set(&err, -ESRCH, "the container has ended");
    if (r < 0) {
        fail(e, r == -ESRCH ? r : -EIO, err_text(&err));
        return;
    }
    h->n_exec_starting++;
    timer_start(h->loop, &e->late, CONTAINER_CRUN_MAX_MS, on_exec_late);
}

static void on_start_turn(struct defer *d)
{
    struct container_exec *e = container_of(d, struct container_exec, turn);
    list_push_back(&e->c->h->exec_queue, &e->queued);
    next_start(e->c->h);
}

/* ---- beginning ---- */

/* All descriptors of crun are above 2: see process_spawn(). */
static int make_pipe(int *ret_read, int *ret_write, bool is_input, const struct container_user *u,
                     struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, -errno, "pipe");
    int ours = is_input ? 1 : 0;
    for (int i = 0; i < 2; i++) {
        int fd = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
        (void)close(ends[i]);
        ends[i] = fd;
    }
    *ret_read = ends[0];
    *ret_write = ends[1];
    if (ends[0] < 0 || ends[1] < 0)
        return err_sys(err, -EMFILE, "pipe");
    if (fchown(ends[0], u->uid, u->gid) < 0) /* programs reopen /dev/stderr */
        return err_sys(err, -errno, "owner of a pipe");
    (void)fcntl(ends[ours], F_SETFL, O_NONBLOCK);
    return 0;
}

static int make_pipes(struct container_exec *e, const struct container_user *u, struct err *err)
{
    int r = make_pipe(&e->ours[1], &e->ends[1], false, u, err);
    if (r >= 0 && !e->has_terminal)
        r = make_pipe(&e->ours[2], &e->ends[2], false, u, err);
    if (r >= 0 && !e->has_terminal && e->has_input)
        r = make_pipe(&e->ends[0], &e->ours[0], true, u, err);
    return r;
}

static int prepare(struct container_exec *e, const struct container_process *p, struct err *err)
{
    remove_files(e); /* of an earlier process, if the container was adopted */
    int r = write_process(e, p, err);
    r = r < 0 ? r : make_pipes(e, p->user, err);
    if (r >= 0 && e->has_terminal)
        r = container_console_listen(&e->console, e->path, err);
    return r;
}

static struct container_exec *exec_new(struct container *c, const struct container_exec_opts *o)
{
    struct container_exec *e = xnew(struct container_exec);
    *e = (struct container_exec){ .c = c,
                                  .events = o->events,
                                  .arg = o->arg,
                                  .path = xasprintf("%s/exec-%u", c->dir, c->n_execs_made++),
                                  .console = CONTAINER_CONSOLE_INIT,
                                  .has_terminal = o->process->has_terminal,
                                  .has_input = o->has_input,
                                  .columns = o->process->columns,
                                  .rows = o->process->rows,
                                  .ends = { -1, -1, -1 },
                                  .ours = { -1, -1, -1 } };
    sm_init(&e->sm, exec_table, EXEC_QUEUED);
    list_push_back(&c->execs, &e->node);
    c->n_execs++;
    return e;
}

int container_exec_start(struct container *c, const struct container_exec_opts *o,
                         struct container_exec **ret, struct err *err)
{
    bool is_up = (c->sm.at == CONTAINER_RUNNING && !c->is_stopped) ||
                 (c->sm.at == CONTAINER_ENDING && c->grace_ms > 0);
    if (!is_up || !c->init)
        return err_set(err, -ESRCH, "container '%s' does not run", c->name);
    if (c->n_execs == CONTAINER_EXECS_MAX)
        return err_set(err, E_LIMIT, "more than %d programs are started in container '%s'",
                       CONTAINER_EXECS_MAX, c->name);
    struct container_exec *e = exec_new(c, o);
    int r = prepare(e, o->process, err);
    if (r < 0) {
        exec_free(e);
        return r;
    }
    defer_start(c->h->loop, &e->turn, on_start_turn);
    *ret = e;
    return 0;
}

/* ---- what a caller may ask ---- */

ssize_t container_exec_write(struct container_exec *e, struct str bytes)
{
    if (!e->has_input || e->sm.at == EXEC_ENDED || e->sm.at == EXEC_LEFT || e->is_stopped)
        return -EPIPE;
    if (e->sm.at != EXEC_RUNNING) {
        e->wants_room = true;
        return 0;
    }
    return e->in ? container_feed_write(e->in, bytes) : -EPIPE;
}

void container_exec_end_input(struct container_exec *e)
{
    if (e->has_terminal)
        return;
    e->has_input = false;
    container_feed_close(take_ptr(&e->in));
    close_fd(&e->ours[0]);
}

void container_exec_pause(struct container_exec *e, enum container_stream stream, bool is_paused)
{
    if (e->out[stream])
        container_raw_pause(e->out[stream], is_paused);
}

void container_exec_resize(struct container_exec *e, uint16_t columns, uint16_t rows)
{
    e->columns = columns;
    e->rows = rows;
    if (e->has_terminal && e->out[CONTAINER_STDOUT] && columns && rows)
        container_console_resize(container_raw_fd(e->out[CONTAINER_STDOUT]), columns, rows);
}

void container_exec_stop(struct container_exec *e)
{
    if (e->is_stopped)
        return;
    e->is_stopped = true;
    switch ((enum exec_at)e->sm.at) {
    case EXEC_QUEUED:
        list_remove(&e->queued);
        defer_cancel(&e->turn);
        defer_start(e->c->h->loop, &e->turn, on_fail_turn);
        break;
    case EXEC_RUNNING:
        close_output(e);
        process_signal(e->program, SIGKILL);
        break;
    case EXEC_ENDED:
        close_output(e);
        defer_cancel(&e->turn);
        defer_start(e->c->h->loop, &e->turn, on_finish_turn);
        break;
    case EXEC_STARTING: /* on_crun_exec() ends it */
    case EXEC_LEFT:
        break;
    }
}

bool container_execs_have(const struct container *c, int pid)
{
    list_each (node, &c->execs) {
        const struct container_exec *e = list_entry(node, struct container_exec, node);
        if ((e->program && process_pid(e->program) == pid) ||
            (e->crun && process_pid(e->crun) == pid))
            return true;
    }
    return false;
}

void container_execs_kill(struct container *c)
{
    list_each_safe (node, &c->execs) {
        struct container_exec *e = list_entry(node, struct container_exec, node);
        if (e->program)
            process_signal(e->program, SIGKILL);
    }
}

void container_execs_stop(struct container *c)
{
    list_each_safe (node, &c->execs)
        container_exec_stop(list_entry(node, struct container_exec, node));
}
