/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References to images in registries, as Docker and containerd read and complete them:
 *
 *     redis                                docker.io/library/redis:latest
 *     localhost:5000/a/b:tag               unchanged
 *     docker.io/library/redis:7@sha256:... unchanged; the digest is used, the tag is a comment
 *
 * The first part is a host if it has a dot or a colon, or is "localhost"; the grammar of the rest:
 * OCI distribution-spec 1.1, "Pulling manifests". Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "oci/image.h"

enum {
    OCI_REFERENCE_HOST_MAX = 263, /* a DNS name and a port */
    OCI_REPOSITORY_MAX = 255,
    OCI_TAG_MAX = 128,
};

struct oci_reference {
    char host[OCI_REFERENCE_HOST_MAX + 1];   /* "docker.io", "localhost:5000", "[::1]:5000" */
    char repository[OCI_REPOSITORY_MAX + 1]; /* "library/redis" */
    char tag[OCI_TAG_MAX + 1];               /* empty: only with a digest */
    bool has_digest;
    struct oci_digest digest;
};

/* Errors: E_PARSE with the reason, E_UNSUPPORTED: a digest with another algorithm. */
int oci_reference_parse(struct str text, struct oci_reference *ret, struct err *err);
/* The completed form, which parses to the same reference. */
void oci_reference_format(const struct oci_reference *ref, struct buf *to);
/* Whether both name the same: with a digest the tag does not count. */
bool oci_reference_equal(const struct oci_reference *a, const struct oci_reference *b);
/* A valid tag, "[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}". */
bool oci_reference_is_tag(struct str s);
/* A valid name of a repository within a registry. */
bool oci_reference_is_repository(struct str s);
