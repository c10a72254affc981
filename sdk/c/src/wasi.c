/* SPDX-License-Identifier: Apache-2.0 */
/* dm/system.h over WASI preview 1. */
#include "dm/mem.h"
#include "dm/system.h"

#include <string.h>
#include <wasi/api.h>

static uint64_t clock_ns(__wasi_clockid_t id)
{
    __wasi_timestamp_t ns = 0;
    (void)__wasi_clock_time_get(id, 1000, &ns);
    return ns;
}

uint64_t dm_host_now_ms(void)
{
    return clock_ns(__WASI_CLOCKID_MONOTONIC) / 1000000;
}

uint64_t dm_host_wall_us(void)
{
    return clock_ns(__WASI_CLOCKID_REALTIME) / 1000;
}

uint64_t dm_host_random(void)
{
    uint64_t v = 0;
    (void)__wasi_random_get((uint8_t *)&v, sizeof(v));
    return v;
}

void dm_host_write(const char *line, size_t n)
{
    __wasi_ciovec_t v = { (const uint8_t *)line, n };
    __wasi_size_t written;
    (void)__wasi_fd_write(2, &v, 1, &written);
}

const char *dm_host_env(const char *name)
{
    static char **env; /* read once, NULL-terminated */
    if (!env) {
        __wasi_size_t count = 0, bytes = 0;
        (void)__wasi_environ_sizes_get(&count, &bytes);
        env = dm_zalloc((count + 1) * sizeof(*env));
        if (count)
            (void)__wasi_environ_get((uint8_t **)env, dm_alloc(bytes));
    }
    size_t n = strlen(name);
    for (char **e = env; *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}
