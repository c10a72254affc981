/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod that found no node: its messages, condition and Event, and its return to the queue.
 * Upstream: FitError in framework/types.go, handleSchedulingFailure in schedule_one.go.
 */
#include "sched/core/internal.h"

#include "base/clock.h"

/* ---- "0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint(s)." ---- */

struct reason {
    struct str text;
    size_t n;
};
struct histogram_of_reasons {
    struct arena *arena;
    struct map by_text;
    const struct sched_status *last; /* with its reasons cached: most nodes are refused alike */
    struct reason *last_reasons[4];
};

static struct reason *reason_of(struct histogram_of_reasons *h, struct str text)
{
    struct reason *r = map_get(&h->by_text, text);
    if (!r) {
        r = arena_new(h->arena, struct reason);
        r->text = text;
        (void)map_put(&h->by_text, text, r);
    }
    return r;
}

static void count_status(struct histogram_of_reasons *h, const struct sched_status *s, size_t n)
{
    if (s == h->last && s->n_reasons <= ARRAY_LEN(h->last_reasons)) {
        for (uint32_t i = 0; i < s->n_reasons; i++)
            h->last_reasons[i]->n += n;
        return;
    }
    h->last = s;
    for (uint32_t i = 0; i < s->n_reasons; i++) {
        struct reason *r = reason_of(h, s->reasons[i]);
        r->n += n;
        if (i < ARRAY_LEN(h->last_reasons))
            h->last_reasons[i] = r;
    }
}

static int compare_texts(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* "2 this, 3 that", sorted by text. */
static void add_reasons(struct histogram_of_reasons *h, struct buf *out)
{
    size_t n = 0;
    struct str *lines = arena_new_n(h->arena, struct str, h->by_text.n + 1);
    map_each (e, &h->by_text) {
        const struct reason *r = e->value;
        lines[n++] = str_of(arena_printf(h->arena, "%zu " STR_FMT, r->n, STR_ARG(r->text)));
    }
    qsort(lines, n, sizeof(*lines), compare_texts);
    for (size_t i = 0; i < n; i++) {
        (void)buf_add_cstr(out, i > 0 ? ", " : " ");
        (void)buf_add_str(out, lines[i]);
    }
    if (n > 0)
        (void)buf_add_char(out, '.');
}

struct str sched_fit_error_text(struct arena *a, size_t n_nodes,
                                const struct sched_node_status *statuses, size_t n,
                                const struct sched_status *absent, struct str pre_filter,
                                struct str post_filter)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(MESSAGE_MAX_BYTES);
    (void)buf_printf(&out, "0/%zu nodes are available:", n_nodes);
    if (pre_filter.n > 0) {
        (void)buf_printf(&out, " " STR_FMT ".", STR_ARG(pre_filter));
    } else {
        struct histogram_of_reasons h = { .arena = a };
        for (size_t i = 0; i < n; i++)
            count_status(&h, statuses[i].status, 1);
        if (absent && n < n_nodes)
            count_status(&h, absent, n_nodes - n);
        add_reasons(&h, &out);
        map_fini(&h.by_text);
    }
    if (post_filter.n > 0)
        (void)buf_printf(&out, " " STR_FMT, STR_ARG(post_filter));
    return str_copy_arena(a, buf_str(&out));
}

void sched_outcome_of(struct sched_attempt *a, const struct sched_status *status,
                      struct sched_outcome *ret)
{
    *ret = (struct sched_outcome){ .code = sched_code(status), .overrides = true };
    if (!sched_is_rejected(status)) {
        ret->code = SCHED_ERROR;
        ret->message = sched_status_message(&a->arena, status);
        return;
    }
    struct sched_node_status one = { NULL, status };
    ret->message = sched_fit_error_text(&a->arena, 1, &one, 1, NULL, STR(""), STR(""));
    for (unsigned i = 0; i < a->profile->n_plugins; i++) {
        if (!str_eq(a->profile->plugins[i]->name, status->plugin))
            continue;
        ret->rejected_by = UINT64_C(1) << i;
        if (status->code == SCHED_PENDING)
            ret->pending_by = ret->rejected_by;
    }
}

/* ---- the pod's status ---- */

/* A patch that is retried while the API is unreachable; each patch of a pod is sent on its own. */
struct patch {
    struct list node; /* of s->patches, while it waits for its next attempt */
    struct sched *s;
    struct str namespace, name, uid;
    struct str target, body;
    unsigned tries;
    uint32_t number; /* struct sched_pending.n_patches, including this one */
    char strings[];
};

static void patch_send(void *arg);

static void note_nomination(struct sched_pending *p, struct str node)
{
    free(p->nominated);
    p->nominated = str_dup(node);
}

