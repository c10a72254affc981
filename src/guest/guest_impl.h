/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals shared by the files that implement guest.h.
 *
 * All work goes through one place. Code that changes something that may let a guest act puts the
 * guest on the ready list (guest_make_ready()). guest_host_pump(), which runs from the loop, sends
 * the next command of each ready guest (guest_send_next()). guest_on_answer() handles what the
 * runner answers. State that only a guest with work or memory needs is in struct active; a sleeping
 * guest without work has none.
 *
 *     guest.c          what services call        guest_send.c     the next command, falling asleep
 *     guest_host.c     pump, pressure, the end   guest_answer.c   results, failures, lost runners
 *     guest_record.c   state, operations         guest_v1.c       activations, calls, posts
 *     guest_swap.c     swap accounting           guest_slow.c     slow guests
 *     guest_snapshot.c guests of an earlier process
 *
 * A callback may free its guest: after each callback, check is_dead before touching anything else.
 */
#pragma once

#include "guest/guest.h"

#include "base/boot.h"
#include "base/log.h"
#include "guest/guest_log.h"
#include "guest/guest_queue.h"
#include "guest/latency.h"
#include "guest/pressure.h"
#include "guest/runner_pool.h"
#include "guest/sleep_policy.h"
#include "guest/swap.h"

enum {
    SUSPEND_RETRY_MS = 30000, /* next attempt after a full disk */
    SLOW_SLICES = 8, /* slices of one activation while others wait; then it is moved at once */
    SLOW_START_SLICES = 25,      /* slices of one that trapped, start included; then it is slow */
    SLOW_IN_A_ROW = 3,           /* slow activations in a row that make a guest slow */
    SLOW_QUICK = 64,             /* quick activations in a row that make it quick again */
    SLOW_BUSY_MS = 250,          /* a guest that in this window uses */
    SLOW_BUSY_PERCENT = 50,      /* more of a shared runner than this is slow as well */
    SLOW_SAVE_PAGES = 2048,      /* with more memory than this it is not saved for a move */
    LOG_LINES_MAX_PER_S = 10000, /* the most that a spec may ask for; the burst is twice that */
};

/*
 * Where the memory of a sleeping guest is. A command that wakes the guest leaves this value
 * unchanged until the first answer, so that a guest whose runner is lost before that returns to the
 * same state.
 *
 *     NONE --suspend--> FILE, KEPT      NONE --adopt--> ADOPTED      NONE --dissolve--> NOWHERE
 *     any of them --activation ended, or incarnation ended--> NONE
 */
enum guest_rest {
    GUEST_REST_NONE,    /* it has an instance, or has not started */
    GUEST_REST_FILE,    /* in its swap file */
    GUEST_REST_ADOPTED, /* in the swap file of an earlier process, which is verified on wake */
    GUEST_REST_KEPT,    /* its instance stays in the runner; only pages are in the file */
    GUEST_REST_NOWHERE, /* nowhere: the guest is stateless and starts again */
};

/* The call in which a guest of V1 is parked. */
enum guest_calling {
    GUEST_CALLING_NONE,
    GUEST_CALLING_PARKED,  /* waits for guest_reply() */
    GUEST_CALLING_ADOPT,   /* main itself asks whether the snapshot is good: guest_snapshot.c */
    GUEST_CALLING_ADOPTED, /* answered; takes effect on the next turn */
};

/*
 * The command in flight.
 *
 *     NONE --> SENT --wake: first message--> WOKEN --activations ended, suspend not--> SUSPENDING
 *       ^        |------------------------------------------------------------------------^  |
 *       `--------'------- last answer, runner lost, incarnation ended -----------------------'
 */
enum guest_command {
    GUEST_COMMAND_NONE,
    GUEST_COMMAND_SENT,
    GUEST_COMMAND_WOKEN,
    GUEST_COMMAND_SUSPENDING
};

/* What an idle guest is to do although it has no deliveries. */
enum guest_want {
    GUEST_WANT_NOTHING,
    GUEST_WANT_SLEEP,     /* while AWAKE */
    GUEST_WANT_WAKE_AHEAD /* while ASLEEP */
};

