/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follow one collection: list, then a shared watch, list again when history is gone. The user sees
 * objects and names, never lists, versions, or errors that mend themselves, unless it asks for
 * them.
 *
 * The list is streamed where the server does that (a watch that begins with all objects), else it
 * comes in pages.
 *
 * Loop thread only. Callbacks never run inside reflector_start().
 */
#pragma once

#include "client/watch_hub.h"
#include "codec/json.h"

struct reflector;

enum {
    REFLECTOR_PAGE = 500,
    REFLECTOR_PAGE_MAX_BYTES = 32 << 20,
    REFLECTOR_RETRY_FIRST_MS = 200,
    REFLECTOR_RETRY_MAX_MS = 30000,
    REFLECTOR_STREAM_QUIET_MS = 20000 /* a streamed list that says nothing for so long is none */
};

struct reflector_ops {
    /*
     * Added or changed; may repeat what is known. Always with apiVersion and kind, which items of
     * lists do not have. Borrowed for the call.
     */
    void (*on_object)(void *arg, const struct json *object);
    void (*on_deleted)(void *arg, struct str namespace, struct str name);
    /* The first complete list has been handed out. Once. NULL: not wanted. */
    void (*on_synced)(void *arg);

    /* For users that hold the objects themselves; all or none of these may be NULL. */

    /*
     * A list begins, and has ended. Then the reflector keeps no names, and it is the user who knows
     * what a list did not bring and is gone; on_deleted comes for what the watch tells.
     */
    void (*on_list_begin)(void *arg);
    void (*on_list_end)(void *arg, uint64_t rv);
    /* The watch behind a list stands. */
    void (*on_watching)(void *arg);
    /* The watch has told everything up to this version. */
    void (*on_progress)(void *arg, uint64_t rv);
    /*
     * Instead of on_object() and on_deleted(): the text as it came, for users that read it
     * elsewhere. A page of the list (a List), or an event of the watch ({"type", "object"}).
     * Together with on_list_begin() and on_list_end(); never streamed.
     */
    void (*on_text)(void *arg, bool is_page, struct str text);
    /* A list or watch failed and is tried again. status: of the answer, 0: there was none. */
    void (*on_trouble)(void *arg, int status, const struct err *err);
};

struct reflector_opts {
    struct loop *loop;
    struct transport *transport;          /* kept */
    struct watch_hub *hub;                /* kept */
    const struct kube_identity *identity; /* kept */
    struct watch_key key;                 /* copied */
    bool streams;                         /* try to have the list streamed */
    const struct reflector_ops *ops;
    void *arg;
};

int reflector_start(const struct reflector_opts *opts, struct reflector **ret, struct err *err);
/* List again, though nothing is missing. Not while a list runs, which serves as well. */
void reflector_relist(struct reflector *r);
/* No callback comes any more; memory goes when a running list has ended. */
void reflector_close(struct reflector *r);
