/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules that are named by a reference alone, "oci://REFERENCE" (module_artifact.h), without their
 * digest: found in the registry, kept on disk, so that a process starts although the registry is
 * away.
 *
 *     <dir>/<sha256>.wasm    a module; its bytes are compared with the digest before they are used
 *     <dir>/<hash>.ref       what a reference named when it was asked for last: three lines, the
 *                            reference, the digest of the manifest, that of the module
 *
 * The registry is asked each time what a tag names. When it does not answer within
 * MODULE_REFERENCE_PATIENCE_MS, the module that the tag named last is used, and the question goes
 * on in the background: what comes of it is on disk for the next time. When the registry says no by
 * then, or what it has is wrong, that is an error. A reference
 * with a digest of its own needs no registry once its module is there.
 *
 * References and credentials are of who runs the process (module_login.h): this is not for what the
 * users of an API name. Loop thread only; no callback runs inside the function that asked for it.
 */
#pragma once

#include "io/loop.h"
#include "modules/module_hosts.h"
#include "oci/image.h"

struct module_references;
struct module_reference;

enum {
    MODULE_REFERENCE_IDLE_MS = 30000, /* a registry without a byte for so long has failed */
    /* So long a module that is here waits for the registry: a start does not hang with it. */
    MODULE_REFERENCE_PATIENCE_MS = 2000,
    MODULE_REFERENCES_KEPT_MAX = 256, /* on disk; beyond, the one that was asked for longest ago
                                       * goes */
};

struct module_references_opts {
    struct loop *loop;       /* kept */
    const char *dir;         /* made with the first module; copied */
    struct module_site site; /* its texts are kept */
};
struct module_references *module_references_new(const struct module_references_opts *opts);
/* No callback is awaited; what goes on in the background ends. NULL is fine. */
void module_references_free(struct module_references *all);

struct module_pin { /* what a reference stands for */
    char manifest[OCI_DIGEST_TEXT_SIZE];
    char sha256[SHA256_HEX_SIZE]; /* of the module */
};

/*
 * Once, unless cancelled. r 0: pin, and the module, borrowed. Errors: those of module_artifact.h
 * and module_login.h, of the file system.
 */
typedef void (*module_reference_cb)(void *arg, int r, const struct module_pin *pin,
                                    struct str module, const struct err *err);

/* The module. Errors: E_INVALID, it is no such URL. */
int module_reference_get(struct module_references *all, const char *url, module_reference_cb cb,
                         void *arg, struct module_reference **ret, struct err *err);
/* What the registry says that it is now, and no more: the module is empty. */
int module_reference_look(struct module_references *all, const char *url, module_reference_cb cb,
                          void *arg, struct module_reference **ret, struct err *err);
/* No callback comes any more. NULL is fine. */
void module_reference_cancel(struct module_reference *ref);

/* It has no digest: what it stands for may change. */
bool module_reference_may_move(const char *url);
