/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source is a set of named files: those of a directory, or the members of a tar, of which the
 * places are noted once. Above that, layouts and Docker's archives differ in how they name an
 * image. A registry has documents and blobs by digest, as a layout has.
 */
#include "oci/source.h"
#include "oci/source_store.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/sys.h"
#include "codec/json.h"
#include "oci/reference.h"
#include "oci/remote_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 256 << 10, NAMES_SHOWN_BYTES = 160, INDEX_DEPTH_MAX = 4, LINKS_MAX = 8 };
enum { TAR_RATIO_MAX = 100 };               /* bytes of a layer's tar for each of its blob ... */
#define TAR_BYTES_MIN ((uint64_t)256 << 20) /* ... or this, if it is more */

enum form { FORM_LAYOUT, FORM_DOCKER, FORM_REGISTRY, FORM_STORE };

/* A member of a tar. */
struct oci_source_member {
    uint64_t at, n;
    struct str link; /* the member that a link leads to; empty: it is a file */
};

struct oci_source {
    enum form form;
    struct str wanted; /* the name of the image; empty: the only one */
    int fd;            /* the directory, or the archive */
    bool is_archive;
    struct oci_remote *remote;       /* FORM_REGISTRY; documents */
    struct oci_remote_pool *remotes; /* blobs */
    struct source_store *stored;     /* FORM_STORE */
    struct map members;              /* name -> struct oci_source_member, of an archive */
    struct map blobs;                /* digest -> name of the file, in Docker's archives */
    struct arena arena;              /* documents, names */
    const struct layer_reading_ops *how;
    void *how_arg;
};

/* A file that is open, or a part of one. */
struct range {
    int fd;
    bool is_own; /* close it */
    uint64_t at, n;
};

void oci_source_free(struct oci_source *s)
{
    if (!s)
        return;
    map_fini(&s->members);
    map_fini(&s->blobs);
    arena_fini(&s->arena);
    oci_remote_pool_free(s->remotes);
    oci_remote_free(s->remote);
    source_store_free(s->stored);
    fd_scoped(&s->fd);
    free(s);
}

/* ---- files ---- */

static int on_member(void *arg, const struct tar_entry *e, struct err *err)
{
    struct oci_source *s = arg;
    char room[TAR_PATH_MAX];
    struct str link = e->link;
    if (e->type != TAR_FILE && e->type != TAR_SYMLINK && e->type != TAR_HARDLINK)
        return 0;
    if (e->is_sparse || s->members.n >= OCI_LAYER_ENTRIES_MAX || arena_is_full(&s->arena))
        return err_set(err, e->is_sparse ? E_UNSUPPORTED : E_LIMIT,
                       e->is_sparse ? "'" STR_FMT "' is sparse"
                                    : "the archive has too many members, at '" STR_FMT "'",
                       STR_ARG(e->path));
    size_t at = e->path.n;
    while (at && e->path.p[at - 1] != '/')
        at--;
    if (e->type == TAR_SYMLINK &&
        tar_join_link(str_slice(e->path, 0, at), e->link, STR_NULL, room, &link) < 0)
        return 0;
    struct oci_source_member *m = arena_new(&s->arena, struct oci_source_member);
    *m = (struct oci_source_member){ e->data_offset, e->size, str_copy_arena(&s->arena, link) };
    (void)map_put(&s->members, e->path, m);
    return 0;
}

static int skip_data(void *arg, struct str bytes, struct err *err)
{
    (void)arg, (void)bytes, (void)err;
    return 0;
}

static int skip_hole(void *arg, uint64_t n_bytes, struct err *err)
{
    (void)arg, (void)n_bytes, (void)err;
    return 0;
}

