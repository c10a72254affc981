/* SPDX-License-Identifier: Apache-2.0 */
/* wasm/swap: names are free at once, files go in the background, the next process finishes the
 * rest. */
#include "guest/swap.h"

#include "base/clock.h"
#include "base/mem.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

enum { DEADLINE_MS = 30000 };

struct rig {
    char dir[64], removed[80], left[80];
    struct swap swap;
};

static void rig_init(struct rig *r)
{
    struct err err = { 0 };
    (void)snprintf(r->dir, sizeof r->dir, "/tmp/dm-test-swap-XXXXXX");
    CHECK(mkdtemp(r->dir));
    (void)snprintf(r->removed, sizeof r->removed, "%s/removed", r->dir);
    (void)snprintf(r->left, sizeof r->left, "%s/left", r->dir);
    CHECK_OK(swap_init(&r->swap, r->dir, &err));
}

static size_t count(const char *path)
{
    size_t n = 0;
    DIR *dir = opendir(path);
    CHECK(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        n += e->d_name[0] != '.';
    (void)closedir(dir);
    return n;
}

static void wait_until_swept(const struct rig *r)
{
    uint64_t until = clock_mono_ms() + DEADLINE_MS;
    while (count(r->removed)) {
        CHECK(clock_mono_ms() < until);
        (void)sched_yield();
    }
}

static void make(struct rig *r, const char *name)
{
    struct err err = { 0 };
    scoped(fd_scoped) int fd = swap_create(&r->swap, name, 65536, &err);
    CHECK_OK(fd);
    CHECK_INT(pwrite(fd, "x", 1, 4096), 1);
}

static bool is_there(const struct rig *r, const char *name)
{
    return faccessat(r->swap.dir_fd, name, F_OK, 0) == 0;
}

static void rig_fini(struct rig *r)
{
    wait_until_swept(r);
    swap_fini(&r->swap);
    CHECK_OK(rmdir(r->removed));
    CHECK_OK(rmdir(r->left));
    CHECK_OK(rmdir(r->dir));
}

TEST(a_removed_file_is_gone_at_once_and_its_blocks_soon)
{
    struct rig r;
    rig_init(&r);
    make(&r, "a.swap");
    swap_remove(&r.swap, "a.swap");
    CHECK(!is_there(&r, "a.swap"));
    swap_remove(&r.swap, "a.swap"); /* there is none */
    rig_fini(&r);
}

TEST(a_new_file_under_an_old_name_is_never_swept)
{
    struct rig r;
    rig_init(&r);
    for (int i = 0; i < 300; i++) {
        make(&r, "a.swap");
        CHECK(is_there(&r, "a.swap"));
        if (i < 299)
            swap_remove(&r.swap, "a.swap");
    }
    wait_until_swept(&r);
    CHECK(is_there(&r, "a.swap"));
    swap_remove(&r.swap, "a.swap");
    rig_fini(&r);
}

TEST(the_next_process_finishes_what_this_one_left)
{
    struct rig r;
    struct err err = { 0 };
    rig_init(&r);
    for (int i = 0; i < 500; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "%d.swap", i);
        make(&r, name);
        if (i % 2)
            swap_remove(&r.swap, name);
    }
    swap_fini(&r.swap);
    CHECK_OK(swap_init(&r.swap, r.dir, &err));
    CHECK_INT(count(r.dir), 2); /* "removed", "left" */
    rig_fini(&r);
}

TEST(foreign_files_stay)
{
    struct rig r;
    struct err err = { 0 };
    rig_init(&r);
    CHECK_OK(close(openat(r.swap.dir_fd, "notes", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)));
    swap_fini(&r.swap);
    CHECK_OK(swap_init(&r.swap, r.dir, &err));
    CHECK(is_there(&r, "notes"));
    CHECK_OK(unlinkat(r.swap.dir_fd, "notes", 0));
    rig_fini(&r);
}

TEST(files_with_a_record_wait_for_who_claims_them)
{
    struct rig r;
    struct err err = { 0 };
    char first[SWAP_NAME_MAX], second[SWAP_NAME_MAX], other[SWAP_NAME_MAX], plain[SWAP_NAME_MAX];
    const char *hash = "0123456789abcdef0123";
    rig_init(&r);
    CHECK(!r.swap.has_left);
    swap_name(first, "uid", 1, hash, 7, true);
    swap_name(other, "uid", 2, hash, 8, true);
    swap_name(plain, "uid", 1, hash, 9, false);
    make(&r, first);
    make(&r, other);
    make(&r, plain);
    swap_fini(&r.swap);
    CHECK_OK(swap_init(&r.swap, r.dir, &err));
    CHECK(r.swap.has_left);
    CHECK(!is_there(&r, first) && !is_there(&r, plain));
    CHECK_INT(count(r.left), 2);
    swap_name(second, "uid", 1, hash, 1, true);
    int fd = swap_claim(&r.swap, second);
    CHECK_OK(fd);
    (void)close(fd);
    CHECK(is_there(&r, second));
    CHECK_INT(swap_claim(&r.swap, second), -ENOENT); /* once */
    swap_drop_left(&r.swap);
    CHECK_INT(count(r.left), 0);
    CHECK(!r.swap.has_left);
    swap_remove(&r.swap, second);
    rig_fini(&r);
}

TEST_MAIN
