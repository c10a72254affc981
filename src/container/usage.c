/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and accounting of control groups; see cgroup.h. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "container/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum {
    QUOTA_MIN_US = 1000, /* of the kernel, as those of shares */
    SHARES_MIN = 2,
    SHARES_MAX = 262144,
    WEIGHT_MAX = 10000,
    FILE_MAX_BYTES = 64 << 10
};

/* One file of a group in both versions; v2 NULL: only version 1 has it. */
struct usage_file {
    const char *controller, *v1, *v2;
};

static bool find_path(const struct container_cgroups *g, const char *name,
                      const struct usage_file *f, char to[CONTAINER_CGROUP_PATH_MAX])
{
    if (g->kind == CONTAINER_CGROUPS_NONE || !(g->kind == CONTAINER_CGROUPS_V2 ? f->v2 : f->v1))
        return false;
    container_cgroup_path(g, name, f->controller, f->v1, f->v2, to);
    return true;
}

/* ---- limits ---- */

static int write_file(const struct container_cgroups *g, const char *name,
                      const struct usage_file *f, const char *text)
{
    char path[CONTAINER_CGROUP_PATH_MAX];
    if (!find_path(g, name, f, path))
        return 0;
    scoped(fd_scoped) int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -errno : sys_write_all(fd, text, strlen(text));
}

/* none: what the file has instead of 0. */
static int write_number(const struct container_cgroups *g, const char *name,
                        const struct usage_file *f, uint64_t n, const char *none)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    return write_file(g, name, f, n ? text : none);
}

/* Version 1 checks that memory with swap is not less than memory, so it is written first to raise
 * both, and last to lower both. */
static int limit_memory(const struct container_cgroups *g, const char *name, uint64_t bytes)
{
    static const struct usage_file limit = { "memory", "memory.limit_in_bytes", "memory.max" },
                                   with_swap = { "memory", "memory.memsw.limit_in_bytes", NULL },
                                   swap = { "memory", NULL, "memory.swap.max" };
    const char *none = g->kind == CONTAINER_CGROUPS_V2 ? "max" : "-1";
    (void)write_number(g, name, &with_swap, bytes, none); /* files on swap are optional */
    int r = write_number(g, name, &limit, bytes, none);
    (void)write_number(g, name, &with_swap, bytes, none);
    (void)write_file(g, name, &swap, bytes ? "0" : "max");
    return r;
}

uint64_t container_cgroup_quota_us(uint64_t cpu_milli)
{
    const uint64_t most = UINT64_MAX / CONTAINER_CGROUP_PERIOD_US;
    return MAX(MIN(cpu_milli, most) * CONTAINER_CGROUP_PERIOD_US / 1000, (uint64_t)QUOTA_MIN_US);
}

static int limit_quota(const struct container_cgroups *g, const char *name, uint64_t cpu_milli)
{
    static const struct usage_file file = { "cpu", "cpu.cfs_quota_us", "cpu.max" };
    char text[64];
    unsigned long long quota = container_cgroup_quota_us(cpu_milli);
    if (g->kind == CONTAINER_CGROUPS_V2 && !cpu_milli)
        (void)snprintf(text, sizeof text, "max %d", CONTAINER_CGROUP_PERIOD_US);
    else if (g->kind == CONTAINER_CGROUPS_V2)
        (void)snprintf(text, sizeof text, "%llu %d", quota, CONTAINER_CGROUP_PERIOD_US);
    else if (!cpu_milli)
        (void)snprintf(text, sizeof text, "-1");
    else
        (void)snprintf(text, sizeof text, "%llu", quota);
    return write_file(g, name, &file, text);
}

/* Version 2 has weights from 1 to 10000; converted as OCI runtimes do. */
static int weigh_cpu(const struct container_cgroups *g, const char *name, uint64_t cpu_milli)
{
    static const struct usage_file file = { "cpu", "cpu.shares", "cpu.weight" };
    uint64_t shares = container_cgroup_shares(cpu_milli);
    uint64_t weight = 1 + (shares - SHARES_MIN) * (WEIGHT_MAX - 1) / (SHARES_MAX - SHARES_MIN);
    return write_number(g, name, &file, g->kind == CONTAINER_CGROUPS_V2 ? weight : shares, "");
}

uint64_t container_cgroup_shares(uint64_t cpu_milli)
{
    return MIN(MAX(MIN(cpu_milli, (uint64_t)SHARES_MAX) * 1024 / 1000, (uint64_t)SHARES_MIN),
               (uint64_t)SHARES_MAX);
}

void container_cgroup_limit_cpu(const struct container_cgroups *g, const char *name,
                                uint64_t cpu_milli)
{
    (void)limit_quota(g, name, MAX(cpu_milli, (uint64_t)1)); /* the container may have ended */
}

