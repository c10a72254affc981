/* SPDX-License-Identifier: Apache-2.0 */
/* ReplicaSets as a Deployment reads, makes and annotates them (deployment_util.go). Pure. */
#pragma once

#include "workload/deployment/plan.h"

/* From the object and its ReplicaSets (with bodies); everything is in the arena. */
struct deployment *deployment_read(struct arena *a, const struct json *object,
                                   const struct workload_claims *sets);
/* The revision that follows those of the old sets. */
int64_t deployment_next_revision(const struct deployment *d);
/*
 * The set for the template of now, without an owner; d->new becomes it, with the replicas that it
 * may have. Its object is to be created.
 */
void deployment_make_set(struct arena *a, const struct json *object, struct deployment *d);
/*
 * Give an existing new set the annotations of the Deployment, the next revision if it has an older
 * one, and minReadySeconds. Whether its object has changed.
 */
bool deployment_adjust_set(struct arena *a, const struct json *object, struct deployment *d);
/* Put the planned size into the object. Whether that changes it. */
bool deployment_write_size(struct arena *a, const struct deployment *d, struct deployment_set *s);
/* The annotation of an object; "": none. */
struct str deployment_annotation(const struct json *object, const char *key);
void deployment_annotate(struct arena *a, struct json *object, const char *key, struct str value);
