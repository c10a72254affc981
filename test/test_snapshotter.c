/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshotter on its disk: layers of a store as snapshots, what containerd is told to mount, and
 * what a refusing disk or a kill at any call leaves: what was answered, nothing half done.
 */
#include "base/sys.h"
#include "base/tree_remove.h"
#include "image/layer_child.h"
#include "image/snapshot_call.h"
#include "image/snapshot_journal.h"
#include "image/snapshot_usage.h"
#include "image/snapshotter.h"
#include "snapshot_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a snapshotter that runs ---- */

struct daemon {
    struct oci_store *store;
    struct snapshotter *s;
};

static int daemon_open(const struct world *w, struct daemon *d, struct err *err)
{
    const struct oci_store_opts opts = { .root = w->store, .is_reader = true };
    *d = (struct daemon){ 0 };
    int r = oci_store_open(&opts, &d->store, err);
    const struct snapshotter_opts how = { .root = w->root,
                                          .store = d->store,
                                          .is_not_durable = true };
    return r < 0 ? r : snapshotter_open(&how, &d->s, err);
}

static void daemon_close(struct daemon *d)
{
    snapshotter_close(d->s);
    oci_store_close(d->store);
}

/* As the server does it. */
static int prepare(struct daemon *d, const char *key, const char *parent, const char *ref,
                   struct snapshotter_mount *mount, struct err *err)
{
    struct oci_digest layer;
    const struct snapshot_label label = { STR(SNAPSHOT_REF_LABEL), str_of(ref) };
    struct snapshotter_request req = { .key = str_of(key),
                                       .parent = str_of(parent),
                                       .kind = SNAPSHOT_ACTIVE,
                                       .labels = &label,
                                       .n_labels = ref ? 1 : 0 };
    int r = snapshotter_prepare(d->s, &req, mount, &layer, err);
    if (r == SNAPSHOTTER_WANTS_LAYER) {
        r = snapshotter_unpack(d->s, &layer, err);
        req.is_plain = r < 0;
        bool is_pinned = r >= 0;
        struct oci_digest ignored;
        r = snapshotter_prepare(d->s, &req, mount, &ignored, err);
        if (is_pinned)
            snapshotter_unpin(d->s, &layer);
    }
    if (r == SNAPSHOTTER_WANTS_BYTES) {
        req.is_plain = true;
        r = snapshotter_prepare(d->s, &req, mount, &layer, err);
    }
    return r;
}

struct finding {
    const char *ref;
    char name[SNAPSHOT_NAME_MAX];
};

static int find_ref(void *arg, const struct snapshot_event *e)
{
    struct finding *f = arg;
    if (e->op == SNAPSHOT_ADD && e->kind == SNAPSHOT_COMMITTED && e->n_labels &&
        str_is(e->labels[0].value, f->ref))
        (void)snprintf(f->name, sizeof f->name, STR_FMT, STR_ARG(e->name));
    return 0;
}

/* The name of the committed snapshot of that chain ID; "" without. */
static struct finding by_ref(struct daemon *d, const char *ref)
{
    struct finding f = { .ref = ref };
    CHECK_OK(snapshotter_each(d->s, find_ref, &f));
    return f;
}

/* All of them in words in which random names do not show. */
static int describe_one(void *arg, const struct snapshot_event *e)
{
    static const char prefix[] = SNAPSHOTTER_NAME_PREFIX;
    struct buf *to = arg;
    struct str name = e->name, parent = e->parent;
    if (e->op != SNAPSHOT_ADD)
        return 0;
    if (str_has_prefix(name, str_of(prefix)))
        name = str_slice(name, sizeof prefix + 16, name.n);
    if (str_has_prefix(parent, str_of(prefix)))
        parent = str_slice(parent, sizeof prefix + 16, parent.n);
    return buf_printf(to, "%d " STR_FMT " over " STR_FMT " %zu labels\n", e->kind, STR_ARG(name),
                      STR_ARG(parent), e->n_labels);
}

static char *picture(struct daemon *d)
{
    size_t n;
    struct buf b = BUF_INIT(TEXT_MAX);
    CHECK_OK(snapshotter_each(d->s, describe_one, &b));
    CHECK_OK(buf_add_cstr(&b, ""));
    return buf_take(&b, &n);
}

/* ---- what it does ---- */

static size_t count_names(const char *root, const char *dir)
{
    char path[2 * PATH_SIZE];
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    (void)snprintf(path, sizeof path, "%s/%s", root, dir);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    CHECK_OK(tree_names_read(fd, &names, NULL));
    return names.all.n;
}

