/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of wasm_runtime.h share, and nobody else sees.
 *
 *     wasm_runtime.c  the runtime: revisions, sandboxes    wasm_base.c    templates in runners
 *     wasm_invoke.c   requests                             wasm_answer.c  what runners say
 *     wasm_slices.c   whose turn it is
 *     wasm_http.c     their forms, pure                    wasm_files.c   files of modules
 *
 * A revision has a base in each runner that works for it: a template there, and seats beside it,
 * one for each request that runs. A seat without a request is kept for the next one, together with
 * the base. A request that finds no base waits with its revision, one that finds no room waits in
 * its revision's line; the lines have their turns.
 *
 * A callback of an invocation may call anything on it: is_over is looked at after each.
 */
#pragma once

#include "fn/worker/wasm_runtime.h"

#include "base/map.h"
#include "base/vec.h"
#include "guest/runner_pool.h"

enum {
    WASM_RESTING_MAX = 1024, /* revisions without sandboxes whose module is known */
    WASM_PARKED_MAX = 256,   /* requests of one runner that wait for a client: a thread each */
    WASM_TIDY_MS = 2000,     /* a second runner that is not needed is left after so long */
    WASM_GROW_MS = 20,       /* between two looks for a further runner */
    WASM_RETRY_MS = 1000,    /* after a module or template that failed */
    WASM_SEATS_FREE = 32,    /* of one base that wait for requests */
    WASM_SPARE_MAX = 256,    /* invocations kept for the next ones */
    WASM_SLOW_US = 5000,     /* CPU time of an average request: with the slow, */
    WASM_QUICK_US = 2000,    /* and back */
    WASM_LONG_US = 100000,   /* CPU time of one request that runs beside others: at once */
    WASM_LOOKS_MAX = 64,     /* lines without room in a row, before a pump gives up */
    WASM_CALL_ID_MAX = 128
};

struct wasm_rt {
    struct runtime runtime;
    struct invoker invoker;
    struct wasm_runtime_opts opts;
    char **dirs;
    struct runner_class *runners; /* NULL: closed */
    /* "uid/revision", of a twin with a number behind it -> wasm_revision, with those that rest */
    struct map revisions;
    struct list resting;  /* longest first */
    struct list bases;    /* that are ready, by last use, the oldest first */
    unsigned n_bases;     /* all */
    struct map sandboxes; /* 8 bytes -> wasm_sandbox */
    struct map files;     /* wasm_file_id -> wasm_file */
    struct list files_in_order;
    struct list lines;  /* revisions with invocations that have no room, the next one first */
    struct list shares; /* wasm_slices.c */
    struct list spare;  /* invocations */
    unsigned n_resting, n_waiting, n_running, n_spare, n_gets, n_revisions, n_base_wanted;
    unsigned n_invocations; /* that have not ended */
    unsigned max_runners;
    uint64_t serial, requests, traps, cpu_us;
    struct defer pump;
    struct timer tidy; /* armed while some revision has more than one base */
    bool is_closing;
    void (*done)(void *arg);
    void *done_arg;
};

enum wasm_state {
    WASM_NEW,
    WASM_FETCHING,  /* the source will tell */
    WASM_COMPILING, /* or is in the cache */
    WASM_COMPILED,  /* rests, or its first template is being made */
    WASM_READY,     /* a template is there */
    WASM_FAILED     /* why; creates try again after WASM_RETRY_MS */
};

struct wasm_revision {
    struct wasm_rt *rt;
    char *key;
    struct list node;           /* on rt->resting */
    struct runtime_revision *r; /* NULL: rests */
    enum wasm_state state;
    struct module_source *source;
    struct module_get *get;
    struct module *module;
    enum guest_abi abi;
    struct err why;
    uint64_t failed_ms, begun_ms, fetched_ms, grow_ms;
    struct timer compiling;   /* until a compilation is worth a word */
    uint32_t lost_generation; /* of the module: its code was gone when a base was to be renewed */
    struct buf args, env;     /* as in proto_add_setup(), without and with their counts */
    uint32_t n_env;
    struct list bases; /* the first one is preferred */
    unsigned n_bases;
    struct list sandboxes; /* with their waiting creates */
    struct list held;      /* invocations without a base */
    struct list waiting;   /* and without room, the oldest first */
    struct list line;      /* on rt->lines while there are such */
    unsigned n_waiting;    /* of these */
    uint32_t cost_us;      /* CPU time of a request, average */
    bool is_slow;
    bool is_twin;     /* another of the same number was there: nobody finds it when it rests */
    bool base_wanted; /* when a runner has room */
    uint32_t log_tokens;
    uint64_t log_at_ms, logs_left_out;
};

