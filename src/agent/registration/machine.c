/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of the machine; see machine.h. */
#include "agent/registration/machine.h"

#include "base/buf.h"
#include "base/sys.h"
#include "io/address.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static bool read_text(const char *root, const char *path, struct buf *to)
{
    char full[PATH_MAX];
    int n = snprintf(full, sizeof full, "%s%s", root, path);
    buf_reset(to);
    return n > 0 && (size_t)n < sizeof full && sys_read_file(AT_FDCWD, full, to, NULL) >= 0;
}

/* The first of the files that holds text: its first line. */
static struct str first_line(struct arena *a, const char *root, const char *const *paths, size_t n)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(MACHINE_FILE_MAX_BYTES);
    for (size_t i = 0; i < n; i++) {
        struct str line, rest;
        if (!read_text(root, paths[i], &b))
            continue;
        (void)str_cut(buf_str(&b), '\n', &line, &rest);
        while (line.n && line.p[line.n - 1] == '\0') /* of the device tree */
            line.n--;
        if (str_trim(line).n)
            return str_copy_arena(a, str_trim(line));
    }
    return STR("");
}
#define FIRST_LINE(a, root, ...)                                                                   \
    first_line(a, root, (const char *const[]){ __VA_ARGS__ },                                      \
               sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

/* PRETTY_NAME of os-release(5), whose values may be quoted. */
static struct str os_image(struct arena *a, const char *root)
{
    static const char *const paths[] = { "/etc/os-release", "/usr/lib/os-release" };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(MACHINE_FILE_MAX_BYTES);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        if (!read_text(root, paths[i], &b))
            continue;
        for (struct str rest = buf_str(&b), line, key, value; rest.n;) {
            (void)str_cut(rest, '\n', &line, &rest);
            if (!str_cut(str_trim(line), '=', &key, &value) || !str_is(key, "PRETTY_NAME"))
                continue;
            if (value.n >= 2 && (value.p[0] == '"' || value.p[0] == '\'') &&
                value.p[value.n - 1] == value.p[0])
                value = str_slice(value, 1, value.n - 1);
            return str_copy_arena(a, value);
        }
    }
    return STR("Linux");
}

const char *machine_arch(void)
{
#if defined(__x86_64__)
    return "amd64";
#elif defined(__aarch64__)
    return "arm64";
#elif defined(__arm__)
    return "arm";
#elif defined(__i386__)
    return "386";
#elif defined(__riscv) && __riscv_xlen == 64
    return "riscv64";
#elif defined(__powerpc64__)
    return "ppc64le";
#elif defined(__s390x__)
    return "s390x";
#else
#error "name the architecture as Go does"
#endif
}

uint64_t machine_count_cpus(struct str list)
{
    uint64_t n = 0, from, to;
    for (struct str rest = str_trim(list), one, low, high; rest.n;) {
        (void)str_cut(rest, ',', &one, &rest);
        bool is_range = str_cut(one, '-', &low, &high);
        if (parse_u64(low, 0, UINT16_MAX, &from) < 0)
            return 0;
        to = from;
        if (is_range && parse_u64(high, from, UINT16_MAX, &to) < 0)
            return 0;
        n += to - from + 1;
    }
    return n;
}

bool machine_meminfo(struct str text, const char *name, uint64_t *ret)
{
    uint64_t kib;
    for (struct str rest = text, line, key, value, unit; rest.n;) {
        (void)str_cut(rest, '\n', &line, &rest);
        if (!str_cut(line, ':', &key, &value) || !str_is(key, name))
            continue;
        (void)str_cut(str_trim(value), ' ', &value, &unit);
        if (parse_u64(value, 0, UINT64_MAX / 1024, &kib) < 0)
            return false;
        *ret = kib * 1024;
        return true;
    }
    return false;
}

static void read_memory(const char *root, struct machine *m)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(MACHINE_FILE_MAX_BYTES);
    if (!read_text(root, "/proc/meminfo", &b))
        return;
    (void)machine_meminfo(buf_str(&b), "MemTotal", &m->memory_bytes);
    (void)machine_meminfo(buf_str(&b), "SwapTotal", &m->swap_bytes);
}

/* "hugepages-2048kB" */
static void add_hugepages(const char *root, const char *name, struct machine *m)
{
    char path[PATH_MAX];
    uint64_t kib, n;
    struct str size = str_of(name);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(256);
    if (!str_has_prefix(size, STR("hugepages-")) || !str_has_suffix(size, STR("kB")) ||
        m->n_hugepages == MACHINE_HUGEPAGES_MAX ||
        parse_u64(str_slice(size, strlen("hugepages-"), size.n - 2), 1, UINT32_MAX, &kib) < 0)
        return;
    (void)snprintf(path, sizeof path, "/sys/kernel/mm/hugepages/%s/nr_hugepages", name);
    if (!read_text(root, path, &b) || parse_u64(str_trim(buf_str(&b)), 0, UINT32_MAX, &n) < 0)
        return;
    size_t at = m->n_hugepages++;
    for (; at > 0 && m->hugepages[at - 1].size_bytes > kib * 1024; at--)
        m->hugepages[at] = m->hugepages[at - 1];
    m->hugepages[at] = (struct machine_hugepages){ kib * 1024, kib * 1024 * n };
}

