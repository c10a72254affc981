/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushes layers to other nodes, as their deployments request: in the order of their priorities, in
 * the upload slots that are shared with requests of other nodes for layers.
 *
 *     WAITING --slot--> FINDING --stored--> ASKING --100--> SENDING --> ENDING --> (over), or
 *        ^                                     '-------------------------^ |
 *        '--------------------------- RESTING <----------------------------'  503, or the
 *                                        connection broke; 409: continue at the offset it names
 *
 * It only connects to the binding node of the BDM, whose digest the token of its sender covers. No
 * data of a layer is sent before the node answers 100, so that a refusal costs nothing.
 */
#include "image/server_int.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "codec/json.h"
#include "image/layer_cache.h"
#include "io/address.h"
#include "io/fetch_url.h"
#include "io/tls.h"

#include <inttypes.h>

enum {
    ANSWER_MAX = 4096,
    AGREE_MS = 5000,      /* until the node answers 100 */
    REST_MS = 50,         /* doubled each time, */
    REST_MAX_MS = 1000,   /* up to this */
    BROKEN_MAX = 8,       /* connections in a row, to one node, that lead to nothing */
    ELSEWHERE_MAX = 1000, /* answers that the next byte is another one */
};

/* A deployment that layers are sent to. */
struct outbox_box {
    struct list node;
    struct image_server *s;
    char *deploy, *to; /* to: the name of the node */
    struct http_client *client;
    uint64_t until_ms;
    size_t n, n_active; /* parcels; those that have a slot */
    unsigned n_broken;  /* connections in a row */
};

enum parcel_state {
    PARCEL_WAITING,
    PARCEL_FINDING, /* a job opens the layer; it has a slot from here to ENDING */
    PARCEL_ASKING,  /* the request was sent, and the node has not answered 100 */
    PARCEL_SENDING,
    PARCEL_ENDING, /* the request is over; the job that reads a piece may still run */
    PARCEL_RESTING,
};

static const struct sm_state parcel_table[] = {
    [PARCEL_WAITING] = { "waiting", EDGE(PARCEL_FINDING) | EDGE(PARCEL_RESTING) },
    [PARCEL_FINDING] = { "finding", EDGE(PARCEL_ASKING) },
    [PARCEL_ASKING] = { "asking", EDGE(PARCEL_SENDING) | EDGE(PARCEL_ENDING) },
    [PARCEL_SENDING] = { "sending", EDGE(PARCEL_ENDING) },
    [PARCEL_ENDING] = { "ending", EDGE(PARCEL_RESTING) },
    [PARCEL_RESTING] = { "resting", EDGE(PARCEL_WAITING) },
};

/* A range of a blob. */
struct server_outbox_parcel {
    struct list node; /* of the server, in the order in which they are sent */
    struct outbox_box *box;
    struct oci_digest blob;
    uint64_t from, to, at; /* at: the next byte, as far as is known */
    uint32_t priority;
    char *token;
    struct sm sm;       /* enum parcel_state */
    struct timer timer; /* of a rest, or of a request */
    unsigned n_rests, n_elsewhere;
    struct job job;
    bool is_working;    /* a job runs */
    bool is_full;       /* the connection accepts no more data now */
    bool is_unreadable; /* here, or shorter than it was */
    int r;              /* of the job; of the request */
    struct mirror_found found;
    bool is_held;
    struct oci_digest held;
    struct exchange *call;
    int status;
    struct buf answer;
    uint64_t read_at, began_at, began_ms; /* of this request; read_at: the next byte to read */
    char *piece;
    size_t piece_n;
};

/* ---- the end of a parcel ---- */

static void box_free(struct outbox_box *b)
{
    list_remove(&b->node);
    assert(b->n == 0 && b->n_active == 0 && b->s->n_boxes > 0);
    b->s->n_boxes--;
    if (b->client)
        http_client_close(b->client);
    free(b->deploy);
    free(b->to);
    free(b);
}

