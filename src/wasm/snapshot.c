/* SPDX-License-Identifier: Apache-2.0 */
/* Records of guests in their swap files; see snapshot.h. */
#include "wasm/snapshot.h"

#include "base/sys.h"

#include <errno.h>

static const char magic[8] = "dmsnap1";

#define MIX UINT64_C(0x9e3779b97f4a7c15)

static uint64_t load(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * MIX;
    return h ^ h >> 29;
}

/* Four lanes, so that the multiplications overlap. */
uint64_t snapshot_sum(const void *p, size_t n)
{
    const uint8_t *at = p;
    uint64_t h[4] = { n, 1, 2, 3 };
    for (; n >= 32; n -= 32, at += 32)
        for (unsigned i = 0; i < 4; i++)
            h[i] = mix(h[i], load(at + (size_t)8 * i));
    for (; n >= 8; n -= 8, at += 8)
        h[0] = mix(h[0], load(at));
    for (; n; n--, at++)
        h[0] = mix(h[0], *at);
    return mix(mix(mix(h[0], h[1]), h[2]), h[3]);
}

uint32_t snapshot_page_sum(const void *page)
{
    uint64_t sum = snapshot_sum(page, SNAPSHOT_PAGE);
    uint32_t folded = (uint32_t)(sum ^ sum >> 32);
    return folded ? folded : 1;
}

/* ---- the header: magic, length, fields, sum of all these ---- */

void snapshot_encode(const struct snapshot *s, uint8_t ret[SNAPSHOT_HEADER_BYTES])
{
    struct buf b = BUF_INIT(SNAPSHOT_HEADER_BYTES);
    (void)buf_add(&b, magic, sizeof magic);
    (void)buf_add(&b, s->identity, sizeof s->identity);
    (void)buf_add_le64(&b, s->clock_offset_ns);
    (void)buf_add_le32(&b, s->memory_pages);
    (void)buf_add_le32(&b, s->globals_n);
    (void)buf_add_le64(&b, s->sums_sum);
    (void)buf_add(&b, s->globals, s->globals_n);
    (void)buf_add_le64(&b, snapshot_sum(b.p, b.n));
    memset(ret, 0, SNAPSHOT_HEADER_BYTES);
    if (buf_ok(&b)) /* else the record does not decode */
        memcpy(ret, b.p, b.n);
    buf_fini(&b);
}

int snapshot_decode(const uint8_t header[SNAPSHOT_HEADER_BYTES], struct snapshot *ret)
{
    struct rd r = rd_init((const char *)header, SNAPSHOT_HEADER_BYTES);
    struct str start = rd_str(&r, sizeof magic), identity = rd_str(&r, SNAPSHOT_IDENTITY_BYTES);
    struct snapshot s = { .clock_offset_ns = rd_le64(&r) };
    s.memory_pages = rd_le32(&r);
    s.globals_n = rd_le32(&r);
    s.sums_sum = rd_le64(&r);
    if (!rd_ok(&r) || memcmp(start.p, magic, sizeof magic) != 0 || s.globals_n > sizeof s.globals ||
        s.memory_pages > MODULE_PAGES_MAX)
        return E_CORRUPT;
    struct str globals = rd_str(&r, s.globals_n);
    size_t n = SNAPSHOT_HEADER_BYTES - r.n;
    uint64_t sum = rd_le64(&r);
    if (!rd_ok(&r) || sum != snapshot_sum(header, n))
        return E_CORRUPT;
    memcpy(s.identity, identity.p, SNAPSHOT_IDENTITY_BYTES);
    if (globals.n)
        memcpy(s.globals, globals.p, globals.n);
    *ret = s;
    return 0;
}

/* ---- the file ---- */

int snapshot_spoil(int fd, uint64_t memory_max)
{
    static const char nothing[sizeof magic];
    return sys_pwrite_all(fd, nothing, sizeof nothing, snapshot_header_at(memory_max));
}

static int read_exactly(int fd, void *p, size_t n, uint64_t at)
{
    ssize_t got = sys_pread_full(fd, p, n, at);
    if (got < 0)
        return (int)got;
    return (size_t)got == n ? 0 : E_CORRUPT;
}

/* Length, sum, bytes. */
enum { DECLARATION_HEAD = 16 };

int snapshot_write_declaration(int fd, uint64_t memory_max, struct str declaration)
{
    struct buf b = BUF_INIT(DECLARATION_HEAD + GUEST_V1_DECLARATION_MAX);
    (void)buf_add_le64(&b, declaration.n);
    (void)buf_add_le64(&b, snapshot_sum(declaration.p, declaration.n));
    (void)buf_add_str(&b, declaration);
    int r = b.failed;
    if (buf_ok(&b))
        r = sys_pwrite_all(fd, b.p, b.n, snapshot_declaration_at(memory_max));
    buf_fini(&b);
    return r;
}

static int read_declaration(int fd, uint64_t memory_max, char **ret, size_t *ret_n)
{
    uint64_t at = snapshot_declaration_at(memory_max);
    char head[DECLARATION_HEAD];
    int r = read_exactly(fd, head, sizeof head, at);
    struct rd rd = rd_init(head, sizeof head);
    uint64_t n = rd_le64(&rd), sum = rd_le64(&rd);
    if (r < 0 || n > GUEST_V1_DECLARATION_MAX)
        return r < 0 ? r : E_CORRUPT;
    scoped(free_scoped) char *p = mem_try((size_t)n + 1);
    if (!p)
        return -ENOMEM;
    r = read_exactly(fd, p, (size_t)n, at + DECLARATION_HEAD);
    if (r < 0 || snapshot_sum(p, (size_t)n) != sum)
        return r < 0 ? r : E_CORRUPT;
    *ret = take_ptr(&p);
    *ret_n = (size_t)n;
    return 0;
}

int snapshot_read(int fd, uint64_t memory_max, struct snapshot *ret, char **ret_declaration,
                  size_t *ret_declaration_n, struct err *err)
{
    uint8_t header[SNAPSHOT_HEADER_BYTES];
    struct snapshot s;
    int r = read_exactly(fd, header, sizeof header, snapshot_header_at(memory_max));
    if (r == 0)
        r = snapshot_decode(header, &s);
    if (r == 0 && (uint64_t)s.memory_pages * MODULE_PAGE_BYTES > memory_max)
        r = E_CORRUPT;
    if (r < 0)
        return err_set(err, r, "the swap file has no record");
    r = read_declaration(fd, memory_max, ret_declaration, ret_declaration_n);
    if (r < 0)
        return err_set(err, r, "the declaration in the swap file is damaged");
    *ret = s;
    return 0;
}
