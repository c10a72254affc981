/* SPDX-License-Identifier: Apache-2.0 */
#include "image/update.h"

#include "base/sys.h"
#include "codec/json.h"
#include "image/changes.h"
#include "image/documents.h"
#include "image/items.h"
#include "image/proof.h"
#include "image/second_reader.h"
#include "oci/chunked_write.h"
#include "oci/layout.h"
#include "oci/refactored.h"

enum { OLD, NEW, WHITEOUT_PREFIX = 4 };

void image_update_fini(struct image_update *u)
{
    if (!u->pair.images) /* else it is the top layer there */
        image_layer_blob_fini(&u->delta);
    image_refactoring_fini(&u->pair);
    *u = (struct image_update){ 0 };
}

/* ---- the old version ---- */

static bool is_refactored(const struct oci_image *image)
{
    struct arena a = { 0 };
    struct json *doc;
    struct oci_digest original;
    bool is = json_parse(&a, image->manifest_text, NULL, &doc, NULL) >= 0 &&
              oci_refactored_source(doc, &original);
    arena_fini(&a);
    return is;
}

int image_update_base(const char *reference, const struct image_refactor_opts *opts, char **ret,
                      struct err *err)
{
    scoped(oci_source_free_scoped) struct oci_source *source = NULL;
    scoped(buf_fini_scoped) struct buf index = BUF_INIT(OCI_DOCUMENT_MAX);
    struct oci_image image;
    struct oci_digest made[OCI_REFACTORED_TRIES];
    size_t n = 0;
    int r = oci_source_open_with(str_of(reference), opts->registry, &source, err);
    r = r < 0 ? r : oci_source_image(source, opts->platform, &image, err);
    struct oci_remote *remote = r < 0 ? NULL : oci_source_remote(source);
    bool is_plain = remote && !is_refactored(&image);
    if (is_plain)
        r = oci_remote_referrers(remote, &image.digest, &index, err);
    if (r < 0)
        return err_ctx(err, r, "image '%s'", reference);
    if (is_plain && oci_refactored_list(buf_str(&index), &image.digest, made, &n, NULL) >= 0 && n) {
        const struct oci_reference *at = oci_remote_reference(remote);
        char text[OCI_DIGEST_TEXT_SIZE];
        oci_digest_format(&made[0], text);
        *ret = xasprintf("docker://%s/%s@%s", at->host, at->repository, text);
    } else {
        *ret = xstrdup(reference);
    }
    return 0;
}

/* ---- the plan ---- */

/* Files that both versions have stay in the layers of the old one, with their times. */
static void keep_old_times(struct image_atoms *a)
{
    for (size_t i = 0; i < a->all.n; i++) {
        struct image_atom *atom = &a->all.p[i];
        const struct image_atom_use *use = &a->images[atom->owner].p[atom->use];
        for (uint32_t j = 0; j < use->n && atom->owner == OLD; j++) {
            const struct oci_entry *e = use->nodes[j]->inode->entry;
            atom->times[j].s = e->mtime_s;
            atom->times[j].ns = e->mtime_ns;
        }
    }
}

static unsigned count_deltas(const struct oci_image *image)
{
    struct arena a = { 0 };
    struct json *doc;
    unsigned n = 0;
    if (json_parse(&a, image->manifest_text, NULL, &doc, NULL) >= 0)
        json_each (layer, json_getc(doc, "layers"))
            n += str_is(json_get_str(json_getc(layer, "annotations"), IMAGE_ANNOTATION "kind"),
                        "delta");
    arena_fini(&a);
    return n;
}

static uint64_t layer_content(const struct image_member *m)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->image.manifest.n_layers; i++)
        for (size_t k = 0; k < m->layers[i]->entries.n; k++)
            n += m->layers[i]->entries.p[k].size;
    return n;
}

static void measure(struct image_update *u)
{
    const struct image_atoms *a = &u->pair.atoms;
    uint64_t kept = 0, lower = layer_content(&u->pair.group.members[OLD]);
    for (size_t i = 0; i < a->all.n; i++) {
        const struct image_atom *atom = &a->all.p[i];
        if (!image_set_has(atom->set, NEW))
            continue;
        bool is_kept = image_set_has(atom->set, OLD);
        kept += is_kept ? atom->content : 0;
        u->added += is_kept ? 0 : atom->content;
        u->n_added += !is_kept;
    }
    u->total = a->images[NEW].merged;
    u->dead = lower > kept ? lower - kept : 0;
    u->n_deltas = count_deltas(&u->pair.group.members[OLD].image);
}

