/* SPDX-License-Identifier: Apache-2.0 */
#include "node/images.h"

#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json.h"
#include "image/provide.h"
#include "image/provide_child.h"
#include "io/process.h"
#include "node/image_node.h"
#include "node/images_known.h"
#include "node/images_text.h"
#include "node/images_unused.h"
#include "node/lazy_roots.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10, HEX_DIGITS = 64 };

extern char **environ; /* the child inherits proxy settings from it */

/* An image that is in use here, or whose lease is about to be dropped. */
struct images_held {
    struct container_image pub;
    struct node_images *s;
    uint32_t refs;
    bool is_left;           /* its lease is for the next process */
    struct lazy_root *lazy; /* its mount; NULL: it is in the store */
};

/* The plan that brings the rest of a lazy image; until it is over the mount's process does not
 * fetch that. */
struct images_plan {
    struct list node; /* in `plans` */
    struct lazy_root *lazy;
    struct image_node_wait *wait; /* NULL: it is over */
};

/* One request to the child; equal requests are merged. */
struct images_request {
    struct node_images *s;
    struct list node; /* in `trying`, `waiting` or `asked` */
    uint64_t id;
    char *key;                   /* in `by_text`; NULL: another request */
    char *text;                  /* JSON of "get"; NULL: another request */
    char *tenant;                /* as above */
    char *lease;                 /* the lease to drop; NULL: another request */
    char *wants;                 /* JSON of the job of images_do(); NULL: another request */
    struct images_job *for_whom; /* of it; NULL: cancelled */
    bool is_pulling;
    bool is_repeatable; /* the answer may be given again: images_known.h */
    struct images_stamp asked;
    struct image_node_job_call job; /* `asked`, of this process and not of the child */
    struct image_node_wait *wait;   /* for a plan; NULL: `waiting` for its turn */
    struct lazy_root *lazy;         /* `trying`, until it is mounted; NULL: it is not tried */
    struct images_held *shared;     /* `waiting`: a lazy image to be given; NULL: none */
    char *reference;                /* of a request for an image */
    bool is_planned, is_always;     /* likewise */
    struct list calls;              /* struct waiter */
};

struct waiter {
    struct list node;
    struct container_image_call *call;
    bool is_reported; /* the start of the pull was reported */
};

/* After its input is closed, the struct frees itself. */
struct images_child {
    struct node_images *s;
    struct list node;        /* in `children` */
    struct process *process; /* NULL: it has ended */
    uv_pipe_t in, out;
    struct buf lines;
    int handles; /* that are not closed yet */
    bool is_ending;
};

struct node_images {
    struct images_opts opts;
    struct image_node *node; /* NULL: images are not shared */
    char *lease;             /* prefix of the leases' ids */
    struct map held;         /* dir -> struct images_held */
    struct map by_text;      /* key -> struct images_request */
    struct images_known known;
    struct list trying, waiting, asked;
    struct list plans;
    struct lazy_roots *lazy; /* NULL: none are mounted lazily */
    container_image_news_cb on_news;
    void *news_arg;
    size_t n_gets, n_drops; /* in `asked`; one is 0, since a drop must not meet a new lease */
    size_t n_unused;        /* held images without a reference */
    struct timer rest;      /* until they are dropped */
    bool is_rested;         /* it has ended */
    uint64_t last_id;
    size_t n_jobs;              /* requests that this process works on */
    struct images_child *child; /* the child that accepts requests; NULL: none */
    struct list children;       /* children that have not ended */
    struct defer turn;
    struct timer late;
    bool is_late; /* closing: no further requests are sent */
    void (*done)(void *arg);
    void *done_arg;
};

static void pump_later(struct node_images *s);

/* ---------------------------------------------------------------- requests */

static void free_request(struct images_request *q)
{
    list_remove(&q->node);
    if (q->wait)
        image_node_await_cancel(q->wait);
    if (q->key)
        map_del(&q->s->by_text, str_of(q->key));
    free(q->key);
    free(q->reference);
    free(q->text);
    free(q->tenant);
    free(q->lease);
    free(q->wants);
    free(q);
}

/* The request has ended: no further answer follows. */
static void end_request(struct images_request *q)
{
    if (q->lease)
        q->s->n_drops--;
    else
        q->s->n_gets--;
    struct node_images *s = q->s;
    free_request(q);
    pump_later(s);
}

static void end_job(struct images_request *q, int r, const struct json *result,
                    const struct err *err)
{
    struct images_job *j = q->for_whom;
    end_request(q);
    if (!j)
        return;
    j->data = NULL;
    j->on_done(j, r, result, err);
}

