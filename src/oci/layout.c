/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/layout.h"

#include "base/sys.h"
#include "codec/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGING_PREFIX ".tmp-"
#define BLOBS          "blobs/sha256"
#define REF_NAME       "org.opencontainers.image.ref.name"

static const struct str VERSION = { "{\"imageLayoutVersion\":\"1.0.0\"}", 30 };

enum { HEX_SIZE = 2 * SHA256_BYTES + 1, NUMBER_SIZE = 32 };

struct oci_layout {
    char *directory, *staging; /* paths; staging is below directory */
    int fd, staged;            /* the directories; staged: of the staged blobs */
    bool is_made, is_published;
    struct str index_text; /* empty: a new layout */
    struct oci_index index;
    struct arena memory;
};

/* ---- removing ---- */

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Names in a directory, handed out one by one; removing them meanwhile is fine. */
static int each_name(int dir_fd, const char *path, int (*fn)(int fd, const char *name, void *arg),
                     void *arg)
{
    int fd = sys_openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0), r = 0;
    if (fd < 0)
        return fd;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        r = -errno;
        (void)close(fd);
        return r;
    }
    for (struct dirent *e; r >= 0 && (e = readdir(dir));)
        if (!is_dot(e->d_name))
            r = fn(dirfd(dir), e->d_name, arg);
    (void)closedir(dir);
    return r;
}

static int unlink_name(int fd, const char *name, void *arg)
{
    (void)arg;
    return unlinkat(fd, name, 0) < 0 && errno != EISDIR && errno != EPERM ? -errno : 0;
}

/* Whether it is a layout, with blobs and documents; other files in it stay. */
static void remove_layout(int dir_fd, const char *path)
{
    int fd = sys_openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0)
        return;
    (void)each_name(fd, BLOBS, unlink_name, NULL);
    (void)unlinkat(fd, BLOBS, AT_REMOVEDIR);
    (void)unlinkat(fd, "blobs", AT_REMOVEDIR);
    (void)each_name(fd, ".", unlink_name, NULL);
    (void)close(fd);
    (void)unlinkat(dir_fd, path, AT_REMOVEDIR);
}

static int remove_leftover(int fd, const char *name, void *arg)
{
    (void)arg;
    if (str_has_prefix(str_of(name), STR(STAGING_PREFIX)))
        remove_layout(fd, name);
    return 0;
}

void oci_layout_end(struct oci_layout *l)
{
    if (!l)
        return;
    if (l->staging)
        remove_layout(l->fd, l->staging + strlen(l->directory) + 1);
    if (l->is_made && !l->is_published)
        remove_layout(AT_FDCWD, l->directory);
    fd_scoped(&l->staged);
    fd_scoped(&l->fd);
    free(l->staging);
    free(l->directory);
    arena_fini(&l->memory);
    free(l);
}

/* ---- beginning ---- */

static int note_other(int fd, const char *name, void *arg)
{
    bool *has_other = arg;
    (void)fd;
    *has_other |= !str_has_prefix(str_of(name), STR(STAGING_PREFIX));
    return 0;
}

static int open_directory(struct oci_layout *l, struct err *err)
{
    l->is_made = mkdir(l->directory, 0755) == 0;
    if (!l->is_made && errno != EEXIST)
        return err_sys(err, -errno, "make '%s'", l->directory);
    int r =
        l->is_made ? sys_sync_parent(l->directory, err) : 0; /* now: later it cannot be undone */
    if (r < 0)
        return r;
    l->fd = sys_openat(AT_FDCWD, l->directory, O_RDONLY | O_DIRECTORY, 0);
    if (l->fd < 0)
        return err_sys(err, l->fd, "open '%s'", l->directory);
    if (flock(l->fd, LOCK_EX | LOCK_NB) < 0)
        return err_set(err, -EBUSY, "another process changes '%s'", l->directory);
    return 0;
}

