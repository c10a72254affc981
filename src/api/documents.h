/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents that are much work to make and the same for everybody: made once for each generation of
 * the registry, shared among requests together with their compressed form, and forgotten some
 * seconds after the last one asked.
 *
 *     documents_get() -> document_tag(), document_send()
 *
 * Requests for one that is not there wait for it. One document is made in a turn of the loop,
 * whoever asks for how many, so that others get their turn in between.
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
 * group, version: of DOCUMENT_V3. NULL: there is no such document. Borrowed until control is given
 * back to the loop.
 */
struct document *documents_get(struct documents *d, enum document_what what, struct str group,
                               struct str version, enum openapi_form form);
/* The hash of what it is made from: its ETag. "" for the index, which is its own. */
const char *document_tag(const struct document *doc);
/* Answer with it, now or when it is there. The last thing that is done with the request. */
void document_send(struct request *rq, struct document *doc, const char *content_type);
