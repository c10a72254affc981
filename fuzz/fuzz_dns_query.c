/* SPDX-License-Identifier: Apache-2.0 */
/* A client's message: what is read of it is answered, within the limits, by an answer of ours. */
#include "fuzz.h"

#include "dns/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct dns_zone *zone;
    struct arena a = { 0 };
    struct dns_query q;
    struct dns_answer answer;
    if (!zone)
        FUZZ_CHECK(dns_zone_new(STR("cluster.local"), &zone, NULL) == 0);
    dns_zone_services_synced(zone);
    dns_zone_slices_synced(zone);
    if (!dns_query_read(str_n(data, n), &q))
        return 0;
    struct dns_reply reply = { .rcode = q.refusal };
    if (q.refusal == DNS_NOERROR) {
        FUZZ_CHECK(q.has_question && q.name.n <= DNS_NAME_MAX);
        dns_zone_answer(zone, &q.name, q.type, &a, &answer);
        reply.zone = &answer;
    }
    struct buf out = BUF_INIT(DNS_TCP_MAX);
    FUZZ_CHECK(dns_reply_write(&q, &reply, q.udp_max, &out) == 0);
    FUZZ_CHECK(out.n >= DNS_HEADER && out.n <= q.udp_max);
    FUZZ_CHECK(!dns_query_read(buf_str(&out), &q)); /* it is no question, so nothing answers it */
    buf_fini(&out);
    arena_fini(&a);
    return 0;
}
