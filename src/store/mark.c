/* SPDX-License-Identifier: Apache-2.0 */
/* The high-water mark of revisions; see mark.h. */
#include "store/mark.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/sum.h"
#include "base/sys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINE_MAX_BYTES = 256,
    RETRY_REVISIONS = 1000 /* after a failure: on a full disk it would recur with each write */
};

/* Numbers have a fixed width: each line overwrites the previous one in place. */
#define LINE_FORMAT "dormouse mark reserved=%020llu seen=%020llu clean=%d boot=%-36s"

static size_t print_line(char out[LINE_MAX_BYTES], const char *boot, uint64_t reserved,
                         uint64_t seen, bool clean)
{
    int n = snprintf(out, LINE_MAX_BYTES, LINE_FORMAT, (unsigned long long)reserved,
                     (unsigned long long)seen, clean, boot);
    assert(n > 0 && n < LINE_MAX_BYTES);
    uint64_t sum = sum64(str_n(out, (size_t)n), 0);
    n += snprintf(out + n, LINE_MAX_BYTES - (size_t)n, " sum=%016llx\n", (unsigned long long)sum);
    assert(n < LINE_MAX_BYTES);
    return (size_t)n;
}

static bool take_number(struct str *text, const char *name, uint64_t *ret)
{
    struct str word, number;
    return str_cut(*text, ' ', &word, text) && str_cut(word, '=', &word, &number) &&
           str_is(word, name) && parse_u64(number, 0, INT64_MAX / 256, ret) >= 0;
}

/* The line is valid if printing the parsed values gives the same line. */
static bool parse_line(struct str line, const char *boot, struct mark_known *ret)
{
    struct str rest = line, word;
    struct mark_known known;
    uint64_t clean;
    char file_boot[BOOT_ID_BYTES], again[LINE_MAX_BYTES];
    for (int i = 0; i < 2; i++)
        if (!str_cut(rest, ' ', &word, &rest))
            return false;
    if (!take_number(&rest, "reserved", &known.reserved) ||
        !take_number(&rest, "seen", &known.seen) || !take_number(&rest, "clean", &clean) ||
        !str_has_prefix(rest, STR("boot=")) || rest.n < 5 + BOOT_ID_BYTES)
        return false;
    memcpy(file_boot, rest.p + 5, BOOT_ID_BYTES - 1);
    file_boot[BOOT_ID_BYTES - 1] = '\0';
    size_t n = print_line(again, file_boot, known.reserved, known.seen, clean == 1);
    if (!str_eq(line, str_n(again, n)))
        return false;
    known.clean = clean == 1;
    known.exact = known.clean || strcmp(file_boot, boot) == 0;
    *ret = known;
    return true;
}

/* In a container the boot ID is the host's, which is right: the host's page cache is used. */
static int read_boot(char out[BOOT_ID_BYTES], struct err *err)
{
    struct err why = { 0 };
    int r = boot_id_read(out, &why);
    if (r == -ENOENT)
        sys_uuid(out); /* an id that never matches */
    else if (r < 0)
        return err_set(err, r, "%s", err_text(&why));
    return 0;
}

int mark_init(struct mark *m, const char *store_path, struct mark_known *ret, struct err *err)
{
    *m = (struct mark){ .path = xasprintf("%s.mark", store_path), .fd = -1 };
    *ret = (struct mark_known){ .exact = true };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(LINE_MAX_BYTES);
    struct err why = { 0 };
    int r = read_boot(m->boot, err);
    if (r < 0)
        return r;
    r = sys_read_file(AT_FDCWD, m->path, &text, &why);
    if (r == -ENOENT)
        return 0;
    if (r < 0 && r != -EMSGSIZE && r != -EIO && r != -EISDIR)
        return err_set(err, r, "%s", err_text(&why));
    if (r < 0 || !parse_line(buf_str(&text), m->boot, ret))
        return err_set(err, E_CORRUPT, "'%s' does not read back", m->path);
    m->was_open = !ret->clean;
    return 0;
}

void mark_fini(struct mark *m)
{
    if (!m->path)
        return;
    fd_scoped(&m->fd);
    free(m->path);
    *m = (struct mark){ 0 };
}

/* Later writes overwrite in place; a new file is durable only after its directory is synced. */
static int open_file(struct mark *m)
{
    struct stat st;
    bool is_new = stat(m->path, &st) < 0;
    int fd = sys_openat(AT_FDCWD, m->path, O_WRONLY | O_CREAT, 0600);
    if (fd < 0)
        return fd;
    m->fd = fd;
    return is_new ? sys_sync_parent(m->path, NULL) : 0;
}

static int write_synced(struct mark *m, uint64_t reserved, uint64_t seen, bool clean,
                        struct err *err)
{
    assert(seen <= reserved);
    char line[LINE_MAX_BYTES];
    size_t n = print_line(line, m->boot, reserved, seen, clean);
    int r = m->fd < 0 ? open_file(m) : 0;
    if (r >= 0)
        r = sys_pwrite_all(m->fd, line, n, 0);
    if (r >= 0)
        r = sys_ftruncate(m->fd, n); /* the old file may be longer */
    if (r >= 0)
        r = sys_fsync(m->fd);
    return r < 0 ? err_sys(err, r, "write '%s'", m->path) : 0;
}

int mark_reserve(struct mark *m, uint64_t rev, struct err *err)
{
    assert(m->path && rev > 0);
    if (rev <= m->reserved || rev < m->retry_at)
        return 0;
    int r = write_synced(m, rev + MARK_STEP, rev - 1, false, err);
    if (r < 0) {
        m->retry_at = rev + RETRY_REVISIONS;
        return r;
    }
    m->reserved = rev + MARK_STEP;
    m->retry_at = 0;
    return 1;
}

void mark_note(struct mark *m, uint64_t rev)
{
    if (rev > m->reserved)
        return;
    assert(m->fd >= 0); /* mark_reserve() has written the file */
    char line[LINE_MAX_BYTES];
    size_t n = print_line(line, m->boot, m->reserved, rev, false);
    (void)sys_pwrite_all(m->fd, line, n, 0); /* on error: the next note overwrites it */
}

int mark_close(struct mark *m, uint64_t rev, struct err *err)
{
    return m->reserved || m->was_open ? write_synced(m, rev, rev, true, err) : 0;
}
