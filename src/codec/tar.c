/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader expects one thing at a time (r->expect): a header block, the body of an extended
 * header, a further block of a sparse map, content, or padding. Extended headers collect values
 * that override the next ordinary header.
 */
#include "codec/tar.h"

#include "base/buf.h"
#include "base/vec.h"
#include "codec/base64.h"
#include "codec/url.h"

#include <errno.h>
#include <limits.h>

/* Offsets and lengths of the fields of a header block. */
#define FIELD(block, at, len) ((struct str){ (block) + (at), (len) })
#define F_NAME(b)             FIELD(b, 0, 100)
#define F_MODE(b)             FIELD(b, 100, 8)
#define F_UID(b)              FIELD(b, 108, 8)
#define F_GID(b)              FIELD(b, 116, 8)
#define F_SIZE(b)             FIELD(b, 124, 12)
#define F_MTIME(b)            FIELD(b, 136, 12)
#define F_CHECKSUM(b)         FIELD(b, 148, 8)
#define F_LINK(b)             FIELD(b, 157, 100)
#define F_MAGIC(b)            FIELD(b, 257, 8)
#define F_MAJOR(b)            FIELD(b, 329, 8)
#define F_MINOR(b)            FIELD(b, 337, 8)
#define F_PREFIX(b)           FIELD(b, 345, 155)
#define F_STAR_PREFIX(b)      FIELD(b, 345, 131)
#define F_STAR_TRAILER(b)     FIELD(b, 508, 4)

enum {
    F_TYPE = 156,
    F_GNU_SPARSE = 386, /* four pieces of 24 bytes, then a flag and the file's size */
    F_GNU_SPARSE_MORE = 482,
    F_GNU_REAL_SIZE = 483,
    GNU_SPARSE_PIECES = 4,
    GNU_SPARSE_MORE_PIECES = 21, /* in each block that follows */
    SPARSE_PIECE_BYTES = 24,
    SPARSE_LINE_MAX = 32, /* a line of a map in format 1.0 */
    NS_DIGITS = 9,
};

struct piece {
    uint64_t at, n;
};

struct ordered_xattr {
    struct tar_xattr x;
    size_t order; /* position of its record in the entry */
};

/* The values of a pax header for the next entry. p == NULL: not set. Texts are owned by
 * r->arena. */
struct overrides {
    struct str path, link, sparse_path, sparse_map;
    struct str size, uid, gid, mtime, sparse_size, sparse_major, sparse_minor;
    VEC(struct ordered_xattr) xattrs;
    VEC(struct piece) pieces; /* format 0.0 */
    size_t xattr_bytes;
    bool piece_is_open; /* an offset without its length so far */
    bool is_sparse;
};

enum expect {
    EXPECT_HEADER,
    EXPECT_EXTENDED, /* the body of a pax header or of a GNU long name */
    EXPECT_EXTENDED_PADDING,
    EXPECT_SPARSE,     /* a further block of an old GNU map */
    EXPECT_SPARSE_MAP, /* a map of format 1.0, before the content */
    EXPECT_CONTENT,
    EXPECT_PADDING,
    EXPECT_NOTHING, /* after the end of the archive */
};

struct tar_reader {
    const struct tar_ops *ops;
    void *arg;
    enum expect expect;
    uint64_t at; /* offset in the stream of the next byte */
    char block[TAR_BLOCK_BYTES];
    size_t n_block;
    bool saw_zero_block;

    char extended_type;
    struct buf extended;   /* the body so far */
    size_t extended_total; /* of this entry */
    uint64_t left;         /* bytes of the current part still to come */
    size_t padding;        /* bytes after it */
    struct overrides over;
    struct str long_path, long_link; /* GNU's; they take precedence over a pax header's */
    struct arena arena;              /* texts of one entry */

    struct tar_entry entry;
    char path[TAR_PATH_MAX], link[TAR_PATH_MAX];
    VEC(struct piece) map;            /* of a sparse file */
    size_t map_at;                    /* the current piece */
    uint64_t file_at;                 /* offset in the file of the next byte */
    struct buf map_text;              /* format 1.0: the current line */
    uint64_t map_lines, map_expected; /* numbers read; their total, 0: not known yet */
};

static void overrides_reset(struct overrides *o)
{
    vec_fini(&o->xattrs);
    vec_fini(&o->pieces);
    *o = (struct overrides){ 0 };
}

