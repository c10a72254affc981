/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/extender/extender.h"

#include "base/log.h"
#include "sched/extender/answer.h"
#include "sched/extender/post.h"

#include <errno.h>

enum {
    REQUEST_MAX_BYTES = 256 << 20,
    TREE_MAX_BYTES = 512 << 20, /* of an answer, parsed */
    SCORE_SCALE = SCHED_SCORE_MAX / 10,
};

struct extender {
    const struct sched_config_extender *config;
    struct extender_link *link;
};
struct sched_extenders {
    struct loop *loop; /* NULL: there are no extenders */
    struct extender *p;
    size_t n;
};

/* ---- creation ---- */

void sched_extenders_free(struct sched_extenders *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->n; i++)
        extender_link_free(x->p[i].link);
    if (x->loop) {
        loop_run(x->loop); /* until the connections are closed */
        loop_fini(x->loop);
    }
    free(x->loop);
    free(x->p);
    free(x);
}

void sched_extenders_replace(struct sched_extenders *x, struct sched_extenders *next)
{
    struct sched_extenders was = *x;
    *x = *next;
    *next = was;
    sched_extenders_free(next);
}

static int add_all(struct sched_extenders *x, const struct sched_config_extender *configs, size_t n,
                   bool ignorable, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (configs[i].is_ignorable != ignorable)
            continue;
        struct extender e = { .config = &configs[i] };
        int r = extender_link_new(x->loop, e.config, &e.link, err);
        if (r < 0)
            return r;
        x->p[x->n++] = e;
    }
    return 0;
}

static int open_all(struct sched_extenders *x, const struct sched_config_extender *configs,
                    size_t n, struct err *err)
{
    struct loop *loop = xnew(struct loop);
    int r = loop_init(loop, err);
    if (r < 0) {
        free(loop);
        return r;
    }
    x->loop = loop;
    x->p = xnew_n(struct extender, n);
    r = add_all(x, configs, n, false, err);
    return r < 0 ? r : add_all(x, configs, n, true, err);
}

int sched_extenders_new(const struct sched_config_extender *configs, size_t n,
                        struct sched_extenders **ret, struct err *err)
{
    struct sched_extenders *x = xnew(struct sched_extenders);
    int r = n > 0 ? open_all(x, configs, n, err) : 0;
    if (r < 0) {
        sched_extenders_free(x);
        return err_ctx(err, r, "couldn't build extenders");
    }
    *ret = x;
    return 0;
}

/* ---- which pods ---- */

static bool manages(const struct extender *e, struct str resource)
{
    for (size_t i = 0; i < e->config->n_managed; i++)
        if (str_eq(e->config->managed[i].name, resource))
            return true;
    return false;
}

/* An extender without managed resources gets all pods. */
static bool wants(const struct extender *e, const struct sched_pod *pod)
{
    for (uint32_t i = 0; i < pod->requests.n_scalars; i++)
        if (manages(e, intern_str(pod->requests.scalars[i].name)))
            return true;
    return e->config->n_managed == 0;
}

/* ---- requests ---- */

static void add_json(struct buf *to, struct str json)
{
    buf_add_str(to, str_is_empty(json) ? STR("null") : json);
}

/*
 * extender/v1 ExtenderArgs: whole nodes, or only their names for an extender with a cache of nodes.
 */
static void write_args(struct buf *to, const struct extender *e, const struct sched_pod *pod,
                       const struct sched_node_info *const *nodes, size_t n)
{
    bool by_name = e->config->node_cache_capable;
    buf_add_cstr(to, "{\"Pod\":");
    add_json(to, pod->json);
    buf_add_cstr(to, by_name ? ",\"Nodes\":null,\"NodeNames\":["
                             : ",\"Nodes\":{\"metadata\":{},\"items\":[");
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_add_char(to, ',');
        if (by_name)
            json_write_str(to, intern_str(nodes[i]->node->name));
        else
            add_json(to, nodes[i]->node->json);
    }
    buf_add_cstr(to, by_name ? "]}" : "]},\"NodeNames\":null}");
}

static struct extender_post post_for(const struct extender *e, struct str verb)
{
    return (
        struct extender_post){ .link = e->link, .verb = verb, .body = BUF_INIT(REQUEST_MAX_BYTES) };
}

