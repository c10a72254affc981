/* SPDX-License-Identifier: Apache-2.0 */
/* Remote commands; see remote.h. */
#include "agent/stream/remote.h"

#include "agent/stream/link.h"
#include "base/sm.h"
#include "codec/json.h"

#include <errno.h>

enum remote_at { REMOTE_WAITING, REMOTE_RUNNING, REMOTE_CLOSING, REMOTE_GONE };

static const struct sm_state remote_table[] = {
    [REMOTE_WAITING] = { "waiting",
                         EDGE(REMOTE_RUNNING) | EDGE(REMOTE_CLOSING) | EDGE(REMOTE_GONE) },
    [REMOTE_RUNNING] = { "running", EDGE(REMOTE_CLOSING) | EDGE(REMOTE_GONE) },
    [REMOTE_CLOSING] = { "closing", EDGE(REMOTE_GONE) },
    [REMOTE_GONE] = { "gone", 0 },
};

/* The numbers of the WebSocket's channels, too. */
enum remote_role { STDIN, STDOUT, STDERR, STATUS, RESIZE, ROLES };

static const char *const role_names[] = { "stdin", "stdout", "stderr", "error", "resize" };

struct stream_remote {
    struct loop *loop;
    struct stream_link *link; /* NULL: gone */
    struct sm sm;
    struct stream_remote_wish wish;
    bool is_attach, is_spdy;
    unsigned version;
    uint32_t ids[ROLES]; /* the link's streams */
    bool has[ROLES];
    const struct stream_program_ops *ops;
    void *arg, *program;
    struct defer start;
    struct timer creation;
    struct buf size; /* a message about the terminal's size, as far as it has arrived */
};

static bool is_wanted(const struct stream_remote *s, enum remote_role role)
{
    const struct stream_remote_wish *w = &s->wish;
    const bool wanted[ROLES] = { [STDIN] = w->has_stdin,
                                 [STDOUT] = w->has_stdout,
                                 [STDERR] = w->has_stderr && !w->is_tty,
                                 [STATUS] = true,
                                 [RESIZE] = w->is_tty && (!s->is_spdy || s->version >= 3) };
    return wanted[role];
}

static enum remote_role role_of(const struct stream_remote *s, uint32_t id)
{
    unsigned role = 0;
    while (role < ROLES && !(s->has[role] && s->ids[role] == id))
        role++;
    return (enum remote_role)role;
}

static void stop_waiting(struct stream_remote *s)
{
    timer_stop(s->loop, &s->creation);
    defer_cancel(&s->start);
}

/* ------------------------------------------------------------------ the status */

static struct json *status_new(struct arena *a, const char *status)
{
    struct json *v = json_new_object(a);
    (void)json_obj(a, v, "metadata");
    json_set_str(a, v, "status", str_of(status));
    return v;
}

static struct json *failure_new(struct arena *a, const char *message, const char *reason)
{
    struct json *v = status_new(a, "Failure");
    json_set_str(a, v, "message", str_of(message));
    json_set_str(a, v, "reason", str_of(reason));
    return v;
}

static struct json *exit_status(struct arena *a, int status)
{
    int code = status < 0 ? 128 - status : status;
    if (status == 0)
        return status_new(a, "Success");
    struct json *v = failure_new(
        a, arena_printf(a, "command terminated with non-zero exit code: exit status %d", code),
        "NonZeroExitCode");
    struct json *cause = json_new_object(a), *causes = json_new_array(a);
    json_set_str(a, cause, "reason", STR("ExitCode"));
    json_set_str(a, cause, "message", str_of(arena_printf(a, "%d", code)));
    json_add(causes, cause);
    json_setc(a, json_obj(a, v, "details"), "causes", causes);
    return v;
}

static struct json *failure_status(struct arena *a, const struct stream_remote *s, const char *why)
{
    const char *what =
        s->is_attach ? "error attaching to container" : "error executing command in container";
    struct json *v = failure_new(a, arena_printf(a, "Internal error occurred: %s: %s", what, why),
                                 "InternalError");
    json_set_int(a, v, "code", 500);
    return v;
}

/* Before version 4 the text of a failure, and nothing for success. */
static void send_status(struct stream_remote *s, const struct json *status)
{
    struct buf text = BUF_INIT(64 << 10);
    if (s->version >= 4)
        (void)json_write(&text, status);
    else
        (void)buf_add_str(&text, json_get_str(status, "message"));
    (void)stream_link_write(s->link, s->ids[STATUS], buf_str(&text));
    buf_fini(&text);
}

