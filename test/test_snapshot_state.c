/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots as a state: the rules of containerd's interface, against a naive twin; events as bytes;
 * filters. */
#include "image/snapshot_filter.h"
#include "image/snapshot_state.h"
#include "test.h"

#include <errno.h>

static struct oci_digest digest_of(uint8_t n)
{
    struct oci_digest d = { { n, 1, 2 } };
    return d;
}

static int put(struct snapshot_state *s, const struct snapshot_event *e)
{
    int r = snapshot_state_check(s, e, NULL);
    if (r >= 0)
        snapshot_state_apply(s, e);
    return r;
}

static int add(struct snapshot_state *s, const char *name, const char *parent,
               enum snapshot_kind kind, uint64_t dir)
{
    const struct snapshot_event e = { .op = SNAPSHOT_ADD,
                                      .name = str_of(name),
                                      .parent = str_of(parent),
                                      .kind = kind,
                                      .dir = dir,
                                      .wall_us = 7 };
    return put(s, &e);
}

static int commit(struct snapshot_state *s, const char *name, const char *key)
{
    const struct snapshot_event e = { .op = SNAPSHOT_COMMIT,
                                      .name = str_of(name),
                                      .key = str_of(key),
                                      .wall_us = 8,
                                      .n_bytes = 100,
                                      .n_inodes = 3 };
    return put(s, &e);
}

static int removes(struct snapshot_state *s, const char *name)
{
    const struct snapshot_event e = { .op = SNAPSHOT_REMOVE, .name = str_of(name) };
    return put(s, &e);
}

static int layer(struct snapshot_state *s, uint8_t id, uint64_t dir, bool is_base)
{
    const struct snapshot_event e = { .op = SNAPSHOT_LAYER,
                                      .diff_id = digest_of(id),
                                      .dir = dir,
                                      .n_bytes = 50,
                                      .n_inodes = 2,
                                      .is_base = is_base };
    return put(s, &e);
}

static int add_layer(struct snapshot_state *s, const char *name, const char *parent, uint8_t id,
                     uint64_t dir, const char *ref)
{
    const struct snapshot_label label = { STR(SNAPSHOT_REF_LABEL), str_of(ref) };
    const struct snapshot_event e = { .op = SNAPSHOT_ADD,
                                      .name = str_of(name),
                                      .parent = str_of(parent),
                                      .kind = SNAPSHOT_COMMITTED,
                                      .dir = dir,
                                      .is_layer = true,
                                      .diff_id = digest_of(id),
                                      .labels = &label,
                                      .n_labels = 1 };
    return put(s, &e);
}

static int unlayer(struct snapshot_state *s, uint8_t id)
{
    const struct snapshot_event e = { .op = SNAPSHOT_UNLAYER, .diff_id = digest_of(id) };
    return put(s, &e);
}

TEST(a_snapshot_is_written_committed_and_removed)
{
    struct snapshot_info info;
    scoped(snapshot_state_free_scoped) struct snapshot_state *s = snapshot_state_new();
    CHECK_OK(add(s, "a", "", SNAPSHOT_ACTIVE, 1));
    CHECK_ERR(add(s, "a", "", SNAPSHOT_ACTIVE, 2), -EEXIST);
    CHECK_ERR(add(s, "b", "a", SNAPSHOT_ACTIVE, 2), E_INVALID); /* not committed */
    CHECK_ERR(add(s, "b", "x", SNAPSHOT_ACTIVE, 2), -ENOENT);
    CHECK_ERR(add(s, "b", "", SNAPSHOT_ACTIVE, 1), E_INVALID); /* its directory is another's */
    CHECK_OK(commit(s, "A", "a"));
    CHECK_ERR(commit(s, "A", "a"), -EEXIST); /* again */
    CHECK_ERR(commit(s, "B", "a"), -ENOENT);
    CHECK_ERR(commit(s, "B", "A"), -EBUSY); /* not active */
    CHECK_OK(add(s, "v", "A", SNAPSHOT_VIEW, 2));
    CHECK_ERR(commit(s, "V", "v"), -EBUSY);
    CHECK_ERR(removes(s, "A"), -EBUSY); /* has a child */
    CHECK_OK(snapshot_state_get(s, STR("A"), &info, NULL));
    CHECK_INT(info.kind, SNAPSHOT_COMMITTED);
    CHECK_INT(info.dir, 1);
    CHECK_INT(info.n_bytes, 100);
    CHECK_INT(info.created_wall_us, 7);
    CHECK_INT(info.updated_wall_us, 8);
    CHECK_OK(removes(s, "v"));
    CHECK_OK(removes(s, "A"));
    CHECK_ERR(removes(s, "A"), -ENOENT);
    CHECK_INT(snapshot_state_count(s), 0);
    CHECK_INT(snapshot_state_highest_dir(s), 2);
}

