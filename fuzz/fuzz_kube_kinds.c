/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of built-in objects: [object, object...], each with its apiVersion and kind. Decoded and
 * defaulted, each is made, shown in a table, converted to the stored version and back, and is the
 * next state of the one before it, in whole and in part. Pods go through admission, with the other
 * objects as what they are admitted by; Services are given addresses; each is counted by what may
 * be quotas.
 */
#include "fuzz.h"

#include "api/admit/admit.h"
#include "kube/model/builtin.h"
#include "kube/model/quantity.h"
#include "kube/model/table.h"
#include "kube/rules/kinds/quotas.h"
#include "kube/rules/kinds/services.h"
#include "kube/rules/object_rules.h"
#include "kube/rules/rules.h"

static const struct kube_resource *resource_of(const struct kube_registry *reg,
                                               const struct json *obj)
{
    struct str group, version, api = json_get_str(obj, "apiVersion");
    if (!str_cut(api, '/', &group, &version)) {
        group = STR("");
        version = api;
    }
    return kube_registry_find_kind(reg, group, version, json_get_str(obj, "kind"));
}

static void show(struct arena *a, const struct kube_resource *res, const struct json *obj)
{
    size_t n = res->n_columns ? res->n_columns : table_n_default_columns;
    struct json *t = table_new(a, res, STR("v1"), true, NULL);
    table_add_row(a, t, res, obj, TABLE_INCLUDE_NONE, STR("v1"), 1577836800);
    FUZZ_CHECK(json_getc(json_getc(t, "rows")->first, "cells")->n == n);
}

/* What has been stored comes back as it was. */
static void convert(struct arena *a, const struct kube_resource *res, const struct json *obj)
{
    if (res->storage == res)
        return;
    struct json *v = json_clone(a, obj);
    object_convert(a, v, res, res->storage);
    object_convert(a, v, res->storage, res);
    struct json *again = json_clone(a, v);
    object_convert(a, again, res, res->storage);
    object_convert(a, again, res->storage, res);
    FUZZ_CHECK(json_equal(v, again));
}

static void admit(struct arena *a, const struct kube_resource *res, struct json *obj,
                  const struct json *others)
{
    const char *why = NULL;
    if (res->group.n)
        return;
    if (str_is(res->plural, "persistentvolumeclaims")) {
        FUZZ_CHECK(admit_claim_limits(a, obj, others, &why) || why);
        admit_storage_class(a, obj, others);
    }
    if (!str_is(res->plural, "pods"))
        return;
    FUZZ_CHECK(admit_limits(a, obj, others, &why) || why);
    FUZZ_CHECK(admit_account(a, obj, json_first(others), 1, &why) || why);
    FUZZ_CHECK(admit_priority(a, obj, others, &why) || why);
    FUZZ_CHECK(admit_runtime(a, obj, json_first(others), &why) || why);
    admit_tolerations(a, obj);
    uint32_t n = json_path(obj, "spec", "tolerations", NULL)->n;
    admit_tolerations(a, obj);
    FUZZ_CHECK(json_path(obj, "spec", "tolerations", NULL)->n == n);
}

static void allocate(struct arena *a, const struct kube_resource *res, struct json *obj,
                     const struct json *old)
{
    struct field_errors errs = field_errors_init(a);
    struct service_claim *claims = arena_new_n(a, struct service_claim, SERVICE_MAX_CLAIMS);
    if (res->group.n || !str_is(res->plural, "services"))
        return;
    service_allocate(a, obj, old, 42, &errs);
    size_t n = service_claims(a, obj, claims);
    FUZZ_CHECK(n <= SERVICE_MAX_CLAIMS);
    for (size_t i = 0; i < n; i++)
        service_claim_taken(&claims[i], obj, &errs);
}

/* Validation lets nothing else into a quota. */
static bool is_countable(const struct json *quota)
{
    struct quantity q;
    json_each (hard, json_path(quota, "spec", "hard", NULL)) {
        if (!json_is(hard, JSON_STRING) || quantity_parse(json_str(hard), &q, NULL) < 0)
            return false;
    }
    return true;
}

/* Every object may be a quota for the new one: what is taken fits, and counting finds it again. */
static void count(struct arena *a, const struct kube_resource *res, const struct json *obj,
                  const struct json *quotas)
{
    json_each (q, quotas) {
        struct json *quota = json_clone(a, q);
        const char *why = NULL;
        bool changed;
        if (!json_is(quota, JSON_OBJECT) || !json_is(json_getc(quota, "spec"), JSON_OBJECT) ||
            !is_countable(quota))
            continue;
        (void)quota_is_about(quota, res);
        json_setc(a, quota, "status", quota_status_new(a, quota));
        if (!quota_take(a, quota, res, obj, NULL, &changed, &why)) {
            FUZZ_CHECK(why != NULL);
            continue;
        }
        struct json *status = quota_status_new(a, q);
        quota_status_add(a, a, status, q, res, obj);
        FUZZ_CHECK(json_equal(status, json_getc(quota, "status")));
    }
}

static void make(struct arena *a, const struct kube_resource *res, struct json *obj,
                 const struct json *others)
{
    const struct object_env env = { .now_s = 1577836800, .uid = STR("u"), .random = 7 };
    struct json *status = NULL;
    (void)json_del(json_getc(obj, "metadata"), STR("namespace"));
    admit(a, res, obj, others);
    if (object_prepare_create(a, res, obj, &env, &status) < 0) {
        FUZZ_CHECK(status != NULL);
        return;
    }
    allocate(a, res, obj, NULL);
    count(a, res, obj, others);
    show(a, res, obj);
    convert(a, res, obj);
}

static void change(struct arena *a, const struct kube_resource *res, const struct json *obj,
                   const struct json *old)
{
    const struct object_env env = { .now_s = 1577836800 };
    for (enum object_part part = OBJECT_WHOLE; part <= OBJECT_RESIZE; part++) {
        struct json *v = json_clone(a, obj), *status = NULL;
        if (object_prepare_update(a, res, part, v, old, &env, STR("x"), &status) < 0) {
            FUZZ_CHECK(status != NULL);
            continue;
        }
        allocate(a, res, v, old);
        show(a, res, v);
    }
}

static void live(struct arena *a, const struct kube_registry *reg, struct json *list)
{
    const struct kube_resource *last = NULL;
    const struct json *old = NULL;
    struct json *others = json_clone(a, list);
    json_each (obj, list) {
        const struct kube_resource *res = resource_of(reg, obj);
        struct object_warnings w = { .a = a };
        struct json *status = NULL;
        if (!res || object_decode_tree(a, res, obj, FIELD_VALIDATION_WARN, &w, &status) < 0)
            continue;
        json_set_str(a, json_getc(obj, "metadata"), "name", STR("x"));
        make(a, res, json_clone(a, obj), others);
        if (last == res)
            change(a, res, obj, old);
        last = res;
        old = obj;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct kube_registry reg;
    struct arena a = { 0 };
    struct json *root;
    if (!reg.generation) {
        kube_registry_init(&reg);
        rules_register(&reg);
    }
    if (size <= 32768 && json_parse(&a, str_n(data, size), NULL, &root, NULL) == 0 &&
        root->type == JSON_ARRAY)
        live(&a, &reg, root);
    arena_fini(&a);
    return 0;
}
