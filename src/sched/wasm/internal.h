/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the plugin host share. Reading order: plugin.c (loading and hooks), pool.c
 * (which instance serves which pod), instance.c (one instance, its failures and its WASI),
 * imports.c (what guests call), state.c (instances made from others), symbols.c (stack traces),
 * host.c (engine and clock), source.c (where modules come from).
 */
#pragma once

#include "base/list.h"
#include "base/map.h"
#include "base/random.h"
#include "base/vec.h"
#include "guest/module.h"
#include "modules/module_reference.h"
#include "sched/wasm/plugin.h"
#include "wasm/wasi.h"

#include <pthread.h>

enum { GENERATION_A, GENERATION_B, GENERATION_COUNT }; /* of the ABI */

enum { HOST_TICK_MS = 10 }; /* epochs, while guests run */

/* A function that guests import, beside those of WASI. */
struct import_row {
    struct engine_func func;
    int generation; /* the only one, or -1 */
};

/* ---- host.c ---- */

struct wplugin_host {
    struct loop *loop;
    struct module_cache *cache;
    struct module_references *references; /* NULL: none come from registries */
    struct list sources;                  /* being read (source.c) */
    wasm_engine_t *engine;                /* with the first plugin */
    wasmtime_linker_t *linkers[GENERATION_COUNT];
    unsigned n_plugins; /* and loads that need the engine */
    unsigned n_loads;
    struct list compiling; /* loads (plugin.c) */
    struct list starts;    /* loads whose start waits for a thread */
    unsigned n_starts;     /* threads */
    /* The thread that advances epochs: it blocks when no guest has run for a while. */
    pthread_t ticker;
    pthread_mutex_t tick_lock;
    pthread_cond_t tick_more;
    bool has_ticker, is_ending;
    _Atomic bool is_asleep, is_interrupted;
    _Atomic uint64_t n_entered, n_left; /* calls */
};

/* Counted; the last whost_release() ends the engine. */
int whost_use(struct wplugin_host *h, struct err *err);
void whost_release(struct wplugin_host *h);
int whost_linker(struct wplugin_host *h, int generation, wasmtime_linker_t **ret, struct err *err);
void whost_enter(struct wplugin_host *h); /* a guest is about to run */
void whost_leave(struct wplugin_host *h);

/* ---- imports.c ---- */

extern const struct import_row wplugin_imports[];
extern const size_t wplugin_n_imports;

/* ---- symbols.c ---- */

struct symbols; /* the types of a module's functions, as stack traces show them */
/* NULL: they are not told. */
struct symbols *symbols_new(struct str wasm);
void symbols_free(struct symbols *t);
/* "(i32,i32) i32"; "" when it is not known. */
const char *symbols_type(const struct symbols *t, uint32_t function);
/* The frames of what failed, without the trailing newline; takes `frames`. */
void symbols_add_frames(const struct symbols *t, struct buf *to,
                        const struct engine_func *failed_in, wasm_frame_vec_t *frames);

/* ---- state.c ---- */

/* Memory and globals at some moment, from which instances can be made. Immutable. */
struct wstate {
    int fd;            /* of the memory; -1: all of it is zeros */
    uint64_t bytes;    /* of the memory */
    uint64_t clock_ms; /* deterministic clock and randomness */
    struct rng rng;
    size_t n_globals;
    wasmtime_val_t globals[];
};

struct winstance;
/* NULL: the module has state elsewhere, or there is no memory. */
struct wstate *wstate_new(struct winstance *in);
void wstate_free(struct wstate *image);
DEFINE_SCOPED(wstate, wstate_free)
/* A fresh instance becomes what the image shows. */
int wstate_apply(const struct wstate *image, struct winstance *in, struct err *err);

/* ---- instance.c ---- */

struct winstance {
    struct wasi_ctx wasi; /* first: the store's data points to it */
    struct list node;     /* plugin->instances: the one used last at the end */
    struct wplugin *plugin;
    wasmtime_store_t *store;
    struct dm_store_limits limits;
    wasmtime_instance_t handle;
    wasmtime_func_t hooks[WPLUGIN_HOOK_COUNT];
    unsigned number; /* of its plugin, from 1 */

