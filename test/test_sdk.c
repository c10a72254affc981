/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The portable parts of the C SDK for guests, natively: heap, JSON, payload codec, event splitter,
 * work queue, and list, watch and reconcile against a platform that this file plays.
 */
#include "dm/frames.h"
#include "dm/host.h"
#include "dm/kube.h"
#include "dm/queue.h"
#include "test.h"

/* ---- the platform ---- */

#define CALLS_MAX 64

struct fake_call {
    uint64_t id;
    bool stream;
    char method[8], path[512], body[2048];
};

static struct fake {
    uint64_t next_id, now_ms;
    struct fake_call calls[CALLS_MAX]; /* requests nobody has looked at yet */
    size_t n_calls;
    uint64_t delay_id, delay_ms; /* the newest delay */
    size_t n_delays;
} fake;

uint64_t dm_host_request(const struct dm_request *r, bool stream)
{
    CHECK(fake.n_calls < CALLS_MAX);
    struct fake_call *c = &fake.calls[fake.n_calls++];
    *c = (struct fake_call){ .id = fake.next_id++, .stream = stream };
    (void)snprintf(c->method, sizeof(c->method), "%s", r->method);
    (void)snprintf(c->path, sizeof(c->path), "%s", r->path);
    (void)snprintf(c->body, sizeof(c->body), "%.*s", (int)r->body.n, r->body.n ? r->body.p : "");
    return c->id;
}

uint64_t dm_host_delay(uint64_t ms)
{
    fake.n_delays++;
    fake.delay_ms = ms;
    return fake.delay_id = fake.next_id++;
}

bool dm_host_can_watch(void)
{
    return false;
}

uint64_t dm_host_watch(const struct dm_watch_request *w)
{
    abort();
}

uint64_t dm_host_now_ms(void)
{
    return fake.now_ms;
}

uint64_t dm_host_wall_us(void)
{
    return 1700000000123456;
}

uint64_t dm_host_random(void)
{
    return 0;
}

const char *dm_host_env(const char *name)
{
    return strcmp(name, "DM_LOG") == 0 ? "error" : NULL;
}

void dm_host_write(const char *line, size_t n)
{
    (void)fwrite(line, 1, n, stderr);
}

int dm_main(void)
{
    return 0;
}

/* The oldest request that was not looked at yet. */
static struct fake_call next_call(void)
{
    CHECK(fake.n_calls > 0);
    struct fake_call c = fake.calls[0];
    fake.n_calls--;
    memmove(fake.calls, fake.calls + 1, fake.n_calls * sizeof(c));
    return c;
}

static struct fake_call expect(const char *method, const char *path)
{
    struct fake_call c = next_call();
    CHECK_STR(str_of(c.method), method);
    CHECK_STR(str_of(c.path), path);
    return c;
}

static void reply(uint64_t id, int status, const char *body)
{
    dm_on_head(id, status);
    dm_settle();
    dm_on_end(id, body, strlen(body));
    dm_settle();
}

static void send(uint64_t id, const char *chunk)
{
    dm_on_data(id, chunk, strlen(chunk));
    dm_settle();
}

static void end_delay(void)
{
    fake.now_ms += fake.delay_ms;
    dm_on_end(fake.delay_id, NULL, 0);
    dm_settle();
}

/* ---- heap ---- */

static uint32_t grow_within(struct dm_heap *h, uint32_t n)
{
    uint32_t left = (1u << 20) - h->end;
    return n > left ? 0 : left < 4096 ? left & ~7u : n < 4096 ? 4096 : n;
}

TEST(heap_keeps_blocks_apart_under_random_use)
{
    static _Alignas(8) unsigned char region[1 << 20];
    enum { SLOTS = 100 };
    struct {
        unsigned char *p;
        size_t n;
        unsigned char fill;
    } slots[SLOTS] = { 0 };
    struct dm_heap h;
    dm_heap_init(&h, region, 0, grow_within);
    for (int round = 0; round < 20000; round++) {
        size_t i = test_random_below(SLOTS);
        for (size_t k = 0; k < slots[i].n; k++)
            CHECK(slots[i].p[k] == slots[i].fill);
        dm_heap_free(&h, slots[i].p);
        slots[i].n = test_random_below(test_random_below(10) ? 200 : 30000);
        slots[i].p = dm_heap_alloc(&h, slots[i].n);
        slots[i].fill = (unsigned char)round;
        if (!slots[i].p)
            slots[i].n = 0;
        else
            CHECK(dm_heap_usable(&h, slots[i].p) >= slots[i].n);
        if (slots[i].n)
            memset(slots[i].p, slots[i].fill, slots[i].n);
        if (round % 64 == 0)
            CHECK(dm_heap_check(&h));
    }
    for (size_t i = 0; i < SLOTS; i++)
        dm_heap_free(&h, slots[i].p);
    CHECK(dm_heap_check(&h));
    CHECK(dm_heap_alloc(&h, h.end - 64) != NULL); /* everything has grown together again */
}

