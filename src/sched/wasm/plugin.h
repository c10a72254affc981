/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scheduler plugins in WebAssembly, by the ABI of kube-scheduler-wasm-extension (both generations,
 * and reactors).
 *
 * A plugin is one module with one configuration. Its guests run in this process, on the thread that
 * calls, whose stack has to be 1 MiB at least; the module is compiled by the module cache,
 * elsewhere. Nothing of the engine exists before the first plugin is loaded, and nothing after the
 * last one has gone.
 *
 * Objects come in and stay as protobuf messages (objects.h): they are encoded once per version and
 * shared by all plugins and calls.
 *
 * An instance serves one pod from its first hook to wplugin_end(), postbind or unreserve; then it
 * may serve another one. What failed in an instance ends it, never the plugin.
 */
#pragma once

#include "base/buf.h"
#include "base/mem.h"
#include "io/loop.h"

#define WPLUGIN_MEMORY_MAX_BYTES ((uint64_t)64 << 20) /* of an instance */
#define WPLUGIN_STARTS_MAX       8u
#define WPLUGIN_CALL_MS          5000u              /* one call, by the wall clock */
#define WPLUGIN_OUTPUT_MAX_BYTES ((size_t)64 << 10) /* what a guest prints during a call */
#define WPLUGIN_INSTANCES_MAX    64u                /* the pod that rested longest loses its own */
#define WPLUGIN_RESULT_MAX_BYTES ((size_t)16 << 20) /* one result that a guest pushes */
#define WPLUGIN_KEY_MAX_BYTES    512u               /* what a pod is known by; the rest is cut */

struct module_cache;
struct module_references;

/*
 * name, its result (0 none, 'i' i32, 'I' i64), the extension point without which it is not used.
 * queueinghint is ours: its code is whether the event of the input may make the pod schedulable
 * (WPLUGIN_HINT_*).
 */
#define WPLUGIN_HOOKS(X)                                                                           \
    X(ENQUEUE, "enqueue", 0, 0)                                                                    \
    X(PREFILTER, "prefilter", 'i', 0)                                                              \
    X(ADDPOD, "addpod", 'i', WPLUGIN_FILTER)                                                       \
    X(REMOVEPOD, "removepod", 'i', WPLUGIN_FILTER)                                                 \
    X(FILTER, "filter", 'i', WPLUGIN_FILTER)                                                       \
    X(POSTFILTER, "postfilter", 'I', WPLUGIN_FILTER)                                               \
    X(PRESCORE, "prescore", 'i', WPLUGIN_SCORE)                                                    \
    X(SCORE, "score", 'I', WPLUGIN_SCORE)                                                          \
    X(NORMALIZESCORE, "normalizescore", 'i', WPLUGIN_SCORE)                                        \
    X(RESERVE, "reserve", 'i', WPLUGIN_RESERVE)                                                    \
    X(UNRESERVE, "unreserve", 0, WPLUGIN_RESERVE)                                                  \
    X(PERMIT, "permit", 'I', WPLUGIN_PERMIT)                                                       \
    X(PREBIND, "prebind", 'i', WPLUGIN_BIND)                                                       \
    X(BIND, "bind", 'i', WPLUGIN_BIND)                                                             \
    X(POSTBIND, "postbind", 0, WPLUGIN_BIND)                                                       \
    X(QUEUEINGHINT, "queueinghint", 'i', 0)

enum { WPLUGIN_HINT_SKIP = 0, WPLUGIN_HINT_QUEUE = 1 };

enum wplugin_point { /* bits, in the order of their names */
                     WPLUGIN_BIND = 1 << 0,
                     WPLUGIN_FILTER = 1 << 1,
                     WPLUGIN_PERMIT = 1 << 2,
                     WPLUGIN_RESERVE = 1 << 3,
                     WPLUGIN_SCORE = 1 << 4,
};
#define WPLUGIN_POINTS(X) X("bind") X("filter") X("permit") X("reserve") X("score")

enum wplugin_hook {
#define WPLUGIN_HOOK_ENUM(id, name, result, point) WPLUGIN_HOOK_##id,
    WPLUGIN_HOOKS(WPLUGIN_HOOK_ENUM)
#undef WPLUGIN_HOOK_ENUM
        WPLUGIN_HOOK_COUNT
};

const char *wplugin_hook_name(enum wplugin_hook hook);
/* WPLUGIN_HOOK_COUNT: there is none of that name. */
enum wplugin_hook wplugin_hook_of(struct str name);

