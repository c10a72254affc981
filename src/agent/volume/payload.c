/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/volume/payload.h"

#include "agent/volume/volume.h"
#include "base/vec.h"

#include <errno.h>

struct builder {
    struct arena *arena;
    const struct volume_payload_input *in;
    const struct pod_volume *volume;
    VEC(struct volume_file) files;
    size_t bytes;
    bool lacks_token;
    struct err *err;
};

int64_t volume_payload_user(const struct pod_spec *p)
{
    int64_t user = -1;
    const struct pod_container *c;
    for (size_t i = 0; i < p->n_init + p->n_main && (c = pod_spec_at(p, i)); i++) {
        int64_t own =
            c->security.run_as_user >= 0 ? c->security.run_as_user : p->security.run_as_user;
        if (own < 0 || (user >= 0 && user != own))
            return -1;
        user = own;
    }
    return user;
}

/* `bytes` may be borrowed: they are copied. mode -1: that of the volume. */
static int add_file(struct builder *b, struct str path, struct str bytes, int32_t mode, int64_t uid)
{
    struct volume_file f = { .mode = (mode_t)(mode >= 0 ? mode : b->volume->default_mode),
                             .uid = uid };
    int r = volume_path_clean(b->arena, path, &f.path, b->err);
    if (r < 0)
        return r;
    b->bytes += bytes.n;
    if (b->bytes > VOLUME_PAYLOAD_MAX || b->files.n >= VOLUME_FILES_MAX)
        return err_set(b->err, E_LIMIT, "the volume has more than %d files or %d bytes",
                       VOLUME_FILES_MAX, VOLUME_PAYLOAD_MAX);
    f.bytes = str_copy_arena(b->arena, bytes);
    vec_push(&b->files, f);
    return 0;
}

/* ---------------------------------------------------------------- ConfigMaps and Secrets */

/* Every key of one map of the object. */
static int add_keys(struct builder *b, const struct json *object, enum pod_object_kind kind,
                    const char *member)
{
    json_each (v, json_getc(object, member)) {
        struct str bytes;
        int r = pod_object_value(b->arena, object, kind, v->key, &bytes, b->err);
        if (r > 0)
            r = add_file(b, v->key, bytes, -1, -1);
        if (r < 0)
            return r;
    }
    return 0;
}

static int add_item(struct builder *b, const struct json *object, enum pod_object_kind kind,
                    const struct pod_projected *s, const struct pod_key_item *item)
{
    struct str bytes;
    int r = pod_object_value(b->arena, object, kind, item->key, &bytes, b->err);
    if (r < 0 || (r == 0 && s->is_optional))
        return r;
    if (r == 0)
        return err_set(b->err, -ENOENT, "%s: " STR_FMT,
                       kind == POD_OBJECT_SECRET ? "references non-existent secret key"
                                                 : "configmap references non-existent config key",
                       STR_ARG(item->key));
    return add_file(b, item->path, bytes, item->mode, -1);
}

static int add_object(struct builder *b, const struct pod_projected *s, enum pod_object_kind kind)
{
    const struct pod_objects *from = b->in->objects;
    const struct json *object =
        from->get ? from->get(from->arg, kind, b->in->pod->namespace, s->name) : NULL;
    int r = 0;
    if (!object)
        return s->is_optional ? 0 : pod_object_missing(kind, s->name, b->err);
    for (size_t i = 0; i < s->n_items && r >= 0; i++)
        r = add_item(b, object, kind, s, &s->items[i]);
    if (s->n_items || r < 0)
        return r;
    r = add_keys(b, object, kind, "data");
    return r < 0 || kind == POD_OBJECT_SECRET ? r : add_keys(b, object, kind, "binaryData");
}

/* ---------------------------------------------------------------- other sources */

static int add_downward(struct builder *b, const struct pod_projected *s)
{
    const struct volume_payload_input *in = b->in;
    int r = 0;
    for (size_t i = 0; i < s->n_items && r >= 0; i++) {
        const struct pod_key_item *item = &s->items[i];
        const struct pod_field_resource of = { .container = item->resource_container,
                                               .resource = item->resource,
                                               .divisor = item->resource_divisor };
        struct str value;
        r = item->field_path.n
                ? pod_field_text(b->arena, in->pod, in->facts, item->field_path, &value, b->err)
                : pod_field_resource_text(b->arena, in->pod, in->facts, &of, &value, b->err);
        if (r >= 0)
            r = add_file(b, item->path, value, item->mode, -1);
    }
    return r;
}

static int add_token(struct builder *b, const struct pod_projected *s, size_t i)
{
    int64_t user = volume_payload_user(b->in->pod);
    bool is_private = user >= 0 || b->in->pod->security.fs_group >= 0;
    struct str token = b->in->token ? b->in->token(b->in->arg, i) : STR_NULL;
    if (!token.n)
        b->lacks_token = true;
    return add_file(b, s->path, token, is_private ? 0600 : -1, user);
}

static int add_source(struct builder *b, const struct pod_projected *s, size_t i)
{
    switch (s->kind) {
    case POD_PROJECTED_CONFIG_MAP:
        return add_object(b, s, POD_OBJECT_CONFIG_MAP);
    case POD_PROJECTED_SECRET:
        return add_object(b, s, POD_OBJECT_SECRET);
    case POD_PROJECTED_DOWNWARD_API:
        return add_downward(b, s);
    case POD_PROJECTED_TOKEN:
        return add_token(b, s, i);
    case POD_PROJECTED_TRUST_BUNDLE:
        return err_set(b->err, E_UNSUPPORTED,
                       "clusterTrustBundle projection is not supported by this node");
    case POD_PROJECTED_CERTIFICATE:
        return err_set(b->err, E_UNSUPPORTED,
                       "podCertificate projection is not supported by this node");
    case POD_PROJECTED_UNKNOWN:
        break;
    }
    return err_set(b->err, E_UNSUPPORTED, "source %zu of the projected volume is not supported", i);
}

/* ---------------------------------------------------------------- all of them */

/* qsort() is not stable: of files with one path the later one has the higher address. */
static int by_path(const void *a, const void *b)
{
    const struct volume_file *const *x = a, *const *y = b;
    int r = str_cmp((*x)->path, (*y)->path);
    return r ? r : (*x > *y) - (*x < *y);
}

static void finish(struct builder *b, struct volume_files *ret)
{
    size_t n = b->files.n, kept = 0;
    struct volume_file *list = arena_new_n(b->arena, struct volume_file, n);
    scoped(free_scoped) struct volume_file **sorted = xnew_n(struct volume_file *, n + 1);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &b->files.p[i];
    qsort(sorted, n, sizeof(*sorted), by_path);
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && str_eq(sorted[i]->path, sorted[i + 1]->path))
            continue;
        list[kept++] = *sorted[i];
    }
    *ret = (struct volume_files){ .p = list, .n = kept, .lacks_token = b->lacks_token };
}

int volume_files_make(struct arena *a, const struct volume_payload_input *in,
                      const struct pod_volume *v, struct volume_files *ret, struct err *err)
{
    struct builder b = { .arena = a, .in = in, .volume = v, .err = err };
    int r = 0;
    for (size_t i = 0; i < v->n_sources && r >= 0; i++)
        r = add_source(&b, &v->sources[i], i);
    if (r >= 0)
        finish(&b, ret);
    vec_fini(&b.files);
    return r < 0 ? r : 0;
}
