/* SPDX-License-Identifier: Apache-2.0 */
/* Base64; see base64.h. */
#include "codec/base64.h"

#include "base/mem.h"

#include <errno.h>

static const char *alphabet(enum base64_form form)
{
    return form == BASE64_URL ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                              : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

int base64_encode(struct buf *to, struct str bytes, enum base64_form form)
{
    const char *digits = alphabet(form);
    size_t n_groups = bytes.n / 3 + (bytes.n % 3 != 0), room;
    char *out;
    if (size_mul(n_groups, 4, &room))
        return -EMSGSIZE;
    int r = buf_reserve(to, room, &out);
    if (r < 0)
        return r;
    const uint8_t *p = (const uint8_t *)bytes.p;
    char *at = out;
    for (size_t left = bytes.n; left > 0; p += 3) {
        uint32_t v =
            (uint32_t)p[0] << 16 | (left > 1 ? (uint32_t)p[1] << 8 : 0) | (left > 2 ? p[2] : 0);
        size_t n = left < 3 ? left : 3;
        for (size_t i = 0; i < 4; i++)
            if (i <= n)
                *at++ = digits[v >> (18 - 6 * i) & 63];
            else if (form != BASE64_URL)
                *at++ = '=';
        left -= n;
    }
    buf_advance(to, (size_t)(at - out));
    return 0;
}

/* 0 to 63, or -1 */
static int digit_value(char c, enum base64_form form)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == (form == BASE64_URL ? '-' : '+'))
        return 62;
    if (c == (form == BASE64_URL ? '_' : '/'))
        return 63;
    return -1;
}

static struct str skip_breaks(struct str s, enum base64_form form)
{
    while (form == BASE64_LENIENT && s.n && (s.p[0] == '\r' || s.p[0] == '\n'))
        s = str_slice(s, 1, s.n);
    return s;
}

/* Whether s, the text after the last digit, is empty or exactly the padding for a group of n
 * digits. */
static bool is_end(struct str s, size_t n, enum base64_form form)
{
    for (size_t want = n && form != BASE64_URL ? 4 - n : 0; want; want--) {
        s = skip_breaks(s, form);
        if (!s.n || s.p[0] != '=')
            return false;
        s = str_slice(s, 1, s.n);
    }
    return skip_breaks(s, form).n == 0;
}

/* Write the digits of `text` to `out`; the number of bytes or -EINVAL. */
static ptrdiff_t decode(char *out, struct str text, enum base64_form form)
{
    char *at = out;
    uint32_t v = 0;
    size_t n = 0; /* digits in v */
    for (;;) {
        text = skip_breaks(text, form);
        int d = text.n ? digit_value(text.p[0], form) : -1;
        if (d < 0)
            break;
        text = str_slice(text, 1, text.n);
        v = v << 6 | (uint32_t)d;
        if (++n < 4)
            continue;
        *at++ = (char)(v >> 16);
        *at++ = (char)(v >> 8);
        *at++ = (char)v;
        n = 0;
        v = 0;
    }
    if (n == 1 || !is_end(text, n, form))
        return -EINVAL;
    if (n == 0)
        return at - out;
    v <<= 6 * (4 - n);
    uint32_t unused = n == 2 ? 0xffff : 0xff;
    if ((v & unused) && form != BASE64_LENIENT)
        return -EINVAL;
    *at++ = (char)(v >> 16);
    if (n == 3)
        *at++ = (char)(v >> 8);
    return at - out;
}

int base64_decode(struct buf *to, struct str text, enum base64_form form)
{
    char *out;
    size_t padding = 0;
    while (padding < 2 && padding < text.n && text.p[text.n - 1 - padding] == '=')
        padding++;
    size_t n = text.n - padding;
    int r = buf_reserve(to, n / 4 * 3 + n % 4 * 3 / 4, &out);
    if (r < 0)
        return r;
    ptrdiff_t got = decode(out, text, form);
    if (got < 0) {
        *out = '\0'; /* the terminator that decode() may have overwritten */
        return (int)got;
    }
    buf_advance(to, (size_t)got);
    return 0;
}
