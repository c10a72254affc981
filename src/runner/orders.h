/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One order of main each, from w->msg; only with the baton (worker.h). A negative result ends the
 * process: main made no sense, or cannot be reached.
 */
#pragma once

#include "runner/worker.h"

int order_module(struct runner_worker *w, struct err *err);
int order_forget(struct runner_worker *w, struct err *err);
/* Ends the instance, which is not parked. */
int order_drop(struct runner_worker *w, struct err *err);
/* The ANSWER of w->run, with what it has produced. */
int order_answer(struct runner_worker *w, struct proto_answer *a, const struct err *why,
                 struct err *err);
/* Runs the guest; meanwhile other threads may have had the baton. */
int order_run(struct runner_worker *w, struct err *err);
