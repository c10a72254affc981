/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dissolve and resume: the state of an idle guest is its linear memory and its mutable globals.
 *
 * The swap file is dense: byte n of the file is byte n of the memory. Pages of zeros are holes.
 * From the first save on the file holds every page that the guest has ever written, and the
 * module's whole data image, so that mapping it over a new instance restores the memory regardless
 * of the instance's own contents.
 */
#pragma once

#include "runner/instance.h"

struct hibernated {
    uint32_t memory_pages, dirty_pages;
    uint64_t swap_bytes, swap_mtime_ns; /* bytes: set after a failure as well */
    uint64_t needs_bytes;               /* after E_LIMIT: the room that would suffice */
    char globals[PROTO_GLOBALS_MAX];
    size_t n_globals; /* bytes */
};

/*
 * Write the changed pages to in->swap_fd and the globals to `ret`. The instance stays usable and
 * its memory unchanged; after a failure it continues to run, and the blocks that a first save has
 * written are freed. run: RUN_FIRST, RUN_PAGEMAP, RUN_RECORD, swap_room_bytes are used. E_LIMIT:
 * the file would grow by more than that; nothing was written.
 */
int hibernate_save(struct instance *in, const struct proto_run *run, struct hibernated *ret,
                   struct err *err);
/* Release the memory of an instance that must stay, after hibernate_save(). */
int hibernate_page_out(struct instance *in, struct err *err);
/* Restore the saved state into a new instance. After an error it must not run. E_CORRUPT: the file
 * is damaged. */
int hibernate_restore(struct instance *in, const struct proto_run *run, struct err *err);
/* The number of 4 KiB pages that the guest owns; -1: unknown. */
int64_t hibernate_count_dirty(struct instance *in, bool use_pagemap);
