/* SPDX-License-Identifier: Apache-2.0 */
/* The stages that read other objects for a new pod or claim; see admit.h. */
#include "api/admit/admit.h"

#include "api/admit/policies.h"
#include "api/part.h"
#include "base/sys.h"

#include <errno.h>

static struct str key_of(struct admission *ad, const char *group, const char *plural, struct str ns,
                         struct str name)
{
    const struct request *rq = ad->rq;
    const struct kube_resource *res =
        kube_registry_find(&rq->api->reg, str_of(group), STR("v1"), str_of(plural));
    return name.n ? key_object(&ad->rq->arena, res, ns, name)
                  : key_prefix_ns(&ad->rq->arena, res, ns);
}

/* why: set by the rule that refused. */
static struct json *forbid(const struct admission *ad, bool allowed, const char *const *why)
{
    return allowed ? NULL : admission_forbid(ad, *why);
}

/* Collect the objects of a list in an array. */
static bool take_item(void *array, const struct store_kv *kv, struct json *v)
{
    (void)kv;
    json_add(array, v);
    return true;
}

static struct json *list_objects(struct admission *ad, struct json **ret, const char *group,
                                 const char *plural, struct str ns)
{
    *ret = json_new_array(&ad->rq->arena);
    return admission_list(ad, key_of(ad, group, plural, ns, STR("")), take_item, *ret);
}

static bool is_new_pod(void *self, const struct admission *ad)
{
    (void)self;
    return admission_is_core(ad, "pods");
}

static bool is_new_claim(void *self, const struct admission *ad)
{
    (void)self;
    return admission_is_core(ad, "persistentvolumeclaims");
}

/* ------------------------------------------------------------------ LimitRanger */

struct limit_ranges {
    struct json *ranges;
};

static bool limits_wanted(void *self, const struct admission *ad)
{
    return is_new_pod(self, ad) || is_new_claim(self, ad);
}

static struct json *limits_read(void *self, struct admission *ad, void *state)
{
    struct limit_ranges *l = state;
    (void)self;
    return list_objects(ad, &l->ranges, "", "limitranges", ad->rq->route.ns);
}

static struct json *limits_apply(void *self, struct admission *ad, void *state)
{
    const struct limit_ranges *l = state;
    struct arena *a = &ad->rq->arena;
    const char *why = NULL;
    return forbid(ad,
                  is_new_pod(self, ad) ? admit_limits(a, ad->obj, l->ranges, &why)
                                       : admit_claim_limits(a, ad->obj, l->ranges, &why),
                  &why);
}

static const struct admission_stage limit_ranger = { .name = "LimitRanger",
                                                     .point = ADMISSION_TAKEN,
                                                     .ops = ADMISSION_ON(ADMISSION_CREATE),
                                                     .state_bytes = sizeof(struct limit_ranges),
                                                     .wanted = limits_wanted,
                                                     .read = limits_read,
                                                     .apply = limits_apply };

/* ------------------------------------------------------------------ ServiceAccount */

struct account {
    struct str name;
    struct json *obj;
};

static struct json *account_read(void *self, struct admission *ad, void *state)
{
    struct account *ac = state;
    const struct json *spec = json_getc(ad->input, "spec");
    (void)self;
    ac->name = json_get_str(spec, "serviceAccountName");
    if (ac->name.n == 0)
        ac->name = json_get_str(spec, "serviceAccount");
    if (ac->name.n == 0)
        ac->name = STR("default");
    return admission_get(ad, key_of(ad, "", "serviceaccounts", ad->rq->route.ns, ac->name),
                         &ac->obj);
}

