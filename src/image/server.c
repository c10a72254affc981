/* SPDX-License-Identifier: Apache-2.0 */
/* Requests: authorisation, lookup, and the answer. Only jobs access files. */
#include "image/server_int.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "codec/base64.h"
#include "codec/byteranges.h"
#include "codec/json.h"
#include "image/layer_cache.h"
#include "image/layer_child.h"
#include "image/scrub.h"
#include "oci/file_parcel.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum {
    CREDENTIAL_MAX = 4096,
    ERROR_MAX_BYTES = 16 << 10,
    SEVERAL_TEXT_MAX = (MIRROR_RANGES_MAX + 1) * BYTERANGES_OVERHEAD_MAX,
};

/* ---- the end of a request ---- */

static const struct sm_state serving_table[] = {
    [IMAGE_SERVER_SERVING_NEW] = { "new", EDGE(IMAGE_SERVER_SERVING_FINDING) |
                                              EDGE(IMAGE_SERVER_SERVING_ANSWERED) },
    [IMAGE_SERVER_SERVING_FINDING] = { "finding", EDGE(IMAGE_SERVER_SERVING_FINDING_AGAIN) |
                                                      EDGE(IMAGE_SERVER_SERVING_DECIDING) |
                                                      EDGE(IMAGE_SERVER_SERVING_ANSWERED) },
    [IMAGE_SERVER_SERVING_FINDING_AGAIN] = { "finding, again after this",
                                             EDGE(IMAGE_SERVER_SERVING_DECIDING) },
    [IMAGE_SERVER_SERVING_DECIDING] = { "deciding", EDGE(IMAGE_SERVER_SERVING_FINDING) |
                                                        EDGE(IMAGE_SERVER_SERVING_WAITING) |
                                                        EDGE(IMAGE_SERVER_SERVING_READING) |
                                                        EDGE(IMAGE_SERVER_SERVING_FULL) |
                                                        EDGE(IMAGE_SERVER_SERVING_ANSWERED) },
    [IMAGE_SERVER_SERVING_WAITING] = { "waiting for a pull", EDGE(IMAGE_SERVER_SERVING_FINDING) },
    [IMAGE_SERVER_SERVING_READING] = { "reading", EDGE(IMAGE_SERVER_SERVING_DECIDING) |
                                                      EDGE(IMAGE_SERVER_SERVING_ANSWERED) },
    [IMAGE_SERVER_SERVING_FULL] = { "full", EDGE(IMAGE_SERVER_SERVING_READING) |
                                                EDGE(IMAGE_SERVER_SERVING_ANSWERED) },
    [IMAGE_SERVER_SERVING_ANSWERED] = { "answered", 0 },
};

static const struct sm_state pulls_table[] = {
    [IMAGE_SERVER_PULLS_NONE] = { "none",
                                  EDGE(IMAGE_SERVER_PULLS_OTHER) | EDGE(IMAGE_SERVER_PULLS_OWN) },
    [IMAGE_SERVER_PULLS_OTHER] = { "other", EDGE(IMAGE_SERVER_PULLS_OWN) },
    [IMAGE_SERVER_PULLS_OWN] = { "own", 0 },
};

void image_server_serving_move(struct image_server_serving *g, enum image_server_serving_at to)
{
    bool waits = list_is_linked(&g->waiting);
    assert(waits ||
           (to != IMAGE_SERVER_SERVING_WAITING && to != IMAGE_SERVER_SERVING_FINDING_AGAIN));
    assert(!waits || g->pull);
    assert(g->x || to == IMAGE_SERVER_SERVING_DECIDING || to == IMAGE_SERVER_SERVING_FINDING_AGAIN);
    sm_move(&g->sm, to);
}

/* A job runs. */
static bool is_working(const struct image_server_serving *g)
{
    switch ((enum image_server_serving_at)g->sm.at) {
    case IMAGE_SERVER_SERVING_FINDING:
    case IMAGE_SERVER_SERVING_FINDING_AGAIN:
    case IMAGE_SERVER_SERVING_READING:
        return true;
    case IMAGE_SERVER_SERVING_NEW:
    case IMAGE_SERVER_SERVING_DECIDING:
    case IMAGE_SERVER_SERVING_WAITING:
    case IMAGE_SERVER_SERVING_FULL:
    case IMAGE_SERVER_SERVING_ANSWERED:
        break;
    }
    return false;
}

static void drop_found(struct image_server_serving *g)
{
    if (g->is_held)
        oci_store_release(g->s->opts.store, &g->held);
    g->is_held = false;
    mirror_found_fini(&g->found);
}

