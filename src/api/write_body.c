/* SPDX-License-Identifier: Apache-2.0 */
/* Options and bodies of the writing verbs, patches included: from bytes to trees. See write.h. */
#include "api/write.h"

#include "api/negotiate.h"
#include "codec/media.h"
#include "codec/yaml.h"
#include "kube/model/builtin.h"
#include "kube/model/managed_fields.h"
#include "kube/model/patch.h"
#include "kube/model/proto.h"

#include <errno.h>

enum { BODY_SUMMARY_BYTES = 30 };

enum patch_type write_patch_type(const struct request *rq)
{
    static const struct {
        const char *media;
        enum patch_type type;
    } types[] = { { "application/json-patch+json", PATCH_JSON },
                  { "application/merge-patch+json", PATCH_MERGE },
                  { "application/strategic-merge-patch+json", PATCH_STRATEGIC },
                  { "application/apply-patch+yaml", PATCH_APPLY } };
    struct media_type media;
    if (rq->route.verb != KUBE_PATCH || media_parse(rq->content_type, &media) < 0)
        return PATCH_NONE;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (media_is(&media, types[i].media))
            return types[i].type;
    return PATCH_NONE;
}

static void parse_dry_run(struct request *rq, struct field_errors *errs, struct write_options *ret)
{
    struct arena *a = &rq->arena;
    const struct url_target *url = rq->route.url;
    struct json *given = json_new_array(a);
    bool known = true;
    for (size_t i = 0; i < url->n_pairs; i++) {
        if (!str_is(url->pairs[i].name, "dryRun"))
            continue;
        json_add(given, json_new_str(a, url->pairs[i].value));
        known = known && str_is(url->pairs[i].value, "All");
    }
    ret->dry_run = given->n > 0;
    if (!known)
        write_bad_dry_run(given, errs);
}

void write_bad_dry_run(const struct json *given, struct field_errors *errs)
{
    static const struct str all[] = { { "All", 3 } };
    struct fpath at = fpath_child(NULL, STR("dryRun"));
    field_error_enum(errs, &at, given, all, 1);
}

/* The field manager of this request. */
static void parse_manager(struct request *rq, bool is_apply, struct field_errors *errs,
                          struct write_options *ret)
{
    struct fpath manager = fpath_child(NULL, STR("fieldManager")),
                 force = fpath_child(NULL, STR("force"));
    ret->manager = route_query(&rq->route, "fieldManager");
    ret->force = url_query_bool(rq->route.url, "force");
    if (is_apply && ret->manager.n == 0)
        field_error(errs, FIELD_REQUIRED, &manager, NULL, "is required for apply patch");
    if (!is_apply && rq->route.verb == KUBE_PATCH && url_query_get(rq->route.url, "force").p)
        field_error(errs, FIELD_FORBIDDEN, &force, NULL,
                    "may not be specified for non-apply patch");
    managed_check_manager(ret->manager, errs);
    if (ret->manager.n == 0)
        ret->manager = managed_agent(&rq->arena, rq->user_agent);
}

struct json *write_parse_options(struct request *rq, struct write_options *ret)
{
    struct arena *a = &rq->arena;
    struct field_errors errs = field_errors_init(a);
    *ret = (struct write_options){ .fv = FIELD_VALIDATION_WARN };
    parse_manager(rq, write_patch_type(rq) == PATCH_APPLY, &errs, ret);
    parse_dry_run(rq, &errs, ret);
    struct str fv = route_query(&rq->route, "fieldValidation");
    if (object_field_validation_parse(fv, &ret->fv) < 0) {
        static const struct str known[] = {
            { "", 0 }, { "Ignore", 6 }, { "Strict", 6 }, { "Warn", 4 }
        };
        struct fpath at = fpath_child(NULL, STR("fieldValidation"));
        field_error_enum(&errs, &at, json_new_str(a, fv), known, ARRAY_LEN(known));
    }
    if (errs.n == 0)
        return NULL;
    unsigned verb = rq->route.verb;
    const char *kind = verb == KUBE_CREATE   ? "CreateOptions"
                       : verb == KUBE_PATCH  ? "PatchOptions"
                       : verb == KUBE_UPDATE ? "UpdateOptions"
                                             : "DeleteOptions";
    return status_invalid(a, STR("meta.k8s.io"), str_of(kind), STR(""), &errs);
}

