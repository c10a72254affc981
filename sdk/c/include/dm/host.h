/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the SDK needs from where it runs, implemented once per ABI (guest_g1.c, guest_g2.c) and once
 * natively (native/). Operators include "dm/http.h" and "dm/kube.h" instead.
 */
#pragma once

#include "dm/http.h"
#include "dm/system.h"
#include "dm/wire.h"

#include <stdbool.h>
#include <stdint.h>

enum dm_op_event {
    DM_OP_HEAD, /* status has arrived; not for timers and G1 watches */
    DM_OP_DATA, /* a piece of a streamed body */
    DM_OP_END,  /* the last event: the whole body of a unary request, else p is NULL */
};

/*
 * Something outstanding at the host. Embedded in its owner, who keeps it in place until DM_OP_END;
 * by then the operation is forgotten here and may be started again or released.
 */
struct dm_op {
    uint64_t id; /* 0 is a valid id */
    struct dm_op *next;
    int status; /* of the head; 0 until it came */
    void (*fn)(struct dm_op *op, enum dm_op_event ev, const char *p, size_t n);
};

/* ---- implemented by the platform, with what dm/system.h asks for; the returned ids are never
 * reused ---- */

uint64_t dm_host_request(const struct dm_request *r, bool stream);
uint64_t dm_host_delay(uint64_t ms);
bool dm_host_can_watch(void); /* G1: watches are the host's; else they are streamed requests */
uint64_t dm_host_watch(const struct dm_watch_request *w);

/* ---- called by the platform ---- */

int dm_start(void); /* dm_main and what it left to do */
/* Events for ids that nobody waits for are dropped: a host of ours never sends them. */
bool dm_lacks_head(uint64_t id);
void dm_on_head(uint64_t id, int status); /* 0: it could not be decoded */
void dm_on_data(uint64_t id, const char *p, size_t n);
void dm_on_end(uint64_t id, const char *p, size_t n);
void dm_settle(void); /* after every event: run due timers and ready work, arm the next timer */

/* ---- for the rest of the SDK ---- */

void dm_op_add(struct dm_op *op, uint64_t id);
/* Run `fn` in every dm_settle(), as long as some of them report that they did something. */
struct dm_settler {
    struct dm_settler *next;
    bool (*fn)(void *arg);
    void *arg;
};
void dm_settler_add(struct dm_settler *s);
