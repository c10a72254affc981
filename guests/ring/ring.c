/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring operator of the wasm-operator paper: operator i copies the nonce of every TestResource
 * in its IN_NAMESPACE to the object of the same name in its OUT_NAMESPACE, which is the next one's
 * IN_NAMESPACE. One object thus travels around a ring of operators, one hop per reconcile:
 *
 *   event in IN -> GET the object in OUT -> older nonce there: PUT; not there: POST; else nothing
 *
 * Environment: IN_NAMESPACE, OUT_NAMESPACE, HEAP_MEM_SIZE (bytes allocated, touched and kept,
 * default 0; the benchmark's way to make operators larger).
 */
#include "ring.h"

#include "dm/kube.h"

#include <stdlib.h>
#include <string.h>

#define RETRY_MS 1000

static const struct dm_resource test_resources = { "amurant.io", "v1", "testresources",
                                                   "TestResource", false };

struct ring {
    const char *in, *out;
    struct dm_cache *objects;
};

/* All that a hop needs of an object: its nonce, in decimal. */
static void keep_nonce(struct dm_json obj, struct dm_text *out)
{
    dm_textf(out, "%lld", (long long)dm_json_int(dm_json_at(obj, "spec.nonce"), 0));
}

static int64_t nonce_of(const struct dm_object *o)
{
    int64_t nonce = 0;
    (void)dm_parse_i64(o->kept, &nonce);
    return nonce;
}

static void put_now(struct dm_text *t)
{
    struct dm_text now = { 0 };
    dm_text_time(&now, dm_wall_us(), true);
    dm_jw_str(t, now.p);
    dm_text_fini(&now);
}

static void put_new(struct dm_work *w, int64_t nonce, struct dm_text *t)
{
    const struct ring *ring = w->user;
    dm_jw_open(t, '{');
    dm_jw_type(t, &test_resources);
    dm_jw_key(t, "metadata");
    dm_jw_open(t, '{');
    dm_jw_kstr(t, "name", w->name);
    dm_jw_kstr(t, "namespace", ring->out);
    dm_jw_close(t, '}');
    dm_jw_key(t, "spec");
    dm_jw_open(t, '{');
    dm_jw_kint(t, "nonce", nonce);
    dm_jw_key(t, "updated_at");
    put_now(t);
    dm_jw_close(t, '}');
    dm_jw_close(t, '}');
}

static void put_changed(struct dm_json old, int64_t nonce, struct dm_text *t)
{
    struct dm_text number = { 0 }, now = { 0 };
    dm_jw_int(&number, nonce);
    put_now(&now);
    const struct dm_edit edits[] = {
        { { "spec", "nonce" }, number.p },
        { { "spec", "updated_at" }, now.p },
        { { "metadata", "managedFields" }, NULL },
    };
    dm_json_edit(old, edits, sizeof(edits) / sizeof(edits[0]), t);
    dm_text_fini(&now);
    dm_text_fini(&number);
}

static enum dm_verdict pass_on(struct dm_work *w, struct dm_json old, struct dm_text *out)
{
    const struct ring *ring = w->user;
    const struct dm_object *in = dm_cache_get(ring->objects, w->ns, w->name);
    if (!in)
        return DM_KEEP;
    if (!dm_json_has(old)) {
        put_new(w, nonce_of(in), out);
        return DM_WRITE;
    }
    if (nonce_of(in) <= dm_json_int(dm_json_at(old, "spec.nonce"), 0))
        return DM_KEEP;
    put_changed(old, nonce_of(in), out);
    return DM_WRITE;
}

static void on_passed(struct dm_work *w, const struct dm_reply *r)
{
    if (dm_ok(r) || r->unchanged) {
        dm_done(w);
        return;
    }
    dm_log(DM_WARN, "hop failed, retrying object=%s status=%d", w->name, r->status);
    dm_again_after(w, RETRY_MS);
}

static void reconcile(struct dm_work *w)
{
    const struct ring *ring = w->user;
    if (!dm_cache_get(ring->objects, w->ns, w->name)) {
        dm_done(w); /* deletions do not travel */
        return;
    }
    dm_upsert(w, &test_resources, ring->out, w->name, NULL, pass_on, on_passed);
}

void ring_start(const char *in, const char *out)
{
    struct ring *ring = dm_zalloc(sizeof(*ring));
    ring->in = in;
    ring->out = out;
    struct dm_controller *ctl =
        dm_control(&(struct dm_control){ .name = "ring", .reconcile = reconcile, .user = ring });
    ring->objects = dm_cache_start(&(struct dm_watch){
        .res = &test_resources,
        .ns = in,
        .keep = keep_nonce,
        .changed = dm_enqueue_changed,
        .arg = ctl,
    });
    dm_control_needs(ctl, ring->objects);
}

void ring_hold_memory(const char *size)
{
    int64_t n = 0;
    if (!dm_parse_i64(dm_str(size), &n) || n < 0 || n > UINT32_MAX) {
        dm_log(DM_ERROR, "HEAP_MEM_SIZE is not a number of bytes value=%s, ignoring", size);
        return;
    }
    /* volatile: nothing reads the block, and it has to be there all the same. */
    volatile unsigned char *p = n ? dm_alloc((size_t)n) : NULL;
    for (int64_t i = 0; i < n; i += 256)
        p[i] = (unsigned char)(1 + i / 256 % 255);
}