static void post_fini(struct extender_post *p)
{
    buf_fini(&p->body);
    buf_fini(&p->answer);
}

static const struct sched_status *failed(struct arena *a, const struct err *err)
{
    struct str text = str_of(err_text(err));
    return sched_status_of(a, SCHED_ERROR, &text, 1);
}

static void log_skipped(const struct extender *e, struct str error)
{
    char quoted[LOG_QUOTE_MAX];
    if (log_is_on(LOG_DEBUG))
        log_debug("extender skipped", "url=" STR_FMT " error=\"%s\"",
                  STR_ARG(e->config->url_prefix), log_quote(quoted, error));
}

/* Is the extender ignorable? If so, its failure is logged. */
static bool is_forgiven(const struct extender *e, const struct sched_status *status)
{
    if (e->config->is_ignorable)
        log_skipped(e, status->reasons[0]);
    return e->config->is_ignorable;
}

/* ---- filter ---- */

static const struct sched_node_info *node_named(const struct sched_cycle *cycle, struct str name)
{
    const struct intern *word = intern_find(cycle->framework->words, name);
    return word ? sched_cache_node(cycle->framework->cache, word) : NULL;
}

struct filtering {
    const struct extender *e;
    struct sched_cycle *cycle;
    const struct sched_node_info **nodes;
    size_t *n;
    void (*refuse)(void *arg, const struct sched_node_info *node,
                   const struct sched_status *status);
    void *refuse_arg;
};

/* The state of a node within one answer, by the node's index. */
enum { NODE_UNASKED, NODE_ASKED, NODE_KEPT };

/* Keeps the nodes of the answer, in its order; they must be among those that were sent. */
static const struct sched_status *keep(struct filtering *f, const struct extender_filtered *answer)
{
    struct arena *a = f->cycle->arena;
    size_t n = 0;
    uint8_t *at = arena_new_n(a, uint8_t, sched_cache_nodes_end(f->cycle->framework->cache) + 1);
    const struct sched_node_info **kept = arena_new_n(a, const struct sched_node_info *, *f->n + 1);
    for (size_t i = 0; i < *f->n; i++)
        at[f->nodes[i]->index] = NODE_ASKED;
    for (size_t i = 0; i < answer->n_nodes; i++) {
        const struct sched_node_info *node = node_named(f->cycle, answer->nodes[i]);
        if (!node || at[node->index] == NODE_UNASKED)
            return sched_status(a, SCHED_ERROR,
                                "extender \"" STR_FMT "\" claims a filtered node \"" STR_FMT
                                "\" which is not found in the input node list",
                                STR_ARG(f->e->config->url_prefix), STR_ARG(answer->nodes[i]));
        if (at[node->index] == NODE_KEPT)
            continue;
        at[node->index] = NODE_KEPT;
        kept[n++] = node;
    }
    memcpy(f->nodes, kept, n * sizeof(*kept));
    *f->n = n;
    return NULL;
}

/*
 * Reports refused nodes. Skips nodes that the scheduler does not know, and nodes reported before.
 */
static void report_refused(struct filtering *f, const struct extender_failed *p, size_t n,
                           enum sched_code code, bool *is_reported)
{
    for (size_t i = 0; i < n; i++) {
        const struct sched_node_info *node = node_named(f->cycle, p[i].node);
        if (!node || is_reported[node->index])
            continue;
        is_reported[node->index] = true;
        f->refuse(f->refuse_arg, node, sched_status_of(f->cycle->arena, code, &p[i].message, 1));
    }
}

static const struct sched_status *apply_filtered(struct filtering *f, struct arena *a,
                                                 struct str text)
{
    struct extender_filtered answer;
    struct err err = { 0 };
    if (extender_read_filtered(a, text, f->e->config->node_cache_capable, &answer, &err) < 0)
        return failed(f->cycle->arena, &err);
    if (!str_is_empty(answer.error))
        return sched_status_of(f->cycle->arena, SCHED_ERROR, &answer.error, 1);
    const struct sched_status *status = keep(f, &answer);
    if (sched_code(status) != SCHED_SUCCESS)
        return status;
    bool *is_reported =
        arena_new_n(f->cycle->arena, bool, sched_cache_nodes_end(f->cycle->framework->cache) + 1);
    report_refused(f, answer.unresolvable, answer.n_unresolvable, SCHED_UNRESOLVABLE, is_reported);
    report_refused(f, answer.failed, answer.n_failed, SCHED_UNSCHEDULABLE, is_reported);
    return NULL;
}

