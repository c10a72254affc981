/* SPDX-License-Identifier: Apache-2.0 */
/* One request to the API; see ask.h. */
#include "client/ask.h"

#include <errno.h>

struct client_ask {
    struct exchange *call;
    struct buf in;
    int status;
    ask_cb cb; /* NULL: cancelled */
    void *arg;
};

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct client_ask *a = arg;
    a->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct client_ask *a = arg;
    (void)buf_add_str(&a->in, chunk);
}

static void on_end(void *arg, int r, const struct err *cause)
{
    struct client_ask *a = arg;
    struct err err = cause ? *cause : (struct err){ 0 };
    struct arena arena = { .max_bytes = (size_t)ASK_ANSWER_MAX_BYTES * 8 };
    struct json *json = NULL;
    if (r >= 0 && !buf_ok(&a->in))
        r = err_set(&err, -EMSGSIZE, "an answer of more than %d bytes", ASK_ANSWER_MAX_BYTES);
    if (r < 0)
        a->status = 0;
    else if (json_parse(&arena, buf_str(&a->in), NULL, &json, NULL) < 0)
        json = NULL;
    if (a->cb)
        a->cb(a->arg, a->status, r < 0 ? STR("") : buf_str(&a->in), json, &err);
    arena_fini(&arena);
    buf_fini(&a->in);
    free(a);
}

static const struct exchange_events events = { .on_head = on_head,
                                               .on_data = on_data,
                                               .on_end = on_end };

int ask_start(struct transport *t, const struct kube_identity *identity,
              const struct ask_request *rq, ask_cb cb, void *arg, struct client_ask **ret,
              struct err *err)
{
    struct client_ask *a = xnew(struct client_ask);
    struct headers h = { 0 };
    *a = (struct client_ask){ .cb = cb, .arg = arg };
    buf_init(&a->in, ASK_ANSWER_MAX_BYTES);
    if (rq->content_type)
        (void)headers_addc(&h, "content-type", rq->content_type);
    (void)headers_addc(&h, "accept", "application/json");
    struct kube_request req = { .identity = identity,
                                .method = str_of(rq->method),
                                .target = rq->target,
                                .headers = &h,
                                .body = rq->body };
    int r = transport_start(t, &req, &events, a, &a->call, err);
    headers_fini(&h);
    if (r < 0) {
        buf_fini(&a->in);
        free(a);
        return r;
    }
    *ret = a;
    return 0;
}

void ask_cancel(struct client_ask *a)
{
    if (!a)
        return;
    a->cb = NULL;
    exchange_cancel(a->call);
}
