/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's HTTP server with one pod whose containers are processes of this machine, for
 * behaviour/test_agent_server.py: usage: agent_rig CERT KEY CA DIR
 *
 * Pod "p" of namespace "default", uid "u-1", containers "c" and "silent", which does not run. A
 * command of exec is run as it is; attach starts cat. Ports are those of 127.0.0.1. The token
 * "good" is that of user jane, who may read metrics and statistics. Lines of standard input become
 * the log of "c", below DIR; its end ends the container.
 */
#include "agent/server/server.h"
#include "agent/stream/dial.h"
#include "agent/stream/pipe.h"
#include "base/sys.h"
#include "io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

extern char **environ;

static struct loop loop;
static struct podlog_writer *writer;
static char *log_path;

/* ------------------------------------------------------------------ programs */

struct program {
    struct stream_remote *remote; /* NULL: the client has gone */
    char **argv;
    struct stream_remote_wish wish;
    struct process *process;
    struct stream_pipe *in, *out[2]; /* in may be out[0]: a terminal */
    int tty;
    int status;
    bool ended;
};

static void program_free(struct program *p)
{
    for (char **a = p->argv; a && *a; a++)
        free(*a);
    free(p->argv);
    free(p);
}

static void close_pipes(struct program *p)
{
    if (p->in != p->out[0])
        stream_pipe_close(p->in);
    for (int i = 0; i < 2; i++)
        stream_pipe_close(p->out[i]);
    p->in = p->out[0] = p->out[1] = NULL;
}

static void finish_if_done(struct program *p)
{
    if (!p->ended || (p->remote && (p->out[0] || p->out[1])))
        return;
    close_pipes(p);
    if (p->remote)
        stream_remote_exited(p->remote, p->status);
    program_free(p);
}

static void on_exit_of(struct process *process, int status, void *arg)
{
    struct program *p = arg;
    p->process = NULL;
    p->ended = true;
    p->status = status;
    finish_if_done(p);
}

static void take_output(struct program *p, enum stream_output which, struct str bytes)
{
    if (p->remote && !stream_remote_output(p->remote, which, bytes))
        stream_pipe_pause(p->out[which]);
}

static void output_ended(struct program *p, enum stream_output which)
{
    if (p->in == p->out[which])
        p->in = NULL;
    stream_pipe_close(p->out[which]);
    p->out[which] = NULL;
    finish_if_done(p);
}

static void on_out(void *arg, struct str bytes)
{
    take_output(arg, STREAM_STDOUT, bytes);
}

static void on_err(void *arg, struct str bytes)
{
    take_output(arg, STREAM_STDERR, bytes);
}

static void on_out_eof(void *arg)
{
    output_ended(arg, STREAM_STDOUT);
}

static void on_err_eof(void *arg)
{
    output_ended(arg, STREAM_STDERR);
}

static void on_in_writable(void *arg)
{
    struct program *p = arg;
    if (p->remote)
        stream_remote_wants_input(p->remote);
}

static void on_in_broken(void *arg, int r)
{
    struct program *p = arg;
    if (p->remote)
        stream_remote_refuses_input(p->remote);
}

static const struct stream_pipe_events out_events = { .on_data = on_out,
                                                      .on_eof = on_out_eof,
                                                      .on_writable = on_in_writable,
                                                      .on_broken = on_in_broken };
static const struct stream_pipe_events err_events = { .on_data = on_err, .on_eof = on_err_eof };
static const struct stream_pipe_events in_events = { .on_writable = on_in_writable,
                                                     .on_broken = on_in_broken };

static int spawn(struct program *p, const char *const *argv, const int fds[3], struct err *err)
{
    const struct process_opts opts = { .argv = argv,
                                       .env = (const char *const *)environ,
                                       .in = fds[0],
                                       .out = fds[1],
                                       .err_out = fds[2],
                                       .on_exit = on_exit_of,
                                       .arg = p };
    return process_spawn(&loop, &opts, &p->process, err);
}

