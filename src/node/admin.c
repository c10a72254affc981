/* SPDX-License-Identifier: Apache-2.0 */
/* The admin socket; see admin.h. */
#include "node/admin.h"

#include "base/mem.h"
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

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    struct admin *a = arg;
    struct headers h = { 0 };
    struct str path;
    (void)str_cut(req->target, '?', &path, &(struct str){ 0 });
    if (!str_is(req->method, "GET")) {
        http_reply(x, 405, NULL, STR("only GET here\n"));
        return;
    }
    for (const struct admin_page *p = a->pages; p->path; p++) {
        if (!str_is(path, p->path))
            continue;
        scoped(buf_fini_scoped) struct buf body = BUF_INIT(ADMIN_PAGE_MAX_BYTES);
        p->render(a->arg, &body);
        (void)headers_addc(&h, "content-type", p->content_type);
        http_reply(x, buf_ok(&body) ? 200 : 500, &h, buf_str(&body));
        headers_fini(&h);
        return;
    }
    http_reply(x, 404, NULL, STR("no such page; there are /metrics, /guests and /status\n"));
}

int admin_start(struct loop *loop, const char *data_dir, const struct admin_page *pages, void *arg,
                struct admin **ret, struct err *err)
{
    struct admin *a = xnew(struct admin);
    a->pages = pages;
    a->arg = arg;
    a->path = xasprintf("%s/admin.sock", data_dir);
    /* The data directory is locked by us: whoever made this socket is gone. */
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
