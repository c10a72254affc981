/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a log; see podlog_file.h. */
#include "agent/log/podlog_file.h"

#include "agent/log/podlog_path.h"
#include "base/mem.h"
#include "base/sys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MODE = 0640, STAMP_SIZE = 16 };

/* ------------------------------------------------------------------ lines that wait */

/* In front of the text of each. */
struct held {
    uint32_t after_us; /* since the first */
    uint16_t n;        /* bytes of the text */
    uint8_t stream;
    uint8_t is_partial;
};
_Static_assert(sizeof(struct held) == PODLOG_LINE_HELD_BYTES, "no padding");
_Static_assert(PODLOG_TEXT_MAX_BYTES <= UINT16_MAX, "held.n");

int podlog_lines_add(struct podlog_lines *lines, int64_t wall_us, enum podlog_stream stream,
                     struct str text, bool is_partial)
{
    char *at;
    assert(text.n <= PODLOG_TEXT_MAX_BYTES && wall_us >= 0);
    if (lines->bytes.n + sizeof(struct held) + text.n > lines->bytes.max)
        return -EMSGSIZE;
    int r = buf_reserve(&lines->bytes, sizeof(struct held) + text.n, &at);
    if (r < 0)
        return r;
    if (lines->n++ == 0)
        lines->from_us = wall_us;
    int64_t after_us = MIN(MAX(wall_us - lines->from_us, 0), (int64_t)UINT32_MAX);
    const struct held h = { (uint32_t)after_us, (uint16_t)text.n, (uint8_t)stream, is_partial };
    memcpy(at, &h, sizeof h);
    memcpy(at + sizeof h, text.p, text.n);
    buf_advance(&lines->bytes, sizeof h + text.n);
    return 0;
}

void podlog_lines_fini(struct podlog_lines *lines)
{
    buf_fini(&lines->bytes);
    lines->n = 0;
}

/* Returns where the next one begins. */
static size_t read_held(const struct podlog_lines *lines, size_t at, struct held *h)
{
    memcpy(h, lines->bytes.p + at, sizeof *h);
    return at + sizeof *h + h->n;
}

static uint64_t count(const struct podlog_lines *lines, size_t at)
{
    struct held h;
    uint64_t n = 0;
    for (; at < lines->bytes.n; n++)
        at = read_held(lines, at, &h);
    return n;
}

/* ------------------------------------------------------------------ the file */

int podlog_file_open(struct podlog_file *f, struct err *err)
{
    struct stat st;
    char last = '\n';
    int fd = sys_openat(AT_FDCWD, f->path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, FILE_MODE);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", f->path);
    if (fstat(fd, &st) < 0) {
        (void)close(fd);
        return err_sys(err, -errno, "stat '%s'", f->path);
    }
    f->fd = fd;
    f->size = (uint64_t)st.st_size;
    if (f->size && sys_pread_full(fd, &last, 1, f->size - 1) == 1 && last != '\n' &&
        sys_write_all(fd, "\n", 1) >= 0)
        f->size++;
    return 0;
}

static void rotated_name(struct podlog_file *f, char stamp[STAMP_SIZE])
{
    struct tm tm;
    if (f->last_rotation_s == 0) /* names of an earlier process may be ahead of the clock */
        f->last_rotation_s = podlog_path_last_rotation(f->path);
    time_t now = (time_t)MAX(clock_wall_us() / 1000000, f->last_rotation_s + 1);
    f->last_rotation_s = now;
    (void)gmtime_r(&now, &tm);
    (void)strftime(stamp, STAMP_SIZE, "%Y%m%d-%H%M%S", &tm);
}

/* On failure the file goes on growing, and the next write tries again. */
static void rotate(struct podlog_file *f, struct podlog_result *ret)
{
    char stamp[STAMP_SIZE];
    struct podlog_file next = *f;
    rotated_name(f, stamp);
    scoped(free_scoped) char *to = xasprintf("%s.%s", f->path, stamp);
    int r = sys_renameat(AT_FDCWD, f->path, AT_FDCWD, to);
    if (r < 0 && r != -ENOENT) { /* -ENOENT: a user has removed the file */
        (void)err_sys(&ret->unrotated, r, "rename '%s'", f->path);
        return;
    }
    r = podlog_file_open(&next, &ret->unrotated);
    if (r < 0) {
        (void)sys_renameat(AT_FDCWD, to, AT_FDCWD, f->path);
        return;
    }
    ret->next_fd = next.fd;
    f->size = next.size;
}

/* ------------------------------------------------------------------ writing */

/* After lines were lost the log says how many. */
static void format_missing(struct podlog_file *f, uint64_t missing, struct buf *to)
{
    char text[96];
    int n = snprintf(text, sizeof text, "[%llu lines could not be written here]",
                     (unsigned long long)missing);
    (void)podlog_line_write(to, &f->stamp, clock_wall_us(), PODLOG_STDERR, str_n(text, (size_t)n),
                            false);
}

/* Up to a chunk, or as much as the file takes before it is rotated. Returns where the next begins.
 */
static size_t format(struct podlog_file *f, const struct podlog_lines *lines, size_t at,
                     struct buf *to)
{
    uint64_t room = f->size < f->max_bytes ? f->max_bytes - f->size : PODLOG_CHUNK_BYTES;
    while (at < lines->bytes.n && to->n < MIN(room, (uint64_t)PODLOG_CHUNK_BYTES)) {
        struct held h;
        size_t next = read_held(lines, at, &h);
        (void)podlog_line_write(to, &f->stamp, lines->from_us + h.after_us,
                                (enum podlog_stream)h.stream,
                                str_n(lines->bytes.p + at + sizeof h, h.n), h.is_partial);
        at = next;
    }
    return at;
}

void podlog_file_write(struct podlog_file *f, const struct podlog_lines *lines, size_t at,
                       uint64_t missing, struct podlog_result *ret)
{
    scoped(buf_fini_scoped) struct buf out =
        BUF_INIT(2 * PODLOG_CHUNK_BYTES + PODLOG_TEXT_MAX_BYTES);
    *ret = (struct podlog_result){ .next_fd = -1 };
    while (at < lines->bytes.n && ret->next_fd < 0) {
        bool tells = missing > ret->n_told;
        buf_reset(&out);
        if (tells)
            format_missing(f, missing, &out);
        size_t next = format(f, lines, at, &out);
        ret->code = sys_write_all(f->fd, out.p, out.n);
        if (ret->code < 0) {
            (void)sys_ftruncate(f->fd, f->size); /* what was written may end within a line */
            ret->n_lost = count(lines, at);
            at = lines->bytes.n;
            break;
        }
        f->size += out.n;
        ret->n_told = tells ? missing : ret->n_told;
        at = next;
        if (f->size >= f->max_bytes)
            rotate(f, ret);
    }
    ret->used = at;
}
