/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/deployment/sets.h"

#include "base/clock.h"
#include "kube/model/meta.h"
#include "workload/deployment/names.h"

enum { HISTORY_MAX_BYTES = 2000 };

struct str deployment_annotation(const struct json *object, const char *key)
{
    return json_get_str(json_path(object, "metadata", "annotations", NULL), key);
}

void deployment_annotate(struct arena *a, struct json *object, const char *key, struct str value)
{
    json_set_str(a, json_obj(a, meta_of(a, object), "annotations"), key, value);
}

static int64_t annotated(const struct json *object, const char *key, int64_t otherwise)
{
    int64_t n = otherwise;
    (void)parse_i64(deployment_annotation(object, key), 0, INT64_MAX, &n);
    return n;
}

static void annotate_int(struct arena *a, struct json *object, const char *key, int64_t n)
{
    deployment_annotate(a, object, key, str_of(arena_printf(a, "%lld", (long long)n)));
}

/* ---------------------------------------------------------------- reading */

static int64_t number(const struct json *part, const char *name)
{
    return json_int_or(json_getc(part, name), 0);
}

static struct deployment_set *read_set(struct arena *a, const struct workload_claim *claim)
{
    struct deployment_set *s = arena_new(a, struct deployment_set);
    const struct json *spec = json_getc(claim->body, "spec");
    const struct json *status = json_getc(claim->body, "status");
    const struct json *meta = json_getc(claim->body, "metadata");
    int64_t us = 0;
    (void)rfc3339_parse(json_get_str(meta, "creationTimestamp"), &us);
    *s = (struct deployment_set){
        .name = claim->name,
        .object = claim->body,
        .replicas = json_int_or(json_getc(spec, "replicas"), 1),
        .was = json_int_or(json_getc(spec, "replicas"), 1),
        .actual = number(status, "replicas"),
        .ready = number(status, "readyReplicas"),
        .available = number(status, "availableReplicas"),
        .terminating = number(status, "terminatingReplicas"),
        .desired = annotated(claim->body, DEPLOYMENT_DESIRED, -1),
        .max = annotated(claim->body, DEPLOYMENT_MAX, -1),
        .created_s = us / 1000000,
        .revision = annotated(claim->body, DEPLOYMENT_REVISION, 0),
        .is_deleting = meta_is_deleting(claim->body),
        .is_observed = number(status, "observedGeneration") >= number(meta, "generation"),
    };
    return s;
}

static int older_first(const void *va, const void *vb)
{
    const struct deployment_set *a = *(struct deployment_set *const *)va;
    const struct deployment_set *b = *(struct deployment_set *const *)vb;
    return a->created_s != b->created_s ? (a->created_s < b->created_s ? -1 : 1)
                                        : str_cmp(a->name, b->name);
}

/* The oldest one with the template of now, if there are several. */
static void take_new(struct deployment *d, const struct json *template)
{
    for (size_t i = 0; i < d->n_old; i++) {
        struct deployment_set *s = d->old[i];
        if (!deployment_same_template(json_path(s->object, "spec", "template", NULL), template))
            continue;
        d->new = s;
        d->n_old--;
        memmove(d->old + i, d->old + i + 1, (d->n_old - i) * sizeof *d->old);
        return;
    }
}

struct deployment *deployment_read(struct arena *a, const struct json *object,
                                   const struct workload_claims *sets)
{
    const struct json *spec = json_getc(object, "spec"), *strategy = json_getc(spec, "strategy");
    const struct json *rolling = json_getc(strategy, "rollingUpdate");
    struct deployment *d = arena_new(a, struct deployment);
    d->replicas = json_int_or(json_getc(spec, "replicas"), 1);
    d->is_rolling = !str_is(json_get_str(strategy, "type"), "Recreate");
    d->status_replicas = number(json_getc(object, "status"), "replicas");
    deployment_fenceposts(json_getc(rolling, "maxSurge"), json_getc(rolling, "maxUnavailable"),
                          d->replicas, &d->surge, &d->unavailable);
    d->old = arena_new_n(a, struct deployment_set *, sets->n + 1);
    for (size_t i = 0; i < sets->n; i++)
        d->old[d->n_old++] = read_set(a, &sets->at[i]);
    qsort(d->old, d->n_old, sizeof *d->old, older_first);
    take_new(d, json_getc(spec, "template"));
    return d;
}

/* ---------------------------------------------------------------- annotations */

int64_t deployment_next_revision(const struct deployment *d)
{
    int64_t last = 0;
    for (size_t i = 0; i < d->n_old; i++)
        last = MAX(last, d->old[i]->revision);
    return last + 1;
}

static bool is_own_annotation(struct str key)
{
    static const char *const own[] = { "kubectl.kubernetes.io/last-applied-configuration",
                                       "deprecated.deployment.rollback.to",
                                       DEPLOYMENT_REVISION,
                                       DEPLOYMENT_REVISION_HISTORY,
                                       DEPLOYMENT_DESIRED,
                                       DEPLOYMENT_MAX };
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (str_is(key, own[i]))
            return true;
    return false;
}

