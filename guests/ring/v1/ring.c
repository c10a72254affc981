/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring operator (../ring.c says what it does) for ABI v1. The host watches IN_NAMESPACE and
 * brings the object with the key, so that a hop is:
 *
 *   activation with the object of IN -> GET the object in OUT -> older nonce there: PUT; not there:
 *   POST; else nothing
 *
 * Environment: IN_NAMESPACE, OUT_NAMESPACE, HEAP_MEM_SIZE (bytes allocated, touched and kept).
 */
#include "dm/operator.h"

static const struct dm_resource test_resources = { "amurant.io", "v1", "testresources",
                                                   "TestResource", false };

/*
 * 20 bytes that tools/make-distinct replaces, so that no two operators of a benchmark share a
 * module. volatile and read, so that they stay in the module.
 */
static const volatile char compile_nonce[] = "@@COMPILE_NONCE@@@@@";

static const char *in_namespaces[2], *out_namespace;

static int64_t nonce_of(struct dm_json object)
{
    return dm_json_int(dm_json_at(object, "spec.nonce"), 0);
}

static int create(struct dm_request *r, int64_t nonce, const char *now)
{
    struct dm_text *body = dm_scratch(r);
    dm_jw_open(body, '{');
    dm_jw_type(body, &test_resources);
    dm_jw_key(body, "metadata");
    dm_jw_open(body, '{');
    dm_jw_kstr(body, "name", r->name);
    dm_jw_kstr(body, "namespace", out_namespace);
    dm_jw_close(body, '}');
    dm_jw_key(body, "spec");
    dm_jw_open(body, '{');
    dm_jw_kint(body, "nonce", nonce);
    dm_jw_kstr(body, "updated_at", now);
    dm_jw_close(body, '}');
    dm_jw_close(body, '}');
    return dm_create(r, dm_ref(&test_resources, out_namespace, NULL), dm_text_view(body), NULL);
}

/* The resourceVersion stays in it: who writes in between is not overwritten. */
static int update(struct dm_request *r, struct dm_json old, int64_t nonce, const char *now)
{
    struct dm_text *number = dm_scratch(r), *time = dm_scratch(r), *body = dm_scratch(r);
    dm_jw_int(number, nonce);
    dm_jw_str(time, now);
    const struct dm_edit edits[] = {
        { { "spec", "nonce" }, number->p },
        { { "spec", "updated_at" }, time->p },
        { { "metadata", "managedFields" }, NULL },
    };
    dm_json_edit(old, edits, sizeof(edits) / sizeof(edits[0]), body);
    return dm_update(r, dm_ref(&test_resources, out_namespace, r->name), dm_text_view(body), NULL);
}

static struct dm_result reconcile(struct dm_request *r)
{
    struct dm_json old;
    struct dm_text *now = dm_scratch(r);
    if (!dm_json_has(r->object))
        return dm_done(); /* deletions do not travel */
    int64_t nonce = nonce_of(r->object);
    dm_text_time(now, dm_wall_us(), true);
    int code = dm_get(r, dm_ref(&test_resources, out_namespace, r->name), &old);
    if (code == DM_E_NOT_FOUND)
        code = create(r, nonce, now->p);
    else if (!code && nonce > nonce_of(old))
        code = update(r, old, nonce, now->p);
    return code ? dm_fail(r, "pass on") : dm_done();
}

static void hold_memory(const char *size)
{
    int64_t n = 0;
    if (!dm_parse_i64(dm_str(size), &n) || n < 0 || n > UINT32_MAX) {
        dm_error("HEAP_MEM_SIZE is not a number of bytes, ignoring", "value=%s", size);
        return;
    }
    /* volatile: nothing reads the block, and it has to be there all the same. */
    volatile unsigned char *p = n ? dm_alloc((size_t)n) : NULL;
    for (int64_t i = 0; i < n; i += 256)
        p[i] = (unsigned char)(1 + i / 256 % 255);
}

static struct dm_controller controllers[] = {
    {
        .name = "ring",
        .reconcile = reconcile,
        .resync_s = -1,
        .primary = { .res = &test_resources, .namespaces = in_namespaces },
    },
    { 0 },
};

static int setup(void)
{
    (void)compile_nonce[0];
    in_namespaces[0] = dm_env("IN_NAMESPACE", NULL);
    out_namespace = dm_env("OUT_NAMESPACE", NULL);
    if (!in_namespaces[0] || !out_namespace) {
        dm_error("IN_NAMESPACE and OUT_NAMESPACE must be set", "");
        return -1;
    }
    hold_memory(dm_env("HEAP_MEM_SIZE", "0"));
    return 0;
}

const struct dm_operator dm_operator = {
    .name = "ring",
    .version = "1.0.0",
    .controllers = controllers,
    .setup = setup,
};
