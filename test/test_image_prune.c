/* SPDX-License-Identifier: Apache-2.0 */
/* Which images of a store go first, and which ones stay. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "codec/digest.h"
#include "image/layer_cache.h"
#include "image/prune.h"
#include "temp_dir.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { LAYER_BYTES = 64 << 10, NOW_S = 1000000 };

struct rig {
    char dir[TEMP_DIR_BYTES];
    struct oci_store *s;
    struct arena arena;
};

static void start(struct rig *g)
{
    *g = (struct rig){ 0 };
    CHECK(temp_dir_make("image-prune", g->dir));
    const struct oci_store_opts opts = { .root = g->dir };
    CHECK_OK(layer_cache_open_store(&opts, IMAGE_CACHE_ARC, &g->s, NULL));
}

static void stop(struct rig *g)
{
    oci_store_close(g->s);
    arena_fini(&g->arena);
    temp_dir_remove(g->dir);
}

/* A tar with one file of this byte. */
static void add_layer(struct rig *g, char byte, struct str *ret_hex)
{
    struct oci_digest d;
    struct oci_import *im;
    char *tar = arena_alloc(&g->arena, LAYER_BYTES),
         *text = arena_alloc(&g->arena, OCI_DIGEST_TEXT_SIZE);
    memset(tar, 0, LAYER_BYTES);
    tar[0] = byte; /* the name */
    (void)snprintf(tar + 100, 8, "%07o", 0644);
    (void)snprintf(tar + 108, 8, "%07o", 0);
    (void)snprintf(tar + 116, 8, "%07o", 0);
    (void)snprintf(tar + 124, 12, "%011o", LAYER_BYTES - 512 - 1024);
    (void)snprintf(tar + 136, 12, "%011o", 0);
    memset(tar + 148, ' ', 8);
    tar[156] = '0';
    memcpy(tar + 257,
           "ustar\0"
           "00",
           8);
    unsigned sum = 0;
    for (size_t i = 0; i < 512; i++)
        sum += (unsigned char)tar[i];
    (void)snprintf(tar + 148, 8, "%06o", sum);
    memset(tar + 512, byte, LAYER_BYTES - 512 - 1024);
    sha256_of(str_n(tar, LAYER_BYTES), d.bytes);
    const struct oci_import_opts opts = {
        .diff_id = d, .blob = d, .blob_size = LAYER_BYTES, .has_no_blob = true
    };
    if (!oci_store_layer_has(g->s, &d)) {
        CHECK_OK(oci_import_new(g->s, &opts, &im, NULL));
        CHECK_OK(oci_import_add(im, str_n(tar, LAYER_BYTES), NULL));
        CHECK_OK(oci_import_commit(im, NULL));
        oci_import_free(im);
    }
    oci_digest_format(&d, text);
    *ret_hex = str_of(text);
}

/* With a layer of its own, that is made from the first letter of the name. */
static struct oci_digest add_image(struct rig *g, const char *name, int64_t pulled_s,
                                   bool is_pinned)
{
    struct oci_digest config, manifest;
    char config_text[OCI_DIGEST_TEXT_SIZE];
    struct str layer;
    add_layer(g, name[0], &layer);
    char *text = arena_printf(&g->arena,
                              "{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"type\":"
                              "\"layers\",\"diff_ids\":[\"" STR_FMT "\"]}}",
                              STR_ARG(layer));
    sha256_of(str_of(text), config.bytes);
    oci_digest_format(&config, config_text);
    CHECK_OK(oci_store_document_put(g->s, &config, str_of(text), NULL));
    text = arena_printf(&g->arena,
                        "{\"schemaVersion\":2,\"config\":{\"mediaType\":"
                        "\"application/vnd.oci.image.config.v1+json\",\"digest\":\"%s\",\"size\":"
                        "%zu},\"layers\":[{\"mediaType\":"
                        "\"application/vnd.oci.image.layer.v1.tar\",\"digest\":\"" STR_FMT
                        "\",\"size\":%d}]}",
                        config_text, strlen(text), STR_ARG(layer), LAYER_BYTES);
    sha256_of(str_of(text), manifest.bytes);
    CHECK_OK(oci_store_document_put(g->s, &manifest, str_of(text), NULL));
    const struct oci_store_image image = { .name = str_of(name),
                                           .manifest = manifest,
                                           .pulled_wall_s = pulled_s,
                                           .is_pinned = is_pinned };
    CHECK_OK(oci_store_image_put(g->s, &image, NULL));
    return manifest;
}

