/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler of a process; see scheduling.h. */
#include "node/scheduling.h"

#include "base/log.h"
#include "base/sm.h"
#include "base/sys.h"
#include "base/vec.h"
#include "codec/json.h"
#include "codec/url.h"
#include "image/bdm_send.h"
#include "io/http.h"
#include "modules/module_artifact.h"
#include "modules/module_reference.h"
#include "node/orchestrator.h"
#include "sched/wasm/plugins.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_REST_MS = 200, /* delay after the last change before the file is read */
    CA_MAX_BYTES = 1 << 20,
    EXPLAIN_MAX_BYTES = 64 << 20,
};

/* A configuration, kept while the driver uses it. */
struct scheduling_version {
    struct arena arena;
    struct sched_config config;
    struct buf text;
};

/* A plugin that a tag in a registry names. */
struct followed_tag {
    struct scheduling *s;
    char *url;
    char manifest[OCI_DIGEST_TEXT_SIZE]; /* the loaded manifest, or one found since and refused */
    struct module_reference *look;
    bool is_away; /* the last lookup failed, and was logged */
};

/*
 * STARTING --the driver knows all objects--> READY --scheduling_stop()--> STOPPING
 *     \-------------------- scheduling_stop() ---------------------------/
 *
 * A scheduler that cannot work (`failed`) keeps its state until it is stopped.
 */
enum scheduling_state { SCHEDULING_STARTING, SCHEDULING_READY, SCHEDULING_STOPPING };
static const struct sm_state states[] = {
    [SCHEDULING_STARTING] = { "starting", EDGE(SCHEDULING_READY) | EDGE(SCHEDULING_STOPPING) },
    [SCHEDULING_READY] = { "ready", EDGE(SCHEDULING_STOPPING) },
    [SCHEDULING_STOPPING] = { "stopping", 0 },
};

/*
 * Reloads run one at a time:
 *
 *     NONE --> LOADING --the driver has answered--> NONE
 *                 |                                  ^
 *                 \--it changes meanwhile--> STALE --/ and the next one begins
 */
enum scheduling_reload_state { RELOAD_NONE, RELOAD_LOADING, RELOAD_STALE };
static const struct sm_state reload_states[] = {
    [RELOAD_NONE] = { "none", EDGE(RELOAD_LOADING) },
    [RELOAD_LOADING] = { "loading", EDGE(RELOAD_NONE) | EDGE(RELOAD_STALE) },
    [RELOAD_STALE] = { "stale", EDGE(RELOAD_NONE) },
};

struct scheduling {
    struct scheduling_opts opts;
    struct sm sm;     /* enum scheduling_state */
    struct sm reload; /* enum scheduling_reload_state */
    struct module_references *references;
    VEC(struct followed_tag *) tags; /* tags to look up */
    struct timer check;
    size_t n_looking;
    bool has_moved; /* one of the tags has moved */
    bool must_try;  /* the refused configuration names registries: a retry may succeed */
    struct sched_driver *driver;
    struct sched_registries image_registries;
    struct buf ca;
    struct orchestrator *orchestrator;     /* NULL: no plans are sent */
    struct scheduling_version *now, *next; /* next: set while a reload runs */
    bool has_sharers; /* several nodes share images: BREAK's plugins are the default */
    uint64_t refused; /* print_of() what was last refused; 0: none since the last success */
    bool leads;
    struct err failed;
    uv_fs_event_t events;
    bool has_events; /* `events` is initialised */
    struct timer rest;
    char id[128];
    void (*stopped)(void *arg);
    void *stopped_arg;
};

/* ---- configurations ---- */

static void version_free(struct scheduling_version *v)
{
    if (!v)
        return;
    arena_fini(&v->arena);
    buf_fini(&v->text);
    free(v);
}
DEFINE_SCOPED(scheduling_version, version_free)

static void log_warnings(struct str text)
{
    struct str line;
    char quoted[LOG_QUOTE_MAX];
    while (text.n) {
        (void)str_cut(text, '\n', &line, &text);
        log_warn("scheduler configuration", "field=\"%s\"", log_quote(quoted, line));
    }
}

