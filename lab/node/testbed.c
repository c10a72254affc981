/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster under a virtual clock; see testbed.h. */
#include "lab/node/testbed.h"

#include "api/server.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/watch_hub.h"
#include "codec/json.h"
#include "codec/url.h"
#include "guest/module.h"
#include "guest/runner_pool.h"
#include "lab/node/host_rest.h"
#include "node/cluster.h"
#include "node/host.h"
#include "operator/discovery.h"
#include "operator/host/objects.h"

#include <errno.h>

enum { REST_TURNS = 3, TICK_MS = 20, STOP_GRACE_MS = 1000 };

struct testbed_fault {
    struct list node;
    char *method, *path;
    int status;
    uint64_t left;
};

struct testbed {
    struct loop loop;
    char *data_dir, *modules_dir, *code_dir;
    struct module_cache *modules;
    struct runner_pool *runners;
    struct cluster *cluster;
    struct watch_hub *hub;
    struct host *host;
    struct discovery *discovery;
    struct transport recorder; /* the transport of the operator host */
    struct list faults;
    struct buf writes;
    size_t in_flight; /* requests except watches */
    uv_timer_t tick;  /* on real time, so that waits end */
    bool started, stopped;
    int r;
    struct err err;
};

/* ---------------------------------------------------------------- the recorder */

struct recorded {
    struct exchange_forward forward; /* not started when an injected fault answers */
    struct testbed *t;
    bool counts; /* counted in in_flight */
    int refuse;  /* an injected fault: the status to respond with; 0: none */
    struct defer refusal;
    struct buf line; /* the recorded line, without its status; empty: not recorded */
};

static void end_recorded(struct recorded *c, int r, const struct err *err)
{
    if (c->counts)
        c->t->in_flight--;
    exchange_forward_end(&c->forward, r, err);
    buf_fini(&c->line);
    free(c);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct recorded *c = container_of(arg, struct recorded, forward);
    if (c->line.n)
        (void)buf_printf(&c->t->writes, STR_FMT ",\"status\":%d}\n", STR_ARG(buf_str(&c->line)),
                         status);
    exchange_forward_head(arg, status, headers);
}

static void on_end(void *arg, int r, const struct err *err)
{
    end_recorded(container_of(arg, struct recorded, forward), r, err);
}

static void on_refusal(struct defer *d)
{
    struct recorded *c = container_of(d, struct recorded, refusal);
    struct headers h = { 0 };
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(1024);
    (void)headers_addc(&h, "content-type", "application/json");
    (void)buf_printf(&body,
                     "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                     "\"Failure\",\"message\":\"refused by the test\",\"code\":%d}",
                     c->refuse);
    on_head(&c->forward, c->refuse, &h);
    exchange_report_data(&c->forward.x, buf_str(&body));
    headers_fini(&h);
    end_recorded(c, 0, NULL);
}

static bool is_read(struct str method)
{
    return str_is(method, "GET") || str_is(method, "HEAD");
}

static void record(struct recorded *c, const struct kube_request *req)
{
    struct arena a = { 0 };
    struct json *body;
    struct err ignored;
    if (is_read(req->method) || str_find(req->target, STR("/events")) >= 0)
        return;
    (void)buf_add_cstr(&c->line, "{\"method\":");
    (void)json_write_str(&c->line, req->method);
    (void)buf_add_cstr(&c->line, ",\"path\":");
    (void)json_write_str(&c->line, req->target);
    struct str type = req->headers ? headers_get(req->headers, "content-type") : STR_NULL;
    if (type.n) {
        (void)buf_add_cstr(&c->line, ",\"contentType\":");
        (void)json_write_str(&c->line, type);
    }
    if (req->body.n && json_parse(&a, req->body, NULL, &body, &ignored) == 0) {
        (void)buf_add_cstr(&c->line, ",\"body\":");
        (void)json_write(&c->line, body);
    }
    arena_fini(&a);
}

/* Operators act as ServiceAccounts; all other requests come from the host. */
static bool is_operators(const struct kube_request *req)
{
    return req->identity && str_has_prefix(req->identity->user, STR("system:serviceaccount:"));
}

static int take_fault(struct testbed *t, const struct kube_request *req)
{
    list_each (node, &t->faults) {
        struct testbed_fault *f = list_entry(node, struct testbed_fault, node);
        if (f->left && (!f->method[0] || str_is(req->method, f->method)) &&
            str_has_prefix(req->target, str_of(f->path))) {
            f->left--;
            return f->status;
        }
    }
    return 0;
}

