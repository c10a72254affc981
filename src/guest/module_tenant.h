/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who requests modules, and fair queueing among them.
 *
 * Each queue has a clock, the tag of what was served last, and an item's tag is what the clock will
 * show when its tenant has had its share, if all tenants were served in parallel. So tenants with
 * the same demand take turns, and something small of one is served before the large things of
 * another, even if it comes later. Nothing here waits or serves: module.c takes the smallest tag.
 */
#pragma once

#include "base/map.h"

#include <stdint.h>

enum module_queue {
    MODULE_LOOKS,      /* files to hash and to look for in the store */
    MODULE_FOREGROUND, /* builds that requests wait for */
    MODULE_BACKGROUND, /* builds that make quick code better */
    MODULE_QUEUES
};

/* A namespace that has something in a queue, or is being served. */
struct module_tenant {
    unsigned refs;
    unsigned n_gets, n_background; /* unfinished requests; builds in the background */
    uint64_t last[MODULE_QUEUES];  /* the tag of its last item */
    char name[];
};

/* Zeroed: empty. */
struct module_tenants {
    struct map map;
    uint64_t clock[MODULE_QUEUES];
};

/* All references must have been given back. */
void module_tenants_fini(struct module_tenants *ts);
/* Counted; module_tenant_unref(). */
struct module_tenant *module_tenant_ref(struct module_tenants *ts, struct str name);
/* NULL is fine. */
void module_tenant_unref(struct module_tenants *ts, struct module_tenant *t);
/* The tag of its next item in this queue, which costs so many bytes. */
uint64_t module_tenant_tag(const struct module_tenants *ts, struct module_tenant *t,
                           enum module_queue queue, uint64_t bytes);
/* The item with this tag is served now. */
void module_tenants_serve(struct module_tenants *ts, enum module_queue queue, uint64_t tag);
/* May it have one more request, of n that are unfinished and max that may be? It may have half of
 * what the others leave, so that there is room for one more tenant. */
bool module_tenant_has_room(const struct module_tenant *t, unsigned n, unsigned max);
