/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a layer cache: restarts, growth, damage, and a disk that refuses. */
#include "base/buf.h"
#include "base/sys.h"
#include "base/vec.h"
#include "image/cache_journal.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define NAME "journal"

struct node {
    struct image_cache *c;
    struct image_cache_journal *j;
    enum image_cache_journal_state state;
    char dir[64];
    int dir_fd;
};

static void on_event(void *arg, const struct image_cache_event *e)
{
    struct node *n = arg;
    if (n->j)
        image_cache_journal_note(n->j, e, 1);
}

static void boot(struct node *n)
{
    struct err err;
    n->j = NULL;
    n->c = image_cache_new(
        &(struct image_cache_options){ .capacity = 1000, .on_event = on_event, .arg = n });
    CHECK_OK(image_cache_journal_open(n->dir_fd, NAME, n->c, &n->j, &n->state, &err));
}

static void halt(struct node *n)
{
    image_cache_journal_free(n->j);
    image_cache_free(n->c);
}

static void node_init(struct node *n)
{
    *n = (struct node){ .dir_fd = -1 };
    (void)snprintf(n->dir, sizeof n->dir, "/tmp/test-image-cache-XXXXXX");
    CHECK(mkdtemp(n->dir));
    n->dir_fd = open(n->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(n->dir_fd >= 0);
    boot(n);
}

static void node_fini(struct node *n)
{
    halt(n);
    (void)unlinkat(n->dir_fd, NAME, 0);
    (void)close(n->dir_fd);
    CHECK(rmdir(n->dir) == 0); /* no temporary file is left */
}

static void flush(struct node *n)
{
    struct err err;
    CHECK_OK(image_cache_journal_flush(n->j, n->c, 1, &err));
}

static void key_of(uint64_t id, uint8_t key[SHA256_BYTES])
{
    memset(key, 0, SHA256_BYTES);
    memcpy(key, &id, sizeof id);
}

static void ask(struct node *n, uint64_t id)
{
    uint8_t key[SHA256_BYTES];
    key_of(id, key);
    (void)image_cache_access(
        n->c, &(struct image_cache_request){ .key = key, .size = 10 + id % 90, .deploy = 0 });
}

static void collect(void *arg, const struct image_cache_event *e)
{
    struct buf *to = arg;
    (void)buf_printf(to, "%d %d %llu %llu %.6f\n", e->op, e->list, (unsigned long long)e->key[0],
                     (unsigned long long)e->size, e->target);
}

static char *picture(const struct image_cache *c)
{
    struct buf b = BUF_INIT(1 << 20);
    image_cache_snapshot(c, collect, &b);
    size_t n;
    return buf_take(&b, &n);
}

/* Everything that the cache says is resident is on the disk. */
static bool add_found(void *arg, const uint8_t *key, uint64_t size)
{
    VEC(struct image_cache_found) *v = arg;
    struct image_cache_found f = { .size = size };
    memcpy(f.key, key, SHA256_BYTES);
    vec_push(v, f);
    return true;
}

static void settle(struct node *n)
{
    VEC(struct image_cache_found) v = { 0 };
    for (int l = IMAGE_CACHE_T1; l <= IMAGE_CACHE_DEAD; l++)
        image_cache_each(n->c, (enum image_cache_list)l, add_found, &v);
    image_cache_settle(n->c, v.p, v.n);
    vec_fini(&v);
}

static void restart(struct node *n)
{
    halt(n);
    boot(n);
    settle(n);
    flush(n);
}

TEST(a_restart_changes_nothing)
{
    struct node n;
    node_init(&n);
    CHECK_INT(n.state, IMAGE_CACHE_JOURNAL_ABSENT);
    CHECK(image_cache_target(n.c) == 500);
    flush(&n);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 200; i++) {
            ask(&n, test_random_below(40) * test_random_below(6));
            if (i % 7 == 0)
                flush(&n);
        }
        flush(&n);
        scoped(free_scoped) char *before = picture(n.c);
        restart(&n);
        scoped(free_scoped) char *after = picture(n.c);
        CHECK_INT(n.state, IMAGE_CACHE_JOURNAL_WHOLE);
        CHECK_STR(str_of(after), before);
    }
    node_fini(&n);
}

static uint64_t file_bytes(const struct node *n)
{
    struct stat st;
    CHECK(fstatat(n->dir_fd, NAME, &st, 0) == 0);
    return (uint64_t)st.st_size;
}

