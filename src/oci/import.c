/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Importing a layer:
 *
 *     bytes -> [partial file] -> [hash of the blob] -> reading: inflate, tar
 *           -> [DiffID, digests of files] -> data.tar -> [objects and a skeleton, at the commit]
 *                                         -> tee
 *
 * The reading is a confined process where the caller has one: what follows it runs on another
 * thread then. Nothing has its final name before oci_import_commit().
 */
#include "oci/store_int.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/sm.h"
#include "oci/layer_gather.h"
#include "oci/layer_index.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    RATIO_MAX = 100,
    RAW_FREE_BYTES = 16 << 20,
    BLOB_NOTE_SIZE = OCI_DIGEST_TEXT_SIZE + 24,
    WRITE_BEHIND_BYTES = 8 << 20, /* of the tar: so much is on its way to the disk at a time */
    WAIT_AGAIN_MAX = 3,           /* for another import that is about to end */
    STOP_POLL_MS = 100,           /* while it waits for one */
};
#define INDEX_MAX ((size_t)OCI_LAYER_MEMORY_MAX) /* it is smaller than the layer in memory */

enum import_state {
    IMPORT_ADDING,
    IMPORT_COMMITTING,
    IMPORT_VISIBLE,
    IMPORT_EXISTED, /* a concurrent import was faster */
    IMPORT_FAILED,
};

static const struct sm_state import_table[] = {
    [IMPORT_ADDING] = { "adding", EDGE(IMPORT_COMMITTING) | EDGE(IMPORT_FAILED) },
    [IMPORT_COMMITTING] = { "committing",
                            EDGE(IMPORT_VISIBLE) | EDGE(IMPORT_EXISTED) | EDGE(IMPORT_FAILED) },
    [IMPORT_VISIBLE] = { "visible", 0 },
    [IMPORT_EXISTED] = { "existed", 0 },
    [IMPORT_FAILED] = { "failed", 0 },
};

/* How an import holds its layer and blob. */
enum import_hold {
    IMPORT_HOLD_NONE,
    IMPORT_HOLD_ALONE,  /* other imports of them wait for this one */
    IMPORT_HOLD_BESIDE, /* concurrent with an import that did not end: no thread waits for it */
};

struct oci_import {
    struct oci_store *s;
    struct sm sm; /* enum import_state */
    enum import_hold hold;
    struct oci_import_opts opts;
    bool keeps_tar, keeps_blob;
    bool is_sharing; /* its files are objects; store_objects_kept() must follow */
    char *dir;       /* in tmp; becomes the layer's directory. NULL: not made */
    char *blob_name; /* of the partial blob; NULL: none is written */
    int tar_fd, blob_fd;
    struct sha256 *hash;
    const struct layer_reading_ops *how;
    void *reading;
    struct layer_gather *gather; /* with what follows, used by the reading until it is freed */
    uint64_t n_raw;
    uint64_t n_blob, offset;
    uint64_t began_ms;
    _Atomic uint64_t n_came, n_todo; /* bytes of the blob since it began; read by waiting threads */
    pthread_mutex_t mutex;           /* of the next two: both threads write */
    uint64_t reserved, written;      /* of the quota */
};

static const char *short_name(const struct oci_import *im, char room[OCI_DIGEST_TEXT_SIZE])
{
    oci_digest_format(&im->opts.diff_id, room);
    room[sizeof "sha256:" - 1 + 12] = 0;
    return room;
}

/* ---- one import of a layer or blob at a time ---- */

/* Whether the store has what the import would add. */
static bool is_here(const struct oci_import *im)
{
    struct oci_digest blob;
    uint64_t size;
    return im->opts.is_for_blob
               ? oci_store_layer_blob(im->s, &im->opts.diff_id, &blob, &size, NULL) >= 0
               : oci_store_layer_has(im->s, &im->opts.diff_id);
}

/* Whether another import ends within `ms` at its current rate. */
static bool ends_within(const struct oci_import *other, uint64_t ms)
{
    uint64_t n = other->n_came, all = other->n_todo, passed = clock_mono_ms() - other->began_ms;
    if (n == 0 || all == 0)
        return false;
    return n >= all || (double)(all - n) / (double)n * (double)passed <= (double)ms;
}

