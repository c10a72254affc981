/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The authentication that a registry demands with a 401: the WWW-Authenticate fields (RFC 9110
 * section 11.6.1),
 * with the parameters that registries use for Bearer (RFC 6750 section 3). Pure.
 */
#pragma once

#include "base/mem.h"
#include "codec/headers.h"

enum oci_challenge_scheme {
    OCI_CHALLENGE_NONE, /* or only unknown ones */
    OCI_CHALLENGE_BASIC,
    OCI_CHALLENGE_BEARER,
};

enum {
    OCI_CHALLENGE_PARAM_MAX = 4096
}; /* bytes of a value; a longer one makes the field invalid */

struct oci_challenge {
    enum oci_challenge_scheme scheme;
    struct str realm, service, scope; /* of Bearer; in the arena; empty: not stated */
};

/*
 * The best of all challenges: Bearer with a realm, else Basic. A field that does not follow the
 * grammar is read up to the first error.
 */
void oci_challenge_parse(struct arena *a, const struct headers *headers, struct oci_challenge *ret);
