/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of containerd; see snapshot_server.h. How to read it: a call comes (on_message), runs on a
 * worker thread (run_call), and either is answered or waits for a work: a layer to be unpacked, an
 * image to be pulled, on a thread of its own. When the work has ended, the call runs again. A call
 * that takes as long as a tree is large runs again on a thread of its own (queue_walk). A list runs
 * again for each part, when the client has taken the one before.
 */
#include "image/snapshot_server.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "image/closing.h"
#include "image/layer_child.h"
#include "io/grpc.h"
#include "io/thread_job.h"
#include "oci/pull.h"
#include "oci/reference.h"

#include <errno.h>
#include <stdatomic.h>

struct snapshot_work {
    struct list node; /* of server->works */
    struct snapshot_server *server;
    char *image;              /* to pull, "docker.io/library/redis:7"; NULL: */
    struct oci_digest layer;  /* to unpack */
    unsigned n_calls;         /* that need it */
    struct list waiting;      /* struct snapshot_serving.waiting */
    bool is_running, is_done; /* neither: in the queue */
    struct thread_job job;
    int r;
    struct err err;
};

enum snapshot_walk { SNAPSHOT_WALK_READ, SNAPSHOT_WALK_REMOVE, SNAPSHOT_WALK_COUNT };

struct snapshot_serving {
    struct list node; /* of server->calls */
    struct snapshot_server *server;
    struct grpc_stream *st; /* NULL: the client has disconnected */
    enum snapshot_method method;
    struct snapshot_call call;
    bool has_call;
    struct job job;
    struct list walk; /* of server->walks, until its thread starts */
    struct thread_job walking;
    bool is_running; /* job, or thread */
    bool is_full;    /* a part of its list was sent, and the client has not taken it */
    struct list waiting;
    struct snapshot_work *work;
    struct oci_digest layer; /* that it asked for */
    struct buf answer;
    int r;
    struct err err;
    unsigned n_tries;
};

struct snapshot_server_method { /* argument of begin() */
    struct snapshot_server *server;
    enum snapshot_method method;
};

struct snapshot_server {
    struct loop *loop;
    struct snapshotter *snapshotter;
    struct oci_store *store;
    struct oci_remote_opts registry;
    char *upstreams[SNAPSHOT_SERVER_UPSTREAMS_MAX];
    size_t n_upstreams;
    struct http_server *http;
    struct grpc_server *grpc;
    struct snapshot_server_method methods[SNAPSHOT_METHOD_COUNT];
    struct list calls, works;
    size_t n_calls, n_works;
    size_t n_pulling, n_unpacking;          /* threads */
    struct list walks[SNAPSHOT_WALK_COUNT]; /* struct snapshot_serving.walk, the oldest first */
    size_t n_walking[SNAPSHOT_WALK_COUNT];  /* threads */
    struct map pulled;                      /* name of an image -> uint64_t, loop time */
    atomic_bool stop;
    struct image_closing closing;
};

static void finish_close(struct snapshot_server *s);
static void on_http_closed(void *arg);
static void start_works(struct snapshot_server *s);
static void start_call(struct snapshot_serving *q);
static void queue_walk(struct snapshot_serving *q);
static void start_walks(struct snapshot_server *s, enum snapshot_walk kind);

/* ---- works: on their thread ---- */

struct stoppable_origin {
    struct snapshot_server *server;
    struct oci_origin origin;
};

struct stoppable_sink {
    struct snapshot_server *server;
    oci_blob_sink sink;
    void *arg;
};

static int give_image(void *arg, const struct oci_platform *platform, struct oci_image *ret,
                      struct err *err)
{
    struct stoppable_origin *o = arg;
    return o->origin.image(o->origin.arg, platform, ret, err);
}

static int on_bytes(void *arg, struct str bytes, struct err *err)
{
    struct stoppable_sink *t = arg;
    if (atomic_load(&t->server->stop))
        return err_set(err, -ECANCELED, "the snapshotter ends");
    return t->sink(t->arg, bytes, err);
}

static int give_blob(void *arg, const struct oci_descriptor *d, uint64_t offset, oci_blob_sink sink,
                     void *sink_arg, struct err *err)
{
    struct stoppable_origin *o = arg;
    struct stoppable_sink t = { o->server, sink, sink_arg };
    return o->origin.blob(o->origin.arg, d, offset, on_bytes, &t, err);
}

