/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What containers need of the machine: a program that runs them, control groups, a place in memory,
 * networks. Made with the first of them.
 */
#include "base/log.h"
#include "base/sys.h"
#include "container/container_impl.h"
#include "container/program.h"
#include "container/syscalls.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROGRAM_MAX = 64 << 20 };

char *container_host_run_dir(const char *kind, const char *data_dir)
{
    scoped(free_scoped) char *real = realpath(data_dir, NULL);
    return xasprintf(
        "/run/dormouse-%s-%016llx", kind,
        (unsigned long long)str_hash(str_of(real ? real : data_dir), UINT64_C(0x646f726d6f757365)));
}

static int find_cgroups(struct container_host *h, struct err *err)
{
    struct err why = { 0 };
    if (container_cgroups_find(h->parent, &h->cgroups, &why) == 0)
        return 0;
    if (!h->no_limits || h->is_runc)
        return err_set(err, E_UNSUPPORTED,
                       "%s; containers without limits of CPU, memory and processes have to be "
                       "asked for",
                       err_text(&why));
    log_warn("containers have no limits", "reason=\"%s\"", err_text(&why));
    return 0;
}

/*
 * crun copies itself into sealed memory whenever it starts, so that no container can reach the file
 * by /proc/self/exe and change it (CVE-2019-5736), and then starts again from there. Started from
 * such a copy it does not.
 */
static int copy_program(struct container_host *h, struct err *err)
{
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(PROGRAM_MAX);
    if (h->is_runc) {
        h->copy = xstrdup(h->program);
        return 0;
    }
    int r = sys_read_file(AT_FDCWD, h->program, &bytes, err);
    if (r < 0)
        return r;
    h->copy_fd = sys_memfd("crun");
    if (h->copy_fd < 0 || sys_write_all(h->copy_fd, bytes.p, bytes.n) < 0 ||
        fcntl(h->copy_fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) <
            0)
        return err_sys(err, -errno, "copy '%s' into memory", h->program);
    h->copy = xasprintf("/proc/self/fd/%d", h->copy_fd);
    return 0;
}

/* Above 2: see process_spawn(). */
static int make_empty(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    int fd = fcntl(ends[0], F_DUPFD_CLOEXEC, 3), r = fd < 0 ? -errno : fd;
    (void)close(ends[0]);
    (void)close(ends[1]);
    return r;
}

static int set_up(struct container_host *h, struct err *err)
{
    scoped(free_scoped) char *crun = xasprintf("%s/crun", h->run);
    int r = find_cgroups(h, err);
    if (r == 0)
        r = sys_mkdir_all(crun, 0700, err);
    if (r == 0)
        r = copy_program(h, err);
    if (r == 0 && !h->is_runc)
        r = container_syscalls_compile(&h->filter, err);
    if (r < 0)
        return r;
    h->hides_cgroup2 = container_cgroups_are_hybrid();
    do /* 0 to 2 become it, if the caller of this program had closed them */
        h->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (h->null_fd >= 0 && h->null_fd <= 2);
    if (h->null_fd < 0)
        return err_sys(err, -errno, "/dev/null");
    h->empty_fd = make_empty();
    if (h->empty_fd < 0)
        return err_sys(err, h->empty_fd, "pipe");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) /* containers become our children: see how they end */
        return err_sys(err, -errno, "become a subreaper");
    return container_networks_new(h->loop, h->subnet, h->n_networks, &h->networks, err);
}

int container_host_set_up(struct container_host *h, struct err *err)
{
    if (h->at == CONTAINER_HOST_NEW)
        h->at = set_up(h, &h->broken) < 0 ? CONTAINER_HOST_BROKEN : CONTAINER_HOST_SET_UP;
    return h->at == CONTAINER_HOST_SET_UP
               ? 0
               : err_set(err, E_UNSUPPORTED, "containers on this machine: %s",
                         err_text(&h->broken));
}

struct container_machine container_host_machine(const struct container_host *h)
{
    assert(h->at == CONTAINER_HOST_SET_UP);
    return (struct container_machine){ .cgroup = h->cgroups.kind ? h->cgroups.parent : NULL,
                                       .is_cgroup2 = h->cgroups.kind == CONTAINER_CGROUPS_V2,
                                       .counts_swap = container_cgroups_count_swap(&h->cgroups),
                                       .filter = h->filter };
}

/* ---- control groups ---- */

