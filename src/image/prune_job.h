/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs "images" and "prune" (image/store_job.h). Blocking. */
#pragma once

#include "image/store_job.h"

enum {
    PRUNE_JOB_IMAGES_MAX = 50, /* that are listed, as in the status of a Node */
    PRUNE_JOB_NAMES_MAX = 5    /* of each */
};

/* As store_job_run(). */
int prune_job_list(struct oci_store *s, struct arena *a, struct json **ret, struct err *err);
int prune_job_run(struct oci_store *s, const struct store_job *job, struct arena *a,
                  struct json **ret, struct err *err);
