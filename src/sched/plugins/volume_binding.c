/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VolumeBinding: on which nodes a pod can have its volumes. Upstream keeps the result for each node
 * until one is chosen; here the result is computed again for the chosen node, so that nodes cost no
 * memory.
 */
#include "sched/plugins/volume_binding.h"

#include "sched/object/csi_driver.h"
#include "sched/plugins/registry.h"

SCHED_STATUS_CONST(skip, SCHED_SKIP, "");
SCHED_STATUS_CONST(unbound_immediate, SCHED_UNRESOLVABLE,
                   "pod has unbound immediate PersistentVolumeClaims");

/* Why a node does not fit, as bits, in the order of the texts. */
enum { NODE_CONFLICT = 1, NO_MATCH = 2, NO_SPACE = 4, NO_VOLUME = 8 };
#define TEXT(s)                                                                                    \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }
#define NODE_CONFLICT_TEXT TEXT("node(s) didn't match PersistentVolume's node affinity")
#define NO_MATCH_TEXT      TEXT("node(s) didn't find available persistent volumes to bind")
#define NO_SPACE_TEXT      TEXT("node(s) did not have enough free storage")
#define NO_VOLUME_TEXT                                                                             \
    TEXT("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")
/*
 * The possible combinations: the check of bound claims ends with the first volume that does not
 * fit, and provisioning lacks either a match or space, not both.
 */
#define CONFLICTS(X)                                                                               \
    X(NODE_CONFLICT, NODE_CONFLICT_TEXT)                                                           \
    X(NO_MATCH, NO_MATCH_TEXT)                                                                     \
    X(NODE_CONFLICT | NO_MATCH, NODE_CONFLICT_TEXT, NO_MATCH_TEXT)                                 \
    X(NO_SPACE, NO_SPACE_TEXT)                                                                     \
    X(NODE_CONFLICT | NO_SPACE, NODE_CONFLICT_TEXT, NO_SPACE_TEXT)                                 \
    X(NO_VOLUME, NO_VOLUME_TEXT)                                                                   \
    X(NO_MATCH | NO_VOLUME, NO_MATCH_TEXT, NO_VOLUME_TEXT)                                         \
    X(NO_SPACE | NO_VOLUME, NO_SPACE_TEXT, NO_VOLUME_TEXT)
static const struct sched_status conflicts[16] = {
#define CONFLICT_ROW(bits, ...)                                                                    \
    [bits] = { .code = SCHED_UNRESOLVABLE,                                                         \
               .reasons = (const struct str[]){ __VA_ARGS__ },                                     \
               .n_reasons = sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str) },
    CONFLICTS(CONFLICT_ROW)
#undef CONFLICT_ROW
};

static int create(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err)
{
    int64_t seconds =
        json_int_or(json_getc(env->args, "bindTimeoutSeconds"), VOLUME_BIND_TIMEOUT_S);
    if (seconds < 0)
        return err_set(err, E_INVALID,
                       "bindTimeoutSeconds: Invalid value: %lld: invalid BindTimeoutSeconds, "
                       "should not be a negative value",
                       (long long)seconds);
    struct volume_binding *b = xnew(struct volume_binding);
    b->book = volume_book_new(env->framework);
    b->timeout_ms = (uint64_t)seconds * 1000;
    list_init(&b->writing);
    list_init(&b->waits);
    *ret = &b->p;
    return 0;
}

static void destroy(struct sched_plugin *p)
{
    struct volume_binding *b = (struct volume_binding *)p;
    volume_binding_stop(b);
    volume_book_free(b->book);
    free(b);
}

static void changed(struct sched_plugin *p, const struct sched_event *event)
{
    struct volume_binding *b = (struct volume_binding *)p;
    volume_book_changed(b->book, event);
    volume_binding_wake(b, event);
}

/* ---- PreFilter ---- */

