/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes' reports about their images; see image_states.h. */
#include "node/image_states.h"

#include "base/intern.h"
#include "base/map.h"
#include "image/node_state.h"
#include "sched/object/node_image_state.h"

#include <math.h>
#include <stdlib.h>

#define LEFT_MAX_MS 86400e3 /* bounds the rest of a transfer, whatever size the manifest gives */

_Static_assert((int)NODE_STATE_LAYERS_MAX == (int)SCHED_NODE_LAYERS_MAX, "one limit");
_Static_assert((int)NODE_STATE_PREFIX_BYTES == (int)SCHED_LAYER_PREFIX_BYTES, "one prefix");

struct image_state {
    struct sched_object *o;
    char *url;
    bool is_refused;  /* at the current url */
    bool was_refused; /* at any url */
};

struct image_states {
    struct intern_table *words;
    struct map by_name; /* struct image_state */
};

struct image_states *image_states_new(void)
{
    struct image_states *s = xnew(struct image_states);
    s->words = intern_table_new();
    return s;
}

static void state_free(struct image_states *s, struct image_state *e)
{
    sched_object_unref(s->words, e->o);
    free(e->url);
    free(e);
}

void image_states_free(struct image_states *s)
{
    if (!s)
        return;
    map_each (e, &s->by_name)
        state_free(s, e->value);
    map_fini(&s->by_name);
    intern_table_free(s->words);
    free(s);
}

int image_states_put(struct image_states *s, const struct json *object, struct err *err)
{
    struct sched_object *o;
    struct str url = json_get_str(json_getc(object, "spec"), "url");
    int r = sched_object_read(s->words, SCHED_NODE_IMAGE_STATE, object, false, &o, err);
    if (r < 0)
        return r;
    struct image_state *e = map_get(&s->by_name, o->name);
    if (!e && s->by_name.n == IMAGE_CLUSTER_NODES_MAX) {
        sched_object_unref(s->words, o);
        return err_set(err, E_LIMIT, "more than %d nodes", IMAGE_CLUSTER_NODES_MAX);
    }
    if (!e) {
        e = xnew(struct image_state);
        (void)map_put(&s->by_name, o->name, e);
    } else {
        sched_object_unref(s->words, e->o);
        e->is_refused &= str_is(url, e->url);
        free(e->url);
    }
    e->o = o;
    e->url = str_dup(url);
    return 0;
}

void image_states_del(struct image_states *s, struct str name)
{
    struct image_state *e = map_get(&s->by_name, name);
    if (!e)
        return;
    map_del(&s->by_name, name);
    state_free(s, e);
}

bool image_states_refuse(struct image_states *s, struct str name)
{
    struct image_state *e = map_get(&s->by_name, name);
    bool is_first = e && !e->was_refused;
    if (e)
        e->is_refused = e->was_refused = true;
    return is_first;
}

bool image_states_is_refused(const struct image_states *s, struct str name)
{
    const struct image_state *e = map_get(&s->by_name, name);
    return e && e->is_refused;
}

static struct str url_of(const struct image_state *e)
{
    return e->is_refused ? STR("") : str_of(e->url);
}

size_t image_states_count(const struct image_states *s)
{
    return s->by_name.n;
}

bool image_states_is_fresh(int64_t reported_ms, int64_t wall_ms)
{
    return wall_ms - reported_ms <= IMAGE_ORCHESTRATE_FRESH_MS &&
           reported_ms - wall_ms <= SCHED_NODE_STATE_SKEW_MS;
}

int64_t image_states_reported_ms(const struct image_states *s, struct str name, struct str *ret_url)
{
    const struct image_state *e = map_get(&s->by_name, name);
    *ret_url = e ? url_of(e) : STR("");
    return e ? sched_node_image_state_of(e->o)->reported_ms : 0;
}

const struct sched_node_image_state *image_states_get(const struct image_states *s, struct str name)
{
    const struct image_state *e = map_get(&s->by_name, name);
    return e ? sched_node_image_state_of(e->o) : NULL;
}

