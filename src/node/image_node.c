/* SPDX-License-Identifier: Apache-2.0 */
#include "node/image_node.h"

#include "base/log.h"
#include "base/sm.h"
#include "base/sys.h"
#include "image/layer_cache.h"
#include "image/layer_rights.h"
#include "image/store_control.h"
#include "image/store_job.h"
#include "io/thread_job.h"
#include "io/tls.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { PEM_MAX_BYTES = 1 << 20, TOKEN_BYTES = 37 };

enum image_node_at { IMAGE_NODE_OPENING, IMAGE_NODE_OPEN, IMAGE_NODE_SERVING, IMAGE_NODE_CLOSING };

static const struct sm_state states[] = {
    [IMAGE_NODE_OPENING] = { "opening", EDGE(IMAGE_NODE_OPEN) | EDGE(IMAGE_NODE_CLOSING) },
    [IMAGE_NODE_OPEN] = { "open", EDGE(IMAGE_NODE_SERVING) | EDGE(IMAGE_NODE_CLOSING) },
    [IMAGE_NODE_SERVING] = { "serving", EDGE(IMAGE_NODE_CLOSING) },
    [IMAGE_NODE_CLOSING] = { "closing", 0 },
};

struct image_node {
    struct image_node_opts opts;
    char *key;
    struct sm sm;
    struct job job; /* opens or closes the store */
    bool is_working;
    int r; /* of the job */
    struct err err;
    bool is_told; /* that another process has the store */
    struct timer again;
    struct oci_store *store;       /* NULL: not open */
    struct store_control *control; /* NULL: it could not be made */
    struct buf cert, pem_key;      /* until it serves */
    struct tls_ctx *tls, *peers;
    struct image_server *server; /* SERVING */
    struct list jobs;            /* struct image_node_job */
    size_t n_jobs;
    size_t n_looking; /* jobs that read the store for those that wait */
    void (*done)(void *arg);
    void *arg;
};

/* ---------------------------------------------------------------- serving */

static int make_tls(struct image_node *n, struct err *err)
{
    int r = tls_ctx_new_server(buf_str(&n->cert), buf_str(&n->pem_key), STR(""), &n->tls, err);
    return r < 0 ? r : tls_ctx_new_client(n->opts.ca_pem, STR(""), STR(""), false, &n->peers, err);
}

static int start_server(struct image_node *n, struct err *err)
{
    const struct image_node_opts *o = &n->opts;
    char no_token[TOKEN_BYTES]; /* of /v2, which is for nobody */
    sys_uuid(no_token);
    struct image_server_opts opts = { .loop = o->loop,
                                      .host = o->listen_host,
                                      .port = o->listen_port,
                                      .tls = n->tls,
                                      .store = n->store,
                                      .token = no_token,
                                      .site = o->site,
                                      .platform = oci_platform_here(),
                                      .node = o->node_name,
                                      .cluster_key = n->key,
                                      .peers = n->peers,
                                      .api = o->transport,
                                      .identity = o->identity,
                                      .url_host = o->address,
                                      .probe_ms = o->probe_ms,
                                      .prefetches = o->prefetches };
    int r = image_server_start(&opts, &n->server, err);
    if (r == -EADDRINUSE && o->listens_elsewhere) {
        opts.port = 0;
        r = image_server_start(&opts, &n->server, err);
    }
    return r;
}

static void serve(struct image_node *n)
{
    struct err err = { 0 };
    if (n->sm.at != IMAGE_NODE_OPEN || n->cert.n == 0)
        return;
    int r = make_tls(n, &err);
    r = r < 0 ? r : start_server(n, &err);
    if (r < 0) {
        tls_ctx_free(take_ptr(&n->tls));
        tls_ctx_free(take_ptr(&n->peers));
        log_error("other nodes get no images from this one", "error=\"%s\"", err_text(&err));
        return;
    }
    sm_move(&n->sm, IMAGE_NODE_SERVING);
    log_info("this node gives its images to others", "port=%u store=%s",
             (unsigned)image_server_port(n->server), n->opts.store);
}

void image_node_set_cert(struct image_node *n, struct str cert_pem, struct str key_pem)
{
    struct err err = { 0 };
    if (n->tls && tls_ctx_set_server_cert(n->tls, cert_pem, key_pem, &err) < 0)
        log_warn("a renewed certificate is not used for images", "error=\"%s\"", err_text(&err));
    if (n->tls)
        return;
    buf_reset(&n->cert);
    buf_reset(&n->pem_key);
    (void)buf_add_str(&n->cert, cert_pem);
    (void)buf_add_str(&n->pem_key, key_pem);
    serve(n);
}

uint16_t image_node_port(const struct image_node *n)
{
    return n->server ? image_server_port(n->server) : 0;
}

void image_node_changed(struct image_node *n)
{
    if (n->sm.at == IMAGE_NODE_SERVING)
        image_server_store_changed(n->server);
}

/* ---------------------------------------------------------------- the store */

