/* SPDX-License-Identifier: Apache-2.0 */
/* kube/: built-in schemas, decoding, custom resources; expected texts come from upstream. */
#include "test_kube.h"

#include "base/sys.h"
#include "kube/model/meta.h"
#include "kube/rules/crd_validate.h"

#include <fcntl.h>
#include <glob.h>

/* Decode a body; the Status' message on failure, else the object. */
static struct str decode(struct arena *a, const struct kube_resource *res, const char *text,
                         enum field_validation fv, struct object_warnings *w)
{
    struct json *obj = NULL, *status = NULL;
    struct object_warnings own = { .a = a };
    struct buf b = BUF_INIT(1 << 20);
    (void)json_write(&b, parse(a, text));
    struct str body = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    int r = object_decode(a, res, body, fv, w ? w : &own, &obj, &status);
    return r < 0 ? status_message(status) : text_of(a, obj);
}

TEST(every_builtin_kind_expands_completely)
{
    static const char *const names[] = {
        "io.k8s.api.core.v1.Pod", "io.k8s.api.apps.v1.Deployment",
        ("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
         "CustomResourceDefinition")
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct schema *s = builtin_type(names[i]);
        CHECK(s && s->type == SCHEMA_OBJECT);
        const struct schema_field *f = schema_field(s, STR("metadata"));
        CHECK(f && f->proto == 1);
        CHECK_STR(builtin_go_name(f->schema), "v1.ObjectMeta");
    }
    const struct schema *pod = builtin_schema(STR(""), STR("v1"), STR("Pod"));
    const struct schema *containers =
        schema_child(schema_child(pod, STR("spec")), STR("containers"));
    CHECK(containers->type == SCHEMA_ARRAY && containers->list_type == SCHEMA_LIST_MAP);
    CHECK(containers->n_list_keys == 1);
    CHECK_STR(containers->list_keys[0], "name");
    CHECK_STR(containers->patch_key, "name");
    CHECK(containers->flags & SCHEMA_PATCH_MERGE);
    const struct schema *ports = schema_child(containers->items, STR("ports"));
    CHECK_INT(ports->n_list_keys, 2);
    const struct schema *protocol = schema_child(ports->items, STR("protocol"));
    CHECK(protocol->def && protocol->rules && protocol->rules->enum_values->n == 3);
    /* an inlined union: the volume source lies in an embedded message */
    const struct schema *volumes = schema_child(schema_child(pod, STR("spec")), STR("volumes"));
    const struct schema_field *host = schema_field(volumes->items, STR("hostPath"));
    CHECK(host && host->proto_outer == 2 && host->proto == 1);
}

TEST(builtin_objects_are_written_as_go_writes_them)
{
    struct arena a = { 0 };
    const struct kube_resource *cm = resource("", "v1", "configmaps");
    CHECK_STR(decode(&a, cm,
                     "{'data':{'b':'2'},'metadata':{'labels':{},'name':'a'},'apiVersion':'v1','"
                     "immutable':false}",
                     FIELD_VALIDATION_STRICT, NULL),
              "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'a'},'immutable':false,'"
              "data':{'b':'2'}}");
    const struct kube_resource *ns = resource("", "v1", "namespaces");
    CHECK_STR(decode(&a, ns, "{'metadata':{'name':'x'}}", FIELD_VALIDATION_STRICT, NULL),
              "{'kind':'Namespace','apiVersion':'v1','metadata':{'name':'x','labels':"
              "{'kubernetes.io/metadata.name':'x'}},'spec':{},'status':{'phase':'Active'}}");
    const struct kube_resource *ev = resource("", "v1", "events");
    CHECK_STR(
        decode(&a, ev, "{'metadata':{'name':'x'},'involvedObject':{},'count':0}",
               FIELD_VALIDATION_STRICT, NULL),
        "{'kind':'Event','apiVersion':'v1','metadata':{'name':'x'},'involvedObject':{},'source':{},"
        "'firstTimestamp':null,'lastTimestamp':null,'eventTime':null,'reportingComponent':'',"
        "'reportingInstance':''}");
    const struct kube_resource *lease = resource("coordination.k8s.io", "v1", "leases");
    CHECK_STR(decode(&a, lease,
                     "{'spec':{'renewTime':'2026-01-02T03:04:05.123456Z','holderIdentity':''},'"
                     "metadata':null}",
                     FIELD_VALIDATION_STRICT, NULL),
              "{'kind':'Lease','apiVersion':'coordination.k8s.io/v1','metadata':{},'spec':"
              "{'holderIdentity':'','renewTime':'2026-01-02T03:04:05.123456Z'}}");
    arena_fini(&a);
}

/* test/data/kube_zero.want: group, version, kind and what Go writes for an empty object of it. */
TEST(empty_objects_of_every_kind_are_what_go_writes)
{
    struct arena a = { 0 };
    struct buf want = BUF_INIT(1 << 20);
    CHECK_OK(sys_read_file(AT_FDCWD, TEST_DATA "/kube_zero.want", &want, NULL));
    struct str rest = buf_str(&want), line;
    int n = 0;
    while (str_cut(rest, '\n', &line, &rest)) {
        struct str group, version, kind, text;
        CHECK(str_cut(line, ' ', &group, &text) && str_cut(text, ' ', &version, &text) &&
              str_cut(text, ' ', &kind, &text));
        const struct schema *s = builtin_schema(group, version, kind);
        struct json *v = json_new_object(&a);
        struct buf got = BUF_INIT(1 << 16);
        CHECK(s != NULL);
        CHECK_OK(schema_normalize(&a, s, v, str_dup_arena(&a, kind), NULL, NULL, NULL));
        CHECK_OK(json_write(&got, v));
        CHECK_STR(buf_str(&got), str_dup_arena(&a, text));
        buf_fini(&got);
        n++;
    }
    CHECK(n > 100);
    buf_fini(&want);
    arena_fini(&a);
}

