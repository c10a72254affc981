/* SPDX-License-Identifier: Apache-2.0 */
/* What guests of ABI v1 declare: whatever is accepted holds together, and equal bytes are one. */
#include "fuzz.h"

#include "operator/v1/mapping.h"

static void check_watch(const struct declaration *d, const struct declaration_watch *w)
{
    struct object_field fields[MAPPING_FIELDS_MAX];
    FUZZ_CHECK(w->id.n && w->kind.n && w->api_version.n);
    FUZZ_CHECK(declaration_watch(d, w->id) == w);
    FUZZ_CHECK(mapping_fields(w, fields) <= MAPPING_FIELDS_MAX);
    if (w->role == WATCH_CACHE)
        return;
    FUZZ_CHECK(w->controller < d->n_controllers);
    const struct declaration_watch *primary =
        &d->watches[d->controllers[w->controller].first_watch];
    FUZZ_CHECK(primary->role == WATCH_FOR);
    if (w->role == WATCH_MAPPED && w->map->kind == MAP_INDEX)
        FUZZ_CHECK(w->map->index < primary->n_indexes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct declarations all;
    struct declaration *d = NULL, *again = NULL;
    struct err err = { 0 };
    declarations_init(&all);
    if (declaration_get(&all, str_n(data, n), &d, &err) < 0) {
        FUZZ_CHECK(err.code < 0 && err.text[0]);
    } else {
        FUZZ_CHECK(declaration_get(&all, str_n(data, n), &again, NULL) == 0 && again == d);
        for (size_t i = 0; i < d->n_watches; i++)
            check_watch(d, &d->watches[i]);
        for (size_t i = 0; i < d->n_controllers; i++)
            FUZZ_CHECK(declaration_controller(d, d->controllers[i].name) == &d->controllers[i]);
        declaration_unref(again);
        declaration_unref(d);
    }
    declarations_fini(&all);
    return 0;
}
