/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of guests' API requests: what is accepted is one request line, below the API, no watch. */
#include "fuzz.h"

#include "operator/v1/request_head.h"

static void check_line(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        FUZZ_CHECK((unsigned char)s.p[i] >= ' ' && s.p[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { 0 };
    struct request_head h;
    struct err err = { 0 };
    if (request_head_parse(&a, str_n(data, n), STR("ns op"), &h, &err) < 0) {
        FUZZ_CHECK(err.code < 0 && err.text[0]);
    } else {
        check_line(h.method);
        check_line(h.origin);
        check_line(h.accept);
        check_line(h.content_type);
        check_line(h.if_match);
        check_line(h.if_none_match);
        FUZZ_CHECK(h.origin.n && h.origin.p[0] == '/' && str_find_char(h.origin, ' ') < 0);
        FUZZ_CHECK(h.timeout_ms > 0 && h.timeout_ms <= REQUEST_TIMEOUT_MAX_MS);
        FUZZ_CHECK(h.target.verb != KUBE_WATCH && !h.target.watch && !h.target.is_old_watch);
        /* What is sent means what was checked. */
        struct target sent;
        FUZZ_CHECK(target_parse(&a, h.method, h.origin, &sent, NULL) == 0);
        FUZZ_CHECK(sent.verb == h.target.verb && str_eq(sent.path, h.target.path));
    }
    arena_fini(&a);
    return 0;
}
