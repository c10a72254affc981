/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/plugins/volume_counts.h"

#include "base/vec.h"
#include "sched/object/volume_attachment.h"

SCHED_STATUS_CONST(no_claim_name, SCHED_ERROR, "PersistentVolumeClaim had no name");

enum { HANDLE_MAX_BYTES = 8 << 10 };

/* Kinds whose objects determine a claim's volume. */
static const enum sched_kind kinds[] = { SCHED_PV, SCHED_PVC, SCHED_STORAGE_CLASS,
                                         SCHED_VOLUME_ATTACHMENT };

struct node_volumes {                   /* by the index of the node */
    const struct sched_node_info *node; /* NULL: nothing is cached for this index */
    uint64_t generation;                /* of the node; 0: not counted */
    struct volume_list list;
    const struct sched_csi_node *csi_node;
    uint64_t csi_generation; /* 1 + the generation of CSINodes; 0: not looked up */
};

struct attachments { /* of one node; references */
    VEC(struct sched_volume_attachment *) list;
};

struct volume_counts {
    struct sched_framework *f;
    uint64_t seed;
    uint64_t generations[ARRAY_LEN(kinds)]; /* of the kinds, at the last update */
    VEC(struct node_volumes) nodes;
    struct volume_list scratch;     /* for the copied node of a dry run */
    struct map attachments;         /* by the name of the node: struct attachments */
    struct map attachments_by_name; /* the same objects */
};

/* ---- identifying volumes ---- */

static uint32_t name_hash(const struct volume_counts *c, struct str namespace, struct str name)
{
    return (uint32_t)str_hash(name, str_hash(namespace, c->seed));
}

static struct counted_volume counted(const struct volume_counts *c, struct str driver,
                                     struct str handle)
{
    uint64_t d = str_hash(driver, c->seed), hash = str_hash(handle, d);
    return (struct counted_volume){ .hash = hash ? hash : 1, .driver = (uint32_t)d };
}

/* The driver that counts a volume of this class before it is provisioned; "": none. */
static struct str driver_of_class(const struct sched_storage_class *class)
{
    enum sched_in_tree tree = sched_in_tree_of(intern_str(class->provisioner));
    if (tree == SCHED_IN_TREE_NONE)
        return intern_str(class->provisioner);
    return sched_in_tree_kinds[tree].is_migrated ? str_of(sched_in_tree_kinds[tree].driver)
                                                 : STR("");
}

struct counted_volume volume_counts_claim(const struct volume_counts *c,
                                          const struct sched_pvc *pvc,
                                          const struct intern **ret_driver)
{
    const struct sched_pv *pv =
        pvc->volume_name.n > 0 ? sched_find_pv(c->f, pvc->volume_name) : NULL;
    struct counted_volume v = { 0 };
    struct str driver = STR("");
    if (pv && pv->driver && pv->handle.n > 0) {
        driver = intern_str(pv->driver);
        if (driver.n > 0)
            v = counted(c, driver, pv->handle);
    } else if (!pv && pvc->class->n > 0) {
        const struct sched_storage_class *class = sched_find_class(c->f, intern_str(pvc->class));
        driver = class ? driver_of_class(class) : STR("");
        if (driver.n > 0) {
            /* A hash that no real handle has: unprovisioned volumes have no handle. */
            v = counted(c, driver, STR(""));
            v.hash = str_hash(pvc->o.name, str_hash(pvc->o.namespace, ~v.hash)) | 1;
        }
    }
    if (ret_driver)
        *ret_driver = v.hash ? intern_find(c->f->words, driver) : NULL;
    v.claim = name_hash(c, pvc->o.namespace, pvc->o.name);
    v.volume = pvc->volume_name.n > 0 ? name_hash(c, STR(""), pvc->volume_name) : 0;
    return v;
}

struct counted_volume volume_counts_inline(const struct volume_counts *c, struct arena *a,
                                           const struct sched_volume *v,
                                           const struct intern **ret_driver,
                                           const struct sched_status **ret_failed)
{
    struct counted_volume ret = { 0 };
    enum sched_in_tree tree = sched_volume_in_tree(v);
    if (ret_driver)
        *ret_driver = NULL;
    if (tree == SCHED_IN_TREE_NONE || !sched_in_tree_kinds[tree].is_migrated)
        return ret;
    struct str driver = str_of(sched_in_tree_kinds[tree].driver);
    struct buf handle = BUF_INIT(HANDLE_MAX_BYTES);
    struct err err = { 0 };
    int r = sched_in_tree_handle(tree, v->id, STR(""), v->id2, &handle, &err);
    if (r < 0)
        *ret_failed =
            sched_status(a, SCHED_ERROR, "converting volume(" STR_FMT ") from inline to csi: %s",
                         STR_ARG(v->name), err_text(&err));
    else
        ret = counted(c, driver, buf_str(&handle));
    buf_fini(&handle);
    if (ret_driver && r >= 0)
        *ret_driver = intern_find(c->f->words, driver);
    return ret;
}

/* ---- attachments by node ---- */

