/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wasm plugins in the scheduling framework: loads those that a configuration names, and makes them
 * plugins of its profiles.
 *
 * An attempt uses one instance of the guest, from PreFilter to the end of the binding; dry runs
 * (preemption, nominated pods) use forks of it. A plugin has the extension points that its guest
 * exports. Its calls run on the thread of its profile (core/scheduler.h), which needs a stack of at
 * least 1 MiB.
 */
#pragma once

#include "sched/config/config.h"
#include "sched/framework/profile.h"
#include "sched/wasm/plugin.h"

/* Limit of all calls of a plugin for one attempt together. */
#define WPLUGINS_ATTEMPT_MS 10000u
/*
 * Limit of one queueing hint: hints are called whenever an event arrives, and no other thread can
 * run the scheduler meanwhile.
 */
#define WPLUGINS_HINT_MS 50u

/*
 * A plugin that exceeds its time limit, in a call or in an attempt, is not called for REST_TIMES
 * the limit, at least for REST_MIN_MS; twice as long as before if it does so again after the rest.
 * So a plugin that loops neither keeps a core busy nor (with one thread for all) blocks the other
 * profiles.
 */
enum { WPLUGINS_REST_TIMES = 10, WPLUGINS_REST_MIN_MS = 10000, WPLUGINS_REST_MAX_MS = 300000 };

struct wplugins;

/*
 * Called once, on the loop thread, not before wplugins_load() has returned. ret: given,
 * wplugins_release(); NULL: a plugin cannot be loaded, err has E_INVALID and upstream's text.
 */
typedef void (*wplugins_cb)(struct wplugins *ret, const struct err *err, void *arg);
/*
 * Loads the plugins that the configuration names and that are not native; without any the result is
 * empty, and no engine is created. config: borrowed for the call; host: kept. Loop thread.
 */
void wplugins_load(struct wplugin_host *host, struct loop *loop, const struct sched_config *config,
                   bool deterministic, wplugins_cb cb, void *arg);
size_t wplugins_count(const struct wplugins *w);
/* One plugin of the set. Borrowed until wplugins_release(). */
struct wplugins_item {
    size_t profile; /* its position in the configuration */
    const char *name;
    struct wplugin_origin origin;
};
void wplugins_get(const struct wplugins *w, size_t i, struct wplugins_item *ret);
/* Replaces WPLUGINS_ATTEMPT_MS from now on, and ends the rest of all plugins. For tests. */
void wplugins_limit_attempts(struct wplugins *w, unsigned ms);
/* For struct sched_opts. Borrowed. */
const struct sched_foreign *wplugins_foreign(const struct wplugins *w);
/*
 * The guests are freed with the last plugin that a scheduler has made of them, on the loop thread;
 * the loop is held until then. Loop thread. NULL is fine.
 */
void wplugins_release(struct wplugins *w);
