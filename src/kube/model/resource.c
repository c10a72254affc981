/* SPDX-License-Identifier: Apache-2.0 */
/* Resources and their registry; see resource.h. */
#include "kube/model/resource.h"

#include "kube/model/crd.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

const char *kube_verb_name(enum kube_verb verb)
{
    switch (verb) {
#define KUBE_VERB_NAME(id, bit, name)                                                              \
    case id:                                                                                       \
        return name;
        KUBE_VERBS(KUBE_VERB_NAME)
#undef KUBE_VERB_NAME
    case KUBE_VERBS_ALL:
        break;
    }
    return "";
}

struct str kube_api_version(struct arena *a, const struct kube_resource *r)
{
    if (r->group.n == 0)
        return r->version;
    return str_of(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(r->group), STR_ARG(r->version)));
}

const struct kube_subresource *kube_subresource(const struct kube_resource *r, struct str name)
{
    for (size_t i = 0; i < r->n_subresources; i++)
        if (str_eq(r->subresources[i].name, name))
            return &r->subresources[i];
    return NULL;
}

struct str kube_storage_name(struct arena *a, const struct kube_resource *r)
{
    const struct kube_resource *s = r->storage ? r->storage : r;
    if (s->group.n == 0)
        return s->plural;
    return str_of(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(s->group), STR_ARG(s->plural)));
}

const struct kube_resource *kube_resource_ref(const struct kube_resource *r)
{
    if (r && r->crd)
        crd_ref(r->crd);
    return r;
}

void kube_resource_unref(const struct kube_resource *r)
{
    if (r && r->crd)
        crd_unref(r->crd);
}

/* ---- version names ---- */

/* v<major>[alpha|beta<minor>]: stage 3 is stable, 2 beta, 1 alpha, 0 some other name. */
struct resource_version {
    int stage;
    uint64_t major, minor;
};

static struct resource_version version_parse(struct str s)
{
    struct resource_version v = { 0 }, none = { 0 };
    size_t i = 1;
    if (s.n < 2 || s.p[0] != 'v')
        return none;
    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
        i++;
    if (parse_u64(str_slice(s, 1, i), 1, INT64_MAX, &v.major) < 0 || s.p[1] == '0')
        return none;
    struct str rest = str_slice(s, i, s.n);
    v.stage = 3;
    if (rest.n == 0)
        return v;
    v.stage = str_has_prefix(rest, STR("alpha")) ? 1 : str_has_prefix(rest, STR("beta")) ? 2 : 0;
    struct str minor = str_slice(rest, v.stage == 1 ? 5 : 4, rest.n);
    if (v.stage == 0 || parse_u64(minor, 1, INT64_MAX, &v.minor) < 0 || minor.p[0] == '0')
        return none;
    return v;
}

static int cmp_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int kube_version_cmp(struct str a, struct str b)
{
    struct resource_version x = version_parse(a), y = version_parse(b);
    if (x.stage != y.stage)
        return y.stage - x.stage;
    if (x.stage == 0)
        return str_cmp(a, b);
    int r = cmp_u64(y.major, x.major);
    return r ? r : cmp_u64(y.minor, x.minor);
}

/* ---- registry ---- */

enum { REGISTRY_KEY_MAX = 1024 };

static struct str key(char out[REGISTRY_KEY_MAX], struct str group, struct str version,
                      struct str last)
{
    int n = snprintf(out, REGISTRY_KEY_MAX, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(group),
                     STR_ARG(version), STR_ARG(last));
    return str_n(out, n < 0 ? 0 : MIN((size_t)n, REGISTRY_KEY_MAX - 1));
}

void kube_registry_init(struct kube_registry *reg)
{
    *reg = (struct kube_registry){ .generation = 1 };
}

/* Each resource is in the array and in both maps. */
static void check_counts(const struct kube_registry *reg)
{
    assert(reg->n <= reg->cap && reg->n <= REGISTRY_MAX_RESOURCES);
    assert(reg->by_path.n == reg->n && reg->by_kind.n == reg->n);
}

void kube_registry_fini(struct kube_registry *reg)
{
    for (size_t i = 0; i < reg->n; i++)
        kube_resource_unref(reg->all[i]);
    free(reg->all);
    map_fini(&reg->by_path);
    map_fini(&reg->by_kind);
    *reg = (struct kube_registry){ 0 };
}

