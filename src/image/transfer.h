/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides how a blob is fetched from several sources: which source sends which part, when a source
 * is given up, and which source is excluded when the digest is wrong. Pure: the caller moves the
 * bytes and reports events; time is passed in.
 *
 *     piece:  WAITING --START--> RUNNING --all bytes--> DONE
 *                ^                  |
 *                '-- broken, busy, removed, silent, slow: the same source again, or the next;
 *                    the received part is kept
 *
 *     blob:   RUNNING --every piece--> RECEIVED --right digest--> (over)
 *                ^                        |
 *                '------wrong digest------'   from one source: it is excluded, a registry only
 *                                             after the second time, if no other is left;
 *                                             from several: fetched again from one at a time
 *
 * Sources are positions in the caller's table, pieces positions in the plan.
 */
#pragma once

#include "base/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    IMAGE_TRANSFER_PIECES_MAX = 16,
    IMAGE_TRANSFER_CHOICES_MAX = 5, /* sources of a piece, the first preferred; one may be twice */
    IMAGE_TRANSFER_SOURCES_MAX = IMAGE_TRANSFER_PIECES_MAX * IMAGE_TRANSFER_CHOICES_MAX,

    IMAGE_TRANSFER_TRIES = 2,          /* of a peer, in a row without progress */
    IMAGE_TRANSFER_REGISTRY_TRIES = 5, /* of the registry */
    IMAGE_TRANSFER_BACKOFF_MS = 200,   /* doubled each time, with jitter of a half */
    IMAGE_TRANSFER_BACKOFF_MAX_MS = 5000,
    IMAGE_TRANSFER_FIRST_MS = 3000,     /* a peer's first byte */
    IMAGE_TRANSFER_RESUME_MS = 1000,    /* likewise, if it should continue to push */
    IMAGE_TRANSFER_SILENT_MS = 500,     /* and twice the time of its first byte: any other byte */
    IMAGE_TRANSFER_REGISTRY_MS = 30000, /* either, of the registry */
    IMAGE_TRANSFER_SLOW_MS = 3000,      /* the rate is judged over so long */
    IMAGE_TRANSFER_SLOW_PERCENT = 10,   /* of the expected rate: less is too slow */
    IMAGE_TRANSFER_RATE_MIN = 125, /* bytes per ms, 1 Mbit/s: expected where nothing is known */
    IMAGE_TRANSFER_BUSY_MS = 500,  /* asked again after that when no other source is left */
    IMAGE_TRANSFER_BUSY_TRIES = 60,
    IMAGE_TRANSFER_PUT_OFF_MAX_MS = 30000, /* where the source does not say how long */
    IMAGE_TRANSFER_AFTER_MS = 10000, /* at least; a source that first has to get the layer itself */
    IMAGE_TRANSFER_PROGRESS_BYTES = 64 << 10, /* tries count from 0 again after that */
};

struct image_transfer_piece {
    uint64_t from, to; /* bytes of the blob; the pieces are in order and cover it */
    uint32_t choices[IMAGE_TRANSFER_CHOICES_MAX];
    uint32_t n_choices;
    uint64_t expect_ms; /* from the first choice; 0: unknown */
    bool is_after;      /* the first choice has to get the layer itself first */
    /* The first choice sends by itself, and is also the second, which is asked. The second is for
     * when nothing comes: after what does come and then fails it is passed over, too. */
    bool is_pushed;
};

enum image_transfer_end {
    IMAGE_TRANSFER_COMPLETE, /* all requested bytes were received */
    IMAGE_TRANSFER_BROKEN,   /* the connection, or there was none */
    IMAGE_TRANSFER_GONE,     /* the source does not have it, or refuses it */
    IMAGE_TRANSFER_BUSY,     /* all its upload slots are taken */
};

enum image_transfer_kind { IMAGE_TRANSFER_START, IMAGE_TRANSFER_CANCEL };
struct image_transfer_order {
    enum image_transfer_kind kind;
    uint32_t piece, source;
    uint64_t from, to; /* of a start */
    bool is_pushed;    /* likewise: it is waited for */
};

