/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ConfigMaps and Secrets that an operator has declared: whether they are there, that they have
 * changed, and what they hold.
 *
 * Each is a subscription at the shared cache, of one object; its values are not kept here.
 */
#pragma once

#include "operator/allow.h"
#include "operator/v1/declaration.h"

struct configs;
struct config_read;

enum { CONFIG_MAX_BYTES = 8 << 20 }; /* of the values as JSON; objects have at most 1 MiB of them */

struct configs_opts {
    struct loop *loop;
    struct object_cache *cache;            /* kept */
    const struct declaration *declaration; /* kept */
    const char *namespace;                 /* the operator's; kept */
    const struct kube_identity *identity;  /* borrowed for the call; NULL: the host's own */
    const struct allow *allow;             /* what may be read; borrowed for the call; NULL: all */
    /*
     * Its values are others than before, or it has come or gone; not for what it is found to be at
     * first.
     */
    void (*on_change)(void *arg, size_t index);
    /* configs_missing() may say something else now. */
    void (*on_state)(void *arg);
    void *arg;
};

/* *ret NULL: none are declared. Callbacks come on later turns. Errors: E_LIMIT of the cache. */
int configs_start(const struct configs_opts *opts, struct configs **ret, struct err *err);
/* Reads end with -ECANCELED. NULL is fine. */
void configs_free(struct configs *cs);

/*
 * NULL: everything that is required is there. Else what the operator waits for, in words; `text`
 * is where they may stand.
 */
enum { CONFIG_TEXT_MAX = 512 };
const char *configs_missing(const struct configs *cs, char text[CONFIG_TEXT_MAX]);

/*
 * The values, as docs/guest-abi.md section 7 writes them. Once, later: r 0; -ENOENT, E_DENIED,
 * -EAGAIN (not seen yet), others of the cache.
 */
typedef void (*config_done_fn)(void *arg, int r, struct str json, const struct err *err);
int configs_get(struct configs *cs, size_t index, config_done_fn done, void *arg,
                struct config_read **ret, struct err *err);
/* done is not called any more. */
void config_read_cancel(struct config_read *read);

/* One object's values in that form; for tests. */
void config_write(struct buf *to, const struct json *object, bool secret);