TEST(layers_of_the_store_are_snapshots_without_containerd)
{
    struct world w;
    struct daemon d;
    struct err err = { 0 };
    struct stat st;
    char path[2 * PATH_SIZE];
    struct snapshotter_mount m = { 0 };
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    CHECK_ERR(prepare(&d, "k1", "", w.chain_text[0], &m, &err), -EEXIST);
    struct finding one = by_ref(&d, w.chain_text[0]);
    CHECK(one.name[0]);
    CHECK_ERR(prepare(&d, "k2", one.name, w.chain_text[1], &m, &err), -EEXIST);
    struct finding two = by_ref(&d, w.chain_text[1]);
    CHECK(two.name[0]);
    CHECK_INT(snapshotter_count(d.s), 2);
    CHECK_ERR(prepare(&d, "k3", one.name, w.chain_text[1], &m, &err), -EEXIST); /* there already */
    CHECK_INT(snapshotter_count(d.s), 2);
    CHECK_OK(prepare(&d, "c", two.name, NULL, &m, &err));
    CHECK(strcmp(m.type, "overlay") == 0);
    CHECK_INT(m.n_options, 4);
    (void)snprintf(path, sizeof path, "lowerdir=%s/dirs/2/fs:%s/dirs/1/fs", w.root, w.root);
    CHECK(strcmp(m.options[3], path) == 0);
    (void)snprintf(path, sizeof path, "%s/dirs/1/fs/etc/one", w.root);
    CHECK_OK(stat(path, &st));
    (void)snprintf(path, sizeof path, "%s/dirs/2/fs/etc/one", w.root);
    CHECK_OK(stat(path, &st));
    CHECK(S_ISCHR(st.st_mode) && st.st_rdev == 0);
    (void)snprintf(path, sizeof path, "%s/dirs/3/fs", w.root);
    CHECK_OK(stat(path, &st));
    CHECK_INT(st.st_mode & 07777, 0755);
    snapshotter_mount_fini(&m);
    daemon_close(&d);
    world_fini(&w);
}

TEST(a_layer_that_needs_those_below_it_is_left_to_containerd)
{
    struct world w;
    struct daemon d;
    struct snapshotter_mount m = { 0 };
    char chain[OCI_DIGEST_TEXT_SIZE];
    struct oci_digest id;
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    CHECK_ERR(prepare(&d, "k1", "", w.chain_text[0], &m, NULL), -EEXIST);
    struct finding one = by_ref(&d, w.chain_text[0]);
    snapshot_chain_id(&w.chain[0], &w.ids[2], &id);
    oci_digest_format(&id, chain);
    CHECK_INT(prepare(&d, "k2", one.name, chain, &m, NULL), SNAPSHOTTER_MADE);
    snapshotter_mount_fini(&m);
    oci_digest_format(&w.ids[2], chain); /* as the lowest one it is whole */
    CHECK_ERR(prepare(&d, "k3", "", chain, &m, NULL), -EEXIST);
    daemon_close(&d);
    world_fini(&w);
}

TEST(an_unknown_layer_is_left_to_containerd)
{
    struct world w;
    struct daemon d;
    struct snapshotter_mount m = { 0 };
    struct oci_digest layer;
    struct snapshot_label label = { STR(SNAPSHOT_REF_LABEL), STR_NULL };
    char text[OCI_DIGEST_TEXT_SIZE];
    const struct oci_digest unknown = { { 1 } };
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    oci_digest_format(&unknown, text);
    label.value = str_of(text);
    const struct snapshotter_request req = {
        .key = STR("k"), .kind = SNAPSHOT_ACTIVE, .labels = &label, .n_labels = 1
    };
    CHECK_INT(snapshotter_prepare(d.s, &req, &m, &layer, NULL), SNAPSHOTTER_WANTS_BYTES);
    CHECK_INT(snapshotter_count(d.s), 0);
    CHECK_OK(prepare(&d, "k", "", text, &m, NULL));
    CHECK(strcmp(m.type, "bind") == 0 && strcmp(m.options[0], "rw") == 0);
    snapshotter_mount_fini(&m);
    daemon_close(&d);
    world_fini(&w);
}

TEST(what_is_written_is_counted_and_a_removed_layer_is_gone)
{
    struct world w;
    struct daemon d;
    struct snapshotter_mount m = { 0 };
    struct snapshot_info info;
    struct arena a = { 0 };
    uint64_t n_bytes, n_inodes;
    char path[2 * PATH_SIZE];
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    CHECK_ERR(prepare(&d, "k1", "", w.chain_text[0], &m, NULL), -EEXIST);
    struct finding one = by_ref(&d, w.chain_text[0]);
    CHECK_OK(prepare(&d, "c", one.name, NULL, &m, NULL));
    snapshotter_mount_fini(&m);
    (void)snprintf(path, sizeof path, "%s/dirs/2/fs/f", w.root);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT, 0600);
    CHECK_OK(fd);
    CHECK_OK(sys_write_all(fd, path, sizeof path));
    CHECK_OK(sys_fsync(fd));
    CHECK_OK(snapshotter_usage(d.s, STR("c"), &n_bytes, &n_inodes, NULL));
    CHECK_INT(n_inodes, 2);
    CHECK(n_bytes >= sizeof path);
    CHECK_OK(snapshotter_commit(d.s, STR("img"), STR("c"), NULL, 0, NULL));
    CHECK_OK(snapshotter_stat(d.s, STR("img"), &a, &info, NULL));
    CHECK_INT(info.n_inodes, 2);
    CHECK_ERR(snapshotter_mounts(d.s, STR("img"), &m, NULL), -EBUSY);
    CHECK_ERR(snapshotter_remove(d.s, str_of(one.name), NULL), -EBUSY);
    CHECK_OK(snapshotter_remove(d.s, STR("img"), NULL));
    CHECK_OK(snapshotter_remove(d.s, str_of(one.name), NULL));
    for (int i = 1; i <= 2; i++) {
        (void)snprintf(path, sizeof path, "%s/dirs/%d", w.root, i);
        CHECK(access(path, F_OK) < 0);
    }
    arena_fini(&a);
    daemon_close(&d);
    world_fini(&w);
}

