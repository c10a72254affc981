/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/contents.h"

#include "base/map.h"
#include "base/sys.h"
#include "base/vec.h"

#include <errno.h>
#include <pthread.h>

struct kept_layer {
    struct oci_digest id;
    struct oci_layer *layer; /* owns the keys of the maps */
    bool is_shared;          /* its files are objects, and it has no tar */
    int fd;                  /* of its tar; -1: not opened yet, or the layer was removed */
    bool is_gone;
};

/* A file: its layer, and its position. */
struct contents_place {
    const struct oci_entry *file;
    uint32_t layer;
};

struct oci_contents {
    struct oci_store *s;
    VEC(struct kept_layer) layers;
    struct map by_digest, by_path, by_pattern;
    struct arena memory;
    size_t n_entries;
    pthread_mutex_t mutex; /* of the descriptors */
};

/* The path with each number in it as one '#'; in `room` of path.n bytes. */
static struct str pattern_of(struct str path, char *room)
{
    size_t n = 0;
    for (size_t i = 0; i < path.n; i++) {
        bool is_digit = path.p[i] >= '0' && path.p[i] <= '9';
        if (is_digit && n && room[n - 1] == '#')
            continue;
        room[n++] = is_digit ? '#' : path.p[i];
    }
    return str_n(room, n);
}

static void put_once(struct map *m, struct str key, struct contents_place *p)
{
    if (!map_has(m, key))
        (void)map_put(m, key, p);
}

static void add_file(struct oci_contents *c, const struct oci_entry *e, uint32_t layer)
{
    char room[TAR_PATH_MAX];
    struct contents_place *p = arena_new(&c->memory, struct contents_place);
    *p = (struct contents_place){ e, layer };
    put_once(&c->by_digest, str_n(e->digest, SHA256_BYTES), p);
    put_once(&c->by_path, e->path, p);
    struct str pattern = pattern_of(e->path, room);
    if (!map_has(&c->by_pattern, pattern))
        put_once(&c->by_pattern, str_copy_arena(&c->memory, pattern), p);
}

static bool is_content(const struct oci_layer *layer, const struct oci_entry *e)
{
    return e->type == TAR_FILE && e->size > 0 && !e->is_sparse && e->path.n <= TAR_PATH_MAX &&
           e->data_offset <= layer->n_bytes && e->size <= layer->n_bytes - e->data_offset;
}

static void add_layer(struct oci_contents *c, const struct oci_digest *id)
{
    struct kept_layer k = { .id = *id, .fd = -1 };
    scoped(fd_scoped) int fd = oci_store_layer_fd(c->s, id, NULL);
    k.is_shared = fd == -ENODATA && oci_store_layer_is_shared(c->s, id);
    if ((fd < 0 && !k.is_shared) || oci_store_layer_index(c->s, id, &k.layer, NULL) < 0)
        return; /* only its blob is kept, or it is damaged */
    uint32_t at = (uint32_t)c->layers.n;
    vec_push(&c->layers, k);
    vec_each (e, &k.layer->entries) {
        if (c->n_entries >= OCI_CONTENTS_ENTRIES_MAX)
            return;
        if (is_content(k.layer, e)) {
            add_file(c, e, at);
            c->n_entries++;
        }
    }
}

static struct oci_contents *new_empty(struct oci_store *s)
{
    struct oci_contents *c = xnew(struct oci_contents);
    c->s = s;
    c->by_digest.borrows_keys = c->by_path.borrows_keys = c->by_pattern.borrows_keys = true;
    c->memory.block_bytes = 64 << 10;
    (void)pthread_mutex_init(&c->mutex, NULL);
    return c;
}

struct oci_contents *oci_contents_of(struct oci_store *s, const struct oci_digest *layers, size_t n,
                                     oci_layer_filter may_show)
{
    struct oci_contents *c = new_empty(s);
    for (size_t i = 0; i < MIN(n, (size_t)OCI_CONTENTS_LAYERS_MAX); i++)
        if (c->n_entries < OCI_CONTENTS_ENTRIES_MAX && (!may_show || may_show(s, &layers[i])))
            add_layer(c, &layers[i]);
    return c;
}

int oci_contents_new(struct oci_store *s, oci_layer_filter may_show, struct oci_contents **ret,
                     struct err *err)
{
    scoped(free_scoped) struct oci_store_layer *all = NULL;
    size_t n = 0;
    int r = oci_store_layers_alone(s, &all, &n, err);
    if (r < 0)
        return r;
    struct oci_contents *c = new_empty(s);
    while (n-- > 0 && c->layers.n < OCI_CONTENTS_LAYERS_MAX &&
           c->n_entries < OCI_CONTENTS_ENTRIES_MAX)
        if (!may_show || may_show(s, &all[n].diff_id))
            add_layer(c, &all[n].diff_id);
    *ret = c;
    return 0;
}

