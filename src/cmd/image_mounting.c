/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/image_mounting.h"

#include "base/buf.h"
#include "base/sys.h"
#include "cmd/image_source.h"
#include "codec/json.h"
#include "image/layer_rights.h"
#include "image/stored_layers.h"
#include "oci/pull.h"

#include <errno.h>
#include <unistd.h>

enum { UID_MAP_MAX = 4096 };

enum image_mounting_users image_mounting_users(void)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(UID_MAP_MAX);
    if (sys_read_file(-1, "/proc/self/uid_map", &b, NULL) < 0 ||
        str_find(buf_str(&b), STR("4294967295")) >= 0)
        return IMAGE_MOUNTING_USERS_ALL;
    /* "inside outside count", a line each */
    struct str map = str_trim(buf_str(&b));
    return str_find(map, STR("\n")) < 0 && str_has_suffix(map, STR(" 1"))
               ? IMAGE_MOUNTING_USERS_ONE
               : IMAGE_MOUNTING_USERS_SOME;
}

char *image_mounting_store(const char *given, const char *data_dir)
{
    const char *env = getenv("DORMOUSE_IMAGE_STORE");
    if (given || !data_dir || (env && *env))
        return image_store_dir(given);
    scoped(free_scoped) char *dir = cmd_data_dir(data_dir);
    return xasprintf("%s/images", dir);
}

/* ---- from the store: into it ---- */

static void origin_scoped(struct oci_origin *origin)
{
    oci_origin_close(origin);
}

static void warn_original(void *arg, const char *why)
{
    (void)arg;
    image_warn_original(why);
}

/* Into the store, without a name there. */
static int pull(const struct image_mounting *m, struct oci_store *store, struct oci_digest *ret,
                struct err *err)
{
    struct oci_pull_result res;
    struct oci_pull_opts how = { .platform = m->args->wanted,
                                 .demands_platform = m->args->platform != NULL,
                                 .max_tar_bytes = m->max_bytes,
                                 .prefers_refactored = !m->wants_original,
                                 .on_original = warn_original,
                                 .reading = &layer_child_reading,
                                 .may_show = layer_rights_is_public };
    scoped(origin_scoped) struct oci_origin origin = { 0 };
    int r = oci_origin_open(str_of(m->reference), &m->args->registry, &origin, err);
    how.origin = origin;
    r = r < 0 ? r : oci_pull(store, &how, &res, err);
    if (r >= 0)
        *ret = res.manifest;
    return r;
}

/* The manifest of an image that has to be there already. */
static int find(const struct image_mounting *m, struct oci_digest *ret, struct err *err)
{
    scoped(image_opened_fini_scoped) struct image_opened o = { 0 };
    int r = image_open(m->args, m->reference, &o, err);
    if (r >= 0)
        *ret = o.image.digest;
    return r;
}

/* Another image of the store has a layer of this one. */
static bool has_shared_layer(struct oci_store *store, const struct oci_image *image)
{
    struct oci_store_layer *all = NULL;
    size_t n = 0;
    bool has = false;
    if (oci_store_layers(store, &all, &n, NULL) < 0)
        return false;
    for (size_t i = 0; i < image->config.n_diff_ids; i++)
        for (size_t k = 0; k < n; k++)
            has |= all[k].n_images > 1 &&
                   oci_digest_equal(&all[k].diff_id, &image->config.diff_ids[i]);
    free(all);
    return has;
}

static uint64_t memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
}

/* Layer by layer, where that was asked for or is better; E_UNSUPPORTED: not this image. */
static int mount_by_layers(struct image_mounting *m, const struct stored *stored, struct err *err)
{
    bool is_wanted = m->sink == ROOT_SINK_LAYERS;
    if (!is_wanted &&
        (m->sink != ROOT_SINK_BEST || m->is_alone ||
         !stored_layers_are_better(memory_bytes(), has_shared_layer(stored->store, stored->image))))
        return E_UNSUPPORTED;
    struct root_opts with = m->with;
    with.sink = ROOT_SINK_LAYERS;
    int r = root_mount_stored(stored, m->state, m->target, &with, err);
    m->used = ROOT_SINK_LAYERS;
    return r;
}

static int mount_loaded(struct image_mounting *m, struct oci_store *store,
                        const struct oci_image *image, struct err *err)
{
    struct err why = { 0 };
    const struct stored stored = { store, image, m->args->parent };
    const struct unpack_from from = { image, NULL, store };
    int r = m->sink == ROOT_SINK_CAS ? stored_share(&stored, &why) : 0;
    bool has_objects = r >= 0 && stored_has_objects(&stored);
    if (has_objects && m->sink != ROOT_SINK_CAS && !stored_can_mount(store, true))
        r = err_set(&why, E_UNSUPPORTED, "this kernel cannot mount files that images share");
    bool can_other = m->sink != ROOT_SINK_CAS && m->sink != ROOT_SINK_LAYERS;
    bool can_store = r >= 0;
    if (can_store)
        r = mount_by_layers(m, &stored, &why);
    if (can_store && r == E_UNSUPPORTED && m->sink != ROOT_SINK_LAYERS) {
        r = root_mount_stored(&stored, m->state, m->target, &m->with, &why);
        m->used = has_objects ? ROOT_SINK_CAS : ROOT_SINK_TARFS;
    }
    m->is_stored = r >= 0;
    if (r == E_UNSUPPORTED && can_other) /* its tars do not fit: a copy of them */
        return root_mount(&from, m->state, m->target, &m->with, &m->used, err);
    return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
}

