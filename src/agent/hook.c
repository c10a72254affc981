/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/hook.h"

#include "agent/agent_impl.h"
#include "agent/exec.h"
#include "io/http.h"

enum { HOOK_HTTP_MS = 30000 };

struct agent_hook {
    struct agent_container *c; /* NULL: cancelled, an end is still to come */
    struct loop *loop;
    bool is_pre_stop;
    struct timer timer;
    struct agent_exec *exec;
    struct http_client *client;
    struct exchange *call;
    int status; /* of the HTTP answer */
};

static void free_hook(struct agent_hook *h)
{
    timer_stop(h->loop, &h->timer);
    if (h->client)
        http_client_close(h->client);
    free(h);
}

static void end(struct agent_hook *h, int r, const char *why)
{
    struct agent_container *c = h->c;
    struct agent_pod *p = c->pod;
    struct pod_now now = agent_now(p->agent);
    size_t i = agent_container_index(c);
    c->hook = NULL;
    if (r < 0)
        agent_event(p, c->name, true, h->is_pre_stop ? "FailedPreStopHook" : "FailedPostStartHook",
                    "%s", why);
    if (h->exec)
        agent_exec_cancel(take_ptr(&h->exec));
    if (i != SIZE_MAX)
        pod_life_hook_ended(&p->life, i, r, &now);
    agent_pod_look(p);
    h->c = NULL;
    if (!h->call)
        free_hook(h);
    else
        exchange_cancel(h->call);
}

/* Of a sleep, and the limit of all others. */
static void on_timer(struct timer *t)
{
    struct agent_hook *h = container_of(t, struct agent_hook, timer);
    bool is_sleep = !h->exec && !h->call;
    end(h, is_sleep ? 0 : -1, "the hook has not ended in its grace period");
}

static void on_exec(void *arg, int r, int status, struct str output)
{
    struct agent_hook *h = arg;
    scoped(free_scoped) char *why =
        r < 0 ? xasprintf(STR_FMT, STR_ARG(output))
              : xasprintf("the command has ended with status %d: " STR_FMT, status,
                          (int)MIN(output.n, 1024U), output.p ? output.p : "");
    h->exec = NULL;
    end(h, r < 0 || status != 0 ? -1 : 0, why);
}

/* ---------------------------------------------------------------- HTTP */

static void on_head(void *arg, int status, const struct headers *headers)
{
    ((struct agent_hook *)arg)->status = status;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct agent_hook *h = arg;
    h->call = NULL;
    if (!h->c)
        free_hook(h);
    else if (r < 0)
        end(h, -1, err_text(err));
    else
        end(h, h->status >= 200 && h->status < 400 ? 0 : -1, "the answer is no success");
}

static const struct exchange_events http_events = { .on_head = on_head, .on_end = on_end };

static uint16_t port_of(const struct pod_container *c, const struct pod_port_ref *ref)
{
    if (!ref->name.n)
        return (uint16_t)ref->number;
    for (size_t i = 0; i < c->n_ports; i++) {
        if (str_eq(c->ports[i].name, ref->name))
            return (uint16_t)c->ports[i].container_port;
    }
    return 0;
}

static int start_http(struct agent_hook *h, const struct pod_container *spec,
                      const struct pod_action *action, struct err *err)
{
    struct agent_pod *p = h->c->pod;
    struct str host = action->host.n       ? action->host
                      : p->facts.n_pod_ips ? p->facts.pod_ips[0]
                                           : STR("127.0.0.1");
    scoped(free_scoped) char *name = str_dup(host);
    const struct http_client_opts opts = { .host = name, .port = port_of(spec, &action->port) };
    if (str_ieq(action->scheme, STR("HTTPS")))
        return err_set(err, E_UNSUPPORTED, "hooks by https are not supported");
    int r = http_client_new(h->loop, &opts, &h->client, err);
    if (r < 0)
        return r;
    const struct http_call_opts call = { .method = STR("GET"),
                                         .target = action->path.n ? action->path : STR("/"),
                                         .head_timeout_ms = HOOK_HTTP_MS,
                                         .events = &http_events,
                                         .arg = h };
    return http_call_start(h->client, &call, &h->call, err);
}

/* ---------------------------------------------------------------- start */

static int start(struct agent_hook *h, const struct pod_container *spec,
                 const struct pod_action *action, uint64_t grace_ms, struct err *err)
{
    uint64_t limit = grace_ms;
    int r = 0;
    if (action->kind == POD_ACTION_SLEEP) {
        uint64_t ms = (uint64_t)MIN(MAX(action->sleep_s, 0), INT32_MAX) * 1000;
        limit = grace_ms ? MIN(ms, grace_ms) : ms;
        timer_start(h->loop, &h->timer, limit, on_timer);
        return 0;
    }
    if (action->kind == POD_ACTION_EXEC)
        r = agent_exec_capture(h->c->run, action->command, action->n_command, on_exec, h, &h->exec,
                               err);
    else if (action->kind == POD_ACTION_HTTP)
        r = start_http(h, spec, action, err);
    else
        r = err_set(err, E_UNSUPPORTED, "a hook of this kind does not exist");
    if (r >= 0 && limit)
        timer_start(h->loop, &h->timer, limit, on_timer);
    return r;
}

/* A start that failed is reported on a later turn. */
static void on_failed(struct timer *t)
{
    end(container_of(t, struct agent_hook, timer), -1, "the hook could not be started");
}

void agent_hook_start(struct agent_container *c, bool is_pre_stop, uint64_t grace_ms)
{
    struct agent_hook *h = xnew(struct agent_hook);
    size_t i = agent_container_index(c);
    const struct pod_container *spec = c->pod->life.containers[i].spec;
    struct err err = { 0 };
    *h = (struct agent_hook){ .c = c, .loop = c->pod->agent->loop, .is_pre_stop = is_pre_stop };
    assert(!c->hook);
    c->hook = h;
    if (start(h, spec, is_pre_stop ? &spec->pre_stop : &spec->post_start, grace_ms, &err) < 0) {
        agent_event(c->pod, c->name, true,
                    is_pre_stop ? "FailedPreStopHook" : "FailedPostStartHook", "%s",
                    err_text(&err));
        timer_start(h->loop, &h->timer, 0, on_failed);
    }
}

void agent_hook_cancel(struct agent_hook *h)
{
    h->c->hook = NULL;
    h->c = NULL;
    if (h->exec)
        agent_exec_cancel(take_ptr(&h->exec));
    if (h->call)
        exchange_cancel(h->call);
    else
        free_hook(h);
}