static int pull(struct snapshot_work *w, struct err *err)
{
    struct oci_pull_result result;
    struct stoppable_origin o = { .server = w->server };
    scoped(free_scoped) char *reference = xasprintf("docker://%s", w->image);
    struct oci_pull_opts opts = { .name = str_of(w->image),
                                  .platform = oci_platform_here(),
                                  .reading = &layer_child_reading };
    int r = oci_origin_open(str_of(reference), &w->server->registry, &o.origin, err);
    if (r < 0)
        return r;
    /* Whole blobs, since a stop is seen in their bytes. */
    opts.origin = (struct oci_origin){ .image = give_image,
                                       .blob = give_blob,
                                       .arg = &o,
                                       .is_remote = o.origin.is_remote,
                                       .has_no_blobs = o.origin.has_no_blobs };
    r = oci_pull(w->server->store, &opts, &result, err);
    oci_origin_close(&o.origin);
    return r;
}

static void do_work(struct thread_job *job)
{
    struct snapshot_work *w = container_of(job, struct snapshot_work, job);
    w->r = w->image ? pull(w, &w->err)
                    : snapshotter_unpack(w->server->snapshotter, &w->layer, &w->err);
}

/* ---- works: on the loop ---- */

static void work_free(struct snapshot_work *w)
{
    if (!w->image && w->is_done && w->r >= 0)
        snapshotter_unpin(w->server->snapshotter, &w->layer);
    list_remove(&w->node);
    assert(!w->is_running && w->n_calls == 0 && w->server->n_works > 0);
    w->server->n_works--;
    free(w->image);
    free(w);
}

static void work_drop(struct snapshot_work *w)
{
    assert(w->n_calls > 0);
    if (--w->n_calls == 0 && !w->is_running)
        work_free(w);
}

static void note_pulled(struct snapshot_server *s, const char *image)
{
    if (s->pulled.n >= SNAPSHOT_SERVER_REMEMBERED_MAX) {
        map_each (e, &s->pulled)
            free(e->value);
        map_fini(&s->pulled);
        s->pulled = (struct map){ 0 };
    }
    uint64_t *at = xnew(uint64_t);
    *at = loop_now_ms(s->loop);
    free(map_put(&s->pulled, str_of(image), at));
}

static bool was_pulled(const struct snapshot_server *s, const char *image)
{
    const uint64_t *at = map_get(&s->pulled, str_of(image));
    return at && loop_now_ms(s->loop) < *at + SNAPSHOT_SERVER_AGAIN_MS;
}

static void log_end(const struct snapshot_work *w)
{
    char text[LOG_QUOTE_MAX], digest[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&w->layer, digest);
    const char *why = log_quote(text, str_of(err_text(&w->err)));
    if (w->image && w->r < 0)
        log_warn("image not pulled: containerd fetches it", "name=%s reason=\"%s\"", w->image, why);
    else if (w->image)
        log_info("image pulled", "name=%s", w->image);
    else if (w->r < 0)
        log_warn("layer not unpacked: containerd fetches it", "layer=%s reason=\"%s\"", digest,
                 why);
    else
        log_info("layer unpacked", "layer=%s", digest);
}

/* It has ended, or could not begin: its calls continue. They hold it until they have run. */
static void end_work(struct snapshot_work *w)
{
    struct snapshot_server *s = w->server;
    w->is_done = true;
    log_end(w);
    if (w->image)
        note_pulled(s, w->image);
    w->n_calls++;
    list_each_safe (node, &w->waiting) {
        struct snapshot_serving *q = list_entry(node, struct snapshot_serving, waiting);
        list_remove(&q->waiting);
        if (w->r < 0)
            q->call.is_plain = true;
        start_call(q);
    }
    work_drop(w);
    start_works(s);
}

/* Count each kind separately: pulls that hang must not delay layers that are stored. */
static size_t *n_running(struct snapshot_work *w)
{
    return w->image ? &w->server->n_pulling : &w->server->n_unpacking;
}

static void on_work_end(struct thread_job *job)
{
    struct snapshot_work *w = container_of(job, struct snapshot_work, job);
    struct snapshot_server *s = w->server;
    w->is_running = false;
    --*n_running(w);
    end_work(w);
    finish_close(s);
}

/* From the start of its thread on, w->r and w->err are the thread's. */
static int start_work(struct snapshot_work *w)
{
    struct err err = { 0 };
    w->is_running = true;
    ++*n_running(w);
    w->job = (struct thread_job){ .work = do_work, .done = on_work_end };
    int r = thread_job_start(w->server->loop, &w->job, &err);
    if (r >= 0)
        return 0;
    w->is_running = false;
    --*n_running(w);
    w->r = r;
    w->err = err;
    return r;
}

