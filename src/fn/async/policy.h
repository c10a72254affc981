/* SPDX-License-Identifier: Apache-2.0 */
/* What follows an attempt: pure, with the randomness passed in. */
#pragma once

#include "base/random.h"
#include "fn/async/record.h"

struct async_outcome {
    int status;         /* of the answer; 0: there was none */
    int r;              /* 0, or why the answer is missing or not whole */
    const char *reason; /* CamelCase; "" with an answer */
    bool is_final;      /* whatever the status: another attempt would end alike */
};

struct async_verdict {
    enum async_state state; /* ASYNC_PENDING: again at wall_due_ms */
    uint64_t wall_due_ms;
    uint16_t status; /* of the result: the answer's, or a substitute if there was none */
    bool is_dead;    /* failed for good: a dead letter is due */
};

/* The defaults of fn_spec_read(): for functions that have been deleted. */
extern const struct fn_async async_default_policy;
/* Of callbacks and dead letters. */
extern const struct fn_async async_url_policy;

/* attempts: with this one. Ages count from wall_created_ms. */
struct async_verdict async_decide(const struct fn_async *policy, const struct async_outcome *o,
                                  uint32_t attempts, uint64_t wall_created_ms, uint64_t wall_now_ms,
                                  struct rng *rng);
/* Before an attempt: is it too old? */
bool async_is_too_old(const struct fn_async *policy, uint64_t wall_created_ms,
                      uint64_t wall_now_ms);
/* Status that stands for an attempt without an answer, by the code of its end. */
uint16_t async_status_of(int r);
