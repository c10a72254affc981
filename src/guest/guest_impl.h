/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of guest.h share, and nobody else sees.
 *
 * Everything goes through one place: whoever changes something that may let a guest act puts it on
 * the ready list (guest_make_ready()), and host_pump(), which runs from the loop, sends the next
 * command of each ready guest (guest_send_next()). guest_on_answer() takes what comes back. What
 * only a guest with work or memory needs is in struct active; a sleeping guest without work has
 * none.
 *
 *     guest.c          what services call        guest_send.c     the next command, falling asleep
 *     guest_host.c     pump, pressure, the end   guest_answer.c   results, failures, lost runners
 *     guest_record.c   state, operations                  guest_v1.c   activations, calls, posts
 *     guest_swap.c     swap: who may sleep
 *     guest_snapshot.c  guests of an earlier process      guest_slow.c     what takes long
 *
 * A callback may free its guest: after each, is_dead is looked at before anything else is touched.
 */
#pragma once

#include "guest/guest.h"

#include "base/boot.h"
#include "base/log.h"
#include "guest/guest_queue.h"
#include "guest/latency.h"
#include "guest/pressure.h"
#include "guest/runner_pool.h"
#include "guest/sleep_policy.h"
#include "guest/swap.h"

enum {
    SUSPEND_RETRY_MS = 30000,    /* after a full disk */
    SLOW_SLICES = 8,             /* of one activation while others wait: it is moved at once */
    SLOW_START_SLICES = 25,      /* of one that ended in a trap, its start as well: it is slow */
    SLOW_US = 5000,              /* CPU time of an activation that is slow, */
    SLOW_IN_A_ROW = 3,           /* so many: the guest is */
    SLOW_QUICK = 64,             /* quick ones in a row: it is not any more */
    SLOW_BUSY_MS = 250,          /* who takes more than */
    SLOW_BUSY_PERCENT = 50,      /* of a runner for so long, beside others, is slow as well */
    SLOW_SAVE_PAGES = 2048,      /* more memory than this is not saved for a move */
    LOG_LINES_PER_S = 200,       /* of one guest, */
    LOG_LINES_BURST = 1000,      /* after silence */
    LOG_LINES_MAX_PER_S = 10000, /* that a spec may ask for; twice that after silence */
};

/*
 * Where the memory of a guest is while it sleeps; a command that wakes it leaves this as it is
 * until its first answer, so that a guest whose runner is lost before goes back to it.
 *
 *     NONE --suspend--> FILE, KEPT      NONE --adopt--> ADOPTED      NONE --dissolve--> NOWHERE
 *     any of them --activation ended, or incarnation ended--> NONE
 */
enum guest_rest {
    GUEST_REST_NONE,    /* it has an instance, or has not started */
    GUEST_REST_FILE,    /* in its swap file */
    GUEST_REST_ADOPTED, /* in the swap file of an earlier process: verified when it wakes */
    GUEST_REST_KEPT,    /* its instance stays in the runner; only pages are in the file */
    GUEST_REST_NOWHERE, /* stateless: it starts again */
};

/* The call that a guest of V1 is parked in. */
enum guest_calling {
    GUEST_CALLING_NONE,
    GUEST_CALLING_PARKED, /* it waits for guest_reply() */
    GUEST_CALLING_ADOPT, /* main asks in its place whether the snapshot is good: guest_snapshot.c */
    GUEST_CALLING_ADOPTED, /* that was answered; takes effect in the next turn */
};

/* A guest that is awake, has work, or waits for its next start. */
struct active {
    struct guest *guest;
    struct tenant tenant;
    struct list ready; /* on host->ready */
    struct list idle;  /* on host->idle: awake without work, longest first */
    struct guest_queue queue;
    struct list sent;       /* deliveries of the command in flight */
    uint64_t busy_since_ms; /* a window of SLOW_BUSY_MS, */
    uint64_t busy_us;       /* and its CPU time in it */
    bool is_done;           /* its activations have ended, its suspend not yet */
    uint32_t sent_flags;    /* RUN_ of that command, */
    uint64_t sent_ns;       /* when it was decided */
    struct timer timer;     /* idle or back-off */
    uint64_t idle_since_ms, no_sleep_until_ms;
    uint64_t timer_at_ms; /* what `timer` is armed for while it is idle */
    uint64_t sleep_at_ms; /* idle: of its plan, as the next two */
    uint64_t wake_at_ms;  /* asleep: ahead of work, by `timer`; 0: not */
    uint64_t give_up_ms;  /* awake ahead of work: until then */
    bool is_early;        /* awake ahead of work that has not come */
    bool wake_wanted;
    struct list short_of_swap; /* on host->short_of_swap, */
    uint64_t swap_needs;       /* for want of so much room */
    bool swap_needs_exactly;   /* as its runner counted it, not the most that it could be */
    uint64_t swap_reserved;    /* room of the suspend under way */
    uint32_t dirty_pages;
    bool has_swap_fd; /* the runner has the file */
    bool sleep_wanted;
    bool room_wanted; /* -EBUSY was said */
    enum guest_calling calling;
    bool has_woken; /* the wake of this command has been counted */
    uint64_t call_id;
    uint64_t begun_ms;   /* the activation */
    uint64_t cost_us;    /* CPU time of the activations under way */
    uint32_t n_slices;   /* that the present one has had */
    struct timer parked; /* armed while a call waits */
};

