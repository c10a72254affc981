/* SPDX-License-Identifier: Apache-2.0 */
/* CustomResourceDefinitions: compiles an object into served resources; see crd.h. */
#include "kube/model/crd.h"

#include "kube/model/meta.h"

#include <assert.h>

struct crd {
    size_t refs;
    struct arena a;
    struct str name;
    struct kube_resource *versions; /* all, in the order of spec.versions */
    size_t n_versions;
    const struct kube_resource **served; /* sorted by priority */
    size_t n_served;
    const struct kube_resource *storage;
    bool by_webhook; /* spec.conversion */
    struct err doubt;
};

static const struct kube_strategy custom_strategy = { .name_rule = KUBE_NAME_SUBDOMAIN,
                                                      .has_generation = true };

static const struct schema anything = { .type = SCHEMA_OBJECT,
                                        .flags = SCHEMA_PRESERVE_UNKNOWN | SCHEMA_NULLABLE };

/* ---- reading a definition ---- */

static struct str *strings(struct arena *a, const struct json *list, size_t *ret_n)
{
    *ret_n = 0;
    if (!json_is(list, JSON_ARRAY) || list->n == 0)
        return NULL;
    struct str *out = arena_new_n(a, struct str, list->n);
    json_each (v, list) {
        out[(*ret_n)++] = json_str(v);
    }
    return out;
}

static void read_columns(struct crd *c, const struct json *version, struct kube_resource *r)
{
    static const struct kube_column name = { .name = { "Name", 4 },
                                             .type = { "string", 6 },
                                             .format = { "name", 4 },
                                             .description = { "Name of the object.", 19 },
                                             .json_path = { ".metadata.name", 14 } };
    const struct json *list = json_getc(version, "additionalPrinterColumns");
    if (!json_is(list, JSON_ARRAY) || list->n == 0)
        return;
    struct kube_column *cols = arena_new_n(&c->a, struct kube_column, list->n + 1);
    cols[0] = name;
    size_t n = 1;
    json_each (col, list) {
        struct kube_column *out = &cols[n++];
        out->name = json_get_str(col, "name");
        out->type = json_get_str(col, "type");
        out->format = json_get_str(col, "format");
        out->description = json_get_str(col, "description");
        out->json_path = json_get_str(col, "jsonPath");
        out->priority = (int32_t)json_int_or(json_getc(col, "priority"), 0);
        if (out->description.n == 0)
            out->description = str_of(arena_printf(&c->a,
                                                   "Custom resource definition column (in "
                                                   "JSONPath format): " STR_FMT,
                                                   STR_ARG(out->json_path)));
    }
    assert(n == list->n + 1);
    r->columns = cols;
    r->n_columns = n;
}

static void read_subresources(struct crd *c, const struct json *version, struct kube_resource *r)
{
    const struct json *sub = json_getc(version, "subresources");
    const struct json *scale = json_getc(sub, "scale");
    assert(r->n_subresources == 0);
    struct kube_subresource *out = arena_new_n(&c->a, struct kube_subresource, 2);
    const unsigned verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE;
    if (json_is(json_getc(sub, "status"), JSON_OBJECT))
        out[r->n_subresources++] = (struct kube_subresource){ .name = STR("status"),
                                                              .verbs = verbs,
                                                              .group = r->group,
                                                              .version = r->version,
                                                              .kind = r->kind };
    if (json_is(scale, JSON_OBJECT)) {
        out[r->n_subresources++] = (struct kube_subresource){ .name = STR("scale"),
                                                              .verbs = verbs,
                                                              .group = STR("autoscaling"),
                                                              .version = STR("v1"),
                                                              .kind = STR("Scale") };
        r->scale_spec_path = json_get_str(scale, "specReplicasPath");
        r->scale_status_path = json_get_str(scale, "statusReplicasPath");
        r->scale_selector_path = json_get_str(scale, "labelSelectorPath");
    }
    r->subresources = out;
}

static void read_selectable(struct crd *c, const struct json *version, struct kube_resource *r)
{
    static const struct str none[1];
    const struct json *list = json_getc(version, "selectableFields");
    r->selectable_fields = none;
    if (!json_is(list, JSON_ARRAY) || list->n == 0)
        return;
    struct str *out = arena_new_n(&c->a, struct str, list->n);
    size_t n = 0;
    json_each (f, list) {
        struct str path = json_get_str(f, "jsonPath");
        out[n++] = str_has_prefix(path, STR(".")) ? str_slice(path, 1, path.n) : path;
    }
    assert(n == list->n);
    r->selectable_fields = out;
    r->n_selectable_fields = n;
}

static size_t count_values(const struct json *v)
{
    size_t n = 1;
    if (v->type >= JSON_ARRAY)
        json_each (m, v)
            n += count_values(m);
    return n;
}

static struct kube_source source_of(const struct json *spec)
{
    struct kube_source s = { .n_values = count_values(spec) };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    (void)json_write(&text, spec);
    s.n_bytes = text.n;
    sha256_of(buf_str(&text), s.sha256);
    return s;
}