/* Until then, UINT64_MAX: for ever; for a moment where it may be stopped. -ETIMEDOUT: it is then.
 */
static int wait_for_an_end(const struct oci_import *im, uint64_t until_ms)
{
    struct oci_store *s = im->s;
    uint64_t wake_ms = im->opts.stop ? MIN(until_ms, clock_mono_ms() + STOP_POLL_MS) : until_ms;
    if (wake_ms == UINT64_MAX)
        return -pthread_cond_wait(&s->imported, &s->mutex);
    uint64_t ms = wake_ms - MIN(wake_ms, clock_skipped_ms()); /* the kernel's clock */
    const struct timespec wake = { (time_t)(ms / 1000), (long)(ms % 1000 * 1000000) };
    int r = -pthread_cond_clockwait(&s->imported, &s->mutex, CLOCK_MONOTONIC, &wake);
    return r == -ETIMEDOUT && wake_ms < until_ms ? 0 : r;
}

static bool must_stop(const struct oci_import *im)
{
    return im->opts.stop && atomic_load(im->opts.stop);
}

/*
 * Wait while another thread imports it, until im->opts.until_ms, longer if it is about to end. With
 * the mutex held, released temporarily. Errors: -EEXIST, the layer exists now; -ETIMEDOUT;
 * -ECANCELED.
 */
static int wait_for_import(struct oci_import *im, struct store_hold *h)
{
    struct oci_store *s = im->s;
    int r = 0, n_again = 0;
    uint64_t until_ms = im->opts.until_ms, now = clock_mono_ms();
    const uint64_t wait_ms = until_ms - MIN(until_ms, now);
    while (h->is_importing && r == 0) {
        uint64_t n_ended = s->n_imports_ended;
        (void)pthread_mutex_unlock(&s->mutex); /* it reads files; the hold keeps `h` */
        bool has_come = is_here(im);
        (void)pthread_mutex_lock(&s->mutex);
        if (has_come || must_stop(im))
            return has_come ? -EEXIST : -ECANCELED;
        if (n_ended != s->n_imports_ended) /* the wake-up was missed: check again */
            continue;
        r = wait_for_an_end(im, until_ms ? until_ms : UINT64_MAX);
        if (r == -ETIMEDOUT && im->opts.may_be_beside && h->import && n_again++ < WAIT_AGAIN_MAX &&
            ends_within(h->import, wait_ms)) {
            until_ms = clock_mono_ms() + wait_ms;
            r = 0;
        }
    }
    return r;
}

static int hold_import(struct oci_import *im, const struct oci_digest *d)
{
    struct oci_store *s = im->s;
    oci_store_hold(s, d);
    (void)pthread_mutex_lock(&s->mutex);
    struct store_hold *h = map_get(&s->holds, store_key(d));
    assert(h && h->n > 0); /* by the hold above */
    int r = wait_for_import(im, h);
    if (r == 0) {
        assert(!h->is_importing && !h->import);
        h->is_importing = true;
        h->import = im;
    }
    (void)pthread_mutex_unlock(&s->mutex);
    if (r < 0)
        oci_store_release(s, d);
    return r;
}

/* Waiting imports then check whether the layer exists. */
static void release_import(struct oci_store *s, const struct oci_digest *d, enum import_hold hold)
{
    bool is_beside = hold == IMPORT_HOLD_BESIDE; /* another import holds it alone */
    (void)pthread_mutex_lock(&s->mutex);
    struct store_hold *h = map_get(&s->holds, store_key(d));
    assert(h && h->n > 0 && (is_beside || h->is_importing));
    h->is_importing &= is_beside;
    h->import = h->is_importing ? h->import : NULL;
    s->n_imports_ended++;
    (void)pthread_cond_broadcast(&s->imported);
    (void)pthread_mutex_unlock(&s->mutex);
    oci_store_release(s, d);
}

