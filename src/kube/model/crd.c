/* SPDX-License-Identifier: Apache-2.0 */
/* CustomResourceDefinitions: from object to served resources, names and conditions; see crd.h. */
#include "kube/model/crd.h"

#include "kube/model/meta.h"

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
    r->columns = cols;
    r->n_columns = n;
}

static void read_subresources(struct crd *c, const struct json *version, struct kube_resource *r)
{
    const struct json *sub = json_getc(version, "subresources");
    const struct json *scale = json_getc(sub, "scale");
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

/* A schema that an earlier version stored is used as far as it goes, never refused. */
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

/* Accepted names are what is served; before they are known, the wanted ones. */
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

/* What a deprecated version warns with: the definition's own words, or which version to use. */
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

/* The version in which objects were stored last, as far as the status knows. */
static struct str last_stored(const struct json *obj)
{
    const struct json *stored = json_path(obj, "status", "storedVersions", NULL);
    const struct json *last = json_is(stored, JSON_ARRAY) ? json_last(stored) : NULL;
    return json_str(last).n ? json_str(last) : STR("v1");
}

/* For a definition without versions: the one that its objects have. */
static const struct json *only_version(struct arena *a, const struct json *obj)
{
    struct json *list = json_new_array(a), *v = json_new_object(a);
    json_set_str(a, v, "name", last_stored(obj));
    json_add(list, v);
    return list;
}

/*
 * No definition is accepted without a storage version, but one that was written past the API or by
 * another program may lack it. It serves nothing; its objects can be found and removed with it.
 */
static void choose_storage(struct crd *c, const struct json *obj)
{
    struct str name = last_stored(obj);
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
    c->refs++;
}

void crd_unref(struct crd *c)
{
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

/* ---- conditions ---- */

static struct json *find_condition(const struct json *obj, const char *type)
{
    json_each (c, json_path(obj, "status", "conditions", NULL)) {
        if (str_is(json_get_str(c, "type"), type))
            return c;
    }
    return NULL;
}

bool crd_has_condition(const struct json *obj, const char *type)
{
    return str_is(json_get_str(find_condition(obj, type), "status"), "True");
}

bool crd_set_condition(struct arena *a, struct json *obj, const char *type, bool status,
                       const char *reason, const char *message, struct str now)
{
    struct json *st = json_obj(a, obj, "status"), *list = json_getc(st, "conditions");
    const char *value = status ? "True" : "False";
    if (!json_is(list, JSON_ARRAY)) {
        list = json_new_array(a);
        json_setc(a, st, "conditions", list);
    }
    struct json *c = find_condition(obj, type);
    if (c && str_is(json_get_str(c, "status"), value) &&
        str_is(json_get_str(c, "reason"), reason) && str_is(json_get_str(c, "message"), message))
        return false;
    bool flips = !c || !str_is(json_get_str(c, "status"), value);
    if (!c) {
        c = json_new_object(a);
        json_add(list, c);
    }
    json_set_str(a, c, "type", str_of(type));
    json_set_str(a, c, "status", str_of(value));
    if (flips)
        json_set_str(a, c, "lastTransitionTime", now);
    json_set_str(a, c, "reason", str_of(reason));
    json_set_str(a, c, "message", str_of(message));
    return true;
}

/* ---- approval ---- */

static bool is_protected(struct str group)
{
    return str_is(group, "k8s.io") || str_has_suffix(group, STR(".k8s.io")) ||
           str_is(group, "kubernetes.io") || str_has_suffix(group, STR(".kubernetes.io"));
}

/* SCHEME://HOST..., without blanks. */
static bool is_url(struct str s)
{
    struct str scheme, rest, host, tail;
    ptrdiff_t at = str_find(s, STR("://"));
    if (at <= 0 || str_find_char(s, ' ') >= 0)
        return false;
    scheme = str_slice(s, 0, (size_t)at);
    rest = str_slice(s, (size_t)at + 3, s.n);
    for (size_t i = 0; i < scheme.n; i++) {
        char c = scheme.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.')))
            return false;
    }
    (void)str_cut(rest, '/', &host, &tail);
    return host.n > 0 && host.p[0] != '?';
}

struct crd_approval crd_approval(struct arena *a, const struct json *obj)
{
    static const char see[] = "see https://github.com/kubernetes/enhancements/pull/1111";
    struct str given = json_str(json_path(obj, "metadata", "annotations", CRD_APPROVED_BY, NULL));
    if (!is_protected(json_get_str(json_getc(obj, "spec"), "group")))
        return (struct crd_approval){ .state = CRD_APPROVED };
    if (given.n == 0)
        return (struct crd_approval){
            CRD_APPROVAL_MISSING, "MissingAnnotation",
            arena_printf(a, "protected groups must have approval annotation \"%s\", %s",
                         CRD_APPROVED_BY, see)
        };
    if (str_has_prefix(given, STR("unapproved"))) {
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
        (void)buf_add_cstr(&text, "not approved: ");
        go_quote(&text, given);
        return (struct crd_approval){ CRD_APPROVAL_BYPASSED, "UnapprovedAnnotation",
                                      str_dup_arena(a, buf_str(&text)) };
    }
    if (is_url(given))
        return (struct crd_approval){ CRD_APPROVED, "ApprovedAnnotation",
                                      arena_printf(a, "approved in " STR_FMT, STR_ARG(given)) };
    return (struct crd_approval){
        CRD_APPROVAL_INVALID, "InvalidAnnotation",
        arena_printf(a,
                     "protected groups must have approval annotation \"%s\" with either a URL or a "
                     "reason starting with \"unapproved\", %s",
                     CRD_APPROVED_BY, see)
    };
}

/* ---- names ---- */

/* Names that others of the group hold: other definitions, and built-in resources. */
struct taken {
    struct str self, group;
    const struct json *others;
    const struct registry *builtin;
};

static bool has_text(const struct json *list, struct str s)
{
    json_each (v, list) {
        if (str_eq(json_str(v), s))
            return true;
    }
    return false;
}

static bool holds_resource(const struct json *names, struct str s)
{
    return str_eq(json_get_str(names, "plural"), s) || str_eq(json_get_str(names, "singular"), s) ||
           has_text(json_getc(names, "shortNames"), s);
}

static bool holds_kind(const struct json *names, struct str s)
{
    return str_eq(json_get_str(names, "kind"), s) || str_eq(json_get_str(names, "listKind"), s);
}

static bool builtin_holds(const struct taken *t, struct str s, bool kinds)
{
    if (!t->builtin)
        return false;
    registry_each(r, t->builtin)
    {
        if ((*r)->crd || !str_eq((*r)->group, t->group))
            continue;
        if (kinds ? str_eq((*r)->kind, s) || str_eq((*r)->list_kind, s)
                  : str_eq((*r)->plural, s) || str_eq((*r)->singular, s))
            return true;
    }
    return false;
}

static bool is_taken(const struct taken *t, struct str s, bool kinds)
{
    json_each (o, t->others) {
        const struct json *names = json_path(o, "status", "acceptedNames", NULL);
        if (str_eq(meta_name(o), t->self) ||
            !str_eq(json_get_str(json_getc(o, "spec"), "group"), t->group))
            continue;
        if (kinds ? holds_kind(names, s) : holds_resource(names, s))
            return true;
    }
    return builtin_holds(t, s, kinds);
}

struct verdict {
    const char *reason, *message; /* NULL: fine */
};

static void accept_name(struct arena *a, const struct taken *t, const struct json *wanted,
                        struct json *accepted, const char *key, bool kinds, const char *reason,
                        struct verdict *v)
{
    struct str name = json_get_str(wanted, key);
    if (!str_eq(name, json_get_str(accepted, key)) && name.n && is_taken(t, name, kinds)) {
        v->reason = reason;
        v->message = arena_printf(a, "\"" STR_FMT "\" is already in use", STR_ARG(name));
        return;
    }
    if (name.n)
        json_set_str(a, accepted, key, name);
}

static void accept_short_names(struct arena *a, const struct taken *t, const struct json *wanted,
                               struct json *accepted, struct verdict *v)
{
    const struct json *list = json_getc(wanted, "shortNames"),
                      *old = json_getc(accepted, "shortNames");
    struct json *out = json_new_array(a);
    bool fine = true;
    json_each (s, list) {
        if (!has_text(old, json_str(s)) && is_taken(t, json_str(s), false)) {
            fine = false;
            v->reason = "ShortNamesConflict";
            v->message = arena_printf(a, "\"" STR_FMT "\" is already in use", STR_ARG(json_str(s)));
        } else {
            json_add(out, json_new_str(a, json_str(s)));
        }
    }
    if (!fine)
        return;
    if (out->n)
        json_setc(a, accepted, "shortNames", out);
    else
        (void)json_del(accepted, STR("shortNames"));
}

static void add_stored_version(struct arena *a, struct json *obj)
{
    struct json *st = json_obj(a, obj, "status"), *stored = json_getc(st, "storedVersions");
    if (!json_is(stored, JSON_ARRAY)) {
        stored = json_new_array(a);
        json_setc(a, st, "storedVersions", stored);
    }
    json_each (v, json_path(obj, "spec", "versions", NULL)) {
        struct str name = json_get_str(v, "name");
        if (json_bool(json_getc(v, "storage")) && !has_text(stored, name))
            json_add(stored, json_new_str(a, name));
    }
}

bool crd_update_status(struct arena *a, struct json *obj, const struct json *others,
                       const struct registry *builtin, struct str now)
{
    struct json *before = json_clone(a, json_obj(a, obj, "status"));
    const struct json *spec = json_getc(obj, "spec"), *wanted = json_getc(spec, "names");
    struct json *accepted = json_obj(a, json_obj(a, obj, "status"), "acceptedNames");
    struct taken t = { .self = meta_name(obj),
                       .group = json_get_str(spec, "group"),
                       .others = others,
                       .builtin = builtin };
    struct verdict v = { 0 };
    accept_name(a, &t, wanted, accepted, "plural", false, "PluralConflict", &v);
    accept_name(a, &t, wanted, accepted, "singular", false, "SingularConflict", &v);
    accept_short_names(a, &t, wanted, accepted, &v);
    accept_name(a, &t, wanted, accepted, "kind", true, "KindConflict", &v);
    accept_name(a, &t, wanted, accepted, "listKind", true, "ListKindConflict", &v);
    const struct json *categories = json_getc(wanted, "categories");
    if (categories)
        json_setc(a, accepted, "categories", json_clone(a, categories));
    else
        (void)json_del(accepted, STR("categories"));

    (void)crd_set_condition(a, obj, "NamesAccepted", !v.reason, v.reason ? v.reason : "NoConflicts",
                            v.message ? v.message : "no conflicts found", now);
    if (!crd_has_condition(obj, "Established") && !v.reason && crd_has_bad_bundle(obj))
        (void)crd_set_condition(a, obj, "Established", false, "InvalidCABundle",
                                "The conversion webhook CABundle is invalid", now);
    else if (!crd_has_condition(obj, "Established"))
        (void)crd_set_condition(
            a, obj, "Established", !v.reason, v.reason ? "NotAccepted" : "InitialNamesAccepted",
            v.reason ? "not all names are accepted" : "the initial names have been accepted", now);
    struct crd_approval approval = crd_approval(a, obj);
    if (approval.reason)
        (void)crd_set_condition(a, obj, "KubernetesAPIApprovalPolicyConformant",
                                approval.state == CRD_APPROVED, approval.reason, approval.message,
                                now);
    add_stored_version(a, obj);
    return !json_equal(before, json_getc(obj, "status"));
}
