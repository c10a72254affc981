/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/source_store.h"

#include "oci/store_int.h"

struct source_store {
    struct oci_store *store;
    struct oci_store_image image;
    struct arena arena;
    bool has_no_blobs;
};

int source_store_open(struct str root, struct str name, struct source_store **ret, struct err *err)
{
    scoped(free_scoped) char *path = str_dup(root);
    scoped(source_store_free_scoped) struct source_store *s = xnew(struct source_store);
    struct oci_store_opts opts = { .root = path, .is_reader = true };
    int r = oci_store_open(&opts, &s->store, err);
    r = r < 0 ? r : oci_store_image_find(s->store, name, &s->arena, &s->image, err);
    if (r < 0)
        return r;
    *ret = take_ptr(&s);
    return 0;
}

void source_store_free(struct source_store *s)
{
    if (!s)
        return;
    oci_store_close(s->store);
    arena_fini(&s->arena);
    free(s);
}

bool source_store_has_no_blobs(const struct source_store *s)
{
    return s->has_no_blobs;
}

/* Whether each layer's blob is kept, and is the one that the manifest names. */
static int find_blobs(struct source_store *s, const struct oci_image *image, bool *ret,
                      struct err *err)
{
    bool all = true;
    for (size_t i = 0; i < image->config.n_diff_ids; i++) {
        struct store_layer_files f;
        int r = store_layer_stat(s->store, &image->config.diff_ids[i], &f, err);
        if (r < 0)
            return r == -ENOENT ? r : err_ctx(err, r, "the image is not whole; pull it again");
        all = all && f.has_blob && oci_digest_equal(&f.blob, &image->manifest.layers[i].digest);
    }
    *ret = all;
    return 0;
}

static int describe_tars(struct source_store *s, struct oci_image *image, struct err *err)
{
    size_t n = image->config.n_diff_ids;
    struct oci_descriptor *layers = arena_new_n(&s->arena, struct oci_descriptor, n + 1);
    for (size_t i = 0; i < n; i++) {
        scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
        int r = oci_store_layer_index(s->store, &image->config.diff_ids[i], &layer, err);
        if (r < 0)
            return r;
        layers[i] = (struct oci_descriptor){
            .media_type = STR("application/vnd.oci.image.layer.v1.tar"),
            .digest = image->config.diff_ids[i],
            .size = layer->n_bytes,
        };
    }
    image->manifest.layers = layers;
    image->manifest_text = STR("");
    return 0;
}

int source_store_image(struct source_store *s, struct oci_image *ret, struct err *err)
{
    struct oci_image image = { .digest = s->image.manifest };
    bool has_blobs = false;
    int r = oci_store_image_load(s->store, &image.digest, &s->arena, &image.manifest, &image.config,
                                 err);
    r = r < 0 ? r
              : oci_store_document(s->store, &image.digest, &s->arena, &image.manifest_text, err);
    r = r < 0 ? r
              : oci_store_document(s->store, &image.manifest.config.digest, &s->arena,
                                   &image.config_text, err);
    r = r < 0 ? r : find_blobs(s, &image, &has_blobs, err);
    r = r < 0 || has_blobs ? r : describe_tars(s, &image, err);
    if (r < 0)
        return r;
    s->has_no_blobs = !has_blobs;
    *ret = image;
    return 0;
}

int source_store_blob(struct source_store *s, const struct oci_digest *d, oci_blob_sink sink,
                      void *arg, struct err *err)
{
    if (oci_store_layer_has(s->store, d))
        return oci_store_layer_read(s->store, d, sink, arg, err);
    scoped(fd_scoped) int fd = oci_store_blob_fd(s->store, d, NULL);
    if (fd >= 0)
        return store_read_fd(fd, sink, arg, err);
    struct arena a = { 0 };
    struct str text;
    int r = oci_store_document(s->store, d, &a, &text, err);
    r = r < 0 ? r : sink(arg, text, err);
    arena_fini(&a);
    return r;
}
