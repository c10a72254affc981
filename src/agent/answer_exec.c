/* SPDX-License-Identifier: Apache-2.0 */
/* kubectl exec and attach: a client's streams (agent/stream/remote.h) to and from another program
 * in a container, or its own. */
#include "agent/agent_impl.h"
#include "agent/answer.h"
#include "agent/exec.h"

#include "io/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { INPUT_MAX = 1 << 20 };

struct remote {
    struct agent *agent;
    char *uid, *container; /* of the container, which may have ended when it starts */
    struct arena arena;
    struct str *argv;
    size_t n;
    struct stream_remote_wish wish;
    struct stream_remote *stream; /* NULL: the client has left */
    struct container_exec *exec;  /* NULL: attached to the container's own program */
    struct agent_run *run;        /* of that, and its list of clients */
    struct list node;
    /* Attached, by stream. */
    bool is_full[2];       /* the client does not read: its output is skipped */
    uint64_t n_skipped[2]; /* bytes that were skipped, not yet reported to the client */
    struct buf input;      /* what the program has not taken */
    bool is_input_over;
};

static void free_remote(struct remote *r)
{
    arena_fini(&r->arena);
    buf_fini(&r->input);
    free(r->uid);
    free(r->container);
    free(r);
}

/* ---------------------------------------------------------------- from the program */

static enum stream_output output_of(enum container_stream stream)
{
    return stream == CONTAINER_STDERR ? STREAM_STDERR : STREAM_STDOUT;
}

static void on_output(void *arg, enum container_stream stream, struct str bytes)
{
    struct remote *r = arg;
    if (r->stream && !stream_remote_output(r->stream, output_of(stream), bytes))
        container_exec_pause(r->exec, stream, true);
}

static void on_ended(void *arg, const struct container_exec_end *end)
{
    struct remote *r = arg;
    if (r->stream && end->r < 0)
        stream_remote_failed(r->stream, end->text[0] ? end->text : err_strerror(end->r));
    else if (r->stream)
        stream_remote_exited(r->stream, end->status);
    free_remote(r);
}

static ssize_t write_some(struct remote *r, struct str bytes)
{
    return r->exec ? container_exec_write(r->exec, bytes) : container_write(r->run->c, bytes);
}

static void end_input_now(struct remote *r)
{
    if (r->exec)
        container_exec_end_input(r->exec);
    else
        container_end_input(r->run->c);
}

static void flush_input(struct remote *r)
{
    while (r->input.n > 0) {
        ssize_t n = write_some(r, buf_str(&r->input));
        if (n < 0) {
            buf_reset(&r->input);
            if (r->stream)
                stream_remote_refuses_input(r->stream);
            return;
        }
        if (n == 0)
            return; /* on_room() follows */
        buf_consume(&r->input, (size_t)n);
    }
    if (r->is_input_over)
        end_input_now(r);
    else if (r->stream)
        stream_remote_wants_input(r->stream);
}

static void on_room(void *arg)
{
    flush_input(arg);
}

static const struct container_exec_events events = {
    .on_output = on_output,
    .on_room = on_room,
    .on_ended = on_ended,
};

/* ---------------------------------------------------------------- attached clients */

static bool tell_skipped(struct remote *r, enum stream_output which)
{
    uint64_t n = r->n_skipped[which];
    char text[96];
    if (n == 0)
        return true;
    r->n_skipped[which] = 0;
    (void)snprintf(text, sizeof text, "\r\n[%" PRIu64 " bytes were skipped: too slow a client]\r\n",
                   n);
    return stream_remote_output(r->stream, which, str_of(text));
}

/* A client that does not keep up misses output: the container, its log and other clients do not
 * wait for it. */
void agent_attach_output(struct agent_run *run, enum container_stream stream, struct str bytes)
{
    enum stream_output which = output_of(stream);
    list_each (node, &run->attached) {
        struct remote *r = list_entry(node, struct remote, node);
        if (r->is_full[which]) {
            r->n_skipped[which] += bytes.n;
            continue;
        }
        (void)tell_skipped(r, which);
        r->is_full[which] = !stream_remote_output(r->stream, which, bytes);
    }
}

void agent_attach_room(struct agent_run *run)
{
    list_each (node, &run->attached)
        flush_input(list_entry(node, struct remote, node));
}

void agent_attach_end(struct agent_run *run, int status)
{
    while (!list_is_empty(&run->attached)) {
        struct remote *r = list_entry(list_pop_front(&run->attached), struct remote, node);
        (void)tell_skipped(r, STREAM_STDOUT);
        (void)tell_skipped(r, STREAM_STDERR);
        if (status == PROCESS_UNKNOWN)
            stream_remote_failed(r->stream, "the container has ended");
        else
            stream_remote_exited(r->stream, status);
        free_remote(r);
    }
}

