/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is nominated to which node: noted here before the API says so, so that the next cycle counts
 * it. Looked up for every node of a cycle, therefore by the number of the node's word.
 */
#include "sched/queue/internal.h"

struct nominated_node {
    struct word *name;                  /* a reference keeps its number ours */
    VEC(const struct sched_pod *) pods; /* in the order of nomination; a reference each */
};
struct nomination {
    struct nominated_node *node;
    const struct sched_pod *pod; /* the one in `pods` */
};

static struct nominated_node *node_of(struct sched_queue *q, struct str name)
{
    struct nominator *m = &q->nominator;
    struct word *word = words_get(q->opts.words, name);
    if (word->id >= m->cap) {
        size_t cap = MAX((size_t)64, m->cap * 2);
        while (cap <= word->id)
            cap *= 2;
        m->by_node = xrealloc(m->by_node, cap * sizeof *m->by_node);
        memset(m->by_node + m->cap, 0, (cap - m->cap) * sizeof *m->by_node);
        m->cap = cap;
    }
    if (m->by_node[word->id]) {
        word_unref(q->opts.words, word);
        return m->by_node[word->id];
    }
    struct nominated_node *n = xnew(struct nominated_node);
    n->name = word;
    m->by_node[word->id] = n;
    return n;
}

static void drop_node(struct sched_queue *q, struct nominated_node *n)
{
    q->nominator.by_node[n->name->id] = NULL;
    word_unref(q->opts.words, n->name);
    vec_fini(&n->pods);
    free(n);
}

static size_t position(const struct nomination *x)
{
    size_t i = 0;
    while (x->node->pods.p[i] != x->pod)
        i++;
    return i;
}

void nominator_del(struct sched_queue *q, struct str uid)
{
    struct nomination *x = map_del(&q->nominator.by_uid, uid);
    if (!x)
        return;
    vec_remove(&x->node->pods, position(x));
    if (x->node->pods.n == 0)
        drop_node(q, x->node);
    pod_unref(q, x->pod);
    free(x);
}

void nominator_set(struct sched_queue *q, const struct sched_pod *pod, struct str node)
{
    nominator_del(q, pod->o.uid);
    if (str_is_empty(node))
        return;
    struct nomination *x = xnew(struct nomination);
    x->node = node_of(q, node);
    x->pod = pod_ref(pod);
    vec_push(&x->node->pods, pod);
    (void)map_put(&q->nominator.by_uid, pod->o.uid, x);
}

void nominator_swap(struct sched_queue *q, const struct sched_pod *after)
{
    struct nomination *x = map_get(&q->nominator.by_uid, after->o.uid);
    if (!x)
        return;
    x->node->pods.p[position(x)] = pod_ref(after);
    pod_unref(q, x->pod);
    x->pod = after;
}

void nominator_update(struct sched_queue *q, const struct sched_pod *before,
                      const struct sched_pod *after)
{
    if (str_is_empty(before->nominated_node) && str_is_empty(after->nominated_node))
        nominator_swap(q, after);
    else
        nominator_set(q, after, after->nominated_node);
}

void nominator_fini(struct sched_queue *q)
{
    map_each (e, &q->nominator.by_uid) {
        struct nomination *x = e->value;
        vec_remove(&x->node->pods, position(x));
        if (x->node->pods.n == 0)
            drop_node(q, x->node);
        pod_unref(q, x->pod);
        free(x);
    }
    map_fini(&q->nominator.by_uid);
    free(q->nominator.by_node);
}

void sched_queue_nominate(struct sched_queue *q, const struct sched_pod *pod, struct str node)
{
    if (str_is_empty(node))
        nominator_del(q, pod->o.uid);
    else if (sched_queue_get(q, pod->o.uid))
        nominator_set(q, pod, node);
}

const struct sched_pod *const *sched_queue_nominated_to(const struct sched_queue *q,
                                                        const struct word *node, size_t *ret_n)
{
    const struct nominator *m = &q->nominator;
    const struct nominated_node *n = node && node->id < m->cap ? m->by_node[node->id] : NULL;
    *ret_n = n ? n->pods.n : 0;
    return n ? n->pods.p : NULL;
}

const struct sched_pod *const *sched_queue_nominated(const struct sched_queue *q, struct str node,
                                                     size_t *ret_n)
{
    return sched_queue_nominated_to(q, words_find(q->opts.words, node), ret_n);
}

struct str sched_queue_nomination(const struct sched_queue *q, struct str uid)
{
    const struct nomination *x = map_get(&q->nominator.by_uid, uid);
    return x ? word_str(x->node->name) : STR("");
}
