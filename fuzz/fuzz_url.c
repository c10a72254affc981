/* SPDX-License-Identifier: Apache-2.0 */
/* Request targets; decoded parts survive encoding, and no segment can leave its place in the path.
 */
#include "fuzz.h"

#include "codec/url.h"

static void check_part(struct arena *a, struct str part)
{
    struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    struct str back;
    FUZZ_CHECK(url_encode(&text, part) == 0);
    FUZZ_CHECK(url_decode(a, buf_str(&text), true, &back) == 0);
    FUZZ_CHECK(str_eq(part, back));
    buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct url_target t;
    struct arena a = { 0 };
    struct str decoded;
    if (url_parse(&a, str_n(data, n), &t, NULL) == 0) {
        FUZZ_CHECK(t.n_segments <= URL_MAX_SEGMENTS && t.n_pairs <= URL_MAX_PAIRS);
        for (size_t i = 0; i < t.n_segments; i++) {
            struct str s = t.segments[i];
            FUZZ_CHECK(s.n > 0 && !str_is(s, ".") && !str_is(s, ".."));
            FUZZ_CHECK(str_find_char(s, '/') < 0 && str_find_char(s, '\0') < 0);
            check_part(&a, s);
        }
        for (size_t i = 0; i < t.n_pairs; i++) {
            check_part(&a, t.pairs[i].name);
            check_part(&a, t.pairs[i].value);
        }
        (void)url_query_bool(&t, "watch");
    }
    (void)url_decode(&a, str_n(data, n), false, &decoded);
    check_part(&a, str_n(data, n));
    arena_fini(&a);
    return 0;
}
