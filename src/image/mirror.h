/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request to the registry mirror asks for (OCI distribution-spec 1.1, "Pull"; the query
 * parameter `ns` of containerd's mirrors), and the parts of RFC 9110 that serving a blob needs.
 * Pure; any thread.
 */
#pragma once

#include "oci/image.h"
#include "oci/reference.h"

enum mirror_kind {
    MIRROR_ROOT,      /* /v2/ */
    MIRROR_MANIFEST,  /* /v2/NAME/manifests/REFERENCE */
    MIRROR_BLOB,      /* /v2/NAME/blobs/DIGEST */
    MIRROR_TAGS,      /* /v2/NAME/tags/list */
    MIRROR_REFERRERS, /* /v2/NAME/referrers/DIGEST */
    MIRROR_TREE,      /* /v2/NAME/_dormouse/trees/DIFFID: image/mirror_files.h */
    MIRROR_START,     /* /v2/NAME/_dormouse/starts/CONFIG: image/start_list.h, by the
                         digest of the configuration */
    MIRROR_FILES,     /* /v2/NAME/_dormouse/files, the request in the body */
};

struct mirror_request {
    enum mirror_kind kind;
    char host[OCI_REFERENCE_HOST_MAX + 1]; /* of `ns`; empty: not stated */
    /* As it was asked for; may begin with a host, unless that is `host`, and then with a port even
     * where "HOST_PORT" or "HOST_PORT_" was asked for. */
    char repository[OCI_REPOSITORY_MAX + 1];
    char tag[OCI_TAG_MAX + 1]; /* of a manifest; empty: by digest */
    struct oci_digest digest;
    bool is_entitled;           /* its token is for this blob, whatever the access rights */
    struct str body;            /* of FILES, borrowed; empty after parsing the target */
    uint64_t n;                 /* of tags: at most so many; UINT64_MAX: all */
    char last[OCI_TAG_MAX + 1]; /* of tags: those after it; empty: from the first */
};

/*
 * target: of the request line. Errors: -ENOENT, no resource of a registry; E_INVALID, the name, the
 * reference or a parameter is none; E_UNSUPPORTED, a digest by another algorithm; those of
 * url_parse().
 */
int mirror_request_parse(struct str target, struct mirror_request *ret, struct err *err);

/*
 * The complete names under which the node store may have `tag` of that repository, completed as by
 * oci/reference.h, the likeliest first: in the host of `ns`, or unchanged. tag: may be empty, then
 * a name without tag, "docker.io/library/redis". Given, free(); NULL: it has none.
 */
char *mirror_request_name(const struct mirror_request *q, const char *tag);

enum { MIRROR_RANGES_MAX = 64 }; /* of a request: more are answered with the whole */

/* What of a blob a client asked for. */
enum mirror_range {
    MIRROR_WHOLE,   /* no usable range: 200 with all of it (RFC 9110 section 14.2) */
    MIRROR_PARTS,   /* 206 with these */
    MIRROR_NO_PART, /* 416 */
};
struct mirror_ranges {
    struct {
        uint64_t from, to; /* [from, to) */
    } at[MIRROR_RANGES_MAX];
    size_t n; /* 1 or more */
};
/*
 * range: the field's value, empty: none; if_range likewise: unless it is `etag`, the range does not
 * count (section 13.1.5). Several ranges count in ascending order without overlaps; those beyond
 * the end are left out (section 14.2). *ret: set for MIRROR_PARTS.
 */
enum mirror_range mirror_ranges_of(struct str range, struct str if_range, struct str etag,
                                   uint64_t size, struct mirror_ranges *ret);
/* Whether an If-None-Match names the tag (section 13.1.2). */
bool mirror_etag_matches(struct str if_none_match, struct str etag);
