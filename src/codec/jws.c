/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures by a shared secret; see jws.h. */
#include "codec/jws.h"

#include "base/err.h"
#include "codec/base64.h"
#include "codec/digest.h"
#include "codec/json.h"

/* HMAC of "HEADER.CONTENT", both in base64url; the header is encoded already. */
static int compute(struct str header, struct str content, struct str secret, struct buf *to)
{
    uint8_t sum[SHA256_BYTES];
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(2 * JWS_CONTENT_MAX_BYTES);
    if (content.n > JWS_CONTENT_MAX_BYTES || header.n > JWS_HEADER_MAX_BYTES)
        return E_LIMIT;
    (void)buf_add_str(&text, header);
    (void)buf_add_char(&text, '.');
    (void)base64_encode(&text, content, BASE64_URL);
    if (!buf_ok(&text))
        return text.failed;
    sha256_hmac(secret, buf_str(&text), sum);
    return base64_encode(to, str_n(sum, sizeof sum), BASE64_URL);
}

int jws_sign(struct str content, struct str key_id, struct str secret, struct buf *to)
{
    scoped(buf_fini_scoped) struct buf plain = BUF_INIT(JWS_HEADER_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf header = BUF_INIT(2 * JWS_HEADER_MAX_BYTES);
    (void)buf_add_cstr(&plain, "{\"alg\":\"HS256\",\"kid\":");
    (void)json_write_str(&plain, key_id);
    (void)buf_add_char(&plain, '}');
    if (!buf_ok(&plain))
        return plain.failed;
    (void)base64_encode(&header, buf_str(&plain), BASE64_URL);
    (void)buf_add_str(to, buf_str(&header));
    (void)buf_add_cstr(to, "..");
    return compute(buf_str(&header), content, secret, to);
}

/* The algorithm is checked, so that no other one can be chosen by the signature. */
static bool is_header(struct str encoded, struct str key_id)
{
    struct arena a = { .max_bytes = 16 * JWS_HEADER_MAX_BYTES };
    struct json *v;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(JWS_HEADER_MAX_BYTES);
    bool ok = base64_decode(&text, encoded, BASE64_URL) == 0 &&
              json_parse(&a, buf_str(&text), &(struct json_parse_opts){ .max_depth = 4 }, &v,
                         NULL) == 0 &&
              str_is(json_get_str(v, "alg"), "HS256") && str_eq(json_get_str(v, "kid"), key_id) &&
              !json_getc(v, "crit") && !json_getc(v, "b64");
    arena_fini(&a);
    return ok;
}

bool jws_verify(struct str content, struct str signature, struct str key_id, struct str secret)
{
    struct str header, middle, shown;
    scoped(buf_fini_scoped) struct buf right = BUF_INIT(256);
    if (signature.n > JWS_HEADER_MAX_BYTES || !str_cut(signature, '.', &header, &middle) ||
        !str_cut(middle, '.', &middle, &shown) || middle.n || !is_header(header, key_id) ||
        compute(header, content, secret, &right) < 0)
        return false;
    return str_is_secret(shown, buf_cstr(&right));
}
