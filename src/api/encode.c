/* SPDX-License-Identifier: Apache-2.0 */
/* Representations; see encode.h. */
#include "api/encode.h"

#include "api/core.h"
#include "api/scale.h"
#include "base/clock.h"
#include "codec/yaml.h"
#include "kube/model/builtin.h"
#include "kube/model/crd.h"
#include "kube/model/meta.h"
#include "kube/model/proto.h"
#include "kube/model/proto_transcode.h"
#include "kube/rules/object_rules.h"

#include <errno.h>

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

/*
 * Prune fields that the stored version's schema does not know, and default its fields. Reading in
 * another version changes apiVersion only: as upstream, another version shows what is stored.
 */
static void to_stored_version(struct arena *a, struct json *obj, const struct kube_resource *from)
{
    const struct kube_resource *to = from->storage;
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
        to_stored_version(a, stored, res);
    }
    buf_reset(to);
    return encode_stored(stored ? stored : obj, to);
}

/*
 * With a conversion webhook, an object is readable only if it was stored in the current storage
 * version.
 */
static bool is_readable(struct arena *a, const struct kube_resource *res, const struct json *obj)
{
    return !res->crd || !crd_wants_webhook(res->crd) ||
           str_eq(json_get_str(obj, "apiVersion"), kube_api_version(a, res->storage));
}

int encode_read_stored(struct arena *a, const struct kube_resource *res, struct encode_stored st,
                       struct json **ret, struct err *err)
{
    struct json *obj;
    int r = json_parse(a, st.value, NULL, &obj, err);
    if (r < 0)
        return r == E_PARSE ? err_ctx(err, E_CORRUPT, "stored object") : r;
    if (!st.is_current && !st.as_it_is && !is_readable(a, res, obj))
        return err_set(err, E_UNSUPPORTED,
                       "conversion webhook for " STR_FMT ", Kind=" STR_FMT
                       " failed: dormouse calls no conversion webhooks",
                       STR_ARG(json_get_str(obj, "apiVersion")), STR_ARG(res->kind));
    if (!st.is_current)
        object_default(a, res->storage, obj);
    if (res->storage != res)
        object_convert(a, obj, res->storage, res);
    if (st.rev)
        meta_set_resource_version(a, obj, st.rev);
    *ret = obj;
    return 0;
}

/* ------------------------------------------------------------------ representations */

#define META_TYPE(name) "io.k8s.apimachinery.pkg.apis.meta.v1." name

/* By apiVersion and kind; the kinds of meta.k8s.io are in every group version. */
static const struct schema *schema_of_tree(const struct json *v)
{
    struct str group = STR(""), version = json_get_str(v, "apiVersion"),
               kind = json_get_str(v, "kind");
    const struct schema *s;
    if (str_find_char(version, '/') >= 0)
        (void)str_cut(version, '/', &group, &version);
    s = builtin_schema(group, version, kind);
    return s ? s : builtin_schema(STR("meta.k8s.io"), STR("v1"), kind);
}

int encode_tree(struct arena *scratch, const struct rep *rep, const struct json *v, struct buf *to)
{
    const struct schema *s;
    switch (rep->format) {
    case FORMAT_YAML:
        return yaml_write(to, v, true);
    case FORMAT_PROTOBUF:
        s = schema_of_tree(v);
        return s ? proto_encode_object(scratch, s, v, to) : E_UNSUPPORTED;
    case FORMAT_JSON:
        break;
    }
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
 * The bytes after `"metadata":{` in the stored form; "" if the beginning is unexpected. The two
 * strings before it are ours (a group version and a kind), so they hold no escapes.
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

static bool can_splice(const struct kube_resource *res, const struct rep *rep,
                       struct encode_stored st)
{
    return rep->kind == REP_OBJECT && rep->format == FORMAT_JSON && !rep->pretty && st.is_current &&
           res->storage == res;
}

/* named: with apiVersion and kind, which upstream omits in the items of built-in lists. */
static bool splice_object(struct buf *to, const struct kube_resource *res, struct encode_stored st,
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
    if (st.rev) {
        (void)buf_add_cstr(to, "\"resourceVersion\":\"");
        (void)buf_add_u64_dec(to, st.rev);
        (void)buf_add_cstr(to, rest.p[0] == '}' ? "\"" : "\",");
    }
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
                     struct encode_stored st, bool columns, int64_t now_s, struct json **ret,
                     struct err *err)
{
    struct json *obj;
    int r = encode_read_stored(a, res, st, &obj, err);
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
    case REP_PARTIAL_LIST:
    case REP_AGGREGATED:
        break;
    }
    return -EINVAL;
}

