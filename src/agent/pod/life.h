/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life cycle of one pod on its node, as Kubernetes documents it ("Pod Lifecycle", "Init
 * Containers", "Sidecar Containers", "Container Lifecycle Hooks"): which step is due next, given
 * what has happened. Pure: the caller carries steps out and reports their ends.
 *
 *     PREPARING -> ACTIVE -> TEARING_DOWN -> FINISHED -> DELETING -> GONE
 *         `----------`-> ENDING ---^
 *
 *     container:  WAITING -> PULLING -> PULLED -> STARTING -> POST_START -> RUNNING
 *                    ^                                 `----------.-----------|
 *                    `------- ENDED <------ STOPPING <------ PRE_STOP <-------'
 *
 * Order: init containers one after the other, each to its end, or until it has started where it is
 * a sidecar; then the main containers in their order, each after the postStart hook of the one
 * before. Images of the containers of a stage are pulled at the same time. At the end the main
 * containers are stopped together, then the sidecars one after the other, the last first.
 *
 * Restarts: the first one at once, later ones after 10 s, 20 s ... 300 s counted from the end;
 * after 10 minutes without an end the count begins again.
 */
#pragma once

#include "agent/pod/spec.h"
#include "base/sm.h"

enum {
    POD_BACKOFF_FIRST_MS = 10000, /* of restarts and of pulls */
    POD_BACKOFF_MAX_MS = 300000,
    POD_BACKOFF_FORGET_MS = 2 * POD_BACKOFF_MAX_MS,
    POD_RETRY_MS = 10000,    /* of a start or a preparation that failed */
    POD_MIN_GRACE_MS = 2000, /* of a container, also after its preStop hook */
    POD_MESSAGE_MAX = 4096,  /* of a termination message */
    POD_REASON_MAX = 64
};

struct pod_now {
    uint64_t ms;     /* monotonic */
    int64_t unix_ms; /* for the status */
};

enum pod_at {
    POD_PREPARING, /* volumes and network */
    POD_ACTIVE,
    POD_ENDING, /* containers are being stopped */
    POD_TEARING_DOWN,
    POD_FINISHED, /* no container will run any more */
    POD_DELETING, /* the API is asked to delete the object */
    POD_GONE
};

enum pod_container_at {
    POD_CONTAINER_WAITING,
    POD_CONTAINER_PULLING,
    POD_CONTAINER_PULLED,
    POD_CONTAINER_STARTING,
    POD_CONTAINER_POST_START, /* it runs, its hook too */
    POD_CONTAINER_RUNNING,
    POD_CONTAINER_PRE_STOP, /* it runs, its hook too */
    POD_CONTAINER_STOPPING,
    POD_CONTAINER_ENDED /* for good; one that will be started again is WAITING */
};

struct pod_container_end {
    int exit_code, signal; /* signal 0: it has exited */
    char reason[POD_REASON_MAX];
    char *message;                   /* owned; NULL: none */
    int64_t started_ms, finished_ms; /* Unix time */
    char *id;                        /* of the container; owned; NULL: it never ran */
};

/* A step of a container that is due, besides those that its stage decides. */
enum pod_due { POD_DUE_NONE, POD_DUE_POST_START, POD_DUE_PRE_STOP, POD_DUE_STOP };

struct pod_container_life {
    struct str name;
    const struct pod_container *spec; /* of the current spec */
    enum pod_container_kind kind;
    struct sm sm;
    uint32_t restarts;
    bool has_ended, has_last;           /* end, last are set */
    struct pod_container_end end, last; /* of this run, or the one that waits to be replaced; of the
                                         * one before */
    uint64_t retry_ms;                  /* WAITING: not before; 0: now */
    uint64_t backoff_ms, backoff_at_ms; /* of restarts */
    uint64_t pull_backoff_ms;
    char reason[POD_REASON_MAX]; /* why it waits; "": ContainerCreating, PodInitializing */
    char *message;               /* owned; NULL: none */
    int64_t started_ms;          /* of the run; Unix time */
    char *id, *image, *image_id; /* owned; NULL: not known */
    bool is_started;             /* its startup probe has succeeded, or it has none */
    bool is_ready;               /* its readiness probe, if it has one */
    bool has_begun;              /* it was started in the pod's present networks and volumes */
    bool was_rebuilt;            /* its definition changed: it is started again after its end */
    uint64_t end_ms, kill_ms;    /* PRE_STOP, STOPPING: the end of its grace as requested, and with
                                  * POD_MIN_GRACE_MS at least */
    enum pod_due due;
};

enum pod_cause { /* of the end of a pod */
                 POD_CAUSE_NONE,
                 POD_CAUSE_DELETED,
                 POD_CAUSE_EVICTED, /* with reason and message; phase Failed */
                 POD_CAUSE_DEADLINE,
                 POD_CAUSE_REFUSED /* it must not run here; phase Failed */
};

struct pod_life {
    const struct pod_spec *spec; /* borrowed */
    struct sm sm;
    struct pod_container_life *containers; /* in the order of pod_spec_at() */
    size_t n;
    enum pod_cause cause;
    char reason[POD_REASON_MAX]; /* status.reason */
    char *message;               /* status.message; owned */
    int64_t start_ms;            /* status.startTime; Unix time */
    bool has_deadline;           /* deadline_s was read: the value that deadline_ms is of */
    int64_t deadline_s;
    uint64_t deadline_ms; /* activeDeadlineSeconds; 0: none */
    uint64_t end_ms;      /* when the grace of the pod ends */
    uint64_t retry_ms;    /* of the preparation */
    bool is_asked;        /* the step of this state was returned: PREPARE, TEAR_DOWN, DELETE */
    bool was_prepared;    /* volumes and network have been made */
    bool is_deleted;      /* deletion was requested */
    bool is_gone;         /* the object does not exist any more */
};

enum pod_step_kind {
    POD_STEP_PREPARE,    /* pod_life_prepared() */
    POD_STEP_PULL,       /* of a container: pod_life_pulled() */
    POD_STEP_START,      /* pod_life_started() */
    POD_STEP_POST_START, /* the hook: pod_life_hook_ended() */
    POD_STEP_PRE_STOP,   /* likewise; grace_ms is what it has at most */
    POD_STEP_STOP,       /* pod_life_ended() follows; again with less grace */
    POD_STEP_TEAR_DOWN,  /* pod_life_torn_down() */
    POD_STEP_DELETE      /* pod_life_gone() */
};
struct pod_step {
    enum pod_step_kind kind;
    size_t i; /* of the container */
    uint64_t grace_ms;
};

/* start_ms: of an earlier status, Unix time; 0: now. */
void pod_life_init(struct pod_life *l, const struct pod_spec *spec, int64_t start_ms,
                   const struct pod_now *now);
void pod_life_fini(struct pod_life *l);
/*
 * The object has changed; the old spec is not used any more. Ephemeral containers may have been
 * added, a container's image changed (it is stopped and started again), deletion requested.
 */
void pod_life_set_spec(struct pod_life *l, const struct pod_spec *spec, const struct pod_now *now);

/* The next step to carry out; false: nothing is due. Call it until then after each event. */
bool pod_life_next(struct pod_life *l, const struct pod_now *now, struct pod_step *ret);
/* When to call it without an event, by pod_now.ms; UINT64_MAX: not. */
uint64_t pod_life_wake_ms(const struct pod_life *l);

/* ---- ends of steps; reason and message: NULL where r is 0; a CamelCase word and a sentence ----
 */

/* r < 0: again after POD_RETRY_MS. */
void pod_life_prepared(struct pod_life *l, int r, const char *message, const struct pod_now *now);
/* r < 0: reason ErrImagePull, ErrImageNeverPull, InvalidImageName. image, image_id: as shown in the
 * status. */
void pod_life_pulled(struct pod_life *l, size_t i, int r, const char *reason, const char *message,
                     const char *image, const char *image_id, const struct pod_now *now);
/* r < 0: reason CreateContainerConfigError, CreateContainerError, RunContainerError. is_config: the
 * container was not tried (CreateContainerConfigError): it is no restart. */
void pod_life_started(struct pod_life *l, size_t i, int r, const char *reason, const char *message,
                      const char *id, const struct pod_now *now);
/* The container has ended, at any time after it started. `end` is taken: its texts are given. Its
 * times may be 0: the start that is known, now. */
void pod_life_ended(struct pod_life *l, size_t i, struct pod_container_end *end,
                    const struct pod_now *now);
/* Of either hook. r < 0 after postStart: the container is stopped. */
void pod_life_hook_ended(struct pod_life *l, size_t i, int r, const struct pod_now *now);
void pod_life_torn_down(struct pod_life *l);
void pod_life_gone(struct pod_life *l);

/* ---- events ---- */

enum pod_probe_kind { POD_PROBE_LIVENESS, POD_PROBE_READINESS, POD_PROBE_STARTUP };
/* A probe has passed its threshold. A liveness or startup probe that failed stops the container.
 * Returns whether anything changed. */
bool pod_life_probed(struct pod_life *l, size_t i, enum pod_probe_kind kind, bool success,
                     const struct pod_now *now);
/* Delete it with this grace; a further call can only shorten it. The object may be gone already:
 * then there is no POD_STEP_DELETE. */
void pod_life_delete(struct pod_life *l, uint64_t grace_ms, bool is_gone,
                     const struct pod_now *now);
/* End it; it becomes Failed. */
void pod_life_evict(struct pod_life *l, const char *reason, const char *message, uint64_t grace_ms,
                    const struct pod_now *now);
/* Before its first step: it becomes Failed. */
void pod_life_refuse(struct pod_life *l, const char *reason, const char *message,
                     const struct pod_now *now);
/* Stop one container; it is started again if its policy says so. */
void pod_life_restart(struct pod_life *l, size_t i, const struct pod_now *now);
/* Something that waits may succeed now, such as after a ConfigMap was created. */
void pod_life_poke(struct pod_life *l);

/* ---- before the first step, after a restart of the agent ---- */

/* Network and volumes of the pod are there still. */
void pod_life_restore_prepared(struct pod_life *l);
/* It has ended for good; what is left is to be removed when the object is deleted. */
void pod_life_restore_finished(struct pod_life *l);
/* It runs: id, image and image_id are copied. */
void pod_life_restore_running(struct pod_life *l, size_t i, uint32_t restarts, int64_t started_ms,
                              const char *id, const char *image, const char *image_id);
/* What the probes of one that runs had found. */
void pod_life_restore_probed(struct pod_life *l, size_t i, bool is_started, bool is_ready);
/* It ended before, or while nobody saw it. `end` is taken. last: NULL or taken. */
void pod_life_restore_ended(struct pod_life *l, size_t i, uint32_t restarts,
                            struct pod_container_end *end, const struct pod_now *now);

/* It ran in a sandbox that is gone, as after a start of the machine: init containers run again.
 * `end` is taken. */
void pod_life_restore_lost(struct pod_life *l, size_t i, uint32_t restarts,
                           struct pod_container_end *end, const struct pod_now *now);

/* ---- queries ---- */

static inline enum pod_container_at pod_container_at(const struct pod_container_life *c)
{
    return (enum pod_container_at)c->sm.at;
}
static inline enum pod_at pod_at(const struct pod_life *l)
{
    return (enum pod_at)l->sm.at;
}
/* Its program runs, as far as known. */
bool pod_container_runs(const struct pod_container_life *c);
/* Its probes are to be run now. */
bool pod_container_is_probed(const struct pod_container_life *c);
bool pod_container_is_ready(const struct pod_container_life *c);
/* All init containers have ended with success, or are sidecars that have started. */
bool pod_life_is_initialized(const struct pod_life *l);
/* "Pending", "Running", "Succeeded", "Failed" (upstream's getPhase()). */
const char *pod_life_phase(const struct pod_life *l);
/* SIZE_MAX: none of this name. */
size_t pod_life_find(const struct pod_life *l, struct str name);
void pod_container_end_fini(struct pod_container_end *e);