static void work_open(struct job *j)
{
    struct image_node *n = container_of(j, struct image_node, job);
    const struct oci_store_opts opts = { .root = n->opts.store,
                                         .is_service = true,
                                         .has_control = true,
                                         .lock_ms = IMAGE_NODE_LOCK_MS,
                                         .form = OCI_STORE_BOTH,
                                         .quota_bytes = n->opts.quota_bytes };
    n->err = (struct err){ 0 };
    n->r = layer_cache_open_store(&opts, IMAGE_CACHE_ARC, &n->store, &n->err);
    if (n->r < 0)
        return;
    layer_rights_tidy(n->store);
    if (store_control_start(n->store, &n->control, &n->err) < 0)
        log_warn("pods get images without plans only", "error=\"%s\"", err_text(&n->err));
}

static void close_store(struct image_node *n);

static void open_store(struct image_node *n);

static void on_again(struct timer *t)
{
    open_store(container_of(t, struct image_node, again));
}

static void done_open(struct job *j, int r)
{
    struct image_node *n = container_of(j, struct image_node, job);
    (void)r;
    n->is_working = false;
    if (n->sm.at == IMAGE_NODE_CLOSING) {
        close_store(n);
        return;
    }
    if (n->r >= 0) {
        sm_move(&n->sm, IMAGE_NODE_OPEN);
        serve(n);
        return;
    }
    if (!n->is_told)
        log_warn("this node has no images for others yet", "reason=\"%s\"", err_text(&n->err));
    n->is_told = true;
    timer_start(n->opts.loop, &n->again, IMAGE_NODE_AGAIN_MS, on_again);
}

static void open_store(struct image_node *n)
{
    n->job = (struct job){ .work = work_open, .done = done_open };
    n->is_working = true;
    int r = job_start(n->opts.loop, &n->job);
    assert(r == 0);
    (void)r;
}

struct image_node *image_node_start(const struct image_node_opts *opts)
{
    struct image_node *n = xnew(struct image_node);
    n->opts = *opts;
    n->key = str_dup(opts->cluster_key);
    n->cert = BUF_INIT(PEM_MAX_BYTES);
    n->pem_key = BUF_INIT(PEM_MAX_BYTES);
    list_init(&n->jobs);
    sm_init(&n->sm, states, IMAGE_NODE_OPENING);
    open_store(n);
    return n;
}

/* ---------------------------------------------------------------- the end */

static void free_node(struct image_node *n)
{
    tls_ctx_free(n->tls);
    tls_ctx_free(n->peers);
    explicit_bzero(n->key, strlen(n->key));
    free(n->key);
    buf_fini(&n->cert);
    buf_fini(&n->pem_key);
    free(n);
}

/* Jobs of commands end first. */
static void work_close(struct job *j)
{
    struct image_node *n = container_of(j, struct image_node, job);
    store_control_close(n->control, true);
    if (n->store)
        (void)oci_store_sweep(n->store, SIZE_MAX, NULL);
    oci_store_close(n->store);
}

static void done_close(struct job *j, int r)
{
    struct image_node *n = container_of(j, struct image_node, job);
    void (*done)(void *) = n->done;
    void *arg = n->arg;
    (void)r;
    free_node(n);
    done(arg);
}

static void close_store(struct image_node *n)
{
    if (n->is_working || n->n_looking || n->n_jobs || n->server)
        return;
    n->is_working = true;
    n->job = (struct job){ .work = work_close, .done = done_close };
    int r = job_start(n->opts.loop, &n->job);
    assert(r == 0);
    (void)r;
}

static void on_server_closed(void *arg)
{
    struct image_node *n = arg;
    n->server = NULL;
    close_store(n);
}

void image_node_close(struct image_node *n, void (*done)(void *arg), void *arg)
{
    bool serves = n->sm.at == IMAGE_NODE_SERVING;
    n->done = done;
    n->arg = arg;
    timer_stop(n->opts.loop, &n->again);
    image_node_stop_jobs(n);
    sm_move(&n->sm, IMAGE_NODE_CLOSING);
    if (serves)
        image_server_close(n->server, IMAGE_NODE_GRACE_MS, on_server_closed, n);
    else
        close_store(n);
}

/* ---------------------------------------------------------------- jobs */

struct image_node_job {
    struct list node;
    struct image_node *n;
    struct image_node_job_call *call;
    struct arena arena; /* of the job and its result */
    struct json *wanted, *result;
    atomic_bool stop;
    struct thread_job thread;
    struct defer not_started;
    int r;
    struct err err;
};

/* From a job's thread to the loop. */
struct image_node_event {
    struct post post;
    struct image_node_job *job;
    struct arena arena;
    struct json *v;
};

static void run_event(struct post *p)
{
    struct image_node_event *e = container_of(p, struct image_node_event, post);
    if (e->job->call->on_event)
        e->job->call->on_event(e->job->call, e->v);
    arena_fini(&e->arena);
    free(e);
}