static void fail_request(struct images_request *q, int r, const char *text)
{
    struct err err = { 0 };
    struct list calls;
    (void)err_set(&err, r, "%s", text);
    if (q->wants) {
        end_job(q, r, NULL, &err);
        return;
    }
    list_init(&calls);
    list_move_all(&q->calls, &calls);
    end_request(q);
    while (!list_is_empty(&calls)) {
        struct waiter *w = list_entry(list_pop_front(&calls), struct waiter, node);
        struct container_image_call *c = w->call;
        free(w);
        c->data = NULL;
        c->on_done(c, r, NULL, &err);
    }
}

static struct images_request *find_request(struct node_images *s, uint64_t id)
{
    list_each (node, &s->asked) {
        struct images_request *q = list_entry(node, struct images_request, node);
        if (q->id == id)
            return q;
    }
    return NULL;
}

/* ---------------------------------------------------------------- images in use */

static struct images_held *hold(struct node_images *s, struct str dir)
{
    struct images_held *h = map_get(&s->held, dir);
    if (!h) {
        h = xnew(struct images_held);
        h->s = s;
        h->pub.dir = str_dup(dir);
        (void)map_put(&s->held, dir, h);
    } else if (h->refs == 0) {
        s->n_unused--;
    }
    h->refs++;
    return h;
}

static void free_held(struct images_held *h)
{
    map_del(&h->s->held, str_of(h->pub.dir));
    free((char *)(uintptr_t)h->pub.dir);
    free((char *)(uintptr_t)h->pub.config.p);
    free(h);
}

static void ref(void *arg, struct container_image *image)
{
    (void)arg;
    container_of(image, struct images_held, pub)->refs++;
}

static void on_rested(struct timer *t)
{
    struct node_images *s = container_of(t, struct node_images, rest);
    s->is_rested = true;
    pump_later(s);
}

static void free_plan(struct images_plan *p)
{
    list_remove(&p->node);
    if (p->wait)
        image_node_await_cancel(p->wait);
    free(p);
}

/* NULL: of all. */
static void end_plan(struct node_images *s, const struct lazy_root *lazy)
{
    list_each_safe (node, &s->plans) {
        struct images_plan *p = list_entry(node, struct images_plan, node);
        if (!lazy || p->lazy == lazy)
            free_plan(p);
    }
}

static void put(void *arg, struct container_image *image)
{
    struct node_images *s = arg;
    struct images_held *h = container_of(image, struct images_held, pub);
    assert(h->refs > 0);
    if (--h->refs > 0)
        return;
    if (h->is_left) {
        free_held(h);
        return;
    }
    s->n_unused++;
    if (s->opts.keep_ms == 0 || s->done)
        pump_later(s);
    else if (!timer_is_armed(&s->rest))
        timer_start(s->opts.loop, &s->rest, s->opts.keep_ms, on_rested);
}

static void leave(void *arg, struct container_image *image)
{
    container_of(image, struct images_held, pub)->is_left = true;
    put(arg, image);
}

