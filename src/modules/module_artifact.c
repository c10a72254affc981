/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/module_artifact.h"

#include "base/mem.h"
#include "codec/digest.h"
#include "io/address.h"
#include "oci/registry.h"

#include <errno.h>
#include <string.h>

enum { HTTPS_PORT = 443 };

/* One request is under way from start to end: the manifest, then the blob. */
struct module_artifact {
    struct module_artifact_opts opts;
    struct oci_reference ref;
    struct oci_digest module;
    struct oci_registry *registry;
    struct oci_request *request;
    char *scope;
    struct defer turn; /* the end: no registry is closed within its callback */
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

static int find_layer(const struct module_artifact *f, struct str text, struct oci_descriptor *ret,
                      struct err *err)
{
    struct arena a = { 0 };
    struct oci_manifest m = { 0 };
    const struct oci_descriptor *found = NULL;
    int r = oci_manifest_parse(&a, text, &m, err);
    for (size_t i = 0; r >= 0 && i < m.n_layers && !found; i++)
        if (oci_digest_equal(&m.layers[i].digest, &f->module))
            found = &m.layers[i];
    if (r >= 0 && !found)
        r = err_set(err, E_DIGEST, "the artifact holds no module of this digest");
    else if (r >= 0 && found->size > f->opts.max_bytes)
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

static int begin(struct module_artifact *f, struct err *err)
{
    const enum module_host host = module_artifact_host(f->opts.hosts, f->ref.host);
    struct oci_registry_opts registry = {
        .loop = f->opts.loop,
        .host = f->ref.host,
        .stall_ms = f->opts.idle_ms,
        .attempts = 1, /* the caller tries again */
        .may_connect = host == MODULE_HOST_PUBLIC ? is_public : NULL,
    };
    if (host == MODULE_HOST_DENIED)
        return err_set(err, -EPERM, "modules may not come from '%s' (--module-host)", f->ref.host);
    f->scope = oci_registry_scope(f->ref.repository, false);
    int r = oci_registry_new(&registry, &f->registry, err);
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
    int r = module_artifact_parse(opts->url, &f->ref, err);
    if (r >= 0 && !hex_parse(str_of(opts->sha256), f->module.bytes, sizeof f->module.bytes))
        r = err_set(err, E_INVALID, "the digest of the module is not 64 hexadecimal digits");
    r = r < 0 ? r : begin(f, err);
    if (r < 0) {
        free_artifact(f);
        return r;
    }
    *ret = f;
    return 0;
}

void module_artifact_cancel(struct module_artifact *f)
{
    f->is_cancelled = true;
    if (f->request)
        oci_request_cancel(f->request); /* its callback leads to the end */
}
