/* SPDX-License-Identifier: Apache-2.0 */
/* Fair queueing among tenants; see module_tenant.h. */
#include "guest/module_tenant.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

/* Fixed cost of an item in addition to its bytes. */
enum { BASE_BYTES = 64 << 10 };

void module_tenants_fini(struct module_tenants *ts)
{
    assert(ts->map.n == 0);
    map_fini(&ts->map);
}

/* Includes the NUL, because the empty name is a tenant too. */
static struct str key_of(const char *name)
{
    return str_n(name, strlen(name) + 1);
}

struct module_tenant *module_tenant_ref(struct module_tenants *ts, struct str name)
{
    scoped(free_scoped) char *own = str_dup(name);
    struct str key = key_of(own);
    struct module_tenant *t = map_get(&ts->map, key);
    if (!t) {
        t = xalloc(sizeof *t + key.n);
        memcpy(t->name, key.p, key.n);
        (void)map_put(&ts->map, key, t);
    }
    t->refs++;
    return t;
}

void module_tenant_unref(struct module_tenants *ts, struct module_tenant *t)
{
    if (!t || --t->refs > 0)
        return;
    (void)map_del(&ts->map, key_of(t->name));
    free(t);
}

uint64_t module_tenant_tag(const struct module_tenants *ts, struct module_tenant *t,
                           enum module_queue queue, uint64_t bytes)
{
    t->last[queue] = MAX(t->last[queue], ts->clock[queue]) + bytes + BASE_BYTES;
    return t->last[queue];
}

void module_tenants_serve(struct module_tenants *ts, enum module_queue queue, uint64_t tag)
{
    ts->clock[queue] = MAX(ts->clock[queue], tag);
}

bool module_tenant_has_room(const struct module_tenant *t, unsigned n, unsigned max)
{
    unsigned others = n - (t ? t->n_gets : 0), left = max > others ? max - others : 0;
    return n < max && (!t || !t->name[0] || t->n_gets < (left + 1) / 2);
}
