/* SPDX-License-Identifier: Apache-2.0 */
#include "dm/wire.h"

#include "dm/kube.h"

#include <string.h>

static void put_len(struct dm_text *t, uint64_t n)
{
    dm_text_le(t, n, 8);
}

static void put_str(struct dm_text *t, struct dm_str s)
{
    put_len(t, s.n);
    dm_text_str(t, s);
}

static void put_cstr(struct dm_text *t, const char *s)
{
    put_str(t, dm_str(s));
}

static void put_option(struct dm_text *t, const char *s)
{
    dm_text_char(t, s ? 1 : 0);
    if (s)
        put_cstr(t, s);
}

void dm_wire_request(struct dm_text *t, const struct dm_request *r)
{
    put_cstr(t, r->method);
    put_cstr(t, r->path);
    put_len(t, r->content_type ? 1 : 0);
    if (r->content_type) {
        put_cstr(t, "content-type");
        put_len(t, 1); /* a header's value is a sequence */
        put_cstr(t, r->content_type);
    }
    put_str(t, r->body);
}

void dm_wire_watch(struct dm_text *t, const struct dm_watch_request *w)
{
    const struct dm_resource *res = w->res;
    size_t prefix = strlen(res->group) + (*res->group ? 1 : 0);
    put_len(t, prefix + strlen(res->version));
    dm_textf(t, "%s%s%s", res->group, *res->group ? "/" : "", res->version);
    put_cstr(t, res->group);
    put_cstr(t, res->kind);
    put_cstr(t, res->version);
    put_option(t, w->ns);
    put_cstr(t, w->resource_version);
    put_option(t, w->field_selector);
    dm_text_char(t, 0); /* include_uninitialized */
    put_option(t, w->label_selector);
    dm_text_char(t, w->bookmarks ? 1 : 0);
}

/* A bounded reader that stays failed once it has failed. */
struct rd {
    const char *p;
    size_t n;
    bool failed;
};

static struct dm_str take(struct rd *r, uint64_t n)
{
    if (r->failed || n > r->n) {
        r->failed = true;
        return (struct dm_str){ "", 0 };
    }
    struct dm_str s = { r->p, (size_t)n };
    r->p += n;
    r->n -= (size_t)n;
    return s;
}

static uint64_t take_le(struct rd *r, unsigned n_bytes)
{
    struct dm_str s = take(r, n_bytes);
    uint64_t v = 0;
    for (size_t i = s.n; i-- > 0;)
        v = v << 8 | (unsigned char)s.p[i];
    return v;
}

static struct dm_str take_str(struct rd *r)
{
    return take(r, take_le(r, 8));
}

int dm_wire_response(const char *p, size_t n, struct dm_str *body)
{
    struct rd r = { p, n, false };
    int status = (int)take_le(&r, 2);
    for (uint64_t names = take_le(&r, 8); names > 0 && !r.failed; names--) {
        (void)take_str(&r);
        for (uint64_t values = take_le(&r, 8); values > 0 && !r.failed; values--)
            (void)take_str(&r);
    }
    struct dm_str rest = body ? take_str(&r) : (struct dm_str){ 0 };
    if (r.failed || status < 100 || status > 999)
        return 0;
    if (body)
        *body = rest;
    return status;
}
