/* SPDX-License-Identifier: Apache-2.0 */
/* One ring operator per module or process, configured by the environment. */
#include "dm/kube.h"
#include "ring.h"

#include <string.h>

/*
 * 20 bytes that tools/make-distinct replaces, so that no two operators of a benchmark share a
 * module, as the paper's do not. volatile and printed, so that every byte stays in the module.
 */
static const volatile char compile_nonce[] = "@@COMPILE_NONCE@@@@@";

int dm_main(void)
{
    char nonce[sizeof(compile_nonce)];
    for (size_t i = 0; i < sizeof(nonce); i++)
        nonce[i] = compile_nonce[i];
    const char *in = dm_env("IN_NAMESPACE", NULL), *out = dm_env("OUT_NAMESPACE", NULL);
    if (!in || !out) {
        dm_log(DM_ERROR, "IN_NAMESPACE and OUT_NAMESPACE must be set");
        return 2;
    }
    dm_log(DM_INFO, "ring operator starts in=%s out=%s nonce=%s", in, out, nonce);
    ring_hold_memory(dm_env("HEAP_MEM_SIZE", "0"));
    ring_start(in, out);
    return 0;
}
