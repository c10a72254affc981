/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/tar_write.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

enum {
    NAME_BYTES = 100,
    PREFIX_BYTES = 155,
    NUMBER_MAX = 07777777, /* seven octal digits */
    SHOWN_BYTES = 120,
};
#define WIDE_MAX ((uint64_t)077777777777) /* eleven octal digits */

/* The ustar header. */
struct tar_write_header {
    char name[NAME_BYTES];
    char mode[8], uid[8], gid[8];
    char size[12], mtime[12];
    char checksum[8];
    char type;
    char link[NAME_BYTES];
    char magic[8];
    char uname[32], gname[32];
    char major[8], minor[8];
    char prefix[PREFIX_BYTES];
    char rest[12];
};
_Static_assert(sizeof(struct tar_write_header) == TAR_BLOCK_BYTES, "a header is a block");

/* Octal digits in all bytes except the last, which stays NUL. */
static void put_octal(char *field, size_t n, uint64_t v)
{
    for (size_t i = n - 1; i-- > 0; v >>= 3)
        field[i] = (char)('0' + (v & 7));
    assert(v == 0);
}

static void put_text(char *field, size_t max, struct str s)
{
    if (s.n)
        memcpy(field, s.p, MIN(s.n, max));
}

static int add_header(struct buf *to, struct tar_write_header *h)
{
    uint32_t sum = 0;
    memcpy(h->magic, "ustar\00000", sizeof h->magic);
    memset(h->checksum, ' ', sizeof h->checksum);
    for (size_t i = 0; i < sizeof *h; i++)
        sum += ((const uint8_t *)h)[i];
    put_octal(h->checksum, 7, sum);
    h->checksum[6] = 0;
    return buf_add(to, h, sizeof *h);
}

/* Where to split a path into prefix and name, at its last possible "/"; 0: it fits unsplit, or not
 * at all (*ret_fits). */
static size_t split_at(struct str path, bool *ret_fits)
{
    *ret_fits = path.n <= NAME_BYTES;
    if (*ret_fits)
        return 0;
    for (size_t at = MIN(path.n - 2, (size_t)PREFIX_BYTES); at > 0; at--)
        if (path.p[at] == '/') {
            *ret_fits = path.n - at - 1 <= NAME_BYTES;
            return *ret_fits ? at : 0;
        }
    return 0;
}

/* A pax record: its length in decimal counts itself. */
static void add_record(struct buf *to, const char *key, struct str name, struct str value)
{
    size_t n = strlen(key) + name.n + value.n + 3, total = n + 1, digits;
    while (digits = (size_t)snprintf(NULL, 0, "%zu", total), total != n + digits)
        total = n + digits;
    (void)buf_printf(to, "%zu %s" STR_FMT "=", total, key, STR_ARG(name));
    (void)buf_add_str(to, value);
    (void)buf_add_char(to, '\n');
}

static void add_number(struct buf *to, const char *key, uint64_t v)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    add_record(to, key, STR_NULL, str_of(text));
}

/* Seconds with as many decimals as are needed; before 1970 the fraction counts downwards. */
static void add_time(struct buf *to, int64_t s, uint32_t ns)
{
    char text[40];
    bool is_before = s < 0;
    uint64_t whole = is_before ? (uint64_t) - (s + 1) + (ns == 0) : (uint64_t)s;
    uint32_t part = is_before && ns ? 1000000000 - ns : ns;
    int n = snprintf(text, sizeof text, "%s%llu.%09u", is_before ? "-" : "",
                     (unsigned long long)whole, part);
    while (text[n - 1] == '0')
        n--;
    add_record(to, "mtime", STR_NULL, str_n(text, (size_t)(text[n - 1] == '.' ? n - 1 : n)));
}

static bool fits_wide(int64_t s, uint32_t ns)
{
    return ns == 0 && s >= 0 && (uint64_t)s <= WIDE_MAX;
}

/* The records that an entry needs, sorted by key. */
static void add_records(struct buf *to, const struct tar_entry *e, struct str path, bool path_fits)
{
    for (size_t i = 0; i < e->n_xattrs; i++)
        add_record(to, "SCHILY.xattr.", e->xattrs[i].name, e->xattrs[i].value);
    if (e->gid > NUMBER_MAX)
        add_number(to, "gid", e->gid);
    if (e->link.n > NAME_BYTES)
        add_record(to, "linkpath", STR_NULL, e->link);
    if (!fits_wide(e->mtime_s, e->mtime_ns))
        add_time(to, e->mtime_s, e->mtime_ns);
    if (!path_fits)
        add_record(to, "path", STR_NULL, path);
    if (e->size > WIDE_MAX)
        add_number(to, "size", e->size);
    if (e->uid > NUMBER_MAX)
        add_number(to, "uid", e->uid);
}

