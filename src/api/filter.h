/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which objects of a collection a list, watch or deletecollection means: namespace, name, label and
 * field selector. What the key decides is decided without parsing the object.
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
    struct str index; /* of the keys of objects that may match (placed.h); "" none */
    bool by_key_only; /* no object needs to be looked at */
};

/* From path and query. NULL, or the Status to answer. Lives in the request's arena. */
struct json *filter_parse(struct request *rq, struct filter *ret);
/* Let the range read only what may match, if an index tells it. */
void filter_narrow(const struct filter *f, const struct request *rq, struct store_range *range);
bool filter_matches_key(const struct filter *f, struct str key);
bool filter_matches_object(const struct filter *f, struct arena *scratch, const struct json *obj);
/* The object itself; scratch for what has to be parsed. Bytes that do not parse match nothing. */
bool filter_matches_value(const struct filter *f, struct arena *scratch, struct encode_stored st);

/* An object of the store as the encoder wants it. */
struct encode_stored stored_of(const struct api *api, const struct kube_resource *res,
                               const struct store_kv *kv);
