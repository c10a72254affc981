/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives the pushes of other nodes for one deployment: passes bytes from the loop of the server
 * to the threads that fetch layers, one piece at a time. The fetching thread must have consumed a
 * piece before the next one is read from the network. So memory holds one piece per request, and a
 * slow import slows its sender down as with a pull.
 *
 *     LATER --open()--> OPEN --offer()--> FILLING --close()--> LATER or OVER
 *
 * There is a slot for each range of a blob that one node will push. The receiver is the thread that
 * opens and closes a slot, with its own loop; the sender is the loop of the server. Each side calls
 * from its own thread only, and gets no callback for a slot after it has closed or left it.
 */
#pragma once

#include "base/str.h"
#include "io/loop.h"
#include "oci/image.h"

struct image_inbox;
struct image_inbox_flow; /* the sender's end of a slot that is being filled */

struct image_inbox_slot {
    struct oci_digest blob;
    struct str source; /* the node; borrowed as long as the inbox */
    uint64_t from, to;
};

/* slots: copied. Starts with one reference; any thread may drop the last one. */
struct image_inbox *image_inbox_new(const struct image_inbox_slot *slots, size_t n);
struct image_inbox *image_inbox_ref(struct image_inbox *b);
void image_inbox_unref(struct image_inbox *b); /* NULL is fine */

/* ---- the thread that fetches the layer ---- */

struct image_inbox_receiver {
    struct loop *loop; /* must run until all slots are closed and its posts have run */
    void (*on_bytes)(void *arg, struct str bytes);
    /* All of it was received, or the sender gave up; the receiver must call image_inbox_close(). */
    void (*on_end)(void *arg, bool is_whole);
    void *arg;
};
/*
 * Accept bytes from `at` on for the slot of the blob that begins at `from` and is LATER. false:
 * there is no such slot, or it is over.
 */
bool image_inbox_open(struct image_inbox *b, const struct oci_digest *blob, uint64_t from,
                      uint64_t at, const struct image_inbox_receiver *r);
/* Close the slot of a blob that begins at `from`; its sender is cut. again: it may be opened once
 * more. No-op if it is not open. */
void image_inbox_close(struct image_inbox *b, const struct oci_digest *blob, uint64_t from,
                       bool again);
/* The data between these offsets of the blob is no longer needed. */
void image_inbox_over(struct image_inbox *b, const struct oci_digest *blob, uint64_t from,
                      uint64_t to);

/* ---- the loop of the server ---- */

enum image_inbox_answer {
    IMAGE_INBOX_TAKEN,
    IMAGE_INBOX_ELSEWHERE, /* the sender must continue at another offset */
    IMAGE_INBOX_LATER,     /* not now: the layer is not fetched yet, or another request fills it */
    IMAGE_INBOX_OVER,      /* no receiver waits for it */
};
struct image_inbox_sender {
    struct loop *loop;
    void (*on_taken)(void *arg); /* of image_inbox_put(): the next piece may be put */
    void (*on_cut)(void *arg);   /* no more is needed; the sender must call image_inbox_leave() */
    void *arg;
};
/*
 * A node wants to send a blob from `at` to the end of its range, n bytes. TAKEN: *ret is given,
 * image_inbox_leave(). ELSEWHERE: *ret_have is the offset at which the missing part begins.
 */
enum image_inbox_answer image_inbox_offer(struct image_inbox *b, struct str source,
                                          const struct oci_digest *blob, uint64_t at, uint64_t n,
                                          const struct image_inbox_sender *sender,
                                          struct image_inbox_flow **ret, uint64_t *ret_have);
/* Copied; the next call must wait for on_taken(). */
void image_inbox_put(struct image_inbox_flow *f, struct str bytes);
/* is_whole: all of it was sent. No callback is called any more. */
void image_inbox_leave(struct image_inbox_flow *f, bool is_whole);
