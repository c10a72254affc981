/* SPDX-License-Identifier: Apache-2.0 */
/* Which API server a native operator talks to, and as whom. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* All strings are owned; NULL where there is none. */
struct cluster {
    char *host, *port;
    char *prefix; /* path before every request's, "" usually */
    bool tls, skip_verify;
    char *token;
    char *ca_pem, *cert_pem, *key_pem;
};

/*
 * From the environment: DM_SERVER (URL) with DM_TOKEN and DM_CA_FILE; else the file that KUBECONFIG
 * names, its current context; else the service account of a pod. Returns 0, or -1 with a sentence
 * in `why`.
 */
int cluster_load(struct cluster *c, char *why, size_t why_size);