static void unpack(struct daemon *d, const struct oci_digest *id)
{
    CHECK_OK(snapshotter_unpack(d->s, id, NULL));
    snapshotter_unpin(d->s, id);
}

/* Nobody took it, or its last snapshot went while a call was about to use it. */
TEST(layers_that_nobody_uses_are_removed_but_not_those_that_a_call_needs)
{
    struct world w;
    struct daemon d;
    struct snapshotter_mount m = { 0 };
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    unpack(&d, &w.ids[0]);
    unpack(&d, &w.ids[1]);
    CHECK_INT(count_names(w.root, "dirs"), 2);
    CHECK_OK(snapshotter_unpack(d.s, &w.ids[1], NULL));
    CHECK_OK(snapshotter_cleanup(d.s, NULL));
    CHECK_INT(count_names(w.root, "dirs"), 1);
    snapshotter_unpin(d.s, &w.ids[1]);
    CHECK_ERR(prepare(&d, "k", "", w.chain_text[0], &m, NULL), -EEXIST);
    CHECK_OK(snapshotter_unpack(d.s, &w.ids[0], NULL));
    CHECK_OK(snapshotter_remove(d.s, str_of(by_ref(&d, w.chain_text[0]).name), NULL));
    CHECK_INT(count_names(w.root, "dirs"), 2);
    snapshotter_unpin(d.s, &w.ids[0]);
    CHECK_OK(snapshotter_cleanup(d.s, NULL));
    CHECK_INT(count_names(w.root, "dirs"), 0);
    daemon_close(&d);
    world_fini(&w);
}

TEST(a_layer_whose_directory_was_lost_does_not_hold_up_others)
{
    struct world w;
    struct daemon d;
    char path[2 * PATH_SIZE];
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    for (int i = 0; i < 2; i++) {
        unpack(&d, &w.ids[i]);
        (void)snprintf(path, sizeof path, "%s/dirs/%d", w.root, i + 1);
        if (i == 0)
            CHECK_OK(tree_remove(AT_FDCWD, path, NULL));
    }
    CHECK_OK(snapshotter_cleanup(d.s, NULL));
    CHECK_INT(count_names(w.root, "dirs"), 0);
    unpack(&d, &w.ids[0]);
    CHECK_INT(count_names(w.root, "dirs"), 1);
    daemon_close(&d);
    world_fini(&w);
}

/* The disk may be full: then snapshots have to be removed. */
TEST(an_unused_layer_that_cannot_be_removed_does_not_hold_up_a_start)
{
    struct world w;
    struct daemon d;
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    unpack(&d, &w.ids[0]);
    daemon_close(&d);
    sys_fail_nth(SYS_PWRITE, 1, ENOSPC);
    CHECK_OK(daemon_open(&w, &d, NULL));
    CHECK_INT(sys_call_count(SYS_PWRITE), 1);
    sys_fail_nth(SYS_PWRITE, 0, 0);
    CHECK_INT(count_names(w.root, "dirs"), 1);
    daemon_close(&d);
    CHECK_OK(daemon_open(&w, &d, NULL));
    CHECK_INT(count_names(w.root, "dirs"), 0);
    daemon_close(&d);
    world_fini(&w);
}

/* What lies on a disk for long may change: the store does not read it again for this. */
TEST(a_layer_that_changed_in_the_store_is_left_to_containerd)
{
    struct world w;
    struct daemon d;
    struct snapshotter_mount m = { 0 };
    struct err err = { 0 };
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    scoped(free_scoped) char *path = oci_store_layer_path(d.store, &w.ids[0], "data.tar");
    scoped(buf_fini_scoped) struct buf tar = BUF_INIT(TEXT_MAX);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &tar, NULL));
    ssize_t at = str_find(buf_str(&tar), STR("content"));
    CHECK(at >= 0);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY, 0);
    CHECK_OK(sys_pwrite_all(fd, "C", 1, (uint64_t)at));
    CHECK_ERR(snapshotter_unpack(d.s, &w.ids[0], &err), E_DIGEST);
    CHECK_INT(count_names(w.root, "dirs"), 0);
    CHECK_INT(count_names(w.root, "tmp"), 0);
    CHECK_INT(prepare(&d, "k", "", w.chain_text[0], &m, NULL), SNAPSHOTTER_MADE);
    snapshotter_mount_fini(&m);
    daemon_close(&d);
    world_fini(&w);
}

TEST(labels_are_changed_one_by_one_or_together)
{
    struct world w;
    struct daemon d;
    struct snapshotter_mount m = { 0 };
    struct snapshot_info info;
    struct arena a = { 0 };
    struct snapshot_label labels[] = { { STR("a"), STR("1") }, { STR("b"), STR("2") } };
    struct str path = STR("labels.b"), other = STR("parent");
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    CHECK_OK(prepare(&d, "k", "", NULL, &m, NULL));
    snapshotter_mount_fini(&m);
    CHECK_OK(snapshotter_label(d.s, STR("k"), labels, 1, NULL, 0, &a, &info, NULL));
    CHECK_INT(info.n_labels, 1);
    CHECK_OK(snapshotter_label(d.s, STR("k"), labels, 2, &path, 1, &a, &info, NULL));
    CHECK_INT(info.n_labels, 2);
    CHECK_STR(info.labels[0].value, "1");
    labels[1].value = STR("");
    CHECK_OK(snapshotter_label(d.s, STR("k"), labels, 2, &path, 1, &a, &info, NULL));
    CHECK_INT(info.n_labels, 1);
    CHECK_ERR(snapshotter_label(d.s, STR("k"), labels, 2, &other, 1, &a, &info, NULL), E_INVALID);
    CHECK_ERR(snapshotter_label(d.s, STR("x"), labels, 2, NULL, 0, &a, &info, NULL), -ENOENT);
    arena_fini(&a);
    daemon_close(&d);
    world_fini(&w);
}

