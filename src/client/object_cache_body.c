/* SPDX-License-Identifier: Apache-2.0 */
/* Packed bodies; see object_cache_body.h. */
#include "client/object_cache_body.h"

#define ZDICT_STATIC_LINKING_ONLY
#include <zdict.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include <assert.h>
#include <errno.h>
#include <malloc.h>

enum codec_at { CODEC_EMPTY, CODEC_TRAINING, CODEC_READY, CODEC_POOR };

struct cache_body_packer {
    struct loop *loop;
    ZSTD_CCtx *cctx;
    ZSTD_DCtx *dctx;
    struct buf out;
    struct timer idle;
    struct list codecs;
    unsigned trainings;
    void (*closed)(void *arg); /* set while closing */
    void *closed_arg;
    struct defer close_defer;
};

struct cache_body_codec {
    struct cache_body_packer *packer;
    struct list node;
    enum codec_at at;
    struct buf samples;
    size_t sizes[BODY_SAMPLES];
    unsigned n_samples;
    unsigned char *dict; /* owned by the worker thread while at is CODEC_TRAINING, like dict_n */
    size_t dict_n;
    ZSTD_CDict *cdict; /* both refer to dict, and live as long as the packer's contexts */
    ZSTD_DDict *ddict;
    struct job job;
    bool closed;
    void (*on_ready)(void *arg);
    void *arg;
};

/* ---------------------------------------------------------------- contexts */

static void drop_dicts(struct cache_body_codec *c)
{
    ZSTD_freeCDict(take_ptr(&c->cdict));
    ZSTD_freeDDict(take_ptr(&c->ddict));
}

static void drop_contexts(struct cache_body_packer *p)
{
    list_each (node, &p->codecs)
        drop_dicts(list_entry(node, struct cache_body_codec, node));
    ZSTD_freeCCtx(take_ptr(&p->cctx));
    ZSTD_freeDCtx(take_ptr(&p->dctx));
    buf_fini(&p->out);
}

static void on_idle(struct timer *t)
{
    drop_contexts(container_of(t, struct cache_body_packer, idle));
    (void)malloc_trim(0); /* also returns the pages of lists */
}

/* Returns a buffer for a result of n bytes. */
static char *begin(struct cache_body_packer *p, size_t n)
{
    timer_start(p->loop, &p->idle, BODY_IDLE_MS, on_idle);
    buf_reset(&p->out);
    char *room;
    p->out.max = n + 1;
    return buf_reserve(&p->out, n, &room) < 0 ? NULL : room;
}

struct cache_body_packer *cache_body_packer_new(struct loop *loop)
{
    struct cache_body_packer *p = xnew(struct cache_body_packer);
    p->loop = loop;
    list_init(&p->codecs);
    return p;
}

static bool closed_and_idle(const struct cache_body_packer *p)
{
    return p->closed && p->trainings == 0 && list_is_empty(&p->codecs);
}

static void finish_close(struct cache_body_packer *p)
{
    assert(closed_and_idle(p));
    void (*closed)(void *) = p->closed;
    void *arg = p->closed_arg;
    free(p);
    closed(arg);
}

static void on_close(struct defer *d)
{
    finish_close(container_of(d, struct cache_body_packer, close_defer));
}

void cache_body_packer_close(struct cache_body_packer *p, void (*done)(void *arg), void *arg)
{
    assert(list_is_empty(&p->codecs) && !p->closed && done);
    timer_stop(p->loop, &p->idle);
    drop_contexts(p);
    p->closed = done;
    p->closed_arg = arg;
    if (p->trainings == 0)
        defer_start(p->loop, &p->close_defer, on_close);
}

/* ---------------------------------------------------------------- training */

static void free_codec(struct cache_body_codec *c)
{
    assert(!list_is_linked(&c->node));
    drop_dicts(c);
    buf_fini(&c->samples);
    free(c->dict);
    free(c);
}

/*
 * On a worker thread. The parameters are fixed: a search for better ones costs twenty times as much
 * and gained less than 2 %.
 */
static void train(struct job *j)
{
    struct cache_body_codec *c = container_of(j, struct cache_body_codec, job);
    size_t room = MIN((size_t)BODY_DICT_MAX_BYTES, c->samples.n / 4);
    c->dict = xalloc(room);
    ZDICT_fastCover_params_t params = { .k = 256, .d = 8, .f = 16, .accel = 2 };
    params.zParams.compressionLevel = BODY_LEVEL;
    size_t n = ZDICT_trainFromBuffer_fastCover(c->dict, room, c->samples.p, c->sizes, c->n_samples,
                                               params);
    c->dict_n = ZDICT_isError(n) ? 0 : n;
}

static void on_trained(struct job *j, int r)
{
    struct cache_body_codec *c = container_of(j, struct cache_body_codec, job);
    struct cache_body_packer *p = c->packer;
    assert(c->at == CODEC_TRAINING && p->trainings > 0);
    p->trainings--;
    if (c->closed) {
        free_codec(c);
        if (closed_and_idle(p))
            finish_close(p);
        return;
    }
    buf_fini(&c->samples);
    if (r < 0 || c->dict_n == 0) {
        free(take_ptr(&c->dict));
        c->at = CODEC_POOR;
        return;
    }
    c->dict = xrealloc(c->dict, c->dict_n);
    c->at = CODEC_READY;
    c->on_ready(c->arg);
}

