/* SPDX-License-Identifier: Apache-2.0 */
/* What all kinds have in common; see object.h. */
#include "sched/object/object.h"

#include "base/slab.h"
#include "sched/object/node.h"

#include <assert.h>

static const struct sched_kind_ops *const kind_ops[SCHED_KIND_COUNT] = {
#define KIND_OPS(id, type, group_version, plural, namespaced) [SCHED_##id] = &sched_##type##_ops,
    SCHED_KINDS(KIND_OPS)
#undef KIND_OPS
};

static const struct {
    const char *group_version, *plural;
    bool is_namespaced;
} kinds[SCHED_KIND_COUNT] = {
#define KIND_ROW(id, type, group_version, plural, namespaced)                                      \
    [SCHED_##id] = { group_version, plural, namespaced },
    SCHED_KINDS(KIND_ROW)
#undef KIND_ROW
};

const char *sched_kind_group_version(enum sched_kind kind)
{
    return kinds[kind].group_version;
}

const char *sched_kind_plural(enum sched_kind kind)
{
    return kinds[kind].plural;
}

bool sched_kind_is_namespaced(enum sched_kind kind)
{
    return kinds[kind].is_namespaced;
}

static int read_head(struct sched_object *o, enum sched_kind kind, const struct json *json,
                     struct err *err)
{
    const struct json *meta = json_getc(json, "metadata");
    struct str ns = json_get_str(meta, "namespace"), name = json_get_str(meta, "name");
    struct str uid = json_get_str(meta, "uid");
    bool is_namespaced = kinds[kind].is_namespaced;
    if (name.n == 0)
        return err_set(err, E_INVALID, "metadata.name: Required value");
    if (is_namespaced && ns.n == 0)
        return err_set(err, E_INVALID, "metadata.namespace: Required value");
    if (ns.n + name.n + uid.n > SCHED_OBJECT_MAX_BYTES)
        return err_set(err, E_INVALID, "metadata: Too long");
    ns.n = is_namespaced ? ns.n : 0;
    size_t key = ns.n + (is_namespaced ? 1 : 0) + name.n;
    char *at = o->text = slab_alloc(key + uid.n + 1);
    memcpy(at, ns.n ? ns.p : "", ns.n);
    o->namespace = str_n(at, ns.n);
    if (is_namespaced)
        at[ns.n] = '/';
    memcpy(at + key - name.n, name.p, name.n);
    o->name = str_n(at + key - name.n, name.n);
    memcpy(at + key, uid.n ? uid.p : "", uid.n);
    o->uid = uid.n > 0 ? str_n(at + key, uid.n) : str_n(at, key);
    o->kind = kind;
    o->refs = 1;
    if (parse_u64(json_get_str(meta, "resourceVersion"), 0, UINT64_MAX, &o->rv) < 0)
        o->rv = 0;
    return 0;
}

static struct str *json_of(struct sched_object *o)
{
    return o->kind == SCHED_POD    ? &((struct sched_pod *)o)->json
           : o->kind == SCHED_NODE ? &((struct sched_node *)o)->json
                                   : NULL;
}

static struct sched_encoded *encoded_of(struct sched_object *o)
{
    return o->kind == SCHED_POD    ? ((struct sched_pod *)o)->encoded
           : o->kind == SCHED_NODE ? ((struct sched_node *)o)->encoded
                                   : NULL;
}

static int keep_json(struct sched_object *o, const struct json *json, struct err *err)
{
    struct str *to = json_of(o);
    if (!to)
        return 0;
    struct buf text = BUF_INIT(SCHED_OBJECT_MAX_BYTES);
    int r = json_write(&text, json);
    if (r < 0) {
        buf_fini(&text);
        return err_set(err, E_INVALID, "larger than %zu bytes", SCHED_OBJECT_MAX_BYTES);
    }
    to->p = buf_take(&text, &to->n);
    return 0;
}

static void object_free(struct intern_table *w, struct sched_object *o)
{
    struct sched_encoded *encoded = encoded_of(o);
    if (encoded)
        encoded->end(encoded);
    kind_ops[o->kind]->fini(w, o);
    if (json_of(o))
        free((char *)json_of(o)->p);
    slab_free(o->text);
    slab_free(o);
}

int sched_object_read(struct intern_table *w, enum sched_kind kind, const struct json *json,
                      bool keeps_json, struct sched_object **ret, struct err *err)
{
    const struct sched_kind_ops *ops = kind_ops[kind];
    if (!json_is(json, JSON_OBJECT))
        return err_set(err, E_INVALID, "not an object");
    struct sched_object *o = slab_alloc(ops->size);
    int r = read_head(o, kind, json, err);
    if (r < 0) {
        slab_free(o);
        return r;
    }
    r = ops->read(w, o, json, err);
    if (r >= 0 && keeps_json)
        r = keep_json(o, json, err);
    if (r < 0) {
        (void)err_ctx(err, r, "%s '" STR_FMT "'", kinds[kind].plural, STR_ARG(sched_object_key(o)));
        object_free(w, o);
        return r;
    }
    *ret = o;
    return 0;
}

void sched_object_unref(struct intern_table *w, void *object)
{
    struct sched_object *o = object;
    if (!o)
        return;
    assert(o->refs > 0);
    if (--o->refs == 0)
        object_free(w, o);
}