TEST(two_processes_do_not_have_the_same_snapshots)
{
    struct world w;
    struct daemon d, other;
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    CHECK_ERR(daemon_open(&w, &other, NULL), -EBUSY);
    daemon_close(&other);
    daemon_close(&d);
    world_fini(&w);
}

static void put_file(const char *dir, const char *name)
{
    char path[2 * PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, path, STR("x"), 0600, NULL));
}

/* A lock is no sign of it: the node store has one. */
TEST(a_directory_of_others_stays_as_it_is)
{
    static const char *const signs[] = { "other", "lock", "journal" };
    struct world w;
    struct daemon d;
    struct stat st;
    char path[2 * PATH_SIZE];
    world_init(&w);
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        (void)snprintf(path, sizeof path, "%s/tmp", w.root);
        CHECK_OK(sys_mkdir_all(path, 0755, NULL));
        CHECK_OK(chmod(w.root, 0755));
        put_file(path, "precious");
        put_file(w.root, "other");
        put_file(w.root, signs[i]);
        CHECK_ERR(daemon_open(&w, &d, NULL), i == 2 ? E_CORRUPT : E_INVALID);
        daemon_close(&d);
        CHECK_INT(count_names(w.root, "tmp"), 1);
        CHECK_OK(stat(w.root, &st));
        CHECK_INT(st.st_mode & 07777, 0755);
        CHECK_OK(tree_remove(AT_FDCWD, w.root, NULL));
    }
    (void)snprintf(path, sizeof path, "%s/tmp/precious", w.root);
    CHECK_OK(sys_mkdir_all(path, 0755, NULL));
    CHECK_ERR(daemon_open(&w, &d, NULL), E_CORRUPT);
    daemon_close(&d);
    CHECK_INT(count_names(w.root, "tmp"), 1);
    CHECK_OK(tree_remove(AT_FDCWD, w.root, NULL));
    (void)snprintf(path, sizeof path, "%s/lost+found", w.root); /* a file system of its own */
    CHECK_OK(sys_mkdir_all(path, 0700, NULL));
    CHECK_OK(chmod(w.root, 0755));
    CHECK_OK(daemon_open(&w, &d, NULL));
    CHECK_OK(stat(w.root, &st));
    CHECK_INT(st.st_mode & 07777, 0700);
    daemon_close(&d);
    world_fini(&w);
}

TEST(a_damaged_or_missing_journal_removes_nothing)
{
    struct world w;
    struct daemon d;
    struct snapshotter_mount m = { 0 };
    char path[2 * PATH_SIZE], kept[2 * PATH_SIZE];
    char byte = 'x';
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    for (int i = 0; i < 3; i++) {
        char key[] = { 'k', (char)('0' + i), '\0' };
        CHECK_OK(prepare(&d, key, "", NULL, &m, NULL));
        snapshotter_mount_fini(&m);
    }
    daemon_close(&d);
    (void)snprintf(path, sizeof path, "%s/journal", w.root);
    (void)snprintf(kept, sizeof kept, "%s/kept", w.dir);
    CHECK_OK(rename(path, kept));
    CHECK_ERR(daemon_open(&w, &d, NULL), E_CORRUPT);
    daemon_close(&d);
    CHECK_OK(rename(kept, path));
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDWR, 0);
    CHECK_OK(sys_pwrite_all(fd, &byte, 1, 40));
    CHECK_ERR(daemon_open(&w, &d, NULL), E_CORRUPT);
    daemon_close(&d);
    (void)snprintf(path, sizeof path, "%s/dirs/1/fs", w.root);
    CHECK_OK(access(path, F_OK));
    world_fini(&w);
}

TEST(the_end_of_a_journal_that_a_crash_cut_is_dropped)
{
    struct world w;
    struct daemon d;
    struct snapshotter_mount m = { 0 };
    char path[2 * PATH_SIZE];
    struct stat before, after;
    world_init(&w);
    (void)snprintf(path, sizeof path, "%s/journal", w.root);
    CHECK_OK(daemon_open(&w, &d, NULL));
    CHECK_OK(prepare(&d, "a", "", NULL, &m, NULL));
    snapshotter_mount_fini(&m);
    CHECK_OK(stat(path, &before));
    CHECK_OK(prepare(&d, "b", "", NULL, &m, NULL));
    snapshotter_mount_fini(&m);
    CHECK_OK(stat(path, &after));
    daemon_close(&d);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(TEXT_MAX);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &text, NULL));
    for (off_t n = before.st_size; n < after.st_size; n += 7) {
        struct snapshot_state *s = snapshot_state_new();
        struct snapshot_journal *j;
        CHECK_OK(sys_write_file_atomic(AT_FDCWD, path, str_n(text.p, (size_t)n), 0600, NULL));
        CHECK_OK(snapshot_journal_open(AT_FDCWD, path, s, &j, NULL));
        CHECK_INT(snapshot_state_count(s), 1);
        snapshot_journal_free(j);
        snapshot_state_free(s);
    }
    world_fini(&w);
}

