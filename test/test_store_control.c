/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs for the process that has a store open: what is asked is done there, once, or not at all. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/sys.h"
#include "codec/digest.h"
#include "codec/json.h"
#include "image/layer_cache.h"
#include "image/layer_child.h"
#include "image/start_list.h"
#include "image/store_ask.h"
#include "image/store_control.h"
#include "image/store_do.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

/* This program is the child that reads layers, too. */
__attribute__((constructor)) static void be_the_child(int argc, char **argv)
{
    if (argc > 1 && str_is(str_of(argv[1]), LAYER_CHILD_WORD))
        _exit(layer_child_main(argc, argv));
}

enum { ASKING = 3 * STORE_CONTROL_JOBS_MAX };

static char root[512];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static char top[] = "/tmp/store-control-XXXXXX";
static bool has_top;

__attribute__((destructor)) static void remove_top(void)
{
    if (has_top)
        (void)nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Longer than the address of a socket may be. */
static void new_root(void)
{
    if (!has_top)
        CHECK(mkdtemp(top));
    has_top = true;
    (void)nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    (void)snprintf(root, sizeof root, "%s/%0150d", top, 1);
    CHECK_OK(sys_mkdir_all(top, 0700, NULL));
}

/* A layer without files, and an image of it that runs `command`. */
static void add_image_of(struct oci_store *s, const char *name, const char *command)
{
    static const char tar[1024];
    char layer[OCI_DIGEST_TEXT_SIZE], text[1024], config_text[OCI_DIGEST_TEXT_SIZE];
    struct oci_digest diff_id, config, manifest;
    struct oci_import *im;
    sha256_of(str_n(tar, sizeof tar), diff_id.bytes);
    oci_digest_format(&diff_id, layer);
    const struct oci_import_opts opts = {
        .diff_id = diff_id, .blob = diff_id, .blob_size = sizeof tar, .has_no_blob = true
    };
    if (!oci_store_layer_has(s, &diff_id)) {
        CHECK_OK(oci_import_new(s, &opts, &im, NULL));
        CHECK_OK(oci_import_add(im, str_n(tar, sizeof tar), NULL));
        CHECK_OK(oci_import_commit(im, NULL));
        oci_import_free(im);
    }
    (void)snprintf(text, sizeof text,
                   "{\"os\":\"linux\",\"architecture\":\"amd64\",\"config\":{\"Cmd\":[\"%s\"]},"
                   "\"rootfs\":{\"type\":\"layers\","
                   "\"diff_ids\":[\"%s\"]}}",
                   command, layer);
    sha256_of(str_of(text), config.bytes);
    oci_digest_format(&config, config_text);
    CHECK_OK(oci_store_document_put(s, &config, str_of(text), NULL));
    int n = (int)strlen(text);
    (void)snprintf(text, sizeof text,
                   "{\"schemaVersion\":2,\"config\":{\"mediaType\":"
                   "\"application/vnd.oci.image.config.v1+json\",\"digest\":\"%s\",\"size\":%d},"
                   "\"layers\":[{\"mediaType\":\"application/vnd.oci.image.layer.v1.tar\","
                   "\"digest\":\"%s\",\"size\":1024}]}",
                   config_text, n, layer);
    sha256_of(str_of(text), manifest.bytes);
    CHECK_OK(oci_store_document_put(s, &manifest, str_of(text), NULL));
    const struct oci_store_image image = { .name = str_of(name), .manifest = manifest };
    CHECK_OK(oci_store_image_put(s, &image, NULL));
}

static void add_image(struct oci_store *s, const char *name)
{
    add_image_of(s, name, "/x");
}

static struct oci_store *open_store(void)
{
    struct oci_store *s;
    struct err err = { 0 };
    const struct oci_store_opts opts = { .root = root, .is_service = true, .has_control = true };
    if (layer_cache_open_store(&opts, IMAGE_CACHE_ARC, &s, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return s;
}

static struct oci_store *new_store(struct store_control **ret)
{
    new_root();
    struct oci_store *s = open_store();
    add_image(s, "app:v1");
    struct err err = { 0 };
    if (store_control_start(s, ret, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return s;
}

static int ask_within(uint64_t taken_ms, enum store_job_kind kind, const char *image,
                      const char *name, struct err *err)
{
    struct arena a = { 0 };
    struct json *ignored;
    struct str word = str_of(image);
    const struct store_job job = {
        .kind = kind, .images = &word, .n_images = word.n > 0, .name = str_of(name)
    };
    int r = store_ask(root, &job, taken_ms, NULL, NULL, &a, &ignored, err);
    arena_fini(&a);
    return r;
}

static int ask(enum store_job_kind kind, const char *image, const char *name, struct err *err)
{
    return ask_within(STORE_ASK_TAKEN_MS, kind, image, name, err);
}

static bool has(struct oci_store *s, const char *name, bool *ret_pinned)
{
    struct arena a = { 0 };
    struct oci_store_image image = { 0 };
    bool is_there = oci_store_image_get(s, str_of(name), &a, &image, NULL) >= 0;
    if (ret_pinned)
        *ret_pinned = image.is_pinned;
    arena_fini(&a);
    return is_there;
}

/* ---- names and gc ---- */

TEST(names_are_changed_by_the_process_that_has_the_store)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    struct err err = { 0 };
    bool is_pinned;
    CHECK_INT(ask(STORE_JOB_TAG, "app:v1", "app:stable", &err), STORE_ASKED_DONE);
    CHECK(has(s, "app:stable", &is_pinned) && !is_pinned);
    CHECK_INT(ask(STORE_JOB_PIN, "app:stable", "", &err), STORE_ASKED_DONE);
    CHECK(has(s, "app:stable", &is_pinned) && is_pinned);
    CHECK_INT(ask(STORE_JOB_UNPIN, "app:stable", "", &err), STORE_ASKED_DONE);
    CHECK(has(s, "app:stable", &is_pinned) && !is_pinned);
    CHECK_INT(ask(STORE_JOB_RM, "app:v1", "", &err), STORE_ASKED_DONE);
    CHECK(!has(s, "app:v1", NULL));
    CHECK_ERR(ask(STORE_JOB_RM, "app:v1", "", &err), -ENOENT);
    CHECK(strcmp(err_text(&err), "the store has no image 'app:v1'") == 0);
    CHECK_ERR(ask(STORE_JOB_TAG, "app:stable", "with blanks ", &err), E_INVALID);
    CHECK_ERR(ask(STORE_JOB_RM, "", "", &err), E_INVALID);
    store_control_close(c, true);
    oci_store_close(s);
}

static int ask_start(const struct oci_digest *config, const char *list, struct err *err)
{
    struct arena a = { 0 };
    struct json *ignored;
    const struct store_job job = { .kind = STORE_JOB_START,
                                   .config = *config,
                                   .list = str_of(list) };
    int r = store_ask(root, &job, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &ignored, err);
    arena_fini(&a);
    return r;
}

TEST(the_list_of_a_start_is_kept_by_the_process_that_has_the_store)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    struct err err = { 0 };
    struct arena a = { 0 };
    struct oci_store_image image;
    struct oci_manifest manifest;
    struct oci_config config;
    struct start_list list = { 0 };
    struct buf text = BUF_INIT(START_LIST_BYTES_MAX), kept = BUF_INIT(START_LIST_BYTES_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/list", top);
    scoped(free_scoped) char *fifo = xasprintf("%s/fifo", top);
    CHECK_OK(oci_store_image_get(s, STR("app:v1"), &a, &image, &err));
    CHECK_OK(oci_store_image_load(s, &image.manifest, &a, &manifest, &config, &err));
    const struct oci_digest *digest = &manifest.config.digest;
    vec_push(&list.files, image.manifest);
    CHECK_OK(start_list_write(&list, &text));
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, path, buf_str(&text), 0600, NULL));
    CHECK_INT(ask_start(digest, path, &err), STORE_ASKED_DONE);
    CHECK_OK(start_list_get(s, digest, &kept, &err));
    CHECK(str_eq(buf_str(&kept), buf_str(&text)));
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, path, STR("none"), 0600, NULL));
    CHECK_ERR(ask_start(digest, path, &err), E_PARSE);
    CHECK(mkfifo(fifo, 0600) == 0);
    CHECK_ERR(ask_start(digest, fifo, &err), E_INVALID); /* which nothing writes */
    CHECK_ERR(ask_start(digest, "/nowhere", &err), -ENOENT);
    CHECK_ERR(ask_start(digest, "", &err), E_INVALID);
    buf_reset(&kept);
    CHECK_OK(start_list_get(s, digest, &kept, &err));
    CHECK(str_eq(buf_str(&kept), buf_str(&text)));
    start_list_fini(&list);
    buf_fini(&text);
    buf_fini(&kept);
    arena_fini(&a);
    store_control_close(c, true);
    oci_store_close(s);
}