static int start_tty(struct program *p, struct err *err)
{
    int master, slave;
    const char *argv[1024] = { "/usr/bin/setsid", "-c", "-w" };
    for (size_t i = 0; p->argv[i] && i < 1000; i++)
        argv[3 + i] = p->argv[i];
    if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
        return err_sys(err, -errno, "open a terminal");
    int r = spawn(p, argv, (const int[]){ slave, slave, slave }, err);
    (void)close(slave);
    p->tty = master;
    p->in = p->out[0] = stream_pipe_open(&loop, master, &out_events, p);
    stream_pipe_resume(p->out[0]);
    return r;
}

static int start_pipes(struct program *p, struct err *err)
{
    int in[2], out[2], more[2];
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(more, O_CLOEXEC) < 0)
        return err_sys(err, -errno, "make pipes");
    int r = spawn(p, (const char *const *)p->argv, (const int[]){ in[0], out[1], more[1] }, err);
    (void)close(in[0]);
    (void)close(out[1]);
    (void)close(more[1]);
    p->in = stream_pipe_open(&loop, in[1], &in_events, p);
    p->out[0] = stream_pipe_open(&loop, out[0], &out_events, p);
    p->out[1] = stream_pipe_open(&loop, more[0], &err_events, p);
    stream_pipe_resume(p->out[0]);
    stream_pipe_resume(p->out[1]);
    if (!p->wish.has_stdin)
        stream_pipe_end(p->in);
    return r;
}

static int on_start(void *arg, struct stream_remote *remote, void **ret, struct err *err)
{
    struct program *p = arg;
    p->remote = remote;
    int r = p->wish.is_tty ? start_tty(p, err) : start_pipes(p, err);
    if (r < 0) {
        close_pipes(p);
        program_free(p);
        return r;
    }
    *ret = p;
    return 0;
}

static bool on_write(void *program, struct str bytes)
{
    struct program *p = program;
    return !p->in || stream_pipe_write(p->in, bytes);
}

static void on_end_input(void *program)
{
    struct program *p = program;
    if (p->in && p->wish.is_tty)
        (void)stream_pipe_write(p->in, STR("\x04"));
    else if (p->in)
        stream_pipe_end(p->in);
}

static void on_resume(void *program, enum stream_output which)
{
    struct program *p = program;
    if (p->out[which])
        stream_pipe_resume(p->out[which]);
}

static void on_resize(void *program, uint16_t columns, uint16_t rows)
{
    struct program *p = program;
    const struct winsize size = { .ws_row = rows, .ws_col = columns };
    if (p->out[0])
        (void)ioctl(p->tty, TIOCSWINSZ, &size);
}

static void on_close(void *program, void *arg)
{
    struct program *p = arg;
    p->remote = NULL;
    if (!program) {
        program_free(p);
        return;
    }
    if (p->process)
        process_signal(p->process, SIGKILL);
    finish_if_done(p);
}

static const struct stream_program_ops program_ops = { .start = on_start,
                                                       .write = on_write,
                                                       .end_input = on_end_input,
                                                       .resume = on_resume,
                                                       .resize = on_resize,
                                                       .close = on_close };

static int on_command(void *arg, const struct agent_ref *ref, const struct agent_command *command,
                      const struct stream_program_ops **ret_ops, void **ret_arg, struct err *err)
{
    static const char *const cat[] = { "/bin/cat", NULL };
    const char *const *argv = command->argv ? command->argv : cat; /* attach */
    size_t n = 0;
    if (str_is(ref->container, "silent"))
        return err_set(err, -ENOENT, "container not found (\"silent\")");
    while (argv[n])
        n++;
    struct program *p = xnew(struct program);
    p->wish = command->wish;
    p->argv = xnew_n(char *, n + 1);
    for (size_t i = 0; i < n; i++)
        p->argv[i] = xstrdup(argv[i]);
    *ret_ops = &program_ops;
    *ret_arg = p;
    return 0;
}

/* ------------------------------------------------------------------ ports */

static int on_dial(void *arg, uint16_t port, stream_dialed_cb done, void *dial, struct err *err)
{
    stream_dial_start(&loop, NULL, port, done, dial);
    return 0;
}

static const struct stream_port_ops port_ops = { .dial = on_dial };

static int on_forward(void *arg, const struct agent_ref *ref,
                      const struct stream_port_ops **ret_ops, void **ret_arg, struct err *err)
{
    *ret_ops = &port_ops;
    *ret_arg = NULL;
    return 0;
}

