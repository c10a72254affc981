/* SPDX-License-Identifier: Apache-2.0 */
/* policy: PodDisruptionBudgets. (Evictions are a subresource of Pods.) */
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/kinds/row.h"
#include "kube/rules/validate/validate.h"

/* A number or a percentage. */
static void row_amount(struct kind_row *r, const char *member)
{
    const struct json *v = json_path(r->obj, "spec", member, NULL);
    if (json_is(v, JSON_NUMBER))
        row_printf(r, "%lld", (long long)json_int_or(v, 0));
    else
        row_or(r, json_str(v), "N/A");
}

static void budget_cells(struct arena *a, const struct json *obj, int64_t now_s, struct json *cells)
{
    struct kind_row r = { a, cells, obj, now_s };
    row_name(&r);
    row_amount(&r, "minAvailable");
    row_amount(&r, "maxUnavailable");
    row_int(&r, row_num(obj, "status.disruptionsAllowed"));
    row_age(&r);
}

static const struct kube_column budget_columns[] = {
    COLUMN_NAME,
    COLUMN("Min Available", "string", "Pods that must stay available.", 0, NULL),
    COLUMN("Max Unavailable", "string", "Pods that may be unavailable.", 0, NULL),
    COLUMN("Allowed Disruptions", "integer", "Pods that may be evicted now.", 0, NULL),
    COLUMN_AGE,
};

static const struct kube_subresource budget_subs[] = {
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .group = S("policy"),
      .version = S("v1"),
      .kind = S("PodDisruptionBudget") },
};

static const struct kube_strategy budget_strategy = { .validate = validate_budget,
                                                      .name_rule = KUBE_NAME_PATH_SEGMENT,
                                                      .has_generation = true };

static struct kube_resource rows[] = {
    { .group = S("policy"),
      .version = S("v1"),
      .kind = S("PodDisruptionBudget"),
      .list_kind = S("PodDisruptionBudgetList"),
      .plural = S("poddisruptionbudgets"),
      .singular = S("poddisruptionbudget"),
      SHORT(S("pdb")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(budget_subs),
      .strategy = &budget_strategy,
      COLUMNS(budget_columns),
      .cells = budget_cells },
};

const struct kind_list kinds_policy = { rows, ARRAY_LEN(rows) };
