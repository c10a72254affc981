/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a node and the containers on it use, from readings of its agent's /metrics/resource. The
 * counters of CPU time say something only as the difference between two readings:
 *
 *     usage_new() -> usage_take(), usage_take(), ... -> usage_of_node(), usage_pod_first()
 *
 * A container that was started during the last minute is compared with its start. Pure.
 */
#pragma once

#include "base/list.h"
#include "base/map.h"
#include "base/str.h"

enum {
    USAGE_TEXT_MAX_BYTES = 4 << 20, /* of a reading */
    USAGE_CONTAINERS_MAX = 4096,    /* of a node; further ones are ignored */
    USAGE_WINDOW_MIN_MS = 500,      /* between two readings that are compared */
    USAGE_WINDOW_MAX_MS = 60000
};

/* One moment. */
struct usage_point {
    int64_t at_ms; /* wall clock; 0: none */
    uint64_t cpu_ns, memory_bytes;
};

/* Of the node itself, or of a container. */
struct usage_counter {
    struct usage_point before, now, taken; /* taken: of the reading that is being taken */
    int64_t start_ms;                      /* of the container; 0: unknown */
};

struct usage_container {
    struct list node; /* struct usage_pod.containers */
    struct usage_counter counter;
    char name[];
};

struct usage_pod {
    struct list containers; /* struct usage_container, never empty between readings */
};

struct usage_node {
    struct usage_counter self;
    struct map pods; /* "NAMESPACE/NAME" -> struct usage_pod */
    size_t n_containers;
};

struct usage_rate {
    int64_t at_ms, window_ms; /* the window ends at at_ms, wall clock */
    uint64_t cpu_nano;        /* cores, in 1e-9: the mean of the window */
    uint64_t memory_bytes;
};

struct usage_node *usage_new(void);
void usage_free(struct usage_node *u);

/*
 * Take a reading (Prometheus' text format); lines that are not understood or about something else
 * are passed over. Containers that are not in it are forgotten. now_ms: wall clock, for values
 * without a time.
 */
void usage_take(struct usage_node *u, struct str text, int64_t now_ms);
/* false: not known, or not yet. */
bool usage_rate_of(const struct usage_counter *c, struct usage_rate *ret);
/* Whether the node and all its containers can be compared with something. */
bool usage_is_complete(const struct usage_node *u);
bool usage_of_node(const struct usage_node *u, struct usage_rate *ret);
/* NULL: no container of the pod was in the last reading. */
const struct usage_pod *usage_of_pod(const struct usage_node *u, struct str ns, struct str name);