/* As the end of a use at that time. */
static void use(struct rig *g, const struct oci_digest *manifest, int64_t at_s)
{
    char *dir;
    const struct timespec times[2] = { { .tv_sec = at_s }, { .tv_sec = at_s } };
    CHECK_OK(oci_store_image_dir(g->s, manifest, &dir, NULL));
    scoped(free_scoped) char *tenant = xasprintf("%s/0123456789abcdef", dir);
    CHECK(mkdir(tenant, 0700) == 0);
    CHECK(utimensat(AT_FDCWD, tenant, times, 0) == 0);
    free(dir);
}

static bool has(struct rig *g, const char *name)
{
    struct oci_store_image image;
    return oci_store_image_get(g->s, str_of(name), &g->arena, &image, NULL) >= 0;
}

static struct pruned prune(struct rig *g, uint64_t bytes, uint64_t min_age_s)
{
    const struct prune_opts opts = { .bytes = bytes, .min_age_s = min_age_s, .now_wall_s = NOW_S };
    struct pruned p;
    struct err err = { 0 };
    if (prune_images(g->s, &opts, &p, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return p;
}

TEST(the_image_that_was_used_longest_ago_goes_first)
{
    struct rig g;
    start(&g);
    struct oci_digest a = add_image(&g, "a:1", NOW_S - 900, false);
    (void)add_image(&g, "b:1", NOW_S - 800, false);
    (void)add_image(&g, "c:1", NOW_S - 700, false);
    use(&g, &a, NOW_S - 100);
    struct pruned p = prune(&g, 1, 0);
    CHECK_INT(p.n_images, 1);
    CHECK(p.n_bytes >= LAYER_BYTES && !has(&g, "b:1") && has(&g, "a:1") && has(&g, "c:1"));
    p = prune(&g, LAYER_BYTES + 1, 0); /* more than one has */
    CHECK_INT(p.n_images, 2);
    CHECK(!has(&g, "a:1") && !has(&g, "c:1"));
    p = prune(&g, 1, 0);
    CHECK(p.n_images == 0 && p.n_bytes == 0);
    stop(&g);
}

TEST(images_that_are_used_pinned_or_young_stay)
{
    struct rig g;
    start(&g);
    struct oci_digest a = add_image(&g, "a:1", NOW_S - 900, false);
    (void)add_image(&g, "b:1", NOW_S - 900, true);
    (void)add_image(&g, "c:1", NOW_S - 119, false);
    (void)add_image(&g, "d:1", NOW_S + 5000, false); /* a clock that was wrong */
    CHECK_OK(oci_store_lease(g.s, STR("any id"), &a, true, NULL));
    struct pruned p = prune(&g, UINT64_MAX, 120);
    CHECK_INT(p.n_images, 1);
    CHECK(has(&g, "a:1") && has(&g, "b:1") && has(&g, "c:1") && !has(&g, "d:1"));
    CHECK_OK(oci_store_lease_drop(g.s, STR("any id"), NULL));
    p = prune(&g, UINT64_MAX, 119);
    CHECK_INT(p.n_images, 2);
    CHECK(!has(&g, "a:1") && has(&g, "b:1") && !has(&g, "c:1"));
    stop(&g);
}

TEST(all_names_of_an_image_go_together_and_what_has_no_name_counts)
{
    struct rig g;
    struct prune_image *images;
    size_t n;
    start(&g);
    (void)add_image(&g, "a:1", NOW_S - 900, false);
    (void)add_image(&g, "a:2", NOW_S - 800, false);
    (void)add_image(&g, "a:3", NOW_S - 700, false);
    (void)add_image(&g, "z:1", NOW_S - 900, false);
    CHECK_OK(prune_list(g.s, &g.arena, &images, &n, NULL));
    CHECK_INT(n, 2);
    CHECK(str_is(images[0].names[0], "z:1") && images[1].n_names == 3);
    CHECK(images[1].used_wall_s == NOW_S - 700 && images[1].n_bytes >= LAYER_BYTES);
    CHECK_OK(oci_store_image_remove(g.s, STR("z:1"), NULL));
    struct pruned p = prune(&g, 1, 0);
    CHECK(p.n_images == 0 && p.n_bytes >= LAYER_BYTES && has(&g, "a:1"));
    p = prune(&g, 1, 0);
    CHECK_INT(p.n_images, 1);
    CHECK(!has(&g, "a:1") && !has(&g, "a:2") && !has(&g, "a:3"));
    stop(&g);
}

TEST_MAIN
