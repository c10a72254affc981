/* SPDX-License-Identifier: Apache-2.0 */
#include "image/fetch.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/sys.h"
#include "codec/headers.h"
#include "io/address.h"
#include "io/fetch_url.h"
#include "io/http.h"
#include "oci/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    SPOOL_PIECE_BYTES = 256 << 10,
    DELIVER_BYTES = 4 << 20, /* from the spool, before the sources are looked at again */
    TICK_MS = 500,
    PACE_MS = 250, /* of rest at a time */
};

struct fetching {
    const struct image_fetch *f;
    struct loop loop;
    struct timer tick;
    struct tls_ctx *tls; /* ours, where none was given */
    struct image_transfer transfer;
    struct oci_import *import;
    uint64_t delivered; /* bytes that the import has */
    /* All bytes received until then were processed: silence is measured from it, since an import
     * may block. */
    uint64_t polled_ms;
    uint64_t began_ms, paced; /* bytes since then; only where they are paced */
    int spool;                /* -1: not made yet */
    struct http_client *clients[IMAGE_TRANSFER_SOURCES_MAX];
    struct oci_registry *registry;
    struct image_fetch_attempt *running[IMAGE_TRANSFER_PIECES_MAX];
    struct image_fetch_result result;
    int r;     /* the error that ended it */
    int wrong; /* the import's word on the content: E_PARSE, E_LIMIT */
    struct err err;
};

/* One request for the rest of a piece. */
struct image_fetch_attempt {
    struct fetching *g;
    uint32_t piece, source;
    struct exchange *call;
    struct oci_request *request;
    bool is_pushed; /* neither: it is waited for */
    uint64_t at, to;
    bool is_dead; /* given up: further data is dropped */
    bool is_answer;
    enum image_transfer_end refusal; /* unless it is an answer */
};

/* ---- bytes ---- */

static uint64_t now(struct fetching *g)
{
    return loop_now_ms(&g->loop);
}

static void import(struct fetching *g, struct str bytes)
{
    struct err err = { 0 };
    if (g->r < 0 || g->wrong < 0)
        return;
    uint64_t began_ns = clock_mono_ns();
    int r = oci_import_add(g->import, bytes, &err);
    g->result.import_bytes += bytes.n;
    g->result.import_us += (clock_mono_ns() - began_ns) / 1000;
    loop_update_now(&g->loop); /* it may have waited for the disk */
    if (r == E_PARSE || r == E_LIMIT) {
        g->wrong = r;
        g->err = err;
    } else if (r < 0) {
        g->r = r;
        g->err = err;
    }
    g->delivered += bytes.n;
}

static int open_spool(struct fetching *g, struct err *err)
{
    scoped(free_scoped) char *path = oci_store_tmp(g->f->store);
    g->spool = sys_openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (g->spool < 0)
        return err_sys(err, g->spool, "open '%s'", path);
    (void)sys_unlinkat(AT_FDCWD, path, 0);
    return 0;
}

static void put_spool(struct fetching *g, struct str bytes, uint64_t at)
{
    int r = g->spool >= 0 ? 0 : open_spool(g, &g->err);
    if (r >= 0 && (r = sys_pwrite_all(g->spool, bytes.p, bytes.n, at)) < 0)
        r = err_sys(&g->err, r, "write to the store");
    if (r < 0)
        g->r = r;
}

/* The part that has the next byte in the spool; NULL: none has. */
static const struct image_transfer_part *next_delivery(const struct fetching *g)
{
    for (size_t i = 0; i < g->transfer.n; i++) {
        const struct image_transfer_part *p = &g->transfer.parts[i];
        if (p->plan.from <= g->delivered && g->delivered < p->at)
            return p;
    }
    return NULL;
}

/* Import the contiguous bytes, at most as many as one turn allows. Returns whether more are left.
 */
static bool deliver(struct fetching *g)
{
    const struct image_transfer_part *p;
    scoped(free_scoped) char *piece = NULL;
    for (uint64_t n = 0; g->r >= 0 && g->wrong >= 0 && (p = next_delivery(g));) {
        size_t want = (size_t)MIN(p->at - g->delivered, (uint64_t)SPOOL_PIECE_BYTES);
        if (n >= DELIVER_BYTES)
            return true;
        n += want;
        piece = piece ? piece : xalloc(SPOOL_PIECE_BYTES);
        ssize_t got = sys_pread_full(g->spool, piece, want, g->delivered);
        if (got != (ssize_t)want)
            g->r = err_sys(&g->err, got < 0 ? (int)got : -EIO, "read what arrived");
        else
            import(g, str_n(piece, want));
    }
    return false;
}

