/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of the machine for its Node: identity, system and capacity, read from /proc, /sys and /etc
 * below a root directory; and the address from which it reaches the API server. What cannot be read
 * is "" or 0. Blocks on these files alone; any thread.
 */
#pragma once

#include "base/mem.h"
#include "base/str.h"

enum { MACHINE_HUGEPAGES_MAX = 8, MACHINE_FILE_MAX_BYTES = 256 << 10, MACHINE_ADDRESS_CHARS = 48 };

struct machine_hugepages {
    uint64_t size_bytes, total_bytes;
};

struct machine { /* strings are in the arena */
    struct str machine_id, system_uuid, boot_id, kernel, os_image;
    uint64_t n_cpus, memory_bytes, swap_bytes;
    struct machine_hugepages hugepages[MACHINE_HUGEPAGES_MAX]; /* by size */
    size_t n_hugepages;
};

/* root: "" for this machine. */
void machine_read(struct arena *a, const char *root, struct machine *ret);
/* The architecture that this program was built for, as Go names it: "amd64", "arm64". */
const char *machine_arch(void);
/* Number of CPUs in a list of the kernel: "0-3,8" are 5. 0: it cannot be read. */
uint64_t machine_count_cpus(struct str list);
/* A value of /proc/meminfo in bytes: "MemTotal". false: there is none. */
bool machine_meminfo(struct str text, const char *name, uint64_t *ret);

/*
 * The address of this machine for connections to a server: "https://10.0.0.1:6443", a host and
 * port, or NULL for the default route. Nothing is sent. A server with a name counts as none.
 * Without such a route it is an address of an interface, or "127.0.0.1" if there is no other.
 */
void machine_address_towards(const char *server, char ret[MACHINE_ADDRESS_CHARS]);
