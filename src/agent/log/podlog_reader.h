/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a container's log for `kubectl logs`: the current file from its start or from its last
 * lines, and with `follow` what is written later, through rotations, until the container ends.
 *
 *     opening ----> reading <----> waiting        opening: a pool thread opens the file and finds
 *        |             |    \         |                    the last lines
 *        |             |     paused   |           paused:  the client takes no more
 *        +-------------+--------------+--> ended  waiting: at the end of a log that is followed
 *
 * The memory of a reader is bounded (192 KiB), whatever the log holds. One piece of 64 KiB is read
 * per turn of the loop: from the page cache at once, else on a pool thread.
 *
 * Loop thread only. Callbacks never run inside a call.
 */
#pragma once

#include "agent/log/podlog_filter.h"
#include "agent/log/podlog_writer.h"

enum {
    PODLOG_PIECE_BYTES = 64 << 10,
    PODLOG_READER_FILES_MAX = 8 /* rotated files that a slow client still has to read are held open;
                                 * of more the oldest are lost to it */
};

struct podlog_reader;

struct podlog_reader_events {
    /* The file is open, and its last lines are found: later ones follow. May be NULL. */
    void (*on_open)(void *arg);
    /* Output. false: the client is full, until podlog_reader_resume(). */
    bool (*on_data)(void *arg, struct str bytes);
    /* The last callback. r: 0, or why reading failed. The reader is freed. */
    void (*on_end)(void *arg, int r, const struct err *err);
};

/*
 * writer: of a container that runs, for `follow`; NULL: the log does not grow. The writer may be
 * closed before the reader has ended. Errors: none but those of on_end(): -ENOENT: no such file.
 */
struct podlog_reader *podlog_reader_start(struct loop *loop, const char *path,
                                          struct podlog_writer *writer,
                                          const struct podlog_query *query,
                                          const struct podlog_reader_events *events, void *arg);
void podlog_reader_resume(struct podlog_reader *r);
/* No callback comes any more. Not in on_open(). */
void podlog_reader_cancel(struct podlog_reader *r);
