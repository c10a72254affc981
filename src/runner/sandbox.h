/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the process may still do once it runs guests: its allow-list of system calls is short, names
 * no file, opens no socket and starts nothing; anything else kills it.
 */
#pragma once

#include "base/err.h"

/* Before the engine exists: die with the parent, no new privileges, no huge pages, resource limits.
 */
int sandbox_prepare(struct err *err);
/* For good. Everything that must be opened is open. */
int sandbox_enter(struct err *err);