static void attachment_del(struct volume_counts *c, struct str name)
{
    struct sched_volume_attachment *va = map_del(&c->attachments_by_name, name);
    struct attachments *of = va ? map_get(&c->attachments, intern_str(va->node)) : NULL;
    for (size_t i = 0; of && i < of->list.n; i++) {
        if (of->list.p[i] != va)
            continue;
        vec_remove(&of->list, i);
        break;
    }
    if (of && of->list.n == 0) {
        map_del(&c->attachments, intern_str(va->node));
        vec_fini(&of->list);
        free(of);
    }
    sched_object_unref(c->f->words, va);
}

static void attachment_put(struct volume_counts *c, const struct sched_volume_attachment *va)
{
    attachment_del(c, va->o.name);
    if (va->attacher->n == 0 || va->volume.n == 0)
        return;
    struct attachments *of = map_get(&c->attachments, intern_str(va->node));
    if (!of) {
        of = xnew(struct attachments);
        map_put(&c->attachments, intern_str(va->node), of);
    }
    vec_push(&of->list, sched_object_ref((void *)va));
    map_put(&c->attachments_by_name, va->o.name, (void *)va);
}

static void drop_attachments(struct volume_counts *c)
{
    map_each (e, &c->attachments) {
        struct attachments *of = e->value;
        vec_each (va, &of->list)
            sched_object_unref(c->f->words, *va);
        vec_fini(&of->list);
        free(of);
    }
    map_fini(&c->attachments);
    map_fini(&c->attachments_by_name);
}

/* ---- cached counts ---- */

static void drop_nodes(struct volume_counts *c)
{
    vec_each (n, &c->nodes) {
        n->node = NULL;
        n->generation = n->csi_generation = 0;
    }
}

static void drop_node(struct volume_counts *c, const struct intern *name)
{
    const struct sched_node_info *node = sched_cache_node(c->f->cache, name);
    if (node && node->index < c->nodes.n)
        c->nodes.p[node->index].generation = 0;
}

/* Drops the nodes with a volume found by this claim, or (is_volume) by this volume. */
static void drop_nodes_with(struct volume_counts *c, uint32_t hash, bool is_volume)
{
    vec_each (n, &c->nodes) {
        for (size_t i = 0; n->generation > 0 && i < n->list.n; i++) {
            const struct counted_volume *v = &n->list.p[i];
            if ((is_volume ? v->volume : v->claim) == hash)
                n->generation = 0;
        }
    }
}

/* Drops everything after a change without an event. */
static void catch_up(struct volume_counts *c)
{
    bool is_behind = false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        uint64_t now = sched_cache_kind_generation(c->f->cache, kinds[i]);
        is_behind = is_behind || c->generations[i] != now;
        c->generations[i] = now;
    }
    if (!is_behind)
        return;
    drop_nodes(c);
    drop_attachments(c);
    const struct map *all = sched_cache_all(c->f->cache, SCHED_VOLUME_ATTACHMENT);
    map_each (e, all)
        attachment_put(c, e->value);
}

static bool same_driver(const struct sched_pv *a, const struct sched_pv *b)
{
    return a->driver == b->driver && str_eq(a->handle, b->handle) && a->in_tree == b->in_tree;
}

static void apply(struct volume_counts *c, const struct sched_object *before,
                  const struct sched_object *after)
{
    const struct sched_object *o = after ? after : before;
    switch ((int)o->kind) {
    case SCHED_PV:
        if (!before || !after || !same_driver(sched_pv_of(before), sched_pv_of(after)))
            drop_nodes_with(c, name_hash(c, STR(""), o->name), true);
        break;
    case SCHED_PVC:
        if (!before || !after || sched_pvc_of(before)->class != sched_pvc_of(after)->class ||
            !str_eq(sched_pvc_of(before)->volume_name, sched_pvc_of(after)->volume_name) ||
            !str_eq(sched_pvc_of(before)->controller_uid, sched_pvc_of(after)->controller_uid))
            drop_nodes_with(c, name_hash(c, o->namespace, o->name), false);
        break;
    case SCHED_STORAGE_CLASS:
        drop_nodes(c);
        break;
    case SCHED_VOLUME_ATTACHMENT:
        if (before)
            drop_node(c, sched_volume_attachment_of(before)->node);
        if (after)
            drop_node(c, sched_volume_attachment_of(after)->node);
        if (after)
            attachment_put(c, sched_volume_attachment_of(after));
        else
            attachment_del(c, o->name);
        break;
    }
}

void volume_counts_changed(struct volume_counts *c, const struct sched_event *event)
{
    const struct sched_object *o = event->after ? event->after : event->before;
    if (!o || c->nodes.n == 0)
        return; /* not used yet */
    if (o->kind == SCHED_NODE && !event->after)
        drop_nodes(c); /* the next object may have the same address */
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        uint64_t now = sched_cache_kind_generation(c->f->cache, kinds[i]);
        if (o->kind != kinds[i] || now != c->generations[i] + 1)
            continue;
        c->generations[i] = now;
        apply(c, event->before, event->after);
    }
}

/* ---- counting ---- */