static void start_training(struct cache_body_codec *c)
{
    assert(c->at == CODEC_EMPTY && !c->closed && !c->dict && c->n_samples >= 1);
    c->at = CODEC_TRAINING;
    c->job = (struct job){ .work = train, .done = on_trained };
    if (job_start(c->packer->loop, &c->job) < 0)
        c->at = CODEC_POOR;
    else
        c->packer->trainings++;
}

static void take_sample(struct cache_body_codec *c, struct str plain)
{
    if (buf_add_str(&c->samples, plain) < 0) { /* does not fit into the samples */
        c->samples.failed = 0;
        return;
    }
    assert(c->at == CODEC_EMPTY && c->n_samples < BODY_SAMPLES);
    c->sizes[c->n_samples++] = plain.n;
    if (c->n_samples == BODY_SAMPLES || c->samples.n > BODY_SAMPLES_MAX_BYTES / 2)
        start_training(c);
}

void cache_body_codec_settle(struct cache_body_codec *c)
{
    if (c->at == CODEC_EMPTY && c->n_samples >= BODY_SAMPLES_MIN)
        start_training(c);
}

struct cache_body_codec *cache_body_codec_new(struct cache_body_packer *p,
                                              void (*on_ready)(void *arg), void *arg)
{
    struct cache_body_codec *c = xnew(struct cache_body_codec);
    *c = (struct cache_body_codec){ .packer = p, .on_ready = on_ready, .arg = arg };
    buf_init(&c->samples, BODY_SAMPLES_MAX_BYTES);
    list_push_back(&p->codecs, &c->node);
    return c;
}

void cache_body_codec_close(struct cache_body_codec *c)
{
    if (!c)
        return;
    list_remove(&c->node);
    c->closed = true;
    if (c->at == CODEC_TRAINING)
        job_cancel(&c->job);
    else
        free_codec(c);
}

size_t cache_body_codec_bytes(const struct cache_body_codec *c)
{
    size_t dict_n = c->at == CODEC_TRAINING ? 0 : c->dict_n; /* the worker thread writes dict_n */
    return sizeof *c + dict_n + c->samples.cap;
}

/* ---------------------------------------------------------------- packing */

static void set(ZSTD_CCtx *ctx, ZSTD_cParameter what, int value)
{
    size_t r = ZSTD_CCtx_setParameter(ctx, what, value);
    assert(!ZSTD_isError(r));
    (void)r;
}

static void make_cctx(struct cache_body_packer *p)
{
    if (p->cctx)
        return;
    p->cctx = ZSTD_createCCtx();
    if (!p->cctx)
        abort();
    set(p->cctx, ZSTD_c_compressionLevel, BODY_LEVEL);
    set(p->cctx, ZSTD_c_contentSizeFlag, 0); /* the facts hold the size */
    set(p->cctx, ZSTD_c_dictIDFlag, 0);
    set(p->cctx, ZSTD_c_format, ZSTD_f_zstd1_magicless);
}

struct str cache_body_pack(struct cache_body_codec *c, struct str plain,
                           enum cache_body_form *ret_form)
{
    struct cache_body_packer *p = c->packer;
    assert(!c->closed && (plain.p != p->out.p || !plain.p)); /* they share a buffer */
    *ret_form = BODY_PLAIN;
    if (plain.n < BODY_MIN_BYTES)
        return plain;
    if (c->at == CODEC_EMPTY)
        take_sample(c, plain);
    size_t room = ZSTD_compressBound(plain.n);
    char *out = begin(p, room);
    if (!out)
        return plain;
    make_cctx(p);
    bool ready = c->at == CODEC_READY;
    if (ready && !c->cdict)
        c->cdict = ZSTD_createCDict_byReference(c->dict, c->dict_n, BODY_LEVEL);
    (void)ZSTD_CCtx_refCDict(p->cctx, ready ? c->cdict : NULL);
    size_t n = ZSTD_compress2(p->cctx, out, room, plain.p, plain.n);
    if (ZSTD_isError(n) || n >= plain.n)
        return plain;
    *ret_form = ready && c->cdict ? BODY_PACKED_WITH_DICT : BODY_PACKED;
    return str_n(out, n);
}

int cache_body_unpack(struct cache_body_codec *c, struct str packed, enum cache_body_form form,
                      size_t plain_n, struct str *ret, struct err *err)
{
    if (form == BODY_PLAIN) {
        *ret = packed;
        return 0;
    }
    struct cache_body_packer *p = c->packer;
    char *out = begin(p, plain_n);
    if (!out)
        return err_set(err, -ENOMEM, "no memory for an object of %zu bytes", plain_n);
    if (!p->dctx) {
        p->dctx = ZSTD_createDCtx();
        if (!p->dctx)
            abort();
        (void)ZSTD_DCtx_setParameter(p->dctx, ZSTD_d_format, ZSTD_f_zstd1_magicless);
    }
    assert(form != BODY_PACKED_WITH_DICT || c->at == CODEC_READY);
    if (form == BODY_PACKED_WITH_DICT && !c->ddict)
        c->ddict = ZSTD_createDDict_byReference(c->dict, c->dict_n);
    (void)ZSTD_DCtx_refDDict(p->dctx, form == BODY_PACKED_WITH_DICT ? c->ddict : NULL);
    size_t n = ZSTD_decompressDCtx(p->dctx, out, plain_n, packed.p, packed.n);
    if (ZSTD_isError(n) || n != plain_n)
        return err_set(err, E_CORRUPT, "a cached object does not unpack");
    *ret = str_n(out, n);
    return 0;
}
