/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fn-schedule TRACE_DIR FROM_MINUTE TO_MINUTE SCALE SEED: the calls of a part of a recorded trace
 * for fn-load --schedule: microseconds, function, milliseconds of work; to stderr, how many
 * functions there are.
 */
#include "base/mem.h"
#include "lab/fn/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct err err = { 0 };
    struct trace *t;
    uint64_t from, to, seed;
    if (argc != 6 || parse_u64(str_of(argv[2]), 0, TRACE_MINUTES_MAX, &from) < 0 ||
        parse_u64(str_of(argv[3]), from + 1, TRACE_MINUTES_MAX, &to) < 0 ||
        parse_u64(str_of(argv[5]), 0, UINT64_MAX, &seed) < 0) {
        (void)fputs("usage: fn-schedule TRACE_DIR FROM_MINUTE TO_MINUTE SCALE SEED\n", stderr);
        return 2;
    }
    if (trace_load(argv[1], &t, &err) < 0) {
        (void)fprintf(stderr, "fn-schedule: %s\n", err_text(&err));
        return 1;
    }
    struct trace_draw draw = {
        .seed = seed, .arrivals = TRACE_EXPONENTIAL, .shift = true, .scale = strtod(argv[4], NULL)
    };
    struct trace_calls calls = { 0 };
    for (uint32_t minute = (uint32_t)from; minute < MIN(to, t->n_minutes); minute++) {
        trace_draw_minute(t, &draw, minute, &calls);
        for (size_t i = 0; i < calls.n; i++)
            (void)printf("%" PRIu64 " %" PRIu32 " %" PRIu32 "\n",
                         calls.p[i].at_us - from * 60000000, calls.p[i].function,
                         MAX((calls.p[i].run_us + 999) / 1000, 1U));
    }
    (void)fprintf(stderr, "%zu\n", t->n_functions);
    trace_calls_fini(&calls);
    trace_free(t);
    return 0;
}
