/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of one registry (OCI distribution-spec 1.1; Docker Registry HTTP API V2), asynchronous:
 * its connections, tokens, and requests with what has to happen around them.
 *
 *     send -> redirect  -> send, to another host without credentials
 *          -> 401       -> token (anonymous, Basic or a refresh token) -> send
 *          -> 429, 5xx, a broken or silent connection -> wait -> send, a blob from where it broke
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
    /* Attempts of a request that brought a little each, for each of the former. */
    OCI_REGISTRY_SHORT_ATTEMPTS = 4,
    OCI_REGISTRY_STALL_MS = 30000, /* no head, or no byte of a body, for so long */
    /* A body that brings fewer bytes in so long is given up, as a silent one is. */
    OCI_REGISTRY_SLOW_MS = 60000,
    OCI_REGISTRY_SLOW_BYTES = 60 << 10,
    OCI_REGISTRY_BACKOFF_MS = 500, /* doubled each time, with jitter of a half */
    OCI_REGISTRY_BACKOFF_MAX_MS = 30000,
    OCI_REGISTRY_RETRY_AFTER_MAX_S = 120, /* a registry that asks for more is given up */
    OCI_REGISTRY_REDIRECTS_MAX = 5,
    OCI_REGISTRY_ORIGINS_MAX = 16, /* hosts that it sends us to */
    OCI_REGISTRY_TOKENS_MAX = 256,
    OCI_REGISTRY_TOKEN_MAX_BYTES = 16 << 10,
};

struct oci_registry;

/* What a person may want to know of; `text` is borrowed for the call. */
typedef void (*oci_registry_note)(void *arg, const char *text);

struct oci_registry_opts {
    struct loop *loop;
    const char *host;       /* of a reference, "docker.io", "localhost:5000"; copied */
    bool plain_http;        /* else only loopback hosts, except port 443 or with a CA */
    struct str ca_pem;      /* trusted besides the system's roots; empty: none; copied */
    struct oci_login login; /* copied; zeroed: anonymous */
    /* What is said, in brackets, where the registry wants credentials and there are none: how the
     * user gives some. Kept; NULL: by 'docker login' or $REGISTRY_AUTH_FILE. */
    const char *no_login;
    /* What is said, in brackets, where may_connect refuses the registry's own address: which option
     * allows it. Kept; NULL: nothing. */
    const char *no_address;
    unsigned attempts;      /* 0: OCI_REGISTRY_ATTEMPTS */
    uint64_t stall_ms;      /* 0: OCI_REGISTRY_STALL_MS */
    uint64_t backoff_ms;    /* 0: OCI_REGISTRY_BACKOFF_MS */
    oci_registry_note note; /* retries; NULL: none */
    /*
     * Redirects, token services and upload addresses are the registry's word. One with a public
     * address (io/address.h) may send us to public addresses alone, else a foreign registry could
     * have this machine ask what only this machine can reach; a proxy resolves names itself, so
     * behind one only addresses in numbers are refused. true: it may send us anywhere.
     */
    bool allows_private;
    bool (*is_public)(const struct sockaddr *addr); /* for tests; NULL: address_is_public() */
    /* Further, as in http_client_opts, for the registry's own addresses as well; behind a proxy for
     * addresses in numbers alone. NULL: any. */
    bool (*may_connect)(void *arg, const struct sockaddr *addr);
    void *arg; /* of both */
};

/* Errors: E_INVALID (the proxy of the environment), E_TLS (no such CA). */
int oci_registry_new(const struct oci_registry_opts *opts, struct oci_registry **ret,
                     struct err *err);
/* Requests still running end with -ECANCELED; memory goes after the last one. */
void oci_registry_close(struct oci_registry *reg);

/* ---- one request ---- */

struct oci_request;

struct oci_answer {
    int status; /* below 400, 404, or what else `passes` names */
    const struct headers *headers;
    struct str body; /* when there was no sink */
};

