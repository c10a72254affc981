/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API objects that the plane needs: Functions, their revisions, policies of namespaces, and the
 * contents of Secrets and ConfigMaps for environments. The leader also writes: a FunctionRevision
 * for every new template, status, Events.
 *
 *     FunctionRevisions listed -> Functions listed -> synced
 *
 * A template that differs from the newest revision's becomes the next revision. Its
 * FunctionRevision may be written after sandboxes of it run: the Function itself is already
 * durable.
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
    CATALOG_WRITE_LATEST_MS = 1000, /* while a client registers functions one after the other */
    CATALOG_RETRY_MS = 1000,
    CATALOG_TOKENS_AGAIN_MS = 1000, /* retry after the API could not be asked for them */
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
    const struct catalog_modules *modules; /* kept; NULL: no modules are visible */
    void (*on_synced)(void *arg);          /* every function is in the plane; once */
    void *arg;
};

int catalog_start(const struct catalog_opts *opts, struct catalog **ret, struct err *err);
void catalog_close(struct catalog *c);
bool catalog_is_synced(const struct catalog *c);
/* Only the leader writes. */
void catalog_set_leads(struct catalog *c, bool leads);
/* The callbacks of plane_ops. */
void catalog_on_change(struct catalog *c, uint32_t function);
void catalog_on_resolve(struct catalog *c, uint32_t function, uint32_t revision);
/*
 * Record that a sandbox exists, or (is_gone) no longer exists, in a ConfigMap of the function's
 * namespace. In the first case plane_persisted() follows the answer, whatever it is.
 */
void catalog_persist(struct catalog *c, uint32_t function, uint64_t sandbox, bool is_gone);
/* For a listener whose port was not known at the start. Kept. */
void catalog_set_url(struct catalog *c, const char *url);
/* Its number in the plane; 0: it has none. */
uint32_t catalog_find(const struct catalog *c, struct str namespace, struct str name);
/* One more function is within the namespace's quota. */
bool catalog_may_add(const struct catalog *c, struct str namespace);
