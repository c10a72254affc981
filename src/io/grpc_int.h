/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What grpc_server.c and grpc_client.c share: messages in a stream of bytes, and the texts of the
 * protocol. Internal to io/.
 */
#pragma once

#include "base/buf.h"
#include "io/grpc.h"

enum { GRPC_PREFIX_BYTES = 5 }; /* is it compressed, and its length in network order */

/*
 * Takes messages out of bytes as they come. A message that lies whole in one piece is handed on
 * from where it is; others are gathered. `held` are bytes that came while nobody wanted messages.
 */
struct grpc_reader {
    struct buf part; /* of a message, with its prefix */
    struct buf held;
    size_t max_bytes;
};

void grpc_reader_init(struct grpc_reader *r, size_t max_bytes);
void grpc_reader_fini(struct grpc_reader *r);
/*
 * 1 and the next message, borrowed until the next call; 0: all of *in is taken, the message goes
 * on. Errors: -EMSGSIZE larger than max_bytes, E_UNSUPPORTED compressed, E_PARSE; then no more.
 */
int grpc_reader_next(struct grpc_reader *r, struct str *in, struct str *ret);
bool grpc_reader_is_between(const struct grpc_reader *r); /* no message is open */
/* What of the peer's messages went wrong, and how a call ends with it. */
int grpc_reader_code(int r);
const char *grpc_reader_text(int r);

/* The prefix of a message of n bytes. */
void grpc_prefix(char ret[GRPC_PREFIX_BYTES], size_t n);

/* grpc-message: percent encoding. */
void grpc_add_text(struct buf *to, struct str text);
void grpc_read_text(struct buf *to, struct str value);
/* grpc-timeout: "250m". E_PARSE if it is not one. */
int grpc_parse_timeout(struct str value, uint64_t *ret_ms);
void grpc_format_timeout(char ret[16], uint64_t ms);
bool grpc_is_content_type(struct str value);