TEST(heap_that_is_full_says_so)
{
    static _Alignas(8) unsigned char region[256];
    struct dm_heap h;
    dm_heap_init(&h, region, sizeof(region), NULL);
    CHECK(dm_heap_alloc(&h, 1000) == NULL);
    CHECK(dm_heap_alloc(&h, SIZE_MAX) == NULL);
    void *p = dm_heap_alloc(&h, 200);
    CHECK(p != NULL);
    CHECK(dm_heap_alloc(&h, 100) == NULL);
    dm_heap_free(&h, p);
    CHECK(dm_heap_alloc(&h, 200) == p);
}

TEST(freed_large_blocks_are_zero_pages)
{
    static _Alignas(4096) unsigned char region[16 * 4096];
    struct dm_heap h;
    dm_heap_init(&h, region, sizeof(region), NULL);
    unsigned char *p = dm_heap_alloc(&h, 10 * 4096);
    memset(p, 7, 10 * 4096);
    dm_heap_free(&h, p);
    for (size_t i = 4096; i < 9 * 4096; i++)
        CHECK(region[i] == 0);
}

/* ---- text ---- */

static struct str text_of(struct dm_text *t)
{
    return (struct str){ t->p ? t->p : "", t->n };
}

TEST(text_formats_what_operators_use)
{
    struct dm_text t = { 0 };
    dm_textf(&t, "%s %.*s %d %u %x %lld %llu %zu %c %% %s", "a", 2, "bcd", -5, 7u, 0xbeefu,
             (long long)INT64_MIN, (unsigned long long)UINT64_MAX, (size_t)9, 'z', "end");
    CHECK_STR(text_of(&t), "a bc -5 7 beef -9223372036854775808 18446744073709551615 9 z % end");
    dm_text_fini(&t);
}

