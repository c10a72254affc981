/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of containerd, on the state and the directories; see snapshotter.h. A directory is made
 * and synced before the journal names it, and removed after the journal has forgotten it.
 */
#include "image/snapshotter.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "image/snapshot_usage.h"
#include "image/snapshotter_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* ---- opening ---- */

static int open_state(struct snapshotter *s, struct err *err)
{
    if (faccessat(s->root_fd, SNAPSHOTTER_JOURNAL, F_OK, 0) < 0 && snapshotter_has_dirs(s))
        return err_set(err, E_CORRUPT,
                       "'%s/" SNAPSHOTTER_JOURNAL "' is missing, and there are files beside it",
                       s->root);
    int r = snapshot_journal_open(s->root_fd, SNAPSHOTTER_JOURNAL, s->state, &s->journal, err);
    r = r < 0 ? err_ctx(err, r, "'%s'", s->root) : snapshotter_sort_dirs(s, err);
    if (r >= 0 && snapshotter_cleanup(s, NULL) < 0)
        log_warn("layers that no snapshot uses take room still", "root=%s", s->root);
    return r;
}

int snapshotter_open(const struct snapshotter_opts *opts, struct snapshotter **ret, struct err *err)
{
    scoped(snapshotter_close_scoped) struct snapshotter *s = xnew(struct snapshotter);
    *s = (struct snapshotter){ .store = opts->store,
                               .program = opts->program,
                               .is_not_durable = opts->is_not_durable,
                               .root_fd = -1,
                               .lock_fd = -1,
                               .dirs_fd = -1,
                               .tmp_fd = -1,
                               .trash_fd = -1,
                               .state = snapshot_state_new() };
    (void)pthread_mutex_init(&s->mutex, NULL);
    int r = snapshotter_open_dirs(s, opts->root, err);
    r = r < 0 ? r : open_state(s, err);
    if (r >= 0)
        *ret = take_ptr(&s);
    return r;
}

void snapshotter_close(struct snapshotter *s)
{
    if (!s)
        return;
    map_each (e, &s->pins)
        free(e->value);
    map_fini(&s->pins);
    snapshot_journal_free(s->journal);
    snapshot_state_free(s->state);
    (void)pthread_mutex_destroy(&s->mutex);
    fd_scoped(&s->trash_fd);
    fd_scoped(&s->tmp_fd);
    fd_scoped(&s->dirs_fd);
    fd_scoped(&s->lock_fd);
    fd_scoped(&s->root_fd);
    free(s->root);
    free(s);
}

static void lock(struct snapshotter *s)
{
    (void)pthread_mutex_lock(&s->mutex);
}

static void unlock(struct snapshotter *s)
{
    (void)pthread_mutex_unlock(&s->mutex);
}

/* ---- preparing ---- */

static struct snapshot_event event_of(const struct snapshotter_request *req)
{
    return (struct snapshot_event){ .op = SNAPSHOT_ADD,
                                    .name = req->key,
                                    .parent = req->parent,
                                    .kind = req->kind,
                                    .wall_us = clock_wall_us(),
                                    .labels = req->labels,
                                    .n_labels = req->n_labels };
}

/* With the mutex: a snapshot with a directory of its own. */
static int make_plain(struct snapshotter *s, const struct snapshotter_request *req,
                      struct snapshotter_mount *ret, struct err *err)
{
    char name[SNAPSHOTTER_DIR_NAME], gone[17];
    struct snapshot_info parent = { 0 }, info;
    struct snapshot_event e = event_of(req);
    e.dir = snapshotter_next_dir(s);
    int r = snapshot_state_check(s->state, &e, err);
    if (r < 0)
        return r;
    if (req->parent.n)
        (void)snapshot_state_get(s->state, req->parent, &parent, NULL);
    r = snapshotter_make_dir(s, e.dir, parent.dir, err);
    if (r < 0)
        return r;
    r = snapshot_journal_do(s->journal, s->state, &e, err);
    if (r < 0) {
        snapshotter_dir_name(e.dir, name);
        if (snapshotter_discard(s, s->dirs_fd, name, gone, NULL) >= 0)
            snapshotter_empty(s, gone);
        return r;
    }
    (void)snapshot_state_get(s->state, req->key, &info, NULL);
    return snapshotter_describe(s, &info, ret, err);
}

/* What containerd asks for by its chain ID. */
struct snapshotter_wanted {
    struct str text; /* the label's value */
    struct oci_digest ref, parent;
    bool has_parent;
};