static int read_index(struct oci_layout *l, struct err *err)
{
    bool has_other = false;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_DOCUMENT_MAX);
    if (faccessat(l->fd, "oci-layout", F_OK, 0) < 0) {
        (void)each_name(l->fd, ".", note_other, &has_other);
        return has_other
                   ? err_set(err, E_PARSE, "'%s' is no image layout, and not empty", l->directory)
                   : 0;
    }
    int r = sys_read_file(l->fd, "index.json", &text, err);
    if (r < 0)
        return err_ctx(err, r, "'%s'", l->directory);
    l->index_text = str_copy_arena(&l->memory, buf_str(&text));
    r = oci_index_parse(&l->memory, l->index_text, &l->index, err);
    return r < 0 ? err_ctx(err, r, "'%s/index.json'", l->directory) : 0;
}

static int make_staging(struct oci_layout *l, struct err *err)
{
    char uuid[37];
    (void)each_name(l->fd, ".", remove_leftover, NULL);
    sys_uuid(uuid);
    l->staging = xasprintf("%s/" STAGING_PREFIX "%s", l->directory, uuid);
    scoped(free_scoped) char *blobs = xasprintf("%s/" BLOBS, l->staging);
    int r = sys_mkdir_all(blobs, 0755, err);
    if (r < 0)
        return r;
    l->staged = sys_openat(AT_FDCWD, blobs, O_RDONLY | O_DIRECTORY, 0);
    return l->staged < 0 ? err_sys(err, l->staged, "open '%s'", blobs) : 0;
}

int oci_layout_begin(const char *directory, struct oci_layout **ret, struct err *err)
{
    scoped(oci_layout_end_scoped) struct oci_layout *l = xnew(struct oci_layout);
    l->fd = l->staged = -1;
    l->directory = xstrdup(directory);
    int r = open_directory(l, err);
    r = r < 0 ? r : read_index(l, err);
    r = r < 0 ? r : make_staging(l, err);
    if (r < 0)
        return r;
    *ret = take_ptr(&l);
    return 0;
}

const char *oci_layout_staging(const struct oci_layout *l)
{
    return l->staging;
}

const struct oci_index *oci_layout_index(const struct oci_layout *l)
{
    return &l->index;
}

/* ---- blobs ---- */

static void number_name(uint64_t number, char ret[NUMBER_SIZE])
{
    (void)snprintf(ret, NUMBER_SIZE, "new-%llu", (unsigned long long)number);
}

int oci_layout_blob_new(struct oci_layout *l, uint64_t number, struct err *err)
{
    char name[NUMBER_SIZE];
    number_name(number, name);
    int fd = sys_openat(l->staged, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    return fd < 0 ? err_sys(err, fd, "new blob in '%s'", l->directory) : fd;
}

int oci_layout_blob_done(struct oci_layout *l, uint64_t number, int fd,
                         const struct oci_digest *digest, struct err *err)
{
    char name[NUMBER_SIZE], hex[HEX_SIZE];
    number_name(number, name);
    hex_format(digest->bytes, sizeof digest->bytes, hex);
    int r = sys_fsync(fd);
    r = r < 0 ? r : sys_renameat(l->staged, name, l->staged, hex);
    return r < 0 ? err_sys(err, r, "blob in '%s'", l->directory) : 0;
}

int oci_layout_document(struct oci_layout *l, struct str text, struct oci_digest *ret,
                        struct err *err)
{
    char hex[HEX_SIZE];
    sha256_of(text, ret->bytes);
    hex_format(ret->bytes, sizeof ret->bytes, hex);
    return sys_write_file_atomic(l->staged, hex, text, 0644, err);
}

/* ---- the index ---- */

static struct json *manifest_json(struct arena *a, const struct oci_layout_manifest *m)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    struct json *v = json_new_object(a), *platform;
    oci_digest_format(&m->digest, digest);
    json_set_str(a, v, "mediaType", STR("application/vnd.oci.image.manifest.v1+json"));
    json_set_str(a, v, "digest", str_of(digest));
    json_set_int(a, v, "size", (int64_t)m->size);
    if (m->platform.os.n) {
        platform = json_obj(a, v, "platform");
        json_set_str(a, platform, "architecture", m->platform.architecture);
        json_set_str(a, platform, "os", m->platform.os);
        if (m->platform.variant.n)
            json_set_str(a, platform, "variant", m->platform.variant);
    }
    if (m->name.n)
        json_set_str(a, json_obj(a, v, "annotations"), REF_NAME, m->name);
    return v;
}