struct tar_reader *tar_reader_new(const struct tar_ops *ops, void *arg)
{
    struct tar_reader *r = xnew(struct tar_reader);
    r->ops = ops;
    r->arg = arg;
    buf_init(&r->extended, TAR_EXTENDED_MAX);
    buf_init(&r->map_text, SPARSE_LINE_MAX);
    return r;
}

void tar_reader_free(struct tar_reader *r)
{
    if (!r)
        return;
    overrides_reset(&r->over);
    vec_fini(&r->map);
    buf_fini(&r->extended);
    buf_fini(&r->map_text);
    arena_fini(&r->arena);
    free(r);
}

/* ---- texts and numbers ---- */

int tar_normalize(struct str path, char *room, struct str *ret, struct err *err)
{
    if (path.n && memchr(path.p, 0, path.n))
        return err_set(err, E_PARSE, "a path holds a NUL byte");
    size_t n = 0;
    while (path.n) {
        struct str part;
        (void)str_cut(path, '/', &part, &path);
        if (part.n == 0 || str_is(part, "."))
            continue;
        if (str_is(part, ".."))
            return err_set(err, E_PARSE, "a path has the component '..'");
        if (part.n > TAR_NAME_MAX || n + 1 + part.n > TAR_PATH_MAX)
            return err_set(err, E_PARSE, "a path is too long");
        if (n)
            room[n++] = '/';
        memcpy(room + n, part.p, part.n);
        n += part.n;
    }
    *ret = (struct str){ room, n };
    return 0;
}

static size_t parent_length(const char *path, size_t n)
{
    while (n && path[n - 1] != '/')
        n--;
    return n ? n - 1 : 0;
}

int tar_join_link(struct str dir, struct str target, struct str rest, char *room, struct str *ret)
{
    struct str parts[] = { target.n && target.p[0] == '/' ? STR_NULL : dir, target, rest };
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        while (parts[i].n) {
            struct str part;
            (void)str_cut(parts[i], '/', &part, &parts[i]);
            if (part.n == 0 || str_is(part, "."))
                continue;
            if (str_is(part, "..")) {
                n = parent_length(room, n);
                continue;
            }
            if (part.n > TAR_NAME_MAX || n + 1 + part.n > TAR_PATH_MAX)
                return E_PARSE;
            if (n)
                room[n++] = '/';
            memcpy(room + n, part.p, part.n);
            n += part.n;
        }
    *ret = str_n(room, n);
    return 0;
}

/* A field of text ends at a NUL or at its length. */
static struct str text_of(struct str field)
{
    const char *end = memchr(field.p, 0, field.n);
    return end ? (struct str){ field.p, (size_t)(end - field.p) } : field;
}

/* Base-256 (GNU): the first bit marks it, the second is the sign, big-endian two's complement. */
static int parse_base256(struct str field, int64_t *ret)
{
    const uint8_t *p = (const uint8_t *)field.p;
    bool is_negative = p[0] & 0x40;
    uint8_t fill = is_negative ? 0xff : 0;
    uint64_t v = is_negative ? UINT64_MAX : 0;
    for (size_t i = 0; i < field.n; i++) {
        uint8_t byte = i == 0 ? (uint8_t)((p[0] & 0x3f) | (is_negative ? 0xc0 : 0)) : p[i];
        if (field.n - i > sizeof v && byte != fill)
            return -ERANGE;
        v = v << 8 | byte;
    }
    if ((v >> 63 != 0) != is_negative)
        return -ERANGE;
    *ret = (int64_t)v;
    return 0;
}

static int parse_octal(struct str field, int64_t *ret)
{
    struct str s = text_of(field);
    while (s.n && s.p[0] == ' ')
        s = str_slice(s, 1, s.n);
    while (s.n && s.p[s.n - 1] == ' ')
        s.n--;
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '7' || v > (uint64_t)INT64_MAX >> 3)
            return -EINVAL;
        v = v << 3 | (uint64_t)(s.p[i] - '0');
    }
    *ret = (int64_t)v;
    return 0;
}

static int parse_number(struct str field, int64_t min, int64_t max, int64_t *ret)
{
    int64_t v;
    int r = (uint8_t)field.p[0] & 0x80 ? parse_base256(field, &v) : parse_octal(field, &v);
    if (r < 0 || v < min || v > max)
        return r < 0 ? r : -ERANGE;
    *ret = v;
    return 0;
}

