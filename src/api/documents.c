/* SPDX-License-Identifier: Apache-2.0 */
/* Shared documents; see documents.h. */
#include "api/documents.h"

#include "api/compress.h"
#include "api/core.h"
#include "api/encode.h"
#include "codec/digest.h"
#include "codec/gzip.h"
#include "kube/model/discovery.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>

enum { PIECE_BYTES = 64 << 10, DOCUMENTS_RETRY_S = 4 /* the bucket has refilled by then */ };

struct document {
    struct documents *docs;
    struct list node;          /* docs->all */
    struct list waiting;       /* struct documents_sending.node */
    unsigned refs;             /* requests that are being answered with it */
    struct document_name name; /* its strings are those below */
    uint64_t generation;       /* of the registry */
    uint64_t used_ms;
    char tag[OPENAPI_HASH_MAX];
    struct buf plain, gzip; /* empty: not made */
    char names[];
};

/* One request for a document. */
struct documents_sending {
    struct request *rq;
    struct document *doc;
    struct list node; /* doc->waiting */
    const char *content_type;
    bool takes_gzip, begun;
    size_t at;
};

/* ------------------------------------------------------------------ lifecycle */

static bool in_use(const struct document *doc)
{
    return doc->refs || !list_is_empty(&doc->waiting);
}

static void document_free(struct document *doc)
{
    assert(!in_use(doc));
    list_remove(&doc->node);
    buf_fini(&doc->plain);
    buf_fini(&doc->gzip);
    free(doc);
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
    *d = (struct documents){ .api = api, .steps = DOCUMENTS_MAX_STEPS };
    list_init(&d->all);
}

void documents_fini(struct documents *d)
{
    timer_stop(d->api->loop, &d->timer);
    defer_cancel(&d->turn);
    while (!list_is_empty(&d->all))
        document_free(list_first(&d->all, struct document, node));
}

/*
 * Free the unused documents of earlier generations of the registry: they are not requested any
 * more.
 */
static void drop_stale(struct documents *d)
{
    list_each_safe (node, &d->all) {
        struct document *doc = list_entry(node, struct document, node);
        if (!in_use(doc) && doc->generation != d->api->reg.generation)
            document_free(doc);
    }
}

static bool same_name(const struct document_name *x, const struct document_name *y)
{
    return x->what == y->what && x->form == y->form && x->rep.format == y->rep.format &&
           x->rep.pretty == y->rep.pretty && x->rep.v1beta1 == y->rep.v1beta1 &&
           str_eq(x->group, y->group) && str_eq(x->version, y->version);
}

static struct document *find(struct documents *d, const struct document_name *name)
{
    list_each (node, &d->all) {
        struct document *doc = list_entry(node, struct document, node);
        if (doc->generation == d->api->reg.generation && same_name(&doc->name, name))
            return doc;
    }
    return NULL;
}

static void tag(struct document *doc)
{
    const struct kube_registry *reg = &doc->docs->api->reg;
    if (doc->name.what == DOCUMENT_V2)
        openapi_v2_hash(reg, doc->tag);
    else if (doc->name.what == DOCUMENT_V3)
        (void)openapi_v3_hash(reg, doc->name.group, doc->name.version, doc->tag);
}

/*
 * Whether the ETag is a hash of the text; else of the sources, which are known before it is made.
 */
static bool is_tagged_by_text(const struct document *doc)
{
    enum document_what what = doc->name.what;
    return what == DOCUMENT_V3_INDEX || what == DOCUMENT_AGGREGATED ||
           what == DOCUMENT_AGGREGATED_CORE;
}

static bool is_tagged_by_source(const struct document *doc)
{
    return doc->name.what == DOCUMENT_V2 || doc->name.what == DOCUMENT_V3;
}

