/* SPDX-License-Identifier: Apache-2.0 */
/* wasm/pressure: which control group binds us, how full it is, and that the kernel says so. */
#include "guest/pressure.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void put(const char *root, const char *path, const char *text)
{
    char full[512];
    struct err err = { 0 };
    (void)snprintf(full, sizeof full, "%s/%s", root, path);
    char *slash = strrchr(full, '/');
    *slash = 0;
    CHECK_OK(sys_mkdir_all(full, 0700, &err));
    *slash = '/';
    int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_INT(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(fd);
}

static void make_root(char root[64])
{
    (void)snprintf(root, 64, "/tmp/dm-test-cgroup-XXXXXX");
    CHECK(mkdtemp(root));
}

static void remove_root(const char *root)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r '%s'", root);
    CHECK_INT(system(command), 0);
}

TEST(the_tightest_limit_of_the_groups_above_binds)
{
    char root[64];
    struct pressure_group g;
    make_root(root);
    put(root, "a/memory.high", "max\n");
    put(root, "a/memory.max", "1000000\n");
    put(root, "a/b/memory.high", "5000000\n");
    put(root, "a/b/memory.max", "max\n");
    put(root, "a/memory.current", "900000\n");
    put(root, "a/memory.stat", "anon 1\ninactive_file 200000\nfile 3\n");
    pressure_group_find(root, STR("1:name=systemd:/x\n0::/a/b\n"), &g);
    CHECK(g.is_v2);
    CHECK_INT(g.limit_bytes, 1000000);
    CHECK_INT(pressure_group_percent(&g), 70); /* files nobody uses do not count */
    pressure_group_fini(&g);
    put(root, "a/b/memory.high", "800000\n"); /* now ours is the tighter one */
    put(root, "a/b/memory.current", "400000\n");
    pressure_group_find(root, STR("0::/a/b\n"), &g);
    CHECK_INT(g.limit_bytes, 800000);
    CHECK_INT(pressure_group_percent(&g), 50);
    pressure_group_fini(&g);
    remove_root(root);
}

TEST(version_1_has_its_own_names)
{
    char root[64];
    struct pressure_group g;
    make_root(root);
    put(root, "memory/x/memory.limit_in_bytes", "1000000\n");
    put(root, "memory/x/memory.usage_in_bytes", "990000\n");
    put(root, "memory/x/memory.stat", "inactive_file 1\ntotal_inactive_file 90000\n");
    put(root, "memory/memory.limit_in_bytes", "9223372036854771712\n");
    pressure_group_find(root, STR("5:cpu,cpuacct:/y\n4:hugetlb,memory:/x\n0::/\n"), &g);
    CHECK(!g.is_v2);
    CHECK_INT(g.limit_bytes, 1000000);
    CHECK_INT(pressure_group_percent(&g), 90);
    pressure_group_fini(&g);
    remove_root(root);
}

TEST(without_a_limit_memory_is_plenty)
{
    char root[64];
    struct pressure_group g;
    make_root(root);
    put(root, "memory.max", "max\n");
    static const char *const procs[] = { "", "0::/\n", "nonsense\n\n::::\n", "4:memory:/\n" };
    for (size_t i = 0; i < ARRAY_LEN(procs); i++) {
        pressure_group_find(root, str_of(procs[i]), &g);
        CHECK_INT(g.dir_fd, -1);
        CHECK_INT(pressure_group_percent(&g), 0);
    }
    remove_root(root);
}

/* ---- a real group of version 1, where we may make one ---- */

enum { LIMIT = 48 << 20, DEADLINE_MS = 60000 };

struct heard {
    unsigned reported;
    bool closed;
};

static void on_pressure(void *arg)
{
    ((struct heard *)arg)->reported++;
}

static void on_deadline(struct timer *timer)
{
    TEST_FAIL("nothing was told");
}

static void on_closed(void *arg)
{
    ((struct heard *)arg)->closed = true;
}

/* In the group: nothing at first, then more than the threshold. */
static int use_memory(void)
{
    struct loop loop;
    struct pressure p;
    struct heard h = { 0 };
    CHECK_OK(loop_init(&loop, NULL));
    pressure_start(&p, &loop, on_pressure, &h);
    CHECK(p.group.dir_fd >= 0 && p.group.limit_bytes <= LIMIT);
    CHECK_INT(pressure_times(&p), 1);
    size_t n = (size_t)LIMIT / 100 * 92;
    char *memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    memset(memory, 1, n);
    struct timer deadline = { 0 }; /* and the loop has something to live for */
    timer_start(&loop, &deadline, DEADLINE_MS, on_deadline);
    while (h.reported == 0)
        (void)loop_turn(&loop, true);
    timer_stop(&loop, &deadline);
    CHECK(pressure_times(&p) > 1);
    pressure_close(&p, on_closed);
    while (!h.closed)
        (void)loop_turn(&loop, true);
    loop_run(&loop);
    loop_fini(&loop);
    return 0;
}

TEST(closing_calls_back_from_the_loop_also_without_a_source)
{
    struct loop loop;
    struct heard h = { 0 };
    CHECK_OK(loop_init(&loop, NULL));
    struct pressure p = { .loop = &loop, .arg = &h, .threshold_fd = -1, .group.dir_fd = -1 };
    p.stall.fd = p.limit.fd = -1;
    pressure_close(&p, on_closed);
    CHECK(!h.closed);
    while (!h.closed)
        (void)loop_turn(&loop, true);
    loop_fini(&loop);
}

TEST(the_kernel_tells_when_a_limit_comes_near)
{
    char dir[256], text[32];
    struct pressure_group g = { .dir_fd = -1 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(16 << 10);
    CHECK_OK(sys_read_file(AT_FDCWD, "/proc/self/cgroup", &b, NULL));
    pressure_group_find("/sys/fs/cgroup", buf_str(&b), &g);
    pressure_group_fini(&g);
    (void)snprintf(dir, sizeof dir, "/sys/fs/cgroup/memory/dormouse-test-%d", getpid());
    if (mkdir(dir, 0700) < 0)
        SKIP("no control group of version 1 can be made here");
    (void)snprintf(text, sizeof text, "%d\n", (int)LIMIT);
    put(dir, "memory.limit_in_bytes", text);
    int status, pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        (void)snprintf(text, sizeof text, "%d\n", getpid());
        put(dir, "cgroup.procs", text);
        _exit(use_memory());
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    for (int i = 0; rmdir(dir) < 0 && errno == EBUSY && i < 1000000; i++)
        continue;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_MAIN