static bool is_hex(struct str s, size_t n)
{
    bool ok = s.n == n;
    for (size_t i = 0; ok && i < s.n; i++)
        ok = (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f');
    return ok;
}

/* The last part of an image's path in the store, "<manifest>/<tenant>"; "": not such a path. */
static struct str place_of(const struct node_images *s, struct str dir)
{
    scoped(free_scoped) char *prefix = xasprintf("%s/images/", s->opts.store);
    struct str place = str_slice(dir, strlen(prefix), dir.n), manifest, tenant;
    bool ok = str_has_prefix(dir, str_of(prefix)) && str_cut(place, '/', &manifest, &tenant) &&
              is_hex(manifest, HEX_DIGITS) && is_hex(tenant, PROVIDE_TENANT_DIGITS);
    return ok ? place : STR("");
}

static struct images_held *hold_lazy(struct node_images *s, struct lazy_root *r)
{
    struct images_held *h = hold(s, str_of(lazy_root_dir(r)));
    struct str config = lazy_root_config(r);
    if (!h->lazy) {
        h->lazy = r;
        h->pub.is_lazy = true;
        h->pub.config = str_n(str_dup(config), config.n);
        h->pub.n_program = lazy_root_words(r);
    }
    return h;
}

static struct container_image *adopt(void *arg, struct str dir)
{
    struct node_images *s = arg;
    struct lazy_root *lazy = s->lazy ? lazy_roots_adopt(s->lazy, dir) : NULL;
    if (lazy)
        return &hold_lazy(s, lazy)->pub;
    return place_of(s, dir).n ? &hold(s, dir)->pub : NULL;
}

/* ---------------------------------------------------------------- answers */

/* h: a reference of it, which is given up once every caller has one. */
static void give_image(struct images_request *q, struct images_held *h)
{
    struct node_images *s = q->s;
    struct list calls;
    list_init(&calls);
    list_move_all(&q->calls, &calls);
    end_request(q);
    while (!list_is_empty(&calls)) {
        struct waiter *w = list_entry(list_pop_front(&calls), struct waiter, node);
        struct container_image_call *c = w->call;
        free(w);
        c->data = NULL;
        h->refs++;
        c->on_done(c, 0, &h->pub, NULL);
    }
    put(s, &h->pub);
}

static void take_image(struct images_request *q, const struct json *m)
{
    struct node_images *s = q->s;
    struct str dir = json_get_str(m, "dir"), config = json_get_str(m, "config");
    if (!place_of(s, dir).n) {
        fail_request(q, -EIO, "the process that pulls images named a wrong directory");
        return;
    }
    struct images_held *h = hold(s, dir);
    if (!h->pub.config.p) {
        h->pub.config = str_n(str_dup(config), config.n);
        h->pub.n_program = (size_t)json_int_or(json_getc(m, "words"), 0);
    }
    if (json_bool(json_getc(m, "pulled"))) {
        log_info("image pulled", "digest=" STR_FMT, STR_ARG(json_get_str(m, "manifest")));
        if (s->opts.on_pulled)
            s->opts.on_pulled(s->opts.arg);
    }
    if (s->node)
        image_node_changed(s->node);
    if (q->is_repeatable)
        images_known_add(&s->known, s->opts.store, q->asked, str_of(q->text), h->pub.dir);
    give_image(q, h);
}

/* Also notifies callers that joined after the pull had begun. */
static void tell_pulling(struct images_request *q)
{
    list_each (node, &q->calls) {
        struct waiter *w = list_entry(node, struct waiter, node);
        if (w->is_reported)
            continue;
        w->is_reported = true;
        w->call->on_pulling(w->call);
    }
}

static void take_message(struct node_images *s, const struct json *m)
{
    struct images_request *q = find_request(s, (uint64_t)json_int_or(json_getc(m, "id"), 0));
    const struct json *error = json_getc(m, "error");
    scoped(free_scoped) char *text = str_dup(json_get_str(error, "text"));
    if (!q)
        return;
    if (json_bool(json_getc(m, "pulling"))) {
        q->is_pulling = true;
        tell_pulling(q);
    } else if (error && !q->lease) {
        int64_t code = json_int_or(json_getc(error, "code"), -EIO);
        fail_request(q, code < 0 && code > INT32_MIN ? (int)code : -EIO, text);
    } else if (q->text) {
        take_image(q, m);
    } else if (q->wants) {
        end_job(q, 0, json_getc(m, "result"), NULL);
    } else {
        if (error)
            log_warn("lease of an image not dropped", "lease=%s error=\"%s\"", q->lease, text);
        end_request(q);
    }
}

static void take_line(struct node_images *s, struct str line)
{
    struct arena a = { 0 };
    struct json *m;
    if (json_parse(&a, line, NULL, &m, NULL) >= 0)
        take_message(s, m);
    arena_fini(&a);
}

/* ---------------------------------------------------------------- the child */

static void check_closed(struct node_images *s)
{
    if (!s->done || s->n_jobs || !list_is_empty(&s->children) || !list_is_empty(&s->waiting) ||
        s->n_unused)
        return;
    while (!list_is_empty(&s->trying))
        free_request(list_first(&s->trying, struct images_request, node));
    end_plan(s, NULL);
    lazy_roots_close(s->lazy);
    void (*done)(void *) = s->done;
    void *arg = s->done_arg;
    timer_stop(s->opts.loop, &s->late);
    timer_stop(s->opts.loop, &s->rest);
    defer_cancel(&s->turn);
    images_known_fini(&s->known);
    for (struct map_entry *e; (e = map_next(&s->held, NULL));)
        free_held(e->value);
    map_fini(&s->held);
    map_fini(&s->by_text);
    free(s->lease);
    free(s);
    done(arg);
}

static struct images_request *find_of_child(struct node_images *s)
{
    list_each (node, &s->asked) {
        struct images_request *q = list_entry(node, struct images_request, node);
        if (!q->job.on_done)
            return q;
    }
    return NULL;
}

/* Fail the requests that the child has not answered. */
static void fail_asked(struct node_images *s, const char *why)
{
    struct images_request *q;
    while ((q = find_of_child(s)))
        fail_request(q, -EIO, why);
}

static void give_up(struct images_child *c)
{
    struct node_images *s = c->s;
    if (c->process || c->handles)
        return;
    list_remove(&c->node);
    buf_fini(&c->lines);
    free(c);
    check_closed(s);
}

static void on_pipe_closed(uv_handle_t *h)
{
    struct images_child *c = h->data;
    c->handles--;
    give_up(c);
}

static void close_pipe(uv_pipe_t *p)
{
    if (!uv_is_closing((uv_handle_t *)p))
        uv_close((uv_handle_t *)p, on_pipe_closed);
}

/* The child gets no more requests, answers those it has, and ends. */
static void end_child(struct images_child *c)
{
    c->is_ending = true;
    if (c->s->child == c)
        c->s->child = NULL;
    close_pipe(&c->in);
}

static void on_child_exit(struct process *p, int status, void *arg)
{
    struct images_child *c = arg;
    (void)p;
    c->process = NULL;
    if (status != 0)
        log_warn("the process that pulls images has failed", "status=%d", status);
    give_up(c);
}

static void on_alloc(uv_handle_t *h, size_t n, uv_buf_t *ret)
{
    struct images_child *c = h->data;
    char *at = NULL;
    (void)n;
    *ret = buf_reserve(&c->lines, READ_BYTES, &at) < 0 ? uv_buf_init(NULL, 0)
                                                       : uv_buf_init(at, READ_BYTES);
}

static void on_read(uv_stream_t *h, ssize_t n, const uv_buf_t *b)
{
    struct images_child *c = h->data;
    struct node_images *s = c->s;
    (void)b;
    if (n < 0) { /* it has ended, or its output is too long */
        bool was_asked = !c->is_ending;
        end_child(c);
        close_pipe(&c->out);
        if (c->process)
            process_signal(c->process, n == UV_EOF ? SIGTERM : SIGKILL);
        if (was_asked)
            fail_asked(s, "the process that pulls images has ended");
        return;
    }
    buf_advance(&c->lines, (size_t)n);
    for (ptrdiff_t at; (at = str_find_char(buf_str(&c->lines), '\n')) >= 0;) {
        take_line(s, str_slice(buf_str(&c->lines), 0, (size_t)at));
        buf_consume(&c->lines, (size_t)at + 1);
    }
}

struct images_sending {
    uv_write_t req;
    char *text;
};

static void on_sent(uv_write_t *req, int status)
{
    struct images_sending *w = container_of(req, struct images_sending, req);
    (void)status; /* on_read() notices the end */
    free(w->text);
    free(w);
}

static void send_line(struct images_child *c, const struct json *message)
{
    struct buf line = BUF_INIT(PROVIDE_LINE_MAX);
    (void)json_write(&line, message);
    (void)buf_add_char(&line, '\n');
    if (!buf_ok(&line)) {
        buf_fini(&line);
        return;
    }
    struct images_sending *w = xnew(struct images_sending);
    size_t n;
    w->text = buf_take(&line, &n);
    uv_buf_t b = uv_buf_init(w->text, (unsigned)n);
    if (uv_write(&w->req, (uv_stream_t *)&c->in, &b, 1, on_sent) < 0)
        on_sent(&w->req, -1);
}

static void send_store(struct images_child *c)
{
    const struct images_opts *o = &c->s->opts;
    struct arena a = { 0 };
    struct json *m = json_new_object(&a);
    json_set_str(&a, m, "store", str_of(o->store));
    json_set_int(&a, m, "lockMilliseconds", IMAGES_LOCK_MS);
    send_line(c, m);
    arena_fini(&a);
}

/* The descriptors are above 2, as process_spawn() requires. */
static int make_pipe(int ends[2], struct err *err)
{
    int low[2];
    if (pipe2(low, O_CLOEXEC) < 0)
        return err_sys(err, -errno, "pipe");
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
        (void)close(low[i]);
    }
    if (ends[0] >= 0 && ends[1] >= 0)
        return 0;
    return err_sys(err, -EMFILE, "pipe");
}