static void override(const struct scheduling_leader *l, bool embedded, struct sched_config *c)
{
    if (l->elect >= 0)
        c->leader.on = l->elect > 0;
    if (embedded)
        c->leader.on = false;
    c->leader.lease_ms = l->lease_ms ? l->lease_ms : c->leader.lease_ms;
    c->leader.deadline_ms = l->deadline_ms ? l->deadline_ms : c->leader.deadline_ms;
    c->leader.retry_ms = l->retry_ms ? l->retry_ms : c->leader.retry_ms;
    if (l->name)
        c->leader.name = str_of(l->name);
    if (l->namespace)
        c->leader.namespace = str_of(l->namespace);
}

/*
 * Without a file, where several nodes report what they hold of images: BREAK's scores in place of
 * what the default plugins say about images and resources (docs/scheduler.md).
 */
static const char break_text[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles:\n"
    "- schedulerName: default-scheduler\n"
    "  plugins:\n"
    "    multiPoint:\n"
    "      enabled: [{name: BreakNetwork, weight: 1}, {name: BreakBalance, weight: 1},\n"
    "        {name: BreakLeastRequested, weight: 1}, {name: BreakLayerLocality, weight: 1},\n"
    "        {name: BreakDeployTime}]\n"
    "      disabled: [{name: ImageLocality}, {name: NodeResourcesBalancedAllocation}]\n"
    "    score:\n"
    "      disabled: [{name: NodeResourcesFit}, {name: BreakDeployTime}]\n";

static int read_file(const char *path, struct buf *to, struct err *err)
{
    int r = path ? sys_read_file(AT_FDCWD, path, to, err) : 0;
    /* An empty file is not the same as no file. */
    return r < 0 || !path || to->n ? r : buf_add_char(to, '\n');
}

/*
 * Hash of a configuration's text and of the plugin files that it names, as they are now. Never 0.
 */
static uint64_t print_of(struct str text)
{
    static const char mark[] = "file://";
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(2 * SCHED_CONFIG_MAX_BYTES);
    struct str rest = text;
    (void)buf_add_str(&b, text);
    for (const char *at; rest.n && (at = memmem(rest.p, rest.n, mark, sizeof mark - 1));) {
        size_t from = (size_t)(at - rest.p) + sizeof mark - 1, n = 0;
        while (from + n < rest.n && !strchr(" \t\r\n\"',}", rest.p[from + n]))
            n++;
        scoped(free_scoped) char *path = str_dup(str_slice(rest, from, from + n));
        struct stat st = { 0 };
        if (stat(path, &st) == 0)
            (void)buf_printf(&b, "\n%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                             (uint64_t)st.st_ino, (uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
                             (uint64_t)st.st_mtim.tv_nsec);
        rest = str_slice(rest, from + n, rest.n);
    }
    return str_hash(buf_str(&b), 1) | 1;
}

static uint64_t print_of_file(const struct scheduling *s)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(SCHED_CONFIG_MAX_BYTES + 1);
    int r = read_file(s->opts.config_file, &text, NULL);
    return print_of(r < 0 ? STR("") : buf_str(&text));
}

static int read_version(const struct scheduling *s, struct scheduling_version **ret,
                        struct err *err)
{
    const char *path = s->opts.config_file;
    scoped(buf_fini_scoped) struct buf warnings = BUF_INIT(4 * SCHED_CONFIG_MAX_BYTES);
    scoped(version_free_scoped) struct scheduling_version *v = xnew(struct scheduling_version);
    buf_init(&v->text, SCHED_CONFIG_MAX_BYTES + 1);
    int r = read_file(path, &v->text, err);
    if (r < 0)
        return r;
    if (!path && s->has_sharers)
        (void)buf_add_cstr(&v->text, break_text);
    r = sched_config_read(&v->arena, buf_str(&v->text), &v->config, &warnings, err);
    if (r < 0)
        return path ? err_ctx(err, r, "%s", path) : r;
    override(&s->opts.leader, s->opts.embedded, &v->config);
    if (v->config.leader.on && v->config.leader.lease_ms <= v->config.leader.deadline_ms)
        return err_set(err, E_INVALID,
                       "leader election: the lease has to be longer than the "
                       "renew deadline");
    log_warnings(buf_str(&warnings));
    *ret = take_ptr(&v);
    return 0;
}