/*
 * Drops our record of a write that may not have happened, so that the next attempt writes it again.
 */
static void forget_status(struct patch *p)
{
    struct sched_pending *pod = sched_pending_get(p->s, p->namespace, p->name);
    if (!pod || !str_eq(pod->pod->o.uid, p->uid))
        return;
    free(pod->message);
    pod->message = NULL;
    pod->has_condition = false;
    note_nomination(pod, pod->pod->nominated_node);
}

static void on_patched(void *arg, int r, int status, struct str body, const struct err *err)
{
    struct patch *p = arg;
    bool try_again = r < 0 || status == 429 || status == 500 || status == 503 || status == 504;
    if (!p->s->is_ending && try_again && ++p->tries < PATCH_TRIES) {
        list_push_back(&p->s->patches, &p->node);
        sched_after(p->s, UINT64_C(100) << (3 * p->tries), patch_send, p);
        return;
    }
    if (!p->s->is_ending && (r < 0 || (status >= 400 && status != 404)))
        forget_status(p);
    free(p);
}

/* A later patch was sent meanwhile, and the content of this one is out of date. */
static bool is_overtaken(const struct patch *p)
{
    const struct sched_pending *pod = sched_pending_get(p->s, p->namespace, p->name);
    return p->tries > 0 && pod && str_eq(pod->pod->o.uid, p->uid) && pod->n_patches != p->number;
}

static void patch_send(void *arg)
{
    struct patch *p = arg;
    list_remove(&p->node);
    if (is_overtaken(p)) {
        forget_status(p); /* the later one may not have contained all of it */
        free(p);
        return;
    }
    struct sched_api_request rq = {
        .method = "PATCH",
        .target = p->target,
        .body = p->body,
        .patch_type = "application/strategic-merge-patch+json",
    };
    sched_call(p->s, &rq, on_patched, p);
}

void sched_patches_fini(struct sched *s)
{
    while (!list_is_empty(&s->patches))
        free(list_entry(list_pop_front(&s->patches), struct patch, node));
}

static struct str put_string(char **at, struct str s)
{
    char *p = *at;
    if (s.n > 0)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    *at += s.n + 1;
    return str_n(p, s.n);
}

static void patch_status(struct sched *s, const struct sched_pod *pod, struct str body)
{
    scoped(buf_fini_scoped) struct buf target = BUF_INIT(2048);
    (void)buf_printf(&target, "/api/v1/namespaces/" STR_FMT "/pods/" STR_FMT "/status",
                     STR_ARG(pod->o.namespace), STR_ARG(pod->o.name));
    if (!buf_ok(&target))
        return;
    size_t bytes = pod->o.namespace.n + pod->o.name.n + pod->o.uid.n + target.n + body.n + 5;
    struct patch *p = xalloc(sizeof(*p) + bytes);
    char *at = p->strings;
    p->s = s;
    p->namespace = put_string(&at, pod->o.namespace);
    p->name = put_string(&at, pod->o.name);
    p->uid = put_string(&at, pod->o.uid);
    p->target = put_string(&at, buf_str(&target));
    p->body = put_string(&at, body);
    struct sched_pending *pending = sched_pending_get(s, pod->o.namespace, pod->o.name);
    p->number = pending ? ++pending->n_patches : 0;
    patch_send(p);
}

/* {"metadata":{"uid":U},"status":{ : the uid excludes another pod with the same name. */
static void begin_patch(struct buf *body, const struct sched_pod *pod)
{
    (void)buf_add_cstr(body, "{\"metadata\":{\"uid\":");
    (void)json_write_str(body, pod->o.uid);
    (void)buf_add_cstr(body, "},\"status\":{");
}

static void add_nomination(struct buf *body, struct str node)
{
    (void)buf_add_cstr(body, "\"nominatedNodeName\":");
    if (node.n > 0)
        (void)json_write_str(body, node);
    else
        (void)buf_add_cstr(body, "null");
}

void sched_write_nomination(struct sched *s, struct sched_pending *p, struct str node)
{
    if (str_eq(str_of(p->nominated), node))
        return;
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(4096);
    begin_patch(&body, p->pod);
    add_nomination(&body, node);
    (void)buf_add_cstr(&body, "}}");
    if (!buf_ok(&body))
        return;
    note_nomination(p, node);
    patch_status(s, p->pod, buf_str(&body));
}

static int64_t wall_ms(const struct sched *s)
{
    return s->opts.wall_ms ? s->opts.wall_ms(s->opts.arg) : clock_wall_ms();
}

