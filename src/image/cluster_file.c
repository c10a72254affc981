/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of an image and a cluster; see cluster_file.h. */
#include "image/cluster_file.h"

#include "base/map.h"

#define BYTES_MAX ((int64_t)1 << 40)
#define RATE_MAX  ((int64_t)10000000) /* Mbit/s, MB/s */
enum { RTT_MAX_MS = 60000 };
#define MILLION   1000000
#define DEPTH_MAX 6

struct cluster_file_reader {
    struct arena *a;
    struct err *err;
    const char *list; /* "nodes" and the position in it; NULL: of the file */
    size_t at;
    struct map layers, nodes; /* name -> position + 1 */
};

static int bad(const struct cluster_file_reader *r, int code, const char *what)
{
    if (!r->list)
        return err_set(r->err, code, "%s", what);
    return err_set(r->err, code, "%s[%zu]: %s", r->list, r->at, what);
}

/* All members are among `known`, which ends with NULL. */
static int check_members(const struct cluster_file_reader *r, const struct json *v,
                         const char *const *known)
{
    if (!json_is(v, JSON_OBJECT))
        return bad(r, E_INVALID, "not an object");
    json_each (m, v) {
        size_t i = 0;
        while (known[i] && !str_is(m->key, known[i]))
            i++;
        if (!known[i]) {
            const char *what = arena_printf(r->a, "there is no member '" STR_FMT "'",
                                            (int)MIN(m->key.n, (size_t)64), m->key.p);
            return bad(r, E_INVALID, what);
        }
    }
    return 0;
}

static int get_number(const struct cluster_file_reader *r, const struct json *v, const char *key,
                      int64_t max, int64_t otherwise, int64_t *ret)
{
    const struct json *m = json_getc(v, key);
    *ret = otherwise;
    if (m && (json_int(m, ret) < 0 || *ret < 0 || *ret > max))
        return bad(r, E_INVALID,
                   arena_printf(r->a, "%s is a number from 0 to %lld", key, (long long)max));
    return 0;
}

static int get_new_name(const struct cluster_file_reader *r, const struct json *v,
                        struct map *names, struct str *ret)
{
    *ret = json_get_str(v, "name");
    if (ret->n == 0 || ret->n > 255)
        return bad(r, E_INVALID, "it needs a name of at most 255 bytes");
    if (map_put(names, *ret, (void *)(uintptr_t)(r->at + 1)))
        return bad(r, E_INVALID, "an earlier one has that name");
    return 0;
}

/* The position of a name; negative: there is none. */
static int64_t find(const struct map *names, struct str name)
{
    return (int64_t)(uintptr_t)map_get(names, name) - 1;
}

static int get_list(struct cluster_file_reader *r, const struct json *v, const char *key,
                    size_t max, const struct json **ret)
{
    r->list = NULL;
    *ret = json_getc(v, key);
    if (*ret && !json_is(*ret, JSON_ARRAY))
        return bad(r, E_INVALID, arena_printf(r->a, "%s is a list", key));
    if (*ret && (*ret)->n > max)
        return bad(r, E_LIMIT, arena_printf(r->a, "more than %zu %s", max, key));
    r->list = key;
    r->at = 0;
    return 0;
}

static int get_digest(const struct cluster_file_reader *r, const struct json *v, const char *key,
                      struct oci_digest *ret)
{
    if (oci_digest_parse(json_get_str(v, key), ret, NULL) < 0)
        return bad(r, E_INVALID, arena_printf(r->a, "%s is not a sha256 digest", key));
    return 0;
}

static int get_blob(const struct cluster_file_reader *r, const struct json *v,
                    struct image_cluster_blob *ret)
{
    int64_t tar_bytes;
    int n = get_number(r, v, "tarBytes", BYTES_MAX, 0, &tar_bytes);
    ret->tar_bytes = (uint64_t)tar_bytes;
    if (n < 0 || (!json_getc(v, "digest") && !json_getc(v, "diffID")))
        return n;
    ret->is_known = true;
    n = get_digest(r, v, "digest", &ret->blob);
    return n < 0 ? n : get_digest(r, v, "diffID", &ret->diff);
}

static int read_image(struct cluster_file_reader *r, const struct json *v,
                      struct image_cluster_file *f)
{
    static const char *const known[] = { "reference", "manifest", "config", NULL };
    const struct json *image = json_getc(v, "image");
    if (!image)
        return 0;
    int n = check_members(r, image, known);
    f->has_image = true;
    f->reference = json_get_str(image, "reference");
    if (n >= 0 && (f->reference.n == 0 || f->reference.n > 1024))
        return bad(r, E_INVALID, "image: it needs a reference");
    n = n < 0 ? n : get_digest(r, image, "manifest", &f->manifest);
    return n < 0 ? n : get_digest(r, image, "config", &f->config);
}

