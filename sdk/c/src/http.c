/* SPDX-License-Identifier: Apache-2.0 */
/* Functions; see dormouse_http.h. What needs malloc() or printf() costs nothing when it is not
 * used: the linker leaves it out. */
#include <dormouse_http.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMPORT(name) __attribute__((import_module("dormouse_http_v1"), import_name(name)))
IMPORT("request_head") int32_t abi_request_head(void *p, uint32_t n);
IMPORT("body_read") int32_t abi_body_read(void *p, uint32_t n);
IMPORT("respond") int32_t abi_respond(uint32_t status, const void *p, uint32_t n);
IMPORT("body_write") int32_t abi_body_write(const void *p, uint32_t n);
IMPORT("flush") int32_t abi_flush(void);
IMPORT("trailers") int32_t abi_trailers(const void *p, uint32_t n);
IMPORT("secret_get")
int32_t abi_secret_get(const void *name, uint32_t name_n, void *p, uint32_t n);
IMPORT("log") void abi_log(uint32_t level, const void *p, uint32_t n);

enum { HEAD_BYTES = 64 << 10, TEXT_BYTES = 1024 };

static char head[HEAD_BYTES]; /* of which only what a request fills costs memory */

bool dh_is(struct dh_str s, const char *text)
{
    size_t n = strlen(text);
    return s.n == n && (n == 0 || memcmp(s.p, text, n) == 0);
}

/* ---- the request ---- */

/* The value of the line at the cursor, which has this name; the cursor moves behind it. */
static struct dh_str pseudo(struct dh_str *rest, const char *name)
{
    size_t n = strlen(name);
    const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    if (!end || (size_t)(end - rest->p) < n + 2 || memcmp(rest->p, name, n) != 0)
        return (struct dh_str){ NULL, 0 };
    struct dh_str value = { rest->p + n + 2, (size_t)(end - rest->p) - n - 2 };
    *rest = (struct dh_str){ end + 1, rest->n - (size_t)(end - rest->p) - 1 };
    return value;
}

static struct dh_request read_head(void)
{
    int32_t n = abi_request_head(head, sizeof head);
    struct dh_str rest = { head, n < 0 ? 0 : (size_t)n < sizeof head ? (size_t)n : sizeof head };
    struct dh_request r = { .method = pseudo(&rest, ":method") };
    r.target = pseudo(&rest, ":target");
    r.authority = pseudo(&rest, ":authority");
    r.scheme = pseudo(&rest, ":scheme");
    r.peer = pseudo(&rest, ":peer");
    r.call_id = pseudo(&rest, ":call-id");
    r.fields = rest;
    const char *mark = r.target.n ? memchr(r.target.p, '?', r.target.n) : NULL;
    r.path = r.target;
    if (mark) {
        r.path.n = (size_t)(mark - r.target.p);
        r.query = (struct dh_str){ mark + 1, r.target.n - r.path.n - 1 };
    }
    return r;
}

struct dh_str dh_field(const struct dh_request *r, const char *name)
{
    struct dh_str rest = r->fields;
    size_t n = strlen(name);
    const char *end;
    while (rest.n && (end = memchr(rest.p, '\n', rest.n))) {
        size_t line = (size_t)(end - rest.p);
        if (line >= n + 2 && rest.p[n] == ':' && memcmp(rest.p, name, n) == 0)
            return (struct dh_str){ rest.p + n + 2, line - n - 2 };
        rest = (struct dh_str){ end + 1, rest.n - line - 1 };
    }
    return (struct dh_str){ NULL, 0 };
}

int dh_read(void *to, size_t n)
{
    return abi_body_read(to, n > INT32_MAX ? INT32_MAX : (uint32_t)n);
}

