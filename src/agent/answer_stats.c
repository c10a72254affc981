/* SPDX-License-Identifier: Apache-2.0 */
/* What the node, its pods and containers use, read when somebody asks. */
#include "agent/agent_impl.h"
#include "agent/answer.h"
#include "base/clock.h"
#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum { NET_DEV_MAX = 64 << 10, INTERFACES_MAX = 64 };

struct asked {
    struct defer defer;
    struct agent *a;
    agent_stats_cb done;
    void *arg;
};

/* ---------------------------------------------------------------- groups */

static void take_usage(const struct container_usage *u, int64_t now_us,
                       struct agent_cpu_sample *last, struct agent_stats_cpu *cpu,
                       struct agent_stats_memory *memory)
{
    uint64_t now_ns = clock_mono_ns();
    cpu->wall_us = memory->wall_us = now_us;
    cpu->usage_ns = u->cpu_ns;
    cpu->nano_cores =
        last->at_ns && now_ns > last->at_ns && u->cpu_ns >= last->cpu_ns
            ? (uint64_t)((double)(u->cpu_ns - last->cpu_ns) * 1e9 / (double)(now_ns - last->at_ns))
            : 0;
    *last = (struct agent_cpu_sample){ .at_ns = now_ns, .cpu_ns = u->cpu_ns };
    memory->usage = u->memory_bytes;
    memory->working_set = u->working_set_bytes;
    memory->rss = u->rss_bytes;
    memory->swap = u->swap_bytes;
    memory->page_faults = u->page_faults;
    memory->major_page_faults = u->major_page_faults;
}

/* ---------------------------------------------------------------- network */

/* "  eth0: 12 3 0 0 0 0 0 0 45 ..." (proc(5), /proc/PID/net/dev) */
static bool read_interface(struct arena *a, struct str line, struct agent_stats_interface *to)
{
    struct str name, rest, word;
    uint64_t v[16];
    size_t n = 0;
    if (!str_cut(line, ':', &name, &rest))
        return false;
    while (n < ARRAY_LEN(v) && rest.n > 0) {
        rest = str_trim(rest);
        (void)str_cut(rest, ' ', &word, &rest);
        if (parse_u64(word, 0, UINT64_MAX, &v[n++]) < 0)
            return false;
    }
    *to = (struct agent_stats_interface){ .name = str_dup_arena(a, str_trim(name)),
                                          .rx_bytes = v[0],
                                          .rx_packets = v[1],
                                          .rx_errors = v[2],
                                          .rx_dropped = v[3],
                                          .tx_bytes = v[8],
                                          .tx_packets = v[9],
                                          .tx_errors = v[10],
                                          .tx_dropped = v[11] };
    return n == ARRAY_LEN(v) && strcmp(to->name, "lo") != 0;
}

/* pid 0: of this process. */
static void read_network(struct arena *a, int pid, int64_t now_us, struct agent_stats_network *to)
{
    char path[64];
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(NET_DEV_MAX);
    struct err err = { 0 };
    struct agent_stats_interface *list =
        arena_new_n(a, struct agent_stats_interface, INTERFACES_MAX);
    (void)snprintf(path, sizeof path, pid ? "/proc/%d/net/dev" : "/proc/self/net/dev", pid);
    if (sys_read_file(AT_FDCWD, path, &text, &err) < 0)
        return;
    struct str rest = buf_str(&text), line;
    while (str_cut(rest, '\n', &line, &rest)) {
        if (to->n < INTERFACES_MAX && read_interface(a, line, &list[to->n]))
            to->n++;
    }
    to->p = list;
    to->wall_us = now_us;
}

/* ---------------------------------------------------------------- file systems */

static void read_fs(const char *path, int64_t now_us, struct agent_stats_fs *to)
{
    struct statvfs v;
    if (statvfs(path, &v) < 0)
        return;
    to->wall_us = now_us;
    to->capacity = (uint64_t)v.f_blocks * v.f_frsize;
    to->available = (uint64_t)v.f_bavail * v.f_frsize;
    to->used = (uint64_t)(v.f_blocks - v.f_bfree) * v.f_frsize;
    to->inodes = v.f_files;
    to->inodes_free = v.f_ffree;
    to->inodes_used = v.f_files - v.f_ffree;
}

/* ---------------------------------------------------------------- pods */

static void take_container(struct agent_run *r, const struct pod_container_life *c, int64_t now_us,
                           struct agent_stats_container *to)
{
    struct container_usage u;
    to->name = c->name;
    to->id = str_of(r->id);
    to->image = c->spec->image;
    to->start_us = c->started_ms * 1000;
    to->restarts = c->restarts;
    if (!r->c || container_usage(r->c, &u) < 0)
        return;
    take_usage(&u, now_us, &r->sample, &to->cpu, &to->memory);
    to->processes = u.pids;
    to->oom_kills = u.oom_kills;
}

