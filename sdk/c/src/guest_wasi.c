/* SPDX-License-Identifier: Apache-2.0 */
/* The exports that G1 and G2 share. */
#include "dm/host.h"
#include "dm/mem.h"
#include "guest.h"

#include <wasi/api.h>

void __wasm_call_ctors(void);

void guest_start(void)
{
    __wasm_call_ctors();
    int r = dm_start();
    if (r != 0)
        __wasi_proc_exit((__wasi_exitcode_t)r);
}

/* Ownership goes to the guest with the wake-up that follows. Zero bytes need an address too. */
EXPORT("allocate") void *guest_allocate(uint32_t n);
void *guest_allocate(uint32_t n)
{
    return dm_alloc(n);
}
