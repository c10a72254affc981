/* SPDX-License-Identifier: Apache-2.0 */
/* Port forwarding; see forward.h. */
#include "agent/stream/forward.h"

#include "agent/stream/link.h"
#include "agent/stream/pipe.h"
#include "base/list.h"
#include "base/sm.h"
#include "codec/url.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { REQUEST_ID_MAX = 64, NO_STREAM = UINT32_MAX };

/*
 *     HALF ----> DIALING ----> JOINED ----> DONE
 *       |           |            |           ^      HALF: one of its two streams is there
 *       +-----------+------------+-----------'
 */
enum pair_at { PAIR_HALF, PAIR_DIALING, PAIR_JOINED, PAIR_DONE };

static const struct sm_state pair_table[] = {
    [PAIR_HALF] = { "half", EDGE(PAIR_DIALING) | EDGE(PAIR_DONE) },
    [PAIR_DIALING] = { "dialing", EDGE(PAIR_JOINED) | EDGE(PAIR_DONE) },
    [PAIR_JOINED] = { "joined", EDGE(PAIR_DONE) },
    [PAIR_DONE] = { "done", 0 },
};

struct forward_pair {
    struct list node; /* of forward.pairs */
    struct forward *f;
    struct sm sm;
    char request[REQUEST_ID_MAX + 1];
    uint16_t port;
    uint32_t data, error; /* streams of the link */
    bool dials;           /* done() is to come */
    bool client_ended;    /* before the connection was there */
    struct stream_pipe *pipe;
    struct timer creation;
};

struct forward {
    struct loop *loop;
    struct stream_link *link; /* NULL: the client has gone */
    struct list pairs;
    bool is_channels;
    char *pod, *uid;
    uint64_t creation_ms;
    const struct stream_port_ops *ops;
    void *arg;
};

/* ------------------------------------------------------------------ the end */

static void forward_free_if_done(struct forward *f)
{
    if (f->link || !list_is_empty(&f->pairs))
        return;
    if (f->ops->close)
        f->ops->close(f->arg);
    free(f->pod);
    free(f->uid);
    free(f);
}

/* Free the pair once no dial is under way. */
static void pair_free_if_done(struct forward_pair *p)
{
    if (p->sm.at != PAIR_DONE || p->dials)
        return;
    list_remove(&p->node);
    free(p);
}

/* The channels' connection ends with its last pair. */
static void finish_if_done(struct forward *f)
{
    if (f->is_channels && f->link && list_is_empty(&f->pairs))
        stream_link_finish(f->link);
}

static void pair_end(struct forward_pair *p)
{
    struct forward *f = p->f;
    sm_move(&p->sm, PAIR_DONE);
    timer_stop(f->loop, &p->creation);
    if (f->link)
        stream_link_resume(f->link, p->data); /* what the client still sends is dropped */
    stream_pipe_close(p->pipe);
    p->pipe = NULL;
    pair_free_if_done(p);
}

/* Both streams end: the pod has closed the connection. */
static void pair_close(struct forward_pair *p)
{
    struct forward *f = p->f;
    stream_link_end(f->link, p->data);
    stream_link_end(f->link, p->error);
    pair_end(p);
    finish_if_done(f);
}

/* Say why, and abandon the connection. */
static void pair_fail(struct forward_pair *p, const char *why)
{
    struct forward *f = p->f;
    scoped(free_scoped) char *text =
        xasprintf("error forwarding port %u to pod %s, uid %s: %s", p->port, f->pod, f->uid, why);
    if (p->error != NO_STREAM)
        (void)stream_link_write(f->link, p->error, str_of(text));
    stream_link_end(f->link, p->error);
    stream_link_reset(f->link, p->data);
    pair_end(p);
    finish_if_done(f);
}

/* ------------------------------------------------------------------ the pod */

static void on_pod_data(void *arg, struct str bytes)
{
    struct forward_pair *p = arg;
    if (!stream_link_write(p->f->link, p->data, bytes))
        stream_pipe_pause(p->pipe);
}

static void on_pod_eof(void *arg)
{
    pair_close(arg);
}

static void on_pod_writable(void *arg)
{
    struct forward_pair *p = arg;
    stream_link_resume(p->f->link, p->data);
}

/* Reading goes on: what the pod has sent before is still passed. */
static void on_pod_broken(void *arg, int r)
{
    on_pod_writable(arg);
}

