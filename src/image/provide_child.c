/* SPDX-License-Identifier: Apache-2.0 */
#include "image/provide_child.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/sys.h"
#include "codec/json.h"
#include "image/layer_cache.h"
#include "image/layer_rights.h"
#include "image/provide.h"
#include "image/store_ask.h"
#include "image/store_control.h"
#include "image/store_job.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    READ_BYTES = 64 << 10,
    LOOK_AGAIN_S = 1,
};

struct provide_child {
    struct arena arena;            /* of the first line */
    const char *root;              /* of the store */
    uint64_t lock_ms;              /* for another process that has it */
    pthread_mutex_t opening;       /* of the next two */
    struct oci_store *store;       /* NULL: not open, or another process has it */
    struct store_control *control; /* NULL: it could not be made */
    sem_t room;                    /* for threads */
    sem_t asking;                  /* for jobs that another process does */
    pthread_mutex_t write;         /* one line at a time */
    pthread_mutex_t lock;          /* of jobs */
    pthread_cond_t ended;          /* one of them has */
    struct list jobs;
};

struct provide_child_job {
    struct provide_child *c;
    struct list node;            /* in c->jobs */
    atomic_bool is_pulling;      /* a registry is asked */
    _Atomic uint64_t came_at_ms; /* its last bytes, or its beginning */
    struct arena arena;
    int64_t id;
    struct json *message;
};

/* ---- answers ---- */

static void answer(struct provide_child *c, const struct json *message)
{
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(PROVIDE_LINE_MAX);
    (void)json_write(&line, message);
    (void)buf_add_char(&line, '\n');
    (void)pthread_mutex_lock(&c->write);
    if (buf_ok(&line))
        (void)sys_write_all(STDOUT_FILENO, line.p, line.n); /* without a reader we are killed */
    (void)pthread_mutex_unlock(&c->write);
}

static struct json *new_answer(struct provide_child_job *j)
{
    struct json *v = json_new_object(&j->arena);
    json_set_int(&j->arena, v, "id", j->id);
    return v;
}

static void answer_error(struct provide_child_job *j, const struct err *err)
{
    struct json *v = new_answer(j), *e = json_obj(&j->arena, v, "error");
    json_set_int(&j->arena, e, "code", err->code);
    json_set_str(&j->arena, e, "text", str_of(err_text(err)));
    answer(j->c, v);
}

/* On any thread, one at a time. */
static void on_event(void *arg, const struct json *v)
{
    struct provide_child_job *j = arg;
    j->came_at_ms = clock_mono_ms();
    if (json_bool(json_getc(v, "pulled")))
        j->is_pulling = false;
    if (!json_bool(json_getc(v, "pulling")))
        return;
    struct arena a = { 0 };
    struct json *m = json_new_object(&a);
    json_set_int(&a, m, "id", j->id);
    json_set_bool(&a, m, "pulling", true);
    j->is_pulling = true;
    answer(j->c, m);
    arena_fini(&a);
}

/* ---- where a job is done ---- */

/* Errors: -EBUSY, another process has it. */
static int open_store(struct provide_child *c, uint64_t lock_ms, struct oci_store **ret,
                      struct err *err)
{
    const struct oci_store_opts opts = { .root = c->root, .lock_ms = lock_ms, .has_control = true };
    int r = 0;
    (void)pthread_mutex_lock(&c->opening);
    if (!c->store && (r = layer_cache_open_store(&opts, IMAGE_CACHE_ARC, &c->store, err)) >= 0) {
        layer_rights_tidy(c->store);
        (void)store_control_start(c->store, &c->control, NULL);
    }
    *ret = c->store;
    (void)pthread_mutex_unlock(&c->opening);
    return r;
}

/* As store_ask(). That process does jobs of commands, too. */
static int ask_other(struct provide_child_job *j, const struct store_job *job, struct json **ret,
                     struct err *err)
{
    struct provide_child *c = j->c;
    while (sem_wait(&c->asking) < 0 && errno == EINTR)
        ;
    int r = store_ask(c->root, job, c->lock_ms, on_event, j, &j->arena, ret, err);
    (void)sem_post(&c->asking);
    return r;
}