/* Status codes as the scheduling framework has them. Guests may answer any other number. */
enum wplugin_code {
    WPLUGIN_SUCCESS = 0,
    WPLUGIN_ERROR = 1,
    WPLUGIN_UNSCHEDULABLE = 2,
    WPLUGIN_UNRESOLVABLE = 3, /* ...AndUnresolvable: preemption does not help */
    WPLUGIN_WAIT = 4,
    WPLUGIN_SKIP = 5,
    WPLUGIN_PENDING = 6,
};
/* What the framework makes of a guest's code: what it does not know is an error. */
static inline enum wplugin_code wplugin_framework_code(int32_t code)
{
    return code < WPLUGIN_SUCCESS || code > WPLUGIN_PENDING ? WPLUGIN_ERROR
                                                            : (enum wplugin_code)code;
}

/* An event as a guest records it; all borrowed for the call. */
struct wplugin_reference {
    struct str kind, api_version, name, namespace, uid, resource_version;
};
struct wplugin_event {
    struct wplugin_reference regarding, related;
    struct str type, reason, action, note;
};

enum wplugin_severity { WPLUGIN_INFO = 0, WPLUGIN_WARNING = 1, WPLUGIN_LOG_ERROR = 2 };

/*
 * What guests ask their scheduler for; any function may be NULL. They run on the thread that calls
 * the hook, or (until wplugin_load_cb) on a thread of the loop's pool, and must not call the
 * plugin. What they return is borrowed until the next question, and answers do not change until the
 * hook returns.
 */
struct wplugin_handle {
    /* The node's message, by the snapshot's name. false: unknown. */
    bool (*node)(void *arg, struct str name, struct str *ret);
    /* A NodeList of all nodes of the snapshot. */
    struct str (*node_list)(void *arg);
    /* A JSON object, image name to {"Size", "NumNodes", "Nodes"}, its keys sorted. false: unknown
     * node. */
    bool (*image_states)(void *arg, struct str node, struct str *ret);
    /* A PodList of the pods on a node, assumed ones among them. false: unknown node. */
    bool (*node_pods)(void *arg, struct str node, struct str *ret);
    /*
     * What has changed since `since`, which is what an earlier answer began with, or 0: the number
     * to ask with next (8 bytes, little endian), a byte that is 1 if this is everything there is
     * (nodes went), else 0, and the names of nodes that changed, or whose pods did, each
     * ended by a NUL.
     */
    struct str (*node_changes)(void *arg, uint64_t since);
    /* A pod that waits in Permit. */
    bool (*waiting_pod)(void *arg, struct str uid, struct str *ret);
    bool (*reject_waiting_pod)(void *arg, struct str uid);
    void (*event)(void *arg, const struct wplugin_event *event);
    /* Text as klog would have written it without its header; ends with a newline. */
    void (*log)(void *arg, enum wplugin_severity severity, struct str text);
};

struct wplugin_config {
    struct str name; /* of the plugin, for messages */
    struct str guest_url, guest_config;
    int32_t log_severity; /* what is below is not logged */
    const struct str *args;
    size_t n_args;
    bool deterministic; /* the same clocks and random numbers for every instance */
    /* 0: the values above */
    uint64_t memory_max_bytes;
    unsigned call_ms, instances_max;
    const struct wplugin_handle *handle; /* kept */
    void *handle_arg;
};

/*
 * The arguments of a plugin in a scheduler's configuration, a tree or NULL. Strings are borrowed
 * from it. On failure `error` has upstream's text. name: of the plugin. Sets guest_url to args.
 */
struct json;
int wplugin_config_read(struct arena *a, struct str name, const struct json *args,
                        struct wplugin_config *ret, struct buf *error);

/*
 * The Wasm plugins of a KubeSchedulerConfiguration, profile by profile: what is enabled under
 * multiPoint (alone there), has arguments in the profile's pluginConfig, and is not native. Strings
 * and arguments are borrowed from the tree.
 */
struct wplugin_entry {
    size_t profile; /* its position */
    struct str name;
    const struct json *args; /* or NULL */
};
size_t wplugin_find(struct arena *a, const struct json *config, bool (*is_native)(struct str name),
                    const struct wplugin_entry **ret);

struct wplugin_host;
struct wplugin;

/*
 * What plugins share. Loop thread. loop, cache, references: kept until wplugin_host_free().
 * references: for URLs oci://REFERENCE (modules/module_reference.h); NULL: there are none. Makes no
 * engine yet.
 */
struct wplugin_host *wplugin_host_new(struct loop *loop, struct module_cache *cache,
                                      struct module_references *references);
/* All plugins are gone, and no load is under way. */
void wplugin_host_free(struct wplugin_host *host);
/* Calls under way fail as if they had taken too long, and so do later ones, at once. For the end.
 * Any thread, while a plugin is loaded. */
void wplugin_host_interrupt(struct wplugin_host *host);
/* Modules that are being fetched or compiled fail soon, so that neither a server nor the compiler
 * holds up the end. Loop thread. */
void wplugin_host_end_loads(struct wplugin_host *host);

