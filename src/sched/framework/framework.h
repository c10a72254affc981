/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plugins use from their environment: the cache, the words, the API, other pending pods, and
 * the filters of their profile for dry runs. One for each profile; core/ fills it in. Upstream:
 * fwk.Handle.
 */
#pragma once

#include "io/http.h"
#include "sched/framework/plugin.h"

/*
 * A request to the Kubernetes API. Answered exactly once, on the scheduler's thread, never inside
 * sched_api_call(); sched_free() answers the remaining requests with -ECANCELED.
 */
struct sched_api_request {
    /* Not a request to the API but a question about the layers of an image. `target` is the
     * namespace of the pull secrets, the image and the names of the secrets, each followed by "\n";
     * the body of the answer has the form of the annotation image.dormouse.dev/layers. Only allowed
     * if sched_opts.finds_layers is set. */
    bool is_image;
    const char *method;
    struct str target;      /* path and query */
    struct str body;        /* JSON; all borrowed for the call */
    const char *patch_type; /* content type of a PATCH; NULL: application/json */
};
/* r: 0: an answer arrived, status and body are set; negative: no answer, err says why. */
typedef void (*sched_api_done)(void *arg, int r, int status, struct str body,
                               const struct err *err);
struct sched_api {
    void (*call)(struct sched_api *api, const struct sched_api_request *rq, sched_api_done done,
                 void *arg);
};
static inline void sched_api_call(struct sched_api *api, const struct sched_api_request *rq,
                                  sched_api_done done, void *arg)
{
    api->call(api, rq, done, arg);
}
/* Converts the API's answer: success for 2xx, else the message of its Status. */
const struct sched_status *sched_api_status(struct arena *a, int r, int status, struct str body,
                                            const struct err *err);

/* An ObjectReference of an Event. */
struct sched_reference {
    struct str kind, api_version, namespace, name, uid, resource_version;
};

struct sched_profile;
struct sched_nominator;
struct sched_queue;
struct sched_image_ops;

struct sched_framework {
    const struct sched_profile *profile;
    struct str scheduler_name;
    struct intern_table *words;
    /*
     * The cache that the plugins of this profile read. It does not change while one of them is
     * called: a profile with its own thread has a copy, which is updated between calls.
     */
    struct sched_cache *cache;
    /* the newest state; the same cache if the profile has no copy; NULL: `cache` is */
    const struct sched_cache *live;
    const struct sched_nominator *nominator; /* NULL: no pod is nominated */
    struct sched_queue *queue; /* plugins use it to activate pods and withdraw nominations */
    struct sched_api *api;
    uint64_t (*now_ms)(void *arg); /* monotonic; virtual in tests and simulations */
    int64_t (*wall_ms)(void *arg); /* since 1970 */
    void (*after)(void *arg, uint64_t ms, void (*run)(void *run_arg), void *run_arg); /* once */
    /* Cancels the after() with these two arguments; does nothing if it has run. */
    void (*cancel_after)(void *arg, void (*run)(void *run_arg), void *run_arg);
    uint64_t (*random)(void *arg); /* drawn from the scheduler's seed */
    void *arg;
    /* A plugin's state has changed such that pods which it has refused may fit. */
    void (*event)(struct sched_framework *f, const struct sched_event *event);
    /* Records an Event about a pod (or, `regarding` NULL, about none). note is cut at 1024
     * bytes. */
    void (*record)(struct sched_framework *f, const struct sched_pod *pod, const char *type,
                   const char *reason, const char *action, struct str note);
    /* The same about any object that a plugin describes; related may be NULL. An Event with a type
     * other than Normal and Warning is dropped. */
    void (*record_about)(struct sched_framework *f, const struct sched_reference *regarding,
                         const struct sched_reference *related, struct str type, struct str reason,
                         struct str action, struct str note);
    /* Pods in Permit. */
    const struct sched_pod *(*waiting_pod)(struct sched_framework *f, struct str uid);
    bool (*reject_waiting_pod)(struct sched_framework *f, struct str uid, struct str plugin,
                               struct str message);
    bool (*allow_waiting_pod)(struct sched_framework *f, struct str uid, struct str plugin);
    const struct sched_image_ops *images; /* NULL: image layers are not looked up */
    void *images_arg;
    const struct sched_extender_ops *extenders; /* NULL: none */
    void *extenders_arg;
    /*
     * Called around a call that may take long (a guest): between leave() and enter() other profiles
     * run, so the caller touches nothing except what the call owns and the plugin's own fields.
     * leave() returns false if no other thread can run; the caller then skips enter(). Both NULL:
     * as if leave() returned false.
     */
    bool (*leave)(void *arg);
    void (*enter)(void *arg);
    /* A guest call is under way, or `cache` is not up to date yet: other threads must not call
     * plugins of the profile. NULL: never. */
    bool (*is_behind)(void *arg);
};