static void add_condition(struct sched *s, struct buf *body, const struct sched_pending *p,
                          const char *reason, struct str message)
{
    (void)buf_add_cstr(body, "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\"");
    if (!p->has_condition || !p->is_false) {
        char now[RFC3339_MAX];
        rfc3339_format(wall_ms(s) / 1000, now);
        (void)buf_printf(body, ",\"lastProbeTime\":null,\"lastTransitionTime\":\"%s\"", now);
    }
    if (p->pod->generation > 0)
        (void)buf_printf(body, ",\"observedGeneration\":%lld", (long long)p->pod->generation);
    (void)buf_printf(body, ",\"reason\":\"%s\",\"message\":", reason);
    (void)json_write_str(body, message);
    (void)buf_add_cstr(body, "}]");
}

/* Writes condition and nomination if they differ from the current ones. */
static void write_status(struct sched *s, struct sched_pending *p, const char *reason,
                         const struct sched_outcome *o)
{
    bool condition = !p->has_condition || !p->is_false || !p->reason || !p->message ||
                     strcmp(p->reason, reason) != 0 || !str_is(o->message, p->message);
    bool nomination = o->overrides && !str_eq(str_of(p->nominated), o->nominated);
    if (!condition && !nomination)
        return;
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(MESSAGE_MAX_BYTES * 6 + 8192);
    begin_patch(&body, p->pod);
    if (condition)
        add_condition(s, &body, p, reason, o->message);
    if (nomination) {
        (void)buf_add_cstr(&body, condition ? "," : "");
        add_nomination(&body, o->nominated);
    }
    (void)buf_add_cstr(&body, "}}");
    if (!buf_ok(&body))
        return;
    if (condition) {
        free(p->reason);
        free(p->message);
        p->reason = xstrdup(reason);
        p->message = str_dup(o->message);
        p->has_condition = p->is_false = true;
    }
    if (nomination)
        note_nomination(p, o->nominated);
    patch_status(s, p->pod, buf_str(&body));
}

/* ---- return to the queue ---- */

static void record_failure(struct sched_attempt *a, const struct sched_pod *pod, struct str message)
{
    if (message.n > NOTE_MAX_BYTES)
        message = str_of(arena_printf(&a->arena, STR_FMT " ...",
                                      STR_ARG(str_slice(message, 0, NOTE_MAX_BYTES - 4))));
    recorder_add(a->s, a->profile, pod, "Warning", "FailedScheduling", "Scheduling", message);
}

/*
 * Logs errors of plugins, extenders or the API, one line a minute. Deleted pods and bindings that
 * end with the leadership are not logged.
 */
static void complain(struct sched *s, const struct sched_pod *pod, struct str message)
{
    uint64_t skipped;
    char why[LOG_QUOTE_MAX];
    if (log_rate_ok(&s->complaints, COMPLAIN_MS, &skipped))
        log_warn("pod could not be scheduled, trying again",
                 "pod=" STR_FMT "/" STR_FMT " more=%llu reason=\"%s\"", STR_ARG(pod->o.namespace),
                 STR_ARG(pod->o.name), (unsigned long long)skipped, log_quote(why, message));
}

void sched_attempt_failed(struct sched_attempt *a, const struct sched_outcome *o)
{
    struct sched *s = a->s;
    bool is_error = o->code == SCHED_ERROR || o->code == SCHED_SKIP || o->code == SCHED_WAIT ||
                    o->code == SCHED_SUCCESS;
    if (is_error)
        s->stats.errors++;
    else
        s->stats.unschedulable++;
    sched_metrics_attempt(a, is_error ? RESULT_ERROR : RESULT_UNSCHEDULABLE);
    struct str uid = a->pod->o.uid;
    struct sched_pending *p = sched_pending_of(s, &a->pod->o);
    if (s->is_ending || !p || !str_eq(p->pod->o.uid, uid)) {
        /* The pod was deleted, or bound by another client. */
        sched_queue_done(s->queue, uid);
        sched_attempt_end(a);
        return;
    }
    /* The plugins are from an old configuration: which events help is unknown. */
    bool is_old = a->set != s->set;
    if (map_get(&s->by_uid, uid) == a)
        map_del(&s->by_uid, uid);
    sched_queue_renew(s->queue, p->pod); /* the object as updated while it was assumed */
    sched_queue_back(s->queue, uid, is_old ? 0 : o->rejected_by, is_old ? 0 : o->pending_by,
                     s->now_ms);
    sched_queue_nominate(s->queue, p->pod, o->overrides ? o->nominated : p->pod->nominated_node);
    if (s->leads) {
        if (is_error)
            complain(s, p->pod, o->message);
        record_failure(a, p->pod, o->message);
        write_status(s, p, is_error ? "SchedulerError" : "Unschedulable", o);
    }
    sched_attempt_end(a);
}