/*
 * Rest until so many bytes are not too early, or for a while: the senders wait meanwhile, as they
 * do for an import that blocks.
 */
static void pace(struct fetching *g, size_t n)
{
    enum { SLICE_MS = 25 };
    uint64_t rate = g->f->bytes_per_second;
    if (!rate)
        return;
    if (!g->began_ms)
        g->began_ms = clock_mono_ms();
    g->paced += n;
    uint64_t due_ms = g->began_ms + g->paced * 1000 / rate, from_ms = clock_mono_ms();
    for (uint64_t ms = from_ms; ms < MIN(due_ms, from_ms + PACE_MS); ms = clock_mono_ms()) {
        const struct timespec rest = { .tv_nsec = SLICE_MS * 1000000L };
        if (g->f->stop && atomic_load(g->f->stop))
            break;
        (void)nanosleep(&rest, NULL);
    }
    loop_update_now(&g->loop);
}

static void take_bytes(struct image_fetch_attempt *a, struct str bytes)
{
    struct fetching *g = a->g;
    bytes = str_slice(bytes, 0, (size_t)MIN((uint64_t)bytes.n, a->to - a->at));
    if (bytes.n == 0 || g->r < 0 || g->wrong < 0)
        return;
    if (a->at == g->delivered)
        import(g, bytes);
    else
        put_spool(g, bytes, a->at);
    if (g->f->sources[a->source].is_registry)
        g->result.registry_bytes += bytes.n;
    else
        g->result.peer_bytes += bytes.n;
    g->result.pushed_bytes += a->is_pushed ? bytes.n : 0;
    a->at += bytes.n;
    pace(g, bytes.n);
    image_transfer_data(&g->transfer, a->piece, bytes.n, now(g));
}

/* ---- attempts ---- */

/* The request has ended, and the source asked for a later retry. */
static void attempt_put_off(struct image_fetch_attempt *a, uint64_t after_ms)
{
    struct fetching *g = a->g;
    if (!a->is_dead) {
        g->running[a->piece] = NULL;
        image_transfer_put_off(&g->transfer, a->piece, after_ms, now(g));
    }
    free(a);
}

/* The request is over. */
static void attempt_end(struct image_fetch_attempt *a, enum image_transfer_end how)
{
    struct fetching *g = a->g;
    if (!a->is_dead) {
        g->running[a->piece] = NULL;
        image_transfer_ended(&g->transfer, a->piece, how, now(g));
    }
    free(a);
}

static uint64_t begin_of(const struct image_fetch_attempt *a)
{
    return a->g->transfer.parts[a->piece].plan.from;
}

static void attempt_cancel(struct image_fetch_attempt *a)
{
    a->g->running[a->piece] = NULL;
    if (a->is_pushed) {
        image_inbox_close(a->g->f->inbox, &a->g->f->blob, begin_of(a), a->at < a->to);
        free(a);
        return;
    }
    a->is_dead = true;
    if (a->call)
        exchange_cancel(a->call);
    else
        oci_request_cancel(a->request);
}

/* ---- from a peer ---- */

/* "bytes 5-9/10" begins at `from`. */
static bool is_range_from(struct str text, uint64_t from)
{
    uint64_t first;
    struct str unit, rest;
    return str_cut(str_trim(text), ' ', &unit, &rest) && str_ieq(unit, STR("bytes")) &&
           str_cut(rest, '-', &unit, &rest) && parse_u64(unit, 0, UINT64_MAX, &first) == 0 &&
           first == from;
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct image_fetch_attempt *a = arg;
    a->is_answer = (status == 206 && is_range_from(headers_get(headers, "content-range"), a->at)) ||
                   (status == 200 && a->at == 0);
    if (status == 429 || status == 503)
        a->refusal = IMAGE_TRANSFER_BUSY;
    else
        a->refusal = status >= 500 || status < 300 ? IMAGE_TRANSFER_BROKEN : IMAGE_TRANSFER_GONE;
}

