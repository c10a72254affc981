/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image is laid out as:
 *
 *     1024   superblock, 128 bytes
 *     1152   a slot of 128 bytes for each device
 *            inodes, each with its attributes and then its chunk or the target of a short link;
 *            the root is the first
 *     block  names of directories and targets of long links
 *
 * An inode's number is its offset in the image / 32. Places are given first, then all is written.
 */
#include "image/erofs.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
    SUPER_AT = 1024,
    SLOT_BYTES = 128,
    SUPER_MAGIC = (int)0xE0F5E1E2,
    BLOCK_BITS = 9,
    INCOMPAT_CHUNKED = 4,
    INCOMPAT_DEVICE_TABLE = 8,
    INODE_BYTES = 64,
    NID_BYTES = 32,
    XATTR_HEADER_BYTES = 12,
    DIRENT_BYTES = 12,
    CHUNK_BYTES = 8,
    CHUNK_HAS_INDEX = 0x20,

    INLINE_MAX = 256, /* bytes of a link's target beside the inode */
};

#define CHUNK_HOLE UINT32_MAX /* the address of what reads as zeros */

enum layout { LAYOUT_FLAT = 0, LAYOUT_INLINE = 2, LAYOUT_CHUNKED = 4 };

struct erofs_place {
    const struct oci_inode *inode; /* the key in `places` */
    const struct oci_node *node;   /* one of its names */
    uint64_t at;                   /* of the inode */
    uint64_t data_at;              /* of directories and long links */
    uint64_t n_data;
    uint32_t n_xattrs; /* bytes of attributes with their header; 0: none */
    uint32_t n_subdirs;
    enum layout layout;
};

struct erofs_writer {
    const struct erofs_image *image;
    struct erofs_place *all;
    size_t n;
    struct map by_inode; /* address of an inode -> struct erofs_place */
    uint64_t meta_end, end;
    struct erofs_counts counts;
    char *out;
};

/* ---- attributes ---- */

static const struct {
    struct str prefix;
    uint8_t index;
    bool is_whole;
} prefixes[] = {
    { { "user.", 5 }, 1, false },
    { { "system.posix_acl_access", 23 }, 2, true },
    { { "system.posix_acl_default", 24 }, 3, true },
    { { "trusted.", 8 }, 4, false },
    { { "security.", 9 }, 6, false },
};

/* The index of a name's prefix, and the rest; 0: EROFS has no place for it. */
static uint8_t prefix_of(struct str name, struct str *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        const struct str *p = &prefixes[i].prefix;
        if (prefixes[i].is_whole ? str_eq(name, *p) : name.n > p->n && str_has_prefix(name, *p)) {
            *ret = str_slice(name, p->n, name.n);
            return ret->n <= UINT8_MAX ? prefixes[i].index : 0;
        }
    }
    return 0;
}

static bool is_opaque(const struct erofs_writer *w, const struct oci_node *n)
{
    return w->image->opaque && oci_node_is_dir(n) && map_has(w->image->opaque, n->path);
}

static const struct erofs_layer *layer_of(const struct erofs_writer *w, const struct oci_entry *e)
{
    for (size_t i = 0; i < w->image->n_layers; i++) {
        const struct oci_layer *l = w->image->layers[i].layer;
        if (e >= l->entries.p && e < l->entries.p + l->entries.n)
            return &w->image->layers[i];
    }
    return NULL;
}

/* The content of a file is an object. */
static bool is_object(const struct erofs_writer *w, const struct oci_entry *e)
{
    if (!e || e->type != TAR_FILE || e->size == 0 || e->is_sparse)
        return false;
    const struct erofs_layer *l = layer_of(w, e);
    return l && l->has_objects;
}

/* An attribute that no entry has. */
struct own_xattr {
    struct tar_xattr x;
    char text[sizeof "/ab/" + SHA256_HEX_SIZE];
};

/* By these overlayfs finds the content of a file in a data directory. */
static const struct tar_xattr *object_xattr(const struct oci_entry *e, size_t i,
                                            struct own_xattr *room)
{
    char hex[SHA256_HEX_SIZE];
    if (i == 0)
        room->x = (struct tar_xattr){ STR("trusted.overlay.metacopy"), STR("") };
    if (i == 1) {
        hex_format(e->digest, SHA256_BYTES, hex);
        (void)snprintf(room->text, sizeof room->text, "/%.2s/%s", hex, hex);
        room->x = (struct tar_xattr){ STR("trusted.overlay.redirect"), str_of(room->text) };
    }
    return i < 2 ? &room->x : NULL;
}

