/* SPDX-License-Identifier: Apache-2.0 */
#include "image/provide_child.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/sys.h"
#include "codec/json.h"
#include "image/layer_cache.h"
#include "image/layer_rights.h"
#include "image/provide.h"
#include "image/store_control.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10, LOOK_AGAIN_S = 1 };

struct child {
    struct arena arena; /* of the first line */
    struct oci_store *store;
    struct store_control *control; /* NULL: it could not be made */
    int opened;                    /* of the store; the error of every request */
    struct err err;
    struct provide_site site;
    sem_t room;            /* for threads */
    pthread_mutex_t write; /* one line at a time */
    pthread_mutex_t lock;  /* of jobs */
    pthread_cond_t ended;  /* one of them has */
    struct list jobs;
};

struct job {
    struct child *c;
    struct list node;            /* in c->jobs */
    atomic_bool is_pulling;      /* a registry is asked */
    _Atomic uint64_t came_at_ms; /* its last bytes, or its beginning */
    struct arena arena;
    int64_t id;
    const struct json *message;
};

/* ---- answers ---- */

static void answer(struct child *c, struct arena *a, struct json *message)
{
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(PROVIDE_LINE_MAX);
    (void)json_write(&line, message);
    (void)buf_add_char(&line, '\n');
    (void)pthread_mutex_lock(&c->write);
    if (buf_ok(&line))
        (void)sys_write_all(STDOUT_FILENO, line.p, line.n); /* if no one reads, we are killed */
    (void)pthread_mutex_unlock(&c->write);
    (void)a;
}

static struct json *new_answer(struct job *j)
{
    struct json *v = json_new_object(&j->arena);
    json_set_int(&j->arena, v, "id", j->id);
    return v;
}

static void answer_error(struct job *j, const struct err *err)
{
    struct json *v = new_answer(j), *e = json_obj(&j->arena, v, "error");
    json_set_int(&j->arena, e, "code", err->code);
    json_set_str(&j->arena, e, "text", str_of(err_text(err)));
    answer(j->c, &j->arena, v);
}

static void on_bytes(void *arg)
{
    struct job *j = arg;
    j->came_at_ms = clock_mono_ms();
}

static void on_pulled(void *arg)
{
    struct job *j = arg;
    j->is_pulling = false;
}

static void on_pulling(void *arg)
{
    struct job *j = arg;
    on_bytes(j);
    j->is_pulling = true;
    struct json *v = new_answer(j);
    json_set_bool(&j->arena, v, "pulling", true);
    answer(j->c, &j->arena, v);
}

static void answer_image(struct job *j, const struct provided *p)
{
    struct arena *a = &j->arena;
    struct json *v = new_answer(j);
    char text[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&p->manifest, text);
    json_set_str(a, v, "manifest", str_of(text));
    json_set_str(a, v, "dir", str_of(p->dir));
    json_set_int(a, v, "words", (int64_t)p->n_program);
    json_set_str(a, v, "config", buf_str(&p->config));
    json_set_bool(a, v, "pulled", p->was_pulled);
    answer(j->c, a, v);
}

/* ---- requests ---- */

static enum provide_policy policy_of(struct str word)
{
    return str_is(word, "Always")  ? PROVIDE_ALWAYS
           : str_is(word, "Never") ? PROVIDE_NEVER
                                   : PROVIDE_IF_NOT_PRESENT;
}

static void get(struct job *j, const struct json *get)
{
    struct err err = { 0 };
    struct provided p;
    const struct json *auths = json_getc(get, "auths");
    struct str texts[PROVIDE_AUTHS_MAX];
    struct provide_want want = { .reference = json_get_str(get, "reference"),
                                 .tenant = json_get_str(get, "tenant"),
                                 .auths = texts,
                                 .policy = policy_of(json_get_str(get, "policy")),
                                 .lease = json_get_str(get, "lease"),
                                 .on_pulling = on_pulling,
                                 .on_bytes = on_bytes,
                                 .on_pulled = on_pulled,
                                 .arg = j };
    json_each (text, auths)
        if (want.n_auths < PROVIDE_AUTHS_MAX)
            texts[want.n_auths++] = json_str(text);
    if (provide_image(j->c->store, &j->c->site, &want, &p, &err) < 0) {
        answer_error(j, &err);
        return;
    }
    answer_image(j, &p);
    provided_fini(&p);
}