/* Read a range of a file piece by piece. */
static int read_range(const struct range *g, oci_blob_sink sink, void *arg, struct err *err)
{
    scoped(free_scoped) char *piece = mem_try(PIECE_BYTES);
    if (!piece)
        return err_set(err, -ENOMEM, "read");
    for (uint64_t at = 0; at < g->n;) {
        size_t want = (size_t)MIN((uint64_t)PIECE_BYTES, g->n - at);
        ssize_t n = sys_pread_full(g->fd, piece, want, g->at + at);
        if (n < 0)
            return err_sys(err, (int)n, "read");
        if ((size_t)n < want)
            return err_set(err, E_EOF, "the file became shorter");
        int r = sink(arg, str_n(piece, (size_t)n), err);
        if (r < 0)
            return r;
        at += (size_t)n;
    }
    return 0;
}

static int add_to_tar(void *arg, struct str bytes, struct err *err)
{
    return tar_reader_add(arg, bytes, err);
}

static int whole_file(int fd, bool is_own, struct range *ret, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_sys(err, -errno, "stat");
    if (!S_ISREG(st.st_mode))
        return err_set(err, E_PARSE, "it is no regular file");
    *ret = (struct range){ fd, is_own, 0, (uint64_t)st.st_size };
    return 0;
}

static int note_members(struct oci_source *s, struct err *err)
{
    static const struct tar_ops ops = { .entry = on_member, .data = skip_data, .hole = skip_hole };
    scoped(tar_reader_free_scoped) struct tar_reader *tar = tar_reader_new(&ops, s);
    struct range all;
    int r = whole_file(s->fd, false, &all, err);
    r = r < 0 ? r : read_range(&all, add_to_tar, tar, err);
    return r < 0 ? r : tar_reader_end(tar, err);
}

static int find_member(struct oci_source *s, struct str name, struct range *ret, struct err *err)
{
    char room[TAR_PATH_MAX];
    struct str at;
    int r = tar_normalize(name, room, &at, err);
    if (r < 0)
        return r;
    for (unsigned i = 0; i < LINKS_MAX; i++) {
        const struct oci_source_member *m = map_get(&s->members, at);
        if (!m)
            break;
        if (m->link.n == 0) {
            *ret = (struct range){ s->fd, false, m->at, m->n };
            return 0;
        }
        at = m->link;
    }
    return err_set(err, -ENOENT, "the archive has no file '" STR_FMT "'",
                   STR_ARG(str_slice(name, 0, NAMES_SHOWN_BYTES)));
}

/* Close with range_close(). Errors: -ENOENT and what opening gives. */
static int open_range(struct oci_source *s, struct str name, struct range *ret, struct err *err)
{
    if (s->is_archive)
        return find_member(s, name, ret, err);
    scoped(free_scoped) char *path = str_dup(name);
    scoped(fd_scoped) int fd = sys_openat(s->fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", path);
    int r = whole_file(fd, true, ret, err);
    if (r < 0)
        return err_ctx(err, r, "'%s'", path);
    (void)take_fd(&fd);
    return 0;
}

static void range_close(struct range *g)
{
    if (g->is_own)
        fd_scoped(&g->fd);
}

static int add_to_buf(void *arg, struct str bytes, struct err *err)
{
    (void)err;
    return buf_add_str(arg, bytes);
}

/* A small file as a whole, owned by the source. */
static int read_document(struct oci_source *s, struct str name, struct str *ret, struct err *err)
{
    struct range g;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OCI_DOCUMENT_MAX);
    int r = open_range(s, name, &g, err);
    if (r < 0)
        return r;
    r = g.n > OCI_DOCUMENT_MAX
            ? err_set(err, E_LIMIT, "it has more than %d bytes", OCI_DOCUMENT_MAX)
            : read_range(&g, add_to_buf, &b, err);
    range_close(&g);
    if (r < 0)
        return err_ctx(err, r, "'" STR_FMT "'", STR_ARG(name));
    *ret = str_copy_arena(&s->arena, buf_str(&b));
    return 0;
}

/* ---- opening ---- */

static int open_registry(struct oci_source *s, struct str text,
                         const struct oci_remote_opts *registry, struct err *err)
{
    struct oci_reference ref;
    int r = oci_reference_parse(text, &ref, err);
    s->form = FORM_REGISTRY;
    r = r < 0 ? r : oci_remote_open(&ref, registry, &s->remote, err);
    if (r >= 0)
        r = oci_remote_pool_new(s->remote, &s->remotes, err);
    return r;
}

