/* SPDX-License-Identifier: Apache-2.0 */
/* Writing guests to their swap files and restoring them; see hibernate.h. */
#include "runner/hibernate.h"

#include "runner/dirty.h"
#include "runner/globals.h"

#include "base/sys.h"
#include "wasm/engine_config.h"
#include "wasm/snapshot.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* Up to this many stored pages are read at once, which is cheaper than mapping and faulting. */
enum { READ_PAGES_MAX = 16 };

static uint64_t page_down(uint64_t n)
{
    return n & ~(uint64_t)(PAGE - 1);
}
static uint64_t page_up(uint64_t n)
{
    return page_down(n + PAGE - 1);
}

int64_t hibernate_count_dirty(struct instance *in, bool use_pagemap)
{
    struct dirty d;
    uint64_t from, to, bytes = 0;
    int r;
    dirty_init(&d, in, use_pagemap);
    while ((r = dirty_next(&d, &from, &to)) > 0)
        bytes += to - from;
    return r < 0 ? -1 : (int64_t)(bytes / PAGE);
}

/* ---- save ---- */

static bool is_zero(const uint8_t *page)
{
    uint64_t word;
    memcpy(&word, page, 8);
    return word == 0 && memcmp(page, page + 8, PAGE - 8) == 0;
}

/* Make a hole of [from, to), where the file may have older bytes. */
static int punch(int fd, uint64_t from, uint64_t to)
{
    off_t data = lseek(fd, (off_t)from, SEEK_DATA);
    if (data < 0 ? errno == ENXIO : (uint64_t)data >= to)
        return 0; /* already a hole */
    return sys_fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from);
}

struct saving {
    int fd;
    bool is_first;
    uint32_t *sums; /* of all pages; only if the file has a record */
};

static void note_sums(const struct saving *s, const uint8_t *memory, uint64_t from, uint64_t to,
                      bool zero)
{
    for (; s->sums && from < to; from += PAGE)
        s->sums[from / PAGE] = zero ? 0 : snapshot_page_sum(memory + from);
}

/* Make [from, to) of the file equal to the memory. */
static int write_range(const struct saving *s, const uint8_t *memory, uint64_t from, uint64_t to)
{
    assert(from % PAGE == 0 && to % PAGE == 0);
    while (from < to) {
        bool zero = is_zero(memory + from);
        uint64_t end = from + PAGE;
        while (end < to && is_zero(memory + end) == zero)
            end += PAGE;
        int r = 0;
        if (!zero)
            r = sys_pwrite_all(s->fd, memory + from, end - from, from);
        else if (!s->is_first)
            r = punch(s->fd, from, end);
        if (r < 0)
            return r;
        note_sums(s, memory, from, end, zero);
        from = end;
    }
    return 0;
}

struct image {
    uint64_t lo, hi; /* whole pages */
};

/* The part of the memory that a new instance gets from the module. */
static struct image image_of(const struct instance *in)
{
    uint64_t size = wasmtime_memory_data_size(in->wasi.cx, &in->wasi.memory);
    uint64_t hi = MIN(page_up(in->module->image_hi), size);
    return (struct image){ MIN(page_down(in->module->image_lo), hi), hi };
}

/* ---- room in the swap file ---- */

static uint64_t holes_in(int fd, uint64_t from, uint64_t to)
{
    uint64_t bytes = 0;
    while (from < to) {
        off_t data = lseek(fd, (off_t)from, SEEK_DATA);
        uint64_t start = data < 0 ? to : MIN((uint64_t)data, to);
        bytes += start - from;
        if (start == to)
            break;
        off_t hole = lseek(fd, (off_t)start, SEEK_HOLE);
        if (hole < 0)
            return bytes + to - start;
        from = MAX((uint64_t)hole, start);
    }
    return bytes;
}

static uint64_t growth_of_range(int fd, const uint8_t *memory, uint64_t from, uint64_t to)
{
    uint64_t bytes = 0;
    for (; from < to; from += PAGE)
        if (!is_zero(memory + from))
            bytes += holes_in(fd, from, from + PAGE);
    return bytes;
}

