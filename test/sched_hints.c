/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What our plugins say to events, as test/upstream/schedplugins says what kube-scheduler's do:
 * lines of {"config", "objects", "pods", "events": [{"before": OBJECT or null, "after"}...]} on
 * stdin, lines of {"NAMESPACE/NAME": [{PLUGIN: "queue" or "skip"}...]} on stdout: for each pod and
 * event the plugins that registered it.
 */
#include "base/vec.h"
#include "sched/config/config.h"
#include "sched/framework/profile.h"

#include <stdio.h>

struct world {
    struct arena *a;
    struct intern_table *words;
    struct sched_cache *cache;
    struct sched_profile profile;
    VEC(struct sched_object *) read;
};

static int64_t wall_ms(void *arg)
{
    return 1790000000000;
}
static uint64_t now_ms(void *arg)
{
    return 1000;
}
static uint64_t no_random(void *arg)
{
    return 4;
}

/* "NetworkPolicy": "networkpolicies". */
static bool kind_of(const struct json *object, enum sched_kind *ret)
{
    struct str kind = json_get_str(object, "kind"), version = json_get_str(object, "apiVersion");
    char plural[64];
    const char *end = str_has_suffix(kind, STR("y"))   ? "ies"
                      : str_has_suffix(kind, STR("s")) ? "es"
                                                       : "s";
    (void)snprintf(plural, sizeof plural, STR_FMT "%s",
                   STR_ARG(str_slice(kind, 0, kind.n - (*end == 'i'))), end);
    for (int k = 0; k < SCHED_KIND_COUNT; k++) {
        *ret = (enum sched_kind)k;
        if (str_is(version, sched_kind_group_version(*ret)) &&
            str_ieq(str_of(plural), str_of(sched_kind_plural(*ret))))
            return true;
    }
    return false;
}

/* NULL: there is none. Kept until the world ends. */
static struct sched_object *read_object(struct world *w, const struct json *json)
{
    struct err err = { 0 };
    enum sched_kind kind;
    struct sched_object *o;
    if (!json_is(json, JSON_OBJECT))
        return NULL;
    if (!kind_of(json, &kind) || sched_object_read(w->words, kind, json, false, &o, &err) < 0) {
        (void)fprintf(stderr, STR_FMT ": %s\n", STR_ARG(json_get_str(json, "kind")), err.text);
        exit(1);
    }
    vec_push(&w->read, o);
    return o;
}

static enum sched_resource resource_of(const struct sched_object *o)
{
    static const enum sched_resource of[SCHED_KIND_COUNT] = {
        [SCHED_NODE] = SCHED_ON_NODE,
        [SCHED_PV] = SCHED_ON_PERSISTENT_VOLUME,
        [SCHED_PVC] = SCHED_ON_PERSISTENT_VOLUME_CLAIM,
        [SCHED_STORAGE_CLASS] = SCHED_ON_STORAGE_CLASS,
        [SCHED_CSI_NODE] = SCHED_ON_CSI_NODE,
        [SCHED_CSI_DRIVER] = SCHED_ON_CSI_DRIVER,
        [SCHED_CSI_CAPACITY] = SCHED_ON_CSI_STORAGE_CAPACITY,
        [SCHED_VOLUME_ATTACHMENT] = SCHED_ON_VOLUME_ATTACHMENT,
    };
    if (o->kind == SCHED_POD)
        return sched_pod_of(o)->node_name ? SCHED_ON_ASSIGNED_POD : SCHED_ON_UNSCHEDULED_POD;
    return of[o->kind];
}

static struct sched_event event_of(struct world *w, const struct json *json)
{
    struct sched_object *before = read_object(w, json_getc(json, "before"));
    struct sched_object *after = read_object(w, json_getc(json, "after"));
    struct sched_event e = { resource_of(after ? after : before), SCHED_UPDATE, before, after };
    if (!before)
        e.actions = SCHED_ADD;
    else if (!after)
        e.actions = SCHED_DELETE;
    else if (after->kind == SCHED_NODE)
        e.actions = sched_node_changes(before, after);
    else if (after->kind == SCHED_POD)
        e.actions = sched_pod_changes(before, after);
    return e;
}

