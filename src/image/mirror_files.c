/* SPDX-License-Identifier: Apache-2.0 */
#include "image/mirror_files.h"

#include "base/sys.h"
#include "image/layer_rights.h"
#include "oci/contents.h"
#include "oci/file_parcel.h"
#include "oci/tree_manifest.h"

#include <errno.h>
#include <fcntl.h>

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
    scoped(buf_fini_scoped) struct buf frame = BUF_INIT(OCI_TREE_MANIFEST_MAX);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_TREE_MANIFEST_MAX);
    if (!layer_rights_is_public(s, diff_id))
        return err_set(err, -ENOENT, "the store has no such layer");
    int r = oci_store_layer_index(s, diff_id, &layer, &why);
    r = r < 0 ? r
              : oci_store_layer_frame(s, diff_id, layer, OCI_TREE_SKELETON_MAX, OCI_TREE_LEVEL,
                                      &frame, &why);
    if (r < 0)
        return err_set(err, r == -ENODATA ? -ENOENT : r, "%s", err_text(&why));
    const struct oci_tree_source from = { layer, buf_str(&frame) };
    r = oci_tree_manifest_write(&from, 1, &text, err);
    return r < 0 ? r : keep_answer(s, buf_str(&text), ret, ret_size, err);
}

/* ---- parcels ---- */

struct mirror_files_parcel {
    struct arena memory;
    struct oci_parcel_request q;
    struct oci_contents *contents; /* of the layers that are named */
};

/* The number of bytes of the available files, and which files these are. */
static int measure(struct mirror_files_parcel *p, const struct oci_digest *all, size_t n,
                   uint8_t *ret_has, uint64_t *ret_bytes, struct err *err)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        struct oci_content found = { .size = 0 };
        ret_has[i] = oci_contents_get(p->contents, &all[i], &found);
        if (found.size > OCI_PARCEL_BYTES_MAX - bytes)
            return err_set(err, E_LIMIT, "more than %d bytes of files at once",
                           OCI_PARCEL_BYTES_MAX);
        bytes += found.size;
    }
    *ret_bytes = bytes;
    return 0;
}

/* Those that measure() has found. */
static int read_files(struct mirror_files_parcel *p, const struct oci_digest *all, size_t n,
                      const uint8_t *has, uint64_t n_bytes, char **ret, struct err *err)
{
    scoped(free_scoped) char *bytes = mem_try((size_t)n_bytes + 1);
    size_t to = 0;
    if (!bytes)
        return err_set(err, -ENOMEM, "files of layers");
    for (size_t i = 0; i < n; i++) {
        struct oci_content from;
        if (!has[i])
            continue;
        if (!oci_contents_get(p->contents, &all[i], &from) || from.size > n_bytes - to)
            return err_set(err, -ENOENT, "a file left the store meanwhile");
        int r = oci_contents_read(p->contents, &from, bytes + to, (size_t)from.size, 0, err);
        if (r < 0)
            return r;
        to += (size_t)from.size;
    }
    *ret = take_ptr(&bytes);
    return 0;
}

static int make_parcel(struct mirror_files_parcel *p, struct buf *to, struct err *err)
{
    const struct oci_parcel_request *q = &p->q;
    scoped(free_scoped) char *bases = NULL, *files = NULL;
    uint8_t *has_base = arena_new_n(&p->memory, uint8_t, q->n_bases + 1);
    uint8_t *has_file = arena_new_n(&p->memory, uint8_t, q->n_files + 1);
    uint64_t n_bases = 0, n_files = 0;
    if (oci_contents_n_layers(p->contents) == 0)
        return err_set(err, -ENOENT, "the store has none of these layers");
    int r = measure(p, q->bases, q->n_bases, has_base, &n_bases, err);
    r = r < 0 ? r : measure(p, q->files, q->n_files, has_file, &n_files, err);
    r = r < 0 ? r : read_files(p, q->bases, q->n_bases, has_base, n_bases, &bases, err);
    r = r < 0 ? r : read_files(p, q->files, q->n_files, has_file, n_files, &files, err);
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
    struct mirror_files_parcel p = { 0 };
    int r = oci_parcel_request_read(&p.memory, request, &p.q, err);
    if (r >= 0) {
        p.contents = oci_contents_of(s, p.q.layers, p.q.n_layers, layer_rights_is_public);
        r = make_parcel(&p, &answer, err);
    }
    oci_contents_free(p.contents);
    arena_fini(&p.memory);
    return r < 0 ? r : keep_answer(s, buf_str(&answer), ret, ret_size, err);
}
