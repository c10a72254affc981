/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators: each a guest with its operations, made from a spec, replaced and removed at run time.
 *
 *     apply -> FETCHING -> PREPARING -> RUNNING -> (new generation) -> the next one takes over
 *                 |           |            |
 *                 v           v            v guest failed: restarted by the guest host with
 * back-off REFUSED: module missing, does not compile, unknown ABI: until it is applied again
 *
 * A replacement is prepared while the old generation runs; the old one ends when the new module is
 * compiled and accepted, so that a module that is refused changes nothing but phase, reason and
 * message.
 *
 * Where specs come from (Operator objects, a directory) is the business of objects.h and dir.h.
 * Loop thread only.
 */
#pragma once

#include "operator/calls.h"
#include "wasm/guest.h"
#include "wasm/module.h"

struct operators;
struct operator;

enum {
    OPERATORS_MAX = 20000,
    OPERATOR_ENV_MAX = 128, /* variables */
    OPERATOR_ARGS_MAX = 64,
    OPERATOR_ENV_MAX_BYTES = 64 << 10
};

struct operator_spec {
    const char *namespace, *name;
    const char *uid; /* "" outside of a cluster: the swap file is then named by the name */
    uint64_t generation;
    const char *module_path; /* Wasm file */
    enum { OPERATOR_ABI_AUTO, OPERATOR_ABI_G1, OPERATOR_ABI_G2 } abi;
    struct guest_env *env;
    size_t n_env;
    struct str *args;
    size_t n_args;
    uint64_t memory_max_bytes, activation_ms, idle_ms; /* 0: defaults */
    struct allow *allow; /* taken by operators_apply() on success; NULL: everything */
    bool paused;
};

enum operator_phase { OPERATOR_PREPARING, OPERATOR_RUNNING, OPERATOR_PAUSED, OPERATOR_REFUSED };

struct operators_opts {
    struct loop *loop;
    const struct calls_env *env;  /* kept */
    struct guest_host *guests;    /* kept */
    struct module_cache *modules; /* kept */
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

struct operator_view {
    const char *namespace, *name, *uid;
    uint64_t generation;         /* of the spec that was applied last */
    uint64_t running_generation; /* 0: none */
    enum operator_phase phase;
    const char *reason;        /* CamelCase for conditions: "ModuleInvalid", ... */
    const char *message;       /* "" when all is well */
    struct guest *guest;       /* NULL unless running */
    const struct calls *calls; /* beside guest */
};
void operator_view(const struct operator* o, struct operator_view *ret);
const char *operator_phase_name(enum operator_phase phase);
