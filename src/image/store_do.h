/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job that writes a node store (image/store_job.h), done by whichever process may: this one, or,
 * while a server has the store's lock, that server (image/store_control.h). Blocking calls.
 */
#pragma once

#include "image/layer_cache.h"
#include "image/store_job.h"

struct store_do {
    struct oci_store_opts opts; /* of an opening by this process */
    enum image_cache_policy policy;
    const char *alone; /* why only this process can do it, after "..., and"; NULL: a server can */
    struct store_job job;
    void (*on_event)(void *arg, const struct json *v); /* as in struct store_job_watch */
    void *arg;
};
/*
 * opts.lock_ms: for the end of a process that takes no jobs, and, if it is more than
 * STORE_ASK_TAKEN_MS, for the beginning of the job in one that does. One that ends meanwhile leaves
 * the job to this process, or to the next one. *ret: in the arena. Errors: those of
 * store_do_open(), store_job_run(), store_ask().
 */
int store_do(struct store_do *d, struct arena *a, struct json **ret, struct err *err);

/* layer_cache_open_store() with errors that say what to do. -ENOENT: there is no store. */
int store_do_open(const struct oci_store_opts *opts, enum image_cache_policy policy,
                  struct oci_store **ret, struct err *err);
