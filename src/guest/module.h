/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module cache: Wasm in, compiled and verified code out.
 *
 * Content-addressed and on disk: the name of an entry is made of the module's hash, the exact
 * engine build, its configuration, and the machine's instruction set. What is not there is compiled
 * by dormouse-compile, a confined child; whatever goes wrong with it means that the module is
 * rejected. An entry is used only after its hash was verified; a damaged one is compiled again.
 * This process needs no engine.
 *
 * A module that takes noticeable time is compiled twice: quickly, for the requests that wait, then
 * in the background by the optimizing compiler. After that the same struct module has the optimized
 * code and another `generation`; instances that begin later run it. Guests cannot observe the
 * difference, also after hibernation, because their state is memory and globals. Several processes
 * may share a directory.
 *
 * Loop thread only. Hashing and file work run on libuv's worker threads.
 */
#pragma once

#include "io/loop.h"
#include "wasm/module_info.h"

/* Unfinished module_get() calls; each holds a descriptor. A tenant with a name may have half of
 * what the others leave. */
#define MODULE_GETS_MAX 1024u
/* Compiled code on disk before the entries not used for longest go. */
#define MODULE_CACHE_BYTES ((uint64_t)2 << 30)
/* The compiler's CPU time is limited by the module's size; this is for a machine that has none to
 * spare: a module of 59 MB takes 50 s of it. In the background the limit is six times as long. */
#define MODULE_COMPILE_TIMEOUT_MS 600000u
/* Smaller modules are compiled once: 30 ms of CPU. */
#define MODULE_QUICK_FROM_BYTES (24u << 10)
/* Modules that wait for the optimizing compiler, and the bytes of their Wasm on disk. Further
 * modules run quick code until they are requested again. */
#define MODULE_BACKGROUND_MAX       1024u
#define MODULE_BACKGROUND_BYTES_MAX ((uint64_t)1 << 30)
/* So long does background work stand still for others; then it has a slot until one is done. */
#define MODULE_BACKGROUND_AGE_MS 30000u
/* Foreground compilations that may run at once. The last slot takes small modules only. */
#define MODULE_SLOTS_MIN   2u
#define MODULE_SLOTS_MAX   4u
#define MODULE_SMALL_BYTES ((uint64_t)1 << 20)

enum module_get_flags {
    MODULE_KEEP_NAMES = 1 << 0, /* backtraces of this module carry function names */
    MODULE_OPTIMIZED = 1 << 1,  /* no quick code: wait for the optimized code */
};

struct module_want {
    unsigned flags;    /* enum module_get_flags */
    struct str tenant; /* the namespace of the request: tenants take turns; copied */
};

struct module_cache;
struct module_get;

/*
 * One compiled module, counted; equal bytes and flags share one while it is referenced. It holds no
 * descriptor. While it is referenced its file stays in the cache.
 */
struct module {
    uint8_t sha256[32]; /* of the Wasm bytes */
    char hash[65];      /* the same in hex */
    uint64_t wasm_bytes, code_bytes;
    const struct module_info *info; /* owned by the module */
    uint32_t generation;            /* of its code; after a change module_open() opens other code */
    bool is_quick;                  /* not optimized yet */
    bool is_lost;                   /* module_open() found its code gone; see there */
};

struct module *module_ref(struct module *m);
/* NULL is fine. May be called after module_cache_close(). */
void module_unref(struct module *m);
DEFINE_SCOPED(module, module_unref)

/*
 * Open the compiled code, read-only, for dm_engine_module_from_fd().
 *
 * Returns a descriptor (given). Errors: E_EXPIRED when the file is no longer the one that was
 * verified: module_get() of the same bytes makes it again, for all holders of this module;
 * -ECANCELED after module_cache_close(); what open(2) returns.
 */
int module_open(struct module *m, struct err *err);

struct module_cache_config {
    const char *dir;          /* made with mode 0700 if it is missing; its parent must exist */
    const char *compile_path; /* the compiler; NULL: $DORMOUSE_COMPILE, else beside this program */
    bool shares_processes; /* it gets no PID namespace: a script then may end by signals; tests */
    uint64_t max_bytes;    /* 0: MODULE_CACHE_BYTES */
    uint64_t timeout_ms;   /* for one compilation; 0: MODULE_COMPILE_TIMEOUT_MS */
    bool no_background;    /* this process is short-lived: other processes optimize */
};

/* ret: given, module_cache_close(). Errors: -EACCES when somebody else could write to `dir`, others
 * of the file system. That the compiler is there is checked when it is needed. */
int module_cache_new(struct loop *loop, const struct module_cache_config *config,
                     struct module_cache **ret, struct err *err);

/* Ends running compilations; every unfinished module_get() ends with -ECANCELED, then `cb` (may be
 * NULL) runs and the cache is gone. */
void module_cache_close(struct module_cache *cache, void (*cb)(void *arg), void *arg);

/*
 * Runs exactly once, never before module_get() has returned. On success `m` is given
 * (module_unref()) and status is 0; otherwise `m` is NULL, status the error and `err` its text.
 * Errors: E_PARSE, E_UNSUPPORTED, E_LIMIT, E_INVALID the module was refused; -ETIMEDOUT,
 * -ECANCELED; -ENOENT the compiler is missing; others of the file system. It may call anything
 * here.
 */
typedef void (*module_get_cb)(struct module *m, int status, const struct err *err, void *arg);

/*
 * Have a module compiled, or find it in the cache. Compilations are started in the order of fair
 * queueing: each tenant's share is counted in bytes, so a small module passes large ones, and the
 * modules of one tenant delay another tenant at most until the running compilations end.
 *
 * fd:   the Wasm file from offset 0 to its end; duplicated, so the caller may close it at once.
 * want: NULL: no flags, no tenant.
 * ret: may be NULL; for module_get_cancel(), borrowed until `cb` runs.
 * Errors: E_LIMIT with MODULE_GETS_MAX calls, or the tenant's share of them, unfinished: try again
 * when one has finished; -EMFILE; -ECANCELED after module_cache_close().
 */
int module_get(struct module_cache *cache, int fd, const struct module_want *want, module_get_cb cb,
               void *arg, struct module_get **ret, struct err *err);
/* The same for bytes in memory; they are copied. Errors: also E_LIMIT over MODULE_WASM_BYTES_MAX.
 */
int module_get_bytes(struct module_cache *cache, struct str wasm, const struct module_want *want,
                     module_get_cb cb, void *arg, struct module_get **ret, struct err *err);
/* `cb` still comes, with -ECANCELED unless the result is already there. */
void module_get_cancel(struct module_get *get);

struct module_cache_stats {
    uint64_t hits, refused, damaged, evicted;
    uint64_t compiled, quick; /* optimized; quick code made */
    uint64_t unoptimized;     /* modules that the optimizing compiler gave up on */
    uint64_t bytes;           /* on disk */
    /* Now: requests that wait for a compilation, running compilations with such requests, modules
     * that are still to be optimized in the background. */
    unsigned waiting, compiling, background;
};
void module_cache_stats(const struct module_cache *cache, struct module_cache_stats *ret);
