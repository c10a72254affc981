/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core of the API server, shared by the files of src/api and by the libraries on top of it:
 * auth/ (authentication and authorization), admit/ (admission that depends on other objects) and
 * controllers/ (what follows from a write). These libraries do not include each other; setup/ wires
 * them.
 *
 * Reading order: request.h, request.c (the steps), reply.h, read.c, admission.h, write.c, watch.c,
 * encode.c.
 */
#pragma once

#include "api/documents.h"
#include "api/metrics.h"
#include "api/namespace_table.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/server.h"
#include "api/unattended.h"
#include "base/log.h"
#include "io/loop.h"
#include "kube/model/meta.h"
#include "kube/model/resource.h"
#include "kube/model/status.h"
#include "kube/rules/object_rules.h"
#include "store/store.h"

struct admission_chain;
struct api_part_ops;

/* State of the libraries on top of the core; opaque to the core and to each other. */
struct admit;
struct auth;
struct controllers;
struct usage_reader;

/*
 * The controller has read what it needs (r 0), or has failed (err may be NULL). Runs once, from the
 * loop, never before the function that got it has returned.
 */
typedef void (*controller_ready_cb)(void *arg, int r, const struct err *err);

/* What the core needs from those libraries; api/setup supplies it. */
struct api_needs {
    /* Steps of a request: NULL, or the Status to answer; a step may wait (request.waiting). */
    struct json *(*authenticate)(struct request *rq);
    struct json *(*impersonate)(struct request *rq);
    struct json *(*authorize)(struct request *rq);
    /* Keep the credentials and impersonation fields of a request's header. */
    void (*take_credentials)(struct request *rq, const struct headers *headers);
    /* Serve a create that stores nothing, such as a SubjectAccessReview; false: the request is not
     * one. */
    bool (*serve)(struct request *rq);
    /* Serve a get or list of a kind that is measured. */
    void (*serve_measured)(struct request *rq);
    /* The answers of /.well-known/openid-configuration and /openid/v1/jwks; NULL: none. */
    struct json *(*openid_document)(struct request *rq, struct str address);
    struct json *(*openid_keys)(struct request *rq);
    /* Revision of the definition behind a resource; 0: built-in. Objects written before it were
     * defaulted and pruned by another schema. */
    uint64_t (*schema_revision)(const struct api *api, const struct kube_resource *res);
    /* A stored kind, served or not, for the server's own requests. NULL: not found. */
    const struct kube_resource *(*find_stored)(const struct api *api, struct str group,
                                               struct str version, struct str plural);
    /* Whether the indices of owners (owners.h) and of nodes (placed.h) cover all objects at this
     * revision; 0: now. */
    bool (*has_indices)(const struct api *api, uint64_t at_rev);
};

enum { API_PARTS_MAX = 8 };

struct api {
    struct transport transport;
    struct loop *loop;
    struct store *store;
    struct kube_registry reg;
    const struct api_needs *needs;
    struct admit *admit;
    struct auth *auth;
    struct controllers *controllers;
    struct usage_reader *usage;
    struct api_part { /* see part.h */
        const struct api_part_ops *ops;
        void *self;
    } parts[API_PARTS_MAX];
    size_t n_parts, n_started;
    struct defer parts_turn;         /* starts the first part */
    bool in_part_start;              /* the start() of a part has not returned yet */
    controller_ready_cb parts_ready; /* NULL before api_start_parts(), and once it was called */
    void *parts_ready_arg;
    api_authorize_fn authorize;
    void *authorize_arg;
    bool with_rbac;

    struct http_server *http;
    struct list requests;
    struct list unsent; /* struct request.behind; the request that has waited longest is first */
    size_t unsent_bytes;
    struct list large; /* struct request.large: large bodies, processed one per turn */
    struct defer large_turn;
    struct flows flows;
    struct lines lines; /* queues of writes, by key */
    struct namespace_table namespace_table;
    struct admission_chain *chain; /* the admission chain; see admission.h */
    struct log_rate damage_log, full_log;
    struct documents documents;
    size_t n_inflight, body_bytes, n_compressing;
    size_t lists_kept_bytes;     /* API_LISTS_KEPT_MAX_BYTES */
    size_t watch_requirements;   /* number of requirements in the selectors of all open watches; see
                                    watch.c */
    struct map hubs;             /* storage name -> struct hub */
    struct timer bookmark_timer; /* armed while a watcher lags behind the store's revision */
    uint64_t watch_min_ms;       /* a watch without a timeout lasts one to two times as long */
    struct timer reauthorize_timer;
    struct map revoked; /* keys deleted since the last pass; empty without watches */
    void (*on_policy)(void *arg);
    void *on_policy_arg;
    struct unattended unattended;
    struct buf ca_cert, ca_key; /* PEM; ca_key: signs certificates; empty: none are signed */
    size_t n_kubelet_calls;     /* kubelet.h */
    char *commit, *commit_date;
    struct metrics metrics;