static void pack_next(struct image_server *s);

static const struct sm_state turn_table[] = {
    [IMAGE_SERVER_TURN_NONE] = { "none", EDGE(IMAGE_SERVER_TURN_RECEIVING) |
                                             EDGE(IMAGE_SERVER_TURN_QUEUED) |
                                             EDGE(IMAGE_SERVER_TURN_OVER) },
    [IMAGE_SERVER_TURN_RECEIVING] = { "receiving", EDGE(IMAGE_SERVER_TURN_QUEUED) |
                                                       EDGE(IMAGE_SERVER_TURN_OVER) },
    [IMAGE_SERVER_TURN_QUEUED] = { "queued",
                                   EDGE(IMAGE_SERVER_TURN_PACKING) | EDGE(IMAGE_SERVER_TURN_OVER) },
    [IMAGE_SERVER_TURN_PACKING] = { "packing", EDGE(IMAGE_SERVER_TURN_OVER) },
    [IMAGE_SERVER_TURN_OVER] = { "over", 0 },
};

/* NULL: requests in this state are not counted. */
static size_t *turn_counter(struct image_server *s, unsigned at)
{
    switch ((enum image_server_turn)at) {
    case IMAGE_SERVER_TURN_RECEIVING:
        return &s->n_asking;
    case IMAGE_SERVER_TURN_QUEUED:
        return &s->n_packing_waiting;
    case IMAGE_SERVER_TURN_PACKING:
        return &s->n_packing;
    case IMAGE_SERVER_TURN_NONE:
    case IMAGE_SERVER_TURN_OVER:
        break;
    }
    return NULL;
}

/* The only place that changes the turn of a request, its counter and its place in the queue. */
static void move_turn(struct image_server_serving *g, enum image_server_turn to)
{
    struct image_server *s = g->s;
    size_t *from = turn_counter(s, g->turn.at), *next = turn_counter(s, to);
    assert(list_is_linked(&g->packing) == (g->turn.at == IMAGE_SERVER_TURN_QUEUED));
    if (list_is_linked(&g->packing))
        list_remove(&g->packing);
    if (from) {
        assert(*from > 0);
        --*from;
    }
    sm_move(&g->turn, to);
    if (next)
        ++*next;
    if (to == IMAGE_SERVER_TURN_QUEUED)
        list_push_back(&s->packing, &g->packing);
}

static void serving_free(struct image_server_serving *g)
{
    struct image_server *s = g->s;
    if (g->is_upload && g->at == g->to) {
        node_state_measure(&s->rates, &s->rates.uplink_bps, g->to - g->from,
                           clock_mono_ms() - g->started_ms, clock_wall_ms() / 1000);
        image_server_probe_soon(s);
    }
    image_server_unwait(g);
    if (g->turn.at != IMAGE_SERVER_TURN_OVER)
        move_turn(g, IMAGE_SERVER_TURN_OVER);
    list_remove(&g->node);
    assert(!g->x && !is_working(g) && s->n_requests > 0);
    assert(s->n_uploads >= g->is_upload && s->n_answer_bytes >= g->n_answer);
    s->n_requests--;
    s->n_uploads -= g->is_upload;
    s->n_answer_bytes -= g->n_answer;
    buf_fini(&g->body);
    drop_found(g);
    free(g->several);
    free(g->range);
    free(g->if_range);
    free(g->if_none_match);
    free(g->piece);
    free(g);
    pack_next(s);
    image_server_outbox_next(s);
    image_server_finish_close(s);
}

static void on_gone(struct http_exchange *x, int r)
{
    struct image_server_serving *g = http_exchange_data(x);
    (void)r;
    g->x = NULL;
    if (!is_working(g))
        serving_free(g);
}

/* ---- answers ---- */

static void add_common(struct headers *h)
{
    (void)headers_addc(h, "docker-distribution-api-version", "registry/2.0");
    (void)headers_addc(h, "x-content-type-options", "nosniff");
}

