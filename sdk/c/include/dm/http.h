/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the Kubernetes API, and timers. All of it is asynchronous: a started operation
 * reports exactly once that it has ended, never before the starting function returned. Nothing can
 * be cancelled; neither ABI has a way to say so.
 */
#pragma once

#include "dm/system.h"
#include "dm/text.h"

#include <stdbool.h>
#include <stdint.h>

struct dm_request {
    const char *method;
    const char *path;         /* with the query */
    const char *content_type; /* NULL: there is no body */
    struct dm_str body;
};

/*
 * status: 0 when there was no answer at all (no connection, broken body).
 * body:   borrowed until the callback returns.
 */
typedef void (*dm_reply_cb)(void *arg, int status, const char *body, size_t n);

/* The request is encoded before this returns; its fields may go then. */
void dm_http(const struct dm_request *r, dm_reply_cb cb, void *arg);

/* A timer belongs to the caller and must stay in place while it is set. Zeroed = not set. */
struct dm_timer {
    struct dm_timer *next;
    uint64_t due_ms;
    void (*fn)(void *arg);
    void *arg;
    bool is_set;
};
void dm_timer_set(struct dm_timer *t, uint64_t after_ms, void (*fn)(void *arg), void *arg);
void dm_timer_clear(struct dm_timer *t);

uint64_t dm_now_ms(void); /* monotonic */

/* One line, "text key=value ...", to the host's log. DM_LOG=error|warn|info|debug, default info. */
enum dm_level { DM_ERROR, DM_WARN, DM_INFO, DM_DEBUG };
void dm_log(enum dm_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The operator's own entry: start controllers, return. A non-zero return ends the guest as failed.
 */
int dm_main(void);