/* The attributes of a node one after the other, some in `room`; NULL after the last one. */
static const struct tar_xattr *xattr_at(const struct erofs_writer *w, const struct oci_node *n,
                                        size_t i, struct own_xattr *room)
{
    static const struct tar_xattr opaque = { { "trusted.overlay.opaque", 22 }, { "y", 1 } };
    const struct oci_entry *e = n->inode->entry;
    size_t own = e ? e->n_xattrs : 0;
    if (i < own)
        return &e->xattrs[i];
    if (is_object(w, e))
        return object_xattr(e, i - own, room);
    return i == own && is_opaque(w, n) ? &opaque : NULL;
}

static uint32_t xattr_bytes(const struct tar_xattr *x)
{
    struct str rest;
    if (!prefix_of(x->name, &rest) || x->value.n > UINT16_MAX)
        return 0;
    return (uint32_t)(4 + rest.n + x->value.n + 3) & ~3u;
}

static uint32_t xattrs_bytes(struct erofs_writer *w, const struct oci_node *node)
{
    uint32_t n = 0;
    struct own_xattr room;
    const struct tar_xattr *x;
    for (size_t i = 0; (x = xattr_at(w, node, i, &room)); i++) {
        n += xattr_bytes(x);
        w->counts.xattrs += xattr_bytes(x) == 0;
    }
    return n ? n + XATTR_HEADER_BYTES : 0;
}

/* ---- places ---- */

static struct erofs_place *place_of(const struct erofs_writer *w, const struct oci_inode *inode)
{
    return map_get(&w->by_inode, str_n(&inode, sizeof inode));
}

static struct str name_of(const struct oci_node *n)
{
    size_t at = n->path.n;
    while (at && n->path.p[at - 1] != '/')
        at--;
    return str_slice(n->path, at, n->path.n);
}

/* Bytes of a directory whose names have these lengths, one after the other in their order. */
struct dir_size {
    uint64_t blocks; /* full ones */
    size_t used;     /* of the last one */
};

static void dir_add(struct dir_size *s, size_t n_name)
{
    size_t n = DIRENT_BYTES + n_name;
    if (s->used + n > EROFS_BLOCK_BYTES) {
        s->blocks++;
        s->used = 0;
    }
    s->used += n;
}

struct erofs_child {
    struct str name;
    const struct oci_node *node;
};

