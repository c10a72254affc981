/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/pull_deltas.h"

#include <unistd.h>

enum { DOCUMENT_MEMORY_MAX = 64 << 20 };

struct oci_deltas {
    struct arena memory;
    struct oci_delta_artifact deltas, trees; /* without layers where none is attached */
};

static bool has_all(struct oci_store *s, const struct oci_delta_referrer *d)
{
    for (size_t i = 0; i < d->n_from; i++) {
        scoped(fd_scoped) int fd = oci_store_layer_fd(s, &d->from[i], NULL);
        if (fd < 0 && !oci_store_layer_is_shared(s, &d->from[i]))
            return false;
    }
    return true;
}

static int get(const struct oci_origin *o, const struct oci_delta_referrer *one,
               struct oci_deltas *d, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_DOCUMENT_MAX);
    struct oci_delta_artifact found;
    int r = o->parts->manifest(o->arg, &one->manifest, &text, err);
    if (r < 0)
        return r;
    struct str kept = str_copy_arena(&d->memory, buf_str(&text));
    r = oci_delta_artifact_read(&d->memory, kept, &found, err);
    if (r < 0 || found.is_trees != one->is_trees)
        return r < 0 ? r : err_set(err, E_PARSE, "what is attached is of another kind");
    *(found.is_trees ? &d->trees : &d->deltas) = found;
    return 0;
}

/* The first deltas of which the store has the files, and the first trees. */
static int find(struct oci_store *s, const struct oci_origin *o, const struct oci_digest *manifest,
                struct oci_deltas *d, struct err *err)
{
    scoped(buf_fini_scoped) struct buf index = BUF_INIT(OCI_DOCUMENT_MAX);
    struct oci_delta_referrer *all;
    size_t n = 0;
    int r = o->parts->referrers(o->arg, manifest, &index, err);
    r = r < 0 ? r : oci_delta_referrers(&d->memory, buf_str(&index), &all, &n, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        const struct oci_delta_artifact *have = all[i].is_trees ? &d->trees : &d->deltas;
        if (have->n_layers == 0 && (all[i].is_trees || has_all(s, &all[i])))
            (void)get(o, &all[i], d, NULL); /* one that cannot be read is as if it were not there */
    }
    return d->trees.n_layers || d->deltas.n_layers
               ? 0
               : err_set(err, E_UNSUPPORTED, "nothing is attached that the store has a use for");
}

int oci_deltas_find(struct oci_store *s, const struct oci_origin *origin,
                    const struct oci_digest *manifest, struct oci_deltas **ret, struct err *err)
{
    struct oci_deltas *d = xnew(struct oci_deltas);
    d->memory.max_bytes = DOCUMENT_MEMORY_MAX;
    int r = find(s, origin, manifest, d, err);
    if (r < 0)
        oci_deltas_free(d);
    else
        *ret = d;
    return r;
}

void oci_deltas_free(struct oci_deltas *d)
{
    if (d)
        arena_fini(&d->memory);
    free(d);
}

static const struct oci_descriptor *layer_of(const struct oci_delta_artifact *a,
                                             const struct oci_digest *diff_id)
{
    for (size_t i = 0; i < a->n_layers; i++)
        if (oci_digest_equal(&a->layers[i].of, diff_id))
            return &a->layers[i].blob;
    return NULL;
}

const struct oci_descriptor *oci_deltas_get(const struct oci_deltas *d,
                                            const struct oci_digest *diff_id)
{
    return d ? layer_of(&d->deltas, diff_id) : NULL;
}

const struct oci_descriptor *oci_deltas_tree(const struct oci_deltas *d,
                                             const struct oci_digest *diff_id)
{
    return d ? layer_of(&d->trees, diff_id) : NULL;
}

static int add_to_buf(void *arg, struct str bytes, struct err *err)
{
    int r = buf_add_str(arg, bytes);
    return r < 0 ? err_sys(err, r, "delta of a layer") : 0;
}

int oci_delta_fetch(const struct oci_origin *origin, const struct oci_descriptor *blob,
                    struct buf *to, struct err *err)
{
    struct oci_digest found;
    size_t start = to->n;
    int r = origin->blob(origin->arg, blob, 0, add_to_buf, to, err);
    if (r < 0)
        return r;
    struct str bytes = str_slice(buf_str(to), start, to->n);
    sha256_of(bytes, found.bytes);
    return bytes.n == blob->size && oci_digest_equal(&found, &blob->digest)
               ? 0
               : err_set(err, E_DIGEST, "what is attached for a layer is not what its digest says");
}