static const struct sched_status *add_pod(const struct volume_counts *c, struct arena *a,
                                          const struct sched_pod *pod, struct volume_list *list)
{
    for (uint32_t i = 0; i < pod->n_volumes; i++) {
        const struct sched_volume *v = &pod->volumes[i];
        const struct sched_status *failed = NULL;
        struct counted_volume volume = { 0 };
        if (!sched_volume_has_claim(v)) {
            volume = volume_counts_inline(c, a, v, NULL, &failed);
            if (volume.hash == 0 && !failed)
                continue;
        } else if (v->claim.n == 0) {
            failed = &no_claim_name;
        } else {
            const struct sched_pvc *pvc = sched_find_pvc(c->f, pod->o.namespace, v->claim);
            if (pvc && v->source == SCHED_VOLUME_EPHEMERAL)
                failed = sched_check_ephemeral(a, SCHED_ERROR, pod, pvc);
            if (pvc)
                volume = volume_counts_claim(c, pvc, NULL);
            else
                volume.claim = name_hash(c, pod->o.namespace, v->claim);
        }
        if (failed)
            return failed;
        volume.of_pod = true;
        vec_push(list, volume);
    }
    return NULL;
}

static void add_attachments(const struct volume_counts *c, const struct intern *node,
                            struct volume_list *list)
{
    const struct attachments *of = map_get(&c->attachments, intern_str(node));
    for (size_t i = 0; of && i < of->list.n; i++) {
        const struct sched_volume_attachment *va = of->list.p[i];
        const struct sched_pv *pv = sched_find_pv(c->f, va->volume);
        struct counted_volume volume = { 0 };
        if (pv && pv->driver && pv->in_tree == SCHED_IN_TREE_NONE)
            volume = counted(c, intern_str(va->attacher), pv->handle);
        volume.volume = name_hash(c, STR(""), va->volume);
        vec_push(list, volume);
    }
}

/* By hash; a pod's volume before an attached one. */
static int compare(const void *a, const void *b)
{
    const struct counted_volume *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (int)y->of_pod - (int)x->of_pod;
}

static const struct sched_status *count(const struct volume_counts *c, struct arena *a,
                                        const struct sched_node_info *node,
                                        struct volume_list *list)
{
    list->n = 0;
    for (uint32_t i = 0; i < node->n_pods; i++) {
        const struct sched_status *failed =
            node->pods[i]->n_volumes > 0 ? add_pod(c, a, node->pods[i], list) : NULL;
        if (failed)
            return failed;
    }
    add_attachments(c, node->node->name, list);
    if (list->n > 1)
        qsort(list->p, list->n, sizeof(*list->p), compare);
    return NULL;
}

/* The cached counts of a node; NULL for the copy of a dry run, which is not cached. */
static struct node_volumes *kept_of(struct volume_counts *c, const struct sched_node_info *node)
{
    uint32_t end = sched_cache_nodes_end(c->f->cache);
    while (c->nodes.n < end)
        vec_push(&c->nodes, ((struct node_volumes){ 0 }));
    if (node->index >= end)
        return NULL;
    struct node_volumes *kept = &c->nodes.p[node->index];
    if (kept->node == node)
        return kept;
    if (sched_cache_node(c->f->cache, node->node->name) != node)
        return NULL;
    kept->node = node;
    kept->generation = kept->csi_generation = 0;
    return kept;
}

const struct sched_csi_node *volume_counts_csi_node(struct volume_counts *c,
                                                    const struct sched_node_info *node)
{
    struct sched_cache *cache = c->f->cache;
    uint64_t generation = sched_cache_kind_generation(cache, SCHED_CSI_NODE) + 1;
    struct node_volumes *kept = kept_of(c, node);
    if (kept && kept->csi_generation == generation)
        return kept->csi_node;
    const struct sched_csi_node *csi_node =
        sched_cache_get(cache, SCHED_CSI_NODE, STR(""), node->node->o.name);
    if (kept) {
        kept->csi_node = csi_node;
        kept->csi_generation = generation;
    }
    return csi_node;
}

const struct sched_status *volume_counts_of(struct volume_counts *c, struct arena *a,
                                            const struct sched_node_info *node,
                                            const struct volume_list **ret)
{
    catch_up(c);
    struct node_volumes *kept = kept_of(c, node);
    if (kept && kept->generation == node->generation) {
        *ret = &kept->list;
        return NULL;
    }
    struct volume_list *list = kept ? &kept->list : &c->scratch;
    if (kept)
        kept->generation = 0;
    const struct sched_status *failed = count(c, a, node, list);
    if (failed)
        return failed;
    if (kept)
        kept->generation = node->generation;
    *ret = list;
    return NULL;
}

struct volume_counts *volume_counts_new(struct sched_framework *f)
{
    struct volume_counts *c = xnew(struct volume_counts);
    c->f = f;
    c->seed = f->random(f->arg);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        c->generations[i] = UINT64_MAX; /* nothing cached */
    return c;
}

void volume_counts_free(struct volume_counts *c)
{
    if (!c)
        return;
    drop_attachments(c);
    vec_each (n, &c->nodes)
        free(n->list.p);
    vec_fini(&c->nodes);
    free(c->scratch.p);
    free(c);
}