static int spawn(struct images_child *c, int in, int out, struct err *err)
{
    const char *program = c->s->opts.program ? c->s->opts.program : "/proc/self/exe";
    const char *const argv[] = { program, PROVIDE_CHILD_WORD, NULL };
    scoped(fd_scoped) int err_out = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (err_out < 0)
        err_out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const struct process_opts opts = { .argv = argv,
                                       .env = (const char *const *)(uintptr_t)environ,
                                       .in = in,
                                       .out = out,
                                       .err_out = err_out,
                                       .on_exit = on_child_exit,
                                       .arg = c };
    return process_spawn(c->s->opts.loop, &opts, &c->process, err);
}

static void open_pipe(struct images_child *c, uv_pipe_t *p, int fd)
{
    (void)uv_pipe_init(&c->s->opts.loop->uv, p, 0);
    p->data = c;
    (void)uv_pipe_open(p, fd);
    c->handles++;
}

static int start_child(struct node_images *s, struct err *err)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 };
    struct images_child *c = xnew(struct images_child);
    c->s = s;
    buf_init(&c->lines, PROVIDE_LINE_MAX + READ_BYTES);
    int r = make_pipe(in, err);
    r = r < 0 ? r : make_pipe(out, err);
    r = r < 0 ? r : spawn(c, in[0], out[1], err);
    int theirs[] = { in[0], out[1], r < 0 ? in[1] : -1, r < 0 ? out[0] : -1 };
    for (size_t i = 0; i < ARRAY_LEN(theirs); i++)
        if (theirs[i] >= 0)
            (void)close(theirs[i]);
    if (r < 0) {
        buf_fini(&c->lines);
        free(c);
        return r;
    }
    open_pipe(c, &c->in, in[1]);
    open_pipe(c, &c->out, out[0]);
    list_push_back(&s->children, &c->node);
    s->child = c;
    (void)uv_read_start((uv_stream_t *)&c->out, on_alloc, on_read);
    send_store(c);
    return 0;
}

