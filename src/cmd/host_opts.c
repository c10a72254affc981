/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of the commands that run operators; see host_opts.h. */
#include "cmd/host_opts.h"

struct guest_host_opts cmd_host = { .idle_ms = 1000, .swap_quota_bytes = (uint64_t)1 << 30 };