TEST(time_is_rfc_3339)
{
    static const struct {
        uint64_t us;
        const char *text;
    } rows[] = {
        { 0, "1970-01-01T00:00:00.000000Z" },
        { 951782400000000, "2000-02-29T00:00:00.000000Z" },
        { 1700000000123456, "2023-11-14T22:13:20.123456Z" },
        { 4107542399000001, "2100-02-28T23:59:59.000001Z" },
        { 4107542400000000, "2100-03-01T00:00:00.000000Z" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct dm_text t = { 0 };
        dm_text_time(&t, rows[i].us, true);
        CHECK_STR(text_of(&t), rows[i].text);
        dm_text_fini(&t);
    }
}

TEST(time_is_read_as_it_is_written)
{
    static const struct {
        const char *text;
        uint64_t us;
    } rows[] = {
        { "1970-01-01T00:00:00Z", 0 },
        { "2000-02-29T00:00:00.000001Z", 951782400000001 },
        { "2023-11-14T23:13:20.1234569+01:00", 1700000000123456 },
        { "2023-11-14t21:43:20-00:30", 1700000000000000 },
        { "2100-03-01T00:00:00Z", 4107542400000000 },
    };
    uint64_t us = 5;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK(dm_parse_time(dm_str(rows[i].text), &us));
        CHECK_INT(us, rows[i].us);
    }
    static const char *const bad[] = { "",
                                       "2023-11-14",
                                       "2023-13-14T00:00:00Z",
                                       "2023-11-14T24:00:00Z",
                                       "2023-11-14T00:00:00",
                                       "2023-11-14T00:00:00.Z",
                                       "2023-11-14T00:00:00+0100",
                                       "1970-01-01T00:00:00+00:01",
                                       "2023-11-14T00:00:00Zx" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (dm_parse_time(dm_str(bad[i]), &us))
            TEST_FAIL("accepted: %s", bad[i]);
}

TEST(numbers_out_of_range_are_refused)
{
    int64_t v = 0;
    CHECK(dm_parse_i64(DM_STR("9223372036854775807"), &v) && v == INT64_MAX);
    CHECK(dm_parse_i64(DM_STR("-9223372036854775808"), &v) && v == INT64_MIN);
    CHECK(!dm_parse_i64(DM_STR("9223372036854775808"), &v));
    CHECK(!dm_parse_i64(DM_STR("18446744073709551617"), &v));
    CHECK(!dm_parse_i64(DM_STR("-"), &v));
    CHECK(!dm_parse_i64(DM_STR(""), &v));
    CHECK(!dm_parse_i64(DM_STR("1x"), &v));
}

/* ---- JSON ---- */

static struct dm_json json(const char *s)
{
    struct dm_json v = dm_json_parse(s, strlen(s));
    CHECK(v.p != NULL);
    return v;
}

TEST(json_that_is_not_json_is_refused)
{
    static const char *const bad[] = { "",           " ",         "{",     "}",       "[1,]",
                                       "{\"a\":}",   "{\"a\" 1}", "{a:1}", "[1 2]",   "01",
                                       "1.",         "-",         "1e",    "\"\\x\"", "\"\\u12\"",
                                       "\"\n\"",     "\"abc",     "tru",   "nul",     "{} {}",
                                       "{\"a\":1,}", "[",         "[[1]",  "\"\\",    "+1",
                                       ".5",         "{\"a\":1",  "'a'" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (dm_json_parse(bad[i], strlen(bad[i])).p)
            TEST_FAIL("accepted: %s", bad[i]);
}

TEST(json_nests_up_to_its_limit)
{
    char s[4 * DM_JSON_DEPTH_MAX];
    for (size_t depth = DM_JSON_DEPTH_MAX; depth <= DM_JSON_DEPTH_MAX + 1; depth++) {
        memset(s, '[', depth);
        memset(s + depth, ']', depth);
        CHECK((dm_json_parse(s, 2 * depth).p != NULL) == (depth == DM_JSON_DEPTH_MAX));
    }
}

TEST(json_members_are_found)
{
    struct dm_json v = json(" { \"metadata\" : { \"name\" : \"x\", \"labels\":{\"a.b/c\":\"d\"}, "
                            "\"n\":[1, {\"k\":[]}, \"]\"] }, "
                            "\"q\\\"{\":1, \"spec\":{\"nonce\":-42,\"on\":true,\"none\":null} } ");
    CHECK(dm_json_is(dm_json_at(v, "metadata.name"), "x"));
    CHECK(dm_json_is(dm_label(v, "a.b/c"), "d"));
    CHECK_INT(dm_json_int(dm_json_at(v, "spec.nonce"), 0), -42);
    CHECK(dm_json_true(dm_json_at(v, "spec.on")));
    CHECK(!dm_json_has(dm_json_at(v, "spec.none")));
    CHECK(!dm_json_has(dm_json_at(v, "spec.nonce.deeper")));
    CHECK(!dm_json_has(dm_json_at(v, "nothing.here")));
    CHECK_INT(dm_json_int(dm_json_member(v, "q\"{"), 0), 1);
    struct dm_json_iter it = dm_json_iter(dm_json_at(v, "metadata.n"));
    CHECK(dm_json_next(&it) && dm_json_int(it.value, 0) == 1);
    CHECK(dm_json_next(&it) && dm_json_kind(it.value) == DM_JSON_OBJECT);
    CHECK(dm_json_next(&it) && dm_json_is(it.value, "]"));
    CHECK(!dm_json_next(&it));
    it = dm_json_iter(json("[]"));
    CHECK(!dm_json_next(&it));
    it = dm_json_iter(json("3"));
    CHECK(!dm_json_next(&it));
}

TEST(json_strings_are_unescaped)
{
    struct dm_json v = json("\"a\\u00e4\\ud83d\\ude00\\n\\/\\ud800x\"");
    struct dm_arena a = { 0 };
    CHECK_STR(str_of(dm_json_string(v, &a)), "a\xc3\xa4\xf0\x9f\x98\x80\n/\xef\xbf\xbdx");
    CHECK(dm_json_is(v, "a\xc3\xa4\xf0\x9f\x98\x80\n/\xef\xbf\xbdx"));
    CHECK(!dm_json_is(v, "a\xc3\xa4\xf0\x9f\x98\x80\n/\xef\xbf\xbd"));
    CHECK(!dm_json_is(v, "b"));
    dm_arena_fini(&a);
}

TEST(json_values_are_compared)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        { "{\"a\":1,\"b\":[true,null]}", "{ \"b\" : [true, null], \"\\u0061\":1}", true },
        { "{\"a\":1}", "{\"a\":1,\"b\":null}", false },
        { "[1,2]", "[2,1]", false },
        { "[1,2]", "[1]", false },
        { "\"x\\u00e4\"", "\"x\xc3\xa4\"", true },
        { "\"1\"", "1", false },
        { "{}", "[]", false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK(dm_json_equal(json(rows[i].a), json(rows[i].b)) == rows[i].equal);
        CHECK(dm_json_equal(json(rows[i].b), json(rows[i].a)) == rows[i].equal);
    }
}

TEST(json_templates_quote_what_they_insert)
{
    struct dm_text t = { 0 };
    struct dm_json raw = json("{\"k\":[1]}"), none = { 0 };
    dm_jsonf(&t, "{'a':%s,'b':%.*s,'c':%p,'d':%p,'e':'%d/%u','f':%lld}", "x\"'y", 2, "abc", &raw,
             &none, -1, 7u, 1ll << 40);
    CHECK_STR(text_of(&t), "{\"a\":\"x\\\"'y\",\"b\":\"ab\",\"c\":{\"k\":[1]},\"d\":null,"
                           "\"e\":\"-1/7\",\"f\":1099511627776}");
    dm_text_fini(&t);
}

TEST(json_that_was_written_can_be_read)
{
    struct dm_text t = { 0 };
    char every[256];
    for (int i = 0; i < 255; i++)
        every[i] = (char)(i + 1);
    every[255] = 0;
    dm_jw_open(&t, '{');
    dm_jw_kstr(&t, "s", every);
    dm_jw_key(&t, "list");
    dm_jw_open(&t, '[');
    dm_jw_int(&t, INT64_MIN);
    dm_jw_bool(&t, false);
    dm_jw_raw(&t, (struct dm_json){ 0 });
    dm_jw_open(&t, '{');
    dm_jw_close(&t, '}');
    dm_jw_close(&t, ']');
    dm_jw_kint(&t, "n", 5);
    dm_jw_close(&t, '}');
    struct dm_json v = json(t.p);
    CHECK(dm_json_is(dm_json_member(v, "s"), every));
    CHECK_INT(dm_json_int(dm_json_member(v, "n"), 0), 5);
    struct dm_json list = dm_json_member(v, "list");
    CHECK_STR(((struct str){ list.p, list.n }), "[-9223372036854775808,false,null,{}]");
    dm_text_fini(&t);
}

static void check_edit(const char *in, const struct dm_edit *e, size_t n, const char *out)
{
    struct dm_text t = { 0 };
    dm_json_edit(json(in), e, n, &t);
    CHECK_STR(text_of(&t), out);
    dm_text_fini(&t);
}

TEST(json_edits_touch_only_what_they_name)
{
    const struct dm_edit set[] = {
        { { "spec", "nonce" }, "7" },
        { { "metadata", "labels", "a.b/c" }, "\"d\"" },
        { { "metadata", "managedFields" }, NULL },
        { { "status", "gone" }, NULL },
    };
    check_edit("{\"kind\":\"X\",\"metadata\":{\"managedFields\":[{}],\"name\":\"n\"},\"spec\":{"
               "\"nonce\":1 ,\"k\":[1, 2]}}",
               set, 4,
               "{\"kind\":\"X\",\"metadata\":{\"name\":\"n\",\"labels\":{\"a.b/"
               "c\":\"d\"}},\"spec\":{\"nonce\":7,\"k\":[1, 2]}}");
    check_edit("{}", set, 1, "{\"spec\":{\"nonce\":7}}");
    check_edit("{\"a\":1}", set, 0, "{\"a\":1}");
}

/* ---- payloads: the vectors of the ABI document ---- */

static void check_hex(const struct dm_text *t, const char *hex)
{
    char got[1024] = "";
    size_t n = 0;
    CHECK(2 * t->n < sizeof(got));
    for (size_t i = 0; i < t->n; i++)
        n += (size_t)snprintf(got + n, sizeof(got) - n, "%02x", (unsigned char)t->p[i]);
    CHECK_STR(str_of(got), hex);
}

TEST(requests_are_encoded_as_the_vectors_say)
{
    struct dm_text t = { 0 };
    dm_wire_request(&t, &(struct dm_request){ .method = "GET", .path = "/version" });
    check_hex(&t, "0300000000000000474554"
                  "08000000000000002f76657273696f6e"
                  "00000000000000000000000000000000");
    t.n = 0;
    dm_wire_request(&t, &(struct dm_request){ .method = "POST",
                                              .path = "/api/v1/namespaces/x/configmaps?",
                                              .content_type = "application/json",
                                              .body = DM_STR("{}") });
    check_hex(&t, "0400000000000000504f5354"
                  "20000000000000002f6170692f76312f6e616d657370616365732f782f636f6e6669676d6170733f"
                  "01000000000000000c00000000000000636f6e74656e742d74797065"
                  "010000000000000010000000000000006170706c69636174696f6e2f6a736f6e"
                  "02000000000000007b7d");
    t.n = 0;
    static const struct dm_resource pods = { "", "v1", "pods", "Pod", false };
    dm_wire_watch(
        &t, &(struct dm_watch_request){ .res = &pods, .ns = "default", .resource_version = "42" });
    check_hex(&t, "0200000000000000763100000000000000000300000000000000506f6402000000000000007631"
                  "01070000000000000064656661756c740200000000000000343200000000");
    dm_text_fini(&t);
}

static const unsigned char head[] = {
    0xc8, 0,   1,   0,   0,   0,   0,   0,   0,   0,   0x0c, 0,   0,   0,   0,   0,   0,   0,   'c',
    'o',  'n', 't', 'e', 'n', 't', '-', 't', 'y', 'p', 'e',  1,   0,   0,   0,   0,   0,   0,   0,
    16,   0,   0,   0,   0,   0,   0,   0,   'a', 'p', 'p',  'l', 'i', 'c', 'a', 't', 'i', 'o', 'n',
    '/',  'j', 's', 'o', 'n', 4,   0,   0,   0,   0,   0,    0,   0,   'b', 'o', 'd', 'y', 'x',
};

TEST(responses_are_decoded_with_trailing_bytes)
{
    struct dm_str body = { 0 };
    const char *p = (const char *)head;
    CHECK_INT(dm_wire_response(p, sizeof(head), NULL), 200);
    CHECK_INT(dm_wire_response(p, 62, NULL), 200);
    CHECK_INT(dm_wire_response(p, sizeof(head), &body), 200);
    CHECK(dm_str_is(body, "body"));
    for (size_t n = 0; n < 62; n++)
        CHECK_INT(dm_wire_response(p, n, NULL), 0);
    CHECK_INT(dm_wire_response(p, 73, &body), 0);
}

TEST(hostile_lengths_in_responses_are_refused)
{
    unsigned char bad[sizeof(head)];
    for (size_t i = 2; i + 8 <= 62; i++) {
        memcpy(bad, head, sizeof(bad));
        memset(bad + i, 0xff, 8);
        struct dm_str body;
        (void)dm_wire_response((char *)bad, sizeof(bad), &body); /* the sanitizers judge */
    }
    memset(bad, 0xff, sizeof(bad));
    CHECK_INT(dm_wire_response((char *)bad, sizeof(bad), NULL), 0);
}

/* ---- events out of chunks ---- */

struct seen {
    char text[4096];
    size_t n;
};

static void collect(void *arg, const char *p, size_t n)
{
    struct seen *s = arg;
    CHECK(dm_json_parse(p, n).p != NULL);
    s->n += (size_t)snprintf(s->text + s->n, sizeof(s->text) - s->n, "%.*s|", (int)n, p);
}

TEST(events_come_whole_however_the_stream_is_cut)
{
    static const char stream[] =
        "{\"a\":\"}{\\\"\"}\n{\"b\":[{},{\"c\":\"\\\\\"}]}\n\n {\"d\":1}{}\r\n";
    static const char want[] = "{\"a\":\"}{\\\"\"}|{\"b\":[{},{\"c\":\"\\\\\"}]}|{\"d\":1}|{}|";
    for (size_t chunk = 1; chunk <= sizeof(stream); chunk++) {
        struct dm_frames f = { 0 };
        struct seen s = { 0 };
        for (size_t at = 0; at < sizeof(stream) - 1; at += chunk) {
            size_t left = sizeof(stream) - 1 - at;
            CHECK(dm_frames_feed(&f, stream + at, chunk < left ? chunk : left, collect, &s));
        }
        CHECK_STR(str_of(s.text), want);
        dm_frames_reset(&f);
    }
}

TEST(an_event_needs_no_newline)
{
    struct dm_frames f = { 0 };
    struct seen s = { 0 };
    CHECK(dm_frames_feed(&f, "{\"x\":1}", 7, collect, &s));
    CHECK_STR(str_of(s.text), "{\"x\":1}|");
}

TEST(a_stream_of_something_else_is_broken_for_good)
{
    struct seen s = { 0 };
    static const char *const bad[] = { "null", "]", "{\"a\n", "<html>" };
    for (size_t i = 0; i < 4; i++) {
        struct dm_frames f = { 0 };
        CHECK(!dm_frames_feed(&f, bad[i], strlen(bad[i]), collect, &s));
        CHECK(!dm_frames_feed(&f, "{}", 2, collect, &s));
    }
    CHECK_INT(s.n, 0);
}

TEST(an_event_beyond_the_limit_breaks_the_stream)
{
    struct dm_frames f = { 0 };
    struct seen s = { 0 };
    static char chunk[1 << 16];
    memset(chunk, 'x', sizeof(chunk));
    CHECK(dm_frames_feed(&f, "{\"", 2, collect, &s));
    bool ok = true;
    for (size_t fed = 0; ok && fed <= DM_EVENT_MAX; fed += sizeof(chunk))
        ok = dm_frames_feed(&f, chunk, sizeof(chunk), collect, &s);
    CHECK(!ok);
    CHECK_INT(f.partial.cap, 0);
}

/* ---- queue ---- */

static const char *pop_name(struct dm_queue *q, uint64_t now, const struct dm_key **ret)
{
    *ret = dm_queue_pop(q, now);
    return *ret ? (*ret)->name : "-";
}

TEST(a_key_is_queued_once_and_runs_once_at_a_time)
{
    struct dm_queue *q = dm_queue_new(DM_QUEUE_LIMITS);
    const struct dm_key *a, *b, *c;
    dm_queue_add(q, "n", "a");
    dm_queue_add(q, "n", "b");
    dm_queue_add(q, "n", "a");
    CHECK_STR(str_of(pop_name(q, 0, &a)), "a");
    dm_queue_add(q, "n", "a");
    CHECK_STR(str_of(pop_name(q, 0, &b)), "b");
    CHECK_STR(str_of(pop_name(q, 0, &c)), "-");
    dm_queue_done(q, a, DM_DONE, 0, 0);
    CHECK_STR(str_of(pop_name(q, 0, &a)), "a");
    dm_queue_done(q, a, DM_DONE, 0, 0);
    dm_queue_done(q, b, DM_DONE, 0, 0);
    CHECK_INT(dm_queue_length(q), 0);
    dm_queue_free(q);
}

TEST(failures_back_off_and_a_success_forgives)
{
    struct dm_queue *q = dm_queue_new((struct dm_queue_limits){ 100, 1000 });
    static const uint64_t delays[] = { 100, 200, 400, 800, 1000, 1000 };
    const struct dm_key *k;
    uint64_t now = 5;
    dm_queue_add(q, "", "a");
    for (size_t i = 0; i < 6; i++) {
        CHECK_STR(str_of(pop_name(q, now, &k)), "a");
        CHECK_INT(k->failures, i);
        dm_queue_done(q, k, DM_FAILED, 0, now);
        CHECK_INT(dm_queue_due(q), now + delays[i]);
        CHECK_STR(str_of(pop_name(q, now + delays[i] - 1, &k)), "-");
        now += delays[i];
    }
    CHECK_STR(str_of(pop_name(q, now, &k)), "a");
    dm_queue_done(q, k, DM_AGAIN, 50, now);
    CHECK_INT(dm_queue_due(q), now + 50);
    dm_queue_add(q, "", "a"); /* does not wait for its time */
    CHECK_STR(str_of(pop_name(q, now, &k)), "a");
    CHECK_INT(k->failures, 0);
    CHECK(dm_queue_due(q) == UINT64_MAX);
    dm_queue_free(q);
}

TEST(many_keys_come_out_in_the_order_they_came_in)
{
    struct dm_queue *q = dm_queue_new(DM_QUEUE_LIMITS);
    char name[16];
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof(name), "k%d", i);
        dm_queue_add(q, "ns", name);
    }
    for (int i = 0; i < 1000; i++) {
        const struct dm_key *k;
        (void)snprintf(name, sizeof(name), "k%d", i);
        CHECK_STR(str_of(pop_name(q, 0, &k)), name);
        dm_queue_done(q, k, i % 2 ? DM_DONE : DM_AGAIN, (uint64_t)(1000 - i), 0);
    }
    CHECK_INT(dm_queue_length(q), 500);
    CHECK_INT(dm_queue_due(q), 2);
    dm_queue_free(q);
}