/* A schema that an earlier version stored is used as far as possible, never refused. */
static void read_schema(struct crd *c, const struct json *version, struct kube_resource *r)
{
    const struct json *spec = json_path(version, "schema", "openAPIV3Schema", NULL);
    r->schema = &anything;
    if (!json_is(spec, JSON_OBJECT))
        return;
    struct field_errors errs = field_errors_init(&c->a);
    (void)schema_from_openapi(&c->a, spec, NULL, NULL, &errs, &r->schema);
    if (r->schema->source)
        r->source = source_of(r->schema->source);
    if (errs.n && !c->doubt.code)
        (void)err_set(&c->doubt, E_INVALID, "schema of version '" STR_FMT "': " STR_FMT,
                      STR_ARG(r->version), STR_ARG(field_errors_text(&errs)));
}

/* The accepted names are served; until they are known, the wanted ones. */
static const struct json *names_of(const struct json *obj)
{
    const struct json *accepted = json_path(obj, "status", "acceptedNames", NULL);
    return json_get_str(accepted, "plural").n ? accepted : json_path(obj, "spec", "names", NULL);
}

static void read_version(struct crd *c, const struct json *obj, const struct json *version,
                         struct kube_resource *r)
{
    const struct json *spec = json_getc(obj, "spec"), *names = names_of(obj);
    r->group = json_get_str(spec, "group");
    r->version = json_get_str(version, "name");
    r->kind = json_get_str(names, "kind");
    r->list_kind = json_get_str(names, "listKind");
    r->plural = json_get_str(names, "plural");
    r->singular = json_get_str(names, "singular");
    r->short_names = strings(&c->a, json_getc(names, "shortNames"), &r->n_short_names);
    r->categories = strings(&c->a, json_getc(names, "categories"), &r->n_categories);
    r->namespaced = str_is(json_get_str(spec, "scope"), "Namespaced");
    r->verbs = KUBE_VERBS_ALL;
    r->strategy = &custom_strategy;
    r->crd = c;
    read_subresources(c, version, r);
    read_columns(c, version, r);
    read_selectable(c, version, r);
    read_schema(c, version, r);
}

static int cmp_served(const void *x, const void *y)
{
    const struct kube_resource *const *a = x, *const *b = y;
    return kube_version_cmp((*a)->version, (*b)->version);
}

static const struct json *version_of(const struct json *list, struct str name)
{
    json_each (v, list)
        if (str_eq(json_get_str(v, "name"), name))
            return v;
    return NULL;
}

/* The warning of a deprecated version: the definition's text, or the version to use instead. */
static void read_deprecation(struct crd *c, const struct json *list, struct kube_resource *r)
{
    const struct json *version = version_of(list, r->version);
    if (!json_bool(json_getc(version, "deprecated")))
        return;
    r->deprecation = json_get_str(version, "deprecationWarning");
    if (r->deprecation.n)
        return;
    const char *text = arena_printf(&c->a, STR_FMT "/" STR_FMT " " STR_FMT " is deprecated",
                                    STR_ARG(r->group), STR_ARG(r->version), STR_ARG(r->kind));
    for (size_t i = 0; i < c->n_served; i++) { /* newest first */
        struct str s = c->served[i]->version;
        if (kube_version_cmp(s, r->version) >= 0 ||
            json_bool(json_getc(version_of(list, s), "deprecated")))
            continue;
        text = arena_printf(&c->a, "%s; use " STR_FMT "/" STR_FMT " " STR_FMT, text,
                            STR_ARG(r->group), STR_ARG(s), STR_ARG(r->kind));
        break;
    }
    r->deprecation = str_of(text);
}

static bool is_by_webhook(const struct json *obj)
{
    return str_is(json_str(json_path(obj, "spec", "conversion", "strategy", NULL)), "Webhook");
}

/* The version in which objects were stored last, according to the status. */
static struct str last_stored(const struct json *obj)
{
    const struct json *stored = json_path(obj, "status", "storedVersions", NULL);
    const struct json *last = json_is(stored, JSON_ARRAY) ? json_last(stored) : NULL;
    return json_str(last).n ? json_str(last) : STR("v1");
}

/* For a definition without versions: the version of its stored objects. */
static const struct json *only_version(struct arena *a, const struct json *obj)
{
    struct json *list = json_new_array(a), *v = json_new_object(a);
    json_set_str(a, v, "name", last_stored(obj));
    json_add(list, v);
    return list;
}

/*
 * A definition without a storage version is never accepted, but one written by another program, or
 * directly to the store, may lack it. It serves nothing; its objects can be found and removed with
 * it.
 */