static void parcel_free(struct server_outbox_parcel *p)
{
    struct outbox_box *b = p->box;
    timer_stop(b->s->loop, &p->timer);
    list_remove(&p->node);
    assert(!p->is_working && !p->call && !p->is_held && b->s->n_parcels > 0 && b->n > 0);
    b->s->n_parcels--;
    buf_fini(&p->answer);
    free(p->token);
    free(p);
    if (--b->n == 0)
        box_free(b);
}

/* Its slot is free. */
static void release(struct server_outbox_parcel *p)
{
    struct image_server *s = p->box->s;
    if (p->is_held)
        oci_store_release(s->opts.store, &p->held);
    p->is_held = false;
    mirror_found_fini(&p->found);
    p->found = (struct mirror_found){ .fd = -1 };
    free(p->piece);
    p->piece = NULL;
    assert(p->box->n_active > 0 && s->n_uploads > 0);
    p->box->n_active--;
    s->n_uploads--;
}

static void drop(struct server_outbox_parcel *p, const char *why)
{
    struct image_server *s = p->box->s;
    char digest[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&p->blob, digest);
    if (why)
        log_debug("a layer was not pushed", "blob=%.19s to=%s deploy=%s reason=\"%s\"", digest,
                  p->box->to, p->box->deploy, why);
    s->n_pushed += !why;
    s->n_unpushed += why != NULL;
    parcel_free(p);
}

static void on_rested(struct timer *t)
{
    struct server_outbox_parcel *p = container_of(t, struct server_outbox_parcel, timer);
    sm_move(&p->sm, PARCEL_WAITING);
    image_server_outbox_next(p->box->s);
}

static void rest(struct server_outbox_parcel *p, uint64_t ms)
{
    struct image_server *s = p->box->s;
    if (image_closing_has_begun(&s->closing) || clock_mono_ms() + ms >= p->box->until_ms) {
        drop(p, "its time is over");
        return;
    }
    sm_move(&p->sm, PARCEL_RESTING);
    timer_start(s->loop, &p->timer, ms, on_rested);
}

/* Each time longer. */
static void rest_again(struct server_outbox_parcel *p, unsigned times)
{
    rest(p, backoff_wait(REST_MS, REST_MAX_MS, times));
}

static bool is_idle(const struct server_outbox_parcel *p)
{
    return p->sm.at == PARCEL_WAITING || p->sm.at == PARCEL_RESTING;
}

/* The node cannot be reached: drop its parcels, so that they take no slots of other nodes. */
static void give_up(struct server_outbox_parcel *of)
{
    struct image_server *s = of->box->s;
    list_each_safe (node, &s->parcels) {
        struct server_outbox_parcel *p = list_entry(node, struct server_outbox_parcel, node);
        if (p != of && p->box == of->box && is_idle(p))
            drop(p, "the node cannot be reached");
    }
    drop(of, "the node cannot be reached");
}

/* {"have":N}, of its range. */
static bool take_have(struct server_outbox_parcel *p)
{
    struct arena a = { .max_bytes = 64 << 10 };
    struct json *v;
    int64_t have = -1;
    bool ok = json_parse(&a, buf_str(&p->answer), NULL, &v, NULL) >= 0 &&
              json_int(json_getc(v, "have"), &have) >= 0 && have >= 0 &&
              (uint64_t)have >= p->from && (uint64_t)have < p->to;
    if (ok)
        p->at = (uint64_t)have;
    arena_fini(&a);
    return ok && p->n_elsewhere++ < ELSEWHERE_MAX;
}

