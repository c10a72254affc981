/* SPDX-License-Identifier: Apache-2.0 */
/* /exec, /attach, /portForward */
#include "agent/server/server_int.h"

#include <errno.h>

/* ------------------------------------------------------------------ common checks */

static bool begin_stream(struct agent_call *c, enum stream_purpose purpose,
                         struct stream_choice *choice)
{
    struct stream_refusal no;
    if (!c->rq->upgrade) {
        agent_call_refuse(c, 400, "Upgrade request required");
        return false;
    }
    if (stream_choose(purpose, c->rq->headers, choice, &no) < 0) {
        struct headers h = { 0 };
        if (no.accepted)
            (void)headers_addc(&h, "x-accepted-stream-protocol-versions", no.accepted);
        (void)headers_addc(&h, "content-type", "text/plain; charset=utf-8");
        http_reply(c->x, no.status, &h, str_of(no.text));
        headers_fini(&h);
        return false;
    }
    if (c->server->n_streams >= AGENT_SERVER_STREAMS_MAX) {
        agent_call_refuse(c, 429, "too many streams are open");
        return false;
    }
    return true;
}

static void refuse_found(struct agent_call *c, enum agent_found found, const struct agent_ref *ref)
{
    if (found == AGENT_NO_POD)
        agent_call_refuse(c, 404, "pod does not exist");
    else
        agent_call_refuse(c, 404, "container not found (\"" STR_FMT "\")", STR_ARG(ref->container));
}

static void refuse_error(struct agent_call *c, int r, const struct err *err)
{
    agent_call_refuse(c, r == -ENOENT ? 404 : 500, "%s", err_text(err));
}

/* ------------------------------------------------------------------ exec and attach */

static const char *const *read_command(struct agent_call *c)
{
    size_t n = 0;
    const char **argv = arena_new_n(&c->arena, const char *, URL_MAX_PAIRS + 1);
    for (size_t i = 0; i < c->url.n_pairs; i++)
        if (str_is(c->url.pairs[i].name, "command"))
            argv[n++] = str_dup_arena(&c->arena, c->url.pairs[i].value);
    return n ? argv : NULL;
}

static bool is_one(const struct agent_call *c, const char *name)
{
    return str_is(url_query_get(&c->url, name), "1");
}

/* A terminal has one output. */
static struct stream_remote_wish read_wish(const struct agent_call *c)
{
    bool is_tty = is_one(c, "tty");
    return (struct stream_remote_wish){ .has_stdin = is_one(c, "input"),
                                        .has_stdout = is_one(c, "output"),
                                        .has_stderr = is_one(c, "error") && !is_tty,
                                        .is_tty = is_tty };
}

/* /NS/POD/CONTAINER or /NS/POD/UID/CONTAINER */
static struct agent_ref read_container(const struct agent_call *c)
{
    bool has_uid = agent_call_segment(c, 3).n > 0;
    return (struct agent_ref){ .ns = agent_call_segment(c, 0),
                               .pod = agent_call_segment(c, 1),
                               .uid = has_uid ? agent_call_segment(c, 2) : STR(""),
                               .container = agent_call_segment(c, has_uid ? 3 : 2) };
}

static void serve_command(struct agent_call *c, bool is_attach)
{
    struct agent_server *s = c->server;
    struct err err = { 0 };
    struct stream_choice choice;
    struct str uid;
    const struct stream_program_ops *ops;
    void *arg;
    const struct agent_ref ref = read_container(c);
    const struct agent_command command = { .argv = is_attach ? NULL : read_command(c),
                                           .wish = read_wish(c) };
    const struct stream_remote_wish *w = &command.wish;
    if (!w->has_stdin && !w->has_stdout && !w->has_stderr) {
        agent_call_refuse(c, 400, "you must specify at least 1 of stdin, stdout, stderr");
        return;
    }
    if (!is_attach && !command.argv) {
        agent_call_refuse(c, 400, "you must specify a command");
        return;
    }
    if (!begin_stream(c, STREAM_REMOTE_COMMAND, &choice))
        return;
    enum agent_found found = s->ops->find(s->arg, &ref, &uid);
    if (found != AGENT_FOUND) {
        refuse_found(c, found, &ref);
        return;
    }
    int r = s->ops->command(s->arg, &ref, &command, &ops, &arg, &err);
    if (r < 0) {
        refuse_error(c, r, &err);
        return;
    }
    const struct stream_remote_opts opts = { .loop = s->loop,
                                             .x = agent_call_release(c),
                                             .choice = &choice,
                                             .wish = command.wish,
                                             .is_attach = is_attach,
                                             .count = &s->n_streams,
                                             .ops = ops,
                                             .arg = arg };
    stream_remote_serve(&opts);
}

void agent_serve_exec(struct agent_call *c)
{
    serve_command(c, false);
}

void agent_serve_attach(struct agent_call *c)
{
    serve_command(c, true);
}

/* ------------------------------------------------------------------ port forwarding */

void agent_serve_forward(struct agent_call *c)
{
    struct agent_server *s = c->server;
    struct err err = { 0 };
    struct stream_choice choice;
    struct str uid;
    uint16_t ports[STREAM_FORWARD_PORTS_MAX];
    size_t n_ports = 0;
    const struct stream_port_ops *ops;
    void *arg;
    const struct agent_ref ref = { .ns = agent_call_segment(c, 0),
                                   .pod = agent_call_segment(c, 1),
                                   .uid = agent_call_segment(c, 2) };
    if (!begin_stream(c, STREAM_PORT_FORWARD, &choice))
        return;
    if (choice.carrier == STREAM_CHANNELS &&
        stream_forward_ports(&c->url, ports, &n_ports, &err) < 0) {
        agent_call_refuse(c, 400, "%s", err_text(&err));
        return;
    }
    enum agent_found found = s->ops->find(s->arg, &ref, &uid);
    if (found != AGENT_FOUND) {
        refuse_found(c, found, &ref);
        return;
    }
    int r = s->ops->forward(s->arg, &ref, &ops, &arg, &err);
    if (r < 0) {
        refuse_error(c, r, &err);
        return;
    }
    scoped(free_scoped) char *pod = str_dup(ref.pod);
    scoped(free_scoped) char *own_uid = str_dup(uid);
    const struct stream_forward_opts opts = { .loop = s->loop,
                                              .x = agent_call_release(c),
                                              .choice = &choice,
                                              .ports = ports,
                                              .n_ports = n_ports,
                                              .pod = str_of(pod),
                                              .uid = str_of(own_uid),
                                              .count = &s->n_streams,
                                              .ops = ops,
                                              .arg = arg };
    stream_forward_serve(&opts);
}