/* ------------------------------------------------------------------ the rest */

static enum agent_found on_find(void *arg, const struct agent_ref *ref, struct str *ret_uid)
{
    *ret_uid = STR("u-1");
    if (!str_is(ref->ns, "default") || !str_is(ref->pod, "p") ||
        (ref->uid.n && !str_is(ref->uid, "u-1")))
        return AGENT_NO_POD;
    return ref->container.n && !str_is(ref->container, "c") && !str_is(ref->container, "silent")
               ? AGENT_NO_CONTAINER
               : AGENT_FOUND;
}

static int on_log(void *arg, const struct agent_ref *ref, bool previous, struct agent_log *ret,
                  struct err *err)
{
    if (previous || str_is(ref->container, "silent"))
        return err_set(err, -ENOENT,
                       "previous terminated container \"" STR_FMT "\" in pod \"p\" not found",
                       STR_ARG(ref->container));
    *ret = (struct agent_log){ .path = xstrdup(log_path), .writer = writer };
    return 0;
}

static void on_pods(void *arg, bool running, struct buf *to)
{
    (void)buf_printf(to,
                     "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[%s]}",
                     running ? "" : "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\"}}");
}

struct measure {
    struct defer later;
    agent_stats_cb done;
    void *arg;
};

static void on_measure(struct defer *d)
{
    struct measure *m = container_of(d, struct measure, later);
    static struct agent_stats_container c;
    static struct agent_stats_pod p;
    static struct agent_stats s;
    agent_stats_init(&s);
    agent_stats_init_pod(&p);
    agent_stats_init_container(&c);
    s.node = STR("n1");
    s.cpu.wall_us = p.cpu.wall_us = c.cpu.wall_us = clock_wall_us();
    s.cpu.usage_ns = 2500000000;
    p.cpu.usage_ns = c.cpu.usage_ns = 1500000000;
    c.cpu.nano_cores = 1000000;
    c.memory.wall_us = c.cpu.wall_us;
    c.memory.working_set = 4096;
    c.memory.rss = 2048;
    c.name = STR("c");
    c.id = STR("id-1");
    c.start_us = 1767323045000000;
    p.ns = STR("default");
    p.name = STR("p");
    p.uid = STR("u-1");
    p.containers = &c;
    p.n_containers = 1;
    s.pods = &p;
    s.n_pods = 1;
    m->done(m->arg, &s);
    free(m);
}

static int on_stats(void *arg, agent_stats_cb done, void *done_arg, struct err *err)
{
    struct measure *m = xnew(struct measure);
    *m = (struct measure){ .done = done, .arg = done_arg };
    defer_start(&loop, &m->later, on_measure);
    return 0;
}

static const struct agent_server_ops ops = { .find = on_find,
                                             .log = on_log,
                                             .command = on_command,
                                             .forward = on_forward,
                                             .pods = on_pods,
                                             .stats = on_stats };

/* ------------------------------------------------------------------ reviews */

struct agent_review {
    struct defer later;
    char token[64], verb[16], sub[32];
    agent_token_cb on_token;
    agent_allowed_cb on_allowed;
    void *arg;
};

static unsigned n_reviews;

static void on_review(struct defer *d)
{
    struct agent_review v = *container_of(d, struct agent_review, later);
    free(container_of(d, struct agent_review, later));
    static const struct str group = { "watchers", 8 };
    const struct kube_identity jane = { .user = STR("jane"), .groups = &group, .n_groups = 1 };
    n_reviews++;
    if (v.on_token)
        v.on_token(v.arg, 0, strcmp(v.token, "good") == 0 ? &jane : NULL, NULL);
    else /* jane may read metrics and statistics */
        v.on_allowed(v.arg, 0,
                     strcmp(v.verb, "get") == 0 &&
                         (strcmp(v.sub, "metrics") == 0 || strcmp(v.sub, "stats") == 0),
                     NULL);
}

static struct agent_review *review_new(void *arg)
{
    struct agent_review *v = xnew(struct agent_review);
    v->arg = arg;
    defer_start(&loop, &v->later, on_review);
    return v;
}