void image_server_reply_error(struct http_exchange *x, int status, const char *code,
                              const char *message)
{
    struct arena a = { 0 };
    struct headers h = { 0 };
    struct json *v = json_new_object(&a), *list = json_new_array(&a), *e = json_new_object(&a);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(ERROR_MAX_BYTES);
    json_set_str(&a, e, "code", str_of(code));
    json_set_str(&a, e, "message", str_of(message));
    json_add(list, e);
    json_setc(&a, v, "errors", list);
    (void)json_write(&text, v);
    add_common(&h);
    (void)headers_addc(&h, "content-type", "application/json");
    if (status == 401)
        (void)headers_addc(&h, "www-authenticate", "Basic realm=\"dormouse\"");
    if (status == 405)
        (void)headers_addc(&h, "allow", "GET, HEAD");
    if (status == 503)
        (void)headers_addc(&h, "retry-after", "1");
    http_reply(x, status, &h, buf_str(&text));
    headers_fini(&h);
    arena_fini(&a);
}

void image_server_refuse(struct image_server_serving *g, int status, const char *code,
                         const char *message)
{
    image_server_serving_move(g, IMAGE_SERVER_SERVING_ANSWERED);
    image_server_reply_error(g->x, status, code, message);
}

static void end_answer(struct image_server_serving *g)
{
    image_server_serving_move(g, IMAGE_SERVER_SERVING_ANSWERED);
    http_end(g->x);
}

static void cut_answer(struct image_server_serving *g)
{
    image_server_serving_move(g, IMAGE_SERVER_SERVING_ANSWERED);
    http_abort(g->x);
}

static bool is_of_files(const struct mirror_request *q)
{
    return q->kind == MIRROR_TREE || q->kind == MIRROR_FILES;
}

static void refuse_unknown(struct image_server_serving *g)
{
    switch (g->q.kind) {
    case MIRROR_MANIFEST:
        image_server_refuse(g, 404, "MANIFEST_UNKNOWN", "manifest unknown to this registry");
        break;
    case MIRROR_BLOB:
        image_server_refuse(g, 404, "BLOB_UNKNOWN", "blob unknown to this registry");
        break;
    case MIRROR_ROOT:
    case MIRROR_TAGS:
    case MIRROR_REFERRERS:
        image_server_refuse(g, 404, "NAME_UNKNOWN", "repository unknown to this registry");
        break;
    case MIRROR_START:
    case MIRROR_TREE:
    case MIRROR_FILES:
        image_server_refuse(g, 404, "FILES_UNKNOWN", "files unknown to this registry");
        break;
    }
}

/* It is not here, and its registry could not be asked, or gave what cannot be kept; what that
 * refuses to give is not there either. 0: not so. */
static int status_of_pull(int r)
{
    if (r == 0 || r == E_DENIED)
        return 0;
    return r == -ENOSPC ? 507 : r == -ETIMEDOUT ? 504 : 502;
}

static void refuse_pull(struct image_server_serving *g)
{
    const int status = status_of_pull(g->pull_r);
    image_server_refuse(g, status, "UNAVAILABLE",
                        status == 507   ? "this registry has no room for the image"
                        : status == 504 ? "the registry that has the image does not answer"
                                        : "the image cannot be had from the registry that has it");
}

/* Clients get a sentence of ours: paths, addresses and the words of other registries are for the
 * log. */
static void refuse_found(struct image_server_serving *g)
{
    char text[LOG_QUOTE_MAX];
    const bool is_known = g->r == -ENOENT || is_of_files(&g->q);
    (void)log_quote(text, str_of(err_text(&g->err)));
    g->s->n_missing++;
    if (is_known)
        log_debug("image request refused", "code=%s reason=\"%s\"", err_name(g->r), text);
    if (g->r == -ENOENT && status_of_pull(g->pull_r)) {
        refuse_pull(g);
    } else if (g->r == -ENOENT) {
        refuse_unknown(g);
    } else if (is_of_files(&g->q) && g->r <= E_VERSION && g->r != E_CORRUPT) {
        image_server_refuse(g, 400, "FILES_INVALID", "the request for files is not valid");
    } else {
        log_warn("image request failed", "code=%s reason=\"%s\"", err_name(g->r), text);
        image_server_refuse(g, 500, "UNKNOWN", "the store could not be read");
    }
}

static void add_etag(struct headers *h, const struct mirror_found *f, struct buf *etag)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    if (!f->has_digest)
        return;
    oci_digest_format(&f->digest, digest);
    (void)buf_printf(etag, "\"%s\"", digest);
    (void)headers_addc(h, "docker-content-digest", digest);
    (void)headers_add(h, STR("etag"), buf_str(etag));
}

static void add_next(struct headers *h, const struct image_server_serving *g)
{
    char text[OCI_REPOSITORY_MAX + 2 * OCI_TAG_MAX];
    if (!g->found.next[0])
        return;
    (void)snprintf(text, sizeof text, "</v2/%s/tags/list?n=%" PRIu64 "&last=%s>; rel=\"next\"",
                   g->q.repository, g->q.n, g->found.next);
    (void)headers_addc(h, "link", text);
}

