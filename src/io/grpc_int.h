/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by grpc_server.c and grpc_client.c: messages in a stream of bytes, and the texts of the
 * protocol. Internal to io/.
 */
#pragma once

#include "base/buf.h"
#include "io/grpc.h"

enum { GRPC_PREFIX_BYTES = 5 }; /* a flag (compressed), and the length in network order */

/*
 * Extracts messages from a stream of bytes. A message that lies whole in one chunk is passed on
 * without a copy; others are gathered. `held`: bytes that arrived while the receiver was paused.
 */
struct grpc_reader {
    struct buf part; /* the gathered part of a message, with its prefix */
    struct buf held;
    size_t max_bytes;
};

void grpc_reader_init(struct grpc_reader *r, size_t max_bytes);
void grpc_reader_fini(struct grpc_reader *r);
/*
 * 1: *ret is the next message, borrowed until the next call; 0: all of *in is consumed, the message
 * is not complete. Errors: -EMSGSIZE: larger than max_bytes; E_UNSUPPORTED: compressed; E_PARSE.
 * After an error the reader must not be used.
 */
int grpc_reader_next(struct grpc_reader *r, struct str *in, struct str *ret);
bool grpc_reader_is_between(const struct grpc_reader *r); /* no message is incomplete */
/* The gRPC code and the text of a status for an error of grpc_reader_next(). */
int grpc_reader_code(int r);
const char *grpc_reader_text(int r);

/* Make the prefix of a message of n bytes. */
void grpc_prefix(char ret[GRPC_PREFIX_BYTES], size_t n);

/* grpc-message: percent encoding. */
void grpc_add_text(struct buf *to, struct str text);
void grpc_read_text(struct buf *to, struct str value);
/* grpc-timeout: "250m". E_PARSE: malformed. */
int grpc_parse_timeout(struct str value, uint64_t *ret_ms);
void grpc_format_timeout(char ret[16], uint64_t ms);
bool grpc_is_content_type(struct str value);
