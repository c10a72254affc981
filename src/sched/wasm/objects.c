/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and nodes as plugins get them; see objects.h. */
#include "sched/wasm/objects.h"

#include "kube/model/builtin.h"
#include "kube/model/proto.h"
#include "kube/model/proto_wire.h"
#include "sched/wasm/payload.h"

#include <assert.h>
#include <stdio.h>

/* ---- one object ---- */

void wobjects_fini(struct wobjects *cache)
{
    map_each (e, &cache->by_uid)
        ((struct wobject *)e->value)->cache = NULL;
    map_fini(&cache->by_uid);
}

struct wobject *wobject_ref(struct wobject *o)
{
    o->refs++;
    return o;
}

void wobject_unref(struct wobject *o)
{
    if (!o || --o->refs)
        return;
    if (o->cache && map_get(&o->cache->by_uid, str_of(o->uid)) == o)
        (void)map_del(&o->cache->by_uid, str_of(o->uid));
    free((char *)o->bytes.p);
    free(o->version);
    free(o->uid);
    free(o);
}

static int encode(enum wobject_kind kind, struct arena *a, struct json *obj, struct buf *to,
                  struct err *err)
{
    const char *name = kind == WOBJECT_POD ? "Pod" : "Node";
    const struct schema *s = builtin_schema(STR(""), STR("v1"), str_of(name));
    if (!json_is(obj, JSON_OBJECT))
        return err_set(err, E_INVALID, "a %s has to be an object", name);
    int r = schema_normalize(a, s, obj, name, NULL, NULL, err);
    if (r == 0)
        r = proto_encode(a, s, obj, to);
    return r == -EMSGSIZE
               ? err_set(err, E_LIMIT, "a %s is larger than %zu bytes", name, WOBJECT_MAX_BYTES)
               : r;
}

static struct wobject *wobject_new(struct buf *bytes)
{
    struct wobject *o = xnew(struct wobject);
    size_t n;
    char *p = buf_take(bytes, &n);
    o->refs = 1;
    o->bytes = str_n(xrealloc(p, n + 1), n); /* the buffer had room for more */
    return o;
}

int wobject_get(struct wobjects *cache, enum wobject_kind kind, struct arena *a, struct json *obj,
                struct wobject **ret, struct err *err)
{
    struct str uid = json_str(json_path(obj, "metadata", "uid", NULL));
    struct str version = json_str(json_path(obj, "metadata", "resourceVersion", NULL));
    bool is_cached = cache && uid.n && version.n;
    struct wobject *known = is_cached ? map_get(&cache->by_uid, uid) : NULL;
    if (known && str_is(version, known->version)) {
        *ret = wobject_ref(known);
        return 0;
    }
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(WOBJECT_MAX_BYTES);
    int r = encode(kind, a, obj, &b, err);
    if (r < 0)
        return r;
    struct wobject *o = wobject_new(&b);
    if (is_cached) {
        o->uid = str_dup(uid);
        o->version = str_dup(version);
        if (known)
            (void)map_del(&cache->by_uid, uid);
        o->cache = cache;
        (void)map_put(&cache->by_uid, uid, o);
    }
    *ret = o;
    return 0;
}

/* ---- a pod's node ---- */

enum { POD_SPEC = 2, SPEC_NODE_NAME = 10 }; /* field numbers */

/* A field of a message that encode() has written. */
struct wfield {
    uint32_t number;
    struct str whole, value; /* value: of WIRE_BYTES, else "" */
};

