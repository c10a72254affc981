/* SPDX-License-Identifier: Apache-2.0 */
/* Writes that lose against faster ones and are tried again. */
#include "api_fixture.h"

#include "api/write.h"
#include "base/mem.h"

/* ------------------------------------------------------------------ a faster writer */

/* Writes one key over and over, as another server on the same store may. */
struct rival {
    struct fixture *f;
    struct str key, value;
    unsigned left; /* writes to come */
};

static void rival_write(struct rival *v);

static void on_rival_written(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct rival *v = arg;
    (void)err;
    CHECK_OK(res->r);
    rival_write(v);
}

static void rival_write(struct rival *v)
{
    const struct store_op op = { .kind = STORE_PUT, .key = v->key, .value = v->value };
    if (v->left == 0)
        return;
    v->left--;
    CHECK_OK(store_txn(v->f->store, &op, 1, on_rival_written, v, NULL));
}

static void on_stored(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    struct rival *v = arg;
    (void)rev;
    (void)err;
    CHECK_OK(r);
    CHECK(kv);
    v->value = str_copy_arena(&v->f->arena, kv->value);
    v->f->done = true;
}

/* The rival will write what is under the key now. */
static struct rival rival_of(struct fixture *f, const char *key)
{
    struct rival v = { .f = f, .key = str_of(key) };
    CHECK_OK(store_get(f->store, v.key, 0, on_stored, &v, NULL));
    wait_done(f);
    return v;
}

/* ------------------------------------------------------------------ requests side by side */

struct patching {
    struct fixture *f;
    size_t *n_left;
    int status;
};

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct patching *p = arg;
    (void)headers;
    p->status = status;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct patching *p = arg;
    (void)err;
    CHECK_OK(r);
    p->f->done = --*p->n_left == 0;
}

static void patch(struct patching *p, const char *type, const char *target, const char *body)
{
    static const struct exchange_events events = { .on_head = on_head, .on_end = on_end };
    struct headers h = { 0 };
    struct exchange *call;
    CHECK_OK(headers_addc(&h, "content-type", type));
    const struct kube_request req = {
        .method = STR("PATCH"), .target = str_of(target), .headers = &h, .body = str_of(body)
    };
    CHECK_OK(transport_start(api_transport(p->f->api), &req, &events, p, &call, NULL));
    headers_fini(&h);
}

/* A ConfigMap of n keys with 24 bytes each. */
static void make_large(struct fixture *f, const char *name, size_t n)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4 << 20);
    (void)buf_printf(&b, "{\"metadata\":{\"name\":\"%s\"},\"data\":{", name);
    for (size_t i = 0; i < n; i++)
        (void)buf_printf(&b, "%s\"k%06zu\":\"012345678901234567890123\"", i ? "," : "", i);
    (void)buf_add_cstr(&b, "}}");
    (void)want(f, 201, "POST", MAPS, buf_cstr(&b));
}

/* A merge patch, or a forced apply. */
static void label_large(struct patching *p, size_t i)
{
    char target[128], body[256];
    if (i % 2) {
        (void)snprintf(body, sizeof body, "{\"metadata\":{\"labels\":{\"a%zu\":\"1\"}}}", i);
        patch(p, "application/merge-patch+json", MAPS "/large", body);
        return;
    }
    (void)snprintf(target, sizeof target, MAPS "/large?force=true&fieldManager=m%zu", i);
    (void)snprintf(body, sizeof body,
                   "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                   "\"name\":\"large\",\"labels\":{\"b%zu\":\"1\"}}}",
                   i);
    patch(p, "application/apply-patch+yaml", target, body);
}