struct invocation;
struct wasm_share;

/* Where one request at a time runs; of a base's own, its template. */
struct wasm_seat {
    struct tenant tenant;
    struct wasm_base *base;
    struct list node; /* on base->free */
    struct invocation *x;
    uint64_t serial, next_id;
    /* Its request has computed for a slice, and: */
    bool is_computing;
    bool has_turn;      /* it may continue, or: */
    struct list sliced; /* on base->sliced, until it may continue */
};

struct wasm_base {
    uint32_t generation; /* of its module's code */
    struct list node;    /* of the revision */
    struct list used;    /* on rt->bases */
    struct wasm_revision *rev;
    struct wasm_seat seat;
    struct list free;                /* seats, the last used first */
    struct list sliced, sliced_node; /* seats; on the share's bases while there are any */
    struct wasm_share *share;        /* while n_computing */
    unsigned n_computing;
    unsigned n_seats, n_busy, n_free;
    bool is_ready, is_slow;
    bool is_old; /* gets no requests any more, and goes with the last one */
    uint64_t used_ms;
};

struct wasm_sandbox {
    struct list node; /* of the revision */
    struct wasm_rt *rt;
    struct wasm_revision *rev;
    uint64_t id;
    struct list invocations;
    uint32_t running;
    bool is_ready, is_leaving;
    struct defer told;
    struct timer grace;
};

struct invocation {
    struct exchange exchange; /* of its caller */
    struct wasm_rt *rt;
    struct wasm_revision *rev;
    struct wasm_sandbox *sandbox;
    struct list node;       /* on the revision's waiting or held, or on spare */
    bool is_waiting;        /* on waiting */
    struct list in_sandbox; /* until its guest has done with it */
    struct wasm_seat *seat;
    uint64_t token, deadline_ms, response_max;
    struct buf head; /* of a reactor; of a command its setup */
    struct buf body; /* not with the guest yet; the first in_run bytes went with the RUN */
    size_t in_run;
    bool body_ended, has_begun;
    bool was_full;                 /* on_writable is due */
    bool wants_body, wants_credit; /* its guest is parked for that */
    uint64_t call;
    bool is_paused;
    struct buf out;  /* of the answer, not taken yet */
    struct buf text; /* of a command's head */
    bool has_head;
    bool has_no_body;     /* to HEAD, or by its status: what its guest writes is dropped */
    bool is_void;         /* it ended badly before any of its answer left: none of it will */
    uint64_t length, got; /* of the answer: as promised, so far */
    uint64_t still_here; /* UINT64_MAX, or all that is to come: it lies in the message being read */
    struct headers trailers;
    bool has_trailers;
    bool is_over; /* the next two and exchange.reason are set, and only on_end is left */
    int end;
    struct err err;
    uint64_t cpu_us;
    struct timer deadline;
    struct defer later;
    char call_id[WASM_CALL_ID_MAX];
};

static inline struct wasm_rt *wasm_of(struct runtime *rt)
{
    return container_of(rt, struct wasm_rt, runtime);
}

/* ---- wasm_runtime.c ---- */

struct wasm_sandbox *wasm_find_sandbox(struct wasm_rt *rt, uint64_t id);
/* A request of it has ended; it may go now. */
void wasm_sandbox_done(struct wasm_sandbox *s);
/* Its first template is there, or nothing comes of it. */
void wasm_revision_ready(struct wasm_revision *rev);
void wasm_revision_failed(struct wasm_revision *rev, const struct err *why);
/* Another template, now or when there is room. */
void wasm_need_base(struct wasm_revision *rev);
void wasm_on_room(void *arg);
void wasm_free_if_closed(struct wasm_rt *rt);
/* A line of its log; x may be NULL. */
void wasm_log(struct wasm_revision *rev, const struct invocation *x, const char *stream,
              enum log_level level, struct str text);
