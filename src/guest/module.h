/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module cache: takes Wasm, returns compiled and verified code.
 *
 * Content-addressed and on disk: the name of an entry consists of the module's hash, the exact
 * engine build, its configuration, and the machine's instruction set. A missing entry is compiled
 * by dormouse-compile, a confined child; if the child fails in any way, the module is rejected. An
 * entry is used only after its hash was verified; a damaged one is compiled again. This process
 * needs no engine.
 *
 * A module that takes noticeable time is compiled twice: quickly, for the requests that wait, then
 * in the background by the optimizing compiler. Afterwards the same struct module has the optimized
 * code and another `generation`; instances that start later run it. Guests cannot observe the
 * difference, even after hibernation, because their state is memory and globals. Several processes
 * may share a directory.
 *
 * Loop thread only. Hashing and file work run on libuv's worker threads.
 */
#pragma once

#include "io/loop.h"
#include "wasm/module_info.h"

/*
 * Unfinished module_get() calls; each holds a descriptor. A named tenant may have half of what the
 * others leave.
 */
#define MODULE_GETS_MAX 1024u
/* Compiled code on disk; beyond it the least recently used entries are removed. */
#define MODULE_CACHE_BYTES ((uint64_t)2 << 30)
/*
 * Wall-clock limit of one compilation. The compiler's CPU time is limited by the module's size;
 * this limit is for a machine that is short of CPU: a module of 59 MB takes 50 s of CPU time. In
 * the background the limit is six times as long.
 */
#define MODULE_COMPILE_TIMEOUT_MS 600000u
/* Smaller modules are compiled once: they take 30 ms of CPU. */
#define MODULE_QUICK_FROM_BYTES (24u << 10)
/*
 * Modules that wait for the optimizing compiler, and the bytes of their Wasm on disk. Modules
 * beyond that run quick code until they are requested again.
 */
#define MODULE_BACKGROUND_MAX       1024u
#define MODULE_BACKGROUND_BYTES_MAX ((uint64_t)1 << 30)
/*
 * Background work yields to foreground work for at most this long; then it keeps one slot until one
 * of its compilations has finished.
 */
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
    struct str tenant; /* the namespace of the request: tenants are served in turns; copied */
};

struct module_cache;
struct module_get;

/*
 * One compiled module, counted. While it is referenced, equal bytes with equal flags share one
 * struct, and its file stays in the cache. It holds no descriptor.
 */
struct module {
    uint8_t sha256[32]; /* of the Wasm bytes */
    char hash[65];      /* the same in hex */
    uint64_t wasm_bytes, code_bytes;
    const struct module_info *info; /* owned by the module */
    uint32_t generation; /* of its code; when it changes, module_open() opens other code */
    bool is_quick;       /* not optimized yet */
    bool is_lost;        /* module_open() found its code missing; see there */
};

struct module *module_ref(struct module *m);
/* NULL is fine. May be called after module_cache_close(). */
void module_unref(struct module *m);
DEFINE_SCOPED(module, module_unref)

/*
 * Open the compiled code, read-only, for dm_engine_module_from_fd().
 *
 * Returns a descriptor (given).
 * Errors: E_EXPIRED when the file is no longer the one that was verified: module_get() of the same
 * bytes compiles it again, for all holders of this module; -ECANCELED after module_cache_close();
 * what open(2) returns.
 */
int module_open(struct module *m, struct err *err);

struct module_cache_config {
    const char *dir;          /* created with mode 0700 if missing; its parent must exist */
    const char *compile_path; /* the compiler; NULL: $DORMOUSE_COMPILE, else beside this program */
    bool shares_processes;    /* for tests: no PID namespace, so a script may end by signals */
    uint64_t max_bytes;       /* 0: MODULE_CACHE_BYTES */
    uint64_t timeout_ms;      /* for one compilation; 0: MODULE_COMPILE_TIMEOUT_MS */
    bool no_background;       /* this process is short-lived: leave optimizing to other processes */
};

/*
 * ret: given, module_cache_close().
 * Errors: -EACCES when another user could write to `dir`; others of the file system. The compiler's
 * path is checked at the first compilation.
 */
int module_cache_new(struct loop *loop, const struct module_cache_config *config,
                     struct module_cache **ret, struct err *err);

/*
 * End running compilations. Every unfinished module_get() ends with -ECANCELED, then `cb` (may be
 * NULL) runs and the cache is freed.
 */
void module_cache_close(struct module_cache *cache, void (*cb)(void *arg), void *arg);

/*
 * Runs exactly once, never before module_get() has returned. On success `m` is given
 * (module_unref()) and status is 0; otherwise `m` is NULL, status is the error and `err` its text.
 * Errors: E_PARSE, E_UNSUPPORTED, E_LIMIT, E_INVALID: the module was refused; -ETIMEDOUT;
 * -ECANCELED; -ENOENT: the compiler is missing; others of the file system. May call any function of
 * this header.
 */
typedef void (*module_get_cb)(struct module *m, int status, const struct err *err, void *arg);

/*
 * Compile a module, or find it in the cache. Compilations start in the order of fair queueing: each
 * tenant's share is counted in bytes, so a small module passes large ones, and the modules of one
 * tenant delay another tenant at most until the running compilations end.
 *
 * fd:   the Wasm file from offset 0 to its end; duplicated, so the caller may close it at once.
 * want: NULL: no flags, no tenant.
 * ret:  may be NULL; for module_get_cancel(), borrowed until `cb` runs.
 * Errors: E_LIMIT when MODULE_GETS_MAX calls, or the tenant's share of them, are unfinished: try
 * again when one has finished; -EMFILE; -ECANCELED after module_cache_close().
 */
int module_get(struct module_cache *cache, int fd, const struct module_want *want, module_get_cb cb,
               void *arg, struct module_get **ret, struct err *err);
/*
 * As module_get(), for bytes in memory; they are copied. Errors: also E_LIMIT over
 * MODULE_WASM_BYTES_MAX.
 */
int module_get_bytes(struct module_cache *cache, struct str wasm, const struct module_want *want,
                     module_get_cb cb, void *arg, struct module_get **ret, struct err *err);
/* `cb` still runs, with -ECANCELED unless the result is already known. */
void module_get_cancel(struct module_get *get);

struct module_cache_stats {
    uint64_t hits, refused, damaged, evicted;
    uint64_t compiled, quick; /* optimized; quick code made */
    uint64_t unoptimized;     /* modules that the optimizing compiler gave up on */
    uint64_t bytes;           /* on disk */
    /*
     * Current counts: requests that wait for a compilation, running compilations that requests wait
     * for, modules that still wait to be optimized in the background.
     */
    unsigned waiting, compiling, background;
};
void module_cache_stats(const struct module_cache *cache, struct module_cache_stats *ret);
