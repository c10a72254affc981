/* SPDX-License-Identifier: Apache-2.0 */
/* Representations; see encode.h. */
#include "api/encode.h"

#include "api/core.h"
#include "api/scale.h"
#include "base/clock.h"
#include "codec/media.h"
#include "codec/yaml.h"
#include "kube/meta.h"
#include "kube/object.h"

#include <errno.h>

/* ------------------------------------------------------------------ Accept */

static bool rep_of_media(const struct media_type *m, bool stream, struct rep *ret)
{
    struct rep rep = { 0 };
    struct str as = media_param(m, "as"), version = media_param(m, "v"),
               how = media_param(m, "stream");
    bool json = media_matches(m, "application", "json");
    if (m->q_milli == 0 || !(json || (!stream && media_matches(m, "application", "yaml"))))
        return false;
    rep.format = json ? FORMAT_JSON : FORMAT_YAML;
    if (how.n && !(stream && str_is(how, "watch")))
        return false;
    if (as.n == 0) {
        *ret = rep;
        return true;
    }
    if (!str_is(media_param(m, "g"), "meta.k8s.io") ||
        !(str_is(version, "v1") || str_is(version, "v1beta1")))
        return false;
    rep.v1beta1 = str_is(version, "v1beta1");
    if (str_is(as, "Table"))
        rep.kind = REP_TABLE;
    else if (str_is(as, "PartialObjectMetadata") || str_is(as, "PartialObjectMetadataList"))
        rep.kind = REP_PARTIAL;
    else
        return false;
    *ret = rep;
    return true;
}

bool rep_negotiate(struct str accept, bool stream, struct rep *ret)
{
    struct media_accept ranges;
    *ret = (struct rep){ 0 };
    if (str_trim(accept).n == 0)
        return true;
    if (media_parse_accept(accept, &ranges) < 0)
        return false;
    for (size_t i = 0; i < ranges.n; i++)
        if (rep_of_media(&ranges.at[i], stream, ret))
            return true;
    return false;
}

const char *rep_content_type(const struct rep *rep, bool stream)
{
    (void)stream;
    return rep->format == FORMAT_YAML ? "application/yaml" : "application/json";
}

/* ------------------------------------------------------------------ stored form */

static bool is_head_key(struct str key)
{
    return str_is(key, "apiVersion") || str_is(key, "kind") || str_is(key, "metadata");
}

static void write_member(struct buf *to, const struct json *v)
{
    (void)json_write_str(to, v->key);
    (void)buf_add_char(to, ':');
    (void)json_write(to, v);
}

static void write_stored_meta(struct buf *to, const struct json *meta)
{
    bool first = true;
    (void)buf_add_cstr(to, ",\"metadata\":{");
    json_each (m, meta) {
        if (str_is(m->key, "resourceVersion"))
            continue;
        if (!first)
            (void)buf_add_char(to, ',');
        first = false;
        write_member(to, m);
    }
    (void)buf_add_char(to, '}');
}

static int encode_stored(const struct json *obj, struct buf *to)
{
    (void)buf_add_cstr(to, "{\"apiVersion\":");
    (void)json_write_str(to, json_get_str(obj, "apiVersion"));
    (void)buf_add_cstr(to, ",\"kind\":");
    (void)json_write_str(to, json_get_str(obj, "kind"));
    write_stored_meta(to, json_getc(obj, "metadata"));
    json_each (m, obj) {
        if (is_head_key(m->key))
            continue;
        (void)buf_add_char(to, ',');
        write_member(to, m);
    }
    return buf_add_char(to, '}');
}

/* What the other version's schema does not know goes, what it adds comes. */
static void change_version(struct arena *a, struct json *obj, const struct kube_resource *from,
                           const struct kube_resource *to)
{
    object_convert(a, obj, from, to);
    if (!to->crd)
        return;
    schema_prune(to->schema, obj, true, NULL, NULL);
    object_default(a, to, obj);
}

int encode_for_storage(struct arena *a, const struct kube_resource *res, const struct json *obj,
                       struct buf *to)
{
    struct json *stored = NULL;
    if (res->storage != res) {
        stored = json_clone(a, obj);
        change_version(a, stored, res, res->storage);
    }
    buf_reset(to);
    return encode_stored(stored ? stored : obj, to);
}

int decode_stored(struct arena *a, const struct kube_resource *res, struct stored st,
                  struct json **ret, struct err *err)
{
    struct json *obj;
    int r = json_parse(a, st.value, NULL, &obj, err);
    if (r < 0)
        return r == E_PARSE ? err_ctx(err, E_CORRUPT, "stored object") : r;
    if (!st.is_current)
        object_default(a, res->storage, obj);
    if (res->storage != res)
        change_version(a, obj, res->storage, res);
    meta_set_resource_version(a, obj, st.rev);
    *ret = obj;
    return 0;
}

/* ------------------------------------------------------------------ representations */

