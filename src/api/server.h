/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded API server: serves a store as a Kubernetes API.
 *
 * The request core knows no sockets. It is reached through HTTP (api_listen()) and, by services of
 * the same process, through a struct transport (api_transport()); both take the same path.
 *
 *     api_new()  ->  api_start()  ->  on_ready  ->  api_listen()  ...  api_close()
 *
 * Main loop only. The store outlives the api.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "client/transport.h"

struct api;
struct loop;
struct store;
struct tls_ctx;

enum { API_WATCH_MIN_MS = 30 * 60000 }; /* upstream's --min-request-timeout */

/* What a request wants, in the terms of RBAC. */
struct api_attributes {
    const struct kube_identity *identity;
    struct str verb;  /* "get", "deletecollection"; "get" of paths */
    bool is_resource; /* else a path */
    struct str group, version, resource, subresource, name, ns;
    struct str path;
    struct str field_selector; /* of a list, watch or deletion of a collection, as the client wrote
                                  it; "": none */
    bool related; /* a node asks for an object that was found to concern it (auth/node_graph.h) */
};

/* Decides without waiting. reason: appended to, NULL when not wanted; shown to the client on "no".
 */
typedef bool (*api_authorize_fn)(void *arg, const struct api_attributes *at, struct buf *reason);

struct api_opts {
    struct loop *loop;
    struct store *store;        /* kept */
    struct str admin_token;     /* copied; bearer token of user "admin", group system:masters */
    struct str token_file;      /* content of a CSV file: token,user,uid,"group1,group2" */
    struct str sa_key;          /* PEM; signs tokens of ServiceAccounts; "": there are none */
    struct str sa_issuer;       /* "": https://kubernetes.default.svc */
    struct str ca_cert;         /* PEM, copied; published in every namespace; "": nothing is */
    struct str ca_key;          /* PEM, copied; signs approved requests; "": nobody does */
    uint64_t event_ttl_ms;      /* Events go after this; 0: an hour */
    struct str commit;          /* copied; of the program, with "+" where it was changed; "" */
    struct str commit_date;     /* copied; RFC 3339; "" */
    uint64_t watch_min_ms;      /* 0: API_WATCH_MIN_MS */
    bool warn_unattended;       /* who creates a workload hears that nothing here runs it */
    bool rbac;                  /* decide by the roles and bindings in the store */
    bool anonymous;             /* with rbac: no credentials: system:anonymous; false: 401 */
    api_authorize_fn authorize; /* without rbac; NULL: whoever is authenticated may do everything */
    void *authorize_arg;
};

/* Errors: of the token file (E_PARSE, E_LIMIT) and of the key (E_INVALID). */
int api_new(const struct api_opts *opts, struct api **ret, struct err *err);
/*
 * Read the CustomResourceDefinitions, make what every cluster has (the four namespaces), start the
 * controllers. on_ready: once, from the loop; on failure only api_close() is left to do.
 */
void api_start(struct api *api, void (*on_ready)(void *arg, int r, const struct err *err),
               void *arg);

/*
 * Make sure that objects exist: `json` is an object or a List. Absent ones are created; one that
 * exists with another spec is updated to it. Conditions and status are left alone. on_done: once,
 * from the loop; r: E_INVALID with the server's answer when one of them was refused. After
 * on_ready. One after the other, so that a definition may stand in front of its instances. `json`
 * is copied. Errors: E_PARSE.
 */
int api_ensure_objects(struct api *api, struct str json,
                       void (*on_done)(void *arg, int r, const struct err *err), void *arg,
                       struct err *err);
/*
 * Let go of this Lease if a leader in an earlier process of this store held it without end
 * (leader_opts.alone). After on_ready, before anybody in this process wants to lead. What fails is
 * logged; done() comes once, at once only while the server closes.
 */
void api_release_left_lease(struct api *api, const char *namespace, const char *name,
                            void (*done)(void *arg), void *arg);

/* In process; lives as long as the api. A request without identity speaks as system:dormouse. */
struct transport *api_transport(struct api *api);

/*
 * Tell every watch that takes bookmarks how far it is, now; may be called from a callback of the
 * transport. Who waits until a watch has reached a version need not wait for the next write.
 */
void api_tell_progress(struct api *api);

/* fn runs after each change of roles or bindings, perhaps before it takes effect. NULL: none. */
void api_on_policy(struct api *api, void (*fn)(void *arg), void *arg);

/* Errors: -EADDRINUSE, ... tls: kept. */
int api_listen(struct api *api, const char *host, uint16_t port, struct tls_ctx *tls,
               struct err *err);
uint16_t api_port(const struct api *api); /* 0: not listening */
/* Called on requests and new connections when the wall clock has passed `at_s`; the callee replaces
 * its certificate and sets the next time. */
void api_on_renewal(struct api *api, int64_t at_s, int64_t (*renew)(void *arg), void *arg);

/* Prometheus text with upstream's names. */
void api_metrics(const struct api *api, struct buf *to);

/* Refuse new requests, end watches, wait up to grace_ms for the rest; done() once all is released.
 */
void api_close(struct api *api, uint64_t grace_ms, void (*done)(void *arg), void *arg);