bool container_host_is_word(struct str s)
{
    bool ok = s.n > 0 && s.p[0] != '.';
    for (size_t i = 0; ok && i < s.n; i++)
        ok = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
             (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '-' || s.p[i] == '_' || s.p[i] == '.';
    return ok;
}

bool container_host_is_group(struct str s)
{
    struct str word, left = s;
    bool has_more = s.n > 0 && s.n < CONTAINER_POD_NAME_MAX;
    while (has_more) {
        has_more = str_cut(left, '/', &word, &left);
        if (!container_host_is_word(word))
            return false;
    }
    return s.n > 0 && s.n < CONTAINER_POD_NAME_MAX;
}

void container_host_group(const struct container_host *h, const char *name,
                          char to[CONTAINER_CGROUP_NAME_MAX])
{
    int n = snprintf(to, CONTAINER_CGROUP_NAME_MAX, "%s%s%s",
                     name[0] ? strrchr(h->run, '-') + 1 : "", name[0] ? "-" : "", name);
    assert(n < CONTAINER_CGROUP_NAME_MAX);
}

void container_host_keepers(const struct container_host *h, char to[CONTAINER_CGROUP_NAME_MAX])
{
    (void)snprintf(to, CONTAINER_CGROUP_NAME_MAX, "keepers-%s", strrchr(h->run, '-') + 1);
}

/* As it is called below h->parent. */
static int find_group(struct container_host *h, const char *name,
                      char to[CONTAINER_CGROUP_NAME_MAX], struct err *err)
{
    int r = container_host_set_up(h, err);
    if (r < 0)
        return r;
    if (!container_host_is_group(str_of(name)))
        return err_set(err, E_INVALID, "'%s' is no name of a group of containers", name);
    container_host_group(h, name, to);
    return 0;
}

int container_pod_group_make(struct container_host *h, const char *name,
                             const struct container_limits *limits, struct err *err)
{
    char group[CONTAINER_CGROUP_NAME_MAX];
    int r = find_group(h, name, group, err);
    r = r < 0 ? r : container_cgroup_make(&h->cgroups, group, err);
    return r < 0 ? r : container_cgroup_limit(&h->cgroups, group, limits, err);
}

int container_pod_group_limit(struct container_host *h, const char *name,
                              const struct container_limits *limits, struct err *err)
{
    char group[CONTAINER_CGROUP_NAME_MAX];
    int r = find_group(h, name, group, err);
    return r < 0 ? r : container_cgroup_limit(&h->cgroups, group, limits, err);
}

int container_pod_group_remove(struct container_host *h, const char *name)
{
    char group[CONTAINER_CGROUP_NAME_MAX];
    int r = find_group(h, name, group, NULL);
    return r < 0 ? r : container_cgroup_remove(&h->cgroups, group);
}

int container_pod_group_usage(struct container_host *h, const char *name,
                              struct container_usage *ret)
{
    char group[CONTAINER_CGROUP_NAME_MAX] = "";
    int r = name[0] ? find_group(h, name, group, NULL) : container_host_set_up(h, NULL);
    return r < 0 ? r : container_cgroup_usage(&h->cgroups, group, ret);
}

struct group_each {
    struct str prefix; /* of the names on the first level */
    void (*each)(void *arg, const char *name);
    void *arg;
};

static void on_group(void *arg, const char *name)
{
    const struct group_each *e = arg;
    if (str_has_prefix(str_of(name), e->prefix))
        e->each(e->arg, name + e->prefix.n);
}

void container_pod_group_each(struct container_host *h, const char *name,
                              void (*each)(void *arg, const char *name), void *arg)
{
    char group[CONTAINER_CGROUP_NAME_MAX] = "", prefix[32] = "";
    if (name[0] ? find_group(h, name, group, NULL) < 0 : container_host_set_up(h, NULL) < 0)
        return;
    if (!name[0])
        (void)snprintf(prefix, sizeof prefix, "%s-", strrchr(h->run, '-') + 1);
    struct group_each e = { .prefix = str_of(prefix), .each = each, .arg = arg };
    container_cgroup_each(&h->cgroups, group, on_group, &e);
}

const struct container_cgroups *container_host_cgroups(const struct container_host *h)
{
    return &h->cgroups;
}

struct group_removal {
    const struct container_cgroups *cgroups;
    const char *prefix;
    int r;
};

static void remove_if_of(void *arg, const char *name)
{
    struct group_removal *g = arg;
    if (g->r == 0 && str_has_prefix(str_of(name), str_of(g->prefix)))
        g->r = container_cgroup_remove_empty(g->cgroups, name);
}

/* Where containers have keepers, those end last: then nothing of a container that runs was
 * removed. */
int container_host_remove_groups(const struct container_cgroups *cgroups, const char *hash)
{
    char prefix[32], keepers[CONTAINER_CGROUP_NAME_MAX];
    (void)snprintf(prefix, sizeof prefix, "%s-", hash);
    (void)snprintf(keepers, sizeof keepers, "keepers-%s", hash);
    struct group_removal g = { .cgroups = cgroups, .prefix = prefix };
    if (cgroups->kind == CONTAINER_CGROUPS_NONE)
        return -EBUSY; /* unknown */
    g.r = container_cgroup_remove_empty(cgroups, keepers);
    if (g.r == 0)
        container_cgroup_each(cgroups, "", remove_if_of, &g);
    return g.r;
}

/* ---- what is coming ---- */

static void work_expect(struct job *j)
{
    const struct container_host *h = container_of(j, struct container_host, expecting);
    container_cgroup_prepare_moves(&h->cgroups);
}

static void on_expected(struct job *j, int r)
{
    struct container_host *h = container_of(j, struct container_host, expecting);
    h->is_expecting = false;
    container_host_check_closed(h);
}

void container_host_expect(struct container_host *h)
{
    if (h->is_expecting || h->at != CONTAINER_HOST_SET_UP || h->done)
        return;
    h->expecting = (struct job){ .work = work_expect, .done = on_expected };
    h->is_expecting = job_start(h->loop, &h->expecting) == 0;
}

/* ---- a host ---- */

int container_host_new(const struct container_host_opts *o, struct container_host **ret,
                       struct err *err)
{
    char *program;
    struct err why = { 0 };
    if (geteuid() != 0)
        return err_set(err, E_UNSUPPORTED,
                       "containers need root: network namespaces and control groups are ours to "
                       "make");
    if (container_program_find(o->program, &program, &why) < 0)
        return err_set(err, E_UNSUPPORTED, "containers need an OCI runtime: %s", err_text(&why));
    struct container_host *h = xnew(struct container_host);
    h->loop = o->loop;
    h->program = program;
    h->is_runc = !container_program_is_crun(program);
    h->no_limits = o->no_limits;
    h->output_rate = o->output_rate;
    container_output_reader_init(&h->reader, o->loop);
    h->run = container_host_run_dir(o->kind, o->data_dir);
    h->parent = xasprintf("/dormouse-%s", o->kind);
    h->subnet = xstrdup(o->subnet ? o->subnet : CONTAINER_SUBNET_DEFAULT);
    h->n_networks = o->n_networks ? o->n_networks : CONTAINER_NETWORKS_DEFAULT;
    h->keeper_fd = h->null_fd = h->empty_fd = h->copy_fd = -1;
    list_init(&h->queue);
    list_init(&h->exec_queue);
    *ret = h;
    return 0;
}

static void close_descriptors(const struct container_host *h)
{
    const int fds[] = { h->keeper_fd, h->null_fd, h->empty_fd, h->copy_fd };
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
}

static void on_networks_closed(void *arg)
{
    struct container_host *h = arg;
    void (*done)(void *) = h->done;
    void *done_arg = h->done_arg;
    scoped(free_scoped) char *crun = xasprintf("%s/crun", h->run);
    char keepers[CONTAINER_CGROUP_NAME_MAX]; /* perhaps of an earlier process */
    container_host_keepers(h, keepers);
    if (!h->is_leaving)
        (void)container_cgroup_remove(&h->cgroups, keepers);
    (void)rmdir(crun); /* containers that could not be removed keep theirs */
    (void)rmdir(h->run);
    close_descriptors(h);
    map_fini(&h->containers);
    free(h->copy);
    free(h->filter);
    free(h->run);
    free(h->parent);
    free(h->program);
    free(h->subnet);
    free(h);
    done(done_arg);
}

static void on_closing(struct defer *d)
{
    struct container_host *h = container_of(d, struct container_host, closing);
    timer_stop(h->loop, &h->reap);
    container_output_reader_fini(&h->reader);
    if (h->networks)
        container_networks_close(h->networks, on_networks_closed, h);
    else
        on_networks_closed(h);
}

void container_host_check_closed(struct container_host *h)
{
    if (h->done && h->containers.n == 0 && !h->is_expecting)
        defer_start(h->loop, &h->closing, on_closing);
}

void container_host_leave(struct container_host *h, void (*done)(void *arg), void *arg)
{
    h->done = done;
    h->done_arg = arg;
    h->is_leaving = true;
    map_each (e, &h->containers)
        container_leave(e->value);
    container_host_check_closed(h);
}

void container_host_close(struct container_host *h, void (*done)(void *arg), void *arg)
{
    h->done = done;
    h->done_arg = arg;
    map_each (e, &h->containers) /* also those that still have some grace */
        container_stop(e->value, 0);
    container_host_check_closed(h);
}

bool container_host_is_crun(const struct container_host *h)
{
    return !h->is_runc;
}

int container_host_crun_version(struct container_host *h)
{
    if (h->version <= 0)
        h->version = container_program_crun_version(h->program);
    return h->version;
}