int encode_tree(const struct rep *rep, const struct json *v, struct buf *to)
{
    if (rep->format == FORMAT_YAML)
        return yaml_write(to, v, true);
    if (rep->pretty)
        return json_write_pretty(to, v, 2);
    (void)json_write(to, v);
    return buf_add_char(to, '\n');
}

static struct str rep_version(const struct rep *rep)
{
    return rep->v1beta1 ? STR("v1beta1") : STR("v1");
}

/*
 * What stands behind `"metadata":{` in stored bytes; "" if they do not begin as they should. The
 * two strings in front are ours (a group version and a kind), so they hold no escapes.
 */
static struct str behind_metadata(struct str value)
{
    static const char first[] = "{\"apiVersion\":\"", second[] = ",\"kind\":\"",
                      third[] = ",\"metadata\":{";
    struct str s = value, skipped;
    if (!str_has_prefix(s, str_of(first)))
        return STR("");
    s = str_slice(s, sizeof first - 1, s.n);
    if (!str_cut(s, '"', &skipped, &s) || !str_has_prefix(s, str_of(second)))
        return STR("");
    s = str_slice(s, sizeof second - 1, s.n);
    if (!str_cut(s, '"', &skipped, &s) || !str_has_prefix(s, str_of(third)))
        return STR("");
    return str_slice(s, sizeof third - 1, s.n);
}

static bool can_splice(const struct kube_resource *res, const struct rep *rep, struct stored st)
{
    return rep->kind == REP_OBJECT && rep->format == FORMAT_JSON && !rep->pretty && st.is_current &&
           res->storage == res;
}

/* named: with apiVersion and kind, which upstream leaves out of the items of built-in lists. */
static bool splice_object(struct buf *to, const struct kube_resource *res, struct stored st,
                          bool named)
{
    struct str rest = behind_metadata(st.value);
    if (rest.n == 0)
        return false;
    (void)buf_add_char(to, '{');
    if (named) {
        size_t head = (size_t)(rest.p - st.value.p);
        (void)buf_add(to, st.value.p + 1, head - 1);
    } else {
        (void)buf_add_cstr(to, "\"metadata\":{");
    }
    (void)buf_add_cstr(to, "\"resourceVersion\":\"");
    (void)buf_add_u64_dec(to, st.rev);
    (void)buf_add_cstr(to, rest.p[0] == '}' ? "\"" : "\",");
    (void)buf_add_str(to, rest);
    (void)res;
    return true;
}

static struct json *table_of(struct arena *a, const struct kube_resource *res,
                             const struct rep *rep, const struct json *obj, uint64_t rev,
                             bool columns, int64_t now_s)
{
    struct json *meta = json_new_object(a);
    json_set_str(a, meta, "resourceVersion",
                 str_of(arena_printf(a, "%llu", (unsigned long long)rev)));
    struct json *table = table_new(a, res, rep_version(rep), columns, meta);
    table_add_row(a, table, res, obj, (enum table_include)rep->include, rep_version(rep), now_s);
    return table;
}

static struct json *partial_of(struct arena *a, const struct rep *rep, const struct json *obj)
{
    struct json *p = object_partial_metadata(a, obj);
    if (rep->v1beta1)
        json_set_str(a, p, "apiVersion", STR("meta.k8s.io/v1beta1"));
    return p;
}

/* The tree of one object in the representation. */
static int represent(struct arena *a, const struct kube_resource *res, const struct rep *rep,
                     struct stored st, bool columns, int64_t now_s, struct json **ret,
                     struct err *err)
{
    struct json *obj;
    int r = decode_stored(a, res, st, &obj, err);
    if (r < 0)
        return r;
    switch (rep->kind) {
    case REP_OBJECT:
        *ret = obj;
        return 0;
    case REP_TABLE:
        *ret = table_of(a, res, rep, obj, st.rev, columns, now_s);
        return 0;
    case REP_PARTIAL:
        *ret = partial_of(a, rep, obj);
        return 0;
    }
    return -EINVAL;
}

int encode_object(struct arena *scratch, const struct kube_resource *res, const struct rep *rep,
                  struct stored st, int64_t now_s, struct buf *to, struct err *err)
{
    if (can_splice(res, rep, st) && splice_object(to, res, st, true))
        return buf_add_char(to, '\n');
    struct json *v;
    int r = represent(scratch, res, rep, st, true, now_s, &v, err);
    return r < 0 ? r : encode_tree(rep, v, to);
}

int encode_answer(struct request *rq, struct stored st, struct buf *to, struct err *err)
{
    struct arena *a = &rq->arena;
    struct json *obj;
    if (!rq->sub || !str_is(rq->sub->name, "scale") || rq->rep.kind != REP_OBJECT)
        return encode_object(a, rq->res, &rq->rep, st, clock_wall_ms() / 1000, to, err);
    int r = decode_stored(a, rq->res, st, &obj, err);
    return r < 0 ? r : encode_tree(&rq->rep, scale_of(a, rq->res, obj), to);
}

/* ------------------------------------------------------------------ lists */

