/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread accepts, and watches the connections for clients that go away; it alone opens and
 * closes them.
 */
#include "image/store_control.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/sys.h"
#include "codec/json.h"
#include "image/store_job.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    BACKLOG = 64,
    READ_BYTES = 16 << 10,
    REST_MS = 100, /* after no connection could be accepted, for want of descriptors or memory */
};

struct store_control {
    struct oci_store *s;
    int root_fd, listener, wake; /* wake: an eventfd */
    pthread_t thread;
    bool is_resting;       /* of that thread: it does not look at the listener now */
    pthread_mutex_t mutex; /* of what follows, and of the last three of connections */
    bool is_closing, is_canceling;
    struct list connections;
    size_t n;
};

struct connection {
    struct store_control *c;
    struct list node;
    int fd;
    pthread_t thread;
    atomic_bool stop;
    bool is_gone;    /* the client; of the accepting thread */
    bool has_begun;  /* the job was received, and will be done */
    bool ends_early; /* the job, with the process: it may take hours */
    bool is_over;    /* the thread has ended, except for its return */
};

static void wake(struct store_control *c)
{
    const uint64_t one = 1;
    (void)sys_write_all(c->wake, &one, sizeof one);
}

/* ---- one job ---- */

/* {key: v}. If it cannot be sent, the client has disconnected, and its pull is cancelled. Errors:
 * then. */
static int send_line(struct connection *k, const char *key, const struct json *v)
{
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(STORE_CONTROL_LINE_MAX);
    (void)buf_add_cstr(&line, "{\"");
    (void)buf_add_cstr(&line, key);
    (void)buf_add_cstr(&line, "\":");
    (void)json_write(&line, v);
    (void)buf_add_cstr(&line, "}\n");
    for (size_t at = 0; buf_ok(&line) && at < line.n;) {
        ssize_t n = send(k->fd, line.p + at, line.n - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int r = -errno;
            atomic_store(&k->stop, true);
            (void)shutdown(k->fd, SHUT_RDWR);
            return r;
        }
        at += (size_t)n;
    }
    return 0;
}

static void on_event(void *arg, const struct json *v)
{
    (void)send_line(arg, "event", v);
}

/* A line without its end, in `to`. */
static int read_line(struct connection *k, struct buf *to, struct str *ret, struct err *err)
{
    const uint64_t until = clock_mono_ms() + STORE_CONTROL_READ_MS;
    for (;;) {
        uint64_t now = clock_mono_ms();
        struct pollfd p = { .fd = k->fd, .events = POLLIN };
        char *at;
        int n_ready = now >= until ? 0 : poll(&p, 1, (int)(until - now));
        if (n_ready == 0)
            return err_set(err, -ETIMEDOUT, "no job came");
        if (n_ready < 0 && errno != EINTR)
            return err_sys(err, -errno, "wait for a job");
        if (buf_reserve(to, READ_BYTES, &at) < 0)
            return err_set(err, E_LIMIT, "the job has more than %d bytes", STORE_CONTROL_LINE_MAX);
        ssize_t n = recv(k->fd, at, READ_BYTES, MSG_DONTWAIT);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return err_set(err, E_EOF, "no whole job came");
        buf_advance(to, (size_t)n);
        ptrdiff_t end = str_find_char(buf_str(to), '\n');
        if (end >= 0) {
            *ret = str_slice(buf_str(to), 0, (size_t)end);
            return 0;
        }
    }
}

static void send_error(struct connection *k, struct arena *a, const struct err *err)
{
    struct json *v = json_new_object(a);
    json_set_int(a, v, "code", err->code);
    json_set_str(a, v, "text", str_of(err_text(err)));
    (void)send_line(k, "error", v);
}

static bool is_ending(struct store_control *c)
{
    (void)pthread_mutex_lock(&c->mutex);
    bool is = c->is_closing;
    (void)pthread_mutex_unlock(&c->mutex);
    return is;
}

/* false: the store is about to be closed. */
static bool begin(struct connection *k)
{
    (void)pthread_mutex_lock(&k->c->mutex);
    bool may = k->has_begun = !k->c->is_closing;
    (void)pthread_mutex_unlock(&k->c->mutex);
    return may;
}

/* Of a check: the client runs it itself then. */
static void end_early(struct connection *k)
{
    (void)pthread_mutex_lock(&k->c->mutex);
    k->ends_early = true;
    if (k->c->is_closing)
        atomic_store(&k->stop, true);
    (void)pthread_mutex_unlock(&k->c->mutex);
}