/* A pax time: decimal seconds, a sign and a fraction are allowed; digits beyond ns are cut. */
static int parse_time(struct str s, int64_t *ret_s, uint32_t *ret_ns)
{
    struct str whole, fraction;
    int64_t seconds;
    (void)str_cut(s, '.', &whole, &fraction);
    bool is_negative = whole.n && whole.p[0] == '-';
    if (parse_i64(whole, INT64_MIN / 2, INT64_MAX / 2, &seconds) < 0)
        return -EINVAL;
    uint32_t ns = 0;
    for (size_t i = 0; i < MAX(fraction.n, (size_t)NS_DIGITS); i++) {
        char c = i < fraction.n ? fraction.p[i] : '0';
        if (c < '0' || c > '9')
            return -EINVAL;
        if (i < NS_DIGITS)
            ns = ns * 10 + (uint32_t)(c - '0');
    }
    if (is_negative && ns) {
        seconds--;
        ns = 1000000000u - ns;
    }
    *ret_s = seconds;
    *ret_ns = ns;
    return 0;
}

static bool is_checksum_right(const char *block, int64_t stated)
{
    uint32_t sum = 0;
    int32_t signed_sum = 0; /* some old writers summed signed characters */
    for (size_t i = 0; i < TAR_BLOCK_BYTES; i++) {
        char c = i >= 148 && i < 156 ? ' ' : block[i];
        sum += (uint8_t)c;
        signed_sum += (signed char)c;
    }
    return stated == sum || stated == signed_sum;
}

/* ---- extended headers ---- */

/* A later record replaces an earlier one of the same name. */
static int add_xattr(struct tar_reader *r, struct str name, struct str value, struct err *err)
{
    struct overrides *o = &r->over;
    if (name.n == 0 || name.n > TAR_NAME_MAX || memchr(name.p, 0, name.n))
        return err_set(err, E_PARSE, "an extended attribute has no valid name");
    o->xattr_bytes += name.n + value.n;
    if (o->xattr_bytes > TAR_XATTRS_MAX || o->xattrs.n >= TAR_XATTR_COUNT_MAX)
        return err_set(err, E_LIMIT, "an entry has more than %d bytes of extended attributes",
                       TAR_XATTRS_MAX);
    struct ordered_xattr x = { { name, value }, o->xattrs.n };
    vec_push(&o->xattrs, x);
    return 0;
}

/* libarchive writes values in base64 without padding. */
static int add_libarchive_xattr(struct tar_reader *r, struct str name, struct str text,
                                struct err *err)
{
    scoped(buf_fini_scoped) struct buf padded = BUF_INIT(TAR_EXTENDED_MAX + 4);
    scoped(buf_fini_scoped) struct buf raw = BUF_INIT(TAR_EXTENDED_MAX);
    while (text.n && text.p[text.n - 1] == '=')
        text.n--;
    (void)buf_add_str(&padded, text);
    while (padded.n % 4)
        (void)buf_add_char(&padded, '=');
    if (base64_decode(&raw, buf_str(&padded), BASE64_LENIENT) < 0)
        return err_set(err, E_PARSE, "an extended attribute is not valid base64");
    /* libarchive writes names URL-encoded; a name that does not decode is used as it is. */
    if (url_decode(&r->arena, name, false, &name) < 0)
        name = str_copy_arena(&r->arena, name);
    return add_xattr(r, name, str_copy_arena(&r->arena, buf_str(&raw)), err);
}

static int add_sparse_number(struct overrides *o, bool is_offset, struct str value, struct err *err)
{
    uint64_t v;
    if (parse_u64(value, 0, INT64_MAX, &v) < 0 || is_offset == o->piece_is_open ||
        o->pieces.n > TAR_SPARSE_PIECES_MAX)
        return err_set(err, E_PARSE, "a sparse map is malformed");
    if (is_offset)
        vec_push(&o->pieces, ((struct piece){ v, 0 }));
    else
        o->pieces.p[o->pieces.n - 1].n = v;
    o->piece_is_open = is_offset;
    o->is_sparse = true;
    return 0;
}