TEST(what_is_held_stays_when_another_process_has_the_rest_collected)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    struct oci_store_layer *layers;
    struct arena a = { 0 };
    struct json *result;
    size_t n;
    CHECK_OK(oci_store_layers(s, &layers, &n, NULL));
    CHECK_INT(n, 1);
    oci_store_hold(s, &layers[0].diff_id);
    CHECK_INT(ask(STORE_JOB_RM, "app:v1", "", NULL), STORE_ASKED_DONE);
    struct store_job gc = { .kind = STORE_JOB_GC, .is_dry = true };
    CHECK_INT(store_ask(root, &gc, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &result, NULL),
              STORE_ASKED_DONE);
    CHECK_INT(json_int_or(json_getc(result, "layers"), -1), 0);
    CHECK_INT(json_int_or(json_getc(result, "documents"), -1), 2);
    oci_store_release(s, &layers[0].diff_id);
    CHECK_INT(store_ask(root, &gc, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &result, NULL),
              STORE_ASKED_DONE);
    CHECK_INT(json_int_or(json_getc(result, "layers"), -1), 1);
    CHECK(json_bool(json_getc(result, "dryRun")) && oci_store_layer_has(s, &layers[0].diff_id));
    gc.is_dry = false;
    CHECK_INT(store_ask(root, &gc, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &result, NULL),
              STORE_ASKED_DONE);
    CHECK_INT(json_int_or(json_getc(result, "layers"), -1), 1);
    CHECK(!oci_store_layer_has(s, &layers[0].diff_id));
    free(layers);
    arena_fini(&a);
    store_control_close(c, true);
    oci_store_close(s);
}

enum { GARBAGE = 100, COLLECTING = 6 };

static void make_files(const char *dir)
{
    CHECK_OK(sys_mkdir_all(dir, 0700, NULL));
    for (size_t i = 0; i < GARBAGE; i++) {
        scoped(free_scoped) char *path = xasprintf("%s/%zu", dir, i);
        scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, 0600);
        CHECK_OK(fd);
    }
}

/* Documents that no image has, links that no directory has, and those of an earlier boot. */
static void make_garbage(struct oci_store *s)
{
    scoped(free_scoped) char *links = xasprintf("%s/links/%s/ab", root, oci_store_boot(s));
    scoped(free_scoped) char *old = xasprintf("%s/links/earlier/ab", root);
    for (size_t i = 0; i < GARBAGE; i++) {
        struct oci_digest d;
        scoped(free_scoped) char *text = xasprintf("{\"n\":%zu}", i);
        sha256_of(str_of(text), d.bytes);
        CHECK_OK(oci_store_document_put(s, &d, str_of(text), NULL));
    }
    make_files(links);
    make_files(old);
}

struct collecting {
    pthread_t thread;
    int r;
    int64_t n_documents, n_files;
    struct err err;
};

static void *collecting_main(void *arg)
{
    struct collecting *c = arg;
    struct arena a = { 0 };
    struct json *result;
    const struct store_job gc = { .kind = STORE_JOB_GC };
    c->r = store_ask(root, &gc, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &result, &c->err);
    if (c->r == STORE_ASKED_DONE) {
        c->n_documents = json_int_or(json_getc(result, "documents"), -1);
        c->n_files = json_int_or(json_getc(result, "files"), -1);
    }
    arena_fini(&a);
    return NULL;
}

TEST(several_that_collect_at_once_remove_all_of_it_once)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    int64_t n_documents = 0, n_files = 0;
    struct collecting all[COLLECTING] = { 0 };
    make_garbage(s);
    for (size_t i = 0; i < COLLECTING; i++)
        CHECK_OK(-pthread_create(&all[i].thread, NULL, collecting_main, &all[i]));
    for (size_t i = 0; i < COLLECTING; i++) {
        CHECK_OK(-pthread_join(all[i].thread, NULL));
        if (all[i].r != STORE_ASKED_DONE)
            TEST_FAIL("%s", err_text(&all[i].err));
        n_documents += all[i].n_documents;
        n_files += all[i].n_files;
    }
    CHECK_INT(n_documents, GARBAGE);
    CHECK_INT(n_files, GARBAGE); /* those of an earlier boot are not counted */
    store_control_close(c, true);
    oci_store_close(s);
}

TEST(a_name_that_another_attempt_removed_is_no_error_the_second_time)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    struct arena a = { 0 };
    struct json *ignored;
    struct str words[] = { STR("gone:v1"), STR("app:v1") };
    struct store_job job = {
        .kind = STORE_JOB_RM, .images = words, .n_images = 2, .is_again = true
    };
    CHECK_INT(store_ask(root, &job, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &ignored, NULL),
              STORE_ASKED_DONE);
    CHECK(!has(s, "app:v1", NULL));
    add_image(s, "app:v1");
    job.is_again = false;
    CHECK_ERR(store_ask(root, &job, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &ignored, NULL), -ENOENT);
    CHECK(has(s, "app:v1", NULL)); /* all are found before the first one is removed */
    arena_fini(&a);
    store_control_close(c, true);
    oci_store_close(s);
}

static int run_again(struct oci_store *s, struct store_job job, struct err *err)
{
    struct arena a = { 0 };
    struct json *ignored;
    const struct store_job_watch watch = { 0 };
    job.is_again = true;
    int r = store_job_run(s, &job, &watch, &a, &ignored, err);
    arena_fini(&a);
    return r;
}

TEST(only_the_removal_of_a_name_may_find_it_gone)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    struct str word = STR("gone:v1");
    struct store_job job = { .images = &word, .n_images = 1, .name = STR("b") };
    for (job.kind = STORE_JOB_TAG; job.kind < STORE_JOB_GC; job.kind++)
        if (job.kind == STORE_JOB_RM)
            CHECK_OK(run_again(s, job, NULL));
        else
            CHECK_ERR(run_again(s, job, NULL), -ENOENT);
    store_control_close(c, true);
    oci_store_close(s);
}

