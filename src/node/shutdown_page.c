/* SPDX-License-Identifier: Apache-2.0 */
#include "node/shutdown_page.h"

#include "base/mem.h"
#include "codec/url.h"
#include "node/agent_node.h"

struct shutdown_page {
    struct http_exchange *x;
    struct agent_node *node;
    bool is_waiting;
};

static void on_done(void *arg, size_t n_ended, size_t n_left)
{
    struct shutdown_page *p = arg;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(128);
    p->is_waiting = false;
    (void)buf_printf(&text, "{\"ended\":%zu,\"left\":%zu}\n", n_ended, n_left);
    (void)http_write(p->x, buf_str(&text));
    http_end(p->x);
}

/* The pods end all the same. */
static void on_gone(struct http_exchange *x, int r)
{
    struct shutdown_page *p = http_exchange_data(x);
    (void)r;
    if (p->is_waiting)
        agent_node_shut_down_forget(p->node);
    free(p);
}

static void begin(struct agent_node *node, struct http_exchange *x, struct str groups)
{
    static const struct http_exchange_ops ops = { .on_gone = on_gone };
    struct pod_shutdown_plan plan;
    struct err err = { 0 };
    struct headers h = { 0 };
    struct shutdown_page *p = xnew(struct shutdown_page);
    *p = (struct shutdown_page){ .x = x, .node = node, .is_waiting = true };
    int r = pod_shutdown_read(groups, &plan, &err);
    r = r < 0 ? r : agent_node_shut_down(node, &plan, on_done, p, &err);
    if (r < 0) {
        free(p);
        http_reply(x, r == E_CONFLICT ? 409 : 400, NULL, str_of(err_text(&err)));
        return;
    }
    http_exchange_set(x, &ops, p);
    (void)headers_addc(&h, "content-type", "application/json");
    http_respond(x, 200, &h, HTTP_CHUNKED);
    headers_fini(&h);
}

bool shutdown_page_serve(struct agent_node *node, struct http_exchange *x,
                         const struct http_request *req)
{
    struct arena a = { 0 };
    struct url_target target;
    bool is_ours =
        url_parse(&a, req->target, &target, NULL) >= 0 && str_is(target.raw_path, "/node/shutdown");
    if (is_ours && !str_is(req->method, "POST"))
        http_reply(x, 405, NULL, STR("only POST here\n"));
    else if (is_ours && !node)
        http_reply(x, 404, NULL, STR("this process is no node of a cluster"));
    else if (is_ours)
        begin(node, x, url_query_get(&target, "groups"));
    arena_fini(&a);
    return is_ours;
}
