/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/image_lazy.h"

#include "base/clock.h"
#include "base/sys.h"
#include "cmd/image_store.h"
#include "container/foreground.h"
#include "image/layer_child.h"
#include "wasm/confine.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct root_opts root_opts(const struct image_lazy *z)
{
    return (struct root_opts){ .unpack = { .dir = { .form = LAYER_DIR_MERGED,
                                                    .symlink_parent = z->args->parent },
                                           .max_bytes = z->max_bytes },
                               .is_writable = true };
}

/* ---- a lazy start ---- */

static void on_failure(void *arg, const char *why)
{
    (void)arg;
    (void)fprintf(stderr, "warning: files of the image: %s; trying again\n", why);
}

static void on_no_answer(void *arg)
{
    (void)arg;
    (void)fprintf(stderr, "warning: the process that serves the files of the container has ended: "
                          "the container can open no more files\n");
}

static void on_stored(void *arg, const char *error)
{
    (void)arg;
    if (error)
        (void)fprintf(stderr, "warning: the image is not in the store: %s\n", error);
}

static void on_refused(void *arg, const char *why)
{
    const struct image_lazy *z = arg;
    (void)fprintf(
        stderr,
        "error: files of the image cannot be fetched: %s. Their layers cannot be compared with the "
        "image: the container sees them as the registry has sent them%s\n",
        why, z->prove_ms ? "" : " (--prove-within ends it in such a case)");
}

/* Both are read after the threads that call them were joined. */
static void on_late(void *arg, const char *why)
{
    struct image_lazy *z = arg;
    (void)err_set(&z->mismatch, -ETIMEDOUT,
                  "the container was ended by --prove-within, because its layers were not compared "
                  "with the image in time: %s",
                  why);
    container_foreground_kill();
}

static void on_mismatch(void *arg, const char *why)
{
    struct image_lazy *z = arg;
    (void)err_set(&z->mismatch, E_DIGEST, "the registry sent files that differ from the image: %s",
                  why);
    container_foreground_kill();
}

/* Signals stay blocked after the container: a pending one is for this command. */
static bool must_end(void *arg)
{
    static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
    sigset_t pending;
    (void)arg;
    if (sigpending(&pending) < 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        if (sigismember(&pending, signals[i]) == 1)
            return true;
    return false;
}

static void warn_missing(uint32_t missing)
{
    for (uint32_t i = 0; i < CONFINE_PART_COUNT; i++)
        if (missing & 1u << i)
            (void)fprintf(stderr,
                          "warning: the kernel does not confine the process that serves the files "
                          "of the container: %s\n",
                          confine_word((enum confine_part)i));
}

/* Signals of threads of this process wait until there is a container. */
static void block(int signal)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, signal);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* All of it is in the store. */
static bool is_here(const struct image_lazy *z)
{
    scoped(oci_store_close_scoped) struct oci_store *s = NULL;
    const struct oci_store_opts opts = { .root = z->store, .is_reader = true };
    size_t n_missing;
    return oci_store_open(&opts, &s, NULL) >= 0 &&
           oci_store_image_missing(s, &z->image.digest, &n_missing, NULL) >= 0 && n_missing == 0;
}

/* As 'image pull' names it. NULL: it is no reference. */
static char *name_of(struct str reference)
{
    struct oci_reference ref;
    scoped(buf_fini_scoped) struct buf whole = BUF_INIT(2 * OCI_STORE_NAME_MAX);
    if (str_has_prefix(reference, STR("docker://")))
        reference = str_slice(reference, strlen("docker://"), reference.n);
    if (oci_reference_parse(reference, &ref, NULL) < 0)
        return NULL;
    oci_reference_format(&ref, &whole);
    return xstrdup(buf_cstr(&whole));
}

int image_lazy_mount(struct image_lazy *z, struct err *err)
{
    const struct root_opts root = root_opts(z);
    if (image_is_in_store(z->reference))
        return 1;
    int r = image_open(z->args, z->reference, &z->opened, err);
    if (r < 0)
        return r;
    z->image = z->opened.image;
    z->config = z->image.config;
    if (is_here(z))
        return 1;
    z->name = name_of(str_of(z->reference));
    const struct lazy_image_opts opts = {
        .source = z->opened.source,
        .image = &z->image,
        .store = z->store,
        .reference = str_of(z->reference),
        .name = z->name ? str_of(z->name) : STR(""),
        .state = z->state,
        .target = z->target,
        .root = &root,
        .open_ms = z->open_ms,
        .prove_ms = z->prove_ms,
        .wait_ms = z->wait_ms,
        .max_tar_bytes = z->max_bytes,
        .reading = &layer_child_reading,
        .on_failure = on_failure,
        .on_stored = on_stored,
        .on_no_answer = on_no_answer,
        .on_mismatch = on_mismatch,
        .on_late = on_late,
        .on_refused = on_refused,
        .must_end = must_end,
        .arg = z,
    };
    block(CONTAINER_FOREGROUND_KILL);
    r = lazy_image_start(&opts, &z->lazy, err);
    if (r < 0)
        return err_ctx(err, r, "image '%s'", z->reference);
    warn_missing(lazy_image_missing(z->lazy));
    return 0;
}

/* ---- recording ---- */

struct image_lazy_timer {
    struct image_lazy *z;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_over;
};

