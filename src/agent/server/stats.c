/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a node, and /stats/summary; see stats.h. */
#include "agent/server/stats.h"

#include "base/clock.h"
#include "base/mem.h"
#include "codec/json.h"

/* ------------------------------------------------------------------ unknown numbers */

static const struct agent_stats_cpu no_cpu = { 0,
                                               AGENT_STATS_UNKNOWN,
                                               AGENT_STATS_UNKNOWN,
                                               AGENT_STATS_UNKNOWN,
                                               AGENT_STATS_UNKNOWN,
                                               AGENT_STATS_UNKNOWN,
                                               AGENT_STATS_UNKNOWN,
                                               AGENT_STATS_UNKNOWN,
                                               AGENT_STATS_UNKNOWN,
                                               AGENT_STATS_UNKNOWN,
                                               AGENT_STATS_UNKNOWN };
static const struct agent_stats_memory no_memory = { 0,
                                                     AGENT_STATS_UNKNOWN,
                                                     AGENT_STATS_UNKNOWN,
                                                     AGENT_STATS_UNKNOWN,
                                                     AGENT_STATS_UNKNOWN,
                                                     AGENT_STATS_UNKNOWN,
                                                     AGENT_STATS_UNKNOWN,
                                                     AGENT_STATS_UNKNOWN,
                                                     AGENT_STATS_UNKNOWN,
                                                     AGENT_STATS_UNKNOWN,
                                                     AGENT_STATS_UNKNOWN,
                                                     AGENT_STATS_UNKNOWN,
                                                     AGENT_STATS_UNKNOWN };
static const struct agent_stats_fs no_fs = { 0,
                                             AGENT_STATS_UNKNOWN,
                                             AGENT_STATS_UNKNOWN,
                                             AGENT_STATS_UNKNOWN,
                                             AGENT_STATS_UNKNOWN,
                                             AGENT_STATS_UNKNOWN,
                                             AGENT_STATS_UNKNOWN };

void agent_stats_init_volume(struct agent_stats_volume *v)
{
    *v = (struct agent_stats_volume){ .fs = no_fs };
}

void agent_stats_init_interface(struct agent_stats_interface *i)
{
    *i = (struct agent_stats_interface){ .rx_bytes = AGENT_STATS_UNKNOWN,
                                         .rx_errors = AGENT_STATS_UNKNOWN,
                                         .rx_packets = AGENT_STATS_UNKNOWN,
                                         .rx_dropped = AGENT_STATS_UNKNOWN,
                                         .tx_bytes = AGENT_STATS_UNKNOWN,
                                         .tx_errors = AGENT_STATS_UNKNOWN,
                                         .tx_packets = AGENT_STATS_UNKNOWN,
                                         .tx_dropped = AGENT_STATS_UNKNOWN };
}

void agent_stats_init_container(struct agent_stats_container *c)
{
    *c = (struct agent_stats_container){ .cpu = no_cpu,
                                         .memory = no_memory,
                                         .rootfs = no_fs,
                                         .logs = no_fs,
                                         .processes = AGENT_STATS_UNKNOWN,
                                         .threads = AGENT_STATS_UNKNOWN,
                                         .restarts = AGENT_STATS_UNKNOWN,
                                         .oom_kills = AGENT_STATS_UNKNOWN };
}

void agent_stats_init_pod(struct agent_stats_pod *p)
{
    *p = (struct agent_stats_pod){
        .cpu = no_cpu, .memory = no_memory, .ephemeral = no_fs, .processes = AGENT_STATS_UNKNOWN
    };
}

void agent_stats_init(struct agent_stats *s)
{
    *s = (struct agent_stats){ .cpu = no_cpu,
                               .memory = no_memory,
                               .fs = no_fs,
                               .image_fs = no_fs,
                               .max_pid = AGENT_STATS_UNKNOWN,
                               .processes = AGENT_STATS_UNKNOWN,
                               .cores = AGENT_STATS_UNKNOWN,
                               .memory_bytes = AGENT_STATS_UNKNOWN };
}

