/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dissolve and resume: a guest at rest is its linear memory and its mutable globals.
 *
 * The swap file is dense: byte n of the file is byte n of the memory. Pages of zeros are holes.
 * From the first save on the file holds every page that the guest has ever written and all of the
 * module's data image, so that mapping it over a fresh instance restores the memory whatever the
 * instance had there.
 */
#pragma once

#include "runner/instance.h"

struct hibernated {
    uint32_t memory_pages, dirty_pages;
    uint64_t swap_bytes, swap_mtime_ns; /* bytes: also after a failure */
    uint64_t needs_bytes;               /* after E_LIMIT: the room that would do */
    char globals[PROTO_GLOBALS_MAX];
    size_t n_globals; /* bytes */
};

/*
 * Write what changed to in->swap_fd, the globals to `ret`. The instance stays usable, and its
 * memory as it was: on failure it just goes on, and what a first save has written is given back.
 * run: RUN_FIRST, RUN_PAGEMAP, RUN_RECORD, swap_room_bytes: E_LIMIT, and nothing is written, if the
 * file would grow by more.
 */
int hibernate_save(struct instance *in, const struct proto_run *run, struct hibernated *ret,
                   struct err *err);
/* Give back the memory of an instance that must stay, after hibernate_save(). */
int hibernate_page_out(struct instance *in, struct err *err);
/* Make a new instance what it was. After an error it must not run. E_CORRUPT: the file is damaged.
 */
int hibernate_restore(struct instance *in, const struct proto_run *run, struct err *err);
/* Pages of 4 KiB that the guest owns; -1 if it cannot be told. */
int64_t hibernate_count_dirty(struct instance *in, bool use_pagemap);
