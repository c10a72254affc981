/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tenants that request modules, and fair queueing among them.
 *
 * Each queue has a virtual clock: the tag of the item served last. An item's tag is the value that
 * the clock will have when its tenant has had its share, if all tenants were served in parallel. So
 * tenants with the same demand take turns, and a small item of one tenant is served before large
 * items of another, even if it arrives later. This module neither waits nor serves: module.c takes
 * the item with the smallest tag.
 */
#pragma once

#include "base/map.h"

#include <stdint.h>

enum module_queue {
    MODULE_LOOKS,      /* files to hash and to find in the store */
    MODULE_FOREGROUND, /* builds that requests wait for */
    MODULE_BACKGROUND, /* builds that replace quick code */
    MODULE_QUEUES
};

/* A namespace that has an item in a queue or in service. */
struct module_tenant {
    unsigned refs;
    unsigned n_gets, n_background; /* unfinished requests; background builds */
    uint64_t last[MODULE_QUEUES];  /* the tag of its last item */
    char name[];
};

/* Zeroed: empty. */
struct module_tenants {
    struct map map;
    uint64_t clock[MODULE_QUEUES];
};

/* Every reference must have been released. */
void module_tenants_fini(struct module_tenants *ts);
/* Counted; release with module_tenant_unref(). */
struct module_tenant *module_tenant_ref(struct module_tenants *ts, struct str name);
/* NULL is fine. */
void module_tenant_unref(struct module_tenants *ts, struct module_tenant *t);
/* The tag of the tenant's next item in this queue. bytes: the cost of the item. */
uint64_t module_tenant_tag(const struct module_tenants *ts, struct module_tenant *t,
                           enum module_queue queue, uint64_t bytes);
/* Record that the item with this tag is now served. */
void module_tenants_serve(struct module_tenants *ts, enum module_queue queue, uint64_t tag);
/*
 * Whether the tenant may have one more request. n: unfinished requests; max: the limit of these. A
 * tenant may have half of what the others leave, so that there is room for one more tenant.
 */
bool module_tenant_has_room(const struct module_tenant *t, unsigned n, unsigned max);
