/* SPDX-License-Identifier: Apache-2.0 */
#include "container/spec.h"

#include "base/map.h"
#include "base/mem.h"
#include "codec/json.h"
#include "container/cgroup.h"
#include "container/syscall_profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_MAX = 80, SYSCTL_NAME_MAX = 256 };

#define TERMINALS "\"nosuid\",\"noexec\",\"newinstance\",\"ptmxmode=0666\",\"mode=0620\""
#define SAFE      "\"nosuid\",\"noexec\",\"nodev\""

/* ---- process ---- */

static int check(struct str s, const char *what, struct err *err)
{
    return s.n && memchr(s.p, 0, s.n) ? err_set(err, E_INVALID, "%s contains a NUL", what) : 0;
}

static void add_user(const struct container_user *u, struct buf *to)
{
    (void)buf_printf(to, "\"user\":{\"uid\":%u,\"gid\":%u,\"additionalGids\":[", u->uid, u->gid);
    for (size_t i = 0; i < u->n_groups; i++)
        (void)buf_printf(to, "%s%u", i ? "," : "", u->groups[i]);
    (void)buf_add_cstr(to, "]}");
}

static int add_args(const struct container_process *p, struct buf *to, struct err *err)
{
    bool is_first = true;
    (void)buf_add_cstr(to, ",\"args\":[");
    for (size_t l = 0; l < p->n_args; l++)
        for (size_t i = 0; i < p->args[l].n; i++) {
            int r = check(p->args[l].p[i], "an argument", err);
            if (r < 0)
                return r;
            (void)buf_add_cstr(to, is_first ? "" : ",");
            (void)json_write_str(to, p->args[l].p[i]);
            is_first = false;
        }
    (void)buf_add_char(to, ']');
    return 0;
}

/* The name of NAME=VALUE; empty: it is no variable. */
static struct str name_of(struct str variable)
{
    struct str name, value;
    return str_cut(variable, '=', &name, &value) ? name : STR("");
}

/* Note where the last variable of each name is. */
static int note_variables(struct container_strings list, struct map *last, struct err *err)
{
    for (size_t i = 0; i < list.n; i++) {
        struct str name = name_of(list.p[i]), shown = str_slice(list.p[i], 0, SHOWN_MAX);
        int r = check(list.p[i], "a variable of the environment", err);
        if (r < 0)
            return r;
        if (name.n == 0)
            return err_set(err, E_INVALID, "'" STR_FMT "' is no variable (NAME=VALUE)",
                           STR_ARG(shown));
        (void)map_put(last, name, (void *)(uintptr_t)&list.p[i]);
    }
    return 0;
}

static void add_variables(struct container_strings list, const struct map *last, bool *is_first,
                          struct buf *to)
{
    for (size_t i = 0; i < list.n; i++) {
        if (map_get(last, name_of(list.p[i])) != &list.p[i])
            continue;
        (void)buf_add_cstr(to, *is_first ? "" : ",");
        (void)json_write_str(to, list.p[i]);
        *is_first = false;
    }
}

