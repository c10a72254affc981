/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node store: what is visible is whole, whatever fails and wherever it is killed. Images come
 * from an origin in memory: two that share a layer.
 */
#include "base/clock.h"
#include "base/map.h"
#include "base/sanitizer.h"
#include "base/sys.h"
#include "codec/gzip.h"
#include "image/layer_cache.h"
#include "image/layer_child.h"
#include "oci/pull.h"
#include "oci/store_int.h"
#include "tar_kit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* This program is the child that reads layers, too. */
__attribute__((constructor)) static void be_the_child(int argc, char **argv)
{
    if (argc > 1 && str_is(str_of(argv[1]), LAYER_CHILD_WORD))
        _exit(layer_child_main(argc, argv));
}

/* Each file is an object, thus some calls that are made to fail one after the other, each with the
 * whole of a scenario: few will do. */
enum { BLOB_MAX = 4 << 20, IMAGES = 2, LAYERS = 3, PER_IMAGE = 2, FILES = 4, NOISE_BYTES = 800 };

/* ---- the origin ---- */

struct made_layer {
    struct buf tar, blob;
    struct oci_digest diff_id, digest;
};

struct made_image {
    struct buf config, manifest;
    struct oci_digest config_digest, digest;
    struct arena parsed;
};

static struct {
    struct made_layer layers[LAYERS];
    struct made_image images[IMAGES];
    int fail_after; /* bytes of a blob, then -ECONNRESET; -1: never */
    bool is_made;
} world;

static void make_layer(struct made_layer *l, size_t i)
{
    struct tar_kit k = { BUF_INIT(BLOB_MAX) };
    char name[32], content[9000];
    memset(content, 'a' + (int)i, sizeof content);
    uint32_t seed = 1; /* the same for all: pulls begin with the largest layer */
    for (size_t n = 0; n < NOISE_BYTES; n++) { /* so that there is some of the blob left to cut */
        seed = seed * 1664525 + 1013904223;
        content[n] = (char)('a' + (seed >> 24) % 26);
    }
    content[sizeof content - 1] = 0;
    for (size_t f = 0; f < FILES; f++) {
        (void)snprintf(name, sizeof name, "layer%zu/file%zu", i, f);
        kit_file(&k, name, content + f * 100);
    }
    kit_end(&k);
    l->tar = k.out;
    l->blob = BUF_INIT(BLOB_MAX);
    struct gzip *g = gzip_new();
    CHECK_OK(gzip_add(g, buf_str(&l->tar), true, &l->blob));
    gzip_free(g);
    sha256_of(buf_str(&l->tar), l->diff_id.bytes);
    sha256_of(buf_str(&l->blob), l->digest.bytes);
}

/* Image i has layer 0 and layer i + 1. */
static void make_image(struct made_image *m, size_t i)
{
    const struct made_layer *layers[PER_IMAGE] = { &world.layers[0], &world.layers[i + 1] };
    char text[PER_IMAGE][OCI_DIGEST_TEXT_SIZE], config[OCI_DIGEST_TEXT_SIZE];
    m->config = m->manifest = BUF_INIT(1 << 20);
    for (size_t k = 0; k < PER_IMAGE; k++)
        oci_digest_format(&layers[k]->diff_id, text[k]);
    CHECK_OK(buf_printf(&m->config,
                        "{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"type\":"
                        "\"layers\",\"diff_ids\":[\"%s\",\"%s\"]}}",
                        text[0], text[1]));
    sha256_of(buf_str(&m->config), m->config_digest.bytes);
    oci_digest_format(&m->config_digest, config);
    for (size_t k = 0; k < PER_IMAGE; k++)
        oci_digest_format(&layers[k]->digest, text[k]);
    static const char type[] = "application/vnd.oci.image.layer.v1.tar+gzip";
    CHECK_OK(buf_printf(
        &m->manifest,
        "{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\","
        "\"config\":{\"mediaType\":\"application/vnd.oci.image.config.v1+json\",\"digest\":"
        "\"%s\",\"size\":%zu},\"layers\":[{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%zu},"
        "{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%zu}]}",
        config, m->config.n, type, text[0], layers[0]->blob.n, type, text[1], layers[1]->blob.n));
    sha256_of(buf_str(&m->manifest), m->digest.bytes);
}

static void make_world(void)
{
    if (world.is_made)
        return;
    world.is_made = true;
    world.fail_after = -1;
    for (size_t i = 0; i < LAYERS; i++)
        make_layer(&world.layers[i], i);
    for (size_t i = 0; i < IMAGES; i++)
        make_image(&world.images[i], i);
}

static int give_image(void *arg, const struct oci_platform *platform, struct oci_image *ret,
                      struct err *err)
{
    struct made_image *m = arg;
    struct oci_image image = { .digest = m->digest,
                               .manifest_text = buf_str(&m->manifest),
                               .config_text = buf_str(&m->config) };
    (void)platform;
    int r = oci_manifest_parse(&m->parsed, image.manifest_text, &image.manifest, err);
    r = r < 0 ? r : oci_config_parse(&m->parsed, image.config_text, &image.config, err);
    *ret = image;
    return r;
}

static int give_blob(void *arg, const struct oci_descriptor *d, uint64_t offset, oci_blob_sink sink,
                     void *sink_arg, struct err *err)
{
    (void)arg;
    for (size_t i = 0; i < LAYERS; i++) {
        const struct made_layer *l = &world.layers[i];
        if (!oci_digest_equal(&l->digest, &d->digest))
            continue;
        for (size_t at = offset; at < l->blob.n;) {
            size_t n = MIN(l->blob.n - at, (size_t)100);
            if (world.fail_after >= 0 && at >= (size_t)world.fail_after)
                return err_set(err, -ECONNRESET, "the origin is gone");
            int r = sink(sink_arg, str_slice(buf_str(&l->blob), at, at + n), err);
            if (r < 0)
                return r;
            at += n;
        }
        return 0;
    }
    return err_set(err, -ENOENT, "no such blob");
}

static const struct layer_reading_ops
    *reading; /* NULL: each layer is parsed on the pull's thread */

static uint64_t pull_wait_ms;
static bool pull_has_form, pull_has_no_blobs, pull_needs_blobs;
static size_t n_other_form; /* that pulls told of */

static void on_other_form(void *arg, const struct oci_pull_layer *layer, const char *why)
{
    (void)arg, (void)layer, (void)why;
    n_other_form++;
}

static int pull_as(struct oci_store *s, size_t image, const char *name, struct err *err)
{
    struct oci_pull_result res;
    struct oci_pull_opts opts = {
        .origin = { give_image, give_blob, &world.images[image], .is_remote = true },
        .name = str_of(name),
        .platform = oci_platform_here(),
        .threads = 1, /* so that the n-th call is the same one each time */
        .wait_ms = pull_wait_ms,
        .reading = reading,
        .has_form = pull_has_form,
        .needs_blobs = pull_needs_blobs,
        .on_other_form = on_other_form,
    };
    opts.origin.has_no_blobs = pull_has_no_blobs;
    return oci_pull(s, &opts, &res, err);
}

/* ---- directories ---- */