static void on_data(void *arg, struct str chunk)
{
    struct image_fetch_attempt *a = arg;
    if (a->is_answer && !a->is_dead)
        take_bytes(a, chunk);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct image_fetch_attempt *a = arg;
    (void)err;
    if (r < 0)
        attempt_end(a, IMAGE_TRANSFER_BROKEN);
    else
        attempt_end(a, a->is_answer ? IMAGE_TRANSFER_COMPLETE : a->refusal);
}

static int open_client(struct fetching *g, uint32_t source, struct err *err)
{
    struct fetch_url u;
    int r = fetch_url_parse(g->f->sources[source].url, NULL, &u, err);
    if (r < 0)
        return r;
    if (u.tls && !g->f->tls && !g->tls)
        r = tls_ctx_new_client(STR(""), STR(""), STR(""), false, &g->tls, err);
    const struct http_client_opts o = { .host = u.host,
                                        .port = u.port,
                                        .tls = !u.tls      ? NULL
                                               : g->f->tls ? g->f->tls
                                                           : g->tls,
                                        .may_connect = address_may_connect,
                                        .max_connections = 4,
                                        .connect_timeout_ms = IMAGE_TRANSFER_FIRST_MS };
    r = r < 0 ? r : http_client_new(&g->loop, &o, &g->clients[source], err);
    fetch_url_fini(&u);
    return r;
}

static int start_peer(struct image_fetch_attempt *a, struct err *err)
{
    static const struct exchange_events events = { .on_head = on_head,
                                                   .on_data = on_data,
                                                   .on_end = on_end };
    struct fetching *g = a->g;
    const struct image_fetch *f = g->f;
    struct headers h = { 0 };
    char digest[OCI_DIGEST_TEXT_SIZE];
    int r = g->clients[a->source] ? 0 : open_client(g, a->source, err);
    if (r < 0)
        return r;
    oci_digest_format(&f->blob, digest);
    scoped(free_scoped) char *target =
        xasprintf("/v1/layers/%s?deploy=%s&node=%s", digest, f->deploy, f->node);
    scoped(free_scoped) char *range = xasprintf("bytes=%" PRIu64 "-%" PRIu64, a->at, a->to - 1);
    scoped(free_scoped) char *token = xasprintf("Bearer %s", f->sources[a->source].token);
    (void)headers_addc(&h, "range", range);
    (void)headers_addc(&h, "authorization", token);
    const struct http_call_opts o = {
        .method = STR("GET"), .target = str_of(target), .headers = &h, .events = &events, .arg = a
    };
    r = http_call_start(g->clients[a->source], &o, &a->call, err);
    headers_fini(&h);
    return r;
}

/* ---- from a peer that pushes ---- */

static void on_pushed(void *arg, struct str bytes)
{
    take_bytes(arg, bytes);
}

static void on_push_end(void *arg, bool is_whole)
{
    struct image_fetch_attempt *a = arg;
    image_inbox_close(a->g->f->inbox, &a->g->f->blob, begin_of(a), !is_whole);
    attempt_end(a, is_whole ? IMAGE_TRANSFER_COMPLETE : IMAGE_TRANSFER_BROKEN);
}

static int start_push(struct image_fetch_attempt *a, struct err *err)
{
    const struct image_inbox_receiver r = {
        .loop = &a->g->loop, .on_bytes = on_pushed, .on_end = on_push_end, .arg = a
    };
    if (!image_inbox_open(a->g->f->inbox, &a->g->f->blob, begin_of(a), a->at, &r))
        return err_set(err, -ENOENT, "no peer is to push it");
    return 0;
}

/* ---- from the registry ---- */

static int on_blob_bytes(void *arg, struct str bytes, struct err *err)
{
    struct image_fetch_attempt *a = arg;
    if (!a->is_dead)
        take_bytes(a, bytes);
    if (a->is_dead || a->at == a->to)
        return err_set(err, -ECANCELED, "enough");
    return 0;
}

static void on_blob_end(void *arg, int r, const struct oci_answer *answer, const struct err *err)
{
    struct image_fetch_attempt *a = arg;
    (void)answer;
    (void)err;
    bool is_gone = r == -ENOENT || r == E_DENIED || r == E_UNSUPPORTED;
    uint64_t after_ms;
    if (r == -EAGAIN && oci_request_is_put_off(a->request, &after_ms)) {
        if (after_ms <= (uint64_t)OCI_REGISTRY_RETRY_AFTER_MAX_S * 1000) {
            attempt_put_off(a, after_ms);
            return;
        }
        is_gone = true; /* for longer than a transfer waits */
    }
    attempt_end(a, is_gone  ? IMAGE_TRANSFER_GONE
                   : r == 0 ? IMAGE_TRANSFER_COMPLETE
                            : IMAGE_TRANSFER_BROKEN);
}