/* Outputs end before the status does, so that a client has them all when it sees the status. */
static void finish(struct stream_remote *s, const struct json *status)
{
    static const enum remote_role order[] = { STDOUT, STDERR, STATUS };
    assert(s->has[STATUS]);
    stop_waiting(s);
    sm_move(&s->sm, REMOTE_CLOSING);
    s->program = NULL;
    send_status(s, status);
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (s->has[order[i]])
            stream_link_end(s->link, s->ids[order[i]]);
    stream_link_finish(s->link);
}

void stream_remote_exited(struct stream_remote *s, int status)
{
    struct arena a = { 0 };
    assert(s->sm.at == REMOTE_RUNNING);
    finish(s, exit_status(&a, status));
    arena_fini(&a);
}

void stream_remote_failed(struct stream_remote *s, const char *why)
{
    struct arena a = { 0 };
    assert(s->sm.at == REMOTE_RUNNING);
    finish(s, failure_status(&a, s, why));
    arena_fini(&a);
}

/* ------------------------------------------------------------------ the program */

bool stream_remote_output(struct stream_remote *s, enum stream_output which, struct str bytes)
{
    enum remote_role role = which == STREAM_STDOUT ? STDOUT : STDERR;
    assert(s->sm.at == REMOTE_RUNNING);
    return !s->has[role] || !is_wanted(s, role) || stream_link_write(s->link, s->ids[role], bytes);
}

void stream_remote_wants_input(struct stream_remote *s)
{
    assert(s->sm.at == REMOTE_RUNNING);
    stream_link_resume(s->link, s->ids[STDIN]);
}

void stream_remote_refuses_input(struct stream_remote *s)
{
    assert(s->sm.at == REMOTE_RUNNING);
    s->wish.has_stdin = false;
    stream_link_resume(s->link, s->ids[STDIN]);
}

/* {"Width":80,"Height":24}, one after the other. Other texts are ignored. */
static void take_size(struct stream_remote *s, struct str text)
{
    struct arena a = { 0 };
    struct json *v = NULL;
    int64_t width, height;
    if (json_parse(&a, text, NULL, &v, NULL) >= 0 && json_int(json_getc(v, "Width"), &width) >= 0 &&
        json_int(json_getc(v, "Height"), &height) >= 0 && width >= 0 && width <= UINT16_MAX &&
        height >= 0 && height <= UINT16_MAX && s->ops->resize)
        s->ops->resize(s->program, (uint16_t)width, (uint16_t)height);
    arena_fini(&a);
}

static void take_sizes(struct stream_remote *s, struct str bytes)
{
    struct str head, rest = bytes;
    while (str_cut(rest, '}', &head, &rest)) {
        (void)buf_add_str(&s->size, head);
        (void)buf_add_char(&s->size, '}');
        if (buf_ok(&s->size))
            take_size(s, str_trim(buf_str(&s->size)));
        buf_reset(&s->size);
    }
    (void)buf_add_str(&s->size, head);
}

static void start_program(struct stream_remote *s)
{
    struct err err = { 0 };
    stop_waiting(s);
    int r = s->ops->start(s->arg, s, &s->program, &err);
    sm_move(&s->sm, REMOTE_RUNNING);
    if (r < 0) {
        stream_remote_failed(s, err_text(&err));
        return;
    }
    if (s->has[STDIN])
        stream_link_resume(s->link, s->ids[STDIN]);
    if (s->has[RESIZE])
        stream_link_resume(s->link, s->ids[RESIZE]);
}

static void on_start(struct defer *d)
{
    start_program(container_of(d, struct stream_remote, start));
}

static void on_creation(struct timer *t)
{
    struct stream_remote *s = container_of(t, struct stream_remote, creation);
    log_debug("stream closed", "reason=\"the client has not made its streams in time\"");
    stream_link_abort(s->link);
}

/* ------------------------------------------------------------------ the client */

static void start_if_complete(struct stream_remote *s)
{
    for (unsigned role = 0; role < ROLES; role++)
        if (is_wanted(s, (enum remote_role)role) && !s->has[role])
            return;
    defer_start(s->loop, &s->start, on_start);
}

