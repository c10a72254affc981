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
 * A replacement is prepared while the old generation runs. The old one ends when the new module is
 * compiled and accepted, so a refused module changes nothing. The refusal is reported in addition
 * to phase, reason and message, which describe the running generation; if none runs, the refusal is
 * the phase.
 *
 * Specs are supplied by objects.h (Operator objects) and dir.h (a directory). Loop thread only.
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
    OPERATOR_CRASHES_MAX = 3,       /* failures in a row of a new generation */
    OPERATOR_PROBATION_MS = 300000, /* within this time: the previous one returns */
    OPERATOR_LIMIT_REST_MS = 60000, /* least time between two reports of a limit */
    OPERATOR_DISK_MS = 10000 /* before compiled code that found no disk space is built again */
};

enum operator_abi { OPERATOR_ABI_AUTO, OPERATOR_ABI_G1, OPERATOR_ABI_G2, OPERATOR_ABI_V1 };

struct operator_spec {
    const char *namespace, *name;
    const char *uid; /* "" outside of a cluster: then the name is in the swap file's name */
    uint64_t generation;
    struct module_origin origin; /* sha256 is optional for any source, and is checked */
    enum operator_abi abi;
    struct guest_env *env;
    size_t n_env;
    struct str *args;
    size_t n_args;
    const char *account;           /* ServiceAccount; NULL: the host's own identity */
    const char *account_namespace; /* NULL: the operator's */
    bool create_account;           /* if it is missing */
    uint64_t memory_max_bytes, swap_max_bytes, activation_ms, idle_ms; /* 0: defaults */
    uint64_t cpu_share;                                                /* weight; 0: default */
    uint64_t requests_per_second, request_burst, log_lines_per_second; /* 0: not limited */
    struct allow *allow; /* operators_apply() takes it on success; NULL: everything */
    bool paused;
    bool log_debug; /* ABI v1: log lines of debug level too */
};

enum operator_phase { OPERATOR_PREPARING, OPERATOR_RUNNING, OPERATOR_PAUSED, OPERATOR_REFUSED };

struct operators_opts {
    struct loop *loop;
    const struct calls_env *env;    /* kept */
    struct identities *identities;  /* kept; NULL: every operator acts as the host */
    struct guest_host *guests;      /* kept */
    struct module_cache *modules;   /* kept */
    struct module_sources *sources; /* kept */
    struct guest_logs *logs;        /* kept; NULL: operators' log lines only go to the host's log */
    struct v1_host *v1;             /* kept; NULL: guests of ABI v1 are refused */
    bool standby;                   /* start in standby; see operators_set_standby() */
    /*
     * A value that status shows has changed: phase, reason, restarts. Not for activations, sleep
     * and wake. Runs on a later turn than the change; changes are coalesced. o is valid during the
     * call.
     */
    void (*on_change)(struct operator* o, void *arg);
    void *arg;
};

int operators_new(const struct operators_opts *opts, struct operators **ret, struct err *err);
/* Remove all operators; done() runs when all of them have ended. */
void operators_close(struct operators *os, void (*done)(void *arg), void *arg);

/*
 * In standby operators are prepared and modules compiled, but no guest runs. Running guests end at
 * once without a chance to clean up; they start again when standby ends.
 */
void operators_set_standby(struct operators *os, bool standby);

/* Start nothing new in guests of ABI v1; call before guest_host_drain(). */
void operators_hold(struct operators *os);

/* The checks of operators_apply(). Errors: E_LIMIT, E_INVALID (bounds above). */
int operator_spec_check(const struct operator_spec *spec, struct err *err);
/*
 * Add an operator, or replace it if it exists; the caller checks whether anything differs. Copies
 * the spec. Errors: as operator_spec_check(), E_LIMIT with OPERATORS_MAX operators; then nothing
 * has changed.
 */
int operators_apply(struct operators *os, struct operator_spec *spec, struct err *err);
/* Does nothing if it does not exist. */
void operators_remove(struct operators *os, const char *namespace, const char *name);
struct operator*
    operators_find(const struct operators *os, const char *namespace, const char *name);
size_t operators_count(const struct operators *os);
void operators_each(struct operators *os, void (*fn)(struct operator* o, void *arg), void *arg);

/* The limit that was hit most recently. */
struct operator_limit {
    const char *name; /* "requestsPerSecond"; NULL: none was */
    char message[120];
    uint64_t count, at_ms; /* how often, and the latest time (loop time) */
};

struct operator_view {
    const char *namespace, *name, *uid;
    uint64_t generation;         /* of the spec that was applied last */
    uint64_t running_generation; /* 0: none */
    enum operator_phase phase;
    const char *reason;   /* CamelCase for conditions: "ModuleInvalid", ... */
    const char *message;  /* "" if there is no problem */
    const char *returned; /* why an older generation or module runs again; NULL: none does */
    /* Why the replacement for the running generation does not run; reason NULL: there is none. */
    const char *refused_reason, *refused_message;
    const struct module *module; /* the running one */
    const char *user;            /* the user it acts as; NULL: the host's identity */
    const char *trouble;         /* why it cannot act as that user; "" when it can */
    const char *denied;          /* the request that the user was last denied; "": none */
    struct operator_limit limit;
    const struct err *kept_awake;         /* why it cannot sleep (on_kept_awake); NULL: it can */
    struct guest *guest;                  /* NULL unless running */
    const struct calls *calls;            /* set with guest */
    const struct operator_client *client; /* as above */
    const struct v1 *v1;                  /* NULL: of another ABI, or it never ran */
};
void operator_view(const struct operator* o, struct operator_view *ret);
/* To attach tracers; NULL: another ABI, or it never ran. */
struct v1_trace *operator_trace(struct operator* o);
const char *operator_phase_name(enum operator_phase phase);