static int add_record(struct tar_reader *r, struct str key, struct str value, struct err *err)
{
    struct overrides *o = &r->over;
    const struct {
        struct str key;
        struct str *to;
        bool is_sparse;
    } texts[] = {
        { STR("path"), &o->path, false },
        { STR("linkpath"), &o->link, false },
        { STR("size"), &o->size, false },
        { STR("uid"), &o->uid, false },
        { STR("gid"), &o->gid, false },
        { STR("mtime"), &o->mtime, false },
        { STR("GNU.sparse.name"), &o->sparse_path, true },
        { STR("GNU.sparse.size"), &o->sparse_size, true },
        { STR("GNU.sparse.realsize"), &o->sparse_size, true },
        { STR("GNU.sparse.map"), &o->sparse_map, true },
        { STR("GNU.sparse.major"), &o->sparse_major, true },
        { STR("GNU.sparse.minor"), &o->sparse_minor, true },
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (str_eq(key, texts[i].key)) {
            /* An empty value revokes that of an earlier record. */
            *texts[i].to = value.n ? str_copy_arena(&r->arena, value) : STR_NULL;
            o->is_sparse |= texts[i].is_sparse && value.n;
            return 0;
        }
    if (str_is(key, "GNU.sparse.offset"))
        return add_sparse_number(o, true, value, err);
    if (str_is(key, "GNU.sparse.numbytes"))
        return add_sparse_number(o, false, value, err);
    struct str schily = STR("SCHILY.xattr."), libarchive = STR("LIBARCHIVE.xattr.");
    if (str_has_prefix(key, schily))
        return add_xattr(r, str_copy_arena(&r->arena, str_slice(key, schily.n, key.n)),
                         str_copy_arena(&r->arena, value), err);
    if (str_has_prefix(key, libarchive))
        return add_libarchive_xattr(r, str_slice(key, libarchive.n, key.n), value, err);
    return 0; /* other records affect neither content nor attributes */
}

/* Records "LENGTH KEY=VALUE\n", where LENGTH counts the whole record. */
static int parse_pax(struct tar_reader *r, struct str body, struct err *err)
{
    while (body.n) {
        struct str length, rest, key, value;
        uint64_t n;
        if (!str_cut(body, ' ', &length, &rest) ||
            parse_u64(length, length.n + 2, body.n, &n) < 0 || body.p[n - 1] != '\n')
            return err_set(err, E_PARSE, "a pax header is malformed");
        struct str record = str_slice(body, length.n + 1, (size_t)n - 1);
        if (!str_cut(record, '=', &key, &value) || key.n == 0)
            return err_set(err, E_PARSE, "a pax header is malformed");
        int status = add_record(r, key, value, err);
        if (status < 0)
            return status;
        body = str_slice(body, (size_t)n, body.n);
    }
    return 0;
}

static int take_extended(struct tar_reader *r, struct err *err)
{
    struct str body = buf_str(&r->extended);
    switch (r->extended_type) {
    case 'x':
        overrides_reset(&r->over); /* the last of several wins */
        return parse_pax(r, body, err);
    case 'L':
        r->long_path = str_copy_arena(&r->arena, text_of(body));
        return 0;
    case 'K':
        r->long_link = str_copy_arena(&r->arena, text_of(body));
        return 0;
    default:
        return 0; /* 'g': layers do not use global headers; they are dropped */
    }
}

/* ---- sparse maps ---- */

/* Pieces ascend, do not overlap and stay within the file; their sum is the length of the content in
 * the stream. */
static int check_map(struct tar_reader *r, uint64_t stored, struct err *err)
{
    uint64_t at = 0, sum = 0;
    for (size_t i = 0; i < r->map.n; i++) {
        const struct piece *p = &r->map.p[i];
        if (p->at < at || p->n > r->entry.size || p->at > r->entry.size - p->n)
            return err_set(err, E_PARSE, "a sparse map is malformed");
        at = p->at + p->n;
        sum += p->n;
    }
    if (sum != stored)
        return err_set(err, E_PARSE, "a sparse map does not add up to the bytes stored");
    return 0;
}

static int begin_content(struct tar_reader *r, struct err *err)
{
    int status = r->entry.is_sparse ? check_map(r, r->left, err) : 0;
    if (status < 0)
        return status;
    r->entry.data_offset = r->at;
    r->map_at = 0;
    r->file_at = 0;
    r->expect = EXPECT_CONTENT;
    return r->ops->entry(r->arg, &r->entry, err);
}

static int take_gnu_pieces(struct tar_reader *r, const char *p, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++, p += SPARSE_PIECE_BYTES) {
        int64_t at, len;
        if (p[0] == 0)
            break; /* an unused entry ends the map */
        if (parse_number(FIELD(p, 0, 12), 0, INT64_MAX, &at) < 0 ||
            parse_number(FIELD(p, 12, 12), 0, INT64_MAX, &len) < 0)
            return err_set(err, E_PARSE, "a sparse map is malformed");
        if (r->map.n >= TAR_SPARSE_PIECES_MAX)
            return err_set(err, E_LIMIT, "a sparse file has more than %d pieces",
                           TAR_SPARSE_PIECES_MAX);
        vec_push(&r->map, ((struct piece){ (uint64_t)at, (uint64_t)len }));
    }
    return 0;
}