/* ---- timers ---- */

static void count(void *arg)
{
    ++*(int *)arg;
}

TEST(timers_share_delays)
{
    int early = 0, late = 0;
    struct dm_timer a = { 0 }, b = { 0 };
    size_t before = fake.n_delays;
    dm_timer_set(&a, 100, count, &early);
    dm_settle();
    dm_timer_set(&b, 500, count, &late);
    dm_settle();
    CHECK_INT(fake.n_delays, before + 1); /* the later one waits for the first delay */
    end_delay();
    CHECK_INT(early, 1);
    CHECK_INT(late, 0);
    CHECK_INT(fake.n_delays, before + 2);
    CHECK_INT(fake.delay_ms, 400);
    dm_timer_clear(&b);
    end_delay();
    CHECK_INT(late, 0);
    dm_settle();
    CHECK_INT(fake.n_delays, before + 2);
}

/* ---- list, watch, reconcile ---- */

static const struct dm_resource things = { "t.dev", "v1", "things", "Thing", false };

static void keep_size(struct dm_json obj, struct dm_text *out)
{
    dm_textf(out, "%lld", (long long)dm_json_int(dm_json_at(obj, "spec.size"), 0));
}

static void note_change(void *arg, enum dm_change change, const char *ns, const char *name)
{
    struct seen *s = arg;
    s->n += (size_t)snprintf(s->text + s->n, sizeof(s->text) - s->n, "%c%s/%s ", "+~-"[change], ns,
                             name);
}

