/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler of one process, put together: configuration file, compiled plugins, watches,
 * driver. It needs a transport and nothing else, so it is the same next to the embedded API and
 * against any cluster.
 *
 * The file is read again when it, or what a link on the way to it names, has changed (a ConfigMap's
 * volume changes that way), and by scheduling_reload(). What cannot be read changes nothing; the
 * log says why. The Lease is that of the start.
 *
 * With the configuration the plugins are loaded again. Those that a tag in a registry names are
 * looked for every check_ms, and loaded again when the tag has moved; what cannot be loaded changes
 * nothing either.
 */
#pragma once

#include "base/buf.h"
#include "modules/module_hosts.h"
#include "node/node_networks.h"
#include "sched/driver/driver.h"

struct scheduling;
struct url_target;
struct watch_hub;
struct http_exchange;

/* What the command line says of leader election, over what the configuration does. */
struct scheduling_leader {
    int elect;                                /* 0, 1; -1: as configured */
    uint64_t lease_ms, deadline_ms, retry_ms; /* 0: as configured */
    const char *name, *namespace;             /* NULL: as configured */
};

/* Plans for the images of pods that it binds (node/orchestrator.h). */
struct scheduling_plans {
    const char *key_file;          /* of the cluster; NULL: none are sent */
    const char *peer_ca;           /* certificates of nodes; NULL: the system's */
    uint64_t deadline_ms;          /* 0: ORCHESTRATOR_DEADLINE_MS */
    bool is_push;                  /* nodes push what they have, unasked */
    struct node_networks networks; /* where nodes may be */
    uint64_t prefetch_ms; /* between two rounds in which idle nodes are sent layers; 0: never */
};

struct scheduling_opts { /* strings are kept */
    struct loop *loop;
    const char *data_dir;         /* plugins/ below it has those that registries gave */
    struct module_cache *modules; /* kept; of the process */
    struct transport *transport;  /* kept */
    struct watch_hub *hub;        /* kept; the process's, over that transport */
    const char *config_file;      /* NULL: the defaults */
    struct scheduling_leader leader;
    bool embedded;     /* the API is in this process, and nobody else schedules: no Lease, no work
                          before the first pod */
    uint64_t seed;     /* 0: random */
    uint64_t check_ms; /* between questions what a tag names; 0: none are asked */
    struct module_site registries; /* how they are reached; `hosts` are those of plugins */
    /* Those that BREAK's plugins may ask what images are made of; none: any, at public addresses.
     */
    struct module_hosts image_hosts;
    struct scheduling_plans plans;
    /* Once: it has all objects (r 0), or cannot work. With `embedded` not before the first pod. */
    void (*on_ready)(void *arg, int r, const struct err *err);
    void *arg;
};

/* Errors: E_INVALID: what is wrong with the configuration, and where; of files. On failure *ret may
 * be set, as host_start() sets it: stop it. */
int scheduling_start(const struct scheduling_opts *opts, struct scheduling **ret, struct err *err);
/* done() last. */
void scheduling_stop(struct scheduling *s, void (*done)(void *arg), void *arg);
void scheduling_reload(struct scheduling *s);

/* NULL: ready (one that waits to lead is); else what is missing. */
const char *scheduling_not_ready(const struct scheduling *s);
bool scheduling_leads(const struct scheduling *s);
void scheduling_metrics(struct scheduling *s, struct buf *to);
/* Members of a JSON object, without braces. */
void scheduling_status(struct scheduling *s, struct buf *to);
/* The page of the admin socket: `namespace` and `name` of the query; JSON of explain/explain.h. */
void scheduling_explain(struct scheduling *s, const struct url_target *target,
                        struct http_exchange *x);
