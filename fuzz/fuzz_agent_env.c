/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References in texts of a pod, and paths of its downward API. Input: lines; the first is a value
 * of the variable A, the second a field path, the third a divisor, the rest a text to expand.
 */
#include "fuzz.h"

#include "agent/pod/env.h"

static struct str line(struct str *rest)
{
    struct str head;
    (void)str_cut(*rest, '\n', &head, rest);
    return head;
}

/* Count of bytes that expansion cannot remove: all but "$(A)" and the first of each "$$". */
static void check_expand(struct arena *a, const struct pod_environment *env, struct str text)
{
    struct str out, again;
    if (pod_env_expand(a, env, text, &out, NULL) < 0)
        return;
    FUZZ_CHECK(out.n <= POD_ENV_EXPANDED_MAX || out.n == text.n);
    if (str_find_char(text, '$') < 0)
        FUZZ_CHECK(str_eq(out, text));
    if (pod_env_expand_strict(a, env, text, &again, NULL) == 0)
        FUZZ_CHECK(str_eq(out, again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { .max_bytes = 64 << 20 };
    struct str rest = str_n(arena_strndup(&a, (const char *)data, n), n);
    struct str value = line(&rest), path = line(&rest), divisor = line(&rest), out;
    const struct pod_pair var = { STR("A"), value }, *const by_name[] = { &var };
    const struct pod_environment env = { .vars = &var, .n = 1, .by_name = by_name };
    const struct pod_pair label = { STR("app"), value };
    const struct pod_container c = { .name = STR("c") };
    const struct pod_spec p = {
        .name = value, .labels = &label, .n_labels = 1, .main = &c, .n_main = 1
    };
    const struct pod_facts facts = { .allocatable = { 1000, 1000, 1000 } };
    const struct pod_field_resource of = { .self = &c, .resource = path, .divisor = divisor };
    struct err err = { 0 };
    check_expand(&a, &env, rest);
    if (pod_field_text(&a, &p, &facts, path, &out, &err) < 0)
        FUZZ_CHECK(err.text[0]);
    if (pod_field_resource_text(&a, &p, &facts, &of, &out, NULL) == 0)
        FUZZ_CHECK(out.n > 0);
    arena_fini(&a);
    return 0;
}