static int cmp_children(const void *a, const void *b)
{
    const struct erofs_child *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

/* The entries of a directory with "." and "..", sorted by bytes. Given, free(). */
static struct erofs_child *children_of(const struct oci_node *dir, size_t *ret_n)
{
    size_t n = 2;
    for (const struct oci_node *c = dir->first_child; c; c = c->next)
        n++;
    struct erofs_child *all = xnew_n(struct erofs_child, n);
    all[0] = (struct erofs_child){ STR("."), dir };
    all[1] = (struct erofs_child){ STR(".."), dir->parent ? dir->parent : dir };
    n = 2;
    for (const struct oci_node *c = dir->first_child; c; c = c->next)
        all[n++] = (struct erofs_child){ name_of(c), c };
    qsort(all, n, sizeof *all, cmp_children);
    *ret_n = n;
    return all;
}

static void measure_dir(struct erofs_place *p)
{
    size_t n;
    struct dir_size s = { 0 };
    scoped(free_scoped) struct erofs_child *all = children_of(p->node, &n);
    for (size_t i = 0; i < n; i++) {
        dir_add(&s, all[i].name.n);
        p->n_subdirs += all[i].node->parent == p->node && oci_node_is_dir(all[i].node);
    }
    p->n_data = s.blocks * EROFS_BLOCK_BYTES + s.used;
}

/* The data after an inode and its attributes. */
static uint64_t tail_bytes(const struct erofs_place *p)
{
    return p->layout == LAYOUT_INLINE ? p->n_data : p->layout == LAYOUT_CHUNKED ? CHUNK_BYTES : 0;
}

static uint64_t align(uint64_t at, uint64_t to)
{
    return (at + to - 1) / to * to;
}

static uint64_t tail_at(const struct erofs_place *p, uint64_t at)
{
    at += INODE_BYTES + p->n_xattrs;
    return p->layout == LAYOUT_CHUNKED ? align(at, CHUNK_BYTES) : at;
}

static void give_place(struct erofs_writer *w, struct erofs_place *p)
{
    const struct oci_entry *e = p->inode->entry;
    p->n_xattrs = xattrs_bytes(w, p->node);
    if (oci_node_is_dir(p->node))
        measure_dir(p);
    else if (e->type == TAR_SYMLINK)
        p->n_data = e->link.n;
    p->layout = !oci_node_is_dir(p->node) && e->type == TAR_FILE && e->size ? LAYOUT_CHUNKED
                : !oci_node_is_dir(p->node) && e->type == TAR_SYMLINK && e->link.n <= INLINE_MAX
                    ? LAYOUT_INLINE
                    : LAYOUT_FLAT;
    p->at = align(w->meta_end, INODE_BYTES);
    /* The target of a link must not cross a block. */
    while (p->layout == LAYOUT_INLINE &&
           tail_at(p, p->at) / EROFS_BLOCK_BYTES !=
               (tail_at(p, p->at) + p->n_data - 1) / EROFS_BLOCK_BYTES)
        p->at += INODE_BYTES;
    w->meta_end = tail_at(p, p->at) + tail_bytes(p);
}

static int give_places(struct erofs_writer *w, struct err *err)
{
    struct oci_node **nodes;
    size_t n = oci_tree_sorted(w->image->tree, &nodes);
    w->all = xnew_n(struct erofs_place, n);
    w->by_inode.borrows_keys = true;
    w->meta_end = SUPER_AT + SLOT_BYTES * (1 + w->image->n_devices);
    for (size_t i = 0; i < n && w->meta_end <= EROFS_IMAGE_MAX; i++) {
        if (place_of(w, nodes[i]->inode))
            continue;
        struct erofs_place *p = &w->all[w->n++];
        p->inode = nodes[i]->inode;
        p->node = nodes[i];
        (void)map_put(&w->by_inode, str_n(&p->inode, sizeof p->inode), p);
        give_place(w, p);
    }
    free(nodes);
    w->end = align(w->meta_end, EROFS_BLOCK_BYTES);
    for (size_t i = 0; i < w->n; i++) {
        struct erofs_place *p = &w->all[i];
        if (p->layout != LAYOUT_FLAT || p->n_data == 0)
            continue;
        p->data_at = w->end;
        w->end = align(w->end + p->n_data, EROFS_BLOCK_BYTES);
    }
    w->counts.inodes = w->n;
    return w->end > EROFS_IMAGE_MAX
               ? err_set(err, E_LIMIT, "the directories of the image take more than %d bytes",
                         EROFS_IMAGE_MAX)
               : 0;
}

/* ---- writing ---- */

static void put(char *to, uint64_t v, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++, v >>= 8)
        to[i] = (char)(v & 0xff);
}

static void write_super(const struct erofs_writer *w)
{
    char *s = w->out + SUPER_AT;
    uint64_t nid = w->all[0].at / NID_BYTES;
    assert(nid <= UINT16_MAX);
    put(s, (uint32_t)SUPER_MAGIC, 4);
    put(s + 12, BLOCK_BITS, 1);
    put(s + 14, nid, 2);
    put(s + 16, w->n, 8);
    put(s + 36, w->end / EROFS_BLOCK_BYTES, 4);
    memcpy(s + 48, w->image->uuid, sizeof w->image->uuid);
    put(s + 80, INCOMPAT_CHUNKED | INCOMPAT_DEVICE_TABLE, 4);
    put(s + 86, w->image->n_devices, 2);
    put(s + 88, (SUPER_AT + SLOT_BYTES) / SLOT_BYTES, 2);
    for (size_t i = 0; i < w->image->n_devices; i++)
        put(s + SLOT_BYTES * (i + 1) + 64, w->image->device_bytes[i] / EROFS_BLOCK_BYTES, 4);
}

