/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that a guest reports, written as events.k8s.io/v1 under its operator's identity.
 *
 * Equal ones within EVENTS_WINDOW_MS become a series: the first is created, those that follow are
 * counted, and the count is written at once, then every EVENTS_SERIES_MS while it grows. A bucket
 * of tokens bounds what one operator writes; what is over it is counted and left out. Nothing is
 * allocated and no timer runs until the first event, nor while none comes.
 */
#pragma once

#include "client/transport.h"
#include "io/loop.h"

enum {
    EVENTS_WINDOW_MS = 600000,
    EVENTS_SERIES_MS = 60000, /* between two writes of one series */
    EVENTS_KEPT = 64,         /* series of one operator; the oldest goes */
    EVENTS_BURST = 25,        /* writes of one operator at once, then */
    EVENTS_REFILL_MS = 5000,  /* one in this time */
    EVENTS_IN_FLIGHT_MAX = 8, /* requests; beyond: left out */
    EVENTS_NOTE_MAX = 1024    /* bytes of a note; cut */
};

struct events;

struct allow;

struct events_opts {
    struct loop *loop;
    struct transport *transport;   /* the operator's; kept */
    const struct allow *allow;     /* NULL: all; kept */
    const char *operator_name;     /* "namespace/name": the controller that reports; kept */
    const char *default_namespace; /* for events about cluster-scoped objects: upstream's default */
};
struct events *events_new(const struct events_opts *opts);
/* Requests under way end by themselves. NULL is fine. */
void events_free(struct events *ev);

/*
 * One event in the form of docs/guest-abi.md section 7. Errors: E_PARSE, E_INVALID, with the
 * reason; then the guest has broken a rule.
 */
int events_report(struct events *ev, struct str json, struct err *err);

struct events_stats {
    uint64_t reported, written, left_out, failed;
    size_t series;
};
void events_get_stats(const struct events *ev, struct events_stats *ret);
