/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of modules; see module_source.h. */
#include "modules/module_source.h"

#include "base/backoff.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "base/slab.h"
#include "base/sys.h"
#include "client/reflector.h"
#include "codec/base64.h"
#include "codec/digest.h"
#include "modules/module_artifact.h"
#include "modules/module_fetch.h"
#include "modules/module_login.h"
#include "modules/pull_secrets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOLDER_DIGITS = 16, SECRET_BYTES = 32 };

/* A directory that holds files of sources, or is watched as a whole. */
struct watched_dir {
    int wd;
    struct list files; /* struct module_source */
    struct list whole; /* struct module_dir_watch */
    char *path;
};

struct module_dir_watch {
    struct list node;    /* on watched_dir->whole */
    struct list changed; /* on sources->changed_dirs, or on nothing */
    struct module_sources *s;
    struct watched_dir *dir;
    void (*run)(void *arg);
    void *arg;
};

struct module_source_followed {
    struct reflector *reflector;
    uint64_t seen;    /* hash of the entry that was last reported; 0: none */
    bool is_reported; /* its absence was reported */
    struct watch_key key;
};

/* One attempt: reads Secrets or the user's credentials if needed, then the module. */
struct download {
    struct module_source *src;
    struct pull_secrets *secrets;
    struct module_login *login;
    struct module_fetch *fetch;
    struct timer retry;
    unsigned failures;
    bool is_running;                /* on sources->running, and counted in sources->fetching */
    char holder[HOLDER_DIGITS + 1]; /* of the attempt's credentials; "": none */
    bool uses_login;
    const char *reported; /* the last reason; NULL: none since the last success */
    char *namespace;      /* NULL: the user who runs the process */
    char *pull_secrets;   /* NULL: none */
    struct str *auths;    /* each is given, free() */
    size_t n_auths;
    char sha256[SHA256_HEX_SIZE];
};

struct module_source {
    struct module_sources *s;
    const struct module_source_ops *ops;
    void *arg;
    struct watched_dir *dir; /* FILE */
    struct list node;        /* on dir->files; URL: on sources->queue or sources->running */
    struct list changed;     /* on sources->changed, or on nothing */
    struct module_source_followed *map; /* CONFIG_MAP */
    struct download *url;               /* URL */
    int from;
    /* FILE: path, or the name in dir; URL: URL; CONFIG_MAP: key of binaryData */
    char text[];
};

struct module_sources {
    struct module_sources_opts opts;
    char *dir;
    uint8_t secret[SECRET_BYTES]; /* part of the names of private modules */
    bool has_secret;
    uv_poll_t poll;
    int fd;          /* inotify */
    struct map dirs; /* path -> struct watched_dir */
    struct list changed, changed_dirs;
    struct timer rest;
    struct list queue, running; /* queue: waiting downloads; running: attempts */
    unsigned fetching;
    size_t n_files;
    uint64_t fetched, failures;
};

static void trouble(struct module_source *src, const char *reason, const struct err *err)
{
    src->ops->on_trouble(src->arg, reason, err);
}

/* ---------------------------------------------------------------- directories */

static struct watched_dir *get_dir(struct module_sources *s, struct str path, struct err *err)
{
    struct watched_dir *d = map_get(&s->dirs, path);
    if (d)
        return d;
    d = xnew(struct watched_dir);
    d->path = str_dup(path);
    d->wd = inotify_add_watch(s->fd, d->path,
                              IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR | IN_MASK_ADD);
    if (d->wd < 0) {
        (void)err_sys(err, -errno, "watch directory '%s'", d->path);
        free(d->path);
        free(d);
        return NULL;
    }
    list_init(&d->files);
    list_init(&d->whole);
    (void)map_put(&s->dirs, path, d);
    return d;
}