static const struct sched_status *filter_by(struct sched_extenders *x, struct filtering *f)
{
    struct arena a = { .max_bytes = TREE_MAX_BYTES };
    struct extender_post p = post_for(f->e, f->e->config->filter_verb);
    write_args(&p.body, f->e, f->cycle->pod, f->nodes, *f->n);
    extender_post_all(x->loop, &p, 1);
    const struct sched_status *status =
        p.r < 0 ? failed(f->cycle->arena, &p.err) : apply_filtered(f, &a, buf_str(&p.answer));
    post_fini(&p);
    arena_fini(&a);
    return status;
}

static const struct sched_status *filter(void *arg, struct sched_cycle *cycle,
                                         const struct sched_node_info **nodes, size_t *n,
                                         void (*refuse)(void *, const struct sched_node_info *,
                                                        const struct sched_status *),
                                         void *refuse_arg)
{
    struct sched_extenders *x = arg;
    for (size_t i = 0; i<x->n && * n> 0; i++) {
        struct filtering f = { &x->p[i], cycle, nodes, n, refuse, refuse_arg };
        if (str_is_empty(f.e->config->filter_verb) || !wants(f.e, cycle->pod))
            continue;
        const struct sched_status *status = filter_by(x, &f);
        if (sched_code(status) != SCHED_SUCCESS && !is_forgiven(f.e, status))
            return status;
    }
    return NULL;
}

/* ---- prioritize ---- */

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}
static int64_t scale(int64_t score, int64_t by)
{
    int64_t product;
    return __builtin_mul_overflow(score, by, &product)
               ? ((score > 0) == (by > 0) ? INT64_MAX : INT64_MIN)
               : product;
}

/* Adds the scores; those of nodes that were not sent are ignored. */
static void apply_scores(const struct extender *e, struct sched_cycle *cycle, struct str text,
                         const uint32_t *at, int64_t *sums)
{
    struct arena a = { .max_bytes = TREE_MAX_BYTES };
    struct extender_score *scores;
    size_t n;
    struct err err = { 0 };
    if (extender_read_scores(&a, text, &scores, &n, &err) < 0) {
        log_skipped(e, str_of(err_text(&err)));
        n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        const struct sched_node_info *node = node_named(cycle, scores[i].node);
        if (!node || at[node->index] == 0)
            continue;
        int64_t *sum = &sums[at[node->index] - 1];
        *sum = add(*sum, scale(scale(scores[i].score, e->config->weight), SCORE_SCALE));
    }
    arena_fini(&a);
}

/* All extenders are called in parallel; one that fails gives no scores. */
static void prioritize(void *arg, struct sched_cycle *cycle,
                       const struct sched_node_info *const *nodes, size_t n, int64_t *sums)
{
    struct sched_extenders *x = arg;
    struct extender_post *posts = arena_new_n(cycle->arena, struct extender_post, x->n);
    const struct extender **by = arena_new_n(cycle->arena, const struct extender *, x->n);
    size_t n_posts = 0;
    for (size_t i = 0; i < x->n; i++) {
        const struct extender *e = &x->p[i];
        if (str_is_empty(e->config->prioritize_verb) || !wants(e, cycle->pod))
            continue;
        by[n_posts] = e;
        posts[n_posts] = post_for(e, e->config->prioritize_verb);
        write_args(&posts[n_posts++].body, e, cycle->pod, nodes, n);
    }
    if (n_posts == 0)
        return;
    extender_post_all(x->loop, posts, n_posts);
    uint32_t *at =
        arena_new_n(cycle->arena, uint32_t, sched_cache_nodes_end(cycle->framework->cache) + 1);
    for (size_t i = 0; i < n; i++)
        at[nodes[i]->index] = (uint32_t)i + 1;
    for (size_t i = 0; i < n_posts; i++) {
        if (posts[i].r >= 0)
            apply_scores(by[i], cycle, buf_str(&posts[i].answer), at, sums);
        else
            log_skipped(by[i], str_of(err_text(&posts[i].err)));
        post_fini(&posts[i]);
    }
}