static void take_pod(struct arena *a, struct agent_pod *p, int64_t now_us,
                     struct agent_stats_pod *to)
{
    struct agent_stats_container *list =
        arena_new_n(a, struct agent_stats_container, p->life.n + 1);
    struct container_usage u;
    int pid = 0;
    to->ns = str_of(p->namespace);
    to->name = str_of(p->name);
    to->uid = str_of(p->uid);
    to->start_us = p->life.start_ms * 1000;
    list_each (node, &p->runs) {
        struct agent_run *r = list_entry(node, struct agent_run, node);
        size_t i = pod_life_find(&p->life, str_of(r->container_name));
        if (!r->is_running || i == SIZE_MAX || !pod_container_runs(&p->life.containers[i]) ||
            to->n_containers == p->life.n)
            continue;
        agent_stats_init_container(&list[to->n_containers]);
        take_container(r, &p->life.containers[i], now_us, &list[to->n_containers++]);
        pid = r->c ? container_pid(r->c) : pid;
    }
    to->containers = list;
    if (pid && p->network)
        read_network(a, pid, now_us, &to->network);
    if (!p->is_group_made || container_pod_group_usage(p->agent->containers, p->group, &u) < 0)
        return;
    take_usage(&u, now_us, &p->sample, &to->cpu, &to->memory);
    to->processes = u.pids;
}

static void take_node(struct arena *arena, struct agent *a, int64_t now_us, struct agent_stats *s)
{
    struct sysinfo info;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(NET_DEV_MAX);
    struct err err = { 0 };
    s->node = str_of(a->node_name);
    s->memory_bytes = a->memory_bytes;
    s->cores = (uint64_t)a->allocatable.cpu_milli / 1000;
    if (sysinfo(&info) == 0) {
        s->start_us = now_us - (int64_t)info.uptime * 1000000;
        s->processes = info.procs;
    }
    agent_node_usage(a, now_us, &s->cpu, &s->memory);
    read_network(arena, 0, now_us, &s->network);
    read_fs(a->pods_dir, now_us, &s->fs);
    read_fs(a->image_dir ? a->image_dir : a->pods_dir, now_us, &s->image_fs);
    if (sys_read_file(AT_FDCWD, "/proc/sys/kernel/pid_max", &text, &err) >= 0)
        (void)parse_u64(str_trim(buf_str(&text)), 0, UINT64_MAX, &s->max_pid);
}

/* ---------------------------------------------------------------- the machine */

static uint64_t meminfo(struct str text, const char *name)
{
    struct str line;
    uint64_t kib = 0;
    while (str_cut(text, '\n', &line, &text)) {
        struct str key, value;
        if (str_cut(line, ':', &key, &value) && str_is(key, name)) {
            (void)str_cut(str_trim(value), ' ', &value, &line);
            (void)parse_u64(value, 0, UINT64_MAX / 1024, &kib);
            break;
        }
    }
    return kib * 1024;
}

/* The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. */
static uint64_t busy_ns(struct str text)
{
    struct str line, word;
    uint64_t sum = 0, v;
    (void)str_cut(text, '\n', &line, &text);
    (void)str_cut(line, ' ', &word, &line);
    for (unsigned i = 0; i < 8; i++) {
        line = str_trim(line);
        (void)str_cut(line, ' ', &word, &line);
        if (parse_u64(word, 0, UINT64_MAX, &v) == 0 && i != 3 && i != 4)
            sum += v;
    }
    return sum * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
}

void agent_node_usage(struct agent *a, int64_t now_us, struct agent_stats_cpu *cpu,
                      struct agent_stats_memory *memory)
{
    scoped(buf_fini_scoped) struct buf mem = BUF_INIT(NET_DEV_MAX), stat = BUF_INIT(1 << 20);
    struct err err = { 0 };
    if (sys_read_file(AT_FDCWD, "/proc/meminfo", &mem, &err) < 0 ||
        sys_read_file(AT_FDCWD, "/proc/stat", &stat, &err) < 0)
        return;
    uint64_t total = meminfo(buf_str(&mem), "MemTotal"), free_ = meminfo(buf_str(&mem), "MemFree");
    uint64_t inactive = meminfo(buf_str(&mem), "Inactive(file)");
    const struct container_usage u = {
        .cpu_ns = busy_ns(buf_str(&stat)),
        .memory_bytes = total - free_,
        .working_set_bytes = total - free_ > inactive ? total - free_ - inactive : 0,
        .rss_bytes = meminfo(buf_str(&mem), "AnonPages"),
    };
    take_usage(&u, now_us, &a->sample, cpu, memory);
    memory->available = total - u.working_set_bytes;
    memory->swap = AGENT_STATS_UNKNOWN;
    memory->page_faults = memory->major_page_faults = AGENT_STATS_UNKNOWN;
}

/* ---------------------------------------------------------------- an answer */

static void measure(struct defer *d)
{
    struct asked *q = container_of(d, struct asked, defer);
    struct agent *a = q->a;
    struct arena arena = { 0 };
    struct agent_stats s;
    int64_t now_us = clock_wall_us();
    struct agent_stats_pod *pods = arena_new_n(&arena, struct agent_stats_pod, a->pods.n + 1);
    agent_stats_init(&s);
    take_node(&arena, a, now_us, &s);
    map_each (e, &a->pods) {
        struct agent_pod *p = e->value;
        if (pod_at(&p->life) >= POD_FINISHED)
            continue;
        agent_stats_init_pod(&pods[s.n_pods]);
        take_pod(&arena, p, now_us, &pods[s.n_pods++]);
    }
    s.pods = pods;
    q->done(q->arg, &s);
    arena_fini(&arena);
    free(q);
}

int agent_answer_stats(void *arg, agent_stats_cb done, void *done_arg, struct err *err)
{
    struct agent *a = arg;
    struct asked *q = xnew(struct asked);
    *q = (struct asked){ .a = a, .done = done, .arg = done_arg };
    defer_start(a->loop, &q->defer, measure);
    return 0;
}
