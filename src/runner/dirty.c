/* SPDX-License-Identifier: Apache-2.0 */
/* Which pages a guest owns; see dirty.h. */
#include "runner/dirty.h"

#include "base/sys.h"

#include <errno.h>
#include <sys/ioctl.h>

enum { PAGE = RUNNER_PAGE };

/*
 * PAGEMAP_SCAN, Linux 6.7; older headers lack it. A memory is a private mapping, so a present page
 * that is neither the file's nor the shared zero page was written since it was mapped.
 */
struct pm_scan_arg {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define PM_SCAN       _IOWR('f', 16, struct pm_scan_arg)
#define PM_IS_FILE    (UINT64_C(1) << 2)
#define PM_IS_PRESENT (UINT64_C(1) << 3)
#define PM_IS_SWAPPED (UINT64_C(1) << 4)
#define PM_IS_PFNZERO (UINT64_C(1) << 5)

static int scan(struct dirty *d)
{
    struct pm_scan_arg arg = {
        .size = sizeof arg,
        .start = d->at,
        .end = d->end,
        .vec = (uint64_t)(uintptr_t)d->found,
        .vec_len = ARRAY_LEN(d->found),
        .category_inverted = PM_IS_FILE | PM_IS_PFNZERO,
        .category_mask = PM_IS_FILE | PM_IS_PFNZERO,
        .category_anyof_mask = PM_IS_PRESENT | PM_IS_SWAPPED,
        .return_mask = PM_IS_FILE, /* equal for all, so that adjacent pages form one region */
    };
    int n = ioctl(d->fd, PM_SCAN, &arg);
    if (n < 0)
        return -errno;
    d->n = (size_t)n;
    d->at = arg.walk_end;
    return 0;
}

bool dirty_has_scan(int pagemap_fd)
{
    struct pm_scan_arg arg = { .size = sizeof arg }; /* an empty range */
    return ioctl(pagemap_fd, PM_SCAN, &arg) >= 0;
}

/* Bits of /proc/self/pagemap. */
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_FILE    (UINT64_C(1) << 61)

/* Here the shared zero page counts as dirty; it is saved as a hole. */
static int scan_old(struct dirty *d)
{
    uint64_t entries[512];
    size_t want = MIN((size_t)((d->end - d->at) / PAGE), ARRAY_LEN(entries));
    ssize_t got = sys_pread_full(d->fd, entries, want * 8, d->at / PAGE * 8);
    if (got < 0)
        return (int)got;
    if ((size_t)got != want * 8)
        return -EIO;
    d->n = 0;
    for (size_t i = 0; i < want; i++, d->at += PAGE) {
        bool is_dirty =
            (entries[i] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)) && !(entries[i] & PAGEMAP_FILE);
        if (!is_dirty)
            continue;
        if (d->n && d->found[d->n - 1].end == d->at) {
            d->found[d->n - 1].end += PAGE;
            continue;
        }
        if (d->n == ARRAY_LEN(d->found))
            return 0; /* continues from here */
        d->found[d->n++] = (struct page_region){ .start = d->at, .end = d->at + PAGE };
    }
    return 0;
}

void dirty_init(struct dirty *d, struct instance *in, bool use_pagemap)
{
    d->fd = in->runner->pagemap_fd;
    d->old_way = use_pagemap || !in->runner->has_pagemap_scan;
    d->base = d->at = (uint64_t)(uintptr_t)wasmtime_memory_data(in->wasi.cx, &in->wasi.memory);
    d->end = d->base + wasmtime_memory_data_size(in->wasi.cx, &in->wasi.memory);
    d->n = d->next = 0;
}

int dirty_next(struct dirty *d, uint64_t *from, uint64_t *to)
{
    while (d->next == d->n) {
        if (d->at >= d->end)
            return 0;
        d->next = d->n = 0;
        int r = d->old_way ? scan_old(d) : scan(d);
        if (r < 0)
            return r;
    }
    const struct page_region *found = &d->found[d->next++];
    *from = found->start - d->base;
    *to = found->end - d->base;
    return 1;
}