static const struct sched_status *find_claim(struct sched_plugin *p, struct sched_cycle *cycle,
                                             const struct sched_volume *v,
                                             const struct sched_pvc **ret)
{
    const struct sched_pod *pod = cycle->pod;
    const struct sched_pvc *pvc = sched_find_pvc(p->framework, pod->o.namespace, v->claim);
    if (!pvc && v->source == SCHED_VOLUME_EPHEMERAL)
        return sched_status(cycle->arena, SCHED_UNRESOLVABLE,
                            "waiting for ephemeral volume controller to create the "
                            "persistentvolumeclaim \"" STR_FMT "\"",
                            STR_ARG(v->claim));
    if (!pvc)
        return sched_status(cycle->arena, SCHED_UNRESOLVABLE,
                            "persistentvolumeclaim \"" STR_FMT "\" not found", STR_ARG(v->claim));
    if (pvc->is_lost)
        return sched_status(cycle->arena, SCHED_UNRESOLVABLE,
                            "persistentvolumeclaim \"" STR_FMT
                            "\" bound to non-existent persistentvolume \"" STR_FMT "\"",
                            STR_ARG(v->claim), STR_ARG(pvc->volume_name));
    if (pvc->is_terminating)
        return sched_status(cycle->arena, SCHED_UNRESOLVABLE,
                            "persistentvolumeclaim \"" STR_FMT "\" is being deleted",
                            STR_ARG(v->claim));
    *ret = pvc;
    return v->source == SCHED_VOLUME_EPHEMERAL
               ? sched_check_ephemeral(cycle->arena, SCHED_UNRESOLVABLE, pod, pvc)
               : NULL;
}

static bool has_claim(const struct binding_state *s, const struct sched_pvc *pvc)
{
    for (uint32_t i = 0; i < s->n_bound; i++) {
        if (s->bound[i].pvc == pvc)
            return true;
    }
    for (uint32_t i = 0; i < s->n_unbound; i++) {
        if (s->unbound[i].pvc == pvc)
            return true;
    }
    return false;
}

static void prepare_unbound(struct volume_binding *b, struct arena *a, struct unbound_claim *c)
{
    c->has_selected_node = volume_book_selected_node(b->book, c->pvc, &c->selected_node);
    if (!c->has_selected_node) {
        c->unclaimed = volume_book_unclaimed(b->book, c->pvc->class);
        c->own = volume_book_own(b->book, a, c->pvc, &c->n_own);
    }
    const struct sched_csi_driver *driver = sched_cache_get(
        b->p.framework->cache, SCHED_CSI_DRIVER, STR(""), intern_str(c->class->provisioner));
    c->checks_capacity = c->pvc->has_request && driver && driver->tracks_capacity;
    if (c->checks_capacity) {
        c->bytes = quantity_value(c->pvc->request);
        c->capacities = volume_book_capacities(b->book, c->class->name);
    }
}

static bool is_before(const struct unbound_claim *a, const struct unbound_claim *b)
{
    if (a->has_selected_node || b->has_selected_node)
        return a->has_selected_node && !b->has_selected_node;
    return quantity_cmp(a->pvc->request, b->pvc->request) < 0;
}

/* Inserts sorted, after equal ones: the pod's order decides, as upstream. */
static void sort_in(struct unbound_claim *claims, uint32_t n, const struct unbound_claim *c)
{
    while (n > 0 && is_before(c, &claims[n - 1])) {
        claims[n] = claims[n - 1];
        n--;
    }
    claims[n] = *c;
}

/*
 * Adds a claim whose class waits for the pod. Immediate claims, and those that already name a
 * volume, should have been bound.
 */
static const struct sched_status *add_unbound(struct volume_binding *b, struct sched_cycle *cycle,
                                              struct binding_state *s, const struct sched_pvc *pvc,
                                              bool *ret_is_immediate)
{
    const struct sched_storage_class *class =
        pvc->class->n > 0 ? sched_find_class(b->p.framework, intern_str(pvc->class)) : NULL;
    if (class && class->mode == SCHED_BINDING_UNSET)
        return sched_status(cycle->arena, SCHED_ERROR,
                            "VolumeBindingMode not set for StorageClass \"%s\"", pvc->class->text);
    if (!class || class->mode != SCHED_BINDING_WAITS || pvc->volume_name.n > 0) {
        *ret_is_immediate = true;
        return NULL;
    }
    struct unbound_claim c = { .pvc = pvc, .class = class };
    prepare_unbound(b, cycle->arena, &c);
    sort_in(s->unbound, s->n_unbound++, &c);
    return NULL;
}

