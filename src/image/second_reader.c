/* SPDX-License-Identifier: Apache-2.0 */
#include "image/second_reader.h"

#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

enum {
    READ_BYTES = 256 << 10,
    SHOWN_BYTES = 120,
    ARCHIVE_EOF = 1,    /* what libarchive's functions return; 0 is success, */
    ARCHIVE_WARN = -20, /* the entry can be used, something of it could not be read */
};

/* Of libarchive's interface (libarchive 3, archive_read(3), archive_entry(3)). */
struct archive;
struct archive_entry;

#define ARCHIVE_FUNCTIONS(X)                                                                       \
    X(const char *, archive_version_string, (void))                                                \
    X(struct archive *, archive_read_new, (void))                                                  \
    X(int, archive_read_free, (struct archive *))                                                  \
    X(int, archive_read_support_filter_gzip, (struct archive *))                                   \
    X(int, archive_read_support_filter_zstd, (struct archive *))                                   \
    X(int, archive_read_support_format_tar, (struct archive *))                                    \
    X(int, archive_read_open_filename, (struct archive *, const char *, size_t))                   \
    X(int, archive_read_next_header, (struct archive *, struct archive_entry **))                  \
    X(int, archive_read_data_block, (struct archive *, const void **, size_t *, int64_t *))        \
    X(const char *, archive_error_string, (struct archive *))                                      \
    X(const char *, archive_entry_pathname, (struct archive_entry *))                              \
    X(const char *, archive_entry_symlink, (struct archive_entry *))                               \
    X(const char *, archive_entry_hardlink, (struct archive_entry *))                              \
    X(mode_t, archive_entry_mode, (struct archive_entry *))                                        \
    X(int64_t, archive_entry_uid, (struct archive_entry *))                                        \
    X(int64_t, archive_entry_gid, (struct archive_entry *))                                        \
    X(int64_t, archive_entry_size, (struct archive_entry *))                                       \
    X(time_t, archive_entry_mtime, (struct archive_entry *))                                       \
    X(long, archive_entry_mtime_nsec, (struct archive_entry *))                                    \
    X(dev_t, archive_entry_rdevmajor, (struct archive_entry *))                                    \
    X(dev_t, archive_entry_rdevminor, (struct archive_entry *))                                    \
    X(int, archive_entry_xattr_reset, (struct archive_entry *))                                    \
    X(int, archive_entry_xattr_next,                                                               \
      (struct archive_entry *, const char **, const void **, size_t *))

static struct {
    pthread_once_t once;
    bool is_there;
    locale_t utf8; /* libarchive reads names of pax headers in the thread's locale */
#define DECLARE(type, name, args) type(*name) args;
    ARCHIVE_FUNCTIONS(DECLARE)
#undef DECLARE
} lib = { .once = PTHREAD_ONCE_INIT };

static void load(void)
{
    bool is_complete = true;
    void *handle = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return;
#define FIND(type, name, args)                                                                     \
    *(void **)&lib.name = dlsym(handle, #name);                                                    \
    is_complete = is_complete && lib.name;
    ARCHIVE_FUNCTIONS(FIND)
#undef FIND
    lib.utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    lib.is_there = is_complete && lib.utf8;
}

const char *second_reader_name(void)
{
    (void)pthread_once(&lib.once, load);
    return lib.is_there ? lib.archive_version_string() : NULL;
}

/* ---- comparing ---- */

struct second_reader_comparison {
    struct archive *from;
    const struct oci_layer *layer;
    size_t n_entries, n_whiteouts; /* that were met */
    struct sha256 *hash;
};

static int refuse(struct str path, const char *what, struct err *err)
{
    return err_set(err, E_DIGEST, "%s reads the layer differently: '/" STR_FMT "' %s",
                   second_reader_name(), STR_ARG(str_slice(path, 0, SHOWN_BYTES)), what);
}

static int failed(struct second_reader_comparison *c, struct err *err)
{
    const char *why = lib.archive_error_string(c->from);
    return err_set(err, -EIO, "%s: %s", second_reader_name(), why ? why : "cannot read the layer");
}

static mode_t type_bits(enum tar_type type)
{
    switch (type) {
    case TAR_FILE:
    case TAR_HARDLINK:
        return S_IFREG;
    case TAR_DIR:
        return S_IFDIR;
    case TAR_SYMLINK:
        return S_IFLNK;
    case TAR_CHAR_DEVICE:
        return S_IFCHR;
    case TAR_BLOCK_DEVICE:
        return S_IFBLK;
    case TAR_FIFO:
        return S_IFIFO;
    }
    return 0;
}

/* A name without "./" in front and "/" at the end. */
static struct str plain_name(const char *text)
{
    struct str s = str_of(text ? text : "");
    if (str_has_prefix(s, STR("./")))
        s = str_slice(s, 2, s.n);
    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    return str_is(s, ".") ? STR("") : s;
}

static bool is_ascii(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] & 0x80)
            return false;
    return true;
}

