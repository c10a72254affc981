/* SPDX-License-Identifier: Apache-2.0 */
/* Internals that the files of the registry client share. */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "base/random.h"
#include "base/sm.h"
#include "io/fetch_url.h"
#include "io/http.h"
#include "oci/challenge.h"
#include "oci/registry.h"

/* Connections to one scheme, host and port. */
struct registry_origin {
    char *name; /* "https://host:port" */
    struct oci_registry *reg;
    struct http_client *client;
    bool by_proxy;             /* plain HTTP: the proxy needs the whole URL as the target */
    char *proxy_authorization; /* with by_proxy; NULL: none */
};

/* The host of a URL for a message, valid in the block. */
#define REGISTRY_HOST(url) fetch_url_host((url), (char[FETCH_URL_HOST_MAX]){ 0 })

struct oci_registry {
    struct oci_registry_opts opts;
    struct fetch_url base; /* of its API */
    struct tls_ctx *tls;
    struct registry_origin origins[OCI_REGISTRY_ORIGINS_MAX];
    size_t n_origins;
    struct list requests;
    struct map tokens;                /* scope -> struct registry_token */
    enum oci_challenge_scheme scheme; /* of its last challenge */
    struct rng rng;
    bool is_public;    /* one of its own addresses is public, so all others must be */
    bool has_answered; /* so that a refused connection may be transient */
    bool closing;
};

/*
 *     READY --(next turn)--> CALLING --redirect, 401 with known credentials--> READY
 *                               |-----401--> TOKEN --token--> READY
 *                               |-----429, 5xx, broken--> WAITING --back-off--> READY
 *     any of them --answer, error, cancel--> ENDING --callback--> (freed)
 */
enum registry_request_state {
    REGISTRY_REQUEST_READY,
    REGISTRY_REQUEST_CALLING,
    REGISTRY_REQUEST_TOKEN, /* token_request runs */
    REGISTRY_REQUEST_WAITING,
    REGISTRY_REQUEST_ENDING,
};

struct oci_request {
    struct list node;
    struct oci_registry *reg;
    oci_request_cb cb;
    void *arg;
    /* The request. */
    char *method, *scope;
    struct fetch_url first; /* without redirects */
    struct headers headers;
    struct str body;
    int passes[4];
    bool once, has_secret, is_part, is_at_most;
    /* Progress. */
    struct sm sm; /* enum registry_request_state */
    struct fetch_url url;
    struct exchange *call;
    size_t body_sent;
    struct timer timer; /* stall time-out, or back-off */
    uint64_t paced_ms;  /* start of the current interval of the rate check; 0: none */
    uint64_t n_paced;   /* bytes of the body since then */
    struct defer turn;
    unsigned attempt, redirects, logins;
    unsigned n_attempts, n_short; /* all of them; those with little progress */
    bool was_sent;                /* the server may have seen it, and did not answer */
    bool cancelled;
    bool is_slow;     /* the call was ended because of it */
    bool is_by_proxy; /* the call has the whole URL as its target */
    /* The answer. */
    int status;
    struct headers answer;
    struct buf gathered;
    oci_blob_sink sink;
    int (*on_ranges)(void *sink_arg, const struct headers *headers, struct err *err);
    void *sink_arg;
    uint64_t at, size, skip; /* next byte of the sink; bytes to skip in this answer */
    uint64_t at_attempt;     /* `at` at the start of the attempt */
    /* The request for its token. */
    struct oci_request *token_request;
    struct buf token_body;
    char *token_scope;
    struct err err; /* its result */
};

/* registry.c */
int registry_origin_find(struct oci_registry *reg, const struct fetch_url *url,
                         struct registry_origin **ret, struct err *err);
bool registry_same_origin(const struct fetch_url *a, const struct fetch_url *b);
void registry_free(struct oci_registry *reg);

/* registry_request.c */
/* Send it again, from its first URL. */
void registry_request_again(struct oci_request *q);
/* End it; the callback comes on a later turn. */
void registry_request_end(struct oci_request *q, int r);
/* The number of bytes of a path that may be shown in a message: without its query. */
int registry_path_n(const char *path);

/* registry_auth.c: add the credentials, if they are known. */
void registry_auth_add(struct oci_request *q, struct headers *to);
/* After a 401: get a token and send the request again, or end it. */
void registry_auth_demand(struct oci_request *q);
void registry_auth_fini(struct oci_registry *reg);
