/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/image_args.h"

#include "base/buf.h"
#include "base/mem.h"
#include "image/layer_child.h"

#include <errno.h>
#include <stdio.h>

enum { WARNING_MAX_BYTES = 4096 };

int image_args_check(struct image_args *args)
{
    static const char *const parents[] = { "refuse", "shadow", "follow" };
    struct str how = str_of(args->symlink_parent ? args->symlink_parent : "refuse");
    struct err err = { 0 };
    args->wanted = oci_platform_here();
    if (args->platform && oci_platform_parse(str_of(args->platform), &args->wanted, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    size_t i = 0;
    while (i < ARRAY_LEN(parents) && !str_is(how, parents[i]))
        i++;
    if (i == ARRAY_LEN(parents))
        return cmd_failf(CMD_USAGE, "--symlink-parent is refuse, shadow or follow, not '%s'",
                         args->symlink_parent);
    args->parent = (enum oci_symlink_parent)i;
    return image_text_output(args->output, &args->is_json);
}

void image_warn_original(const char *why)
{
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(WARNING_MAX_BYTES);
    cmd_add_safe(&safe, str_of(why));
    (void)fprintf(stderr,
                  "warning: the attached refactored form cannot be fetched, the original image is "
                  "pulled: " STR_FMT "\n",
                  STR_ARG(buf_str(&safe)));
}

bool image_is_in_store(const char *reference)
{
    static const char *const kinds[] = { "oci:", "oci-archive:", "docker-archive:", "docker://",
                                         "store:" };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_has_prefix(str_of(reference), str_of(kinds[i])))
            return false;
    return true;
}

char *image_reference(const char *store, const char *word)
{
    if (!image_is_in_store(word))
        return xstrdup(word);
    scoped(free_scoped) char *dir = image_store_dir(store);
    return xasprintf("store:%s:%s", dir, word);
}

static int open_source(const struct image_args *args, const char *reference, struct image_opened *o,
                       struct err *err)
{
    int r = oci_source_open_with(str_of(reference), &args->registry, &o->source, err);
    if (r < 0)
        return r;
    oci_source_read_by(o->source, &layer_child_reading, NULL);
    return oci_source_image(o->source, &args->wanted, &o->image, err);
}

static int open_stored(const struct image_args *args, const char *reference, struct image_opened *o,
                       struct err *err)
{
    struct oci_store_image image;
    struct err why = { 0 };
    int r = image_store_open(args->store, (struct oci_store_opts){ .is_reader = true }, &o->store,
                             &why);
    if (r == -ENOENT)
        return err_set(
            err, r,
            "no such image in the store, and the name has none of the forms oci:DIR[:NAME], "
            "oci-archive:FILE[:NAME], docker-archive:FILE[:NAME] and docker://REFERENCE");
    if (r < 0)
        return err_set(err, r, "%s", err_text(&why));
    r = oci_store_image_find(o->store, str_of(reference), &o->documents, &image, &why);
    if (r < 0) /* the caller names the image */
        return err_set(err, r, "%s", r == -ENOENT ? "the store has no such image" : err_text(&why));
    o->image.digest = image.manifest;
    return oci_store_image_load(o->store, &image.manifest, &o->documents, &o->image.manifest,
                                &o->image.config, err);
}

int image_open(const struct image_args *args, const char *reference, struct image_opened *ret,
               struct err *err)
{
    *ret = (struct image_opened){ 0 };
    int r = (image_is_in_store(reference) ? open_stored : open_source)(args, reference, ret, err);
    if (r >= 0 && args->platform)
        r = oci_platform_check(&args->wanted, &ret->image.config, err);
    if (r < 0) {
        image_opened_fini(ret);
        return err_ctx(err, r, "image '%s'", reference);
    }
    return 0;
}

void image_opened_fini(struct image_opened *o)
{
    oci_source_free(o->source);
    oci_store_close(o->store);
    arena_fini(&o->documents);
    *o = (struct image_opened){ 0 };
}

static int load(const struct image_args *args, struct image_loaded *l, struct err *err)
{
    const size_t n = l->image.manifest.n_layers;
    int r = 0;
    l->layers = xnew_n(struct oci_layer *, n);
    oci_tree_init(&l->tree, args->parent);
    for (size_t i = 0; i < n && r >= 0; i++) {
        r = l->from.store ? oci_store_layer_index(l->from.store, &l->image.config.diff_ids[i],
                                                  &l->layers[i], err)
                          : oci_source_layer(l->from.source, &l->image, i, &l->layers[i], err);
        r = r < 0 ? r : oci_tree_apply(&l->tree, l->layers[i], err);
    }
    return r;
}

int image_load(const struct image_args *args, const char *reference, struct image_loaded *ret,
               struct err *err)
{
    *ret = (struct image_loaded){ 0 };
    int r = image_open(args, reference, &ret->from, err);
    if (r < 0)
        return r;
    ret->image = ret->from.image;
    r = load(args, ret, err);
    if (r < 0) {
        image_loaded_fini(ret);
        return err_ctx(err, r, "image '%s'", reference);
    }
    return 0;
}

void image_loaded_fini(struct image_loaded *l)
{
    oci_tree_fini(&l->tree);
    for (size_t i = 0; l->layers && i < l->image.manifest.n_layers; i++)
        oci_layer_free(l->layers[i]);
    free(l->layers);
    image_opened_fini(&l->from);
    *l = (struct image_loaded){ 0 };
}

const char *image_size_text(uint64_t bytes)
{
    static char room[4][32];
    static unsigned turn;
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    char *to = room[turn++ % ARRAY_LEN(room)];
    double v = (double)bytes;
    size_t unit = 0;
    while (v >= 1024 && unit + 1 < ARRAY_LEN(units)) {
        v /= 1024;
        unit++;
    }
    (void)snprintf(to, sizeof room[0], unit ? "%.1f %s" : "%.0f %s", v, units[unit]);
    return to;
}