static char root[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static void remove_root(void)
{
    if (root[0])
        (void)nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    root[0] = 0;
}

static void new_root(void)
{
    make_world();
    remove_root();
    /* Memory where there is some: the many syncs of these tests cost minutes on a disk. */
    (void)snprintf(root, sizeof root, "%s/dm-store-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    CHECK(mkdtemp(root));
}

static size_t count_in(const char *dir)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", root, dir);
    DIR *d = opendir(path);
    size_t n = 0;
    CHECK(d);
    for (const struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    (void)closedir(d);
    return n;
}

static size_t count_objects(void)
{
    scoped(free_scoped) char *path = xasprintf("%s/objects", root);
    DIR *d = opendir(path);
    size_t n = 0;
    CHECK(d);
    for (const struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') {
            scoped(free_scoped) char *dir = xasprintf("objects/%s", e->d_name);
            n += count_in(dir);
        }
    (void)closedir(d);
    return n;
}

/* Files in tmp/<boot id>/. */
static size_t count_tmp(void)
{
    scoped(free_scoped) char *path = xasprintf("%s/tmp", root);
    DIR *d = opendir(path);
    size_t n = 0;
    CHECK(d);
    for (const struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') {
            scoped(free_scoped) char *boot = xasprintf("tmp/%s", e->d_name);
            n += count_in(boot);
        }
    (void)closedir(d);
    return n;
}

static struct oci_store *open_with(struct oci_store_opts opts)
{
    struct oci_store *s;
    struct err err = { 0 };
    opts.root = root;
    if (oci_store_open(&opts, &s, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return s;
}

static struct oci_store *open_store(void)
{
    return open_with((struct oci_store_opts){ 0 });
}

static void pull_ok(struct oci_store *s, size_t image, const char *name)
{
    struct err err = { 0 };
    if (pull_as(s, image, name, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
}

static int collect_text(void *arg, struct str bytes, struct err *err)
{
    (void)err;
    return buf_add_str(arg, bytes);
}

static void check_layer(struct oci_store *s, size_t i)
{
    const struct made_layer *l = &world.layers[i];
    scoped(buf_fini_scoped) struct buf got = BUF_INIT(BLOB_MAX);
    scoped(oci_layer_free_scoped) struct oci_layer *index = NULL;
    CHECK(oci_store_layer_has(s, &l->diff_id));
    CHECK_OK(oci_store_layer_read(s, &l->diff_id, collect_text, &got, NULL));
    CHECK(str_eq(buf_str(&got), buf_str(&l->tar)));
    CHECK_OK(oci_store_layer_index(s, &l->diff_id, &index, NULL));
    CHECK_INT(index->entries.n, FILES);
}

static char last_damage[512];

static void on_damage(void *arg, enum oci_store_damage_kind kind, const char *what, const char *why)
{
    (void)arg;
    (void)snprintf(last_damage, sizeof last_damage, "%d %s: %s", (int)kind, what, why);
}

static struct oci_store_check_result check_store(struct oci_store *s, bool remove)
{
    struct oci_store_check_opts opts = { .remove = remove, .on_damage = on_damage };
    struct oci_store_check_result res;
    struct err err = { 0 };
    if (oci_store_check(s, &opts, &res, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return res;
}

/* ---- where it is ---- */

static void put(const char *name, const char *text)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", root, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_INT(write(fd, text, strlen(text)), strlen(text));
    (void)close(fd);
}

static void put_dir(const char *name)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", root, name);
    CHECK_OK(mkdir(path, 0700));
}

static bool is_there(const char *name)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", root, name);
    return access(path, F_OK) == 0;
}

static int try_open(struct oci_store_opts opts, struct err *err)
{
    struct oci_store *s;
    opts.root = root;
    int r = oci_store_open(&opts, &s, err);
    if (r >= 0)
        oci_store_close(s);
    return r;
}

TEST(a_directory_of_others_becomes_no_store_and_keeps_its_files)
{
    struct err err = { 0 };
    new_root();
    put_dir("tmp");
    put_dir("trash");
    put_dir("tmp/w");
    put("tmp/w/f", "theirs");
    put("trash/f", "theirs");
    CHECK_ERR(try_open((struct oci_store_opts){ 0 }, &err), E_INVALID);
    CHECK(strstr(err_text(&err), root) && strstr(err_text(&err), "no store of images"));
    CHECK_ERR(try_open((struct oci_store_opts){ .must_exist = true }, NULL), E_INVALID);
    CHECK(is_there("tmp/w/f") && is_there("trash/f"));
    CHECK(!is_there("lock") && !is_there("version") && !is_there("refs"));
    new_root();
    put("version", "2\n");
    CHECK_ERR(try_open((struct oci_store_opts){ 0 }, NULL), E_VERSION);
    CHECK(!is_there("lock"));
    new_root();
    put("lock", "more than the id of a process\n");
    CHECK_ERR(try_open((struct oci_store_opts){ 0 }, NULL), E_INVALID);
    new_root();
    put(".hidden", "");
    CHECK_ERR(try_open((struct oci_store_opts){ 0 }, NULL), E_INVALID);
}

TEST(a_store_is_made_where_nothing_is_and_where_another_process_began_one)
{
    static const char *const marks[] = { "lost+found", "lock", ".version.0123456789abcdef.tmp" };
    for (size_t n = 0; n <= ARRAY_LEN(marks); n++) {
        new_root();
        for (size_t i = 0; i < n; i++)
            if (i == 0)
                put_dir(marks[i]);
            else
                put(marks[i], "1\n");
        CHECK_OK(try_open((struct oci_store_opts){ 0 }, NULL));
        CHECK(is_there("version") && is_there("refs") && (n == 0 || is_there("lost+found")));
        CHECK_OK(try_open((struct oci_store_opts){ .must_exist = true }, NULL));
    }
}

TEST(a_directory_without_a_version_is_no_store_for_readers_either)
{
    struct err err = { 0 };
    const struct oci_store_opts reader = { .is_reader = true };
    new_root();
    put_dir("refs");
    put_dir("layers");
    CHECK_ERR(try_open(reader, &err), -ENOENT);
    CHECK(strstr(err_text(&err), "is no store of images"));
    new_root();
    oci_store_close(open_store());
    CHECK_OK(try_open(reader, &err));
}

TEST(none_is_made_where_one_must_exist)
{
    new_root();
    CHECK_ERR(try_open((struct oci_store_opts){ .must_exist = true }, NULL), -ENOENT);
    CHECK(!is_there("lock") && !is_there("version"));
    CHECK_OK(rmdir(root));
    CHECK_ERR(try_open((struct oci_store_opts){ .must_exist = true }, NULL), -ENOENT);
    const struct oci_store_opts opts = { .root = root, .must_exist = true };
    struct oci_store *s;
    CHECK_ERR(layer_cache_open_store(&opts, IMAGE_CACHE_ARC, &s, NULL), -ENOENT);
    CHECK(access(root, F_OK) < 0);
}

/* ---- what it does ---- */

TEST(pulled_images_are_found_by_name_and_share_their_layers)
{
    static const enum oci_store_form forms[] = { OCI_STORE_RAW, OCI_STORE_GZ, OCI_STORE_BOTH,
                                                 OCI_STORE_CAS };
    for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
        struct oci_store_image image;
        struct oci_store_usage use;
        struct arena a = { 0 };
        struct oci_digest blob;
        uint64_t size;
        new_root();
        struct oci_store *s = open_with((struct oci_store_opts){ .form = forms[f] });
        pull_ok(s, 0, "docker.io/library/app:latest");
        pull_ok(s, 1, "other:v2");
        for (size_t i = 0; i < LAYERS; i++)
            check_layer(s, i);
        oci_store_usage(s, &use);
        CHECK_INT(use.n_layers, LAYERS);
        CHECK((use.layer_bytes > 0) == (forms[f] != OCI_STORE_GZ));
        bool has_blob = forms[f] == OCI_STORE_GZ || forms[f] == OCI_STORE_BOTH;
        CHECK((use.blob_bytes > 0) == has_blob);
        int fd = oci_store_layer_fd(s, &world.layers[0].diff_id, NULL);
        bool has_tar = forms[f] == OCI_STORE_RAW || forms[f] == OCI_STORE_BOTH;
        CHECK(has_tar ? fd >= 0 : fd == -ENODATA);
        fd_scoped(&fd);
        int r = oci_store_layer_blob(s, &world.layers[0].diff_id, &blob, &size, NULL);
        CHECK_INT(r, has_blob ? 0 : -ENOENT);
        CHECK_OK(oci_store_image_find(s, STR("app"), &a, &image, NULL));
        CHECK(oci_digest_equal(&image.manifest, &world.images[0].digest));
        CHECK_STR(image.platform, "linux/amd64");
        char hex[SHA256_HEX_SIZE];
        hex_format(world.images[1].digest.bytes, SHA256_BYTES, hex);
        CHECK_OK(oci_store_image_find(s, str_n(hex, 12), &a, &image, NULL));
        CHECK_STR(image.name, "other:v2");
        CHECK_ERR(oci_store_image_find(s, STR("other"), &a, &image, NULL), -ENOENT);
        CHECK_INT(count_tmp(), 0);
        CHECK_INT(check_store(s, false).n_damaged, 0);
        arena_fini(&a);
        oci_store_close(s);
    }
}

/* ---- layers that are here in another form ---- */

static bool has_tars(enum oci_store_form form)
{
    return form == OCI_STORE_RAW || form == OCI_STORE_BOTH;
}

static bool has_blobs(enum oci_store_form form)
{
    return form == OCI_STORE_GZ || form == OCI_STORE_BOTH;
}

static void check_parts(struct oci_store *s, size_t i, bool has_tar, bool has_blob)
{
    struct oci_digest blob;
    uint64_t size;
    const struct made_layer *l = &world.layers[i];
    scoped(buf_fini_scoped) struct buf got = BUF_INIT(BLOB_MAX);
    int fd = oci_store_layer_fd(s, &l->diff_id, NULL);
    CHECK(has_tar ? fd >= 0 : fd == -ENODATA);
    fd_scoped(&fd);
    CHECK_INT(oci_store_layer_blob(s, &l->diff_id, &blob, &size, NULL), has_blob ? 0 : -ENOENT);
    if (!has_blob)
        return;
    fd = oci_store_blob_fd(s, &l->digest, NULL);
    CHECK(fd >= 0 && oci_digest_equal(&blob, &l->digest) && size == l->blob.n);
    CHECK_OK(store_read_fd(fd, collect_text, &got, NULL));
    CHECK(str_eq(buf_str(&got), buf_str(&l->blob)));
    fd_scoped(&fd);
}

static int pull_with_form(struct oci_store *s)
{
    pull_has_form = true;
    int r = pull_as(s, 0, "app", NULL);
    pull_has_form = false;
    return r;
}

/* `made` before, and again by a pull that asked for `asked`. */
static void check_forms(struct oci_store *s, enum oci_store_form made, enum oci_store_form asked)
{
    struct oci_store_gc gc;
    uint64_t used = s->used_bytes;
    bool has_tar = has_tars(asked) || (has_tars(made) && asked == OCI_STORE_GZ);
    for (size_t i = 0; i < PER_IMAGE; i++) {
        check_layer(s, i);
        check_parts(s, i, has_tar, has_blobs(made) || has_blobs(asked));
        CHECK(asked != OCI_STORE_CAS || oci_store_layer_is_shared(s, &world.layers[i].diff_id));
    }
    CHECK_OK(store_count_used(s, NULL));
    CHECK_INT(used, s->used_bytes);
    CHECK_OK(oci_store_gc(s, false, &gc, NULL));
    CHECK_INT(gc.n_layers + gc.n_blobs + gc.n_objects, 0);
    CHECK_INT(check_store(s, false).n_damaged, 0);
    CHECK_INT(count_tmp(), 0);
}

TEST(a_pull_that_asks_for_a_form_brings_what_layers_that_are_here_lack)
{
    for (int made = OCI_STORE_RAW; made <= OCI_STORE_CAS; made++)
        for (int asked = OCI_STORE_RAW; asked <= OCI_STORE_CAS; asked++) {
            enum oci_store_form m = (enum oci_store_form)made, k = (enum oci_store_form)asked;
            new_root();
            struct oci_store *s = open_with((struct oci_store_opts){ .form = m });
            pull_ok(s, 0, "app");
            oci_store_close(s);
            s = open_with((struct oci_store_opts){ .form = k });
            pull_ok(s, 0, "app"); /* no form was asked for */
            for (size_t i = 0; i < PER_IMAGE; i++)
                check_parts(s, i, has_tars(m), has_blobs(m));
            CHECK_OK(oci_store_image_remove(s, STR("app"), NULL));
            CHECK_OK(pull_with_form(s));
            check_forms(s, m, k);
            oci_store_close(s);
        }
    CHECK_INT(n_other_form, 0);
}

TEST(a_pull_that_needs_blobs_brings_them_and_leaves_the_rest_as_it_is)
{
    for (int made = OCI_STORE_RAW; made <= OCI_STORE_CAS; made++) {
        enum oci_store_form m = (enum oci_store_form)made;
        new_root();
        struct oci_store *s = open_with((struct oci_store_opts){ .form = m });
        pull_ok(s, 0, "app");
        oci_store_close(s);
        s = open_with((struct oci_store_opts){ .form = OCI_STORE_BOTH });
        pull_needs_blobs = true;
        CHECK_OK(pull_as(s, 0, "app", NULL));
        pull_needs_blobs = false;
        for (size_t i = 0; i < PER_IMAGE; i++) {
            check_layer(s, i);
            check_parts(s, i, has_tars(m), true);
            CHECK_INT(oci_store_layer_is_shared(s, &world.layers[i].diff_id), m == OCI_STORE_CAS);
        }
        CHECK_INT(check_store(s, false).n_damaged, 0);
        oci_store_close(s);
    }
    CHECK_INT(n_other_form, 0);
}

TEST(a_blob_that_a_layer_lacks_is_kept_whole_or_not_at_all)
{
    new_root();
    struct oci_store *s = open_store();
    pull_ok(s, 0, "app");
    oci_store_close(s);
    s = open_with((struct oci_store_opts){ .form = OCI_STORE_BOTH });
    world.fail_after = 50;
    CHECK_ERR(pull_with_form(s), -ECONNRESET);
    for (size_t i = 0; i < PER_IMAGE; i++)
        check_parts(s, i, true, false);
    world.fail_after = -1;
    world.layers[0].blob.p[world.layers[0].blob.n / 2] ^= 1;
    CHECK(pull_with_form(s) < 0);
    check_parts(s, 0, true, false);
    check_layer(s, 0);
    world.layers[0].blob.p[world.layers[0].blob.n / 2] ^= 1;
    CHECK_OK(pull_with_form(s));
    check_forms(s, OCI_STORE_RAW, OCI_STORE_BOTH);
    oci_store_close(s);
}

TEST(a_pull_tells_of_layers_that_cannot_have_the_form_asked_for)
{
    new_root();
    struct oci_store *s = open_store();
    pull_ok(s, 0, "app");
    oci_store_close(s);
    s = open_with((struct oci_store_opts){ .form = OCI_STORE_BOTH });
    n_other_form = 0;
    pull_has_no_blobs = true;
    CHECK_OK(pull_with_form(s));
    pull_has_no_blobs = false;
    CHECK_INT(n_other_form, PER_IMAGE);
    for (size_t i = 0; i < PER_IMAGE; i++)
        check_parts(s, i, true, false);
    CHECK_OK(pull_with_form(s));
    CHECK_INT(n_other_form, PER_IMAGE);
    /* A layer keeps one blob: one that another image named stays. */
    struct oci_digest digest = world.layers[1].digest;
    scoped(free_scoped) char *note = oci_store_layer_path(s, &world.layers[0].diff_id, "blob");
    char text[OCI_DIGEST_TEXT_SIZE + 32], name[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&digest, name);
    (void)snprintf(text, sizeof text, "%s %zu\n", name, world.layers[1].blob.n);
    put(note + strlen(root) + 1, text);
    CHECK_OK(pull_with_form(s));
    CHECK_INT(n_other_form, PER_IMAGE + 1);
    oci_store_close(s);
    n_other_form = 0;
}

TEST(gc_removes_what_nothing_refers_to_and_nothing_else)
{
    struct oci_store_gc gc;
    new_root();
    struct oci_store *s = open_store();
    pull_ok(s, 0, "one");
    pull_ok(s, 1, "two");
    CHECK_OK(oci_store_gc(s, false, &gc, NULL));
    CHECK_INT(gc.n_layers + gc.n_documents + gc.n_indexes, 0);
    CHECK_OK(oci_store_image_remove(s, STR("one"), NULL));
    CHECK_OK(oci_store_gc(s, true, &gc, NULL));
    CHECK_INT(gc.n_layers, 1);
    CHECK(oci_store_layer_has(s, &world.layers[1].diff_id));
    oci_store_hold(s, &world.layers[1].diff_id);
    CHECK_OK(oci_store_gc(s, false, &gc, NULL));
    CHECK_INT(gc.n_layers, 0);
    CHECK_INT(gc.n_documents, 2);
    oci_store_release(s, &world.layers[1].diff_id);
    CHECK_OK(oci_store_gc(s, false, &gc, NULL));
    CHECK_INT(gc.n_layers, 1);
    CHECK_INT(gc.n_indexes, 1);
    CHECK(!oci_store_layer_has(s, &world.layers[1].diff_id));
    check_layer(s, 0);
    check_layer(s, 2);
    CHECK_INT(count_in("trash"), 4);
    CHECK_INT(oci_store_sweep(s, 1, NULL), 1);
    CHECK_INT(oci_store_sweep(s, 100, NULL), 0);
    CHECK_INT(count_in("trash"), 0);
    oci_store_close(s);
}

TEST(files_that_layers_share_are_kept_once_and_stay_until_the_last_layer_is_gone)
{
    struct oci_store_gc gc;
    struct oci_store_usage use;
    new_root();
    struct oci_store *s = open_store();
    pull_ok(s, 0, "one");
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(oci_store_layer_share(s, &world.layers[i].diff_id, NULL));
        CHECK_OK(oci_store_layer_share(s, &world.layers[i].diff_id, NULL)); /* nothing to do */
        CHECK(oci_store_layer_is_shared(s, &world.layers[i].diff_id));
        check_layer(s, i);
    }
    CHECK_INT(count_objects(), 2 * FILES);
    oci_store_usage(s, &use);
    CHECK(use.layer_bytes < world.layers[0].tar.n + world.layers[1].tar.n);
    oci_store_close(s);
    s = open_with((struct oci_store_opts){ .form = OCI_STORE_CAS });
    pull_ok(s, 1, "two");
    CHECK_INT(count_objects(), 3 * FILES);
    CHECK_OK(oci_store_image_remove(s, STR("one"), NULL));
    CHECK_OK(oci_store_gc(s, true, &gc, NULL));
    CHECK_INT(gc.n_objects, FILES);
    CHECK_INT(count_objects(), 3 * FILES);
    CHECK_OK(oci_store_gc(s, false, &gc, NULL));
    CHECK_INT(gc.n_objects, FILES);
    CHECK(gc.n_bytes > FILES * 7000 && gc.n_bytes < world.layers[1].tar.n);
    CHECK_INT(count_objects(), 2 * FILES);
    check_layer(s, 0);
    check_layer(s, 2);
    CHECK_ERR(oci_store_layer_share(s, &world.layers[1].diff_id, NULL), -ENOENT);
    oci_store_close(s);
}

static void damage_skeleton(size_t layer)
{
    char hex[SHA256_HEX_SIZE];
    hex_format(world.layers[layer].diff_id.bytes, SHA256_BYTES, hex);
    scoped(free_scoped) char *path = xasprintf("%s/layers/%s/skeleton", root, hex);
    CHECK_OK(truncate(path, 100));
}

TEST(files_of_a_damaged_layer_stay_while_its_image_is_used)
{
    struct oci_store_gc gc;
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_CAS });
    pull_ok(s, 0, "one");
    CHECK_OK(oci_store_lease(s, STR("l"), &world.images[0].digest, false, NULL));
    CHECK_OK(oci_store_image_remove(s, STR("one"), NULL));
    CHECK_INT(count_objects(), 2 * FILES);
    damage_skeleton(1);
    CHECK_OK(oci_store_gc(s, false, &gc, NULL));
    CHECK_INT(count_objects(), 2 * FILES);
    CHECK_INT(check_store(s, true).n_damaged, 1); /* and dropped */
    CHECK(!oci_store_layer_has(s, &world.layers[1].diff_id));
    CHECK_OK(oci_store_gc(s, false, &gc, NULL));
    CHECK_INT(count_objects(), 2 * FILES);
    CHECK_OK(oci_store_lease_drop(s, STR("l"), NULL));
    CHECK_OK(oci_store_gc(s, false, &gc, NULL));
    CHECK_INT(count_objects(), 0);
    oci_store_close(s);
}

TEST(a_layer_of_which_only_the_blob_is_kept_can_share_its_files)
{
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_GZ });
    pull_ok(s, 0, "one");
    CHECK_OK(oci_store_layer_share(s, &world.layers[0].diff_id, NULL));
    CHECK(oci_store_layer_is_shared(s, &world.layers[0].diff_id));
    CHECK_INT(count_tmp(), 0);
    check_layer(s, 0);
    CHECK_INT(check_store(s, false).n_damaged, 0);
    oci_store_close(s);
}

/* One byte, at half of the file. */
static void change_byte(const char *path)
{
    struct stat st;
    char c;
    scoped(fd_scoped) int fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    CHECK_INT(pread(fd, &c, 1, st.st_size / 2), 1);
    c ^= 1;
    CHECK_INT(pwrite(fd, &c, 1, st.st_size / 2), 1);
}

TEST(of_a_damaged_layer_no_file_is_shared)
{
    static const enum oci_store_form forms[] = { OCI_STORE_RAW, OCI_STORE_GZ };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        char hex[SHA256_HEX_SIZE];
        new_root();
        struct oci_store *s = open_with((struct oci_store_opts){ .form = forms[i] });
        pull_ok(s, 0, "one");
        const struct made_layer *l = &world.layers[0];
        bool is_raw = forms[i] == OCI_STORE_RAW;
        hex_format((is_raw ? &l->diff_id : &l->digest)->bytes, SHA256_BYTES, hex);
        scoped(free_scoped) char *path =
            xasprintf(is_raw ? "%s/layers/%s/data.tar" : "%s/blobs/%s", root, hex);
        if (is_raw)
            change_byte(path);
        else /* a good stream of another layer: nothing but the DiffID tells */
            CHECK_OK(
                sys_write_file_atomic(AT_FDCWD, path, buf_str(&world.layers[1].blob), 0600, NULL));
        CHECK_ERR(oci_store_layer_share(s, &l->diff_id, NULL), E_CORRUPT);
        CHECK(!oci_store_layer_is_shared(s, &l->diff_id));
        CHECK_INT(count_objects() + count_tmp(), 0);
        CHECK_INT(access(path, F_OK), 0);
        CHECK_INT(check_store(s, false).n_damaged, 1);
        oci_store_close(s);
    }
}

static char *object_path(size_t layer, size_t file)
{
    char hex[SHA256_HEX_SIZE];
    scoped(oci_layer_free_scoped) struct oci_layer *index = NULL;
    struct oci_store *s = open_with((struct oci_store_opts){ .is_reader = true });
    CHECK_OK(oci_store_layer_index(s, &world.layers[layer].diff_id, &index, NULL));
    oci_store_close(s);
    hex_format(index->entries.p[file].digest, SHA256_BYTES, hex);
    return xasprintf("%s/objects/%.2s/%s", root, hex, hex);
}

