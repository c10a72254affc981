/* SPDX-License-Identifier: Apache-2.0 */
#include "dm/object.h"

#include "dm/mem.h"
#include "dm/system.h"

const struct dm_resource dm_namespaces = { "", "v1", "namespaces", "Namespace", true };
const struct dm_resource dm_configmaps = { "", "v1", "configmaps", "ConfigMap", false };
const struct dm_resource dm_secrets = { "", "v1", "secrets", "Secret", false };

static void put_segment(struct dm_text *t, const char *prefix, const char *s)
{
    if (!s || !*s)
        return;
    dm_textf(t, "%s", prefix);
    dm_text_uri(t, dm_str(s));
}

void dm_kube_path(struct dm_text *t, const struct dm_resource *res, const char *ns,
                  const char *name, const char *sub)
{
    dm_textf(t, *res->group ? "/apis" : "/api");
    put_segment(t, "/", res->group);
    put_segment(t, "/", res->version);
    if (!res->cluster_scoped)
        put_segment(t, "/namespaces/", ns);
    put_segment(t, "/", res->plural);
    put_segment(t, "/", name);
    put_segment(t, "/", sub);
}

struct dm_str dm_meta(struct dm_json obj, const char *member)
{
    return dm_json_plain(dm_json_member(dm_json_member(obj, "metadata"), member));
}

struct dm_json dm_label(struct dm_json obj, const char *key)
{
    return dm_json_member(dm_json_at(obj, "metadata.labels"), key);
}

struct dm_json dm_annotation(struct dm_json obj, const char *key)
{
    return dm_json_member(dm_json_at(obj, "metadata.annotations"), key);
}

bool dm_is_deleting(struct dm_json obj)
{
    return dm_json_has(dm_json_at(obj, "metadata.deletionTimestamp"));
}

void dm_jw_type(struct dm_text *t, const struct dm_resource *res)
{
    struct dm_text version = { 0 };
    dm_textf(&version, "%s%s%s", res->group, *res->group ? "/" : "", res->version);
    dm_jw_kstr(t, "apiVersion", version.p);
    dm_jw_kstr(t, "kind", res->kind);
    dm_text_fini(&version);
}

void dm_jw_owner(struct dm_text *t, const struct dm_resource *res, struct dm_json obj,
                 bool controller)
{
    struct dm_json meta = dm_json_member(obj, "metadata");
    dm_jw_open(t, '{');
    dm_jw_type(t, res);
    dm_jw_kraw(t, "name", dm_json_member(meta, "name"));
    dm_jw_kraw(t, "uid", dm_json_member(meta, "uid"));
    if (controller) {
        dm_jw_key(t, "controller");
        dm_jw_bool(t, true);
    }
    dm_jw_close(t, '}');
}

/* ---- finalizers ---- */

bool dm_has_finalizer(struct dm_json obj, const char *finalizer)
{
    for (struct dm_json_iter it = dm_json_iter(dm_json_at(obj, "metadata.finalizers"));
         dm_json_next(&it);)
        if (dm_json_is(it.value, finalizer))
            return true;
    return false;
}

void dm_jw_finalizers(struct dm_text *t, struct dm_json obj, const char *finalizer, bool present)
{
    struct dm_json meta = dm_json_member(obj, "metadata");
    dm_jw_open(t, '{');
    dm_jw_key(t, "metadata");
    dm_jw_open(t, '{');
    dm_jw_kraw(t, "resourceVersion", dm_json_member(meta, "resourceVersion"));
    dm_jw_key(t, "finalizers");
    dm_jw_open(t, '[');
    for (struct dm_json_iter it = dm_json_iter(dm_json_member(meta, "finalizers"));
         dm_json_next(&it);)
        if (!dm_json_is(it.value, finalizer))
            dm_jw_raw(t, it.value);
    if (present)
        dm_jw_str(t, finalizer);
    dm_jw_close(t, ']');
    dm_jw_close(t, '}');
    dm_jw_close(t, '}');
}

/* ---- conditions ---- */

static struct dm_json find_condition(struct dm_json conditions, const char *type)
{
    for (struct dm_json_iter it = dm_json_iter(conditions); dm_json_next(&it);)
        if (dm_json_is(dm_json_member(it.value, "type"), type))
            return it.value;
    return (struct dm_json){ 0 };
}

bool dm_jw_condition(struct dm_text *t, struct dm_json conditions, const struct dm_condition *c)
{
    struct dm_json old = find_condition(conditions, c->type);
    bool same_status = dm_json_is(dm_json_member(old, "status"), c->status);
    bool same = same_status && dm_json_is(dm_json_member(old, "reason"), c->reason) &&
                dm_json_is(dm_json_member(old, "message"), c->message) &&
                dm_json_int(dm_json_member(old, "observedGeneration"), -1) == c->generation;
    dm_jw_open(t, '[');
    for (struct dm_json_iter it = dm_json_iter(conditions); dm_json_next(&it);)
        if (it.value.p != old.p)
            dm_jw_raw(t, it.value);
    dm_jw_open(t, '{');
    dm_jw_kstr(t, "type", c->type);
    dm_jw_kstr(t, "status", c->status);
    dm_jw_kint(t, "observedGeneration", c->generation);
    if (same_status) {
        dm_jw_kraw(t, "lastTransitionTime", dm_json_member(old, "lastTransitionTime"));
    } else {
        struct dm_text now = { 0 };
        dm_text_time(&now, dm_wall_us(), false);
        dm_jw_kstr(t, "lastTransitionTime", now.p);
        dm_text_fini(&now);
    }
    dm_jw_kstr(t, "reason", c->reason);
    dm_jw_kstr(t, "message", c->message);
    dm_jw_close(t, '}');
    dm_jw_close(t, ']');
    return !same;
}

/* ---- label selectors ---- */

static bool is_listed(struct dm_json values, struct dm_json v)
{
    for (struct dm_json_iter it = dm_json_iter(values); dm_json_next(&it);)
        if (dm_json_is_str(it.value, dm_json_plain(v)))
            return true;
    return false;
}

static struct dm_json label_of(struct dm_json labels, struct dm_json key)
{
    struct dm_arena a = { 0 };
    struct dm_json v = dm_json_member(labels, dm_json_string(key, &a));
    dm_arena_fini(&a);
    return v;
}

static bool meets(struct dm_json requirement, struct dm_json labels)
{
    struct dm_json op = dm_json_member(requirement, "operator");
    struct dm_json values = dm_json_member(requirement, "values");
    struct dm_json label = label_of(labels, dm_json_member(requirement, "key"));
    if (dm_json_is(op, "In"))
        return label.p && is_listed(values, label);
    if (dm_json_is(op, "NotIn"))
        return !label.p || !is_listed(values, label);
    if (dm_json_is(op, "Exists"))
        return label.p != NULL;
    return dm_json_is(op, "DoesNotExist") && !label.p;
}

bool dm_selects(struct dm_json selector, struct dm_json labels)
{
    if (dm_json_kind(selector) != DM_JSON_OBJECT)
        return false;
    for (struct dm_json_iter it = dm_json_iter(dm_json_member(selector, "matchLabels"));
         dm_json_next(&it);)
        if (!dm_json_is_str(label_of(labels, it.key), dm_json_plain(it.value)))
            return false;
    for (struct dm_json_iter it = dm_json_iter(dm_json_member(selector, "matchExpressions"));
         dm_json_next(&it);)
        if (!meets(it.value, labels))
            return false;
    return true;
}