/* The protobuf schema of what represent() returns. */
static const struct schema *rep_schema(const struct rep *rep, const struct kube_resource *res)
{
    return rep->kind == REP_PARTIAL ? builtin_type(META_TYPE("PartialObjectMetadata"))
                                    : res->schema;
}

/* Whether the stored bytes can be transcoded to protobuf without a tree. */
static bool can_transcode(const struct kube_resource *res, const struct rep *rep,
                          struct encode_stored st)
{
    return (rep->kind == REP_OBJECT || rep->kind == REP_PARTIAL) &&
           rep->format == FORMAT_PROTOBUF && st.is_current && res->storage == res;
}

enum { REVISION_MAX_BYTES = 21 };

/* text: receives the revision, REVISION_MAX_BYTES. */
static struct proto_source proto_source_of(const struct kube_resource *res, const struct rep *rep,
                                           struct encode_stored st, char *text)
{
    (void)snprintf(text, REVISION_MAX_BYTES, "%llu", (unsigned long long)st.rev);
    return (struct proto_source){ .schema = rep_schema(rep, res),
                                  .text = st.value,
                                  .revision = st.rev ? str_of(text) : STR("") };
}

/* apiVersion and kind of the representation. */
static struct str rep_api_version(struct arena *a, const struct kube_resource *res,
                                  const struct rep *rep)
{
    if (rep->kind == REP_PARTIAL)
        return rep->v1beta1 ? STR("meta.k8s.io/v1beta1") : STR("meta.k8s.io/v1");
    return kube_api_version(a, res);
}

static struct str rep_kind(const struct kube_resource *res, const struct rep *rep)
{
    return rep->kind == REP_PARTIAL ? STR("PartialObjectMetadata") : res->kind;
}

int encode_object(struct arena *scratch, const struct kube_resource *res, const struct rep *rep,
                  struct encode_stored st, int64_t now_s, struct buf *to, struct err *err)
{
    int r = E_UNSUPPORTED;
    if (can_splice(res, rep, st) && splice_object(to, res, st, true))
        return buf_add_char(to, '\n');
    if (can_transcode(res, rep, st)) {
        struct proto_transcoder t = PROTO_TRANSCODER_INIT;
        char rev[REVISION_MAX_BYTES];
        struct proto_source from = proto_source_of(res, rep, st, rev);
        r = proto_transcode_object(&t, rep_api_version(scratch, res, rep), rep_kind(res, rep),
                                   &from, to);
        proto_transcoder_fini(&t);
    }
    if (r != E_UNSUPPORTED)
        return r;
    struct json *v;
    r = represent(scratch, res, rep, st, true, now_s, &v, err);
    return r < 0 ? r : encode_tree(scratch, rep, v, to);
}

int encode_answer(struct request *rq, struct encode_stored st, struct buf *to, struct err *err)
{
    struct arena *a = &rq->arena;
    struct json *obj;
    if (!rq->sub || !str_is(rq->sub->name, "scale") || rq->rep.kind != REP_OBJECT)
        return encode_object(a, rq->res, &rq->rep, st, clock_wall_ms() / 1000, to, err);
    int r = encode_read_stored(a, rq->res, st, &obj, err);
    return r < 0 ? r : encode_tree(a, &rq->rep, scale_of(a, rq->res, obj), to);
}

/* ------------------------------------------------------------------ lists */

/* always: lists of custom objects, which are not structs upstream, have an empty `continue`. */
static struct json *list_meta_json(struct arena *a, const struct list_meta *meta, bool always)
{
    struct json *o = json_new_object(a);
    if (meta->rev)
        json_set_str(a, o, "resourceVersion",
                     str_of(arena_printf(a, "%llu", (unsigned long long)meta->rev)));
    if (meta->continue_token.n || always)
        json_set_str(a, o, "continue", meta->continue_token);
    if (meta->has_left)
        json_set_int(a, o, "remainingItemCount", (int64_t)meta->left);
    return o;
}

/* The list without its items. */
static struct json *list_head(struct arena *a, const struct kube_resource *res,
                              const struct rep *rep, const struct list_meta *meta)
{
    struct json *o = json_new_object(a);
    const char *meta_version = rep->v1beta1 ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1";
    if (rep->kind == REP_OBJECT) {
        json_set_str(a, o, "kind", res->list_kind);
        json_set_str(a, o, "apiVersion", kube_api_version(a, res));
    } else {
        json_set_str(a, o, "kind",
                     rep->kind == REP_TABLE ? STR("Table") : STR("PartialObjectMetadataList"));
        json_set_str(a, o, "apiVersion", str_of(meta_version));
    }
    json_setc(a, o, "metadata", list_meta_json(a, meta, res->crd && rep->kind == REP_OBJECT));
    if (rep->kind == REP_TABLE) {
        struct json *table = table_new(a, res, rep_version(rep), true, NULL);
        json_setc(a, o, "columnDefinitions", json_clone(a, json_getc(table, "columnDefinitions")));
    }
    return o;
}

