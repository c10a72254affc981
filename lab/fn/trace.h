/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded load: reads a directory of a public trace and draws its invocations, minute by minute.
 *
 *     invocations.csv, durations.csv, memory.csv   Azure Functions 2019 as InVitro samples it
 *     Azure2021*.csv                               one line per invocation
 *     azure_spec_*.csv                             FaaSRail's fitted minutes
 *
 * Columns are found by name. Counts become arrivals as in InVitro; each function and minute has
 * its own seed, so a part of a trace is the same whether or not the rest is drawn. Pure except
 * trace_load(); any thread.
 */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/str.h"

enum {
    TRACE_FILE_MAX_BYTES = 512 << 20,
    TRACE_CALLS_MAX = 20000000, /* single calls */
    TRACE_FUNCTIONS_MAX = 200000,
    TRACE_MINUTES_MAX = 14 * 1440, /* the public trace has 14 days */
    TRACE_PER_MINUTE_MAX = 10000000,
    TRACE_POINTS_MAX = 8, /* of a distribution */
    TRACE_RUN_MAX_MS = 60000,
    TRACE_MEMORY_MAX_MIB = 10240,
    TRACE_MEMORY_DEFAULT_MIB = 128, /* if the trace has no value */
};

/* A distribution with known values at some quantiles, ascending. */
struct trace_distribution {
    float average;
    uint8_t n;
    float quantile[TRACE_POINTS_MAX], value[TRACE_POINTS_MAX];
};

struct trace_function {
    struct str name;    /* HashFunction, or "APP/FUNC" */
    struct str trigger; /* "": the trace has none */
    uint32_t *counts;   /* of each minute; NULL if the trace has single calls */
    struct trace_distribution run_ms, memory_mib;
    bool has_duration, has_memory;
};

/* One invocation, by its start. */
struct trace_call {
    uint64_t at_us; /* since minute 0 of the trace */
    uint32_t function;
    uint32_t run_us;
    uint32_t memory_mib;
};

struct trace {
    struct arena arena;
    struct map by_key; /* owner/app/function -> (void *)(index + 1) */
    struct trace_function *functions;
    size_t n_functions, cap_functions;
    uint32_t n_minutes;
    struct trace_call *calls; /* if the trace has single calls: sorted by at_us */
    size_t n_calls, cap_calls;
};

/* Given, trace_free(). Errors: -ENOENT: no trace of a known kind; E_PARSE, with file and line. */
int trace_load(const char *dir, struct trace **ret, struct err *err);
void trace_free(struct trace *t);
DEFINE_SCOPED(trace, trace_free)

/* The parsers; `name` is for error texts. After an error the trace can only be freed. */
struct trace *trace_new(void);
int trace_parse_invocations(struct trace *t, const char *name, struct str csv, struct err *err);
/* Rows of functions without invocations are ignored. */
int trace_parse_durations(struct trace *t, const char *name, struct str csv, struct err *err);
int trace_parse_memory(struct trace *t, const char *name, struct str csv, struct err *err);
int trace_parse_azure2021(struct trace *t, const char *name, struct str csv, struct err *err);
int trace_parse_faasrail(struct trace *t, const char *name, struct str csv, struct err *err);

enum trace_arrivals { TRACE_EXPONENTIAL, TRACE_EQUIDISTANT, TRACE_UNIFORM };

struct trace_draw {
    uint64_t seed;
    enum trace_arrivals arrivals;
    bool shift;   /* rotate each minute, so that not all functions have a call at second 0 */
    double scale; /* factor of the counts (1); a fraction is the probability of one more call */
};

/* The calls of one minute, ascending. */
struct trace_calls {
    struct trace_call *p;
    size_t n, cap;
};
/*
 * Draw all calls of minute `minute`, sorted by time. The function empties *to first and reuses its
 * memory; trace_calls_fini() releases it.
 */
void trace_draw_minute(const struct trace *t, const struct trace_draw *d, uint32_t minute,
                       struct trace_calls *to);
void trace_calls_fini(struct trace_calls *c);
/* Number of calls in minutes [from, to) before scaling. */
uint64_t trace_count(const struct trace *t, uint32_t from, uint32_t to);