static void choose_storage(struct crd *c, const struct json *obj)
{
    struct str name = last_stored(obj);
    assert(c->n_versions > 0);
    c->n_served = 0;
    c->storage = &c->versions[0];
    for (size_t i = 0; i < c->n_versions; i++)
        if (str_eq(c->versions[i].version, name))
            c->storage = &c->versions[i];
    (void)err_set(&c->doubt, E_INVALID, "no version is marked as storage version");
}

static int read_versions(struct crd *c, const struct json *obj, struct err *err)
{
    const struct json *list = json_path(obj, "spec", "versions", NULL);
    if (!json_is(list, JSON_ARRAY) || list->n == 0)
        list = only_version(&c->a, obj);
    c->versions = arena_new_n(&c->a, struct kube_resource, list->n);
    c->served = arena_new_n(&c->a, const struct kube_resource *, list->n);
    json_each (v, list) {
        struct kube_resource *r = &c->versions[c->n_versions++];
        read_version(c, obj, v, r);
        if (json_bool(json_getc(v, "served")))
            c->served[c->n_served++] = r;
        if (json_bool(json_getc(v, "storage")))
            c->storage = r;
    }
    if (c->versions[0].plural.n == 0 || c->versions[0].group.n == 0)
        return err_set(err, E_INVALID, "definition has no group or no name for its resources");
    if (!c->storage)
        choose_storage(c, obj);
    assert(c->n_versions == list->n && c->n_served <= c->n_versions);
    assert(c->storage >= c->versions && c->storage < c->versions + c->n_versions);
    for (size_t i = 0; i < c->n_versions; i++)
        c->versions[i].storage = c->storage;
    qsort(c->served, c->n_served, sizeof *c->served, cmp_served);
    for (size_t i = 0; i < c->n_versions; i++)
        read_deprecation(c, list, &c->versions[i]);
    return 0;
}

static void crd_free(struct crd *c)
{
    for (size_t i = 0; i < c->n_versions; i++)
        if (c->versions[i].schema != &anything)
            schema_release(c->versions[i].schema);
    arena_fini(&c->a);
    free(c);
}
DEFINE_SCOPED(crd, crd_free)

int crd_new(const struct json *obj, struct crd **ret, struct err *err)
{
    scoped(crd_free_scoped) struct crd *c = xnew(struct crd);
    c->refs = 1;
    const struct json *own = json_clone(&c->a, obj);
    c->name = meta_name(own);
    c->by_webhook = is_by_webhook(own);
    int r = read_versions(c, own, err);
    if (r < 0)
        return err_ctx(err, r, "definition '" STR_FMT "'", STR_ARG(c->name));
    *ret = take_ptr(&c);
    return 0;
}

void crd_ref(struct crd *c)
{
    assert(c->refs > 0);
    c->refs++;
}

void crd_unref(struct crd *c)
{
    assert(!c || c->refs > 0);
    if (c && --c->refs == 0)
        crd_free(c);
}

struct str crd_name(const struct crd *c)
{
    return c->name;
}

size_t crd_resources(const struct crd *c, const struct kube_resource *const **ret)
{
    *ret = c->served;
    return c->n_served;
}

const struct kube_resource *crd_storage(const struct crd *c)
{
    return c->storage;
}

const char *crd_doubt(const struct crd *c)
{
    return c->doubt.code ? err_text(&c->doubt) : NULL;
}

bool crd_wants_webhook(const struct crd *c)
{
    return c->by_webhook;
}

/* ---- defaults ---- */

void crd_default(struct arena *a, struct json *obj)
{
    struct json *spec = json_obj(a, obj, "spec"), *names = json_obj(a, spec, "names");
    struct str kind = json_get_str(names, "kind");
    if (kind.n && json_get_str(names, "singular").n == 0)
        json_set_str(a, names, "singular", str_lower_arena(a, kind));
    if (kind.n && json_get_str(names, "listKind").n == 0)
        json_set_str(a, names, "listKind", str_of(arena_printf(a, STR_FMT "List", STR_ARG(kind))));
    if (!json_is(json_getc(spec, "conversion"), JSON_OBJECT))
        json_set_str(a, json_obj(a, spec, "conversion"), "strategy", STR("None"));
}

/* ---- warnings ---- */

void crd_warn(struct arena *a, const struct json *obj, const struct json *old,
              void (*say)(void *arg, struct str text), void *arg)
{
    const struct json *versions = json_path(obj, "spec", "versions", NULL);
    struct str storage = STR("");
    const char *others = "";
    (void)old;
    json_each (v, versions) {
        struct str name = json_get_str(v, "name");
        if (json_bool(json_getc(v, "storage")))
            storage = name;
        else if (json_bool(json_getc(v, "served")))
            others = arena_printf(a, "%s%s" STR_FMT, others, *others ? ", " : "", STR_ARG(name));
    }
    if (is_by_webhook(obj) && *others)
        say(arg, str_of(arena_printf(a,
                                     "spec.conversion: dormouse calls no conversion webhooks: "
                                     "objects are served in version " STR_FMT
                                     ", in which they are stored; requests for %s fail",
                                     STR_ARG(storage), others)));
}