/* After a warning a name of a pax header that is no UTF-8 is not what was written. */
static bool is_same_name(const char *found, struct str wanted, int status)
{
    return str_eq(plain_name(found), wanted) || (status == ARCHIVE_WARN && !is_ascii(wanted));
}

static bool is_same_link(struct archive_entry *a, const struct oci_entry *e, int status)
{
    const char *hard = lib.archive_entry_hardlink(a);
    if ((e->type == TAR_HARDLINK) != (hard != NULL))
        return false;
    if (e->type == TAR_HARDLINK)
        return is_same_name(hard, e->link, status);
    const char *soft = lib.archive_entry_symlink(a);
    return e->type != TAR_SYMLINK || (soft && str_is(e->link, soft)) ||
           (status == ARCHIVE_WARN && !is_ascii(e->link));
}

static bool is_same_device(struct archive_entry *a, const struct oci_entry *e)
{
    return (e->type != TAR_CHAR_DEVICE && e->type != TAR_BLOCK_DEVICE) ||
           (lib.archive_entry_rdevmajor(a) == e->device_major &&
            lib.archive_entry_rdevminor(a) == e->device_minor);
}

static bool has_xattr(const struct oci_entry *e, const char *name, struct str value)
{
    for (size_t i = 0; i < e->n_xattrs; i++)
        if (str_is(e->xattrs[i].name, name))
            return str_eq(e->xattrs[i].value, value);
    return false;
}

static bool has_same_xattrs(struct archive_entry *a, const struct oci_entry *e)
{
    const char *name;
    const void *value;
    size_t size, n = 0;
    (void)lib.archive_entry_xattr_reset(a);
    while (lib.archive_entry_xattr_next(a, &name, &value, &size) == 0 && name) {
        if (!has_xattr(e, name, str_n(value, size)))
            return false;
        n++;
    }
    return n == e->n_xattrs;
}

static const char *difference(struct archive_entry *a, const struct oci_entry *e, int status)
{
    mode_t mode = lib.archive_entry_mode(a);
    if (!is_same_name(lib.archive_entry_pathname(a), e->path, status))
        return "has another name";
    if (e->type != TAR_HARDLINK && (mode & S_IFMT) != type_bits((enum tar_type)e->type))
        return "has another type";
    if (!is_same_link(a, e, status))
        return "has another target";
    if ((mode & 07777) != e->mode)
        return "has another mode";
    if (lib.archive_entry_uid(a) != e->uid || lib.archive_entry_gid(a) != e->gid)
        return "has another owner";
    if (lib.archive_entry_mtime(a) != e->mtime_s || lib.archive_entry_mtime_nsec(a) != e->mtime_ns)
        return "has another time";
    if (e->type == TAR_FILE && (uint64_t)lib.archive_entry_size(a) != e->size)
        return "has another size";
    if (!is_same_device(a, e))
        return "is another device";
    return has_same_xattrs(a, e) ? NULL : "has other extended attributes";
}

