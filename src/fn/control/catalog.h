/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the API says of functions, for the plane: Function objects, their revisions, policies of
 * namespaces, and what Secrets and ConfigMaps hold for environments. The leader also writes: a
 * FunctionRevision for every new template, status, Events.
 *
 *     FunctionRevisions listed -> Functions listed -> synced
 *
 * A template that differs from the newest revision's is the next revision. Its FunctionRevision is
 * written after sandboxes of it may be running: what is durable first is the Function itself.
 *
 * Loop thread only. Callbacks never run inside calls.
 */
#pragma once

#include "client/transport.h"
#include "client/watch_hub.h"
#include "fn/control/plane.h"

struct catalog;
struct module_sources;

/*
 * The places of modules that this process can read. A module in another place is never reported as
 * missing.
 */
struct catalog_modules {
    struct module_sources *sources; /* kept */
    char *const *dirs;              /* of files: real paths; kept */
    size_t n_dirs;                  /* 0: files are on other machines */
};

enum {
    CATALOG_WRITES_MAX = 8,         /* under way at a time; calls wait while they are made */
    CATALOG_WRITE_DELAY_MS = 50,    /* changes during the delay become one write */
    CATALOG_WRITE_LATEST_MS = 1000, /* while functions are registered one after the other */
    CATALOG_RETRY_MS = 1000,
    CATALOG_TOKENS_AGAIN_MS = 1000, /* where the API could not be asked for them */
    CATALOG_EVENT_GAP_MS = 10000    /* between two Events about one function */
};

struct catalog_opts {
    struct loop *loop;
    struct transport *transport;          /* kept */
    struct watch_hub *hub;                /* kept */
    const struct kube_identity *identity; /* kept; NULL: the transport's own */
    const char *namespace;                /* its Functions alone; NULL: all; kept */
    struct plane *plane;                  /* kept */
    const char *url; /* before "/fn/NAMESPACE/NAME" in status; "": unknown; kept */
    const struct catalog_modules *modules; /* kept; NULL: none can be seen */
    void (*on_synced)(void *arg);          /* every function is in the plane; once */
    void *arg;
};

int catalog_start(const struct catalog_opts *opts, struct catalog **ret, struct err *err);
void catalog_close(struct catalog *c);
bool catalog_is_synced(const struct catalog *c);
/* Only who leads writes. */
void catalog_set_leads(struct catalog *c, bool leads);
/* What plane_ops say. */
void catalog_on_change(struct catalog *c, uint32_t function);
void catalog_on_resolve(struct catalog *c, uint32_t function, uint32_t revision);
/*
 * Write down that a sandbox is there, or (is_gone) no more: a ConfigMap of the function's
 * namespace. plane_persisted() follows the former's answer, whatever it is.
 */
void catalog_persist(struct catalog *c, uint32_t function, uint64_t sandbox, bool is_gone);
/* Where it is known since: another listener's port. Kept. */
void catalog_set_url(struct catalog *c, const char *url);
/* Its number in the plane; 0: there is none. */
uint32_t catalog_find(const struct catalog *c, struct str namespace, struct str name);
/* One more function is within the namespace's quota. */
bool catalog_may_add(const struct catalog *c, struct str namespace);