int dh_read_all(size_t max, struct dh_str *ret)
{
    size_t n = 0, cap = 4096;
    char *p = malloc(cap + 1);
    int got = 0;
    while (p && (got = dh_read(p + n, cap - n)) > 0) {
        n += (size_t)got;
        if (n > max)
            got = DH_TOO_LARGE;
        if (got < 0)
            break;
        if (n < cap)
            continue;
        cap *= 2;
        char *larger = realloc(p, cap + 1);
        if (!larger)
            free(p);
        p = larger;
    }
    if (!p)
        return DH_NO_MEMORY;
    if (got < 0) {
        free(p);
        return got;
    }
    p[n] = '\0';
    *ret = (struct dh_str){ p, n };
    return 0;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static struct dh_str decode(struct dh_str s)
{
    char *p = malloc(s.n + 1);
    size_t n = 0;
    if (!p)
        return (struct dh_str){ NULL, 0 };
    for (size_t i = 0; i < s.n; i++) {
        int high = s.p[i] == '%' && i + 2 < s.n ? hex(s.p[i + 1]) : -1;
        int low = high >= 0 ? hex(s.p[i + 2]) : -1;
        p[n++] = low >= 0 ? (char)(high * 16 + low) : s.p[i] == '+' ? ' ' : s.p[i];
        i += low >= 0 ? 2 : 0;
    }
    p[n] = '\0';
    return (struct dh_str){ p, n };
}

struct dh_str dh_query(const struct dh_request *r, const char *name)
{
    struct dh_str rest = r->query;
    size_t n = strlen(name);
    while (rest.n) {
        const char *end = memchr(rest.p, '&', rest.n);
        size_t part = end ? (size_t)(end - rest.p) : rest.n;
        if (part >= n && memcmp(rest.p, name, n) == 0 && (part == n || rest.p[n] == '='))
            return decode((struct dh_str){ rest.p + n + (part > n), part - n - (part > n) });
        part += end != NULL;
        rest = (struct dh_str){ rest.p + part, rest.n - part };
    }
    return (struct dh_str){ NULL, 0 };
}

/* ---- the answer ---- */

int dh_respond(int status, const char *fields)
{
    return abi_respond((uint32_t)status, fields, (uint32_t)strlen(fields));
}

int dh_write(const void *p, size_t n)
{
    return n > INT32_MAX ? DH_TOO_LARGE : abi_body_write(p, (uint32_t)n);
}

int dh_puts(const char *text)
{
    return dh_write(text, strlen(text));
}

int dh_printf(const char *fmt, ...)
{
    char text[TEXT_BYTES], *p = text;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n >= (int)sizeof text) {
        p = malloc((size_t)n + 1);
        if (!p)
            return DH_NO_MEMORY;
        va_start(ap, fmt);
        n = vsnprintf(p, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    int r = n < 0 ? DH_INVALID : dh_write(p, (size_t)n);
    if (p != text)
        free(p);
    return r;
}

int dh_flush(void)
{
    return abi_flush();
}

int dh_trailers(const char *fields)
{
    return abi_trailers(fields, (uint32_t)strlen(fields));
}

/* ---- at any time ---- */

int dh_secret(const char *path, struct dh_str *ret)
{
    uint32_t cap = 4096;
    for (;;) {
        char *p = malloc(cap + 1);
        if (!p)
            return DH_NO_MEMORY;
        int32_t n = abi_secret_get(path, (uint32_t)strlen(path), p, cap);
        if (n >= 0 && (uint32_t)n <= cap) {
            p[n] = '\0';
            *ret = (struct dh_str){ p, (size_t)n };
            return 0;
        }
        free(p);
        if (n < 0)
            return n;
        cap = (uint32_t)n;
    }
}

void dh_log(enum dh_level level, const char *text)
{
    abi_log(level, text, (uint32_t)strlen(text));
}

void dh_logf(enum dh_level level, const char *fmt, ...)
{
    char text[TEXT_BYTES];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    dh_log(level, text);
}

/* ---- what the host calls ---- */

__attribute__((weak)) int dh_init(void)
{
    return 0;
}

__attribute__((export_name("dormouse_http_v1_init"), used)) int32_t abi_init(void)
{
    return dh_init();
}

__attribute__((export_name("dormouse_http_v1_handle"), used)) int32_t abi_handle(void)
{
    const struct dh_request r = read_head();
    return dh_handle(&r);
}
