/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents that are expensive to make and the same for all clients. Each is made once for each
 * generation of the registry, shared among requests together with its compressed form, and freed
 * DOCUMENT_KEEP_MS after the last request for it.
 *
 *     documents_get() -> document_tag(), document_send()
 *
 * A request for a document that is not made yet waits for it. The loop makes one document per turn,
 * however many are wanted, so that other work runs in between.
 */
#pragma once

#include "api/request.h"
#include "kube/openapi.h"

enum { DOCUMENT_KEEP_MS = 10000 }; /* after the last request for it */

enum document_what { DOCUMENT_V2, DOCUMENT_V3, DOCUMENT_V3_INDEX };

struct documents {
    struct api *api;
    struct list all; /* struct document */
    struct timer timer;
    struct defer turn;
};

struct document;

void documents_init(struct documents *d, struct api *api);
void documents_fini(struct documents *d); /* no request may be left */
/*
 * group, version: of DOCUMENT_V3. NULL: there is no such document. Borrowed until control returns
 * to the loop.
 */
struct document *documents_get(struct documents *d, enum document_what what, struct str group,
                               struct str version, enum openapi_form form);
/* The ETag: a hash of the document's sources. "" for the index, whose ETag is made of its text. */
const char *document_tag(const struct document *doc);
/* Answer with the document, now or once it is made. The caller must not use rq afterwards. */
void document_send(struct request *rq, struct document *doc, const char *content_type);
