/* SPDX-License-Identifier: Apache-2.0 */
#include "image/trees.h"

#include "base/sys.h"
#include "codec/decompress.h"
#include "oci/delta_artifact.h"
#include "oci/tree_manifest.h"

#include <errno.h>
#include <fcntl.h>

#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"

void image_trees_fini(struct image_trees *t)
{
    map_each (at, &t->made) {
        buf_fini(at->value);
        free(at->value);
    }
    map_fini(&t->made);
}

/* ---- the tar of a layer ---- */

struct trees_unpacking {
    struct decompressor *d;
    int fd;
};

static int on_tar(void *arg, struct str bytes, struct err *err)
{
    const struct trees_unpacking *u = arg;
    int r = sys_write_all(u->fd, bytes.p, bytes.n);
    return r < 0 ? err_sys(err, r, "tar of a layer") : 0;
}

static int on_blob(void *arg, struct str bytes, struct err *err)
{
    const struct trees_unpacking *u = arg;
    return decompressor_add(u->d, bytes, err);
}

static int unpack(const struct image_trees_image *i, size_t k, int fd, struct err *err)
{
    struct trees_unpacking u = { .fd = fd };
    scoped(decompressor_free_scoped) struct decompressor *d = decompressor_new(on_tar, &u);
    u.d = d;
    int r = oci_source_blob(i->source, &i->image->manifest.layers[k], on_blob, &u, err);
    return r < 0 ? r : decompressor_end(d, err);
}

static ssize_t read_tar(void *arg, void *p, size_t n, uint64_t offset)
{
    const int *fd = arg;
    return sys_pread_full(*fd, p, n, offset);
}

/* ---- its tree ---- */

static int make(const struct image_trees_image *i, size_t k, struct buf *to, struct err *err)
{
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, i->directory, O_TMPFILE | O_RDWR, 0600);
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    scoped(buf_fini_scoped) struct buf frame = BUF_INIT(OCI_LAYER_TREE_MAX);
    scoped(buf_fini_scoped) struct buf tree = BUF_INIT(OCI_LAYER_TREE_MAX);
    int r = fd < 0 ? err_sys(err, fd, "temporary file in '%s'", i->directory)
                   : oci_source_layer(i->source, i->image, k, &layer, err);
    r = r < 0 ? r : unpack(i, k, fd, err);
    r = r < 0 ? r : oci_skeleton_pack(layer, read_tar, &fd, OCI_TREE_LEVEL, &frame, err);
    const struct oci_tree_source source = { layer, buf_str(&frame) };
    r = r < 0 ? r : oci_tree_manifest_write(&source, 1, &tree, err);
    return r < 0 ? r
                 : oci_layer_tree_write(i->blobs[k]->members, i->blobs[k]->n_members,
                                        buf_str(&tree), to, err);
}

static bool is_too_much(int r)
{
    return r == E_LIMIT || r == -EMSGSIZE || r == E_CORRUPT;
}

/* The tree of a layer, empty if it is to have none. */
static int tree_of(struct image_trees *t, const struct image_trees_image *i, size_t k,
                   struct str *ret, struct err *err)
{
    struct err why = { 0 };
    struct str key = str_n(i->image->config.diff_ids[k].bytes, SHA256_BYTES);
    struct buf *tree = map_get(&t->made, key);
    if (!tree) {
        tree = xnew(struct buf);
        *tree = BUF_INIT(OCI_LAYER_TREE_MAX);
        (void)map_put(&t->made, key, tree);
        int r = make(i, k, tree, &why);
        if (r < 0)
            buf_fini(tree);
        if (r < 0 && !is_too_much(r))
            return err_set(err, r, "%s", err_text(&why));
    }
    *ret = tree->failed ? STR("") : buf_str(tree);
    return 0;
}

/* ---- the artifact ---- */

static int write_blob(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err)
{
    const struct str *bytes = arg;
    return sink(sink_arg, *bytes, err);
}

static int push_blob(struct oci_remote *to, struct str bytes, struct oci_descriptor *ret,
                     struct err *err)
{
    enum oci_pushed how;
    *ret = (struct oci_descriptor){ .size = bytes.n };
    sha256_of(bytes, ret->digest.bytes);
    return oci_remote_push_blob(to, ret, NULL, write_blob, &bytes, &how, err);
}

int image_trees_push(struct image_trees *t, const struct image_trees_image *i,
                     struct oci_remote *to, struct err *err)
{
    scoped(free_scoped) struct oci_delta_blob *layers =
        xnew_n(struct oci_delta_blob, i->image->manifest.n_layers + 1);
    struct oci_descriptor empty;
    size_t n = 0;
    int r = 0;
    for (size_t k = 0; r >= 0 && k < i->image->manifest.n_layers; k++) {
        uint64_t size = i->image->manifest.layers[k].size;
        struct str tree = STR("");
        if (!i->blobs[k] || i->blobs[k]->n_members == 0 || size < IMAGE_TREE_LAYER_MIN)
            continue;
        r = tree_of(t, i, k, &tree, err);
        if (r < 0 || tree.n == 0 || tree.n >= size)
            continue;
        layers[n].of = i->image->config.diff_ids[k];
        r = push_blob(to, tree, &layers[n++].blob, err);
    }
    if (r < 0 || n == 0)
        return r;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_DOCUMENT_MAX);
    const struct oci_delta_artifact artifact = { .is_trees = true,
                                                 .layers = layers,
                                                 .n_layers = n };
    r = oci_delta_artifact_write(&artifact, i->image, &text, err);
    r = r < 0 ? r : push_blob(to, STR(OCI_EMPTY_TEXT), &empty, err);
    return r < 0 ? r : oci_remote_push_manifest(to, NULL, STR(MANIFEST_TYPE), buf_str(&text), err);
}