static int begin_gnu_sparse(struct tar_reader *r, struct err *err)
{
    int64_t size;
    if (parse_number(FIELD(r->block, F_GNU_REAL_SIZE, 12), 0, INT64_MAX, &size) < 0)
        return err_set(err, E_PARSE, "a sparse file has no size");
    r->entry.size = (uint64_t)size;
    r->entry.is_sparse = true;
    int status = take_gnu_pieces(r, r->block + F_GNU_SPARSE, GNU_SPARSE_PIECES, err);
    if (status < 0)
        return status;
    if (!r->block[F_GNU_SPARSE_MORE])
        return begin_content(r, err);
    r->expect = EXPECT_SPARSE;
    return 0;
}

static int take_gnu_sparse_block(struct tar_reader *r, struct err *err)
{
    int status = take_gnu_pieces(r, r->block, GNU_SPARSE_MORE_PIECES, err);
    if (status < 0)
        return status;
    return r->block[GNU_SPARSE_MORE_PIECES * SPARSE_PIECE_BYTES] ? 0 : begin_content(r, err);
}

/* Format 0.1: the map is one record, numbers with commas between them. */
static int parse_sparse_map(struct tar_reader *r, struct str text, struct err *err)
{
    while (text.n) {
        struct str at, n;
        struct piece p;
        if (!str_cut(text, ',', &at, &text) || r->map.n >= TAR_SPARSE_PIECES_MAX)
            return err_set(err, E_PARSE, "a sparse map is malformed");
        (void)str_cut(text, ',', &n, &text);
        if (parse_u64(at, 0, INT64_MAX, &p.at) < 0 || parse_u64(n, 0, INT64_MAX, &p.n) < 0)
            return err_set(err, E_PARSE, "a sparse map is malformed");
        vec_push(&r->map, p);
    }
    return 0;
}

static int begin_pax_sparse(struct tar_reader *r, struct err *err)
{
    struct overrides *o = &r->over;
    uint64_t size;
    if (o->piece_is_open || parse_u64(o->sparse_size, 0, INT64_MAX, &size) < 0)
        return err_set(err, E_PARSE, "a sparse file has no size");
    r->entry.size = size;
    r->entry.is_sparse = true;
    if (str_is(o->sparse_major, "1") && str_is(o->sparse_minor, "0")) {
        r->map_lines = r->map_expected = 0;
        buf_reset(&r->map_text);
        r->expect = EXPECT_SPARSE_MAP;
        return 0;
    }
    for (size_t i = 0; i < o->pieces.n; i++)
        vec_push(&r->map, o->pieces.p[i]);
    int status = o->pieces.n ? 0 : parse_sparse_map(r, o->sparse_map, err);
    return status < 0 ? status : begin_content(r, err);
}

/* Format 1.0: the number of pieces, then offset and length of each, a line each; then padding. */
static int take_map_line(struct tar_reader *r, struct err *err)
{
    uint64_t v;
    if (parse_u64(buf_str(&r->map_text), 0, INT64_MAX, &v) < 0)
        return err_set(err, E_PARSE, "a sparse map is malformed");
    buf_reset(&r->map_text);
    if (r->map_lines++ == 0) {
        if (v > TAR_SPARSE_PIECES_MAX)
            return err_set(err, E_LIMIT, "a sparse file has more than %d pieces",
                           TAR_SPARSE_PIECES_MAX);
        r->map_expected = 1 + 2 * v;
    } else if (r->map_lines % 2 == 0) {
        vec_push(&r->map, ((struct piece){ v, 0 }));
    } else {
        r->map.p[r->map.n - 1].n = v;
    }
    return 0;
}

static int take_map_block(struct tar_reader *r, struct err *err)
{
    if (r->left < TAR_BLOCK_BYTES)
        return err_set(err, E_PARSE, "a sparse map is longer than its file");
    r->left -= TAR_BLOCK_BYTES;
    for (size_t i = 0; i < TAR_BLOCK_BYTES; i++) {
        if (r->map_lines && r->map_lines == r->map_expected)
            return begin_content(r, err); /* the rest of the block is padding */
        int status = 0;
        if (r->block[i] == '\n')
            status = take_map_line(r, err);
        else if (buf_add_char(&r->map_text, r->block[i]) < 0)
            status = err_set(err, E_PARSE, "a sparse map is malformed");
        if (status < 0)
            return status;
    }
    return r->map_lines && r->map_lines == r->map_expected ? begin_content(r, err) : 0;
}

/* ---- headers ---- */

