/* SPDX-License-Identifier: Apache-2.0 */
#include "image/run_spec.h"

#include "base/mem.h"

static const char *const capabilities[] = {
    "CAP_CHOWN",      "CAP_DAC_OVERRIDE", "CAP_FOWNER",
    "CAP_FSETID",     "CAP_KILL",         "CAP_SETGID",
    "CAP_SETUID",     "CAP_SETPCAP",      "CAP_NET_BIND_SERVICE",
    "CAP_SYS_CHROOT", "CAP_SETFCAP",      NULL
};

static struct container_strings strings_of(struct oci_strings s)
{
    return (struct container_strings){ s.p, s.n };
}

int run_spec_make(const struct oci_run *run, const struct run_spec_opts *o,
                  const struct container_user *user, struct buf *to, struct err *err)
{
    const struct container_strings none = { NULL, 0 };
    const struct container_strings args[] = { o->entrypoint.n ? o->entrypoint
                                                              : strings_of(run->entrypoint),
                                              o->args.n         ? o->args
                                              : o->entrypoint.n ? none
                                                                : strings_of(run->command) };
    const struct container_strings env[] = { strings_of(run->env), o->env };
    const struct container_mount mounts[] = {
        { .kind = CONTAINER_MOUNT_TMPFS, .where = STR("/tmp"), .mode = 01777 },
        { .kind = CONTAINER_MOUNT_TMPFS, .where = STR("/run"), .mode = 0755 },
        { .kind = CONTAINER_MOUNT_BIND,
          .where = STR("/etc/resolv.conf"),
          .source = STR("/etc/resolv.conf") },
        { .kind = CONTAINER_MOUNT_BIND, .where = STR("/etc/hosts"), .source = STR("/etc/hosts") },
    };
    const size_t from = o->is_read_only ? 0 : 2, n = o->has_network ? ARRAY_LEN(mounts) : 2;
    const struct container_spec spec = {
        .process = { .user = user,
                     .args = args,
                     .n_args = ARRAY_LEN(args),
                     .env = env,
                     .n_env = ARRAY_LEN(env),
                     .cwd = o->cwd.n ? o->cwd : run->cwd,
                     .has_terminal = o->has_terminal,
                     .capabilities = capabilities },
        .root = o->root,
        .is_root_writable = !o->is_read_only,
        .host_name = o->host_name,
        .mounts = mounts + from,
        .n_mounts = n - from,
        .has_terminals = true,
        .is_in_user_namespace = o->is_in_user_namespace,
        .network = o->has_network ? CONTAINER_SPEC_MACHINE : CONTAINER_SPEC_LOOPBACK,
        .syscalls = CONTAINER_SYSCALLS_REFUSE_LIST,
    };
    return container_spec_write(&spec, to, err);
}
