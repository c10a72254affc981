/* SPDX-License-Identifier: Apache-2.0 */
/* ABI G2, the paper's: a WASI command whose instance lives on; one wake-up for everything. */
#include "dm/host.h"
#include "dm/mem.h"
#include "guest.h"

#include <stdlib.h>

IMPORT("http-proxy-abi", "request") uint64_t g2_request(const void *p, uint32_t n, uint32_t stream);
IMPORT("delay-abi", "delay") uint64_t g2_delay(uint64_t ms);

uint64_t dm_host_request(const struct dm_request *r, bool stream)
{
    struct dm_text t = { 0 };
    dm_wire_request(&t, r);
    uint64_t id = g2_request(t.p, (uint32_t)t.n, stream);
    dm_text_fini(&t);
    return id;
}

uint64_t dm_host_delay(uint64_t ms)
{
    return g2_delay(ms);
}

bool dm_host_can_watch(void)
{
    return false;
}

uint64_t dm_host_watch(const struct dm_watch_request *w)
{
    (void)w;
    abort();
}

EXPORT("_start") void g2_start(void);
void g2_start(void)
{
    guest_start();
}

/*
 * The first wake-up of a request brings its head; nothing in the wake-up itself tells it from a
 * body. A request that ends before a head came had no answer.
 */
EXPORT("wakeup") void g2_wakeup(uint64_t id, uint32_t finished, char *p, uint32_t n);
void g2_wakeup(uint64_t id, uint32_t finished, char *p, uint32_t n)
{
    if (finished)
        dm_on_end(id, p, n);
    else if (p && dm_lacks_head(id))
        dm_on_head(id, dm_wire_response(p, n, NULL));
    else if (p)
        dm_on_data(id, p, n);
    dm_free(p);
    dm_settle();
}
