/* SPDX-License-Identifier: Apache-2.0 */
/* The rest of a tar, and the tar again. */
#include "oci/skeleton.h"
#include "tar_kit.h"

#include <errno.h>

enum { TEXT_MAX = 8 << 20, FILES = 300 };

struct kit {
    struct tar_kit tar;
    struct oci_layer *layer;
    struct buf skeleton;
};

static ssize_t read_tar(void *arg, void *p, size_t n, uint64_t offset)
{
    const struct buf *tar = arg;
    n = offset > tar->n ? 0 : MIN(n, (size_t)(tar->n - offset));
    memcpy(p, tar->p + offset, n);
    return (ssize_t)n;
}

static void kit_init(struct kit *k, size_t n_files)
{
    char name[32], content[3000];
    *k = (struct kit){ .tar = { BUF_INIT(TEXT_MAX) }, .skeleton = BUF_INIT(TEXT_MAX) };
    for (size_t i = 0; i < n_files; i++) {
        (void)snprintf(name, sizeof name, "dir/%zu", i);
        memset(content, 'a' + (int)(i % 26), sizeof content);
        content[i * 37 % sizeof content] = 0; /* 0: an empty file */
        kit_file(&k->tar, name, content);
        if (i % 7 == 0)
            kit_dir(&k->tar, name);
    }
    kit_end(&k->tar);
    scoped(oci_layer_reader_free_scoped) struct oci_layer_reader *r = oci_layer_reader_new();
    CHECK_OK(oci_layer_reader_add(r, buf_str(&k->tar.out), NULL));
    CHECK_OK(oci_layer_reader_end(r, &k->layer, NULL));
    CHECK_OK(oci_skeleton_write(k->layer, read_tar, &k->tar.out, &k->skeleton, NULL));
}

static void kit_fini(struct kit *k)
{
    buf_fini(&k->tar.out);
    buf_fini(&k->skeleton);
    oci_layer_free(k->layer);
}

/* What give_content() gives: the bytes of the tar, or not quite. */
struct contents {
    const struct buf *tar;
    int more; /* bytes too many, or too few */
    int code;
};

static int give_content(void *arg, const struct oci_skeleton_part *part, oci_skeleton_sink sink,
                        void *sink_arg, struct err *err)
{
    const struct contents *c = arg;
    uint8_t digest[SHA256_BYTES];
    struct str all = str_n(c->tar->p + part->offset, (size_t)part->size);
    sha256_of(all, digest);
    CHECK(memcmp(digest, part->digest, sizeof digest) == 0);
    if (c->code)
        return err_set(err, c->code, "no content");
    all.n += c->more;
    int r = sink(sink_arg, str_slice(all, 0, all.n / 2), err);
    return r < 0 ? r : sink(sink_arg, str_slice(all, all.n / 2, all.n), err);
}

static int add_bytes(void *arg, struct str bytes, struct err *err)
{
    (void)err;
    return buf_add_str(arg, bytes);
}

static int make_tar(struct str bytes, struct contents *c, struct buf *to, struct err *err)
{
    struct oci_skeleton k;
    int r = oci_skeleton_read(bytes, &k, err);
    return r < 0 ? r : oci_skeleton_make_tar(&k, give_content, c, add_bytes, to, err);
}

TEST(the_tar_is_the_same_again)
{
    static const size_t sizes[] = { 0, 1, 2, FILES };
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct kit k;
        struct oci_skeleton s;
        scoped(buf_fini_scoped) struct buf tar = BUF_INIT(TEXT_MAX);
        kit_init(&k, sizes[i]);
        struct contents c = { .tar = &k.tar.out };
        CHECK_OK(make_tar(buf_str(&k.skeleton), &c, &tar, NULL));
        CHECK(str_eq(buf_str(&tar), buf_str(&k.tar.out)));
        CHECK_OK(oci_skeleton_read(buf_str(&k.skeleton), &s, NULL));
        CHECK_INT(s.tar_bytes, k.tar.out.n);
        CHECK(sizes[i] < FILES || k.skeleton.n < k.tar.out.n / 10);
        kit_fini(&k);
    }
}

