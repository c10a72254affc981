/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the objects of a list, watch or deletecollection: by namespace, name, label and field
 * selector. What can be decided by the key is decided without parsing the object.
 */
#pragma once

#include "api/core.h"
#include "api/encode.h"
#include "kube/model/selector.h"

struct filter {
    const struct kube_resource *res;
    struct str prefix; /* of all objects of the resource */
    struct str ns;     /* "" all */
    struct str name;   /* "" all; from the path or a metadata.name selector */
    struct selector labels, fields;
    struct str index; /* prefix in the index of keys that may match (placed.h); "": none */
    bool by_key_only; /* the key decides; no object is parsed */
};

/* Parse path and query. NULL, or the Status to answer. Lives in the request's arena. */
struct json *filter_parse(struct request *rq, struct filter *ret);
/* Restrict the range to objects that may match, if an index can tell. */
void filter_narrow(const struct filter *f, const struct request *rq, struct store_range *range);
bool filter_matches_key(const struct filter *f, struct str key);
bool filter_matches_object(const struct filter *f, struct arena *scratch, const struct json *obj);
/* Matches the object; scratch is for parsing. Bytes that cannot be parsed match nothing. */
bool filter_matches_value(const struct filter *f, struct arena *scratch, struct encode_stored st);

/* An object of the store, for the encoder. */
struct encode_stored filter_stored(const struct api *api, const struct kube_resource *res,
                                   const struct store_kv *kv);
