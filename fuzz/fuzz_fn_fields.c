/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a gateway reads of a request, and what it passes on. Input: the target, then fields, a line
 * each, "name: value". Whatever comes, nothing that speaks of the connection and no x-dormouse-*
 * gets to a sandbox, and what is added is well-formed.
 */
#include "fuzz.h"

#include "fn/gateway/fields.h"
#include "fn/gateway/route.h"

#include "base/mem.h"

static void check_route(struct str target, struct str host)
{
    char clean[ROUTE_HOST_MAX + 1];
    struct gateway_route r;
    size_t prefix_n;
    struct str h = route_clean_host(host, clean);
    if (h.n && route_host(h, STR("fn.local"), &r))
        FUZZ_CHECK(route_is_label(r.name) && route_is_label(r.namespace) &&
                   (r.tag.n == 0 || route_is_label(r.tag)));
    if (route_path(target, &r, &prefix_n))
        FUZZ_CHECK(route_is_label(r.name) && route_is_label(r.namespace) && prefix_n <= target.n);
}

static void check_sandbox(const struct headers *in, const struct fields *f, bool trusted)
{
    struct headers out = { 0 };
    char trace[FIELDS_TRACE_BYTES];
    struct rng random = { 1 };
    bool has_trace = fields_is_trace(f->trace);
    fields_make_trace(&random, trace);
    FUZZ_CHECK(fields_is_trace(str_of(trace)));
    const struct fields_add add = { .peer = STR("[::1]:1"),
                                    .prefix = STR("/fn/a/b"),
                                    .call_id = STR("0123"),
                                    .trace = has_trace ? NULL : trace,
                                    .is_trusted = trusted };
    if (fields_for_sandbox(&out, in, f, &add) == 0) {
        static const char *const never[] = {
            "connection", "keep-alive", "transfer-encoding",  "upgrade", "content-length", "host",
            "trailer",    "expect",     "proxy-authorization"
        };
        for (size_t i = 0; i < ARRAY_LEN(never); i++)
            FUZZ_CHECK(!headers_get(&out, never[i]).p);
        for (size_t i = 0; i < out.n; i++)
            FUZZ_CHECK(!str_has_prefix(headers_name(&out, i), STR("x-dormouse-")));
        FUZZ_CHECK(f->names_connection || fields_is_trace(headers_get(&out, "traceparent")));
        FUZZ_CHECK(str_is(headers_get(&out, "x-forwarded-prefix"), "/fn/a/b"));
        FUZZ_CHECK(trusted || headers_get(&out, "x-forwarded-for").n > 0);
    }
    headers_fini(&out);
}

/* What a sandbox sends behind a body says nothing in the gateway's name; unknown names pass. */
static void check_trailers(const struct headers *out)
{
    static const char *const never[] = { "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
                                         "x-forwarded-prefix" };
    for (size_t i = 0; i < out->n; i++)
        FUZZ_CHECK(!str_has_prefix(headers_name(out, i), STR("x-dormouse-")));
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        FUZZ_CHECK(!headers_get(out, never[i]).p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str rest = str_n(data, n), target;
    struct headers in = { 0 }, out = { 0 };
    (void)str_cut(rest, '\n', &target, &rest);
    while (rest.n) {
        struct str line, name, value;
        (void)str_cut(rest, '\n', &line, &rest);
        if (str_cut(line, ':', &name, &value))
            (void)headers_add(&in, name, value);
    }
    struct fields f;
    fields_scan(&in, &f);
    check_route(target, f.host);
    check_sandbox(&in, &f, false);
    check_sandbox(&in, &f, true);
    uint64_t length;
    if (fields_for_client(&out, &in, false, n & 1, &length) == 0)
        FUZZ_CHECK(!headers_get(&out, "connection").p && !headers_get(&out, "content-length").p &&
                   !headers_get(&out, "transfer-encoding").p);
    headers_reset(&out);
    if (fields_trailers(&out, &in, false) == 0)
        check_trailers(&out);
    headers_fini(&in);
    headers_fini(&out);
    return 0;
}
