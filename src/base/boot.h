/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's boot ID, which changes at each boot. A container sees that of the host. */
#pragma once

#include "base/err.h"

enum { BOOT_ID_BYTES = 37 }; /* with the NUL */

/*
 * ret: the ID without a line end.
 * Errors: -ENOENT: this machine has no boot ID (/proc is missing or not readable). Any other code,
 * such as -EMFILE, is temporary and says nothing about the boot: the caller must then treat state
 * as belonging neither to this boot nor to another one.
 */
int boot_id_read(char ret[BOOT_ID_BYTES], struct err *err);
