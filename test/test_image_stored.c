/* SPDX-License-Identifier: Apache-2.0 */
/* The EROFS image of an image of the store: written once, whole or not at all, whatever fails. */
#include "base/sys.h"
#include "base/tree_remove.h"
#include "image/erofs_file.h"
#include "image/linked_dir.h"
#include "image/stored_layers.h"
#include "tar_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20, LAYERS = 2 };

struct world {
    char root[64];
    struct buf tars[LAYERS], config, manifest;
    struct oci_digest ids[LAYERS], config_digest;
    struct oci_image image;
    struct arena documents;
    struct buf expected; /* the EROFS image */
};

static struct oci_store *open_store(const struct world *w)
{
    struct oci_store *s;
    struct err err = { 0 };
    const struct oci_store_opts opts = { .root = w->root };
    if (oci_store_open(&opts, &s, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return s;
}

static void import(struct oci_store *s, const struct world *w, size_t i)
{
    struct err err = { 0 };
    struct oci_import *im;
    const struct oci_import_opts opts = {
        .diff_id = w->ids[i], .blob = w->ids[i], .blob_size = w->tars[i].n, .has_no_blob = true
    };
    if (oci_import_new(s, &opts, &im, &err) < 0 ||
        oci_import_add(im, buf_str(&w->tars[i]), &err) < 0 || oci_import_commit(im, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    oci_import_free(im);
}

static void make_documents(struct world *w)
{
    char id[LAYERS][OCI_DIGEST_TEXT_SIZE], config[OCI_DIGEST_TEXT_SIZE];
    w->config = w->manifest = BUF_INIT(TEXT_MAX);
    for (size_t i = 0; i < LAYERS; i++)
        oci_digest_format(&w->ids[i], id[i]);
    CHECK_OK(buf_printf(&w->config,
                        "{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"type\":"
                        "\"layers\",\"diff_ids\":[\"%s\",\"%s\"]}}",
                        id[0], id[1]));
    sha256_of(buf_str(&w->config), w->config_digest.bytes);
    oci_digest_format(&w->config_digest, config);
    static const char type[] = "application/vnd.oci.image.layer.v1.tar";
    CHECK_OK(buf_printf(
        &w->manifest,
        "{\"schemaVersion\":2,\"config\":{\"mediaType\":\"application/vnd.oci.image.config.v1+"
        "json\",\"digest\":\"%s\",\"size\":%zu},\"layers\":[{\"mediaType\":\"%s\",\"digest\":"
        "\"%s\",\"size\":%zu},{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%zu}]}",
        config, w->config.n, type, id[0], w->tars[0].n, type, id[1], w->tars[1].n));
    sha256_of(buf_str(&w->manifest), w->image.digest.bytes);
}

/* cut: bytes of padding that the second tar lacks. */
static void world_init(struct world *w, size_t cut)
{
    *w = (struct world){ .expected = BUF_INIT(TEXT_MAX) };
    (void)snprintf(w->root, sizeof w->root, "%s/stored-XXXXXX", "/tmp");
    CHECK(mkdtemp(w->root));
    for (size_t i = 0; i < LAYERS; i++) {
        struct tar_kit k = { BUF_INIT(TEXT_MAX) };
        kit_file(&k, i ? "upper" : "lower", i ? "two" : "one");
        if (i == 0 || cut == 0)
            kit_end(&k);
        w->tars[i] = k.out;
        w->tars[i].n -= i ? cut : 0;
        sha256_of(buf_str(&w->tars[i]), w->ids[i].bytes);
    }
    make_documents(w);
    struct oci_store *s = open_store(w);
    for (size_t i = 0; i < LAYERS; i++)
        import(s, w, i);
    CHECK_OK(oci_store_document_put(s, &w->config_digest, buf_str(&w->config), NULL));
    CHECK_OK(oci_store_document_put(s, &w->image.digest, buf_str(&w->manifest), NULL));
    CHECK_OK(oci_store_image_load(s, &w->image.digest, &w->documents, &w->image.manifest,
                                  &w->image.config, NULL));
    oci_store_close(s);
}

static void world_fini(struct world *w)
{
    (void)tree_remove(AT_FDCWD, w->root, NULL);
    for (size_t i = 0; i < LAYERS; i++)
        buf_fini(&w->tars[i]);
    buf_fini(&w->config);
    buf_fini(&w->manifest);
    buf_fini(&w->expected);
    arena_fini(&w->documents);
}

static int prepare(const struct world *w, struct err *err)
{
    struct oci_store *s = open_store(w);
    const struct stored stored = { s, &w->image, OCI_SYMLINK_PARENT_REFUSE };
    int r = stored_prepare(&stored, err);
    oci_store_close(s);
    return r;
}

static char *derived(const struct world *w, const char *file)
{
    char hex[SHA256_HEX_SIZE];
    hex_format(w->image.digest.bytes, SHA256_BYTES, hex);
    return xasprintf("%s/images/%s/%s", w->root, hex, file);
}

static int read_derived(const struct world *w, struct buf *to)
{
    scoped(free_scoped) char *path = derived(w, "refuse-2.erofs");
    return sys_read_file(-1, path, to, NULL);
}

/* Nothing, or the whole; then the same again makes the whole. Removes it. */
static void check_after(const struct world *w, const char *what, unsigned nth)
{
    scoped(free_scoped) char *dir = derived(w, ""), *path = derived(w, "refuse-2.erofs");
    scoped(buf_fini_scoped) struct buf found = BUF_INIT(TEXT_MAX), again = BUF_INIT(TEXT_MAX);
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    struct err err = { 0 };
    if (read_derived(w, &found) >= 0 && !str_eq(buf_str(&found), buf_str(&w->expected)))
        TEST_FAIL("after %s %u the file is not whole", what, nth);
    if (prepare(w, &err) < 0)
        TEST_FAIL("again after %s %u: %s", what, nth, err_text(&err));
    CHECK_OK(read_derived(w, &again));
    CHECK(str_eq(buf_str(&again), buf_str(&w->expected)));
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
    CHECK_OK(tree_names_read(fd, &names, NULL));
    CHECK_INT(names.all.n, 1);
    CHECK_OK(unlink(path));
}

static void expect(struct world *w)
{
    scoped(free_scoped) char *path = derived(w, "refuse-2.erofs");
    CHECK_OK(prepare(w, NULL));
    CHECK_OK(read_derived(w, &w->expected));
    CHECK(w->expected.n > 1024);
    CHECK_OK(unlink(path));
}

static const enum sys_call calls[] = { SYS_OPENAT,   SYS_WRITE,   SYS_FSYNC,
                                       SYS_RENAMEAT, SYS_MKDIRAT, SYS_UNLINKAT };

TEST(it_is_written_once)
{
    struct world w;
    struct stat first, second;
    world_init(&w, 0);
    scoped(free_scoped) char *path = derived(&w, "refuse-2.erofs");
    CHECK_OK(prepare(&w, NULL));
    CHECK_OK(stat(path, &first));
    CHECK_OK(prepare(&w, NULL));
    CHECK_OK(stat(path, &second));
    CHECK_INT(first.st_ino, second.st_ino);
    world_fini(&w);
}

TEST(a_call_that_fails_leaves_nothing_half_visible)
{
    struct world w;
    world_init(&w, 0);
    expect(&w);
    for (size_t c = 0; c < ARRAY_LEN(calls); c++)
        for (unsigned nth = 1;; nth++) {
            struct err err = { 0 };
            struct oci_store *s = open_store(&w);
            const struct stored stored = { s, &w.image, OCI_SYMLINK_PARENT_REFUSE };
            sys_fail_nth(calls[c], nth, nth % 2 ? ENOSPC : EIO);
            int r = stored_prepare(&stored, &err);
            unsigned n = sys_call_count(calls[c]);
            sys_fail_nth(calls[c], 0, 0);
            oci_store_close(s);
            CHECK(r >= 0 || err.code == r);
            check_after(&w, "fault", nth);
            if (n < nth)
                break;
        }
    world_fini(&w);
}

TEST(killed_at_any_call_nothing_is_half_visible)
{
    struct world w;
    world_init(&w, 0);
    expect(&w);
    for (size_t c = 0; c < ARRAY_LEN(calls); c++)
        for (unsigned nth = 1;; nth++) {
            int status;
            pid_t pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                sys_fail_nth(calls[c], nth, SYS_FAIL_KILL);
                _exit(prepare(&w, NULL) < 0);
            }
            CHECK_INT(waitpid(pid, &status, 0), pid);
            CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
            check_after(&w, "kill", nth);
            if (WIFEXITED(status))
                break;
        }
    world_fini(&w);
}

static int prepare_layers(const struct world *w, struct err *err)
{
    struct oci_store *s = open_store(w);
    const struct stored stored = { s, &w->image, OCI_SYMLINK_PARENT_REFUSE };
    int r = stored_layers_prepare(&stored, err);
    oci_store_close(s);
    return r;
}

static void on_damage(void *arg, const char *path, const char *why)
{
    TEST_FAIL("%s: %s: %s", (const char *)arg, path, why);
}

/* What is there is whole; then the same again makes all of it. Removes it. */
static void check_layers_after(const struct world *w, const char *what)
{
    struct erofs_file_found found;
    struct err err = { 0 };
    for (bool is_again = false;; is_again = true) {
        struct oci_store *s = open_store(w);
        CHECK_OK(erofs_file_check_all(s, false, on_damage, (void *)what, &found, NULL));
        oci_store_close(s);
        if (is_again)
            break;
        if (prepare_layers(w, &err) < 0)
            TEST_FAIL("again after %s: %s", what, err_text(&err));
    }
    CHECK_INT(found.n, LAYERS + 1);
    scoped(free_scoped) char *dirs = derived(w, "dirs-2.erofs");
    CHECK_OK(unlink(dirs));
    struct oci_store *s = open_store(w);
    for (size_t i = 0; i < LAYERS; i++) {
        scoped(free_scoped) char *path = oci_store_layer_path(s, &w->ids[i], "lower-2.erofs");
        CHECK_OK(unlink(path));
    }
    oci_store_close(s);
}

TEST(directories_of_layers_are_whole_or_not_there_whatever_fails)
{
    struct world w;
    world_init(&w, 0);
    for (size_t c = 0; c < ARRAY_LEN(calls); c++)
        for (unsigned nth = 1;; nth++) {
            struct err err = { 0 };
            struct oci_store *s = open_store(&w);
            const struct stored stored = { s, &w.image, OCI_SYMLINK_PARENT_REFUSE };
            sys_fail_nth(calls[c], nth, nth % 2 ? ENOSPC : EIO);
            int r = stored_layers_prepare(&stored, &err);
            unsigned n = sys_call_count(calls[c]);
            sys_fail_nth(calls[c], 0, 0);
            oci_store_close(s);
            CHECK(r >= 0 || err.code == r);
            check_layers_after(&w, "fault");
            if (n < nth)
                break;
        }
    world_fini(&w);
}

TEST(directories_of_layers_are_whole_or_not_there_wherever_it_is_killed)
{
    struct world w;
    world_init(&w, 0);
    for (size_t c = 0; c < ARRAY_LEN(calls); c++)
        for (unsigned nth = 1;; nth++) {
            int status;
            pid_t pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                sys_fail_nth(calls[c], nth, SYS_FAIL_KILL);
                _exit(prepare_layers(&w, NULL) < 0);
            }
            CHECK_INT(waitpid(pid, &status, 0), pid);
            CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
            check_layers_after(&w, "kill");
            if (WIFEXITED(status))
                break;
        }
    world_fini(&w);
}

TEST(layers_are_mounted_one_by_one_where_memory_is_small_and_images_share_them)
{
    CHECK(stored_layers_are_better((uint64_t)4 << 30, true));
    CHECK(!stored_layers_are_better((uint64_t)4 << 30, false));
    CHECK(!stored_layers_are_better((uint64_t)8 << 30, true));
}

/* ---- files, hard links between the directories of mounts ---- */

static char *in_world(const struct world *w, const char *name)
{
    return xasprintf("%s/%s", w->root, name);
}

struct fault {
    enum sys_call call;
    unsigned nth, n_calls; /* 0: none */
};

/* Into the directory `name`, which is made anew. */
static int write_linked_with(const struct world *w, const char *name, struct fault *f,
                             struct linked_dir_counts *ret, struct err *err)
{
    scoped(free_scoped) char *path = in_world(w, name), *gone = in_world(w, "gone");
    const struct layer_dir_opts how = { .form = LAYER_DIR_MERGED };
    (void)tree_remove(AT_FDCWD, path, NULL);
    (void)tree_remove(AT_FDCWD, gone, NULL);
    CHECK_OK(mkdir(path, 0700));
    CHECK_OK(mkdir(gone, 0700));
    scoped(fd_scoped) int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    scoped(fd_scoped) int gone_fd = open(gone, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct oci_store *s = open_store(w);
    const struct stored stored = { s, &w->image, OCI_SYMLINK_PARENT_REFUSE };
    sys_fail_nth(f->call, f->nth, ENOSPC);
    int r = linked_dir_write(&stored, dir, gone_fd, &how, ret, err);
    f->n_calls = sys_call_count(f->call);
    sys_fail_nth(f->call, 0, 0);
    oci_store_close(s);
    return r;
}

static int write_linked(const struct world *w, const char *name, struct linked_dir_counts *ret,
                        struct err *err)
{
    return write_linked_with(w, name, &(struct fault){ .call = SYS_OPENAT }, ret, err);
}

static struct stat stat_in(const struct world *w, const char *name)
{
    struct stat st;
    scoped(free_scoped) char *path = in_world(w, name);
    CHECK_OK(lstat(path, &st));
    return st;
}

static size_t sweep_links(const struct world *w, bool is_dry)
{
    size_t n;
    uint64_t n_bytes;
    struct oci_store *s = open_store(w);
    CHECK_OK(linked_dir_sweep(s, is_dry, &n, &n_bytes, NULL));
    oci_store_close(s);
    CHECK_INT(n_bytes, 3 * n);
    return n;
}

static void check_text(const struct world *w, const char *name, const char *text)
{
    scoped(free_scoped) char *path = in_world(w, name);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(TEXT_MAX);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &b, NULL));
    CHECK_STR(buf_str(&b), text);
}

/* Owners can be set by root alone. */
static bool can_write_files(void)
{
    return geteuid() == 0;
}

TEST(files_are_links_until_no_directory_has_them)
{
    struct world w;
    struct linked_dir_counts c;
    if (!can_write_files())
        return;
    world_init(&w, 0);
    CHECK_OK(write_linked(&w, "a", &c, NULL));
    CHECK_INT(c.written, 2);
    CHECK_INT(c.written_bytes, 6);
    CHECK_OK(write_linked(&w, "b", &c, NULL));
    CHECK_INT(c.linked, 2);
    CHECK_INT(c.written, 0);
    struct stat a = stat_in(&w, "a/lower"), b = stat_in(&w, "b/lower");
    CHECK(a.st_ino == b.st_ino && a.st_nlink == 3);
    check_text(&w, "b/upper", "two");
    scoped(free_scoped) char *first = in_world(&w, "a"), *second = in_world(&w, "b");
    CHECK_OK(tree_remove(AT_FDCWD, first, NULL));
    CHECK_INT(sweep_links(&w, false), 0);
    CHECK_OK(tree_remove(AT_FDCWD, second, NULL));
    CHECK_INT(sweep_links(&w, true), 2);
    CHECK_INT(sweep_links(&w, false), 2);
    CHECK_INT(sweep_links(&w, false), 0);
    world_fini(&w);
}

TEST(links_of_an_earlier_start_of_the_machine_are_not_read)
{
    struct world w;
    struct linked_dir_counts c;
    if (!can_write_files())
        return;
    world_init(&w, 0);
    CHECK_OK(write_linked(&w, "a", &c, NULL));
    struct oci_store *s = open_store(&w);
    scoped(free_scoped) char *links = in_world(&w, "links"), *old = in_world(&w, "links/earlier");
    scoped(free_scoped) char *now = xasprintf("%s/%s", links, oci_store_boot(s));
    oci_store_close(s);
    CHECK_OK(rename(now, old));
    CHECK_OK(write_linked(&w, "b", &c, NULL));
    CHECK_INT(c.linked, 0);
    CHECK_INT(sweep_links(&w, false), 0);
    CHECK(access(old, F_OK) < 0 && access(now, F_OK) == 0);
    world_fini(&w);
}

TEST(a_damaged_content_becomes_no_link)
{
    struct world w;
    struct linked_dir_counts c;
    if (!can_write_files())
        return;
    world_init(&w, 0);
    struct oci_store *s = open_store(&w);
    scoped(free_scoped) char *tar = oci_store_layer_path(s, &w.ids[0], "data.tar");
    scoped(fd_scoped) int fd = open(tar, O_WRONLY | O_CLOEXEC);
    oci_store_close(s);
    CHECK_INT(pwrite(fd, "X", 1, 513), 1);
    CHECK_ERR(write_linked(&w, "a", &c, NULL), E_CORRUPT);
    scoped(free_scoped) char *path = in_world(&w, "a");
    CHECK_OK(tree_remove(AT_FDCWD, path, NULL));
    CHECK_INT(sweep_links(&w, true), 0);
    CHECK_INT(pwrite(fd, "n", 1, 513), 1);
    CHECK_OK(write_linked(&w, "a", &c, NULL));
    check_text(&w, "a/lower", "one");
    world_fini(&w);
}

TEST(links_are_whole_files_whatever_fails)
{
    struct world w;
    struct linked_dir_counts c;
    if (!can_write_files())
        return;
    world_init(&w, 0);
    for (size_t k = 0; k < ARRAY_LEN(calls); k++)
        for (unsigned nth = 1;; nth++) {
            struct err err = { 0 };
            struct fault f = { calls[k], nth, 0 };
            int r = write_linked_with(&w, "a", &f, &c, &err);
            CHECK(r >= 0 || err.code == r);
            if (write_linked(&w, "b", &c, &err) < 0)
                TEST_FAIL("again: %s", err_text(&err));
            check_text(&w, "b/lower", "one");
            check_text(&w, "b/upper", "two");
            if (f.n_calls < nth)
                break;
        }
    world_fini(&w);
}

TEST(a_tar_that_ends_within_a_block_is_no_device)
{
    struct world w;
    struct err err = { 0 };
    world_init(&w, 100);
    CHECK_ERR(prepare(&w, &err), E_UNSUPPORTED);
    CHECK(strstr(err_text(&err), "layer 1") && strstr(err_text(&err), "within a block"));
    world_fini(&w);
}

TEST(a_layer_that_is_gone_is_an_error)
{
    struct world w;
    world_init(&w, 0);
    struct oci_store *s = open_store(&w);
    CHECK_OK(oci_store_layer_remove(s, &w.ids[1], NULL));
    oci_store_close(s);
    CHECK_ERR(prepare(&w, NULL), -ENOENT);
    world_fini(&w);
}

TEST_MAIN
