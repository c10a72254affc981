/* SPDX-License-Identifier: Apache-2.0 */
/* The Wasm plugins of a configuration; see plugins.h. */
#include "sched/wasm/plugins.h"

#include "sched/wasm/plugins_impl.h"

#include <string.h>

/* ---- the end ---- */

static void free_set(struct wplugins *w)
{
    for (size_t i = 0; i < w->n; i++) {
        struct wentry *e = &w->entries[i];
        wplugin_free(e->guest);
        wlister_fini(&e->lister);
        arena_fini(&e->scratch);
        buf_fini(&e->error);
        free(e->events);
        free(e->name);
    }
    free(w->entries);
    loop_release(w->loop);
    free(w);
}

static void on_unused(struct post *p)
{
    free_set(container_of(p, struct wplugins, post));
}

void wplugins_unref(struct wplugins *w)
{
    if (atomic_fetch_sub(&w->refs, 1) != 1)
        return;
    w->post.run = on_unused;
    loop_post(w->loop, &w->post);
}

void wplugins_release(struct wplugins *w)
{
    if (w)
        wplugins_unref(w);
}

/* ---- plugins of a profile ---- */

static void guest_destroy(struct sched_plugin *p)
{
    struct wguest *g = container_of(p, struct wguest, plugin);
    g->entry->lister.framework = NULL;
    wplugins_unref(g->entry->set);
    free(g);
}

static int guest_create(const struct sched_plugin_env *env, struct sched_plugin **ret,
                        struct err *err)
{
    (void)err;
    struct wguest *g = xnew(struct wguest);
    g->entry = container_of(env->ops, struct wentry, ops);
    g->entry->lister.framework = env->framework;
    atomic_fetch_add(&g->entry->set->refs, 1);
    *ret = &g->plugin;
    return 0;
}

static const struct sched_event_reg *guest_events(struct sched_plugin *p, size_t *ret_n)
{
    const struct wentry *e = container_of(p, struct wguest, plugin)->entry;
    *ret_n = e->n_events;
    return e->events;
}

static const struct sched_plugin_ops *find(void *arg, size_t profile, struct str name)
{
    struct wplugins *w = arg;
    for (size_t i = 0; i < w->n; i++)
        if (w->entries[i].profile == profile && str_is(name, w->entries[i].name))
            return &w->entries[i].ops;
    return NULL;
}

/* ---- events ---- */

static bool resource_of(struct str name, enum sched_resource *ret)
{
    for (unsigned i = 0; i < SCHED_RESOURCE_COUNT; i++)
        if (str_is(name, sched_resource_name((enum sched_resource)i))) {
            *ret = (enum sched_resource)i;
            return true;
        }
    return false;
}

/*
 * Events of unknown resources never occur and are left out. Runs on a pool thread: it may take as
 * long as a call.
 */
static void ask_events(struct job *j)
{
    struct wentry *e = container_of(j, struct wentry, job);
    struct arena a = { 0 };
    struct wplugin_result res;
    const struct wplugin_input in = { .key = STR("") };
    wplugin_call(e->guest, WPLUGIN_HOOK_ENQUEUE, &in, &a, &res);
    if (res.has_failed) {
        (void)buf_add_str(&e->error, res.message);
        arena_fini(&a);
        return;
    }
    bool has_hint = wplugin_has(e->guest, WPLUGIN_HOOK_QUEUEINGHINT);
    unsigned actions[SCHED_RESOURCE_COUNT] = { 0 };
    enum sched_resource resource;
    for (size_t i = 0; i < res.n_events; i++)
        if (resource_of(res.events[i].resource, &resource))
            actions[resource] |= sched_actions_of_upstream(res.events[i].actions);
    e->events = xnew_n(struct sched_event_reg, SCHED_RESOURCE_COUNT);
    for (unsigned i = 0; i < SCHED_RESOURCE_COUNT; i++)
        if (actions[i])
            e->events[e->n_events++] =
                (struct sched_event_reg){ .resource = (enum sched_resource)i,
                                          .actions = actions[i],
                                          .hint = has_hint ? wcycle_hint : NULL };
    wplugin_end(e->guest, STR(""));
    arena_fini(&a);
}

/* ---- loading ---- */

