/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of gRPC's health service; see probe_health.h. */
#include "agent/probe/probe_health.h"

static uint64_t read_varint(struct rd *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = rd_u8(r);
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
    r->failed = true;
    return 0;
}

/* message HealthCheckResponse { ServingStatus status = 1; } Other fields are skipped. */
bool probe_health_read(struct str message, uint64_t *ret)
{
    struct rd r = rd_init(message.p, message.n);
    *ret = 0;
    while (rd_left(&r) > 0) {
        uint64_t key = read_varint(&r);
        if ((key & 7) == 0) {
            uint64_t v = read_varint(&r);
            *ret = key >> 3 == 1 ? v : *ret;
        } else if ((key & 7) == 2)
            (void)rd_str(&r, read_varint(&r));
        else if ((key & 7) == 1)
            (void)rd_str(&r, 8);
        else if ((key & 7) == 5)
            (void)rd_str(&r, 4);
        else
            return false;
    }
    return rd_ok(&r);
}

/* message HealthCheckRequest { string service = 1; } */
void probe_health_write(struct str service, struct buf *to)
{
    size_t n = service.n;
    if (n == 0)
        return;
    (void)buf_add_u8(to, 1 << 3 | 2);
    for (; n >= 0x80; n >>= 7)
        (void)buf_add_u8(to, (uint8_t)(n | 0x80));
    (void)buf_add_u8(to, (uint8_t)n);
    (void)buf_add_str(to, service);
}