/* ------------------------------------------------------------------ JSON, written as it goes */

/* Members of an object: a comma in front of all but the first. */
static void key(struct buf *to, const char *name)
{
    if (to->n && to->p[to->n - 1] != '{')
        (void)buf_add_char(to, ',');
    (void)buf_printf(to, "\"%s\":", name);
}

static void open_object(struct buf *to, const char *name)
{
    key(to, name);
    (void)buf_add_char(to, '{');
}

static void close_object(struct buf *to)
{
    (void)buf_add_char(to, '}');
}

static void add_text(struct buf *to, const char *name, struct str text)
{
    key(to, name);
    (void)json_write_str(to, text);
}

static void add_number(struct buf *to, const char *name, uint64_t value)
{
    if (value == AGENT_STATS_UNKNOWN)
        return;
    key(to, name);
    (void)buf_add_u64_dec(to, value);
}

static void add_time(struct buf *to, const char *name, int64_t wall_us)
{
    char text[RFC3339_MAX];
    key(to, name);
    if (wall_us == 0) {
        (void)buf_add_cstr(to, "null"); /* as metav1.Time writes none */
        return;
    }
    rfc3339_format(wall_us / 1000000, text);
    (void)json_write_str(to, str_of(text));
}

static void add_cpu(struct buf *to, const struct agent_stats_cpu *c)
{
    if (c->wall_us == 0)
        return;
    open_object(to, "cpu");
    add_time(to, "time", c->wall_us);
    add_number(to, "usageNanoCores", c->nano_cores);
    add_number(to, "usageCoreNanoSeconds", c->usage_ns);
    close_object(to);
}

static void add_memory(struct buf *to, const struct agent_stats_memory *m)
{
    if (m->wall_us == 0)
        return;
    open_object(to, "memory");
    add_time(to, "time", m->wall_us);
    add_number(to, "availableBytes", m->available);
    add_number(to, "usageBytes", m->usage);
    add_number(to, "workingSetBytes", m->working_set);
    add_number(to, "rssBytes", m->rss);
    add_number(to, "pageFaults", m->page_faults);
    add_number(to, "majorPageFaults", m->major_page_faults);
    close_object(to);
}

static void add_swap(struct buf *to, const struct agent_stats_memory *m)
{
    if (m->wall_us == 0 || m->swap == AGENT_STATS_UNKNOWN)
        return;
    open_object(to, "swap");
    add_time(to, "time", m->wall_us);
    add_number(to, "swapUsageBytes", m->swap);
    close_object(to);
}

static void add_interface(struct buf *to, const struct agent_stats_interface *i)
{
    add_text(to, "name", str_of(i->name));
    add_number(to, "rxBytes", i->rx_bytes);
    add_number(to, "rxErrors", i->rx_errors);
    add_number(to, "txBytes", i->tx_bytes);
    add_number(to, "txErrors", i->tx_errors);
}

static void add_network(struct buf *to, const struct agent_stats_network *n)
{
    if (n->wall_us == 0 || n->n == 0)
        return;
    open_object(to, "network");
    add_time(to, "time", n->wall_us);
    add_interface(to, &n->p[0]);
    key(to, "interfaces");
    for (size_t i = 0; i < n->n; i++) {
        (void)buf_add_cstr(to, i ? ",{" : "[{");
        add_interface(to, &n->p[i]);
        close_object(to);
    }
    (void)buf_add_cstr(to, "]}");
}

static void add_fs_fields(struct buf *to, const struct agent_stats_fs *f)
{
    add_time(to, "time", f->wall_us);
    add_number(to, "availableBytes", f->available);
    add_number(to, "capacityBytes", f->capacity);
    add_number(to, "usedBytes", f->used);
    add_number(to, "inodesFree", f->inodes_free);
    add_number(to, "inodes", f->inodes);
    add_number(to, "inodesUsed", f->inodes_used);
}

