/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/image_gc.h"

#include "agent/agent_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/statvfs.h>

enum image_gc_at { IDLE, COLLECTING, RECLAIMING, RECLAIMED };

static const struct sm_state at_table[] = {
    [IDLE] = { "idle", EDGE(COLLECTING) | EDGE(RECLAIMING) },
    [COLLECTING] = { "collecting", EDGE(IDLE) },
    [RECLAIMING] = { "reclaiming", EDGE(RECLAIMED) },
    [RECLAIMED] = { "reclaimed", EDGE(IDLE) },
};

struct agent_image_gc {
    struct agent *a;
    struct sm at;
    struct timer timer;
    struct container_images_prune call;
    uint64_t wanted;   /* bytes, of COLLECTING */
    uint64_t began_ms; /* of RECLAIMING */
    bool has_failed;   /* the last time */
};

static void event(const struct agent *a, const char *reason, const char *text)
{
    log_warn("images could not be removed as wanted", "event=%s problem=\"%s\"", reason, text);
    if (a->on_node_event)
        a->on_node_event(a->arg, reason, text);
}

/* ---------------------------------------------------------------- ends */

/* As kubelet: a single failure may come from what is under way, and has no event. */
static void note_failure(struct agent_image_gc *g, const char *text)
{
    if (g->has_failed)
        event(g->a, "ImageGCFailed", text);
    g->has_failed = true;
}

static void judge(struct agent_image_gc *g, int r, uint64_t freed, const struct err *err)
{
    char text[256];
    if (r < 0) {
        note_failure(g, err_text(err));
    } else if (freed < g->wanted) {
        (void)snprintf(text, sizeof text,
                       "Failed to garbage collect required amount of images. Attempted to free "
                       "%" PRIu64 " bytes, but only found %" PRIu64 " bytes eligible to free.",
                       g->wanted, freed);
        event(g->a, "FreeDiskSpaceFailed", text);
        note_failure(g, text);
    } else {
        g->has_failed = false;
    }
}

static void on_pruned(struct container_images_prune *c, int r, uint64_t n_images, uint64_t n_bytes,
                      const struct err *err)
{
    struct agent_image_gc *g = container_of(c, struct agent_image_gc, call);
    struct agent *a = g->a;
    if (g->at.at == COLLECTING) {
        judge(g, r, n_bytes, err);
        sm_move(&g->at, IDLE);
    } else {
        if (r < 0)
            log_warn("unused images stay", "error=\"%s\"", err_text(err));
        sm_move(&g->at, RECLAIMED);
    }
    if (n_images > 0 && a->on_images)
        a->on_images(a->arg);
    if (g->at.at == RECLAIMED && a->on_reclaimed)
        a->on_reclaimed(a->arg);
}

/* ---------------------------------------------------------------- beginnings */

static void prune(struct agent_image_gc *g, uint64_t bytes)
{
    struct container_images *images = &g->a->images;
    g->call.on_done = on_pruned;
    images->ops->prune(images->arg, bytes, g->a->gc.min_age_ms, &g->call);
}

/* How many bytes are too many; 0: none. */
static uint64_t excess(const struct agent *a)
{
    struct statvfs v;
    if (statvfs(a->image_dir, &v) < 0 || v.f_blocks == 0)
        return 0;
    uint64_t capacity = v.f_blocks, available = v.f_bavail;
    uint64_t used_percent = 100 - available * 100 / capacity;
    uint64_t left = capacity * (100 - a->gc.low_percent) / 100;
    if (used_percent < a->gc.high_percent || left <= available)
        return 0;
    return (left - available) * v.f_frsize;
}

static void on_timer(struct timer *t)
{
    struct agent_image_gc *g = container_of(t, struct agent_image_gc, timer);
    timer_start(g->a->loop, t, AGENT_GC_MS, on_timer);
    if (g->at.at != IDLE)
        return;
    g->wanted = excess(g->a);
    if (g->wanted == 0) {
        g->has_failed = false;
        return;
    }
    sm_move(&g->at, COLLECTING);
    prune(g, g->wanted);
}

enum agent_image_gc_reclaimed agent_image_gc_reclaim(struct agent_image_gc *g)
{
    if (g->at.at == RECLAIMED) {
        sm_move(&g->at, IDLE);
        return AGENT_IMAGE_GC_NO_MORE;
    }
    if (g->at.at == RECLAIMING && loop_now_ms(g->a->loop) - g->began_ms > AGENT_RECLAIM_MS)
        return AGENT_IMAGE_GC_NO_MORE; /* the store is busy; it goes on */
    if (g->at.at == IDLE) {
        agent_remove_orphans(g->a);
        sm_move(&g->at, RECLAIMING);
        g->began_ms = loop_now_ms(g->a->loop);
        prune(g, UINT64_MAX);
    }
    return AGENT_IMAGE_GC_WAIT;
}

/* ---------------------------------------------------------------- life */

struct agent_image_gc *agent_image_gc_new(struct agent *a)
{
    struct agent_image_gc *g = xnew(struct agent_image_gc);
    g->a = a;
    sm_init(&g->at, at_table, IDLE);
    return g;
}

void agent_image_gc_start(struct agent_image_gc *g)
{
    /* 100: kubelet's word for never. */
    if (g->a->image_dir && g->a->gc.high_percent < 100)
        timer_start(g->a->loop, &g->timer, 0, on_timer);
}

void agent_image_gc_free(struct agent_image_gc *g)
{
    if (!g)
        return;
    timer_stop(g->a->loop, &g->timer);
    if (g->call.data)
        g->a->images.ops->prune_cancel(g->a->images.arg, &g->call);
    free(g);
}