static const struct sched_status *pre_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                             struct sched_node_set *ret)
{
    struct volume_binding *b = (struct volume_binding *)p;
    const struct sched_pod *pod = cycle->pod;
    struct binding_state *s = NULL;
    for (uint32_t i = 0; i < pod->n_volumes; i++) {
        if (!sched_volume_has_claim(&pod->volumes[i]))
            continue;
        const struct sched_pvc *pvc;
        const struct sched_status *status = find_claim(p, cycle, &pod->volumes[i], &pvc);
        if (status)
            return status;
        if (!s) {
            s = arena_new(cycle->arena, struct binding_state);
            s->bound = arena_new_n(cycle->arena, struct bound_claim, pod->n_volumes);
            s->unbound = arena_new_n(cycle->arena, struct unbound_claim, pod->n_volumes);
        }
    }
    if (!s)
        return &skip;
    bool has_immediate = false;
    for (uint32_t i = 0; i < pod->n_volumes; i++) {
        const struct sched_volume *v = &pod->volumes[i];
        const struct sched_pvc *pvc = sched_volume_has_claim(v)
                                          ? sched_find_pvc(p->framework, pod->o.namespace, v->claim)
                                          : NULL;
        if (!pvc || has_claim(s, pvc))
            continue;
        if (sched_pvc_is_bound(pvc)) {
            s->bound[s->n_bound++] =
                (struct bound_claim){ pvc, sched_find_pv(p->framework, pvc->volume_name) };
            continue;
        }
        const struct sched_status *status = add_unbound(b, cycle, s, pvc, &has_immediate);
        if (status)
            return status;
    }
    if (has_immediate)
        return &unbound_immediate;
    s->plugin = b;
    s->cycle = cycle;
    sched_cycle_set_state(cycle, p, s);
    return NULL;
}

/* ---- one node ---- */

/* bits: the reasons. The first volume that is missing or on other nodes decides. */
static const struct sched_status *check_bound(const struct binding_state *s, struct arena *a,
                                              const struct sched_node *node, unsigned *bits)
{
    for (uint32_t i = 0; i < s->n_bound; i++) {
        const struct sched_pv *pv = s->bound[i].pv;
        if (!pv) {
            *bits |= NO_VOLUME;
            return NULL;
        }
        bool is_migrated = sched_is_migrated(s->plugin->p.framework, pv, node);
        if (is_migrated && pv->translation_error.n > 0)
            return sched_status(a, SCHED_ERROR, "could not translate pv: " STR_FMT,
                                STR_ARG(pv->translation_error));
        if (!sched_pv_fits_node(pv, node, is_migrated)) {
            *bits |= NODE_CONFLICT;
            return NULL;
        }
    }
    return NULL;
}

/* Conditions for any volume of a claim, on whatever node. */
static bool is_enough(const struct sched_pv *pv, const struct sched_pvc *pvc)
{
    return quantity_cmp(pv->capacity, pvc->request) >= 0 && pv->is_block == pvc->is_block &&
           str_eq(pv->attributes_class, pvc->attributes_class) && !pv->is_terminating;
}

/* Conditions for a volume that is not reserved for the claim. */
static bool is_wanted(const struct sched_pv *pv, const struct sched_pvc *pvc)
{
    return pv->is_available &&
           (!pvc->has_selector || sched_selector_matches(&pvc->selector, &pv->labels)) &&
           (pvc->access_modes & ~pv->access_modes) == 0;
}

struct volume_binding_search {
    const struct binding_state *s;
    const struct sched_node *node;
    const struct sched_pv **chosen; /* volumes chosen for the claims before */
    uint32_t n_chosen;
};

static bool is_chosen(const struct volume_binding_search *search, const struct sched_pv *pv)
{
    for (uint32_t i = 0; i < search->n_chosen; i++) {
        if (search->chosen[i] == pv)
            return true;
    }
    return false;
}