static struct json *unsupported_body(struct request *rq)
{
    return status_unsupported_media_type(&rq->arena, negotiate_accepted(false));
}

/* Custom resources have no protobuf. */
static int no_protobuf(struct request *rq, const struct proto_envelope *env, struct err *err)
{
    struct str group, version;
    if (!str_cut(env->api_version, '/', &group, &version))
        version = env->api_version;
    return err_set(err, E_INVALID,
                   STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT
                           ": object *unstructured.Unstructured does not implement the protobuf "
                           "marshalling interface and cannot be encoded to a protobuf message",
                   STR_ARG(env->kind), STR_ARG(version), STR_ARG(rq->res->kind));
}

static int parse_protobuf(struct request *rq, const struct schema *schema, struct json **ret,
                          struct err *err)
{
    struct arena *a = &rq->arena;
    struct proto_envelope env;
    struct json *obj;
    a->max_bytes = 0; /* the decoder has its own limit */
    int r = proto_open(buf_str(&rq->body), &env, err);
    if (r >= 0 && !(schema->flags & SCHEMA_BUILTIN))
        return no_protobuf(rq, &env, err);
    if (r >= 0)
        r = proto_decode(a, schema, env.raw, &obj, err);
    if (r < 0)
        return r;
    if (env.api_version.n)
        json_set_str(a, obj, "apiVersion", env.api_version);
    if (env.kind.n)
        json_set_str(a, obj, "kind", env.kind);
    *ret = obj;
    return 0;
}

/*
 * Members are sorted as in the JSON that upstream converts YAML to, so that errors have the same
 * order.
 */
static int parse_yaml(struct arena *a, struct str text, const struct yaml_opts *opts,
                      struct json **ret, struct err *err)
{
    int r = yaml_parse(a, text, opts, ret, err);
    if (r >= 0)
        json_sort(a, *ret);
    return r;
}

/* E_UNSUPPORTED: an unsupported content type. */
static int parse_as(struct request *rq, const struct schema *schema,
                    struct object_warnings *warnings, struct json **ret, struct err *err)
{
    struct arena *a = &rq->arena;
    void (*on_duplicate)(void *arg, struct str path) = warnings ? object_on_duplicate : NULL;
    const struct json_parse_opts json = { .on_duplicate = on_duplicate, .arg = warnings };
    const struct yaml_opts yaml = { .on_duplicate = on_duplicate,
                                    .arg = warnings,
                                    .first_only = true };
    struct media_type type;
    bool typed = rq->content_type.n > 0;
    if (typed && media_parse(rq->content_type, &type) < 0)
        return E_UNSUPPORTED;
    bool is_patch = rq->route.verb == KUBE_PATCH && str_has_suffix(type.subtype, STR("+json"));
    if (!typed || media_is(&type, "application/json") || is_patch)
        return json_parse(a, buf_str(&rq->body), &json, ret, err);
    if (media_is(&type, "application/yaml"))
        return parse_yaml(a, buf_str(&rq->body), &yaml, ret, err);
    if (media_is(&type, "application/vnd.kubernetes.protobuf") && schema)
        return parse_protobuf(rq, schema, ret, err);
    return E_UNSUPPORTED;
}

/* ---- YAML errors in upstream's words ---- */

static enum field_validation validation_of(const struct request *rq)
{
    enum field_validation fv = FIELD_VALIDATION_WARN;
    (void)object_field_validation_parse(route_query(&rq->route, "fieldValidation"), &fv);
    return fv;
}

/* The key at the end of `duplicate field "spec.a"`, and the last line on which it appears. */
static size_t find_repeated(struct str warning, struct str body, struct str *ret_name)
{
    size_t from = warning.n ? warning.n - 1 : 0, line = 1;
    while (from > 0 && warning.p[from - 1] != '.' && warning.p[from - 1] != '"')
        from--;
    struct str name = str_slice(warning, from, warning.n - 1);
    size_t at = name.n ? 0 : body.n;
    char first = name.n ? name.p[0] : '\0';
    /* Backwards, one byte at a time: a large body is searched for each of the warnings. */
    for (size_t k = body.n - MIN(name.n, body.n) + 1; k-- > 0 && name.n && name.n <= body.n;) {
        if (body.p[k] != first || memcmp(body.p + k, name.p, name.n) != 0)
            continue;
        at = k;
        break;
    }
    for (size_t k = 0; k < at; k++)
        line += body.p[k] == '\n';
    *ret_name = name;
    return line;
}

