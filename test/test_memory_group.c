/* SPDX-License-Identifier: Apache-2.0 */
/* wasm/memory_group: runners and compilers share a control group of memory, where there is one. */
#include "guest/memory_group.h"

#include "base/buf.h"
#include "base/sys.h"
#include "guest_rig.h"
#include "test.h"
#include "wasm/confine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define ROOT "/sys/fs/cgroup"

static void read_proc(int pid, struct buf *to)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
    CHECK_OK(sys_read_file(AT_FDCWD, path, to, NULL));
}

/* In the group: writes to so much memory. */
static void child(int procs_fd, size_t bytes)
{
    if (dup2(procs_fd, STDIN_FILENO) < 0)
        _exit(2);
    confine_join_memory(confine_take_memory());
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        _exit(3);
    for (size_t i = 0; i < bytes; i += 4096)
        p[i] = 1;
    char c;
    _exit(read(STDIN_FILENO, &c, 1) == 0 ? 0 : 4); /* /dev/null */
}

static int status_of_child(int procs_fd, size_t bytes)
{
    int status, pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        child(procs_fd, bytes);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    return status;
}

TEST(the_kernel_ends_what_takes_more_than_the_group_may)
{
    struct memory_group g;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf proc = BUF_INIT(16 << 10);
    read_proc(getpid(), &proc);
    if (memory_group_open(&g, ROOT, buf_str(&proc), 64 << 20, &err) < 0)
        SKIP("there is no group of memory here that this process may use");
    CHECK_INT(status_of_child(g.procs_fd, 8 << 20), 0);
    int status = status_of_child(g.procs_fd, 128 << 20);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    memory_group_close(&g);
    CHECK_INT(g.procs_fd, -1);
    /* Nothing of it is left. */
    CHECK_OK(memory_group_open(&g, ROOT, buf_str(&proc), 0, &err));
    memory_group_close(&g);
}

TEST(a_group_that_cannot_be_made_is_said)
{
    char dir[] = "/tmp/dormouse-group-XXXXXX", path[128];
    struct memory_group g;
    struct err err = { 0 };
    CHECK(mkdtemp(dir));
    CHECK_ERR(memory_group_open(&g, dir, STR("1:cpu:/a\n"), 0, &err), E_UNSUPPORTED);
    CHECK_STR(str_of(err.text), "there is no controller of memory");
    CHECK_ERR(memory_group_open(&g, dir, STR("4:memory:/a\n0::/\n"), 0, &err), -ENOENT);
    CHECK(str_find(str_of(err.text), STR("/memory/a'")) >= 0);
    CHECK_INT(g.procs_fd, -1);
    /* v2, below a service manager that has not delegated it. */
    (void)snprintf(path, sizeof path, "%s/unit", dir);
    CHECK_OK(mkdir(path, 0700));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_OK(sys_write_file_atomic(fd, "cgroup.controllers", STR("cpu memory pids\n"), 0600, &err));
    (void)close(fd);
    if (geteuid() == 0) {
        CHECK_ERR(memory_group_open(&g, dir, STR("0::/unit\n"), 0, &err), E_UNSUPPORTED);
        CHECK(str_find(str_of(err.text), STR("is not delegated")) >= 0);
    }
    rig_remove_dir(path);
    rig_remove_dir(dir);
}

/* ---- v2, of files: the kernel here may have its memory controller in v1 ---- */

static char fake[64];

static void put(const char *name, const char *text)
{
    char path[160];
    (void)snprintf(path, sizeof path, "%s/%s", fake, name);
    FILE *f = fopen(path, "we");
    CHECK(f);
    (void)fputs(text, f);
    CHECK_OK(fclose(f));
}

static void check_file(const char *name, const char *want)
{
    char path[160];
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    (void)snprintf(path, sizeof path, "%s/%s", fake, name);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &text, NULL));
    CHECK_STR(buf_str(&text), want);
}

/* A directory with the files that a kernel makes in it. Returns its name. */
static const char *fake_group(const char *kind, int pid)
{
    static char name[48], path[160];
    (void)snprintf(name, sizeof name, "dormouse-%s-%d", kind, pid);
    (void)snprintf(path, sizeof path, "%s/%s", fake, name);
    CHECK_OK(mkdir(path, 0700));
    return name;
}

