/* SPDX-License-Identifier: Apache-2.0 */
#include "image/container_config.h"

#include "codec/json.h"

#include <errno.h>
#include <stdio.h>

enum {
    ERRNO_PERM = 1,
    ERRNO_NOSYS = 38,
    CLONE_NEW_USER = 0x10000000,
    SOCKET_VSOCK = 40,
    SHM_BYTES = 64 << 20
};

static const char *const capabilities[] = {
    "CAP_CHOWN",      "CAP_DAC_OVERRIDE", "CAP_FOWNER",
    "CAP_FSETID",     "CAP_KILL",         "CAP_SETGID",
    "CAP_SETUID",     "CAP_SETPCAP",      "CAP_NET_BIND_SERVICE",
    "CAP_SYS_CHROOT", "CAP_SETFCAP",      NULL
};

/* Calls that reach the kernel's state, other namespaces, or code that many flaws were found in.
 * Those that take a capability are there for programs that gain one through a flaw. */
static const char *const refused_calls[] = {
    "acct",
    "add_key",
    "bpf",
    "clock_adjtime",
    "clock_settime",
    "delete_module",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "ioperm",
    "iopl",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "lookup_dcookie",
    "mount",
    "mount_setattr",
    "move_mount",
    "name_to_handle_at",
    "nfsservctl",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "pivot_root",
    "process_vm_readv",
    "process_vm_writev",
    "quotactl",
    "quotactl_fd",
    "reboot",
    "request_key",
    "setdomainname",
    "sethostname",
    "setns",
    "settimeofday",
    "swapoff",
    "swapon",
    "syslog",
    "umount2",
    "unshare",
    "userfaultfd",
    "vhangup",
};

static void add_mount(struct buf *to, const char *where, const char *type, const char *source,
                      const char *options)
{
    (void)buf_printf(
        to, "%s{\"destination\":\"%s\",\"type\":\"%s\",\"source\":\"%s\",\"options\":[%s]}",
        to->n && to->p[to->n - 1] == '}' ? "," : "", where, type, source, options);
}

#define SAFE "\"nosuid\",\"noexec\",\"nodev\""

static void add_mounts(const struct container_config_opts *o, struct buf *to)
{
    static const char *const files[] = { "/etc/resolv.conf", "/etc/hosts" };
    char shm[64];
    (void)snprintf(shm, sizeof shm, SAFE ",\"mode=1777\",\"size=%d\"", SHM_BYTES);
    (void)buf_add_cstr(to, ",\"mounts\":[");
    add_mount(to, "/proc", "proc", "proc", SAFE);
    add_mount(to, "/dev", "tmpfs", "tmpfs",
              "\"nosuid\",\"strictatime\",\"mode=755\",\"size=65536\"");
    add_mount(to, "/dev/pts", "devpts", "devpts",
              "\"nosuid\",\"noexec\",\"newinstance\",\"ptmxmode=0666\",\"mode=0620\",\"gid=5\"");
    add_mount(to, "/dev/shm", "tmpfs", "shm", shm);
    add_mount(to, "/dev/mqueue", "mqueue", "mqueue", SAFE);
    add_mount(to, "/sys", "sysfs", "sysfs", SAFE ",\"ro\"");
    if (o->is_read_only) {
        add_mount(to, "/tmp", "tmpfs", "tmpfs", "\"nosuid\",\"nodev\",\"mode=1777\"");
        add_mount(to, "/run", "tmpfs", "tmpfs", "\"nosuid\",\"nodev\",\"mode=755\"");
    }
    for (size_t i = 0; o->has_network && i < ARRAY_LEN(files); i++)
        add_mount(to, files[i], "bind", files[i], "\"bind\",\"ro\"," SAFE);
    (void)buf_add_char(to, ']');
}

static void add_seccomp(struct buf *to)
{
    (void)buf_printf(to,
                     ",\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":"
                     "[\"clone\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":%d,\"args\":["
                     "{\"index\":0,\"value\":%d,\"valueTwo\":%d,\"op\":\"SCMP_CMP_MASKED_EQ\"}]},",
                     ERRNO_PERM, CLONE_NEW_USER, CLONE_NEW_USER);
    (void)buf_printf(to, /* no network namespace holds back what goes to the hypervisor */
                     "{\"names\":[\"socket\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":%d,"
                     "\"args\":[{\"index\":0,\"value\":%d,\"op\":\"SCMP_CMP_EQ\"}]},",
                     ERRNO_PERM, SOCKET_VSOCK);
    (void)buf_printf(to, "{\"names\":[\"clone3\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":%d},",
                     ERRNO_NOSYS); /* its flags lie in memory: libraries fall back to clone() */
    (void)buf_printf(to, "{\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":%d,\"names\":[", ERRNO_PERM);
    for (size_t i = 0; i < ARRAY_LEN(refused_calls); i++)
        (void)buf_printf(to, "%s\"%s\"", i ? "," : "", refused_calls[i]);
    (void)buf_add_cstr(to, "]}]}");
}

static void add_linux(const struct container_config_opts *o, struct buf *to)
{
    (void)buf_printf(to,
                     ",\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"ipc\"},{\"type\":"
                     "\"uts\"},{\"type\":\"mount\"}%s]",
                     o->has_network ? "" : ",{\"type\":\"network\"}");
    add_seccomp(to);
    (void)buf_add_cstr(
        to,
        ",\"maskedPaths\":[\"/proc/acpi\",\"/proc/asound\",\"/proc/kcore\",\"/proc/keys\","
        "\"/proc/latency_stats\",\"/proc/timer_list\",\"/proc/timer_stats\","
        "\"/proc/sched_debug\",\"/proc/scsi\",\"/sys/firmware\",\"/sys/kernel/debug\","
        "\"/sys/fs/cgroup\",\"/sys/devices/virtual/powercap\"],\"readonlyPaths\":[\"/proc/bus\","
        "\"/proc/fs\",\"/proc/irq\",\"/proc/sys\",\"/proc/sysrq-trigger\"]}");
}

int container_config_make(const struct oci_run *run, const struct container_config_opts *o,
                          const struct runtime_config_user *user, struct buf *to, struct err *err)
{
    struct runtime_config_opts process = o->process;
    process.capabilities = capabilities;
    (void)buf_add_cstr(to, "{\"ociVersion\":\"1.0.2\",\"process\":");
    int r = runtime_config_process(run, &process, user, to, err);
    if (r < 0)
        return r;
    (void)buf_add_cstr(to, ",\"root\":{\"path\":");
    (void)json_write_str(to, str_of(o->root));
    (void)buf_printf(to, ",\"readonly\":%s},\"hostname\":", o->is_read_only ? "true" : "false");
    (void)json_write_str(to, str_of(o->host_name));
    add_mounts(o, to);
    add_linux(o, to);
    (void)buf_add_char(to, '}');
    return buf_ok(to) ? 0 : err_set(err, -EMSGSIZE, "config.json is too large");
}
