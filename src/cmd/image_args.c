/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/image_args.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>

int image_args_check(struct image_args *args)
{
    static const char *const parents[] = { "refuse", "shadow", "follow" };
    struct str how = str_of(args->symlink_parent ? args->symlink_parent : "refuse");
    struct str format = str_of(args->output ? args->output : "text");
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
    args->is_json = str_is(format, "json");
    if (!args->is_json && !str_is(format, "text"))
        return cmd_failf(CMD_USAGE, "--output is text or json, not '%s'", args->output);
    return 0;
}

static bool is_in_store(const char *reference)
{
    static const char *const kinds[] = { "oci:", "oci-archive:", "docker-archive:", "docker://" };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_has_prefix(str_of(reference), str_of(kinds[i])))
            return false;
    return true;
}

static int load_source(const struct image_args *args, const char *reference, struct image_loaded *l,
                       struct err *err)
{
    int r = oci_source_open_with(str_of(reference), &args->registry, &l->source, err);
    r = r < 0 ? r : oci_source_image(l->source, &args->wanted, &l->image, err);
    if (r < 0)
        return r;
    l->layers = xnew_n(struct oci_layer *, l->image.manifest.n_layers);
    for (size_t i = 0; i < l->image.manifest.n_layers && r >= 0; i++)
        r = oci_source_layer(l->source, &l->image, i, &l->layers[i], err);
    return r;
}

static int load_stored(const struct image_args *args, const char *reference, struct image_loaded *l,
                       struct err *err)
{
    struct oci_store_image image;
    struct err why = { 0 };
    scoped(oci_store_close_scoped) struct oci_store *s = NULL;
    int r = image_store_open(args->store, (struct oci_store_opts){ .is_reader = true }, &s, &why);
    if (r == -ENOENT)
        return err_set(
            err, r,
            "no such image in the store, and it is none of oci:DIR[:NAME], "
            "oci-archive:FILE[:NAME], docker-archive:FILE[:NAME] and docker://REFERENCE");
    if (r < 0)
        return err_set(err, r, "%s", err_text(&why));
    r = oci_store_image_find(s, str_of(reference), &l->documents, &image, err);
    r = r < 0 ? r
              : oci_store_image_load(s, &image.manifest, &l->documents, &l->image.manifest,
                                     &l->image.config, err);
    if (r < 0)
        return r;
    l->image.digest = image.manifest;
    l->layers = xnew_n(struct oci_layer *, l->image.manifest.n_layers);
    for (size_t i = 0; i < l->image.manifest.n_layers && r >= 0; i++)
        r = oci_store_layer_index(s, &l->image.config.diff_ids[i], &l->layers[i], err);
    return r;
}

static int load(const struct image_args *args, const char *reference, struct image_loaded *l,
                struct err *err)
{
    int r = (is_in_store(reference) ? load_stored : load_source)(args, reference, l, err);
    if (r < 0)
        return r;
    oci_tree_init(&l->tree, args->parent);
    for (size_t i = 0; i < l->image.manifest.n_layers && r >= 0; i++)
        r = oci_tree_apply(&l->tree, l->layers[i], err);
    return r;
}

int image_load(const struct image_args *args, const char *reference, struct image_loaded *ret,
               struct err *err)
{
    *ret = (struct image_loaded){ 0 };
    int r = load(args, reference, ret, err);
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
    oci_source_free(l->source);
    arena_fini(&l->documents);
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
