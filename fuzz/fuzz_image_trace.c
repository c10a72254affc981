/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of requests for images; what was read can be replayed. */
#include "fuzz.h"

#include "lab/image/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct image_trace t = { 0 };
    struct err err = { 0 };
    int r = image_trace_read(str_n(data, n), &t, &err);
    FUZZ_CHECK(r >= 0 || (err.code == r && t.requests.n == 0));
    if (r >= 0 && t.requests.n < 1000) {
        struct image_replay_options o;
        struct image_replay_result got;
        image_replay_options_default(&o);
        o.n_nodes = 3;
        o.place = (enum image_replay_place)(n % IMAGE_REPLAY_PLACES);
        o.start = (enum image_replay_start)(n / IMAGE_REPLAY_PLACES % IMAGE_REPLAY_STARTS);
        o.slots = 1;
        o.drawn_rates = true;
        o.cache.capacity = 1000;
        FUZZ_CHECK(image_replay_run(&t, &o, &got, &err) >= 0);
        FUZZ_CHECK(got.deployments == t.requests.n);
    }
    image_trace_fini(&t);
    return 0;
}
