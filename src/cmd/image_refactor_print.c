/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/image_refactor_print.h"

#include "cmd/image_args.h"
#include "cmd/text_table.h"
#include "codec/json.h"

#include <stdio.h>

enum { OUTPUT_MAX_BYTES = 16 << 20, SHOWN_NAMES_BYTES = 60 };

/* ---- text ---- */

static void size_cell(struct text_table *t, uint64_t bytes)
{
    text_table_cell(t, str_of(image_size_text(bytes)));
}

static void number_cell(struct text_table *t, uint64_t n)
{
    text_table_cell(t, str_of(arena_printf(t->a, "%llu", (unsigned long long)n)));
}

static struct str sharers(struct arena *a, const struct image_refactoring *r, const uint64_t *set,
                          const char *const *image_names)
{
    struct buf text = BUF_INIT(1 << 16);
    if (image_set_count(set, r->plan.n_words) == r->group.n)
        return STR("all");
    image_set_each(i, set, r->group.n)
    {
        if (text.n > SHOWN_NAMES_BYTES) {
            (void)buf_add_cstr(&text, ", ...");
            break;
        }
        (void)buf_printf(&text, "%s%s", text.n ? ", " : "", image_names[i]);
    }
    struct str kept = str_copy_arena(a, buf_str(&text));
    buf_fini(&text);
    return kept;
}

static void print_layers(const struct image_refactoring *r, const char *const *image_names,
                         struct arena *a)
{
    static const char *const head[] = { "SHARED LAYER", "SIZE", "UNPACKED", "ATOMS", "IMAGES", "" };
    struct text_table t = { .a = a, .n_columns = ARRAY_LEN(head) };
    text_table_head(&t, head);
    for (size_t i = 0; i < r->plan.n_layers; i++) {
        const struct image_plan_layer *l = &r->plan.layers[i];
        number_cell(&t, i + 1);
        size_cell(&t, r->layers ? r->layers[i].size : l->size);
        size_cell(&t, r->layers ? r->layers[i].tar_size : l->raw);
        number_cell(&t, l->n_atoms);
        number_cell(&t, l->n_sharers);
        struct str who = sharers(a, r, l->set, image_names);
        if (l->is_split)
            who = str_of(
                arena_printf(a, STR_FMT "; %s", STR_ARG(who),
                             l->part == IMAGE_PART_VOLATILE ? "what changes" : "what stays"));
        text_table_cell(&t, who);
    }
    text_table_print(&t, stdout);
}

static uint64_t source_size(const struct image_refactoring *r, size_t image)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->group.members[image].image.manifest.n_layers; i++)
        n += r->group.members[image].layer_sizes[i];
    return n;
}

static uint64_t shared_size(const struct image_refactoring *r, size_t image)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->plan.n_layers; i++)
        if (image_set_has(r->plan.layers[i].set, image))
            n += r->layers ? r->layers[i].size : r->plan.layers[i].size;
    return n;
}

static uint64_t top_size(const struct image_refactoring *r, size_t image)
{
    if (r->plan.images[image].n_shared == 0 && image_refactoring_keeps(r, image))
        return source_size(r, image);
    return r->images ? r->images[image].top.size : r->plan.images[image].top_size;
}

static void print_images(const struct image_refactoring *r, const char *const *image_names,
                         struct arena *a)
{
    static const char *const head[] = { "IMAGE", "LAYERS", "SIZE", "NEW LAYERS", "SHARED", "OWN" };
    struct text_table t = { .a = a, .n_columns = ARRAY_LEN(head) };
    (void)printf("\n");
    text_table_head(&t, head);
    for (size_t i = 0; i < r->group.n; i++) {
        bool is_kept = image_refactoring_keeps(r, i);
        text_table_cell(&t, str_of(image_names[i]));
        number_cell(&t, r->group.members[i].image.manifest.n_layers);
        size_cell(&t, source_size(r, i));
        text_table_cell(&t, is_kept
                                ? STR("unchanged")
                                : str_of(arena_printf(a, "%u + 1", r->plan.images[i].n_shared)));
        size_cell(&t, shared_size(r, i));
        size_cell(&t, top_size(r, i));
    }
    text_table_print(&t, stdout);
}

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

static uint64_t redundant(uint64_t stored, const struct image_refactor_stats *f)
{
    return stored > f->distinct ? stored - f->distinct : 0;
}

