/* SPDX-License-Identifier: Apache-2.0 */
/* Media types, Accept headers and base64 text. */
#include "fuzz.h"

#include "base/mem.h"
#include "codec/base64.h"
#include "codec/headers.h"
#include "codec/media.h"

static void check_media(struct str text)
{
    static const char *const offers[] = { "application/json", "application/yaml", "text/plain" };
    static struct media_accept accept;
    struct media_type m;
    if (media_parse(text, &m) == 0) {
        FUZZ_CHECK(headers_is_token(m.type) && headers_is_token(m.subtype));
        FUZZ_CHECK(m.n_params <= MEDIA_MAX_PARAMS && m.q_milli <= 1000);
        for (size_t i = 0; i < m.n_params; i++)
            FUZZ_CHECK(headers_is_token(m.params[i].name));
    }
    if (media_parse_accept(text, &accept) < 0)
        return;
    for (size_t i = 1; i < accept.n; i++)
        FUZZ_CHECK(accept.at[i - 1].q_milli >= accept.at[i].q_milli);
    int chosen = media_choose(&accept, offers, ARRAY_LEN(offers));
    FUZZ_CHECK(chosen >= -1 && chosen < (int)ARRAY_LEN(offers));
}

/* Strict text is the only text of its bytes; what is strict is also lenient. */
static void check_base64(struct str text)
{
    struct buf bytes = BUF_INIT(text.n), again = BUF_INIT(2 * text.n + 4),
               lenient = BUF_INIT(text.n);
    for (enum base64_form form = BASE64_STD; form <= BASE64_URL; form++) {
        buf_reset(&bytes);
        buf_reset(&again);
        if (base64_decode(&bytes, text, form) < 0)
            continue;
        FUZZ_CHECK(base64_encode(&again, buf_str(&bytes), form) == 0);
        FUZZ_CHECK(str_eq(buf_str(&again), text));
        if (form == BASE64_STD) {
            FUZZ_CHECK(base64_decode(&lenient, text, BASE64_LENIENT) == 0);
            FUZZ_CHECK(str_eq(buf_str(&lenient), buf_str(&bytes)));
        }
    }
    buf_reset(&lenient);
    (void)base64_decode(&lenient, text, BASE64_LENIENT);
    buf_fini(&bytes);
    buf_fini(&again);
    buf_fini(&lenient);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    check_media(str_n(data, n));
    check_base64(str_n(data, n));
    return 0;
}