static int open_files(struct oci_source *s, struct str reference, struct err *err)
{
    static const struct {
        struct str prefix;
        enum form form;
        bool is_archive;
    } forms[] = {
        { { "oci:", 4 }, FORM_LAYOUT, false },
        { { "oci-archive:", 12 }, FORM_LAYOUT, true },
        { { "docker-archive:", 15 }, FORM_DOCKER, true },
    };
    struct str path = STR_NULL;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (str_has_prefix(reference, forms[i].prefix)) {
            struct str rest = str_slice(reference, forms[i].prefix.n, reference.n);
            s->form = forms[i].form;
            s->is_archive = forms[i].is_archive;
            (void)str_cut(rest, ':', &path, &s->wanted);
        }
    if (path.n == 0)
        return err_set(err, E_PARSE,
                       "'" STR_FMT "' is none of oci:DIR[:NAME], oci-archive:FILE[:NAME], "
                       "docker-archive:FILE[:NAME] and docker://REFERENCE",
                       STR_ARG(reference));
    s->wanted = str_copy_arena(&s->arena, s->wanted);
    scoped(free_scoped) char *name = str_dup(path);
    s->fd = sys_openat(AT_FDCWD, name, O_RDONLY | (s->is_archive ? O_NONBLOCK : O_DIRECTORY), 0);
    if (s->fd < 0)
        return err_sys(err, s->fd, "open '%s'", name);
    int r = s->is_archive ? note_members(s, err) : 0;
    return r < 0 ? err_ctx(err, r, "'%s'", name) : 0;
}

static int open_store(struct oci_source *s, struct str text, struct err *err)
{
    struct str root, name;
    s->form = FORM_STORE;
    (void)str_cut(text, ':', &root, &name);
    return source_store_open(root, name, &s->stored, err);
}

int oci_source_open_with(struct str reference, const struct oci_remote_opts *registry,
                         struct oci_source **ret, struct err *err)
{
    static const struct str docker = { "docker://", 9 }, store = { "store:", 6 };
    scoped(oci_source_free_scoped) struct oci_source *s = xnew(struct oci_source);
    s->fd = -1;
    s->how = &layer_parse_here;
    s->arena.max_bytes = OCI_LAYER_MEMORY_MAX;
    int r = 0;
    if (str_has_prefix(reference, docker))
        r = open_registry(s, str_slice(reference, docker.n, reference.n), registry, err);
    else if (str_has_prefix(reference, store))
        r = open_store(s, str_slice(reference, store.n, reference.n), err);
    else
        r = open_files(s, reference, err);
    if (r < 0)
        return r;
    *ret = take_ptr(&s);
    return 0;
}

int oci_source_open(struct str reference, struct oci_source **ret, struct err *err)
{
    return oci_source_open_with(reference, NULL, ret, err);
}

int oci_source_blob_from(struct oci_source *s, const struct oci_descriptor *d, uint64_t from,
                         oci_blob_sink sink, void *arg, struct err *err)
{
    struct oci_remote *m;
    if (!s->remotes && from == 0)
        return oci_source_blob(s, d, sink, arg, err);
    if (!s->remotes)
        return err_set(err, E_UNSUPPORTED, "a file is read from its beginning");
    int r = oci_remote_pool_get(s->remotes, &m, err);
    return r < 0 ? r : oci_remote_blob_from(m, d, from, sink, arg, err);
}

int oci_source_remote_of_thread(struct oci_source *s, struct oci_remote **ret, struct err *err)
{
    return s->remotes ? oci_remote_pool_get(s->remotes, ret, err)
                      : err_set(err, E_UNSUPPORTED, "it is no registry");
}

struct oci_remote *oci_source_remote(struct oci_source *s)
{
    return s->remote;
}

/* ---- blobs ---- */

struct oci_source_verified {
    struct sha256 *hash;
    uint64_t n;
    oci_blob_sink sink;
    void *arg;
};

static int on_verified(void *arg, struct str bytes, struct err *err)
{
    struct oci_source_verified *v = arg;
    sha256_add(v->hash, bytes.p, bytes.n);
    v->n += bytes.n;
    return v->sink(v->arg, bytes, err);
}