static bool copy_annotations(struct arena *a, const struct json *object, struct json *to)
{
    bool changes = false;
    json_each (v, json_path(object, "metadata", "annotations", NULL)) {
        const char *key = str_dup_arena(a, v->key);
        if (is_own_annotation(v->key) || str_eq(deployment_annotation(to, key), json_str(v)))
            continue;
        deployment_annotate(a, to, key, json_str(v));
        changes = true;
    }
    return changes;
}

/* "1,3": revisions that a set had before, when it became the new one again. */
static void add_history(struct arena *a, struct json *set, struct str revision)
{
    struct str before = deployment_annotation(set, DEPLOYMENT_REVISION_HISTORY), first, rest;
    while (before.n && before.n + revision.n + 1 > HISTORY_MAX_BYTES) {
        (void)str_cut(before, ',', &first, &rest);
        before = rest;
    }
    deployment_annotate(
        a, set, DEPLOYMENT_REVISION_HISTORY,
        before.n ? str_of(arena_printf(a, STR_FMT "," STR_FMT, STR_ARG(before), STR_ARG(revision)))
                 : str_copy_arena(a, revision));
}

static bool set_revision(struct arena *a, struct deployment_set *s, int64_t revision)
{
    struct str was = deployment_annotation(s->object, DEPLOYMENT_REVISION);
    if (s->revision >= revision)
        return false;
    if (was.n)
        add_history(a, s->object, was);
    annotate_int(a, s->object, DEPLOYMENT_REVISION, revision);
    s->revision = revision;
    return true;
}

static void annotate_size(struct arena *a, const struct deployment *d, struct deployment_set *s)
{
    s->desired = d->replicas;
    s->max = d->replicas + deployment_max_surge(d);
    annotate_int(a, s->object, DEPLOYMENT_DESIRED, s->desired);
    annotate_int(a, s->object, DEPLOYMENT_MAX, s->max);
}

bool deployment_write_size(struct arena *a, const struct deployment *d, struct deployment_set *s)
{
    bool is_other_size = s->replicas != s->was;
    int64_t max = d->replicas + deployment_max_surge(d);
    if (!s->is_scaled || (!is_other_size && s->desired == d->replicas && s->max == max))
        return false;
    json_set_int(a, json_obj(a, s->object, "spec"), "replicas", s->replicas);
    annotate_size(a, d, s);
    return true;
}

/* ---------------------------------------------------------------- the new set */

bool deployment_adjust_set(struct arena *a, const struct json *object, struct deployment *d)
{
    struct json *set = d->new->object, *spec = json_obj(a, set, "spec");
    int64_t min_ready_s = number(json_getc(object, "spec"), "minReadySeconds");
    bool changes = copy_annotations(a, object, set);
    changes |= set_revision(a, d->new, deployment_next_revision(d));
    if (number(spec, "minReadySeconds") != min_ready_s) {
        json_set_int(a, spec, "minReadySeconds", min_ready_s);
        changes = true;
    }
    return changes;
}

static struct json *selector_with(struct arena *a, const struct json *selector, struct str hash)
{
    struct json *copy = selector ? json_copy(a, selector) : json_new_object(a);
    json_set_str(a, json_obj(a, copy, "matchLabels"), DEPLOYMENT_HASH_LABEL, hash);
    return copy;
}

void deployment_make_set(struct arena *a, const struct json *object, struct deployment *d)
{
    const struct json *from = json_getc(object, "spec");
    const struct json *template = json_getc(from, "template");
    struct str hash =
        deployment_hash(a, template, number(json_getc(object, "status"), "collisionCount"));
    struct json *set = json_new_object(a), *meta, *spec,
                *own = template ? json_copy(a, template) : json_new_object(a);
    struct deployment_set *s = arena_new(a, struct deployment_set);
    struct json *labels = json_obj(a, json_obj(a, own, "metadata"), "labels");
    json_set_str(a, labels, DEPLOYMENT_HASH_LABEL, hash);
    json_set_str(a, set, "apiVersion", STR("apps/v1"));
    json_set_str(a, set, "kind", STR("ReplicaSet"));
    meta = json_obj(a, set, "metadata");
    s->name =
        str_of(arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(meta_name(object)), STR_ARG(hash)));
    json_set_str(a, meta, "name", s->name);
    json_set_str(a, meta, "namespace", meta_namespace(object));
    json_setc(a, meta, "labels", json_copy(a, labels));
    spec = json_obj(a, set, "spec");
    if (number(from, "minReadySeconds"))
        json_set_int(a, spec, "minReadySeconds", number(from, "minReadySeconds"));
    json_setc(a, spec, "selector", selector_with(a, json_getc(from, "selector"), hash));
    json_setc(a, spec, "template", own);
    s->object = set;
    d->new = s;
    s->replicas = deployment_new_replicas(d);
    json_set_int(a, spec, "replicas", s->replicas);
    (void)copy_annotations(a, object, set);
    (void)set_revision(a, s, deployment_next_revision(d));
    annotate_size(a, d, s);
}
