/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_child.h"

#include "base/boot.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/sys.h"
#include "codec/json.h"
#include "container/user.h"
#include "image/layer_child.h"
#include "image/lazy_image.h"
#include "image/provide_child.h"
#include "image/run_config.h"
#include "image/store_job.h"
#include "io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const words[] = { [LAZY_CHILD_ASKING] = "asking",
                                     [LAZY_CHILD_REFUSED] = "refused",
                                     [LAZY_CHILD_MOUNTED] = "mounted",
                                     [LAZY_CHILD_WHOLE] = "whole",
                                     [LAZY_CHILD_BROKEN] = "broken" };

#define STATUS_NAME "status"

/* ---- the status ---- */

static int find_word(struct str word, enum lazy_child_at *ret, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(word, words[i])) {
            *ret = (enum lazy_child_at)i;
            return 0;
        }
    return err_set(err, E_PARSE, "not the status of a lazy mount");
}

int lazy_child_status_read(const char *dir, struct arena *a, struct lazy_child_status *ret,
                           struct err *err)
{
    struct json *v;
    struct lazy_child_status s = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(LAZY_CHILD_STATUS_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/" STATUS_NAME, dir);
    int r = sys_read_file(AT_FDCWD, path, &text, err);
    r = r < 0 ? r : json_parse(a, str_copy_arena(a, buf_str(&text)), NULL, &v, err);
    r = r < 0 ? r : find_word(json_get_str(v, "state"), &s.at, err);
    if (r < 0)
        return r;
    s.pid = (int)json_int_or(json_getc(v, "pid"), 0);
    s.start_ticks = (uint64_t)json_int_or(json_getc(v, "startTicks"), 0);
    s.boot = json_get_str(v, "boot");
    s.is_asked = json_bool(json_getc(v, "asked"));
    s.place = json_get_str(v, "place");
    s.config = json_get_str(v, "config");
    s.n_program = (size_t)json_int_or(json_getc(v, "words"), 0);
    s.code = (int)json_int_or(json_getc(v, "code"), 0);
    s.why = json_get_str(v, "why");
    s.done_bytes = (uint64_t)json_int_or(json_getc(v, "doneBytes"), 0);
    s.all_bytes = (uint64_t)json_int_or(json_getc(v, "allBytes"), 0);
    *ret = s;
    return 0;
}

/* ---- this process ---- */

struct lazy_child {
    struct arena arena; /* of the request */
    const char *store, *dir;
    struct store_job job; /* "provide" */
    char *name;           /* of the image in the store */
    struct oci_source *source;
    struct oci_image image;
    char *place, *root, *state; /* place: below dir; paths */
    struct buf config;
    struct lazy_image *lazy;
    int wake; /* eventfd: the state has changed */
    struct process_facts facts;
    char boot[BOOT_ID_BYTES];
    bool is_unused; /* SIGTERM has come */

