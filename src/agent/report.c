/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status of a pod to the API server: after each turn of its worker the status is made, and sent
 * if it differs from the last one that the server took. One request at a time; a failure is tried
 * again with growing pauses. While the pod is Pending, changes are collected for a moment: most
 * pods run before it is over, also on a busy machine, and then one durable write says all, and does
 * not wait for another one.
 */
#include "agent/agent_impl.h"
#include "agent/mirror.h"
#include "agent/pod/resources.h"
#include "agent/resize.h"
#include "agent/shutdown.h"
#include "base/clock.h"

enum { STATUS_MAX_BYTES = 4 << 20, RETRY_MAX_MS = 60000, PENDING_MS = 250 };

static void on_retry(struct timer *t)
{
    struct agent_pod *p = container_of(t, struct agent_pod, report_timer);
    if (p->is_deleting)
        agent_report_delete(p);
    else
        agent_report(p);
}

static void retry_later(struct agent_pod *p)
{
    uint64_t ms = p->report_backoff_ms ? p->report_backoff_ms : AGENT_REPORT_RETRY_MS;
    p->report_backoff_ms = MIN(2 * ms, (uint64_t)RETRY_MAX_MS);
    timer_start(p->agent->loop, &p->report_timer, ms, on_retry);
}

/* The object is gone: nothing is left to report to. */
static void on_lost(struct agent_pod *p)
{
    agent_pod_gone(p, 0);
    pod_life_gone(&p->life);
}

/* Why the server has refused, cut to what a line of the log takes. */
static struct str answer_text(int status, const struct json *json, const struct err *err)
{
    return status ? str_slice(json_get_str(json, "message"), 0, 300) : str_of(err_text(err));
}

static void on_answer(void *arg, int status, struct str body, const struct json *json,
                      const struct err *err)
{
    struct agent_pod *p = arg;
    p->ask = NULL;
    if (status >= 200 && status < 300) {
        p->report_backoff_ms = 0;
        free(p->sent);
        p->sent = take_ptr(&p->sending);
        p->sent_n = p->sending_n;
        if (p->is_deleting)
            agent_report_delete(p);
        else
            agent_report(p);
        agent_shutdown_look(p->agent);
        return;
    }
    free(take_ptr(&p->sending));
    /* 422: the mirror has another uid. Of a pod of the API its watch says so, and ends it. */
    if (p->static_text && (status == 404 || status == 409 || status == 422)) {
        agent_mirror_lost(p);
        return;
    }
    if (status == 404) {
        on_lost(p);
        return;
    }
    log_warn("the status of a pod was not taken", "pod=%s/%s status=%d error=\"" STR_FMT "\"",
             p->namespace, p->name, status, STR_ARG(answer_text(status, json, err)));
    retry_later(p);
}

static void extend(void *arg, struct arena *a, size_t i, struct json *container_status)
{
    agent_resize_status(arg, a, i, container_status);
}

struct json *agent_report_status(struct agent_pod *p, struct arena *a)
{
    const struct pod_status_facts facts = {
        .host_ips = p->facts.host_ips,
        .n_host_ips = p->facts.n_host_ips,
        .pod_ips = p->facts.pod_ips,
        .n_pod_ips = p->has_network ? p->facts.n_pod_ips : 0,
        .qos = pod_qos_name(pod_qos_class(p->spec)),
        .object_status = p->object_status,
        .now_s = clock_wall_ms() / 1000,
        .has_network = p->has_network,
        .extend = extend,
        .arg = p,
    };
    return pod_status_make(a, &p->life, &facts, &p->conditions);
}

/* Without $patch a strategic merge patch keeps the earlier addresses. */
static void replace_list(struct arena *a, struct json *list)
{
    struct json *o = json_new_object(a);
    if (!list)
        return;
    json_setc(a, o, "$patch", json_new_cstr(a, "replace"));
    json_add(list, o);
}

/* Conditions are merged by their types: what one of them no longer has is removed by a null. */
static void clear_rest(struct arena *a, const struct json *conditions)
{
    static const char *const keys[] = { "reason", "message" };
    json_each (c, conditions) {
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
            if (!json_getc(c, keys[i]))
                json_setc(a, c, keys[i], json_new_null(a));
    }
}

