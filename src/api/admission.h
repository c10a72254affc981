/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The admission chain: what other objects, rights and policies say about a write.
 *
 * The core turns a body into a stored object (write.c, delete.c) and knows nothing of single kinds.
 * Whatever else has to happen is a stage: a row in a table, registered before the server starts.
 *
 *     core:    -            take          prepare         validate         -          transaction
 *     stages:      READ          TAKEN          PREPARED          VALIDATED    SHAPED    | writes()
 *     admission_begin()                                                                  v
 *         ^                                                                    lost: another
 * attempt
 *         +------------------------------------------------------------------------------+
 *
 * Order. Stages run in the order of their points; within a point in the order of registration. The
 * first refusal ends the write.
 *
 * Attempts. A write that lost against another one is computed again from the newer objects. Each
 * attempt has its own memory (the request's arena is rewound), so admission_begin() asks wanted()
 * again and gives each stage a fresh, zeroed state. What a stage keeps between attempts it keeps in
 * its part of the server, not in the write.
 *
 * Waiting. read(), apply() and lost() may need an answer from the store or from the network. Then
 * they call admission_wait() (admission_get() and admission_list() do that), return NULL, and
 * somebody calls admission_continue() exactly once, from the loop, never before the function has
 * returned. Requests whose client has gone end in request_idle(); then nothing is called any more.
 * A stage that calls another machine has a deadline of its own, below the 34 s that other writes of
 * the object wait in their line.
 *
 * Re-entrancy. admission_run() and admission_lost() return true with the result, or false; after
 * false, and only then, done() is called, once, from the loop. After admission_continue() a stage
 * touches neither the admission nor its state: both may belong to the next attempt.
 *
 * Errors. A stage refuses by returning a Status in the request's arena. Failures of the store
 * become a Status by api_error().
 *
 * Ownership. Everything in struct admission is borrowed from the request, and lives in its arena.
 * Loop thread only.
 */
#pragma once

#include "api/core.h"
#include "kube/model/object.h"
#include "kube/rules/object_rules.h"

struct admission;

enum { ADMISSION_STAGES_MAX = 32 }; /* that are registered for one operation */

enum admission_op {
    ADMISSION_CREATE,
    ADMISSION_UPDATE, /* of the object or a part of it, by PUT or patch */
    ADMISSION_ACTION, /* a body of another kind changes the object: a Binding */
    ADMISSION_DELETE,
    ADMISSION_ASK, /* a subresource that stores nothing itself: Eviction, TokenRequest */
    ADMISSION_OPS
};

/* What is known of the object when a stage runs. */
enum admission_point {
    ADMISSION_READ,      /* nothing but the input. Not a point of apply(): every stage may read */
    ADMISSION_TAKEN,     /* what the client wants (an action: its body); may be changed */
    ADMISSION_PREPARED,  /* with its name, and what the server sets; may be changed */
    ADMISSION_VALIDATED, /* valid; what no client decides may still be set */
    ADMISSION_SHAPED     /* as it will be stored, and may not be changed any more */
};

struct admission_stage {
    const char *name;
    enum admission_point point; /* of apply() */
    unsigned ops;               /* ADMISSION_ON() of those that it is about */
    size_t state_bytes;         /* 0: its functions get NULL */
    /* It is about this write; NULL: always. Called at the beginning of each attempt. */
    bool (*wanted)(void *self, const struct admission *ad);
    /* Before the object is taken; NULL: it needs nothing. */
    struct json *(*read)(void *self, struct admission *ad, void *state);
    /* NULL, or the Status that refuses the write. */
    struct json *(*apply)(void *self, struct admission *ad, void *state);
    /* Append to the transaction; ops has room for STORE_TXN_MAX_OPS in all. E_LIMIT. */
    int (*writes)(void *self, struct admission *ad, void *state, struct store_op *ops, size_t *n,
                  struct err *err);
    /*
     * The transaction failed at the failed_op-th of these operations. NULL: try again, which the
     * stage does not allow for ever (admission.attempt).
     */
    struct json *(*lost)(void *self, struct admission *ad, void *state, size_t failed_op);
    /* Its operations stand before that of the object: what they compare is found to differ first.
     */
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
    uint8_t first_op, n_ops; /* of the transaction */
    void *state;
};

/* One write; zeroed before its first attempt. */
struct admission {
    /* set by the core */
    struct request *rq;
    enum admission_op op;
    bool dry_run;
    struct str name;          /* "" before one is generated */
    enum object_part part;    /* that an update is about */
    const struct json *input; /* body, decoded, or apply configuration; NULL: there is none */
    struct json *obj;         /* NULL: not before ADMISSION_TAKEN, nor of a deletion */
    const struct json *old;   /* NULL: there is none */
    bool removes;             /* a deletion, or an update that ends one */
    unsigned attempt;         /* 0 for the first */
    void (*done)(struct admission *ad, struct json *no);

    /* said by stages */
    bool counted; /* in all quotas that the object belongs to */

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

/* The first, or the next, attempt. */
void admission_begin(struct admission *ad);
/*
 * Run the stages up to and with this point. true: *no is NULL, or the Status that refuses the
 * write. false: one of them waits, and done() will be called with that.
 */
bool admission_run(struct admission *ad, enum admission_point through, struct json **no);
/* Append the operations of those stages whose own stand before that of the object, or behind it. */
int admission_writes(struct admission *ad, bool first, struct store_op *ops, size_t *n,
                     struct err *err);
/* Whether the operation belongs to a stage. */
bool admission_owns(const struct admission *ad, size_t failed_op);
/* Of such an operation: ask the stage, as admission_run(); *no NULL: try again. */
bool admission_lost(struct admission *ad, size_t failed_op, struct json **no);

/* ---- the stages ---- */

static inline void admission_wait(struct admission *ad)
{
    ad->waiting = true;
}
/* no: NULL, or the Status that refuses the write. */
void admission_continue(struct admission *ad, struct json *no);
/*
 * Read one object and go on: *ret is NULL where there is none, or one that cannot be parsed. NULL,
 * or the Status to return.
 */
struct json *admission_get(struct admission *ad, struct str key, struct json **ret);
/*
 * Read all objects with this prefix and go on. take: called for each, false: enough. One that
 * cannot be parsed refuses the write.
 */
typedef bool (*admission_take_fn)(void *arg, const struct store_kv *kv, struct json *v);
struct json *admission_list(struct admission *ad, struct str prefix, admission_take_fn take,
                            void *arg);
/* 403 in the words of upstream's plugins. why: said to the client. */
struct json *admission_forbid(const struct admission *ad, const char *why);
/* The resource in group "" of this name. */
bool admission_is_core(const struct admission *ad, const char *plural);