enum { BLOB_NAME_SIZE = 24 + OCI_DIGEST_TEXT_SIZE };

/* In the caller's room: several threads read blobs at once. */
static struct str blob_name(const struct oci_source *s, const struct oci_digest *d,
                            char room[BLOB_NAME_SIZE])
{
    char text[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(d, text);
    if (s->form == FORM_DOCKER) {
        const struct str *name = map_get(&s->blobs, str_of(text));
        if (name)
            return *name;
    }
    bool is_layout = s->form == FORM_LAYOUT;
    (void)snprintf(room, BLOB_NAME_SIZE, "%s%s", is_layout ? "blobs/sha256/" : "",
                   is_layout ? text + sizeof "sha256:" - 1 : text);
    return str_of(room);
}

static int remote_blob(struct oci_source *s, const struct oci_descriptor *d, oci_blob_sink sink,
                       void *arg, struct err *err)
{
    struct oci_remote *m;
    int r = oci_remote_pool_get(s->remotes, &m, err);
    return r < 0 ? r : oci_remote_blob(m, d, sink, arg, err);
}

static int stored_blob(struct oci_source *s, const struct oci_descriptor *d, oci_blob_sink sink,
                       void *arg, struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    struct oci_source_verified v = { .hash = sha256_new(), .sink = sink, .arg = arg };
    int r = source_store_blob(s->stored, &d->digest, on_verified, &v, err);
    sha256_end(v.hash, digest);
    sha256_free(v.hash);
    if (r >= 0 && memcmp(digest, d->digest.bytes, sizeof digest) != 0)
        return err_set(err, E_DIGEST, "a layer in the store is damaged; 'dormouse image check'");
    return r;
}

int oci_source_blob(struct oci_source *s, const struct oci_descriptor *d, oci_blob_sink sink,
                    void *arg, struct err *err)
{
    struct range g;
    uint8_t digest[SHA256_BYTES];
    char room[BLOB_NAME_SIZE];
    if (s->remotes)
        return remote_blob(s, d, sink, arg, err);
    if (s->stored)
        return stored_blob(s, d, sink, arg, err);
    struct str name = blob_name(s, &d->digest, room);
    int r = open_range(s, name, &g, err);
    if (r < 0)
        return r;
    if (s->form == FORM_LAYOUT && g.n != d->size) {
        range_close(&g);
        return err_set(err, E_DIGEST, "'" STR_FMT "' has %llu bytes, its descriptor says %llu",
                       STR_ARG(name), (unsigned long long)g.n, (unsigned long long)d->size);
    }
    struct oci_source_verified v = { .hash = sha256_new(), .sink = sink, .arg = arg };
    r = read_range(&g, on_verified, &v, err);
    range_close(&g);
    sha256_end(v.hash, digest);
    sha256_free(v.hash);
    if (r < 0)
        return err_ctx(err, r, "'" STR_FMT "'", STR_ARG(name));
    /* Docker's archives name layers by their DiffID, in whatever form they are stored. */
    bool is_named_by_content = s->form == FORM_LAYOUT;
    if (is_named_by_content && memcmp(digest, d->digest.bytes, sizeof digest) != 0)
        return err_set(err, E_DIGEST, "the content of '" STR_FMT "' is not what its name says",
                       STR_ARG(name));
    return 0;
}

static int read_blob_document(struct oci_source *s, const struct oci_descriptor *d, struct str *ret,
                              struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OCI_DOCUMENT_MAX);
    if (d->size > OCI_DOCUMENT_MAX)
        return err_set(err, E_LIMIT, "a document has more than %d bytes", OCI_DOCUMENT_MAX);
    int r = oci_source_blob(s, d, add_to_buf, &b, err);
    if (r < 0)
        return r;
    *ret = str_copy_arena(&s->arena, buf_str(&b));
    return 0;
}

/* ---- layouts ---- */

