/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads of the published operator ABIs; what is accepted encodes to something that decodes
 * equal. */
#include "fuzz.h"

#include "codec/bincode.h"

static void check_headers(const struct headers *a, const struct headers *b)
{
    FUZZ_CHECK(a->n == b->n); /* grouping by name may have changed the order */
    for (size_t i = 0; i < b->n; i++)
        FUZZ_CHECK(headers_is_token(headers_name(b, i)));
}

static void check_request(struct str bytes)
{
    struct bincode_request r = { 0 }, back = { 0 };
    struct buf again = BUF_INIT(BUF_MAX_DEFAULT);
    if (bincode_request_decode(bytes, &r, NULL) == 0) {
        FUZZ_CHECK(r.target.n > 0 && r.target.p[0] == '/');
        FUZZ_CHECK(bincode_request_encode(&again, &r) == 0);
        FUZZ_CHECK(bincode_request_decode(buf_str(&again), &back, NULL) == 0);
        FUZZ_CHECK(str_eq(r.method, back.method) && str_eq(r.uri, back.uri));
        FUZZ_CHECK(str_eq(r.target, back.target) && str_eq(r.body, back.body));
        check_headers(&r.headers, &back.headers);
    }
    bincode_request_fini(&r);
    bincode_request_fini(&back);
    buf_fini(&again);
}

static void check_response(struct str bytes, bool meta)
{
    struct bincode_response r = { 0 }, back = { 0 };
    struct buf again = BUF_INIT(BUF_MAX_DEFAULT);
    int (*decode)(struct str, struct bincode_response *, struct err *) =
        meta ? bincode_response_meta_decode : bincode_response_decode;
    int (*encode)(struct buf *, const struct bincode_response *) =
        meta ? bincode_response_meta_encode : bincode_response_encode;
    if (decode(bytes, &r, NULL) == 0) {
        FUZZ_CHECK(encode(&again, &r) == 0);
        FUZZ_CHECK(decode(buf_str(&again), &back, NULL) == 0);
        FUZZ_CHECK(r.status == back.status && str_eq(r.body, back.body));
        check_headers(&r.headers, &back.headers);
    }
    bincode_response_fini(&r);
    bincode_response_fini(&back);
    buf_fini(&again);
}

static void check_watch(struct str bytes)
{
    struct bincode_watch w;
    struct buf again = BUF_INIT(BUF_MAX_DEFAULT);
    if (bincode_watch_decode(bytes, &w, NULL) == 0) {
        FUZZ_CHECK(bincode_watch_encode(&again, &w) == 0);
        FUZZ_CHECK(str_has_prefix(bytes, buf_str(&again)));
    }
    buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str bytes = str_n(data, n);
    check_request(bytes);
    check_response(bytes, true);
    check_response(bytes, false);
    check_watch(bytes);
    return 0;
}
