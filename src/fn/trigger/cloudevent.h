/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CloudEvents 1.0 over HTTP: read in the binary, the structured and the batch form, checked, and
 * written in the binary one, which is how functions get them. Pure.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "codec/headers.h"
#include "codec/json.h"

enum {
    CLOUDEVENT_ATTRIBUTES_MAX = 64,
    CLOUDEVENT_VALUE_MAX_BYTES = 4096,
    CLOUDEVENT_NAME_MAX_BYTES = 64
};

struct cloudevent {
    struct str id, source, type; /* borrowed from the attributes */
    struct {
        struct str name, value; /* all but datacontenttype, decoded */
    } attributes[CLOUDEVENT_ATTRIBUTES_MAX];
    size_t n_attributes;
    struct str content_type; /* of the data; "": none */
    struct str data;
};

enum cloudevent_form {
    CLOUDEVENT_NONE,
    CLOUDEVENT_BINARY,
    CLOUDEVENT_STRUCTURED,
    CLOUDEVENT_BATCH
};
/* By content-type, and by ce-specversion for the binary form. */
enum cloudevent_form cloudevent_form_of(const struct headers *h);

/*
 * All events of a request, in the arena or borrowed. More than max are E_INVALID. Errors: E_INVALID
 * with the invalid attribute; E_PARSE for malformed JSON.
 */
int cloudevents_read(struct arena *a, const struct headers *h, struct str body, size_t max,
                     struct cloudevent **ret, size_t *ret_n, struct err *err);
/* The fields of the binary form, ce-* and content-type; the body is ev->data. */
int cloudevent_fields(const struct cloudevent *ev, struct headers *to, struct err *err);
/* pattern: "" any, exact, or with a trailing '*'. */
bool cloudevent_matches(struct str pattern, struct str value);
