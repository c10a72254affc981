/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/object/pv.h"

#include "sched/object/keep.h"

/*
 * A volume is matched against the labels of a node and never against its name, so requirements on
 * fields always hold (upstream passes the check a node without a name). A term with only such
 * requirements matches every node.
 */
static int read_affinity(struct intern_table *w, struct arena *a, const struct json *terms,
                         struct sched_node_terms *ret, struct err *err)
{
    struct json *clean = terms ? json_clone(a, terms) : NULL;
    json_each (term, clean)
        (void)json_del(term, STR("matchFields"));
    int r = sched_node_terms_read(w, clean, ret, err);
    if (r < 0)
        return r;
    uint32_t i = 0;
    json_each (term, terms) {
        const struct json *labels = json_getc(term, "matchExpressions");
        const struct json *fields = json_getc(term, "matchFields");
        bool has_labels = json_is(labels, JSON_ARRAY) && labels->n > 0;
        if (i < ret->n && !has_labels && json_is(fields, JSON_ARRAY) && fields->n > 0)
            ret->p[i].matches_nothing = false;
        i++;
    }
    return 0;
}

static bool has_key(const struct json *terms, struct str key)
{
    json_each (term, terms) {
        json_each (requirement, json_getc(term, "matchExpressions")) {
            if (str_eq(json_get_str(requirement, "key"), key))
                return true;
        }
    }
    return false;
}

/* A requirement of that key has values: those without any (Exists) stay as they are. */
static bool has_value(const struct json *terms, struct str key)
{
    json_each (term, terms) {
        json_each (requirement, json_getc(term, "matchExpressions")) {
            const struct json *values = json_getc(requirement, "values");
            if (str_eq(json_get_str(requirement, "key"), key) && json_is(values, JSON_ARRAY) &&
                values->n > 0)
                return true;
        }
    }
    return false;
}

static void replace_key(struct arena *a, struct json *terms, struct str from, struct str to)
{
    json_each (term, terms) {
        json_each (requirement, json_getc(term, "matchExpressions")) {
            if (str_eq(json_get_str(requirement, "key"), from))
                json_set_str(a, requirement, "key", to);
        }
    }
}

/* Adds the zones of a label, "a__b", as a requirement to each term. */
static void add_zones(struct arena *a, struct json *terms, struct str key, struct str zones)
{
    struct json *values = json_new_array(a);
    bool has_more = true;
    while (has_more) {
        ptrdiff_t at = str_find(zones, STR("__"));
        struct str zone = str_trim(at < 0 ? zones : str_slice(zones, 0, (size_t)at));
        if (zone.n > 0)
            json_add(values, json_new_str(a, zone));
        has_more = at >= 0;
        if (has_more)
            zones = str_slice(zones, (size_t)at + 2, zones.n);
    }
    if (values->n == 0)
        return;
    if (terms->n == 0)
        json_add(terms, json_new_object(a));
    json_each (term, terms) {
        struct json *requirements = json_getc(term, "matchExpressions");
        if (!json_is(requirements, JSON_ARRAY)) {
            requirements = json_new_array(a);
            json_setc(a, term, "matchExpressions", requirements);
        }
        struct json *requirement = json_new_object(a);
        json_set_str(a, requirement, "key", key);
        json_set_str(a, requirement, "operator", STR("In"));
        json_setc(a, requirement, "values", json_clone(a, values));
        json_add(requirements, requirement);
    }
}

#define BETA_ZONE   "failure-domain.beta.kubernetes.io/zone"
#define BETA_REGION "failure-domain.beta.kubernetes.io/region"
#define ZONE        "topology.kubernetes.io/zone"
#define REGION      "topology.kubernetes.io/region"

/*
 * The node affinity in terms of the labels of the driver's nodes: the zone from the affinity, or
 * else from the volume's own label, under the driver's key.
 */
static int read_migrated_affinity(struct intern_table *w, struct arena *a, struct sched_pv *pv,
                                  const struct json *json, const struct json *terms,
                                  struct err *err)
{
    struct str key = str_of(sched_in_tree_kinds[pv->in_tree].zone_key);
    if (key.n == 0)
        return 0;
    const struct json *labels = json_path(json, "metadata", "labels", NULL);
    bool is_beta =
        !has_key(terms, STR(ZONE)) && (has_key(terms, STR(BETA_ZONE)) ||
                                       (!json_getc(labels, ZONE) && json_getc(labels, BETA_ZONE)));
    struct str zone = is_beta ? STR(BETA_ZONE) : STR(ZONE);
    struct json *migrated = terms ? json_clone(a, terms) : json_new_array(a);
    if (has_value(terms, zone))
        replace_key(a, migrated, zone, key);
    else if (json_get(labels, zone))
        add_zones(a, migrated, key, json_str(json_get(labels, zone)));
    if (is_beta && has_value(terms, STR(BETA_REGION)))
        replace_key(a, migrated, STR(BETA_REGION), STR(REGION));
    if (migrated->n == 0)
        return 0;
    pv->has_migrated_affinity = true;
    return read_affinity(w, a, migrated, &pv->migrated_affinity, err);
}

