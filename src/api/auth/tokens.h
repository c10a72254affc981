/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bearer tokens: the administrator's, those of a file, and those of ServiceAccounts, which are
 * signed and good for as long as the account, and what they are bound to, are there.
 *
 * A ServiceAccount's token is checked against the store, so its answer may come later. The last few
 * good ones are remembered: until one of the objects they depend on is written, and for ten seconds
 * at most, nothing has to be read again; then the objects are, but the signature still holds.
 */
#pragma once

#include "api/admission.h"

enum {
    TOKENS_FILE_MAX_BYTES = 1 << 20,
    TOKENS_CACHE_MAX = 32,
    TOKENS_RECHECK_MS = 10000, /* as long as upstream believes in a token */
    TOKEN_AUDIENCES_MAX = 64,
    TOKEN_OBJECTS_MAX = 4, /* that one depends on */
    TOKEN_MIN_S = 600,     /* a shorter life is not given */
    TOKEN_DEFAULT_S = 3600,
    TOKEN_POD_S = 3607,                     /* what kubelets ask for: such a token lives a year, */
    TOKEN_POD_EXTENDED_S = 365 * 24 * 3600, /* and says when it should have been renewed */
    TOKEN_LEEWAY_S = 60                     /* between two clocks */
};

#define TOKEN_DEFAULT_ISSUER "https://kubernetes.default.svc"

struct tokens;
struct tokens_opts {
    struct api *api;   /* kept */
    struct str admin;  /* the administrator's; "" none */
    struct str file;   /* CSV: token,user,uid,"group1,group2" */
    struct str sa_key; /* PEM; "": no tokens of ServiceAccounts */
    struct str issuer; /* "": TOKEN_DEFAULT_ISSUER */
};
/* Errors: E_PARSE with the line of the file; E_INVALID for the key. */
int tokens_new(const struct tokens_opts *opts, struct tokens **ret, struct err *err);
void tokens_free(struct tokens *t);

struct token_check {
    /* set by the asker */
    struct tokens *tokens;
    struct arena *a;             /* results live here */
    struct str token;            /* kept until the check is over */
    const struct str *audiences; /* for whom it must be; n 0: for this server */
    size_t n_audiences;
    void (*done)(struct token_check *c);
    /* results */
    bool good;
    const char *why; /* of a token that looked like one of ours; NULL: of an unknown one */
    struct kube_identity identity;
    const struct str *good_for; /* audiences it was asked for and is meant for */
    size_t n_good_for;
    /* own */
    struct json *claims;
    uint8_t digest[32];
    uint64_t epoch;
    struct str keys[TOKEN_OBJECTS_MAX];
    size_t n_keys;
    unsigned at;
    bool legacy;
};
/* An object was written or deleted: tokens that depend on it are looked at again. */
struct written;
void tokens_written(struct tokens *t, const struct written *w);
/* true: the result is there. false: done() comes, once, from a later turn. */
bool token_check(struct token_check *c);

/* A new token of an account; all strings borrowed. */
struct token_request {
    struct str ns, account, account_uid;
    struct str pod, pod_uid, node, node_uid, secret, secret_uid; /* "" none */
    const struct str *audiences;
    size_t n_audiences;
    int64_t now_s, valid_s, warn_after_s; /* warn 0: not */
};
int token_issue(const struct tokens *t, const struct token_request *rq, struct buf *to,
                struct err *err);

bool tokens_can_issue(const struct tokens *t);
struct str tokens_issuer(const struct tokens *t);
struct str tokens_alg(const struct tokens *t); /* of tokens_can_issue() */
/* What /openid/v1/jwks answers: the public key. */
struct json *tokens_jwks(struct arena *a, const struct tokens *t);

/* "/registry/PLURAL/NS/NAME", ns "" for the cluster. */
struct str token_object_key(struct arena *a, const char *plural, struct str ns, struct str name);

/* The stage that puts tokens of the old kind, which live as long as the Secret that holds them. */
void tokens_register(struct admission_chain *c);