static void print_summary(const struct image_refactoring *r)
{
    const struct image_refactor_stats *f = &r->figures;
    uint64_t after = r->stored ? r->stored : r->plan.stored_after;
    (void)printf("\nstored   %s in %llu layers, afterwards %s%s: %s%s less\n",
                 image_size_text(r->plan.stored_before), (unsigned long long)f->n_source_layers,
                 image_size_text(after), r->stored ? "" : " (estimated)",
                 after > r->plan.stored_before ? "-" : "",
                 image_size_text(after > r->plan.stored_before ? after - r->plan.stored_before
                                                               : r->plan.stored_before - after));
    (void)printf("files    %s in the images, %s in their layers, afterwards %s; %s at least\n",
                 image_size_text(f->merged), image_size_text(f->layers),
                 image_size_text(f->planned), image_size_text(f->distinct));
    (void)printf("ratios   images to stored %.2f, layers before to after %.2f; redundant %s "
                 "before, %s after\n",
                 ratio(f->merged, f->planned), ratio(f->layers, f->planned),
                 image_size_text(redundant(f->layers, f)),
                 image_size_text(redundant(f->planned, f)));
    (void)printf("sharing  %s by digest, %s by prefix of layers (what engines without a common "
                 "content store gain)%s\n",
                 image_size_text(r->plan.digest_shared), image_size_text(r->plan.prefix_shared),
                 r->stored ? "" : " (estimated)");
    if (r->stored)
        (void)printf("proof    read back by dormouse%s%s\n", r->second_reader ? " and " : "",
                     r->second_reader ? r->second_reader : "");
    if (r->n_changed_times)
        (void)printf("times    %llu names have the time of a shared file\n",
                     (unsigned long long)r->n_changed_times);
}

/* ---- JSON ---- */

static struct json *layers_json(const struct image_refactoring *r, const char *const *image_names,
                                struct arena *a)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < r->plan.n_layers; i++) {
        const struct image_plan_layer *l = &r->plan.layers[i];
        struct json *v = json_new_object(a), *sharing = json_new_array(a);
        json_set_int(a, v, "size", (int64_t)(r->layers ? r->layers[i].size : l->size));
        json_set_int(a, v, "tarSize", (int64_t)(r->layers ? r->layers[i].tar_size : l->raw));
        if (r->layers) {
            char text[OCI_DIGEST_TEXT_SIZE];
            oci_digest_format(&r->layers[i].digest, text);
            json_set_str(a, v, "digest", str_of(text));
            oci_digest_format(&r->layers[i].diff_id, text);
            json_set_str(a, v, "diffID", str_of(text));
        }
        if (l->is_split)
            json_set_bool(a, v, "changes", l->part == IMAGE_PART_VOLATILE);
        image_set_each(k, l->set, r->group.n) json_add(sharing, json_new_cstr(a, image_names[k]));
        json_setc(a, v, "images", sharing);
        json_add(list, v);
    }
    return list;
}

static void set_place(struct json *v, const struct image_published_image *place, struct arena *a)
{
    json_set_str(a, v, "repository", str_of(place->repository));
    if (place->tag)
        json_set_str(a, v, "tag", str_of(place->tag));
}

static struct json *images_json(const struct image_refactoring *r, const char *const *image_names,
                                const struct image_published *published, struct arena *a)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < r->group.n; i++) {
        struct json *v = json_new_object(a);
        char text[OCI_DIGEST_TEXT_SIZE];
        json_set_str(a, v, "name", str_of(image_names[i]));
        oci_digest_format(&r->group.members[i].image.digest, text);
        json_set_str(a, v, "source", str_of(text));
        if (r->images) {
            oci_digest_format(&r->images[i].digest, text);
            json_set_str(a, v, "digest", str_of(text));
        }
        if (published)
            set_place(v, &published->images[i], a);
        json_set_bool(a, v, "unchanged", image_refactoring_keeps(r, i));
        json_set_int(a, v, "sharedLayers", r->plan.images[i].n_shared);
        json_set_int(a, v, "sizeBefore", (int64_t)source_size(r, i));
        json_set_int(a, v, "sharedSize", (int64_t)shared_size(r, i));
        json_set_int(a, v, "ownSize", (int64_t)top_size(r, i));
        json_add(list, v);
    }
    return list;
}

static void set_traffic(struct json *doc, const struct image_published *p, struct arena *a)
{
    struct json *v = json_obj(a, doc, "blobs");
    json_set_int(a, v, "uploaded", (int64_t)p->n_uploaded);
    json_set_int(a, v, "mounted", (int64_t)p->n_mounted);
    json_set_int(a, v, "present", (int64_t)p->n_existed);
    json_set_int(a, v, "bytes", (int64_t)p->n_bytes);
}

