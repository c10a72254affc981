/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the Events that a guest reports, as events.k8s.io/v1 objects written under its operator's
 * identity.
 *
 * Equal Events within EVENTS_WINDOW_MS become a series: the first is created, later ones are
 * counted, and the count is written at once, then every EVENTS_SERIES_MS while it grows. A token
 * bucket limits the writes of one operator; Events beyond it are counted and dropped. Nothing is
 * allocated before the first Event, and no timer runs while there are none.
 */
#pragma once

#include "client/transport.h"
#include "io/loop.h"

enum {
    EVENTS_WINDOW_MS = 600000,
    EVENTS_SERIES_MS = 60000, /* between two writes of one series */
    EVENTS_KEPT = 64,         /* series of one operator; beyond it the oldest is removed */
    EVENTS_BURST = 25,        /* size of the token bucket */
    EVENTS_REFILL_MS = 5000,  /* time for one token */
    EVENTS_IN_FLIGHT_MAX = 8, /* concurrent requests; Events beyond it are dropped */
    EVENTS_NOTE_MAX = 1024    /* bytes of a note; cut */
};

struct events;

struct allow;

struct events_opts {
    struct loop *loop;
    struct transport *transport;   /* the operator's; kept */
    const struct allow *allow;     /* NULL: all; kept */
    const char *operator_name;     /* "namespace/name": the controller that reports; kept */
    const char *default_namespace; /* for Events about cluster-scoped objects: upstream's default */
};
struct events *events_new(const struct events_opts *opts);
/* Requests under way end on their own. NULL is fine. */
void events_free(struct events *ev);

/*
 * Record one Event in the form of docs/guest-abi.md section 7. Errors: E_PARSE, E_INVALID, with the
 * reason: the guest has broken a rule.
 */
int events_report(struct events *ev, struct str json, struct err *err);

struct events_stats {
    uint64_t reported, written, left_out, failed;
    size_t series;
};
void events_get_stats(const struct events *ev, struct events_stats *ret);