TEST(contents_that_are_not_as_long_as_their_part_are_damage)
{
    struct kit k;
    struct err err = { 0 };
    kit_init(&k, 20);
    for (int more = -1; more <= 1; more += 2) {
        scoped(buf_fini_scoped) struct buf tar = BUF_INIT(TEXT_MAX);
        struct contents c = { .tar = &k.tar.out, .more = more };
        CHECK_ERR(make_tar(buf_str(&k.skeleton), &c, &tar, &err), E_CORRUPT);
    }
    kit_fini(&k);
}

/* The reader of a tar refuses it by E_PARSE: that is not the skeleton's damage. */
TEST(errors_of_contents_and_of_the_sink_are_what_is_returned)
{
    static const int codes[] = { E_PARSE, -EIO, -ENOENT };
    struct kit k;
    struct err err = { 0 };
    kit_init(&k, 20);
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        scoped(buf_fini_scoped) struct buf tar = BUF_INIT(TEXT_MAX), small = BUF_INIT(100);
        struct contents c = { .tar = &k.tar.out, .code = codes[i] };
        CHECK_ERR(make_tar(buf_str(&k.skeleton), &c, &tar, &err), codes[i]);
        c.code = 0;
        CHECK_ERR(make_tar(buf_str(&k.skeleton), &c, &small, &err), -EMSGSIZE);
    }
    kit_fini(&k);
}

TEST(every_changed_byte_is_found)
{
    struct kit k;
    kit_init(&k, 5);
    for (size_t i = 0; i < k.skeleton.n; i++) {
        struct oci_skeleton s;
        k.skeleton.p[i] ^= 0x10;
        CHECK(oci_skeleton_read(buf_str(&k.skeleton), &s, NULL) < 0);
        k.skeleton.p[i] ^= 0x10;
        CHECK(oci_skeleton_read(str_slice(buf_str(&k.skeleton), 0, i), &s, NULL) < 0);
    }
    kit_fini(&k);
}

static void put64(char *to, uint64_t v)
{
    for (size_t i = 0; i < 8; i++, v >>= 8)
        to[i] = (char)(v & 0xff);
}

/* With a checksum that is right: only what the fields say is wrong. */
TEST(fields_that_contradict_each_other_are_damage)
{
    static const struct {
        size_t at;
        uint64_t v;
    } cases[] = {
        { 16, 1 },                                 /* a tar shorter than its parts */
        { 24, UINT64_MAX },                        /* more distinct bytes than there are */
        { OCI_SKELETON_HEADER_BYTES, UINT64_MAX }, /* the first part beyond the end */
        { OCI_SKELETON_HEADER_BYTES + 8, 0 },      /* one without bytes */
        { OCI_SKELETON_HEADER_BYTES + 48, 0 },     /* the second before the first */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kit k;
        struct oci_skeleton s;
        kit_init(&k, 5);
        struct str all = buf_str(&k.skeleton);
        put64(k.skeleton.p + cases[i].at, cases[i].v);
        put64(k.skeleton.p + all.n - 8, oci_skeleton_sum(str_slice(all, 0, all.n - 8)));
        CHECK_ERR(oci_skeleton_read(all, &s, NULL), E_CORRUPT);
        kit_fini(&k);
    }
}

TEST(a_frame_of_another_length_is_damage)
{
    for (int more = -512; more <= 512; more += 1024) {
        struct kit k;
        scoped(buf_fini_scoped) struct buf tar = BUF_INIT(TEXT_MAX);
        kit_init(&k, 5);
        struct contents c = { .tar = &k.tar.out };
        struct str all = buf_str(&k.skeleton);
        put64(k.skeleton.p + 16, k.tar.out.n + (uint64_t)(int64_t)more);
        put64(k.skeleton.p + all.n - 8, oci_skeleton_sum(str_slice(all, 0, all.n - 8)));
        CHECK_ERR(make_tar(all, &c, &tar, NULL), E_CORRUPT);
        kit_fini(&k);
    }
}

TEST_MAIN
