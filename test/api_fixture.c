/* SPDX-License-Identifier: Apache-2.0 */
/* A server to be asked; see api_fixture.h. */
#include "api_fixture.h"

#include "api/controllers/controllers.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>

/* ------------------------------------------------------------------ a server */

void on_ready(void *arg, int r, const struct err *err)
{
    struct fixture *f = arg;
    if (r < 0)
        (void)fprintf(stderr, "# not ready: %s\n", err_text(err));
    f->done = true;
    f->r = r;
}

void on_done(void *arg)
{
    struct fixture *f = arg;
    f->done = true;
}

void wait_done(struct fixture *f)
{
    while (!f->done)
        (void)loop_turn(&f->loop, true);
    f->done = false;
}

void open_server(struct fixture *f)
{
    struct err err = { 0 };
    scoped(free_scoped) char *path = xasprintf("%s/store.db", f->dir);
    CHECK_OK(store_open(&f->loop, &(struct store_opts){ .path = path }, &f->store, &err));
    if (f->opened)
        f->opened(f);
    CHECK_OK(api_new(&(struct api_opts){ .loop = &f->loop,
                                         .store = f->store,
                                         .admin_token = STR("secret"),
                                         .ca_cert = f->ca_cert,
                                         .ca_key = f->ca_key,
                                         .sa_key = f->sa_key,
                                         .rbac = f->rbac,
                                         .event_ttl_ms = f->event_ttl_ms,
                                         .watch_min_ms = f->watch_min_ms },
                     &f->api, &err));
    api_start(f->api, on_ready, f);
    wait_done(f);
    CHECK_OK(f->r);
}

void close_server(struct fixture *f)
{
    api_close(f->api, 1000, on_done, f);
    wait_done(f);
    store_close(f->store, on_done, f);
    wait_done(f);
}

