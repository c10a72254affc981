/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scheduler plugins in WebAssembly, with the ABI of kube-scheduler-wasm-extension (both
 * generations, and reactors).
 *
 * A plugin is one module with one configuration. Its guests run in this process, on the calling
 * thread, which needs a stack of at least 1 MiB; the module is compiled by the module cache, in
 * another process. The engine is created with the first plugin and freed after the last.
 *
 * Objects are passed and kept as protobuf messages (objects.h): they are encoded once per version
 * and shared by all plugins and calls.
 *
 * An instance serves one pod from its first hook to wplugin_end(), postbind or unreserve; after
 * that it may serve another pod. A failure in an instance ends the instance, never the plugin.
 */
#pragma once

#include "base/buf.h"
#include "base/mem.h"
#include "io/loop.h"

#define WPLUGIN_MEMORY_MAX_BYTES ((uint64_t)64 << 20) /* memory of an instance */
#define WPLUGIN_STARTS_MAX       8u
#define WPLUGIN_CALL_MS          5000u              /* one call, by the wall clock */
#define WPLUGIN_OUTPUT_MAX_BYTES ((size_t)64 << 10) /* output of a guest during a call */
#define WPLUGIN_INSTANCES_MAX    64u /* beyond, the least recently used pod loses its instance */
#define WPLUGIN_RESULT_MAX_BYTES ((size_t)16 << 20) /* one result that a guest pushes */
#define WPLUGIN_KEY_MAX_BYTES    512u               /* key of a pod; longer keys are cut */

struct module_cache;
struct module_references;

/*
 * name, result (0 none, 'i' i32, 'I' i64), the extension point that it requires. queueinghint is
 * not upstream's: its code tells whether the event of the input may make the pod schedulable
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
/* WPLUGIN_HOOK_COUNT if the name is unknown. */
enum wplugin_hook wplugin_hook_of(struct str name);

/* Status codes of the scheduling framework. Guests may return any other number. */
enum wplugin_code {
    WPLUGIN_SUCCESS = 0,
    WPLUGIN_ERROR = 1,
    WPLUGIN_UNSCHEDULABLE = 2,
    WPLUGIN_UNRESOLVABLE = 3, /* ...AndUnresolvable: preemption does not help */
    WPLUGIN_WAIT = 4,
    WPLUGIN_SKIP = 5,
    WPLUGIN_PENDING = 6,
};
/* Converts a guest's code: the framework treats an unknown code as an error. */
static inline enum wplugin_code wplugin_framework_code(int32_t code)
{
    return code < WPLUGIN_SUCCESS || code > WPLUGIN_PENDING ? WPLUGIN_ERROR
                                                            : (enum wplugin_code)code;
}

/* An Event that a guest records; all borrowed for the call. */
struct wplugin_reference {
    struct str kind, api_version, name, namespace, uid, resource_version;
};
struct wplugin_event {
    struct wplugin_reference regarding, related;
    struct str type, reason, action, note;
};

enum wplugin_severity { WPLUGIN_INFO = 0, WPLUGIN_WARNING = 1, WPLUGIN_LOG_ERROR = 2 };

/*
 * The functions of the scheduler that guests use; any may be NULL. They run on the thread that
 * calls the hook, or (until wplugin_load_cb) on a thread of the loop's pool, and must not call the
 * plugin. Results are borrowed until the next call, and do not change until the hook returns.
 */
struct wplugin_handle {
    /* The node's message, by its name in the snapshot. Returns false if unknown. */
    bool (*node)(void *arg, struct str name, struct str *ret);
    /* A NodeList of all nodes of the snapshot. */
    struct str (*node_list)(void *arg);
    /* A JSON object, image name to {"Size", "NumNodes", "Nodes"}, its keys sorted. Returns false
     * for an unknown node. */
    bool (*image_states)(void *arg, struct str node, struct str *ret);
    /* A PodList of the pods on a node, including assumed ones. Returns false for an unknown
     * node. */
    bool (*node_pods)(void *arg, struct str node, struct str *ret);
    /*
     * The changes since `since` (the number at the start of an earlier answer, or 0): the number
     * for the next call (8 bytes, little endian), a byte that is 1 if the answer is a full list
     * (nodes were removed), else 0, and the names of nodes that changed or whose pods changed, each
     * ended by a NUL.
     */
    struct str (*node_changes)(void *arg, uint64_t since);
    /* A pod that waits in Permit. */
    bool (*waiting_pod)(void *arg, struct str uid, struct str *ret);
    bool (*reject_waiting_pod)(void *arg, struct str uid);
    void (*event)(void *arg, const struct wplugin_event *event);
    /* Text as klog would write it without its header; ends with a newline. */
    void (*log)(void *arg, enum wplugin_severity severity, struct str text);
};

struct wplugin_config {
    struct str name; /* of the plugin, for messages */
    struct str guest_url, guest_config;
    int32_t log_severity; /* lower severities are not logged */
    const struct str *args;
    size_t n_args;
    bool deterministic; /* the same clocks and random numbers for every instance */
    /* 0: the limits above */
    uint64_t memory_max_bytes;
    unsigned call_ms, instances_max;
    const struct wplugin_handle *handle; /* kept */
    void *handle_arg;
};

/*
 * Reads the arguments of a plugin in a scheduler's configuration, a tree or NULL. Strings are
 * borrowed from it. On failure `error` has upstream's text. name: of the plugin. Sets guest_url to
 * args.
 */
struct json;
int wplugin_config_read(struct arena *a, struct str name, const struct json *args,
                        struct wplugin_config *ret, struct buf *error);

