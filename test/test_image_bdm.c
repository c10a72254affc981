/* SPDX-License-Identifier: Apache-2.0 */
/* Deployment manifests: round trips, what is refused and why, and tokens. */
#include "base/mem.h"
#include "image/bdm.h"
#include "test.h"

#include <string.h>

#define KEY    STR("0123456789abcdef0123456789abcdef")
#define DEPLOY "01234567-89ab-cdef-0123-456789abcdef"
#define AA     "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const char example[] =
    "{\"v\":1,\"deploy\":\"" DEPLOY
    "\",\"epoch\":41,\"image\":{\"ref\":\"library/redis:7\",\"manifest\":"
    "\"" AA "\",\"config\":\"" AA
    "\"},\"binding\":{\"node\":\"n1\",\"url\":\"https://10.0.0.11:7443\"},"
    "\"deadline_ms\":60000,\"tasks\":[{\"id\":1,\"blob\":\"" AA "\",\"diff\":\"" AA
    "\",\"size\":42243806,"
    "\"raw_size\":140000000,\"enc\":\"gzip\",\"range\":[0,42243806],\"prio\":0,"
    "\"src\":{\"kind\":\"peer\",\"node\":\"n2\",\"token\":\"abc\",\"url\":\"http://"
    "10.0.0.12:7443\"},"
    "\"alt\":[{\"kind\":\"peer\",\"node\":\"n4\"},{\"kind\":\"registry\",\"repo\":\"library/"
    "redis\"}],"
    "\"expect_ms\":910}]}";

TEST(a_document_is_read_and_written_again_byte_for_byte)
{
    struct arena a = { 0 };
    struct image_bdm b;
    struct err err;
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
    CHECK_OK(image_bdm_parse(&a, str_of(example), &b, &err));
    CHECK_INT(b.epoch, 41);
    CHECK_STR(b.node, "n1");
    CHECK_INT(b.n_tasks, 1);
    const struct image_bdm_task *t = &b.tasks[0];
    CHECK_INT(t->encoding, IMAGE_BDM_GZIP);
    CHECK_INT(t->to, 42243806);
    CHECK(!t->source.is_registry && !t->is_after);
    CHECK_STR(t->source.url, "http://10.0.0.12:7443");
    CHECK_INT(t->n_alternatives, 2);
    CHECK(t->alternatives[1].is_registry);
    CHECK_STR(t->alternatives[1].name, "library/redis");
    image_bdm_write(&b, STR(""), &out);
    CHECK_STR(buf_str(&out), example);
    arena_fini(&a);
}

TEST(a_prefetch_says_so)
{
    struct arena a = { 0 };
    struct image_bdm b;
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
    CHECK_OK(image_bdm_parse(&a, str_of(example), &b, NULL));
    CHECK(!b.is_prefetch);
    b.is_prefetch = true;
    image_bdm_write(&b, STR(""), &out);
    CHECK_OK(image_bdm_parse(&a, buf_str(&out), &b, NULL));
    CHECK(b.is_prefetch);
    arena_fini(&a);
}

/* `example` with one text in the place of another. */
static int parse_with(const char *from, const char *to, struct err *err)
{
    struct arena a = { 0 };
    struct image_bdm b;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    const char *at = strstr(example, from);
    CHECK(at);
    (void)buf_add(&text, example, (size_t)(at - example));
    (void)buf_add_cstr(&text, to);
    (void)buf_add_cstr(&text, at + strlen(from));
    int r = image_bdm_parse(&a, buf_str(&text), &b, err);
    arena_fini(&a);
    return r;
}

