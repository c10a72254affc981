/* SPDX-License-Identifier: Apache-2.0 */
/* The downward API. */
#include "agent/pod/fields.h"
#include "agent_pod_kit.h"

#include <errno.h>

static const char pod_text[] =
    "metadata:\n"
    "  name: web-0\n"
    "  namespace: shop\n"
    "  uid: 7d1c\n"
    "  labels: {tier: front, app: \"a\\\"b\"}\n"
    "  annotations: {builder: john-doe, note: \"two\\nlines\", Example.com/Key: v}\n"
    "spec:\n"
    "  nodeName: n1\n"
    "  serviceAccountName: robot\n"
    "  initContainers: [{name: i, resources: {limits: {memory: 1Ki}}}]\n"
    "  containers:\n"
    "  - name: c\n"
    "    resources: {requests: {cpu: 250m, memory: 64M}, limits: {cpu: 1500m}}\n";

static const struct str host_ips[] = { { "10.0.0.1", 8 } };
static const struct str pod_ips[] = { { "10.1.0.2", 8 }, { "fd00::2", 7 } };
static const struct pod_facts facts = {
    .host_ips = host_ips,
    .n_host_ips = 1,
    .pod_ips = pod_ips,
    .n_pod_ips = 2,
    .allocatable = { .cpu_milli = 3920, .memory_bytes = 7000000001, .ephemeral_bytes = 5000 }
};

static struct str text(const char *path)
{
    struct str value = STR("(unset)");
    struct err err = { 0 };
    if (pod_field_text(&kit_arena, kit_pod(pod_text), &facts, str_of(path), &value, &err) < 0)
        value = str_of(arena_printf(&kit_arena, "!%s", err_text(&err)));
    return value;
}

TEST(fields_of_the_object)
{
    CHECK_STR(text("metadata.name"), "web-0");
    CHECK_STR(text("metadata.namespace"), "shop");
    CHECK_STR(text("metadata.uid"), "7d1c");
    CHECK_STR(text("spec.nodeName"), "n1");
    CHECK_STR(text("spec.serviceAccountName"), "robot");
    kit_reset();
}

TEST(addresses)
{
    const struct pod_facts unknown = { 0 };
    struct str value;
    CHECK_STR(text("status.hostIP"), "10.0.0.1");
    CHECK_STR(text("status.hostIPs"), "10.0.0.1");
    CHECK_STR(text("status.podIP"), "10.1.0.2");
    CHECK_STR(text("status.podIPs"), "10.1.0.2,fd00::2");
    CHECK_OK(
        pod_field_text(&kit_arena, kit_pod(pod_text), &unknown, STR("status.podIP"), &value, NULL));
    CHECK_STR(value, "");
    kit_reset();
}

/* Upstream sorts keys and quotes values as Go's %q. */
TEST(whole_labels_and_annotations_are_quoted_lines)
{
    CHECK_STR(text("metadata.labels"), "app=\"a\\\"b\"\ntier=\"front\"");
    CHECK_STR(text("metadata.annotations"),
              "Example.com/Key=\"v\"\nbuilder=\"john-doe\"\nnote=\"two\\nlines\"");
    kit_reset();
}

TEST(one_label_or_annotation)
{
    CHECK_STR(text("metadata.labels['tier']"), "front");
    CHECK_STR(text("metadata.labels['other']"), "");
    CHECK_STR(text("metadata.annotations['note']"), "two\nlines");
    CHECK_STR(text("metadata.annotations['Example.com/Key']"), "v");
    kit_reset();
}

TEST(paths_that_are_refused)
{
    CHECK_STR(text("metadata.whoops"), "!unsupported fieldPath: metadata.whoops");
    CHECK_STR(text(""), "!unsupported fieldPath: ");
    CHECK_STR(text("metadata.labels["), "!unsupported fieldPath: metadata.labels[");
    CHECK_STR(text("['a']"), "!unsupported fieldPath: ['a']");
    CHECK_STR(text("metadata.name['a']"),
              "!fieldPath \"metadata.name['a']\" does not support subscript");
    CHECK(str_has_prefix(text("metadata.labels['']"),
                         STR("!invalid key subscript in metadata.labels['']: ")));
    CHECK(str_has_prefix(text("metadata.annotations['unescaped]forbidden[characters'inside[]key']"),
                         STR("!invalid key subscript in ")));
    CHECK(str_has_prefix(text("metadata.labels[']"), STR("!unsupported fieldPath")));
    kit_reset();
}

static struct str amount(const char *container, const char *resource, const char *divisor)
{
    const struct pod_spec *p = kit_pod(pod_text);
    const struct pod_field_resource of = { .self = &p->main[0],
                                           .container = str_of(container),
                                           .resource = str_of(resource),
                                           .divisor = str_of(divisor) };
    struct str value = STR("(unset)");
    struct err err = { 0 };
    if (pod_field_resource_text(&kit_arena, p, &facts, &of, &value, &err) < 0)
        value = str_of(arena_printf(&kit_arena, "!%s", err_text(&err)));
    return value;
}

TEST(amounts_are_divided_and_rounded_up)
{
    CHECK_STR(amount("", "limits.cpu", ""), "2");
    CHECK_STR(amount("", "limits.cpu", "0"), "2");
    CHECK_STR(amount("", "limits.cpu", "1m"), "1500");
    CHECK_STR(amount("", "requests.cpu", "1"), "1");
    CHECK_STR(amount("", "requests.memory", "1Mi"), "62");
    CHECK_STR(amount("", "requests.memory", "1"), "64000000");
    CHECK_STR(amount("i", "limits.memory", "1k"), "2");
    CHECK_STR(amount("i", "requests.memory", "1"), "1024"); /* its limit */
    kit_reset();
}

TEST(limits_that_are_not_stated_are_those_of_the_node)
{
    CHECK_STR(amount("", "limits.memory", "1"), "7000000001");
    CHECK_STR(amount("", "limits.memory", "1M"), "7001");
    CHECK_STR(amount("i", "limits.cpu", "1m"), "3920");
    CHECK_STR(amount("", "limits.ephemeral-storage", "1k"), "5");
    CHECK_STR(amount("", "requests.ephemeral-storage", ""), "0");
    CHECK_STR(amount("", "limits.hugepages-2Mi", ""), "0");
    kit_reset();
}

TEST(resources_that_are_refused)
{
    CHECK_STR(amount("x", "limits.cpu", ""), "!container x not found");
    CHECK_STR(amount("", "limits.gpu", ""), "!unsupported container resource : limits.gpu");
    CHECK_STR(amount("", "cpu", ""), "!unsupported container resource : cpu");
    CHECK_STR(amount("", "limits.hugepages-", ""),
              "!unsupported container resource : limits.hugepages-");
    CHECK_STR(amount("", "limits.cpu", "-1"), "!divisor: must not be negative");
    CHECK(str_has_prefix(amount("", "limits.cpu", "x"), STR("!divisor: ")));
    kit_reset();
}

TEST_MAIN