/* ---------------------------------------------------------------- the next request */

static void send_request(struct node_images *s, struct images_request *q)
{
    struct arena a = { 0 };
    struct json *m = json_new_object(&a), *v;
    json_set_int(&a, m, "id", (int64_t)q->id);
    if (q->lease)
        json_set_str(&a, m, "drop", str_of(q->lease));
    else if (json_parse(&a, str_of(q->wants ? q->wants : q->text), NULL, &v, NULL) >= 0)
        json_setc(&a, m, q->wants ? "job" : "get", v);
    send_line(s->child, m);
    arena_fini(&a);
}

static struct images_request *new_request(struct node_images *s)
{
    struct images_request *q = xnew(struct images_request);
    q->s = s;
    q->id = ++s->last_id;
    list_init(&q->calls);
    return q;
}

/* ---------------------------------------------------------------- jobs of this process */

static void on_job_event(struct image_node_job_call *c, const struct json *v)
{
    struct images_request *q = container_of(c, struct images_request, job);
    if (!json_bool(json_getc(v, "pulling")))
        return;
    q->is_pulling = true;
    tell_pulling(q);
}

static void on_job_done(struct image_node_job_call *c, int r, struct json *result, struct arena *a,
                        const struct err *err)
{
    struct images_request *q = container_of(c, struct images_request, job);
    struct node_images *s = q->s;
    s->n_jobs--;
    if (r < 0 && !q->lease) {
        fail_request(q, r, err_text(err));
    } else if (q->wants) {
        end_job(q, 0, result, NULL);
    } else if (q->text) {
        json_set_str(a, result, "dir",
                     str_of(arena_printf(a, "%s/images/" STR_FMT, s->opts.store,
                                         STR_ARG(json_get_str(result, "place")))));
        take_image(q, result);
    } else {
        if (r < 0)
            log_warn("lease of an image not dropped", "lease=%s error=\"%s\"", q->lease,
                     err_text(err));
        end_request(q);
    }
}

static void do_request(struct node_images *s, struct images_request *q)
{
    struct arena a = { 0 };
    struct json *job = json_new_object(&a);
    if (q->text && json_parse(&a, str_of(q->text), NULL, &job, NULL) >= 0) {
        json_set_str(&a, job, "do", STR("provide"));
    } else if (q->lease) {
        json_set_str(&a, job, "do", STR("release"));
        json_set_str(&a, job, "lease", str_of(q->lease));
    } else if (q->wants) {
        (void)json_parse(&a, str_of(q->wants), NULL, &job, NULL);
    }
    q->job = (struct image_node_job_call){ .on_event = on_job_event, .on_done = on_job_done };
    s->n_jobs++;
    image_node_do(s->node, job, &q->job);
    arena_fini(&a);
}

static void begin_request(struct node_images *s, struct images_request *q)
{
    list_remove(&q->node);
    list_push_back(&s->asked, &q->node);
    if (q->lease)
        s->n_drops++;
    else
        s->n_gets++;
}