/* Cancelling a call that an injected fault answers does nothing: it ends on this turn. */
static int recorder_start(struct transport *transport, const struct kube_request *req,
                          const struct exchange_events *events, void *arg, struct exchange **ret,
                          struct err *err)
{
    static const struct exchange_events under_events = { .on_head = on_head,
                                                         .on_data = exchange_forward_data,
                                                         .on_end = on_end };
    struct testbed *t = container_of(transport, struct testbed, recorder);
    struct recorded *c = xnew(struct recorded);
    exchange_forward_init(&c->forward, &exchange_forward_ops, events, arg);
    c->t = t;
    c->counts = str_find(req->target, STR("watch=")) < 0;
    buf_init(&c->line, TESTBED_WRITES_MAX_BYTES);
    if (is_operators(req)) {
        record(c, req);
        c->refuse = take_fault(t, req);
    }
    *ret = &c->forward.x;
    t->in_flight += c->counts;
    if (c->refuse) {
        defer_start(&t->loop, &c->refusal, on_refusal);
        return 0;
    }
    int r = transport_start(api_transport(cluster_api(t->cluster)), req, &under_events, &c->forward,
                            &c->forward.under, err);
    if (r < 0) {
        t->in_flight -= c->counts;
        buf_fini(&c->line);
        free(c);
    }
    return r;
}

void testbed_fail(struct testbed *t, struct str method, struct str path, int status, uint64_t times)
{
    struct testbed_fault *f = xnew(struct testbed_fault);
    f->method = str_dup(method);
    f->path = str_dup(path);
    f->status = status;
    f->left = times;
    list_push_back(&t->faults, &f->node);
}

struct str testbed_writes(const struct testbed *t)
{
    return buf_str(&t->writes);
}

/* ---------------------------------------------------------------- running the loop */

static void on_tick(uv_timer_t *uv)
{
    (void)uv; /* it only ends a wait */
}

/* One turn, which ends after TICK_MS of real time at the latest. */
static void turn(struct testbed *t)
{
    (void)uv_timer_start(&t->tick, on_tick, TICK_MS, 0);
    (void)loop_turn(&t->loop, true);
    (void)uv_timer_stop(&t->tick);
}

static uint64_t real_ms(void)
{
    return clock_mono_ms() - clock_skipped_ms();
}

/* Run until *done, or until the time limit. */
static int turn_until(struct testbed *t, const bool *done, const char *what, struct err *err)
{
    uint64_t end = real_ms() + TESTBED_REAL_MS_MAX;
    while (!*done) {
        turn(t);
        if (real_ms() > end)
            return err_set(err, -ETIMEDOUT, "%s: not within %d s", what,
                           TESTBED_REAL_MS_MAX / 1000);
    }
    return 0;
}

static bool is_at_rest(struct testbed *t, struct buf *why)
{
    if (t->in_flight)
        (void)buf_printf(why, "%zu requests are under way", t->in_flight);
    else if (!loop_is_idle(&t->loop))
        (void)buf_add_cstr(why, "the server works");
    else if (t->host)
        return host_is_at_rest(t->host, why);
    return why->n == 0;
}

int testbed_settle(struct testbed *t, struct err *err)
{
    uint64_t end = real_ms() + TESTBED_REAL_MS_MAX;
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(1024);
    for (unsigned quiet = 0; quiet < REST_TURNS;) {
        buf_reset(&why);
        if (!is_at_rest(t, &why)) {
            quiet = 0;
            turn(t);
            if (t->host && host_is_compiling(t->host))
                end = real_ms() + TESTBED_REAL_MS_MAX;
        } else if (loop_next_timer_ms(&t->loop) <= loop_now_ms(&t->loop) + TESTBED_SHORT_MS) {
            quiet = 0;
            loop_skip(&t->loop, TESTBED_SHORT_MS);
            (void)loop_turn(&t->loop, false);
        } else {
            quiet++;
            (void)loop_turn(&t->loop, false);
        }
        if (real_ms() > end)
            return err_set(err, -ETIMEDOUT, "it does not come to rest within %d s: %s",
                           TESTBED_REAL_MS_MAX / 1000, buf_cstr(&why));
    }
    return 0;
}

