/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/module_artifact.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "codec/digest.h"
#include "io/address.h"
#include "oci/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { HTTPS_PORT = 443, CA_MAX_BYTES = 4 << 20 };

/* Media types in use for layers that are modules; the first is the specification's. */
static const char *const module_types[] = {
    "application/wasm",
    "application/vnd.wasm.content.layer.v1+wasm",
    "application/vnd.module.wasm.content.layer.v1+wasm",
};

/* One request runs at a time: the manifest, then the blob. */
struct module_artifact {
    struct module_artifact_opts opts;
    struct oci_reference ref;
    struct oci_digest module;
    bool knows_module; /* otherwise the media type identifies the layer */
    struct oci_registry *registry;
    struct oci_request *request;
    char *scope;
    struct defer turn; /* for the end, since a registry must not be closed within its callback */
    struct err err;
    bool is_cancelled;
};

bool module_artifact_is(const char *url)
{
    return strncmp(url, MODULE_ARTIFACT_SCHEME, strlen(MODULE_ARTIFACT_SCHEME)) == 0;
}

int module_artifact_parse(const char *url, struct oci_reference *ret, struct err *err)
{
    if (!module_artifact_is(url))
        return err_set(err, E_INVALID, "it does not begin with " MODULE_ARTIFACT_SCHEME);
    int r = oci_reference_parse(str_of(url + strlen(MODULE_ARTIFACT_SCHEME)), ret, err);
    return r < 0 ? err_ctx(err, E_INVALID, "'%.200s'", url) : 0;
}

static void free_artifact(struct module_artifact *f)
{
    if (f->registry)
        oci_registry_close(f->registry);
    free(f->scope);
    free(f);
}

static void on_end(struct defer *d)
{
    struct module_artifact *f = container_of(d, struct module_artifact, turn);
    struct module_artifact_opts o = f->opts;
    struct err err = f->err;
    bool is_cancelled = f->is_cancelled;
    free_artifact(f);
    if (!is_cancelled)
        o.on_end(o.arg, err.code, &err);
}

static void end(struct module_artifact *f, int r, const struct err *err)
{
    if (r < 0)
        f->err = *err;
    f->err.code = r < 0 ? r : 0;
    defer_start(f->opts.loop, &f->turn, on_end);
}

/* ---- the blob ---- */

static int take_bytes(void *arg, struct str bytes, struct err *err)
{
    struct module_artifact *f = arg;
    return f->is_cancelled ? -ECANCELED : f->opts.on_bytes(f->opts.arg, bytes, err);
}

static void on_blob(void *arg, int r, const struct oci_answer *answer, const struct err *err)
{
    struct module_artifact *f = arg;
    f->request = NULL;
    end(f, r, err);
}

/* ---- the manifest ---- */

static bool is_module(const struct oci_descriptor *d)
{
    for (size_t i = 0; i < ARRAY_LEN(module_types); i++)
        if (str_is(d->media_type, module_types[i]))
            return true;
    return false;
}

static int choose_layer(const struct module_artifact *f, const struct oci_manifest *m,
                        const struct oci_descriptor **ret, struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_layers; i++) {
        const struct oci_descriptor *d = &m->layers[i];
        if (f->knows_module ? oci_digest_equal(&d->digest, &f->module) : is_module(d)) {
            *ret = d;
            n++;
        }
    }
    if (f->knows_module)
        return n ? 0 : err_set(err, E_DIGEST, "the artifact holds no module of this digest");
    if (n == 0)
        return err_set(err, E_UNSUPPORTED,
                       "the artifact holds no module: none of its %zu layers is of type %s",
                       m->n_layers, module_types[0]);
    return n == 1 ? 0 : err_set(err, E_UNSUPPORTED, "the artifact holds %zu modules, not one", n);
}

static int find_layer(const struct module_artifact *f, struct str text, struct oci_descriptor *ret,
                      struct err *err)
{
    struct arena a = { 0 };
    struct oci_manifest m = { 0 };
    const struct oci_descriptor *found = NULL;
    enum oci_document kind;
    int r = oci_document_kind(&a, text, &kind, err);
    if (r >= 0 && kind == OCI_DOCUMENT_INDEX)
        r = err_set(err, E_UNSUPPORTED,
                    "it is an index of several images, not an artifact with a module");
    r = r < 0 ? r : oci_manifest_parse(&a, text, &m, err);
    r = r < 0 ? r : choose_layer(f, &m, &found, err);
    if (r >= 0 && found->size > f->opts.max_bytes)
        r = err_set(err, E_LIMIT, "the module is larger than %llu bytes",
                    (unsigned long long)f->opts.max_bytes);
    if (r >= 0)
        *ret = (struct oci_descriptor){ .digest = found->digest, .size = found->size };
    arena_fini(&a);
    return r;
}

