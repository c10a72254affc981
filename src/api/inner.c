/* SPDX-License-Identifier: Apache-2.0 */
/* In-process calls; see inner.h. */
#include "api/inner.h"

#include <assert.h>

struct inner {
    inner_cb cb;
    void *arg;
    int status;
    bool only_status;
    struct buf body;
};

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct inner *in = arg;
    (void)headers;
    in->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct inner *in = arg;
    if (!in->only_status)
        (void)buf_add_str(&in->body, chunk);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct inner *in = arg;
    (void)err;
    if (r >= 0)
        r = buf_ok(&in->body) ? in->status : in->body.failed;
    in->cb(in->arg, r, r < 0 ? STR("") : buf_str(&in->body));
    buf_fini(&in->body);
    free(in);
}

static const struct exchange_events events = { .on_head = on_head,
                                               .on_data = on_data,
                                               .on_end = on_end };

int inner_call(struct api *api, const struct inner_request *req, inner_cb cb, void *arg)
{
    assert(cb && req->method && req->target.n);
    struct headers h = { 0 };
    struct inner *in = xnew(struct inner);
    struct exchange *call;
    *in = (struct inner){
        .cb = cb, .arg = arg, .only_status = req->only_status, .body = BUF_INIT(BUF_MAX_DEFAULT)
    };
    if (req->content_type)
        (void)headers_addc(&h, "content-type", req->content_type);
    if (req->accept)
        (void)headers_addc(&h, "accept", req->accept);
    (void)headers_addc(&h, "user-agent", "kube-apiserver"); /* becomes the field manager */
    static const struct str masters = { "system:masters", 14 };
    static const struct kube_identity self = { .user = { API_CONTROLLER_USER,
                                                         sizeof API_CONTROLLER_USER - 1 },
                                               .groups = &masters,
                                               .n_groups = 1 };
    const struct kube_request kr = { .identity = &self,
                                     .method = str_of(req->method),
                                     .target = req->target,
                                     .headers = &h,
                                     .body = req->body };
    int r = transport_start(&api->transport, &kr, &events, in, &call, NULL);
    headers_fini(&h);
    if (r < 0)
        free(in);
    return r;
}

struct str inner_path(struct arena *a, const struct kube_resource *res, struct str ns,
                      struct str name)
{
    const char *root = res->group.n ? "/apis/" : "/api/";
    const char *scope = ns.n ? arena_printf(a, "/namespaces/" STR_FMT, STR_ARG(ns)) : "";
    return str_of(arena_printf(a, "%s" STR_FMT "%s/" STR_FMT "%s" STR_FMT, root,
                               STR_ARG(kube_api_version(a, res)), scope, STR_ARG(res->plural),
                               name.n ? "/" : "", STR_ARG(name)));
}