/* The bytes that write_memory() and write_record() would add; negative: unknown. */
static int64_t count_growth(struct instance *in, const struct proto_run *run, uint64_t size)
{
    const uint8_t *memory = wasmtime_memory_data(in->wasi.cx, &in->wasi.memory);
    struct image image = run->flags & RUN_FIRST ? image_of(in) : (struct image){ 0, 0 };
    uint64_t from, to, bytes = growth_of_range(in->swap_fd, memory, image.lo, image.hi);
    struct dirty d;
    int more;
    dirty_init(&d, in, run->flags & RUN_PAGEMAP);
    while ((more = dirty_next(&d, &from, &to)) > 0) {
        bytes += growth_of_range(in->swap_fd, memory, from, MIN(to, image.lo));
        bytes += growth_of_range(in->swap_fd, memory, MAX(from, image.hi), to);
    }
    if (more < 0)
        return more;
    if (run->flags & RUN_RECORD) {
        uint64_t at = snapshot_header_at(run->memory_max_bytes), sums = size / PAGE * 4;
        bytes += holes_in(in->swap_fd, at, page_up(at + SNAPSHOT_HEADER_BYTES + sums));
        at = snapshot_declaration_at(run->memory_max_bytes);
        if (in->declaration)
            bytes += holes_in(in->swap_fd, page_down(at), page_up(at + PAGE + in->declaration_n));
    }
    return (int64_t)snapshot_disk_bytes(bytes);
}

/* Counting examines every dirty page once more, so it is done only if the room may not suffice. */
static int check_room(struct instance *in, const struct proto_run *run, uint64_t size,
                      struct hibernated *ret, struct err *err)
{
    uint64_t room = run->swap_room_bytes;
    if (room >= snapshot_growth_max(size, run->memory_max_bytes, run->flags & RUN_RECORD))
        return 0;
    int64_t needs = count_growth(in, run, size);
    if (needs < 0)
        return err_sys(err, (int)needs, "count what is to be written to the swap file");
    if ((uint64_t)needs <= room)
        return 0;
    ret->needs_bytes = (uint64_t)needs;
    return err_set(err, E_LIMIT, "its swap file would grow by %lld bytes, there is room for %llu",
                   (long long)needs, (unsigned long long)room);
}

/* The first time the image must be written as a whole: pages that the guest never wrote are not
 * dirty, but would read as zeros once the file covers them. */
static int write_memory(struct instance *in, const struct saving *s, bool use_pagemap,
                        uint64_t *ret_dirty)
{
    const uint8_t *memory = wasmtime_memory_data(in->wasi.cx, &in->wasi.memory);
    struct image image = s->is_first ? image_of(in) : (struct image){ 0, 0 };
    int r = write_range(s, memory, image.lo, image.hi);
    struct dirty d;
    uint64_t from, to, bytes = 0;
    dirty_init(&d, in, use_pagemap);
    int more = 0;
    while (r == 0 && (more = dirty_next(&d, &from, &to)) > 0) {
        bytes += to - from;
        uint64_t before = MIN(to, image.lo), after = MAX(from, image.hi);
        if (from < before)
            r = write_range(s, memory, from, before);
        if (r == 0 && after < to)
            r = write_range(s, memory, after, to);
    }
    *ret_dirty = bytes;
    return r < 0 ? r : more;
}

/* ---- the record, for the next process ---- */

/* A buffer with room for the header, followed by the sums from the file. NULL: see *ret. */
static uint8_t *read_record(struct instance *in, const struct proto_run *run, size_t sums_bytes,
                            int *ret)
{
    uint8_t *record = mem_try(SNAPSHOT_HEADER_BYTES + sums_bytes);
    *ret = record ? 0 : -ENOMEM;
    if (!record)
        return NULL;
    memset(record, 0, SNAPSHOT_HEADER_BYTES + sums_bytes);
    if (run->flags & RUN_FIRST)
        return record;
    ssize_t got = sys_pread_full(in->swap_fd, record + SNAPSHOT_HEADER_BYTES, sums_bytes,
                                 snapshot_sums_at(run->memory_max_bytes));
    if (got >= 0 && (size_t)got == sums_bytes)
        return record;
    *ret = got < 0 ? (int)got : -EIO;
    free(record);
    return NULL;
}

