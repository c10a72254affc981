/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions and accepted names of definitions; see crd_status.h. */
#include "kube/rules/crd_status.h"

#include "kube/model/meta.h"
#include "kube/rules/crd_validate.h"

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
        field_go_quote(&text, given);
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

/* Names already used in the group, by other definitions and by built-in resources. */
struct taken {
    struct str self, group;
    const struct json *others;
    const struct kube_registry *builtin;
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
    kube_registry_each(r, t->builtin)
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

struct crd_status_verdict {
    const char *reason, *message; /* NULL: accepted */
};

static void accept_name(struct arena *a, const struct taken *t, const struct json *wanted,
                        struct json *accepted, const char *key, bool kinds, const char *reason,
                        struct crd_status_verdict *v)
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
                               struct json *accepted, struct crd_status_verdict *v)
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
                       const struct kube_registry *builtin, struct str now)
{
    struct json *before = json_clone(a, json_obj(a, obj, "status"));
    const struct json *spec = json_getc(obj, "spec"), *wanted = json_getc(spec, "names");
    struct json *accepted = json_obj(a, json_obj(a, obj, "status"), "acceptedNames");
    struct taken t = { .self = meta_name(obj),
                       .group = json_get_str(spec, "group"),
                       .others = others,
                       .builtin = builtin };
    struct crd_status_verdict v = { 0 };
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