/* ---- from the store, while another process writes it ---- */

static void on_event(void *arg, const struct json *v)
{
    (void)arg;
    if (!json_getc(v, "original"))
        return;
    scoped(free_scoped) char *why = str_dup(json_get_str(v, "original"));
    image_warn_original(why);
}

/* That process leases the image, and writes what the mount needs. */
static int ask(struct image_mounting *m, const struct oci_store_opts *how, const char *lease,
               struct json **ret, struct err *err)
{
    struct str image = str_of(m->reference);
    bool is_there = image_is_in_store(m->reference);
    struct store_do d = { .opts = *how,
                          .on_event = on_event,
                          .job = { .kind = STORE_JOB_MOUNT,
                                   .images = &image,
                                   .n_images = is_there,
                                   .lease = str_of(lease),
                                   .symlink_parent = m->args->parent,
                                   .is_sharing = m->sink == ROOT_SINK_CAS,
                                   .pull = { .platform = str_of(m->args->platform),
                                             .max_tar_bytes = m->max_bytes,
                                             .wants_original = m->wants_original } } };
    int r = is_there ? 0
                     : image_source_pull(m->reference, &m->args->registry, &m->documents,
                                         &d.job.pull, &d.alone, err);
    if (r >= 0 && d.alone) /* a copy can be had */
        return err_set(err, E_UNSUPPORTED, "the process that writes the store %s", d.alone);
    return r < 0 ? r : image_store_do(m->args->store, &d, &m->documents, ret, err);
}

static int mount_leased(struct image_mounting *m, struct oci_store *store, const struct json *v,
                        struct err *err)
{
    struct oci_image image = { 0 };
    const struct stored stored = { store, &image, m->args->parent };
    struct str why = json_get_str(v, "unsupported");
    int r = oci_digest_parse(json_get_str(v, "digest"), &image.digest, err);
    r = r < 0 ? r
              : oci_store_image_load(store, &image.digest, &m->documents, &image.manifest,
                                     &image.config, err);
    if (r >= 0 && m->args->platform)
        r = oci_platform_check(&m->args->wanted, &image.config, err);
    if (r < 0)
        return r;
    m->config = image.config;
    if (why.n)
        return err_set(err, E_UNSUPPORTED, STR_FMT, STR_ARG(why));
    bool has_objects = stored_has_objects(&stored);
    if (has_objects && !stored_can_mount(store, true))
        return err_set(err, E_UNSUPPORTED, "this kernel cannot mount files that images share");
    m->used = has_objects ? ROOT_SINK_CAS : ROOT_SINK_TARFS;
    return root_mount_claimed(&stored, m->state, m->target, &m->with, err);
}

/* Whether the job has ended, so that there is no lease after an error. */
static bool is_certain(int r)
{
    return r != -EBUSY && r != E_PARSE;
}

/* The image cannot be mounted from the store, or the process does no such job for this user. */
static bool can_copy_instead(int r)
{
    return r == E_UNSUPPORTED || r == E_DENIED || r == E_INVALID;
}

static int claim_and_mount(struct image_mounting *m, const struct oci_store_opts *how,
                           struct oci_store *store, struct err *err)
{
    scoped(free_scoped) char *lease = NULL;
    struct json *v;
    int r = root_claim(oci_store_root(store), m->state, &lease, err);
    if (r < 0)
        return r;
    r = ask(m, how, lease, &v, err);
    if (r < 0 && is_certain(r)) {
        root_unclaim(m->state);
        return r;
    }
    r = r < 0 ? r : mount_leased(m, store, v, err);
    if (r < 0)
        (void)root_umount(m->state, m->target, m->wait_ms, NULL);
    return r;
}

/* m->is_over, unless that is left to mount_copied(), for --sink auto and tarfs. */
static int mount_beside(struct image_mounting *m, const struct oci_store_opts *how, struct err *err)
{
    scoped(image_store_close_scoped) struct oci_store *store = NULL;
    const struct oci_store_opts reader = { .is_reader = true };
    struct err why = { 0 };
    int r = image_store_open(m->args->store, reader, &store, err);
    if (r < 0)
        return r;
    r = stored_can_mount(store, m->sink == ROOT_SINK_CAS)
            ? claim_and_mount(m, how, store, &why)
            : err_set(&why, E_UNSUPPORTED,
                      "this kernel cannot mount images of the store in this form");
    m->is_stored = m->is_over = r >= 0;
    bool can_copy = m->sink == ROOT_SINK_BEST || m->sink == ROOT_SINK_TARFS;
    if (can_copy && can_copy_instead(r))
        return 0;
    return r < 0 ? err_set(err, r, "image '%s': %s", m->reference, err_text(&why)) : 0;
}