/* Written last, with one write, so a record that decodes is complete. */
static int write_record(struct instance *in, const struct proto_run *run,
                        const struct hibernated *saved, uint8_t *record, size_t sums_bytes)
{
    int r = 0;
    if (in->declaration)
        r = snapshot_write_declaration(in->swap_fd, run->memory_max_bytes,
                                       str_n(in->declaration, in->declaration_n));
    struct snapshot s = {
        .clock_offset_ns = in->wasi.clock_offset_ns,
        .memory_pages = saved->memory_pages,
        .globals_n = (uint32_t)saved->n_globals,
        .sums_sum = snapshot_sum(record + SNAPSHOT_HEADER_BYTES, sums_bytes),
    };
    memcpy(s.identity, run->identity.p, MIN(run->identity.n, sizeof s.identity));
    memcpy(s.globals, saved->globals, saved->n_globals);
    snapshot_encode(&s, record);
    if (r == 0)
        r = sys_pwrite_all(in->swap_fd, record, SNAPSHOT_HEADER_BYTES + sums_bytes,
                           snapshot_header_at(run->memory_max_bytes));
    if (r == 0) {
        free(in->declaration);
        in->declaration = NULL;
    }
    return r;
}

/* Remove what an earlier attempt has written: a first save skips zero pages. */
static int empty_file(int fd, const struct stat *st)
{
    if (st->st_blocks == 0)
        return 0;
    return sys_fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (uint64_t)st->st_size);
}

static int save(struct instance *in, const struct proto_run *run, struct hibernated *ret,
                struct err *err)
{
    struct stat st;
    bool has_record = (run->flags & RUN_RECORD) != 0;
    uint64_t size = wasmtime_memory_data_size(in->wasi.cx, &in->wasi.memory), dirty;
    uint64_t needed = has_record ? snapshot_file_bytes(run->memory_max_bytes) : size;
    if (in->swap_fd < 0 || fstat(in->swap_fd, &st) < 0 || (uint64_t)st.st_size < needed ||
        (has_record && size > run->memory_max_bytes))
        return err_set(err, E_INVALID, "the swap file is missing or too small");
    int r = globals_save(in, ret->globals, &ret->n_globals, err);
    if (r == 0)
        r = check_room(in, run, size, ret, err);
    if (r < 0)
        return r;
    r = run->flags & RUN_FIRST ? empty_file(in->swap_fd, &st) : 0;
    if (r < 0)
        return err_sys(err, r, "empty the swap file");
    size_t sums_bytes = size / PAGE * 4;
    scoped(free_scoped) uint8_t *record = has_record ? read_record(in, run, sums_bytes, &r) : NULL;
    if (r < 0)
        return err_sys(err, r, "read the record of the swap file");
    const struct saving s = { .fd = in->swap_fd,
                              .is_first = (run->flags & RUN_FIRST) != 0,
                              .sums = record ? (uint32_t *)(void *)(record + SNAPSHOT_HEADER_BYTES)
                                             : NULL };
    r = write_memory(in, &s, run->flags & RUN_PAGEMAP, &dirty);
    ret->memory_pages = (uint32_t)(size / MODULE_PAGE_BYTES);
    ret->dirty_pages = (uint32_t)(dirty / PAGE);
    if (r == 0 && has_record)
        r = write_record(in, run, ret, record, sums_bytes);
    return r < 0 ? err_sys(err, r, "write the swap file") : 0;
}

int hibernate_save(struct instance *in, const struct proto_run *run, struct hibernated *ret,
                   struct err *err)
{
    struct stat st;
    ret->swap_bytes = ret->needs_bytes = 0;
    int r = save(in, run, ret, err);
    if (in->swap_fd < 0 || fstat(in->swap_fd, &st) < 0)
        return r < 0 ? r : err_sys(err, -errno, "look at the swap file");
    if (r < 0 && (run->flags & RUN_FIRST) && empty_file(in->swap_fd, &st) == 0)
        st.st_blocks = 0;
    ret->swap_bytes = (uint64_t)st.st_blocks * 512;
    ret->swap_mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    return r;
}

