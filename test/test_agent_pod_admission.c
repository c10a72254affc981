/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods a node refuses. */
#include "agent/pod/admission.h"
#include "test.h"

static struct arena arena;
static struct pod_refusal no;

static struct json *parse(const char *text)
{
    struct json *v;
    struct err err = { 0 };
    if (json_parse(&arena, str_of(text), NULL, &v, &err) < 0)
        TEST_FAIL("%s: %s", text, err_text(&err));
    return v;
}

static const char node[] =
    "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"disk\":\"ssd\",\"rank\":\"7\"}},\"spec\":{"
    "\"taints\":[{\"key\":\"gone\",\"value\":\"x\",\"effect\":\"NoExecute\"},{\"key\":\"other\","
    "\"effect\":\"NoSchedule\"}]},\"status\":{\"allocatable\":{\"cpu\":\"2\",\"memory\":\"1Gi\","
    "\"pods\":\"3\"}}}";

#define TOLERANT "\"tolerations\":[{\"key\":\"gone\",\"operator\":\"Exists\"}]"

/* Whether a pod with these members of its spec is admitted, beside these. */
static bool admits(const char *members, struct pod_admission_used used)
{
    struct pod_spec spec;
    struct json *pod = parse(arena_printf(
        &arena, "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{%s}}", members));
    CHECK_OK(pod_spec_read(&arena, pod, &spec, NULL));
    return pod_admission_check(pod, &spec, parse(node), &used, 100, &no);
}

static const struct pod_admission_used none;

TEST(selectors_and_affinity)
{
    CHECK(admits(TOLERANT, none));
    CHECK(admits(TOLERANT ",\"nodeSelector\":{\"disk\":\"ssd\"}", none));
    CHECK(!admits(TOLERANT ",\"nodeSelector\":{\"disk\":\"hdd\"}", none));
    CHECK_STR(str_of(no.reason), "NodeAffinity");
    CHECK(!admits(TOLERANT ",\"nodeSelector\":{\"absent\":\"\"}", none));
    arena_fini(&arena);
}

#define TERMS(x)                                                                                   \
    TOLERANT ",\"affinity\":{\"nodeAffinity\":{"                                                   \
             "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[" x       \
             "]}}}"
#define RULE(key, op, values)                                                                      \
    "{\"key\":\"" key "\",\"operator\":\"" op "\",\"values\":[" values "]}"

TEST(terms_of_affinity)
{
    static const struct {
        const char *spec;
        bool is_admitted;
    } cases[] = {
        { TERMS("{\"matchExpressions\":[" RULE("disk", "In", "\"hdd\",\"ssd\"") "]}"), true },
        { TERMS("{\"matchExpressions\":[" RULE("disk", "NotIn", "\"ssd\"") "]}"), false },
        { TERMS("{\"matchExpressions\":[" RULE("no", "NotIn", "\"ssd\"") "]}"), true },
        { TERMS("{\"matchExpressions\":[" RULE("disk", "Exists", "") "," RULE("rank", "Gt",
                                                                              "\"6\"") "]}"),
          true },
        { TERMS("{\"matchExpressions\":[" RULE("rank", "Lt", "\"7\"") "]}"), false },
        { TERMS("{\"matchExpressions\":[" RULE(
              "disk", "DoesNotExist", "") "]},{\"matchFields\":[" RULE("metadata.name", "In",
                                                                       "\"n1\"") "]}"),
          true },
        { TERMS("{\"matchFields\":[" RULE("metadata.name", "In", "\"n2\"") "]}"), false },
        { TERMS("{}"), false },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (admits(cases[i].spec, none) != cases[i].is_admitted)
            TEST_FAIL("%s", cases[i].spec);
    }
    arena_fini(&arena);
}

TEST(taints_that_end_pods)
{
    CHECK(!admits("\"nodeName\":\"n1\"", none));
    CHECK_STR(str_of(no.reason), "TaintToleration");
    CHECK(admits("\"tolerations\":[{\"operator\":\"Exists\"}]", none));
    CHECK(admits("\"tolerations\":[{\"key\":\"gone\",\"value\":\"x\",\"effect\":\"NoExecute\"}]",
                 none));
    CHECK(!admits("\"tolerations\":[{\"key\":\"gone\",\"value\":\"y\"}]", none));
    CHECK(!admits("\"tolerations\":[{\"key\":\"gone\",\"operator\":\"Exists\",\"effect\":"
                  "\"NoSchedule\"}]",
                  none));
    arena_fini(&arena);
}