static bool read_ref(const struct snapshot_label *labels, size_t n, struct str *ret_text,
                     struct oci_digest *ret)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(labels[i].key, SNAPSHOT_REF_LABEL)) {
            *ret_text = labels[i].value;
            return oci_digest_parse(labels[i].value, ret, NULL) >= 0;
        }
    return false;
}

/* With the mutex. false: the request names no layer, or the layer of its parent is not known. */
static bool read_wanted(struct snapshotter *s, const struct snapshotter_request *req,
                        struct snapshotter_wanted *w)
{
    struct snapshot_info parent;
    struct str text;
    *w = (struct snapshotter_wanted){ .has_parent = req->parent.n > 0 };
    if (req->is_plain || req->kind != SNAPSHOT_ACTIVE ||
        !read_ref(req->labels, req->n_labels, &w->text, &w->ref))
        return false;
    return !w->has_parent || (snapshot_state_get(s->state, req->parent, &parent, NULL) >= 0 &&
                              read_ref(parent.labels, parent.n_labels, &text, &w->parent));
}

static bool makes_wanted(void *arg, const struct oci_digest *diff_id)
{
    const struct snapshotter_wanted *w = arg;
    struct oci_digest chain;
    snapshot_chain_id(w->has_parent ? &w->parent : NULL, diff_id, &chain);
    return oci_digest_equal(&chain, &w->ref);
}

static int already_exists(struct str ref, struct err *err)
{
    return err_set(err, -EEXIST, "target snapshot '" STR_FMT "' already exists", STR_ARG(ref));
}

/* With the mutex: the layer becomes the committed snapshot. */
static int make_layer(struct snapshotter *s, const struct snapshotter_request *req,
                      const struct snapshotter_wanted *w, const struct oci_digest *diff_id,
                      const struct snapshot_layer *layer, struct err *err)
{
    char name[sizeof SNAPSHOTTER_NAME_PREFIX + 16 + 1 + OCI_DIGEST_TEXT_SIZE];
    char text[OCI_DIGEST_TEXT_SIZE];
    struct snapshot_event e = event_of(req);
    oci_digest_format(&w->ref, text);
    (void)snprintf(name, sizeof name, SNAPSHOTTER_NAME_PREFIX "%016llx/%s",
                   (unsigned long long)sys_random_u64(), text);
    e.name = str_of(name);
    e.kind = SNAPSHOT_COMMITTED;
    e.dir = layer->dir;
    e.is_layer = true;
    e.diff_id = *diff_id;
    int r = snapshot_journal_do(s->journal, s->state, &e, err);
    return r < 0 ? r : already_exists(w->text, err);
}

/* With the mutex. 1: look into the store. */
static int prepare_known(struct snapshotter *s, const struct snapshotter_request *req,
                         struct snapshotter_wanted *w, struct snapshotter_mount *ret,
                         struct err *err)
{
    struct snapshot_event e = event_of(req);
    struct snapshot_info there;
    struct snapshot_layer layer;
    if (!read_wanted(s, req, w))
        return make_plain(s, req, ret, err);
    e.dir = s->last_dir + snapshot_state_highest_dir(s->state) + 1; /* of none */
    int r = snapshot_state_check(s->state, &e, err);
    if (r < 0)
        return r;
    if (snapshot_state_find(s->state, req->parent, w->text, &there))
        return already_exists(w->text, err);
    const struct oci_digest *diff_id = snapshot_state_find_layer(s->state, makes_wanted, w);
    if (!diff_id)
        return 1;
    const struct oci_digest copy = *diff_id;
    (void)snapshot_state_layer(s->state, &copy, &layer);
    if (layer.is_base && w->has_parent) {
        log_debug("a layer lacks directories of those below it: containerd fetches it",
                  "chain=" STR_FMT, STR_ARG(w->text));
        return make_plain(s, req, ret, err);
    }
    return make_layer(s, req, w, &copy, &layer, err);
}

int snapshotter_prepare(struct snapshotter *s, const struct snapshotter_request *req,
                        struct snapshotter_mount *ret, struct oci_digest *ret_layer,
                        struct err *err)
{
    struct snapshotter_wanted w;
    lock(s);
    int r = prepare_known(s, req, &w, ret, err);
    unlock(s);
    if (r <= 0)
        return r;
    return snapshotter_find_stored(s, w.has_parent ? &w.parent : NULL, &w.ref, ret_layer)
               ? SNAPSHOTTER_WANTS_LAYER
               : SNAPSHOTTER_WANTS_BYTES;
}

/* ---- the other calls ---- */

