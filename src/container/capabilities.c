/* SPDX-License-Identifier: Apache-2.0 */
#include "container/capabilities.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"

#include <fcntl.h>
#include <stdint.h>

enum { SHOWN_MAX = 80 };

/* By number (capabilities(7)); the default ones are those of container runtimes. */
static const struct {
    const char *name;
    bool is_default;
} capabilities[] = {
    { "CAP_CHOWN", true },
    { "CAP_DAC_OVERRIDE", true },
    { "CAP_DAC_READ_SEARCH", false },
    { "CAP_FOWNER", true },
    { "CAP_FSETID", true },
    { "CAP_KILL", true },
    { "CAP_SETGID", true },
    { "CAP_SETUID", true },
    { "CAP_SETPCAP", true },
    { "CAP_LINUX_IMMUTABLE", false },
    { "CAP_NET_BIND_SERVICE", true },
    { "CAP_NET_BROADCAST", false },
    { "CAP_NET_ADMIN", false },
    { "CAP_NET_RAW", true },
    { "CAP_IPC_LOCK", false },
    { "CAP_IPC_OWNER", false },
    { "CAP_SYS_MODULE", false },
    { "CAP_SYS_RAWIO", false },
    { "CAP_SYS_CHROOT", true },
    { "CAP_SYS_PTRACE", false },
    { "CAP_SYS_PACCT", false },
    { "CAP_SYS_ADMIN", false },
    { "CAP_SYS_BOOT", false },
    { "CAP_SYS_NICE", false },
    { "CAP_SYS_RESOURCE", false },
    { "CAP_SYS_TIME", false },
    { "CAP_SYS_TTY_CONFIG", false },
    { "CAP_MKNOD", true },
    { "CAP_LEASE", false },
    { "CAP_AUDIT_WRITE", true },
    { "CAP_AUDIT_CONTROL", false },
    { "CAP_SETFCAP", true },
    { "CAP_MAC_OVERRIDE", false },
    { "CAP_MAC_ADMIN", false },
    { "CAP_SYSLOG", false },
    { "CAP_WAKE_ALARM", false },
    { "CAP_BLOCK_SUSPEND", false },
    { "CAP_AUDIT_READ", false },
    { "CAP_PERFMON", false },
    { "CAP_BPF", false },
    { "CAP_CHECKPOINT_RESTORE", false },
};
_Static_assert(ARRAY_LEN(capabilities) < CONTAINER_CAPABILITIES_MAX, "with a NULL");

static const uint64_t all = (UINT64_C(1) << ARRAY_LEN(capabilities)) - 1;

static uint64_t default_set(void)
{
    uint64_t set = 0;
    for (size_t i = 0; i < ARRAY_LEN(capabilities); i++)
        set |= (uint64_t)capabilities[i].is_default << i;
    return set;
}

/* "CapEff:\t000001ffffffffff" in /proc/self/status (proc(5)). */
static uint64_t own_set(void)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64 << 10);
    uint64_t set = 0;
    if (sys_read_file(AT_FDCWD, "/proc/self/status", &text, NULL) < 0)
        return all;
    const char *p = strstr(buf_cstr(&text), "\nCapEff:\t");
    for (p = p ? p + strlen("\nCapEff:\t") : ""; *p && *p != '\n'; p++)
        set = set << 4 | (uint64_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
    return set & all;
}

/* "ALL" has several bits. 0: there is none of this name. */
static uint64_t find(struct str name)
{
    if (str_ieq(name, STR("ALL")))
        return all;
    for (size_t i = 0; i < ARRAY_LEN(capabilities); i++) {
        struct str whole = str_of(capabilities[i].name);
        if (str_ieq(name, whole) || str_ieq(name, str_slice(whole, 4, whole.n)))
            return UINT64_C(1) << i;
    }
    return 0;
}

/* The named ones; has_all: whether "ALL" is one of the names. */
static int collect(const struct str *names, size_t n, uint64_t *set, bool *has_all, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        struct str shown = str_slice(names[i], 0, SHOWN_MAX);
        uint64_t found = find(names[i]);
        if (!found)
            return err_set(err, E_INVALID, "there is no capability '" STR_FMT "'", STR_ARG(shown));
        *has_all |= found == all;
        *set |= found == all ? 0 : found;
    }
    return 0;
}

int container_capabilities_make(const struct str *add, size_t n_add, const struct str *drop,
                                size_t n_drop, bool is_privileged,
                                struct container_capabilities *ret, struct err *err)
{
    uint64_t added = 0, dropped = 0, set = default_set();
    bool adds_all = false, drops_all = false;
    int r = collect(add, n_add, &added, &adds_all, err);
    r = r < 0 ? r : collect(drop, n_drop, &dropped, &drops_all, err);
    if (r < 0)
        return r;
    if (adds_all)
        set = all;
    if (drops_all)
        set = 0;
    set = (set | added) & ~dropped;
    if (is_privileged)
        set = all;
    set &= own_set();
    *ret = (struct container_capabilities){ 0 };
    for (size_t i = 0, n = 0; i < ARRAY_LEN(capabilities); i++)
        if (set >> i & 1)
            ret->names[n++] = capabilities[i].name;
    return 0;
}
