/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An embedded cluster of this process: data directory, store and embedded API, put together.
 *
 *     cluster_start() -> store opens, API reads its definitions -> listening, kubeconfig written
 *                     -> on_ready
 */
#pragma once

#include "api/server.h"
#include "base/err.h"
#include "io/loop.h"

struct cluster;

struct cluster_opts {
    struct loop *loop;
    const char *data_dir; /* created if missing */
    const char *host;     /* listen address; port 0: any free one */
    uint16_t port;
    const char *const *tls_names; /* further names in the certificate; kept */
    size_t n_tls_names;
    const char *kubeconfig;         /* where to write it; NULL: data_dir/kubeconfig */
    const char *token_file;         /* further bearer tokens; NULL: none */
    const char *sa_issuer;          /* of ServiceAccounts' tokens; NULL: the default */
    uint64_t event_ttl_ms;          /* Events are deleted after this; 0: an hour */
    struct node_cidrs node_cidrs;   /* pod addresses that Nodes get; n 0: none */
    struct str commit, commit_date; /* for /version; kept; see api/server.h */
    bool warn_unattended;           /* see api/server.h */
    bool no_anonymous;              /* a client without certificate and token gets 401 */
    /*
     * Runs once. r 0: ready; else the start failed for this reason, and the only call allowed is
     * cluster_stop().
     */
    void (*on_ready)(void *arg, int r, const struct err *err);
    void *arg;
};

/* Errors: of the data directory and the store. */
int cluster_start(const struct cluster_opts *opts, struct cluster **ret, struct err *err);
/* End watches, wait up to grace_ms for requests, drain and close the store; done() runs last. */
void cluster_stop(struct cluster *c, uint64_t grace_ms, void (*done)(void *arg), void *arg);

struct api *cluster_api(struct cluster *c);
const char *cluster_url(const struct cluster *c);        /* valid once ready */
const char *cluster_listen(const struct cluster *c);     /* "0.0.0.0:6443"; valid once ready */
const char *cluster_kubeconfig(const struct cluster *c); /* path; valid once ready */
