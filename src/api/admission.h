/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The admission chain: other objects, rights and policies change or refuse a write.
 *
 * The core turns a body into a stored object (write.c, delete.c) and has no code for single kinds.
 * Everything else is a stage: a row in a table, registered before the server starts.
 *
 *     core:    -            take          prepare         validate         -          transaction
 *     stages:      READ          TAKEN          PREPARED          VALIDATED    SHAPED    | writes()
 *     admission_begin()                                                                  v
 *         ^                                                         conflict: another attempt
 *         +------------------------------------------------------------------------------+
 *
 * Order. Stages run in the order of their points; within a point in the order of registration. The
 * first refusal ends the write.
 *
 * Attempts. A write that conflicted with another one is computed again from the newer objects. Each
 * attempt has its own memory (the request's arena is rewound), so admission_begin() calls wanted()
 * again and gives each stage a fresh, zeroed state. State that a stage keeps between attempts
 * belongs to its part of the server, not to the write.
 *
 * Waiting. read(), apply() and lost() may need an answer from the store or from the network. Then
 * they call admission_wait() (admission_get() and admission_list() do that) and return NULL; the
 * stage's callback calls admission_continue() exactly once, from the loop, never before the
 * function has returned. A request whose client has gone ends in request_idle(); no further
 * function of a stage is called. A stage that calls another machine has a deadline of its own,
 * below the 34 s that other writes of the object wait in their line.
 *
 * Re-entrancy. admission_run() and admission_lost() return true with the result, or false; only
 * after false, done() is called, once, from the loop. After admission_continue() a stage touches
 * neither the admission nor its state: both may belong to the next attempt.
 *
 * Errors. A stage refuses by returning a Status in the request's arena. api_error() turns a failure
 * of the store into a Status.
 *
 * Ownership. Everything in struct admission is borrowed from the request, and lives in its arena.
 * Loop thread only.
 */
#pragma once

#include "api/core.h"
#include "kube/model/object.h"
#include "kube/rules/object_rules.h"

struct admission;

enum { ADMISSION_STAGES_MAX = 32 }; /* registered for one operation */

enum admission_op {
    ADMISSION_CREATE,
    ADMISSION_UPDATE, /* PUT or patch of the object or a part of it */
    ADMISSION_ACTION, /* a body of another kind changes the object, as a Binding does */
    ADMISSION_DELETE,
    ADMISSION_ASK, /* a subresource that itself stores nothing: Eviction, TokenRequest */
    ADMISSION_OPS
};

/* The state of the object when a stage runs. */
enum admission_point {
    ADMISSION_READ,      /* only the input is known. Not a point of apply(): every stage may read */
    ADMISSION_TAKEN,     /* as the client wants it (an action: its body); may be changed */
    ADMISSION_PREPARED,  /* with its name and the fields that the server sets; may be changed */
    ADMISSION_VALIDATED, /* valid; fields that clients cannot set may still be set */
    ADMISSION_SHAPED     /* as it will be stored; must not be changed */
};

struct admission_stage {
    const char *name;
    enum admission_point point; /* of apply() */
    unsigned ops;               /* ADMISSION_ON() of the operations that the stage handles */
    size_t state_bytes;         /* 0: its functions get NULL */
    /* Whether the stage handles this write; NULL: always. Called at the start of each attempt. */
    bool (*wanted)(void *self, const struct admission *ad);
    /* Before the object is taken; NULL: the stage reads nothing. */
    struct json *(*read)(void *self, struct admission *ad, void *state);
    /* NULL, or the Status that refuses the write. */
    struct json *(*apply)(void *self, struct admission *ad, void *state);
    /* Append to the transaction; ops has room for STORE_TXN_MAX_OPS in all. E_LIMIT. */
    int (*writes)(void *self, struct admission *ad, void *state, struct store_op *ops, size_t *n,
                  struct err *err);
    /*
     * The transaction failed at the failed_op-th operation of this stage. NULL: try again; the
     * stage must bound the attempts (admission.attempt).
     */
    struct json *(*lost)(void *self, struct admission *ad, void *state, size_t failed_op);
    /* Its operations precede that of the object, so their comparisons fail first. */
    bool writes_first;
};

#define ADMISSION_ON(op) (1u << (op))

struct admission_row {
    const struct admission_stage *stage;
    void *self;
};
/* The table of one server; zeroed: empty. */
struct admission_chain {
    struct admission_row rows[ADMISSION_OPS][ADMISSION_STAGES_MAX];
    size_t n[ADMISSION_OPS];
};

struct admission_slot {
    bool wanted;
    uint8_t first_op, n_ops; /* in the transaction */
    void *state;
};

/* One write; zeroed before its first attempt. */
struct admission {
    /* set by the core */
    struct request *rq;
    enum admission_op op;
    bool dry_run;
    struct str name;          /* "" until it is generated */
    enum object_part part;    /* the part that an update writes */
    const struct json *input; /* the decoded body, or the apply configuration; NULL: none */
    struct json *obj;         /* NULL before ADMISSION_TAKEN, and for a deletion */
    const struct json *old;   /* NULL: none */
    bool removes;             /* a deletion, or an update that completes one */
    unsigned attempt;         /* 0 for the first */
    void (*done)(struct admission *ad, struct json *no);

    /* set by stages */
    bool counted; /* by all quotas that match the object */

    /* private */
    const struct admission_row *rows;
    size_t n_rows, at;
    struct admission_slot *slots;
    enum admission_point through;
    enum { ADMISSION_READING, ADMISSION_APPLYING, ADMISSION_LOSING } doing;
    bool waiting;
};

/* Before the server starts. stage, self: kept. */
void admission_register(struct admission_chain *c, const struct admission_stage *stage, void *self);

/* ---- the core ---- */

/* Start the first, or the next, attempt. */
void admission_begin(struct admission *ad);
/*
 * Run the stages up to and including this point. true: *no is NULL, or the Status that refuses the
 * write. false: a stage waits, and done() will be called with that value.
 */
bool admission_run(struct admission *ad, enum admission_point through, struct json **no);
/*
 * Append the operations of the stages that precede the object's own operation (first), or follow
 * it.
 */
int admission_writes(struct admission *ad, bool first, struct store_op *ops, size_t *n,
                     struct err *err);
/* Whether the operation belongs to a stage. */
bool admission_owns(const struct admission *ad, size_t failed_op);
/* Ask the stage that owns the failed operation; returns as admission_run(). *no NULL: try again. */
bool admission_lost(struct admission *ad, size_t failed_op, struct json **no);

/* ---- the stages ---- */

static inline void admission_wait(struct admission *ad)
{
    ad->waiting = true;
}
/* no: NULL, or the Status that refuses the write. */
void admission_continue(struct admission *ad, struct json *no);
/*
 * Read one object and continue: *ret is NULL if it is absent or cannot be parsed. Returns NULL, or
 * the Status to return.
 */
struct json *admission_get(struct admission *ad, struct str key, struct json **ret);
/*
 * Read all objects with this prefix and continue. take: called for each; false: stop. An object
 * that cannot be parsed refuses the write.
 */
typedef bool (*admission_take_fn)(void *arg, const struct store_kv *kv, struct json *v);
struct json *admission_list(struct admission *ad, struct str prefix, admission_take_fn take,
                            void *arg);
/* 403 in the words of upstream's plugins. why: shown to the client. */
struct json *admission_forbid(const struct admission *ad, const char *why);
/* Whether the write is to the resource of this name in group "". */
bool admission_is_core(const struct admission *ad, const char *plural);
