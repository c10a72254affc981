/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client of a snapshotter may say, and what its journal may hold, in any order: names and
 * labels stay within their bounds, and a state that events made can be made again by its own
 * events. Input: steps of a byte that says what it is, two that say how many bytes belong to it,
 * and these.
 */
#include "fuzz.h"

#include "image/snapshot_call.h"

enum { STEPS_MAX = 300 };

static int put(struct snapshot_state *s, const struct snapshot_event *e)
{
    int r = snapshot_state_check(s, e, NULL);
    if (r >= 0)
        snapshot_state_apply(s, e);
    return r;
}

static void read_event(struct snapshot_state *s, struct str bytes)
{
    struct arena a = { 0 };
    struct snapshot_event e;
    if (snapshot_event_decode(&a, bytes, &e, NULL) >= 0)
        (void)put(s, &e);
    arena_fini(&a);
}

static int show(void *arg, const struct snapshot_event *e)
{
    const struct snapshot_call *c = arg;
    if (e->op == SNAPSHOT_ADD)
        (void)snapshot_filter_matches(c->filter, e);
    return 0;
}

/* As the snapshotter makes events of it, with a directory that nothing has. */
static void read_call(struct snapshot_state *s, uint8_t method, struct str bytes)
{
    struct snapshot_call c;
    struct snapshot_info info;
    if (snapshot_call_read((enum snapshot_method)(method % SNAPSHOT_METHOD_COUNT), bytes, &c,
                           NULL) < 0)
        return;
    FUZZ_CHECK(c.n_labels <= SNAPSHOT_LABELS_MAX);
    struct snapshot_event e = { .op = SNAPSHOT_ADD,
                                .name = c.key,
                                .parent = c.parent,
                                .kind = SNAPSHOT_ACTIVE,
                                .dir = snapshot_state_highest_dir(s) + 1,
                                .labels = c.labels,
                                .n_labels = c.n_labels };
    if (c.method == SNAPSHOT_CALL_VIEW)
        e.kind = SNAPSHOT_VIEW;
    if (c.method == SNAPSHOT_CALL_COMMIT) {
        e.op = SNAPSHOT_COMMIT;
        e.name = c.name;
        e.key = c.key;
    }
    if (c.method == SNAPSHOT_CALL_REMOVE)
        e.op = SNAPSHOT_REMOVE;
    if (c.method == SNAPSHOT_CALL_UPDATE)
        e.op = SNAPSHOT_LABEL;
    if (c.method == SNAPSHOT_CALL_LIST)
        (void)snapshot_state_each(s, show, &c);
    else if (c.method <= SNAPSHOT_CALL_UPDATE && e.dir != 0 && put(s, &e) >= 0 &&
             e.op != SNAPSHOT_REMOVE)
        FUZZ_CHECK(snapshot_state_get(s, e.name, &info, NULL) >= 0 && snapshot_is_name(info.name));
    snapshot_call_fini(&c);
}

static int repeat(void *arg, const struct snapshot_event *e)
{
    struct arena a = { 0 };
    struct snapshot_event read;
    struct buf bytes = BUF_INIT(SNAPSHOT_EVENT_MAX);
    uint64_t lowers[SNAPSHOT_DEPTH_MAX];
    size_t n;
    snapshot_event_encode(e, &bytes);
    FUZZ_CHECK(buf_ok(&bytes) && snapshot_event_decode(&a, buf_str(&bytes), &read, NULL) >= 0);
    FUZZ_CHECK(put(arg, &read) >= 0);
    if (e->op == SNAPSHOT_ADD)
        FUZZ_CHECK(snapshot_state_lowers(arg, e->name, lowers, &n) >= 0);
    buf_fini(&bytes);
    arena_fini(&a);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct rd r = rd_init(data, n);
    struct snapshot_state *s = snapshot_state_new(), *again = snapshot_state_new();
    for (int steps = 0; rd_left(&r) && steps < STEPS_MAX; steps++) {
        uint8_t what = rd_u8(&r);
        uint16_t size = rd_le16(&r);
        struct str bytes = rd_str(&r, MIN((size_t)size, rd_left(&r)));
        if (what < 128)
            read_call(s, what, bytes);
        else
            read_event(s, bytes);
    }
    FUZZ_CHECK(snapshot_state_each(s, repeat, again) >= 0);
    FUZZ_CHECK(snapshot_state_count(s) == snapshot_state_count(again));
    snapshot_state_free(s);
    snapshot_state_free(again);
    return 0;
}