    pthread_mutex_t mutex; /* of what follows */
    enum lazy_child_at at;
    bool is_asked, is_mounted;
    size_t n_program;
    int code;
    char *why;    /* NULL: none */
    bool is_over; /* no more is fetched: it cannot be stored */
    uint64_t done_bytes, all_bytes, grown_ms;
};

/* Not synced: after a start of the machine it says nothing any more, and a start waits for it. */
static int replace_status(const char *dir, struct str text)
{
    scoped(free_scoped) char *to = xasprintf("%s/" STATUS_NAME, dir);
    scoped(free_scoped) char *from = xasprintf("%s.new", to);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, from, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int r = fd < 0 ? fd : sys_write_all(fd, text.p, text.n);
    return r < 0 ? r : sys_renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* With the lock. Without room on the disk the last one stays; the end of the process shows as well.
 */
static int write_status(struct lazy_child *c)
{
    struct arena a = { 0 };
    struct json *v = json_new_object(&a);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(LAZY_CHILD_STATUS_MAX);
    json_set_str(&a, v, "state", str_of(words[c->at]));
    json_set_int(&a, v, "pid", getpid());
    json_set_int(&a, v, "startTicks", (int64_t)c->facts.start_ticks);
    json_set_str(&a, v, "boot", str_of(c->boot));
    json_set_bool(&a, v, "asked", c->is_asked);
    json_set_str(&a, v, "place", str_of(c->place ? c->place : ""));
    json_set_str(&a, v, "config", buf_str(&c->config));
    json_set_int(&a, v, "words", (int64_t)c->n_program);
    json_set_int(&a, v, "code", c->code);
    json_set_str(&a, v, "why", str_of(c->why ? c->why : ""));
    json_set_int(&a, v, "doneBytes", (int64_t)c->done_bytes);
    json_set_int(&a, v, "allBytes", (int64_t)c->all_bytes);
    int r = json_write(&text, v);
    arena_fini(&a);
    return r < 0 ? r : replace_status(c->dir, buf_str(&text));
}

static void set_why(struct lazy_child *c, const char *why)
{
    free(c->why);
    c->why = why ? xstrdup(why) : NULL;
}

/* States only lead on. What happens before it is mounted is written then. */
static void become(struct lazy_child *c, enum lazy_child_at next, int code, const char *why)
{
    static const uint64_t one = 1;
    (void)pthread_mutex_lock(&c->mutex);
    if (next > c->at) {
        c->at = next;
        c->code = code;
        set_why(c, why);
        if (c->is_mounted || next == LAZY_CHILD_REFUSED || next == LAZY_CHILD_BROKEN)
            (void)write_status(c);
    }
    (void)pthread_mutex_unlock(&c->mutex);
    (void)sys_write_all(c->wake, &one, sizeof one);
}

static int become_mounted(struct lazy_child *c)
{
    (void)pthread_mutex_lock(&c->mutex);
    c->is_mounted = true;
    c->at = MAX(c->at, LAZY_CHILD_MOUNTED);
    int r = write_status(c);
    (void)pthread_mutex_unlock(&c->mutex);
    return r;
}

static enum lazy_child_at at(struct lazy_child *c)
{
    (void)pthread_mutex_lock(&c->mutex);
    enum lazy_child_at now = c->at;
    (void)pthread_mutex_unlock(&c->mutex);
    return now;
}

/* ---- callbacks of its threads ---- */

static void on_progress(void *arg, uint64_t done_bytes, uint64_t all_bytes)
{
    struct lazy_child *c = arg;
    (void)pthread_mutex_lock(&c->mutex);
    bool has_grown = done_bytes > c->done_bytes;
    c->done_bytes = MAX(done_bytes, c->done_bytes);
    c->all_bytes = all_bytes;
    if (has_grown)
        c->grown_ms = clock_mono_ms();
    if (has_grown && c->why && c->at <= LAZY_CHILD_MOUNTED) {
        set_why(c, NULL);
        if (c->is_mounted)
            (void)write_status(c);
    }
    (void)pthread_mutex_unlock(&c->mutex);
}

static void on_trouble(void *arg, const char *why)
{
    static const uint64_t one = 1;
    struct lazy_child *c = arg;
    (void)pthread_mutex_lock(&c->mutex);
    if (c->at <= LAZY_CHILD_MOUNTED && (!c->why || strcmp(c->why, why) != 0)) {
        set_why(c, why);
        if (c->is_mounted)
            (void)write_status(c);
    }
    (void)pthread_mutex_unlock(&c->mutex);
    (void)sys_write_all(c->wake, &one, sizeof one);
}

static void on_stored(void *arg, const char *error)
{
    struct lazy_child *c = arg;
    if (!error) {
        become(c, LAZY_CHILD_WHOLE, 0, NULL);
        return;
    }
    scoped(free_scoped) char *why = xasprintf("the image is not in the store: %s", error);
    (void)pthread_mutex_lock(&c->mutex);
    c->is_over = true;
    (void)pthread_mutex_unlock(&c->mutex);
    on_trouble(c, why);
}

static void on_mismatch(void *arg, const char *why)
{
    scoped(free_scoped) char *text =
        xasprintf("the registry has sent files that differ from the image: %s", why);
    become(arg, LAZY_CHILD_BROKEN, E_DIGEST, text);
}

/* Its input is open as long as another way may bring the rest. */
static bool may_fetch_rest(void *arg)
{
    struct pollfd on = { .fd = STDIN_FILENO, .events = POLLIN };
    return poll(&on, 1, 0) != 0;
}

/* ---- mounting ---- */

static int find_name(struct lazy_child *c, struct oci_reference *ref, struct err *err)
{
    struct str text = c->job.provide.reference;
    scoped(buf_fini_scoped) struct buf whole = BUF_INIT(2 * OCI_STORE_NAME_MAX);
    if (str_has_prefix(text, STR("docker://")))
        text = str_slice(text, strlen("docker://"), text.n);
    int r = oci_reference_parse(text, ref, err);
    if (r < 0)
        return r;
    oci_reference_format(ref, &whole);
    c->name = xstrdup(buf_cstr(&whole));
    return 0;
}

/* Also where its name has still to be put, which is no work for a lazy start. */
static int refuse_present(struct lazy_child *c, struct err *err)
{
    scoped(oci_store_close_scoped) struct oci_store *s = NULL;
    const struct oci_store_opts opts = { .root = c->store, .is_reader = true };
    const struct store_job_provide *p = &c->job.provide;
    size_t n_missing;
    if (oci_store_open(&opts, &s, NULL) < 0)
        return 0;
    bool is_here =
        c->source
            ? oci_store_image_missing(s, &c->image.digest, &n_missing, NULL) >= 0 && n_missing == 0
            : p->policy != PROVIDE_ALWAYS && provide_has(s, p->reference, p->tenant);
    return is_here ? err_set(err, -EEXIST, "the store has it") : 0;
}

static int open_image(struct lazy_child *c, struct err *err)
{
    struct oci_reference ref;
    struct oci_remote_opts registry;
    const struct store_job_provide *p = &c->job.provide;
    const char **hosts = arena_new_n(&c->arena, const char *, p->n_hosts + 1);
    for (size_t i = 0; i < p->n_hosts; i++)
        hosts[i] = str_dup_arena(&c->arena, p->hosts[i]);
    const struct provide_site site = { .hosts = hosts,
                                       .n_hosts = p->n_hosts,
                                       .ca_file = p->ca.n ? str_dup_arena(&c->arena, p->ca) : NULL,
                                       .plain_hosts = p->plain_hosts,
                                       .n_plain_hosts = p->n_plain_hosts };
    const struct oci_platform platform = oci_platform_here();
    int r = find_name(c, &ref, err);
    r = r < 0 ? r : refuse_present(c, err);
    r = r < 0 ? r : provide_site_registry(&site, ref.host, &registry, err);
    if (r < 0)
        return r;
    scoped(free_scoped) char *source = xasprintf("docker://%s", c->name);
    r = oci_source_open_with(str_of(source), &registry, &c->source, err);
    r = r < 0 ? r : oci_source_image(c->source, &platform, &c->image, err);
    return r < 0 ? r : refuse_present(c, err);
}

static int make_place(struct lazy_child *c, struct err *err)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&c->image.digest, text);
    scoped(free_scoped) char *place = xasprintf("%s/files", text + strlen("sha256:"));
    c->root = xasprintf("%s/%s/rootfs", c->dir, place);
    c->state = xasprintf("%s/%s/state", c->dir, place);
    c->place = take_ptr(&place);
    return sys_mkdir_all(c->root, 0755, err);
}