static void print_json(const struct image_refactoring *r,
                       const struct image_refactor_context *context, struct arena *a)
{
    const struct image_refactor_stats *f = &r->figures;
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    struct json *v = json_new_object(a), *files = json_obj(a, v, "fileBytes");
    struct json *left = json_new_array(a);
    json_set_bool(a, v, "written", r->stored > 0);
    json_set_bool(a, v, "accepted", r->plan.is_accepted);
    if (r->plan.why)
        json_set_str(a, v, "reason", str_of(r->plan.why));
    json_set_int(a, v, "storedBefore", (int64_t)r->plan.stored_before);
    json_set_int(a, v, "storedEstimate", (int64_t)r->plan.stored_after);
    if (r->stored)
        json_set_int(a, v, "stored", (int64_t)r->stored);
    if (r->second_reader)
        json_set_str(a, v, "secondReader", str_of(r->second_reader));
    json_set_int(a, v, "digestShared", (int64_t)r->plan.digest_shared);
    json_set_int(a, v, "prefixShared", (int64_t)r->plan.prefix_shared);
    json_set_int(a, v, "changedTimes", (int64_t)r->n_changed_times);
    json_set_int(a, files, "merged", (int64_t)f->merged);
    json_set_int(a, files, "layersBefore", (int64_t)f->layers);
    json_set_int(a, files, "layersAfter", (int64_t)f->planned);
    json_set_int(a, files, "distinct", (int64_t)f->distinct);
    json_setc(a, v, "layers", layers_json(r, context->image_names, a));
    json_setc(a, v, "images", images_json(r, context->image_names, context->published, a));
    for (size_t i = 0; i < context->n_left_out; i++)
        json_add(left, json_new_cstr(a, context->left_out[i]));
    json_setc(a, v, "leftOut", left);
    if (context->published)
        set_traffic(v, context->published, a);
    (void)json_write_pretty(&out, v, 2);
    (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
}

/* ---- both ---- */

static void print_sent(const struct image_published *p)
{
    (void)printf("sent     %s in %zu blobs; %zu mounted, %zu were there\n",
                 image_size_text(p->n_bytes), p->n_uploaded, p->n_mounted, p->n_existed);
}

static void print_places(const struct image_refactoring *r, const struct image_published *p)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    (void)printf("\n");
    print_sent(p);
    for (size_t i = 0; i < r->group.n; i++) {
        const struct image_published_image *m = &p->images[i];
        if (m->is_left)
            continue;
        oci_digest_format(&r->images[i].digest, digest);
        (void)printf("%s%s%s@%s\n", m->repository, m->tag ? ":" : "", m->tag ? m->tag : "", digest);
    }
}

void image_refactor_print(const struct image_refactoring *r,
                          const struct image_refactor_context *context, bool is_json)
{
    struct arena a = { 0 };
    if (is_json) {
        print_json(r, context, &a);
    } else {
        if (r->plan.n_layers)
            print_layers(r, context->image_names, &a);
        print_images(r, context->image_names, &a);
        print_summary(r);
        if (context->published)
            print_places(r, context->published);
        if (!r->images && r->plan.why)
            (void)printf("\nThe plan would not be carried out: %s.\n", r->plan.why);
    }
    (void)fflush(stdout);
    arena_fini(&a);
}

/* ---- new versions ---- */

static int64_t percent(uint64_t part, uint64_t of)
{
    return of ? (int64_t)(part * 100 / of) : 0;
}

static void print_update_json(const struct image_update *u, const char *name,
                              const struct image_published *published, const char *digest)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    struct json *v = json_new_object(&a);
    json_set_str(&a, v, "name", str_of(name));
    json_set_str(&a, v, "digest", str_of(digest));
    json_set_int(&a, v, "deltaSize", (int64_t)u->delta.size);
    json_set_int(&a, v, "deltas", u->n_deltas + 1);
    json_set_int(&a, v, "addedFileBytes", (int64_t)u->added);
    json_set_int(&a, v, "hiddenFileBytes", (int64_t)u->dead);
    json_set_int(&a, v, "fileBytes", (int64_t)u->total);
    json_set_int(&a, v, "whiteouts", (int64_t)u->n_gone);
    json_set_int(&a, v, "changedTimes", (int64_t)u->pair.n_changed_times);
    if (u->pair.second_reader)
        json_set_str(&a, v, "secondReader", str_of(u->pair.second_reader));
    if (published) {
        set_place(v, &published->images[1], &a);
        set_traffic(v, published, &a);
    }
    (void)json_write_pretty(&out, v, 2);
    (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
    arena_fini(&a);
}

void image_refactor_print_update(const struct image_update *u, const char *name,
                                 const struct image_published *published, bool is_json)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&u->digest, digest);
    if (is_json) {
        print_update_json(u, name, published, digest);
    } else {
        (void)printf("%s  %s\n", name, digest);
        (void)printf("new      %s in one layer (%s of files, %lld %% of the image)\n",
                     image_size_text(u->delta.size), image_size_text(u->added),
                     (long long)percent(u->added, u->total));
        (void)printf("hidden   %s of files in the layers below (%lld %%), %llu names removed\n",
                     image_size_text(u->dead), (long long)percent(u->dead, u->total),
                     (unsigned long long)u->n_gone);
        if (published)
            print_sent(published);
    }
    (void)fflush(stdout);
}
