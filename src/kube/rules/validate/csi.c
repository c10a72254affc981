/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of CSI drivers: CSINodes, CSIDrivers, CSIStorageCapacities. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

/* Generated from text/csi.txt. */
#include "kube/rules/csi_rules.h"

/* ---- CSINodes ---- */

static void node_id(const struct validate_value *s, const void *unused)
{
    enum { NODE_ID_MAX_BYTES = 256 };
    struct str id = value_text(s);
    if (id.n == 0)
        report_required(s, "");
    if (id.n > NODE_ID_MAX_BYTES)
        report_invalid_text(s, report_text(s, "must be %d characters or less", NODE_ID_MAX_BYTES));
}

/* Errors in keys are reported at their driver. */
static void topology_keys(const struct validate_value *driver)
{
    MEMBER(keys, driver, "topologyKeys");
    struct map seen = { 0 };
    json_each (key, keys.v) {
        struct validate_value at = *driver;
        struct str text = json_str(key);
        at.v = key;
        if (text.n == 0)
            report_required(&at, "");
        if (map_put(&seen, text, &seen))
            report_duplicate_str(&at, text);
        validate_qualified_name(&at, NULL);
    }
    map_fini(&seen);
}

static void node_driver(const struct validate_value *driver, struct map *seen)
{
    MEMBER(name, driver, "name");
    MEMBER(allocatable, driver, "allocatable");
    MEMBER(count, &allocatable, "count");
    VALIDATE_MEMBERS(driver, rules_node_driver);
    validate_nonnegative(&count, NULL);
    if (map_put(seen, value_text(&name), seen))
        report_duplicate_str(&name, value_text(&name));
    topology_keys(driver);
}

#define DRIVER_LAYOUT                                                                              \
    "Name=name/\"\" NodeID=nodeID/\"\" TopologyKeys=topologyKeys/null Allocatable=-/null"

/* A driver's entry must not change, except the number of volumes it can attach. */
static void node_update(const struct validate_value *drivers, const struct json *old)
{
    static const char *const fixed[] = { "nodeID", "topologyKeys" };
    struct map before = { 0 };
    json_each (driver, json_path(old, "spec", "drivers", NULL))
        (void)map_put(&before, json_get_str(driver, "name"), driver);
    value_each (driver, i, drivers) {
        const struct json *was = map_get(&before, value_member_text(&driver, "name"));
        bool differs = false;
        for (size_t k = 0; was && k < ARRAY_LEN(fixed); k++)
            differs =
                differs || !value_same(json_getc(driver.v, fixed[k]), json_getc(was, fixed[k]));
        if (differs)
            report_invalid_value(drivers,
                                 value_go_struct(drivers->errs->a, driver.v, DRIVER_LAYOUT),
                                 "field is immutable");
    }
    map_fini(&before);
}

void validate_csi_node(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(drivers, &spec, "drivers");
    struct map seen = { 0 };
    value_each (driver, i, &drivers)
        node_driver(&driver, &seen);
    map_fini(&seen);
    if (old)
        node_update(&drivers, old);
}

/* ---- CSIDrivers ---- */

static void token_requests(const struct validate_value *list)
{
    enum { SECONDS_MIN = 600 };
    struct map seen = { 0 };
    value_each (request, i, list) {
        MEMBER(audience, &request, "audience");
        MEMBER(seconds, &request, "expirationSeconds");
        if (map_put(&seen, value_text(&audience), &seen)) {
            report_duplicate_str(&audience, value_text(&audience));
            continue;
        }
        if (seconds.v && value_number(&seconds) < SECONDS_MIN)
            report_invalid(&seconds, "may not specify a duration less than 10 minutes");
        if (seconds.v && value_number(&seconds) > INT64_C(1) << 32)
            report_invalid(&seconds, "may not specify a duration larger than 2^32 seconds");
    }
    map_fini(&seen);
}

static void driver_spec(const struct validate_value *spec)
{
    enum { PERIOD_MIN_S = 10 };
    MEMBER(policy, spec, "fsGroupPolicy");
    MEMBER(tokens, spec, "tokenRequests");
    MEMBER(lifecycles, spec, "volumeLifecycleModes");
    MEMBER(period, spec, "nodeAllocatableUpdatePeriodSeconds");
    MEMBER(in_secrets, spec, "serviceAccountTokenInSecrets");
    if (policy.v && !validate_enum_has(&enum_driver_spec_policies, value_text(&policy)))
        report_not_supported(&policy, &enum_driver_spec_policies);
    token_requests(&tokens);
    json_each (mode, lifecycles.v) {
        struct validate_value at = lifecycles;
        at.v = mode;
        if (!validate_enum_has(&enum_driver_spec_modes, json_str(mode)))
            report_not_supported(&at, &enum_driver_spec_modes);
    }
    if (period.v && value_number(&period) < PERIOD_MIN_S)
        report_invalid(&period, "must be greater than or equal to 10 seconds");
    if (in_secrets.v && value_count(&tokens) == 0)
        report_invalid(&in_secrets, "serviceAccountTokenInSecrets is set but no tokenRequests are "
                                    "specified");
}

void validate_csi_driver(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    driver_spec(&spec);
    if (!old)
        return;
    const struct json *was = json_getc(old, "spec");
    struct validate_value attach =
        value_named(&spec, "attachedRequired", json_getc(spec.v, "attachRequired"));
    MEMBER(modes, &spec, "volumeLifecycleModes");
    validate_immutable(&attach, json_getc(was, "attachRequired"));
    validate_immutable(&modes, json_getc(was, "volumeLifecycleModes"));
}

/* ---- CSIStorageCapacities ---- */

void validate_csi_capacity(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(topology, &root, "nodeTopology");
    MEMBER(class, &root, "storageClassName");
    MEMBER(capacity, &root, "capacity");
    struct quantity q;
    validate_label_selector(&topology, NULL);
    validate_subdomain(&class, NULL);
    if (value_quantity(&capacity, &q) && q.nano < 0)
        report_invalid(&capacity, "must be greater than or equal to 0");
    if (!old)
        return;
    if (!value_same(topology.v, json_getc(old, "nodeTopology")))
        report_invalid_value(&topology, selector_shown(errs->a, topology.v), "field is immutable");
    validate_immutable(&class, json_getc(old, "storageClassName"));
}
