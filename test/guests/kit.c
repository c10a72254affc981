/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operator that uses all of the C SDK for ABI v1, for the test that every call of it means on
 * the real host what its header says.
 *
 * For each ConfigMap labelled kit=primary it keeps a copy "made-NAME" of the ConfigMap that
 * data.source names, behind the prefix of its settings; both kinds of changes bring it back.
 * data.do asks for more:
 *
 *   verbs      create, update, all patches, apply, delete, each with a result and an error
 *   cache      reads from the cache and from the API
 *   again      once more after a while
 *   enqueue    another key
 *   give-up    fail until something changes
 *   fail       fail, and see that it is tried again
 */
#include "dm/operator.h"

#include <string.h>

enum { METRIC_COPIES, METRIC_SIZE };

static const struct dm_resource deployments = { "apps", "v1", "deployments", "Deployment", false };
static char label_selector[64];
static unsigned starts; /* memory that sleeps with the guest */

static const char *data(struct dm_request *r, const char *key)
{
    return dm_json_string(dm_json_member(dm_json_member(r->object, "data"), key), &r->arena);
}

static void say(const char *what, int code, const struct dm_request *r)
{
    dm_info("kit", "what=%s code=%d status=%d reason=%s", what, code, r->error.status,
            r->error.reason);
}

/* ---- the copy ---- */

static const char *prefix(struct dm_request *r)
{
    struct dm_json config;
    if (dm_config(r, "settings", &config) < 0)
        return "";
    return dm_json_string(dm_json_at(config, "data.prefix"), &r->arena);
}

static int keep_copy(struct dm_request *r)
{
    struct dm_json source;
    int code = dm_cache_get(r, "sources", r->ns, data(r, "source"), &source);
    if (code < 0)
        return code == DM_E_NOT_FOUND ? 0 : code;
    struct dm_text *name = dm_scratch(r), *body = dm_scratch(r), *owner = dm_scratch(r),
                   *text = dm_scratch(r);
    dm_textf(name, "made-%s", r->name);
    dm_textf(text, "%s%s", prefix(r), dm_json_string(dm_json_at(source, "data.text"), &r->arena));
    dm_jw_owner(owner, r->controller->primary.res, r->object, true);
    dm_jsonf(body,
             "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':%s,'labels':{'kit':'made'},"
             "'ownerReferences':[%p]},'data':{'text':%s}}",
             name->p, &(struct dm_json){ owner->p, owner->n }, text->p);
    code = dm_apply(r, dm_ref(&dm_configmaps, r->ns, name->p), dm_text_view(body), true, NULL);
    if (code == 0) {
        dm_metric(METRIC_COPIES, 1, "ConfigMap");
        dm_metric(METRIC_SIZE, (double)text->n);
    }
    return code;
}

/* ---- more ---- */

static int name_of(struct dm_request *r, struct dm_json object, void *arg)
{
    struct dm_str name = dm_meta(object, "name");
    struct dm_str key = dm_json_plain(dm_json_member(object, "name")); /* of the view "keys" */
    dm_textf(arg, "%.*s,", (int)(name.n ? name.n : key.n), name.n ? name.p : key.p);
    return 0;
}

static void do_verbs(struct dm_request *r)
{
    struct dm_ref it = dm_ref(&dm_configmaps, r->ns, "tried");
    struct dm_json got;
    struct dm_str body = DM_STR("{\"metadata\":{\"name\":\"tried\"},\"data\":{\"n\":\"1\"}}");
    struct dm_text *stale = dm_scratch(r);
    say("create", dm_create(r, it, body, &got), r);
    const char *uid = dm_json_string(dm_json_at(got, "metadata.uid"), &r->arena);
    say("create-again", dm_create(r, it, body, NULL), r);
    dm_jsonf(stale, "{'metadata':{'name':'tried','resourceVersion':'1'}}");
    say("update-stale", dm_update(r, it, dm_text_view(stale), NULL), r);
    say("update",
        dm_update(r, it, DM_STR("{\"metadata\":{\"name\":\"tried\"},\"data\":{\"n\":\"2\"}}"),
                  NULL),
        r);
    say("json",
        dm_patch(r, it, DM_PATCH_JSON,
                 DM_STR("[{\"op\":\"test\",\"path\":\"/data/n\",\"value\":\"2\"}]"), NULL),
        r);
    say("merge", dm_patch(r, it, DM_PATCH_MERGE, DM_STR("{\"data\":{\"m\":\"3\"}}"), NULL), r);
    say("strategic", dm_patch(r, it, DM_PATCH_STRATEGIC, DM_STR("{\"data\":{\"s\":\"4\"}}"), &got),
        r);
    dm_info("kit", "what=data json=%.*s", (int)dm_json_member(got, "data").n,
            dm_json_member(got, "data").p);
    say("invalid", dm_patch(r, it, DM_PATCH_MERGE, DM_STR("{\"data\":{\"no good\":\"\"}}"), NULL),
        r);
    dm_info("kit", "what=cause field=%s", dm_json_has(r->error.causes) ? "told" : "none");
    say("forbidden", dm_get(r, dm_ref(&deployments, r->ns, "d"), NULL), r);
    say("delete-another", dm_delete(r, it, &(struct dm_delete){ .uid = "no such uid" }), r);
    say("delete", dm_delete(r, it, &(struct dm_delete){ .uid = uid }), r);
    say("delete-again", dm_delete(r, it, NULL), r);
}

