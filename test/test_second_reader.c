/* SPDX-License-Identifier: Apache-2.0 */
/* image/second_reader: libarchive agrees with what we write, and notices each difference. */
#include "image/second_reader.h"

#include "base/sys.h"
#include "codec/pieces.h"
#include "codec/tar_write.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>

enum { LONG_PATH = 180 };

static char directory[] = "/tmp/dm-second-XXXXXX";
static char long_path[LONG_PATH + 1];

struct scene {
    struct oci_digest blob;
    struct oci_layer *layer;
};

static void add(struct buf *tar, struct tar_entry e, const char *content)
{
    e.mode = e.mode ? e.mode : 0644;
    e.uid = 1000;
    e.gid = 100;
    e.size = strlen(content);
    e.mtime_s = 1700000000;
    CHECK_OK(tar_write_header(tar, &e, NULL));
    CHECK_OK(buf_add_cstr(tar, content));
    CHECK_OK(tar_write_padding(tar, e.size));
}

static void write_tar(struct buf *tar)
{
    static const struct tar_xattr xattrs[] = {
        { { "security.capability", 19 }, { "\1\0\0\2\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20 } },
        { { "user.note", 9 }, { "a b=c", 5 } },
    };
    memset(long_path, 'l', LONG_PATH);
    memcpy(long_path, "a/", 2);
    add(tar, (struct tar_entry){ .type = TAR_DIR, .mode = 01777 }, "");
    add(tar, (struct tar_entry){ .type = TAR_DIR, .path = STR("a"), .mode = 0755 }, "");
    add(tar, (struct tar_entry){ .path = STR("a/.wh.gone") }, "");
    add(tar,
        (struct tar_entry){ .path = STR("a/caps"), .mode = 04755, .xattrs = xattrs, .n_xattrs = 2 },
        "content");
    add(tar,
        (struct tar_entry){ .type = TAR_HARDLINK, .path = STR("a/hard"), .link = STR("a/caps") },
        "");
    add(tar, (struct tar_entry){ .path = str_of(long_path), .mtime_ns = 5 }, "long name");
    add(tar, (struct tar_entry){ .path = STR("a/\303\244"), .link = STR("") }, "umlaut");
    add(tar, (struct tar_entry){ .path = STR("a/\303\244-pax"), .xattrs = xattrs, .n_xattrs = 1 },
        "umlaut");
    add(tar, (struct tar_entry){ .path = STR("a/\377-raw"), .xattrs = xattrs, .n_xattrs = 1 },
        "no UTF-8");
    add(tar, (struct tar_entry){ .type = TAR_SYMLINK, .path = STR("b"), .link = STR("../a/") }, "");
    add(tar,
        (struct tar_entry){
            .type = TAR_CHAR_DEVICE, .path = STR("null"), .device_major = 1, .device_minor = 3 },
        "");
    add(tar, (struct tar_entry){ .type = TAR_FIFO, .path = STR("pipe") }, "");
    CHECK_OK(tar_write_end(tar));
}

static int on_packed(void *arg, struct str bytes, struct err *err)
{
    return buf_add_str(arg, bytes);
}

static void scene_init(struct scene *s)
{
    scoped(buf_fini_scoped) struct buf tar = BUF_INIT(1 << 20);
    scoped(buf_fini_scoped) struct buf packed = BUF_INIT(1 << 20);
    scoped(oci_layer_reader_free_scoped) struct oci_layer_reader *reader = oci_layer_reader_new();
    char hex[SHA256_HEX_SIZE];
    (void)memcpy(directory, "/tmp/dm-second-XXXXXX", sizeof directory);
    CHECK(mkdtemp(directory));
    write_tar(&tar);
    CHECK_OK(oci_layer_reader_add(reader, buf_str(&tar), NULL));
    CHECK_OK(oci_layer_reader_end(reader, &s->layer, NULL));
    struct pieces *gzip = pieces_new(PIECES_GZIP, on_packed, &packed);
    CHECK_OK(pieces_add(gzip, buf_str(&tar), NULL));
    CHECK_OK(pieces_end(gzip, NULL));
    pieces_free(gzip);
    sha256_of(buf_str(&packed), s->blob.bytes);
    hex_format(s->blob.bytes, SHA256_BYTES, hex);
    scoped(free_scoped) char *blobs = xasprintf("%s/blobs/sha256", directory);
    scoped(free_scoped) char *path = xasprintf("%s/%s", blobs, hex);
    CHECK_OK(sys_mkdir_all(blobs, 0755, NULL));
    CHECK_OK(sys_write_file_atomic(-100, path, buf_str(&packed), 0644, NULL));
}

static void scene_fini(struct scene *s)
{
    scoped(free_scoped) char *command = xasprintf("rm -rf '%s'", directory);
    CHECK_INT(system(command), 0);
    oci_layer_free(s->layer);
}

static int check(const struct scene *s, struct err *err)
{
    *err = (struct err){ 0 };
    return second_reader_check(directory, &s->blob, s->layer, err);
}

static struct oci_entry *entry(struct scene *s, const char *path)
{
    for (size_t i = 0; i < s->layer->entries.n; i++)
        if (str_is(s->layer->entries.p[i].path, path))
            return &s->layer->entries.p[i];
    TEST_FAIL("no '%s'", path);
}

TEST(libarchive_reads_what_we_write)
{
    struct scene s;
    struct err err;
    if (!second_reader_name())
        SKIP("there is no libarchive here");
    scene_init(&s);
    CHECK_INT(s.layer->entries.n, 11);
    CHECK_INT(s.layer->whiteouts.n, 1);
    if (check(&s, &err) < 0)
        TEST_FAIL("%s", err.text);
    scene_fini(&s);
}

/* Each field of an entry in turn is another one. */
#define DIFFERS(path, field, value, what)                                                          \
    do {                                                                                           \
        struct oci_entry *e_ = entry(&s, path), before_ = *e_;                                     \
        e_->field = (value);                                                                       \
        CHECK_ERR(check(&s, &err), E_DIGEST);                                                      \
        if (!strstr(err.text, what))                                                               \
            TEST_FAIL("'%s' does not say '%s'", err.text, what);                                   \
        *e_ = before_;                                                                             \
    } while (0)

TEST(each_difference_is_found)
{
    struct scene s;
    struct err err;
    if (!second_reader_name())
        SKIP("there is no libarchive here");
    scene_init(&s);
    DIFFERS("a/caps", mode, 0755, "another mode");
    DIFFERS("a/caps", uid, 0, "another owner");
    DIFFERS("a/caps", gid, 0, "another owner");
    DIFFERS("a/caps", mtime_s, 1, "another time");
    DIFFERS("a/caps", size, 6, "another size");
    DIFFERS("a/caps", digest[0], e_->digest[0] ^ 1, "another content");
    DIFFERS("a/caps", n_xattrs, 1, "extended attributes");
    DIFFERS("a/hard", n_xattrs, 1, "extended attributes");
    DIFFERS("a/hard", link, STR("b"), "another target");
    DIFFERS("a/hard", type, TAR_FILE, "another type");
    DIFFERS(long_path, mtime_ns, 6, "another time");
    DIFFERS("b", link, STR("a"), "another target");
    DIFFERS("b", type, TAR_FILE, "another type");
    DIFFERS("null", device_minor, 4, "another device");
    DIFFERS("pipe", path, STR("pip"), "another name");
    DIFFERS("a/\303\244", path, STR("a/u"), "another name");
    s.layer->entries.n--;
    CHECK_ERR(check(&s, &err), E_DIGEST);
    s.layer->entries.n++;
    s.layer->whiteouts.n--;
    CHECK_ERR(check(&s, &err), E_DIGEST);
    s.layer->whiteouts.n++;
    CHECK_OK(check(&s, &err));
    scene_fini(&s);
}

TEST(a_damaged_blob_is_refused)
{
    struct scene s;
    struct err err;
    if (!second_reader_name())
        SKIP("there is no libarchive here");
    scene_init(&s);
    scoped(free_scoped) char *cut =
        xasprintf("truncate -s -30 %s/blobs/sha256/* && chmod -R u+w %s", directory, directory);
    CHECK_INT(system(cut), 0);
    CHECK(check(&s, &err) < 0);
    s.blob.bytes[0] ^= 1;
    CHECK_ERR(check(&s, &err), -EIO);
    scene_fini(&s);
}

TEST_MAIN
