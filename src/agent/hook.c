/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/hook.h"

#include "agent/agent_impl.h"
#include "agent/exec.h"

#include <errno.h>

/* Of a request: as long as a hook without a limit may take. */
enum { HOOK_HTTP_S = 30 };

struct agent_hook {
    struct agent_container *c;
    bool is_pre_stop, is_sleep;
    struct timer timer;
    struct agent_exec *exec;
    struct arena arena; /* of spec */
    struct probe_spec spec;
    struct prober_attempt *request;
};

static struct loop *loop_of(const struct agent_hook *h)
{
    return h->c->pod->agent->loop;
}

void agent_hook_cancel(struct agent_hook *h)
{
    h->c->hook = NULL;
    timer_stop(loop_of(h), &h->timer);
    if (h->exec)
        agent_exec_cancel(h->exec);
    if (h->request)
        probers_cancel(h->request);
    arena_fini(&h->arena);
    free(h);
}

static void end(struct agent_hook *h, int r, const char *why)
{
    struct agent_container *c = h->c;
    struct agent_pod *p = c->pod;
    struct pod_now now = agent_now(p->agent);
    size_t i = agent_container_index(c);
    if (r < 0)
        agent_event(p, c->name, true, h->is_pre_stop ? "FailedPreStopHook" : "FailedPostStartHook",
                    "%s", why);
    agent_hook_cancel(h);
    if (i != SIZE_MAX)
        pod_life_hook_ended(&p->life, i, r, &now);
    agent_pod_look(p);
}

/* Of a sleep, and the limit of all others. */
static void on_timer(struct timer *t)
{
    struct agent_hook *h = container_of(t, struct agent_hook, timer);
    end(h, h->is_sleep ? 0 : -ETIMEDOUT, "the hook has not ended in its grace period");
}

static void on_exec(void *arg, int r, int status, struct str output)
{
    struct agent_hook *h = arg;
    scoped(free_scoped) char *why =
        r < 0 ? xasprintf(STR_FMT, STR_ARG(output))
              : xasprintf("the command has ended with status %d: %.*s", status,
                          (int)MIN(output.n, 1024U), output.p ? output.p : "");
    h->exec = NULL;
    end(h, r < 0 || status != 0 ? -EIO : 0, why);
}

static void on_request(void *arg, enum probe_outcome outcome, struct str message)
{
    struct agent_hook *h = arg;
    scoped(free_scoped) char *why = str_dup(message);
    h->request = NULL;
    end(h, outcome == PROBE_FAILURE || outcome == PROBE_UNKNOWN ? -EIO : 0, why);
}

static void start_request(struct agent_hook *h, const struct pod_container *c,
                          const struct pod_action *action)
{
    struct agent_pod *p = h->c->pod;
    struct str address = p->facts.n_pod_ips ? p->facts.pod_ips[0] : STR("");
    const struct pod_probe once = { .action = *action, .timeout_s = HOOK_HTTP_S };
    struct arena own = { 0 };
    struct probe_spec spec;
    agent_probe_spec(&own, c, &once, &spec);
    spec.takes_any_status = true;
    probe_spec_copy(&h->arena, &spec, &h->spec); /* the pod may get another spec meanwhile */
    arena_fini(&own);
    h->request = probers_run(p->agent->probers, &h->spec, address, h->c->run, on_request, h);
}

static int start(struct agent_hook *h, const struct pod_container *c,
                 const struct pod_action *action, uint64_t grace_ms, struct err *err)
{
    uint64_t limit = grace_ms;
    int r = 0;
    h->is_sleep = action->kind == POD_ACTION_SLEEP;
    if (h->is_sleep) {
        uint64_t ms = (uint64_t)MIN(MAX(action->sleep_s, 0), INT32_MAX) * 1000;
        timer_start(loop_of(h), &h->timer, grace_ms ? MIN(ms, grace_ms) : ms, on_timer);
        return 0;
    }
    if (action->kind == POD_ACTION_EXEC)
        r = agent_exec_capture(h->c->run, action->command, action->n_command, on_exec, h, &h->exec,
                               err);
    else if (action->kind == POD_ACTION_HTTP)
        start_request(h, c, action);
    else
        r = err_set(err, E_UNSUPPORTED, "a hook of this kind does not exist");
    if (r >= 0 && limit)
        timer_start(loop_of(h), &h->timer, limit, on_timer);
    return r;
}

/* A start that failed is reported on a later turn. */
static void on_failed(struct timer *t)
{
    end(container_of(t, struct agent_hook, timer), -EIO, "the hook could not be started");
}

void agent_hook_start(struct agent_container *c, bool is_pre_stop, uint64_t grace_ms)
{
    if (c->hook)
        agent_hook_cancel(c->hook); /* postStart of a container that is being stopped */
    struct agent_hook *h = xnew(struct agent_hook);
    const struct pod_container *spec = c->pod->life.containers[agent_container_index(c)].spec;
    struct err err = { 0 };
    *h = (struct agent_hook){ .c = c, .is_pre_stop = is_pre_stop };
    c->hook = h;
    if (start(h, spec, is_pre_stop ? &spec->pre_stop : &spec->post_start, grace_ms, &err) < 0) {
        agent_event(c->pod, c->name, true,
                    is_pre_stop ? "FailedPreStopHook" : "FailedPostStartHook", "%s",
                    err_text(&err));
        timer_start(loop_of(h), &h->timer, 0, on_failed);
    }
}
