/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which function a request names by its host or path. Pure; whether the function exists is checked
 * elsewhere (directory.c), as are the hosts and paths that specs declare.
 *
 *     host  NAME                       in the namespace "default"
 *           NAME.NAMESPACE
 *           TAG.NAME.NAMESPACE
 *           each also followed by .DOMAIN, and with a port
 *     path  /fn/NAMESPACE/NAME[/...]   the function sees what follows NAME
 *           /async-function/NAME[.NAMESPACE][/...]   the same, asynchronously, as in OpenFaaS
 */
#pragma once

#include "base/str.h"

#define ROUTE_ASYNC_PREFIX "/async-function/"
enum { ROUTE_HOST_MAX = 255, ROUTE_PATH_MAX = 512 };

struct gateway_route {
    struct str namespace, name, tag; /* tag "": none */
};

/* In lower case without port and final dot, in `to`; n 0: too long, or empty. */
struct str route_clean_host(struct str host, char to[ROUTE_HOST_MAX + 1]);
/* host: clean. Borrowed from it. false: no host of this form. */
bool route_host(struct str host, struct str domain, struct gateway_route *ret);
/*
 * target: origin form. *ret_prefix_n: bytes of it that are the function's address, "/fn/NS/NAME".
 */
bool route_path(struct str target, struct gateway_route *ret, size_t *ret_prefix_n);
/* Does the path alone request an asynchronous call? */
bool route_is_async(struct str target);
/*
 * A path that the gateway itself handles: no spec may claim it. path: of a target or a spec,
 * without the query.
 */
bool route_is_reserved(struct str path);
/* A host below the gateway's own domain, which names functions. */
bool route_is_below(struct str host, struct str domain);
/* A DNS label (RFC 1123) in lower case: what names of functions and namespaces are. */
bool route_is_label(struct str s);
