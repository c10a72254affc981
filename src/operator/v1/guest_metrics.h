/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics that a guest has declared, and their values: one registry per operator.
 *
 * A label set exists from its first value on. The number of label sets of an operator is limited;
 * values beyond it are counted and dropped. All values are discarded when the operator's
 * declaration changes.
 */
#pragma once

#include "base/buf.h"
#include "operator/v1/declaration.h"

enum { GUEST_METRICS_MAX_SETS = 1000, GUEST_METRICS_LABEL_MAX_BYTES = 256 };

struct guest_metrics;

/* declaration: kept. */
struct guest_metrics *guest_metrics_new(const struct declaration *declaration);
void guest_metrics_free(struct guest_metrics *m); /* NULL is fine */

/*
 * Record one value. labels: a JSON array of strings, "" for none. Errors: E_INVALID, E_PARSE, with
 * the reason (the guest broke a rule); E_LIMIT: too many label sets, value dropped.
 */
int guest_metrics_observe(struct guest_metrics *m, uint32_t index, struct str labels, double value,
                          struct err *err);

/*
 * Input for Prometheus text of several operators. Several may declare the same metric, whose values
 * must be printed together below one HELP and TYPE.
 */
struct guest_metrics_source {
    const struct guest_metrics *metrics;
    const char *operator_name; /* label `operator` */
};
void guest_metrics_write(const struct guest_metrics_source *sources, size_t n, struct buf *to);
uint64_t guest_metrics_left_out(const struct guest_metrics *m);