/* ---- bind ---- */

static bool binds(void *arg, const struct sched_pod *pod)
{
    const struct sched_extenders *x = arg;
    for (size_t i = 0; i < x->n; i++)
        if (!str_is_empty(x->p[i].config->bind_verb) && wants(&x->p[i], pod))
            return true;
    return false;
}

static const struct sched_status *bind_by(struct sched_extenders *x, const struct extender *e,
                                          struct sched_cycle *cycle)
{
    const struct sched_object *pod = &cycle->pod->o;
    struct arena a = { .max_bytes = TREE_MAX_BYTES };
    struct extender_post p = post_for(e, e->config->bind_verb);
    p.repeats = false;
    buf_add_cstr(&p.body, "{\"PodName\":");
    json_write_str(&p.body, pod->name);
    buf_add_cstr(&p.body, ",\"PodNamespace\":");
    json_write_str(&p.body, pod->namespace);
    buf_add_cstr(&p.body, ",\"PodUID\":");
    json_write_str(&p.body, pod->uid);
    buf_add_cstr(&p.body, ",\"Node\":");
    json_write_str(&p.body, intern_str(cycle->node));
    buf_add_char(&p.body, '}');
    extender_post_all(x->loop, &p, 1);
    struct str error = STR("");
    if (p.r >= 0)
        p.r = extender_read_bound(&a, buf_str(&p.answer), &error, &p.err);
    const struct sched_status *status = NULL;
    if (p.r < 0)
        status = failed(cycle->arena, &p.err);
    else if (!str_is_empty(error))
        status = sched_status_of(cycle->arena, SCHED_ERROR, &error, 1);
    post_fini(&p);
    arena_fini(&a);
    return status;
}

static const struct sched_status not_bound = { .code = SCHED_SKIP };

static const struct sched_status *bind_pod(void *arg, struct sched_cycle *cycle,
                                           struct sched_step *step)
{
    struct sched_extenders *x = arg;
    for (size_t i = 0; i < x->n; i++) {
        const struct extender *e = &x->p[i];
        if (str_is_empty(e->config->bind_verb) || !wants(e, cycle->pod))
            continue;
        const struct sched_status *status = bind_by(x, e, cycle);
        if (sched_code(status) == SCHED_SUCCESS || !is_forgiven(e, status))
            return status;
    }
    return &not_bound;
}

/* ---- preemption ---- */

static void write_victims(struct buf *to, const struct sched_candidate *c, bool by_uid)
{
    buf_add_cstr(to, "{\"Pods\":[");
    for (uint32_t i = 0; i < c->n_victims; i++) {
        if (i > 0)
            buf_add_char(to, ',');
        if (by_uid) {
            buf_add_cstr(to, "{\"UID\":");
            json_write_str(to, c->victims[i]->o.uid);
            buf_add_char(to, '}');
        } else {
            add_json(to, c->victims[i]->json);
        }
    }
    buf_printf(to, "],\"NumPDBViolations\":%u}", c->n_violations);
}

static void write_preemption(struct buf *to, const struct extender *e, const struct sched_pod *pod,
                             const struct sched_candidate *candidates, size_t n)
{
    bool by_uid = e->config->node_cache_capable;
    buf_add_cstr(to, "{\"Pod\":");
    add_json(to, pod->json);
    buf_add_cstr(to, by_uid ? ",\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{"
                            : ",\"NodeNameToVictims\":{");
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_add_char(to, ',');
        json_write_str(to, intern_str(candidates[i].node->node->name));
        buf_add_char(to, ':');
        write_victims(to, &candidates[i], by_uid);
    }
    buf_add_cstr(to, by_uid ? "}}" : "},\"NodeNameToMetaVictims\":null}");
}

