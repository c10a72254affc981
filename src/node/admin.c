/* SPDX-License-Identifier: Apache-2.0 */
/* The admin socket; see admin.h. */
#include "node/admin.h"

#include "base/mem.h"
#include "codec/url.h"
#include "io/http.h"

#include <unistd.h>

struct admin {
    struct http_server *server;
    const struct admin_page *pages;
    void *arg;
    char *path;
    void (*done)(void *arg);
    void *done_arg;
};

static void render(const struct admin *a, const struct admin_page *page,
                   const struct url_target *target, struct http_exchange *x)
{
    struct headers h = { 0 };
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(ADMIN_PAGE_MAX_BYTES);
    int status = page->render(a->arg, target, &body);
    (void)headers_addc(&h, "content-type", status == 200 ? page->content_type : "text/plain");
    http_reply(x, buf_ok(&body) ? status : 500, &h, buf_str(&body));
    headers_fini(&h);
}

static void answer(const struct admin *a, const struct url_target *target, struct http_exchange *x)
{
    for (const struct admin_page *p = a->pages; p->path || p->serve; p++) {
        if (!p->path || !str_is(target->raw_path, p->path))
            continue;
        if (p->stream)
            p->stream(a->arg, target, x);
        else
            render(a, p, target, x);
        return;
    }
    http_reply(x, 404, NULL, STR("no such page; node/admin.h lists them\n"));
}

static bool is_served(const struct admin *a, struct http_exchange *x,
                      const struct http_request *req)
{
    for (const struct admin_page *p = a->pages; p->path || p->serve; p++)
        if (p->serve && p->serve(a->arg, x, req))
            return true;
    return false;
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    if (is_served(arg, x, req))
        return;
    struct arena arena = { 0 };
    struct url_target target;
    struct err err;
    if (!str_is(req->method, "GET"))
        http_reply(x, 405, NULL, STR("only GET here\n"));
    else if (url_parse(&arena, req->target, &target, &err) < 0)
        http_reply(x, 400, NULL, str_of(err_text(&err)));
    else
        answer(arg, &target, x);
    arena_fini(&arena);
}

int admin_start(struct loop *loop, const char *data_dir, const struct admin_page *pages, void *arg,
                struct admin **ret, struct err *err)
{
    struct admin *a = xnew(struct admin);
    a->pages = pages;
    a->arg = arg;
    a->path = xasprintf("%s/admin.sock", data_dir);
    /* We hold the lock of the data directory, so the process that made this socket has ended. */
    (void)unlink(a->path);
    struct http_server_opts opts = { .unix_path = a->path, .on_request = on_request, .arg = a };
    int r = http_server_start(loop, &opts, &a->server, err);
    if (r < 0) {
        free(a->path);
        free(a);
        return err_ctx(err, r, "admin socket");
    }
    *ret = a;
    return 0;
}

static void on_closed(void *arg)
{
    struct admin *a = arg;
    void (*done)(void *) = a->done;
    void *done_arg = a->done_arg;
    (void)unlink(a->path);
    free(a->path);
    free(a);
    if (done)
        done(done_arg);
}

void admin_close(struct admin *a, void (*done)(void *arg), void *arg)
{
    a->done = done;
    a->done_arg = arg;
    http_server_close(a->server, 0, on_closed, a);
}