TEST(a_damaged_length_is_no_end_of_a_journal)
{
    struct world w;
    struct daemon d;
    struct snapshotter_mount m = { 0 };
    char path[2 * PATH_SIZE];
    world_init(&w);
    (void)snprintf(path, sizeof path, "%s/journal", w.root);
    CHECK_OK(daemon_open(&w, &d, NULL));
    for (int i = 0; i < 3; i++) {
        char key[] = { 'k', (char)('0' + i), '\0' };
        CHECK_OK(prepare(&d, key, "", NULL, &m, NULL));
        snapshotter_mount_fini(&m);
    }
    daemon_close(&d);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(TEXT_MAX);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &text, NULL));
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY, 0);
    int n_records = 0;
    for (size_t at = 8, n; at < text.n; at += 12 + n, n_records++) {
        struct rd r = rd_init(text.p + at, text.n - at);
        n = rd_le32(&r);
        for (int bit = 0; bit < 32; bit++) {
            size_t byte = at + (size_t)bit / 8;
            char flipped = (char)(text.p[byte] ^ 1 << bit % 8);
            CHECK_OK(sys_pwrite_all(fd, &flipped, 1, byte));
            CHECK_ERR(daemon_open(&w, &d, NULL), E_CORRUPT);
            daemon_close(&d);
            CHECK_OK(sys_pwrite_all(fd, &text.p[byte], 1, byte));
        }
    }
    CHECK_INT(n_records, 3);
    CHECK_OK(daemon_open(&w, &d, NULL));
    CHECK_INT(snapshotter_count(d.s), 3);
    daemon_close(&d);
    world_fini(&w);
}

TEST(a_journal_of_which_most_is_past_is_written_anew)
{
    struct world w;
    static char value[SNAPSHOT_LABEL_MAX - 1];
    static const char keys[] = "abcdefgh";
    struct snapshot_label labels[SNAPSHOT_LABELS_BYTES / SNAPSHOT_LABEL_MAX];
    struct snapshot_journal *j;
    struct snapshot_info info;
    struct stat st;
    char path[2 * PATH_SIZE];
    const int n = 3 * SNAPSHOT_JOURNAL_BYTES / SNAPSHOT_LABELS_BYTES;
    world_init(&w);
    (void)snprintf(path, sizeof path, "%s/journal", w.dir);
    scoped(snapshot_state_free_scoped) struct snapshot_state *s = snapshot_state_new();
    scoped(snapshot_state_free_scoped) struct snapshot_state *again = snapshot_state_new();
    CHECK_OK(snapshot_journal_open(AT_FDCWD, path, s, &j, NULL));
    struct snapshot_event e = { .op = SNAPSHOT_ADD,
                                .name = STR("k"),
                                .kind = SNAPSHOT_ACTIVE,
                                .dir = 1,
                                .labels = labels,
                                .n_labels = ARRAY_LEN(labels) };
    for (int i = 0; i < n; i++) {
        memset(value, 'a' + i % 26, sizeof value);
        for (size_t l = 0; l < ARRAY_LEN(labels); l++)
            labels[l] = (struct snapshot_label){ str_n(&keys[l], 1), str_n(value, sizeof value) };
        CHECK_OK(snapshot_journal_do(j, s, &e, NULL));
        e.op = SNAPSHOT_LABEL;
    }
    snapshot_journal_free(j);
    CHECK_OK(stat(path, &st));
    CHECK((uint64_t)st.st_size < SNAPSHOT_JOURNAL_BYTES + 2 * SNAPSHOT_EVENT_MAX);
    CHECK_OK(snapshot_journal_open(AT_FDCWD, path, again, &j, NULL));
    CHECK_OK(snapshot_state_get(again, STR("k"), &info, NULL));
    CHECK_INT(info.n_labels, ARRAY_LEN(labels));
    CHECK(str_eq(info.labels[0].value, str_n(value, sizeof value)));
    snapshot_journal_free(j);
    world_fini(&w);
}

/* ---- calls as bytes ---- */

TEST(calls_are_answered_in_the_bytes_of_containerd)
{
    struct world w;
    struct daemon d;
    struct snapshot_call c;
    struct oci_digest layer;
    struct err err = { 0 };
    /* key: "k", labels: { "a": "b" } */
    static const char request[] = { 0x12, 1, 'k', 0x22, 6, 0x0a, 1, 'a', 0x12, 1, 'b' };
    static const char bind[] = { 0x0a, 4, 'b', 'i', 'n', 'd', 0x12 }, active[] = { 0x18, 2 };
    static const char cut[] = { 0x12, 5, 'k' };
    scoped(buf_fini_scoped) struct buf answer = BUF_INIT(TEXT_MAX);
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    CHECK_OK(snapshot_call_read(SNAPSHOT_CALL_PREPARE, str_n(request, sizeof request), &c, NULL));
    CHECK_STR(c.key, "k");
    CHECK_STR(c.labels[0].value, "b");
    CHECK_INT(snapshot_call_run(d.s, &c, &answer, &layer, &err), SNAPSHOTTER_MADE);
    CHECK(str_find(buf_str(&answer), str_n(bind, sizeof bind)) >= 0);
    snapshot_call_fini(&c);
    buf_reset(&answer);
    CHECK_OK(snapshot_call_read(SNAPSHOT_CALL_LIST, STR(""), &c, NULL));
    CHECK_OK(snapshot_call_run(d.s, &c, &answer, &layer, &err));
    CHECK(str_find(buf_str(&answer), str_n(active, sizeof active)) >= 0);
    snapshot_call_fini(&c);
    CHECK_ERR(snapshot_call_read(SNAPSHOT_CALL_STAT, str_n(cut, sizeof cut), &c, NULL), E_PARSE);
    CHECK_ERR(snapshot_call_read(SNAPSHOT_CALL_UPDATE, STR(""), &c, NULL), E_INVALID);
    daemon_close(&d);
    world_fini(&w);
}

