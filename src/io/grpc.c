/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, codes and texts of gRPC; see grpc.h and grpc_int.h. */
#include "io/grpc_int.h"

#include <errno.h>
#include <stdio.h>

/* ------------------------------------------------------------------ codes */

const char *grpc_code_name(int code)
{
    switch (code) {
#define GRPC_CODE(name, number)                                                                    \
    case number:                                                                                   \
        return #name;
        GRPC_CODES(GRPC_CODE)
#undef GRPC_CODE
    default:
        return "UNKNOWN";
    }
}

/* Several error codes map to one gRPC code; the first row of each gRPC code is the reverse
 * mapping. */
static const struct {
    int code, r;
} codes[] = {
    { GRPC_CANCELLED, -ECANCELED },
    { GRPC_INVALID_ARGUMENT, -EINVAL },
    { GRPC_INVALID_ARGUMENT, E_PARSE },
    { GRPC_INVALID_ARGUMENT, E_INVALID },
    { GRPC_DEADLINE_EXCEEDED, -ETIMEDOUT },
    { GRPC_NOT_FOUND, -ENOENT },
    { GRPC_ALREADY_EXISTS, -EEXIST },
    { GRPC_PERMISSION_DENIED, -EACCES },
    { GRPC_PERMISSION_DENIED, -EPERM },
    { GRPC_PERMISSION_DENIED, E_DENIED },
    { GRPC_RESOURCE_EXHAUSTED, E_LIMIT },
    { GRPC_RESOURCE_EXHAUSTED, -EMSGSIZE },
    { GRPC_RESOURCE_EXHAUSTED, -ENOSPC },
    { GRPC_RESOURCE_EXHAUSTED, -ENOMEM },
    { GRPC_FAILED_PRECONDITION, -EBUSY },
    { GRPC_FAILED_PRECONDITION, E_VERSION },
    { GRPC_ABORTED, E_CONFLICT },
    { GRPC_OUT_OF_RANGE, -ERANGE },
    { GRPC_OUT_OF_RANGE, E_EXPIRED },
    { GRPC_UNIMPLEMENTED, E_UNSUPPORTED },
    { GRPC_UNIMPLEMENTED, -ENOTSUP },
    { GRPC_UNIMPLEMENTED, -ENOSYS },
    { GRPC_UNAVAILABLE, -ECONNRESET },
    { GRPC_UNAVAILABLE, -ECONNREFUSED },
    { GRPC_UNAVAILABLE, -ECONNABORTED },
    { GRPC_UNAVAILABLE, -EHOSTUNREACH },
    { GRPC_UNAVAILABLE, -ENETUNREACH },
    { GRPC_UNAVAILABLE, -EPIPE },
    { GRPC_UNAVAILABLE, -ESHUTDOWN },
    { GRPC_UNAVAILABLE, -EAGAIN },
    { GRPC_UNAVAILABLE, E_TLS },
    { GRPC_DATA_LOSS, E_CORRUPT },
    { GRPC_DATA_LOSS, E_DIGEST },
    { GRPC_UNAUTHENTICATED, -EKEYREJECTED },
    { GRPC_INTERNAL, -EIO },
};

int grpc_code_of_errno(int r)
{
    if (r >= 0)
        return GRPC_OK;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (codes[i].r == r)
            return codes[i].code;
    return GRPC_INTERNAL;
}

int grpc_code_to_errno(int code)
{
    if (code == GRPC_OK)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (codes[i].code == code)
            return codes[i].r;
    return -EIO;
}

/* "application/grpc", "application/grpc+proto", "application/grpc; charset=x" */
bool grpc_is_content_type(struct str value)
{
    static const struct str type = { "application/grpc", 16 };
    if (value.n < type.n || !str_ieq(str_slice(value, 0, type.n), type))
        return false;
    return value.n == type.n || value.p[type.n] == '+' || value.p[type.n] == ';';
}

bool grpc_is_request(const struct http_request *req)
{
    return grpc_is_content_type(headers_get(req->headers, "content-type"));
}

/* ------------------------------------------------------------------ messages */

enum { PART_KEPT_BYTES = 4 << 10 };

void grpc_reader_init(struct grpc_reader *r, size_t max_bytes)
{
    max_bytes = max_bytes ? max_bytes : GRPC_MESSAGE_MAX_BYTES;
    *r = (struct grpc_reader){
        .part = BUF_INIT(max_bytes + GRPC_PREFIX_BYTES),
        .held = BUF_INIT(SIZE_MAX / 2), /* bounded by the windows of HTTP/2 */
        .max_bytes = max_bytes,
    };
}

void grpc_reader_fini(struct grpc_reader *r)
{
    buf_fini(&r->part);
    buf_fini(&r->held);
}

bool grpc_reader_is_between(const struct grpc_reader *r)
{
    return r->part.n == 0;
}

void grpc_prefix(char ret[GRPC_PREFIX_BYTES], size_t n)
{
    assert(n <= UINT32_MAX);
    ret[0] = 0;
    for (int i = 1; i < GRPC_PREFIX_BYTES; i++)
        ret[i] = (char)(n >> (8 * (GRPC_PREFIX_BYTES - 1 - i)));
}

