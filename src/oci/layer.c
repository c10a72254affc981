/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/layer.h"

#include <errno.h>

enum {
    ZEROS_BYTES = 64 << 10,
    /* The first word of a .pyc, its version: between these (Python 3.7 to the present) flags
     * follow; before 3.7, and in Python 2, the time does. */
    PYC_FLAGS_FROM = 3392,
    PYC_PYTHON_2 = 20000,
};

static const struct str WHITEOUT = { ".wh.", 4 }, META = { ".wh..wh.", 8 };

struct oci_layer_reader {
    struct oci_layer *layer;
    struct tar_reader *tar;
    struct sha256 *diff_id;
    struct sha256 *content;
    struct oci_entry *open;           /* the file whose content is read; NULL: none */
    uint64_t left;                    /* bytes of it */
    uint64_t n_content;               /* of the layer */
    uint64_t n_holes;                 /* of that, bytes of holes */
    uint8_t head[OCI_LAYER_PYC_HEAD]; /* of the content of a .pyc */
    size_t n_head;
};

void oci_layer_free(struct oci_layer *layer)
{
    if (!layer)
        return;
    vec_fini(&layer->entries);
    vec_fini(&layer->whiteouts);
    arena_fini(&layer->text);
    free(layer);
}

/* ---- entries ---- */

static void split_path(struct str path, struct str *ret_dir, struct str *ret_name)
{
    size_t at = path.n;
    while (at && path.p[at - 1] != '/')
        at--;
    *ret_dir = str_slice(path, 0, at ? at - 1 : 0);
    *ret_name = str_slice(path, at, path.n);
}

/* Aufs keeps its own files beside those of the layer; only the opaque marker has a meaning. */
static bool is_aufs_leftover(struct str path)
{
    while (path.n) {
        struct str part;
        (void)str_cut(path, '/', &part, &path);
        if (str_has_prefix(part, META) && !(path.n == 0 && str_is(part, ".wh..wh..opq")))
            return true;
    }
    return false;
}

bool oci_layer_is_entry_path(struct str path)
{
    struct str dir, name;
    split_path(path, &dir, &name);
    return !is_aufs_leftover(path) && !str_has_prefix(name, WHITEOUT);
}

/* The memory of a layer with one more entry and `n` bytes of its names. */
static int check_memory(const struct oci_layer *layer, size_t n, struct err *err)
{
    uint64_t used = (layer->entries.n + 1) * sizeof *layer->entries.p +
                    (layer->whiteouts.n + 1) * sizeof *layer->whiteouts.p + layer->text.total_bytes;
    if (used + n <= OCI_LAYER_MEMORY_MAX)
        return 0;
    return err_set(err, E_LIMIT, "the index of the layer takes more than %d MiB of memory",
                   OCI_LAYER_MEMORY_MAX >> 20);
}

static void *text_room(struct oci_layer *layer, size_t n, struct err *err)
{
    if (check_memory(layer, n, err) < 0)
        return NULL;
    void *p = arena_try(&layer->text, n);
    if (!p)
        (void)err_set(err, E_LIMIT, "no memory for the index of the layer");
    return p;
}

static int text_copy(struct oci_layer *layer, struct str s, struct str *ret, struct err *err)
{
    *ret = STR("");
    if (s.n == 0)
        return 0;
    char *p = text_room(layer, s.n + 1, err);
    if (!p)
        return E_LIMIT;
    memcpy(p, s.p, s.n);
    *ret = str_n(p, s.n);
    return 0;
}

/* Before an entry or whiteout is added. */
static int check_room(const struct oci_layer *layer, struct err *err)
{
    if (layer->entries.n + layer->whiteouts.n >= OCI_LAYER_ENTRIES_MAX)
        return err_set(err, E_LIMIT, "a layer has more than %d entries", OCI_LAYER_ENTRIES_MAX);
    return check_memory(layer, 0, err);
}