static struct json *account_apply(void *self, struct admission *ad, void *state)
{
    const struct account *ac = state;
    struct arena *a = &ad->rq->arena;
    const char *why = NULL;
    (void)self;
    if (!ac->obj && !str_is(ac->name, "default")) /* every namespace has it, or gets it soon */
        return admission_forbid(
            ad, arena_printf(a,
                             "error looking up service account " STR_FMT "/" STR_FMT
                             ": serviceaccount \"" STR_FMT "\" not found",
                             STR_ARG(ad->rq->route.ns), STR_ARG(ac->name), STR_ARG(ac->name)));
    return forbid(ad, admit_account(a, ad->obj, ac->obj, sys_random_u64(), &why), &why);
}

static const struct admission_stage service_account = { .name = "ServiceAccount",
                                                        .point = ADMISSION_TAKEN,
                                                        .ops = ADMISSION_ON(ADMISSION_CREATE),
                                                        .state_bytes = sizeof(struct account),
                                                        .wanted = is_new_pod,
                                                        .read = account_read,
                                                        .apply = account_apply };

/* ------------------------------------------------------------------ Priority */

struct priority {
    struct json *named;
    struct json *classes;
};

static struct json *priority_read(void *self, struct admission *ad, void *state)
{
    struct priority *p = state;
    struct str name = json_str(json_path(ad->input, "spec", "priorityClassName", NULL));
    (void)self;
    if (name.n == 0)
        return list_objects(ad, &p->classes, "scheduling.k8s.io", "priorityclasses", STR(""));
    return admission_get(ad, key_of(ad, "scheduling.k8s.io", "priorityclasses", STR(""), name),
                         &p->named);
}

static struct json *priority_apply(void *self, struct admission *ad, void *state)
{
    struct priority *p = state;
    struct arena *a = &ad->rq->arena;
    const char *why = NULL;
    (void)self;
    if (!p->classes)
        p->classes = json_new_array(a);
    if (p->named)
        json_add(p->classes, p->named);
    return forbid(ad, admit_priority(a, ad->obj, p->classes, &why), &why);
}

static const struct admission_stage priority = { .name = "Priority",
                                                 .point = ADMISSION_TAKEN,
                                                 .ops = ADMISSION_ON(ADMISSION_CREATE),
                                                 .state_bytes = sizeof(struct priority),
                                                 .wanted = is_new_pod,
                                                 .read = priority_read,
                                                 .apply = priority_apply };

static bool is_class(void *self, const struct admission *ad)
{
    (void)self;
    return str_is(ad->rq->res->kind, "PriorityClass") && !ad->rq->res->crd;
}

static struct json *keep_system_class(void *self, struct admission *ad, void *state)
{
    (void)self;
    (void)state;
    if (!str_is(ad->name, "system-node-critical") && !str_is(ad->name, "system-cluster-critical"))
        return NULL;
    return admission_forbid(ad, "this is a system priority class and cannot be deleted");
}

static const struct admission_stage system_classes = { .name = "Priority (system classes)",
                                                       .point = ADMISSION_TAKEN,
                                                       .ops = ADMISSION_ON(ADMISSION_DELETE),
                                                       .wanted = is_class,
                                                       .apply = keep_system_class };

/* ------------------------------------------------------------------ DefaultTolerationSeconds */

/* An update restores default tolerations that it has dropped. */
static bool tolerations_wanted(void *self, const struct admission *ad)
{
    return is_new_pod(self, ad) && !ad->rq->sub;
}

static struct json *tolerations_apply(void *self, struct admission *ad, void *state)
{
    (void)self;
    (void)state;
    admit_tolerations(&ad->rq->arena, ad->obj);
    return NULL;
}

static const struct admission_stage tolerations = { .name = "DefaultTolerationSeconds",
                                                    .point = ADMISSION_TAKEN,
                                                    .ops = ADMISSION_ON(ADMISSION_CREATE) |
                                                           ADMISSION_ON(ADMISSION_UPDATE),
                                                    .wanted = tolerations_wanted,
                                                    .apply = tolerations_apply };

/* ------------------------------------------------------------------ RuntimeClass */

struct pod_runtime {
    struct json *class;
};