TEST(what_makes_no_sense_is_refused_and_named)
{
    static const struct {
        const char *from, *to, *want;
        int code;
    } t[] = {
        { "\"v\":1", "\"v\":2", "version 2", E_VERSION },
        { "\"v\":1", "\"w\":1", "v: ", E_INVALID },
        { DEPLOY, "01234567-89AB-cdef-0123-456789abcdef", "deploy: not a UUID", E_INVALID },
        { "\"epoch\":41", "\"epoch\":-1", "epoch: ", E_INVALID },
        { "library/redis:7", "library/redis 7", "ref: ", E_INVALID },
        { "library/redis:7", "a\\nb", "ref: ", E_INVALID },
        { "sha256:", "sha512:", "manifest: not a sha256 digest", E_INVALID },
        { "https://10", "ftp://10", "url: neither http nor https", E_INVALID },
        { "\"n1\"", "\"../n1\"", "node: not the name of a node", E_INVALID },
        { "\"n2\"", "\"N2\"", "tasks[0].node: ", E_INVALID },
        { "60000", "90000000", "deadline_ms: ", E_INVALID },
        { "[0,42243806]", "[0,42243807]", "tasks[0].range: ", E_INVALID },
        { "[0,42243806]", "[5,4]", "tasks[0].range: ", E_INVALID },
        { "[0,42243806]", "[0]", "tasks[0].range: ", E_INVALID },
        { "[0,42243806]", "0", "tasks[0].range: ", E_INVALID },
        { "\"gzip\"", "\"lz4\"", "tasks[0].enc: ", E_INVALID },
        { "\"prio\":0", "\"prio\":0,\"mode\":\"throw\"", "tasks[0].mode: ", E_INVALID },
        { "\"prio\":0", "\"prio\":0,\"mode\":1", "tasks[0].mode: ", E_INVALID },
        { "\"prio\":0,\"src\":{\"kind\":\"peer\",\"node\":\"n2\"",
          "\"prio\":0,\"mode\":\"push\",\"src\":{\"kind\":\"registry\",\"repo\":\"n2\"",
          "tasks[0].mode: ", E_INVALID },
        { "\"library/redis\"", "\"library/../redis\"", "tasks[0].repo: ", E_INVALID },
        { "\"kind\":\"peer\"", "\"kind\":\"moon\"", "tasks[0].src: ", E_INVALID },
        { "\"id\":1", "\"id\":4294967296", "tasks[0].id: ", E_INVALID },
        { "42243806,", "1125899906842625,", "tasks[0].size: ", E_INVALID },
        { "\"tasks\":[", "\"tasks\":7,\"x\":[", "tasks: ", E_LIMIT },
        { "}]}", "},7]}", "tasks[1].id: ", E_INVALID },
        { "]}", "]", "", E_PARSE },
        { "41,", "41,\"x\":[[[[[[[[[[]]]]]]]]]],", "", E_PARSE },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct err err = { 0 };
        int r = parse_with(t[i].from, t[i].to, &err);
        if (r != t[i].code || !str_has_prefix(str_of(err_text(&err)), str_of(t[i].want)))
            TEST_FAIL("%s: %s, %s", t[i].to, err_name(r), err_text(&err));
    }
    CHECK_OK(parse_with("41,", "41,\"later\":{\"unknown\":true},", NULL));
    CHECK_OK(parse_with("\"prio\":0", "\"prio\":0,\"mode\":\"pull\"", NULL));
    CHECK_OK(parse_with("\"prio\":0", "\"prio\":0,\"mode\":\"push\"", NULL));
    CHECK_OK(parse_with("\"enc\":\"gzip\",\"range\":[0,42243806]",
                        "\"enc\":\"raw\",\"range\":[0,140000000]", NULL));
}

TEST(ids_do_not_repeat_and_tasks_are_bounded)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(8 << 20);
    struct arena a = { 0 };
    struct image_bdm b, got;
    struct err err;
    CHECK_OK(image_bdm_parse(&a, str_of(example), &b, &err));
    struct image_bdm_task *tasks = arena_new_n(&a, struct image_bdm_task, IMAGE_BDM_TASKS_MAX + 1);
    for (uint32_t i = 0; i <= IMAGE_BDM_TASKS_MAX; i++) {
        tasks[i] = b.tasks[0];
        tasks[i].id = i + 1;
    }
    b.tasks = tasks;
    b.n_tasks = IMAGE_BDM_TASKS_MAX;
    image_bdm_write(&b, STR(""), &out);
    CHECK_OK(image_bdm_parse(&a, buf_str(&out), &got, &err));
    CHECK_INT(got.n_tasks, IMAGE_BDM_TASKS_MAX);
    buf_reset(&out);
    b.n_tasks++;
    image_bdm_write(&b, STR(""), &out);
    CHECK_ERR(image_bdm_parse(&a, buf_str(&out), &got, &err), E_LIMIT);
    buf_reset(&out);
    b.n_tasks = 2;
    tasks[1].id = 1;
    image_bdm_write(&b, STR(""), &out);
    CHECK_ERR(image_bdm_parse(&a, buf_str(&out), &got, &err), E_INVALID);
    arena_fini(&a);
}

