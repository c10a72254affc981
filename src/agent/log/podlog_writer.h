/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of one container: written line by line, rotated, and followed by readers.
 *
 *     container's output --add()--> [ lines held ] --job--> write() --> file
 *                                    |                         `--> readers that follow
 *                                    `- PODLOG_FULL_BYTES: on_full(), the container waits
 *
 * Files are written by pool threads (podlog_jobs.h), since a disk that is slow, or does not answer,
 * must not stop the loop. Of one log one job runs at a time, with the lines that were held when it
 * began; meanwhile further lines are held. A job starts at the end of the turn, but not within
 * PODLOG_PAUSE_MS of the last one unless PODLOG_WRITE_BYTES are held, so that a container that
 * prints often costs few switches between threads.
 *
 * If the disk is full, or writing fails otherwise, lines are dropped and counted, and a line in the
 * log itself says how many once it can be written again.
 *
 * Loop thread only.
 */
#pragma once

#include "agent/log/podlog_jobs.h"
#include "agent/log/podlog_line.h"
#include "base/list.h"
#include "io/loop.h"

enum {
    PODLOG_MAX_BYTES = 10 << 20, /* of a file, then it is rotated: containerLogMaxSize */
    PODLOG_MAX_FILES = 5,        /* with the rotated ones: containerLogMaxFiles */
    PODLOG_WRITE_BYTES = 64 << 10,
    PODLOG_PAUSE_MS = 20,
    PODLOG_FULL_BYTES = 256 << 10, /* held, besides what a job writes: on_full() */
    /* Held at most, then lines are dropped. What comes after on_full() fits: of each stream one
     * more read and what its pipe holds at the end, also if all lines are empty. */
    PODLOG_HELD_BYTES = PODLOG_FULL_BYTES + 4 * (64 << 10) * 9,
    PODLOG_RETRY_MS = 1000,    /* after a failure */
    PODLOG_COMPRESS_MS = 10000 /* after the last rotation, so that a file that is soon removed is
                                * not compressed before */
};

struct podlog_writer;

struct podlog_writer_opts {
    struct loop *loop;
    struct podlog_jobs *jobs; /* kept until the writer is freed */
    const char *path;   /* "/var/log/pods/NS_POD_UID/CONTAINER/0.log"; directories are created */
    uint64_t max_bytes; /* 0: PODLOG_MAX_BYTES */
    unsigned max_files; /* at least 2; 0: PODLOG_MAX_FILES */
    /* Print no more for now; then, on. May run inside podlog_writer_add(). NULL: lines that come
     * too fast are dropped. */
    void (*on_full)(void *arg, bool is_full);
    void *arg;
};

/* Continues a file that exists. Errors: of the system calls. */
int podlog_writer_open(const struct podlog_writer_opts *opts, struct podlog_writer **ret,
                       struct err *err);
/* A line without '\n'. has_more: the line continues with the next call for this stream. */
void podlog_writer_add(struct podlog_writer *w, enum podlog_stream stream, struct str text,
                       bool has_more);
/*
 * Write all lines without a pause. true: done() runs once they and those that come until then are
 * written or dropped, unless the writer is closed before. false: that is so already, and it does
 * not run. One call at a time; done NULL: nothing is called.
 */
bool podlog_writer_flush(struct podlog_writer *w, void (*done)(void *arg), void *arg);
uint64_t podlog_writer_dropped(const struct podlog_writer *w); /* lines, since it was opened */
const char *podlog_writer_path(const struct podlog_writer *w);
/* The container has ended: what is held is written, and then readers end when they have read all.
 * No callback of `opts` or podlog_writer_flush() comes any more. NULL is fine. */
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