void image_states_each_fresh(const struct image_states *s, int64_t wall_ms,
                             void (*visit)(void *arg, const struct sched_node_image_state *s),
                             void *arg)
{
    map_each (e, &s->by_name) {
        const struct image_state *state = e->value;
        const struct sched_node_image_state *told = sched_node_image_state_of(state->o);
        if (!state->is_refused && image_states_is_fresh(told->reported_ms, wall_ms))
            visit(arg, told);
    }
}

/* ---- for a plan ---- */

static int describe_layers(const struct oci_lookup_image *image, struct arena *a,
                           struct image_cluster_file *f, uint64_t *prefixes, struct err *err)
{
    struct str *names = arena_new_n(a, struct str, image->n + 1);
    struct image_cluster_blob *blobs = arena_new_n(a, struct image_cluster_blob, image->n + 1);
    struct image_orchestrate_layer *layers =
        arena_new_n(a, struct image_orchestrate_layer, image->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < image->n; i++) {
        const struct oci_lookup_layer *l = &image->layers[i];
        char text[OCI_DIGEST_TEXT_SIZE];
        size_t k = 0;
        while (k < n && !oci_digest_equal(&blobs[k].diff, &l->diff_id))
            k++;
        if (k < n) /* the layer occurs twice */
            continue;
        oci_digest_format(&l->diff_id, text);
        int r = sched_layer_prefix(str_of(text), &prefixes[n], err);
        if (r < 0)
            return r;
        names[n] = str_of(arena_printf(a, "%.12s", text + strlen("sha256:")));
        blobs[n] =
            (struct image_cluster_blob){ .is_known = true, .blob = l->blob, .diff = l->diff_id };
        layers[n++] = (struct image_orchestrate_layer){ .size = (int64_t)l->size };
    }
    f->layer_names = names;
    f->blobs = blobs;
    f->o.layers = layers;
    f->o.n_layers = n;
    return n ? 0 : err_set(err, E_INVALID, "the image has no layers");
}

static int by_name(const void *x, const void *y)
{
    const struct image_state *const *a = x, *const *b = y;
    return str_cmp((*a)->o->name, (*b)->o->name);
}

static const struct image_state **sorted_states(const struct image_states *s, struct arena *a)
{
    const struct image_state **all = arena_new_n(a, const struct image_state *, s->by_name.n + 1);
    size_t n = 0;
    map_each (e, &s->by_name)
        all[n++] = e->value;
    if (n)
        qsort(all, n, sizeof all[0], by_name);
    return all;
}

static void describe_node(const struct sched_node_image_state *s, const uint64_t *prefixes,
                          size_t n_layers, int64_t wall_ms, struct image_orchestrate_node *node,
                          struct image_cluster_rates *rates)
{
    int64_t silent_ms = MAX(wall_ms - s->reported_ms, (int64_t)0);
    if (!image_states_is_fresh(s->reported_ms, wall_ms))
        silent_ms = MAX(silent_ms, (int64_t)IMAGE_ORCHESTRATE_FRESH_MS + 1);
    *node = (struct image_orchestrate_node){
        .silent_ms = (uint64_t)silent_ms,
        .slots = s->upload_slots,
        .uplink_bps = s->uplink_bps ? s->uplink_bps : IMAGE_STATES_BPS_DEFAULT,
    };
    *rates = (struct image_cluster_rates){
        .registry_bps = s->registry_bps ? s->registry_bps : IMAGE_STATES_BPS_DEFAULT,
        .downlink_bps = s->downlink_bps,
        .registry_rtt_us = s->registry_rtt_us,
        .peer_rtt_us = s->rtt_us,
        .unpack_bytes_per_second = s->unpack_bytes_per_second,
    };
    for (size_t i = 0; i < n_layers; i++) {
        if (!sched_node_image_state_has(s, prefixes[i]))
            continue;
        place_break_put(&node->holds, i);
        if (!sched_node_image_state_sends(s, prefixes[i]))
            place_break_put(&node->unsendable, i);
    }
}

