/* SPDX-License-Identifier: Apache-2.0 */
/* Starts that read a part of their layers, file by file; see replay.h. */
#include "lab/image/replay_impl.h"

#include <math.h>

const char *image_replay_start_name(enum image_replay_start s)
{
    static const char *const names[IMAGE_REPLAY_STARTS] = { "whole", "rest", "files" };
    return names[s];
}

enum image_replay_start image_replay_start_of(struct str name)
{
    int s = 0;
    while (s < IMAGE_REPLAY_STARTS &&
           !str_is(name, image_replay_start_name((enum image_replay_start)s)))
        s++;
    return (enum image_replay_start)s;
}

static uint64_t files_of(const struct image_replay_files *f, uint64_t bytes)
{
    return bytes / f->file_bytes + (bytes % f->file_bytes != 0);
}

static uint64_t part_of(double part, uint64_t bytes)
{
    return (uint64_t)ceil(part * (double)bytes);
}

/*
 * Layers of a trace of files, made of a trace with n layers and m images:
 *
 *     0 .. n     files that starts read and that are not in the other version of the layer
 *     n .. 2n    files that a layer has in common with its other version
 *     2n .. 2n+m indexes of images
 */
static void add_layer(struct image_trace *to, uint64_t size)
{
    struct image_trace_layer l = { .size = size };
    uint64_t id = to->layers.n;
    sha256_of(str_n((const char *)&id, sizeof id), l.key);
    vec_push(&to->layers, l);
}

/* By layer: its common bytes, and the number of its common layer in the new trace (0: none). */
static void find_common(const struct image_trace *t, const struct image_replay_files *f,
                        uint64_t *bytes, uint32_t *of)
{
    for (uint32_t i = 0; i < t->layers.n; i++) {
        const struct image_trace_layer *l = &t->layers.p[i];
        if (l->version_of == 0)
            continue;
        uint32_t other = l->version_of - 1;
        bytes[i] = part_of(f->read * f->common, MIN(l->size, t->layers.p[other].size));
        bytes[other] = bytes[i];
        of[i] = of[other] = (uint32_t)t->layers.n + i;
    }
}

static void add_image(const struct image_trace *t, const struct image_replay_files *f,
                      uint32_t image, const uint32_t *common, struct image_trace *to)
{
    struct image_trace_image from = t->images.p[image], i = { .first = (uint32_t)to->refs.n };
    uint64_t n_files = 0;
    vec_push(&to->refs, (uint32_t)to->layers.n);
    for (uint32_t k = 0; k < from.n; k++) {
        uint32_t layer = t->refs.p[from.first + k];
        n_files += files_of(f, t->layers.p[layer].size);
        vec_push(&to->refs, layer);
        if (common[layer])
            vec_push(&to->refs, common[layer]);
    }
    i.n = (uint32_t)to->refs.n - i.first;
    vec_push(&to->images, i);
    add_layer(to, MIN(n_files * f->index_bytes, IMAGE_CACHE_SIZE_MAX));
}

static void make_trace(const struct image_trace *t, const struct image_replay_files *f,
                       struct image_trace *to)
{
    size_t n = t->layers.n;
    scoped(free_scoped) uint64_t *bytes = xnew_n(uint64_t, n);
    scoped(free_scoped) uint32_t *common = xnew_n(uint32_t, n);
    find_common(t, f, bytes, common);
    for (size_t i = 0; i < n; i++) {
        uint64_t all = part_of(f->read, t->layers.p[i].size);
        add_layer(to, all - MIN(all, bytes[i]));
    }
    for (size_t i = 0; i < n; i++)
        add_layer(to, common[i] == n + i ? bytes[i] : 0);
    for (uint32_t i = 0; i < t->images.n; i++)
        add_image(t, f, i, common, to);
    for (size_t i = 0; i < t->requests.n; i++)
        vec_push(&to->requests, t->requests.p[i]);
    to->n_sites = t->n_sites;
}

/* ---- parts that deployments wait for ---- */

struct image_replay_part *image_replay_parts(const struct image_trace *t,
                                             const struct image_replay_options *o,
                                             struct image_trace *ret)
{
    const struct image_replay_files *f = &o->files;
    size_t n_indexes = 0;
    if (o->start == IMAGE_REPLAY_FILES) {
        make_trace(t, f, ret);
        n_indexes = t->images.n;
        t = ret;
    }
    struct image_replay_part *parts = xnew_n(struct image_replay_part, t->layers.n);
    for (size_t i = 0; i < t->layers.n; i++) {
        uint64_t size = t->layers.p[i].size;
        struct image_replay_part *p = &parts[i];
        p->bytes = size;
        p->is_index = i >= t->layers.n - n_indexes;
        if (o->start == IMAGE_REPLAY_FILES && !p->is_index)
            p->n_files = files_of(f, size);
        if (o->start == IMAGE_REPLAY_REST)
            p->bytes = part_of(f->read, size) + files_of(f, size) * f->index_bytes;
    }
    return parts;
}
