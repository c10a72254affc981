/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layers of a node store as a cache: what leaves under a quota, what never does, and what a
 * restart or kill leaves of it. Images of one layer each.
 */
#include "base/map.h"
#include "base/sys.h"
#include "base/vec.h"
#include "codec/gzip.h"
#include "image/layer_cache.h"
#include "tar_kit.h"
#include "temp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IMAGES = 10, CONTENT_BYTES = 128 << 10, BLOB_MAX = 1 << 20, RESERVE_BYTES = 16 << 20 };

struct made {
    struct buf tar, blob, config, manifest;
    struct oci_digest diff_id, digest, config_digest, manifest_digest;
    char name[16];
};

static struct made images[IMAGES];
static bool is_made;

static void make_image(struct made *m, size_t i)
{
    static char content[CONTENT_BYTES];
    char block[TAR_BLOCK_BYTES], text[OCI_DIGEST_TEXT_SIZE], config[OCI_DIGEST_TEXT_SIZE];
    struct tar_kit k = { BUF_INIT(BLOB_MAX) };
    for (size_t at = 0; at < sizeof content; at++)
        content[at] = (char)(at * at / 7 + (at >> 9) * i + i);
    kit_header(block, "file", '0', sizeof content);
    kit_add_block(&k, block);
    kit_add_padded(&k, str_n(content, sizeof content));
    kit_end(&k);
    m->tar = k.out;
    m->blob = BUF_INIT(BLOB_MAX);
    m->config = m->manifest = BUF_INIT(1 << 20);
    struct gzip *g = gzip_new();
    CHECK_OK(gzip_add(g, buf_str(&m->tar), true, &m->blob));
    gzip_free(g);
    sha256_of(buf_str(&m->tar), m->diff_id.bytes);
    sha256_of(buf_str(&m->blob), m->digest.bytes);
    oci_digest_format(&m->diff_id, text);
    CHECK_OK(buf_printf(&m->config,
                        "{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"type\":"
                        "\"layers\",\"diff_ids\":[\"%s\"]}}",
                        text));
    sha256_of(buf_str(&m->config), m->config_digest.bytes);
    oci_digest_format(&m->config_digest, config);
    oci_digest_format(&m->digest, text);
    CHECK_OK(buf_printf(
        &m->manifest,
        "{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\","
        "\"config\":{\"mediaType\":\"application/vnd.oci.image.config.v1+json\",\"digest\":"
        "\"%s\",\"size\":%zu},\"layers\":[{\"mediaType\":"
        "\"application/vnd.oci.image.layer.v1.tar+gzip\",\"digest\":\"%s\",\"size\":%zu}]}",
        config, m->config.n, text, m->blob.n));
    sha256_of(buf_str(&m->manifest), m->manifest_digest.bytes);
    (void)snprintf(m->name, sizeof m->name, "app%zu:v1", i);
}

/* ---- stores ---- */

static char root[TEMP_DIR_BYTES];

static void new_root(void)
{
    for (size_t i = 0; i < IMAGES && !is_made; i++)
        make_image(&images[i], i);
    is_made = true;
    temp_dir_remove(root);
    CHECK(temp_dir_make("dm-layer-cache", root));
}

/* What a store with room for n layers of these images and no more has as its quota. */
static uint64_t quota_of(size_t n)
{
    return RESERVE_BYTES + (n - 1) * images[0].tar.n;
}

