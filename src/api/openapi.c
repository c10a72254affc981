/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /openapi/v2 and /openapi/v3. The tags of documents are hashes of their sources, so a request of a
 * client that has the document does not make it; see documents.h for the cost of making one.
 */
#include "api/core.h"
#include "api/documents.h"
#include "base/clock.h"
#include "codec/url.h"

#include <time.h>

#define PROTO_V2 "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
#define PROTO_V3 "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"

/* ------------------------------------------------------------------ Accept */

struct offer {
    const char *subtype, *content_type;
    enum openapi_form form;
};

/* The names with '@' are the older ones, which are not valid media types. */
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
 * Parsed by hand, because codec/media rejects '@'. Clients do not send weights with several of
 * these types, so the order decides. NULL: no match.
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

/* ------------------------------------------------------------------ version 2 */

static void not_acceptable(struct request *rq)
{
    reply_bytes(rq, 406, NULL, STR(""));
}

void openapi_serve_v2(struct request *rq)
{
    const struct offer *o = choose(rq->accept, offers_v2, ARRAY_LEN(offers_v2));
    (void)headers_addc(&rq->extra, "vary", "Accept-Encoding");
    (void)headers_addc(&rq->extra, "vary", "Accept");
    if (!o) {
        not_acceptable(rq);
        return;
    }
    struct document *doc = documents_get(
        &rq->api->documents, &(struct document_name){ .what = DOCUMENT_V2, .form = o->form });
    if (!reply_unchanged(rq, document_tag(doc)))
        document_send(rq, doc, o->content_type);
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

/*
 * If the client's hash is of another document, redirect to the current one; true: an answer was
 * sent.
 */
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
    struct documents *docs = &rq->api->documents;
    if (rq->route.rest.n == 0) {
        document_send(rq, documents_get(docs, &(struct document_name){ .what = DOCUMENT_V3_INDEX }),
                      "application/json");
        return;
    }
    const struct offer *o = choose(rq->accept, offers_v3, ARRAY_LEN(offers_v3));
    struct document_name name = { .what = DOCUMENT_V3, .form = o ? o->form : OPENAPI_JSON };
    struct document *doc = cut_group_version(rq->route.rest, &name.group, &name.version)
                               ? documents_get(docs, &name)
                               : NULL;
    if (!doc) {
        reply_bytes(rq, 404, NULL, STR(""));
        return;
    }
    (void)headers_addc(&rq->extra, "vary", "Accept");
    if (!o)
        not_acceptable(rq);
    else if (!redirect(rq, document_tag(doc)) && !reply_unchanged(rq, document_tag(doc)))
        document_send(rq, doc, o->content_type);
}