static int do_job(struct connection *k, struct str text, struct arena *a, struct json **ret,
                  struct err *err)
{
    struct json *v;
    struct store_job job;
    const struct store_job_watch watch = { .on_event = on_event, .arg = k, .stop = &k->stop };
    int r = json_parse(a, text, NULL, &v, err);
    r = r < 0 ? r : store_job_read(v, a, &job, err);
    if (r < 0)
        return r;
    r = send_line(k, "taken", json_new_bool(a, true));
    if (r < 0) /* the client has disconnected, perhaps to run the job elsewhere */
        return err_sys(err, r, "begin the job");
    if (job.kind == STORE_JOB_CHECK)
        end_early(k);
    return store_job_run(k->c->s, &job, &watch, a, ret, err);
}

static void serve(struct connection *k)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct json *result;
    struct str text;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(STORE_CONTROL_LINE_MAX);
    int r = read_line(k, &b, &text, &err);
    if (!begin(k)) { /* it has no answer, so the client asks again elsewhere */
        arena_fini(&a);
        return;
    }
    r = r < 0 ? r : do_job(k, text, &a, &result, &err);
    bool is_unfinished = r == -ECANCELED && is_ending(k->c); /* so the client runs it itself */
    if (r >= 0)
        (void)send_line(k, "result", result);
    else if (!is_unfinished)
        send_error(k, &a, &err);
    arena_fini(&a);
}

static void *connection_main(void *arg)
{
    struct connection *k = arg;
    struct store_control *c = k->c;
    serve(k);
    (void)pthread_mutex_lock(&c->mutex);
    k->is_over = true;
    (void)pthread_mutex_unlock(&c->mutex);
    wake(c);
    return NULL;
}

/* ---- connections ---- */

static bool may_ask(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

/* With all signals for other threads. */
static int start_thread(pthread_t *ret, void *(*main)(void *), void *arg)
{
    sigset_t all, old;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &old);
    int r = pthread_create(ret, NULL, main, arg);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -r;
}

static void accept_one(struct store_control *c)
{
    const struct timeval send_time = { .tv_sec = STORE_CONTROL_SEND_MS / 1000 };
    scoped(fd_scoped) int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC);
    c->is_resting = fd < 0;
    if (fd < 0 || !may_ask(fd))
        return;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &send_time, sizeof send_time);
    struct connection *k = xnew(struct connection);
    k->c = c;
    k->fd = fd;
    if (start_thread(&k->thread, connection_main, k) < 0) {
        free(k);
        return;
    }
    (void)take_fd(&fd);
    (void)pthread_mutex_lock(&c->mutex);
    list_push_back(&c->connections, &k->node);
    c->n++;
    (void)pthread_mutex_unlock(&c->mutex);
}

/* With the mutex held. */
static void reap(struct store_control *c)
{
    list_each_safe (node, &c->connections) {
        struct connection *k = list_entry(node, struct connection, node);
        if (!k->is_over)
            continue;
        (void)pthread_join(k->thread, NULL);
        (void)close(k->fd);
        list_remove(&k->node);
        free(k);
        assert(c->n > 0);
        c->n--;
    }
}

struct watched {
    struct pollfd fds[2 + STORE_CONTROL_JOBS_MAX];
    struct connection *of[2 + STORE_CONTROL_JOBS_MAX];
    size_t n;
};

static void watch(struct watched *w, int fd, short events, struct connection *k)
{
    w->fds[w->n] = (struct pollfd){ .fd = fd, .events = events };
    w->of[w->n++] = k;
}

/* With the mutex held. */
static void list_watched(struct store_control *c, struct watched *w)
{
    w->n = 0;
    watch(w, c->wake, POLLIN, NULL);
    bool takes_more = !c->is_closing && !c->is_resting && c->n < STORE_CONTROL_JOBS_MAX;
    watch(w, takes_more ? c->listener : -1, POLLIN, NULL);
    list_each (node, &c->connections) {
        struct connection *k = list_entry(node, struct connection, node);
        if (c->is_canceling || (c->is_closing && k->ends_early))
            atomic_store(&k->stop, true);
        if (c->is_closing && !k->has_begun)
            (void)shutdown(k->fd, SHUT_RDWR);
        if (!k->is_gone)
            watch(w, k->fd, POLLRDHUP, k);
    }
}