static uint64_t take_varint(struct str *rest)
{
    uint64_t v = 0;
    for (unsigned shift = 0; rest->n && shift < 64; shift += 7) {
        uint8_t byte = (uint8_t)*rest->p++;
        rest->n--;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return v;
}

static bool take_field(struct str *rest, struct wfield *ret)
{
    if (!rest->n)
        return false;
    const char *from = rest->p;
    uint64_t tag = take_varint(rest), n = 0;
    *ret = (struct wfield){ .number = (uint32_t)(tag >> 3) };
    if ((tag & 7) == WIRE_VARINT)
        (void)take_varint(rest);
    else
        n = (tag & 7) == WIRE_BYTES ? take_varint(rest) : 8;
    assert((tag & 7) <= WIRE_BYTES && n <= rest->n);
    if ((tag & 7) == WIRE_BYTES)
        ret->value = str_n(rest->p, n);
    *rest = str_slice(*rest, n, SIZE_MAX);
    ret->whole = str_n(from, (size_t)(rest->p - from));
    return true;
}

/* Fields are in the order of their numbers. */
static void put_spec_on_node(struct buf *to, struct str spec, struct str node)
{
    struct wfield f;
    bool has_node = false;
    while (take_field(&spec, &f)) {
        if (f.number >= SPEC_NODE_NAME && !has_node) {
            bool is_named = f.number == SPEC_NODE_NAME && f.value.n;
            wire_put_bytes(to, SPEC_NODE_NAME, is_named ? f.value : node);
            has_node = true;
        }
        if (f.number != SPEC_NODE_NAME)
            (void)buf_add_str(to, f.whole);
    }
    if (!has_node)
        wire_put_bytes(to, SPEC_NODE_NAME, node);
}

struct wobject *wobject_on_node(const struct wobject *pod, struct str node)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(UINT32_MAX);
    struct str rest = pod->bytes;
    struct wfield f;
    while (take_field(&rest, &f)) {
        if (f.number != POD_SPEC) {
            (void)buf_add_str(&b, f.whole);
            continue;
        }
        size_t from = wire_begin(&b, POD_SPEC);
        put_spec_on_node(&b, f.value, node);
        wire_end(&b, from);
    }
    return wobject_new(&b);
}

/* ---- nodes ---- */

struct wimage {
    int64_t size_bytes;
    uint32_t n_nodes, last; /* 1 + index of the last counted node */
};

struct wimage_name {
    char *name;
    struct wimage *image;
};

struct wnode {
    char *name;
    struct wobject *object;
    VEC(struct wimage_name) images;
    char *states; /* JSON */
    VEC(struct wobject *) pods;
    struct buf pod_list;
};

struct wnodes {
    VEC(struct wnode) at;
    struct map by_name; /* 1 + index */
    struct map images;  /* struct wimage by name */
    struct buf list;
};

struct wnodes *wnodes_new(void)
{
    struct wnodes *nodes = xnew(struct wnodes);
    nodes->list = BUF_INIT(UINT32_MAX);
    return nodes;
}

static void forget_made(struct wnodes *nodes)
{
    buf_reset(&nodes->list);
    vec_each (node, &nodes->at) {
        free(node->states);
        node->states = NULL;
    }
}

void wnodes_free(struct wnodes *nodes)
{
    if (!nodes)
        return;
    forget_made(nodes);
    vec_each (node, &nodes->at) {
        vec_each (image, &node->images)
            free(image->name);
        vec_fini(&node->images);
        vec_each (pod, &node->pods)
            wobject_unref(*pod);
        vec_fini(&node->pods);
        buf_fini(&node->pod_list);
        wobject_unref(node->object);
        free(node->name);
    }
    vec_fini(&nodes->at);
    map_each (e, &nodes->images)
        free(e->value);
    map_fini(&nodes->images);
    map_fini(&nodes->by_name);
    buf_fini(&nodes->list);
    free(nodes);
}

/* The size is that of the first node that has it. */
static void add_image(struct wnodes *nodes, struct wnode *node, struct str name, int64_t size)
{
    uint32_t mark = (uint32_t)nodes->at.n + 1;
    struct wimage *image = map_get(&nodes->images, name);
    if (!image) {
        image = xnew(struct wimage);
        image->size_bytes = size;
        (void)map_put(&nodes->images, name, image);
    }
    if (image->last == mark)
        return;
    image->last = mark;
    image->n_nodes++;
    vec_push(&node->images, ((struct wimage_name){ str_dup(name), image }));
}

