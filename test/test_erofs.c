/* SPDX-License-Identifier: Apache-2.0 */
/* image/erofs.h, read back by a reader of its own: where no kernel mounts such images, too. */
#include "image/erofs.h"
#include "oci/layer_parse.h"
#include "tar_kit.h"

#include <errno.h>
#include <sys/stat.h>

enum { FILES = 300, TAR_MAX = 1 << 20 };

/* ---- a reader ---- */

struct inode {
    const uint8_t *p;
    uint16_t layout, mode;
    uint64_t size;
    uint32_t u, nlink;
    size_t n_xattrs;
};

static uint64_t get(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    while (n--)
        v = v << 8 | p[n];
    return v;
}

static struct inode inode_at(struct str image, uint64_t nid)
{
    CHECK(nid && nid * 32 + 64 <= image.n);
    const uint8_t *p = (const uint8_t *)image.p + nid * 32;
    CHECK_INT(get(p, 2) & 1, 1);
    uint64_t count = get(p + 2, 2);
    return (struct inode){
        .p = p,
        .layout = (uint16_t)(get(p, 2) >> 1),
        .mode = (uint16_t)get(p + 4, 2),
        .size = get(p + 8, 8),
        .u = (uint32_t)get(p + 16, 4),
        .nlink = (uint32_t)get(p + 44, 4),
        .n_xattrs = count ? 12 + (count - 1) * 4 : 0,
    };
}

/* The inode of a name in a directory; every block is checked. 0: none. */
static uint64_t lookup(struct str image, const struct inode *dir, struct str wanted)
{
    uint64_t found = 0;
    struct str last = STR("");
    CHECK(S_ISDIR(dir->mode) && dir->layout == 0);
    for (uint64_t at = 0; at < dir->size; at += EROFS_BLOCK_BYTES) {
        const uint8_t *b = (const uint8_t *)image.p + (uint64_t)dir->u * EROFS_BLOCK_BYTES + at;
        size_t used = (size_t)MIN(dir->size - at, (uint64_t)EROFS_BLOCK_BYTES);
        size_t n = get(b + 8, 2) / 12;
        CHECK((const char *)b + used <= image.p + image.n && n > 0);
        for (size_t i = 0; i < n; i++) {
            size_t from = get(b + 12 * i + 8, 2);
            size_t to = i + 1 < n ? get(b + 12 * i + 20, 2) : used;
            struct str name = str_n(b + from, to - from);
            while (i + 1 == n && name.n && name.p[name.n - 1] == 0)
                name.n--; /* the rest of a block */
            CHECK(str_cmp(last, name) < 0);
            last = name;
            if (str_eq(name, wanted))
                found = get(b + 12 * i, 8);
        }
    }
    return found;
}

static struct inode find(struct str image, const char *path)
{
    struct inode i = inode_at(image, get((const uint8_t *)image.p + 1024 + 14, 2));
    struct str rest = str_of(path), name;
    while (rest.n) {
        (void)str_cut(rest, '/', &name, &rest);
        uint64_t nid = lookup(image, &i, name);
        if (!nid)
            TEST_FAIL("no '" STR_FMT "' of '%s'", STR_ARG(name), path);
        i = inode_at(image, nid);
    }
    return i;
}

static struct str content(const struct inode *i, struct str device)
{
    size_t at = (64 + i->n_xattrs + 7) / 8 * 8;
    CHECK(S_ISREG(i->mode) && i->layout == 4 && (i->u & 0x20));
    CHECK(((uint64_t)EROFS_BLOCK_BYTES << (i->u & 0x1f)) >= i->size);
    CHECK_INT(get(i->p + at + 2, 2), 1);
    uint64_t from = get(i->p + at + 4, 4) * EROFS_BLOCK_BYTES;
    CHECK(from + i->size <= device.n);
    return str_slice(device, from, from + i->size);
}

/* ---- an image of one tar ---- */

struct made {
    struct tar_kit tar;
    struct oci_layer *layer;
    struct oci_tree tree;
    struct buf image;
};

static int write_image(struct made *m, uint64_t device_bytes, struct buf *to)
{
    const struct erofs_layer with = { .layer = m->layer, .device = 1 };
    const struct erofs_image e = {
        .tree = &m->tree,
        .layers = &with,
        .n_layers = 1,
        .device_bytes = &device_bytes,
        .n_devices = 1,
    };
    struct erofs_counts counts;
    return erofs_write(&e, to, &counts, NULL);
}

static void make(struct made *m)
{
    scoped(oci_layer_reader_free_scoped) struct oci_layer_reader *r = oci_layer_reader_new();
    m->image = BUF_INIT(EROFS_IMAGE_MAX);
    kit_end(&m->tar);
    CHECK_OK(oci_layer_reader_add(r, buf_str(&m->tar.out), NULL));
    CHECK_OK(oci_layer_reader_end(r, &m->layer, NULL));
    oci_tree_init(&m->tree, OCI_SYMLINK_PARENT_REFUSE);
    CHECK_OK(oci_tree_apply(&m->tree, m->layer, NULL));
    CHECK_OK(write_image(m, m->tar.out.n, &m->image));
}