static void check_shares(struct oci_store *s, size_t layer)
{
    const struct oci_digest *d = &world.layers[layer].diff_id;
    CHECK_OK(store_count_used(s, NULL));
    CHECK_OK(oci_store_layer_share(s, d, NULL));
    CHECK(oci_store_layer_is_shared(s, d));
    check_layer(s, layer);
    uint64_t used = s->used_bytes;
    CHECK_OK(store_count_used(s, NULL));
    CHECK_INT(used, s->used_bytes);
    CHECK_INT(check_store(s, false).n_damaged + count_tmp(), 0);
}

/* An object that rotted before: the tar is the only good copy of the file until it is replaced. */
TEST(a_tar_stays_until_its_files_make_it_again)
{
    new_root();
    struct oci_store *s = open_store();
    pull_ok(s, 0, "one");
    const struct oci_digest *d = &world.layers[0].diff_id;
    CHECK_OK(oci_store_layer_share(s, d, NULL));
    CHECK_OK(oci_store_layer_keep_tar(s, d, NULL)); /* the skeleton stays */
    scoped(free_scoped) char *object = object_path(0, 3);
    scoped(free_scoped) char *skeleton = oci_store_layer_path(s, d, "skeleton");
    change_byte(object);
    check_shares(s, 0);
    CHECK_OK(oci_store_layer_keep_tar(s, d, NULL));
    CHECK_OK(unlink(skeleton));
    change_byte(object);
    check_shares(s, 0);
    CHECK_OK(oci_store_layer_keep_tar(s, d, NULL));
    damage_skeleton(0);
    check_shares(s, 0);
    CHECK_OK(oci_store_layer_keep_tar(s, d, NULL));
    CHECK_OK(unlink(object));
    check_shares(s, 0);
    /* An object that cannot be read is no reason to part with the tar, nor to write it again. */
    CHECK_OK(oci_store_layer_keep_tar(s, d, NULL));
    change_byte(object);
    for (unsigned nth = 1; nth < 30; nth++) {
        sys_fail_nth(SYS_PREAD, nth, EIO);
        int r = oci_store_layer_share(s, d, NULL);
        sys_fail_nth(SYS_PREAD, 0, 0);
        CHECK(r >= 0 || !oci_store_layer_is_shared(s, d));
        check_layer(s, 0);
        if (r >= 0)
            break;
    }
    check_shares(s, 0);
    oci_store_close(s);
}

static unsigned n_syncfs;

/* In the place of the C library's. */
int syncfs(int fd)
{
    (void)__atomic_add_fetch(&n_syncfs, 1, __ATOMIC_RELAXED);
    return (int)syscall(__NR_syncfs, fd);
}

/* Layer 1 again, whose objects are all there. Returns how often file systems were synced for it. */
static unsigned pull_the_top_again(struct oci_store *s)
{
    CHECK_OK(oci_store_image_remove(s, STR("one"), NULL));
    CHECK_OK(oci_store_layer_remove(s, &world.layers[1].diff_id, NULL));
    unsigned before = n_syncfs;
    pull_ok(s, 0, "one");
    CHECK_INT(count_objects(), 2 * FILES);
    return n_syncfs - before;
}

TEST(names_of_objects_are_synced_for_each_layer_also_those_of_a_process_that_was_killed)
{
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_CAS });
    pull_ok(s, 0, "one");
    CHECK_INT(pull_the_top_again(s), 0); /* this process has synced them */
    oci_store_close(s);
    s = open_with((struct oci_store_opts){ .form = OCI_STORE_CAS });
    CHECK_INT(pull_the_top_again(s), 1);
    CHECK_INT(pull_the_top_again(s), 0);
    (void)pthread_mutex_lock(&s->mutex);
    s->n_naming++; /* a thread that has not synced yet */
    (void)pthread_mutex_unlock(&s->mutex);
    CHECK_INT(pull_the_top_again(s), 1);
    CHECK_INT(pull_the_top_again(s), 1);
    (void)pthread_mutex_lock(&s->mutex);
    s->n_naming--;
    s->n_named++;
    (void)pthread_mutex_unlock(&s->mutex);
    CHECK_INT(pull_the_top_again(s), 1);
    CHECK_INT(pull_the_top_again(s), 0);
    oci_store_close(s);
}

TEST(a_quota_frees_files_that_no_layer_has_any_more)
{
    struct oci_store_usage use;
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_CAS });
    pull_ok(s, 0, "one");
    oci_store_usage(s, &use);
    oci_store_close(s);
    struct oci_store_opts tight = { .root = root,
                                    .form = OCI_STORE_CAS,
                                    .quota_bytes = use.layer_bytes + (16 << 20) - 1 };
    CHECK_OK(layer_cache_open_store(&tight, IMAGE_CACHE_ARC, &s, NULL));
    pull_ok(s, 1, "two");
    CHECK(!oci_store_layer_has(s, &world.layers[1].diff_id));
    CHECK_INT(count_objects(), 2 * FILES);
    check_layer(s, 0);
    check_layer(s, 2);
    oci_store_close(s);
}

TEST(files_that_an_earlier_process_left_are_removed_where_room_is_made)
{
    struct err err = { 0 };
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_CAS });
    pull_ok(s, 0, "one");
    CHECK_OK(oci_store_image_remove(s, STR("one"), NULL));
    for (size_t i = 0; i < 2; i++)
        CHECK_OK(oci_store_layer_remove(s, &world.layers[i].diff_id, NULL));
    oci_store_close(s);
    s = open_store();
    pull_ok(s, 1, "two"); /* as tars */
    oci_store_close(s);
    CHECK_INT(count_objects(), 2 * FILES);
    struct oci_store_opts with_cache = { .root = root, .quota_bytes = 1 << 30 };
    CHECK_OK(layer_cache_open_store(&with_cache, IMAGE_CACHE_ARC, &s, NULL));
    sys_fail_nth(SYS_UNLINKAT, 1, EIO);
    CHECK_ERR(store_make_room(s, 1, &err), -EIO);
    sys_fail_nth(SYS_UNLINKAT, 0, 0);
    CHECK_INT(count_objects(), 2 * FILES);
    CHECK_OK(store_make_room(s, 1, NULL));
    CHECK_INT(count_objects(), 0);
    oci_store_close(s);
}

/* Nothing decides which layers go, and none can: a full disk still gets what others left. */
TEST(a_full_disk_gets_room_from_what_is_left_where_no_layer_can_go)
{
    struct err err = { 0 };
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_CAS });
    pull_ok(s, 0, "one");
    CHECK_ERR(store_make_room(s, 1, &err), -ENOSPC);
    size_t n = count_objects();
    pull_ok(s, 1, "two");
    CHECK_OK(oci_store_image_remove(s, STR("two"), NULL));
    CHECK_OK(oci_store_layer_remove(s, &world.layers[2].diff_id, NULL));
    CHECK(count_in("trash") > 0 && count_objects() > n);
    CHECK_OK(store_make_room(s, 1, &err));
    CHECK_INT(count_in("trash"), 0);
    CHECK_INT(count_objects(), n);
    check_layer(s, 0);
    CHECK_ERR(store_make_room(s, 1, &err), -ENOSPC);
    oci_store_close(s);
}

TEST(a_tar_that_is_made_again_gets_room_on_a_full_disk)
{
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_CAS });
    pull_ok(s, 0, "one");
    pull_ok(s, 1, "two");
    const struct oci_digest *d = &world.layers[0].diff_id;
    CHECK_OK(oci_store_image_remove(s, STR("two"), NULL));
    CHECK_OK(oci_store_layer_remove(s, &world.layers[2].diff_id, NULL));
    sys_fail_nth(SYS_WRITE, 1, ENOSPC);
    CHECK_OK(oci_store_layer_keep_tar(s, d, NULL));
    sys_fail_nth(SYS_WRITE, 0, 0);
    check_parts(s, 0, true, false);
    check_layer(s, 0);
    CHECK_INT(count_in("trash") + count_tmp(), 0);
    CHECK_OK(oci_store_layer_share(s, d, NULL)); /* to the trash: there is room again, once */
    CHECK_OK(oci_store_sweep(s, SIZE_MAX, NULL));
    sys_fail_nth(SYS_WRITE, 1, ENOSPC);
    CHECK_ERR(oci_store_layer_keep_tar(s, d, NULL), -ENOSPC);
    sys_fail_nth(SYS_WRITE, 0, 0);
    CHECK_INT(count_tmp(), 0);
    oci_store_close(s);
}

TEST(the_tar_of_a_layer_is_read_at_any_place)
{
    static const enum oci_store_form forms[] = { OCI_STORE_RAW, OCI_STORE_CAS };
    make_world();
    const struct made_layer *l = &world.layers[0];
    scoped(free_scoped) char *room = xalloc(l->tar.n + 1);
    for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
        struct oci_store_tar *t;
        uint64_t bytes;
        uint32_t seed = 1;
        new_root();
        struct oci_store *s = open_with((struct oci_store_opts){ .form = forms[f] });
        CHECK_ERR(oci_store_tar_open(s, &l->diff_id, &t, NULL), -ENOENT);
        pull_ok(s, 0, "one");
        CHECK_OK(oci_store_tar_bytes(s, &l->diff_id, &bytes, NULL));
        CHECK_INT(bytes, l->tar.n);
        CHECK_OK(oci_store_tar_open(s, &l->diff_id, &t, NULL));
        CHECK_INT(oci_store_tar_size(t), l->tar.n);
        CHECK_INT(oci_store_tar_read(t, room, l->tar.n + 1, 0, NULL), l->tar.n);
        CHECK(memcmp(room, l->tar.p, l->tar.n) == 0);
        CHECK_INT(oci_store_tar_read(t, room, 10, l->tar.n, NULL), 0);
        for (size_t i = 0; i < 3000; i++) {
            seed = seed * 1664525 + 1013904223;
            size_t at = (seed >> 8) % l->tar.n, n = MIN((seed >> 4) % 3000, l->tar.n - at);
            CHECK_INT(oci_store_tar_read(t, room, n, at, NULL), n);
            CHECK(memcmp(room, l->tar.p + at, n) == 0);
        }
        /* Another request shares it, and the layer goes: a tar stays, objects do not. */
        struct oci_store_tar *other = oci_store_tar_ref(t);
        oci_store_tar_unref(t);
        CHECK_OK(oci_store_layer_remove(s, &l->diff_id, NULL));
        CHECK_OK(oci_store_image_remove(s, STR("one"), NULL));
        CHECK_OK(store_make_room(s, 1, NULL));
        ssize_t r = oci_store_tar_read(other, room, l->tar.n, 0, NULL);
        CHECK_INT(r, forms[f] == OCI_STORE_CAS ? E_CORRUPT : (ssize_t)l->tar.n);
        oci_store_tar_unref(other);
        oci_store_close(s);
    }
}

TEST(a_blob_leads_to_its_layer_while_it_is_here)
{
    struct oci_digest found;
    make_world();
    const struct made_layer *l = &world.layers[0];
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_BOTH });
    struct oci_store *reader = open_with((struct oci_store_opts){ .is_reader = true });
    struct oci_store *const both[] = { s, reader };
    for (size_t i = 0; i < 2; i++)
        CHECK_ERR(oci_store_layer_of_blob(both[i], &l->digest, &found, NULL), -ENOENT);
    for (int round = 0; round < 2; round++) {
        pull_ok(s, 0, "one");
        for (size_t i = 0; i < 2; i++) {
            CHECK_OK(oci_store_layer_of_blob(both[i], &l->digest, &found, NULL));
            CHECK(oci_digest_equal(&found, &l->diff_id));
            CHECK_ERR(oci_store_layer_of_blob(both[i], &l->diff_id, &found, NULL), -ENOENT);
        }
        CHECK_OK(oci_store_layer_remove(s, &l->diff_id, NULL));
        for (size_t i = 0; i < 2; i++)
            CHECK_ERR(oci_store_layer_of_blob(both[i], &l->digest, &found, NULL), -ENOENT);
    }
    oci_store_close(reader);
    oci_store_close(s);
}

/* Without descriptors for a moment: the blob is not said to be missing, neither then nor later. */
TEST(a_blob_that_cannot_be_looked_up_now_is_not_forgotten)
{
    static const enum sys_call calls[] = { SYS_OPENAT, SYS_PREAD };
    struct oci_digest found;
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_BOTH });
    pull_ok(s, 0, "one");
    const struct made_layer *l = &world.layers[0];
    for (size_t is_made = 0; is_made < 2; is_made++)
        for (size_t c = 0; c < ARRAY_LEN(calls); c++)
            for (unsigned nth = 1, is_over = 0; !is_over; nth++) {
                oci_store_close(s);
                s = open_with((struct oci_store_opts){ .form = OCI_STORE_BOTH });
                if (is_made)
                    CHECK_OK(oci_store_layer_of_blob(s, &l->digest, &found, NULL));
                sys_fail_nth(calls[c], nth, EMFILE);
                int r = oci_store_layer_of_blob(s, &l->digest, &found, NULL);
                is_over = sys_call_count(calls[c]) < nth;
                sys_fail_nth(calls[c], 0, 0);
                CHECK(r == -EMFILE ? !is_over : r == 0); /* another layer's fault is none */
                for (size_t i = 0; i < PER_IMAGE; i++) {
                    CHECK_OK(oci_store_layer_of_blob(s, &world.layers[i].digest, &found, NULL));
                    CHECK(oci_digest_equal(&found, &world.layers[i].diff_id));
                }
            }
    oci_store_close(s);
}

TEST(a_lease_keeps_an_image_over_restarts_until_it_is_dropped)
{
    struct oci_store_gc gc;
    new_root();
    struct oci_store *s = open_store();
    CHECK_ERR(oci_store_lease(s, STR("mount:/a"), &world.images[0].digest, true, NULL), -ENOENT);
    pull_ok(s, 0, "one");
    CHECK_OK(oci_store_lease(s, STR("mount:/a"), &world.images[0].digest, true, NULL));
    CHECK_OK(oci_store_image_remove(s, STR("one"), NULL));
    oci_store_close(s);
    s = open_store();
    CHECK_OK(oci_store_gc(s, false, &gc, NULL));
    CHECK_INT(gc.n_layers, 0);
    CHECK_ERR(oci_store_layer_remove(s, &world.layers[0].diff_id, NULL), -EBUSY);
    CHECK_OK(oci_store_lease_drop(s, STR("mount:/a"), NULL));
    CHECK_ERR(oci_store_lease_drop(s, STR("mount:/a"), NULL), -ENOENT);
    CHECK_OK(oci_store_gc(s, false, &gc, NULL));
    CHECK_INT(gc.n_layers, 2);
    oci_store_close(s);
}

TEST(one_process_writes_and_others_read)
{
    struct oci_store *second, *reader;
    struct err err = { 0 };
    struct oci_digest d = { 0 };
    struct oci_store_opts writer = { .root = root }, read = { .root = root, .is_reader = true };
    new_root();
    CHECK_ERR(oci_store_open(&read, &reader, &err), -ENOENT);
    struct oci_store *s = open_store();
    CHECK_ERR(oci_store_open(&writer, &second, &err), -EBUSY);
    CHECK(strstr(err_text(&err), "process "));
    pull_ok(s, 0, "one");
    CHECK_OK(oci_store_open(&read, &reader, &err));
    check_layer(reader, 0);
    CHECK_ERR(oci_store_image_remove(reader, STR("one"), &err), -EROFS);
    CHECK_ERR(oci_store_document_put(reader, &d, STR("x"), &err), -EROFS);
    oci_store_close(reader);
    oci_store_close(s);
}

