/* SPDX-License-Identifier: Apache-2.0 */
/* PersistentVolumes, their claims and classes. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

/* Generated from text/storage.txt. */
#include "kube/rules/storage_rules.h"

#define BETA_CLASS "volume.beta.kubernetes.io/storage-class"

/* ---- PersistentVolumes ---- */

static void capacity(const struct validate_value *s)
{
    validate_required(s, NULL);
    if (value_count(s) != 1 || !json_getc(s->v, "storage")) {
        struct validate_value shown = *s;
        shown.v = value_sorted_map(s->errs->a, s->v);
        report_not_supported(&shown, &enum_capacity_only_storage);
    }
    json_each (m, s->v) {
        struct validate_value at = value_key(s, m);
        struct quantity q;
        if (!value_quantity(&at, &q))
            continue;
        if (q.nano < 0)
            report_invalid_value(&at, json_new_int(s->errs->a, quantity_value(q)),
                                 "must be a valid resource quantity");
        if (q.nano <= 0)
            report_invalid_text(&at, "must be greater than zero");
    }
}

static bool volume_affinity(const struct validate_value *s)
{
    MEMBER(required, s, "required");
    if (s->v && !required.v)
        report_required(&required, "must specify required node constraints");
    validate_node_selector(&required, NULL);
    return s->v != NULL;
}

/* "/", "//", "/./", "/a/.." */
static bool is_root_path(struct str path)
{
    size_t depth = 0;
    struct str part;
    if (!str_has_prefix(path, STR("/")))
        return false;
    for (bool more = true; more;) {
        more = str_cut(path, '/', &part, &path);
        if (str_is(part, ".."))
            depth -= depth > 0;
        else if (part.n && !str_is(part, "."))
            depth++;
    }
    return depth == 0;
}

static void attributes_class(const struct validate_value *spec)
{
    MEMBER(class, spec, "volumeAttributesClassName");
    MEMBER(csi, spec, "csi");
    if (!class.v)
        return;
    validate_required(&class, "an empty string is disallowed");
    validate_subdomain_if_set(&class, NULL);
    if (!csi.v)
        report_required(&csi, "has to be specified when using volumeAttributesClassName");
}

static void volume_spec(const struct validate_value *spec, struct str name)
{
    MEMBER(access, spec, "accessModes");
    MEMBER(size, spec, "capacity");
    MEMBER(policy, spec, "persistentVolumeReclaimPolicy");
    MEMBER(place, spec, "nodeAffinity");
    validate_required(&access, NULL);
    validate_access_modes(&access);
    capacity(&size);
    if (value_text(&policy).n)
        validate_enum_strict(&policy, &enum_volume_spec_policies);
    bool has_affinity = volume_affinity(&place);
    validate_persistent_volume_sources(spec, has_affinity, name);
    if (value_is(&policy, "Recycle") &&
        is_root_path(json_str(json_path(spec->v, "hostPath", "path", NULL))))
        report_forbidden(&policy, "may not be 'recycle' for a hostPath mount of '/'");
    VALIDATE_MEMBERS(spec, rules_volume_spec_rest);
    attributes_class(spec);
}

/* The source in a spec: the fields that cannot be set later. */
static struct json *source_of(struct arena *a, const struct json *spec, bool with_expand_secret)
{
    struct json *source = json_clone(a, spec);
    for (size_t i = 0; i < enum_beside_source.n; i++)
        (void)json_del(source, enum_beside_source.p[i]);
    struct json *csi = json_getc(source, "csi");
    if (csi && !with_expand_secret)
        (void)json_del(csi, STR("controllerExpandSecretRef"));
    return source;
}

/* Old labels may be replaced by their successors. */
static void use_new_labels(struct arena *a, struct json *affinity, const struct json *now)
{
    static const char *const renamed[][2] = {
        { "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone" },
        { "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region" },
        { "beta.kubernetes.io/os", "kubernetes.io/os" },
        { "beta.kubernetes.io/arch", "kubernetes.io/arch" },
        { "beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type" },
    };
    const struct json *t = json_first(json_path(now, "required", "nodeSelectorTerms", NULL));
    json_each (term, json_path(affinity, "required", "nodeSelectorTerms", NULL)) {
        const struct json *e = json_first(json_getc(t, "matchExpressions"));
        json_each (old, json_getc(term, "matchExpressions")) {
            for (size_t i = 0; i < ARRAY_LEN(renamed); i++)
                if (str_is(json_get_str(old, "key"), renamed[i][0]) &&
                    str_is(json_get_str(e, "key"), renamed[i][1]))
                    json_set_str(a, old, "key", str_of(renamed[i][1]));
            e = e ? e->next : NULL;
        }
        t = t ? t->next : NULL;
    }
}