    char *key;     /* of its pod; NULL: it has not had any */
    bool is_bound; /* to that pod, whose attempt is not over */
    bool is_busy, is_used;

    /* Of the call under way. */
    const struct wplugin_input *input; /* NULL: none */
    struct wplugin_result *result;
    struct arena *arena; /* what the hook pushes and what it is shown */
    size_t arena_before_bytes;
    struct str node_list, statuses, scores; /* JSON, made when first asked for */
    struct str pushed_names, pushed_scores, pushed_events;
    struct buf output;
    struct buf failed; /* why a host function ended the guest */
    const struct engine_func *failed_in;
    bool has_failed, is_late;

    uint64_t clock_ms; /* deterministic: readings so far */
    struct rng rng;
};

_Static_assert(offsetof(struct winstance, wasi) == 0, "the store's data is a struct wasi_ctx");

static inline struct winstance *winstance_of(wasmtime_caller_t *caller)
{
    return wasmtime_context_get_data(wasmtime_caller_context(caller));
}

/*
 * Make one, from the plugin's image or by initialising it. Errors: a negative code, and the text in
 * `error`.
 */
int winstance_new(struct wplugin *p, const struct wstate *image, struct winstance **ret,
                  struct buf *error);
void winstance_free(struct winstance *in);
DEFINE_SCOPED(winstance, winstance_free)
/* Call an export; false: it failed, and `error` has the text. v: room for one result. */
bool winstance_call(struct winstance *in, const wasmtime_func_t *f, wasmtime_val_raw_t *v,
                    struct buf *error);
bool winstance_set_globals(struct winstance *in, const struct wplugin_input *input,
                           struct buf *error);

/* End the guest with this text, in this function. */
wasm_trap_t *winstance_fail(struct winstance *in, const void *row, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- plugin.c ---- */

struct wplugin {
    struct wplugin_host *host;
    struct wplugin_config config; /* its strings are in the arena; no args */
    struct wasi_strings args;     /* in the arena */
    struct arena arena;
    struct module *module;
    char manifest[OCI_DIGEST_TEXT_SIZE]; /* of the artifact that it is of; "": of none */
    wasmtime_module_t *code;
    wasmtime_instance_pre_t *pre;
    struct symbols *symbols;
    struct wstate *image; /* after initialisation */
    int generation;
    unsigned points;  /* in effect */
    uint32_t exports; /* bits by hook */

    pthread_mutex_t lock; /* of what follows, and of the fields of instances that the pool has */
    pthread_cond_t freed;
    struct list instances;
    unsigned n_instances, n_created;
    uint64_t n_retired;
    struct map lost; /* keys of pods whose instance is gone in the middle of a cycle */
};

static inline bool wplugin_exports(const struct wplugin *p, enum wplugin_hook hook)
{
    return p->exports >> hook & 1;
}

/* A line of the host's own: what, and why. */
void wplugin_log_error(struct wplugin *p, const char *what, struct str why);

/* ---- pool.c ---- */

/*
 * The instance for a pod's hook, which nobody else uses until wpool_give(). *ret_is_lost: the pod
 * had another one before. Errors as winstance_new().
 */
int wpool_take(struct wplugin *p, struct str key, enum wplugin_hook hook, struct winstance **ret,
               bool *ret_is_lost, struct buf *error);
void wpool_give(struct winstance *in, enum wplugin_hook hook);
/* The instance of a pod that has one, for a moment, until wpool_put_back(); NULL. */
struct winstance *wpool_borrow(struct wplugin *p, struct str key);
void wpool_put_back(struct winstance *in);
/* The first one. */
int wpool_fill(struct wplugin *p, struct buf *error);
void wpool_drain(struct wplugin *p);

/* ---- source.c ---- */

/* Exactly once, from the loop. wasm: borrowed; pin: of a module of a registry, NULL else; error:
 * empty if there is none. */
typedef void (*wsource_cb)(void *arg, struct str wasm, const struct module_pin *pin,
                           struct str error);
/* Never calls back before it has returned. */
void wsource_get(struct wplugin_host *host, struct str url, wsource_cb cb, void *arg);
/* Those under way fail soon. */
void wsource_end_all(struct wplugin_host *host);
