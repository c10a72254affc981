/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images that nothing uses are removed, as kubelet does it: every AGENT_GC_MS, if the file system
 * of the store is fuller than the high threshold, until it is at the low one; and all of them where
 * a disk is short, before a pod is evicted.
 *
 *     IDLE -> COLLECTING -> IDLE
 *      \---> RECLAIMING -> RECLAIMED (on_reclaimed()) -> IDLE: a pod is evicted if it was too
 * little
 *
 * Loop thread only.
 */
#pragma once

struct agent;
struct agent_image_gc;

struct agent_image_gc *agent_image_gc_new(struct agent *a);
/* What runs goes on in the store. NULL is fine. */
void agent_image_gc_free(struct agent_image_gc *g);
/* The images that are in use are known: begin to look. */
void agent_image_gc_start(struct agent_image_gc *g);

enum agent_image_gc_reclaimed {
    AGENT_IMAGE_GC_WAIT,   /* on_reclaimed() comes, or the next look at the disk */
    AGENT_IMAGE_GC_NO_MORE /* all that nothing uses was just removed, or that takes too long */
};
/* A disk is short. */
enum agent_image_gc_reclaimed agent_image_gc_reclaim(struct agent_image_gc *g);