static void write_list_meta(const struct list_meta *meta, struct buf *to)
{
    (void)buf_printf(to, "\"metadata\":{\"resourceVersion\":\"%llu\"",
                     (unsigned long long)meta->rev);
    if (meta->continue_token.n) {
        (void)buf_add_cstr(to, ",\"continue\":");
        (void)json_write_str(to, meta->continue_token);
    }
    if (meta->has_left)
        (void)buf_printf(to, ",\"remainingItemCount\":%llu", (unsigned long long)meta->left);
    (void)buf_add_char(to, '}');
}

static void write_table_head(struct arena *scratch, const struct kube_resource *res,
                             const struct rep *rep, struct buf *to)
{
    struct json *table = table_new(scratch, res, rep_version(rep), true, NULL);
    (void)json_write(to, json_getc(table, "columnDefinitions"));
}

void encode_list_begin(struct arena *scratch, const struct kube_resource *res,
                       const struct rep *rep, const struct list_meta *meta, struct buf *to)
{
    const char *version = rep->v1beta1 ? "v1beta1" : "v1";
    switch (rep->kind) {
    case REP_OBJECT:
        (void)buf_printf(to, "{\"kind\":\"" STR_FMT "\",\"apiVersion\":\"" STR_FMT "\",",
                         STR_ARG(res->list_kind), STR_ARG(kube_api_version(scratch, res)));
        write_list_meta(meta, to);
        (void)buf_add_cstr(to, ",\"items\":[");
        return;
    case REP_PARTIAL:
        (void)buf_printf(
            to, "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/%s\",",
            version);
        write_list_meta(meta, to);
        (void)buf_add_cstr(to, ",\"items\":[");
        return;
    case REP_TABLE:
        (void)buf_printf(to, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/%s\",", version);
        write_list_meta(meta, to);
        (void)buf_add_cstr(to, ",\"columnDefinitions\":");
        write_table_head(scratch, res, rep, to);
        (void)buf_add_cstr(to, ",\"rows\":[");
        return;
    }
}

int encode_list_item(struct arena *scratch, const struct kube_resource *res, const struct rep *rep,
                     struct stored st, int64_t now_s, bool first, struct buf *to, struct err *err)
{
    if (!first)
        (void)buf_add_char(to, ',');
    bool named = res->crd != NULL;
    if (can_splice(res, rep, st) && splice_object(to, res, st, named))
        return to->failed;
    struct json *v;
    int r = represent(scratch, res, rep, st, false, now_s, &v, err);
    if (r < 0)
        return r;
    if (rep->kind == REP_TABLE)
        v = json_getc(v, "rows")->first;
    else if (rep->kind == REP_OBJECT && !named) {
        (void)json_del(v, STR("apiVersion"));
        (void)json_del(v, STR("kind"));
    }
    return json_write(to, v);
}

void encode_list_end(const struct rep *rep, struct buf *to)
{
    (void)rep;
    (void)buf_add_cstr(to, "]}\n");
}

/* ------------------------------------------------------------------ watch events */

int encode_event(struct arena *scratch, const struct kube_resource *res, const struct rep *rep,
                 const char *type, struct stored st, bool columns, int64_t now_s, struct buf *to,
                 struct err *err)
{
    (void)buf_printf(to, "{\"type\":\"%s\",\"object\":", type);
    if (!(can_splice(res, rep, st) && splice_object(to, res, st, true))) {
        struct json *v;
        int r = represent(scratch, res, rep, st, columns, now_s, &v, err);
        if (r < 0)
            return r;
        (void)json_write(to, v);
    }
    return buf_add_cstr(to, "}\n");
}

static struct json *bookmark_object(struct arena *a, const struct kube_resource *res,
                                    const struct rep *rep, uint64_t rev, bool initial_end)
{
    struct json *obj = json_new_object(a);
    json_set_str(a, obj, "kind", res->kind);
    json_set_str(a, obj, "apiVersion", kube_api_version(a, res));
    struct json *meta = json_obj(a, obj, "metadata");
    json_set_str(a, meta, "resourceVersion",
                 str_of(arena_printf(a, "%llu", (unsigned long long)rev)));
    if (initial_end)
        json_set_str(a, json_obj(a, meta, "annotations"), "k8s.io/initial-events-end", STR("true"));
    switch (rep->kind) {
    case REP_OBJECT:
        return obj;
    case REP_PARTIAL:
        return partial_of(a, rep, obj);
    case REP_TABLE:
        return table_of(a, res, rep, obj, rev, true, 0);
    }
    return obj;
}

void encode_bookmark(struct arena *scratch, const struct kube_resource *res, const struct rep *rep,
                     uint64_t rev, bool initial_end, struct buf *to)
{
    (void)buf_add_cstr(to, "{\"type\":\"BOOKMARK\",\"object\":");
    (void)json_write(to, bookmark_object(scratch, res, rep, rev, initial_end));
    (void)buf_add_cstr(to, "}\n");
}

void encode_error_event(const struct json *status, struct buf *to)
{
    (void)buf_add_cstr(to, "{\"type\":\"ERROR\",\"object\":");
    (void)json_write(to, status);
    (void)buf_add_cstr(to, "}\n");
}