/*
 * The Wasm plugins of a KubeSchedulerConfiguration, profile by profile: those enabled under
 * multiPoint (only there) that have arguments in the profile's pluginConfig and are not native.
 * Strings and arguments are borrowed from the tree.
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
 * references: for URLs oci://REFERENCE (modules/module_reference.h); NULL: not supported. Does not
 * create an engine yet.
 */
struct wplugin_host *wplugin_host_new(struct loop *loop, struct module_cache *cache,
                                      struct module_references *references);
/* All plugins must have been freed, and no load may be under way. */
void wplugin_host_free(struct wplugin_host *host);
/*
 * Makes calls under way fail as if they had taken too long, and later calls fail at once. For
 * shutdown. Any thread, while a plugin is loaded.
 */
void wplugin_host_interrupt(struct wplugin_host *host);
/*
 * Makes fetches and compilations fail soon, so that neither a server nor the compiler delays
 * shutdown. Loop thread.
 */
void wplugin_host_end_loads(struct wplugin_host *host);

/*
 * Called exactly once, on the loop thread, not before wplugin_load() has returned. p: given,
 * wplugin_free(); NULL: failure, `error` has upstream's text.
 */
typedef void (*wplugin_load_cb)(struct wplugin *p, struct str error, void *arg);
/*
 * Fetches, compiles and starts a plugin; the configuration is copied except for the handle. Files
 * are read before it returns; http, https and registries later. Each plugin starts on its own
 * thread, since that may take as long as a call; WPLUGIN_STARTS_MAX at a time.
 */
void wplugin_load(struct wplugin_host *host, const struct wplugin_config *config,
                  wplugin_load_cb cb, void *arg);
/* No call may be under way. NULL is fine. */
void wplugin_free(struct wplugin *p);

/* The origin of the module. Borrowed, valid as long as the plugin. */
struct wplugin_origin {
    struct str url;
    const char *manifest; /* the digest of the artifact's manifest; "": not from a registry */
    const char *sha256;   /* of the module */
};
void wplugin_get_origin(const struct wplugin *p, struct wplugin_origin *ret);

/* The extension points in effect. */
unsigned wplugin_points(const struct wplugin *p);
/* Does the guest have this hook, and is it in effect? */
bool wplugin_has(const struct wplugin *p, enum wplugin_hook hook);

struct wplugin_node_code {
    struct str node;
    int32_t code;
};
struct wplugin_node_score {
    struct str node;
    int64_t score;
};

/* The arguments of a hook, all borrowed for the call; a hook reads only its own. */
struct wplugin_input {
    struct str key;                           /* identifies the pod: its uid */
    struct str pod;                           /* messages */
    struct str target_pod;                    /* addpod, removepod */
    struct str node;                          /* its name */
    const struct str *nodes;                  /* prescore: names that passed the filters */
    const struct wplugin_node_code *statuses; /* postfilter */
    const struct wplugin_node_score *scores;  /* normalizescore */
    size_t n_nodes, n_statuses, n_scores;
    struct str event, event_old, event_new; /* queueinghint: JSON; the object before and after */
    unsigned call_ms;                       /* limit that replaces the plugin's; 0: the plugin's */
    /* Exported mutable globals to set in the instance before the call; for tests of plugins. */
    const struct wplugin_node_code *globals;
    size_t n_globals;
};

struct wplugin_cluster_event {
    struct str resource;
    uint32_t actions;
};

/* The result of a hook; strings and arrays live in the arena of the call. */
struct wplugin_result {
    bool has_failed; /* trap, exit or time limit: code is WPLUGIN_ERROR and message says why */
    bool is_late;    /* exceeded the time limit */
    int32_t code;
    struct str message;
    const struct str *node_names; /* prefilter; 0 names: no restriction */
    struct str nominated;         /* postfilter */
    int32_t mode;                 /* 0: no-op, 1: override */
    int64_t score;
    const struct wplugin_node_score *scores; /* normalizescore: those of the input in their order */
    uint32_t timeout_ms;                     /* permit */
    const struct wplugin_cluster_event *events; /* enqueue */
    size_t n_node_names, n_scores, n_events;
};

/*
 * Runs a hook. A hook that the guest lacks, or that is not in effect, succeeds without a call; such
 * a postfilter returns "unschedulable", so that plugins after it are asked, and such a hint
 * "queue". Any thread; calls for one pod are sequential, those for several pods may run at once.
 */
void wplugin_call(struct wplugin *p, enum wplugin_hook hook, const struct wplugin_input *in,
                  struct arena *a, struct wplugin_result *ret);

/* The attempt to schedule this pod is over, successful or not. Any thread. */
void wplugin_end(struct wplugin *p, struct str key);

/*
 * Dry runs: what the guest would answer if pods were added to a node or removed from it
 * (preemption, nominated pods). A fork starts with the current state of the pod's instance, after
 * prefilter, and does not affect the instance. Any thread, one at a time for each fork.
 */
struct wplugin_fork;
/* For a pod without an instance it starts as a new instance, and runs prefilter first. */
struct wplugin_fork *wplugin_fork_new(struct wplugin *p, struct str key);
/* Starts with the current state of `from`: a dry run within a dry run. key: of the pod of both. */
struct wplugin_fork *wplugin_fork_copy(struct wplugin_fork *from, struct str key);
void wplugin_fork_free(struct wplugin_fork *f);
/* Restores the initial state, for the next node. */
void wplugin_fork_reset(struct wplugin_fork *f);
/* As wplugin_call(); the pod of `in` is the fork's pod. */
void wplugin_fork_call(struct wplugin_fork *f, enum wplugin_hook hook,
                       const struct wplugin_input *in, struct arena *a, struct wplugin_result *ret);

struct wplugin_stats {
    unsigned instances, bound; /* now; bound: to a pod whose attempt is not over */
    uint64_t created, retired;
};
void wplugin_stats(struct wplugin *p, struct wplugin_stats *ret);
