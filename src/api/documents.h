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
#include "kube/model/openapi.h"

enum { DOCUMENT_KEEP_MS = 10000 }; /* after the last request */
/*
 * Limits of the cost of OpenAPI documents, in steps (base/budget.h). A document that would cost
 * more than a request may (BUDGET_MAX_STEPS) is not made: 413. A client that requests one after the
 * other, and each again once it is freed, is slowed down: making documents of definitions may cost
 * DOCUMENTS_STEPS_PER_S, with a burst of DOCUMENTS_MAX_STEPS; then 429 until the bucket has
 * refilled.
 */
#define DOCUMENTS_MAX_STEPS   ((uint64_t)4 * BUDGET_MAX_STEPS)
#define DOCUMENTS_STEPS_PER_S ((uint64_t)BUDGET_MAX_STEPS / 4)

enum document_what {
    DOCUMENT_V2,
    DOCUMENT_V3,
    DOCUMENT_V3_INDEX,
    DOCUMENT_GROUPS,          /* /apis; this one and those below: discovery */
    DOCUMENT_RESOURCES,       /* of one version of a group */
    DOCUMENT_AGGREGATED_CORE, /* /api */
    DOCUMENT_AGGREGATED       /* /apis */
};

/* The key of a document. */
struct document_name {
    enum document_what what;
    struct str group, version; /* of DOCUMENT_V3 and DOCUMENT_RESOURCES */
    enum openapi_form form;    /* of OpenAPI */
    struct rep rep;            /* of discovery */
};

struct documents {
    struct api *api;
    struct list all; /* struct document */
    struct timer timer;
    struct defer turn;
    uint64_t steps, steps_ms; /* token bucket: what is left of DOCUMENTS_MAX_STEPS, and when that
                                 was computed */
};

struct document;

void documents_init(struct documents *d, struct api *api);
void documents_fini(struct documents *d); /* no request may be left */
/*
 * NULL: there is no such document. Borrowed until control returns to the loop.
 */
struct document *documents_get(struct documents *d, const struct document_name *name);
/*
 * The ETag: a hash of the document's sources, "" for documents other than DOCUMENT_V2 and
 * DOCUMENT_V3. Those with an ETag made of their text, DOCUMENT_V3_INDEX and the aggregated ones,
 * have it once they are made, and document_send() compares it.
 */
const char *document_tag(const struct document *doc);
/* Answer with the document, now or once it is made. The caller must not use rq afterwards. */
void document_send(struct request *rq, struct document *doc, const char *content_type);
