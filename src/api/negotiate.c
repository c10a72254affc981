/* SPDX-License-Identifier: Apache-2.0 */
/* Accept; see negotiate.h. */
#include "api/negotiate.h"

#include "codec/media.h"
#include "codec/url.h"

#define PROTOBUF "application/vnd.kubernetes.protobuf"

/* In order of preference, for a range that matches several. */
static const struct {
    const char *subtype;
    enum rep_format format;
} offers[] = { { "json", FORMAT_JSON },
               { "yaml", FORMAT_YAML },
               { "vnd.kubernetes.protobuf", FORMAT_PROTOBUF } };

/* Parameters that decide whether a range can be served. */
struct wish {
    struct str as, group, version;
    bool transforms; /* one of the three was given */
};

static bool read_params(const struct media_type *m, const struct rep *rep, unsigned allow,
                        struct wish *ret)
{
    struct str as = media_param(m, "as"), group = media_param(m, "g"),
               version = media_param(m, "v"), stream = media_param(m, "stream"),
               server = media_param(m, "sv");
    *ret = (struct wish){
        .as = as, .group = group, .version = version, .transforms = as.p || group.p || version.p
    };
    if (stream.n && (rep->format == FORMAT_YAML || !str_is(stream, "watch")))
        return false;
    return server.n == 0 || ((allow & ALLOW_TRANSFORMS) && str_is(server, "v1"));
}

static bool take_transform(const struct wish *w, unsigned allow, struct rep *rep)
{
    if (!str_is(w->group, "meta.k8s.io") ||
        !(str_is(w->version, "v1") || str_is(w->version, "v1beta1")))
        return false;
    rep->v1beta1 = str_is(w->version, "v1beta1");
    if (str_is(w->as, "Table"))
        rep->kind = REP_TABLE;
    else if (str_is(w->as, "PartialObjectMetadata"))
        rep->kind = REP_PARTIAL;
    else if (str_is(w->as, "PartialObjectMetadataList"))
        rep->kind = REP_PARTIAL_LIST;
    else
        return false;
    return rep->kind != REP_TABLE || ((allow & ALLOW_TABLE) && rep->format != FORMAT_PROTOBUF);
}

static bool take_aggregated(const struct wish *w, struct rep *rep)
{
    rep->kind = REP_AGGREGATED;
    rep->v1beta1 = str_is(w->version, "v2beta1");
    return str_is(w->as, "APIGroupDiscoveryList") && str_is(w->group, "apidiscovery.k8s.io") &&
           (str_is(w->version, "v2") || rep->v1beta1);
}

static bool rep_of(const struct media_type *m, enum rep_format format, unsigned allow,
                   struct rep *ret)
{
    struct rep rep = { .format = format, .pretty = str_is(media_param(m, "pretty"), "1") };
    struct wish w;
    bool fits;
    if (!read_params(m, &rep, allow, &w))
        return false;
    if (!w.transforms)
        fits = format == FORMAT_PROTOBUF ? (allow & ALLOW_PROTOBUF) : (allow & ALLOW_PLAIN);
    else
        fits = ((allow & ALLOW_TRANSFORMS) && take_transform(&w, allow, &rep)) ||
               ((allow & ALLOW_AGGREGATED) && take_aggregated(&w, &rep));
    if (fits)
        *ret = rep;
    return fits;
}

bool negotiate_accept(struct str accept, unsigned allow, struct rep *ret)
{
    struct media_accept ranges;
    if (accept.n == 0 && (allow & ALLOW_PLAIN)) {
        *ret = (struct rep){ 0 };
        return true;
    }
    if (media_parse_accept(accept, &ranges) < 0)
        return false;
    for (size_t i = 0; i < ranges.n; i++)
        for (size_t k = 0; k < ARRAY_LEN(offers); k++)
            if (media_matches(&ranges.at[i], "application", offers[k].subtype) &&
                rep_of(&ranges.at[i], offers[k].format, allow, ret))
                return true;
    return false;
}

bool negotiate_is_known(struct str accept)
{
    struct media_accept ranges;
    if (media_parse_accept(accept, &ranges) < 0)
        return false;
    for (size_t i = 0; i < ranges.n; i++)
        for (size_t k = 0; k < ARRAY_LEN(offers); k++)
            if (media_matches(&ranges.at[i], "application", offers[k].subtype))
                return true;
    return false;
}

bool negotiate_wants_pretty(const struct url_target *url, struct str user_agent)
{
    static const struct str people[] = { { "curl", 4 }, { "Wget", 4 }, { "Mozilla/5.0", 11 } };
    struct str given = url ? url_query_get(url, "pretty") : STR("");
    if (given.n)
        return url_query_bool(url, "pretty");
    for (size_t i = 0; i < ARRAY_LEN(people); i++)
        if (str_has_prefix(user_agent, people[i]))
            return true;
    return false;
}

const char *negotiate_content_type(const struct rep *rep, bool stream)
{
    switch (rep->format) {
    case FORMAT_JSON:
        return "application/json";
    case FORMAT_YAML:
        return "application/yaml";
    case FORMAT_PROTOBUF:
        return stream ? PROTOBUF ";stream=watch" : PROTOBUF;
    }
    return "application/json";
}

const char *negotiate_accepted(bool stream)
{
    return stream ? "application/json;stream=watch, " PROTOBUF ";stream=watch"
                  : "application/json, application/yaml, " PROTOBUF;
}
