/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What containers need of the machine: a program that runs them, control groups, a place in memory,
 * networks. Made with the first of them.
 */
#include "base/sys.h"
#include "fn/worker/oci_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROGRAM_MAX = 64 << 20 };

char *oci_find_program(const char *wanted)
{
    static const char *const dirs[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                        "/usr/bin",        "/sbin",          "/bin" };
    static const char *const names[] = { "crun", "runc" };
    if (wanted && strchr(wanted, '/'))
        return access(wanted, X_OK) == 0 ? xstrdup(wanted) : NULL;
    for (size_t n = 0; n < (wanted ? 1 : ARRAY_LEN(names)); n++)
        for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
            char *path = xasprintf("%s/%s", dirs[i], wanted ? wanted : names[n]);
            if (access(path, X_OK) == 0)
                return path;
            free(path);
        }
    return NULL;
}

/*
 * A mount namespace like ours (it follows what is mounted later) without the second hierarchy of
 * control groups.
 */
static int make_mount_ns(struct err *err)
{
    int made[2], wait[2];
    char path[64], byte = 1;
    if (pipe2(made, O_CLOEXEC) < 0)
        return err_sys(err, -errno, "pipe");
    if (pipe2(wait, O_CLOEXEC) < 0) {
        int r = -errno;
        (void)close(made[0]);
        (void)close(made[1]);
        return err_sys(err, r, "pipe");
    }
    pid_t pid = fork();
    if (pid == 0) {
        bool ok = unshare(CLONE_NEWNS) == 0 &&
                  mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
                  umount2("/sys/fs/cgroup/unified", MNT_DETACH) == 0;
        (void)close(wait[1]);
        if (ok && write(made[1], &byte, 1) == 1)
            (void)!read(wait[0], &byte, 1);
        _exit(0);
    }
    (void)close(made[1]);
    (void)close(wait[0]);
    int fd = -1;
    if (pid > 0 && read(made[0], &byte, 1) == 1) {
        (void)snprintf(path, sizeof path, "/proc/%d/ns/mnt", pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    (void)close(made[0]);
    (void)close(wait[1]);
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
    return fd < 0 ? err_set(err, E_UNSUPPORTED, "containers need a mount namespace of their own")
                  : fd;
}

char *oci_run_of(const char *dir)
{
    scoped(free_scoped) char *real = realpath(dir, NULL);
    return xasprintf(
        "/run/dormouse-fn-%016llx",
        (unsigned long long)str_hash(str_of(real ? real : dir), UINT64_C(0x646f726d6f757365)));
}

static int find_cgroups(struct oci *o, struct err *err)
{
    struct err why = { 0 };
    if (container_cgroups_find(OCI_CGROUP, &o->cgroups, &why) == 0)
        return 0;
    if (!o->no_limits || o->is_runc)
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
static int copy_program(struct oci *o, struct err *err)
{
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(PROGRAM_MAX);
    if (o->is_runc) {
        o->copy = xstrdup(o->program);
        return 0;
    }
    int r = sys_read_file(AT_FDCWD, o->program, &bytes, err);
    if (r < 0)
        return r;
    o->copy_fd = sys_memfd("crun");
    if (o->copy_fd < 0 || sys_write_all(o->copy_fd, bytes.p, bytes.n) < 0 ||
        fcntl(o->copy_fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) <
            0)
        return err_sys(err, -errno, "copy '%s' into memory", o->program);
    o->copy = xasprintf("/proc/self/fd/%d", o->copy_fd);
    return 0;
}

static int set_up(struct oci *o, struct err *err)
{
    scoped(free_scoped) char *crun = xasprintf("%s/crun", o->run);
    int r = find_cgroups(o, err);
    if (r == 0)
        r = sys_mkdir_all(crun, 0700, err);
    if (r == 0)
        r = copy_program(o, err);
    if (r == 0 && !o->is_runc)
        r = container_seccomp_make(&o->filter, err);
    if (r < 0)
        return r;
    if (container_cgroups_are_hybrid() && (o->mount_ns = make_mount_ns(err)) < 0)
        return o->mount_ns;
    do /* 0 to 2 become it, if whoever started us had closed them */
        o->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (o->null_fd >= 0 && o->null_fd <= 2);
    if (o->null_fd < 0)
        return err_sys(err, -errno, "/dev/null");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) /* containers become our children: see how they end */
        return err_sys(err, -errno, "become a subreaper");
    return container_networks_new(o->loop, o->subnet, o->n_networks, &o->networks, err);
}

int oci_ensure_set_up(struct oci *o, struct err *err)
{
    if (o->at == OCI_NEW)
        o->at = set_up(o, &o->broken) < 0 ? OCI_BROKEN : OCI_SET_UP;
    return o->at == OCI_SET_UP
               ? 0
               : err_set(err, E_UNSUPPORTED, "containers on this worker: %s", err_text(&o->broken));
}

void oci_tear_down(struct oci *o)
{
    scoped(free_scoped) char *crun = xasprintf("%s/crun", o->run);
    (void)rmdir(crun); /* containers that could not be removed keep theirs */
    (void)rmdir(o->run);
    if (o->mount_ns >= 0)
        (void)close(o->mount_ns);
    if (o->null_fd >= 0)
        (void)close(o->null_fd);
    if (o->copy_fd >= 0)
        (void)close(o->copy_fd);
    free(o->copy);
    free(o->filter);
}