static struct oci_store *open_policy(enum image_cache_policy policy, uint64_t quota)
{
    struct oci_store *s;
    struct err err = { 0 };
    const struct oci_store_opts opts = { .root = root, .quota_bytes = quota };
    if (layer_cache_open_store(&opts, policy, &s, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return s;
}

static struct oci_store *open_for(size_t n)
{
    return open_policy(IMAGE_CACHE_ARC, quota_of(n));
}

static int import(struct oci_store *s, const struct made *m, struct err *err)
{
    scoped(oci_import_free_scoped) struct oci_import *im = NULL;
    const struct oci_import_opts opts = { .diff_id = m->diff_id,
                                          .blob = m->digest,
                                          .blob_size = m->blob.n };
    int r = oci_import_new(s, &opts, &im, err);
    if (r == -EEXIST) {
        oci_store_layer_touch(s, &m->diff_id);
        return 0;
    }
    r = r < 0 ? r : oci_import_add(im, buf_str(&m->blob), err);
    return r < 0 ? r : oci_import_commit(im, err);
}

/* As oci_pull() does it. */
static int pull(struct oci_store *s, size_t i, bool is_pinned, struct err *err)
{
    const struct made *m = &images[i];
    const struct oci_store_image image = { .name = str_of(m->name),
                                           .manifest = m->manifest_digest,
                                           .platform = STR("linux/amd64"),
                                           .is_pinned = is_pinned };
    oci_store_hold(s, &m->diff_id);
    int r = import(s, m, err);
    r = r < 0 ? r : oci_store_document_put(s, &m->config_digest, buf_str(&m->config), err);
    r = r < 0 ? r : oci_store_document_put(s, &m->manifest_digest, buf_str(&m->manifest), err);
    r = r < 0 ? r : oci_store_image_put(s, &image, err);
    oci_store_release(s, &m->diff_id);
    return r;
}

static void pull_ok(struct oci_store *s, size_t i)
{
    struct err err = { 0 };
    if (pull(s, i, false, &err) < 0)
        TEST_FAIL("image %zu: %s", i, err_text(&err));
}

static bool has(struct oci_store *s, size_t i)
{
    return oci_store_layer_has(s, &images[i].diff_id);
}

/* The images in the order in which their layers would leave, as "3 1 0". */
static char *leaving(struct oci_store *s, enum image_cache_policy policy)
{
    struct buf b = BUF_INIT(256);
    struct err err = { 0 };
    scoped(free_scoped) struct layer_cache_row *rows = NULL;
    size_t n;
    if (layer_cache_list(s, policy, &rows, &n, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < IMAGES; i++)
            if (oci_digest_equal(&rows[k].diff_id, &images[i].diff_id))
                (void)buf_printf(&b, "%s%zu%s", b.n ? " " : "", i, rows[k].is_pinned ? "!" : "");
    return buf_take(&b, &n);
}

/* What the cache says is resident is what the directory holds. */
static void check_agrees(struct oci_store *s)
{
    struct oci_store_usage use;
    struct layer_cache_summary sum;
    uint64_t bytes = 0, n = 0;
    oci_store_usage(s, &use);
    CHECK(layer_cache_summary(s, &sum));
    for (int l = IMAGE_CACHE_T1; l <= IMAGE_CACHE_DEAD; l++) {
        bytes += sum.lists[l].bytes;
        n += sum.lists[l].n;
    }
    CHECK_INT(n, use.n_layers);
    CHECK_INT(bytes, use.layer_bytes + use.blob_bytes);
}

/* ---- what leaves ---- */

TEST(layers_that_were_used_often_outlive_any_number_that_were_used_once)
{
    static const struct {
        enum image_cache_policy policy;
        bool stays;
    } rows[] = { { IMAGE_CACHE_ARC, true }, { IMAGE_CACHE_LFU, true }, { IMAGE_CACHE_LRU, false } };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        new_root();
        for (size_t i = 0; i < IMAGES; i++) { /* each by a process of its own */
            struct oci_store *s = open_policy(rows[k].policy, quota_of(4));
            pull_ok(s, i);
            if (i < 2) {
                oci_store_close(s);
                s = open_policy(rows[k].policy, quota_of(4));
                pull_ok(s, i);
            }
            check_agrees(s);
            oci_store_close(s);
        }
        struct oci_store *s = open_policy(rows[k].policy, quota_of(4));
        CHECK_INT(has(s, 0), rows[k].stays);
        CHECK_INT(has(s, 1), rows[k].stays);
        CHECK(has(s, IMAGES - 1) && !has(s, 3));
        oci_store_close(s);
    }
}

TEST(a_layer_that_comes_back_soon_counts_as_used_often)
{
    struct layer_cache_summary sum;
    new_root();
    struct oci_store *s = open_for(4);
    pull_ok(s, 0);
    pull_ok(s, 0);
    for (size_t i = 1; i < 6; i++)
        pull_ok(s, i);
    CHECK(has(s, 0) && !has(s, 1) && !has(s, 2));
    CHECK(layer_cache_summary(s, &sum));
    CHECK_INT(sum.lists[IMAGE_CACHE_B1].n, 2);
    double before = sum.target;
    oci_store_close(s);
    s = open_for(4);
    pull_ok(s, 2);
    CHECK(layer_cache_summary(s, &sum));
    CHECK_INT(sum.lists[IMAGE_CACHE_T2].n, 2);
    CHECK(sum.target == before + (double)images[2].tar.n);
    check_agrees(s);
    oci_store_close(s);
}

TEST(what_no_image_has_leaves_first)
{
    new_root();
    struct oci_store *s = open_for(4);
    for (size_t i = 0; i < 4; i++)
        pull_ok(s, i);
    pull_ok(s, 3);
    CHECK_OK(oci_store_image_remove(s, STR("app3:v1"), NULL));
    scoped(free_scoped) char *order = leaving(s, IMAGE_CACHE_ARC);
    CHECK_STR(str_of(order), "3 0 1 2");
    pull_ok(s, 4);
    CHECK(!has(s, 3) && has(s, 0));
    oci_store_close(s);
}

/* ---- what never leaves ---- */

TEST(what_is_pinned_leased_held_or_served_stays)
{
    struct err err = { 0 };
    struct oci_digest held;
    new_root();
    struct oci_store *s = open_for(4);
    CHECK_OK(pull(s, 0, true, NULL));
    pull_ok(s, 1);
    CHECK_OK(oci_store_lease(s, STR("l"), &images[1].manifest_digest, false, NULL));
    pull_ok(s, 2);
    oci_store_hold(s, &images[2].diff_id);
    pull_ok(s, 3);
    CHECK(layer_cache_serve(s, &images[3].diff_id, &held));
    CHECK(oci_digest_equal(&held, &images[3].diff_id));
    scoped(free_scoped) char *order = leaving(s, IMAGE_CACHE_ARC);
    CHECK(strchr(order, '0') && order[1] == '!' && order[4] == '!' && order[10] == '!');
    CHECK_ERR(pull(s, 4, false, &err), -ENOSPC);
    CHECK(strstr(err_text(&err), "quota") && strstr(err_text(&err), "in use"));
    for (size_t i = 0; i < 4; i++)
        CHECK(has(s, i));
    check_agrees(s);
    oci_store_release(s, &held);
    pull_ok(s, 4);
    CHECK(!has(s, 3) && has(s, 0) && has(s, 1) && has(s, 2));
    oci_store_release(s, &images[2].diff_id);
    oci_store_close(s);
}

TEST(a_layer_is_served_by_the_digest_of_its_blob)
{
    struct oci_digest held;
    new_root();
    const struct oci_store_opts opts = { .root = root, .form = OCI_STORE_GZ };
    struct oci_store *s;
    CHECK_OK(layer_cache_open_store(&opts, IMAGE_CACHE_ARC, &s, NULL));
    pull_ok(s, 0);
    CHECK(layer_cache_serve(s, &images[0].digest, &held));
    CHECK(oci_digest_equal(&held, &images[0].diff_id));
    CHECK_ERR(oci_store_layer_remove(s, &images[0].diff_id, NULL), -EBUSY);
    oci_store_release(s, &held);
    pull_ok(s, 1); /* after the table of blobs was made */
    CHECK(layer_cache_serve(s, &images[1].digest, &held));
    oci_store_release(s, &held);
    CHECK(!layer_cache_serve(s, &images[2].digest, &held));
    oci_store_close(s);
}

TEST(nothing_is_evicted_when_the_rest_is_too_little)
{
    new_root();
    struct oci_store *s = open_for(3);
    CHECK_OK(pull(s, 0, true, NULL));
    CHECK_OK(pull(s, 1, true, NULL));
    pull_ok(s, 2);
    oci_store_close(s);
    s = open_policy(IMAGE_CACHE_ARC, quota_of(1)); /* all three would have to leave */
    CHECK_ERR(pull(s, 3, false, NULL), -ENOSPC);
    CHECK(has(s, 2));
    oci_store_close(s);
}

/* ---- restarts ---- */

struct step {
    size_t image;
    bool is_restart;
};

static void run_steps(const struct step *steps, size_t n, enum image_cache_policy policy,
                      bool restarts, char **ret)
{
    new_root();
    struct oci_store *s = open_policy(policy, quota_of(4));
    for (size_t i = 0; i < n; i++) {
        pull_ok(s, steps[i].image);
        if (!restarts || !steps[i].is_restart)
            continue;
        oci_store_close(s);
        s = open_policy(policy, quota_of(4));
    }
    check_agrees(s);
    *ret = leaving(s, policy);
    oci_store_close(s);
}

TEST(what_is_said_to_be_dead_leaves_first_unless_it_is_used_again)
{
    struct layer_cache_summary c;
    new_root();
    struct oci_store *s = open_for(3);
    for (size_t i = 0; i < 3; i++)
        pull_ok(s, i);
    CHECK(layer_cache_demote(s, &images[2].diff_id));
    CHECK(layer_cache_demote(s, &images[1].diff_id));
    CHECK(!layer_cache_demote(s, &images[5].digest));
    CHECK(layer_cache_summary(s, &c));
    CHECK_INT(c.lists[IMAGE_CACHE_DEAD].n, 2);
    pull_ok(s, 1); /* someone uses it */
    pull_ok(s, 3);
    CHECK(!has(s, 2) && has(s, 0) && has(s, 1));
    check_agrees(s);
    oci_store_close(s);
    temp_dir_remove(root);
}

TEST(what_was_prefetched_takes_no_room_from_images_and_leaves_first)
{
    struct err err = { 0 };
    struct layer_cache_summary c;
    new_root();
    struct oci_store *s = open_for(3);
    CHECK_OK(pull(s, 0, false, NULL));
    CHECK_OK(pull(s, 1, false, NULL));
    layer_cache_prefetches(true);
    CHECK_OK(import(s, &images[2], NULL));
    CHECK_ERR(import(s, &images[3], &err), -ENOSPC);
    layer_cache_prefetches(false);
    for (size_t i = 0; i < 3; i++)
        CHECK(oci_store_layer_has(s, &images[i].diff_id));
    CHECK(layer_cache_summary(s, &c));
    CHECK_INT(c.stats.prefetched.n, 1);
    CHECK_INT(c.lists[IMAGE_CACHE_DEAD].n, 0);
    oci_store_close(s);

    s = open_for(3); /* a restart does not forget it */
    CHECK_OK(pull(s, 3, false, NULL));
    CHECK(!oci_store_layer_has(s, &images[2].diff_id));
    CHECK(oci_store_layer_has(s, &images[0].diff_id));
    CHECK(oci_store_layer_has(s, &images[1].diff_id));
    oci_store_close(s);
    temp_dir_remove(root);
}

TEST(the_first_use_of_what_was_prefetched_is_its_first_reference)
{
    struct layer_cache_summary c;
    new_root();
    struct oci_store *s = open_for(3);
    layer_cache_prefetches(true);
    CHECK_OK(import(s, &images[0], NULL));
    layer_cache_prefetches(false);
    CHECK_OK(pull(s, 1, false, NULL));
    CHECK_OK(pull(s, 0, false, NULL)); /* a deployment that finds it */
    CHECK(layer_cache_summary(s, &c));
    CHECK_INT(c.stats.prefetch_used.n, 1);
    CHECK_INT(c.lists[IMAGE_CACHE_T1].n, 2);
    CHECK_INT(c.lists[IMAGE_CACHE_T2].n, 0);
    CHECK_OK(pull(s, 2, false, NULL));
    CHECK_OK(pull(s, 3, false, NULL));
    CHECK(!oci_store_layer_has(s, &images[1].diff_id)); /* used before it */
    CHECK(oci_store_layer_has(s, &images[0].diff_id));
    oci_store_close(s);
    temp_dir_remove(root);
}

TEST(a_restart_changes_no_decision)
{
    enum { STEPS = 40 };
    struct step steps[STEPS];
    for (int p = 0; p < IMAGE_CACHE_POLICIES; p++) {
        for (size_t i = 0; i < STEPS; i++)
            steps[i] = (struct step){ test_random_below(IMAGES) * test_random_below(2) +
                                          test_random_below(3),
                                      test_random_below(3) == 0 };
        for (size_t i = 0; i < STEPS; i++)
            steps[i].image %= IMAGES;
        char *with, *without;
        run_steps(steps, STEPS, (enum image_cache_policy)p, true, &with);
        run_steps(steps, STEPS, (enum image_cache_policy)p, false, &without);
        CHECK_STR(str_of(with), without);
        free(with);
        free(without);
    }
}

TEST(a_lost_or_damaged_journal_costs_the_history_alone)
{
    for (int k = 0; k < 3; k++) {
        new_root();
        struct oci_store *s = open_for(4);
        for (size_t i = 0; i < 4; i++)
            pull_ok(s, i);
        oci_store_close(s);
        scoped(free_scoped) char *journal = xasprintf("%s/%s", root, LAYER_CACHE_JOURNAL);
        if (k == 0) {
            CHECK_OK(unlink(journal));
        } else {
            int fd = open(journal, O_WRONLY | O_CLOEXEC);
            CHECK(fd >= 0);
            CHECK_INT(pwrite(fd, "garbage", 7, k == 1 ? 0 : 100), 7);
            fd_scoped(&fd);
        }
        s = open_for(4);
        check_agrees(s);
        pull_ok(s, 4);
        pull_ok(s, 5);
        CHECK(has(s, 4) && has(s, 5));
        check_agrees(s);
        oci_store_close(s);
    }
}

TEST(what_gc_removed_is_forgotten)
{
    struct oci_store_gc gc;
    struct layer_cache_summary sum;
    new_root();
    struct oci_store *s = open_for(4);
    pull_ok(s, 0);
    pull_ok(s, 1);
    CHECK_OK(oci_store_image_remove(s, STR("app0:v1"), NULL));
    CHECK_OK(oci_store_gc(s, false, &gc, NULL));
    CHECK_OK(layer_cache_settle(s, NULL));
    CHECK(layer_cache_summary(s, &sum));
    CHECK_INT(sum.lists[IMAGE_CACHE_T1].n, 1);
    check_agrees(s);
    oci_store_close(s);
}

/* ---- kills and faults ---- */

/* Three layers fit; the fourth and fifth image make others leave. */
static int scenario(struct err *err)
{
    const struct oci_store_opts opts = { .root = root, .quota_bytes = quota_of(3) };
    struct oci_store *s;
    int r = layer_cache_open_store(&opts, IMAGE_CACHE_ARC, &s, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < 5 && r >= 0; i++) {
        r = pull(s, i, false, err);
        if (i == 0)
            r = r < 0 ? r : pull(s, i, false, err);
    }
    oci_store_close(s);
    return r;
}

static void check_after(const char *what, unsigned nth)
{
    struct err err = { 0 };
    struct oci_store_check_result res;
    const struct oci_store_check_opts check = { 0 };
    struct oci_store *s = open_for(3);
    check_agrees(s);
    CHECK_OK(oci_store_check(s, &check, &res, NULL));
    if (res.n_damaged)
        TEST_FAIL("after %s %u: %zu damaged", what, nth, res.n_damaged);
    oci_store_close(s);
    if (scenario(&err) < 0)
        TEST_FAIL("again after %s %u: %s", what, nth, err_text(&err));
    s = open_for(3);
    CHECK(has(s, 4));
    check_agrees(s);
    oci_store_close(s);
}

static const enum sys_call calls[] = { SYS_PWRITE, SYS_RENAMEAT, SYS_UNLINKAT };

TEST(killed_at_any_call_the_cache_and_the_directory_agree_after_the_next_start)
{
    for (size_t c = 0; c < ARRAY_LEN(calls); c++)
        for (unsigned nth = 1;; nth++) {
            int status;
            new_root();
            pid_t pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                sys_fail_nth(calls[c], nth, SYS_FAIL_KILL);
                _exit(scenario(NULL) < 0);
            }
            CHECK_INT(waitpid(pid, &status, 0), pid);
            CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
            check_after("kill", nth);
            if (WIFEXITED(status))
                break;
        }
    temp_dir_remove(root);
}

TEST(a_call_that_fails_ends_in_a_clean_error_or_in_success)
{
    for (size_t c = 0; c < ARRAY_LEN(calls); c++)
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
    temp_dir_remove(root);
}

/* ---- while room is made ---- */

struct evictor {
    struct oci_store *s;
    int r;
    struct err err;
};

static void *evict_for_one(void *arg)
{
    struct evictor *e = arg;
    e->r = pull(e->s, 4, false, &e->err);
    return NULL;
}

/* A document of the store is a FIFO: who reads it waits until the test writes it. */
TEST(layers_are_used_and_served_while_eviction_reads_what_is_in_use)
{
    char hex[SHA256_HEX_SIZE], path[256], beside[300];
    pthread_t thread;
    struct oci_digest served;
    new_root();
    struct evictor e = { .s = open_for(4) };
    for (size_t i = 0; i < 4; i++)
        pull_ok(e.s, i);
    hex_format(images[0].manifest_digest.bytes, SHA256_BYTES, hex);
    (void)snprintf(path, sizeof path, "%s/meta/documents/%s", root, hex);
    (void)snprintf(beside, sizeof beside, "%s/document", root);
    CHECK_OK(rename(path, beside));
    CHECK_OK(mkfifo(path, 0600));
    CHECK_INT(pthread_create(&thread, NULL, evict_for_one, &e), 0);
    int fd;
    while ((fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
        CHECK(errno == ENXIO && sched_yield() == 0);
    CHECK(layer_cache_serve(e.s, &images[1].diff_id, &served));
    oci_store_layer_touch(e.s, &images[2].diff_id);
    CHECK_OK(rename(beside, path)); /* for those that read it later */
    CHECK_INT(write(fd, images[0].manifest.p, images[0].manifest.n), images[0].manifest.n);
    CHECK_OK(close(fd));
    CHECK_INT(pthread_join(thread, NULL), 0);
    if (e.r < 0)
        TEST_FAIL("%s", err_text(&e.err));
    CHECK(has(e.s, 4) && has(e.s, 1)); /* which is held since it was looked at */
    CHECK(!has(e.s, 0) || !has(e.s, 3) || !has(e.s, 2));
    oci_store_release(e.s, &served);
    check_agrees(e.s);
    oci_store_close(e.s);
}

TEST_MAIN