static void start_works(struct snapshot_server *s)
{
    list_each_safe (node, &s->works) {
        struct snapshot_work *w = list_entry(node, struct snapshot_work, node);
        if (w->is_running || w->is_done || *n_running(w) >= SNAPSHOT_SERVER_WORKS_MAX)
            continue;
        if (start_work(w) >= 0)
            continue;
        end_work(w);
        return; /* it went on from here */
    }
}

static struct snapshot_work *find_work(struct snapshot_server *s, const char *image,
                                       const struct oci_digest *layer)
{
    list_each (node, &s->works) {
        struct snapshot_work *w = list_entry(node, struct snapshot_work, node);
        if (w->is_done || !w->image != !image)
            continue;
        if (image ? strcmp(w->image, image) == 0 : oci_digest_equal(&w->layer, layer))
            return w;
    }
    return NULL;
}

/* The call continues when the work has ended. image NULL: the layer that the call asked for. */
static void wait_for(struct snapshot_serving *q, const char *image)
{
    struct snapshot_server *s = q->server;
    struct snapshot_work *w = find_work(s, image, &q->layer);
    if (!w) {
        w = xnew(struct snapshot_work);
        *w = (struct snapshot_work){ .server = s, .image = image ? xstrdup(image) : NULL };
        if (!image)
            w->layer = q->layer;
        list_init(&w->waiting);
        list_push_back(&s->works, &w->node);
        s->n_works++;
    }
    w->n_calls++;
    q->work = w;
    list_push_back(&w->waiting, &q->waiting);
    start_works(s);
}

/* ---- calls ---- */

static void leave_work(struct snapshot_serving *q)
{
    if (!q->work)
        return;
    if (list_is_linked(&q->waiting))
        list_remove(&q->waiting);
    work_drop(take_ptr(&q->work));
}

static void serving_free(struct snapshot_serving *q)
{
    struct snapshot_server *s = q->server;
    leave_work(q);
    if (list_is_linked(&q->walk))
        list_remove(&q->walk);
    if (q->has_call)
        snapshot_call_fini(&q->call);
    buf_fini(&q->answer);
    list_remove(&q->node);
    assert(!q->st && !q->is_running && !q->work && s->n_calls > 0);
    s->n_calls--;
    free(q);
    finish_close(s);
}

/* Whether the client accepts more. */
static bool send_messages(struct snapshot_serving *q)
{
    bool can_take = true;
    struct rd r = rd_init(q->answer.p, q->answer.n);
    while (rd_left(&r)) {
        uint32_t n = rd_le32(&r);
        can_take = grpc_stream_send(q->st, rd_str(&r, n));
    }
    return can_take;
}

/* It may end the call: nothing after it. */
static void send_part(struct snapshot_serving *q)
{
    q->is_full = !send_messages(q);
    if (!q->is_full)
        start_call(q);
}

static void on_writable(struct grpc_stream *st)
{
    struct snapshot_serving *q = grpc_stream_data(st);
    if (!q->is_full)
        return;
    q->is_full = false;
    start_call(q);
}

static bool is_upstream(const struct snapshot_server *s, const char *host)
{
    for (size_t i = 0; i < s->n_upstreams; i++)
        if (strcmp(s->upstreams[i], host) == 0)
            return true;
    return false;
}

/* The image that the layer is of, by its complete name, if it may be pulled now. Given; NULL. */
static char *image_to_pull(const struct snapshot_serving *q)
{
    struct str label;
    struct oci_reference ref;
    const struct snapshot_server *s = q->server;
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(OCI_STORE_NAME_MAX);
    if (!snapshot_call_label(&q->call, SNAPSHOT_SERVER_IMAGE_LABEL, &label) ||
        oci_reference_parse(label, &ref, NULL) < 0 || !is_upstream(s, ref.host))
        return NULL;
    oci_reference_format(&ref, &name);
    if (!buf_ok(&name) || was_pulled(s, buf_cstr(&name)))
        return NULL;
    return xstrdup(buf_cstr(&name));
}

