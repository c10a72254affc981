/* SPDX-License-Identifier: Apache-2.0 */
/* CloudEvents over HTTP. */
#include "test.h"

#include "fn/trigger/cloudevent.h"

#include <stdarg.h>

static struct arena arena;
static struct cloudevent *evs;
static size_t n_evs;
static struct err err;

/* fields: "name", "value", ..., NULL */
static int read_event(struct str body, ...)
{
    static struct headers h;
    va_list ap;
    headers_reset(&h);
    arena_fini(&arena);
    err = (struct err){ 0 };
    va_start(ap, body);
    for (const char *name; (name = va_arg(ap, const char *));)
        CHECK_OK(headers_addc(&h, name, va_arg(ap, const char *)));
    va_end(ap);
    return cloudevents_read(&arena, &h, body, 8, &evs, &n_evs, &err);
}

#define STRUCTURED "content-type", "application/cloudevents+json; charset=utf-8", NULL
#define MUST       "\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"/s\",\"type\":\"t\""

static struct str field(const char *name)
{
    static struct headers h;
    headers_reset(&h);
    CHECK_OK(cloudevent_fields(&evs[0], &h, NULL));
    return headers_get(&h, name);
}

TEST(binary_events)
{
    CHECK_OK(read_event(STR("\0data"), "ce-specversion", "1.0", "ce-id", "a%20b%E2%82%AC",
                        "ce-source", "/shop", "ce-type", "order.made", "ce-time",
                        "2026-01-02T03:04:05.6Z", "ce-extra1", "x", "content-type",
                        "application/octet-stream", NULL));
    CHECK_INT(n_evs, 1);
    CHECK_STR(evs[0].id, "a b\xe2\x82\xac");
    CHECK_STR(evs[0].source, "/shop");
    CHECK_STR(evs[0].type, "order.made");
    CHECK(str_eq(evs[0].data, STR("\0data")));
    CHECK_STR(field("ce-id"), "a%20b%E2%82%AC");
    CHECK_STR(field("ce-extra1"), "x");
    CHECK_STR(field("content-type"), "application/octet-stream");
}

TEST(structured_events_become_binary_ones)
{
    CHECK_OK(read_event(STR("{" MUST ",\"data\":{\"a\":[1,2.50]},\"n\":7,\"b\":true,\"z\":null}"),
                        STRUCTURED));
    CHECK_STR(evs[0].data, "{\"a\":[1,2.50]}");
    CHECK_STR(field("content-type"), "application/json");
    CHECK_STR(field("ce-n"), "7");
    CHECK_STR(field("ce-b"), "true");
    CHECK(!field("ce-z").p);
    CHECK_OK(read_event(STR("{" MUST ",\"data\":\"a\\\"b\"}"), STRUCTURED));
    CHECK_STR(evs[0].data, "\"a\\\"b\"");
    CHECK_OK(read_event(STR("{" MUST ",\"datacontenttype\":\"text/plain\",\"data\":\"a\\\"b\"}"),
                        STRUCTURED));
    CHECK_STR(evs[0].data, "a\"b");
    CHECK_STR(field("content-type"), "text/plain");
    CHECK_OK(read_event(STR("{" MUST ",\"data_base64\":\"AAEC\"}"), STRUCTURED));
    CHECK(str_eq(evs[0].data, STR("\0\1\2")));
    CHECK_OK(read_event(STR("{" MUST "}"), STRUCTURED));
    CHECK(evs[0].data.n == 0 && !field("content-type").p);
}

TEST(batches)
{
    CHECK_OK(read_event(STR("[{" MUST ",\"data\":1},{" MUST ",\"data\":2}]"), "content-type",
                        "application/cloudevents-batch+json", NULL));
    CHECK_INT(n_evs, 2);
    CHECK_STR(evs[1].data, "2");
    CHECK_OK(read_event(STR("[]"), "content-type", "application/cloudevents-batch+json", NULL));
    CHECK_INT(n_evs, 0);
    CHECK_ERR(read_event(STR("[1,2,3,4,5,6,7,8,9]"), "content-type",
                         "application/cloudevents-batch+json", NULL),
              E_INVALID);
    CHECK_ERR(read_event(STR("[{" MUST "},{}]"), "content-type",
                         "application/cloudevents-batch+json", NULL),
              E_INVALID);
}

TEST(what_is_no_event_is_said_why)
{
    static const struct {
        const char *body, *says;
    } cases[] = {
        { "{", "event" },
        { "[]", "not a JSON object" },
        { "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"/s\"}", "'type'" },
        { "{\"specversion\":\"0.3\",\"id\":\"1\",\"source\":\"/s\",\"type\":\"t\"}",
          "specversion" },
        { "{\"specversion\":\"1.0\",\"id\":\"\",\"source\":\"/s\",\"type\":\"t\"}", "'id'" },
        { "{" MUST ",\"time\":\"yesterday\"}", "time" },
        { "{" MUST ",\"Upper\":\"x\"}", "'Upper'" },
        { "{" MUST ",\"obj\":{}}", "'obj'" },
        { "{" MUST ",\"data\":1,\"data_base64\":\"AA==\"}", "data_base64" },
        { "{" MUST ",\"data_base64\":\"%\"}", "base64" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int r = read_event(str_of(cases[i].body), STRUCTURED);
        if ((r != E_INVALID && r != E_PARSE) ||
            str_find(str_of(err.text), str_of(cases[i].says)) < 0)
            TEST_FAIL("%s: %s %s", cases[i].body, err_name(r), err.text);
    }
    CHECK_ERR(read_event(STR("x"), "content-type", "text/plain", NULL), E_INVALID);
    CHECK_ERR(read_event(STR("x"), "ce-specversion", "1.0", "ce-id", "1", NULL), E_INVALID);
}

TEST(patterns)
{
    CHECK(cloudevent_matches(STR(""), STR("a.b")) && cloudevent_matches(STR("*"), STR("a.b")));
    CHECK(cloudevent_matches(STR("a.*"), STR("a.b")) && cloudevent_matches(STR("a.b"), STR("a.b")));
    CHECK(!cloudevent_matches(STR("a.b"), STR("a.bc")));
    CHECK(!cloudevent_matches(STR("b*"), STR("a.b")));
    arena_fini(&arena);
}

TEST_MAIN
