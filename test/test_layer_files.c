/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers made from files (oci/tree_manifest, oci/file_parcel, oci/contents, oci/pull_files): what
 * becomes visible is the layer, bit for bit, whatever the other side has, lacks or lies about.
 */
#include "base/sys.h"
#include "codec/gzip.h"
#include "image/mirror_files.h"
#include "image/mirror_store.h"
#include "oci/file_parcel.h"
#include "oci/layer_delta.h"
#include "oci/layer_tree.h"
#include "oci/pull.h"
#include "oci/pull_files.h"
#include "oci/pull_members.h"
#include "oci/store_int.h"
#include "oci/table.h"
#include "oci/tree_manifest.h"
#include "tar_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

enum { TAR_MAX = 24 << 20, HUGE_FILE = 17 << 20, BIG = 300000, SMALL_FILES = 40 };

/* ---- layers ---- */

static char *letters(size_t n, uint32_t seed)
{
    char *p = xalloc(n + 1);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        p[i] = (char)('!' + (seed >> 24) % 90);
    }
    return p;
}

static bool has_hole = true; /* layers are made with a sparse file */

/* A version of an image's layer: most files are in both, one large file changed in a few bytes. */
static void make_tar(struct buf *to, unsigned version)
{
    static const char *const sparse[] = { "GNU.sparse.size=100000", "GNU.sparse.map=0,0" };
    struct tar_kit k = { BUF_INIT(TAR_MAX) };
    scoped(free_scoped) char *big = letters(BIG, 1);
    char name[64];
    for (unsigned i = 1; i < version; i++)
        big[i * 1000] = '~';
    kit_dir(&k, "usr/");
    (void)snprintf(name, sizeof name, "usr/lib/libbig.so.%u", version);
    kit_file(&k, name, big);
    for (uint32_t i = 0; i < SMALL_FILES; i++) {
        scoped(free_scoped) char *content = letters(2000 + i, i < 35 ? i + 7 : i + 100 * version);
        (void)snprintf(name, sizeof name, "usr/share/file%u", (unsigned)i);
        kit_file(&k, name, content);
    }
    kit_file(&k, "usr/empty", "");
    kit_link(&k, "usr/hard", '1', "usr/share/file1");
    if (has_hole) {
        kit_pax(&k, sparse, ARRAY_LEN(sparse));
        kit_file(&k, "usr/hole", "");
    }
    kit_file(&k, "usr/share/.wh.old", "");
    kit_file(&k, "usr/twice", "the same");
    kit_file(&k, "usr/again", "the same");
    kit_end(&k);
    *to = k.out;
}

struct image {
    struct buf tar, blob, config, manifest;
    struct oci_digest diff_id, blob_digest, config_digest, digest;
    struct arena parsed;
};

/* [0]: one huge file; [1], [2]: versions; [3]: a new file, and a large one of [1] */
static struct image images[4];

static void make_huge_tar(struct buf *to)
{
    struct tar_kit k = { BUF_INIT(TAR_MAX) };
    scoped(free_scoped) char *content = letters(HUGE_FILE, 3);
    kit_file(&k, "huge", content);
    kit_end(&k);
    *to = k.out;
}

static void make_mixed_tar(struct buf *to)
{
    struct tar_kit k = { BUF_INIT(TAR_MAX) };
    scoped(free_scoped) char *fresh = letters(200000, 99), *big = letters(BIG, 1);
    kit_file(&k, "fresh", fresh);
    kit_file(&k, "big", big);
    kit_end(&k);
    *to = k.out;
}

static void make_image(unsigned version)
{
    struct image *m = &images[version];
    char diff[OCI_DIGEST_TEXT_SIZE], blob[OCI_DIGEST_TEXT_SIZE], config[OCI_DIGEST_TEXT_SIZE];
    if (m->tar.n)
        return;
    if (version == 3)
        make_mixed_tar(&m->tar);
    else if (version)
        make_tar(&m->tar, version);
    else
        make_huge_tar(&m->tar);
    m->blob = BUF_INIT(TAR_MAX);
    struct gzip *g = gzip_new();
    CHECK_OK(gzip_add(g, buf_str(&m->tar), true, &m->blob));
    gzip_free(g);
    sha256_of(buf_str(&m->tar), m->diff_id.bytes);
    sha256_of(buf_str(&m->blob), m->blob_digest.bytes);
    m->config = m->manifest = BUF_INIT(1 << 20);
    oci_digest_format(&m->diff_id, diff);
    oci_digest_format(&m->blob_digest, blob);
    CHECK_OK(buf_printf(&m->config,
                        "{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"type\":"
                        "\"layers\",\"diff_ids\":[\"%s\"]}}",
                        diff));
    sha256_of(buf_str(&m->config), m->config_digest.bytes);
    oci_digest_format(&m->config_digest, config);
    CHECK_OK(buf_printf(
        &m->manifest,
        "{\"schemaVersion\":2,\"config\":{\"digest\":\"%s\",\"size\":%zu},\"layers\":[{\"digest\":"
        "\"%s\",\"size\":%zu}]}",
        config, m->config.n, blob, m->blob.n));
    sha256_of(buf_str(&m->manifest), m->digest.bytes);
}

static void set_hole(bool wanted)
{
    for (size_t i = 1; i < ARRAY_LEN(images) && has_hole != wanted; i++) {
        buf_fini(&images[i].tar);
        buf_fini(&images[i].blob);
        buf_fini(&images[i].config);
        buf_fini(&images[i].manifest);
        arena_fini(&images[i].parsed);
        images[i] = (struct image){ 0 };
    }
    has_hole = wanted;
}

/* ---- stores ---- */

