/* SPDX-License-Identifier: Apache-2.0 */
#include "dm/system.h"

uint64_t dm_wall_us(void)
{
    return dm_host_wall_us();
}

uint64_t dm_random(void)
{
    return dm_host_random();
}

const char *dm_env(const char *name, const char *otherwise)
{
    const char *v = dm_host_env(name);
    return v ? v : otherwise;
}