#define THING(ns, name, rv, size)                                                                  \
    "{\"metadata\":{\"namespace\":\"" ns "\",\"name\":\"" name "\",\"resourceVersion\":\"" rv      \
    "\"},\"spec\":{\"size\":" size "}}"
#define LIST(rv, more, items)                                                                      \
    "{\"metadata\":{\"resourceVersion\":\"" rv "\",\"continue\":\"" more "\"},\"items\":[" items   \
    "]}"
#define EVENT(type, obj) "{\"type\":\"" type "\",\"object\":" obj "}\n"
#define WATCH(rv)                                                                                  \
    "/apis/t.dev/v1/namespaces/n/things?watch=true&resourceVersion=" rv                            \
    "&timeoutSeconds=290&labelSelector=app%3Dx"
#define LISTING "/apis/t.dev/v1/namespaces/n/things?limit=250&labelSelector=app%3Dx"

static void check_seen(struct seen *s, const char *want)
{
    CHECK_STR(str_of(s->text), want);
    *s = (struct seen){ 0 };
}

TEST(a_cache_lists_pages_watches_resumes_and_relists)
{
    struct seen s = { 0 };
    struct dm_cache *c = dm_cache_start(&(struct dm_watch){ .res = &things,
                                                            .ns = "n",
                                                            .label_selector = "app=x",
                                                            .keep = keep_size,
                                                            .changed = note_change,
                                                            .arg = &s });
    dm_settle();
    reply(expect("GET", LISTING).id, 200, LIST("10", "more/", THING("n", "a", "3", "1")));
    CHECK(!dm_cache_synced(c));
    reply(expect("GET", LISTING "&continue=more%2F").id, 200,
          LIST("10", "", THING("n", "b", "4", "2")));
    CHECK(dm_cache_synced(c));
    check_seen(&s, "+n/a +n/b ");

    uint64_t id = expect("GET", WATCH("10")).id;
    dm_on_head(id, 200);
    send(id, EVENT("MODIFIED", THING("n", "a", "11", "5"))
                 EVENT("MODIFIED", THING("n", "b", "12", "2")));
    check_seen(&s, "~n/a "); /* nothing that is kept of b has changed */
    CHECK(dm_str_is(dm_cache_get(c, "n", "a")->kept, "5"));
    send(id, EVENT("DELETED", THING("n", "b", "13", "2")));
    check_seen(&s, "-n/b ");
    send(id, EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"20\"}}"));
    dm_on_end(id, NULL, 0);
    dm_settle();

    id = expect("GET", WATCH("20")).id; /* a renewal is not a list */
    dm_on_head(id, 200);
    fake.now_ms += 5000;
    send(id, EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}"));
    reply(expect("GET", LISTING).id, 200, LIST("30", "", THING("n", "c", "25", "1")));
    check_seen(&s, "+n/c -n/a ");
    CHECK_INT(dm_cache_count(c), 1);
    send(id, EVENT("ADDED", THING("n", "ghost", "99", "1"))); /* of the stream that was given up */
    dm_on_end(id, NULL, 0);
    dm_settle();
    check_seen(&s, "");
    (void)expect("GET", WATCH("30"));
    CHECK_INT(fake.n_calls, 0);
}