/* State of a guest that is awake, has work, or waits for its next start. */
struct active {
    struct guest *guest;
    struct tenant tenant;
    struct list ready; /* on host->ready */
    struct list idle;  /* on host->idle: awake without work, the longest idle first */
    struct guest_queue queue;
    struct list sent;       /* deliveries of the command in flight */
    uint64_t busy_since_ms; /* start of a window of SLOW_BUSY_MS */
    uint64_t busy_us;       /* CPU time used in that window */
    enum guest_command command;
    enum guest_want want;
    uint32_t sent_flags; /* RUN_ flags of that command */
    enum guest_calling calling;
    uint64_t sent_ns;   /* when the command was decided */
    struct timer timer; /* for idle or back-off */
    uint64_t idle_since_ms, no_sleep_until_ms;
    uint64_t timer_at_ms;      /* while idle: when `timer` is due */
    uint64_t sleep_at_ms;      /* while idle: from its plan, as the next two */
    uint64_t wake_at_ms;       /* asleep: `timer` wakes it ahead of work then; 0: it does not */
    uint64_t give_up_ms;       /* awake ahead of work: sleep again at this time */
    bool is_early;             /* awake ahead of work that has not arrived */
    struct list short_of_swap; /* on host->short_of_swap */
    uint64_t swap_needs;       /* room that it lacks */
    bool swap_needs_exactly;   /* swap_needs was counted by the runner; else an upper bound */
    uint64_t swap_reserved;    /* room reserved for the suspend under way */
    uint32_t dirty_pages;
    bool has_swap_fd; /* the runner holds the swap file */
    bool room_wanted; /* guest_deliver() returned -EBUSY */
    uint64_t call_id;
    uint64_t begun_ms;   /* start of the activation */
    uint64_t cost_us;    /* CPU time of the activations under way */
    uint32_t n_slices;   /* slices that the current activation has used */
    struct timer parked; /* armed while a call is parked */
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
    uint64_t *outstanding; /* id << 1 | 1 for a stream of G1 */
    uint32_t n_outstanding, outstanding_cap;
    uint32_t setup_n;
    char *globals; /* globals of the record */
    uint32_t globals_n, memory_pages;
    uint64_t memory_max, swap_bytes;
    uint64_t swap_mtime_ns; /* mtime of the swap file when it fell asleep */
    uint32_t activation_ms, idle_ms;
    uint32_t incarnation;
    uint32_t suspends, restarts, wake_us_last;
    uint64_t activations, wakes, cpu_us;
    uint64_t last_ms, started_ms;            /* last_ms: end of the last activation */
    uint32_t resume_us, suspend_us, wake_us; /* averages; wake_us includes the event */
    struct sleep_history history;
    uint64_t expected_ms; /* from guest_expect(); 0: no hint */
    struct token_bucket log_lines;
    uint32_t backoff_ms;
    uint16_t log_per_s; /* 0: default */
    uint64_t swap_max;  /* 0: no limit */
    uint16_t name_at, uid_at;
    uint16_t wakes_ahead; /* saturates */
    uint8_t suspect;      /* activations that it must survive alone; 0: it is trusted */
    uint8_t n_slow;       /* slow activations in a row */
    uint8_t slow;         /* quick activations until it counts as quick; 0: it is quick */
    uint8_t state;        /* enum guest_state */
    uint8_t rest;         /* enum guest_rest */
    uint8_t abi;
    bool start_wanted; /* cold, and should be started */
    bool has_file;     /* a swap file exists */
    bool has_image;    /* and contains the module's image */
    bool is_dead;      /* guest_free() was called */
    bool is_stateless; /* V1: nothing of it is kept when it sleeps */
    bool log_debug;
    bool fail_wanted;
    struct latency *latency; /* of wakes; NULL before the first */
    char *last_error;
    int kept_awake; /* the code last passed to on_kept_awake(); 0: nothing keeps it awake */
};

struct guest_host {
    struct loop *loop;
    struct guest_host_opts opts;
    struct swap swap;
    struct runner_class *runners;
    struct list guests, ready, idle, dead;
    struct defer pump;
    uint64_t serial;
    uint64_t swap_total;       /* bytes of all swap files of guests */
    uint64_t swap_reserved;    /* bytes that suspends under way may add */
    struct list short_of_swap; /* guests awake for lack of room, longest first */
    struct defer swap_room;    /* room was released */
    unsigned n_awake;
    uint64_t suspends, activations;
    struct guest_wake_times wake_us;
    struct log_rate disk_rate;
    struct pressure pressure;
    bool is_closing;
    bool keeps;        /* keep the snapshots of guests that are freed */
    struct timer left; /* armed while snapshots of an earlier process wait unclaimed */
    struct timer closing;
    void (*done)(void *arg);
    void *done_arg;
    struct timer drain; /* ends guest_host_drain() */
    void (*drained)(void *arg);
    void *drained_arg;
    char boot[BOOT_ID_BYTES]; /* boot id of the machine */
};

/* ---- guest_record.c ---- */