/* Core first, then the built-in groups in upstream's order of preference, then the others. */
static size_t group_rank(struct str group)
{
    static const char *const ranked[] = { "",
                                          "apiregistration.k8s.io",
                                          "apps",
                                          "events.k8s.io",
                                          "authentication.k8s.io",
                                          "authorization.k8s.io",
                                          "autoscaling",
                                          "batch",
                                          "certificates.k8s.io",
                                          "networking.k8s.io",
                                          "policy",
                                          "rbac.authorization.k8s.io",
                                          "storage.k8s.io",
                                          "admissionregistration.k8s.io",
                                          "apiextensions.k8s.io",
                                          "scheduling.k8s.io",
                                          "coordination.k8s.io",
                                          "node.k8s.io",
                                          "discovery.k8s.io",
                                          "flowcontrol.apiserver.k8s.io",
                                          "resource.k8s.io" };
    size_t i = 0;
    while (i < ARRAY_LEN(ranked) && !str_is(group, ranked[i]))
        i++;
    return i;
}

/* Groups by rank and name; in a group the preferred version first; then by plural. */
static int cmp_resource(const struct kube_resource *a, const struct kube_resource *b)
{
    int r = str_cmp(a->group, b->group);
    if (r && !(a->crd && b->crd)) {
        size_t x = group_rank(a->group), y = group_rank(b->group);
        return x == y ? r : x < y ? -1 : 1;
    }
    if (r)
        return r;
    if (a->priority != b->priority)
        return b->priority - a->priority;
    r = kube_version_cmp(a->version, b->version);
    return r ? r : str_cmp(a->plural, b->plural);
}

static void insert_sorted(struct kube_registry *reg, const struct kube_resource *r)
{
    if (reg->n == reg->cap) {
        reg->cap = reg->cap ? reg->cap * 2 : 32;
        reg->all = xrealloc(reg->all, reg->cap * sizeof *reg->all);
    }
    size_t at = reg->n;
    for (; at > 0 && cmp_resource(reg->all[at - 1], r) > 0; at--)
        reg->all[at] = reg->all[at - 1];
    reg->all[at] = r;
    reg->n++;
}

int kube_registry_add(struct kube_registry *reg, const struct kube_resource *r, struct err *err)
{
    assert(r->strategy && reg->generation > 0);
    char path[REGISTRY_KEY_MAX], kind[REGISTRY_KEY_MAX];
    struct str by_path = key(path, r->group, r->version, r->plural);
    struct str by_kind = key(kind, r->group, r->version, r->kind);
    if (reg->n >= REGISTRY_MAX_RESOURCES)
        return err_set(err, E_LIMIT, "more than %d resources", REGISTRY_MAX_RESOURCES);
    if (map_has(&reg->by_path, by_path) || map_has(&reg->by_kind, by_kind))
        return err_set(err, -EEXIST, "resource '%s' is served already", path);
    map_put(&reg->by_path, by_path, (void *)r);
    map_put(&reg->by_kind, by_kind, (void *)r);
    insert_sorted(reg, kube_resource_ref(r));
    check_counts(reg);
    reg->generation++;
    return 0;
}

bool kube_registry_remove(struct kube_registry *reg, const struct kube_resource *r)
{
    char text[REGISTRY_KEY_MAX];
    for (size_t i = 0; i < reg->n; i++) {
        if (reg->all[i] != r)
            continue;
        memmove(reg->all + i, reg->all + i + 1, (reg->n - i - 1) * sizeof *reg->all);
        reg->n--;
        const void *at_path = map_del(&reg->by_path, key(text, r->group, r->version, r->plural));
        const void *at_kind = map_del(&reg->by_kind, key(text, r->group, r->version, r->kind));
        assert(at_path == r && at_kind == r);
        check_counts(reg);
        reg->generation++;
        kube_resource_unref(r);
        return true;
    }
    return false;
}

const struct kube_resource *kube_registry_find(const struct kube_registry *reg, struct str group,
                                               struct str version, struct str plural)
{
    char text[REGISTRY_KEY_MAX];
    return map_get(&reg->by_path, key(text, group, version, plural));
}

const struct kube_resource *kube_registry_find_kind(const struct kube_registry *reg,
                                                    struct str group, struct str version,
                                                    struct str kind)
{
    char text[REGISTRY_KEY_MAX];
    return map_get(&reg->by_kind, key(text, group, version, kind));
}

bool kube_registry_has_version(const struct kube_registry *reg, struct str group,
                               struct str version)
{
    for (size_t i = 0; i < reg->n; i++)
        if (str_eq(reg->all[i]->group, group) && str_eq(reg->all[i]->version, version))
            return true;
    return false;
}
