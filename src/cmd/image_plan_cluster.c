/* SPDX-License-Identifier: Apache-2.0 */
/* What an image's layers and the NodeImageStates of a cluster say, for planning. */
#include "cmd/image_plan_cluster.h"

#include "base/clock.h"
#include "base/words.h"
#include "cmd/kube_client.h"
#include "codec/url.h"
#include "image/node_state.h"
#include "sched/object/node_image_state.h"

#include <errno.h>

/* Where a node has measured nothing yet; BreakDeployTime assumes it of registries, too. */
#define BPS_DEFAULT ((int64_t)100000000)

_Static_assert((int)NODE_STATE_LAYERS_MAX == (int)SCHED_NODE_LAYERS_MAX, "one limit");
_Static_assert((int)NODE_STATE_PREFIX_BYTES == (int)SCHED_LAYER_PREFIX_BYTES, "one prefix");

struct plan_reading {
    struct arena *a;
    struct words *words;
    struct image_cluster_file *f;
    uint64_t *prefixes; /* of the image's layers */
    struct str *node_names, *node_urls;
    struct image_orchestrate_node *nodes;
    struct image_cluster_rates *rates;
    size_t n, cap;
};

/* ---- the image ---- */

static int read_layers(struct plan_reading *r, const struct oci_image *image, struct err *err)
{
    const struct oci_manifest *m = &image->manifest;
    struct image_cluster_file *f = r->f;
    size_t n = 0;
    if (m->n_layers > PLACE_BREAK_LAYERS_MAX)
        return err_set(err, E_LIMIT, "the image has more than %d layers", PLACE_BREAK_LAYERS_MAX);
    struct str *names = arena_new_n(r->a, struct str, m->n_layers + 1);
    struct image_cluster_blob *blobs =
        arena_new_n(r->a, struct image_cluster_blob, m->n_layers + 1);
    struct image_orchestrate_layer *layers =
        arena_new_n(r->a, struct image_orchestrate_layer, m->n_layers + 1);
    r->prefixes = arena_new_n(r->a, uint64_t, m->n_layers + 1);
    for (size_t i = 0; i < m->n_layers; i++) {
        char text[OCI_DIGEST_TEXT_SIZE];
        size_t k = 0;
        while (k < n && !oci_digest_equal(&blobs[k].diff, &image->config.diff_ids[i]))
            k++;
        if (k < n) /* the same layer twice */
            continue;
        oci_digest_format(&image->config.diff_ids[i], text);
        int e = sched_layer_prefix(str_of(text), &r->prefixes[n], err);
        if (e < 0)
            return e;
        names[n] = str_of(arena_printf(r->a, "%.12s", text + strlen("sha256:")));
        blobs[n] = (struct image_cluster_blob){ .is_known = true,
                                                .blob = m->layers[i].digest,
                                                .diff = image->config.diff_ids[i] };
        layers[n++] = (struct image_orchestrate_layer){ .size = (int64_t)m->layers[i].size };
    }
    f->layer_names = names;
    f->blobs = blobs;
    f->o.layers = layers;
    f->o.n_layers = n;
    f->manifest = image->digest;
    f->config = m->config.digest;
    f->manifest_text = str_copy_arena(r->a, image->manifest_text);
    f->config_text = str_copy_arena(r->a, image->config_text);
    return n ? 0 : err_set(err, E_INVALID, "the image has no layers");
}

/* ---- nodes ---- */

static void grow(struct plan_reading *r)
{
    if (r->n < r->cap)
        return;
    r->cap = r->cap ? 2 * r->cap : 64;
    r->node_names = xrealloc(r->node_names, r->cap * sizeof *r->node_names);
    r->node_urls = xrealloc(r->node_urls, r->cap * sizeof *r->node_urls);
    r->nodes = xrealloc(r->nodes, r->cap * sizeof *r->nodes);
    r->rates = xrealloc(r->rates, r->cap * sizeof *r->rates);
}

