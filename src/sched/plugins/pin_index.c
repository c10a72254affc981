/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/plugins/pin_index.h"

void pins_add(struct pins *pins, const struct sched_selector *s)
{
    if (s->nothing || pins->everywhere)
        return;
    const struct sched_requirement *best = NULL;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct sched_requirement *q = &s->p[i];
        if (q->op == SCHED_IN && (!best || q->n_values < best->n_values))
            best = q;
    }
    if (!best || best->n_values > PINS_MAX - pins->n) {
        pins->everywhere = true;
        return;
    }
    for (uint32_t i = 0; i < best->n_values; i++)
        pins->p[pins->n++] = (struct pin){ best->key, best->values[i] };
}

void pin_index_init(struct pin_index *x, struct intern_table *words,
                    int (*compare)(const void *a, const void *b))
{
    *x = (struct pin_index){ .words = words, .compare = compare };
}

void pin_index_fini(struct pin_index *x)
{
    map_each (e, &x->lists) {
        struct pin_list *list = e->value;
        free(list->p);
        free(list);
    }
    map_fini(&x->lists);
    free(x->everywhere.p);
    for (unsigned i = 0; i < x->n_keys; i++)
        intern_unref(x->words, x->keys[i]);
    *x = (struct pin_index){ 0 };
}

/* The first position whose item is not before this one. */
static size_t lower_bound(const struct pin_index *x, const struct pin_list *list, const void *item)
{
    size_t from = 0, to = list->n;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (x->compare(list->p[mid], item) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static void list_put(const struct pin_index *x, struct pin_list *list, const void *item)
{
    size_t at = lower_bound(x, list, item);
    if (at < list->n && list->p[at] == item)
        return;
    vec_push(list, item);
    memmove(list->p + at + 1, list->p + at, (list->n - 1 - at) * sizeof(*list->p));
    list->p[at] = item;
}

static void list_del(const struct pin_index *x, struct pin_list *list, const void *item)
{
    size_t at = lower_bound(x, list, item);
    if (at < list->n && list->p[at] == item)
        vec_remove(list, at);
}

static bool has_key(const struct pin_index *x, const struct intern *key)
{
    for (unsigned i = 0; i < x->n_keys; i++) {
        if (x->keys[i] == key)
            return true;
    }
    return false;
}

/* Keys are never removed, so that an item is found where it was added. */
static bool is_pinned(const struct pin_index *x, const struct pins *pins)
{
    for (unsigned i = 0; i < pins->n && !pins->everywhere; i++) {
        if (!has_key(x, pins->p[i].key))
            return false;
    }
    return !pins->everywhere;
}

static struct str pin_key(const struct pin *pin)
{
    return str_n(pin, sizeof(*pin));
}

void pin_index_put(struct pin_index *x, const struct pins *pins, const void *item)
{
    for (unsigned i = 0; i < pins->n && !pins->everywhere && x->n_keys < PIN_KEYS_MAX; i++) {
        if (!has_key(x, pins->p[i].key))
            x->keys[x->n_keys++] = intern_ref((struct intern *)pins->p[i].key);
    }
    if (!is_pinned(x, pins)) {
        list_put(x, &x->everywhere, item);
        return;
    }
    for (unsigned i = 0; i < pins->n; i++) {
        struct pin_list *list = map_get(&x->lists, pin_key(&pins->p[i]));
        if (!list) {
            list = xnew(struct pin_list);
            map_put(&x->lists, pin_key(&pins->p[i]), list);
        }
        list_put(x, list, item);
    }
}

void pin_index_del(struct pin_index *x, const struct pins *pins, const void *item)
{
    if (!is_pinned(x, pins)) {
        list_del(x, &x->everywhere, item);
        return;
    }
    for (unsigned i = 0; i < pins->n; i++) {
        struct pin_list *list = map_get(&x->lists, pin_key(&pins->p[i]));
        if (!list)
            continue;
        list_del(x, list, item);
        if (list->n == 0) {
            map_del(&x->lists, pin_key(&pins->p[i]));
            free(list->p);
            free(list);
        }
    }
}

unsigned pin_index_lists(const struct pin_index *x, const struct sched_labels *labels,
                         const struct pin_list *ret[PIN_KEYS_MAX + 1])
{
    unsigned n = 0;
    for (unsigned i = 0; i < x->n_keys; i++) {
        struct pin pin = { x->keys[i], sched_label_get(labels, x->keys[i]) };
        const struct pin_list *list = pin.value ? map_get(&x->lists, pin_key(&pin)) : NULL;
        if (list)
            ret[n++] = list;
    }
    if (x->everywhere.n > 0)
        ret[n++] = &x->everywhere;
    return n;
}
