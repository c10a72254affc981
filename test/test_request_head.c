/* SPDX-License-Identifier: Apache-2.0 */
/* operator/v1/request_head: what guests may ask, and what is sent of it. */
#include "operator/v1/request_head.h"

#include "base/buf.h"
#include "codec/url.h"
#include "test.h"

static struct arena arena;

static struct request_head parse(const char *text)
{
    struct request_head h;
    struct err err = { 0 };
    arena_fini(&arena);
    if (request_head_parse(&arena, str_of(text), STR("op"), &h, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return h;
}

static void refuse(const char *text, const char *want)
{
    struct request_head h;
    struct err err = { 0 };
    CHECK(request_head_parse(&arena, str_of(text), STR("op"), &h, &err) < 0);
    if (!strstr(err_text(&err), want))
        TEST_FAIL("said '%s', expected '%s'", err_text(&err), want);
    arena_fini(&arena);
}

TEST(a_write_names_its_manager)
{
    CHECK_STR(parse("POST /api/v1/namespaces/a/configmaps").origin,
              "/api/v1/namespaces/a/configmaps?fieldManager=op");
    CHECK_STR(parse("PATCH /api/v1/namespaces/a/configmaps/b?force=true").origin,
              "/api/v1/namespaces/a/configmaps/b?force=true&fieldManager=op");
    CHECK_STR(parse("PUT /api/v1/namespaces/a/configmaps/b?fieldManager=me").origin,
              "/api/v1/namespaces/a/configmaps/b?fieldManager=me");
    CHECK_STR(parse("GET /api/v1/namespaces/a/configmaps/b").origin,
              "/api/v1/namespaces/a/configmaps/b");
    CHECK_STR(parse("DELETE /api/v1/namespaces/a/configmaps/b").origin,
              "/api/v1/namespaces/a/configmaps/b");
    arena_fini(&arena);
}

TEST(its_manager_counts_among_the_parameters)
{
    struct request_head h;
    struct err err = { 0 };
    struct buf text = BUF_INIT(64 << 10);
    (void)buf_add_cstr(&text, "PATCH /api/v1/namespaces/a/configmaps/b?x");
    for (int i = 1; i < URL_MAX_PAIRS - 1; i++)
        (void)buf_add_cstr(&text, "&x");
    CHECK_OK(request_head_parse(&arena, buf_str(&text), STR("op"), &h, &err));
    (void)buf_add_cstr(&text, "&x");
    CHECK_ERR(request_head_parse(&arena, buf_str(&text), STR("op"), &h, &err), E_LIMIT);
    CHECK_OK(request_head_parse(&arena, buf_str(&text), STR(""), &h, &err));
    buf_fini(&text);
    arena_fini(&arena);
}

TEST(only_known_headers_are_kept)
{
    struct request_head h = parse("PUT /api/v1/nodes/n\nContent-Type: application/json\n"
                                  "authorization: Bearer x\nIf-Match:  \"1\" \n"
                                  "dormouse-timeout-ms: 250\nimpersonate-user: root\n\n");
    CHECK_STR(h.content_type, "application/json");
    CHECK_STR(h.if_match, "\"1\"");
    CHECK(!h.accept.p);
    CHECK_INT(h.timeout_ms, 250);
    CHECK_INT(parse("GET /version").timeout_ms, REQUEST_TIMEOUT_MS);
    arena_fini(&arena);
}

TEST(what_has_no_end_or_is_no_request_is_refused)
{
    refuse("", "must begin with GET");
    refuse("HEAD /api", "must begin with GET");
    refuse("GET api/v1", "must be a path");
    refuse("GET /api/v1/pods HTTP/1.1", "must be a path");
    refuse("GET http://host/api", "must be a path");
    refuse("GET /metrics", "must begin with /api");
    refuse("GET /api/../metrics", "");
    refuse("GET /version/x", "must begin with /api");
    refuse("GET /api/v1/pods?watch=true", "declare a watch");
    refuse("GET /api/v1/watch/pods", "declare a watch");
    refuse("GET /api/v1/namespaces/a/pods/b/log?follow=true", "cannot follow");
    refuse("GET /api\nno header", "line 2 of the head is no header");
    refuse("GET /api\na: b\n: c", "line 3 of the head is no header");
    refuse("GET /api\ndormouse-timeout-ms: 300001", "must be from 1 to 300000");
    char *many = xalloc(64 << 10);
    size_t n = (size_t)snprintf(many, 64 << 10, "GET /api\n");
    for (int i = 0; i <= REQUEST_HEAD_MAX_HEADERS; i++)
        n += (size_t)snprintf(many + n, (64 << 10) - n, "x: y\n");
    refuse(many, "more than 64 headers");
    while (n < REQUEST_HEAD_MAX_BYTES + 1)
        many[n++] = 'x';
    many[n] = 0;
    refuse(many, "larger than 16384 bytes");
    free(many);
}

TEST_MAIN
