/* SPDX-License-Identifier: Apache-2.0 */
/* Shared documents; see documents.h. */
#include "api/documents.h"

#include "api/compress.h"
#include "api/core.h"
#include "codec/digest.h"
#include "codec/gzip.h"

#include <errno.h>
#include <malloc.h>

enum { PIECE_BYTES = 64 << 10 };

struct document {
    struct documents *docs;
    struct list node;    /* docs->all */
    struct list waiting; /* struct sending.node */
    unsigned refs;       /* being sent */
    enum document_what what;
    enum openapi_form form;
    uint64_t generation; /* of the registry */
    uint64_t used_ms;
    struct str group, version; /* of `names` */
    char tag[OPENAPI_HASH_MAX];
    struct buf plain, gzip; /* empty: not made */
    char names[];
};

/* One request's work. */
struct sending {
    struct request *rq;
    struct document *doc;
    struct list node; /* doc->waiting */
    const char *content_type;
    bool takes_gzip, begun;
    size_t at;
};

/* ------------------------------------------------------------------ life */

static void document_free(struct document *doc)
{
    list_remove(&doc->node);
    buf_fini(&doc->plain);
    buf_fini(&doc->gzip);
    free(doc);
}

static bool in_use(const struct document *doc)
{
    return doc->refs || !list_is_empty(&doc->waiting);
}

static void arm(struct documents *d);

static void on_timer(struct timer *t)
{
    struct documents *d = container_of(t, struct documents, timer);
    uint64_t now = loop_now_ms(d->api->loop);
    list_each_safe (node, &d->all) {
        struct document *doc = list_entry(node, struct document, node);
        if (!in_use(doc) && doc->used_ms + DOCUMENT_KEEP_MS <= now)
            document_free(doc);
    }
    (void)malloc_trim(0);
    arm(d);
}

static void arm(struct documents *d)
{
    if (!list_is_empty(&d->all) && !timer_is_armed(&d->timer))
        timer_start(d->api->loop, &d->timer, DOCUMENT_KEEP_MS, on_timer);
}

void documents_init(struct documents *d, struct api *api)
{
    *d = (struct documents){ .api = api };
    list_init(&d->all);
}

void documents_fini(struct documents *d)
{
    timer_stop(d->api->loop, &d->timer);
    defer_cancel(&d->turn);
    while (!list_is_empty(&d->all))
        document_free(list_first(&d->all, struct document, node));
}

/* Free the unused documents of earlier generations of the registry: no request asks for them. */
static void drop_stale(struct documents *d)
{
    list_each_safe (node, &d->all) {
        struct document *doc = list_entry(node, struct document, node);
        if (!in_use(doc) && doc->generation != d->api->reg.generation)
            document_free(doc);
    }
}

static struct document *find(struct documents *d, enum document_what what, struct str group,
                             struct str version, enum openapi_form form)
{
    list_each (node, &d->all) {
        struct document *doc = list_entry(node, struct document, node);
        if (doc->what == what && doc->form == form && doc->generation == d->api->reg.generation &&
            str_eq(doc->group, group) && str_eq(doc->version, version))
            return doc;
    }
    return NULL;
}

static void tag(struct document *doc)
{
    const struct registry *reg = &doc->docs->api->reg;
    if (doc->what == DOCUMENT_V2)
        openapi_v2_hash(reg, doc->tag);
    else if (doc->what == DOCUMENT_V3)
        (void)openapi_v3_hash(reg, doc->group, doc->version, doc->tag);
}

struct document *documents_get(struct documents *d, enum document_what what, struct str group,
                               struct str version, enum openapi_form form)
{
    const struct registry *reg = &d->api->reg;
    struct document *doc = find(d, what, group, version, form);
    if (!doc) {
        if (what == DOCUMENT_V3 && !registry_has_version(reg, group, version))
            return NULL;
        drop_stale(d);
        doc = xalloc(sizeof *doc + group.n + version.n);
        *doc = (struct document){ .docs = d,
                                  .what = what,
                                  .form = form,
                                  .generation = reg->generation,
                                  .group = str_n(doc->names, group.n),
                                  .version = str_n(doc->names + group.n, version.n),
                                  .plain = BUF_INIT(OPENAPI_MAX_BYTES),
                                  .gzip = BUF_INIT(OPENAPI_MAX_BYTES) };
        if (group.n)
            memcpy(doc->names, group.p, group.n);
        if (version.n)
            memcpy(doc->names + group.n, version.p, version.n);
        list_init(&doc->waiting);
        tag(doc);
        list_push_back(&d->all, &doc->node);
    }
    doc->used_ms = loop_now_ms(d->api->loop);
    arm(d);
    return doc;
}

const char *document_tag(const struct document *doc)
{
    return doc->tag;
}

/* ------------------------------------------------------------------ sending */

/* The form that this client gets. The document must be made. */
static const struct buf *form_for(const struct sending *s)
{
    bool long_enough = s->doc->plain.n > COMPRESS_MIN_BYTES;
    return s->takes_gzip && long_enough ? &s->doc->gzip : &s->doc->plain;
}

static void on_sending_gone(struct request *rq)
{
    struct sending *s = rq->work;
    if (s->begun)
        s->doc->refs--;
    else
        list_remove(&s->node);
    free(s);
}

