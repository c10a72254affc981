/* SPDX-License-Identifier: Apache-2.0 */
/* The id of this run of the kernel; in a container it is the host's. */
#pragma once

#include "base/err.h"

enum { BOOT_ID_BYTES = 37 }; /* with the NUL */

/*
 * ret: without a line end.
 * Errors: -ENOENT: this machine does not give it (no /proc, or none that may be read). Any other
 * code, as -EMFILE, is of this moment and says nothing of the boot: what belongs to it must not be
 * taken for that of another one, nor the other way round.
 */
int boot_id_read(char ret[BOOT_ID_BYTES], struct err *err);