static void next_piece(struct image_server_serving *g);

/* ---- several ranges ---- */

/* The bytes before the i-th range; with i the number of ranges, the end of the body. */
static void add_between(const struct image_server_serving *g, size_t i, struct buf *to)
{
    if (i == g->several->n)
        byteranges_add_end(to, g->boundary);
    else
        byteranges_add_head(to, g->boundary, g->found.media_type, g->several->at[i].from,
                            g->several->at[i].to, g->found.size);
}

static uint64_t several_bytes(const struct image_server_serving *g)
{
    uint64_t n = 0;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(SEVERAL_TEXT_MAX);
    for (size_t i = 0; i <= g->several->n; i++) {
        add_between(g, i, &text);
        n += i < g->several->n ? g->several->at[i].to - g->several->at[i].from : 0;
    }
    return n + text.n;
}

/* The bytes between ranges; false: it was the end of the body. *ret_full: the client takes no more.
 */
static bool begin_range(struct image_server_serving *g, bool *ret_full)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(SEVERAL_TEXT_MAX);
    assert(g->range_i <= g->several->n);
    add_between(g, g->range_i, &text);
    *ret_full = !http_write(g->x, buf_str(&text));
    if (g->range_i == g->several->n)
        return false;
    g->at = g->several->at[g->range_i].from;
    g->to = g->several->at[g->range_i].to;
    return true;
}

/* Send the document or blob, from g->at to g->to, or several parts of it. */
static void send_found(struct image_server_serving *g, int status, struct headers *h)
{
    struct mirror_found *f = &g->found;
    g->from = g->at;
    g->started_ms = clock_mono_ms();
    http_respond(g->x, status, h, g->several ? several_bytes(g) : g->to - g->at);
    g->s->n_served++;
    if (g->is_head || status == 304) {
        end_answer(g);
    } else if (g->several) {
        bool is_full;
        (void)begin_range(g, &is_full); /* a few bytes: the first piece follows anyway */
        next_piece(g);
    } else if (f->fd < 0 && !f->tar) {
        struct str part = str_slice(buf_str(&f->body), (size_t)g->at, (size_t)g->to);
        g->s->n_bytes += part.n;
        (void)http_write(g->x, part);
        end_answer(g);
    } else {
        next_piece(g);
    }
}

static void answer(struct image_server_serving *g)
{
    struct headers h = { 0 };
    int status = 200;
    struct mirror_found *f = &g->found;
    scoped(buf_fini_scoped) struct buf etag = BUF_INIT(128);
    enum mirror_range range = MIRROR_WHOLE;
    struct mirror_ranges parts = { .n = 0 };
    add_common(&h);
    add_etag(&h, f, &etag);
    add_next(&h, g);
    if (g->q.kind == MIRROR_MANIFEST)
        (void)headers_addc(&h, OCI_FILES_HEADER, "1");
    g->at = 0;
    g->to = f->size;
    if (g->q.kind == MIRROR_BLOB) {
        (void)headers_addc(&h, "accept-ranges", "bytes");
        (void)headers_addc(&h, "cache-control", "private, max-age=31536000, immutable");
        range = g->is_head ? MIRROR_WHOLE
                           : mirror_ranges_of(str_of(g->range), str_of(g->if_range), buf_str(&etag),
                                              f->size, &parts);
        /* Of a document all, and to other nodes, which ask for one range, one. */
        if (parts.n > 1 && (g->is_upload || (f->fd < 0 && !f->tar)))
            range = MIRROR_WHOLE;
    }
    char text[128];
    if (etag.n && mirror_etag_matches(str_of(g->if_none_match), buf_str(&etag))) {
        status = 304;
    } else if (range == MIRROR_PARTS && parts.n > 1) {
        status = 206;
        g->several = xnew(struct mirror_ranges);
        *g->several = parts;
        sys_uuid(g->boundary);
        (void)snprintf(text, sizeof text, "multipart/byteranges; boundary=%s", g->boundary);
        (void)headers_addc(&h, "content-type", text);
    } else if (range == MIRROR_PARTS) {
        status = 206;
        g->at = parts.at[0].from;
        g->to = parts.at[0].to;
        (void)snprintf(text, sizeof text, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, g->at,
                       g->to - 1, f->size);
        (void)headers_addc(&h, "content-range", text);
    }
    if (!g->several)
        (void)headers_addc(&h, "content-type", f->media_type);
    if (range == MIRROR_NO_PART && status != 304)
        image_server_refuse(g, 416, "BLOB_UNKNOWN", "the blob is not that long");
    else
        send_found(g, status, &h);
    headers_fini(&h);
}

