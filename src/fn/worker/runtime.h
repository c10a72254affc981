/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox runtime: makes and removes sandboxes of one kind for the worker. wasm (templates of
 * modules), oci (crun or runc), fake (waits, then answers).
 *
 *     create -> CREATING -> on_created(0) -> READY -> destroy, or on_gone
 *                       `-> on_created(r): it does not exist
 *
 * Loop thread only. Callbacks never run inside a call made on the runtime. The worker decides which
 * sandboxes exist.
 */
#pragma once

#include "fn/fn.pb-c.h"
#include "fn/function.h"
#include "fn/invoke.h"
#include "io/loop.h"

enum { RUNTIME_IMAGE_FAILED = -20001 }; /* below the codes of base/err.h */

struct runtime_events;
struct runtime {
    const struct runtime_ops *ops;
    struct invoker *invoker; /* of its sandboxes, in this process; NULL: each has an address */
    /*
     * The receiver of events: set by the worker before recover(), the first call made on a runtime.
     */
    const struct runtime_events *events;
    void *events_arg;
};

struct runtime_revision { /* what its sandboxes are made of; the worker keeps it while any exists */
    const char *namespace, *function, *uid;
    uint32_t revision;
    const struct fn_template *t;
    const struct fn_name_value *env; /* resolved */
    size_t n_env;
    const Dormouse__Fn__V1__SecretFile *const *secrets;
    size_t n_secrets;
    const struct str *auths; /* files of credentials for registries */
    size_t n_auths;
    const char *tenant; /* whose they are */
    void *data;         /* of the runtime */
};

struct runtime_events {
    /* r 0: ready; address: "host:port", "unix:PATH", or NULL with an invoker. Borrowed. E_INVALID,
     * E_UNSUPPORTED, E_DIGEST, E_DENIED: permanent. RUNTIME_IMAGE_FAILED: the image cannot be had.
     */
    void (*on_created)(void *arg, uint64_t sandbox, int r, const char *address,
                       const Dormouse__Fn__V1__Breakdown *breakdown, const struct err *err);
    /* It is being created, and the module of its revision takes a while to compile. Repeated while
     * that lasts. NULL: not of interest. */
    void (*on_compiling)(void *arg, uint64_t sandbox);
    /* The image of its revision is being pulled for it. Likewise. */
    void (*on_pulling)(void *arg, uint64_t sandbox);
    /* A ready one has ended by itself. */
    void (*on_gone)(void *arg, uint64_t sandbox, const char *reason);
    void (*on_destroyed)(void *arg, uint64_t sandbox);
    /* A sandbox of an earlier process that is ready. Only from within recover(). Borrowed. */
    void (*on_recovered)(void *arg, uint64_t sandbox, const char *uid, uint32_t revision,
                         const char *address);
};

struct runtime_ops {
    const char *name; /* "wasm" */
    /*
     * Prepare what many sandboxes will share (module, template); may set r->data. Each create
     * reports errors.
     */
    void (*prepare)(struct runtime *rt, struct runtime_revision *r);
    void (*forget)(struct runtime *rt, struct runtime_revision *r); /* no sandbox of it is left */
    void (*create)(struct runtime *rt, uint64_t sandbox, struct runtime_revision *r);
    /* Ready or not; on_destroyed follows, also for an unknown sandbox. */
    void (*destroy)(struct runtime *rt, uint64_t sandbox, uint32_t grace_ms);
    /*
     * Removes what an earlier process left and what cannot be adopted, before it returns or soon
     * after; reports sandboxes that still run by on_recovered.
     */
    void (*recover)(struct runtime *rt);
    /* All sandboxes go; done() last. */
    void (*close)(struct runtime *rt, void (*done)(void *arg), void *arg);
};