void guest_report(struct guest *g, const struct err *why);
bool guest_is_awake(unsigned state);
/* The only way to change the state; notifies the service. */
void guest_move(struct guest *g, enum guest_state to, const struct err *why);
struct active *guest_get_active(struct guest *g);
/* The only way to change active->command. */
void guest_move_command(struct active *a, enum guest_command to);
/* No command is in flight any more. */
void guest_end_command(struct active *a);
/* Set what the guest is to do on the next turn. */
void guest_want(struct guest *g, enum guest_want what);
/* The guest may be able to act: look at it on the next turn. */
void guest_make_ready(struct guest *g);
void guest_free_sent(struct active *a);
/* Keep only the guest's record; it is in no runner. */
void guest_deactivate(struct guest *g);
void guest_swap_name(const struct guest *g, char out[SWAP_NAME_MAX]);
/* From now on no file holds memory of the guest. Also called when the file is already removed. */
void guest_remove_swap(struct guest *g);
uint64_t guest_resident_bytes(const struct guest *g);
void guest_set_error(struct guest *g, const struct err *why);
void guest_destroy(struct guest *g);
/*
 * Outstanding operations: returns NULL if `id` is not outstanding, else its entry, with the index
 * in *at.
 */
uint32_t *guest_find_op(const struct guest *g, uint64_t id, uint32_t *at);
void guest_add_op(struct guest *g, uint64_t id, bool is_stream);
void guest_remove_op(struct guest *g, uint32_t at);

/* ---- guest_swap.c ---- */

/* Set the bytes that the guest's swap file holds. */
void guest_set_swap_bytes(struct guest *g, uint64_t bytes);
/* Reserve room for a suspend. false: none is left, the guest stays awake and waits for some. */
bool guest_reserve_swap(struct guest *g);
/* The suspend is over, or will not happen. */
void guest_release_swap(struct guest *g);
/* Room was released: look at the guests that wait for it. */
void guest_swap_has_room(struct guest_host *h);
void guest_suspend_failed(struct guest *g, const struct proto_answer *a);
/* Notify the service, once for each reason; NULL: nothing keeps it awake any more. */
void guest_note_kept_awake(struct guest *g, const struct err *why);

/* ---- guest_send.c ---- */

bool guest_wants_to_act(const struct guest *g);
/* Send the guest's next command. -EAGAIN: no runner has room. */
int guest_send_next(struct guest *g, struct err *err);
void guest_cannot_send(struct guest *g, const struct err *why);
/* The guest is awake and has nothing to do. */
void guest_rest_awake(struct guest *g);
/*
 * The guest fell asleep without work. Returns true if it is to be woken ahead of work, and then
 * keeps its struct active.
 */
bool guest_rest_asleep(struct guest *g);

/* ---- guest_slow.c ---- */

/*
 * Record the CPU time that the command has used. activations: how many of the command's activations
 * have ended with this.
 */
void guest_note_cost(struct guest *g, uint32_t cpu_us, uint32_t activations);
/* A slice of the activation is over while other guests wait in the runner. May free the guest. */
void guest_on_slice(struct guest *g, bool is_start);
/* The command ended in a trap. */
void guest_note_trap(struct guest *g, uint32_t cpu_us);
/*
 * If the guest is slow, awake and idle in a runner for quick guests, make it leave. Returns whether
 * the guest was ended.
 */
bool guest_leave_if_slow(struct guest *g);

/* ---- guest_answer.c ---- */

/*
 * End this incarnation. is_strike: the failure is the guest's own fault; otherwise it restarts at
 * once.
 */
void guest_end(struct guest *g, const struct err *why, bool is_strike);
/* The first message of a wake has arrived. */
void guest_note_wake(struct guest *g);
/* Whether one more line may be logged. */
bool guest_may_log(struct guest *g);
void guest_say_left_out(struct guest *g, uint32_t n);
int guest_on_answer(struct tenant *t, const struct proto_answer *a, struct err *err);
void guest_on_lost(struct tenant *t, enum tenant_lost how, const struct err *why);

/* ---- guest_v1.c ---- */

/*
 * Check the notes of a V1 guest: they may only concern activations that were sent, in their order.
 * is_end: every activation has a result. Returns the number of results.
 */
int guest_check_notes(const struct guest *g, uint32_t n, struct rd notes, bool is_end,
                      struct err *err);
void guest_hand_out_notes(struct guest *g, uint32_t n, struct rd notes);
int guest_on_call(struct tenant *t, const struct proto_call *c, bool is_call, struct err *err);
/* Put a stateless guest to sleep by ending it. */
void guest_dissolve(struct guest *g);

/* ---- guest_snapshot.c ---- */

/* Whether its swap file can outlive this process. */
bool guest_has_record(const struct guest *g);
/* Read the id of this boot of the machine. Errors are temporary, for example -EMFILE. */
int guest_read_boot(char ret[BOOT_ID_BYTES], struct err *err);
void guest_get_identity(const struct guest *g, uint8_t ret[32]);
/* 0: unknown. */
uint64_t guest_swap_mtime_ns(int fd);
/*
 * Replaces a start: returns true if an earlier process left a snapshot, and the service has been
 * asked.
 */
bool guest_adopt(struct guest *g);
void guest_adopted(struct guest *g, bool is_accepted);
void guest_end_adoption(struct guest *g);

/* ---- guest_host.c ---- */

void guest_host_pump(struct defer *d);
void guest_host_close_if_idle(struct guest_host *h);
