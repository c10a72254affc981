/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One awake guest: store, instance, and the state of its host functions.
 *
 * Instances of functions come from a template (template.h) and serve one request at a time
 * (function.h).
 *
 * A guest is called only through instance_call(), which bounds its CPU time. After any failure the
 * instance must be freed: instance_free().
 */
#pragma once

#include "runner/runner.h"
#include "wasm/wasi.h"

struct runner_worker;
struct template;

/*
 * What runs in an instance, for host functions. G1 and G2 stay IDLE.
 *
 *     IDLE <--> SETUP    IDLE <--> ACTIVATION
 */
enum runner_phase { INSTANCE_IDLE, INSTANCE_SETUP, INSTANCE_ACTIVATION };

/*
 * The response of a reactor.
 *
 *     AWAITED --respond()--> BEGUN --trailers()--> ENDED
 */
enum runner_response { RESPONSE_AWAITED, RESPONSE_BEGUN, RESPONSE_ENDED };

/* The request that an instance of a function serves. */
struct runner_instance_request {
    struct str head; /* of a reactor; points into the order */
    struct str body; /* unread part; points into the order, or into: */
    char *kept_body;
    bool body_ended; /* nothing follows `body` */
    enum runner_response response;
    bool is_too_large;
    int64_t credit; /* bytes of the response that may be sent */
    uint64_t left;  /* bytes that the response may still have */
};

struct instance {
    struct wasi_ctx wasi; /* first: the store's data points to it */
    struct runner *runner;
    struct runner_worker *worker; /* the thread that carries out its command */
    struct run_module *module;
    enum guest_abi abi;
    uint32_t incarnation;
    uint64_t guest;
    wasmtime_store_t *store;
    wasmtime_instance_t handle;
    struct dm_store_limits limits;
    uint64_t memory_max;  /* limit of its memory */
    uint64_t limit_bytes; /* for memory and tables */
    bool has_memory;
    wasmtime_func_t entries[ENTRY_COUNT];
    bool is_reactor; /* has ABI_INITIALIZE */

    uint32_t activation_ms;
    uint64_t deadline; /* of the running call, in runner_ticks() */
    uint32_t ops_room;
    uint64_t next_id;
    char *setup_bytes;

    int swap_fd;          /* -1: none yet */
    uint32_t dirty_pages; /* as last counted */
    uint64_t dirty_at_ms; /* when */

    struct buf lines[2]; /* incomplete lines of standard output and error */
    char failed[200];    /* set by the host function that ended the guest */

    /* V1 */
    enum runner_phase phase; /* functions too */
    bool is_parked;          /* in a call; its worker waits */
    enum { V1_UNDECLARED, V1_REFUSED, V1_DECLARED } declared;
    bool log_debug;
    uint64_t token; /* of the activation */
    uint32_t n_posts, n_posted_logs;
    char *declaration; /* until the first record holds it */
    uint32_t declaration_n;
    struct str result; /* the part that result_read() has not read; in the worker, */
    char *kept_result; /* or here, after a slice */

    /* functions */
    struct template *template;
    struct list kept, kept_all; /* in the lists of template and runner, while idle */
    uint32_t kept_pages;        /* pages that it owns then */
    struct runner_instance_request request;
    bool is_late;               /* it used up its CPU time */
    wasmtime_global_t *globals; /* globals_find_all() */
    size_t n_globals;
};

/*
 * Make an instance for `run`, without calling any function in it.
 * ret: given, instance_free(). Errors: E_UNSUPPORTED imports or exports do not fit, -ENOMEM,
 * E_TRAP.
 */
int instance_new(struct runner *r, const struct proto_run *run, struct instance **ret,
                 struct err *err);
void instance_free(struct instance *in);
DEFINE_SCOPED(instance, instance_free)
_Static_assert(offsetof(struct instance, wasi) == 0, "the store's data is a struct wasi_ctx");

/*
 * Set arguments and environment, encoded as proto_setup; kept until the next call. Empty: neither.
 * Errors: as proto_get_setup(); then nothing is changed.
 */
int instance_set_environment(struct instance *in, struct str setup);
/* Call the start function, if the module had one, and the entry point. */
int instance_start(struct instance *in, struct err *err);
/* Functions: the initialisation, once, and then each request; *ret: the result of the handler. */
int instance_init(struct instance *in, struct err *err);
int instance_handle(struct instance *in, uint64_t token, int32_t *ret, struct err *err);
/* Deliver one completion: allocate, copy, wake up. V1: one activation; adds a note with its
 * result. */
int instance_deliver(struct instance *in, const struct proto_delivery *d, struct err *err);
/* Restore the remaining time of the running call after other guests have run. left: from
 * instance_time_left(). */
uint64_t instance_time_left(const struct instance *in);
void instance_go_on(struct instance *in, uint64_t left);
/* Log the incomplete lines; call before the instance is freed. */
void instance_flush_lines(struct instance *in);

/* ---- for host functions ---- */

static inline struct instance *instance_of(wasmtime_caller_t *caller)
{
    return wasmtime_context_get_data(wasmtime_caller_context(caller));
}
/* End the guest with this reason. Returns the trap that the host function must return. */
wasm_trap_t *instance_fail(struct instance *in, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* wasi_bytes(), or end the guest: returns the trap. name: of the host function. */
wasm_trap_t *instance_bytes(struct instance *in, const char *name, const wasmtime_val_raw_t *v,
                            unsigned i, struct str *ret);
/* Add a note for main; false: there is no room for it. */
bool instance_note(struct instance *in, const struct proto_note *note);
/* Log one line of output; a line over the limits is only counted. */
void instance_log(struct instance *in, uint32_t fd, struct str line);

/* Define every function of abi.h in the linker of this ABI. */
int abi_define(wasmtime_linker_t *linker, enum guest_abi abi, struct err *err);
/* Define those of ABI v1 except WASI. */
int v1_define(wasmtime_linker_t *linker, struct err *err);
/* Define those of functions that are reactors. */
int runner_define_function(wasmtime_linker_t *linker, struct err *err);