static void fake_open(const char *subtree)
{
    (void)snprintf(fake, sizeof fake, "/tmp/dormouse-group-XXXXXX");
    CHECK(mkdtemp(fake));
    put("cgroup.controllers", "cpu io memory pids\n");
    put("cgroup.subtree_control", subtree);
    put("cgroup.procs", "");
    for (int i = 0; i < 2; i++) {
        static const char *const files[] = { "cgroup.procs", "memory.max" };
        char name[100];
        const char *group = fake_group(i ? "main" : "guests", (int)getpid());
        for (size_t k = 0; k < ARRAY_LEN(files); k++) {
            (void)snprintf(name, sizeof name, "%s/%s", group, files[k]);
            put(name, "");
        }
    }
}

static void check_own(const char *kind, const char *file, const char *want)
{
    char name[100];
    (void)snprintf(name, sizeof name, "dormouse-%s-%d/%s", kind, (int)getpid(), file);
    check_file(name, want);
}

TEST(a_process_that_is_alone_in_its_group_of_v2_moves_below_it)
{
    struct memory_group g;
    struct err err = { 0 };
    fake_open("cpu\n");
    sys_fail_nth(SYS_WRITE, 1, EBUSY); /* the group has processes: no controllers below it */
    CHECK_OK(memory_group_open(&g, fake, STR("0::/\n"), 64 << 20, &err));
    CHECK(g.is_v2 && g.has_moved && g.procs_fd >= 0);
    check_own("main", "cgroup.procs", "0");
    check_own("guests", "memory.max", "67108864");
    check_file("cgroup.subtree_control", "+memory");
    confine_join_memory(dup(g.procs_fd));
    check_own("guests", "cgroup.procs", "0");
    memory_group_close(&g);
    check_file("cgroup.subtree_control", "-memory");
    check_file("cgroup.procs", "0"); /* back again */
    rig_remove_dir(fake);
}

TEST(a_process_that_has_moved_for_others_makes_the_group_beside_itself)
{
    struct memory_group g;
    struct err err = { 0 };
    char proc[64];
    fake_open("cpu memory pids\n");
    (void)snprintf(proc, sizeof proc, "0::/dormouse-main-%d\n", (int)getpid());
    CHECK_OK(memory_group_open(&g, fake, str_of(proc), 64 << 20, &err));
    CHECK(g.is_v2 && !g.has_moved);
    check_own("guests", "memory.max", "67108864");
    memory_group_close(&g);
    check_file("cgroup.procs", ""); /* it stays where it is */
    rig_remove_dir(fake);
}

TEST(groups_of_processes_that_were_killed_are_removed)
{
    struct memory_group g;
    struct err err = { 0 };
    char path[160];
    int gone = fork();
    if (gone == 0)
        _exit(0);
    CHECK_INT(waitpid(gone, NULL, 0), gone);
    fake_open("cpu memory\n");
    for (int i = 0; i < 2; i++)
        (void)fake_group(i ? "main" : "guests", gone);
    (void)fake_group("main", (int)getppid());
    CHECK_OK(memory_group_open(&g, fake, STR("0::/\n"), 64 << 20, &err));
    CHECK(!g.has_moved); /* the controller is on below */
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/dormouse-%s-%d", fake, i ? "main" : "guests", gone);
        CHECK(access(path, F_OK) < 0);
    }
    (void)snprintf(path, sizeof path, "%s/dormouse-main-%d", fake, (int)getppid());
    CHECK_OK(access(path, F_OK));
    memory_group_close(&g);
    check_file("cgroup.subtree_control", "cpu memory\n");
    rig_remove_dir(fake);
}

TEST(a_runner_is_in_the_group)
{
    struct rig r;
    struct actor a = { 0 };
    struct guest_host_stats s;
    rig_open(&r, (struct guest_host_opts){ .idle_ms = 600000 });
    struct module *m = rig_module(&r, "twin-g2");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    WAIT(&r, a.ops.n == 1);
    int pid;
    CHECK_INT(guest_host_pids(r.host, &pid, 1), 1);
    scoped(buf_fini_scoped) struct buf proc = BUF_INIT(16 << 10);
    guest_host_get_stats(r.host, &s);
    bool is_there = s.confined >> CONFINE_MEMORY & 1;
    do {
        buf_reset(&proc);
        read_proc(pid, &proc);
    } while (is_there && str_find(buf_str(&proc), STR("/dormouse-guests-")) < 0);
    /* A runner with a sanitizer joins as well, but reports nothing of what confines it. */
    CHECK(is_there || s.confined == 0 || str_find(buf_str(&proc), STR("/dormouse-guests-")) < 0);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
    if (!is_there)
        SKIP("there is no group of memory here that this process may use");
}

TEST_MAIN