TEST(a_peer_gets_its_own_tasks_alone)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
    struct arena a = { 0 };
    struct image_bdm b, got;
    struct err err;
    CHECK_OK(image_bdm_parse(&a, str_of(example), &b, &err));
    struct image_bdm_task tasks[4] = { b.tasks[0], b.tasks[0], b.tasks[0], b.tasks[0] };
    tasks[0].is_push = tasks[1].is_push = true;
    tasks[1].id = 2;
    tasks[1].source.name = STR("n3");
    tasks[2].id = 3;
    tasks[2].source = (struct image_bdm_source){ .is_registry = true, .name = STR("n2") };
    tasks[2].is_after = true;
    tasks[3].id = 4; /* which it is to be asked for */
    b.tasks = tasks;
    b.n_tasks = 4;
    image_bdm_write(&b, STR("n2"), &out);
    CHECK_OK(image_bdm_parse(&a, buf_str(&out), &got, &err));
    CHECK_INT(got.n_tasks, 1);
    CHECK_INT(got.tasks[0].id, 1);
    CHECK(got.tasks[0].is_push);
    CHECK_STR(got.tasks[0].source.token, "abc");
    CHECK_INT(got.tasks[0].n_alternatives, 0); /* whose tokens are not its business */
    buf_reset(&out);
    image_bdm_write(&b, STR(""), &out);
    CHECK_OK(image_bdm_parse(&a, buf_str(&out), &got, &err));
    CHECK_INT(got.n_tasks, 4);
    CHECK(got.tasks[2].is_after && !got.tasks[2].is_push && got.tasks[1].is_push);
    CHECK_INT(got.tasks[0].n_alternatives, 2);
    arena_fini(&a);
}

/* ---- tokens ---- */

static struct image_bdm_grant grant(void)
{
    struct image_bdm_grant g = { .deploy = STR(DEPLOY), .source = STR("n2"), .node = STR("n1") };
    CHECK_OK(oci_digest_parse(STR(AA), &g.blob, NULL));
    return g;
}

TEST(a_token_holds_for_its_grant_and_its_time_with_five_minutes_of_slack)
{
    struct image_bdm_grant g = grant();
    char token[IMAGE_BDM_TOKEN_SIZE];
    image_bdm_token(KEY, &g, 1000000, 60, token);
    static const struct {
        int64_t at;
        bool ok;
    } t[] = { { 1000000, true },
              { 1000060, true },
              { 1000060 + 300, true },
              { 1000060 + 301, false },
              { 1000000 - 300, true },
              { 1000000 - 301, false },
              { 0, false } };
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        CHECK((image_bdm_token_check(KEY, &g, str_of(token), t[i].at, NULL) >= 0) == t[i].ok);
}

TEST(a_token_is_for_one_blob_one_deployment_and_two_nodes)
{
    struct image_bdm_grant g = grant(), other;
    char token[IMAGE_BDM_TOKEN_SIZE];
    image_bdm_token(KEY, &g, 1000, 60, token);
    struct str text = str_of(token);
    CHECK_OK(image_bdm_token_check(KEY, &g, text, 1000, NULL));
    other = g;
    other.blob.bytes[31] ^= 1;
    CHECK_ERR(image_bdm_token_check(KEY, &other, text, 1000, NULL), E_DENIED);
    other = g;
    other.source = STR("n1");
    other.node = STR("n2");
    CHECK_ERR(image_bdm_token_check(KEY, &other, text, 1000, NULL), E_DENIED);
    other = g;
    other.deploy = STR("11234567-89ab-cdef-0123-456789abcdef");
    CHECK_ERR(image_bdm_token_check(KEY, &other, text, 1000, NULL), E_DENIED);
    other = g; /* the fields cannot be shifted into each other */
    other.source = STR("n2\nn1");
    CHECK_ERR(image_bdm_token_check(KEY, &other, text, 1000, NULL), E_DENIED);
    CHECK_ERR(image_bdm_token_check(STR("0123456789abcdef0123456789abcdeX"), &g, text, 1000, NULL),
              E_DENIED);
}

TEST(a_token_with_a_changed_byte_is_refused)
{
    struct image_bdm_grant g = grant();
    char token[IMAGE_BDM_TOKEN_SIZE];
    image_bdm_token(KEY, &g, 1000, 60, token);
    size_t n = strlen(token);
    for (size_t i = 0; i < n; i++) {
        token[i] ^= 1;
        CHECK_ERR(image_bdm_token_check(KEY, &g, str_of(token), 1000, NULL), E_DENIED);
        token[i] ^= 1;
        CHECK_ERR(image_bdm_token_check(KEY, &g, str_n(token, i), 1000, NULL), E_DENIED);
    }
    CHECK_ERR(image_bdm_token_check(KEY, &g, STR("99999999999999999999.0.x"), 1000, NULL),
              E_DENIED);
    CHECK_OK(image_bdm_token_check(KEY, &g, str_of(token), 1000, NULL));
}

TEST_MAIN
