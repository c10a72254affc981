/* SPDX-License-Identifier: Apache-2.0 */
#include "image/layer_show.h"

#include "image/layer_child.h"
#include "image/layer_rights.h"

#include <errno.h>

void layer_show_image(struct layer_show *p, const struct oci_image *image)
{
    p->image = *image;
}

static int open_again(struct layer_show *p, struct err *err)
{
    struct oci_image named; /* perhaps not what is pulled: the origin of that may be attached */
    int r = oci_source_open_with(str_of(p->reference), p->registry, &p->source, err);
    if (r < 0)
        return r;
    if (p->stop && oci_source_remote(p->source))
        oci_remote_until(oci_source_remote(p->source), 0, p->stop);
    oci_source_read_by(p->source, &layer_child_reading, NULL);
    return oci_source_image(p->source, &p->platform, &named, err);
}

/* Read its bytes again and compare them with the DiffID. */
static int show(struct layer_show *p, const struct oci_digest *diff_id, struct err *err)
{
    int r = p->source ? 0 : open_again(p, err);
    for (size_t i = 0; r >= 0 && i < p->image.config.n_diff_ids; i++) {
        scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
        if (!oci_digest_equal(&p->image.config.diff_ids[i], diff_id))
            continue;
        r = oci_source_layer(p->source, &p->image, i, &layer, err);
        if (r >= 0)
            layer_rights_give(p->s, diff_id, p->tenant);
        return r;
    }
    return r < 0 ? r : err_set(err, -EAGAIN, "the image has changed meanwhile");
}

int layer_show_layers(struct layer_show *p, const struct oci_pull_layer *layers, size_t n,
                      struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < n && r >= 0; i++)
        if (layers[i].state == OCI_PULL_PRESENT &&
            !layer_rights_has(p->s, &layers[i].diff_id, p->tenant))
            r = show(p, &layers[i].diff_id, err);
    return r;
}

void layer_show_fini(struct layer_show *p)
{
    oci_source_free(p->source);
    p->source = NULL;
}