static int add_env(const struct container_process *p, struct buf *to, struct err *err)
{
    const struct str path =
        STR("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    const struct container_strings usual = { &path, 1 };
    struct map last = { .borrows_keys = true };
    bool is_first = true;
    int r = note_variables(usual, &last, err);
    for (size_t l = 0; l < p->n_env && r >= 0; l++)
        r = note_variables(p->env[l], &last, err);
    (void)buf_add_cstr(to, ",\"env\":[");
    add_variables(usual, &last, &is_first, to);
    for (size_t l = 0; l < p->n_env && r >= 0; l++)
        add_variables(p->env[l], &last, &is_first, to);
    (void)buf_add_char(to, ']');
    map_fini(&last);
    return r;
}

static int add_cwd(struct str cwd, struct buf *to, struct err *err)
{
    if (cwd.n == 0)
        cwd = STR("/");
    int r = check(cwd, "process.cwd", err);
    if (r < 0)
        return r;
    struct str shown = str_slice(cwd, 0, SHOWN_MAX);
    if (cwd.p[0] != '/')
        return err_set(err, E_INVALID, "process.cwd '" STR_FMT "' is not absolute", STR_ARG(shown));
    (void)buf_add_cstr(to, ",\"cwd\":");
    return json_write_str(to, cwd);
}

int container_spec_write_program(const struct container_process *p, struct buf *to, struct err *err)
{
    add_user(p->user, to);
    int r = add_args(p, to, err);
    r = r < 0 ? r : add_env(p, to, err);
    return r < 0 ? r : add_cwd(p->cwd, to, err);
}

/* A program that is not root gets the bounding set alone, as after execve() of root's. */
static void add_capabilities(const char *const *names, bool is_root, struct buf *to)
{
    static const struct {
        const char *set;
        bool for_all;
    } sets[] = { { "bounding", true }, { "effective", false }, { "permitted", false } };
    (void)buf_add_cstr(to, ",\"capabilities\":{\"inheritable\":[],\"ambient\":[]");
    for (size_t s = 0; s < ARRAY_LEN(sets); s++) {
        (void)buf_printf(to, ",\"%s\":[", sets[s].set);
        for (size_t i = 0; names && names[i] && (sets[s].for_all || is_root); i++)
            (void)buf_printf(to, "%s\"%s\"", i ? "," : "", names[i]);
        (void)buf_add_char(to, ']');
    }
    (void)buf_add_char(to, '}');
}

static bool has_program(const struct container_process *p)
{
    for (size_t l = 0; l < p->n_args; l++)
        if (p->args[l].n)
            return p->args[l].p[0].n > 0;
    return false;
}

int container_spec_write_process(const struct container_process *p, struct buf *to, struct err *err)
{
    unsigned long long n_files = p->n_files ? p->n_files : CONTAINER_FILES_OPEN_DEFAULT;
    if (!has_program(p))
        return err_set(err, E_INVALID,
                       "the image names no program (process.args), and none was given");
    (void)buf_printf(to, "{\"terminal\":%s,\"noNewPrivileges\":%s,",
                     p->has_terminal ? "true" : "false", p->gains_privileges ? "false" : "true");
    int r = container_spec_write_program(p, to, err);
    if (r < 0)
        return r;
    add_capabilities(p->capabilities, p->user->uid == 0, to);
    if (p->oom_score_adj)
        (void)buf_printf(to, ",\"oomScoreAdj\":%d", p->oom_score_adj);
    if (p->columns && p->rows)
        (void)buf_printf(to, ",\"consoleSize\":{\"height\":%u,\"width\":%u}", p->rows, p->columns);
    if (!p->keeps_limits)
        (void)buf_printf(to,
                         ",\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"hard\":%llu,\"soft\":%llu},"
                         "{\"type\":\"RLIMIT_CORE\",\"hard\":0,\"soft\":0}]",
                         n_files, n_files);
    (void)buf_add_char(to, '}');
    return buf_ok(to) ? 0 : err_set(err, -EMSGSIZE, "the section 'process' is too large");
}

/* ---- mounts ---- */

static void begin_mount(struct str where, const char *type, struct buf *to)
{
    (void)buf_add_cstr(to, to->p[to->n - 1] == '[' ? "{\"destination\":" : ",{\"destination\":");
    (void)json_write_str(to, where);
    (void)buf_printf(to, ",\"type\":\"%s\",\"source\":", type);
}

static void add_usual(const char *where, const char *type, const char *source, const char *options,
                      struct buf *to)
{
    begin_mount(str_of(where), type, to);
    (void)buf_printf(to, "\"%s\",\"options\":[%s]}", source, options);
}

static void add_volume(const struct container_mount *m, struct buf *to)
{
    static const char *const propagations[] = { [CONTAINER_PROPAGATION_PRIVATE] = "rprivate",
                                                [CONTAINER_PROPAGATION_SLAVE] = "rslave",
                                                [CONTAINER_PROPAGATION_SHARED] = "rshared" };
    begin_mount(m->where, "bind", to);
    (void)json_write_str(to, m->source);
    (void)buf_printf(to, ",\"options\":[\"rbind\",\"%s\",\"%s\"%s]}", propagations[m->propagation],
                     m->is_writable           ? "rw"
                     : m->is_deeply_read_only ? "rro"
                                              : "ro",
                     m->is_mapped ? ",\"idmap\"" : "");
}

static void add_mount(const struct container_mount *m, struct buf *to)
{
    switch (m->kind) {
    case CONTAINER_MOUNT_TMPFS:
        begin_mount(m->where, "tmpfs", to);
        (void)buf_printf(to, "\"tmpfs\",\"options\":[\"nosuid\",\"nodev\",\"mode=%o\"", m->mode);
        if (m->size_bytes)
            (void)buf_printf(to, ",\"size=%llu\"", (unsigned long long)m->size_bytes);
        (void)buf_add_cstr(to, "]}");
        return;
    case CONTAINER_MOUNT_BIND:
        begin_mount(m->where, "bind", to);
        (void)json_write_str(to, m->source);
        break;
    case CONTAINER_MOUNT_FILE:
        begin_mount(m->where, "bind", to);
        (void)buf_printf(to, "\"%c/%zu\"", CONTAINER_HOLE_FILES, m->file);
        break;
    case CONTAINER_MOUNT_VOLUME:
        add_volume(m, to);
        return;
    }
    (void)buf_add_cstr(to, ",\"options\":[\"bind\",\"ro\"," SAFE "]}");
}

static void add_shm(const struct container_spec *s, struct buf *to)
{
    char options[96];
    if (s->shm.n) {
        begin_mount(STR("/dev/shm"), "bind", to);
        (void)json_write_str(to, s->shm);
        (void)buf_printf(to, ",\"options\":[\"rbind\",\"rw\"%s," SAFE "]}",
                         s->user ? ",\"idmap\"" : "");
        return;
    }
    (void)snprintf(options, sizeof options, SAFE ",\"mode=1777\",\"size=%llu\"",
                   (unsigned long long)(s->shm_bytes ? s->shm_bytes : CONTAINER_SHM_BYTES));
    add_usual("/dev/shm", "tmpfs", "shm", options, to);
}

static void add_mounts(const struct container_spec *s, struct buf *to)
{
    (void)buf_add_cstr(to, ",\"mounts\":[");
    add_usual("/proc", "proc", "proc", SAFE, to);
    add_usual("/dev", "tmpfs", "tmpfs", "\"nosuid\",\"strictatime\",\"mode=755\",\"size=65536\"",
              to);
    if (s->has_terminals) {
        add_usual("/dev/pts", "devpts", "devpts",
                  s->is_in_user_namespace ? TERMINALS : TERMINALS ",\"gid=5\"", to);
        add_usual("/dev/mqueue", "mqueue", "mqueue", SAFE, to);
    }
    add_shm(s, to);
    add_usual("/sys", "sysfs", "sysfs", s->is_privileged ? SAFE : SAFE ",\"ro\"", to);
    if (s->has_cgroup)
        add_usual("/sys/fs/cgroup", "cgroup", "cgroup", s->is_privileged ? SAFE : SAFE ",\"ro\"",
                  to);
    for (size_t i = 0; i < s->n_mounts; i++)
        add_mount(&s->mounts[i], to);
    (void)buf_add_char(to, ']');
}

/* ---- linux ---- */

static bool has_group(const struct container_spec *s)
{
    return s->machine && s->machine->cgroup;
}

/* path: NULL: a new one. */
static void add_namespace(const char *type, const char *path, struct buf *to)
{
    if (path && strcmp(path, CONTAINER_NAMESPACE_MACHINE) == 0)
        return;
    (void)buf_printf(to, ",{\"type\":\"%s\"", type);
    if (path) {
        (void)buf_add_cstr(to, ",\"path\":");
        (void)json_write_str(to, str_of(path));
    }
    (void)buf_add_char(to, '}');
}

static void add_namespaces(const struct container_spec *s, struct buf *to)
{
    (void)buf_add_cstr(to, "\"namespaces\":[{\"type\":\"mount\"}");
    add_namespace("pid", s->pid, to);
    add_namespace("ipc", s->ipc, to);
    add_namespace("uts", s->uts, to);
    if (s->user || s->uids.n)
        add_namespace("user", s->user, to);
    if (has_group(s) && s->machine->is_cgroup2 && !s->is_privileged)
        add_namespace("cgroup", NULL, to);
    switch (s->network) {
    case CONTAINER_SPEC_LOOPBACK:
        add_namespace("network", NULL, to);
        break;
    case CONTAINER_SPEC_HOLE:
        (void)buf_printf(to, ",{\"type\":\"network\",\"path\":\"%c\"}", CONTAINER_HOLE_NETWORK);
        break;
    case CONTAINER_SPEC_MACHINE:
        break;
    }
    (void)buf_add_char(to, ']');
}

static void add_ranges(const char *name, struct container_id_ranges ranges, struct buf *to)
{
    (void)buf_printf(to, ",\"%s\":[", name);
    for (size_t i = 0; i < ranges.n; i++)
        (void)buf_printf(to, "%s{\"containerID\":%u,\"hostID\":%u,\"size\":%u}", i ? "," : "",
                         ranges.p[i].container, ranges.p[i].machine, ranges.p[i].n);
    (void)buf_add_char(to, ']');
}

static void add_devices(const struct container_spec *s, struct buf *to)
{
    (void)buf_add_cstr(to, ",\"devices\":[");
    for (size_t i = 0; i < s->n_devices; i++) {
        const struct container_device *d = &s->devices[i];
        (void)buf_add_cstr(to, i ? ",{\"path\":" : "{\"path\":");
        (void)json_write_str(to, d->path);
        (void)buf_printf(to,
                         ",\"type\":\"%c\",\"major\":%u,\"minor\":%u,\"fileMode\":%u,"
                         "\"uid\":%u,\"gid\":%u}",
                         d->is_block ? 'b' : 'c', d->major, d->minor, d->mode, d->uid, d->gid);
    }
    (void)buf_add_char(to, ']');
}

/* Those that can be opened. */
static void add_device_rules(const struct container_spec *s, struct buf *to)
{
    (void)buf_printf(to, "\"devices\":[{\"allow\":%s,\"access\":\"rwm\"}",
                     s->is_privileged ? "true" : "false");
    for (size_t i = 0; i < s->n_devices && !s->is_privileged; i++)
        (void)buf_printf(to,
                         ",{\"allow\":true,\"type\":\"%c\",\"major\":%u,\"minor\":%u,"
                         "\"access\":\"rwm\"}",
                         s->devices[i].is_block ? 'b' : 'c', s->devices[i].major,
                         s->devices[i].minor);
    (void)buf_add_char(to, ']');
}

static bool is_sysctl_name(struct str s)
{
    bool ok = s.n > 0 && s.n <= SYSCTL_NAME_MAX && s.p[0] != '.' && s.p[0] != '/';
    for (size_t i = 0; ok && i < s.n; i++)
        ok = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') ||
             s.p[i] == '_' || s.p[i] == '-' ||
             ((s.p[i] == '.' || s.p[i] == '/') && s.p[i - 1] != '.' && s.p[i - 1] != '/');
    return ok;
}

static int add_sysctls(const struct container_spec *s, struct buf *to, struct err *err)
{
    (void)buf_add_cstr(to, ",\"sysctl\":{");
    for (size_t i = 0; i < s->n_sysctls; i++) {
        struct str name = s->sysctls[i].name, shown = str_slice(name, 0, SHOWN_MAX);
        if (!is_sysctl_name(name))
            return err_set(err, E_INVALID, "'" STR_FMT "' is no name of a sysctl", STR_ARG(shown));
        int r = check(s->sysctls[i].value, "the value of a sysctl", err);
        if (r < 0)
            return r;
        (void)buf_add_cstr(to, i ? "," : "");
        (void)json_write_str(to, name);
        (void)buf_add_char(to, ':');
        (void)json_write_str(to, s->sysctls[i].value);
    }
    (void)buf_add_char(to, '}');
    return 0;
}

/*
 * No devices but those that runtimes add themselves (null, zero, full, random,
 * terminals): without a word about devices crun 1.8 allows all, and a node in the root file system
 * is enough to open one.
 */
static void add_resources(const struct container_spec *s, struct buf *to)
{
    const struct container_limits *l = &s->limits;
    unsigned long long memory = l->memory_bytes, pids = l->pids,
                       shares = container_cgroup_shares(l->cpu_milli);
    (void)buf_printf(to, ",\"cgroupsPath\":\"%s/%c\",\"resources\":{\"cpu\":{\"shares\":%llu",
                     s->machine->cgroup, CONTAINER_HOLE_GROUP, shares);
    if (l->cpu_quota_milli)
        (void)buf_printf(to, ",\"quota\":%llu,\"period\":%d",
                         (unsigned long long)container_cgroup_quota_us(l->cpu_quota_milli),
                         CONTAINER_CGROUP_PERIOD_US);
    (void)buf_add_char(to, '}');
    if (memory)
        (void)buf_printf(to, ",\"memory\":{\"limit\":%llu", memory);
    if (memory && s->machine->counts_swap)
        (void)buf_printf(to, ",\"swap\":%llu", memory);
    (void)buf_add_cstr(to, memory ? "}" : "");
    if (pids)
        (void)buf_printf(to, ",\"pids\":{\"limit\":%llu}", pids);
    (void)buf_add_char(to, ',');
    add_device_rules(s, to);
    (void)buf_add_char(to, '}');
}

/* What the mounts need: mounts of the machine do not come further than the root. */
static void add_root_propagation(const struct container_spec *s, struct buf *to)
{
    enum container_propagation most = CONTAINER_PROPAGATION_PRIVATE;
    for (size_t i = 0; i < s->n_mounts; i++)
        if (s->mounts[i].kind == CONTAINER_MOUNT_VOLUME)
            most = MAX(most, s->mounts[i].propagation);
    if (most != CONTAINER_PROPAGATION_PRIVATE)
        (void)buf_printf(to, ",\"rootfsPropagation\":\"%s\"",
                         most == CONTAINER_PROPAGATION_SHARED ? "rshared" : "rslave");
}

static int add_seccomp(const struct container_spec *s, struct buf *to, struct err *err)
{
    if (s->syscalls == CONTAINER_SYSCALLS_ALL)
        return 0;
    (void)buf_add_cstr(to, ",\"seccomp\":");
    if (s->syscalls == CONTAINER_SYSCALLS_PROFILE)
        return container_syscall_profile_write(s->seccomp, to, err);
    container_syscalls_write(s->syscalls, s->process.capabilities, to);
    return 0;
}

static void add_masks(const struct container_spec *s, struct buf *to)
{
    if (s->is_unmasked || s->is_privileged)
        return;
    (void)buf_printf(
        to,
        ",\"maskedPaths\":[\"/proc/acpi\",\"/proc/asound\",\"/proc/kcore\",\"/proc/keys\","
        "\"/proc/latency_stats\",\"/proc/timer_list\",\"/proc/timer_stats\","
        "\"/proc/sched_debug\",\"/proc/scsi\",\"/sys/firmware\",\"/sys/kernel/debug\","
        "%s\"/sys/devices/virtual/powercap\"],\"readonlyPaths\":[\"/proc/bus\","
        "\"/proc/fs\",\"/proc/irq\",\"/proc/sys\",\"/proc/sysrq-trigger\"]",
        s->has_cgroup ? "" : "\"/sys/fs/cgroup\",");
}

static int add_linux(const struct container_spec *s, struct buf *to, struct err *err)
{
    (void)buf_add_cstr(to, ",\"linux\":{");
    add_namespaces(s, to);
    if (s->uids.n || s->gids.n) {
        add_ranges("uidMappings", s->uids, to);
        add_ranges("gidMappings", s->gids, to);
    }
    if (has_group(s))
        add_resources(s, to);
    if (s->n_devices)
        add_devices(s, to);
    int r = s->n_sysctls ? add_sysctls(s, to, err) : 0;
    r = r < 0 ? r : add_seccomp(s, to, err);
    add_root_propagation(s, to);
    add_masks(s, to);
    (void)buf_add_char(to, '}');
    return r;
}

/* ---- the whole ---- */

int container_spec_write(const struct container_spec *s, struct buf *to, struct err *err)
{
    if (s->pid && !has_group(s))
        return err_set(
            err, E_UNSUPPORTED,
            "a PID namespace cannot be shared without a control group: nothing would end "
            "what the program leaves");
    (void)buf_add_cstr(to, "{\"ociVersion\":\"1.0.2\",\"process\":");
    int r = container_spec_write_process(&s->process, to, err);
    if (r < 0)
        return r;
    (void)buf_add_cstr(to, ",\"root\":{\"path\":");
    (void)json_write_str(to, str_of(s->root));
    (void)buf_printf(to, ",\"readonly\":%s}", s->is_root_writable ? "false" : "true");
    if (!s->uts) {
        (void)buf_add_cstr(to, ",\"hostname\":");
        (void)json_write_str(to, str_of(s->host_name));
    }
    add_mounts(s, to);
    r = add_linux(s, to, err);
    if (r < 0)
        return r;
    if (s->machine && s->machine->filter && s->syscalls == CONTAINER_SYSCALLS_ALLOW_LIST)
        (void)buf_printf(to, ",\"annotations\":{\"run.oci.seccomp_bpf_data\":\"%s\"}",
                         s->machine->filter); /* a crun that does not know it uses the rules */
    (void)buf_add_char(to, '}');
    return buf_ok(to) ? 0 : err_set(err, -EMSGSIZE, "config.json is too large");
}

void container_spec_fill(struct str config, const char *const with[CONTAINER_HOLES], struct buf *to)
{
    size_t from = 0;
    for (size_t i = 0; i < config.n; i++) {
        unsigned char c = (unsigned char)config.p[i];
        if (c == 0 || c >= CONTAINER_HOLES)
            continue;
        (void)buf_add(to, config.p + from, i - from);
        (void)buf_add_cstr(to, with[c]);
        from = i + 1;
    }
    (void)buf_add(to, config.p + from, config.n - from);
}