static void ask(struct node_images *s, struct images_request *q)
{
    struct err err = { 0 };
    begin_request(s, q);
    if (q->is_repeatable)
        q->asked = images_stamp_now(s->opts.store);
    if (s->node && image_node_can_do(s->node))
        do_request(s, q);
    else if (!s->child && start_child(s, &err) < 0)
        fail_request(q, -EIO, err_text(&err));
    else
        send_request(s, q);
}

static bool may_drop(const struct node_images *s)
{
    return s->opts.keep_ms == 0 || s->is_rested || s->done;
}

static void drop_lazy(struct images_held *h)
{
    end_plan(h->s, h->lazy);
    lazy_root_drop(h->lazy);
    h->s->n_unused--;
    free_held(h);
}

static void drop_unused(struct node_images *s)
{
    struct map_entry *e = map_next(&s->held, NULL);
    s->is_rested = false;
    while (e && s->n_unused) {
        struct images_held *h = e->value;
        if (h->refs) {
            e = map_next(&s->held, e);
            continue;
        }
        if (h->lazy) {
            drop_lazy(h);
            e = map_next(&s->held, NULL);
            continue;
        }
        struct images_request *q = new_request(s);
        q->lease = xasprintf("%s:" STR_FMT, s->lease, STR_ARG(place_of(s, str_of(h->pub.dir))));
        s->n_unused--;
        free_held(h);
        ask(s, q);
        e = map_next(&s->held, NULL); /* the map has changed */
    }
}

/*
 * Limits the requests of one tenant, so that a slow registry leaves threads of the child to others.
 */
static bool has_turn(const struct node_images *s, const struct images_request *wanted)
{
    unsigned n = 0;
    list_each (node, &s->asked) {
        const struct images_request *q = list_entry(node, struct images_request, node);
        n += q->tenant && strcmp(q->tenant, wanted->tenant) == 0;
    }
    return n < IMAGES_TENANT_MAX;
}

/* The image that the same request got before, as long as it is leased; NULL: ask for it. */
static struct images_held *find_known(struct node_images *s, const struct images_request *q)
{
    const char *dir =
        q->is_repeatable ? images_known_find(&s->known, s->opts.store, str_of(q->text)) : NULL;
    struct images_held *h = dir ? map_get(&s->held, str_of(dir)) : NULL;
    return h && h->pub.config.p ? h : NULL;
}

static void ask_waiting(struct node_images *s)
{
    list_each_safe (node, &s->waiting) {
        struct images_request *q = list_entry(node, struct images_request, node);
        struct images_held *h = q->wait ? NULL : find_known(s, q);
        if (q->shared) {
            begin_request(s, q);
            give_image(q, take_ptr(&q->shared));
        } else if (h) {
            begin_request(s, q);
            give_image(q, hold(s, str_of(h->pub.dir)));
        } else if (!q->wait && has_turn(s, q)) {
            ask(s, q);
        }
    }
}

/*
 * Closing, and the remaining requests could wait for another process that writes the store: the
 * leases end with the boot instead.
 */
static void give_up_all(struct node_images *s)
{
    while (!list_is_empty(&s->waiting)) {
        struct images_request *q = list_first(&s->waiting, struct images_request, node);
        assert(list_is_empty(&q->calls)); /* the worker has ended */
        if (q->shared)
            leave(s, &q->shared->pub);
        free_request(q);
    }
    struct map_entry *e = map_next(&s->held, NULL);
    while (e) {
        free_held(e->value);
        e = map_next(&s->held, NULL);
    }
    s->n_unused = 0;
}

static void pump(struct defer *d)
{
    struct node_images *s = container_of(d, struct node_images, turn);
    if (s->is_late)
        give_up_all(s);
    if (s->n_drops == 0)
        ask_waiting(s);
    if (s->n_gets == 0 && list_is_empty(&s->waiting) && may_drop(s))
        drop_unused(s);
    list_each (node, &s->asked) {
        struct images_request *q = list_entry(node, struct images_request, node);
        if (q->is_pulling)
            tell_pulling(q);
    }
    if (s->child && !find_of_child(s))
        end_child(s->child);
    check_closed(s);
}

static void pump_later(struct node_images *s)
{
    defer_start(s->opts.loop, &s->turn, pump);
}

/* ---------------------------------------------------------------- the interface */

static void on_plan_over(void *arg)
{
    struct images_request *q = arg;
    q->wait = NULL;
    pump_later(q->s);
}