/*
 * Exactly once. r 0: there is an answer, borrowed. Else, with err borrowed: E_DENIED (401, 403),
 * -ENOENT (404), E_UNSUPPORTED (405), E_LIMIT, E_DIGEST (more or fewer bytes than announced),
 * -EAGAIN (429 and 5xx after the last attempt), -ECONNREFUSED (also a proxy that wants another
 * login, 407), -EPROTO (other statuses), -ECANCELED, what the
 * sink returned, and what the HTTP client gives (io/http.h; -EACCES: see allows_private).
 */
typedef void (*oci_request_cb)(void *arg, int r, const struct oci_answer *answer,
                               const struct err *err);

struct oci_request_opts {
    const char *method;
    const char *target;            /* "/v2/...", or a URL or path that the registry gave */
    const char *scope;             /* of the token, blank-separated; NULL: no credentials sent */
    const struct headers *headers; /* copied; NULL: none */
    struct str body;               /* borrowed until the callback */
    /* The body of a 200 goes here, from byte `from` on up to `size` in all; it goes on after a
     * break. NULL: it is gathered, up to OCI_DOCUMENT_MAX. */
    oci_blob_sink sink;
    void *sink_arg;
    uint64_t from, size;
    bool is_part;    /* ask for [from, size) alone; E_UNSUPPORTED: the server knows no ranges */
    bool is_at_most; /* `size` is a bound: the body may end earlier */
    /* Called with the fields of a 206 before its body goes to the sink; a negative code ends the
     * request. The caller asks for ranges by `headers`, and a 200 is E_UNSUPPORTED: with from 0,
     * is_at_most and once. NULL: none. */
    int (*on_ranges)(void *sink_arg, const struct headers *headers, struct err *err);
    /* What was sent must not be sent again blindly: a broken connection or 5xx ends it. */
    bool once;
    bool has_secret; /* in the body: it is not sent to another host, whatever redirects there */
    int passes[4];   /* statuses from 400 on that are an answer; 0: none */
    oci_request_cb cb;
    void *arg;
};

/* Errors: E_INVALID (the target), E_LIMIT. */
int oci_request_start(struct oci_registry *reg, const struct oci_request_opts *opts,
                      struct oci_request **ret, struct err *err);
/* Asks; the callback comes with -ECANCELED. */
void oci_request_cancel(struct oci_request *q);
/* In its callback: did the registry refuse it for now (429, or 503 with Retry-After)? *ret_ms:
 * after which it wants to be asked again; 0: it does not say. */
bool oci_request_is_put_off(const struct oci_request *q, uint64_t *ret_ms);

/* ---- what registries have ---- */

/* The scope of a token: "repository:NAME:pull" or "repository:NAME:pull,push". Given, free(). */
char *oci_registry_scope(const char *repository, bool pushes);

/*
 * A manifest or an index by digest or, when it is NULL, by tag. The answer's body has the digest.
 * Errors: also E_DIGEST.
 */
int oci_registry_manifest(struct oci_registry *reg, const char *repository, const char *tag,
                          const struct oci_digest *digest, const char *scope, oci_request_cb cb,
                          void *arg, struct oci_request **ret, struct err *err);
/*
 * A blob from byte `from` on. Bytes are NOT verified, the caller hashes them; no more than the
 * descriptor's size comes, and exactly that with r 0.
 */
int oci_registry_blob(struct oci_registry *reg, const char *repository,
                      const struct oci_descriptor *d, uint64_t from, const char *scope,
                      oci_blob_sink sink, void *sink_arg, oci_request_cb cb, void *arg,
                      struct oci_request **ret, struct err *err);
/* Is the blob there? The answer's status is 200 or 404. */
int oci_registry_has_blob(struct oci_registry *reg, const char *repository,
                          const struct oci_digest *d, const char *scope, oci_request_cb cb,
                          void *arg, struct oci_request **ret, struct err *err);
/* Put a manifest under `name`, a tag or a digest. */
int oci_registry_put_manifest(struct oci_registry *reg, const char *repository, const char *name,
                              struct str media_type, struct str text, const char *scope,
                              oci_request_cb cb, void *arg, struct oci_request **ret,
                              struct err *err);