/* With the lock. Whether the container is still there then. */
static bool wait_over(struct image_lazy_timer *t, uint64_t ms)
{
    struct timespec until = clock_mono_in(ms);
    for (int r = 0; !t->is_over && r != ETIMEDOUT;)
        r = pthread_cond_timedwait(&t->changed, &t->mutex, &until);
    return !t->is_over;
}

/* The first process of a container ignores TERM unless it has a handler for it. */
static void *timer_main(void *arg)
{
    struct image_lazy_timer *t = arg;
    (void)pthread_mutex_lock(&t->mutex);
    if (wait_over(t, t->z->record_ms)) {
        lazy_record_finish(t->z->record, &t->z->list);
        t->z->has_list = true;
        (void)kill(getpid(), SIGTERM);
        if (wait_over(t, t->z->stop_ms))
            container_foreground_kill();
    }
    (void)pthread_mutex_unlock(&t->mutex);
    return NULL;
}

static int start_timer(struct image_lazy *z, struct err *err)
{
    sigset_t all, old;
    pthread_condattr_t clock;
    struct image_lazy_timer *t = xnew(struct image_lazy_timer);
    t->z = z;
    (void)pthread_mutex_init(&t->mutex, NULL);
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&t->changed, &clock);
    (void)pthread_condattr_destroy(&clock);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &old);
    int code = pthread_create(&t->thread, NULL, timer_main, t);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    block(SIGTERM); /* the container's from now on */
    block(CONTAINER_FOREGROUND_KILL);
    if (code) {
        free(t);
        return err_sys(err, -code, "start a thread");
    }
    z->timer = t;
    return 0;
}

static void stop_timer(struct image_lazy *z)
{
    struct image_lazy_timer *t = take_ptr(&z->timer);
    if (!t)
        return;
    (void)pthread_mutex_lock(&t->mutex);
    t->is_over = true;
    (void)pthread_cond_signal(&t->changed);
    (void)pthread_mutex_unlock(&t->mutex);
    (void)pthread_join(t->thread, NULL);
    (void)pthread_cond_destroy(&t->changed);
    (void)pthread_mutex_destroy(&t->mutex);
    free(t);
}

int image_lazy_record(struct image_lazy *z, struct err *err)
{
    const struct root_opts root = root_opts(z);
    if (!image_is_in_store(z->reference))
        return err_set(err, E_UNSUPPORTED,
                       "only an image of the store can be recorded; 'dormouse image pull' adds it");
    int r = image_open(z->args, z->reference, &z->opened, err);
    if (r < 0)
        return r;
    z->image = z->opened.image;
    z->config = z->image.config;
    const struct stored stored = { z->opened.store, &z->image, z->args->parent };
    r = lazy_record_start(&stored, z->state, z->target, &root, NULL, &z->record, err);
    if (r < 0)
        return err_ctx(err, r, "image '%s'", z->reference);
    return z->record_ms ? start_timer(z, err) : 0;
}

static int keep_list(struct image_lazy *z, struct err *err)
{
    struct arena a = { 0 };
    struct json *ignored;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(START_LIST_BYTES_MAX);
    scoped(free_scoped) char *dir = realpath(z->state, NULL), *path = NULL;
    if (!dir)
        return err_sys(err, -errno, "'%s'", z->state);
    path = xasprintf("%s/list", dir);
    struct store_do j = { .opts = { .lock_ms = z->wait_ms },
                          .job = { .kind = STORE_JOB_START,
                                   .config = z->image.manifest.config.digest,
                                   .list = str_of(path) } };
    int r = start_list_write(&z->list, &text);
    r = r < 0 ? err_sys(err, r, "list of the start")
              : sys_write_file_atomic(AT_FDCWD, path, buf_str(&text), 0600, err);
    r = r < 0 ? r : image_store_do(z->store, &j, &a, &ignored, err);
    (void)sys_unlinkat(AT_FDCWD, path, 0);
    arena_fini(&a);
    if (r >= 0)
        (void)fprintf(stderr, "The start opens %zu files; they are recorded.\n", z->list.files.n);
    return r;
}

/* ---- the end ---- */

/* A program that failed has no valid start list; one that the user stopped does. */
static bool is_to_keep(const struct image_lazy *z, int status)
{
    return z->has_list || status == 0 || status == 128 + SIGINT || status == 128 + SIGTERM;
}

int image_lazy_end(struct image_lazy *z, const int *status, struct err *err)
{
    size_t n_unproven = z->lazy && status ? lazy_image_finish(z->lazy) : 0;
    if (z->lazy)
        lazy_image_stop(z->lazy);
    if (n_unproven && !z->mismatch.code)
        (void)fprintf(stderr,
                      "warning: the container ended before %zu of the layers of its image were "
                      "compared with their digests\n",
                      n_unproven);
    if (z->mismatch.code)
        return err_set(err, z->mismatch.code, "%s", err_text(&z->mismatch));
    if (!z->record)
        return 0;
    stop_timer(z);
    if (!z->has_list)
        lazy_record_finish(z->record, &z->list);
    if (!status || is_to_keep(z, *status))
        return status ? keep_list(z, err) : 0;
    (void)fprintf(stderr, "warning: the program failed: its start is not recorded\n");
    return 0;
}

void image_lazy_fini(struct image_lazy *z)
{
    stop_timer(z);
    lazy_image_free(z->lazy);
    lazy_record_free(z->record);
    start_list_fini(&z->list);
    image_opened_fini(&z->opened);
    free(z->name);
}