    int64_t renew_at_s;
    int64_t (*renew)(void *arg);
    void *renew_arg;

    bool ready, closing, http_closed;
    void (*on_ready)(void *arg, int r, const struct err *err);
    void *on_ready_arg;
    void (*on_closed)(void *arg);
    void *on_closed_arg;
    struct defer close_defer;
};

/*
 * The user of in-process requests that carry no identity, and the user of the server's controllers.
 */
#define API_OWN_USER        "system:dormouse"
#define API_CONTROLLER_USER "system:dormouse:controllers"

/* The start of the in-process transport; see local.c. */
int api_local_start(struct transport *t, const struct kube_request *req,
                    const struct exchange_events *events, void *arg, struct exchange **ret,
                    struct err *err);

/* Makes the core without parts, for api_new(). needs: kept. */
struct api *api_core_new(const struct api_opts *opts, const struct api_needs *needs);
/* Frees the parts, too. Call before api_start(), or at the end of api_close(). */
void api_core_free(struct api *api);

/* Whether an unknown path below the group is answered with a Status (see request.no_page). */
bool api_is_builtin_group(const struct kube_registry *reg, struct str group);

/* ---- verbs ---- */

void read_get(struct request *rq);
void read_list(struct request *rq);
void watch_begin(struct request *rq);
void write_create(struct request *rq);
void write_update(struct request *rq);
void write_patch(struct request *rq);
void delete_object(struct request *rq);
void delete_collection(struct request *rq);
/* Paths that are not resources: discovery, version, health, OpenAPI, metrics. */
void endpoint_serve(struct request *rq);
void openapi_serve_v2(struct request *rq);
void openapi_serve_v3(struct request *rq);

/* ---- definitions ---- */

#define CRD_FINALIZER "customresourcecleanup.apiextensions.k8s.io"

static inline bool api_is_definition(const struct kube_resource *res)
{
    return str_is(res->group, "apiextensions.k8s.io") &&
           str_is(res->plural, "customresourcedefinitions");
}

/* ---- keys ---- */

/* "/registry/<storage name>/" */
struct str key_prefix(struct arena *a, const struct kube_resource *res);
/* The prefix, followed by "<ns>/" unless ns is "" . */
struct str key_prefix_ns(struct arena *a, const struct kube_resource *res, struct str ns);
struct str key_object(struct arena *a, const struct kube_resource *res, struct str ns,
                      struct str name);
/* The namespace ("" for a cluster-scoped resource) and the name in a key of this resource. */
void key_split(const struct kube_resource *res, struct str prefix, struct str key,
               struct str *ret_ns, struct str *ret_name);

/* Replace the server certificate when it is due; see api_on_renewal(). */
void api_renew_certificate(struct api *api);

/* ---- watches ---- */

/* End all watches; new ones are refused. */
void watch_close_all(struct api *api);
/* End the watches of a resource that is no longer served, or is served with another schema. */
void watch_close_resource(struct api *api, struct str storage_name);
/*
 * A user's rights have changed: soon, in one pass, authorize all open watches again and end those
 * that would be refused now. Their clients retry and get the reason.
 */
void watch_reauthorize(struct api *api);
/* An object was deleted: as watch_reauthorize(); watches whose token depends on the object end. */
void watch_revoke(struct api *api, struct str key);
/*
 * Whether a client watches all objects of the kind, as a controller does. The scheduler, which
 * reads the owners of Pods, does not count.
 */
bool watch_is_followed(const struct api *api, const struct kube_resource *res);
/* A revision was written: watchers that asked for bookmarks get one in time. */
void watch_note_write(struct api *api);