/* core.v1.ConfigMap.json -> "", "v1", "ConfigMap"; false for what is no stable kind. */
static bool split_name(struct str file, struct str *group, struct str *version, struct str *kind)
{
    struct str stem = str_slice(file, 0, file.n - MIN(file.n, sizeof ".json" - 1));
    size_t i = stem.n;
    while (i > 0 && stem.p[i - 1] != '.')
        i--;
    *kind = str_slice(stem, i, stem.n);
    size_t j = i ? i - 1 : 0;
    while (j > 0 && stem.p[j - 1] != '.')
        j--;
    *version = str_slice(stem, j, i ? i - 1 : 0);
    *group = str_slice(stem, 0, j ? j - 1 : 0);
    if (str_is(*group, "core"))
        *group = STR("");
    uint64_t n;
    return str_has_suffix(file, STR(".json")) && version->n > 1 &&
           parse_u64(str_slice(*version, 1, version->n), 1, 99, &n) == 0;
}

static void unexpected_field(void *arg, struct str path)
{
    TEST_FAIL("%s: unknown field '" STR_FMT "'", (const char *)arg, STR_ARG(path));
}

/* Objects of every kind with every field set, from the published module of the API's types. */
TEST(objects_with_every_field_come_back_unchanged)
{
    const char *home = getenv("HOME"), *cache = getenv("GOMODCACHE");
    char pattern[512];
    glob_t dirs;
    (void)snprintf(pattern, sizeof pattern, "%s%s/k8s.io/api@v0.36.*/testdata/HEAD/*.json",
                   cache  ? cache
                   : home ? home
                          : "",
                   cache ? "" : "/go/pkg/mod");
    if (glob(pattern, 0, NULL, &dirs) != 0)
        SKIP("the module k8s.io/api v0.36 is not in the module cache: cd tools/gen-kinds && go mod "
             "download");
    int n = 0;
    for (size_t i = 0; i < dirs.gl_pathc; i++) {
        struct arena a = { 0 };
        struct buf text = BUF_INIT(1 << 22);
        struct str group, version, kind;
        const char *path = dirs.gl_pathv[i];
        if (!split_name(str_of(strrchr(path, '/') + 1), &group, &version, &kind))
            continue;
        const struct schema *s = builtin_schema(group, version, kind);
        if (!s)
            continue; /* options and the like */
        struct json *v;
        CHECK_OK(sys_read_file(AT_FDCWD, path, &text, NULL));
        CHECK_OK(json_parse(&a, buf_str(&text), NULL, &v, NULL));
        struct json *before = json_clone(&a, v);
        CHECK_OK(schema_normalize(&a, s, v, "", unexpected_field, (void *)path, NULL));
        if (!json_equal(before, v))
            TEST_FAIL("%s changes", path);
        buf_fini(&text);
        arena_fini(&a);
        n++;
    }
    globfree(&dirs);
    CHECK(n > 50);
}

