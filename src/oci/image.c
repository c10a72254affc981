/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/image.h"

#include "codec/json.h"

#include <errno.h>

static const struct str SHA256_PREFIX = { "sha256:", 7 };
enum { SHOWN_MAX = 80 }; /* bytes of a wrong value in a message */

/* ---- digests ---- */

static bool is_lower_hex(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
            return false;
    return true;
}

int oci_digest_parse(struct str text, struct oci_digest *ret, struct err *err)
{
    struct str hex = str_slice(text, SHA256_PREFIX.n, text.n);
    struct str shown = str_slice(text, 0, SHOWN_MAX);
    if (str_has_prefix(text, STR("sha512:")))
        return err_set(err, E_UNSUPPORTED, "digests by sha512 ('" STR_FMT "')", STR_ARG(shown));
    if (!str_has_prefix(text, SHA256_PREFIX) || !is_lower_hex(hex) ||
        !hex_parse(hex, ret->bytes, sizeof ret->bytes))
        return err_set(err, E_PARSE, "'" STR_FMT "' is no digest ('sha256:' and 64 digits)",
                       STR_ARG(shown));
    return 0;
}

void oci_digest_format(const struct oci_digest *d, char ret[OCI_DIGEST_TEXT_SIZE])
{
    memcpy(ret, SHA256_PREFIX.p, SHA256_PREFIX.n);
    hex_format(d->bytes, sizeof d->bytes, ret + SHA256_PREFIX.n);
}

bool oci_digest_equal(const struct oci_digest *a, const struct oci_digest *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

int oci_digest_bind(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    return oci_digest_parse(json_str(v), to, NULL) < 0 ? BIND_FAIL(b, "not a sha256 digest") : 0;
}

struct json *oci_digest_bind_write(struct arena *a, const struct bind_field *f, const void *from)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(from, text);
    return json_new_cstr(a, text);
}

/* ---- documents ---- */

static int parse(struct arena *a, struct str text, struct json **ret, struct err *err)
{
    if (text.n > OCI_DOCUMENT_MAX)
        return err_set(err, E_LIMIT, "a document has more than %d bytes", OCI_DOCUMENT_MAX);
    int r = json_parse(a, text, NULL, ret, err);
    if (r < 0)
        return r;
    return json_is(*ret, JSON_OBJECT) ? 0 : err_set(err, E_PARSE, "a document is no JSON object");
}

static void parse_platform(const struct json *v, struct oci_platform *ret)
{
    *ret = (struct oci_platform){
        .os = json_get_str(v, "os"),
        .architecture = json_get_str(v, "architecture"),
        .variant = json_get_str(v, "variant"),
    };
}

/* An annotation that older programs wrote under another name. */
static struct str either(const struct json *notes, const char *name, const char *old)
{
    struct str s = json_get_str(notes, name);
    return s.n ? s : json_get_str(notes, old);
}

static int parse_descriptor(const struct json *v, struct oci_descriptor *ret, struct err *err)
{
    int64_t size;
    int r = oci_digest_parse(json_get_str(v, "digest"), &ret->digest, err);
    if (r < 0)
        return r;
    if (json_int(json_getc(v, "size"), &size) < 0 || size < 0)
        return err_set(err, E_PARSE, "size is missing, or is no size");
    ret->size = (uint64_t)size;
    ret->media_type = json_get_str(v, "mediaType");
    const struct json *notes = json_getc(v, "annotations");
    ret->ref_name = json_get_str(notes, "org.opencontainers.image.ref.name");
    ret->estargz_digest = json_get_str(notes, "containerd.io/snapshot/stargz/toc.digest");
    ret->zstd_chunked_position =
        either(notes, "io.github.containers.zstd-chunked.manifest-position",
               "io.containers.zstd-chunked.manifest-position");
    ret->zstd_chunked_digest = either(notes, "io.github.containers.zstd-chunked.manifest-checksum",
                                      "io.containers.zstd-chunked.manifest-checksum");
    parse_platform(json_getc(v, "platform"), &ret->platform);
    return 0;
}

