/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces that accept new objects; see namespace_table.h. */
#include "api/namespace_table.h"

#include "base/mem.h"

#include <assert.h>

struct namespace_entry {
    uint64_t rev;
    char name[]; /* the map's key */
};

void namespace_table_fini(struct namespace_table *t)
{
    map_each (m, &t->revs)
        free(m->value);
    map_fini(&t->revs);
}

uint64_t namespace_table_find(const struct namespace_table *t, struct str name)
{
    const struct namespace_entry *e = map_get(&t->revs, name);
    return e ? e->rev : 0;
}

void namespace_table_put(struct namespace_table *t, struct str name, uint64_t rev)
{
    struct namespace_entry *e = map_get(&t->revs, name);
    if (e) {
        e->rev = MAX(e->rev, rev);
        return;
    }
    if (t->revs.n >= NAMESPACE_TABLE_MAX)
        namespace_table_fini(t);
    assert(t->revs.n < NAMESPACE_TABLE_MAX);
    t->revs.borrows_keys = true;
    e = xalloc(sizeof *e + name.n);
    e->rev = rev;
    memcpy(e->name, name.p, name.n);
    (void)map_put(&t->revs, (struct str){ e->name, name.n }, e);
}

void namespace_table_forget(struct namespace_table *t, struct str name)
{
    free(map_del(&t->revs, name));
}
