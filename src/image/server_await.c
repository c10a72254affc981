/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users of images that wait for deployments.
 *
 *     await --none has begun--> timer: begin_ms --> done
 *       |  \--one ended lately--> timer: 0 ------/  ^
 *       '--one runs--> no timer --the last one ends-'
 */
#include "image/server_int.h"

#include "oci/reference.h"

static void finish(struct timer *t)
{
    struct image_server_await *w = container_of(t, struct image_server_await, timer);
    list_remove(&w->node);
    w->done(w);
}

/* The server may be gone by then. */
static void finish_soon(struct image_server_await *w)
{
    list_remove(&w->node);
    timer_start(w->loop, &w->timer, 0, finish);
}

int image_server_await(struct image_server *s, struct image_server_await *w, struct str reference,
                       uint64_t begin_ms, struct err *err)
{
    uint64_t ended_ms;
    int r = oci_reference_parse(reference, &w->ref, err);
    if (r < 0)
        return r;
    w->loop = s->loop;
    list_push_back(&s->awaiting, &w->node);
    if (image_closing_has_begun(&s->closing))
        finish_soon(w);
    else if (!image_server_deploys(s, &w->ref, &ended_ms))
        timer_start(s->loop, &w->timer, ended_ms <= IMAGE_SERVER_AWAIT_RECENT_MS ? 0 : begin_ms,
                    finish);
    return 0;
}

void image_server_await_cancel(struct image_server_await *w)
{
    if (!w->loop)
        return;
    timer_stop(w->loop, &w->timer);
    list_remove(&w->node);
}

static void each_of(struct image_server *s, struct str reference,
                    void (*f)(struct image_server *s, struct image_server_await *w))
{
    struct oci_reference ref;
    if (oci_reference_parse(reference, &ref, NULL) < 0)
        return;
    list_each_safe (node, &s->awaiting) {
        struct image_server_await *w = list_entry(node, struct image_server_await, node);
        if (oci_reference_equal(&w->ref, &ref))
            f(s, w);
    }
}

static void stop_timer(struct image_server *s, struct image_server_await *w)
{
    timer_stop(s->loop, &w->timer);
}

void image_server_await_begun(struct image_server *s, struct str reference)
{
    each_of(s, reference, stop_timer);
}

static void look_again(struct image_server *s, struct image_server_await *w)
{
    uint64_t ended_ms;
    if (!image_server_deploys(s, &w->ref, &ended_ms))
        finish_soon(w);
}

void image_server_await_ended(struct image_server *s, struct str reference)
{
    each_of(s, reference, look_again);
}

void image_server_await_close(struct image_server *s)
{
    list_each_safe (node, &s->awaiting)
        finish_soon(list_entry(node, struct image_server_await, node));
}

void image_server_store_changed(struct image_server *s)
{
    image_server_state_changed(s);
}
