/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data directory of a process that makes a cluster: store, keys, the administrator's token.
 *
 *     DIR/                0700
 *       format            "dormouse data 3": says that the directory is ours and how to read it
 *       store.db          src/store
 *       pki/ca.crt .key   the cluster's authority, made at first start
 *       pki/server.crt .key .names   certificate of the API, and the names it was made for
 *       pki/sa.key        signs the tokens of ServiceAccounts
 *       admin.token       bearer token of the user "admin" in group system:masters
 *       kubeconfig        for that user, unless another place was asked for
 *
 * Every file is written whole or not at all.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum {
    DATADIR_FORMAT = 3, /* 2: the store has checksums; 3: and an index of pods by node */
    DATADIR_TOKEN_BYTES = 32,
    DATADIR_CERT_DAYS = 365,
    DATADIR_CERT_RENEW_DAYS = 30, /* a certificate with less left is replaced */
    DATADIR_EXTRA_NAMES_MAX = 64, /* given by the user */
    DATADIR_ADDRESSES_MAX = 32    /* of this machine */
};

struct datadir {
    char *path;
    int fd;
    bool is_new;     /* made by this opening */
    unsigned format; /* as found; lower than DATADIR_FORMAT: datadir_upgraded() is still to come */
    struct buf ca_cert, ca_key;
    struct buf server_cert, server_key;
    struct buf sa_key;
    struct buf token;
    int64_t cert_renew_at_s; /* wall clock */
};

/* The names for which the API's certificate is made. */
struct datadir_names {
    const char *host;         /* what the API listens on */
    const char *const *extra; /* further names and addresses, checked by datadir_check_name() */
    size_t n_extra;           /* DATADIR_EXTRA_NAMES_MAX at most */
};

/* A DNS name ("*.example.org" too) or an address, fit for a certificate. Errors: E_INVALID. */
int datadir_check_name(const char *name, struct err *err);

/*
 * Open or make the directory, and whatever of the above is missing. The certificate is for the
 * loopback addresses, the machine's name, the names that pods use and those in `names`; also for
 * the machine's own addresses where it listens on all of them. One that was made for other names is
 * replaced. Errors: -EACCES, -EROFS, ... not writable; -ENOTEMPTY: has content that is not
 * ours; -EPERM: belongs to another user; E_VERSION: written by a newer program; E_CORRUPT.
 */
int datadir_open(const char *path, const struct datadir_names *names, struct datadir **ret,
                 struct err *err);
void datadir_free(struct datadir *d);
DEFINE_SCOPED(datadir, datadir_free)

/*
 * A first start ends with `r`: if the reason is a full disk, remove what this opening and that of
 * the store have made. Not after another process has found the directory in use.
 */
void datadir_undo(struct datadir *d, int r);

/*
 * Record that everything in the directory, including the store, has this format now. It is called
 * last, so that an upgrade that fails, for example on a full disk, leaves a directory that the
 * older program still accepts.
 */
void datadir_upgraded(struct datadir *d);

/* Make a new server certificate when the old one is near its end, or for other names; true if it
 * was replaced. */
int datadir_renew(struct datadir *d, const struct datadir_names *names, bool *ret_replaced,
                  struct err *err);

/*
 * Write a kubeconfig for the administrator, mode 0600. path NULL: DIR/kubeconfig. On a disk that is
 * full or read-only that is a warning: a server that cannot start could not delete anything either.
 * ret_path: given, free().
 */
int datadir_write_kubeconfig(const struct datadir *d, const char *path, const char *url,
                             char **ret_path, struct err *err);
/*
 * Append a kubeconfig for any user, in YAML, with a key and a certificate of the directory's
 * authority that is good for valid_s seconds. The directory of a server that may be running is
 * opened by datadir_open_ca(). Errors: -EMSGSIZE: it does not fit into `to`.
 */
struct x509_user;
int datadir_user_kubeconfig(const struct datadir *d, const char *url, const struct x509_user *user,
                            uint64_t valid_s, struct buf *to, struct err *err);
/* Only what is needed to make users: nothing is made or changed. -ENOENT: no server has been here.
 */
int datadir_open_ca(const char *path, struct datadir **ret, struct err *err);
/* "https://127.0.0.1:6443": a wildcard host becomes loopback, IPv6 gets brackets. Given, free(). */
char *datadir_url(const char *host, uint16_t port);
