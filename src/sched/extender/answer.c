/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/extender/answer.h"

#include "kube/model/field.h"

#include <errno.h>

/* ---- reading like Go ---- */

static int read_text(struct arena *a, struct str text, struct json **ret, struct err *err)
{
    if (str_is_empty(str_trim(text)))
        return err_set(err, E_PARSE, "EOF");
    return json_parse(a, text, NULL, ret, err);
}

/* The last member of that name, ignoring case; NULL: absent, or null. */
static const struct json *field(const struct json *obj, const char *name)
{
    const struct json *found = NULL;
    json_each (v, obj)
        if (str_ieq(v->key, str_of(name)))
            found = v;
    return json_is(found, JSON_NULL) ? NULL : found;
}

static int mismatch(const struct json *v, const char *where, const char *type, struct err *err)
{
    return err_set(err, E_PARSE, "json: cannot unmarshal %s into Go %s of type %s",
                   field_go_kind(v), where, type);
}

static int want(const struct json *v, enum json_type is, const char *where, const char *type,
                struct err *err)
{
    return !v || v->type == JSON_NULL || v->type == is ? 0 : mismatch(v, where, type, err);
}

static int read_strings(struct arena *a, const struct json *list, const char *where,
                        struct str **ret, size_t *ret_n, struct err *err)
{
    int r = want(list, JSON_ARRAY, where, "[]string", err);
    if (r < 0 || !list)
        return r;
    struct str *p = arena_try(a, ((size_t)list->n + 1) * sizeof(*p));
    if (!p)
        return err_set(err, -EMSGSIZE, "the answer is too large");
    size_t n = 0;
    json_each (v, list) {
        r = want(v, JSON_STRING, where, "string", err);
        if (r < 0)
            return r;
        p[n++] = json_str(v);
    }
    *ret = p;
    *ret_n = n;
    return 0;
}

/* ---- filter ---- */

static int read_failed(struct arena *a, const struct json *map, const char *where,
                       struct extender_failed **ret, size_t *ret_n, struct err *err)
{
    int r = want(map, JSON_OBJECT, where, "v1.FailedNodesMap", err);
    if (r < 0 || !map)
        return r;
    struct extender_failed *p = arena_try(a, ((size_t)map->n + 1) * sizeof(*p));
    if (!p)
        return err_set(err, -EMSGSIZE, "the answer is too large");
    size_t n = 0;
    json_each (v, map) {
        r = want(v, JSON_STRING, where, "string", err);
        if (r < 0)
            return r;
        p[n++] = (struct extender_failed){ v->key, json_str(v) };
    }
    *ret = p;
    *ret_n = n;
    return 0;
}

/* Reads the names from a NodeList. */
static int read_nodes(struct arena *a, const struct json *list, struct extender_filtered *ret,
                      struct err *err)
{
    static const char where[] = "struct field ExtenderFilterResult.Nodes.items";
    int r = want(list, JSON_OBJECT, "struct field ExtenderFilterResult.Nodes", "v1.NodeList", err);
    const struct json *items = field(list, "items");
    if (r >= 0)
        r = want(items, JSON_ARRAY, where, "[]v1.Node", err);
    if (r < 0)
        return r;
    ret->nodes = arena_try(a, ((size_t)(items ? items->n : 0) + 1) * sizeof(*ret->nodes));
    if (!ret->nodes)
        return err_set(err, -EMSGSIZE, "the answer is too large");
    json_each (node, items) {
        r = want(node, JSON_OBJECT, where, "v1.Node", err);
        if (r < 0)
            return r;
        ret->nodes[ret->n_nodes++] = json_str(field(field(node, "metadata"), "name"));
    }
    return 0;
}

int extender_read_filtered(struct arena *a, struct str text, bool by_name,
                           struct extender_filtered *ret, struct err *err)
{
    struct json *json;
    struct extender_filtered f = { 0 };
    int r = read_text(a, text, &json, err);
    if (r >= 0)
        r = want(json, JSON_OBJECT, "value", "v1.ExtenderFilterResult", err);
    if (r < 0)
        return r;
    const struct json *names = field(json, "NodeNames"), *nodes = field(json, "Nodes");
    const struct json *error = field(json, "Error");
    r = want(error, JSON_STRING, "struct field ExtenderFilterResult.Error", "string", err);
    if (r < 0)
        return r;
    f.error = json_str(error);
    f.has_nodes = (by_name && names) || nodes;
    if (by_name && names)
        r = read_strings(a, names, "struct field ExtenderFilterResult.NodeNames", &f.nodes,
                         &f.n_nodes, err);
    else if (nodes)
        r = read_nodes(a, nodes, &f, err);
    if (r >= 0)
        r = read_failed(a, field(json, "FailedNodes"),
                        "struct field ExtenderFilterResult.FailedNodes", &f.failed, &f.n_failed,
                        err);
    if (r >= 0)
        r = read_failed(a, field(json, "FailedAndUnresolvableNodes"),
                        "struct field ExtenderFilterResult.FailedAndUnresolvableNodes",
                        &f.unresolvable, &f.n_unresolvable, err);
    if (r >= 0)
        *ret = f;
    return r;
}