TEST(snapshots_of_one_layer_share_its_directory)
{
    uint64_t lowers[SNAPSHOT_DEPTH_MAX];
    size_t n;
    struct snapshot_layer found;
    struct snapshot_info info;
    const struct oci_digest id = digest_of(1);
    scoped(snapshot_state_free_scoped) struct snapshot_state *s = snapshot_state_new();
    CHECK_ERR(add_layer(s, "l", "", 1, 1, "sha256:1"), E_INVALID);
    CHECK_OK(layer(s, 1, 1, false));
    CHECK_OK(layer(s, 2, 2, false));
    CHECK_ERR(layer(s, 3, 2, false), E_INVALID); /* the directory is a layer's */
    CHECK_OK(add_layer(s, "l1", "", 1, 1, "one"));
    CHECK_OK(add_layer(s, "l2", "l1", 2, 2, "two"));
    CHECK_OK(add_layer(s, "l3", "l2", 1, 1, "three"));
    CHECK_OK(add(s, "c", "l3", SNAPSHOT_ACTIVE, 3));
    CHECK_OK(snapshot_state_lowers(s, STR("c"), lowers, &n));
    CHECK_INT(n, 2); /* overlayfs takes no directory twice, and the upper one hides the lower */
    CHECK_INT(lowers[0], 1);
    CHECK_INT(lowers[1], 2);
    CHECK(snapshot_state_layer(s, &id, &found));
    CHECK_INT(found.n_snapshots, 2);
    CHECK_ERR(unlayer(s, 1), -EBUSY);
    CHECK(snapshot_state_find(s, STR("l1"), STR("two"), &info));
    CHECK_STR(info.name, "l2");
    CHECK(!snapshot_state_find(s, STR("l2"), STR("two"), &info));
    CHECK(!snapshot_state_find(s, STR(""), STR("two"), &info));
    CHECK_OK(removes(s, "c"));
    CHECK_OK(removes(s, "l3"));
    CHECK_OK(removes(s, "l2"));
    CHECK_OK(removes(s, "l1"));
    CHECK_OK(unlayer(s, 1));
    CHECK(!snapshot_state_has_dir(s, 1) && snapshot_state_has_dir(s, 2));
}

TEST(a_layer_without_its_parents_directories_is_the_lowest_only)
{
    scoped(snapshot_state_free_scoped) struct snapshot_state *s = snapshot_state_new();
    CHECK_OK(layer(s, 1, 1, true));
    CHECK_OK(add_layer(s, "l1", "", 1, 1, "one"));
    CHECK_ERR(add_layer(s, "l2", "l1", 1, 1, "two"), E_INVALID);
}

TEST(names_and_labels_are_bounded_text)
{
    static char long_name[SNAPSHOT_NAME_MAX + 2];
    scoped(snapshot_state_free_scoped) struct snapshot_state *s = snapshot_state_new();
    memset(long_name, 'n', SNAPSHOT_NAME_MAX + 1);
    CHECK_ERR(add(s, long_name, "", SNAPSHOT_ACTIVE, 1), E_INVALID);
    long_name[SNAPSHOT_NAME_MAX] = '\0';
    CHECK_OK(add(s, long_name, "", SNAPSHOT_ACTIVE, 1));
    CHECK_ERR(add(s, "", "", SNAPSHOT_ACTIVE, 2), E_INVALID);
    CHECK_ERR(add(s, "a\nb", "", SNAPSHOT_ACTIVE, 2), E_INVALID);
    CHECK_ERR(add(s, "\xff", "", SNAPSHOT_ACTIVE, 2), E_INVALID);
    struct snapshot_label labels[SNAPSHOT_LABELS_MAX + 1];
    char keys[SNAPSHOT_LABELS_MAX + 1][8];
    for (size_t i = 0; i <= SNAPSHOT_LABELS_MAX; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "k%zu", i);
        labels[i] = (struct snapshot_label){ str_of(keys[i]), STR("v") };
    }
    struct snapshot_event e = { .op = SNAPSHOT_LABEL,
                                .name = str_of(long_name),
                                .labels = labels,
                                .n_labels = SNAPSHOT_LABELS_MAX + 1 };
    CHECK_ERR(put(s, &e), E_INVALID);
    e.n_labels = SNAPSHOT_LABELS_MAX;
    CHECK_OK(put(s, &e));
    labels[1].key = labels[0].key;
    CHECK_ERR(put(s, &e), E_INVALID); /* twice */
    static char value[SNAPSHOT_LABEL_MAX];
    memset(value, 'v', sizeof value);
    e.n_labels = 1;
    labels[0].value = str_n(value, SNAPSHOT_LABEL_MAX - 1); /* with its key of two too long */
    CHECK_ERR(put(s, &e), E_INVALID);
    labels[0].value.n--;
    CHECK_OK(put(s, &e));
}

