/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inflating gzip (RFC 1952) by ISA-L, where its library is on this machine and its header was there
 * when dormouse was built: two to three times as fast as zlib on files of images. The library is
 * loaded on demand, so that programs which inflate no layers do not pay for it
 * (docs/decisions/inflating-layers.md).
 */
#pragma once

#include "base/mem.h"
#include "base/str.h"

/* Load the library, once per process. Any thread. False: it is not there. */
bool inflate_fast_load(void);

struct inflate_fast;

/* NULL unless inflate_fast_load() was called and succeeded. One thread at a time. */
struct inflate_fast *inflate_fast_new(void);
void inflate_fast_free(struct inflate_fast *f);
DEFINE_SCOPED(inflate_fast, inflate_fast_free)

/*
 * One step in one gzip member: *in is shortened by what was read, and up to n_out bytes are written
 * to `out`; *ret is their number, n_out if there may be more. Returns 1 at the end of the member,
 * whose checksum was compared then; the next call begins the next one. Errors: E_PARSE.
 */
int inflate_fast_step(struct inflate_fast *f, struct str *in, char *out, size_t n_out, size_t *ret);