static const struct sched_pod *pod_on(const struct sched_node_info *node, struct str uid)
{
    for (uint32_t i = 0; i < node->n_pods; i++)
        if (str_eq(node->pods[i]->o.uid, uid))
            return node->pods[i];
    return NULL;
}

/* Reads which pods the extender wants removed from a node. */
static const struct sched_status *take_victims(const struct extender *e, struct arena *a,
                                               const struct extender_victims *v,
                                               struct sched_candidate *c)
{
    const struct sched_pod **pods = arena_new_n(a, const struct sched_pod *, v->n_uids + 1);
    for (size_t i = 0; i < v->n_uids; i++) {
        pods[i] = pod_on(c->node, v->uids[i]);
        if (!pods[i])
            return sched_status(a, SCHED_ERROR,
                                "extender: " STR_FMT " claims to preempt pod (UID: &{" STR_FMT
                                "}) on node: " STR_FMT ", but the pod is not found on that node",
                                STR_ARG(e->config->url_prefix), STR_ARG(v->uids[i]),
                                STR_ARG(v->node));
    }
    c->victims = pods;
    c->n_victims = (uint32_t)v->n_uids;
    c->n_violations = v->n_violations < 0 ? 0 : (uint32_t)MIN(v->n_violations, UINT32_MAX);
    return NULL;
}

static const struct sched_candidate *candidate_on(const struct sched_candidate *p, size_t n,
                                                  struct str node)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(intern_str(p[i].node->node->name), node))
            return &p[i];
    return NULL;
}

static const struct sched_status *apply_preemption(const struct extender *e, struct arena *a,
                                                   struct sched_cycle *cycle, struct str text,
                                                   struct sched_candidate *candidates, size_t *n)
{
    struct extender_victims *answer;
    size_t n_answer, n_left = 0;
    struct err err = { 0 };
    if (extender_read_victims(a, text, &answer, &n_answer, &err) < 0)
        return failed(cycle->arena, &err);
    struct sched_candidate *left = arena_new_n(cycle->arena, struct sched_candidate, *n + 1);
    for (size_t i = 0; i < n_answer; i++) {
        const struct sched_candidate *was = candidate_on(candidates, *n, answer[i].node);
        if (!was)
            return sched_status(cycle->arena, SCHED_ERROR,
                                "nodeinfo not found for node name \"" STR_FMT "\"",
                                STR_ARG(answer[i].node));
        struct sched_candidate c = *was;
        const struct sched_status *status = take_victims(e, cycle->arena, &answer[i], &c);
        if (sched_code(status) != SCHED_SUCCESS)
            return status;
        if (c.n_victims > 0)
            left[n_left++] = c;
        else if (!e->config->is_ignorable)
            return sched_status(cycle->arena, SCHED_ERROR,
                                "expected at least one victim pod on node \"" STR_FMT "\"",
                                STR_ARG(answer[i].node));
    }
    memcpy(candidates, left, n_left * sizeof(*left));
    *n = n_left;
    return NULL;
}

static const struct sched_status *process_preemption(void *arg, struct sched_cycle *cycle,
                                                     struct sched_candidate *candidates, size_t *n)
{
    struct sched_extenders *x = arg;
    for (size_t i = 0; i<x->n && * n> 0; i++) {
        const struct extender *e = &x->p[i];
        if (str_is_empty(e->config->preempt_verb) || !wants(e, cycle->pod))
            continue;
        struct arena a = { .max_bytes = TREE_MAX_BYTES };
        struct extender_post p = post_for(e, e->config->preempt_verb);
        write_preemption(&p.body, e, cycle->pod, candidates, *n);
        extender_post_all(x->loop, &p, 1);
        const struct sched_status *status =
            p.r < 0 ? failed(cycle->arena, &p.err)
                    : apply_preemption(e, &a, cycle, buf_str(&p.answer), candidates, n);
        post_fini(&p);
        arena_fini(&a);
        if (sched_code(status) != SCHED_SUCCESS && !is_forgiven(e, status))
            return status;
    }
    return NULL;
}

const struct sched_extender_ops sched_extenders_ops = {
    .filter = filter,
    .prioritize = prioritize,
    .binds = binds,
    .bind = bind_pod,
    .process_preemption = process_preemption,
};
