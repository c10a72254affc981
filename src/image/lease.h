/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lease in a registry, so that of several optimizers one works: a tag of a repository,
 * "dormouse-lease", that names a manifest without content whose annotations say who holds it, for
 * how long, and how often it was renewed.
 *
 * Nobody's clock is compared with another's: a lease is free once it has stayed the same for its
 * own duration, by the clock of the process that waits. Registries have no conditional PUT, so
 * after taking it the holder waits a moment and looks again. What remains is a race of two that
 * write within that moment on slow connections; the next renewal finds it. It does no harm, since
 * equal groups get equal layers and a tag moves only from the image that was read.
 *
 * Blocking; one thread.
 */
#pragma once

#include "oci/remote.h"

#define IMAGE_LEASE_TAG "dormouse-lease"
enum { IMAGE_LEASE_SETTLE_MS = 300, IMAGE_LEASE_HOLDER_MAX = 128 };

struct image_lease;

/* Of this repository; its tag counts for nothing. registry: as of oci_remote_open(), kept. */
int image_lease_open(const struct oci_reference *repository, const struct oci_remote_opts *registry,
                     uint64_t lease_ms, struct image_lease **ret, struct err *err);
/* Gives the lease back if it is held. NULL is fine. */
void image_lease_free(struct image_lease *l);
DEFINE_SCOPED(image_lease, image_lease_free)

/*
 * 1: it is held now. 0: by another one, or by one that may have died; ask again in *ret_wait_ms.
 * Errors: those of oci/remote.h.
 */
int image_lease_take(struct image_lease *l, uint64_t *ret_wait_ms, struct err *err);
/* Who held it when it could not be taken; untrusted text. */
const char *image_lease_holder(const struct image_lease *l);
/* Often enough: a third of its duration. Errors: E_CONFLICT: another one holds it; the caller has
 * to end its work. Those of oci/remote.h. */
int image_lease_renew(struct image_lease *l, struct err *err);
