/* SPDX-License-Identifier: Apache-2.0 */
/* Reading requests for images from a file; see trace.h. */
#include "lab/image/trace.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/sys.h"
#include "codec/csv.h"

#include <fcntl.h>

void image_trace_fini(struct image_trace *t)
{
    vec_fini(&t->layers);
    vec_fini(&t->images);
    vec_fini(&t->refs);
    vec_fini(&t->requests);
}

void image_trace_fini_scoped(struct image_trace *t)
{
    image_trace_fini(t);
}

uint64_t image_trace_bytes(const struct image_trace *t)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < t->layers.n; i++)
        sum += t->layers.p[i].size;
    return sum;
}

static int by_time(const void *a, const void *b)
{
    const struct image_trace_request *x = a, *y = b;
    return x->at_ms != y->at_ms ? (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms)
           : x->site != y->site ? (x->site > y->site) - (x->site < y->site)
                                : (x->image > y->image) - (x->image < y->image);
}

void image_trace_sort(struct image_trace *t)
{
    qsort(t->requests.p, t->requests.n, sizeof *t->requests.p, by_time);
}

/* ---- reading ---- */

struct image_rows { /* an image during reading */
    VEC(uint32_t) layers;
};

struct trace_reader {
    struct image_trace *t;
    struct map image_ids, layer_ids; /* name -> number + 1 */
    VEC(struct image_rows) images;
    struct csv csv;
    struct err *err;
};

static int bad(struct trace_reader *r, int code, const char *what)
{
    return err_set(r->err, code, "line %u: %s", r->csv.line, what);
}

/* The number of a name; -1: it is new and exceeds the limit. */
static int64_t number_of(struct map *ids, struct str name, size_t max)
{
    uintptr_t id = (uintptr_t)map_get(ids, name);
    if (id == 0) {
        if (ids->n == max)
            return -1;
        id = ids->n + 1;
        (void)map_put(ids, name, (void *)id);
    }
    return (int64_t)id - 1;
}

static int64_t image_number(struct trace_reader *r, struct str name)
{
    int64_t id = number_of(&r->image_ids, name, IMAGE_TRACE_IMAGES_MAX);
    if (id == (int64_t)r->images.n)
        vec_push(&r->images, (struct image_rows){ 0 });
    return id;
}

static int read_layer(struct trace_reader *r, const struct str *field, int n)
{
    uint64_t size;
    if (n != 4 || field[1].n == 0 || field[2].n == 0)
        return bad(r, E_PARSE, "expected layer,IMAGE,LAYER,BYTES");
    if (parse_u64(field[3], 0, IMAGE_TRACE_LAYER_MAX_BYTES, &size) < 0)
        return bad(r, E_PARSE, "the size of a layer is a number of bytes, at most 1 TiB");
    int64_t image = image_number(r, field[1]);
    int64_t layer = number_of(&r->layer_ids, field[2], IMAGE_TRACE_LAYERS_MAX);
    if (image < 0 || layer < 0)
        return bad(r, E_LIMIT, "too many images or layers");
    if (layer == (int64_t)r->t->layers.n) {
        struct image_trace_layer l = { .size = size };
        sha256_of(field[2], l.key);
        vec_push(&r->t->layers, l);
    } else if (r->t->layers.p[layer].size != size) {
        return bad(r, E_PARSE, "the layer has had another size before");
    }
    struct image_rows *rows = &r->images.p[image];
    vec_each (other, &rows->layers)
        if (*other == (uint32_t)layer)
            return 0;
    if (rows->layers.n == IMAGE_TRACE_IMAGE_LAYERS_MAX)
        return bad(r, E_LIMIT, "too many layers of one image");
    vec_push(&rows->layers, (uint32_t)layer);
    return 0;
}

static int read_request(struct trace_reader *r, const struct str *field, int n)
{
    uint64_t at_ms, site = 0;
    if ((n != 3 && n != 4) || field[2].n == 0)
        return bad(r, E_PARSE, "expected request,MILLISECONDS,IMAGE[,SITE]");
    if (parse_u64(field[1], 0, INT64_MAX, &at_ms) < 0)
        return bad(r, E_PARSE, "the time of a request is a number of milliseconds");
    if (n == 4 && parse_u64(field[3], 0, IMAGE_TRACE_SITES_MAX - 1, &site) < 0)
        return bad(r, E_PARSE, "a site is a number from 0 to 63");
    int64_t image = image_number(r, field[2]);
    if (image < 0 || r->t->requests.n == IMAGE_TRACE_REQUESTS_MAX)
        return bad(r, E_LIMIT, "too many images or requests");
    r->t->n_sites = MAX(r->t->n_sites, (uint32_t)site + 1);
    struct image_trace_request q = { at_ms, (uint32_t)image, (uint32_t)site };
    vec_push(&r->t->requests, q);
    return 0;
}

static int read_rows(struct trace_reader *r)
{
    struct str field[8];
    int n;
    while ((n = csv_row(&r->csv, field, ARRAY_LEN(field))) > 0) {
        int done = 0;
        if (field[0].n && field[0].p[0] == '#')
            continue;
        if (str_is(field[0], "layer"))
            done = read_layer(r, field, n);
        else if (str_is(field[0], "request"))
            done = read_request(r, field, n);
        else
            done = bad(r, E_PARSE, "a row begins with layer or request");
        if (done < 0)
            return done;
    }
    return n < 0 ? bad(r, n, "malformed row") : 0;
}

static int put_together(struct trace_reader *r)
{
    struct image_trace *t = r->t;
    for (size_t i = 0; i < r->images.n; i++) {
        struct image_rows *rows = &r->images.p[i];
        struct image_trace_image image = { (uint32_t)t->refs.n, (uint32_t)rows->layers.n };
        if (image.n == 0)
            return err_set(r->err, E_PARSE, "an image is requested of which no row names a layer");
        vec_each (layer, &rows->layers)
            vec_push(&t->refs, *layer);
        vec_push(&t->images, image);
    }
    if (t->requests.n == 0)
        return err_set(r->err, E_PARSE, "there is no request in it");
    image_trace_sort(t);
    return 0;
}

int image_trace_read(struct str text, struct image_trace *ret, struct err *err)
{
    struct image_trace t = { 0 };
    struct trace_reader r = { .t = &t, .csv = csv_open(text), .err = err };
    int done = read_rows(&r);
    if (done >= 0)
        done = put_together(&r);
    vec_each (rows, &r.images)
        vec_fini(&rows->layers);
    vec_fini(&r.images);
    map_fini(&r.image_ids);
    map_fini(&r.layer_ids);
    if (done < 0)
        image_trace_fini(&t);
    else
        *ret = t;
    return done;
}

int image_trace_load(const char *path, struct image_trace *ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(IMAGE_TRACE_FILE_MAX_BYTES);
    int r = sys_read_file(AT_FDCWD, path, &text, err);
    if (r >= 0)
        r = image_trace_read(buf_str(&text), ret, err);
    return r < 0 ? err_ctx(err, r, "%s", path) : 0;
}