/* The smallest volume of one list that fits. */
static const struct sched_pv *first_of(const struct volume_binding_search *search,
                                       const struct unbound_claim *c, const struct pin_list *list)
{
    size_t from = 0, to = list->n;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (quantity_cmp(((const struct sched_pv *)list->p[mid])->capacity, c->pvc->request) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    for (size_t i = from; i < list->n; i++) {
        const struct sched_pv *pv = list->p[i];
        if (is_enough(pv, c->pvc) && is_wanted(pv, c->pvc) && !is_chosen(search, pv) &&
            !volume_book_claim(search->s->plugin->book, pv).is_set &&
            sched_pv_fits_node(pv, search->node, false))
            return pv;
    }
    return NULL;
}

static const struct sched_pv *find_volume(const struct volume_binding_search *search,
                                          const struct unbound_claim *c)
{
    /* If volumes are reserved for the claim, only these can be used. */
    for (size_t i = 0; i < c->n_own; i++) {
        const struct sched_pv *pv = c->own[i];
        if (is_enough(pv, c->pvc) && !is_chosen(search, pv))
            return sched_pv_fits_node(pv, search->node, false) ? pv : NULL;
    }
    if (!c->unclaimed)
        return NULL;
    const struct pin_list *lists[PIN_KEYS_MAX + 1];
    unsigned n = pin_index_lists(c->unclaimed, &search->node->labels, lists);
    const struct sched_pv *best = NULL;
    for (unsigned i = 0; i < n; i++) {
        const struct sched_pv *pv = first_of(search, c, lists[i]);
        if (pv && (!best || c->unclaimed->compare(pv, best) < 0))
            best = pv;
    }
    return best;
}

static bool has_capacity(const struct unbound_claim *c, const struct sched_node *node)
{
    if (!c->capacities)
        return false;
    const struct pin_list *lists[PIN_KEYS_MAX + 1];
    unsigned n = pin_index_lists(c->capacities, &node->labels, lists);
    for (unsigned i = 0; i < n; i++) {
        for (size_t j = 0; j < lists[i]->n; j++) {
            const struct sched_csi_capacity *capacity = lists[i]->p[j];
            if (!capacity->has_limit || capacity->limit < c->bytes)
                continue;
            if (!capacity->nodes.nothing && sched_selector_matches(&capacity->nodes, &node->labels))
                return true;
        }
    }
    return false;
}

/* Returns the reasons (bits) why no volume can be provisioned for this node. */
static unsigned check_provision(const struct unbound_claim *c, const struct sched_node *node)
{
    struct str provisioner = intern_str(c->class->provisioner);
    if (provisioner.n == 0 || str_is(provisioner, "kubernetes.io/no-provisioner") ||
        !sched_storage_class_allows(c->class, node))
        return NO_MATCH;
    return c->checks_capacity && !has_capacity(c, node) ? NO_SPACE : 0;
}

/*
 * Finds a volume for each unbound claim, or checks that one can be provisioned. ret_chosen: the
 * volume of each claim, NULL: to be provisioned.
 */
static const struct sched_status *check_unbound(const struct binding_state *s, struct arena *a,
                                                const struct sched_node *node,
                                                const struct sched_pv **ret_chosen, unsigned *bits)
{
    for (uint32_t i = 0; i < s->n_unbound; i++) {
        if (s->unbound[i].has_selected_node && !str_eq(s->unbound[i].selected_node, node->o.name)) {
            *bits |= NO_MATCH;
            return NULL;
        }
    }
    struct volume_binding_search search = { s, node, ret_chosen, 0 };
    for (uint32_t i = 0; i < s->n_unbound; i++) {
        const struct unbound_claim *c = &s->unbound[i];
        ret_chosen[i] = NULL;
        search.n_chosen = i;
        if (c->has_selected_node)
            continue;
        if (c->pvc->has_bad_selector)
            return sched_status(a, SCHED_ERROR,
                                "error creating internal label selector for claim: " STR_FMT
                                "/" STR_FMT,
                                STR_ARG(c->pvc->o.namespace), STR_ARG(c->pvc->o.name));
        ret_chosen[i] = find_volume(&search, c);
    }
    for (uint32_t i = 0; i < s->n_unbound; i++) {
        unsigned found = ret_chosen[i] ? 0 : check_provision(&s->unbound[i], node);
        if (found) {
            *bits |= found;
            return NULL;
        }
    }
    return NULL;
}

static const struct sched_status *check_node(const struct binding_state *s, struct arena *a,
                                             const struct sched_node *node,
                                             const struct sched_pv **ret_chosen)
{
    unsigned bits = 0;
    const struct sched_status *status = NULL;
    if (s->n_bound > 0)
        status = check_bound(s, a, node, &bits);
    if (!status && s->n_unbound > 0)
        status = check_unbound(s, a, node, ret_chosen, &bits);
    if (status || bits == 0)
        return status;
    assert(conflicts[bits].n_reasons > 0);
    return &conflicts[bits];
}

enum { CHOSEN_ON_STACK = 16 };

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    const struct binding_state *s = sched_cycle_state(cycle, p);
    const struct sched_pv *space[CHOSEN_ON_STACK], **chosen = space;
    if (s->n_unbound > CHOSEN_ON_STACK)
        chosen = arena_new_n(cycle->arena, const struct sched_pv *, s->n_unbound);
    return check_node(s, cycle->arena, node->node, chosen);
}