enum { REPEATED_MAX_BYTES = 256 * 1024 }; /* larger bodies are not parsed again for line numbers */

struct repeated {
    size_t n;
    unsigned line[OBJECT_MAX_WARNINGS];
};

static void on_repeated(void *arg, struct str key, unsigned line)
{
    struct repeated *r = arg;
    (void)key;
    if (r->n < ARRAY_LEN(r->line))
        r->line[r->n++] = line;
}

/* The lines of a YAML body's repeated keys, in the order of their warnings; false: unknown. */
static bool find_lines(const struct object_warnings *w, struct str body, struct repeated *ret)
{
    struct arena a = { .budget = w->a->budget, .max_bytes = API_PARSE_MAX_BYTES };
    struct yaml_marks marks = { 0 };
    const struct yaml_opts opts = {
        .on_repeated = on_repeated, .arg = ret, .first_only = true, .marks = &marks
    };
    struct json *v;
    ret->n = 0;
    bool known = body.n <= REPEATED_MAX_BYTES && yaml_parse(&a, body, &opts, &v, NULL) >= 0 &&
                 ret->n == w->n;
    yaml_marks_fini(&marks);
    arena_fini(&a);
    return known;
}

/* Texts of sigs.k8s.io/yaml for repeated keys: a warning for each, one error for all of them. */
static void tell_repeated(struct object_warnings *w, struct str body, enum field_validation fv,
                          const char *before)
{
    struct buf all = BUF_INIT(16 * 1024), one = BUF_INIT(4096);
    struct repeated at;
    bool known = w->n && find_lines(w, body, &at);
    (void)buf_printf(&all, "%syaml: unmarshal errors:", before);
    for (size_t i = 0; i < w->n; i++) {
        struct str name;
        size_t line = find_repeated(w->text[i], body, &name);
        if (known)
            line = at.line[i];
        buf_reset(&one);
        (void)buf_printf(&one, "line %zu: key ", line);
        field_go_quote(&one, name);
        (void)buf_add_cstr(&one, " already set in map");
        (void)buf_printf(&all, "\n  %s", buf_cstr(&one));
        w->text[i] = str_copy_arena(w->a, buf_str(&one));
    }
    if (w->n && fv == FIELD_VALIDATION_STRICT) {
        w->n = 1;
        w->text[0] = str_copy_arena(w->a, buf_str(&all));
    }
    buf_fini(&all);
    buf_fini(&one);
}

/*
 * Convert our error position to go-yaml's: its parser counts lines from 0 and its scanner from 1,
 * and neither prints the first line.
 */
static const char *yaml_reason(struct arena *a, struct str text)
{
    struct str place, reason, number, rest;
    uint64_t line;
    if (!str_has_prefix(text, STR("line ")) || !str_cut(text, ':', &place, &reason) ||
        !str_cut(str_slice(place, 5, place.n), ',', &number, &rest) ||
        parse_u64(number, 1, UINT32_MAX, &line) < 0)
        return arena_printf(a, "yaml: " STR_FMT, STR_ARG(text));
    reason = str_trim(reason);
    bool by_parser = str_has_prefix(reason, STR("did not find expected"));
    if (line == 1)
        return arena_printf(a, "yaml: " STR_FMT, STR_ARG(reason));
    return arena_printf(a, "yaml: line %llu: " STR_FMT, (unsigned long long)line - by_parser,
                        STR_ARG(reason));
}

/* ---- bodies ---- */

/* "ConfigMap": the kind in the body's type. */
static struct str kind_of_body(const struct request *rq, const struct schema *schema)
{
    struct str name = schema ? builtin_type_name(schema) : STR("");
    for (size_t i = name.n; i > 0; i--)
        if (name.p[i - 1] == '.')
            return str_slice(name, i, name.n);
    return name.n ? name : rq->res->kind;
}

/* The first bytes, verbatim if they look like JSON. */
static void summarize(struct buf *to, struct str body)
{
    struct str head = str_slice(body, 0, BODY_SUMMARY_BYTES);
    if (body.n == 0) {
        (void)buf_add_cstr(to, "<empty>");
        return;
    }
    for (size_t i = 0; i < head.n; i++) {
        if (body.p[0] == '{')
            (void)buf_add_char(to, head.p[i]);
        else
            (void)buf_printf(to, "%02x", (unsigned char)head.p[i]);
    }
    if (body.n > head.n)
        (void)buf_add_cstr(to, " ...");
}

