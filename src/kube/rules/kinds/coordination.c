/* SPDX-License-Identifier: Apache-2.0 */
/* coordination.k8s.io: Leases. */
#include "kube/rules/kinds/kinds.h"

static void lease_validate(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    const struct json *spec = json_getc(obj, "spec");
    struct fpath up = fpath_child(NULL, STR("spec"));
    struct fpath duration_at = fpath_child(&up, STR("leaseDurationSeconds"));
    struct fpath transitions_at = fpath_child(&up, STR("leaseTransitions"));
    struct fpath holder_at = fpath_child(&up, STR("holderIdentity"));
    struct fpath preferred_at = fpath_child(&up, STR("preferredHolder"));
    const struct json *duration = json_getc(spec, "leaseDurationSeconds");
    const struct json *transitions = json_getc(spec, "leaseTransitions");
    const struct json *holder = json_getc(spec, "holderIdentity");
    (void)old;
    if (duration && json_int_or(duration, 1) <= 0)
        field_error(errs, FIELD_INVALID, &duration_at, duration, "must be greater than 0");
    if (transitions && json_int_or(transitions, 0) < 0)
        field_error(errs, FIELD_INVALID, &transitions_at, transitions,
                    "must be greater than or equal to 0");
    if (json_getc(spec, "strategy") && holder && json_str(holder).n == 0)
        field_error(errs, FIELD_INVALID, &holder_at, holder, "must not be empty");
    if (json_get_str(spec, "preferredHolder").n && !json_getc(spec, "strategy"))
        field_error(errs, FIELD_FORBIDDEN, &preferred_at, NULL,
                    "may only be specified when `strategy` is defined");
}

/* Coordinated leader election is off by default upstream: its fields are dropped. */
static void lease_prepare_create(struct arena *a, struct json *lease)
{
    struct json *spec = json_getc(lease, "spec");
    (void)a;
    if (!spec)
        return;
    (void)json_del(spec, STR("strategy"));
    (void)json_del(spec, STR("preferredHolder"));
}

static void lease_prepare_update(struct arena *a, struct json *lease, const struct json *old)
{
    (void)old;
    lease_prepare_create(a, lease);
}

static struct json *cell_holder(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_str(json_path(obj, "spec", "holderIdentity", NULL)));
}

static const struct kube_column lease_columns[] = {
    COLUMN_NAME,
    COLUMN("Holder", "string", "Who holds the lease now.", 0, cell_holder),
    COLUMN_AGE,
};

static const struct kube_strategy lease_strategy = { .prepare_create = lease_prepare_create,
                                                     .prepare_update = lease_prepare_update,
                                                     .validate = lease_validate,
                                                     .create_on_update = true };

static struct kube_resource rows[] = { { .group = S("coordination.k8s.io"),
                                         .version = S("v1"),
                                         .kind = S("Lease"),
                                         .list_kind = S("LeaseList"),
                                         .plural = S("leases"),
                                         .singular = S("lease"),
                                         .namespaced = true,
                                         .verbs = KUBE_VERBS_ALL,
                                         .strategy = &lease_strategy,
                                         COLUMNS(lease_columns) } };

const struct kind_list kinds_coordination = { rows, ARRAY_LEN(rows) };