/*
 * The DiffID, and the blob where it has a name: an image may name one blob for two layers, and two
 * imports must not write one partial file. The smaller digest first, so that two imports never wait
 * for each other. Returns how many there are.
 */
static size_t list_held(const struct oci_import *im, const struct oci_digest *ret[2])
{
    const struct oci_digest *layer = &im->opts.diff_id, *blob = &im->opts.blob;
    int order = im->opts.has_no_blob ? 0 : memcmp(blob->bytes, layer->bytes, sizeof blob->bytes);
    ret[0] = order < 0 ? blob : layer;
    ret[1] = order < 0 ? layer : blob;
    return order == 0 ? 1 : 2;
}

static int hold(struct oci_import *im, struct err *err)
{
    const struct oci_digest *held[2];
    size_t n = list_held(im, held);
    int r = hold_import(im, held[0]);
    if (r >= 0 && n > 1 && (r = hold_import(im, held[1])) < 0)
        release_import(im->s, held[0], IMPORT_HOLD_ALONE);
    if (r >= 0)
        im->hold = IMPORT_HOLD_ALONE;
    else if (r == -ETIMEDOUT && im->opts.may_be_beside)
        im->hold = IMPORT_HOLD_BESIDE;
    for (size_t i = 0; i < n && im->hold == IMPORT_HOLD_BESIDE; i++)
        oci_store_hold(im->s, held[i]);
    if (im->hold != IMPORT_HOLD_NONE)
        return 0;
    return r == -EEXIST      ? err_set(err, r, "the store has the layer")
           : r == -ETIMEDOUT ? err_set(err, r, "another import of the layer has not ended")
           : r == -ECANCELED ? err_set(err, r, "the import was canceled")
                             : err_sys(err, r, "wait for another import of the layer");
}

static void release(struct oci_import *im)
{
    const struct oci_digest *held[2];
    size_t n = list_held(im, held);
    for (size_t i = 0; i < n && im->hold != IMPORT_HOLD_NONE; i++)
        release_import(im->s, held[i], im->hold);
    im->hold = IMPORT_HOLD_NONE;
}

/* ---- the stream ---- */

/* Count bytes that are about to be written, within the quota. */
static int account(struct oci_import *im, size_t n, struct err *err)
{
    int r = 0;
    (void)pthread_mutex_lock(&im->mutex);
    im->written += n;
    while (r >= 0 && im->written > im->reserved) {
        r = store_reserve(im->s, STORE_RESERVE_BYTES, err);
        im->reserved += r < 0 ? 0 : STORE_RESERVE_BYTES;
    }
    (void)pthread_mutex_unlock(&im->mutex);
    return r;
}

/* Write at the end, which is at `at`; after a full file system retry once after an eviction. */
static int write_at(struct oci_import *im, int fd, struct str bytes, uint64_t at, struct err *err)
{
    int r = account(im, bytes.n, err);
    if (r < 0)
        return r;
    r = sys_pwrite_all(fd, bytes.p, bytes.n, at);
    if (r == -ENOSPC && store_make_room(im->s, STORE_RESERVE_BYTES, NULL) >= 0)
        r = sys_pwrite_all(fd, bytes.p, bytes.n, at);
    return r < 0 ? err_sys(err, r, "write to the store") : 0;
}

uint64_t oci_import_max_tar_bytes(uint64_t max_bytes, uint64_t blob_size)
{
    if (max_bytes)
        return max_bytes;
    if (blob_size > UINT64_MAX / RATIO_MAX)
        return UINT64_MAX;
    return MAX(blob_size * RATIO_MAX, (uint64_t)RAW_FREE_BYTES);
}

static uint64_t max_tar_bytes(const struct oci_import *im)
{
    return oci_import_max_tar_bytes(im->opts.max_tar_bytes, im->opts.blob_size);
}

/* The disk works while the rest is read: the sync at the end has little left to wait for. */
static void write_behind(const struct oci_import *im, uint64_t from, uint64_t to)
{
    from -= from % WRITE_BEHIND_BYTES;
    to -= to % WRITE_BEHIND_BYTES;
    if (to > from)
        (void)sync_file_range(im->tar_fd, (off_t)from, (off_t)(to - from), SYNC_FILE_RANGE_WRITE);
}