TEST(a_patch_of_a_large_object_that_loses_many_times_is_still_done)
{
    enum { N = 80, LOST = 14 };
    struct fixture f;
    fixture_init(&f);
    make_large(&f, "large", 20000);
    struct rival v = rival_of(&f, "/registry/configmaps/default/large");
    struct patching all[N];
    size_t left = N;
    for (size_t i = 0; i < N; i++) {
        all[i] = (struct patching){ .f = &f, .n_left = &left };
        label_large(&all[i], i);
    }
    v.left = LOST;
    rival_write(&v);
    wait_done(&f);
    for (size_t i = 0; i < N; i++)
        CHECK_INT(all[i].status, 200);
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ namespaces */

/* Write what the server has not seen: by another server on the same store. */
static void on_written_behind(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct fixture *f = arg;
    (void)err;
    CHECK_OK(res->r);
    f->done = true;
}

static void write_behind(struct fixture *f, const struct store_op *op)
{
    f->done = false;
    CHECK_OK(store_txn(f->store, op, 1, on_written_behind, f, NULL));
    wait_done(f);
}

#define SPACE     "/api/v1/namespaces/space"
#define SPACE_KEY "/registry/namespaces/space"
#define SPACE_MAP(name)                                                                            \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name "\"}}"

static void make_space(struct fixture *f)
{
    want(f, 201, "POST", "/api/v1/namespaces",
         "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"space\"}}");
}

TEST(a_create_sees_each_change_of_its_namespace)
{
    struct fixture f;
    fixture_init(&f);
    make_space(&f);
    want(&f, 201, "POST", SPACE "/configmaps", SPACE_MAP("a"));
    CHECK(namespace_table_find(&f.api->namespace_table, STR("space")) > 0);
    want(&f, 200, "PUT", SPACE,
         "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"space\","
         "\"labels\":{\"a\":\"b\"}}}");
    want(&f, 201, "POST", SPACE "/configmaps", SPACE_MAP("b"));
    want(&f, 200, "DELETE", SPACE, NULL);
    CHECK(namespace_table_find(&f.api->namespace_table, STR("space")) == 0);
    struct json *no = want(&f, 403, "POST", SPACE "/configmaps", SPACE_MAP("c"));
    CHECK(str_find(json_get_str(no, "message"), STR("because it is being terminated")) > 0);
    settle(&f);
    want(&f, 404, "POST", SPACE "/configmaps", SPACE_MAP("c"));
    make_space(&f);
    want(&f, 201, "POST", SPACE "/configmaps", SPACE_MAP("c"));
    fixture_fini(&f);
}

TEST(a_namespace_that_another_server_changed_is_read_again)
{
    struct fixture f;
    fixture_init(&f);
    make_space(&f);
    want(&f, 201, "POST", SPACE "/configmaps", SPACE_MAP("a"));
    const struct rival v = rival_of(&f, SPACE_KEY);
    write_behind(&f, &(struct store_op){ .kind = STORE_PUT, .key = v.key, .value = v.value });
    want(&f, 201, "POST", SPACE "/configmaps", SPACE_MAP("b"));

    scoped(buf_fini_scoped) struct buf leaving = BUF_INIT(BUF_MAX_DEFAULT);
    long at = str_find(v.value, STR("\"metadata\":{")) + 12;
    (void)buf_add_str(&leaving, str_slice(v.value, 0, (size_t)at));
    (void)buf_add_cstr(&leaving, "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",");
    (void)buf_add_str(&leaving, str_slice(v.value, (size_t)at, v.value.n));
    write_behind(&f,
                 &(struct store_op){ .kind = STORE_PUT, .key = v.key, .value = buf_str(&leaving) });
    struct answer a =
        ask(&f, "POST", SPACE "/configmaps?dryRun=All", "application/json", NULL, SPACE_MAP("c"));
    CHECK(a.status == 403 || a.status == 404); /* the server has begun to empty it */
    answer_fini(&a);
    a = ask(&f, "POST", SPACE "/configmaps", "application/json", NULL, SPACE_MAP("c"));
    CHECK(a.status == 403 || a.status == 404);
    answer_fini(&a);
    settle(&f);

    make_space(&f);
    want(&f, 201, "POST", SPACE "/configmaps", SPACE_MAP("d"));
    want(&f, 200, "DELETE", SPACE "/configmaps/d", NULL);
    write_behind(&f, &(struct store_op){ .kind = STORE_DELETE, .key = STR(SPACE_KEY) });
    want(&f, 404, "POST", SPACE "/configmaps?dryRun=All", SPACE_MAP("e"));
    want(&f, 404, "POST", SPACE "/configmaps", SPACE_MAP("e"));
    fixture_fini(&f);
}

TEST(the_table_of_namespaces_is_bounded)
{
    struct namespace_table t = { 0 };
    char name[16];
    for (unsigned i = 0; i <= NAMESPACE_TABLE_MAX; i++) {
        snprintf(name, sizeof name, "n%u", i);
        namespace_table_put(&t, str_of(name), i + 1);
        CHECK(namespace_table_find(&t, str_of(name)) == i + 1);
        CHECK(t.revs.n <= NAMESPACE_TABLE_MAX);
    }
    namespace_table_put(&t, str_of(name), 1); /* read before the last write */
    CHECK(namespace_table_find(&t, str_of(name)) == NAMESPACE_TABLE_MAX + 1);
    namespace_table_forget(&t, str_of(name));
    CHECK(namespace_table_find(&t, str_of(name)) == 0);
    namespace_table_fini(&t);
}

/* ------------------------------------------------------------------ turns */

static unsigned n_turns;

static void on_turn(void *rq)
{
    (void)rq;
    n_turns++;
}

TEST(a_request_that_need_not_wait_for_its_turn_is_told_so_and_not_called)
{
    static const struct sink_ops no_sink;
    struct fixture f;
    fixture_init(&f);
    settle(&f);
    struct request *first = request_new(f.api, &no_sink, NULL);
    struct request *second = request_new(f.api, &no_sink, NULL);
    n_turns = 0;
    CHECK_INT(write_in_turn(first, STR("/registry/x"), on_turn), LINE_RUN);
    CHECK_INT(write_in_turn(second, STR("/registry/x"), on_turn), LINE_WAIT);
    CHECK_INT(n_turns, 0);
    request_gone(first);
    CHECK_INT(n_turns, 0);
    while (n_turns == 0)
        (void)loop_turn(&f.loop, true);
    request_gone(second);
    while (loop_turn(&f.loop, false))
        ;
    CHECK_INT(n_turns, 1);
    fixture_fini(&f);
}

TEST_MAIN