static void put_dir(struct module_sources *s, struct watched_dir *d)
{
    if (!list_is_empty(&d->files) || !list_is_empty(&d->whole))
        return;
    (void)inotify_rm_watch(s->fd, d->wd);
    (void)map_del(&s->dirs, str_of(d->path));
    free(d->path);
    free(d);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Path of a source's file; the caller frees it. */
static char *path_of(const struct module_source *src)
{
    return src->dir ? xasprintf("%s/%s", src->dir->path, src->text) : xstrdup(src->text);
}

static int open_module(const char *path, struct err *err)
{
    int fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
    return fd < 0 ? err_sys(err, fd, "open module '%s'", path) : fd;
}

/* The changes have settled: process them. */
static void on_rest(struct timer *t)
{
    struct module_sources *s = container_of(t, struct module_sources, rest);
    struct list round, *node;
    list_move_all(&s->changed, &round);
    while ((node = list_pop_front(&round))) {
        struct module_source *src = list_entry(node, struct module_source, changed);
        struct err err = { 0 };
        scoped(free_scoped) char *path = path_of(src);
        int fd = open_module(path, &err);
        if (fd >= 0)
            src->ops->on_module(src->arg, fd);
        else
            trouble(src, "ModuleNotFound", &err);
    }
    list_move_all(&s->changed_dirs, &round);
    while ((node = list_pop_front(&round))) {
        struct module_dir_watch *w = list_entry(node, struct module_dir_watch, changed);
        w->run(w->arg);
    }
}

static void mark_dir(struct module_sources *s, struct watched_dir *d, const char *name)
{
    list_each (n, &d->files) {
        struct module_source *src = list_entry(n, struct module_source, node);
        bool is_it = !name || strcmp(base_name(src->text), name) == 0;
        if (is_it && !list_is_linked(&src->changed))
            list_push_back(&s->changed, &src->changed);
    }
    list_each (n, &d->whole) {
        struct module_dir_watch *w = list_entry(n, struct module_dir_watch, node);
        if (!list_is_linked(&w->changed))
            list_push_back(&s->changed_dirs, &w->changed);
    }
}

static void note_event(struct module_sources *s, const struct inotify_event *ev)
{
    if (ev->mask & IN_IGNORED)
        return;
    bool lost = ev->mask & IN_Q_OVERFLOW; /* after an overflow anything may have changed */
    map_each (e, &s->dirs) {
        struct watched_dir *d = e->value;
        if (lost || d->wd == ev->wd)
            mark_dir(s, d, lost || ev->len == 0 ? NULL : ev->name);
    }
}

static void on_inotify(uv_poll_t *h, int status, int events)
{
    struct module_sources *s = h->data;
    _Alignas(struct inotify_event) char b[4096];
    ssize_t n;
    while ((n = read(s->fd, b, sizeof b)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *ev = (const struct inotify_event *)(b + at);
            note_event(s, ev);
            at += (ssize_t)(sizeof *ev + ev->len);
        }
    }
    if (!list_is_empty(&s->changed) || !list_is_empty(&s->changed_dirs))
        timer_start(s->opts.loop, &s->rest, MODULE_SOURCE_REST_MS, on_rest);
}

int module_find_file(char *const *dirs, size_t n_dirs, struct str file, char **ret, struct err *err)
{
    scoped(free_scoped) char *name = str_dup(file);
    bool found_outside = false;
    for (size_t i = 0; i < n_dirs; i++) {
        scoped(free_scoped) char *path =
            name[0] == '/' ? xstrdup(name) : xasprintf("%s/%s", dirs[i], name);
        scoped(free_scoped) char *real = realpath(path, NULL);
        if (!real)
            continue;
        size_t n = strlen(dirs[i]);
        if (strncmp(real, dirs[i], n) == 0 && real[n] == '/') {
            *ret = take_ptr(&real);
            return 0;
        }
        found_outside = true;
    }
    if (found_outside)
        return err_set(err, E_DENIED,
                       "module file '%s' is outside of the module directories (--modules)", name);
    return err_set(err, -ENOENT,
                   "module file '%s' is in none of the module directories (--modules)", name);
}

int module_dir_watch_start(struct module_sources *s, const char *dir, void (*run)(void *arg),
                           void *arg, struct module_dir_watch **ret, struct err *err)
{
    struct watched_dir *d = get_dir(s, str_of(dir), err);
    if (!d)
        return err ? err->code : -EIO;
    struct module_dir_watch *w = xnew(struct module_dir_watch);
    *w = (struct module_dir_watch){ .s = s, .dir = d, .run = run, .arg = arg };
    list_push_back(&d->whole, &w->node);
    *ret = w;
    return 0;
}

void module_dir_watch_stop(struct module_dir_watch *w)
{
    if (!w)
        return;
    list_remove(&w->node);
    list_remove(&w->changed);
    put_dir(w->s, w->dir);
    free(w);
}

/* ---------------------------------------------------------------- ConfigMaps */

static void config_map_lacks(struct module_source *src)
{
    struct err err = { 0 };
    if (src->map->is_reported)
        return;
    src->map->is_reported = true;
    src->map->seen = 0;
    (void)err_set(&err, -ENOENT,
                  "there is no ConfigMap '" STR_FMT "/" STR_FMT "' with '%s' in its binaryData",
                  STR_ARG(src->map->key.namespace),
                  STR_ARG(str_slice(src->map->key.field_selector, strlen("metadata.name="),
                                    src->map->key.field_selector.n)),
                  src->text);
    trouble(src, "ModuleNotFound", &err);
}

static void on_config_map(void *arg, const struct json *object)
{
    struct module_source *src = arg;
    struct str text = json_get_str(json_getc(object, "binaryData"), src->text);
    uint64_t hash = str_hash(text, 1) | 1;
    struct err err = { 0 };
    if (text.n == 0) {
        config_map_lacks(src);
        return;
    }
    if (hash == src->map->seen)
        return;
    src->map->seen = hash;
    src->map->is_reported = false;
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(MODULE_SOURCE_MAX_BYTES);
    scoped(fd_scoped) int fd = -1;
    int r = base64_decode(&bytes, text, BASE64_LENIENT);
    if (r < 0) {
        (void)err_set(&err, E_PARSE, "'%s' of the ConfigMap is not base64", src->text);
    } else if ((fd = sys_memfd("module")) < 0) {
        r = err_sys(&err, fd, "module");
    } else if ((r = sys_write_all(fd, bytes.p, bytes.n)) < 0) {
        (void)err_sys(&err, r, "module");
    }
    if (r < 0)
        trouble(src, "ModuleNotFound", &err);
    else
        src->ops->on_module(src->arg, take_fd(&fd));
}

/* A deleted ConfigMap does not end the module that is running. */
static void on_config_map_gone(void *arg, struct str namespace, struct str name)
{
    struct module_source *src = arg;
    src->map->seen = 0;
}

static void on_config_map_synced(void *arg)
{
    struct module_source *src = arg;
    if (!src->map->seen)
        config_map_lacks(src);
}

static const struct reflector_ops reflector_ops = { .on_object = on_config_map,
                                                    .on_deleted = on_config_map_gone,
                                                    .on_synced = on_config_map_synced };

static int follow_config_map(struct module_source *src, const struct module_origin *o,
                             struct err *err)
{
    const struct module_sources_opts *opts = &src->s->opts;
    if (!opts->transport)
        return err_set(err, E_UNSUPPORTED, "modules of ConfigMaps need a cluster (--kubeconfig)");
    src->map = xnew(struct module_source_followed);
    src->map->key =
        (struct watch_key){ .group_version = STR("v1"),
                            .plural = STR("configmaps"),
                            .namespace = str_of(xstrdup(o->namespace)),
                            .field_selector = str_of(xasprintf("metadata.name=%s", o->name)) };
    struct reflector_opts follow = { .loop = opts->loop,
                                     .transport = opts->transport,
                                     .hub = opts->hub,
                                     .key = src->map->key,
                                     .ops = &reflector_ops,
                                     .arg = src };
    return reflector_start(&follow, &src->map->reflector, err);
}

/* ---------------------------------------------------------------- downloads */

/*
 * Read or create the directory's secret. If it cannot be stored, it is used until the process ends.
 */
static void find_secret(struct module_sources *s)
{
    scoped(free_scoped) char *path = xasprintf("%s/.secret", s->dir);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(SECRET_BYTES);
    struct err err = { 0 };
    if (s->has_secret)
        return;
    s->has_secret = true;
    if (sys_read_file(AT_FDCWD, path, &text, NULL) >= 0 && text.n == SECRET_BYTES) {
        memcpy(s->secret, text.p, SECRET_BYTES);
        return;
    }
    sys_random(s->secret, SECRET_BYTES);
    struct str bytes = str_n((const char *)s->secret, SECRET_BYTES);
    if (sys_write_file_atomic(AT_FDCWD, path, bytes, 0600, &err) < 0)
        log_warn("private modules will be fetched again after a restart", "reason=\"%s\"",
                 err_text(&err));
}

/* The name for the holders of these credentials in the namespace; "" for an empty login. */
static void name_holder(const struct module_source *src, const struct oci_login *login,
                        char ret[HOLDER_DIGITS + 1])
{
    uint8_t hash[SHA256_BYTES];
    const char *const texts[] = { src->url->namespace, login->user, login->password,
                                  login->identity_token };
    scoped(buf_fini_scoped) struct buf all = BUF_INIT(ARRAY_LEN(texts) * OCI_CREDENTIAL_MAX);
    ret[0] = '\0';
    if (oci_login_is_empty(login))
        return;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        (void)buf_add(&all, texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) + 1 : 1);
    find_secret(src->s);
    sha256_hmac(str_n((const char *)src->s->secret, SECRET_BYTES), buf_str(&all), hash);
    explicit_bzero(all.p, all.n);
    hex_format(hash, HOLDER_DIGITS / 2, ret);
}

