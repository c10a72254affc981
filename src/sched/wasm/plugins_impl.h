/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins.c (loading) and cycle.c (hooks) share. */
#pragma once

#include "sched/wasm/plugins.h"
#include "sched/wasm/lister.h"

#include <stdatomic.h>

struct wrest {
    uint64_t until_ms, ms; /* ms: its length */
};

/* One plugin of one profile: a guest with its own configuration. */
struct wentry {
    struct wplugins *set;
    struct wplugin *guest;
    struct sched_plugin_ops ops; /* the functions that the guest has */
    char *name;
    size_t profile;
    struct job job;   /* during loading: asks for its events */
    struct buf error; /* the reason why it cannot be loaded */
    struct wlister lister;
    struct sched_event_reg *events;
    size_t n_events;
    struct arena scratch;      /* of the last call */
    struct sched_cycle *cycle; /* of the running call; NULL: none, or a hint */
    struct wobject *waiting;   /* the waiting pod that the guest reads */
    bool is_out;               /* the running call lets other threads run the scheduler */
    /* The plugin exceeded its time limit and is not called until then; hint_rest: the same for its
     * hint. */
    struct wrest rest, hint_rest;
};

struct wplugins {
    struct loop *loop;
    struct wplugin_host *host;
    struct wentry *entries;
    size_t n, n_loading;
    atomic_uint refs; /* the owner's, and one for each plugin made */
    struct sched_foreign foreign;
    unsigned attempt_ms;
    struct post post; /* the last reference was dropped on another thread */
    wplugins_cb cb;
    void *arg;
};

struct wguest { /* a plugin of a profile */
    struct sched_plugin plugin;
    struct wentry *entry;
};

/* ops of an entry whose guest is loaded. */
void wcycle_fill_ops(struct wentry *e);
enum sched_hint wcycle_hint(struct sched_plugin *p, const struct sched_pod *pod,
                            const struct sched_event *event);
/* The functions that the guest uses; arg: the struct wentry. */
extern const struct wplugin_handle wcycle_handle;
void wplugins_unref(struct wplugins *w);
