/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of pods about the plans for their images. A few are written at a time; further ones are
 * dropped, since the log has them. Loop thread only.
 */
#pragma once

#include "client/transport.h"

enum { PLAN_EVENTS_MAX = 16, PLAN_EVENTS_NOTE_BYTES = 1024 };

struct plan_events;
struct plan_event_about { /* borrowed for the call */
    struct str namespace, pod, uid;
};

/* transport, identity: kept; identity NULL: the transport's own. */
struct plan_events *plan_events_new(struct transport *transport,
                                    const struct kube_identity *identity);
/* Those that are being written are given up. NULL is fine. */
void plan_events_free(struct plan_events *e);
/* type: "Normal", "Warning"; note: cut at PLAN_EVENTS_NOTE_BYTES. */
void plan_events_write(struct plan_events *e, const struct plan_event_about *about,
                       const char *type, const char *reason, struct str note);