int testbed_advance(struct testbed *t, uint64_t ms, struct err *err)
{
    int r = testbed_settle(t, err);
    uint64_t until = loop_now_ms(&t->loop) + ms;
    for (unsigned steps = 0; r == 0; steps++) {
        uint64_t now = loop_now_ms(&t->loop), due = loop_next_timer_ms(&t->loop);
        if (now >= until)
            return 0;
        if (steps == TESTBED_STEPS_MAX)
            return err_set(err, -ETIMEDOUT, "too many timers in so short a time");
        loop_skip(&t->loop, MIN(MAX(due, now + 1), until) - now);
        (void)loop_turn(&t->loop, false);
        r = testbed_settle(t, err);
    }
    return r;
}

int testbed_sleep(struct testbed *t, struct err *err)
{
    host_sleep(t->host);
    return testbed_settle(t, err);
}

bool testbed_trouble(struct testbed *t, struct buf *why)
{
    return host_trouble(t->host, why);
}

/* ---------------------------------------------------------------- requests */

struct testbed_asked {
    struct buf *body;
    int status, r;
    bool done;
    struct err err;
};

static void asked_head(void *arg, int status, const struct headers *headers)
{
    ((struct testbed_asked *)arg)->status = status;
}

static void asked_data(void *arg, struct str chunk)
{
    (void)buf_add_str(((struct testbed_asked *)arg)->body, chunk);
}

static void asked_end(void *arg, int r, const struct err *err)
{
    struct testbed_asked *a = arg;
    a->r = r;
    a->done = true;
    if (r < 0 && err)
        a->err = *err;
}

int testbed_request(struct testbed *t, const char *method, struct str target,
                    const char *content_type, struct str body, int *ret_status,
                    struct buf *ret_body, struct err *err)
{
    static const struct exchange_events events = { .on_head = asked_head,
                                                   .on_data = asked_data,
                                                   .on_end = asked_end };
    struct testbed_asked a = { .body = ret_body };
    struct headers h = { 0 };
    struct exchange *call;
    if (content_type)
        (void)headers_addc(&h, "content-type", content_type);
    struct kube_request req = {
        .method = str_of(method), .target = target, .headers = &h, .body = body
    };
    int r = transport_start(api_transport(cluster_api(t->cluster)), &req, &events, &a, &call, err);
    headers_fini(&h);
    if (r >= 0)
        r = turn_until(t, &a.done, "a request", err);
    if (r >= 0 && a.r < 0) {
        *err = a.err;
        r = a.r;
    }
    *ret_status = a.status;
    return r;
}

struct testbed_sought {
    struct buf *path;
    struct str api_version, namespace, name;
    int r;
    bool done;
    struct err err;
};

static void on_kind(void *arg, int r, const struct discovery_kind *kind, const struct err *err)
{
    struct testbed_sought *s = arg;
    s->r = r;
    s->done = true;
    if (r < 0) {
        s->err = *err;
        return;
    }
    bool is_core = str_find_char(s->api_version, '/') < 0;
    (void)buf_printf(s->path, "/%s/" STR_FMT, is_core ? "api" : "apis", STR_ARG(s->api_version));
    bool is_any = s->name.n == 0 && str_is(s->namespace, "*");
    if (kind->namespaced && !is_any) {
        (void)buf_add_cstr(s->path, "/namespaces/");
        (void)url_encode(s->path, s->namespace.n ? s->namespace : STR("default"));
    }
    (void)buf_printf(s->path, "/" STR_FMT, STR_ARG(kind->plural));
    if (s->name.n) {
        (void)buf_add_char(s->path, '/');
        (void)url_encode(s->path, s->name);
    }
}

int testbed_path(struct testbed *t, struct str api_version, struct str kind, struct str namespace,
                 struct str name, struct buf *ret_path, struct err *err)
{
    struct testbed_sought s = {
        .path = ret_path, .api_version = api_version, .namespace = namespace, .name = name
    };
    discovery_forget(t->discovery, api_version); /* the test may just have created the definition */
    discovery_ask(t->discovery, api_version, kind, on_kind, &s);
    int r = turn_until(t, &s.done, "discovery", err);
    if (r >= 0 && s.r < 0)
        return err_set(err, s.r, "no kind '" STR_FMT "' in '" STR_FMT "': %s", STR_ARG(kind),
                       STR_ARG(api_version), err_text(&s.err));
    return r;
}

/* ---------------------------------------------------------------- life */

