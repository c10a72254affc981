/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the server with a life of their own: the authorizer, the policies in force, the
 * controllers. The core knows them by this table alone. They are started one after the other in
 * the order of registration, each when the one before it is ready, and stopped and freed in the
 * opposite order. All of them hear of each committed write in this process before its client does.
 */
#pragma once

#include "api/core.h"

/* A write that was committed. */
struct written {
    const struct kube_resource *res;
    struct str key, name;
    const struct json *old, *obj; /* in whatever version; NULL: was not there, is not there now */
    struct str value;             /* as stored; "": gone */
    bool counted;                 /* the write has counted it in the namespace's quotas */
    uint64_t rev;
};

struct api_part_ops {
    const char *name;
    /* ready: once, perhaps before start() returns; not before the part is in force. NULL: it has
     * nothing to wait for. */
    void (*start)(void *self, controller_ready_cb ready, void *arg);
    void (*stop)(void *self); /* NULL: nothing to stop; also before it was started */
    void (*free)(void *self); /* after it was stopped and is not busy; also never started */
    bool (*is_busy)(const void *self); /* NULL: never. It calls api_part_idle() when it ends */
    void (*written)(void *self, const struct written *w); /* NULL: not interested, nor in lost() */
    /*
     * An object that could not be read has been deleted: `old` has its name and namespace alone;
     * what depended on it is not known.
     */
    void (*lost)(void *self, const struct written *w);
};

/* Before api_start(). ops, self: kept. */
void api_add_part(struct api *api, const struct api_part_ops *ops, void *self);
/* ready: once, when all are, or one has failed. */
void api_start_parts(struct api *api, controller_ready_cb ready, void *arg);
void api_stop_parts(struct api *api);
void api_free_parts(struct api *api);
bool api_parts_busy(const struct api *api);
/* A part has finished what kept it busy. */
void api_part_idle(struct api *api);

/* Tell the parts, before the writer's client learns of it. */
void api_written(struct api *api, const struct written *w);
void api_lost(struct api *api, const struct kube_resource *res, struct str ns, struct str name,
              struct str key, uint64_t rev);
