/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lease in a registry, so that of several optimizers one works: a tag of a repository,
 * "dormouse-lease", that names a manifest without content whose annotations say who holds it, for
 * how long, and how often it was renewed.
 *
 * Nobody's clock is compared with another's: a lease is free once it has stayed the same for its
 * own duration, by the clock of the process that waits. Registries have no conditional PUT, so
 * after taking it the holder waits a moment and looks again. One whose writing took longer than
 * that moment may have overwritten another holder: it waits until that one has renewed, which looks
 * first, and so has given up. What remains are two whose clocks or requests stand still for longer
 * than that; it does no harm, since equal groups get equal layers and a tag moves only from the
 * image that was read.
 *
 * Blocking; one thread.
 */
#pragma once

#include "oci/remote.h"

#define IMAGE_LEASE_TAG "dormouse-lease"
enum {
    IMAGE_LEASE_SETTLE_MS = 300,
    IMAGE_LEASE_MAX_MS = 3600000, /* longer ones in a registry count for nothing */
    IMAGE_LEASE_HOLDER_MAX = 128,
};

struct image_lease;

/* Of this repository; its tag counts for nothing. registry: as of oci_remote_open(), kept, except
 * that requests give up early enough for another attempt before the lease ends. lease_ms: at most
 * IMAGE_LEASE_MAX_MS. */
int image_lease_open(const struct oci_reference *repository, const struct oci_remote_opts *registry,
                     uint64_t lease_ms, struct image_lease **ret, struct err *err);
/* Gives the lease back if it is held. NULL is fine. */
void image_lease_free(struct image_lease *l);
DEFINE_SCOPED(image_lease, image_lease_free)

/*
 * 1: it is held now. 0: by another one, or by one that may have died; ask again in *ret_wait_ms.
 * Errors: those of oci/remote.h.
 */
int image_lease_acquire(struct image_lease *l, uint64_t *ret_wait_ms, struct err *err);
/* Who held it when it could not be taken, untrusted text; "": it was free, but is not certain yet.
 */
const char *image_lease_holder(const struct image_lease *l);
/* Often enough: a third of its duration. A registry that does not answer is no error before half
 * of the duration has passed since the last renewal. After an error the caller has to end its work.
 * Errors: E_CONFLICT: another one holds it; those of oci/remote.h. */
int image_lease_renew(struct image_lease *l, struct err *err);
