/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API server on its store when a call fails: requests that create, replace, patch, list, watch
 * and delete through the in-process transport, and the end and the next start of the server.
 *
 * What must hold: a request that was not done says so, with a status of the server's fault (5xx) or
 * the end of the call; what was acknowledged is there, before and after the next start; a watch has
 * told of each acknowledged change, or has ended. After an error it is unknown whether the change
 * was made: the first read tells, and it stays.
 */
#include "api_fixture.h"

#include "base/mem.h"
#include "torture.h"

#include <errno.h>

enum { MAPS_MAX = 2 };

/* What the API has said of one ConfigMap. */
struct object {
    int value;    /* 0: absent */
    int perhaps;  /* after an error: this, or `value` */
    bool unknown; /* whether `perhaps` counts */
};

static struct state {
    struct fixture f;
    struct object map[MAPS_MAX];
    uint64_t rev; /* of the newest change that was acknowledged */
    bool is_up;   /* the server */

    struct exchange *watch;
    struct buf seen;
    bool watch_ended;
} * st;

/* ------------------------------------------------------------------ requests */

struct reply {
    int status, r;
    bool is_over;
    struct buf body;
};

static void reply_on_head(void *arg, int status, const struct headers *headers)
{
    struct reply *a = arg;
    CHECK(a->status == 0);
    a->status = status;
}

static void reply_on_data(void *arg, struct str chunk)
{
    struct reply *a = arg;
    CHECK_OK(buf_add_str(&a->body, chunk));
}

static void reply_on_end(void *arg, int r, const struct err *err)
{
    struct reply *a = arg;
    CHECK(!a->is_over);
    a->is_over = true;
    a->r = r;
}

static const struct exchange_events reply_events = { .on_head = reply_on_head,
                                                     .on_data = reply_on_data,
                                                     .on_end = reply_on_end };

/* An arena without memory is one at its limit, for which the client's object is too large. */
static bool may_answer(int status)
{
    bool is_memory = torture_error() == ENOMEM && status == 413;
    return status == 404 || is_memory || (status >= 500 && torture_failed());
}

/* The status; 0 where the call ended without or in the middle of the answer. */
static int ask_status(const char *method, const char *target, const char *body, struct buf *ret)
{
    struct reply a = { .body = BUF_INIT(1 << 20) };
    struct headers h = { 0 };
    struct exchange *call;
    struct err err = { 0 };
    bool is_patch = strcmp(method, "PATCH") == 0;
    torture_own(true);
    CHECK_OK(headers_addc(&h, "content-type",
                          is_patch ? "application/merge-patch+json" : "application/json"));
    torture_own(false);
    const struct kube_request req = {
        .method = str_of(method), .target = str_of(target), .headers = &h, .body = str_of(body)
    };
    a.r = transport_start(api_transport(st->f.api), &req, &reply_events, &a, &call, &err);
    while (a.r >= 0 && !a.is_over)
        (void)loop_turn(&st->f.loop, true);
    headers_fini(&h);
    if (a.r < 0) {
        if (!torture_failed())
            TEST_FAIL("%s %s: %s", method, target, err_name(a.r));
        a.status = 0;
    }
    if (a.status >= 400 && !may_answer(a.status))
        TEST_FAIL("%s %s: %d %s", method, target, a.status, buf_cstr(&a.body));
    if (ret)
        *ret = a.body;
    else
        buf_fini(&a.body);
    return a.status;
}

static bool is_done(int status)
{
    return status >= 200 && status < 300;
}

static struct json *parsed(struct buf *body)
{
    struct json *v = NULL;
    torture_own(true);
    struct str text = str_copy_arena(&st->f.arena, buf_str(body));
    CHECK_OK(json_parse(&st->f.arena, text, NULL, &v, NULL));
    torture_own(false);
    buf_fini(body);
    return v;
}

static void path_of(int i, char to[64])
{
    (void)snprintf(to, 64, MAPS "/m%d", i);
}

/* value 0: delete */
static void change(const char *method, int i, int value)
{
    struct object *m = &st->map[i];
    char path[64], body[256];
    struct buf answer = { 0 };
    path_of(i, path);
    (void)snprintf(body, sizeof body,
                   "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"m%d\"},"
                   "\"data\":{\"k\":\"%d\"}}",
                   i, value);
    bool is_create = strcmp(method, "POST") == 0;
    int status = ask_status(method, is_create ? MAPS : path, value ? body : "", &answer);
    if (is_done(status)) {
        struct json *obj = parsed(&answer);
        if (value)
            st->rev = rev_of(obj);
        *m = (struct object){ .value = value };
        return;
    }
    buf_fini(&answer);
    if (status == 404) { /* the creation had failed */
        CHECK(!m->value || (m->unknown && !m->perhaps));
        *m = (struct object){ 0 };
        return;
    }
    m->unknown = true;
    m->perhaps = value;
}

static void read_map(int i, bool must_work)
{
    struct object *m = &st->map[i];
    char path[64];
    struct buf answer = { 0 };
    uint64_t got = 0;
    path_of(i, path);
    int status = ask_status("GET", path, "", &answer);
    CHECK(!must_work || is_done(status) || status == 404);
    if (!is_done(status) && status != 404) {
        buf_fini(&answer);
        return;
    }
    if (status == 404)
        buf_fini(&answer);
    else
        CHECK_OK(parse_u64(text_at(parsed(&answer), "data", "k"), 1, UINT64_MAX, &got));
    if ((int)got != m->value && !(m->unknown && (int)got == m->perhaps))
        TEST_FAIL("m%d is %d, acknowledged was %d", i, (int)got, m->value);
    *m = (struct object){ .value = (int)got };
}