int snapshotter_mounts(struct snapshotter *s, struct str key, struct snapshotter_mount *ret,
                       struct err *err)
{
    struct snapshot_info info;
    lock(s);
    int r = snapshot_state_get(s->state, key, &info, err);
    r = r < 0 ? r : snapshotter_describe(s, &info, ret, err);
    unlock(s);
    return r;
}

/* Its texts are not to be read: another thread may remove it. */
static int look_up(struct snapshotter *s, struct str key, struct snapshot_info *ret,
                   struct err *err)
{
    lock(s);
    int r = snapshot_state_get(s->state, key, ret, err);
    unlock(s);
    return r;
}

static int measure(struct snapshotter *s, uint64_t dir, uint64_t *ret_bytes, uint64_t *ret_inodes,
                   struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/dirs/%llu/fs", s->root, (unsigned long long)dir);
    return snapshot_usage(path, ret_bytes, ret_inodes, err);
}

int snapshotter_commit(struct snapshotter *s, struct str name, struct str key,
                       const struct snapshot_label *labels, size_t n_labels, struct err *err)
{
    struct snapshot_info info;
    struct snapshot_event e = {
        .op = SNAPSHOT_COMMIT, .name = name, .key = key, .labels = labels, .n_labels = n_labels
    };
    lock(s);
    int r = snapshot_state_check(s->state, &e, err);
    if (r >= 0)
        (void)snapshot_state_get(s->state, key, &info, NULL);
    unlock(s);
    r = r < 0 ? r : measure(s, info.dir, &e.n_bytes, &e.n_inodes, err);
    if (r < 0)
        return r;
    e.wall_us = clock_wall_us();
    lock(s);
    r = snapshot_journal_do(s->journal, s->state, &e, err);
    unlock(s);
    return r;
}

/* With the mutex. gone: as in snapshotter_discard(), "" if there is nothing to remove. */
static int forget(struct snapshotter *s, struct str key, char gone[17], struct err *err)
{
    char name[SNAPSHOTTER_DIR_NAME];
    struct snapshot_info info;
    const struct snapshot_event e = { .op = SNAPSHOT_REMOVE,
                                      .name = key,
                                      .wall_us = clock_wall_us() };
    int r = snapshot_state_get(s->state, key, &info, err);
    r = r < 0 ? r : snapshot_journal_do(s->journal, s->state, &e, err);
    if (r < 0)
        return r;
    if (info.is_layer) /* what cannot be removed now is by snapshotter_cleanup() */
        (void)snapshotter_drop_layer(s, &info.diff_id, gone, NULL);
    snapshotter_dir_name(info.dir, name);
    if (!info.is_layer && snapshotter_discard(s, s->dirs_fd, name, gone, NULL) < 0)
        log_warn("a removed snapshot takes room until the next start", "root=%s directory=%s",
                 s->root, name);
    return 0;
}

int snapshotter_remove(struct snapshotter *s, struct str key, struct err *err)
{
    char gone[17] = "";
    lock(s);
    int r = forget(s, key, gone, err);
    unlock(s);
    if (gone[0])
        snapshotter_empty(s, gone);
    return r;
}

static void copy_info(struct arena *a, const struct snapshot_info *from, struct snapshot_info *ret)
{
    struct snapshot_label *labels = arena_new_n(a, struct snapshot_label, from->n_labels + 1);
    *ret = *from;
    ret->name = str_copy_arena(a, from->name);
    ret->parent = str_copy_arena(a, from->parent);
    for (size_t i = 0; i < from->n_labels; i++)
        labels[i] = (struct snapshot_label){ str_copy_arena(a, from->labels[i].key),
                                             str_copy_arena(a, from->labels[i].value) };
    ret->labels = labels;
}

int snapshotter_stat(struct snapshotter *s, struct str key, struct arena *a,
                     struct snapshot_info *ret, struct err *err)
{
    struct snapshot_info info;
    lock(s);
    int r = snapshot_state_get(s->state, key, &info, err);
    if (r >= 0)
        copy_info(a, &info, ret);
    unlock(s);
    return r;
}

/* ---- labels ---- */

struct label_set {
    struct snapshot_label *p;
    size_t n, max;
};

static const struct snapshot_label *find_label(const struct snapshot_label *labels, size_t n,
                                               struct str key)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(labels[i].key, key))
            return &labels[i];
    return NULL;
}

static int set_one(struct label_set *set, struct str key, struct str value, struct err *err)
{
    size_t i = 0;
    while (i < set->n && !str_eq(set->p[i].key, key))
        i++;
    if (value.n == 0) {
        if (i < set->n)
            set->p[i] = set->p[--set->n];
        return 0;
    }
    if (i == set->max)
        return err_set(err, E_INVALID, "more than %zu labels", set->max);
    set->p[i] = (struct snapshot_label){ key, value };
    set->n = MAX(set->n, i + 1);
    return 0;
}

