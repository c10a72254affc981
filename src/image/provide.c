/* SPDX-License-Identifier: Apache-2.0 */
#include "image/provide.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/sys.h"
#include "base/tree_remove.h"
#include "codec/digest.h"
#include "image/layer_child.h"
#include "image/layer_rights.h"
#include "image/layer_show.h"
#include "image/run_config.h"
#include "image/stored.h"
#include "image/unpack.h"
#include "io/address.h"
#include "modules/module_artifact.h"
#include "oci/pull.h"
#include "oci/reference.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEASE_TURNS_MAX = 4 };

void provide_result_fini(struct provided *p)
{
    free(p->dir);
    buf_fini(&p->config);
}

/* ---- names ---- */

struct provide_asked {
    const struct provide_want *want;
    bool is_file;
    struct oci_reference ref;    /* unless it is a file */
    struct oci_login login;      /* likewise */
    char *source;                /* for oci_origin_open() */
    char *plain_name, *own_name; /* in the store: without credentials, and of the tenant */
};

static void asked_fini(struct provide_asked *q)
{
    oci_login_fini(&q->login);
    free(q->source);
    free(q->plain_name);
    free(q->own_name);
}

static bool is_file(struct str reference)
{
    static const char *const kinds[] = { "oci:", "oci-archive:", "docker-archive:" };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_has_prefix(reference, str_of(kinds[i])))
            return true;
    return false;
}

static int read_reference(struct provide_asked *q, struct err *err)
{
    struct str text = q->want->reference;
    scoped(buf_fini_scoped) struct buf whole = BUF_INIT(2 * OCI_STORE_NAME_MAX);
    q->is_file = is_file(text);
    if (q->is_file) {
        q->source = str_dup(text);
        q->plain_name = str_dup(text);
        return 0;
    }
    if (str_has_prefix(text, STR("docker://")))
        text = str_slice(text, strlen("docker://"), text.n);
    int r = oci_reference_parse(text, &q->ref, err);
    if (r < 0)
        return err_ctx(err, E_INVALID, "image '" STR_FMT "'", STR_ARG(text));
    oci_reference_format(&q->ref, &whole);
    q->plain_name = xstrdup(buf_cstr(&whole));
    q->source = xasprintf("docker://%s", q->plain_name);
    r = oci_login_read_first(q->want->auths, q->want->n_auths, &q->ref, &q->login, err);
    if (r >= 0 && !oci_login_is_empty(&q->login))
        q->own_name = xasprintf("%s#tenant=" STR_FMT, q->plain_name, STR_ARG(q->want->tenant));
    return r;
}

/* "": public, since no credentials are used. */
static struct str tenant_of(const struct provide_asked *q)
{
    return q->own_name ? q->want->tenant : STR("");
}

/* ---- images in the store ---- */

/* The pull that put the name (a plan for a pod, a command) may have found layers in the store that
 * are private to another tenant. */
static bool may_have_layers(struct oci_store *s, const struct oci_digest *manifest,
                            struct str tenant, struct arena *a)
{
    struct oci_manifest doc;
    struct oci_config config;
    if (oci_store_image_load(s, manifest, a, &doc, &config, NULL) < 0)
        return false;
    for (size_t i = 0; i < config.n_diff_ids; i++)
        if (!layer_rights_has(s, &config.diff_ids[i], tenant))
            return false;
    return true;
}

static bool has_whole(struct oci_store *s, const char *name, struct str tenant,
                      struct oci_digest *ret)
{
    struct arena a = { 0 };
    struct oci_store_image image;
    size_t missing;
    bool ok = name && oci_store_image_get(s, str_of(name), &a, &image, NULL) >= 0 &&
              oci_store_image_missing(s, &image.manifest, &missing, NULL) >= 0 && missing == 0 &&
              may_have_layers(s, &image.manifest, tenant, &a);
    if (ok)
        *ret = image.manifest;
    arena_fini(&a);
    return ok;
}

/* ---- pulling ---- */

static bool is_plain(const struct provide_site *site, const char *host)
{
    for (size_t i = 0; i < site->n_plain_hosts; i++)
        if (str_is(site->plain_hosts[i], host))
            return true;
    return false;
}

struct provide_pulling {
    struct oci_store *s;
    const struct provide_asked *q;
    struct oci_remote_opts registry;
    struct layer_show show;
};

