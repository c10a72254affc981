/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the server with a lifecycle: the authorizer, the policies in force, the controllers. The
 * core knows them by this table only. They are started one after the other in the order of
 * registration, each when the previous one is ready, and stopped and freed in reverse order. A part
 * that cannot start says so through ready(), never before its start() has returned. All parts are
 * notified of each committed write in this process before the client that wrote gets its answer.
 */
#pragma once

#include "api/core.h"

/* A committed write. */
struct written {
    const struct kube_resource *res;
    struct str key, name;
    const struct json *old, *obj; /* in any version; NULL: absent before, or now */
    struct str value;             /* as stored; "": deleted */
    bool counted;                 /* the write has counted the object in the namespace's quotas */
    uint64_t rev;
};

struct api_part_ops {
    const char *name;
    /* ready: called once, from the loop, when the part is in force. NULL: ready at once. */
    void (*start)(void *self, controller_ready_cb ready, void *arg);
    void (*stop)(void *self); /* NULL: nothing to stop; may be called before the part was started */
    void (*free)(void *self); /* after stop(), when not busy; also if never started */
    bool (*is_busy)(const void *self); /* NULL: never. The part calls api_part_idle() when it is no
                                          longer busy */
    void (*written)(void *self, const struct written *w); /* NULL: ignores writes, and lost() */
    /*
     * An object that could not be read was deleted: `old` has only its name and namespace; its
     * dependents are unknown.
     */
    void (*lost)(void *self, const struct written *w);
};

/* Before api_start(). ops, self: kept. */
void api_add_part(struct api *api, const struct api_part_ops *ops, void *self);
/* ready: once, from the loop, when all parts are ready or one has failed; then err is set. */
void api_start_parts(struct api *api, controller_ready_cb ready, void *arg);
void api_stop_parts(struct api *api);
void api_free_parts(struct api *api);
bool api_parts_busy(const struct api *api);
/* The part is no longer busy. */
void api_part_idle(struct api *api);

/* Notify the parts, before the client gets its answer. */
void api_written(struct api *api, const struct written *w);
void api_lost(struct api *api, const struct kube_resource *res, struct str ns, struct str name,
              struct str key, uint64_t rev);
