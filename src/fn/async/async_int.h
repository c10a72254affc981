/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of async/ share. Private to src/fn/async/. */
#pragma once

#include "base/clock.h"
#include "base/list.h"
#include "base/map.h"
#include "base/sm.h"
#include "fn/async/lane.h"
#include "fn/async/policy.h"
#include "store/store.h"

struct async_run;

#define ASYNC_HOPS_FIELD "x-faas-event-hops"

/*
 * The life of struct async. A request is accepted in all states except the last.
 *
 *     OPEN --async_start()--> RUNNING --async_drain()--> DRAINING --async_close()--> CLOSING
 *
 * Each step may be left out.
 */
enum async_at {
    ASYNC_OPEN, /* the functions are not known yet: no call runs */
    ASYNC_RUNNING,
    ASYNC_DRAINING, /* no further call begins, the others end */
    ASYNC_CLOSING
};

/* Scans of the rows at d/: which lanes there are. After the first one all lanes on disk are known.
 */
enum async_scan_at { ASYNC_SCAN_NEVER, ASYNC_SCAN_FIRST, ASYNC_SCAN_DONE, ASYNC_SCAN_AGAIN };

struct async {
    struct loop *loop;
    char *path;
    uint32_t owner;
    bool allow_private_urls;
    struct tls_ctx *peer_tls;
    bool (*is_mine)(void *arg, uint32_t owner);
    void *is_mine_arg;
    size_t running_max;
    uint64_t pending_max, function_pending_max;

    struct store *store; /* NULL: the database does not exist yet */
    struct async_functions functions;
    struct sm sm; /* enum async_at */
    enum async_scan_at scan;
    bool wants_scan; /* another scan once this one has ended, or after a failure */
    bool pages_failed;
    struct lanes lanes;
    struct map runs; /* struct async_run, by text of the id */
    size_t running_bytes, taking_bytes;
    struct timer due_timer, sweep_timer;
    struct defer pump;
    struct rng rng;
    uint64_t begin_wall_ms, begin_boot_ms;
    uint64_t wall_expires_ms; /* of the first result; UINT64_MAX: there is none */
    bool is_sweeping;
    struct tls_ctx *tls;        /* for https URLs; made with the first one */
    struct async_events events; /* functions NULL: no consumer */
    struct async_stats stats;
    void (*on_closed)(void *arg);
    void *closed_arg;
};

/*
 * Time of calls: the wall clock, but never less than start time plus elapsed time, including
 * suspended time. So a wall clock that is set back delays nothing, and one that was wrong at boot
 * counts once it is right.
 */
uint64_t async_wall_ms(const struct async *a);
static inline bool async_is_closing(const struct async *a)
{
    return a->sm.at == ASYNC_CLOSING;
}
static inline bool async_is_scanning(const struct async *a)
{
    return a->scan == ASYNC_SCAN_FIRST || a->scan == ASYNC_SCAN_AGAIN;
}

/* ---- async.c ---- */

/* The store, made if need be. */
int async_db(struct async *a, struct err *err);
/* See on the next turn what can run. */
void async_pump(struct async *a);
/* A call is on disk; of which lane. */
void async_added(struct async *a, struct str lane, const struct due *d);
/* After a run has ended while closing. */
void async_check_closed(struct async *a);

/* ---- pages.c ---- */

/* The lane's next page. */
void pages_read(struct async *a, struct lane *l);
/* What could not be read, after async.pages_failed. */
void pages_retry(struct async *a);

/* ---- sweep.c ---- */

void async_sweep(struct async *a);
/* A result expires then. */
void async_finished(struct async *a, uint64_t wall_expires_ms);

/* ---- a transaction in the making: batch.c ---- */

struct async_batch {
    struct arena arena;
    struct store_op ops[STORE_TXN_MAX_OPS];
    size_t n;
    /* Pending calls that it adds; they are announced once it is committed. */
    struct {
        char lane[ASYNC_LANE_MAX];
        struct due due;
    } added[3];
    size_t n_added;
};
void batch_fini(struct async_batch *b);
/* Values are borrowed until the transaction is started, or in the arena. */
void batch_put(struct async_batch *b, const struct async_key *k, struct str value);
void batch_put_absent(struct async_batch *b, const struct async_key *k, struct str value);
void batch_put_rev(struct async_batch *b, const struct async_key *k, struct str value,
                   uint64_t rev);
void batch_delete(struct async_batch *b, const struct async_key *k);
/* Rows of a body: inline in r, or pieces below `what`. r->body etc. are set. */
void batch_body(struct async_batch *b, char what, const struct async_id *id, struct str body,
                struct async_record *r);
void batch_delete_pieces(struct async_batch *b, char what, const struct async_id *id, uint32_t n);
/* Value of a record, in the arena. */
struct str batch_record(struct async_batch *b, const struct async_record *r);
/*
 * A new pending call: fills in what is missing of r (state, times, body), and its rows. rev: of the
 * row that it replaces, 0: it is new.
 */
void batch_call(struct async_batch *b, uint32_t owner, const struct async_id *id,
                struct async_record *r, struct str body, uint64_t wall_now_ms);
/*
 * The end of a call whose rows are those of `was`: its result (fields and body of the answer)
 * replaces its request. Returns when it expires.
 */
uint64_t batch_result(struct async_batch *b, const struct async_id *id,
                      const struct async_record *was, uint64_t rev, struct str lane,
                      enum async_state state, uint16_t status, struct str reason, struct str fields,
                      struct str body, uint64_t ttl_ms, uint64_t wall_now_ms);

/* ---- run.c ---- */

/* Lane and due as from lanes_next(). */
void run_start(struct async *a, struct lane *l, const struct due *d);
/* Ask it to end as canceled. */
void run_cancel(struct async_run *run);
/* On close: cut it; nothing is written. */
void run_cut(struct async_run *run);

/* ---- url.c: one POST to a URL ---- */

struct url_post;
/* status > 0: answered. Once. */
typedef void (*url_post_cb)(void *arg, int r, int status, const char *reason,
                            const struct err *err);
int url_post_start(struct async *a, struct str url, const struct headers *headers, struct str body,
                   url_post_cb cb, void *arg, struct url_post **ret, struct err *err);
/* No callback follows. */
void url_post_cancel(struct url_post *p);

/* ---- serve.c, take.c: requests ---- */

bool async_take(void *arg, struct http_exchange *x, const struct http_request *req,
                struct str namespace, struct str name, const struct fn_spec *spec);
bool async_serve(void *arg, struct http_exchange *x, const struct http_request *req);
/* A refusal: {"reason","message"}, and field x-dormouse-reason. retry_s 0: no such field. */
void async_refuse(struct http_exchange *x, int status, const char *reason, const char *message,
                  unsigned retry_s);