static void settle(struct server_outbox_parcel *p)
{
    struct image_server *s = p->box->s;
    if (p->r == 0 && p->status / 100 == 2 && p->read_at == p->to) { /* else it cannot have it */
        node_state_measure(&s->rates, &s->rates.uplink_bps, p->to - p->began_at,
                           clock_mono_ms() - p->began_ms, clock_wall_ms() / 1000);
        image_server_probe_soon(s);
        drop(p, NULL);
    } else if (p->is_unreadable) {
        drop(p, "the store cannot be read");
    } else if (p->r < 0 && ++p->box->n_broken < BROKEN_MAX) {
        rest_again(p, p->box->n_broken);
    } else if (p->r < 0) {
        give_up(p);
    } else if (p->status == 409 && take_have(p)) {
        rest(p, 0);
    } else if (p->status == 503 || p->status == 429 || p->status == 408) {
        rest_again(p, p->n_rests++);
    } else {
        drop(p, p->status == 410 ? "the node does not want it any more" : "the node refuses it");
    }
}

/* The request is over, and no job of it runs. */
static void finish(struct server_outbox_parcel *p)
{
    struct image_server *s = p->box->s;
    timer_stop(s->loop, &p->timer);
    release(p);
    settle(p);
    image_server_outbox_next(s);
    image_server_finish_close(s);
}

/* ---- sending ---- */

static void next_piece(struct server_outbox_parcel *p);

static void read_piece(struct job *j)
{
    struct server_outbox_parcel *p = container_of(j, struct server_outbox_parcel, job);
    size_t want = (size_t)MIN(p->to - p->read_at, (uint64_t)IMAGE_SERVER_PIECE_BYTES);
    ssize_t n = mirror_found_read(&p->found, p->piece, want, p->read_at);
    p->piece_n = n < 0 ? 0 : (size_t)n;
}

static void on_piece(struct job *j, int r)
{
    struct server_outbox_parcel *p = container_of(j, struct server_outbox_parcel, job);
    p->is_working = false;
    if (p->sm.at == PARCEL_ENDING) {
        finish(p);
        return;
    }
    if (r < 0 || p->piece_n == 0) {
        p->is_unreadable = true;
        exchange_cancel(p->call);
        return;
    }
    assert(p->piece_n <= p->to - p->read_at);
    p->read_at += p->piece_n;
    p->box->s->n_bytes += p->piece_n;
    p->is_full = !exchange_write(p->call, str_n(p->piece, p->piece_n));
    if (!p->is_full)
        next_piece(p);
}

static void next_piece(struct server_outbox_parcel *p)
{
    if (p->is_working || p->sm.at != PARCEL_SENDING || p->status || p->read_at == p->to)
        return;
    if (!p->piece)
        p->piece = xalloc(IMAGE_SERVER_PIECE_BYTES);
    p->job = (struct job){ .work = read_piece, .done = on_piece };
    p->is_working = job_start(p->box->s->loop, &p->job) >= 0;
    if (!p->is_working)
        exchange_cancel(p->call);
}

static void on_late(struct timer *t)
{
    struct server_outbox_parcel *p = container_of(t, struct server_outbox_parcel, timer);
    if (p->call)
        exchange_cancel(p->call);
}

static void on_interim(void *arg, int status, const struct headers *headers)
{
    struct server_outbox_parcel *p = arg;
    uint64_t now = clock_mono_ms(), until = p->box->until_ms;
    (void)headers;
    if (status != 100 || p->sm.at != PARCEL_ASKING)
        return;
    sm_move(&p->sm, PARCEL_SENDING);
    p->n_rests = 0;
    p->box->n_broken = 0;
    p->began_ms = now;
    timer_start(p->box->s->loop, &p->timer, until > now ? until - now : 0, on_late);
    next_piece(p);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct server_outbox_parcel *p = arg;
    (void)headers;
    p->status = status;
    p->box->n_broken = 0;
}

static void on_data(void *arg, struct str chunk)
{
    struct server_outbox_parcel *p = arg;
    if (buf_add_str(&p->answer, chunk) < 0)
        exchange_cancel(p->call);
}

static void on_writable(void *arg)
{
    struct server_outbox_parcel *p = arg;
    if (!p->is_full)
        return;
    p->is_full = false;
    next_piece(p);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct server_outbox_parcel *p = arg;
    (void)err;
    p->call = NULL;
    p->r = r;
    sm_move(&p->sm, PARCEL_ENDING);
    if (!p->is_working)
        finish(p);
}

