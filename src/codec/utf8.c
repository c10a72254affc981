/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 sequences; see utf8.h. */
#include "codec/utf8.h"

#include <assert.h>

static bool is_tail(char c)
{
    return ((uint8_t)c & 0xc0) == 0x80;
}

size_t utf8_decode(const char *p, size_t n, uint32_t *ret_cp)
{
    uint8_t c = (uint8_t)p[0];
    uint32_t cp;
    size_t len;
    if (c < 0x80) {
        cp = c;
        len = 1;
    } else if (c >= 0xc2 && c <= 0xdf && n >= 2 && is_tail(p[1])) {
        cp = (uint32_t)(c & 0x1f) << 6 | ((uint8_t)p[1] & 0x3f);
        len = 2;
    } else if ((c & 0xf0) == 0xe0 && n >= 3 && is_tail(p[1]) && is_tail(p[2])) {
        cp = (uint32_t)(c & 0x0f) << 12 | (uint32_t)((uint8_t)p[1] & 0x3f) << 6 |
             ((uint8_t)p[2] & 0x3f);
        if (cp < 0x800 || (cp >= 0xd800 && cp <= 0xdfff))
            return 0;
        len = 3;
    } else if ((c & 0xf8) == 0xf0 && n >= 4 && is_tail(p[1]) && is_tail(p[2]) && is_tail(p[3])) {
        cp = (uint32_t)(c & 0x07) << 18 | (uint32_t)((uint8_t)p[1] & 0x3f) << 12 |
             (uint32_t)((uint8_t)p[2] & 0x3f) << 6 | ((uint8_t)p[3] & 0x3f);
        if (cp < 0x10000 || cp > 0x10ffff)
            return 0;
        len = 4;
    } else {
        return 0;
    }
    if (ret_cp)
        *ret_cp = cp;
    return len;
}

size_t utf8_encode(char *out, uint32_t cp)
{
    assert(cp <= 0x10ffff && (cp < 0xd800 || cp > 0xdfff));
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3f));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
        out[2] = (char)(0x80 | (cp & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
    out[3] = (char)(0x80 | (cp & 0x3f));
    return 4;
}