/*
 * The layers of pods' images, as registries report them. Pods with the annotation
 * image.dormouse.dev/layers are not looked up.
 */
struct sched_image_ops {
    /* True if the layers of all images of the pod are known, or were waited for long enough. An
     * image that was never looked up is looked up, and the answer is false for wait_ms. The event
     * SCHED_ON_IMAGE_LAYERS follows. */
    bool (*is_settled)(void *arg, const struct sched_pod *pod, uint64_t wait_ms);
    /* In a hint: is the event about an image of the pod? */
    bool (*concerns)(void *arg, const struct sched_pod *pod);
    /* The layers of those of its images whose layers are known; "": none is. In the form of the
     * annotation. */
    struct str (*layers)(void *arg, const struct sched_pod *pod, struct arena *a);
};

/* A node on which preemption would make room. */
struct sched_candidate {
    const struct sched_node_info *node;
    const struct sched_pod **victims; /* by falling priority */
    uint32_t n_victims, n_violations; /* n_violations: of disruption budgets */
};

/*
 * Extenders, as core and preemption call them (extender/). The calls block until the extender has
 * answered, as in upstream's scheduling cycle.
 */
struct sched_extender_ops {
    /* Reduces nodes[0..*n]; calls refuse() for each refused node. NULL: success. */
    const struct sched_status *(*filter)(void *arg, struct sched_cycle *cycle,
                                         const struct sched_node_info **nodes, size_t *n,
                                         void (*refuse)(void *refuse_arg,
                                                        const struct sched_node_info *node,
                                                        const struct sched_status *status),
                                         void *refuse_arg);
    /* Adds weight * score * (SCHED_SCORE_MAX / 10) to each node's sum. */
    void (*prioritize)(void *arg, struct sched_cycle *cycle,
                       const struct sched_node_info *const *nodes, size_t n, int64_t *sums);
    /* Does an extender bind this pod? If so, it replaces the bind plugins. */
    bool (*binds)(void *arg, const struct sched_pod *pod);
    const struct sched_status *(*bind)(void *arg, struct sched_cycle *cycle,
                                       struct sched_step *step);
    /* Preemption: candidates as {node, victims by uid}; changes them. See extender/extender.h. */
    const struct sched_status *(*process_preemption)(void *arg, struct sched_cycle *cycle,
                                                     struct sched_candidate *candidates, size_t *n);
};

/* ---- for plugins that ask "what if" (preemption, nominated pods) ---- */

/*
 * A fork of the cycle: the states of all plugins after PreFilter, copied by plugins with
 * clone_state(). The fork has its own arena.
 */
struct sched_cycle *sched_cycle_fork(struct sched_cycle *cycle);
void sched_cycle_fork_free(struct sched_cycle *fork);
DEFINE_SCOPED(sched_cycle, sched_cycle_fork_free)
const struct sched_status *sched_run_add_pod(struct sched_cycle *cycle,
                                             const struct sched_pod *other,
                                             const struct sched_node_info *node);
const struct sched_status *sched_run_remove_pod(struct sched_cycle *cycle,
                                                const struct sched_pod *other,
                                                const struct sched_node_info *node);
/*
 * The same, and again with the pods added that are nominated to the node with the same or a higher
 * priority (upstream's RunFilterPluginsWithNominatedPods).
 */
const struct sched_status *sched_run_filters_nominated(struct sched_cycle *cycle,
                                                       const struct sched_node_info *node);
/*
 * Both for thousands of nodes: a refusal is returned as the plugin gave it, without the plugin's
 * name; a constant one costs nothing. ret_by: the plugin that refused; set with a refusal only.
 */
const struct sched_status *sched_filters(struct sched_cycle *cycle,
                                         const struct sched_node_info *node,
                                         const struct sched_plugin **ret_by);
const struct sched_status *sched_filters_nominated(struct sched_cycle *cycle,
                                                   const struct sched_node_info *node,
                                                   const struct sched_plugin **ret_by);
