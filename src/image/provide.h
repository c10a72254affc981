/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image made ready to run: pulled into the node store, leased, its root file system written, and
 * what it says about running. The root file system lies in the store, with what else is derived
 * from the image, and is written once for each tenant:
 *
 *     <store>/images/<manifest>/<tenant>/rootfs
 *
 * without devices, since containers run on it in place and a mount shows what is there; not shared
 * between tenants, since mount points are made in it by what a tenant asks for. gc removes it with
 * the image, and provide_sweep() when its tenant has not used it for a while: a namespace may be
 * gone, and its images are others' too. A lease prevents both. Blocking calls, several threads at
 * once on one store.
 *
 * Tenants: an image that was pulled with credentials has the name "NAME#tenant=TENANT" in the
 * store, so that another tenant has to show credentials of its own before it gets what is here.
 * Bytes are kept once; of a layer that came with credentials another tenant's registry has to bring
 * the bytes again before that tenant has it (image/layer_rights.h). What commands and plans put
 * into the store is for all tenants, by name and by layer, but for names of images that have a
 * layer which was here already and is another tenant's.
 */
#pragma once

#include "base/buf.h"
#include "oci/credentials.h"
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
    PROVIDE_ALWAYS,         /* ask which image the name stands for now */
    PROVIDE_NEVER,
};

struct provide_site { /* of a machine; texts are borrowed for the call */
    /* Registries that images may be of (modules/module_hosts.h): one that is named leads wherever
     * it says; of others every address must be public. */
    const char *const *hosts;
    size_t n_hosts;
    const char *ca_file;     /* trusted besides the system's roots; NULL: none */
    struct str *plain_hosts; /* registries that are spoken to without TLS */
    size_t n_plain_hosts;
};

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
 * The lease stands on success only. Errors: E_INVALID (the reference, the user that the image
 * names), -ENOENT (no such image), E_DENIED (the registry says so, or it is not one of `hosts`),
 * those of oci_pull(), unpack_image(), run_config_make().
 */
int provide_image(struct oci_store *s, const struct provide_site *site,
                  const struct provide_want *want, struct provided *ret, struct err *err);

/* The use has ended: drop the lease, LEASE:<manifest>/<tenant>. -ENOENT. */
int provide_drop(struct oci_store *s, struct str lease, struct err *err);

/*
 * Remove the root file systems that no lease holds and whose last use is at least rest_s seconds
 * ago: they go to the trash (oci_store_sweep()). Their layers stay: the next use writes them again.
 * is_dry: count only. *ret_n: how many.
 */
int provide_sweep(struct oci_store *s, uint64_t rest_s, bool is_dry, size_t *ret_n,
                  struct err *err);