static struct json *unrecognized(struct request *rq, const struct schema *schema, const char *why)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    if (rq->route.verb & (KUBE_DELETE | KUBE_DELETECOLLECTION)) /* options have plain errors */
        return status_bad_request(&rq->arena, str_of(why));
    (void)buf_printf(&text,
                     "the object provided is unrecognized (must be of type " STR_FMT "): %s (",
                     STR_ARG(kind_of_body(rq, schema)), why);
    summarize(&text, buf_str(&rq->body));
    (void)buf_add_char(&text, ')');
    return status_bad_request(&rq->arena, str_copy_arena(&rq->arena, buf_str(&text)));
}

#define TYPE_META                                                                                  \
    "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "               \
    "\"json:\\\"kind,omitempty\\\"\" }"
#define NO_KIND "couldn't get version/kind; json parse error: "

/* apiVersion and kind must be readable before anything else. */
static const char *check_type_meta(struct arena *a, const struct json *v)
{
    static const char *const names[] = { "apiVersion", "kind" };
    if (v->type != JSON_OBJECT)
        return arena_printf(a, NO_KIND "json: cannot unmarshal %s into Go value of type " TYPE_META,
                            field_go_kind(v));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct json *m = json_getc(v, names[i]);
        if (m && m->type != JSON_STRING && m->type != JSON_NULL)
            return arena_printf(
                a, NO_KIND "json: cannot unmarshal %s into Go struct field .%s of type string",
                field_go_kind(m), names[i]);
    }
    struct str version = json_get_str(v, "apiVersion"), head, tail, more;
    if (str_cut(version, '/', &head, &tail) && str_cut(tail, '/', &head, &more))
        return arena_printf(a, "unexpected GroupVersion string: " STR_FMT, STR_ARG(version));
    return NULL;
}

static bool body_is(const struct request *rq, const char *wanted)
{
    struct media_type type;
    return media_parse(rq->content_type, &type) >= 0 && media_is(&type, wanted);
}

static bool is_yaml(const struct request *rq)
{
    return body_is(rq, "application/yaml");
}

bool write_body_is_json(const struct request *rq)
{
    return rq->content_type.n == 0 || body_is(rq, "application/json");
}

/* Our text has the position before the reason. */
static const char *json_reason(struct arena *a, const struct err *err)
{
    struct str text = str_of(err_text(err)), place, reason;
    if (str_has_prefix(text, STR("offset ")) && str_cut(text, ':', &place, &reason))
        text = str_trim(reason);
    return str_dup_arena(a, text);
}

/* Custom objects must have a kind; the JSON and YAML decoders word the error differently. */
static struct json *no_kind(struct request *rq, const struct schema *schema)
{
    struct arena *a = &rq->arena;
    const struct kube_resource *res = rq->res;
    const char *why =
        arena_printf(a, "Object 'Kind' is missing in '" STR_FMT "'", STR_ARG(buf_str(&rq->body)));
    if (validation_of(rq) == FIELD_VALIDATION_STRICT)
        return unrecognized(rq, schema, why);
    return status_bad_request(
        a, str_of(arena_printf(
               a, STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT ": %s",
               STR_ARG(res->kind), STR_ARG(res->version), STR_ARG(res->kind), why)));
}

struct json *write_parse_body(struct request *rq, const struct schema *schema,
                              struct object_warnings *warnings, struct json **ret)
{
    struct arena *a = &rq->arena;
    struct err err = { 0 };
    a->max_bytes = a->total_bytes + API_PARSE_MAX_BYTES;
    int r = parse_as(rq, schema, warnings, ret, &err);
    a->max_bytes = API_ARENA_MAX_BYTES;
    if (r == E_UNSUPPORTED)
        return unsupported_body(rq);
    if (r == -EMSGSIZE)
        return status_too_much_work(a);
    if (r == E_INVALID) /* the text is complete */
        return status_bad_request(a, str_copy_arena(a, str_of(err_text(&err))));
    if (r < 0 && body_is(rq, "application/vnd.kubernetes.protobuf"))
        return unrecognized(rq, schema, err_text(&err));
    if (r < 0)
        return unrecognized(rq, schema,
                            is_yaml(rq) ? yaml_reason(a, str_of(err_text(&err)))
                                        : arena_printf(a, NO_KIND "%s", json_reason(a, &err)));
    if ((*ret)->type == JSON_NULL)
        *ret = json_new_object(a);
    const char *why = check_type_meta(a, *ret);
    if (why)
        return unrecognized(rq, schema, why);
    if (rq->res->crd && schema == rq->res->schema && json_get_str(*ret, "kind").n == 0)
        return no_kind(rq, schema);
    if (warnings && is_yaml(rq))
        tell_repeated(warnings, buf_str(&rq->body), validation_of(rq), "");
    return NULL;
}

