/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and other objects from YAML, for tests of the agent's parts. */
#pragma once

#include "agent/pod/spec.h"
#include "codec/yaml.h"
#include "test.h"

static struct arena kit_arena; /* of all that a test reads; kit_reset() */

static inline void kit_reset(void)
{
    arena_fini(&kit_arena);
}

static inline struct json *kit_yaml(const char *text)
{
    struct json *v = NULL;
    struct err err = { 0 };
    if (yaml_parse(&kit_arena, str_of(text), NULL, &v, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return v;
}

static inline const struct pod_spec *kit_pod(const char *yaml)
{
    struct pod_spec *p = arena_new(&kit_arena, struct pod_spec);
    struct err err = { 0 };
    if (pod_spec_read(&kit_arena, kit_yaml(yaml), p, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return p;
}
