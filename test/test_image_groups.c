/* SPDX-License-Identifier: Apache-2.0 */
/* image/minhash, image/times and the notes of image/watch: which images belong together, the times
 * of their files, and which groups were done. */
#include "image/minhash.h"
#include "image/times.h"
#include "image/watch.h"

#include "base/sys.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* An image of one layer with the contents from `first` to `last`. */
struct made {
    struct oci_layer layer;
    struct oci_tree tree;
};

static void make(struct made *m, unsigned first, unsigned last, uint64_t size)
{
    *m = (struct made){ 0 };
    for (unsigned i = first; i <= last; i++) {
        char path[32];
        struct oci_entry *e;
        struct tar_entry t = { .type = TAR_FILE, .mode = 0644, .size = size };
        (void)snprintf(path, sizeof path, "f%u", i);
        t.path = str_of(path);
        CHECK_OK(oci_layer_add(&m->layer, &t, &e, NULL));
        sha256_of(t.path, e->digest);
    }
    oci_tree_init(&m->tree, OCI_SYMLINK_PARENT_REFUSE);
    CHECK_OK(oci_tree_apply(&m->tree, &m->layer, NULL));
}

static void drop(struct made *m)
{
    oci_tree_fini(&m->tree);
    vec_fini(&m->layer.entries);
    vec_fini(&m->layer.whiteouts);
    arena_fini(&m->layer.text);
}

static struct image_minhash signature(unsigned first, unsigned last, uint64_t size)
{
    struct made m;
    struct image_minhash h;
    make(&m, first, last, size);
    image_minhash_of(&m.tree, &h);
    drop(&m);
    return h;
}

TEST(estimates_are_near_what_images_share)
{
    struct image_minhash all = signature(1, 1000, 5000), same = signature(1, 1000, 5000);
    struct image_minhash half = signature(334, 1333, 5000), none = signature(2000, 2999, 5000);
    struct image_minhash empty = signature(1, 10, 0);
    CHECK_INT(image_minhash_overlap(&all, &same), 100);
    unsigned near = image_minhash_overlap(&all, &half); /* 667 of 1333 */
    (void)printf("# 50 %% estimated as %u %%\n", near);
    CHECK(near >= 35 && near <= 65);
    CHECK(image_minhash_overlap(&all, &none) <= 3);
    CHECK_INT(image_minhash_overlap(&empty, &empty), 0);
}

TEST(chains_join_and_large_groups_are_cut_between_families)
{
    enum { N = 9 };
    struct image_minhash all[N];
    const char *family[N] = { "a", "b", "c", "a", "b", "c", "x", "x", "y" };
    uint32_t group[N];
    for (unsigned i = 0; i < 6; i++) /* each shares with the next */
        all[i] = signature(i * 300, i * 300 + 999, 100);
    all[6] = signature(9000, 9100, 100);
    all[7] = signature(9000, 9100, 100);
    all[8] = signature(20000, 20100, 100);
    CHECK_INT(image_minhash_group(all, family, N, 10, 64, group), 3);
    for (unsigned i = 0; i < 6; i++)
        CHECK_INT(group[i], 0);
    CHECK_INT(group[6], 1);
    CHECK_INT(group[7], 1);
    CHECK_INT(group[8], 2);
    CHECK_INT(image_minhash_group(all, family, N, 10, 3, group), 5); /* a a, b b, c c, x x, y */
    CHECK_INT(group[0], group[3]);
    CHECK_INT(group[1], group[4]);
    CHECK_INT(group[2], group[5]);
    CHECK(group[0] != group[1] && group[1] != group[2]);
    CHECK_INT(image_minhash_group(all, family, N, 10, 1, group), N);
    CHECK_INT(image_minhash_group(all, family, 0, 10, 1, group), 0);
}

/* ---- times ---- */

static void put_time(struct image_times *t, unsigned i)
{
    struct image_time *time = arena_new(&t->memory, struct image_time);
    uint8_t key[SHA256_BYTES];
    sha256_of(str_n(&i, sizeof i), key);
    *time = (struct image_time){ (int64_t)i - 50, i, false };
    (void)map_put(&t->by_key, str_n(key, sizeof key), time);
    t->n++;
}

TEST(times_come_back_and_damage_is_found)
{
    char path[] = "/tmp/dm-times-XXXXXX";
    struct image_times t = { 0 }, again;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    int fd = mkstemp(path);
    CHECK_OK(fd);
    for (unsigned i = 0; i < 100; i++)
        put_time(&t, i);
    CHECK_OK(image_times_save(&t, path, &err));
    CHECK_OK(image_times_load(path, &again, &err));
    CHECK_INT(again.n, 100);
    map_each (e, &t.by_key) {
        const struct image_time *a = e->value, *b = map_get(&again.by_key, e->key);
        CHECK(b && a->s == b->s && a->ns == b->ns);
    }
    image_times_fini(&again);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &text, &err));
    for (size_t at = 0; at < text.n; at += 97) {
        text.p[at] ^= 1;
        CHECK_OK(sys_write_file_atomic(AT_FDCWD, path, buf_str(&text), 0600, &err));
        CHECK_ERR(image_times_load(path, &again, &err), E_CORRUPT);
        text.p[at] ^= 1;
    }
    for (size_t n = 0; n < text.n; n += 41) {
        CHECK_OK(sys_write_file_atomic(AT_FDCWD, path, str_n(text.p, n), 0600, &err));
        CHECK_ERR(image_times_load(path, &again, &err), E_CORRUPT);
    }
    (void)unlink(path);
    (void)close(fd);
    CHECK_OK(image_times_load(path, &again, &err));
    CHECK_INT(again.n, 0);
    image_times_fini(&again);
    image_times_fini(&t);
}

TEST_MAIN

TEST(a_watch_keeps_a_note_for_each_group_and_forgets_the_oldest)
{
    char path[] = "/tmp/dormouse-watch-XXXXXX";
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    (void)buf_add_cstr(&text, "{\"images\":[],\"notes\":{");
    for (unsigned i = 0; i < IMAGE_WATCH_NOTES_MAX; i++)
        (void)buf_printf(&text, "%s\"k%u\":\"done\"", i ? "," : "", i);
    (void)buf_add_cstr(&text, "}}");
    CHECK_OK((int)sys_write_all(fd, buf_cstr(&text), text.n));
    (void)close(fd);
    const struct image_watch_opts opts = { .state_file = path };
    struct image_watch *w;
    CHECK_OK(image_watch_open(&opts, &w, NULL));
    CHECK_OK(image_watch_set_note(w, "k5", "again", NULL));
    CHECK_STR(str_of(image_watch_note(w, "k5")), "again");
    CHECK_STR(str_of(image_watch_note(w, "k0")), "done");
    CHECK_OK(image_watch_set_note(w, "new", "done", NULL));
    CHECK_STR(str_of(image_watch_note(w, "new")), "done");
    CHECK_STR(str_of(image_watch_note(w, "k0")), "");
    CHECK_STR(str_of(image_watch_note(w, "k1")), "done");
    image_watch_close(w);
    CHECK_INT(unlink(path), 0);
}
