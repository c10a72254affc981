/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the content of a registry and detects changes, for programs that poll (distribution-spec
 * 1.1, "Content Discovery"). Blocking; as oci/remote.h.
 */
#pragma once

#include "oci/remote.h"

enum {
    OCI_REMOTE_NAMES_MAX = 65536, /* tags of a repository, repositories of a registry */
    OCI_REMOTE_PAGES_MAX = 1024,  /* of such a list */
};

/*
 * The current digest of a tag, by HEAD with If-None-Match if `known` is given; a registry that
 * supports it answers with only a status. 1: it differs from `known`, and is in *ret; 0: it is the
 * same. Errors: -ENOENT: there is no such tag; those of oci_remote_manifest().
 */
int oci_remote_tag_moved(struct oci_remote *m, const char *tag, const struct oci_digest *known,
                         struct oci_digest *ret, struct err *err);

struct oci_remote_names {
    const char **p; /* in the arena, in the order of the registry */
    size_t n;
};
/* The tags of the repository. Errors: E_PARSE, E_LIMIT, those of oci/remote.h. */
int oci_remote_tags(struct oci_remote *m, struct arena *a, struct oci_remote_names *ret,
                    struct err *err);
/* The repositories of the registry; many registries do not list them (E_DENIED, -ENOENT). */
int oci_remote_catalog(struct oci_remote *m, struct arena *a, struct oci_remote_names *ret,
                       struct err *err);

/* POST a JSON document to a path of the host, which need not be a registry. It may be delivered
 * twice. bearer: a token to send; NULL: none. Errors: those of oci/remote.h. */
int oci_remote_post(struct oci_remote *m, const char *target, const char *bearer, struct str json,
                    struct err *err);
