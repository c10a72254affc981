/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An asynchronous client of one registry (OCI distribution-spec 1.1; Docker Registry HTTP API V2):
 * its connections, tokens, and requests with redirects, authentication and retries.
 *
 *     send -> redirect  -> send, to another host without credentials
 *          -> 401       -> token (anonymous, Basic or a refresh token) -> send
 *          -> 429, 5xx, a broken or silent connection -> wait -> send, a blob from the break on
 *          -> answer
 *
 * Loop thread only. Blocking calls for commands: oci/remote.h.
 */
#pragma once

#include "codec/headers.h"
#include "io/loop.h"
#include "oci/credentials.h"
#include "oci/reference.h"

#include <sys/socket.h>

enum {
    OCI_REGISTRY_ATTEMPTS = 5, /* in a row without progress */
    /* Attempts with a little progress each, per attempt without progress. */
    OCI_REGISTRY_SHORT_ATTEMPTS = 4,
    OCI_REGISTRY_STALL_MS = 30000, /* no head, or no byte of a body, in this time */
    /* A body that transfers fewer bytes in this time is given up, like a silent one. */
    OCI_REGISTRY_SLOW_MS = 60000,
    OCI_REGISTRY_SLOW_BYTES = 60 << 10,
    OCI_REGISTRY_BACKOFF_MS = 500, /* doubled each time, with jitter of a half */
    OCI_REGISTRY_BACKOFF_MAX_MS = 30000,
    OCI_REGISTRY_RETRY_AFTER_MAX_S = 120, /* a registry that demands a longer wait is given up */
    OCI_REGISTRY_REDIRECTS_MAX = 5,
    OCI_REGISTRY_ORIGINS_MAX = 16, /* hosts of its redirects */
    OCI_REGISTRY_TOKENS_MAX = 256,
    OCI_REGISTRY_TOKEN_MAX_BYTES = 16 << 10,
};

struct oci_registry;

/* A note for the user; `text` is borrowed for the call. */
typedef void (*oci_registry_note)(void *arg, const char *text);

struct oci_registry_opts {
    struct loop *loop;
    const char *host;       /* of a reference, "docker.io", "localhost:5000"; copied */
    bool plain_http;        /* false: only for loopback hosts, except port 443 or with a CA */
    struct str ca_pem;      /* trusted in addition to the system's roots; empty: none; copied */
    struct oci_login login; /* copied; zeroed: anonymous */
    /* Appended to the error, in brackets, if the registry demands credentials and there are none:
     * how the user supplies them. Kept; NULL: by 'docker login' or $REGISTRY_AUTH_FILE. */
    const char *no_login;
    /* Appended to the error, in brackets, if may_connect refuses the registry's own address: which
     * option allows it. Kept; NULL: nothing. */
    const char *no_address;
    unsigned attempts;      /* 0: OCI_REGISTRY_ATTEMPTS */
    uint64_t stall_ms;      /* 0: OCI_REGISTRY_STALL_MS */
    uint64_t backoff_ms;    /* 0: OCI_REGISTRY_BACKOFF_MS */
    oci_registry_note note; /* retries; NULL: none */
    /*
     * The registry decides about redirects, token services and upload URLs. A registry with a
     * public address (io/address.h) may only send us to public addresses; otherwise a foreign
     * registry could make this machine send requests to hosts that only this machine can reach. A
     * proxy resolves names itself, so behind one only numeric addresses are checked. true: all
     * addresses are allowed.
     */
    bool allows_private;
    bool (*is_public)(const struct sockaddr *addr); /* for tests; NULL: address_is_public() */
    /* A further check, as in http_client_opts, also of the registry's own addresses; behind a proxy
     * of numeric addresses only. NULL: any. */
    bool (*may_connect)(void *arg, const struct sockaddr *addr);
    void *arg; /* of both */
};

/* Errors: E_INVALID (the proxy of the environment), E_TLS (no such CA). */
int oci_registry_new(const struct oci_registry_opts *opts, struct oci_registry **ret,
                     struct err *err);
/* Requests that still run end with -ECANCELED; freed after the last one. */
void oci_registry_close(struct oci_registry *reg);

/* ---- one request ---- */

struct oci_request;