static void read_hugepages(const char *root, struct machine *m)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/sys/kernel/mm/hugepages", root);
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (const struct dirent *e; (e = readdir(dir));)
        add_hugepages(root, e->d_name, m);
    (void)closedir(dir);
}

void machine_read(struct arena *a, const char *root, struct machine *ret)
{
    *ret = (struct machine){ 0 };
    ret->machine_id = FIRST_LINE(a, root, "/etc/machine-id", "/var/lib/dbus/machine-id");
    ret->system_uuid =
        FIRST_LINE(a, root, "/sys/class/dmi/id/product_uuid", "/proc/device-tree/system-id",
                   "/proc/device-tree/vm,uuid", "/etc/machine-id");
    ret->boot_id = FIRST_LINE(a, root, "/proc/sys/kernel/random/boot_id");
    ret->kernel = FIRST_LINE(a, root, "/proc/sys/kernel/osrelease");
    ret->os_image = os_image(a, root);
    ret->n_cpus = machine_count_cpus(FIRST_LINE(a, root, "/sys/devices/system/cpu/online"));
    if (ret->n_cpus == 0)
        ret->n_cpus = (uint64_t)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1);
    read_memory(root, ret);
    read_hugepages(root, ret);
}

/* ---------------------------------------------------------------- address */

/* The host of a URL or of "HOST:PORT". */
static struct str host_of(const char *server)
{
    struct str s = str_of(server), path, host;
    ptrdiff_t scheme = str_find(s, STR("://"));
    if (scheme >= 0)
        s = str_slice(s, (size_t)scheme + 3, s.n);
    (void)str_cut(s, '/', &s, &path);
    return address_host(s, &host) ? host : s;
}

/* A place to which the route is looked up. Port 9, where nothing is sent anyway. */
static bool place_of(const char *server, struct sockaddr_storage *ret, socklen_t *ret_n)
{
    char host[INET6_ADDRSTRLEN + 1];
    struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;
    struct str text = server ? host_of(server) : STR("");
    if (text.n >= 2 && text.p[0] == '[')
        text = str_slice(text, 1, text.n - 1);
    if (text.n == 0 || text.n >= sizeof host)
        return false;
    (void)snprintf(host, sizeof host, STR_FMT, STR_ARG(text));
    *ret = (struct sockaddr_storage){ 0 };
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(9);
        *ret_n = sizeof *v4;
        return true;
    }
    if (inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
        return false;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(9);
    *ret_n = sizeof *v6;
    return true;
}

static bool address_text(const struct sockaddr *from, char ret[MACHINE_ADDRESS_CHARS])
{
    const void *bytes = from->sa_family == AF_INET
                            ? (const void *)&((const struct sockaddr_in *)from)->sin_addr
                            : (const void *)&((const struct sockaddr_in6 *)from)->sin6_addr;
    return inet_ntop(from->sa_family, bytes, ret, MACHINE_ADDRESS_CHARS) != NULL;
}

/* Connecting a UDP socket makes the kernel choose the source address. */
static bool source_towards(const struct sockaddr_storage *to, socklen_t n,
                           char ret[MACHINE_ADDRESS_CHARS])
{
    struct sockaddr_storage from = { 0 };
    socklen_t from_n = sizeof from;
    scoped(fd_scoped) int fd = socket(to->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, (const struct sockaddr *)to, n) == 0 &&
           getsockname(fd, (struct sockaddr *)&from, &from_n) == 0 &&
           address_text((const struct sockaddr *)&from, ret);
}

/* Devices of pods and of functions: others reach nothing there. */
static bool is_of_containers(const char *device)
{
    static const char *const prefixes[] = { "dmp", "dmf" };
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (strncmp(device, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* An address of an interface that is up, IPv4 first; loopback if there is no other. */
static void take_interface(char ret[MACHINE_ADDRESS_CHARS])
{
    struct ifaddrs *all = NULL;
    static const sa_family_t families[] = { AF_INET, AF_INET6 };
    (void)snprintf(ret, MACHINE_ADDRESS_CHARS, "127.0.0.1");
    if (getifaddrs(&all) < 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        for (const struct ifaddrs *at = all; at; at = at->ifa_next) {
            struct address one;
            if (!at->ifa_addr || at->ifa_addr->sa_family != families[i] ||
                !(at->ifa_flags & IFF_UP) || is_of_containers(at->ifa_name) ||
                !address_of_socket(at->ifa_addr, &one) || address_is_loopback(&one) ||
                !address_is_machine(&one))
                continue;
            (void)address_text(at->ifa_addr, ret);
            freeifaddrs(all);
            return;
        }
    }
    freeifaddrs(all);
}

void machine_address_towards(const char *server, char ret[MACHINE_ADDRESS_CHARS])
{
    /* TEST-NET-1 and the documentation prefix: only the default route leads there. */
    static const char *const anywhere[] = { "192.0.2.1", "2001:db8::1" };
    struct sockaddr_storage to;
    socklen_t n = 0;
    if (place_of(server, &to, &n) && source_towards(&to, n, ret))
        return;
    for (size_t i = 0; i < ARRAY_LEN(anywhere); i++)
        if (place_of(anywhere[i], &to, &n) && source_towards(&to, n, ret))
            return;
    take_interface(ret);
}