static void write_xattrs(const struct erofs_writer *w, const struct erofs_place *p)
{
    char *to = w->out + p->at + INODE_BYTES;
    struct own_xattr room;
    const struct tar_xattr *x;
    if (p->n_xattrs == 0)
        return;
    to += XATTR_HEADER_BYTES;
    for (size_t i = 0; (x = xattr_at(w, p->node, i, &room)); i++) {
        struct str rest;
        if (xattr_bytes(x) == 0)
            continue;
        put(to + 1, prefix_of(x->name, &rest), 1);
        put(to, rest.n, 1);
        put(to + 2, x->value.n, 2);
        if (rest.n)
            memcpy(to + 4, rest.p, rest.n);
        if (x->value.n)
            memcpy(to + 4 + rest.n, x->value.p, x->value.n);
        to += xattr_bytes(x);
    }
}

static unsigned chunk_bits(uint64_t size)
{
    unsigned bits = 0;
    while (((uint64_t)EROFS_BLOCK_BYTES << bits) < size)
        bits++;
    return bits;
}

static int write_chunk(const struct erofs_writer *w, const struct erofs_place *p, struct err *err)
{
    const struct oci_entry *e = p->inode->entry;
    const struct erofs_layer *l = layer_of(w, e);
    char *to = w->out + tail_at(p, p->at);
    uint64_t block = e->data_offset / EROFS_BLOCK_BYTES, end;
    put(w->out + p->at + 16, chunk_bits(e->size) | CHUNK_HAS_INDEX, 4);
    if (is_object(w, e)) {
        put(to + 4, CHUNK_HOLE, 4);
        return 0;
    }
    uint16_t device = !l ? 0 : e->is_sparse ? l->sparse_device : l->device;
    if (device == 0 || device > w->image->n_devices || e->data_offset % EROFS_BLOCK_BYTES)
        return err_set(err, E_UNSUPPORTED, "the content of '" STR_FMT "' is on no device",
                       STR_ARG(e->path));
    if (__builtin_add_overflow(e->data_offset, e->size, &end) ||
        end > w->image->device_bytes[device - 1] || end / EROFS_BLOCK_BYTES > UINT32_MAX - 1)
        return err_set(err, E_LIMIT, "the content of '" STR_FMT "' is beyond the end of its device",
                       STR_ARG(e->path));
    put(to + 2, device, 2);
    put(to + 4, block, 4);
    return 0;
}

static uint32_t mode_of(const struct erofs_place *p)
{
    static const uint32_t types[] = {
        [TAR_FILE] = S_IFREG,        [TAR_DIR] = S_IFDIR,          [TAR_SYMLINK] = S_IFLNK,
        [TAR_CHAR_DEVICE] = S_IFCHR, [TAR_BLOCK_DEVICE] = S_IFBLK, [TAR_FIFO] = S_IFIFO,
    };
    const struct oci_entry *e = p->inode->entry;
    if (!e)
        return S_IFDIR | 0755;
    return types[e->type] | (e->type == TAR_SYMLINK ? 0777u : e->mode);
}

/* As the kernel's new_encode_dev(). */
static uint32_t device_of(const struct oci_entry *e)
{
    return (e->device_minor & 0xff) | (e->device_major & 0xfff) << 8 |
           (e->device_minor & 0xfff00) << 12;
}

static int write_inode(const struct erofs_writer *w, const struct erofs_place *p, struct err *err)
{
    static const struct oci_entry implicit = { .type = TAR_DIR };
    const struct oci_entry *e = p->inode->entry ? p->inode->entry : &implicit;
    char *to = w->out + p->at;
    bool is_device = e->type == TAR_CHAR_DEVICE || e->type == TAR_BLOCK_DEVICE;
    put(to, 1 | (unsigned)p->layout << 1, 2);
    put(to + 2, p->n_xattrs ? (p->n_xattrs - XATTR_HEADER_BYTES) / 4 + 1 : 0, 2);
    put(to + 4, mode_of(p), 2);
    put(to + 8, e->type == TAR_FILE ? e->size : p->n_data, 8);
    put(to + 16, is_device ? device_of(e) : p->data_at / EROFS_BLOCK_BYTES, 4);
    put(to + 20, (uint64_t)(p - w->all) + 1, 4);
    put(to + 24, e->uid, 4);
    put(to + 28, e->gid, 4);
    put(to + 32, (uint64_t)e->mtime_s, 8);
    put(to + 40, e->mtime_ns, 4);
    put(to + 44, e->type == TAR_DIR ? 2 + p->n_subdirs : p->inode->n_links, 4);
    write_xattrs(w, p);
    return p->layout == LAYOUT_CHUNKED ? write_chunk(w, p, err) : 0;
}

