/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our plugins, asked about clusters, as test/upstream/schedplugins asks kube-scheduler's: lines of
 * {"config": KubeSchedulerConfiguration or null, "objects": [...], "pods": [...]} on stdin, lines
 * of {"pods": {"NAMESPACE/NAME": EXPLANATION}, "preempted": {"node", "victims", "message"}} or
 * {"error": TEXT} on stdout. See sched/explain/explain.h for what an explanation is. Of a question
 * about one pod, "preempted" is what an attempt to place it does: the place it hopes for, who was
 * evicted, and the text where it has no node.
 */
#include "base/vec.h"
#include "sched/explain/explain.h"

#include <stdio.h>

enum { LINE_MAX_BYTES = 256 << 20 };

static int64_t wall_ms(void *arg)
{
    return 1790000000000;
}

/* What is asked for, until it is answered. */
struct asked {
    sched_api_done done;
    void *arg;
};
struct api {
    struct sched_api api;
    struct arena *a;
    struct json *victims, *node, *message;
    VEC(struct asked) asked;
};

static void on_call(struct sched_api *base, const struct sched_api_request *rq, sched_api_done done,
                    void *arg)
{
    struct api *api = container_of(base, struct api, api);
    struct asked asked = { done, arg };
    struct str name = rq->target;
    for (ptrdiff_t at; (at = str_find_char(name, '/')) >= 0;)
        name = str_slice(name, (size_t)at + 1, name.n);
    struct json *body = NULL;
    if (strcmp(rq->method, "DELETE") == 0)
        json_add(api->victims, json_new_str(api->a, name));
    if (strcmp(rq->method, "PATCH") == 0 &&
        json_parse(api->a, str_copy_arena(api->a, rq->body), NULL, &body, NULL) >= 0 &&
        json_path(body, "status", "nominatedNodeName", NULL))
        api->node =
            json_new_str(api->a, json_str(json_path(body, "status", "nominatedNodeName", NULL)));
    vec_push(&api->asked, asked);
}

static void on_decided(void *arg, const struct sched_pod *pod, const struct intern *node,
                       const struct sched_status *status)
{
    struct api *api = arg;
    if (!node)
        api->message = json_new_str(api->a, sched_status_message(api->a, status));
}

static void preempt(struct sched *s, struct api *api, struct buf *to)
{
    sched_synced(s);
    sched_lead(s, true);
    (void)sched_step(s, 0);
    for (size_t i = 0; i < api->asked.n; i++) {
        struct asked asked = api->asked.p[i];
        asked.done(asked.arg, 0, 200, STR("{}"), NULL);
        (void)sched_tick(s, 0);
    }
    api->asked.n = 0;
    (void)buf_add_cstr(to, ",\"preempted\":{\"node\":");
    (void)json_write(to, api->node);
    (void)buf_add_cstr(to, ",\"victims\":");
    (void)json_write(to, api->victims);
    (void)buf_add_cstr(to, ",\"message\":");
    (void)json_write(to, api->message);
    (void)buf_add_char(to, '}');
}

/* "NetworkPolicy": "networkpolicies". */
static void plural_of(struct str kind, char *ret, size_t size)
{
    const char *end = "s";
    if (str_has_suffix(kind, STR("y"))) {
        kind.n--;
        end = "ies";
    } else if (str_has_suffix(kind, STR("s"))) {
        end = "es";
    }
    (void)snprintf(ret, size, STR_FMT "%s", STR_ARG(kind), end);
}

static bool kind_of(const struct json *object, enum sched_kind *ret)
{
    char plural[64];
    plural_of(json_get_str(object, "kind"), plural, sizeof plural);
    struct str version = json_get_str(object, "apiVersion");
    for (int k = 0; k < SCHED_KIND_COUNT; k++) {
        *ret = (enum sched_kind)k;
        if (str_is(version, sched_kind_group_version(*ret)) &&
            str_ieq(str_of(plural), str_of(sched_kind_plural(*ret))))
            return true;
    }
    return false;
}

static int put(struct sched *s, const struct json *list, struct err *err)
{
    json_each (object, list) {
        enum sched_kind kind;
        if (!kind_of(object, &kind))
            return err_set(err, E_UNSUPPORTED, "kind '" STR_FMT "'",
                           STR_ARG(json_get_str(object, "kind")));
        int r = sched_put(s, kind, object, 0, err);
        if (r < 0)
            return err_ctx(err, r, STR_FMT,
                           STR_ARG(json_get_str(json_getc(object, "metadata"), "name")));
    }
    return 0;
}

static int answer(struct sched *s, const struct json *pods, struct buf *to, struct err *err)
{
    const char *between = "{\"pods\":{";
    (void)buf_add_cstr(to, json_first(pods) ? "" : between);
    json_each (pod, pods) {
        const struct json *meta = json_getc(pod, "metadata");
        struct str namespace = json_get_str(meta, "namespace"), name = json_get_str(meta, "name");
        scoped(explain_free_scoped) struct explain *e = explain_new();
        int r = sched_explain(s, namespace, name, 0, &explain_observer, e, err);
        if (r < 0)
            return r;
        (void)buf_printf(to, "%s\"" STR_FMT "/" STR_FMT "\":", between, STR_ARG(namespace),
                         STR_ARG(name));
        explain_write(e, to);
        between = ",";
    }
    (void)buf_add_char(to, '}');
    return 0;
}

static int ask(struct arena *a, struct str line, struct buf *to, struct err *err)
{
    struct json *question;
    int r = json_parse(a, line, NULL, &question, err);
    if (r < 0)
        return r;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20), warnings = BUF_INIT(1 << 20);
    const struct json *given = json_getc(question, "config");
    if (json_is(given, JSON_OBJECT))
        (void)json_write(&text, given);
    struct sched_config config;
    r = sched_config_read(a, buf_str(&text), &config, &warnings, err);
    if (r < 0)
        return r;
    struct api api = { .api = { .call = on_call },
                       .a = a,
                       .victims = json_new_array(a),
                       .node = json_new_cstr(a, ""),
                       .message = json_new_cstr(a, "") };
    static const struct sched_observer observer = { .decided = on_decided };
    struct sched_opts opts = { .config = &config,
                               .api = &api.api,
                               .seed = 1,
                               .wall_ms = wall_ms,
                               .observer = &observer,
                               .observer_arg = &api };
    scoped(sched_free_scoped) struct sched *s = NULL;
    r = sched_new(&opts, &s, err);
    if (r >= 0)
        r = put(s, json_getc(question, "objects"), err);
    if (r >= 0)
        r = put(s, json_getc(question, "pods"), err);
    const struct json *pods = json_getc(question, "pods");
    if (r >= 0)
        r = answer(s, pods, to, err);
    if (r >= 0 && pods->n == 1)
        preempt(s, &api, to);
    (void)buf_add_char(to, '}');
    sched_free(take_ptr(&s));
    vec_fini(&api.asked);
    return r;
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getline(&line, &cap, stdin)) > 0) {
        struct arena a = { 0 };
        struct err err = { 0 };
        scoped(buf_fini_scoped) struct buf to = BUF_INIT(LINE_MAX_BYTES);
        if (ask(&a, str_n(line, (size_t)n), &to, &err) < 0) {
            buf_reset(&to);
            (void)buf_add_cstr(&to, "{\"error\":");
            (void)json_write_str(&to, str_of(err_text(&err)));
            (void)buf_add_char(&to, '}');
        }
        (void)puts(buf_cstr(&to));
        (void)fflush(stdout);
        arena_fini(&a);
    }
    free(line);
    return 0;
}
