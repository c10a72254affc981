/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runner processes: starts, feeds, watches and ends them. Knows tenants and the order in which
 * commands are answered; what a guest is, is its user's business (guest.c).
 *
 *                 spawn             HELLO                 last tenant gone, linger
 *     (none) ------------> STARTING ------> SERVING --------------------------> CLOSING --> reaped
 *                              |               | end of the socket, nonsense,       ^
 *                              |               | silence                            |
 *                              `---------------`------------------------------------'
 *
 * A process has one pool, and in it a class for each kind of user: operators and functions. A
 * runner has tenants of one class alone, and each class has its own limits, back-off and counts, so
 * that neither queues behind the other, or ends with it. Program, watchdog, message buffers and
 * memory group are the pool's.
 *
 * The first runner of a class shares main's core, each further one has its own and is started only
 * when commands have queued for a while, more than a burst lasts. A runner takes turns as proto.h
 * says: a message out of turn, or one that its user rejects, ends it. When a runner is gone each
 * tenant hears of it once, and is nowhere then.
 *
 * Loop thread only; callbacks run from the loop, never inside a call made on the pool.
 */
#pragma once

#include "guest/module.h"
#include "io/loop.h"
#include "wasm/proto.h"

enum {
    RUNNER_COMMANDS_MAX = 32,      /* unanswered commands of one runner; the rest waits here */
    RUNNER_PARKED_MAX = 64,        /* commands of one runner that are parked, or could be: each
                                    * needs a thread of it */
    RUNNER_COMMANDS_DEEP = 8,      /* so many wait, */
    RUNNER_DEEP_MS = 20,           /* for so long: a further runner pays off */
    RUNNER_TENANTS_MAX = 4096,     /* 4 mappings each, of 65,530 that a process may have */
    RUNNER_MODULES_IDLE_MAX = 128, /* loaded modules without tenants that are kept: 10 KiB each, and
                                    * 40 us to load again */
    RUNNER_LINGER_MS = 2000,       /* without tenants, before it ends */
    RUNNER_SILENT_MS = 30000,      /* beyond the CPU time that its command may take */
    RUNNER_START_BACKOFF_MS =
        500 /* after one that died before it said HELLO; doubles, up to 64 times */
};

/* Whom a guest shares its runner with. */
enum runner_share {
    RUNNER_SHARED, /* everybody who is quick */
    RUNNER_SLOW, /* others that are slow, on another core if there is one, behind everybody else */
    RUNNER_ALONE /* nobody, now or later, until pool_mingle() */
};

struct pool_runner;
struct runner_pool;
struct runner_class;
struct pool_module;

/* One guest in a runner; embedded by the user, zero-initialised. */
struct tenant {
    struct pool_runner *runner; /* NULL: nowhere */
    struct list node;           /* of the runner's tenants */
    struct pool_command *sent;  /* the command in flight, if any */
    struct pool_module *module;
    uint32_t slot;
    bool may_park; /* its commands may make calls; set by the user before pool_place() */
};

enum tenant_lost {
    LOST_RUNNING, /* its command was being carried out */
    LOST_PARKED,  /* its command had begun, and then waited for a reply or for its turn */
    LOST_WAITING, /* its command had not begun */
    LOST_RESTING, /* it had none */
    LOST_AT_START /* the runner did not come up: nothing of this tenant had begun */
};

struct runner_class_ops {
    /* `a` answers the command of `t`. A negative result ends the runner. */
    int (*on_answer)(struct tenant *t, const struct proto_answer *a, struct err *err);
    /* CALL: the command of `t` is parked until pool_reply(), which may be called at once.
     * NOTES (is_call false): it goes on. As above. */
    int (*on_call)(struct tenant *t, const struct proto_call *c, bool is_call, struct err *err);
    /* t->runner is NULL already. */
    void (*on_lost)(struct tenant *t, enum tenant_lost how, const struct err *why);
    /* pool_place() or pool_can_send() may have another answer now. */
    void (*on_room)(void *arg);
};

struct runner_class_opts {
    unsigned max_runners; /* 0: one per core */
    unsigned parked_max;  /* 0: RUNNER_PARKED_MAX */
};

struct runner_class_stats {
    unsigned runners, commands; /* commands: without an answer yet */
    uint64_t starts, losses;
    uint32_t confined; /* as in struct confine_report; 0 before the first runner */
};

/* Starts no process. runner_path: copied; NULL: $DORMOUSE_RUNNER, else "dormouse-runner" beside our
 * own program. */
struct runner_pool *pool_new(struct loop *loop, const char *runner_path);
/* Every class is closed; NULL is fine. */
void pool_free(struct runner_pool *p);
const char *pool_runner_path(const struct runner_pool *p);

/* p, ops: kept until the class is closed. */
struct runner_class *pool_open_class(struct runner_pool *p, const struct runner_class_opts *opts,
                                     const struct runner_class_ops *ops, void *arg);
/* Ends every runner of the class at once. No callback but `done` comes any more, when the last one
 * is reaped; it may free the pool. */
void pool_close_class(struct runner_class *c, void (*done)(void *arg), void *arg);

/*
 * Find a runner for `t`, starting one if need be, and see that it has the module.
 * Errors: -EAGAIN none has room now, on_room follows; what module_open() or starting a process
 * returns.
 */
int pool_place(struct runner_class *c, struct tenant *t, struct module *m, enum runner_share share,
               struct err *err);
/* `t` into the runner of `of`, and of its module. Errors: -EAGAIN it has no room. */
int pool_place_beside(struct tenant *t, const struct tenant *of, struct err *err);
/* Turns of its runner that have not ended. */
unsigned pool_depth(const struct tenant *t);
/* Its module has better code by now, which the tenant gets when it is placed again. */
bool pool_is_outdated(const struct tenant *t);
/* Its runner has had more work than it keeps up with, for a while. */
bool pool_is_deep(const struct tenant *t);
/* It is not alone in its runner. */
bool pool_has_others(const struct tenant *t);
/* It is in a runner for the slow. */
bool pool_is_slow(const struct tenant *t);
bool pool_can_send(const struct tenant *t);
/*
 * Send a command; `run` lacks slot, seq and module, which are filled in. Only when pool_can_send().
 * fd: taken; -1: none. limit_ms: CPU time that the command may take.
 */
void pool_send(struct tenant *t, struct proto_run *run, int fd, uint64_t limit_ms);
/* What the parked command of `t` waits for. */
void pool_reply(struct tenant *t, uint64_t call, int64_t value, struct str bytes);
bool pool_is_parked(const struct tenant *t);
/* The instance has ended in the runner (SUSPENDED, TRAPPED). */
void pool_release(struct tenant *t);
/* End the instance, in flight, parked or not; its answer, should one come, is discarded. Fine when
 * nowhere. */
void pool_drop(struct tenant *t);
/* The tenant's runner may have others again. */
void pool_mingle(struct tenant *t);

void pool_get_stats(const struct runner_class *c, struct runner_class_stats *ret);
/* Process ids, for tests and accounting; returns how many there are. */
size_t pool_pids(const struct runner_class *c, int *ret, size_t max);
