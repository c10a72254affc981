/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports a function that no host has. Expected: the module is refused before anything runs, with
 * the name of the import ("surprise-abi.open") in the status.
 */
#include "probe.h"

IMPORT("surprise-abi", "open") uint32_t surprise_open(uint32_t what);

void probe_start(void)
{
    probe_say("ran", surprise_open(1));
}

void probe_wake(uint64_t id, bool end, const unsigned char *p, uint32_t n)
{
    __builtin_trap();
}
