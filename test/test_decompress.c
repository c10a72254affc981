/* SPDX-License-Identifier: Apache-2.0 */
/* Gzip in every shape in which layers have it, by both inflaters, against zlib; and zstd. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/sanitizer.h"
#include "codec/decompress.h"
#include "codec/inflate_fast.h"
#include "test.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { TEXT_MAX = 1 << 20, PACKED_MAX = 4 << 20, ROUNDS = 60 };

static int add_to_buf(void *arg, struct str bytes, struct err *err)
{
    CHECK(bytes.n <= DECOMPRESS_PIECE_BYTES);
    return buf_add(arg, bytes.p, bytes.n);
}

/* In pieces of up to `most` bytes. */
static int unpack(struct str packed, size_t most, struct buf *to, struct err *err)
{
    scoped(decompressor_free_scoped) struct decompressor *d = decompressor_new(add_to_buf, to);
    while (packed.n) {
        size_t n = MIN(packed.n, 1 + test_random_below(most));
        int r = decompressor_add(d, str_slice(packed, 0, n), err);
        if (r < 0)
            return r;
        packed = str_slice(packed, n, packed.n);
    }
    return decompressor_end(d, err);
}

/* Text that repeats, with some that does not: matches far and near, and stored blocks. */
static void draw(struct buf *to, size_t n)
{
    while (to->n < n) {
        size_t part = 1 + test_random_below(5000), from = to->n ? test_random_below(to->n) : 0;
        part = MIN(part, n - to->n);
        if (to->n && test_random_below(3)) {
            for (size_t i = 0; i < part; i++)
                (void)buf_add_char(to, to->p[from + i]);
            continue;
        }
        for (size_t i = 0; i < part; i++)
            (void)buf_add_u8(to, (uint8_t)(test_random() & (part % 2 ? 255 : 15)));
    }
}

static void pack(struct str text, struct buf *to)
{
    static const int strategies[] = { Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE };
    uint8_t extra[300] = { 1, 2 };
    char name[] = "a name", comment[] = "a comment";
    z_stream z = { 0 };
    gz_header head = { .os = 3 };
    CHECK_INT(deflateInit2(&z, (int)test_random_below(10), Z_DEFLATED, 31, 8,
                           strategies[test_random_below(4)]),
              Z_OK);
    if (test_random_below(2)) {
        head.extra = test_random_below(2) ? extra : NULL;
        head.extra_len = sizeof extra;
        head.name = test_random_below(2) ? (Bytef *)name : NULL;
        head.comment = test_random_below(2) ? (Bytef *)comment : NULL;
        head.hcrc = (int)test_random_below(2);
        CHECK_INT(deflateSetHeader(&z, &head), Z_OK);
    }
    char *room;
    size_t most = deflateBound(&z, text.n) + 1024;
    CHECK_OK(buf_reserve(to, most, &room));
    z.next_in = (Bytef *)text.p;
    z.avail_in = (uInt)text.n;
    z.next_out = (Bytef *)room;
    z.avail_out = (uInt)most;
    CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_advance(to, z.total_out);
    (void)deflateEnd(&z);
}

/* A stream of some members, often many and tiny as eStargz has them. */
static void draw_stream(struct buf *text, struct buf *packed)
{
    size_t n_members = test_random_below(4) ? 1 + test_random_below(4) : 500;
    for (size_t i = 0; i < n_members; i++) {
        scoped(buf_fini_scoped) struct buf one = BUF_INIT(TEXT_MAX);
        draw(&one, test_random_below(n_members > 4 ? 300 : 200000));
        pack(buf_str(&one), packed);
        (void)buf_add_str(text, buf_str(&one));
    }
}

static void round_trips(void)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(TEXT_MAX);
        scoped(buf_fini_scoped) struct buf packed = BUF_INIT(PACKED_MAX);
        scoped(buf_fini_scoped) struct buf out = BUF_INIT(TEXT_MAX);
        static const size_t most[] = { 1, 9, 1000, PACKED_MAX };
        draw_stream(&text, &packed);
        struct err err = { 0 };
        if (unpack(buf_str(&packed), most[i % 4], &out, &err) < 0)
            TEST_FAIL("%s", err.text);
        CHECK(str_eq(buf_str(&out), buf_str(&text)));
        buf_reset(&out);
        CHECK_ERR(unpack(str_slice(buf_str(&packed), 0, packed.n - 1), PACKED_MAX, &out, NULL),
                  E_PARSE);
    }
}

/* Where one bit is wrong, nothing but the right text may come out of a stream that ends well: some
 * bits of the header mean nothing. */
