/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reflector: follows one collection by a list, then a shared watch, and lists again after a gap.
 * The user receives objects and names; lists, versions and errors that retrying resolves are hidden
 * unless the user asks for them.
 *
 * The list is streamed where the server supports that (a watch that begins with all objects), else
 * read in pages.
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
    REFLECTOR_STREAM_QUIET_MS = 20000 /* a streamed list silent for this long is abandoned */
};

struct reflector_ops {
    /*
     * Added or changed; may repeat a known state. Always with apiVersion and kind, which the items
     * of lists do not have. Borrowed for the call.
     */
    void (*on_object)(void *arg, const struct json *object);
    void (*on_deleted)(void *arg, struct str namespace, struct str name);
    /* The first complete list has been delivered. Once. NULL: not wanted. */
    void (*on_synced)(void *arg);

    /* For users that store the objects themselves; all or none of these may be NULL. */

    /*
     * A list begins, and has ended. With these set the reflector keeps no names: the user itself
     * finds the objects that a list no longer contains; on_deleted runs only for DELETED events of
     * the watch.
     */
    void (*on_list_begin)(void *arg);
    void (*on_list_end)(void *arg, uint64_t rv);
    /*
     * Replaces on_deleted() for DELETED events. rv: the version of the deletion; 0: the server did
     * not say it. NULL: not wanted, also with the other functions set.
     */
    void (*on_removed)(void *arg, struct str namespace, struct str name, uint64_t rv);
    /* The watch that follows a list is established. */
    void (*on_watching)(void *arg);
    /* The watch has delivered everything up to this version. */
    void (*on_progress)(void *arg, uint64_t rv);
    /*
     * Replaces on_object() and on_deleted(): the raw text, for users that parse it elsewhere. It is
     * a page of the list (a List), or an event of the watch ({"type", "object"}). Requires
     * on_list_begin() and on_list_end(); the list is then never streamed.
     */
    void (*on_text)(void *arg, bool is_page, struct str text);
    /* A list or watch failed and is retried. status: of the answer; 0: there was no answer. */
    void (*on_trouble)(void *arg, int status, const struct err *err);
};

struct reflector_opts {
    struct loop *loop;
    struct transport *transport;          /* kept */
    struct watch_hub *hub;                /* kept */
    const struct kube_identity *identity; /* kept */
    struct watch_key key;                 /* copied */
    bool streams;                         /* try a streamed list */
    const struct reflector_ops *ops;
    void *arg;
};

int reflector_start(const struct reflector_opts *opts, struct reflector **ret, struct err *err);
/*
 * List again although there is no gap. No effect while the answer to a list is awaited, or a retry,
 * which have the same effect. Called in a callback for a list's objects or end, another list
 * follows that one.
 */
void reflector_relist(struct reflector *r);
/* No callback runs any more; the memory is freed when a running list has ended. */
void reflector_close(struct reflector *r);
