/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator's spec asks for, kept as long as something runs by it or may return to it: one
 * block of memory, counted. Used by operator.c alone.
 */
#pragma once

#include "operator/operator.h"

struct plan {
    unsigned refs;
    uint64_t generation;
    const char *uid;
    struct module_origin origin;
    enum operator_abi abi;
    struct guest_env *env;
    size_t n_env;
    struct str *args;
    size_t n_args;
    uint64_t memory_max_bytes, swap_max_bytes, activation_ms, idle_ms, cpu_share;
    uint64_t requests_per_second, request_burst, log_lines_per_second;
    const char *account, *account_namespace; /* NULL: the host's own identity */
    bool create_account, paused, log_debug;
    struct allow *allow;
    _Alignas(16) char text[]; /* the lists and all strings */
};

/* Takes spec->allow, copies the rest. */
struct plan *plan_new(struct operator_spec *spec);
struct plan *plan_ref(struct plan *p);
void plan_unref(struct plan *p); /* NULL is fine */
DEFINE_SCOPED(plan, plan_unref)