static const char *refusal(const struct image_update *u)
{
    const struct image_member *old = &u->pair.group.members[OLD];
    if (old->image.manifest_text.n == 0)
        return "the old version is in an archive without a manifest";
    if (u->n_deltas >= IMAGE_DELTAS_MAX)
        return "the old version has its full number of deltas";
    if (old->image.manifest.n_layers + 1 > u->pair.opts->max_layers)
        return "the image would have too many layers";
    if (u->pair.opts->is_forced)
        return NULL;
    if (u->dead > u->total / 100 * IMAGE_DELTA_DEAD_PERCENT)
        return "too much of the old version's layers would be hidden";
    if (u->added > u->total / 100 * IMAGE_DELTA_SIZE_PERCENT)
        return "too much of the image is new";
    return NULL;
}

int image_update_plan(const char *const references[2], const struct image_refactor_opts *opts,
                      struct image_spool *spool, struct image_update *ret, struct err *err)
{
    /* The plan is that of a group of two in which everything that both have is shared. */
    static const struct image_refactor_opts pair = { .max_layers = 2, .is_forced = true };
    struct image_refactor_opts o = *opts;
    struct image_update u = { 0 };
    o.max_layers = pair.max_layers;
    o.is_forced = pair.is_forced;
    o.n_indexed = 1;
    o.layer_threshold = o.split_threshold = 0;
    int r = image_refactor_plan(references, 2, &o, spool, &u.pair, err);
    if (r < 0)
        return r;
    u.pair.opts = opts;
    keep_old_times(&u.pair.atoms);
    measure(&u);
    u.why = refusal(&u);
    *ret = u;
    return 0;
}

/* ---- the delta ---- */

static void note_parents(struct map *needed, struct str path)
{
    for (size_t at = path.n; at-- > 0;)
        if (path.p[at] == '/' && map_put(needed, str_slice(path, 0, at), needed))
            return;
}

/* A whiteout for each name that was removed, except below other removed ones. */
static void add_whiteouts(struct image_update *u, struct map *needed, struct image_items *to)
{
    const struct oci_tree *old = &u->pair.group.members[OLD].tree;
    const struct oci_tree *new = &u->pair.group.members[NEW].tree;
    map_each (at, &old->nodes) {
        const struct oci_node *node = at->value;
        if (!node->parent || oci_tree_find(new, node->path))
            continue;
        if (u->pair.opts->form.kind == IMAGE_LAYER_ESTARGZ && oci_estargz_is_own_name(node->path))
            continue; /* the delta has its own, or needs none */
        const struct oci_node *parent = oci_tree_find(new, node->parent->path);
        if (!parent || !oci_node_is_dir(parent))
            continue; /* what replaces or hides the parent hides this, too */
        size_t dir = node->parent->path.n ? node->parent->path.n + 1 : 0;
        struct image_item item = { .type = TAR_FILE };
        item.path = str_of(arena_printf(&to->memory, STR_FMT ".wh." STR_FMT,
                                        STR_ARG(str_slice(node->path, 0, dir)),
                                        STR_ARG(str_slice(node->path, dir, node->path.n))));
        item.path.n = node->path.n + WHITEOUT_PREFIX;
        vec_push(&to->all, item);
        note_parents(needed, node->path);
        u->n_gone++;
    }
}

/* Directories that are other ones now. */
static void note_changed(const struct image_update *u, struct map *needed)
{
    struct image_changes changes;
    image_changes_find(&u->pair.group.members[OLD].tree, &u->pair.group.members[NEW].tree,
                       &changes);
    for (size_t i = 0; i < changes.all.n; i++) {
        const struct oci_node *to = changes.all.p[i].to;
        if (!to || !oci_node_is_dir(to))
            continue;
        (void)map_put(needed, to->path, needed);
        note_parents(needed, to->path);
    }
    image_changes_fini(&changes);
}

