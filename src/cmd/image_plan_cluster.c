/* SPDX-License-Identifier: Apache-2.0 */
/* What an image's layers and the NodeImageStates of a cluster say, for planning. */
#include "cmd/image_plan_cluster.h"

#include "base/clock.h"
#include "cmd/kube_client.h"
#include "codec/url.h"
#include "node/image_states.h"

#include <errno.h>

/* One page; *next: the token of the next one, empty: none. */
static int read_page(struct image_states *s, struct kube_client *c, struct buf *next,
                     struct err *err)
{
    struct arena a = { 0 };
    struct kube_answer answer;
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
        e = e < 0 ? e : image_states_put(s, item, err);
    if (e >= 0)
        (void)url_encode(next, json_get_str(json_getc(answer.body, "metadata"), "continue"));
    arena_fini(&a);
    return e;
}

static int read_nodes(struct image_states *s, const struct image_plan_cluster *p, struct err *err)
{
    scoped(kube_client_close_scoped) struct kube_client *c = NULL;
    scoped(buf_fini_scoped) struct buf next = BUF_INIT(64 << 10);
    int e = kube_client_open(p->kubeconfig, p->context, NULL, &c, err);
    do
        e = e < 0 ? e : read_page(s, c, &next, err);
    while (e >= 0 && next.n);
    if (e >= 0 && image_states_count(s) == 0)
        e = err_set(err, -ENOENT,
                    "no node reports its layers to the cluster; 'dormouse image serve --node NAME "
                    "--report' does");
    return e;
}

/* In the arena, except the texts. */
static struct oci_lookup_image made_of(const struct oci_image *image, struct arena *a)
{
    size_t n = image->manifest.n_layers;
    struct oci_lookup_layer *layers = arena_new_n(a, struct oci_lookup_layer, n + 1);
    for (size_t i = 0; i < n; i++)
        layers[i] = (struct oci_lookup_layer){ .diff_id = image->config.diff_ids[i],
                                               .blob = image->manifest.layers[i].digest,
                                               .size = image->manifest.layers[i].size };
    return (struct oci_lookup_image){ .layers = layers,
                                      .n = n,
                                      .manifest = image->digest,
                                      .config = image->manifest.config.digest,
                                      .manifest_text = image->manifest_text,
                                      .config_text = image->config_text };
}

/* What is no name in the store is a reference, as 'image pull' takes it. */
static int open_image(const struct image_plan_cluster *p, struct image_opened *o, struct err *err)
{
    struct err why = { 0 };
    const char *not_here = "";
    int e = image_open(p->args, p->reference, o, &why);
    if (e == -ENOENT && image_is_in_store(p->reference)) {
        scoped(free_scoped) char *remote = xasprintf("docker://%s", p->reference);
        not_here = "not in the store; ";
        e = image_open(p->args, remote, o, &why);
    }
    return e < 0 ? err_set(err, e, "%s%s", not_here, err_text(&why)) : e;
}

int image_plan_cluster_read(const struct image_plan_cluster *p, struct arena *a,
                            struct image_cluster_file *ret, struct err *err)
{
    scoped(image_opened_fini_scoped) struct image_opened o = { 0 };
    scoped(image_states_free_scoped) struct image_states *s = image_states_new();
    struct str name = str_of(p->reference);
    if (str_has_prefix(name, STR("docker://")))
        name = str_slice(name, strlen("docker://"), name.n);
    int e = open_image(p, &o, err);
    e = e < 0 ? e : read_nodes(s, p, err);
    if (e < 0)
        return e;
    const struct oci_lookup_image image = made_of(&o.image, a);
    return image_states_describe(s, name, &image, clock_wall_ms(), a, ret, err);
}