static void volume_update(const struct validate_value *root, const struct validate_value *spec,
                          const struct json *old)
{
    struct arena *a = root->errs->a;
    const struct json *old_csi = json_getc(old, "csi");
    bool keeps_secret = !old_csi || json_getc(old_csi, "controllerExpandSecretRef");
    struct json *now = source_of(a, spec->v, keeps_secret), *was = source_of(a, old, keeps_secret);
    struct validate_value source = value_named(spec, "persistentvolumesource", NULL);
    struct validate_value mode = value_named(root, "volumeMode", json_getc(spec->v, "volumeMode"));
    struct validate_value place =
        value_named(root, "nodeAffinity", json_getc(spec->v, "nodeAffinity"));
    MEMBER(class, spec, "volumeAttributesClassName");
    if (!json_equal(now, was))
        report_forbidden(&source,
                         report_text(&source,
                                     "spec.persistentvolumesource is immutable after "
                                     "creation\n%s",
                                     internal_diff(a, was, now, "PersistentVolumeSource")));
    validate_immutable(&mode, json_getc(old, "volumeMode"));
    if (json_is(json_getc(old, "nodeAffinity"), JSON_OBJECT)) {
        struct json *before = json_clone(a, json_getc(old, "nodeAffinity"));
        use_new_labels(a, before, place.v);
        if (!value_same(place.v, before))
            report_invalid(&place, "field is immutable, except for updating from beta label to GA");
    }
    if (!class.v && json_is(json_getc(old, "volumeAttributesClassName"), JSON_STRING))
        report_forbidden(&class, "update from non-nil value to nil is forbidden");
}

static bool is_status_update(const struct json *obj, const struct json *old)
{
    return old && !value_same(json_getc(obj, "status"), json_getc(old, "status")) &&
           value_same(json_getc(obj, "spec"), json_getc(old, "spec"));
}

void validate_persistent_volume(const struct json *obj, const struct json *old,
                                struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    if (is_status_update(obj, old))
        return;
    volume_spec(&spec, meta_name(obj));
    if (old)
        volume_update(&root, &spec, json_getc(old, "spec"));
}

/* ---- claims ---- */

static void copy_member(struct arena *a, struct json *to, const struct json *from, const char *name)
{
    const struct json *v = json_getc(from, name);
    if (v)
        json_setc(a, to, name, json_clone(a, v));
    else
        (void)json_del(to, str_of(name));
}

/* A class given as annotation may move to the field. */
static bool class_from_annotation(const struct json *obj, const struct json *old)
{
    const struct json *before = json_path(old, "metadata", "annotations", BETA_CLASS, NULL);
    const struct json *after = json_path(obj, "metadata", "annotations", BETA_CLASS, NULL);
    const struct json *name = json_path(obj, "spec", "storageClassName", NULL);
    return before && name && !json_path(old, "spec", "storageClassName", NULL) &&
           str_eq(json_str(name), json_str(before)) &&
           (!after || str_eq(json_str(after), json_str(before)));
}

static void beta_annotation(const struct validate_value *root, const struct json *old)
{
    MEMBER(metadata, root, "metadata");
    MEMBER(map, &metadata, "annotations");
    struct validate_value at = value_named(&map, BETA_CLASS, json_getc(map.v, BETA_CLASS));
    struct str before = json_str(json_path(old, "metadata", "annotations", BETA_CLASS, NULL));
    if (!str_eq(value_text(&at), before))
        report_invalid_text(&at, "field is immutable");
}

