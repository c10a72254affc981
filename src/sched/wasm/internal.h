/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the plugin host share. Reading order: plugin.c (loading and hooks), pool.c
 * (which instance serves which pod), instance.c (one instance, its failures and its WASI),
 * imports.c (functions that guests call), state.c (instances made from others), symbols.c (stack
 * traces), host.c (engine and clock), source.c (loads modules).
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

/* A function that guests import, besides those of WASI. */
struct import_row {
    struct engine_func func;
    int generation; /* the only one, or -1 */
};

/* ---- host.c ---- */

struct wplugin_host {
    struct loop *loop;
    struct module_cache *cache;
    struct module_references *references; /* NULL: no plugins from registries */
    struct list sources;                  /* sources being read (source.c) */
    wasm_engine_t *engine;                /* created with the first plugin */
    wasmtime_linker_t *linkers[GENERATION_COUNT];
    unsigned n_plugins; /* plugins, and loads that need the engine */
    unsigned n_loads;
    struct list compiling; /* loads (plugin.c) */
    struct list starts;    /* loads that wait for a free start thread */
    unsigned n_starts;     /* threads */
    /* The thread that advances epochs; it blocks when no guest has run for a while. */
    pthread_t ticker;
    pthread_mutex_t tick_lock;
    pthread_cond_t tick_more;
    bool has_ticker, is_ending;
    _Atomic bool is_asleep, is_interrupted;
    _Atomic uint64_t n_entered, n_left; /* calls entered and left */
};

/* Counted; the last whost_release() frees the engine. */
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
/* NULL: the types are not available. */
struct symbols *symbols_new(struct str wasm);
void symbols_free(struct symbols *t);
/* "(i32,i32) i32"; "" if unknown. */
const char *symbols_type(const struct symbols *t, uint32_t function);
/* Adds the frames of a failure, without the trailing newline; takes `frames`. */
void symbols_add_frames(const struct symbols *t, struct buf *to,
                        const struct engine_func *failed_in, wasm_frame_vec_t *frames);

/* ---- state.c ---- */

/* A snapshot of memory and globals from which instances can be made. Immutable. */
struct wstate {
    int fd;            /* of the memory; -1: all zeros */
    uint64_t bytes;    /* of the memory */
    uint64_t clock_ms; /* deterministic clock and randomness */
    struct rng rng;
    size_t n_globals;
    wasmtime_val_t globals[];
};

struct winstance;
/* NULL: the module has other state as well, or its memory could not be saved. */
struct wstate *wstate_new(struct winstance *in);
void wstate_free(struct wstate *image);
DEFINE_SCOPED(wstate, wstate_free)
/* Sets a new instance to the state of the image. */
int wstate_apply(const struct wstate *image, struct winstance *in, struct err *err);

/* ---- instance.c ---- */

/* Changed by pool.c, with the plugin's lock held; see there. */
enum winstance_at {
    WINSTANCE_FREE,
    WINSTANCE_BOUND,       /* to the pod of its key, whose attempt is not over */
    WINSTANCE_CALLED,      /* in a call, and not bound */
    WINSTANCE_CALLED_BOUND /* in a call, and bound */
};

/* How the last call ended. After one of the others the guest is not called again. */
enum winstance_outcome {
    WINSTANCE_RETURNED,
    WINSTANCE_REFUSED, /* a host function has ended the guest: winstance_fail() */
    WINSTANCE_LATE,    /* it exceeded the time limit */
    WINSTANCE_TRAPPED  /* or has exited, or could not be called */
};

struct winstance {
    struct wasi_ctx wasi; /* first: the store's data points to it */
    struct list node;     /* plugin->instances: most recently used last */
    struct wplugin *plugin;
    wasmtime_store_t *store;
    struct dm_store_limits limits;
    wasmtime_instance_t handle;
    wasmtime_func_t hooks[WPLUGIN_HOOK_COUNT];
    unsigned number; /* number within its plugin, from 1 */

    char *key; /* of its pod, or of the last one; NULL: it has had none yet */
    enum winstance_at at;
    bool is_used; /* it was called since it was made */