static int read_layers(struct cluster_file_reader *r, const struct json *v,
                       struct image_cluster_file *f)
{
    static const char *const known[] = { "name",   "bytes",    "urgent", "digest",
                                         "diffID", "tarBytes", NULL };
    const struct json *list;
    int n = get_list(r, v, "layers", PLACE_BREAK_LAYERS_MAX, &list);
    if (n < 0)
        return n;
    f->o.n_layers = list ? list->n : 0;
    struct image_orchestrate_layer *layers =
        arena_new_n(r->a, struct image_orchestrate_layer, f->o.n_layers + 1);
    struct str *names = arena_new_n(r->a, struct str, f->o.n_layers + 1);
    struct image_cluster_blob *blobs =
        arena_new_n(r->a, struct image_cluster_blob, f->o.n_layers + 1);
    for (const struct json *l = json_first(list); l && n >= 0; l = l->next, r->at++) {
        n = check_members(r, l, known);
        n = n < 0 ? n : get_new_name(r, l, &r->layers, &names[r->at]);
        n = n < 0 ? n : get_number(r, l, "bytes", BYTES_MAX, 0, &layers[r->at].size);
        n = n < 0 ? n : get_blob(r, l, &blobs[r->at]);
        layers[r->at].is_urgent = json_bool(json_getc(l, "urgent"));
    }
    f->o.layers = layers;
    f->layer_names = names;
    f->blobs = blobs;
    return n;
}

static int read_held(const struct cluster_file_reader *r, const struct json *v,
                     struct place_break_set *ret)
{
    const struct json *list = json_getc(v, "layers");
    if (list && !json_is(list, JSON_ARRAY))
        return bad(r, E_INVALID, "layers is a list of names");
    json_each (l, list) {
        int64_t at = find(&r->layers, json_str(l)); /* of another image: nothing to us */
        if (at >= 0)
            place_break_put(ret, (size_t)at);
    }
    return 0;
}

static int read_node(struct cluster_file_reader *r, const struct json *v,
                     struct image_orchestrate_node *n)
{
    static const char *const known[] = { "name",          "layers",      "uplinkMbit", "freeSlots",
                                         "silentSeconds", "queuedBytes", "url",        NULL };
    int64_t uplink = 0, slots = 0, silent = 0;
    int c = check_members(r, v, known);
    c = c < 0 ? c : read_held(r, v, &n->holds);
    c = c < 0 ? c : get_number(r, v, "uplinkMbit", RATE_MAX, 0, &uplink);
    c = c < 0 ? c : get_number(r, v, "freeSlots", 1000, IMAGE_ORCHESTRATE_SLOTS, &slots);
    c = c < 0 ? c : get_number(r, v, "silentSeconds", MILLION, 0, &silent);
    c = c < 0 ? c : get_number(r, v, "queuedBytes", BYTES_MAX, 0, &n->queued_bytes);
    n->uplink_bps = uplink * MILLION;
    n->slots = (unsigned)slots;
    n->silent_ms = (uint64_t)silent * 1000;
    return c;
}

static int read_nodes(struct cluster_file_reader *r, const struct json *v,
                      struct image_cluster_file *f)
{
    const struct json *list;
    int n = get_list(r, v, "nodes", IMAGE_CLUSTER_NODES_MAX, &list);
    if (n < 0)
        return n;
    f->o.n_nodes = list ? list->n : 0;
    struct image_orchestrate_node *nodes =
        arena_new_n(r->a, struct image_orchestrate_node, f->o.n_nodes + 1);
    struct str *names = arena_new_n(r->a, struct str, f->o.n_nodes + 1);
    struct str *urls = arena_new_n(r->a, struct str, f->o.n_nodes + 1);
    for (const struct json *l = json_first(list); l && n >= 0; l = l->next, r->at++) {
        n = read_node(r, l, &nodes[r->at]);
        n = n < 0 ? n : get_new_name(r, l, &r->nodes, &names[r->at]);
        urls[r->at] = json_get_str(l, "url");
        if (n >= 0 && urls[r->at].n > 1024)
            n = bad(r, E_INVALID, "its url is too long");
    }
    f->node_urls = urls;
    f->o.nodes = nodes;
    f->node_names = names;
    return n;
}