/* holder "": shared by all. Given, free(). */
static char *download_path(const struct module_source *src, const char *holder)
{
    return xasprintf("%s/%s%s%s.wasm", src->s->dir, src->url->sha256, holder[0] ? "." : "", holder);
}

static int open_download(const struct module_source *src, const char *holder)
{
    scoped(free_scoped) char *path = download_path(src, holder);
    return sys_openat(AT_FDCWD, path, O_RDONLY, 0);
}

/* Remove the oldest files until the rest fits; running modules are already compiled. */
static void evict(struct module_sources *s)
{
    for (unsigned round = 0; round < 1000; round++) {
        uint64_t total = 0;
        time_t oldest_at = 0;
        char oldest[NAME_MAX + 1] = "";
        DIR *dir = opendir(s->dir);
        for (struct dirent *e; dir && (e = readdir(dir));) {
            struct stat st;
            if (e->d_name[0] == '.' || fstatat(dirfd(dir), e->d_name, &st, 0) < 0)
                continue;
            total += (uint64_t)st.st_size;
            if (!oldest[0] || st.st_mtime < oldest_at) {
                oldest_at = st.st_mtime;
                (void)snprintf(oldest, sizeof oldest, "%s", e->d_name);
            }
        }
        if (dir && total > MODULE_SOURCE_KEPT_BYTES)
            (void)unlinkat(dirfd(dir), oldest, 0);
        if (dir)
            (void)closedir(dir);
        if (!dir || total <= MODULE_SOURCE_KEPT_BYTES)
            return;
    }
}