static int on_image(void *arg, const struct oci_image *image, struct err *err)
{
    struct provide_pulling *p = arg;
    layer_show_image(&p->show, image);
    if (p->q->own_name)
        return layer_rights_hide(p->s, image, err);
    layer_rights_give_documents(p->s, image, STR(""));
    return 0;
}

static void on_progress(void *arg, const struct oci_pull_layer *layers, size_t n,
                        const struct oci_pull_layer *changed)
{
    struct provide_pulling *p = arg;
    (void)layers, (void)n;
    if (p->q->want->on_bytes)
        p->q->want->on_bytes(p->q->want->arg);
    if (changed && changed->state == OCI_PULL_DONE)
        layer_rights_give(p->s, &changed->diff_id, tenant_of(p->q));
}

static int on_layers(void *arg, const struct oci_pull_layer *layers, size_t n, struct err *err)
{
    struct provide_pulling *p = arg;
    return layer_show_layers(&p->show, layers, n, err);
}

static void on_original(void *arg, const char *why)
{
    char text[LOG_QUOTE_MAX];
    const struct provide_pulling *p = arg;
    log_warn("refactored form not pulled, the image itself is", "image=%s reason=\"%s\"",
             p->q->plain_name, log_quote(text, str_of(why)));
}

static void origin_scoped(struct oci_origin *origin)
{
    oci_origin_close(origin);
}

static bool is_public(void *arg, const struct sockaddr *addr)
{
    return address_is_public(addr);
}

int provide_site_registry(const struct provide_site *site, const char *host,
                          struct oci_remote_opts *ret, struct err *err)
{
    static const struct oci_login anonymous;
    const struct module_hosts hosts = { site->hosts, site->n_hosts };
    const enum module_host kind = module_artifact_host(&hosts, host);
    if (kind == MODULE_HOST_DENIED)
        return err_set(err, E_DENIED,
                       "this worker takes no images of the registry '%s' (--image-registry)", host);
    *ret = (struct oci_remote_opts){ .ca_file = site->ca_file,
                                     .plain_http = is_plain(site, host),
                                     .login = &anonymous,
                                     .no_address = "--image-registry HOST:PORT names it",
                                     .may_connect = kind == MODULE_HOST_PUBLIC ? is_public : NULL };
    return 0;
}

static int pull(struct oci_store *s, const struct provide_site *site, const struct provide_asked *q,
                struct oci_digest *ret, struct err *err)
{
    struct provide_pulling p = { .s = s, .q = q, .registry = { .ca_file = site->ca_file } };
    int r = q->is_file ? 0 : provide_site_registry(site, q->ref.host, &p.registry, err);
    if (r < 0)
        return r;
    p.registry.login = &q->login;
    p.registry.no_login =
        q->want->n_auths ? "none in its imagePullSecrets" : "it names no imagePullSecrets";
    p.registry.stop = q->want->stop;
    p.show = (struct layer_show){ .s = s,
                                  .reference = q->source,
                                  .registry = &p.registry,
                                  .platform = oci_platform_here(),
                                  .tenant = tenant_of(q) };
    struct oci_pull_opts opts = { .name = str_of(q->own_name ? q->own_name : q->plain_name),
                                  .platform = oci_platform_here(),
                                  .reading = &layer_child_reading,
                                  .is_whole = q->own_name != NULL,
                                  /* Files of layers that are private to others must not be
                                   * found through digests. */
                                  .is_by_blobs = true,
                                  .prefers_refactored = true,
                                  .stop = q->want->stop,
                                  .on_progress = on_progress,
                                  .on_image = on_image,
                                  .on_layers = on_layers,
                                  .on_original = on_original,
                                  .arg = &p };
    struct oci_pull_result res;
    scoped(origin_scoped) struct oci_origin origin = { 0 };
    if (q->want->on_pulling)
        q->want->on_pulling(q->want->arg);
    r = oci_origin_open(str_of(q->source), &p.registry, &origin, err);
    opts.origin = origin;
    r = r < 0 ? r : oci_pull(s, &opts, &res, err);
    layer_show_fini(&p.show);
    if (q->want->on_pulled)
        q->want->on_pulled(q->want->arg);
    if (r >= 0)
        *ret = res.manifest;
    return r;
}