struct oci_answer {
    int status; /* below 400, 404, or one of `passes` */
    const struct headers *headers;
    struct str body; /* if there was no sink */
};

/*
 * Called exactly once. r 0: there is an answer, borrowed. Else, with err borrowed: E_DENIED (401,
 * 403), -ENOENT (404), E_UNSUPPORTED (405), E_LIMIT, E_DIGEST (more or fewer bytes than announced),
 * -EAGAIN (429 and 5xx after the last attempt), -ECONNREFUSED (also a proxy that demands another
 * login, 407), -EPROTO (other statuses), -ECANCELED, the error of the sink, and errors of the HTTP
 * client (io/http.h; -EACCES: see allows_private).
 */
typedef void (*oci_request_cb)(void *arg, int r, const struct oci_answer *answer,
                               const struct err *err);

struct oci_request_opts {
    const char *method;
    const char *target;            /* "/v2/...", or a URL or path from the registry */
    const char *scope;             /* of the token, blank-separated; NULL: no credentials sent */
    const struct headers *headers; /* copied; NULL: none */
    struct str body;               /* borrowed until the callback */
    /* Receives the body of a 200, from byte `from` on up to `size` in all, also across broken
     * connections. NULL: the body is collected, up to OCI_DOCUMENT_MAX. */
    oci_blob_sink sink;
    void *sink_arg;
    uint64_t from, size;
    bool is_part;    /* request only [from, size); E_UNSUPPORTED: the server has no ranges */
    bool is_at_most; /* `size` is a limit: the body may end earlier */
    /* Called with the fields of a 206 before its body is passed to the sink; a negative code ends
     * the request. The caller requests ranges with `headers`, and a 200 is E_UNSUPPORTED; only with
     * from 0, is_at_most and once. NULL: none. */
    int (*on_ranges)(void *sink_arg, const struct headers *headers, struct err *err);
    /* The request is not idempotent: a broken connection or 5xx ends it. */
    bool once;
    bool has_secret; /* in the body: it is never sent to another host after a redirect */
    int passes[4];   /* statuses from 400 on that are an answer; 0: none */
    oci_request_cb cb;
    void *arg;
};

/* Errors: E_INVALID (the target), E_LIMIT. */
int oci_request_start(struct oci_registry *reg, const struct oci_request_opts *opts,
                      struct oci_request **ret, struct err *err);
/* The callback comes later, with -ECANCELED. */
void oci_request_cancel(struct oci_request *q);
/* In its callback: whether the registry refused it for now (429, or 503 with Retry-After).
 * *ret_ms: the time after which to ask again; 0: not stated. */
bool oci_request_is_put_off(const struct oci_request *q, uint64_t *ret_ms);

/* ---- content of registries ---- */

/* The scope of a token: "repository:NAME:pull" or "repository:NAME:pull,push". Given, free(). */
char *oci_registry_scope(const char *repository, bool pushes);

/*
 * A manifest or an index by digest or, if it is NULL, by tag. The answer's body has the digest.
 * Errors: also E_DIGEST.
 */
int oci_registry_manifest(struct oci_registry *reg, const char *repository, const char *tag,
                          const struct oci_digest *digest, const char *scope, oci_request_cb cb,
                          void *arg, struct oci_request **ret, struct err *err);
/*
 * A blob from byte `from` on. Bytes are NOT verified, the caller hashes them; never more than the
 * descriptor's size, and exactly that with r 0.
 */
int oci_registry_blob(struct oci_registry *reg, const char *repository,
                      const struct oci_descriptor *d, uint64_t from, const char *scope,
                      oci_blob_sink sink, void *sink_arg, oci_request_cb cb, void *arg,
                      struct oci_request **ret, struct err *err);
/* Whether the registry has the blob. The answer's status is 200 or 404. */
int oci_registry_has_blob(struct oci_registry *reg, const char *repository,
                          const struct oci_digest *d, const char *scope, oci_request_cb cb,
                          void *arg, struct oci_request **ret, struct err *err);
/* Put a manifest under `name`, a tag or a digest. */
int oci_registry_put_manifest(struct oci_registry *reg, const char *repository, const char *name,
                              struct str media_type, struct str text, const char *scope,
                              oci_request_cb cb, void *arg, struct oci_request **ret,
                              struct err *err);
