/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/object/storage_class.h"

#include "sched/object/node.h"

/* {key, values} means a requirement with In. */
static int read_topology(struct intern_table *w, struct arena *a, const struct json *term,
                         struct sched_selector *ret, struct err *err)
{
    struct json *selector = json_new_object(a), *requirements = json_new_array(a);
    json_each (expression, json_getc(term, "matchLabelExpressions")) {
        const struct json *values = json_getc(expression, "values");
        if (!json_is(values, JSON_ARRAY) || values->n == 0) {
            ret->nothing = true;
            return 0;
        }
        struct json *requirement = json_clone(a, expression);
        json_set_str(a, requirement, "operator", STR("In"));
        json_add(requirements, requirement);
    }
    if (requirements->n == 0) {
        ret->nothing = true;
        return 0;
    }
    json_setc(a, selector, "matchExpressions", requirements);
    return sched_selector_read(w, selector, ret, err);
}

static int storage_class_read(struct intern_table *w, struct sched_object *o,
                              const struct json *json, struct err *err)
{
    struct sched_storage_class *class = (struct sched_storage_class *)o;
    class->name = intern_get(w, o->name);
    class->provisioner = intern_get(w, json_get_str(json, "provisioner"));
    struct str mode = json_get_str(json, "volumeBindingMode");
    class->mode = str_is(mode, "WaitForFirstConsumer") ? SCHED_BINDING_WAITS
                  : mode.n > 0                         ? SCHED_BINDING_IMMEDIATE
                                                       : SCHED_BINDING_UNSET;
    const struct json *topologies = json_getc(json, "allowedTopologies");
    if (!json_is(topologies, JSON_ARRAY) || topologies->n == 0)
        return 0;
    class->topologies = xnew_n(struct sched_selector, topologies->n);
    struct arena a = { 0 };
    int r = 0;
    json_each (term, topologies) {
        r = read_topology(w, &a, term, &class->topologies[class->n_topologies], err);
        if (r < 0)
            break;
        class->n_topologies++;
    }
    arena_fini(&a);
    return r < 0 ? err_ctx(err, r, "allowedTopologies") : 0;
}

static void storage_class_fini(struct intern_table *w, struct sched_object *o)
{
    struct sched_storage_class *class = (struct sched_storage_class *)o;
    intern_unref(w, class->name);
    intern_unref(w, class->provisioner);
    for (uint32_t i = 0; i < class->n_topologies; i++)
        sched_selector_fini(w, &class->topologies[i]);
    free(class->topologies);
}

const struct sched_kind_ops sched_storage_class_ops = {
    .size = sizeof(struct sched_storage_class),
    .read = storage_class_read,
    .fini = storage_class_fini,
};

bool sched_storage_class_allows(const struct sched_storage_class *class,
                                const struct sched_node *node)
{
    for (uint32_t i = 0; i < class->n_topologies; i++) {
        const struct sched_selector *s = &class->topologies[i];
        if (!s->nothing && sched_selector_matches(s, &node->labels))
            return true;
    }
    return class->n_topologies == 0;
}

static bool same_selector(const struct sched_selector *a, const struct sched_selector *b)
{
    if (a->nothing != b->nothing || a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct sched_requirement *x = &a->p[i], *y = &b->p[i];
        if (x->key != y->key || x->op != y->op || x->n_values != y->n_values)
            return false;
        for (uint32_t j = 0; j < x->n_values; j++) {
            if (x->values[j] != y->values[j])
                return false;
        }
    }
    return true;
}

bool sched_storage_class_same_topologies(const struct sched_storage_class *a,
                                         const struct sched_storage_class *b)
{
    if (a->n_topologies != b->n_topologies)
        return false;
    for (uint32_t i = 0; i < a->n_topologies; i++) {
        if (!same_selector(&a->topologies[i], &b->topologies[i]))
            return false;
    }
    return true;
}