static struct json *runtime_read(void *self, struct admission *ad, void *state)
{
    struct pod_runtime *rt = state;
    struct str name = json_str(json_path(ad->input, "spec", "runtimeClassName", NULL));
    (void)self;
    return name.n == 0
               ? NULL
               : admission_get(ad, key_of(ad, "node.k8s.io", "runtimeclasses", STR(""), name),
                               &rt->class);
}

static struct json *runtime_apply(void *self, struct admission *ad, void *state)
{
    const struct pod_runtime *rt = state;
    const char *why = NULL;
    (void)self;
    return forbid(ad, admit_runtime(&ad->rq->arena, ad->obj, rt->class, &why), &why);
}

static const struct admission_stage runtime_class = { .name = "RuntimeClass",
                                                      .point = ADMISSION_TAKEN,
                                                      .ops = ADMISSION_ON(ADMISSION_CREATE),
                                                      .state_bytes = sizeof(struct pod_runtime),
                                                      .wanted = is_new_pod,
                                                      .read = runtime_read,
                                                      .apply = runtime_apply };

/* ------------------------------------------------------------------ DefaultStorageClass */

struct storage {
    struct json *classes;
};

static struct json *storage_read(void *self, struct admission *ad, void *state)
{
    struct storage *s = state;
    (void)self;
    return list_objects(ad, &s->classes, "storage.k8s.io", "storageclasses", STR(""));
}

static struct json *storage_apply(void *self, struct admission *ad, void *state)
{
    const struct storage *s = state;
    (void)self;
    admit_storage_class(&ad->rq->arena, ad->obj, s->classes);
    return NULL;
}

static const struct admission_stage storage_class = { .name = "DefaultStorageClass",
                                                      .point = ADMISSION_TAKEN,
                                                      .ops = ADMISSION_ON(ADMISSION_CREATE),
                                                      .state_bytes = sizeof(struct storage),
                                                      .wanted = is_new_claim,
                                                      .read = storage_read,
                                                      .apply = storage_apply };

/* ------------------------------------------------------------------ the table */

void admit_register(struct admit *ad, struct admission_chain *c)
{
    namespace_lifecycle_register(ad, c);
    admission_register(c, &limit_ranger, ad);
    admission_register(c, &service_account, ad);
    admission_register(c, &priority, ad);
    admission_register(c, &system_classes, ad);
    admission_register(c, &tolerations, ad);
    admission_register(c, &runtime_class, ad);
    admission_register(c, &storage_class, ad);
    node_restriction_register(ad, c);
    claims_register(ad, c);
    quota_register(ad, c);
    policies_register(ad, c);
}

/* ------------------------------------------------------------------ the part */

static void part_start(void *self, controller_ready_cb ready, void *arg)
{
    struct admit *ad = self;
    ad->policies = policies_start(ad->api, ready, arg);
}

static void part_stop(void *self)
{
    const struct admit *ad = self;
    policies_stop(ad->policies);
}

static void part_free(void *self)
{
    struct admit *ad = self;
    policies_free(ad->policies);
    free(ad);
}

static bool part_is_busy(const void *self)
{
    const struct admit *ad = self;
    return policies_is_busy(ad->policies);
}

static void part_written(void *self, const struct written *w)
{
    const struct admit *ad = self;
    policies_written(ad->policies, w);
}

static void part_lost(void *self, const struct written *w)
{
    const struct admit *ad = self;
    policies_lost(ad->policies, w->res, w->name);
}

static const struct api_part_ops part = { .name = "policies",
                                          .start = part_start,
                                          .stop = part_stop,
                                          .free = part_free,
                                          .is_busy = part_is_busy,
                                          .written = part_written,
                                          .lost = part_lost };

void admit_init(struct api *api, const struct admit_needs *needs)
{
    api->admit = xnew(struct admit);
    *api->admit = (struct admit){ .api = api, .needs = *needs };
}

void admit_add_part(struct admit *ad)
{
    api_add_part(ad->api, &part, ad);
}
