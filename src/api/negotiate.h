/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content negotiation: matches Accept with what an endpoint can write, as upstream does. Pure.
 *
 * Ranges are tried in the client's order; a range is skipped if its parameters ask for something
 * that the endpoint does not have. A weight of 0 does not exclude anything.
 */
#pragma once

#include "api/request.h"

enum rep_allow {
    ALLOW_PLAIN = 1 << 0,      /* objects as they are, in JSON and YAML */
    ALLOW_PROTOBUF = 1 << 1,   /* and in protobuf: not for custom resources */
    ALLOW_TRANSFORMS = 1 << 2, /* PartialObjectMetadata */
    ALLOW_AGGREGATED = 1 << 3, /* APIGroupDiscoveryList */
    ALLOW_TABLE = 1 << 4       /* with ALLOW_TRANSFORMS: Table too; reviews have no columns */
};

/* false: no range matches (406). No Accept: JSON. */
bool negotiate_accept(struct str accept, unsigned allow, struct rep *ret);
/* Whether a range of Accept names a supported media type, whatever its parameters. */
bool negotiate_is_known(struct str accept);
/* pretty=... in the query, or a client that is known to be interactive. */
bool negotiate_wants_pretty(const struct url_target *url, struct str user_agent);

/* stream: of a watch. */
const char *negotiate_content_type(const struct rep *rep, bool stream);
/* The list in the message of a 406. */
const char *negotiate_accepted(bool stream);