TEST(a_cache_retries_with_back_off)
{
    struct seen s = { 0 };
    struct dm_cache *c = dm_cache_start(
        &(struct dm_watch){ .res = &things, .ns = "n", .changed = note_change, .arg = &s });
    const char *list = "/apis/t.dev/v1/namespaces/n/things?limit=250";
    reply(expect("GET", list).id, 404, "{\"code\":404}");
    end_delay();
    dm_on_end(expect("GET", list).id, NULL, 0); /* no answer at all */
    dm_settle();
    end_delay();
    reply(expect("GET", list).id, 200, "not JSON");
    end_delay();
    reply(expect("GET", list).id, 200, LIST("7", "", ""));
    CHECK(dm_cache_synced(c));
    uint64_t id = next_call().id;
    dm_on_head(id, 200);
    dm_on_end(id, NULL, 0); /* ends at once: do not spin */
    dm_settle();
    CHECK_INT(fake.n_calls, 0);
    end_delay();
    (void)expect(
        "GET",
        "/apis/t.dev/v1/namespaces/n/things?watch=true&resourceVersion=7&timeoutSeconds=290");
}

static enum dm_verdict grow_size(struct dm_work *w, struct dm_json old, struct dm_text *out)
{
    if (!dm_json_has(old)) {
        dm_textf(out, "new");
        return DM_WRITE;
    }
    if (dm_json_int(dm_json_at(old, "spec.size"), 0) > 8)
        return DM_KEEP;
    const struct dm_edit e = { { "spec", "size" }, "9" };
    dm_json_edit(old, &e, 1, out);
    return DM_WRITE;
}