/* The manifest that has the name loses it; one with the same digest gives way. */
static void give_way(struct json *list, const struct oci_layout_manifest *m)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&m->digest, digest);
    for (struct json *v = json_first(list), *next; v; v = next) {
        next = v->next;
        struct json *annotations = json_getc(v, "annotations");
        struct str name = json_get_str(annotations, REF_NAME);
        bool is_named = m->name.n && str_eq(name, m->name);
        if (str_is(json_get_str(v, "digest"), digest) && (is_named || name.n == 0))
            (void)json_remove(list, v);
        else if (is_named)
            (void)json_del(annotations, STR(REF_NAME));
    }
}

static int write_index(struct oci_layout *l, int fd, struct str before,
                       const struct oci_layout_manifest *manifests, size_t n, struct err *err)
{
    struct arena a = { 0 };
    struct json *doc = json_new_object(&a);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_DOCUMENT_MAX);
    int r = before.n ? json_parse(&a, before, NULL, &doc, err) : 0;
    if (r >= 0 && !json_is(json_getc(doc, "manifests"), JSON_ARRAY)) {
        json_set_int(&a, doc, "schemaVersion", 2);
        json_set_str(&a, doc, "mediaType", STR("application/vnd.oci.image.index.v1+json"));
        json_setc(&a, doc, "manifests", json_new_array(&a));
    }
    struct json *list = json_getc(doc, "manifests");
    for (size_t i = 0; r >= 0 && i < n; i++) {
        give_way(list, &manifests[i]);
        json_add(list, manifest_json(&a, &manifests[i]));
    }
    if (r >= 0 && list->n > OCI_MANIFESTS_MAX)
        r = err_set(err, E_LIMIT, "an index may name %d manifests", OCI_MANIFESTS_MAX);
    if (r >= 0 && (r = json_write_sorted(&text, doc)) < 0)
        r = err_sys(err, r, "the index");
    r = r < 0 ? r : sys_write_file_atomic(fd, "oci-layout", VERSION, 0644, err);
    r = r < 0 ? r : sys_write_file_atomic(fd, "index.json", buf_str(&text), 0644, err);
    arena_fini(&a);
    return r < 0 ? err_ctx(err, r, "'%s'", l->directory) : 0;
}

int oci_layout_stage(struct oci_layout *l, const struct oci_layout_manifest *manifests, size_t n,
                     struct err *err)
{
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, l->staging, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", l->staging);
    return write_index(l, fd, STR_NULL, manifests, n, err);
}

struct moving {
    int to;
};

static int move_blob(int fd, const char *name, void *arg)
{
    const struct moving *m = arg;
    if (str_of(name).n != HEX_SIZE - 1)
        return 0;
    return sys_renameat(fd, name, m->to, name);
}

static int move_blobs(struct oci_layout *l, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/" BLOBS, l->directory);
    int r = sys_mkdir_all(path, 0755, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int to = sys_openat(l->fd, BLOBS, O_RDONLY | O_DIRECTORY, 0);
    struct moving m = { to };
    r = to < 0 ? to : each_name(l->staged, ".", move_blob, &m);
    r = r < 0 ? r : sys_fsync(to);
    return r < 0 ? err_sys(err, r, "move blobs to '%s'", path) : 0;
}

int oci_layout_publish(struct oci_layout *l, const struct oci_layout_manifest *manifests, size_t n,
                       struct err *err)
{
    int r = move_blobs(l, err);
    r = r < 0 ? r : write_index(l, l->fd, l->index_text, manifests, n, err);
    if (r < 0)
        return r;
    l->is_published = true;
    return 0;
}