static void tag_by_text(struct document *doc, struct str text)
{
    uint8_t hash[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    _Static_assert(sizeof hex <= sizeof doc->tag, "a tag has room for a hash");
    sha256_of(text, hash);
    hex_format(hash, sizeof hash, hex);
    memcpy(doc->tag, hex, sizeof hex);
}

static struct document *document_new(struct documents *d, const struct document_name *name)
{
    struct str group = name->group, version = name->version;
    struct document *doc = xalloc(sizeof *doc + group.n + version.n);
    *doc = (struct document){ .docs = d,
                              .name = *name,
                              .generation = d->api->reg.generation,
                              .plain = BUF_INIT(OPENAPI_MAX_BYTES),
                              .gzip = BUF_INIT(OPENAPI_MAX_BYTES) };
    doc->name.group = str_n(doc->names, group.n);
    doc->name.version = str_n(doc->names + group.n, version.n);
    if (group.n)
        memcpy(doc->names, group.p, group.n);
    if (version.n)
        memcpy(doc->names + group.n, version.p, version.n);
    list_init(&doc->waiting);
    tag(doc);
    list_push_back(&d->all, &doc->node);
    return doc;
}

struct document *documents_get(struct documents *d, const struct document_name *name)
{
    struct document *doc = find(d, name);
    bool of_version = name->what == DOCUMENT_V3 || name->what == DOCUMENT_RESOURCES;
    if (!doc && of_version && !kube_registry_has_version(&d->api->reg, name->group, name->version))
        return NULL;
    if (!doc) {
        drop_stale(d);
        doc = document_new(d, name);
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

/* The form for this client. The document must be made. */
static const struct buf *form_for(const struct documents_sending *s)
{
    bool long_enough = s->doc->plain.n > COMPRESS_MIN_BYTES;
    return s->takes_gzip && long_enough ? &s->doc->gzip : &s->doc->plain;
}

static void on_sending_gone(struct request *rq)
{
    struct documents_sending *s = rq->work;
    assert(s->begun != list_is_linked(&s->node));
    if (s->begun) {
        assert(s->doc->refs > 0);
        s->doc->refs--;
    } else {
        list_remove(&s->node);
    }
    free(s);
}

static void send_more(struct request *rq)
{
    struct documents_sending *s = rq->work;
    struct str all = buf_str(form_for(s));
    bool room = true;
    assert(s->begun && s->at <= all.n);
    request_busy(rq);
    while (room && !rq->gone && s->at < all.n) {
        struct str piece = str_slice(all, s->at, MIN(s->at + PIECE_BYTES, all.n));
        s->at += piece.n;
        room = rq->sink->write(rq, piece);
    }
    if (!rq->gone && s->at == all.n && rq->at != REQUEST_ENDED) {
        request_end(rq);
        request_settled(rq);
        rq->sink->end(rq);
    }
    (void)request_idle(rq);
}

static void begin(struct documents_sending *s)
{
    struct request *rq = s->rq;
    struct document *doc = s->doc;
    assert(!s->begun && !list_is_linked(&s->node));
    s->begun = true;
    doc->refs++;
    const struct buf *b = form_for(s);
    if (is_tagged_by_text(doc) && reply_unchanged(rq, doc->tag))
        return;
    if (b == &doc->gzip) {
        (void)headers_addc(&rq->extra, "content-encoding", "gzip");
        if (doc->name.what != DOCUMENT_V2) /* whose answers always have this field */
            (void)headers_addc(&rq->extra, "vary", "Accept-Encoding");
    }
    rq->on_writable = send_more;
    reply_head(rq, 200, s->content_type, b->n);
    send_more(rq);
}

/* ------------------------------------------------------------------ making */

static struct json *discover(struct arena *a, const struct document *doc)
{
    const struct document_name *name = &doc->name;
    const struct kube_registry *reg = &doc->docs->api->reg;
    if (name->what == DOCUMENT_GROUPS)
        return discovery_groups(a, reg);
    if (name->what == DOCUMENT_RESOURCES)
        return discovery_resources(a, reg, name->group, name->version);
    return discovery_aggregated(a, reg, name->what == DOCUMENT_AGGREGATED_CORE,
                                name->rep.v1beta1 ? STR("v2beta1") : STR("v2"));
}

/* The tag is that of the document in JSON, whatever the format of the answer. */
static int make_discovery(struct document *doc)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf json = BUF_INIT(OPENAPI_MAX_BYTES);
    const struct json *v = discover(&a, doc);
    int r = v ? encode_tree(&a, &doc->name.rep, v, &doc->plain) : -ENOENT;
    if (r >= 0 && is_tagged_by_text(doc)) {
        (void)json_write(&json, v);
        tag_by_text(doc, buf_str(&json));
    }
    arena_fini(&a);
    return r;
}

static int make(struct document *doc)
{
    const struct document_name *name = &doc->name;
    const struct kube_registry *reg = &doc->docs->api->reg;
    int r = -ENOENT;
    switch (name->what) {
    case DOCUMENT_V2:
        return openapi_v2(reg, name->form, &doc->plain);
    case DOCUMENT_V3:
        return openapi_v3(reg, name->group, name->version, name->form, &doc->plain);
    case DOCUMENT_V3_INDEX:
        r = openapi_v3_index(reg, &doc->plain);
        tag_by_text(doc, buf_str(&doc->plain));
        return r;
    case DOCUMENT_GROUPS:
    case DOCUMENT_RESOURCES:
    case DOCUMENT_AGGREGATED_CORE:
    case DOCUMENT_AGGREGATED:
        return make_discovery(doc);
    }
    return r;
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

static void fail(struct documents_sending *s, int r, const struct err *err)
{
    struct request *rq = s->rq;
    assert(!s->begun && !list_is_linked(&s->node));
    s->begun = true;
    s->doc->refs++;
    if (r == -EBUSY)
        reply_status(rq, status_too_many_requests(&rq->arena, DOCUMENTS_RETRY_S));
    else
        reply_err(rq, r, err);
}

/* Take the cost of making the document from the bucket, once for all waiting requests. */
static int pay(struct documents *d, const struct document *doc, struct err *err)
{
    const struct document_name *name = &doc->name;
    bool all = name->what == DOCUMENT_V2;
    uint64_t now = loop_now_ms(d->api->loop), cost;
    assert(d->steps <= DOCUMENTS_MAX_STEPS && d->steps_ms <= now);
    if (!is_tagged_by_source(doc))
        return 0;
    cost = openapi_cost(&d->api->reg, all ? STR_NULL : name->group, name->version);
    if (cost > BUDGET_MAX_STEPS)
        return err_set(err, E_LIMIT,
                       "the schemas of custom resources are too large for this document%s",
                       all ? "; those of one group and version are in "
                             "/openapi/v3/apis/GROUP/VERSION"
                           : "");
    uint64_t earned = (now - d->steps_ms) * DOCUMENTS_STEPS_PER_S / 1000;
    d->steps = MIN(DOCUMENTS_MAX_STEPS, d->steps + MIN(earned, DOCUMENTS_MAX_STEPS));
    d->steps_ms = now;
    if (cost > d->steps)
        return -EBUSY;
    d->steps -= cost;
    return 0;
}

/*
 * The registry has changed since the document was requested. The answer describes the document that
 * is made now, and must not be cached for ever under the old URL.
 */
static void renew(struct document *doc)
{
    doc->generation = doc->docs->api->reg.generation;
    if (!is_tagged_by_source(doc))
        return;
    tag(doc);
    list_each (node, &doc->waiting) {
        struct request *rq = list_entry(node, struct documents_sending, node)->rq;
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
    struct err err = { 0 };
    int r = doc->plain.n ? 0 : pay(d, doc, &err);
    if (r >= 0 && doc->plain.n == 0)
        r = make(doc);
    if (r < 0)
        buf_reset(&doc->plain);
    bool compressed = false;
    list_each (node, &doc->waiting)
        compressed =
            compressed || form_for(list_entry(node, struct documents_sending, node)) == &doc->gzip;
    if (r >= 0 && compressed && doc->gzip.n == 0)
        r = compress(doc);
    if (is_tagged_by_source(doc))
        (void)malloc_trim(0); /* making it takes about ten MiB, which the process would keep */
    doc->refs++;
    struct list ready; /* a client may ask again when it is answered; it waits for the next turn */
    list_init(&ready);
    list_move_all(&doc->waiting, &ready);
    while (!list_is_empty(&ready)) {
        struct documents_sending *s = list_first(&ready, struct documents_sending, node);
        list_remove(&s->node);
        if (r < 0)
            fail(s, r, err.code ? &err : NULL);
        else
            begin(s);
    }
    assert(doc->refs > 0);
    doc->refs--;
    if (next_wanted(d))
        defer_start(d->api->loop, &d->turn, on_turn);
}

void document_send(struct request *rq, struct document *doc, const char *content_type)
{
    struct documents_sending *s = xnew(struct documents_sending);
    *s = (struct documents_sending){
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