TEST(a_second_removal_by_a_digest_removes_no_other_name)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    struct arena a = { 0 };
    struct err err = { 0 };
    struct oci_store_image image;
    char text[OCI_DIGEST_TEXT_SIZE];
    add_image(s, "app:v2");
    add_image(s, "app:v3");
    CHECK_OK(oci_store_image_get(s, STR("app:v1"), &a, &image, NULL));
    oci_digest_format(&image.manifest, text);
    struct str hex = str_slice(str_of(text), strlen("sha256:"), strlen("sha256:") + 12);
    struct str words[] = { hex, STR("app:v3"), str_of(text) };
    const struct store_job job = { .kind = STORE_JOB_RM, .images = words, .n_images = 3 };
    CHECK_ERR(run_again(s, job, &err), E_CONFLICT);
    CHECK(strstr(err_text(&err), text));
    CHECK(has(s, "app:v1", NULL) && has(s, "app:v2", NULL) && !has(s, "app:v3", NULL));
    CHECK_OK(run_again(
        s, (struct store_job){ .kind = STORE_JOB_TAG, .images = words, .n_images = 1, .name = hex },
        NULL));
    CHECK_OK(run_again(s,
                       (struct store_job){ .kind = STORE_JOB_RM, .images = words, .n_images = 1 },
                       NULL)); /* by its name */
    CHECK(has(s, "app:v1", NULL) && has(s, "app:v2", NULL));
    arena_fini(&a);
    store_control_close(c, true);
    oci_store_close(s);
}

static void note_finding(void *arg, const struct json *v)
{
    const struct json *f = json_getc(v, "finding");
    struct buf *to = arg;
    CHECK(f && json_get_str(f, "why").n);
    (void)buf_add_str(to, json_get_str(f, "kind"));
    (void)buf_add_cstr(to, " ");
}

TEST(what_is_damaged_is_removed_by_the_process_that_has_the_store)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    struct arena a = { 0 };
    struct json *result;
    struct oci_store_layer *layers;
    size_t n;
    scoped(buf_fini_scoped) struct buf found = BUF_INIT(1 << 10);
    const struct store_job job = { .kind = STORE_JOB_CHECK };
    CHECK_OK(oci_store_layers(s, &layers, &n, NULL));
    scoped(free_scoped) char *tar = oci_store_layer_path(s, &layers[0].diff_id, "data.tar");
    CHECK(chmod(tar, 0600) == 0);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, tar, O_WRONLY, 0);
    CHECK_OK(sys_pwrite_all(fd, "x", 1, 0));
    CHECK_INT(store_ask(root, &job, STORE_ASK_TAKEN_MS, note_finding, &found, &a, &result, NULL),
              STORE_ASKED_DONE);
    CHECK(strcmp(buf_cstr(&found), "layer incomplete ") == 0);
    CHECK_INT(json_int_or(json_getc(result, "removed"), -1), 1);
    CHECK_INT(json_int_or(json_getc(result, "incomplete"), -1), 1);
    CHECK(!oci_store_layer_has(s, &layers[0].diff_id));
    atomic_bool stop = true;
    const struct store_job_watch watch = { .stop = &stop };
    CHECK_ERR(store_job_run(s, &job, &watch, &a, &result, NULL), -ECANCELED);
    free(layers);
    arena_fini(&a);
    store_control_close(c, true);
    oci_store_close(s);
}

static int count_lease(void *arg, struct str id, const struct oci_digest *manifest, struct err *err)
{
    (void)id, (void)err;
    ++*(size_t *)arg;
    return 0;
}

static size_t count_leases(struct oci_store *s)
{
    size_t n = 0;
    CHECK_OK(oci_store_lease_each(s, count_lease, &n, NULL));
    return n;
}

TEST(a_mount_leases_the_image_and_has_what_the_kernel_takes)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    struct arena a = { 0 };
    struct json *result;
    struct oci_store_image image;
    char digest[OCI_DIGEST_TEXT_SIZE];
    struct str word = STR("app:v1");
    struct store_job job = {
        .kind = STORE_JOB_MOUNT, .images = &word, .n_images = 1, .lease = STR("mount:1")
    };
    CHECK_OK(oci_store_image_get(s, word, &a, &image, NULL));
    for (int i = 0; i < 2; i++) /* again after a server that ended: one lease */
        CHECK_INT(store_ask(root, &job, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &result, NULL),
                  STORE_ASKED_DONE);
    oci_digest_format(&image.manifest, digest);
    CHECK(str_is(json_get_str(result, "digest"), digest) && !json_getc(result, "unsupported"));
    CHECK_INT(count_leases(s), 1);
    scoped(free_scoped) char *dir = oci_store_image_path(s, &image.manifest);
    scoped(free_scoped) char *made = xasprintf("%s/refuse-2.erofs", dir);
    CHECK(access(made, F_OK) == 0);
    CHECK_INT(ask(STORE_JOB_RM, "app:v1", "", NULL), STORE_ASKED_DONE);
    CHECK_INT(ask(STORE_JOB_GC, "", "", NULL), STORE_ASKED_DONE);
    CHECK(access(made, F_OK) == 0);
    CHECK_ERR(store_ask(root, &job, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &result, NULL), -ENOENT);
    job = (struct store_job){ .kind = STORE_JOB_UNMOUNT, .lease = STR("mount:1") };
    for (int i = 0; i < 2; i++)
        CHECK_INT(store_ask(root, &job, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &result, NULL),
                  STORE_ASKED_DONE);
    CHECK_INT(count_leases(s), 0);
    CHECK_INT(ask(STORE_JOB_GC, "", "", NULL), STORE_ASKED_DONE);
    CHECK(access(made, F_OK) < 0);
    arena_fini(&a);
    store_control_close(c, true);
    oci_store_close(s);
}

TEST(a_mount_whose_command_has_gone_has_no_lease)
{
    struct arena a = { 0 };
    struct json *result;
    struct str word = STR("app:v1");
    atomic_bool stop = true;
    const struct store_job_watch watch = { .stop = &stop };
    const struct store_job job = {
        .kind = STORE_JOB_MOUNT, .images = &word, .n_images = 1, .lease = STR("mount:1")
    };
    new_root();
    struct oci_store *s = open_store();
    add_image(s, "app:v1");
    CHECK_ERR(store_job_run(s, &job, &watch, &a, &result, NULL), -ECANCELED);
    CHECK_INT(count_leases(s), 0);
    arena_fini(&a);
    oci_store_close(s);
}

/* ---- for a worker ---- */

static int provide(struct str reference, struct arena *a, struct json **ret, struct err *err)
{
    const struct store_job job = {
        .kind = STORE_JOB_PROVIDE,
        .lease = STR("fn:here"),
        .provide = { .reference = reference, .tenant = STR("default"), .policy = PROVIDE_NEVER }
    };
    return store_ask(root, &job, STORE_ASK_TAKEN_MS, NULL, NULL, a, ret, err);
}