static void on_step(void *arg, int r, const struct err *err)
{
    struct testbed *t = arg;
    t->started = true;
    t->r = r;
    if (r < 0 && err)
        t->err = *err;
}

static int wait_started(struct testbed *t, const char *what, struct err *err)
{
    int r = turn_until(t, &t->started, what, err);
    t->started = false;
    if (r >= 0 && t->r < 0) {
        *err = t->err;
        r = t->r;
    }
    return r;
}

static int start_parts(struct testbed *t, struct err *err)
{
    struct cluster_opts cluster = { .loop = &t->loop,
                                    .data_dir = t->data_dir,
                                    .host = "127.0.0.1",
                                    .on_ready = on_step,
                                    .arg = t };
    int r = cluster_start(&cluster, &t->cluster, err);
    if (r >= 0)
        r = wait_started(t, "start the API server", err);
    if (r >= 0)
        r = api_ensure_objects(cluster_api(t->cluster), objects_crd(), on_step, t, err);
    if (r >= 0)
        r = wait_started(t, "define Operators", err);
    if (r < 0)
        return r;
    t->discovery = discovery_new(&t->loop, api_transport(cluster_api(t->cluster)));
    scoped(free_scoped) char *in_data = xasprintf("%s/modules", t->data_dir);
    const struct module_cache_config modules = { .dir = t->code_dir ? t->code_dir : in_data,
                                                 .no_background = true };
    r = module_cache_new(&t->loop, &modules, &t->modules, err);
    if (r < 0)
        return r;
    const struct watch_hub_opts hub = { .transport = &t->recorder };
    r = watch_hub_new(&t->loop, &hub, &t->hub, err);
    if (r < 0)
        return r;
    t->runners = pool_new(&t->loop, NULL);
    const char *const dirs[] = { t->modules_dir };
    struct host_opts host = { .loop = &t->loop,
                              .data_dir = t->data_dir,
                              .modules = t->modules,
                              .runners = t->runners,
                              .transport = &t->recorder,
                              .hub = t->hub,
                              .embedded = true,
                              .module_dirs = dirs,
                              .n_module_dirs = 1 };
    return host_start(&host, &t->host, err);
}

int testbed_start(const char *data_dir, const char *modules_dir, const char *code_dir,
                  struct testbed **ret, struct err *err)
{
    struct testbed *t = xnew(struct testbed);
    int r = loop_init(&t->loop, err);
    if (r < 0) {
        free(t);
        return r;
    }
    t->data_dir = xstrdup(data_dir);
    t->modules_dir = xstrdup(modules_dir);
    t->code_dir = code_dir ? xstrdup(code_dir) : NULL;
    t->recorder.start = recorder_start;
    list_init(&t->faults);
    buf_init(&t->writes, TESTBED_WRITES_MAX_BYTES);
    (void)uv_timer_init(&t->loop.uv, &t->tick);
    r = start_parts(t, err);
    if (r >= 0)
        r = testbed_settle(t, err);
    if (r < 0) {
        testbed_stop(t);
        return r;
    }
    *ret = t;
    return 0;
}

static void on_stopped(void *arg)
{
    ((struct testbed *)arg)->stopped = true;
}

static void stop_part(struct testbed *t)
{
    struct err ignored;
    (void)turn_until(t, &t->stopped, "stop", &ignored);
    t->stopped = false;
}

void testbed_stop(struct testbed *t)
{
    if (!t)
        return;
    if (t->host) {
        host_stop(t->host, on_stopped, t);
        stop_part(t);
    }
    if (t->hub) {
        watch_hub_close(t->hub, on_stopped, t);
        stop_part(t);
    }
    pool_free(t->runners);
    if (t->modules) {
        module_cache_close(t->modules, on_stopped, t);
        stop_part(t);
    }
    discovery_free(t->discovery);
    if (t->cluster) {
        cluster_stop(t->cluster, STOP_GRACE_MS, on_stopped, t);
        stop_part(t);
    }
    uv_close((uv_handle_t *)&t->tick, NULL);
    loop_run(&t->loop);
    loop_fini(&t->loop);
    struct list *node;
    while ((node = list_pop_front(&t->faults))) {
        struct testbed_fault *f = list_entry(node, struct testbed_fault, node);
        free(f->method);
        free(f->path);
        free(f);
    }
    buf_fini(&t->writes);
    free(t->data_dir);
    free(t->modules_dir);
    free(t->code_dir);
    free(t);
}
