/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plugins find around them: the cache, the words, the API, other pods that wait, and the
 * filters of their profile for dry runs. One for each profile; core/ fills it in.
 * Upstream: fwk.Handle.
 */
#pragma once

#include "io/http.h"
#include "sched/framework/plugin.h"

/*
 * A request to the Kubernetes API. Answered exactly once, on the scheduler's thread, never inside
 * sched_api_call(); a scheduler that ends answers what is left with -ECANCELED.
 */
struct sched_api_request {
    /* Not to that API: what is an image made of? `target` is the namespace of the pull secrets, the
     * image and the names of the secrets, each with "\n"; the answer's body is as the annotation
     * image.dormouse.dev/layers. Only where sched_opts.finds_layers says so. */
    bool is_image;
    const char *method;
    struct str target;      /* path and query */
    struct str body;        /* JSON; all borrowed for the call */
    const char *patch_type; /* content type of a PATCH; NULL: application/json */
};
/* r: 0: there is an answer, status and body are set; negative: there was none, err tells. */
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
/* The API's answer as a status: success for 2xx, else its Status' message. */
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
     * What the plugins of this profile look at. It does not change while one of them is called: for
     * a profile that has a thread of its own it is a copy, which follows between calls.
     */
    struct sched_cache *cache;
    const struct sched_cache
        *live; /* as told last; the same one where there is no copy. NULL: so */
    const struct sched_nominator *nominator; /* NULL: nobody is nominated */
    struct sched_queue *queue; /* plugins activate pods and withdraw nominations through it */
    struct sched_api *api;
    uint64_t (*now_ms)(void *arg); /* monotonic; virtual in tests and simulations */
    int64_t (*wall_ms)(void *arg); /* since 1970 */
    void (*after)(void *arg, uint64_t ms, void (*run)(void *run_arg), void *run_arg); /* once */
    /* Forgets what after() was given with these two; nothing if it has run. */
    void (*cancel_after)(void *arg, void (*run)(void *run_arg), void *run_arg);
    uint64_t (*random)(void *arg); /* drawn from the scheduler's seed */
    void *arg;
    /* A plugin's state has changed so that pods which it has refused may fit. */
    void (*event)(struct sched_framework *f, const struct sched_event *event);
    /* An Event object about a pod (or, `regarding` NULL, none). note is cut at 1024 bytes. */
    void (*record)(struct sched_framework *f, const struct sched_pod *pod, const char *type,
                   const char *reason, const char *action, struct str note);
    /* The same about any object, as a plugin describes it; related may be NULL. A type other than
     * Normal and Warning is dropped. */
    void (*record_about)(struct sched_framework *f, const struct sched_reference *regarding,
                         const struct sched_reference *related, struct str type, struct str reason,
                         struct str action, struct str note);
    /* Pods in Permit. */
    const struct sched_pod *(*waiting_pod)(struct sched_framework *f, struct str uid);
    bool (*reject_waiting_pod)(struct sched_framework *f, struct str uid, struct str plugin,
                               struct str message);
    bool (*allow_waiting_pod)(struct sched_framework *f, struct str uid, struct str plugin);
    const struct sched_image_ops *images; /* NULL: nobody can be asked */
    void *images_arg;
    const struct sched_extender_ops *extenders; /* NULL: none */
    void *extenders_arg;
    /*
     * Around a call that may take long (a guest): between leave() and enter() other profiles go on,
     * so the caller touches nothing but what the call owns and the plugin's own fields. leave()
     * answers false where nobody else can go on; then there is no enter(). Both NULL: likewise.
     */
    bool (*leave)(void *arg);
    void (*enter)(void *arg);
    /* A call is out, or `cache` has yet to follow: plugins of the profile cannot be asked by
     * others. NULL: never. */
    bool (*is_behind)(void *arg);
};

/*
 * What pods' images are made of, as their registries say. Of pods with the annotation
 * image.dormouse.dev/layers nothing is asked.
 */
struct sched_image_ops {
    /* Whether it is known of all images of the pod, or has been waited for long enough: an image
     * that was never asked for before is, and for wait_ms the answer is no. Then the event
     * SCHED_ON_IMAGE_LAYERS comes. */
    bool (*is_settled)(void *arg, const struct sched_pod *pod, uint64_t wait_ms);
    /* In a hint: is the event about an image of the pod? */
    bool (*concerns)(void *arg, const struct sched_pod *pod);
    /* Of those of its images of which it is known; "": of none. In the form of the annotation. */
    struct str (*layers)(void *arg, const struct sched_pod *pod, struct arena *a);
};

/* A place that preemption would make. */
struct sched_candidate {
    const struct sched_node_info *node;
    const struct sched_pod **victims; /* by falling priority */
    uint32_t n_victims, n_violations; /* n_violations: of disruption budgets */
};

/*
 * Extenders, as core and preemption call them (extender/). They wait for the answer, as upstream's
 * scheduling cycle does.
 */
struct sched_extender_ops {
    /* Reduces nodes[0..*n]; what is refused is told to refuse(). NULL: success. */
    const struct sched_status *(*filter)(void *arg, struct sched_cycle *cycle,
                                         const struct sched_node_info **nodes, size_t *n,
                                         void (*refuse)(void *refuse_arg,
                                                        const struct sched_node_info *node,
                                                        const struct sched_status *status),
                                         void *refuse_arg);
    /* Adds weight * score * (SCHED_SCORE_MAX / 10) to each node's sum. */
    void (*prioritize)(void *arg, struct sched_cycle *cycle,
                       const struct sched_node_info *const *nodes, size_t n, int64_t *sums);
    /* Does one of them bind this pod? Then it is asked instead of the bind plugins. */
    bool (*binds)(void *arg, const struct sched_pod *pod);
    const struct sched_status *(*bind)(void *arg, struct sched_cycle *cycle,
                                       struct sched_step *step);
    /* Preemption: candidates as {node, victims by uid}; changes them. See extender/extender.h. */
    const struct sched_status *(*process_preemption)(void *arg, struct sched_cycle *cycle,
                                                     struct sched_candidate *candidates, size_t *n);
};

/* ---- for plugins that ask "what if" (preemption, nominated pods) ---- */

/*
 * A fork of the cycle: the states of all plugins as PreFilter has left them, copied where a plugin
 * says so. The fork has an arena of its own.
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
/* The first plugin's refusal, its name set. */
const struct sched_status *sched_run_filters(struct sched_cycle *cycle,
                                             const struct sched_node_info *node);
/*
 * The same, and also with the pods counted in that are nominated to the node and have the same
 * priority or a higher one (upstream's RunFilterPluginsWithNominatedPods).
 */
const struct sched_status *sched_run_filters_nominated(struct sched_cycle *cycle,
                                                       const struct sched_node_info *node);
/*
 * Both for thousands of nodes: a refusal is as the plugin gave it, without a name, and costs
 * nothing where it is a constant. ret_by: who refused; set with a refusal only.
 */
const struct sched_status *sched_filters(struct sched_cycle *cycle,
                                         const struct sched_node_info *node,
                                         const struct sched_plugin **ret_by);
const struct sched_status *sched_filters_nominated(struct sched_cycle *cycle,
                                                   const struct sched_node_info *node,
                                                   const struct sched_plugin **ret_by);
