/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The credentials with which a machine works as a node of a cluster: those of an earlier start, or
 * new ones that a bootstrap token gets.
 *
 *     the file has a certificate that is valid ------------------------------------> on_done()
 *     else  TRUST:   read cluster-info, unless the CA is given
 *           CERTIFICATE: request it with the token, wait until it is signed
 *           write the file ---------------------------------------------------------> on_done()
 *
 * The file is a kubeconfig with the certificate and its key in it, mode 0600, replaced as a whole:
 * a process that is killed leaves the old or the new one. Loop thread only.
 */
#pragma once

#include "client/kubeconfig.h"
#include "io/loop.h"

struct joining;

struct joining_opts {
    struct loop *loop;
    const char *server;  /* "https://10.0.0.1:6443"; copied, as all strings */
    const char *token;   /* NULL: only the file */
    const char *ca_file; /* PEM: trust this CA, and do not ask; NULL: none */
    const char *ca_hash; /* "sha256:HEX": trust a CA with this key; NULL: none */
    const char *node_name;
    const char *path; /* of the file; its directory exists */
    uint32_t valid_s; /* of the certificate; 0: as long as the cluster gives it */
    /*
     * Once. r 0: config is given (kubeconfig_free()). Else: what is wrong; a server that does not
     * answer is no error, it is asked until it does. joining_stop() may be called from it.
     */
    void (*on_done)(void *arg, int r, struct kubeconfig *config, const struct err *err);
    void *arg;
};

/* Errors: E_INVALID: the URL, the token, the hash; of the CA's file; -ENOENT: there is no file, and
 * no token either. */
int joining_start(const struct joining_opts *opts, struct joining **ret, struct err *err);
/* on_done() does not run any more; done() runs last, from the loop. */
void joining_stop(struct joining *j, void (*done)(void *arg), void *arg);

/* Write such a file: after a renewal, config with the new certificate. */
int joining_write(const char *path, const struct kubeconfig *config, const char *node_name,
                  struct err *err);