static int find_or_pull(struct oci_store *s, const struct provide_site *site,
                        const struct provide_asked *q, struct provided *to, struct err *err)
{
    if (q->want->policy != PROVIDE_ALWAYS &&
        (has_whole(s, q->plain_name, tenant_of(q), &to->manifest) ||
         has_whole(s, q->own_name, tenant_of(q), &to->manifest)))
        return 0;
    if (q->want->policy == PROVIDE_NEVER)
        return err_set(err, -ENOENT,
                       "it is not in the store, and the policy says never to pull it");
    to->was_pulled = true;
    return pull(s, site, q, &to->manifest, err);
}

bool provide_has(struct oci_store *s, struct str reference, struct str tenant)
{
    const struct provide_want want = { .reference = reference, .tenant = tenant };
    struct provide_asked q = { .want = &want };
    struct oci_digest ignored;
    bool has = read_reference(&q, NULL) >= 0;
    if (has && !q.own_name)
        q.own_name = xasprintf("%s#tenant=" STR_FMT, q.plain_name, STR_ARG(tenant));
    has = has && (has_whole(s, q.plain_name, tenant, &ignored) ||
                  has_whole(s, q.own_name, tenant, &ignored));
    asked_fini(&q);
    return has;
}

/* ---- the root file system ---- */

/* Several threads may want the same one; all of them wait for the disk anyway. */
static pthread_mutex_t unpacking = PTHREAD_MUTEX_INITIALIZER;

static int write_root(struct oci_store *s, const struct oci_image *image, const char *root,
                      struct err *err)
{
    /* As overlayfs shows it, which other engines use. */
    const struct unpack_opts opts = { .dir = { .form = LAYER_DIR_MERGED,
                                               .symlink_parent = OCI_SYMLINK_PARENT_SHADOW,
                                               .has_no_devices = true } };
    const struct unpack_from from = { image, NULL, s };
    struct layer_dir_counts ignored;
    if (access(root, F_OK) == 0)
        return 0;
    int r = unpack_image(&from, root, &opts, &ignored, err);
    return r < 0 ? err_ctx(err, r, "root file system") : 0;
}

/* No tenant has blanks. */
#define MOUNTED_PLACE "of all, mounted"

static struct str place_of_want(const struct provide_want *want)
{
    return want->is_mounted ? STR(MOUNTED_PLACE) : want->tenant;
}

/* What an earlier boot left is an empty directory; what is not empty was written. */
static int mount_root(struct oci_store *s, const struct oci_image *image, const char *root,
                      struct err *err)
{
    const struct stored stored = { s, image, OCI_SYMLINK_PARENT_SHADOW };
    const struct mount_opts how = { .is_read_only = true };
    if (mount_is_point(root) || (rmdir(root) < 0 && errno != ENOENT))
        return 0;
    if (!stored_can_mount(s, false) || stored_has_objects(&stored))
        return err_set(err, E_UNSUPPORTED, "images of this store cannot be mounted here");
    int r = stored_prepare(&stored, err);
    if (r < 0)
        return r;
    r = sys_mkdirat(AT_FDCWD, root, 0755);
    r = r < 0 ? err_sys(err, r, "make '%s'", root) : stored_mount(&stored, root, &how, err);
    if (r < 0)
        (void)rmdir(root);
    return r;
}

static int mount_or_write_root(struct oci_store *s, const struct oci_image *image,
                               const struct provide_want *want, const char *root, struct err *err)
{
    struct err why = { 0 };
    char text[LOG_QUOTE_MAX];
    int r = want->is_mounted ? mount_root(s, image, root, &why) : E_UNSUPPORTED;
    if (r >= 0)
        return r;
    if (want->is_mounted)
        log_debug("an image is unpacked, not mounted", "reason=\"%s\"",
                  log_quote(text, str_of(err_text(&why))));
    return write_root(s, image, root, err);
}

static void tenant_hex(struct str tenant, char ret[PROVIDE_TENANT_DIGITS + 1])
{
    uint8_t hash[SHA256_BYTES];
    sha256_of(tenant, hash);
    hex_format(hash, PROVIDE_TENANT_DIGITS / 2, ret);
}

/* images/<manifest>/<tenant>, made if it is missing. Given, free(). */
static int tenant_dir(struct oci_store *s, const struct oci_digest *manifest, struct str tenant,
                      char **ret, struct err *err)
{
    char hex[PROVIDE_TENANT_DIGITS + 1];
    scoped(free_scoped) char *dir = NULL;
    int r = oci_store_image_dir(s, manifest, &dir, err);
    if (r < 0)
        return r;
    tenant_hex(tenant, hex);
    scoped(free_scoped) char *path = xasprintf("%s/%s", dir, hex);
    r = sys_mkdirat(AT_FDCWD, path, 0700);
    if (r < 0 && r != -EEXIST)
        return err_sys(err, r, "make '%s'", path);
    *ret = take_ptr(&path);
    return 0;
}

