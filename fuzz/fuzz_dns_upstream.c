/* SPDX-License-Identifier: Apache-2.0 */
/* Another server's answer: what counts as one is passed on, now and later. */
#include "fuzz.h"

#include "dns/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char name[] = "\3www\7example\3com", query[] = "\0\7\1\0\0\1\0\0\0\0\0\0"
                                                                "\3wWw\7example\3com\0\0\1\0\1";
    const struct dns_question question = { str_n(name, sizeof name), DNS_A };
    struct dns_upstream_answer got;
    struct dns_query q;
    struct rng rng = { 1 };
    struct buf message = BUF_INIT(DNS_TCP_MAX), out = BUF_INIT(DNS_TCP_MAX);
    FUZZ_CHECK(dns_query_read(str_n(query, sizeof query - 1), &q) && q.refusal == DNS_NOERROR);
    if (dns_upstream_read(str_n(data, n), &question, 7, &message, &got) == 0) {
        FUZZ_CHECK(got.ttl_s <= DNS_UPSTREAM_TTL_MAX_S && got.rcode <= 15);
        const struct dns_reply reply = {
            .rcode = got.rcode, .upstream = buf_str(&message), .age_s = 30, .order = &rng
        };
        FUZZ_CHECK(dns_reply_write(&q, &reply, DNS_UDP_MIN, &out) == 0 && out.n <= DNS_UDP_MIN);
        buf_reset(&out);
        FUZZ_CHECK(dns_reply_write(&q, &reply, DNS_TCP_MAX, &out) == 0);
    }
    buf_fini(&message);
    buf_fini(&out);
    return 0;
}
