/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inflating gzip (RFC 1952) with ISA-L, if the machine has the library and dormouse was built with
 * its header: two to three times as fast as zlib on files of images. The library is loaded on
 * demand, so that programs that inflate no layers do not pay for it
 * (docs/decisions/inflating-layers.md).
 */
#pragma once

#include "base/mem.h"
#include "base/str.h"

/* Load the library, once per process. Any thread. false: not available. */
bool inflate_fast_load(void);

struct inflate_fast;

/* NULL unless inflate_fast_load() was called and succeeded. One thread at a time. */
struct inflate_fast *inflate_fast_new(void);
void inflate_fast_free(struct inflate_fast *f);
DEFINE_SCOPED(inflate_fast, inflate_fast_free)

/*
 * One step in one gzip member: removes the bytes that it reads from the front of *in, and writes up
 * to n_out bytes to `out`; *ret is their number, n_out if there may be more. Returns 1 at the end
 * of the member, after comparing its checksum; the next call begins the next member. Errors:
 * E_PARSE.
 */
int inflate_fast_step(struct inflate_fast *f, struct str *in, char *out, size_t n_out, size_t *ret);
