/* SPDX-License-Identifier: Apache-2.0 */
/* The ring operator without its entry, so that one process can also run many of them. */
#pragma once

/* Start one operator that copies from `in` to `out`. Both are kept. */
void ring_start(const char *in, const char *out);

/* Allocate, touch and keep this many bytes (decimal). */
void ring_hold_memory(const char *size);
