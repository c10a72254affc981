/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pods are nominated to which node: recorded before the API confirms it, so that the next
 * cycle counts it. Looked up for every node of a cycle, therefore by the number of the node's word.
 */
#include "sched/framework/nominator.h"

#include "base/mem.h"
#include "base/vec.h"

#include <assert.h>

struct nominated_node {
    struct intern *name; /* the reference keeps the word's number from being reused */
    VEC(const struct sched_pod *) pods; /* in the order of nomination; references */
};
struct nomination {
    struct nominated_node *node;
    const struct sched_pod *pod; /* the one in `pods` */
};

static const struct sched_pod *pod_ref(const struct sched_pod *pod)
{
    return sched_object_ref((void *)(uintptr_t)pod);
}

static void pod_unref(struct sched_nominator *m, const struct sched_pod *pod)
{
    sched_object_unref(m->words, (void *)(uintptr_t)pod);
}

static struct nominated_node *node_of(struct sched_nominator *m, struct str name)
{
    struct intern *word = intern_get(m->words, name);
    if (word->id >= m->cap) {
        size_t cap = MAX((size_t)64, m->cap * 2);
        while (cap <= word->id)
            cap *= 2;
        m->by_node = xrealloc(m->by_node, cap * sizeof *m->by_node);
        memset(m->by_node + m->cap, 0, (cap - m->cap) * sizeof *m->by_node);
        m->cap = cap;
    }
    if (m->by_node[word->id]) {
        intern_unref(m->words, word);
        return m->by_node[word->id];
    }
    struct nominated_node *n = xnew(struct nominated_node);
    n->name = word;
    m->by_node[word->id] = n;
    return n;
}

static void drop_node(struct sched_nominator *m, struct nominated_node *n)
{
    assert(n->pods.n == 0 && n->name->id < m->cap && m->by_node[n->name->id] == n);
    m->by_node[n->name->id] = NULL;
    intern_unref(m->words, n->name);
    vec_fini(&n->pods);
    free(n);
}

static size_t position(const struct nomination *x)
{
    size_t i = 0;
    while (i < x->node->pods.n && x->node->pods.p[i] != x->pod)
        i++;
    assert(i < x->node->pods.n);
    return i;
}

void sched_nominator_del(struct sched_nominator *m, struct str uid)
{
    struct nomination *x = map_del(&m->by_uid, uid);
    if (!x)
        return;
    vec_remove(&x->node->pods, position(x));
    if (x->node->pods.n == 0)
        drop_node(m, x->node);
    pod_unref(m, x->pod);
    free(x);
}

void sched_nominator_set(struct sched_nominator *m, const struct sched_pod *pod, struct str node)
{
    sched_nominator_del(m, pod->o.uid);
    if (str_is_empty(node))
        return;
    struct nomination *x = xnew(struct nomination);
    x->node = node_of(m, node);
    x->pod = pod_ref(pod);
    vec_push(&x->node->pods, pod);
    (void)map_put(&m->by_uid, pod->o.uid, x);
}

void sched_nominator_swap(struct sched_nominator *m, const struct sched_pod *after)
{
    struct nomination *x = map_get(&m->by_uid, after->o.uid);
    if (!x)
        return;
    x->node->pods.p[position(x)] = pod_ref(after);
    pod_unref(m, x->pod);
    x->pod = after;
}

void sched_nominator_update(struct sched_nominator *m, const struct sched_pod *before,
                            const struct sched_pod *after)
{
    if (str_is_empty(before->nominated_node) && str_is_empty(after->nominated_node))
        sched_nominator_swap(m, after);
    else
        sched_nominator_set(m, after, after->nominated_node);
}

void sched_nominator_init(struct sched_nominator *m, struct intern_table *words)
{
    *m = (struct sched_nominator){ .words = words };
}

void sched_nominator_fini(struct sched_nominator *m)
{
    map_each (e, &m->by_uid) {
        struct nomination *x = e->value;
        vec_remove(&x->node->pods, position(x));
        if (x->node->pods.n == 0)
            drop_node(m, x->node);
        pod_unref(m, x->pod);
        free(x);
    }
    map_fini(&m->by_uid);
    free(m->by_node);
}

const struct sched_pod *const *sched_nominator_pods(const struct sched_nominator *m,
                                                    const struct intern *node, size_t *ret_n)
{
    const struct nominated_node *n = node && node->id < m->cap ? m->by_node[node->id] : NULL;
    *ret_n = n ? n->pods.n : 0;
    return n ? n->pods.p : NULL;
}

struct str sched_nominator_node(const struct sched_nominator *m, struct str uid)
{
    const struct nomination *x = map_get(&m->by_uid, uid);
    return x ? intern_str(x->node->name) : STR("");
}