/* Whether another node may fetch it from there once it has arrived. */
static bool may_be_followed(const struct image_state *e, int64_t wall_ms)
{
    return url_of(e).n > 0 &&
           image_states_is_fresh(sched_node_image_state_of(e->o)->reported_ms, wall_ms);
}

static void describe_arrivals(const struct image_state **all, const uint64_t *prefixes,
                              int64_t wall_ms, struct arena *a, struct image_cluster_file *f)
{
    struct image_orchestrate_flight *flights = arena_new_n(
        a, struct image_orchestrate_flight, f->o.n_layers * IMAGE_STATES_ARRIVALS_MAX + 1);
    size_t n_of[PLACE_BREAK_LAYERS_MAX] = { 0 }, n = 0;
    for (uint32_t i = 0; i < f->o.n_nodes; i++) {
        const struct sched_node_image_state *s = sched_node_image_state_of(all[i]->o);
        if (s->n_arriving == 0 || !may_be_followed(all[i], wall_ms))
            continue;
        for (uint32_t k = 0; k < f->o.n_layers; k++) {
            if (n_of[k] == IMAGE_STATES_ARRIVALS_MAX ||
                !sched_node_image_state_awaits(s, prefixes[k]))
                continue;
            double all_ms = (double)f->o.layers[k].size * 8000 / (double)f->rates[i].registry_bps;
            int64_t left_ms = (int64_t)fmin(all_ms, LEFT_MAX_MS);
            int64_t ago_ms = MAX(wall_ms - s->reported_ms, (int64_t)0);
            n_of[k]++;
            flights[n++] = (struct image_orchestrate_flight){
                .layer = k,
                .to = i,
                .from = PLACE_BREAK_REGISTRY,
                .left_ms = MAX(left_ms - ago_ms, (int64_t)0),
                .is_reported = true,
            };
        }
    }
    f->o.flights = flights;
    f->o.n_flights = n;
}

int image_states_describe(const struct image_states *s, struct str reference,
                          const struct oci_lookup_image *image, int64_t wall_ms, struct arena *a,
                          struct image_cluster_file *ret, struct err *err)
{
    uint64_t prefixes[PLACE_BREAK_LAYERS_MAX];
    size_t n = s->by_name.n;
    struct image_cluster_file f = { .has_image = true,
                                    .reference = str_copy_arena(a, reference),
                                    .manifest = image->manifest,
                                    .config = image->config,
                                    .manifest_text = str_copy_arena(a, image->manifest_text),
                                    .config_text = str_copy_arena(a, image->config_text) };
    if (image->n > PLACE_BREAK_LAYERS_MAX)
        return err_set(err, E_LIMIT, "the image has more than %d layers", PLACE_BREAK_LAYERS_MAX);
    int r = describe_layers(image, a, &f, prefixes, err);
    if (r < 0)
        return r;
    const struct image_state **all = sorted_states(s, a);
    struct str *names = arena_new_n(a, struct str, n + 1),
               *urls = arena_new_n(a, struct str, n + 1);
    struct image_orchestrate_node *nodes = arena_new_n(a, struct image_orchestrate_node, n + 1);
    struct image_cluster_rates *rates = arena_new_n(a, struct image_cluster_rates, n + 1);
    for (size_t i = 0; i < n; i++) {
        names[i] = str_copy_arena(a, all[i]->o->name);
        urls[i] = str_copy_arena(a, url_of(all[i]));
        describe_node(sched_node_image_state_of(all[i]->o), prefixes,
                      all[i]->is_refused ? 0 : f.o.n_layers, wall_ms, &nodes[i], &rates[i]);
    }
    f.node_names = names;
    f.node_urls = urls;
    f.o.nodes = nodes;
    f.o.n_nodes = n;
    f.rates = rates;
    describe_arrivals(all, prefixes, wall_ms, a, &f);
    *ret = f;
    return 0;
}