    /* Of the call under way. */
    const struct wplugin_input *input; /* NULL: none */
    struct wplugin_result *result;
    struct arena *arena; /* for what the hook pushes and reads */
    size_t arena_before_bytes;
    struct str node_list, statuses, scores; /* JSON, made at the first request */
    struct str pushed_names, pushed_scores, pushed_events;
    struct buf output;
    struct buf failed; /* the reason why a host function ended the guest */
    const struct engine_func *failed_in;
    enum winstance_outcome outcome;

    uint64_t clock_ms; /* deterministic: readings so far */
    struct rng rng;
};

_Static_assert(offsetof(struct winstance, wasi) == 0, "the store's data is a struct wasi_ctx");

static inline struct winstance *winstance_of(wasmtime_caller_t *caller)
{
    return wasmtime_context_get_data(wasmtime_caller_context(caller));
}

/*
 * Creates an instance, from the plugin's image or by initialising it. Errors: a negative code, and
 * the text in `error`.
 */
int winstance_new(struct wplugin *p, const struct wstate *image, struct winstance **ret,
                  struct buf *error);
void winstance_free(struct winstance *in);
DEFINE_SCOPED(winstance, winstance_free)
/* Calls an export; returns false on failure, with the text in `error`. v: room for one result. */
bool winstance_call(struct winstance *in, const wasmtime_func_t *f, wasmtime_val_raw_t *v,
                    struct buf *error);
bool winstance_set_globals(struct winstance *in, const struct wplugin_input *input,
                           struct buf *error);

/* Ends the guest with this text, in this function. */
wasm_trap_t *winstance_fail(struct winstance *in, const void *row, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- plugin.c ---- */

struct wplugin {
    struct wplugin_host *host;
    struct wplugin_config config; /* its strings are in the arena; no args */
    struct wasi_strings args;     /* in the arena */
    struct arena arena;
    struct module *module;
    char manifest[OCI_DIGEST_TEXT_SIZE]; /* of the artifact that it is from; "": none */
    wasmtime_module_t *code;
    wasmtime_instance_pre_t *pre;
    struct symbols *symbols;
    struct wstate *image; /* after initialisation */
    int generation;
    unsigned points;  /* in effect */
    uint32_t exports; /* bits by hook */

    /* protects the fields below, and the fields of instances that belong to the pool */
    pthread_mutex_t lock;
    pthread_cond_t freed;
    struct list instances;
    unsigned n_instances, n_created;
    uint64_t n_retired;
    struct map lost; /* keys of pods whose instance was lost in the middle of a cycle */
};

static inline bool wplugin_exports(const struct wplugin *p, enum wplugin_hook hook)
{
    return p->exports >> hook & 1;
}

/* Logs a line of the host's own. */
void wplugin_log_error(struct wplugin *p, const char *what, struct str why);

/* ---- pool.c ---- */

/*
 * The instance for a pod's hook, exclusive until wpool_give(). *ret_is_lost: the pod had another
 * instance before. Errors: as winstance_new().
 */
int wpool_take(struct wplugin *p, struct str key, enum wplugin_hook hook, struct winstance **ret,
               bool *ret_is_lost, struct buf *error);
void wpool_give(struct winstance *in, enum wplugin_hook hook);
/* Borrows the instance of a pod until wpool_put_back(); NULL: it has none. */
struct winstance *wpool_borrow(struct wplugin *p, struct str key);
void wpool_put_back(struct winstance *in);
/* Creates the first instance. */
int wpool_fill(struct wplugin *p, struct buf *error);
void wpool_drain(struct wplugin *p);

/* ---- source.c ---- */

/*
 * Called exactly once, from the loop. wasm: borrowed; pin: for a module from a registry, else NULL;
 * error: empty on success.
 */
typedef void (*wsource_cb)(void *arg, struct str wasm, const struct module_pin *pin,
                           struct str error);
/* Does not call back before it has returned. */
void wsource_get(struct wplugin_host *host, struct str url, wsource_cb cb, void *arg);
/* Makes the reads under way fail soon. */
void wsource_end_all(struct wplugin_host *host);
