/* SPDX-License-Identifier: Apache-2.0 */
/* What asynchronous calls are on disk, their ids, and the targets and URLs that name them. */
#include "fuzz.h"

#include "fn/async/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *copy = malloc(n ? n : 1);
    if (n)
        memcpy(copy, data, n);
    struct str text = { copy, n }, lane, namespace, name, rest;
    struct async_record r;
    struct async_leftover left;
    struct async_id id;
    struct headers h = { 0 };
    uint64_t ms;
    char host[ASYNC_HOST_MAX], id_text[ASYNC_ID_TEXT];
    if (async_record_read(text, &r, NULL) >= 0) {
        struct buf b = BUF_INIT(n + 64);
        async_record_write(&b, &r);
        FUZZ_CHECK(buf_ok(&b) && str_eq(buf_str(&b), text));
        buf_fini(&b);
    }
    if (async_leftover_read(text, &left, NULL) >= 0) {
        struct buf b = BUF_INIT(n + 64);
        async_leftover_write(&b, &left);
        FUZZ_CHECK(str_eq(buf_str(&b), text));
        buf_fini(&b);
    }
    (void)async_fields_read(text, &h, NULL);
    if (async_key_due_parse(text, &lane, &ms, &id)) {
        struct async_key k;
        async_key_due(&k, lane, ms, &id);
        FUZZ_CHECK(k.n == n);
    }
    (void)async_key_expires_parse(text, &ms, &id);
    if (async_path_parse(text, &id)) {
        struct async_id again;
        async_id_text(&id, id_text);
        FUZZ_CHECK(async_id_parse(str_of(id_text), &again) && memcmp(&id, &again, sizeof id) == 0);
    }
    if (async_openfaas_parse(text, &namespace, &name, &rest))
        FUZZ_CHECK(name.n > 0 && name.n <= FN_NAME_MAX && namespace.n > 0);
    if (async_url_check(text, host, NULL) >= 0) {
        struct async_record d = { .url = text };
        char to[ASYNC_LANE_MAX];
        async_lane_of(to, 1, &d);
        FUZZ_CHECK(strlen(host) > 2 && strchr(host, ':') && !strchr(host, '/'));
    }
    headers_fini(&h);
    free(copy);
    return 0;
}