int container_cgroup_limit(const struct container_cgroups *g, const char *name,
                           const struct container_limits *l, struct err *err)
{
    static const struct usage_file pids = { "pids", "pids.max", "pids.max" };
    struct container_usage usage;
    int r = container_cgroup_usage(g, name, &usage);
    if (r == 0 && l->memory_bytes && usage.working_set_bytes > l->memory_bytes)
        return err_set(err, -EBUSY, "%llu bytes of memory are in use, which is more than the limit",
                       (unsigned long long)usage.working_set_bytes);
    r = r < 0 ? r : limit_memory(g, name, l->memory_bytes);
    r = r < 0 ? r : write_number(g, name, &pids, l->pids, "max");
    r = r < 0 ? r : weigh_cpu(g, name, l->cpu_milli);
    r = r < 0 ? r : limit_quota(g, name, l->cpu_quota_milli);
    return r < 0 ? err_sys(err, r, "limit the control group '%s'", name) : 0;
}

/* ---- accounting ---- */

struct usage_word { /* a line "KEY NUMBER" */
    const char *key;
    uint64_t *to;
};

static void read_words(const struct container_cgroups *g, const char *name,
                       const struct usage_file *f, const struct usage_word *words, size_t n)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(FILE_MAX_BYTES);
    char path[CONTAINER_CGROUP_PATH_MAX];
    struct str left, line, key, value;
    if (!find_path(g, name, f, path) || sys_read_file(AT_FDCWD, path, &text, NULL) < 0)
        return;
    left = buf_str(&text);
    while (left.n) {
        (void)str_cut(left, '\n', &line, &left);
        (void)str_cut(line, ' ', &key, &value);
        for (size_t i = 0; i < n; i++)
            if (str_is(key, words[i].key))
                (void)parse_u64(value, 0, UINT64_MAX, words[i].to);
    }
}

static int read_number(const struct container_cgroups *g, const char *name,
                       const struct usage_file *f, uint64_t *to)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(FILE_MAX_BYTES);
    char path[CONTAINER_CGROUP_PATH_MAX];
    if (!find_path(g, name, f, path))
        return 0;
    int r = sys_read_file(AT_FDCWD, path, &text, NULL);
    return r < 0 ? r : parse_u64(str_trim(buf_str(&text)), 0, UINT64_MAX, to);
}

static void read_cpu(const struct container_cgroups *g, const char *name,
                     struct container_usage *to)
{
    static const struct usage_file v1 = { "cpuacct", "cpuacct.usage", NULL },
                                   v2 = { "cpu", NULL, "cpu.stat" };
    uint64_t us = 0;
    const struct usage_word word = { "usage_usec", &us };
    (void)read_number(g, name, &v1, &to->cpu_ns);
    read_words(g, name, &v2, &word, 1);
    if (us)
        to->cpu_ns = us * 1000;
}

static void read_memory(const struct container_cgroups *g, const char *name,
                        struct container_usage *to)
{
    static const struct usage_file v1 = { "memory", "memory.stat", NULL },
                                   v2 = { "memory", NULL, "memory.stat" },
                                   swap = { "memory", NULL, "memory.swap.current" };
    uint64_t inactive = 0;
    const struct usage_word v1_words[] = { { "total_inactive_file", &inactive },
                                           { "total_rss", &to->rss_bytes },
                                           { "total_swap", &to->swap_bytes },
                                           { "total_pgfault", &to->page_faults },
                                           { "total_pgmajfault", &to->major_page_faults } };
    const struct usage_word v2_words[] = { { "inactive_file", &inactive },
                                           { "anon", &to->rss_bytes },
                                           { "pgfault", &to->page_faults },
                                           { "pgmajfault", &to->major_page_faults } };
    read_words(g, name, &v1, v1_words, ARRAY_LEN(v1_words));
    read_words(g, name, &v2, v2_words, ARRAY_LEN(v2_words));
    (void)read_number(g, name, &swap, &to->swap_bytes);
    to->working_set_bytes = to->memory_bytes - MIN(inactive, to->memory_bytes);
}

static uint64_t read_oom_kills(const struct container_cgroups *g, const char *name)
{
    static const struct usage_file file = { "memory", "memory.oom_control", "memory.events" };
    uint64_t n = 0;
    const struct usage_word word = { "oom_kill", &n };
    read_words(g, name, &file, &word, 1);
    return n;
}

bool container_cgroup_ran_out(const struct container_cgroups *g, const char *name)
{
    return read_oom_kills(g, name) > 0;
}

int container_cgroup_usage(const struct container_cgroups *g, const char *name,
                           struct container_usage *ret)
{
    static const struct usage_file memory = { "memory", "memory.usage_in_bytes", "memory.current" },
                                   pids = { "pids", "pids.current", "pids.current" };
    struct container_usage u = { 0 };
    int r = read_number(g, name, &memory, &u.memory_bytes);
    if (r < 0)
        return r;
    read_memory(g, name, &u);
    read_cpu(g, name, &u);
    (void)read_number(g, name, &pids, &u.pids);
    u.oom_kills = read_oom_kills(g, name);
    *ret = u;
    return 0;
}
