/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime `fake`: sandboxes that are only a number. A creation takes
 * spec.fake.createMilliseconds, a request spec.fake.workMilliseconds, and the answer comes from
 * this process. For measurements and tests of everything else.
 *
 * By default the answer is 200 with the request's body. Fields of the request change it:
 *
 *     x-fake-status: N            this status
 *     x-fake-sleep-ms: N          instead of workMilliseconds, before the head
 *     x-fake-bytes: N             a body of N bytes 'x' instead of the request's
 *     x-fake-chunk-ms: N          with x-fake-bytes: a pause before each piece of 16 KiB
 *     x-fake-trailer: TEXT        the trailer x-fake-trailer
 *     x-fake-end: trap|reset|refuse|busy|die   fail instead; die: the sandbox fails with it
 *
 * Every answer has x-fake-sandbox. The constants below limit the values of these fields.
 */
#pragma once

#include "fn/worker/runtime.h"

enum {
    FAKE_SLEEP_MAX_MS = 3600000,
    FAKE_BYTES_MAX = 1 << 30,
    FAKE_BODY_HIGH = 256 << 10 /* of an echoed body that the caller does not take */
};

/*
 * Some creations may fail: fail_permille of them, chosen by the seed; 0: none. Freed by
 * ops->close().
 */
struct runtime *fake_runtime_new(struct loop *loop, uint32_t fail_permille, uint64_t seed);
