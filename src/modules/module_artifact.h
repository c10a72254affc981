/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module that is a layer of an OCI artifact (CNCF, "Wasm OCI Artifact Layout"; OCI
 * image-spec 1.1, manifest.md), in its registry: "oci://REFERENCE", as oci/reference.h reads it.
 * The manifest that the reference names, by tag or by digest, has to hold a layer with the digest
 * of the module, where that is known: then it decides, whatever the tag means. Else the artifact
 * has to hold one module, a layer of a media type that modules have. Loop thread only.
 */
#pragma once

#include "io/loop.h"
#include "modules/module_hosts.h"
#include "oci/reference.h"

struct module_artifact;

#define MODULE_ARTIFACT_SCHEME "oci://"

struct module_artifact_found {
    struct oci_digest manifest, module;
    uint64_t size; /* of the module, as the manifest says */
};

struct module_artifact_opts {
    struct loop *loop;
    const char *url;
    const char *sha256; /* of the module, 64 digits; copied; NULL: not known */
    uint64_t max_bytes, idle_ms;
    const struct module_site *site; /* kept */
    const struct oci_login *login;  /* copied; NULL: anonymous */
    /* What the reference names now. NULL: not of interest. */
    void (*on_found)(void *arg, const struct module_artifact_found *found);
    /* The bytes, which are NOT verified; a negative code ends it. NULL: the module is not fetched.
     */
    int (*on_bytes)(void *arg, struct str bytes, struct err *err);
    /* Once, on a later turn, unless cancelled. Errors: E_DIGEST (the artifact holds no such layer,
     * or the registry has another manifest), E_UNSUPPORTED (it holds no module, or several),
     * E_LIMIT, E_PARSE, and those of oci_request_cb. */
    void (*on_end)(void *arg, int r, const struct err *err);
    void *arg;
};

bool module_artifact_is(const char *url);
/* Of the host of a reference, "docker.io", "localhost:5000", "[::1]:5000". */
enum module_host module_artifact_host(const struct module_hosts *hosts, const char *host);
/* Errors: E_INVALID. */
int module_artifact_parse(const char *url, struct oci_reference *ret, struct err *err);
/* Errors: E_INVALID; -EPERM, modules may not come from the registry; -EIO: the CA cannot
 * be read. */
int module_artifact_start(const struct module_artifact_opts *opts, struct module_artifact **ret,
                          struct err *err);
/* No callback comes any more. */
void module_artifact_cancel(struct module_artifact *f);
