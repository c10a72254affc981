/* SPDX-License-Identifier: Apache-2.0 */
/* Traces; the first byte says of which kind. What was read can be drawn. */
#include "fuzz.h"

#include "lab/fn/trace.h"

enum { CALLS_DRAWN = 100000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static int (*const parsers[])(
        struct trace * t, const char *name, struct str csv,
        struct err *err) = { trace_parse_invocations, trace_parse_azure2021, trace_parse_faasrail };
    if (n == 0)
        return 0;
    struct trace *t = trace_new();
    struct str csv = str_n(data + 1, n - 1);
    struct err err = { 0 };
    int r;
    uint8_t kind = data[0] - '0';
    if (kind < ARRAY_LEN(parsers)) {
        r = parsers[kind](t, "trace", csv, &err);
    } else {
        /* One function that the file may speak of. */
        (void)trace_parse_invocations(t, "fixed",
                                      STR("HashOwner,HashApp,HashFunction,1\no,a,f,3\n"), NULL);
        r = (kind % 2 ? trace_parse_durations : trace_parse_memory)(t, "trace", csv, &err);
    }
    FUZZ_CHECK(r >= 0 || err.code == r);
    struct trace_draw d = { .seed = 1, .scale = 1 };
    struct trace_calls calls = { 0 };
    for (uint32_t m = 0; r >= 0 && m < t->n_minutes && m < 3; m++) {
        if (trace_count(t, m, m + 1) > CALLS_DRAWN)
            continue;
        trace_draw_minute(t, &d, m, &calls);
        FUZZ_CHECK(calls.n == trace_count(t, m, m + 1));
        for (size_t i = 0; i < calls.n; i++)
            FUZZ_CHECK(calls.p[i].function < t->n_functions && calls.p[i].at_us / 60000000 == m);
    }
    trace_calls_fini(&calls);
    trace_free(t);
    return 0;
}