static void fetch_next(struct module_sources *s);

static void on_retry(struct timer *t)
{
    struct module_source *src = container_of(t, struct download, retry)->src;
    list_push_back(&src->s->queue, &src->node);
    fetch_next(src->s);
}

/* Why a registry failed, for readers of the status. NULL: only for the log. */
static const char *registry_trouble(const struct download *d, int r, const struct err *err,
                                    struct err *public)
{
    const char *url = d->src->text;
    switch (r) {
    case E_DENIED:
        (void)err_set(public, r,
                      d->holder[0] ? "the registry refuses the credentials for '%.180s'"
                                   : "the registry does not give '%.150s' without "
                                     "credentials, and there are none for it",
                      url);
        return "ModuleAccessDenied";
    case -ENOENT:
        (void)err_set(public, r, "the registry has no '%.200s'", url);
        return "ModuleNotFound";
    case E_DIGEST:
        *public = *err; /* our own words, which reveal nothing */
        return "ModuleDigestWrong";
    case E_UNSUPPORTED:
    case E_PARSE:
    case E_LIMIT:
        *public = *err;
        return "ModuleInvalid";
    default:
        return NULL;
    }
}

/* The server's response is only logged: a reader of the status might be probing for servers. */
static const char *fetch_trouble(const struct download *d, int r, const struct err *err,
                                 struct err *public)
{
    const char *reason = NULL;
    *public = *err;
    if (r == -EPERM)
        return "ModuleHostDenied";
    if (module_artifact_is(d->src->text))
        reason = registry_trouble(d, r, err, public);
    if (reason)
        return reason;
    if (r == E_DIGEST) {
        (void)err_set(public, r, "what is at the URL has another digest than the spec names");
        return "ModuleDigestWrong";
    }
    (void)err_set(public, r,
                  "the module cannot be fetched from its URL; the host's log says why (hosts that "
                  "--module-host does not name have to be at public addresses)");
    return "ModuleUnavailable";
}

