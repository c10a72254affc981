/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Events (core/v1) about objects, one after the other. One that repeats within ten minutes
 * is counted in the Event that exists, as client-go's recorder does. At most
 * EVENT_RECORDER_QUEUE wait; further ones are dropped, since Events are a help for people and not a
 * record. No timer; nothing runs while none waits.
 *
 * Loop thread only.
 */
#pragma once

#include "client/transport.h"
#include "io/loop.h"

enum {
    EVENT_RECORDER_QUEUE = 256,
    EVENT_RECORDER_KNOWN = 1024, /* remembered to be counted; all are forgotten beyond */
    EVENT_RECORDER_NOTE_MAX_BYTES = 1024
};

struct event_recorder;

struct event_recorder_opts {
    struct loop *loop;                    /* kept */
    struct transport *transport;          /* kept */
    const struct kube_identity *identity; /* kept; NULL: the transport's own */
    const char *component;                /* kept */
    const char *host;                     /* kept; where the component runs; NULL: not said */
};

/* The object that an Event is about; its Event is in its namespace, "default" if it has none. */
struct event_about {
    struct str api_version, kind, namespace, name, uid, resource_version;
    struct str field_path; /* a part of it; "": the whole */
};

struct event_recorder *event_recorder_new(const struct event_recorder_opts *opts);
/* Events that wait are dropped. NULL is fine. */
void event_recorder_free(struct event_recorder *r);
/* The note is cut after EVENT_RECORDER_NOTE_MAX_BYTES. */
void event_recorder_write(struct event_recorder *r, const struct event_about *about,
                          bool is_warning, const char *reason, const char *note);