static void do_cache(struct dm_request *r)
{
    struct dm_text *names = dm_scratch(r), *listed = dm_scratch(r);
    struct dm_json got;
    struct dm_query by_source = { .watch = "configmaps",
                                  .ns = r->ns,
                                  .index = "bySource",
                                  .value = data(r, "source"),
                                  .view = "keys",
                                  .limit = 1,
                                  .consistent = true };
    say("each", dm_cache_each(r, &by_source, name_of, names), r);
    dm_info("kit", "what=users names=%s", names->p);
    struct dm_list sources = {
        .res = &dm_configmaps, .ns = r->ns, .label_selector = "kit=source", .limit = 1
    };
    say("list", dm_list_each(r, &sources, name_of, listed), r);
    dm_info("kit", "what=sources names=%s", listed->p ? listed->p : "");
    say("consistent", dm_cache_get_consistent(r, "sources", r->ns, data(r, "source"), &got), r);
    say("absent", dm_cache_get(r, "sources", r->ns, "nobody", &got), r);
    say("undeclared", dm_cache_get(r, "nothing", r->ns, "x", &got), r);
    say("no-config", dm_config(r, "nothing", &got), r);
}

static struct dm_result reconcile(struct dm_request *r)
{
    if (!dm_json_has(r->object))
        return dm_done();
    const char *what = data(r, "do");
    dm_info("kit", "what=run name=%s reasons=%u attempt=%u starts=%u", r->name, r->reasons,
            r->attempt, starts);
    if (strcmp(what, "verbs") == 0)
        do_verbs(r);
    if (strcmp(what, "cache") == 0)
        do_cache(r);
    if (strcmp(what, "enqueue") == 0)
        dm_enqueue("kit", r->ns, data(r, "other"), 1, "high");
    if (strcmp(what, "give-up") == 0)
        return dm_give_up(r, "asked to give up");
    if (strcmp(what, "fail") == 0)
        return r->attempt < 2 ? dm_fail(r, "asked to fail") : dm_done();
    if (strcmp(what, "again") == 0 && !(r->reasons & DM_REASON_REQUEUE))
        return dm_again_after(50);
    return keep_copy(r) < 0 ? dm_fail(r, "copy") : dm_done();
}

static struct dm_result on_config(struct dm_request *r, const char *config)
{
    struct dm_json got;
    int code = dm_config(r, config, &got);
    struct dm_str v = code < 0 ? DM_STR("") : dm_json_plain(dm_json_at(got, "data.word"));
    dm_info("kit", "what=config name=%s word=%.*s", config, (int)v.n, v.p);
    return dm_done();
}

/* ---- the operator ---- */

/* The label is from the environment, which const tables could not have. */
static int setup(void)
{
    struct dm_text t = { 0 };
    dm_textf(&t, "kit=%s", dm_env("PRIMARY", "primary"));
    if (t.n >= sizeof(label_selector))
        return -1;
    memcpy(label_selector, t.p, t.n + 1);
    dm_text_fini(&t);
    starts++;
    return 0;
}

static const struct dm_index indexes[] = { { .name = "bySource", .field = ".data.source" },
                                           { .name = NULL } };
static const struct dm_watch owned[] = {
    { .id = "made", .res = &dm_configmaps, .label_selector = "kit=made" },
    { .res = NULL },
};
static const struct dm_watch mapped[] = {
    { .id = "sources",
      .res = &dm_configmaps,
      .label_selector = "kit=source",
      .map = DM_MAP_INDEX("bySource", "name") },
    { .res = NULL },
};
static const struct dm_controller controllers[] = {
    {
        .name = "kit",
        .reconcile = reconcile,
        .primary = { .res = &dm_configmaps,
                     .label_selector = label_selector,
                     .indexes = indexes,
                     .predicate = DM_OR(DM_CHANGED("resourceVersion"), DM_NOT(DM_ON("update"))) },
        .owns = owned,
        .watches = mapped,
        .backoff_base_ms = 5,
        .backoff_max_ms = 1000,
    },
    { .name = NULL },
};
static const struct dm_config configs[] = {
    { .name = "settings",
      .config_map = "kit-settings",
      .optional = true,
      .on_change = "reconcile" },
    { .name = "word", .secret = "kit-word", .optional = true, .on_change = "activate" },
    { .name = NULL },
};
static const char *const by_kind[] = { "kind", NULL };
static const struct dm_metric metrics[] = {
    [METRIC_COPIES] = { "kit_copies_total", "counter", "Copies written.", by_kind, NULL },
    [METRIC_SIZE] = { "kit_copy_bytes", "histogram", "Their size.", NULL, "4,16,64" },
    { .name = NULL },
};

const struct dm_operator dm_operator = {
    .name = "kit",
    .version = "1.0.0",
    .controllers = controllers,
    .configs = configs,
    .metrics = metrics,
    .setup = setup,
    .on_config = on_config,
};