static int start_call(struct server_outbox_parcel *p, struct err *err)
{
    static const struct exchange_events events = {
        .on_head = on_head, .on_data = on_data, .on_end = on_end, .on_writable = on_writable
    };
    struct headers h = { 0 };
    char digest[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&p->blob, digest);
    scoped(free_scoped) char *target = xasprintf("/v1/layers/%s?deploy=%s&node=%s&off=%" PRIu64,
                                                 digest, p->box->deploy, p->box->s->node, p->at);
    scoped(free_scoped) char *token = xasprintf("Bearer %s", p->token);
    (void)headers_addc(&h, "authorization", token);
    (void)headers_addc(&h, "expect", "100-continue");
    const struct http_call_opts o = { .method = STR("PUT"),
                                      .target = str_of(target),
                                      .headers = &h,
                                      .streams = true,
                                      .body_n = p->to - p->at,
                                      .events = &events,
                                      .on_interim = on_interim,
                                      .arg = p };
    sm_move(&p->sm, PARCEL_ASKING);
    p->read_at = p->began_at = p->at;
    p->began_ms = clock_mono_ms();
    p->status = 0;
    p->is_full = false;
    buf_reset(&p->answer);
    int r = http_call_start(p->box->client, &o, &p->call, err);
    headers_fini(&h);
    if (r >= 0)
        timer_start(p->box->s->loop, &p->timer, AGREE_MS, on_late);
    return r;
}

/* ---- ranges to send ---- */

static void find(struct job *j)
{
    struct server_outbox_parcel *p = container_of(j, struct server_outbox_parcel, job);
    struct image_server *s = p->box->s;
    struct err err = { 0 };
    const struct mirror_request q = { .kind = MIRROR_BLOB, .digest = p->blob, .is_entitled = true };
    p->r = mirror_find(s->mirror, &q, false, &p->found, &err);
    if (p->r >= 0)
        p->is_held = layer_cache_serve(s->opts.store, &p->blob, &p->held);
}

static void on_found(struct job *j, int r)
{
    struct server_outbox_parcel *p = container_of(j, struct server_outbox_parcel, job);
    struct image_server *s = p->box->s;
    struct err err = { 0 };
    p->is_working = false;
    r = r < 0 ? r : p->r;
    if (r >= 0 && (p->found.size < p->to || (p->found.fd < 0 && !p->found.tar)))
        r = err_set(&err, -ENOENT, "the layer is another one here");
    if (r >= 0 && !image_closing_has_begun(&s->closing))
        r = start_call(p, &err);
    if (r >= 0 && !image_closing_has_begun(&s->closing))
        return;
    release(p);
    drop(p, r < 0 ? "it is not here" : "the server ends");
    image_server_outbox_next(s);
    image_server_finish_close(s);
}

static bool start(struct server_outbox_parcel *p)
{
    p->job = (struct job){ .work = find, .done = on_found };
    p->is_working = job_start(p->box->s->loop, &p->job) >= 0;
    if (!p->is_working)
        return false;
    sm_move(&p->sm, PARCEL_FINDING);
    p->box->n_active++;
    p->box->s->n_uploads++;
    return true;
}

void image_server_outbox_next(struct image_server *s)
{
    list_each_safe (node, &s->parcels) {
        struct server_outbox_parcel *p = list_entry(node, struct server_outbox_parcel, node);
        if (image_closing_has_begun(&s->closing) || s->n_uploads >= IMAGE_SERVER_UPLOADS)
            return;
        bool is_probed = p->box->n_broken && p->box->n_active; /* by one is enough */
        if (p->sm.at == PARCEL_WAITING && !is_probed && !start(p))
            rest_again(p, p->n_rests++);
    }
}

/* ---- BDMs ---- */

