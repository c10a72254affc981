/* SPDX-License-Identifier: Apache-2.0 */
/* /openapi/v2 and /openapi/v3: documents are made when asked for and not kept. */
#include "kube/openapi.h"
#include "api/core.h"
#include "codec/media.h"

#include <errno.h>

void openapi_serve_v2(struct request *rq)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    struct media_accept ranges;
    static const char *const offers[] = { "application/json" };
    if (rq->accept.n && (media_parse_accept(rq->accept, &ranges) < 0 || ranges.n == 0 ||
                         media_choose(&ranges, offers, 1) < 0)) {
        reply_status(rq, status_not_acceptable(&rq->arena, "application/json"));
        return;
    }
    int r = openapi_v2(&rq->api->reg, &b);
    if (r < 0)
        reply_err(rq, r, NULL);
    else
        reply_tagged(rq, "application/json", buf_str(&b), buf_str(&b));
}

static bool cut_group_version(struct str rest, struct str *group, struct str *version)
{
    struct str root, tail;
    (void)str_cut(rest, '/', &root, &tail);
    *group = STR("");
    *version = tail;
    if (str_is(root, "api"))
        return tail.n > 0 && str_find_char(tail, '/') < 0;
    return str_is(root, "apis") && str_cut(tail, '/', group, version) && version->n > 0 &&
           str_find_char(*version, '/') < 0;
}

void openapi_serve_v3(struct request *rq)
{
    const struct registry *reg = &rq->api->reg;
    struct str rest = rq->route.rest, group, version;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    int r;
    if (rest.n == 0)
        r = openapi_v3_index(reg, &b);
    else
        r = cut_group_version(rest, &group, &version) ? openapi_v3(reg, group, version, &b)
                                                      : -ENOENT;
    if (r == -ENOENT)
        reply_status(rq, status_no_resource(&rq->arena));
    else if (r < 0)
        reply_err(rq, r, NULL);
    else
        reply_tagged(rq, "application/json", buf_str(&b), buf_str(&b));
}