/* ---- restore ---- */

static int map_file(struct instance *in, struct err *err)
{
    uint64_t size = wasmtime_memory_data_size(in->wasi.cx, &in->wasi.memory);
    if (size == 0)
        return 0;
    void *at;
    int r =
        sys_mmap(wasmtime_memory_data(in->wasi.cx, &in->wasi.memory), size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, in->swap_fd, 0, &at);
    return r < 0 ? err_sys(err, r, "map the swap file") : 0;
}

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#endif

/* Map the pages before the guest's event arrives. Only stored pages: reading holes would allocate
 * pages. */
static void populate(struct instance *in)
{
    uint8_t *memory = wasmtime_memory_data(in->wasi.cx, &in->wasi.memory);
    off_t size = (off_t)wasmtime_memory_data_size(in->wasi.cx, &in->wasi.memory), at = 0;
    while (at < size) {
        off_t data = lseek(in->swap_fd, at, SEEK_DATA);
        off_t hole = data < 0 ? data : lseek(in->swap_fd, data, SEEK_HOLE);
        if (data < 0 || hole < 0 || data >= size)
            return;
        uint64_t from = page_down((uint64_t)data), to = page_up((uint64_t)MIN(hole, size));
        if (madvise(memory + from, to - from, MADV_POPULATE_READ) < 0)
            return; /* then they are faulted in one by one */
        at = hole;
    }
}

int hibernate_page_out(struct instance *in, struct err *err)
{
    return map_file(in, err);
}

static void clear_image(uint8_t *memory, struct image image, uint64_t from, uint64_t to)
{
    from = MAX(from, image.lo);
    to = MIN(to, image.hi);
    for (; from < to; from += PAGE)
        if (!is_zero(memory + from))
            memset(memory + from, 0, PAGE);
}

/* Copy the stored pages; where the file has a hole the memory was zero, even if the module's image
 * differs. */
static int read_file(struct instance *in, struct err *err)
{
    uint8_t *memory = wasmtime_memory_data(in->wasi.cx, &in->wasi.memory);
    uint64_t size = wasmtime_memory_data_size(in->wasi.cx, &in->wasi.memory), at = 0;
    struct image image = image_of(in);
    while (at < size) {
        off_t data = lseek(in->swap_fd, (off_t)at, SEEK_DATA);
        if (data < 0 && errno != ENXIO)
            return err_sys(err, -errno, "seek in the swap file");
        uint64_t from = data < 0 ? size : MIN((uint64_t)data, size);
        clear_image(memory, image, at, from);
        if (from == size)
            return 0;
        off_t hole = lseek(in->swap_fd, (off_t)from, SEEK_HOLE);
        if (hole < 0)
            return err_sys(err, -errno, "seek in the swap file");
        uint64_t to = MIN((uint64_t)hole, size);
        ssize_t got = sys_pread_full(in->swap_fd, memory + from, to - from, from);
        if (got < 0 || (uint64_t)got != to - from)
            return err_sys(err, got < 0 ? (int)got : -EIO, "read the swap file");
        at = to;
    }
    return 0;
}

static int grow(struct instance *in, uint32_t pages, struct err *err)
{
    uint64_t now = wasmtime_memory_size(in->wasi.cx, &in->wasi.memory), before;
    if (pages < now)
        return err_set(err, E_CORRUPT, "the saved memory is smaller than the module's");
    if (pages == now)
        return 0;
    wasmtime_error_t *e = wasmtime_memory_grow(in->wasi.cx, &in->wasi.memory, pages - now, &before);
    return e ? engine_err(err, -ENOMEM, e, "grow the memory") : 0;
}

/* Check the stored pages [at, to) against their sums. */
static int verify_range(int fd, const uint32_t *sums, uint64_t at, uint64_t to, size_t *n_found)
{
    static uint8_t page[PAGE];
    for (; at < to; at += PAGE) {
        ssize_t got = sys_pread_full(fd, page, PAGE, at);
        if (got != PAGE)
            return got < 0 ? (int)got : E_CORRUPT;
        uint32_t sum = is_zero(page) ? 0 : snapshot_page_sum(page);
        if (sum != sums[at / PAGE])
            return E_CORRUPT;
        *n_found += sum != 0;
    }
    return 0;
}