TEST(an_image_is_made_ready_and_released_by_the_process_that_has_the_store)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    struct err err = { 0 };
    struct arena a = { 0 };
    struct json *got;
    add_image(s, "docker.io/library/web:v1");
    CHECK_ERR(provide(STR("none:v1"), &a, &got, &err), -ENOENT);
    CHECK_INT(count_leases(s), 0);
    if (provide(STR("web:v1"), &a, &got, &err) != STORE_ASKED_DONE)
        TEST_FAIL("%s", err_text(&err));
    struct str place = json_get_str(got, "place");
    CHECK_INT(place.n, 64 + 1 + PROVIDE_TENANT_DIGITS);
    CHECK(json_get_str(got, "config").n > 0 && !json_bool(json_getc(got, "pulled")));
    scoped(free_scoped) char *dir =
        xasprintf("%s/images/" STR_FMT "/rootfs", oci_store_root(s), STR_ARG(place));
    CHECK(access(dir, F_OK) == 0);
    CHECK_INT(count_leases(s), 1);
    scoped(free_scoped) char *lease = xasprintf("fn:here:" STR_FMT, STR_ARG(place));
    const struct store_job drop = { .kind = STORE_JOB_RELEASE, .lease = str_of(lease) };
    for (int i = 0; i < 2; i++) { /* once more, as after an answer that was lost */
        CHECK_INT(store_ask(root, &drop, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &got, &err),
                  STORE_ASKED_DONE);
        CHECK_INT(count_leases(s), 0);
    }
    CHECK(access(dir, F_OK) == 0); /* it was used just now */
    arena_fini(&a);
    store_control_close(c, true);
    oci_store_close(s);
}

static void check_unread(const char *text, int want)
{
    struct arena a = { 0 };
    struct json *v;
    struct store_job job;
    CHECK_OK(json_parse(&a, str_of(text), NULL, &v, NULL));
    CHECK_ERR(store_job_read(v, &a, &job, NULL), want);
    arena_fini(&a);
}

TEST(what_is_provided_is_read_as_it_was_written)
{
    static const char text[] =
        "{\"do\":\"provide\",\"lease\":\"l\",\"reference\":\"r:5000/a:v1\",\"tenant\":\"t\","
        "\"ca\":\"/ca\",\"policy\":\"Always\",\"auths\":[\"{}\",\"\"],\"hosts\":[\"*\"],"
        "\"plainHosts\":[\"r:5000\"]}";
    struct arena a = { 0 };
    struct json *v;
    struct store_job job;
    scoped(buf_fini_scoped) struct buf again = BUF_INIT(4096);
    CHECK_OK(json_parse(&a, str_of(text), NULL, &v, NULL));
    CHECK_OK(store_job_read(v, &a, &job, NULL));
    CHECK_INT(job.provide.n_auths, 2);
    CHECK_INT(job.provide.policy, PROVIDE_ALWAYS);
    CHECK_OK(json_write(&again, store_job_write(&job, &a)));
    CHECK_STR(buf_str(&again), text);
    arena_fini(&a);
    check_unread("{\"do\":\"provide\",\"reference\":\"a\"}", E_INVALID);
    check_unread("{\"do\":\"provide\",\"lease\":\"l\"}", E_INVALID);
    check_unread("{\"do\":\"release\"}", E_INVALID);
    check_unread(
        "{\"do\":\"provide\",\"reference\":\"a\",\"lease\":\"l\",\"hosts\":[\"a\\u0000b\"]}",
        E_INVALID);
    check_unread("{\"do\":\"provide\",\"reference\":\"a\",\"lease\":\"l\","
                 "\"auths\":[1,2,3,4,5,6,7,8,9]}",
                 E_LIMIT);
}

TEST(a_pull_leaves_a_name_pinned)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    struct arena a = { 0 };
    struct oci_store_image image;
    bool is_pinned;
    CHECK_OK(oci_store_image_get(s, STR("app:v1"), &a, &image, NULL));
    CHECK_INT(ask(STORE_JOB_PIN, "app:v1", "", NULL), STORE_ASKED_DONE);
    CHECK_OK(oci_store_image_move(s, &image, NULL)); /* as a pull that began before */
    CHECK(has(s, "app:v1", &is_pinned) && is_pinned);
    CHECK_OK(oci_store_image_put(s, &image, NULL));
    CHECK(has(s, "app:v1", &is_pinned) && !is_pinned);
    arena_fini(&a);
    store_control_close(c, true);
    oci_store_close(s);
}

/* Of an image's name. */
static char *record_of(const char *name)
{
    char hex[SHA256_HEX_SIZE];
    uint8_t digest[SHA256_BYTES];
    sha256_of(str_of(name), digest);
    hex_format(digest, sizeof digest, hex);
    return xasprintf("%s/refs/%s", root, hex);
}

/* When a reader has opened the pipe at `path`: let `next` take its place, then write `text`. */
static void serve_pipe(const char *path, const char *next, struct str text)
{
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY, 0);
    CHECK_OK(fd);
    CHECK(rename(next, path) == 0);
    CHECK_OK(sys_write_all(fd, text.p, text.n));
}

struct by_digest {
    struct oci_store *s;
    enum store_job_kind kind;
    char *hex;
};

/* "found:v1" by its digest, then "slow:v1". */
static void *change_by_digest(void *arg)
{
    const struct by_digest *d = arg;
    struct arena a = { 0 };
    struct json *ignored;
    struct str words[] = { str_of(d->hex), STR("slow:v1") };
    const struct store_job_watch watch = { 0 };
    const struct store_job job = { .kind = d->kind, .images = words, .n_images = 2 };
    intptr_t r = store_job_run(d->s, &job, &watch, &a, &ignored, NULL);
    arena_fini(&a);
    return (void *)r;
}

/* Another image gets the name between the search and the change: the record of the second one is a
 * pipe, so that the job waits there. It lies elsewhere, since the directory is being read. */
static void move_in_the_middle(enum store_job_kind kind)
{
    pthread_t thread;
    struct arena a = { 0 };
    struct oci_store_image found, is;
    char hex[SHA256_HEX_SIZE];
    void *r;
    new_root();
    struct oci_store *s = open_store();
    add_image_of(s, "found:v1", "/found");
    add_image(s, "other:v1");
    add_image(s, "slow:v1");
    CHECK_OK(oci_store_image_get(s, STR("found:v1"), &a, &found, NULL));
    CHECK_OK(oci_store_image_pin(s, STR("found:v1"), kind == STORE_JOB_UNPIN, NULL));
    hex_format(found.manifest.bytes, SHA256_BYTES, hex);
    scoped(free_scoped) char *record = record_of("slow:v1");
    scoped(free_scoped) char *path = xasprintf("%s/pipe", root);
    scoped(free_scoped) char *second = xasprintf("%s/second", root);
    scoped(free_scoped) char *file = xasprintf("%s/file", root);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    CHECK_OK(sys_read_file(AT_FDCWD, record, &text, NULL));
    CHECK(rename(record, file) == 0 && symlink(path, record) == 0);
    CHECK(mkfifo(path, 0600) == 0 && mkfifo(second, 0600) == 0);
    struct by_digest d = { .s = s, .kind = kind, .hex = hex };
    CHECK_OK(-pthread_create(&thread, NULL, change_by_digest, &d));
    serve_pipe(path, second, buf_str(&text)); /* to the search by the digest, through all names */
    int fd = sys_openat(AT_FDCWD, path, O_WRONLY, 0);
    CHECK_OK(fd); /* the second one is being looked for */
    CHECK_OK(oci_store_image_get(s, STR("other:v1"), &a, &is, NULL));
    is.name = STR("found:v1");
    is.is_pinned = kind == STORE_JOB_UNPIN;
    CHECK_OK(oci_store_image_put(s, &is, NULL));
    CHECK(rename(file, path) == 0);
    CHECK_OK(sys_write_all(fd, text.p, text.n));
    (void)close(fd);
    CHECK_OK(-pthread_join(thread, &r));
    CHECK_ERR((int)(intptr_t)r, E_CONFLICT);
    CHECK_OK(oci_store_image_get(s, STR("found:v1"), &a, &found, NULL));
    CHECK(oci_digest_equal(&found.manifest, &is.manifest));
    CHECK(found.is_pinned == is.is_pinned);
    CHECK(has(s, "slow:v1", NULL));
    arena_fini(&a);
    oci_store_close(s);
}

