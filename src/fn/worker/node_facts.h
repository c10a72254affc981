/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker reports about its machine: its resources, and how much of them is in use. */
#pragma once

#include <stdint.h>

uint64_t node_cpu_milli(void);    /* that this process may run on */
uint64_t node_memory_bytes(void); /* of the machine, or of this process's cgroup if that is less */

struct node_load {
    uint64_t busy, total; /* ticks of all cores at the last call */
};
/*
 * In use now, by all processes of the machine: thousandths of a core since the last call with this
 * struct (the first call: 0), and bytes.
 */
void node_load_read(struct node_load *at, uint32_t *ret_cpu_milli, uint64_t *ret_memory_bytes);
