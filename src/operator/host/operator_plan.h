/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operator's spec in compact form, kept while a generation runs by it or may be returned to: one
 * block of memory, counted, as small as possible, since thousands are held. Only for operator.c.
 */
#pragma once

#include "operator/host/operator.h"

/* A text of the spec; absent ones are NULL. */
enum operator_plan_text {
    PLAN_UID,
    PLAN_ACCOUNT,           /* NULL: the host's own identity */
    PLAN_ACCOUNT_NAMESPACE, /* NULL: the operator's */
    PLAN_PATH,              /* from here on: of the origin */
    PLAN_MAP_NAMESPACE,
    PLAN_MAP_NAME,
    PLAN_MAP_KEY,
    PLAN_URL,
    PLAN_SHA256,
    PLAN_PULL_SECRETS,
    PLAN_TEXTS
};

struct operator_plan {
    unsigned refs;
    uint8_t from, abi; /* of the origin; enum operator_abi */
    uint16_t has;      /* 1 << enum operator_plan_text */
    uint64_t generation;
    uint64_t memory_max_bytes, swap_max_bytes, activation_ms, idle_ms;
    uint32_t cpu_share, requests_per_second, request_burst, log_lines_per_second;
    bool create_account, paused, log_debug;
    bool uses_login; /* of the origin */
    uint8_t n_args;
    uint16_t n_env;
    uint32_t lists_at, lists_n; /* environment and arguments in text */
    struct allow *allow;
    char text[]; /* texts with a NUL each; then a length and the bytes for each of the lists */
};

/* Borrowed; found by a scan of the texts. */
const char *operator_plan_text(const struct operator_plan *p, enum operator_plan_text which);
struct module_origin operator_plan_origin(const struct operator_plan *p);
/* In the arena; their texts are borrowed. */
struct guest_env *operator_plan_env(const struct operator_plan *p, struct arena *a);
struct str *operator_plan_args(const struct operator_plan *p, struct arena *a);

/* Takes spec->allow, copies the rest. */
struct operator_plan *operator_plan_new(struct operator_spec *spec);
struct operator_plan *operator_plan_ref(struct operator_plan *p);
void operator_plan_unref(struct operator_plan *p); /* NULL is fine */
DEFINE_SCOPED(operator_plan, operator_plan_unref)
