/* SPDX-License-Identifier: Apache-2.0 */
/* Which pod is evicted first, and which uses more storage than it may. */
#include "agent/pod/eviction.h"
#include "test.h"

#define MI (1 << 20)

TEST(of_pods_beyond_their_requests_the_least_important_one_goes_first)
{
    struct pod_eviction_candidate list[] = {
        { .priority = 0, .used = 50, .requested = 100 },   /* within its request */
        { .priority = 10, .used = 500, .requested = 100 }, /* more important */
        { .priority = 0, .used = 200, .requested = 100 },
        { .priority = 0, .used = 300, .requested = 250 },
        { .priority = -5, .used = 900, .requested = 0, .is_protected = true },
    };
    CHECK_INT(pod_eviction_choose(POD_EVICTION_MEMORY, list, ARRAY_LEN(list)), 2);
    list[2].is_protected = list[3].is_protected = true;
    CHECK_INT(pod_eviction_choose(POD_EVICTION_MEMORY, list, ARRAY_LEN(list)), 1);
    list[1].is_protected = true;
    CHECK_INT(pod_eviction_choose(POD_EVICTION_STORAGE, list, ARRAY_LEN(list)), 0);
    list[0].is_protected = true;
    CHECK(pod_eviction_choose(POD_EVICTION_MEMORY, list, ARRAY_LEN(list)) == SIZE_MAX);
    CHECK(pod_eviction_choose(POD_EVICTION_MEMORY, NULL, 0) == SIZE_MAX);
}

TEST(processes_have_no_requests)
{
    const struct pod_eviction_candidate list[] = { { .priority = 5, .used = 900 },
                                                   { .priority = 0, .used = 3 },
                                                   { .priority = 0, .used = 7 } };
    CHECK_INT(pod_eviction_choose(POD_EVICTION_PROCESSES, list, ARRAY_LEN(list)), 2);
}

static struct arena arena;

static struct pod_spec spec_of(const char *members)
{
    struct pod_spec spec;
    struct json *v;
    struct err err = { 0 };
    const char *text = arena_printf(
        &arena, "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{%s}}", members);
    CHECK_OK(json_parse(&arena, str_of(text), NULL, &v, &err));
    CHECK_OK(pod_spec_read(&arena, v, &spec, &err));
    return spec;
}

#define LIMIT(n) "\"resources\":{\"limits\":{\"ephemeral-storage\":\"" n "\"}}"

TEST(limits_of_storage)
{
    char text[POD_EVICTION_TEXT_MAX];
    struct pod_spec none = spec_of("\"containers\":[{\"name\":\"a\"}]");
    struct pod_spec two = spec_of(
        "\"volumes\":[{\"name\":\"v\",\"emptyDir\":{\"sizeLimit\":\"2Mi\"}},{\"name\":\"w\","
        "\"emptyDir\":{}}],\"containers\":[{\"name\":\"a\"," LIMIT(
            "3Mi") "},{\"name\":\"b\"," LIMIT("4Mi") "}]");
    struct pod_storage volumes[] = { { STR("v"), 2 * MI, true }, { STR("w"), MI, true } };
    struct pod_storage containers[] = { { .name = STR("a"), .used = MI },
                                        { .name = STR("b"), .used = 3 * MI } };
    CHECK(!pod_storage_is_limited(&none) && pod_storage_is_limited(&two));
    CHECK(!pod_storage_exceeds(&two, volumes, 2, containers, 2, text));
    volumes[0].used++;
    CHECK(pod_storage_exceeds(&two, volumes, 2, containers, 2, text));
    CHECK_STR(str_of(text), "Usage of EmptyDir volume \"v\" exceeds the limit \"2Mi\". ");
    volumes[0].used = 0;
    volumes[1].used = 4 * MI; /* with the containers more than 7Mi */
    CHECK(pod_storage_exceeds(&two, volumes, 2, containers, 2, text));
    CHECK(str_find(str_of(text), STR("total limit")) >= 0);
    volumes[1].used = 0;
    containers[0].used = 3 * MI + 1;
    CHECK(pod_storage_exceeds(&two, volumes, 2, containers, 2, text));
    CHECK_STR(str_of(text), "Container a exceeded its local ephemeral storage limit \"3Mi\". ");
    volumes[1].is_ephemeral = false;
    CHECK(!pod_storage_exceeds(&none, volumes, 2, containers, 2, text));
    arena_fini(&arena);
}

TEST_MAIN