/* It may end the call: nothing after it. */
static void go_on(struct snapshot_serving *q)
{
    struct snapshot_server *s = q->server;
    bool may_wait =
        ++q->n_tries < SNAPSHOT_SERVER_TRIES_MAX && !image_closing_has_begun(&s->closing);
    scoped(free_scoped) char *image =
        may_wait && q->r == SNAPSHOTTER_WANTS_BYTES ? image_to_pull(q) : NULL;
    leave_work(q);
    if (q->r < 0) {
        grpc_stream_end(q->st, grpc_code_of_errno(q->r), err_text(&q->err), NULL);
    } else if (q->r == SNAPSHOTTER_MADE) {
        (void)send_messages(q);
        grpc_stream_end(q->st, GRPC_OK, NULL, NULL);
    } else if (q->r == SNAPSHOTTER_MORE) {
        send_part(q);
    } else if (q->r == SNAPSHOTTER_WANTS_WALK) {
        queue_walk(q);
    } else if (image || (may_wait && q->r == SNAPSHOTTER_WANTS_LAYER)) {
        wait_for(q, image);
    } else {
        q->call.is_plain = true;
        start_call(q);
    }
}

static void run_call(struct job *j)
{
    struct snapshot_serving *q = container_of(j, struct snapshot_serving, job);
    q->err = (struct err){ 0 };
    buf_reset(&q->answer);
    q->r = snapshot_call_run(q->server->snapshotter, &q->call, &q->answer, &q->layer, &q->err);
}

/* It ran. Nothing after it. */
static void end_run(struct snapshot_serving *q)
{
    q->is_running = false;
    if (q->st)
        go_on(q);
    else
        serving_free(q);
}

static void on_call_done(struct job *j, int r)
{
    struct snapshot_serving *q = container_of(j, struct snapshot_serving, job);
    if (r < 0)
        q->r = err_sys(&q->err, r, "call");
    end_run(q);
}

static void start_call(struct snapshot_serving *q)
{
    q->job = (struct job){ .work = run_call, .done = on_call_done };
    q->is_running = job_start(q->server->loop, &q->job) >= 0;
    if (!q->is_running)
        grpc_stream_end(q->st, GRPC_UNAVAILABLE, "try again", NULL);
}

/* ---- calls that take as long as a tree is large ---- */

static enum snapshot_walk walk_of(const struct snapshot_serving *q)
{
    return q->method == SNAPSHOT_CALL_COMMIT || q->method == SNAPSHOT_CALL_USAGE
               ? SNAPSHOT_WALK_READ
               : SNAPSHOT_WALK_REMOVE;
}

static void on_walk_end(struct thread_job *job)
{
    struct snapshot_serving *q = container_of(job, struct snapshot_serving, walking);
    struct snapshot_server *s = q->server;
    enum snapshot_walk kind = walk_of(q);
    assert(s->n_walking[kind] > 0);
    s->n_walking[kind]--;
    start_walks(s, kind);
    end_run(q);
}

static void walk(struct thread_job *job)
{
    run_call(&container_of(job, struct snapshot_serving, walking)->job);
}

static void start_walks(struct snapshot_server *s, enum snapshot_walk kind)
{
    while (s->n_walking[kind] < SNAPSHOT_SERVER_WALKS_MAX && !list_is_empty(&s->walks[kind])) {
        struct err err = { 0 };
        struct snapshot_serving *q = list_first(&s->walks[kind], struct snapshot_serving, walk);
        list_remove(&q->walk);
        q->is_running = true;
        q->walking = (struct thread_job){ .work = walk, .done = on_walk_end };
        if (thread_job_start(s->loop, &q->walking, &err) >= 0) {
            s->n_walking[kind]++;
            continue;
        }
        q->is_running = false;
        grpc_stream_end(q->st, GRPC_UNAVAILABLE, err_text(&err), NULL);
    }
}

/* It runs again when there is a thread for it. */
static void queue_walk(struct snapshot_serving *q)
{
    enum snapshot_walk kind = walk_of(q);
    q->call.may_walk = true;
    list_push_back(&q->server->walks[kind], &q->walk);
    start_walks(q->server, kind);
}

static void on_message(struct grpc_stream *st, struct str message)
{
    struct snapshot_serving *q = grpc_stream_data(st);
    struct err err = { 0 };
    if (q->has_call) {
        grpc_stream_end(st, GRPC_INVALID_ARGUMENT, "the call takes one message", NULL);
        return;
    }
    int r = snapshot_call_read(q->method, message, &q->call, &err);
    if (r < 0) {
        grpc_stream_end(st, grpc_code_of_errno(r), err_text(&err), NULL);
        return;
    }
    q->has_call = true;
    start_call(q);
}