/* ---- reloads ---- */

static void begin_reload(struct scheduling *s);
static void follow_tags(struct scheduling *s);
static void start_check(struct scheduling *s);

static bool is_stopping(const struct scheduling *s)
{
    return s->sm.at == SCHEDULING_STOPPING;
}

static bool names_registries(const struct scheduling_version *v)
{
    return str_find(buf_str(&v->text), STR(MODULE_ARTIFACT_SCHEME)) >= 0;
}

static void on_reloaded(void *arg, int r, const struct err *err)
{
    struct scheduling *s = arg;
    char why[LOG_QUOTE_MAX];
    bool is_stale = s->reload.at == RELOAD_STALE;
    assert(s->next);
    sm_move(&s->reload, RELOAD_NONE);
    if (r < 0) {
        log_error("scheduler configuration refused, the one before stays", "reason=\"%s\"",
                  log_quote(why, str_of(err_text(err))));
        s->refused = print_of(buf_str(&s->next->text));
        s->must_try = names_registries(s->next);
        version_free(take_ptr(&s->next));
        start_check(s);
    } else {
        s->refused = 0;
        s->must_try = false;
        log_info("scheduler configuration reloaded", "profiles=%zu", s->next->config.n_profiles);
        version_free(s->now);
        s->now = take_ptr(&s->next);
        if (!is_stopping(s))
            follow_tags(s);
    }
    if (is_stale && !is_stopping(s))
        begin_reload(s);
}

static bool same_leader(const struct sched_config *a, const struct sched_config *b)
{
    return a->leader.on == b->leader.on && a->leader.lease_ms == b->leader.lease_ms &&
           a->leader.deadline_ms == b->leader.deadline_ms &&
           a->leader.retry_ms == b->leader.retry_ms && str_eq(a->leader.name, b->leader.name) &&
           str_eq(a->leader.namespace, b->leader.namespace);
}

static void begin_reload(struct scheduling *s)
{
    struct err err = { 0 };
    char why[LOG_QUOTE_MAX];
    if (s->reload.at == RELOAD_LOADING)
        sm_move(&s->reload, RELOAD_STALE);
    if (s->reload.at == RELOAD_STALE || !s->driver || !s->now) /* now: the first is not read yet */
        return;
    assert(!s->next && s->sm.at != SCHEDULING_STOPPING);
    if (read_version(s, &s->next, &err) < 0) {
        log_error("scheduler configuration refused, the one before stays", "reason=\"%s\"",
                  log_quote(why, str_of(err_text(&err))));
        s->refused = print_of_file(s);
        return;
    }
    if (!same_leader(&s->now->config, &s->next->config))
        log_warn("scheduler configuration", "field=\"leaderElection: a change takes effect with "
                                            "the next start\"");
    sm_move(&s->reload, RELOAD_LOADING);
    sched_driver_reload(s->driver, &s->next->config, on_reloaded, s);
}

void scheduling_reload(struct scheduling *s)
{
    if (!is_stopping(s))
        begin_reload(s);
}

/* ---- the file ---- */

static void on_rest(struct timer *t)
{
    struct scheduling *s = container_of(t, struct scheduling, rest);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(SCHED_CONFIG_MAX_BYTES + 1);
    const struct scheduling_version *newest = s->next ? s->next : s->now;
    if (!s->next && s->refused) { /* do not load a refused configuration again until it changes */
        if (print_of_file(s) != s->refused)
            begin_reload(s);
        return;
    }
    if (read_file(s->opts.config_file, &text, NULL) < 0 ||
        !str_eq(buf_str(&text), buf_str(&newest->text)))
        begin_reload(s);
}