/* A container puts its own overlay over the mount, of which some kernels do not allow so many. */
static int try_overlay(const struct lazy_child *c, struct err *err)
{
    static const char *const names[] = { "upper", "work", "try" };
    const struct mount_opts how = { 0 };
    int fds[3] = { -1, -1, -1 }, r = 0;
    scoped(free_scoped) char *base = xasprintf("%s/over", c->dir),
                             *target = xasprintf("%s/try", base);
    for (size_t i = 0; i < ARRAY_LEN(names) && r >= 0; i++) {
        scoped(free_scoped) char *path = xasprintf("%s/%s", base, names[i]);
        r = sys_mkdir_all(path, 0700, err);
        fds[i] = r < 0 ? -1 : sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
        if (r >= 0 && fds[i] < 0)
            r = err_sys(err, fds[i], "open '%s'", path);
    }
    scoped(fd_scoped) int lower = sys_openat(AT_FDCWD, c->root, O_RDONLY | O_DIRECTORY, 0);
    const struct mount_overlay over = {
        .lower_fds = &lower, .n_lowers = 1, .upper_fd = fds[0], .work_fd = fds[1]
    };
    r = r < 0 ? r : mount_overlay(&over, target, &how, err);
    if (r >= 0)
        (void)mount_remove(target, NULL);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fd_scoped(&fds[i]);
    return r;
}