static int open_registry(struct fetching *g, const char *repository, struct err *err)
{
    struct oci_reference ref;
    struct oci_remote_opts o = g->f->remote;
    scoped(free_scoped) char *text = xasprintf("%s/%s:latest", g->f->registry, repository);
    int r = oci_reference_parse(str_of(text), &ref, err);
    o.attempts = 1; /* the transfer counts them */
    return r < 0 ? r : oci_remote_registry(&ref, &o, &g->loop, &g->registry, err);
}

static int start_registry(struct image_fetch_attempt *a, struct err *err)
{
    struct fetching *g = a->g;
    const char *repository = g->f->sources[a->source].repository;
    const struct oci_descriptor d = { .digest = g->f->blob, .size = g->f->size };
    int r = g->registry ? 0 : open_registry(g, repository, err);
    if (r < 0)
        return r;
    scoped(free_scoped) char *scope = oci_registry_scope(repository, false);
    return oci_registry_blob(g->registry, repository, &d, a->at, scope, on_blob_bytes, a,
                             on_blob_end, a, &a->request, err);
}

/* ---- driving ---- */

static void start_attempt(struct fetching *g, const struct image_transfer_order *o)
{
    struct image_fetch_attempt *a = xnew(struct image_fetch_attempt);
    struct err err = { 0 };
    *a = (struct image_fetch_attempt){ .g = g,
                                       .piece = o->piece,
                                       .source = o->source,
                                       .is_pushed = o->is_pushed,
                                       .at = o->from,
                                       .to = o->to };
    loop_update_now(&g->loop);        /* timers of the request, too, begin now */
    if (!o->is_pushed && g->f->inbox) /* it is requested now, so a later push is refused */
        image_inbox_over(g->f->inbox, &g->f->blob, begin_of(a), o->to);
    int r = o->is_pushed                           ? start_push(a, &err)
            : g->f->sources[o->source].is_registry ? start_registry(a, &err)
                                                   : start_peer(a, &err);
    if (r >= 0) {
        g->running[o->piece] = a;
        image_transfer_asked(&g->transfer, o->piece, now(g));
        return;
    }
    free(a);
    image_transfer_ended(&g->transfer, o->piece, IMAGE_TRANSFER_GONE, now(g));
}

static void follow_orders(struct fetching *g)
{
    struct image_transfer_order o;
    while (image_transfer_next(&g->transfer, g->polled_ms, &o)) {
        if (o.kind == IMAGE_TRANSFER_START)
            start_attempt(g, &o);
        else if (g->running[o.piece])
            attempt_cancel(g->running[o.piece]);
    }
}

static void on_tick(struct timer *t)
{
    (void)t; /* it wakes the loop */
}

/* Handle received data and due timeouts. */
static void turn(struct fetching *g, bool is_behind)
{
    loop_update_now(&g->loop);
    uint64_t at = now(g), due = image_transfer_due(&g->transfer, at);
    uint64_t wait = due > at ? MIN(due - at, (uint64_t)TICK_MS) : 1;
    if (!is_behind)
        timer_start(&g->loop, &g->tick, wait, on_tick);
    (void)loop_turn(&g->loop, !is_behind);
    g->polled_ms = at;
}

/* Until all bytes are there and the import has them, or it fails. */
static void run_round(struct fetching *g)
{
    loop_update_now(&g->loop);
    g->polled_ms = now(g); /* nothing runs */
    while (g->r >= 0 && g->wrong >= 0) {
        bool is_behind = deliver(g);
        follow_orders(g);
        if (g->transfer.state != IMAGE_TRANSFER_RUNNING &&
            (!is_behind || g->transfer.state == IMAGE_TRANSFER_FAILED))
            return;
        turn(g, is_behind);
        if (clock_mono_ms() >= g->f->deadline_ms)
            g->r = err_set(&g->err, -ETIMEDOUT, "the deadline of the deployment is over");
        else if (g->f->stop && atomic_load(g->f->stop))
            g->r = err_set(&g->err, -ECANCELED, "the server ends");
    }
}

static void cancel_all(struct fetching *g)
{
    for (size_t i = 0; i < IMAGE_TRANSFER_PIECES_MAX; i++)
        if (g->running[i])
            attempt_cancel(g->running[i]);
}

