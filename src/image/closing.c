/* SPDX-License-Identifier: Apache-2.0 */
#include "image/closing.h"

static const struct sm_state table[] = {
    [IMAGE_CLOSING_OPEN] = { "open", EDGE(IMAGE_CLOSING_CLOSING) },
    [IMAGE_CLOSING_CLOSING] = { "closing", EDGE(IMAGE_CLOSING_DRAINING) },
    [IMAGE_CLOSING_DRAINING] = { "draining", 0 },
};

void image_closing_init(struct image_closing *c, void (*on_http_closed)(void *arg), void *arg)
{
    *c = (struct image_closing){ .on_http_closed = on_http_closed, .arg = arg };
    sm_init(&c->sm, table, IMAGE_CLOSING_OPEN);
}

void image_closing_start(struct image_closing *c, void (*done)(void *arg), void *arg)
{
    sm_move(&c->sm, IMAGE_CLOSING_CLOSING);
    c->done = done;
    c->done_arg = arg;
}

static void on_closed(void *arg)
{
    struct image_closing *c = arg;
    sm_move(&c->sm, IMAGE_CLOSING_DRAINING);
    c->on_http_closed(c->arg);
}

void image_closing_close_http(struct image_closing *c, struct http_server *http, uint64_t grace_ms)
{
    assert(c->sm.at == IMAGE_CLOSING_CLOSING);
    http_server_close(http, grace_ms, on_closed, c);
}

void image_closing_end(struct image_closing c)
{
    assert(image_closing_is_draining(&c));
    if (c.done)
        c.done(c.done_arg);
}
