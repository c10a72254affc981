/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of objects; see filter.h. */
#include "api/filter.h"

#include "api/placed.h"

static struct json *parse_labels(struct request *rq, struct filter *f)
{
    struct err err = { 0 };
    if (selector_parse_labels(&rq->arena, route_query(&rq->route, "labelSelector"), &f->labels,
                              &err) < 0)
        return status_bad_request(&rq->arena, str_copy_arena(&rq->arena, str_of(err_text(&err))));
    return NULL;
}

static struct json *parse_fields(struct request *rq, struct filter *f)
{
    struct err err = { 0 };
    const struct kube_resource *res = rq->res;
    int r = selector_parse_fields(&rq->arena, route_query(&rq->route, "fieldSelector"), &f->fields,
                                  &err);
    if (r >= 0)
        r = selector_check_fields(&f->fields, res->selectable_fields, res->n_selectable_fields,
                                  &err);
    if (r < 0)
        return status_bad_request(&rq->arena, str_copy_arena(&rq->arena, str_of(err_text(&err))));
    return NULL;
}

/* A selector that names only one name or namespace is answered from the keys. */
static void use_field_keys(struct filter *f)
{
    struct str name = selector_required_value(&f->fields, "metadata.name");
    struct str ns = selector_required_value(&f->fields, "metadata.namespace");
    if (name.n && f->name.n == 0)
        f->name = name;
    if (ns.n && f->ns.n == 0 && f->res->namespaced)
        f->ns = ns;
    f->by_key_only = f->labels.n == 0 && !f->labels.nothing &&
                     (f->fields.n == 0 || (f->fields.n == 1 && name.n && str_eq(f->name, name)));
}

/* Each node lists its own pods, a few out of very many. */
static void use_index(struct request *rq, struct filter *f)
{
    if (f->res->group.n || !str_is(f->res->plural, "pods"))
        return;
    struct str node = selector_required_value(&f->fields, "spec.nodeName");
    if (placed_is_node(node))
        f->index = placed_prefix(&rq->arena, node, STR(""));
}

struct json *filter_parse(struct request *rq, struct filter *ret)
{
    struct filter f = { .res = rq->res,
                        .prefix = key_prefix(&rq->arena, rq->res),
                        .ns = rq->res->namespaced ? rq->route.ns : STR(""),
                        .name = rq->route.name };
    struct json *no = parse_labels(rq, &f);
    if (!no)
        no = parse_fields(rq, &f);
    if (no)
        return no;
    use_field_keys(&f);
    use_index(rq, &f);
    *ret = f;
    return NULL;
}

void filter_narrow(const struct filter *f, const struct request *rq, struct store_range *range)
{
    if (f->index.n == 0 || !rq->api->needs->has_indices(rq->api, range->at_rev))
        return;
    range->index = f->index;
    range->index_root = f->prefix.n;
}

bool filter_matches_key(const struct filter *f, struct str key)
{
    if (f->ns.n == 0 && f->name.n == 0)
        return true;
    struct str ns, name;
    key_split(f->res, f->prefix, key, &ns, &name);
    return (f->ns.n == 0 || str_eq(f->ns, ns)) && (f->name.n == 0 || str_eq(f->name, name));
}

bool filter_matches_object(const struct filter *f, struct arena *scratch, const struct json *obj)
{
    return selector_matches_labels_budget(&f->labels, json_path(obj, "metadata", "labels", NULL),
                                          scratch->budget) &&
           selector_matches_fields(scratch, &f->fields, f->res->schema, obj);
}

bool filter_matches_value(const struct filter *f, struct arena *scratch, struct encode_stored st)
{
    if (f->by_key_only)
        return true;
    struct json *obj;
    return encode_read_stored(scratch, f->res, st, &obj, NULL) >= 0 &&
           filter_matches_object(f, scratch, obj);
}

struct encode_stored filter_stored(const struct api *api, const struct kube_resource *res,
                                   const struct store_kv *kv)
{
    return (struct encode_stored){ .value = kv->value,
                                   .rev = kv->mod_rev,
                                   .is_current =
                                       kv->mod_rev > api->needs->schema_revision(api, res) };
}