int oci_layer_add_whiteout(struct oci_layer *layer, const struct oci_whiteout *w, struct err *err)
{
    struct oci_whiteout own = { .is_opaque = w->is_opaque };
    int r = check_room(layer, err);
    r = r < 0 ? r : text_copy(layer, w->path, &own.path, err);
    if (r < 0)
        return r;
    vec_push(&layer->whiteouts, own);
    return 0;
}

static int add_whiteout(struct oci_layer *layer, struct str dir, struct str name, struct err *err)
{
    char room[TAR_PATH_MAX];
    if (str_is(name, ".wh..wh..opq"))
        return oci_layer_add_whiteout(layer, &(struct oci_whiteout){ dir, true }, err);
    struct str hidden = str_slice(name, WHITEOUT.n, name.n);
    if (hidden.n == 0 || str_is(hidden, ".") || str_is(hidden, ".."))
        return err_set(err, E_PARSE, "a whiteout names nothing");
    size_t n = dir.n ? dir.n + 1 : 0;
    if (dir.n) {
        memcpy(room, dir.p, dir.n);
        room[dir.n] = '/';
    }
    memcpy(room + n, hidden.p, hidden.n);
    struct oci_whiteout w = { str_n(room, n + hidden.n), false };
    return oci_layer_add_whiteout(layer, &w, err);
}

bool oci_layer_drops_xattr(struct str name)
{
    return str_has_prefix(name, STR("trusted.overlay.")) ||
           str_has_prefix(name, STR("user.overlay."));
}

static int copy_xattrs(struct oci_layer *layer, const struct tar_xattr *from, size_t n,
                       struct oci_entry *to, struct err *err)
{
    to->xattrs = NULL;
    to->n_xattrs = 0;
    if (n == 0)
        return 0;
    struct tar_xattr *x = text_room(layer, n * sizeof *x, err);
    if (!x)
        return E_LIMIT;
    for (size_t i = 0; i < n; i++) {
        if (oci_layer_drops_xattr(from[i].name)) {
            layer->n_dropped++;
            continue;
        }
        int r = text_copy(layer, from[i].name, &x[to->n_xattrs].name, err);
        r = r < 0 ? r : text_copy(layer, from[i].value, &x[to->n_xattrs].value, err);
        if (r < 0)
            return r;
        to->n_xattrs++;
    }
    to->xattrs = x;
    return 0;
}

int oci_layer_add_entry(struct oci_layer *layer, const struct oci_entry *e, struct oci_entry **ret,
                        struct err *err)
{
    struct oci_entry own = *e;
    int r = check_room(layer, err);
    r = r < 0 ? r : text_copy(layer, e->path, &own.path, err);
    r = r < 0 ? r : text_copy(layer, e->link, &own.link, err);
    r = r < 0 ? r : copy_xattrs(layer, e->xattrs, e->n_xattrs, &own, err);
    if (r < 0)
        return r;
    vec_push(&layer->entries, own);
    *ret = &layer->entries.p[layer->entries.n - 1];
    return 0;
}

int oci_layer_add(struct oci_layer *layer, const struct tar_entry *e, struct oci_entry **ret,
                  struct err *err)
{
    struct str dir, name;
    *ret = NULL;
    if (is_aufs_leftover(e->path)) {
        layer->n_dropped++;
        return 0;
    }
    split_path(e->path, &dir, &name);
    if (str_has_prefix(name, WHITEOUT))
        return add_whiteout(layer, dir, name, err);
    const struct oci_entry entry = {
        .path = e->path,
        .link = e->link,
        .xattrs = e->xattrs,
        .n_xattrs = (uint32_t)e->n_xattrs,
        .size = e->size,
        .mtime_s = e->mtime_s,
        .mtime_ns = e->mtime_ns,
        .data_offset = e->data_offset,
        .uid = e->uid,
        .gid = e->gid,
        .device_major = e->device_major,
        .device_minor = e->device_minor,
        .mode = (uint16_t)e->mode,
        .type = (uint8_t)e->type,
        .is_sparse = e->is_sparse,
    };
    return oci_layer_add_entry(layer, &entry, ret, err);
}

/* ---- the tar ---- */

