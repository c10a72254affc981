/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module that is a layer of an OCI artifact (CNCF, "Wasm OCI Artifact Layout"; OCI
 * image-spec 1.1, manifest.md), fetched from its registry: "oci://REFERENCE", as oci/reference.h
 * reads it. The manifest that the reference names, by tag or by digest, has to hold a layer with
 * the digest of the module; that decides, whatever the tag means. Loop thread only.
 */
#pragma once

#include "io/loop.h"
#include "modules/module_hosts.h"
#include "oci/reference.h"

struct module_artifact;

#define MODULE_ARTIFACT_SCHEME "oci://"

struct module_artifact_opts {
    struct loop *loop;
    const char *url, *sha256; /* of the module, 64 digits; copied */
    uint64_t max_bytes, idle_ms;
    const struct module_hosts *hosts; /* kept */
    /* The bytes, which are NOT verified; a negative code ends it. */
    int (*on_bytes)(void *arg, struct str bytes, struct err *err);
    /* Once, on a later turn, unless cancelled. Errors: E_DIGEST (the artifact holds no such layer),
     * E_LIMIT, E_PARSE, and those of oci_request_cb. */
    void (*on_end)(void *arg, int r, const struct err *err);
    void *arg;
};

bool module_artifact_is(const char *url);
/* Of the host of a reference, "docker.io", "localhost:5000", "[::1]:5000". */
enum module_host module_artifact_host(const struct module_hosts *hosts, const char *host);
/* Errors: E_INVALID. */
int module_artifact_parse(const char *url, struct oci_reference *ret, struct err *err);
/* Errors: E_INVALID; -EPERM, modules may not come from the registry. */
int module_artifact_start(const struct module_artifact_opts *opts, struct module_artifact **ret,
                          struct err *err);
/* No callback comes any more. */
void module_artifact_cancel(struct module_artifact *f);