static int parse_descriptors(struct arena *a, const struct json *list, size_t max,
                             const struct oci_descriptor **ret, size_t *ret_n, struct err *err)
{
    if (!json_is(list, JSON_ARRAY))
        return err_set(err, E_PARSE, "the list is missing");
    if (list->n > max)
        return err_set(err, E_LIMIT, "the list has more than %zu members", max);
    struct oci_descriptor *all = arena_new_n(a, struct oci_descriptor, list->n);
    size_t n = 0;
    json_each (v, list) {
        int r = parse_descriptor(v, &all[n], err);
        if (r < 0)
            return err_ctx(err, r, "[%zu]", n);
        n++;
    }
    *ret = all;
    *ret_n = n;
    return 0;
}

int oci_document_kind(struct arena *a, struct str text, enum oci_document *ret, struct err *err)
{
    static const struct {
        const char *media_type;
        enum oci_document kind;
    } kinds[] = {
        { "application/vnd.oci.image.index.v1+json", OCI_DOCUMENT_INDEX },
        { "application/vnd.docker.distribution.manifest.list.v2+json", OCI_DOCUMENT_INDEX },
        { "application/vnd.oci.image.manifest.v1+json", OCI_DOCUMENT_MANIFEST },
        { "application/vnd.docker.distribution.manifest.v2+json", OCI_DOCUMENT_MANIFEST },
    };
    struct json *doc;
    int r = parse(a, text, &doc, err);
    if (r < 0)
        return r;
    struct str type = json_get_str(doc, "mediaType");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(type, kinds[i].media_type)) {
            *ret = kinds[i].kind;
            return 0;
        }
    int64_t schema = json_int_or(json_getc(doc, "schemaVersion"), 0);
    bool has_manifests = json_getc(doc, "manifests"), has_layers = json_getc(doc, "layers");
    if (type.n || schema != 2 || has_manifests == has_layers) {
        struct str shown = str_slice(type, 0, SHOWN_MAX);
        return err_set(err, E_UNSUPPORTED, "a manifest of type '" STR_FMT "', schema version %lld",
                       STR_ARG(shown), (long long)schema);
    }
    *ret = has_manifests ? OCI_DOCUMENT_INDEX : OCI_DOCUMENT_MANIFEST;
    return 0;
}

int oci_index_parse(struct arena *a, struct str text, struct oci_index *ret, struct err *err)
{
    struct json *doc;
    int r = parse(a, text, &doc, err);
    if (r < 0)
        return r;
    r = parse_descriptors(a, json_getc(doc, "manifests"), OCI_MANIFESTS_MAX, &ret->manifests,
                          &ret->n, err);
    return r < 0 ? err_ctx(err, r, "manifests") : 0;
}

int oci_manifest_parse(struct arena *a, struct str text, struct oci_manifest *ret, struct err *err)
{
    struct json *doc;
    int r = parse(a, text, &doc, err);
    if (r < 0)
        return r;
    r = parse_descriptor(json_getc(doc, "config"), &ret->config, err);
    if (r < 0)
        return err_ctx(err, r, "config");
    r = parse_descriptors(a, json_getc(doc, "layers"), OCI_LAYERS_MAX, &ret->layers, &ret->n_layers,
                          err);
    return r < 0 ? err_ctx(err, r, "layers") : 0;
}

/* A list of strings; missing and null are the empty one. */
static int parse_strings(struct arena *a, const struct json *config, const char *name,
                         struct oci_strings *ret, struct err *err)
{
    const struct json *list = json_getc(config, name);
    *ret = (struct oci_strings){ NULL, 0 };
    if (!list || json_is(list, JSON_NULL))
        return 0;
    if (!json_is(list, JSON_ARRAY))
        return err_set(err, E_PARSE, "config.%s is no list", name);
    if (list->n > OCI_RUN_STRINGS_MAX)
        return err_set(err, E_LIMIT, "config.%s has more than %d members", name,
                       OCI_RUN_STRINGS_MAX);
    struct str *all = arena_new_n(a, struct str, list->n);
    size_t n = 0;
    json_each (v, list) {
        if (!json_is(v, JSON_STRING))
            return err_set(err, E_PARSE, "config.%s[%zu] is no string", name, n);
        all[n++] = json_str(v);
    }
    *ret = (struct oci_strings){ all, n };
    return 0;
}

