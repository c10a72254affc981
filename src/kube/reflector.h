/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follow one collection: list in pages, then a shared watch, list again when history is gone. The
 * user sees objects and names, never lists, versions, or errors that mend themselves.
 *
 * Loop thread only. Callbacks never run inside reflector_start().
 */
#pragma once

#include "codec/json.h"
#include "kube/watch_hub.h"

struct reflector;

enum {
    REFLECTOR_PAGE = 500,
    REFLECTOR_PAGE_MAX_BYTES = 32 << 20,
    REFLECTOR_RETRY_FIRST_MS = 200,
    REFLECTOR_RETRY_MAX_MS = 30000
};

struct reflector_ops {
    /* Added or changed; may repeat what is known. Borrowed for the call. */
    void (*on_object)(void *arg, const struct json *object);
    void (*on_deleted)(void *arg, struct str namespace, struct str name);
    /* The first complete list has been handed out. Once. */
    void (*on_synced)(void *arg);
};

struct reflector_opts {
    struct loop *loop;
    struct transport *transport;          /* kept */
    struct watch_hub *hub;                /* kept */
    const struct kube_identity *identity; /* kept */
    struct watch_key key;                 /* copied */
    const struct reflector_ops *ops;
    void *arg;
};

int reflector_start(const struct reflector_opts *opts, struct reflector **ret, struct err *err);
/* No callback comes any more; memory goes when a running list has ended. */
void reflector_close(struct reflector *r);
