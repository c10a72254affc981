/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins of the scheduler push: the first byte chooses what the others are. */
#include "fuzz.h"

#include "sched/wasm/payload.h"

static void try_names(struct arena *a, struct str bytes)
{
    const struct str *names;
    size_t all = payload_names(a, bytes, true, &names), n = payload_names(a, bytes, false, &names);
    FUZZ_CHECK(n <= all && all <= bytes.n);
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(names[i].n > 0 && names[i].p + names[i].n < bytes.p + bytes.n);
}

static void try_scores(struct arena *a, struct str bytes)
{
    const struct wplugin_node_score *scores;
    size_t n;
    struct err err = { 0 };
    if (payload_read_scores(a, bytes, &scores, &n, &err) < 0) {
        FUZZ_CHECK(err.text[0]);
        return;
    }
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    const struct wplugin_node_score *back;
    size_t n_back;
    payload_add_scores(a, &b, scores, n);
    FUZZ_CHECK(payload_read_scores(a, buf_str(&b), &back, &n_back, &err) == 0 && n_back == n);
    buf_fini(&b);
}

/* The first byte says how long path and key are; the rest is a message. */
static void try_field(struct str bytes)
{
    uint64_t number;
    struct str value;
    size_t n_path = bytes.n ? bytes.p[0] & 7 : 0, n_key = bytes.n ? bytes.p[0] >> 3 & 7 : 0;
    if (bytes.n < 1 + n_path + n_key)
        return;
    struct str path = str_n(bytes.p + 1, n_path), key = str_n(path.p + n_path, n_key),
               message = str_slice(bytes, 1 + n_path + n_key, bytes.n);
    if (payload_field_find(message, path, key, &number, &value) && value.p != (const char *)&number)
        FUZZ_CHECK(value.p >= message.p && value.p + value.n <= message.p + message.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    struct arena a = { .max_bytes = 16 << 20 };
    struct str bytes = str_n(data + 1, n - 1);
    struct wplugin_event event;
    const struct wplugin_cluster_event *events;
    struct err err = { 0 };
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    switch (data[0] % 6) {
    case 0:
        try_names(&a, bytes);
        break;
    case 1:
        FUZZ_CHECK(payload_events(&a, bytes, &events) == bytes.n / 8);
        break;
    case 2:
        try_scores(&a, bytes);
        break;
    case 3:
        if (payload_read_event(&a, bytes, &event, &err) < 0)
            FUZZ_CHECK(err.text[0]);
        break;
    case 5:
        try_field(bytes);
        break;
    case 4:
        payload_add_pair(&b, STR("key"), bytes);
        payload_add_json_string(&b, bytes);
        FUZZ_CHECK(buf_ok(&b));
        break;
    }
    buf_fini(&b);
    arena_fini(&a);
    return 0;
}