/* reason: a static string. */
static void retry_later(struct module_source *src, const char *reason, const struct err *err)
{
    struct download *d = src->url;
    src->s->failures++;
    timer_start(
        src->s->opts.loop, &d->retry,
        backoff_wait(MODULE_SOURCE_RETRY_FIRST_MS, MODULE_SOURCE_RETRY_MAX_MS, d->failures++),
        on_retry);
    if (d->reported && strcmp(d->reported, reason) == 0)
        return;
    d->reported = reason;
    trouble(src, reason, err);
}

static void end_attempt(struct module_source *src)
{
    assert(src->url->is_running && src->s->fetching > 0);
    list_remove(&src->node);
    src->url->is_running = false;
    src->s->fetching--;
}

static void fetch_failed(struct module_source *src, int r, const struct err *err)
{
    struct str url = str_of(src->text), query;
    struct err public = { 0 };
    const char *reason = fetch_trouble(src->url, r, err, &public);
    (void)str_cut(url, '?', &url, &query); /* the query may contain secrets */
    if (!src->url->reported || strcmp(src->url->reported, reason) != 0)
        log_warn("module not fetched", "url=" STR_FMT " reason=\"%s\"", STR_ARG(url),
                 err_text(err));
    retry_later(src, reason, &public);
}

static void on_fetched(void *arg, int r, const struct err *err)
{
    struct module_source *src = arg;
    struct module_sources *s = src->s;
    src->url->fetch = NULL;
    end_attempt(src);
    if (r < 0) {
        fetch_failed(src, r, err);
    } else {
        struct err why = { 0 };
        scoped(free_scoped) char *path = download_path(src, src->url->holder);
        s->fetched++;
        src->url->failures = 0;
        src->url->reported = NULL;
        evict(s);
        int fd = open_module(path, &why);
        if (fd >= 0)
            src->ops->on_module(src->arg, fd);
        else
            fetch_failed(src, fd, &why);
    }
    fetch_next(s);
}

/* login NULL: none. d->holder belongs to the login. */
static int start_fetch(struct module_source *src, const struct oci_login *login, struct err *err)
{
    const struct module_sources *s = src->s;
    struct download *d = src->url;
    scoped(free_scoped) char *path = download_path(src, d->holder);
    struct module_fetch_opts opts = { .loop = s->opts.loop,
                                      .url = src->text,
                                      .sha256 = d->sha256,
                                      .path = path,
                                      .max_bytes = MODULE_SOURCE_MAX_BYTES,
                                      .idle_ms = MODULE_SOURCE_IDLE_MS,
                                      .max_redirects = MODULE_SOURCE_REDIRECTS_MAX,
                                      .site = &s->opts.site,
                                      .login = login };
    return module_fetch_start(&opts, on_fetched, src, &d->fetch, err);
}