static void join(struct forward_pair *p, int fd)
{
    static const struct stream_pipe_events events = { .on_data = on_pod_data,
                                                      .on_eof = on_pod_eof,
                                                      .on_writable = on_pod_writable,
                                                      .on_broken = on_pod_broken };
    sm_move(&p->sm, PAIR_JOINED);
    p->pipe = stream_pipe_open(p->f->loop, fd, &events, p);
    stream_pipe_resume(p->pipe);
    stream_link_resume(p->f->link, p->data);
    if (p->client_ended)
        stream_pipe_end(p->pipe);
}

static void on_dialed(void *dial, int fd, const struct err *err)
{
    struct forward_pair *p = dial;
    struct forward *f = p->f;
    p->dials = false;
    if (p->sm.at == PAIR_DONE) { /* the client has left meanwhile */
        if (fd >= 0)
            (void)close(fd);
        pair_free_if_done(p);
        forward_free_if_done(f);
    } else if (fd < 0) {
        pair_fail(p, err_text(err));
    } else {
        join(p, fd);
    }
}

static void dial(struct forward_pair *p)
{
    struct err err = { 0 };
    timer_stop(p->f->loop, &p->creation);
    sm_move(&p->sm, PAIR_DIALING);
    p->dials = true;
    if (p->f->ops->dial(p->f->arg, p->port, on_dialed, p, &err) >= 0)
        return;
    p->dials = false;
    pair_fail(p, err_text(&err));
}

/* ------------------------------------------------------------------ pairs */

static void on_creation(struct timer *t)
{
    struct forward_pair *p = container_of(t, struct forward_pair, creation);
    pair_fail(p, "timed out waiting for streams");
}

static struct forward_pair *pair_new(struct forward *f, struct str request, uint16_t port)
{
    struct forward_pair *p = xnew(struct forward_pair);
    assert(request.n <= REQUEST_ID_MAX);
    p->f = f;
    p->port = port;
    p->data = p->error = NO_STREAM;
    memcpy(p->request, request.p, request.n);
    sm_init(&p->sm, pair_table, PAIR_HALF);
    list_push_back(&f->pairs, &p->node);
    return p;
}

static struct forward_pair *find_request(struct forward *f, struct str request)
{
    list_each (node, &f->pairs) {
        struct forward_pair *p = list_entry(node, struct forward_pair, node);
        if (p->sm.at != PAIR_DONE && str_is(request, p->request))
            return p;
    }
    return NULL;
}

static struct forward_pair *find_data(struct forward *f, uint32_t id)
{
    list_each (node, &f->pairs) {
        struct forward_pair *p = list_entry(node, struct forward_pair, node);
        if (p->sm.at != PAIR_DONE && p->data == id)
            return p;
    }
    return NULL;
}

/*
 * Clients of Kubernetes 1.0 send no request id. They open the error stream and then the data
 * stream, so that the number of the former stands for both.
 */
static struct str request_of(const struct headers *h, uint32_t id, bool is_data,
                             char room[REQUEST_ID_MAX])
{
    struct str request = headers_get(h, "requestid");
    if (request.n)
        return request;
    (void)snprintf(room, REQUEST_ID_MAX, "#%u", is_data ? id - 2 : id);
    return str_of(room);
}

static bool on_open(void *arg, uint32_t id, const struct headers *h)
{
    struct forward *f = arg;
    char room[REQUEST_ID_MAX];
    uint64_t port;
    struct str type = headers_get(h, "streamtype");
    bool is_data = str_is(type, "data");
    if ((!is_data && !str_is(type, "error")) ||
        parse_u64(headers_get(h, "port"), 1, UINT16_MAX, &port) < 0)
        return false;
    struct str request = request_of(h, id, is_data, room);
    if (request.n > REQUEST_ID_MAX)
        return false;
    struct forward_pair *p = find_request(f, request);
    if (!p) {
        p = pair_new(f, request, (uint16_t)port);
        timer_start(f->loop, &p->creation, f->creation_ms, on_creation);
    }
    uint32_t *slot = is_data ? &p->data : &p->error;
    if (*slot != NO_STREAM || p->port != port)
        return false;
    *slot = id;
    if (is_data)
        stream_link_pause(f->link, id); /* until the connection is there */
    return true;
}

/* The link has answered the second stream. */
static void on_opened(void *arg, uint32_t id)
{
    struct forward *f = arg;
    list_each (node, &f->pairs) {
        struct forward_pair *p = list_entry(node, struct forward_pair, node);
        if (p->sm.at != PAIR_HALF || (p->data != id && p->error != id) || p->data == NO_STREAM ||
            p->error == NO_STREAM)
            continue;
        dial(p);
        return;
    }
}

/* ------------------------------------------------------------------ the client */

