/* SPDX-License-Identifier: Apache-2.0 */
/* Header blocks of SPDY; see spdy_headers.h. */
#include "agent/stream/spdy_headers.h"

#include "base/mem.h"

#include <assert.h>
#include <zlib.h>

struct spdy_inflater {
    z_stream z;
    char out[SPDY_HEADERS_MAX_BYTES];
};

struct spdy_inflater *spdy_headers_new(void)
{
    struct spdy_inflater *z = xnew(struct spdy_inflater);
    if (inflateInit(&z->z) == Z_OK)
        return z;
    free(z);
    return NULL;
}

void spdy_headers_free(struct spdy_inflater *z)
{
    if (!z)
        return;
    (void)inflateEnd(&z->z);
    free(z);
}

/* All of the block into z->out. */
static int inflate_block(struct spdy_inflater *z, struct str block, struct str *ret,
                         struct err *err)
{
    assert(block.n <= UINT32_MAX);
    z->z.next_in = (Bytef *)block.p;
    z->z.avail_in = (uInt)block.n;
    z->z.next_out = (Bytef *)z->out;
    z->z.avail_out = sizeof z->out;
    for (;;) {
        int r = inflate(&z->z, Z_SYNC_FLUSH);
        if (r == Z_NEED_DICT)
            r = inflateSetDictionary(&z->z, (const Bytef *)spdy_headers_dictionary,
                                     SPDY_HEADERS_DICTIONARY_BYTES);
        if (r != Z_OK && r != Z_BUF_ERROR)
            return err_set(err, E_PARSE, "header block: not compressed as SPDY/3 does");
        if (z->z.avail_out == 0)
            return err_set(err, E_LIMIT, "header block: more than %d bytes",
                           SPDY_HEADERS_MAX_BYTES);
        if (z->z.avail_in == 0)
            break;
        if (r == Z_BUF_ERROR)
            return err_set(err, E_PARSE, "header block: not compressed as SPDY/3 does");
    }
    *ret = str_n(z->out, sizeof z->out - z->z.avail_out);
    return 0;
}

static int add_pair(struct rd *r, struct headers *to)
{
    struct str name = rd_str(r, rd_be32(r)), value = rd_str(r, rd_be32(r)), first, rest;
    if (!rd_ok(r))
        return E_PARSE;
    (void)str_cut(value, '\0', &first, &rest);
    return headers_add(to, name, first) < 0 ? E_PARSE : 0;
}

int spdy_headers_read(struct spdy_inflater *z, struct str block, struct headers *to,
                      struct err *err)
{
    struct str text = { 0 };
    int r = inflate_block(z, block, &text, err);
    if (r < 0)
        return r;
    struct rd in = rd_init(text.p, text.n);
    uint32_t n = rd_be32(&in);
    if (n > SPDY_HEADERS_MAX)
        return err_set(err, E_LIMIT, "header block: more than %d fields", SPDY_HEADERS_MAX);
    for (uint32_t i = 0; i < n; i++)
        if (add_pair(&in, to) < 0)
            return err_set(err, E_PARSE, "header block: field %u is malformed", i);
    return rd_ok(&in) && rd_left(&in) == 0 ? 0 : err_set(err, E_PARSE, "header block: malformed");
}

struct str spdy_headers_empty(bool first)
{
    /*
     * RFC 1950: method and window, flags with FDICT, Adler-32 of the dictionary. RFC 1951: a stored
     * block of 4 bytes, the number of pairs, and an empty one as Z_SYNC_FLUSH writes it: Go's
     * inflater gives out the bytes before it only then.
     */
    static const char text[] = "\x78\xbb\xe3\xc6\xa7\xc2"
                               "\0\x04\0\xfb\xff"
                               "\0\0\0\0"
                               "\0\0\0\xff\xff";
    return first ? str_n(text, sizeof text - 1) : str_n(text + 6, sizeof text - 1 - 6);
}