/* One at a time. Posts of one thread run in order, but pulls have several: the end comes last. */
static void on_event(void *arg, const struct json *v)
{
    struct image_node_job *j = arg;
    struct image_node_event *e = xnew(struct image_node_event);
    e->job = j;
    e->v = json_clone(&e->arena, v);
    e->post.run = run_event;
    loop_post(j->n->opts.loop, &e->post);
}

static void end_job(struct image_node_job *j)
{
    struct image_node *n = j->n;
    list_remove(&j->node);
    n->n_jobs--;
    image_node_changed(n); /* jobs remove layers, too */
    j->call->on_done(j->call, j->r, j->result, &j->arena, &j->err);
    arena_fini(&j->arena);
    free(j);
    if (n->sm.at == IMAGE_NODE_CLOSING)
        close_store(n);
}

static void run_job(struct thread_job *thread)
{
    struct image_node_job *j = container_of(thread, struct image_node_job, thread);
    struct store_job job;
    const struct store_job_watch watch = { .on_event = on_event, .arg = j, .stop = &j->stop };
    j->r = store_job_read(j->wanted, &j->arena, &job, &j->err);
    if (j->r >= 0)
        j->r = store_job_run(j->n->store, &job, &watch, &j->arena, &j->result, &j->err);
    if (j->r < 0)
        j->result = NULL;
}

static void on_end(struct thread_job *thread)
{
    end_job(container_of(thread, struct image_node_job, thread));
}

static void on_not_started(struct defer *d)
{
    end_job(container_of(d, struct image_node_job, not_started));
}

bool image_node_can_do(const struct image_node *n)
{
    return (n->sm.at == IMAGE_NODE_OPEN || n->sm.at == IMAGE_NODE_SERVING) &&
           n->n_jobs < IMAGE_NODE_JOBS_MAX;
}

void image_node_do(struct image_node *n, const struct json *job, struct image_node_job_call *c)
{
    struct image_node_job *j = xnew(struct image_node_job);
    assert(image_node_can_do(n));
    j->n = n;
    j->call = c;
    j->wanted = json_clone(&j->arena, job);
    list_push_back(&n->jobs, &j->node);
    n->n_jobs++;
    j->thread = (struct thread_job){ .work = run_job, .done = on_end };
    j->r = thread_job_start(n->opts.loop, &j->thread, &j->err);
    if (j->r < 0)
        defer_start(n->opts.loop, &j->not_started, on_not_started);
}

void image_node_stop_jobs(struct image_node *n)
{
    list_each (node, &n->jobs)
        atomic_store(&list_entry(node, struct image_node_job, node)->stop, true);
}

/* ---------------------------------------------------------------- waiting for a plan */

struct image_node_wait {
    struct image_node *n;
    struct job job; /* looks for the image in the store */
    bool is_looking, is_here, is_always;
    char *reference, *tenant;
    struct image_server_await await;
    void (*done)(void *arg); /* NULL: cancelled */
    void *arg;
};

static void free_wait(struct image_node_wait *w)
{
    free(w->reference);
    free(w->tenant);
    free(w);
}

static void end_wait(struct image_node_wait *w)
{
    void (*done)(void *) = w->done;
    void *arg = w->arg;
    free_wait(w);
    if (done)
        done(arg);
}

static void on_awaited(struct image_server_await *a)
{
    end_wait(container_of(a, struct image_node_wait, await));
}

static void work_look(struct job *j)
{
    struct image_node_wait *w = container_of(j, struct image_node_wait, job);
    w->is_here = provide_has(w->n->store, str_of(w->reference), str_of(w->tenant));
}

static void done_look(struct job *j, int r)
{
    struct image_node_wait *w = container_of(j, struct image_node_wait, job);
    struct image_node *n = w->n;
    (void)r;
    w->is_looking = false;
    n->n_looking--;
    bool waits = w->done && n->sm.at == IMAGE_NODE_SERVING && (w->is_always || !w->is_here);
    w->await.done = on_awaited;
    if (!waits || image_server_await(n->server, &w->await, str_of(w->reference), IMAGE_NODE_PLAN_MS,
                                     NULL) < 0)
        end_wait(w);
    if (n->sm.at == IMAGE_NODE_CLOSING)
        close_store(n);
}

struct image_node_wait *image_node_await(struct image_node *n, struct str reference,
                                         struct str tenant, bool is_always, void (*done)(void *arg),
                                         void *arg)
{
    if (n->sm.at != IMAGE_NODE_SERVING)
        return NULL;
    struct image_node_wait *w = xnew(struct image_node_wait);
    *w = (struct image_node_wait){ .n = n,
                                   .job = { .work = work_look, .done = done_look },
                                   .is_looking = true,
                                   .is_always = is_always,
                                   .reference = str_dup(reference),
                                   .tenant = str_dup(tenant),
                                   .done = done,
                                   .arg = arg };
    n->n_looking++;
    int r = job_start(n->opts.loop, &w->job);
    assert(r == 0);
    (void)r;
    return w;
}

void image_node_await_cancel(struct image_node_wait *w)
{
    w->done = NULL;
    if (w->is_looking)
        return;
    image_server_await_cancel(&w->await);
    free_wait(w);
}