static void list_all(bool must_work)
{
    struct buf answer = { 0 };
    int status = ask_status("GET", MAPS "?limit=500", "", &answer);
    CHECK(!must_work || is_done(status));
    if (!is_done(status)) {
        buf_fini(&answer);
        return;
    }
    const struct json *items = json_getc(parsed(&answer), "items");
    size_t n = 0, n_least = 0, n_most = 0;
    json_each (item, items)
        n += str_has_prefix(text_at(item, "metadata", "name"), STR("m"));
    for (int i = 0; i < MAPS_MAX; i++) {
        const struct object *m = &st->map[i];
        n_least += m->value && !m->unknown;
        n_most += m->value || m->unknown;
    }
    CHECK(n >= n_least && n <= n_most);
}

/* ------------------------------------------------------------------ a watch */

static void seen_on_head(void *arg, int status, const struct headers *headers)
{
    CHECK(status == 200 || torture_failed());
}

static void seen_on_data(void *arg, struct str chunk)
{
    torture_own(true);
    CHECK_OK(buf_add_str(&st->seen, chunk));
    torture_own(false);
}

static void seen_on_end(void *arg, int r, const struct err *err)
{
    CHECK(!st->watch_ended);
    st->watch_ended = true;
}

static const struct exchange_events seen_events = { .on_head = seen_on_head,
                                                    .on_data = seen_on_data,
                                                    .on_end = seen_on_end };

static void start_watch(void)
{
    char target[128];
    st->seen = (struct buf)BUF_INIT(1 << 20);
    st->watch_ended = false;
    (void)snprintf(target, sizeof target, MAPS "?watch=1&resourceVersion=%llu",
                   (unsigned long long)store_revision(st->f.store));
    const struct kube_request req = { .method = STR("GET"), .target = str_of(target) };
    int r = transport_start(api_transport(st->f.api), &req, &seen_events, NULL, &st->watch, NULL);
    CHECK(r >= 0 || torture_failed());
    st->watch_ended = r < 0;
}

/* Its last event is the last change, unless it has ended or says that it cannot go on. */
static void check_watch(void)
{
    char rev[48];
    (void)snprintf(rev, sizeof rev, "\"resourceVersion\":\"%llu\"", (unsigned long long)st->rev);
    while (!st->watch_ended && str_find(buf_str(&st->seen), str_of(rev)) < 0)
        (void)loop_turn(&st->f.loop, true);
    if (st->watch_ended)
        CHECK(torture_failed());
}

/* ------------------------------------------------------------------ the server */

/* As far as it goes. */
static void try_start(void)
{
    struct fixture *f = &st->f;
    struct err err = { 0 };
    char path[64];
    (void)snprintf(path, sizeof path, "%s/store.db", f->dir);
    int r = store_open(&f->loop, &(struct store_opts){ .path = path }, &f->store, &err);
    if (r >= 0) {
        const struct api_opts opts = { .loop = &f->loop,
                                       .store = f->store,
                                       .admin_token = STR("secret") };
        r = api_new(&opts, &f->api, &err);
        if (r < 0) {
            store_close(f->store, on_done, f);
            wait_done(f);
        }
    }
    st->is_up = r >= 0;
    if (r >= 0) {
        api_start(f->api, on_ready, f);
        wait_done(f);
        r = f->r;
    }
    if (r < 0 && !torture_failed())
        TEST_FAIL("start: %s", err_name(r));
    if (r < 0 && st->is_up) {
        close_server(f);
        st->is_up = false;
    }
}

static void work(void)
{
    start_watch();
    change("POST", 0, 1);
    change("PUT", 0, 2);
    change("POST", 1, 3);
    change("PATCH", 1, 4);
    read_map(0, false);
    list_all(false);
    change("DELETE", 0, 0);
    change("PATCH", 1, 5);
    read_map(1, false);
}

static void check_all(void)
{
    for (int i = 0; i < MAPS_MAX; i++)
        read_map(i, true);
    list_all(true);
}

/* The server works without being started again. */
static void check_recovered(void)
{
    check_all();
    change(st->map[1].value ? "PUT" : "POST", 1, 100);
    CHECK_INT(st->map[1].value, 100);
    check_watch();
}

static void api_scenario(void)
{
    st = xnew(struct state);
    fixture_init(&st->f);
    torture_on();
    work();
    torture_off();
    check_recovered();
    if (!st->watch_ended)
        exchange_cancel(st->watch);
    while (!st->watch_ended)
        (void)loop_turn(&st->f.loop, true);
    buf_fini(&st->seen);
    torture_on();
    close_server(&st->f);
    try_start();
    torture_off();
    if (!st->is_up)
        open_server(&st->f);
    check_all();
    fixture_fini(&st->f);
    free(st);
}

TEST(what_the_api_has_acknowledged_survives_each_failing_call)
{
    torture_run("the API", api_scenario);
}

TEST_MAIN
