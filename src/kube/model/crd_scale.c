/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the values at the paths of a definition's scale; see crd.h. */
#include "kube/model/crd.h"

#include <stdint.h>

static const char *go_type(const struct json *v)
{
    switch (v->type) {
    case JSON_STRING:
        return "string";
    case JSON_TRUE:
    case JSON_FALSE:
        return "bool";
    case JSON_NUMBER:
        return "float64";
    case JSON_ARRAY:
        return "[]interface {}";
    case JSON_OBJECT:
        return "map[string]interface {}";
    case JSON_NULL:
        break;
    }
    return "<nil>";
}

/* As Go prints the value; containers are shortened. */
static struct str go_text(const struct json *v)
{
    switch (v->type) {
    case JSON_STRING:
    case JSON_NUMBER:
        return v->s;
    case JSON_TRUE:
        return STR("true");
    case JSON_FALSE:
        return STR("false");
    case JSON_ARRAY:
        return STR("[]");
    case JSON_OBJECT:
        return STR("map[]");
    case JSON_NULL:
        break;
    }
    return STR("<nil>");
}

/*
 * The value at the path; NULL when it is absent, or when a value on the way is not an object
 * (*ret_why).
 */
static const struct json *value_at(const struct json *obj, struct str path, struct str *ret_why,
                                   struct arena *a)
{
    struct str rest = str_has_prefix(path, STR(".")) ? str_slice(path, 1, path.n) : path, name;
    const struct json *v = obj;
    while (rest.n) {
        (void)str_cut(rest, '.', &name, &rest);
        if (v->type == JSON_NULL)
            return NULL;
        if (v->type != JSON_OBJECT) {
            int shown = (int)(rest.n ? (size_t)(rest.p - 1 - path.p) : path.n);
            *ret_why = str_of(arena_printf(a,
                                           "%.*s accessor error: " STR_FMT
                                           " is of the type %s, expected map[string]interface{}",
                                           shown, path.p, STR_ARG(go_text(v)), go_type(v)));
            return NULL;
        }
        v = json_get(v, name);
        if (!v)
            return NULL;
    }
    return v->type == JSON_NULL ? NULL : v;
}

static void check_replicas(const struct json *obj, struct str path, struct field_errors *errs)
{
    struct arena *a = errs->a;
    struct str why = STR("");
    struct fpath at = fpath_child(NULL, path);
    const struct json *v = value_at(obj, path, &why, a);
    int64_t n = 0;
    if (v && (v->type != JSON_NUMBER || json_int(v, &n) < 0))
        why = str_of(arena_printf(
            a, STR_FMT " accessor error: " STR_FMT " is of the type %s, expected int64",
            STR_ARG(path), STR_ARG(go_text(v)), go_type(v)));
    if (why.n)
        field_error(errs, FIELD_INVALID, &at, json_new_int(a, 0), STR_FMT, STR_ARG(why));
    else if (n < 0)
        field_error(errs, FIELD_INVALID, &at, v, "should be a non-negative integer");
    else if (n > INT32_MAX)
        field_error(errs, FIELD_INVALID, &at, v, "should be less than or equal to %d", INT32_MAX);
}

static void check_selector(const struct json *obj, struct str path, struct field_errors *errs)
{
    struct arena *a = errs->a;
    struct str why = STR("");
    struct fpath at = fpath_child(NULL, path);
    const struct json *v = value_at(obj, path, &why, a);
    if (v && v->type != JSON_STRING)
        why = str_of(arena_printf(
            a, STR_FMT " accessor error: " STR_FMT " is of the type %s, expected string",
            STR_ARG(path), STR_ARG(go_text(v)), go_type(v)));
    if (why.n)
        field_error(errs, FIELD_INVALID, &at, json_new_str(a, STR("")), STR_FMT, STR_ARG(why));
}

void crd_validate_scale(const struct kube_resource *r, const struct json *obj,
                        struct field_errors *errs)
{
    if (r->scale_spec_path.n)
        check_replicas(obj, r->scale_spec_path, errs);
    if (r->scale_status_path.n)
        check_replicas(obj, r->scale_status_path, errs);
    if (r->scale_selector_path.n)
        check_selector(obj, r->scale_selector_path, errs);
}
