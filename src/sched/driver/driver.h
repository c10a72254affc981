/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scheduler on its own thread, connected to a transport.
 *
 * The loop thread watches (client/reflector.h) and sends requests to the API. The scheduler's
 * thread runs the core (scheduler.h) with native and Wasm plugins and blocks while it waits for
 * extenders. A lane of the core has another thread while it has work. The threads exchange
 * messages: objects as the JSON text that arrived, requests, answers.
 *
 *     asleep: one watch, of pods without a node; no thread, no timer, no Lease
 *        |  a pod without a node names one of our schedulers, or `eager`
 *     awake:  watches of all kinds, a thread that blocks while there is no work
 *
 * It does not go back to sleep. All functions: loop thread.
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

/* The registries that may be asked for the layers of images. */
struct sched_registries {
    struct module_hosts hosts;      /* empty: any registry, at public addresses only */
    const char *const *plain_hosts; /* contacted without TLS, as loopback is */
    size_t n_plain_hosts;
    struct str ca_pem; /* trusted besides the system's roots */
};

/* A pod that was bound; all borrowed. */
struct sched_bound {
    struct str namespace, name, uid, node;
    struct str zone;         /* of the node, any bytes; "" unknown */
    struct str architecture; /* of the node, by its label kubernetes.io/arch; "" unknown */
    struct str images;       /* of its containers and image volumes, each with "\n" */
    struct str secrets;      /* its pull secrets, likewise */
};

/*
 * The layers of an image; called once, on a later turn. image (oci/lookup.h): borrowed, with the
 * texts of its documents. Errors: those of oci_lookup_call; -ECANCELED: the driver stops.
 */
typedef void (*sched_image_cb)(void *arg, int r, const struct oci_lookup_image *image,
                               const struct err *err);

struct sched_driver_opts {
    struct loop *loop;
    struct transport *transport;
    struct watch_hub *hub;
    struct module_cache *modules; /* for Wasm plugins; NULL: no Wasm plugins */
    /* for Wasm plugins from registries; NULL: none of these */
    struct module_references *references;
    const struct sched_registries *registries; /* kept; NULL: no registry is asked */
    const struct kube_identity *identity;      /* kept; NULL: the transport's own */
    const struct sched_config *config;         /* kept until the next sched_driver_reload() */
    /* Used if config is NULL: upstream's defaults, read at the first use, when the driver wakes up.
     * config_later() cannot fail. Not with `eager`. */
    const struct sched_config *(*config_later)(void *arg);
    const char *id;         /* of this process, for the Lease; copied */
    bool eager;             /* awake from the start */
    uint64_t seed;          /* 0: random */
    size_t inbox_max_bytes; /* 0: DRIVER_INBOX_MAX_BYTES; for tests */
    /* on_ready: the driver has all objects and (with leader election) has started to lead.
     * on_leads: it leads, or does not lead any more. May be NULL. */
    void (*on_ready)(void *arg);
    void (*on_leads)(void *arg, bool leads);
    /* The Wasm plugins of the first configuration are loaded. May be NULL. */
    void (*on_plugins)(void *arg);
    /* With registries: called for each bound pod. May be NULL. */
    void (*on_bound)(void *arg, const struct sched_bound *b);
    /* A Wasm plugin or an extender cannot be created, so the driver cannot work; the caller can
     * only stop it. May be NULL: the error is logged. */
    void (*on_failed)(void *arg, const struct err *err);
    void *arg;
};
/* Errors: as sched_new(). */
int sched_driver_start(const struct sched_driver_opts *opts, struct sched_driver **ret,
                       struct err *err);
/* As sched_reload(); done is called once, on the loop thread. */
void sched_driver_reload(struct sched_driver *d, const struct sched_config *config,
                         void (*done)(void *arg, int r, const struct err *err), void *arg);
/* The current Wasm plugins, borrowed until the loop's next turn. NULL: none, or not loaded yet. */
const struct wplugins *sched_driver_plugins(const struct sched_driver *d);
/* Waits up to 2 s for bindings under way, then releases the Lease. */
void sched_driver_stop(struct sched_driver *d, void (*done)(void *arg), void *arg);
/*
 * Runs explain on the scheduler's thread; `text` (JSON, explain/explain.h) is borrowed by done.
 * -EAGAIN: the driver is asleep, since no pod waits for a node.
 */
void sched_driver_explain(struct sched_driver *d, struct str namespace, struct str name,
                          void (*done)(void *arg, int r, struct str text, const struct err *err),
                          void *arg);
/*
 * With opts.on_bound: ask registries about an image, without credentials. Errors: an invalid
 * reference; -ECANCELED.
 */
int sched_driver_ask_image(struct sched_driver *d, struct str image, sched_image_cb cb, void *arg,
                           struct err *err);
/*
 * Prometheus text, without blocking: while another thread runs the scheduler, the text made after
 * the previous request.
 */
void sched_driver_metrics(struct sched_driver *d, struct buf *out);
/* As the thread last reported. */
bool sched_driver_is_awake(const struct sched_driver *d);
void sched_driver_stats(struct sched_driver *d, struct sched_stats *ret);