static int no_such_name(const struct oci_source *s, const struct oci_index *index, struct err *err)
{
    scoped(buf_fini_scoped) struct buf names = BUF_INIT(NAMES_SHOWN_BYTES);
    for (size_t i = 0; i < index->n; i++)
        if (index->manifests[i].ref_name.n)
            (void)buf_printf(&names, "%s'" STR_FMT "'", names.n ? ", " : "",
                             STR_ARG(index->manifests[i].ref_name));
    return err_set(err, -ENOENT, "the layout has %s image '" STR_FMT "'%s%s",
                   s->wanted.n ? "no" : "several images, none is the", STR_ARG(s->wanted),
                   names.n ? "; it has " : "", buf_cstr(&names));
}

/* The descriptor that the reference names in index.json. */
static int find_named(const struct oci_source *s, const struct oci_index *index,
                      const struct oci_descriptor **ret, struct err *err)
{
    if (s->wanted.n == 0 && index->n == 1) {
        *ret = &index->manifests[0];
        return 0;
    }
    for (size_t i = 0; s->wanted.n && i < index->n; i++)
        if (str_eq(index->manifests[i].ref_name, s->wanted)) {
            *ret = &index->manifests[i];
            return 0;
        }
    return no_such_name(s, index, err);
}

/* Resolve the tag of a registry now. All further requests are by digest. */
static int remote_root(struct oci_source *s, struct oci_descriptor *ret, struct str *ret_text,
                       struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OCI_DOCUMENT_MAX);
    *ret = (struct oci_descriptor){ 0 };
    int r = oci_remote_manifest(s->remote, NULL, &b, &ret->digest, err);
    if (r < 0)
        return r;
    struct json *doc;
    *ret_text = str_copy_arena(&s->arena, buf_str(&b));
    r = json_parse(&s->arena, *ret_text, NULL, &doc, err);
    if (r < 0)
        return r;
    ret->size = b.n;
    ret->media_type = json_get_str(doc, "mediaType");
    return 0;
}

int oci_source_root(struct oci_source *s, struct oci_descriptor *ret, struct str *ret_text,
                    struct err *err)
{
    struct oci_index index;
    const struct oci_descriptor *d;
    if (s->remote)
        return remote_root(s, ret, ret_text, err);
    if (s->form == FORM_DOCKER || s->form == FORM_STORE)
        return err_set(err, E_UNSUPPORTED, "%s",
                       s->stored ? "the store has one platform of an image"
                                 : "an archive of Docker has no manifest");
    int r = read_document(s, STR("index.json"), ret_text, err);
    r = r < 0 ? r : oci_index_parse(&s->arena, *ret_text, &index, err);
    r = r < 0 ? r : find_named(s, &index, &d, err);
    if (r < 0)
        return r;
    *ret = *d;
    return read_blob_document(s, d, ret_text, err);
}

int oci_source_document(struct oci_source *s, const struct oci_descriptor *d, struct str *ret,
                        struct err *err)
{
    struct oci_digest found;
    if (!s->remote)
        return read_blob_document(s, d, ret, err);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OCI_DOCUMENT_MAX);
    int r = oci_remote_manifest(s->remote, &d->digest, &b, &found, err);
    if (r < 0)
        return r;
    *ret = str_copy_arena(&s->arena, buf_str(&b));
    return 0;
}

/* From what the reference names down to a manifest. */
static int find_manifest(struct oci_source *s, const struct oci_platform *platform,
                         struct oci_image *image, struct err *err)
{
    struct str *text = &image->manifest_text;
    struct oci_descriptor root;
    const struct oci_descriptor *d = &root;
    int r = oci_source_root(s, &root, text, err);
    for (unsigned depth = 0; r >= 0 && depth < INDEX_DEPTH_MAX; depth++) {
        enum oci_document kind;
        struct oci_index index;
        image->digest = d->digest;
        image->manifest_type = d->media_type;
        r = oci_document_kind(&s->arena, *text, &kind, err);
        if (r < 0 || kind == OCI_DOCUMENT_MANIFEST)
            return r;
        r = oci_index_parse(&s->arena, *text, &index, err);
        if (r < 0)
            return r;
        image->index = d->digest;
        image->index_text = *text;
        d = oci_index_select(&index, platform);
        if (!d)
            return err_set(err, -ENOENT, "the image has none for " STR_FMT "/" STR_FMT,
                           STR_ARG(platform->os), STR_ARG(platform->architecture));
        r = oci_source_document(s, d, text, err);
    }
    return r < 0 ? r : err_set(err, E_PARSE, "indexes are nested too deeply");
}