TEST(a_writer_that_stays_is_named_so_and_a_hasty_one_does_not_wait_for_it)
{
    struct err err = { 0 };
    const struct oci_store_opts hasty = { .lock_ms = 3600000, .is_hasty = true };
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .is_service = true });
    CHECK_ERR(try_open(hasty, &err), -EBUSY);
    CHECK(strstr(err_text(&err), "as long as it runs"));
    scoped(free_scoped) char *pid = xasprintf("process %d ", getpid());
    CHECK(strstr(err_text(&err), pid));
    oci_store_close(s);
    s = open_with((struct oci_store_opts){ .has_control = true });
    CHECK_ERR(try_open(hasty, &err), -EBUSY);
    CHECK(!strstr(err_text(&err), "as long as it runs"));
    oci_store_close(s);
    CHECK_OK(try_open(hasty, NULL));
    s = open_store();
    CHECK_ERR(try_open((struct oci_store_opts){ .is_hasty = true }, &err), -EBUSY);
    CHECK(!strstr(err_text(&err), "as long as it runs") && strstr(err_text(&err), pid));
    oci_store_close(s);
}

TEST(a_quota_evicts_what_was_used_least_recently_and_never_what_is_pinned)
{
    struct err err = { 0 };
    struct arena a = { 0 };
    struct oci_store_image image;
    size_t missing;
    new_root();
    struct oci_store *s = open_store();
    pull_ok(s, 0, "one");
    struct oci_store_usage use;
    oci_store_usage(s, &use);
    CHECK_OK(oci_store_image_get(s, STR("one"), &a, &image, NULL));
    image.is_pinned = true;
    CHECK_OK(oci_store_image_put(s, &image, NULL));
    oci_store_close(s);
    uint64_t reserve = 16 << 20;
    struct oci_store_opts tight = { .root = root, .quota_bytes = use.layer_bytes + reserve - 1 };
    s = open_with(tight); /* without a cache nothing leaves */
    CHECK_ERR(pull_as(s, 1, "two", &err), -ENOSPC);
    oci_store_close(s);
    CHECK_OK(layer_cache_open_store(&tight, IMAGE_CACHE_ARC, &s, NULL));
    CHECK_ERR(pull_as(s, 1, "two", &err), -ENOSPC);
    CHECK(strstr(err_text(&err), "quota"));
    image.is_pinned = false;
    CHECK_OK(oci_store_image_put(s, &image, NULL));
    pull_ok(s, 1, "two");
    CHECK_OK(oci_store_image_missing(s, &world.images[0].digest, &missing, NULL));
    CHECK_INT(missing, 1);
    CHECK_INT(check_store(s, false).n_incomplete, 1);
    CHECK_INT(check_store(s, false).n_damaged, 0);
    oci_store_close(s);
    s = open_store();
    pull_ok(s, 0, "one");
    CHECK_INT(check_store(s, false).n_incomplete, 0);
    arena_fini(&a);
    oci_store_close(s);
}

enum { ROUNDS = 60 };

static struct {
    struct oci_store *s;
    bool stop;
} crowd;

/* Pull, use and remove one image again and again. */
static void *pull_and_remove(void *arg)
{
    size_t i = *(const size_t *)arg;
    const char *name = i ? "two" : "one";
    for (size_t k = 0; k < ROUNDS; k++) {
        struct err err = { 0 };
        size_t missing;
        if (pull_as(crowd.s, i, name, &err) < 0)
            TEST_FAIL("%s", err_text(&err));
        CHECK_OK(oci_store_image_missing(crowd.s, &world.images[i].digest, &missing, NULL));
        CHECK_INT(missing, 0);
        check_layer(crowd.s, 0);
        CHECK_OK(oci_store_image_remove(crowd.s, str_of(name), NULL));
    }
    return NULL;
}

static void *collect_all_the_time(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&crowd.stop, __ATOMIC_RELAXED)) {
        struct oci_store_gc gc;
        struct err err = { 0 };
        if (oci_store_gc(crowd.s, false, &gc, &err) < 0)
            TEST_FAIL("%s", err_text(&err));
        CHECK(oci_store_sweep(crowd.s, SIZE_MAX, NULL) >= 0);
    }
    return NULL;
}

static void *sweep_all_the_time(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&crowd.stop, __ATOMIC_RELAXED)) {
        struct err err = { 0 };
        if (oci_store_sweep(crowd.s, SIZE_MAX, &err) < 0)
            TEST_FAIL("%s", err_text(&err));
        (void)sched_yield();
    }
    return NULL;
}

static void run_crowd(enum oci_store_form form)
{
    pthread_t pullers[IMAGES], collector, sweeper;
    size_t which[IMAGES] = { 0, 1 };
    new_root();
    crowd.s = open_with((struct oci_store_opts){ .form = form });
    __atomic_store_n(&crowd.stop, false, __ATOMIC_RELAXED);
    CHECK_INT(pthread_create(&collector, NULL, collect_all_the_time, NULL), 0);
    CHECK_INT(pthread_create(&sweeper, NULL, sweep_all_the_time, NULL), 0);
    for (size_t i = 0; i < IMAGES; i++)
        CHECK_INT(pthread_create(&pullers[i], NULL, pull_and_remove, &which[i]), 0);
    for (size_t i = 0; i < IMAGES; i++)
        CHECK_INT(pthread_join(pullers[i], NULL), 0);
    __atomic_store_n(&crowd.stop, true, __ATOMIC_RELAXED);
    CHECK_INT(pthread_join(collector, NULL), 0);
    CHECK_INT(pthread_join(sweeper, NULL), 0);
    struct oci_store_gc gc;
    CHECK_OK(oci_store_gc(crowd.s, false, &gc, NULL));
    CHECK_INT(count_in("layers") + count_in("meta/documents") + count_in("meta/index"), 0);
    CHECK_INT(count_in("blobs") + count_objects(), 0);
    oci_store_close(crowd.s);
}

TEST(threads_that_pull_remove_and_collect_at_once_never_see_an_image_without_its_layers)
{
    run_crowd(OCI_STORE_RAW);
}

TEST(threads_that_pull_remove_and_collect_at_once_never_see_a_layer_without_its_blob)
{
    run_crowd(OCI_STORE_GZ);
}

TEST(threads_that_pull_remove_and_collect_at_once_never_see_a_layer_without_its_files)
{
    run_crowd(OCI_STORE_CAS);
}

/* ---- names that several threads change ---- */

struct pinning {
    struct oci_store *s;
    atomic_bool is_over;
};

static void *pin_and_unpin(void *arg)
{
    struct pinning *p = arg;
    for (size_t i = 0; !atomic_load(&p->is_over); i++) {
        int r = oci_store_image_pin(p->s, STR("one"), i % 2, NULL);
        CHECK(r >= 0 || r == -ENOENT);
        (void)sched_yield();
    }
    return NULL;
}

TEST(a_pin_neither_moves_a_name_back_nor_brings_it_back)
{
    pthread_t thread;
    struct arena a = { 0 };
    struct oci_store_image image, is;
    new_root();
    struct pinning p = { .s = open_store() };
    pull_ok(p.s, 0, "one");
    pull_ok(p.s, 1, "two");
    CHECK_OK(oci_store_image_get(p.s, STR("one"), &a, &image, NULL));
    CHECK_INT(pthread_create(&thread, NULL, pin_and_unpin, &p), 0);
    for (size_t round = 0; round < 1000; round++) {
        image.manifest = world.images[round % 2].digest;
        CHECK_OK(oci_store_image_put(p.s, &image, NULL));
        CHECK_OK(oci_store_image_get(p.s, STR("one"), &a, &is, NULL));
        CHECK(oci_digest_equal(&is.manifest, &image.manifest));
        if (round % 4 < 2)
            continue;
        CHECK_OK(oci_store_image_remove(p.s, STR("one"), NULL));
        CHECK_ERR(oci_store_image_get(p.s, STR("one"), &a, &is, NULL), -ENOENT);
    }
    atomic_store(&p.is_over, true);
    CHECK_INT(pthread_join(thread, NULL), 0);
    arena_fini(&a);
    oci_store_close(p.s);
}

/* ---- bytes that are not what they should be ---- */

static int import(struct oci_store *s, struct str blob, struct oci_import_opts opts,
                  struct err *err)
{
    scoped(oci_import_free_scoped) struct oci_import *im = NULL;
    int r = oci_import_new(s, &opts, &im, err);
    r = r < 0 ? r : oci_import_add(im, str_slice(blob, oci_import_offset(im), blob.n), err);
    return r < 0 ? r : oci_import_commit(im, err);
}

TEST(wrong_bytes_become_no_layer)
{
    static const struct {
        bool digest, diff_id, is_short, is_long, is_cut;
        int code;
    } lies[] = {
        { .digest = true, .code = E_DIGEST },  { .diff_id = true, .code = E_DIGEST },
        { .is_short = true, .code = E_LIMIT }, { .is_long = true, .code = E_DIGEST },
        { .is_cut = true, .code = E_DIGEST },
    };
    const struct made_layer *l = &world.layers[0];
    new_root();
    for (int form = OCI_STORE_RAW; form <= OCI_STORE_CAS; form++) {
        struct oci_store *s = open_with((struct oci_store_opts){ .form = form });
        for (size_t i = 0; i < 2 * ARRAY_LEN(lies); i++) {
            struct err err = { 0 };
            struct oci_import_opts opts = { .diff_id = l->diff_id,
                                            .blob = l->digest,
                                            .blob_size = l->blob.n,
                                            .is_resumable = i % 2 };
            struct str blob = buf_str(&l->blob);
            opts.blob.bytes[3] ^= lies[i / 2].digest;
            opts.diff_id.bytes[3] ^= lies[i / 2].diff_id;
            opts.blob_size -= lies[i / 2].is_short;
            opts.blob_size += lies[i / 2].is_long;
            blob.n -= lies[i / 2].is_cut;
            CHECK_ERR(import(s, blob, opts, &err), lies[i / 2].code);
            CHECK(!oci_store_layer_has(s, &opts.diff_id));
            CHECK_INT(count_tmp(), 0);
        }
        CHECK_INT(count_in("layers") + count_in("blobs") + count_in("meta/index"), 0);
        oci_store_close(s);
    }
}

TEST(a_blob_that_inflates_to_more_than_a_hundred_times_its_size_is_refused)
{
    static char zeros[1 << 20];
    scoped(buf_fini_scoped) struct buf blob = BUF_INIT(BLOB_MAX);
    struct err err = { 0 };
    new_root();
    struct oci_store *s = open_store();
    struct gzip *g = gzip_new();
    for (size_t i = 0; i < 64; i++)
        CHECK_OK(gzip_add(g, str_n(zeros, sizeof zeros), i == 63, &blob));
    gzip_free(g);
    struct oci_import_opts opts = { .blob_size = blob.n };
    CHECK_ERR(import(s, buf_str(&blob), opts, &err), E_LIMIT);
    CHECK(strstr(err_text(&err), "100 times"));
    CHECK_INT(count_tmp(), 0);
    oci_store_close(s);
}

/* ---- two layers that name one blob ---- */

static struct {
    struct oci_store *s;
    struct oci_import_opts opts;
    int r;
} liar;

/* The blob's digest and size, other bytes, and a DiffID of its own. */
static void *import_other_bytes(void *arg)
{
    static char junk[BLOB_MAX];
    struct oci_import *im = NULL;
    (void)arg;
    memset(junk, 'x', sizeof junk);
    liar.r = oci_import_new(liar.s, &liar.opts, &im, NULL);
    if (liar.r >= 0 && oci_import_offset(im) == 0)
        liar.r = oci_import_add(im, str_n(junk, liar.opts.blob_size), NULL);
    oci_import_free(im);
    return NULL;
}

static uint32_t holds_of(struct oci_store *s, const struct oci_digest *d)
{
    (void)pthread_mutex_lock(&s->mutex);
    const struct store_hold *h = map_get(&s->holds, store_key(d));
    uint32_t n = h ? h->n : 0;
    (void)pthread_mutex_unlock(&s->mutex);
    return n;
}

TEST(a_second_layer_of_the_same_blob_cannot_write_into_the_first_ones)
{
    const struct made_layer *l = &world.layers[0];
    for (size_t round = 0; round < 16; round++) {
        pthread_t thread;
        struct oci_import *im;
        struct oci_import_opts opts = { .diff_id = l->diff_id,
                                        .blob = l->digest,
                                        .blob_size = l->blob.n,
                                        .is_resumable = round % 2 };
        new_root();
        struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_GZ });
        liar.s = s;
        liar.opts = opts;
        liar.opts.diff_id.bytes[0] = round & 2 ? 0 : 0xff; /* both orders of the two digests */
        CHECK_OK(oci_import_new(s, &opts, &im, NULL));
        CHECK_OK(oci_import_add(im, str_n(l->blob.p, 100), NULL));
        CHECK_INT(pthread_create(&thread, NULL, import_other_bytes, NULL), 0);
        while (holds_of(s, &opts.blob) + holds_of(s, &liar.opts.diff_id) < 2)
            (void)sched_yield();
        CHECK_OK(oci_import_add(im, str_n(l->blob.p + 100, l->blob.n - 100), NULL));
        CHECK_OK(oci_import_commit(im, NULL));
        oci_import_free(im);
        CHECK_INT(pthread_join(thread, NULL), 0);
        CHECK_INT(check_store(s, false).n_damaged, 0);
        check_layer(s, 0);
        oci_store_close(s);
    }
}

/* first: begun, and has 100 bytes. */
static void end_import(struct oci_import *first, const struct made_layer *l)
{
    CHECK_OK(oci_import_add(first, str_n(l->blob.p + 100, l->blob.n - 100), NULL));
    CHECK_OK(oci_import_commit(first, NULL));
    oci_import_free(first);
}

