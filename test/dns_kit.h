/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for the tests of src/dns, written byte by byte and not by the code under test. */
#pragma once

#include "base/buf.h"
#include "codec/json.h"
#include "dns/message.h"
#include "test.h"

static inline void dns_kit_u16(struct buf *b, unsigned v)
{
    (void)buf_add_u8(b, (uint8_t)(v >> 8));
    (void)buf_add_u8(b, (uint8_t)v);
}

/* "www.example.com"; letters stay as they are. */
static inline void dns_kit_name(struct buf *b, const char *text)
{
    for (struct str rest = str_of(text), label; rest.n;) {
        (void)str_cut(rest, '.', &label, &rest);
        (void)buf_add_u8(b, (uint8_t)label.n);
        (void)buf_add_str(b, label);
    }
    (void)buf_add_u8(b, 0);
}

static inline void dns_kit_header(struct buf *b, unsigned id, unsigned flags, unsigned n_answers,
                                  unsigned n_authority, unsigned n_extra)
{
    dns_kit_u16(b, id);
    dns_kit_u16(b, flags);
    dns_kit_u16(b, 1);
    dns_kit_u16(b, n_answers);
    dns_kit_u16(b, n_authority);
    dns_kit_u16(b, n_extra);
}

/* A question with recursion; udp_max 0: without EDNS. */
static inline void dns_kit_query(struct buf *b, unsigned id, const char *name, unsigned type,
                                 unsigned udp_max)
{
    dns_kit_header(b, id, 0x0100, 0, 0, udp_max > 0);
    dns_kit_name(b, name);
    dns_kit_u16(b, type);
    dns_kit_u16(b, 1);
    if (!udp_max)
        return;
    (void)buf_add(b, "\0\0\x29", 3);
    dns_kit_u16(b, udp_max);
    (void)buf_add(b, "\0\0\0\0\0\0", 6);
}

/* A record of the name that was asked for. */
static inline void dns_kit_record(struct buf *b, unsigned type, unsigned ttl_s, const void *p,
                                  size_t n)
{
    dns_kit_u16(b, 0xc00c);
    dns_kit_u16(b, type);
    dns_kit_u16(b, 1);
    dns_kit_u16(b, 0);
    dns_kit_u16(b, ttl_s);
    dns_kit_u16(b, (unsigned)n);
    (void)buf_add(b, p, n);
}

/* The answer to a question for addresses: 192.0.2.LAST. */
static inline void dns_kit_address_answer(struct buf *b, unsigned id, const char *name,
                                          unsigned ttl_s, unsigned last)
{
    const uint8_t ip[] = { 192, 0, 2, (uint8_t)last };
    dns_kit_header(b, id, 0x8180, 1, 0, 0);
    dns_kit_name(b, name);
    dns_kit_u16(b, DNS_A);
    dns_kit_u16(b, 1);
    dns_kit_record(b, DNS_A, ttl_s, ip, sizeof ip);
}

static inline unsigned dns_kit_at(struct str m, size_t word)
{
    CHECK(m.n >= 2 * word + 2);
    return (unsigned)(uint8_t)m.p[2 * word] << 8 | (uint8_t)m.p[2 * word + 1];
}
static inline unsigned dns_kit_id(struct str m)
{
    return dns_kit_at(m, 0);
}
static inline unsigned dns_kit_rcode(struct str m)
{
    return dns_kit_at(m, 1) & 15;
}
static inline bool dns_kit_is_truncated(struct str m)
{
    return dns_kit_at(m, 1) & 0x0200;
}
static inline unsigned dns_kit_answers(struct str m)
{
    return dns_kit_at(m, 3);
}

static inline void dns_kit_put(struct dns_zone *z,
                               void (*to)(struct dns_zone *, const struct json *), const char *text)
{
    struct arena a = { 0 };
    struct json *object;
    struct err err = { 0 };
    CHECK_OK(json_parse(&a, str_of(text), NULL, &object, &err));
    to(z, object);
    arena_fini(&a);
}

/* A slice of `n` endpoints 10.SLICE.x.y of the headless Service app/many, which this makes too. */
static inline void dns_kit_put_many(struct dns_zone *z, int slice, int n)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    dns_kit_put(z, dns_zone_put_service,
                "{\"metadata\":{\"namespace\":\"app\",\"name\":\"many\"},"
                "\"spec\":{\"clusterIP\":\"None\"}}");
    (void)buf_printf(&text,
                     "{\"metadata\":{\"namespace\":\"app\",\"name\":\"many-%d\",\"labels\":"
                     "{\"kubernetes.io/service-name\":\"many\"}},\"endpoints\":[",
                     slice);
    for (int i = 0; i < n; i++)
        (void)buf_printf(&text, "%s{\"addresses\":[\"10.%d.%d.%d\"]}", i ? "," : "", slice, i / 256,
                         i % 256);
    (void)buf_add_cstr(&text, "]}");
    dns_kit_put(z, dns_zone_put_slice, buf_cstr(&text));
}
