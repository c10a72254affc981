/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One download of a module into a file: HTTP(S), redirects, proxies of the environment
 * (io/fetch_url.h), or a registry (module_artifact.h); size limit, digest. Loop thread only.
 */
#pragma once

#include "base/err.h"
#include "io/fetch_url.h"
#include "io/loop.h"
#include "modules/module_hosts.h"
#include "oci/credentials.h"

struct module_fetch;

/*
 * Once, on a later turn, unless cancelled. r 0: the file `path` holds exactly the bytes of the
 * digest, complete and on disk. Errors: E_DIGEST, E_LIMIT, E_DENIED (an HTTP status of the
 * server that says no), -EPERM (modules may not come from the URL's host; err tells nothing but
 * that), those of module_artifact.h, others, as a proxy that wants a login: it may work the next
 * time.
 * What err says is for the host's own log: it tells of servers that only the host can reach.
 */
typedef void (*module_fetch_cb)(void *arg, int r, const struct err *err);

struct module_fetch_opts {
    struct loop *loop;
    const char *url, *sha256; /* copied */
    const char *path;         /* of the file to be; its directory exists; copied */
    uint64_t max_bytes, idle_ms;
    unsigned max_redirects;
    const struct module_site *site; /* kept */
    const struct oci_login *login;  /* for a registry; copied; NULL: anonymous */
};

enum { MODULE_FETCH_PART_S = 3600 };
/* Remove what downloads of processes that were killed left in a directory: partial files that
 * nothing was written to for MODULE_FETCH_PART_S. */
void module_fetch_tidy(const char *dir);

/* Is it a URL of any of these kinds? E_INVALID. */
int module_url_check(const char *url, struct err *err);
/* Errors: E_INVALID the URL is none, what open(2) says. */
int module_fetch_start(const struct module_fetch_opts *opts, module_fetch_cb cb, void *arg,
                       struct module_fetch **ret, struct err *err);
/* No callback comes any more. */
void module_fetch_cancel(struct module_fetch *f);