TEST(parents_are_not_stacked_for_ever)
{
    char name[16], parent[16] = "";
    uint64_t lowers[SNAPSHOT_DEPTH_MAX];
    size_t n;
    scoped(snapshot_state_free_scoped) struct snapshot_state *s = snapshot_state_new();
    for (uint64_t i = 1; i <= SNAPSHOT_DEPTH_MAX; i++) {
        (void)snprintf(name, sizeof name, "n%u", (unsigned)i);
        CHECK_OK(add(s, name, parent, SNAPSHOT_COMMITTED, i));
        memcpy(parent, name, sizeof parent);
    }
    CHECK_ERR(add(s, "more", parent, SNAPSHOT_ACTIVE, 1000), E_LIMIT);
    CHECK_OK(snapshot_state_lowers(s, str_of(parent), lowers, &n));
    CHECK_INT(n, SNAPSHOT_DEPTH_MAX - 1);
}

/* The chain IDs of three layers as image-spec's formula gives them with another program. */
static int repeat(void *arg, const struct snapshot_event *e)
{
    struct arena a = { 0 };
    struct snapshot_event read;
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(SNAPSHOT_EVENT_MAX);
    snapshot_event_encode(e, &bytes);
    CHECK_OK(snapshot_event_decode(&a, buf_str(&bytes), &read, NULL));
    CHECK_OK(put(arg, &read));
    arena_fini(&a);
    return 0;
}

/* Committed over a parent with a long name: a journal that is written anew has it otherwise than
 * the one that grew. */
TEST(a_state_at_its_limit_can_be_repeated)
{
    static char name[SNAPSHOT_NAME_MAX + 1], value[SNAPSHOT_LABEL_MAX - 1];
    static const char keys[] = "abcdefgh";
    struct snapshot_label labels[SNAPSHOT_LABELS_BYTES / SNAPSHOT_LABEL_MAX];
    char own[16];
    int r = 0;
    scoped(snapshot_state_free_scoped) struct snapshot_state *s = snapshot_state_new();
    scoped(snapshot_state_free_scoped) struct snapshot_state *again = snapshot_state_new();
    memset(name, 'p', SNAPSHOT_NAME_MAX);
    memset(value, 'v', sizeof value);
    for (size_t i = 0; i < ARRAY_LEN(labels); i++)
        labels[i] = (struct snapshot_label){ str_n(&keys[i], 1), str_n(value, sizeof value) };
    CHECK_OK(add(s, name, "", SNAPSHOT_COMMITTED, 1));
    for (unsigned i = 2; r >= 0; i++) {
        (void)snprintf(own, sizeof own, "n%u", i);
        const struct snapshot_event e = { .op = SNAPSHOT_COMMIT,
                                          .name = str_of(own),
                                          .key = STR("k"),
                                          .labels = labels,
                                          .n_labels = ARRAY_LEN(labels) };
        CHECK_OK(add(s, "k", name, SNAPSHOT_ACTIVE, i));
        r = put(s, &e);
    }
    CHECK_ERR(r, E_LIMIT);
    CHECK(snapshot_state_count(s) > 3000);
    CHECK_OK(snapshot_state_each(s, repeat, again));
    CHECK_INT(snapshot_state_count(again), snapshot_state_count(s));
}

