/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs "provide" and "release" (image/store_job.h). Blocking. */
#pragma once

#include "image/store_job.h"

/* As store_job_run(). Errors: those of provide_image(). */
int provide_job_run(struct oci_store *s, const struct store_job *job,
                    const struct store_job_watch *watch, struct arena *a, struct json **ret,
                    struct err *err);
/* The lease is dropped, or was before; and root file systems that nothing has used for
 * PROVIDE_REST_S go. Errors: those of provide_drop(). */
int provide_job_release(struct oci_store *s, struct str lease, struct err *err);