static int on_raw(void *arg, struct str bytes, struct err *err)
{
    struct oci_import *im = arg;
    if (bytes.n > max_tar_bytes(im) - im->n_raw)
        return im->opts.max_tar_bytes
                   ? err_set(err, E_LIMIT, "the layer has more than %llu bytes",
                             (unsigned long long)im->opts.max_tar_bytes)
                   : err_set(err, E_LIMIT, "the layer is more than %d times as large as its blob",
                             RATIO_MAX);
    int r = layer_gather_ops.raw(im->gather, bytes, err);
    if (r >= 0 && im->keeps_tar)
        r = write_at(im, im->tar_fd, bytes, im->n_raw, err);
    if (r >= 0 && im->keeps_tar && im->s->opts.form != OCI_STORE_CAS)
        write_behind(im, im->n_raw, im->n_raw + bytes.n);
    if (r >= 0 && im->opts.tee)
        r = im->opts.tee(im->opts.tee_arg, bytes, err);
    im->n_raw += bytes.n;
    return r;
}

static int on_entry(void *arg, const struct oci_entry *e, struct err *err)
{
    return layer_gather_ops.entry(((struct oci_import *)arg)->gather, e, err);
}

static int on_data(void *arg, struct str bytes, struct err *err)
{
    return layer_gather_ops.data(((struct oci_import *)arg)->gather, bytes, err);
}

static int on_hole(void *arg, uint64_t n_bytes, struct err *err)
{
    return layer_gather_ops.hole(((struct oci_import *)arg)->gather, n_bytes, err);
}

static int on_whiteout(void *arg, const struct oci_whiteout *w, struct err *err)
{
    return layer_gather_ops.whiteout(((struct oci_import *)arg)->gather, w, err);
}

static const struct layer_ops layer_ops = {
    .entry = on_entry,
    .data = on_data,
    .hole = on_hole,
    .whiteout = on_whiteout,
    .raw = on_raw,
};

/* Hash and read; the bytes are in the partial file, if there is one. */
static int pass(struct oci_import *im, struct str bytes, struct err *err)
{
    sha256_add(im->hash, bytes.p, bytes.n);
    im->n_blob += bytes.n;
    im->n_came += bytes.n;
    return im->how->add(im->reading, bytes, err);
}

static void drop_partial(struct oci_import *im)
{
    if (im->blob_name)
        (void)sys_unlinkat(im->s->fd, im->blob_name, 0);
}

int oci_import_add(struct oci_import *im, struct str bytes, struct err *err)
{
    char name[OCI_DIGEST_TEXT_SIZE];
    assert(im->sm.at == IMPORT_ADDING && im->hold != IMPORT_HOLD_NONE);
    assert(im->n_blob <= im->opts.blob_size);
    int r = 0;
    if (bytes.n > im->opts.blob_size - im->n_blob)
        r = err_set(err, E_LIMIT, "the blob is larger than %llu bytes",
                    (unsigned long long)im->opts.blob_size);
    if (r >= 0 && im->blob_name)
        r = write_at(im, im->blob_fd, bytes, im->n_blob, err);
    bool is_content = r < 0 ? r == E_LIMIT : true;
    r = r < 0 ? r : pass(im, bytes, err);
    if (r >= 0)
        return 0;
    if (is_content && r != -ENOSPC)
        drop_partial(im);
    sm_move(&im->sm, IMPORT_FAILED);
    return err_ctx(err, r, "layer %s", short_name(im, name));
}

/* ---- beginning ---- */

static int read_partial(void *arg, struct str bytes, struct err *err)
{
    struct oci_import *im = arg;
    if (bytes.n > im->opts.blob_size - im->n_blob)
        return err_set(err, E_LIMIT, "more than the blob has");
    int r = account(im, bytes.n, err);
    return r < 0 ? r : pass(im, bytes, err);
}