static void make_text(struct agent_pod *p, struct buf *to)
{
    struct arena a = { 0 };
    struct json *o = json_new_object(&a), *meta = json_obj(&a, o, "metadata");
    struct json *status = agent_report_status(p, &a);
    json_set_str(&a, meta, "uid", str_of(p->mirror_uid ? p->mirror_uid : p->uid));
    replace_list(&a, json_getc(status, "podIPs"));
    replace_list(&a, json_getc(status, "hostIPs"));
    clear_rest(&a, json_getc(status, "conditions"));
    json_setc(&a, o, "status", status);
    (void)json_write(to, o);
    arena_fini(&a);
}

static void send_text(struct agent_pod *p)
{
    struct err err = { 0 };
    scoped(free_scoped) char *target =
        xasprintf("/api/v1/namespaces/%s/pods/%s/status", p->namespace, p->name);
    const struct ask_request rq = { .method = "PATCH",
                                    .target = str_of(target),
                                    .content_type = "application/strategic-merge-patch+json",
                                    .body = str_n(p->sending, p->sending_n) };
    if (ask_start(p->agent->transport, p->agent->identity, &rq, on_answer, p, &p->ask, &err) < 0) {
        free(take_ptr(&p->sending));
        retry_later(p);
    }
}

static void send_status(struct agent_pod *p)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(STATUS_MAX_BYTES);
    make_text(p, &text);
    if (!buf_ok(&text) || (p->sent && str_eq(buf_str(&text), str_n(p->sent, p->sent_n))))
        return;
    p->sending = buf_take(&text, &p->sending_n);
    send_text(p);
}

static bool can_report(const struct agent_pod *p)
{
    return !p->ask && !p->is_deleting && !p->life.is_gone && !p->is_finished_before &&
           !timer_is_armed(&p->report_timer) && !(p->static_text && p->is_held);
}

static void on_pending(struct timer *t)
{
    struct agent_pod *p = container_of(t, struct agent_pod, pending_timer);
    if (can_report(p))
        send_status(p);
}

void agent_report(struct agent_pod *p)
{
    if (!can_report(p))
        return;
    if (p->static_text && !p->mirror_uid) {
        agent_mirror_make(p);
        return;
    }
    if (str_is(str_of(pod_life_phase(&p->life)), "Pending")) {
        if (!timer_is_armed(&p->pending_timer))
            timer_start(p->agent->loop, &p->pending_timer, PENDING_MS, on_pending);
        return;
    }
    timer_stop(p->agent->loop, &p->pending_timer);
    send_status(p);
}

/* Such as the controller that found the node's Lease expired. */
void agent_report_seen(struct agent_pod *p, const struct json *status)
{
    if (p->sent && !p->ask && !pod_conditions_are_in(&p->conditions, status))
        free(take_ptr(&p->sent));
}

/* ---------------------------------------------------------------- deletion */

static void on_deleted(void *arg, int status, struct str body, const struct json *json,
                       const struct err *err)
{
    struct agent_pod *p = arg;
    p->ask = NULL;
    bool is_done = (status >= 200 && status < 300) || status == 404 || status == 409;
    if (!is_done) {
        log_warn("a pod was not deleted", "pod=%s/%s status=%d error=\"" STR_FMT "\"", p->namespace,
                 p->name, status, STR_ARG(answer_text(status, json, err)));
        retry_later(p);
        return;
    }
    pod_life_gone(&p->life);
    agent_pod_look(p);
}

static void send_deletion(struct agent_pod *p)
{
    struct err err = { 0 };
    scoped(free_scoped) char *target =
        xasprintf("/api/v1/namespaces/%s/pods/%s", p->namespace, p->name);
    scoped(free_scoped) char *body =
        xasprintf("{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0,"
                  "\"preconditions\":{\"uid\":\"%s\"}}",
                  p->uid);
    const struct ask_request rq = { .method = "DELETE",
                                    .target = str_of(target),
                                    .content_type = "application/json",
                                    .body = str_of(body) };
    if (ask_start(p->agent->transport, p->agent->identity, &rq, on_deleted, p, &p->ask, &err) < 0)
        retry_later(p);
}

/* The last status goes first, so that watchers see how the containers ended. */
void agent_report_delete(struct agent_pod *p)
{
    p->is_deleting = true;
    if (p->ask || timer_is_armed(&p->report_timer))
        return;
    if (!p->is_finished_before)
        send_status(p);
    if (!p->ask)
        send_deletion(p);
}

void agent_report_cancel(struct agent_pod *p)
{
    timer_stop(p->agent->loop, &p->report_timer);
    timer_stop(p->agent->loop, &p->pending_timer);
    ask_cancel(take_ptr(&p->ask));
}