static int layout_image(struct oci_source *s, const struct oci_platform *platform,
                        struct oci_image *ret, struct err *err)
{
    int r = find_manifest(s, platform, ret, err);
    r = r < 0 ? r : oci_manifest_parse(&s->arena, ret->manifest_text, &ret->manifest, err);
    r = r < 0 ? r : read_blob_document(s, &ret->manifest.config, &ret->config_text, err);
    return r < 0 ? r : oci_config_parse(&s->arena, ret->config_text, &ret->config, err);
}

/* ---- Docker's archives ---- */

/* Two names of one image: "app:1" and "docker.io/library/app:1", as tools complete them. */
static bool is_same_reference(struct str a, struct str b)
{
    struct oci_reference ra, rb;
    return oci_reference_parse(a, &ra, NULL) >= 0 && oci_reference_parse(b, &rb, NULL) >= 0 &&
           strcmp(ra.host, rb.host) == 0 && strcmp(ra.repository, rb.repository) == 0 &&
           strcmp(ra.tag, rb.tag) == 0 && !ra.has_digest && !rb.has_digest;
}

static const struct json *find_tagged_as(const struct json *images, struct str wanted,
                                         bool (*is_same)(struct str, struct str))
{
    json_each (image, images)
        json_each (tag, json_getc(image, "RepoTags"))
            if (is_same(json_str(tag), wanted))
                return image;
    return NULL;
}

/* The tag as given has precedence over its completed form. */
static const struct json *find_tagged(const struct json *images, struct str wanted)
{
    if (wanted.n == 0)
        return images->n == 1 ? json_first(images) : NULL;
    const struct json *image = find_tagged_as(images, wanted, str_eq);
    return image ? image : find_tagged_as(images, wanted, is_same_reference);
}

static void note_blob(struct oci_source *s, const struct oci_digest *d, struct str name)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    struct str *kept = arena_new(&s->arena, struct str);
    oci_digest_format(d, text);
    *kept = name;
    (void)map_put(&s->blobs, str_of(text), kept);
}

/* Descriptors for the layers, named by their DiffIDs. */
static int docker_layers(struct oci_source *s, const struct json *names, struct oci_image *image,
                         struct err *err)
{
    const struct oci_config *c = &image->config;
    struct oci_descriptor *layers = arena_new_n(&s->arena, struct oci_descriptor, c->n_diff_ids);
    size_t n = 0;
    if (!json_is(names, JSON_ARRAY) || names->n != c->n_diff_ids)
        return err_set(err, E_PARSE, "manifest.json and the configuration disagree about layers");
    json_each (name, names) {
        struct range g;
        int r = open_range(s, json_str(name), &g, err);
        if (r < 0)
            return r;
        layers[n] = (struct oci_descriptor){
            .media_type = STR("application/vnd.docker.image.rootfs.diff.tar"),
            .digest = c->diff_ids[n],
            .size = g.n,
        };
        note_blob(s, &layers[n].digest, json_str(name));
        range_close(&g);
        n++;
    }
    image->manifest.layers = layers;
    image->manifest.n_layers = n;
    return 0;
}

