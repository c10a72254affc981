/* SPDX-License-Identifier: Apache-2.0 */
#include "image/delta.h"

#include "base/sys.h"
#include "image/mirror_files.h"
#include "oci/delta_artifact.h"
#include "oci/pull_files.h"
#include "oci/tree_manifest.h"

#include <errno.h>

enum { WORTH_PERCENT = 50 }; /* of the blob: a larger delta is not worth keeping */

/* Answers the questions of a node that has the older version, and keeps them. */
struct delta_making {
    const struct image_deltas_opts *opts;
    struct oci_contents *older;
    struct arena memory; /* of one layer */
    struct oci_layer_delta delta;
    VEC(struct oci_delta_blob) done;
};

/* ---- one layer ---- */

static int read_all(int fd, uint64_t size, struct buf *to, struct err *err)
{
    char *room;
    int r = buf_reserve(to, (size_t)size + 1, &room);
    if (r < 0)
        return err_sys(err, r, "delta of a layer");
    ssize_t got = sys_pread_full(fd, room, (size_t)size, 0);
    if (got < 0 || (uint64_t)got < size)
        return err_set(err, got < 0 ? (int)got : -EIO, "temporary file");
    buf_advance(to, (size_t)size);
    return 0;
}

static int give_tree(void *arg, const struct oci_digest *diff_id, struct buf *to, struct err *err)
{
    struct delta_making *m = arg;
    uint64_t size;
    scoped(fd_scoped) int fd = -1;
    int r = mirror_files_tree(m->opts->store, diff_id, &fd, &size, err);
    r = r < 0 ? r : read_all(fd, size, to, err);
    if (r >= 0)
        m->delta.tree = str_copy_arena(&m->memory, buf_str(to));
    return r;
}

static int give_parcel(void *arg, struct str request, struct buf *to, struct err *err)
{
    struct delta_making *m = arg;
    uint64_t size;
    scoped(fd_scoped) int fd = -1;
    if (m->delta.n == OCI_LAYER_DELTA_PARCELS_MAX)
        return err_set(err, E_LIMIT, "delta of a layer: more than %d parcels",
                       OCI_LAYER_DELTA_PARCELS_MAX);
    int r = mirror_files_parcel(m->opts->store, request, &fd, &size, err);
    r = r < 0 ? r : read_all(fd, size, to, err);
    if (r < 0)
        return r;
    m->delta.parcels[m->delta.n].request = str_copy_arena(&m->memory, request);
    m->delta.parcels[m->delta.n++].answer = str_copy_arena(&m->memory, buf_str(to));
    return 0;
}

static int write_blob(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err)
{
    const struct str *bytes = arg;
    return sink(sink_arg, *bytes, err);
}

static int push_blob(struct oci_remote *to, struct str bytes, struct oci_digest *ret_digest,
                     struct err *err)
{
    enum oci_pushed how;
    struct oci_descriptor d = { .size = bytes.n };
    sha256_of(bytes, d.digest.bytes);
    *ret_digest = d.digest;
    return oci_remote_push_blob(to, &d, NULL, write_blob, &bytes, &how, err);
}

/* Push the delta of layer `i`. 1; 0: it is not worth it. */
static int push_layer(struct delta_making *m, struct oci_remote *to, size_t i, struct err *err)
{
    static const struct oci_origin_parts parts = { .tree = give_tree, .parcel = give_parcel };
    const struct oci_origin here = { .parts = &parts, .arg = m };
    const struct oci_image *image = m->opts->image;
    uint64_t blob_size = image->manifest.layers[i].size;
    struct oci_delta_blob made = { .of = image->config.diff_ids[i] };
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(OCI_LAYER_DELTA_MAX);
    struct oci_pull_files_result asked;
    const struct oci_pull_files how = { .s = m->opts->store,
                                        .contents = m->older,
                                        .origin = &here,
                                        .import = { .diff_id = made.of },
                                        .blob_size = blob_size };
    m->delta.n = 0;
    int r = oci_pull_files_ask(&how, &asked, err);
    r = r < 0 ? r : oci_layer_delta_write(&m->delta, &bytes, err);
    arena_fini(&m->memory);
    m->memory = (struct arena){ 0 };
    if (r == E_UNSUPPORTED || r == -ENOENT || r == E_LIMIT || r == -EMSGSIZE)
        return 0; /* the versions share nothing, or the store keeps no tar, or it is too large */
    if (r < 0)
        return r;
    if (bytes.n > blob_size / 100 * WORTH_PERCENT)
        return 0;
    r = push_blob(to, buf_str(&bytes), &made.blob.digest, err);
    if (r < 0)
        return r;
    made.blob.size = bytes.n;
    vec_push(&m->done, made);
    return 1;
}

/* ---- the image ---- */

static bool is_common(const struct image_deltas_opts *o, const struct oci_digest *diff_id)
{
    for (size_t i = 0; i < o->n_from; i++)
        if (oci_digest_equal(&o->from[i], diff_id))
            return true;
    return false;
}

static bool is_done(const struct delta_making *m, const struct oci_digest *diff_id)
{
    for (size_t i = 0; i < m->done.n; i++)
        if (oci_digest_equal(&m->done.p[i].of, diff_id))
            return true;
    return false;
}

static int push_layers(struct delta_making *m, struct oci_remote *to,
                       struct image_deltas_result *res, struct err *err)
{
    const struct oci_image *image = m->opts->image;
    for (size_t i = 0; i < image->manifest.n_layers; i++) {
        const struct oci_digest *id = &image->config.diff_ids[i];
        if (is_common(m->opts, id) || is_done(m, id)) {
            res->n_common += is_common(m->opts, id);
            continue;
        }
        int r = push_layer(m, to, i, err);
        if (r < 0)
            return r;
        res->n_left += r == 0;
        res->n_layers += r > 0;
        res->n_bytes += r > 0 ? m->done.p[m->done.n - 1].blob.size : 0;
        res->n_blob_bytes += r > 0 ? image->manifest.layers[i].size : 0;
    }
    return res->n_layers ? 0 : err_set(err, -ENOENT, "no layer has a delta that is worth it");
}

static int push_manifest(struct delta_making *m, struct oci_remote *to, struct oci_digest *ret,
                         struct err *err)
{
    struct oci_digest empty;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_DOCUMENT_MAX);
    const struct oci_delta_artifact artifact = {
        .from = m->opts->from, .n_from = m->opts->n_from, .layers = m->done.p, .n_layers = m->done.n
    };
    int r = oci_delta_artifact_write(&artifact, m->opts->image, &text, err);
    r = r < 0 ? r : push_blob(to, STR(OCI_EMPTY_TEXT), &empty, err);
    r = r < 0
            ? r
            : oci_remote_push_manifest(to, NULL, STR("application/vnd.oci.image.manifest.v1+json"),
                                       buf_str(&text), err);
    sha256_of(buf_str(&text), ret->bytes);
    return r;
}

int image_deltas_push(const struct image_deltas_opts *opts, struct oci_remote *to,
                      struct image_deltas_result *ret, struct err *err)
{
    struct image_deltas_result res = { 0 };
    struct delta_making *m = xnew(struct delta_making);
    m->opts = opts;
    m->older = oci_contents_of(opts->store, opts->from, opts->n_from, NULL);
    int r = push_layers(m, to, &res, err);
    r = r < 0 ? r : push_manifest(m, to, &res.manifest, err);
    oci_contents_free(m->older);
    arena_fini(&m->memory);
    vec_fini(&m->done);
    free(m);
    if (r >= 0)
        *ret = res;
    return r;
}