/* ---- pieces of a blob ---- */

static void read_piece(struct job *j)
{
    struct image_server_serving *g = container_of(j, struct image_server_serving, job);
    size_t want = (size_t)MIN(g->to - g->at, (uint64_t)IMAGE_SERVER_PIECE_BYTES);
    ssize_t n = mirror_found_read(&g->found, g->piece, want, g->at);
    g->r = n < 0 ? (int)n : n == 0 ? -EIO : 0; /* shorter than it was */
    g->piece_n = n < 0 ? 0 : (size_t)n;
}

static void on_piece(struct job *j, int r)
{
    struct image_server_serving *g = container_of(j, struct image_server_serving, job);
    image_server_serving_move(g, IMAGE_SERVER_SERVING_DECIDING);
    if (!g->x) {
        serving_free(g);
        return;
    }
    if (r < 0 || g->r < 0) {
        cut_answer(g);
        return;
    }
    assert(g->piece_n <= g->to - g->at);
    g->at += g->piece_n;
    g->s->n_bytes += g->piece_n;
    bool is_full = !http_write(g->x, str_n(g->piece, g->piece_n)), is_over = g->at == g->to;
    if (is_over && g->several) {
        g->range_i++;
        is_over = !begin_range(g, &is_full);
    }
    if (is_over)
        end_answer(g);
    else if (is_full)
        image_server_serving_move(g, IMAGE_SERVER_SERVING_FULL);
    else
        next_piece(g);
}

static void next_piece(struct image_server_serving *g)
{
    assert(g->at <= g->to && g->to <= g->found.size);
    if (g->at == g->to) { /* an empty blob */
        end_answer(g);
        return;
    }
    if (!g->piece)
        g->piece = xalloc(IMAGE_SERVER_PIECE_BYTES);
    g->job = (struct job){ .work = read_piece, .done = on_piece };
    image_server_serving_move(g, IMAGE_SERVER_SERVING_READING);
    if (job_start(g->s->loop, &g->job) < 0)
        cut_answer(g);
}

static void on_writable(struct http_exchange *x)
{
    struct image_server_serving *g = http_exchange_data(x);
    if (g->sm.at == IMAGE_SERVER_SERVING_FULL)
        next_piece(g);
}

/* ---- looking it up ---- */

static void find(struct job *j)
{
    struct image_server_serving *g = container_of(j, struct image_server_serving, job);
    g->err = (struct err){ 0 };
    g->r = mirror_find(g->s->mirror, &g->q, g->accepts_index, &g->found, &g->err);
    if (g->r >= 0 && (g->found.fd >= 0 || g->found.tar) && !g->is_head && !is_of_files(&g->q))
        g->is_held = layer_cache_serve(g->s->opts.store, &g->q.digest, &g->held);
}

static void on_sweep(struct timer *t)
{
    struct image_server *s = container_of(t, struct image_server, sweep);
    uint64_t now = clock_mono_ms(), next = mirror_sweep(s->mirror, now);
    if (next != UINT64_MAX && !image_closing_has_begun(&s->closing))
        timer_start(s->loop, &s->sweep, next - now, on_sweep);
}

static void on_found(struct job *j, int r)
{
    struct image_server_serving *g = container_of(j, struct image_server_serving, job);
    struct image_server *s = g->s;
    bool looks_again = g->sm.at == IMAGE_SERVER_SERVING_FINDING_AGAIN;
    image_server_serving_move(g, IMAGE_SERVER_SERVING_DECIDING);
    if (g->turn.at == IMAGE_SERVER_TURN_PACKING)
        move_turn(g, IMAGE_SERVER_TURN_OVER);
    if (r < 0)
        g->r = r;
    if (!g->x) {
        serving_free(g);
        return;
    }
    pack_next(s);
    bool keeps = g->q.kind == MIRROR_MANIFEST || is_of_files(&g->q);
    if (keeps && g->r >= 0 && !image_closing_has_begun(&s->closing) && !timer_is_armed(&s->sweep))
        timer_start(s->loop, &s->sweep, MIRROR_KEEP_MS, on_sweep);
    if (looks_again) { /* there was news of the pull while it looked */
        image_server_find(g);
        return;
    }
    if (!g->is_upload && !is_of_files(&g->q) && image_server_pull(g, g->r))
        return;
    if (g->r >= 0 && is_of_files(&g->q))
        s->n_answer_bytes += g->n_answer = g->found.size;
    if (g->r < 0)
        refuse_found(g);
    else
        answer(g);
}