/* Reports the first plugin, in the order of the configuration, that cannot be loaded. */
static void finish(struct wplugins *w)
{
    struct err err = { 0 };
    for (size_t i = 0; i < w->n && !err.code; i++)
        if (w->entries[i].error.n > 0)
            (void)err_set(&err, E_INVALID, "initializing plugin \"%s\": " STR_FMT,
                          w->entries[i].name, STR_ARG(buf_str(&w->entries[i].error)));
    if (!err.code) {
        w->cb(w, NULL, w->arg);
        return;
    }
    w->cb(NULL, &err, w->arg);
    wplugins_unref(w);
}

static void loaded_one(struct wplugins *w)
{
    if (--w->n_loading == 0)
        finish(w);
}

static void on_events(struct job *j, int r)
{
    struct wentry *e = container_of(j, struct wentry, job);
    (void)r; /* it is never cancelled */
    if (e->error.n == 0) {
        wcycle_fill_ops(e);
        e->ops.create = guest_create;
        e->ops.destroy = guest_destroy;
        e->ops.events = guest_events;
    }
    loaded_one(e->set);
}

static void on_loaded(struct wplugin *p, struct str error, void *arg)
{
    struct wentry *e = arg;
    e->guest = p;
    e->job = (struct job){ .work = ask_events, .done = on_events };
    if (!p)
        (void)buf_add_str(&e->error, error);
    else if (job_start(e->set->loop, &e->job) >= 0)
        return;
    else
        (void)buf_add_cstr(&e->error, "no thread");
    loaded_one(e->set);
}

static void on_all_begun(struct post *p)
{
    loaded_one(container_of(p, struct wplugins, post));
}

static void load_one(struct wplugins *w, struct wentry *e, const struct wplugin_entry *from,
                     bool deterministic)
{
    struct arena a = { 0 };
    struct wplugin_config c = { 0 };
    e->error = BUF_INIT(BUF_MAX_DEFAULT);
    e->set = w;
    e->name = str_dup(from->name);
    e->profile = from->profile;
    e->ops.name = e->name;
    wlister_init(&e->lister);
    if (wplugin_config_read(&a, from->name, from->args, &c, &e->error) >= 0) {
        c.deterministic = deterministic;
        c.handle = &wcycle_handle;
        c.handle_arg = e;
        w->n_loading++;
        wplugin_load(w->host, &c, on_loaded, e);
    }
    arena_fini(&a);
}

static bool is_native(struct str name)
{
    return sched_native_plugin(name) != NULL;
}

void wplugins_load(struct wplugin_host *host, struct loop *loop, const struct sched_config *config,
                   bool deterministic, wplugins_cb cb, void *arg)
{
    struct arena a = { 0 };
    const struct wplugin_entry *found = NULL;
    struct wplugins *w = xnew(struct wplugins);
    *w = (struct wplugins){ .loop = loop,
                            .host = host,
                            .refs = 1,
                            .foreign = { .find = find, .arg = w },
                            .attempt_ms = WPLUGINS_ATTEMPT_MS,
                            .cb = cb,
                            .arg = arg,
                            .n_loading = 1,
                            .post = { .run = on_all_begun } };
    loop_hold(loop);
    w->n = config->tree ? wplugin_find(&a, config->tree, is_native, &found) : 0;
    w->foreign.encode = w->n ? wlister_encode : NULL;
    w->entries = xnew_n(struct wentry, w->n ? w->n : 1);
    for (size_t i = 0; i < w->n; i++)
        load_one(w, &w->entries[i], &found[i], deterministic);
    arena_fini(&a);
    loop_post(loop, &w->post);
}

size_t wplugins_count(const struct wplugins *w)
{
    return w->n;
}

void wplugins_get(const struct wplugins *w, size_t i, struct wplugins_item *ret)
{
    const struct wentry *e = &w->entries[i];
    *ret = (struct wplugins_item){ .profile = e->profile, .name = e->name };
    wplugin_get_origin(e->guest, &ret->origin);
}

void wplugins_limit_attempts(struct wplugins *w, unsigned ms)
{
    w->attempt_ms = ms;
    for (size_t i = 0; i < w->n; i++)
        w->entries[i].rest = w->entries[i].hint_rest = (struct wrest){ 0 };
}

const struct sched_foreign *wplugins_foreign(const struct wplugins *w)
{
    return &w->foreign;
}
