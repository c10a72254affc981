/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scheduler on a thread of its own, against a transport.
 *
 * The loop thread watches (kube/reflector.h) and asks the API; the scheduler's thread has the core
 * (scheduler.h), native and Wasm plugins, and waits for extenders. They exchange messages: objects
 * as JSON text, requests, answers. The thread is made with the first pending pod, and blocks while
 * nothing happens: no timer runs at rest. All functions: loop thread.
 */
#pragma once

#include "io/loop.h"
#include "kube/transport.h"
#include "kube/watch_hub.h"
#include "sched/core/scheduler.h"

struct sched_driver;
struct module_cache;

struct sched_driver_opts {
    struct loop *loop;
    struct transport *transport;
    struct watch_hub *hub;
    struct module_cache *modules;         /* for Wasm plugins; NULL: there are none */
    const struct kube_identity *identity; /* kept; NULL: the transport's own */
    const struct sched_config *config;    /* kept until the next sched_driver_reload() */
    const char *id;                       /* of this process, for the Lease and Events */
    uint64_t seed;                        /* 0: random */
    /* It has all objects and (with leader election) leads, or does not any more. May be NULL. */
    void (*on_ready)(void *arg);
    void (*on_leads)(void *arg, bool leads);
    void *arg;
};
int sched_driver_start(const struct sched_driver_opts *opts, struct sched_driver **ret,
                       struct err *err);
/* As sched_reload(); done once, on the loop. */
void sched_driver_reload(struct sched_driver *d, const struct sched_config *config,
                         void (*done)(void *arg, int r, const struct err *err), void *arg);
/* Bindings under way end (2 s), the Lease is let go. */
void sched_driver_stop(struct sched_driver *d, void (*done)(void *arg), void *arg);
/* Asks the thread; `text` (JSON, or metrics) is borrowed by done. */
void sched_driver_explain(struct sched_driver *d, struct str namespace, struct str name,
                          void (*done)(void *arg, int r, struct str text, const struct err *err),
                          void *arg);
void sched_driver_metrics(struct sched_driver *d, void (*done)(void *arg, struct str text),
                          void *arg);
void sched_driver_stats(struct sched_driver *d, struct sched_stats *ret); /* as last told */
