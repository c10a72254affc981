/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reference as an origin of pulls. Blobs of files are read by any number of threads from one
 * source; a repository of a registry serves one thread, so each thread that reads has its own.
 */
#include "base/vec.h"
#include "oci/pull.h"

#include <pthread.h>

struct origin {
    struct oci_source *source;
    struct oci_remote_opts registry;
    pthread_mutex_t mutex;
    VEC(struct oci_remote *)
    idle; /* repositories that no thread reads from; without the source's */
};

static int give_image(void *arg, const struct oci_platform *platform, struct oci_image *ret,
                      struct err *err)
{
    const struct origin *o = arg;
    return oci_source_image(o->source, platform, ret, err);
}

static int take_remote(struct origin *o, struct oci_remote **ret, struct err *err)
{
    struct oci_remote *m = NULL;
    (void)pthread_mutex_lock(&o->mutex);
    if (o->idle.n)
        m = o->idle.p[--o->idle.n];
    (void)pthread_mutex_unlock(&o->mutex);
    if (!m) {
        const struct oci_reference *ref = oci_remote_reference(oci_source_remote(o->source));
        int r = oci_remote_open(ref, &o->registry, &m, err);
        if (r < 0)
            return r;
    }
    *ret = m;
    return 0;
}

static int give_blob(void *arg, const struct oci_descriptor *d, uint64_t offset, oci_blob_sink sink,
                     void *sink_arg, struct err *err)
{
    struct origin *o = arg;
    struct oci_remote *m;
    if (!oci_source_remote(o->source))
        return oci_source_blob(o->source, d, sink, sink_arg, err);
    int r = take_remote(o, &m, err);
    if (r < 0)
        return r;
    r = oci_remote_blob(m, d, offset, sink, sink_arg, err);
    (void)pthread_mutex_lock(&o->mutex);
    vec_push(&o->idle, m);
    (void)pthread_mutex_unlock(&o->mutex);
    return r;
}

int oci_origin_open(struct str reference, const struct oci_remote_opts *registry,
                    struct oci_origin *ret, struct err *err)
{
    struct oci_source *source;
    int r = oci_source_open_with(reference, registry, &source, err);
    if (r < 0)
        return r;
    struct origin *o = xnew(struct origin);
    o->source = source;
    if (registry)
        o->registry = *registry;
    (void)pthread_mutex_init(&o->mutex, NULL);
    *ret = (struct oci_origin){
        .image = give_image,
        .blob = give_blob,
        .arg = o,
        .is_remote = oci_source_remote(source) != NULL,
        .has_no_blobs = oci_source_names_layers_by_diff_id(source),
    };
    return 0;
}

void oci_origin_close(struct oci_origin *origin)
{
    struct origin *o = origin->arg;
    if (!o)
        return;
    vec_each (m, &o->idle)
        oci_remote_free(*m);
    vec_fini(&o->idle);
    oci_source_free(o->source);
    (void)pthread_mutex_destroy(&o->mutex);
    free(o);
    *origin = (struct oci_origin){ 0 };
}