void image_server_find(struct image_server_serving *g)
{
    drop_found(g);
    g->job = (struct job){ .work = find, .done = on_found };
    image_server_serving_move(g, IMAGE_SERVER_SERVING_FINDING);
    if (job_start(g->s->loop, &g->job) < 0)
        image_server_refuse(g, 503, "TOOMANYREQUESTS", "try again");
}

/* ---- requests ---- */

static bool shows_token(const struct image_server *s, const struct http_request *req)
{
    struct str shown = headers_get(req->headers, "authorization"), user, password;
    scoped(buf_fini_scoped) struct buf pair = BUF_INIT(CREDENTIAL_MAX);
    if (!s->token)
        return true;
    if (shown.n > 7 && str_ieq(str_slice(shown, 0, 7), STR("bearer ")))
        return str_is_secret(str_slice(shown, 7, shown.n), s->token);
    if (shown.n < 6 || !str_ieq(str_slice(shown, 0, 6), STR("basic ")))
        return false;
    if (base64_decode(&pair, str_slice(shown, 6, shown.n), BASE64_STD) < 0 ||
        !str_cut(buf_str(&pair), ':', &user, &password))
        return false;
    return str_is_secret(password, s->token);
}

static bool accepts_index(const struct headers *h)
{
    for (size_t i = 0; i < h->n; i++)
        if (str_is(headers_name(h, i), "accept") &&
            (str_find(headers_value(h, i), STR("application/vnd.oci.image.index.v1+json")) >= 0 ||
             str_find(headers_value(h, i),
                      STR("application/vnd.docker.distribution.manifest.list.v2+json")) >= 0))
            return true;
    return false;
}

/* ---- a request for files ---- */

static void on_body(struct http_exchange *x, struct str chunk)
{
    struct image_server_serving *g = http_exchange_data(x);
    (void)buf_add_str(&g->body, chunk);
}

static void refuse_packing(struct http_exchange *x)
{
    image_server_reply_error(x, 503, "TOOMANYREQUESTS", "files are packed for others");
}

static bool is_answering_much(const struct image_server *s)
{
    return s->n_answer_bytes >= IMAGE_SERVER_ANSWERS_BYTES_MAX;
}

static void pack(struct image_server_serving *g)
{
    move_turn(g, IMAGE_SERVER_TURN_PACKING);
    image_server_find(g);
}

/* Start the requests that have waited longest; while answers are not read by clients, refuse them.
 */
static void pack_next(struct image_server *s)
{
    while (!list_is_empty(&s->packing) &&
           (s->n_packing < IMAGE_SERVER_PACKING_MAX || is_answering_much(s))) {
        struct image_server_serving *g =
            list_first(&s->packing, struct image_server_serving, packing);
        if (is_answering_much(s)) {
            move_turn(g, IMAGE_SERVER_TURN_OVER);
            image_server_serving_move(g, IMAGE_SERVER_SERVING_ANSWERED);
            refuse_packing(g->x);
        } else {
            pack(g);
        }
    }
}

/* After the whole request was received: a client that sends slowly has no turn. */
static void wait_to_pack(struct image_server_serving *g)
{
    struct image_server *s = g->s;
    if (s->n_packing_waiting >= IMAGE_SERVER_PACKING_WAITING_MAX || is_answering_much(s)) {
        move_turn(g, IMAGE_SERVER_TURN_OVER);
        image_server_serving_move(g, IMAGE_SERVER_SERVING_ANSWERED);
        refuse_packing(g->x);
        return;
    }
    assert(g->sm.at == IMAGE_SERVER_SERVING_NEW);
    move_turn(g, IMAGE_SERVER_TURN_QUEUED);
    pack_next(s);
}

static void on_body_end(struct http_exchange *x, int r)
{
    struct image_server_serving *g = http_exchange_data(x);
    if (g->turn.at != IMAGE_SERVER_TURN_RECEIVING)
        return;
    if (r < 0) {
        move_turn(g, IMAGE_SERVER_TURN_OVER);
        return;
    }
    g->q.body = buf_str(&g->body);
    wait_to_pack(g);
}