void fixture_init(struct fixture *f)
{
    struct err err = { 0 };
    *f = (struct fixture){ 0 };
    /* In memory where there is such a place: these tests are not about the disk. */
    (void)snprintf(f->dir, sizeof f->dir, "%s/dm-test-api-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    CHECK(mkdtemp(f->dir));
    CHECK_OK(loop_init(&f->loop, &err));
    open_server(f);
}

/* With the files that the store has made. */
static void remove_dir(const char *path)
{
    DIR *d = opendir(path);
    CHECK(d);
    for (const struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            CHECK_OK(unlinkat(dirfd(d), e->d_name, 0));
    (void)closedir(d);
    CHECK_OK(rmdir(path));
}

void fixture_fini(struct fixture *f)
{
    close_server(f);
    while (loop_turn(&f->loop, false))
        ;
    loop_fini(&f->loop);
    arena_fini(&f->arena);
    remove_dir(f->dir);
}

/* ------------------------------------------------------------------ requests */

static void answer_head(void *arg, int status, const struct headers *headers)
{
    struct answer *a = arg;
    CHECK(a->status == 0);
    a->status = status;
    CHECK_OK(headers_copy(&a->headers, headers));
}

static void answer_data(void *arg, struct str chunk)
{
    struct answer *a = arg;
    CHECK_OK(buf_add_str(&a->body, chunk));
}

static void answer_end(void *arg, int r, const struct err *err)
{
    struct answer *a = arg;
    (void)err;
    a->r = r;
    a->f->done = true;
}

static const struct exchange_events answer_events = { .on_head = answer_head,
                                                      .on_data = answer_data,
                                                      .on_end = answer_end };

struct answer ask_bytes(struct fixture *f, const char *method, const char *target, const char *type,
                        const char *accept, struct str body)
{
    struct answer a = { .f = f, .body = BUF_INIT(64 << 20) };
    struct headers h = { 0 };
    struct exchange *call;
    struct err err = { 0 };
    if (type)
        CHECK_OK(headers_addc(&h, "content-type", type));
    if (accept)
        CHECK_OK(headers_addc(&h, "accept", accept));
    const struct kube_request req = { .identity = f->identity,
                                      .method = str_of(method),
                                      .target = str_of(target),
                                      .headers = &h,
                                      .body = body };
    CHECK_OK(transport_start(api_transport(f->api), &req, &answer_events, &a, &call, &err));
    CHECK(a.status == 0);
    wait_done(f);
    CHECK_OK(a.r);
    headers_fini(&h);
    struct str text = str_copy_arena(&f->arena, buf_str(&a.body));
    if (json_parse(&f->arena, text, NULL, &a.json, NULL) < 0)
        a.json = NULL;
    return a;
}

struct answer ask(struct fixture *f, const char *method, const char *target, const char *type,
                  const char *accept, const char *body)
{
    return ask_bytes(f, method, target, type, accept, body ? str_of(body) : STR(""));
}

void answer_fini(struct answer *a)
{
    buf_fini(&a->body);
    headers_fini(&a->headers);
}

/* Ask, check the status, return the parsed answer (in the fixture's arena). */
struct json *want(struct fixture *f, int status, const char *method, const char *target,
                  const char *body)
{
    const char *type =
        strcmp(method, "PATCH") == 0 ? "application/merge-patch+json" : "application/json";
    struct answer a = ask(f, method, target, body ? type : NULL, NULL, body);
    if (a.status != status)
        TEST_FAIL("%s %s: status %d, expected %d: %s", method, target, a.status, status,
                  buf_cstr(&a.body));
    answer_fini(&a);
    return a.json;
}

struct str text_at(const struct json *v, const char *k1, const char *k2)
{
    return json_get_str(json_getc(v, k1), k2);
}

uint64_t rev_of(const struct json *obj)
{
    uint64_t v = 0;
    CHECK_OK(parse_u64(text_at(obj, "metadata", "resourceVersion"), 1, UINT64_MAX, &v));
    return v;
}

struct json *make_map(struct fixture *f, const char *name, const char *value)
{
    scoped(free_scoped) char *body =
        xasprintf("{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\"},"
                  "\"data\":{\"k\":\"%s\"}}",
                  name, value);
    return want(f, 201, "POST", MAPS, body);
}

/* ------------------------------------------------------------------ watches */

static void watching_head(void *arg, int status, const struct headers *headers)
{
    struct watching *w = arg;
    (void)headers;
    w->status = status;
}

static void watching_data(void *arg, struct str chunk)
{
    struct watching *w = arg;
    CHECK_OK(buf_add_str(&w->text, chunk));
}

static void watching_end(void *arg, int r, const struct err *err)
{
    struct watching *w = arg;
    (void)err;
    w->end = r;
    w->ended = true;
}

const struct exchange_events watching_events = { .on_head = watching_head,
                                                 .on_data = watching_data,
                                                 .on_end = watching_end };

void watch_through(struct fixture *f, struct transport *t, struct watching *w, const char *target,
                   const char *accept)
{
    struct err err = { 0 };
    struct headers h = { 0 };
    *w = (struct watching){ .f = f, .text = BUF_INIT(64 << 20) };
    if (accept)
        CHECK_OK(headers_addc(&h, "accept", accept));
    const struct kube_request req = {
        .identity = f->identity, .method = STR("GET"), .target = str_of(target), .headers = &h
    };
    CHECK_OK(transport_start(t, &req, &watching_events, w, &w->call, &err));
    headers_fini(&h);
    while (w->status == 0 && !w->ended)
        (void)loop_turn(&f->loop, true);
}

void watch_as(struct fixture *f, struct watching *w, const char *target, const char *accept)
{
    watch_through(f, api_transport(f->api), w, target, accept);
}

void watch(struct fixture *f, struct watching *w, const char *target)
{
    watch_as(f, w, target, NULL);
}

/* The next event: "TYPE name rv" is what is compared mostly; the tree is returned. */
struct json *next_event(struct watching *w)
{
    struct str line, rest;
    while (!str_cut(buf_str(&w->text), '\n', &line, &rest)) {
        CHECK(!w->ended);
        (void)loop_turn(&w->f->loop, true);
    }
    struct json *v;
    struct err err = { 0 };
    struct str copy = str_copy_arena(&w->f->arena, line);
    CHECK_OK(json_parse(&w->f->arena, copy, NULL, &v, &err));
    buf_consume(&w->text, line.n + 1);
    return v;
}

struct json *expect(struct watching *w, const char *type, const char *name)
{
    struct json *e = next_event(w);
    if (!str_is(json_get_str(e, "type"), type))
        TEST_FAIL("event " STR_FMT ", expected %s", STR_ARG(json_get_str(e, "type")), type);
    if (name)
        CHECK_STR(text_at(json_getc(e, "object"), "metadata", "name"), name);
    return json_getc(e, "object");
}

void wait_end(struct watching *w)
{
    while (!w->ended)
        (void)loop_turn(&w->f->loop, true);
    buf_fini(&w->text);
}

void unwatch(struct watching *w)
{
    exchange_cancel(w->call);
    wait_end(w);
    CHECK_ERR(w->end, -ECANCELED);
}

void settle(struct fixture *f)
{
    while (api_parts_busy(f->api))
        (void)loop_turn(&f->loop, true);
}

bool there(struct fixture *f, const char *path)
{
    struct answer a = ask(f, "GET", path, NULL, NULL, NULL);
    CHECK(a.status == 200 || a.status == 404);
    bool yes = a.status == 200;
    answer_fini(&a);
    return yes;
}
