/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where modules come from, and when there is another one.
 *
 *     FILE        a file; its directory is watched, so that a replaced or rewritten file is noticed
 *     CONFIG_MAP  an entry of a ConfigMap's binaryData, followed
 *     URL         fetched once, by HTTP(S) or from a registry ("oci://REFERENCE",
 *                 module_artifact.h); the digest is required, and names it in the cache below the
 *                 data directory, so that nothing is fetched twice
 *
 * A source tells the module as a descriptor: at first, and for files and ConfigMaps after every
 * change. What cannot be had now (no such ConfigMap, a server that does not answer) is told once
 * for each reason and tried again, with back-off, without end. Of an HTTP URL no more is told than
 * that, since whoever may name one need not be allowed to know what this host can reach; the log
 * has the reason. Of a registry it is told that it refuses or lacks something: requests go only to
 * hosts at public addresses and to those that were named to this process. One inotify descriptor
 * serves all files. Loop thread only; callbacks never run inside the function that asked for them.
 *
 * Private modules: what came with credentials is in the cache for those who have the same ones in
 * the same namespace, under a name of its own. Whoever else knows the digest has to fetch it; so
 * has a namespace that was made anew under the name. What came without credentials is for all.
 * Names of files tell nothing of credentials: a secret of the directory is in their hash.
 *
 *     <dir>/.secret                   random, made with the first private module
 *     <dir>/<sha256>.wasm             without credentials
 *     <dir>/<sha256>.<holder>.wasm    with those of this holder, 16 hexadecimal digits
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
    MODULE_SOURCE_REST_MS = 200,         /* after a change: copies write in several steps */
    MODULE_SOURCE_RETRY_FIRST_MS = 1000, /* of a download; doubles */
    MODULE_SOURCE_RETRY_MAX_MS = 300000,
    MODULE_SOURCE_REDIRECTS_MAX = 5,
    MODULE_SOURCE_FETCHES_MAX = 32,    /* downloads at a time; more wait in order */
    MODULE_SOURCE_TENANT_MAX = 4,      /* of them for one namespace, so that servers that hang hold
                                        * up their own */
    MODULE_SOURCE_IDLE_MS = 30000,     /* a download without a byte for so long has failed */
    MODULE_SOURCE_KEPT_BYTES = 1 << 30 /* downloads on disk before the oldest go */
};

struct module_origin {
    enum { MODULE_FROM_FILE, MODULE_FROM_CONFIG_MAP, MODULE_FROM_URL } from;
    const char *path;                   /* FILE */
    const char *namespace, *name, *key; /* CONFIG_MAP; namespace: of URLs too, whose they and their
                                         * credentials are; NULL there: of who runs the process */
    const char *url;                    /* URL */
    const char *sha256;                 /* URL: 64 lower-case digits */
    /*
     * Credentials for the registry of an artifact, from one of these. None: anonymous.
     * pull_secrets: names of Secrets of the namespace, separated by blanks (pull_secrets.h), read
     * for each attempt; auths: configurations that were read already (oci/credentials.h);
     * uses_login: what the user of this process has (modules/module_login.h).
     */
    const char *pull_secrets;
    const struct str *auths;
    size_t n_auths;
    bool uses_login;
};

struct module_sources_opts {
    struct loop *loop;           /* kept */
    struct transport *transport; /* kept; ConfigMaps are read as the host; NULL: there are none */
    struct watch_hub *hub;       /* kept */
    const char *dir;             /* of downloads; exists; copied */
    struct module_site site;     /* what URLs may name; its texts are kept */
};

struct module_source_ops {
    /* fd: given. Not for what module_source_open() returned. */
    void (*on_module)(void *arg, int fd);
    /* It cannot be had now; why, once for each reason until it can. reason: CamelCase. */
    void (*on_trouble)(void *arg, const char *reason, const struct err *err);
};

/* Errors: inotify's. */
int module_sources_new(const struct module_sources_opts *opts, struct module_sources **ret,
                       struct err *err);
/* Every source must be closed. Memory goes when the last download has ended. NULL is fine. */
void module_sources_close(struct module_sources *s);

/*
 * o: copied. Returns the descriptor (given) where it is at hand at once, as files and modules that
 * were fetched before are; -EAGAIN: on_module follows. Other errors: a file that cannot be opened,
 * a URL that is none; *ret is made nevertheless, and a file is still followed.
 */
int module_source_open(struct module_sources *s, const struct module_origin *o,
                       const struct module_source_ops *ops, void *arg, struct module_source **ret,
                       struct err *err);
/* The same again, for the same source; not of a ConfigMap. */
int module_source_again(struct module_source *src, struct err *err);
/* NULL is fine. */
void module_source_close(struct module_source *src);

/*
 * The file below one of these directories (absolute, real paths); symbolic links may not lead out
 * of them. `file`: relative, or absolute. ret: given, free(). Errors: -ENOENT, E_DENIED.
 */
int module_find_file(char *const *dirs, size_t n_dirs, struct str file, char **ret,
                     struct err *err);

/* Whether some name below a directory has changed; for those who look for files by name. */
struct module_dir_watch;
int module_dir_watch_start(struct module_sources *s, const char *dir, void (*run)(void *arg),
                           void *arg, struct module_dir_watch **ret, struct err *err);
void module_dir_watch_stop(struct module_dir_watch *w);

struct module_sources_stats {
    size_t files, directories, downloads_running;
    uint64_t fetched, fetch_failures;
};
void module_sources_get_stats(const struct module_sources *s, struct module_sources_stats *ret);