TEST(chain_ids_are_those_of_the_image_specification)
{
    struct oci_digest a, b, got, want;
    CHECK_OK(oci_digest_parse(
        STR("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"), &a, NULL));
    CHECK_OK(oci_digest_parse(
        STR("sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), &b, NULL));
    CHECK_OK(oci_digest_parse(
        STR("sha256:a893da35bd22286079f2f3931516d3423eb9b4945f2379e0f8a501ec3d665dd6"), &want,
        NULL));
    snapshot_chain_id(NULL, &a, &got);
    CHECK(oci_digest_equal(&got, &a));
    snapshot_chain_id(&a, &b, &got);
    CHECK(oci_digest_equal(&got, &want));
}

/* ---- the twin: a list ---- */

enum { TWIN_MAX = 24, STEPS = 4000 };

struct twin_one {
    bool is_there;
    char name[4], parent[4];
    enum snapshot_kind kind;
    uint64_t dir;
};

static struct twin_one *twin_find(struct twin_one *all, const char *name)
{
    for (size_t i = 0; i < TWIN_MAX; i++)
        if (all[i].is_there && strcmp(all[i].name, name) == 0)
            return &all[i];
    return NULL;
}

static int twin_add(struct twin_one *all, const char *name, const char *parent,
                    enum snapshot_kind kind, uint64_t dir)
{
    const struct twin_one *p = *parent ? twin_find(all, parent) : NULL;
    if (twin_find(all, name))
        return -EEXIST;
    if (*parent && !p)
        return -ENOENT;
    if (p && p->kind != SNAPSHOT_COMMITTED)
        return E_INVALID;
    for (size_t i = 0; i < TWIN_MAX; i++)
        if (!all[i].is_there) {
            all[i] = (struct twin_one){ .is_there = true, .kind = kind, .dir = dir };
            (void)snprintf(all[i].name, sizeof all[i].name, "%s", name);
            (void)snprintf(all[i].parent, sizeof all[i].parent, "%s", parent);
            return 0;
        }
    TEST_FAIL("the twin is full");
}

static int twin_commit(struct twin_one *all, const char *name, const char *key)
{
    struct twin_one *k = twin_find(all, key);
    if (twin_find(all, name))
        return -EEXIST;
    if (!k)
        return -ENOENT;
    if (k->kind != SNAPSHOT_ACTIVE)
        return -EBUSY;
    k->kind = SNAPSHOT_COMMITTED;
    (void)snprintf(k->name, sizeof k->name, "%s", name);
    return 0;
}

static int twin_remove(struct twin_one *all, const char *name)
{
    struct twin_one *k = twin_find(all, name);
    if (!k)
        return -ENOENT;
    for (size_t i = 0; i < TWIN_MAX; i++)
        if (all[i].is_there && strcmp(all[i].parent, name) == 0)
            return -EBUSY;
    k->is_there = false;
    return 0;
}

static void compare(const struct snapshot_state *s, struct twin_one *all)
{
    size_t n = 0;
    for (size_t i = 0; i < TWIN_MAX; i++) {
        struct snapshot_info info;
        uint64_t lowers[SNAPSHOT_DEPTH_MAX];
        size_t n_lowers, at = 0;
        if (!all[i].is_there)
            continue;
        n++;
        CHECK_OK(snapshot_state_get(s, str_of(all[i].name), &info, NULL));
        CHECK_STR(info.parent, all[i].parent);
        CHECK_INT(info.kind, all[i].kind);
        CHECK_INT(info.dir, all[i].dir);
        CHECK(snapshot_state_has_dir(s, all[i].dir));
        CHECK_OK(snapshot_state_lowers(s, str_of(all[i].name), lowers, &n_lowers));
        for (const struct twin_one *t = &all[i]; *t->parent; at++) {
            t = twin_find(all, t->parent);
            CHECK(t && at < n_lowers && lowers[at] == t->dir);
        }
        CHECK_INT(at, n_lowers);
    }
    CHECK_INT(snapshot_state_count(s), n);
}

/* One event for both. Layers come at random, with the state alone: their rules have tests above. */
static void step(struct snapshot_state *s, struct twin_one *all, uint64_t dir)
{
    char name[4], other[4];
    (void)snprintf(name, sizeof name, "%u", (unsigned)test_random_below(TWIN_MAX - 4));
    (void)snprintf(other, sizeof other, "%u", (unsigned)test_random_below(TWIN_MAX - 4));
    const char *parent = test_random_below(3) ? other : "";
    enum snapshot_kind kind = test_random_below(4) ? SNAPSHOT_ACTIVE : SNAPSHOT_VIEW;
    switch (test_random_below(3)) {
    case 0:
        CHECK_INT(add(s, name, parent, kind, dir), twin_add(all, name, parent, kind, dir));
        break;
    case 1:
        CHECK_INT(commit(s, name, other), twin_commit(all, name, other));
        break;
    default:
        CHECK_INT(removes(s, name), twin_remove(all, name));
        break;
    }
}

struct listed {
    char last[SNAPSHOT_NAME_MAX + 1];
    size_t n, stop_at;
};

static int list_one(void *arg, const struct snapshot_event *e)
{
    struct listed *l = arg;
    CHECK(e->op == SNAPSHOT_ADD && str_cmp(e->name, str_of(l->last)) > 0);
    (void)snprintf(l->last, sizeof l->last, STR_FMT, STR_ARG(e->name));
    return ++l->n == l->stop_at ? 7 : 0;
}

/* In pieces, which may end before they are full: all of them, in the order of their names. */
static void list_in_pieces(const struct snapshot_state *s)
{
    struct listed l = { 0 };
    for (size_t most = 1 + test_random_below(4), n = most; n == most;) {
        l.stop_at = l.n + 1 + test_random_below(4);
        int r = snapshot_state_after(s, str_of(l.last), most, list_one, &l, &n);
        CHECK(r == 0 || (r == 7 && l.n == l.stop_at));
        n = r ? most : n;
    }
    CHECK_INT(l.n, snapshot_state_count(s));
}

TEST(random_events_do_what_they_do_to_the_twin)
{
    struct twin_one all[TWIN_MAX] = { 0 };
    struct snapshot_state *s = snapshot_state_new();
    for (uint64_t n = 1; n <= STEPS; n++) {
        step(s, all, n);
        compare(s, all);
        if (n % 10 == 0)
            list_in_pieces(s);
        if (n % 50 == 0) { /* as a restart does */
            struct snapshot_state *again = snapshot_state_new();
            CHECK_OK(snapshot_state_each(s, repeat, again));
            snapshot_state_free(s);
            s = again;
            compare(s, all);
        }
    }
    snapshot_state_free(s);
}

/* ---- bytes ---- */

TEST(cut_records_are_refused)
{
    const struct snapshot_label label = { STR("k"), STR("v") };
    const struct snapshot_event e = { .op = SNAPSHOT_ADD,
                                      .name = STR("name"),
                                      .parent = STR("parent"),
                                      .kind = SNAPSHOT_VIEW,
                                      .dir = 5,
                                      .labels = &label,
                                      .n_labels = 1 };
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(SNAPSHOT_EVENT_MAX);
    struct snapshot_event read;
    struct arena a = { 0 };
    snapshot_event_encode(&e, &bytes);
    for (size_t n = 0; n < bytes.n; n++)
        CHECK_ERR(snapshot_event_decode(&a, str_n(bytes.p, n), &read, NULL), E_PARSE);
    CHECK_OK(snapshot_event_decode(&a, buf_str(&bytes), &read, NULL));
    CHECK_STR(read.labels[0].value, "v");
    CHECK_OK(buf_add_char(&bytes, 'x'));
    CHECK_ERR(snapshot_event_decode(&a, buf_str(&bytes), &read, NULL), E_PARSE);
    arena_fini(&a);
}

/* ---- filters ---- */

static int matches(const char *text)
{
    const struct snapshot_label label = { STR(SNAPSHOT_REF_LABEL), STR("sha256:ab") };
    const struct snapshot_event e = { .op = SNAPSHOT_ADD,
                                      .name = STR("default/1/x"),
                                      .kind = SNAPSHOT_COMMITTED,
                                      .labels = &label,
                                      .n_labels = 1 };
    const struct str one = str_of(text);
    struct snapshot_filter *f;
    int r = snapshot_filter_new(&one, 1, &f, NULL);
    if (r < 0)
        return r;
    r = snapshot_filter_matches(f, &e);
    snapshot_filter_free(f);
    return r;
}

TEST(filters_are_those_of_containerd)
{
    CHECK_INT(matches("labels.\"containerd.io/snapshot.ref\"==sha256:ab,parent==\"\""), 1);
    CHECK_INT(matches("labels.\"containerd.io/snapshot.ref\"==sha256:ac,parent==\"\""), 0);
    CHECK_INT(matches("labels.\"containerd.io/snapshot.ref\"==sha256:ab,parent==\"x\""), 0);
    CHECK_INT(matches("kind==committed"), 1);
    CHECK_INT(matches("kind!=committed"), 0);
    CHECK_INT(matches("name==\"default/1/x\""), 1);
    CHECK_INT(matches("labels.absent"), 0);
    CHECK_INT(matches("labels.\"containerd.io/snapshot.ref\""), 1);
    CHECK_INT(matches("labels.absent!=x"), 1);
    CHECK_INT(matches("other==x"), 0);
    CHECK_INT(matches(""), 1);
    CHECK_ERR(matches("name~=x"), E_UNSUPPORTED);
    CHECK_ERR(matches("name=="), E_PARSE);
    CHECK_ERR(matches("name==\"x"), E_PARSE);
    CHECK_ERR(matches("name==a b"), E_PARSE);
    CHECK_ERR(matches(",name"), E_PARSE);
    CHECK_ERR(matches("name,name,name,name,name,name,name,name,name,name,name,name,name,name,name,"
                      "name,name"),
              E_LIMIT);
}

TEST_MAIN
