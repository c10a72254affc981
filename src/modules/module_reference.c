/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/module_reference.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/sys.h"
#include "codec/digest.h"
#include "modules/module_artifact.h"
#include "modules/module_fetch.h"
#include "modules/module_login.h"
#include "wasm/module_info.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLAB_MAX_BYTES = 2048, NAME_HASH_BYTES = 16 };

#define RECORD_SUFFIX ".ref"
#define MODULE_SUFFIX ".wasm"

struct module_references {
    struct module_references_opts opts;
    char *dir;
    size_t n_running;
    struct list background; /* struct module_reference that were already answered */
};

/*
 * One request:
 *
 *     copy of a digest ----------------------------------------------------------> end
 *     credentials -> what it names now -> module, unless it is here -> record ---> end
 *                         |                   |
 *                         +-------------------+--> registry unreachable: copy ---> end
 *
 * MODULE_REFERENCE_PATIENCE_MS after its beginning the copy, if there is one, is returned; the
 * request continues without a caller.
 */
struct module_reference {
    struct list node; /* of all->background */
    struct module_references *all;
    struct timer patience;
    struct oci_reference ref;
    bool looks; /* only look up, without the module */
    struct module_login *finding;
    struct module_artifact *artifact;
    struct module_fetch *fetch;
    struct oci_login login;
    struct module_pin pin;
    struct buf module;
    struct defer turn;
    int r;
    struct err err;
    module_reference_cb cb;
    void *arg;
};

/* ---- the end ---- */

static void free_reference(struct module_reference *q)
{
    timer_stop(q->all->opts.loop, &q->patience);
    list_remove(&q->node);
    q->all->n_running--;
    oci_login_fini(&q->login);
    buf_fini(&q->module);
    free(q);
}

static void on_end(struct defer *d)
{
    struct module_reference *q = container_of(d, struct module_reference, turn);
    if (q->cb)
        q->cb(q->arg, q->r, &q->pin, buf_str(&q->module), &q->err);
    free_reference(q);
}

static void end(struct module_reference *q, int r)
{
    q->r = r < 0 ? r : 0;
    timer_stop(q->all->opts.loop, &q->patience);
    defer_start(q->all->opts.loop, &q->turn, on_end);
}

void module_reference_cancel(struct module_reference *q)
{
    if (!q)
        return;
    module_login_cancel(q->finding);
    if (q->artifact)
        module_artifact_cancel(q->artifact);
    if (q->fetch)
        module_fetch_cancel(q->fetch);
    defer_cancel(&q->turn);
    free_reference(q);
}

/* ---- what is on disk ---- */

static char *module_path(const struct module_reference *q)
{
    return xasprintf("%s/%s" MODULE_SUFFIX, q->all->dir, q->pin.sha256);
}

