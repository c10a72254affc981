/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals shared by the files that implement template.h:
 *
 *     template.c  templates in runners, seats     template_job.c  jobs, their lines, messages
 *     turns.c     the order in which jobs compute
 */
#pragma once

#include "guest/template.h"

#include "base/sm.h"

struct guest_templates {
    struct loop *loop;
    struct runner_class *runners;
    const struct guest_template_ops *ops;
    unsigned max_runners, templates_max;
    struct list ready;    /* templates by last use, the oldest first */
    struct list wanted;   /* programs whose next template waits for room */
    struct list failing;  /* programs whose next template could not be made, until `report` */
    struct list wide;     /* programs with more than one template */
    struct list lines;    /* programs with jobs that have no room, the next one first */
    struct list shares;   /* turns.c */
    unsigned n_templates; /* in every state */
    unsigned n_waiting;   /* jobs HELD or WAITING */
    unsigned n_running;   /* jobs SENT or RUNNING */
    uint64_t serial, cpu_us;
    struct defer pump, report;
    struct timer tidy; /* armed while `wide` is not empty */
    void (*done)(void *arg);
    void *done_arg;
};

/*
 *     MAKING --answer--> READY --idle for long, replaced, lost--> RETIRED --last job--> freed
 *        `------ failed, lost, its program stops ------------------^
 */
enum guest_template_state { GUEST_TEMPLATE_MAKING, GUEST_TEMPLATE_READY, GUEST_TEMPLATE_RETIRED };

/*
 * A seat whose job has computed for a slice waits until its turn is given; see turns.c. The turn
 * lasts until the next slice, or until the job makes a call or ends.
 */
enum guest_turn { GUEST_TURN_NONE, GUEST_TURN_AWAITED, GUEST_TURN_GIVEN };

struct guest_template {
    struct sm sm;
    struct guest_program *program;
    uint32_t generation; /* of its module's code */
    bool is_slow;        /* in the runner for slow programs */
    struct list node;    /* of the program */
    struct list used;    /* on all->ready while READY */
    struct guest_seat seat;
    struct list free;                 /* seats without a job, the last used first */
    unsigned n_seats, n_busy, n_free; /* n_seats: the sum of the others */
    uint64_t used_ms;
    struct list sliced;        /* seats that wait for their turn */
    struct list in_share;      /* on the share's templates while there are such */
    struct guest_share *share; /* while n_computing */
    unsigned n_computing;      /* seats whose turn is AWAITED or GIVEN */
};

static inline bool guest_seat_is_template(const struct guest_seat *seat)
{
    return seat == &seat->template->seat;
}

/* ---- template.c ---- */

/* A seat that can be sent to. -EAGAIN: no room now; -ENOENT: no template is ready. */
int guest_seat_get(struct guest_program *p, struct guest_seat **ret);
/* Its command was answered: keep it for the next job. */
void guest_seat_put(struct guest_seat *seat);
/* End its instance, whatever it does. */
void guest_seat_drop(struct guest_seat *seat);
/* Its runner has ended. */
void guest_seat_lost(struct guest_seat *seat);
/*
 * Make another template, now or when there is room. After another failure the next turn tries again
 * and reports the failure of that.
 */
void guest_program_need_template(struct guest_program *p);
/* A job of the program has used this much CPU time, all of it. */
void guest_program_note_cost(struct guest_program *p, uint64_t cpu_us);
/* The same of a job that still runs while others wait. */
void guest_program_note_slice(struct guest_program *p, uint64_t cpu_us);
/* The command that makes a template was answered, or its runner has ended. */
int guest_template_on_answer(struct guest_seat *seat, const struct proto_answer *a,
                             struct err *err);
void guest_template_on_lost(struct guest_seat *seat, enum tenant_lost how, const struct err *why);

/* ---- template_job.c ---- */

extern const struct runner_class_ops guest_template_class_ops;
/* Jobs that were held may look for a seat. */
void guest_program_release_held(struct guest_program *p);
void guest_job_pump(struct guest_templates *all);

/* ---- turns.c ---- */

/* The seat's job has computed for a slice: it continues when its turn comes. */
void guest_turn_wait(struct guest_seat *seat);
/* The job stops computing: it has ended, waits for something else, or will be dropped. */
void guest_turn_end(struct guest_seat *seat);
/* The same after its runner has ended. */
void guest_turn_lost(struct guest_seat *seat);