TEST(an_import_that_does_not_end_keeps_no_other_pull_from_the_layer)
{
    const struct made_layer *l = &world.layers[0];
    make_world();
    for (int round = 0; round < 3 * (OCI_STORE_CAS + 1); round++) {
        struct oci_import *first, *second;
        pthread_t waiter;
        struct oci_import_opts opts = {
            .diff_id = l->diff_id, .blob = l->digest, .blob_size = l->blob.n, .is_resumable = true
        };
        const struct oci_store_opts form = { .form = round % (OCI_STORE_CAS + 1) };
        new_root();
        struct oci_store *s = open_with(form);
        pull_ok(s, 0, "one");
        uint64_t used = s->used_bytes;
        oci_store_close(s);
        new_root();
        s = open_with(form);
        CHECK_OK(oci_import_new(s, &opts, &first, NULL));
        CHECK_OK(oci_import_add(first, str_n(l->blob.p, 100), NULL));
        liar.s = s;
        liar.opts = opts;
        CHECK_INT(pthread_create(&waiter, NULL, import_other_bytes, NULL), 0);
        while (holds_of(s, &l->diff_id) + holds_of(s, &l->digest) < 3)
            (void)sched_yield();
        opts.until_ms = 1;
        CHECK_ERR(oci_import_new(s, &opts, &second, NULL), -ETIMEDOUT);
        opts.may_be_beside = true;
        if (round % 3 == 0) { /* another pull is faster */
            pull_wait_ms = 1;
            pull_ok(s, 0, "one");
            pull_wait_ms = 0;
            check_layer(s, 0);
            CHECK_INT(pthread_join(waiter, NULL), 0);
            end_import(first, l);
        } else { /* both are there at once */
            CHECK_OK(oci_import_new(s, &opts, &second, NULL));
            CHECK_INT(oci_import_offset(second), 0);
            CHECK_OK(oci_import_add(second, str_n(l->blob.p, 100), NULL));
            end_import(round % 3 == 1 ? first : second, l);
            CHECK_INT(pthread_join(waiter, NULL), 0);
            end_import(round % 3 == 1 ? second : first, l);
            pull_ok(s, 0, "one");
        }
        CHECK_ERR(liar.r, -EEXIST);
        CHECK_INT(s->used_bytes, used);
        CHECK_INT(s->reserved_bytes, 0);
        CHECK_INT(count_tmp() + count_in("trash"), 0);
        CHECK_INT(holds_of(s, &l->diff_id) + holds_of(s, &l->digest), 0);
        check_layer(s, 0);
        CHECK_INT(check_store(s, true).n_damaged, 0);
        oci_store_close(s);
    }
}

static void *import_patiently(void *arg)
{
    struct oci_import *im;
    const struct oci_import_opts *opts = arg;
    liar.r = oci_import_new(liar.s, opts, &im, NULL);
    if (liar.r >= 0)
        oci_import_free(im);
    return NULL;
}

TEST(an_import_that_waits_for_another_one_can_be_stopped)
{
    const struct made_layer *l = &world.layers[0];
    make_world();
    for (int is_for_ever = 0; is_for_ever < 2; is_for_ever++) {
        struct oci_import *first;
        pthread_t waiter;
        atomic_bool stop = false;
        struct oci_import_opts opts = { .diff_id = l->diff_id,
                                        .blob = l->digest,
                                        .blob_size = l->blob.n };
        new_root();
        struct oci_store *s = open_store();
        CHECK_OK(oci_import_new(s, &opts, &first, NULL));
        liar.s = s;
        opts.stop = &stop;
        opts.until_ms = is_for_ever ? 0 : clock_mono_ms() + 3600000;
        CHECK_INT(pthread_create(&waiter, NULL, import_patiently, &opts), 0);
        while (holds_of(s, &l->diff_id) + holds_of(s, &l->digest) < 3)
            (void)sched_yield();
        atomic_store(&stop, true);
        CHECK_INT(pthread_join(waiter, NULL), 0);
        CHECK_ERR(liar.r, -ECANCELED);
        CHECK_INT(holds_of(s, &l->diff_id) + holds_of(s, &l->digest), 2);
        oci_import_free(first);
        oci_store_close(s);
    }
}

/* Of the other import all but a byte came: it is waited for, although the time is over. */
TEST(an_import_that_is_about_to_end_is_waited_for)
{
    const struct made_layer *l = &world.layers[0];
    struct oci_import *first;
    pthread_t waiter;
    make_world();
    struct oci_import_opts opts = { .diff_id = l->diff_id,
                                    .blob = l->digest,
                                    .blob_size = l->blob.n };
    new_root();
    struct oci_store *s = open_store();
    CHECK_OK(oci_import_new(s, &opts, &first, NULL));
    CHECK_OK(oci_import_add(first, str_n(l->blob.p, l->blob.n - 1), NULL));
    liar.s = s;
    opts.may_be_beside = true;
    opts.until_ms = clock_mono_ms() + 1000;
    CHECK_INT(pthread_create(&waiter, NULL, import_patiently, &opts), 0);
    while (clock_mono_ms() < opts.until_ms) /* it is asked for again only after its time */
        (void)sched_yield();
    CHECK_OK(oci_import_add(first, str_n(l->blob.p + l->blob.n - 1, 1), NULL));
    CHECK_OK(oci_import_commit(first, NULL));
    oci_import_free(first);
    CHECK_INT(pthread_join(waiter, NULL), 0);
    CHECK_ERR(liar.r, -EEXIST);
    oci_store_close(s);
}

TEST(an_image_that_swaps_the_names_of_layer_and_blob_blocks_nothing)
{
    const struct made_layer *l = &world.layers[0];
    struct oci_import *im;
    pthread_t thread;
    struct oci_import_opts opts = { .diff_id = l->diff_id,
                                    .blob = l->digest,
                                    .blob_size = l->blob.n };
    new_root();
    struct oci_store *s = open_store();
    for (size_t round = 0; round < 100; round++) {
        liar.s = s;
        liar.opts = opts;
        liar.opts.diff_id = opts.blob;
        liar.opts.blob = opts.diff_id;
        CHECK_INT(pthread_create(&thread, NULL, import_other_bytes, NULL), 0);
        CHECK_OK(oci_import_new(s, &opts, &im, NULL));
        oci_import_free(im);
        CHECK_INT(pthread_join(thread, NULL), 0);
    }
    oci_store_close(s);
}

TEST(a_pull_that_was_cut_off_goes_on_where_it_was_in_another_process)
{
    struct err err = { 0 };
    const struct made_layer *l = &world.layers[0];
    scoped(oci_import_free_scoped) struct oci_import *im = NULL;
    struct oci_import_opts opts = {
        .diff_id = l->diff_id, .blob = l->digest, .blob_size = l->blob.n, .is_resumable = true
    };
    new_root();
    struct oci_store *s = open_store();
    world.fail_after = 300;
    CHECK_ERR(pull_as(s, 0, "one", &err), -ECONNRESET);
    world.fail_after = -1;
    oci_store_close(s);
    s = open_store();
    CHECK_OK(oci_import_new(s, &opts, &im, NULL));
    CHECK_INT(oci_import_offset(im), 300);
    oci_import_free(take_ptr(&im));
    pull_ok(s, 0, "one");
    check_layer(s, 0);
    CHECK_INT(count_tmp(), 0);
    oci_store_close(s);
}

TEST(what_an_earlier_attempt_left_damaged_is_read_again_from_the_start)
{
    struct err err = { 0 };
    new_root();
    struct oci_store *s = open_store();
    world.fail_after = 300;
    CHECK_ERR(pull_as(s, 0, "one", &err), -ECONNRESET);
    world.fail_after = -1;
    scoped(free_scoped) char *tmp = oci_store_tmp(s);
    char hex[SHA256_HEX_SIZE];
    hex_format(world.layers[0].digest.bytes, SHA256_BYTES, hex);
    scoped(free_scoped) char *part =
        xasprintf("%.*s/%s.part", (int)(strrchr(tmp, '/') - tmp), tmp, hex);
    int fd = open(part, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_INT(pwrite(fd, "garbage", 7, 100), 7);
    fd_scoped(&fd);
    pull_ok(s, 0, "one");
    check_layer(s, 0);
    oci_store_close(s);
}

/* ---- damage on disk ---- */

static int damage_fd = -1, damage_nth;
static char damage_path[256];

static int damage_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)at;
    if (type != FTW_F || st->st_size == 0 || strstr(path, "/lock") || strstr(path, "/version"))
        return 0;
    if (damage_nth-- > 0)
        return 0;
    (void)snprintf(damage_path, sizeof damage_path, "%s", path);
    char c;
    damage_fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK(damage_fd >= 0);
    CHECK_INT(pread(damage_fd, &c, 1, st->st_size / 2), 1);
    c ^= 0x20;
    CHECK_INT(pwrite(damage_fd, &c, 1, st->st_size / 2), 1);
    fd_scoped(&damage_fd);
    return 1;
}

static void damage_each_file(enum oci_store_form form)
{
    for (int n = 0;; n++) {
        struct oci_store_gc gc;
        struct err err = { 0 };
        new_root();
        struct oci_store *s = open_with((struct oci_store_opts){ .form = form });
        pull_ok(s, 0, "one");
        pull_ok(s, 1, "two");
        CHECK_OK(oci_store_lease(s, STR("l"), &world.images[0].digest, false, NULL));
        damage_nth = n;
        if (nftw(root, damage_one, 16, FTW_PHYS) == 0) {
            oci_store_close(s);
            CHECK(n > 15);
            return;
        }
        /* Half of a record of a name, such as its time, cannot be known to be wrong. */
        bool is_record = strstr(damage_path, "/refs/") || strstr(damage_path, "/leases/");
        struct oci_store_check_result res = check_store(s, false);
        if (res.n_damaged == 0 && !is_record)
            TEST_FAIL("damage of %s was not found", damage_path);
        CHECK(is_record || check_store(s, true).n_damaged >= 1);
        (void)check_store(s, true);
        CHECK_INT(check_store(s, false).n_damaged, 0);
        if (oci_store_gc(s, false, &gc, &err) < 0)
            TEST_FAIL("after %s: %s", damage_path, err_text(&err));
        pull_ok(s, 0, "one");
        pull_ok(s, 1, "two");
        for (size_t i = 0; i < LAYERS; i++)
            check_layer(s, i);
        oci_store_close(s);
    }
}

TEST(a_changed_byte_in_any_file_is_found_removed_and_pulled_again)
{
    damage_each_file(OCI_STORE_BOTH);
}

TEST(a_changed_byte_in_any_file_that_layers_share_is_found_removed_and_pulled_again)
{
    damage_each_file(OCI_STORE_CAS);
}

static int broken_code;

static int start_broken(void *arg, uint64_t max_bytes, const struct layer_ops *ops, void *ops_arg,
                        void **ret, struct err *err)
{
    (void)arg, (void)max_bytes, (void)ops, (void)ops_arg, (void)ret;
    return err_set(err, broken_code, "the reader is broken");
}

TEST(layers_are_not_damaged_where_their_reader_fails)
{
    /* no program, no right to start one, ended by a signal, without a last word */
    static const int codes[] = { -ENOENT, -EACCES, -EAGAIN, E_PARSE, E_EOF };
    static const struct layer_reading_ops broken = { .start = start_broken };
    new_root();
    for (int form = OCI_STORE_RAW; form <= OCI_STORE_BOTH; form++) {
        struct oci_store *s = open_with((struct oci_store_opts){ .form = form });
        pull_ok(s, 0, "one");
        last_damage[0] = 0;
        for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
            struct oci_store_check_opts opts = { .remove = true,
                                                 .on_damage = on_damage,
                                                 .reading = &broken };
            struct oci_store_check_result res;
            struct err err = { 0 };
            broken_code = codes[i];
            CHECK(oci_store_check(s, &opts, &res, &err) < 0);
            CHECK(strstr(err_text(&err), "the reader is broken"));
            CHECK(res.n_layers > 1 && res.n_images == 1); /* the first does not end it */
            CHECK_INT(res.n_unread, res.n_layers);
            CHECK_STR(str_of(last_damage), "");
        }
        check_layer(s, 0);
        check_layer(s, 1);
        CHECK_INT(check_store(s, false).n_damaged, 0);
        oci_store_close(s);
        new_root();
    }
}

/* ---- checks beside other work ---- */

/* A layer of its own that shares one file with a layer of the world. */
static void make_sharing(struct made_layer *l, size_t layer, size_t file)
{
    struct tar_kit k = { BUF_INIT(BLOB_MAX) };
    scoped(buf_fini_scoped) struct buf content = BUF_INIT(BLOB_MAX);
    scoped(free_scoped) char *path = object_path(layer, file);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &content, NULL));
    kit_file(&k, "own", "of this layer alone");
    kit_file(&k, "shared", buf_cstr(&content));
    kit_end(&k);
    *l = (struct made_layer){ .tar = k.out, .blob = BUF_INIT(BLOB_MAX) };
    struct gzip *g = gzip_new();
    CHECK_OK(gzip_add(g, buf_str(&l->tar), true, &l->blob));
    gzip_free(g);
    sha256_of(buf_str(&l->tar), l->diff_id.bytes);
    sha256_of(buf_str(&l->blob), l->digest.bytes);
}

static struct oci_store_check_result check_one(struct oci_store *s, size_t layer)
{
    struct oci_store_check_opts opts = { .remove = true, .on_damage = on_damage };
    struct oci_store_check_result res;
    CHECK_OK(oci_store_check_layer(s, &opts, &world.layers[layer].diff_id, &res, NULL));
    return res;
}

TEST(a_damaged_file_leaves_no_layer_that_needs_it)
{
    enum { ALONE, WITH_TAR, WITH_BLOB, HELD, KINDS };
    for (int kind = 0; kind < KINDS; kind++) {
        struct made_layer other;
        new_root();
        struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_CAS });
        pull_ok(s, 0, "one");
        make_sharing(&other, 0, 1);
        struct oci_import_opts opts = { .diff_id = other.diff_id,
                                        .blob = other.digest,
                                        .blob_size = other.blob.n };
        CHECK_OK(import(s, buf_str(&other.blob), opts, NULL));
        opts.is_for_blob = true;
        if (kind == WITH_TAR)
            CHECK_OK(oci_store_layer_keep_tar(s, &other.diff_id, NULL));
        if (kind == WITH_BLOB)
            CHECK_OK(import(s, buf_str(&other.blob), opts, NULL));
        scoped(free_scoped) char *object = object_path(0, 1);
        change_byte(object);
        if (kind == HELD)
            oci_store_hold(s, &other.diff_id);
        struct oci_store_check_result res = check_one(s, 0);
        CHECK(!oci_store_layer_has(s, &world.layers[0].diff_id));
        CHECK_INT(oci_store_layer_has(s, &other.diff_id), kind != ALONE);
        CHECK_INT(res.n_removed, kind == ALONE ? 3 : kind == HELD ? 1 : 2);
        CHECK_INT(access(object, F_OK), kind == HELD ? 0 : -1);
        if (kind == HELD) {
            oci_store_release(s, &other.diff_id);
            CHECK_INT(check_store(s, true).n_removed, 2);
            CHECK(!oci_store_layer_has(s, &other.diff_id));
        }
        if (kind == WITH_TAR || kind == WITH_BLOB) {
            scoped(buf_fini_scoped) struct buf got = BUF_INIT(BLOB_MAX);
            CHECK_OK(oci_store_layer_read(s, &other.diff_id, collect_text, &got, NULL));
            CHECK(str_eq(buf_str(&got), buf_str(&other.tar)));
        }
        check_layer(s, 1);
        CHECK_INT(check_store(s, false).n_damaged, 0);
        uint64_t used = s->used_bytes;
        CHECK_OK(store_count_used(s, NULL));
        CHECK_INT(used, s->used_bytes);
        pull_ok(s, 0, "one");
        check_layer(s, 0);
        oci_store_close(s);
        buf_fini(&other.tar);
        buf_fini(&other.blob);
    }
}

static ino_t inode_of(const char *path)
{
    struct stat st;
    CHECK_OK(stat(path, &st));
    return st.st_ino;
}

