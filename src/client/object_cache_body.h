/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed bodies of one informer: zstd with a dictionary trained on the informer's first
 * objects, because objects of one kind resemble each other more than one object repeats itself.
 *
 *     EMPTY -> (enough samples) TRAINING on a worker thread -> READY | POOR (no use)
 *
 * The owner packs bodies that were packed before the dictionary was ready again, see
 * cache_body_codec_is_ready(). The compressor's tables are large, so they exist only while there is
 * work, and for BODY_IDLE_MS after it. Loop thread.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"

struct cache_body_codec;
struct cache_body_packer; /* shared by all codecs: contexts, idle timer */

enum {
    BODY_MIN_BYTES = 64, /* shorter bodies are not packed */
    BODY_SAMPLES = 256,  /* objects that make a dictionary */
    BODY_SAMPLES_MIN = 16,
    BODY_SAMPLES_MAX_BYTES = 2 << 20,
    BODY_DICT_MAX_BYTES = 32 << 10,
    BODY_LEVEL = 3, /* with a dictionary, levels 6 and 9 take five times as long for 2 % */
    BODY_IDLE_MS = 2000
};

struct cache_body_packer *cache_body_packer_new(struct loop *loop);
/* All codecs must be closed. done: once, from the loop, when their trainings have ended. */
void cache_body_packer_close(struct cache_body_packer *p, void (*done)(void *arg), void *arg);

/* on_ready: once, from the loop, when the dictionary is ready. */
struct cache_body_codec *cache_body_codec_new(struct cache_body_packer *p,
                                              void (*on_ready)(void *arg), void *arg);
/* on_ready does not run any more; the memory is freed when a training has ended. */
void cache_body_codec_close(struct cache_body_codec *c);
size_t cache_body_codec_bytes(const struct cache_body_codec *c); /* of the dictionary */

/*
 * Packs `plain`, and takes it as a sample for the dictionary. ret: borrowed until the next call of
 * the packer; it is `plain` itself when packing saves nothing.
 */
enum cache_body_form { BODY_PLAIN, BODY_PACKED, BODY_PACKED_WITH_DICT };
struct str cache_body_pack(struct cache_body_codec *c, struct str plain,
                           enum cache_body_form *ret_form);
/* No more objects are expected for now: train on the samples so far. */
void cache_body_codec_settle(struct cache_body_codec *c);
/* Borrowed until the next call of the packer. c: may be NULL for BODY_PLAIN. E_CORRUPT. */
int cache_body_unpack(struct cache_body_codec *c, struct str packed, enum cache_body_form form,
                      size_t plain_n, struct str *ret, struct err *err);