static void drop(struct job *j, struct str lease)
{
    struct err err = { 0 };
    int r = provide_drop(j->c->store, lease, &err);
    if (r < 0 && r != -ENOENT)
        answer_error(j, &err);
    else
        answer(j->c, &j->arena, new_answer(j));
}

/* A pull that waits for its registry takes no room from others: that it may do so for long is no
 * matter of theirs. */
static bool is_busy(const struct job *j, uint64_t now)
{
    return !j->is_pulling || now - j->came_at_ms < PROVIDE_QUIET_MS;
}

static unsigned count_busy(const struct child *c)
{
    unsigned n = 0;
    uint64_t now = clock_mono_ms();
    list_each (node, &c->jobs)
        n += is_busy(list_entry(node, struct job, node), now);
    return n;
}

static void add_job(struct child *c, struct job *j)
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

static void remove_job(struct child *c, struct job *j)
{
    (void)pthread_mutex_lock(&c->lock);
    list_remove(&j->node);
    (void)pthread_cond_signal(&c->ended);
    (void)pthread_mutex_unlock(&c->lock);
}

static void *run_job(void *arg)
{
    struct job *j = arg;
    struct child *c = j->c;
    const struct json *wanted = json_getc(j->message, "get"),
                      *lease = json_getc(j->message, "drop");
    if (c->opened < 0)
        answer_error(j, &c->err);
    else if (wanted)
        get(j, wanted);
    else
        drop(j, json_str(lease));
    remove_job(c, j);
    arena_fini(&j->arena);
    free(j);
    (void)sem_post(&c->room);
    return NULL;
}

static void begin(struct child *c, struct str line)
{
    pthread_t thread;
    pthread_attr_t attr;
    struct json *message;
    struct job *j = xnew(struct job);
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

static void open_site(struct child *c, struct str line)
{
    struct json *v;
    c->opened = json_parse(&c->arena, str_copy_arena(&c->arena, line), NULL, &v, &c->err);
    if (c->opened < 0)
        return;
    struct str ca = json_get_str(v, "ca");
    const char **hosts = arena_new_n(&c->arena, const char *, PROVIDE_HOSTS_MAX);
    c->site.hosts = hosts;
    json_each (host, json_getc(v, "hosts"))
        if (c->site.n_hosts < PROVIDE_HOSTS_MAX)
            hosts[c->site.n_hosts++] = str_dup_arena(&c->arena, json_str(host));
    c->site.ca_file = ca.n ? str_dup_arena(&c->arena, ca) : NULL;
    c->site.plain_hosts = arena_new_n(&c->arena, struct str, PROVIDE_HOSTS_MAX);
    json_each (host, json_getc(v, "plainHosts"))
        if (c->site.n_plain_hosts < PROVIDE_HOSTS_MAX)
            c->site.plain_hosts[c->site.n_plain_hosts++] = json_str(host);
    const struct oci_store_opts opts = {
        .root = str_dup_arena(&c->arena, json_get_str(v, "store")),
        .lock_ms = (uint64_t)json_int_or(json_getc(v, "lockMilliseconds"), 0),
        .has_control = true,
    };
    c->opened = layer_cache_open_store(&opts, IMAGE_CACHE_ARC, &c->store, &c->err);
    if (c->opened < 0)
        return;
    layer_rights_tidy(c->store);
    (void)store_control_start(c->store, &c->control, NULL);
}

/* ---- the whole ---- */

/* Each whole line of `in`. false: one is too long. */
static bool take_lines(struct child *c, struct buf *in, bool *has_site)
{
    for (ptrdiff_t at; (at = str_find_char(buf_str(in), '\n')) >= 0;) {
        struct str line = str_slice(buf_str(in), 0, (size_t)at);
        if (*has_site)
            begin(c, line);
        else
            open_site(c, line);
        *has_site = true;
        buf_consume(in, (size_t)at + 1);
    }
    return in->n < PROVIDE_LINE_MAX;
}

int provide_child_main(void)
{
    struct child c = { 0 };
    bool has_site = false;
    scoped(buf_fini_scoped) struct buf in = BUF_INIT(PROVIDE_LINE_MAX + READ_BYTES);
    (void)sem_init(&c.room, 0, PROVIDE_THREADS);
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
        if (!take_lines(&c, &in, &has_site))
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