/* ---------------------------------------------------------------- from the client */

static struct agent_run *find_run(struct remote *r)
{
    struct agent_pod *p = map_get(&r->agent->pods, str_of(r->uid));
    struct agent_container *c = p ? agent_pod_container(p, str_of(r->container)) : NULL;
    return c ? c->run : NULL;
}

static int attach(struct remote *r, struct stream_remote *stream, void **ret, struct err *err)
{
    struct agent_run *run = find_run(r);
    if (!run || !run->is_running || !run->c) {
        free_remote(r);
        return err_set(err, -ESRCH, "the container does not run");
    }
    r->run = run;
    r->stream = stream;
    list_push_back(&run->attached, &r->node);
    *ret = r;
    return 0;
}

static int start(void *arg, struct stream_remote *stream, void **ret, struct err *err)
{
    struct remote *r = arg;
    if (r->n == 0)
        return attach(r, stream, ret, err);
    struct agent_exec_process p;
    struct agent_run *run = find_run(r);
    int code = run ? agent_exec_process(&r->arena, run, r->argv, r->n, &p, err)
                   : err_set(err, -ESRCH, "the container does not run");
    p.process.has_terminal = r->wish.is_tty;
    const struct container_exec_opts opts = {
        .process = &p.process, .has_input = r->wish.has_stdin, .events = &events, .arg = r
    };
    if (r->wish.is_tty && code >= 0) {
        struct str *env = arena_new_n(&r->arena, struct str, p.env.n + 1);
        memcpy(env, p.env.p, p.env.n * sizeof *env);
        env[p.env.n] = STR("TERM=xterm");
        p.env = (struct container_strings){ env, p.env.n + 1 };
    }
    code = code < 0 ? code : container_exec_start(run->c, &opts, &r->exec, err);
    if (code < 0) {
        free_remote(r);
        return code;
    }
    r->stream = stream;
    *ret = r;
    return 0;
}

static bool write_input(void *program, struct str bytes)
{
    struct remote *r = program;
    ssize_t n = r->input.n == 0 ? write_some(r, bytes) : 0;
    if (n < 0)
        return true; /* it has closed its input: the rest is lost, as in a pipe */
    if ((size_t)n == bytes.n)
        return true;
    (void)buf_add_str(&r->input, str_slice(bytes, (size_t)n, bytes.n));
    return false;
}

static void end_input(void *program)
{
    struct remote *r = program;
    r->is_input_over = true;
    if (r->input.n == 0)
        end_input_now(r);
}

static void resume(void *program, enum stream_output which)
{
    struct remote *r = program;
    enum container_stream stream = which == STREAM_STDERR ? CONTAINER_STDERR : CONTAINER_STDOUT;
    if (r->exec)
        container_exec_pause(r->exec, stream, false);
    else
        r->is_full[which] = false;
}

static void resize(void *program, uint16_t columns, uint16_t rows)
{
    struct remote *r = program;
    if (r->exec)
        container_exec_resize(r->exec, columns, rows);
    else
        container_resize(r->run->c, columns, rows);
}

/* The client has left: its program is ended, as a terminal's would be. */
static void close_remote(void *program, void *arg)
{
    struct remote *r = program;
    if (!r) {
        free_remote(arg);
        return;
    }
    r->stream = NULL;
    if (r->exec) {
        container_exec_stop(r->exec);
        return;
    }
    list_remove(&r->node);
    free_remote(r);
}

static const struct stream_program_ops program_ops = {
    .start = start,
    .write = write_input,
    .end_input = end_input,
    .resume = resume,
    .resize = resize,
    .close = close_remote,
};

int agent_answer_command(void *arg, const struct agent_ref *ref,
                         const struct agent_command *command,
                         const struct stream_program_ops **ret_ops, void **ret_arg, struct err *err)
{
    struct agent *a = arg;
    struct agent_pod *p = agent_answer_find(a, ref);
    struct agent_container *c = p ? agent_pod_container(p, ref->container) : NULL;
    if (!c || !c->run || !c->run->is_running)
        return err_set(err, -ENOENT, "container \"" STR_FMT "\" does not run",
                       STR_ARG(ref->container));
    struct remote *r = xnew(struct remote);
    r->agent = a;
    r->uid = xstrdup(p->uid);
    r->container = xstrdup(c->name);
    r->wish = command->wish;
    r->input = BUF_INIT(INPUT_MAX);
    while (command->argv && command->argv[r->n])
        r->n++;
    r->argv = arena_new_n(&r->arena, struct str, r->n + 1);
    for (size_t i = 0; i < r->n; i++)
        r->argv[i] = str_copy_arena(&r->arena, str_of(command->argv[i]));
    *ret_ops = &program_ops;
    *ret_arg = r;
    return 0;
}