static int open_blob(struct oci_import *im, struct err *err)
{
    struct oci_store *s = im->s;
    char hex[STORE_HEX_SIZE];
    hex_format(im->opts.blob.bytes, SHA256_BYTES, hex);
    im->blob_name = im->hold == IMPORT_HOLD_BESIDE ? store_tmp_name(s)
                                                   : xasprintf("tmp/%s/%s.part", s->boot, hex);
    if (!im->opts.is_resumable)
        (void)unlinkat(s->fd, im->blob_name, 0);
    im->blob_fd = sys_openat(s->fd, im->blob_name, O_RDWR | O_CREAT | O_NOFOLLOW, STORE_FILE_MODE);
    if (im->blob_fd < 0)
        return err_sys(err, im->blob_fd, "create '%s'", im->blob_name);
    int r = store_read_fd(im->blob_fd, read_partial, im, err);
    if (r < 0) {
        drop_partial(im);
        return err_ctx(err, r, "what an earlier attempt left was removed; try again");
    }
    im->offset = im->n_blob;
    im->n_came = 0;
    return 0;
}

static int open_tar(struct oci_import *im, struct err *err)
{
    struct oci_store *s = im->s;
    im->dir = store_tmp_name(s);
    int r = sys_mkdirat(s->fd, im->dir, 0700);
    if (r < 0)
        return err_sys(err, r, "make '%s'", im->dir);
    if (!im->keeps_tar)
        return 0;
    scoped(free_scoped) char *tar = xasprintf("%s/data.tar", im->dir);
    im->tar_fd = sys_openat(s->fd, tar, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, STORE_FILE_MODE);
    return im->tar_fd < 0 ? err_sys(err, im->tar_fd, "create '%s'", tar) : 0;
}

/* Its own bound is a piece wider, so that the message of the one here is what users read. */
static int start_reading(struct oci_import *im, struct err *err)
{
    uint64_t max = max_tar_bytes(im);
    max += MIN(UINT64_MAX - max, (uint64_t)LAYER_GATHER_PIECE);
    return im->how->start(im->opts.reading_arg, max, &layer_ops, im, &im->reading, err);
}

static int start(struct oci_import *im, struct err *err)
{
    struct oci_store *s = im->s;
    int r = hold(im, err);
    if (r < 0)
        return r;
    if (im->hold == IMPORT_HOLD_BESIDE)
        im->opts.is_resumable = false;
    if (is_here(im))
        return err_set(err, -EEXIST, "the store has the layer");
    if (im->opts.is_for_blob && !oci_store_layer_has(s, &im->opts.diff_id))
        return err_set(err, -ENOENT, "the store does not have the layer");
    im->hash = sha256_new();
    if (s->opts.cache && !im->opts.is_for_blob)
        s->opts.cache->expect(s->opts.cache_arg, &im->opts.diff_id);
    im->gather = layer_gather_new();
    r = open_tar(im, err);
    r = r < 0 ? r : start_reading(im, err);
    if (r < 0)
        return r;
    r = im->keeps_blob || im->opts.is_resumable ? open_blob(im, err) : 0;
    im->n_todo = im->opts.blob_size - im->offset;
    return r;
}

int oci_import_new(struct oci_store *s, const struct oci_import_opts *opts, struct oci_import **ret,
                   struct err *err)
{
    int r = store_must_write(s, err);
    if (r < 0)
        return r;
    scoped(oci_import_free_scoped) struct oci_import *im = xnew(struct oci_import);
    im->s = s;
    sm_init(&im->sm, import_table, IMPORT_ADDING);
    im->opts = *opts;
    im->began_ms = clock_mono_ms();
    im->how = opts->reading ? opts->reading : &layer_parse_here;
    im->tar_fd = im->blob_fd = -1;
    (void)pthread_mutex_init(&im->mutex, NULL);
    im->keeps_blob =
        opts->is_for_blob ||
        ((s->opts.form == OCI_STORE_GZ || s->opts.form == OCI_STORE_BOTH) && !opts->has_no_blob);
    im->keeps_tar = !opts->is_for_blob && (s->opts.form != OCI_STORE_GZ || opts->has_no_blob);
    im->opts.is_resumable = opts->is_resumable && !opts->has_no_blob;
    r = start(im, err);
    if (r < 0)
        return r;
    *ret = take_ptr(&im);
    return 0;
}