/* ---- the node is chosen ---- */

static void decide(struct binding_state *s, const struct sched_pvc *pvc, const struct sched_pv *pv,
                   const struct sched_node *node)
{
    struct volume_book *book = s->plugin->book;
    struct decision *d = &s->decisions[s->n_decisions++];
    *d = (struct decision){ .pvc = sched_object_ref((void *)pvc) };
    if (!pv) {
        volume_book_promise_claim(book, pvc, node->o.name, s);
        d->is_promised = true;
        return;
    }
    d->pv = sched_object_ref((void *)pv);
    struct sched_claim_ref ref = volume_book_claim(book, pv);
    /* The volume already names the claim with its uid: no promise is needed. */
    if (ref.is_set && str_eq(ref.uid, pvc->o.uid))
        return;
    volume_book_promise_volume(book, pv, pvc, s);
    d->is_promised = true;
}

static const struct sched_status *reserve(struct sched_plugin *p, struct sched_cycle *cycle,
                                          const struct sched_node_info *node)
{
    struct binding_state *s = sched_cycle_state(cycle, p);
    if (!s || s->n_unbound == 0)
        return NULL;
    const struct sched_pv **chosen =
        arena_new_n(cycle->arena, const struct sched_pv *, s->n_unbound);
    const struct sched_status *status = check_node(s, cycle->arena, node->node, chosen);
    if (status)
        return sched_status(cycle->arena, SCHED_ERROR,
                            "volumes of the pod do not fit node \"" STR_FMT "\" any more",
                            STR_ARG(node->node->o.name));
    s->cycle = cycle;
    s->decisions = arena_new_n(cycle->arena, struct decision, s->n_unbound);
    for (uint32_t i = 0; i < s->n_unbound; i++) {
        if (chosen[i])
            decide(s, s->unbound[i].pvc, chosen[i], node->node);
    }
    for (uint32_t i = 0; i < s->n_unbound; i++) {
        if (!chosen[i])
            decide(s, s->unbound[i].pvc, NULL, node->node);
    }
    return NULL;
}

void volume_binding_take_back(struct binding_state *s)
{
    for (uint32_t i = 0; i < s->n_decisions; i++) {
        struct decision *d = &s->decisions[i];
        if (!d->is_promised)
            continue;
        if (!d->pv)
            volume_book_take_back_claim(s->plugin->book, d->pvc, s);
        else if (!d->is_written)
            volume_book_take_back_volume(s->plugin->book, d->pv, s);
    }
}

static void unreserve(struct sched_plugin *p, struct sched_cycle *cycle)
{
    struct binding_state *s = sched_cycle_state(cycle, p);
    if (s)
        volume_binding_take_back(s);
}