static int make_root(struct oci_store *s, const struct provide_want *want, struct provided *p,
                     struct err *err)
{
    struct arena a = { 0 };
    struct oci_image image = { .digest = p->manifest };
    struct str text;
    scoped(free_scoped) char *root = NULL;
    scoped(fd_scoped) int fd = -1;
    int r = oci_store_image_load(s, &p->manifest, &a, &image.manifest, &image.config, err);
    if (r >= 0 && !p->was_pulled)
        oci_store_image_touch(s, &image.config);
    r = r < 0 ? r : oci_store_document(s, &image.manifest.config.digest, &a, &text, err);
    r = r < 0 ? r : tenant_dir(s, &p->manifest, place_of_want(want), &p->dir, err);
    if (r >= 0) {
        root = xasprintf("%s/rootfs", p->dir);
        (void)pthread_mutex_lock(&unpacking);
        r = mount_or_write_root(s, &image, want, root, err);
        (void)pthread_mutex_unlock(&unpacking);
    }
    if (r >= 0 && (fd = sys_openat(AT_FDCWD, root, O_PATH | O_DIRECTORY, 0)) < 0)
        r = err_sys(err, fd, "open '%s'", root);
    r = r < 0 ? r : run_config_make(text, fd, &p->config, &p->n_program, err);
    arena_fini(&a);
    return r;
}

/* ---- the whole ---- */

/* Given, free(). */
static char *lease_of(const struct provide_want *want, const struct oci_digest *manifest)
{
    char text[OCI_DIGEST_TEXT_SIZE], tenant[PROVIDE_TENANT_DIGITS + 1];
    oci_digest_format(manifest, text);
    tenant_hex(place_of_want(want), tenant);
    return xasprintf(STR_FMT ":%s/%s", STR_ARG(want->lease), text + strlen("sha256:"), tenant);
}

/* gc may remove an image that was found before it is leased. */
static int find_and_lease(struct oci_store *s, const struct provide_site *site,
                          const struct provide_asked *q, struct provided *to, char **ret_lease,
                          struct err *err)
{
    int r = 0;
    for (unsigned turn = 0; turn < LEASE_TURNS_MAX; turn++) {
        struct err why = { 0 };
        r = find_or_pull(s, site, q, to, err);
        if (r < 0)
            return r;
        scoped(free_scoped) char *lease = lease_of(q->want, &to->manifest);
        r = oci_store_lease(s, str_of(lease), &to->manifest, true, &why);
        if (r >= 0)
            *ret_lease = take_ptr(&lease);
        if (r != -ENOENT)
            return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
        (void)err_set(err, r, "%s", err_text(&why));
    }
    return r;
}

int provide_image(struct oci_store *s, const struct provide_site *site,
                  const struct provide_want *want, struct provided *ret, struct err *err)
{
    struct provide_asked q = { .want = want };
    struct provided p = { .config = BUF_INIT(RUN_CONFIG_MAX) };
    scoped(free_scoped) char *lease = NULL;
    int r = read_reference(&q, err);
    r = r < 0 ? r : find_and_lease(s, site, &q, &p, &lease, err);
    bool is_leased = r >= 0;
    r = r < 0 ? r : make_root(s, want, &p, err);
    if (r < 0 && is_leased)
        (void)oci_store_lease_drop(s, str_of(lease), NULL);
    asked_fini(&q);
    if (r < 0) {
        provide_result_fini(&p);
        return r;
    }
    *ret = p;
    return 0;
}

/* ---- after the last use ---- */

/* "<manifest>/<tenant>" of a lease. */
static struct str place_of(struct str lease)
{
    struct str place = lease, owner;
    while (str_find_char(place, ':') >= 0)
        (void)str_cut(place, ':', &owner, &place);
    return place;
}

