/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of header fields under a sequence of operations: one line of the input each. */
#include "fuzz.h"

#include "codec/headers.h"

static void check_list(const struct headers *h)
{
    FUZZ_CHECK(h->n <= HEADERS_MAX);
    for (size_t i = 0; i < h->n; i++) {
        FUZZ_CHECK(headers_is_token(headers_name(h, i)));
        struct str v = headers_value(h, i);
        FUZZ_CHECK(str_find_char(v, '\n') < 0 && str_find_char(v, '\r') < 0);
        FUZZ_CHECK(str_find_char(v, '\0') < 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct headers h = { 0 }, copy = { 0 };
    struct str rest = str_n(data, n), line, name, value;
    while (rest.n) {
        (void)str_cut(rest, '\n', &line, &rest);
        (void)str_cut(str_slice(line, 1, line.n), ':', &name, &value);
        size_t before = h.n;
        switch (line.n ? line.p[0] : 0) {
        case '=':
            if (headers_set(&h, name, value) == 0)
                FUZZ_CHECK(h.n >= 1);
            break;
        case '-':
            headers_del(&h, name);
            break;
        case '~': /* a value borrowed from the list itself */
            if (h.n > 0)
                (void)headers_set(&h, name, headers_value(&h, h.n - 1));
            break;
        default:
            if (headers_add(&h, name, value) < 0)
                FUZZ_CHECK(h.n == before);
        }
        (void)headers_has_token(&h, "connection", "close");
    }
    check_list(&h);
    FUZZ_CHECK(headers_copy(&copy, &h) == 0);
    FUZZ_CHECK(copy.n == h.n);
    headers_fini(&copy);
    headers_fini(&h);
    return 0;
}
