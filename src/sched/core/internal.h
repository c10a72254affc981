/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the scheduler share.
 *
 *     scheduler.c     creation, reload, timers, the API, the plugins' environment
 *     objects.c       added and removed objects: cache, pending pods, events for the queue
 *     cycle.c         one scheduling cycle, up to Permit; explain
 *     search.c        which nodes fit
 *     score.c         which node is best
 *     lane.c          profiles with their own thread
 *     known_images.c  the layers of images, as far as they were looked up
 *     binding.c       Permit's wait and the binding cycle: steps that end later
 *     failure.c       why a pod has no node: text, condition, Event, return to the queue
 *     recorder.c      Events
 *     metrics.c       metrics
 */
#pragma once

#include "base/histogram.h"
#include "base/list.h"
#include "base/log.h"
#include "base/random.h"
#include "base/vec.h"
#include "sched/core/scheduler.h"

enum {
    PERMIT_MAX_MS = 15 * 60 * 1000, /* upstream's maxTimeout */
    NODES_TO_FIND_MIN = 100,
    NODES_TO_FIND_MIN_PERCENT = 5,
    NOTE_MAX_BYTES = 1024,        /* of an Event */
    MESSAGE_MAX_BYTES = 32 << 10, /* of a condition: longer texts are cut */
    SPARE_ATTEMPTS_MAX = 64,      /* kept with their memory for later pods */
    COMPLAIN_MS = 60000,          /* between two log lines about failed attempts */
    PATCH_TRIES = 4,              /* of a pod's status, while the API is unreachable */
    LANE_LOG_MAX = 128 << 10,     /* entries of a lane's log; further objects have to wait */
    IMAGES_MAX = 4096,            /* images with known layers */
    IMAGES_MAX_BYTES = 8 << 20,   /* of these; the least recently used is dropped */
    IMAGES_ASKED_MAX = 512,       /* lookups at a time; pods beyond do not wait for theirs */
    IMAGES_FRESH_MS = 60000,      /* after this a tag is looked up again */
    IMAGES_NAME_MAX_BYTES = 1024, /* longer names are ignored */
    RECORDER_QUEUE_MAX = 4096,    /* Events waiting to be sent; more are dropped */
    RECORDER_IN_FLIGHT_MAX = 32,
    /* warnings whose repeats are counted; the oldest is dropped first */
    RECORDER_SERIES_MAX = 4096,
    RECORDER_FINISH_MS = 360000,   /* a series without a repeat for this long has ended */
    RECORDER_REFRESH_MS = 1800000, /* interval at which a running series is written */
};

/* The cache that a cycle reads, and the cycle's arrays. */
struct sched_view {
    struct sched_cache *cache;
    size_t next_start; /* where the next search starts */
    struct {
        const struct sched_node_info **feasible;
        int64_t *scores, *sums, *weighted;
        struct sched_node_status *statuses;
        size_t cap;
    } scratch;
};

/* A profile with its own thread; lane.c. */
struct sched_lane {
    struct sched *s;
    struct profile_set *set;
    const struct sched_profile *profile;
    uint64_t natives;          /* its native plugins, by position */
    struct sched_cache *cache; /* of its view */
    struct sched_view view;
    struct list log; /* struct lane_op: what its cache and plugins have not applied yet */
    size_t n_log;
    struct list ready; /* struct sched_attempt: bindings that can continue */
    struct list asked; /* struct sched_asked */
    bool is_taken;     /* by a thread, which holds a reference to the set */
    bool is_in_job;
};

/* The target of framework.arg. */
struct profile_env {
    struct sched_api api; /* called by its plugins */
    struct profile_set *set;
    struct sched_lane *lane; /* NULL: none */
};

/* Plugins of one configuration, alive as long as an attempt or a request uses them. */
struct profile_set {
    struct sched *s;
    struct list node; /* of s->sets */
    unsigned refs;
    size_t n, n_envs;
    struct sched_profile *profiles;
    struct profile_metrics **metrics; /* by profile */
    struct profile_env *envs;         /* likewise */
};

/* A pod of our profiles without a node, as last reported. */
struct sched_pending {
    const struct sched_pod *pod; /* a reference */
    /* Its PodScheduled condition, as reported or as we have written it since. */
    bool has_condition, is_false;
    char *reason, *message; /* NULL: "" */
    char *nominated;        /* status.nominatedNodeName, with the same meaning */
    uint32_t n_patches;     /* patches of its status that were sent */
};

