/* SPDX-License-Identifier: Apache-2.0 */
/* LimitRanges and ResourceQuotas. */
#include "base/sys.h"
#include "kube/model/meta.h"
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/kinds/row.h"
#include "kube/rules/validate/validate.h"

static struct json *cell_created_at(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, row_text(obj, "metadata.creationTimestamp"));
}

static const struct kube_column limit_columns[] = {
    COLUMN_NAME,
    COLUMN("Created At", "date", "When the object was created.", 0, cell_created_at),
};

/* The first resource after `last` in order, among limits.* or among the others. */
static const struct json *next_hard(const struct json *hard, const struct json *last, bool limits)
{
    const struct json *best = NULL;
    json_each (h, hard)
        if (str_has_prefix(h->key, STR("limits")) == limits &&
            (!last || str_cmp(h->key, last->key) > 0) && (!best || str_cmp(h->key, best->key) < 0))
            best = h;
    return best;
}

static void row_quota(struct kind_row *r, bool limits)
{
    const struct json *hard = json_path(r->obj, "status", "hard", NULL);
    const struct json *used = json_path(r->obj, "status", "used", NULL);
    struct buf b = BUF_INIT(16 * 1024);
    for (const struct json *h = next_hard(hard, NULL, limits); h; h = next_hard(hard, h, limits)) {
        struct str amount = json_str(json_get(used, h->key));
        if (amount.n == 0)
            amount = STR("0");
        (void)buf_printf(&b, "%s" STR_FMT ": " STR_FMT "/" STR_FMT, b.n ? ", " : "",
                         STR_ARG(h->key), STR_ARG(amount), STR_ARG(json_str(h)));
    }
    row_str(r, buf_str(&b));
    buf_fini(&b);
}

static void quota_cells(struct arena *a, const struct json *obj, int64_t now_s, struct json *cells)
{
    struct kind_row r = { a, cells, obj, now_s };
    row_name(&r);
    row_quota(&r, false);
    row_quota(&r, true);
    row_age(&r);
}

static const struct kube_column quota_columns[] = {
    COLUMN_NAME,
    COLUMN("Request", "string", "What may be requested, and what is.", 0, NULL),
    COLUMN("Limit", "string", "What limits may add up to, and do.", 0, NULL),
    COLUMN_AGE,
};

static const struct kube_subresource quota_subresources[] = {
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .version = S("v1"),
      .kind = S("ResourceQuota") },
};

/* A LimitRange without a name gets a unique one. */
static void limit_prepare_create(struct arena *a, struct json *obj)
{
    struct json *meta = meta_of(a, obj);
    char name[37];
    if (meta_name(obj).n)
        return;
    sys_uuid(name);
    json_set_str(a, meta, "name", str_of(name));
}

static const struct kube_strategy limit_strategy = { .prepare_create = limit_prepare_create,
                                                     .validate = validate_limit_range,
                                                     .create_on_update = true,
                                                     .unconditional_update = true };
static const struct kube_strategy quota_strategy = { .validate = validate_resource_quota,
                                                     .returns_deleted = true,
                                                     .unconditional_update = true };

static struct kube_resource rows[] = {
    { .version = S("v1"),
      .kind = S("LimitRange"),
      .list_kind = S("LimitRangeList"),
      .plural = S("limitranges"),
      .singular = S("limitrange"),
      SHORT(S("limits")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      .strategy = &limit_strategy,
      COLUMNS(limit_columns) },
    { .version = S("v1"),
      .kind = S("ResourceQuota"),
      .list_kind = S("ResourceQuotaList"),
      .plural = S("resourcequotas"),
      .singular = S("resourcequota"),
      SHORT(S("quota")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(quota_subresources),
      .strategy = &quota_strategy,
      COLUMNS(quota_columns),
      .cells = quota_cells },
};

const struct kind_list kinds_core_limits = { rows, ARRAY_LEN(rows) };