static void made_fini(struct made *m)
{
    buf_fini(&m->tar.out);
    buf_fini(&m->image);
    oci_tree_fini(&m->tree);
    oci_layer_free(m->layer);
}

TEST(files_directories_and_links_are_found_where_the_tar_has_them)
{
    struct made m = { .tar = { BUF_INIT(TAR_MAX) } };
    char name[64], text[64];
    for (int i = 0; i < FILES; i++) {
        (void)snprintf(name, sizeof name, "many/%d%s", i, i % 2 ? "-with-a-longer-name" : "");
        (void)snprintf(text, sizeof text, "content %d", i);
        kit_file(&m.tar, name, text);
    }
    kit_dir(&m.tar, "d");
    kit_file(&m.tar, "d/empty", "");
    kit_link(&m.tar, "d/hard", '1', "many/7-with-a-longer-name");
    kit_link(&m.tar, "d/soft", '2', "../elsewhere");
    make(&m);
    struct str image = buf_str(&m.image), device = buf_str(&m.tar.out);
    for (int i = 0; i < FILES; i++) {
        (void)snprintf(name, sizeof name, "many/%d%s", i, i % 2 ? "-with-a-longer-name" : "");
        (void)snprintf(text, sizeof text, "content %d", i);
        struct inode file = find(image, name);
        CHECK(str_is(content(&file, device), text));
        CHECK_INT(file.mode & 07777, 0644);
        CHECK_INT(file.nlink, i == 7 ? 2 : 1);
    }
    struct inode hard = find(image, "d/hard"), same = find(image, "many/7-with-a-longer-name");
    CHECK(hard.p == same.p);
    struct inode soft = find(image, "d/soft"), empty = find(image, "d/empty");
    CHECK(S_ISLNK(soft.mode) && soft.layout == 2 && soft.size == 12);
    CHECK(memcmp(soft.p + 64 + soft.n_xattrs, "../elsewhere", 12) == 0);
    CHECK(empty.size == 0 && empty.layout == 0);
    CHECK_INT(find(image, "").nlink, 4);
    CHECK_INT(find(image, "many").mode, S_IFDIR | 0755);
    CHECK(find(image, "d/..").p == find(image, "").p && find(image, "d/.").p == find(image, "d").p);
    made_fini(&m);
}

TEST(the_same_input_gives_the_same_bytes)
{
    struct made a = { .tar = { BUF_INIT(TAR_MAX) } }, b = { .tar = { BUF_INIT(TAR_MAX) } };
    for (int i = 0; i < 2; i++) {
        struct made *m = i ? &b : &a;
        kit_file(&m->tar, "x", "1");
        kit_file(&m->tar, "d/y", "2");
        kit_link(&m->tar, "d/z", '1', "x");
        make(m);
    }
    CHECK(str_eq(buf_str(&a.image), buf_str(&b.image)));
    CHECK_INT(a.image.n % EROFS_BLOCK_BYTES, 0);
    made_fini(&a), made_fini(&b);
}

TEST(content_beyond_a_device_is_refused)
{
    struct made m = { .tar = { BUF_INIT(TAR_MAX) } };
    struct buf out = BUF_INIT(EROFS_IMAGE_MAX);
    kit_file(&m.tar, "x", "1");
    make(&m);
    CHECK_ERR(write_image(&m, 512, &out), E_LIMIT);
    CHECK_ERR(write_image(&m, UINT64_C(1) << 41, &out), E_LIMIT); /* blocks have 32 bits */
    CHECK_INT(out.n, 0);
    buf_fini(&out);
    made_fini(&m);
}

/* The attributes by which overlayfs finds the content, and a hole of the file's size. */
TEST(a_file_whose_content_is_an_object_has_its_name_and_no_device)
{
    struct made m = { .tar = { BUF_INIT(TAR_MAX) } };
    struct erofs_counts counts;
    uint8_t digest[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE], redirect[SHA256_HEX_SIZE + 32];
    kit_file(&m.tar, "f", "content");
    kit_file(&m.tar, "empty", "");
    make(&m);
    const struct erofs_layer with = { .layer = m.layer, .has_objects = true };
    const struct erofs_image e = { .tree = &m.tree, .layers = &with, .n_layers = 1 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(EROFS_IMAGE_MAX);
    CHECK_OK(erofs_write(&e, &out, &counts, NULL));
    struct inode f = find(buf_str(&out), "f"), empty = find(buf_str(&out), "empty");
    struct str xattrs = str_n(f.p + 64, f.n_xattrs);
    sha256_of(STR("content"), digest);
    hex_format(digest, sizeof digest, hex);
    (void)snprintf(redirect, sizeof redirect, "overlay.redirect/%.2s/%s", hex, hex);
    CHECK_INT(f.size, 7);
    CHECK(str_find(xattrs, STR("overlay.metacopy")) >= 0);
    CHECK(str_find(xattrs, str_of(redirect)) >= 0);
    size_t at = (64 + f.n_xattrs + 7) / 8 * 8;
    CHECK_INT(get(f.p + at, 4), 0);
    CHECK_INT(get(f.p + at + 4, 4), UINT32_MAX);
    CHECK_INT(empty.n_xattrs, 0);
    made_fini(&m);
}

TEST_MAIN
