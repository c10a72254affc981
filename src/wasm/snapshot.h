/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes a swap file more than memory: behind the guest's memory, a record from which the next
 * process can go on with the guest (docs/internals/runner.md, "After a restart").
 *
 *     0             memory_max        + 4 KiB                    + 4 bytes per page of 4 KiB
 *     | memory, sparse | header        | sums of the pages         | declaration |
 *
 * The runner writes it at each suspend and spoils it before the guest runs again, so a record that
 * reads back was never resumed. Main decides whether it may be: the identity says of what machine
 * run (boot), engine, module, operator and settings the snapshot is. A record is only as good as
 * the page cache: it outlives a killed process, and after a crash of the machine the boot differs.
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

/* Where things are in the file of a guest with at most memory_max bytes (whole pages). */
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

/* What the blocks of a file may be after so much was written to it: beside the data the file system
 * needs blocks to say where they are, a page for each 128 in the worst order. */
static inline uint64_t snapshot_disk_bytes(uint64_t written)
{
    uint64_t pages = (written + SNAPSHOT_PAGE - 1) / SNAPSHOT_PAGE;
    return pages ? (pages + pages / 128 + 1) * SNAPSHOT_PAGE : 0;
}
/* The most that a suspend can add to the file of a guest with so much memory. */
static inline uint64_t snapshot_growth_max(uint64_t memory, uint64_t memory_max, bool has_record)
{
    uint64_t behind = has_record ? snapshot_file_bytes(memory_max) - memory_max : 0;
    return snapshot_disk_bytes(memory + behind);
}

/* Finds damage, not intent. Any number of bytes; 8 at a time. */
uint64_t snapshot_sum(const void *p, size_t n);
/* Of a whole page; never 0, which stands for a page that is not stored. */
uint32_t snapshot_page_sum(const void *page);

/* SNAPSHOT_HEADER_BYTES. */
void snapshot_encode(const struct snapshot *s, uint8_t ret[SNAPSHOT_HEADER_BYTES]);
/* E_CORRUPT: not a record, or a spoilt one. */
int snapshot_decode(const uint8_t header[SNAPSHOT_HEADER_BYTES], struct snapshot *ret);

/* What the guest declared: written once, with the first record. -EMSGSIZE, errors of the write. */
int snapshot_write_declaration(int fd, uint64_t memory_max, struct str declaration);
/* Spoil the record. Errors of the write. */
int snapshot_spoil(int fd, uint64_t memory_max);
/*
 * Read record and declaration (given, free()). Whether the pages are sound is for the one that
 * resumes. Errors: E_CORRUPT; those of reading.
 */
int snapshot_read(int fd, uint64_t memory_max, struct snapshot *ret, char **ret_declaration,
                  size_t *ret_declaration_n, struct err *err);