/* ---- other answers ---- */

int extender_read_scores(struct arena *a, struct str text, struct extender_score **ret,
                         size_t *ret_n, struct err *err)
{
    struct json *json;
    int r = read_text(a, text, &json, err);
    if (r >= 0)
        r = want(json, JSON_ARRAY, "value", "v1.HostPriorityList", err);
    if (r < 0)
        return r;
    struct extender_score *p =
        arena_try(a, ((size_t)(json->type == JSON_ARRAY ? json->n : 0) + 1) * sizeof(*p));
    if (!p)
        return err_set(err, -EMSGSIZE, "the answer is too large");
    size_t n = 0;
    json_each (v, json) {
        const struct json *host = field(v, "Host"), *score = field(v, "Score");
        r = want(v, JSON_OBJECT, "value", "v1.HostPriority", err);
        if (r >= 0)
            r = want(host, JSON_STRING, "struct field HostPriority.Host", "string", err);
        if (r < 0)
            return r;
        p[n] = (struct extender_score){ .node = json_str(host) };
        if (score && json_int(score, &p[n].score) < 0)
            return mismatch(score, "struct field HostPriority.Score", "int64", err);
        n++;
    }
    *ret = p;
    *ret_n = n;
    return 0;
}

static int read_victims_of(struct arena *a, const struct json *v, struct extender_victims *ret,
                           struct err *err)
{
    const struct json *pods = field(v, "Pods"), *violations = field(v, "NumPDBViolations");
    int r = want(v, JSON_OBJECT, "value", "v1.MetaVictims", err);
    if (r >= 0)
        r = want(pods, JSON_ARRAY, "struct field MetaVictims.Pods", "[]*v1.MetaPod", err);
    if (r < 0)
        return r;
    *ret = (struct extender_victims){ .node = v->key };
    if (violations && json_int(violations, &ret->n_violations) < 0)
        return mismatch(violations, "struct field MetaVictims.NumPDBViolations", "int64", err);
    ret->uids = arena_try(a, ((size_t)(pods ? pods->n : 0) + 1) * sizeof(*ret->uids));
    if (!ret->uids)
        return err_set(err, -EMSGSIZE, "the answer is too large");
    json_each (pod, pods) {
        const struct json *uid = field(pod, "UID");
        r = want(pod, JSON_OBJECT, "value", "v1.MetaPod", err);
        if (r >= 0)
            r = want(uid, JSON_STRING, "struct field MetaPod.UID", "string", err);
        if (r < 0)
            return r;
        ret->uids[ret->n_uids++] = json_str(uid);
    }
    return 0;
}

int extender_read_victims(struct arena *a, struct str text, struct extender_victims **ret,
                          size_t *ret_n, struct err *err)
{
    struct json *json;
    int r = read_text(a, text, &json, err);
    if (r >= 0)
        r = want(json, JSON_OBJECT, "value", "v1.ExtenderPreemptionResult", err);
    if (r < 0)
        return r;
    const struct json *map = field(json, "NodeNameToMetaVictims");
    r = want(map, JSON_OBJECT, "struct field ExtenderPreemptionResult.NodeNameToMetaVictims",
             "map[string]*v1.MetaVictims", err);
    if (r < 0)
        return r;
    struct extender_victims *p = arena_try(a, ((size_t)(map ? map->n : 0) + 1) * sizeof(*p));
    if (!p)
        return err_set(err, -EMSGSIZE, "the answer is too large");
    size_t n = 0;
    json_each (v, map) {
        r = read_victims_of(a, v, &p[n++], err);
        if (r < 0)
            return r;
    }
    *ret = p;
    *ret_n = n;
    return 0;
}

int extender_read_bound(struct arena *a, struct str text, struct str *ret_error, struct err *err)
{
    struct json *json;
    int r = read_text(a, text, &json, err);
    if (r >= 0)
        r = want(json, JSON_OBJECT, "value", "v1.ExtenderBindingResult", err);
    if (r < 0)
        return r;
    const struct json *error = field(json, "Error");
    r = want(error, JSON_STRING, "struct field ExtenderBindingResult.Error", "string", err);
    if (r >= 0)
        *ret_error = json_str(error);
    return r;
}