/* Load the module's bytes if they match the digest; a damaged file is removed. */
static bool load(struct module_reference *q)
{
    uint8_t digest[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    scoped(free_scoped) char *path = module_path(q);
    buf_reset(&q->module);
    if (sys_read_file(AT_FDCWD, path, &q->module, NULL) < 0)
        return false;
    sha256_of(buf_str(&q->module), digest);
    hex_format(digest, sizeof digest, hex);
    if (strcmp(hex, q->pin.sha256) == 0)
        return true;
    log_warn("module on disk is damaged, removing it", "file=\"%s\"", path);
    (void)unlink(path);
    buf_reset(&q->module);
    return false;
}

static void format(const struct oci_reference *ref, struct buf *to)
{
    buf_reset(to);
    oci_reference_format(ref, to);
}

static char *record_path(const struct module_reference *q)
{
    uint8_t digest[SHA256_BYTES];
    char hex[2 * NAME_HASH_BYTES + 1];
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(SLAB_MAX_BYTES);
    format(&q->ref, &name);
    sha256_of(buf_str(&name), digest);
    hex_format(digest, NAME_HASH_BYTES, hex);
    return xasprintf("%s/%s" RECORD_SUFFIX, q->all->dir, hex);
}

/* false: not a valid record. */
static bool parse_record(struct str text, struct str *ret_name, struct module_pin *ret)
{
    struct str manifest, sha256;
    struct oci_digest d;
    uint8_t digest[SHA256_BYTES];
    if (!str_cut(text, '\n', ret_name, &text) || !str_cut(text, '\n', &manifest, &text) ||
        !str_cut(text, '\n', &sha256, &text) || text.n ||
        oci_digest_parse(manifest, &d, NULL) < 0 || !hex_parse(sha256, digest, sizeof digest))
        return false;
    oci_digest_format(&d, ret->manifest);
    hex_format(digest, sizeof digest, ret->sha256);
    return true;
}

static bool read_record(const char *path, struct buf *text, struct str *ret_name,
                        struct module_pin *ret)
{
    buf_reset(text);
    return sys_read_file(AT_FDCWD, path, text, NULL) >= 0 &&
           parse_record(buf_str(text), ret_name, ret);
}

/* Use the module that the reference named last. */
static bool use_copy(struct module_reference *q)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(SLAB_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(SLAB_MAX_BYTES);
    scoped(free_scoped) char *path = record_path(q);
    struct str recorded;
    struct module_pin pin, before = q->pin;
    char digest[OCI_DIGEST_TEXT_SIZE];
    format(&q->ref, &name);
    if (!read_record(path, &text, &recorded, &pin) || !str_eq(recorded, buf_str(&name)))
        return false;
    if (q->ref.has_digest)
        oci_digest_format(&q->ref.digest, digest);
    if (q->ref.has_digest && strcmp(digest, pin.manifest) != 0)
        return false;
    q->pin = pin;
    if (load(q))
        return true;
    q->pin = before;
    return false;
}

static int write_record(const struct module_reference *q, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(SLAB_MAX_BYTES);
    scoped(free_scoped) char *path = record_path(q);
    format(&q->ref, &text);
    (void)buf_printf(&text, "\n%s\n%s\n", q->pin.manifest, q->pin.sha256);
    return sys_write_file_atomic(AT_FDCWD, path, buf_str(&text), 0600, err);
}

/* ---- unneeded files on disk ---- */

struct records {
    size_t n;
    char oldest[NAME_MAX + 1];
    struct timespec oldest_at;
    struct buf modules; /* the digests that records name, one per line */
};

static bool is_older(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

static void count_record(const char *dir, const char *file, struct records *to)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(SLAB_MAX_BYTES);
    scoped(free_scoped) char *path = xasprintf("%s/%s", dir, file);
    struct str name;
    struct module_pin pin;
    struct stat st;
    if (stat(path, &st) < 0)
        return;
    if (!read_record(path, &text, &name, &pin)) {
        (void)unlink(path);
        return;
    }
    if (to->n++ == 0 || is_older(st.st_mtim, to->oldest_at)) {
        to->oldest_at = st.st_mtim;
        (void)snprintf(to->oldest, sizeof to->oldest, "%s", file);
    }
    (void)buf_printf(&to->modules, "%s\n", pin.sha256);
}

static void each_file(const char *path, const char *suffix, struct records *to,
                      void (*run)(const char *dir, const char *file, struct records *to))
{
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (str_has_suffix(str_of(e->d_name), str_of(suffix)))
            run(path, e->d_name, to);
    if (dir)
        (void)closedir(dir);
}

static void remove_unnamed(const char *dir, const char *file, struct records *named)
{
    struct str sha256 = str_slice(str_of(file), 0, strlen(file) - strlen(MODULE_SUFFIX));
    if (buf_ok(&named->modules) && str_find(buf_str(&named->modules), sha256) < 0) {
        scoped(free_scoped) char *path = xasprintf("%s/%s", dir, file);
        (void)unlink(path);
    }
}

/*
 * Remove records beyond the limit, modules that no record names, and files that killed processes
 * left. Only while nothing else is in progress, since a module is written before its record.
 */
static void tidy(const struct module_references *all)
{
    struct records r = { .modules = BUF_INIT(1 << 20) };
    each_file(all->dir, RECORD_SUFFIX, &r, count_record);
    if (r.n > MODULE_REFERENCES_KEPT_MAX) {
        scoped(free_scoped) char *path = xasprintf("%s/%s", all->dir, r.oldest);
        (void)unlink(path);
        buf_reset(&r.modules);
        each_file(all->dir, RECORD_SUFFIX, &r, count_record);
    }
    each_file(all->dir, MODULE_SUFFIX, &r, remove_unnamed);
    module_fetch_tidy(all->dir);
    buf_fini(&r.modules);
}

/* ---- the registry ---- */

/* Whether the registry could not be asked, as opposed to having refused. */
static bool is_away(int r)
{
    switch (r) {
    case E_DENIED:
    case E_DIGEST:
    case E_UNSUPPORTED:
    case E_PARSE:
    case E_LIMIT:
    case E_INVALID:
    case -ENOENT:
    case -EPERM:
    case -EACCES:
        return false;
    default:
        return true;
    }
}

static void failed(struct module_reference *q, int r)
{
    char why[LOG_QUOTE_MAX];
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(SLAB_MAX_BYTES);
    format(&q->ref, &name);
    if (q->cb && !q->looks && is_away(r) && use_copy(q)) {
        log_warn("registry cannot be asked, the module that it had last is used",
                 "reference=%s manifest=%s reason=\"%s\"", buf_cstr(&name), q->pin.manifest,
                 log_quote(why, str_of(err_text(&q->err))));
        end(q, 0);
        return;
    }
    r = err_ctx(&q->err, r, "%s", buf_cstr(&name));
    if (!q->cb)
        log_warn("registry has not answered in the background either", "reference=%s reason=\"%s\"",
                 buf_cstr(&name), log_quote(why, str_of(err_text(&q->err))));
    end(q, r);
}

/* Answer with the copy; the running request continues, and keeps its own pin and module. */
static void on_patience(struct timer *t)
{
    struct module_reference *q = container_of(t, struct module_reference, patience);
    struct module_reference copy = { .all = q->all, .ref = q->ref };
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(SLAB_MAX_BYTES);
    buf_init(&copy.module, MODULE_WASM_BYTES_MAX);
    if (use_copy(&copy)) {
        module_reference_cb cb = q->cb;
        format(&q->ref, &name);
        log_warn("registry is slow to answer, the module that it had last is used",
                 "reference=%s manifest=%s after_ms=%d", buf_cstr(&name), copy.pin.manifest,
                 MODULE_REFERENCE_PATIENCE_MS);
        q->cb = NULL;
        list_push_back(&q->all->background, &q->node);
        cb(q->arg, 0, &copy.pin, buf_str(&copy.module), &copy.err);
    }
    buf_fini(&copy.module);
}

static void finish(struct module_reference *q)
{
    struct err err = { 0 };
    if (write_record(q, &err) < 0)
        log_warn("a module cannot be kept for the next start", "reason=\"%s\"", err_text(&err));
    else if (q->all->n_running == 1)
        tidy(q->all);
    end(q, 0);
}

static void on_fetched(void *arg, int r, const struct err *err)
{
    struct module_reference *q = arg;
    q->fetch = NULL;
    q->err = r < 0 ? *err : (struct err){ 0 };
    if (r >= 0 && !load(q))
        r = err_set(&q->err, -EIO, "the module that was fetched cannot be read");
    if (r < 0)
        failed(q, r);
    else
        finish(q);
}

/* By the manifest's digest, since the tag may move meanwhile. */
static int fetch(struct module_reference *q, struct err *err)
{
    struct oci_reference pinned = q->ref;
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(SLAB_MAX_BYTES);
    pinned.tag[0] = '\0';
    pinned.has_digest = true;
    int r = oci_digest_parse(str_of(q->pin.manifest), &pinned.digest, err);
    format(&pinned, &name);
    scoped(free_scoped) char *url = xasprintf(MODULE_ARTIFACT_SCHEME "%s", buf_cstr(&name));
    scoped(free_scoped) char *path = module_path(q);
    const struct module_fetch_opts opts = { .loop = q->all->opts.loop,
                                            .url = url,
                                            .sha256 = q->pin.sha256,
                                            .path = path,
                                            .max_bytes = MODULE_WASM_BYTES_MAX,
                                            .idle_ms = MODULE_REFERENCE_IDLE_MS,
                                            .site = &q->all->opts.site,
                                            .login = &q->login };
    r = r < 0 ? r : sys_mkdir_all(q->all->dir, 0700, err);
    return r < 0 ? r : module_fetch_start(&opts, on_fetched, q, &q->fetch, err);
}

static void on_found(void *arg, const struct module_artifact_found *found)
{
    struct module_reference *q = arg;
    oci_digest_format(&found->manifest, q->pin.manifest);
    hex_format(found->module.bytes, sizeof found->module.bytes, q->pin.sha256);
}

static void on_resolved(void *arg, int r, const struct err *err)
{
    struct module_reference *q = arg;
    q->artifact = NULL;
    q->err = r < 0 ? *err : (struct err){ 0 };
    if (r >= 0 && q->looks) {
        end(q, 0);
        return;
    }
    if (r >= 0 && load(q)) {
        finish(q);
        return;
    }
    r = r < 0 ? r : fetch(q, &q->err);
    if (r < 0)
        failed(q, r);
}

static int resolve(struct module_reference *q, struct err *err)
{
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(SLAB_MAX_BYTES);
    format(&q->ref, &name);
    scoped(free_scoped) char *url = xasprintf(MODULE_ARTIFACT_SCHEME "%s", buf_cstr(&name));
    const struct module_artifact_opts opts = { .loop = q->all->opts.loop,
                                               .url = url,
                                               .max_bytes = MODULE_WASM_BYTES_MAX,
                                               .idle_ms = MODULE_REFERENCE_IDLE_MS,
                                               .site = &q->all->opts.site,
                                               .login = &q->login,
                                               .on_found = on_found,
                                               .on_end = on_resolved,
                                               .arg = q };
    return module_artifact_start(&opts, &q->artifact, err);
}

static void on_login(void *arg, int r, const struct oci_login *login, const struct err *err)
{
    struct module_reference *q = arg;
    q->finding = NULL;
    q->err = r < 0 ? *err : (struct err){ 0 };
    if (r >= 0) {
        oci_login_copy(&q->login, login);
        r = resolve(q, &q->err);
    }
    if (r < 0)
        failed(q, r);
}

/* ---- beginning ---- */

static int start(struct module_references *all, const char *url, bool looks, module_reference_cb cb,
                 void *arg, struct module_reference **ret, struct err *err)
{
    struct module_reference *q = xnew(struct module_reference);
    *q = (struct module_reference){ .all = all, .looks = looks, .cb = cb, .arg = arg };
    buf_init(&q->module, MODULE_WASM_BYTES_MAX);
    all->n_running++;
    int r = module_artifact_parse(url, &q->ref, err);
    if (r >= 0 && !looks && q->ref.has_digest && use_copy(q))
        end(q, 0);
    else if (r >= 0)
        r = module_login_start(all->opts.loop, &q->ref, on_login, q, &q->finding, err);
    if (q->finding && !looks)
        timer_start(all->opts.loop, &q->patience, MODULE_REFERENCE_PATIENCE_MS, on_patience);
    if (r < 0) {
        free_reference(q);
        return r;
    }
    *ret = q;
    return 0;
}

int module_reference_get(struct module_references *all, const char *url, module_reference_cb cb,
                         void *arg, struct module_reference **ret, struct err *err)
{
    return start(all, url, false, cb, arg, ret, err);
}

int module_reference_look(struct module_references *all, const char *url, module_reference_cb cb,
                          void *arg, struct module_reference **ret, struct err *err)
{
    return start(all, url, true, cb, arg, ret, err);
}

bool module_reference_may_move(const char *url)
{
    struct oci_reference ref;
    return module_artifact_is(url) && module_artifact_parse(url, &ref, NULL) >= 0 &&
           !ref.has_digest;
}

struct module_references *module_references_new(const struct module_references_opts *opts)
{
    struct module_references *all = xnew(struct module_references);
    all->opts = *opts;
    all->dir = xstrdup(opts->dir);
    list_init(&all->background);
    return all;
}

void module_references_free(struct module_references *all)
{
    if (!all)
        return;
    list_each_safe (node, &all->background)
        module_reference_cancel(list_entry(node, struct module_reference, node));
    assert(all->n_running == 0);
    free(all->dir);
    free(all);
}
