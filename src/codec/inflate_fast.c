/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/inflate_fast.h"

#include "base/err.h"

#ifdef HAS_ISAL

#include <dlfcn.h>
#include <isa-l/igzip_lib.h>
#include <limits.h>
#include <pthread.h>
#include <zlib.h>

/* The ABI that the header of the build describes, not the newest release. */
#define LIBRARY "libisal.so.2"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct {
    bool is_there;
    void (*init)(struct inflate_state *);
    void (*reset)(struct inflate_state *);
    int (*inflate)(struct inflate_state *);
} isal;

/* The header of a member (RFC 1952, section 2.3) is parsed here, because ISA-L 2.30 reports a wrong
 * checksum for a header with optional fields or one that arrives in pieces. */
enum header_at {
    HEADER_FIXED,
    HEADER_EXTRA_LENGTH,
    HEADER_EXTRA,
    HEADER_NAME,
    HEADER_COMMENT,
    HEADER_CHECKSUM,
    HEADER_OVER,
};
enum {
    HEADER_FIXED_BYTES = 10,
    FLAG_CHECKSUM = 2,
    FLAG_EXTRA = 4,
    FLAG_NAME = 8,
    FLAG_COMMENT = 16,
    FLAGS_RESERVED = 0xe0,
};

struct inflate_fast_header {
    enum header_at at;
    uint32_t n; /* bytes of the field so far */
    uint32_t extra;
    uint8_t flags;
    uint16_t checksum;
    uLong crc;
};

struct inflate_fast {
    struct inflate_state z;
    struct inflate_fast_header header;
    bool is_over; /* the member has ended */
};

/* The field after `at` that the flags announce. */
static void next_field(struct inflate_fast_header *h, enum header_at at)
{
    static const uint8_t flags[] = { [HEADER_EXTRA_LENGTH] = FLAG_EXTRA,
                                     [HEADER_EXTRA] = FLAG_EXTRA,
                                     [HEADER_NAME] = FLAG_NAME,
                                     [HEADER_COMMENT] = FLAG_COMMENT,
                                     [HEADER_CHECKSUM] = FLAG_CHECKSUM };
    do
        at++;
    while (at < HEADER_OVER && !(h->flags & flags[at]));
    h->at = at;
    h->n = 0;
    if (at == HEADER_EXTRA && h->extra == 0)
        next_field(h, at);
}

static int fixed_byte(struct inflate_fast_header *h, uint8_t c)
{
    static const uint8_t magic[] = { 0x1f, 0x8b, 8 };
    if (h->n < sizeof magic && c != magic[h->n])
        return E_PARSE;
    if (h->n == sizeof magic)
        h->flags = c;
    if (++h->n == HEADER_FIXED_BYTES)
        next_field(h, HEADER_FIXED);
    return h->flags & FLAGS_RESERVED ? E_PARSE : 0;
}

static int header_byte(struct inflate_fast_header *h, uint8_t c)
{
    switch (h->at) {
    case HEADER_FIXED:
        return fixed_byte(h, c);
    case HEADER_EXTRA_LENGTH:
        h->extra |= (uint32_t)c << 8 * h->n;
        if (++h->n == 2)
            next_field(h, HEADER_EXTRA_LENGTH);
        return 0;
    case HEADER_EXTRA:
        if (++h->n == h->extra)
            next_field(h, HEADER_EXTRA);
        return 0;
    case HEADER_NAME:
    case HEADER_COMMENT:
        if (c == 0)
            next_field(h, h->at);
        return 0;
    case HEADER_CHECKSUM:
        h->checksum = (uint16_t)(h->checksum | c << 8 * h->n);
        if (++h->n == 2)
            next_field(h, HEADER_CHECKSUM);
        return h->at == HEADER_OVER && h->checksum != (uint16_t)h->crc ? E_PARSE : 0;
    case HEADER_OVER:
        break;
    }
    return E_PARSE;
}

static int add_header(struct inflate_fast_header *h, struct str *in)
{
    while (in->n && h->at != HEADER_OVER) {
        Bytef c = (Bytef)in->p[0];
        if (h->at != HEADER_CHECKSUM)
            h->crc = crc32(h->crc, &c, 1);
        int r = header_byte(h, c);
        if (r < 0)
            return r;
        *in = str_slice(*in, 1, in->n);
    }
    return 0;
}

static void begin_member(struct inflate_fast *f)
{
    f->header = (struct inflate_fast_header){ .crc = crc32(0, NULL, 0) };
    f->z.crc_flag = ISAL_GZIP_NO_HDR_VER;
    f->is_over = false;
}

static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&isal.init = dlsym(library, "isal_inflate_init");
    *(void **)&isal.reset = dlsym(library, "isal_inflate_reset");
    *(void **)&isal.inflate = dlsym(library, "isal_inflate");
    isal.is_there = isal.init && isal.reset && isal.inflate;
}

bool inflate_fast_load(void)
{
    (void)pthread_once(&once, load);
    return isal.is_there;
}

struct inflate_fast *inflate_fast_new(void)
{
    if (!isal.is_there)
        return NULL;
    struct inflate_fast *f = xnew(struct inflate_fast);
    isal.init(&f->z);
    begin_member(f);
    return f;
}

void inflate_fast_free(struct inflate_fast *f)
{
    free(f);
}

int inflate_fast_step(struct inflate_fast *f, struct str *in, char *out, size_t n_out, size_t *ret)
{
    *ret = 0;
    if (f->is_over) {
        isal.reset(&f->z);
        begin_member(f);
    }
    int r = add_header(&f->header, in);
    if (r < 0 || f->header.at != HEADER_OVER)
        return r;
    uint32_t n_in = (uint32_t)MIN(in->n, (size_t)INT_MAX);
    f->z.next_in = (uint8_t *)in->p;
    f->z.avail_in = n_in;
    f->z.next_out = (uint8_t *)out;
    f->z.avail_out = (uint32_t)n_out;
    int code = isal.inflate(&f->z);
    if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT)
        return E_PARSE;
    f->is_over = f->z.block_state == ISAL_BLOCK_FINISH;
    if (n_in && f->z.avail_in == n_in && f->z.avail_out == n_out && !f->is_over)
        return E_PARSE; /* a caller that repeats the step would loop for ever */
    *in = str_slice(*in, n_in - f->z.avail_in, in->n);
    *ret = n_out - f->z.avail_out;
    return f->is_over;
}

#else

bool inflate_fast_load(void)
{
    return false;
}

struct inflate_fast *inflate_fast_new(void)
{
    return NULL;
}

void inflate_fast_free(struct inflate_fast *f)
{
    (void)f;
}

int inflate_fast_step(struct inflate_fast *f, struct str *in, char *out, size_t n_out, size_t *ret)
{
    (void)f, (void)in, (void)out, (void)n_out, (void)ret;
    return E_UNSUPPORTED;
}

#endif
