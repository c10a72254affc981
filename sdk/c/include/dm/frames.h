/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts the body of a watch into events.
 *
 * dormouse wakes a guest once per line, with or without its newline; other hosts hand over whatever
 * the network gave them: half an event, or three and a half. So events are found by their brackets,
 * not by newlines. An event that lies within one chunk is not copied.
 */
#pragma once

#include "dm/text.h"

#define DM_EVENT_MAX (4u << 20) /* etcd's limit for one object is 1.5 MiB */

/* A zeroed one is at the start of a stream. */
struct dm_frames {
    struct dm_text partial; /* the beginning of an event whose end has not come yet */
    uint32_t depth;
    bool in_string, escaped;
    bool broken; /* something that cannot be a stream of objects came; nothing is delivered any more
                  */
};

typedef void (*dm_frame_fn)(void *arg, const char *p, size_t n);

/*
 * Feed a chunk; fn runs for each complete event, which is borrowed until fn returns.
 * Returns false when the stream is broken, or an event is larger than DM_EVENT_MAX.
 * fn must neither feed nor reset the same frames.
 */
bool dm_frames_feed(struct dm_frames *f, const char *p, size_t n, dm_frame_fn fn, void *arg);
void dm_frames_reset(struct dm_frames *f);
