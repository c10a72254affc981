/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "node/images_known.h"
#include "temp_dir.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>

struct rig {
    char store[TEMP_DIR_BYTES];
    struct images_known known;
};

static void start(struct rig *g)
{
    scoped(free_scoped) char *names = NULL;
    *g = (struct rig){ 0 };
    CHECK(temp_dir_make("images-known", g->store));
    names = xasprintf("%s/refs", g->store);
    CHECK(mkdir(names, 0700) == 0);
}

static void stop(struct rig *g)
{
    images_known_fini(&g->known);
    temp_dir_remove(g->store);
}

/* A name is set, at a time that differs from that of the last change. */
static void change_name(struct rig *g, long s)
{
    scoped(free_scoped) char *names = xasprintf("%s/refs", g->store);
    const struct timespec times[2] = { { .tv_sec = s }, { .tv_sec = s } };
    CHECK(utimensat(AT_FDCWD, names, times, 0) == 0);
}

TEST(an_answer_holds_until_a_name_changes)
{
    struct rig g;
    start(&g);
    CHECK(!images_known_find(&g.known, g.store, STR("busybox")));
    images_known_add(&g.known, g.store, images_stamp_now(g.store), STR("busybox"), "/a");
    images_known_add(&g.known, g.store, images_stamp_now(g.store), STR("nginx"), "/b");
    CHECK_STR(str_of(images_known_find(&g.known, g.store, STR("busybox"))), "/a");
    CHECK_STR(str_of(images_known_find(&g.known, g.store, STR("nginx"))), "/b");
    CHECK(!images_known_find(&g.known, g.store, STR("redis")));
    change_name(&g, 1000);
    CHECK(!images_known_find(&g.known, g.store, STR("busybox")));
    CHECK(!images_known_find(&g.known, g.store, STR("nginx")));
    stop(&g);
}

TEST(an_answer_is_not_kept_if_a_name_changed_meanwhile)
{
    struct rig g;
    start(&g);
    struct images_stamp asked = images_stamp_now(g.store);
    change_name(&g, 1000);
    images_known_add(&g.known, g.store, asked, STR("busybox"), "/a");
    CHECK(!images_known_find(&g.known, g.store, STR("busybox")));
    stop(&g);
}

TEST(an_answer_is_not_kept_without_names)
{
    struct images_known known = { 0 };
    images_known_add(&known, "/nowhere", images_stamp_now("/nowhere"), STR("busybox"), "/a");
    CHECK(!images_known_find(&known, "/nowhere", STR("busybox")));
    images_known_fini(&known);
}

TEST(a_later_answer_replaces_an_earlier_one)
{
    struct rig g;
    start(&g);
    images_known_add(&g.known, g.store, images_stamp_now(g.store), STR("busybox"), "/a");
    images_known_add(&g.known, g.store, images_stamp_now(g.store), STR("busybox"), "/b");
    CHECK_STR(str_of(images_known_find(&g.known, g.store, STR("busybox"))), "/b");
    stop(&g);
}

TEST(answers_are_bounded)
{
    struct rig g;
    start(&g);
    for (unsigned i = 0; i < 3 * IMAGES_KNOWN_MAX; i++) {
        scoped(free_scoped) char *text = xasprintf("image-%u", i);
        images_known_add(&g.known, g.store, images_stamp_now(g.store), str_of(text), "/a");
        CHECK(g.known.dirs.n <= IMAGES_KNOWN_MAX);
        CHECK_STR(str_of(images_known_find(&g.known, g.store, str_of(text))), "/a");
    }
    stop(&g);
}

TEST_MAIN