/* The new spec with the old values of all fields that may change. */
static struct json *claim_as_before(const struct validate_value *root, const struct json *old)
{
    struct arena *a = root->errs->a;
    const struct json *old_spec = json_getc(old, "spec");
    struct json *same = json_clone(a, json_getc(root->v, "spec"));
    const struct json *annotation = json_path(old, "metadata", "annotations", BETA_CLASS, NULL);
    const struct json *class = json_getc(same, "storageClassName");
    struct json *requests = json_path(same, "resources", "requests", NULL);
    bool bound = str_is(json_str(json_path(root->v, "status", "phase", NULL)), "Bound");
    if (json_get_str(old_spec, "volumeName").n == 0)
        copy_member(a, same, old_spec, "volumeName");
    if (class && !json_getc(old_spec, "storageClassName") &&
        (!annotation || str_eq(json_str(annotation), json_str(class))))
        (void)json_del(same, STR("storageClassName"));
    if (bound && requests)
        copy_member(a, requests, json_path(old_spec, "resources", "requests", NULL), "storage");
    if (bound && json_getc(same, "volumeAttributesClassName"))
        copy_member(a, same, old_spec, "volumeAttributesClassName");
    return same;
}

static struct quantity storage_of(const struct json *list)
{
    struct quantity q = { 0 };
    if (quantity_parse(json_get_str(list, "storage"), &q, NULL) < 0)
        q = (struct quantity){ 0 };
    return q;
}

static void claim_size(const struct validate_value *spec, const struct json *old)
{
    MEMBER(resources, spec, "resources");
    MEMBER(requests, &resources, "requests");
    MEMBER(storage, &requests, "storage");
    struct quantity now = storage_of(requests.v);
    struct quantity before = storage_of(json_path(old, "spec", "resources", "requests", NULL));
    struct quantity have = storage_of(json_path(old, "status", "capacity", NULL));
    if (quantity_cmp(now, before) < 0 && quantity_cmp(now, have) <= 0)
        report_forbidden(&storage, "field can not be less than status.capacity");
}

static void claim_class_update(const struct validate_value *spec, const struct json *old)
{
    MEMBER(class, spec, "volumeAttributesClassName");
    if (!json_is(json_getc(old, "volumeAttributesClassName"), JSON_STRING))
        return;
    if (!class.v)
        report_forbidden(&class, "update from non-nil value to nil is forbidden");
    else if (value_text(&class).n == 0)
        report_forbidden(&class, "update from non-nil value to an empty string is forbidden");
}

static void claim_update(const struct validate_value *root, const struct validate_value *spec,
                         const struct json *old)
{
    struct arena *a = root->errs->a;
    const struct json *old_spec = json_getc(old, "spec");
    struct validate_value mode = value_named(root, "volumeMode", json_getc(spec->v, "volumeMode"));
    struct json *same = claim_as_before(root, old);
    if (!class_from_annotation(root->v, old))
        beta_annotation(root, old);
    if (!value_same(same, old_spec))
        report_forbidden(
            spec, report_text(spec,
                              "spec is immutable after creation except resources.requests "
                              "and volumeAttributesClassName for bound claims\n%s",
                              internal_diff(a, old_spec, same, "PersistentVolumeClaimSpec")));
    claim_size(spec, old);
    validate_immutable(&mode, json_getc(old_spec, "volumeMode"));
    claim_class_update(spec, old_spec);
}

/* ---- status of claims ---- */

static void claim_resource_key(const struct validate_value *at, struct str key)
{
    struct meta_problems p = meta_check_qualified_name(key);
    struct validate_value shown = *at;
    shown.v = json_new_str(at->errs->a, key);
    report_problems(at, key, p);
    if (!p.n && resource_is_native(key) && !str_is(key, "storage"))
        report_not_supported(&shown, &enum_claim_resource_key_only_storage);
}

static void claim_status(const struct validate_value *root)
{
    MEMBER(status, root, "status");
    MEMBER(size, &status, "capacity");
    MEMBER(allocated, &status, "allocatedResources");
    struct validate_value resizing = value_named(&status, "allocatedResourceStatus",
                                                 json_getc(status.v, "allocatedResourceStatuses"));
    json_each (m, size.v) {
        struct validate_value at = value_key(&size, m);
        struct quantity q;
        if (value_quantity(&at, &q) && q.nano < 0)
            report_invalid_value(&at, json_new_int(root->errs->a, quantity_value(q)),
                                 "must be a valid resource quantity");
    }
    json_each (m, resizing.v) {
        struct validate_value shown = resizing;
        claim_resource_key(&resizing, m->key);
        shown.v = json_new_str(root->errs->a, m->key);
        if (!validate_enum_has(&enum_claim_status_states, json_str(m)))
            report_not_supported(&shown, &enum_claim_status_states);
    }
    json_each (m, allocated.v) {
        struct validate_value at = value_key(&allocated, m);
        size_t before = report_count(root->errs);
        claim_resource_key(&allocated, m->key);
        if (report_count(root->errs) == before)
            resource_value(&at, STR("storage"));
    }
}