/* Read the login from the first of these configurations that has one for the registry. */
static int read_login(const struct module_source *src, const struct str *auths, size_t n,
                      struct oci_login *ret, struct err *err)
{
    struct oci_reference ref;
    int r = module_artifact_parse(src->text, &ref, err);
    return r < 0 ? r : oci_login_read_first(auths, n, &ref, ret, err);
}

static int fetch_by(struct module_source *src, const struct str *auths, size_t n, struct err *err)
{
    struct oci_login login = { 0 };
    int r = read_login(src, auths, n, &login, err);
    if (r >= 0)
        name_holder(src, &login, src->url->holder);
    r = r < 0 ? r : start_fetch(src, &login, err);
    oci_login_fini(&login);
    return r;
}

/* The module may already have been fetched with these credentials. */
static int use_or_fetch(struct module_source *src, const struct oci_login *login, struct err *err)
{
    struct module_sources *s = src->s;
    struct download *d = src->url;
    name_holder(src, login, d->holder);
    int fd = d->holder[0] ? open_download(src, d->holder) : -1;
    if (fd < 0)
        return start_fetch(src, login, err);
    end_attempt(src);
    d->failures = 0;
    d->reported = NULL;
    src->ops->on_module(src->arg, fd);
    fetch_next(s);
    return 0;
}

/* The attempt failed before a request was made. E_INVALID: unreadable credentials. */
static void attempt_failed(struct module_source *src, int r, const struct err *err)
{
    end_attempt(src);
    if (r == E_INVALID)
        retry_later(src, "PullSecretInvalid", err);
    else
        fetch_failed(src, r, err);
}

static void on_secrets(void *arg, int r, const struct str *texts, size_t n, const struct err *why)
{
    struct module_source *src = arg;
    struct module_sources *s = src->s;
    struct err err = *why;
    bool is_read = r >= 0;
    struct oci_login login = { 0 };
    src->url->secrets = NULL;
    r = r < 0 ? r : read_login(src, texts, n, &login, &err);
    r = r < 0 ? r : use_or_fetch(src, &login, &err);
    oci_login_fini(&login);
    if (r >= 0)
        return;
    if (is_read || r == E_INVALID) {
        attempt_failed(src, r, &err);
    } else {
        end_attempt(src);
        retry_later(src, r == -ENOENT ? "PullSecretNotFound" : "PullSecretUnavailable", &err);
    }
    fetch_next(s);
}

static void on_login(void *arg, int r, const struct oci_login *login, const struct err *why)
{
    struct module_source *src = arg;
    struct module_sources *s = src->s;
    struct err err = *why;
    src->url->login = NULL;
    r = r < 0 ? r : use_or_fetch(src, login, &err);
    if (r >= 0)
        return;
    end_attempt(src);
    fetch_failed(src, r, &err);
    fetch_next(s);
}

static int begin_download(struct module_source *src, struct err *err)
{
    const struct module_sources_opts *o = &src->s->opts;
    struct download *d = src->url;
    struct oci_reference ref;
    if (!module_artifact_is(src->text))
        return start_fetch(src, NULL, err);
    if (d->pull_secrets)
        return pull_secrets_read(o->transport, d->namespace, d->pull_secrets, on_secrets, src,
                                 &d->secrets, err);
    if (!d->uses_login)
        return fetch_by(src, d->auths, d->n_auths, err);
    int r = module_artifact_parse(src->text, &ref, err);
    return r < 0 ? r : module_login_start(o->loop, &ref, on_login, src, &d->login, err);
}

static bool has_turn(const struct module_sources *s, const char *namespace)
{
    unsigned n = 0;
    if (!namespace)
        return true;
    list_each (node, &s->running) {
        const char *other = list_entry(node, struct module_source, node)->url->namespace;
        n += other && strcmp(other, namespace) == 0;
    }
    return n < MODULE_SOURCE_TENANT_MAX;
}