static int docker_image(struct oci_source *s, struct oci_image *ret, struct err *err)
{
    struct str text;
    struct json *images;
    int r = read_document(s, STR("manifest.json"), &text, err);
    r = r < 0 ? r : json_parse(&s->arena, text, NULL, &images, err);
    if (r < 0)
        return r;
    if (!json_is(images, JSON_ARRAY))
        return err_set(err, E_PARSE, "manifest.json is no list");
    const struct json *image = find_tagged(images, s->wanted);
    if (!image)
        return err_set(err, -ENOENT, "the archive has %s '" STR_FMT "'",
                       s->wanted.n ? "no image" : "not exactly one image; name one, not",
                       STR_ARG(s->wanted));
    r = read_document(s, json_get_str(image, "Config"), &text, err);
    r = r < 0 ? r : oci_config_parse(&s->arena, text, &ret->config, err);
    if (r < 0)
        return r;
    sha256_of(text, ret->digest.bytes);
    ret->config_text = text;
    ret->manifest.config = (struct oci_descriptor){
        .media_type = STR("application/vnd.docker.container.image.v1+json"),
        .digest = ret->digest,
        .size = text.n,
    };
    return docker_layers(s, json_getc(image, "Layers"), ret, err);
}

int oci_source_image(struct oci_source *s, const struct oci_platform *platform,
                     struct oci_image *ret, struct err *err)
{
    struct oci_image image = { 0 };
    int r;
    if (s->stored)
        r = source_store_image(s->stored, &image, err);
    else if (s->form == FORM_DOCKER)
        r = docker_image(s, &image, err);
    else
        r = layout_image(s, platform, &image, err);
    if (r < 0)
        return r;
    if (image.config.n_diff_ids != image.manifest.n_layers)
        return err_set(err, E_PARSE, "the manifest has %zu layers, its configuration %zu",
                       image.manifest.n_layers, image.config.n_diff_ids);
    *ret = image;
    return 0;
}

/* ---- layers ---- */

struct oci_source_reading {
    const struct layer_reading_ops *how;
    void *reading;
};

static int add_to_reading(void *arg, struct str bytes, struct err *err)
{
    struct oci_source_reading *r = arg;
    return r->how->add(r->reading, bytes, err);
}

void oci_source_read_by(struct oci_source *s, const struct layer_reading_ops *how, void *arg)
{
    s->how = how;
    s->how_arg = arg;
}

/* As pulling has it, with more for small layers. What the store has was accepted once. */
static uint64_t max_tar_bytes(const struct oci_source *s, const struct oci_descriptor *blob)
{
    uint64_t n;
    if (s->stored || __builtin_mul_overflow(blob->size, (uint64_t)TAR_RATIO_MAX, &n))
        return UINT64_MAX;
    return MAX(n, TAR_BYTES_MIN);
}

static int read_layer(struct oci_source *s, const struct oci_descriptor *blob,
                      struct layer_gather *g, struct oci_layer **ret, struct err *err)
{
    struct layer_facts facts;
    struct oci_source_reading reading = { .how = s->how };
    int r = s->how->start(s->how_arg, max_tar_bytes(s, blob), &layer_gather_ops, g,
                          &reading.reading, err);
    if (r < 0)
        return r;
    r = oci_source_blob(s, blob, add_to_reading, &reading, err);
    r = r < 0 ? r : s->how->end(reading.reading, &facts, err);
    s->how->free(reading.reading);
    return r < 0 ? r : layer_gather_end(g, &facts, ret, err);
}

int oci_source_layer(struct oci_source *s, const struct oci_image *image, size_t i,
                     struct oci_layer **ret, struct err *err)
{
    return oci_source_layer_content(s, image, i, NULL, NULL, ret, err);
}

int oci_source_layer_content(struct oci_source *s, const struct oci_image *image, size_t i,
                             oci_content_sink sink, void *arg, struct oci_layer **ret,
                             struct err *err)
{
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    scoped(layer_gather_free_scoped) struct layer_gather *g = layer_gather_new();
    layer_gather_content(g, sink, arg);
    int r = read_layer(s, &image->manifest.layers[i], g, &layer, err);
    if (r < 0)
        return err_ctx(err, r, "layer %zu", i);
    if (memcmp(layer->diff_id, image->config.diff_ids[i].bytes, SHA256_BYTES) != 0)
        return err_set(err, E_DIGEST, "layer %zu is not what its DiffID says", i);
    *ret = take_ptr(&layer);
    return 0;
}

bool oci_source_names_layers_by_diff_id(const struct oci_source *s)
{
    return s->form == FORM_DOCKER || (s->stored && source_store_has_no_blobs(s->stored));
}
