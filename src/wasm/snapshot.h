/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record in a swap file: it follows the guest's memory, and from it the next process can resume
 * the guest (docs/internals/runner.md, "After a restart").
 *
 *     0             memory_max        + 4 KiB                    + 4 bytes per page of 4 KiB
 *     | memory, sparse | header        | sums of the pages         | declaration |
 *
 * The runner writes the record at each suspend and invalidates it before the guest runs again, so a
 * valid record was never resumed. Main decides whether it may be resumed: the identity covers the
 * machine's boot, engine, module, operator and settings. A record is only as durable as the page
 * cache: it survives a killed process, but not a crash of the machine, after which the boot ID
 * differs.
 *
 * Decoding takes any bytes.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "wasm/proto.h"

enum { SNAPSHOT_PAGE = 4096, SNAPSHOT_HEADER_BYTES = 4096, SNAPSHOT_IDENTITY_BYTES = 32 };

struct snapshot {
    uint8_t identity[SNAPSHOT_IDENTITY_BYTES];
    uint64_t clock_offset_ns;
    uint32_t memory_pages; /* of 64 KiB */
    uint32_t globals_n;
    uint64_t sums_sum;
    char globals[PROTO_GLOBALS_MAX];
};

/* Offsets in the file of a guest with at most memory_max bytes (whole pages). */
static inline uint64_t snapshot_header_at(uint64_t memory_max)
{
    return memory_max;
}
static inline uint64_t snapshot_sums_at(uint64_t memory_max)
{
    return memory_max + SNAPSHOT_HEADER_BYTES;
}
static inline uint64_t snapshot_declaration_at(uint64_t memory_max)
{
    return snapshot_sums_at(memory_max) + memory_max / SNAPSHOT_PAGE * 4;
}
static inline uint64_t snapshot_file_bytes(uint64_t memory_max)
{
    return snapshot_declaration_at(memory_max) + SNAPSHOT_PAGE + GUEST_V1_DECLARATION_MAX;
}

/* Upper limit of a file's blocks after this much was written: beside the data the file system needs
 * blocks for the extents, in the worst order one page for every 128. */
static inline uint64_t snapshot_disk_bytes(uint64_t written)
{
    uint64_t pages = (written + SNAPSHOT_PAGE - 1) / SNAPSHOT_PAGE;
    return pages ? (pages + pages / 128 + 1) * SNAPSHOT_PAGE : 0;
}
/* The most that a suspend can add to the file of a guest with this much memory. */
static inline uint64_t snapshot_growth_max(uint64_t memory, uint64_t memory_max, bool has_record)
{
    uint64_t behind = has_record ? snapshot_file_bytes(memory_max) - memory_max : 0;
    return snapshot_disk_bytes(memory + behind);
}

/* Detects damage, not deliberate changes. Any number of bytes; works on 8 at a time. */
uint64_t snapshot_sum(const void *p, size_t n);
/* The sum of a whole page; never 0, which means a page that is not stored. */
uint32_t snapshot_page_sum(const void *page);

/* SNAPSHOT_HEADER_BYTES. */
void snapshot_encode(const struct snapshot *s, uint8_t ret[SNAPSHOT_HEADER_BYTES]);
/* E_CORRUPT: not a record, or an invalidated one. */
int snapshot_decode(const uint8_t header[SNAPSHOT_HEADER_BYTES], struct snapshot *ret);

/* Write the guest's declaration: once, with the first record. Errors: -EMSGSIZE, those of the
 * write. */
int snapshot_write_declaration(int fd, uint64_t memory_max, struct str declaration);
/* Invalidate the record. Errors: those of the write. */
int snapshot_spoil(int fd, uint64_t memory_max);
/*
 * Read record and declaration (given, free()). The pages are not checked here but when the guest is
 * resumed. Errors: E_CORRUPT; those of reading.
 */
int snapshot_read(int fd, uint64_t memory_max, struct snapshot *ret, char **ret_declaration,
                  size_t *ret_declaration_n, struct err *err);