TEST(what_is_named_by_its_digest_is_left_alone_once_the_name_is_that_of_another_image)
{
    move_in_the_middle(STORE_JOB_RM);
    move_in_the_middle(STORE_JOB_PIN);
    move_in_the_middle(STORE_JOB_UNPIN);
}

TEST(what_is_named_by_its_digest_is_changed)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    struct arena a = { 0 };
    struct oci_store_image image;
    char digest[OCI_DIGEST_TEXT_SIZE];
    bool is_pinned;
    CHECK_OK(oci_store_image_get(s, STR("app:v1"), &a, &image, NULL));
    oci_digest_format(&image.manifest, digest);
    CHECK_INT(ask(STORE_JOB_PIN, digest, "", NULL), STORE_ASKED_DONE);
    CHECK(has(s, "app:v1", &is_pinned) && is_pinned);
    CHECK_INT(ask(STORE_JOB_UNPIN, digest, "", NULL), STORE_ASKED_DONE);
    CHECK(has(s, "app:v1", &is_pinned) && !is_pinned);
    CHECK_INT(ask(STORE_JOB_RM, digest, "", NULL), STORE_ASKED_DONE);
    CHECK(!has(s, "app:v1", NULL));
    arena_fini(&a);
    store_control_close(c, true);
    oci_store_close(s);
}

/* ---- who answers ---- */

TEST(without_a_process_that_takes_jobs_nothing_is_begun)
{
    struct store_control *c;
    struct stat st;
    scoped(free_scoped) char *path = NULL;
    new_root();
    CHECK_INT(ask(STORE_JOB_GC, "", "", NULL), STORE_ASKED_NO_PROCESS); /* no directory */
    struct oci_store *s = new_store(&c);
    path = xasprintf("%s/" STORE_CONTROL_NAME, root);
    CHECK(lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && (st.st_mode & 0777) == 0600);
    store_control_close(c, true);
    CHECK(lstat(path, &st) < 0);
    CHECK_INT(ask(STORE_JOB_GC, "", "", NULL), STORE_ASKED_NO_PROCESS);
    oci_store_close(s);
}

TEST(what_a_killed_process_leaves_refuses_and_is_replaced)
{
    struct store_control *c;
    new_root();
    int status, pid = fork();
    if (pid == 0) {
        struct oci_store *s = open_store();
        add_image(s, "app:v1");
        _exit(store_control_start(s, &c, NULL) < 0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_INT(ask(STORE_JOB_RM, "app:v1", "", NULL), STORE_ASKED_NO_PROCESS);
    struct oci_store *s = open_store();
    CHECK_INT(ask(STORE_JOB_RM, "app:v1", "", NULL), STORE_ASKED_NO_PROCESS);
    CHECK(has(s, "app:v1", NULL));
    CHECK_OK(store_control_start(s, &c, NULL));
    CHECK_INT(ask(STORE_JOB_RM, "app:v1", "", NULL), STORE_ASKED_DONE);
    store_control_close(c, true);
    oci_store_close(s);
}

TEST(the_holder_says_that_it_takes_jobs)
{
    struct oci_store_holder holder;
    new_root();
    oci_store_holder(root, &holder);
    CHECK(holder.pid == 0 && !holder.is_service && !holder.has_control);
    struct oci_store *s = open_store();
    oci_store_holder(root, &holder);
    CHECK(holder.pid == (uint64_t)getpid() && holder.is_service && holder.has_control);
    oci_store_close(s);
    const struct oci_store_opts plain = { .root = root };
    CHECK_OK(oci_store_open(&plain, &s, NULL));
    oci_store_holder(root, &holder);
    CHECK(holder.pid == (uint64_t)getpid() && !holder.is_service && !holder.has_control);
    oci_store_close(s);
}

/* ---- clients ---- */

static int connect_with(int flags)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, root, O_PATH | O_DIRECTORY, 0);
    scoped(fd_scoped) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    (void)snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/control", dir);
    CHECK(fd >= 0);
    return connect(fd, (const struct sockaddr *)&at, sizeof at) == 0 ? take_fd(&fd) : -1;
}

static int connect_raw(void)
{
    int fd = connect_with(0);
    CHECK(fd >= 0);
    return fd;
}

/* All that comes until the end. */
static void read_all(int fd, struct buf *to)
{
    char piece[4096];
    for (ssize_t n; (n = recv(fd, piece, sizeof piece, 0)) > 0;)
        (void)buf_add(to, piece, (size_t)n);
}

static void check_refused(struct str text, const char *words)
{
    scoped(fd_scoped) int fd = connect_raw();
    scoped(buf_fini_scoped) struct buf got = BUF_INIT(1 << 20);
    for (size_t at = 0; at < text.n;) {
        ssize_t n = send(fd, text.p + at, text.n - at, MSG_NOSIGNAL);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    read_all(fd, &got);
    CHECK(str_has_prefix(buf_str(&got), STR("{\"error\":")));
    CHECK(strstr(buf_cstr(&got), words));
}

TEST(a_job_that_is_none_is_refused_and_the_next_one_is_done)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    check_refused(STR("\n"), "");
    check_refused(STR("nonsense\n"), "");
    check_refused(STR("{\"do\":\"format\"}\n"), "no such job");
    check_refused(STR("{\"do\":\"rm\",\"images\":[\"a\\u0000b\"]}\n"), "none");
    check_refused(STR("{\"do\":\"pull\"}\n"), "a pull has a source");
    scoped(free_scoped) char *zeros = xalloc(STORE_CONTROL_LINE_MAX + 1);
    memset(zeros, ' ', STORE_CONTROL_LINE_MAX + 1);
    check_refused(str_n(zeros, STORE_CONTROL_LINE_MAX + 1), "more than");
    (void)close(connect_raw()); /* one that says nothing */
    CHECK_INT(ask(STORE_JOB_TAG, "app:v1", "b", NULL), STORE_ASKED_DONE);
    store_control_close(c, true);
    oci_store_close(s);
}

TEST(a_client_without_a_job_does_not_hold_up_the_end)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    scoped(buf_fini_scoped) struct buf got = BUF_INIT(1 << 20);
    scoped(fd_scoped) int fd = connect_raw(), half = connect_raw();
    CHECK_INT(send(half, "{\"do\"", 5, MSG_NOSIGNAL), 5);
    CHECK_INT(ask(STORE_JOB_TAG, "app:v1", "b", NULL), STORE_ASKED_DONE); /* both are accepted */
    store_control_close(c, false);
    read_all(fd, &got);
    read_all(half, &got);
    CHECK_INT(got.n, 0); /* so that they ask again elsewhere */
    oci_store_close(s);
}

