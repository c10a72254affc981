/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scheduler plugins in C (docs/scheduler-plugins.md).
 *
 *     #include <dormouse_scheduler.h>
 *
 *     DS_HOOK(filter)
 *     {
 *         struct ds_str node = ds_node(ds_node_name());
 *         if (ds_label(node, "disk").p)
 *             return DS_SUCCESS;
 *         return ds_refuse(DS_UNSCHEDULABLE, "the node has no disk");
 *     }
 *
 *     sdk/c/dm-cc scheduler -o plugin.wasm plugin.c
 *
 * What getters return is borrowed until the next attempt to schedule a pod: the library exports
 * prefilter, which forgets it, and then calls ds_prefilter().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ds_code {
    DS_SUCCESS = 0,
    DS_ERROR = 1,
    DS_UNSCHEDULABLE = 2,
    DS_UNRESOLVABLE = 3,
    DS_WAIT = 4,
    DS_SKIP = 5
};

/* Borrowed bytes; p is NULL where there is nothing. */
struct ds_str {
    const char *p;
    size_t n;
};
bool ds_is(struct ds_str s, const char *text);

/* ---- what the plugin defines ---- */

/* Any of filter, prescore, normalizescore, addpod, removepod, reserve, prebind, bind, queueinghint.
 */
#define DS_HOOK(name)                                                                              \
    int32_t ds_hook_##name(void);                                                                  \
    __attribute__((export_name(#name))) int32_t ds_hook_##name(void)
/* score, postfilter, permit: end with ds_score(), ds_nominate(), ds_permit(). */
#define DS_HOOK64(name)                                                                            \
    int64_t ds_hook_##name(void);                                                                  \
    __attribute__((export_name(#name))) int64_t ds_hook_##name(void)
/* enqueue, unreserve, postbind. */
#define DS_HOOK0(name)                                                                             \
    void ds_hook_##name(void);                                                                     \
    __attribute__((export_name(#name))) void ds_hook_##name(void)

/* PreFilter; may be left out. */
int32_t ds_prefilter(void);

/* ---- inputs; objects are protobuf messages ---- */

struct ds_str ds_config(void); /* guestConfig */
struct ds_str ds_pod(void);
struct ds_str ds_target_pod(void); /* addpod, removepod */
struct ds_str ds_node_name(void);
struct ds_str ds_node(struct ds_str name); /* nothing: unknown */
struct ds_str ds_node_list(void);
struct ds_str ds_node_pods(struct ds_str name); /* a PodList; dormouse only */
/*
 * One field, without the whole object; dormouse only. path: the numbers of the fields that lead to
 * it, a character each: "\2\4" is spec.unschedulable. key: the last one is a map (labels: "\1\13",
 * in octal), and this its key; NULL: it is none.
 */
#define DS_THIS_NODE ((struct ds_str){ 0 }) /* that of the hook, without asking for its name */
struct ds_str ds_node_field(struct ds_str name, const char *path, const char *key);
struct ds_str ds_pod_field(const char *path, const char *key);
int64_t ds_node_number(struct ds_str name, const char *path, int64_t otherwise);
struct ds_str ds_filtered_nodes(void); /* prescore: JSON, ["a","b"] */
struct ds_str ds_statuses(void);       /* postfilter: JSON, {"a":2} */
struct ds_str ds_scores(void);         /* normalizescore: JSON, {"a":10} */
struct ds_str ds_event(void);          /* queueinghint: JSON; dormouse only */

/* The first field of this number: a string, bytes or a message. */
struct ds_str ds_field(struct ds_str message, uint32_t number);
/* Each of them: `struct ds_str at = list; while (ds_next(&at, 2, &item)) ...` */
bool ds_next(struct ds_str *at, uint32_t number, struct ds_str *ret);
/* The first number of this field, or `otherwise`. */
int64_t ds_number(struct ds_str message, uint32_t number, int64_t otherwise);
/* Of a Pod or a Node. */
struct ds_str ds_name(struct ds_str object);
struct ds_str ds_label(struct ds_str object, const char *key);
/* The items of a NodeList or PodList. */
enum { DS_ITEMS = 2 };
size_t ds_count(struct ds_str list);

/* ---- results ---- */

/* `code`, with a reason. */
int32_t ds_refuse(enum ds_code code, const char *reason);
void ds_reason(struct ds_str reason);
/* prefilter: the candidates; once with all of them, each ended by a NUL. */
void ds_node_names(struct ds_str names);
int64_t ds_score(int32_t score); /* 0 to 100 after normalising */
int64_t ds_score_error(const char *reason);
int64_t ds_nominate(enum ds_code code, struct ds_str node); /* nothing: no node */
int64_t ds_permit(enum ds_code code, uint32_t timeout_ms);
void ds_normalized(struct ds_str json);
/* enqueue: `n` pairs of resource and actions. */
void ds_events(const uint32_t (*events)[2], size_t n);

/* An information line of the scheduler's log. */
void ds_log(const char *text);
void ds_log_error(const char *text);