static void on_file_event(uv_fs_event_t *h, const char *name, int events, int status)
{
    struct scheduling *s = h->data;
    if (!is_stopping(s))
        timer_start(s->opts.loop, &s->rest, FILE_REST_MS, on_rest);
}

/* Watch the directory of the file: editors and kubelets replace the file by a rename. */
static int watch_file(struct scheduling *s, struct err *err)
{
    const char *path = s->opts.config_file, *slash = path ? strrchr(path, '/') : NULL;
    if (!path)
        return 0;
    scoped(free_scoped) char *dir =
        slash ? xstrndup(path, slash == path ? 1 : (size_t)(slash - path)) : xstrdup(".");
    (void)uv_fs_event_init(&s->opts.loop->uv, &s->events);
    s->events.data = s;
    s->has_events = true;
    int r = uv_fs_event_start(&s->events, on_file_event, dir, 0);
    uv_unref((uv_handle_t *)&s->events);
    return r < 0 ? err_sys(err, r, "watch directory '%s'", dir) : 0;
}

/* ---- plugins of registries ---- */

static void drop_tags(struct scheduling *s)
{
    vec_each (tag, &s->tags) {
        module_reference_cancel((*tag)->look);
        free((*tag)->url);
        free(*tag);
    }
    vec_fini(&s->tags);
    s->n_looking = 0;
    s->has_moved = false;
}

static void on_all_looked(struct scheduling *s)
{
    bool has_moved = s->has_moved;
    s->has_moved = false;
    start_check(s);
    if (has_moved || s->must_try)
        begin_reload(s);
}

static void on_looked(void *arg, int r, const struct module_pin *pin, struct str none,
                      const struct err *err)
{
    struct followed_tag *tag = arg;
    struct scheduling *s = tag->s;
    char why[LOG_QUOTE_MAX];
    assert(s->n_looking > 0);
    tag->look = NULL;
    if (r < 0 && !tag->is_away)
        log_warn("a scheduler plugin's tag cannot be looked for, the plugin stays",
                 "url=%s reason=\"%s\"", tag->url, log_quote(why, str_of(err_text(err))));
    tag->is_away = r < 0;
    if (pin && strcmp(tag->manifest, pin->manifest) != 0) {
        log_info("a scheduler plugin's tag has moved", "url=%s from=%s to=%s", tag->url,
                 tag->manifest, pin->manifest);
        memcpy(tag->manifest, pin->manifest, sizeof tag->manifest);
        s->has_moved = true;
    }
    if (--s->n_looking == 0)
        on_all_looked(s);
}

static void on_check(struct timer *t)
{
    struct scheduling *s = container_of(t, struct scheduling, check);
    struct err err = { 0 };
    s->n_looking = 1; /* a guard until all lookups have been started */
    vec_each (tag, &s->tags) {
        if (module_reference_look(s->references, (*tag)->url, on_looked, *tag, &(*tag)->look,
                                  &err) >= 0)
            s->n_looking++;
        else
            log_warn("a scheduler plugin's tag cannot be looked for", "url=%s reason=\"%s\"",
                     (*tag)->url, err_text(&err));
    }
    if (--s->n_looking == 0)
        on_all_looked(s);
}

/* Without a plugin named by a tag, there are no lookups and no timer. */
static void start_check(struct scheduling *s)
{
    if (s->opts.check_ms && (s->tags.n || s->must_try) && !is_stopping(s) && !s->n_looking)
        timer_start(s->opts.loop, &s->check, s->opts.check_ms, on_check);
}

static bool is_followed(struct scheduling *s, struct str url)
{
    vec_each (tag, &s->tags)
        if (str_is(url, (*tag)->url))
            return true;
    return false;
}

