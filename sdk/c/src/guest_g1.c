/* SPDX-License-Identifier: Apache-2.0 */
/* ABI G1: `run`, wakeup_future and wakeup_stream; watches belong to the host. */
#include "dm/host.h"
#include "dm/mem.h"
#include "guest.h"

IMPORT("http-proxy-abi", "request") uint64_t g1_request(const void *p, uint32_t n);
IMPORT("delay-abi", "delay") uint64_t g1_delay(uint64_t ms);
IMPORT("kube-watch-abi", "watch") uint64_t g1_watch(const void *p, uint32_t n);

uint64_t dm_host_request(const struct dm_request *r, bool stream)
{
    (void)stream; /* bodies come whole */
    struct dm_text t = { 0 };
    dm_wire_request(&t, r);
    uint64_t id = g1_request(t.p, (uint32_t)t.n);
    dm_text_fini(&t);
    return id;
}

uint64_t dm_host_delay(uint64_t ms)
{
    return g1_delay(ms);
}

bool dm_host_can_watch(void)
{
    return true;
}

uint64_t dm_host_watch(const struct dm_watch_request *w)
{
    struct dm_text t = { 0 };
    dm_wire_watch(&t, w);
    uint64_t id = g1_watch(t.p, (uint32_t)t.n);
    dm_text_fini(&t);
    return id;
}

EXPORT("run") void g1_run(void);
void g1_run(void)
{
    guest_start();
}

/* A request brings an HttpResponse, a delay nothing. */
EXPORT("wakeup_future") void g1_wakeup_future(uint64_t id, char *p, uint32_t n);
void g1_wakeup_future(uint64_t id, char *p, uint32_t n)
{
    struct dm_str body = { 0 };
    if (p)
        dm_on_head(id, dm_wire_response(p, n, &body));
    dm_on_end(id, body.p, body.n);
    dm_free(p);
    dm_settle();
}

EXPORT("wakeup_stream") void g1_wakeup_stream(uint64_t id, char *p, uint32_t n);
void g1_wakeup_stream(uint64_t id, char *p, uint32_t n)
{
    if (p)
        dm_on_data(id, p, n);
    else
        dm_on_end(id, NULL, 0);
    dm_free(p);
    dm_settle();
}
