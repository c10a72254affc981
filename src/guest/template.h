/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests that start from a template: the memory as it is after initialisation. Each job gets an
 * instance of its own that starts from it.
 *
 *     program --> template, one in each runner that works for it --> seats --> one job at a time
 *
 * A program is a module with arguments and environment. A seat runs one job at a time beside a
 * template; a seat without a job is kept for the next one. A job that finds no template is held
 * with its program. A job that finds no room waits in the line of its program, and the lines take
 * turns.
 *
 * This module decides where templates are made, when a program gets a further runner or moves to
 * the runner for slow programs, which idle template is retired for another one, when a job that
 * computes continues (turns.c), and which job is next. Its user defines what a program and a job
 * are: it fills in the RUN messages and reads the notes.
 *
 * A job:
 *
 *     IDLE --start--> HELD --template ready--> WAITING --room--> SENT --first message--> RUNNING
 *                                                 ^               |
 *                                                 `- runner lost -'
 *     any of them --answer, guest_job_leave(), runner lost--> IDLE
 *
 * Loop thread only. Callbacks run from the loop, except that fill_template() and fill_job() also
 * run inside guest_program_start() and guest_job_start().
 */
#pragma once

#include "guest/runner_pool.h"

enum {
    GUEST_TEMPLATES_MAX = 1000, /* in runners; beyond, the one used longest ago is retired, and made
                                 * again for the next job of its program */
    GUEST_JOBS_WAITING_MAX = 8192, /* of a class of runners; of one program half of them */
    GUEST_JOBS_PARKED_MAX = 256,   /* jobs of one runner that may park: a thread each */
    GUEST_SEATS_FREE = 32,         /* of one template that wait for jobs */
    GUEST_TEMPLATE_TIDY_MS = 2000, /* a further runner that is not needed is left after this */
    GUEST_TEMPLATE_GROW_MS = 20,   /* between two decisions to make a further template */
    GUEST_PROGRAM_QUICK_US = 2000, /* below this average CPU time, jobs are quick again */
    GUEST_PROGRAM_LONG_US = 100000 /* CPU time of one job that runs beside others: at once */
};

struct guest_templates; /* those of one class of runners */
struct guest_template;
struct guest_share;

/* Embedded by the user; guest_program_init(). */
struct guest_program {
    struct guest_templates *all;
    struct module *module; /* kept by the user; NULL: none yet */
    const char *namespace; /* kept by the user; namespaces share a runner's time equally. Set while
                            * it has jobs */
    struct list node;      /* on all->wanted: its next template waits for room in a runner; or on
                            * all->failing: it could not be made */
    struct list templates; /* the first one is preferred */
    unsigned n_templates;
    struct list wide;    /* on all->wide while it has more than one template */
    struct list held;    /* jobs without a template */
    struct list waiting; /* jobs without room, the oldest first */
    struct list line;    /* on all->lines while there are such */
    unsigned n_waiting;  /* of these */
    uint32_t cost_us;    /* CPU time of a job, average */
    bool is_slow;        /* new templates are made in the runner for the slow */
    bool is_stopped;
    uint64_t grow_ms;         /* when a further template was last considered */
    uint32_t lost_generation; /* of the module: its code was removed when a template was renewed */
};

/* Where one job at a time runs; also the place of a template itself, which has no job. */
struct guest_seat {
    struct tenant tenant;
    struct guest_template *template;
    struct guest_program *program;
    struct guest_job *job;
    struct list node;          /* on template->free */
    uint64_t serial;           /* identifies it to its runner */
    uint64_t next_id, call_id; /* next_id: of the next call; call_id: of the last one */
    unsigned turn;             /* enum guest_turn */
    struct list sliced;        /* on template->sliced while it waits for its turn */
};

enum guest_job_state {
    GUEST_JOB_IDLE,    /* not started, or over */
    GUEST_JOB_HELD,    /* its program has no template */
    GUEST_JOB_WAITING, /* no runner has room */
    GUEST_JOB_SENT,    /* no message about it has arrived, so it can be sent again */
    GUEST_JOB_RUNNING
};

/* Embedded by the user; zero-initialised. */
struct guest_job {
    enum guest_job_state state;
    struct guest_program *program; /* while not IDLE */
    struct guest_seat *seat;       /* while SENT or RUNNING */
    struct list node;              /* on the program's held or waiting */
    uint64_t cpu_us;
};

struct guest_template_ops {
    /*
     * Fill in the RUN that makes a template: ABI, limits, and arguments and environment, encoded
     * as proto_setup, in `setup`. The module sets flags, guest, setup and clock.
     */
    void (*fill_template)(struct guest_program *p, struct proto_run *run, struct buf *setup);
    /*
     * Fill in the RUN of a job; the same, except that `setup` is the user's. Runs again if the
     * runner is lost before it has begun.
     */
    void (*fill_job)(struct guest_job *j, struct proto_run *run);
    /*
     * Check a message of a runner, without any effect. seat->job NULL: about the template itself.
     * is_end: it is the last message. call: made after the notes; NULL: none. An error ends the
     * runner.
     */
    int (*check)(const struct guest_seat *seat, uint32_t n_notes, struct rd notes, bool is_end,
                 const struct proto_call *call, struct err *err);
    /*
     * Notes of a job that continues, or of a template. The user may end the job; false: it did,
     * and the seat is freed.
     */
    bool (*on_notes)(struct guest_seat *seat, uint32_t n_notes, struct rd notes,
                     uint32_t logs_left_out);
    /*
     * After on_notes(): the guest is parked until guest_seat_reply(). c NULL: it makes no call and
     * continues. The user may end the job.
     */
    void (*on_call)(struct guest_seat *seat, const struct proto_call *c);
    /* The job has ended and is IDLE. */
    void (*on_answer)(struct guest_job *j, const struct proto_answer *a);
    /* The runner of the job was lost and the job cannot be sent again; it is IDLE. */
    void (*on_lost)(struct guest_job *j, const struct err *why);
    /* A template is ready; jobs that were held are sent after this. */
    void (*on_ready)(struct guest_program *p);
    /*
     * A template could not be made. Other templates of the program may still serve; otherwise the
     * user ends the jobs that are held, or starts the program again.
     */
    void (*on_failed)(struct guest_program *p, const struct err *why);
    /*
     * The same, because the module's code was removed from the cache: the user compiles it again,
     * sets the module, and starts the program.
     */
    void (*on_code_lost)(struct guest_program *p);
};

struct guest_templates_opts {
    struct loop *loop;
    struct runner_pool *runners; /* kept */
    unsigned max_runners;        /* 0: one per core */
    unsigned templates_max;      /* 0: GUEST_TEMPLATES_MAX */
};

/* Opens a class of runners for them; starts no process. */
struct guest_templates *guest_templates_new(const struct guest_templates_opts *opts,
                                            const struct guest_template_ops *ops);
/*
 * End the runners; done() runs last, and nothing else runs after this call. All programs must be
 * stopped and without jobs.
 */
void guest_templates_close(struct guest_templates *all, void (*done)(void *arg), void *arg);

struct guest_templates_stats {
    struct runner_class_stats pool;
    unsigned running, waiting; /* jobs: in runners, for room there */
    uint64_t cpu_us;           /* of all jobs that have ended with an answer */
};
void guest_templates_get_stats(const struct guest_templates *all,
                               struct guest_templates_stats *ret);
/* As pool_pids(). */
size_t guest_templates_pids(const struct guest_templates *all, int *ret, size_t max);

void guest_program_init(struct guest_program *p, struct guest_templates *all);
/* Retire all templates; further ones are made from `m`, which is kept until the next call. */
void guest_program_set_module(struct guest_program *p, struct module *m);
/* Make a template, now or when a runner has room. on_ready() or on_failed() follows. */
void guest_program_start(struct guest_program *p);
/* Retire all templates and make no others until guest_program_start(). */
void guest_program_stop(struct guest_program *p);
/* It has a template, ready or being made, that takes jobs. */
bool guest_program_has_template(const struct guest_program *p);
/* As many jobs wait as may; the user refuses further ones. */
bool guest_program_is_full(const struct guest_program *p);
/* A job that is held; NULL: none. */
struct guest_job *guest_program_first_held(const struct guest_program *p);

/* Run an IDLE job. on_answer() or on_lost() follows, from the loop. */
void guest_job_start(struct guest_job *j, struct guest_program *p);
/* End it in any state: no callback follows. Its instance, if there is one, is ended. */
void guest_job_leave(struct guest_job *j);
/* Answer the call in which the seat's guest is parked. */
void guest_seat_reply(struct guest_seat *seat, int64_t value, struct str bytes);