/* ------------------------------------------------------------------ patches */

#define DECODING      "error decoding patch: "
#define DECODING_YAML "error decoding YAML: "

/* In the words of encoding/json. */
static struct json *cannot_unmarshal(struct arena *a, const char *before, const struct json *v,
                                     const char *type)
{
    return status_bad_request(a, str_of(arena_printf(a, "%sjson: cannot unmarshal %s into Go %s",
                                                     before, field_go_kind(v), type)));
}

static struct json *too_large_or(struct arena *a, int r, const char *why)
{
    if (r == -EMSGSIZE)
        return status_too_much_work(a);
    return status_bad_request(a, str_of(why));
}

/* An apply configuration is YAML; kubectl and others send JSON in it. */
static struct json *parse_config(struct request *rq, struct object_warnings *warnings,
                                 struct json **ret)
{
    struct arena *a = &rq->arena;
    struct err err = { 0 };
    /* YAML is parsed untrimmed, so that line numbers are those of the body. */
    struct str body = buf_str(&rq->body), trimmed = str_trim(body);
    const struct json_parse_opts json = { .on_duplicate = object_on_duplicate, .arg = warnings };
    const struct yaml_opts yaml = { .on_duplicate = object_on_duplicate,
                                    .arg = warnings,
                                    .first_only = true };
    int r = E_PARSE;
    if (trimmed.n && trimmed.p[0] == '{')
        r = json_parse(a, trimmed, &json, ret, NULL);
    if (r == E_PARSE) {
        warnings->n = 0;
        r = parse_yaml(a, body, &yaml, ret, &err);
    }
    if (r < 0)
        return too_large_or(a, r,
                            arena_printf(a, DECODING_YAML "error converting YAML to JSON: %s",
                                         yaml_reason(a, str_of(err_text(&err)))));
    if ((*ret)->type == JSON_NULL)
        *ret = json_new_object(a);
    if ((*ret)->type != JSON_OBJECT)
        return cannot_unmarshal(a, DECODING_YAML "error unmarshaling JSON: while decoding JSON: ",
                                *ret, "value of type map[string]interface {}");
    tell_repeated(warnings, body, validation_of(rq), "error converting YAML to JSON: ");
    return NULL;
}

static struct json *check_operation(struct arena *a, const struct json *op, bool strict, size_t at,
                                    struct object_warnings *w)
{
    static const char *const texts[] = { "op", "path", "from" };
    if (op->type != JSON_OBJECT)
        return strict ? cannot_unmarshal(a, DECODING, op, "value of type handlers.jsonPatchOp")
                      : cannot_unmarshal(a, "", op, "value of type jsonpatch.Operation");
    json_each (m, op) {
        bool known = str_is(m->key, "value");
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
            if (!str_is(m->key, texts[i]))
                continue;
            known = true;
            if (strict && m->type != JSON_STRING && m->type != JSON_NULL)
                return cannot_unmarshal(
                    a, DECODING, m,
                    arena_printf(a, "struct field jsonPatchOp.%s of type string", texts[i]));
        }
        if (!known && w->n < OBJECT_MAX_WARNINGS)
            w->text[w->n++] = str_of(arena_printf(
                a, "json patch unknown field \"[%zu]." STR_FMT "\"", at, STR_ARG(m->key)));
    }
    return NULL;
}