/* What the node reads before each start of a container must not wait for a registry then. */
static int read_first(struct lazy_child *c, struct err *err)
{
    struct container_user ignored;
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, c->root, O_PATH | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", c->root);
    (void)container_user_find(fd, STR("root"), &ignored, NULL);
    /* Threads that fetch files may write the status meanwhile. */
    struct buf config = c->config;
    size_t n_program = 0;
    config.p = NULL;
    config.n = config.cap = 0;
    int r = run_config_make(c->image.config_text, fd, &config, &n_program, err);
    (void)pthread_mutex_lock(&c->mutex);
    buf_fini(&c->config);
    c->config = config;
    c->n_program = n_program;
    (void)pthread_mutex_unlock(&c->mutex);
    return r;
}

static int mount_image(struct lazy_child *c, struct err *err)
{
    const struct root_opts root = { .unpack = {
                                        .dir = { .form = LAYER_DIR_MERGED,
                                                 .symlink_parent = OCI_SYMLINK_PARENT_SHADOW } } };
    const struct lazy_image_opts opts = { .source = c->source,
                                          .image = &c->image,
                                          .store = c->store,
                                          .reference = c->job.provide.reference,
                                          .name = str_of(c->name),
                                          .state = c->state,
                                          .target = c->root,
                                          .root = &root,
                                          .wait_ms = LAZY_CHILD_LOCK_MS,
                                          .needs_no_list = true,
                                          .reading = &layer_child_reading,
                                          .on_progress = on_progress,
                                          .on_failure = on_trouble,
                                          .on_refused = on_trouble,
                                          .on_stored = on_stored,
                                          .on_mismatch = on_mismatch,
                                          .on_late = on_mismatch,
                                          .may_fetch_rest = may_fetch_rest,
                                          .arg = c };
    int r = lazy_image_start(&opts, &c->lazy, err);
    r = r < 0 ? r : try_overlay(c, err);
    return r < 0 ? r : read_first(c, err);
}

/* The node tries again what fails here, after the end of this process. */
static void unmount_image(struct lazy_child *c)
{
    if (mount_is_point(c->root))
        (void)umount2(c->root, MNT_DETACH | UMOUNT_NOFOLLOW);
    (void)root_umount(c->state, c->root, LAZY_CHILD_LOCK_MS, NULL);
}

static int start(struct lazy_child *c, struct err *err)
{
    int r = open_image(c, err);
    if (r < 0)
        return r;
    (void)pthread_mutex_lock(&c->mutex);
    c->is_asked = true;
    (void)write_status(c);
    (void)pthread_mutex_unlock(&c->mutex);
    r = make_place(c, err);
    r = r < 0 ? r : mount_image(c, err);
    if (r < 0 && c->lazy) {
        lazy_image_stop(c->lazy);
        unmount_image(c);
        lazy_image_free(take_ptr(&c->lazy));
    }
    return r;
}

/* ---- while it is mounted ---- */

static bool is_idle(struct lazy_child *c)
{
    (void)pthread_mutex_lock(&c->mutex);
    bool is = c->is_over || clock_mono_ms() - c->grown_ms >= LAZY_CHILD_IDLE_MS;
    (void)pthread_mutex_unlock(&c->mutex);
    return is;
}