static int review_token(struct agent_reviewer *r, struct str token, agent_token_cb done, void *arg,
                        struct agent_review **ret, struct err *err)
{
    struct agent_review *v = *ret = review_new(arg);
    v->on_token = done;
    (void)snprintf(v->token, sizeof v->token, STR_FMT, STR_ARG(token));
    return 0;
}

static int review_access(struct agent_reviewer *r, const struct kube_identity *who,
                         const struct agent_attributes *what, agent_allowed_cb done, void *arg,
                         struct agent_review **ret, struct err *err)
{
    struct agent_review *v = *ret = review_new(arg);
    v->on_allowed = done;
    (void)snprintf(v->verb, sizeof v->verb, STR_FMT, STR_ARG(what->verb));
    (void)snprintf(v->sub, sizeof v->sub, STR_FMT, STR_ARG(what->subresource));
    return 0;
}

static void review_cancel(struct agent_reviewer *r, struct agent_review *review)
{
    defer_cancel(&review->later);
    free(review);
}

/* ------------------------------------------------------------------ main */

static void read_text(const char *path, struct buf *to)
{
    struct err err = { 0 };
    if (sys_read_file(AT_FDCWD, path, to, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
}

/* Lines for the log; the end ends the container. */
static struct stream_pipe *input;
static struct buf unfinished = BUF_INIT(1 << 20);

static void on_line_bytes(void *arg, struct str bytes)
{
    struct str line, rest;
    (void)buf_add_str(&unfinished, bytes);
    rest = buf_str(&unfinished);
    while (str_find_char(rest, '\n') >= 0) {
        (void)str_cut(rest, '\n', &line, &rest);
        podlog_writer_add(writer, PODLOG_STDOUT, line, false);
    }
    buf_consume(&unfinished, unfinished.n - rest.n);
}

static void on_log_full(void *arg, bool is_full)
{
    (is_full ? stream_pipe_pause : stream_pipe_resume)(input);
}

static void on_line_end(void *arg)
{
    podlog_writer_close(take_ptr(&writer));
}

static struct agent_server *server;

static void on_signal(struct sig_watch *w, int signum)
{
    agent_server_close(server, 0, NULL, NULL);
    stream_pipe_close(input);
    sig_watch_close(w, NULL);
}

static void watch_input(void)
{
    static const struct stream_pipe_events events = { .on_data = on_line_bytes,
                                                      .on_eof = on_line_end };
    input = stream_pipe_open(&loop, 0, &events, NULL);
    stream_pipe_resume(input);
}

static int serve(char **argv, struct err *err)
{
    static struct agent_reviewer reviewer = { review_token, review_access, review_cancel };
    struct buf cert = BUF_INIT(1 << 20), key = BUF_INIT(1 << 20), ca = BUF_INIT(1 << 20);
    read_text(argv[1], &cert);
    read_text(argv[2], &key);
    read_text(argv[3], &ca);
    const struct agent_server_opts opts = { .loop = &loop,
                                            .cert = buf_str(&cert),
                                            .key = buf_str(&key),
                                            .ca = buf_str(&ca),
                                            .node = STR("n1"),
                                            .reviewer = &reviewer,
                                            .ops = &ops };
    int r = agent_server_start(&opts, &server, err);
    buf_fini(&cert);
    buf_fini(&key);
    buf_fini(&ca);
    return r;
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    struct sig_watch term;
    if (argc != 5 || loop_init(&loop, &err) < 0)
        return 2;
    log_path = xasprintf("%s/pods/default_p_u-1/c/0.log", argv[4]);
    struct podlog_jobs *jobs = podlog_jobs_new(&loop);
    const struct podlog_writer_opts opts = {
        .loop = &loop, .jobs = jobs, .path = log_path, .max_bytes = 100000, .on_full = on_log_full
    };
    if (podlog_writer_open(&opts, &writer, &err) < 0 || serve(argv, &err) < 0 ||
        sig_watch_start(&loop, &term, SIGTERM, false, on_signal, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    watch_input();
    (void)printf("ready port=%u\n", agent_server_port(server));
    (void)fflush(stdout);
    loop_run(&loop);
    podlog_writer_close(writer);
    podlog_jobs_close(jobs, NULL, NULL);
    buf_fini(&unfinished);
    free(log_path);
    loop_run(&loop);
    loop_fini(&loop);
    return 0;
}
