/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses a guest's request by the rules of upstream's RequestInfo, so that the host can tell a
 * watch from a list, check the allow list, and share watches.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/model/resource.h"

struct target {
    enum kube_verb verb;
    bool is_resource;         /* below /api/V or /apis/G/V; otherwise only `path` is set */
    struct str origin;        /* path and query as sent to the server */
    struct str path;          /* decoded segments joined by '/' */
    struct str group_version; /* "v1", "group/version" */
    struct str namespace, resource, name, subresource;
    bool watch, bookmarks, send_initial_events;
    bool is_old_watch; /* /api/v1/watch/...: a watch, but not by a query that could be shared */
    uint64_t rv;       /* 0: absent, "0", or not a number */
    struct str label_selector, field_selector;
};

/*
 * Strings are borrowed from `text` or live in `a`. Errors: as url_parse(); E_INVALID for an unknown
 * method.
 */
int target_parse(struct arena *a, struct str method, struct str text, struct target *ret,
                 struct err *err);