static int open_import(struct fetching *g, bool is_resumable, struct err *err)
{
    const struct image_fetch *f = g->f;
    const struct oci_import_opts o = { .diff_id = f->diff_id,
                                       .blob = f->blob,
                                       .blob_size = f->size,
                                       .max_tar_bytes = f->max_tar_bytes,
                                       .is_resumable = is_resumable,
                                       .until_ms = f->deadline_ms,
                                       .stop = f->stop,
                                       .reading = f->reading };
    oci_import_free(g->import);
    g->import = NULL;
    int r = oci_import_new(f->store, &o, &g->import, err);
    if (r >= 0)
        g->delivered = oci_import_offset(g->import);
    return r;
}

/* 1: it has ended with success. 0: try again. */
static int verify(struct fetching *g, struct err *err)
{
    uint32_t bad_source;
    struct err why = g->err;
    uint64_t began_ns = clock_mono_ns();
    int r = g->wrong < 0 ? g->wrong : oci_import_commit(g->import, &why);
    g->result.import_us += (clock_mono_ns() - began_ns) / 1000;
    cancel_all(g);
    if (r < 0 && r != E_DIGEST && r != E_PARSE && r != E_LIMIT)
        return err_set(err, r, "%s", err_text(&why));
    image_transfer_mark_received(&g->transfer);
    image_transfer_verdict(&g->transfer, r >= 0, now(g), &bad_source);
    if (r >= 0)
        return 1;
    if (bad_source != UINT32_MAX && g->f->on_bad_source)
        g->f->on_bad_source(g->f->arg, bad_source);
    if (g->transfer.state == IMAGE_TRANSFER_FAILED)
        return err_set(err, E_DIGEST, "no source has the right bytes: %s", err_text(&why));
    g->wrong = 0;
    return open_import(g, false, err);
}

static int fetch(struct fetching *g, struct err *err)
{
    const struct image_fetch *f = g->f;
    bool is_registry[IMAGE_TRANSFER_SOURCES_MAX] = { false };
    int r = open_import(g, true, err);
    if (r == E_PARSE || r == E_LIMIT) /* what an earlier attempt left, and is removed now */
        r = open_import(g, false, err);
    if (r < 0)
        return r;
    loop_update_now(&g->loop); /* it may have waited for another import */
    for (size_t i = 0; i < MIN(f->n_sources, (size_t)IMAGE_TRANSFER_SOURCES_MAX); i++)
        is_registry[i] = f->sources[i].is_registry;
    if (!image_transfer_init(&g->transfer, f->pieces, f->n_pieces, is_registry, f->n_sources,
                             f->size, g->delivered, sys_random_u64(), now(g)))
        return err_set(err, E_INVALID, "the ranges of a layer do not cover it");
    for (;;) {
        run_round(g);
        if (g->r < 0)
            return err_set(err, g->r, "%s", err_text(&g->err));
        if (g->transfer.state == IMAGE_TRANSFER_FAILED && g->wrong >= 0)
            return err_set(err, -EHOSTUNREACH, "no source is left");
        r = verify(g, err);
        if (r != 0)
            return r;
    }
}

int image_fetch_layer(const struct image_fetch *f, struct image_fetch_result *ret, struct err *err)
{
    struct fetching *g = xnew(struct fetching);
    struct err why = { 0 };
    *g = (struct fetching){ .f = f, .spool = -1 };
    int r = loop_init(&g->loop, err);
    if (r < 0) {
        free(g);
        return r;
    }
    r = fetch(g, &why);
    g->result.was_present = r == -EEXIST;
    cancel_all(g);
    if (f->inbox)
        image_inbox_over(f->inbox, &f->blob, 0, UINT64_MAX);
    timer_stop(&g->loop, &g->tick);
    for (size_t i = 0; i < IMAGE_TRANSFER_SOURCES_MAX; i++)
        if (g->clients[i])
            http_client_close(g->clients[i]);
    if (g->registry)
        oci_registry_close(g->registry);
    loop_run(&g->loop);
    loop_fini(&g->loop);
    oci_import_free(g->import);
    tls_ctx_free(g->tls);
    if (g->spool >= 0)
        (void)close(g->spool);
    *ret = g->result;
    free(g);
    return r == -EEXIST || r > 0 ? 0 : err_set(err, r, "%s", err_text(&why));
}
