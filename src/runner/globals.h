/* SPDX-License-Identifier: Apache-2.0 */
/* The mutable globals of a guest, which its module exports for us (module_info.h): 8 bytes each in
 * the saved form, v128 16. */
#pragma once

#include "runner/instance.h"

/* to: room for PROTO_GLOBALS_MAX bytes. */
int globals_save(struct instance *in, char *to, size_t *ret_n, struct err *err);
int globals_restore(struct instance *in, struct str saved, struct err *err);
/* Look them up now, for an instance that is restored more than once. */
int globals_find_all(struct instance *in, struct err *err);