static bool on_open(void *arg, uint32_t id, const struct headers *headers)
{
    struct stream_remote *s = arg;
    struct str type = headers_get(headers, "streamtype");
    unsigned role = 0;
    while (role < ROLES && !str_is(type, role_names[role]))
        role++;
    if (s->sm.at != REMOTE_WAITING || role == ROLES || s->has[role] ||
        !is_wanted(s, (enum remote_role)role))
        return false;
    s->has[role] = true;
    s->ids[role] = id;
    if (role == STDIN || role == RESIZE)
        stream_link_pause(s->link, id); /* until the program runs */
    start_if_complete(s);
    return true;
}

static void on_data(void *arg, uint32_t id, struct str bytes)
{
    struct stream_remote *s = arg;
    if (s->sm.at != REMOTE_RUNNING)
        return;
    enum remote_role role = role_of(s, id);
    if (role == STDIN && s->wish.has_stdin) {
        if (!s->ops->write(s->program, bytes))
            stream_link_pause(s->link, id);
    } else if (role == RESIZE && s->wish.is_tty) {
        take_sizes(s, bytes);
    }
}

static void on_end(void *arg, uint32_t id)
{
    struct stream_remote *s = arg;
    if (s->sm.at == REMOTE_RUNNING && role_of(s, id) == STDIN && s->wish.has_stdin)
        s->ops->end_input(s->program);
}

/* A client that abandons stdin ends it. Of abandoned outputs the rest is dropped. */
static void on_reset(void *arg, uint32_t id)
{
    on_end(arg, id);
}

static void on_writable(void *arg, uint32_t id)
{
    struct stream_remote *s = arg;
    enum remote_role role = role_of(s, id);
    if (s->sm.at == REMOTE_RUNNING && (role == STDOUT || role == STDERR))
        s->ops->resume(s->program, role == STDOUT ? STREAM_STDOUT : STREAM_STDERR);
}

static void on_gone(void *arg, int r)
{
    struct stream_remote *s = arg;
    bool was_open = s->sm.at != REMOTE_CLOSING;
    stop_waiting(s);
    sm_move(&s->sm, REMOTE_GONE);
    if (was_open && s->ops->close)
        s->ops->close(s->program, s->arg);
    buf_fini(&s->size);
    free(s);
}

/* ------------------------------------------------------------------ serving */

static void open_channels(struct stream_remote *s)
{
    enum remote_role greeted = s->wish.has_stdout ? STDOUT : is_wanted(s, STDERR) ? STDERR : STATUS;
    for (unsigned role = 0; role < ROLES; role++) {
        s->has[role] = true;
        s->ids[role] = role;
    }
    stream_link_pause(s->link, STDIN);
    stream_link_pause(s->link, RESIZE);
    stream_link_greet(s->link, greeted);
    defer_start(s->loop, &s->start, on_start);
}

void stream_remote_serve(const struct stream_remote_opts *opts)
{
    static const struct stream_link_events events = { .on_open = on_open,
                                                      .on_data = on_data,
                                                      .on_end = on_end,
                                                      .on_reset = on_reset,
                                                      .on_writable = on_writable,
                                                      .on_gone = on_gone };
    struct stream_remote *s = xnew(struct stream_remote);
    *s = (struct stream_remote){ .loop = opts->loop,
                                 .wish = opts->wish,
                                 .is_attach = opts->is_attach,
                                 .is_spdy = opts->choice->carrier == STREAM_SPDY,
                                 .version = opts->choice->version,
                                 .ops = opts->ops,
                                 .arg = opts->arg,
                                 .size = BUF_INIT(STREAM_REMOTE_SIZE_MAX_BYTES) };
    sm_init(&s->sm, remote_table, REMOTE_WAITING);
    s->link = stream_link_open(&(struct stream_link_opts){ .loop = opts->loop,
                                                           .x = opts->x,
                                                           .choice = opts->choice,
                                                           .n_channels = ROLES,
                                                           .idle_ms = opts->idle_ms,
                                                           .count = opts->count,
                                                           .events = &events,
                                                           .arg = s });
    timer_start(s->loop, &s->creation,
                opts->creation_ms ? opts->creation_ms : STREAM_REMOTE_CREATION_MS, on_creation);
    if (!s->is_spdy)
        open_channels(s);
}
