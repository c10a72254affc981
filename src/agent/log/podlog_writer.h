/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of one container: written line by line, rotated, and followed by readers.
 *
 *     container's output --add()--> [ <= 32 KiB, until the end of the turn ] --write()--> file
 *                                                                       `--> readers that follow
 *
 * Files are written on the loop, in one append per turn or per 32 KiB: a write to the page cache
 * takes less time than the switch to another thread (docs/internals/agent-http.md has figures).
 * Rotating renames a file and opens another on the loop; compressing and removing are done on a
 * pool thread. If the disk is full, or writing fails otherwise, lines are dropped and counted, and
 * a line in the log itself says how many once it can be written again.
 *
 * Loop thread only.
 */
#pragma once

#include "agent/log/podlog_line.h"
#include "base/list.h"
#include "io/loop.h"

enum {
    PODLOG_MAX_BYTES = 10 << 20, /* of a file, then it is rotated: containerLogMaxSize */
    PODLOG_MAX_FILES = 5,        /* with the rotated ones: containerLogMaxFiles */
    PODLOG_BATCH_BYTES = 32 << 10,
    PODLOG_RETRY_MS = 1000 /* after a failure */
};

struct podlog_writer;

struct podlog_writer_opts {
    struct loop *loop;
    const char *path;   /* "/var/log/pods/NS_POD_UID/CONTAINER/0.log"; directories are created */
    uint64_t max_bytes; /* 0: PODLOG_MAX_BYTES */
    unsigned max_files; /* at least 2; 0: PODLOG_MAX_FILES */
};

/* Continues a file that exists. Errors: of the system calls. */
int podlog_writer_open(const struct podlog_writer_opts *opts, struct podlog_writer **ret,
                       struct err *err);
/* A line without '\n'. has_more: the line continues with the next call for this stream. */
void podlog_writer_add(struct podlog_writer *w, enum podlog_stream stream, struct str text,
                       bool has_more);
/* Write now what was added in this turn. */
void podlog_writer_flush(struct podlog_writer *w);
uint64_t podlog_writer_dropped(const struct podlog_writer *w); /* lines, since it was opened */
const char *podlog_writer_path(const struct podlog_writer *w);
/* The container has ended: readers end too, when they have read all. NULL is fine. */
void podlog_writer_close(struct podlog_writer *w);

/* ---- for readers that follow ---- */

/* Embedded in a reader; zeroed: it follows nothing. */
struct podlog_follower {
    struct list node;
    /* There may be more to read, another file (run once for each generation), or nothing more (the
     * writer was closed; the follower is off its list). Only notes it: runs inside the writer. */
    void (*run)(struct podlog_follower *f);
    bool is_over; /* the writer was closed */
};
void podlog_writer_follow(struct podlog_writer *w, struct podlog_follower *f,
                          void (*run)(struct podlog_follower *f));
void podlog_writer_unfollow(struct podlog_follower *f);
/* Counts the files: rises with each rotation. */
uint64_t podlog_writer_generation(const struct podlog_writer *w);
/* A descriptor of the current file; given, close(). -errno. */
int podlog_writer_dup(const struct podlog_writer *w);
