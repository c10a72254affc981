/* SPDX-License-Identifier: Apache-2.0 */
/* Native plugins by name. */
#include "sched/plugins/registry.h"

static const struct sched_plugin_ops *const native[] = {
#define NATIVE_ROW(name) &sched_##name##_ops,
    SCHED_NATIVE_PLUGINS(NATIVE_ROW)
#undef NATIVE_ROW
};

const struct sched_plugin_ops *sched_native_plugin(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(native); i++)
        if (str_is(name, native[i]->name))
            return native[i];
    return NULL;
}
