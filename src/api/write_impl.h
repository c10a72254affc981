/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a create, update or patch: write.c (its steps and its transaction), write_take.c
 * (from the body to the object that the client wants), write_forms.c (subresources whose body is
 * not the object). Not for others.
 */
#pragma once

#include "api/admission.h"
#include "api/write.h"
#include "kube/model/managed_fields.h"

/* Where an attempt begins; the next one begins there again, with the memory of the first. */
struct write_attempt {
    struct arena_mark mark;
    const struct api_write *write; /* as it was */
    struct warning *last_warning;
    size_t warning_runes;
};

struct api_write {
    struct request *rq;
    struct admission ad; /* the object, before and after; its old is in the request's version */
    struct write_options opts;
    struct object_warnings warnings;
    enum patch_type patch_type;
    const struct write_action *action; /* or NULL */
    const struct write_form *form;     /* or NULL */
    struct json *input; /* the decoded body, or the patch; cloned for every attempt */
    struct str key;
    struct write_attempt first;
    bool warned;
    size_t n_warnings; /* of `input`; what decoding adds comes after them */
    size_t step;       /* the next one */

    uint64_t old_rev;
    struct str old_value; /* stored bytes */

    struct buf value; /* ad.obj as it will be stored */
    int success;      /* 200 or 201 */
};

/* How a subresource whose body is not the object changes it. */
struct write_form {
    const char *subresource;
    /* Set w->ad.obj from the body and the old object; NULL, or the Status to answer. */
    struct json *(*take)(struct api_write *w);
    bool has_own_body; /* of another kind, which take() decodes; may come without resourceVersion */
    bool as_taken;     /* nothing is left to prepare and to validate */
};
/* NULL: the body is the object, or a part of it. */
const struct write_form *write_form_of(const struct request *rq);

/* ---- from the body to the object that the client wants; each NULL, or the Status to answer ----
 */

/* ad.obj of a create, and of an update, with the owners of its fields. */
struct json *write_take_new(struct api_write *w);
struct json *write_take_object(struct api_write *w);
/* The body, or the patched document, in place of `from`: the object, or its scale. */
struct json *write_take_input(struct api_write *w, const struct json *from, struct json **ret);
/* Warnings of decoding go to the client once, however many attempts there are. */
struct json *write_tell_warnings(struct api_write *w, struct json *obj);
/* sent: what carries the client's resourceVersion. */
struct json *write_check_revision(struct api_write *w, const struct json *sent);
/* Who owns what the request sets. */
struct managed_writer write_manager(struct api_write *w);
