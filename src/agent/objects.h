/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ConfigMaps, Secrets, RuntimeClasses, and PersistentVolumeClaims with their PersistentVolumes that
 * pods of this node use. ConfigMaps and Secrets are followed by a watch of each, the others are
 * asked for until they are there and bound, since the Node authorizer gives a node only the objects
 * that its pods name, and claims and volumes only by GET (Kubernetes, "Using Node Authorization").
 *
 * Loop thread only; on_change() never runs inside a call.
 */
#pragma once

#include "client/reflector.h"

struct agent_object;
struct agent_objects;

enum agent_object_kind {
    AGENT_CONFIG_MAP,
    AGENT_SECRET,
    AGENT_CLAIM,
    AGENT_VOLUME,
    AGENT_RUNTIME_CLASS
};

struct agent_objects_opts {
    struct loop *loop;
    struct transport *transport; /* kept; the next two as well */
    struct watch_hub *hub;
    const struct kube_identity *identity;
    /* It is known now, or has changed. */
    void (*on_change)(void *arg, const struct agent_object *o);
    void *arg;
};

struct agent_objects *agent_objects_new(const struct agent_objects_opts *opts);
/* All objects have been put back. */
void agent_objects_free(struct agent_objects *s);

/* Counted. namespace: "" of a PersistentVolume or RuntimeClass. Errors: of starting the watch. */
int agent_objects_get(struct agent_objects *s, enum agent_object_kind kind, struct str namespace,
                      struct str name, struct agent_object **ret, struct err *err);
void agent_object_put(struct agent_object *o);
/* NULL: no pod uses it. */
struct agent_object *agent_objects_find(struct agent_objects *s, enum agent_object_kind kind,
                                        struct str namespace, struct str name);

bool agent_object_is(const struct agent_object *o, enum agent_object_kind kind,
                     struct str namespace, struct str name);
/* The server has answered: it exists, or does not. */
bool agent_object_is_known(const struct agent_object *o);
/* It has answered since the last agent_objects_get(): another object may have the name by now. */
bool agent_object_is_fresh(const struct agent_object *o);
/* Parsed into the arena; NULL: it does not exist, or is not known yet. */
struct json *agent_object_read(const struct agent_object *o, struct arena *a);
