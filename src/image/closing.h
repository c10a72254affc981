/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a server that owns an HTTP server and other work on the loop: the HTTP server is
 * closed, the rest of the work ends, then the owner's memory is freed and the caller is notified.
 *
 *     OPEN --image_closing_start()--> CLOSING --the HTTP server is closed--> DRAINING
 *
 * Loop thread only.
 */
#pragma once

#include "base/sm.h"
#include "io/http.h"

enum image_closing_state { IMAGE_CLOSING_OPEN, IMAGE_CLOSING_CLOSING, IMAGE_CLOSING_DRAINING };

struct image_closing {
    struct sm sm;
    void (*on_http_closed)(void *arg);
    void *arg;
    void (*done)(void *arg); /* of the caller; NULL: none */
    void *done_arg;
};

/* on_http_closed: frees the owner once its other work has ended; kept, with arg. */
void image_closing_init(struct image_closing *c, void (*on_http_closed)(void *arg), void *arg);
/* Once, before the other work is asked to end. done: called by image_closing_end(); kept. */
void image_closing_start(struct image_closing *c, void (*done)(void *arg), void *arg);
/* After it. `c` must not be freed before on_http_closed(). */
void image_closing_close_http(struct image_closing *c, struct http_server *http, uint64_t grace_ms);
static inline bool image_closing_has_begun(const struct image_closing *c)
{
    return c->sm.at != IMAGE_CLOSING_OPEN;
}
/* The HTTP server is closed: the owner is freed when its other work has ended. */
static inline bool image_closing_is_draining(const struct image_closing *c)
{
    return c->sm.at == IMAGE_CLOSING_DRAINING;
}
/* Notify the caller. By value: the owner was freed. */
void image_closing_end(struct image_closing c);