/* What is here of its files is no better than the disk: the bytes that come are compared. */
TEST(an_import_replaces_files_that_have_rotted_or_cannot_be_read)
{
    struct made_layer other;
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_CAS });
    pull_ok(s, 0, "one");
    make_sharing(&other, 0, 1);
    const struct oci_import_opts opts = { .diff_id = other.diff_id,
                                          .blob = other.digest,
                                          .blob_size = other.blob.n };
    scoped(free_scoped) char *object = object_path(0, 1);
    ino_t before = inode_of(object);
    CHECK_OK(import(s, buf_str(&other.blob), opts, NULL));
    CHECK_INT(inode_of(object), before); /* it is right, and stays */
    CHECK_OK(oci_store_layer_remove(s, &other.diff_id, NULL));
    change_byte(object);
    CHECK_INT(check_store(s, false).n_damaged, 2);
    CHECK_OK(import(s, buf_str(&other.blob), opts, NULL));
    CHECK(inode_of(object) != before);
    check_layer(s, 0);
    CHECK_INT(check_store(s, false).n_damaged, 0);
    size_t n_replaced = 0;
    for (unsigned nth = 1, is_over = 0; !is_over; nth++) {
        if (oci_store_layer_has(s, &other.diff_id))
            CHECK_OK(oci_store_layer_remove(s, &other.diff_id, NULL));
        before = inode_of(object);
        sys_fail_nth(SYS_PREAD, nth, EIO);
        int r = import(s, buf_str(&other.blob), opts, NULL);
        is_over = sys_call_count(SYS_PREAD) < nth;
        sys_fail_nth(SYS_PREAD, 0, 0);
        n_replaced += r >= 0 && inode_of(object) != before;
        CHECK(r >= 0 || r == -EIO);
        CHECK_INT(check_store(s, false).n_damaged + count_tmp(), 0);
    }
    CHECK(n_replaced >= 1);
    oci_store_close(s);
    buf_fini(&other.tar);
    buf_fini(&other.blob);
}

/* What was damaged is brought again by another thread, before the check removes it. */
static void on_damage_repair(void *arg, enum oci_store_damage_kind kind, const char *what,
                             const char *why)
{
    struct oci_store *s = arg;
    struct arena a = { 0 };
    struct oci_store_image image = { .name = STR("one"), .manifest = world.images[0].digest };
    const struct made_image *m = &world.images[0];
    (void)why;
    if (kind == OCI_STORE_DAMAGED_DOCUMENT)
        CHECK_OK(oci_store_document_put(s, &m->config_digest, buf_str(&m->config), NULL));
    if (kind == OCI_STORE_DAMAGED_NAME)
        CHECK_OK(oci_store_image_put(s, &image, NULL));
    if (kind == OCI_STORE_DAMAGED_LAYER || kind == OCI_STORE_DAMAGED_BLOB ||
        kind == OCI_STORE_DAMAGED_OBJECT) {
        CHECK_OK(oci_store_layer_remove(s, &world.layers[0].diff_id, NULL));
        CHECK_OK(store_make_room(s, 1, NULL));
        if (kind == OCI_STORE_DAMAGED_OBJECT) { /* it is still there with its size */
            scoped(free_scoped) char *path = xasprintf("%s/objects/%.2s/%s", root, what, what);
            CHECK(access(path, F_OK) < 0);
        }
        pull_ok(s, 0, "one");
    }
    arena_fini(&a);
}

TEST(a_check_removes_nothing_that_came_after_its_look)
{
    static const struct {
        enum oci_store_form form;
        const char *what;
    } kinds[] = { { OCI_STORE_RAW, "meta/documents" }, { OCI_STORE_RAW, "refs" },
                  { OCI_STORE_RAW, "data.tar" },       { OCI_STORE_GZ, "blobs" },
                  { OCI_STORE_CAS, "skeleton" },       { OCI_STORE_CAS, "objects" } };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        char hex[SHA256_HEX_SIZE], blob[SHA256_HEX_SIZE], config[SHA256_HEX_SIZE];
        struct oci_digest name;
        char ref[SHA256_HEX_SIZE];
        new_root();
        struct oci_store *s = open_with((struct oci_store_opts){ .form = kinds[i].form });
        pull_ok(s, 0, "one");
        sha256_of(STR("one"), name.bytes);
        hex_format(name.bytes, SHA256_BYTES, ref);
        hex_format(world.layers[0].diff_id.bytes, SHA256_BYTES, hex);
        hex_format(world.layers[0].digest.bytes, SHA256_BYTES, blob);
        hex_format(world.images[0].config_digest.bytes, SHA256_BYTES, config);
        scoped(free_scoped) char *path =
            strcmp(kinds[i].what, "objects") == 0 ? object_path(0, 1)
            : strcmp(kinds[i].what, "refs") == 0  ? xasprintf("%s/refs/%s", root, ref)
            : strcmp(kinds[i].what, "blobs") == 0 ? xasprintf("%s/blobs/%s", root, blob)
            : strcmp(kinds[i].what, "meta/documents") == 0
                ? xasprintf("%s/meta/documents/%s", root, config)
                : xasprintf("%s/layers/%s/%s", root, hex, kinds[i].what);
        CHECK_OK(truncate(path, 20));
        struct oci_store_check_opts opts = { .remove = true,
                                             .on_damage = on_damage_repair,
                                             .arg = s };
        struct oci_store_check_result res;
        CHECK_OK(oci_store_check(s, &opts, &res, NULL));
        if (res.n_damaged != 1 || res.n_removed != 0)
            TEST_FAIL("%s: %zu damaged, %zu removed", kinds[i].what, res.n_damaged, res.n_removed);
        res = check_store(s, false);
        CHECK_INT(res.n_damaged + res.n_incomplete, 0);
        CHECK_INT(res.n_images, 1);
        check_layer(s, 0);
        oci_store_close(s);
    }
}

/* A layer that is evicted and pulled again while it is read. */
static struct {
    struct oci_store *s;
    int n_left;
} churn;

static int start_churn(void *arg, uint64_t max_bytes, const struct layer_ops *ops, void *ops_arg,
                       void **ret, struct err *err)
{
    int r = layer_parse_here.start(arg, max_bytes, ops, ops_arg, ret, err);
    if (churn.n_left > 0) {
        CHECK_OK(oci_store_layer_remove(churn.s, &world.layers[0].diff_id, NULL));
        CHECK_OK(oci_store_layer_remove(churn.s, &world.layers[1].diff_id, NULL));
        CHECK_OK(store_make_room(churn.s, 1, NULL));
    }
    return r;
}

static void free_churn(void *to)
{
    layer_parse_here.free(to);
    if (churn.n_left > 0 && churn.n_left--)
        pull_ok(churn.s, 0, "one");
}

TEST(a_layer_that_is_evicted_and_pulled_again_while_it_is_checked_is_not_damaged)
{
    for (int form = OCI_STORE_RAW; form <= OCI_STORE_CAS; form++) {
        new_root();
        struct oci_store *s = open_with((struct oci_store_opts){ .form = form });
        pull_ok(s, 0, "one");
        const struct layer_reading_ops ops = { .start = start_churn,
                                               .add = layer_parse_here.add,
                                               .end = layer_parse_here.end,
                                               .free = free_churn };
        struct oci_store_check_opts opts = { .remove = true,
                                             .on_damage = on_damage,
                                             .reading = &ops };
        struct oci_store_check_result res;
        struct err err = { 0 };
        churn.s = s;
        churn.n_left = 2;
        last_damage[0] = 0;
        if (oci_store_check(s, &opts, &res, &err) < 0)
            TEST_FAIL("%s", err_text(&err));
        CHECK_INT(churn.n_left, 0);
        CHECK_STR(str_of(last_damage), "");
        CHECK_INT(res.n_removed + res.n_unread, 0);
        check_layer(s, 0);
        check_layer(s, 1);
        oci_store_close(s);
    }
}

/* Whatever cannot be read stays, is told, and is no damage. */
TEST(a_check_removes_nothing_that_cannot_be_read)
{
    static const enum sys_call calls[] = { SYS_OPENAT, SYS_PREAD };
    static const int codes[] = { EIO, EMFILE, ENOMEM, ESTALE };
    for (int form = OCI_STORE_RAW; form <= OCI_STORE_CAS; form++) {
        new_root();
        struct oci_store *s = open_with((struct oci_store_opts){ .form = form });
        pull_ok(s, 0, "one");
        CHECK_OK(oci_store_lease(s, STR("l"), &world.images[0].digest, false, NULL));
        size_t n_reported = 0;
        for (size_t c = 0; c < ARRAY_LEN(calls) * ARRAY_LEN(codes); c++)
            for (unsigned nth = 1;; nth++) {
                struct oci_store_check_opts opts = { .remove = true, .on_damage = on_damage };
                struct oci_store_check_result res = { 0 };
                struct err err = { 0 };
                int code = codes[c % ARRAY_LEN(codes)];
                enum sys_call call = calls[c / ARRAY_LEN(codes)];
                last_damage[0] = 0;
                sys_fail_nth(call, nth, code);
                int r = oci_store_check(s, &opts, &res, &err);
                unsigned n = sys_call_count(call);
                sys_fail_nth(call, 0, 0);
                CHECK_STR(str_of(last_damage), "");
                CHECK_INT(res.n_removed + res.n_repaired, 0);
                CHECK(r >= 0 || r == -code || r == E_TRAP);
                n_reported += r < 0 && res.n_unread > 0;
                if (n < nth)
                    break;
            }
        CHECK(n_reported > 30);
        CHECK_INT(check_store(s, false).n_damaged, 0);
        check_layer(s, 0);
        check_layer(s, 1);
        oci_store_close(s);
    }
}

TEST(gc_removes_nothing_when_it_cannot_read_what_refers_to_layers)
{
    struct oci_store_gc gc;
    struct err err = { 0 };
    new_root();
    struct oci_store *s = open_store();
    pull_ok(s, 0, "one");
    pull_ok(s, 1, "two");
    char hex[SHA256_HEX_SIZE];
    hex_format(world.images[1].digest.bytes, SHA256_BYTES, hex);
    scoped(free_scoped) char *path = xasprintf("%s/meta/documents/%s", root, hex);
    CHECK_OK(truncate(path, 10));
    CHECK_ERR(oci_store_gc(s, false, &gc, &err), E_CORRUPT);
    CHECK(strstr(err_text(&err), "'two'"));
    for (size_t i = 0; i < LAYERS; i++)
        check_layer(s, i);
    oci_store_close(s);
}

/* ---- faults and kills ---- */

/* AddressSanitizer keeps 256 MiB of freed memory by default, which each fork copies the tables of:
 * a third of the time of these tests. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16";
}

/* Thousands of pulls one after the other, which a sanitizer of threads only slows down. */
#define ONE_THREAD "there is one thread"

static enum oci_store_form scenario_form = OCI_STORE_BOTH;

/* Everything that writes: pull two images, move a name, remove, collect. */
static int scenario(struct err *err)
{
    struct oci_store *s;
    struct oci_store_gc gc;
    struct oci_store_opts opts = { .root = root, .form = scenario_form };
    int r = oci_store_open(&opts, &s, err);
    if (r < 0)
        return r;
    r = pull_as(s, 0, "app", err);
    if (r >= 0 && scenario_form == OCI_STORE_CAS)
        r = oci_store_layer_share(s, &world.layers[0].diff_id, err);
    r = r < 0 ? r : oci_store_lease(s, STR("l"), &world.images[0].digest, false, err);
    r = r < 0 ? r : pull_as(s, 1, "app", err);
    r = r < 0 ? r : pull_as(s, 0, "old", err);
    r = r < 0 ? r : oci_store_image_remove(s, STR("old"), err);
    r = r < 0 ? r : oci_store_lease_drop(s, STR("l"), err);
    r = r < 0 ? r : oci_store_gc(s, false, &gc, err);
    r = r < 0 ? r : oci_store_sweep(s, SIZE_MAX, err);
    oci_store_close(s);
    return r;
}

/* Whatever happened: nothing is half visible, and the same again succeeds. */
static void check_after(const char *what, unsigned nth)
{
    struct err err = { 0 };
    /* A reader that is being started has the lock open until its exec(). */
    struct oci_store_opts opts = { .root = root, .lock_ms = 10000 };
    struct oci_store *s;
    const struct layer_reading_ops *before = reading;
    reading = NULL;
    if (oci_store_open(&opts, &s, &err) < 0)
        TEST_FAIL("after %s %u: %s", what, nth, err_text(&err));
    struct oci_store_check_result res = check_store(s, false);
    if (res.n_damaged || res.n_incomplete)
        TEST_FAIL("after %s %u: %zu damaged, %zu incomplete: %s", what, nth, res.n_damaged,
                  res.n_incomplete, last_damage);
    oci_store_close(s);
    if (scenario(&err) < 0)
        TEST_FAIL("again after %s %u: %s", what, nth, err_text(&err));
    s = open_store();
    check_layer(s, 0);
    check_layer(s, 2);
    CHECK(!oci_store_layer_has(s, &world.layers[1].diff_id));
    CHECK_INT(count_tmp() + count_in("trash"), 0);
    if (scenario_form == OCI_STORE_CAS)
        CHECK_INT(count_objects(), 2 * FILES);
    oci_store_close(s);
    reading = before;
}

static const enum sys_call all_calls[] = { SYS_OPENAT,  SYS_WRITE,    SYS_PWRITE,
                                           SYS_PREAD,   SYS_FSYNC,    SYS_RENAMEAT,
                                           SYS_MKDIRAT, SYS_UNLINKAT, SYS_FTRUNCATE };
/* Those that happen while a layer is read; each try starts confined processes. */
static const enum sys_call calls_reading[] = { SYS_PWRITE, SYS_MKDIRAT };

static void fail_each_call(const enum sys_call *calls, size_t n_calls)
{
    for (size_t c = 0; c < n_calls; c++)
        for (unsigned nth = 1;; nth++) {
            struct err err = { 0 };
            new_root();
            sys_fail_nth(calls[c], nth, nth % 2 ? ENOSPC : EIO);
            int r = scenario(&err);
            unsigned n = sys_call_count(calls[c]);
            sys_fail_nth(calls[c], 0, 0);
            CHECK(r >= 0 || err.code == r);
            check_after("fault", nth);
            if (n < nth)
                break;
        }
}

TEST(every_call_that_fails_ends_in_a_clean_error_or_in_success)
{
    if (HAS_TSAN)
        SKIP(ONE_THREAD);
    fail_each_call(all_calls, ARRAY_LEN(all_calls));
}

TEST(every_call_that_fails_where_layers_share_files_does_so_too)
{
    if (HAS_TSAN)
        SKIP(ONE_THREAD);
    scenario_form = OCI_STORE_CAS;
    fail_each_call(all_calls, ARRAY_LEN(all_calls));
    scenario_form = OCI_STORE_BOTH;
}

/* The n-th call is not the same one each time; what holds afterwards is. */
TEST(every_call_that_fails_beside_a_confined_reader_does_so_too)
{
    if (HAS_TSAN)
        SKIP(ONE_THREAD);
    reading = &layer_child_reading;
    fail_each_call(calls_reading, ARRAY_LEN(calls_reading));
    reading = NULL;
}

static unsigned kill_at_making; /* the process ends before it makes the n-th file; 0: never */

/* In the place of the C library's. */
int openat(int dir_fd, const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if ((flags & (O_CREAT | O_TRUNC)) && kill_at_making &&
        __atomic_sub_fetch(&kill_at_making, 1, __ATOMIC_RELAXED) == 0)
        (void)raise(SIGKILL);
    return (int)syscall(__NR_openat, dir_fd, path, flags, mode);
}

