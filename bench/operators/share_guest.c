/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operator that watches every pod and works for those with the label team=$TEAM: it writes the
 * pod's annotation `nonce` into a TestResource of $OUT_NAMESPACE.
 */
#include "dm/operator.h"

static const struct dm_resource pods = { "", "v1", "pods", "Pod", false };
static const struct dm_resource test_resources = { "amurant.io", "v1", "testresources",
                                                   "TestResource", false };
static struct dm_text predicate;
static const char *out_namespace;

static struct dm_result reconcile(struct dm_request *r)
{
    struct dm_json nonce = dm_annotation(r->object, "nonce");
    struct dm_text *body = dm_scratch(r);
    if (!dm_json_has(nonce))
        return dm_done();
    struct dm_str digits = dm_json_plain(nonce);
    struct dm_json number = { digits.p, digits.n };
    dm_jsonf(body,
             "{'apiVersion':'amurant.io/v1','kind':'TestResource','metadata':{'name':'run0'},"
             "'spec':{'nonce':%p}}",
             (const void *)&number);
    if (dm_apply(r, dm_ref(&test_resources, out_namespace, "run0"), dm_text_view(body), true, NULL))
        return dm_fail(r, "write");
    return dm_done();
}

static struct dm_controller controllers[] = {
    {
        .name = "share",
        .reconcile = reconcile,
        .resync_s = -1,
        .primary = { .res = &pods },
    },
    { 0 },
};

static int setup(void)
{
    dm_textf(&predicate, "{\"labels\":\"team=%s\"}", dm_env("TEAM", ""));
    controllers[0].primary.predicate = predicate.p;
    out_namespace = dm_env("OUT_NAMESPACE", "");
    return 0;
}

const struct dm_operator dm_operator = {
    .name = "share",
    .version = "1.0.0",
    .controllers = controllers,
    .setup = setup,
};