static int add_node(struct plan_reading *r, const struct json *item, int64_t wall_ms,
                    struct err *err)
{
    struct sched_object *o;
    if (r->n == IMAGE_CLUSTER_NODES_MAX)
        return err_set(err, E_LIMIT, "more than %d nodes", IMAGE_CLUSTER_NODES_MAX);
    int e = sched_object_read(r->words, SCHED_NODE_IMAGE_STATE, item, false, &o, err);
    if (e < 0)
        return e;
    const struct sched_node_image_state *s = sched_node_image_state_of(o);
    struct str url = json_get_str(json_getc(item, "spec"), "url");
    int64_t silent_ms = MAX(wall_ms - s->reported_ms, (int64_t)0);
    grow(r);
    r->node_names[r->n] = str_copy_arena(r->a, o->name);
    r->node_urls[r->n] = str_copy_arena(r->a, url);
    r->nodes[r->n] = (struct image_orchestrate_node){ .silent_ms = (uint64_t)silent_ms,
                                                      .slots = s->upload_slots,
                                                      .uplink_bps = s->uplink_bps ? s->uplink_bps
                                                                                  : BPS_DEFAULT };
    r->rates[r->n] =
        (struct image_cluster_rates){ .registry_bps =
                                          s->registry_bps ? s->registry_bps : BPS_DEFAULT,
                                      .downlink_bps = s->downlink_bps,
                                      .registry_rtt_us = s->registry_rtt_us,
                                      .peer_rtt_us = s->rtt_us,
                                      .unpack_bytes_per_second = s->unpack_bytes_per_second };
    for (size_t i = 0; i < r->f->o.n_layers; i++)
        if (sched_node_image_state_has(s, r->prefixes[i])) {
            place_break_put(&r->nodes[r->n].holds, i);
            if (!sched_node_image_state_sends(s, r->prefixes[i]))
                place_break_put(&r->nodes[r->n].unsendable, i);
        }
    r->n++;
    sched_object_unref(r->words, o);
    return 0;
}

/* One page; *next: the token of the one behind it, empty: none. */
static int read_page(struct plan_reading *r, struct kube_client *c, struct buf *next,
                     struct err *err)
{
    struct arena a = { 0 };
    struct kube_answer answer;
    int64_t wall_ms = clock_wall_ms();
    scoped(free_scoped) char *target =
        xasprintf("/apis/dormouse.dev/v1alpha1/nodeimagestates?limit=%d%s" STR_FMT, IMAGE_PLAN_PAGE,
                  next->n ? "&continue=" : "", STR_ARG(buf_str(next)));
    buf_reset(next);
    int e = kube_client_ask(c, &a, "GET", target, NULL, STR(""), &answer, err);
    if (e == -ENOENT)
        e = err_set(err, e,
                    "the cluster does not know NodeImageStates; 'dormouse manifest "
                    "scheduler --config FILE' prints their definition");
    json_each (item, e >= 0 ? json_getc(answer.body, "items") : NULL)
        e = e < 0 ? e : add_node(r, item, wall_ms, err);
    if (e >= 0)
        (void)url_encode(next, json_get_str(json_getc(answer.body, "metadata"), "continue"));
    arena_fini(&a);
    return e;
}

static int read_nodes(struct plan_reading *r, const struct image_plan_cluster *p, struct err *err)
{
    scoped(kube_client_close_scoped) struct kube_client *c = NULL;
    scoped(buf_fini_scoped) struct buf next = BUF_INIT(64 << 10);
    int e = kube_client_open(p->kubeconfig, p->context, NULL, &c, err);
    do
        e = e < 0 ? e : read_page(r, c, &next, err);
    while (e >= 0 && next.n);
    if (e >= 0 && r->n == 0)
        e = err_set(err, -ENOENT,
                    "no node tells the cluster what it holds; 'dormouse image serve "
                    "--node NAME --report' does");
    return e;
}

/* Out of what grew, into the arena. */
static void keep_nodes(struct plan_reading *r)
{
    struct image_cluster_file *f = r->f;
#define KEEP(field, type, from)                                                                    \
    do {                                                                                           \
        type *kept = arena_new_n(r->a, type, r->n + 1);                                            \
        memcpy(kept, from, r->n * sizeof *kept);                                                   \
        field = kept;                                                                              \
    } while (0)
    KEEP(f->node_names, struct str, r->node_names);
    KEEP(f->node_urls, struct str, r->node_urls);
    KEEP(f->o.nodes, struct image_orchestrate_node, r->nodes);
    KEEP(f->rates, struct image_cluster_rates, r->rates);
#undef KEEP
    f->o.n_nodes = r->n;
}

int image_plan_cluster_read(const struct image_plan_cluster *p, struct arena *a,
                            struct image_cluster_file *ret, struct err *err)
{
    struct image_cluster_file f = { 0 };
    struct plan_reading r = { .a = a, .f = &f };
    scoped(image_opened_fini_scoped) struct image_opened o = { 0 };
    scoped(words_free_scoped) struct words *words = words_new();
    struct str name = str_of(p->reference);
    if (str_has_prefix(name, STR("docker://")))
        name = str_slice(name, strlen("docker://"), name.n);
    r.words = words;
    int e = image_open(p->args, p->reference, &o, err);
    e = e < 0 ? e : read_layers(&r, &o.image, err);
    e = e < 0 ? e : read_nodes(&r, p, err);
    if (e >= 0) {
        f.has_image = true;
        f.reference = str_copy_arena(a, name);
        keep_nodes(&r);
        *ret = f;
    }
    free(r.node_names);
    free(r.node_urls);
    free(r.nodes);
    free(r.rates);
    return e;
}