static void *tag_one(void *arg)
{
    scoped(free_scoped) char *name = xasprintf("tag:%zu", (size_t)(uintptr_t)arg);
    return (void *)(intptr_t)ask(STORE_JOB_TAG, "app:v1", name, NULL);
}

TEST(more_clients_than_jobs_wait_and_all_are_served)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    pthread_t threads[ASKING];
    for (size_t i = 0; i < ASKING; i++)
        CHECK_OK(-pthread_create(&threads[i], NULL, tag_one, (void *)(uintptr_t)i));
    for (size_t i = 0; i < ASKING; i++) {
        void *r;
        CHECK_OK(-pthread_join(threads[i], &r));
        CHECK_INT((intptr_t)r, STORE_ASKED_DONE);
        scoped(free_scoped) char *name = xasprintf("tag:%zu", i);
        CHECK(has(s, name, NULL));
    }
    store_control_close(c, true);
    oci_store_close(s);
}

/* Of the thread that was started last: how often it has waited. */
static int open_status_of_last_thread(void)
{
    char path[64] = "";
    DIR *d = opendir("/proc/self/task");
    CHECK(d);
    for (const struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.')
            (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/status", e->d_name);
    (void)closedir(d);
    return sys_openat(AT_FDCWD, path, O_RDONLY, 0);
}

static uint64_t waits_of(int status_fd)
{
    static const char key[] = "\nvoluntary_ctxt_switches:\t";
    char text[8192];
    uint64_t n = 0;
    ssize_t got = pread(status_fd, text, sizeof text - 1, 0);
    CHECK(got > 0);
    text[got] = 0;
    const char *at = strstr(text, key);
    CHECK(at);
    for (at += sizeof key - 1; *at >= '0' && *at <= '9'; at++)
        n = n * 10 + (uint64_t)(*at - '0');
    return n;
}

/* n_files: descriptors that there may be; poll() watches no more of them either. */
static void rest_with_descriptors(rlim_t n_files)
{
    static const char job[] = "{\"do\":\"tag\",\"images\":[\"app:v1\"],\"name\":\"b\"}\n";
    struct rlimit old;
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    scoped(buf_fini_scoped) struct buf got = BUF_INIT(1 << 20);
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    scoped(fd_scoped) int status = open_status_of_last_thread();
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, root, O_PATH | O_DIRECTORY, 0);
    scoped(fd_scoped) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/control", dir);
    CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
    const struct rlimit few = { .rlim_cur = n_files, .rlim_max = old.rlim_max };
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    CHECK(connect(fd, (const struct sockaddr *)&at, sizeof at) == 0);
    for (uint64_t n = waits_of(status); waits_of(status) < n + 2;)
        (void)sched_yield();
    CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
    CHECK(send(fd, job, sizeof job - 1, MSG_NOSIGNAL) == sizeof job - 1);
    read_all(fd, &got);
    CHECK(strstr(buf_cstr(&got), "{\"result\":") && has(s, "b", NULL));
    store_control_close(c, true);
    oci_store_close(s);
}

TEST(without_descriptors_for_a_client_it_rests_and_goes_on_when_there_are_some)
{
    rest_with_descriptors(3);
}

TEST(it_rests_where_it_may_watch_fewer_descriptors_than_it_has)
{
    rest_with_descriptors(1);
}

/* ---- an end in the middle ---- */

static void *lose_main(void *arg)
{
    const int *listener = arg;
    static const char taken[] = "{\"taken\":true}\n";
    int fd = accept4(*listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(fd >= 0);
    for (char got = 0; got != '\n';)
        CHECK(recv(fd, &got, 1, 0) == 1);
    CHECK(send(fd, taken, sizeof taken - 1, MSG_NOSIGNAL) == sizeof taken - 1);
    (void)close(fd);
    return NULL;
}

TEST(a_process_that_ends_in_the_middle_of_a_job_is_told_from_one_that_did_not_begin)
{
    pthread_t thread;
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    new_root();
    CHECK_OK(sys_mkdir_all(root, 0700, NULL));
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, root, O_PATH | O_DIRECTORY, 0);
    scoped(fd_scoped) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/control", dir);
    CHECK(bind(fd, (const struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0);
    CHECK_OK(-pthread_create(&thread, NULL, lose_main, &fd));
    CHECK_INT(ask(STORE_JOB_GC, "", "", NULL), STORE_ASKED_LOST);
    CHECK_OK(-pthread_join(thread, NULL));
}

/* The process that has the store, killed before its n-th call of this kind while it does a job. */
static pid_t start_mortal(enum sys_call call, unsigned nth, bool *ret_ready)
{
    int ready[2];
    char is_ready = 0;
    CHECK(pipe2(ready, O_CLOEXEC) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct store_control *c;
        struct oci_store *s = open_store();
        sys_fail_nth(call, nth, SYS_FAIL_KILL);
        CHECK_OK(store_control_start(s, &c, NULL));
        CHECK(write(ready[1], "r", 1) == 1);
        for (;;)
            (void)pause();
    }
    (void)close(ready[1]);
    CHECK(pid > 0);
    (void)!read(ready[0], &is_ready, 1); /* or it is killed before */
    (void)close(ready[0]);
    *ret_ready = is_ready == 'r';
    return pid;
}

static void count_damage(void *arg, enum oci_store_damage_kind kind, const char *what,
                         const char *why)
{
    (void)kind, (void)what, (void)why;
    ++*(size_t *)arg;
}

/* What a killed process left is whole, and the job can be done again. 1: it was killed. */
static int survive(const struct store_job *job, enum sys_call call, unsigned nth)
{
    struct arena a = { 0 };
    struct json *result;
    struct err err = { 0 };
    size_t n_damaged = 0;
    int status;
    const struct store_job_watch watch = { 0 };
    const struct oci_store_check_opts check = { .on_damage = count_damage, .arg = &n_damaged };
    struct oci_store_check_result checked = { 0 };
    new_root();
    struct oci_store *s = open_store();
    add_image(s, "app:v1");
    add_image(s, "app:v2");
    oci_store_close(s);
    bool is_ready;
    pid_t pid = start_mortal(call, nth, &is_ready);
    int asked = store_ask(root, job, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &result, &err);
    CHECK(is_ready ? asked == STORE_ASKED_DONE || asked == STORE_ASKED_LOST
                   : asked == STORE_ASKED_NO_PROCESS || asked == STORE_ASKED_ENDED);
    if (asked == STORE_ASKED_DONE)
        CHECK(kill(pid, SIGKILL) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK_INT(store_ask(root, job, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &result, NULL),
              STORE_ASKED_NO_PROCESS);
    s = open_store();
    CHECK_OK(oci_store_check(s, &check, &checked, NULL));
    CHECK_INT(n_damaged, 0);
    struct store_job again = *job;
    again.is_again = true;
    CHECK_OK(store_job_run(s, &again, &watch, &a, &result, NULL));
    CHECK(has(s, "app:v2", NULL) && has(s, "app:v1", NULL) == (job->kind != STORE_JOB_RM));
    CHECK(has(s, "b", NULL) == (job->kind == STORE_JOB_TAG));
    CHECK_OK(oci_store_sweep(s, SIZE_MAX, NULL));
    oci_store_close(s);
    arena_fini(&a);
    return asked != STORE_ASKED_DONE;
}

TEST(a_server_that_is_killed_at_any_call_leaves_a_job_that_can_be_done_again)
{
    static const enum sys_call calls[] = { SYS_RENAMEAT, SYS_UNLINKAT, SYS_FSYNC, SYS_WRITE };
    struct str word = STR("app:v1");
    const struct store_job jobs[] = {
        { .kind = STORE_JOB_TAG, .images = &word, .n_images = 1, .name = STR("b") },
        { .kind = STORE_JOB_PIN, .images = &word, .n_images = 1 },
        { .kind = STORE_JOB_RM, .images = &word, .n_images = 1 },
        { .kind = STORE_JOB_GC },
        { .kind = STORE_JOB_MOUNT, .images = &word, .n_images = 1, .lease = STR("l") },
    };
    unsigned n_killed = 0;
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
        for (size_t k = 0; k < ARRAY_LEN(calls); k++)
            for (unsigned nth = 1; survive(&jobs[i], calls[k], nth); nth++)
                n_killed++;
    CHECK(n_killed > 4);
}

TEST(a_name_is_changed_to_the_end_when_the_client_goes_away)
{
    static const char job[] = "{\"do\":\"tag\",\"images\":[\"app:v1\"],\"name\":\"b\"}\n";
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    int fd = connect_raw();
    static const char taken[] = "{\"taken\":true}\n";
    char got[sizeof taken] = { 0 };
    CHECK(send(fd, job, sizeof job - 1, MSG_NOSIGNAL) == sizeof job - 1);
    CHECK_INT(recv(fd, got, sizeof taken - 1, MSG_WAITALL), sizeof taken - 1);
    CHECK(strcmp(got, taken) == 0);
    (void)close(fd);
    while (!has(s, "b", NULL))
        (void)sched_yield();
    store_control_close(c, true);
    oci_store_close(s);
}

TEST(a_check_does_not_hold_up_the_end_and_its_client_goes_on_with_it)
{
    /* 1024 bytes of a layer take 17 minutes. */
    static const char job[] = "{\"do\":\"check\",\"bytesPerSecond\":1}\n";
    static const char taken[] = "{\"taken\":true}\n";
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    scoped(fd_scoped) int fd = connect_raw();
    scoped(buf_fini_scoped) struct buf got = BUF_INIT(1 << 20);
    CHECK_INT(send(fd, job, sizeof job - 1, MSG_NOSIGNAL), sizeof job - 1);
    char begun[sizeof taken] = { 0 };
    CHECK_INT(recv(fd, begun, sizeof taken - 1, MSG_WAITALL), sizeof taken - 1);
    CHECK(strcmp(begun, taken) == 0);
    store_control_close(c, false);
    read_all(fd, &got);
    CHECK_INT(got.n, 0);
    oci_store_close(s);
}

/* Clients that say nothing take the place of all jobs; further ones wait in the queue. */
static void occupy(int fds[STORE_CONTROL_JOBS_MAX])
{
    for (size_t i = 0; i < STORE_CONTROL_JOBS_MAX; i++)
        fds[i] = connect_raw();
}

TEST(a_client_that_goes_away_before_its_job_has_begun_changes_nothing)
{
    static const char job[] = "{\"do\":\"tag\",\"images\":[\"app:v1\"],\"name\":\"b\"}\n";
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    int silent[STORE_CONTROL_JOBS_MAX];
    occupy(silent);
    int fd = connect_raw();
    CHECK(send(fd, job, sizeof job - 1, MSG_NOSIGNAL) == sizeof job - 1);
    (void)close(fd); /* in the queue */
    (void)close(silent[0]);
    /* One at a time is served now, so that the other one is over. */
    CHECK_INT(ask(STORE_JOB_TAG, "app:v1", "c", NULL), STORE_ASKED_DONE);
    CHECK(has(s, "c", NULL) && !has(s, "b", NULL));
    for (size_t i = 1; i < STORE_CONTROL_JOBS_MAX; i++)
        (void)close(silent[i]);
    store_control_close(c, true);
    oci_store_close(s);
}

static void leave(const int fds[STORE_CONTROL_JOBS_MAX])
{
    for (size_t i = 0; i < STORE_CONTROL_JOBS_MAX; i++)
        (void)close(fds[i]);
}

TEST(a_job_that_was_not_taken_in_time_is_not_done_later)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    int silent[STORE_CONTROL_JOBS_MAX];
    occupy(silent);
    CHECK_INT(ask_within(1, STORE_JOB_TAG, "app:v1", "b", NULL), STORE_ASKED_LATE);
    CHECK_INT(ask_within(0, STORE_JOB_TAG, "app:v1", "b", NULL), STORE_ASKED_LATE);
    CHECK(shutdown(silent[0], SHUT_RDWR) == 0);
    CHECK_INT(ask(STORE_JOB_TAG, "app:v1", "c", NULL), STORE_ASKED_DONE);
    CHECK(has(s, "c", NULL) && !has(s, "b", NULL));
    leave(silent);
    store_control_close(c, true);
    oci_store_close(s);
}

TEST(a_client_that_is_stopped_waits_for_no_answer)
{
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    struct arena a = { 0 };
    struct json *ignored;
    struct str word = STR("app:v1");
    struct store_job job = {
        .kind = STORE_JOB_TAG, .images = &word, .n_images = 1, .name = STR("b")
    };
    atomic_bool stop = true;
    int silent[STORE_CONTROL_JOBS_MAX];
    occupy(silent);
    CHECK_ERR(store_ask_until(root, &job, UINT64_MAX, &stop, &a, &ignored, NULL), -ECANCELED);
    leave(silent);
    CHECK_INT(ask(STORE_JOB_TAG, "app:v1", "c", NULL), STORE_ASKED_DONE);
    CHECK(has(s, "c", NULL) && !has(s, "b", NULL));
    job.name = STR("d");
    atomic_store(&stop, false);
    CHECK_INT(store_ask_until(root, &job, UINT64_MAX, &stop, &a, &ignored, NULL), STORE_ASKED_DONE);
    CHECK(has(s, "d", NULL));
    arena_fini(&a);
    store_control_close(c, true);
    oci_store_close(s);
}

TEST(neither_a_full_queue_nor_a_long_job_holds_a_client_up_for_longer_than_it_waits)
{
    enum { WORDS = STORE_CONTROL_LINE_MAX / STORE_JOB_TEXT_MAX - 1 };
    struct arena a = { 0 };
    struct json *ignored;
    struct store_control *c;
    struct oci_store *s = new_store(&c);
    int silent[STORE_CONTROL_JOBS_MAX], queued[256];
    size_t n = 0;
    struct str words[WORDS];
    scoped(free_scoped) char *text = xalloc(STORE_JOB_TEXT_MAX);
    memset(text, 'a', STORE_JOB_TEXT_MAX);
    for (size_t i = 0; i < WORDS; i++)
        words[i] = str_n(text, STORE_JOB_TEXT_MAX);
    const struct store_job longest = { .kind = STORE_JOB_RM, .images = words, .n_images = WORDS };
    occupy(silent);
    CHECK_INT(store_ask(root, &longest, 1, NULL, NULL, &a, &ignored, NULL), STORE_ASKED_LATE);
    while (n < ARRAY_LEN(queued) && (queued[n] = connect_with(SOCK_NONBLOCK)) >= 0)
        n++;
    CHECK(n < ARRAY_LEN(queued));
    CHECK_INT(ask_within(1, STORE_JOB_TAG, "app:v1", "b", NULL), STORE_ASKED_LATE);
    for (size_t i = 0; i < n; i++)
        (void)close(queued[i]);
    leave(silent);
    CHECK_ERR(store_ask(root, &longest, STORE_ASK_TAKEN_MS, NULL, NULL, &a, &ignored, NULL),
              -ENOENT);
    CHECK(!has(s, "b", NULL));
    arena_fini(&a);
    store_control_close(c, true);
    oci_store_close(s);
}

/* ---- a command beside a server that ends ---- */

enum { LONG_MS = 6000 }; /* more than a command waits without --wait, less than until "taken" */

struct leaving {
    struct oci_store *s;
    bool takes, stays;
    int listener;
    char *path;
};

static struct leaving new_leaving(bool takes, bool stays)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    new_root();
    struct leaving l = { .s = open_store(), .takes = takes, .stays = stays };
    add_image(l.s, "app:v1");
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, root, O_PATH | O_DIRECTORY, 0);
    (void)snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/control", dir);
    l.path = xasprintf("%s/" STORE_CONTROL_NAME, root);
    l.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(l.listener, (const struct sockaddr *)&at, sizeof at) == 0);
    CHECK(listen(l.listener, 8) == 0);
    return l;
}