struct provide_child_attempt {
    struct provide_child_job *j;
    const struct store_job *job;
    struct json **ret;
    struct err why; /* of the last opening of the store */
};

/* As store_ask(). */
static int attempt(void *arg, uint64_t lock_ms, struct err *err)
{
    struct provide_child_attempt *t = arg;
    const struct store_job_watch watch = { .on_event = on_event, .arg = t->j };
    struct oci_store *s;
    int r = open_store(t->j->c, lock_ms, &s, &t->why);
    if (r == -EBUSY)
        return ask_other(t->j, t->job, t->ret, err);
    if (r < 0)
        return err_set(err, r, "%s", err_text(&t->why));
    r = store_job_run(s, t->job, &watch, &t->j->arena, t->ret, err);
    return r < 0 ? r : STORE_ASKED_DONE;
}

static uint64_t limit_ms(void *arg)
{
    const struct provide_child_attempt *t = arg;
    return t->j->c->lock_ms;
}

/* In this process, or in the one that has the store open: a server, or a command. */
static int do_job(struct provide_child_job *j, const struct store_job *job, struct json **ret,
                  struct err *err)
{
    struct provide_child_attempt t = { .j = j, .job = job, .ret = ret };
    const struct store_ask_attempts attempts = { attempt, limit_ms, &t };
    int r = store_ask_repeat(&attempts, err);
    if (r < 0 || r == STORE_ASKED_DONE)
        return r < 0 ? r : 0;
    return err_set(err, -EBUSY, "%s", err_text(&t.why));
}

/* ---- requests ---- */

static void answer_image(struct provide_child_job *j, struct json *image)
{
    scoped(free_scoped) char *dir =
        xasprintf("%s/images/" STR_FMT, j->c->root, STR_ARG(json_get_str(image, "place")));
    json_set_int(&j->arena, image, "id", j->id);
    json_set_str(&j->arena, image, "dir", str_of(dir));
    answer(j->c, image);
}

static int get(struct provide_child_job *j, struct json *wanted, struct json **ret, struct err *err)
{
    struct store_job job;
    json_set_str(&j->arena, wanted, "do", STR("provide"));
    int r = store_job_read(wanted, &j->arena, &job, err);
    return r < 0 ? r : do_job(j, &job, ret, err);
}

static int run(struct provide_child_job *j, const struct json *wanted, struct json **ret,
               struct err *err)
{
    struct store_job job;
    int r = store_job_read(wanted, &j->arena, &job, err);
    return r < 0 ? r : do_job(j, &job, ret, err);
}

static void answer_result(struct provide_child_job *j, struct json *result)
{
    struct json *v = new_answer(j);
    json_setc(&j->arena, v, "result", result);
    answer(j->c, v);
}

static int drop(struct provide_child_job *j, struct str lease, struct json **ret, struct err *err)
{
    const struct store_job job = { .kind = STORE_JOB_RELEASE, .lease = lease };
    return do_job(j, &job, ret, err);
}

/* A pull that waits for its registry takes no room from others: that it may do so for long is no
 * matter of theirs. */
static bool is_busy(const struct provide_child_job *j, uint64_t now)
{
    return !j->is_pulling || now - j->came_at_ms < PROVIDE_QUIET_MS;
}

static unsigned count_busy(const struct provide_child *c)
{
    unsigned n = 0;
    uint64_t now = clock_mono_ms();
    list_each (node, &c->jobs)
        n += is_busy(list_entry(node, struct provide_child_job, node), now);
    return n;
}

static void add_job(struct provide_child *c, struct provide_child_job *j)
{
    (void)pthread_mutex_lock(&c->lock);
    while (count_busy(c) >= PROVIDE_BUSY_MAX) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += LOOK_AGAIN_S; /* one may have become quiet */
        (void)pthread_cond_timedwait(&c->ended, &c->lock, &until);
    }
    list_push_back(&c->jobs, &j->node);
    (void)pthread_mutex_unlock(&c->lock);
}

static void remove_job(struct provide_child *c, struct provide_child_job *j)
{
    (void)pthread_mutex_lock(&c->lock);
    list_remove(&j->node);
    (void)pthread_cond_signal(&c->ended);
    (void)pthread_mutex_unlock(&c->lock);
}

