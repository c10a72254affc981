/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a layer in a process of its own: decompression and the tar are foreign bytes, so a
 * confined child parses them and this process gets records (layer_wire.h). The child has two pipes,
 * no files (not even the standard error of this process), no network, no privileges, another user
 * where dormouse runs as root, little memory, and a list of allowed system calls (wasm/confine.h,
 * wasm/confine_calls.h). What a hostile layer could still reach through a flaw in the parser is the
 * content of that layer.
 *
 * The digest of the blob is computed outside, by the feeding process; the DiffID is the child's
 * word unless the ops ask for the raw tar and hash it.
 */
#pragma once

#include "oci/layer_parse.h"
#include "oci/source.h"

enum {
    LAYER_CHILD_MEMORY_BYTES = 256 << 20, /* the window of zstd is half of it */
    LAYER_CHILD_STALL_MS = 60 * 1000,     /* it has input and room for output, and does nothing */
};

/* The first word of the command line that makes a program the child: layer_child_main(). */
#define LAYER_CHILD_WORD "--read-layer"

/* Give all bytes of a blob to the sink; oci_source_blob() is meant. Runs on a thread of its own. */
typedef int (*layer_feed)(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err);

struct layer_read_opts {
    const char *program; /* that calls layer_child_main(); NULL: this one */
    uint64_t max_bytes;  /* of the uncompressed tar */
};

/*
 * Read a layer: the ops run on the calling thread, feed on another. Blocks. What the ops got counts
 * only after 0. Errors: those of layer_parser_add(), of feed and the ops, -ETIMEDOUT, E_PARSE (the
 * child ended as if the layer had harmed it), what starting it gives.
 */
int layer_read(const struct layer_read_opts *opts, layer_feed feed, void *feed_arg,
               const struct layer_ops *ops, void *arg, struct layer_facts *ret, struct err *err);

/*
 * A child as what parses a layer for oci_import_new() and oci_pull(). The ops run on a thread of
 * its own. arg: NULL, or struct layer_read_opts, kept, of which only the program counts. The
 * process ignores SIGPIPE. Errors: those of layer_read().
 */
extern const struct layer_reading_ops layer_child_reading;

/* main() of the child; argv[1] is LAYER_CHILD_WORD. Returns its exit status. */
int layer_child_main(int argc, char **argv);
/* For children alone: drop all rights but memory, and reading and writing of what is open. p:
 * hashes on a thread of its own where that pays; NULL: none. max_bytes: that the processor time is
 * for. ends_with_thread: the kernel kills it when the THREAD that started it ends; else the end of
 * its input and its processor time are what ends it. */
int layer_child_confine(struct layer_parser *p, uint64_t max_bytes, bool ends_with_thread,
                        struct err *err);
