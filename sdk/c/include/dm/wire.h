/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The payloads that cross between guest and host in ABIs G1 and G2: bincode 1.x, little endian,
 * every length a u64. Used by the guest halves only; operators do not see it.
 */
#pragma once

#include "dm/http.h"
#include "dm/text.h"

void dm_wire_request(struct dm_text *t, const struct dm_request *r);

/* What G1 asks the host to watch. */
struct dm_watch_request {
    const struct dm_resource *res;
    const char *ns; /* NULL: all */
    const char *resource_version;
    const char *label_selector, *field_selector; /* NULL: none */
    bool bookmarks;
};
void dm_wire_watch(struct dm_text *t, const struct dm_watch_request *w);

/*
 * Decode a response head and, with `body` not NULL, the body behind it (borrowed from p).
 * Returns the status, or 0 for bytes that are no response.
 */
int dm_wire_response(const char *p, size_t n, struct dm_str *body);
