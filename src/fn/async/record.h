/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of asynchronous calls in the store. Pure; any thread.
 *
 *     c/ID                      the call: its request, later its result (struct async_record)
 *     b/ID/NNNN  a/ID/NNNN      body of request and of answer, in pieces, if not in the record
 *     d/LANE/TIME/ID            pending, due at TIME; in the order in which a lane runs them
 *     i/NAMESPACE/NAME/HASH     -> ID, by idempotency key; of triggers: t/...
 *     x/TIME/ID                 finished; to be deleted at TIME (struct async_leftover)
 *     n/NAME                    notes
 *
 * LANE is OWNER/f/NAMESPACE/NAME for calls of functions, OWNER/u/HOST:PORT for callbacks and dead
 * letters, which are calls as well, OWNER/e/NAMESPACE for events in answers of functions. TIME is
 * wall clock ms, 12 hexadecimal digits; IDs are hexadecimal too. Numbers in values are
 * little-endian.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "codec/headers.h"
#include "fn/async/async.h"

enum {
    ASYNC_INLINE_MAX =
        16 << 10, /* larger bodies lie in pieces: the record is rewritten by retries */
    ASYNC_PIECE_BYTES = 1 << 20,
    ASYNC_LANE_MAX = 300,
    ASYNC_STORE_KEY_MAX = 512
};

enum async_state { ASYNC_PENDING, ASYNC_SUCCEEDED, ASYNC_FAILED, ASYNC_EXPIRED, ASYNC_CANCELED };
/* As url: published as an event in the namespace; as callback: so is the answer, if it is one. */
#define ASYNC_TO_EVENTS "events:"
const char *async_state_name(enum async_state s);

struct async_id {
    uint8_t b[ASYNC_ID_BYTES];
};
struct async_id async_id_new(uint32_t owner);
uint32_t async_id_owner(const struct async_id *id);
void async_id_text(const struct async_id *id, char ret[ASYNC_ID_TEXT]);
bool async_id_parse(struct str s, struct async_id *ret);

struct async_record {
    enum async_state state;
    uint32_t attempts; /* that have ended */
    uint16_t status;   /* of the last attempt or of the result; 0: there was none */
    uint64_t wall_created_ms, wall_due_ms, wall_finished_ms, wall_expires_ms;
    uint64_t age_max_ms; /* of a delivery; 0: the function's policy applies */
    struct str namespace,
        name; /* the function; of a delivery: the function of the call that it reports */
    /* Target of a delivery: a URL, or ASYNC_TO_EVENTS; "": the function is called. */
    struct str url;
    struct str key, callback;  /* as in struct async_call */
    struct str parent;         /* of a delivery, text of the call's id */
    struct str reason;         /* CamelCase, of the last failure */
    struct str method, target; /* until it is finished */
    struct str fields;         /* headers of the request, then of the answer: async_fields_*() */
    struct str body;           /* of the request, then of the answer, if n_pieces == 0 */
    uint32_t n_pieces;         /* at b/ID/ while pending, at a/ID/ afterwards */
    uint64_t body_bytes;
};
/* Failure is sticky in the buffer. */
void async_record_write(struct buf *to, const struct async_record *r);
/* Strings are borrowed from `bytes`. E_CORRUPT, E_VERSION. */
int async_record_read(struct str bytes, struct async_record *ret, struct err *err);
void async_fields_write(struct buf *to, const struct headers *h);
int async_fields_read(struct str bytes, struct headers *to, struct err *err);

/* What remains of a finished call, in x/. */
struct async_leftover {
    uint32_t n_pieces;
    struct str by_key; /* key of the row at i/; "": none */
};
void async_leftover_write(struct buf *to, const struct async_leftover *l);
int async_leftover_read(struct str bytes, struct async_leftover *ret, struct err *err);

/* Keys; each fits. */
struct async_key {
    char p[ASYNC_STORE_KEY_MAX];
    size_t n;
};
static inline struct str async_key_str(const struct async_key *k)
{
    return (struct str){ k->p, k->n };
}
void async_key_call(struct async_key *k, const struct async_id *id);
void async_key_piece(struct async_key *k, char what, const struct async_id *id, uint32_t piece);
void async_key_pieces(struct async_key *k, char what, const struct async_id *id); /* prefix */
void async_key_due(struct async_key *k, struct str lane, uint64_t wall_ms,
                   const struct async_id *id);
/* Triggers have keys of their own, so that no client can take the key of a future firing. */
void async_key_by_key(struct async_key *k, bool of_trigger, struct str namespace, struct str name,
                      struct str key);
void async_key_expires(struct async_key *k, uint64_t wall_ms, const struct async_id *id);
/* E_INVALID: a name that is empty or too long. */
int async_key_note(struct async_key *k, struct str note, struct err *err);
/* d/LANE/TIME/ID taken apart; lane borrowed. */
bool async_key_due_parse(struct str key, struct str *ret_lane, uint64_t *ret_wall_ms,
                         struct async_id *ret_id);
bool async_key_expires_parse(struct str key, uint64_t *ret_wall_ms, struct async_id *ret_id);

/* Lane of a call. url: checked before. Shorter than ASYNC_LANE_MAX. */
void async_lane_of(char ret[ASYNC_LANE_MAX], uint32_t owner, const struct async_record *r);

/*
 * Targets besides functions: http or https, a host, no user. E_INVALID with the reason. ret_host:
 * "host:port", lower case.
 */
enum { ASYNC_HOST_MAX = 272 };
int async_url_check(struct str url, char ret_host[ASYNC_HOST_MAX], struct err *err);
/* Loopback, link-local, private, shared, multicast, unspecified: not for strangers to reach. */
struct sockaddr;
bool async_address_is_private(const struct sockaddr *sa);

/* A target below /v1/async/: exactly an id. */
bool async_path_parse(struct str target, struct async_id *ret);
/* "/async-function/NAME" or "/async-function/NAME.NAMESPACE", and what follows, at least "/". */
bool async_openfaas_parse(struct str target, struct str *ret_namespace, struct str *ret_name,
                          struct str *ret_rest);
/* Does the request ask for an asynchronous call? */
bool async_is_asked(const struct headers *h);
/* The fields that are stored with a request: without those that request an asynchronous call. */
int async_fields_keep(const struct headers *from, struct headers *to, struct err *err);