/* Collect the tags of the plugins that were just loaded. */
static void follow_tags(struct scheduling *s)
{
    const struct wplugins *plugins = sched_driver_plugins(s->driver);
    drop_tags(s);
    timer_stop(s->opts.loop, &s->check);
    for (size_t i = 0; plugins && i < wplugins_count(plugins); i++) {
        struct wplugins_item p;
        wplugins_get(plugins, i, &p);
        if (!p.origin.manifest[0])
            continue;
        log_info("scheduler plugin of a registry",
                 "plugin=%s url=" STR_FMT " manifest=%s sha256=%s", p.name, STR_ARG(p.origin.url),
                 p.origin.manifest, p.origin.sha256);
        scoped(free_scoped) char *url = str_dup(p.origin.url);
        if (!module_reference_may_move(url) || is_followed(s, p.origin.url))
            continue;
        struct followed_tag *tag = xnew(struct followed_tag);
        tag->s = s;
        tag->url = take_ptr(&url);
        (void)snprintf(tag->manifest, sizeof tag->manifest, "%s", p.origin.manifest);
        vec_push(&s->tags, tag);
    }
    start_check(s);
}

/* ---- the driver ---- */

static void on_ready(void *arg)
{
    struct scheduling *s = arg;
    sm_move(&s->sm, SCHEDULING_READY);
    if (s->opts.on_ready)
        s->opts.on_ready(s->opts.arg, 0, NULL);
}

static void on_plugins(void *arg)
{
    follow_tags(arg);
}

static void on_leads(void *arg, bool leads)
{
    ((struct scheduling *)arg)->leads = leads;
}

static void on_failed(void *arg, const struct err *err)
{
    struct scheduling *s = arg;
    char why[LOG_QUOTE_MAX];
    s->failed = *err;
    if (s->opts.on_ready && s->sm.at == SCHEDULING_STARTING)
        s->opts.on_ready(s->opts.arg, err->code ? err->code : E_INVALID, err);
    else
        log_error("the scheduler cannot work", "reason=\"%s\"",
                  log_quote(why, str_of(err_text(err))));
}

/* The defaults: they do not disturb users without pods. */
static const struct sched_config *config_later(void *arg)
{
    struct scheduling *s = arg;
    struct err err = { 0 };
    int r = read_version(s, &s->now, &err);
    assert(r >= 0);
    return &s->now->config;
}

/* In process, where no kubeconfig provides an identity. */
static const struct kube_identity embedded_identity = {
    .user = { "system:kube-scheduler", sizeof("system:kube-scheduler") - 1 },
};

static void on_bound(void *arg, const struct sched_bound *b)
{
    struct scheduling *s = arg;
    orchestrator_bound(s->orchestrator, b);
}

static int start_driver(struct scheduling *s, struct err *err)
{
    struct sched_driver_opts opts = {
        .loop = s->opts.loop,
        .transport = s->opts.transport,
        .hub = s->opts.hub,
        .modules = s->opts.modules,
        .references = s->references,
        .registries = &s->image_registries,
        .identity = s->opts.embedded ? &embedded_identity : NULL,
        .config = s->now ? &s->now->config : NULL,
        .config_later = config_later,
        .id = s->id,
        .eager = !s->opts.embedded,
        .seed = s->opts.seed,
        .on_ready = on_ready,
        .on_leads = on_leads,
        .on_plugins = on_plugins,
        .on_bound = s->orchestrator ? on_bound : NULL,
        .on_failed = on_failed,
        .arg = s,
    };
    s->leads = !s->now || !s->now->config.leader.on;
    return sched_driver_start(&opts, &s->driver, err);
}

static int read_registries(struct scheduling *s, struct err *err)
{
    const struct scheduling_opts *o = &s->opts;
    const char *ca_file = o->registries.ca_file;
    s->image_registries = (struct sched_registries){ .hosts = o->image_hosts,
                                                     .plain_hosts = o->registries.plain_hosts,
                                                     .n_plain_hosts = o->registries.n_plain_hosts };
    int r = module_hosts_check(&o->image_hosts, err);
    if (r < 0)
        return err_ctx(err, r, "--image-registry");
    r = ca_file ? sys_read_file(AT_FDCWD, ca_file, &s->ca, err) : 0;
    s->image_registries.ca_pem = buf_str(&s->ca);
    return r;
}