static char *field(const struct http_request *req, const char *name)
{
    struct str v = headers_get(req->headers, name);
    return v.n ? str_dup(v) : NULL;
}

void image_server_serve(struct image_server *s, struct http_exchange *x,
                        const struct http_request *req, const struct mirror_request *q,
                        bool is_upload)
{
    static const struct http_exchange_ops ops = { .on_writable = on_writable,
                                                  .on_body = on_body,
                                                  .on_body_end = on_body_end,
                                                  .on_gone = on_gone };
    struct image_server_serving *g = xnew(struct image_server_serving);
    *g = (struct image_server_serving){ .s = s,
                                        .x = x,
                                        .q = *q,
                                        .is_head = str_is(req->method, "HEAD"),
                                        .accepts_index = accepts_index(req->headers),
                                        .range = field(req, "range"),
                                        .if_range = field(req, "if-range"),
                                        .if_none_match = field(req, "if-none-match"),
                                        .is_upload = is_upload,
                                        .body = BUF_INIT(OCI_PARCEL_REQUEST_MAX),
                                        .found = { .fd = -1 } };
    s->n_uploads += is_upload;
    sm_init(&g->turn, turn_table, IMAGE_SERVER_TURN_NONE);
    sm_init(&g->sm, serving_table, IMAGE_SERVER_SERVING_NEW);
    sm_init(&g->pulls, pulls_table, IMAGE_SERVER_PULLS_NONE);
    if (q->kind == MIRROR_FILES)
        move_turn(g, IMAGE_SERVER_TURN_RECEIVING);
    list_push_back(&s->requests, &g->node);
    s->n_requests++;
    http_exchange_set(x, &ops, g);
    if (q->kind == MIRROR_FILES)
        http_read_body(x, OCI_PARCEL_REQUEST_MAX);
    else if (q->kind == MIRROR_TREE)
        wait_to_pack(g);
    else
        image_server_find(g);
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    struct image_server *s = arg;
    struct mirror_request q;
    struct err err = { 0 };
    char text[LOG_QUOTE_MAX];
    struct str path = req->target, query;
    (void)str_cut(req->target, '?', &path, &query);
    if (str_is(path, "/v1/health")) {
        http_reply(x, 200, NULL, STR("ok\n"));
        return;
    }
    if (s->node && image_server_node_request(s, x, req))
        return;
    if (!shows_token(s, req)) {
        image_server_reply_error(x, 401, "UNAUTHORIZED", "a token is needed");
        return;
    }
    bool is_post = str_is(req->method, "POST") && str_has_suffix(path, STR("/_dormouse/files"));
    if (!str_is(req->method, "GET") && !str_is(req->method, "HEAD") && !is_post) {
        image_server_reply_error(x, 405, "UNSUPPORTED",
                                 "this registry is a mirror: it can only be read");
        return;
    }
    if (str_is(path, "/metrics")) {
        image_server_reply_metrics(s, x);
        return;
    }
    int r = mirror_request_parse(req->target, &q, &err);
    if (r < 0)
        log_debug("image request refused", "code=%s reason=\"%s\"", err_name(r),
                  log_quote(text, str_of(err_text(&err))));
    if (r == -ENOENT)
        image_server_reply_error(x, 404, "UNSUPPORTED", "no such resource");
    else if (r == E_UNSUPPORTED)
        image_server_reply_error(x, 400, "DIGEST_INVALID", "digests are by sha256");
    else if (r < 0)
        image_server_reply_error(x, 400, "NAME_INVALID",
                                 "the name, the reference or a parameter is not valid");
    else if (is_post != (q.kind == MIRROR_FILES))
        image_server_reply_error(x, 405, "UNSUPPORTED", "files are asked for by POST");
    else if (is_of_files(&q) && (s->n_packing_waiting >= IMAGE_SERVER_PACKING_WAITING_MAX ||
                                 s->n_asking >= IMAGE_SERVER_ASKING_MAX))
        refuse_packing(x);
    else if (image_closing_has_begun(&s->closing) || s->n_requests >= IMAGE_SERVER_REQUESTS_MAX)
        image_server_reply_error(x, 503, "TOOMANYREQUESTS", "too many requests at once");
    else
        image_server_serve(s, x, req, &q, false);
}

/* ---- the server ---- */