/* Check that the pages in the file are exactly those that have a sum. */
static int verify_pages(struct instance *in, const uint32_t *sums, uint64_t size)
{
    size_t n_found = 0, n = 0;
    for (uint64_t at = 0; at < size;) {
        off_t data = lseek(in->swap_fd, (off_t)at, SEEK_DATA);
        if (data < 0 && errno != ENXIO)
            return -errno;
        if (data < 0 || (uint64_t)data >= size)
            break;
        off_t hole = lseek(in->swap_fd, data, SEEK_HOLE);
        if (hole < 0)
            return -errno;
        at = MIN(page_up((uint64_t)hole), size);
        int r = verify_range(in->swap_fd, sums, page_down((uint64_t)data), at, &n_found);
        if (r < 0)
            return r;
    }
    for (uint64_t i = 0; i < size / PAGE; i++)
        n += sums[i] != 0;
    return n == n_found ? 0 : E_CORRUPT;
}

/* Check a file of an earlier process; so far only main has read it, and only the header. */
static int verify(struct instance *in, const struct proto_run *run)
{
    struct snapshot s;
    size_t sums_bytes = (size_t)run->memory_pages * (MODULE_PAGE_BYTES / PAGE) * 4;
    uint64_t header_at = snapshot_header_at(run->memory_max_bytes);
    scoped(free_scoped) uint8_t *record = mem_try(SNAPSHOT_HEADER_BYTES + sums_bytes);
    if (!record)
        return -ENOMEM;
    ssize_t got =
        sys_pread_full(in->swap_fd, record, SNAPSHOT_HEADER_BYTES + sums_bytes, header_at);
    if (got < 0 || (size_t)got != SNAPSHOT_HEADER_BYTES + sums_bytes)
        return got < 0 ? (int)got : E_CORRUPT;
    const uint8_t *sums = record + SNAPSHOT_HEADER_BYTES;
    if (snapshot_decode(record, &s) < 0 || s.memory_pages != run->memory_pages ||
        s.sums_sum != snapshot_sum(sums, sums_bytes))
        return E_CORRUPT;
    return verify_pages(in, (const uint32_t *)(const void *)sums,
                        (uint64_t)run->memory_pages * MODULE_PAGE_BYTES);
}

/* Check the record and invalidate it: from here on the file is not a snapshot, even if this process
 * ends. */
static int take_record(struct instance *in, const struct proto_run *run, struct err *err)
{
    int r = run->flags & RUN_VERIFY ? verify(in, run) : 0;
    if (r == 0)
        r = snapshot_spoil(in->swap_fd, run->memory_max_bytes);
    if (r == E_CORRUPT)
        return err_set(err, r, "the swap file is damaged");
    return r < 0 ? err_sys(err, r, "use the swap file") : 0;
}

int hibernate_restore(struct instance *in, const struct proto_run *run, struct err *err)
{
    struct stat st;
    int r = grow(in, run->memory_pages, err);
    if (r < 0)
        return r;
    uint64_t size = wasmtime_memory_data_size(in->wasi.cx, &in->wasi.memory);
    if (in->swap_fd < 0 || fstat(in->swap_fd, &st) < 0 || (uint64_t)st.st_size < size)
        return err_set(err, E_CORRUPT, "the swap file is missing or too small");
    if (run->flags & RUN_RECORD) {
        r = take_record(in, run, err);
        if (r < 0)
            return r;
    }
    bool is_small = (uint64_t)st.st_blocks * 512 <= (uint64_t)READ_PAGES_MAX * PAGE;
    r = is_small ? read_file(in, err) : map_file(in, err);
    if (r == 0 && !is_small && (run->flags & RUN_AHEAD))
        populate(in);
    if (r < 0 && !is_small)
        r = read_file(in, err);
    return r < 0 ? r : globals_restore(in, run->globals, err);
}