/* A line that it has printed. */
void wasm_log_output(struct wasm_revision *rev, const struct invocation *x, const char *stream,
                     struct str text);
void wasm_log_left_out(struct wasm_revision *rev, uint64_t n);

/* ---- wasm_files.c ---- */

struct wasm_file_id { /* without padding: its bytes are a key */
    uint64_t dev, ino, size;
    int64_t mtime_ns, ctime_ns;
};
/* false: it cannot be told, or has been changed a moment ago. */
bool wasm_file_identify(int fd, struct wasm_file_id *ret);
/* Borrowed; NULL: not known. */
struct module *wasm_files_find(const struct wasm_rt *rt, const struct wasm_file_id *id);
void wasm_files_add(struct wasm_rt *rt, const struct wasm_file_id *id, struct module *m);
void wasm_files_fini(struct wasm_rt *rt);

/* ---- wasm_base.c ---- */

/* Another template, where the pool finds a runner that has none. -EAGAIN: later. */
int wasm_base_new(struct wasm_revision *rev, struct err *err);
/* It has one, ready or being made, that takes requests. */
bool wasm_has_base(const struct wasm_revision *rev);
/* All of its bases, as below. */
void wasm_bases_retire(struct wasm_revision *rev);
/* No new requests; goes with its last one. */
void wasm_base_retire(struct wasm_base *b);
/* A seat that can be sent to. -EAGAIN: no room now; -ENOENT: no base is ready. */
int wasm_seat_get(struct wasm_revision *rev, struct wasm_seat **ret);
/* Its command has been answered. */
void wasm_seat_put(struct wasm_seat *seat);
/* Its instance ends, whatever it does. */
void wasm_seat_drop(struct wasm_seat *seat);
/* Its runner is gone. */
void wasm_seat_lost(struct wasm_seat *seat);
/* Leave runners that some revision does not need any more; again and again while there are any. */
void wasm_tidy(struct wasm_rt *rt);
/* How requests of this revision went, for the choice of its runner. */
void wasm_note_cost(struct wasm_revision *rev, uint64_t cpu_us);
/* A request of it still runs, and others wait. */
void wasm_note_slice(struct wasm_revision *rev, uint64_t cpu_us);
bool wasm_is_template(const struct wasm_seat *seat);
int wasm_template_answer(struct wasm_seat *seat, const struct proto_answer *a, struct err *err);
void wasm_template_lost(struct wasm_seat *seat, enum tenant_lost how, const struct err *why);

/* ---- wasm_slices.c ---- */

/* The seat's request has computed for a slice: it continues when its turn comes. */
void wasm_slice(struct wasm_seat *seat);
/* The request stops computing: it has ended, waits for something else, or will be dropped. */
void wasm_slice_over(struct wasm_seat *seat);
/* The same after its runner has ended. */
void wasm_slice_lost(struct wasm_seat *seat);

/* ---- wasm_invoke.c ---- */

/* Of the runtime's struct invoker. */
int wasm_invoke_start(struct invoker *v, const struct invoke_request *q,
                      const struct exchange_events *events, void *arg, struct exchange **ret,
                      struct err *err);
/* Send what waits, as far as there is room. */
void wasm_pump(struct wasm_rt *rt);
/* Those that were held may look for a seat. */
void wasm_release_held(struct wasm_revision *rev);
/* End every invocation of a list of these kinds, from the loop. */
void wasm_fail_held(struct wasm_revision *rev, int code, const char *reason, const struct err *why);
void wasm_end_sandbox(struct wasm_sandbox *s, int code, const char *reason);
/*
 * It is over, with `end` and `reason` for on_end; takes it out of runner and line. What of its
 * answer was not taken yet is still delivered where end is 0.
 */
void wasm_over(struct invocation *x, int end, const char *reason, const char *text);
/* Tell what can be told; x may be gone afterwards. Only from the loop. */
void wasm_deliver(struct invocation *x);
/* It had not begun: to the front of the line. */
void wasm_again(struct invocation *x);
void wasm_invocation_free(struct invocation *x);

/* ---- wasm_answer.c ---- */

extern const struct runner_class_ops wasm_class_ops;
