/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/proxy/service_owners.h"

enum { WAY_BYTES = 1 + 16 + 8 };

struct service_owner {
    void *who;
    bool is_weak;
};

/* Family, address (0: node port), protocol and port (0: all); "": of no one Service. */
static struct str way_of(const struct service_element *e, uint8_t space[WAY_BYTES])
{
    bool is_ipv6 = e->map >= SERVICE_MAPS;
    size_t address_n = is_ipv6 ? 16 : 4;
    memset(space, 0, WAY_BYTES);
    space[0] = is_ipv6;
    switch ((enum service_map)(e->map % SERVICE_MAPS)) {
    case SERVICE_NODE_PORTS:
    case SERVICE_REFUSED_PORTS:
        memcpy(space + 1 + address_n, e->key, 8);
        break;
    case SERVICE_ADDRESSES:
    case SERVICE_REFUSED:
    case SERVICE_ENDPOINTS:
    case SERVICE_ALIVE:
        memcpy(space + 1, e->key, address_n + 8);
        break;
    case SERVICE_CLUSTER:
        memcpy(space + 1, e->key, address_n);
        break;
    case SERVICE_SELF:
    case SERVICE_AFFINITY:
    case SERVICE_MAPS:
        return STR("");
    }
    return str_n((const char *)space, 1 + address_n + 8);
}

static struct service_owner *owner_of(const struct service_owners *o,
                                      const struct service_element *e)
{
    uint8_t space[WAY_BYTES];
    return map_get(&o->by_way, way_of(e, space));
}

static bool has_way(const struct service_element *e)
{
    uint8_t space[WAY_BYTES];
    return way_of(e, space).n > 0;
}

void service_owners_fini(struct service_owners *o)
{
    map_each (e, &o->by_way)
        free(e->value);
    map_fini(&o->by_way);
}

static bool claim(struct service_owners *o, void *who, const struct service_element *e,
                  void (*lost)(void *arg, void *loser), void *arg)
{
    uint8_t space[WAY_BYTES];
    struct str way = way_of(e, space);
    struct service_owner *owner = map_get(&o->by_way, way);
    if (!way.n || (owner && owner->who == who))
        return true;
    if (owner && !(owner->is_weak && !e->is_weak))
        return false;
    if (owner) {
        void *loser = owner->who;
        *owner = (struct service_owner){ .who = who, .is_weak = e->is_weak };
        lost(arg, loser);
        return true;
    }
    owner = xnew(struct service_owner);
    *owner = (struct service_owner){ .who = who, .is_weak = e->is_weak };
    (void)map_put(&o->by_way, way, owner);
    return true;
}

bool service_owners_claim(struct service_owners *o, void *who, service_elements *wanted,
                          void (*lost)(void *arg, void *loser), void *arg)
{
    size_t n = 0;
    for (size_t i = 0; i < wanted->n; i++)
        if (claim(o, who, &wanted->p[i], lost, arg))
            wanted->p[n++] = wanted->p[i];
    bool is_all = n == wanted->n;
    wanted->n = n;
    return !is_all;
}

void service_owners_release(struct service_owners *o, const void *who, const service_elements *is)
{
    uint8_t space[WAY_BYTES];
    for (size_t i = 0; i < is->n; i++) {
        const struct service_owner *owner = owner_of(o, &is->p[i]);
        if (owner && owner->who == who)
            free(map_del(&o->by_way, way_of(&is->p[i], space)));
    }
}

bool service_owners_are_free(const struct service_owners *o, const service_elements *elements)
{
    for (size_t i = 0; i < elements->n; i++)
        if (has_way(&elements->p[i]) && !owner_of(o, &elements->p[i]))
            return true;
    return false;
}

void service_owners_keep(const struct service_owners *o, const void *who,
                         service_elements *elements)
{
    size_t n = 0;
    for (size_t i = 0; i < elements->n; i++) {
        const struct service_owner *owner = owner_of(o, &elements->p[i]);
        if (!has_way(&elements->p[i]) || (owner && owner->who == who))
            elements->p[n++] = elements->p[i];
    }
    elements->n = n;
}