static bool is_hex(struct str s, size_t n)
{
    bool ok = s.n == n;
    for (size_t i = 0; ok && i < s.n; i++)
        ok = (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f');
    return ok;
}

static bool is_place(struct str place)
{
    struct str manifest, tenant;
    return str_cut(place, '/', &manifest, &tenant) && is_hex(manifest, SHA256_BYTES * 2) &&
           is_hex(tenant, PROVIDE_TENANT_DIGITS);
}

struct other_leases {
    struct str lease, place;
    size_t n;
};

static int count_other(void *arg, struct str id, const struct oci_digest *manifest, struct err *err)
{
    struct other_leases *o = arg;
    (void)manifest, (void)err;
    o->n += !str_eq(id, o->lease) && str_eq(place_of(id), o->place);
    return 0;
}

static void end_mount(const char *dir)
{
    scoped(free_scoped) char *root = xasprintf("%s/rootfs", dir);
    if (mount_is_point(root) && umount2(root, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
        log_warn("an image stays mounted", "path=\"%s\" error=\"%s\"", root, err_strerror(-errno));
}

/* A user of the image takes its lease first, then the lock, to look whether it is mounted. */
static void end_unused_mount(struct oci_store *s, struct str lease, const char *dir)
{
    struct other_leases others = { lease, place_of(lease), 0 };
    (void)pthread_mutex_lock(&unpacking);
    if (oci_store_lease_each(s, count_other, &others, NULL) >= 0 && others.n == 0)
        end_mount(dir);
    (void)pthread_mutex_unlock(&unpacking);
}

int provide_drop(struct oci_store *s, struct str lease, struct err *err)
{
    struct str place = place_of(lease);
    scoped(free_scoped) char *dir =
        xasprintf("%s/images/" STR_FMT, oci_store_root(s), STR_ARG(place));
    if (is_place(place))
        end_unused_mount(s, lease, dir);
    int r = oci_store_lease_drop(s, lease, err);
    if (r >= 0 && is_place(place))
        (void)utimensat(AT_FDCWD, dir, NULL, AT_SYMLINK_NOFOLLOW); /* its last use */
    return r;
}

struct root_sweep {
    struct oci_store *s;
    struct map leased; /* "<manifest>/<tenant>" -> not NULL */
    int64_t before_s;  /* roots that were last used before this are removed */
    bool is_dry;
    size_t n;
};

static int note_lease(void *arg, struct str id, const struct oci_digest *manifest, struct err *err)
{
    struct root_sweep *w = arg;
    (void)manifest, (void)err;
    (void)map_put(&w->leased, place_of(id), w);
    return 0;
}

static int sweep_image(struct root_sweep *w, int images_fd, const char *manifest, struct err *err)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    scoped(fd_scoped) int fd =
        sys_openat(images_fd, manifest, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    int r = fd < 0 ? err_sys(err, fd, "open '%s'", manifest) : tree_names_read(fd, &names, err);
    for (size_t i = 0; i < names.all.n && r >= 0; i++) {
        const char *tenant = names.all.p[i];
        scoped(free_scoped) char *place = xasprintf("%s/%s", manifest, tenant);
        struct stat st;
        if (!is_place(str_of(place)) || map_has(&w->leased, str_of(place)) ||
            fstatat(fd, tenant, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_mtime > w->before_s)
            continue;
        w->n++;
        scoped(free_scoped) char *path = xasprintf("%s/images/%s", oci_store_root(w->s), place);
        if (!w->is_dry) {
            end_mount(path);
            r = oci_store_discard(w->s, path, err);
        }
    }
    return r;
}

static int sweep_images(struct root_sweep *w, struct err *err)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    scoped(free_scoped) char *path = xasprintf("%s/images", oci_store_root(w->s));
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (fd == -ENOENT)
        return 0;
    int r = fd < 0 ? err_sys(err, fd, "open '%s'", path) : tree_names_read(fd, &names, err);
    for (size_t i = 0; i < names.all.n && r >= 0; i++)
        if (is_hex(str_of(names.all.p[i]), SHA256_BYTES * 2))
            r = sweep_image(w, fd, names.all.p[i], err);
    return r;
}

int provide_sweep(struct oci_store *s, uint64_t rest_s, bool is_dry, size_t *ret_n, struct err *err)
{
    struct root_sweep w = { .s = s,
                            .before_s = clock_wall_ms() / 1000 - (int64_t)rest_s,
                            .is_dry = is_dry };
    /* A user takes its lease first, and then this lock, to check whether its root exists. */
    (void)pthread_mutex_lock(&unpacking);
    int r = oci_store_lease_each(s, note_lease, &w, err);
    r = r < 0 ? r : sweep_images(&w, err);
    (void)pthread_mutex_unlock(&unpacking);
    map_fini(&w.leased);
    if (r >= 0)
        *ret_n = w.n;
    return r;
}