static int set_labels(struct label_set *set, const struct snapshot_label *labels, size_t n_labels,
                      const struct str *paths, size_t n_paths, struct err *err)
{
    static const struct str all = { "labels", 6 };
    int r = 0;
    for (size_t i = 0; i < MAX(n_paths, (size_t)1) && r >= 0; i++) {
        struct str path = n_paths ? paths[i] : all;
        if (str_eq(path, all)) {
            set->n = 0;
            for (size_t k = 0; k < n_labels && r >= 0; k++)
                r = set_one(set, labels[k].key, labels[k].value, err);
        } else if (str_has_prefix(path, STR("labels.")) && path.n > all.n + 1) {
            struct str key = str_slice(path, all.n + 1, path.n);
            const struct snapshot_label *l = find_label(labels, n_labels, key);
            r = set_one(set, key, l ? l->value : STR(""), err);
        } else {
            r = err_set(err, E_INVALID, "cannot update the field '" STR_FMT "' of a snapshot",
                        STR_ARG(path));
        }
    }
    return r;
}

int snapshotter_label(struct snapshotter *s, struct str key, const struct snapshot_label *labels,
                      size_t n_labels, const struct str *paths, size_t n_paths, struct arena *a,
                      struct snapshot_info *ret, struct err *err)
{
    struct snapshot_info info;
    struct snapshot_label room[SNAPSHOT_LABELS_MAX];
    struct label_set set = { room, 0, SNAPSHOT_LABELS_MAX };
    struct snapshot_event e = { .op = SNAPSHOT_LABEL, .name = key, .wall_us = clock_wall_us() };
    lock(s);
    int r = snapshot_state_get(s->state, key, &info, err);
    if (r >= 0) {
        set.n = info.n_labels;
        for (size_t i = 0; i < info.n_labels; i++)
            room[i] = info.labels[i];
        r = set_labels(&set, labels, n_labels, paths, n_paths, err);
    }
    e.labels = room;
    e.n_labels = set.n;
    r = r < 0 ? r : snapshot_journal_do(s->journal, s->state, &e, err);
    r = r < 0 ? r : snapshot_state_get(s->state, key, &info, err);
    if (r >= 0)
        copy_info(a, &info, ret);
    unlock(s);
    return r;
}

/* ---- the rest ---- */

int snapshotter_usage(struct snapshotter *s, struct str key, uint64_t *ret_bytes,
                      uint64_t *ret_inodes, struct err *err)
{
    struct snapshot_info info;
    int r = look_up(s, key, &info, err);
    if (r < 0)
        return r;
    if (info.kind != SNAPSHOT_COMMITTED)
        return measure(s, info.dir, ret_bytes, ret_inodes, err);
    *ret_bytes = info.n_bytes;
    *ret_inodes = info.n_inodes;
    return 0;
}

int snapshotter_each(struct snapshotter *s, int (*fn)(void *arg, const struct snapshot_event *e),
                     void *arg)
{
    lock(s);
    int r = snapshot_state_each(s->state, fn, arg);
    unlock(s);
    return r;
}

int snapshotter_after(struct snapshotter *s, struct str after, size_t max,
                      int (*fn)(void *arg, const struct snapshot_event *e), void *arg,
                      size_t *ret_n)
{
    lock(s);
    int r = snapshot_state_after(s->state, after, max, fn, arg, ret_n);
    unlock(s);
    return r;
}

static bool is_unused(void *arg, const struct oci_digest *diff_id)
{
    struct snapshotter *s = arg;
    struct snapshot_layer layer;
    return snapshot_state_layer(s->state, diff_id, &layer) && !layer.n_snapshots &&
           !snapshotter_is_pinned(s, diff_id);
}

int snapshotter_cleanup(struct snapshotter *s, struct err *err)
{
    int r = 0;
    for (bool is_more = true; is_more && r >= 0;) {
        char gone[17] = "";
        lock(s);
        const struct oci_digest *found = snapshot_state_find_layer(s->state, is_unused, s);
        is_more = found != NULL;
        if (found) {
            const struct oci_digest diff_id = *found;
            r = snapshotter_drop_layer(s, &diff_id, gone, err);
        }
        unlock(s);
        if (gone[0])
            snapshotter_empty(s, gone);
    }
    return r;
}

size_t snapshotter_count(struct snapshotter *s)
{
    lock(s);
    size_t n = snapshot_state_count(s->state);
    unlock(s);
    return n;
}