/* Length of the message that begins with this prefix, or a code. */
static ptrdiff_t read_prefix(const struct grpc_reader *r, const char *p)
{
    size_t n = 0;
    for (int i = 1; i < GRPC_PREFIX_BYTES; i++)
        n = n << 8 | (uint8_t)p[i];
    if (p[0] != 0)
        return p[0] == 1 ? E_UNSUPPORTED : E_PARSE;
    return n <= r->max_bytes ? (ptrdiff_t)n : -EMSGSIZE;
}

/* Gather bytes of the incomplete message until it has `want` bytes in all. */
static int gather(struct grpc_reader *r, struct str *in, size_t want)
{
    assert(want <= r->max_bytes + GRPC_PREFIX_BYTES);
    size_t n = r->part.n < want ? MIN(want - r->part.n, in->n) : 0;
    int e = buf_add(&r->part, in->p, n);
    *in = str_slice(*in, n, in->n);
    return e;
}

int grpc_reader_next(struct grpc_reader *r, struct str *in, struct str *ret)
{
    ptrdiff_t n;
    if (r->part.n == 0 && r->part.cap > PART_KEPT_BYTES)
        buf_fini(&r->part); /* release the buffer of a large message */
    if (r->part.n == 0 && in->n >= GRPC_PREFIX_BYTES) {
        n = read_prefix(r, in->p);
        if (n < 0)
            return (int)n;
        if (in->n - GRPC_PREFIX_BYTES >= (size_t)n) {
            *ret = str_n(in->p + GRPC_PREFIX_BYTES, (size_t)n);
            *in = str_slice(*in, GRPC_PREFIX_BYTES + (size_t)n, in->n);
            return 1;
        }
    }
    int e = gather(r, in, GRPC_PREFIX_BYTES);
    if (e < 0 || r->part.n < GRPC_PREFIX_BYTES)
        return e;
    n = read_prefix(r, r->part.p);
    if (n < 0)
        return (int)n;
    e = gather(r, in, GRPC_PREFIX_BYTES + (size_t)n);
    if (e < 0 || r->part.n < GRPC_PREFIX_BYTES + (size_t)n)
        return e;
    *ret = str_n(r->part.p + GRPC_PREFIX_BYTES, (size_t)n);
    r->part.n = 0; /* its bytes stay until the next call */
    return 1;
}

int grpc_reader_code(int r)
{
    return r == -EMSGSIZE       ? GRPC_RESOURCE_EXHAUSTED
           : r == E_UNSUPPORTED ? GRPC_UNIMPLEMENTED
                                : GRPC_INTERNAL;
}

const char *grpc_reader_text(int r)
{
    return r == -EMSGSIZE       ? "message larger than the receiver takes"
           : r == E_UNSUPPORTED ? "compressed messages are not supported"
           : r == E_EOF         ? "the last message is not complete"
                                : "malformed message";
}

/* ------------------------------------------------------------------ texts */

static bool is_plain(char c)
{
    return c >= 0x20 && c <= 0x7e && c != '%';
}

void grpc_add_text(struct buf *to, struct str text)
{
    for (size_t i = 0; i < MIN(text.n, (size_t)GRPC_TEXT_MAX_BYTES); i++)
        if (is_plain(text.p[i]))
            (void)buf_add_char(to, text.p[i]);
        else
            (void)buf_printf(to, "%%%02X", (unsigned)(uint8_t)text.p[i]);
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Text that is not an escape is copied unchanged. */
void grpc_read_text(struct buf *to, struct str value)
{
    for (size_t i = 0; i < value.n && to->n < GRPC_TEXT_MAX_BYTES; i++) {
        int high = -1, low = -1;
        if (value.p[i] == '%' && value.n - i > 2) {
            high = hex(value.p[i + 1]);
            low = hex(value.p[i + 2]);
        }
        bool escape = high >= 0 && low >= 0;
        (void)buf_add_char(to, escape ? (char)((unsigned)high << 4 | (unsigned)low) : value.p[i]);
        i += escape ? 2 : 0;
    }
}

static const struct {
    char unit;
    uint64_t mul, div; /* to milliseconds */
} units[] = {
    { 'n', 1, 1000000 }, { 'u', 1, 1000 },  { 'm', 1, 1 },
    { 'S', 1000, 1 },    { 'M', 60000, 1 }, { 'H', 3600000, 1 },
};

int grpc_parse_timeout(struct str value, uint64_t *ret_ms)
{
    enum { DIGITS_MAX = 8 };
    uint64_t n;
    if (value.n < 2 || value.n > DIGITS_MAX + 1 ||
        parse_u64(str_slice(value, 0, value.n - 1), 0, 99999999, &n) < 0)
        return E_PARSE;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (units[i].unit == value.p[value.n - 1]) {
            *ret_ms = (n * units[i].mul + units[i].div - 1) / units[i].div;
            return 0;
        }
    return E_PARSE;
}

void grpc_format_timeout(char ret[16], uint64_t ms)
{
    if (ms <= 99999999)
        (void)snprintf(ret, 16, "%um", (unsigned)ms);
    else
        (void)snprintf(ret, 16, "%uS", (unsigned)MIN(ms / 1000, (uint64_t)99999999));
}
