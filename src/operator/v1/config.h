/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ConfigMaps and Secrets that an operator has declared: whether they exist, when they change,
 * and their values.
 *
 * Each is a subscription of one object at the shared cache; values are not stored here.
 */
#pragma once

#include "operator/allow.h"
#include "operator/v1/declaration.h"

struct configs;
struct config_read;

enum { CONFIG_MAX_BYTES = 8 << 20 }; /* of the values as JSON; objects contain at most 1 MiB */

struct configs_opts {
    struct loop *loop;
    struct object_cache *cache;            /* kept */
    const struct declaration *declaration; /* kept */
    const char *namespace;                 /* the operator's; kept */
    const struct kube_identity *identity;  /* borrowed for the call; NULL: the host's own */
    const struct allow *allow; /* rules for what may be read; borrowed for the call; NULL: all */
    /*
     * The values have changed, or the object was created or deleted. Does not run for the initial
     * state.
     */
    void (*on_change)(void *arg, size_t index);
    /* The result of configs_missing() may have changed. */
    void (*on_state)(void *arg);
    void *arg;
};

/* *ret NULL: none are declared. Callbacks run on later turns. Errors: E_LIMIT of the cache. */
int configs_start(const struct configs_opts *opts, struct configs **ret, struct err *err);
/* Pending reads end with -ECANCELED. NULL is fine. */
void configs_free(struct configs *cs);

/*
 * NULL: everything that is required exists. Else a description of what the operator waits for,
 * which may be stored in `text`.
 */
enum { CONFIG_TEXT_MAX = 512 };
const char *configs_missing(const struct configs *cs, char text[CONFIG_TEXT_MAX]);

/*
 * The values in the form of docs/guest-abi.md section 7. Runs once, later. r: 0; -ENOENT, E_DENIED,
 * -EAGAIN (not synced yet), others of the cache.
 */
typedef void (*config_done_fn)(void *arg, int r, struct str json, const struct err *err);
int configs_get(struct configs *cs, size_t index, config_done_fn done, void *arg,
                struct config_read **ret, struct err *err);
/* `done` does not run afterwards. */
void config_read_cancel(struct config_read *read);

/* Write one object's values in that form; for tests. */
void config_write(struct buf *to, const struct json *object, bool secret);
