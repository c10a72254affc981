/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which representation a client gets: Accept against what an endpoint can write, as upstream
 * decides. Pure.
 *
 * Ranges are tried in the client's order; a range whose parameters ask for something that the
 * endpoint does not have is passed over. A weight of 0 does not exclude anything.
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

/* false: nothing fits (406). No Accept: JSON. */
bool rep_negotiate(struct str accept, unsigned allow, struct rep *ret);
/* Whether a range of Accept names one of the media types that are written, whatever its parameters.
 */
bool rep_is_known(struct str accept);
/* pretty=... in the query, or a client that is known to have a person in front of it. */
bool rep_wants_pretty(const struct url_target *url, struct str user_agent);

/* stream: of a watch. */
const char *rep_content_type(const struct rep *rep, bool stream);
/* The list in the message of a 406. */
const char *rep_accepted(bool stream);
