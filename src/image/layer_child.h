/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a layer in a separate process: compressed data and tars are untrusted, so a confined
 * child parses them and this process gets records (layer_wire.h). The child has two pipes, no files
 * (not even the standard error of this process), no network, no privileges, another user if
 * dormouse runs as root, little memory, and a list of allowed system calls (wasm/confine.h,
 * wasm/confine_calls.h). A hostile layer that exploits a flaw in the parser only reaches the
 * content of that layer.
 *
 * The feeding process computes the digest of the blob; the DiffID comes from the child unless the
 * ops ask for the raw tar and hash it.
 */
#pragma once

#include "oci/layer_parse.h"
#include "oci/source.h"

enum {
    LAYER_CHILD_MEMORY_BYTES = 256 << 20, /* the window of zstd is half of it */
    LAYER_CHILD_STALL_MS = 60 * 1000,     /* it makes no progress with input and room for output */
};

/* The first argument that makes a program the child: layer_child_main(). */
#define LAYER_CHILD_WORD "--read-layer"

/* Pass all bytes of a blob to the sink, such as oci_source_blob(). Runs on a separate thread. */
typedef int (*layer_feed)(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err);

struct layer_read_opts {
    const char *program; /* that calls layer_child_main(); NULL: this one */
    uint64_t max_bytes;  /* of the uncompressed tar */
};

/*
 * Read a layer: the ops run on the calling thread, feed on another one. Blocks. What the ops got is
 * valid only after 0. Errors: those of layer_parser_add(), of feed and the ops, -ETIMEDOUT, E_PARSE
 * (the child ended as if the layer had crashed it), those of starting it.
 */
int layer_read(const struct layer_read_opts *opts, layer_feed feed, void *feed_arg,
               const struct layer_ops *ops, void *arg, struct layer_facts *ret, struct err *err);

/*
 * Parses layers in a child, for oci_import_new() and oci_pull(). The ops run on a separate thread.
 * arg: NULL, or struct layer_read_opts, kept, of which only the program is used. The process must
 * ignore SIGPIPE. Errors: those of layer_read().
 */
extern const struct layer_reading_ops layer_child_reading;

/* main() of the child; argv[1] is LAYER_CHILD_WORD. Returns its exit status. */
int layer_child_main(int argc, char **argv);
/* For children only: drop all rights except memory, and reading and writing of open descriptors. p:
 * hashes on a separate thread if that is useful; NULL: none. max_bytes: sets the processor time.
 * ends_with_thread: the kernel kills it when the THREAD that started it ends; else it ends with its
 * input or its processor time. */
int layer_child_confine(struct layer_parser *p, uint64_t max_bytes, bool ends_with_thread,
                        struct err *err);