static int add_pax(struct buf *to, const struct tar_entry *e, struct str path, bool path_fits)
{
    scoped(buf_fini_scoped) struct buf records = BUF_INIT(2 * TAR_EXTENDED_MAX);
    struct tar_write_header h = { .type = 'x' };
    add_records(&records, e, path, path_fits);
    if (!buf_ok(&records) || records.n == 0)
        return records.failed;
    put_text(h.name, sizeof h.name, STR("././@PaxHeader"));
    put_octal(h.mode, sizeof h.mode, 0644);
    put_octal(h.uid, sizeof h.uid, 0);
    put_octal(h.gid, sizeof h.gid, 0);
    put_octal(h.size, sizeof h.size, records.n);
    put_octal(h.mtime, sizeof h.mtime, 0);
    int r = add_header(to, &h);
    r = r < 0 ? r : buf_add_str(to, buf_str(&records));
    return r < 0 ? r : tar_write_padding(to, records.n);
}

static int check(const struct tar_entry *e, struct err *err)
{
    struct str shown = str_slice(e->path, 0, SHOWN_BYTES);
    if (e->device_major > NUMBER_MAX || e->device_minor > NUMBER_MAX)
        return err_set(err, E_UNSUPPORTED, "device numbers of '" STR_FMT "' do not fit into a tar",
                       STR_ARG(shown));
    for (size_t i = 0; i < e->n_xattrs; i++)
        if (str_find_char(e->xattrs[i].name, '=') >= 0)
            return err_set(err, E_UNSUPPORTED,
                           "the name of an extended attribute of '" STR_FMT "' has a '='",
                           STR_ARG(shown));
    return 0;
}

static uint64_t if_fits(uint64_t v, uint64_t max)
{
    return v <= max ? v : 0; /* the value is in the pax header */
}

int tar_write_header(struct buf *to, const struct tar_entry *e, struct err *err)
{
    static const char types[] = {
        [TAR_FILE] = '0',     [TAR_DIR] = '5',         [TAR_SYMLINK] = '2',
        [TAR_HARDLINK] = '1', [TAR_CHAR_DEVICE] = '3', [TAR_BLOCK_DEVICE] = '4',
        [TAR_FIFO] = '6'
    };
    char room[TAR_PATH_MAX + 1];
    struct str path = e->path.n ? e->path : STR(".");
    bool fits;
    int r = check(e, err);
    if (r < 0)
        return r;
    if (e->type == TAR_DIR) {
        memcpy(room, path.p, path.n);
        room[path.n] = '/';
        path = str_n(room, path.n + 1);
    }
    size_t at = split_at(path, &fits);
    struct tar_write_header h = { .type = types[e->type] };
    if ((r = add_pax(to, e, path, fits)) < 0)
        return err_sys(err, r, "tar");
    put_text(h.prefix, sizeof h.prefix, str_slice(path, 0, at));
    put_text(h.name, sizeof h.name, str_slice(path, at ? at + 1 : 0, path.n));
    put_octal(h.mode, sizeof h.mode, e->mode & 07777);
    put_octal(h.uid, sizeof h.uid, if_fits(e->uid, NUMBER_MAX));
    put_octal(h.gid, sizeof h.gid, if_fits(e->gid, NUMBER_MAX));
    put_octal(h.size, sizeof h.size, if_fits(e->size, WIDE_MAX));
    put_octal(h.mtime, sizeof h.mtime, fits_wide(e->mtime_s, 0) ? (uint64_t)e->mtime_s : 0);
    put_text(h.link, sizeof h.link, e->link);
    if (e->type == TAR_CHAR_DEVICE || e->type == TAR_BLOCK_DEVICE) {
        put_octal(h.major, sizeof h.major, e->device_major);
        put_octal(h.minor, sizeof h.minor, e->device_minor);
    }
    r = add_header(to, &h);
    return r < 0 ? err_sys(err, r, "tar") : 0;
}

int tar_write_padding(struct buf *to, uint64_t size)
{
    static const char zeros[TAR_BLOCK_BYTES];
    return buf_add(to, zeros, (size_t)(-size % TAR_BLOCK_BYTES));
}

int tar_write_end(struct buf *to)
{
    static const char zeros[2 * TAR_BLOCK_BYTES];
    return buf_add(to, zeros, sizeof zeros);
}
