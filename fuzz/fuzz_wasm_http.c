/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heads of answers that Wasm functions give, and requests in the form of CGI; the first byte says
 * which. A head is the same however it comes in pieces; an environment is whole variables.
 */
#include "fuzz.h"

#include "fn/worker/wasm_http.h"
#include "wasm/abi.h"

#include <errno.h>

static bool is_same(const struct headers *a, const struct headers *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(headers_name(a, i), headers_name(b, i)) ||
            !str_eq(headers_value(a, i), headers_value(b, i)))
            return false;
    return true;
}

static void check_fields(const struct headers *h)
{
    FUZZ_CHECK(h->n <= WASM_FIELDS_MAX);
    for (size_t i = 0; i < h->n; i++) {
        struct str value = headers_value(h, i);
        FUZZ_CHECK(headers_is_token(headers_name(h, i)));
        FUZZ_CHECK(str_find_char(value, '\n') < 0 && str_find_char(value, '\r') < 0 &&
                   str_find_char(value, '\0') < 0);
    }
    uint64_t length;
    (void)wasm_content_length(h, &length);
}

/* In pieces of n bytes. Returns the head's result; *ret_body: bytes behind it. */
static int read_head(struct str text, size_t n, int *ret_status, struct headers *ret,
                     size_t *ret_body)
{
    struct buf held = BUF_INIT(GUEST_FN_HEAD_MAX);
    struct str rest = STR_NULL;
    int r = 0;
    while (r == 0 && text.n) {
        r = wasm_read_cgi_head(&held, str_slice(text, 0, n), ret_status, ret, &rest);
        text = str_slice(text, n, text.n);
    }
    FUZZ_CHECK(held.n <= GUEST_FN_HEAD_MAX);
    *ret_body = r > 0 ? rest.n + text.n : 0;
    buf_fini(&held);
    return r;
}

static void try_head(struct str text, size_t n)
{
    struct headers whole = { 0 }, parts = { 0 };
    int status = 0, status_parts = 0;
    size_t body, body_parts;
    int r = read_head(text, text.n, &status, &whole, &body);
    int r_parts = read_head(text, n, &status_parts, &parts, &body_parts);
    FUZZ_CHECK(r == r_parts && body == body_parts);
    if (r > 0) {
        FUZZ_CHECK(status == status_parts && status >= 200 && status <= 599);
        FUZZ_CHECK(is_same(&whole, &parts));
        check_fields(&whole);
    }
    headers_fini(&whole);
    headers_fini(&parts);
}

static void try_fields(struct str text)
{
    struct headers h = { 0 };
    if (wasm_read_fields(text, &h) == 0)
        check_fields(&h);
    headers_fini(&h);
}

static struct str next_line(struct str *rest)
{
    struct str line, after;
    (void)str_cut(*rest, '\n', &line, &after);
    *rest = after;
    return line;
}

static bool has_nul(struct str s)
{
    return s.n && memchr(s.p, 0, s.n);
}

/* Lines: target, authority, peer, then fields. */
static void try_request(struct str text)
{
    struct headers h = { 0 };
    struct invoke_request q = { .method = STR("GET"),
                                .target = next_line(&text),
                                .authority = next_line(&text),
                                .peer = next_line(&text),
                                .headers = &h,
                                .has_body = true,
                                .body_bytes = 7,
                                .call_id = STR("c") };
    bool is_fit = !has_nul(q.target) && !has_nul(q.authority) && !has_nul(q.peer) &&
                  wasm_read_fields(text, &h) == 0; /* as the server has it */
    struct buf env = BUF_INIT(1 << 20), head = BUF_INIT(1 << 20);
    if (is_fit) {
        uint32_t n = wasm_put_cgi(&env, &q), found = 0;
        FUZZ_CHECK(buf_ok(&env));
        for (size_t at = 0; at < env.n; found++) {
            const char *var = env.p + at;
            const char *is = strchr(var, '=');
            FUZZ_CHECK(is && is > var);
            FUZZ_CHECK(strncmp(var, "HTTP_PROXY=", 11) != 0 &&
                       strncmp(var, "HTTP_AUTHORIZATION=", 19) != 0);
            at += strlen(var) + 1;
        }
        FUZZ_CHECK(found == n);
        wasm_put_head(&head, &q);
        FUZZ_CHECK(buf_ok(&head));
    }
    buf_fini(&env);
    buf_fini(&head);
    headers_fini(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 1)
        return 0;
    struct str text = str_n(data + 1, n - 1);
    if (data[0] % 4 == 0)
        try_fields(text);
    else if (data[0] % 4 == 1)
        try_request(text);
    else if (text.n)
        try_head(text, 1 + data[0] / 4 % 16);
    return 0;
}