enum attempt_at { AT_PERMIT, AT_PRE_BIND, AT_BIND };

struct permit_wait { /* the wait of one plugin that returned Wait */
    uint64_t due_ms, wait_ms;
    const struct sched_plugin *plugin; /* NULL: the plugin has allowed the pod */
};

/* An attempt to place a pod: from PreFilter to the end of its binding. */
struct sched_attempt {
    struct list node; /* of s->attempts, s->ready, lane->ready or s->spare */
    struct sched *s;
    struct profile_set *set;
    const struct sched_profile *profile;
    struct sched_lane *lane; /* of its profile; NULL: none */
    struct sched_view *view; /* the lane's, or the scheduler's */
    struct profile_metrics *metrics;
    struct arena arena;
    struct sched_cycle cycle;
    struct sched_step step;
    const struct sched_pod *pod; /* a reference */
    struct intern *host;         /* a reference, once chosen */
    enum attempt_at at;
    unsigned next;                     /* next plugin of this stage */
    const struct sched_plugin *asked;  /* the plugin whose answer is pending */
    bool asked_extenders;              /* extenders are asked to bind it */
    bool waiting;                      /* for sched_step_done() or Permit */
    bool is_announced;                 /* in the pod's nominatedNodeName */
    bool is_ready;                     /* on s->ready or lane->ready */
    const struct sched_status *status; /* of the last step */
    struct permit_wait *permits;
    unsigned n_permits;
    uint64_t permit_began_ns;
    uint64_t started_ns, point_ns, first_ms;
    unsigned attempts;
};

struct sched_timer {
    uint64_t due_ms, seq;
    void (*run)(void *arg);
    void *arg;
    struct sched_lane *lane; /* the lane of the plugin that set it; NULL: none */
};

struct api_call {
    struct list node;
    struct sched *s;         /* NULL: already answered, because the scheduler has ended */
    struct profile_set *set; /* a reference, or NULL: core's own */
    struct sched_lane *lane; /* the lane of the calling plugin; NULL: none */
    sched_api_done done;
    void *arg;
};

enum { METRIC_BOUNDS_MAX = 20 };
struct metric_times {
    HISTOGRAM_FIELDS(uint64_t, METRIC_BOUNDS_MAX);
};
enum { RESULT_SCHEDULED, RESULT_UNSCHEDULABLE, RESULT_ERROR, RESULT_COUNT };
enum { CODE_COUNT = SCHED_PENDING + 1 };
enum { POINT_UNRESERVE = SCHED_POINT_COUNT, METRIC_POINT_COUNT };
struct profile_metrics {
    char *name;
    uint64_t attempts[RESULT_COUNT];
    struct metric_times latency[RESULT_COUNT];
    struct metric_times *points[METRIC_POINT_COUNT][CODE_COUNT];
};

struct recorder {
    struct map series;  /* of struct series */
    struct list by_age; /* the same, the oldest first */
    struct list queue;  /* struct note: to be sent */
    size_t n_queue, n_in_flight;
    uint64_t dropped;
    bool timer_runs;
    uint64_t last_nano; /* the names of Events increase */
};

/* The layers of images; known_images.c. */
struct known_images {
    struct map by_key;
    struct list by_use; /* struct known_image, the last used at the end */
    size_t bytes, n_asked;
    /* the image whose event is being delivered to the queue; NULL: none */
    const struct known_image *settling;
    struct log_rate complaints;
};

struct sched {
    struct sched_opts opts;
    struct intern_table *words;
    struct sched_view view;     /* of all profiles without a lane; its cache is up to date */
    struct sched_lane *running; /* the lane whose thread runs the scheduler; NULL: no lane's */
    struct sched_queue *queue;
    struct profile_set *set; /* for new attempts */
    struct list sets;        /* this set, and older ones that bindings under way still use */
    struct map pending;      /* namespace/name -> struct sched_pending */
    struct map by_uid;       /* attempts after assume, by their pods' uids */
    struct list attempts, ready, spare;
    size_t n_attempts, n_spare, n_waiting;
    struct list calls;
    struct list patches;            /* failure.c: patches that wait for another try */
    VEC(struct sched_timer) timers; /* a heap */
    uint64_t timer_seq;
    uint64_t now_ms;
    struct rng rng;
    bool is_synced, leads, is_ending;
    char host[256];