/* The content of the top layer, without unchanged directories. */
static void delta_items(struct image_update *u, struct image_items *ret)
{
    struct map needed = { 0 };
    size_t n = 0;
    image_items_top(&u->pair, NEW, ret);
    note_changed(u, &needed);
    for (size_t i = 0; i < ret->all.n; i++)
        if (ret->all.p[i].type != TAR_DIR)
            note_parents(&needed, ret->all.p[i].path);
    add_whiteouts(u, &needed, ret);
    for (size_t i = 0; i < ret->all.n; i++)
        if (ret->all.p[i].type != TAR_DIR || map_has(&needed, ret->all.p[i].path))
            ret->all.p[n++] = ret->all.p[i];
    ret->all.n = n;
    map_fini(&needed);
}

/* ---- writing ---- */

struct updater {
    struct image_update *u;
    const struct image_spool *spool;
    struct oci_layout *layout;
    uint64_t n_numbers;
};

static int write_delta(struct updater *w, struct err *err)
{
    struct image_items items;
    uint64_t number = w->n_numbers++;
    scoped(fd_scoped) int fd = oci_layout_blob_new(w->layout, number, err);
    if (fd < 0)
        return fd;
    delta_items(w->u, &items);
    int r = image_layer_write(items.all.p, items.all.n, w->spool, &w->u->pair.opts->form, fd,
                              &w->u->delta, err);
    image_items_fini(&items);
    return r < 0 ? r : oci_layout_blob_done(w->layout, number, fd, &w->u->delta.digest, err);
}

static int on_copied(void *arg, struct str bytes, struct err *err)
{
    const int *fd = arg;
    int r = sys_write_all(*fd, bytes.p, bytes.n);
    return r < 0 ? err_sys(err, r, "copy a layer") : 0;
}

static int copy_layers(struct updater *w, struct err *err)
{
    const struct image_member *old = &w->u->pair.group.members[OLD];
    int r = 0;
    for (size_t i = 0; r >= 0 && i < old->image.manifest.n_layers; i++) {
        const struct oci_descriptor *d = &old->image.manifest.layers[i];
        uint64_t number = w->n_numbers++;
        scoped(fd_scoped) int fd = oci_layout_blob_new(w->layout, number, err);
        r = fd < 0 ? fd : oci_source_blob(old->source, d, on_copied, &fd, err);
        r = r < 0 ? r : oci_layout_blob_done(w->layout, number, fd, &d->digest, err);
    }
    return r;
}

static int write_documents(struct updater *w, struct oci_layout_manifest *ret, struct err *err)
{
    const struct image_member *old = &w->u->pair.group.members[OLD];
    const struct image_member *new = &w->u->pair.group.members[NEW];
    struct oci_digest config_digest;
    scoped(buf_fini_scoped) struct buf config = BUF_INIT(OCI_DOCUMENT_MAX);
    scoped(buf_fini_scoped) struct buf manifest = BUF_INIT(OCI_DOCUMENT_MAX);
    int r = image_config_append(new->image.config_text, old->image.config.diff_ids,
                                old->image.config.n_diff_ids, &w->u->delta, &config, err);
    r = r < 0 ? r : oci_layout_document(w->layout, buf_str(&config), &config_digest, err);
    r = r < 0
            ? r
            : image_manifest_append(old->image.manifest_text, &new->image, &config_digest, config.n,
                                    &w->u->delta, new->image.config.created, &manifest, err);
    r = r < 0 ? r : oci_layout_document(w->layout, buf_str(&manifest), &w->u->digest, err);
    ret->digest = w->u->digest;
    ret->size = manifest.n;
    ret->platform = new->image.config.platform;
    return r;
}

/* Read the result back and compare it with the new version. */
static int prove(struct updater *w, struct oci_layout_manifest *manifest, struct err *err)
{
    struct image_refactoring *pair = &w->u->pair;
    struct image_group again = { 0 };
    scoped(free_scoped) char *reference = xasprintf("oci:%s:0", oci_layout_staging(w->layout));
    const char *references[] = { reference };
    const struct image_group_opts opts = { .platform = pair->opts->platform,
                                           .n_threads = pair->opts->n_threads };
    manifest->name = STR("0");
    int r = oci_layout_stage(w->layout, manifest, 1, err);
    r = r < 0 ? r : image_group_read(references, 1, &opts, &again, err);
    r = r < 0 ? err_ctx(err, r, "read back")
              : image_proof(pair, NEW, &again.members[0].tree, &pair->n_changed_times, err);
    if (r >= 0 && pair->opts->is_read_twice) {
        const struct image_member *m = &again.members[0];
        size_t top = m->image.manifest.n_layers - 1;
        r = second_reader_check(oci_layout_staging(w->layout),
                                &m->image.manifest.layers[top].digest, m->layers[top], err);
        pair->second_reader = second_reader_name();
    }
    image_group_fini(&again);
    return r;
}