static void take_events(struct store_control *c, const struct watched *w)
{
    uint64_t ignored;
    if (w->fds[0].revents)
        (void)!read(c->wake, &ignored, sizeof ignored);
    for (size_t i = 2; i < w->n; i++)
        if (w->fds[i].revents) {
            w->of[i]->is_gone = true;
            atomic_store(&w->of[i]->stop, true);
        }
    if (w->fds[1].revents)
        accept_one(c);
}

static void *control_main(void *arg)
{
    struct store_control *c = arg;
    struct watched w;
    for (;;) {
        (void)pthread_mutex_lock(&c->mutex);
        reap(c);
        bool is_over = c->is_closing && c->n == 0;
        list_watched(c, &w);
        (void)pthread_mutex_unlock(&c->mutex);
        if (is_over)
            return NULL;
        int n = poll(w.fds, w.n, c->is_resting ? REST_MS : -1);
        c->is_resting = false;
        if (n > 0)
            take_events(c, &w);
        else if (n < 0 && errno != EINTR) /* more than may be open now, or no memory */
            (void)usleep(REST_MS * 1000);
    }
}

/* ---- the socket ---- */

/* A path of the store may be longer than an address has room for. */
static void address_of(int root_fd, const char *name, struct sockaddr_un *ret)
{
    *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
    (void)snprintf(ret->sun_path, sizeof ret->sun_path, "/proc/self/fd/%d/%s", root_fd, name);
}

/* It gets its name once it can be connected to. */
static int listen_there(struct store_control *c, struct err *err)
{
    static const char made[] = STORE_CONTROL_NAME ".new";
    struct sockaddr_un at;
    address_of(c->root_fd, made, &at);
    c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->listener < 0)
        return err_sys(err, -errno, "socket");
    (void)sys_unlinkat(c->root_fd, made, 0);
    (void)fchmod(c->listener, 0600); /* of the file that bind() makes */
    if (bind(c->listener, (const struct sockaddr *)&at, sizeof at) < 0)
        return err_sys(err, -errno, "make '%s/%s'", oci_store_root(c->s), made);
    int r =
        fchmodat(c->root_fd, made, 0600, 0) < 0 || listen(c->listener, BACKLOG) < 0 ? -errno : 0;
    r = r < 0 ? r : sys_renameat(c->root_fd, made, c->root_fd, STORE_CONTROL_NAME);
    if (r < 0)
        (void)sys_unlinkat(c->root_fd, made, 0);
    return r < 0 ? err_sys(err, r, "listen on '%s/%s'", oci_store_root(c->s), made) : 0;
}

static void control_free(struct store_control *c)
{
    fd_scoped(&c->root_fd);
    fd_scoped(&c->listener);
    fd_scoped(&c->wake);
    (void)pthread_mutex_destroy(&c->mutex);
    free(c);
}

int store_control_start(struct oci_store *s, struct store_control **ret, struct err *err)
{
    struct store_control *c = xnew(struct store_control);
    c->s = s;
    c->listener = c->wake = -1;
    list_init(&c->connections);
    (void)pthread_mutex_init(&c->mutex, NULL);
    c->root_fd = sys_openat(AT_FDCWD, oci_store_root(s), O_PATH | O_DIRECTORY, 0);
    int r = c->root_fd < 0 ? err_sys(err, c->root_fd, "open '%s'", oci_store_root(s)) : 0;
    if (r >= 0 && (c->wake = eventfd(0, EFD_CLOEXEC)) < 0)
        r = err_sys(err, -errno, "eventfd");
    r = r < 0 ? r : listen_there(c, err);
    if (r >= 0) {
        r = start_thread(&c->thread, control_main, c);
        if (r < 0) {
            (void)sys_unlinkat(c->root_fd, STORE_CONTROL_NAME, 0);
            (void)err_sys(err, r, "start a thread");
        }
    }
    if (r < 0) {
        control_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

void store_control_close(struct store_control *c, bool is_canceling)
{
    if (!c)
        return;
    (void)sys_unlinkat(c->root_fd, STORE_CONTROL_NAME, 0); /* clients of the queue see its end */
    (void)pthread_mutex_lock(&c->mutex);
    c->is_closing = true;
    c->is_canceling = is_canceling;
    (void)pthread_mutex_unlock(&c->mutex);
    wake(c);
    (void)pthread_join(c->thread, NULL);
    control_free(c);
}
