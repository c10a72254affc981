/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/tar_split.h"

#include "codec/base64.h"
#include "codec/json.h"

#include <errno.h>
#include <zstd.h>

enum {
    LEVEL = 9,
    LINES_BYTES = 256 << 10, /* that are compressed at once */
    LINE_MAX_BYTES = 16 << 20,
    ENTRY = 1, /* types of lines */
    BYTES = 2,
};

struct oci_tar_split {
    ZSTD_CCtx *zstd;
    struct buf bytes, lines, packed; /* what belongs into one line; what is not compressed yet */
    uint64_t n_inflated, n_lines;
    uint64_t sum, table[256]; /* CRC-64 of the content */
    int failed;
};

static void make_table(uint64_t table[256])
{
    for (unsigned i = 0; i < 256; i++) {
        uint64_t v = i;
        for (int k = 0; k < 8; k++)
            v = v & 1 ? v >> 1 ^ 0xd800000000000000ULL : v >> 1; /* ISO 3309 */
        table[i] = v;
    }
}

struct oci_tar_split *oci_tar_split_new(void)
{
    struct oci_tar_split *s = xnew(struct oci_tar_split);
    s->bytes = BUF_INIT(LINE_MAX_BYTES);
    s->lines = BUF_INIT(2 * LINE_MAX_BYTES);
    s->packed = BUF_INIT(OCI_TAR_SPLIT_MAX);
    s->zstd = ZSTD_createCCtx();
    make_table(s->table);
    s->sum = UINT64_MAX;
    if (s->zstd)
        (void)ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, LEVEL);
    if (s->zstd)
        return s;
    oci_tar_split_free(s);
    return NULL;
}

void oci_tar_split_free(struct oci_tar_split *s)
{
    if (!s)
        return;
    (void)ZSTD_freeCCtx(s->zstd);
    buf_fini(&s->bytes);
    buf_fini(&s->lines);
    buf_fini(&s->packed);
    free(s);
}

/* What the lines become, and with ZSTD_e_end the end of the frame. */
static void compress(struct oci_tar_split *s, ZSTD_EndDirective how)
{
    ZSTD_inBuffer in = { .src = s->lines.p, .size = s->lines.n };
    size_t left = 1;
    s->n_inflated += s->lines.n;
    s->failed = s->failed ? s->failed : s->lines.failed;
    while (!s->failed && (in.pos < in.size || (how == ZSTD_e_end && left))) {
        char *room;
        s->failed = buf_reserve(&s->packed, ZSTD_CStreamOutSize(), &room);
        if (s->failed)
            return;
        ZSTD_outBuffer out = { .dst = room, .size = ZSTD_CStreamOutSize() };
        left = ZSTD_compressStream2(s->zstd, &out, &in, how);
        if (ZSTD_isError(left))
            s->failed = -ENOMEM;
        buf_advance(&s->packed, out.pos);
    }
    buf_reset(&s->lines);
}

static void begin_line(struct oci_tar_split *s, int type)
{
    (void)buf_printf(&s->lines, "{\"type\":%d", type);
}

static void end_line(struct oci_tar_split *s)
{
    (void)buf_printf(&s->lines, ",\"position\":%llu}\n", (unsigned long long)s->n_lines++);
    if (s->lines.n >= LINES_BYTES)
        compress(s, ZSTD_e_continue);
}

/* The bytes that have come are a line. */
static void end_bytes(struct oci_tar_split *s)
{
    s->failed = s->failed ? s->failed : s->bytes.failed;
    if (s->bytes.n == 0)
        return;
    begin_line(s, BYTES);
    (void)buf_add_cstr(&s->lines, ",\"payload\":\"");
    (void)base64_encode(&s->lines, buf_str(&s->bytes), BASE64_STD);
    (void)buf_add_cstr(&s->lines, "\"");
    end_line(s);
    buf_reset(&s->bytes);
}

void oci_tar_split_bytes(struct oci_tar_split *s, struct str bytes)
{
    (void)buf_add_str(&s->bytes, bytes);
}

void oci_tar_split_content(struct oci_tar_split *s, struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        s->sum = s->table[(uint8_t)s->sum ^ (uint8_t)bytes.p[i]] ^ s->sum >> 8;
}

static void add_sum(struct oci_tar_split *s)
{
    char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(~s->sum >> (56 - 8 * i));
    (void)buf_add_cstr(&s->lines, "\"");
    (void)base64_encode(&s->lines, str_n(bytes, sizeof bytes), BASE64_STD);
    (void)buf_add_cstr(&s->lines, "\"");
}

void oci_tar_split_entry(struct oci_tar_split *s, struct str name, uint64_t size)
{
    end_bytes(s);
    begin_line(s, ENTRY);
    (void)buf_add_cstr(&s->lines, ",\"name\":");
    (void)json_write_str(&s->lines, name);
    if (size)
        (void)buf_printf(&s->lines, ",\"size\":%llu", (unsigned long long)size);
    (void)buf_add_cstr(&s->lines, ",\"payload\":");
    if (size)
        add_sum(s);
    else
        (void)buf_add_cstr(&s->lines, "null");
    end_line(s);
    s->sum = UINT64_MAX;
}

int oci_tar_split_end(struct oci_tar_split *s, struct str *ret, uint64_t *ret_inflated,
                      struct err *err)
{
    end_bytes(s);
    compress(s, ZSTD_e_end);
    if (s->failed == -EMSGSIZE)
        return err_set(err, E_LIMIT, "what the tar has beside files has more than %d bytes",
                       OCI_TAR_SPLIT_MAX);
    if (s->failed)
        return err_sys(err, s->failed, "compress the headers of a layer");
    *ret = buf_str(&s->packed);
    *ret_inflated = s->n_inflated;
    return 0;
}