static int open_client(struct image_server *s, struct outbox_box *b, struct str at, struct err *err)
{
    struct fetch_url u;
    scoped(free_scoped) char *url = str_dup(at);
    int r = fetch_url_parse(url, NULL, &u, err);
    if (r < 0)
        return r;
    if (u.tls && !s->opts.peers && !s->push_tls)
        r = tls_ctx_new_client(STR(""), STR(""), STR(""), false, &s->push_tls, err);
    const struct http_client_opts o = { .host = u.host,
                                        .port = u.port,
                                        .tls = !u.tls          ? NULL
                                               : s->opts.peers ? s->opts.peers
                                                               : s->push_tls,
                                        .may_connect = address_may_connect,
                                        .max_connections = IMAGE_SERVER_UPLOADS,
                                        .connect_timeout_ms = AGREE_MS };
    r = r < 0 ? r : http_client_new(s->loop, &o, &b->client, err);
    fetch_url_fini(&u);
    return r;
}

static bool is_ours(const struct image_server *s, const struct image_bdm_task *t)
{
    return t->is_push && t->encoding == IMAGE_BDM_GZIP && t->from < t->to &&
           str_is(t->source.name, s->node);
}

/* After those with the same priority. */
static void add(struct outbox_box *b, const struct image_bdm_task *t)
{
    struct image_server *s = b->s;
    struct server_outbox_parcel *p = xnew(struct server_outbox_parcel);
    struct list *before = &s->parcels;
    *p = (struct server_outbox_parcel){ .box = b,
                                        .blob = t->blob,
                                        .from = t->from,
                                        .to = t->to,
                                        .at = t->from,
                                        .priority = t->priority,
                                        .token = str_dup(t->source.token),
                                        .found = { .fd = -1 },
                                        .answer = BUF_INIT(ANSWER_MAX) };
    sm_init(&p->sm, parcel_table, PARCEL_WAITING);
    list_each (node, &s->parcels)
        if (list_entry(node, struct server_outbox_parcel, node)->priority > p->priority) {
            before = node;
            break;
        }
    list_insert_before(before, &p->node);
    s->n_parcels++;
    b->n++;
}

int image_server_outbox_accept(struct image_server *s, const struct image_bdm *b, size_t *ret_n,
                               struct err *err)
{
    size_t n = 0;
    list_each (node, &s->boxes) {
        struct outbox_box *old = list_entry(node, struct outbox_box, node);
        if (str_is(b->deploy, old->deploy)) {
            *ret_n = old->n;
            return 0;
        }
    }
    for (size_t i = 0; i < b->n_tasks; i++)
        n += is_ours(s, &b->tasks[i]);
    if (n == 0)
        return err_set(err, E_INVALID, "the deployment is for another node");
    if (image_closing_has_begun(&s->closing) || s->n_boxes >= IMAGE_SERVER_DEPLOYS_MAX ||
        n > IMAGE_SERVER_PARCELS_MAX - s->n_parcels)
        return err_set(err, -EAGAIN, "too many layers are to be pushed");
    struct outbox_box *box = xnew(struct outbox_box);
    *box = (struct outbox_box){ .s = s,
                                .deploy = str_dup(b->deploy),
                                .to = str_dup(b->node),
                                .until_ms = clock_mono_ms() + b->deadline_ms };
    list_push_back(&s->boxes, &box->node);
    s->n_boxes++;
    int r = open_client(s, box, b->url, err);
    if (r < 0) {
        box_free(box);
        return r;
    }
    for (size_t i = 0; i < b->n_tasks; i++)
        if (is_ours(s, &b->tasks[i]))
            add(box, &b->tasks[i]);
    *ret_n = n;
    image_server_outbox_next(s);
    return 1;
}

void image_server_outbox_close(struct image_server *s)
{
    list_each_safe (node, &s->parcels) {
        struct server_outbox_parcel *p = list_entry(node, struct server_outbox_parcel, node);
        if (p->call)
            exchange_cancel(p->call);
        else if (is_idle(p))
            drop(p, "the server ends");
    }
}
