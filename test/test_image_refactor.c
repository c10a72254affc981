/* SPDX-License-Identifier: Apache-2.0 */
/* image/refactor: images written by hand, refactored, with every system call failing once. */
#include "base/sys.h"
#include "image/update.h"
#include "oci/layout.h"
#include "tar_kit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum { N_IMAGES = 3, CONTENT_BYTES = 20000, NTH_MAX = 2000 };

static const char *const NAMES[N_IMAGES] = { "a", "b", "c" };

struct scene {
    char directory[64], source[96], target[96];
    char references[N_IMAGES][128];
    const char *reference[N_IMAGES];
};

static struct oci_digest add_blob(struct oci_layout *l, uint64_t number, struct str bytes)
{
    struct oci_digest d;
    sha256_of(bytes, d.bytes);
    scoped(fd_scoped) int fd = oci_layout_blob_new(l, number, NULL);
    CHECK_OK(fd);
    CHECK_OK(sys_write_all(fd, bytes.p, bytes.n));
    CHECK_OK(oci_layout_blob_done(l, number, fd, &d, NULL));
    return d;
}

/* An image of one layer, which is a plain tar. */
static void add_image(struct oci_layout *l, size_t i, struct oci_layout_manifest *ret)
{
    struct tar_kit k = { BUF_INIT(1 << 20) };
    static char common[CONTENT_BYTES + 1], pair[CONTENT_BYTES + 1], own[16];
    memset(common, 'c', CONTENT_BYTES);
    memset(pair, 'p', CONTENT_BYTES);
    (void)snprintf(own, sizeof own, "image %zu", i);
    kit_dir(&k, "etc/");
    kit_file(&k, "etc/common", common);
    kit_link(&k, "etc/other", '1', "etc/common");
    if (i < 2)
        kit_file(&k, "etc/pair", pair);
    kit_file(&k, "own", own);
    kit_end(&k);
    char id[OCI_DIGEST_TEXT_SIZE], config_id[OCI_DIGEST_TEXT_SIZE];
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 16);
    struct oci_digest layer = add_blob(l, i, buf_str(&k.out)), config;
    oci_digest_format(&layer, id);
    CHECK_OK(buf_printf(&text,
                        "{\"os\":\"linux\",\"architecture\":\"amd64\",\"x\":%zu,\"rootfs\":{\"diff_"
                        "ids\":[\"%s\"]}}",
                        i, id));
    CHECK_OK(oci_layout_document(l, buf_str(&text), &config, NULL));
    oci_digest_format(&config, config_id);
    size_t config_size = text.n;
    buf_reset(&text);
    CHECK_OK(buf_printf(&text,
                        "{\"schemaVersion\":2,\"config\":{\"digest\":\"%s\",\"size\":%zu},"
                        "\"layers\":[{\"digest\":\"%s\",\"size\":%zu}]}",
                        config_id, config_size, id, k.out.n));
    CHECK_OK(oci_layout_document(l, buf_str(&text), &ret->digest, NULL));
    ret->size = text.n;
    ret->name = str_of(NAMES[i]);
    buf_fini(&k.out);
}

static void scene_init(struct scene *s)
{
    struct oci_layout_manifest manifests[N_IMAGES] = { 0 };
    scoped(oci_layout_end_scoped) struct oci_layout *l = NULL;
    *s = (struct scene){ .directory = "/tmp/dm-refactor-XXXXXX" };
    CHECK(mkdtemp(s->directory));
    (void)snprintf(s->source, sizeof s->source, "%s/source", s->directory);
    (void)snprintf(s->target, sizeof s->target, "%s/target", s->directory);
    CHECK_OK(oci_layout_begin(s->source, &l, NULL));
    for (size_t i = 0; i < N_IMAGES; i++) {
        add_image(l, i, &manifests[i]);
        (void)snprintf(s->references[i], sizeof s->references[i], "oci:%s:%s", s->source, NAMES[i]);
        s->reference[i] = s->references[i];
    }
    CHECK_OK(oci_layout_publish(l, manifests, N_IMAGES, NULL));
}

static void scene_fini(struct scene *s)
{
    scoped(free_scoped) char *command = xasprintf("rm -rf '%s'", s->directory);
    CHECK_INT(system(command), 0);
}

static size_t n_files(const char *path)
{
    size_t n = 0;
    DIR *dir = opendir(path);
    CHECK(dir);
    while (readdir(dir))
        n++;
    (void)closedir(dir);
    return n - 2;
}

static int refactor(const struct scene *s, const struct oci_platform *platform,
                    struct image_refactoring *ret, struct err *err)
{
    static struct image_refactor_opts opts;
    scoped(oci_layout_end_scoped) struct oci_layout *l = NULL;
    scoped(image_spool_free_scoped) struct image_spool *spool = NULL;
    opts = (struct image_refactor_opts){ .platform = platform,
                                         .n_threads = 1,
                                         .max_layers = 16,
                                         .layer_threshold = 1,
                                         .is_forced = true };
    *ret = (struct image_refactoring){ 0 };
    int r = oci_layout_begin(s->target, &l, err);
    r = r < 0 ? r : image_spool_new(oci_layout_staging(l), &spool, err);
    r = r < 0 ? r : image_refactor_plan(s->reference, N_IMAGES, &opts, spool, ret, err);
    return r < 0 ? r : image_refactor_write(ret, spool, l, NAMES, err);
}