static void begin_protobuf(struct arena *a, const struct json *head, uint64_t items_bytes,
                           struct buf *to)
{
    scoped(buf_fini_scoped) struct buf meta = BUF_INIT(BUF_MAX_DEFAULT);
    (void)proto_encode_field(a, 1, builtin_type(META_TYPE("ListMeta")), json_getc(head, "metadata"),
                             &meta);
    proto_begin_envelope(json_get_str(head, "apiVersion"), json_get_str(head, "kind"),
                         meta.n + items_bytes, to);
    (void)buf_add_str(to, buf_str(&meta));
}

void encode_list_begin(struct arena *scratch, const struct kube_resource *res,
                       const struct rep *rep, const struct list_meta *meta, struct buf *to)
{
    const struct json *head = list_head(scratch, res, rep, meta);
    const char *items = rep->kind == REP_TABLE ? "rows" : "items";
    if (rep->format == FORMAT_PROTOBUF) {
        begin_protobuf(scratch, head, meta->items_bytes, to);
        return;
    }
    if (rep->format == FORMAT_YAML) {
        (void)yaml_write(to, head, true);
        (void)buf_printf(to, "%s:", items);
        return;
    }
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    size_t end = rep->pretty ? 2 : 1; /* the newline and the brace */
    (void)(rep->pretty ? json_write_pretty(&text, head, 2) : json_write(&text, head));
    (void)buf_add_str(to, str_slice(buf_str(&text), 0, text.n - end));
    (void)buf_printf(to, rep->pretty ? ",\n  \"%s\": [" : ",\"%s\":[", items);
}

/* Write the lines of text with a prefix each, separated by newlines. */
static void write_lines(struct str text, const char *first, const char *other, struct buf *to)
{
    struct str line;
    const char *front = first;
    for (bool more = true; more; front = other) {
        more = str_cut(text, '\n', &line, &text);
        (void)buf_add_char(to, '\n');
        if (line.n)
            (void)buf_add_cstr(to, front);
        (void)buf_add_str(to, line);
    }
}

/* Write one item, indented for its list. JSON has newlines only between values. */
static int write_item(const struct rep *rep, const struct json *v, struct buf *to)
{
    if (rep->format == FORMAT_JSON && !rep->pretty)
        return json_write(to, v);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    bool yaml = rep->format == FORMAT_YAML;
    (void)(yaml ? yaml_write(&text, v, true) : json_write_pretty(&text, v, 2));
    write_lines(str_slice(buf_str(&text), 0, yaml && text.n ? text.n - 1 : text.n),
                yaml ? "- " : "    ", yaml ? "  " : "    ", to);
    return text.failed ? text.failed : to->failed;
}

/* The tree of one item; in lists of built-in kinds items have no apiVersion and kind. */
static int list_item(struct arena *a, const struct kube_resource *res, const struct rep *rep,
                     struct encode_stored st, int64_t now_s, struct json **ret, struct err *err)
{
    struct json *v;
    int r = represent(a, res, rep, st, false, now_s, &v, err);
    if (r < 0)
        return r;
    if (rep->kind == REP_TABLE)
        v = json_getc(v, "rows")->first;
    else if (rep->kind == REP_OBJECT && !res->crd) {
        (void)json_del(v, STR("apiVersion"));
        (void)json_del(v, STR("kind"));
    }
    *ret = v;
    return 0;
}

int encode_list_item(struct arena *scratch, struct proto_transcoder *t,
                     const struct kube_resource *res, const struct rep *rep,
                     struct encode_stored st, int64_t now_s, bool first, struct buf *to,
                     struct err *err)
{
    struct json *v;
    if (can_transcode(res, rep, st)) {
        char rev[REVISION_MAX_BYTES];
        struct proto_source from = proto_source_of(res, rep, st, rev);
        int r = proto_transcode_field(t, 2, &from, to);
        if (r != E_UNSUPPORTED)
            return r;
    }
    if (rep->format == FORMAT_JSON && !first)
        (void)buf_add_char(to, ',');
    if (can_splice(res, rep, st) && splice_object(to, res, st, res->crd != NULL))
        return to->failed;
    int r = list_item(scratch, res, rep, st, now_s, &v, err);
    if (r < 0)
        return r;
    if (rep->format == FORMAT_PROTOBUF)
        return proto_encode_field(scratch, 2, rep_schema(rep, res), v, to);
    return write_item(rep, v, to);
}

