/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the tests of kube/: JSON in and out, the registry with the built-in kinds. */
#pragma once

#include "kube/model/builtin.h"
#include "kube/model/crd.h"
#include "kube/model/status.h"
#include "kube/rules/crd_status.h"
#include "kube/rules/object_rules.h"
#include "kube/rules/rules.h"
#include "test.h"

/* Single quotes stand for double ones, so that JSON reads well in C. */
static inline struct json *parse(struct arena *a, const char *text)
{
    char *copy = str_dup_arena(a, str_of(text));
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    struct json *v = NULL;
    struct err err = { 0 };
    if (json_parse(a, str_of(copy), NULL, &v, &err) < 0)
        TEST_FAIL("parse '%s': %s", copy, err_text(&err));
    return v;
}

static inline struct str text_of(struct arena *a, const struct json *v)
{
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    if (!v)
        return STR("(null)");
    (void)json_write(&b, v);
    struct str s = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '"')
            ((char *)s.p)[i] = '\'';
    return s;
}

#define CHECK_JSON(a, v, want) CHECK_STR(text_of((a), (v)), want)

static inline struct kube_registry *test_registry(void)
{
    static struct kube_registry reg;
    if (!reg.generation) {
        kube_registry_init(&reg);
        rules_register(&reg);
    }
    return &reg;
}

static inline const struct kube_resource *resource(const char *group, const char *version,
                                                   const char *plural)
{
    const struct kube_resource *r =
        kube_registry_find(test_registry(), str_of(group), str_of(version), str_of(plural));
    if (!r)
        TEST_FAIL("no resource %s/%s %s", group, version, plural);
    return r;
}
