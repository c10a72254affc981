/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole requests against a server in process: every input gets exactly one answer with a valid
 * status, and the server stays able to answer. Input: method, target, content type, accept, one a
 * line; the rest is the body. Writes go to a store in memory-backed storage where there is some.
 */
#include "fuzz.h"

#include "api/server.h"
#include "base/mem.h"
#include "io/loop.h"
#include "store/store.h"
#include "temp_dir.h"

#include <stdio.h>
#include <unistd.h>

static struct {
    struct loop loop;
    struct store *store;
    struct api *api;
    bool done, watching;
    int r, status;
    struct exchange *call;
} f;

static void on_ready(void *arg, int r, const struct err *err)
{
    (void)arg;
    (void)err;
    f.r = r;
    f.done = true;
}

static void setup(void)
{
    struct err err = { 0 };
    char at[TEMP_DIR_BYTES];
    FUZZ_CHECK(temp_dir_make("dm-fuzz-api", at));
    scoped(free_scoped) char *path = xasprintf("%s/store.db", at);
    FUZZ_CHECK(loop_init(&f.loop, &err) == 0);
    FUZZ_CHECK(store_open(&f.loop, &(struct store_opts){ .path = path }, &f.store, &err) == 0);
    FUZZ_CHECK(
        api_new(&(struct api_opts){ .loop = &f.loop, .store = f.store, .admin_token = STR("t") },
                &f.api, &err) == 0);
    api_start(f.api, on_ready, NULL);
    while (!f.done)
        (void)loop_turn(&f.loop, true);
    FUZZ_CHECK(f.r >= 0);
    temp_dir_remove(at); /* the files are open: nothing is left behind by a crash either */
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    (void)arg;
    (void)headers;
    FUZZ_CHECK(f.status == 0 && status >= 200 && status < 600);
    f.status = status;
    if (f.watching && status == 200)
        exchange_cancel(f.call);
}

static void on_data(void *arg, struct str chunk)
{
    (void)arg;
    (void)chunk;
    FUZZ_CHECK(f.status != 0);
}

static void on_end(void *arg, int r, const struct err *err)
{
    (void)arg;
    (void)err;
    FUZZ_CHECK(r < 0 || f.status != 0);
    f.done = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct exchange_events events = { .on_head = on_head,
                                                   .on_data = on_data,
                                                   .on_end = on_end };
    struct str rest = str_n(data, n), line[4];
    struct headers h = { 0 };
    if (!f.api)
        setup();
    for (size_t i = 0; i < ARRAY_LEN(line); i++)
        (void)str_cut(rest, '\n', &line[i], &rest);
    if (headers_add(&h, STR("content-type"), line[2]) < 0 ||
        headers_add(&h, STR("accept"), line[3]) < 0) {
        headers_fini(&h);
        return 0;
    }
    f.done = false;
    f.status = 0;
    f.watching = str_find(line[1], STR("watch")) >= 0;
    const struct kube_request req = {
        .method = line[0], .target = line[1], .headers = &h, .body = rest
    };
    if (transport_start(api_transport(f.api), &req, &events, NULL, &f.call, NULL) >= 0)
        while (!f.done)
            (void)loop_turn(&f.loop, true);
    headers_fini(&h);
    return 0;
}