TEST(wrong_types_are_told_as_go_tells_them)
{
    struct arena a = { 0 };
    const struct kube_resource *cm = resource("", "v1", "configmaps");
    CHECK_STR(decode(&a, cm, "{'data':{'a':1}}", FIELD_VALIDATION_STRICT, NULL),
              "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot "
              "unmarshal number "
              "into Go struct field ConfigMap.data of type string");
    CHECK_STR(decode(&a, cm, "{'metadata':{'labels':[1]}}", FIELD_VALIDATION_STRICT, NULL),
              "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot "
              "unmarshal array "
              "into Go struct field ObjectMeta.metadata.labels of type map[string]string");
    CHECK_STR(
        decode(&a, cm, "{'apiVersion':'v2'}", FIELD_VALIDATION_STRICT, NULL),
        "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is "
        "registered for version \"v2\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"");
    const struct kube_resource *secret = resource("", "v1", "secrets");
    CHECK_STR(decode(&a, secret, "{'data':{'a':'!'}}", FIELD_VALIDATION_STRICT, NULL),
              "Secret in version \"v1\" cannot be handled as a Secret: illegal base64 data at "
              "input byte 0");
    arena_fini(&a);
}

TEST(unknown_and_repeated_fields_follow_the_wanted_strictness)
{
    struct arena a = { 0 };
    const struct kube_resource *cm = resource("", "v1", "configmaps");
    struct object_warnings w = { .a = &a };
    struct json *obj, *status;
    struct str body = STR(
        "{\"metadata\":{\"name\":\"a\",\"foo\":1},\"dat\":{},\"data\":{\"k\":\"1\",\"k\":\"2\"}}");
    CHECK_OK(object_decode(&a, cm, body, FIELD_VALIDATION_WARN, &w, &obj, &status));
    CHECK_INT(w.n, 3);
    CHECK_STR(w.text[0], "unknown field \"metadata.foo\""); /* in the order of the body */
    CHECK_STR(w.text[1], "unknown field \"dat\"");
    CHECK_STR(w.text[2], "duplicate field \"data.k\"");
    CHECK_JSON(&a, obj,
               "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'a'},'data':{'k':'2'}}");
    w.n = 0;
    CHECK_ERR(object_decode(&a, cm, body, FIELD_VALIDATION_STRICT, &w, &obj, &status), E_INVALID);
    CHECK_INT(status_code(status), 400);
    CHECK_STR(status_message(status),
              "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding "
              "error: unknown field \"metadata.foo\", unknown field \"dat\", duplicate field "
              "\"data.k\"");
    w.n = 0;
    CHECK_OK(object_decode(&a, cm, body, FIELD_VALIDATION_IGNORE, &w, &obj, &status));
    CHECK_INT(w.n, 0);
    arena_fini(&a);
}

TEST(complaints_about_fields_come_in_the_order_of_the_body)
{
    struct arena a = { 0 };
    struct object_warnings w = { .a = &a };
    struct json *obj, *status;
    struct str body =
        STR("{ \"spec\" : { \"containers\":[ {\"name\":\"a\\\"}\",\"name\":\"b\",\"x\":1 },\n"
            " {\"tty\":true, \"y\":{\"z\":1,\"z\":2},\"y\":[3] ,\"tty\":false}],"
            "\"odd\":\"}\",\"hostNetwork\":true,\"hostNetwork\":true}}");
    static const char *const want[] = { "duplicate field \"spec.containers[0].name\"",
                                        "unknown field \"spec.containers[0].x\"",
                                        "unknown field \"spec.containers[1].y\"",
                                        "duplicate field \"spec.containers[1].tty\"",
                                        "unknown field \"spec.odd\"",
                                        "duplicate field \"spec.hostNetwork\"" };
    CHECK_OK(object_decode(&a, resource("", "v1", "pods"), body, FIELD_VALIDATION_WARN, &w, &obj,
                           &status));
    CHECK_INT(w.n, ARRAY_LEN(want)); /* what is in or repeats something unknown is not told */
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        CHECK_STR(w.text[i], want[i]);
    arena_fini(&a);
}

static struct str validation(struct arena *a, const struct kube_resource *res, const char *text,
                             const char *old)
{
    struct json *obj = parse(a, text), *status = NULL, *was = old ? parse(a, old) : NULL;
    struct object_warnings w = { .a = a };
    if (!json_getc(obj, "apiVersion")) /* custom objects have to say it */
        json_set_str(a, obj, "apiVersion", kube_api_version(a, res));
    CHECK_OK(object_decode_tree(a, res, obj, FIELD_VALIDATION_IGNORE, &w, &status));
    return object_validate(a, res, OBJECT_WHOLE, obj, was, &status) < 0 ? status_message(status)
                                                                        : STR("valid");
}

TEST(metadata_is_checked_in_upstreams_words)
{
    struct arena a = { 0 };
    const struct kube_resource *cm = resource("", "v1", "configmaps");
    CHECK_STR(validation(&a, cm, "{'metadata':{'name':'A','namespace':'d'}}", NULL),
              "ConfigMap \"A\" is invalid: metadata.name: Invalid value: \"A\": a lowercase RFC "
              "1123 subdomain "
              "must consist of lower case alphanumeric characters, '-' or '.', and must start and "
              "end with an "
              "alphanumeric character (e.g. 'example.com', regex used for validation is "
              "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
    CHECK_STR(
        validation(&a, cm, "{'metadata':{'name':'a','namespace':'d','labels':{'a':'b c'}}}", NULL),
        "ConfigMap \"a\" is invalid: metadata.labels: Invalid value: \"b c\": a valid label must "
        "be an empty "
        "string or consist of alphanumeric characters, '-', '_' or '.', and must start and end "
        "with an "
        "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
        "validation is "
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
    CHECK_STR(validation(&a, cm, "{'metadata':{'namespace':'d'}}", NULL),
              "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is "
              "required");
    CHECK_STR(
        validation(
            &a, cm,
            "{'metadata':{'name':'a','namespace':'d','ownerReferences':[{'apiVersion':'v1','kind':"
            "'Pod','name':'p'}]},'data':{'a b':'','..':''}}",
            NULL),
        "ConfigMap \"a\" is invalid: [metadata.ownerReferences.uid: Invalid value: \"\": must not "
        "be empty, "
        "data[a b]: Invalid value: \"a b\": a valid config key must consist of alphanumeric "
        "characters, "
        "'-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for "
        "validation is "
        "'[-._a-zA-Z0-9]+'), data[..]: Invalid value: \"..\": must not be '..']");
    CHECK_STR(validation(&a, cm,
                         "{'metadata':{'name':'a','namespace':'d','uid':'1'},'data':{'a':'2'}}",
                         "{'metadata':{'name':'a','namespace':'d','uid':'1'},'immutable':true,'"
                         "data':{'a':'1'}}"),
              "ConfigMap \"a\" is invalid: [immutable: Forbidden: field is immutable when "
              "`immutable` is set, "
              "data: Forbidden: field is immutable when `immutable` is set]");
    CHECK_STR(
        validation(&a, resource("", "v1", "secrets"),
                   "{'metadata':{'name':'a','namespace':'d'},'type':'kubernetes.io/tls'}", NULL),
        "Secret \"a\" is invalid: [data[tls.crt]: Required value, data[tls.key]: Required value]");
    arena_fini(&a);
}

static const char crd_text[] =
    "{'metadata':{'name':'rings.example.com'},'spec':{'group':'example.com','scope':'Namespaced','"
    "names':"
    "{'plural':'rings','kind':'Ring','shortNames':['rg']},'versions':[{'name':'v1','served':true,'"
    "storage':true,"
    "'subresources':{'status':{}},'additionalPrinterColumns':[{'name':'Nonce','type':'integer','"
    "jsonPath':"
    "'.spec.nonce'}],'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'"
    "object',"
    "'required':['nonce'],'properties':{'nonce':{'type':'integer','minimum':1},'mode':{'type':'"
    "string','enum':"
    "['a','b'],'default':'a'},'any':{'type':'object','x-kubernetes-preserve-unknown-fields':true},'"
    "port':"
    "{'x-kubernetes-int-or-string':true},'list':{'type':'array','maxItems':3,'x-kubernetes-list-"
    "type':'set','items':{'type':"
    "'string','pattern':'^[a-z]+$'}},'keyed':{'type':'array','x-kubernetes-list-type':'map',"
    "'x-kubernetes-list-map-keys':['k'],'items':{'type':'object','required':['k'],'properties':{'k'"
    ":{'type':"
    "'string'},'v':{'type':'number','nullable':true}}}},'one':{'type':'object','properties':{'x':{'"
    "type':"
    "'string'},'y':{'type':'string'}},'oneOf':[{'required':['x']},{'required':['y']}]}}},'status':{"
    "'type':"
    "'object','properties':{'seen':{'type':'integer'}}}}}}}]}}";

static const struct kube_resource *ring_resource(struct arena *a, struct crd **ret)
{
    const struct kube_resource *crds =
        resource("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    struct object_warnings w = { .a = a };
    struct json *obj = parse(a, crd_text), *status = NULL;
    struct err err = { 0 };
    if (object_decode_tree(a, crds, obj, FIELD_VALIDATION_STRICT, &w, &status) < 0 ||
        object_validate(a, crds, OBJECT_WHOLE, obj, NULL, &status) < 0)
        TEST_FAIL("%s", status_message(status).p);
    CHECK(crd_update_status(a, obj, NULL, test_registry(), STR("2026-01-01T00:00:00Z")));
    CHECK(crd_has_condition(obj, "Established"));
    if (crd_new(obj, ret, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    const struct kube_resource *const *served;
    CHECK_INT(crd_resources(*ret, &served), 1);
    return served[0];
}

TEST(custom_resources_are_pruned_defaulted_and_validated)
{
    struct arena a = { 0 };
    struct crd *c;
    const struct kube_resource *ring = ring_resource(&a, &c);
    struct object_warnings w = { .a = &a };
    struct str got = decode(&a, ring,
                            "{'apiVersion':'example.com/"
                            "v1','kind':'Ring','metadata':{'name':'r','bad':1},'spec':{'nonce':1,"
                            "'extra':2,'any':{'kept':1},'port':'http','keyed':[{'k':'a','z':1}]}}",
                            FIELD_VALIDATION_WARN, &w);
    CHECK_STR(
        got,
        "{'apiVersion':'example.com/v1','kind':'Ring','metadata':{'name':'r'},'spec':{'nonce':1,"
        "'any':{'kept':1},'port':'http','keyed':[{'k':'a'}],'mode':'a'}}");
    CHECK_INT(w.n, 3);
    CHECK_STR(w.text[0], "unknown field \"metadata.bad\"");
    CHECK_STR(w.text[1], "unknown field \"spec.extra\"");
    CHECK_STR(w.text[2], "unknown field \"spec.keyed[0].z\"");

#define RING(spec) "{'metadata':{'name':'r','namespace':'d'},'spec':" spec "}"
    CHECK_STR(validation(&a, ring, RING("{'nonce':1}"), NULL), "valid");
    CHECK_STR(validation(&a, ring, RING("{'nonce':'x'}"), NULL),
              "Ring.example.com \"r\" is invalid: spec.nonce: Invalid value: \"string\": "
              "spec.nonce in body must "
              "be of type integer: \"string\"");
    CHECK_STR(validation(&a, ring, RING("{}"), NULL),
              "Ring.example.com \"r\" is invalid: spec.nonce: Required value");
    CHECK_STR(validation(&a, ring, RING("{'nonce':0}"), NULL),
              "Ring.example.com \"r\" is invalid: spec.nonce: Invalid value: 0: spec.nonce in body "
              "should be "
              "greater than or equal to 1");
    CHECK_STR(validation(&a, ring, RING("{'nonce':1,'mode':'z'}"), NULL),
              "Ring.example.com \"r\" is invalid: spec.mode: Unsupported value: \"z\": supported "
              "values: \"a\", "
              "\"b\"");
    CHECK_STR(
        validation(&a, ring, RING("{'nonce':1,'list':['a','B','a','c']}"), NULL),
        "Ring.example.com \"r\" is invalid: [spec.list[1]: Invalid value: \"B\": spec.list[1] in "
        "body "
        "should match '^[a-z]+$', spec.list: Too many: 4: must have at most 3 items, spec.list[2]: "
        "Duplicate value: \"a\"]");
    CHECK_STR(
        validation(&a, ring, RING("{'nonce':1,'keyed':[{'k':'a'},{'k':'a','v':null}]}"), NULL),
        "Ring.example.com \"r\" is invalid: spec.keyed[1]: Duplicate value: {\"k\":\"a\"}");
    CHECK_STR(validation(&a, ring, RING("{'nonce':1,'one':{'x':'','y':''}}"), NULL),
              "Ring.example.com \"r\" is invalid: <nil>: Invalid value: \"\": \"spec.one\" must "
              "validate one and "
              "only one schema (oneOf). Found 2 valid alternatives");
    CHECK_STR(validation(&a, ring, RING("{'nonce':1,'port':true}"), NULL),
              "Ring.example.com \"r\" is invalid: spec.port: Invalid value: \"boolean\": spec.port "
              "in body must be "
              "of type integer,string: \"boolean\"");
    /* what was wrong before and did not change is let through */
    CHECK_STR(validation(&a, ring,
                         RING("{'nonce':2,'mode':'z','keyed':[{'k':'a','v':1},{'k':'b','v':'x'}]}"),
                         RING("{'nonce':1,'mode':'z','keyed':[{'k':'b','v':'x'}]}")),
              "valid");
    CHECK_STR(validation(&a, ring, RING("{'nonce':0,'mode':'z'}"), RING("{'nonce':1,'mode':'z'}")),
              "Ring.example.com \"r\" is invalid: spec.nonce: Invalid value: 0: spec.nonce in body "
              "should be "
              "greater than or equal to 1");
    crd_unref(c);
    arena_fini(&a);
}

static int find(const struct schema_regex *re, struct str s)
{
    size_t at, end;
    unsigned steps;
    return schema_regex_find(re, s, 0, &at, &end, &steps);
}

static uint64_t process_cpu_ms(void)
{
    struct timespec t;
    CHECK_OK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t));
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* RE2's bound: what nested repetition amounts to. */
TEST(repetition_in_patterns_is_bounded)
{
    static const char *const bad[] = { "a{1001}",           "a{0,1001}",
                                       "a{1001,}",          "(a{10}){101}",
                                       "((a{10}){11}){10}", "(b|(a{100})+){11}",
                                       "(?:x{2}){501}",     "a{99999999999999999999}" };
    static const char *const good[] = {
        "a{1000}",       "(a{10}){100}", "^(a?){500}a{500}$",  "a{600}b{600}", "(a{600}|b){1}",
        "[{2000}]",      "\\{2000\\}",   "\\Qa{2000}\\E",      "\\pL{1000}",   "\\p{Lu}{1000}",
        "\\x{10}{1000}", "x{,2000}",     "(a{100})(b{100}){5}"
    };
    struct schema_regex *re;
    struct err err = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK_ERR(schema_regex_new(str_of(bad[i]), &re, &err), E_INVALID);
        CHECK(str_find(str_of(err.text), STR("invalid repeat count: `")) >= 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        CHECK_OK(schema_regex_new(str_of(good[i]), &re, &err));
        schema_regex_free(re);
    }
}

/* PCRE2 has more, and sometimes something else. */
TEST(patterns_have_what_re2_has)
{
    static const struct {
        const char *pattern, *why;
    } bad[] = {
        { "a{2}+", "nested repetition" },    { "a{2}*", "nested repetition" },
        { "a{2}{3}", "nested repetition" },  { "(a)??{2}", "nested repetition" },
        { "a+?+", "nested repetition" },     { "(?P<n>a)(?P=n)", "Perl syntax" },
        { "(?P<n>a)(?P>n)", "Perl syntax" }, { "(?<n>a)(?&n)", "Perl syntax" },
        { "(a)(?1)", "Perl syntax" },        { "(?'n'a)", "Perl syntax" },
        { "(?C1)a", "Perl syntax" },         { "(?x) a", "Perl syntax" },
        { "(?^i)a", "Perl syntax" },         { "(?-)a", "Perl syntax" },
        { "a\\Z", "escape sequence" },       { "\\e", "escape sequence" },
        { "\\cA", "escape sequence" },       { "\\E", "escape sequence" },
        { "[\\h]", "escape sequence" },      { "[\\b]", "escape sequence" },
    };
    static const struct {
        const char *pattern, *text;
    } good[] = {
        { "^a+?$", "aa" },
        { "^a{2}?$", "aa" },
        { "^(?i)A$", "a" },
        { "^(?i-s:A)$", "a" },
        { "^(?U)a+$", "aa" },
        { "^(?P<n>a)(?<m>b)(?:c)+$", "abcc" },
        { "^[[:alpha:]{2000}]+$", "a{2}" },
        { "^[]a+*]+$", "]+*a" },
        { "^\\x{61}+a\\++$", "aaa++" },
        { "^\\Qa+*\\E+$", "a+**" },
        { "^(a+)+\\pL[\\d\\-]{2,}$", "aab1-" },
        { "^a{,5}$", "a{,5}" },
    };
    struct schema_regex *re;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = { 0 };
        CHECK_ERR(schema_regex_new(str_of(bad[i].pattern), &re, &err), E_INVALID);
        CHECK(str_find(str_of(err.text), str_of(bad[i].why)) >= 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        CHECK_OK(schema_regex_new(str_of(good[i].pattern), &re, NULL));
        CHECK_INT(find(re, str_of(good[i].text)), 1);
        schema_regex_free(re);
    }
}

TEST(a_match_that_takes_too_long_is_given_up)
{
    static char text[1 << 20];
    struct schema_regex *re;
    size_t at, end;
    unsigned steps;
    memset(text, 'a', sizeof text);
    CHECK_OK(schema_regex_new(STR("^(a?){500}a{500}$"), &re, NULL));
    uint64_t start = process_cpu_ms();
    CHECK_INT(schema_regex_find(re, str_n(text, 500), 0, &at, &end, &steps), E_LIMIT);
    CHECK_INT(steps, REGEX_STEPS_MAX);
    CHECK(process_cpu_ms() - start < 500); /* it takes 7 */
    schema_regex_free(re);
    /* Every match of many: nothing is looked at again for each. */
    CHECK_OK(schema_regex_new(STR("a"), &re, NULL));
    start = process_cpu_ms();
    for (size_t from = 0; from < 100000; from = end)
        CHECK_INT(schema_regex_find(re, str_n(text, sizeof text), from, &at, &end, &steps), 1);
    CHECK(process_cpu_ms() - start < 2000); /* 25 here; 5,000 if it were */
    schema_regex_free(re);
}

TEST(limits_hold)
{
    struct arena a = { 0 };
    const struct kube_resource *cm = resource("", "v1", "configmaps");
    struct json *deep = parse(&a, "{'type':'string'}"), *wide = json_new_object(&a), *status;
    const struct schema *s;
    for (int i = 0; i < SCHEMA_MAX_DEPTH + 10; i++) {
        struct json *list = parse(&a, "{'type':'array'}");
        json_setc(&a, list, "items", deep);
        deep = list;
    }
    struct json *root = parse(&a, "{'type':'object','properties':{}}");
    json_setc(&a, json_getc(root, "properties"), "a", deep);
    struct field_errors errs = field_errors_init(&a);
    CHECK_ERR(schema_from_openapi(&a, root, NULL, NULL, &errs, &s), E_INVALID);
    CHECK(str_has_suffix(errs.first->body, STR("schema is too large")));
    schema_release(s);

    /* more complaints than a Status holds, more warnings than a response carries */
    for (int i = 0; i < FIELD_ERRORS_MAX + 20; i++)
        json_set_str(&a, wide, arena_printf(&a, "no key %d", i), STR("v"));
    struct json *obj = parse(&a, "{'metadata':{'name':'a','namespace':'d'}}");
    json_setc(&a, obj, "data", json_clone(&a, wide));
    CHECK_ERR(object_validate(&a, cm, OBJECT_WHOLE, obj, NULL, &status), E_INVALID);
    CHECK_INT(json_path(status, "details", "causes", NULL)->n, FIELD_ERRORS_MAX);
    struct object_warnings w = { .a = &a };
    (void)json_del(wide, STR("metadata"));
    CHECK_OK(object_decode_tree(&a, cm, wide, FIELD_VALIDATION_WARN, &w, &status));
    CHECK_INT(w.n, OBJECT_MAX_WARNINGS);

    /* a pattern that backtracks without end, on a text that makes it */
    struct schema_regex *re;
    CHECK_OK(schema_regex_new(STR("^(a+)+$"), &re, NULL));
    CHECK_INT(find(re, STR("aaaa")), 1);
    CHECK_INT(find(re, STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")), E_LIMIT);
    schema_regex_free(re);
    static const char *const refused[] = {
        "(?=a)", "(?<!a)", "(a)\\1", "a*+", "(?>a)", "[", "a**"
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        CHECK_ERR(schema_regex_new(str_of(refused[i]), &re, NULL), E_INVALID);
    arena_fini(&a);
}

/* ---- agreement with upstream: test/data/crd_cases.json, results beside it ---- */

static int cmp_line(const void *x, const void *y)
{
    const struct str *a = x, *b = y;
    return str_cmp(*a, *b);
}

struct lines {
    struct arena *a;
    struct buf out;
    struct str unknown[64];
    size_t n_unknown;
};

static void note_unknown(void *arg, struct str path)
{
    struct lines *l = arg;
    CHECK(l->n_unknown < ARRAY_LEN(l->unknown));
    l->unknown[l->n_unknown++] = str_copy_arena(l->a, path);
}

static void print_sorted(struct lines *l, const char *tag, const char *what, struct str *line,
                         size_t n)
{
    qsort(line, n, sizeof *line, cmp_line);
    for (size_t i = 0; i < n; i++)
        (void)buf_printf(&l->out, "%s %s " STR_FMT "\n", tag, what, STR_ARG(line[i]));
}

static void print_errors(struct lines *l, const char *tag, const char *what,
                         const struct field_errors *errs)
{
    struct str line[FIELD_ERRORS_MAX];
    size_t n = 0;
    for (const struct field_error *e = errs->first; e; e = e->next)
        line[n++] =
            str_of(arena_printf(l->a, STR_FMT ": " STR_FMT, STR_ARG(e->field), STR_ARG(e->body)));
    print_sorted(l, tag, what, line, n);
}

static struct json *definition_with(struct arena *a, const struct json *schema)
{
    struct json *crd =
        parse(a, "{'metadata':{'name':'rings.example.com'},'spec':{'group':'example.com','scope':"
                 "'Namespaced','names':{'plural':'rings','kind':'Ring'},'versions':[{'name':'v1',"
                 "'served':true,'storage':true,'schema':{}}]}}");
    struct json *version = json_path(crd, "spec", "versions", NULL)->first;
    json_setc(a, json_getc(version, "schema"), "openAPIV3Schema", json_clone(a, schema));
    return crd;
}

static void run_case(struct lines *l, int i, const struct json *c)
{
    const struct kube_resource *crds =
        resource("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    struct json *obj = definition_with(l->a, json_getc(c, "schema")), *status;
    struct object_warnings w = { .a = l->a };
    struct field_errors errs = field_errors_init(l->a);
    const struct schema *s;
    char tag[32];
    int k = 0;
    (void)snprintf(tag, sizeof tag, "%d", i);
    if (object_decode_tree(l->a, crds, obj, FIELD_VALIDATION_IGNORE, &w, &status) < 0) {
        (void)buf_printf(&l->out, "%s crd unmarshal\n", tag);
        return;
    }
    crd_validate(obj, NULL, &errs);
    print_errors(l, tag, "crd", &errs);
    if (errs.n)
        return;
    (void)schema_from_openapi(l->a, json_getc(c, "schema"), NULL, NULL, &errs, &s);
    json_each (value, json_getc(c, "values")) {
        struct json *v = json_clone(l->a, value);
        struct field_errors own = field_errors_init(l->a);
        (void)snprintf(tag, sizeof tag, "%d.%d", i, k++);
        l->n_unknown = 0;
        schema_prune(s, v, true, note_unknown, l);
        schema_default(l->a, s, v);
        schema_validate(s, v, NULL, NULL, &own);
        (void)buf_printf(&l->out, "%s obj ", tag);
        (void)json_write_sorted(&l->out, v);
        (void)buf_add_char(&l->out, '\n');
        print_sorted(l, tag, "unknown", l->unknown, l->n_unknown);
        print_errors(l, tag, "err", &own);
    }
    schema_release(s);
}

TEST(definitions_and_their_objects_agree_with_upstream)
{
    struct arena a = { 0 };
    struct lines l = { .a = &a, .out = BUF_INIT(1 << 20) };
    struct buf cases = BUF_INIT(1 << 20), want = BUF_INIT(1 << 20);
    struct json *list;
    int i = 0;
    CHECK_OK(sys_read_file(AT_FDCWD, TEST_DATA "/crd_cases.json", &cases, NULL));
    CHECK_OK(sys_read_file(AT_FDCWD, TEST_DATA "/crd_cases.want", &want, NULL));
    CHECK_OK(json_parse(&a, buf_str(&cases), NULL, &list, NULL));
    json_each (c, list) {
        run_case(&l, i++, c);
    }
    struct str got = buf_str(&l.out), expected = buf_str(&want);
    while (got.n || expected.n) {
        struct str line, other;
        (void)str_cut(got, '\n', &line, &got);
        (void)str_cut(expected, '\n', &other, &expected);
        if (!str_eq(line, other))
            TEST_FAIL("got      " STR_FMT "\nexpected " STR_FMT, STR_ARG(line), STR_ARG(other));
    }
    buf_fini(&l.out);
    buf_fini(&cases);
    buf_fini(&want);
    arena_fini(&a);
}

TEST(names_of_definitions_do_not_collide)
{
    struct arena a = { 0 };
    struct json *first = parse(&a, crd_text), *second = parse(&a, crd_text),
                *list = json_new_array(&a);
    crd_default(&a, first);
    (void)crd_update_status(&a, first, NULL, NULL, STR("2026-01-01T00:00:00Z"));
    CHECK(!crd_update_status(&a, first, NULL, NULL, STR("2026-01-02T00:00:00Z")));
    json_add(list, first);
    json_set_str(&a, json_getc(second, "metadata"), "name", STR("others.example.com"));
    json_set_str(&a, json_path(second, "spec", "names", NULL), "plural", STR("others"));
    crd_default(&a, second);
    CHECK(crd_update_status(&a, second, list, NULL, STR("2026-01-01T00:00:00Z")));
    CHECK(!crd_has_condition(second, "NamesAccepted") && !crd_has_condition(second, "Established"));
    const struct json *c = json_path(second, "status", "conditions", NULL)->first;
    CHECK_STR(json_get_str(c, "reason"), "ListKindConflict");
    CHECK_STR(json_get_str(c, "message"), "\"RingList\" is already in use");
    arena_fini(&a);
}

TEST(the_life_of_an_object)
{
    struct arena a = { 0 };
    struct crd *c;
    const struct kube_resource *ring = ring_resource(&a, &c);
    struct object_env env = {
        .now_s = 1767225600, .uid = STR("u-1"), .random = 1, .namespace = STR("d")
    };
    struct json *status = NULL;
    struct json *obj =
        parse(&a, "{'apiVersion':'example.com/v1','kind':'Ring','metadata':{'generateName':'r-'},"
                  "'spec':{'nonce':1},'status':{'seen':1}}");
    CHECK_OK(object_prepare_create(&a, ring, obj, &env, &status));
    CHECK_JSON(&a, obj,
               "{'apiVersion':'example.com/"
               "v1','kind':'Ring','metadata':{'generateName':'r-','namespace':'d','name':"
               "'r-cbbbb','uid':'u-1','creationTimestamp':'2026-01-01T00:00:00Z','generation':1},'"
               "spec':{'nonce':1}}");
    struct json *now = json_clone(&a, obj);
    json_set_int(&a, json_getc(now, "spec"), "nonce", 2);
    json_set_int(&a, json_obj(&a, now, "status"), "seen", 9);
    (void)json_del(json_getc(now, "metadata"), STR("uid"));
    CHECK_OK(
        object_prepare_update(&a, ring, OBJECT_WHOLE, now, obj, &env, meta_name(obj), &status));
    CHECK_INT(json_int_or(json_path(now, "metadata", "generation", NULL), 0), 2);
    CHECK(!json_getc(now, "status"));
    CHECK_STR(meta_uid(now), "u-1");
    struct json *st = json_clone(&a, now);
    json_set_int(&a, json_getc(st, "spec"), "nonce", 3);
    json_set_int(&a, json_obj(&a, st, "status"), "seen", 9);
    CHECK_OK(
        object_prepare_update(&a, ring, OBJECT_STATUS, st, now, &env, meta_name(obj), &status));
    CHECK_JSON(&a, json_getc(st, "spec"), "{'nonce':2}");
    CHECK_JSON(&a, json_getc(st, "status"), "{'seen':9}");
    CHECK_INT(json_int_or(json_path(st, "metadata", "generation", NULL), 0), 2);
    CHECK(!object_same(st, now));
    struct json *same = json_clone(&a, st);
    meta_set_resource_version(&a, same, 7);
    CHECK(object_same(st, same));
    CHECK_ERR(object_prepare_update(&a, ring, OBJECT_WHOLE, same, st, &env, STR("other"), &status),
              E_INVALID);
    crd_unref(c);
    arena_fini(&a);
}

TEST(events_have_two_faces)
{
    struct arena a = { 0 };
    const struct kube_resource *core = resource("", "v1", "events");
    const struct kube_resource *other = resource("events.k8s.io", "v1", "events");
    CHECK(other->storage == core);
    struct json *obj = parse(
        &a, "{'metadata':{'name':'e'},'involvedObject':{'name':'p'},'message':'m','count':3}");
    struct json *status;
    struct object_warnings w = { .a = &a };
    CHECK_OK(object_decode_tree(&a, core, obj, FIELD_VALIDATION_STRICT, &w, &status));
    object_convert(&a, obj, core, other);
    CHECK_JSON(
        &a, obj,
        "{'kind':'Event','apiVersion':'events.k8s.io/v1','metadata':{'name':'e'},'eventTime':null,"
        "'regarding':{'name':'p'},'note':'m','deprecatedSource':{},'deprecatedFirstTimestamp':null,"
        "'deprecatedLastTimestamp':null,'deprecatedCount':3}");
    object_convert(&a, obj, other, core);
    CHECK_STR(json_str(json_path(obj, "involvedObject", "name", NULL)), "p");
    CHECK_STR(json_get_str(obj, "message"), "m");
    arena_fini(&a);
}

/* Else the thousands of texts of one object would each take the time that one may. */
TEST(an_object_has_one_budget_for_its_patterns)
{
    enum { TEXTS = 500 };
    struct arena a = { 0 };
    struct field_errors errs = field_errors_init(&a);
    const struct schema *s;
    struct buf text = BUF_INIT(1 << 20);
    CHECK_OK(schema_from_openapi(
        &a,
        parse(&a, "{'type':'object','properties':{'l':{'type':'array','items':{'type':'string',"
                  "'anyOf':[{'pattern':'^(a|aa)+[bd]$'},{'pattern':'^a+c$'}]}}}}"),
        NULL, NULL, &errs, &s));
    (void)buf_add_cstr(&text, "{'l':[");
    for (int i = 0; i < TEXTS; i++)
        (void)buf_printf(&text, "%s'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac'", i ? "," : "");
    (void)buf_add_cstr(&text, "]}");
    CHECK_INT(errs.n, 0);
    CHECK_ERR(schema_validate(s, parse(&a, buf_cstr(&text)), NULL, NULL, &errs), E_LIMIT);
    schema_release(s);
    buf_fini(&text);
    arena_fini(&a);
}

/* A list of `n` items under this schema of an item. Returns what validating gave. */
static int validate_many(const char *items, const char *item, int n, size_t *ret_bytes)
{
    struct arena a = { 0 };
    struct field_errors errs = field_errors_init(&a);
    const struct schema *s;
    struct buf text = BUF_INIT(8 << 20);
    (void)buf_printf(&text, "{'type':'object','properties':{'l':{'type':'array','items':%s}}}",
                     items);
    CHECK_OK(schema_from_openapi(&a, parse(&a, buf_cstr(&text)), NULL, NULL, &errs, &s));
    buf_reset(&text);
    (void)buf_add_cstr(&text, "{'l':[");
    for (int i = 0; i < n; i++)
        (void)buf_printf(&text, "%s%s", i ? "," : "", item);
    (void)buf_add_cstr(&text, "]}");
    struct json *v = parse(&a, buf_cstr(&text));
    size_t before = a.total_bytes;
    int r = schema_validate(s, v, NULL, NULL, &errs);
    *ret_bytes = a.total_bytes - before;
    CHECK(r < 0 || errs.n == 0);
    schema_release(s);
    buf_fini(&text);
    arena_fini(&a);
    return r;
}

TEST(values_that_are_fine_take_no_memory_to_validate)
{
    struct buf b = BUF_INIT(1 << 20);
    size_t bytes;
    (void)buf_add_cstr(&b, "{'type':'string','enum':['a0'");
    for (int i = 1; i < 200; i++)
        (void)buf_printf(&b, ",'a%d'", i);
    (void)buf_add_cstr(&b, "]}");
    CHECK_OK(validate_many(buf_cstr(&b), "'a99'", 50000, &bytes));
    CHECK(bytes < 1024);
    CHECK_OK(validate_many("{'type':'string','anyOf':[{'maxLength':1},{'pattern':'^b'},"
                           "{'enum':['aaa']}]}",
                           "'aaa'", 50000, &bytes));
    CHECK(bytes < 1024);
    buf_fini(&b);
}

TEST(more_work_than_one_object_may_be_is_refused)
{
    struct buf b = BUF_INIT(1 << 20);
    size_t bytes;
    (void)buf_add_cstr(&b, "{'type':'integer','allOf':[");
    for (int i = 0; i < 500; i++)
        (void)buf_printf(&b, "%s{'anyOf':[{'maximum':0},{'minimum':%d}]}", i ? "," : "", i % 2);
    (void)buf_add_cstr(&b, "]}");
    CHECK_ERR(validate_many(buf_cstr(&b), "1", 20000, &bytes), E_LIMIT);
    CHECK(bytes < 1024);
    buf_reset(&b);
    (void)buf_add_cstr(&b, "{'type':'integer','enum':[0");
    for (int i = 1; i < 20000; i++)
        (void)buf_printf(&b, ",%d", i);
    (void)buf_add_cstr(&b, "]}");
    CHECK_ERR(validate_many(buf_cstr(&b), "19999", 20000, &bytes), E_LIMIT);
    CHECK(bytes < 1024);
    buf_fini(&b);
}

/* As many as the request may hold; a short text may have any number of them. */
TEST(defaults_stop_when_the_arena_is_full)
{
    struct arena a = { 0 };
    struct field_errors errs = field_errors_init(&a);
    const struct schema *s;
    struct buf b = BUF_INIT(1 << 20);
    (void)buf_add_cstr(&b, "{'type':'object','properties':{'l':{'type':'array','items':{"
                           "'type':'object','properties':{");
    for (int i = 0; i < 100; i++)
        (void)buf_printf(&b, "%s'p%d':{'type':'integer','default':1}", i ? "," : "", i);
    (void)buf_add_cstr(&b, "}}}}}");
    CHECK_OK(schema_from_openapi(&a, parse(&a, buf_cstr(&b)), NULL, NULL, &errs, &s));
    buf_reset(&b);
    (void)buf_add_cstr(&b, "{'l':[{}");
    for (int i = 1; i < 50000; i++)
        (void)buf_add_cstr(&b, ",{}");
    (void)buf_add_cstr(&b, "]}");
    struct json *v = parse(&a, buf_cstr(&b));
    a.max_bytes = a.total_bytes + (4 << 20);
    schema_default(&a, s, v);
    CHECK(arena_is_full(&a));
    CHECK(a.total_bytes < a.max_bytes + (1 << 20));
    schema_release(s);
    buf_fini(&b);
    arena_fini(&a);
}

TEST_MAIN