TEST(it_is_written_anew_at_one_mebibyte)
{
    struct node n;
    uint64_t most = 0;
    node_init(&n);
    for (int i = 0; i < 40000; i++) {
        ask(&n, test_random_below(60));
        flush(&n);
        most = MAX(most, file_bytes(&n));
    }
    CHECK(most > 1000000 && most <= IMAGE_CACHE_JOURNAL_BYTES);
    scoped(free_scoped) char *before = picture(n.c);
    restart(&n);
    scoped(free_scoped) char *after = picture(n.c);
    CHECK_STR(str_of(after), before);
    CHECK(file_bytes(&n) < 20000);
    node_fini(&n);
}

TEST(a_record_that_was_being_written_is_left_out)
{
    struct node n;
    node_init(&n);
    flush(&n);
    ask(&n, 1);
    flush(&n);
    scoped(free_scoped) char *before = picture(n.c);
    uint64_t whole = file_bytes(&n);
    ask(&n, 2);
    flush(&n);
    int fd = openat(n.dir_fd, NAME, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)whole + 30) == 0);
    (void)close(fd);
    restart(&n);
    scoped(free_scoped) char *after = picture(n.c);
    CHECK_INT(n.state, IMAGE_CACHE_JOURNAL_CUT);
    CHECK_STR(str_of(after), before);
    restart(&n);
    CHECK_INT(n.state, IMAGE_CACHE_JOURNAL_WHOLE);
    node_fini(&n);
}

TEST(a_damaged_journal_is_as_good_as_none)
{
    struct node n;
    node_init(&n);
    flush(&n);
    for (uint64_t id = 1; id < 9; id++)
        ask(&n, id);
    flush(&n);
    int fd = openat(n.dir_fd, NAME, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0 && pwrite(fd, "x", 1, 100) == 1);
    (void)close(fd);
    halt(&n);
    boot(&n);
    CHECK_INT(n.state, IMAGE_CACHE_JOURNAL_DAMAGED);
    CHECK_INT(image_cache_used(n.c), 0);
    CHECK(image_cache_target(n.c) == 500);
    struct image_cache_found f = { .key = { 3 }, .size = 13, .mtime_s = 5 };
    image_cache_settle(n.c, &f, 1);
    flush(&n);
    halt(&n);
    boot(&n);
    CHECK_INT(n.state, IMAGE_CACHE_JOURNAL_WHOLE);
    CHECK_INT(image_cache_used(n.c), 13);
    node_fini(&n);
}

TEST(each_byte_may_be_wrong)
{
    struct node n;
    node_init(&n);
    flush(&n);
    for (uint64_t id = 1; id < 30; id++)
        ask(&n, id % 11);
    flush(&n);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    struct err err;
    CHECK_OK(sys_read_file(n.dir_fd, NAME, &text, &err));
    for (size_t i = 0; i < text.n; i += 5) {
        text.p[i] = (char)(text.p[i] ^ (1 << i % 8));
        CHECK_OK(sys_write_file_atomic(n.dir_fd, NAME, buf_str(&text), 0600, &err));
        text.p[i] = (char)(text.p[i] ^ (1 << i % 8));
        halt(&n);
        boot(&n);
        CHECK(n.state ==
              (i + 72 >= text.n ? IMAGE_CACHE_JOURNAL_CUT : IMAGE_CACHE_JOURNAL_DAMAGED));
        CHECK(image_cache_used(n.c) <= 1000);
    }
    node_fini(&n);
}

TEST(after_a_full_disk_all_of_it_is_written_anew)
{
    struct node n;
    struct err err;
    node_init(&n);
    flush(&n);
    ask(&n, 1);
    sys_fail_nth(SYS_PWRITE, 1, ENOSPC);
    CHECK_ERR(image_cache_journal_flush(n.j, n.c, 1, &err), -ENOSPC);
    ask(&n, 2);
    sys_fail_nth(SYS_WRITE, 1, ENOSPC);
    CHECK_ERR(image_cache_journal_flush(n.j, n.c, 1, &err), -ENOSPC);
    ask(&n, 3);
    sys_fail_nth(SYS_WRITE, 0, 0);
    flush(&n);
    scoped(free_scoped) char *before = picture(n.c);
    restart(&n);
    scoped(free_scoped) char *after = picture(n.c);
    CHECK_INT(n.state, IMAGE_CACHE_JOURNAL_WHOLE);
    CHECK_STR(str_of(after), before);
    node_fini(&n);
}

TEST_MAIN
