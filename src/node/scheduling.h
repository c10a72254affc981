/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler of a process, put together: configuration file, compiled plugins, watches, driver.
 * It needs only a transport, so it works the same beside the embedded API and against any cluster.
 *
 * The file is read again when it, or the target of a link in its path, has changed (as in a
 * ConfigMap's volume), and by scheduling_reload(). A file that cannot be read or is invalid changes
 * nothing; the log says why. The Lease keeps the configuration of the start.
 *
 * Reading the configuration also reloads the plugins. Plugins named by a tag in a registry are
 * looked up every check_ms, and reloaded when the tag has moved; a plugin that cannot be loaded
 * changes nothing either.
 */
#pragma once

#include "base/buf.h"
#include "modules/module_hosts.h"
#include "node/node_networks.h"
#include "sched/driver/driver.h"

enum {
    SCHEDULING_SHARERS_MIN = 2, /* nodes that report what they hold of images: then, without a
                                   configuration file, BREAK's plugins are the default */
};

struct scheduling;
struct url_target;
struct watch_hub;
struct http_exchange;

/* Leader election options of the command line, which override the configuration. */
struct scheduling_leader {
    int elect;                                /* 0, 1; -1: as configured */
    uint64_t lease_ms, deadline_ms, retry_ms; /* 0: as configured */
    const char *name, *namespace;             /* NULL: as configured */
};

/* Plans for the images of bound pods (node/orchestrator.h). */
struct scheduling_plans {
    const char *key_file;          /* key of the cluster; NULL: `key` */
    struct str key;                /* copied; empty, without a file: no plans are sent */
    const char *peer_ca;           /* CA of nodes' certificates; NULL: the system's */
    uint64_t deadline_ms;          /* 0: ORCHESTRATOR_DEADLINE_MS */
    bool is_push;                  /* nodes push layers, see orchestrator.h */
    struct node_networks networks; /* where nodes may be */
    uint64_t prefetch_ms;          /* interval of sending layers to idle nodes; 0: never */
};

struct scheduling_opts { /* strings are kept */
    struct loop *loop;
    const char *data_dir;         /* its subdirectory plugins/ holds plugins from registries */
    struct module_cache *modules; /* kept; the process's */
    struct transport *transport;  /* kept */
    struct watch_hub *hub;        /* kept; the process's hub over that transport */
    const char *config_file;      /* NULL: the defaults */
    struct scheduling_leader leader;
    bool embedded; /* the API is in this process and there is no other scheduler: no Lease, and no
                      work before the first pod */
    uint64_t seed; /* 0: random */
    uint64_t check_ms;             /* interval of looking up tags; 0: never */
    struct module_site registries; /* access to registries; `hosts` are those of plugins */
    /*
     * Registries that BREAK's plugins may ask for the layers of images; none: any, at public
     * addresses.
     */
    struct module_hosts image_hosts;
    struct scheduling_plans plans;
    /*
     * Runs once. r 0: all objects are known; else it cannot work. With `embedded` not before the
     * first pod.
     */
    void (*on_ready)(void *arg, int r, const struct err *err);
    void *arg;
};

/* Errors: E_INVALID: what is wrong with the configuration, and where; of files. On failure *ret may
 * be set, as host_start() sets it: stop it. */
int scheduling_start(const struct scheduling_opts *opts, struct scheduling **ret, struct err *err);
/* done() runs last. */
void scheduling_stop(struct scheduling *s, void (*done)(void *arg), void *arg);
void scheduling_reload(struct scheduling *s);

/* NULL: ready (a scheduler that waits to lead is ready); else text that says what is missing. */
const char *scheduling_not_ready(const struct scheduling *s);
void scheduling_metrics(struct scheduling *s, struct buf *to);
/* Members of a JSON object, without braces. */
void scheduling_status(struct scheduling *s, struct buf *to);
/*
 * The page of the admin socket, for the `namespace` and `name` of the query; JSON of
 * explain/explain.h.
 */
void scheduling_explain(struct scheduling *s, const struct url_target *target,
                        struct http_exchange *x);
