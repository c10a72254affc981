/* SPDX-License-Identifier: Apache-2.0 */
/* What a container, or a group of containers, may use, and what it has used. */
#pragma once

#include <stdint.h>

struct container_limits {
    uint64_t memory_bytes, pids; /* 0: none. With a limit of memory nothing is swapped. */
    uint64_t cpu_milli;          /* a weight, relative to others; 0: the least */
    uint64_t cpu_quota_milli;    /* at most so many thousandths of a core; 0: no limit */
};

struct container_usage { /* 0 where the kernel does not count it */
    uint64_t cpu_ns;     /* since it began */
    uint64_t memory_bytes;
    uint64_t working_set_bytes; /* memory_bytes without files that were not used lately */
    uint64_t rss_bytes;         /* memory without a file */
    uint64_t swap_bytes;
    uint64_t page_faults, major_page_faults;
    uint64_t pids;
    uint64_t oom_kills; /* processes that the kernel killed in it since memory had run out */
};
