/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_record.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

struct lazy_record {
    struct lazy_view view;
    struct lazy_guard *guard;
    uint32_t *sources; /* of the guardian, of each layer */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex; /* of what follows */
    struct start_list list;
    bool is_over;
};

/* ---- the recorded files ---- */

static void note(struct lazy_record *r, uint32_t file)
{
    struct oci_digest d;
    memcpy(d.bytes, r->view.files[file].digest, sizeof d.bytes);
    (void)pthread_mutex_lock(&r->mutex);
    if (!r->is_over && r->list.files.n < START_LIST_FILES_MAX)
        vec_push(&r->list.files, d);
    (void)pthread_mutex_unlock(&r->mutex);
}

/* The guardian asks once for each, unless an open was given up meanwhile. */
static void *record_main(void *arg)
{
    struct lazy_record *r = arg;
    scoped(free_scoped) bool *has = xnew_n(bool, r->view.n + 1);
    uint32_t file;
    while (lazy_guard_next(r->guard, &file) > 0) {
        if (file >= r->view.n)
            continue;
        const struct lazy_file *f = &r->view.files[file];
        if (!has[file])
            note(r, file);
        has[file] = true;
        (void)lazy_guard_have(r->guard, file, r->sources[f->layer], f->at, NULL);
    }
    return NULL;
}

/* Signals are for the other threads. */
static int start_thread(struct lazy_record *r, struct err *err)
{
    sigset_t all, old;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &old);
    int code = pthread_create(&r->thread, NULL, record_main, r);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    r->has_thread = code == 0;
    return code ? err_sys(err, -code, "start a thread") : 0;
}

/* ---- the image ---- */

static int make_view(const struct stored *s, struct lazy_view *ret, struct err *err)
{
    const struct oci_config *c = &s->image->config;
    scoped(free_scoped) struct oci_layer **layers = xnew_n(struct oci_layer *, c->n_diff_ids + 1);
    int r = 0;
    for (size_t i = 0; i < c->n_diff_ids && r >= 0; i++)
        r = oci_store_layer_index(s->store, &c->diff_ids[i], &layers[i], err);
    r = r < 0 ? r
              : lazy_view_make(layers, c->n_diff_ids, s->symlink_parent, s->image->digest.bytes,
                               ret, err);
    for (size_t i = 0; i < c->n_diff_ids; i++)
        oci_layer_free(layers[i]);
    return r;
}

static int add_sources(const struct stored *s, struct lazy_record *rec, struct err *err)
{
    const struct oci_config *c = &s->image->config;
    rec->sources = xnew_n(uint32_t, c->n_diff_ids + 1);
    for (size_t i = 0; i < c->n_diff_ids; i++) {
        scoped(fd_scoped) int fd = oci_store_layer_fd(s->store, &c->diff_ids[i], err);
        if (fd == -ENODATA)
            return err_set(err, E_UNSUPPORTED,
                           "layer %zu is not kept as a tar, which recording takes; 'dormouse "
                           "image pull --form raw' keeps it",
                           i);
        int r = fd < 0 ? fd : lazy_guard_source(rec->guard, fd, err);
        if (r < 0)
            return r;
        rec->sources[i] = (uint32_t)r;
    }
    return 0;
}

int lazy_record_start(const struct stored *s, const char *state, const char *target,
                      const struct root_opts *opts, const char *program, struct lazy_record **ret,
                      struct err *err)
{
    struct lazy_record *rec = xnew(struct lazy_record);
    const struct lazy_guard_opts guard = { .program = program };
    (void)pthread_mutex_init(&rec->mutex, NULL);
    int r = make_view(s, &rec->view, err);
    r = r < 0 ? r : lazy_root_mount(&rec->view, state, target, opts, &guard, &rec->guard, err);
    bool is_mounted = r >= 0;
    r = r < 0 ? r : add_sources(s, rec, err);
    r = r < 0 ? r : start_thread(rec, err);
    if (r < 0) {
        if (is_mounted)
            (void)root_umount(state, target, 0, NULL);
        lazy_record_free(rec);
        return r;
    }
    *ret = rec;
    return 0;
}

void lazy_record_finish(struct lazy_record *r, struct start_list *ret)
{
    (void)pthread_mutex_lock(&r->mutex);
    *ret = r->list;
    r->list = (struct start_list){ 0 };
    r->is_over = true;
    (void)pthread_mutex_unlock(&r->mutex);
}

void lazy_record_free(struct lazy_record *r)
{
    if (!r)
        return;
    if (r->has_thread) {
        lazy_guard_wake(r->guard);
        (void)pthread_join(r->thread, NULL);
    }
    lazy_guard_free(r->guard);
    lazy_view_fini(&r->view);
    start_list_fini(&r->list);
    (void)pthread_mutex_destroy(&r->mutex);
    free(r->sources);
    free(r);
}
