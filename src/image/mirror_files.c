/* SPDX-License-Identifier: Apache-2.0 */
#include "image/mirror_files.h"

#include "base/map.h"
#include "base/sys.h"
#include "image/layer_rights.h"
#include "oci/file_parcel.h"
#include "oci/tree_manifest.h"

#include <errno.h>
#include <fcntl.h>

enum { ENTRIES_MAX = 1 << 20 }; /* of the layers of a request: later ones are left out */

/* ---- answers ---- */

/* In the store's file system; a file without a name changes nothing of the store. */
static int keep_answer(struct oci_store *s, struct str text, int *ret, uint64_t *ret_size,
                       struct err *err)
{
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, oci_store_root(s), O_TMPFILE | O_RDWR, 0600);
    if (fd < 0)
        fd = sys_memfd("answer"); /* it is mounted read-only */
    if (fd < 0)
        return err_sys(err, fd, "temporary file");
    int r = sys_pwrite_all(fd, text.p, text.n, 0);
    if (r < 0)
        return err_sys(err, r, "temporary file");
    *ret = take_fd(&fd);
    *ret_size = text.n;
    return 0;
}

int mirror_files_tree(struct oci_store *s, const struct oci_digest *diff_id, int *ret,
                      uint64_t *ret_size, struct err *err)
{
    struct err why = { 0 };
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_TREE_MANIFEST_MAX);
    if (!layer_rights_is_public(s, diff_id))
        return err_set(err, -ENOENT, "the store has no such layer");
    scoped(fd_scoped) int fd = oci_store_layer_fd(s, diff_id, &why);
    if (fd < 0)
        return err_set(err, fd == -ENODATA ? -ENOENT : fd, "%s", err_text(&why));
    int r = oci_store_layer_index(s, diff_id, &layer, err);
    r = r < 0 ? r
              : oci_tree_manifest_write((const struct oci_layer *const[]){ layer }, &fd, 1, &text,
                                        err);
    return r < 0 ? r : keep_answer(s, buf_str(&text), ret, ret_size, err);
}

/* ---- parcels ---- */

struct place {
    const struct oci_entry *file;
    int fd;
};

struct parcel {
    struct oci_store *s;
    struct arena memory;
    struct oci_parcel_request q;
    struct map places; /* digest -> struct place, of the layers that are named */
    struct oci_layer *layers[OCI_PARCEL_LAYERS_MAX];
    int fds[OCI_PARCEL_LAYERS_MAX];
    size_t n_layers, n_entries;
};

static void parcel_fini(struct parcel *p)
{
    map_fini(&p->places);
    for (size_t i = 0; i < p->n_layers; i++) {
        oci_layer_free(p->layers[i]);
        fd_scoped(&p->fds[i]);
    }
    arena_fini(&p->memory);
}

static void open_layer(struct parcel *p, const struct oci_digest *id)
{
    struct oci_layer *layer;
    if (p->n_entries >= ENTRIES_MAX || !layer_rights_is_public(p->s, id))
        return;
    scoped(fd_scoped) int fd = oci_store_layer_fd(p->s, id, NULL);
    if (fd < 0 || oci_store_layer_index(p->s, id, &layer, NULL) < 0)
        return; /* it is not here */
    p->n_entries += layer->entries.n;
    p->layers[p->n_layers] = layer;
    p->fds[p->n_layers++] = fd;
    vec_each (e, &layer->entries) {
        struct str key = str_n(e->digest, SHA256_BYTES);
        if (e->type != TAR_FILE || e->is_sparse || e->size == 0 || map_has(&p->places, key))
            continue;
        struct place *at = arena_new(&p->memory, struct place);
        *at = (struct place){ e, fd };
        (void)map_put(&p->places, key, at);
    }
    (void)take_fd(&fd);
}

/* How many bytes those have that are here, and which these are. */
static int measure(struct parcel *p, const struct oci_digest *all, size_t n, uint8_t *ret_has,
                   uint64_t *ret_bytes, struct err *err)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        const struct place *at = map_get(&p->places, str_n(all[i].bytes, SHA256_BYTES));
        ret_has[i] = at != NULL;
        if (at && at->file->size > OCI_PARCEL_BYTES_MAX - bytes)
            return err_set(err, E_LIMIT, "more than %d bytes of files at once",
                           OCI_PARCEL_BYTES_MAX);
        bytes += at ? at->file->size : 0;
    }
    *ret_bytes = bytes;
    return 0;
}

static int read_files(struct parcel *p, const struct oci_digest *all, size_t n, uint64_t n_bytes,
                      char **ret, struct err *err)
{
    scoped(free_scoped) char *bytes = mem_try((size_t)n_bytes + 1);
    size_t to = 0;
    if (!bytes)
        return err_set(err, -ENOMEM, "files of layers");
    for (size_t i = 0; i < n; i++) {
        const struct place *at = map_get(&p->places, str_n(all[i].bytes, SHA256_BYTES));
        if (!at)
            continue;
        size_t size = (size_t)at->file->size;
        ssize_t got = sys_pread_full(at->fd, bytes + to, size, at->file->data_offset);
        if (got < 0)
            return err_sys(err, (int)got, "read a layer");
        if ((size_t)got < size)
            return err_set(err, E_CORRUPT, "a tar is shorter than its index says");
        to += size;
    }
    *ret = take_ptr(&bytes);
    return 0;
}

static int make_parcel(struct parcel *p, struct buf *to, struct err *err)
{
    const struct oci_parcel_request *q = &p->q;
    scoped(free_scoped) char *bases = NULL, *files = NULL;
    uint8_t *has_base = arena_new_n(&p->memory, uint8_t, q->n_bases + 1);
    uint8_t *has_file = arena_new_n(&p->memory, uint8_t, q->n_files + 1);
    uint64_t n_bases = 0, n_files = 0;
    for (size_t i = 0; i < q->n_layers; i++)
        open_layer(p, &q->layers[i]);
    if (p->n_layers == 0)
        return err_set(err, -ENOENT, "the store has none of these layers");
    int r = measure(p, q->bases, q->n_bases, has_base, &n_bases, err);
    r = r < 0 ? r : measure(p, q->files, q->n_files, has_file, &n_files, err);
    r = r < 0 ? r : read_files(p, q->bases, q->n_bases, n_bases, &bases, err);
    r = r < 0 ? r : read_files(p, q->files, q->n_files, n_files, &files, err);
    const struct oci_parcel parcel = {
        .has_base = has_base, .has_file = has_file, .n_bases = q->n_bases, .n_files = q->n_files
    };
    return r < 0 ? r
                 : oci_parcel_write(&parcel, str_n(bases, (size_t)n_bases),
                                    str_n(files, (size_t)n_files), to, err);
}

int mirror_files_parcel(struct oci_store *s, struct str request, int *ret, uint64_t *ret_size,
                        struct err *err)
{
    scoped(buf_fini_scoped) struct buf answer = BUF_INIT(OCI_PARCEL_ANSWER_MAX);
    struct parcel *p = xnew(struct parcel);
    p->s = s;
    p->places.borrows_keys = true;
    int r = oci_parcel_request_read(&p->memory, request, &p->q, err);
    r = r < 0 ? r : make_parcel(p, &answer, err);
    parcel_fini(p);
    free(p);
    return r < 0 ? r : keep_answer(s, buf_str(&answer), ret, ret_size, err);
}