static void send_more(struct request *rq)
{
    struct sending *s = rq->work;
    struct str all = buf_str(form_for(s));
    bool room = true;
    request_busy(rq);
    while (room && !rq->gone && s->at < all.n) {
        struct str piece = str_slice(all, s->at, MIN(s->at + PIECE_BYTES, all.n));
        s->at += piece.n;
        room = rq->sink->write(rq, piece);
    }
    if (!rq->gone && s->at == all.n && !rq->ended) {
        rq->ended = true;
        request_settled(rq);
        rq->sink->end(rq);
    }
    (void)request_idle(rq);
}

static void begin(struct sending *s)
{
    struct request *rq = s->rq;
    struct document *doc = s->doc;
    s->begun = true;
    doc->refs++;
    const struct buf *b = form_for(s);
    if (doc->what == DOCUMENT_V3_INDEX) {
        uint8_t hash[SHA256_BYTES];
        char hex[SHA256_HEX_SIZE];
        sha256_of(buf_str(&doc->plain), hash);
        hex_format(hash, sizeof hash, hex);
        if (reply_unchanged(rq, hex))
            return;
    }
    if (b == &doc->gzip) {
        (void)headers_addc(&rq->extra, "content-encoding", "gzip");
        if (doc->what != DOCUMENT_V2) /* whose answers always have this field */
            (void)headers_addc(&rq->extra, "vary", "Accept-Encoding");
    }
    rq->on_writable = send_more;
    reply_head(rq, 200, s->content_type, b->n);
    send_more(rq);
}

/* ------------------------------------------------------------------ making */

static int make(struct document *doc)
{
    const struct registry *reg = &doc->docs->api->reg;
    switch (doc->what) {
    case DOCUMENT_V2:
        return openapi_v2(reg, doc->form, &doc->plain);
    case DOCUMENT_V3:
        return openapi_v3(reg, doc->group, doc->version, doc->form, &doc->plain);
    case DOCUMENT_V3_INDEX:
        return openapi_v3_index(reg, &doc->plain);
    }
    return -ENOENT;
}

static int compress(struct document *doc)
{
    struct gzip *z = gzip_new();
    int r = z ? gzip_add(z, buf_str(&doc->plain), true, &doc->gzip) : -ENOMEM;
    gzip_free(z);
    if (r < 0)
        buf_reset(&doc->gzip);
    return r;
}

static void on_turn(struct defer *turn);

static struct document *next_wanted(struct documents *d)
{
    list_each (node, &d->all) {
        struct document *doc = list_entry(node, struct document, node);
        if (!list_is_empty(&doc->waiting))
            return doc;
    }
    return NULL;
}

static void fail(struct sending *s, int r)
{
    s->begun = true;
    s->doc->refs++;
    reply_err(s->rq, r, NULL);
}

/*
 * The registry has changed since the document was asked for: the answers say what is made now, not
 * what would have been, and are not good for ever under the old address.
 */
static void renew(struct document *doc)
{
    doc->generation = doc->docs->api->reg.generation;
    if (doc->what == DOCUMENT_V3_INDEX)
        return;
    tag(doc);
    list_each (node, &doc->waiting) {
        struct request *rq = list_entry(node, struct sending, node)->rq;
        const char *quoted = arena_printf(&rq->arena, "\"%s\"", doc->tag);
        (void)headers_set(&rq->extra, STR("etag"), str_of(quoted));
        headers_del(&rq->extra, STR("expires"));
        if (headers_get(&rq->extra, "cache-control").n)
            (void)headers_set(&rq->extra, STR("cache-control"), STR("no-cache, private"));
    }
}

/* Make one document, then answer all requests that wait for it. */
static void on_turn(struct defer *turn)
{
    struct documents *d = container_of(turn, struct documents, turn);
    struct document *doc = next_wanted(d);
    if (!doc)
        return;
    if (doc->plain.n == 0 && doc->generation != d->api->reg.generation)
        renew(doc);
    int r = doc->plain.n ? 0 : make(doc);
    if (r < 0)
        buf_reset(&doc->plain);
    bool compressed = false;
    list_each (node, &doc->waiting)
        compressed = compressed || form_for(list_entry(node, struct sending, node)) == &doc->gzip;
    if (r >= 0 && compressed && doc->gzip.n == 0)
        r = compress(doc);
    (void)malloc_trim(0); /* the process would keep the memory of making it, some ten MiB */
    doc->refs++;
    struct list ready; /* a client that is answered may ask again, and waits for the next turn */
    list_init(&ready);
    list_move_all(&doc->waiting, &ready);
    while (!list_is_empty(&ready)) {
        struct sending *s = list_first(&ready, struct sending, node);
        list_remove(&s->node);
        if (r < 0)
            fail(s, r);
        else
            begin(s);
    }
    doc->refs--;
    if (next_wanted(d))
        defer_start(d->api->loop, &d->turn, on_turn);
}

void document_send(struct request *rq, struct document *doc, const char *content_type)
{
    struct sending *s = xnew(struct sending);
    *s = (struct sending){
        .rq = rq, .doc = doc, .content_type = content_type, .takes_gzip = compress_may(rq)
    };
    rq->work = s;
    rq->on_gone = on_sending_gone;
    if (doc->plain.n && form_for(s)->n) {
        begin(s);
        return;
    }
    list_push_back(&doc->waiting, &s->node);
    defer_start(doc->docs->api->loop, &doc->docs->turn, on_turn);
}