static void kill_at(enum sys_call call, unsigned nth)
{
    if (call == SYS_OPENAT)
        kill_at_making = nth;
    else
        sys_fail_nth(call, nth, SYS_FAIL_KILL);
}

/* Kill it before each call that changes something: a process that ends before another one, also
 * before a sync, leaves what it leaves before the next change. */
static void kill_at_each_call(const enum sys_call *calls, size_t n_calls)
{
    for (size_t c = 0; c < n_calls; c++) {
        if (calls[c] == SYS_PREAD || calls[c] == SYS_FSYNC)
            continue;
        for (unsigned nth = 1;; nth++) {
            int status;
            new_root();
            pid_t pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                kill_at(calls[c], nth);
                _exit(scenario(NULL) < 0);
            }
            CHECK_INT(waitpid(pid, &status, 0), pid);
            CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
            check_after("kill", nth);
            if (WIFEXITED(status))
                break;
        }
    }
    remove_root();
}

TEST(killed_at_any_call_nothing_is_half_visible)
{
    if (HAS_TSAN)
        SKIP(ONE_THREAD);
    kill_at_each_call(all_calls, ARRAY_LEN(all_calls));
}

TEST(killed_at_any_call_where_layers_share_files_nothing_is_half_visible)
{
    if (HAS_TSAN)
        SKIP(ONE_THREAD);
    scenario_form = OCI_STORE_CAS;
    kill_at_each_call(all_calls, ARRAY_LEN(all_calls));
    scenario_form = OCI_STORE_BOTH;
}

TEST(killed_at_any_call_beside_a_confined_reader_nothing_is_half_visible)
{
    if (HAS_TSAN)
        SKIP(ONE_THREAD);
    reading = &layer_child_reading;
    kill_at_each_call(calls_reading, ARRAY_LEN(calls_reading));
    reading = NULL;
}

/* Of a layer that is here the missing part comes whole or not at all. */
TEST(killed_at_any_call_while_layers_get_another_form_they_stay_whole)
{
    static const enum sys_call calls[] = { SYS_RENAMEAT, SYS_FSYNC, SYS_PWRITE, SYS_UNLINKAT };
    static const enum oci_store_form made[] = { OCI_STORE_RAW, OCI_STORE_GZ };
    for (size_t c = 0; c < ARRAY_LEN(calls) * ARRAY_LEN(made); c++)
        for (unsigned nth = 1, is_over = 0; !is_over; nth++) {
            int status;
            new_root();
            enum oci_store_form m = made[c % ARRAY_LEN(made)];
            struct oci_store *s = open_with((struct oci_store_opts){ .form = m });
            pull_ok(s, 0, "app");
            oci_store_close(s);
            pid_t pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                sys_fail_nth(calls[c / ARRAY_LEN(made)], nth, SYS_FAIL_KILL);
                s = open_with((struct oci_store_opts){ .form = OCI_STORE_BOTH });
                _exit(pull_with_form(s) < 0);
            }
            CHECK_INT(waitpid(pid, &status, 0), pid);
            is_over = WIFEXITED(status);
            CHECK(!is_over || WEXITSTATUS(status) == 0);
            s = open_with((struct oci_store_opts){ .form = OCI_STORE_BOTH, .lock_ms = 10000 });
            struct oci_store_check_result res = check_store(s, false);
            CHECK_INT(res.n_damaged + res.n_incomplete, 0);
            CHECK_OK(pull_with_form(s));
            for (size_t i = 0; i < PER_IMAGE; i++) {
                check_layer(s, i);
                check_parts(s, i, true, true);
            }
            oci_store_close(s);
        }
    remove_root();
}

/* A layer whose tar is right and one of whose objects has rotted, in a store that is to be of the
 * form cas: a scrub, the pull that changes the form, and gc. */
static void make_rotten(void)
{
    const struct oci_digest *d = &world.layers[0].diff_id;
    struct oci_store *s = open_store();
    pull_ok(s, 0, "app");
    CHECK_OK(oci_store_layer_share(s, d, NULL));
    CHECK_OK(oci_store_layer_keep_tar(s, d, NULL));
    oci_store_close(s);
    scoped(free_scoped) char *object = object_path(0, 1);
    change_byte(object);
}

static int mend(void)
{
    struct oci_store *s;
    struct oci_store_gc gc;
    struct oci_store_check_result res;
    const struct oci_store_check_opts check = { .remove = true };
    const struct oci_store_opts opts = { .root = root, .form = OCI_STORE_CAS, .lock_ms = 10000 };
    int r = oci_store_open(&opts, &s, NULL);
    if (r < 0)
        return r;
    r = pull_with_form(s);
    r = r < 0 ? r : oci_store_check(s, &check, &res, NULL);
    r = r < 0 ? r : oci_store_image_remove(s, STR("app"), NULL);
    r = r < 0 ? r : pull_as(s, 0, "old", NULL);
    r = r < 0 ? r : oci_store_gc(s, false, &gc, NULL);
    r = r < 0 ? r : oci_store_sweep(s, SIZE_MAX, NULL);
    oci_store_close(s);
    return r;
}

static void check_mended(void)
{
    struct oci_store *s = open_with((struct oci_store_opts){ .lock_ms = 10000 });
    for (size_t i = 0; i < PER_IMAGE; i++) /* neither rot nor a failure costs a layer */
        check_layer(s, i);
    oci_store_close(s);
    CHECK_OK(mend());
    s = open_store();
    CHECK_INT(check_store(s, false).n_damaged, 0);
    for (size_t i = 0; i < PER_IMAGE; i++) {
        check_layer(s, i);
        CHECK(oci_store_layer_is_shared(s, &world.layers[i].diff_id));
    }
    CHECK_INT(count_tmp() + count_in("trash"), 0);
    CHECK_INT(count_objects(), PER_IMAGE * FILES);
    oci_store_close(s);
}

TEST(every_call_that_fails_while_rot_is_mended_costs_no_layer)
{
    if (HAS_TSAN)
        SKIP(ONE_THREAD);
    for (size_t c = 0; c < ARRAY_LEN(all_calls); c++)
        for (unsigned nth = 1, is_over = 0; !is_over; nth++) {
            new_root();
            make_rotten();
            sys_fail_nth(all_calls[c], nth, nth % 2 ? EIO : EMFILE);
            int r = mend();
            is_over = sys_call_count(all_calls[c]) < nth;
            sys_fail_nth(all_calls[c], 0, 0);
            CHECK(!is_over || r >= 0);
            check_mended();
        }
}

/* Before what changes the store; opening and syncing change nothing in between. */
TEST(killed_at_any_call_while_rot_is_mended_no_layer_is_lost)
{
    static const enum sys_call calls[] = { SYS_RENAMEAT, SYS_UNLINKAT, SYS_WRITE, SYS_PWRITE };
    if (HAS_TSAN)
        SKIP(ONE_THREAD);
    for (size_t c = 0; c < ARRAY_LEN(calls); c++)
        for (unsigned nth = 1, is_over = 0; !is_over; nth++) {
            int status;
            new_root();
            make_rotten();
            pid_t pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                sys_fail_nth(calls[c], nth, SYS_FAIL_KILL);
                _exit(mend() < 0);
            }
            CHECK_INT(waitpid(pid, &status, 0), pid);
            is_over = WIFEXITED(status);
            CHECK(!is_over || WEXITSTATUS(status) == 0);
            check_mended();
        }
    remove_root();
}

/* ---- the machine stops ---- */

/*
 * A file system in a file, which has what was synced and hardly anything else while the journal
 * commits and pages are written by age only: a copy of the file is the disk of a machine that
 * stopped.
 */
enum { DISK_BYTES = 16 << 20, PIECE_BYTES = 64 << 10, DISK_TEXT_SIZE = 128 };

static struct {
    char made[DISK_TEXT_SIZE], file[DISK_TEXT_SIZE], copy[DISK_TEXT_SIZE], at[DISK_TEXT_SIZE];
} disk;