static void on_manifest(void *arg, int r, const struct oci_answer *answer, const struct err *err)
{
    struct module_artifact *f = arg;
    struct oci_descriptor layer;
    struct oci_digest digest;
    struct err why = { 0 };
    f->request = NULL;
    if (r < 0 || f->is_cancelled) {
        end(f, r, err);
        return;
    }
    sha256_of(answer->body, digest.bytes);
    if (f->ref.has_digest && !oci_digest_equal(&digest, &f->ref.digest))
        r = err_set(&why, E_DIGEST, "the registry's manifest is not the one of its digest");
    r = r < 0 ? r : find_layer(f, answer->body, &layer, &why);
    if (r >= 0 && f->opts.on_found) {
        const struct module_artifact_found found = { digest, layer.digest, layer.size };
        f->opts.on_found(f->opts.arg, &found);
    }
    if (r >= 0 && !f->opts.on_bytes) {
        end(f, 0, NULL);
        return;
    }
    if (r >= 0)
        r = oci_registry_blob(f->registry, f->ref.repository, &layer, 0, f->scope, take_bytes, f,
                              on_blob, f, &f->request, &why);
    if (r < 0)
        end(f, r, &why);
}

/* ---- beginning ---- */

static bool is_public(void *arg, const struct sockaddr *addr)
{
    return address_is_public(addr);
}

enum module_host module_artifact_host(const struct module_hosts *hosts, const char *text)
{
    struct str host = str_of(text), port = STR_NULL;
    uint64_t n = HTTPS_PORT;
    const char *colon = strrchr(text, ':');
    if (colon && !strchr(colon, ']')) {
        port = str_of(colon + 1);
        host.n = (size_t)(colon - text);
    }
    if (str_has_prefix(host, STR("[")) && str_has_suffix(host, STR("]")))
        host = str_slice(host, 1, host.n - 1);
    scoped(free_scoped) char *name = str_dup(host);
    if (port.n && parse_u64(port, 1, UINT16_MAX, &n) < 0)
        return MODULE_HOST_DENIED;
    return module_hosts_find(hosts, name, (uint16_t)n);
}

static bool is_plain(const struct module_site *site, const char *host)
{
    for (size_t i = 0; i < site->n_plain_hosts; i++)
        if (strcmp(site->plain_hosts[i], host) == 0)
            return true;
    return false;
}

static int read_ca(const struct module_site *site, struct buf *to, struct err *err)
{
    int r = site->ca_file ? sys_read_file(AT_FDCWD, site->ca_file, to, err) : 0;
    return r < 0 ? err_ctx(err, -EIO, "certificate authority of registries") : 0;
}

static int begin(struct module_artifact *f, struct err *err)
{
    const struct module_site *site = f->opts.site;
    const enum module_host host =
        site->is_any_host ? MODULE_HOST_NAMED : module_artifact_host(&site->hosts, f->ref.host);
    scoped(buf_fini_scoped) struct buf ca = BUF_INIT(CA_MAX_BYTES);
    struct oci_registry_opts registry = {
        .loop = f->opts.loop,
        .host = f->ref.host,
        .plain_http = is_plain(site, f->ref.host),
        .stall_ms = f->opts.idle_ms,
        .attempts = 1, /* the caller retries */
        .may_connect = host == MODULE_HOST_PUBLIC ? is_public : NULL,
    };
    if (f->opts.login)
        registry.login = *f->opts.login;
    if (host == MODULE_HOST_DENIED)
        return err_set(err, -EPERM, "modules may not come from '%s' (--module-host)", f->ref.host);
    f->scope = oci_registry_scope(f->ref.repository, false);
    int r = read_ca(site, &ca, err);
    registry.ca_pem = buf_str(&ca);
    r = r < 0 ? r : oci_registry_new(&registry, &f->registry, err);
    return r < 0 ? r
                 : oci_registry_manifest(f->registry, f->ref.repository, f->ref.tag,
                                         f->ref.has_digest ? &f->ref.digest : NULL, f->scope,
                                         on_manifest, f, &f->request, err);
}

int module_artifact_start(const struct module_artifact_opts *opts, struct module_artifact **ret,
                          struct err *err)
{
    struct module_artifact *f = xnew(struct module_artifact);
    f->opts = *opts;
    f->opts.url = f->opts.sha256 = NULL;
    f->knows_module = opts->sha256 != NULL;
    int r = module_artifact_parse(opts->url, &f->ref, err);
    if (r >= 0 && f->knows_module &&
        !hex_parse(str_of(opts->sha256), f->module.bytes, sizeof f->module.bytes))
        r = err_set(err, E_INVALID, "the digest of the module is not 64 hexadecimal digits");
    r = r < 0 ? r : begin(f, err);
    if (r < 0) {
        free_artifact(f);
        return r;
    }
    f->opts.login = NULL;
    *ret = f;
    return 0;
}

void module_artifact_cancel(struct module_artifact *f)
{
    f->is_cancelled = true;
    if (f->request)
        oci_request_cancel(f->request); /* its callback ends the fetch */
}