/* Until something has changed, or for a while. */
static void wait_for_change(struct lazy_child *c, int signals, int *guardian)
{
    uint64_t ignored;
    struct signalfd_siginfo which;
    struct pollfd on[] = { { .fd = signals, .events = POLLIN },
                           { .fd = c->wake, .events = POLLIN },
                           { .fd = *guardian, .events = POLLIN } };
    (void)poll(on, ARRAY_LEN(on), LAZY_CHILD_IDLE_MS / 10);
    if (on[0].revents && read(signals, &which, sizeof which) > 0)
        c->is_unused = true;
    if (on[1].revents && read(c->wake, &ignored, sizeof ignored) < 0)
        return;
    if (on[2].revents) {
        (void)close(*guardian);
        *guardian = -1;
    }
}

/* Until the mount and what is fetched have ended. guardian: a pidfd; closed after its end. */
static void attend(struct lazy_child *c, int signals, int *guardian)
{
    bool is_whole = false;
    while (at(c) != LAZY_CHILD_BROKEN) {
        if (at(c) == LAZY_CHILD_WHOLE && !is_whole) {
            is_whole = true;
            lazy_image_rest(c->lazy);
            (void)malloc_trim(0);
        }
        if (c->is_unused && mount_is_point(c->root))
            (void)umount2(c->root, MNT_DETACH | UMOUNT_NOFOLLOW);
        bool is_done = is_whole || (c->is_unused && is_idle(c));
        if (c->is_unused && is_done)
            unmount_image(c); /* containers keep the file system, and so the guardian */
        if (*guardian < 0 && c->is_unused && is_done)
            return;
        if (*guardian < 0 && !c->is_unused)
            become(c, LAZY_CHILD_BROKEN, -EPIPE, "the process that serves its files has ended");
        else
            wait_for_change(c, signals, guardian);
    }
}

static int watch_signals(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

/* ---- the request ---- */

/* One byte at a time: what follows is not for this process. */
static int read_line(struct buf *to, struct err *err)
{
    for (;;) {
        char byte;
        ssize_t n = read(STDIN_FILENO, &byte, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_set(err, E_EOF, "no request");
        if (byte == '\n')
            return to->failed;
        (void)buf_add_char(to, byte);
    }
}

static int read_request(struct lazy_child *c, struct err *err)
{
    struct json *v, *get;
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(PROVIDE_LINE_MAX);
    int r = read_line(&line, err);
    r = r < 0 ? r : json_parse(&c->arena, str_copy_arena(&c->arena, buf_str(&line)), NULL, &v, err);
    if (r < 0)
        return r;
    get = json_getc(v, "get");
    c->store = str_dup_arena(&c->arena, json_get_str(v, "store"));
    c->dir = str_dup_arena(&c->arena, json_get_str(v, "dir"));
    if (!get)
        return err_set(err, E_PARSE, "no request");
    json_set_str(&c->arena, get, "do", STR("provide"));
    r = store_job_read(get, &c->arena, &c->job, err);
    r = r < 0 ? r : boot_id_read(c->boot, err);
    return r < 0 ? r : process_facts(getpid(), &c->facts);
}

int lazy_child_main(void)
{
    struct err err = { 0 };
    struct lazy_child c = { .config = BUF_INIT(RUN_CONFIG_MAX), .grown_ms = clock_mono_ms() };
    int signals = watch_signals();
    c.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)pthread_mutex_init(&c.mutex, NULL);
    if (signals < 0 || c.wake < 0 || read_request(&c, &err) < 0)
        return 1;
    (void)write_status(&c);
    int r = start(&c, &err);
    if (r < 0) {
        become(&c, LAZY_CHILD_REFUSED, r, err_text(&err));
        return 0;
    }
    scoped(fd_scoped) int guardian = (int)syscall(SYS_pidfd_open, lazy_image_guard_pid(c.lazy), 0);
    if (become_mounted(&c) >= 0)
        attend(&c, signals, &guardian);
    lazy_image_free(c.lazy); /* of a broken one nothing more is shown */
    unmount_image(&c);
    return 0; /* what is left of it ends with the process */
}
