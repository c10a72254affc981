/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_proof.h"

#include "oci/layer_gather.h"

#include <errno.h>

/* ---- two layers ---- */

static bool is_same_xattrs(const struct oci_entry *a, const struct oci_entry *b)
{
    if (a->n_xattrs != b->n_xattrs)
        return false;
    for (uint32_t i = 0; i < a->n_xattrs; i++)
        if (!str_eq(a->xattrs[i].name, b->xattrs[i].name) ||
            !str_eq(a->xattrs[i].value, b->xattrs[i].value))
            return false;
    return true;
}

static bool is_same_entry(const struct oci_entry *a, const struct oci_entry *b)
{
    bool has_digest = a->type == TAR_FILE && a->size;
    return a->type == b->type && a->mode == b->mode && a->uid == b->uid && a->gid == b->gid &&
           a->size == b->size && a->mtime_s == b->mtime_s && a->mtime_ns == b->mtime_ns &&
           a->device_major == b->device_major && a->device_minor == b->device_minor &&
           a->is_sparse == b->is_sparse && a->data_offset == b->data_offset &&
           str_eq(a->path, b->path) && str_eq(a->link, b->link) && is_same_xattrs(a, b) &&
           (!has_digest || memcmp(a->digest, b->digest, sizeof a->digest) == 0);
}

int lazy_proof_same(const struct oci_layer *declared, const struct oci_layer *is, struct err *err)
{
    if (declared->entries.n != is->entries.n || declared->whiteouts.n != is->whiteouts.n ||
        declared->n_bytes != is->n_bytes ||
        memcmp(declared->diff_id, is->diff_id, sizeof is->diff_id) != 0)
        return err_set(err, E_DIGEST, "the registry says of a layer other counts than it has");
    for (size_t i = 0; i < is->entries.n; i++)
        if (!is_same_entry(&declared->entries.p[i], &is->entries.p[i]))
            return err_set(err, E_DIGEST, "the registry says of entry %zu what its layer does not",
                           i);
    for (size_t i = 0; i < is->whiteouts.n; i++) {
        const struct oci_whiteout *a = &declared->whiteouts.p[i], *b = &is->whiteouts.p[i];
        if (a->is_opaque != b->is_opaque || !str_eq(a->path, b->path))
            return err_set(err, E_DIGEST,
                           "the registry says of removal %zu what its layer does not", i);
    }
    return 0;
}

/* ---- contents ---- */

static int add_to_hash(void *arg, struct str bytes, struct err *err)
{
    (void)err;
    sha256_add(arg, bytes.p, bytes.n);
    return 0;
}

int lazy_proof_contents(const struct lazy_proof_opts *o, struct err *err)
{
    scoped(sha256_free_scoped) struct sha256 *hash = sha256_new();
    const struct oci_skeleton *k = &lazy_trees_get(o->trees, o->layer)->skeleton;
    for (size_t i = 0; i < k->n_parts; i++) {
        uint8_t digest[SHA256_BYTES];
        struct oci_skeleton_part p = oci_skeleton_part(k, i);
        int r = o->content(o->content_arg, &p, add_to_hash, hash, err);
        if (r < 0)
            return r;
        sha256_end(hash, digest);
        if (memcmp(digest, p.digest, sizeof digest) != 0)
            return err_set(err, -EIO, "a file that came is another one by now");
    }
    return 0;
}

/* ---- a whole layer ---- */

struct proof {
    const struct lazy_proof_opts *o;
    struct sha256 *hash;
    void *reading;
    int read; /* the first error of reading; the tar is hashed to its end nevertheless */
    struct err read_err;
};

static int add_tar(void *arg, struct str bytes, struct err *err)
{
    struct proof *p = arg;
    (void)err;
    sha256_add(p->hash, bytes.p, bytes.n);
    if (p->read >= 0)
        p->read = p->o->reading->add(p->reading, bytes, &p->read_err);
    return 0;
}

static int make_tar(struct proof *p, struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    const struct lazy_proof_opts *o = p->o;
    struct lazy_tar tar;
    int r = lazy_trees_tar(o->trees, o->layer, &tar, err);
    if (r < 0)
        return r;
    r = oci_skeleton_make_tar(&tar.skeleton, o->content, o->content_arg, add_tar, p, err);
    lazy_tar_fini(&tar);
    if (r < 0)
        return r;
    sha256_end(p->hash, digest);
    if (memcmp(digest, o->trees->diff_ids[o->layer].bytes, sizeof digest) == 0)
        return 0;
    r = lazy_proof_contents(o, err);
    return r < 0 ? r : err_set(err, E_DIGEST, "a layer is not what its DiffID says");
}

int lazy_proof_layer(const struct lazy_proof_opts *o, struct err *err)
{
    struct layer_facts facts;
    scoped(oci_layer_free_scoped) struct oci_layer *is = NULL;
    scoped(layer_gather_free_scoped) struct layer_gather *g = layer_gather_new();
    scoped(sha256_free_scoped) struct sha256 *hash = sha256_new();
    struct proof p = { .o = o, .hash = hash };
    const struct oci_layer *declared = lazy_trees_get(o->trees, o->layer)->layer;
    p.read = o->reading->start(o->reading_arg, MAX(declared->n_bytes, (uint64_t)1),
                               &layer_gather_ops, g, &p.reading, &p.read_err);
    int r = make_tar(&p, err);
    if (r >= 0 && p.read >= 0)
        p.read = o->reading->end(p.reading, &facts, &p.read_err);
    if (p.reading)
        o->reading->free(p.reading);
    if (r < 0)
        return r;
    p.read = p.read < 0 ? p.read : layer_gather_end(g, &facts, &is, &p.read_err);
    if (p.read < 0) /* the tar's own digest is correct, so E_DIGEST is an error of the format */
        return err_set(err, p.read == E_DIGEST ? E_PARSE : p.read, "%s", err_text(&p.read_err));
    return lazy_proof_same(declared, is, err);
}