static void add_fs(struct buf *to, const char *name, const struct agent_stats_fs *f)
{
    if (f->wall_us == 0)
        return;
    open_object(to, name);
    add_fs_fields(to, f);
    close_object(to);
}

/* ------------------------------------------------------------------ the summary */

static void add_container(struct buf *to, const struct agent_stats_container *c, bool brief)
{
    (void)buf_add_char(to, '{');
    add_text(to, "name", c->name);
    add_time(to, "startTime", c->start_us);
    add_cpu(to, &c->cpu);
    add_memory(to, &c->memory);
    if (!brief) {
        add_fs(to, "rootfs", &c->rootfs);
        add_fs(to, "logs", &c->logs);
        add_swap(to, &c->memory);
    }
    close_object(to);
}

static void add_volumes(struct buf *to, const struct agent_stats_pod *p)
{
    if (p->n_volumes == 0)
        return;
    key(to, "volume");
    for (size_t i = 0; i < p->n_volumes; i++) {
        const struct agent_stats_volume *v = &p->volumes[i];
        (void)buf_add_cstr(to, i ? ",{" : "[{");
        add_fs_fields(to, &v->fs);
        add_text(to, "name", v->name);
        if (v->claim.n) {
            open_object(to, "pvcRef");
            add_text(to, "name", v->claim);
            add_text(to, "namespace", p->ns);
            close_object(to);
        }
        close_object(to);
    }
    (void)buf_add_char(to, ']');
}

static void add_pod(struct buf *to, const struct agent_stats_pod *p, bool brief)
{
    (void)buf_add_char(to, '{');
    open_object(to, "podRef");
    add_text(to, "name", p->name);
    add_text(to, "namespace", p->ns);
    add_text(to, "uid", p->uid);
    close_object(to);
    add_time(to, "startTime", p->start_us);
    key(to, "containers");
    (void)buf_add_char(to, '[');
    for (size_t i = 0; i < p->n_containers; i++) {
        if (i)
            (void)buf_add_char(to, ',');
        add_container(to, &p->containers[i], brief);
    }
    (void)buf_add_char(to, ']');
    add_cpu(to, &p->cpu);
    add_memory(to, &p->memory);
    if (!brief) {
        add_network(to, &p->network);
        add_volumes(to, p);
        add_fs(to, "ephemeral-storage", &p->ephemeral);
        if (p->processes != AGENT_STATS_UNKNOWN) {
            open_object(to, "process_stats");
            add_number(to, "process_count", p->processes);
            close_object(to);
        }
        add_swap(to, &p->memory);
    }
    close_object(to);
}

static void add_node(struct buf *to, const struct agent_stats *s, bool brief)
{
    open_object(to, "node");
    add_text(to, "nodeName", s->node);
    add_time(to, "startTime", s->start_us);
    add_cpu(to, &s->cpu);
    add_memory(to, &s->memory);
    if (!brief) {
        add_network(to, &s->network);
        add_fs(to, "fs", &s->fs);
        if (s->image_fs.wall_us) {
            open_object(to, "runtime");
            add_fs(to, "imageFs", &s->image_fs);
            close_object(to);
        }
        if (s->max_pid != AGENT_STATS_UNKNOWN) {
            open_object(to, "rlimit");
            add_time(to, "time", s->cpu.wall_us);
            add_number(to, "maxpid", s->max_pid);
            add_number(to, "curproc", s->processes);
            close_object(to);
        }
        add_swap(to, &s->memory);
    }
    close_object(to);
}

void agent_stats_summary(struct buf *to, const struct agent_stats *s, bool only_cpu_and_memory)
{
    (void)buf_add_char(to, '{');
    add_node(to, s, only_cpu_and_memory);
    key(to, "pods");
    (void)buf_add_char(to, '[');
    for (size_t i = 0; i < s->n_pods; i++) {
        if (i)
            (void)buf_add_char(to, ',');
        add_pod(to, &s->pods[i], only_cpu_and_memory);
    }
    (void)buf_add_cstr(to, "]}");
}
