/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster and one plugin, for tests of plugins: objects as JSON text, the plugin's verdicts as
 * text. In JSON text ' stands for ". What goes wrong ends the test.
 */
#pragma once

#include "sched/framework/profile.h"

struct kit {
    struct intern_table *words;
    struct sched_cache *cache;
    struct sched_profile profile; /* with the one plugin */
    struct sched_plugin *plugin;
    struct arena arena; /* of all pods, cycles and texts */
    int64_t wall_ms;
    struct sched_cycle *cycle; /* the last one */
    struct sched_object *kept[256];
    size_t n_kept;
};
void kit_init(struct kit *k);
void kit_fini(struct kit *k);

/* Into the cache. Printf with ' for ", also in arguments. */
void kit_put(struct kit *k, enum sched_kind kind, const char *json, ...)
    __attribute__((format(printf, 3, 4)));
/* Off the cache, by its name; of a kind without namespaces. */
void kit_del(struct kit *k, enum sched_kind kind, const char *name);
/* An object that the cache does not get; kept until the end. */
struct sched_object *kit_read(struct kit *k, enum sched_kind kind, const char *json, ...)
    __attribute__((format(printf, 3, 4)));
/* A pod that waits: metadata (name "p" unless it is there) is filled in, spec as given. */
const struct sched_pod *kit_pod(struct kit *k, const char *spec, ...)
    __attribute__((format(printf, 2, 3)));
/* A node with these allocatable resources and 110 pods; `more` is put beside metadata and status,
 * or NULL: "'spec': {...}". labels: "'a': 'b', ..." or NULL. */
void kit_node(struct kit *k, const char *name, const char *allocatable, const char *labels,
              const char *more);

/* The plugin, with arguments or NULL; replaces the one before. */
void kit_plugin(struct kit *k, const char *name, const char *args);
/* "" or why it cannot be made. */
const char *kit_plugin_error(struct kit *k, const char *name, const char *args);

/*
 * PreFilter and Filter of all nodes: "n1: ok; n2: Unschedulable: reason, reason; ..." by name of
 * the node, or, where PreFilter refuses, "CODE: reason". A node that PreFilter leaves out is "left
 * out".
 */
const char *kit_filter(struct kit *k, const struct sched_pod *pod);
/* PreFilter's code and, after it, the names it leaves: "Skip", "Success [a b]". */
const char *kit_pre_filter(struct kit *k, const struct sched_pod *pod);
/* PreScore, Score and Normalize of all nodes: "n1=50 n2=0", or "Skip". */
const char *kit_score(struct kit *k, const struct sched_pod *pod);
/* Of these nodes alone, as if the others did not fit: "a b". */
const char *kit_score_some(struct kit *k, const struct sched_pod *pod, const char *names);
/* The same of all, before Normalize. */
const char *kit_raw_score(struct kit *k, const struct sched_pod *pod);
/* What the plugin's registrations say to an event: "none" registered, "queue", "skip". */
const char *kit_hint(struct kit *k, const struct sched_pod *pod, const struct sched_event *event);
