/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares an image to run: pulls it into the node store, leases it, writes its root file system,
 * and returns its run configuration. The root file system is in the store, with other data that is
 * derived from the image, and is written once for each tenant:
 *
 *     <store>/images/<manifest>/<tenant>/rootfs
 *
 * It has no devices, since containers run on it in place and a mount would expose them. It is not
 * shared between tenants, since mount points are created in it at paths that a tenant chooses.
 * A mounted one has its devices and a place for all tenants; its last drop ends the mount. gc
 * removes it with the image, and provide_sweep() after its tenant has not used it for a while: the
 * namespace may have been deleted while other tenants use the image. A lease prevents both.
 * Blocking calls, several threads at once on one store.
 *
 * Tenants: an image that was pulled with credentials has the name "NAME#tenant=TENANT" in the
 * store, so that another tenant must have its own credentials to get it. Bytes are stored once; for
 * a layer that was pulled with credentials, another tenant's registry must send the bytes again
 * before that tenant may use it (image/layer_rights.h). Images from commands and plans are for all
 * tenants, by name and by layer, except names of images with a layer that the store already had and
 * that is private to another tenant.
 */
#pragma once

#include "base/buf.h"
#include "oci/credentials.h"
#include "oci/remote.h"
#include "oci/store.h"

#include <stdatomic.h>

enum {
    PROVIDE_TENANT_DIGITS = 16, /* hexadecimal, of the name of its directory */
    PROVIDE_AUTHS_MAX = 8,      /* files of credentials of one image */
    PROVIDE_HOSTS_MAX = 256,    /* of either list of registries */
    PROVIDE_REST_S = 24 * 3600  /* that a root file system stays after its last use */
};

enum provide_policy {
    PROVIDE_IF_NOT_PRESENT, /* ask the registry only for what is not here */
    PROVIDE_ALWAYS,         /* ask the registry for the current image of the name */
    PROVIDE_NEVER,
};

struct provide_site { /* of a machine; texts are borrowed for the call */
    /* Allowed registries of images (modules/module_hosts.h): a registry in this list may redirect
     * to any address; of others every address must be public. */
    const char *const *hosts;
    size_t n_hosts;
    const char *ca_file;     /* trusted besides the system's roots; NULL: none */
    struct str *plain_hosts; /* registries that are spoken to without TLS */
    size_t n_plain_hosts;
};

/*
 * How the registry of this host ("docker.io", "127.0.0.1:5000") is reached, without credentials;
 * texts are the site's. Errors: E_DENIED, images may not come from it.
 */
int provide_site_registry(const struct provide_site *site, const char *host,
                          struct oci_remote_opts *ret, struct err *err);

struct provide_want {
    /* "redis:7", "docker://host/name@sha256:...", "oci:DIR[:NAME]", "oci-archive:FILE[:NAME]",
     * "docker-archive:FILE[:NAME]" (oci/source.h). The caller decides which files may be read. */
    struct str reference;
    struct str tenant;       /* without blanks */
    const struct str *auths; /* files of credentials, as in oci/credentials.h, of which the first
                              * that knows the registry counts; programs that they name are not run.
                              * None: anonymous. */
    size_t n_auths;
    enum provide_policy policy;
    /* Mount the root file system, read-only, instead of writing it, if the kernel and the store can
     * (image/stored.h). For callers that put an overlay over it: then it is one for all tenants. */
    bool is_mounted;
    /* The image is leased until the machine starts again, as LEASE:<manifest>/<tenant>, the words
     * of the path of its directory. */
    struct str lease;
    /* Bytes are about to be asked for; some more of a layer have come, on any thread; no more are
     * asked for. NULL: not of interest. */
    void (*on_pulling)(void *arg);
    void (*on_bytes)(void *arg);
    void (*on_pulled)(void *arg);
    void *arg;
    /* Set by another thread: a pull ends with -ECANCELED soon after. NULL: never. */
    const atomic_bool *stop;
};

struct provided {
    struct oci_digest manifest;
    char *dir;         /* has "rootfs"; given, free() */
    struct buf config; /* run_config_make() */
    size_t n_program;  /* likewise */
    bool was_pulled;   /* something was asked for */
};

void provide_result_fini(struct provided *p);

/*
 * There is a lease on success only. Errors: E_INVALID (the reference, the user in the image's
 * configuration), -ENOENT (no such image), E_DENIED (from the registry, or it is not one of
 * `hosts`), those of oci_pull(), unpack_image(), run_config_make().
 */
int provide_image(struct oci_store *s, const struct provide_site *site,
                  const struct provide_want *want, struct provided *ret, struct err *err);

/*
 * Whether the store has the image such that provide_image() would ask no registry for it, with any
 * policy but PROVIDE_ALWAYS and credentials of the tenant.
 */
bool provide_has(struct oci_store *s, struct str reference, struct str tenant);

/* The use has ended: drop the lease, LEASE:<manifest>/<tenant>. -ENOENT. */
int provide_drop(struct oci_store *s, struct str lease, struct err *err);

/*
 * Remove the root file systems that no lease holds and whose last use is at least rest_s seconds
 * ago: they go to the trash (oci_store_sweep()). Their layers stay: the next use writes them again.
 * is_dry: count only. *ret_n: how many.
 */
int provide_sweep(struct oci_store *s, uint64_t rest_s, bool is_dry, size_t *ret_n,
                  struct err *err);
