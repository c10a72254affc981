/* SPDX-License-Identifier: Apache-2.0 */
/* `dormouse image run --lazy` and `--record`: how the image is mounted, and what happens beside the
 * container. */
#pragma once

#include "cmd/image_args.h"
#include "image/lazy_image.h"
#include "image/lazy_record.h"

struct image_lazy {
    /* Set by the caller; borrowed until image_lazy_fini(). */
    const struct image_args *args;
    const char *store; /* its directory */
    const char *reference, *target, *state;
    uint64_t max_bytes, wait_ms;
    uint64_t open_ms;   /* how long an open waits; 0: as lazy_guard.h */
    uint64_t prove_ms;  /* as in struct lazy_image_opts */
    uint64_t record_ms; /* then the program is sent TERM, and no more is recorded; 0: never */
    uint64_t stop_ms;   /* after TERM it ends by itself, or is killed */
    /* Set by mounting. */
    struct oci_config config;
    /* Its own. */
    struct image_opened opened;
    struct oci_image image;
    char *name; /* in the store */
    struct lazy_image *lazy;
    struct lazy_record *record;
    struct image_lazy_timer *timer;
    struct start_list list;
    bool has_list;
    struct err mismatch; /* the registry's data is wrong, or was not verified in time */
};

/* Mount and begin to fetch. 1: the image is here already, and nothing was mounted. Errors: those of
 * lazy_image_start(). */
int image_lazy_mount(struct image_lazy *z, struct err *err);
/* Mount an image of the store and begin to record. Errors: those of lazy_record_start(). */
int image_lazy_record(struct image_lazy *z, struct err *err);
/* The container has ended: fetch no more. status: of its program, which ran: keep what was
 * recorded unless it failed; NULL: it did not run. Before it is unmounted. Errors: E_DIGEST, the
 * container was ended since the registry's data is wrong; -ETIMEDOUT, since it might be; of writing
 * the store. */
int image_lazy_end(struct image_lazy *z, const int *status, struct err *err);
/* After it was unmounted; zeroed is fine. */
void image_lazy_fini(struct image_lazy *z);