static void on_grown(struct dm_work *w, const struct dm_reply *r)
{
    struct seen *s = w->user;
    s->n += (size_t)snprintf(s->text + s->n, sizeof(s->text) - s->n, "%d%s ", r->status,
                             r->unchanged ? "=" : "");
    if (dm_ok(r))
        dm_done(w);
    else
        dm_fail_reply(w, r);
}

static void reconcile_thing(struct dm_work *w)
{
    dm_upsert(w, &things, w->ns, w->name, NULL, grow_size, on_grown);
}

TEST(an_upsert_survives_conflicts_and_a_failure_comes_back)
{
    struct seen s = { 0 };
    struct dm_controller *ctl =
        dm_control(&(struct dm_control){ .name = "t", .reconcile = reconcile_thing, .user = &s });
    const char *path = "/apis/t.dev/v1/namespaces/n/things/a";
    dm_enqueue(ctl, "n", "a");
    dm_settle();
    reply(expect("GET", path).id, 200, THING("n", "a", "1", "2"));
    struct fake_call put = expect("PUT", path);
    CHECK_STR(str_of(put.body), THING("n", "a", "1", "9"));
    reply(put.id, 409, "{}");
    reply(expect("GET", path).id, 404, "{}"); /* deleted meanwhile */
    reply(expect("POST", "/apis/t.dev/v1/namespaces/n/things").id, 409, "{}");
    reply(expect("GET", path).id, 200, THING("n", "a", "3", "9"));
    check_seen(&s, "200= ");
    CHECK_INT(fake.n_calls, 0);

    dm_enqueue(ctl, "n", "a");
    dm_settle();
    reply(expect("GET", path).id, 500, "{\"message\":\"no\"}");
    check_seen(&s, "500 ");
    CHECK_INT(fake.delay_ms, 100);
    end_delay();
    dm_on_end(expect("GET", path).id, NULL, 0);
    dm_settle();
    check_seen(&s, "0 ");
    CHECK_INT(fake.delay_ms, 200);
    end_delay();
    reply(expect("GET", path).id, 200, THING("n", "a", "3", "9"));
    check_seen(&s, "200= ");
}