static void on_half_close(struct grpc_stream *st)
{
    struct snapshot_serving *q = grpc_stream_data(st);
    if (!q->has_call)
        grpc_stream_end(st, GRPC_INVALID_ARGUMENT, "the call takes a message", NULL);
}

/* What runs or waits for its answer without a client is dropped when it can be. */
static void on_gone(struct grpc_stream *st, int r)
{
    struct snapshot_serving *q = grpc_stream_data(st);
    (void)r;
    q->st = NULL;
    if (!q->is_running)
        serving_free(q);
}

static void begin(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { .on_message = on_message,
                                                .on_half_close = on_half_close,
                                                .on_writable = on_writable,
                                                .on_gone = on_gone };
    const struct snapshot_server_method *m = arg;
    struct snapshot_server *s = m->server;
    if (image_closing_has_begun(&s->closing) || s->n_calls >= SNAPSHOT_SERVER_CALLS_MAX) {
        grpc_stream_end(st, GRPC_UNAVAILABLE, "too many calls at once", NULL);
        return;
    }
    struct snapshot_serving *q = xnew(struct snapshot_serving);
    *q = (struct snapshot_serving){
        .server = s, .st = st, .method = m->method, .answer = BUF_INIT(SNAPSHOT_ANSWER_MAX)
    };
    list_push_back(&s->calls, &q->node);
    s->n_calls++;
    grpc_stream_set(st, &ops, q);
}

/* ---- the server ---- */

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    struct snapshot_server *s = arg;
    if (!grpc_server_take(s->grpc, x, req))
        http_reply(x, 404, NULL, STR("a snapshotter of containerd: gRPC\n"));
}

static void server_free(struct snapshot_server *s)
{
    grpc_server_free(s->grpc);
    map_each (e, &s->pulled)
        free(e->value);
    map_fini(&s->pulled);
    for (size_t i = 0; i < s->n_upstreams; i++)
        free(s->upstreams[i]);
    free(s);
}

int snapshot_server_start(const struct snapshot_server_opts *opts, struct snapshot_server **ret,
                          struct err *err)
{
    /* The author of an image may choose which image is pulled, and pulled layers are public: so the
     * pull must only get public data. */
    static const struct oci_login nobody = { 0 };
    struct snapshot_server *s = xnew(struct snapshot_server);
    *s = (struct snapshot_server){ .loop = opts->loop,
                                   .snapshotter = opts->snapshotter,
                                   .store = opts->store,
                                   .registry = opts->registry,
                                   .grpc = grpc_server_new(opts->loop) };
    image_closing_init(&s->closing, on_http_closed, s);
    s->registry.login = &nobody;
    s->registry.no_login = "a snapshotter pulls without any";
    list_init(&s->calls);
    list_init(&s->works);
    for (int i = 0; i < SNAPSHOT_WALK_COUNT; i++)
        list_init(&s->walks[i]);
    s->n_upstreams = MIN(opts->n_upstreams, (size_t)SNAPSHOT_SERVER_UPSTREAMS_MAX);
    for (size_t i = 0; i < s->n_upstreams; i++)
        s->upstreams[i] = xstrdup(opts->upstreams[i]);
    for (int m = 0; m < SNAPSHOT_METHOD_COUNT; m++) {
        s->methods[m] = (struct snapshot_server_method){ s, (enum snapshot_method)m };
        grpc_server_add(s->grpc, snapshot_call_path((enum snapshot_method)m), SNAPSHOT_CALL_MAX,
                        begin, &s->methods[m]);
    }
    const struct http_server_opts http = { .unix_path = opts->socket,
                                           .on_request = on_request,
                                           .arg = s,
                                           .http2 = true,
                                           .max_connections = SNAPSHOT_SERVER_CONNECTIONS_MAX };
    int r = http_server_start(s->loop, &http, &s->http, err);
    if (r < 0)
        server_free(s);
    else
        *ret = s;
    return r;
}

static void finish_close(struct snapshot_server *s)
{
    if (!image_closing_is_draining(&s->closing) || s->n_calls || s->n_works)
        return;
    struct image_closing closing = s->closing;
    server_free(s);
    image_closing_end(closing);
}

static void on_http_closed(void *arg)
{
    finish_close(arg);
}

void snapshot_server_close(struct snapshot_server *s, uint64_t grace_ms, void (*done)(void *arg),
                           void *arg)
{
    image_closing_start(&s->closing, done, arg);
    atomic_store(&s->stop, true);
    image_closing_close_http(&s->closing, s->http, grace_ms);
}