void encode_list_end(const struct rep *rep, bool is_empty, struct buf *to)
{
    if (rep->format == FORMAT_PROTOBUF)
        (void)proto_end_envelope(to);
    else if (rep->format == FORMAT_YAML)
        (void)buf_add_cstr(to, is_empty ? " []\n" : "\n");
    else if (rep->pretty)
        (void)buf_add_cstr(to, is_empty ? "]\n}" : "\n  ]\n}");
    else
        (void)buf_add_cstr(to, "]}\n");
}

int encode_list(struct arena *scratch, const struct kube_resource *res, const struct rep *rep,
                const struct list_meta *meta, struct str items, struct buf *to)
{
    struct list_meta full = *meta;
    full.items_bytes = items.n;
    encode_list_begin(scratch, res, rep, &full, to);
    (void)buf_add_str(to, items);
    encode_list_end(rep, items.n == 0, to);
    return to->failed;
}

/* ------------------------------------------------------------------ watch events */

/* schema: of v, for protobuf. */
static int write_event(struct arena *a, const struct rep *rep, const char *type,
                       const struct schema *schema, const struct json *v, struct buf *to)
{
    if (rep->format == FORMAT_PROTOBUF)
        return proto_encode_event(a, type, schema, v, to);
    (void)buf_printf(to, "{\"type\":\"%s\",\"object\":", type);
    (void)json_write(to, v);
    return buf_add_cstr(to, "}\n");
}

int encode_event(struct arena *scratch, const struct kube_resource *res, const struct rep *rep,
                 const char *type, struct encode_stored st, bool columns, int64_t now_s,
                 struct buf *to, struct err *err)
{
    if (can_splice(res, rep, st) && behind_metadata(st.value).n) {
        (void)buf_printf(to, "{\"type\":\"%s\",\"object\":", type);
        (void)splice_object(to, res, st, true);
        return buf_add_cstr(to, "}\n");
    }
    int r = E_UNSUPPORTED;
    if (can_transcode(res, rep, st)) {
        struct proto_transcoder t = PROTO_TRANSCODER_INIT;
        char rev[REVISION_MAX_BYTES];
        struct proto_source from = proto_source_of(res, rep, st, rev);
        r = proto_transcode_event(&t, type, rep_api_version(scratch, res, rep), rep_kind(res, rep),
                                  &from, to);
        proto_transcoder_fini(&t);
    }
    if (r != E_UNSUPPORTED)
        return r;
    struct json *v;
    r = represent(scratch, res, rep, st, columns, now_s, &v, err);
    return r < 0 ? r : write_event(scratch, rep, type, rep_schema(rep, res), v, to);
}

/* An object that carries only the revision; for built-in kinds with their zero values. */
static struct json *bookmark_object(struct arena *a, const struct kube_resource *res,
                                    const struct rep *rep, uint64_t rev, bool initial_end,
                                    bool columns)
{
    struct json *obj = json_new_object(a);
    json_set_str(a, obj, "kind", res->kind);
    json_set_str(a, obj, "apiVersion", kube_api_version(a, res));
    struct json *meta = json_obj(a, obj, "metadata");
    json_set_str(a, meta, "resourceVersion",
                 str_of(arena_printf(a, "%llu", (unsigned long long)rev)));
    if (initial_end)
        json_set_str(a, json_obj(a, meta, "annotations"), "k8s.io/initial-events-end", STR("true"));
    if (!res->crd)
        (void)schema_normalize(a, res->schema, obj, "", NULL, NULL, NULL);
    if (rep->kind == REP_PARTIAL)
        return partial_of(a, rep, obj);
    return rep->kind == REP_TABLE ? table_of(a, res, rep, obj, rev, columns, 0) : obj;
}

void encode_bookmark(struct arena *scratch, const struct kube_resource *res, const struct rep *rep,
                     uint64_t rev, bool initial_end, bool columns, struct buf *to)
{
    const struct json *v = bookmark_object(scratch, res, rep, rev, initial_end, columns);
    (void)write_event(scratch, rep, "BOOKMARK", rep_schema(rep, res), v, to);
}

void encode_error_event(struct arena *scratch, const struct rep *rep, const struct json *status,
                        struct buf *to)
{
    (void)write_event(scratch, rep, "ERROR", builtin_type(META_TYPE("Status")), status, to);
}
