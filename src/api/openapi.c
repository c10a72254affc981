/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /openapi/v2 and /openapi/v3: documents are made when asked for and not kept. Their tags are
 * hashes of what they are made from, so a client that has a document costs no making of it.
 */
#include "kube/openapi.h"
#include "api/core.h"
#include "base/clock.h"
#include "codec/media.h"
#include "codec/url.h"

#include <errno.h>
#include <malloc.h>
#include <time.h>

#define PROTO_V2 "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
#define PROTO_V3 "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"

/* ------------------------------------------------------------------ Accept */

struct offer {
    const char *subtype, *content_type;
    enum openapi_form form;
};

/* The names with '@' are the older ones, which are no valid media types any more. */
static const struct offer offers_v2[] = {
    { "json", "application/json", OPENAPI_JSON },
    { "com.github.proto-openapi.spec.v2@v1.0+protobuf", PROTO_V2, OPENAPI_PROTOBUF },
    { "com.github.proto-openapi.spec.v2.v1.0+protobuf", PROTO_V2, OPENAPI_PROTOBUF },
};
static const struct offer offers_v3[] = {
    { "json", "application/json", OPENAPI_JSON },
    { "com.github.proto-openapi.spec.v3.v1.0+protobuf", PROTO_V3, OPENAPI_PROTOBUF },
    { "com.github.proto-openapi.spec.v3@v1.0+protobuf", PROTO_V3, OPENAPI_PROTOBUF },
};

static const struct offer *choose_for(struct str type, struct str subtype,
                                      const struct offer *offers, size_t n)
{
    bool any = str_is(type, "*") && str_is(subtype, "*");
    for (size_t i = 0; i < n; i++)
        if (any || (str_is(type, "application") &&
                    (str_is(subtype, "*") || str_is(subtype, offers[i].subtype))))
            return &offers[i];
    return NULL;
}

/*
 * By hand and not with codec/media, which takes no '@'. Nobody sends more than one of these types
 * with weights, so they count in the order in which they stand. NULL: none fits.
 */
static const struct offer *choose(struct str accept, const struct offer *offers, size_t n)
{
    struct str range, type, subtype, rest = str_trim(accept);
    if (rest.n == 0)
        return &offers[0];
    while (rest.n) {
        (void)str_cut(rest, ',', &range, &rest);
        (void)str_cut(range, ';', &range, &type);
        (void)str_cut(str_trim(range), '/', &type, &subtype);
        const struct offer *o = choose_for(type, subtype, offers, n);
        if (o)
            return o;
    }
    return NULL;
}

/* What making a document took, some ten MiB, would stay with the process otherwise. */
static void give_back(struct buf *b)
{
    buf_fini(b);
    (void)malloc_trim(0);
}

static void reply_document(struct request *rq, int r, const char *content_type, struct buf *b)
{
    if (r < 0)
        reply_err(rq, r, NULL);
    else
        reply_bytes(rq, 200, content_type, buf_str(b));
    give_back(b);
}

/* ------------------------------------------------------------------ version 2 */

static void not_acceptable(struct request *rq)
{
    reply_bytes(rq, 406, NULL, STR(""));
}

void openapi_serve_v2(struct request *rq)
{
    const struct offer *o = choose(rq->accept, offers_v2, ARRAY_LEN(offers_v2));
    char tag[OPENAPI_HASH_MAX];
    (void)headers_addc(&rq->extra, "vary", "Accept-Encoding");
    (void)headers_addc(&rq->extra, "vary", "Accept");
    if (!o) {
        not_acceptable(rq);
        return;
    }
    openapi_v2_hash(&rq->api->reg, tag);
    if (reply_unchanged(rq, tag))
        return;
    struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    int r = openapi_v2(&rq->api->reg, o->form, &b);
    reply_document(rq, r, o->content_type, &b);
}

/* ------------------------------------------------------------------ version 3 */

static bool cut_group_version(struct str rest, struct str *group, struct str *version)
{
    struct str root, tail;
    (void)str_cut(rest, '/', &root, &tail);
    *group = STR("");
    *version = tail;
    if (str_is(root, "api"))
        return tail.n > 0 && str_find_char(tail, '/') < 0;
    return str_is(root, "apis") && str_cut(tail, '/', group, version) && version->n > 0 &&
           str_find_char(*version, '/') < 0;
}

static void serve_index(struct request *rq)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    int r = openapi_v3_index(&rq->api->reg, &b);
    if (r < 0)
        reply_err(rq, r, NULL);
    else
        reply_tagged(rq, "application/json", buf_str(&b), buf_str(&b));
}

/* A client that knows the hash keeps the document for a year. */
static void add_immutable(struct request *rq)
{
    char date[64];
    struct tm tm;
    time_t then = (time_t)(clock_wall_ms() / 1000) + 365 * 86400;
    (void)gmtime_r(&then, &tm);
    (void)strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    (void)headers_addc(&rq->extra, "cache-control", "public, immutable");
    (void)headers_addc(&rq->extra, "expires", date);
}

/* The client's hash is of another document: true, it has been sent to the one there is. */
static bool redirect(struct request *rq, const char *tag)
{
    struct arena *a = &rq->arena;
    struct str hash = route_query(&rq->route, "hash");
    if (hash.n == 0)
        return false;
    if (str_is(hash, tag)) {
        add_immutable(rq);
        return false;
    }
    const char *to = arena_printf(a, STR_FMT "?hash=%s", STR_ARG(rq->route.path), tag);
    const char *text = arena_printf(a, "<a href=\"%s\">Moved Permanently</a>.\n\n", to);
    (void)headers_addc(&rq->extra, "location", to);
    reply_bytes(rq, 301, "text/html; charset=utf-8", str_of(text));
    return true;
}

void openapi_serve_v3(struct request *rq)
{
    const struct registry *reg = &rq->api->reg;
    struct str group, version;
    char tag[OPENAPI_HASH_MAX];
    if (rq->route.rest.n == 0) {
        serve_index(rq);
        return;
    }
    if (!cut_group_version(rq->route.rest, &group, &version) ||
        openapi_v3_hash(reg, group, version, tag) < 0) {
        reply_bytes(rq, 404, NULL, STR(""));
        return;
    }
    const struct offer *o = choose(rq->accept, offers_v3, ARRAY_LEN(offers_v3));
    (void)headers_addc(&rq->extra, "vary", "Accept");
    if (!o) {
        not_acceptable(rq);
        return;
    }
    if (redirect(rq, tag) || reply_unchanged(rq, tag))
        return;
    struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    int r = openapi_v3(reg, group, version, o->form, &b);
    reply_document(rq, r, o->content_type, &b);
}