static int ask_image(void *arg, struct str image, sched_image_cb cb, void *cb_arg, struct err *err)
{
    struct scheduling *s = arg;
    return sched_driver_ask_image(s->driver, image, cb, cb_arg, err);
}

static void on_image_nodes(void *arg, size_t n)
{
    struct scheduling *s = arg;
    bool has_sharers = n >= SCHEDULING_SHARERS_MIN;
    if (s->opts.config_file || has_sharers == s->has_sharers || is_stopping(s))
        return;
    s->has_sharers = has_sharers;
    log_info(has_sharers ? "nodes report their images: pods get nodes by BREAK's scores"
                         : "pods get nodes by the default scores",
             "nodes=%zu", n);
    begin_reload(s);
}

static int start_orchestrator(struct scheduling *s, struct err *err)
{
    const struct scheduling_plans *p = &s->opts.plans;
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(IMAGE_BDM_KEY_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf ca = BUF_INIT(CA_MAX_BYTES);
    if (!p->key_file && !p->key.n)
        return 0;
    int r = p->key_file ? image_bdm_key_read(p->key_file, &key, err) : buf_add_str(&key, p->key);
    if (r >= 0 && p->peer_ca)
        r = sys_read_file(AT_FDCWD, p->peer_ca, &ca, err);
    if (r < 0)
        return err_ctx(err, r, "--send-plans");
    const struct orchestrator_opts o = { .loop = s->opts.loop,
                                         .transport = s->opts.transport,
                                         .hub = s->opts.hub,
                                         .identity = s->opts.embedded ? &embedded_identity : NULL,
                                         .key = buf_str(&key),
                                         .ca_pem = buf_str(&ca),
                                         .networks = p->networks,
                                         .deadline_ms = p->deadline_ms,
                                         .is_push = p->is_push,
                                         .prefetch_ms = p->prefetch_ms,
                                         .ask = ask_image,
                                         .on_nodes = on_image_nodes,
                                         .arg = s };
    s->orchestrator = orchestrator_new(&o);
    return 0;
}

static int start(struct scheduling *s, struct err *err)
{
    scoped(free_scoped) char *plugins = xasprintf("%s/plugins", s->opts.data_dir);
    const struct module_references_opts references = { .loop = s->opts.loop,
                                                       .dir = plugins,
                                                       .site = s->opts.registries };
    bool later = s->opts.embedded && !s->opts.config_file;
    s->references = module_references_new(&references);
    int r = later ? 0 : read_version(s, &s->now, err);
    r = r < 0 ? r : read_registries(s, err);
    r = r < 0 ? r : start_orchestrator(s, err);
    r = r < 0 ? r : start_driver(s, err);
    if (r >= 0 && s->orchestrator && !s->opts.config_file)
        orchestrator_watch(s->orchestrator);
    return r < 0 ? r : watch_file(s, err);
}

int scheduling_start(const struct scheduling_opts *opts, struct scheduling **ret, struct err *err)
{
    char host[64] = "dormouse", uuid[37];
    struct scheduling *s = xnew(struct scheduling);
    s->opts = *opts;
    sm_init(&s->sm, states, SCHEDULING_STARTING);
    sm_init(&s->reload, reload_states, RELOAD_NONE);
    buf_init(&s->ca, CA_MAX_BYTES);
    (void)gethostname(host, sizeof host - 1);
    sys_uuid(uuid);
    (void)snprintf(s->id, sizeof s->id, "%s_%s", host, uuid);
    int r = start(s, err);
    *ret = s;
    return r;
}

/* ---- the end ---- */

static void on_all_gone(struct scheduling *s)
{
    void (*done)(void *arg) = s->stopped;
    void *arg = s->stopped_arg;
    version_free(s->now);
    version_free(s->next);
    module_references_free(s->references);
    buf_fini(&s->ca);
    free(s);
    if (done)
        done(arg);
}

static void on_file_closed(uv_handle_t *h)
{
    on_all_gone(h->data);
}

static void close_file(void *arg)
{
    struct scheduling *s = arg;
    if (s->has_events)
        uv_close((uv_handle_t *)&s->events, on_file_closed);
    else
        on_all_gone(s);
}

static void close_orchestrator(void *arg)
{
    struct scheduling *s = arg;
    orchestrator_close(take_ptr(&s->orchestrator));
    close_file(s);
}

void scheduling_stop(struct scheduling *s, void (*done)(void *arg), void *arg)
{
    sm_move(&s->sm, SCHEDULING_STOPPING);
    s->stopped = done;
    s->stopped_arg = arg;
    timer_stop(s->opts.loop, &s->rest);
    timer_stop(s->opts.loop, &s->check);
    drop_tags(s);
    if (s->driver)
        sched_driver_stop(take_ptr(&s->driver), close_orchestrator, s);
    else
        close_orchestrator(s);
}

/* ---- status and metrics ---- */

const char *scheduling_not_ready(const struct scheduling *s)
{
    if (s->failed.code)
        return "the scheduler cannot work; the log says why";
    return s->sm.at == SCHEDULING_READY || s->opts.embedded
               ? NULL
               : "the scheduler does not know all objects yet";
}

static struct str profile_of(const struct scheduling *s, size_t i)
{
    return s->now && i < s->now->config.n_profiles ? s->now->config.profiles[i].scheduler_name
                                                   : STR("");
}

/*
 * JSON escapes the same characters as Prometheus, in the same way; names and references contain no
 * others.
 */
static void add_plugin_metrics(const struct scheduling *s, const struct wplugins *plugins,
                               struct buf *to)
{
    (void)buf_add_cstr(to,
                       "# HELP scheduler_plugin_info Wasm plugins of profiles and the digests of "
                       "their modules.\n# TYPE scheduler_plugin_info gauge\n");
    for (size_t i = 0; i < wplugins_count(plugins); i++) {
        struct wplugins_item p;
        wplugins_get(plugins, i, &p);
        (void)buf_add_cstr(to, "scheduler_plugin_info{profile=");
        json_write_str(to, profile_of(s, p.profile));
        (void)buf_add_cstr(to, ",plugin=");
        json_write_str(to, str_of(p.name));
        (void)buf_add_cstr(to, ",url=");
        json_write_str(to, p.origin.url);
        (void)buf_printf(to, ",manifest=\"%s\",sha256=\"%s\"} 1\n", p.origin.manifest,
                         p.origin.sha256);
    }
}

void scheduling_metrics(struct scheduling *s, struct buf *to)
{
    const struct wplugins *plugins = s->driver ? sched_driver_plugins(s->driver) : NULL;
    if (s->driver)
        sched_driver_metrics(s->driver, to);
    if (s->orchestrator)
        orchestrator_metrics(s->orchestrator, to);
    if (plugins && wplugins_count(plugins))
        add_plugin_metrics(s, plugins, to);
}

static void add_plugins(const struct scheduling *s, struct buf *to)
{
    const struct wplugins *plugins = s->driver ? sched_driver_plugins(s->driver) : NULL;
    (void)buf_add_cstr(to, ",\"plugins\":[");
    for (size_t i = 0; plugins && i < wplugins_count(plugins); i++) {
        struct wplugins_item p;
        wplugins_get(plugins, i, &p);
        (void)buf_add_cstr(to, i ? ",{\"profile\":" : "{\"profile\":");
        json_write_str(to, profile_of(s, p.profile));
        (void)buf_add_cstr(to, ",\"name\":");
        json_write_str(to, str_of(p.name));
        (void)buf_add_cstr(to, ",\"url\":");
        json_write_str(to, p.origin.url);
        (void)buf_printf(to, ",\"manifest\":\"%s\",\"sha256\":\"%s\"}", p.origin.manifest,
                         p.origin.sha256);
    }
    (void)buf_add_char(to, ']');
}

void scheduling_status(struct scheduling *s, struct buf *to)
{
    struct sched_stats n = { 0 };
    if (s->driver)
        sched_driver_stats(s->driver, &n);
    (void)buf_printf(
        to,
        "\"scheduler\":{\"ready\":%s,\"leads\":%s,\"nodes\":%zu,\"pods\":%zu,\"active\":%zu,"
        "\"backoff\":%zu,\"unschedulable\":%zu,\"gated\":%zu,\"binding\":%zu,\"attempts\":%llu,"
        "\"scheduled\":%llu,\"errors\":%llu,\"preemptions\":%llu",
        s->sm.at == SCHEDULING_READY ? "true" : "false", s->leads ? "true" : "false", n.nodes,
        n.pods, n.queue.active, n.queue.backoff, n.queue.unschedulable, n.queue.gated, n.binding,
        (unsigned long long)n.attempts, (unsigned long long)n.scheduled,
        (unsigned long long)n.errors, (unsigned long long)n.preemptions);
    add_plugins(s, to);
    (void)buf_add_char(to, '}');
}

/* A query that waits for the scheduler's thread; the client may disconnect meanwhile. */
struct scheduling_question {
    struct scheduling *s;
    struct http_exchange *x; /* NULL: disconnected */
    bool is_answered;
};

static void on_asker_gone(struct http_exchange *x, int r)
{
    struct scheduling_question *q = http_exchange_data(x);
    q->x = NULL;
    if (q->is_answered)
        free(q);
}

/* The scheduler's text, with a member "plans" if plans are sent. */
static struct str with_plans(const struct scheduling *s, struct str text, struct buf *to)
{
    struct arena a = { 0 };
    struct json *v;
    scoped(buf_fini_scoped) struct buf plans = BUF_INIT(EXPLAIN_MAX_BYTES);
    if (s->orchestrator && text.n && json_parse(&a, text, NULL, &v, NULL) >= 0) {
        orchestrator_explain(s->orchestrator, json_get_str(v, "namespace"), json_get_str(v, "name"),
                             &plans);
        (void)buf_add_str(to, str_slice(text, 0, text.n - 1));
        (void)buf_printf(to, ",\"plans\":" STR_FMT "}", STR_ARG(buf_str(&plans)));
    }
    arena_fini(&a);
    return to->n && buf_ok(to) ? buf_str(to) : text;
}

static void on_explained(void *arg, int r, struct str text, const struct err *err)
{
    struct scheduling_question *q = arg;
    struct headers h = { 0 };
    scoped(buf_fini_scoped) struct buf whole = BUF_INIT(EXPLAIN_MAX_BYTES);
    q->is_answered = true;
    if (!q->x) {
        free(q);
        return;
    }
    (void)headers_addc(&h, "content-type", r < 0 ? "text/plain" : "application/json");
    if (r == -EAGAIN)
        http_reply(q->x, 404, &h, STR("the scheduler sleeps: no pod of its waits for a node"));
    else if (r < 0)
        http_reply(q->x, r == -ENOENT ? 404 : 503, &h, str_of(err_text(err)));
    else
        http_reply(q->x, 200, &h, with_plans(q->s, text, &whole));
    headers_fini(&h);
}

void scheduling_explain(struct scheduling *s, const struct url_target *target,
                        struct http_exchange *x)
{
    static const struct http_exchange_ops ops = { .on_gone = on_asker_gone };
    struct str namespace = url_query_get(target, "namespace"), name = url_query_get(target, "name");
    if (!s->driver || !namespace.n || !name.n) {
        http_reply(x, 400, NULL, STR("namespace and name of a pod are missing"));
        return;
    }
    struct scheduling_question *q = xnew(struct scheduling_question);
    q->s = s;
    q->x = x;
    http_exchange_set(x, &ops, q);
    sched_driver_explain(s->driver, namespace, name, on_explained, q);
}
