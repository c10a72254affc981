/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of an operator as its declaration. What is not said is left to the host's defaults. */
#include "v1.h"

static void put_str(struct dm_text *t, const char *key, const char *s)
{
    if (s)
        dm_jw_kstr(t, key, s);
}

static void put_uint(struct dm_text *t, const char *key, unsigned v)
{
    if (v)
        dm_jw_kint(t, key, v);
}

static void put_true(struct dm_text *t, const char *key, bool v)
{
    if (!v)
        return;
    dm_jw_key(t, key);
    dm_jw_bool(t, true);
}

static void put_json(struct dm_text *t, const char *key, const char *json)
{
    if (json)
        dm_jw_kraw(t, key, (struct dm_json){ json, dm_str(json).n });
}

static void put_strings(struct dm_text *t, const char *key, const char *const *list)
{
    if (!list)
        return;
    dm_jw_key(t, key);
    dm_jw_open(t, '[');
    for (; *list; list++)
        dm_jw_str(t, *list);
    dm_jw_close(t, ']');
}

static void put_indexes(struct dm_text *t, const struct dm_index *i)
{
    if (!i)
        return;
    dm_jw_key(t, "indexes");
    dm_jw_open(t, '[');
    for (; i->name; i++) {
        dm_jw_open(t, '{');
        dm_jw_kstr(t, "name", i->name);
        put_str(t, "field", i->field);
        put_str(t, "label", i->label);
        put_true(t, "owner", i->owner);
        dm_jw_close(t, '}');
    }
    dm_jw_close(t, ']');
}

static void put_watch(struct dm_text *t, const struct dm_watch *w)
{
    dm_jw_open(t, '{');
    dm_jw_kstr(t, "id", v1_watch_id(w));
    dm_jw_type(t, w->res);
    put_strings(t, "namespaces", w->namespaces);
    put_str(t, "name", w->name);
    put_str(t, "labelSelector", w->label_selector);
    put_str(t, "fieldSelector", w->field_selector);
    put_true(t, "metadataOnly", w->metadata_only);
    put_true(t, "anyOwner", w->any_owner);
    put_strings(t, "strip", w->strip);
    put_indexes(t, w->indexes);
    put_json(t, "predicate", w->predicate);
    put_json(t, "map", w->map);
    dm_jw_close(t, '}');
}

static void put_watches(struct dm_text *t, const char *key, const struct dm_watch *w)
{
    if (!w)
        return;
    dm_jw_key(t, key);
    dm_jw_open(t, '[');
    for (; w->res; w++)
        put_watch(t, w);
    dm_jw_close(t, ']');
}

static void put_pair(struct dm_text *t, const char *key, const char *first, unsigned v,
                     const char *second, unsigned w)
{
    if (!v && !w)
        return;
    dm_jw_key(t, key);
    dm_jw_open(t, '{');
    put_uint(t, first, v);
    put_uint(t, second, w);
    dm_jw_close(t, '}');
}

static void put_controller(struct dm_text *t, const struct dm_controller *c)
{
    dm_jw_open(t, '{');
    dm_jw_kstr(t, "name", c->name);
    dm_jw_key(t, "for");
    put_watch(t, &c->primary);
    put_watches(t, "owns", c->owns);
    put_watches(t, "watches", c->watches);
    put_uint(t, "concurrency", c->concurrency);
    if (c->resync_s)
        dm_jw_kint(t, "resyncSeconds", c->resync_s < 0 ? 0 : c->resync_s);
    put_pair(t, "backoff", "baseMs", c->backoff_base_ms, "maxMs", c->backoff_max_ms);
    put_pair(t, "rate", "perSecond", c->rate_per_s, "burst", c->rate_burst);
    put_uint(t, "slackPercent", c->slack_percent);
    put_uint(t, "debounceMs", c->debounce_ms);
    dm_jw_close(t, '}');
}

static void put_config(struct dm_text *t, const struct dm_config *c)
{
    dm_jw_open(t, '{');
    dm_jw_kstr(t, "name", c->name);
    put_str(t, "configMap", c->config_map);
    put_str(t, "secret", c->secret);
    put_str(t, "namespace", c->ns);
    put_true(t, "optional", c->optional);
    put_str(t, "onChange", c->on_change ? c->on_change : "none");
    dm_jw_close(t, '}');
}

static void put_metric(struct dm_text *t, const struct dm_metric *m)
{
    dm_jw_open(t, '{');
    dm_jw_kstr(t, "name", m->name);
    dm_jw_kstr(t, "type", m->type);
    put_str(t, "help", m->help);
    put_strings(t, "labels", m->labels);
    if (m->buckets) {
        dm_jw_key(t, "buckets");
        dm_textf(t, "[%s]", m->buckets);
    }
    dm_jw_close(t, '}');
}

void v1_put_declaration(struct dm_text *t, const struct dm_operator *op)
{
    dm_jw_open(t, '{');
    dm_jw_kint(t, "abi", 1);
    put_str(t, "name", op->name);
    put_str(t, "version", op->version);
    put_true(t, "stateless", op->stateless);
    put_uint(t, "instances", op->instances);
    dm_jw_key(t, "controllers");
    dm_jw_open(t, '[');
    for (const struct dm_controller *c = op->controllers; c && c->name; c++)
        put_controller(t, c);
    dm_jw_close(t, ']');
    put_watches(t, "caches", op->caches);
    if (op->configs) {
        dm_jw_key(t, "config");
        dm_jw_open(t, '[');
        for (const struct dm_config *c = op->configs; c->name; c++)
            put_config(t, c);
        dm_jw_close(t, ']');
    }
    if (op->metrics) {
        dm_jw_key(t, "metrics");
        dm_jw_open(t, '[');
        for (const struct dm_metric *m = op->metrics; m->name; m++)
            put_metric(t, m);
        dm_jw_close(t, ']');
    }
    dm_jw_close(t, '}');
}
