/* SPDX-License-Identifier: Apache-2.0 */
/* image/unpack: the directory that gets its name when it is complete, beside other processes. */
#include "base/sys.h"
#include "image/unpack.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TURNS = 300, N_THREADS = 4 };

/* A new directory; given, free(). */
static char *make_tmpdir(void)
{
    char *dir =
        xasprintf("%s/dm-unpack-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    CHECK(mkdtemp(dir));
    return dir;
}

static char *in(const char *dir, const char *name)
{
    return xasprintf("%s/%s", dir, name);
}

TEST(what_took_the_name_of_a_temporary_directory_stays)
{
    struct unpack_stage s;
    scoped(free_scoped) char *dir = make_tmpdir(), *target = in(dir, "rootfs");
    CHECK_OK(unpack_stage_init(&s, target, NULL));
    CHECK(mkdirat(s.root, "d", 0700) == 0);
    scoped(free_scoped) char *name = xstrdup(s.temporary), *own = in(dir, name);
    scoped(free_scoped) char *moved = in(dir, "moved"), *kept = in(own, "kept");
    CHECK(rename(own, moved) == 0);
    CHECK(mkdir(own, 0755) == 0 && mkdir(kept, 0755) == 0);
    unpack_stage_fini(&s);
    CHECK(access(kept, F_OK) == 0);
    CHECK(rmdir(moved) == 0); /* our own one is empty, wherever it is */
    CHECK(rmdir(kept) == 0 && rmdir(own) == 0 && rmdir(dir) == 0);
}

struct unpacker {
    char *target;
    int r;
    struct err err;
};

static void *make_stages(void *arg)
{
    struct unpacker *u = arg;
    for (int i = 0; i < TURNS && u->r >= 0; i++) {
        struct unpack_stage s;
        u->r = unpack_stage_init(&s, u->target, &u->err);
        if (u->r >= 0)
            unpack_stage_fini(&s);
    }
    return NULL;
}

TEST(processes_that_tidy_up_at_once_leave_each_other_alone)
{
    pthread_t threads[N_THREADS];
    struct unpacker all[N_THREADS] = { 0 };
    scoped(free_scoped) char *dir = make_tmpdir();
    for (size_t i = 0; i < N_THREADS; i++) {
        all[i].target = xasprintf("%s/%zu", dir, i);
        CHECK(pthread_create(&threads[i], NULL, make_stages, &all[i]) == 0);
    }
    for (size_t i = 0; i < N_THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        if (all[i].r < 0)
            TEST_FAIL("%s", err_text(&all[i].err));
        free(all[i].target);
    }
    CHECK(rmdir(dir) == 0); /* nothing is left */
}

TEST_MAIN
