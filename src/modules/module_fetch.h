/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Downloads one module into a file, with a size limit and a digest: by HTTP(S) with redirects and
 * the proxies of the environment (io/fetch_url.h), or from a registry (module_artifact.h). Loop
 * thread only.
 */
#pragma once

#include "base/err.h"
#include "io/fetch_url.h"
#include "io/loop.h"
#include "modules/module_hosts.h"
#include "oci/credentials.h"

struct module_fetch;

/*
 * Runs once, on a later turn, unless cancelled. r 0: the file `path` holds exactly the bytes of the
 * digest, complete and on disk. Errors: E_DIGEST, E_LIMIT, E_DENIED (the server refused by its HTTP
 * status), -EPERM (modules may not be fetched from the URL's host; err says only that), those of
 * module_artifact.h, others, for example a proxy that requires a login. A later attempt may
 * succeed.
 *
 * err is for the host's own log only: its text may describe servers that only the host can reach.
 */
typedef void (*module_fetch_cb)(void *arg, int r, const struct err *err);

struct module_fetch_opts {
    struct loop *loop;
    const char *url, *sha256; /* copied */
    const char *path;         /* of the resulting file; its directory exists; copied */
    uint64_t max_bytes, idle_ms;
    unsigned max_redirects;
    const struct module_site *site; /* kept */
    const struct oci_login *login;  /* for a registry; copied; NULL: anonymous */
};

enum { MODULE_FETCH_PART_S = 3600 };
/*
 * Remove the partial files that killed processes left in a directory: those that were last written
 * more than MODULE_FETCH_PART_S ago.
 */
void module_fetch_tidy(const char *dir);

/* Check that it is a URL of a supported kind. Errors: E_INVALID. */
int module_url_check(const char *url, struct err *err);
/* Errors: E_INVALID, not a URL; of open(2). */
int module_fetch_start(const struct module_fetch_opts *opts, module_fetch_cb cb, void *arg,
                       struct module_fetch **ret, struct err *err);
/* No callback runs afterwards. */
void module_fetch_cancel(struct module_fetch *f);
