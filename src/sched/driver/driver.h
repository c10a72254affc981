/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scheduler on a thread of its own, against a transport.
 *
 * The loop thread watches (client/reflector.h) and asks the API; the scheduler's thread has the
 * core (scheduler.h), native and Wasm plugins, and waits for extenders; a lane of the core has a
 * further thread while it has work. They exchange messages: objects as the JSON text that came,
 * requests, answers.
 *
 *     asleep: one watch, of pods without a node; no thread, no timer, no Lease
 *        |  such a pod that is ours, or `eager`
 *     awake:  watches of all kinds, a thread that blocks while nothing is to be done
 *
 * It does not fall asleep again. All functions: loop thread.
 */
#pragma once

#include "client/transport.h"
#include "client/watch_hub.h"
#include "io/loop.h"
#include "modules/module_hosts.h"
#include "sched/core/scheduler.h"

struct oci_lookup_image;
struct sched_driver;
struct module_cache;
struct module_references;
struct wplugins;

/* Who may be asked what images are made of. */
struct sched_registries {
    struct module_hosts hosts;      /* none: any registry, at public addresses alone */
    const char *const *plain_hosts; /* spoken to without TLS, as loopback is */
    size_t n_plain_hosts;
    struct str ca_pem; /* trusted besides the system's roots */
};

/* A pod that has got its node; all borrowed. */
struct sched_bound {
    struct str namespace, name, uid, node;
    struct str zone;         /* of the node, any bytes; "" unknown */
    struct str architecture; /* of the node, by its label kubernetes.io/arch; "" unknown */
    struct str images;       /* of its containers and image volumes, each with "\n" */
    struct str secrets;      /* its pull secrets, likewise */
};

/*
 * What an image is made of; once, on a later turn. image (oci/lookup.h): borrowed, with the texts
 * of its documents. Errors: those of oci_lookup_call; -ECANCELED, the driver ends.
 */
typedef void (*sched_image_cb)(void *arg, int r, const struct oci_lookup_image *image,
                               const struct err *err);

struct sched_driver_opts {
    struct loop *loop;
    struct transport *transport;
    struct watch_hub *hub;
    struct module_cache *modules;              /* for Wasm plugins; NULL: there are none */
    struct module_references *references;      /* for those of registries; NULL: there are none */
    const struct sched_registries *registries; /* kept; NULL: none is asked for images */
    const struct kube_identity *identity;      /* kept; NULL: the transport's own */
    const struct sched_config *config;         /* kept until the next sched_driver_reload() */
    /* Where config is NULL: upstream's defaults, read (by config_later(), which cannot fail) when
     * it wakes; not with `eager`. */
    const struct sched_config *(*config_later)(void *arg);
    const char *id;         /* of this process, for the Lease; copied */
    bool eager;             /* awake from the start */
    uint64_t seed;          /* 0: random */
    size_t inbox_max_bytes; /* 0: DRIVER_INBOX_MAX_BYTES; for tests */
    /* It has all objects and (with leader election) leads, or does not any more. May be NULL. */
    void (*on_ready)(void *arg);
    void (*on_leads)(void *arg, bool leads);
    /* The Wasm plugins of its first configuration are loaded. May be NULL. */
    void (*on_plugins)(void *arg);
    /* With registries: each pod that it has bound. NULL: not wanted. */
    void (*on_bound)(void *arg, const struct sched_bound *b);
    /* It cannot work: a Wasm plugin or an extender that cannot be made. Then it only waits for
     * sched_driver_stop(). May be NULL: the log tells. */
    void (*on_failed)(void *arg, const struct err *err);
    void *arg;
};
/* Errors: as sched_new(). */
int sched_driver_start(const struct sched_driver_opts *opts, struct sched_driver **ret,
                       struct err *err);
/* As sched_reload(); done once, on the loop. */
void sched_driver_reload(struct sched_driver *d, const struct sched_config *config,
                         void (*done)(void *arg, int r, const struct err *err), void *arg);
/* The Wasm plugins that it works with, borrowed until the loop's next turn. NULL: none, or not yet.
 */
const struct wplugins *sched_driver_plugins(const struct sched_driver *d);
/* Bindings under way end (2 s), the Lease is let go. */
void sched_driver_stop(struct sched_driver *d, void (*done)(void *arg), void *arg);
/* Asks the thread; `text` (JSON, explain/explain.h) is borrowed by done. -EAGAIN: it is asleep,
 * since no pod waits for a node. */
void sched_driver_explain(struct sched_driver *d, struct str namespace, struct str name,
                          void (*done)(void *arg, int r, struct str text, const struct err *err),
                          void *arg);
/* With opts.on_bound: have registries asked about an image, without credentials. Errors: of the
 * reference; -ECANCELED. */
int sched_driver_ask_image(struct sched_driver *d, struct str image, sched_image_cb cb, void *arg,
                           struct err *err);
/* Prometheus' text, at once: while a cycle runs, as it was when somebody asked before. */
void sched_driver_metrics(struct sched_driver *d, struct buf *out);
/* As last told. */
bool sched_driver_is_awake(const struct sched_driver *d);
void sched_driver_stats(struct sched_driver *d, struct sched_stats *ret);
