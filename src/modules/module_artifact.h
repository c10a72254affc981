/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module that is a layer of an OCI artifact in a registry (CNCF, "Wasm OCI Artifact Layout"; OCI
 * image-spec 1.1, manifest.md), named "oci://REFERENCE" as oci/reference.h parses it.
 *
 * If the module's digest is known, the manifest of the reference (a tag or a digest) must list a
 * layer with that digest; the tag does not matter then. Otherwise the artifact must contain exactly
 * one module, a layer of a media type for modules. Loop thread only.
 */
#pragma once

#include "io/loop.h"
#include "modules/module_hosts.h"
#include "oci/reference.h"

struct module_artifact;

#define MODULE_ARTIFACT_SCHEME "oci://"

struct module_artifact_found {
    struct oci_digest manifest, module;
    uint64_t size; /* of the module, from the manifest */
};

struct module_artifact_opts {
    struct loop *loop;
    const char *url;
    const char *sha256; /* of the module, 64 digits; copied; NULL: unknown */
    uint64_t max_bytes, idle_ms;
    const struct module_site *site; /* kept */
    const struct oci_login *login;  /* copied; NULL: anonymous */
    /* Reports what the reference names now. May be NULL. */
    void (*on_found)(void *arg, const struct module_artifact_found *found);
    /*
     * Receives the bytes, which are NOT verified; a negative result ends the fetch. NULL: the
     * module is not fetched.
     */
    int (*on_bytes)(void *arg, struct str bytes, struct err *err);
    /*
     * Runs once, on a later turn, unless cancelled. Errors: E_DIGEST (the artifact has no such
     * layer, or the registry returned another manifest), E_UNSUPPORTED (it contains no module, or
     * several), E_LIMIT, E_PARSE, and those of oci_request_cb.
     */
    void (*on_end)(void *arg, int r, const struct err *err);
    void *arg;
};

bool module_artifact_is(const char *url);
/* Classify the host of a reference: "docker.io", "localhost:5000", "[::1]:5000". */
enum module_host module_artifact_host(const struct module_hosts *hosts, const char *host);
/* Errors: E_INVALID. */
int module_artifact_parse(const char *url, struct oci_reference *ret, struct err *err);
/*
 * Errors: E_INVALID; -EPERM: modules may not be fetched from this registry; -EIO: the CA cannot be
 * read.
 */
int module_artifact_start(const struct module_artifact_opts *opts, struct module_artifact **ret,
                          struct err *err);
/* No callback runs afterwards. */
void module_artifact_cancel(struct module_artifact *f);
