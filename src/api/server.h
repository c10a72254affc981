/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded API server: serves a store as a Kubernetes API.
 *
 * The request core does not know sockets. Clients reach it through HTTP (api_listen()), services of
 * the same process through a struct transport (api_transport()); both take the same path.
 *
 *     api_new()  ->  api_start()  ->  on_ready  ->  api_listen()  ...  api_close()
 *
 * Main loop only. The store outlives the api.
 */
#pragma once

#include "api/node_cidrs.h"
#include "base/buf.h"
#include "base/err.h"
#include "client/transport.h"

struct api;
struct loop;
struct store;
struct tls_ctx;

enum { API_WATCH_MIN_MS = 30 * 60000 }; /* upstream's --min-request-timeout */

/* The attributes of a request, in the terms of RBAC. */
struct api_attributes {
    const struct kube_identity *identity;
    struct str verb;  /* "get", "deletecollection"; "get" of paths */
    bool is_resource; /* else a non-resource path */
    struct str group, version, resource, subresource, name, ns;
    struct str path;
    struct str field_selector; /* of a list, watch or deletecollection, verbatim; "": none */
    bool related; /* the user is a node, and the object was found to concern it (auth/node_graph.h)
                   */
};

/*
 * Decides without waiting. reason: appended to, NULL if not wanted; a refusal shows it to the
 * client.
 */
typedef bool (*api_authorize_fn)(void *arg, const struct api_attributes *at, struct buf *reason);

struct api_opts {
    struct loop *loop;
    struct store *store;    /* kept */
    struct str admin_token; /* copied; bearer token of user "admin", group system:masters */
    struct str token_file;  /* content of a CSV file: token,user,uid,"group1,group2" */
    struct str sa_key;      /* PEM; signs ServiceAccount tokens; "": the server issues none */
    struct str sa_issuer;   /* "": https://kubernetes.default.svc */
    struct str ca_cert;     /* PEM, copied; published in every namespace; "": none */
    struct str ca_key;     /* PEM, copied; signs approved CertificateSigningRequests; "": the server
                              signs none */
    uint64_t event_ttl_ms; /* Events are deleted after this; 0: one hour */
    struct node_cidrs node_cidrs; /* pod addresses, given to Nodes piece by piece; n 0: none are */
    struct str commit;      /* copied; commit of the program, with "+" if modified; "": unknown */
    struct str commit_date; /* copied; RFC 3339; "": unknown */
    uint64_t watch_min_ms;  /* 0: API_WATCH_MIN_MS */
    bool warn_unattended; /* warn clients that create a workload if no controller for it is running
                           */
    bool rbac;            /* authorize by the roles and bindings in the store */
    bool anonymous; /* with rbac: a client without credentials is system:anonymous; false: 401 */
    api_authorize_fn authorize; /* without rbac; NULL: every authenticated user may do everything */
    void *authorize_arg;
};

/* Errors: in the token file (E_PARSE, E_LIMIT) or the key (E_INVALID). */
int api_new(const struct api_opts *opts, struct api **ret, struct err *err);
/*
 * Load the CustomResourceDefinitions, create the objects that every cluster has (the four
 * namespaces), start the controllers. on_ready: once, from the loop; after a failure the only valid
 * call is api_close().
 */
void api_start(struct api *api, void (*on_ready)(void *arg, int r, const struct err *err),
               void *arg);

/*
 * Ensure that objects exist. `json` is an object or a List, copied. Absent objects are created; an
 * existing object with another spec is updated. Conditions and status are left alone. Objects are
 * processed in order, so a definition may precede its instances.
 *
 * on_done: once, from the loop; r: E_INVALID with the server's answer if the server refused one of
 * them. Call after on_ready. Errors: E_PARSE.
 */
int api_ensure_objects(struct api *api, struct str json,
                       void (*on_done)(void *arg, int r, const struct err *err), void *arg,
                       struct err *err);
/*
 * Release this Lease if a leader in an earlier process on this store held it without expiry
 * (leader_opts.alone). Call after on_ready, before a client in this process campaigns for it.
 * done() runs once, from the loop; failures until then are logged. Errors: -ECANCELED while the
 * server closes; then done() does not run.
 */
int api_release_left_lease(struct api *api, const char *namespace, const char *name,
                           void (*done)(void *arg), void *arg, struct err *err);

/*
 * The in-process transport; lives as long as the api. The user of a request without identity is
 * system:dormouse.
 */
struct transport *api_transport(struct api *api);

/*
 * Send a bookmark to every watch that accepts them, now. May be called from a callback of the
 * transport. A caller that waits until a watch has reached a revision need not wait for the next
 * write.
 */
void api_tell_progress(struct api *api);

/*
 * fn runs after each change of roles or bindings, possibly before the change takes effect. NULL:
 * none.
 */
void api_on_policy(struct api *api, void (*fn)(void *arg), void *arg);

/* Errors: -EADDRINUSE, ... tls: kept. */
int api_listen(struct api *api, const char *host, uint16_t port, struct tls_ctx *tls,
               struct err *err);
uint16_t api_port(const struct api *api); /* 0: not listening */
/*
 * renew() is called on requests and new connections once the wall clock has passed `at_s`. It
 * replaces the certificate and returns the next such time.
 */
void api_on_renewal(struct api *api, int64_t at_s, int64_t (*renew)(void *arg), void *arg);

/*
 * Publish a kubeconfig with the server's address and CA for machines that join, in the ConfigMap
 * kube-public/cluster-info, once a bootstrap token may sign it. Call after on_ready.
 */
void api_publish_cluster(struct api *api, struct str kubeconfig);

/* Prometheus text with upstream's metric names. */
void api_metrics(const struct api *api, struct buf *to);

/*
 * Refuse new requests, end watches, wait up to grace_ms for other requests; done() runs when
 * everything is released.
 */
void api_close(struct api *api, uint64_t grace_ms, void (*done)(void *arg), void *arg);