static void read_source(struct intern_table *w, struct sched_pv *pv, const struct json *json)
{
    const struct json *spec = json_getc(json, "spec"), *csi = json_getc(spec, "csi");
    if (json_is(csi, JSON_OBJECT)) {
        pv->driver = intern_get(w, json_get_str(csi, "driver"));
        pv->handle = sched_keep(json_get_str(csi, "volumeHandle"));
        return;
    }
    const struct json *source = NULL;
    for (int i = SCHED_IN_TREE_NONE + 1; i < SCHED_IN_TREE_COUNT && !source; i++) {
        source = json_getc(spec, sched_in_tree_kinds[i].field);
        if (json_is(source, JSON_OBJECT))
            pv->in_tree = (enum sched_in_tree)i;
        else
            source = NULL;
    }
    if (!source || !sched_in_tree_kinds[pv->in_tree].is_migrated)
        return;
    static const char *const id_fields[SCHED_IN_TREE_COUNT] = {
        [SCHED_IN_TREE_AWS] = "volumeID",       [SCHED_IN_TREE_GCE] = "pdName",
        [SCHED_IN_TREE_AZURE_DISK] = "diskURI", [SCHED_IN_TREE_CINDER] = "volumeID",
        [SCHED_IN_TREE_PORTWORX] = "volumeID",
    };
    const struct json *labels = json_path(json, "metadata", "labels", NULL);
    struct str zones = json_get_str(labels, BETA_ZONE);
    if (zones.n == 0)
        zones = json_get_str(labels, ZONE);
    struct buf handle;
    buf_init(&handle, 4096);
    struct err err = { 0 };
    int r = sched_in_tree_handle(pv->in_tree, json_get_str(source, id_fields[pv->in_tree]), zones,
                                 json_get_str(source, "kind"), &handle, &err);
    if (r < 0) {
        pv->translation_error = sched_keep(str_of(err_text(&err)));
    } else {
        pv->driver = intern_get(w, str_of(sched_in_tree_kinds[pv->in_tree].driver));
        pv->handle = sched_keep(buf_str(&handle));
    }
    buf_fini(&handle);
}

static int pv_read(struct intern_table *w, struct sched_object *o, const struct json *json,
                   struct err *err)
{
    struct sched_pv *pv = (struct sched_pv *)o;
    const struct json *metadata = json_getc(json, "metadata"), *spec = json_getc(json, "spec");
    pv->class = intern_get(w, sched_storage_class_name(json));
    int r = sched_labels_read(w, json_getc(metadata, "labels"), &pv->labels, err);
    if (r < 0)
        return r;
    bool has_capacity;
    r = sched_quantity_read(json_path(spec, "capacity", "storage", NULL), "spec.capacity.storage",
                            &has_capacity, &pv->capacity, err);
    if (r >= 0)
        r = sched_access_modes_read(json_getc(spec, "accessModes"), "spec.accessModes",
                                    &pv->access_modes, err);
    if (r < 0)
        return r;
    pv->is_block = str_is(json_get_str(spec, "volumeMode"), "Block");
    pv->is_available = str_is(json_str(json_path(json, "status", "phase", NULL)), "Available");
    pv->is_terminating = json_is(json_getc(metadata, "deletionTimestamp"), JSON_STRING);
    pv->is_bound_by_controller =
        sched_annotation(json, "pv.kubernetes.io/bound-by-controller") != NULL;
    pv->attributes_class = sched_keep(json_get_str(spec, "volumeAttributesClassName"));
    const struct json *claim = json_getc(spec, "claimRef");
    pv->claim = (struct sched_claim_ref){
        .is_set = json_is(claim, JSON_OBJECT),
        .namespace = sched_keep(json_get_str(claim, "namespace")),
        .name = sched_keep(json_get_str(claim, "name")),
        .uid = sched_keep(json_get_str(claim, "uid")),
    };
    read_source(w, pv, json);

    const struct json *required = json_path(spec, "nodeAffinity", "required", NULL);
    const struct json *terms = json_getc(required, "nodeSelectorTerms");
    pv->has_affinity = json_is(required, JSON_OBJECT);
    struct arena a = { 0 };
    r = read_affinity(w, &a, terms, &pv->affinity, err);
    if (r >= 0 && pv->in_tree && sched_in_tree_kinds[pv->in_tree].is_migrated)
        r = read_migrated_affinity(w, &a, pv, json, terms, err);
    arena_fini(&a);
    return r;
}

static void pv_fini(struct intern_table *w, struct sched_object *o)
{
    struct sched_pv *pv = (struct sched_pv *)o;
    intern_unref(w, pv->class);
    sched_labels_fini(w, &pv->labels);
    sched_node_terms_fini(w, &pv->affinity);
    sched_node_terms_fini(w, &pv->migrated_affinity);
    sched_drop(pv->attributes_class);
    sched_drop(pv->claim.namespace);
    sched_drop(pv->claim.name);
    sched_drop(pv->claim.uid);
    intern_unref(w, pv->driver);
    sched_drop(pv->handle);
    sched_drop(pv->translation_error);
}

const struct sched_kind_ops sched_pv_ops = {
    .size = sizeof(struct sched_pv),
    .read = pv_read,
    .fini = pv_fini,
};

bool sched_pv_fits_node(const struct sched_pv *pv, const struct sched_node *node, bool is_migrated)
{
    if (is_migrated && pv->has_migrated_affinity)
        return sched_node_terms_match(&pv->migrated_affinity, node);
    return !pv->has_affinity || sched_node_terms_match(&pv->affinity, node);
}