    struct known_images images;
    struct recorder recorder;
    struct log_rate complaints; /* of attempts that ended in an error */
    VEC(struct profile_metrics *) profile_metrics;
    struct metric_times algorithm, victims, pod_attempts, permit_wait[CODE_COUNT];
    struct metric_times *sli[16]; /* by number of attempts; [15]: 15+ */
    struct sched_stats stats;
    uint64_t preemption_attempts;
};

/* The result of an attempt that found no node. */
struct sched_outcome {
    enum sched_code code;
    struct str message;
    uint64_t rejected_by, pending_by;
    bool overrides; /* sets the nomination to `nominated`; "" clears it */
    struct str nominated;
};

/* ---- scheduler.c ---- */
void sched_view_fini(struct sched_view *v);
/* Delivers the answer of a call. */
void sched_api_call_end(struct api_call *call, int r, int status, struct str body,
                        const struct err *err);
/* Cancels the sched_after() with these two arguments. */
void sched_cancel_after(struct sched *s, void (*run)(void *arg), void *arg);
void sched_profile_set_unref(struct profile_set *set);
void sched_call(struct sched *s, const struct sched_api_request *rq, sched_api_done done,
                void *arg);
void sched_after(struct sched *s, uint64_t ms, void (*run)(void *arg), void *arg);
const struct sched_profile *sched_profile_of(const struct sched *s, struct str scheduler_name);
/* The entry of a pod in s->pending; borrowed until the next change. */
struct sched_pending *sched_pending_of(const struct sched *s, const struct sched_object *pod);
struct sched_pending *sched_pending_get(const struct sched *s, struct str namespace,
                                        struct str name);

/* ---- objects.c ---- */
void sched_pending_free(struct sched *s, struct sched_pending *p);
/* Delivers an event to the plugins and the queue; check: which pods of the queue, or NULL: all. */
void sched_publish_event(struct sched *s, const struct sched_event *event,
                         const struct sched_queue_check *check);
/* The pod with the node that we chose for it, or else the pod itself. Given. */
const struct sched_pod *sched_placed_pod(struct sched *s, const struct sched_pod *pod);
/* Publishes that the resources of a pod on its node are free again. */
void sched_publish_freed(struct sched *s, const struct sched_pod *pod,
                         const struct sched_queue_check *check);

/* ---- lane.c ---- */
/* NULL: the profile needs no lane. Called before its plugins are created; lane_begin() after. */
struct sched_lane *lane_new(struct profile_set *set, const struct sched_config *config, size_t i);
void lane_begin(struct sched_lane *l);
void lane_free(struct sched_lane *l);
/* Its plugins and its cache must not be touched now: changes for them go to its log. */
bool lane_is_behind(const struct sched_lane *l);
/* Called by the lane itself. Applies the log; returns false if it was empty. */
bool lane_sync(struct sched_lane *l);
/*
 * Called by a lane, between the search and its result: applies what has changed meanwhile. Returns
 * the node as it is now, or NULL if there was none (*o is unchanged) or if the pod cannot run there
 * any more (*o says why).
 */
const struct sched_node_info *lane_settle(struct sched_attempt *a,
                                          const struct sched_node_info *node,
                                          struct sched_outcome *o);
/*
 * Change the main cache and those of all lanes, like the functions of the cache; *ret_old: given.
 */
int lanes_put(struct sched *s, const struct sched_object *o, struct sched_object **ret_old,
              struct err *err);
void lanes_del(struct sched *s, enum sched_kind kind, struct str namespace, struct str name,
               struct sched_object **ret_old);
int lanes_assume(struct sched *s, const struct sched_pod *pod, struct intern *host,
                 struct err *err);
void lanes_bound(struct sched *s, const struct sched_pod *pod);
void lanes_forget(struct sched *s, const struct sched_pod *pod);
/* Calls `changed` of a profile's plugins. l: NULL: the profile has no lane. */
void lane_event(struct sched_lane *l, const struct sched_profile *profile,
                const struct sched_event *event);
/* Logs an answer for a lane that is behind. */
void lane_answer(struct sched_lane *l, struct api_call *call, int r, int status, struct str body,
                 const struct err *err);