static void prepare_in_bytes(struct daemon *d, int i, struct str value)
{
    struct snapshotter_mount m = { 0 };
    struct oci_digest layer;
    const struct snapshot_label labels[] = { { STR("a"), value }, { STR("b"), value } };
    char key[16];
    (void)snprintf(key, sizeof key, "k%03d", i);
    const struct snapshotter_request req = {
        .key = str_of(key), .kind = SNAPSHOT_ACTIVE, .labels = labels, .n_labels = 2
    };
    CHECK_INT(snapshotter_prepare(d->s, &req, &m, &layer, NULL), SNAPSHOTTER_MADE);
    snapshotter_mount_fini(&m);
}

/* Each snapshot is in one part, and no part is much larger than SNAPSHOT_LIST_BYTES says. */
TEST(a_list_has_parts_of_bounded_size)
{
    enum { SNAPSHOTS = 150 };
    struct world w;
    struct daemon d;
    struct snapshot_call c;
    struct oci_digest layer;
    char value[4000], key[16];
    int n_parts = 0, r = SNAPSHOTTER_MORE;
    scoped(buf_fini_scoped) struct buf part = BUF_INIT(SNAPSHOT_ANSWER_MAX),
                                       all = BUF_INIT(4 << 20);
    memset(value, 'x', sizeof value);
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    for (int i = 0; i < SNAPSHOTS; i++)
        prepare_in_bytes(&d, i, str_n(value, sizeof value));
    CHECK_OK(snapshot_call_read(SNAPSHOT_CALL_LIST, STR(""), &c, NULL));
    while (r == SNAPSHOTTER_MORE) {
        buf_reset(&part);
        r = snapshot_call_run(d.s, &c, &part, &layer, NULL);
        CHECK_OK(r);
        CHECK(part.n <= 4 * (size_t)SNAPSHOT_LIST_BYTES);
        CHECK_OK(buf_add_str(&all, buf_str(&part)));
        n_parts++;
        if (n_parts == 1) { /* one that was listed and one that was not */
            CHECK_OK(snapshotter_remove(d.s, STR("k000"), NULL));
            CHECK_OK(snapshotter_remove(d.s, STR("k149"), NULL));
        }
    }
    CHECK_INT(r, SNAPSHOTTER_MADE);
    CHECK(n_parts > 3);
    for (int i = 0; i < SNAPSHOTS; i++) {
        (void)snprintf(key, sizeof key, "k%03d\x18",
                       i); /* and its kind, since there is no parent */
        ptrdiff_t at = str_find(buf_str(&all), str_of(key));
        CHECK((at >= 0) == (i != 149));
        CHECK(at < 0 || str_find(str_slice(buf_str(&all), (size_t)at + 1, all.n), str_of(key)) < 0);
    }
    snapshot_call_fini(&c);
    daemon_close(&d);
    world_fini(&w);
}

