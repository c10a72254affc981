/* SPDX-License-Identifier: Apache-2.0 */
#include "image/layer_wire.h"

#include "base/buf.h"
#include "base/sys.h"

#include <assert.h>
#include <errno.h>
#include <sys/uio.h>

enum { DIRECT_BYTES = 16 << 10 /* of a record */ };

enum layer_wire_kind {
    WIRE_ENTRY,
    WIRE_DATA,
    WIRE_HOLE,
    WIRE_WHITEOUT,
    WIRE_RAW,
    WIRE_END,
    WIRE_ERROR
};

struct head {
    uint32_t kind, n;
};

struct entry_head {
    uint64_t size, data_offset;
    int64_t mtime_s;
    uint32_t mtime_ns, uid, gid, device_major, device_minor, n_xattrs, n_path, n_link;
    uint16_t mode;
    uint8_t type, is_sparse;
};

/* ---- writing ---- */

static int flush(struct layer_wire_out *o)
{
    int r = o->n ? sys_write_all(o->fd, o->buffer, o->n) : 0;
    o->n = 0;
    return r;
}

static int put(struct layer_wire_out *o, const void *p, size_t n)
{
    const char *from = p;
    while (n) {
        size_t part = MIN(n, sizeof o->buffer - o->n);
        memcpy(o->buffer + o->n, from, part);
        o->n += part;
        from += part;
        n -= part;
        int r = o->n == sizeof o->buffer ? flush(o) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* Large records are written without a copy, in the same call as the gathered ones. */
static int put_through(struct layer_wire_out *o, struct str payload)
{
    const struct iovec both[] = { { o->buffer, o->n }, { (void *)payload.p, payload.n } };
    size_t first = o->n;
    ssize_t n;
    while ((n = writev(o->fd, both, ARRAY_LEN(both))) < 0 && errno == EINTR)
        continue;
    if (n < 0)
        return -errno;
    size_t done = (size_t)n;
    o->n = 0;
    if (done < first) {
        int r = sys_write_all(o->fd, o->buffer + done, first - done);
        if (r < 0)
            return r;
        done = first;
    }
    return sys_write_all(o->fd, payload.p + (done - first), payload.n - (done - first));
}

static int put_record(struct layer_wire_out *o, enum layer_wire_kind kind, struct str payload,
                      struct err *err)
{
    const struct head h = { kind, (uint32_t)payload.n };
    int r = put(o, &h, sizeof h);
    if (r >= 0 && payload.n >= DIRECT_BYTES)
        r = put_through(o, payload);
    else if (r >= 0)
        r = put(o, payload.p, payload.n);
    return r < 0 ? err_sys(err, r, "write to the unpacker") : 0;
}

static int on_entry(void *arg, const struct oci_entry *e, struct err *err)
{
    struct buf b = BUF_INIT(LAYER_WIRE_MAX);
    struct entry_head h;
    memset(&h, 0, sizeof h); /* with the padding */
    h.size = e->size;
    h.data_offset = e->data_offset;
    h.mtime_s = e->mtime_s;
    h.mtime_ns = e->mtime_ns;
    h.uid = e->uid;
    h.gid = e->gid;
    h.device_major = e->device_major;
    h.device_minor = e->device_minor;
    h.n_xattrs = e->n_xattrs;
    h.n_path = (uint32_t)e->path.n;
    h.n_link = (uint32_t)e->link.n;
    h.mode = e->mode;
    h.type = e->type;
    h.is_sparse = e->is_sparse;
    (void)buf_add(&b, &h, sizeof h);
    (void)buf_add_str(&b, e->path);
    (void)buf_add_str(&b, e->link);
    for (uint32_t i = 0; i < e->n_xattrs; i++) {
        (void)buf_add_le32(&b, (uint32_t)e->xattrs[i].name.n);
        (void)buf_add_le32(&b, (uint32_t)e->xattrs[i].value.n);
        (void)buf_add_str(&b, e->xattrs[i].name);
        (void)buf_add_str(&b, e->xattrs[i].value);
    }
    int r = buf_ok(&b) ? put_record(arg, WIRE_ENTRY, buf_str(&b), err)
                       : err_set(err, E_LIMIT, "the attributes of an entry are too large");
    buf_fini(&b);
    return r;
}

static int on_data(void *arg, struct str bytes, struct err *err)
{
    return put_record(arg, WIRE_DATA, bytes, err);
}

static int on_hole(void *arg, uint64_t n_bytes, struct err *err)
{
    return put_record(arg, WIRE_HOLE, str_n(&n_bytes, sizeof n_bytes), err);
}

static int on_whiteout(void *arg, const struct oci_whiteout *w, struct err *err)
{
    char room[1 + TAR_PATH_MAX];
    assert(w->path.n < TAR_PATH_MAX);
    room[0] = w->is_opaque;
    memcpy(room + 1, w->path.p, w->path.n);
    return put_record(arg, WIRE_WHITEOUT, str_n(room, 1 + w->path.n), err);
}

static int on_raw(void *arg, struct str bytes, struct err *err)
{
    return put_record(arg, WIRE_RAW, bytes, err);
}

const struct layer_ops layer_wire_ops = {
    .entry = on_entry,
    .data = on_data,
    .hole = on_hole,
    .whiteout = on_whiteout,
};
const struct layer_ops layer_wire_raw_ops = {
    .entry = on_entry,
    .data = on_data,
    .hole = on_hole,
    .whiteout = on_whiteout,
    .raw = on_raw,
};

int layer_wire_end(struct layer_wire_out *o, int r, const struct layer_facts *facts,
                   const struct err *why)
{
    int status = r < 0 ? put_record(o, WIRE_ERROR, str_n(why, sizeof *why), NULL)
                       : put_record(o, WIRE_END, str_n(facts, sizeof *facts), NULL);
    return status < 0 ? status : flush(o);
}

/* ---- reading ---- */

static int bad(struct err *err)
{
    return err_set(err, E_PARSE, "the process that reads the layer broke its protocol");
}

/* As the tar reader gives paths. */
static bool is_normal(struct str path)
{
    char room[TAR_PATH_MAX];
    struct str again;
    return tar_normalize(path, room, &again, NULL) >= 0 && str_eq(path, again);
}

static bool is_valid_xattr(const struct tar_xattr *x)
{
    return x->name.n > 0 && x->name.n <= TAR_NAME_MAX && !memchr(x->name.p, 0, x->name.n) &&
           x->value.n <= TAR_XATTRS_MAX && !oci_layer_drops_xattr(x->name);
}

/* As the tar reader and the index have them: sorted, none twice, and bounded together. */
static bool are_valid_xattrs(const struct tar_xattr *x, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += x[i].name.n + x[i].value.n;
        if (!is_valid_xattr(&x[i]) || bytes > TAR_XATTRS_MAX ||
            (i && str_cmp(x[i - 1].name, x[i].name) >= 0))
            return false;
    }
    return true;
}

static bool is_valid(const struct oci_entry *e)
{
    bool has_link = e->type == TAR_SYMLINK || e->type == TAR_HARDLINK;
    if (e->type > TAR_FIFO || (e->is_sparse && e->type != TAR_FILE) || !is_normal(e->path) ||
        !oci_layer_is_entry_path(e->path) || (e->path.n == 0 && e->type != TAR_DIR))
        return false;
    if (has_link != (e->link.n > 0) || e->link.n >= TAR_PATH_MAX ||
        (has_link && memchr(e->link.p, 0, e->link.n)) ||
        (e->type == TAR_HARDLINK && !is_normal(e->link)))
        return false;
    return e->mode <= 07777 && e->mtime_ns < 1000000000 && (e->type == TAR_FILE || e->size == 0) &&
           e->size <= OCI_LAYER_CONTENT_MAX;
}

static int take_entry(struct layer_wire_in *in, struct str payload, struct err *err)
{
    struct entry_head h;
    struct tar_xattr xattrs[TAR_XATTR_COUNT_MAX];
    if (payload.n < sizeof h)
        return bad(err);
    memcpy(&h, payload.p, sizeof h);
    struct rd r = rd_init(payload.p + sizeof h, payload.n - sizeof h);
    struct oci_entry e = {
        .size = h.size,
        .data_offset = h.data_offset,
        .mtime_s = h.mtime_s,
        .mtime_ns = h.mtime_ns,
        .uid = h.uid,
        .gid = h.gid,
        .device_major = h.device_major,
        .device_minor = h.device_minor,
        .mode = h.mode,
        .type = h.type,
        .is_sparse = h.is_sparse != 0,
        .xattrs = xattrs,
        .n_xattrs = h.n_xattrs,
    };
    if (h.n_xattrs > TAR_XATTR_COUNT_MAX || in->left || ++in->n_entries > OCI_LAYER_ENTRIES_MAX)
        return bad(err);
    e.path = rd_str(&r, h.n_path);
    e.link = rd_str(&r, h.n_link);
    for (uint32_t i = 0; i < h.n_xattrs; i++) {
        uint32_t n_name = rd_le32(&r), n_value = rd_le32(&r);
        xattrs[i].name = rd_str(&r, n_name);
        xattrs[i].value = rd_str(&r, n_value);
    }
    if (!rd_ok(&r) || rd_left(&r) || !is_valid(&e) || !are_valid_xattrs(xattrs, h.n_xattrs))
        return bad(err);
    if (e.size > OCI_LAYER_CONTENT_MAX - in->n_content)
        return bad(err);
    in->n_content += e.size;
    bool has_content = e.type == TAR_FILE && (e.is_sparse || !in->ops->raw);
    in->left = has_content ? e.size : 0;
    return in->ops->entry(in->arg, &e, err);
}

/* More of the tar, or of content that the tar holds, than the tar may have. */
static bool has_too_many(uint64_t *n, uint64_t more, uint64_t max)
{
    *n += more;
    return *n > max;
}

static int take_content(struct layer_wire_in *in, enum layer_wire_kind kind, struct str payload,
                        struct err *err)
{
    uint64_t n = payload.n;
    if (kind == WIRE_HOLE && payload.n != sizeof n)
        return bad(err);
    if (kind == WIRE_HOLE)
        memcpy(&n, payload.p, sizeof n);
    if (n == 0 || n > in->left) /* of nothing there could be records without end */
        return bad(err);
    in->left -= n;
    if (kind == WIRE_DATA && has_too_many(&in->n_data, n, in->max_bytes))
        return bad(err);
    return kind == WIRE_HOLE ? in->ops->hole(in->arg, n, err)
                             : in->ops->data(in->arg, payload, err);
}

static int take_whiteout(struct layer_wire_in *in, struct str payload, struct err *err)
{
    struct oci_whiteout w = { .path = str_slice(payload, 1, payload.n) };
    if (payload.n == 0 || (uint8_t)payload.p[0] > 1 || in->left ||
        ++in->n_entries > OCI_LAYER_ENTRIES_MAX)
        return bad(err);
    w.is_opaque = payload.p[0] == 1;
    if (!is_normal(w.path) || (w.path.n == 0 && !w.is_opaque))
        return bad(err);
    return in->ops->whiteout(in->arg, &w, err);
}

static int take_last(struct layer_wire_in *in, enum layer_wire_kind kind, struct str payload,
                     struct err *err)
{
    struct err why;
    if (kind == WIRE_END && payload.n == sizeof in->facts && in->left == 0) {
        memcpy(&in->facts, payload.p, sizeof in->facts);
        in->is_over = true;
        return 0;
    }
    if (kind == WIRE_END || payload.n != sizeof why)
        return bad(err);
    memcpy(&why, payload.p, sizeof why);
    if (why.code >= 0 || !memchr(why.text, 0, sizeof why.text))
        return bad(err);
    return err_set(err, why.code, "%s", err_text(&why));
}

static int take(struct layer_wire_in *in, uint32_t kind, struct str payload, struct err *err)
{
    switch (kind) {
    case WIRE_ENTRY:
        return take_entry(in, payload, err);
    case WIRE_DATA:
    case WIRE_HOLE:
        return take_content(in, kind, payload, err);
    case WIRE_WHITEOUT:
        return take_whiteout(in, payload, err);
    case WIRE_RAW:
        return in->ops->raw && payload.n && !has_too_many(&in->n_raw, payload.n, in->max_bytes)
                   ? in->ops->raw(in->arg, payload, err)
                   : bad(err);
    case WIRE_END:
    case WIRE_ERROR:
        return take_last(in, kind, payload, err);
    }
    return bad(err);
}

ptrdiff_t layer_wire_add(struct layer_wire_in *in, struct str bytes, struct err *err)
{
    size_t at = 0;
    struct head h;
    while (bytes.n - at >= sizeof h) {
        memcpy(&h, bytes.p + at, sizeof h);
        if (h.n > LAYER_WIRE_MAX || in->is_over)
            return bad(err);
        if (bytes.n - at - sizeof h < h.n)
            break;
        int r = take(in, h.kind, str_n(bytes.p + at + sizeof h, h.n), err);
        if (r < 0)
            return r;
        at += sizeof h + h.n;
    }
    return (ptrdiff_t)at;
}