/* ---- from the store ---- */

/* As files; E_UNSUPPORTED is left to mount_copied(). */
static int mount_linked(struct image_mounting *m, struct oci_store *store,
                        const struct oci_image *image, struct err *err)
{
    struct err why = { 0 };
    const struct stored stored = { store, image, m->args->parent };
    int r = root_mount_linked(&stored, m->state, m->target, &m->with, &why);
    m->used = ROOT_SINK_DIRS;
    m->is_over = r >= 0;
    return r < 0 && r != E_UNSUPPORTED ? err_set(err, r, "%s", err_text(&why)) : 0;
}

/* Links, and layers one by one, are made by the process that writes the store for itself alone. */
static bool can_ask(const struct image_mounting *m)
{
    scoped(free_scoped) char *root = image_store_dir(m->args->store);
    struct oci_store_holder holder;
    oci_store_holder(root, &holder);
    return holder.has_control && !str_has_prefix(str_of(m->reference), STR("store:")) &&
           m->sink != ROOT_SINK_DIRS && m->sink != ROOT_SINK_LAYERS;
}

static int mount_stored(struct image_mounting *m, struct err *err)
{
    struct oci_image image = { 0 };
    struct err why = { 0 };
    bool is_there = image_is_in_store(m->reference);
    int r = is_there ? find(m, &image.digest, err) : 0;
    if (r < 0 || (m->sink == ROOT_SINK_DIRS && !is_there))
        return r;
    bool can_copy = m->sink == ROOT_SINK_DIRS || m->sink == ROOT_SINK_BEST;
    scoped(image_store_close_scoped) struct oci_store *store = NULL;
    enum oci_store_form form = m->sink == ROOT_SINK_CAS ? OCI_STORE_CAS : OCI_STORE_RAW;
    const struct oci_store_opts how = {
        .lock_ms = m->wait_ms,
        .is_hasty = m->sink != ROOT_SINK_LAYERS,
        .form = form,
        .must_exist = is_there,
        .is_as_before = is_there, /* a mount is over when the machine stops */
    };
    r = image_store_open(m->args->store, how, &store, &why);
    if (r == -EBUSY && can_ask(m))
        return mount_beside(m, &how, err);
    if (r == -EBUSY && can_copy)
        return 0; /* files or tars of its own: those of the store take a writer */
    if (r == -EBUSY && m->sink == ROOT_SINK_LAYERS)
        return err_set(err, r,
                       "%s; --sink layers needs the lock of the store, --sink tarfs and cas do not",
                       err_text(&why));
    if (r < 0)
        return err_set(err, r, "%s", err_text(&why));
    bool can = m->sink != ROOT_SINK_DIRS && stored_can_mount(store, m->sink == ROOT_SINK_CAS);
    if (!can && !(can_copy && is_there))
        return 0;
    r = is_there ? 0 : pull(m, store, &image.digest, err);
    r = r < 0 ? r
              : oci_store_image_load(store, &image.digest, &m->documents, &image.manifest,
                                     &image.config, err);
    if (r >= 0 && is_there)
        oci_store_image_touch(store, &image.config);
    if (can && r >= 0) {
        r = mount_loaded(m, store, &image, err);
        m->is_over = r >= 0;
    } else if (r >= 0) {
        r = mount_linked(m, store, &image, err);
    }
    m->config = image.config;
    return r < 0 ? err_ctx(err, r, "image '%s'", m->reference) : 0;
}

/* ---- from wherever it is ---- */

static int mount_copied(struct image_mounting *m, struct err *err)
{
    int r = image_open(m->args, m->reference, &m->opened, err);
    if (r < 0)
        return r;
    const struct unpack_from from = { &m->opened.image, m->opened.source, m->opened.store };
    r = root_mount(&from, m->state, m->target, &m->with, &m->used, err);
    m->config = m->opened.image.config;
    return r < 0 ? err_ctx(err, r, "image '%s'", m->reference) : 0;
}

int image_mounting_mount(struct image_mounting *m, struct err *err)
{
    const bool is_user = image_mounting_users() != IMAGE_MOUNTING_USERS_ALL;
    m->with = (struct root_opts){
        .unpack = { .dir = { .form = is_user ? LAYER_DIR_OVERLAY_USER : LAYER_DIR_MERGED,
                             .symlink_parent = m->args->parent,
                             .is_rootless = m->is_rootless },
                    .max_bytes = m->max_bytes,
                    .is_not_durable = m->is_not_durable },
        .sink = m->is_rootless && m->sink == ROOT_SINK_BEST ? ROOT_SINK_DIRS : m->sink,
        .is_writable = m->is_writable,
        .has_suid = m->has_suid,
    };
    int r = is_user || m->is_rootless ? 0 : mount_stored(m, err);
    return r < 0 || m->is_over ? r : mount_copied(m, err);
}

void image_mounting_fini(struct image_mounting *m)
{
    image_opened_fini(&m->opened);
    arena_fini(&m->documents);
}