int wnodes_add(struct wnodes *nodes, struct wobjects *cache, struct arena *a, struct json *obj,
               struct err *err)
{
    struct wnode node = { .pod_list = BUF_INIT(UINT32_MAX) };
    int r = wobject_get(cache, WOBJECT_NODE, a, obj, &node.object, err);
    if (r < 0)
        return r;
    forget_made(nodes);
    node.name = str_dup(json_str(json_path(obj, "metadata", "name", NULL)));
    json_each (image, json_path(obj, "status", "images", NULL))
        json_each (name, json_getc(image, "names"))
            add_image(nodes, &node, json_str(name), json_int_or(json_getc(image, "sizeBytes"), 0));
    vec_push(&nodes->at, node);
    (void)map_put(&nodes->by_name, str_of(node.name), (void *)(uintptr_t)nodes->at.n);
    return 0;
}

static struct wnode *find(const struct wnodes *nodes, struct str name)
{
    uintptr_t at = (uintptr_t)map_get(&nodes->by_name, name);
    return at ? &nodes->at.p[at - 1] : NULL;
}

bool wnodes_get(const struct wnodes *nodes, struct str name, struct str *ret)
{
    const struct wnode *node = find(nodes, name);
    if (node)
        *ret = node->object->bytes;
    return node != NULL;
}

static void add_length(struct buf *to, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        (void)buf_add_u8(to, (uint8_t)(n | 0x80));
    (void)buf_add_u8(to, (uint8_t)n);
}

/* A Kubernetes list: 1: ListMeta{ all zero }, 2: items. */
void wlist_begin(struct buf *to)
{
    (void)buf_add(to, "\x0a\x06\x0a\x00\x12\x00\x1a\x00", 8);
}

void wlist_add(struct buf *to, struct str item)
{
    (void)buf_add_char(to, 0x12);
    add_length(to, item.n);
    (void)buf_add_str(to, item);
}

struct str wnodes_list(struct wnodes *nodes)
{
    if (nodes->list.n)
        return buf_str(&nodes->list);
    wlist_begin(&nodes->list);
    vec_each (node, &nodes->at)
        wlist_add(&nodes->list, node->object->bytes);
    return buf_str(&nodes->list);
}

int wnodes_add_pod(struct wnodes *nodes, struct wobjects *cache, struct arena *a, struct json *pod,
                   struct err *err)
{
    struct wobject *object;
    int r = wobject_get(cache, WOBJECT_POD, a, pod, &object, err);
    if (r < 0)
        return r;
    struct wnode *node = find(nodes, json_str(json_path(pod, "spec", "nodeName", NULL)));
    if (!node) {
        wobject_unref(object);
        return 0;
    }
    vec_push(&node->pods, object);
    buf_reset(&node->pod_list);
    return 0;
}

bool wnodes_pods(struct wnodes *nodes, struct str name, struct str *ret)
{
    struct wnode *node = find(nodes, name);
    if (!node)
        return false;
    if (node->pod_list.n == 0) {
        wlist_begin(&node->pod_list);
        vec_each (pod, &node->pods)
            wlist_add(&node->pod_list, (*pod)->bytes);
    }
    *ret = buf_str(&node->pod_list);
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct wimage_name *)a)->name, ((const struct wimage_name *)b)->name);
}

bool wnodes_image_states(struct wnodes *nodes, struct str name, struct str *ret)
{
    struct wnode *node = find(nodes, name);
    if (!node)
        return false;
    if (!node->states) {
        struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
        size_t n;
        if (node->images.n)
            qsort(node->images.p, node->images.n, sizeof *node->images.p, by_name);
        (void)buf_add_char(&b, '{');
        vec_each (image, &node->images) {
            if (image != node->images.p)
                (void)buf_add_char(&b, ',');
            payload_add_json_string(&b, str_of(image->name));
            (void)buf_printf(&b, ":{\"Size\":%lld,\"NumNodes\":%u,\"Nodes\":null}",
                             (long long)image->image->size_bytes, image->image->n_nodes);
        }
        (void)buf_add_char(&b, '}');
        node->states = buf_take(&b, &n);
    }
    *ret = str_of(node->states);
    return true;
}