static void on_data(void *arg, uint32_t id, struct str bytes)
{
    struct forward *f = arg;
    struct forward_pair *p = find_data(f, id);
    if (p && p->pipe && !stream_pipe_write(p->pipe, bytes))
        stream_link_pause(f->link, id);
}

static void on_end(void *arg, uint32_t id)
{
    struct forward_pair *p = find_data(arg, id);
    if (p && p->pipe)
        stream_pipe_end(p->pipe);
    else if (p)
        p->client_ended = true;
}

static void on_reset(void *arg, uint32_t id)
{
    struct forward_pair *p = find_data(arg, id);
    if (p)
        pair_close(p);
}

static void on_writable(void *arg, uint32_t id)
{
    struct forward_pair *p = find_data(arg, id);
    if (p && p->pipe)
        stream_pipe_resume(p->pipe);
}

static void on_gone(void *arg, int r)
{
    struct forward *f = arg;
    f->link = NULL;
    list_each_safe (node, &f->pairs) {
        struct forward_pair *p = list_entry(node, struct forward_pair, node);
        if (p->sm.at != PAIR_DONE)
            pair_end(p);
    }
    forward_free_if_done(f);
}

/* ------------------------------------------------------------------ serving */

static void open_channels(struct forward *f, const uint16_t *ports, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct forward_pair *p = pair_new(f, STR(""), ports[i]);
        const char number[2] = { (char)ports[i], (char)(ports[i] >> 8) };
        p->data = (uint32_t)(2 * i);
        p->error = (uint32_t)(2 * i + 1);
        stream_link_pause(f->link, p->data);
        (void)stream_link_write(f->link, p->data, str_n(number, sizeof number));
        (void)stream_link_write(f->link, p->error, str_n(number, sizeof number));
    }
    list_each_safe (node, &f->pairs)
        dial(list_entry(node, struct forward_pair, node));
}

void stream_forward_serve(const struct stream_forward_opts *opts)
{
    static const struct stream_link_events events = { .on_open = on_open,
                                                      .on_opened = on_opened,
                                                      .on_data = on_data,
                                                      .on_end = on_end,
                                                      .on_reset = on_reset,
                                                      .on_writable = on_writable,
                                                      .on_gone = on_gone };
    struct forward *f = xnew(struct forward);
    *f = (struct forward){ .loop = opts->loop,
                           .is_channels = opts->choice->carrier == STREAM_CHANNELS,
                           .pod = str_dup(opts->pod),
                           .uid = str_dup(opts->uid),
                           .creation_ms =
                               opts->creation_ms ? opts->creation_ms : STREAM_FORWARD_CREATION_MS,
                           .ops = opts->ops,
                           .arg = opts->arg };
    list_init(&f->pairs);
    assert(opts->n_ports <= STREAM_FORWARD_PORTS_MAX);
    f->link =
        stream_link_open(&(struct stream_link_opts){ .loop = opts->loop,
                                                     .x = opts->x,
                                                     .choice = opts->choice,
                                                     .n_channels = (uint32_t)opts->n_ports * 2,
                                                     .idle_ms = opts->idle_ms,
                                                     .count = opts->count,
                                                     .events = &events,
                                                     .arg = f });
    if (f->is_channels)
        open_channels(f, opts->ports, opts->n_ports);
}

static int add_ports(struct str list, uint16_t *ret, size_t *n, struct err *err)
{
    struct str item, rest = list;
    do {
        uint64_t port;
        bool more = str_cut(rest, ',', &item, &rest);
        if (*n == STREAM_FORWARD_PORTS_MAX)
            return err_set(err, E_LIMIT, "more than %d ports", STREAM_FORWARD_PORTS_MAX);
        if (parse_u64(item, 1, UINT16_MAX, &port) < 0)
            return err_set(err, E_INVALID, "unable to parse \"" STR_FMT "\" as a port",
                           STR_ARG(item));
        ret[(*n)++] = (uint16_t)port;
        if (!more)
            return 0;
    } while (true);
}

int stream_forward_ports(const struct url_target *url, uint16_t ret[STREAM_FORWARD_PORTS_MAX],
                         size_t *ret_n, struct err *err)
{
    size_t n = 0;
    int r = 0;
    for (size_t i = 0; i < url->n_pairs && r >= 0; i++)
        if (str_is(url->pairs[i].name, "port"))
            r = add_ports(url->pairs[i].value, ret, &n, err);
    if (r >= 0 && n == 0)
        r = err_set(err, E_INVALID, "query parameter \"port\" is required");
    if (r >= 0)
        *ret_n = n;
    return r;
}
