/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that a worker knows: their revisions, parsed once and kept while a sandbox exists
 * or the control plane names them.
 *
 *     number (of this term) -> function (by uid) -> revision -> template, env, secrets
 *
 * Loop thread only.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "fn/worker/runtime.h"

enum { REVISIONS_MAX = 100000 }; /* of all functions; more are refused */

struct worker_function;

struct worker_revision {
    struct runtime_revision pub; /* what the runtime sees */
    struct worker_function *function;
    struct runtime *rt;   /* NULL: it cannot be run here, see err */
    struct err *err;      /* why, in `arena`; NULL while rt is set */
    uint32_t n_sandboxes; /* of any state */
    bool is_listed;       /* its function names it; otherwise it is freed with its last sandbox */
    bool is_prepared;     /* prepare() has been called */
    Dormouse__Fn__V1__Revision *m; /* as received; a message that differs is another revision */
    struct arena arena;            /* m, template and env */
};

struct worker_function {
    char *uid, *namespace, *name;
    bool is_listed; /* by the control plane, in this term */
    uint32_t number;
    VEC(struct worker_revision *)
    revisions; /* those with sandboxes are kept even if the control plane no longer names them */
};

struct revisions {
    struct runtime *const *runtimes; /* kept */
    size_t n_runtimes;
    struct map by_uid;    /* struct worker_function */
    struct map by_number; /* 4 bytes -> struct worker_function */
    size_t n;             /* revisions */
};

void revisions_fini(struct revisions *t);
/*
 * A function as the control plane describes it. Errors: E_LIMIT, E_INVALID; it is not added then.
 */
int revisions_put(struct revisions *t, const Dormouse__Fn__V1__Function *f, struct err *err);
void revisions_gone(struct revisions *t, uint32_t number);
/*
 * A new term: numbers are void. Functions are kept for now, since their sandboxes may be adopted.
 */
void revisions_new_term(struct revisions *t);
/* Drops what has not been named since revisions_new_term() and has no sandbox. */
void revisions_sweep(struct revisions *t);
/* NULL: not known. Borrowed until the next change. */
struct worker_revision *revisions_find(const struct revisions *t, uint32_t number,
                                       uint32_t revision);

const struct worker_function *revisions_function(const struct revisions *t, uint32_t number);

/* For each sandbox. The first one starts the runtime's preparation; the last one may end it. */
void revision_ref(struct worker_revision *v);
void revision_unref(struct revisions *t, struct worker_revision *v);