static int read_transfer(struct cluster_file_reader *r, const struct json *v,
                         struct image_orchestrate_flight *ret)
{
    static const char *const known[] = { "layer", "to", "from", "leftMilliseconds", NULL };
    int n = check_members(r, v, known);
    n = n < 0 ? n : get_number(r, v, "leftMilliseconds", BYTES_MAX, 0, &ret->left_ms);
    if (n < 0)
        return n;
    int64_t layer = find(&r->layers, json_get_str(v, "layer"));
    int64_t to = find(&r->nodes, json_get_str(v, "to")), from = PLACE_BREAK_REGISTRY;
    if (json_getc(v, "from") && (from = find(&r->nodes, json_get_str(v, "from"))) < 0)
        return bad(r, E_INVALID, "from is not one of the nodes");
    if (layer < 0 || to < 0)
        return bad(r, E_INVALID, "it needs a layer and a node that it goes to");
    ret->layer = (uint32_t)layer;
    ret->to = (uint32_t)to;
    ret->from = (int)from;
    return 0;
}

static int read_transfers(struct cluster_file_reader *r, const struct json *v,
                          struct image_cluster_file *f)
{
    const struct json *list;
    int n = get_list(r, v, "transfers", IMAGE_CLUSTER_TRANSFERS_MAX, &list);
    if (n < 0)
        return n;
    f->o.n_flights = list ? list->n : 0;
    struct image_orchestrate_flight *flights =
        arena_new_n(r->a, struct image_orchestrate_flight, f->o.n_flights + 1);
    for (const struct json *l = json_first(list); l && n >= 0; l = l->next, r->at++)
        n = read_transfer(r, l, &flights[r->at]);
    f->o.flights = flights;
    return n;
}

static int read_all(struct cluster_file_reader *r, const struct json *v,
                    struct image_cluster_file *f)
{
    static const char *const known[] = { "image",
                                         "layers",
                                         "nodes",
                                         "transfers",
                                         "registryMbit",
                                         "downlinkMbit",
                                         "unpackMBPerSecond",
                                         "registryRttMilliseconds",
                                         "peerRttMilliseconds",
                                         NULL };
    int64_t registry = 0, downlink = 0, unpack = 0, registry_ms = 0, peer_ms = 0;
    int n = check_members(r, v, known);
    n = n < 0 ? n : get_number(r, v, "registryMbit", RATE_MAX, 0, &registry);
    n = n < 0 ? n : get_number(r, v, "downlinkMbit", RATE_MAX, 0, &downlink);
    n = n < 0 ? n : get_number(r, v, "unpackMBPerSecond", RATE_MAX, 0, &unpack);
    n = n < 0 ? n : get_number(r, v, "registryRttMilliseconds", RTT_MAX_MS, 0, &registry_ms);
    n = n < 0 ? n : get_number(r, v, "peerRttMilliseconds", RTT_MAX_MS, 0, &peer_ms);
    n = n < 0 ? n : read_image(r, v, f);
    n = n < 0 ? n : read_layers(r, v, f);
    n = n < 0 ? n : read_nodes(r, v, f);
    n = n < 0 ? n : read_transfers(r, v, f);
    f->o.registry_bps = registry * MILLION;
    f->o.downlink_bps = downlink * MILLION;
    f->o.unpack_bytes_per_second = unpack * MILLION;
    f->o.registry_rtt_us = registry_ms * 1000;
    f->o.peer_rtt_us = peer_ms * 1000;
    r->list = NULL;
    if (n >= 0 && (f->o.n_layers == 0 || f->o.n_nodes == 0))
        return bad(r, E_INVALID, "it names no layers or no nodes");
    return n;
}

int image_cluster_file_read(struct arena *a, struct str text, struct image_cluster_file *ret,
                            struct err *err)
{
    struct json_parse_opts o = { .max_depth = DEPTH_MAX };
    struct cluster_file_reader r = { .a = a, .err = err };
    struct image_cluster_file f = { 0 };
    struct json *v;
    if (text.n > IMAGE_CLUSTER_FILE_MAX_BYTES)
        return err_set(err, E_LIMIT, "larger than 16 MiB");
    int n = json_parse(a, text, &o, &v, err);
    n = n < 0 ? n : read_all(&r, v, &f);
    map_fini(&r.layers);
    map_fini(&r.nodes);
    if (n >= 0)
        *ret = f;
    return n;
}

void image_cluster_file_deploy_on(struct image_cluster_file *file, uint32_t node)
{
    file->o.node = node;
    if (!file->rates)
        return;
    file->o.registry_bps = file->rates[node].registry_bps;
    file->o.downlink_bps = file->rates[node].downlink_bps;
    file->o.unpack_bytes_per_second = file->rates[node].unpack_bytes_per_second;
    file->o.registry_rtt_us = file->rates[node].registry_rtt_us;
    file->o.peer_rtt_us = file->rates[node].peer_rtt_us;
}