/* Its turn comes, after the plan that was announced for it. */
static void wait_for_turn(struct images_request *q)
{
    struct node_images *s = q->s;
    list_push_back(&s->waiting, &q->node);
    if (q->is_planned && s->node)
        q->wait = image_node_await(s->node, str_of(q->reference), str_of(q->tenant), q->is_always,
                                   on_plan_over, q);
    pump_later(s);
}

/* ---------------------------------------------------------------- lazy mounts */

static void on_rest_planned(void *arg)
{
    struct images_plan *p = arg;
    p->wait = NULL;
    lazy_root_go_on(p->lazy);
    free_plan(p);
}

static void hold_for_plan(struct images_request *q)
{
    struct node_images *s = q->s;
    struct images_plan *p = xnew(struct images_plan);
    p->lazy = q->lazy;
    list_push_back(&s->plans, &p->node);
    if (q->is_planned && s->node)
        p->wait = image_node_await(s->node, str_of(q->reference), str_of(q->tenant), q->is_always,
                                   on_rest_planned, p);
    if (!p->wait)
        on_rest_planned(p);
}

static void on_lazy_started(void *arg, int r, const char *why)
{
    struct images_request *q = arg;
    struct node_images *s = q->s;
    char text[LOG_QUOTE_MAX];
    struct lazy_root *lazy = take_ptr(&q->lazy);
    if (r < 0) {
        end_plan(s, lazy);
        if (r != -EEXIST)
            log_info("an image is pulled whole, not mounted lazily", "image=\"%s\" reason=\"%s\"",
                     q->reference, log_quote(text, str_of(why)));
        list_remove(&q->node);
        wait_for_turn(q);
        return;
    }
    log_info("image mounted lazily", "image=\"%s\" path=\"%s\"", q->reference, lazy_root_dir(lazy));
    begin_request(s, q);
    give_image(q, hold_lazy(s, lazy));
}

/* false: it is pulled whole. */
static bool try_lazily(struct images_request *q)
{
    struct node_images *s = q->s;
    struct err err = { 0 };
    char text[LOG_QUOTE_MAX];
    struct lazy_root *now = q->is_always ? NULL : lazy_roots_find(s->lazy, str_of(q->reference));
    const struct lazy_root_want want = { .reference = str_of(q->reference),
                                         .tenant = str_of(q->tenant),
                                         .get = q->text,
                                         .on_started = on_lazy_started,
                                         .arg = q };
    if (now) {
        q->shared = hold_lazy(s, now);
        list_push_back(&s->waiting, &q->node);
        return true;
    }
    if (lazy_roots_start(s->lazy, &want, &q->lazy, &err) < 0) {
        log_info("an image is pulled whole, not mounted lazily", "image=\"%s\" reason=\"%s\"",
                 q->reference, log_quote(text, str_of(err_text(&err))));
        return false;
    }
    list_push_back(&s->trying, &q->node);
    hold_for_plan(q);
    return true;
}

static struct images_held *find_held(struct node_images *s, const struct lazy_root *r)
{
    return lazy_root_dir(r) ? map_get(&s->held, str_of(lazy_root_dir(r))) : NULL;
}

static void tell_asked(struct node_images *s, const struct lazy_root *r)
{
    list_each (node, &s->trying) {
        struct images_request *q = list_entry(node, struct images_request, node);
        if (q->lazy != r)
            continue;
        q->is_pulling = true;
        tell_pulling(q);
        return;
    }
}

static void on_lazy_news(void *arg, struct lazy_root *r, enum lazy_root_news news, const char *why)
{
    static const enum container_image_news to[] = { [LAZY_ROOT_MISSING] = CONTAINER_IMAGE_MISSING,
                                                    [LAZY_ROOT_WHOLE] = CONTAINER_IMAGE_WHOLE,
                                                    [LAZY_ROOT_BROKEN] = CONTAINER_IMAGE_BROKEN };
    struct node_images *s = arg;
    struct images_held *h = find_held(s, r);
    if (news == LAZY_ROOT_ASKED) {
        tell_asked(s, r);
        return;
    }
    if (news == LAZY_ROOT_WHOLE) {
        log_info("image pulled", "path=\"%s\"", lazy_root_dir(r));
        if (s->node)
            image_node_changed(s->node);
        if (s->opts.on_pulled)
            s->opts.on_pulled(s->opts.arg);
    } else if (h) {
        char text[LOG_QUOTE_MAX];
        log_warn(news == LAZY_ROOT_BROKEN ? "a lazy image is unusable"
                                          : "files of a lazy image are missing",
                 "path=\"%s\" reason=\"%s\"", lazy_root_dir(r), log_quote(text, str_of(why)));
    }
    if (h && s->on_news)
        s->on_news(s->news_arg, &h->pub, to[news], why);
}