/* PEP 552: with bit 0 of the flags Python compares the source by its hash. */
bool oci_layer_pyc_records_time(struct str bytes)
{
    struct rd head = rd_init(bytes.p, bytes.n);
    uint16_t version = rd_le16(&head);
    (void)rd_le16(&head);
    uint32_t flags = rd_le32(&head);
    bool has_flags = version >= PYC_FLAGS_FROM && version < PYC_PYTHON_2;
    return rd_ok(&head) && !(has_flags && (flags & 1));
}

static void close_file(struct oci_layer_reader *r)
{
    struct oci_entry *e = r->open;
    if (!e || r->left)
        return;
    sha256_end(r->content, e->digest);
    e->records_time = str_has_suffix(e->path, STR(".pyc")) &&
                      oci_layer_pyc_records_time(str_n((const char *)r->head, r->n_head));
    r->n_head = 0;
    r->open = NULL;
}

static int on_entry(void *arg, const struct tar_entry *e, struct err *err)
{
    struct oci_layer_reader *r = arg;
    struct oci_entry *added;
    if (e->size > OCI_LAYER_CONTENT_MAX - r->n_content)
        return err_set(err, E_LIMIT, "the files of a layer are larger than %llu bytes",
                       (unsigned long long)OCI_LAYER_CONTENT_MAX);
    r->n_content += e->size;
    int status = oci_layer_add(r->layer, e, &added, err);
    if (status < 0)
        return status;
    r->open = e->type == TAR_FILE ? added : NULL;
    r->left = e->size;
    close_file(r);
    return 0;
}

static int on_data(void *arg, struct str bytes, struct err *err)
{
    struct oci_layer_reader *r = arg;
    if (!r->open)
        return 0;
    sha256_add(r->content, bytes.p, bytes.n);
    r->left -= bytes.n;
    for (size_t i = 0; i < bytes.n && r->n_head < sizeof r->head; i++)
        r->head[r->n_head++] = (uint8_t)bytes.p[i];
    close_file(r);
    return 0;
}

static int on_hole(void *arg, uint64_t n_bytes, struct err *err)
{
    static const char zeros[ZEROS_BYTES];
    struct oci_layer_reader *reader = arg;
    if (n_bytes > OCI_LAYER_HOLES_MAX - reader->n_holes)
        return err_set(err, E_LIMIT, "the holes of a layer's files are larger than %llu bytes",
                       (unsigned long long)OCI_LAYER_HOLES_MAX);
    reader->n_holes += n_bytes;
    while (n_bytes) {
        size_t n = (size_t)MIN(n_bytes, (uint64_t)sizeof zeros);
        int r = on_data(arg, str_n(zeros, n), err);
        if (r < 0)
            return r;
        n_bytes -= n;
    }
    return 0;
}

struct oci_layer_reader *oci_layer_reader_new(void)
{
    static const struct tar_ops ops = { .entry = on_entry, .data = on_data, .hole = on_hole };
    struct oci_layer_reader *r = xnew(struct oci_layer_reader);
    r->layer = xnew(struct oci_layer);
    r->tar = tar_reader_new(&ops, r);
    r->diff_id = sha256_new();
    r->content = sha256_new();
    return r;
}

void oci_layer_reader_free(struct oci_layer_reader *r)
{
    if (!r)
        return;
    oci_layer_free(r->layer);
    tar_reader_free(r->tar);
    sha256_free(r->diff_id);
    sha256_free(r->content);
    free(r);
}

int oci_layer_reader_add(struct oci_layer_reader *r, struct str bytes, struct err *err)
{
    sha256_add(r->diff_id, bytes.p, bytes.n);
    r->layer->n_bytes += bytes.n;
    return tar_reader_add(r->tar, bytes, err);
}

int oci_layer_reader_end(struct oci_layer_reader *r, struct oci_layer **ret, struct err *err)
{
    int status = tar_reader_end(r->tar, err);
    if (status < 0)
        return status;
    sha256_end(r->diff_id, r->layer->diff_id);
    *ret = take_ptr(&r->layer);
    return 0;
}