#define WANTS(cpu, memory)                                                                         \
    TOLERANT ",\"containers\":[{\"name\":\"a\",\"resources\":{\"requests\":{\"cpu\":\"" cpu        \
             "\",\"memory\":\"" memory "\"}}}]"

TEST(resources)
{
    const struct pod_admission_used used = { .cpu_milli = 1500,
                                             .memory_bytes = 1 << 29,
                                             .pods = 2 };
    struct pod_admission_used full = used;
    full.pods = 3;
    CHECK(admits(WANTS("500m", "512Mi"), used));
    CHECK(!admits(WANTS("501m", "512Mi"), used));
    CHECK_STR(str_of(no.reason), "OutOfcpu");
    CHECK_STR(str_of(no.message), "Node didn't have enough resource: cpu, requested: 501, used: "
                                  "1500, capacity: 2000");
    CHECK(!admits(WANTS("500m", "513Mi"), used));
    CHECK_STR(str_of(no.reason), "OutOfmemory");
    CHECK(!admits(TOLERANT, full));
    CHECK_STR(str_of(no.reason), "OutOfpods");
    CHECK(admits(WANTS("9", "9Gi") ",\"priority\":2000000000", full));
    arena_fini(&arena);
}

static bool allows(const char *members)
{
    static const char *const more[] = { "net.core.somaxconn", "kernel.msg*" };
    struct pod_spec spec;
    struct json *pod = parse(arena_printf(
        &arena, "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{%s}}", members));
    CHECK_OK(pod_spec_read(&arena, pod, &spec, NULL));
    return pod_admission_sysctls(&spec, more, ARRAY_LEN(more), &no);
}

#define SYSCTL(name) "\"securityContext\":{\"sysctls\":[{\"name\":\"" name "\",\"value\":\"1\"}]}"

TEST(sysctls)
{
    CHECK(allows(""));
    CHECK(allows(SYSCTL("kernel.shm_rmid_forced")));
    CHECK(allows(SYSCTL("net/ipv4/tcp_rmem")));
    CHECK(!allows(SYSCTL("net.ipv4.ip_forward")));
    CHECK_STR(str_of(no.reason), "SysctlForbidden");
    CHECK_STR(str_of(no.message), "forbidden sysctl: \"net.ipv4.ip_forward\" not allowlisted");
    CHECK(allows(SYSCTL("net.core.somaxconn")));
    CHECK(!allows(SYSCTL("net.core.somaxconn2")));
    CHECK(allows(SYSCTL("kernel.msgmax")));
    CHECK(!allows("\"hostNetwork\":true," SYSCTL("net.ipv4.tcp_rmem")));
    CHECK(!allows("\"hostIPC\":true," SYSCTL("kernel.msgmax")));
    CHECK(allows("\"hostIPC\":true," SYSCTL("net.ipv4.tcp_rmem")));
    arena_fini(&arena);
}

/* Whether a pod with these members is admitted. */
static bool confines(const char *members)
{
    return pod_admission_profiles(parse(members), &no);
}

#define PROFILE(type) "{\"appArmorProfile\":{\"type\":\"" type "\"}}"

TEST(profiles_of_apparmor)
{
    CHECK(confines("{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}"));
    CHECK(confines("{\"spec\":{\"securityContext\":" PROFILE("Unconfined") "}}"));
    CHECK(!confines("{\"spec\":{\"securityContext\":" PROFILE("Localhost") "}}"));
    CHECK_STR(str_of(no.reason), "AppArmor");
    CHECK(!confines(
        "{\"spec\":{\"containers\":[{},{\"securityContext\":" PROFILE("RuntimeDefault") "}]}}"));
    CHECK(!confines(
        "{\"spec\":{\"initContainers\":[{\"securityContext\":" PROFILE("Localhost") "}]}}"));
    CHECK(!confines("{\"metadata\":{\"annotations\":{\"container.apparmor.security.beta.kubernetes."
                    "io/a\":\"localhost/x\"}}}"));
    CHECK(confines("{\"metadata\":{\"annotations\":{\"container.apparmor.security.beta.kubernetes."
                   "io/a\":\"unconfined\"}}}"));
    arena_fini(&arena);
}

TEST_MAIN
