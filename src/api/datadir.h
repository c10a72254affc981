/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data directory of a process that runs a cluster: store, keys, the administrator's token.
 *
 *     DIR/                0700
 *       format            "dormouse data 3": marks the directory as ours and tells how to read it
 *       store.db          src/store
 *       pki/ca.crt .key   the cluster's authority, made at first start
 *       pki/server.crt .key .names   certificate of the API, and the names it was made for
 *       pki/sa.key        signs the tokens of ServiceAccounts
 *       admin.token       bearer token of the user "admin" in group system:masters
 *       kubeconfig        for that user, unless another path was asked for
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
    DATADIR_NEW_MIN_BYTES = 2 << 20, /* free space of the disk for a new directory */
    DATADIR_TOKEN_BYTES = 32,
    DATADIR_CERT_DAYS = 365,
    DATADIR_CERT_RENEW_DAYS = 30, /* a certificate that expires sooner is replaced */
    DATADIR_EXTRA_NAMES_MAX = 64, /* given by the user */
    DATADIR_ADDRESSES_MAX = 32    /* of this machine */
};

struct datadir {
    char *path;
    int fd;
    bool is_new;     /* created by this datadir_open() */
    unsigned format; /* as found; lower than DATADIR_FORMAT until datadir_upgraded() */
    struct buf ca_cert, ca_key;
    struct buf server_cert, server_key;
    struct buf sa_key;
    struct buf token;
    int64_t cert_renew_at_s; /* wall clock */
};

/* The names for which the API's certificate is made. */
struct datadir_names {
    const char *host;         /* host on which the API listens */
    const char *const *extra; /* further names and addresses, checked by datadir_check_name() */
    size_t n_extra;           /* DATADIR_EXTRA_NAMES_MAX at most */
};

/* A DNS name ("*.example.org" too) or an address, fit for a certificate. Errors: E_INVALID. */
int datadir_check_name(const char *name, struct err *err);

/*
 * Open or create the directory, and create missing files. The certificate is for the loopback
 * addresses, the machine's name, the names that pods use, those in `names`, and the machine's own
 * addresses if the server listens on all of them. A certificate for other names is replaced.
 * Errors: -EACCES, -EROFS, ...: not writable; -ENOSPC: no room for a new one; -ENOTEMPTY: holds
 * files that are not ours; -EPERM: belongs to another user; E_VERSION: written by a newer program;
 * E_CORRUPT.
 */
int datadir_open(const char *path, const struct datadir_names *names, struct datadir **ret,
                 struct err *err);
void datadir_free(struct datadir *d);
DEFINE_SCOPED(datadir, datadir_free)

/*
 * A first start failed with `r`: if the disk is full, remove the files that this opening and the
 * opening of the store have made. Not to be called if another process uses the directory.
 */
void datadir_undo(struct datadir *d, int r);

/*
 * Record that everything in the directory, including the store, has this format now. It is called
 * last, so that an upgrade that fails, for example on a full disk, leaves a directory that the
 * older program still accepts.
 */
void datadir_upgraded(struct datadir *d);

/*
 * Make a new server certificate if the old one expires soon or is for other names; *ret_replaced:
 * whether it was replaced.
 */
int datadir_renew(struct datadir *d, const struct datadir_names *names, bool *ret_replaced,
                  struct err *err);

/*
 * Write a kubeconfig for the administrator, mode 0600. path NULL: DIR/kubeconfig. On a full or
 * read-only disk a failure is only a warning: a server that cannot start could not delete anything
 * either. ret_path: given, free().
 */
int datadir_write_kubeconfig(const struct datadir *d, const char *path, const char *url,
                             char **ret_path, struct err *err);
/*
 * Append a kubeconfig for any user, in YAML, with a key and a certificate that the directory's
 * authority signs and that is valid for valid_s seconds. Use datadir_open_ca() for the directory of
 * a server that may be running. Errors: -EMSGSIZE: it does not fit into `to`.
 */
struct x509_user;
int datadir_user_kubeconfig(const struct datadir *d, const char *url, const struct x509_user *user,
                            uint64_t valid_s, struct buf *to, struct err *err);
/*
 * Read only what is needed to make users; creates and changes nothing. -ENOENT: no server has used
 * the directory.
 */
int datadir_open_ca(const char *path, struct datadir **ret, struct err *err);
/* "https://127.0.0.1:6443": a wildcard host becomes loopback, IPv6 gets brackets. Given, free(). */
char *datadir_url(const char *host, uint16_t port);