enum image_transfer_state {
    IMAGE_TRANSFER_RUNNING,
    IMAGE_TRANSFER_RECEIVED, /* every byte is there: image_transfer_verdict() is next */
    IMAGE_TRANSFER_FAILED,   /* no source is left */
    IMAGE_TRANSFER_OVER,
};

struct image_transfer_part {
    struct image_transfer_piece plan;
    bool is_running, is_done, was_busy;
    bool has_pushed;               /* the first choice has pushed bytes without request */
    uint32_t choice;               /* of the plan */
    uint32_t source;               /* that runs */
    unsigned tries, n_busy;        /* of this choice */
    uint64_t at;                   /* the next byte */
    uint64_t at_start;             /* of this attempt */
    uint64_t wait_until_ms;        /* unless it runs */
    uint64_t since_ms;             /* of this attempt */
    uint64_t first_byte_ms;        /* after that; 0: none was received */
    uint64_t last_byte_ms;         /* the time of it */
    uint64_t window_ms, window_at; /* the rate is measured from there */
};

struct image_transfer {
    enum image_transfer_state state;
    struct image_transfer_part parts[IMAGE_TRANSFER_PIECES_MAX];
    size_t n;
    uint64_t size;
    uint64_t began_ms;
    uint64_t sent[IMAGE_TRANSFER_SOURCES_MAX]; /* bytes of this round, by source */
    bool is_registry[IMAGE_TRANSFER_SOURCES_MAX];
    bool is_out[IMAGE_TRANSFER_SOURCES_MAX];            /* sent wrong bytes, */
    unsigned n_wrong[IMAGE_TRANSFER_SOURCES_MAX];       /* so often */
    uint64_t not_before_ms[IMAGE_TRANSFER_SOURCES_MAX]; /* the source may not be asked earlier */
    size_t n_sources;
    uint32_t all[IMAGE_TRANSFER_SOURCES_MAX]; /* for rounds of one source at a time */
    size_t n_all, next_all;
    bool is_single, has_old; /* has_old: the bytes at the front are of an earlier attempt, from an
                                unknown source */
    struct rng rng;
};

/*
 * offset: bytes at the front that are there already. is_registry: for each source. Nothing is kept.
 * false: the pieces do not cover the blob, or a choice is none of the sources.
 */
bool image_transfer_init(struct image_transfer *t, const struct image_transfer_piece *pieces,
                         size_t n, const bool *is_registry, size_t n_sources, uint64_t size,
                         uint64_t offset, uint64_t seed, uint64_t now_ms);
/* The next action; false: there is none. The caller calls it until then, after every event and at
 * the time of image_transfer_due(). */
bool image_transfer_next(struct image_transfer *t, uint64_t now_ms,
                         struct image_transfer_order *ret);
/* A piece that was to start is asked for only now: silence counts from here. */
void image_transfer_asked(struct image_transfer *t, uint32_t piece, uint64_t now_ms);
/* When to ask again although nothing happened; UINT64_MAX: never. */
uint64_t image_transfer_due(const struct image_transfer *t, uint64_t now_ms);
/* n bytes were received for a piece that runs. */
void image_transfer_data(struct image_transfer *t, uint32_t piece, uint64_t n, uint64_t now_ms);
/* A piece that runs has ended. Not for those that were cancelled. */
void image_transfer_ended(struct image_transfer *t, uint32_t piece, enum image_transfer_end how,
                          uint64_t now_ms);
/* Likewise, and the source may only be asked again after this time, for any piece; 0: it does not
 * say, so the wait increases each time. */
void image_transfer_put_off(struct image_transfer *t, uint32_t piece, uint64_t after_ms,
                            uint64_t now_ms);
/* The bytes so far are known to be wrong: treat all as received. No piece may run any more. */
void image_transfer_mark_received(struct image_transfer *t);
/*
 * Whether the digest of the received bytes is right. false: the blob is fetched again from byte 0,
 * or the transfer has failed. *ret_bad_source: the only source that sent it; UINT32_MAX: there were
 * several.
 */
void image_transfer_verdict(struct image_transfer *t, bool is_right, uint64_t now_ms,
                            uint32_t *ret_bad_source);
