/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The internals of create, update and patch: write.c (the steps and the transaction), write_take.c
 * (from the body to the object that the client wants), write_forms.c (subresources whose body is
 * not the object). Private to these files.
 */
#pragma once

#include "api/admission.h"
#include "api/write.h"
#include "kube/model/managed_fields.h"

/* The state before the first attempt; each further attempt restores it and reuses the memory. */
struct write_attempt {
    struct arena_mark mark;
    const struct api_write *write; /* copy of the write at that time */
    struct warning *last_warning;
    size_t warning_runes;
};

struct api_write {
    struct request *rq;
    struct admission ad; /* the object before and after; ad.old is in the request's version */
    struct write_options opts;
    struct object_warnings warnings;
    enum patch_type patch_type;
    const struct write_action *action; /* or NULL */
    const struct write_form *form;     /* or NULL */
    struct json *input; /* the decoded body, or the patch; cloned for every attempt */
    struct str key;
    struct write_attempt first;
    bool warned;
    size_t n_warnings; /* warnings about `input`; those of later decoding follow them */
    size_t step;       /* index of the next step */

    uint64_t old_rev;
    struct str old_value; /* stored bytes */

    struct buf value; /* ad.obj in its stored form */
    int success;      /* 200 or 201 */
};

/* How a subresource whose body is not the object changes it. */
struct write_form {
    const char *subresource;
    /* Set w->ad.obj from the body and the old object; NULL, or the Status to answer. */
    struct json *(*take)(struct api_write *w);
    bool has_own_body; /* a body of another kind, which take() decodes; resourceVersion is optional
                        */
    bool as_taken;     /* skip preparation and validation */
};
/* NULL: the body is the object, or a part of it. */
const struct write_form *write_form_of(const struct request *rq);

/*
 * ---- from the body to the object that the client wants; each returns NULL, or the Status to
 * answer ----
 */

/* Set ad.obj for a create, and for an update, with the field managers. */
struct json *write_take_new(struct api_write *w);
struct json *write_take_object(struct api_write *w);
/* The body, or the patched document, in place of `from`: the object, or its scale. */
struct json *write_take_input(struct api_write *w, const struct json *from, struct json **ret);
/* Send warnings of decoding to the client once, even if there are several attempts. */
struct json *write_tell_warnings(struct api_write *w, struct json *obj);
/* sent: the tree that carries the client's resourceVersion. */
struct json *write_check_revision(struct api_write *w, const struct json *sent);
/* The field manager of the request. */
struct managed_writer write_manager(struct api_write *w);