static int check_content(struct second_reader_comparison *c, const struct oci_entry *e,
                         struct err *err)
{
    const void *bytes;
    size_t n;
    int64_t offset;
    uint64_t at = 0;
    uint8_t digest[SHA256_BYTES];
    int status;
    while ((status = lib.archive_read_data_block(c->from, &bytes, &n, &offset)) == 0) {
        if ((uint64_t)offset != at)
            return refuse(e->path, "has holes", err);
        sha256_add(c->hash, bytes, n);
        at += n;
    }
    if (status != ARCHIVE_EOF)
        return failed(c, err);
    sha256_end(c->hash, digest);
    return at == e->size && memcmp(digest, e->digest, sizeof digest) == 0
               ? 0
               : refuse(e->path, "has another content", err);
}

/* ".wh.NAME" of a delta; the layer keeps those apart from its entries. */
static bool is_expected_whiteout(struct second_reader_comparison *c, struct str path)
{
    if (c->n_whiteouts >= c->layer->whiteouts.n)
        return false;
    const struct oci_whiteout *w = &c->layer->whiteouts.p[c->n_whiteouts];
    size_t dir = w->path.n;
    while (dir && w->path.p[dir - 1] != '/')
        dir--;
    struct str name = str_slice(w->path, dir, w->path.n);
    if (w->is_opaque || path.n != w->path.n + 4 ||
        !str_eq(str_slice(path, 0, dir), str_slice(w->path, 0, dir)) ||
        !str_has_prefix(str_slice(path, dir, path.n), STR(".wh.")) ||
        !str_eq(str_slice(path, dir + 4, path.n), name))
        return false;
    c->n_whiteouts++;
    return true;
}

static int check_entry(struct second_reader_comparison *c, struct archive_entry *a, int status,
                       struct err *err)
{
    struct str path = plain_name(lib.archive_entry_pathname(a));
    if (is_expected_whiteout(c, path))
        return 0;
    if (c->n_entries >= c->layer->entries.n)
        return refuse(path, "is new", err);
    const struct oci_entry *e = &c->layer->entries.p[c->n_entries++];
    const char *what = difference(a, e, status);
    if (what)
        return refuse(e->path, what, err);
    return e->type == TAR_FILE ? check_content(c, e, err) : 0;
}

static int check_all(struct second_reader_comparison *c, const char *path, struct err *err)
{
    struct archive_entry *a;
    (void)lib.archive_read_support_filter_zstd(c->from); /* a library without it reads only gzip */
    if (lib.archive_read_support_filter_gzip(c->from) != 0 ||
        lib.archive_read_support_format_tar(c->from) != 0 ||
        lib.archive_read_open_filename(c->from, path, READ_BYTES) != 0)
        return failed(c, err);
    for (;;) {
        int status = lib.archive_read_next_header(c->from, &a);
        if (status == ARCHIVE_EOF)
            break;
        int r =
            status == 0 || status == ARCHIVE_WARN ? check_entry(c, a, status, err) : failed(c, err);
        if (r < 0)
            return r;
    }
    if (c->n_entries < c->layer->entries.n)
        return refuse(c->layer->entries.p[c->n_entries].path, "is missing", err);
    return c->n_whiteouts == c->layer->whiteouts.n
               ? 0
               : refuse(c->layer->whiteouts.p[c->n_whiteouts].path, "is not hidden", err);
}

int second_reader_check(const char *directory, const struct oci_digest *blob,
                        const struct oci_layer *layer, struct err *err)
{
    char hex[SHA256_HEX_SIZE];
    hex_format(blob->bytes, sizeof blob->bytes, hex);
    scoped(free_scoped) char *path = xasprintf("%s/blobs/sha256/%s", directory, hex);
    if (!second_reader_name())
        return err_set(err, E_UNSUPPORTED, "there is no libarchive on this machine");
    struct second_reader_comparison c = { .from = lib.archive_read_new(),
                                          .layer = layer,
                                          .hash = sha256_new() };
    locale_t before = uselocale(lib.utf8);
    int r = c.from ? check_all(&c, path, err) : err_set(err, -ENOMEM, "libarchive");
    if (c.from)
        (void)lib.archive_read_free(c.from);
    (void)uselocale(before);
    sha256_free(c.hash);
    return r;
}