static void end(struct sched_plugin *p, struct sched_cycle *cycle)
{
    struct binding_state *s = sched_cycle_state(cycle, p);
    if (!s)
        return;
    list_remove(&s->link);
    for (uint32_t i = 0; i < s->n_decisions; i++) {
        sched_object_unref(p->framework->words, s->decisions[i].pv);
        sched_object_unref(p->framework->words, s->decisions[i].pvc);
    }
    s->n_decisions = 0;
}

/* ---- events ---- */

static enum sched_hint after_class(struct sched_plugin *p, const struct sched_pod *pod,
                                   const struct sched_event *event)
{
    return event->before &&
                   sched_storage_class_same_topologies(sched_storage_class_of(event->before),
                                                       sched_storage_class_of(event->after))
               ? SCHED_HINT_SKIP
               : SCHED_HINT_QUEUE;
}

static enum sched_hint after_claim(struct sched_plugin *p, const struct sched_pod *pod,
                                   const struct sched_event *event)
{
    return sched_pod_uses_claim(pod, event->after, true) ? SCHED_HINT_QUEUE : SCHED_HINT_SKIP;
}

static enum sched_hint after_csi_node(struct sched_plugin *p, const struct sched_pod *pod,
                                      const struct sched_event *event)
{
    return event->before && str_eq(sched_csi_node_of(event->before)->migrated_text,
                                   sched_csi_node_of(event->after)->migrated_text)
               ? SCHED_HINT_SKIP
               : SCHED_HINT_QUEUE;
}

/*
 * Upstream checks for an inline volume of the driver; claims of its classes are treated the same.
 */
static enum sched_hint after_csi_driver(struct sched_plugin *p, const struct sched_pod *pod,
                                        const struct sched_event *event)
{
    return sched_csi_driver_of(event->before)->tracks_capacity &&
                   !sched_csi_driver_of(event->after)->tracks_capacity
               ? SCHED_HINT_QUEUE
               : SCHED_HINT_SKIP;
}

static enum sched_hint after_capacity(struct sched_plugin *p, const struct sched_pod *pod,
                                      const struct sched_event *event)
{
    if (!event->before)
        return SCHED_HINT_QUEUE;
    const struct sched_csi_capacity *before = sched_csi_capacity_of(event->before),
                                    *after = sched_csi_capacity_of(event->after);
    return after->has_limit && (!before->has_limit || after->limit > before->limit)
               ? SCHED_HINT_QUEUE
               : SCHED_HINT_SKIP;
}

static const struct sched_event_reg *events(struct sched_plugin *p, size_t *ret_n)
{
    static const struct sched_event_reg regs[] = {
        { SCHED_ON_STORAGE_CLASS, SCHED_ADD | SCHED_UPDATE, after_class },
        { SCHED_ON_PERSISTENT_VOLUME_CLAIM, SCHED_ADD | SCHED_UPDATE, after_claim },
        { SCHED_ON_PERSISTENT_VOLUME, SCHED_ADD | SCHED_UPDATE, NULL },
        { SCHED_ON_NODE, SCHED_ADD | SCHED_UPDATE_NODE_LABEL, NULL },
        { SCHED_ON_CSI_NODE, SCHED_ADD | SCHED_UPDATE, after_csi_node },
        { SCHED_ON_CSI_DRIVER, SCHED_UPDATE, after_csi_driver },
        { SCHED_ON_CSI_STORAGE_CAPACITY, SCHED_ADD | SCHED_UPDATE, after_capacity },
    };
    *ret_n = ARRAY_LEN(regs);
    return regs;
}

const struct sched_plugin_ops sched_volume_binding_ops = {
    .name = "VolumeBinding",
    .create = create,
    .destroy = destroy,
    .changed = changed,
    .events = events,
    .pre_filter = pre_filter,
    .filter = filter,
    .reserve = reserve,
    .unreserve = unreserve,
    .pre_bind = volume_binding_write,
    .waits_for = volume_binding_waits_for,
    .end = end,
};