static void *run_job(void *arg)
{
    struct provide_child_job *j = arg;
    struct provide_child *c = j->c;
    struct err err = { 0 };
    struct json *result, *wanted = json_getc(j->message, "get"),
                         *other = json_getc(j->message, "job");
    int r = wanted  ? get(j, wanted, &result, &err)
            : other ? run(j, other, &result, &err)
                    : drop(j, json_get_str(j->message, "drop"), &result, &err);
    if (r < 0)
        answer_error(j, &err);
    else if (wanted)
        answer_image(j, result);
    else if (other)
        answer_result(j, result);
    else
        answer(c, new_answer(j));
    remove_job(c, j);
    arena_fini(&j->arena);
    free(j);
    (void)sem_post(&c->room);
    return NULL;
}

static void begin(struct provide_child *c, struct str line)
{
    pthread_t thread;
    pthread_attr_t attr;
    struct json *message;
    struct provide_child_job *j = xnew(struct provide_child_job);
    j->c = c;
    if (json_parse(&j->arena, str_copy_arena(&j->arena, line), NULL, &message, NULL) < 0 ||
        json_int(json_getc(message, "id"), &j->id) < 0) {
        arena_fini(&j->arena);
        free(j);
        return;
    }
    j->message = message;
    while (sem_wait(&c->room) < 0 && errno == EINTR)
        ;
    add_job(c, j);
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attr, run_job, j) != 0)
        (void)run_job(j);
    (void)pthread_attr_destroy(&attr);
}

/* ---- the first line ---- */

/* If it cannot be read there is no store, and every request gets an error. */
static void take_store(struct provide_child *c, struct str line)
{
    struct json *v;
    if (json_parse(&c->arena, str_copy_arena(&c->arena, line), NULL, &v, NULL) < 0)
        return;
    c->root = str_dup_arena(&c->arena, json_get_str(v, "store"));
    c->lock_ms = (uint64_t)MAX(json_int_or(json_getc(v, "lockMilliseconds"), 0), (int64_t)0);
}

/* ---- the whole ---- */

/* Each whole line of `in`. false: one is too long. */
static bool take_lines(struct provide_child *c, struct buf *in, bool *has_store)
{
    for (ptrdiff_t at; (at = str_find_char(buf_str(in), '\n')) >= 0;) {
        struct str line = str_slice(buf_str(in), 0, (size_t)at);
        if (*has_store)
            begin(c, line);
        else
            take_store(c, line);
        *has_store = true;
        buf_consume(in, (size_t)at + 1);
    }
    return in->n < PROVIDE_LINE_MAX;
}

int provide_child_main(void)
{
    struct provide_child c = { .root = "" };
    bool has_store = false;
    scoped(buf_fini_scoped) struct buf in = BUF_INIT(PROVIDE_LINE_MAX + READ_BYTES);
    (void)sem_init(&c.room, 0, PROVIDE_THREADS);
    (void)sem_init(&c.asking, 0, PROVIDE_ASKING_MAX);
    (void)pthread_mutex_init(&c.opening, NULL);
    (void)pthread_mutex_init(&c.write, NULL);
    (void)pthread_mutex_init(&c.lock, NULL);
    (void)pthread_cond_init(&c.ended, NULL);
    list_init(&c.jobs);
    for (;;) {
        char *at;
        if (buf_reserve(&in, READ_BYTES, &at) < 0)
            return 1;
        ssize_t n = read(STDIN_FILENO, at, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        buf_advance(&in, (size_t)n);
        if (!take_lines(&c, &in, &has_store))
            return 1;
    }
    for (int i = 0; i < PROVIDE_THREADS; i++) /* until all have ended */
        while (sem_wait(&c.room) < 0 && errno == EINTR)
            ;
    size_t n_swept = 0;
    store_control_close(c.control, false);
    if (c.store) {
        (void)provide_sweep(c.store, PROVIDE_REST_S, false, &n_swept, NULL);
        (void)oci_store_sweep(c.store, SIZE_MAX, NULL);
    }
    oci_store_close(c.store);
    arena_fini(&c.arena);
    return 0;
}