/* NULL: no waiting download belongs to a namespace that may start one. */
static struct module_source *first_in_turn(const struct module_sources *s)
{
    const char *passed = NULL; /* had no turn; the next source often has the same one */
    list_each (node, &s->queue) {
        struct module_source *src = list_entry(node, struct module_source, node);
        const char *namespace = src->url->namespace;
        if (passed && namespace && strcmp(passed, namespace) == 0)
            continue;
        if (has_turn(s, namespace))
            return src;
        passed = namespace;
    }
    return NULL;
}

static void fetch_next(struct module_sources *s)
{
    struct module_source *src;
    while (s->fetching < MODULE_SOURCE_FETCHES_MAX && (src = first_in_turn(s))) {
        struct err err = { 0 };
        assert(!src->url->is_running);
        list_remove(&src->node);
        list_push_back(&s->running, &src->node);
        src->url->is_running = true;
        s->fetching++;
        int r = begin_download(src, &err);
        if (r < 0)
            attempt_failed(src, r, &err);
    }
}

/* Look in the cache if the credentials are already known; otherwise they are read first. */
static int open_private(const struct module_source *src)
{
    const struct download *d = src->url;
    char holder[HOLDER_DIGITS + 1] = "";
    struct oci_login login = { 0 };
    if (d->n_auths && module_artifact_is(src->text) &&
        read_login(src, d->auths, d->n_auths, &login, NULL) >= 0)
        name_holder(src, &login, holder);
    oci_login_fini(&login);
    return holder[0] ? open_download(src, holder) : -ENOENT;
}

/* Starts by a timer, so that no callback runs inside module_source_open(). */
static int open_url(struct module_source *src, struct err *err)
{
    int fd = open_download(src, "");
    if (fd < 0)
        fd = open_private(src);
    if (fd >= 0)
        return fd;
    int r = module_url_check(src->text, err);
    if (r < 0)
        return r;
    if (!src->url->is_running && !timer_is_armed(&src->url->retry) && !list_is_linked(&src->node))
        timer_start(src->s->opts.loop, &src->url->retry, 0, on_retry);
    return -EAGAIN;
}

/* ---------------------------------------------------------------- sources */

int module_source_again(struct module_source *src, struct err *err)
{
    switch (src->from) {
    case MODULE_FROM_FILE: {
        scoped(free_scoped) char *path = path_of(src);
        return open_module(path, err);
    }
    case MODULE_FROM_URL:
        return open_url(src, err);
    default:
        return err_set(err, -EINVAL, "changes of a ConfigMap are reported by its watch");
    }
}

static struct module_source *new_source(struct module_sources *s, const struct module_origin *o,
                                        const char *text)
{
    size_t n = strlen(text);
    struct module_source *src = slab_alloc(sizeof *src + n + 1);
    memcpy(src->text, text, n);
    src->s = s;
    src->from = o->from;
    return src;
}

/* The directory's path is stored with the directory: it may contain thousands of files. */
static struct module_source *new_file(struct module_sources *s, const struct module_origin *o)
{
    struct err why = { 0 };
    const char *name = base_name(o->path);
    struct str path = name > o->path + 1 ? str_n(o->path, (size_t)(name - o->path - 1))
                                         : str_of(name > o->path ? "/" : ".");
    struct watched_dir *dir = get_dir(s, path, &why);
    struct module_source *src = new_source(s, o, dir ? name : o->path);
    src->dir = dir;
    if (dir)
        list_push_back(&dir->files, &src->node);
    else
        log_warn("changes of a module will not be noticed", "path=%s reason=\"%s\"", o->path,
                 err_text(&why));
    s->n_files++;
    return src;
}

static struct download *new_download(struct module_source *src, const struct module_origin *o)
{
    struct download *d = xnew(struct download);
    d->src = src;
    (void)snprintf(d->sha256, sizeof d->sha256, "%s", o->sha256);
    d->uses_login = o->uses_login;
    d->pull_secrets = o->pull_secrets ? xstrdup(o->pull_secrets) : NULL;
    d->namespace = o->namespace ? xstrdup(o->namespace) : NULL;
    if (o->n_auths)
        d->auths = xnew_n(struct str, o->n_auths);
    for (; d->n_auths < o->n_auths; d->n_auths++)
        d->auths[d->n_auths] =
            (struct str){ str_dup(o->auths[d->n_auths]), o->auths[d->n_auths].n };
    return d;
}

