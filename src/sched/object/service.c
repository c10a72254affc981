/* SPDX-License-Identifier: Apache-2.0 */
/* Services; the contract is in service.h. */
#include "sched/object/service.h"

static int service_read(struct intern_table *w, struct sched_object *o, const struct json *json,
                        struct err *err)
{
    struct sched_service *s = (struct sched_service *)o;
    const struct json *selector = json_path(json, "spec", "selector", NULL);

    s->namespace_word = intern_get(w, o->namespace);
    s->has_selector = json_is(selector, JSON_OBJECT);
    if (!s->has_selector)
        return 0;
    int r = sched_selector_read_map(w, selector, &s->selector, err);
    return r < 0 ? err_ctx(err, r, "spec.selector") : 0;
}

static void service_fini(struct intern_table *w, struct sched_object *o)
{
    struct sched_service *s = (struct sched_service *)o;

    sched_selector_fini(w, &s->selector);
    intern_unref(w, s->namespace_word);
}

const struct sched_kind_ops sched_service_ops = {
    .size = sizeof(struct sched_service),
    .read = service_read,
    .fini = service_fini,
};
