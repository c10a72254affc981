/* SPDX-License-Identifier: Apache-2.0 */
/* Embedded objects; see embedded.h. */
#include "kube/model/embedded.h"

#include "kube/model/builtin.h"
#include "kube/model/meta.h"

struct embedded_walk {
    struct arena *a;
    schema_unknown_fn unknown;
    void *arg;
    struct field_errors *errs;
    void (*visit)(struct embedded_walk *w, struct json *obj, const struct fpath *at);
    const struct fpath *at; /* of the object that is being visited */
    int r;                  /* the first failure */
    struct err *err;
};

static void walk(struct embedded_walk *w, const struct schema *s, struct json *v,
                 const struct fpath *at)
{
    size_t i = 0;
    if (v->type == JSON_ARRAY && s->items)
        json_each (item, v) {
            struct fpath child = fpath_index(at, i++);
            walk(w, s->items, item, &child);
        }
    if (v->type != JSON_OBJECT)
        return;
    if ((s->flags & SCHEMA_EMBEDDED) && at)
        w->visit(w, v, at);
    json_each (m, v) {
        const struct schema *sub = schema_child(s, m->key);
        struct fpath child =
            schema_field(s, m->key) ? fpath_child(at, m->key) : fpath_key(at, m->key);
        if (sub)
            walk(w, sub, m, &child);
    }
}

/* ---- normalizing ---- */

static void tell_unknown(void *arg, struct str path)
{
    struct embedded_walk *w = arg;
    struct fpath meta = fpath_child(w->at, STR("metadata")), at = fpath_child(&meta, path);
    w->unknown(w->arg, fpath_text(w->a, &at));
}

/* In the order in which Go prints a map. */
static struct json *sorted_copy(struct arena *a, const struct json *v)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    struct json *copy;
    (void)json_write_sorted(&text, v);
    return json_parse(a, str_copy_arena(a, buf_str(&text)), NULL, &copy, NULL) < 0
               ? json_clone(a, v)
               : copy;
}

static void normalize(struct embedded_walk *w, struct json *obj, const struct fpath *at)
{
    const struct schema *s = builtin_type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    struct json *meta = json_getc(obj, "metadata");
    struct err why = { 0 };
    w->at = at;
    if (!json_is(meta, JSON_OBJECT) || w->r < 0) /* other types are refused by validation */
        return;
    struct json *as_sent = sorted_copy(w->a, meta);
    if (schema_normalize(w->a, s, meta, "ObjectMeta", w->unknown ? tell_unknown : NULL, w, &why) >=
        0)
        return;
    struct field_errors errs = field_errors_init(w->a);
    struct fpath place = fpath_child(at, STR("metadata"));
    field_error(&errs, FIELD_INVALID, &place, as_sent, "%s", err_text(&why));
    w->r = err_set(w->err, E_INVALID, STR_FMT, STR_ARG(field_errors_text(&errs)));
}

int embedded_normalize(struct arena *a, const struct schema *s, struct json *obj,
                       schema_unknown_fn unknown, void *arg, struct err *err)
{
    struct embedded_walk w = {
        .a = a, .unknown = unknown, .arg = arg, .visit = normalize, .err = err
    };
    walk(&w, s, obj, NULL);
    return w.r;
}

/* ---- validation ---- */

static bool check_text(struct embedded_walk *w, const struct json *obj, const char *name,
                       const struct fpath *up)
{
    const struct json *v = json_getc(obj, name);
    struct fpath at = fpath_child(up, str_of(name));
    if (!v)
        field_error(w->errs, FIELD_REQUIRED, &at, NULL, "%s", "");
    else if (v->type != JSON_STRING)
        field_error(w->errs, FIELD_INVALID, &at, v, "must be a string");
    else if (v->s.n == 0)
        field_error(w->errs, FIELD_INVALID, &at, v, "must not be empty");
    else
        return true;
    return false;
}

static void check_version(struct embedded_walk *w, const struct json *obj, const struct fpath *up)
{
    struct fpath at = fpath_child(up, STR("apiVersion"));
    struct str version = json_get_str(obj, "apiVersion"), group, rest;
    if (check_text(w, obj, "apiVersion", up) && str_cut(version, '/', &group, &rest) &&
        str_find_char(rest, '/') >= 0)
        field_error_str(w->errs, FIELD_INVALID, &at, version,
                        "unexpected GroupVersion string: " STR_FMT, STR_ARG(version));
}

static void check_kind(struct embedded_walk *w, const struct json *obj, const struct fpath *up)
{
    struct fpath at = fpath_child(up, STR("kind"));
    struct str kind = json_get_str(obj, "kind");
    if (!check_text(w, obj, "kind", up))
        return;
    struct meta_problems p = meta_check_dns1035_label(str_lower_arena(w->a, kind));
    if (p.n)
        field_error_str(w->errs, FIELD_INVALID, &at, kind,
                        "may have mixed case, but should otherwise match: %s%s%s", p.text[0],
                        p.n > 1 ? "," : "", p.n > 1 ? p.text[1] : "");
}

/* Applies the rules of metadata, reporting below `up`. A name is not required. */
static void check_meta(struct embedded_walk *w, const struct json *obj, const struct fpath *up)
{
    struct json *meta = json_getc(obj, "metadata");
    struct field_errors errs = field_errors_init(w->a);
    struct json *copy = json_new_object(w->a);
    struct fpath at = fpath_child(up, STR("metadata"));
    struct err err = { 0 };
    if (!meta)
        return;
    json_setc(w->a, copy, "metadata", json_clone(w->a, meta));
    if (schema_normalize(w->a, builtin_type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
                         json_getc(copy, "metadata"), "ObjectMeta", NULL, NULL, &err) < 0) {
        field_error(w->errs, FIELD_INVALID, &at, meta, "%s", err_text(&err));
        return;
    }
    if (meta_name(copy).n == 0)
        json_set_str(w->a, json_getc(copy, "metadata"), "name", STR("fakename"));
    meta_validate(copy, meta_namespace(copy).n > 0, meta_check_path_segment, NULL, &errs);
    for (const struct field_error *e = errs.first; e; e = e->next) {
        struct fpath place = fpath_child(up, e->field);
        field_error_again(w->errs, e, &place);
    }
}

static void validate(struct embedded_walk *w, struct json *obj, const struct fpath *at)
{
    check_version(w, obj, at);
    check_kind(w, obj, at);
    check_meta(w, obj, at);
}

void embedded_validate(const struct schema *s, const struct json *obj, struct field_errors *errs)
{
    struct embedded_walk w = { .a = errs->a, .errs = errs, .visit = validate };
    walk(&w, s, (struct json *)obj, NULL); /* this visitor does not change the object */
}