static void damages(void)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(TEXT_MAX);
    scoped(buf_fini_scoped) struct buf packed = BUF_INIT(PACKED_MAX);
    draw(&text, 3000);
    pack(buf_str(&text), &packed);
    for (size_t bit = 0; bit < packed.n * 8; bit += 1 + test_random_below(16)) {
        scoped(buf_fini_scoped) struct buf out = BUF_INIT(PACKED_MAX);
        packed.p[bit / 8] ^= (char)(1 << bit % 8);
        int r = unpack(buf_str(&packed), PACKED_MAX, &out, NULL);
        if (r >= 0 && bit / 8 >= 2) /* else it is no gzip any more */
            CHECK(str_eq(buf_str(&out), buf_str(&text)));
        packed.p[bit / 8] ^= (char)(1 << bit % 8);
    }
}

static void garbage_after_a_member(void)
{
    scoped(buf_fini_scoped) struct buf packed = BUF_INIT(PACKED_MAX);
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(PACKED_MAX);
    pack(STR("text"), &packed);
    (void)buf_add_cstr(&packed, "garbage that is no member");
    CHECK_ERR(unpack(buf_str(&packed), PACKED_MAX, &out, NULL), E_PARSE);
}

/* One frame without a checksum or with one, of `text`. */
static void pack_zstd(struct str text, bool has_checksum, struct buf *to)
{
    char *room;
    size_t most = ZSTD_compressBound(text.n);
    ZSTD_CCtx *c = ZSTD_createCCtx();
    CHECK(c && !ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, has_checksum)));
    CHECK_OK(buf_reserve(to, most, &room));
    size_t n = ZSTD_compress2(c, room, most, text.p, text.n);
    CHECK(!ZSTD_isError(n));
    buf_advance(to, n);
    (void)ZSTD_freeCCtx(c);
}

TEST(an_error_of_zstd_says_if_it_is_of_the_bytes)
{
    CHECK_INT(decompress_zstd_code((size_t)-ZSTD_error_memory_allocation), -ENOMEM);
    CHECK_INT(decompress_zstd_code((size_t)-ZSTD_error_corruption_detected), E_PARSE);
    CHECK_INT(decompress_zstd_code((size_t)-ZSTD_error_dstSize_tooSmall), E_PARSE);
}

TEST(zstd_without_memory_for_its_window_is_no_damage)
{
    /* A frame with a window of 128 MiB, and one block of five bytes as they are. */
    static const char frame[] = "\x28\xb5\x2f\xfd\x00\x88\x29\x00\x00hello";
    const struct str packed = str_n(frame, sizeof frame - 1);
    struct buf to = BUF_INIT(TEXT_MAX);
    int status;
    if (HAS_SANITIZER)
        SKIP("a sanitizer has memory of its own");
    CHECK_OK(unpack(packed, packed.n, &to, NULL));
    CHECK_STR(buf_str(&to), "hello");
    buf_fini(&to);
    int pid = fork();
    if (pid == 0) {
        struct rlimit most = { 64 << 20, 64 << 20 };
        CHECK(setrlimit(RLIMIT_AS, &most) == 0);
        CHECK_ERR(unpack(packed, packed.n, &to, NULL), -ENOMEM);
        _exit(0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
}

/* Frames that end where a piece of the output does, among others. */
TEST(zstd_of_any_size_is_read_and_cut_off_is_not)
{
    static const size_t sizes[] = { 0,
                                    1,
                                    DECOMPRESS_PIECE_BYTES - 1,
                                    DECOMPRESS_PIECE_BYTES,
                                    DECOMPRESS_PIECE_BYTES + 1,
                                    2 * DECOMPRESS_PIECE_BYTES,
                                    5 * DECOMPRESS_PIECE_BYTES };
    for (size_t i = 0; i < 16 * ARRAY_LEN(sizes); i++) {
        static const size_t most[] = { 1, 9, 1000, PACKED_MAX };
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(TEXT_MAX);
        scoped(buf_fini_scoped) struct buf packed = BUF_INIT(PACKED_MAX);
        scoped(buf_fini_scoped) struct buf out = BUF_INIT(TEXT_MAX);
        for (size_t frame = 0; frame <= i / 4 % 2; frame++) {
            scoped(buf_fini_scoped) struct buf one = BUF_INIT(TEXT_MAX);
            draw(&one, sizes[i / 16]);
            pack_zstd(buf_str(&one), i / 8 % 2, &packed);
            (void)buf_add_str(&text, buf_str(&one));
        }
        struct err err = { 0 };
        if (unpack(buf_str(&packed), most[i % 4], &out, &err) < 0)
            TEST_FAIL("%zu bytes: %s", sizes[i / 16], err.text);
        CHECK(str_eq(buf_str(&out), buf_str(&text)));
        buf_reset(&out);
        CHECK_ERR(unpack(str_slice(buf_str(&packed), 0, packed.n - 1), PACKED_MAX, &out, NULL),
                  E_PARSE);
    }
}

/* In this order: once it is loaded, the fast one is used. */
TEST(zlib_reads_what_zlib_writes)
{
    round_trips();
    damages();
    garbage_after_a_member();
}

TEST(the_fast_one_reads_what_zlib_writes)
{
    if (!inflate_fast_load())
        SKIP("ISA-L is not here");
    round_trips();
    damages();
    garbage_after_a_member();
}

TEST_MAIN
