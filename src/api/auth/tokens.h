/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bearer tokens: the administrator's, those of a file, bootstrap tokens (bootstrap_token.h), and
 * those of ServiceAccounts, which are signed and valid while the account, and the objects that they
 * are bound to, exist.
 *
 * A ServiceAccount's token is checked against the store, so the result may come later. The last few
 * valid tokens are cached: until one of the objects that they depend on is written, and for
 * TOKENS_RECHECK_MS at most, nothing is read again; after that the objects are read again, but the
 * signature is not checked again.
 */
#pragma once

#include "api/admission.h"

enum {
    TOKENS_FILE_MAX_BYTES = 1 << 20,
    TOKENS_CACHE_MAX = 32,
    TOKENS_RECHECK_MS = 10000, /* as long as upstream caches a token */
    TOKEN_AUDIENCES_MAX = 64,
    TOKEN_OBJECTS_MAX = 4, /* that one token depends on */
    TOKEN_MIN_S = 600,     /* the shortest lifetime that can be requested */
    TOKEN_DEFAULT_S = 3600,
    TOKEN_POD_S = 3607, /* the lifetime that kubelets request: such a token is valid for a year */
    TOKEN_POD_EXTENDED_S = 365 * 24 * 3600, /* and says when to renew it */
    TOKEN_LEEWAY_S = 60                     /* allowed difference between two clocks */
};

#define TOKEN_DEFAULT_ISSUER "https://kubernetes.default.svc"

struct tokens;
struct tokens_opts {
    struct api *api;   /* kept */
    struct str admin;  /* the administrator's token; "": none */
    struct str file;   /* CSV: token,user,uid,"group1,group2" */
    struct str sa_key; /* PEM; "": no ServiceAccount tokens */
    struct str issuer; /* "": TOKEN_DEFAULT_ISSUER */
};
/* Errors: E_PARSE with the line of the file; E_INVALID: the key is invalid. */
int tokens_new(const struct tokens_opts *opts, struct tokens **ret, struct err *err);
void tokens_free(struct tokens *t);

struct token_check {
    /* set by the caller */
    struct tokens *tokens;
    struct arena *a;             /* holds the results */
    struct str token;            /* kept until the check has ended */
    const struct str *audiences; /* required audiences; n 0: this server's */
    size_t n_audiences;
    void (*done)(struct token_check *c);
    /* results */
    bool good;
    const char *why; /* for a token of our form; NULL: not one of ours */
    struct kube_identity identity;
    const struct str *good_for; /* the required audiences that the token is meant for */
    size_t n_good_for;
    /* private */
    struct json *claims;
    uint8_t digest[32];
    uint64_t epoch;
    struct str keys[TOKEN_OBJECTS_MAX];
    size_t n_keys;
    unsigned at;
    bool legacy;
};
/* An object was written or deleted: check the tokens that depend on it again. */
struct written;
void tokens_written(struct tokens *t, const struct written *w);
/* true: the result is set. false: done() is called once, from a later turn. */
bool token_check(struct token_check *c);

/* Parameters of a new token of an account; all strings borrowed. */
struct token_request {
    struct str ns, account, account_uid;
    struct str pod, pod_uid, node, node_uid, secret, secret_uid; /* "": none */
    const struct str *audiences;
    size_t n_audiences;
    int64_t now_s, valid_s, warn_after_s; /* warn_after_s 0: no warning */
};
int token_issue(const struct tokens *t, const struct token_request *rq, struct buf *to,
                struct err *err);

bool tokens_can_issue(const struct tokens *t);
struct str tokens_issuer(const struct tokens *t);
struct str tokens_alg(const struct tokens *t); /* only if tokens_can_issue() */
/* The answer of /openid/v1/jwks: the public key. */
struct json *tokens_jwks(struct arena *a, const struct tokens *t);

/* "/registry/PLURAL/NS/NAME"; ns "": cluster-scoped. */
struct str token_object_key(struct arena *a, const char *plural, struct str ns, struct str name);

/*
 * Registers the stage that fills in legacy tokens, which are valid as long as the Secret that holds
 * them.
 */
void tokens_register(struct admission_chain *c);
