/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules named only by a reference, "oci://REFERENCE" (module_artifact.h), without their digest.
 * They are resolved by the registry and kept on disk, so that a process can start while the
 * registry is unreachable.
 *
 *     <dir>/<sha256>.wasm    a module; its bytes are compared with the digest before use
 *     <dir>/<hash>.ref       the last answer for a reference, in three lines: the reference, the
 *                            digest of the manifest, the digest of the module
 *
 * Each call asks the registry what a tag names. If it does not answer within
 * MODULE_REFERENCE_PATIENCE_MS, the call returns the module that the tag named last, and the
 * request continues in the background to update the files for the next call. If the registry
 * refuses within that time, or its content is invalid, the call fails. A reference that contains a
 * digest needs no registry once its module is on disk.
 *
 * References and credentials belong to the user who runs the process (module_login.h); do not use
 * this for references that API users name. Loop thread only; no callback runs inside the function
 * that started the operation.
 */
#pragma once

#include "io/loop.h"
#include "modules/module_hosts.h"
#include "oci/image.h"

struct module_references;
struct module_reference;

enum {
    MODULE_REFERENCE_IDLE_MS = 30000, /* a registry that sends nothing for this long has failed */
    /*
     * How long a module on disk waits for the registry's answer, so that a registry that hangs does
     * not block a start.
     */
    MODULE_REFERENCE_PATIENCE_MS = 2000,
    MODULE_REFERENCES_KEPT_MAX = 256, /* on disk; beyond it the least recently used is removed */
};

struct module_references_opts {
    struct loop *loop;       /* kept */
    const char *dir;         /* created with the first module; copied */
    struct module_site site; /* its texts are kept */
};
struct module_references *module_references_new(const struct module_references_opts *opts);
/* No callback may be pending; requests in the background are cancelled. NULL is fine. */
void module_references_free(struct module_references *all);

struct module_pin { /* what a reference resolves to */
    char manifest[OCI_DIGEST_TEXT_SIZE];
    char sha256[SHA256_HEX_SIZE]; /* of the module */
};

/*
 * Runs once, unless cancelled. r 0: pin and the module, both borrowed. Errors: those of
 * module_artifact.h and module_login.h, of the file system.
 */
typedef void (*module_reference_cb)(void *arg, int r, const struct module_pin *pin,
                                    struct str module, const struct err *err);

/* Fetch the module. Errors: E_INVALID, not such a URL. */
int module_reference_get(struct module_references *all, const char *url, module_reference_cb cb,
                         void *arg, struct module_reference **ret, struct err *err);
/* Only ask the registry what the reference names now: the module passed to `cb` is empty. */
int module_reference_look(struct module_references *all, const char *url, module_reference_cb cb,
                          void *arg, struct module_reference **ret, struct err *err);
/* No callback runs afterwards. NULL is fine. */
void module_reference_cancel(struct module_reference *ref);

/* The URL has no digest, so what it names may change. */
bool module_reference_may_move(const char *url);
