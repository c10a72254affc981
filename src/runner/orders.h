/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each function carries out one order of main, from w->msg; only with the baton (worker.h). A
 * negative result ends the process: the order is invalid, or main cannot be reached.
 */
#pragma once

#include "runner/worker.h"

int order_module(struct runner_worker *w, struct err *err);
int order_forget(struct runner_worker *w, struct err *err);
/* End the instance, which is not parked. */
int order_drop(struct runner_worker *w, struct err *err);
/* Send the ANSWER of w->run, with everything that the run has produced. */
int order_answer(struct runner_worker *w, struct proto_answer *a, const struct err *why,
                 struct err *err);
/* Run the guest; other threads may have the baton meanwhile. */
int order_run(struct runner_worker *w, struct err *err);