static int begin_extended(struct tar_reader *r, char type, uint64_t size, struct err *err)
{
    if (size > TAR_EXTENDED_MAX - r->extended_total)
        return err_set(err, E_LIMIT, "an entry has more than %d bytes of extended headers",
                       TAR_EXTENDED_MAX);
    r->extended_total += (size_t)size;
    r->extended_type = type;
    buf_reset(&r->extended);
    r->left = size;
    r->expect = EXPECT_EXTENDED;
    return 0;
}

static int type_of(char flag, struct str raw_path, enum tar_type *ret)
{
    switch (flag) {
    case 0:
        /* v7 has no type for directories: their names end in a slash. */
        *ret = str_has_suffix(raw_path, STR("/")) ? TAR_DIR : TAR_FILE;
        return 0;
    case '0':
    case '7':
    case 'S':
        *ret = TAR_FILE;
        return 0;
    case '1':
        *ret = TAR_HARDLINK;
        return 0;
    case '2':
        *ret = TAR_SYMLINK;
        return 0;
    case '3':
        *ret = TAR_CHAR_DEVICE;
        return 0;
    case '4':
        *ret = TAR_BLOCK_DEVICE;
        return 0;
    case '5':
        *ret = TAR_DIR;
        return 0;
    case '6':
        *ret = TAR_FIFO;
        return 0;
    default:
        return E_UNSUPPORTED;
    }
}

/* The path in the block itself: ustar and star have a prefix, GNU uses these bytes otherwise. */
static struct str path_in_block(struct tar_reader *r)
{
    const char *b = r->block;
    struct str name = text_of(F_NAME(b)), prefix = STR_NULL;
    if (memcmp(F_MAGIC(b).p, "ustar\0", 6) == 0)
        prefix =
            text_of(memcmp(F_STAR_TRAILER(b).p, "tar", 4) == 0 ? F_STAR_PREFIX(b) : F_PREFIX(b));
    if (prefix.n == 0)
        return name;
    return str_of(arena_printf(&r->arena, STR_FMT "/" STR_FMT, STR_ARG(prefix), STR_ARG(name)));
}

static int id_of(struct str over, struct str field, uint32_t *ret)
{
    uint64_t v;
    int64_t in_block;
    if (over.p) {
        if (parse_u64(over, 0, UINT32_MAX, &v) < 0)
            return -ERANGE;
    } else {
        if (parse_number(field, 0, UINT32_MAX, &in_block) < 0)
            return -ERANGE;
        v = (uint64_t)in_block;
    }
    *ret = (uint32_t)v;
    return 0;
}

static int take_numbers(struct tar_reader *r, struct err *err)
{
    struct tar_entry *e = &r->entry;
    const struct overrides *o = &r->over;
    const char *b = r->block;
    int64_t mode, major = 0, minor = 0;
    bool has_devices = memcmp(F_MAGIC(b).p, "ustar", 5) == 0 &&
                       (e->type == TAR_CHAR_DEVICE || e->type == TAR_BLOCK_DEVICE);
    if (parse_number(F_MODE(b), INT64_MIN, INT64_MAX, &mode) < 0 ||
        id_of(o->uid, F_UID(b), &e->uid) < 0 || id_of(o->gid, F_GID(b), &e->gid) < 0)
        return err_set(err, E_PARSE, "mode or owner is no number");
    if (o->mtime.p ? parse_time(o->mtime, &e->mtime_s, &e->mtime_ns) < 0
                   : parse_number(F_MTIME(b), INT64_MIN, INT64_MAX, &e->mtime_s) < 0)
        return err_set(err, E_PARSE, "the time is no number");
    if (has_devices && (parse_number(F_MAJOR(b), 0, UINT32_MAX, &major) < 0 ||
                        parse_number(F_MINOR(b), 0, UINT32_MAX, &minor) < 0))
        return err_set(err, E_PARSE, "the device is no number");
    e->mode = (uint32_t)mode & 07777;
    e->device_major = (uint32_t)major;
    e->device_minor = (uint32_t)minor;
    return 0;
}