static uint8_t dirent_type(const struct oci_node *n)
{
    static const uint8_t types[] = {
        [TAR_FILE] = 1,         [TAR_DIR] = 2,  [TAR_CHAR_DEVICE] = 3,
        [TAR_BLOCK_DEVICE] = 4, [TAR_FIFO] = 5, [TAR_SYMLINK] = 7,
    };
    return oci_node_is_dir(n) ? 2 : types[n->inode->entry->type];
}

/* A block of a directory: records of fixed size, then the names. */
static void write_dir_block(const struct erofs_writer *w, char *to, const struct erofs_child *c,
                            size_t n)
{
    size_t name_at = n * DIRENT_BYTES;
    for (size_t i = 0; i < n; i++) {
        put(to, place_of(w, c[i].node->inode)->at / NID_BYTES, 8);
        put(to + 8, name_at, 2);
        put(to + 10, dirent_type(c[i].node), 1);
        memcpy(to + (name_at - i * DIRENT_BYTES), c[i].name.p, c[i].name.n);
        name_at += c[i].name.n;
        to += DIRENT_BYTES;
    }
}

static void write_dir(const struct erofs_writer *w, const struct erofs_place *p)
{
    size_t n, first = 0;
    struct dir_size s = { 0 };
    scoped(free_scoped) struct erofs_child *all = children_of(p->node, &n);
    char *to = w->out + p->data_at;
    for (size_t i = 0; i < n; i++) {
        uint64_t block = s.blocks;
        dir_add(&s, all[i].name.n);
        if (s.blocks == block)
            continue;
        write_dir_block(w, to + block * EROFS_BLOCK_BYTES, &all[first], i - first);
        first = i;
    }
    write_dir_block(w, to + s.blocks * EROFS_BLOCK_BYTES, &all[first], n - first);
}

static int write_all(const struct erofs_writer *w, struct err *err)
{
    write_super(w);
    for (size_t i = 0; i < w->n; i++) {
        const struct erofs_place *p = &w->all[i];
        int r = write_inode(w, p, err);
        if (r < 0)
            return r;
        if (oci_node_is_dir(p->node))
            write_dir(w, p);
        else if (p->inode->entry->type == TAR_SYMLINK)
            memcpy(w->out + (p->layout == LAYOUT_INLINE ? tail_at(p, p->at) : p->data_at),
                   p->inode->entry->link.p, p->n_data);
    }
    return 0;
}

static int check_devices(const struct erofs_image *image, struct err *err)
{
    if (image->n_devices > EROFS_DEVICES_MAX)
        return err_set(err, E_LIMIT, "more than %d devices", EROFS_DEVICES_MAX);
    for (size_t i = 0; i < image->n_devices; i++)
        if (image->device_bytes[i] / EROFS_BLOCK_BYTES > UINT32_MAX)
            return err_set(err, E_LIMIT, "device %zu is larger than 2 TiB", i + 1);
    return 0;
}

int erofs_write(const struct erofs_image *image, struct buf *to, struct erofs_counts *ret,
                struct err *err)
{
    struct erofs_writer w = { .image = image };
    assert(to->n == 0);
    int r = check_devices(image, err);
    r = r < 0 ? r : give_places(&w, err);
    if (r >= 0 && buf_reserve(to, w.end, &w.out) < 0)
        r = err_set(err, E_LIMIT, "no memory for %llu bytes", (unsigned long long)w.end);
    if (r >= 0) {
        memset(w.out, 0, w.end);
        r = write_all(&w, err);
    }
    if (r >= 0) {
        buf_advance(to, w.end);
        *ret = w.counts;
    }
    map_fini(&w.by_inode);
    free(w.all);
    return r;
}