void lane_timer(struct sched_lane *l, void (*run)(void *arg), void *arg);
void lane_cancel_timer(struct sched_lane *l, void (*run)(void *arg), void *arg);
/* Functions of struct sched_framework; arg: struct profile_env. */
bool lane_leave(void *arg);
void lane_enter(void *arg);
bool lane_env_is_behind(void *arg);

/* ---- cycle.c ---- */
/*
 * One attempt for the first pod of a lane (NULL: of all profiles without a lane). Returns false if
 * no pod was ready.
 */
bool cycle_step(struct sched *s, struct sched_lane *lane);
struct sched_attempt *sched_attempt_new(struct sched *s, const struct sched_profile *profile,
                                        const struct sched_pod *pod);
/* Calls the plugins' `end` and frees the attempt. */
void sched_attempt_end(struct sched_attempt *a);

/* ---- known_images.c ---- */
void known_images_init(struct known_images *m);
/* No lookup may be under way any more. */
void known_images_fini(struct sched *s);
extern const struct sched_image_ops known_images_ops; /* arg: the scheduler */

/* ---- binding.c ---- */
/* The reason why the pod must not be bound any more; NULL: it may be bound. */
const char *sched_attempt_void_reason(const struct sched_attempt *a);
/* Called after assume, Reserve and Permit. */
void binding_start(struct sched_attempt *a);
/* Unreserve in reverse order. */
void binding_unreserve(struct sched_attempt *a);
void binding_run(struct sched_attempt *a);
/* Runs the first of a non-empty list. */
void binding_run_one(struct sched *s, struct list *ready);
/* Runs the bindings that became ready meanwhile, of profiles without a lane. */
void binding_run_ready(struct sched *s);
void binding_make_ready(struct sched_attempt *a, const struct sched_status *status);
bool binding_reject(struct sched *s, struct str uid, struct str plugin, struct str message);
bool binding_allow(struct sched *s, struct str uid, struct str plugin);
const struct sched_pod *binding_waiting(struct sched *s, struct str uid);
/* Cancels all placements: none may be bound any more. */
void binding_void_all(struct sched *s);

/* ---- failure.c ---- */
/*
 * "0/5 nodes are available: ..."; statuses: of the examined nodes; absent: the status of all other
 * nodes, or NULL.
 */
struct str sched_fit_error_text(struct arena *a, size_t n_nodes,
                                const struct sched_node_status *statuses, size_t n,
                                const struct sched_status *absent, struct str pre_filter,
                                struct str post_filter);
/* The outcome when a plugin refuses the pod after the filters. */
void sched_outcome_of(struct sched_attempt *a, const struct sched_status *status,
                      struct sched_outcome *ret);
/* Returns the pod to the queue and writes condition and Event. Ends the attempt. */
void sched_attempt_failed(struct sched_attempt *a, const struct sched_outcome *o);
/* Writes status.nominatedNodeName alone, for a pod that will be bound late. */
void sched_write_nomination(struct sched *s, struct sched_pending *p, struct str node);

void sched_patches_fini(struct sched *s);

/* ---- recorder.c ---- */
void recorder_add(struct sched *s, const struct sched_profile *profile, const struct sched_pod *pod,
                  const char *type, const char *reason, const char *action, struct str note);
void recorder_add_about(struct sched *s, const struct sched_profile *profile,
                        const struct sched_reference *regarding,
                        const struct sched_reference *related, struct str type, struct str reason,
                        struct str action, struct str note);
void recorder_fini(struct sched *s);

/* ---- metrics.c ---- */
struct profile_metrics *sched_metrics_of(struct sched *s, struct str scheduler_name);
void sched_metrics_fini(struct sched *s);
/* Observes the time since a->point_ns, and sets that to now. */
void sched_metrics_point(struct sched_attempt *a, unsigned point, enum sched_code code);
void sched_metrics_attempt(struct sched_attempt *a, unsigned result);
void sched_metrics_algorithm(struct sched_attempt *a);
void sched_metrics_bound(struct sched_attempt *a);
void sched_metrics_permit(struct sched_attempt *a, enum sched_code code);
/* Counts the victims of one preemption. */
void sched_metrics_victims(struct sched *s, size_t n);
