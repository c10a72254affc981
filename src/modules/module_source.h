/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of modules, which also report new versions.
 *
 *     FILE        a file; its directory is watched, so that a replaced or rewritten file is noticed
 *     CONFIG_MAP  an entry of a ConfigMap's binaryData, followed
 *     URL         fetched once, by HTTP(S) or from a registry ("oci://REFERENCE",
 *                 module_artifact.h); the digest is required, and names the file in the cache below
 *                 the data directory, so that nothing is fetched twice
 *
 * A source passes the module as a descriptor: first when it is available, and for files and
 * ConfigMaps after every change. A module that is not available now (the ConfigMap is missing, a
 * server does not answer) is reported once for each reason and retried with back-off, without
 * limit. For an HTTP URL the report says only that it is unavailable, since the user who may name a
 * URL need not be allowed to know what this host can reach; the log has the reason. For a registry
 * the report also says whether it refuses or lacks something: requests only go to hosts at public
 * addresses and to hosts that this process was configured with. One inotify descriptor serves all
 * files. Loop thread only; callbacks never run inside the function that started the operation.
 *
 * Private modules: a module that was fetched with credentials is cached under a separate name for
 * users of the same credentials in the same namespace. A user who knows the digest but has other
 * credentials must fetch it; the same holds for a namespace that was deleted and created again. A
 * module that was fetched without credentials is shared by all. File names reveal nothing about
 * credentials: their hash includes a secret of the directory.
 *
 *     <dir>/.secret                   random, created with the first private module
 *     <dir>/<sha256>.wasm             fetched without credentials
 *     <dir>/<sha256>.<holder>.wasm    with the credentials of this holder, 16 hexadecimal digits
 */
#pragma once

#include "base/err.h"
#include "client/watch_hub.h"
#include "io/loop.h"
#include "modules/module_hosts.h"
#include "wasm/module_info.h"

struct module_sources;
struct module_source;

enum {
    MODULE_SOURCE_MAX_BYTES = MODULE_WASM_BYTES_MAX, /* of one module */
    MODULE_SOURCE_REST_MS = 200, /* delay after a change, since copies write in several steps */
    MODULE_SOURCE_RETRY_FIRST_MS = 1000, /* before a download is retried; doubles */
    MODULE_SOURCE_RETRY_MAX_MS = 300000,
    MODULE_SOURCE_REDIRECTS_MAX = 5,
    MODULE_SOURCE_FETCHES_MAX = 32, /* concurrent downloads; further ones wait in order */
    MODULE_SOURCE_TENANT_MAX = 4,   /* of one namespace, which a server that hangs delays */
    MODULE_SOURCE_IDLE_MS = 30000,  /* a download that receives nothing for this long has failed */
    MODULE_SOURCE_KEPT_BYTES = 1 << 30 /* downloads on disk; beyond it the oldest are removed */
};

struct module_origin {
    enum { MODULE_FROM_FILE, MODULE_FROM_CONFIG_MAP, MODULE_FROM_URL } from;
    const char *path;                   /* FILE */
    const char *namespace, *name, *key; /* CONFIG_MAP; namespace: for URLs too, as the owner of the
                                           credentials; NULL there: the user who runs the process */
    const char *url;                    /* URL */
    const char *sha256;                 /* URL: 64 lower-case digits */
    /*
     * Credentials for the registry of an artifact, from one of these; none: anonymous.
     * pull_secrets: names of Secrets of the namespace, separated by blanks (pull_secrets.h), read
     * for each attempt.
     * auths: configurations that were already read (oci/credentials.h).
     * uses_login: the credentials of the user who runs this process (modules/module_login.h).
     */
    const char *pull_secrets;
    const struct str *auths;
    size_t n_auths;
    bool uses_login;
};

struct module_sources_opts {
    struct loop *loop;           /* kept */
    struct transport *transport; /* kept; reads ConfigMaps as the host; NULL: no ConfigMaps */
    struct watch_hub *hub;       /* kept */
    const char *dir;             /* of downloads; must exist; copied */
    struct module_site site;     /* which URLs are allowed; its texts are kept */
};

struct module_source_ops {
    /* fd: given. Does not run for a descriptor that module_source_open() returned. */
    void (*on_module)(void *arg, int fd);
    /*
     * The module is not available now, and why; runs once for each reason until it is available.
     * reason: CamelCase.
     */
    void (*on_trouble)(void *arg, const char *reason, const struct err *err);
};

/* Errors: inotify's. */
int module_sources_new(const struct module_sources_opts *opts, struct module_sources **ret,
                       struct err *err);
/* Every source must be closed. Memory is freed when the last download has ended. NULL is fine. */
void module_sources_close(struct module_sources *s);

/*
 * o: copied. Returns the descriptor (given) if the module is available at once, as for files and
 * modules that were fetched before; -EAGAIN: on_module follows. Other errors: a file that cannot be
 * opened, an invalid URL; *ret is set nevertheless, and a file is still followed.
 */
int module_source_open(struct module_sources *s, const struct module_origin *o,
                       const struct module_source_ops *ops, void *arg, struct module_source **ret,
                       struct err *err);
/* Open the module of the same source again; not for a ConfigMap. */
int module_source_again(struct module_source *src, struct err *err);
/* NULL is fine. */
void module_source_close(struct module_source *src);

/*
 * Find a file below one of these directories (absolute, real paths); symbolic links may not lead
 * outside of them. `file`: relative or absolute. ret: given, free(). Errors: -ENOENT, E_DENIED.
 */
int module_find_file(char *const *dirs, size_t n_dirs, struct str file, char **ret,
                     struct err *err);

/*
 * Watches whether any name below a directory has changed, for callers that look up files by name.
 */
struct module_dir_watch;
int module_dir_watch_start(struct module_sources *s, const char *dir, void (*run)(void *arg),
                           void *arg, struct module_dir_watch **ret, struct err *err);
void module_dir_watch_stop(struct module_dir_watch *w);

struct module_sources_stats {
    size_t files, directories, downloads_running;
    uint64_t fetched, fetch_failures;
};
void module_sources_get_stats(const struct module_sources *s, struct module_sources_stats *ret);