/* It works on the job for long, and ends; where it stays, on the next one as well. */
static void *leaving_main(void *arg)
{
    static const char taken[] = "{\"taken\":true}\n";
    struct leaving *l = arg;
    for (int fd; (fd = accept4(l->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        for (char got = 0; got != '\n';)
            CHECK(recv(fd, &got, 1, 0) == 1);
        if (l->takes)
            CHECK(send(fd, taken, sizeof taken - 1, MSG_NOSIGNAL) == sizeof taken - 1);
        clock_skip(LONG_MS);
        if (!l->stays) {
            CHECK(shutdown(l->listener, SHUT_RDWR) == 0 && remove(l->path) == 0);
            (void)close(fd);
            oci_store_close(l->s);
            return NULL;
        }
        (void)close(fd);
    }
    return NULL;
}

static int tag_by_command(struct err *err)
{
    struct arena a = { 0 };
    struct json *ignored;
    struct str word = STR("app:v1");
    struct store_do d = {
        .opts = { .root = root, .must_exist = true },
        .job = { .kind = STORE_JOB_TAG, .images = &word, .n_images = 1, .name = STR("b") }
    };
    int r = store_do(&d, &a, &ignored, err);
    arena_fini(&a);
    return r;
}

TEST(a_command_goes_on_itself_after_a_server_that_worked_for_long)
{
    for (int takes = 0; takes < 2; takes++) {
        pthread_t thread;
        struct err err = { 0 };
        struct leaving l = new_leaving(takes, false);
        CHECK_OK(-pthread_create(&thread, NULL, leaving_main, &l));
        if (tag_by_command(&err) < 0)
            TEST_FAIL("%s", err_text(&err));
        CHECK_OK(-pthread_join(thread, NULL));
        (void)close(l.listener);
        free(l.path);
        struct oci_store *s = open_store();
        CHECK(has(s, "b", NULL));
        oci_store_close(s);
    }
}

TEST(a_command_gives_up_when_servers_end_again_and_again)
{
    pthread_t thread;
    struct leaving l = new_leaving(true, true);
    CHECK_OK(-pthread_create(&thread, NULL, leaving_main, &l));
    CHECK_ERR(tag_by_command(NULL), -EBUSY);
    CHECK(shutdown(l.listener, SHUT_RDWR) == 0);
    CHECK_OK(-pthread_join(thread, NULL));
    (void)close(l.listener);
    free(l.path);
    oci_store_close(l.s);
}

/* ---- the text ---- */

static void check_same(const struct store_job *job)
{
    struct arena a = { 0 };
    struct store_job again;
    scoped(buf_fini_scoped) struct buf one = BUF_INIT(1 << 20), two = BUF_INIT(1 << 20);
    const struct json *v = store_job_write(job, &a);
    CHECK_OK(json_write(&one, v));
    CHECK_OK(store_job_read(v, &a, &again, NULL));
    CHECK_INT(again.kind, job->kind);
    CHECK_INT(again.pull.has_login, job->pull.has_login);
    CHECK_OK(json_write(&two, store_job_write(&again, &a)));
    CHECK(str_eq(buf_str(&one), buf_str(&two)));
    arena_fini(&a);
}

TEST(a_job_is_read_as_it_was_written)
{
    struct str words[] = { STR("a"), STR("b:\"c\"") };
    check_same(&(struct store_job){ .kind = STORE_JOB_GC, .is_dry = true });
    check_same(&(struct store_job){
        .kind = STORE_JOB_RM, .images = words, .n_images = 2, .is_again = true });
    check_same(&(struct store_job){
        .kind = STORE_JOB_TAG, .images = words, .n_images = 1, .name = STR("d") });
    check_same(&(struct store_job){ .kind = STORE_JOB_PULL,
                                    .name = STR("n"),
                                    .pull = { .source = STR("docker://a/b"),
                                              .platform = STR("linux/arm64"),
                                              .form = STR("cas"),
                                              .ca = STR("/ca"),
                                              .has_login = true,
                                              .user = STR("u"),
                                              .password = STR("p"),
                                              .identity_token = STR("t"),
                                              .threads = 3,
                                              .stall_ms = 9,
                                              .is_plain_http = true,
                                              .allows_private = true,
                                              .is_pinned = true,
                                              .is_by_blobs = true,
                                              .wants_original = true } });
    check_same(&(struct store_job){ .kind = STORE_JOB_PULL,
                                    .pull = { .source = STR("s"), .has_login = true } });
    check_same(&(struct store_job){
        .kind = STORE_JOB_START, .config = { { 7 } }, .list = STR("/state/list") });
    check_same(&(struct store_job){ .kind = STORE_JOB_MOUNT,
                                    .images = words,
                                    .n_images = 1,
                                    .lease = STR("l"),
                                    .symlink_parent = OCI_SYMLINK_PARENT_FOLLOW,
                                    .is_sharing = true });
    check_same(&(struct store_job){ .kind = STORE_JOB_MOUNT,
                                    .lease = STR("l"),
                                    .pull = { .source = STR("s"), .max_tar_bytes = 7 } });
    check_same(&(struct store_job){ .kind = STORE_JOB_UNMOUNT, .lease = STR("l") });
    check_same(&(struct store_job){ .kind = STORE_JOB_CHECK, .bytes_per_s = 7, .is_dry = true });
    check_same(&(struct store_job){ .kind = STORE_JOB_KEEP,
                                    .name = STR("n"),
                                    .from = STR("/state/handed"),
                                    .lease = STR("l") });
    check_same(&(struct store_job){ .kind = STORE_JOB_IMAGES });
    check_same(&(struct store_job){ .kind = STORE_JOB_PRUNE, .bytes = 1 << 30, .min_age_s = 120 });
}

TEST_MAIN
