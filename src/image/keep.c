/* SPDX-License-Identifier: Apache-2.0 */
#include "image/keep.h"

#include "base/clock.h"

static int put_documents(const struct oci_image *image, struct oci_store *s, struct err *err)
{
    int r = oci_store_document_put(s, &image->manifest.config.digest, image->config_text, err);
    if (r >= 0 && image->index_text.n)
        r = oci_store_document_put(s, &image->index, image->index_text, err);
    return r < 0 ? r : oci_store_document_put(s, &image->digest, image->manifest_text, err);
}

/* As a pull does. */
static int put_name(const struct keep_opts *o, struct oci_store *s, struct err *err)
{
    struct arena a = { 0 };
    struct oci_store_image old;
    const struct oci_platform *of = &o->image->config.platform;
    struct oci_store_image image = {
        .name = o->name,
        .manifest = o->image->digest,
        .platform = str_of(arena_printf(&a, STR_FMT "/" STR_FMT "%s" STR_FMT, STR_ARG(of->os),
                                        STR_ARG(of->architecture), of->variant.n ? "/" : "",
                                        STR_ARG(of->variant))),
        .pulled_wall_s = (int64_t)clock_wall_ms() / 1000,
    };
    if (o->image->index_text.n)
        image.index = o->image->index;
    image.is_pinned = oci_store_image_get(s, o->name, &a, &old, NULL) >= 0 && old.is_pinned;
    int r = oci_store_image_put(s, &image, err);
    arena_fini(&a);
    return r;
}

/* During the import no layer of the image is evicted for another one, and gc removes none. */
static void hold_all(const struct oci_image *image, struct oci_store *s,
                     void (*f)(struct oci_store *s, const struct oci_digest *d))
{
    f(s, &image->digest);
    f(s, &image->manifest.config.digest);
    for (size_t i = 0; i < image->config.n_diff_ids; i++)
        f(s, &image->config.diff_ids[i]);
}

static bool is_first(const struct oci_config *c, size_t i)
{
    size_t first = 0;
    while (!oci_digest_equal(&c->diff_ids[first], &c->diff_ids[i]))
        first++;
    return first == i;
}

int keep_image(struct oci_store *s, const struct keep_opts *o, struct err *err)
{
    const struct oci_image *image = o->image;
    int r = 0;
    hold_all(image, s, oci_store_hold);
    for (size_t i = 0; i < image->config.n_diff_ids && r >= 0; i++)
        r = is_first(&image->config, i) ? o->layer(o->arg, s, i, err) : 0;
    r = r < 0 ? r : put_documents(image, s, err);
    if (r >= 0 && o->first)
        r = start_list_put(s, &image->manifest.config.digest, o->first, err);
    if (r >= 0 && o->name.n)
        r = put_name(o, s, err);
    hold_all(image, s, oci_store_release);
    return r < 0 ? r : 0;
}
