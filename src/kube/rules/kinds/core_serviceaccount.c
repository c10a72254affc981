/* SPDX-License-Identifier: Apache-2.0 */
/* ServiceAccounts. */
#include "kube/rules/kinds/kinds.h"

static const struct kube_column serviceaccount_columns[] = { COLUMN_NAME, COLUMN_AGE };

static const struct kube_subresource serviceaccount_subresources[] = {
    { .name = S("token"),
      .verbs = KUBE_CREATE,
      .group = S("authentication.k8s.io"),
      .version = S("v1"),
      .kind = S("TokenRequest") },
};

static const struct kube_strategy serviceaccount_strategy = { .returns_deleted = true,
                                                              .unconditional_update = true };

static struct kube_resource rows[] = { { .version = S("v1"),
                                         .kind = S("ServiceAccount"),
                                         .list_kind = S("ServiceAccountList"),
                                         .plural = S("serviceaccounts"),
                                         .singular = S("serviceaccount"),
                                         SHORT(S("sa")),
                                         .namespaced = true,
                                         .verbs = KUBE_VERBS_ALL,
                                         .strategy = &serviceaccount_strategy,
                                         SUBRESOURCES(serviceaccount_subresources),
                                         COLUMNS(serviceaccount_columns) } };

const struct kind_list kinds_core_serviceaccount = { rows, ARRAY_LEN(rows) };