/* Exactly once, on the loop thread, not before wplugin_load() has returned. p: given,
 * wplugin_free(); NULL: it failed, `error` says why in upstream's words. */
typedef void (*wplugin_load_cb)(struct wplugin *p, struct str error, void *arg);
/*
 * Fetch, compile and start a plugin; of the configuration everything but the handle is copied.
 * Files are read at once; http, https and registries take their time. Its start has a thread of its
 * own, since it may take as long as a call; WPLUGIN_STARTS_MAX at a time.
 */
void wplugin_load(struct wplugin_host *host, const struct wplugin_config *config,
                  wplugin_load_cb cb, void *arg);
/* No call is under way. NULL is fine. */
void wplugin_free(struct wplugin *p);

/* Where its module is from. Borrowed while the plugin is there. */
struct wplugin_origin {
    struct str url;
    const char *manifest; /* the digest of the artifact's manifest; "": it is of no registry */
    const char *sha256;   /* of the module */
};
void wplugin_get_origin(const struct wplugin *p, struct wplugin_origin *ret);

/* The extension points in effect. */
unsigned wplugin_points(const struct wplugin *p);
/* The guest has this hook, and it is in effect. */
bool wplugin_has(const struct wplugin *p, enum wplugin_hook hook);

struct wplugin_node_code {
    struct str node;
    int32_t code;
};
struct wplugin_node_score {
    struct str node;
    int64_t score;
};

/* The arguments of a hook, all borrowed for the call; a hook looks at its own only. */
struct wplugin_input {
    struct str key;                           /* what tells this pod from others: its uid */
    struct str pod;                           /* messages */
    struct str target_pod;                    /* addpod, removepod */
    struct str node;                          /* its name */
    const struct str *nodes;                  /* prescore: names that passed the filters */
    const struct wplugin_node_code *statuses; /* postfilter */
    const struct wplugin_node_score *scores;  /* normalizescore */
    size_t n_nodes, n_statuses, n_scores;
    struct str event, event_old, event_new; /* queueinghint: JSON; the object before and after */
    unsigned call_ms;                       /* at most, instead of the plugin's limit; 0: that */
    /* Exported mutable globals to set in the instance before the call; for tests of plugins. */
    const struct wplugin_node_code *globals;
    size_t n_globals;
};

struct wplugin_cluster_event {
    struct str resource;
    uint32_t actions;
};

/* What a hook answers; strings and arrays live in the arena of the call. */
struct wplugin_result {
    bool has_failed; /* trap, exit or time: code is WPLUGIN_ERROR and message tells */
    bool is_late;    /* by time */
    int32_t code;
    struct str message;
    const struct str *node_names; /* prefilter; none: no restriction */
    struct str nominated;         /* postfilter */
    int32_t mode;                 /* 0: no-op, 1: override */
    int64_t score;
    const struct wplugin_node_score *scores; /* normalizescore: those of the input in their order */
    uint32_t timeout_ms;                     /* permit */
    const struct wplugin_cluster_event *events; /* enqueue */
    size_t n_node_names, n_scores, n_events;
};

/*
 * Run a hook. Hooks that the guest lacks, or that are not in effect, succeed without it; such a
 * postfilter is "unschedulable", so that others after it are asked, and such a hint "queue". Any
 * thread; calls for one pod come one after the other, and those for several pods may run at once.
 */
void wplugin_call(struct wplugin *p, enum wplugin_hook hook, const struct wplugin_input *in,
                  struct arena *a, struct wplugin_result *ret);

/* The attempt to schedule this pod is over, however it ended. Any thread. */
void wplugin_end(struct wplugin *p, struct str key);

/*
 * Dry runs: what the guest would say if pods were added to a node or removed from it (preemption,
 * nominated pods). A fork begins as the pod's instance is now, after prefilter; what is done in it
 * changes nothing there. Any thread, one at a time for each fork.
 */
struct wplugin_fork;
/* Of a pod that has no instance it begins as a new one, and runs prefilter first. */
struct wplugin_fork *wplugin_fork_new(struct wplugin *p, struct str key);
/* Begins as `from` is now: a dry run within a dry run. key: of the pod that both are of. */
struct wplugin_fork *wplugin_fork_copy(struct wplugin_fork *from, struct str key);
void wplugin_fork_free(struct wplugin_fork *f);
/* As it was when it was new: for the next node. */
void wplugin_fork_reset(struct wplugin_fork *f);
/* As wplugin_call(), with the pod of `in` being the fork's. */
void wplugin_fork_call(struct wplugin_fork *f, enum wplugin_hook hook,
                       const struct wplugin_input *in, struct arena *a, struct wplugin_result *ret);

struct wplugin_stats {
    unsigned instances, bound; /* now; bound to a pod that is not over */
    uint64_t created, retired;
};
void wplugin_stats(struct wplugin *p, struct wplugin_stats *ret);