struct guest {
    struct list node;
    struct guest_host *host;
    const struct guest_ops *ops;
    void *arg;
    struct module *module;
    struct active *active;
    char *name;  /* "namespace\0name\0uid\0" */
    char *setup; /* proto_add_setup(); NULL when empty */
    uint64_t serial, generation;
    uint64_t next_id, clock_offset_ns;
    uint64_t *outstanding; /* id << 1 | is a stream of G1 */
    uint32_t n_outstanding, outstanding_cap;
    uint32_t setup_n;
    char *globals; /* of the record */
    uint32_t globals_n, memory_pages;
    uint64_t memory_max, swap_bytes;
    uint64_t swap_mtime_ns; /* of the file since it fell asleep */
    uint32_t activation_ms, idle_ms;
    uint32_t incarnation;
    uint32_t suspends, restarts, wake_us_last;
    uint64_t activations, wakes, cpu_us;
    uint64_t last_ms, started_ms;            /* last: end of the last activation */
    uint32_t resume_us, suspend_us, wake_us; /* averages; wake: with the event */
    struct sleep_history history;
    uint64_t expected_ms; /* of guest_expect(); 0: nothing */
    uint32_t backoff_ms;
    uint32_t log_at_s;
    uint16_t log_tokens;
    uint16_t log_per_s; /* 0: default */
    uint64_t swap_max;  /* 0: any */
    uint16_t name_at, uid_at;
    uint16_t wakes_ahead; /* up to its largest value */
    uint8_t suspect;      /* activations it must survive alone; 0: trusted */
    uint8_t n_slow;       /* slow activations in a row */
    uint8_t slow;         /* quick ones until it counts as quick; 0: it does */
    uint8_t state;        /* enum guest_state */
    uint8_t rest;         /* enum guest_rest */
    uint8_t abi;
    bool start_wanted; /* cold, and to be started */
    bool has_file;     /* there is a swap file, */
    bool has_image;    /* and it holds the module's image */
    bool is_dead;      /* guest_free() was called */
    bool is_stateless; /* V1: nothing is kept of it when it sleeps */
    bool log_debug;
    bool fail_wanted;
    struct latency *latency; /* of wakes; NULL before the first */
    char *last_error;
    int kept_awake; /* the code on_kept_awake() was told last; 0: nothing keeps it awake */
};

struct guest_host {
    struct loop *loop;
    struct guest_host_opts opts;
    struct swap swap;
    struct runner_class *runners;
    struct list guests, ready, idle, dead;
    struct defer pump;
    uint64_t serial;
    uint64_t swap_total;       /* what the files of guests hold, */
    uint64_t swap_reserved;    /* and what suspends under way may add */
    struct list short_of_swap; /* awake for want of room, longest first */
    struct defer swap_room;    /* some was given back */
    unsigned n_awake;
    uint64_t suspends, activations;
    struct guest_wake_times wake_us;
    struct log_rate disk_rate;
    struct pressure pressure;
    bool is_closing;
    bool keeps;        /* snapshots of guests that are freed */
    struct timer left; /* armed while unclaimed snapshots of an earlier process wait */
    struct timer closing;
    void (*done)(void *arg);
    void *done_arg;
    struct timer drain; /* the end of guest_host_drain() */
    void (*drained)(void *arg);
    void *drained_arg;
    char boot[BOOT_ID_BYTES]; /* of the machine */
};

/* ---- guest_record.c ---- */