/* NULL: it has not registered that. */
static const char *ask(struct sched_plugin *p, const struct sched_pod *pod,
                       const struct sched_event *event)
{
    size_t n = 0;
    const struct sched_event_reg *regs = p->ops->events ? p->ops->events(p, &n) : NULL;
    const char *ret = NULL;
    for (size_t i = 0; i < n; i++) {
        if (event->actions == 0 || !sched_event_matches(&regs[i], event))
            continue;
        if (!regs[i].hint || regs[i].hint(p, pod, event) == SCHED_HINT_QUEUE)
            return "queue";
        ret = "skip";
    }
    return ret;
}

static struct json *hints_of(struct world *w, const struct sched_pod *pod,
                             const struct sched_event *events, size_t n)
{
    struct json *list = json_new_array(w->a);
    for (size_t i = 0; i < n; i++) {
        struct json *of = json_new_object(w->a);
        for (unsigned k = 0; k < w->profile.n_plugins; k++) {
            const char *hint = ask(w->profile.plugins[k], pod, &events[i]);
            if (hint)
                json_set(w->a, of, w->profile.plugins[k]->name, json_new_cstr(w->a, hint));
        }
        json_add(list, of);
    }
    return list;
}

static int fill(struct world *w, const struct json *question, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20), warnings = BUF_INIT(1 << 20);
    const struct json *given = json_getc(question, "config");
    struct sched_config config;
    if (json_is(given, JSON_OBJECT))
        (void)json_write(&text, given);
    int r = sched_config_read(w->a, buf_str(&text), &config, &warnings, err);
    if (r < 0)
        return r;
    w->profile.framework = (struct sched_framework){ .words = w->words,
                                                     .cache = w->cache,
                                                     .wall_ms = wall_ms,
                                                     .now_ms = now_ms,
                                                     .random = no_random };
    json_each (object, json_getc(question, "objects")) {
        r = sched_cache_put(w->cache, read_object(w, object), NULL, err);
        if (r < 0)
            return r;
    }
    return sched_profile_init(&w->profile, &config.profiles[0], 0, NULL, err);
}

static int answer(struct world *w, struct str line, struct buf *to, struct err *err)
{
    struct json *question, *all = json_new_object(w->a);
    int r = json_parse(w->a, line, NULL, &question, err);
    if (r >= 0)
        r = fill(w, question, err);
    if (r < 0)
        return r;
    const struct json *list = json_getc(question, "events");
    struct sched_event *events = arena_new_n(w->a, struct sched_event, list ? list->n : 0);
    size_t n = 0;
    json_each (e, list)
        events[n++] = event_of(w, e);
    json_each (json, json_getc(question, "pods")) {
        const struct sched_pod *pod = sched_pod_of(read_object(w, json));
        json_set(w->a, all, sched_object_key(&pod->o), hints_of(w, pod, events, n));
    }
    return json_write(to, all);
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getline(&line, &cap, stdin)) > 0) {
        struct arena a = { 0 };
        struct err err = { 0 };
        struct world w = { .a = &a, .words = intern_table_new() };
        scoped(buf_fini_scoped) struct buf to = BUF_INIT(BUF_MAX_DEFAULT);
        w.cache = sched_cache_new(w.words);
        if (answer(&w, str_n(line, (size_t)n), &to, &err) < 0) {
            buf_reset(&to);
            (void)buf_add_cstr(&to, "{\"error\":");
            (void)json_write_str(&to, str_of(err_text(&err)));
            (void)buf_add_char(&to, '}');
        }
        (void)puts(buf_cstr(&to));
        sched_profile_fini(&w.profile);
        for (size_t i = 0; i < w.read.n; i++)
            sched_object_unref(w.words, w.read.p[i]);
        vec_fini(&w.read);
        sched_cache_free(w.cache);
        intern_table_free(w.words);
        arena_fini(&a);
    }
    free(line);
    return 0;
}
