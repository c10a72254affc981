/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runner processes: starts, feeds, watches and ends them. The pool knows tenants and the order in
 * which commands are answered; its users (guest.h, template.h) define what a guest is.
 *
 *                 spawn             HELLO                 last tenant gone, linger
 *     (none) ------------> STARTING ------> SERVING --------------------------> CLOSING --> reaped
 *                              |               | end of the socket, nonsense,       ^
 *                              |               | silence                            |
 *                              `---------------`------------------------------------'
 *
 * A process has one pool with a class for each kind of user: operators and functions. A runner has
 * tenants of one class only, and each class has its own limits, back-off and counts, so that
 * neither class waits for the other or fails with it. Program, watchdog, message buffers and memory
 * cgroup belong to the pool.
 *
 * The first runner of a class shares a core with the main process. Each further one has a core of
 * its own and starts only when commands have queued for longer than a burst lasts. Messages
 * alternate as proto.h defines: a message out of turn, or one that the user rejects, ends the
 * runner. When a runner has ended, on_lost runs once for each of its tenants, which then have no
 * runner.
 *
 * Loop thread only; callbacks run from the loop, never inside a call made on the pool.
 */
#pragma once

#include "guest/module.h"
#include "io/loop.h"
#include "wasm/proto.h"

enum {
    RUNNER_COMMANDS_MAX = 32,      /* unanswered commands of one runner; further ones wait here */
    RUNNER_PARKED_MAX = 64,        /* commands of one runner that may park; each needs a thread */
    RUNNER_COMMANDS_DEEP = 8,      /* when this many commands wait */
    RUNNER_DEEP_MS = 20,           /* for this long, a further runner pays off */
    RUNNER_TENANTS_MAX = 4096,     /* each takes 4 mappings of the 65,530 that a process may have */
    RUNNER_MODULES_IDLE_MAX = 128, /* loaded modules without tenants that are kept: 10 KiB each, and
                                    * 40 us to load again */
    RUNNER_LINGER_MS = 2000,       /* time without tenants before it ends */
    RUNNER_SLOW_US = 5000, /* CPU time of an activation or job; guests that use more belong into the
                            * runner for slow ones */
    RUNNER_SILENT_MS = 30000, /* added to the CPU time that the command may take */
    RUNNER_START_BACKOFF_MS =
        500 /* after a runner that died before HELLO; doubles, up to 64 times */
};

/* With which guests a guest shares its runner. */
enum runner_share {
    RUNNER_SHARED, /* with all quick guests */
    RUNNER_SLOW,   /* with other slow guests; on another core if there is one, and after all quick
                      guests */
    RUNNER_ALONE   /* with none, now or later, until pool_mingle() */
};

struct pool_runner;
struct runner_pool;
struct runner_class;
struct pool_module;

/* A guest in a runner; embedded by the user, zero-initialised. */
struct tenant {
    struct pool_runner *runner; /* NULL: in no runner */
    struct list node;           /* of the runner's tenants */
    struct pool_command *sent;  /* the command in flight, if any */
    struct pool_module *module;
    uint32_t slot;
    bool may_park; /* its commands may make calls; the user sets it before pool_place() */
};

enum tenant_lost {
    LOST_RUNNING, /* the runner was executing its command */
    LOST_PARKED,  /* its command had begun, and was waiting for a reply or for its turn */
    LOST_WAITING, /* its command had not begun */
    LOST_RESTING, /* it had no command */
    LOST_AT_START /* the runner failed to start: nothing of this tenant had begun */
};

/* The tenant had a command of which nothing was done: it can be sent again. */
static inline bool pool_is_unbegun(enum tenant_lost how)
{
    return how == LOST_WAITING || how == LOST_AT_START;
}

