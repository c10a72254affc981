/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a plugin: a code, and the reasons that users read. Upstream: fwk.Status. */
#pragma once

#include "base/mem.h"
#include "base/str.h"

enum sched_code {
    SCHED_SUCCESS,
    SCHED_ERROR,         /* the attempt failed; the pod is tried again */
    SCHED_UNSCHEDULABLE, /* refused; preemption may help */
    SCHED_UNRESOLVABLE,  /* ...AndUnresolvable: preemption does not help */
    SCHED_WAIT,          /* permit */
    SCHED_SKIP,
    SCHED_PENDING, /* waits for something external */
};

/*
 * NULL is success. Lives in the arena of the cycle, or is static: a refusal with a fixed text is a
 * constant, which costs nothing for each node.
 */
struct sched_status {
    enum sched_code code;
    const struct str *reasons;
    uint32_t n_reasons;
    struct str plugin; /* set by the framework where the plugin left it empty */
};

#define SCHED_STATUS_CONST(name, code_, text)                                                      \
    static const struct str name##_reason = { "" text, sizeof(text) - 1 };                         \
    static const struct sched_status name = { .code = (code_),                                     \
                                              .reasons = &name##_reason,                           \
                                              .n_reasons = 1 }

static inline enum sched_code sched_code(const struct sched_status *s)
{
    return s ? s->code : SCHED_SUCCESS;
}
static inline bool sched_is_rejected(const struct sched_status *s)
{
    enum sched_code c = sched_code(s);
    return c == SCHED_UNSCHEDULABLE || c == SCHED_UNRESOLVABLE || c == SCHED_PENDING;
}
/* A status with one reason, formatted as by printf. */
const struct sched_status *sched_status(struct arena *a, enum sched_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
const struct sched_status *sched_status_of(struct arena *a, enum sched_code code,
                                           const struct str *reasons, size_t n);
/* Sets the plugin's name if it has none: returns `s` itself, or a copy. NULL for NULL. */
const struct sched_status *sched_status_by(struct arena *a, const struct sched_status *s,
                                           struct str plugin);
/* Reasons joined by ", ". */
struct str sched_status_message(struct arena *a, const struct sched_status *s);
/* "Unschedulable", "UnschedulableAndUnresolvable", ... */
const char *sched_code_name(enum sched_code code);