TEST(what_takes_as_long_as_a_tree_is_large_is_told_before)
{
    struct world w;
    struct daemon d;
    struct snapshot_call c;
    struct oci_digest layer;
    struct err err = { 0 };
    static const char key[] = { 0x12, 4, 'k', '0', '0', '0' };
    /* name: "i", key: "k000", parent: "p" */
    static const char rebase[] = { 0x12, 1, 'i', 0x1a, 4, 'k', '0', '0', '0', 0x2a, 1, 'p' };
    static const char commit[] = { 0x12, 1, 'i', 0x1a, 4, 'k', '0', '0', '0' };
    static const char committed[] = { 0x12, 1, 'i' };
    const struct {
        enum snapshot_method method;
        struct str request;
        int first, second;
    } cases[] = {
        { SNAPSHOT_CALL_USAGE, str_n(key, sizeof key), SNAPSHOTTER_WANTS_WALK, SNAPSHOTTER_MADE },
        { SNAPSHOT_CALL_COMMIT, str_n(rebase, sizeof rebase), SNAPSHOTTER_WANTS_WALK,
          E_UNSUPPORTED },
        { SNAPSHOT_CALL_COMMIT, str_n(commit, sizeof commit), SNAPSHOTTER_WANTS_WALK,
          SNAPSHOTTER_MADE },
        { SNAPSHOT_CALL_USAGE, str_n(committed, sizeof committed), SNAPSHOTTER_MADE, 0 },
        { SNAPSHOT_CALL_REMOVE, str_n(committed, sizeof committed), SNAPSHOTTER_WANTS_WALK,
          SNAPSHOTTER_MADE },
        { SNAPSHOT_CALL_USAGE, str_n(committed, sizeof committed), -ENOENT, 0 },
        { SNAPSHOT_CALL_CLEANUP, STR(""), SNAPSHOTTER_WANTS_WALK, SNAPSHOTTER_MADE },
    };
    world_init(&w);
    CHECK_OK(daemon_open(&w, &d, NULL));
    prepare_in_bytes(&d, 0, STR("v"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        scoped(buf_fini_scoped) struct buf answer = BUF_INIT(TEXT_MAX);
        CHECK_OK(snapshot_call_read(cases[i].method, cases[i].request, &c, NULL));
        CHECK_INT(snapshot_call_run(d.s, &c, &answer, &layer, &err), cases[i].first);
        c.may_walk = true;
        if (cases[i].first == SNAPSHOTTER_WANTS_WALK)
            CHECK_INT(snapshot_call_run(d.s, &c, &answer, &layer, &err), cases[i].second);
        snapshot_call_fini(&c);
    }
    daemon_close(&d);
    world_fini(&w);
}

static int make_file(int dir, const char *name)
{
    int fd = sys_openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    return fd < 0 ? fd : close(fd);
}

TEST(usage_counts_links_once_and_directories_of_any_size)
{
    enum { FILES = 3000, DEPTH = 300 };
    struct world w;
    char name[32], path[2 * PATH_SIZE];
    uint64_t n_bytes, n_inodes;
    world_init(&w);
    (void)snprintf(path, sizeof path, "%s/tree", w.dir);
    CHECK_OK(mkdir(path, 0700));
    scoped(fd_scoped) int at = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    CHECK_OK(at);
    for (int i = 0; i < FILES; i++) {
        (void)snprintf(name, sizeof name, "a file of number %d", i);
        CHECK_OK(make_file(at, name));
    }
    CHECK_OK(linkat(at, "a file of number 0", at, "link", 0));
    CHECK_OK(symlinkat("..", at, "away"));
    int dir = dup(at);
    for (int i = 0; i < DEPTH; i++) { /* longer than a path may be */
        CHECK_OK(mkdirat(dir, "a directory of those below it", 0700));
        int below = sys_openat(dir, "a directory of those below it", O_RDONLY | O_DIRECTORY, 0);
        CHECK_OK(below);
        (void)close(dir);
        dir = below;
    }
    CHECK_OK(make_file(dir, "last"));
    (void)close(dir);
    CHECK_OK(snapshot_usage(path, &n_bytes, &n_inodes, NULL));
    CHECK_INT(n_inodes, 1 + FILES + 1 + DEPTH + 1);
    CHECK_ERR(snapshot_usage("/no/such/tree", &n_bytes, &n_inodes, NULL), -ENOENT);
    world_fini(&w);
}

/* More names than tree_remove() holds at once, in the tree and in a directory of it. */
TEST(a_directory_of_very_many_names_is_removed)
{
    enum { FILES = (1 << 16) + 100, LINKS = 30000 };
    struct world w;
    char name[16], base[16], path[2 * PATH_SIZE];
    world_init(&w);
    for (int k = 0; k < 2; k++) {
        (void)snprintf(path, sizeof path, "%s/many%s", w.dir, k ? "/below" : "");
        CHECK_OK(mkdir(path, 0700));
        scoped(fd_scoped) int at = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
        CHECK_OK(at);
        for (int i = 0; i < FILES; i++) { /* names are made faster than files; ext4 takes 65,000 */
            (void)snprintf(name, sizeof name, "%d", i);
            (void)snprintf(base, sizeof base, "%d", i - i % LINKS);
            CHECK_OK(i % LINKS ? linkat(at, base, at, name, 0) : make_file(at, name));
        }
    }
    world_fini(&w); /* it is in there */
}

/* ---- torture ---- */

enum { OPS = 9 };

/* Operation `i` of the script. -EEXIST of a prepared layer is success. */
static int do_op(struct daemon *d, const struct world *w, int i, struct err *err)
{
    struct snapshotter_mount m = { 0 };
    struct arena a = { 0 };
    struct snapshot_info info;
    const struct snapshot_label label = { STR("l"), STR("v") };
    int r = 0;
    switch (i) {
    case 0:
        r = prepare(d, "k0", "", w->chain_text[0], &m, err);
        break;
    case 1:
        r = prepare(d, "k1", by_ref(d, w->chain_text[0]).name, w->chain_text[1], &m, err);
        break;
    case 2:
        r = prepare(d, "c", by_ref(d, w->chain_text[1]).name, NULL, &m, err);
        break;
    case 3:
        r = snapshotter_commit(d->s, STR("img"), STR("c"), &label, 1, err);
        break;
    case 4:
        r = prepare(d, "c2", "img", NULL, &m, err);
        break;
    case 5:
        r = snapshotter_label(d->s, STR("c2"), &label, 1, NULL, 0, &a, &info, err);
        break;
    case 6:
        r = snapshotter_remove(d->s, STR("c2"), err);
        break;
    case 7:
        r = snapshotter_remove(d->s, STR("img"), err);
        break;
    case 8:
        r = snapshotter_remove(d->s, str_of(by_ref(d, w->chain_text[1]).name), err);
        break;
    default:
        break;
    }
    snapshotter_mount_fini(&m);
    arena_fini(&a);
    if (i < 2 && r >= 0) { /* left to containerd, since the layer could not be written */
        (void)snapshotter_remove(d->s, i ? STR("k1") : STR("k0"), NULL);
        return -EIO;
    }
    return i < 2 && r == -EEXIST ? 0 : r;
}

struct script {
    char *after[OPS + 1]; /* pictures; [0] of nothing */
};

static void script_init(struct script *t, const struct world *w)
{
    struct daemon d;
    CHECK_OK(daemon_open(w, &d, NULL));
    t->after[0] = picture(&d);
    for (int i = 0; i < OPS; i++) {
        struct err err = { 0 };
        if (do_op(&d, w, i, &err) < 0)
            TEST_FAIL("operation %d: %s", i, err_text(&err));
        t->after[i + 1] = picture(&d);
    }
    daemon_close(&d);
    CHECK_OK(tree_remove(AT_FDCWD, w->root, NULL));
}

static void script_fini(struct script *t)
{
    for (int i = 0; i <= OPS; i++)
        free(t->after[i]);
}

static int count_dirs(void *arg, const struct snapshot_event *e)
{
    size_t *n = arg;
    *n += e->op == SNAPSHOT_LAYER || (e->op == SNAPSHOT_ADD && !e->is_layer);
    return 0;
}

/* After `done` answered operations, one more perhaps: the state is one of the two, and the disk
 * holds what it names and nothing else. Removes all. */
static void check_after(const struct world *w, const struct script *t, int done, const char *what,
                        unsigned nth)
{
    struct daemon d;
    struct err err = { 0 };
    size_t n = 0;
    if (daemon_open(w, &d, &err) < 0)
        TEST_FAIL("after %s %u: %s", what, nth, err_text(&err));
    scoped(free_scoped) char *now = picture(&d);
    if (strcmp(now, t->after[done]) != 0 && (done == OPS || strcmp(now, t->after[done + 1]) != 0))
        TEST_FAIL("after %s %u and %d operations:\n%s", what, nth, done, now);
    CHECK_OK(snapshotter_each(d.s, count_dirs, &n));
    CHECK_INT(count_names(w->root, "dirs"), n);
    CHECK_INT(count_names(w->root, "tmp"), 0);
    CHECK_INT(count_names(w->root, "trash"), 0);
    daemon_close(&d);
    CHECK_OK(tree_remove(AT_FDCWD, w->root, NULL));
}

static const enum sys_call calls[] = { SYS_PWRITE,   SYS_WRITE,     SYS_FSYNC,
                                       SYS_RENAMEAT, SYS_MKDIRAT,   SYS_UNLINKAT,
                                       SYS_OPENAT,   SYS_FALLOCATE, SYS_FTRUNCATE };

/* -ENOSPC and others: the operation fails, is the same as not asked, and works when asked again. */
TEST(a_disk_that_refuses_changes_nothing)
{
    struct world w;
    struct script t;
    world_init(&w);
    script_init(&t, &w);
    for (size_t c = 0; c < ARRAY_LEN(calls); c++)
        for (unsigned nth = 1;; nth++) {
            struct daemon d;
            int done = 0;
            CHECK_OK(daemon_open(&w, &d, NULL));
            sys_fail_nth(calls[c], nth, nth % 2 ? ENOSPC : EIO);
            for (; done < OPS; done++) {
                struct err err = { 0 };
                if (do_op(&d, &w, done, &err) >= 0)
                    continue;
                scoped(free_scoped) char *now = picture(&d);
                if (strcmp(now, t.after[done]) != 0)
                    TEST_FAIL("call %d %u failed operation %d halfway: %s\n%s", calls[c], nth, done,
                              err_text(&err), now);
                if (do_op(&d, &w, done, &err) < 0)
                    TEST_FAIL("operation %d again: %s", done, err_text(&err));
            }
            unsigned n = sys_call_count(calls[c]);
            sys_fail_nth(calls[c], 0, 0);
            daemon_close(&d);
            check_after(&w, &t, OPS, "fault", nth);
            if (n < nth)
                break;
        }
    script_fini(&t);
    world_fini(&w);
}

TEST(killed_at_any_call_what_was_answered_is_there)
{
    struct world w;
    struct script t;
    int *done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(done != MAP_FAILED);
    world_init(&w);
    script_init(&t, &w);
    for (size_t c = 0; c < ARRAY_LEN(calls); c++)
        for (unsigned nth = 1;; nth++) {
            int status;
            *done = 0;
            pid_t pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                struct daemon d;
                sys_fail_nth(calls[c], nth, SYS_FAIL_KILL);
                CHECK_OK(daemon_open(&w, &d, NULL));
                for (; *done < OPS; ++*done)
                    CHECK_OK(do_op(&d, &w, *done, NULL));
                _exit(0);
            }
            CHECK_INT(waitpid(pid, &status, 0), pid);
            CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
            check_after(&w, &t, *done, "kill", nth);
            if (WIFEXITED(status))
                break;
        }
    CHECK_OK(munmap(done, sizeof *done));
    script_fini(&t);
    world_fini(&w);
}

int main(int argc, char **argv)
{
    if (argc > 1 && str_is(str_of(argv[1]), LAYER_CHILD_WORD))
        return layer_child_main(argc, argv);
    (void)signal(SIGPIPE, SIG_IGN);
    if (geteuid() != 0) {
        (void)printf("1..0 # SKIP files of all owners take root\n");
        return 0;
    }
    return test_main(argc, argv);
}