struct runner_class_ops {
    /* `a` answers the command of `t`. A negative result ends the runner. */
    int (*on_answer)(struct tenant *t, const struct proto_answer *a, struct err *err);
    /*
     * is_call true (CALL): the command of `t` is parked until pool_reply(), which may be called at
     * once. false (NOTES): the command continues. A negative result ends the runner.
     */
    int (*on_call)(struct tenant *t, const struct proto_call *c, bool is_call, struct err *err);
    /* The runner has ended; t->runner is already NULL. */
    void (*on_lost)(struct tenant *t, enum tenant_lost how, const struct err *why);
    /* pool_place() or pool_can_send() may now give another result. */
    void (*on_room)(void *arg);
};

struct runner_class_opts {
    unsigned max_runners; /* 0: one per core */
    unsigned parked_max;  /* 0: RUNNER_PARKED_MAX */
};

struct runner_class_stats {
    unsigned runners, commands; /* commands: not yet answered */
    uint64_t starts, losses;
    uint32_t confined; /* as in struct confine_report; 0 before the first runner */
};

/*
 * Starts no process. runner_path: copied; NULL: $DORMOUSE_RUNNER, else "dormouse-runner" in the
 * directory of our own program.
 */
struct runner_pool *pool_new(struct loop *loop, const char *runner_path);
/* Every class must be closed. NULL is fine. */
void pool_free(struct runner_pool *p);
const char *pool_runner_path(const struct runner_pool *p);

/* p, ops: kept until the class is closed. */
struct runner_class *pool_open_class(struct runner_pool *p, const struct runner_class_opts *opts,
                                     const struct runner_class_ops *ops, void *arg);
/*
 * End every runner of the class at once. Only `done` runs after this call, when the last runner is
 * reaped; it may free the pool.
 */
void pool_close_class(struct runner_class *c, void (*done)(void *arg), void *arg);

/*
 * Find a runner for `t`, start one if necessary, and load the module there.
 * Errors: -EAGAIN when none has room now, on_room follows; what module_open() or starting a process
 * returns.
 */
int pool_place(struct runner_class *c, struct tenant *t, struct module *m, enum runner_share share,
               struct err *err);
/*
 * Place `t` in the runner of `of`, which has the same module. Errors: -EAGAIN, that runner has no
 * room.
 */
int pool_place_beside(struct tenant *t, const struct tenant *of, struct err *err);
/* Turns of the tenant's runner that have not ended. */
unsigned pool_depth(const struct tenant *t);
/* Better code of its module exists; the tenant gets it when it is placed again. */
bool pool_is_outdated(const struct tenant *t);
/* Its runner has had more work than it keeps up with for a while. */
bool pool_is_deep(const struct tenant *t);
/* Its runner has other tenants. */
bool pool_has_others(const struct tenant *t);
/* It is in a runner for slow guests. */
bool pool_is_slow(const struct tenant *t);
bool pool_can_send(const struct tenant *t);
/*
 * Send a command. Only allowed when pool_can_send().
 *
 * run: the pool fills in slot, seq and module.
 * fd: taken; -1: none.
 * limit_ms: CPU time that the command may take.
 */
void pool_send(struct tenant *t, struct proto_run *run, int fd, uint64_t limit_ms);
/* Answer the call in which the command of `t` is parked. */
void pool_reply(struct tenant *t, uint64_t call, int64_t value, struct str bytes);
bool pool_is_parked(const struct tenant *t);
/* The instance has ended in the runner (SUSPENDED, TRAPPED). */
void pool_release(struct tenant *t);
/*
 * End the instance, also when its command is in flight or parked; a later answer is discarded. Does
 * nothing for a tenant in no runner.
 */
void pool_drop(struct tenant *t);
/* Allow other tenants in the tenant's runner again. */
void pool_mingle(struct tenant *t);

void pool_get_stats(const struct runner_class *c, struct runner_class_stats *ret);
/* Store the runners' process ids, for tests and accounting. Returns how many there are. */
size_t pool_pids(const struct runner_class *c, int *ret, size_t max);