static bool run_quietly(const char *const *words)
{
    int status, null = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t pid = fork();
    CHECK(pid >= 0 && null >= 0);
    if (pid == 0) {
        (void)dup2(null, STDOUT_FILENO);
        (void)dup2(null, STDERR_FILENO);
        (void)execvp(words[0], (char *const *)words);
        _exit(127);
    }
    (void)close(null);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool mount_disk(const char *file)
{
    const char *const words[] = { "mount", "-o", "loop,commit=300", file, disk.at, NULL };
    return run_quietly(words);
}

static void unmount_disk(void)
{
    CHECK_OK(umount(disk.at));
}

static bool make_disk(void)
{
    const char *const words[] = { "mkfs.ext4", "-q", "-F", disk.made, NULL };
    int fd = open(disk.made, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_OK(ftruncate(fd, DISK_BYTES));
    (void)close(fd);
    return run_quietly(words);
}

/* Pieces of zeros stay holes. */
static void copy_disk(const char *from_path, const char *to_path)
{
    static const char zeros[PIECE_BYTES];
    char piece[PIECE_BYTES];
    int from = open(from_path, O_RDONLY | O_CLOEXEC);
    int to = open(to_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(from >= 0 && to >= 0);
    for (off_t at = 0; at < DISK_BYTES; at += PIECE_BYTES) {
        CHECK_INT(pread(from, piece, sizeof piece, at), sizeof piece);
        if (memcmp(piece, zeros, sizeof piece) != 0)
            CHECK_INT(pwrite(to, piece, sizeof piece, at), sizeof piece);
    }
    CHECK_OK(ftruncate(to, DISK_BYTES));
    (void)close(from);
    (void)close(to);
}

/* false: this machine has no loop devices, or they are for others. */
static bool prepare_disk(void)
{
    new_root();
    (void)snprintf(disk.made, sizeof disk.made, "%s/made", root);
    (void)snprintf(disk.file, sizeof disk.file, "%s/disk", root);
    (void)snprintf(disk.copy, sizeof disk.copy, "%s/copy", root);
    (void)snprintf(disk.at, sizeof disk.at, "%s/at", root);
    CHECK_OK(mkdir(disk.at, 0700));
    return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && make_disk();
}

/* What has to stay: a name that moves, and what a lease keeps. */
static int scenario_of_pulls(void)
{
    struct oci_store *s;
    struct oci_store_opts opts = { .root = root, .form = OCI_STORE_BOTH };
    int r = oci_store_open(&opts, &s, NULL);
    if (r < 0)
        return r;
    r = pull_as(s, 0, "app", NULL);
    r = r < 0 ? r : oci_store_lease(s, STR("l"), &world.images[0].digest, false, NULL);
    r = r < 0 ? r : pull_as(s, 1, "app", NULL);
    oci_store_close(s);
    return r;
}

static void check_all_stayed(void)
{
    struct oci_store *s = open_store();
    struct oci_store_image image;
    struct arena a = { 0 };
    CHECK_OK(oci_store_image_find(s, STR("app"), &a, &image, NULL));
    CHECK(oci_digest_equal(&image.manifest, &world.images[1].digest));
    for (size_t i = 0; i < LAYERS; i++)
        check_layer(s, i);
    CHECK_ERR(oci_store_layer_remove(s, &world.layers[1].diff_id, NULL), -EBUSY);
    arena_fini(&a);
    oci_store_close(s);
}

/* The machine stops before the n-th call. true: there were fewer. */
static bool stop_before(enum sys_call call, unsigned nth)
{
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        sys_fail_nth(call, nth, SYS_FAIL_KILL);
        _exit(scenario_of_pulls() < 0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    copy_disk(disk.file, disk.copy);
    unmount_disk();
    CHECK(mount_disk(disk.copy));
    bool is_over = WIFEXITED(status);
    CHECK(!is_over || WEXITSTATUS(status) == 0);
    if (is_over)
        check_all_stayed();
    check_after("the machine's stop", nth);
    unmount_disk();
    return is_over;
}

TEST(after_a_stop_of_the_machine_nothing_is_half_visible_and_what_was_pulled_is_there)
{
    static const enum sys_call calls[] = { SYS_FSYNC, SYS_RENAMEAT };
    char own_root[sizeof root];
    if (HAS_TSAN)
        SKIP(ONE_THREAD);
    bool can = prepare_disk();
    (void)memcpy(own_root, root, sizeof root);
    for (size_t c = 0; can && c < ARRAY_LEN(calls); c++)
        for (unsigned nth = 1; can; nth++) {
            copy_disk(disk.made, disk.file);
            can = mount_disk(disk.file);
            (void)snprintf(root, sizeof root, "%s", disk.at);
            if (can && stop_before(calls[c], nth))
                break;
        }
    (void)memcpy(root, own_root, sizeof root);
    remove_root();
    if (!can)
        SKIP("no file systems on loop devices here");
}

/* ---- pulls that do not wait for the disk ---- */

static struct oci_store *open_hasty(enum oci_store_form form)
{
    return open_with((struct oci_store_opts){ .form = form, .is_not_durable = true });
}

static bool has_mark(void)
{
    struct stat st;
    char path[sizeof root + 16];
    (void)snprintf(path, sizeof path, "%s/unsynced", root);
    return stat(path, &st) == 0;
}

/* What a machine that starts again finds: a mark of the boot before. */
static void start_again(void)
{
    char path[sizeof root + 16];
    (void)snprintf(path, sizeof path, "%s/unsynced", root);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    CHECK_INT(pwrite(fd, "00000000", 8, 0), 8);
    (void)close(fd);
}

static void age_mark(void)
{
    char path[sizeof root + 16];
    const struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
    (void)snprintf(path, sizeof path, "%s/unsynced", root);
    CHECK_OK(utimensat(AT_FDCWD, path, times, 0));
}

/* A new image, and a layer of a durable one that left and comes again. */
static int scenario_of_hasty_pulls(enum oci_store_form form)
{
    struct oci_store *s;
    struct oci_store_opts opts = { .root = root, .form = form, .is_not_durable = true };
    int r = oci_store_open(&opts, &s, NULL);
    if (r < 0)
        return r;
    r = pull_as(s, 1, "next", NULL);
    r = r < 0 ? r : oci_store_layer_remove(s, &world.layers[1].diff_id, NULL);
    r = r < 0 ? r : pull_as(s, 0, "app", NULL);
    oci_store_close(s);
    return r;
}

static void check_after_hasty(unsigned nth, bool is_over, bool has_next)
{
    struct arena a = { 0 };
    struct oci_store_image image;
    struct oci_store *s = open_with((struct oci_store_opts){ .is_reader = true });
    struct oci_store_check_result res = check_store(s, false);
    if (res.n_damaged)
        TEST_FAIL("after the machine's stop %u: %zu damaged: %s", nth, res.n_damaged, last_damage);
    CHECK(!has_mark());
    CHECK_OK(oci_store_image_find(s, STR("app"), &a, &image, NULL));
    CHECK(oci_digest_equal(&image.manifest, &world.images[0].digest));
    check_layer(s, 0);
    if (is_over || oci_store_layer_has(s, &world.layers[1].diff_id))
        check_layer(s, 1);
    CHECK_INT(oci_store_layer_has(s, &world.layers[2].diff_id), has_next);
    oci_store_close(s);
    s = open_store();
    pull_ok(s, 0, "app");
    pull_ok(s, 1, "next");
    for (size_t i = 0; i < LAYERS; i++)
        check_layer(s, i);
    res = check_store(s, false);
    CHECK_INT(res.n_damaged + res.n_incomplete, 0);
    CHECK_OK(oci_store_sweep(s, SIZE_MAX, NULL));
    oci_store_close(s);
    arena_fini(&a);
}

/* The machine stops before the n-th call, then starts. true: there were fewer. */
static bool stop_hasty_before(enum oci_store_form form, enum sys_call call, unsigned nth)
{
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        sys_fail_nth(call, nth, SYS_FAIL_KILL);
        _exit(scenario_of_hasty_pulls(form) < 0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    bool is_over = WIFEXITED(status);
    CHECK(!is_over || WEXITSTATUS(status) == 0);
    CHECK(!is_over || has_mark());
    copy_disk(disk.file, disk.copy);
    if (is_over) { /* the machine did not stop, and the next one waits for the disk */
        oci_store_close(open_store());
        copy_disk(disk.file, disk.made);
    }
    unmount_disk();
    CHECK(mount_disk(disk.copy));
    start_again();
    check_after_hasty(nth, is_over, false);
    unmount_disk();
    if (!is_over)
        return false;
    CHECK(mount_disk(disk.made));
    check_after_hasty(nth, true, true);
    unmount_disk();
    return true;
}

static bool stop_hasty_everywhere(enum oci_store_form form, enum sys_call call)
{
    if (!make_disk() || !mount_disk(disk.made))
        return false;
    struct oci_store *s = open_with((struct oci_store_opts){ .form = form });
    pull_ok(s, 0, "app");
    oci_store_close(s);
    unmount_disk();
    bool is_over = false;
    for (unsigned nth = 1; !is_over; nth++) {
        copy_disk(disk.made, disk.file);
        CHECK(mount_disk(disk.file));
        is_over = stop_hasty_before(form, call, nth);
    }
    return true;
}

TEST(after_a_stop_of_the_machine_nothing_is_left_of_what_was_not_waited_for)
{
    char own_root[sizeof root];
    if (HAS_TSAN)
        SKIP(ONE_THREAD);
    bool can = prepare_disk();
    (void)memcpy(own_root, root, sizeof root);
    (void)snprintf(root, sizeof root, "%s", disk.at);
    can = can && stop_hasty_everywhere(OCI_STORE_BOTH, SYS_RENAMEAT) &&
          stop_hasty_everywhere(OCI_STORE_CAS, SYS_FSYNC);
    (void)memcpy(root, own_root, sizeof root);
    remove_root();
    if (!can)
        SKIP("no file systems on loop devices here");
}

TEST(what_was_not_waited_for_is_there_until_the_machine_stops_and_after_the_next_sync_for_good)
{
    new_root();
    struct oci_store *s = open_hasty(OCI_STORE_RAW);
    CHECK(has_mark());
    pull_ok(s, 0, "app");
    oci_store_close(s);
    s = open_hasty(OCI_STORE_RAW); /* at once: what is listed stays what it was */
    check_layer(s, 0);
    oci_store_close(s);
    age_mark();
    oci_store_close(open_with((struct oci_store_opts){ .is_as_before = true }));
    CHECK(has_mark());
    start_again();
    s = open_hasty(OCI_STORE_RAW);
    CHECK(!oci_store_layer_has(s, &world.layers[0].diff_id));
    pull_ok(s, 0, "app");
    oci_store_close(s);
    age_mark();
    oci_store_close(open_hasty(OCI_STORE_RAW)); /* much later */
    start_again();
    s = open_hasty(OCI_STORE_RAW);
    check_layer(s, 0);
    pull_ok(s, 1, "next");
    CHECK_OK(oci_store_lease(s, STR("l"), &world.images[1].digest, false, NULL));
    oci_store_close(s);
    start_again();
    s = open_store();
    CHECK(!has_mark());
    check_layer(s, 2);
    CHECK_ERR(oci_store_layer_remove(s, &world.layers[2].diff_id, NULL), -EBUSY);
    oci_store_close(s);
    oci_store_close(open_with((struct oci_store_opts){ .is_as_before = true }));
    CHECK(!has_mark());
}

TEST(a_reader_beside_a_writer_that_removes_what_may_be_damaged_is_told_to_wait)
{
    new_root();
    struct oci_store *s = open_hasty(OCI_STORE_RAW), *reader;
    struct oci_store_opts opts = { .root = root, .is_reader = true };
    struct err err = { 0 };
    start_again();
    CHECK_ERR(oci_store_open(&opts, &reader, &err), -EBUSY);
    CHECK(strstr(err_text(&err), "without syncs"));
    oci_store_close(s);
    CHECK_OK(oci_store_open(&opts, &reader, NULL));
    oci_store_close(reader);
}

static void truncate_in(const char *dir, struct str key, off_t size)
{
    char hex[SHA256_HEX_SIZE];
    uint8_t digest[SHA256_BYTES];
    sha256_of(key, digest);
    hex_format(digest, sizeof digest, hex);
    scoped(free_scoped) char *path = xasprintf("%s/%s/%s", root, dir, hex);
    CHECK_OK(truncate(path, size));
}

/* A version that is not known, in the eight bytes after a magic word of eight. */
static void damage_version(const char *path)
{
    scoped(fd_scoped) int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_INT(pwrite(fd, "\xff", 1, 8), 1);
}

TEST(a_store_opens_whatever_the_stop_of_the_machine_has_damaged)
{
    enum { TORN, EMPTY, OTHER_VERSION, KINDS };
    for (int kind = 0; kind < KINDS; kind++) {
        struct oci_store_gc gc;
        struct err err = { 0 };
        const struct oci_digest *one = &world.images[0].digest;
        char hex[SHA256_HEX_SIZE];
        new_root();
        struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_CAS });
        pull_ok(s, 0, "app");
        pull_ok(s, 1, "next");
        CHECK_OK(oci_store_lease(s, STR("of the boot"), one, true, NULL));
        CHECK_OK(oci_store_lease(s, STR("torn"), one, false, NULL));
        CHECK_OK(oci_store_lease(s, STR("whole"), one, false, NULL));
        CHECK_OK(oci_store_lease(s, STR("of no document"), &world.images[1].digest, false, NULL));
        oci_store_close(s);
        oci_store_close(open_hasty(OCI_STORE_CAS));
        hex_format(world.layers[1].diff_id.bytes, SHA256_BYTES, hex);
        scoped(free_scoped) char *skeleton = xasprintf("%s/layers/%s/skeleton", root, hex);
        scoped(free_scoped) char *index = xasprintf("%s/meta/index/%s", root, hex);
        truncate_in("leases", STR("of the boot"), kind == EMPTY ? 0 : 20);
        truncate_in("leases", STR("torn"), kind == EMPTY ? 0 : 20);
        truncate_in("meta/documents", buf_str(&world.images[1].manifest), kind == EMPTY ? 0 : 20);
        if (kind == OTHER_VERSION) {
            damage_version(skeleton);
            damage_version(index);
        } else {
            CHECK_OK(truncate(skeleton, kind == EMPTY ? 0 : 100));
            CHECK_OK(truncate(index, kind == EMPTY ? 0 : 100));
        }
        start_again();
        struct oci_store_opts opts = { .root = root, .form = OCI_STORE_CAS };
        if (oci_store_open(&opts, &s, &err) < 0)
            TEST_FAIL("%s", err_text(&err));
        CHECK(!has_mark());
        CHECK_INT(count_in("leases"), 1);
        CHECK_INT(count_in("refs"), 1);
        CHECK_INT(count_objects(), LAYERS * FILES); /* it is not known which are whose */
        check_layer(s, 0);
        CHECK(check_store(s, true).n_damaged >= 1);
        CHECK_OK(oci_store_gc(s, false, &gc, NULL));
        pull_ok(s, 0, "app");
        pull_ok(s, 1, "next");
        for (size_t i = 0; i < LAYERS; i++)
            check_layer(s, i);
        CHECK_INT(check_store(s, false).n_damaged, 0);
        CHECK_ERR(oci_store_layer_remove(s, &world.layers[1].diff_id, NULL), -EBUSY);
        oci_store_close(s);
    }
}

/* Of what was synced before, whatever could not be read at an opening. */
static void check_all_kept(void)
{
    struct arena a = { 0 };
    struct oci_store_image image;
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_BOTH });
    CHECK(!has_mark());
    CHECK_OK(oci_store_image_get(s, STR("app"), &a, &image, NULL));
    CHECK(image.is_pinned);
    CHECK_INT(count_in("leases"), 1);
    CHECK_INT(count_in("meta/documents"), 2 * IMAGES);
    for (size_t i = 0; i < PER_IMAGE; i++) {
        check_layer(s, i);
        check_parts(s, i, true, true);
    }
    CHECK(!oci_store_layer_has(s, &world.layers[2].diff_id));
    CHECK_INT(check_store(s, false).n_damaged, 0);
    oci_store_close(s);
    arena_fini(&a);
}

TEST(what_cannot_be_read_for_a_moment_after_the_machine_stopped_is_not_damaged)
{
    static const int codes[] = { EIO, EMFILE, ENOMEM };
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_BOTH });
    pull_ok(s, 0, "app");
    CHECK_OK(oci_store_image_pin(s, STR("app"), true, NULL));
    CHECK_OK(oci_store_lease(s, STR("l"), &world.images[0].digest, false, NULL));
    oci_store_close(s);
    size_t n_reported = 0;
    for (size_t c = 0; c < ARRAY_LEN(codes); c++)
        for (unsigned nth = 1, is_over = 0; !is_over; nth++) {
            s = open_hasty(OCI_STORE_BOTH);
            pull_ok(s, 1, "next");
            oci_store_close(s);
            start_again();
            sys_fail_nth(SYS_OPENAT, nth, codes[c]);
            int r = try_open((struct oci_store_opts){ .form = OCI_STORE_BOTH }, NULL);
            is_over = sys_call_count(SYS_OPENAT) < nth;
            sys_fail_nth(SYS_OPENAT, 0, 0);
            CHECK(r >= 0 || r == -codes[c]);
            n_reported += r < 0 && has_mark(); /* the next opening tries again */
            check_all_kept();
        }
    CHECK(n_reported > 30);
}

/* A layer that was synced has the file: after a stop it has to be what it is now. */
TEST(a_rotten_file_is_synced_by_a_pull_without_syncs_that_replaces_it)
{
    struct made_layer other;
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_CAS });
    pull_ok(s, 0, "one");
    oci_store_close(s);
    s = open_hasty(OCI_STORE_CAS);
    make_sharing(&other, 0, 1);
    const struct oci_import_opts opts = { .diff_id = other.diff_id,
                                          .blob = other.digest,
                                          .blob_size = other.blob.n };
    scoped(free_scoped) char *object = object_path(0, 1);
    for (size_t is_rotten = 0; is_rotten < 2; is_rotten++) {
        if (is_rotten)
            change_byte(object);
        unsigned before = n_syncfs;
        CHECK_OK(import(s, buf_str(&other.blob), opts, NULL));
        CHECK_INT(n_syncfs - before, is_rotten ? 2 : 0); /* its bytes, then its name */
        CHECK_OK(oci_store_layer_remove(s, &other.diff_id, NULL));
    }
    check_layer(s, 0);
    oci_store_close(s);
    buf_fini(&other.tar);
    buf_fini(&other.blob);
}

TEST(an_opening_that_fails_while_the_machine_runs_costs_nothing)
{
    const struct oci_store_opts opts = { .is_as_before = true };
    new_root();
    struct oci_store *s = open_hasty(OCI_STORE_RAW);
    pull_ok(s, 0, "app");
    oci_store_close(s);
    for (unsigned nth = 1, is_over = 0; !is_over; nth++) {
        sys_fail_nth(SYS_OPENAT, nth, EMFILE);
        int r = try_open(opts, NULL);
        is_over = sys_call_count(SYS_OPENAT) < nth;
        sys_fail_nth(SYS_OPENAT, 0, 0);
        CHECK(r >= 0 || r == -EMFILE);
        CHECK(has_mark());
        s = open_with(opts);
        check_layer(s, 0);
        check_layer(s, 1);
        oci_store_close(s);
    }
}

/* ---- what a check gives to its reader ---- */

static struct {
    bool is_first;
    unsigned n_gzip, n_other;
} spied;

static int start_spy(void *arg, uint64_t max_bytes, const struct layer_ops *ops, void *ops_arg,
                     void **ret, struct err *err)
{
    spied.is_first = true;
    return layer_parse_here.start(arg, max_bytes, ops, ops_arg, ret, err);
}

static int add_spy(void *to, struct str bytes, struct err *err)
{
    bool is_gzip = bytes.n > 1 && (uint8_t)bytes.p[0] == 0x1f && (uint8_t)bytes.p[1] == 0x8b;
    if (spied.is_first && is_gzip)
        spied.n_gzip++;
    else if (spied.is_first)
        spied.n_other++;
    spied.is_first = false;
    return layer_parse_here.add(to, bytes, err);
}

static struct oci_store_check_result check_spied(struct oci_store *s)
{
    const struct layer_reading_ops spy = { .start = start_spy,
                                           .add = add_spy,
                                           .end = layer_parse_here.end,
                                           .free = layer_parse_here.free };
    struct oci_store_check_opts opts = { .on_damage = on_damage, .reading = &spy };
    struct oci_store_check_result res;
    struct err err = { 0 };
    spied.n_gzip = spied.n_other = 0;
    last_damage[0] = 0;
    if (oci_store_check(s, &opts, &res, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return res;
}

TEST(a_check_inflates_nothing_itself)
{
    char hex[SHA256_HEX_SIZE], path[256];
    new_root();
    struct oci_store *s = open_with((struct oci_store_opts){ .form = OCI_STORE_GZ });
    pull_ok(s, 0, "one");
    struct oci_store_check_result res = check_spied(s);
    CHECK_STR(str_of(last_damage), "");
    CHECK_INT(res.n_layers, PER_IMAGE);
    CHECK_INT(spied.n_gzip, PER_IMAGE);
    CHECK_INT(spied.n_other, 0);
    hex_format(world.layers[0].digest.bytes, SHA256_BYTES, hex);
    (void)snprintf(path, sizeof path, "%s/blobs/%s", root, hex);
    change_byte(path);
    CHECK_INT(check_spied(s).n_damaged, 1);
    oci_store_close(s);
    static const enum oci_store_form with_tar[] = { OCI_STORE_RAW, OCI_STORE_BOTH, OCI_STORE_CAS };
    for (size_t i = 0; i < ARRAY_LEN(with_tar); i++) {
        new_root();
        s = open_with((struct oci_store_opts){ .form = with_tar[i] });
        pull_ok(s, 0, "one");
        CHECK_INT(check_spied(s).n_damaged, 0);
        CHECK_INT(spied.n_gzip, 0);
        CHECK_INT(spied.n_other, PER_IMAGE);
        oci_store_close(s);
    }
    new_root(); /* a blob, and objects that were made of it */
    s = open_with((struct oci_store_opts){ .form = OCI_STORE_GZ });
    pull_ok(s, 0, "one");
    CHECK_OK(oci_store_layer_share(s, &world.layers[0].diff_id, NULL));
    CHECK_INT(check_spied(s).n_damaged, 0);
    CHECK_INT(spied.n_gzip, 1);
    CHECK_INT(spied.n_other, 1);
    oci_store_close(s);
    remove_root();
}

TEST_MAIN