uint64_t oci_import_offset(const struct oci_import *im)
{
    return im->offset;
}

void oci_import_free(struct oci_import *im)
{
    if (!im)
        return;
    im->how->free(im->reading); /* it uses all the rest */
    fd_scoped(&im->tar_fd);
    fd_scoped(&im->blob_fd);
    if (im->blob_name && !im->opts.is_resumable)
        (void)unlinkat(im->s->fd, im->blob_name, 0);
    if (im->dir) {
        scoped(free_scoped) char *tar = xasprintf("%s/data.tar", im->dir);
        scoped(free_scoped) char *note = xasprintf("%s/blob", im->dir);
        scoped(free_scoped) char *skeleton = xasprintf("%s/skeleton", im->dir);
        (void)unlinkat(im->s->fd, tar, 0);
        (void)unlinkat(im->s->fd, note, 0);
        (void)unlinkat(im->s->fd, skeleton, 0);
        (void)unlinkat(im->s->fd, im->dir, AT_REMOVEDIR);
    }
    store_unreserve(im->s, im->reserved);
    release(im);
    layer_gather_free(im->gather);
    sha256_free(im->hash);
    (void)pthread_mutex_destroy(&im->mutex);
    free(im->dir);
    free(im->blob_name);
    free(im);
}

/* ---- the end ---- */

static int verify(struct oci_import *im, struct oci_layer **ret, struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    if (!im->opts.has_no_blob) {
        if (im->n_blob != im->opts.blob_size)
            return err_set(err, E_DIGEST, "the blob has %llu bytes, its descriptor says %llu",
                           (unsigned long long)im->n_blob, (unsigned long long)im->opts.blob_size);
        sha256_end(im->hash, digest);
        if (memcmp(digest, im->opts.blob.bytes, sizeof digest) != 0)
            return err_set(err, E_DIGEST, "the content of the blob is not what its digest says");
    }
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    struct layer_facts facts;
    int r = im->how->end(im->reading, &facts, err);
    r = r < 0 ? r : layer_gather_end(im->gather, &facts, &layer, err);
    if (r < 0)
        return r;
    if (memcmp(layer->diff_id, im->opts.diff_id.bytes, SHA256_BYTES) != 0)
        return err_set(err, E_DIGEST, "the layer is not what its DiffID says");
    *ret = take_ptr(&layer);
    return 0;
}

/* ---- publishing ---- */

/* What becomes visible beside the tar; -1: not. */
struct unpublished {
    char *index_name; /* in tmp */
    int index_fd, note_fd;
};

static int write_new(struct oci_import *im, const char *name, struct str content, int *ret,
                     struct err *err)
{
    scoped(fd_scoped) int fd =
        sys_openat(im->s->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, STORE_FILE_MODE);
    int r = fd < 0 ? fd : sys_write_all(fd, content.p, content.n);
    if (r < 0)
        return err_sys(err, r, "write '%s'", name);
    *ret = take_fd(&fd);
    return 0;
}

/* Whether to sync before the layer becomes visible. A blob is added to a layer that is durable
 * already. */
static bool is_synced(const struct oci_import *im)
{
    return im->opts.is_for_blob || store_must_sync(im->s, &im->opts.diff_id);
}

/* The files of the layer become objects, and the tar is not needed any more. */
static int share(struct oci_import *im, const struct oci_layer *layer, struct err *err)
{
    scoped(free_scoped) char *tar = xasprintf("%s/data.tar", im->dir);
    scoped(free_scoped) char *skeleton = xasprintf("%s/skeleton", im->dir);
    if (im->s->opts.form != OCI_STORE_CAS || !store_objects_can_keep(layer))
        return 0;
    int r = store_objects_keep(im->s, skeleton, layer, im->tar_fd, is_synced(im), err);
    if (r < 0)
        return r;
    im->is_sharing = true;
    im->keeps_tar = false;
    r = sys_unlinkat(im->s->fd, tar, 0);
    return r < 0 ? err_sys(err, r, "remove '%s'", tar) : 0;
}