static void server_free(struct image_server *s)
{
    timer_stop(s->loop, &s->sweep);
    assert(list_is_empty(&s->requests) && list_is_empty(&s->pulls));
    assert(s->n_requests == 0 && s->n_pulls == 0 && s->n_running == 0);
    assert(s->n_asking == 0 && s->n_packing == 0 && s->n_packing_waiting == 0);
    assert(s->n_answer_bytes == 0 && s->n_uploads == 0);
    mirror_free(s->mirror);
    map_each (e, &s->checked)
        free(e->value);
    map_fini(&s->checked);
    for (size_t i = 0; i < s->opts.n_upstreams; i++)
        free(s->upstreams[i]);
    image_server_state_fini(s);
    image_server_probe_fini(s);
    image_server_node_fini(s);
    free(s->url);
    free(s->token);
    free(s);
}

static void on_scrub_removed(void *arg)
{
    image_server_state_changed(arg);
}

static void start_scrub(struct image_server *s)
{
    const struct scrub_opts o = { .loop = s->loop,
                                  .store = s->opts.store,
                                  .bytes_per_day = s->opts.scrub_bytes_per_day,
                                  .may_remove = s->opts.n_upstreams || s->node,
                                  .reading = &layer_child_reading,
                                  .on_removed = on_scrub_removed,
                                  .arg = s };
    if (o.bytes_per_day)
        s->scrub = scrub_start(&o);
}

static void on_http_closed(void *arg)
{
    image_server_finish_close(arg);
}

static void on_scrub_closed(void *arg)
{
    struct image_server *s = arg;
    s->scrub = NULL;
    image_server_finish_close(s);
}

int image_server_start(const struct image_server_opts *opts, struct image_server **ret,
                       struct err *err)
{
    struct image_server *s = xnew(struct image_server);
    s->opts = *opts;
    image_closing_init(&s->closing, on_http_closed, s);
    s->loop = opts->loop;
    s->opts.n_upstreams = MIN(opts->n_upstreams, (size_t)IMAGE_SERVER_UPSTREAMS_MAX);
    for (size_t i = 0; i < s->opts.n_upstreams; i++)
        s->upstreams[i] = xstrdup(opts->upstreams[i]);
    s->token = opts->token ? xstrdup(opts->token) : NULL;
    s->mirror = mirror_new(opts->store);
    list_init(&s->requests);
    list_init(&s->pulls);
    list_init(&s->deploys);
    list_init(&s->awaiting);
    list_init(&s->boxes);
    list_init(&s->parcels);
    list_init(&s->postings);
    list_init(&s->packing);
    sys_uuid(s->boot);
    s->node = opts->node ? xstrdup(opts->node) : NULL;
    s->cluster_key = opts->cluster_key ? xstrdup(opts->cluster_key) : NULL;
    const struct http_server_opts http = { .host = opts->host,
                                           .port = opts->port,
                                           .tls = opts->tls,
                                           .on_request = on_request,
                                           .arg = s,
                                           .max_connections = IMAGE_SERVER_CONNECTIONS_MAX };
    int r = http_server_start(s->loop, &http, &s->http, err);
    if (r < 0) {
        server_free(s);
        return r;
    }
    if (s->node && opts->api) {
        const char *host = opts->url_host ? opts->url_host : opts->host;
        bool is_v6 = strchr(host, ':') != NULL;
        s->url = opts->url
                     ? xstrdup(opts->url)
                     : xasprintf("%s://%s%s%s:%u", opts->tls ? "https" : "http", is_v6 ? "[" : "",
                                 host, is_v6 ? "]" : "", (unsigned)http_server_port(s->http));
        image_server_state_start(s);
        image_server_probe_start(s);
    }
    start_scrub(s);
    *ret = s;
    return 0;
}

uint16_t image_server_port(const struct image_server *s)
{
    return http_server_port(s->http);
}

void image_server_finish_close(struct image_server *s)
{
    if (!image_closing_is_draining(&s->closing) || s->n_requests || s->n_pulls || s->n_deploying ||
        !list_is_empty(&s->postings) || !list_is_empty(&s->parcels) || s->scrub ||
        image_server_state_is_busy(s))
        return;
    struct image_closing closing = s->closing;
    server_free(s);
    image_closing_end(closing);
}

void image_server_close(struct image_server *s, uint64_t grace_ms, void (*done)(void *arg),
                        void *arg)
{
    image_closing_start(&s->closing, done, arg);
    timer_stop(s->loop, &s->sweep);
    image_server_pulls_close(s);
    image_server_node_close(s);
    image_server_state_close(s);
    image_server_probe_close(s);
    if (s->scrub)
        scrub_close(s->scrub, on_scrub_closed, s);
    image_closing_close_http(&s->closing, s->http, grace_ms);
}
