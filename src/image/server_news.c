/* SPDX-License-Identifier: Apache-2.0 */
/*
 * News of an image: its tag was moved (an optimizer has replaced the image), or deleted. Layers
 * that no image has any more are evicted first. If the store has the old image, the tag is compared
 * with the registry's at the next request; a node that prefetches and is idle pulls it at once, so
 * that it is present before it is requested.
 */
#include "base/log.h"
#include "image/layer_cache.h"
#include "image/news.h"
#include "image/server_int.h"

/* By a worker thread. */
int image_server_news_read(struct image_server *s, struct str text, struct image_server_news *ret,
                           struct err *err)
{
    struct arena a = { 0 };
    struct image_replaced n;
    struct oci_store_image image;
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(2 * OCI_STORE_NAME_MAX);
    int r = image_replaced_parse(&a, text, &n, err);
    if (r >= 0) {
        for (size_t i = 0; i < n.n_dead; i++)
            ret->n_dead += layer_cache_demote(s->opts.store, &n.dead[i]);
        oci_reference_format(&n.ref, &name);
        bool is_here = oci_store_image_get(s->opts.store, buf_str(&name), &a, &image, NULL) >= 0;
        bool is_new =
            is_here && n.has_new &&
            (oci_digest_equal(&image.manifest, &n.new) || oci_digest_equal(&image.index, &n.new));
        ret->is_here = is_here;
        ret->is_old = is_here && n.has_new && !is_new;
        ret->ref = n.ref;
    }
    arena_fini(&a);
    return r;
}

const char *image_server_news_apply(struct image_server *s, const struct image_server_news *n)
{
    if (n->n_dead)
        image_server_state_changed(s);
    if (!n->is_here)
        return "absent";
    if (!n->is_old)
        return "current";
    bool is_idle = s->n_deploying == 0 && s->n_pulls == 0 && s->n_uploads == 0;
    bool pulls = image_server_replaced(
        s, &n->ref, s->opts.prefetches && is_idle && !image_closing_has_begun(&s->closing));
    return pulls ? "pulling" : "noted";
}
