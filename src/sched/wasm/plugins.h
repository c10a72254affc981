/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wasm plugins in the scheduling framework: those that a configuration names, loaded, and made into
 * plugins of its profiles.
 *
 * An attempt is one instance of the guest, from PreFilter to the end of the binding; dry runs
 * (preemption, nominated pods) happen in forks of it. A plugin has the extension points that its
 * guest exports. Its calls run on the thread of its profile (core/scheduler.h),
 * whose stack has to be 1 MiB at least.
 */
#pragma once

#include "sched/config/config.h"
#include "sched/framework/profile.h"
#include "sched/wasm/plugin.h"

/* All calls of a plugin for one attempt together. */
#define WPLUGINS_ATTEMPT_MS 10000u
/* One queueing hint: it is asked wherever an event arrives, and that cannot be interrupted. */
#define WPLUGINS_HINT_MS 50u

/*
 * A plugin that exceeds its time limit, in a call or in an attempt, is not called for REST_TIMES as
 * long, at least for REST_MIN_MS; twice as long as before when it does so again after the rest. So
 * one that loops does not keep a core busy, nor (with one thread for all) the other profiles
 * waiting.
 */
enum { WPLUGINS_REST_TIMES = 10, WPLUGINS_REST_MIN_MS = 10000, WPLUGINS_REST_MAX_MS = 300000 };

struct wplugins;

/*
 * Once, on the loop thread, not before wplugins_load() has returned. ret: given,
 * wplugins_release(); NULL: one cannot be loaded, err has E_INVALID and upstream's text.
 */
typedef void (*wplugins_cb)(struct wplugins *ret, const struct err *err, void *arg);
/*
 * Load what the configuration names and is not native; without any it is empty, and no engine is
 * made. config: borrowed for the call; host: kept. Loop thread.
 */
void wplugins_load(struct wplugin_host *host, struct loop *loop, const struct sched_config *config,
                   bool deterministic, wplugins_cb cb, void *arg);
size_t wplugins_count(const struct wplugins *w);
/* One of them. Borrowed until wplugins_release(). */
struct wplugins_item {
    size_t profile; /* its position in the configuration */
    const char *name;
    struct wplugin_origin origin;
};
void wplugins_get(const struct wplugins *w, size_t i, struct wplugins_item *ret);
/* Replace WPLUGINS_ATTEMPT_MS from now on, and end the rest of all plugins. For tests. */
void wplugins_limit_attempts(struct wplugins *w, unsigned ms);
/* For struct sched_opts. Borrowed. */
const struct sched_foreign *wplugins_foreign(const struct wplugins *w);
/*
 * The guests go with the last plugin that a scheduler has made of them, on the loop thread, which
 * is held until then. Loop thread. NULL is fine.
 */
void wplugins_release(struct wplugins *w);
