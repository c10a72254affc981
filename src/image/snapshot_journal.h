/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a snapshotter on disk: a file of events (image/snapshot_state.h), each synced before
 * its request is answered. Opening it replays them and rewrites the file; it is also rewritten when
 * most events are obsolete. A record that a crash truncated at the end is dropped: its request was
 * not answered. On a full disk it is opened without a rewrite, and removals use space that was
 * reserved for them (fallocate(2), if the file system supports it).
 *
 *     "dmsnaps1", then for each event  u32 length, u64 sum (of number and bytes), bytes;
 * little-endian
 *
 * Blocking calls, one thread at a time.
 */
#pragma once

#include "image/snapshot_state.h"

#define SNAPSHOT_JOURNAL_BYTES     ((uint64_t)1 << 20) /* before it is rewritten */
#define SNAPSHOT_JOURNAL_MAX_BYTES ((size_t)512 << 20)

struct snapshot_journal;

/*
 * dir_fd: kept until it is freed; s: empty, receives the state, borrowed. Errors: E_CORRUPT, damage
 * before the end (nothing is changed); E_VERSION; of the file system.
 */
int snapshot_journal_open(int dir_fd, const char *name, struct snapshot_state *s,
                          struct snapshot_journal **ret, struct err *err);
void snapshot_journal_free(struct snapshot_journal *j);
DEFINE_SCOPED(snapshot_journal, snapshot_journal_free)
/*
 * Check the event, put it on the disk, apply it to the state. Errors: those of
 * snapshot_state_check(); -ENOSPC and others of the file system, after which the state is what it
 * was.
 */
int snapshot_journal_do(struct snapshot_journal *j, struct snapshot_state *s,
                        const struct snapshot_event *e, struct err *err);