static int parse_run(struct arena *a, const struct json *config, struct oci_run *ret,
                     struct err *err)
{
    int r = parse_strings(a, config, "Entrypoint", &ret->entrypoint, err);
    r = r < 0 ? r : parse_strings(a, config, "Cmd", &ret->command, err);
    r = r < 0 ? r : parse_strings(a, config, "Env", &ret->env, err);
    ret->user = json_get_str(config, "User");
    ret->cwd = json_get_str(config, "WorkingDir");
    ret->stop_signal = json_get_str(config, "StopSignal");
    return r;
}

int oci_config_parse(struct arena *a, struct str text, struct oci_config *ret, struct err *err)
{
    struct json *doc;
    int r = parse(a, text, &doc, err);
    if (r < 0)
        return r;
    const struct json *ids = json_path(doc, "rootfs", "diff_ids", NULL);
    if (!json_is(ids, JSON_ARRAY) || ids->n > OCI_LAYERS_MAX)
        return err_set(err, E_PARSE, "rootfs.diff_ids is missing, or has more than %d members",
                       OCI_LAYERS_MAX);
    struct oci_digest *all = arena_new_n(a, struct oci_digest, ids->n);
    size_t n = 0;
    json_each (v, ids) {
        r = oci_digest_parse(json_str(v), &all[n], err);
        if (r < 0)
            return err_ctx(err, r, "rootfs.diff_ids[%zu]", n);
        n++;
    }
    r = parse_run(a, json_getc(doc, "config"), &ret->run, err);
    if (r < 0)
        return r;
    parse_platform(doc, &ret->platform);
    ret->created = json_get_str(doc, "created");
    ret->diff_ids = all;
    ret->n_diff_ids = n;
    return 0;
}

/* ---- platforms ---- */

struct oci_platform oci_platform_here(void)
{
#if defined(__x86_64__)
    return (struct oci_platform){ STR("linux"), STR("amd64"), STR_NULL };
#elif defined(__aarch64__)
    return (struct oci_platform){ STR("linux"), STR("arm64"), STR("v8") };
#elif defined(__riscv)
    return (struct oci_platform){ STR("linux"), STR("riscv64"), STR_NULL };
#else
#error "the name that images have for this architecture"
#endif
}

int oci_platform_parse(struct str text, struct oci_platform *ret, struct err *err)
{
    struct str os, rest, architecture, variant;
    (void)str_cut(text, '/', &os, &rest);
    (void)str_cut(rest, '/', &architecture, &variant);
    if (os.n == 0 || architecture.n == 0 || str_find_char(variant, '/') >= 0)
        return err_set(err, E_PARSE, "'" STR_FMT "' is no platform (OS/ARCHITECTURE[/VARIANT])",
                       STR_ARG(text));
    *ret = (struct oci_platform){ os, architecture, variant };
    return 0;
}

int oci_platform_check(const struct oci_platform *wanted, const struct oci_config *config,
                       struct err *err)
{
    const struct oci_platform *is = &config->platform;
    if ((is->os.n == 0 || str_eq(is->os, wanted->os)) &&
        (is->architecture.n == 0 || str_eq(is->architecture, wanted->architecture)))
        return 0;
    return err_set(err, -ENOENT,
                   "the image is for " STR_FMT "/" STR_FMT ", not for " STR_FMT "/" STR_FMT,
                   STR_ARG(is->os), STR_ARG(is->architecture), STR_ARG(wanted->os),
                   STR_ARG(wanted->architecture));
}

const struct oci_descriptor *oci_index_select(const struct oci_index *index,
                                              const struct oci_platform *wanted)
{
    const struct oci_descriptor *found = NULL;
    for (size_t i = 0; i < index->n; i++) {
        const struct oci_platform *p = &index->manifests[i].platform;
        if (!str_eq(p->os, wanted->os) || !str_eq(p->architecture, wanted->architecture))
            continue;
        if (str_eq(p->variant, wanted->variant))
            return &index->manifests[i];
        found = found ? found : &index->manifests[i];
    }
    return found;
}