void guest_report(struct guest *g, const struct err *why);
bool guest_is_awake(unsigned state);
/* The only way to another state; tells the service. */
void guest_move(struct guest *g, enum guest_state to, const struct err *why);
struct active *guest_get_active(struct guest *g);
/* It may be able to act: look at it in the next turn. */
void guest_make_ready(struct guest *g);
void guest_free_sent(struct active *a);
/* Keep its record only; it is in no runner. */
void guest_deactivate(struct guest *g);
void guest_swap_name(const struct guest *g, char out[SWAP_NAME_MAX]);
/* Nothing of its memory is in a file from now on, also where the file is gone already. */
void guest_remove_swap(struct guest *g);
uint64_t guest_resident_bytes(const struct guest *g);
void guest_set_error(struct guest *g, const struct err *why);
void guest_destroy(struct guest *g);
/* Outstanding operations: NULL if it is not, else its place in *at. */
uint32_t *guest_find_op(const struct guest *g, uint64_t id, uint32_t *at);
void guest_add_op(struct guest *g, uint64_t id, bool is_stream);
void guest_remove_op(struct guest *g, uint32_t at);

/* ---- guest_swap.c ---- */

/* What its file holds. */
void guest_set_swap_bytes(struct guest *g, uint64_t bytes);
/* Room for a suspend. false: it must wait for some; it is awake then. */
bool guest_reserve_swap(struct guest *g);
/* Its suspend is over, or will not be. */
void guest_release_swap(struct guest *g);
/* Some may fit: look at those that wait. */
void guest_swap_has_room(struct guest_host *h);
void guest_suspend_failed(struct guest *g, const struct proto_answer *a);
/* Tell its service, once; NULL: no longer. */
void guest_note_kept_awake(struct guest *g, const struct err *why);

/* ---- guest_send.c ---- */

bool guest_wants_to_act(const struct guest *g);
/* Send what this guest should do next. -EAGAIN: no runner has room. */
int guest_send_next(struct guest *g, struct err *err);
void guest_cannot_send(struct guest *g, const struct err *why);
/* It is awake and has nothing to do. */
void guest_rest_awake(struct guest *g);
/* It has fallen asleep without work: true if it is to be woken ahead of some, and keeps its struct
 * active for that. */
bool guest_rest_asleep(struct guest *g);

/* ---- guest_slow.c ---- */

/* CPU time that its command has used; activations: how many of it have ended with that. */
void guest_note_cost(struct guest *g, uint32_t cpu_us, uint32_t activations);
/* A slice of its activation is over, and others wait in its runner. It may be gone afterwards. */
void guest_on_slice(struct guest *g, bool is_start);
/* Its command ended in a trap. */
void guest_note_trap(struct guest *g, uint32_t cpu_us);
/* It is awake and idle in a runner for the quick, and is not: leave. Was it ended? */
bool guest_leave_if_slow(struct guest *g);

/* ---- guest_answer.c ---- */

/* This incarnation is over. is_strike: its own fault; otherwise it starts again at once. */
void guest_end(struct guest *g, const struct err *why, bool is_strike);
/* A wake has come as far as its first message. */
void guest_note_wake(struct guest *g);
bool guest_take_log_token(struct guest *g);
void guest_say_left_out(struct guest *g, uint32_t n);
int guest_on_answer(struct tenant *t, const struct proto_answer *a, struct err *err);
void guest_on_lost(struct tenant *t, enum tenant_lost how, const struct err *why);

/* ---- guest_v1.c ---- */

/* The notes of a V1 guest concern only what was sent, in its order. is_end: all of it has results.
 * Returns how many results there are. */
int guest_check_notes(const struct guest *g, uint32_t n, struct rd notes, bool is_end,
                      struct err *err);
void guest_hand_out_notes(struct guest *g, uint32_t n, struct rd notes);
int guest_on_call(struct tenant *t, const struct proto_call *c, bool is_call, struct err *err);
/* It sleeps by ending. */
void guest_dissolve(struct guest *g);

/* ---- guest_snapshot.c ---- */

/* Can its swap file outlive this process? */
bool guest_has_record(const struct guest *g);
/* The id of this boot of the machine. An error is one of this moment, as -EMFILE. */
int guest_read_boot(char ret[BOOT_ID_BYTES], struct err *err);
void guest_get_identity(const struct guest *g, uint8_t ret[32]);
/* 0: it cannot be told. */
uint64_t swap_mtime_ns(int fd);
/* Instead of a start: true if an earlier process left a snapshot; its service has been asked. */
bool guest_adopt(struct guest *g);
void guest_adopted(struct guest *g, bool is_accepted);
void guest_end_adoption(struct guest *g);

/* ---- guest_host.c ---- */

void host_pump(struct defer *d);
void host_close_if_quiet(struct guest_host *h);
