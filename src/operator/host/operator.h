/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators: each a guest with its operations, made from a spec, replaced and removed at run time.
 *
 *     apply -> PREPARING: fetch, compile -> RUNNING -> (new spec or module) -> the next takes over
 *                    |                         | guest failed: restarted by the guest host with
 *                    v                         | back-off; 3 times in a row while it is new: back
 *              REFUSED: module missing,        | to what ran before it, until spec or module change
 *              does not compile, no ABI        v
 *              that is known               PAUSED, or another host leads: no guest; v1 keeps keys
 *
 * A replacement is prepared while the old generation runs; the old one ends when the new module is
 * compiled and accepted, so that a module that is refused changes nothing: that it was is told
 * beside phase, reason and message, which are those of what runs. With nothing running it is the
 * phase.
 *
 * Where specs come from (Operator objects, a directory) is the business of objects.h and dir.h.
 * Loop thread only.
 */
#pragma once

#include "guest/guest.h"
#include "guest/module.h"
#include "modules/module_source.h"
#include "operator/host/calls.h"
#include "operator/v1/v1.h"

struct operators;
struct operator;

enum {
    OPERATORS_MAX = 20000,
    OPERATOR_ENV_MAX = 128, /* variables */
    OPERATOR_ARGS_MAX = 64,
    OPERATOR_ENV_MAX_BYTES = 64 << 10,
    OPERATOR_CPU_SHARE_MAX = 10000,
    OPERATOR_RATE_MAX = 100000, /* requests per second */
    OPERATOR_BURST_MAX = 1000000,
    OPERATOR_LOG_RATE_MAX = 10000,
    OPERATOR_CRASHES_MAX = 3,       /* in a row, in the first */
    OPERATOR_PROBATION_MS = 300000, /* of a new generation: back to the one before it */
    OPERATOR_LIMIT_REST_MS = 60000, /* a limit that was hit is told again after such a rest */
    OPERATOR_DISK_MS = 10000        /* compiled code that found no room on the disk is made again */
};

enum operator_abi { OPERATOR_ABI_AUTO, OPERATOR_ABI_G1, OPERATOR_ABI_G2, OPERATOR_ABI_V1 };

struct operator_spec {
    const char *namespace, *name;
    const char *uid; /* "" outside of a cluster: the swap file is then named by the name */
    uint64_t generation;
    struct module_origin origin; /* sha256 may be there for any source, and is checked */
    enum operator_abi abi;
    struct guest_env *env;
    size_t n_env;
    struct str *args;
    size_t n_args;
    const char *account;           /* ServiceAccount; NULL: the host's own identity */
    const char *account_namespace; /* NULL: the operator's */
    bool create_account;           /* when it is missing */
    uint64_t memory_max_bytes, swap_max_bytes, activation_ms, idle_ms; /* 0: defaults */
    uint64_t cpu_share;                                                /* weight; 0: default */
    uint64_t requests_per_second, request_burst, log_lines_per_second; /* 0: not bounded */
    struct allow *allow; /* taken by operators_apply() on success; NULL: everything */
    bool paused;
    bool log_debug; /* ABI v1: lines of that level are wanted */
};

enum operator_phase { OPERATOR_PREPARING, OPERATOR_RUNNING, OPERATOR_PAUSED, OPERATOR_REFUSED };

struct operators_opts {
    struct loop *loop;
    const struct calls_env *env;    /* kept */
    struct identities *identities;  /* kept; NULL: every operator acts as the host */
    struct guest_host *guests;      /* kept */
    struct module_cache *modules;   /* kept */
    struct module_sources *sources; /* kept */
    struct guest_logs *logs; /* kept; NULL: what operators log goes to the host's log alone */
    struct v1_host *v1;      /* kept; NULL: guests of ABI v1 are refused */
    bool standby;            /* begin so; see operators_set_standby() */
    /*
     * Something that status shows has changed: phase, reason, restarts. Not for activations, sleep
     * and wake. Runs on a later turn than the change, coalesced; o is valid during the call.
     */
    void (*on_change)(struct operator* o, void *arg);
    void *arg;
};

int operators_new(const struct operators_opts *opts, struct operators **ret, struct err *err);
/* Removes all; done() when nothing of it is left running. */
void operators_close(struct operators *os, void (*done)(void *arg), void *arg);

/*
 * Standby: everything is made ready, modules compiled, and no guest runs. Guests that run end at
 * once, without a last word; they start again when it is over.
 */
void operators_set_standby(struct operators *os, bool standby);

/* Nothing new is begun by guests of ABI v1; before guest_host_drain(). */
void operators_hold(struct operators *os);

/* What operators_apply() checks. Errors: E_LIMIT, E_INVALID (bounds above). */
int operator_spec_check(const struct operator_spec *spec, struct err *err);
/*
 * Add, or replace when it exists; whether anything differs is the caller's to know. Copies the
 * spec. Errors: as operator_spec_check(), E_LIMIT with OPERATORS_MAX operators; then nothing has
 * changed.
 */
int operators_apply(struct operators *os, struct operator_spec *spec, struct err *err);
/* Nothing if it does not exist. */
void operators_remove(struct operators *os, const char *namespace, const char *name);
struct operator*
    operators_find(const struct operators *os, const char *namespace, const char *name);
size_t operators_count(const struct operators *os);
void operators_each(struct operators *os, void (*fn)(struct operator* o, void *arg), void *arg);

/* The limit that was hit last. */
struct operator_limit {
    const char *name; /* "requestsPerSecond"; NULL: none was */
    char message[120];
    uint64_t count, at_ms; /* how often, and when last (loop time) */
};

struct operator_view {
    const char *namespace, *name, *uid;
    uint64_t generation;         /* of the spec that was applied last */
    uint64_t running_generation; /* 0: none */
    enum operator_phase phase;
    const char *reason;   /* CamelCase for conditions: "ModuleInvalid", ... */
    const char *message;  /* "" when all is well */
    const char *returned; /* why an older generation or module runs again; NULL: it does not */
    /* What was to replace what runs, and why it does not; reason NULL: nothing. */
    const char *refused_reason, *refused_message;
    const struct module *module; /* that runs */
    const char *user;            /* as whom it acts; NULL: as the host */
    const char *trouble;         /* why it cannot act as that user; "" when it can */
    const char *denied;          /* what that user was last refused; "": nothing */
    struct operator_limit limit;
    const struct err *kept_awake; /* why it cannot sleep, as of guest_ops; NULL: it can */
    struct guest *guest;          /* NULL unless running */
    const struct calls *calls;    /* beside guest */
    const struct gate *gate;      /* the same */
    const struct v1 *v1;          /* NULL: of another ABI, or it never ran */
};
void operator_view(const struct operator* o, struct operator_view *ret);
/* To listen to; NULL: it is of another ABI, or never ran. */
struct v1_trace *operator_trace(struct operator* o);
const char *operator_phase_name(enum operator_phase phase);
