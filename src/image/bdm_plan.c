/* SPDX-License-Identifier: Apache-2.0 */
#include "image/bdm_plan.h"

#include "oci/reference.h"

enum { TOKEN_REST_S = 60 };

struct bdm_planner {
    struct arena *a;
    const struct image_bdm_plan *p;
    struct err *err;
    struct oci_reference *ref; /* in the arena: the repository is part of the result */
    bool has_registry;
};

static struct str token_for(const struct bdm_planner *k, const struct oci_digest *blob,
                            struct str peer)
{
    char token[IMAGE_BDM_TOKEN_SIZE];
    const struct image_cluster_file *f = k->p->file;
    const struct image_bdm_grant g = { .deploy = str_of(k->p->deploy),
                                       .source = peer,
                                       .node = f->node_names[f->o.node],
                                       .blob = *blob };
    image_bdm_token(k->p->key, &g, k->p->wall_s,
                    (uint32_t)(k->p->deadline_ms / 1000) + TOKEN_REST_S, token);
    return str_copy_arena(k->a, str_of(token));
}

/* false: it cannot be asked. */
static bool set_source(const struct bdm_planner *k, const struct oci_digest *blob, int source,
                       struct image_bdm_source *ret)
{
    const struct image_cluster_file *f = k->p->file;
    if (source == PLACE_BREAK_REGISTRY) {
        *ret = (struct image_bdm_source){ .is_registry = true, .name = str_of(k->ref->repository) };
        return k->has_registry;
    }
    *ret = (struct image_bdm_source){ .name = f->node_names[source],
                                      .url = f->node_urls[source],
                                      .token = token_for(k, blob, f->node_names[source]) };
    return ret->url.n > 0;
}

static int set_task(const struct bdm_planner *k, const struct image_task *t, uint32_t id,
                    struct image_bdm_task *to)
{
    const struct image_cluster_file *f = k->p->file;
    const struct image_cluster_blob *b = &f->blobs[t->layer];
    struct image_bdm_source all[1 + PLACE_BREAK_ALTERNATIVES];
    uint32_t n = 0;
    int first = t->kind == IMAGE_TASK_JOIN ? PLACE_BREAK_REGISTRY : t->source;
    bool has_first = set_source(k, &b->blob, first, &all[0]);
    n += has_first;
    for (uint32_t i = 0; i < t->n_alternatives; i++)
        if (t->alternatives[i] != first)
            n += set_source(k, &b->blob, t->alternatives[i], &all[n]);
    if (n == 0)
        return err_set(k->err, E_INVALID, "layer '" STR_FMT "': no source of it has a url",
                       STR_ARG(f->layer_names[t->layer]));
    *to = (struct image_bdm_task){ .id = id,
                                   .blob = b->blob,
                                   .diff = b->diff,
                                   .size = (uint64_t)f->o.layers[t->layer].size,
                                   .raw_size = b->tar_bytes,
                                   .encoding = IMAGE_BDM_GZIP,
                                   .from = (uint64_t)t->from,
                                   .to = (uint64_t)t->to,
                                   .priority = t->priority,
                                   .expect_ms = (uint64_t)MIN(MAX(t->expect_ms, (int64_t)0),
                                                              (int64_t)IMAGE_BDM_DEADLINE_MAX_MS),
                                   .is_after = has_first && t->kind == IMAGE_TASK_AFTER,
                                   .is_push = k->p->is_push && !k->p->is_prefetch && has_first &&
                                              t->kind == IMAGE_TASK_PEER,
                                   .source = all[0] };
    for (uint32_t i = 1; i < MIN(n, (uint32_t)IMAGE_BDM_ALTERNATIVES_MAX + 1); i++)
        to->alternatives[to->n_alternatives++] = all[i];
    return 0;
}

static int check_file(struct bdm_planner *k)
{
    const struct image_cluster_file *f = k->p->file;
    if (!f->has_image)
        return err_set(k->err, E_INVALID,
                       "the file does not say which image it is (\"image\": "
                       "{\"reference\", \"manifest\", \"config\"})");
    for (size_t i = 0; i < f->o.n_layers; i++)
        if (!f->blobs[i].is_known)
            return err_set(k->err, E_INVALID, "layer '" STR_FMT "' has no digest and diffID",
                           STR_ARG(f->layer_names[i]));
    if (f->node_urls[f->o.node].n == 0)
        return err_set(k->err, E_INVALID, "node '" STR_FMT "' has no url",
                       STR_ARG(f->node_names[f->o.node]));
    if (k->p->tasks->all.n > IMAGE_BDM_TASKS_MAX)
        return err_set(k->err, E_LIMIT, "more than %d tasks", IMAGE_BDM_TASKS_MAX);
    k->has_registry = f->o.registry_bps > 0;
    k->ref = arena_new(k->a, struct oci_reference);
    return oci_reference_parse(f->reference, k->ref, k->err);
}

int image_bdm_plan(struct arena *a, const struct image_bdm_plan *p, struct image_bdm *ret,
                   struct err *err)
{
    struct bdm_planner k = { .a = a, .p = p, .err = err };
    const struct image_cluster_file *f = p->file;
    int r = check_file(&k);
    if (r < 0)
        return r;
    struct image_bdm b = { .deploy = str_of(p->deploy),
                           .reference = f->reference,
                           .manifest = f->manifest,
                           .config = f->config,
                           .node = f->node_names[f->o.node],
                           .url = f->node_urls[f->o.node],
                           .deadline_ms = p->deadline_ms,
                           .is_prefetch = p->is_prefetch };
    b.tasks = arena_new_n(a, struct image_bdm_task, p->tasks->all.n + 1);
    for (size_t i = 0; i < p->tasks->all.n && r >= 0; i++)
        r = set_task(&k, &p->tasks->all.p[i], (uint32_t)i + 1, &b.tasks[b.n_tasks++]);
    if (r >= 0)
        *ret = b;
    return r;
}