static void follow(void *arg, container_image_news_cb cb, void *cb_arg)
{
    struct node_images *s = arg;
    s->on_news = cb;
    s->news_arg = cb_arg;
}

static int get(void *arg, const struct container_image_want *want,
               struct container_image_call *call, struct err *err)
{
    struct node_images *s = arg;
    scoped(free_scoped) char *text = images_text_get(&s->opts, s->lease, want);
    if (!text)
        return err_set(err, E_LIMIT, "its credentials have more than %d bytes", IMAGES_TEXT_MAX);
    bool is_lazy =
        s->lazy && want->is_lazy && want->n_auths == 0 && want->policy != CONTAINER_PULL_NEVER;
    scoped(free_scoped) char *key = xasprintf("%s%s", is_lazy ? "lazy " : "", text);
    struct images_request *q = map_get(&s->by_text, str_of(key));
    if (!q && s->by_text.n >= IMAGES_REQUESTS_MAX)
        return err_set(err, E_LIMIT, "more than %d images are being pulled", IMAGES_REQUESTS_MAX);
    if (!q) {
        q = new_request(s);
        q->text = take_ptr(&text);
        q->key = take_ptr(&key);
        q->reference = str_dup(want->reference);
        q->tenant = str_dup(want->tenant);
        q->is_planned = want->is_planned && want->policy != CONTAINER_PULL_NEVER;
        q->is_always = want->policy == CONTAINER_PULL_ALWAYS;
        q->is_repeatable = !q->is_always;
        (void)map_put(&s->by_text, str_of(q->key), q);
        if (!is_lazy || !try_lazily(q))
            wait_for_turn(q);
    }
    struct waiter *w = xnew(struct waiter);
    w->call = call;
    list_push_back(&q->calls, &w->node);
    call->data = w;
    pump_later(s);
    return 0;
}

/* The pull continues: its result stays in the store. */
static void cancel(void *arg, struct container_image_call *call)
{
    struct waiter *w = take_ptr(&call->data);
    (void)arg;
    if (!w)
        return;
    list_remove(&w->node);
    free(w);
}

static const struct container_images_ops ops = { .get = get,
                                                 .cancel = cancel,
                                                 .adopt = adopt,
                                                 .ref = ref,
                                                 .put = put,
                                                 .leave = leave,
                                                 .prune = images_prune,
                                                 .prune_cancel = images_prune_cancel,
                                                 .follow = follow };

void images_do(struct node_images *s, const char *job, struct images_job *j)
{
    struct images_request *q = j->data = new_request(s);
    q->wants = xstrdup(job);
    q->tenant = xstrdup("");
    q->for_whom = j;
    list_push_back(&s->waiting, &q->node);
    pump_later(s);
}

void images_cancel_job(struct images_job *j)
{
    struct images_request *q = take_ptr(&j->data);
    if (q)
        q->for_whom = NULL;
}

void images_set_node(struct node_images *s, struct image_node *node)
{
    assert(!s->node && node);
    s->node = node;
}

struct container_images images_interface(struct node_images *s)
{
    return (struct container_images){ .ops = &ops, .arg = s };
}

struct node_images *images_new(const struct images_opts *opts)
{
    struct node_images *s = xnew(struct node_images);
    s->opts = *opts;
    s->lease = xasprintf("fn:%016llx", (unsigned long long)str_hash(str_of(opts->owner), 1));
    list_init(&s->trying);
    list_init(&s->plans);
    list_init(&s->waiting);
    list_init(&s->asked);
    list_init(&s->children);
    if (opts->lazy_dir)
        s->lazy = lazy_roots_new(&(struct lazy_roots_opts){ .loop = opts->loop,
                                                            .dir = opts->lazy_dir,
                                                            .store = opts->store,
                                                            .program = opts->program,
                                                            .on_news = on_lazy_news,
                                                            .arg = s });
    return s;
}

/* Running pulls are no longer needed. */
static void on_late(struct timer *t)
{
    struct node_images *s = container_of(t, struct node_images, late);
    s->is_late = true;
    if (s->node)
        image_node_stop_jobs(s->node);
    list_each (node, &s->children) {
        struct images_child *c = list_entry(node, struct images_child, node);
        if (c->process)
            process_signal(c->process, SIGKILL);
    }
    pump_later(s);
}

void images_close(struct node_images *s, void (*done)(void *arg), void *arg)
{
    s->done = done;
    s->done_arg = arg;
    timer_start(s->opts.loop, &s->late, IMAGES_CLOSE_MS, on_late);
    pump_later(s);
}
