/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators from `Operator` objects (dormouse.dev/v1alpha1): watches them, applies their specs,
 * writes status and Events.
 *
 * Status is written when a value that it shows has changed, never because of an activation, a sleep
 * or a wake. Each operator has at most one write under way; changes during a write are part of the
 * next one.
 */
#pragma once

#include "client/transport.h"
#include "client/watch_hub.h"
#include "operator/host/operator.h"

struct objects;

enum {
    OBJECTS_STATUS_MIN_INTERVAL_MS =
        1000, /* between two writes for one operator; doubles after failures */
    OBJECTS_STATUS_RETRY_MAX_MS = 30000,
    OBJECTS_OBJECT_MAX_BYTES = 4 << 20, /* of an Operator */
    OBJECTS_EVENT_WINDOW_MS = 600000,
    OBJECTS_EVENTS_MAX = 5 /* Events of one reason and operator within the window */
};

struct objects_opts {
    struct loop *loop;
    struct transport *transport;          /* kept */
    struct watch_hub *hub;                /* kept */
    const struct kube_identity *identity; /* kept */
    const char *const *module_dirs;       /* copied; spec.module.file must lie below one of them */
    size_t n_module_dirs;
    const char *namespace;          /* only objects of this namespace; NULL: all; copied */
    bool standby;                   /* start in standby; see objects_set_standby() */
    struct module_sources *sources; /* kept; used to notice module files that were missing */
    void (*on_synced)(void *arg); /* every operator known at start has been applied; may be NULL */
    void *arg;
};

/* The CustomResourceDefinition as JSON. */
struct str objects_crd(void);
/*
 * Describe an Operator whose spec was refused, as JSON like operator_describe(). false: there is no
 * such Operator.
 */
bool objects_describe_refused(struct objects *s, struct str namespace, struct str name,
                              struct buf *to);

/* operators: kept. Their on_change must call objects_on_change(). */
int objects_start(const struct objects_opts *opts, struct operators *operators,
                  struct objects **ret, struct err *err);
/*
 * In standby nothing is written, since another host writes. When standby ends, all known status is
 * written.
 */
void objects_set_standby(struct objects *s, bool standby);
void objects_on_change(struct objects *s, struct operator* o);
/* Call before operators_close(). No callback runs afterwards. */
void objects_close(struct objects *s);