void validate_persistent_volume_claim(const struct json *obj, const struct json *old,
                                      struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    if (is_status_update(obj, old)) {
        claim_status(&root);
        return;
    }
    validate_claim_spec(&spec);
    if (old)
        claim_update(&root, &spec, old);
}

/* ---- StorageClasses ---- */

static void provisioner(const struct validate_value *s)
{
    struct str lower = str_lower_arena(s->errs->a, value_text(s));
    validate_required(s, NULL);
    if (lower.n)
        report_problems(s, lower, meta_check_qualified_name(lower));
}

static void class_parameters(const struct validate_value *s)
{
    enum { PARAMETERS_MAX = 512, PARAMETERS_MAX_BYTES = 256 * 1024 };
    size_t total = 0;
    if (value_count(s) > PARAMETERS_MAX) {
        report_too_long(s, PARAMETERS_MAX);
        return;
    }
    json_each (m, s->v) {
        total += m->key.n + json_str(m).n;
        if (m->key.n == 0)
            report_invalid_str(s, m->key, "field can not be empty.");
    }
    if (total > PARAMETERS_MAX_BYTES)
        report_too_long(s, PARAMETERS_MAX_BYTES);
}

static void topology_values(const struct validate_value *list)
{
    struct map seen = { 0 };
    validate_required(list, NULL);
    value_each (value, i, list)
        if (map_put(&seen, value_text(&value), &seen))
            report_duplicate_str(&value, value_text(&value));
    map_fini(&seen);
}

/* An object used as a set. json_set() would compare each element with all before it. */
static struct json *value_set(struct arena *a, const struct json *list)
{
    struct json *values = json_new_object(a);
    struct map seen = { 0 };
    json_each (v, list)
        if (!map_put(&seen, json_str(v), values))
            json_add_member(values, json_str(v), json_new_null(a));
    map_fini(&seen);
    return values;
}

/* Equal terms have equal texts: keys and values are sorted. */
static struct str topology_id(struct arena *a, const struct json *term)
{
    struct json *by_key = json_new_object(a);
    json_each (e, json_getc(term, "matchLabelExpressions"))
        json_set(a, by_key, json_get_str(e, "key"), value_set(a, json_getc(e, "values")));
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)json_write_sorted(&b, by_key);
    struct str text = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    return text;
}

static void topologies(const struct validate_value *list)
{
    enum { TERMS_MAX = 1024 }; /* terms beyond are not checked: no cluster has so many zones */
    struct map seen = { 0 };
    value_each (term, i, list) {
        MEMBER(expressions, &term, "matchLabelExpressions");
        struct map keys = { 0 };
        value_each (e, k, &expressions) {
            MEMBER(values, &e, "values");
            MEMBER(key, &e, "key");
            topology_values(&values);
            validate_qualified_name(&key, NULL);
            if (map_put(&keys, value_text(&key), &keys))
                report_duplicate_str(&key, value_text(&key));
        }
        map_fini(&keys);
        if (i < TERMS_MAX && value_count(&expressions) < TERMS_MAX &&
            map_put(&seen, topology_id(list->errs->a, term.v), &seen))
            report_duplicate_str(&expressions, STR(""));
    }
    map_fini(&seen);
}

void validate_storage_class(const struct json *obj, const struct json *old,
                            struct field_errors *errs)
{
    static const char *const fixed[] = { "parameters", "provisioner", "reclaimPolicy",
                                         "volumeBindingMode" };
    struct validate_value root = value_root(obj, errs);
    MEMBER(by, &root, "provisioner");
    MEMBER(parameters, &root, "parameters");
    MEMBER(policy, &root, "reclaimPolicy");
    MEMBER(mode, &root, "volumeBindingMode");
    MEMBER(places, &root, "allowedTopologies");
    if (old) {
        for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
            MEMBER(m, &root, fixed[i]);
            validate_immutable(&m, json_getc(old, fixed[i]));
        }
        return;
    }
    provisioner(&by);
    class_parameters(&parameters);
    if (value_text(&policy).n)
        validate_enum_strict(&policy, &enum_storage_class_policies);
    if (mode.v)
        validate_enum_strict(&mode, &enum_storage_class_modes);
    else
        report_required(&mode, "");
    topologies(&places);
}