/* The layers of the old version as they were read, and the delta as staged. */
static int merge_again(struct updater *w, struct oci_source *source, struct oci_layer **ret_delta,
                       struct oci_tree *to, struct err *err)
{
    const struct image_member *old = &w->u->pair.group.members[OLD];
    struct oci_image image;
    int r = oci_source_image(source, w->u->pair.opts->platform, &image, err);
    size_t n = old->image.manifest.n_layers;
    if (r >= 0 && (image.manifest.n_layers != n + 1 || image.config.n_diff_ids != n + 1))
        r = err_set(err, E_DIGEST, "the new version has not the layers of the old one");
    for (size_t i = 0; r >= 0 && i < n; i++) {
        if (!oci_digest_equal(&image.manifest.layers[i].digest,
                              &old->image.manifest.layers[i].digest) ||
            memcmp(image.config.diff_ids[i].bytes, old->layers[i]->diff_id, SHA256_BYTES) != 0)
            r = err_set(err, E_DIGEST, "layer %zu is not that of the old version", i);
        r = r < 0 ? r : oci_tree_apply(to, old->layers[i], err);
    }
    r = r < 0 ? r : oci_source_layer(source, &image, n, ret_delta, err);
    r = r < 0 ? r : oci_tree_apply(to, *ret_delta, err);
    if (r >= 0 && w->u->pair.opts->is_read_twice) {
        r = second_reader_check(oci_layout_staging(w->layout), &image.manifest.layers[n].digest,
                                *ret_delta, err);
        w->u->pair.second_reader = second_reader_name();
    }
    return r;
}

static int prove_delta(struct updater *w, struct oci_layout_manifest *manifest, struct err *err)
{
    struct image_refactoring *pair = &w->u->pair;
    scoped(free_scoped) char *reference =
        xasprintf("oci:%s:%d", oci_layout_staging(w->layout), NEW);
    scoped(oci_source_free_scoped) struct oci_source *source = NULL;
    struct oci_layer *delta = NULL;
    struct oci_tree tree;
    oci_tree_init(&tree, pair->opts->symlink_parent);
    manifest->name = STR("1");
    int r = oci_layout_stage(w->layout, manifest, 1, err);
    r = r < 0 ? r : oci_source_open(str_of(reference), &source, err);
    if (r >= 0 && pair->opts->reading)
        oci_source_read_by(source, pair->opts->reading, NULL);
    r = r < 0 ? r : merge_again(w, source, &delta, &tree, err);
    r = r < 0 ? err_ctx(err, r, "read back")
              : image_proof(pair, NEW, &tree, &pair->n_changed_times, err);
    oci_tree_fini(&tree);
    oci_layer_free(delta);
    return r;
}

int image_update_stage(struct image_update *u, const struct image_spool *spool,
                       struct oci_layout *layout, struct err *err)
{
    struct updater w = { .u = u, .spool = spool, .layout = layout };
    struct oci_layout_manifest manifest = { 0 };
    struct image_refactoring *pair = &u->pair;
    int r = write_delta(&w, err);
    r = r < 0 ? r : write_documents(&w, &manifest, err);
    r = r < 0 ? r : prove_delta(&w, &manifest, err);
    if (r < 0)
        return r;
    pair->images = arena_new_n(&pair->memory, struct image_refactoring_image, NEW + 1);
    pair->images[NEW] = (struct image_refactoring_image){ .digest = u->digest,
                                                          .manifest_size = manifest.size,
                                                          .top = u->delta };
    return 0;
}

int image_update_write(struct image_update *u, const struct image_spool *spool,
                       struct oci_layout *layout, const char *name, struct err *err)
{
    struct updater w = { .u = u, .spool = spool, .layout = layout };
    struct oci_layout_manifest manifest = { 0 };
    int r = write_delta(&w, err);
    r = r < 0 ? r : copy_layers(&w, err);
    r = r < 0 ? r : write_documents(&w, &manifest, err);
    r = r < 0 ? r : prove(&w, &manifest, err);
    if (r < 0)
        return r;
    manifest.name = str_of(name);
    return oci_layout_publish(layout, &manifest, 1, err);
}
