/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For several threads that read blobs of one repository at once: each has its own client, with its
 * own connections and tokens, until the thread ends.
 */
#pragma once

#include "oci/remote.h"

struct oci_remote_pool;

/* first: kept, the client of the calling thread; others get a clone of it. Errors: -EAGAIN, too
 * many pools. */
int oci_remote_pool_new(struct oci_remote *first, struct oci_remote_pool **ret, struct err *err);
/* NULL is fine. The other threads that used it must have ended. */
void oci_remote_pool_free(struct oci_remote_pool *pool);
/* The client of this thread. Borrowed. Errors: those of oci_remote_open(). */
int oci_remote_pool_get(struct oci_remote_pool *pool, struct oci_remote **ret, struct err *err);