static int write_note(struct oci_import *im, struct unpublished *u, struct err *err)
{
    char text[OCI_DIGEST_TEXT_SIZE], note[BLOB_NOTE_SIZE];
    scoped(free_scoped) char *name = xasprintf("%s/blob", im->dir);
    oci_digest_format(&im->opts.blob, text);
    (void)snprintf(note, sizeof note, "%s %llu\n", text, (unsigned long long)im->opts.blob_size);
    return write_new(im, name, str_of(note), &u->note_fd, err);
}

static int write_files(struct oci_import *im, const struct oci_layer *layer, struct unpublished *u,
                       struct err *err)
{
    scoped(buf_fini_scoped) struct buf index = BUF_INIT(INDEX_MAX);
    int r = oci_layer_index_write(layer, &index, err);
    r = r < 0 ? r : write_new(im, u->index_name, buf_str(&index), &u->index_fd, err);
    return r < 0 || !im->keeps_blob ? r : write_note(im, u, err);
}

/*
 * Each file has to be on the disk before it has its name. All of them begin to be written before
 * the first one is waited for: one commit of the file system's journal then has them all.
 */
static int sync_files(struct oci_import *im, const struct unpublished *u, struct err *err)
{
    const int fds[] = { im->keeps_tar ? im->tar_fd : -1, u->index_fd, u->note_fd,
                        im->keeps_blob ? im->blob_fd : -1 };
    int r = 0;
    if (!is_synced(im))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            (void)sync_file_range(fds[i], 0, 0, SYNC_FILE_RANGE_WRITE);
    for (size_t i = 0; i < ARRAY_LEN(fds) && r >= 0; i++)
        r = fds[i] >= 0 ? sys_fsync(fds[i]) : 0;
    return r < 0 ? err_sys(err, r, "sync '%s'", im->dir) : store_sync_dir(im->s, im->dir, err);
}

static int put_index(struct oci_import *im, struct unpublished *u, struct err *err)
{
    struct oci_store *s = im->s;
    struct store_path path = store_path_of("meta/index", &im->opts.diff_id, NULL);
    int r = sys_renameat(s->fd, u->index_name, s->fd, path.p);
    if (r < 0)
        return err_sys(err, r, "write '%s'", path.p);
    free(take_ptr(&u->index_name));
    return is_synced(im) ? store_sync_dir(s, "meta/index", err) : 0;
}

static int put_blob(struct oci_import *im, struct err *err)
{
    struct oci_store *s = im->s;
    struct store_path path = store_path_of("blobs", &im->opts.blob, NULL);
    int r = sys_renameat(s->fd, im->blob_name, s->fd, path.p);
    if (r < 0)
        return err_sys(err, r, "write '%s'", path.p);
    return is_synced(im) ? store_sync_dir(s, "blobs", err) : 0;
}

/* What refers to the layer syncs its name (store_sync_layers()), unless the store is not durable.
 */
static int put_layer(struct oci_import *im, struct err *err)
{
    struct oci_store *s = im->s;
    struct store_path path = store_path_of("layers", &im->opts.diff_id, NULL);
    int r = sys_renameat(s->fd, im->dir, s->fd, path.p);
    if (r == -ENOTEMPTY || r == -EEXIST) {
        sm_move(&im->sm, IMPORT_EXISTED);
        return 0;
    }
    if (r < 0)
        return err_sys(err, r, "write '%s'", path.p);
    free(take_ptr(&im->dir));
    return s->opts.is_not_durable && is_synced(im) ? store_sync_layers(s, err) : 0;
}

