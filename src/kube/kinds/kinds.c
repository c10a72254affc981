/* SPDX-License-Identifier: Apache-2.0 */
/* Registration of the built-in resources, and what their files share. */
#include "kube/kinds/kinds.h"
#include "kube/table.h"

#include <assert.h>

struct json *kind_cell_count(struct arena *a, const struct json *obj, const char *bag)
{
    const struct json *v = json_getc(obj, bag);
    return json_new_int(a, json_is(v, JSON_OBJECT) || json_is(v, JSON_ARRAY) ? v->n : 0);
}

struct json *kind_cell_name(struct arena *a, const struct json *obj, int64_t now_s)
{
    return table_default_columns[0].cell(a, obj, now_s);
}

struct json *kind_cell_age(struct arena *a, const struct json *obj, int64_t now_s)
{
    return table_default_columns[1].cell(a, obj, now_s);
}

static const struct kind_list *const lists[] = {
#define KIND_LIST_ADDRESS(name) &name,
    KIND_LISTS(KIND_LIST_ADDRESS)
#undef KIND_LIST_ADDRESS
};

void builtin_register(struct registry *reg)
{
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        for (size_t i = 0; i < lists[l]->n; i++) {
            struct kube_resource *r = &lists[l]->rows[i];
            r->schema = builtin_schema(r->group, r->version, r->kind);
            assert(r->schema);
            if (!r->storage)
                r->storage = r;
            int added = registry_add(reg, r, NULL);
            assert(added == 0);
        }
    }
}