static char roots[2][64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static void close_all(struct oci_store **stores)
{
    for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
        oci_store_close(stores[i]);
        (void)nftw(roots[i], remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
}

static struct oci_store *new_store(size_t i, enum oci_store_form form)
{
    struct oci_store *s;
    struct err err = { 0 };
    (void)snprintf(roots[i], sizeof roots[i], "%s/dm-files-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    CHECK(mkdtemp(roots[i]));
    const struct oci_store_opts opts = { .root = roots[i], .form = form };
    if (oci_store_open(&opts, &s, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return s;
}

/* ---- an origin that serves files from a store, as `image serve` does ---- */

static struct {
    struct image *image;
    struct oci_store *server;
    bool spoils_parcels, spoils_trees, gives_other_tree, is_secret;
    struct buf forged_tree; /* is given instead */
    char why[244];          /* the last layer was not made from files */
    size_t n_trees, n_parcels, n_blobs;
    uint64_t n_parcel_bytes;
    struct oci_layer_delta *kept; /* what it gives is copied to here; NULL: it is not kept */
    struct arena memory;          /* of the copies */
} origin;

static int give_image(void *arg, const struct oci_platform *platform, struct oci_image *ret,
                      struct err *err)
{
    struct image *m = origin.image;
    struct oci_image image = { .digest = m->digest,
                               .manifest_text = buf_str(&m->manifest),
                               .config_text = buf_str(&m->config) };
    (void)platform, (void)arg;
    int r = oci_manifest_parse(&m->parsed, image.manifest_text, &image.manifest, err);
    r = r < 0 ? r : oci_config_parse(&m->parsed, image.config_text, &image.config, err);
    *ret = image;
    return r;
}

static int give_blob(void *arg, const struct oci_descriptor *d, uint64_t offset, oci_blob_sink sink,
                     void *sink_arg, struct err *err)
{
    struct str blob = buf_str(&origin.image->blob);
    (void)arg, (void)d;
    origin.n_blobs++;
    return sink(sink_arg, str_slice(blob, (size_t)offset, blob.n), err);
}

static bool has_files(void *arg)
{
    (void)arg;
    return true;
}

static int read_answer(int fd, uint64_t size, struct buf *to)
{
    char *room;
    scoped(fd_scoped) int own = fd;
    CHECK_OK(buf_reserve(to, size, &room));
    CHECK_INT(sys_pread_full(own, room, size, 0), size);
    buf_advance(to, size);
    return 0;
}

static int give_tree(void *arg, const struct oci_digest *diff_id, struct buf *to, struct err *err)
{
    int fd;
    uint64_t size;
    (void)arg;
    origin.n_trees++;
    if (origin.forged_tree.n)
        return buf_add_str(to, buf_str(&origin.forged_tree));
    if (origin.gives_other_tree)
        diff_id = &images[1].diff_id;
    int r = mirror_files_tree(origin.server, diff_id, &fd, &size, err);
    if (r >= 0)
        r = read_answer(fd, size, to);
    if (r >= 0 && origin.spoils_trees)
        to->p[to->n / 2] ^= 1;
    if (r >= 0 && origin.kept)
        origin.kept->tree = str_copy_arena(&origin.memory, buf_str(to));
    return r;
}

static int give_parcel(void *arg, struct str request, struct buf *to, struct err *err)
{
    int fd;
    uint64_t size;
    (void)arg;
    origin.n_parcels++;
    int r = mirror_files_parcel(origin.server, request, &fd, &size, err);
    if (r >= 0)
        r = read_answer(fd, size, to);
    if (r >= 0 && origin.spoils_parcels)
        to->p[to->n - 1] ^= 0x40;
    origin.n_parcel_bytes += to->n;
    if (r >= 0 && origin.kept) {
        CHECK(origin.kept->n < OCI_LAYER_DELTA_PARCELS_MAX);
        origin.kept->parcels[origin.kept->n].request = str_copy_arena(&origin.memory, request);
        origin.kept->parcels[origin.kept->n++].answer = str_copy_arena(&origin.memory, buf_str(to));
    }
    return r;
}

static const struct oci_origin_parts parts = { .has_files = has_files,
                                               .tree = give_tree,
                                               .parcel = give_parcel };

static void on_fallback(void *arg, const struct oci_pull_layer *layer, const char *why)
{
    (void)arg, (void)layer;
    (void)snprintf(origin.why, sizeof origin.why, "%s", why);
}

static bool is_not_the_first(struct oci_store *s, const struct oci_digest *diff_id)
{
    (void)s;
    return !oci_digest_equal(diff_id, &images[1].diff_id);
}

static bool asks_for_form;
static size_t n_other_form;

static void on_other_form(void *arg, const struct oci_pull_layer *layer, const char *why)
{
    (void)arg, (void)layer;
    CHECK(strstr(why, "sparse files"));
    n_other_form++;
}

static struct oci_pull_result pull(struct oci_store *s, unsigned version, bool is_by_blobs,
                                   bool is_whole)
{
    struct oci_pull_result res;
    struct err err = { 0 };
    make_image(version);
    origin.image = &images[version];
    origin.n_trees = origin.n_parcels = origin.n_blobs = 0;
    origin.n_parcel_bytes = 0;
    const struct oci_pull_opts opts = {
        .origin = { .image = give_image, .blob = give_blob, .parts = &parts },
        .name = STR("app:v"),
        .platform = oci_platform_here(),
        .is_by_blobs = is_by_blobs,
        .is_whole = is_whole,
        .may_show = origin.is_secret ? is_not_the_first : NULL,
        .on_fallback = on_fallback,
        .has_form = asks_for_form,
        .on_other_form = on_other_form,
    };
    if (oci_pull(s, &opts, &res, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return res;
}

static int add_to_buf(void *arg, struct str bytes, struct err *err)
{
    (void)err;
    return buf_add_str(arg, bytes);
}

static void check_layer(struct oci_store *s, unsigned version)
{
    const struct image *m = &images[version];
    struct buf found = BUF_INIT(TAR_MAX);
    CHECK_OK(oci_store_layer_read(s, &m->diff_id, add_to_buf, &found, NULL));
    CHECK_INT(found.n, m->tar.n);
    CHECK(memcmp(found.p, m->tar.p, found.n) == 0);
    buf_fini(&found);
}

/* stores[0] has version 1, stores[1] serves both; origin serves version 2. */
static void begin_as(struct oci_store **stores, enum oci_store_form node,
                     enum oci_store_form server)
{
    stores[0] = new_store(0, node);
    stores[1] = new_store(1, server);
    memset(&origin, 0, sizeof origin);
    origin.server = stores[1];
    (void)pull(stores[0], 1, true, false);
    (void)pull(stores[1], 1, true, false);
    (void)pull(stores[1], 2, true, false);
}

static void begin(struct oci_store **stores)
{
    begin_as(stores, OCI_STORE_RAW, OCI_STORE_RAW);
}

/* ---- pulls ---- */

TEST(an_update_fetches_what_changed_alone)
{
    struct oci_store *stores[2];
    begin(stores);
    struct oci_pull_result res = pull(stores[0], 2, false, false);
    CHECK_INT(res.n_by_files, 1);
    CHECK_INT(origin.n_blobs, 0);
    CHECK_INT(origin.n_parcels, 1);
    /* Five small files of 2 KB are new; of the large one, under another name, a few bytes are. */
    CHECK(origin.n_parcel_bytes > 5000 && origin.n_parcel_bytes < 12000);
    CHECK_INT(res.n_blob_bytes, images[2].blob.n);
    CHECK_INT(res.n_tar_bytes, images[2].tar.n);
    CHECK(res.n_bytes < images[2].blob.n / 4);
    check_layer(stores[0], 2);
    struct oci_store_check_result checked;
    struct err err = { 0 };
    CHECK_OK(oci_store_check(stores[0], &(struct oci_store_check_opts){ 0 }, &checked, &err));
    CHECK_INT(checked.n_damaged + checked.n_incomplete, 0);
    close_all(stores);
}

/* Of a layer with a sparse file a store of this form keeps the tar; the others have none. */
TEST(files_that_are_kept_by_their_contents_are_given_and_used)
{
    static const enum oci_store_form forms[][2] = { { OCI_STORE_CAS, OCI_STORE_RAW },
                                                    { OCI_STORE_RAW, OCI_STORE_CAS },
                                                    { OCI_STORE_CAS, OCI_STORE_CAS } };
    for (int hole = 0; hole < 2; hole++)
        for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
            struct oci_store *stores[2];
            struct oci_store_check_result checked;
            struct err err = { 0 };
            set_hole(hole);
            begin_as(stores, forms[i][0], forms[i][1]);
            struct oci_pull_result res = pull(stores[0], 2, false, false);
            CHECK_INT(res.n_by_files, 1);
            CHECK_INT(origin.n_blobs, 0);
            CHECK(origin.n_parcel_bytes > 5000 && origin.n_parcel_bytes < 12000);
            check_layer(stores[0], 2);
            for (size_t k = 0; k < 2; k++)
                CHECK_INT(oci_store_layer_is_shared(stores[k], &images[2].diff_id),
                          forms[i][k] == OCI_STORE_CAS && !hole);
            CHECK_OK(
                oci_store_check(stores[0], &(struct oci_store_check_opts){ 0 }, &checked, &err));
            CHECK_INT(checked.n_damaged + checked.n_incomplete, 0);
            close_all(stores);
        }
}

TEST(a_pull_tells_of_a_layer_whose_files_cannot_be_shared)
{
    static const enum oci_store_form before[] = { OCI_STORE_CAS, OCI_STORE_RAW, OCI_STORE_GZ };
    for (int hole = 0; hole < 2; hole++)
        for (size_t i = 0; i < ARRAY_LEN(before); i++) {
            set_hole(hole);
            struct oci_store *stores[2] = { new_store(0, before[i]), new_store(1, OCI_STORE_RAW) };
            n_other_form = 0;
            asks_for_form = before[i] == OCI_STORE_CAS;
            (void)pull(stores[0], 1, true, true);
            CHECK_INT(n_other_form, asks_for_form && hole);
            oci_store_close(stores[0]); /* and of one that is here */
            CHECK_OK(
                oci_store_open(&(struct oci_store_opts){ .root = roots[0], .form = OCI_STORE_CAS },
                               &stores[0], NULL));
            asks_for_form = true;
            n_other_form = 0;
            (void)pull(stores[0], 1, true, true);
            CHECK_INT(n_other_form, hole);
            asks_for_form = false;
            close_all(stores);
        }
    set_hole(true);
}

/* What the index says is here may have left with another layer, or rotted to another size. */
TEST(a_file_that_left_the_store_costs_the_blob)
{
    struct oci_store *stores[2];
    char path[192], hex[SHA256_HEX_SIZE];
    set_hole(false);
    for (unsigned damage = 0; damage < 2; damage++) {
        begin_as(stores, OCI_STORE_CAS, OCI_STORE_CAS);
        scoped(free_scoped) char *content = letters(2000, 7);
        uint8_t digest[SHA256_BYTES];
        sha256_of(str_of(content), digest);
        hex_format(digest, sizeof digest, hex);
        for (size_t i = 0; i < 2; i++) {
            (void)snprintf(path, sizeof path, "%s/objects/%.2s/%s", roots[i], hex, hex);
            CHECK_OK(unlink(path));
            scoped(fd_scoped) int fd = damage ? open(path, O_WRONLY | O_CREAT, 0444) : -1;
            CHECK(!damage || write(fd, "other", 5) == 5);
        }
        CHECK_INT(pull(stores[0], 2, false, false).n_by_files, 0);
        CHECK_INT(origin.n_blobs, 1);
        check_layer(stores[0], 2); /* its import has brought the file again */
        check_layer(stores[0], 1);
        close_all(stores);
    }
}

static void change_content(const char *path, const char *text)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(64 << 20);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &b, NULL));
    ssize_t at = str_find(buf_str(&b), str_of(text));
    CHECK(at >= 0);
    scoped(fd_scoped) int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0 && pwrite(fd, "#", 1, at + 500) == 1);
}

/* One that is taken as it is, and the older version of one that changed: the server did not lie. */
TEST(a_file_that_rotted_here_is_no_lie_of_the_server)
{
    for (unsigned is_base = 0; is_base < 2; is_base++) {
        struct oci_store *stores[2];
        begin(stores);
        scoped(free_scoped) char *content = is_base ? letters(BIG, 1) : letters(2000, 7);
        scoped(free_scoped) char *tar =
            oci_store_layer_path(stores[0], &images[1].diff_id, "data.tar");
        content[is_base ? 20000 : 2000] = 0; /* before its first change */
        change_content(tar, content + (is_base ? 15000 : 0));
        origin.why[0] = 0;
        CHECK_INT(pull(stores[0], 2, false, false).n_by_files, 0);
        CHECK(strstr(origin.why, "a file of the store is damaged"));
        CHECK_INT(origin.n_blobs, 1);
        check_layer(stores[0], 2);
        close_all(stores);
    }
}

TEST(a_server_without_the_old_version_sends_files_whole)
{
    struct oci_store *stores[2];
    begin(stores);
    CHECK_OK(oci_store_layer_remove(stores[1], &images[1].diff_id, NULL));
    struct oci_pull_result res = pull(stores[0], 2, false, false);
    CHECK_INT(res.n_by_files, 1);
    CHECK(origin.n_parcel_bytes > BIG / 2); /* 90 letters: less than 7 of 8 bits */
    check_layer(stores[0], 2);
    close_all(stores);
}

TEST(lies_cost_bytes_and_nothing_else)
{
    for (unsigned lie = 0; lie < 3; lie++) {
        struct oci_store *stores[2];
        begin(stores);
        origin.spoils_parcels = lie == 0;
        origin.spoils_trees = lie == 1;
        origin.gives_other_tree = lie == 2;
        struct oci_pull_result res = pull(stores[0], 2, false, false);
        CHECK_INT(res.n_by_files, 0);
        CHECK_INT(origin.n_trees, 1);
        CHECK_INT(origin.n_blobs, 1);
        CHECK_INT(res.n_blob_bytes, 0);
        CHECK(res.n_bytes >= images[2].blob.n);
        check_layer(stores[0], 2);
        close_all(stores);
    }
}

TEST(a_layer_that_the_server_lacks_comes_as_its_blob)
{
    struct oci_store *stores[2];
    begin(stores);
    CHECK_OK(oci_store_layer_remove(stores[1], &images[2].diff_id, NULL));
    CHECK_INT(pull(stores[0], 2, false, false).n_by_files, 0);
    CHECK_INT(origin.n_parcels, 0);
    CHECK_INT(origin.n_blobs, 1);
    check_layer(stores[0], 2);
    close_all(stores);
}

TEST(files_are_not_asked_for_where_blobs_are_wanted)
{
    static const enum oci_store_form forms[] = { OCI_STORE_GZ, OCI_STORE_BOTH, OCI_STORE_RAW,
                                                 OCI_STORE_RAW };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct oci_store *stores[2];
        begin(stores);
        oci_store_close(stores[0]);
        (void)nftw(roots[0], remove_one, 16, FTW_DEPTH | FTW_PHYS);
        stores[0] = new_store(0, forms[i]);
        (void)pull(stores[0], 1, true, false);
        CHECK_INT(pull(stores[0], 2, i == 2, i == 3).n_by_files, 0);
        CHECK_INT(origin.n_trees, 0);
        close_all(stores);
    }
}

TEST(a_store_with_nothing_of_the_layer_takes_the_blob)
{
    struct oci_store *stores[2];
    begin(stores);
    CHECK_OK(oci_store_layer_remove(stores[0], &images[1].diff_id, NULL));
    CHECK_INT(pull(stores[0], 2, false, false).n_by_files, 0);
    CHECK_INT(origin.n_blobs, 1);
    close_all(stores);
}

TEST(layers_that_must_not_be_shown_are_not_used)
{
    struct oci_store *stores[2];
    begin(stores);
    origin.is_secret = true;
    CHECK_INT(pull(stores[0], 2, false, false).n_by_files, 0);
    CHECK_INT(origin.n_trees + origin.n_parcels, 0);
    CHECK_INT(origin.n_blobs, 1);
    close_all(stores);
}

/* ---- tree manifests ---- */

static int give_from_tar(void *arg, const struct oci_skeleton_part *p, oci_skeleton_sink sink,
                         void *sink_arg, struct err *err)
{
    const struct buf *tar = arg;
    return sink(sink_arg, str_n(tar->p + p->offset, (size_t)p->size), err);
}

static void write_tree(struct oci_store *s, struct buf *to)
{
    int fd;
    uint64_t size;
    struct err err = { 0 };
    if (mirror_files_tree(s, &images[2].diff_id, &fd, &size, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    (void)read_answer(fd, size, to);
}

/* ---- deltas that are made in advance ---- */

/* Make version 2 in the store with this delta. */
static int make_with(struct oci_store *s, const struct oci_layer_delta *d, struct err *err)
{
    struct oci_pull_files_result res;
    struct buf bytes = BUF_INIT(TAR_MAX);
    struct oci_contents *contents;
    CHECK_OK(oci_layer_delta_write(d, &bytes, err));
    CHECK_OK(oci_contents_new(s, NULL, &contents, err));
    const struct oci_pull_files how = { .s = s,
                                        .contents = contents,
                                        .import = { .diff_id = images[2].diff_id },
                                        .blob_size = images[2].blob.n,
                                        .delta = buf_str(&bytes) };
    int r = oci_pull_files(&how, &res, err);
    CHECK_INT(res.n_bytes, bytes.n);
    oci_contents_free(contents);
    buf_fini(&bytes);
    return r;
}

/* What the server's store says that a node with version 1 needs; it makes no layer. */
static void make_delta(struct oci_store *server, struct oci_layer_delta *ret)
{
    struct oci_pull_files_result res;
    struct err err = { 0 };
    const struct oci_origin from = { .parts = &parts };
    struct oci_contents *older = oci_contents_of(server, &images[1].diff_id, 1, NULL);
    const struct oci_pull_files how = { .s = server,
                                        .contents = older,
                                        .origin = &from,
                                        .import = { .diff_id = images[2].diff_id },
                                        .blob_size = images[2].blob.n };
    ret->n = 0;
    origin.kept = ret;
    if (oci_pull_files_ask(&how, &res, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    origin.kept = NULL;
    CHECK_INT(ret->n, 1);
    oci_contents_free(older);
}

TEST(a_delta_makes_the_layer_without_the_server)
{
    static struct oci_layer_delta delta;
    struct oci_store *stores[2];
    struct err err = { 0 };
    begin(stores);
    make_delta(stores[1], &delta);
    origin.n_trees = origin.n_parcels = 0;
    if (make_with(stores[0], &delta, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    CHECK_INT(origin.n_trees + origin.n_parcels, 0);
    check_layer(stores[0], 2);
    arena_fini(&origin.memory);
    close_all(stores);
}

TEST(a_delta_that_does_not_fit_is_refused)
{
    static struct oci_layer_delta delta, wrong;
    struct oci_store *stores[2];
    struct err err = { 0 };
    begin(stores);
    make_delta(stores[1], &delta);
    struct str request = delta.parcels[0].request, answer = delta.parcels[0].answer;
    char *other = arena_new_n(&origin.memory, char, request.n);
    wrong = delta;
    memcpy(other, request.p, request.n);
    other[request.n - 1] ^= 1; /* of the digest of the last file */
    wrong.parcels[0].request.p = other;
    CHECK_ERR(make_with(stores[0], &wrong, &err), E_PARSE);
    memcpy(other, request.p, request.n);
    other[24 + SHA256_BYTES * 2] ^= 1; /* of the digest of the base, after two layers */
    CHECK_ERR(make_with(stores[0], &wrong, &err), E_UNSUPPORTED);
    wrong = delta;
    wrong.n = 0; /* files that the store lacks are not in it */
    CHECK_ERR(make_with(stores[0], &wrong, &err), E_UNSUPPORTED);
    wrong.parcels[1] = wrong.parcels[0];
    wrong.n = 2; /* 256 times a few bytes that unpack to 128 MiB */
    CHECK_ERR(make_with(stores[0], &wrong, &err), E_PARSE);
    wrong = delta;
    wrong.parcels[0].answer.n--;
    CHECK_ERR(make_with(stores[0], &wrong, &err), E_PARSE);
    wrong = delta;
    wrong.tree.n = 0;
    CHECK_ERR(make_with(stores[0], &wrong, &err), E_CORRUPT);
    /* Old files that are gone: only the parcel tells. */
    CHECK_OK(oci_store_layer_remove(stores[0], &images[1].diff_id, NULL));
    CHECK_ERR(make_with(stores[0], &delta, &err), E_UNSUPPORTED);
    CHECK(answer.n && !oci_store_layer_has(stores[0], &images[2].diff_id));
    arena_fini(&origin.memory);
    close_all(stores);
}

/* ---- members of a blob ---- */

enum { MEMBER_BYTES = 64 << 10 };

static struct {
    struct buf blob, tree; /* of images[3] */
    const char *leaving;   /* a file that is removed before the first range comes; NULL: none */
} members;

static int give_range(void *arg, const struct oci_descriptor *d, uint64_t from, uint64_t to,
                      oci_blob_sink sink, void *sink_arg, struct err *err)
{
    (void)arg, (void)d;
    if (members.leaving)
        (void)unlink(members.leaving);
    return sink(sink_arg, str_n(members.blob.p + from, (size_t)(to - from)), err);
}

static void make_members(struct oci_store *server)
{
    struct oci_member list[64];
    struct buf manifest = BUF_INIT(OCI_TREE_MANIFEST_MAX);
    struct err err = { 0 };
    int fd;
    uint64_t size;
    size_t n = 0;
    (void)pull(server, 3, true, false);
    members.blob = members.tree = BUF_INIT(TAR_MAX);
    for (struct str left = buf_str(&images[3].tar), part; left.n; n++) {
        size_t before = members.blob.n;
        struct gzip *g = gzip_new();
        part = str_slice(left, 0, MEMBER_BYTES);
        left = str_slice(left, part.n, left.n);
        CHECK(n < ARRAY_LEN(list));
        CHECK_OK(gzip_add(g, part, true, &members.blob));
        gzip_free(g);
        list[n] = (struct oci_member){ (uint32_t)(members.blob.n - before), (uint32_t)part.n };
    }
    if (mirror_files_tree(server, &images[3].diff_id, &fd, &size, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    (void)read_answer(fd, size, &manifest);
    CHECK_OK(oci_layer_tree_write(list, n, buf_str(&manifest), &members.tree, &err));
    buf_fini(&manifest);
}

static int make_of_members(struct oci_store *s, struct oci_pull_members_result *ret,
                           struct err *err)
{
    static const struct oci_origin_parts ranges = { .has_files = has_files, .range = give_range };
    const struct oci_origin from = { .parts = &ranges };
    const struct oci_descriptor blob = { .size = members.blob.n };
    struct oci_contents *contents;
    CHECK_OK(oci_contents_new(s, NULL, &contents, err));
    struct oci_table_reader *tables = oci_table_reader_new(NULL, NULL, NULL);
    const struct oci_pull_members how = { .s = s,
                                          .contents = contents,
                                          .origin = &from,
                                          .blob = &blob,
                                          .import = { .diff_id = images[3].diff_id },
                                          .tables = tables,
                                          .tree = buf_str(&members.tree) };
    int r = oci_pull_members(&how, ret, err);
    oci_table_reader_free(tables);
    oci_contents_free(contents);
    buf_fini(&members.blob);
    buf_fini(&members.tree);
    return r;
}

TEST(members_with_files_that_the_store_lacks_are_fetched_alone)
{
    static const enum oci_store_form forms[] = { OCI_STORE_RAW, OCI_STORE_CAS };
    set_hole(false);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct oci_store *stores[2];
        struct oci_pull_members_result res;
        struct err err = { 0 };
        begin_as(stores, forms[i], OCI_STORE_RAW);
        make_members(stores[1]);
        size_t n_blob = members.blob.n;
        if (make_of_members(stores[0], &res, &err) < 0)
            TEST_FAIL("%s", err_text(&err));
        CHECK(res.n_bytes > 0 && res.n_bytes < n_blob * 2 / 3);
        check_layer(stores[0], 3);
        close_all(stores);
    }
    set_hole(true);
}

TEST(a_layer_of_members_that_fails_for_a_file_here_says_so)
{
    struct oci_store *stores[2];
    struct oci_pull_members_result res;
    struct err err = { 0 };
    scoped(free_scoped) char *big = letters(BIG, 1);
    begin(stores);
    make_members(stores[1]);
    scoped(free_scoped) char *tar = oci_store_layer_path(stores[0], &images[1].diff_id, "data.tar");
    char piece[2001] = { 0 };
    memcpy(piece, big + 200000, sizeof piece - 1);
    change_content(tar, piece);
    CHECK_ERR(make_of_members(stores[0], &res, &err), -EIO);
    CHECK(strstr(err_text(&err), "a file of the store is damaged"));
    close_all(stores);
}

/* Whose place must not be taken by zeros: the members that hold it are not fetched. */
TEST(a_file_that_leaves_the_store_while_members_are_fetched_is_missing)
{
    struct oci_store *stores[2];
    struct oci_pull_members_result res;
    struct err err = { 0 };
    char path[192], hex[SHA256_HEX_SIZE];
    uint8_t digest[SHA256_BYTES];
    scoped(free_scoped) char *big = letters(BIG, 1);
    set_hole(false);
    begin_as(stores, OCI_STORE_CAS, OCI_STORE_RAW);
    make_members(stores[1]);
    sha256_of(str_of(big), digest);
    hex_format(digest, sizeof digest, hex);
    (void)snprintf(path, sizeof path, "%s/objects/%.2s/%s", roots[0], hex, hex);
    CHECK_OK(access(path, F_OK));
    members.leaving = path;
    CHECK_ERR(make_of_members(stores[0], &res, &err), -ENOENT);
    members.leaving = NULL;
    CHECK(!oci_store_layer_has(stores[0], &images[3].diff_id));
    close_all(stores);
    set_hole(true);
}

TEST(a_delta_reads_back_and_is_bounded)
{
    static struct oci_layer_delta d, again;
    struct buf b = BUF_INIT(1 << 20);
    d.tree = STR("a tree");
    d.n = OCI_LAYER_DELTA_PARCELS_MAX;
    for (size_t i = 0; i < d.n; i++) {
        d.parcels[i].request = str_slice(STR("requests"), 0, i % 8);
        d.parcels[i].answer = str_slice(STR("an answer"), 0, i % 9);
    }
    CHECK_OK(oci_layer_delta_write(&d, &b, NULL));
    CHECK_OK(oci_layer_delta_read(buf_str(&b), &again, NULL));
    CHECK(again.n == d.n && str_eq(again.tree, d.tree));
    for (size_t i = 0; i < d.n; i++)
        CHECK(str_eq(again.parcels[i].request, d.parcels[i].request) &&
              str_eq(again.parcels[i].answer, d.parcels[i].answer));
    for (size_t n = 0; n < b.n; n += n < 100 ? 1 : 97)
        CHECK_ERR(oci_layer_delta_read(str_slice(buf_str(&b), 0, n), &again, NULL), E_PARSE);
    b.p[8] = 2;
    CHECK_ERR(oci_layer_delta_read(buf_str(&b), &again, NULL), E_VERSION);
    b.p[8] = 1;
    b.p[13] = 2; /* 512 parcels more */
    CHECK_ERR(oci_layer_delta_read(buf_str(&b), &again, NULL), E_LIMIT);
    buf_fini(&b);
}

TEST(a_tree_manifest_gives_the_tar_bit_for_bit)
{
    struct oci_store *stores[2];
    struct oci_tree_manifest m;
    struct buf tree = BUF_INIT(OCI_TREE_MANIFEST_MAX), made = BUF_INIT(TAR_MAX);
    struct err err = { 0 };
    begin(stores);
    write_tree(stores[1], &tree);
    if (oci_tree_manifest_read(buf_str(&tree), &m, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    CHECK_INT(m.n, 1);
    CHECK_INT(m.layers[0].skeleton.n_parts, 1 + SMALL_FILES + 2);
    CHECK(memcmp(m.layers[0].layer->diff_id, images[2].diff_id.bytes, SHA256_BYTES) == 0);
    CHECK_OK(oci_skeleton_make_tar(&m.layers[0].skeleton, give_from_tar, &images[2].tar, add_to_buf,
                                   &made, &err));
    CHECK_INT(made.n, images[2].tar.n);
    CHECK(memcmp(made.p, images[2].tar.p, made.n) == 0);
    CHECK(tree.n < images[2].tar.n / 20);
    oci_tree_manifest_fini(&m);
    buf_fini(&tree);
    buf_fini(&made);
    close_all(stores);
}

TEST(a_damaged_tree_manifest_is_refused)
{
    struct oci_store *stores[2];
    struct oci_tree_manifest m;
    struct buf tree = BUF_INIT(OCI_TREE_MANIFEST_MAX), forged = BUF_INIT(OCI_TREE_MANIFEST_MAX);
    begin(stores);
    write_tree(stores[1], &tree);
    for (size_t i = 0; i < tree.n; i += 37) {
        tree.p[i] ^= 0x10;
        CHECK(oci_tree_manifest_read(buf_str(&tree), &m, NULL) < 0);
        tree.p[i] ^= 0x10;
    }
    for (size_t n = 0; n < tree.n; n += 101)
        CHECK(oci_tree_manifest_read(str_n(tree.p, n), &m, NULL) < 0);
    /* With a right checksum: more layers than there are, a skeleton that is longer. */
    for (size_t at = 12; at <= 24; at += 12) {
        buf_reset(&forged);
        CHECK_OK(buf_add(&forged, tree.p, tree.n - 8));
        forged.p[at]++;
        CHECK_OK(buf_add_le64(&forged, oci_tree_manifest_sum(buf_str(&forged))));
        CHECK_ERR(oci_tree_manifest_read(buf_str(&forged), &m, NULL),
                  at == 12 ? E_LIMIT : E_CORRUPT);
    }
    buf_fini(&tree);
    buf_fini(&forged);
    close_all(stores);
}

static ssize_t read_text(void *arg, void *p, size_t n, uint64_t offset)
{
    const struct str *text = arg;
    struct str part = str_slice(*text, (size_t)offset, MIN((size_t)offset + n, text->n));
    memcpy(p, part.p, part.n);
    return (ssize_t)part.n;
}

/* A layer without files whose tar is `skeleton`. */
static void forge_tree(struct str skeleton, size_t n_layers, struct buf *to)
{
    struct oci_layer layer = { .n_bytes = skeleton.n };
    struct buf frame = BUF_INIT(1 << 20);
    struct err err = { 0 };
    memcpy(layer.diff_id, images[2].diff_id.bytes, SHA256_BYTES);
    CHECK_OK(oci_skeleton_pack(&layer, read_text, &skeleton, OCI_TREE_LEVEL, &frame, &err));
    const struct oci_tree_source from = { &layer, buf_str(&frame) };
    int r =
        oci_tree_manifest_write((const struct oci_tree_source[]){ from, from }, n_layers, to, &err);
    CHECK_INT(r, n_layers > OCI_TREE_LAYERS_MAX ? E_LIMIT : 0);
    buf_fini(&frame);
}

TEST(a_tree_manifest_has_one_layer)
{
    struct buf tree = BUF_INIT(1 << 20);
    make_image(2);
    forge_tree(STR("a tar"), 1, &tree);
    buf_reset(&tree);
    forge_tree(STR("a tar"), 2, &tree);
    buf_fini(&tree);
}

TEST(a_skeleton_that_inflates_gives_no_more_than_the_layer_has)
{
    struct oci_store *stores[2];
    scoped(free_scoped) char *zeros = xalloc(1 << 20);
    struct buf bomb = BUF_INIT(1 << 20);
    struct gzip *g = gzip_new();
    begin(stores);
    memset(zeros, 0, 1 << 20);
    CHECK_OK(gzip_add(g, str_n(zeros, 1 << 20), true, &bomb));
    gzip_free(g);
    origin.forged_tree = BUF_INIT(1 << 20);
    forge_tree(buf_str(&bomb), 1, &origin.forged_tree);
    CHECK_INT(pull(stores[0], 2, false, false).n_by_files, 0);
    CHECK(bomb.n < (64 << 10) && strstr(origin.why, "the layer has more than"));
    check_layer(stores[0], 2);
    buf_fini(&origin.forged_tree);
    buf_fini(&bomb);
    close_all(stores);
}

/* ---- parcels ---- */

TEST(a_parcel_is_small_where_its_bases_are_alike)
{
    scoped(free_scoped) char *old = letters(BIG, 5), *new = letters(BIG, 5);
    struct buf alone = BUF_INIT(OCI_PARCEL_ANSWER_MAX), packed = BUF_INIT(OCI_PARCEL_ANSWER_MAX);
    struct oci_parcel p = { .has_base = (const uint8_t *)"\1\0",
                            .has_file = (const uint8_t *)"\1",
                            .n_bases = 2,
                            .n_files = 1 };
    struct oci_parcel again;
    scoped(free_scoped) char *unpacked = xalloc(BIG);
    memset(new + BIG / 2, 'x', 10);
    CHECK_OK(oci_parcel_write(&p, STR(""), str_n(new, BIG), &alone, NULL));
    CHECK_OK(oci_parcel_write(&p, str_n(old, BIG), str_n(new, BIG), &packed, NULL));
    CHECK(packed.n < 300 && alone.n > BIG / 2);
    CHECK_OK(oci_parcel_read(buf_str(&packed), &again, NULL));
    CHECK(again.n_bases == 2 && again.has_base[0] == 1 && again.has_base[1] == 0);
    CHECK(again.n_files == 1 && again.has_file[0] == 1 && again.n_bytes == BIG);
    CHECK_OK(oci_parcel_unpack(&again, str_n(old, BIG), unpacked, NULL));
    CHECK(memcmp(unpacked, new, BIG) == 0);
    /* Other bases: an error, or other bytes, which the digest finds. */
    old[BIG / 3] ^= 1;
    if (oci_parcel_unpack(&again, str_n(old, BIG), unpacked, NULL) >= 0)
        CHECK(memcmp(unpacked, new, BIG) != 0);
    CHECK_ERR(oci_parcel_read(str_n(packed.p, 20), &again, NULL), E_PARSE);
    packed.p[8] = 2;
    CHECK_ERR(oci_parcel_read(buf_str(&packed), &again, NULL), E_VERSION);
    buf_fini(&alone);
    buf_fini(&packed);
}

/* Files of this process that have no name, as answers have none. */
static size_t n_unnamed(uint64_t *ret_bytes)
{
    size_t n = 0;
    struct stat st;
    *ret_bytes = 0;
    for (int fd = 3; fd < 1024; fd++)
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0) {
            n++;
            *ret_bytes += (uint64_t)st.st_size;
        }
    return n;
}

/* A request for one file of a layer against a base that nobody has: each is another request. */
static void ask(struct mirror *m, unsigned image, const struct oci_digest *file, unsigned n)
{
    struct buf text = BUF_INIT(OCI_PARCEL_REQUEST_MAX);
    struct oci_digest base = { { (uint8_t)n, (uint8_t)(n >> 8) } };
    const struct oci_parcel_request q = { &images[image].diff_id, &base, file, 1, 1, 1 };
    struct mirror_request request = { .kind = MIRROR_FILES };
    struct mirror_found found;
    struct err err = { 0 };
    CHECK_OK(oci_parcel_request_write(&q, &text, NULL));
    request.body = buf_str(&text);
    if (mirror_find(m, &request, false, &found, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    mirror_found_fini(&found);
    buf_fini(&text);
}

TEST(answers_are_kept_within_bounds)
{
    struct oci_store *stores[2];
    struct oci_digest big;
    uint64_t before, after;
    scoped(free_scoped) char *content = letters(BIG, 1);
    begin(stores);
    struct mirror *m = mirror_new(stores[1]);
    size_t n = n_unnamed(&before);
    content[1000] = '~';
    sha256_of(str_n(content, BIG), big.bytes);
    ask(m, 2, &big, 0);
    ask(m, 2, &big, 0);
    CHECK_INT(n_unnamed(&after) - n, 1);
    CHECK(after - before > BIG / 2);
    for (unsigned i = 1; i < MIRROR_ANSWERS_MAX + 10; i++)
        ask(m, 2, &big, i);
    CHECK_INT(n_unnamed(&after) - n, MIRROR_ANSWERS_MAX);
    CHECK_INT(mirror_sweep(m, UINT64_MAX), UINT64_MAX);
    CHECK_INT(n_unnamed(&after) - n, 0);
    free(content);
    content = letters(HUGE_FILE, 3);
    sha256_of(str_n(content, HUGE_FILE), big.bytes);
    (void)pull(stores[1], 0, true, false);
    for (unsigned i = 0; i < 6; i++)
        ask(m, 0, &big, i); /* 90 letters: 6.5 of 8 bits, so 14 MiB each */
    CHECK_INT(n_unnamed(&after) - n, 4);
    CHECK(after - before > MIRROR_ANSWERS_BYTES_MAX / 2);
    CHECK(after - before <= MIRROR_ANSWERS_BYTES_MAX);
    mirror_free(m);
    close_all(stores);
}

TEST(a_request_reads_back_and_is_bounded)
{
    struct arena a = { 0 };
    struct oci_digest all[3] = { { { 1 } }, { { 2 } }, { { 3 } } };
    struct oci_parcel_request q = { all, all + 1, all, 1, 2, 3 }, again;
    struct buf text = BUF_INIT(OCI_PARCEL_REQUEST_MAX);
    CHECK_OK(oci_parcel_request_write(&q, &text, NULL));
    CHECK_OK(oci_parcel_request_read(&a, buf_str(&text), &again, NULL));
    CHECK(again.n_layers == 1 && again.n_bases == 2 && again.n_files == 3);
    CHECK(oci_digest_equal(&again.bases[1], &all[2]) && oci_digest_equal(&again.files[2], &all[2]));
    for (size_t n = 0; n < text.n; n++)
        CHECK_ERR(oci_parcel_request_read(&a, str_n(text.p, n), &again, NULL), E_PARSE);
    q.n_files = OCI_PARCEL_FILES_MAX + 1;
    CHECK_ERR(oci_parcel_request_write(&q, &text, NULL), E_LIMIT);
    memset(text.p + 20, 0xff, 4);
    CHECK_ERR(oci_parcel_request_read(&a, buf_str(&text), &again, NULL), E_LIMIT);
    buf_fini(&text);
    arena_fini(&a);
}

TEST_MAIN
