/* SPDX-License-Identifier: Apache-2.0 */
/* What CSI drivers tell: CSINodes, CSIDrivers, CSIStorageCapacities. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

/* ---- CSINodes ---- */

static void node_id(const struct spot *s, const void *unused)
{
    enum { NODE_ID_MAX_BYTES = 256 };
    struct str id = spot_text(s);
    if (id.n == 0)
        say_required(s, "");
    if (id.n > NODE_ID_MAX_BYTES)
        say_invalid_text(s, say_text(s, "must be %d characters or less", NODE_ID_MAX_BYTES));
}

/* Keys are complained about at their driver. */
static void topology_keys(const struct spot *driver)
{
    MEMBER(keys, driver, "topologyKeys");
    struct map seen = { 0 };
    json_each (key, keys.v) {
        struct spot at = *driver;
        struct str text = json_str(key);
        at.v = key;
        if (text.n == 0)
            say_required(&at, "");
        if (map_put(&seen, text, &seen))
            say_duplicate_str(&at, text);
        must_qualified_name(&at, NULL);
    }
    map_fini(&seen);
}

static void node_driver(const struct spot *driver, struct map *seen)
{
    static const struct member_check members[] = { { "name", csi_driver_name, NULL },
                                                   { "nodeID", node_id, NULL } };
    MEMBER(name, driver, "name");
    MEMBER(allocatable, driver, "allocatable");
    MEMBER(count, &allocatable, "count");
    CHECK_MEMBERS(driver, members);
    not_negative(&count, NULL);
    if (map_put(seen, spot_text(&name), seen))
        say_duplicate_str(&name, spot_text(&name));
    topology_keys(driver);
}

#define DRIVER_LAYOUT                                                                              \
    "Name=name/\"\" NodeID=nodeID/\"\" TopologyKeys=topologyKeys/null Allocatable=-/null"

/* What a driver has said of a node stays, but for how many volumes it attaches. */
static void node_update(const struct spot *drivers, const struct json *old)
{
    static const char *const fixed[] = { "nodeID", "topologyKeys" };
    struct map before = { 0 };
    json_each (driver, json_path(old, "spec", "drivers", NULL))
        (void)map_put(&before, json_get_str(driver, "name"), driver);
    spot_each (driver, i, drivers) {
        const struct json *was = map_get(&before, member_text(&driver, "name"));
        bool differs = false;
        for (size_t k = 0; was && k < ARRAY_LEN(fixed); k++)
            differs =
                differs || !json_same(json_getc(driver.v, fixed[k]), json_getc(was, fixed[k]));
        if (differs)
            say_invalid_value(drivers, go_struct(drivers->errs->a, driver.v, DRIVER_LAYOUT),
                              "field is immutable");
    }
    map_fini(&before);
}

void validate_csi_node(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(drivers, &spec, "drivers");
    struct map seen = { 0 };
    spot_each (driver, i, &drivers)
        node_driver(&driver, &seen);
    map_fini(&seen);
    if (old)
        node_update(&drivers, old);
}

/* ---- CSIDrivers ---- */

static void token_requests(const struct spot *list)
{
    enum { SECONDS_MIN = 600 };
    struct map seen = { 0 };
    spot_each (request, i, list) {
        MEMBER(audience, &request, "audience");
        MEMBER(seconds, &request, "expirationSeconds");
        if (map_put(&seen, spot_text(&audience), &seen)) {
            say_duplicate_str(&audience, spot_text(&audience));
            continue;
        }
        if (seconds.v && spot_number(&seconds) < SECONDS_MIN)
            say_invalid(&seconds, "may not specify a duration less than 10 minutes");
        if (seconds.v && spot_number(&seconds) > INT64_C(1) << 32)
            say_invalid(&seconds, "may not specify a duration larger than 2^32 seconds");
    }
    map_fini(&seen);
}

static void driver_spec(const struct spot *spec)
{
    enum { PERIOD_MIN_S = 10 };
    WORDS(policies, WORD("File"), WORD("None"), WORD("ReadWriteOnceWithFSType"));
    WORDS(modes, WORD("Persistent"), WORD("Ephemeral"));
    MEMBER(policy, spec, "fsGroupPolicy");
    MEMBER(tokens, spec, "tokenRequests");
    MEMBER(lifecycles, spec, "volumeLifecycleModes");
    MEMBER(period, spec, "nodeAllocatableUpdatePeriodSeconds");
    MEMBER(in_secrets, spec, "serviceAccountTokenInSecrets");
    if (policy.v && !words_has(&policies, spot_text(&policy)))
        say_unsupported(&policy, &policies);
    token_requests(&tokens);
    json_each (mode, lifecycles.v) {
        struct spot at = lifecycles;
        at.v = mode;
        if (!words_has(&modes, json_str(mode)))
            say_unsupported(&at, &modes);
    }
    if (period.v && spot_number(&period) < PERIOD_MIN_S)
        say_invalid(&period, "must be greater than or equal to 10 seconds");
    if (in_secrets.v && spot_count(&tokens) == 0)
        say_invalid(&in_secrets, "serviceAccountTokenInSecrets is set but no tokenRequests are "
                                 "specified");
}

void validate_csi_driver(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    driver_spec(&spec);
    if (!old)
        return;
    const struct json *was = json_getc(old, "spec");
    struct spot attach = spot_named(&spec, "attachedRequired", json_getc(spec.v, "attachRequired"));
    MEMBER(modes, &spec, "volumeLifecycleModes");
    immutable(&attach, json_getc(was, "attachRequired"));
    immutable(&modes, json_getc(was, "volumeLifecycleModes"));
}

/* ---- CSIStorageCapacities ---- */

void validate_csi_capacity(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
    MEMBER(topology, &root, "nodeTopology");
    MEMBER(class, &root, "storageClassName");
    MEMBER(capacity, &root, "capacity");
    struct quantity q;
    label_selector(&topology, NULL);
    must_subdomain(&class, NULL);
    if (spot_quantity(&capacity, &q) && q.nano < 0)
        say_invalid(&capacity, "must be greater than or equal to 0");
    if (!old)
        return;
    if (!json_same(topology.v, json_getc(old, "nodeTopology")))
        say_invalid_value(&topology, shown_selector(errs->a, topology.v), "field is immutable");
    immutable(&class, json_getc(old, "storageClassName"));
}