static int publish(struct oci_import *im, const struct oci_layer *layer, struct err *err)
{
    struct unpublished u = { .index_name = store_tmp_name(im->s), .index_fd = -1, .note_fd = -1 };
    int r = write_files(im, layer, &u, err);
    r = r < 0 ? r : share(im, layer, err);
    r = r < 0 ? r : sync_files(im, &u, err);
    r = r < 0 ? r : put_index(im, &u, err);
    r = r < 0 || !im->keeps_blob ? r : put_blob(im, err);
    r = r < 0 ? r : put_layer(im, err);
    if (u.index_name)
        (void)unlinkat(im->s->fd, u.index_name, 0);
    free(u.index_name);
    fd_scoped(&u.index_fd);
    fd_scoped(&u.note_fd);
    return r;
}

/* Beside what the store has of the layer. */
static int publish_blob(struct oci_import *im, struct err *err)
{
    struct oci_store *s = im->s;
    struct unpublished u = { .index_fd = -1, .note_fd = -1 };
    scoped(free_scoped) char *note = xasprintf("%s/blob", im->dir);
    struct store_path dir = store_path_of("layers", &im->opts.diff_id, NULL);
    struct store_path to = store_path_of("layers", &im->opts.diff_id, "blob");
    if (is_here(im)) {
        sm_move(&im->sm, IMPORT_EXISTED);
        return 0;
    }
    int r = write_note(im, &u, err);
    r = r < 0 ? r : sync_files(im, &u, err);
    r = r < 0 ? r : put_blob(im, err);
    fd_scoped(&u.note_fd);
    if (r < 0)
        return r;
    r = sys_renameat(s->fd, note, s->fd, to.p);
    if (r < 0)
        return err_sys(err, r, "write '%s'", to.p);
    (void)utimensat(s->fd, "layers", NULL, 0); /* readers look for blobs again (store_blobs.c) */
    return store_sync_dir(s, dir.p, err);
}

/* The size on disk of what was imported, and of the whole layer now. */
static void count_sizes(const struct oci_import *im, uint64_t *ret_new, uint64_t *ret_all)
{
    uint64_t shared = 0;
    struct store_layer_files f = { 0 };
    if (im->is_sharing)
        (void)store_skeleton_stat(im->s, &im->opts.diff_id, &shared, NULL);
    *ret_new = *ret_all =
        shared + (im->keeps_tar ? im->n_raw : 0) + (im->keeps_blob ? im->opts.blob_size : 0);
    if (im->opts.is_for_blob && store_layer_stat(im->s, &im->opts.diff_id, &f, NULL) >= 0)
        *ret_all = store_layer_bytes(&f);
}

int oci_import_commit(struct oci_import *im, struct err *err)
{
    char name[OCI_DIGEST_TEXT_SIZE];
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    sm_move(&im->sm, IMPORT_COMMITTING);
    int r = verify(im, &layer, err);
    if (r < 0) {
        sm_move(&im->sm, IMPORT_FAILED);
        drop_partial(im);
        return err_ctx(err, r, "layer %s", short_name(im, name));
    }
    r = im->opts.is_for_blob ? publish_blob(im, err) : publish(im, layer, err);
    if (im->is_sharing)
        store_objects_kept(im->s);
    if (r < 0) {
        sm_move(&im->sm, IMPORT_FAILED);
        return err_ctx(err, r, "layer %s", short_name(im, name));
    }
    if (!im->keeps_blob)
        drop_partial(im);
    if (im->sm.at == IMPORT_EXISTED)
        return 0;
    sm_move(&im->sm, IMPORT_VISIBLE);
    uint64_t n_bytes, n_all;
    count_sizes(im, &n_bytes, &n_all);
    (void)pthread_mutex_lock(&im->s->mutex);
    im->s->n_references++; /* of the blob: a gc that looked at the layers before begins again */
    im->s->used_bytes += n_bytes;
    assert(im->s->reserved_bytes >= im->reserved);
    im->s->reserved_bytes -= im->reserved; /* at once: they must not count twice */
    (void)pthread_mutex_unlock(&im->s->mutex);
    im->reserved = 0;
    if (im->keeps_blob)
        store_blobs_add(im->s, &im->opts.blob, &im->opts.diff_id);
    if (im->s->opts.cache)
        im->s->opts.cache->use(im->s->opts.cache_arg, &im->opts.diff_id, n_all);
    return 0;
}