int module_source_open(struct module_sources *s, const struct module_origin *o,
                       const struct module_source_ops *ops, void *arg, struct module_source **ret,
                       struct err *err)
{
    struct module_source *src = NULL;
    int r = -EINVAL;
    switch (o->from) {
    case MODULE_FROM_FILE:
        src = new_file(s, o);
        r = open_module(o->path, err);
        break;
    case MODULE_FROM_CONFIG_MAP:
        src = new_source(s, o, o->key);
        r = follow_config_map(src, o, err);
        r = r < 0 ? r : -EAGAIN;
        break;
    case MODULE_FROM_URL:
        src = new_source(s, o, o->url);
        src->url = new_download(src, o);
        r = open_url(src, err);
        break;
    }
    src->ops = ops;
    src->arg = arg;
    *ret = src;
    return r;
}

static void end_following(struct module_source_followed *f)
{
    if (!f)
        return;
    if (f->reflector)
        reflector_close(f->reflector);
    free((char *)f->key.namespace.p);
    free((char *)f->key.field_selector.p);
    free(f);
}

static void end_download(struct module_sources *s, struct download *d)
{
    if (!d)
        return;
    timer_stop(s->opts.loop, &d->retry);
    pull_secrets_cancel(d->secrets);
    module_login_cancel(d->login);
    if (d->fetch)
        module_fetch_cancel(d->fetch);
    if (d->is_running) {
        assert(s->fetching > 0);
        s->fetching--;
        fetch_next(s);
    }
    for (size_t i = 0; i < d->n_auths; i++)
        free((char *)d->auths[i].p);
    free(d->auths);
    free(d->namespace);
    free(d->pull_secrets);
    free(d);
}

void module_source_close(struct module_source *src)
{
    if (!src)
        return;
    struct module_sources *s = src->s;
    list_remove(&src->node);
    list_remove(&src->changed);
    if (src->dir)
        put_dir(s, src->dir);
    s->n_files -= src->from == MODULE_FROM_FILE;
    end_following(src->map);
    end_download(s, src->url);
    slab_free(src);
}

int module_sources_new(const struct module_sources_opts *opts, struct module_sources **ret,
                       struct err *err)
{
    struct module_sources *s = xnew(struct module_sources);
    s->opts = *opts;
    s->dir = xstrdup(opts->dir);
    list_init(&s->changed);
    list_init(&s->changed_dirs);
    list_init(&s->queue);
    list_init(&s->running);
    module_fetch_tidy(s->dir);
    s->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (s->fd < 0) {
        int r = err_sys(err, -errno, "inotify");
        free(s->dir);
        free(s);
        return r;
    }
    (void)uv_poll_init(&opts->loop->uv, &s->poll, s->fd);
    s->poll.data = s;
    (void)uv_poll_start(&s->poll, UV_READABLE, on_inotify);
    *ret = s;
    return 0;
}

static void on_poll_closed(uv_handle_t *h)
{
    struct module_sources *s = h->data;
    (void)close(s->fd);
    map_fini(&s->dirs);
    free(s->dir);
    free(s);
}

void module_sources_close(struct module_sources *s)
{
    if (!s)
        return;
    assert(s->dirs.n == 0 && s->fetching == 0);
    timer_stop(s->opts.loop, &s->rest);
    uv_close((uv_handle_t *)&s->poll, on_poll_closed);
}

void module_sources_get_stats(const struct module_sources *s, struct module_sources_stats *ret)
{
    *ret = (struct module_sources_stats){ .files = s->n_files,
                                          .directories = s->dirs.n,
                                          .downloads_running = s->fetching,
                                          .fetched = s->fetched,
                                          .fetch_failures = s->failures };
}
