/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a log, as one thread writes it: lines in, CRI lines out, rotated. podlog_writer.h
 * decides when, and calls this on a pool thread.
 */
#pragma once

#include "agent/log/podlog_line.h"
#include "base/err.h"

enum {
    PODLOG_CHUNK_BYTES = 32 << 10, /* of one write(), and a line */
    PODLOG_LINE_HELD_BYTES = 8     /* that a held line takes beyond its text */
};

/* Lines that wait for their file, without their heads. Zeroed with a maximum of `bytes`: none. */
struct podlog_lines {
    struct buf bytes;
    uint64_t n;
    int64_t from_us; /* the time of the first */
};

/* text: at most PODLOG_TEXT_MAX_BYTES. -EMSGSIZE: no room, nothing was added. */
int podlog_lines_add(struct podlog_lines *lines, int64_t wall_us, enum podlog_stream stream,
                     struct str text, bool is_partial);
void podlog_lines_fini(struct podlog_lines *lines);

struct podlog_file {
    const char *path; /* borrowed */
    uint64_t max_bytes;
    int fd;        /* of the caller, who closes it */
    uint64_t size; /* as far as it holds whole lines */
    struct podlog_stamp stamp;
    int64_t last_rotation_s; /* names of rotated files are unique and in order; 0: not known */
};

/* path and max_bytes are set. Continues a file that exists; one that ends within a line, after a
 * crash, gets a line end. Errors: of the system calls. */
int podlog_file_open(struct podlog_file *f, struct err *err);

struct podlog_result {
    size_t used;     /* bytes of the lines that were written or lost */
    uint64_t n_told; /* of the missing lines, that the file tells of now */
    uint64_t n_lost; /* lines that could not be written */
    int code;        /* why; 0 */
    int next_fd;     /* the file was rotated: of the new one, given; f->fd is the old one still.
                      * -1: it was not */
    struct err unrotated; /* why it should have been rotated, and was not */
};

/*
 * Write lines from `at` on until the end, the first failure or the first rotation. A failure loses
 * all lines that are left; the file is cut back to whole lines. After a rotation the caller stores
 * next_fd in f->fd and goes on. missing: lines that were lost before and that the file does not
 * tell of yet: a line says so.
 */
void podlog_file_write(struct podlog_file *f, const struct podlog_lines *lines, size_t at,
                       uint64_t missing, struct podlog_result *ret);