/* ---- pieces of objects ---- */

TEST(conditions_move_their_time_only_with_their_status)
{
    static const char old[] =
        "[{\"type\":\"Other\",\"status\":\"True\"},"
        "{\"type\":\"Ready\",\"status\":\"True\",\"lastTransitionTime\":\"T0\",\"reason\":\"R\","
        "\"message\":\"m\",\"observedGeneration\":1}]";
    struct dm_condition same = { "Ready", "True", "R", "m", 1 };
    struct dm_condition newer = { "Ready", "True", "R", "m", 2 };
    struct dm_condition flipped = { "Ready", "False", "R", "m", 1 };
    struct dm_text t = { 0 };
    CHECK(!dm_jw_condition(&t, json(old), &same));
    t.n = 0;
    CHECK(dm_jw_condition(&t, json(old), &newer));
    CHECK(strstr(t.p, "\"T0\"") && strstr(t.p, "\"Other\""));
    t.n = 0;
    CHECK(dm_jw_condition(&t, json(old), &flipped));
    CHECK(!strstr(t.p, "\"T0\"") && strstr(t.p, "2023-11-14T22:13:20Z"));
    t.n = 0;
    CHECK(dm_jw_condition(&t, (struct dm_json){ 0 }, &same));
    CHECK(json(t.p).p != NULL);
    dm_text_fini(&t);
}

TEST(selectors_select)
{
    struct dm_json labels = json("{\"app\":\"x\",\"tier\":\"web\"}");
    static const struct {
        const char *selector;
        bool selects;
    } rows[] = {
        { "{}", true },
        { "{\"matchLabels\":{\"app\":\"x\"}}", true },
        { "{\"matchLabels\":{\"app\":\"x\",\"no\":\"\"}}", false },
        { "{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\",\"values\":[\"y\",\"x\"]}]}",
          true },
        { "{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"NotIn\",\"values\":[\"x\"]}]}",
          false },
        { "{\"matchExpressions\":[{\"key\":\"no\",\"operator\":\"NotIn\",\"values\":[\"x\"]}]}",
          true },
        { "{\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"Exists\"}]}", true },
        { "{\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"DoesNotExist\"}]}", false },
        { "{\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"Gt\",\"values\":[\"1\"]}]}",
          false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (dm_selects(json(rows[i].selector), labels) != rows[i].selects)
            TEST_FAIL("%s", rows[i].selector);
    CHECK(!dm_selects((struct dm_json){ 0 }, labels));
    CHECK(dm_selects(json("{}"), (struct dm_json){ 0 }));
}

TEST_MAIN