static int cmp_xattr(const void *a, const void *b)
{
    const struct ordered_xattr *x = a, *y = b;
    int c = str_cmp(x->x.name, y->x.name);
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

/* Take the attributes sorted by name; of each name the last one. */
static void take_xattrs(struct tar_reader *r)
{
    const struct overrides *o = &r->over;
    struct tar_xattr *to = arena_new_n(&r->arena, struct tar_xattr, o->xattrs.n);
    size_t n = 0;
    if (o->xattrs.n)
        qsort(o->xattrs.p, o->xattrs.n, sizeof *o->xattrs.p, cmp_xattr);
    for (size_t i = 0; i < o->xattrs.n; i++)
        if (i + 1 == o->xattrs.n || !str_eq(o->xattrs.p[i].x.name, o->xattrs.p[i + 1].x.name))
            to[n++] = o->xattrs.p[i].x;
    r->entry.xattrs = to;
    r->entry.n_xattrs = n;
}

static int take_paths(struct tar_reader *r, struct str raw, struct err *err)
{
    struct tar_entry *e = &r->entry;
    int status = tar_normalize(raw, r->path, &e->path, err);
    if (status < 0)
        return status;
    if (e->path.n == 0 && e->type != TAR_DIR)
        return err_set(err, E_PARSE, "an entry that is no directory has no path");
    if (e->type != TAR_SYMLINK && e->type != TAR_HARDLINK)
        return 0;
    struct str target = r->long_link.p   ? r->long_link
                        : r->over.link.p ? r->over.link
                                         : text_of(F_LINK(r->block));
    if (e->type == TAR_HARDLINK)
        return tar_normalize(target, r->link, &e->link, err);
    if (target.n == 0 || target.n >= TAR_PATH_MAX || memchr(target.p, 0, target.n))
        return err_set(err, E_PARSE, "a symbolic link has no valid target");
    memcpy(r->link, target.p, target.n);
    e->link = (struct str){ r->link, target.n };
    return 0;
}

static int take_entry(struct tar_reader *r, char flag, uint64_t size, struct err *err)
{
    struct overrides *o = &r->over;
    struct str raw = r->long_path.p     ? r->long_path
                     : o->sparse_path.p ? o->sparse_path
                     : o->path.p        ? o->path
                                        : path_in_block(r);
    r->entry = (struct tar_entry){ 0 };
    r->map.n = 0;
    int status = type_of(flag, raw, &r->entry.type);
    if (status < 0)
        return err_set(err, status, "an entry has the type 0x%02x", (uint8_t)flag);
    status = take_paths(r, raw, err);
    status = status < 0 ? status : take_numbers(r, err);
    if (status < 0)
        return status;
    take_xattrs(r);
    bool has_content = r->entry.type == TAR_FILE;
    r->entry.size = r->left = has_content ? size : 0;
    r->padding = (size_t)(-r->left % TAR_BLOCK_BYTES);
    if (has_content && flag == 'S')
        return begin_gnu_sparse(r, err);
    if (has_content && o->is_sparse)
        return begin_pax_sparse(r, err);
    return begin_content(r, err);
}

static int take_header(struct tar_reader *r, struct err *err)
{
    static const char zeros[TAR_BLOCK_BYTES];
    const char *b = r->block;
    int64_t checksum, stated;
    uint64_t size;
    if (memcmp(b, zeros, sizeof zeros) == 0) {
        r->expect = r->saw_zero_block ? EXPECT_NOTHING : EXPECT_HEADER;
        r->saw_zero_block = true;
        return 0;
    }
    if (r->saw_zero_block)
        return err_set(err, E_PARSE, "one block of zeros stands between entries");
    if (parse_octal(F_CHECKSUM(b), &checksum) < 0 || !is_checksum_right(b, checksum))
        return err_set(err, E_PARSE, "a header has the wrong checksum");
    if (parse_number(F_SIZE(b), 0, INT64_MAX, &stated) < 0)
        return err_set(err, E_PARSE, "the size is no number");
    char flag = b[F_TYPE];
    if (flag == 'x' || flag == 'g' || flag == 'L' || flag == 'K')
        return begin_extended(r, flag, (uint64_t)stated, err);
    size = (uint64_t)stated;
    if (r->over.size.p && parse_u64(r->over.size, 0, INT64_MAX, &size) < 0)
        return err_set(err, E_PARSE, "the size is no number");
    return take_entry(r, flag, size, err);
}

/* ---- the stream ---- */

/* Collect a block; true when it is complete. */
static bool fill_block(struct tar_reader *r, struct str *in)
{
    size_t n = MIN(in->n, sizeof r->block - r->n_block);
    memcpy(r->block + r->n_block, in->p, n);
    r->n_block += n;
    r->at += n;
    *in = str_slice(*in, n, in->n);
    if (r->n_block < sizeof r->block)
        return false;
    r->n_block = 0;
    return true;
}

static void end_entry(struct tar_reader *r)
{
    overrides_reset(&r->over);
    r->long_path = r->long_link = STR_NULL;
    arena_reset(&r->arena);
    r->extended_total = 0;
    r->expect = EXPECT_HEADER;
}

static int take_extended_bytes(struct tar_reader *r, struct str *in, struct err *err)
{
    size_t n = (size_t)MIN((uint64_t)in->n, r->left);
    if (buf_add(&r->extended, in->p, n) < 0)
        return err_set(err, -ENOMEM, "no memory for an extended header");
    r->left -= n;
    r->at += n;
    *in = str_slice(*in, n, in->n);
    if (r->left)
        return 0;
    r->padding = -r->extended.n % TAR_BLOCK_BYTES;
    r->expect = EXPECT_EXTENDED_PADDING;
    return take_extended(r, err);
}

/* Report the hole before the next piece, or after the last one. */
static int pass_hole(struct tar_reader *r, struct err *err)
{
    uint64_t to = r->map_at < r->map.n ? r->map.p[r->map_at].at : r->entry.size;
    if (to <= r->file_at)
        return 0; /* within a piece */
    uint64_t n = to - r->file_at;
    r->file_at = to;
    return r->ops->hole(r->arg, n, err);
}

static int take_sparse_content(struct tar_reader *r, struct str *in, struct err *err)
{
    for (;;) {
        int status = pass_hole(r, err);
        if (status < 0)
            return status;
        if (r->map_at == r->map.n)
            break;
        const struct piece *p = &r->map.p[r->map_at];
        uint64_t left = p->at + p->n - r->file_at;
        size_t n = (size_t)MIN((uint64_t)in->n, left);
        if (left && n == 0)
            return 0;
        status = n ? r->ops->data(r->arg, str_slice(*in, 0, n), err) : 0;
        if (status < 0)
            return status;
        r->file_at += n;
        r->left -= n;
        r->at += n;
        *in = str_slice(*in, n, in->n);
        r->map_at += r->file_at == p->at + p->n;
    }
    r->expect = EXPECT_PADDING;
    return 0;
}

static int take_content(struct tar_reader *r, struct str *in, struct err *err)
{
    if (r->entry.is_sparse)
        return take_sparse_content(r, in, err);
    size_t n = (size_t)MIN((uint64_t)in->n, r->left);
    int status = n ? r->ops->data(r->arg, str_slice(*in, 0, n), err) : 0;
    if (status < 0)
        return status;
    r->left -= n;
    r->at += n;
    *in = str_slice(*in, n, in->n);
    if (r->left == 0)
        r->expect = EXPECT_PADDING;
    return 0;
}

static void take_padding(struct tar_reader *r, struct str *in)
{
    size_t n = MIN(in->n, r->padding);
    r->padding -= n;
    r->at += n;
    *in = str_slice(*in, n, in->n);
    if (r->padding)
        return;
    if (r->expect == EXPECT_EXTENDED_PADDING)
        r->expect = EXPECT_HEADER;
    else
        end_entry(r);
}

static int step(struct tar_reader *r, struct str *in, struct err *err)
{
    switch (r->expect) {
    case EXPECT_HEADER:
        return fill_block(r, in) ? take_header(r, err) : 0;
    case EXPECT_EXTENDED:
        return take_extended_bytes(r, in, err);
    case EXPECT_SPARSE:
        return fill_block(r, in) ? take_gnu_sparse_block(r, err) : 0;
    case EXPECT_SPARSE_MAP:
        return fill_block(r, in) ? take_map_block(r, err) : 0;
    case EXPECT_CONTENT:
        return take_content(r, in, err);
    case EXPECT_PADDING:
    case EXPECT_EXTENDED_PADDING:
        take_padding(r, in);
        return 0;
    case EXPECT_NOTHING:
        break;
    }
    *in = STR_NULL;
    return 0;
}

int tar_reader_add(struct tar_reader *r, struct str bytes, struct err *err)
{
    for (;;) {
        enum expect was = r->expect;
        size_t n = bytes.n;
        int status = step(r, &bytes, err);
        if (status < 0)
            return err_ctx(err, status, "tar, byte %llu", (unsigned long long)r->at);
        if (bytes.n == n && r->expect == was)
            return 0;
    }
}

int tar_reader_end(struct tar_reader *r, struct err *err)
{
    bool is_between = r->expect == EXPECT_HEADER && r->n_block == 0 && r->extended_total == 0;
    /* Some writers omit the zeros after the last file; Go's archive/tar accepts that as the end. */
    if (r->expect == EXPECT_NOTHING || r->expect == EXPECT_PADDING || is_between)
        return 0;
    return err_set(err, E_PARSE, "tar, byte %llu: the archive ends within an entry",
                   (unsigned long long)r->at);
}
