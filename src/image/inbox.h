/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other nodes push for one deployment: takes bytes from the loop of the server, where requests
 * arrive, to the threads that fetch layers, one piece at a time, each of which the fetching thread
 * has taken before the next is read from the network. So no more is in memory than a piece for each
 * request, and a slow import holds its sender up as if it had been asked.
 *
 *     LATER --open()--> OPEN --offer()--> FILLING --close()--> LATER or OVER
 *
 * There is a slot for each range of a blob that one node is to push. The receiver is the thread
 * that opens and closes a slot, with a loop of its own; the sender is the loop of the server. Both
 * sides call from their own thread alone, and neither hears of a slot again that it has closed or
 * left.
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

/* slots: copied. Starts with one reference; the last one may go by any thread. */
struct image_inbox *image_inbox_new(const struct image_inbox_slot *slots, size_t n);
struct image_inbox *image_inbox_ref(struct image_inbox *b);
void image_inbox_unref(struct image_inbox *b); /* NULL is fine */

/* ---- the thread that fetches the layer ---- */

struct image_inbox_receiver {
    struct loop *loop; /* has to run until all that was opened is closed and its posts have run */
    void (*on_bytes)(void *arg, struct str bytes);
    /* All of it came, or the sender broke off; image_inbox_close() is to follow. */
    void (*on_end)(void *arg, bool is_whole);
    void *arg;
};
/*
 * From now on bytes from `at` on are taken for the slot of the blob that begins at `from`; that one
 * is LATER. false: there is no such slot, or it is over.
 */
bool image_inbox_open(struct image_inbox *b, const struct oci_digest *blob, uint64_t from,
                      uint64_t at, const struct image_inbox_receiver *r);
/* The slot of a blob that begins at `from` is no longer open; a sender is cut. again: it may be
 * opened once more. Fine where it is not open. */
void image_inbox_close(struct image_inbox *b, const struct oci_digest *blob, uint64_t from,
                       bool again);
/* Nothing between these offsets of the blob is wanted any more. */
void image_inbox_over(struct image_inbox *b, const struct oci_digest *blob, uint64_t from,
                      uint64_t to);

/* ---- the loop of the server ---- */

enum image_inbox_answer {
    IMAGE_INBOX_TAKEN,
    IMAGE_INBOX_ELSEWHERE, /* the next byte is another one */
    IMAGE_INBOX_LATER,     /* not now: the layer's turn has not come, or another request fills it */
    IMAGE_INBOX_OVER,      /* nothing waits for it, or never did */
};
struct image_inbox_sender {
    struct loop *loop;
    void (*on_taken)(void *arg); /* of image_inbox_put(): the next may come */
    void (*on_cut)(void *arg);   /* no more is wanted; image_inbox_leave() is to follow */
    void *arg;
};
/*
 * A node wants to send a blob from `at` to the end of its range, which has n bytes from there.
 * TAKEN: *ret is to be left. ELSEWHERE: *ret_have is where the rest begins.
 */
enum image_inbox_answer image_inbox_offer(struct image_inbox *b, struct str source,
                                          const struct oci_digest *blob, uint64_t at, uint64_t n,
                                          const struct image_inbox_sender *sender,
                                          struct image_inbox_flow **ret, uint64_t *ret_have);
/* Copied; then nothing more until on_taken(). */
void image_inbox_put(struct image_inbox_flow *f, struct str bytes);
/* is_whole: all of it was taken. Neither callback comes any more. */
void image_inbox_leave(struct image_inbox_flow *f, bool is_whole);
