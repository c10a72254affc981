/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers that other nodes push at a deployment of this one. Nothing of a body is read before its
 * token was compared and the deployment waits for just these bytes; then a piece at a time, the
 * next when the thread that fetches the layer has taken it.
 */
#include "image/deploy.h"
#include "image/inbox.h"
#include "image/server_int.h"

#include <inttypes.h>
#include <stdio.h>

struct server_push_taking {
    struct http_exchange *x;
    struct image_inbox *inbox;
    struct image_inbox_flow *flow; /* NULL: nothing more is taken */
    uint64_t left;                 /* bytes of the body that were not taken, */
    size_t n_put;                  /* and of those the ones that are being taken */
};

static void leave(struct server_push_taking *t, bool is_whole)
{
    struct image_inbox_flow *f = t->flow;
    t->flow = NULL;
    if (f)
        image_inbox_leave(f, is_whole);
}

/* ---- from the thread that fetches ---- */

static void on_taken(void *arg)
{
    struct server_push_taking *t = arg;
    t->left -= t->n_put;
    t->n_put = 0;
    http_resume_body(t->x);
    if (t->left)
        return;
    leave(t, true);
    http_reply(t->x, 204, NULL, STR(""));
}

/* Also where it only begins again elsewhere: the sender asks where. */
static void on_cut(void *arg)
{
    struct server_push_taking *t = arg;
    leave(t, false);
    http_abort(t->x);
}

/* ---- from the network ---- */

static void on_body(struct http_exchange *x, struct str chunk)
{
    struct server_push_taking *t = http_exchange_data(x);
    if (!t->flow || chunk.n == 0)
        return;
    http_pause_body(x);
    t->n_put = chunk.n;
    image_inbox_put(t->flow, chunk);
}

static void on_body_end(struct http_exchange *x, int r)
{
    if (r < 0)
        leave(http_exchange_data(x), false);
}

static void on_gone(struct http_exchange *x, int r)
{
    struct server_push_taking *t = http_exchange_data(x);
    (void)r;
    leave(t, false);
    image_inbox_unref(t->inbox);
    free(t);
}

static void reply_have(struct http_exchange *x, uint64_t have)
{
    char text[64];
    struct headers h = { 0 };
    int n = snprintf(text, sizeof text, "{\"have\":%" PRIu64 "}", have);
    (void)headers_addc(&h, "content-type", "application/json");
    http_reply(x, 409, &h, str_n(text, (size_t)n));
    headers_fini(&h);
}

static void begin(struct image_server *s, struct http_exchange *x, const struct http_request *req,
                  struct image_inbox *inbox, const struct image_bdm_grant *g, uint64_t at)
{
    static const struct http_exchange_ops ops = { .on_body = on_body,
                                                  .on_body_end = on_body_end,
                                                  .on_gone = on_gone };
    struct server_push_taking *t = xnew(struct server_push_taking);
    const struct image_inbox_sender sender = {
        .loop = s->loop, .on_taken = on_taken, .on_cut = on_cut, .arg = t
    };
    uint64_t have = 0;
    *t = (struct server_push_taking){ .x = x, .left = req->content_length };
    enum image_inbox_answer answer =
        image_inbox_offer(inbox, g->source, &g->blob, at, t->left, &sender, &t->flow, &have);
    if (answer == IMAGE_INBOX_TAKEN) {
        t->inbox = image_inbox_ref(inbox);
        http_exchange_set(x, &ops, t);
        http_read_body(x, t->left);
        return;
    }
    free(t);
    if (answer == IMAGE_INBOX_ELSEWHERE)
        reply_have(x, have);
    else if (answer == IMAGE_INBOX_LATER)
        image_server_reply_error(x, 503, "TOOMANYREQUESTS", "not yet");
    else
        image_server_reply_error(x, 410, "BLOB_UNKNOWN", "nothing waits for it");
}

void image_server_accept_push(struct image_server *s, struct http_exchange *x,
                              const struct http_request *req, const struct url_target *t,
                              const struct oci_digest *blob)
{
    const struct image_bdm_grant g = { .deploy = url_query_get(t, "deploy"),
                                       .source = url_query_get(t, "node"),
                                       .node = str_of(s->node),
                                       .blob = *blob };
    uint64_t at;
    if (!image_server_is_field(g.deploy) || !image_server_is_field(g.source) ||
        !image_server_holds(s, &g, req)) {
        image_server_deny(x);
        return;
    }
    struct image_inbox *inbox = image_server_inbox(s, g.deploy);
    if (parse_u64(url_query_get(t, "off"), 0, IMAGE_BDM_SIZE_MAX, &at) < 0)
        image_server_reply_error(x, 400, "RANGE_INVALID", "the query does not say where it begins");
    else if (req->content_length == UINT64_MAX)
        image_server_reply_error(x, 411, "SIZE_INVALID", "the length of the body is not stated");
    else if (!inbox || image_closing_has_begun(&s->closing))
        image_server_reply_error(x, 410, "BLOB_UNKNOWN", "nothing waits for it");
    else
        begin(s, x, req, inbox, &g, at);
}