void oci_contents_free(struct oci_contents *c)
{
    if (!c)
        return;
    map_fini(&c->by_digest);
    map_fini(&c->by_path);
    map_fini(&c->by_pattern);
    vec_each (k, &c->layers) {
        oci_layer_free(k->layer);
        fd_scoped(&k->fd);
    }
    vec_fini(&c->layers);
    arena_fini(&c->memory);
    (void)pthread_mutex_destroy(&c->mutex);
    free(c);
}

size_t oci_contents_n_layers(const struct oci_contents *c)
{
    return c->layers.n;
}

size_t oci_contents_n(const struct oci_contents *c)
{
    return c->n_entries;
}

static int open_layer(struct oci_contents *c, struct kept_layer *k)
{
    (void)pthread_mutex_lock(&c->mutex);
    if (k->fd < 0 && !k->is_gone) {
        int fd = oci_store_layer_fd(c->s, &k->id, NULL);
        k->fd = fd < 0 ? -1 : fd;
        k->is_gone = fd < 0;
    }
    int fd = k->fd;
    (void)pthread_mutex_unlock(&c->mutex);
    return fd;
}

static bool give(struct oci_contents *c, const struct contents_place *p, struct oci_content *ret)
{
    struct kept_layer *k = &c->layers.p[p->layer];
    int fd = k->is_shared ? -1 : open_layer(c, k);
    if (fd < 0 && !(k->is_shared && oci_store_object_has(c->s, p->file->digest, p->file->size)))
        return false;
    *ret = (struct oci_content){ .fd = fd,
                                 .at = k->is_shared ? 0 : p->file->data_offset,
                                 .size = p->file->size,
                                 .layer = k->id };
    memcpy(ret->digest.bytes, p->file->digest, SHA256_BYTES);
    return true;
}

bool oci_contents_find(struct oci_contents *c, const struct oci_digest *digest, uint64_t size,
                       struct oci_content *ret)
{
    const struct contents_place *p = map_get(&c->by_digest, str_n(digest->bytes, SHA256_BYTES));
    return p && p->file->size == size && give(c, p, ret);
}

bool oci_contents_get(struct oci_contents *c, const struct oci_digest *digest,
                      struct oci_content *ret)
{
    const struct contents_place *p = map_get(&c->by_digest, str_n(digest->bytes, SHA256_BYTES));
    return p && give(c, p, ret);
}

bool oci_contents_like(struct oci_contents *c, struct str path, struct oci_content *ret)
{
    char room[TAR_PATH_MAX];
    if (path.n > sizeof room)
        return false;
    const struct contents_place *p = map_get(&c->by_path, path);
    if (!p)
        p = map_get(&c->by_pattern, pattern_of(path, room));
    return p && give(c, p, ret);
}

int oci_contents_read(const struct oci_contents *c, const struct oci_content *from, char *to,
                      size_t n, uint64_t offset, struct err *err)
{
    scoped(fd_scoped) int object = -1;
    if (from->fd < 0 && (object = oci_store_object_fd(c->s, from->digest.bytes, err)) < 0)
        return object == -ENOENT ? err_set(err, object, "a file left the store meanwhile") : object;
    ssize_t got = from->fd < 0 ? sys_pread_full(object, to, n, offset)
                               : sys_pread_full(from->fd, to, n, from->at + offset);
    if (got < 0)
        return err_sys(err, (int)got, "read a file of the store");
    return (size_t)got == n
               ? 0
               : err_set(err, E_CORRUPT, "a file of the store is shorter than its index says");
}

int oci_contents_explain_error(const struct oci_contents *c, const struct oci_content *from, int r,
                               struct err *err)
{
    enum { READ_BYTES = 256 << 10 };
    uint8_t digest[SHA256_BYTES];
    if (r != E_DIGEST && r != E_PARSE && r != E_CORRUPT)
        return r;
    scoped(free_scoped) char *piece = mem_try(READ_BYTES);
    if (!piece)
        return r;
    int status = 0;
    scoped(sha256_free_scoped) struct sha256 *hash = sha256_new();
    for (uint64_t at = 0, n; status >= 0 && at < from->size; at += n) {
        n = MIN(from->size - at, (uint64_t)READ_BYTES);
        status = oci_contents_read(c, from, piece, (size_t)n, at, NULL);
        if (status >= 0)
            sha256_add(hash, piece, (size_t)n);
    }
    sha256_end(hash, digest);
    bool is_right = status >= 0 && memcmp(digest, from->digest.bytes, sizeof digest) == 0;
    return is_right || status == -ENOENT
               ? r
               : err_set(err, -EIO, "a file of the store is damaged; run 'dormouse image check'");
}