TEST(three_images_get_two_shared_layers_and_their_own)
{
    struct scene s;
    struct image_refactoring r;
    struct err err = { 0 };
    struct oci_platform here = oci_platform_here();
    scene_init(&s);
    if (refactor(&s, &here, &r, &err) < 0)
        TEST_FAIL("%s", err.text);
    CHECK_INT(r.plan.n_layers, 2);
    CHECK_INT(r.plan.layers[0].n_sharers, 3);
    CHECK_INT(r.plan.layers[1].n_sharers, 2);
    CHECK_INT(r.layers[0].n_files, 2);
    CHECK_INT(r.n_changed_times, 0);
    CHECK_INT(n_files(s.target), 3);
    scoped(free_scoped) char *blobs = xasprintf("%s/blobs/sha256", s.target);
    CHECK_INT(n_files(blobs), 2 + N_IMAGES * 3);
    image_refactoring_fini(&r);
    scene_fini(&s);
}

TEST(a_new_version_is_a_delta_over_the_old_one)
{
    struct scene s;
    struct image_refactoring r;
    struct image_update u;
    struct err err = { 0 };
    struct oci_platform here = oci_platform_here();
    const struct image_refactor_opts opts = { .platform = &here, .max_layers = 16 };
    scoped(oci_layout_end_scoped) struct oci_layout *l = NULL;
    scoped(image_spool_free_scoped) struct image_spool *spool = NULL;
    scene_init(&s);
    CHECK_OK(refactor(&s, &here, &r, NULL));
    image_refactoring_fini(&r);
    scoped(free_scoped) char *old = xasprintf("oci:%s:a", s.target);
    const char *const references[] = { old, s.reference[1] };
    CHECK_OK(oci_layout_begin(s.target, &l, NULL));
    CHECK_OK(image_spool_new(oci_layout_staging(l), &spool, NULL));
    CHECK_OK(image_update_plan(references, &opts, spool, &u, NULL));
    CHECK(!u.why);
    CHECK_INT(u.added, strlen("image 1"));
    CHECK_INT(u.dead, strlen("image 0"));
    if (image_update_write(&u, spool, l, "next", &err) < 0)
        TEST_FAIL("%s", err.text);
    CHECK_INT(u.delta.n_files, 1);
    image_update_fini(&u);
    scene_fini(&s);
}

TEST(a_second_writer_is_kept_out)
{
    struct scene s;
    struct err err = { 0 };
    scoped(oci_layout_end_scoped) struct oci_layout *first = NULL;
    struct oci_layout *second;
    scene_init(&s);
    CHECK_OK(oci_layout_begin(s.source, &first, NULL));
    CHECK_ERR(oci_layout_begin(s.source, &second, &err), -EBUSY);
    scene_fini(&s);
}

/* With the nth call of a kind failing: an error leaves nothing, a success is whole. */
static bool try_failing(const struct scene *s, enum sys_call call, unsigned nth)
{
    struct image_refactoring r;
    struct err err = { 0 };
    struct oci_platform here = oci_platform_here();
    struct stat st;
    sys_fail_nth(call, nth, EIO);
    int status = refactor(s, &here, &r, &err);
    unsigned n_calls = sys_call_count(call);
    sys_fail_nth(call, 0, 0);
    image_refactoring_fini(&r);
    if (status < 0) {
        CHECK(err.text[0]);
        if (stat(s->target, &st) == 0)
            TEST_FAIL("call %d, number %u: '%s', and the layout is there", call, nth, err.text);
        CHECK(stat(s->target, &st) < 0 && errno == ENOENT);
    } else {
        scoped(free_scoped) char *command = xasprintf("rm -rf '%s'", s->target);
        size_t n = n_files(s->target); /* cleaning up may have failed: the next writer does it */
        CHECK(n == 3 || n == 4);
        CHECK_INT(system(command), 0);
    }
    return n_calls >= nth;
}

TEST(whichever_call_fails_nothing_half_made_is_visible)
{
    static const enum sys_call calls[] = { SYS_OPENAT, SYS_WRITE,    SYS_PWRITE,   SYS_PREAD,
                                           SYS_FSYNC,  SYS_RENAMEAT, SYS_FTRUNCATE };
    struct scene s;
    scene_init(&s);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        unsigned nth = 1;
        while (try_failing(&s, calls[i], nth))
            CHECK(++nth < NTH_MAX);
        (void)printf("# call %zu: %u failures\n", i, nth - 1);
    }
    scene_fini(&s);
}

TEST_MAIN
