/* SPDX-License-Identifier: Apache-2.0 */
/* Saving and restoring the mutable globals of a guest, which its instrumented module exports
 * (module_info.h). The saved form has 8 bytes for each, 16 for a v128. */
#pragma once

#include "runner/instance.h"

/* to: room for PROTO_GLOBALS_MAX bytes. */
int globals_save(struct instance *in, char *to, size_t *ret_n, struct err *err);
int globals_restore(struct instance *in, struct str saved, struct err *err);
/* Look the globals up in advance, for an instance that is restored more than once. */
int globals_find_all(struct instance *in, struct err *err);