static struct json *check_operations(struct arena *a, const struct json *ops, bool strict,
                                     struct object_warnings *w)
{
    if (ops->type == JSON_NULL)
        return NULL;
    if (ops->type != JSON_ARRAY)
        return strict ? cannot_unmarshal(a, DECODING, ops, "value of type []handlers.jsonPatchOp")
                      : cannot_unmarshal(a, "", ops, "value of type jsonpatch.Patch");
    if (ops->n > PATCH_MAX_OPS)
        return status_new(a, 413, "RequestEntityTooLarge",
                          str_of(arena_printf(a,
                                              "Request entity too large: The allowed maximum "
                                              "operations in a JSON patch is %d, got %u",
                                              PATCH_MAX_OPS, ops->n)));
    for (size_t i = 0; i < w->n; i++)
        w->text[i] = str_of(arena_printf(a, "json patch " STR_FMT, STR_ARG(w->text[i])));
    size_t at = 0;
    json_each (op, ops) {
        struct json *no = check_operation(a, op, strict, at++, w);
        if (no)
            return no;
    }
    return NULL;
}

static struct json *check_map_patch(struct arena *a, enum patch_type type, const struct json *patch,
                                    bool strict)
{
    bool loose = type == PATCH_MERGE && !strict; /* a merge patch may be a list, and fail later */
    if (type == PATCH_MERGE && (patch->type == JSON_NULL || (loose && patch->type < JSON_ARRAY)))
        return status_bad_request(a, STR("Invalid JSON Patch"));
    if (patch->type == JSON_OBJECT || patch->type == JSON_NULL || loose)
        return NULL;
    return cannot_unmarshal(a, type == PATCH_MERGE ? DECODING : "", patch,
                            "value of type map[string]interface {}");
}

struct json *write_unsupported_patch(struct request *rq)
{
    struct arena *a = &rq->arena;
    if (rq->res->crd)
        return status_unsupported_media_type(
            a, "application/json-patch+json, application/merge-patch+json, "
               "application/apply-patch+yaml");
    struct json *status =
        status_new(a, 415, "UnsupportedMediaType", STR("415: Unsupported Media Type"));
    (void)json_obj(a, status, "details"); /* upstream's router has no details */
    return status;
}

struct json *write_parse_patch(struct request *rq, enum patch_type type, enum field_validation fv,
                               struct object_warnings *warnings, struct json **ret)
{
    struct arena *a = &rq->arena;
    bool strict = fv != FIELD_VALIDATION_IGNORE;
    const struct json_parse_opts opts = { .on_duplicate = object_on_duplicate, .arg = warnings };
    struct json *no = NULL;
    a->max_bytes = a->total_bytes + API_PARSE_MAX_BYTES;
    if (type == PATCH_APPLY) {
        no = parse_config(rq, warnings, ret);
    } else {
        struct err err = { 0 };
        int r = json_parse(a, buf_str(&rq->body), &opts, ret, &err);
        bool has_prefix = type != PATCH_STRATEGIC && (strict || type == PATCH_MERGE);
        if (r < 0)
            no = too_large_or(
                a, r, arena_printf(a, "%s%s", has_prefix ? DECODING : "", json_reason(a, &err)));
    }
    a->max_bytes = API_ARENA_MAX_BYTES;
    if (!no && (*ret)->type == JSON_NULL && type == PATCH_JSON)
        *ret = json_new_array(a);
    if (!no && (*ret)->type == JSON_NULL && type == PATCH_STRATEGIC)
        *ret = json_new_object(a);
    if (!no && type == PATCH_JSON)
        no = check_operations(a, *ret, strict, warnings);
    else if (!no && type != PATCH_APPLY)
        no = check_map_patch(a, type, *ret, strict);
    if (!strict)
        warnings->n = 0;
    return no;
}

/* Most errors are not reported: upstream answers them without a text. */
struct json *write_patch_status(struct arena *a, enum patch_type type, int r, const struct err *err)
{
    struct str text = str_copy_arena(a, str_of(err_text(err)));
    if (r == E_LIMIT)
        return status_too_much_work(a);
    bool is_format = r == E_PARSE,
         has_no_prefix = str_is(text, "lists of lists are not supported") ||
                         str_is(text, "patch content doesn't match retainKeys "
                                      "list");
    if (is_format)
        return status_bad_request(a, text);
    if (type == PATCH_STRATEGIC && r == E_INVALID && !has_no_prefix)
        return status_new(a, 500, "", text);
    struct json *status = status_new(
        a, 422, "Invalid", STR("the server rejected our request due to an error in our request"));
    (void)json_obj(a, status, "details");
    return status;
}
