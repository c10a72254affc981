/* SPDX-License-Identifier: Apache-2.0 */
/* Tars by hand, block by block, for tests of those who read them. */
#pragma once

#include "base/buf.h"
#include "codec/tar.h"
#include "test.h"

struct tar_kit {
    struct buf out;
};

static inline void kit_octal(char *field, size_t n, uint64_t v)
{
    for (size_t i = n - 1; i-- > 0; v >>= 3)
        field[i] = (char)('0' + (v & 7));
}

static inline void kit_seal(char *block)
{
    uint32_t sum = 0;
    memset(block + 148, ' ', 8);
    for (size_t i = 0; i < TAR_BLOCK_BYTES; i++)
        sum += (uint8_t)block[i];
    kit_octal(block + 148, 7, sum);
    block[154] = 0;
}

/* A ustar header of an entry; callers may change it before kit_add_block(). */
static inline void kit_header(char *block, const char *name, char type, uint64_t size)
{
    memset(block, 0, TAR_BLOCK_BYTES);
    memcpy(block, name, MIN(strlen(name), (size_t)100));
    kit_octal(block + 100, 8, type == '5' ? 0755 : 0644);
    kit_octal(block + 108, 8, 1000);
    kit_octal(block + 116, 8, 100);
    kit_octal(block + 124, 12, size);
    kit_octal(block + 136, 12, 1700000000);
    block[156] = type;
    memcpy(block + 257, "ustar\00000", 8);
    kit_seal(block);
}

static inline void kit_add_block(struct tar_kit *k, char *block)
{
    kit_seal(block);
    CHECK_OK(buf_add(&k->out, block, TAR_BLOCK_BYTES));
}

static inline void kit_add_padded(struct tar_kit *k, struct str bytes)
{
    static const char zeros[TAR_BLOCK_BYTES];
    CHECK_OK(buf_add_str(&k->out, bytes));
    CHECK_OK(buf_add(&k->out, zeros, -bytes.n % TAR_BLOCK_BYTES));
}

static inline void kit_file(struct tar_kit *k, const char *name, const char *content)
{
    char block[TAR_BLOCK_BYTES];
    kit_header(block, name, '0', strlen(content));
    kit_add_block(k, block);
    kit_add_padded(k, str_of(content));
}

static inline void kit_dir(struct tar_kit *k, const char *name)
{
    char block[TAR_BLOCK_BYTES];
    kit_header(block, name, '5', 0);
    kit_add_block(k, block);
}

/* type '1': hard link, '2': symbolic link */
static inline void kit_link(struct tar_kit *k, const char *name, char type, const char *target)
{
    char block[TAR_BLOCK_BYTES];
    kit_header(block, name, type, 0);
    memcpy(block + 157, target, MIN(strlen(target), (size_t)100));
    kit_add_block(k, block);
}

/* The body of a pax header before the next entry, "KEY=VALUE" texts. */
static inline void kit_pax(struct tar_kit *k, const char *const *records, size_t n)
{
    char block[TAR_BLOCK_BYTES];
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(4 << 20);
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(records[i]) + 2, total = len, digits = 1;
        for (;;) {
            digits = (size_t)snprintf(NULL, 0, "%zu", total);
            if (total == len + digits)
                break;
            total = len + digits;
        }
        CHECK_OK(buf_printf(&body, "%zu %s\n", total, records[i]));
    }
    kit_header(block, "pax", 'x', body.n);
    kit_add_block(k, block);
    kit_add_padded(k, buf_str(&body));
}

static inline void kit_end(struct tar_kit *k)
{
    static const char zeros[2 * TAR_BLOCK_BYTES];
    CHECK_OK(buf_add(&k->out, zeros, sizeof zeros));
}
